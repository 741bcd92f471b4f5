# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of derivatives: products with vectors, and derivative matrices of motion, constraints and outputs.

Products of derivatives with vectors take one forward or reverse pass and form no matrix.  In the arguments of a kernel
the vectors follow u̇ and λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.undetermined_multipliers import redundant_rows
from kanecore.derive.kernel_registry import Derived, derives
from kanecore.derive.kernels.constraint_kernels import has_constraints
from kanecore.derive.kernels.motion_kernels import without_masses
from kanecore.derive.linearized_equations import VARIABLES
from kanecore.derive.motion_products import holds_udot, product, written
from kanecore.derive.second_derivatives import second_derivatives
from kanecore.derive.second_derivatives import written as written_hessian
from kanecore.graph.calculus import Tangent, accumulate
from kanecore.graph.evaluation import count_in_call
from kanecore.graph.expression_graph import ACCELERATION, COORDINATE, INPUT, SPEED, STATE, Op
from kanecore.graph.vectors import dot

__all__: list[str] = []

COMPILED_SOON = 12_000  # operations of u̇ that compile soon; second derivatives take five times as many


def _forces(d: Derivation) -> list[int]:
    """M u̇ − f."""
    return [d.graph.neg(f) for f in d.residual(d.description.accelerations)]


def _variables(d: Derivation) -> list[int]:
    """q, u, r, u̇."""
    description = d.description
    return [*description.x, *description.inputs, *description.accelerations]


@derives("inverse_dynamics_tangent")
def _inverse_dynamics_tangent(d: Derivation) -> Derived:
    """The change of the forces along a direction (dx, dr, du̇)."""
    variables = _variables(d)
    along = Tangent(d.graph, dict(zip(variables, d.vector_symbols(len(variables)), strict=True))).of
    return Derived(tuple(map(along, _forces(d))))


@derives("inverse_dynamics_gradient")
def _inverse_dynamics_gradient(d: Derivation) -> Derived:
    """Gradient of weighted forces with respect to x, r, u̇."""
    forces = _forces(d)
    weights = zip(forces, d.vector_symbols(len(forces)), strict=True)
    return Derived(tuple(accumulate(d.graph, list(weights), _variables(d), limits=True)))


def _has_parameters(d: Derivation) -> bool:
    return bool(d.description.parameters)


def _rates_of_multipliers(d: Derivation) -> str:
    if _hold_multipliers(d, d.description.state_rates) and (redundant := redundant_rows(d)):
        return (
            f"rates of its states hold multipliers, which nothing determines as the rows {', '.join(redundant)} follow "
            "from each other: leave one out"
        )
    return ""


def _held_multipliers(d: Derivation) -> str:
    if _hold_multipliers(d, [node for _, node in d.description.outputs]):
        return "its outputs hold multipliers, whose derivatives nothing determines where rows are redundant"
    return ""


def _hold_multipliers(d: Derivation, nodes: Sequence[int]) -> bool:
    symbols = (d.graph.nodes[i] for i in d.graph.below(nodes))
    return any(op is Op.SYM and operands[0][0] == "λ" for op, *operands in symbols)


def _has_outputs(d: Derivation) -> bool:
    return bool(d.description.outputs)


def _no_products(d: Derivation) -> str:
    return without_masses(d) or _rates_of_multipliers(d)


@derives("rhs_tangent", missing=_no_products)
def _rhs_tangent(d: Derivation) -> Derived:
    return _product(d, "rhs_tangent")


@derives("rhs_gradient", missing=_no_products)
def _rhs_gradient(d: Derivation) -> Derived:
    return _product(d, "rhs_gradient")


@derives("rhs_parameter_tangent", applies=_has_parameters, missing=_no_products)
def _rhs_parameter_tangent(d: Derivation) -> Derived:
    return _product(d, "rhs_parameter_tangent")


@derives("rhs_parameter_gradient", applies=_has_parameters, missing=_no_products)
def _rhs_parameter_gradient(d: Derivation) -> Derived:
    return _product(d, "rhs_parameter_gradient")


@derives("output_tangent", applies=_has_outputs, missing=_held_multipliers)
def _output_tangent(d: Derivation) -> Derived:
    return _product(d, "output_tangent")


@derives("output_gradient", missing=_held_multipliers)
def _output_gradient(d: Derivation) -> Derived:
    return _product(d, "output_gradient")


def _product(d: Derivation, kernel: str) -> Derived:
    """Product of derivatives with a vector, together with M and G if they are factored at run time."""
    solved = holds_udot(d, kernel)
    if d.has_expression or not solved:
        return written(d, kernel)
    system = d.solving or d.general
    return Derived((*system.derived.roots, *product(d, kernel).roots), after_udot=True, with_multipliers=bool(d.rows))


def _few(d: Derivation) -> bool:
    """Test whether second derivatives compile soon, and are solved with pivots on the diagonal."""
    if d.without_masses or d.zdot_holds_udot or not d.symmetric:
        return False
    return count_in_call(d.graph, d.solution.roots if d.has_expression else d.general.derived.roots) <= COMPILED_SOON


