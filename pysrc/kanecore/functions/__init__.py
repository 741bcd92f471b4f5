# SPDX-License-Identifier: BSD-3-Clause
"""Functions that a model is given: cubic splines, which are data, and functions in C, which are addresses."""
