# SPDX-License-Identifier: BSD-3-Clause
"""The mechanisms that are measured: those of the gallery, and a chain whose length can be chosen."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.gallery import arm7, cart_pendulum, rrp

SEED = 20
N_STATES = 64


@dataclass(frozen=True)
class Mechanism:
    """``describe()`` makes SymPy objects anew, as keyword arguments of ``kc.Model``."""

    name: str
    describe: Callable[[], dict[str, Any]]
    parameters: Mapping[str, float]

    def build(self) -> kc.Model:
        """A new model, equal to every other one of this mechanism."""
        return kc.Model(**self.describe())


def objects(module: Any, *arguments: Any) -> dict[str, Any]:
    """What a gallery module gives to ``Model``: with it the peers start from the same SymPy objects as we do."""
    signature = inspect.signature(kc.Model)
    with mock.patch.object(module, "Model", lambda *args, **kwargs: signature.bind(*args, **kwargs).arguments):
        return dict(module.build(*arguments))


def arm() -> Mechanism:
    """The arm with 7 revolute joints; its 78 numbers are symbols."""
    return Mechanism("arm7", lambda: objects(arm7), arm7.PARAMETERS)


def robot() -> Mechanism:
    """The RRP robot."""
    return Mechanism("rrp", lambda: objects(rrp), rrp.PARAMETERS)


def cart(n: int) -> Mechanism:
    """Cart with n links, angles from the horizontal."""
    return Mechanism(f"cart {n} absolute", lambda: objects(cart_pendulum, n), _cart_parameters(n))


def chain(n: int) -> Mechanism:
    """Cart with n links, angles between neighbours: the same mechanism as :func:`cart` in joint rates."""
    return Mechanism(f"cart {n} relative", lambda: _chain(n), _cart_parameters(n))


def _cart_parameters(n: int) -> dict[str, float]:
    masses = {f"m{i}": 0.5 if i == 0 else 0.01 + 0.09 * i / n for i in range(n + 1)}
    return {"g": 9.81, **{f"l{i}": 1.0 / n for i in range(n)}, **masses}


def _chain(n: int) -> dict[str, Any]:
    q, u = me.dynamicsymbols(f"q0:{n + 1}"), me.dynamicsymbols(f"u0:{n + 1}")
    force, g = me.dynamicsymbols("F"), sm.Symbol("g")
    masses, lengths = sm.symbols(f"m0:{n + 1}"), sm.symbols(f"l0:{n}")

    ground = frame = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    joint = origin.locatenew("P0", q[0] * ground.x)
    bodies = [me.Particle("cart", joint, masses[0])]
    for i in range(n):
        link = me.ReferenceFrame(f"B{i}")
        link.orient_axis(frame, frame.z, q[i + 1])
        link.set_ang_vel(frame, u[i + 1] * frame.z)
        joint, frame = joint.locatenew(f"P{i + 1}", lengths[i] * link.x), link
        bodies.append(me.Particle(f"bob{i + 1}", joint, masses[i + 1]))
    loads = [(bodies[0].masscenter, force * ground.x)]
    loads += [(body.masscenter, -body.mass * g * ground.y) for body in bodies]
    return {
        "frame": ground,
        "q_ind": q,
        "u_ind": u,
        "kd_eqs": [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        "bodies": bodies,
        "forcelist": loads,
        "name": f"chain_{n}",
    }


def states(n_x: int) -> np.ndarray:
    """The random states at which everything is compared and timed, (64, n_x)."""
    return np.random.default_rng(SEED).uniform(-1.0, 1.0, (N_STATES, n_x))


def inputs(n_r: int) -> np.ndarray:
    """Values of the inputs, (n_r,)."""
    return np.random.default_rng(SEED + 1).uniform(-1.0, 1.0, n_r)


def residual(mass_matrix: np.ndarray, udot: np.ndarray, forcing: np.ndarray) -> float:
    """‖M u̇ − f‖ / (‖M‖ ‖u̇‖ + ‖f‖), the largest over leading axes."""
    norm = np.linalg.norm
    left = norm(np.einsum("...ij,...j->...i", mass_matrix, udot) - forcing, axis=-1)
    scale = norm(mass_matrix, axis=(-2, -1)) * norm(udot, axis=-1) + norm(forcing, axis=-1)
    return float(np.max(left / scale))
