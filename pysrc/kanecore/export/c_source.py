# SPDX-License-Identifier: BSD-3-Clause
"""C source of an exported model: one file and one header; kernels as functions under a prefix, without tables."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from kanecore.emit.kernel_library import Library
from kanecore.emit.library_tables import names, numbers, sizes
from kanecore.emit.solver_calls import function, headers, room
from kanecore.emit.sources import version
from kanecore.emit.work_space import widest
from kanecore.kernels import KERNELS, Kernel
from kanecore.program.function_parts import Equations, Function, Solved
from kanecore.statuses import OF_LOADS, STATUSES

from .c_names import identifiers
from .exported_library import in_one_file
from .operation_bounds import Operations
from .reachable_text import reachable
from .stack_bounds import FRAME, Stack

__all__ = ["FILES", "Source", "comment", "filled"]

FILES = Path(__file__).with_name("c_files")
"""C and other texts for any model, in which MODEL stands for its prefix and INSERT_NAME for what differs otherwise.

A line that begins with ``IF_NAME:`` is there in some cases only.
"""

_PLACE = re.compile(r"MODEL|^[ \t]*INSERT_(\w+);\n|\bINSERT_(\w+)\b", re.MULTILINE)
_CASE = re.compile(r"^IF_(\w+):(.*\n)", re.MULTILINE)

_LICENCE = "/* SPDX-License-Identifier: BSD-3-Clause */\n"  # of the files here; their output is the user's

_LISTS = {
    "x": ("n_x", ("q_names", "u_names", "z_names"), "The places of coordinates and speeds in x"),
    "r": ("n_r", ("r_names",), "The places of the inputs in r"),
    "p": ("n_p", ("p_names",), "The places of the parameters in p"),
    "y": ("n_outputs", ("output_names",), "The places of the outputs"),
    "point": ("n_points", ("point_names",), "Points, in the order of positions and velocities"),
    "frame": ("n_frames", ("frame_names",), "Frames, in the order of orientations"),
    "joint": ("n_joints", ("joint_names",), "Joints, in the order of reactions"),
    "row": ("n_constraints", ("constraint_names",), "Rows of G"),
}
"""Names that become constants, by the size that counts them."""

_ALWAYS = ("n_q", "n_u", "n_x", "n_p", "n_r", "n_prepared", "n_work")  # sizes of arguments, also where they are 0


OUTCOMES = {s.name.lower(): (s.code, s.meaning) for s in sorted(STATUSES, key=lambda s: not s.of_kernels)}
"""Number and meaning of the outcomes of a library's functions, by name; outcomes of integrators alone at the end."""


