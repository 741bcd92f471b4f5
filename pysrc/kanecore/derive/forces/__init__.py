# SPDX-License-Identifier: BSD-3-Clause
"""Loads, energies, potentials and reactions on the graph."""
