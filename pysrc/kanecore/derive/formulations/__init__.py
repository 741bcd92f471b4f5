# SPDX-License-Identifier: BSD-3-Clause
"""Formulations of the equations of motion: Kane, Lagrange, Hamilton, or equations that are solved already."""
