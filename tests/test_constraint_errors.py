# SPDX-License-Identifier: BSD-3-Clause
"""Bad constraints, each with its message; states where constraints, or the dependent set that was named, are lost."""

from collections.abc import Callable
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import g, ground, l, m, particle, rates
from oracle.lines import coordinates, lines
from sweep import every, part

import kanecore as kc
from kanecore.constraints.constraint_state import ConstraintState
from kanecore.gallery import four_bar

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
(x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
CIRCLE = x**2 + y**2 - l**2
#: On the circle of radius one, its velocity along it.
STATE = [0.6, -0.8, 0.4, 0.3]
#: Planar models give their bodies no inertia but about the normal.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")


def bead(load: Any = 0, **arguments: Any) -> kc.Model:
    """A particle in a plane, its weight and a horizontal load; ``configuration``, ...: constraints of a kind."""
    kinds = ("configuration", "velocity", "acceleration")
    arguments = {f"{key}_constraints" if key in kinds else key: value for key, value in arguments.items()}
    return particle(2, lambda P, N: [(P, load * N.x - m * g * N.y)], name="bead", **arguments)


def compiled(**arguments: Any) -> kc.CompiledModel:
    model = bead(**arguments)
    return kc.compile(model, parameters={symbol: {m: 1.0, g: 9.81, l: 1.0}[symbol] for symbol in model.parameters})


@cache
def pendulum() -> kc.CompiledModel:
    return compiled(dependent=(1, 1), configuration=[CIRCLE])


# ------------------------------------------------------------------------------------- refused when described
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # on parameters, the time or inputs only
        ({"configuration": [l - 1]}, "configuration constraint 0, l - 1, holds no coordinate: nothing that moves"),
        ({"velocity": [u1 - x, l - 1]}, "velocity constraint 1, l - 1, holds no speed: nothing that moves"),
        ({"acceleration": [l - 1]}, "acceleration constraint 0, l - 1, holds no derivative of a speed"),
        ({"configuration": [t - l]}, "configuration constraint 0, -l \\+ t, holds no coordinate"),
        ({"velocity": [sm.Float(3)]}, "velocity constraint 0, 3.0+, holds no speed"),
        ({"velocity": [me.dynamicsymbols("F") - 1]}, "velocity constraint 0, F\\(t\\) - 1, holds no speed"),
        # of another kind
        ({"configuration": [x * u1]}, "configuration constraint 0, .* holds speeds: it is a velocity constraint"),
        ({"configuration": [x.diff(t) - y]}, "configuration constraint 0, .* it is a velocity constraint"),
        ({"velocity": [CIRCLE]}, "velocity constraint 0, .* holds no speed: it is a configuration constraint"),
        (
            {"velocity": [u1.diff(t) - y]},
            "in velocity constraint 0: the derivative of a speed is what .*acceleration_constraints$",
        ),
        ({"configuration": [u1.diff(t) - y]}, "in configuration constraint 0: the derivative of a speed"),
        ({"velocity": [x.diff(t, 2) - y]}, "in velocity constraint 0: write second derivatives.*u1.diff\\(\\)"),
        ({"acceleration": [x.diff(t, 2) - y]}, "in acceleration constraint 0: write second derivatives"),
        ({"acceleration": [u1 - y]}, "acceleration constraint 0, .* it is a velocity constraint"),
        ({"acceleration": [u1.diff(t) ** 2 - 1]}, "acceleration constraint 0, .* is not linear in the derivatives"),
        ({"acceleration": [u1.diff(t) * u2.diff(t)]}, "acceleration constraint 0, .* is not linear"),
        ({"acceleration": [u1.diff(t, 2) - 1]}, "acceleration constraint 0.*once differentiated"),
        # no expressions
        (
            {"configuration": [sm.Eq(x**2 + y**2, l**2)]},
            "is Eq\\(.*write it as an expression equal to zero, .*x\\(t\\)",
        ),
        ({"velocity": [sm.Eq(u1, 2)]}, "velocity constraint 0 is Eq\\(u1\\(t\\), 2\\): .*equal to zero, u1\\(t\\) - 2"),
        ({"velocity": [u1 < 2]}, "StrictLessThan .*velocity constraint 0"),
        ({"velocity": [True]}, "velocity constraint 0"),
        ({"velocity": [None]}, "velocity constraint 0 has None, which is no SymPy expression"),
        ({"velocity": "u1"}, "velocity constraint 0 has u1, which is no SymPy expression"),
        ({"velocity": [u1 * me.ReferenceFrame("N").x]}, "velocity constraint 0 has .*, which is no SymPy expression"),
        ({"velocity": [sm.Matrix([u1 - u2])]}, "velocity constraint 0 has Matrix.*, which is no SymPy expression"),
        ({"velocity": {u1: 2}}, "velocity_constraints is a dict; it must be a list"),
        ({"velocity": {u1 - u2}}, "is a set, which has no order"),
        ({"velocity": [sm.nan]}, "nan in velocity constraint 0 is not a finite real number"),
        ({"velocity": [sm.I * u1]}, "I in velocity constraint 0 is not a finite real number"),
        # names
        ({"configuration": {"edge": u1}}, "edge, u1.*, holds speeds"),
        ({"configuration": {"wire": x - y}, "velocity": {"wire": u1 - u2}}, "two constraints are named 'wire'"),
        # lists that contradict each other
        ({"u_dependent": [u2], "velocity": [u1 - u2]}, "u2 is listed twice"),
        ({"q_dependent": [y], "configuration": [CIRCLE]}, r"y is listed twice in q_ind \+ q_dependent"),
        ({"u_dependent": [y], "velocity": [u1 - u2]}, "y is listed both as a coordinate and as a speed"),
        ({"q_dependent": [u2], "configuration": [CIRCLE]}, "u2 is listed both as a coordinate and as a speed"),
        ({"u_dependent": [l], "velocity": [u1 - u2]}, "holds l, which is no function of time"),
        ({"u_auxiliary": [u1]}, "u1 is listed in u_auxiliary and among the coordinates or speeds"),
        ({"configuration": [CIRCLE], "attach": {0: None}}, r"attach=\{0: ...\} is None: give \(child"),
        ({"configuration": [CIRCLE], "attach": {3: None}}, r"attach=\{3: ...\}.*its name: 0 ."),
        ({"configuration": [CIRCLE], "attach": {-1: None}}, r"attach=\{-1: ...\}"),
        ({"guess": {x: "here"}}, "guess of x.*is no number"),
        ({"guess": {x: 1, "x": 2}}, "holds x.* twice"),
        # more dependent ones than constraints, or others than these hold
        ({"dependent": (0, 1)}, "u_dependent"),
        ({"dependent": (1, 0)}, "q_dependent"),
        ({"dependent": (0, 2), "velocity": [u1 - x]}, "u_dependent"),
        ({"dependent": (0, 1), "velocity": [u1 - y]}, "u2 in u_dependent occurs in no"),
    ],
)
def test_constraints_that_are_none(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        bead(**arguments)


def test_auxiliary_speeds_have_no_accelerations() -> None:
    away = me.dynamicsymbols("away")
    with pytest.raises(kc.ModelError, match="an auxiliary speed is zero, and so is its derivative"):
        bead(u_auxiliary=[away], acceleration=[u1.diff(t) + away.diff(t)])


@pytest.mark.parametrize("rows", [sm.Matrix([u1 - x, u2 - y]), (u1 - x, u2 - y), [u1 - x.diff(t) + u2, u2]])
def test_matrices_tuples_and_rates_are_fine(rows: Any) -> None:
    assert bead(velocity=rows).n_constraints == 2


@pytest.mark.parametrize("load", [u1.diff(t) ** 2, x / u1.diff(t) + u2, sm.sin(u2.diff(t)) * m])
def test_a_load_that_is_not_affine_in_accelerations(load: Any) -> None:
    for constraints in ({}, {"configuration": [CIRCLE]}):
        with pytest.raises(kc.ModelError, match=r"load 0 on point P is not affine in the derivatives of the speeds"):
            bead(load=load, **constraints)
    with pytest.raises(kc.ModelError, match="in load 0 on point P: write second derivatives"):
        bead(load=x.diff(t, 2), configuration=[CIRCLE])


def test_names_of_constraints() -> None:
    """A dict of constraints names them, in every message and table; SymPy's newer spellings of the arguments."""
    rows = {"no slip": u1 - x, "edge": u2 - u1}
    model = bead(nonholonomic_constraints=rows)
    assert model.n_constraints == 2
    assert "  edge" in model.report().splitlines()
    assert compiled(velocity=rows).constraint_names == tuple(rows)
    assert compiled(holonomic_constraints={"wire": x - y}).configuration_names == ("wire",)
    for spellings in (
        {"configuration": [x - y], "holonomic_constraints": [x - y]},
        {"velocity": [u1], "nonholonomic_constraints": []},
    ):
        with pytest.raises(TypeError, match="are two names of one argument"):
            bead(**spellings)


# -------------------------------------------------------------------------------- found with numbers: check
CONTRADICTORY: dict[str, dict[str, Any]] = {
    "two places": {"configuration": [x - l, x - 2 * l]},
    "place and speed": {"configuration": [CIRCLE], "velocity": [x * u1 + y * u2 - 1]},
    "three places": {"configuration": [x - l, y - l, x + y - 3 * l]},
    "no real root": {"configuration": [x**2 + y**2 + l**2]},
    "parameters in disguise": {"configuration": [sm.sin(x) ** 2 + sm.cos(x) ** 2 - 2 * l]},
}


@pytest.mark.parametrize("name", part(CONTRADICTORY, ["place and speed"]))
def test_contradictory_constraints(name: str) -> None:
    """No state satisfies them; every entrance says so, and the numbers that are left, by name."""
    dyn = compiled(**CONTRADICTORY[name])
    calls: list[Callable[[], Any]] = [
        dyn.check,
        lambda: dyn.check(STATE),
        lambda: dyn.consistent(0.0, STATE),
        lambda: dyn.consistent(0.0, STATE, None),
    ]
    for call in calls:
        with pytest.raises(kc.ModelError, match=r"no state of 'bead' near t = 0.*constraint \d' \(.*contradict"):
            call()
    message = r"x0 does not satisfy the constraints of 'bead' at t = 0.0: '.* constraint \d'"
    with pytest.raises(ValueError, match=message):
        dyn.simulate((0.0, 1.0), STATE)


def test_too_many_constraints() -> None:
    """Three on two speeds, which hold together at few places alone; two leave nothing to forces; three that agree."""
    dyn = compiled(velocity=[u1 - x, u2 - y, u1 + u2 - 3 * x * y])
    with pytest.raises(kc.ModelError, match=r"no state .*'velocity constraint 2' \("):
        dyn.check(STATE)
    assert np.isfinite(dyn.udot(0.0, STATE)).all()  # as far off as it is, its residuals explain what the rows leave
    with pytest.raises(ValueError, match=r"'velocity constraint 2' \(2.14\)"):
        dyn.simulate((0.0, 1.0), STATE)

    dyn, start = compiled(velocity=[u1 - x, u2 - y]), np.array([1.0, 2.0, 1.0, 2.0])
    assert dyn.check(start).dof == 0
    sol = dyn.simulate((0.0, 1.0), start, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sol.x[-1], np.e * start, rtol=1e-9)

    dyn, corner = compiled(configuration=[x - l, y - l, x + y - 2 * l]), [1.0, 1.0, 0.0, 0.0]
    found = dyn.check(corner)
    assert (found.n_constraints, found.rank, found.dof) == (3, 2, 0)
    assert found.redundant == ("configuration constraint 2",)
    np.testing.assert_allclose(dyn.udot(0.0, corner), 0.0, atol=1e-15)


def test_contradiction_by_values_of_parameters() -> None:
    """What agrees with some values contradicts with others; a bar that reaches no longer."""
    dyn = compiled(configuration=[CIRCLE, x - sm.Rational(1, 2)])
    assert dyn.consistent(0.0, [0.6, -0.8, 0.0, 0.0], None)[1] == pytest.approx(-np.sqrt(0.75))
    with pytest.raises(kc.ModelError, match="with these parameters"):
        dyn.consistent(0.0, [0.6, -0.8, 0.0, 0.0], None, p={"l": 0.3})


# ------------------------------------------------------------------------------------------------- states
@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([0.6, -0.9, 0.0, 0.0], r"'configuration constraint 0' \(0\.09.*dyn.consistent\(0.0, x0\)"),
        ([0.6, -0.8, 1.0, 0.0], r"'rate of configuration constraint 0' \(0\.75\)"),
        ([np.nan, -0.8, 1.0, 0.0], r"x0 .*not finite"),
    ],
)
def test_start_off_the_constraints(state: list[float], message: str) -> None:
    """What is off, by how much in the units of x, and what to write."""
    with pytest.raises(ValueError, match=message):
        pendulum().simulate((0.0, 1.0), state)


