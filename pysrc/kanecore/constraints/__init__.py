# SPDX-License-Identifier: BSD-3-Clause
"""Constraints at numbers: consistent states, ranks, allowed motions."""
