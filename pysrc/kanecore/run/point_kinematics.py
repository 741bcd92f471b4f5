# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics of a point or frame by name: place and motion, relative to any other and in the axes of any frame.

The kernels give all points and frames relative to the origin, in inertial axes.  A function here takes a row, subtracts
another, and resolves the difference in a frame.  Results are exact, without finite differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.run.points_and_frames import inertial_or_number, number_of, same_tree

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = [
    "acceleration",
    "angular_acceleration",
    "angular_velocity",
    "jacobian",
    "orientation",
    "position",
    "specific_force",
    "velocity",
]

Array = npt.NDArray[np.float64]


class _State:
    """Calls of a model's kernels at the same states, with results in one frame."""

    def __init__(self, dyn: Evaluator, t: npt.ArrayLike, x: Values, frame: Any, r: Any, p: Any) -> None:
        self.dyn, self._state, self._values = dyn, (t, x), {"r": r, "p": p}
        self._frame = None if frame is None else inertial_or_number(dyn, frame)

    def __call__(self, kernel: str, *after: Any, **options: Any) -> Array:
        return np.asarray(self.dyn.kernels.method(kernel)(*self._state, *after, **options, **self._values))

    def of_point(self, kernel: str, point: Any, origin: Any, *after: Any) -> Array:
        """A vector of a point, relative to another point."""
        here = number_of(self.dyn, "point", point)
        there = None if origin is None else number_of(self.dyn, "point", origin)
        vectors = self(kernel, *after)
        return vectors[..., here, :] - (0.0 if there is None else vectors[..., there, :])

    def of_frame(self, kernel: str, frame: Any, *after: Any) -> Array:
        """A vector of a frame; zero for the inertial frame."""
        number = inertial_or_number(self.dyn, frame)
        vectors = self(kernel, *after)
        return vectors[..., number, :] if number is not None else np.zeros((*vectors.shape[:-2], 3))

    def axes(self, frame: Any) -> Array:
        """R of a frame, v_inertial = R v_frame."""
        number, axes = inertial_or_number(self.dyn, frame), self("orientations")
        return np.broadcast_to(np.eye(3), (*axes.shape[:-3], 3, 3)) if number is None else axes[..., number, :, :]

    def rows(self, vectors: Array) -> Array:
        """Vectors in rows, (..., n, 3), from the inertial axes to those of the frame."""
        return vectors if self._frame is None else vectors @ self("orientations")[..., self._frame, :, :]

    def shown(self, vector: Array) -> Array:
        """A vector, (..., 3), in the axes of the frame, in a new array."""
        return np.array(self.rows(vector[..., np.newaxis, :])[..., 0, :])


