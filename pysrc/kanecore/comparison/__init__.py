# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of two descriptions of the same mechanism, for `kanecore.equivalent`."""
