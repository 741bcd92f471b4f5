# SPDX-License-Identifier: BSD-3-Clause
"""Mechanics on the graph: from a description to the expressions of every kernel."""

from kanecore.derive import kernels

__all__ = ["kernels"]
