# SPDX-License-Identifier: BSD-3-Clause
"""The MODEL argument on the command line: a gallery model, ``file.py:variable``, a file in URDF, SDF or of MuJoCo."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.errors import KanecoreError, ModelError

if TYPE_CHECKING:
    from kanecore.compiled_model import CompiledModel
    from kanecore.model import Model

__all__ = ["check_floating_base", "compiled", "described", "in_gallery"]

_MUJOCO, _SDF = ".xml", ".sdf"


def in_gallery(name: str) -> bool:
    """Test whether a name is neither ``file.py:variable`` nor a robot file."""
    return not name.lower().endswith((".urdf", _SDF, _MUJOCO)) and _in_a_file(name) is None


def check_floating_base(name: str, floating_base: bool) -> None:
    """Raise ModelError if a floating base is requested and the model is no URDF file."""
    if floating_base and not name.lower().endswith(".urdf"):
        raise ModelError(f"--floating-base is for robots in URDF files, and {name!r} is none")


def described(name: str, floating_base: bool = False) -> Model:
    """The ``kanecore.Model`` of a file.

    Raises
    ------
    ModelError
        There is no such file, or no Model in it; or it is a wrong robot file.
    """
    place = _in_a_file(name)
    if place is None:
        return _robot(name, floating_base)
    return _as_model(_bound(*place), *place)


def compiled(name: str, floating_base: bool = False) -> CompiledModel:
    """The compiled model for a name.

    Raises
    ------
    ModelError
        As for `described`; there is no gallery model with this name.
    """
    from kanecore.compiled_model import CompiledModel

    if in_gallery(name):
        return _of_gallery(name)
    place = _in_a_file(name)
    if place is None:
        model = _robot(name, floating_base)
    else:
        bound = _bound(*place)
        if isinstance(bound, CompiledModel):
            return bound
        model = _as_model(bound, *place)
    from kanecore._compile import compile  # needs SymPy

    return compile(model)


def _in_a_file(name: str) -> tuple[Path, str] | None:
    """File and variable of ``file.py:variable``."""
    file, colon, variable = name.rpartition(":")
    return (Path(file), variable) if colon and file.endswith(".py") else None


def _robot(name: str, floating_base: bool) -> Model:
    from kanecore.model import Model

    try:
        if name.lower().endswith(_MUJOCO):
            return Model.from_mjcf(Path(name))
        if name.lower().endswith(_SDF):
            return Model.from_sdf(Path(name))
        return Model.from_urdf(Path(name), floating_base=floating_base)
    except OSError as error:
        raise ModelError(f"{name} cannot be read: {error.strerror}") from None


def _as_model(model: object, file: Path, variable: str) -> Model:
    from kanecore.model import Model

    if not isinstance(model, Model):
        raise ModelError(f"{variable!r} of {file} is of type {type(model).__name__}, not a kanecore.Model")
    return model


def _bound(file: Path, variable: str) -> object:
    """Value of a variable in a Python file, which is run."""
    if not file.is_file():
        raise ModelError(f"there is no file {str(file)!r}; write file.py:variable")
    sys.path.insert(0, str(file.resolve().parent))  # so that imports of its neighbours work as by `python file.py`
    try:
        names = runpy.run_path(str(file))
    except (Exception, SystemExit) as error:
        raise ModelError(
            f"{_line_of(error, file)}: {_words_of(error)}; the file is run to find {variable!r}"
        ) from error
    if variable not in names:
        raise ModelError(f"{file} defines no {variable!r}; write file.py:variable, the name of a kanecore.Model")
    return names[variable]


def _line_of(error: BaseException, file: Path) -> str:
    """File and line where an exception arose: the last line of the file that ran."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file) and error.lineno is not None:
        lines.append(error.lineno)
    return f"{file}, line {lines[-1]}" if lines else str(file)


def _words_of(error: BaseException) -> str:
    if isinstance(error, KanecoreError):
        return str(error)
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}{': ' * bool(words)}{words}"


def _of_gallery(name: str) -> CompiledModel:
    from kanecore.gallery import MODELS, load, models

    if name.endswith(".py"):
        raise ModelError(f"{name!r} names only a file; write {name}:variable, the name of a kanecore.Model in it")
    if name not in MODELS:
        raise ModelError(
            f"there is no gallery model {name!r}: give one of {', '.join(models())}, "
            "file.py:variable that holds a kanecore.Model, a file.urdf, a file.sdf, or a file.xml of MuJoCo"
        )
    return load(name)