@method("Points and frames")
def position(
    dyn: Evaluator,
    point: Any,
    t: npt.ArrayLike,
    x: Values,
    *,
    frame: Any = None,
    origin: Any = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The position of a point from another one, Rᵀ (r_P − r_O), in the axes of a frame.

    Parameters
    ----------
    point : str or Point
        One of `points`: by its name, or the SymPy Point of that name.
    t, x, r, p
        As for the kernels; leading axes broadcast.
    frame : str or ReferenceFrame, optional
        The axes of the result: one of `frames`, or the inertial frame, which is the default.
    origin : str or Point, optional
        The reference point; default: the model's origin, see `positions`.

    Returns
    -------
    ndarray, (..., 3)
        In units of length.

    Raises
    ------
    KeyError
        There is no such point or frame, or there are several; the message names the nearest.
    ModelError
        The point is not located from ``origin``.

    Examples
    --------
    ``dyn.position("tip", 0.0, x, frame="B", origin="wrist")``
    """
    if origin is not None:
        same_tree(dyn, np.array([number_of(dyn, "point", each) for each in (point, origin)]))
    at = _State(dyn, t, x, frame, r, p)
    return at.shown(at.of_point("positions", point, origin))


@method("Points and frames")
def velocity(
    dyn: Evaluator,
    point: Any,
    t: npt.ArrayLike,
    x: Values,
    *,
    frame: Any = None,
    origin: Any = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The velocity of a point in the inertial frame, Rᵀ (v_P − v_O), in the axes of a frame.

    Parameters and errors are those of `position`.  With ``origin`` the velocity of another point is subtracted; both
    are velocities in the inertial frame, for any ``frame``.

    Returns
    -------
    ndarray, (..., 3)
    """
    at = _State(dyn, t, x, frame, r, p)
    return at.shown(at.of_point("velocities", point, origin))


@method("Points and frames")
def acceleration(
    dyn: Evaluator,
    point: Any,
    t: npt.ArrayLike,
    x: Values,
    udot: Values,
    *,
    frame: Any = None,
    origin: Any = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The acceleration of a point in the inertial frame at udot, Rᵀ (a_P − a_O), in the axes of a frame.

    It is the acceleration of the motion, without gravity.  Parameters and errors are those of `velocity`, and udot
    (..., n_u).

    Returns
    -------
    ndarray, (..., 3)

    Examples
    --------
    ``dyn.acceleration("tip", t, x, dyn.udot(t, x))`` is the acceleration along the motion.
    """
    at = _State(dyn, t, x, frame, r, p)
    return at.shown(at.of_point("accelerations", point, origin, udot))


@method("Points and frames")
def specific_force(
    dyn: Evaluator,
    point: Any,
    t: npt.ArrayLike,
    x: Values,
    udot: Values,
    *,
    frame: Any = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """Reading of an accelerometer at a point at udot, Rᵀ (a − g), in the axes of a frame.

    It is the acceleration minus that of free fall: at rest it points upwards with the size of g, and in free fall it
    vanishes (Titterton & Weston, *Strapdown Inertial Navigation Technology*, 2nd ed. 2004, section 3.2).  g is the
    uniform field of the weights m g at the mass centres of all bodies.  For a single body with a number as its mass, a
    constant force at the mass centre counts as the weight.  Parameters are those of `acceleration`.

    Returns
    -------
    ndarray, (..., 3)

    Raises
    ------
    KeyError
        There is no such point or frame, or there are several; the message names the nearest.
    ModelError
        Not every body with mass has its weight in one uniform field among the loads; or it is ambiguous which of
        several forces is the weight.

    Examples
    --------
    ``dyn.specific_force("imu", t, x, dyn.udot(t, x), frame="drone")``
    """
    at = _State(dyn, t, x, frame, r, p)
    return at.shown(at.of_point("accelerations", point, None, udot) - at("gravity_field"))


@method("Points and frames")
def orientation(
    dyn: Evaluator, frame_b: Any, t: npt.ArrayLike, x: Values, *, frame: Any = None, r: Any = None, p: Any = None
) -> Array:
    """Rotation matrix R_AᵀR_B, which maps components in the axes of frame B to components in the axes of frame A.

    Its columns are the axes of B, resolved in A: SymPy's ``A.dcm(B)``.

    Parameters
    ----------
    frame_b : str or ReferenceFrame
        B, one of `frames`: by its name, or the SymPy ReferenceFrame of that name.
    t, x, r, p
        As for the kernels; leading axes broadcast.
    frame : str or ReferenceFrame, optional
        A; default: the inertial frame.

    Returns
    -------
    ndarray, (..., 3, 3)

    Raises
    ------
    KeyError
        There is no such frame, or there are several; the message names the nearest.
    """
    at = _State(dyn, t, x, frame, r, p)
    axes_in_rows = np.swapaxes(at.axes(frame_b), -1, -2)
    return np.array(np.swapaxes(at.rows(axes_in_rows), -1, -2))


@method("Points and frames")
def angular_velocity(
    dyn: Evaluator,
    frame_b: Any,
    t: npt.ArrayLike,
    x: Values,
    *,
    frame: Any = None,
    relative_to: Any = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The angular velocity of frame B in frame C, ω_B − ω_C, in the axes of a frame: SymPy's ``B.ang_vel_in(C)``.

    Parameters
    ----------
    frame_b : str or ReferenceFrame
        B, one of `frames`: by its name, or the SymPy ReferenceFrame of that name.
    t, x, r, p
        As for the kernels; leading axes broadcast.
    frame : str or ReferenceFrame, optional
        The axes of the result; default: those of the inertial frame.
    relative_to : str or ReferenceFrame, optional
        C; default: the inertial frame.

    Returns
    -------
    ndarray, (..., 3)

    Raises
    ------
    KeyError
        There is no such frame, or there are several; the message names the nearest.
    """
    at = _State(dyn, t, x, frame, r, p)
    omega = at.of_frame("angular_velocities", frame_b)
    if relative_to is not None:
        omega = omega - at.of_frame("angular_velocities", relative_to)
    return at.shown(omega)


@method("Points and frames")
def angular_acceleration(
    dyn: Evaluator,
    frame_b: Any,
    t: npt.ArrayLike,
    x: Values,
    udot: Values,
    *,
    frame: Any = None,
    relative_to: Any = None,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The angular acceleration of frame B in frame C at udot, in the axes of a frame: SymPy's ``B.ang_acc_in(C)``.

    It is the derivative in C of the angular velocity of B in C, α_B − α_C − ω_C × (ω_B − ω_C).  Parameters and errors
    are those of `angular_velocity`, and udot (..., n_u).

    Returns
    -------
    ndarray, (..., 3)
    """
    at = _State(dyn, t, x, frame, r, p)
    alpha = at.of_frame("angular_accelerations", frame_b, udot)
    if relative_to is not None:
        here, there = (at.of_frame("angular_velocities", each) for each in (frame_b, relative_to))
        alpha = alpha - at.of_frame("angular_accelerations", relative_to, udot) - np.cross(there, here - there)
    return at.shown(alpha)


@method("Points and frames")
def jacobian(
    dyn: Evaluator,
    point: Any,
    t: npt.ArrayLike,
    x: Values,
    *,
    attached: Any = None,
    frame: Any = None,
    nonholonomic: bool = False,
    r: Any = None,
    p: Any = None,
) -> Array:
    """The Jacobian J of a point, v = J u + v_t; with a frame attached there, [v, ω] = J u + [v_t, ω_t].

    Its columns are the partial velocities (Kane & Levinson 1985, section 2.14) by the speeds u, which need not be q̇.
    v_t and ω_t are the remainders at u = 0, as under a prescribed motion (``partial_velocities(..., remainder=True)``).
    A force R at the point and a torque T on the frame have the generalized forces Jᵀ [R, T].

    Parameters
    ----------
    point : str or Point
        One of `points`: by its name, or the SymPy Point of that name.
    t, x, r, p
        As for the kernels; leading axes broadcast.
    attached : str or ReferenceFrame, optional
        One of `frames`, usually of the body in which the point is fixed: the rows of ω follow the rows of v, in the
        order "linear, angular" of robotics.  The point need not be fixed in the frame; v is the velocity of the point.
    frame : str or ReferenceFrame, optional
        The axes of v and ω; default: those of the inertial frame.
    nonholonomic : bool
        Express the dependent speeds by the independent ones, (..., dof) in place of (..., n_u).

    Returns
    -------
    ndarray, (..., 3, n_u) or (..., 6, n_u)

    Raises
    ------
    KeyError
        There is no such point or frame, or there are several; the message names the nearest.

    Examples
    --------
    ``np.linalg.svd(dyn.jacobian("tip", 0.0, x, attached="hand"))``
    """
    at, here = _State(dyn, t, x, frame, r, p), number_of(dyn, "point", point)
    turning = None if attached is None else number_of(dyn, "frame", attached)
    parts = [at("partial_velocities", nonholonomic=nonholonomic)[..., here, :, :]]
    if turning is not None:
        parts.append(at("partial_angular_velocities", nonholonomic=nonholonomic)[..., turning, :, :])
    return np.ascontiguousarray(np.swapaxes(np.concatenate([at.rows(part) for part in parts], axis=-1), -1, -2))
