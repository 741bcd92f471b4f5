# SPDX-License-Identifier: BSD-3-Clause
"""Equilibria, linear systems, inverse problems and identification."""
