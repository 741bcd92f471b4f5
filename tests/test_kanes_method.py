# SPDX-License-Identifier: BSD-3-Clause
"""`kc.KanesMethod` in place of SymPy's class: in SymPy's own tests, in its System, in PyDy, and member by member."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
import sympy.physics.mechanics.tests as sympys_tests
from mechanisms import ground
from oracle.numbers import numbers
from sweep import part
from sympy.solvers.solveset import NonlinearError

import kanecore as kc

FOLDER = Path(sympys_tests.__file__).parent

# --------------------------------------------------------------------- SymPy's own tests
#: Tests that compare a form, not a value: they pass where angles that have no effect are taken out first.
FORMS = {"test_kane2.py::test_aux_dep"}  # F*_r by == after expand(), which knows no sin² + cos² = 1
FILES = [
    path.name
    for path in sorted(FOLDER.glob("test_*.py"))
    if any(word in path.read_text(encoding="utf-8") for word in ("KanesMethod", "JointsMethod", "System", "models"))
]
SOME = "test_kane.py::test_one_dof test_kane.py::test_input_format"


def run(tests: str, kind: str, folder: Path) -> dict[str, str]:
    """Outcome of those of SymPy's tests that reach the class, which is replaced; parametrized ones as one."""
    report, path = folder / "report.json", os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "KANES_METHOD": kind, "KANES_METHOD_REPORT": str(report), "PYTHONPATH": path}
    options = f"-q -p sympy_replaced -p no:cacheprovider -p no:xdist -W ignore -c {os.devnull} --rootdir".split()
    command = [sys.executable, "-m", "pytest", *options, str(FOLDER), *(str(FOLDER / test) for test in tests.split())]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert report.is_file(), done.stdout + done.stderr
    results: dict[str, str] = {}
    for test, (outcome, reached) in json.loads(report.read_text(encoding="utf-8")).items():
        name = test.partition("[")[0]
        if reached and results.get(name, "passed") == "passed":
            results[name] = outcome
    return results


@pytest.mark.long
@pytest.mark.parametrize("tests", part([SOME, *FILES], [SOME]))
def test_sympys_own_tests_pass(tests: str, tmp_path: Path) -> None:
    results = run(tests, "kanecore", tmp_path)
    assert {test for test, outcome in results.items() if outcome == "failed"} <= FORMS
    assert tests != SOME or set(results) == set(SOME.split())


@pytest.mark.long
@pytest.mark.parametrize("test", sorted(FORMS))
def test_sympys_tests_of_forms_pass_once_simplified(test: str, tmp_path: Path) -> None:
    assert run(test, "kanecore", tmp_path) == {test: "failed"}
    assert run(test, "simplified", tmp_path) == {test: "passed"}


# ------------------------------------------------------------------------- values
def rolling_disc() -> dict[str, Any]:
    """A disc that rolls on a plane that a prescribed motion w lifts; auxiliary speeds at the contact, all that is."""
    q1, q2, q3, q4, q5, u1, u2, u3, u4, u5, a1, a2, w = me.dynamicsymbols("q1:6 u1:6 a1:3 w")
    m, g, r, fx, fy = sm.symbols("m g r fx fy")
    (N, origin), (Y, L, R), C, P = ground(), (me.ReferenceFrame(name) for name in "YLR"), me.Point("C"), me.Point("P")
    Y.orient_axis(N, N.z, q1)
    L.orient_axis(Y, Y.x, q2)
    R.orient_axis(L, L.y, q3)
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    P.set_pos(origin, q4 * N.x + q5 * N.y + w * N.z)
    P.set_vel(N, u4 * N.x + u5 * N.y + w.diff() * N.z + a1 * Y.x + a2 * Y.y)
    C.set_pos(P, r * L.z)
    C.set_vel(N, P.vel(N) + R.ang_vel_in(N).cross(r * L.z))
    slip = P.vel(N) - a1 * Y.x - a2 * Y.y + (R.ang_vel_in(N) - L.ang_vel_in(N)).cross(-r * L.z)
    disc = me.RigidBody("disc", C, R, m, (me.inertia(R, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), C))
    return {
        "frame": N,
        "q_ind": [q1, q2, q3, q4, q5],
        "u_ind": [u1, u2, u3],
        "u_dependent": [u4, u5],
        "kd_eqs": [*(2 * (turning - R.ang_vel_in(N)).dot(axis) for axis in L), q4.diff() - u4, 3 * q5.diff() - 3 * u5],
        "velocity_constraints": [slip.dot(Y.x) + a1, slip.dot(Y.y) + a2 + w],
        "u_auxiliary": [a1, a2],
        "bodies": [disc],
        "forcelist": [(C, -m * g * N.z), (P, fx * Y.x + fy * Y.y)],
    }


