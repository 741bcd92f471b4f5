# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a model that are no expressions: cubic splines, which are data; functions in C, which are addresses."""
