# SPDX-License-Identifier: BSD-3-Clause
"""Plots, and what notebooks show; matplotlib is imported where it is used."""
