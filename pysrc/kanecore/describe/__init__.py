# SPDX-License-Identifier: BSD-3-Clause
"""What the user says: readers of it, and the builder by which any reader makes a description."""

from kanecore.errors import require_sympy

require_sympy()
