# SPDX-License-Identifier: BSD-3-Clause
"""Readers of robot files (URDF), which make a description of them."""
