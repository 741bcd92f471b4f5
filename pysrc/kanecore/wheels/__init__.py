# SPDX-License-Identifier: BSD-3-Clause
"""Model wheels: compiled models as separate packages, for `kanecore.build_wheel`."""