def test_hopeless_and_far_guesses() -> None:
    """At the centre no direction leads to the circle; no y lies on it at x = 3; a massless motion is none the worse."""
    centre, message = [0.0, 0.0, 1.0, 0.0], r"'configuration constraint 0' \(-1\).*coefficients .* are zero there"
    with pytest.raises(kc.ModelError, match=rf"no state .*x = \[0.0, 0.0, 1.0, 0.0\].*{message}"):
        pendulum().consistent(0, centre, None)
    found = pendulum().consistent(0, centre)  # y = ±1 keeps x = 0
    np.testing.assert_allclose(np.abs(found), [0.0, 1.0, 1.0, 0.0], atol=1e-12)
    with pytest.raises(kc.ModelError, match=r"no y .* for x = 3: the remaining residuals are .*keep=None"):
        pendulum().consistent(0, [3.0, -0.2, 1.0, 0.0])
    assert pendulum().consistent(0, [3.0, -0.2, 1.0, 0.0], None)[0] < 1.0
    found = pendulum().consistent(0, [1e6, 1e6, 1.0, 0.0], None)
    np.testing.assert_allclose(found, [np.sqrt(0.5), np.sqrt(0.5), 0.5, -0.5], atol=1e-9)
    found = pendulum().consistent(0, [0.1, -1.5, 0.0, 0.0], None, p={"m": 0.0})
    assert np.hypot(*found[:2]) == pytest.approx(1.0, rel=1e-12)
    assert pendulum().check([0.1, -1.5, 0.0, 0.0], p={"m": 0.0}).mass_condition == np.inf
    with pytest.raises(kc.SingularError, match="mass matrix"):
        pendulum().udot(0.0, found, p={"m": 0.0})


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        *(([bad, -0.8, 0.4, 0.3], ValueError, "not finite") for bad in (np.nan, np.inf, -np.inf)),
        ([0.6, -0.8], ValueError, r"shape \(2,\)"),
        ([STATE[:3], STATE[:3]], ValueError, r"shape \(2, 3\)"),
        (["a", 0, 0, 0], TypeError, "real numbers"),
        ([1j, 0, 0, 0], TypeError, "real numbers"),
    ],
)
def test_states_that_are_none(state: Any, error: type[Exception], message: str) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: pendulum().consistent(0.0, state),
        lambda: pendulum().consistent(0.0, state, None),
        lambda: pendulum().check(state),
    ]
    for call in calls:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ((1,), r"baumgarte is \(1,\)"),
        ((1, -1), r"baumgarte is \(1, -1\)"),
        ((1.0, np.nan), "finite and not negative"),
        (3.0, r"must be \(alpha, beta\)"),
    ],
)
def test_gains_that_are_none(gains: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pendulum().simulate((0.0, 1.0), STATE, baumgarte=gains)


def test_dependent_speeds_that_do_not_fit_the_rank() -> None:
    """Too few: two independent rows, one named.  None: the same.  u̇ needs none of them."""
    for named in (0, 1):
        dyn, state = compiled(dependent=(0, named), velocity=[u1 - x, u2 - y]), [1.0, 2.0, 1.0, 2.0]
        np.testing.assert_allclose(dyn.udot(0.0, state), [1.0, 2.0], rtol=1e-14)
        with pytest.raises(kc.ModelError, match=rf"2 of the 2 constraint rows.*names {named} in u_dependent"):
            dyn.generalized_active_forces(0.0, state, nonholonomic=True)
    # too many for the rank: the second row is redundant
    dyn = compiled(dependent=(0, 2), velocity=[u1 - u2, 2 * u1 - 2 * u2])
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(4)), [-9.81 / 2, -9.81 / 2], rtol=1e-14)
    with pytest.raises(kc.ModelError, match=r"1 of the 2 constraint rows.*names 2 in u_dependent"):
        dyn.partial_velocities(0.0, np.zeros(4), nonholonomic=True)


