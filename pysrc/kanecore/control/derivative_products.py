# SPDX-License-Identifier: BSD-3-Clause
"""Products of exact derivatives with vectors, J v in forward and wᵀ J in reverse mode; exact Hessians of weights · ẋ.

Products are separate kernels with one pass over the operations each (Griewank & Walther, *Evaluating Derivatives*, 2nd
ed., 2008, chapter 3).  Products for `rhs`, and for outputs in u̇, solve for u̇ and for its change, or for adjoints,
with one factorization.

Hessians are a kernel as well (:mod:`kanecore.derive.second_derivatives`).  If rows of G are zero, if M is not symmetric
or not positive definite, or if this kernel would compile slowly, Hessians are computed from matrices. With z = (x, r),
y = (u̇, λ), the equations F(z, y) = (R, S) = 0 of `linearize`, and a = (μ, ν) with w_u + F_yᵀ a = 0, second derivatives
of w · ẋ are second derivatives of L = w_q · q̇ + a · F along the motion,

    H = L_zz + L_zy Y + (L_zy Y)ᵀ + Yᵀ L_yy Y,    Y = ∂y/∂z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.allowed_motions import allowed_motions, counted_rows
from kanecore.constraints.constraint_values import Constraints
from kanecore.errors import ModelError, SingularError, unknown_name
from kanecore.run.call_arguments import direction_of, joined, leading
from kanecore.tolerances import RANK

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = ["jvp", "rhs_hessian", "rhs_jvp", "rhs_vjp", "vjp"]

Array = npt.NDArray[np.float64]


@method("Control and derivatives", doubles=True)
def rhs_hessian(dyn: Evaluator, t: npt.ArrayLike, x: Values, weights: Values, *, r: Any = None, p: Any = None) -> Array:
    """The second derivatives of weights · xdot with respect to x, then r: exact, and symmetric.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    weights : array_like, (..., n_x), or mapping
        By the names of the coordinates and speeds; missing names have weight zero.

    Returns
    -------
    ndarray, (..., n_x + n_r, n_x + n_r)

    Raises
    ------
    SingularError
        The equations of motion are singular at the state.
    ModelError
        Rows of G are redundant: off the constraints u̇ is not determined, and has no second derivatives.
    ValueError, TypeError, KeyError
        Weights with another shape, without numbers, or with an unknown name.
    """
    found = _from_kernel(dyn, t, x, weights, r, p)
    if found is None:
        found = _from_matrices(dyn, t, x, direction_of(dyn, "state", "weights", weights), r, p)
    return found


def _from_kernel(dyn: Evaluator, t: npt.ArrayLike, x: Values, weights: Values, r: Any, p: Any) -> Array | None:
    """Hessians; None if their kernel has no result at a single state, or if the model has no such kernel."""
    try:
        found = dyn.kernels.rhs_hessian_at_once(t, x, weights, r, p)
    except SingularError:  # at the one state
        return None
    if found is not None:
        return found
    if not dyn.kernels.has("rhs_hessian"):
        dyn.libraries.find("rhs_hessian")
    if not dyn.kernels.has("rhs_hessian"):
        return None
    w = direction_of(dyn, "state", "weights", weights)
    try:
        return dyn.kernels.rhs_hessian(t, x, _behind_solution(dyn, x, weights=w), r=r, p=p)
    except SingularError as error:
        return None if error.rows is None else _with_the_rest(dyn, error.out, error.rows, (t, x, w, r, p))


def _with_the_rest(dyn: Evaluator, found: Array, rest: npt.NDArray[np.intp], at: tuple[Any, ...]) -> Array:
    """Hessians of a batch, with the rows ``rest`` from matrices; other rows equal single calls to the bit."""
    lead, (t, x, w, r, p) = found.shape[:-2], at

    def of_rest(values: Array) -> Array:
        return np.broadcast_to(values, (*lead, values.shape[-1])).reshape(-1, values.shape[-1])[rest]

    times = of_rest(np.asarray(t, dtype=np.float64)[..., np.newaxis])[:, 0]
    states = of_rest(dyn.names.rows("state", x, "x"))
    inputs = None if r is None else of_rest(dyn.names.rows("input", r, "r"))
    parameters = None if p is None else of_rest(dyn.names.rows("parameter", p, "p"))
    try:
        found.reshape(-1, *found.shape[-2:])[rest] = _from_matrices(dyn, times, states, of_rest(w), inputs, parameters)
    except SingularError as error:
        error.rows = rest[error.rows]
        raise
    return found


def _from_matrices(dyn: Evaluator, t: npt.ArrayLike, x: Values, w: Array, r: Any, p: Any) -> Array:
    """Hessians from derivatives of u̇ and λ, and second derivatives of F."""
    values = {"r": r, "p": p}
    slopes = _slopes(dyn, t, x, **values)
    lead = leading(x=slopes.shape[:-2], weights=w.shape[:-1])
    udot = dyn.udot(t, x, **values)
    mass = dyn.mass_matrix(t, x, **values)
    multipliers = dyn.multipliers(t, x, **values) if dyn.n_constraints else np.zeros(0)
    system = _Constrained(_independent(Constraints(dyn, t, x, r, p)), mass) if dyn.n_constraints else _Free(mass)
    adjoint = system.adjoint(w[..., dyn.names.speeds])
    mu, nu = np.split(adjoint, [dyn.n_u], axis=-1)
    of_rates = {"weights": w[..., : dyn.n_q], "mu": mu, "of_states": w[..., dyn.names.states], "nu": nu}
    fixed = joined(udot=udot, multipliers=multipliers, **of_rates)
    n, width = dyn.n_x + dyn.n_r, dyn.n_u + dyn.n_constraints

    def changes(of_y: Array) -> Array:
        """Changes of the gradient of L, then of R, along unit vectors of z and given y (..., width, n), as columns."""
        directions = np.moveaxis(of_y, -1, 0)
        units = np.eye(n).reshape(n, *[1] * (directions.ndim - 2), n)
        beyond = joined(fixed=fixed, units=units, directions=directions)
        return np.moveaxis(dyn.kernels.hessian_products(t, x, beyond, **values), 0, -1)

    of_y = np.zeros((*lead, width, n))
    of_y[..., : dyn.n_u, :] = slopes[..., dyn.names.speeds, :]
    if dyn.n_constraints:
        explicit = changes(np.zeros_like(of_y))[..., n + width :, :]
        of_y[..., dyn.n_u :, :] = system.multipliers(mass @ of_y[..., : dyn.n_u, :] - explicit)
    gradient = changes(of_y)
    hessian = gradient[..., :n, :] + np.swapaxes(of_y, -1, -2) @ gradient[..., n : n + width, :]
    return np.asarray((hessian + np.swapaxes(hessian, -1, -2)) / 2)


def _slopes(dyn: Evaluator, t: npt.ArrayLike, x: Values, **values: Any) -> Array:
    """[A, B] of `linearize`; with unit quaternions from F itself, since recursions of trees differ along these."""
    try:
        if not dyn.unit:
            return dyn.kernels.linearize(t, x, **values)
        depth = max(np.ndim(t), *(vector.ndim - 1 for vector in _given(dyn, x, **values)))
        units = np.expand_dims(np.eye(dyn.n_x + dyn.n_r), tuple(range(1, depth + 1)))
        directions = joined(solution=np.zeros(dyn.n_u + dyn.n_constraints), units=units)
        return np.moveaxis(dyn.kernels.rhs_tangent(t, x, directions, **values), 0, -1)
    except SingularError as error:
        if dyn.unit and error.out is not None:  # rows with units of any size
            lead = error.out.shape[1:-1]
            error.rows = np.unique(error.rows % math.prod(lead)) if lead else None
        error.out = None  # no Hessians
        raise


def _given(dyn: Evaluator, x: Values, *, r: Any, p: Any) -> list[Array]:
    """x, and r and p if given, as arrays."""
    inputs = [] if r is None else [dyn.names.rows("input", r, "r")]
    return [dyn.names.rows("state", x, "x"), *inputs, *([] if p is None else [dyn.names.rows("parameter", p, "p")])]


def _independent(at: Constraints) -> Constraints:
    """Raise ModelError unless all nonzero rows of G are independent."""
    rows = int(np.count_nonzero(at.rows.reshape(-1, *at.rows.shape[-2:]).any(axis=(0, 2))))
    if rows > (rank := counted_rows(at.dyn, at.p)):
        raise ModelError(
            f"rhs_hessian: {rank} of {rows} rows of G of {at.dyn.name!r} are independent: off the constraints udot is "
            "not determined, and has no second derivatives; leave out the rows that dyn.check() calls redundant"
        )
    return at


class _Free:
    """M u̇ = f."""

    def __init__(self, mass: Array) -> None:
        self._mass = mass

    def adjoint(self, w: Array) -> Array:
        """The solution μ of Mᵀ μ = w."""
        return np.asarray(np.linalg.solve(np.swapaxes(self._mass, -1, -2), w[..., np.newaxis])[..., 0])

    def multipliers(self, forces: Array) -> Array:
        return np.zeros((*forces.shape[:-2], 0, forces.shape[-1]))


class _Constrained(_Free):
    """M u̇ = f + Gᵀ λ, G u̇ + γ = 0, with rows of G that may be zero."""

    def __init__(self, at: Constraints, mass: Array) -> None:
        super().__init__(mass)
        self._allowed, units = allowed_motions(at), at.speed_units
        rows = at.rows * units[..., np.newaxis, :]
        rows = np.where(np.isfinite(rows), rows, 0.0)  # LAPACK refuses others; results are NaN by M
        size = np.max(np.abs(rows), axis=-1, initial=0.0, keepdims=True)
        size = np.where(size > 0.0, size, 1.0)
        inverse = np.linalg.pinv(np.swapaxes(rows / size, -1, -2), rcond=RANK)
        self._by_forces = inverse / size * units[..., np.newaxis, :]

    def adjoint(self, w: Array) -> Array:
        """The solution (μ, ν) of Mᵀ μ − Gᵀ ν = w, G μ = 0."""
        allowed, column = self._allowed, w[..., np.newaxis]
        rows, transposed = np.swapaxes(allowed, -1, -2), np.swapaxes(self._mass, -1, -2)
        mu = allowed @ np.linalg.solve(rows @ transposed @ allowed, rows @ column)
        nu = self.multipliers(transposed @ mu - column)
        return np.concatenate([mu[..., 0], nu[..., 0]], axis=-1)

    def multipliers(self, forces: Array) -> Array:
        """The λ of Gᵀ λ = forces with least norm, for rows of equal size."""
        return np.asarray(self._by_forces @ forces)


@method("Control and derivatives")
def rhs_jvp(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    dx: Values,
    *,
    dr: Values | None = None,
    dp: Values | None = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """Change of xdot along a direction, A dx + B dr of `linearize` and ∂xdot/∂p dp, without forming a matrix.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    dx : array_like, (..., n_x), or mapping
    dr : array_like, (..., n_r), or mapping, optional
    dp : array_like, (..., n_p), or mapping, optional
        Variables without a name in a mapping, and arguments left out, do not change.

    Returns
    -------
    ndarray, (..., n_x)

    Raises
    ------
    ValueError, TypeError, KeyError
        A direction with another shape, without numbers, or with an unknown name; other errors as for `linearize`.

    Notes
    -----
    If rows of G are redundant, the same rows count as for `linearize`.  Directions must keep the length of unit
    quaternions: along other directions the result depends on the form of the expressions.
    """
    change = dyn.kernels.rhs_tangent_at_once(t, x, dx, dr, r, p)
    if change is None:
        change = dyn.kernels.rhs_tangent(t, x, _direction(dyn, x, dx, dr), r=r, p=p)
    if dp is None or not dyn.n_p:
        return change
    change_of_p = direction_of(dyn, "parameter", "dp", dp)
    return change + dyn.kernels.rhs_parameter_tangent(t, x, _behind_solution(dyn, x, dp=change_of_p), r=r, p=p)


def _direction(dyn: Evaluator, x: Values, dx: Values, dr: Values | None) -> Array:
    """A direction of x and r, for kernels."""
    of_x, of_r = direction_of(dyn, "state", "dx", dx), direction_of(dyn, "input", "dr", {} if dr is None else dr)
    return _behind_solution(dyn, x, dx=of_x, dr=of_r)


def _behind_solution(dyn: Evaluator, x: Values, **vector: Array) -> Array:
    """Continuation of x: zeros for udot and the multipliers, which the kernel finds, then the vector."""
    leading(x=dyn.names.rows("state", x, "x").shape[:-1], **{name: array.shape[:-1] for name, array in vector.items()})
    return joined(solution=np.zeros(dyn.n_u + dyn.n_constraints), **vector)


@method("Control and derivatives")
def rhs_vjp(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    weights: Values,
    *,
    full: bool = False,
    parameters: bool = False,
    r: Any = None,
    p: Any = None,
) -> Any:
    """The gradient of weights · xdot with respect to x, Aᵀ w of `linearize`, without forming a matrix.

    Parameters
    ----------
    t, x, r, p
        As for the kernels; leading axes broadcast.
    weights : array_like, (..., n_x), or mapping
        By the names of the coordinates and speeds; missing names have weight zero.
    full : bool
        Return the gradient with respect to r as well.
    parameters : bool
        Return the gradient with respect to the parameters as well, in the order of `parameter_names`.

    Returns
    -------
    ndarray, (..., n_x)
        With ``full`` or ``parameters`` a tuple: with respect to x, to r (..., n_r) if ``full``, to p (..., n_p) if
        ``parameters``.

    Raises
    ------
    ValueError, TypeError, KeyError
        As for `rhs_jvp`.
    """
    if parameters:
        w = _behind_solution(dyn, x, weights=direction_of(dyn, "state", "weights", weights))
        by_all = (dyn.kernels.rhs_parameter_gradient if dyn.n_p else dyn.kernels.rhs_gradient)(t, x, w, r=r, p=p)
        parts = np.split(by_all, [dyn.n_x, dyn.n_x + dyn.n_r], axis=-1)
        by_x, by_r, by_p = map(np.ascontiguousarray, parts)
        return (by_x, by_r, by_p) if full else (by_x, by_p)
    gradient = dyn.kernels.rhs_gradient_at_once(t, x, weights, full, r, p)
    if gradient is None:
        w = _behind_solution(dyn, x, weights=direction_of(dyn, "state", "weights", weights))
        gradient = dyn.kernels.rhs_gradient(t, x, w, r=r, p=p)
    elif not full:
        return gradient
    return _parts(gradient, dyn.n_x, full)


def _outputs_jvp(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, dx: Values, *, dr: Values | None = None, r: Any = None, p: Any = None
) -> Array:
    """Change of `outputs` along a direction, (..., n_outputs), also of outputs that depend on udot."""
    change = dyn.kernels.output_tangent_at_once(t, x, dx, dr, r, p)
    return dyn.kernels.output_tangent(t, x, _direction(dyn, x, dx, dr), r=r, p=p) if change is None else change


def _outputs_vjp(
    dyn: Evaluator, t: npt.ArrayLike, x: Values, weights: Values, *, full: bool = False, r: Any = None, p: Any = None
) -> Any:
    """The gradient of weights · outputs with respect to x, and r if ``full``."""
    gradient = dyn.kernels.output_gradient_at_once(t, x, weights, full, r, p)
    if gradient is None:
        w = _behind_solution(dyn, x, weights=direction_of(dyn, "output", "weights", weights))
        gradient = dyn.kernels.output_gradient(t, x, w, r=r, p=p)
    return _parts(gradient, dyn.n_x, full)


def _inverse_dynamics_jvp(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    udot: Values,
    dx: Values,
    *,
    dudot: Values | None = None,
    dr: Values | None = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """Change of `inverse_dynamics` along a direction: ∂τ/∂x dx + M dudot + ∂τ/∂r dr of τ = M udot - f.

    Parameters
    ----------
    t, x, udot, r, p
        As for `inverse_dynamics`; leading axes broadcast.
    dx : array_like, (..., n_x), or mapping
    dudot : array_like, (..., n_u), or mapping, optional
    dr : array_like, (..., n_r), or mapping, optional
        Arguments not given, and names missing in a mapping, do not change.

    Returns
    -------
    ndarray, (..., n_u)

    Raises
    ------
    ValueError, TypeError, KeyError
        A vector of another shape, no numbers, or no such name.
    """
    change = dyn.kernels.inverse_dynamics_tangent_at_once(t, x, udot, dx, dr, dudot, r, p)
    if change is not None:
        return change
    beyond = joined(
        udot=dyn.names.rows("udot", udot, "udot"),
        multipliers=np.zeros(dyn.n_constraints),
        dx=direction_of(dyn, "state", "dx", dx),
        dr=direction_of(dyn, "input", "dr", {} if dr is None else dr),
        dudot=direction_of(dyn, "udot", "dudot", {} if dudot is None else dudot),
    )
    return dyn.kernels.inverse_dynamics_tangent(t, x, beyond, r=r, p=p)


def _inverse_dynamics_vjp(
    dyn: Evaluator,
    t: npt.ArrayLike,
    x: Values,
    udot: Values,
    weights: Values,
    *,
    full: bool = False,
    r: Any = None,
    p: Any = None,
) -> Any:
    """The gradient of weights · τ with respect to x, τ = M udot - f of `inverse_dynamics`.

    Parameters
    ----------
    t, x, udot, r, p
        As for `inverse_dynamics`; leading axes broadcast.
    weights : array_like, (..., n_u), or mapping
        By the names of the speeds; missing names have weight zero.
    full : bool
        Return the gradients with respect to udot, which is Mᵀ w, and to r as well.

    Returns
    -------
    ndarray, (..., n_x)
        With ``full`` a tuple: with respect to x, udot (..., n_u), r (..., n_r).

    Raises
    ------
    ValueError, TypeError, KeyError
        As for `_inverse_dynamics_jvp`.
    """
    gradient = dyn.kernels.inverse_dynamics_gradient_at_once(t, x, udot, weights, r, p)
    if gradient is None:
        beyond = joined(
            udot=dyn.names.rows("udot", udot, "udot"),
            multipliers=np.zeros(dyn.n_constraints),
            weights=direction_of(dyn, "udot", "weights", weights),
        )
        gradient = dyn.kernels.inverse_dynamics_gradient(t, x, beyond, r=r, p=p)
    elif not full:
        return gradient[: dyn.n_x]  # of one state, so its numbers are contiguous
    if not full:
        return np.ascontiguousarray(gradient[..., : dyn.n_x])
    by_x, by_r = _parts(gradient[..., : dyn.n_x + dyn.n_r], dyn.n_x, True)
    return by_x, np.ascontiguousarray(gradient[..., dyn.n_x + dyn.n_r :]), by_r


def _parts(gradient: Array, n: int, full: bool) -> Any:
    first = np.ascontiguousarray(gradient[..., :n])
    return (first, np.ascontiguousarray(gradient[..., n:])) if full else first


@method("Control and derivatives")
def jvp(dyn: Evaluator, kernel: str, t: npt.ArrayLike, x: Values, *vectors: Values, **options: Any) -> Array:
    """The change of a kernel along a direction, Jacobian times vector.

    ``jvp("rhs", t, x, dx)`` is A dx + B dr of `linearize` and ∂xdot/∂p dp, (..., n_x); ``jvp("outputs", t, x, dx)`` is
    ∂y/∂x dx + ∂y/∂r dr, (..., n_outputs); ``jvp("inverse_dynamics", t, x, udot, dx)`` is
    ∂τ/∂x dx + M dudot + ∂τ/∂r dr of τ = M udot - f, (..., n_u).  No matrix is formed.

    Parameters
    ----------
    kernel : {"rhs", "outputs", "inverse_dynamics"}
    t, x, udot, r, p
        As for the kernel; leading axes broadcast.
    dx : array_like, (..., n_x), or mapping
    dr, dp, dudot : array_like, (..., n_r), (..., n_p) and (..., n_u), or mappings, optional
        Arguments not given, and names missing in a mapping, do not change.  ``dp`` is for "rhs", ``dudot`` for
        "inverse_dynamics".

    Raises
    ------
    ValueError, TypeError, KeyError
        Another kernel; a direction with another shape, without numbers, or with an unknown name; other errors as for
        the kernel.
    """
    return np.asarray(_product_of(_TANGENTS, kernel)(dyn, t, x, *vectors, **options))


@method("Control and derivatives")
def vjp(dyn: Evaluator, kernel: str, t: npt.ArrayLike, x: Values, *vectors: Values, **options: Any) -> Any:
    """The gradient of weights · kernel, vector times Jacobian, with respect to x.

    ``vjp("rhs", t, x, weights)`` is Aᵀ w of `linearize`; ``vjp("outputs", t, x, weights)`` is wᵀ ∂y/∂x;
    ``vjp("inverse_dynamics", t, x, udot, weights)`` is wᵀ ∂τ/∂x of τ = M udot - f.  No matrix is formed.

    Parameters
    ----------
    kernel : {"rhs", "outputs", "inverse_dynamics"}
    t, x, udot, r, p
        As for the kernel; leading axes broadcast.
    weights : array_like, (..., n_x), (..., n_outputs) or (..., n_u), or mapping
        By the names of states, outputs, or speeds; missing names have weight zero.
    full : bool
        Return the gradients with respect to all arguments: to x and r, for "inverse_dynamics" to x, udot and r.
    parameters : bool
        For "rhs": return the gradient with respect to the parameters as well, last.

    Returns
    -------
    ndarray, (..., n_x), or a tuple of arrays

    Raises
    ------
    ValueError, TypeError, KeyError
        As for `jvp`.
    """
    return _product_of(_GRADIENTS, kernel)(dyn, t, x, *vectors, **options)


_TANGENTS: Mapping[str, Callable[..., Any]] = {
    "rhs": rhs_jvp,
    "outputs": _outputs_jvp,
    "inverse_dynamics": _inverse_dynamics_jvp,
}
_GRADIENTS: Mapping[str, Callable[..., Any]] = {
    "rhs": rhs_vjp,
    "outputs": _outputs_vjp,
    "inverse_dynamics": _inverse_dynamics_vjp,
}


def _product_of(products: Mapping[str, Callable[..., Any]], kernel: str) -> Callable[..., Any]:
    if kernel not in products:
        raise unknown_name("products with derivatives of", kernel, products)
    return products[kernel]
