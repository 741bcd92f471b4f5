# SPDX-License-Identifier: BSD-3-Clause
"""Numerical values of constraints: consistent states, ranks, allowed motions."""
