# SPDX-License-Identifier: BSD-3-Clause
"""What constraints say at numbers: states that satisfy them, ranks, allowed motions."""
