# SPDX-License-Identifier: BSD-3-Clause
"""From programs to C text: deterministic, and the only package that knows C's syntax."""
