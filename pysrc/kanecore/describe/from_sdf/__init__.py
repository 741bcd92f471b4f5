# SPDX-License-Identifier: BSD-3-Clause
"""Reader of SDFormat files, which fills the records of `kanecore.describe.robots`."""
