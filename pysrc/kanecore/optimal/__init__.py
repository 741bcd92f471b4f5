# SPDX-License-Identifier: BSD-3-Clause
"""Motions that are sought: optimal control by direct collocation."""
