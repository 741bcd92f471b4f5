# SPDX-License-Identifier: BSD-3-Clause
"""The description of a mechanism: readers of the user's objects, and the builder that each reader uses."""

from kanecore.errors import require_sympy

require_sympy()
