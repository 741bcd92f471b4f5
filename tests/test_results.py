# SPDX-License-Identifier: BSD-3-Clause
"""Reports, explanations, SymPy expressions and LaTeX: what kanecore.derive gives people to read."""

from collections.abc import Callable
from importlib import import_module

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from oracle.instant_systems import ball_on_turntable, described, resting_points_and_loops, rolling_disc
from sweep import models

import kanecore as kc
from kanecore.gallery import five_bar, free_body, rotating_tube, rrp

#: One with a velocity that was set and contradicts its position: the rolling disc.
REPORTED: dict[str, Callable[[], kc.Model]] = {
    "rotating_tube": rotating_tube.build,
    "rrp": rrp.build,
    "free_body": free_body.build,
    "rolling_disc": lambda: described(rolling_disc(), name="rolling_disc"),
    "ball_on_turntable": lambda: described(ball_on_turntable(oriented=True), name="ball_on_turntable"),
    "resting_points": lambda: described(resting_points_and_loops(), name="resting_points"),
}


@pytest.mark.parametrize("name", REPORTED)
def test_report(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.report.txt", REPORTED[name]().report() + "\n")


@pytest.mark.parametrize("name", models())
def test_reports_fit_eighty_columns(name: str) -> None:
    text = import_module(f"kanecore.gallery.{name}").build().report()
    assert max(map(len, text.splitlines())) <= 80


def test_long_lines_go_on_below_themselves() -> None:
    """Words and names stay whole, and nothing is lost."""
    q, u = me.dynamicsymbols([f"coordinate_{i}" for i in range(9)]), me.dynamicsymbols([f"u{i}-x" for i in range(9)])
    long = sm.Symbol("p" * 100)
    N, origin = ground()
    P = origin.locatenew("P", sum(q) * long * N.x)
    kd_eqs = [a.diff() - b for a, b in zip(q, u, strict=True)]
    lines = kc.Model(N, q, u, kd_eqs, bodies=[me.Particle("bob", P, sm.Integer(1))]).report().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  q: "))
    assert [len(line) <= 80 for line in lines[start : start + 5]] == [True, True, True, True, False]
    assert lines[start + 1].startswith("      coordinate_")
    assert " ".join(lines[start : start + 2]).split()[1:] == [f"coordinate_{i}" for i in range(9)]
    assert lines[start + 4].split()[-1] == "p" * 100


@pytest.mark.parametrize("name", ["rotating_tube", "rrp", "rolling_disc"])
def test_explanation(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.explain.txt", REPORTED[name]().explain() + "\n")


def test_shares_of_an_explanation_add_up() -> None:
    """What loads and bodies give, read back from the text, is F_r and F*_r."""
    model = rotating_tube.build()
    names = {str(s).removesuffix("(t)"): s for s in (*model.parameters, *model.coordinates, *model.speeds)}
    inputs = {str(s): s for s in model.inputs}
    theta = next(s for s in model.inputs if not isinstance(s, sm.Derivative))
    total = {"F": dict.fromkeys(("u1", "u2"), sm.S.Zero), "F*": dict.fromkeys(("u1", "u2"), sm.S.Zero)}
    for line in model.explain().splitlines():
        if " = " in line:
            left, right = line.strip().split(" = ")
            letter, speed = left.split("_")
            right = right.replace("theta'", "theta_d").replace("u1'", "u1_d").replace("u2'", "u2_d")
            known = names | {
                "theta": theta,
                "theta_d": theta.diff(),
                "u1_d": names["u1"].diff(),
                "u2_d": names["u2"].diff(),
            }
            total[letter][speed] += sm.sympify(right, locals=known)
    assert inputs
    for letter, kernel in (("F", "generalized_active_forces"), ("F*", "generalized_inertia_forces")):
        assert (sm.Matrix([*total[letter].values()]) - model.symbolic(kernel, nested=True)).expand() == sm.zeros(2, 1)


def test_latex_is_what_the_symbols_say() -> None:
    model = rotating_tube.build()
    text = model.latex("generalized_active_forces", nested=True)
    assert text.startswith("\\begin{aligned}\nF &= \\left[\\begin{matrix}")
    assert text.endswith("\n\\end{aligned}")
    assert r"\cos{\left(\theta \right)}" in text
    assert r"\dot{u}_{1}" in model.latex("generalized_inertia_forces", nested=True)
    intermediates, forcing = model.forcing
    lines = model.latex("forcing").splitlines()[1:-1]
    assert len(lines) == len(intermediates) + 1
    assert lines[0].startswith(f"{me.mlatex(intermediates[0][0])} &= {me.mlatex(intermediates[0][1])}")
    assert lines[-1] == f"f &= {me.mlatex(forcing)}"


def test_latex_names_points_and_frames() -> None:
    q, u = me.dynamicsymbols("q u")
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("rod_A"), me.Point("O")
    A.orient_axis(N, N.z, q)
    origin.set_vel(N, 0)
    P = origin.locatenew("bob_1", A.x)
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("bob", P, 1)], frames=[A])
    names = {"partial_velocities": r"v_r^{\text{bob\_1}}", "partial_angular_velocities": r"\omega_r^{\text{rod\_A}}"}
    for (kernel, name), axis in zip(names.items(), "yz", strict=True):
        assert rf"{name} &= \left(\mathbf{{\hat{{rod_a}}_{axis}}}\right)" in model.latex(kernel)


def test_names_are_text_in_latex() -> None:
    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P = origin.locatenew("A_1%{x}$\\^", q * N.x)
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("bob", P, 1)])
    assert r"\text{A\_1\%\{x\}\$\textbackslash{}\textasciicircum{}}" in model.latex("partial_velocities")


def test_partial_angular_velocities_are_axes() -> None:
    """Two pins: the axis of the first is N.z, without cos² + sin²."""
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    N, A, B, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.ReferenceFrame("B"), me.Point("O")
    A.orient_axis(N, N.z, q[0])
    B.orient_axis(A, A.x, q[1])
    origin.set_vel(N, 0)
    body = me.RigidBody("b", origin, B, 1, (me.inertia(B, 1, 1, 1), origin))
    model = kc.Model(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)], bodies=[body])
    expected = sm.Matrix([[0, sm.cos(q[0])], [0, sm.sin(q[0])], [1, 0]])
    assert model.symbolic("partial_angular_velocities", nested=True) == [expected]


def test_reactions_in_symbols() -> None:
    """The tube on its particles: the source's T12 and T22 across it, and nothing along it (examples 3 and 5)."""
    model = rotating_tube.build()
    g, m1, L1 = (next(p for p in model.parameters if str(p) == name) for name in ("g", "m1", "L1"))
    q1, u1, theta = model.coordinates[0], model.speeds[0], model.inputs[0]
    wrench = model.symbolic("reactions", nested=True)
    force = wrench[0, :3]
    along = force[0] * sm.cos(theta) + force[1] * sm.sin(theta)
    across = -force[0] * sm.sin(theta) + force[1] * sm.cos(theta)
    assert sm.simplify(along) == 0
    expected = m1 * ((L1 + q1) * theta.diff().diff() + 2 * u1 * theta.diff() + g * sm.sin(theta))
    assert sm.simplify(across - expected) == 0


def test_multipliers_have_no_expression_and_the_error_says_what_has() -> None:
    with pytest.raises(kc.ModelError, match="has no multipliers: it has no constraints"):
        _ = rotating_tube.build().multipliers
    with pytest.raises(kc.ModelError, match=r"solved for at run time; mass_matrix, .* constraint_bias have"):
        _ = five_bar.build().multipliers
