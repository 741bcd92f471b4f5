# SPDX-License-Identifier: BSD-3-Clause
"""u̇, multipliers and linear equations in closed form, as textbooks print them."""

from importlib import import_module

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from sweep import part

import kanecore as kc

g, l, m1, m2, c = sm.symbols("g l m1 m2 c")  # noqa: E741  # as in books
q, u, x1, x2, u1, u2 = me.dynamicsymbols("q u x1 x2 u1 u2")


def pendulum() -> tuple[kc.Model, me.ReferenceFrame]:
    N, O = ground()  # noqa: E741
    A = me.ReferenceFrame("A")
    A.orient_axis(N, N.z, q)
    A.set_ang_vel(N, u * N.z)
    bob = O.locatenew("P", l * A.x)
    bob.v2pt_theory(O, N, A)
    loads = [(bob, m1 * g * N.x), (A, -c * u * N.z)]
    return kc.Model(N, [q], [u], rates([q], [u]), bodies=[me.Particle("P", bob, m1)], forcelist=loads, points=[bob]), A


def atwood() -> kc.Model:
    """Two weights on a rope over a pulley; the row of the rope is its pull on both."""
    N, O = ground()  # noqa: E741
    places = [O.locatenew(f"P{i}", -x * N.y) for i, x in enumerate((x1, x2))]
    bodies = [me.Particle(f"P{i}", point, m) for i, (point, m) in enumerate(zip(places, (m1, m2), strict=True))]
    loads = [(body.point if hasattr(body, "point") else body.masscenter, -body.mass * g * N.y) for body in bodies]
    return kc.Model(
        *(N, [x1, x2], [u1, u2], rates([x1, x2], [u1, u2])),
        bodies=bodies,
        forcelist=loads,
        configuration_constraints={"rope": x1 + x2 - l},
    )


def test_the_tension_of_atwoods_machine() -> None:
    """T = 2 m1 m2 g / (m1 + m2), against the weights (Goldstein, Poole & Safko 2002, section 1.6, example 2)."""
    model = atwood()
    assert model.symbolic("multipliers", nested=True)[0].equals(-2 * g * m1 * m2 / (m1 + m2))
    assert model.symbolic("udot", nested=True)[0].equals(g * (m1 - m2) / (m1 + m2))
    assert sm.count_ops(model.symbolic("multipliers", nested=True)) <= 6


def test_the_linear_pendulum() -> None:
    """[A, B] at a symbolic equilibrium: hanging, and upside down."""
    model, _ = pendulum()
    damped = {"c": 0, q: 0, "u": 0}
    assert model.symbolic("linearize", nested=True, at=damped) == sm.Matrix([[0, 1], [-g / l, 0]])
    assert model.symbolic("linearize", nested=True, at={q: sm.pi, u: 0})[1, :] == sm.Matrix([[g / l, -c / (l**2 * m1)]])
    with pytest.raises(KeyError, match="no symbol 'theta'"):
        model.symbolic("linearize", at={"theta": 0})
    with pytest.raises(kc.ModelError, match="at= has x1"):
        model.symbolic("linearize", at={q: x1})


@pytest.mark.parametrize("name", part(["slider_crank", "furuta_pendulum", "cart_pole"], ["cart_pole"]))
def test_against_the_compiled_model(name: str) -> None:
    """At a random state on the constraints: u̇, λ and ∂ẋ/∂(x, r)."""
    module = import_module(f"kanecore.gallery.{name}")
    model = module.build()
    dyn = kc.compile(model, parameters=module.PARAMETERS)
    x = np.random.default_rng(4).uniform(0.3, 0.8, dyn.n_x)
    x = dyn.consistent(0.0, x) if dyn.n_constraints else x
    at = dict(zip((*model.coordinates, *model.speeds), x, strict=True))
    at.update(zip(model.parameters, dyn.kernels.values("parameter"), strict=True))
    at.update(zip(model.inputs, dyn.kernels.values("input"), strict=True))
    for kernel in ("udot", *(["multipliers"] if dyn.n_constraints else [])):
        variables, found = model.symbolic(kernel)
        values = dict(at)
        for z, e in variables:
            values[z] = e.xreplace(values)
        numbers = np.array([float(e.xreplace(values)) for e in found])
        np.testing.assert_allclose(numbers, getattr(dyn, kernel)(0.0, x), rtol=1e-9, atol=1e-10)


def test_speeds_apart_are_divided_by_their_own_masses() -> None:
    model = import_module("kanecore.gallery.rrp").build()
    mass, udot = (model.symbolic(kernel, nested=True) for kernel in ("mass_matrix", "udot"))
    for i in range(3):
        assert sm.denom(udot[i]).free_symbols == mass[i, i].free_symbols


def test_vectors_are_in_the_axes_of_a_person() -> None:
    model, A = pendulum()
    [[partial]] = model.symbolic("partial_velocities", vectors=True)
    assert partial == l * A.y
    [acceleration] = model.symbolic("accelerations", vectors=True)
    assert acceleration == -l * u**2 * A.x + l * u.diff() * A.y
    [[turned]] = model.symbolic("partial_velocities", vectors=True, frame="N")
    assert turned.to_matrix(A).applyfunc(sm.simplify) == sm.Matrix([0, l, 0])
    assert model.symbolic("partial_velocities", nested=True, frame=A) == [sm.Matrix([0, l, 0])]
    with pytest.raises(KeyError, match="no frame 'B'"):
        model.symbolic("partial_velocities", frame="B")
    with pytest.raises(kc.ModelError, match=r"frame= and vectors= apply to .* not to forcing"):
        model.symbolic("forcing", frame=A)
