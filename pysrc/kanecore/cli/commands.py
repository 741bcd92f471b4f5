# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``kanecore demo``, ``models``, ``info``, ``simulate``, ``optimize``, ``bench``, ``draw``, ``play``,
``audit``, ``export``, ``cache``.

An error is one line on stderr and exit status 1, wrong use of the command 2, Ctrl-C 130; ``--traceback`` shows where.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from kanecore.cli.model_argument import check_floating_base, compiled, described, in_gallery
from kanecore.errors import KanecoreError, KanecoreWarning, ModelError, without_sympy

if TYPE_CHECKING:
    from kanecore.compiled_model import CompiledModel

__all__ = ["main"]

PICTURES = (".png", ".svg", ".pdf")
STATUSES = (
    "Exit status: 0 for success, also if the reader of the output (head) closes it; 1 after an error, told in "
    "one line on stderr, or where an audit fails; 2 after a wrong use of the command; 130 after Ctrl-C."
)
_FAILED, _INTERRUPTED = 1, 130
FACTS = {
    "configuration_names": "constraints",
    "version": "version",
    "kernels": "kernels",
    "operations": "operations",
    "sincos": "sin and cos",
    "mass_matrix": "mass matrix",
    "missing": "missing",
}
"""Titles of the entries of ``dyn.info`` that ``info`` prints; other entries are for the package itself."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: those of the process) and return its exit status."""
    status, shown = 0, False
    error: BaseException | None = None
    output = _Output(sys.stdout)
    try:
        with contextlib.redirect_stdout(cast("IO[str]", output)), _warnings_as_lines():
            options = _parser().parse_args(arguments)
            shown = options.traceback
            if "model" in options:
                check_floating_base(options.model, options.floating_base)
            status = options.command(options) or 0
    except (Exception, KeyboardInterrupt, SystemExit) as raised:
        error = raised
    lost = output.close()
    if lost is not None and (error is None or error is lost or (isinstance(error, SystemExit) and not error.code)):
        if isinstance(lost, BrokenPipeError):  # the reader, such as `head`, has closed the pipe
            return status
        error = ModelError(f"standard output cannot be written: {lost.strerror}").with_traceback(lost.__traceback__)
    if isinstance(error, SystemExit):
        raise error  # --help and --version, and errors that argparse has printed
    if error is None:
        return status
    if shown:
        traceback.print_exception(error)
    else:
        print("kanecore:", " ".join(_told(error).split()), file=sys.stderr)
    return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else _FAILED


