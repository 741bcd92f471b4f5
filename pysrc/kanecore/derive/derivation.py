# SPDX-License-Identifier: BSD-3-Clause
"""From a description to the expressions of every kernel.

Read beside Kane & Levinson: velocities (:mod:`.kinematics`), generalized active and inertia forces (:mod:`.kane`),
the mass matrix by composite bodies (:mod:`.composite_bodies`) or by columns (:mod:`.columns`), and the solution of
M u̇ = f.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kanecore.describe.description import Description, without_auxiliary
from kanecore.errors import ModelError
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.decide import equal
from kanecore.graph.evaluate import count
from kanecore.graph.factorize import factorized_solve
from kanecore.graph.linear import Singular, matching, solve
from kanecore.graph.scalars import ACCELERATION, Graph

from . import magnitudes
from .articulated_bodies import articulated_solve
from .columns import column_mass_matrix
from .composite_bodies import composite_mass_matrix
from .constraints import Constraints, Row
from .elimination import Reduced, reduced, whole
from .energy import Energy, kinetic_energy
from .kane import (
    Wrenches,
    active_forces,
    at_rest,
    generalized_forces,
    holds_udot,
    inertia_forces,
    inertial_part,
    uniform_gravity,
)
from .kinematics import Accelerations, Kinematics
from .linearization import Linearization, linearized
from .registry import WAYS, Derived
from .solving import Solving, solving
from .tendons import with_tendons
from .tree import JointTree, joint_tree
from .vectors import neg

__all__ = ["Derivation"]

COMPOSITE, COLUMNS, ARTICULATED = "composite bodies", "columns", "articulated bodies"
# An operation of the articulated bodies waits for the one before it: measured on chains of 10 to 30 links, in the plane
# and in space, it takes between one time and twice the time of one of a factorization.
ARTICULATED_WEIGHT = 1.5
ARTICULATED_MIN = 10  # speeds; with fewer, M and its factorization are always faster


@dataclass(frozen=True)
class _Formed:
    """The mass matrix, and how it was formed."""

    method: str
    matrix: list[list[int]]

    def operations(self, g: Graph) -> int:
        return count(g, [x for row in self.matrix for x in row])["total"]


@dataclass(frozen=True)
class _Solution:
    """Expressions of u̇, and how they were found."""

    method: str
    udot: Derived

    def time(self, g: Graph) -> float:
        """What it takes, in operations of a factorization."""
        return count(g, self.udot.roots)["total"] * (ARTICULATED_WEIGHT if self.method == ARTICULATED else 1)


class Derivation:
    """All that follows from one description, derived when asked for."""

    def __init__(self, description: Description) -> None:
        self.freed = description = with_tendons(description)  # with the auxiliary speeds
        self.description = description = without_auxiliary(description)
        self.graph: Graph = description.graph
        self.kinematics = Kinematics(description)
        self._missing: dict[str, str] = {}
        self._gravity, self._weights = uniform_gravity(self.kinematics)

    def copy(self) -> Derivation:
        """All that was derived so far, to go on from apart from this one; nodes keep their numbers."""
        return copy.deepcopy(self)

    # ---------------------------------------------------------------- kernels
    def has(self, name: str) -> bool:
        """Whether the model has a kernel."""
        return WAYS[name].applies(self) and not self.missing(name)

    def missing(self, name: str) -> str:
        """What the description lacks for a kernel."""
        if name not in self._missing:
            self._missing[name] = WAYS[name].missing(self)
        return self._missing[name]

    def kernel(self, name: str) -> Derived:
        """The results of a kernel of `kanecore.kernels`."""
        if name not in WAYS:
            raise KeyError(f"no kernel {name!r}; kernels are those of the compiled model, such as 'mass_matrix'")
        if self.missing(name):
            raise ModelError(f"{self.description.name!r} has no {name.replace('_', ' ')}: {self.missing(name)}")
        return WAYS[name].derive(self)

    @cached_property
    def constraints(self) -> Constraints:
        return Constraints(self.kinematics)

    @property
    def rows(self) -> list[Row]:
        """The rows of G; none of a description without constraints."""
        return self.constraints.rows if self.description.constraints else []

    @cached_property
    def _reduced(self) -> Reduced:
        d, rows = self.description, self.rows
        dependent = range(len(d.speeds) - d.n_u_dependent, len(d.speeds))
        return reduced(self.graph, self.mass_matrix, self.forcing, rows, dependent)

    @property
    def solved_at_run_time(self) -> bool:
        """Whether u̇ takes pivots that are chosen at run time: for rows of G, or as M is not symmetric."""
        return not self.symmetric or self.counted

    @property
    def counted(self) -> bool:
        """Whether how many rows of G count takes numbers: not where all are eliminated on the graph."""
        return bool(self.description.constraints and self._reduced.rows)

    @property
    def eliminated(self) -> int:
        """How many rows of G are solved on the graph."""
        return len(self.description.speeds) - len(self._reduced.speeds)

    @cached_property
    def solving(self) -> Solving | None:
        """How u̇ is found where rows of G are solved at run time; None elsewhere, and where only `general` will do."""
        return solving(self.graph, self._reduced) if self.counted and self.symmetric else None

    @cached_property
    def general(self) -> Solving:
        """How u̇ is found in any case: from all of M, f, G, γ."""
        rows = self.rows
        return solving(self.graph, whole(self.graph, self.mass_matrix, self.forcing, rows))

    @property
    def udot_at_run_time(self) -> Derived:
        """What is computed for u̇ where its pivots are chosen at run time."""
        return (self.solving or self.general).derived

    @cached_property
    def linearization(self) -> Linearization:
        """What ∂ẋ/∂(q, u, r) follows from, at given u̇ and λ."""
        d, rows = self.description, self.rows
        return linearized(d, self.mass_matrix, self.residual(d.accelerations), rows, self.multiplier_symbols)

    @property
    def multiplier_symbols(self) -> list[int]:
        """Nodes of λ."""
        return [self.graph.symbol(("λ", i), ACCELERATION) for i in range(len(self.rows))]

    def sums(self, rows: Sequence[Row]) -> list[int]:
        """What the entries of some rows of G are sums of, in magnitude."""
        return [x for row in rows for x in magnitudes.sums(self.graph, row.jacobian)]

    @property
    def weights(self) -> list[int]:
        """The diagonal of M: the metric in which rows of G are compared."""
        return [row[i] for i, row in enumerate(self.metric)]

    @property
    def projections(self) -> dict[str, Derived]:
        """What brings a state back to its constraints.

        ``position`` and ``velocity``: the equations of δq and δu, M (n, n), 0 (n), G, the residual of configuration and
        of velocity constraints, what G is summed from, and then the sizes of the residual's terms; ``direction``: the
        δq̇ of speeds u̇; ``slopes``: ∂φ/∂q.
        """
        constraints, d, g = self.constraints, self.description, self.graph
        start = (*(x for row in self.metric for x in row), *(0 for _ in d.speeds))
        along = Tangent(g, dict(zip(d.speeds, d.accelerations, strict=True))).of
        rows = [row for row in constraints.rows if row.value >= 0]
        rates = [x for row in constraints.rates for x in row]
        jacobian = [x for row in rows for x in row.jacobian]
        m, sizes = len(constraints.configuration), constraints.sizes
        rate_sums = [x for row in constraints.rates for x in magnitudes.sums(g, row)]
        return {
            "position": Derived((*start, *rates, *constraints.configuration, *rate_sums, *sizes[:m])),
            "velocity": Derived((*start, *jacobian, *constraints.values, *self.sums(rows), *sizes[m:])),
            "direction": Derived(tuple(along(rate) for rate in d.rates)),
            "slopes": Derived(tuple(constraints.configuration_jacobian)),
        }

    # ----------------------------------------------------------------- forces
    def residual(self, udot: Sequence[int]) -> list[int]:
        """F_r + F*_r for given u̇; a uniform field γ enters as an acceleration −γ of everything, at no cost."""
        k, d = self.kinematics, self.description
        loads = [load for i, load in enumerate(d.loads) if i not in self._weights]
        wrenches = Wrenches(k, [*at_rest(k, loads), *inertial_part(k, loads, udot)])
        accelerations = Accelerations(k, udot, neg(self.graph, self._gravity))
        inertia_forces(k, accelerations, wrenches)
        forces = generalized_forces(wrenches)
        if d.potentials:
            conservative = active_forces(k, (), d.potentials)
            forces = [self.graph.add(a, b) for a, b in zip(forces, conservative, strict=True)]
        return forces

    @cached_property
    def forcing(self) -> list[int]:
        """The right-hand side f of M u̇ = f: F_r + F*_r at u̇ = 0."""
        return self.residual([0] * len(self.description.speeds))

    @cached_property
    def energy(self) -> Energy:
        return Energy(self.kinematics)

    @cached_property
    def lagrangian(self) -> int:
        """L = T − U, in q, u, t and the inputs."""
        return self.graph.sub(kinetic_energy(self.kinematics), self.energy.potential)

    @property
    def has_gravity(self) -> bool:
        """Whether every body with mass has its weight in one uniform field."""
        return bool(self._weights)

    @property
    def method(self) -> str:
        """How M is formed and M u̇ = f solved."""
        if not self.symmetric:
            return f"{self._formed.method}, LU with pivots chosen at run time"
        if self.solved_at_run_time:
            return f"{self._formed.method}, constraints with pivots chosen at run time"
        return self._solution.method

    # ------------------------------------------------------------ mass matrix
    @cached_property
    def tree(self) -> JointTree | None:
        return joint_tree(self.kinematics)

    @cached_property
    def _joint_mass_matrix(self) -> list[list[int]]:
        assert self.tree is not None
        return composite_mass_matrix(self.graph, self.tree)

    @cached_property
    def _speeds_are_rates(self) -> bool:
        """Whether S is the identity: the user's speeds are the joint rates, in their order."""
        assert self.tree is not None
        return all(x == int(i == j) for i, row in enumerate(self.tree.jacobian) for j, x in enumerate(row))

    @property
    def metric(self) -> list[list[int]]:
        """The mass matrix of the bodies alone, of T = ½ uᵀM u: symmetric, and what projection measures by."""
        return self._formed.matrix

    @cached_property
    def mass_matrix(self) -> list[list[int]]:
        """M = −∂F*/∂u̇ in the user's speeds: of the bodies, and of loads that hold u̇, of which it may lose symmetry."""
        k, d, g = self.kinematics, self.description, self.graph
        loads = inertial_part(k, d.loads, d.accelerations)
        if not loads:
            return self.metric
        given = generalized_forces(Wrenches(k, loads))
        slopes = [accumulate(g, [(force, g.one)], d.accelerations, ACCELERATION) for force in given]
        return [[g.sub(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(self.metric, slopes, strict=True)]

    @property
    def has_inertial_loads(self) -> bool:
        """Whether some load holds u̇."""
        return any(holds_udot(self.kinematics, load) for load in self.description.loads)

    @cached_property
    def symmetric(self) -> bool:
        """Whether M is symmetric at every state, by structure or by numbers; False where neither tells."""
        m = self.mass_matrix if self.has_inertial_loads else []
        pairs = [(m[i][j], m[j][i]) for i in range(len(m)) for j in range(i)]
        return equal(self.graph, pairs, [x for row in m for x in row], otherwise=False)

    @cached_property
    def _formed(self) -> _Formed:
        """The mass matrix in the user's speeds, by whichever way counts less."""
        if self.tree is None:
            return _Formed(COLUMNS, column_mass_matrix(self.kinematics))
        joint, s = self._joint_mass_matrix, self.tree.jacobian
        if self._speeds_are_rates:
            return _Formed(COMPOSITE, joint)
        if _is_permutation(s):
            order = [next(i for i, row in enumerate(s) if row[j]) for j in range(len(s))]
            return _Formed(COMPOSITE, [[joint[a][b] for b in order] for a in order])
        g = self.graph
        half = [[g.sum(g.mul(a, s[k][j]) for k, a in enumerate(row)) for j in range(len(s))] for row in joint]
        square = [[0] * len(s) for _ in s]
        for i in range(len(s)):
            for j in range(i + 1):
                square[i][j] = square[j][i] = g.sum(g.mul(s[k][i], half[k][j]) for k in range(len(s)))
        ways = [_Formed(COMPOSITE, square), _Formed(COLUMNS, column_mass_matrix(self.kinematics))]
        return min(ways, key=lambda way: way.operations(g))

    # --------------------------------------------------------------- solution
    @property
    def solution(self) -> Derived:
        return self._solution.udot

    @cached_property
    def _solution(self) -> _Solution:
        """u̇, by the way that takes least time as counted in operations."""
        if self.description.constraints:
            return self._with_constraints()
        ways = [*self._in_speeds(), *self._in_joint_rates()]
        return min(ways, key=lambda way: way.time(self.graph))

    def _with_constraints(self) -> _Solution:
        """Where all rows of G are eliminated on the graph."""
        g, e = self.graph, self._reduced
        v, pivots = factorized_solve(g, e.mass_matrix, e.forcing)
        udot = Derived(tuple(e.all_from(g, v)), _named(pivots, e.speeds), e.limits)
        return _Solution(f"{self._formed.method}, constraints eliminated, LᵀDL", udot)

    def _in_speeds(self) -> Iterator[_Solution]:
        """From M in the user's speeds, where that of the joint rates is another or there is none."""
        if self.tree is None or not self._speeds_are_rates or self.has_inertial_loads:
            udot, pivots = factorized_solve(self.graph, self.mass_matrix, self.forcing)
            numbers = range(len(self.description.speeds))
            yield _Solution(f"{self._formed.method}, LᵀDL", Derived(tuple(udot), _named(pivots, numbers)))

    def _in_joint_rates(self) -> Iterator[_Solution]:
        """From the mass matrix of the joint tree: S u̇ = y with M_w y = f_w, f = Sᵀ f_w."""
        g, tree = self.graph, self.tree
        if tree is None or self.has_inertial_loads:
            return
        s = tree.jacobian
        # each joint rate goes by the name of one of the speeds in it
        rate_of = matching({i: [j for j, x in enumerate(row) if x] for i, row in enumerate(s)})
        numbers = sorted(rate_of, key=rate_of.__getitem__)
        try:
            right = self.forcing if self._speeds_are_rates else solve(g, list(zip(*s, strict=True)), self.forcing)
        except Singular:  # to rounding: the user's speeds serve as well
            return
        solutions = [(f"{COMPOSITE}, LᵀDL", factorized_solve(g, self._joint_mass_matrix, right))]
        if len(self.description.speeds) >= ARTICULATED_MIN:
            solutions.append((ARTICULATED, articulated_solve(g, tree, right)))
        for method, (y, pivots) in solutions:
            udot = y if self._speeds_are_rates else solve(g, s, y)
            yield _Solution(method, Derived(tuple(udot), _named(pivots, numbers)))


def _is_permutation(s: Sequence[Sequence[int]]) -> bool:
    return all(sum(1 for x in row if x) == 1 and sum(row) == 1 for row in s)


def _named(pivots: Sequence[tuple[int, int]], speeds: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Pivots and their diagonal entries with the numbers of the speeds, for messages."""
    return tuple((pivot, diagonal, i) for i, (pivot, diagonal) in zip(speeds, pivots, strict=True))
