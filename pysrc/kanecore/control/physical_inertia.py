# SPDX-License-Identifier: BSD-3-Clause
"""Physically consistent inertial parameters, nearest to given ones, under linear equations.

A body is physical if its pseudo-inertia P = [[S, m c], [m cᵀ, m]] is positive definite, where S = ½ tr(I) 1 − I, and I
and c are relative to the body's first point (Wensing, Kim & Slotine, *IEEE Robotics and Automation Letters* 3, 2018).
The distance is Σ tr(P P0⁻¹) − log det(P P0⁻¹) over all bodies.  It is convex, grows without bound towards the border,
and is the same in all units and axes (Lee, Wensing & Park, *IEEE Transactions on Robotics* 36, 2020).  Newton's method
finds the multipliers of the equations, starting from P0.  They minimize a convex function without constraints, which
has no minimum if no solid bodies satisfy the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanecore.kernels import ENTRIES

__all__ = ["is_physical", "least_change", "nearest_physical", "pseudo_inertia", "sizes", "solid"]

Array = npt.NDArray[np.float64]

_STEPS = 200
_DECREASE = 0.1  # share of a predicted decrease: Boyd & Vandenberghe, Convex Optimization, 2004, section 9.5
_NEAR = 0.05  # predicted decrease, of a self-concordant function, below which full steps square the residual
_SHORTEST = 1e-10  # shortest part of a step: if the value is not less there, no step helps
_MET = 1e-12  # tolerance of equations with rows of size one, relative to the largest z
_THIN = 1e-2
"""Extent of a thin prior, relative to the body's largest axis; mass of a massless prior, relative to the others.
"""
_DEFINITE = 1e-9  # least ratio of eigenvalues of P in units of its diagonal: a flatter prior has no log det


def pseudo_inertia(parameters: Array) -> Array:
    """P from π, (..., 4, 4) from (..., 10)."""
    result = np.zeros((*parameters.shape[:-1], 4, 4))
    inertia = np.zeros((*parameters.shape[:-1], 3, 3))
    for (i, j), value in zip(ENTRIES, np.moveaxis(parameters[..., 4:], -1, 0), strict=True):
        inertia[..., i, j] = inertia[..., j, i] = value
    half_trace = 0.5 * np.trace(inertia, axis1=-2, axis2=-1)
    result[..., :3, :3] = half_trace[..., np.newaxis, np.newaxis] * np.eye(3) - inertia
    result[..., :3, 3] = result[..., 3, :3] = parameters[..., 1:4]
    result[..., 3, 3] = parameters[..., 0]
    return result


def sizes(parameters: Array) -> Array:
    """Reference magnitude of the entries of π, (..., 10): mass, mass times extent, and moments of inertia."""
    p = np.abs(np.diagonal(pseudo_inertia(parameters), axis1=-2, axis2=-1))
    mass, second = p[..., 3:], p[..., :3].sum(axis=-1, keepdims=True)
    first = np.sqrt(mass * second)
    return np.concatenate([mass, np.repeat(first, 3, axis=-1), np.repeat(second, 6, axis=-1)], axis=-1)


def nearest_physical(
    prior: Array, particles: npt.NDArray[np.bool_], rotors: Array, matrix: Array, values: Array
) -> tuple[Array, Array] | None:
    """π, with each P positive definite, and positive J, with ``matrix @ [π, J] = values``; None if none were found.

    Parameters
    ----------
    prior : ndarray, (n_bodies, 10)
        Parameters of no solid body are made physical first: see `solid`.
    particles : ndarray of bool, (n_bodies,)
        Bodies with a mass only.
    rotors : ndarray, (k,)
        Positive references J0 of J, as P0 of P.
    matrix : ndarray, (n, 10 * n_bodies + k)
        Matrix with independent rows.
    values : ndarray, (n,)
    """
    problem = _Problem.of(solid(prior, particles), particles, rotors, matrix, values)
    z = problem.solve()
    if z is None:
        return None
    found = problem.turned @ z
    return found[: prior.size].reshape(prior.shape), found[prior.size :]


def least_change(prior: Array, particles: npt.NDArray[np.bool_], matrix: Array, values: Array) -> Array:
    """π with ``matrix @ π = values`` and the least change, in units of the size of such solids."""
    turned = _Problem.of(solid(prior, particles), particles, np.zeros(0), matrix, values).turned
    rows = matrix @ turned
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    rest = (values - matrix @ prior.ravel()) / size[:, 0]
    return np.asarray(prior + (turned @ np.linalg.lstsq(rows / size, rest, rcond=None)[0]).reshape(prior.shape))


def solid(prior: Array, particles: npt.NDArray[np.bool_] | None = None) -> Array:
    """Prior in which each body has mass and extent in all directions.

    A body without mass gets a hundredth of the mean mass.  A body that is thin in a direction gets a hundredth of its
    largest second moment there.  A point gets a hundredth of the second moment that the other bodies have for their
    mass.
    """
    result = prior.copy()
    masses = prior[:, 0]
    heavy = masses > 0.0
    usual = float(masses[heavy].mean()) if heavy.any() else 1.0
    second = np.einsum("kii->k", np.maximum(pseudo_inertia(prior)[:, :3, :3], 0.0))
    square = float(second[heavy].sum() / masses[heavy].sum()) if heavy.any() and second[heavy].any() else 1.0
    for k, body in enumerate(prior):
        mass = masses[k] if heavy[k] else _THIN * usual
        if particles is not None and particles[k]:
            result[k] = [mass, *[0.0] * 9]
            continue
        p = pseudo_inertia(body)
        if heavy[k] and _definite(p):
            continue
        centre = body[1:4] / mass if heavy[k] else np.zeros(3)
        central, axes = np.linalg.eigh(p[:3, :3] - mass * np.outer(centre, centre))
        extent = central[-1] if central[-1] > 0.0 else mass * square
        central = axes @ np.diag(np.maximum(central, _THIN * extent)) @ axes.T
        p[:3, :3] = central + mass * np.outer(centre, centre)
        p[:3, 3] = p[3, :3] = mass * centre
        p[3, 3] = mass
        result[k] = _LINEAR @ p.ravel()
    return result


def is_physical(parameters: Array) -> bool:
    """Test whether no P has a negative eigenvalue, in units of its diagonal; thin bodies pass."""
    return bool((_eigenvalues(pseudo_inertia(parameters)) >= -_DEFINITE).all())


def _definite(p: Array) -> bool:
    values = _eigenvalues(p)
    return bool((np.diagonal(p) > 0.0).all() and values[0] > _DEFINITE * values[-1])


def _eigenvalues(p: Array) -> Array:
    """Eigenvalues of P in units of its diagonal, in ascending order, (..., 4)."""
    size = np.sqrt(np.abs(np.diagonal(p, axis1=-2, axis2=-1)))
    size = np.where(size > 0.0, size, 1.0)
    return np.asarray(np.linalg.eigvalsh(p / (size[..., np.newaxis] * size[..., np.newaxis, :])))


def _of_pseudo_inertia() -> Array:
    """The linear map π = L vec P."""
    result = np.zeros((10, 4, 4))
    result[0, 3, 3] = 1.0
    for axis in range(3):
        result[1 + axis, axis, 3] = 1.0
    for k, (i, j) in enumerate(ENTRIES):
        result[4 + k, i, j] -= 1.0
        if i == j:
            result[4 + k, range(3), range(3)] += 1.0
    return result.reshape(10, 16)


def _symmetric() -> Array:
    """An orthonormal basis of symmetric 4×4 matrices: (10, 4, 4)."""
    basis = []
    for i in range(4):
        for j in range(i, 4):
            entry = np.zeros((4, 4))
            entry[i, j] = entry[j, i] = 1.0 if i == j else np.sqrt(0.5)
            basis.append(entry)
    return np.array(basis)


_LINEAR = _of_pseudo_inertia()
_BASIS = _symmetric()


@dataclass(frozen=True)
class _Problem:
    """Search for physical inertial parameters in scaled unknowns z.

    A solid has P = L Q Lᵀ with P0 = L Lᵀ and Q = Σ z_k E_k, a particle m = z m0, a rotor J = z J0.

    Attributes
    ----------
    turned : ndarray
        Matrix of [π, J] = turned @ z.
    rows, right : ndarray
        The equations rows @ z = right, each row of size one.
    parts : tuple of slice
        Places of the z of each body and rotor.
    """

    turned: Array
    rows: Array
    right: Array
    parts: tuple[slice, ...]

    @classmethod
    def of(
        cls, solid: Array, particles: npt.NDArray[np.bool_], rotors: Array, matrix: Array, values: Array
    ) -> _Problem:
        blocks = []
        for body, alone in zip(solid, particles, strict=True):
            if alone:
                block = body[:, np.newaxis]
            else:
                root = np.linalg.cholesky(pseudo_inertia(body))
                block = _LINEAR @ (root @ _BASIS @ root.T).reshape(10, 16).T
            blocks.append(block)
        blocks += [np.array([[value]]) for value in rotors]
        heights, widths = (np.cumsum([0, *(block.shape[axis] for block in blocks)]) for axis in (0, 1))
        turned, parts = np.zeros((heights[-1], widths[-1])), []
        for k, block in enumerate(blocks):
            parts.append(slice(int(widths[k]), int(widths[k + 1])))
            turned[heights[k] : heights[k + 1], parts[-1]] = block
        rows = matrix @ turned
        size = np.linalg.norm(rows, axis=1)
        return cls(turned, rows / size[:, np.newaxis], values / size, tuple(parts))

    def solve(self) -> Array | None:
        """The z of the least distance; None if no positive definite Q satisfy the equations.

        The multipliers m with Q⁻¹ = 1 + Σ (Cᵀ m)_k E_k minimize right·m − log det Q⁻¹, starting from 0.
        """
        multipliers, last = np.zeros(len(self.right)), np.inf
        value, z, spread = self._dual(multipliers)
        for _ in range(_STEPS):
            slope, rows = self.right - self.rows @ z, self.rows @ spread
            step = -np.linalg.lstsq(rows.T, np.linalg.lstsq(rows, slope, rcond=None)[0], rcond=None)[0]
            promised, share = -float(slope @ step), 1.0
            if last < _NEAR and promised > 0.25 * last:
                break  # only rounding is left
            trial = self._dual(multipliers + step)
            while promised >= _NEAR and not trial[0] <= value - _DECREASE * share * promised and share > _SHORTEST:
                share *= 0.5
                trial = self._dual(multipliers + share * step)
            if not np.isfinite(trial[0]):
                break
            multipliers, last = multipliers + share * step, promised
            value, z, spread = trial
        for _ in range(2):  # the residual of the equations, by least change in the metric of z
            z = z + spread @ np.linalg.lstsq(self.rows @ spread, self.right - self.rows @ z, rcond=None)[0]
        missed = np.abs(self.right - self.rows @ z)
        if np.max(missed, initial=0.0) > _MET * np.max(np.abs(z), initial=0.0):
            return None
        inside = all(np.linalg.eigvalsh(q)[0] > 0.0 for _, _, q in self._matrices(z))
        return z if inside else None

    def _matrices(self, z: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Place, basis and matrix of each part: the matrix is (1, 1) for a particle or a rotor."""
        for place in self.parts:
            basis = np.ones((1, 1, 1)) if place.stop - place.start == 1 else _BASIS
            yield place, basis, np.tensordot(z[place], basis, 1)

    def _dual(self, multipliers: Array) -> tuple[float, Array, Array]:
        """Dual objective, infinite outside its domain; z at the multipliers, and K of dz/d(−Cᵀ m) = K Kᵀ."""
        n = self.rows.shape[1]
        value, z, spread = float(self.right @ multipliers), np.zeros(n), np.zeros((n, n))
        for place, basis, part in self._matrices(self.rows.T @ multipliers):
            inverse = np.eye(len(part)) + part
            values, axes = np.linalg.eigh(inverse)
            if not values[0] > 0.0:
                return np.inf, z, spread
            root = axes / np.sqrt(values)
            q = root @ root.T
            value -= float(np.sum(np.log(values)))
            z[place] = np.einsum("kij,ij->k", basis, q)
            # tr(E_k Q E_l Q) is the product of the rows of root' E_k root
            turned = np.einsum("ai,kab,bj->kij", root, basis, root).reshape(len(basis), -1)
            spread[place, place] = np.asarray(np.linalg.qr(turned.T, mode="r")).T
        return value, z, spread
