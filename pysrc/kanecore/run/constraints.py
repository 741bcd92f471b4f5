# SPDX-License-Identifier: BSD-3-Clause
"""Constraints at numbers: residuals, rank and integrability, states that satisfy them, Kane's nonholonomic quantities.

All of it stands on the kernels φ, ∂φ/∂q, c, G and ``project`` of a compiled model; rows are compared after division by
their largest coefficients, so that residuals are in the units of the coordinates and of the speeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, NonFiniteError, SingularError

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["Check", "check", "consistent", "dependence", "residuals", "settle_rank"]

Array = npt.NDArray[np.float64]

FEASIBLE = 1e-6  # residual of a state that is taken to be on the constraints
_RANK = 1e-9  # a singular value this small beside the largest, in rows of equal size, is none
_DECIDES = 1e-6  # the same of dependent columns: Newton's method ends at the root of rounding from a dead point
_SOLVED = 1e-9  # residual that is left where constraints can be satisfied
_ITERATIONS = 60
_DAMPING = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3, 1e5)  # of Newton's steps, beside the largest singular value squared
_STEP = 1e-4  # of the differences for integrability
_BRACKET = 1e-5  # what is left of a Lie bracket of integrable constraints: the error of the differences


# ------------------------------------------------------------------------------------------------ residuals


def residuals(dyn: CompiledModel, t: npt.ArrayLike, x: npt.ArrayLike, **values: Any) -> Array:
    """φ, then c, each divided by the largest coefficient of its row: (..., n_configuration + n_velocity).

    ``values`` are r and p, as of the kernels.
    """
    phi = dyn.configuration_residual(t, x, **values) / _size(dyn.configuration_jacobian(t, x, **values))
    rows = dyn.constraint_jacobian(t, x, **values)[..., : dyn.n_velocity, :]
    return np.concatenate([phi, dyn.velocity_residual(t, x, **values) / _size(rows)], axis=-1)


def residual_names(dyn: CompiledModel) -> list[str]:
    """Of the entries of `residuals`; the derivative of a configuration constraint bears its name."""
    names = [f"configuration constraint {i}" for i in range(dyn.n_configuration)]
    for name in dyn.constraint_names[: dyn.n_velocity]:
        names.append(f"rate of {name}" if name.startswith("configuration") else name)
    return names


def named_residuals(dyn: CompiledModel, found: Array, limit: float) -> str:
    """``'name' (value), ...`` of those above a limit, the largest first."""
    order = np.argsort(-np.abs(found), kind="stable")
    names = residual_names(dyn)
    return ", ".join(f"{names[i]!r} ({found[i]:.3g})" for i in order if not abs(found[i]) <= limit)


def _scaled(value: Array, rows: Array) -> tuple[Array, Array]:
    """Residuals and their rows, divided by the largest coefficients of the rows."""
    size = _size(rows)
    return value / size, rows / size[..., np.newaxis]


def _even(rows: Array) -> Array:
    """Rows of equal size."""
    return np.asarray(rows / _size(rows)[..., np.newaxis])


def _size(rows: Array) -> Array:
    size = np.max(np.abs(rows), axis=-1, initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def _rank(rows: Array) -> int:
    """Of one matrix, in rows of equal size."""
    if not rows.size:
        return 0
    s = np.linalg.svd(_even(rows), compute_uv=False)
    return int(np.sum(s > _RANK * s[0])) if s[0] > 0.0 else 0


# ------------------------------------------------------------------------------- nonholonomic quantities


def dependence(dyn: CompiledModel, t: npt.ArrayLike, x: npt.ArrayLike, **values: Any) -> Array:
    """A_n of u̇_dep = A_n u̇_ind + ..., (..., n_u_dependent, dof): Kane & Levinson 1985, section 2.13.

    Raises
    ------
    ModelError
        The dependent speeds that the model was described with are not as many as G has independent rows.
    SingularError
        At a state they cannot be told from the independent ones; others can.
    """
    n = dyn.n_u_dependent
    if n != dyn._rank:
        raise ModelError(
            f"nonholonomic=True needs to know the dependent speeds: {dyn._rank} of the {dyn.n_constraints} constraint "
            f"rows of {dyn.name!r} are independent, and its description names {n} in u_dependent; name u_dependent "
            "there, as many as independent rows (dyn.check() lists those that are redundant)"
        )
    rows = dyn.constraint_jacobian(t, x, **values)
    if n == 0:
        return np.zeros((*rows.shape[:-2], 0, dyn.n_u))
    rows = _even(rows)
    independent, dependent = rows[..., :-n], rows[..., -n:]
    left, s, right = np.linalg.svd(dependent, full_matrices=False)
    lost = ~(s[..., n - 1] > _RANK)  # rows have entries of one
    if lost.any():
        where = np.unravel_index(int(np.argmax(lost)), lost.shape)
        state = np.broadcast_to(np.asarray(x, dtype=np.float64), (*lost.shape, dyn.n_x))[where]
        time = float(np.broadcast_to(np.asarray(t, dtype=np.float64), lost.shape)[where])
        names = ", ".join(dyn.speed_names[-n:])
        raise SingularError(
            f"the dependent speeds {names} of {dyn.name!r} do not follow from the others at t = {time!r}, x = "
            f"{state.tolist()!r} (a dead point): describe it with other dependent speeds; u̇ needs none",
            t=time,
            x=state,
            rows=np.flatnonzero(lost) if lost.ndim else None,
        )
    inverse = np.swapaxes(right, -1, -2) / s[..., np.newaxis, :] @ np.swapaxes(left, -1, -2)
    return np.asarray(-inverse @ independent)


def nonholonomic(
    dyn: CompiledModel, kind: str, t: npt.ArrayLike, x: npt.ArrayLike, udot: Any, remainder: bool, out: Any, values: Any
) -> Array:
    """The nonholonomic counterpart of a kernel, by A_n; for the meaning see the kernels."""
    a = dependence(dyn, t, x, **values)
    dof = dyn.n_u - dyn.n_u_dependent
    kernel = getattr(dyn, kind)
    if remainder:
        if dyn.n_velocity < dyn.n_constraints:
            raise ModelError(f"{dyn.name!r} has constraints on accelerations, which say nothing of velocities")
        # u_dep = A_n u_ind + b with b from c(q, u, t) = 0, linear about u
        rows = dyn.constraint_jacobian(t, x, **values)
        c, rows = _scaled(dyn.velocity_residual(t, x, **values), rows)
        u = np.asarray(x, dtype=np.float64)[..., dyn.n_q :]
        b = u[..., dof:] - np.einsum("...ij,...j->...i", a, u[..., :dof])
        b = b - np.einsum("...ij,...j->...i", np.linalg.pinv(rows[..., dof:], rcond=_RANK), c)
        full = np.asarray(kernel(t, x, **values))
        result = kernel(t, x, remainder=True, **values) + np.einsum("...pik,...i->...pk", full[..., dof:, :], b)
    elif kind.startswith("partial"):
        full = np.asarray(kernel(t, x, **values))
        result = full[..., :dof, :] + np.einsum("...pik,...ij->...pjk", full[..., dof:, :], a)
    else:
        full = np.asarray(kernel(*((t, x) if udot is None else (t, x, udot)), **values))
        result = full[..., :dof] + np.einsum("...i,...ij->...j", full[..., dof:], a)
    if out is None:
        return np.asarray(result)
    if not (isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == result.shape):
        raise ValueError(f"out must be a float64 array of shape {result.shape}")
    out[...] = result
    return out


# ------------------------------------------------------------------------------------- consistent states


def consistent(
    dyn: CompiledModel,
    t: float,
    x: npt.ArrayLike,
    keep: str | None = "independent",
    *,
    r: Any = None,
    p: Any = None,
) -> Array:
    """A state on the constraints, from one that need not be: (n_x,).

    Parameters
    ----------
    t : float
    x : array_like, (n_x,)
    keep : {"independent", None}
        ``"independent"``: q_ind and u_ind stay, the dependent ones are solved for, starting from their values in x.
        Where that cannot be done (a dead point, dependent ones that the model was described without), and with None:
        the state that takes the least change, weighted by mass.
    r, p : optional
        Inputs and parameters, as of the kernels.

    Raises
    ------
    ModelError
        No state on the constraints was found near x; with the residuals by name.
    ValueError, TypeError, KeyError
        As the kernels.
    """
    if keep not in ("independent", None):
        raise ValueError(f"keep is {keep!r}; it must be 'independent' or None")
    given = np.array(x, dtype=np.float64)
    if given.shape != (dyn.n_x,):
        raise ValueError(f"x has shape {given.shape}; it must be ({dyn.n_x},)")
    if not np.isfinite(given).all():
        raise ValueError(f"x is {given.tolist()}, which is not finite")
    values = {"r": r, "p": p}
    _normalise(dyn, given)
    if not (dyn.n_constraints or dyn.n_configuration):
        return given
    result = None
    if keep is not None:
        result = _dependent(dyn, t, given, values)
    if result is None:
        result = _nearest(dyn, t, given, values)
    settle_rank(dyn, t, result, **values)
    return result


def _normalise(dyn: CompiledModel, x: Array) -> None:
    """Divide the unit quaternions of a state by their norms."""
    for quaternion in dyn.unit:
        places = list(quaternion)
        x[places] /= np.linalg.norm(x[places]) or 1.0


def _dependent(dyn: CompiledModel, t: float, x: Array, values: dict[str, Any]) -> Array | None:
    """The dependent coordinates and speeds for given independent ones; None where these do not decide them."""
    found: Array | None = x.copy()
    if dyn.n_configuration:
        found = _newton(dyn, "coordinates", t, x, slice(dyn.n_q - dyn.n_q_dependent, dyn.n_q), values)
        if found is not None and any(abs(np.linalg.norm(found[list(e)]) - 1.0) > 1e-14 for e in dyn.unit):
            return None  # the coordinates that stay are no part of a unit quaternion
    if found is not None and dyn.n_velocity:
        found = _newton(dyn, "speeds", t, found, slice(dyn.n_x - dyn.n_u_dependent, dyn.n_x), values)
    return found


def _newton(
    dyn: CompiledModel, level: str, t: float, x: Array, at: slice | None, values: dict[str, Any]
) -> Array | None:
    """Solve φ = 0, or c = 0, for x[at] by Newton steps of least norm, shortened after Levenberg and Marquardt.

    None where it stalls, or the columns ``at`` have a lower rank than all coordinates or speeds, which None stands for.
    """

    def residual(x: Array) -> Array:
        kernel = dyn.configuration_residual if level == "coordinates" else dyn.velocity_residual
        return kernel(t, x, **values)

    def jacobian(x: Array) -> Array:
        if level == "speeds":
            return np.asarray(dyn.constraint_jacobian(t, x, **values)[: dyn.n_velocity])
        rows = dyn.configuration_jacobian(t, x, **values)
        if whole:  # changes along a unit quaternion are none
            for quaternion in dyn.unit:
                places = list(quaternion)
                rows[:, places] -= np.outer(rows[:, places] @ x[places], x[places])
        return rows

    columns = slice(0, dyn.n_q) if level == "coordinates" else slice(dyn.n_q, dyn.n_x)
    whole = at is None
    at = columns if at is None else at
    x = x.copy()
    part = slice(at.start - columns.start, at.stop - columns.start)
    found, rows = residual(x), jacobian(x)
    for _ in range(_ITERATIONS):
        scale = _size(rows)
        size = float(np.linalg.norm(found / scale))
        if size == 0.0:
            break
        left, s, right = np.linalg.svd(rows[:, part] / scale[:, np.newaxis], full_matrices=False)
        along, largest = left.T @ (found / scale), np.max(s, initial=0.0)
        for damping in _DAMPING:
            trial = x.copy()
            inverse = np.divide(s, s**2 + damping * largest**2, out=np.zeros_like(s), where=s > _RANK * largest)
            trial[at] -= right.T @ (inverse * along)
            if whole:
                _normalise(dyn, trial)
            try:
                now, rows_now = residual(trial), jacobian(trial)
            except NonFiniteError:  # a step so long that the constraints are not defined there
                continue
            left_over = float(np.linalg.norm(now / scale))
            if left_over < size:
                break
        else:
            break  # rounding, or stuck
        x, found, rows = trial, now, rows_now
        if not left_over < 0.5 * size and left_over < 1e-14:
            break
    error, rows = _scaled(found, rows)
    if not np.max(np.abs(error), initial=0.0) <= _SOLVED:
        return None
    if not whole:
        decided, restricted = (np.linalg.svd(a, compute_uv=False) > _DECIDES for a in (rows[:, part], rows))
        if np.sum(decided) < np.sum(restricted):
            return None
    return x


def _nearest(dyn: CompiledModel, t: float, x: Array, values: dict[str, Any]) -> Array:
    """The state of least change that is on the constraints."""
    try:
        near = np.asarray(dyn._project(t, x, **values))
        if np.max(np.abs(residuals(dyn, t, near, **values)), initial=0.0) <= _SOLVED:
            return near
    except SingularError:
        pass
    # from further away, or where no motion leads there: damped steps to a configuration, then to speeds
    found: Array | None = x
    if dyn.n_configuration:
        found = _newton(dyn, "coordinates", t, x, None, values)
    if found is not None and dyn.n_velocity:
        found = _newton(dyn, "speeds", t, found, None, values)
    if found is not None:
        try:
            return np.asarray(dyn._project(t, found, **values))
        except SingularError:
            x = found
    left = named_residuals(dyn, residuals(dyn, t, x, **values), _SOLVED)
    raise ModelError(
        f"no state of {dyn.name!r} near t = {t!r}, x = {x.tolist()!r} satisfies its constraints; what is left there: "
        f"{left}; do they contradict each other with these parameters? Otherwise start from a better guess"
    )


# ------------------------------------------------------------------------------------------------- check


@dataclass(frozen=True)
class Check:
    """What `CompiledModel.check` found at one state on the constraints; ``str()`` says it in words.

    Attributes
    ----------
    t, x : float, ndarray
        Where; ``x`` is on the constraints.
    n_constraints, rank, dof : int
        Rows of G, how many of them are independent at this state, and n_u − rank.
    typical_rank : int
        The rank at states on the constraints nearby; where it is larger this one is singular (a dead point).
    redundant : tuple of str
        Rows that follow from those before them.
    residuals : dict of str to float
        Of the state that was given, in units of coordinates and speeds.
    condition : float
        Of the independent part of G, in rows of equal size: largest by smallest singular value.
    mass_condition : float
        Of the mass matrix of the motions that the constraints allow, in speeds as they are.
    integrable : bool or None
        Whether all constraints on velocities together follow from some on coordinates (Frobenius); None where they are
        not linear in the speeds, where some speed is the rate of no coordinate, or there are none.
    """

    name: str
    t: float
    x: Array
    n_constraints: int
    rank: int
    typical_rank: int
    dof: int
    redundant: tuple[str, ...]
    residuals: dict[str, float]
    condition: float
    mass_condition: float
    integrable: bool | None

    def __str__(self) -> str:
        dof = "1 degree of freedom" if self.dof == 1 else f"{self.dof} degrees of freedom"
        rows = f"{self.n_constraints} constraint row{'s' * (self.n_constraints != 1)} of rank {self.rank}, {dof}"
        lines = [f"{self.name} at t = {self.t:g}: {rows}"]
        if self.rank < self.typical_rank:
            lines.append(f"singular: the rank is {self.typical_rank} at states nearby")
        if self.redundant:
            lines.append(f"redundant: {', '.join(self.redundant)}")
        worst = max(self.residuals, key=lambda name: abs(self.residuals[name]), default=None)
        if worst is not None:
            lines.append(f"largest residual of the state given: {self.residuals[worst]:.3g}, of {worst}")
        if self.n_constraints:
            lines.append(f"condition: constraints {self.condition:.3g}, mass matrix {self.mass_condition:.3g}")
        if self.integrable is not None:
            lines.append(
                "holonomic: together the constraints on velocities are integrable"
                if self.integrable
                else "nonholonomic: together the constraints on velocities are not integrable"
            )
        return "\n".join(lines)


def check(dyn: CompiledModel, x: npt.ArrayLike | None = None, t: float = 0.0, *, r: Any = None, p: Any = None) -> Check:
    """Rank, redundancy, consistency, condition and integrability of the constraints at a state.

    Parameters
    ----------
    x : array_like, (n_x,), optional
        Default: a state on the constraints near a random one, always the same.
    t : float
    r, p : optional
        Inputs and parameters, as of the kernels.

    Returns
    -------
    Check
        A state that is not on the constraints is brought there first, with the least change.

    Raises
    ------
    ModelError
        No state on the constraints was found; with the residuals by name.
    """
    values = {"r": r, "p": p}
    given = _some_state(dyn, t, values) if x is None else np.asarray(x, dtype=np.float64)
    if not np.isfinite(given).all():
        raise ValueError(f"x is {given.tolist()}, which is not finite")
    left = residuals(dyn, t, given, **values) if dyn.n_constraints or dyn.n_configuration else np.zeros(0)
    near = given if np.max(np.abs(left), initial=0.0) <= _SOLVED else consistent(dyn, t, given, None, **values)
    typical = settle_rank(dyn, t, near, **values)
    rows = dyn.constraint_jacobian(t, near, **values)
    rank = _rank(rows)
    redundant, kept = [], 0
    for i, name in enumerate(dyn.constraint_names):
        now = _rank(rows[: i + 1])
        if now == kept:
            redundant.append(name)
        kept = now
    condition, allowed = 1.0, np.eye(dyn.n_u)
    if rank:
        _, s, right = np.linalg.svd(_even(rows))
        condition, allowed = float(s[0] / s[rank - 1]), right[rank:].T
    mass = np.linalg.eigvalsh(allowed.T @ dyn.mass_matrix(t, near, **values) @ allowed)
    smallest = float(np.min(mass, initial=np.inf))
    return Check(
        name=dyn.name,
        t=float(t),
        x=np.array(near),
        n_constraints=dyn.n_constraints,
        rank=rank,
        typical_rank=typical,
        dof=dyn.n_u - rank,
        redundant=tuple(redundant),
        residuals=dict(zip(residual_names(dyn), left.tolist(), strict=True)),
        condition=condition,
        mass_condition=float(np.max(mass, initial=0.0)) / smallest if smallest > 0.0 else float("inf"),
        integrable=_integrable(dyn, t, near, values),
    )


def settle_rank(dyn: CompiledModel, t: float, x: Array, **values: Any) -> int:
    """Tell the model how many rows of G count at states on the constraints near x, and return it.

    A loop may close redundantly by its dimensions alone: its rows are independent everywhere but on the constraints.
    """
    if not dyn.n_constraints:
        return 0
    rows = dyn.constraint_jacobian(t, x, **values)
    if not np.isfinite(rows).all() or (here := _rank(rows)) == dyn._rank:
        return dyn._rank
    typical = max([here, *(_rank(dyn.constraint_jacobian(t, y, **values)) for y in _neighbours(dyn, t, x, values))])
    if typical != dyn._rank:
        dyn._set_rank(typical)
    return typical


def _neighbours(dyn: CompiledModel, t: float, x: Array, values: dict[str, Any]) -> list[Array]:
    """Some states on the constraints nearby."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(6):
        y = x + 1e-2 * rng.uniform(-1.0, 1.0, dyn.n_x) * (1.0 + np.abs(x))
        _normalise(dyn, y)
        try:
            found.append(np.asarray(dyn._project(t, y, **values)))
        except SingularError:
            continue
        if len(found) == 3:
            break
    return found