class _Output:
    """Standard output that remembers why it could not be written, since argparse, for example, does not report it."""

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream  # None: it was closed before the process began
        self._lost: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._tried(lambda stream: stream.write(text)) or 0
        except UnicodeEncodeError as error:  # a name with characters that the terminal does not have
            plain = text.encode(error.encoding, "backslashreplace").decode(error.encoding)
            return self._tried(lambda stream: stream.write(plain)) or 0

    def flush(self) -> None:
        self._tried(lambda stream: stream.flush())

    def close(self) -> OSError | None:
        """Write the remaining output, and return the reason if it was lost."""
        with contextlib.suppress(OSError):
            self.flush()
        if self._lost is not None:  # the remaining output must not fail again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
        return self._lost

    def _tried(self, call: Callable[[IO[str]], int | None]) -> int | None:
        try:
            return None if self._stream is None else call(self._stream)
        except OSError as error:
            self._lost = self._lost or error
            raise


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print warnings of kanecore like errors, each in a line, without the line of this package that gave it."""
    python = warnings.formatwarning

    def in_a_line(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if issubclass(category, KanecoreWarning):
            return f"kanecore: {' '.join(str(message).split())}\n"
        return python(message, category, filename, lineno, line)

    warnings.formatwarning = in_a_line
    try:
        yield
    finally:
        warnings.formatwarning = python


def _told(error: BaseException) -> str:
    """An error without its traceback."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, ImportError):
        return str(without_sympy(error))
    if isinstance(error, (KanecoreError, OSError)):
        return str(error)
    return f"{type(error).__name__}: {error}; kanecore --traceback ... shows where"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kanecore", description="Multibody dynamics: SymPy descriptions become machine code.", epilog=STATUSES
    )
    parser.add_argument("--traceback", action="store_true", help="after an error show where it arose")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    demo = commands.add_parser("demo", help="derive, compile, evaluate and simulate a robot, and draw its motion")
    demo.add_argument(
        "-o",
        "--output",
        type=_file(*PICTURES),
        default=Path("kanecore-demo.png"),
        metavar="FILE",
        help="the picture to save (default: %(default)s)",
    )
    _with_traceback(demo)
    demo.set_defaults(command=_demo)

    models = commands.add_parser("models", help="list the models of the gallery")
    _with_traceback(models)
    models.set_defaults(command=_models)

    _on_model(commands, "info", "describe a model", _info)

    simulate = _on_model(commands, "simulate", "simulate a model and summarize the run", _simulate)
    simulate.add_argument("--time", type=float, default=5.0, metavar="S", help="seconds (default: %(default)s)")
    _with_state(simulate)
    simulate.add_argument(
        "-o", "--output", type=_file(".csv", *PICTURES), metavar="FILE", help="a .csv, or a picture, to save"
    )

    optimize = _on_model(commands, "optimize", "find the motion of a model that costs least", _optimize)
    optimize.add_argument("--duration", default="1", metavar="S", help="seconds, or LOW:HIGH (default: %(default)s)")
    for option, what, example in (
        ("--start", "at the start (default: rest)", "VALUE"),
        ("--end", "at the end", "VALUE"),
        ("--bound", "at all times, of a state or an input", "LOW:HIGH"),
    ):
        optimize.add_argument(
            option, action="append", default=[], metavar=f"NAME={example}", help=f"{what}; may be repeated"
        )
    optimize.add_argument("--cost", metavar="EXPRESSION", help="its integral is least (default: squares of the inputs)")
    optimize.add_argument("--plot", action="store_true", help="save a picture, NAME.png")
    optimize.add_argument(
        "-o", "--output", type=_file(".csv", *PICTURES), metavar="FILE", help="a .csv, or a picture, to save"
    )

    bench = _on_model(commands, "bench", "time calls of a model", _bench)
    _with_state(bench)

    draw = _on_model(commands, "draw", "draw a model", _draw)
    _with_state(draw)
    draw.add_argument(
        "-o", "--output", type=_file(*PICTURES), metavar="FILE", help="the picture to save (default: NAME.png)"
    )

    play = _on_model(commands, "play", "write a page in which a model runs", _play)
    _with_state(play)
    play.add_argument("--speed", type=float, default=1.0, metavar="X", help="seconds of the motion in one second")
    play.add_argument("--title", metavar="TITLE", help="the heading above the picture (default: the model's name)")
    play.add_argument("--text", metavar="TEXT", help="a text below the heading")
    play.add_argument("--ground", type=float, metavar="HEIGHT", help="draw the ground at this height, m")
    play.add_argument(
        "-o", "--output", type=_file(".html"), metavar="FILE.html", help="the page to save (default: NAME.html)"
    )

    audit = _on_model(commands, "audit", "compare a model with independent formulations", _audit)
    audit.add_argument("--states", type=int, default=100, metavar="N", help="random states (default: %(default)s)")

    export = _on_model(commands, "export", "write a model for other programs", _export)
    what_for = export.add_mutually_exclusive_group(required=True)
    what_for.add_argument("--c", type=Path, metavar="DIR", help="C99 without dependencies, in a separate folder")
    what_for.add_argument("--fmu", type=_file(".fmu"), metavar="FILE.fmu", help="a Functional Mock-up Unit")
    what_for.add_argument("--wheel", type=Path, metavar="DIR", help="a model wheel, which pip installs, in this folder")
    for option in ("--parameter", "--input"):
        what = f"{option[2:]} by name; may be repeated"
        export.add_argument(option, action="append", default=[], metavar="NAME=VALUE", help=what)
    c = export.add_argument_group("with --c")
    c.add_argument("--kernels", metavar="NAMES", help="kernels or groups, with commas (default: all)")
    c.add_argument("--real", choices=("double", "float"), help="of numbers (default: double)")
    c.add_argument("--prefix", help="prefix of all names (default: the model's name)")
    c.add_argument("--integrators", action="store_true", help="add the methods of simulate")
    fmu = export.add_argument_group("with --fmu")
    fmu.add_argument("--fmi-version", choices=("2.0", "3.0"), help="(default: 3.0)")
    _with_state(fmu)
    fmu.add_argument("--stop-time", type=float, metavar="S", help="end of the run that simulators propose")
    fmu.add_argument("--step-size", type=float, metavar="S", help="communication step that simulators propose")
    fmu.add_argument("--unit", action="append", default=[], metavar="NAME=UNIT", help="unit by name; may be repeated")
    wheel = export.add_argument_group("with --wheel")
    wheel.add_argument("--name", help="of the distribution (default: the model's, and -model)")
    wheel.add_argument("--version", help="of the distribution (default: 0.1.0)")
    without = "for every Python 3: the wheel requires kanecore, and does not contain it"
    wheel.add_argument("--without-runtime", action="store_true", help=without)

    cache = commands.add_parser("cache", help="show the folder of compiled models")
    cache.add_argument("--clear", action="store_true", help="delete everything in it")
    _with_traceback(cache)
    cache.set_defaults(command=_cache)
    return parser


