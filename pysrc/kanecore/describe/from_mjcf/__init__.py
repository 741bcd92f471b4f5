# SPDX-License-Identifier: BSD-3-Clause
"""Robots of MuJoCo: a compiled `mujoco.MjModel`, or an MJCF file that MuJoCo compiles, as a description."""
