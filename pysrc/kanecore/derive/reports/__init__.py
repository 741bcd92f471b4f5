# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a Model about itself: in words, in symbols, in a picture."""
