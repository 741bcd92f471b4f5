# SPDX-License-Identifier: BSD-3-Clause
"""Recursions along trees of joints."""
