# SPDX-License-Identifier: BSD-3-Clause
"""Kinematical equations whose coefficients are parameters: q̇ is as accurate as the equations are, at any size."""

from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import part

import kanecore as kc
from kanecore.graph.evaluation import evaluate

p = sm.Symbol("p")
q = me.dynamicsymbols("q1:5")
u = me.dynamicsymbols("u1:5")
q1, q2, q3, q4 = (x.diff() for x in q)
u1, u2, u3, u4 = u

EQUATIONS = {
    "in two rows": [q1 + p * q2 - u1, p * q1 + q2 - u2],
    "a number and a parameter": [q1 + p * q2 - u1, 2 * q1 + q2 - u2],
    "beside a sine": [q1 + p * q2 - u1, sm.cos(q[0]) * q1 + q2 - u2],
    "beside a coordinate": [q1 + p * q[1] * q2 - u1, q1 - q2 - u2],
    "in the speeds": [q1 - q2 - p * u1, q1 + p * q2 - u2],
    "around": [q1 + p * q2 - u1, q2 + p * q3 - u2, q3 + p * q1 - u3],
    "above the diagonal": [q1 + p * q2 + p * q3 - u1, q2 + p * q3 - u2, p * q1 + q3 - u3],
    "four": [q1 + p * q4 - u1, q2 + p * q3 + q1 - u2, q3 + p * q2 - u3, q4 + p * q1 + q3 - u4],
}


@pytest.mark.parametrize("size", part([1e-12, 1e-8, 1e-4, 1.7, 1e4, 1e8, 1e12], [1e-8, 1e8, 1e12]))
@pytest.mark.parametrize("name", EQUATIONS)
def test_qdot_keeps_its_digits(name: str, size: float) -> None:
    equations = EQUATIONS[name]
    n = len(equations)
    N, P = me.ReferenceFrame("N"), me.Point("P")
    P.set_vel(N, sum((u[i] * axis for i, axis in zip(range(min(n, 3)), N, strict=False)), me.Vector(0)))
    model = kc.Model(N, q[:n], u[:n], equations, bodies=[me.Particle("P", P, 1)], parameters=[p])
    derivation = model.derivation
    d, g = derivation.description, derivation.graph
    state = dict(zip([*q[:n], *u[:n]], [0.3, 0.7, -0.4, 1.1][:n] + [0.9, -0.6, 0.5, 0.8][:n], strict=True))
    keys = [g.nodes[i][1] for i in (*d.coordinates, *d.speeds, *d.parameters)]
    got = evaluate(g, derivation.kernel("qdot").roots, dict(zip(keys, [*state.values(), size], strict=True)))

    def exact(e: Any) -> Any:
        values = {p: size, **state}
        return sm.sympify(e).subs({x: sm.Rational(value) for x, value in values.items()}).evalf(40)

    rates = [x.diff() for x in q[:n]]
    matrix = sm.Matrix(equations).jacobian(rates).applyfunc(exact)
    right = -sm.Matrix(equations).subs(dict.fromkeys(rates, 0)).applyfunc(exact)
    expected = matrix.LUsolve(right)
    scale = max(abs(float(x)) for x in expected)
    assert got == pytest.approx([float(x) for x in expected], rel=1e-13, abs=1e-15 * scale)
