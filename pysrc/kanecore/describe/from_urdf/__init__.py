# SPDX-License-Identifier: BSD-3-Clause
"""Robot files become a description."""
