# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a model: audits, equivalence of two derivations, conserved quantities."""
