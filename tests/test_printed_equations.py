# SPDX-License-Identifier: BSD-3-Clause
"""The equations of motion as SymPy equations and as LaTeX, against equations in closed form."""

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import knife_edge, pendulum_in_a_plane
from test_closed_forms_of_motion import atwood, c, g, l, m1, m2, pendulum, q, u, u1, u2, x1, x2

import kanecore as kc
from kanecore.gallery import cart_pole
from kanecore.graph.sympy_bridge import as_printed


def test_kanes_equations_of_a_pendulum() -> None:
    """−m l² u̇ − c u − m g l sin θ = 0, behind q̇ = u, which needs no line."""
    model, _ = pendulum()
    [equation] = model.equations()
    assert isinstance(equation, sm.Eq)
    assert equation.rhs == 0
    assert sm.expand(equation.lhs + m1 * l**2 * u.diff() + c * u + m1 * g * l * sm.sin(q)) == 0
    [matrices] = model.equations("mass_matrix")
    M, udot = matrices.lhs.args
    assert M[0] == m1 * l**2
    assert udot[0] == u.diff()
    assert sm.expand(matrices.rhs[0] + c * u + m1 * g * l * sm.sin(q)) == 0


def test_constraints_bring_multipliers_and_their_rows() -> None:
    first, second, rope = atwood().equations()
    pull = kc.multiplier(0)
    assert sm.expand(first.lhs - (m1 * g - m1 * u1.diff() + pull)) == 0
    assert sm.expand(second.lhs - (m2 * g - m2 * u2.diff() + pull)) == 0
    assert rope.lhs == u1.diff() + u2.diff()
    solved = sm.solve([e.lhs for e in (first, second, rope)], [pull, u1.diff(), u2.diff()])
    assert sm.simplify(solved[pull] + 2 * m1 * m2 * g / (m1 + m2)) == 0
    assert {x1, x2}.isdisjoint(rope.lhs.atoms())


def test_equations_of_q_where_speeds_are_others() -> None:
    v, w = me.dynamicsymbols("v w")
    model = knife_edge(velocity_constraints=[v - 2 * w])
    equations = model.equations()
    assert len(equations) == model.n_q + model.n_u + model.n_constraints
    assert equations[0].lhs == model.coordinates[0].diff()


def two_particles(names: str, mass: str, length: str) -> kc.Model:
    """A double pendulum whose first bob runs on a blade."""
    angles, speeds = me.dynamicsymbols(names), me.dynamicsymbols("w_a w_b")
    m, side = sm.symbols(f"{mass} {length}")
    N, point, bodies = me.ReferenceFrame("N"), me.Point("O"), []
    point.set_vel(N, 0)
    for name, angle in zip("AB", angles, strict=True):
        frame = N.orientnew(name, "Axis", [angle, N.z])
        point = point.locatenew(f"P_{name}", side * frame.x)
        bodies.append(me.Particle(name, point, m))
    row = speeds[0] * sm.cos(angles[0]) - speeds[1] * angles[1]
    rates = [angle.diff() - speed for angle, speed in zip(angles, speeds, strict=True)]
    return kc.Model(N, angles, speeds, rates, bodies=bodies, velocity_constraints=[row])


@pytest.mark.parametrize(
    ("names", "mass", "length", "others"),
    [
        ("q_1 q_2", "m", "l", ("z_{1}", r"\lambda_{0}")),
        ("z1 z_2", "m", "lambda0", ("z_{3}", r"\Lambda_{0}")),
        ("z1 q", "lambda_0", "Lambda0", ("z_{2}", r"\lambda_{c1 0}")),
    ],
)
def test_what_is_added_prints_as_nothing_of_the_user(
    names: str, mass: str, length: str, others: tuple[str, str]
) -> None:
    model = two_particles(names, mass, length)
    own = set(map(as_printed, (*model.coordinates, *model.speeds, *model.parameters)))
    for text in (model.latex(), model.latex("forcing")):
        left = {line.partition(" &=")[0] for line in text.splitlines()[1:-1]}
        assert others[0] in left
        assert left.isdisjoint(own)
    assert rf"\left[\begin{{matrix}}{others[1]}\end{{matrix}}\right]" in model.latex()


@pytest.mark.parametrize(("names", "mass"), [("theta1 q", "theta_1"), ("w q", "wdot_a")])
def test_symbols_that_print_alike(names: str, mass: str) -> None:
    model = two_particles(names, mass, "l")
    for kernel in ((), ("forcing",)):
        with pytest.warns(kc.KanecoreWarning, match=f"{mass}.* both print as"):
            model.latex(*kernel)


def test_what_is_asked_for_wrongly() -> None:
    with pytest.raises(ValueError, match="form is 'newton': write one of 'kane', 'mass_matrix'"):
        pendulum()[0].equations("newton")
    with pytest.raises(ValueError, match="nonholonomic=True asks for a kernel"):
        pendulum()[0].latex(nonholonomic=True)


def test_latex_of_all_equations() -> None:
    text = cart_pole.build().latex(nested=True)
    assert text.startswith("\\begin{aligned}\n\\left[\\begin{matrix}M + m &")
    assert r"\dot{v}" in text or r"\dot{u}" in text
    assert text.count("&=") == 1
    constrained = atwood().latex()
    assert constrained.count(r"\\") >= 1
    assert "lambda" in constrained
    assert len(pendulum_in_a_plane("filed").latex("generalized_active_forces", nonholonomic=True)) > 20
