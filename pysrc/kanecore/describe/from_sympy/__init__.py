# SPDX-License-Identifier: BSD-3-Clause
"""Readers of SymPy objects, which make a description of them."""