def _some_state(dyn: CompiledModel, t: float, values: dict[str, Any]) -> Array:
    rng, guess = np.random.default_rng(0), dyn.info.get("guess", {})
    for trial in range(20):
        x = rng.uniform(-1.0, 1.0, dyn.n_x) * (0.1 * trial if guess else 1.0)
        for place, value in guess.items():
            x[int(place)] += value
        _normalise(dyn, x)
        try:
            return consistent(dyn, t, x, None, **values)
        except (ModelError, ArithmeticError):
            if trial == 19:
                raise
    raise AssertionError


def _integrable(dyn: CompiledModel, t: float, x: Array, values: dict[str, Any]) -> bool | None:
    """Frobenius: whether the Lie brackets of motions that the constraints allow are allowed.

    With D(q, t) the orthogonal projector onto the directions of (q, t) that they allow and a, b any two of these,
    [D a, D b] = (∂D/∂a) b − (∂D/∂b) a must have no part outside of them.
    """
    if not dyn.n_velocity:
        return None
    rng = np.random.default_rng(1)
    m, n_q = dyn.n_velocity, dyn.n_q
    fast = x.copy()
    fast[n_q:] += rng.uniform(-1.0, 1.0, dyn.n_u)
    at_rest = np.concatenate([x[:n_q], np.zeros(dyn.n_u)])
    rows, others = (dyn.constraint_jacobian(t, y, **values)[:m] for y in (at_rest, fast))
    if not np.allclose(rows, others, rtol=1e-9, atol=1e-12 * np.max(np.abs(rows), initial=1.0)):
        return None
    if np.linalg.matrix_rank(_rates(dyn, t, x[:n_q], values)[0]) < dyn.n_u:
        return None
    for y in [x, *_neighbours(dyn, t, x, values)[:2]]:
        rank = _rank(dyn.constraint_jacobian(t, y, **values)[:m])
        place = np.append(y[:n_q], t)
        here = _allowed(dyn, place, rank, values)
        projector = here @ here.T
        change = []
        for direction in here.T:
            ends = [_allowed(dyn, place + sign * _STEP * direction, rank, values) for sign in (1.0, -1.0)]
            if any(end.shape != here.shape for end in ends):
                return None
            change.append((ends[0] @ ends[0].T - ends[1] @ ends[1].T) / (2.0 * _STEP))
        for i, a in enumerate(here.T):
            for j in range(i):
                bracket = change[i] @ here[:, j] - change[j] @ a
                if np.max(np.abs(bracket - projector @ bracket)) > _BRACKET * max(1.0, float(np.max(np.abs(bracket)))):
                    return False
    return True


