# SPDX-License-Identifier: BSD-3-Clause
"""The Python half of the extension: code that calls of kernels do not run, and so need not be compiled."""
