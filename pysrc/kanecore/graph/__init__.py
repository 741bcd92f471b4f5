# SPDX-License-Identifier: BSD-3-Clause
"""Scalar expressions as a hash-consed graph; no mechanics."""

from kanecore.errors import require_sympy

require_sympy()
