# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``kanecore demo``, ``models``, ``info MODEL``, ``cache [--clear]``.

An error of kanecore is one line on stderr and exit status 1, a wrong use of the command 2.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.errors import KanecoreError, ModelError

if TYPE_CHECKING:
    from kanecore.model import Model

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: those of the process) and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
        sys.stdout.flush()
    except KanecoreError as error:
        print("kanecore:", " ".join(str(error).split()), file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader, `head` say, has seen enough: what is still buffered must not raise once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


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
        type=Path,
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

    cache = commands.add_parser("cache", help="show the folder of compiled models")
    cache.add_argument("--clear", action="store_true", help="delete everything in it")
    cache.set_defaults(command=_cache)
    return parser


def _version() -> str:
    import kanecore

    return f"kanecore {kanecore.__version__}"


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
    file, colon, variable = options.model.rpartition(":")
    if colon and file.endswith(".py"):
        print(_described(Path(file), variable).report())
    else:
        _print_prebuilt(options.model)


def _described(file: Path, variable: str) -> Model:
    """The ``kanecore.Model`` that a Python file binds to ``variable``."""
    from kanecore.model import Model

    if not file.is_file():
        raise ModelError(f"there is no file {str(file)!r}; write file.py:variable")
    sys.path.insert(0, str(file.resolve().parent))  # as `python file.py` would find its neighbours
    names = runpy.run_path(str(file))
    if variable not in names:
        raise ModelError(f"{file} defines no {variable!r}; write file.py:variable, the name of a kanecore.Model")
    model = names[variable]
    if not isinstance(model, Model):
        raise ModelError(f"{variable!r} of {file} is of type {type(model).__name__}, not a kanecore.Model")
    return model


def _print_prebuilt(name: str) -> None:
    from kanecore.gallery import MODELS, load, models

    if name not in MODELS:
        raise ModelError(
            f"there is no prebuilt model {name!r}: give one of {', '.join(models())}, "
            "or file.py:variable that holds a kanecore.Model"
        )
    dyn = load(name)
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
