# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about principles with their own equations of motion.

The rows use loads, masses, velocities and T.  A row that checks F, F*, M or f does not use the checked quantity
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kanecore.audit.force_audit import displacement_gap, lagrange_powers, potential_works, why_not_energy
from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.verdicts import BY_DIFFERENCES, BY_SOLUTION, NotApplicable, Row, judged
from kanecore.rank import equilibrated, pivots
from kanecore.run.numerical_derivatives import Slope
from kanecore.tolerances import EQUAL, RANK

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]
Speeds = Callable[[Array, Array, Array], Array]

_DEFINITE = 1e-9  # relative to the largest eigenvalue of M, in its own metric: smaller ones decide nothing
_REACHED = 1e-6  # relative to a rate of coordinates: a smaller part outside the speeds' range may be rounding


def _known(b: Bodies) -> Bodies:
    """The bodies, with zero multipliers for freed constraints with unknown places."""
    b.require_bodies()
    if not b.unlocated:
        return b
    r = b.states.r.copy()
    r[:, b.unlocated] = 0.0
    return Bodies(replace(b.states, r=r))


# ------------------------------------------------------------------------------------------------ accelerations


def _gauss(name: str, b: Bodies) -> Row:
    """Row for Gauss's principle: among all allowed u̇ the motion's has the least Z = ½ Σ (m a − R)²/m.

    Up to a constant Z is ½ Σ m a·a − R·a.  In u̇ = u̇₀ + P z it is quadratic: momenta are linear in the speeds, so
    their derivatives by u̇ are exact.  The distance to the minimum is measured in the metric of the masses.
    """
    b = _known(b)
    if b.has_inertial_loads:
        raise NotApplicable("loads hold udot, and Z is to be varied with given forces")
    states, allowed = b.states, np.moveaxis(b.states.allowed, -1, 0)
    if not len(allowed):
        raise NotApplicable("the constraints allow no motion")
    rates = b.rates_at_random
    moved, pushed = _by_speeds(b, allowed)
    power = _load_power(b, allowed)
    inertia = np.einsum("knbc,nbc->nk", moved, rates.value)
    matrix = np.einsum("knbc,lnbc->nkl", moved, pushed, optimize=True)
    roots = np.sqrt(np.abs(np.einsum("nkk->nk", matrix)))
    values, vectors = np.linalg.eigh(matrix / (roots[:, :, np.newaxis] * roots[:, np.newaxis, :]))
    if not (values[:, 0] > _DEFINITE * values[:, -1]).all():
        raise NotApplicable("the masses do not decide all motions")
    kernel = b.udot - states.udot
    z = np.einsum("nik,ni->nk", np.linalg.pinv(states.allowed).swapaxes(1, 2), kernel)
    slope = (np.einsum("nkl,nl->nk", matrix, z) + inertia - power) / roots
    distance = np.linalg.norm(np.einsum("nik,ni->nk", vectors, slope) / np.sqrt(values), axis=-1)
    sizes = (np.einsum("nkl,nl->nk", np.abs(matrix), np.abs(z)) + np.abs(inertia) + np.abs(power)) / roots
    terms = np.linalg.norm(sizes, axis=-1) / np.sqrt(values[:, 0])
    gaps = np.einsum("knbc,nbc->n", np.abs(moved), rates.uncertainty)
    reason = "other accelerations have less constraint in the sense of Gauss"
    return judged(name, distance, terms, BY_DIFFERENCES, uncertainty=gaps / np.min(roots, axis=-1), reason=reason)


def _by_speeds(b: Bodies, changes: Array) -> tuple[Array, Array]:
    """Changes of v, ω and of m v, I·ω of each body by changes of the speeds (k, n, n_u): (k, n, n_bodies, 6) each."""
    states, speeds = b.states, b.dyn.names.speeds
    places = np.broadcast_to(states.x, (len(changes) + 1, *states.x.shape)).copy()
    places[..., speeds] = 0.0
    places[1:, ..., speeds] = changes
    velocity = states.call("velocities", x=places)[..., b.point, :]
    omega = b.of_frames(states.call("angular_velocities", x=places))
    motion, momenta = np.concatenate([velocity, omega], axis=-1), b.momenta(x=places)
    return motion[1:] - motion[0], momenta[1:] - momenta[0]


