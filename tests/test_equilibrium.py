# SPDX-License-Identifier: BSD-3-Clause
"""``equilibrium``: trim and steady motion against closed forms, virtual work, and motions that go on."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import compiled, mass_point, pendulum_in_a_plane
from sweep import LONG, part

import kanecore as kc
from kanecore.gallery import four_bar, rolling_disc, rotating_tube

t = me.dynamicsymbols._t


@cache
def loaded(name: str) -> kc.CompiledModel:
    return kc.load(name)


def state(name: str, values: dict[str, float]) -> list[float]:
    dyn = loaded(name)
    return [values.get(key, 0.0) for key in (*dyn.coordinate_names, *dyn.speed_names)]


# ------------------------------------------------------------------------------------------------ equilibria
@pytest.mark.parametrize(("start", "end"), [(0.4, 0.0), (2.8, np.pi), (-3.0, -np.pi)])
def test_cart_pole_down_and_up(start: float, end: float) -> None:
    """The nearest one; where the cart is does not matter, and stays."""
    found = loaded("cart_pole").equilibrium(state("cart_pole", {"x": 0.7, "theta": start, "omega": 0.1}))
    np.testing.assert_allclose(found.x, [0.7, end, 0.0, 0.0], rtol=0, atol=1e-12)
    assert found.moving == {}
    assert str(found).splitlines()[:2] == ["cart_pole at t = 0, in equilibrium", "x = 0.7"]


def test_a_cyclic_coordinate_goes_on() -> None:
    """At a held speed the force overcomes friction, F = b v, and nothing else."""
    dyn = loaded("cart_pole")
    found = dyn.equilibrium(state("cart_pole", {"theta": 3.0}), fixed={"v": 1.5}, inputs=["F"])
    assert found.inputs["F"] == pytest.approx(0.1 * 1.5, rel=1e-12)
    assert found.state["theta"] == pytest.approx(np.pi, rel=1e-12)
    assert found.moving == pytest.approx({"x": 1.5})
    symbols = {me.dynamicsymbols("v"): 1.5}
    same = dyn.equilibrium(state("cart_pole", {"theta": 3.0}), fixed=symbols, inputs=me.dynamicsymbols("F"))
    np.testing.assert_array_equal(same.x, found.x)
    np.testing.assert_array_equal(dyn.equilibrium({"theta": 3.0}, fixed={"v": 1.5}, inputs=["F"]).x, found.x)
    held = dyn.equilibrium(fixed={"F": 0.3})
    assert held.state["v"] == pytest.approx(3.0)
    assert dyn.inputs["F"] == 0.0


def test_prescribed_motions_rest_unless_their_rates_are_set() -> None:
    """A tube that was turned by hand and stands; at a rate of turning the particles are further out."""
    dyn = kc.compile(rotating_tube.build(), parameters=rotating_tube.PARAMETERS)
    with pytest.raises(ValueError, match=r"'theta'.* never set"):
        dyn.equilibrium()
    dyn.inputs["theta"] = 0.0
    standing = dyn.equilibrium()
    assert standing.inputs == {"theta": 0.0, "theta_d": 0.0, "theta_dd": 0.0}
    turning = dyn.equilibrium(fixed={"theta_d": 0.5})
    assert turning.state["q1"] > standing.state["q1"]
    dyn.inputs["theta_d"] = 0.5
    assert dyn.equilibrium().state == turning.state


def test_quadrotor_hovers() -> None:
    dyn = loaded("quadrotor")
    found = dyn.equilibrium(fixed={"z": 2.0}, inputs=dyn.input_names)
    np.testing.assert_allclose(found.r, dyn.parameters["m"] * dyn.parameters["g"] / 4, rtol=1e-12)
    np.testing.assert_allclose(found.x, state("quadrotor", {"z": 2.0, "e0": 1.0}), rtol=0, atol=1e-12)
    tilted = np.array(state("quadrotor", {"e0": np.cos(0.2), "e1": np.sin(0.2)}))
    upright = dyn.equilibrium(tilted, inputs=dict.fromkeys(dyn.input_names, 0.1))
    assert abs(upright.state["e1"]) < 1e-12
    climbing = dyn.equilibrium(fixed={"v_z": 0.5}, inputs=dyn.input_names)
    assert climbing.moving == pytest.approx({"z": 0.5})


def test_four_bar_by_virtual_work() -> None:
    """The motor holds the crank: τ dq1 = dU along the motion that the loop allows."""
    dyn = loaded("four_bar")
    x0 = dyn.consistent(0.0, state("four_bar", four_bar.STATE))
    found = dyn.equilibrium(x0, fixed={"q1": 0.8}, inputs=["tau"])
    assert found.state["q1"] == pytest.approx(0.8, rel=1e-12)
    np.testing.assert_allclose(dyn.configuration_residual(0.0, found.x), 0.0, atol=1e-12)

    def potential(q1: float) -> float:
        x = found.x.copy()
        x[0] = q1
        return float(dyn.potential_energy(0.0, dyn.consistent(0.0, x)))

    h = 1e-3
    slope = (8 * (potential(0.8 + h) - potential(0.8 - h)) - potential(0.8 + 2 * h) + potential(0.8 - 2 * h)) / (12 * h)
    assert found.inputs["tau"] == pytest.approx(slope, rel=1e-9)
    resting = dyn.equilibrium(found.x)
    np.testing.assert_allclose(dyn.rhs(0.0, resting.x), 0.0, atol=1e-11)


@pytest.mark.parametrize("name", part(["bricard", "pendulum"], ["pendulum"]))
def test_redundant_rows(name: str) -> None:
    dyn = compiled(pendulum_in_a_plane("twice")) if name == "pendulum" else loaded(name)
    rest = np.where(np.arange(dyn.n_x) < dyn.n_q, dyn.check().x, 0.0)
    found = dyn.equilibrium(dyn.consistent(0.0, rest, None))
    np.testing.assert_allclose(dyn.rhs(0.0, found.x), 0.0, atol=1e-9)


def mass_on_spring(scale: float = 1.0) -> kc.CompiledModel:
    """A mass that hangs on a spring, with two jacks below it that share its weight."""
    x, v, f1, f2 = me.dynamicsymbols("x v f1 f2")
    m, g, k = sm.symbols("m g k")
    model = mass_point({x: v}, m, [m * g - k * x - f1 - f2], name="jacks")
    return kc.compile(model, parameters={m: 2.0, g: 9.81 * scale, k: 100.0})


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_underdetermined_takes_the_least_change(scale: float) -> None:
    dyn = mass_on_spring(scale)
    assert dyn.equilibrium().state["x"] == pytest.approx(0.1962 * scale, rel=1e-12)
    shared = dyn.equilibrium(fixed=["x"], inputs=["f1", "f2"])
    np.testing.assert_allclose(shared.r, 9.81 * scale, rtol=1e-12)
    begun = dyn.equilibrium(fixed=["x"], inputs={"f1": 19.62 * scale, "f2": 0.0})
    np.testing.assert_allclose(begun.r, [19.62 * scale, 0.0], rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_inputs_shared_by_sizes(scale: float) -> None:
    """Two jacks carry m g, so that f1/s1² = f2/s2² is least, wherever the search began."""
    begun = {"f1": 19.62 * scale, "f2": 0.0}
    equal = mass_on_spring(scale).equilibrium(fixed=["x"], inputs=begun, sizes=1.0)
    np.testing.assert_allclose(equal.r, 9.81 * scale, rtol=1e-12)
    uneven = mass_on_spring(scale).equilibrium(fixed=["x"], inputs=begun, sizes={"f1": 3.0, "f2": 1.0})
    np.testing.assert_allclose(uneven.r, [0.9 * 19.62 * scale, 0.1 * 19.62 * scale], rtol=1e-12)


def lifted(lift: Callable[[Any, Any], Any]) -> kc.CompiledModel:
    """A weight of 2 · 9.81 N, and the lift of two inputs d and f."""
    x, v, d, f = me.dynamicsymbols("x v d f")
    m, g = sm.symbols("m g")
    model = mass_point({x: v}, m, [lift(d, f) - m * g], inputs=[d, f])
    return kc.compile(model, parameters={m: 2.0, g: 9.81})


def test_sizes_of_inputs_that_do_not_act_linearly() -> None:
    """A jack of force f and a bar that bears d³ where d presses it: the weight stays, and f² + d² is least."""
    dyn = lifted(lambda d, f: d**3 + f)
    for sizes in (1.0, np.int64(1), {"d": 1.0, "f": 1.0}):
        d, f = dyn.equilibrium(fixed=["x"], inputs={"d": 2.5, "f": 4.0}, sizes=sizes).r
        assert d**3 + f == pytest.approx(2.0 * 9.81, rel=1e-13)
        assert d == pytest.approx(3.0 * d**2 * f, rel=1e-6)  # both gradients along one line


def test_sizes_where_steps_go_to_and_fro() -> None:
    dyn = lifted(lambda d, f: d * f)
    begun = {"d": 4.0, "f": 5.0}
    d, f = dyn.equilibrium(fixed=["x"], inputs=begun).r
    assert d * f == pytest.approx(2.0 * 9.81, rel=1e-13)
    with pytest.raises(kc.ModelError, match="an equilibrium was found, but not the one with the least sum"):
        dyn.equilibrium(fixed=["x"], inputs=begun, sizes=1.0)


def test_sizes_of_any_number_type() -> None:
    dyn, begun = mass_on_spring(1.0), {"f1": 19.62, "f2": 0.0}
    for size in (2, np.int64(2), np.float32(2.0), np.array(2.0)):
        equal = dyn.equilibrium(fixed=["x"], inputs=begun, sizes=size)
        np.testing.assert_allclose(equal.r, 9.81, rtol=1e-12)


@pytest.mark.parametrize("factor", part([1e-12, 1e-7, 1e7, 1e12], [1e-7, 1e12]))
def test_sizes_far_apart_keep_the_state(factor: float) -> None:
    """An effort that alone holds a joint holds it whatever its size is beside the others."""
    dyn = loaded("arm7" if LONG else "rrp")
    names = dyn.input_names
    held = dyn.equilibrium(inputs=names).r
    sizes = {**dict.fromkeys(names, 1.0), names[1]: factor}
    np.testing.assert_allclose(dyn.equilibrium(inputs=names, sizes=sizes).r, held, rtol=0, atol=1e-11)
    jacks = mass_on_spring(1.0).equilibrium(fixed=["x"], inputs=["f1", "f2"], sizes={"f1": factor, "f2": 1.0})
    np.testing.assert_allclose(jacks.r, 19.62 * np.array([factor**2, 1.0]) / (1.0 + factor**2), rtol=1e-9, atol=1e-13)


def test_more_conditions_than_unknowns_that_agree() -> None:
    found = loaded("cart_pole").equilibrium(fixed={"x": 0.2, "theta": np.pi, "v": 0, "omega": 0, "F": 0})
    np.testing.assert_allclose(found.x, [0.2, np.pi, 0, 0], rtol=0, atol=1e-15)


def on_a_line(force: Any, damping: float) -> kc.CompiledModel:
    """A mass with a force that depends on its place."""
    x, v = me.dynamicsymbols("x v")
    return kc.compile(mass_point({x: v}, 2, [force(x) - damping * v]))


@pytest.mark.parametrize("order", [2, 3])
def test_zeros_of_higher_order(order: int) -> None:
    """As where a column buckles: the slope vanishes with the force."""
    dyn = on_a_line(lambda x: -(x**order), 0.0)
    for start in (0.3, -50.0):
        found = dyn.equilibrium([start, 0.2])
        np.testing.assert_allclose(found.x, 0.0, rtol=0, atol=1e-8 * abs(start))
        assert found.moving == {}


def test_forces_that_are_of_second_order_in_the_speeds() -> None:
    """A sleigh may slide ahead at any speed; v̇ = a w², so that nothing tells w from zero to first order."""
    dyn = loaded("chaplygin_sleigh")
    found = dyn.equilibrium(state("chaplygin_sleigh", {"v": 0.2, "w": 3.0}))
    np.testing.assert_allclose(found.x[-2:], 0.0, rtol=0, atol=1e-12)
    assert found.moving == {}


def test_far_starts() -> None:
    """Where the whole step leads off the domain of the force, and damping would hold all that is soft."""
    dyn = on_a_line(lambda x: -sm.log(x), 1.0)
    assert dyn.equilibrium([1e4, 0.2]).state["x"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "name", part(["cart_pendulum", "double_pendulum", "chain40"], ["cart_pendulum", "double_pendulum"])
)
def test_any_starts(name: str) -> None:
    """Each acceleration of a chain depends on all angles, each force on few."""
    dyn = loaded(name)
    for start in np.random.default_rng(7).uniform(-1.0, 1.0, (3, dyn.n_x)):
        found = dyn.equilibrium(start, fixed=dict.fromkeys(dyn.input_names, 0.0))
        assert np.max(np.abs(dyn.forcing(0.0, found.x, r=found.r))) < 1e-9


def test_speeds_that_move_no_mass() -> None:
    """M is singular: what acts along the second one is a damper, and a constraint, which holds it."""
    (q1, q2), (u1, u2) = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    N, O, P, Q = me.ReferenceFrame("N"), *map(me.Point, "OPQ")  # noqa: E741
    O.set_vel(N, 0)
    for point, q, u in ((P, q1, u1), (Q, q2, u2)):
        point.set_pos(O, q * N.x)
        point.set_vel(N, u * N.x)
    loads = [(P, (1 - 3 * q1) * N.x), (Q, -u2 * N.x)]
    kdes, bodies = [q1.diff(t) - u1, q2.diff(t) - u2], [me.Particle("P", P, 2)]
    model = kc.Model(N, [q1, q2], [u1, u2], kdes, velocity_constraints=[u1 - u2], bodies=bodies, forcelist=loads)
    found = kc.compile(model).equilibrium([5.0, 0.3, 2.0, 2.0])
    np.testing.assert_allclose(found.x, [1 / 3, 0.3, 0.0, 0.0], rtol=0, atol=1e-12)


def test_what_goes_on_where_a_coordinate_has_no_inertia() -> None:
    """A pendulum that hangs down, in spherical coordinates: its azimuth turns, and moves nothing."""
    found = loaded("spherical_pendulum").equilibrium([-2.6764, -0.6998, -0.5492, -2.7283])
    assert found.state["theta"] == pytest.approx(-np.pi)
    assert found.moving == pytest.approx({"phi": found.state["u2"]})
    assert abs(found.state["u2"]) > 1e-3


def test_a_pole_of_the_coordinates() -> None:
    """Upright, where two angles are one: the search ends before divisions by the third overflow."""
    found = loaded("spinning_top").equilibrium([0.2, 0.5, 0.3, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found.x, [0.2, 0.0, 0.3, 0.0, 0.0, 0.0], rtol=0, atol=1e-12)


# -------------------------------------------------------------------------------------------- steady motions
@pytest.mark.parametrize("lean", [0.1, -0.3])
def test_disc_in_a_circle(lean: float) -> None:
    """6 u2 u3 − u2² tan q2 + 4 (g/R) sin q2 = 0, from the balance of moments of a thin disc that leans steadily."""
    dyn = loaded("rolling_disc")
    x0 = dyn.consistent(0.0, state("rolling_disc", rolling_disc.STATE))
    found = dyn.equilibrium(x0, fixed={"q2": lean, "u3": -5.0}, steady=["q2", "u1", "u2", "u3"])
    u2, u3, g, radius = found.state["u2"], found.state["u3"], dyn.parameters["g"], dyn.parameters["R"]
    assert (found.state["q2"], u3) == pytest.approx((lean, -5.0))
    assert 6 * u2 * u3 - u2**2 * np.tan(lean) + 4 * g / radius * np.sin(lean) == pytest.approx(0.0, abs=1e-10)
    assert found.moving["q1"] == pytest.approx(u2 / np.cos(lean))


@pytest.mark.long
def test_bicycle_in_a_turn_stays_in_it() -> None:
    """What is found as steady is so: lean, steer and yaw rate stay for a while, though the turn is unstable."""
    dyn = loaded("whipple_bicycle")
    ahead = dyn.consistent(0.0, state("whipple_bicycle", {"uthR": -5.0 / 0.3, "ux": 5.0}))
    straight = dyn.equilibrium(ahead)
    assert set(straight.moving) == {"x", "thR", "thF"}
    np.testing.assert_allclose(straight.x, ahead, rtol=0, atol=1e-12)
    constant = ["phi", "delta", "th", "uphi", "udelta", "uthR", "upsi", "uthF", "uth"]
    turn = dyn.equilibrium(ahead, fixed={"phi": 0.1, "uthR": -5.0 / 0.3}, inputs=["Tdelta"], steady=constant)
    assert turn.state["phi"] == pytest.approx(0.1, rel=1e-12)
    assert turn.inputs["Tphi"] == 0.0
    motion = dyn.simulate((0.0, 2.0), turn.x, inputs=turn.r, rtol=1e-11, atol=1e-12)
    places = [[*dyn.coordinate_names, *dyn.speed_names].index(name) for name in constant]
    np.testing.assert_allclose(motion.x[-1, places], turn.x[places], rtol=0, atol=1e-6)
    assert abs(motion.x[-1, dyn.coordinate_names.index("psi")] - turn.state["psi"]) > 0.3


def test_naming_coordinates_alone_keeps_all_speeds() -> None:
    dyn = loaded("cart_pole")
    found = dyn.equilibrium(state("cart_pole", {"theta": 0.2, "v": 1.0}), steady="theta")
    np.testing.assert_allclose(dyn.udot(0.0, found.x), 0.0, atol=1e-12)


# ------------------------------------------------------------------------------------------------------ units
UNITS = [(1e9, 1.0, 1.0), (1.0, 1e9, 1.0), (1.0, 1.0, 1e9), (1e-9, 1e9, 1e-9), (1e6, 1e-9, 1e-6)]
SCALED = ["cart_pole", "quadrotor", "four_bar", "whipple_bicycle"]


@pytest.mark.parametrize("number", part(range(len(UNITS)), [3]))
@pytest.mark.parametrize("name", part(SCALED, ["cart_pole", "four_bar"]))
def test_other_units(name: str, number: int) -> None:
    """Length, mass and time in other units: the same equilibrium, and the same eigenvalues."""
    found = [trimmed(name, units) for units in ((1.0, 1.0, 1.0), UNITS[number])]
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=0, atol=1e-6)
    assert found[1][2:] == found[0][2:]


def trimmed(name: str, units: tuple[float, float, float]) -> tuple[Any, Any, list[str], list[Any], int]:
    """In units of the gallery: state and eigenvalues; what moves, what no input moves, how much no output shows."""
    module = import_module(f"kanecore.gallery.{name}")
    sizes = {key: float(np.prod([s**e for s, e in zip(units, d, strict=True)])) for key, d in module.DIMENSIONS.items()}
    dyn = kc.load(name)
    dyn.parameters = {key: value * sizes[key] for key, value in dyn.parameters.items()}
    states = np.array([sizes[key] for key in (*dyn.coordinate_names, *dyn.speed_names)])
    start = {"cart_pole": {"x": 0.3, "theta": 2.9, "v": 0.1}, "four_bar": four_bar.STATE}.get(name, {})
    start = {"uthR": -5.0 / 0.3, "ux": 5.0} if name == "whipple_bicycle" else start
    inputs = dyn.input_names if name == "quadrotor" else None
    x0 = dyn.consistent(0.0, {key: value * sizes[key] for key, value in start.items()})
    found = dyn.equilibrium(x0, inputs=inputs)
    system = dyn.linear_system(0.0, found.x, found.r)
    modes = [mode.states for mode in system.uncontrollable]
    return found.x / states, system.eigenvalues * units[2], list(found.moving), modes, len(system.unobservable)


@pytest.mark.long
def test_bicycle_from_rest() -> None:
    """Where all becomes small, upright at rest: what is left is compared with an angle of one, not with itself."""
    dyn = loaded("whipple_bicycle")
    leaning = dyn.consistent(0.0, {"phi": 0.1, "delta": -0.05, "psi": 0.4})
    assert abs(dyn.equilibrium(leaning).state["phi"]) < 1e-9


# ----------------------------------------------------------------------------------------------------- errors
MOTORS = [f"tau_{joint}_{side}" for joint in ("hip", "knee", "ankle") for side in ("left", "right")]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("quadrotor", {}, r"with no input free; not balanced: d/dt v_z = -9\.81, at x"),
        # it falls, and nothing else is left; its motors turn it round and round, and angles lose their digits
        ("biped", {"fixed": dict.fromkeys(MOTORS, 0.0)}, r"balanced: d/dt v_z = -9\.81, at x"),
        pytest.param(
            "biped", {"inputs": dict.fromkeys(MOTORS, 0.0)}, r"balanced: .*d/dt v_z = ", marks=pytest.mark.long
        ),
        ("kepler", {"x0": {"r": 1.0}}, "d/dt v = "),  # there would be one at no finite distance
        # the axis hangs down: there psi turns about it, as phi does, and is no coordinate of its own
        ("spinning_top", {"x0": [-0.5492, -2.7283, -2.7075, 2.9951, 0.9142, -1.5929]}, "balanced: .*d/dt psi = "),
        ("cart_pole", {"fixed": {"theta": 1.0}, "inputs": "F"}, r"with F free; .* d/dt omega = .*: free more inputs"),
        ("cart_pole", {"fixed": {"v": 1.0}}, r"balanced: .*d/dt v = "),
        ("cart_pole", {"fixed": {"F": 1.0, "v": 1.0}}, r"v = .* in place of 1"),
        ("quadrotor", {"fixed": {"e0": 2.0}, "inputs": ["F1", "F2", "F3", "F4"]}, r"e0 = .* in place of 2"),
    ],
)
def test_nothing_balances(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        loaded(name).equilibrium(**arguments)


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_balanced_only_at_a_distance(damping: float) -> None:
    """What is left has a name, small as it is."""
    dyn = on_a_line(lambda x: 1 / (1 + x**2), damping)
    with pytest.raises(kc.ModelError, match=r"not balanced: .*d/dt v = \d\S+, .*at x = \[\d{4}"):
        dyn.equilibrium([5.0, 0.2])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"fixed": ["tetha"]},
            KeyError,
            "no coordinate, speed or input of 'cart_pole' is called 'tetha'; did you mean",
        ),
        ({"inputs": ["theta"]}, KeyError, "no input of 'cart_pole' is called 'theta'; there are 'F'"),
        ({"steady": ["F"]}, KeyError, "no coordinate or speed of 'cart_pole' is called 'F'"),
        ({"fixed": {"F": 1.0}, "inputs": ["F"]}, ValueError, "'F' is both fixed and among the inputs"),
        ({"fixed": {"x": np.nan}}, ValueError, r"fixed\['x'\] is nan, which is not finite"),
        ({"fixed": {"x": "far"}}, TypeError, r"fixed\['x'\] must be real numbers"),
        ({"fixed": 3}, TypeError, "fixed must be names, or a mapping of names to"),
        ({"fixed": {"x": [1.0, 2.0]}}, TypeError, r"fixed\['x'\] must be one number"),
        ({"x0": {"tetha": 1.0}}, KeyError, "is called 'tetha'; did you mean"),
        ({"fixed": ["x", "x"]}, ValueError, "fixed gives 'x' twice"),
        ({"x0": [0.0, 1.0]}, ValueError, r"x0 has shape \(2,\)"),
        ({"x0": [0.0, np.inf, 0.0, 0.0]}, ValueError, "not finite"),
        ({"sizes": {"F": 1.0}}, ValueError, "sizes must name the inputs that may change, of which there are none"),
        ({"sizes": {}, "inputs": ["F"]}, ValueError, "sizes must name the inputs that may change, 'F'"),
        ({"sizes": {"F": 0.0}, "inputs": ["F"]}, ValueError, r"sizes\['F'\] must be a positive number, not 0.0"),
        ({"sizes": ["F"], "inputs": ["F"]}, ValueError, r"sizes\['F'\] must be a positive number, not None"),
        ({"t": np.nan}, ValueError, "t is nan, which is not finite"),
        ({"t": [0.0, 1.0]}, TypeError, r"t must be one number, got \[0.0, 1.0\]"),
        ({"t": None}, TypeError, "t must be real numbers"),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        loaded("cart_pole").equilibrium(**arguments)


def test_start_off_the_constraints() -> None:
    dyn = loaded("four_bar")
    with pytest.raises(ValueError, match="x0 does not satisfy the constraints of 'four_bar'"):
        dyn.equilibrium(np.full(dyn.n_x, 0.3))
    with pytest.raises(ValueError, match=r"t = 0\.0: 'velocity constraint 0' \(-\d\S+\); the residuals must"):
        loaded("constant_speed_particle").equilibrium(np.zeros(6))
    with pytest.raises(kc.ModelError, match="all coefficients of 'velocity constraint 0' are zero there"):
        loaded("constant_speed_particle").equilibrium()
    with pytest.raises(ValueError, match=r"norm 0\.0 in x0"):
        loaded("quadrotor").equilibrium(np.zeros(13))