def test_where_a_constraint_is_not_defined() -> None:
    dyn = compiled(velocity=[u1 - u2 / x])
    with pytest.raises(kc.NonFiniteError, match=r"t = 0\.0, x = "):
        dyn.udot(0.0, [0.0, 1.0, 1.0, 1.0])
    with pytest.raises(kc.NonFiniteError):
        dyn.check([0.0, 1.0, 1.0, 1.0])


def test_prescribed_motions_in_constraints_must_be_given() -> None:
    dyn = compiled(configuration=[x - me.dynamicsymbols("drive")])
    assert dyn.input_names == ("drive", "drive_d", "drive_dd")
    for call in (lambda: dyn.udot(0.0, STATE), lambda: dyn.check(STATE), lambda: dyn.simulate((0.0, 1.0), STATE)):
        with pytest.raises(ValueError, match=r"'drive'.*never set"):
            call()
    rough = kc.Signal([0.0, 1.0], [1.0, 2.0], kind="zoh")
    with pytest.raises(ValueError, match="too rough"):
        dyn.simulate((0.0, 1.0), [1.0, 0.0, 0.0, 0.0], inputs=rough)


def test_reactions_of_rows_that_nobody_attached() -> None:
    with pytest.raises(kc.ModelError, match=r"configuration constraint 0 acts.*attach=\{0:"):
        pendulum().reactions(0.0, STATE)


