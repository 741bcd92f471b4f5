# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a model that are no expressions: cubic splines through data, and C functions by address."""
