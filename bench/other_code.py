# SPDX-License-Identifier: BSD-3-Clause
"""Time of kernels that JAX and SciPy call, beside calls by kanecore itself."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import report
from clock import REPEATS, interleaved
from scipy.integrate import nquad

import kanecore as kc

QUESTION = "how long do kernels take that JAX and SciPy call, beside calls by kanecore itself?"
MODELS = ("cart_pole", "rrp", "four_bar", "arm7", "tree30")


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """Milliseconds, as least times: of 10,000 states, and of one integral over three variables.

    ``jax`` is the jitted ``jax.vmap`` of ``dyn.jax("rhs")``, ``callback`` that of ``dyn.rhs`` by ``jax.pure_callback``,
    ``grad`` the gradient of the sum of squares by all states, in reverse.  ``error`` is the largest difference.
    """
    jax.config.update("jax_enable_x64", True)
    names, repeats = (MODELS[:1], 3) if smallest else (MODELS, REPEATS)
    return {
        "a batch of rhs": [_batch(name, repeats) for name in names],
        "its gradient": [_gradient(name, repeats) for name in names],
        "an integral": [_integral(repeats)],
    }


def _batch(name: str, repeats: int) -> report.Row:
    dyn = kc.load(name)
    x = np.random.default_rng(0).uniform(0.1, 0.5, (10_000, dyn.n_x))
    on_device = jnp.asarray(x)
    shape = jax.ShapeDtypeStruct((dyn.n_x,), np.float64)

    def by_callback(t: Any, x: Any) -> Any:
        return jax.pure_callback(
            lambda t, x: dyn.rhs(np.asarray(t), np.asarray(x)), shape, t, x, vmap_method="expand_dims"
        )

    ours, theirs = (jax.jit(jax.vmap(f, (None, 0))) for f in (dyn.jax(), by_callback))
    calls: dict[str, Callable[[], Any]] = {
        "rhs": lambda: dyn.rhs(0.0, x),
        "jax": lambda: ours(0.0, on_device).block_until_ready(),
        "callback": lambda: theirs(0.0, on_device).block_until_ready(),
    }
    row: report.Row = {"case": name, **_milliseconds(calls, repeats)}
    row["jax/rhs"], row["callback/rhs"] = row["jax"] / row["rhs"], row["callback"] / row["rhs"]
    row["error"] = float(np.abs(ours(0.0, on_device) - dyn.rhs(0.0, x)).max())
    return row


def _gradient(name: str, repeats: int) -> report.Row:
    """In a table of its own: the matrices of `linearize` leave nothing else in the caches."""
    dyn = kc.load(name)
    f = dyn.jax()
    x = np.random.default_rng(0).uniform(0.1, 0.5, (10_000, dyn.n_x))
    gradient = jax.jit(jax.grad(lambda x: (jax.vmap(f, (None, 0))(0.0, x) ** 2).sum()))
    on_device = jnp.asarray(x)
    calls: dict[str, Callable[[], Any]] = {
        "linearize": lambda: dyn.linearize(0.0, x),
        "grad": lambda: gradient(on_device).block_until_ready(),
    }
    row: report.Row = {"case": name, **_milliseconds(calls, min(repeats, 11))}
    row["grad/linearize"] = row["grad"] / row["linearize"]
    expected = dyn.rhs_vjp(0.0, x, 2.0 * dyn.rhs(0.0, x))
    row["error"] = float(np.abs(gradient(on_device) - expected).max() / np.abs(expected).max())
    return row


def _integral(repeats: int) -> report.Row:
    """Derivatives of an acceleration of the cart by an angle, a rate and a mass."""
    dyn = kc.load("cart_pole")
    in_c = dyn.lowlevel_callable("udot", ["theta", "omega", "m"], "v")

    def in_python(theta: float, omega: float, m: float) -> float:
        return dyn.udot(0.0, dyn.state(theta=theta, omega=omega), p={"m": m})[0]

    def integral(function: Any) -> float:
        return nquad(function, [(0.0, 0.5), (0.0, 1.0), (0.1, 0.3)], opts={"epsrel": 1e-4})[0]

    calls = {"c": lambda: integral(in_c), "python": lambda: integral(in_python)}
    row: report.Row = {"case": "nquad", **_milliseconds(calls, min(repeats, 5))}
    row["python/c"], row["error"] = row["python"] / row["c"], abs(integral(in_c) - integral(in_python))
    return row


def _milliseconds(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The least times, measured in turns."""

    def batch(call: Callable[[], Any]) -> Callable[[int], float]:
        return timeit.Timer(call).timeit

    times = interleaved([batch(call) for call in calls.values()], repeats)
    return {name: 1e-6 * time.least for name, time in zip(calls, times, strict=True)}


if __name__ == "__main__":
    report.main("other_code", QUESTION, measure)
