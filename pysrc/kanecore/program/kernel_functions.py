# SPDX-License-Identifier: BSD-3-Clause
"""Functions of which the kernels of a model are made, without syntax.

Most kernels are one program.  The others solve equations: u̇, multipliers, the linearization, the projection to the
constraints (:mod:`kanecore.program.function_parts`).  u̇ has two ways.  The short one is a program, or with constraints
a small system; it holds if its pivots are large.  Otherwise ``general_udot`` solves the original M, f, G and γ, with
pivots chosen by numbers: if a mass matrix is not positive definite, or if a pivot that was chosen on the graph is small
beside its row.  It is rarely called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kanecore.derive.constraint_elimination import Solving
from kanecore.derive.derivation import Derivation
from kanecore.derive.formulations.formulation import ARTICULATED
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.linearized_equations import VARIABLES, ReducedSlopes
from kanecore.derive.motion_products import VARIABLES as OF_PRODUCTS
from kanecore.derive.motion_products import Product, general_product, holds_udot, is_tangent, leaves_fewer, product
from kanecore.derive.projection_gradients import LEVELS, step_gradient
from kanecore.derive.recursions.joint_tree_derivatives import Forest
from kanecore.derive.second_derivatives import second_derivatives
from kanecore.derive.sparsity_patterns import elimination_tree, mass_matrix_pattern
from kanecore.graph.expression_graph import Graph, Op
from kanecore.kernels import KERNEL_GROUPS

from .fixed_values import fixed_values
from .function_parts import SCRATCH, Equations, Function, Member, Solved, Straight, cut
from .instructions import Entry, Operand, Program
from .straight_line import straight_line
from .sum_order import associated

__all__ = ["BRIEF", "Functions"]

GENERIC = 0.6180339887498949  # of a state, where rows of G are counted: no number that makes terms vanish
BRIEF = 4_000  # instructions of a derivative that is one function: a tenth of its time for twice the compiler's
LONG = 4_500  # operations of a system of equations that is not written down once more


class Functions:
    """Functions of one library, each made once, when it is first needed, after those that it calls.

    Parameters
    ----------
    derivation : Derivation
    leaves : mapping
        Where symbols and prepared constants are found, as for `straight_line`.
    rank : int
        The place in c of the number of rows of G that count.
    in_lanes : bool
        Whether they are for several states at once.

    Attributes
    ----------
    by_name : dict
        In the order in which they were made.
    """

    def __init__(
        self, derivation: Derivation, leaves: Mapping[int, Operand], rank: int, in_lanes: bool = False
    ) -> None:
        self.derivation, self.leaves, self.rank, self.in_lanes = derivation, leaves, rank, in_lanes
        self.d, self.g = derivation.description, derivation.graph
        self.n, self.n_q, self.n_r = len(self.d.speeds), len(self.d.coordinates), len(self.d.inputs)
        self.m = len(derivation.constraints.rows) if self.d.constraints else 0
        self.n_z = len(self.d.states)
        self.by_name: dict[str, Function] = {}
        self._solvers: dict[str, Callable[[], Function]] = {
            "udot": self.udot,
            "forward_dynamics": self._forward_dynamics,
            "multipliers": self._multipliers,
            "stabilization": self._stabilization,
            "project": self._projected,
            "project_gradient": self._projection_gradient,
            "mass_matrix_inverse": self._inverse,
            **({"mass_matrix": self._composites} if derivation.composite_rates else {}),
            "rhs_hessian": self._hessian,
            **{kernel: partial(self._slopes_of_rhs, kernel) for kernel in VARIABLES},
            **{kernel: partial(self._product, kernel) for kernel in OF_PRODUCTS},
        }

    def kernel(self, kernel: str, rarely: bool = False) -> Function:
        """``compute_KERNEL``; cut as outside the core group if it is called ``rarely``."""
        name = f"compute_{kernel}"
        if name in self.by_name:
            return self.by_name[name]
        if kernel in self._solvers:
            return self._solvers[kernel]()
        derived = self.derivation.program(kernel)
        in_core = KERNEL_GROUPS[kernel] == "core" and not rarely
        if kernel == "output_jacobian" and derived.after_udot:
            return self._output_jacobian(derived)
        if derived.after_udot:
            return self._after_udot(kernel, derived, in_core)
        return self._straight(name, derived, in_core=in_core)

    # ----------------------------------------------------------------- functions
    def _straight(
        self,
        name: str,
        derived: Derived,
        in_scratch: Sequence[int] = (),
        reserved: int = 0,
        in_core: bool | None = False,
    ) -> Straight:
        """A function of one program.

        Parameters
        ----------
        in_scratch : sequence of int
            Nodes whose values the caller leaves at the beginning of the scratch.
        reserved : int
            How many numbers behind these the program may not write to.
        in_core : bool, optional
            Whether it serves the core group, whose functions are longer; None: if it is brief, it is as one that does.
        """
        values = {node: Operand(Entry(SCRATCH, i)) for i, node in enumerate(in_scratch)}
        program = straight_line(self.g, derived, {**self.leaves, **values}, self.n)
        whole = len(program.instructions) <= BRIEF if in_core is None else in_core
        return self._of_program(name, program, len(in_scratch) + reserved, whole)

    def _of_program(self, name: str, program: Program, first: int, in_core: bool) -> Straight:
        """A function of a program that may write to its scratch from ``first`` on."""
        function = Straight(name, cut(program, first, in_core, self.in_lanes), program.fails)
        self.by_name[name] = function
        return function

    def _once(
        self,
        name: str,
        derived: Derived,
        in_scratch: Sequence[int] = (),
        reserved: int = 0,
        in_core: bool | None = False,
    ) -> str:
        """Name of a function of one program, made if it does not exist yet."""
        if name not in self.by_name:
            self._straight(name, derived, in_scratch, reserved, in_core)
        return name

    def _solved(self, name: str, way: str, members: Mapping[str, Member], *sizes: int) -> Solved:
        function = Solved(name, way, members, sizes)
        self.by_name[name] = function
        return function

    def _parts(self, *names: str) -> dict[str, str]:
        """The equations of all speeds and rows, part by part, by the functions of their kernels."""
        kernels = {"mass_matrix": "mass_matrix", "forcing": "forcing"}
        if self.m:
            kernels |= {"jacobian": "constraint_jacobian", "bias": "constraint_bias"}
        functions = {part: self.kernel(kernel).name for part, kernel in kernels.items() if part in names}
        if self.m and "sums" in names:
            functions["sums"] = self._once("compute_constraint_sums", Derived(self.derivation.general.sums))
        return functions

    # -------------------------------------------------------------------- udot
    def udot(self) -> Function:
        """``compute_udot``, by the short way where there is one."""
        return self._accelerations("udot", self.derivation)

    def motion(self) -> Function:
        """Function of u̇, and of ż behind it: what ``rhs`` computes beside q̇."""
        if not self.n_z:
            return self.udot()
        udot, zdot = self.udot(), self.derivation.kernel("zdot")
        if isinstance(udot, Straight) and not zdot.with_multipliers:
            program = straight_line(*self._motion_on_the_graph(), self.n)
            return self._of_program("compute_motion", program, 0, in_core=True)
        roots = Derived((*self.d.accelerations, *zdot.roots), with_multipliers=zdot.with_multipliers)
        return self._after_udot("motion", roots, in_core=True)

    def _motion_on_the_graph(self) -> tuple[Graph, Derived, Mapping[int, Operand]]:
        """Program of u̇ and ż in one, which share expressions."""
        udot, g = self.derivation.kernel("udot"), self.g
        at_udot = dict(zip(self.d.accelerations, udot.roots, strict=True))
        zdot = g.substitute(list(self.d.state_rates), at_udot)
        return associated(g, replace(udot, roots=(*udot.roots, *zdot)), self.leaves)

    def asked(self, function: Function, n: int) -> Function:
        """A function of n numbers that asks loads of reactions for their fault where these are not finite."""
        name, g, terms = f"{function.name}_asked", self.g, self.d.reaction_terms
        if name in self.by_name:
            return self.by_name[name]
        assert terms is not None
        load = g.select(g.binary(Op.LT, 0, terms.fault), g.constant(self.d.loads_of_reactions[0]), 0)
        reason = self._once("load_fault", Derived((terms.fault, load)))
        return self._solved(name, "asked", {"n": n, "result": function.name, "reason": reason}, 2)

    def _forward_dynamics(self) -> Function:
        """Function of u̇ with generalized forces beside f."""
        return self._accelerations("forward_dynamics", self.derivation.pushed)

    def _accelerations(self, kernel: str, derivation: Derivation) -> Function:
        name = f"compute_{kernel}"
        if name in self.by_name:
            return self.by_name[name]
        if derivation.solving is not None:
            return self._short_motion(kernel, derivation, derivation.solving)
        if not derivation.symmetric:
            return self._general(kernel, derivation, name)
        source = (self.g, derivation.kernel("udot"), self.leaves)
        if derivation.method != ARTICULATED:  # these wait for the link before in any order
            source = associated(*source)
        program = straight_line(*source, self.n)
        if not program.fails or derivation.formulation.pivots:  # solved equations have no other way
            return self._of_program(name, program, 0, in_core=True)
        members = {
            "otherwise": self._general(kernel, derivation).name,
            "shortly": self._of_program(f"short_{kernel}", program, 0, in_core=True).name,
        }
        return self._solved(name, "short_way", members)

    def _short_motion(self, kernel: str, derivation: Derivation, solving: Solving) -> Solved:
        """u̇ from the speeds and rows that elimination on the graph leaves."""
        solution = [*solving.known, *solving.unknowns]
        n, n_known = len(solving.speeds), len(solving.known)
        members = self._motion("udot", n, solving.doubt) | {
            "eliminated": self.n - n,
            "speeds": solving.speeds,
            "rows": solving.rows,
            "n_known": n_known,
            **self._filled(kernel, derivation, solving),
            "result": self._once("result_udot", Derived(solving.result), solution, in_core=True),
            "otherwise": self._general(kernel, derivation).name,
        }
        return self._solved(f"compute_{kernel}", "motion", members, n, len(solving.rows), n_known, self._n_residuals)

    def _filled(self, kernel: str, derivation: Derivation, solving: Solving) -> dict[str, Member]:
        """Members that fill the equations: a program, or the functions of the general way if the program would be long.

        So the text of a mechanism with many loops holds M once.
        """
        system = Derived((*solving.system, *solving.known), limits=solving.limits)
        if solving.system == derivation.general.system and len(self.g.below(system.roots)) > LONG:
            return {"parts": self._equations(kernel, derivation)}
        return {"fill": self._once(f"fill_{kernel}", system, in_core=True)}

    def _equations(self, kernel: str, derivation: Derivation) -> dict[str, str]:
        """The functions that fill the equations of all speeds and rows."""
        own = ("forcing",) if derivation is self.derivation else ()
        equations = self._parts("mass_matrix", *own, "jacobian", "bias", "sums")
        if not own:
            forcing = Derived(tuple(derivation.forcing))
            equations["forcing"] = self._once(f"forcing_{kernel}", forcing, in_core=True)
        return equations

    @property
    def _n_residuals(self) -> int:
        constraints = self.derivation.constraints
        return len(constraints.configuration) + len(constraints.values)

    def _motion(self, name: str, n: int, doubt: Sequence[int]) -> dict[str, Member]:
        """Members that both ways to u̇ of constrained models share."""
        constraints = self.derivation.constraints
        residuals = Derived((*constraints.configuration, *constraints.values, *constraints.sizes))
        return {
            "equations": Equations(n, len(doubt), symmetric=self.derivation.symmetric),
            "rank": self.rank,
            "doubt": self._once(f"{name}_doubt", Derived(tuple(doubt))),
            "n_residuals": self._n_residuals,
            "residuals": self._once("state_constraints", residuals),
        }

    def _general(self, kernel: str, derivation: Derivation, name: str = "") -> Function:
        """``general_KERNEL``: from M, f, G and γ of all speeds and rows.

        Where M is positive definite the short way holds: here nothing tries to factor it.
        """
        name = name or f"general_{kernel}"
        if name in self.by_name:
            return self.by_name[name]
        equations = self._equations(kernel, derivation)
        if not self.m:
            free: dict[str, Member] = {"equations": Equations(self.n, 0, symmetric=False), "parts": equations}
            return self._solved(name, "free_motion", free, self.n)
        members = self._motion("general", self.n, derivation.general.doubt) | {"parts": equations}
        members["equations"] = Equations(self.n, self.m, symmetric=False)
        return self._solved(name, "general_motion", members, self.n, self.m, 0, self._n_residuals)

    # ------------------------------------------------------- with udot, lambda
    def _after_udot(self, kernel: str, derived: Derived, in_core: bool) -> Function:
        """Kernel that uses the accelerations, and the multipliers, of the model."""
        name, m = f"compute_{kernel}", self.m if derived.with_multipliers else 0
        solution = [*self.d.accelerations, *(self.derivation.multiplier_symbols if m else ())]
        members: dict[str, Member] = {"udot": self.udot().name, "n": self.n, "m": m}
        if m:
            members["multipliers"] = self._multipliers().name
        members["evaluate"] = self._once(f"part_{kernel}", Derived(derived.roots), solution, in_core=in_core)
        function = Solved(name, "after_motion", members, (self.n, m), bool(m) or self.udot().fails)
        self.by_name[name] = function
        return function

    def _multipliers(self, *, equal: bool = False) -> Function:
        """λ of least norm, or the forces of redundant rows of ``equal`` size, which derivatives take."""
        name = "forces_of_equal_rows" if equal else "compute_multipliers"
        if name in self.by_name:
            return self.by_name[name]
        members: dict[str, Member] = {
            "equations": Equations(self.n, self.m, 0),
            "rank": self.rank,
            "equal": int(equal),
            "udot": self.udot().name,
            "fill": self._once("fill_multipliers", self.derivation.kernel("multipliers"), self.d.accelerations),
        }
        return self._solved(name, "balance", members, self.n, self.m)

    def _slopes_of_rhs(self, kernel: str) -> Function:
        """A derivative of ẋ: that of q̇ and u̇, and rows of ż behind these."""
        name = f"compute_{kernel}"
        if name in self.by_name or not self.n_z:
            return self._linearize(kernel)
        if self.derivation.linearization(kernel).vanishes and not any(self.derivation.state_slopes(kernel)):
            return self._straight(name, self.derivation.kernel(kernel))
        sizes = {"n_z": self.n_z, "n_q": self.n_q, "n": self.n, "k": len(VARIABLES[kernel](self.d))}
        members: dict[str, Member] = {**sizes, "motion": self._linearize(kernel).name}
        if self.derivation.zdot_holds_udot:
            members["udot"] = self.udot().name
        slopes, room = Derived(self.derivation.state_slopes(kernel)), self.n_z * (sizes["k"] + self.n)
        members["slopes"] = self._once(f"state_slopes_{kernel}", slopes, self.d.accelerations, room)
        return self._solved(name, "state_rows", members, self.n_z, self.n, sizes["k"])

    def _linearize(self, kernel: str = "linearize") -> Function:
        """A derivative of q̇ and u̇: by a program, recursions over joints, or equations that are solved."""
        name = f"{'motion' if self.n_z else 'compute'}_{kernel}"
        if name in self.by_name:
            return self.by_name[name]
        slopes = self.derivation.linearization(kernel)
        if slopes.vanishes:
            return self._straight(name, Derived((0,) * ((self.n_q + self.n) * len(VARIABLES[kernel](self.d)))))
        if slopes.forest is not None:
            return self._forest(name, slopes.forest)
        if slopes.solution is not None:
            return self._shortly(kernel, name, slopes.solution, lambda name: self._solved_slopes(name, kernel))
        if slopes.reduced is not None:
            return self._reduced_slopes(name, kernel, slopes.reduced)
        return self._solved_slopes(name, kernel)

    def _shortly(self, kernel: str, name: str, derived: Derived, otherwise: Callable[[str], Function]) -> Function:
        """A program if all of its pivots hold, else the other way, which is made by name."""
        program = straight_line(self.g, derived, self.leaves, self.n)
        in_core = len(program.instructions) <= BRIEF
        if not program.fails or self.derivation.formulation.pivots:
            return self._of_program(name, program, 0, in_core)
        members = {
            "otherwise": otherwise(f"general_{kernel}").name,
            "shortly": self._of_program(f"short_{kernel}", program, 0, in_core).name,
        }
        return self._solved(name, "short_way", members)

    def _reduced_slopes(self, name: str, kernel: str, slopes: ReducedSlopes) -> Solved:
        """A derivative of q̇ and u̇ from the equations that elimination on the graph leaves."""
        solving, columns = self.derivation.solving, len(VARIABLES[kernel](self.d))
        assert solving is not None
        motion, sizes = self._found_motion(solving)
        members: dict[str, Member] = {
            **motion,
            "k": columns,
            "n_q": self.n_q,
            "slopes": self._once(f"slopes_{kernel}", Derived(slopes.roots), self._solution, 0, None),
            "otherwise": self._solved_slopes(f"general_{kernel}", kernel).name,
        }
        if len(solving.speeds) < self.n:
            members["speeds"] = solving.speeds
            members["followers"] = tuple(i for i in range(self.n) if i not in solving.speeds)
        return self._solved(name, "reduced_linearization", members, *sizes, columns, self.n_q)

    def _found_motion(self, solving: Solving) -> tuple[dict[str, Member], tuple[int, ...]]:
        """Members of `kc_reduced_motion`, which finds u̇ and λ and leaves the factors, and sizes of its scratch."""
        derivation, n, m, n_known = self.derivation, len(solving.speeds), len(solving.rows), len(solving.known)
        members: dict[str, Member] = {
            "equations": Equations(n, m),
            "motion.n_all": self.n,
            "motion.m_all": self.m,
            "motion.rank": self.rank,
            "motion.eliminated": self.n - n,
            "motion.n_known": n_known,
            **{f"motion.{part}": value for part, value in self._filled("udot", derivation, solving).items()},
        }
        if n < self.n:
            given = [*solving.known, *solving.unknowns]
            members["motion.result"] = self._once("result_udot", Derived(solving.result), given, in_core=True)
        if m < self.m:
            udot, left = self.d.accelerations, [derivation.multiplier_symbols[i] for i in solving.rows]
            forces = Derived(derivation.all_forces(derivation.residual(udot), left))
            members["motion.forces"] = self._once("forces_of_rows", forces, [*left, *udot], self.m, in_core=True)
        return members, (n, m, n_known, self.n, self.m)

    def _solved_slopes(self, name: str, kernel: str) -> Solved:
        """A derivative of q̇ and u̇ that solves equations, all columns of the result at once."""
        slopes, columns, n, m = self.derivation.linearization(kernel), len(VARIABLES[kernel](self.d)), self.n, self.m
        members: dict[str, Member] = {
            "equations": Equations(n, m, columns, symmetric=self.derivation.symmetric),
            "n_q": self.n_q,
            **self._at_solution,
        }
        if slopes.seeds:
            members["parts"] = self._parts("mass_matrix", "jacobian", "sums")
            roots, room = slopes.column, self.n_q + n + m
            members["column"] = self._along(
                f"column_{kernel}", roots, self._solution, slopes.seeds, room, in_core=False
            )
        else:
            members["fill"] = self._once(f"fill_{kernel}", Derived((*slopes.equations, *slopes.rates)), self._solution)
        way = "linearization" if m else "free_linearization"
        return self._solved(name, way, members, self.n_q, n, m, columns)

    def _composites(self) -> Function:
        """M of a long tree, by loops over its joints."""
        rates = self.derivation.composite_rates
        assert rates is not None
        members: dict[str, Member] = {
            "n": self.n,
            "before": rates.before,
            "speed": rates.speed,
            "rates": self._once("fill_composites", Derived(rates.numbers)),
        }
        return self._solved("compute_mass_matrix", "composites", members, self.n)

    def _inverse(self) -> Function:
        """The inverse of M, by a program if that is short, and where its pivots are small by the factors of M."""
        derivation = self.derivation
        derived = derivation.at_run_time("mass_matrix_inverse") or derivation.kernel("mass_matrix_inverse")
        members: dict[str, Member] = {
            "n": self.n,
            "parent": elimination_tree(mass_matrix_pattern(derivation)) if derivation.symmetric else (),
            "mass_matrix": self.kernel("mass_matrix").name,
        }
        if not derived.limits:
            return self._solved("compute_mass_matrix_inverse", "inverse", members, self.n)
        otherwise = self._solved("general_mass_matrix_inverse", "inverse", members, self.n).name
        shortly = self._straight("short_mass_matrix_inverse", derived, in_core=True).name
        return self._solved("compute_mass_matrix_inverse", "short_way", {"otherwise": otherwise, "shortly": shortly})

    def _product(self, kernel: str) -> Function:
        """Product of derivatives with a vector: a program if u̇ has an expression and all of its pivots hold."""
        name, derivation = f"compute_{kernel}", self.derivation
        if not holds_udot(derivation, kernel):
            return self._straight(name, derivation.kernel(kernel), in_core=True)
        if not derivation.symmetric:
            return self._general_product(name, kernel)
        if not derivation.has_expression:
            return self._factored_product(name, kernel)
        program = straight_line(self.g, derivation.kernel(kernel), self.leaves, self.n)
        if not program.fails or derivation.formulation.pivots:
            return self._of_program(name, program, 0, in_core=True)
        otherwise = self._by_recursion(kernel) if len(program.instructions) > BRIEF else None
        members = {
            "otherwise": (otherwise or self._general_product(f"general_{kernel}", kernel)).name,
            "shortly": self._of_program(f"short_{kernel}", program, 0, in_core=True).name,
        }
        return self._solved(name, "short_way", members)

    def _by_recursion(self, kernel: str) -> Solved | None:
        """Product with the derivatives by x and r of trees of joints: where it is rarely called, for its short text."""
        forest = self.derivation.joint_trees
        if forest is None or kernel not in ("rhs_tangent", "rhs_gradient"):
            return None
        rows, columns = self.n_q + self.n, self.d.n_x + self.n_r
        members: dict[str, Member] = {
            "rows": rows,
            "columns": columns,
            "behind": rows + self.n + self.m,
            "gradient": int(not is_tangent(kernel)),
            "matrix": self._forest("compute_linearize", forest, in_core=False).name,
        }
        return self._solved(f"general_{kernel}", "matrix_product", members, rows, columns)

    def _factored_product(self, name: str, kernel: str) -> Solved:
        """Product with one factorization of the equations of u̇: those that elimination on the graph leaves."""
        motion, sizes = self._found_motion(self.derivation.solving or self.derivation.general)
        found = product(self.derivation, kernel)
        kept = self._kept(found)
        members: dict[str, Member] = {
            **motion,
            **self._sides(kernel, found, kept),
            "otherwise": self._general_product(f"general_{kernel}", kernel).name,
        }
        return self._solved(name, "product", members, *sizes, len(kept))

    def _general_product(self, name: str, kernel: str) -> Solved:
        """Product by equations of its own, at given u̇ and λ: where M is not positive definite as well."""
        derivation, found = self.derivation, general_product(self.derivation, kernel)
        kept = self._kept(found)
        in_core = name == f"compute_{kernel}"  # beside a short way it is rarely called, with M and f of its own
        if not in_core and not self.m:
            self.kernel("mass_matrix", rarely=True), self.kernel("forcing", rarely=True)
        members: dict[str, Member] = {
            "equations": Equations(self.n, self.m, symmetric=derivation.symmetric),
            "parts": self._parts("mass_matrix", "jacobian", "sums"),
            **self._sides(kernel, found, kept, in_core, "general_" if leaves_fewer(derivation) else ""),
        }
        if derivation.symmetric and not self.m:  # it is for M that is not positive definite
            members["udot"] = self._general("udot", derivation).name
        else:
            members |= self._at_solution
        way = "general_product" if self.m else "free_product"
        return self._solved(name, way, members, self.n, self.m, len(kept))

    def _hessian(self) -> Function:
        """Second derivatives: programs along directions, what is the same for all, and where it fails no result."""
        name, kernel, derivation = "compute_rhs_hessian", "rhs_hessian", self.derivation
        found, n, m = second_derivatives(derivation), self.n, self.m
        inner, outer, size = found.inner, found.outer, len(found.order)
        known, changes = list[int](), tuple[int, ...]()
        if derivation.has_expression:
            whole = derivation.kernel(kernel)
            roots = {"column": whole.roots[:size], "curvature": whole.roots[size:]}
        else:
            whole, known, changes = Derived(()), [*self._solution, *found.multipliers], found.changes
            roots = {"changes": found.sides, "column": found.column, "curvature": found.curvature}
        seeds = {"changes": inner, "column": (*inner, *changes) if inner else (), "curvature": outer}
        directions, places = [*inner, *outer, *changes], {**self.leaves, **dict.fromkeys(known)}
        fixed = fixed_values(self.g, [i for each in roots.values() for i in each], directions, places)
        members: dict[str, Member] = {"n": size, "n_fixed": len(fixed), "n_inner": len(inner), "n_outer": len(outer)}
        once = replace(whole, roots=tuple(fixed))
        members |= {"variables": found.order, "fixed": self._once(f"fixed_{kernel}", once, known, len(fixed), None)}
        most = max(map(len, seeds.values())) + max(map(len, roots.values()))
        for member in roots:
            if seeds[member]:
                given, room = [*known, *fixed], most - len(seeds[member])
                function = self._along(f"{member}_{kernel}", roots[member], given, seeds[member], room, in_core=None)
                members[member] = function
        if derivation.has_expression:
            return self._solved(name, "hessian", members, len(fixed))
        weights = Derived((*found.weights, *[0] * m))
        members |= {
            "equations": Equations(n, m),
            "rank": self.rank,
            **self._filled(kernel, derivation, derivation.general),
            "weights": self._once(f"weights_{kernel}", weights, self._solution, 2 * (n + m), in_core=True),
        }
        return self._solved(name, "factored_hessian", members, n, m)

    def _along(
        self,
        name: str,
        roots: Sequence[int],
        known: Sequence[int],
        seeds: Sequence[int],
        room: int,
        in_core: bool | None,
    ) -> str:
        """Name of a function along directions, which stand behind what is known, with room for results behind them."""
        if name not in self.by_name:
            function = self._straight(name, Derived(tuple(roots)), [*known, *seeds], room, in_core)
            self.by_name[name] = replace(function, directions=range(len(known), len(known) + len(seeds)))
        return name

    def _sides(
        self, kernel: str, found: Product, kept: Sequence[int], in_core: bool = True, prefix: str = ""
    ) -> dict[str, Member]:
        """Members of both ways: the right-hand sides at given u̇ and λ, behind the ``kept`` nodes, and the product."""
        reserved = 2 * len(found.solution) + len(kept)  # the second solution, and the results themselves
        sides = Derived((*kept, *found.sides))
        given = [*self._solution, *found.solution, *kept]
        return {
            "n_kept": len(kept),
            "adjoint": int(not is_tangent(kernel)),
            "sides": self._once(f"{prefix}sides_{kernel}", sides, self._solution, reserved, in_core),
            "finish": self._once(f"{prefix}finish_{kernel}", Derived(found.result), given, in_core=in_core),
        }

    def _kept(self, found: Product) -> list[int]:
        """Nodes of t, x, r, u̇ and λ that the product reads beside its solution; the right-hand sides hold them too."""
        places = {**self.leaves, **dict.fromkeys(self._solution)}
        return fixed_values(self.g, found.by_solution, found.solution, places)

    @property
    def _solution(self) -> list[int]:
        """Symbols of u̇ and λ."""
        return [*self.d.accelerations, *self.derivation.multiplier_symbols]

    @property
    def _at_solution(self) -> dict[str, Member]:
        """Members of ways that solve for derivatives at the u̇ and λ of a state."""
        members: dict[str, Member] = {"udot": self.udot().name}
        return members | ({"rank": self.rank, "multipliers": self._multipliers(equal=True).name} if self.m else {})

    def _forest(self, name: str, forest: Forest, in_core: bool = True) -> Solved:
        """The linearization of trees of joints; in shorter functions where it is rarely called."""
        trees, largest = forest.trees, max(len(tree.speed) for tree in forest.trees)
        loads, columns, one = forest.loads, self.d.n_x + self.n_r, self.g.one
        at = [i for i, x in enumerate(loads) if x]
        places = {i * columns + j: x for (i, j), x in forest.rates.items()}
        ones = tuple(place for place, x in places.items() if x == one)
        others = {place: x for place, x in places.items() if x != one}
        numbers = 3 * len(trees) + sum(len(tree.turned) for tree in trees)
        members: dict[str, Member] = {
            "equations": Equations(largest, 0),
            "n_q": self.n_q,
            "n": self.n,
            "columns": columns,
            "trees": len(trees),
            "size": tuple(len(tree.speed) for tree in trees),
            "n_free": tuple(tree.free for tree in trees),
            "width": tuple(len(tree.columns) for tree in trees),
            "parent": tuple(x for tree in trees for x in tree.parent),
            "first": tuple(x for tree in trees for x in tree.first),
            "limb_end": tuple(x for tree in trees for x in tree.limb_ends),
            "speed": tuple(x for tree in trees for x in tree.speed),
            "runs": tuple(len(tree.runs) for tree in trees),
            "run": tuple(x for tree in trees for run in tree.runs for x in run),
            "turns": tuple(len(tree.turned) for tree in trees),
            "turn": tuple(x for tree in trees for pair in tree.turned for x in pair),
            "joints": self._once("fill_joints", Derived(forest.joints), in_core=in_core),
            "loads": self._once("fill_loads", Derived(tuple(loads[i] for i in at))),
            "loaded": len(at),
            "at": tuple(at),
            "n_ones": len(ones),
            "ones": ones,
            "n_others": len(others),
            "others_at": tuple(others),
            "numbers": numbers,
            "room": len(loads),
        }
        if others:
            members["others"] = self._once("fill_others", Derived(tuple(others.values())))
        filled = max(len(at), len(others))
        return self._solved(name, "forest", members, self.n, largest, numbers, len(loads), filled)

    def _output_jacobian(self, derived: Derived) -> Function:
        """Jacobian of outputs that hold u̇: by the chain rule, from the derivatives of u̇."""
        n_y, columns = len(self.d.outputs), self.d.n_x + self.n_r
        sizes = (n_y, self.n_q, self.n, columns)
        members: dict[str, Member] = {
            **dict(zip(("n_y", "n_q", "n", "k"), sizes, strict=True)),
            "udot": self.udot().name,
            "linearize": self._linearize().name,
        }
        between = (self.n_q + self.n) * columns + len(derived.roots)
        members["slopes"] = self._once("slopes_of_outputs", Derived(derived.roots), self.d.accelerations, between)
        return self._solved("compute_output_jacobian", "chain", members, *sizes)

    # ------------------------------------------------- back to the constraints
    def _stabilization(self) -> Function:
        fill = self._once("fill_stabilization", self.derivation.kernel("stabilization"))
        equations = Equations(self.n, self.m, 2, correction=True)
        members: dict[str, Member] = {"equations": equations, "rank": self.rank, "fill": fill}
        return self._solved("compute_stabilization", "return", members, self.n, self.m)

    def _projected(self) -> Function:
        """The state on the constraints, with its first-order states as they are."""
        if not self.n_z:
            return self._project("compute_project")
        members: dict[str, Member] = {"n_z": self.n_z, "n_q": self.n_q, "n": self.n, "k": 1}
        members["motion"] = self._project("project_motion").name
        members["slopes"] = self._once("first_order_states", Derived(self.d.states), self.d.accelerations, self.n_z)
        return self._solved("compute_project", "state_rows", members, self.n_z, self.n, 1)

    def _projection_gradient(self) -> Function:
        """The gradient of weights of the state on the constraints, step by step of the way back to them."""
        members, sizes = self._projecting()
        n_x, n_all = self.d.n_x, self.d.n_x + self.n_r + len(self.d.parameters)
        members |= {"n_z": self.n_z, "n_all": n_all, "weights": n_x + self.n + self.m}
        symbols = [*self.d.coordinates, *self.d.speeds, *self.d.accelerations]
        for level in LEVELS:
            found = step_gradient(self.derivation, level)
            given = [*symbols, *found.given]
            for member, roots in (("sides", found.sides), ("gradient", found.gradient)):
                name = f"{level}_{member}"
                members[name] = self._once(f"{name}_project", Derived(roots), given)
        return self._solved("compute_project_gradient", "projection_gradient", members, *sizes, n_x, n_all)

    def _project(self, name: str) -> Function:
        members, sizes = self._projecting()
        return self._solved(name, "projection", members, *sizes)

    def _projecting(self) -> tuple[dict[str, Member], tuple[int, ...]]:
        """Members and sizes of the way back to the constraints."""
        constraints, n, n_q, d = self.derivation.constraints, self.n, self.n_q, self.d
        m_q, m_u, n_max = len(constraints.configuration), len(constraints.values), max(n, n_q)
        m = max(m_q, m_u)
        # y and a: the state that is brought back, in place of x, and a change of it
        in_scratch = [*d.coordinates, *d.speeds, *d.accelerations]
        members: dict[str, Member] = {
            "equations": Equations(n_max, m, correction=True),
            "rank": self.rank,
            "n_q": n_q,
            "n_u": n,
            "n_max": n_max,
            "m_q": m_q,
            "m_u": m_u,
            **self._quaternions(),
        }
        for member, derived in self.derivation.projections.items():
            members[member] = self._once(f"{member}_project", derived, in_scratch, n_max - n)
        return members, (n_q, n, n_max, m)

    def _quaternions(self) -> dict[str, Member]:
        return {"n_unit": len(self.d.unit), "unit": tuple(i for quaternion in self.d.unit for i in quaternion)}

    # ------------------------------------------------------------------- count
    def _counted_at(self, name: str, roots: Sequence[int]) -> str:
        """Name of a function that counting calls, at one value of first-order states, which its states do not hold."""
        at = dict.fromkeys(self.d.states, self.g.constant(GENERIC))
        return self._once(name, Derived(tuple(self.g.substitute(list(roots), at)) if at else tuple(roots)))

    def counting(self) -> Solved | None:
        """Function by which ``prepare`` counts the rows of G; None if all are eliminated on the graph."""
        derivation = self.derivation
        if not (self.d.constraints and derivation.counted):
            return None
        constraints = derivation.constraints
        kernels = {"configuration": "configuration_residual", "slopes": "configuration_jacobian"}
        kernels |= {"velocity": "velocity_residual", "jacobian": "constraint_jacobian", "sizes": "constraint_sizes"}
        m_q, m_u = len(constraints.configuration), len(constraints.values)
        members: dict[str, Member] = {
            "equations": Equations(max(self.n, self.n_q), max(self.m, m_q)),
            "n_q": self.n_q,
            "n_u": self.n,
            "n_r": self.n_r,
            "m_q": m_q,
            "m_u": m_u,
            "m": self.m,
            "linear": int(constraints.linear),
            **self._quaternions(),
            "weights": self._counted_at("compute_weights", tuple(derivation.weights)),
        }
        for member, kernel in kernels.items():
            if roots := derivation.kernel(kernel).roots:
                members[member] = self._counted_at(f"count_{kernel}", roots) if self.n_z else self.kernel(kernel).name
        return Solved("count", "closure", members, (self.n_q, self.n, self.n_r, m_q, self.m))
