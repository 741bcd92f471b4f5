# SPDX-License-Identifier: BSD-3-Clause
"""Two descriptions of one mechanism compared: whether they say the same, for `kanecore.equivalent`."""
