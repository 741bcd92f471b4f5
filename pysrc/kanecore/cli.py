# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``kanecore demo``, ``models``, ``info MODEL``, ``audit MODEL``, ``cache [--clear]``.

An error of kanecore is one line on stderr and exit status 1, a wrong use of the command 2.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import runpy
import sys
import textwrap
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.errors import KanecoreError, ModelError

if TYPE_CHECKING:
    from kanecore.model import Model
    from kanecore.run.model import CompiledModel

__all__ = ["main"]

PICTURES = (".png", ".svg", ".pdf")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: those of the process) and return its exit status."""
    options = _parser().parse_args(arguments)
    status = 0
    try:
        status = options.command(options) or 0
        sys.stdout.flush()
    except KanecoreError as error:
        print("kanecore:", " ".join(str(error).split()), file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader, `head` say, has seen enough: what is still buffered must not raise once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kanecore", description="Multibody dynamics: SymPy descriptions become machine code."
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    demo = commands.add_parser("demo", help="derive, compile, evaluate and simulate a robot, and draw its motion")
    demo.add_argument(
        "-o",
        "--output",
        type=_picture,
        default=Path("kanecore-demo.png"),
        metavar="FILE",
        help="the picture to save (default: %(default)s)",
    )
    demo.set_defaults(command=_demo)

    models = commands.add_parser("models", help="list the prebuilt models")
    models.set_defaults(command=_models)

    info = commands.add_parser("info", help="describe a model")
    info.add_argument(
        "model", metavar="MODEL", help="a prebuilt model, or file.py:variable that holds a kanecore.Model"
    )
    info.set_defaults(command=_info)

    audit = commands.add_parser("audit", help="compare a model with what other principles of mechanics give")
    audit.add_argument(
        "model", metavar="MODEL", help="a prebuilt model, or file.py:variable that holds a Model or a CompiledModel"
    )
    audit.add_argument("--states", type=int, default=100, metavar="N", help="random states (default: %(default)s)")
    audit.set_defaults(command=_audit)

    cache = commands.add_parser("cache", help="show the folder of compiled models")
    cache.add_argument("--clear", action="store_true", help="delete everything in it")
    cache.set_defaults(command=_cache)
    return parser


def _version() -> str:
    import kanecore

    return f"kanecore {kanecore.__version__}"


def _picture(name: str) -> Path:
    """Where a picture can be written."""
    path = Path(name)
    if path.suffix.lower() not in PICTURES:
        raise argparse.ArgumentTypeError(f"{name!r} ends in none of {', '.join(PICTURES)}, which say what to write")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    return path


def _demo(options: argparse.Namespace) -> None:
    from kanecore import demo

    demo.run(options.output)


def _models(options: argparse.Namespace) -> None:
    from kanecore.gallery import MODELS

    width = max(map(len, MODELS))
    for name, description in sorted(MODELS.items()):
        print(f"{name:{width}}  {description}")


def _cache(options: argparse.Namespace) -> None:
    from kanecore.build import cache

    folder = cache.folder()
    if options.clear:
        print(f"{folder}: {_libraries(cache.clear())} deleted")
    else:
        print(f"{folder}: {_libraries(len(cache.entries()))}, {cache.size() / 2**20:.1f} MiB")


def _libraries(n: int) -> str:
    return "1 compiled library" if n == 1 else f"{n} compiled libraries"


def _info(options: argparse.Namespace) -> None:
    place = _in_a_file(options.model)
    if place is None:
        _print_prebuilt(options.model)
        return
    print(_described(*place).report())


def _audit(options: argparse.Namespace) -> int:
    if options.states < 1:
        raise ModelError(f"--states is {options.states}; it must be 1 or more")
    place = _in_a_file(options.model)
    if place is None:
        audit = _prebuilt(options.model).audit(options.states, units=_units(options.model))
    else:
        dyn = _compiled(*place)
        _give_values(dyn)
        audit = dyn.audit(options.states)
    print(audit)
    return 0 if audit.passed else 1


def _give_values(dyn: CompiledModel) -> None:
    """Values near 1 for parameters that have none: equations that hold hold for any."""
    values = dict(zip(dyn.parameter_names, dyn._values("parameter").tolist(), strict=True))
    missing = [name for name, value in values.items() if math.isnan(value)]
    rng = random.Random(0)
    chosen = {name: round(rng.uniform(0.5, 1.5), 2) for name in missing}
    if chosen:
        dyn.parameters.update(chosen)
        print(f"no values were given for {', '.join(missing)}; taken are {', '.join(map(str, chosen.values()))}")


def _in_a_file(model: str) -> tuple[Path, str] | None:
    """File and variable of ``file.py:variable``; None where it is the name of a prebuilt model."""
    file, colon, variable = model.rpartition(":")
    return (Path(file), variable) if colon and file.endswith(".py") else None


def _units(name: str) -> object:
    """The dimensions that a module of the gallery states; None where SymPy, which it needs, is missing."""
    try:
        module = import_module(f"kanecore.gallery.{name}")
    except ImportError:
        return None
    return None if getattr(module, "NUMBERS_HAVE_UNITS", False) else module.DIMENSIONS


def _compiled(file: Path, variable: str) -> CompiledModel:
    """What a Python file binds to ``variable``, compiled if it is a ``kanecore.Model``."""
    from kanecore import CompiledModel, compile

    model = _bound(file, variable)
    return model if isinstance(model, CompiledModel) else compile(_as_model(model, file, variable))


def _described(file: Path, variable: str) -> Model:
    """The ``kanecore.Model`` that a Python file binds to ``variable``."""
    return _as_model(_bound(file, variable), file, variable)


def _as_model(model: object, file: Path, variable: str) -> Model:
    from kanecore.model import Model

    if not isinstance(model, Model):
        raise ModelError(f"{variable!r} of {file} is of type {type(model).__name__}, not a kanecore.Model")
    return model


def _bound(file: Path, variable: str) -> object:
    """What a Python file binds to a name."""
    if not file.is_file():
        raise ModelError(f"there is no file {str(file)!r}; write file.py:variable")
    sys.path.insert(0, str(file.resolve().parent))  # as `python file.py` would find its neighbours
    names = runpy.run_path(str(file))
    if variable not in names:
        raise ModelError(f"{file} defines no {variable!r}; write file.py:variable, the name of a kanecore.Model")
    return names[variable]


def _prebuilt(name: str) -> CompiledModel:
    from kanecore.gallery import MODELS, load, models

    if name not in MODELS:
        raise ModelError(
            f"there is no prebuilt model {name!r}: give one of {', '.join(models())}, "
            "or file.py:variable that holds a kanecore.Model"
        )
    return load(name)


def _print_prebuilt(name: str) -> None:
    from kanecore.gallery import MODELS

    dyn = _prebuilt(name)
    print(f"{name}: {MODELS[name]}")
    _print_list("coordinates", dyn.coordinate_names)
    _print_list("speeds", dyn.speed_names)
    _print_list("parameters", [f"{parameter} = {value:g}" for parameter, value in dyn.parameters.items()])
    _print_list("inputs", dyn.input_names)
    _print_list("outputs", dyn.output_names)
    _print_list("points", dyn.points)
    _print_list("frames", dyn.frames)
    for fact, value in dyn.info.items():
        if fact not in ("name", "sizes"):
            _print_list(fact.replace("_", " "), _items(value))


def _items(value: object) -> list[str]:
    if isinstance(value, dict):
        return [f"{key} {item}" for key, item in value.items()]
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]


def _print_list(title: str, items: Iterable[str]) -> None:
    if text := ", ".join(items):
        print(textwrap.fill(text, 100, initial_indent=f"  {title:14}", subsequent_indent=" " * 16))
