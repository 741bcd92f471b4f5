# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of motions: of steps, events, trajectories and rollouts."""