def _load_power(b: Bodies, changes: Array) -> Array:
    """Power of loads and potentials along changes of the speeds, (n, k), by partial velocities."""
    states = b.states
    power = np.zeros((len(states.t), len(changes)))
    kinds = ("partial_velocities", "partial_angular_velocities")
    partials = [np.einsum("nprc,knr->knpc", states.call(kind), changes) for kind in kinds]
    vectors = b.load_vectors(b.udot if b.has_inertial_loads else None)
    for i, (kind, place, *_) in enumerate(b.loads):
        power += np.einsum("nc,knc->nk", vectors[:, i], partials[kind][:, :, place])
    if b.dyn.n_potentials:
        dx = np.concatenate([states.coordinate_change(changes), np.zeros_like(changes)], axis=-1)
        power -= np.sum(states.slope("potentials", dx).value, axis=-1).T
    return power


def _jourdain(name: str, b: Bodies) -> Row:
    """Row for Σ (R − m a)·δv + (T + T*)·δω = 0 at the motion's u̇, δv = Σ v_r δu_r at constant positions."""
    b = _known(b)
    states = b.states
    rates = b.rates_of_motion
    moved, _ = _by_speeds(b, states.virtual)
    given = -np.einsum("knbc,nbc->kn", moved, rates.value)
    power = _load_power(b, states.virtual).T
    terms = np.einsum("knbc,nbc->kn", np.abs(moved), np.abs(rates.value)) + np.abs(power)
    gaps = np.einsum("knbc,nbc->kn", np.abs(moved), rates.uncertainty)
    reason = "loads and inertia forces have power along virtual velocities"
    return judged(name, (given + power).T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason=reason)


def _udwadia_kalaba(name: str, b: Bodies) -> Row:
    """Row for u̇ = a + M^(−1/2) (G M^(−1/2))⁺ (−γ − G a), a = M⁻¹ f, with a pseudoinverse in place of multipliers."""
    states, at = b.states, b.states.at
    if not b.dyn.n_constraints:
        raise NotApplicable("there are no constraints")
    if b.has_inertial_loads:
        raise NotApplicable("loads hold udot")
    units = at.speed_units
    mass = at.mass * units[:, :, np.newaxis] * units[:, np.newaxis, :]
    values, vectors = np.linalg.eigh(mass)
    if not (values[:, 0] > _DEFINITE * values[:, -1]).all():
        raise NotApplicable("M is singular, or nearly so, without the constraints")
    root, inverse = (np.einsum("nij,nj,nkj->nik", vectors, values**power, vectors) for power in (0.5, -0.5))
    f = states.call("forcing") * units
    alone = np.einsum("nij,nj->ni", inverse, f)  # M^(1/2) a
    rows = np.einsum("nmi,nij->nmj", at.rows * units[:, np.newaxis, :], inverse)
    missing = -at.bias - np.einsum("nmi,ni->nm", rows, alone)
    sizes = np.linalg.norm(rows, axis=-1)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    least = np.linalg.pinv(rows / sizes[..., np.newaxis], rcond=RANK)
    pull = np.einsum("nim,nm->ni", least, missing / sizes)
    given = np.einsum("nij,nj->ni", root, b.udot / units)
    difference = np.linalg.norm(given - alone - pull, axis=-1)
    terms = np.linalg.norm(alone, axis=-1) + np.linalg.norm(pull, axis=-1)
    return judged(name, difference, terms, BY_SOLUTION, reason="u̇ is not that of the pseudoinverse")


# ------------------------------------------------------------------------------------------- equations with T


def _maggi(name: str, b: Bodies) -> Row:
    """Row for Σ_k (d/dt ∂T/∂q̇_k − ∂T/∂q_k − Q_k) δq_k = 0 at the motion's u̇, along δq that the constraints allow."""
    if not b.dyn.n_constraints:
        raise NotApplicable("there are no constraints: these are Lagrange's equations")
    b = _known(b)
    inertia, terms, gaps = lagrange_powers(b, b.udot)
    vectors = b.load_vectors(b.udot if b.has_inertial_loads else None)
    works = b.virtual_works(vectors)
    total = np.sum(works, axis=-1)
    if b.dyn.n_potentials:
        total = total + np.sum(potential_works(b).value, axis=-1)
    terms = terms + np.sum(np.abs(works), axis=-1) + np.abs(total)
    gaps = gaps + displacement_gap(b, np.abs(vectors))
    reason = "Lagrange's expressions less the forces of loads do work along allowed displacements"
    return judged(name, (total - inertia).T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason=reason)


def _boltzmann_hamel(name: str, b: Bodies) -> Row:
    b.require_bodies()
    if reason := why_not_energy(b):
        raise NotApplicable(reason)
    return _QuasiCoordinates(b, lambda t, x, r: x[..., b.dyn.names.speeds], b.states.virtual).row(name)