@derives("rhs_hessian", applies=_few)
def _rhs_hessian(d: Derivation) -> Derived:
    """A column and a curvature, for the whole matrix at run time (:mod:`kanecore.derive.second_derivatives`)."""
    if d.has_expression:
        return written_hessian(d)
    found = second_derivatives(d)
    roots = (*d.general.system, *found.sides, *found.column, *found.curvature)
    return Derived(roots, after_udot=True, with_multipliers=True)


def _rates_beyond_the_state(d: Derivation) -> str:
    """Reason why ż is no function of x and r only, and so has no second derivatives; empty if it is."""
    if not d.zdot_holds_udot:
        return ""
    return (
        f"rates of its states ({', '.join(d.description.state_names)}) hold derivatives of speeds or multipliers, "
        "which are solved for: write them in coordinates, speeds and states"
    )


@derives("hessian_products", missing=_rates_beyond_the_state)
def _hessian_products(d: Derivation) -> Derived:
    """Changes along (x, r, u̇, λ) of the gradient of L = w_q·q̇ + μ·R + w_z·ż + ν·S, and of R = f + Gᵀλ − M u̇."""
    g, description, multipliers = d.graph, d.description, d.multiplier_symbols
    n_weights = description.n_x + len(multipliers)
    symbols = [*_variables(d), *multipliers]
    vectors = d.vector_symbols(n_weights + len(symbols))
    balance = d.residual(description.accelerations)
    for row, force in zip(d.rows, multipliers, strict=True):
        balance = [g.add(b, g.mul(x, force)) for b, x in zip(balance, row.jacobian, strict=True)]
    levels = [g.add(row.bias, dot(g, row.jacobian, description.accelerations)) for row in d.rows]
    weights = zip([*description.rates, *balance, *description.state_rates, *levels], vectors, strict=False)
    gradient = accumulate(g, list(weights), symbols, limits=True)
    along = Tangent(g, dict(zip(symbols, vectors[n_weights:], strict=True))).of
    return Derived(tuple(map(along, (*gradient, *balance))))


@derives("linearize", missing=_rates_of_multipliers)
def _linearize(d: Derivation) -> Derived:
    return _derivatives(d, "linearize")


def _derivatives(d: Derivation, kernel: str) -> Derived:
    """Equations that are solved for a derivative of ẋ; zeros if it vanishes."""
    slopes, of_states, description = d.linearization(kernel), d.state_slopes(kernel), d.description
    if slopes.vanishes and not any(of_states):
        return Derived((0,) * (description.n_x * len(VARIABLES[kernel](description))))
    if slopes.solution is not None and not any(d.graph.depends[node] & ACCELERATION for node in of_states):
        return replace(slopes.solution, roots=(*slopes.solution.roots, *of_states))
    roots = (*slopes.roots, *of_states)
    return Derived(roots, after_udot=True, with_multipliers=bool(description.constraints))


@derives("rhs_time_derivative", missing=_rates_of_multipliers)
def _rhs_time_derivative(d: Derivation) -> Derived:
    return _derivatives(d, "rhs_time_derivative")


@derives("rhs_parameter_jacobian", applies=_has_parameters, missing=_rates_of_multipliers)
def _rhs_parameter_jacobian(d: Derivation) -> Derived:
    return _derivatives(d, "rhs_parameter_jacobian")


@derives("output_jacobian", applies=_has_outputs, missing=_held_multipliers)
def _output_jacobian(d: Derivation) -> Derived:
    """∂y/∂(q, u, r); if the outputs depend on u̇, this derivative at constant u̇, then ∂y/∂u̇."""
    direct, by_udot = _slopes_of_outputs(d)
    if not any(d.graph.depends[node] & ACCELERATION for _, node in d.description.outputs):
        return Derived(tuple(chain(*direct)))
    return Derived(tuple(chain(*direct, *by_udot)), after_udot=True)


@derives("output_slopes", applies=_has_outputs, missing=_held_multipliers)
def _output_slopes(d: Derivation) -> Derived:
    rows = zip(*_slopes_of_outputs(d), strict=True)
    return Derived(tuple(chain.from_iterable(chain(*row) for row in rows)))


def _slopes_of_outputs(d: Derivation) -> tuple[list[list[int]], list[list[int]]]:
    """∂y/∂(q, u, r) at constant u̇ and ∂y/∂u̇, a list for each output."""
    g, udot = d.graph, d.description.accelerations
    nodes, wrt = [node for _, node in d.description.outputs], VARIABLES["linearize"](d.description)
    direct = [accumulate(g, [(node, g.one)], wrt, limits=True) for node in nodes]
    return direct, [accumulate(g, [(node, g.one)], udot, ACCELERATION, limits=True) for node in nodes]


@derives("constraint_slopes", applies=has_constraints)
def _constraint_slopes(d: Derivation) -> Derived:
    """∂φ/∂(q, u, r) and ∂c/∂(q, u, r) of the configuration constraints and of the rows of G on velocities."""
    g, description, level = d.graph, d.description, COORDINATE | SPEED | STATE | INPUT
    wrt = [*description.x, *description.inputs]
    nodes = [*d.constraints.configuration, *d.constraints.values]
    return Derived(tuple(x for node in nodes for x in accumulate(g, [(node, g.one)], wrt, level)))
