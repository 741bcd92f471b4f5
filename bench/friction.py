# SPDX-License-Identifier: BSD-3-Clause
"""Time of ẋ of a slider-crank with rubbing pins and slider, and of a pendulum with first-order states."""

from __future__ import annotations

import models
import numpy as np
import report
import sympy as sm
import sympy.physics.mechanics as me
from clock import REPEATS, kernel_nanoseconds, reference

import kanecore as kc

QUESTION = (
    "how long does ẋ take in C with k friction magnitudes that depend on reactions, or k first-order states [ns]?"
)
CRANK, ROD = 0.1, 0.35  # lengths in m
ANGLE, RATE = 0.8, 3.0


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a number of frictions; the error is what the equations of motion leave, beside the forcing."""
    repeats = 5 if smallest else REPEATS
    return {
        "friction of reactions": [_row(k, repeats) for k in ((0, 4) if smallest else (0, 1, 3, 4))],
        "first-order states": [_state_row(k, repeats) for k in ((0, 4) if smallest else (0, 1, 4, 16))],
    }


def _state_row(k: int, repeats: int) -> report.Row:
    """A pendulum whose rate goes through k filters, ż = (ω − z)/τ; the error is that of ż."""
    q, u, (tau, length) = *me.dynamicsymbols("q u"), sm.symbols("tau l")
    filters = me.dynamicsymbols(f"z1:{k + 1}")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    P = O.locatenew("P", -length * A.y)
    P.v2pt_theory(O, N, A)
    model = kc.Model(
        *(N, [q], [u], [q.diff() - u]),
        bodies=[me.Particle("bob", P, 1)],
        forcelist=[(P, -9.81 * N.y)],
        states={z: (u - z) / ((i + 1) * tau) for i, z in enumerate(filters)},
        name=f"filters_{k}",
    )
    dyn = kc.compile(model, parameters={"l": 0.7, **({"tau": 0.02} if k else {})}, cache=False)
    x = np.array([0.4, 1.3, *np.linspace(0.1, 1.0, k)])
    states = np.tile(x, (models.N_STATES, 1))
    took = kernel_nanoseconds(
        *(dyn.address("rhs"), states, models.inputs(0), dyn.prepared, dyn.n_work, dyn.n_x, repeats)
    )
    row: report.Row = {"case": f"pendulum: {k} states", "ns": took.median, "ns_min": took.least}
    row["ops"] = dyn.info["operations"]["rhs"]
    row["chains"] = took.least / reference()["chain_ns"]
    exact = (1.3 - x[2:]) / (0.02 * np.arange(1, k + 1))
    row["error"] = float(np.abs(dyn.rhs(0.0, x)[2:] - exact).max(initial=0.0) / 65.0)
    return row


def _row(k: int, repeats: int) -> report.Row:
    dyn = kc.compile(slider_crank(k), parameters={"T": 2.0, **({"mu": 0.1} if k else {})}, cache=False)
    rod = -np.arcsin(CRANK * np.sin(ANGLE) / ROD)
    place = [ANGLE, rod, CRANK * np.cos(ANGLE) + ROD * np.cos(rod)]
    x = dyn.consistent(0.0, [*place, RATE, 0.0, 0.0])
    states = np.tile(x, (models.N_STATES, 1))
    took = kernel_nanoseconds(
        *(dyn.address("rhs"), states, models.inputs(0), dyn.prepared, dyn.n_work, dyn.n_x, repeats)
    )
    row: report.Row = {"case": f"slider-crank: {k} frictions", "ns": took.median, "ns_min": took.least}
    row["ops"] = dyn.info["operations"]["forcing"]
    row["chains"] = took.least / reference()["chain_ns"]
    left = dyn.equations_residual(0.0, x, dyn.udot(0.0, x), dyn.multipliers(0.0, x))
    row["error"] = float(np.abs(left).max() / np.abs(dyn.forcing(0.0, x)).max())
    return row


def slider_crank(k: int) -> kc.Model:
    """Crank, rod and slider, driven by T; of the pins and the slider the first k have friction."""
    (a, b, x), (v, w, s) = me.dynamicsymbols("a b x"), me.dynamicsymbols("ua ub ux")
    mu, torque = sm.symbols("mu T")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    A, B, F = (N.orientnew(name, "Axis", [angle, N.z]) for name, angle in (("A", a), ("B", b), ("F", 0)))
    A.set_ang_vel(N, v * N.z)
    B.set_ang_vel(N, w * N.z)
    P, S = O.locatenew("P", CRANK * A.x), O.locatenew("S", x * N.x)
    of_crank = O.locatenew("of crank", CRANK / 2 * A.x)
    of_rod, Q = P.locatenew("of rod", 0.4 * ROD * B.x), P.locatenew("Q", ROD * B.x)
    for point, fixed, frame in ((P, O, A), (of_crank, O, A), (of_rod, P, B), (Q, P, B)):
        point.v2pt_theory(fixed, N, frame)
    S.set_vel(N, s * N.x)
    crank, rod, slider = (
        me.RigidBody(name, at, frame, mass, (me.inertia(frame, 0, 0, moment), at))
        for name, at, frame, mass, moment in (
            ("crank", of_crank, A, 1.2, 2e-3),
            ("rod", of_rod, B, 0.8, 9e-3),
            ("slider", S, F, 0.6, 1e-3),
        )
    )
    along, across = kc.multiplier("along"), kc.multiplier("across")
    wrist = mu * 0.012 * sm.sqrt(along**2 + across**2) * sm.tanh(1.2 * w)
    rubbing = [
        kc.JointFriction("shaft", mu=mu, pin_radius=0.02, transition_velocity=1e-2),
        kc.JointFriction("pin", mu=mu, pin_radius=0.015, transition_velocity=1e-2),
        (B, -wrist * N.z),
        (S, -mu * sm.Abs(across) * sm.tanh(100 * s) * N.x),
    ]
    return kc.Model(
        *(N, [a, b, x], [v, w, s], [q.diff() - u for q, u in ((a, v), (b, w), (x, s))]),
        bodies=[crank, rod, slider],
        forcelist=[(A, torque * N.z), *rubbing[:k]],
        configuration_constraints={
            "along": CRANK * sm.cos(a) + ROD * sm.cos(b) - x,
            "across": CRANK * sm.sin(a) + ROD * sm.sin(b),
        },
        joints={"shaft": (N, crank, O), "pin": (crank, rod, P)},
        attach={"along": (rod, Q, slider, S, N.x), "across": (rod, Q, slider, S, N.y)},
        name=f"slider_crank_{k}",
    )


if __name__ == "__main__":
    report.main("friction", QUESTION, measure)