def _voronets(name: str, b: Bodies) -> Row:
    """Row for T in independent speeds only; constraints eliminate dependent speeds before differentiation."""
    b.require_bodies()
    states, dyn = b.states, b.dyn
    if not dyn.n_velocity:
        raise NotApplicable("there are no constraints between speeds")
    if dyn.n_constraints > states.rank:
        raise NotApplicable("redundant constraints contradict each other off the constraints")
    if dyn.n_constraints > dyn.n_velocity or not _is_linear(b):
        raise NotApplicable("the constraints are not linear in the speeds")
    if reason := why_not_energy(b):
        raise NotApplicable(reason)
    parts = zip(states.at.rows, states.at.speed_units, strict=True)
    dependent = np.array([pivots(equilibrated(*part), states.rank) for part in parts])
    each = np.arange(len(dependent))[:, np.newaxis]
    keep = np.ones((len(states.t), dyn.n_u), dtype=bool)
    keep[each, dependent] = False

    def speeds(t: Array, x: Array, r: Array) -> Array:
        rows, right = states.call("constraint_jacobian", t=t, x=x, r=r), x[..., dyn.names.speeds].copy()
        given = np.einsum("...mi,...i->...m", rows, right) - states.call("velocity_residual", t=t, x=x, r=r)
        matrix = np.broadcast_to(np.eye(dyn.n_u), (*right.shape, dyn.n_u)).copy()
        matrix[..., each, dependent, :], right[..., each, dependent] = rows, given
        return np.asarray(np.linalg.solve(matrix, right[..., np.newaxis])[..., 0])

    return _QuasiCoordinates(b, speeds, states.virtual * keep).row(name)


def _is_linear(b: Bodies) -> bool:
    """Test whether G is the same at other speeds."""
    states, rows = b.states, b.states.at.rows
    other = states.x.copy()
    other[:, b.dyn.names.speeds] *= -0.5
    size = np.max(np.abs(rows), initial=0.0)
    return bool((np.abs(states.call("constraint_jacobian", x=other) - rows) <= EQUAL * size).all())


