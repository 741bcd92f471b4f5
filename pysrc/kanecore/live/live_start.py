# SPDX-License-Identifier: BSD-3-Clause
"""The start of a live page: the user's state, inputs and feedback, or defaults that show a mechanism well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.control.linear_system import error_rows
from kanecore.errors import KanecoreError, ModelError
from kanecore.motion.initial_value_problem import posed
from kanecore.motion.signals import Signal
from kanecore.run.state_pictures import scene_of

__all__ = ["Feedback", "Start", "feedback_of", "holding", "pushed", "started"]

Array = npt.NDArray[np.float64]

SECONDS = 4.0  # seconds of a page for the motion in the gallery
CLOSE = 2.0  # a pace within this factor of real time becomes real time
AT_REST = 1e-6  # largest u̇ of a model that does not start to fall
STEP = 1e-5  # of joints, for central differences of u̇
PUSH = 0.5  # path of the fastest place after a push, relative to the size of the picture, in a second of the page
HOLD = 2.0 * np.pi * 0.7, 0.7  # angular frequency, rad/s of the page, and damping ratio of a robot under its law


@dataclass(frozen=True)
class Feedback:
    """Law r = r0 − K (x − x̄), with x̄ ``about``; quaternions of x̄ have the sign nearer to x."""

    gain: Array
    about: Array


@dataclass(frozen=True)
class Start:
    """State at the start of a page.

    Attributes
    ----------
    t : float
    x, p, r : ndarray
        State, on the constraints; parameters; inputs at the start.
    pace : float
        Seconds of the motion per second of the page, at speed 1.
    signals : dict of str to ndarray, or None
        ``knots`` (n), ``coefficients`` (n − 1, n_r, 4), and for each input in ``which`` whether it is a signal.
    view, ground, follow, plotted : optional
        View in the gallery, with the height of its ground, m, the body in its middle, and what is plotted.
    """

    t: float
    x: Array
    p: Array
    r: Array
    pace: float = 1.0
    signals: dict[str, Any] | None = None
    view: Any = None
    ground: float | None = None
    follow: str | None = None
    plotted: Sequence[str] = ()


def started(dyn: Any, t0: float, x0: Any, inputs: Any) -> Start:
    """Start for the arguments of `play`; ValueError as in `simulate`, ModelError for what a page cannot use."""
    _refuse_python(dyn, inputs)
    motion, values = dyn.libraries.shown_motion(), dyn.kernels.values("parameter")
    parameters = dict(zip(dyn.parameter_names, values.tolist(), strict=True))
    if missing := [each for each, value in parameters.items() if np.isnan(value)]:
        raise ValueError(
            f"parameter{'s' * (len(missing) > 1)} {', '.join(missing)} of {dyn.name!r} never got a value: set "
            f"dyn.parameters[{missing[0]!r}] = ... before"
        )
    pace = 1.0
    seen: dict[str, Any] = {}
    if x0 is None and motion is not None:
        parameters |= motion.parameters
        inputs = dict(motion.inputs) if inputs is None else inputs
        pace = _pace(motion.end / SECONDS)
        seen = {name: getattr(motion, name) for name in ("view", "ground", "follow", "plotted")}
        if motion.parameters:
            x0 = dyn.consistent(t0, dyn.state(motion.start), p=parameters)
        else:
            x0 = _near(dyn, t0, motion.start, inputs)
    elif x0 is None:
        x0 = _near(dyn, t0, {}, inputs)
    problem = posed(dyn, (t0, _last(t0, inputs)), x0, inputs, parameters, project=True)
    knots, coefficients = problem.inputs.knots, problem.inputs.coefficients
    given = _given_by_signals(dyn, inputs)
    signals = None
    if given:
        knots, coefficients = _going_on(dyn, knots, coefficients)
        signals = {"knots": knots, "coefficients": coefficients, "which": np.isin(np.arange(dyn.n_r), given)}
    r = problem.inputs(problem.t0, problem.x0)
    dyn.rhs(problem.t0, problem.x0, r=r, p=problem.p)  # singular starts are refused here, with the reason
    return Start(problem.t0, problem.x0, problem.p, r, pace, signals, **seen)


def _pace(pace: float) -> float:
    if 1.0 / CLOSE <= pace <= CLOSE:
        return 1.0
    return float(f"{pace:.1g}")


def _near(dyn: Any, t0: float, named: Mapping[str, float], inputs: Any) -> Array:
    """State on the constraints near a user's state."""
    x = dyn.state(dict(named))
    for places in dyn.unit:
        x[list(places)] /= np.linalg.norm(x[list(places)])
    if not (dyn.n_constraints or dyn.n_configuration):
        return np.asarray(x)
    numbers = (
        inputs if isinstance(inputs, Mapping) and not any(isinstance(v, Signal) for v in inputs.values()) else None
    )
    return np.asarray(dyn.consistent(t0, x, r=numbers))


def _last(t0: float, inputs: Any) -> float:
    """End of the signals; a page keeps the values after it."""
    signals = [inputs] if isinstance(inputs, Signal) else list(inputs.values()) if isinstance(inputs, Mapping) else []
    ends = [float(signal.knots[-1]) for signal in signals if isinstance(signal, Signal)]
    return max(min(ends), t0 + 1.0) if ends and min(ends) > t0 else t0 + 1.0


