# SPDX-License-Identifier: BSD-3-Clause
"""C text to shared library: finding the compiler, calling it, and keeping what it made.

The only part of kanecore that runs another process.
"""

from __future__ import annotations

from kanecore.build.c_compiler import Built, Recipe, compile_library, include_dir

__all__ = ["Built", "Recipe", "compile_library", "include_dir"]