@dataclass(frozen=True)
class _QuasiCoordinates:
    """Lagrange's equations in speeds s that are no rates of coordinates: q̇ = Ŷ s + ẑ, and η = Ŷ δs.

        −Σ F*·δu = d/dt (∂T̃/∂s·δs) − ∂T̃/∂q·η − π·(d/dt(Ŷ δs) − ∂(Ŷ s + ẑ)/∂q·η),        π = ∂T/∂q̇,

    where T̃ is T in q and s.  The last term is Boltzmann and Hamel's or, if s are fewer than the speeds u, Voronets',
    with π of all u.  T is quadratic in the speeds, so its derivatives by speeds are exact.

    Attributes
    ----------
    speeds : function of t, x, r
        The speeds u in q and s; s are the entries of x with changes in `change`.
    change : ndarray, (3, n, n_u)
        δs, zero for other speeds.
    """

    b: Bodies
    speeds: Speeds
    change: Array

    def _state(self, t: Array, x: Array, r: Array, factor: float) -> Array:
        """[q, u] at s + factor δs."""
        speeds, change = self.b.dyn.names.speeds, factor * self.change
        x = np.broadcast_to(x, np.broadcast_shapes(x.shape, (*change.shape[:-1], x.shape[-1]))).copy()
        x[..., speeds] += change
        x[..., speeds] = self.speeds(
            np.broadcast_to(t, x.shape[:-1]), x, np.broadcast_to(r, (*x.shape[:-1], r.shape[-1]))
        )
        return x

    def _of(self, kernel: str, t: Array, x: Array, r: Array, factor: float) -> Array:
        return self.b.states.call(kernel, t=t, x=self._state(t, x, r, factor), r=r)

    def _difference(self, kernel: str) -> Callable[[Array, Array, Array], Array]:
        """Half the difference of a kernel at s + δs and s − δs: its derivative by s, exact for degree two in s."""
        return lambda t, x, r: 0.5 * (self._of(kernel, t, x, r, 1.0) - self._of(kernel, t, x, r, -1.0))

    def _sideways(self, function: Callable[[Array, Array, Array], Array], eta: Array) -> Slope:
        """Derivative along η, at constant s."""
        dx = np.concatenate([eta, np.zeros_like(self.change)], axis=-1)
        return self.b.states.along(function, dx, 0.0, np.zeros_like(self.b.states.r))

    def _rate(self, function: Callable[[Array, Array, Array], Array]) -> Slope:
        """Derivative along the motion: by q, t and r, and by s, with separate steps."""
        states, shape = self.b.states, (len(self.change), *self.b.states.x.shape)
        moving = states.motion(np.zeros_like(states.u))
        pushed = states.whole(np.concatenate([np.zeros_like(states.qdot), states.udot], axis=-1))
        first = states.along(function, np.broadcast_to(moving, shape), 1.0, states.input_rates)
        second = states.along(function, np.broadcast_to(pushed, shape), 0.0, np.zeros_like(states.r))
        return Slope(first.value + second.value, first.uncertainty + second.uncertainty)

    def row(self, name: str) -> Row:
        b, states = self.b, self.b.states
        eta = self._difference("qdot")(states.t, states.x, states.r)
        first = self._rate(self._difference("kinetic_energy"))
        second = self._sideways(lambda t, x, r: self._of("kinetic_energy", t, x, r, 0.0), eta)
        turned = self._rate(self._difference("qdot"))
        sheared = self._sideways(lambda t, x, r: self._of("qdot", t, x, r, 0.0), eta)
        third = self._momentum(turned.value - sheared.value)
        forces = np.einsum("nr,knr->kn", states.call("generalized_inertia_forces", states.udot), states.virtual)
        forces = forces - np.sum(b.virtual_works(b.inertial_loads(states.udot)), axis=-1)
        terms = np.abs(forces) + np.abs(first.value) + np.abs(second.value) + np.abs(third)
        gaps = first.uncertainty + second.uncertainty + self._gap(turned, third) + self._gap(sheared, third)
        reason = "T in these speeds gives other inertia forces"
        difference = forces + first.value - second.value - third
        return judged(name, difference.T, terms.T, BY_DIFFERENCES, uncertainty=gaps.T, reason=reason)

    def _momentum(self, rate: Array) -> Array:
        """π·β for a rate β of coordinates with speeds v: p·v = ½ (T(u + v) − T(u − v))."""
        states, matrix = self.b.states, self.b.states.at.rates[0]
        if matrix.shape[-1] > matrix.shape[-2]:
            raise NotApplicable("there are more speeds than coordinates: T is no function of q and their rates")
        units, rows = states.at.speed_units, states.at.coordinate_units
        rows = np.where(rows > 0.0, rows, 1.0)
        scaled = matrix * units[:, np.newaxis, :] / rows[..., np.newaxis]
        v = units * np.einsum("nij,knj->kni", np.linalg.pinv(scaled, rcond=RANK), rate / rows)
        left = np.abs(np.einsum("nij,knj->kni", matrix, v) - rate) / rows
        if (left > _REACHED * np.max(np.abs(rate) / rows, initial=0.0)).any():
            raise NotApplicable("constraints are in the speeds already: T tells no momentum along motions against them")
        speeds = self.b.dyn.names.speeds
        size = np.max(np.abs(v) / states.sizes[speeds], axis=-1, keepdims=True, initial=0.0)
        size = np.where(size > 0.0, size, 1.0)  # a v of another size than u would lose digits
        places = np.broadcast_to(states.x, (*v.shape[:-1], states.x.shape[-1])).copy()
        places[..., speeds] += v / size
        ahead = states.call("kinetic_energy", x=places)
        places[..., speeds] -= 2.0 * v / size
        return np.asarray(0.5 * size[..., 0] * (ahead - states.call("kinetic_energy", x=places)))

    @staticmethod
    def _gap(slope: Slope, value: Array) -> Array:
        """Uncertainty of a product with rates due to a slope of rates."""
        size = np.max(np.abs(slope.value), axis=-1, initial=0.0)
        share = np.max(slope.uncertainty, axis=-1, initial=0.0) / np.where(size > 0.0, size, 1.0)
        return np.asarray(share * np.abs(value))


CHECKS: tuple[tuple[str, Callable[[str, Bodies], Row]], ...] = (
    ("virtual power at u̇ is zero (Jourdain)", _jourdain),
    ("u̇ has the least constraint (Gauss)", _gauss),
    ("u̇ = pseudoinverse of G (Udwadia-Kalaba)", _udwadia_kalaba),
    ("Lagrange less Q at u̇ is zero (Maggi)", _maggi),
    ("inertia forces F* = Boltzmann-Hamel", _boltzmann_hamel),
    ("inertia forces F* = Voronets", _voronets),
)
"""The rows, and how each is found."""
