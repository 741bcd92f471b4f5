# SPDX-License-Identifier: BSD-3-Clause
"""Where the equations of motion come from: Kane, Lagrange, Hamilton, or equations that are solved already."""
