# SPDX-License-Identifier: BSD-3-Clause
"""Export of a model as a folder of C: the library, a test, an example, and the commands to build them."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanecore.emit.kernel_groups import REALS
from kanecore.emit.sources import version
from kanecore.errors import ModelError, unknown_name, warn
from kanecore.kernels import GROUPS, KERNEL_GROUPS
from kanecore.whole_files import whole_file, whole_folder

from .c_names import checked_prefix, default_prefix
from .c_source import Source, comment
from .exported_library import library_of, on_machine
from .reference_results import Vector, Vectors

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["export_c"]

Array = npt.NDArray[np.float64]

DIGITS = 3  # of u̇; where floats leave fewer there is a warning


def export_c(
    dyn: Evaluator,
    folder: str | os.PathLike[str],
    kernels: str | Iterable[str] | None,
    real: str | None,
    prefix: str | None,
    integrators: bool,
) -> None:
    """Write a model as C: the work of `CompiledModel.export_c`."""
    if real is None:
        real = "float" if dyn.single else "double"
    if real not in REALS:
        raise ValueError(f"real is {real!r}; it must be one of {', '.join(map(repr, REALS))}")
    names, asked = _kernels(kernels)
    chosen = default_prefix(dyn.name) if prefix is None else checked_prefix(prefix)
    if integrators and "rhs" not in names:
        raise ValueError("integrators=True needs 'rhs' among kernels, which the integrators call")
    if integrators and real != "double":
        step = f"{chosen}_step, which is always there, computes in floats"
        raise ValueError(f"integrators=True needs real='double': the integrators compute in doubles. {step}")
    if real == "float":
        _refuse_other_sizes(dyn)
    if integrators:
        names = [*dict.fromkeys((*names, "qdot", "project"))]  # which they call
    path = _empty(folder)
    serving = {"udot", "qdot"} if "rhs" in names else set()
    source = Source(
        library_of(dyn, "a C library", kernels=[*names, *serving], real=real), chosen, names, _inputs(dyn), integrators
    )
    _refuse_absent(dyn, asked.difference(kernel.name for kernel in source.kernels))
    files = _texts(_in_doubles(dyn), source)
    with whole_folder(path) as place:
        for name, text in files.items():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(target) as file:
                file.write_text(text, encoding="utf-8", newline="\n")


# ----------------------------------------------------------------------------------------------------- arguments


def _kernels(kernels: str | Iterable[str] | None) -> tuple[list[str], set[str]]:
    """Names of kernels, and those among them that were asked for by name, not by group."""
    given = ["all"] if kernels is None else [kernels] if isinstance(kernels, str) else list(kernels)
    names: list[str] = []
    for name in given:
        if name == "all":
            names += KERNEL_GROUPS
        elif name in GROUPS:
            names += GROUPS[name]
        elif name in KERNEL_GROUPS:
            names.append(name)
        else:
            raise unknown_name("kernel or group is called", name, [*KERNEL_GROUPS, *GROUPS, "all"])
    if not names:
        raise ValueError("kernels is empty: name kernels or groups, or leave it out for all")
    return list(dict.fromkeys(names)), {name for name in given if name in KERNEL_GROUPS and name not in GROUPS}


def _inputs(dyn: Evaluator) -> list[float]:
    """The current ones."""
    return [float(value) for value in dyn.kernels.values("input")]


def _refuse_other_sizes(dyn: Evaluator) -> None:
    """Parameters and inputs must be floats."""
    for what, names in (("parameter", dyn.parameter_names), ("input", dyn.input_names)):
        for name, value in zip(names, map(float, dyn.kernels.values(what)), strict=True):
            limits = np.finfo(np.float32)
            if abs(value) > float(limits.max) or 0.0 < abs(value) < float(limits.tiny):
                raise ModelError(f"{what} {name!r} is {value!r}, which no float holds: export it with real='double'")


def _refuse_absent(dyn: Evaluator, absent: Iterable[str]) -> None:
    """Raise an error if a kernel that was asked for by name is missing."""
    for name in sorted(absent):
        why = dyn.kernels.why_not(name) or "it would have no elements"
        raise ModelError(f"{dyn.name!r} has no kernel {name}: {why}")


def _empty(folder: str | os.PathLike[str]) -> Path:
    """Check that a folder does not exist yet, or is empty; return its path."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{str(path)!r} is a file; export_c writes a folder: name one that is not there yet")
    if path.is_dir() and (first := next(iter(sorted(path.iterdir())), None)) is not None:
        raise FileExistsError(
            f"the folder {str(path)!r} is not empty, it holds {first.name!r}: name one that is empty or not there yet"
        )
    return path


def _in_doubles(dyn: Evaluator) -> Evaluator:
    """Model that computes in doubles, with a value for each parameter: 1 for unset ones."""
    p = np.array(dyn.kernels.values("parameter"), dtype=np.float64)
    if not dyn.single and not np.isnan(p).any():
        return dyn
    other = on_machine(dyn)
    other.parameters.update(dict(zip(dyn.parameter_names, np.where(np.isnan(p), 1.0, p), strict=True)))
    return other


# --------------------------------------------------------------------------------------------------------- files


