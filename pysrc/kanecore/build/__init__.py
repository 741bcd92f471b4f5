# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of C text to a shared library: the compiler, its call, and the cache of its results.

No other part of kanecore runs another process.
"""

from __future__ import annotations

from kanecore.build.c_compiler import include_dir
from kanecore.build.cache_key import Recipe
from kanecore.build.compilation import Built, compile_library

__all__ = ["Built", "Recipe", "compile_library", "include_dir"]
