# SPDX-License-Identifier: BSD-3-Clause
"""Real mechanisms, each with its source.

A model is a module of this folder.  It defines ``build()``, which describes the mechanism with SymPy and returns a
:class:`kanecore.Model`, and ``PARAMETERS``, the default values of its constants by name.  A model with constraints also
has ``STATE``, coordinates and speeds by name that satisfy them.  ``DIMENSIONS`` holds the exponents of (length, mass,
time) of each parameter, coordinate, speed and input by name: ``(1, 0, -2)`` of ``g``; angles have ``(0, 0, 0)``.
Where bodies touch ``CONTACTS`` holds arguments of :class:`kanecore.Modes`.

Wheels of releases hold the models compiled: such a model needs neither SymPy nor a compiler.  If the processor is older
than the library's instruction level, its C text is compiled again.  If kanecore was installed from its sources, a model
is described and compiled when it is first loaded, and then kept in the cache of compiled models (KANECORE_PREBUILD
changes that, see setup.py).

The robots are read from the URDF and MJCF files in ``robots``.  They are large, and few need all of their kernels:
wheels hold those of :data:`PREBUILT_OF_ROBOTS`, the first call of another one compiles its group.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanecore.errors import require_sympy, unknown_name, without_part
from kanecore.prebuilt import lane_library, libraries, library

if TYPE_CHECKING:
    from kanecore.compiled_model import CompiledModel
    from kanecore.describe.description import Description
    from kanecore.emit.kernel_groups import Groups
    from kanecore.gallery._motions import Motion
    from kanecore.model import Model
    from kanecore.program.bytecode_format import Code

__all__ = ["MODELS", "PREBUILT_OF_ROBOTS", "is_prebuilt", "library_path", "load", "models", "robot_file", "robots"]

MODELS = {
    "andrews_squeezer": "squeezing mechanism of seven bodies in three loops",
    "anymal_c": "four-legged robot on a floating base, ANYbotics ANYmal C",
    "appell_hamel": "particle with a constraint nonlinear in its speeds",
    "arm7": "arm with 7 revolute joints in space",
    "ball_turntable": "ball that rolls on a table which turns",
    "biped": "planar biped with torso, thighs, shanks and feet",
    "bricard": "loop of six hinges that a count says cannot move",
    "capture": "satellite that catches another one by a probe and a latch",
    "car": "car with front-wheel steering and no side slip",
    "cart_pendulum": "cart with a chain of three links, upright or hanging",
    "cart_pole": "cart with a pole, pushed by a force",
    "chain40": "hanging chain of 40 links in a plane",
    "chaplygin_sleigh": "sleigh on a knife edge, its mass centre ahead of it",
    "cheetah": "half of a cheetah in a plane, of the DeepMind Control Suite",
    "constant_speed_particle": "particle under gravity that is kept at a constant speed",
    "double_pendulum": "two point masses on massless rods in a plane",
    "five_bar": "planar robot with two driven rods and a loop",
    "five_bar_bodies": "planar robot with a loop, in the speeds of its bodies",
    "four_bar": "crank, coupler and rocker in a plane",
    "free_body": "free rigid body, attitude by a quaternion",
    "furuta_pendulum": "rotary inverted pendulum",
    "g1": "humanoid with 29 joints on a floating base, Unitree G1",
    "gyroscope": "rotor in two gimbals",
    "hoberman_ring": "ring of 32 pairs of scissor links in 31 loops",
    "iiwa14": "arm with seven joints, KUKA LBR iiwa 14",
    "kepler": "particle that a fixed mass attracts",
    "knife_edge": "skate on an inclined plane",
    "panda": "arm with seven joints and a hand, Franka Emika Panda",
    "planar_2r": "arm with two joints in a vertical plane",
    "puma560": "arm with six joints, Unimation PUMA 560",
    "quadrotor": "body with four rotors, attitude by a quaternion",
    "rocking_block": "block that rocks on a shaking table",
    "rod_gravity": "rod in a plane, attracted by a fixed particle",
    "rolling_disc": "thin disc that rolls on a plane",
    "rotating_hoop": "bead on a hoop that turns at a constant rate",
    "rotating_tube": "two particles with springs in a tube that turns as prescribed",
    "rrp": "robot with two revolute joints and a slider",
    "rrp_redundant": "robot with two revolute joints and a slider, redundant coordinates and speeds",
    "slider_crank": "crank, connecting rod and piston",
    "snakeboard": "board on two trucks that turn",
    "spherical_pendulum": "pendulum that swings in space",
    "spinning_top": "heavy symmetric top with a fixed point",
    "stewart": "platform on six legs",
    "stewart_platform": "platform on six legs, in the speeds of its bodies",
    "tree30": "five arms with six joints each on the ground",
    "two_rods": "two rods in series with torsion springs",
    "ur5e": "arm with six joints, Universal Robots UR5e",
    "whipple_bicycle": "bicycle of Carvallo and Whipple, nonlinear, benchmark values",
    "wire_particle": "particle on a circular wire",
    "woodpecker": "toy woodpecker that hacks its way down a pole",
}

PREBUILT_OF_ROBOTS = ("core", "forces", "energies", "bodies")
"""The groups of kernels of a robot that the installation compiles: to simulate, control and draw it."""

_FOLDER = Path(__file__).parent / "_lib"
_ROBOTS = Path(__file__).parent / "robots"
_DERIVING = threading.RLock()  # groups for the machine share a derivation


def models() -> list[str]:
    """Names of the prebuilt models, sorted; ``kanecore info NAME`` describes one."""
    return sorted(MODELS)


def robots() -> list[str]:
    """Names of the models that are read from URDF or MJCF files, sorted."""
    return sorted(_robot_files())


def robot_file(name: str) -> Path:
    """The file of a robot of the gallery, for `Model.from_urdf` or `Model.from_mjcf` with other options.

    Its head names source and licence; the text of the licence is in the same folder.

    Raises
    ------
    KeyError
        No robot of the gallery has this name.

    Examples
    --------
    ``kc.Model.from_urdf(kc.gallery.robot_file("g1"), floating_base=True, loops=[...])``
    """
    if name not in robots():
        raise unknown_name("robot of the gallery is called", name, robots())
    return _robot_files()[name]


def _robot_files() -> dict[str, Path]:
    return {path.stem: path for path in _ROBOTS.iterdir() if path.suffix in (".urdf", ".xml")}


def load(name: str) -> CompiledModel:
    """Open a model; its parameters have the default values of the gallery.

    A model that is not prebuilt is described and compiled now, its further groups of kernels at their first call, and
    kept in the cache.  Some groups of robots (:func:`robots`) are never prebuilt.  If compiling takes more than a
    second, a line on stderr reports it.

    Parameters
    ----------
    name : str
        One of :func:`models`.

    Raises
    ------
    KeyError
        No model has this name.
    ImportError
        The installation is incomplete.
    CompileError
        The compiler that the environment names is not there, or refused.
    """
    try:
        from kanecore.compiled_model import CompiledModel
    except ImportError as error:
        raise without_part("load", error) from error.__cause__

    if name not in MODELS:
        raise unknown_name("model of the gallery is called", name, models())
    own: dict[str, Any] = {"origin": (load, (name,)), "describe": partial(_described, name)}
    own |= {
        "fingerprint": partial(_fingerprint, name),
        "described_by": partial(_model, name),
        "shown": partial(_shown, name),
    }
    if is_prebuilt(name) and name not in robots():
        return CompiledModel(
            {"all": str(library_path(name))},
            source={"all": _text(name)},
            lane_builder=lambda group: lane_library(_FOLDER, name) if group == "core" else None,
            **own,
        )
    info: dict[str, Any] = {"build": {}}
    build, build_lanes = _builders(name, info["build"])
    if is_prebuilt(name):
        libraries_of, source = dict.fromkeys(PREBUILT_OF_ROBOTS, str(library_path(name))), _text(name)
    elif _compiler_is_there():
        path, source = build("core")
        libraries_of = {"core": path}
    else:
        from kanecore._compile import for_machine

        on_machine = for_machine(partial(_code, name), name, info)
        dyn = CompiledModel({"core": on_machine("core")[0]}, source={}, builder=on_machine, info=info, **own)
        dyn.parameters.update(import_module(f"{__name__}.{name}").PARAMETERS)
        return dyn
    return CompiledModel(
        libraries_of, source={"core": source}, builder=build, lane_builder=build_lanes, info=info, **own
    )


@cache
def _code(name: str, group: str) -> Code:
    """One group of kernels of a model, for the interpreter in place of a C compiler; kept in the process."""
    from kanecore.emit.bytecode import code

    with _DERIVING:
        return code(_machine_groups(name).library(group))


@cache
def _machine_groups(name: str) -> Groups:
    from kanecore.emit.bytecode import FIRST
    from kanecore.emit.kernel_groups import Groups

    return Groups(_described(name), first=FIRST)


def _text(name: str) -> str:
    """The C text of a prebuilt model."""
    return (_FOLDER / f"{name}.c").read_text(encoding="utf-8")


@cache
def _model(name: str) -> Model:
    """A model as its module describes it, once in a process; it needs SymPy."""
    require_sympy()
    model: Model = import_module(f"{__name__}.{name}").build()
    return model


def _shown(name: str) -> Motion:
    """The motion that a live page shows of a model, with the whole start and its units."""
    from kanecore.gallery._motions import MOTIONS

    module, motion = import_module(f"{__name__}.{name}"), MOTIONS[name]
    units = None if getattr(module, "NUMBERS_HAVE_UNITS", False) else module.DIMENSIONS
    return replace(motion, start={**getattr(module, "STATE", {}), **motion.start}, units=units)


def _described(name: str) -> Description:
    """Description of a model, to derive from it."""
    from kanecore.describe.description import duplicate

    return duplicate(_model(name).description)


def _compiler_is_there() -> bool:
    from kanecore.build.c_compiler import is_there

    return is_there()


def _builders(name: str, times: dict[str, Any]) -> tuple[Callable[[str], tuple[str, str]], Callable[[str], str | None]]:
    """Functions that compile one group of kernels of a model, for one state and for several.

    ``times`` takes how long each compile lasts.  Nothing is described or derived unless the cache lacks a group, so
    groups in the cache need no SymPy.
    """

    @cache
    def groups() -> Groups:
        from kanecore.emit.kernel_groups import Groups

        return Groups(_described(name), defaults=import_module(f"{__name__}.{name}").PARAMETERS)

    @cache
    def builders() -> tuple[Callable[[str], tuple[str, str]], Callable[[str], str]]:
        from kanecore.build.groups import group_builders

        return group_builders(groups, _fingerprint(name), times, {"name": name}, telling=partial(_telling, name))

    def build(group: str) -> tuple[str, str]:
        from kanecore.errors import CompileError

        if not _compiler_is_there():
            raise CompileError(
                f"{group!r} of {name!r} is compiled when it is first called, and there is no C compiler. "
                f'kanecore.compile(kanecore.gallery.{name}.build(), cc="none") has all kernels without one'
            )
        return builders()[0](group)

    def build_lanes(group: str) -> str | None:
        return builders()[1](group) if _compiler_is_there() else None

    return build, build_lanes


def _fingerprint(name: str) -> str:
    """Fingerprint of a model's description: its source, and SymPy's version."""
    folder = Path(__file__).parent
    files = [folder / f"{name}.py", *sorted(folder.glob("_*.py")), *_ROBOTS.glob(f"{name}.*")]
    try:  # without an import, which takes half a second
        sympy_version = version("sympy")
    except PackageNotFoundError:  # not installed, or a clone on the path
        require_sympy()
        sympy_version = sys.modules["sympy"].__version__
    digest = hashlib.sha256(sympy_version.encode())
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return f"gallery {name} {digest.hexdigest()}"


@contextlib.contextmanager
def _telling(name: str, reason: str) -> Iterator[None]:
    """Print a line on stderr if deriving and compiling takes more than a second."""
    line = f"kanecore: compiling {name!r} ({reason}), once; from then on it comes from the cache"
    timer = threading.Timer(1.0, print, [line], {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def is_prebuilt(name: str) -> bool:
    """Test whether this installation holds compiled libraries of a model."""
    return any(path.exists() for path in libraries(_FOLDER, name).values())


def library_path(name: str, level: str | None = None) -> Path:
    """File of a prebuilt model.

    Parameters
    ----------
    name : str
        One of :func:`models`.
    level : {"x86-64-v3", "baseline"}, optional
        Instruction level: on x86-64 the first, elsewhere the second; by default that of this processor, compiled now if
        no library was built for it.

    Raises
    ------
    KeyError
        No model has this name.
    FileNotFoundError
        The model was not built for this level.
    CompileError
        The processor is older than the library's instruction level, and there is no C compiler.
    """
    if name not in MODELS:
        raise unknown_name("model of the gallery is called", name, models())
    files = libraries(_FOLDER, name, level)
    built = [path for path in files.values() if path.exists()]
    if not built:
        raise FileNotFoundError(
            f"{name!r} is not prebuilt here: {_FOLDER} holds no {' or '.join(path.name for path in files.values())}; "
            f"kanecore.load({name!r}) compiles it, and an installation from the sources with the environment variable "
            f"KANECORE_PREBUILD={name} or all prebuilds it"
        )
    return built[0] if level else library(_FOLDER, name)
