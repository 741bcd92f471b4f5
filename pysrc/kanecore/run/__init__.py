# SPDX-License-Identifier: BSD-3-Clause
"""Compiled models at work: calls, simulation, trajectories.  Imports without SymPy and without a compiler."""
