# SPDX-License-Identifier: BSD-3-Clause
"""Robots as records, whatever file they come from, and their assembly into a description."""
