# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.derive.reports.symbolic_expressions: each kernel of the compiled model in symbols, or why it has none."""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from sweep import part

import kanecore as kc
from kanecore.gallery import appell_hamel, ball_turntable, free_body, rotating_tube, rrp, slider_crank
from kanecore.kernels import KERNELS

q1, q2, u1, u2, w = me.dynamicsymbols("q1 q2 u1 u2 w")
m, c, length, g = sm.symbols("m c l g", positive=True)
KD = [q1.diff() - u1, q2.diff() - u2]


def unsymmetric() -> kc.Model:
    """A particle in the plane, with a force along one axis that grows with the acceleration along the other."""
    N, origin = ground()
    P = origin.locatenew("P", q1 * N.x + q2 * N.y)
    loads = [(P, -c * u2.diff() * N.x - m * g * N.y)]
    return kc.Model(N, [q1, q2], [u1, u2], KD, bodies=[me.Particle("P", P, m)], forcelist=loads)


def pendulum_with_reaction() -> kc.Model:
    """A pendulum whose pin may move along N.x by an auxiliary speed."""
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")
    A.orient_axis(N, N.z, q1)
    A.set_ang_vel(N, u1 * N.z)
    origin.set_vel(N, 0)
    pin = origin.locatenew("pin", 0)
    pin.set_vel(N, w * N.x)
    P = pin.locatenew("P", length * A.x)
    P.v2pt_theory(pin, N, A)
    loads = [(P, -m * g * N.y)]
    return kc.Model(N, [q1], [u1], KD[:1], bodies=[me.Particle("P", P, m)], forcelist=loads, u_auxiliary=[w])


def driven_blade() -> kc.Model:
    """A particle on a blade that is driven sideways: no speed multiplies part of its constraint."""
    N, origin = ground()
    P = origin.locatenew("P", q1 * N.x + q2 * N.y)
    t = me.dynamicsymbols._t
    row = sm.cos(q1) * u2 - sm.sin(q1) * u1 - c * sm.sin(t)
    return kc.Model(
        *(N, [q1, q2], [u1], KD),
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, -m * g * N.y)],
        velocity_constraints=[row],
        u_dependent=[u2],
    )


MODELS: dict[str, Callable[[], kc.Model]] = {
    "rrp": rrp.build,
    "rotating_tube": rotating_tube.build,
    "free_body": free_body.build,
    "slider_crank": slider_crank.build,
    "ball_turntable": ball_turntable.build,
    "appell_hamel": appell_hamel.build,
    "unsymmetric": unsymmetric,
    "pendulum_with_reaction": pendulum_with_reaction,
    "driven_blade": driven_blade,
}
FORCES = np.linspace(-1.0, 1.0, 30)
NAMES = [*(kernel.name for kernel in KERNELS), "partial_accelerations", "partial_angular_accelerations"]


@cache
def described(name: str) -> kc.Model:
    return MODELS[name]()


@cache
def compiled(name: str) -> kc.CompiledModel:
    dyn = kc.compile(described(name))
    rng = np.random.default_rng(1)
    dyn.parameters.update({p: rng.uniform(0.5, 1.5) for p in dyn.parameters})
    dyn.inputs.update({r: rng.uniform(-1.0, 1.0) for r in dyn.inputs})
    return dyn


def numbers(expressions: Any, at: dict[Any, float]) -> np.ndarray:
    """Intermediates, then expressions, at a state."""
    intermediates, results = expressions
    values = {symbol: sm.Float(value, 17) for symbol, value in at.items()}
    for symbol, expression in intermediates:
        values[symbol] = sm.sympify(expression).xreplace(values).evalf(17)
    if not isinstance(results, list):
        results = [results]
    each = [np.array(sm.Matrix([e] if isinstance(e, sm.Expr) else e).xreplace(values).evalf(17)) for e in results]
    return np.array(each, dtype=np.float64)


def state_of(name: str, rng: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray, dict[Any, float]]:
    """t, x on the constraints, u̇, and the values of all symbols."""
    model, dyn = described(name), compiled(name)
    t = 0.3
    x = rng.uniform(0.2, 0.9, dyn.n_x)
    for places in dyn.unit:
        x[list(places)] /= np.linalg.norm(x[list(places)])
    if dyn.n_constraints:
        x = dyn.consistent(t, x)
    given = rng.uniform(-1.0, 1.0, dyn.n_u)
    at = {me.dynamicsymbols._t: t}
    at.update(zip([*model.coordinates, *model.speeds], x.tolist(), strict=True))
    at.update(zip([u.diff() for u in model.speeds], given.tolist(), strict=True))
    at.update((kc.multiplier(i), FORCES[i]) for i in range(dyn.n_constraints))
    at.update(zip(model.inputs, dyn.kernels.values("input").tolist(), strict=True))
    at.update(zip(model.parameters, dyn.kernels.values("parameter").tolist(), strict=True))
    return t, x, given, at


def called(dyn: kc.CompiledModel, name: str, t: float, x: np.ndarray, udot: np.ndarray, **options: bool) -> np.ndarray:
    """A kernel of the compiled model, by its name or as the remainder of another; λ are `FORCES`."""
    row = next((kernel for kernel in KERNELS if kernel.name == name), None)
    if row is not None and row.remainder_of:
        return np.asarray(getattr(dyn, row.remainder_of)(t, x, remainder=True, **options))
    method = getattr(dyn, name, None) or dyn.kernels.method(name)
    beyond = (udot,) if row is not None and row.reads_udot else ()
    beyond += (FORCES[: dyn.n_constraints],) if row is not None and row.reads_multipliers else ()
    return np.asarray(method(t, x, *beyond, **options))