def _on_model(
    commands: Any, name: str, help_text: str, command: Callable[[argparse.Namespace], int | None]
) -> argparse.ArgumentParser:
    """A command on a model."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_text)
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a model of the gallery, file.py:variable that holds a Model or a CompiledModel, a file.urdf, "
        "a file.sdf, or a file.xml of MuJoCo",
    )
    parser.add_argument("--floating-base", action="store_true", help="of a file.urdf: its root may move")
    _with_traceback(parser)
    parser.set_defaults(command=command)
    return parser


def _with_traceback(parser: argparse.ArgumentParser) -> None:
    """Accept the global option after the command as well; if absent there, its earlier value stays."""
    parser.add_argument("--traceback", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _with_state(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a coordinate, speed or first-order state that is not zero; may be repeated; by default a model of the "
        "gallery starts as on its page",
    )


def _version() -> str:
    import kanecore

    return f"kanecore {kanecore.__version__}"


def _file(*suffixes: str) -> Callable[[str], Path]:
    """Argument type for a file to write, with a suffix that gives the format."""

    def checked(name: str) -> Path:
        path = Path(name)
        if path.suffix.lower() not in suffixes:
            wrong = "does not end in" if len(suffixes) == 1 else "ends in none of"
            raise argparse.ArgumentTypeError(f"{name!r} {wrong} {', '.join(suffixes)}, which gives the format")
        try:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                path.stat()  # since Python 3.14 is_dir() raises no errors
            if not path.parent.is_dir():
                raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}: make it first")
            if path.is_dir():
                raise argparse.ArgumentTypeError(f"{name!r} is a folder: give a file in it")
        except OSError as error:  # a name that is too long, a folder that may not be searched
            raise argparse.ArgumentTypeError(f"{name!r} cannot be written: {error.strerror}") from error
        return path

    return checked


def _demo(options: argparse.Namespace) -> None:
    from kanecore.cli import demo

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
    if in_gallery(options.model):
        _print_gallery_model(options.model)
    else:
        print(described(options.model, options.floating_base).report())


def _simulate(options: argparse.Namespace) -> None:
    from kanecore.cli import run_commands

    if not 0.0 < options.time < math.inf:
        raise ModelError(f"--time is {options.time}; it must be positive and finite")
    run_commands.simulate(_ready(options), options.time, options.state, options.output)


def _optimize(options: argparse.Namespace) -> int:
    from kanecore.cli import run_commands

    dyn = _ready(options)
    output = options.output or (Path(f"{_stem(options)}.png") if options.plot else None)
    ends = options.start, options.end
    return run_commands.optimize(dyn, options.duration, ends, options.bound, options.cost, output)


def _stem(options: argparse.Namespace) -> str:
    """Name of the file or variable of a model: a name in a file is a stranger's."""
    return Path(options.model.rpartition(":")[2]).stem


def _bench(options: argparse.Namespace) -> None:
    from kanecore.cli import run_commands

    run_commands.bench(_ready(options), options.state)


def _draw(options: argparse.Namespace) -> None:
    from kanecore.cli import run_commands

    dyn = _ready(options)
    run_commands.draw(dyn, options.state, options.output or Path(f"{_stem(options)}.png"))


def _play(options: argparse.Namespace) -> None:
    from kanecore.cli import run_commands

    dyn = _ready(options)
    chosen = {name: getattr(options, name) for name in ("speed", "title", "text", "ground")}
    run_commands.play(dyn, options.state, options.output or Path(f"{_stem(options)}.html"), **chosen)