def _going_on(dyn: Any, knots: Array, coefficients: Array) -> tuple[Array, Array]:
    """Cubics with an additional last piece: constant inputs, and prescribed motions at their last rate."""
    last, h = coefficients[-1], knots[-1] - knots[-2]
    value, rate = last @ h ** np.arange(4), last[:, 1:] @ (np.arange(1, 4) * h ** np.arange(3))
    piece = np.zeros_like(last)
    for i in range(dyn.n_r):
        order = _order(dyn.input_rates, i)
        piece[i, 0] = value[i] if order < 2 else 0.0
        piece[i, 1] = rate[i] if order == 0 and dyn.input_rates[i] >= 0 else 0.0
    return np.append(knots, knots[-1] + 1.0), np.concatenate([coefficients, piece[np.newaxis]])


def _order(rates: Sequence[int], i: int) -> int:
    """Order of an input as a derivative: 0 for a motion, 1 for its rate, 2 for its second rate."""
    return 1 + _order(rates, rates.index(i)) if i in rates else 0


def _given_by_signals(dyn: Any, inputs: Any) -> list[int]:
    """Inputs by signals, with their rates."""
    if isinstance(inputs, Signal):
        return list(range(dyn.n_r))
    if not isinstance(inputs, Mapping):
        return []
    given = [i for i, value in dyn.names.by_number("input", inputs, "inputs").items() if isinstance(value, Signal)]
    for i in given:  # the list grows meanwhile
        if dyn.input_rates[i] >= 0 and dyn.input_rates[i] not in given:
            given.append(dyn.input_rates[i])
    return given


def _refuse_python(dyn: Any, inputs: Any) -> None:
    """Raise ModelError for inputs by a Python or C function."""
    each = inputs.items() if isinstance(inputs, Mapping) else [("inputs", inputs)]
    for name, value in each:
        called = callable(value) or hasattr(value, "argtypes") or hasattr(value, "address")
        if called and not isinstance(value, Signal):
            raise ModelError(
                f"{dyn.name!r} cannot run in a page with the function that gives {name}: a page has no Python. Write "
                "the law with symbols, Model(feedback={input: expression}), give a gain, play(feedback=K), or a table, "
                "kc.Signal"
            )


def feedback_of(dyn: Any, feedback: Any, start: Start) -> Feedback | None:
    """The law of ``feedback``: K about the start, or (K, state).

    K has a column for each state, or for each error state of `CompiledModel.linear_system`.
    """
    if feedback is None or feedback is False:
        return None
    gain, about = feedback if isinstance(feedback, tuple) and len(feedback) == 2 else (feedback, start.x)
    reference = np.array(dyn.names.as_state(about, "feedback"), dtype=np.float64)
    K = np.array(gain, dtype=np.float64)
    if reference.shape != (dyn.n_x,) or not np.isfinite(reference).all():
        raise ValueError(
            f"feedback is about a state of shape {reference.shape}; it must be ({dyn.n_x},) finite numbers"
        )
    independent = np.eye(dyn.n_x)
    if K.shape[-1:] != (dyn.n_x,):
        independent = error_rows(dyn, reference, t=start.t, r=start.r, p=start.p)
    columns = {dyn.n_x: np.eye(dyn.n_x), len(independent): independent}
    if K.ndim != 2 or K.shape[0] != dyn.n_r or K.shape[1] not in columns or not np.isfinite(K).all():
        raise ValueError(
            f"feedback has shape {K.shape}; K must be ({dyn.n_r}, {len(independent)}), finite, with a column for each "
            f"state of linear_system, or ({dyn.n_r}, {dyn.n_x}), with one for each coordinate and speed"
        )
    return Feedback(K @ columns[K.shape[1]], reference)


def holding(dyn: Any, start: Start, pace: float, sizes: Array) -> tuple[Start, Feedback] | None:
    """Start of a robot, or of another model that the gallery stabilizes, with its law; None for other models.

    Parameters
    ----------
    pace : float
        Seconds of the motion per second of the page.
    sizes : ndarray, (n_r,)
        Magnitudes of the inputs.
    """
    motion = dyn.libraries.shown_motion()
    if motion is not None and motion.hold is not None:
        return _regulated(dyn, start, motion.hold, pace, sizes)
    return _robot(dyn, start, pace)


def pushed(dyn: Any, start: Start, law: Feedback | None, pace: float) -> Start | None:
    """Start with small speeds where the model would stay at rest; None where it moves, or nothing can."""
    t, x, p = start.t, start.x.copy(), start.p
    r = start.r if law is None else start.r - law.gain @ (x - law.about)
    speeds = slice(dyn.n_q, dyn.n_q + dyn.n_u)
    if start.signals is not None or np.max(np.abs(dyn.rhs(t, x, r=r, p=p))) * pace > AT_REST:
        return None
    x[speeds] += 1.0
    try:
        x = np.asarray(dyn.consistent(t, x, r=r, p=p))
        qdot, step = dyn.qdot(t, x, r=r, p=p), 1e-6
        moved = x.copy()
        moved[: dyn.n_q] += step * qdot
        before, after = (scene_of(dyn, t, each, r, p, loads=False) for each in (x, moved))
    except KanecoreError:
        return None
    fastest = float(np.max(np.linalg.norm(after.places - before.places, axis=-1))) / step / before.size
    largest = float(np.max(np.abs(x[speeds])))
    if largest <= AT_REST:
        return None
    x[speeds] *= PUSH / (pace * (fastest if fastest > AT_REST * largest else largest))
    return replace(start, x=x)


