# SPDX-License-Identifier: BSD-3-Clause
"""The Python half of the extension: what no call of a kernel waits for, and the build need not compile."""