def _texts(dyn: Evaluator, source: Source) -> dict[str, str]:
    """Every file of the folder."""
    prefix = source.prefix
    vectors = Vectors(dyn, source.library.target.epsilon)
    found = list(_vectors(vectors, source))
    if not found and vectors.beyond is None:
        warn(
            f"no state of {dyn.name!r} was found at which kernels have results, so the test of the C compares nothing: "
            "give the model a guess= near such a state"
        )
    if source.real == "float":
        _warn_of_digits(dyn, vectors)
    return {
        f"{prefix}.h": source.header(),
        f"{prefix}.c": source.source(),
        "Makefile": source.fill("Makefile"),
        "CMakeLists.txt": source.fill("CMakeLists.txt"),
        "README.md": _readme(source),
        "test/test.c": _test(source, {vector.function for vector in found}, vectors.step_length),
        "test/vectors.h": _written(source, vectors, found),
        **({f"{prefix}_acados.c": source.fill("acados.c")} if source.step_slopes and source.real == "double" else {}),
        **({"example/loop.c": _example(source, found)} if source.steps else {}),
    }


def _vectors(vectors: Vectors, source: Source) -> Iterator[Vector]:
    """Results of all functions, where they have some."""
    for t, x, r in vectors.states():
        for kernel in source.kernels:
            if vector := vectors.of_kernel(kernel, t, x, r):
                yield vector
        for wanted, slopes in ((source.steps, False), (source.step_slopes, True)):
            if wanted and (vector := vectors.step(slopes, t, x, r)):
                yield vector


def _warn_of_digits(dyn: Evaluator, vectors: Vectors) -> None:
    """Warn if floats cannot hold what the equations need."""
    if vectors.beyond is not None:
        warn(
            f"in floats no digit of udot of {dyn.name!r} is left: at a random state {vectors.beyond}, and floats go "
            "from 1.2e-38 to 3.4e+38; the test of the C leaves such states out. Export it with real='double', or in "
            "units in which its numbers are of one size"
        )
        return
    name = next((name for name in ("udot", "rhs") if name in vectors.digits_left), None)
    if name is not None and (digits := vectors.digits_left[name]) < DIGITS:
        warn(
            f"in floats about {max(digits, 0.0):.1f} of 7 digits of {name} of {dyn.name!r} are left: at a random state "
            "it changes that much where parameters, state and inputs change in their last digit. Export it with "
            "real='double', or in units in which its numbers are of one size"
        )


def _test(source: Source, functions: Container[str], step_length: float) -> str:
    steps = (
        source.fill("test_step.c", {"STEP": source.library.target.literal(step_length)})
        if "take_step" in functions
        else ""
    )
    steps += source.fill("test_step_jacobian.c") if "take_step_jacobian" in functions else ""
    n_x, n_r = source.sizes["n_x"], source.sizes["n_r"]
    lengths = [source.length(kernel) for kernel in source.kernels] + [n_x * (1 + n_x + n_r)] * source.steps
    return source.fill("test.c", {"STEPS": steps, "LONGEST": str(max(lengths))})


def _written(source: Source, vectors: Vectors, found: Sequence[Vector]) -> str:
    """Vectors as C."""
    literal, real = source.library.target.literal, f"{source.prefix}_real"

    def array(name: str, values: Iterable[float]) -> str:
        numbers = textwrap.fill(", ".join(map(literal, values)), 110, initial_indent="    ", subsequent_indent="    ")
        return f"static const {real} {name}[] = {{\n{numbers or literal(0.0)}\n}};\n"

    text = f"/* Results of kanecore. */\nstatic const int rank = {vectors.rank};\n{array('parameters', vectors.p)}"
    rows = []
    for i, vector in enumerate(found):
        own = {"x": vector.x, "r": vector.r, "expected": vector.expected, "within": vector.near}
        text += "".join(array(f"{name}_{i}", values) for name, values in own.items())
        call = vector.function if vector.function.startswith("take_") else f"{source.prefix}_{vector.function}"
        rows.append(
            f'    {{"{vector.function}", {call}, {len(vector.expected)}, {literal(vector.t)}, '
            f"x_{i}, r_{i}, expected_{i}, within_{i}}},\n"
        )
    return (
        text + f"\nstatic const test tests[] = {{\n{''.join(rows)}    {{0, 0, 0, 0, 0, 0, 0, 0}} /* the end */\n}};\n"
    )


def _example(source: Source, vectors: Sequence[Vector]) -> str:
    """A loop that begins at one of the states."""
    prefix = source.prefix
    state = next((v.x[: source.sizes["n_x"]] for v in vectors if v.function == "take_step"), np.zeros(0))
    literal = source.library.target.literal
    project = f"        if (!status)\n            status = {prefix}_project(t + h, x, r, c, work, x);\n"
    projected = any(kernel.name == "project" for kernel in source.kernels)
    return source.fill("loop.c", {"STATE": ", ".join(map(literal, state)) or "0", "PROJECT": project * projected})


def _readme(source: Source) -> str:
    d = source.library.d
    lists: dict[str, Sequence[str]] = {
        "Q": d.coordinate_names,
        "U": d.speed_names,
        "Z": d.state_names,
        "R": d.input_names,
        "P": d.parameter_names,
        "C": [constraint.name for constraint in d.constraints],
    }
    values = {key: ", ".join(map(comment, names)) or "none" for key, names in lists.items()}
    return source.fill("README.md", {**values, "REAL": source.real, "VERSION": version(), "NAME": comment(d.name)})
