# SPDX-License-Identifier: BSD-3-Clause
"""The Python half of the extension: code that no call of a kernel waits for, so that it need not be compiled."""
