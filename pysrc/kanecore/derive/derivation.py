# SPDX-License-Identifier: BSD-3-Clause
"""Derivation: from a description to the expressions of every kernel.

Velocities (:mod:`.kinematics`) and a formulation (:mod:`.formulation`) give M, f and the energies; constraints, the
solution of M u̇ = f + Gᵀλ and all kernels follow from M, f and the energies, whatever the formulation.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, product

from kanecore.derive.forces.energies import Energy
from kanecore.derive.forces.explicit_loads import explicit_loads
from kanecore.derive.forces.generalized_forces import Wrenches, generalized_forces, holds_udot, inertial_part
from kanecore.derive.formulations.formulation import Formulation, Solution, Solved, factorized, named_pivots
from kanecore.derive.formulations.kane_equations import Bodies
from kanecore.derive.formulations.lagrange_equations import Lagrange
from kanecore.derive.recursions.composite_rates import CompositeRates
from kanecore.derive.recursions.joint_tree import JointTree
from kanecore.derive.recursions.joint_tree_derivatives import Forest, forest
from kanecore.derive.recursions.recursion_choice import quickest
from kanecore.describe.description import Description, without_auxiliary
from kanecore.errors import ModelError, unknown_name
from kanecore.graph import magnitudes
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.evaluation import count_in_call
from kanecore.graph.expression_graph import ACCELERATION, Given, Graph
from kanecore.graph.factorization import factorized_columns, factorized_solve
from kanecore.graph.linear_equations import solve
from kanecore.graph.shorter_programs import brought, shorter
from kanecore.graph.vectors import dot
from kanecore.graph.zero_tests import equal
from kanecore.tolerances import REACHED

from .constraint_elimination import Reduced, Solving, reduced, solving, whole
from .constraint_rows import Constraints, Row
from .elimination_fronts import HELP, Front, fronts, operations
from .kernel_registry import DERIVATIONS, Derived
from .kinematics import Kinematics
from .linearized_equations import BESIDE_FRONTS, VARIABLES, Linearization, ReducedSlopes, linearized
from .position_origin import Whereabouts
from .schur_complement import SchurComplement

__all__ = ["Derivation"]


class Derivation:
    """Derivation of one description; every result is derived on first use."""

    def __init__(self, description: Description) -> None:
        self.freed = description = explicit_loads(description)  # rows with the auxiliary speeds
        self.description = description = without_auxiliary(description)
        self.graph: Graph = description.graph
        self.kinematics = Kinematics(description)
        self._missing: dict[str, str] = {}
        self._programs: dict[str, Derived] = {}
        self._linearizations: dict[str, Linearization] = {}
        self.formulation = _formulation(self.kinematics)
        self._pushing: list[int] = []  # generalized forces in addition to those of the description

    def copy(self) -> Derivation:
        """Copy of the derivation with all results so far, to continue independently; nodes keep their numbers."""
        return copy.deepcopy(self)

    # ---------------------------------------------------------------- kernels
    def has(self, name: str) -> bool:
        """Test whether the model has a kernel."""
        return DERIVATIONS[name].applies(self) and not self.missing(name)

    def missing(self, name: str) -> str:
        """The part of the description that a kernel lacks, in words; empty if the kernel lacks none."""
        if name not in self._missing:
            self._missing[name] = DERIVATIONS[name].missing(self) or self._lacks(name) or self._lacks_udot(name)
        return self._missing[name]

    def _lacks_udot(self, name: str) -> str:
        """Reason why a kernel that needs u̇ cannot have it; empty if it can."""
        kernel = DERIVATIONS[name]
        if not self.without_masses or not kernel.applies(self) or not kernel.derive(self).after_udot:
            return ""
        return self.without_masses

    @cached_property
    def without_masses(self) -> str:
        """Reason why there are no M and no u̇, if only forces and kinematics were described; else empty."""
        d = self.description
        if d.bodies or d.lagrangian is not None or d.first_order is not None or self.has_inertial_loads:
            return ""
        return "it has no bodies, whose masses M is made of: its forces move nothing"

    def _lacks(self, name: str) -> str:
        """Message that names a missing part of a kernel, such as a derivative of a function in C; empty if none is."""
        if self.description.found_with_motion and name in ("inverse_dynamics", "forward_dynamics"):
            return (
                "its loads depend on reactions, which are found for the motion under the loads of forcelist alone: "
                "write the force into forcelist, as an input"
            )
        if not self.description.functions or not DERIVATIONS[name].applies(self):
            return ""
        derived = self.at_run_time(name) or DERIVATIONS[name].derive(self)
        operations = (self.graph.nodes[i][0] for i in self.graph.below(derived.roots))
        given = (op for op in operations if isinstance(op, Given))
        return next(filter(None, (op.data.lacks(op.name, op.orders) for op in given)), "")

    def kernel(self, name: str) -> Derived:
        """The results of a kernel of `kanecore.kernels`."""
        if name not in DERIVATIONS:
            raise unknown_name("kernel", name, DERIVATIONS)
        if self.missing(name):
            raise ModelError(f"{self.description.name!r} has no {name.replace('_', ' ')}: {self.missing(name)}")
        return self._guarded(DERIVATIONS[name].derive(self))

    def program(self, name: str) -> Derived:
        """The computed results of a kernel: in short forms if these take fewer operations.

        Solutions of linear equations keep their form, as their pivots do; M and f are in short forms already.
        """
        if name not in self._programs:
            derived = self.kernel(name)
            if not (derived.pivots or derived.limits or name in ("mass_matrix", "forcing", "rhs", "udot")):
                derived = replace(derived, roots=tuple(shorter(self.graph, derived.roots, effort=0)))
            self._programs[name] = derived
        return self._programs[name]

    def _guarded(self, derived: Derived) -> Derived:
        """Add the pivots by which the formulation itself divides, if the results depend on them."""
        pivots = self.formulation.pivots
        if pivots:
            below = set(self.graph.below(derived.roots))
            pivots = tuple(pivot for pivot in pivots if pivot[0] in below)
        return replace(derived, pivots=(*derived.pivots, *pivots)) if pivots else derived

    @cached_property
    def whereabouts(self) -> Whereabouts:
        """Places of all points of the description."""
        return Whereabouts(self.freed, self.kinematics)

    @cached_property
    def constraints(self) -> Constraints:
        return Constraints(self.kinematics)

    @property
    def rows(self) -> list[Row]:
        """The rows of G; an empty list for a description without constraints."""
        return self.constraints.rows if self.description.constraints else []

    @cached_property
    def _reduced(self) -> Reduced:
        return self._reduced_for(self.forcing, self.rows)

    def _reduced_for(self, forcing: Sequence[int], rows: Sequence[Row]) -> Reduced:
        d = self.description
        dependent = range(len(d.speeds) - d.n_u_dependent, len(d.speeds))
        e = reduced(self.graph, self.mass_matrix, forcing, rows, dependent)
        return whole(self.graph, self.mass_matrix, forcing, rows) if self._joins_fronts(e) else e

    def _joins_fronts(self, e: Reduced) -> bool:
        """Test whether an elimination on the graph connects what fronts of all equations keep apart."""
        if not (e.rows and e.solved and self.symmetric):
            return False
        left, every = (
            operations(len(each.speeds), len(each.rows), fronts(len(each.speeds), len(each.rows), each.system))
            for each in (solving(self.graph, e), self.general)
        )
        return HELP * every < left

    @property
    def solved_at_run_time(self) -> bool:
        """Test whether u̇ needs pivots chosen at run time, for rows of G or a nonsymmetric M."""
        return not self.symmetric or self.counted

    @property
    def has_expression(self) -> bool:
        """Test whether u̇ and all multipliers have expressions: each row of G is eliminated on the graph."""
        return not self.solved_at_run_time and (not self.rows or self.eliminated == len(self.rows))

    @property
    def counted(self) -> bool:
        """Test whether run time counts independent rows of G: not if all are eliminated on the graph."""
        return bool(self.description.constraints and self._reduced.rows)

    @property
    def eliminated(self) -> int:
        """Number of rows of G that are solved on the graph."""
        return len(self.description.speeds) - len(self._reduced.speeds)

    @cached_property
    def solving(self) -> Solving | None:
        """Reduced system for u̇ if rows of G are solved at run time; None otherwise, and if `general` is needed."""
        return solving(self.graph, self._reduced) if self.counted and self.symmetric else None

    @cached_property
    def fronts(self) -> tuple[Front, ...]:
        """The fronts of `solving`; none if they do not help."""
        e = self.solving
        return fronts(len(e.speeds), len(e.rows), e.system) if e else ()

    @cached_property
    def general(self) -> Solving:
        """System for u̇ without elimination, from all of M, f, G, γ."""
        rows = self.rows
        return solving(self.graph, whole(self.graph, self.mass_matrix, self.forcing, rows))

    @cached_property
    def general_fronts(self) -> tuple[Front, ...]:
        """The fronts of `general`."""
        e = self.general
        return fronts(len(e.speeds), len(e.rows), e.system)

    @property
    def udot_at_run_time(self) -> Derived:
        """Expressions computed for u̇ if its pivots are chosen at run time."""
        return (self.solving or self.general).derived

    def at_run_time(self, name: str) -> Derived | None:
        """Expressions of a kernel completed at run time, by loops for M or pivots for u̇; None for others."""
        if self.composite_rates and name in ("mass_matrix", "mass_matrix_inverse"):
            return Derived(self.composite_rates.numbers)
        if not self.solved_at_run_time or name not in ("rhs", "udot", "forward_dynamics"):
            return None
        return (self.pushed if name == "forward_dynamics" else self).udot_at_run_time

    def linearization(self, kernel: str) -> Linearization:
        """Linearization for a kernel that is a derivative of ẋ, at given u̇ and λ."""
        if kernel not in self._linearizations:
            d = self.description
            balance, wrt = self.residual(d.accelerations), VARIABLES[kernel](d)
            rows = self.rows, self.multiplier_symbols
            ways = (lambda: self.joint_trees if kernel == "linearize" else None), self._solved_slopes
            system = self.solving.system if self.fronts and self.solving else ()
            most = BESIDE_FRONTS * count_in_call(self.graph, system)
            self._linearizations[kernel] = linearized(d, self.mass_matrix, balance, *rows, wrt, *ways, most)
        return self._linearizations[kernel]

    def _solved_slopes(
        self, forces: Sequence[int], levels: Sequence[int], rates: Sequence[int]
    ) -> Derived | ReducedSlopes | None:
        """Slopes of q̇ and u̇ by rows, from those of R, S, q̇; or their reduced equations; or None."""
        if self.without_masses or not (self.has_expression or self.solving):
            return None
        width = len(forces) // len(self.description.speeds)
        if not self.has_expression:
            sides = [*forces, *levels]
            return self._reduced_slopes([sides[j::width] for j in range(width)], rates)
        sides = self.at_solution([*forces, *levels])
        columns, pivots = self._solved_columns([sides[j::width] for j in range(width)])
        roots = (*self.at_solution(rates), *chain.from_iterable(zip(*columns, strict=True)))
        tested = tuple(dict.fromkeys((*self.solution.pivots, *pivots)))
        return self._guarded(Derived(roots, tested, self.solution.limits))

    def _reduced_slopes(self, sides: Sequence[Sequence[int]], rates: Sequence[int]) -> ReducedSlopes:
        """Reduced equations of the slopes of u̇, from the columns of the slopes of R and S."""
        e, _ = self._elimination
        followers = [j for j in range(len(e.offset)) if j not in e.speeds]
        left, offsets = zip(*(self.left_sides(side) for side in sides), strict=True)
        entries = chain.from_iterable(zip(*left, strict=True))
        moved = (x for j, row in enumerate(zip(*offsets, strict=True)) if j in followers for x in row)
        projection = (x for j in followers for x in e.projection[j])
        return ReducedSlopes(tuple(entries), tuple(rates), tuple(moved), tuple(projection))

    def left_sides(self, sides: Sequence[int]) -> tuple[list[int], list[int]]:
        """Right-hand sides f and γ of the reduced equations, and p, from the right-hand sides of all equations."""
        assert self.solving is not None
        e, symbols = self._elimination
        levels = [bias for i, bias in zip(e.rows, e.bias, strict=True) if i in self.solving.rows]
        given = dict(zip(symbols, sides, strict=True))
        found = self.graph.substitute([*e.forcing, *levels, *e.offset], given)
        return found[: -len(e.offset)], found[-len(e.offset) :]

    def all_solved(self, v: Sequence[int], offset: Sequence[int]) -> list[int]:
        """The solution P v + p for all speeds, from the solution v of the reduced equations."""
        return replace(self._elimination[0], offset=tuple(offset)).all_from(self.graph, v)

    def all_forces(self, balance: Sequence[int], left: Sequence[int]) -> tuple[int, ...]:
        """All of λ in ``balance`` + Gᵀλ = 0, from multipliers of the remaining rows; zero for a row that vanished."""
        assert self.solving is not None
        g, (e, _), rows = self.graph, self._elimination, self.rows
        given = dict(zip(self.solving.rows, left, strict=True))
        followers = [j for j in range(len(balance)) if j not in e.speeds]
        known = [dot(g, [rows[i].jacobian[j] for i in given], [*given.values()]) for j in followers]
        sides = [g.neg(g.add(balance[j], force)) for j, force in zip(followers, known, strict=True)]
        found = solve(g, [[rows[i].jacobian[j] for i in e.solved] for j in followers], sides)
        forces = dict(zip(e.solved, found, strict=True)) | given
        return tuple(forces.get(i, 0) for i in range(len(rows)))

    def at_solution(self, nodes: Sequence[int]) -> list[int]:
        """Nodes with the expressions of u̇ and λ, if there are any, in place of their symbols."""
        udot = self.solution.roots
        known = dict(zip(self.description.accelerations, udot, strict=True))
        if self.rows:
            known |= dict(zip(self.multiplier_symbols, self.forces_of(udot, self.forcing), strict=True))
        return self.graph.substitute(nodes, known)

    @property
    def zdot_holds_udot(self) -> bool:
        """Test whether the rate of a first-order state depends on derivatives of speeds."""
        return any(self.graph.depends[node] & ACCELERATION for node in self.description.state_rates)

    @cached_property
    def differentiable_rates(self) -> tuple[int, ...]:
        """The rates ż as functions of x, r, p and u̇; multipliers in them are replaced by their solution."""
        g, rates = self.graph, self.description.state_rates
        if set(self.multiplier_symbols).isdisjoint(g.below(rates)):
            return tuple(rates)
        solver = SchurComplement(g, self.mass_matrix, [row.jacobian for row in self.rows], self.symmetric)
        solution = solver.accelerations(self.forcing, [row.bias for row in self.rows])
        known = dict(zip(self.multiplier_symbols, solution[len(self.forcing) :], strict=True))
        return tuple(g.substitute(list(rates), known))

    def state_slopes(self, kernel: str) -> tuple[int, ...]:
        """Derivatives of ż for a kernel that differentiates ẋ: by rows at constant u̇, then ∂ż/∂u̇."""
        d, g = self.description, self.graph
        by = [VARIABLES[kernel](d), *([d.accelerations] if self.zdot_holds_udot else [])]
        weights = [[(node, g.one)] for node in self.differentiable_rates]
        return tuple(x for symbols in by for w in weights for x in accumulate(g, w, symbols, limits=True))

    @cached_property
    def joint_trees(self) -> Forest | None:
        """The model's trees of joints, if the closed recursions can linearize it."""
        d, bodies = self.description, self.formulation
        if d.constraints or d.states or self.has_inertial_loads or not isinstance(bodies, Bodies):
            return None
        return forest(bodies)

    @property
    def multiplier_symbols(self) -> list[int]:
        """Nodes of λ."""
        return [self.graph.symbol(("λ", i), ACCELERATION) for i in range(len(self.rows))]

    def vector_symbols(self, n: int) -> list[int]:
        """Nodes of the first n entries of x after u̇ and λ."""
        return [self.graph.symbol(("w", i), ACCELERATION) for i in range(n)]

    def sums(self, rows: Sequence[Row]) -> list[int]:
        """Magnitude of the terms of each entry of some rows of G."""
        return [x for row in rows for x in magnitudes.sums(self.graph, row.jacobian)]

    @property
    def weights(self) -> list[int]:
        """Diagonal of M: the metric in which rows of G are compared."""
        return [row[i] for i, row in enumerate(self.metric)]

    @cached_property
    def projections(self) -> dict[str, Derived]:
        """Expressions that project a state onto its constraints.

        ``position`` and ``velocity`` are the equations of δq and δu: M (n, n), 0 (n), G, the residual of the
        configuration or velocity constraints, and the magnitudes of the terms of G and of the residual.  ``direction``
        is the δq̇ of speeds u̇, and ``slopes`` is ∂φ/∂q.
        """
        constraints, d, g = self.constraints, self.description, self.graph
        start = (*(x for row in self.metric for x in row), *(0 for _ in d.speeds))
        along = Tangent(g, dict(zip(d.speeds, d.accelerations, strict=True))).of
        rows = [row for row in constraints.rows if row.value >= 0]
        rates = [x for row in constraints.rates for x in row]
        jacobian = [x for row in rows for x in row.jacobian]
        m, sizes = len(constraints.configuration), constraints.sizes(REACHED)
        rate_sums = [x for row in constraints.rates for x in magnitudes.sums(g, row)]
        return {
            "position": Derived((*start, *rates, *constraints.configuration, *rate_sums, *sizes[:m])),
            "velocity": Derived((*start, *jacobian, *constraints.values, *self.sums(rows), *sizes[m:])),
            "direction": Derived(tuple(along(rate) for rate in d.rates)),
            "slopes": Derived(tuple(constraints.configuration_jacobian)),
        }

    # ----------------------------------------------------------------- forces
    def residual(self, udot: Sequence[int]) -> list[int]:
        """F_r + F*_r for given u̇, from the formulation's own equations; it equals −Gᵀλ where M u̇ = f + Gᵀλ."""
        return self.formulation.residual(udot)

    @cached_property
    def forcing(self) -> list[int]:
        """The right-hand side f of M u̇ = f: F_r + F*_r at u̇ = 0."""
        return self._with_pushing(self._short_forms[1] if self._short_forms else self.formulation.forcing)

    def _with_pushing(self, forces: list[int]) -> list[int]:
        if not self._pushing:
            return forces
        return [self.graph.add(f, tau) for f, tau in zip(forces, self._pushing, strict=True)]

    @cached_property
    def pushed(self) -> Derivation:
        """Copy with generalized forces τ added to f, for forward dynamics; the nodes of τ are those of u̇."""
        result = copy.copy(self)
        for name in ("forcing", "_reduced", "solving", "general", "_solution"):
            result.__dict__.pop(name, None)
        result._pushing = list(self.description.accelerations)
        return result

    @cached_property
    def lagrangian(self) -> int:
        """L = T − U in q, u, t and the inputs; from a given Lagrangian the potential energy of loads is subtracted."""
        return self.formulation.lagrangian

    @property
    def energy(self) -> Energy:
        """The potential energy of the loads."""
        return self.formulation.energy

    @property
    def has_gravity(self) -> bool:
        """Test whether the weights of all bodies with mass come from one uniform field."""
        return self.formulation.has_gravity

    @property
    def method(self) -> str:
        """Methods of forming M and of solving M u̇ = f, in words."""
        if not self.symmetric:
            return f"{self._formed}, LU with pivots chosen at run time"
        if self.solved_at_run_time:
            return f"{self._formed}, constraints with pivots chosen at run time"
        return self._solution.method

    @property
    def tree(self) -> JointTree | None:
        """The tree of joints, if bodies form one."""
        return self.formulation.tree if isinstance(self.formulation, Bodies) else None

    # ------------------------------------------------------------ mass matrix
    @cached_property
    def _short_forms(self) -> tuple[list[list[int]], list[int]] | None:
        """M and f, in short forms if shorter; None if neither is shorter."""
        if self.formulation.pivots:  # their equations divide by these, and are compared as a whole
            return None
        if self.composite_rates:  # M is longer than any short form, and f at the limit of their length
            return None
        matrix, forces, n = self.formulation.metric, self.formulation.forcing, len(self.description.speeds)
        flat = [x for row in matrix for x in row]
        g = self.graph.clone()  # on a clone, so that a rejected form leaves no nodes in the graph
        pairs = product((flat, shorter(g, flat)), (forces, shorter(g, forces)))
        mass, right = min(pairs, key=lambda pair: count_in_call(g, [*pair[0], *pair[1]]))
        if (mass, right) == (flat, forces):
            return None
        found = brought(self.graph, g, [*mass, *right])
        return [found[i * n : (i + 1) * n] for i in range(n)], found[n * n :]

    @property
    def _formed(self) -> str:
        """Name of the method by which M and f are formed."""
        return f"{self.formulation.method} in short forms" if self._short_forms else self.formulation.method

    @property
    def metric(self) -> list[list[int]]:
        """M without the loads that depend on u̇: the symmetric metric of projections."""
        return self._short_forms[0] if self._short_forms else self.formulation.metric

    @cached_property
    def composite_rates(self) -> CompositeRates | None:
        """Joint rates of a long tree of bodies, from which loops fill M; None where M is written out."""
        bodies = self.formulation
        return None if self.has_inertial_loads or not isinstance(bodies, Bodies) else bodies.composite_rates

    @cached_property
    def mass_matrix(self) -> list[list[int]]:
        """M = −∂F*/∂u̇ in the user's speeds, of bodies and of loads in u̇, which may make M nonsymmetric."""
        k, d, g = self.kinematics, self.description, self.graph
        loads = inertial_part(k, d.loads, d.accelerations)
        if not loads:
            return self.metric
        given = generalized_forces(Wrenches(k, loads))
        slopes = [accumulate(g, [(force, g.one)], d.accelerations, ACCELERATION) for force in given]
        return [[g.sub(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(self.metric, slopes, strict=True)]

    @property
    def has_inertial_loads(self) -> bool:
        """Test whether some load depends on u̇."""
        return any(holds_udot(self.kinematics, load) for load in self.description.loads)

    @cached_property
    def symmetric(self) -> bool:
        """Test whether M is symmetric at every state, by structure or by numbers; False if neither decides."""
        m = self.mass_matrix if self.has_inertial_loads else []
        pairs = [(m[i][j], m[j][i]) for i in range(len(m)) for j in range(i)]
        return equal(self.graph, pairs, [x for row in m for x in row], otherwise=False)

    # --------------------------------------------------------------- solution
    @property
    def solution(self) -> Derived:
        return self._solution.udot

    @cached_property
    def _solution(self) -> Solution:
        """Solution u̇ by the method with the fewest operations."""
        if self.description.constraints:
            return self._with_constraints()
        if self.has_inertial_loads:
            return factorized(self.graph, self._formed, self.mass_matrix, self.forcing)
        return quickest(self.graph, self._solutions())

    def _solutions(self) -> Iterator[Solution]:
        """Solutions of the formulation and, if M or f is in a short form, solutions with the short form."""
        own = self.formulation
        given = self._with_pushing(own.forcing)
        yield from own.solutions(given)
        if self.forcing != given:
            yield from own.solutions(self.forcing)
        if self._short_forms:
            yield factorized(self.graph, self._formed, self.metric, self.forcing)

    def solve(self, right: Sequence[int], levels: Sequence[int] = ()) -> tuple[list[int], list[int]]:
        """The y and z of M y = ``right`` + Gᵀ z, G y + ``levels`` = 0, for models with expressions of u̇ and λ.

        They share their factorization with u̇, since equal operations are the same node.
        """
        g, m = self.graph, self.mass_matrix
        if self.rows:
            rows = [replace(row, bias=level) for row, level in zip(self.rows, levels, strict=True)]
            e = self._reduced_for(right, rows)
            y = e.all_from(g, factorized_solve(g, e.mass_matrix, e.forcing)[0])
            return y, self.forces_of(y, right)
        solutions = [] if self.has_inertial_loads else [s.udot.roots for s in self.formulation.solutions(right)]
        if m != self.formulation.metric:  # M is in another form, or has loads in u̇
            solutions.append(tuple(factorized_solve(g, m, right)[0]))
        udot = self.solution.roots
        return list(min(solutions, key=lambda roots: count_in_call(g, [*udot, *roots]))), []

    def _solved_columns(
        self, sides: Sequence[Sequence[int]]
    ) -> tuple[list[list[int]], tuple[tuple[int, int, int], ...]]:
        """The y of `solve` for several right sides and levels, by one factorization, and its pivots."""
        g = self.graph
        if not self.rows:
            found, pivots = factorized_columns(g, self.mass_matrix, sides)
            return found, named_pivots(pivots, range(len(pivots)))
        e, symbols = self._elimination
        n = len(e.speeds)
        given = [g.substitute([*e.forcing, *e.offset], dict(zip(symbols, side, strict=True))) for side in sides]
        found, pivots = factorized_columns(g, e.mass_matrix, [x[:n] for x in given])
        columns = [replace(e, offset=tuple(x[n:])).all_from(g, v) for x, v in zip(given, found, strict=True)]
        return columns, named_pivots(pivots, e.speeds)

    @cached_property
    def _elimination(self) -> tuple[Reduced, list[int]]:
        """The elimination with symbols in place of f and γ, and these symbols."""
        n, rows = len(self.description.speeds), self.rows
        symbols = [self.graph.symbol(("side", i), ACCELERATION) for i in range(n + len(rows))]
        placed = [replace(row, bias=bias) for row, bias in zip(rows, symbols[n:], strict=True)]
        return self._reduced_for(symbols[:n], placed), symbols

    def forces_of(self, y: Sequence[int], right: Sequence[int]) -> list[int]:
        """The z of Gᵀ z = M y − ``right``, from the equations of the eliminated speeds."""
        g, rows = self.graph, self.rows
        dependent = [j for j in range(len(y)) if j not in self._reduced.speeds]
        forces = [g.sub(dot(g, self.mass_matrix[j], y), right[j]) for j in dependent]
        return solve(g, [[row.jacobian[j] for row in rows] for j in dependent], forces)

    def _with_constraints(self) -> Solution:
        """Solution for u̇ if all rows of G are eliminated on the graph."""
        g, e = self.graph, self._reduced
        v, pivots = factorized_solve(g, e.mass_matrix, e.forcing)
        udot = Derived(tuple(e.all_from(g, v)), named_pivots(pivots, e.speeds), e.limits)
        return Solution(f"{self._formed}, constraints eliminated, LᵀDL", udot)


def _formulation(k: Kinematics) -> Formulation:
    d = k.description
    if d.first_order is not None:
        return Solved(k, d.first_order)
    return Bodies(k) if d.lagrangian is None else Lagrange(k, d.lagrangian)
