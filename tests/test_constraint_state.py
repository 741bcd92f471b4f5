# SPDX-License-Identifier: BSD-3-Clause
"""One object knows all that is asked of a state's constraints, and asks each kernel once."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import part

import kanecore as kc
from kanecore.binding.kernel_methods import InternalKernels
from kanecore.compiled_model import CompiledModel
from kanecore.constraints.constraint_state import ConstraintState
from kanecore.kernels import KERNEL_GROUPS

MODELS = part(
    ["bricard", "five_bar", "four_bar", "rolling_disc", "rrp_redundant", "stewart", "whipple_bicycle"],
    ["four_bar", "rrp_redundant"],
)
PUBLIC = [name for name in KERNEL_GROUPS if hasattr(CompiledModel, name)]
INTERNAL = [name for name in KERNEL_GROUPS if hasattr(InternalKernels, name)]


def recorded(dyn: CompiledModel) -> Counter[tuple[Any, ...]]:
    """How often each kernel of a model is asked for each state, time and input from now on."""
    asked: Counter[tuple[Any, ...]] = Counter()

    def recording(kind: type, name: str) -> Callable[..., Any]:
        def kernel(self: Any, t: Any, x: Any, *args: Any, r: Any = None, **values: Any) -> Any:
            inputs = dyn.names.resolved("input", {}) if r is None else r
            rows = [np.asarray(t)[..., np.newaxis], np.asarray(x), np.asarray(inputs)]
            shape = np.broadcast_shapes(*(row.shape[:-1] for row in rows))
            states = np.concatenate([np.broadcast_to(row, (*shape, row.shape[-1])) for row in rows], axis=-1)
            asked.update((name, *state) for state in states.reshape(-1, states.shape[-1]).tolist())
            return getattr(kind, name)(self, t, x, *args, r=r, **values)

        return kernel

    dyn.__class__ = type("Recording", (CompiledModel,), {name: recording(CompiledModel, name) for name in PUBLIC})
    for name in INTERNAL:
        setattr(dyn.kernels, name, partial(recording(InternalKernels, name), dyn.kernels))
    return asked


@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_of_a_state(name: str) -> None:
    """`check` asks each kernel once for a state and keeps nothing in the model; nobody can change what it found."""
    dyn = kc.load(name)
    before = set(vars(dyn))
    x = dyn.check().x.copy()
    assert set(vars(dyn)) == before
    asked = recorded(dyn)
    assert dyn.check(x).rank
    assert {"mass_matrix", "constraint_jacobian", "project", "udot"} <= {kernel for kernel, *_ in asked}
    assert {key: n for key, n in asked.items() if n > 1} == {}

    state = ConstraintState(dyn, 0.0, x)
    facts = [state.x, state.rows, state.mass, state.speed_units, state.coordinate_units, state.misses, state.clear_rows]
    copies = [fact.copy() for fact in facts]
    x[:] = 0.0
    for fact, copy in zip(facts, copies, strict=True):
        np.testing.assert_array_equal(fact, copy)
        with pytest.raises(ValueError, match="read-only"):
            fact[...] = 0.0


def test_many_states_are_each_alone() -> None:
    """The facts of a batch are those of its states, to the bit."""
    dyn = kc.load("four_bar")
    x = dyn.check().x + np.random.default_rng(0).uniform(-0.1, 0.1, (5, dyn.n_x))
    batch = ConstraintState(dyn, 0.0, x[0]).nearby
    for i, place in enumerate(batch.x):
        state = ConstraintState(dyn, 0.0, place)
        np.testing.assert_array_equal(state.rows, batch.rows[i])
        np.testing.assert_array_equal(state.speed_units, batch.speed_units[i])
        np.testing.assert_array_equal(state.rates[0], batch.rates[0][i])
        np.testing.assert_array_equal(state.coordinate_units, batch.coordinate_units[i])


def beside_a_planet(heavy: bool) -> kc.CompiledModel:
    """A bob on a rod of 1 cm; beside it a body at the Earth's distance and with its mass, which nothing joins."""
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    q, u = me.dynamicsymbols("x y far"), me.dynamicsymbols("vx vy fast")
    bob, planet = O.locatenew("bob", q[0] * N.x + q[1] * N.y), O.locatenew("planet", q[2] * N.x)
    bob.set_vel(N, u[0] * N.x + u[1] * N.y)
    planet.set_vel(N, u[2] * N.x)
    bodies, n = [me.Particle("bob", bob, 0.01), me.Particle("planet", planet, 6e24)], 2 + heavy
    rates = [a.diff() - b for a, b in zip(q[:n], u[:n], strict=True)]
    rod = q[0] ** 2 + q[1] ** 2 - sm.Rational(1, 10**4)
    return kc.compile(kc.Model(N, q[:n], u[:n], rates, bodies=bodies[: n - 1], configuration_constraints=[rod]))


def test_residuals_beside_a_body_that_is_far_heavy_and_unconnected() -> None:
    """The planet changes no residual, and a bob beside its rod is refused; rounding of one that is off zero is not."""
    alone, beside = beside_a_planet(False), beside_a_planet(True)
    x, y = [0.008, 0.0061, 0.6, -0.79], [0.008, 0.0061, 1.5e11, 0.6, -0.79, 3e4]
    expected = alone.check(x).residuals
    assert beside.check(y).residuals == pytest.approx(expected)
    assert min(expected.values()) > 1e-3
    for dyn, state in ((alone, x), (beside, y)):
        with pytest.raises(ValueError, match="does not satisfy the constraints"):
            dyn.simulate((0.0, 0.1), state)
    beside.simulate((0.0, 0.1), [0.01, 1e-17, 1.5e11, 1e-17, 0.3, 3e4])
