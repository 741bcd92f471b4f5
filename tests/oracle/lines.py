# SPDX-License-Identifier: BSD-3-Clause
"""Particles on parallel lines, x_i along the i-th with the speed u_i = ẋ_i: M is diagonal, whatever the constraints.

With `accelerations`, which solves M u̇ − Gᵀλ = f, G u̇ = −γ in 50 digits, in numbers that are what they are as doubles.
"""

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
DIGITS = 50


def coordinates(n: int) -> tuple[list[Any], list[Any]]:
    """x0 ... and u0 ..."""
    return list(me.dynamicsymbols(f"x0:{n}")), list(me.dynamicsymbols(f"u0:{n}"))


def lines(
    n: int,
    masses: Sequence[Any] | None = None,
    forces: Sequence[Any] | None = None,
    couplings: Sequence[tuple[int, int, Any]] = (),
    q_dependent: Sequence[int] = (),
    u_dependent: Sequence[int] = (),
    **arguments: Any,
) -> kc.Model:
    """``n`` particles; masses are one and forces nothing by default.

    Numbers of dependent coordinates and speeds stand for their symbols.  A coupling (i, j, m) is a particle of mass m
    on a line of its own with the speed u_i + u_j, which fills M.
    """
    x, u = coordinates(n)
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    bodies, loads = [], []
    for i in range(n):
        place = origin.locatenew(f"P{i}", x[i] * ground.x)
        place.set_vel(ground, u[i] * ground.x)
        bodies.append(me.Particle(f"P{i}", place, sm.Integer(1) if masses is None else masses[i]))
        loads.append((place, (0 if forces is None else forces[i]) * ground.x))
    for i, j, mass in couplings:
        place = origin.locatenew(f"P{i}_{j}", (x[i] + x[j]) * ground.x)
        place.set_vel(ground, (u[i] + u[j]) * ground.x)
        bodies.append(me.Particle(f"P{i}_{j}", place, mass))
    return kc.Model(
        ground,
        [x[i] for i in range(n) if i not in q_dependent],
        [u[i] for i in range(n) if i not in u_dependent],
        [x_i.diff(t) - u_i for x_i, u_i in zip(x, u, strict=True)],
        q_dependent=[x[i] for i in q_dependent],
        u_dependent=[u[i] for i in u_dependent],
        bodies=bodies,
        forcelist=loads,
        **{"name": "lines", **arguments},
    )


def accelerations(mass: Any, force: Any, rows: Any, bias: Any) -> Array:
    """u̇ of independent rows, rounded once; numbers may be floats or mpmath's."""
    with mpmath.workdps(DIGITS):
        M, f, G, gamma = (mpmath.matrix(_lists(a)) for a in (mass, force, rows, bias))
        n, m = M.rows, G.rows
        system, right = mpmath.zeros(n + m), mpmath.zeros(n + m, 1)
        for i in range(n):
            right[i] = f[i]
            for j in range(n):
                system[i, j] = M[i, j]
        for i in range(m):
            right[n + i] = -gamma[i]
            for j in range(n):
                system[n + i, j], system[j, n + i] = G[i, j], -G[i, j]
        return np.array([float(v) for v in mpmath.lu_solve(system, right)[:n]])


def _lists(a: Any) -> Any:
    return a.tolist() if isinstance(a, np.ndarray) else a
