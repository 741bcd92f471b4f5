# SPDX-License-Identifier: BSD-3-Clause
"""C text of a group of kernels, or of a whole model, with its ``kc_model`` table.

The text depends on the description alone: the same model gives the same bytes in any process on any machine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.reads import unread
from kanecore.derive.registry import Derived
from kanecore.describe.description import Description, bake, duplicate
from kanecore.graph.evaluate import count
from kanecore.graph.scalars import PARAMETER, Op
from kanecore.kernels import GROUPS, KERNEL_GROUPS, KERNELS
from kanecore.program.bodies import Bodies
from kanecore.program.instructions import Entry, Operand, Store
from kanecore.program.solved import Body, Solved
from kanecore.program.straight import straight_line

from .c import C
from .solved import function, headers, numbers, room, structure

__all__ = ["Emitted", "Groups", "emit_group", "emit_library", "version"]

WIDTH = 80  # characters of text in a line of C, before they are escaped
_RUNTIME = Path(__file__).with_name("runtime")


class Emitted:
    """C text with the facts that go with it: ``operations`` by kernel, ``statements`` in all."""

    def __init__(self, text: str, operations: dict[str, dict[str, int]]) -> None:
        self.text, self.operations = text, operations


class Groups:
    """The groups of kernels of one model, each as a library of its own.

    All share the prepared constants of the core group, so that one block serves every kernel; what only another group
    needs of the parameters it computes itself.  The core group is derived once: each group goes on from a copy.

    Parameters
    ----------
    description : Description
    baked : mapping of name to float, optional
        Parameters that become constants.
    """

    def __init__(self, description: Description, baked: Mapping[str, float] | None = None) -> None:
        self._description, self._baked = description, baked

    @cached_property
    def _core(self) -> tuple[Derivation, dict[str, Derived]]:
        derivation = _derive(self._description, self._baked)
        return derivation, _programs(derivation, GROUPS["core"])

    def emit(self, group: str) -> Emitted:
        """``"core"``, ``"forces"``, ..., of `kanecore.kernels`."""
        derivation, core = self._core[0].copy(), self._core[1]
        kernels = core if group == "core" else _programs(derivation, filter(derivation.has, GROUPS[group]))
        return _Library(derivation, core, kernels, group, {}).emitted()


def emit_group(description: Description, group: str, baked: Mapping[str, float] | None = None) -> Emitted:
    """One group of kernels of a model."""
    return Groups(description, baked).emit(group)


def emit_library(description: Description, parameters: Mapping[str, float] | None = None) -> Emitted:
    """All kernels in one library, with default values of the parameters: a prebuilt model."""
    derivation = _derive(description, None)
    names = [name for group in GROUPS for name in GROUPS[group] if derivation.has(name)]
    kernels = _programs(derivation, names)
    return _Library(derivation, kernels, kernels, "all", dict(parameters or {})).emitted()


def _derive(description: Description, baked: Mapping[str, float] | None) -> Derivation:
    """A derivation on a graph of its own: what was derived before would change the numbers of the nodes."""
    return Derivation(bake(description, baked) if baked else duplicate(description))


def _programs(derivation: Derivation, names: Iterable[str]) -> dict[str, Derived]:
    """The straight-line programs of some kernels; of those that are solved at run time, what these start from."""
    result = {}
    for name in names:
        if name in ("rhs", "udot") and derivation.solved_at_run_time:
            solving = derivation.solving or derivation.general
            result["udot"] = Derived((*solving.system, *solving.known, *solving.result), limits=solving.limits)
        else:
            result[name] = derivation.kernel(name)
    return result


class _Library:
    def __init__(
        self,
        derivation: Derivation,
        preparing: Mapping[str, Derived],
        kernels: Mapping[str, Derived],
        group: str,
        defaults: Mapping[str, float],
    ) -> None:
        self.derivation, self.kernels, self.group, self.defaults = derivation, kernels, group, defaults
        self.d, self.g, self.target = derivation.description, derivation.graph, C()
        self.symbols = self._symbol_places()
        self.prepared = self._prepared(preparing)
        self.prepares = preparing is kernels
        self.n_prepared = len(self.d.parameters) + len(self.prepared) + bool(self.d.constraints)

    # ------------------------------------------------------------------ levels
    def _symbol_places(self) -> dict[int, Operand]:
        """Where the symbols stand: t, x = [q, u, u̇], r, c."""
        d = self.d
        arrays = {"x": [*d.coordinates, *d.speeds, *d.accelerations], "r": d.inputs, "c": d.parameters}
        places = {d.time: Operand(Entry("t"))}
        for array, nodes in arrays.items():
            places.update((node, Operand(Entry(array, i))) for i, node in enumerate(nodes))
        return places

    def _prepared(self, kernels: Mapping[str, Derived]) -> dict[int, Operand]:
        """Slots of what depends on parameters alone and is used by something that does not, in order of the graph."""
        g = self.g
        found: set[int] = set()
        for kernel in kernels.values():
            roots = [*kernel.roots, *(i for pivot in kernel.pivots for i in pivot[:2]), *kernel.limits]
            below = g.below(roots)
            for i in below:
                if g.depends[i] & ~PARAMETER:
                    found.update(k for k in g.operands(i) if g.depends[k] == PARAMETER)
            found.update(i for i in roots if g.depends[i] == PARAMETER)
        # a negation costs nothing where it is used
        found = {g.nodes[i][1] if g.nodes[i][0] is Op.NEG else i for i in found}
        first = len(self.d.parameters)
        slots = [i for i in sorted(found) if g.nodes[i][0] is not Op.SYM]
        return {i: Operand(Entry("c", first + n)) for n, i in enumerate(slots)}

    # -------------------------------------------------------------------- text
    def emitted(self) -> Emitted:
        g = self.g
        operations = {name: count(g, kernel.roots) for name, kernel in self.kernels.items() if kernel.roots}
        made = Bodies(self.derivation, {**self.symbols, **self.prepared}, self.n_prepared - 1)
        named = {name: made.body(name) for name in sorted(operations, key="udot".__ne__) if name != "rhs"}
        parts = [self._kernel(name, body) for name, body in named.items()]
        entries = list(named)
        if "udot" in self.kernels:
            operations = {"rhs": self._both(operations), **operations}
            parts.append(self._rhs(made.bodies["body_udot"]))
            entries.insert(0, "rhs")
        counting = made.counting() if self.prepares else None
        prepare = self._prepare(made, counting) if self.prepares else ""
        text = [
            self._opening(operations),
            '#include "kanecore.h"\n\n',
            *self._runtime([*made.bodies.values(), *([counting] if counting else [])]),
            *(function(self.target, body, made.bodies) for body in made.bodies.values()),
            *parts,
            prepare,
            self._table(entries, operations, f"2 + {room(made.bodies, made.bodies)}"),
        ]
        return Emitted("".join(text), operations)

    def _runtime(self, bodies: Iterable[Body]) -> Iterator[str]:
        """What functions call, the target's numbers first."""
        for name in self.target.headers:
            yield (_RUNTIME / name).read_text(encoding="utf-8") + "\n"
        needed = headers(bodies)
        if needed:
            yield self.target.tolerances()
        for name in needed:
            yield (_RUNTIME / name).read_text(encoding="utf-8") + "\n"

    def _opening(self, operations: Mapping[str, Mapping[str, int]]) -> str:
        d = self.d
        lines = [
            f"kanecore {version()}: model {_comment(d.name)}, kernels: {self.group}",
            "This file was generated and belongs to whoever generated it.",
            "",
        ]
        for letter, names in (
            ("q", d.coordinate_names),
            ("u", d.speed_names),
            ("r", d.input_names),
            ("p", d.parameter_names),
        ):
            lines.append(f"{letter}[{len(names)}]: " + " ".join(map(_comment, names)))
        lines.append("")
        lines.append("operations + - * / sqrt, and pairs of sine and cosine:")
        for name, n in operations.items():
            lines.append(f"  {name}: {n['total']}, {n['sincos']}")
        return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"

    def _prepare(self, made: Bodies, counting: Solved | None) -> str:
        g, n_p, target = self.g, len(self.d.parameters), self.target
        leaves = {node: Operand(Entry("p", i)) for i, node in enumerate(self.d.parameters)}
        program = straight_line(g, Derived(tuple(self.prepared)), leaves, 1)
        lines = [f"for (int i = 0; i < {n_p}; i++) c[i] = p[i];"] if n_p else []
        lines += target.statements(program.instructions)
        lines += target.statements([Store(Entry("c", n_p + i), z) for i, z in enumerate(program.results)])
        if self.d.constraints:
            lines += self._count(made, counting)
        body = "".join(f"    {line}\n" for line in lines)
        return f"static void prepare(const double *p, double *c)\n{{\n    (void)p, (void)c;\n{body}}}\n\n"

    def _count(self, made: Bodies, counting: Solved | None) -> list[str]:
        """Statements that count the rows of G; without ``counting`` all are eliminated on the graph."""
        slot = f"c[{self.n_prepared - 1}]"
        if counting is None:
            return [f"{slot} = {self.target.literal(self.derivation.eliminated)};"]
        guess = dict(self.d.guess)
        near = [guess.get(i, math.nan) for i in range(len(self.d.coordinates) + len(self.d.speeds))]
        sizes = ", ".join(map(str, counting.sizes))
        return [
            f"static const double guess[] = {{{numbers(near, self.target)}}};",
            *structure(self.target, counting),
            f"double w[KC_COUNT_ROOM({sizes}) + {room(counting.calls, made.bodies)}];",
            "s.guess = guess;",
            f"{slot} = kc_count(&s, c, w);",
        ]

    def _both(self, operations: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
        roots = [*self.kernels["udot"].roots, *self.d.rates]
        return count(self.g, roots)

    def _kernel(self, name: str, body: Body) -> str:
        call = f"{body.name}(t, x, r, c, work + 2, out)"
        lines = [f"{call};"]
        if body.fails:
            lines = [
                f"const int fault = {call};",
                f"if (KC_UNLIKELY(fault)) kc_fail(work, out, {self._length(name)}, fault);",
            ]
        return self._entry(name, lines)

    def _rhs(self, udot: Body) -> str:
        n_q = len(self.d.coordinates)
        call = f"{udot.name}(t, x, r, c, work + 2, out + {n_q})"
        qdot = "body_qdot(t, x, r, c, work + 2, out);"
        lines = [f"{call};", *([qdot] if n_q else [])]
        if udot.fails:
            lines = [
                f"const int fault = {call};",
                f"if (KC_UNLIKELY(fault)) kc_fail(work, out, {self._length('rhs')}, fault);",
                *([f"else {qdot}"] if n_q else []),
            ]
        return self._entry("rhs", lines)

    def _entry(self, name: str, lines: Sequence[str]) -> str:
        """The function that stands in the table."""
        text = "".join(f"    {line}\n" for line in lines)
        return f"static void kernel_{name}({self.target.arguments}, double *work, double *out)\n{{\n{text}}}\n\n"

    def _length(self, name: str) -> int:
        """How many numbers a kernel writes."""
        d = self.d
        n_q, n_u, m = len(d.coordinates), len(d.speeds), self.derivation.constraints if d.constraints else None
        sizes = {"n_q": n_q, "n_u": n_u, "n_x": n_q + n_u, "n_r": len(d.inputs), "n_outputs": len(d.outputs)}
        sizes |= {"n_joints": len(d.joints), "n_auxiliary": len(d.auxiliary)}
        sizes |= {"n_points": len(d.shown_points), "n_frames": len(d.shown_frames)}
        rows = (len(m.rows), len(m.configuration), len(m.values)) if m else (0, 0, 0)
        sizes |= dict(zip(("n_constraints", "n_configuration", "n_velocity"), rows, strict=True))
        shape = next(kernel.shape for kernel in KERNELS if kernel.name == name)
        axes = [sum(sizes[term] if term in sizes else int(term) for term in axis.split(" + ")) for axis in shape]
        return math.prod(axes)

    def _table(self, entries: Sequence[str], operations: Mapping[str, Mapping[str, int]], n_work: str) -> str:
        d = self.d
        flags = ["KC_QDOT_IS_U"] if d.rates == d.speeds else []
        info: dict[str, Any] = {
            "version": version(),
            "kernels": self.group,
            "operations": {k: v["total"] for k, v in operations.items()},
            "sincos": {k: v["sincos"] for k, v in operations.items() if v["sincos"]},
            "mass_matrix": self.derivation.method,
        }
        missing = {
            name: why for name in GROUPS.get(self.group, KERNEL_GROUPS) if (why := self.derivation.missing(name))
        }
        if missing:
            info["missing"] = missing
        spared = unread(self.derivation, self.kernels)
        if spared:
            info["unread"] = spared
        if d.left_out_parameters or d.left_out_inputs:
            info["left_out"] = {"parameter": list(d.left_out_parameters), "input": list(d.left_out_inputs)}
        names = [c.name for c in d.constraints if c.kind == "configuration"]
        if names != [f"configuration constraint {i}" for i in range(len(names))]:
            info["configuration_names"] = names
        if d.guess:
            info["guess"] = {str(place): value for place, value in d.guess}
        lists = {
            "q_names": d.coordinate_names,
            "u_names": d.speed_names,
            "p_names": d.parameter_names,
            "r_names": d.input_names,
            "point_names": [d.points[i].name for i in d.shown_points],
            "frame_names": [d.frames[i].name for i in d.shown_frames],
            "output_names": [name for name, _ in d.outputs],
            "joint_names": [joint.name for joint in d.joints],
            "constraint_names": [row.name for row in self.derivation.constraints.rows] if d.constraints else [],
        }
        text = "".join(_strings(name, values) for name, values in lists.items())
        defaults = [self.defaults.get(name) for name in d.parameter_names]
        text += _doubles("p_default", ["NAN" if v is None else self.target.literal(v) for v in defaults])
        text += _doubles("r_default", ["NAN" if i in d.prescribed else "0.0" for i in range(len(d.inputs))])
        text += f"static const int32_t r_rates[] = {{{', '.join(map(str, d.input_rates)) or '-1'}}};\n"
        places = [str(i) for quaternion in d.unit for i in quaternion]
        text += f"static const uint32_t unit[] = {{{', '.join(places) or '0'}}};\n"
        fields = {
            "abi_version": "KC_ABI_VERSION",
            "struct_size": "sizeof(kc_model)",
            "n_q": len(d.coordinates),
            "n_u": len(d.speeds),
            "n_p": len(d.parameters),
            "n_r": len(d.inputs),
            "n_prepared": self.n_prepared,
            "n_work": n_work,
            "n_points": len(d.shown_points),
            "n_frames": len(d.shown_frames),
            "n_outputs": len(d.outputs),
            "n_joints": len(d.joints),
            "n_unit": len(d.unit),
            "n_constraints": len(lists["constraint_names"]),
            "n_configuration": len(self.derivation.constraints.configuration) if d.constraints else 0,
            "n_velocity": len(self.derivation.constraints.values) if d.constraints else 0,
            "n_auxiliary": len(d.auxiliary),
            "n_q_dependent": d.n_q_dependent,
            "n_u_dependent": d.n_u_dependent,
            "flags": " | ".join(flags) or "0",
            "name": _string(d.name),
            "info": _lines(json.dumps(info, separators=(",", ":"))),
            **{name: name for name in (*lists, "p_default", "r_default", "r_rates", "unit")},
            **({"prepare": "prepare"} if self.prepares else {}),
            **{name: f"kernel_{name}" for name in entries},
        }
        body = "".join(f"    .{field} = {value},\n" for field, value in fields.items())
        return (
            f"{text}static const kc_model model = {{\n{body}}};\n\n"
            "const kc_model *kc_get_model(void)\n{\n    return &model;\n}\n"
        )


def version() -> str:
    """That of the package, as the C says it."""
    try:
        return metadata.version("kanecore")
    except metadata.PackageNotFoundError:  # while setup.py builds the gallery
        return "source"


def _comment(name: str) -> str:
    """A name as it may stand in a C comment."""
    return re.sub(r"[^A-Za-z0-9_.,+\-() ]", "?", name)


def _string(text: str) -> str:
    """A C string literal: every byte but plain letters, digits and harmless signs escaped, so that nothing ends it."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode("utf-8"))
    return f'"{plain}"'


def _lines(text: str) -> str:
    """A C string literal in lines of moderate length."""
    pieces = [text[i : i + WIDTH] for i in range(0, len(text), WIDTH)]
    return "".join(f"\n        {_string(piece)}" for piece in pieces)


def _strings(name: str, values: Sequence[str]) -> str:
    inside = "".join(f"{_string(v)}, " for v in values)
    return f"static const char *const {name}[] = {{{inside}0}};\n"


def _doubles(name: str, values: Sequence[str]) -> str:
    return f"static const double {name}[] = {{{', '.join(values) or '0.0'}}};\n"
