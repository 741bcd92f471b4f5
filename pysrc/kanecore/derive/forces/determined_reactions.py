# SPDX-License-Identifier: BSD-3-Clause
"""Reactions that affect the motion, as N in friction μ|N|: unknowns of auxiliary equations, of joints, multipliers.

The equations of the auxiliary speeds (Kane & Levinson 1985, sections 4.9 and 4.10) are linear in u̇ and in as many
unknown reactions N, A u̇ + C N = d.  If loads are linear in N too, N = C⁻¹ (d − A u̇) replaces N: loads are then linear
in u̇ and add to the mass matrix, which is no longer symmetric.  Otherwise, and with multipliers and reactions of
joints, N is found for the motion at a state, so that loads no longer depend on u̇ (:mod:`.loads_of_reactions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.loads_of_reactions import (
    Affine,
    Shares,
    friction_free_determinant,
    not_a_number,
    not_positive,
    status_where,
)
from kanecore.derive.schur_complement import SchurComplement
from kanecore.describe.description import Description, Image, Load, unlisted
from kanecore.describe.reaction_terms import ReactionTerms
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.calculus import Tangent, is_affine
from kanecore.graph.expression_graph import ACCELERATION, INPUT, Op
from kanecore.graph.linear_equations import Singular, solve
from kanecore.graph.vectors import dot

from .noncontributing_forces import but_loads
from .undetermined_multipliers import redundant_rows

__all__ = ["with_reactions"]


def with_reactions(d: Description, reactions: Sequence[int] = ()) -> Description:
    """The description with the reactions in its loads as functions of the state, on the same graph.

    ``reactions`` are inputs, one for each auxiliary speed; other reactions are symbols of multipliers and joints.
    """
    names = [d.input_names[d.inputs.index(i)] for i in reactions]
    written = _written(d)
    if not reactions and not written:
        return _with_joint_outputs(d)
    if reactions:
        _check(d, reactions, names)
        if not written and (linear := _linear(d, reactions, names)) is not None:
            return _with_joint_outputs(linear)
    return _with_joint_outputs(_System(d, list(reactions), names, written).solved())


def _written(d: Description) -> list[int]:
    """Symbols of multipliers and of joints' reactions in loads."""
    g = d.graph
    below = g.below([x for load in d.loads for _, v in load.vector for x in v])
    return [i for i in below if g.nodes[i][0] is Op.SYM and g.nodes[i][1][0] in ("λ", "R")]


def _linear(d: Description, reactions: Sequence[int], names: Sequence[str]) -> Description | None:
    """The description with loads in u̇; None if loads are not linear, or if they depend on multipliers as well."""
    g, derivation = d.graph, Derivation(d)
    equations = derivation.kernel("auxiliary_forces").roots
    above = set().union(*(g.above(i) for i in reactions))
    loads = [x for load in d.loads for _, v in load.vector for x in v]
    if d.constraints or not is_affine(g, [*equations, *loads], above.__contains__):
        return None
    solution = _solution(d, equations, reactions, names)
    if not all(is_affine(g, [x], lambda i: g.depends[i] & ACCELERATION) for x in solution):
        return None
    image = Image(g, g, dict(zip(reactions, solution, strict=True))).description(unlisted(d, reactions))
    if not any(g.depends[x] & ACCELERATION for load in image.loads for _, v in load.vector for x in v):
        return image
    system = _System(d, list(reactions), names, [])
    determinant = friction_free_determinant(system.affine)
    fault = status_where(g, not_positive(g, determinant), "jammed")
    if not fault:
        return image
    jammed, wrong = g.binary(Op.LT, 0, fault), not_a_number(g, determinant)
    guarded = {i: g.select(jammed, wrong, x) for i, x in zip(reactions, solution, strict=True)}
    image = Image(g, g, guarded).description(unlisted(d, reactions))
    return replace(image, loads_of_reactions=_numbers(d, reactions), reaction_terms=system.terms(fault))


