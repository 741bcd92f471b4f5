# SPDX-License-Identifier: BSD-3-Clause
"""Model wheels: compiled models as packages of their own, for `kanecore.build_wheel`."""
