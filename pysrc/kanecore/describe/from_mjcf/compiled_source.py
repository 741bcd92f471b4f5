# SPDX-License-Identifier: BSD-3-Clause
"""The compiled model of a source: it is one, or MuJoCo compiles it, or without MuJoCo the compiler of this package."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from kanecore.describe.mjcf_compiler.mjcf_compiler import compile_mjcf
from kanecore.describe.mjcf_compiler.mjcf_file import is_text
from kanecore.errors import ModelError

__all__ = ["compiled"]


def compiled(source: Any) -> Any:
    """The compiled model: ``source`` itself, or what MuJoCo makes of a path or of a text that begins with ``<``.

    Where MuJoCo is not installed `compile_mjcf` reads the file, and refuses what it does not know.

    Raises
    ------
    ModelError
        The file is refused.
    TypeError
        It is neither a path, a text nor a compiled model.
    """
    if not isinstance(source, (str, PathLike)):
        if not hasattr(source, "jnt_dofadr"):
            raise TypeError(f"from_mjcf takes a path, a text or a mujoco.MjModel, not {source!r}")
        return _recent(source)
    try:
        import mujoco
    except ImportError:
        return compile_mjcf(source)
    text = fspath(source)
    try:
        if is_text(source):
            return _recent(mujoco.MjModel.from_xml_string(text))
        return _recent(mujoco.MjModel.from_xml_path(text))
    except ValueError as error:
        raise ModelError(f"MuJoCo refuses {'the text' if is_text(source) else text}: {error}") from None


def _recent(m: Any) -> Any:
    """The compiled model; ModelError for one of MuJoCo 3, whose springs and dampers have other numbers."""
    if not hasattr(m, "jnt_stiffnesspoly"):
        raise ModelError("from_mjcf reads models that MuJoCo 4.0 or a newer one compiled: pip install 'mujoco>=4'")
    return m
