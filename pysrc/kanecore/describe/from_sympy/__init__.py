# SPDX-License-Identifier: BSD-3-Clause
"""SymPy objects become a description."""