# --------------------------------------------------------------------------- singular states and dead points
def rhombus() -> kc.CompiledModel:
    """The gallery's four-bar linkage with bars as long as the ground."""
    dyn = kc.load("four_bar")
    dyn.parameters.update({"L1": 1.0, "L2": 1.0, "L3": 1.0, "d": 1.0, "g": 0.0})
    return dyn


def open_rhombus(angle: float, rate: float) -> Array:
    """Crank and rocker are parallel, the coupler is parallel to the ground."""
    return np.array([angle, 0.0, angle, rate, 0.0, rate])


def test_a_linkage_folded_flat_is_singular() -> None:
    """Two branches meet there: one of two rows is lost, which has no remedy; the error has time and names."""
    dyn, flat = rhombus(), open_rhombus(0.0, 1.0)
    found = dyn.check(flat)
    assert (found.rank, found.typical_rank) == (1, 2)
    assert "singular: the rank is 2 at states nearby" in str(found)
    message = r"'configuration constraint [01]' of 'four_bar'.*t = 0.25"
    for kernel in (dyn.udot, dyn.rhs, dyn.multipliers, dyn.linearize):
        with pytest.raises(kc.SingularError, match=message) as caught:
            kernel(0.25, flat)
        assert caught.value.t == 0.25
        assert caught.value.x.tolist() == flat.tolist()
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, np.array([open_rhombus(0.9, 0.5), flat, open_rhombus(-0.7, 0.2)]))
    assert caught.value.rows.tolist() == [1]
    assert np.isnan(caught.value.out[1]).all()
    assert np.isfinite(caught.value.out[[0, 2]]).all()
    with pytest.raises(kc.SingularError, match="configuration constraint") as caught:
        dyn.simulate((0.25, 1.0), flat)
    assert caught.value.t == 0.25