def _allowed(dyn: CompiledModel, place: Array, rank: int, values: dict[str, Any]) -> Array:
    """Orthonormal directions of (q, t) that the constraints on velocities allow, (n_q + 1, n)."""
    q, t, n_q = place[:-1], float(place[-1]), dyn.n_q
    rates, drift = _rates(dyn, t, q, values)
    at_rest = np.concatenate([q, np.zeros(dyn.n_u)])
    c, rows = _scaled(
        dyn.velocity_residual(t, at_rest, **values), dyn.constraint_jacobian(t, at_rest, **values)[: dyn.n_velocity]
    )
    left, s, right = np.linalg.svd(rows)
    free = right[rank:].T
    forced = -right[:rank].T @ ((left[:, :rank].T @ c) / s[:rank])
    directions = np.zeros((n_q + 1, free.shape[1] + 1))
    directions[:n_q, :-1] = rates @ free
    directions[:n_q, -1] = rates @ forced + drift
    directions[n_q, -1] = 1.0
    u, s, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(u[:, s > _RANK * s[0]])


def _rates(dyn: CompiledModel, t: float, q: Array, values: dict[str, Any]) -> tuple[Array, Array]:
    """Y (n_q, n_u) and z (n_q,) of q̇ = Y u + z."""
    states = np.zeros((dyn.n_u + 1, dyn.n_x))
    states[:, : dyn.n_q] = q
    states[1:, dyn.n_q :] = np.eye(dyn.n_u)
    qdot = dyn.qdot(t, states, **values)
    return (qdot[1:] - qdot[0]).T, qdot[0]
