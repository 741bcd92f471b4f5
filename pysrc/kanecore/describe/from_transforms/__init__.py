# SPDX-License-Identifier: BSD-3-Clause
"""Homogeneous transforms and Denavit-Hartenberg parameters become arguments of Model."""