def test_a_linkage_next_to_flat_is_not() -> None:
    """Parallel cranks turn on uniformly without weight: q̈ = 0 at every angle but 0 and π."""
    dyn = rhombus()
    for angle in (1e-3, 0.3, np.pi / 2, 3.0):
        np.testing.assert_allclose(dyn.udot(0.0, open_rhombus(angle, 2.0)), 0.0, atol=1e-9)
    sol = dyn.simulate((0.0, 1.0), open_rhombus(0.2, 2.5), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(sol.x[-1], open_rhombus(2.7, 2.5), atol=1e-7)


def dead_points(dyn: kc.CompiledModel, columns: tuple[int, int], times: Array, states: Array) -> int:
    """How often a motion passes where a pair of speeds cannot be found from the others: its part of G is singular."""
    return int(np.sum(np.diff(np.sign(np.linalg.det(dyn.constraint_jacobian(times, states)[..., columns]))) != 0))


def test_four_bar_through_dead_points_of_its_dependent_set() -> None:
    """The coupler turns round, crank and rocker turn back: with one of these independent its speed is lost there.

    Grashof: the coupler is the shortest bar, and 0.6 + 1.2 < 1.0 + 1.1.
    """

    Model = kc.Model

    def reordered(frame: Any, q_ind: Any, u_ind: Any, kd_eqs: Any, **more: Any) -> kc.Model:
        (q1, q2, q3), (v1, v2, v3) = (*q_ind, *more.pop("q_dependent")), (*u_ind, *more.pop("u_dependent"))
        return Model(frame, [q3], [v3], kd_eqs, q_dependent=[q1, q2], u_dependent=[v1, v2], **{**more, "guess": {}})

    with mock.patch("kanecore.model.Model", reordered):
        model = four_bar.build()
    dyn = kc.compile(model, parameters={**four_bar.PARAMETERS, "L1": 1.0, "L2": 0.6, "L3": 1.1, "d": 1.2})
    x0 = dyn.consistent(0.0, [2.0, 0.9, 0.3, 4.0, 0.0, 0.0])
    times = np.linspace(0.0, 3.0, 301)
    sol = dyn.simulate((0.0, 3.0), x0, rtol=1e-11, atol=1e-12, t_eval=times)
    rocker, crank, coupler = sol.x.T[:3]
    assert np.ptp(coupler) > 4 * np.pi, "the coupler must turn round"
    assert max(np.ptp(rocker), np.ptp(crank)) < np.pi
    assert sol.constraint_drift < 1e-10
    assert sol.energy_drift < 1e-9
    # it is the set that was named, or the one with the rocker, that fails, not the method
    for columns, passed in (((0, 1), False), ((1, 2), True), ((0, 2), True)):
        assert (dead_points(dyn, columns, times, sol.x) > 1) is passed, columns


def wheel() -> kc.CompiledModel:
    """An upright wheel that rolls and steers; its spin and v2 are called dependent, impossible where cos θ = 0."""
    place, (theta, phi) = me.dynamicsymbols("px py"), me.dynamicsymbols("theta phi")
    v1, v2, turn, spin = me.dynamicsymbols("v1 v2 turn spin")
    radius, thin, thick = sm.symbols("R I J")
    N, O = ground()  # noqa: E741
    A, W = me.ReferenceFrame("A"), me.ReferenceFrame("W")
    A.orient_axis(N, N.z, theta)
    A.set_ang_vel(N, turn * N.z)
    W.orient_axis(A, A.y, phi)
    W.set_ang_vel(A, spin * A.y)
    centre = O.locatenew("C", place[0] * N.x + place[1] * N.y + radius * N.z)
    centre.set_vel(N, v1 * N.x + v2 * N.y)
    rim = v1 * N.x + v2 * N.y + W.ang_vel_in(N).cross(-radius * N.z)
    body = me.RigidBody("wheel", centre, W, m, (me.inertia(A, thin, thick, thin), centre))
    q = [*place, theta, phi]
    model = kc.Model(
        *(N, q, [v1, turn], rates(q, [v1, v2, turn, spin])),
        u_dependent=[v2, spin],
        velocity_constraints=[rim.dot(A.x), rim.dot(A.y)],
        bodies=[body],
        name="wheel",
    )
    return kc.compile(model, parameters={"m": 2.0, "R": 1.5, "I": 0.9, "J": 1.6})


def test_wheel_through_360_degrees() -> None:
    """Without forces it rolls round a circle at constant speed (Bloch, Nonholonomic Mechanics and Control, 1.4)."""
    dyn, speed, turn, radius = wheel(), 1.5, 2.0, 1.5
    times = np.linspace(0.0, 4.5, 451)  # 516 degrees
    theta, one = turn * times, np.ones_like(times)
    place = [speed / turn * np.sin(theta), speed / turn * (1 - np.cos(theta)), theta, speed / radius * times]
    rate = [speed * np.cos(theta), turn * one, speed * np.sin(theta), speed / radius * one]
    expected = np.stack([*place, *rate], axis=-1)
    for method, options in (("dop853", {"rtol": 1e-11, "atol": 1e-12}), ("rk4", {"dt": 1e-2})):
        sol = dyn.simulate((0.0, times[-1]), expected[0], method=method, t_eval=times, **options)
        np.testing.assert_allclose(sol.x, expected, rtol=0, atol=1e-8)
        assert sol.constraint_drift < 1e-10
        assert sol.energy_drift < 1e-10
    assert dead_points(dyn, (0, 2), times, expected) == 0  # v1 and v2, from the spin
    assert dead_points(dyn, (2, 3), times, expected) == 3
    # Kane's quantities in the set that was named are lost a quarter of the way round, and say so
    aside = expected[0].copy()
    aside[[2, 4, 6]] = np.pi / 2, 0.0, speed
    with pytest.raises(kc.SingularError, match=r"dependent speeds v2, spin of 'wheel'.*dead point"):
        dyn.generalized_active_forces(0.0, aside, nonholonomic=True)
    np.testing.assert_allclose(dyn.udot(0.0, aside), [-speed * turn, 0.0, 0.0, 0.0], atol=1e-12)


# ------------------------------------------------------------------------------- rows that are lost, or too many

(a, b, _), v = coordinates(3)


def space(**arguments: Any) -> kc.CompiledModel:
    """A particle of mass one in space, pushed along the first axis and pulled down along the third."""
    return kc.compile(lines(3, forces=[1.0, 0.0, -9.81], **arguments))


def test_the_count_of_rows_follows_the_parameters() -> None:
    """u0 = u1 and u0 = u1 + e u2: one row at e = 0, two elsewhere, in whatever order they are asked for."""
    e, rest, one, two = sm.Symbol("e"), np.zeros(6), [0.5, 0.5, -9.81], [0.5, 0.5, 0.0]
    for order in ((0.0, 1.0, 0.0), (1.0, 0.0, 1.0)):
        dyn = space(velocity_constraints=[v[0] - v[1], v[0] - v[1] + e * v[2]])
        for value in order:
            np.testing.assert_allclose(dyn.udot(0.0, rest, p=[value]), two if value else one, atol=1e-14)
            sol = dyn.simulate((0.0, 1.0), rest, parameters={e: value})
            assert sol.x[-1, 5] == pytest.approx(0 if value else -9.81)
        np.testing.assert_allclose(dyn.udot(0.0, [rest, rest], p=[[0.0], [1.0]]), [one, two], atol=1e-14)
        dyn.parameters[e] = 0.0
        assert dyn.check(rest).rank == 1
        dyn.parameters[e] = 1.0
        np.testing.assert_allclose(dyn.udot(0.0, rest), two, atol=1e-14)


@pytest.mark.parametrize("row", every(2, [b**2, a**2 + b**2, 1 - sm.cos(b), (a - b) ** 3], first=1))
def test_squares_are_no_constraints(row: Any) -> None:
    """They hold where they say nothing of velocities; a row that is redundant follows from the others."""
    dyn = space(configuration_constraints=[row])
    for call in (dyn.udot, dyn.rhs, dyn.multipliers):
        with pytest.raises((kc.ModelError, kc.SingularError), match="configuration constraint 0"):
            call(0.0, np.zeros(6))
    with pytest.raises(kc.ModelError, match=r"'configuration constraint 0'.*(square|contradict)"):
        dyn.check(np.zeros(6))


def test_the_end_of_what_constraints_allow() -> None:
    """cos x = 0.3 + t: at t = 0.7, x = 0 the row is lost."""
    dyn = space(configuration_constraints=[sm.cos(a) - sm.Rational(3, 10) - t])
    x0 = dyn.consistent(0.0, [1.2, 0.0, 0.0, 0.0, 0.0, 0.0], None)
    for options in ({}, {"project": False}, {"method": "rk4", "dt": 1e-3}):
        with pytest.raises(kc.SingularError, match=r"t = 0.[67]") as caught:
            dyn.simulate((0.0, 2.0), x0, **options)  # type: ignore[arg-type]
        assert "configuration constraint 0" in str(caught.value)
        assert 0.69 < caught.value.t <= 0.7001
        assert caught.value.trajectory.t[-1] == caught.value.t


def test_a_row_that_is_lost_but_for_rounding() -> None:
    """A slider-crank with equal arms, the slider over the pivot: cos(π/2) is 6e-17 in floating point."""
    dyn = kc.load("slider_crank")
    dyn.parameters.update({"L1": 1.0, "L2": 1.0})
    folded = np.array([np.pi / 2, -np.pi / 2, 0.3, 0.3])
    assert np.max(np.abs(dyn.constraint_jacobian(0.0, folded))) < 1e-15
    for kernel in (dyn.udot, dyn.multipliers, dyn.linearize):
        with pytest.raises(kc.SingularError, match="'configuration constraint 0'"):
            kernel(0.0, folded)
    found = dyn.check(folded)
    assert (found.rank, found.typical_rank, found.dof) == (0, 1, 2)
    assert np.isfinite(dyn.udot(0.0, [1.5, -1.5, 0.3, -0.3])).all()


def test_repeated_acceleration_rows_are_rows() -> None:
    """As those on speeds are: 2 u̇ − 2 after u̇ − 1 is redundant, and keeps its number."""
    dyn = space(acceleration_constraints=[v[0].diff(t) - 1, 2 * v[0].diff(t) - 2])
    assert dyn.n_constraints == 2
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(6)), [1.0, 0.0, -9.81], atol=1e-15)
    assert dyn.check(np.zeros(6)).redundant == ("acceleration constraint 1",)