def _numbers(d: Description, reactions: Sequence[int]) -> tuple[int, ...]:
    """Numbers of the loads that depend on reactions."""
    above = set().union(*(d.graph.above(i) for i in reactions))
    return tuple(sorted({load.number for load in d.loads for _, v in load.vector if not above.isdisjoint(v)}))


@dataclass
class _Motion:
    """Equations M u̇ − Gᵀλ = f, G u̇ = −γ, and the equations E = 0 of reactions."""

    mass: list[list[int]]
    forcing: list[int]
    jacobian: list[tuple[int, ...]]
    bias: list[int]
    equations: list[int]


class _System:
    """Loads of a description as shares s, and the reactions N as functions of s."""

    def __init__(self, d: Description, reactions: list[int], names: Sequence[str], written: list[int]) -> None:
        g = d.graph
        self.graph, self.names, self.auxiliary, self.written = g, names, reactions, written
        self.fresh = [g.symbol(("reaction", g.nodes[i][1]), INPUT) for i in written]
        fresh = dict(zip(written, self.fresh, strict=True))
        self.whole = replace(d, loads=_swapped(d, fresh))
        self.reactions = [*reactions, *self.fresh]
        self.shares = Shares(g, self.reactions)
        share = partial(self.shares.of, keep=frozenset(reactions))
        loads = []
        for load in self.whole.loads:
            vector = tuple((f, (share(x), share(y), share(z))) for f, (x, y, z) in load.vector)
            loads.append(replace(load, vector=vector))
        self.split = replace(self.whole, loads=tuple(loads))
        self.derivation = Derivation(self.split)
        self.motion = self._motion()
        self.affine = self._affine()

    def _motion(self) -> _Motion:
        g, derivation, n = self.graph, self.derivation, len(self.auxiliary)
        _check_rows(derivation, [g.nodes[i][1] for i in self.written])
        if redundant := redundant_rows(derivation):
            raise ModelError(
                f"{self._where}, and nothing determines the multipliers of {', '.join(redundant)}, as each of these "
                "constraints follows from the others: leave one out, or give its force as a load"
            )
        equations = list(derivation.kernel("auxiliary_forces").roots) if n else []
        values = self._values()
        equations += [g.sub(symbol, values[i]) for symbol, i in zip(self.fresh, self.written, strict=True)]
        acting = {i: self.shares.symbol(i) for i in self.auxiliary}  # how N of auxiliary equations acts on others
        forcing = g.substitute(derivation.forcing, acting)
        mass = derivation.mass_matrix
        held = set().union(*(g.above(i) for i in (*self.reactions, *self.shares.parts)))
        if not held.isdisjoint(x for row in mass for x in row):
            raise ModelError(f"{self._where}: a reaction multiplies u̇ there; it may multiply any other expression")
        rows = derivation.rows
        return _Motion(mass, forcing, [row.jacobian for row in rows], [row.bias for row in rows], equations)

    def _values(self) -> dict[int, int]:
        """Reactions of joints and multipliers by their symbols, in u̇ and λ."""
        g, derivation, d = self.graph, self.derivation, self.split
        keys = {i: g.nodes[i][1] for i in self.written}
        multipliers = derivation.multiplier_symbols
        result = {i: multipliers[_row(derivation, key[1])] for i, key in keys.items() if key[0] == "λ"}
        joints = {i: key for i, key in keys.items() if key[0] == "R"}
        wrenches = derivation.kernel("reactions").roots if joints else ()
        for i, (_, name, component) in joints.items():
            result[i] = wrenches[6 * _joint(d, name) + component]
        return result

    @property
    def _where(self) -> str:
        numbers = ", ".join(map(str, _numbers(self.whole, self.reactions)))
        return f"load {numbers} depends on reactions"

    def _affine(self) -> Affine:
        """N = α + β s, by superposition."""
        g, m, d = self.graph, self.motion, self.derivation.description
        symbols = list(self.shares.parts)
        udot, multipliers = d.accelerations, self.derivation.multiplier_symbols
        none = dict.fromkeys((*symbols, *self.reactions), 0)
        solver = SchurComplement(g, m.mass, m.jacobian, self.derivation.symmetric)
        at_rest = solver.accelerations(g.substitute(m.forcing, none), m.bias)
        known = dict(zip((*udot, *multipliers), at_rest, strict=True)) | none
        rights = [g.substitute(m.equations, known)]
        for s in symbols:
            slope = Tangent(g, {s: g.one}).of
            changes = solver.accelerations([slope(f) for f in m.forcing], [0] * len(m.bias))
            seeds = {s: g.one} | {x: v for x, v in zip((*udot, *multipliers), changes, strict=True) if v}
            along = Tangent(g, seeds).of
            rights.append([along(e) for e in m.equations])
        own = [Tangent(g, {n: g.one}).of for n in self.reactions]
        matrix = [[of(e) for of in own] for e in m.equations]
        varying = set().union(*(g.above(i) for i in (*symbols, *self.reactions)))
        if not is_affine(g, [*m.equations, *m.forcing], lambda i: i in varying or g.depends[i] & ACCELERATION):
            raise ModelError(f"{self._where}, and the auxiliary equations are not linear in these and in u̇")
        try:
            start, *slopes = (solve(g, matrix, [g.neg(x) for x in right]) for right in rights)
        except Singular as error:
            raise _undetermined(d, self.names[error.column]) from None
        by_reaction = [list(row) for row in zip(*slopes, strict=True)] if slopes else [[] for _ in start]
        return Affine(g, self.reactions, start, by_reaction, list(self.shares.parts.values()))

    def solved(self) -> Description:
        """The description with the solution in its loads, and in outputs."""
        g = self.graph
        laws = list(self.shares.parts.values())
        if any(g.depends[h] & ACCELERATION for h in laws):
            raise ModelError(f"{self._where} in an expression with u̇: write the terms with u̇ as a separate load")
        s, fault = self.affine.solution()
        values = self.affine.at(s)
        swap = {**values, **dict(zip(self.shares.parts, s, strict=True))}
        image = Image(g, g, swap).description(unlisted(self.split, self.auxiliary))
        numbers = _numbers(self.whole, self.reactions)
        return replace(image, loads_of_reactions=numbers, found_with_motion=True, reaction_terms=self.terms(fault))

    def terms(self, fault: int) -> ReactionTerms:
        """The equations of N and s; the node ``fault`` is nonzero where they have no solution."""
        a, g = self.affine, self.graph
        speeds = self.derivation.description.speeds
        columns = [[Tangent(g, {s: g.one}).of(f) for f in self.motion.forcing] for s in self.shares.parts]
        return ReactionTerms(
            names=tuple(_called(g.nodes[i][1]) if i in self.written else name for i, name in self._named()),
            symbols=tuple(a.reactions),
            start=tuple(a.start),
            slopes=tuple(map(tuple, a.slopes)),
            laws=tuple(a.laws),
            powers=tuple(dot(g, speeds, column) for column in columns),
            fault=fault,
        )

    def _named(self) -> list[tuple[int, str]]:
        """Reactions as they occur in loads, with their names; the name is empty for a reaction without one."""
        return [*zip(self.auxiliary, self.names, strict=True), *((i, "") for i in self.written)]


