# SPDX-License-Identifier: BSD-3-Clause
"""SymPy's KanesMethod with expressions of the graph."""

from kanecore.kanes_method.kanes_method import KanesMethod

__all__ = ["KanesMethod"]