def test_rows_that_nearly_say_the_same_are_named() -> None:
    """Beside a branching point rows are independent, though little is left of one; the kernels name that one."""
    near = ConstraintState(rhombus(), 0.0, open_rhombus(3e-4, 1.0))
    assert near.contradictory_rows() == ()
    for row in range(2):
        assert near.contradictory_rows(row) == ("configuration constraint 0", "configuration constraint 1")


@pytest.mark.long
def test_a_lift_beside_a_branching_point() -> None:
    """Two stages of a scissor lift that fold upright: the error names the rows that nearly say the same there."""
    q, u = me.dynamicsymbols("a1:3 b1:3 s"), me.dynamicsymbols("ua1:3 ub1:3 us")
    N, O = ground()  # noqa: E741
    foot = O.locatenew("S", q[4] * N.x)
    foot.set_vel(N, u[4] * N.x)
    feet, bodies, rows = (O, foot), [me.Particle("foot", foot, 0.5)], []
    for i in range(2):
        middles, tops = [], []
        for j, (side, start) in enumerate(zip("AB", feet, strict=True)):
            frame = me.ReferenceFrame(f"{side}{i}")
            frame.orient_axis(N, N.z, q[2 * j + i])
            frame.set_ang_vel(N, u[2 * j + i] * N.z)
            middles.append(start.locatenew(f"C{side}{i}", frame.x / 2))
            tops.append(start.locatenew(f"T{side}{i}", frame.x))
            for point in (middles[j], tops[j]):
                point.v2pt_theory(start, N, frame)
            moment = me.inertia(frame, 0, sm.Rational(1, 12), sm.Rational(1, 12))
            bodies.append(me.RigidBody(f"{side}{i}", middles[j], frame, 1, (moment, middles[j])))
        apart = middles[1].pos_from(middles[0])
        rows += [apart.dot(N.x), apart.dot(N.y)]
        feet = (tops[1], tops[0])
    kinematics = [a.diff() - b for a, b in zip(q, u, strict=True)]
    dyn = kc.compile(kc.Model(N, q, u, kinematics, bodies=bodies, configuration_constraints=rows), cc="none")
    angle, rate = -1.2, -1.0
    rates = [rate, rate, -rate, -rate, -np.sin(angle) * rate]
    start = [angle, angle, np.pi - angle, np.pi - angle, np.cos(angle), *rates]
    with pytest.raises(kc.SingularError, match=r"and were not at the start\. Where motions branch") as caught:
        dyn.simulate((0.0, 1.0), start, method="dop853", rtol=1e-11, atol=1e-11)
    assert caught.value.contradictory == ("configuration constraint 1", "configuration constraint 3")
    assert all(repr(name) in str(caught.value) for name in caught.value.contradictory)
