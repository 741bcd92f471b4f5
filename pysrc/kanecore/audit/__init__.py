# SPDX-License-Identifier: BSD-3-Clause
"""Whether a model is right: audits, equivalence, conserved quantities."""
