# SPDX-License-Identifier: BSD-3-Clause
"""Mechanics on the graph: from a description to the expressions of every kernel."""
