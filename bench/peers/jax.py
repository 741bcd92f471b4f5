# SPDX-License-Identifier: BSD-3-Clause
"""JAX: derivatives of composite rigid bodies over its arrays, compiled by XLA."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sides
from recursions import Functions, composite, rates
from sides import Side
from slopes import Work

LARGEST = 7  # bodies: beyond, XLA takes minutes


def _has_words(work: Work) -> bool:
    robot = work.task.mechanism.robot
    return robot is not None and len(robot(lambda _, number: float(number)).bodies) <= LARGEST


@cache
def _function(work: Work) -> Callable[..., Any]:
    """Function of (q, u, τ) for the kernel; the parameters are numbers in it."""
    jax.config.update("jax_enable_x64", True)
    parameters = work.task.mechanism.parameters
    robot = work.task.mechanism.robot(lambda name, number: float(parameters.get(name, number)))
    none = jnp.zeros(work.task.dyn.n_u)
    v = jnp.asarray(work.vector)

    def udot(along: Any, u: Any, tau: Any, q: Any) -> Any:
        moved = [a + b for a, b in zip(q, rates(robot, list(q), list(along)), strict=True)]
        return jnp.stack(composite(robot, moved, list(u), list(tau), Functions(jnp.sin, jnp.cos)))

    def slopes(q: Any, u: Any, tau: Any) -> Any:
        return jnp.hstack(jax.jacfwd(udot, (0, 1))(none, u, tau, q))

    def inverse(q: Any, u: Any, tau: Any) -> Any:
        return jax.jacfwd(udot, 2)(none, u, tau, q)

    def tangent(q: Any, u: Any, tau: Any) -> Any:
        return jax.jvp(lambda along, u: udot(along, u, tau, q), (none, u), tuple(jnp.split(v, 2)))[1]

    def gradient(q: Any, u: Any, tau: Any) -> Any:
        return jnp.concatenate(jax.grad(lambda along, u: v @ udot(along, u, tau, q), (0, 1))(none, u))

    ways = {"linearize": slopes, "mass_matrix_inverse": inverse, "rhs_jvp": tangent, "rhs_vjp": gradient}
    return ways[work.kernel]


def derivatives(work: Work) -> list[Side]:
    """The jitted function, one state a call."""
    if not _has_words(work):
        return []
    f, tau = jax.jit(_function(work)), jnp.array(work.task.efforts(work.task.r))
    states = [tuple(map(jnp.asarray, state)) for state in zip(*work.task.split(work.task.x), strict=True)]
    result = np.array([f(q, u, tau) for q, u in states])
    names = {"f": f, "tau": tau}
    return [sides.in_python("jax", "f(x[0], x[1], tau).block_until_ready()", states, names, result=result)]


def derivatives_in_batch(work: Work) -> list[Side]:
    """The jitted function under ``vmap``."""
    if not _has_words(work):
        return []
    f, tau = jax.jit(jax.vmap(_function(work), (0, 0, None))), jnp.array(work.task.efforts(work.task.r))
    q, u = map(jnp.asarray, work.task.split(work.rows))
    names = {"f": f, "u": u, "tau": tau}
    result = np.asarray(f(q, u, tau))
    return [sides.rowwise("jax vmap", "f(x, u, tau).block_until_ready()", q, names, result=result)]