def loop() -> dict[str, Any]:
    """Two particles on a bar whose length changes with time, in coordinates of which one depends on the others."""
    x, y, z, u, v, s = me.dynamicsymbols("x y z u v s")
    m, k, length = sm.symbols("m k l")
    (N, origin), P, Q, t = ground(), me.Point("P"), me.Point("Q"), me.dynamicsymbols._t
    P.set_pos(origin, x * N.x)
    P.set_vel(N, u * N.x)
    Q.set_pos(origin, y * N.x + z * N.y)
    Q.set_vel(N, v * N.x + s * N.y)
    bar = (y - x) ** 2 + z**2 - (length + sm.sin(t)) ** 2
    rates = {x.diff(): u, y.diff(): v, z.diff(): s}
    return {
        "frame": N,
        "q_ind": [x, y],
        "q_dependent": [z],
        "u_ind": [u, v],
        "u_dependent": [s],
        "kd_eqs": [rate - speed for rate, speed in rates.items()],
        "configuration_constraints": [bar],
        "velocity_constraints": [bar.diff(t)],
        "acceleration_constraints": [3 * bar.diff(t, 2).subs(rates).doit().subs(rates)],
        "bodies": [me.Particle("p", P, m), me.Particle("q", Q, 2 * m)],
        "forcelist": [(P, -k * x * N.x), (Q, -k * z * N.y + u * N.x)],
    }


def state(*forms: Any) -> dict[Any, float]:
    """Random numbers for all that stands in expressions; auxiliary speeds are zero."""
    rng = np.random.default_rng(3)
    functions = set().union(*(e.atoms(sm.Function, sm.Derivative, sm.Symbol) for form in forms for e in form))
    chosen = [s for s in functions if isinstance(s, (sm.core.function.AppliedUndef, sm.Derivative, sm.Symbol))]
    values = {s: rng.uniform(0.3, 1.0) for s in sorted(chosen, key=str)}
    return values | {s: 0.0 for s in chosen if str(s).startswith(("a1", "a2", "Derivative(a1", "Derivative(a2"))}


MEMBERS = (
    *("_k_kqdot", "_k_ku", "_f_k", "_k_kqdot_implicit", "_k_ku_implicit", "_f_k_implicit", "_k_nh", "_f_nh", "_k_dnh"),
    *("_f_dnh", "_Ars", "_fr", "_frstar", "_k_d", "_f_d", "_f_h", "_q", "_u", "_qdot", "_udot", "_uaux", "_qdep"),
    *("_udep", "mass_matrix", "forcing", "mass_matrix_kin", "forcing_kin", "mass_matrix_full", "forcing_full"),
)


@pytest.mark.parametrize(
    ("make", "explicit"),
    part([(make, explicit) for make in (rolling_disc, loop) for explicit in (True, False)], [(loop, True)]),
)
def test_members_are_sympys_in_value(make: Any, explicit: bool) -> None:
    given = make()
    ours, sympys = (kind(**given, explicit_kinematics=explicit) for kind in (kc.KanesMethod, me.KanesMethod))
    for km in (ours, sympys):
        km.kanes_equations()
    members = [*MEMBERS, *(["auxiliary_eqs", "_aux_eq"] if given.get("u_auxiliary") else [])]
    pairs = {name: (getattr(ours, name), getattr(sympys, name)) for name in members}
    pairs["kindiffdict"] = tuple(sm.Matrix(list(km.kindiffdict().values())) for km in (ours, sympys))
    pairs["rhs"] = ours.rhs(), sympys.rhs()
    assert list(ours.kindiffdict()) == list(sympys.kindiffdict())
    values = state(*(form for pair in pairs.values() for form in pair))
    for name, (a, b) in pairs.items():
        assert a.shape == b.shape, name
        np.testing.assert_allclose(numbers(a, values), numbers(b, values), rtol=1e-9, atol=1e-9, err_msg=name)