def _called(key: tuple[Any, ...]) -> str:
    """Name of a multiplier, or of a component of a joint's reaction, as users write it."""
    kind, name, *component = key
    if kind == "λ":
        return f"multiplier({name!r})"
    what, axis = divmod(component[0], 3)
    return f"reaction({name!r}).{('force', 'torque')[what]}, {'xyz'[axis]}"


def _swapped(d: Description, swap: Mapping[int, int]) -> tuple[Load, ...]:
    """Loads with other nodes in place of some."""
    image = Image(d.graph, d.graph, swap)
    return tuple(replace(load, vector=image.vector(load.vector)) for load in d.loads)


def _row(derivation: Derivation, row: int | str) -> int:
    """Number of a row of G, given by number or name."""
    names = [each.name for each in derivation.rows]
    if isinstance(row, int):
        if row < len(names):
            return row
        raise ModelError(
            f"loads depend on multiplier({row}), and the rows of G are numbered from 0: {', '.join(names) or 'none'}"
        )
    if row not in names:
        raise ModelError(f"multiplier({row!r}) names no row of G, which has {len(names)}: {', '.join(names) or 'none'}")
    return names.index(row)


def _check_rows(derivation: Derivation, keys: Sequence[tuple[Any, ...]]) -> None:
    for key in keys:
        if key[0] == "λ":
            _row(derivation, key[1])


