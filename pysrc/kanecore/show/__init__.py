# SPDX-License-Identifier: BSD-3-Clause
"""Plots; matplotlib is imported where it is used."""
