# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of a model: the whole way from a description to machine code, :func:`compile`.

Groups of kernels are derived, and compiled, when they are first called.  A pickle holds the description and the groups
that the model has by then: it is small, and takes no compiler to write.
"""

from __future__ import annotations

import functools
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kanecore.build.c_compiler import NO_COMPILER, is_wanted
from kanecore.build.groups import group_builders
from kanecore.compiled_model import CompiledModel
from kanecore.emit.sources import version
from kanecore.errors import ModelError, unknown_name
from kanecore.functions.c_functions import CFunction
from kanecore.kernels import GROUPS, KERNEL_GROUPS
from kanecore.program.bytecode_format import Code
from kanecore.program.garbage_collection import no_collection
from kanecore.single_model import class_of

if TYPE_CHECKING:
    from kanecore.describe.description import Description
    from kanecore.emit.kernel_groups import Groups
    from kanecore.model import Model

__all__ = ["compile", "for_machine", "unpickled"]


def compile(
    model: Model,
    *,
    parameters: Mapping[Any, float] | None = None,
    bake: bool = False,
    kernels: str | Iterable[str] | None = None,
    real: str = "double",
    cc: str | Sequence[str] | None = None,
    cflags: str | Sequence[str] | None = None,
    cache: bool = True,
    verbose: bool = False,
) -> CompiledModel:
    """Derive the equations of motion of a model, write them as C, compile and load it.

    Parameters
    ----------
    model : Model
    parameters : mapping of Symbol or name to float, optional
        Values of parameters; more can be set later in ``dyn.parameters``.
    bake : bool
        Make the given parameters constants of the C text: faster, and no longer parameters.
    kernels : {"all"}, or names of kernels or groups, optional
        Kernels to compile at once beside the core group (rhs, udot, qdot, mass_matrix, forcing, outputs); the rest is
        compiled at first use.
    real : {"double", "float"}
        The type of numbers in C.  With "float" the kernels take float32 arrays, and batches twice as many states at
        once; methods that need the digits of doubles, such as `simulate`, raise ModelError.
    cc, cflags : str or sequence of str, optional
        C compiler, and flags to add.  Default compiler: $CC, that of Python, cc, gcc, clang, ziglang.  For "none", and
        with a warning where there is none of these, the model is bytecode for kanecore's own interpreter: bit-identical
        results, at once, in a few times the time of a call.
    cache : bool
        Look in the cache of compiled models first, and leave the result there.  Bytecode stays in the process alone.
    verbose : bool
        Print compiler calls and messages.

    Returns
    -------
    CompiledModel

    Raises
    ------
    ModelError
        The model cannot be derived: velocities not linear in the speeds; or with ``real="float"`` it calls a function
        by its address, or holds a constant that is no float.
    CompileError
        The C compiler that was asked for is not there, or it refused; with its own words.
    KeyError, ValueError
        An unknown parameter or kernel; a value that is not finite; flags, or floats, without a compiler; another type
        of numbers.
    """
    from kanecore.describe.description import fingerprint
    from kanecore.describe.inertia import warn_of_impossible
    from kanecore.emit.kernel_groups import REALS
    from kanecore.model import Model

    if not isinstance(model, Model):
        hint = ": make it one with kanecore.Model.from_kane" if type(model).__name__ == "KanesMethod" else ""
        raise TypeError(f"compile takes a kanecore.Model, not a {type(model).__name__}{hint}")
    if real not in REALS:
        raise ValueError(f"real is {real!r}; it must be one of {', '.join(map(repr, REALS))}")
    functions = {f.__name__: x for f, x in model.functions.items() if isinstance(x, CFunction)}
    if functions and real == "float":
        raise ModelError(
            f"{model.name!r} calls {', '.join(functions)} by address, kc.CFunction, which is no float: give the data, "
            "kc.Spline, or leave out real='float'"
        )
    values = {**model.values, **_values(model, parameters)}
    description = model.description
    baked = {name: values[name] for name in description.parameter_names if name in values} if bake else {}
    warn_of_impossible(description, values)
    # Deriving energies warns of a body's potential energy that matches no load.
    warns = KERNEL_GROUPS["potential_energy"] if any(body.potential for body in description.bodies) else None
    meshes = any(shape.file for _, shape in description.shapes)
    source = _Source(
        name=description.name,
        description=pickle.dumps(description),
        key=f"{fingerprint(description)} {real} {sorted(baked.items())}",
        baked=baked,
        real=real,
        warns=warns,
        folder=model.reading.folder if meshes else None,  # beside the text, which is the same wherever the file is
    )
    dyn = _derived(source, {}, functions, cc=cc, cflags=cflags, cache=cache, verbose=verbose)
    dyn.parameters.update({name: value for name, value in values.items() if name not in baked})
    dyn.libraries.described_by = lambda: model
    if wanted := _groups(kernels):
        dyn.build(*wanted)
    return dyn


def _values(model: Model, parameters: Mapping[Any, float] | None) -> dict[str, float]:
    """Numbers by name, of names that the model has."""
    names = model.description.parameter_names
    left_out = model.description.left_out_parameters
    values = {}
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(f"parameters is {parameters!r}; it must be a mapping of symbols or names to numbers")
    for key, value in (parameters or {}).items():
        name = str(key)
        if name not in names and name not in left_out:
            raise unknown_name(f"parameter of {model.name!r} is called", name, names)
        if name in values:
            raise ValueError(f"parameters gives {name!r} twice, by name and by symbol")
        if isinstance(value, str) or not hasattr(value, "__float__"):
            raise TypeError(f"parameter {name!r} is {value!r}; it must be a real number")
        try:
            values[name] = float(value)
        except TypeError:
            raise TypeError(f"parameter {name!r} is {value!r}; it must be a real number, without symbols") from None
        if values[name] - values[name] != 0.0:
            raise ValueError(f"parameter {name!r} is {value!r}, which is not finite")
    return values


def _groups(kernels: str | Iterable[str] | None) -> list[str]:
    """The groups of some kernels and groups, without the core."""
    names = [] if kernels is None else [kernels] if isinstance(kernels, str) else list(kernels)
    groups = []
    for name in names:
        if name != "all" and name not in GROUPS and name not in KERNEL_GROUPS:
            raise KeyError(
                f"no kernel {name!r}; there are {', '.join(KERNEL_GROUPS)}, the groups {', '.join(GROUPS)}, and all"
            )
        groups += list(GROUPS) if name == "all" else [KERNEL_GROUPS.get(name, name)]
    return [g for g in dict.fromkeys(groups) if g != "core"]


@dataclass(frozen=True)
class _Source:
    """Facts from which groups of kernels are derived, in a form that takes no SymPy to read.

    Attributes
    ----------
    name : str
        Of the model.
    description : bytes
        The pickled description, which it takes SymPy to read.
    key : str
        Stands for the description, ``baked`` and ``real`` in the cache.
    baked : mapping of name to float
        Parameters that become constants.
    real : {"double", "float"}
    warns : str or None
        A group whose derivation warns.
    folder : str or None
        Where the meshes of its shapes are.
    """

    name: str
    description: bytes
    key: str
    baked: Mapping[str, float]
    real: str
    warns: str | None
    folder: str | None

    def described(self) -> Description:
        """The description, with constants in place of baked parameters."""
        from kanecore.describe.description import bake

        description: Description = pickle.loads(self.description)
        return bake(description, self.baked) if self.baked else description

    def groups(self, **options: Any) -> Groups:
        """The groups of kernels, to be derived."""
        from kanecore.emit.kernel_groups import Groups

        return Groups(pickle.loads(self.description), self.baked, **options)


def _derived(
    source: _Source,
    known: Mapping[str, str | Code],
    functions: Mapping[str, CFunction] = MappingProxyType({}),
    *,
    cc: str | Sequence[str] | None,
    cflags: str | Sequence[str] | None = None,
    verbose: bool = False,
    **options: Any,
) -> CompiledModel:
    """Compile the core group of a model, and the others when they are first called; without SymPy, known ones.

    Parameters
    ----------
    source : _Source
    known : dict of group to text or code
        Groups that were derived before.
    functions : dict of name to CFunction
        Functions that the model calls by address.
    cc, cflags, verbose, **options
        As in `compile`, which checks them.
    """
    name, real = source.name, source.real
    info: dict[str, Any] = {"build": {}, "baked": sorted(source.baked), "real": real}
    if source.folder is not None:
        info["folder"] = source.folder
    had = dict(known)  # and what is built from now on, for pickles
    texts = {group: text for group, text in had.items() if isinstance(text, str)}
    codes = {group: code for group, code in had.items() if isinstance(code, Code)}
    build: Callable[[str], tuple[str | Code, str | None]]
    build_lanes = None
    if is_wanted(cc, name):
        options = {"cc": cc, "cflags": cflags, "verbose": verbose, "name": name, **options}
        groups = functools.cache(lambda: source.groups(real=real))
        build, build_lanes = group_builders(groups, source.key, info["build"], options, warns=source.warns, known=texts)
    elif real != "double":
        raise ValueError(
            "real is 'float', and there is no compiler: without one models run on kanecore's own machine, which "
            "computes with doubles"
        )
    elif cflags is not None:
        raise ValueError(f"cflags is {cflags!r}, and there is no compiler that takes flags: leave it out")
    else:
        build = for_machine(_coder(source, codes, options.get("cache", True)), name, info, verbose)

    def keep(group: str) -> tuple[str | Code, str | None]:
        library, text = build(group)
        had[group] = library if text is None else text
        return library, text

    library, text = keep("core")
    return class_of(real)(
        {"core": library},
        source={} if text is None else {"core": text},
        builder=keep,
        lane_builder=build_lanes,
        info=info,
        functions=functions,
        describe=source.described,
        fingerprint=lambda: source.key,
        origin=(unpickled, (version(), source, had)),
    )


def unpickled(made_by: str, source: _Source, known: Mapping[str, str | Code]) -> CompiledModel:
    """Make a pickled model again; without SymPy it has the groups of kernels that it had.

    Raises
    ------
    ModelError
        It was pickled by another version of kanecore.
    """
    if made_by != version():
        raise ModelError(
            f"{source.name!r} was pickled by kanecore {made_by}, and this is {version()}: compile the model here, or "
            "hand it over as a model wheel, kc.build_wheel, which brings its own run time"
        )
    return _derived(source, known, cc=NO_COMPILER if any(isinstance(code, Code) for code in known.values()) else None)


# Bytecode that was derived in this process, by the key of the source and the group; the oldest goes first.
_CODES: dict[tuple[str, str], Code] = {}
_MOST_CODES = 256
_KEEPING = threading.Lock()


def _coder(source: _Source, known: Mapping[str, Code], cache: bool) -> Callable[[str], Code]:
    """Function that returns the code of a group: a known one, with ``cache`` one of an equal model, or derived now."""

    @functools.cache
    def groups() -> Groups:
        from kanecore.emit.bytecode import FIRST

        return source.groups(first=FIRST)

    def write(group: str) -> Code:
        if group in known:
            return known[group]
        key = (source.key, group)
        keep = cache and group != source.warns  # so that every compile warns
        if keep and (written := _CODES.get(key)):
            return written
        from kanecore.emit.bytecode import code

        written = code(groups().library(group))
        if keep:
            with _KEEPING:
                _CODES[key] = written
                if len(_CODES) > _MOST_CODES:
                    del _CODES[next(iter(_CODES))]
        return written

    return write


def for_machine(
    write: Callable[[str], Code], name: str, info: dict[str, Any], verbose: bool = False
) -> Callable[[str], tuple[Code, None]]:
    """Builder of groups of kernels as bytecode for the interpreter: there is no C text, and no file."""
    info["machine"] = True

    @no_collection()
    def build(group: str) -> tuple[Code, None]:
        start = time.perf_counter()
        written = write(group)
        seconds = time.perf_counter() - start
        info["build"][group] = {"derive_seconds": seconds, "compile_seconds": 0.0, "from_cache": False, "command": []}
        if verbose:
            print(f"{name}: {group} on the machine, without a compiler")
        return written, None

    return build