def arranged(result: np.ndarray, name: str) -> np.ndarray:
    """As `symbolic` gives it: vectors in space are columns; the columns of an orientation are axes as they are."""
    row = next((kernel for kernel in KERNELS if kernel.name == name), None)
    if row is None or (row.shape[1:][-1:] == ("3",) and name != "orientations"):
        result = np.swapaxes(result, -1, -2)
    return result


def solved(name: str, kernel: str) -> bool:
    """Whether what the kernel reads is solved at run time, and stands in the expression as u̇ and λ."""
    derivation = described(name).derivation
    if kernel in ("rhs", "udot", "multipliers"):  # in closed form, where they have an expression
        return False
    return bool(derivation.solved_at_run_time and derivation.kernel(kernel).after_udot)


SHORT = [*product(["appell_hamel"], ["rhs", "rhs_hessian", "reactions", "multipliers"])]
SHORT += [
    ("rotating_tube", "rhs"),
    ("unsymmetric", "udot"),
    ("unsymmetric", "mass_matrix_inverse"),
    ("rotating_tube", "multipliers"),
]


@pytest.mark.parametrize(("name", "kernel"), part(product(MODELS, NAMES), SHORT))
def test_expression_or_reason(name: str, kernel: str) -> None:
    """An expression is the kernel's value at random states on the constraints; else the error says what has one."""
    model, dyn = described(name), compiled(name)
    try:
        expressions = model.symbolic(kernel)
    except kc.ModelError as error:
        message = str(error)
        assert repr(model.name) in message
        assert kernel.replace("_", " ") in message.replace("_", " ") or "independent speeds" in message
        if "no expression" in message:
            having = message.rpartition("; ")[2].removesuffix(" have").replace(" and ", ", ").split(", ")
            assert len(having) >= 2
            for other in having:
                assert model.symbolic(other) is not None
        return
    rng = np.random.default_rng(2)
    for _ in range(2):
        t, x, udot, at = state_of(name, rng)
        if kernel in {row.name for row in KERNELS} and solved(name, kernel):
            at.update(zip([u.diff() for u in model.speeds], dyn.udot(t, x).tolist(), strict=True))
            if dyn.n_constraints:
                at.update((kc.multiplier(i), value) for i, value in enumerate(dyn.multipliers(t, x).tolist()))
        expected = arranged(called(dyn, kernel, t, x, udot), kernel)
        found = numbers(expressions, at)
        np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-9, atol=1e-9)


IN_INDEPENDENT_SPEEDS = [
    kernel.name for kernel in KERNELS if kernel.nonholonomic or (kernel.remainder_of and kernel.group == "forces")
]


@pytest.mark.parametrize("kernel", IN_INDEPENDENT_SPEEDS)
@pytest.mark.parametrize(
    "name",
    part(["rrp", "slider_crank", "ball_turntable", "driven_blade", "appell_hamel"], ["ball_turntable", "driven_blade"]),
)
def test_nonholonomic(name: str, kernel: str) -> None:
    """F̃_r, F̃*_r and the partial velocities of the independent speeds, against the compiled model."""
    model, dyn = described(name), compiled(name)
    expressions = model.symbolic(kernel, nonholonomic=True)
    rng = np.random.default_rng(3)
    for _ in range(2):
        t, x, udot, at = state_of(name, rng)
        expected = arranged(called(dyn, kernel, t, x, udot, nonholonomic=True), kernel)
        found = numbers(expressions, at)
        assert found.size == expected.size
        np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-9, atol=1e-9)


def test_shapes_of_lists() -> None:
    """Points, frames and joints are lists; vectors in space are columns, of the independent speeds alone."""
    model = described("ball_turntable")
    n_u, dof = len(model.speeds), 3
    full, reduced = (model.symbolic("partial_velocities", nested=True, nonholonomic=x) for x in (False, True))
    assert {e.shape for e in full} == {(3, n_u)}
    assert {e.shape for e in reduced} == {(3, dof)}
    assert model.symbolic("partial_accelerations", nested=True) == reduced
    assert model.symbolic("generalized_active_forces", nested=True, nonholonomic=True).shape == (dof, 1)
    crank = described("slider_crank")
    assert crank.symbolic("constraint_slopes", nested=True).shape == (2, 4 + len(crank.inputs))


def test_where_nonholonomic_makes_no_sense() -> None:
    with pytest.raises(kc.ModelError, match=r"nonholonomic=True applies to partial_velocities, .* not to mass_matrix"):
        described("rrp").symbolic("mass_matrix", nonholonomic=True)
    N, origin = ground()
    P = origin.locatenew("P", q1 * N.x + q2 * N.y)
    model = kc.Model(
        *(N, [q1, q2], [u1, u2], KD), bodies=[me.Particle("P", P, m)], velocity_constraints=[u1 - sm.sin(q2) * u2]
    )
    with pytest.raises(kc.ModelError, match="G has 1 rows, and its description names 0 speeds in u_dependent"):
        model.symbolic("partial_accelerations")


def test_unknown_kernel() -> None:
    with pytest.raises(KeyError, match="no kernel 'mass'"):
        described("rrp").symbolic("mass")


@pytest.mark.parametrize(
    ("kernel", "left"),
    [("partial_accelerations", "a_r^"), ("reaction_slopes", r"\partial_\lambda^"), ("orientations", "R^")],
)
def test_latex_of_lists(kernel: str, left: str) -> None:
    assert left in described("ball_turntable").latex(kernel, nested=True)