class Source:
    """Texts of an exported model.

    Parameters
    ----------
    library : Library
        Its kernels, with the parameters as defaults.
    prefix : str
        Prefix of all its names.
    kernels : sequence of str
        Kernels that become functions; others serve them.
    inputs : sequence of float
        Their values, NaN where the user must give one.
    integrates : bool
        Whether the package's integrators go with it.
    """

    def __init__(
        self, library: Library, prefix: str, kernels: Sequence[str], inputs: Sequence[float], integrates: bool = False
    ) -> None:
        self.library, self.prefix = library, prefix
        of_kernel = library.of_kernel
        self.kernels = [kernel for kernel in KERNELS if kernel.name in kernels and kernel.name in of_kernel]
        wanted = {kernel.name for kernel in self.kernels}
        self.steps = "rhs" in wanted
        self.step_slopes = {"rhs", "linearize"} <= wanted
        self.integrates = integrates
        self._inputs = inputs
        self.real = library.target.number
        self._contents = library.contents("")

    # -------------------------------------------------------------------- facts
    @cached_property
    def _of_kernels(self) -> dict[str, Function]:
        """Functions that the kernels call, without those of kernels that only serve others."""
        of_kernel = self.library.of_kernel
        names = [of_kernel[kernel.name].name for kernel in self.kernels]
        if self.steps and self.library.sizes["n_q"]:
            names.append("compute_qdot")
        return self._called(names)

    @cached_property
    def _reads_rank(self) -> bool:
        """Test whether a kernel reads the rank of G."""
        solvers = (each for each in self._of_kernels.values() if isinstance(each, Solved))
        return bool(self.library.d.constraints) and any(m.endswith("rank") for each in solvers for m in each.members)

    @property
    def _counting(self) -> Solved | None:
        """Function by which ``prepare`` counts them."""
        return self.library.counting if self._reads_rank else None

    @cached_property
    def _functions(self) -> dict[str, Function]:
        """Functions that the kernels and ``prepare`` call."""
        return self._called([*self._of_kernels, *(self._counting.calls if self._counting else ())])

    def _called(self, waiting: list[str]) -> dict[str, Function]:
        made, called = self.library.functions.by_name, set[str]()
        while waiting:
            name = waiting.pop()
            if name not in called:
                called.add(name)
                waiting += made[name].calls
        return {name: each for name, each in made.items() if name in called}

    @cached_property
    def _bounds(self) -> dict[str, Operations | Stack]:
        """Bounds of a function by the names of constants in the header; the second one only where angles matter."""
        library, counting = self.library, self.library.counting  # which may make functions of its own
        functions = {**library.functions.by_name, **({"count": counting} if counting is not None else {})}
        return {
            "operations": Operations(library, functions),
            "any_angle": Operations(library, functions, any_angle=True),
            "stack": Stack(library, functions),
        }

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Numbers of things, by the names that the header has for them."""
        counts = {name: int(n) for name, n in sizes(self._contents).items() if name != "n_work"}
        n_x = self.library.sizes["n_x"]
        first = {name: counts.pop(name) for name in ("n_q", "n_u", "n_z") if name in counts}
        beside = [0]  # scratch of functions that call kernels, after the scratch of the kernels
        if self.steps:
            beside.append(3 * n_x)
        if self.step_slopes:
            beside.append(3 * n_x + 3 * n_x * (n_x + counts["n_r"]))
        if self.integrates:
            beside.append(_room_of_methods(n_x, counts["n_r"], first["n_u"]))
        n_work = 2 + widest(self._functions) + max(beside)
        result = {**first, "n_x": n_x, **counts, "n_work": n_work}
        result["n_prepared"] = max(1, result["n_prepared"])  # arrays have a length
        return result

    @property
    def _named_sizes(self) -> dict[str, int]:
        """Sizes that the header names: of arguments, results and constraints."""
        shapes = " ".join(axis for kernel in self.kernels for axis in (*kernel.shape, *kernel.beyond))
        named = {*_ALWAYS, *re.findall(r"\bn_\w+", shapes)}
        return {name: n for name, n in self.sizes.items() if name in named or (n and name in ("n_z", "n_constraints"))}

    def length(self, kernel: Kernel) -> int:
        """Number of results of a kernel."""
        return self.library.n_results(kernel.name)

    def bounds(self, kernel: Kernel) -> dict[str, int]:
        """The most that a kernel takes, by the names of constants in the header."""
        name, found = self.library.of_kernel[kernel.name].name, {}
        for what, bound in self._bounds.items():
            found[what] = bound.of(name)
            if what == "stack":
                found[what] += FRAME
                continue
            if kernel.name == "rhs" and self.sizes["n_q"]:
                found[what] += bound.of("compute_qdot")
            found[what] += 2 * self.length(kernel) + 2  # is it finite?
        return found

    def bounds_of_prepare(self) -> dict[str, int]:
        found = {what: bound.of_prepare(self._counting) for what, bound in self._bounds.items()}
        finite = 2 * self.sizes["n_prepared"] + 1
        return {what: bound + finite * (what != "stack") for what, bound in found.items()}

    def bounds_of_step(self, columns: int) -> dict[str, int]:
        """Bounds of a step in time, with this many columns of its derivatives (``c_files/step.c``)."""
        called = [
            self.bounds(kernel) for kernel in self.kernels if kernel.name in ("rhs", "linearize")[: 1 + bool(columns)]
        ]
        n, unit = self.sizes["n_x"], self.sizes["n_unit"]
        stage = 3 + 5 * n + (3 * n + 2) * n * columns
        end = (2 + 3 * columns) * n + (15 + 20 * columns) * unit
        return {
            what: FRAME + max(each[what] for each in called)
            if what == "stack"
            else 4 * (stage + sum(each[what] for each in called)) + end
            for what in called[0]
        }

    # --------------------------------------------------------------------- text
    def fill(self, name: str, values: Mapping[str, str] | None = None) -> str:
        """The text of a file of :data:`FILES`, for this model."""
        first = f"{self.prefix}_{self.kernels[0].name}"
        length = f"{self.prefix}_length_{self.kernels[0].name}"
        cases = {"EXAMPLE": "1" * self.steps, "FIRST": first, "LENGTH": length}
        return filled(name, self.prefix, {**cases, **(values or {})})

    def header(self) -> str:
        """Header that users include."""
        columns = self.sizes["n_x"] + self.sizes["n_r"]
        sizes, status = self._named_sizes, self._outcomes
        states = "coordinates, speeds" + ", first-order states" * ("n_z" in sizes)
        if any(kernel.beyond for kernel in self.kernels):
            states += (
                "; where a function says so,\n *           derivatives of the speeds, multipliers and directions follow"
            )
        text = self.fill(
            "model.h",
            {
                "VERSION": version(),
                "NAME": comment(self.library.d.name),
                "REAL": self.real,
                "ANGLE_MAX": "1e5" if self.real == "double" else "3e3",
                "STATES": states,
                "SIZES": self._enumeration(sizes),
                "PLACES": "".join(self._places(sizes)),
                "STATUS": self._enumeration(
                    {name: OUTCOMES[name][0] for name in status}, {name: OUTCOMES[name][1] for name in status}
                ),
                "KERNELS": "".join(map(self._declaration, self.kernels)),
                "RANK": self.fill("rank.h") if self._reads_rank else "",
                "PREPARE": self._facts("prepare", self.bounds_of_prepare()),
                "STEP": self._step("step", 0) if self.steps else "",
                "STEP_JACOBIAN": self._step("step_jacobian", columns) if self.step_slopes else "",
                "INTEGRATE": self.fill("integrate.h") if self.integrates else "",
            },
        )
        return re.sub(r"\n{3,}", "\n\n", text)

    def _places(self, sizes: Container[str]) -> list[str]:
        lists, result = names(self._contents), []
        for letter, (size, members, what) in _LISTS.items():
            all_names = [name for member in members for name in lists.get(member, ())]
            if all_names and size in sizes:
                places = zip(identifiers(all_names), range(len(all_names)), strict=True)
                text = self._enumeration({f"{letter}_{name}": place for name, place in places})
                result.append(f"/* {what}. */\n{text}\n")
        return result

    def _enumeration(self, values: Mapping[str, int], why: Mapping[str, str] | None = None) -> str:
        """Constants, one a line."""
        lines = [f"    {self.prefix}_{name} = {value}," for name, value in values.items()]
        if why is not None:
            lines = [f"{line} /* {why[name]} */" for line, name in zip(lines, values, strict=True)]
        if not lines:
            return ""
        lines[-1] = lines[-1].replace(",", "", 1)
        return "enum {\n" + "\n".join(lines) + "\n};\n"

    def _declaration(self, kernel: Kernel) -> str:
        reads = f"; x: {' + '.join(('n_x', *kernel.beyond))}" if kernel.beyond else ""
        shape = " * ".join(f"({n})" if "+" in n else n for n in kernel.shape) or "1"
        what = f"{kernel.brief}; out: {shape}{reads} */"
        facts = {"length": self.length(kernel), **self.bounds(kernel)}
        return (
            f"{textwrap.fill(what, 108, initial_indent='/* ', subsequent_indent=' * ')}\n"
            f"{self._facts(kernel.name, facts)}{self._head(kernel.name)};\n\n"
        )

    def _step(self, name: str, columns: int) -> str:
        then = ["Then unit quaternions are divided by their lengths."] if self.sizes["n_unit"] else []
        if self.library.d.constraints:
            there = any(kernel.name == "project" for kernel in self.kernels)
            back = f"{self.prefix}_project brings the state back to the constraints"
            then.append(f"{back}." if there else f"{back}: export it, too.")
        lines = "".join(f"\n * {sentence}" for sentence in then)
        return self.fill(f"{name}.h", {"FACTS": self._facts(name, self.bounds_of_step(columns)), "THEN": lines})

    def _facts(self, name: str, facts: Mapping[str, int]) -> str:
        """Constants; enumerators of C are ints. Where angles do not matter, operations are said once."""
        if facts["any_angle"] == facts["operations"]:
            facts = {fact: n for fact, n in facts.items() if fact != "any_angle"}
        small = {fact: n for fact, n in facts.items() if n < 2**31}
        text = ", ".join(f"{self.prefix}_{fact}_{name} = {n}" for fact, n in small.items())
        large = (f"#define {self.prefix}_{fact}_{name} {n}LL\n" for fact, n in facts.items() if fact not in small)
        return f"enum {{ {text} }};\n{''.join(large)}"

    def _head(self, name: str) -> str:
        """The head of the function of a kernel."""
        real = f"{self.prefix}_real"
        arguments = [f"{real} t", *(f"const {real} *{array}" for array in "xrc"), f"{real} *work", f"{real} *out"]
        head = f"int {self.prefix}_{name}({', '.join(arguments)})"
        return textwrap.fill(head.replace(" ", "\0").replace(",\0", ", "), 110, subsequent_indent="    ").replace(
            "\0", " "
        )

    def source(self) -> str:
        """C file that users compile."""
        text = self._text.replace(self._numbers(OUTCOMES), self._numbers(self._outcomes))
        return self.library.opening(self.library.operations) + text

    @cached_property
    def _outcomes(self) -> list[str]:
        """Names of the outcomes that functions of this text have."""
        prepare = f"int {self.prefix}_prepare("  # which has no other than ok and nonfinite
        kernels = reachable(self._text.replace(f"\n{prepare}", f"\nstatic {prepare}"), {})
        words = Counter(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", kernels, flags=re.DOTALL)))
        loads = any(isinstance(each, Solved) and each.solver == "asked" for each in self._functions.values())
        return [
            name
            for name in OUTCOMES
            if words[f"{self.prefix}_{name}"] or words[f"KC_{name.upper()}"] > 1 or (loads and name in OF_LOADS)
        ]

    @staticmethod
    def _numbers(names: Iterable[str]) -> str:
        return ",\n    ".join(f"KC_{name.upper()} = {OUTCOMES[name][0]}" for name in names)

    @cached_property
    def _text(self) -> str:
        """Text of the source below its opening, with all statuses."""
        library, made, counting = self.library, self._functions, self._counting
        text = [
            f'#include "{self.prefix}.h"\n\n',
            self.fill("status.c", {"STATUS": self._numbers(OUTCOMES)}),
            *library.runtime([*made.values(), *([counting] if counting else [])]),
            *library.splines(made.values()),
            *(function(library.target, each, made) for each in made.values()),
            library.preparation("prepare", library.counting_lines(counting)),
            self._defaults(),
            self.fill("functions.c", {"ROOM": room(made, made)}),
            *map(self._entry, self.kernels),
            self._stepping() if self.steps else "",
            self._integration() if self.integrates else "",
        ]
        reached = reachable("".join(text).replace(_LICENCE, "\n"), self._conditions)
        return re.sub(r"\n{3,}", "\n\n", reached).replace("#else\n#endif", "#endif")

    def _stepping(self) -> str:
        """Steps in time, at the end of which unit quaternions are divided by their lengths."""
        ends = {"step": "next, 0, NULL", "step_jacobian": "next, k, jacobian"}
        return "".join(
            self.fill(
                f"{name}.c",
                {
                    **self._units(),
                    "END": f"kc_unit_quaternions({end})" if self.sizes["n_unit"] else f"{self.prefix}_ok",
                },
            )
            for name, end in ends.items()
            if name == "step" or self.step_slopes
        )

    @property
    def _conditions(self) -> dict[str, bool]:
        """Conditions of the preprocessor that are true, or false, in every text of this model."""
        along = "directions.h" in headers(self.library.target, self._functions.values())
        wide, double = (
            {"defined(KC_WIDE)": False, "!defined(KC_WIDE)": True},
            {"KC_MANTISSA == 52": self.real == "double"},
        )
        solvers = [each for each in (*self._functions.values(), self._counting) if isinstance(each, Solved)]
        equations = [m for each in solvers for m in each.members.values() if isinstance(m, Equations)]
        symmetric = {"!defined(KC_NONE_SYMMETRIC)": any(each.symmetric for each in equations)}
        return wide | double | symmetric | {"defined(KC_ALONG)": along, "__cplusplus": False}

    def _entry(self, kernel: Kernel) -> str:
        name = kernel.name
        lines = self.library.entry_lines(name)
        body = "".join(f"    {line}\n" for line in ["work[0] = 0;", *lines])
        return f"{self._head(name)}\n{{\n{body}    return kc_outcome({self.length(kernel)}, work, out);\n}}\n\n"

    def _defaults(self) -> str:
        target, lines = self.library.target, ""
        of = {"p_default": numbers(self._contents)["p_default"], "r_default": self._inputs}
        for name, defaults in of.items():
            values = target.numbers(defaults) or target.literal(0.0)
            lines += f"const {self.real} {self.prefix}_{name}[] = {{\n{_wrapped(values)}\n}};\n"
        return lines + "\n"

    def _integration(self) -> str:
        """Integrators, and the code that calls them with the functions of this model."""
        wanted = {kernel.name for kernel in self.kernels}
        called = [name for name in ("rhs", "qdot", "project", "linearize", "rhs_time_derivative") if name in wanted]
        kernels = "".join(
            f"static void kc_call_{name}(double t, const double *x, const double *r, const double *c, double *work,\n"
            f"                        double *out)\n{{\n    {self.prefix}_{name}(t, x, r, c, work, out);\n}}\n\n"
            for name in called
        )
        pointers = {name: f"kc_call_{name}" if name in called else "NULL" for name in (*called, *_OPTIONAL)}
        derivatives = "linearize" in called and "rhs_time_derivative" in called
        values = {key: pointers[name] for name, key in _OPTIONAL.items()}
        values |= {"KERNELS": kernels, "DERIVATIVES": str(int(derivatives)), **self._units()}
        values["N_CONSTRAINTS"] = str(self.sizes["n_constraints"])
        return in_one_file(self.prefix) + self.fill("integrate.c", values)

    def _units(self) -> dict[str, str]:
        places = numbers(self._contents)["unit"]
        return {"UNIT": ", ".join(map(str, places)) or "0", "N_UNIT": str(self.sizes["n_unit"])}


_OPTIONAL = {"project": "PROJECT", "linearize": "LINEARIZE", "rhs_time_derivative": "BY_TIME"}
"""Kernels that integrators call where there are some, and what stands for them in ``integrate.c``."""


def _room_of_methods(n: int, n_r: int, n_u: int) -> int:
    """Scratch, in numbers, of the largest method beside the kernels', and that of ``integrate.c``."""
    states = 16 + 8 + 3  # slopes, interpolant: as many as dop853 has, and three more (kc_ode_work)
    rosenbrock = n * (n + n_r) + n + n_r + n * n + 2 * n  # kc_rosenbrock_work
    run = n_r + max(n, 2 * n_u)  # kc_run_work
    return states * n + rosenbrock + run + 2 + n + 4 * n_r


def _wrapped(values: str) -> str:
    return textwrap.fill(values, 100, initial_indent="    ", subsequent_indent="    ")


def filled(name: str, prefix: str, values: Mapping[str, str]) -> str:
    """The text of a file of :data:`FILES`: ``INSERT_NAME;`` is a line that a value replaces, INSERT_NAME a word.

    A line that begins with ``IF_NAME:`` is there if that value is not empty.
    """
    text = (FILES / name).read_text(encoding="utf-8").removeprefix(_LICENCE)
    text = _CASE.sub(lambda case: case[2] if values[case[1]] else "", text)
    return _PLACE.sub(lambda place: prefix if place[0] == "MODEL" else values[place[1] or place[2]], text)


def comment(name: str) -> str:
    """Name that is safe in a comment of C, or in a table."""
    return re.sub(r"[^A-Za-z0-9_.,+\-() ]", "?", name)