def _joint(d: Description, name: str) -> int:
    """Number of a joint, given by name."""
    names = [joint.name for joint in d.joints]
    if name not in names:
        raise unknown_name("joint", name, names)
    return names.index(name)


def _with_joint_outputs(d: Description) -> Description:
    """The description in which outputs and rates of states have reactions of joints as functions of u̇ and λ.

    Multipliers are numbered.
    """
    g, roots = d.graph, [*(node for _, node in d.outputs), *d.state_rates]
    below = g.below(roots)
    keys = {i: g.nodes[i][1] for i in below if g.nodes[i][0] is Op.SYM}
    held = {i: key for i, key in keys.items() if key[0] == "R" or (key[0] == "λ" and isinstance(key[1], str))}
    if not held:
        return d
    derivation = Derivation(replace(d, outputs=()))
    swap = {}
    for i, (kind, name, *component) in held.items():
        if kind == "λ":
            swap[i] = derivation.multiplier_symbols[_row(derivation, name)]
        else:
            swap[i] = derivation.kernel("reactions").roots[6 * _joint(d, name) + component[0]]
    nodes = g.substitute(roots, swap)
    outputs = tuple((name, node) for (name, _), node in zip(d.outputs, nodes, strict=False))
    return replace(d, outputs=outputs, state_rates=tuple(nodes[len(outputs) :]))


def _undetermined(d: Description, name: str) -> ModelError:
    return ModelError(
        f"the auxiliary equations do not determine the reaction {name}: write it into forcelist as "
        f"a force along the motion of one of {', '.join(d.auxiliary_names)}, and its opposite on the other body"
    )


def _check(d: Description, reactions: Sequence[int], names: Sequence[str]) -> None:
    """Check that each auxiliary speed has one unknown, which occurs in loads and outputs only."""
    if len(reactions) != len(d.auxiliary):
        raise ModelError(
            f"reactions lists {len(reactions)} unknowns ({', '.join(names)}), and u_auxiliary {len(d.auxiliary)} speeds"
            f" ({', '.join(d.auxiliary_names) or 'none'}): each auxiliary equation determines one reaction"
        )
    elsewhere = set(d.graph.below([*but_loads(d, outputs=False)]))
    for i, name in zip(reactions, names, strict=True):
        if d.input_rates[d.inputs.index(i)] >= 0 or i in elsewhere:
            raise ModelError(
                f"the reaction {name} occurs in a position, a mass, a potential or a constraint, or has a rate: "
                "reactions may occur in loads and outputs only"
            )


def _solution(d: Description, equations: Sequence[int], reactions: Sequence[int], names: Sequence[str]) -> list[int]:
    """The reactions N from the auxiliary equations."""
    g = d.graph
    slopes = [Tangent(g, {i: g.one}).of for i in reactions]
    rest = g.substitute(list(equations), dict.fromkeys(reactions, 0))
    try:
        return solve(g, [[slope(e) for slope in slopes] for e in equations], [g.neg(e) for e in rest])
    except Singular as error:
        raise _undetermined(d, names[error.column]) from None