def test_linearize_is_sympys_in_value() -> None:
    given = loop()
    results = []
    for kind in (kc.KanesMethod, me.KanesMethod):
        km = kind(**given)
        km.kanes_equations()
        results.append(km.linearize())
    values = state(*(m for result in results for m in result[:3]))
    for a, b in zip(*(result[:3] for result in results), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(numbers(a, values), numbers(b, values), rtol=1e-8, atol=1e-9)
    assert results[0][3] == results[1][3]


def test_model_leads_on() -> None:
    given = loop()
    km = kc.KanesMethod(**given)
    dyn = kc.compile(km.model)  # before kanes_equations as well
    km.kanes_equations()
    dyn.parameters.update(dict.fromkeys(dyn.parameter_names, 1.3))
    x = dyn.consistent(0.2, [0.1, 0.6, 0.9, 0.2, -0.3, 0.4])
    values = dict(zip((*km.q, *km.u), x, strict=True)) | dict.fromkeys(km.model.parameters, 1.3)
    values[me.dynamicsymbols._t] = 0.2
    m, f = numbers(km.mass_matrix, values), numbers(km.forcing, values)
    np.testing.assert_allclose(np.linalg.solve(m, f).ravel(), dyn.udot(0.2, x), rtol=1e-9)
    again = kc.compile(kc.Model.from_kane(km))
    again.parameters.update(dyn.parameters)
    np.testing.assert_allclose(again.udot(0.2, x), dyn.udot(0.2, x), rtol=1e-12)


def test_partial_velocities_of_any_vector() -> None:
    given = rolling_disc()
    km = kc.KanesMethod(**given)
    frame, point = given["bodies"][0].frame, given["bodies"][0].masscenter
    N = given["frame"]
    q4, u4 = given["q_ind"][3], given["u_dependent"][0]
    vectors = [point.vel(N), frame.ang_vel_in(N), 5 * q4.diff() * N.x]
    result = km.partial_velocity(vectors)
    expected = me.partial_velocity(vectors[:2], list(km.u), N)
    for ours, sympys in zip(result, expected, strict=False):
        for a, b in zip(ours, sympys, strict=True):
            assert (a - b).to_matrix(N).applyfunc(sm.simplify) == sm.zeros(3, 1)
    assert result[2][3] == 5 * N.x  # by the kinematical equations
    assert km.partial_velocity(vectors[2:], [u4]) == [[5 * N.x]]
    with pytest.raises(ValueError, match="not linear in the speeds"):
        km.partial_velocity([u4**2 * N.x])
    with pytest.raises(TypeError, match="takes vectors"):
        km.partial_velocity([u4])


# ------------------------------------------------------------------------- others
def pendulum() -> Any:
    """A System of SymPy."""
    q, u = me.dynamicsymbols("q u")
    system = me.System.from_newtonian(me.RigidBody("ground"))
    bob = me.RigidBody("bob", mass=sm.Symbol("m"))
    system.add_joints(me.PinJoint("pin", system.bodies[0], bob, q, u, child_point=-sm.Symbol("l") * bob.frame.x))
    system.apply_uniform_gravity(sm.Symbol("g") * system.x)
    return system


def test_system_of_sympy() -> None:
    system = pendulum()
    ours = system.form_eoms(eom_method=kc.KanesMethod)
    assert isinstance(system.eom_method, kc.KanesMethod)
    mass_matrix = system.mass_matrix_full
    assert sm.simplify(ours - system.form_eoms()) == sm.zeros(1, 1)
    assert sm.simplify(mass_matrix - system.mass_matrix_full) == sm.zeros(2, 2)


@pytest.mark.parametrize("law", ["mu*N", "mu*N*sign(v)", "mu*Abs(N)"])
def test_friction_of_a_reaction_that_an_auxiliary_speed_tells(law: str) -> None:
    """F_r holds N as a symbol, as in SymPy; the model for compile finds it with u̇: v̇ = F/m − μ g on the flat."""
    g, m, mu = sm.symbols("g m mu")
    x, v, up = me.dynamicsymbols("x v up")
    F, press = me.dynamicsymbols("F press", positive=True)
    system = me.System()
    box = me.Particle("box", mass=m)
    box.masscenter.set_pos(system.fixed_point, x * system.x)
    box.masscenter.set_vel(system.frame, v * system.x + up * system.y)
    system.add_bodies(box)
    system.q_ind, system.u_ind, system.u_aux, system.kdes = [x], [v], [up], [x.diff() - v]
    system.apply_uniform_gravity(-g * system.y)
    friction = sm.sympify(law, {"mu": mu, "N": press, "v": v})
    system.add_loads(me.Force(box, press * system.y), me.Force(box, (F - friction) * system.x))
    system.form_eoms(kc.KanesMethod)
    assert sm.simplify(system.forcing[0] - F + friction) == 0
    assert sm.simplify(system.eom_method.auxiliary_eqs[0] - press + m * g) == 0
    model = system.eom_method.model
    assert model.inputs == (F,)
    dyn = kc.compile(model, parameters={g: 9.81, m: 2.0, mu: 0.3})
    assert dyn.udot(0.0, [0.0, 1.0], r=[10.0])[0] == pytest.approx(5.0 - 0.3 * 9.81, rel=1e-14)


def test_generators_of_pydy() -> None:
    """Its System integrates what our class formed as it does what SymPy's formed."""
    pydy = pytest.importorskip("pydy.system", reason="pydy is not installed: pip install pydy")
    system = pendulum()
    results = []
    for kind in (kc.KanesMethod, me.KanesMethod):
        system.form_eoms(eom_method=kind)
        simulated = pydy.System(system.eom_method, times=np.linspace(0.0, 1.0, 11))
        simulated.constants = dict.fromkeys(simulated.constants_symbols, 1.5)
        simulated.initial_conditions = dict(zip((*system.q, *system.u), (0.5, 0.1), strict=True))
        simulated.generate_ode_function(generator="lambdify")
        results.append(simulated.integrate())
    np.testing.assert_allclose(*results, rtol=1e-6)


# ------------------------------------------------------------------------- errors
def test_what_sympy_refuses() -> None:
    given = loop()
    km = kc.KanesMethod(**given)
    for name in ("mass_matrix", "forcing", "mass_matrix_full", "forcing_full", "auxiliary_eqs"):
        with pytest.raises(ValueError, match=r"Need to compute Fr, Fr\* first"):
            getattr(km, name)
    with pytest.raises(ValueError, match=r"Need to compute Fr, Fr\* first"):
        km.linearize()
    with pytest.raises(ValueError, match="Force pairs"):
        km.kanes_equations(given["bodies"], "forces")
    with pytest.raises(TypeError, match="Bodies must be"):
        km.kanes_equations(given["bodies"][0])
    with pytest.raises(TypeError, match="only contain either"):
        km.kanes_equations([given["frame"]])
    with pytest.raises(AttributeError, match="kinematic differential equations"):
        kc.KanesMethod(given["frame"], given["q_ind"], given["u_ind"]).kanes_equations(given["bodies"])
    u, v = given["u_ind"]
    for change, error, message in (
        ({"frame": "N"}, TypeError, "ReferenceFrame"),
        ({"kd_eqs": given["kd_eqs"][:2]}, ValueError, "equal number of kinematic"),
        ({"kd_eqs": [e**2 for e in given["kd_eqs"]]}, ValueError, "not linear"),
        ({"velocity_constraints": []}, ValueError, "equal number of velocity constraints"),
        ({"configuration_constraints": []}, ValueError, "equal number of configuration constraints"),
        ({"velocity_constraints": [u * v + u]}, NonlinearError, "not linear in the speeds"),
        ({"u_ind": [u, u]}, ValueError, "duplicated"),
    ):
        with pytest.raises(error, match=message):
            kc.KanesMethod(**{**given, **change})


def test_dependent_speeds_that_nothing_determines() -> None:
    given = loop()
    u = given["u_ind"][0]
    km = kc.KanesMethod(**{**given, "velocity_constraints": [u], "acceleration_constraints": [u.diff()]})
    with pytest.raises(kc.ModelError, match="do not determine s"):
        km._Ars  # noqa: B018


def test_bodies_may_be_given_again() -> None:
    """F_r, M and the model are those of the bodies and loads that came last."""
    given = loop()
    km = kc.KanesMethod(**given)
    km.kanes_equations()
    first = km.mass_matrix, km.model
    km.kanes_equations(given["bodies"][:1], given["forcelist"][:1])
    assert km.bodies == given["bodies"][:1]
    assert km.mass_matrix != first[0]
    assert len(km.model.description.bodies) == 1
    km.kanes_equations(given["bodies"], given["forcelist"])
    with pytest.raises(kc.ModelError, match="acts on"):
        km.kanes_equations(given["bodies"], [("P", given["frame"].x)])
    assert km.mass_matrix == first[0]
    assert km.loads == given["forcelist"]


def test_bodies_may_come_from_an_iterator() -> None:
    given = loop()
    listed, once = kc.KanesMethod(**given), kc.KanesMethod(**{**given, "bodies": None})
    assert once.kanes_equations(iter(given["bodies"]), given["forcelist"]) == listed.kanes_equations()
    assert once.model.description.bodies


@pytest.mark.skipif(sm.__version__ < "1.14", reason="SymPy itself cannot pickle functions of time before 1.14")
def test_solvers_by_name_may_be_pickled() -> None:
    km = kc.KanesMethod(**loop(), kd_eqs_solver="CRAMER", constraint_solver="CRAMER")
    km.kanes_equations()
    assert pickle.loads(pickle.dumps(km)).mass_matrix == km.mass_matrix


def test_forces_without_bodies_have_generalized_forces() -> None:
    """As in SymPy; what is to be compiled needs a body."""
    given = loop()
    km = kc.KanesMethod(**{**given, "bodies": []})
    fr, frstar = km.kanes_equations()
    assert frstar == sm.zeros(2, 1)
    sympys, _ = me.KanesMethod(**{**given, "bodies": []}).kanes_equations()
    values = state(fr, sympys)
    np.testing.assert_allclose(numbers(fr, values), numbers(sympys, values), rtol=1e-12)
    with pytest.raises(kc.ModelError, match="at least one body"):
        km.model  # noqa: B018
