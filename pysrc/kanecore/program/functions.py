# SPDX-License-Identifier: BSD-3-Clause
"""The functions that the kernels of a model are made of, without syntax.

Most kernels are one straight line.  The others solve equations (:mod:`.solved`): u̇, multipliers, the linearization, the
way back to the constraints.  u̇ has two ways.  The short one is a straight line, or with constraints a small system; it
holds where its pivots are large.  Elsewhere ``general_udot`` solves M, f, G and γ as they are, with pivots chosen by
numbers: where a mass matrix is not positive definite, where a pivot that was chosen on the graph is small beside its
row.  It is rarely called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kanecore.derive.derivation import Derivation
from kanecore.derive.registry import Derived
from kanecore.kernels import KERNEL_GROUPS

from . import parts
from .instructions import Entry, Operand
from .solved import Body, Equations, Member, Solved, Straight
from .straight import straight_line

__all__ = ["Bodies"]

Leaves = Mapping[int, Operand]
SCRATCH = parts.SCRATCH


class Bodies:
    """The functions of one library, each made once, when it is first needed, after those that it calls.

    Parameters
    ----------
    derivation : Derivation
    leaves : mapping
        Where symbols and prepared constants are found, as of `straight_line`.
    rank : int
        The place in c of the number of rows of G that count.

    Attributes
    ----------
    bodies : dict
        By name, in the order in which they were made.
    """

    def __init__(self, derivation: Derivation, leaves: Leaves, rank: int) -> None:
        self.derivation, self.leaves, self.rank = derivation, leaves, rank
        self.d, self.g = derivation.description, derivation.graph
        self.n, self.n_q, self.n_r = len(self.d.speeds), len(self.d.coordinates), len(self.d.inputs)
        self.m = len(derivation.constraints.rows) if self.d.constraints else 0
        self.bodies: dict[str, Body] = {}
        self._ways: dict[str, Callable[[], Body]] = {
            "udot": self.udot,
            "multipliers": self._multipliers,
            "stabilization": self._stabilization,
            "linearize": self._linearize,
            "project": self._project,
        }

    def body(self, kernel: str) -> Body:
        """``body_KERNEL``."""
        name = f"body_{kernel}"
        if name not in self.bodies:
            way = self._ways.get(kernel)
            if way is not None:
                return way()
            derived = self.derivation.kernel(kernel)
            return self._after_udot(name, derived) if derived.after_udot else self._straight(name, derived)
        return self.bodies[name]

    # -------------------------------------------------------------- what is made
    def _straight(self, name: str, kernel: Derived, given: Sequence[int] = (), beyond: int = 0) -> Straight:
        """One straight line.

        ``given`` are nodes that stand at the beginning of its scratch; the next ``beyond`` numbers of that are taken.
        """
        held = {node: Operand(Entry(SCRATCH, i)) for i, node in enumerate(given)}
        program = straight_line(self.g, kernel, {**self.leaves, **held}, self.n)
        in_core = KERNEL_GROUPS.get(name.partition("_")[2]) == "core"  # body_udot, fill_udot, ...
        size = parts.CHUNK if in_core else min(parts.CHUNK, parts.CHUNK_BESIDE)
        body = Straight(name, parts.cut(program, len(given) + beyond, size), program.fails)
        self.bodies[name] = body
        return body

    def _name(self, name: str, kernel: Derived, given: Sequence[int] = (), beyond: int = 0) -> str:
        """The name of a straight line that is made once."""
        if name not in self.bodies:
            self._straight(name, kernel, given, beyond)
        return name

    def _solved(self, name: str, way: str, members: Mapping[str, Member], *sizes: int) -> Solved:
        body = Solved(name, way, members, sizes)
        self.bodies[name] = body
        return body

    def _parts(self, *names: str) -> dict[str, str]:
        """The equations of all speeds and rows, part by part, by the bodies of their kernels."""
        kernels = {"mass_matrix": "mass_matrix", "forcing": "forcing"}
        if self.m:
            kernels |= {"jacobian": "constraint_jacobian", "bias": "constraint_bias"}
        found = {part: self.body(kernel).name for part, kernel in kernels.items() if part in names}
        if self.m and "sums" in names:
            found["sums"] = self._name("body_constraint_sums", Derived(self.derivation.general.sums))
        return found

    # -------------------------------------------------------------------- udot
    def udot(self) -> Body:
        """``body_udot``, by the short way where there is one."""
        if "body_udot" in self.bodies:
            return self.bodies["body_udot"]
        derivation, solving = self.derivation, self.derivation.solving
        if solving is not None:
            known = len(solving.known)
            members = self._motion("udot", len(solving.speeds), solving.doubt) | {
                "eliminated": self.n - len(solving.speeds),
                "speeds": solving.speeds,
                "rows": solving.rows,
                "n_known": known,
                "fill": self._name("fill_udot", Derived((*solving.system, *solving.known), limits=solving.limits)),
                "result": self._name("result_udot", Derived(solving.result), [*solving.known, *solving.unknowns]),
                "otherwise": self._general().name,
            }
            sizes = (len(solving.speeds), len(solving.rows), known, self._n_residuals)
            return self._solved("body_udot", "motion", members, *sizes)
        if not derivation.symmetric:
            return self._general("body_udot")
        kernel = derivation.kernel("udot")
        if not straight_line(self.g, kernel, self.leaves, self.n).fails:
            return self._straight("body_udot", kernel)
        members = {"otherwise": self._general().name, "shortly": self._name("short_udot", kernel)}
        return self._solved("body_udot", "short_way", members)

    @property
    def _n_residuals(self) -> int:
        constraints = self.derivation.constraints
        return len(constraints.configuration) + len(constraints.values)

    def _motion(self, name: str, n: int, doubt: Sequence[int]) -> dict[str, Member]:
        """What both ways to u̇ of constrained models have."""
        constraints = self.derivation.constraints
        residuals = Derived((*constraints.configuration, *constraints.values, *constraints.sizes))
        return {
            "equations": Equations(n, len(doubt), symmetric=self.derivation.symmetric),
            "rank": self.rank,
            "doubt": self._name(f"{name}_doubt", Derived(tuple(doubt))),
            "n_residuals": self._n_residuals,
            "residuals": self._name("state_constraints", residuals),
        }

    def _general(self, name: str = "general_udot") -> Body:
        """``general_udot``: from M, f, G and γ of all speeds and rows."""
        if name in self.bodies:
            return self.bodies[name]
        given = self._parts("mass_matrix", "forcing", "jacobian", "bias", "sums")
        if not self.m:
            return self._solved(name, "free_motion", {"equations": Equations(self.n, 0), "parts": given}, self.n)
        members = self._motion("general", self.n, self.derivation.general.doubt) | {"parts": given}
        # what is symmetric has failed the short way
        members["equations"] = Equations(self.n, self.m, symmetric=False)
        return self._solved(name, "general_motion", members, self.n, self.m, 0, self._n_residuals)

    # ------------------------------------------------------- with udot, lambda
    def _after_udot(self, name: str, kernel: Derived) -> Body:
        """A kernel in which the accelerations, and the multipliers, are those of the model."""
        m = self.m if kernel.with_multipliers else 0
        given = [*self.d.accelerations, *(self.derivation.multiplier_symbols if m else ())]
        members: dict[str, Member] = {"udot": self.udot().name, "n": self.n, "m": m}
        if m:
            members["multipliers"] = self._multipliers().name
        members["evaluate"] = self._name(name.replace("body_", "part_"), Derived(kernel.roots), given)
        body = Solved(name, "after_motion", members, (self.n, m), bool(m) or self.udot().fails)
        self.bodies[name] = body
        return body

    def _multipliers(self) -> Body:
        if "body_multipliers" in self.bodies:
            return self.bodies["body_multipliers"]
        members: dict[str, Member] = {
            "equations": Equations(self.n, self.m, 0),
            "rank": self.rank,
            "udot": self.udot().name,
            "fill": self._name("fill_multipliers", self.derivation.kernel("multipliers"), self.d.accelerations),
        }
        return self._solved("body_multipliers", "balance", members, self.n, self.m)

    def _linearize(self) -> Body:
        d, n, m, parts = self.d, self.n, self.m, self.derivation.linearization
        given = [*d.accelerations, *self.derivation.multiplier_symbols]
        columns = self.n_q + n + self.n_r
        members: dict[str, Member] = {
            "equations": Equations(n, m, columns, symmetric=self.derivation.symmetric),
            "n_q": self.n_q,
            "solve": "kc_solve_equations" if m else "kc_solve_free",
            "udot": self.udot().name,
        }
        if m:
            members |= {"rank": self.rank, "multipliers": self._multipliers().name}
        if parts.seeds:
            members["parts"] = self._parts("mass_matrix", "jacobian", "sums")
            column = self._name("column_linearize", Derived(parts.column), [*given, *parts.seeds], self.n_q + n + m)
            members["column"] = column
        else:
            members["fill"] = self._name("fill_linearize", Derived((*parts.equations, *parts.rates)), given)
        return self._solved("body_linearize", "linearization", members, self.n_q, n, m, columns)

    # ------------------------------------------------- back to the constraints
    def _stabilization(self) -> Body:
        fill = self._name("fill_stabilization", self.derivation.kernel("stabilization"))
        equations = Equations(self.n, self.m, 2, correction=True)
        members: dict[str, Member] = {"equations": equations, "rank": self.rank, "fill": fill}
        return self._solved("body_stabilization", "return", members, self.n, self.m)

    def _project(self) -> Body:
        constraints, n, n_q, d = self.derivation.constraints, self.n, self.n_q, self.d
        m_q, m_u, most = len(constraints.configuration), len(constraints.values), max(n, n_q)
        m = max(m_q, m_u)
        # y and a: the state that is brought back, in place of x, and a change of it
        given = [*d.coordinates, *d.speeds, *d.accelerations]
        members: dict[str, Member] = {
            "equations": Equations(most, m, correction=True),
            "rank": self.rank,
            "n_q": n_q,
            "n_u": n,
            "most": most,
            "m_q": m_q,
            "m_u": m_u,
            **self._quaternions(),
        }
        for name, kernel in self.derivation.projections.items():
            members[name] = self._name(f"{name}_project", kernel, given, most - n)
        return self._solved("body_project", "projection", members, n_q, n, most, m)

    def _quaternions(self) -> dict[str, Member]:
        return {"n_unit": len(self.d.unit), "unit": tuple(i for quaternion in self.d.unit for i in quaternion)}

    # ------------------------------------------------------------------- count
    def counting(self) -> Solved | None:
        """How ``prepare`` counts the rows of G; None where all are eliminated on the graph."""
        derivation, constraints = self.derivation, self.derivation.constraints
        if not (self.d.constraints and derivation.counted):
            return None
        kernels = {"configuration": "configuration_residual", "slopes": "configuration_jacobian"}
        kernels |= {"velocity": "velocity_residual", "jacobian": "constraint_jacobian", "sizes": "constraint_sizes"}
        m_q, m_u = len(constraints.configuration), len(constraints.values)
        members: dict[str, Member] = {
            "equations": Equations(max(self.n, self.n_q), max(self.m, m_q), correction=True),
            "n_q": self.n_q,
            "n_u": self.n,
            "n_r": self.n_r,
            "m_q": m_q,
            "m_u": m_u,
            "m": self.m,
            "linear": int(constraints.linear),
            **self._quaternions(),
            "weights": self._name("body_weights", Derived(tuple(derivation.weights))),
        }
        for member, kernel in kernels.items():
            if derivation.kernel(kernel).roots:
                members[member] = self.body(kernel).name
        return Solved("count", "closure", members, (self.n_q, self.n, self.n_r, m_q, self.m))