def _ready(options: argparse.Namespace) -> CompiledModel:
    """The model of a command, with values of all parameters."""
    dyn = compiled(options.model, options.floating_base)
    if not in_gallery(options.model):
        _give_values(dyn)
    return dyn


def _audit(options: argparse.Namespace) -> int:
    from kanecore.audit.audit_states import MOST

    if not 1 <= options.states <= MOST:
        raise ModelError(f"--states is {options.states}; it must be from 1 to {MOST}")
    dyn = _ready(options)
    units = _units(options.model) if in_gallery(options.model) else None
    audit = dyn.audit(options.states, units=units)
    print(audit)
    return 0 if audit.passed else 1


_OPTIONS_OF_EXPORTS = {
    "c": ("kernels", "real", "prefix", "integrators"),
    "fmu": ("fmi_version", "state", "unit", "stop_time", "step_size"),
    "wheel": ("name", "version", "without_runtime"),
}


def _refuse_others(options: argparse.Namespace) -> None:
    """Raise an error for an option that has no meaning for the chosen output."""
    given = vars(options)
    chosen = next(form for form in _OPTIONS_OF_EXPORTS if given[form] is not None)
    for form, names in _OPTIONS_OF_EXPORTS.items():
        wrong = next((name for name in names if form != chosen and given[name]), None)
        if wrong is not None:
            raise ModelError(f"--{wrong.replace('_', '-')} is an option of --{form}, and has no meaning for --{chosen}")


def _export(options: argparse.Namespace) -> None:
    from kanecore.cli import export_commands

    _refuse_others(options)
    dyn = compiled(options.model, options.floating_base)
    if options.c is not None:
        export_commands.export_c(
            dyn,
            options.c,
            parameters=options.parameter,
            inputs=options.input,
            kernels=options.kernels,
            real=options.real,
            prefix=options.prefix,
            integrators=options.integrators,
        )
        return
    if options.wheel is not None:
        export_commands.export_wheel(
            dyn,
            options.wheel,
            options.name,
            options.version or "0.1.0",
            parameters=options.parameter,
            inputs=options.input,
            runtime=not options.without_runtime,
        )
        return
    export_commands.export_fmu(
        dyn,
        options.fmu,
        options.fmi_version or "3.0",
        parameters=options.parameter,
        inputs=options.input,
        state=options.state,
        units=options.unit,
        dimensions=_units(options.model) if in_gallery(options.model) else None,
        stop_time=options.stop_time,
        step_size=options.step_size,
    )


def _give_values(dyn: CompiledModel) -> None:
    """Give values near 1 to unset parameters, since equations are valid for any values."""
    values = dict(zip(dyn.parameter_names, dyn.kernels.values("parameter").tolist(), strict=True))
    missing = [name for name, value in values.items() if math.isnan(value)]
    rng = random.Random(0)
    chosen = {name: round(rng.uniform(0.5, 1.5), 2) for name in missing}
    if chosen:
        dyn.parameters.update(chosen)
        print(f"no values were given for {', '.join(missing)}; these are used: {', '.join(map(str, chosen.values()))}")


def _units(name: str) -> Any:
    """The dimensions in a module of the gallery; None if SymPy, which it needs, is missing."""
    try:
        module = import_module(f"kanecore.gallery.{name}")
    except ImportError:
        return None
    return None if getattr(module, "NUMBERS_HAVE_UNITS", False) else module.DIMENSIONS


def _print_gallery_model(name: str) -> None:
    from kanecore.gallery import MODELS

    dyn = compiled(name)
    print(f"{name}: {MODELS[name]}")
    _print_list("coordinates", dyn.coordinate_names)
    _print_list("speeds", dyn.speed_names)
    _print_list("states", dyn.state_names)
    _print_list("parameters", [f"{parameter} = {value:g}" for parameter, value in dyn.parameters.items()])
    _print_list("inputs", dyn.input_names)
    _print_list("outputs", dyn.output_names)
    _print_list("points", dyn.points)
    _print_list("frames", dyn.frames)
    for fact, title in FACTS.items():
        if fact in dyn.info:
            _print_list(title, _items(dyn.info[fact]))


def _items(value: object) -> list[str]:
    if isinstance(value, dict):
        return [f"{key} {item}" for key, item in value.items()]
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]


def _print_list(title: str, items: Iterable[str]) -> None:
    if text := ", ".join(items):
        print(textwrap.fill(text, 100, initial_indent=f"  {title:14}", subsequent_indent=" " * 16))