def _robot(dyn: Any, start: Start, pace: float) -> tuple[Start, Feedback] | None:
    """Law of a robot at rest: with u̇ = a + B r for the joints' rows, r = −B⁻¹ a, K = B⁻¹ [ω² 1 + ∂u̇/∂q, 2 ζ ω 1].

    A robot has an input for each joint: for all speeds, or for all except those of a free base.
    """
    joints = _joints(dyn)
    if not joints or dyn.n_constraints or max(dyn.input_rates, default=-1) >= 0:
        return None
    rest = start.x.copy()
    rest[dyn.n_q :] = 0.0
    try:
        a = dyn.udot(start.t, rest, r=np.zeros(dyn.n_r), p=start.p)
        B = np.stack([dyn.udot(start.t, rest, r=unit, p=start.p) - a for unit in np.eye(dyn.n_r)], axis=-1)
    except KanecoreError:
        return None
    rows = [u for _, u in joints]
    own = B[rows]
    if not np.max(np.abs(a), initial=0.0) > AT_REST or np.linalg.matrix_rank(own) < len(rows):
        return None
    inverse, (frequency, ratio) = np.linalg.pinv(own), HOLD
    omega = frequency / pace
    r = np.zeros(dyn.n_r) if dyn.n_u > len(joints) else -inverse @ a[rows]  # what floats falls
    gain = np.zeros((dyn.n_r, dyn.n_x))
    for i, (q, u) in enumerate(joints):
        aside = STEP * np.eye(dyn.n_x)[q]
        ahead, behind = (dyn.udot(start.t, each, r=r, p=start.p)[rows] for each in (rest + aside, rest - aside))
        gain[:, q] = inverse @ (omega**2 * np.eye(len(rows))[i] + (ahead - behind) / (2.0 * STEP))
        gain[:, dyn.n_q + u] = 2.0 * ratio * omega * inverse[:, i]
    return replace(start, r=r), Feedback(gain, rest)


def _joints(dyn: Any) -> list[tuple[int, int]]:
    """Coordinate and speed of each joint with an input: all joints, or those with names as in URDF files."""
    if dyn.n_u == dyn.n_r and dyn.qdot_is_u:
        return [(i, i) for i in range(dyn.n_u)]
    q, u = ({name: i for i, name in enumerate(names)} for names in (dyn.coordinate_names, dyn.speed_names))
    found = []
    for name in dyn.input_names:
        joint = name.removeprefix("tau_")
        at = [q[each] for each in (f"q_{joint}", joint) if each in q]
        rate = [u[each] for each in (f"u_{joint}", f"omega_{joint}") if each in u]
        if joint != name and at and rate:
            found.append((at[0], rate[0]))
    return found


def _regulated(
    dyn: Any, start: Start, near: Mapping[str, float], pace: float, sizes: Array
) -> tuple[Start, Feedback] | None:
    """Inputs of the equilibrium near a state, and the gain that minimizes ∫ |x|² + |u|² / ω² + |r / size|² dt there."""
    try:
        state = _near(dyn, start.t, near, None) if near else start.x
        found = dyn.equilibrium(state, inputs=dyn.input_names, sizes=1.0, p=start.p)
        system = dyn.linear_system(start.t, found.x, found.r, p=start.p)
    except (KanecoreError, ValueError):
        return None
    omega = HOLD[0] / pace
    weights = np.where(np.isin(system.state_names, dyn.speed_names), omega**-2, 1.0)
    gain = _least(np.asarray(system.A), np.asarray(system.B), np.diag(weights), np.diag(1.0 / sizes**2))
    if gain is None:
        return None
    law = feedback_of(dyn, (gain, found.x), replace(start, x=found.x, r=found.r))
    assert law is not None
    return replace(start, r=found.r), law


def _least(A: Array, B: Array, Q: Array, R: Array) -> Array | None:
    """K = R⁻¹ Bᵀ S, where Aᵀ S + S A − S B R⁻¹ Bᵀ S + Q = 0 (Riccati), by the stable eigenvectors (Potter 1966)."""
    n = len(A)
    inverse = np.linalg.inv(R)
    values, vectors = np.linalg.eig(np.block([[A, -B @ inverse @ B.T], [-Q, -A.T]]))
    stable = vectors[:, values.real < 0.0]
    if stable.shape[1] != n or np.linalg.matrix_rank(stable[:n]) < n:
        return None  # an unstable mode is uncontrollable
    S = np.real(stable[n:] @ np.linalg.inv(stable[:n]))
    return np.asarray(inverse @ B.T @ S)
