# SPDX-License-Identifier: BSD-3-Clause
"""What a Model says of itself: in words, in symbols, in a picture."""
