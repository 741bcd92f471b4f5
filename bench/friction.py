# SPDX-License-Identifier: BSD-3-Clause
"""Time of ẋ of a slider-crank without friction, with three rubbing pins, and with a rubbing slider as well."""

from __future__ import annotations

import models
import numpy as np
import report
import sympy as sm
import sympy.physics.mechanics as me
from clock import REPEATS, kernel_nanoseconds, reference

import kanecore as kc

QUESTION = "how long does ẋ take in C with k friction magnitudes that depend on reactions [ns]?"
CRANK, ROD = 0.1, 0.35  # lengths in m
ANGLE, RATE = 0.8, 3.0


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a number of frictions; the error is what the equations of motion leave, beside the forcing."""
    repeats = 5 if smallest else REPEATS
    return {"friction of reactions": [_row(k, repeats) for k in ((0, 4) if smallest else (0, 1, 3, 4))]}


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
