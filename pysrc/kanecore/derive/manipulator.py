# SPDX-License-Identifier: BSD-3-Clause
"""The manipulator form M u̇ + C u + g = τ + other loads, for models with q̇ = u.

    C_ij = Σ_k Γ_ijk u_k,    Γ_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i)

(Murray, Li & Sastry, *A Mathematical Introduction to Robotic Manipulation*, 1994, section 4.2).  The terms h of the
velocities, Σ_jk Γ_ijk u_j u_k, are of degree two in u, and Γ_ijk = Γ_ikj; so C = ½ ∂h/∂u, which takes no derivative of
M.  That Ṁ = C + Cᵀ, and Ṁ − 2C is skew, follows from Γ, and Γ follows from it: nothing else has both properties.
"""

from __future__ import annotations

from fractions import Fraction

from kanecore.graph.calculus import Tangent
from kanecore.graph.decide import equal

from .derivation import Derivation
from .kane import active_forces, same_field, weights
from .lagrange import Lagrange
from .vectors import dot

__all__ = ["coriolis_matrix", "gravity_forces", "why_no_coriolis_matrix", "why_no_gravity_forces"]

HALF = Fraction(1, 2)
FIRST_ORDER = "its equations are of first order, in q and p: ask the model that they were made of"


def coriolis_matrix(derivation: Derivation) -> list[list[int]]:
    """C(q, u), row by row."""
    g, terms = derivation.graph, _velocity_terms(derivation)
    columns = [Tangent(g, {u: g.constant(HALF)}).of for u in derivation.description.speeds]
    return [[of(h) for of in columns] for h in terms]


def _velocity_terms(derivation: Derivation) -> list[int]:
    """h(q, u) = −F* at u̇ = 0."""
    forces = derivation.formulation.inertia_forces([0] * len(derivation.description.speeds))
    return [derivation.graph.neg(f) for f in forces]


def why_no_coriolis_matrix(derivation: Derivation) -> str:
    """What keeps a model from having C; empty where nothing does."""
    d = derivation.description
    if d.first_order is not None:
        return FIRST_ORDER
    if d.rates != d.speeds:
        return "Christoffel symbols are of M(q) with qdot = u, and its kinematical equations say otherwise"
    if derivation.has_inertial_loads:
        return "some of its loads hold udot, and its mass matrix is not that of its bodies alone"
    if not _is_quadratic(derivation.copy()):
        return (
            "its inertia forces are not those of a kinetic energy ½ uᵀ M(q) u: of prescribed motions, masses that "
            "change, velocities that are not derivatives of positions, or another Lagrangian"
        )
    return ""


def _is_quadratic(derivation: Derivation) -> bool:
    """Whether h = C u and Ṁ = C + Cᵀ, at random states: on a copy, since what is asked leaves nodes behind."""
    g, d = derivation.graph, derivation.description
    terms, c = _velocity_terms(derivation), coriolis_matrix(derivation)
    along = Tangent(g, derivation.kinematics.seeds).of
    pairs = [(dot(g, row, d.speeds), h) for row, h in zip(c, terms, strict=True)]
    if not equal(g, pairs, otherwise=False):
        return False
    m = derivation.mass_matrix
    rates = [(along(m[i][j]), g.add(c[i][j], c[j][i])) for i in range(len(m)) for j in range(i + 1)]
    return equal(g, rates, otherwise=False)


def gravity_forces(derivation: Derivation) -> list[int]:
    """The forces g = −F of all weights m γ at mass centres, and of potential energies that were given as such."""
    g, k, d = derivation.graph, derivation.kinematics, derivation.description
    forces = active_forces(k, [d.loads[i] for i in weights(k)], d.potentials)
    if isinstance(derivation.formulation, Lagrange):
        forces = [g.add(a, b) for a, b in zip(forces, derivation.formulation.conservative(), strict=True)]
    return [g.neg(f) for f in forces]


def why_no_gravity_forces(derivation: Derivation) -> str:
    """What keeps a model from having g; empty where nothing does, as where there is no gravity."""
    k, d = derivation.kinematics, derivation.description
    if d.first_order is not None:
        return FIRST_ORDER
    fields = weights(k)
    first = next(iter(fields), -1)
    other = next((i for i in fields if not same_field(k, fields[first], fields[i])), -1)
    if other >= 0:
        names = " and ".join(f"{number} at {d.points[d.loads[number].at].name}" for number in (first, other))
        return f"forces m γ on mass centres have more than one γ, so that nothing tells which are weights: {names}"
    return ""
