# SPDX-License-Identifier: BSD-3-Clause
"""The principle of liberation: with r = λ the freed mechanism moves as the constrained one.

The source is the lecture "Dinámica analítica", example of the principle of liberation: a particle on a circular wire.
The judges of other mechanisms are the compiled multipliers, and the oracle of random constrained systems.
"""

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from numpy.testing import assert_allclose
from oracle.compare import input_values
from oracle.on_graph import OnGraph
from oracle.random_constrained import random_constrained
from sweep import every, part

import kanecore as kc
from kanecore.describe.description import fingerprint

pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

WIRE = {"m": 0.2, "g": 9.81, "R": 0.3}
CONSTRAINED = {  # and the rows that are freed one by one
    "andrews_squeezer": (0, 5),
    "appell_hamel": (0,),
    "ball_turntable": (0, 1),
    "bricard": (1,),
    "car": (0, 1),
    "chaplygin_sleigh": (0,),
    "constant_speed_particle": (0,),
    "five_bar": (0, 1),
    "four_bar": (0, 1),
    "knife_edge": (0,),
    "rolling_disc": (0, 1),
    "slider_crank": (0,),
    "snakeboard": (0, 1),
    "stewart": (7,),
    "whipple_bicycle": (0, 4),
}


def particle(*attached: str) -> dict[str, Any]:
    """A particle in cylindrical coordinates, on a wire of radius R in the plane z = 0; x is down.

    ``attached`` are the names of rows that are said where they act.
    """
    r, theta, z, v, omega, w = me.dynamicsymbols("r theta z v omega w")
    m, g, R = sm.symbols("m g R")
    N, E, origin = me.ReferenceFrame("N"), me.ReferenceFrame("E"), me.Point("O")
    E.orient_axis(N, N.z, theta)
    origin.set_vel(N, 0)
    P = origin.locatenew("P", r * E.x + z * N.z)
    bead = me.Particle("bead", P, m)
    axes = {"wire": (0, E.x), "plane": (1, N.z)}
    return {
        "frame": N,
        "q_ind": [theta],
        "u_ind": [omega],
        "q_dependent": [r, z],
        "u_dependent": [v, w],
        "kd_eqs": [theta.diff() - omega, r.diff() - v, z.diff() - w],
        "configuration_constraints": {"wire": r - R, "plane": z},
        "bodies": [bead],
        "forcelist": [(P, m * g * N.x)],
        "attach": {axes[name][0]: (bead, P, N, origin, axes[name][1]) for name in attached},
        "name": "wire",
    }


def wire(*attached: str, **options: Any) -> kc.Model:
    return kc.Model(**particle(*attached) | options)


def on_wire(theta: float, omega: float) -> list[float]:
    return [theta, WIRE["R"], 0.0, omega, 0.0, 0.0]


# ---------------------------------------------------------------------- source
def test_the_wire_of_the_source() -> None:
    """N_r = −m (R θ̇² + g cos θ), N_z = 0, θ̈ = −(g/R) sin θ: by multipliers and by liberation."""
    model = wire()
    free = model.free("wire", "plane")
    assert free.inputs == tuple(me.dynamicsymbols("lambda_wire lambda_plane"))
    assert model.inputs == ()
    r, theta, omega, v, w, lambda_r, lambda_z = me.dynamicsymbols("r theta omega v w lambda_wire lambda_plane")
    m, g, R = sm.symbols("m g R")
    forces = free.symbolic("generalized_active_forces", nested=True)  # Q_r = N_r, Q_θ = 0 + weight, Q_z = N_z
    expected = sm.Matrix([-m * g * r * sm.sin(theta), m * g * sm.cos(theta) + lambda_r, lambda_z])
    assert sm.simplify(forces - expected) == sm.zeros(3, 1)
    # the freed equations, and then the constraint as an additional one: r = R, r̈ = z̈ = 0 give the reactions
    theta_dd, r_dd, z_dd = free.symbolic("udot", nested=True).subs({r: R, v: 0, w: 0})
    [reactions] = sm.solve([r_dd, z_dd], [lambda_r, lambda_z], dict=True)
    assert sm.simplify(reactions[lambda_r] + m * (R * omega**2 + g * sm.cos(theta))) == 0
    assert reactions[lambda_z] == 0
    assert sm.simplify(theta_dd + g / R * sm.sin(theta)) == 0
    dyn = kc.compile(model, parameters=WIRE)
    x = on_wire(0.7, 2.5)
    N_r = -WIRE["m"] * (WIRE["R"] * 2.5**2 + WIRE["g"] * np.cos(0.7))
    assert_allclose(dyn.multipliers(0.0, x), [N_r, 0.0], rtol=1e-14, atol=1e-14)
    assert_allclose(dyn.udot(0.0, x)[0], -WIRE["g"] / WIRE["R"] * np.sin(0.7), rtol=1e-14)


@pytest.mark.parametrize("attached", [(), ("wire", "plane")])
def test_the_work_of_the_force_is_counted(attached: tuple[str, ...]) -> None:
    """Off the wire a constant force does work, and the balance of energy holds it, attached to points or not."""
    free, r = kc.compile(wire(*attached).free("wire", "plane"), parameters=WIRE), np.array([-2.5, 0.4])
    sol = free.simulate((0.0, 1.0), on_wire(0.3, 1.0), inputs=r.tolist(), rtol=1e-10, atol=1e-10)
    x = sol.x[-1]
    assert abs(r @ [x[1] - WIRE["R"], x[2]]) > 0.05
    assert sol.energy_drift < 1e-8
    assert_allclose(free.power(0.0, x, free.udot(0.0, x, r=r), r=r), r @ x[[4, 5]], rtol=1e-12)


# ------------------------------------------------------------------- mechanisms
@pytest.mark.parametrize("name", part(CONSTRAINED, ["appell_hamel", "slider_crank", "chaplygin_sleigh"]))
def test_gallery(name: str) -> None:
    """M u̇ = f + Gᵀ λ, with F_r of the freed model and G of the rows that remain: all rows at once, and some one by one.

    Every row of the gallery is attached, and its force acts at points.
    """
    module, dyn = import_module(f"kanecore.gallery.{name}"), kc.load(name)
    model, x = module.build(), dyn.check().x
    multipliers, udot, names = dyn.multipliers(0.0, x), dyn.udot(0.0, x), dyn.constraint_names
    all_rows = dyn.constraint_jacobian(0.0, x)
    for rows in ([*range(model.n_constraints)], *([i] for i in CONSTRAINED[name])):
        freed = model.free(*rows)
        assert (freed.coordinates, freed.speeds, freed.parameters) == (
            model.coordinates,
            model.speeds,
            model.parameters,
        )
        assert not freed.description.generalized_forces
        free = OnGraph(freed, module.PARAMETERS)
        r = {each: dyn.inputs[each] for each in dyn.input_names}
        r |= {f"lambda_{names[i]}": multipliers[i] for i in rows}
        remaining = [i for i in range(len(names)) if i not in rows]
        G = free.constraint_jacobian(0.0, x, r=r) if free.n_constraints else np.zeros((0, len(udot)))
        assert_allclose(G, all_rows[remaining], rtol=1e-12, atol=1e-12)
        terms = [dyn.mass_matrix(0.0, x) @ udot, -free.forcing(0.0, x, r=r), -G.T @ multipliers[remaining]]
        size = max(np.abs(terms).max(), np.abs(all_rows.T * multipliers).max())
        assert np.abs(np.sum(terms, axis=0)).max() < 1e-11 * size, rows


@pytest.mark.parametrize("seed", every(200, range(200), first=2))
def test_random_systems(seed: int) -> None:
    """M u̇ = F_r + F*_r with λ of the oracle as inputs, where nothing is attached; then with half of the rows freed."""
    system = random_constrained(seed)
    expected, state = system["oracle"](system["state"]), system["state"]
    n_q, n_u = (len(system[name]) - system[f"{name}_dependent"] for name in ("q", "u"))
    model = kc.Model(
        *(system["frame"], system["q"][:n_q], system["u"][:n_u]),
        kd_eqs=system["kdes"],
        q_dependent=system["q"][n_q:],
        u_dependent=system["u"][n_u:],
        bodies=system["bodies"],
        forcelist=system["loads"],
        **{
            f"{kind}_constraints": [row.expression for row in system["constraints"] if row.kind == kind]
            for kind in ("configuration", "velocity", "acceleration")
        },
    )
    values = {str(symbol): float(system["parameters"][symbol]) for symbol in model.parameters}
    rows = [row.name for row in model.derivation.constraints.rows]
    multipliers = dict(zip(rows, expected["multipliers"], strict=True))
    at = (state["t"], np.array([*state["q"], *state["u"]]))
    given = input_values(OnGraph(model, values), system, state)
    for names in ([c.name for c in model.description.constraints], rows[::2]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kc.KanecoreWarning)  # of redundant rows
            free = OnGraph(model.free(*names), values)
        r = given | {f"lambda_{name}": multipliers.get(name, 0.0) for name in names}
        terms = [expected["M"] @ expected["udot"], -free.forcing(*at, r=r)]
        if free.n_constraints:
            G = free.constraint_jacobian(*at, r=r)
            remaining = [multipliers.get(row.name, 0.0) for row in free._derivation.rows]
            terms.append(-G.T @ remaining)
        size = max(np.abs(terms).max(), np.abs(expected["G"].T * expected["multipliers"]).max())
        assert np.abs(np.sum(terms, axis=0)).max() < 1e-9 * size, (names, system["kinds"])


def test_udot_in_machine_code() -> None:
    """A loop: u̇, the multipliers that remain, the columns of λ in the linearization, and the joints' reactions."""
    module, dyn = import_module("kanecore.gallery.four_bar"), kc.load("four_bar")
    x = dyn.check().x
    multipliers, inputs = dyn.multipliers(0.0, x), [dyn.inputs[i] for i in dyn.input_names]
    for rows in ((0,), (0, 1)):
        free = kc.compile(module.build().free(*rows), parameters=module.PARAMETERS)
        r = np.array([*inputs, *multipliers[list(rows)]])
        assert_allclose(free.udot(0.0, x, r=r), dyn.udot(0.0, x), rtol=1e-10, atol=1e-10)
        assert_allclose(free.multipliers(0.0, x, r=r), multipliers[len(rows) :], rtol=1e-9, atol=1e-9)
        assert_allclose(free.reactions(0.0, x, r=r), dyn.reactions(0.0, x), rtol=1e-9, atol=1e-9)
    slope = np.linalg.solve(free.mass_matrix(0.0, x), dyn.constraint_jacobian(0.0, x).T)
    assert_allclose(free.linearize(0.0, x, r=r)[1][free.n_q :, -2:], slope, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------- descriptions
def test_an_attached_row_is_a_load() -> None:
    free = wire("wire", "plane").free("wire")
    assert [load.number for load in free.description.loads] == [0, 1, 1]
    assert "  load 1, force on P and O:\n    F_v = lambda_wire" in free.explain()
    assert "load 1, force on point P and force on point O" in free.report()
    assert [a.row for a in free.description.attachments] == [0]
    dyn, x = kc.compile(free, parameters=WIRE), on_wire(0.7, 2.5)
    assert_allclose(dyn.multipliers(0.0, x), [0.0], atol=1e-15)
    assert dyn.reactions(0.0, x, r=[1.0]).shape == (1, 6)
    assert dyn.points == ("P", "O")
    powers = dyn.load_powers(0.0, [0.7, 0.4, 0.0, 2.5, 0.3, 0.0], r=[1.7])
    assert powers["load 1 at P, at O"] == pytest.approx(1.7 * 0.3)


def test_an_unattached_row_is_a_generalized_force() -> None:
    """It has its share of F_r, baked parameters or not; where it acts, and so what joints carry, nobody knows."""
    free = wire().free("wire")
    assert "  lambda_wire of a freed constraint:\n    F_v = lambda_wire" in free.explain()
    assert "  lambda_wire of a freed constraint" in free.report().splitlines()
    dyn, x = kc.compile(free, parameters=WIRE), on_wire(0.7, 2.5)
    unknown = r"no equation tells where lambda_wire of freed constraints acts: say so in Model\(attach"
    with pytest.raises(kc.ModelError, match=unknown):
        dyn.reactions(0.0, x)
    baked = kc.compile(free, parameters=WIRE, bake=True)
    assert_allclose(baked.udot(0.0, x, r=[1.3]), dyn.udot(0.0, x, r=[1.3]), rtol=1e-14)
    shares, total = (
        dyn.generalized_active_forces(0.0, x, r=[1.3], by="load"),
        dyn.generalized_active_forces(0.0, x, r=[1.3]),
    )
    assert_allclose(shares["freed constraints"][1], 1.3, rtol=1e-12)
    assert_allclose(sum(shares.values()), total, rtol=1e-12)
    assert_allclose(total[1] - dyn.generalized_active_forces(0.0, x)[1], 1.3)


def test_one_after_the_other() -> None:
    """Names are those of the constraints, whichever the rows are by then; the model itself stays as it was."""
    model = wire()
    before = fingerprint(model.description), model.report(), model.inputs
    twice, once = model.free("plane").free("wire"), model.free("plane", "wire")
    assert (fingerprint(model.description), model.report(), model.inputs) == before
    forces = tuple(me.dynamicsymbols("lambda_plane lambda_wire"))
    assert twice.inputs == once.inputs == model.free(1, 0).inputs == forces
    assert twice.n_constraints == 0
    with pytest.raises(kc.ModelError, match="it has none"):
        once.free("wire")
    assert sm.simplify(twice.symbolic("udot", nested=True) - once.symbolic("udot", nested=True)) == sm.zeros(3, 1)


def test_dependent_states() -> None:
    """Those that the other constraints determine remain dependent; the order of the state is the same."""
    x, R = [0.7, 0.4, 0.2, 2.5, 0.3, 0.1], WIRE["R"]
    for freed, n, consistent in (
        (("wire",), 1, [0.7, 0.4, 0.0, 2.5, 0.3, 0.0]),
        (("plane",), 0, [0.7, R, 0.2, 2.5, 0.0, 0.1]),
        (("wire", "plane"), 0, x),
    ):
        model = wire().free(*freed)
        d = model.description
        assert (d.n_q_dependent, d.n_u_dependent) == (n, n), freed
        assert (d.coordinate_names, d.speed_names) == (("theta", "r", "z"), ("omega", "v", "w"))
        assert_allclose(kc.compile(model, parameters=WIRE).consistent(0.0, x), consistent, atol=1e-12)


def test_outputs_hold_the_multiplier_that_was() -> None:
    model, x = wire(outputs={"push": 2 * kc.multiplier(0), "side": kc.multiplier(1)}), on_wire(0.7, 2.5)
    free = model.free("wire")
    dyn, half = (kc.compile(each, parameters=WIRE) for each in (model, free))
    assert_allclose(half.outputs(0.0, x, r=dyn.multipliers(0.0, x)[:1]), dyn.outputs(0.0, x), atol=1e-14)
    assert "output 0, push = 2*lambda_wire" in free.explain()
    assert "output 1, side = multiplier(0)" in free.explain()


def test_a_derivative_that_was_filed_holds_all_the_same() -> None:
    """A velocity constraint that is the derivative of one on coordinates: freeing one leaves the other in force."""
    v = me.dynamicsymbols("v")
    model = wire(velocity_constraints={"no slip": v}, acceleration_constraints={"no jerk": v.diff()})
    for names, follows in (
        (["wire"], {"wire": "no slip"}),
        (["no slip"], {"no slip": "wire"}),
        (["wire", "no slip"], {"no slip": "no jerk", "wire": "no jerk"}),
        (["wire", "no slip", "no jerk"], {}),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            free = model.free(*names)
        assert free.n_constraints == (1 if len(names) == 3 else 2)
        said = sorted(str(each.message) for each in caught)
        assert len(said) == len(follows)
        for message, (name, other) in zip(said, follows.items(), strict=True):
            assert f"freeing {name} allows no further motion: it follows from {other}" in message
    x = on_wire(0.7, 2.5)
    dyn, freed = kc.compile(model, parameters=WIRE), kc.compile(free, parameters=WIRE)
    multipliers = dict(zip(dyn.constraint_names, dyn.multipliers(0.0, x), strict=True))
    assert list(multipliers) == ["no slip", "plane"]
    assert_allclose(freed.udot(0.0, x, r={"lambda_no slip": multipliers["no slip"]}), dyn.udot(0.0, x), atol=1e-12)


def test_constraints_on_accelerations() -> None:
    """λ ∂c/∂u̇_r: u̇ of the freed model is that of the constrained one."""
    omega, v, w = me.dynamicsymbols("omega v w")
    rows = {"given": v.diff() - sm.Symbol("R") * omega.diff() + w**2, "level": w.diff() - 1}
    options = {"configuration_constraints": None, "q_ind": me.dynamicsymbols("theta r z"), "q_dependent": []}
    model = wire(**options, acceleration_constraints=rows)
    dyn, free = (kc.compile(each, parameters=WIRE) for each in (model, model.free("given", "level")))
    x = [0.3, 0.4, 0.1, 1.0, -0.5, 0.7]
    assert_allclose(free.udot(0.0, x, r=dyn.multipliers(0.0, x)), dyn.udot(0.0, x), rtol=1e-12)
    assert abs(dyn.multipliers(0.0, x)).min() > 0.01


def test_a_motion_that_only_the_constraint_prescribed_is_an_input_like_any() -> None:
    r, z, s = me.dynamicsymbols("r z s")
    model = wire(configuration_constraints={"wire": r - s, "plane": z})
    free = model.free("wire")
    assert model.description.prescribed == {0, 1, 2}
    assert free.description.prescribed == frozenset()
    assert free.inputs[:3] == model.inputs
    dyn = kc.compile(free, parameters={"m": 0.2, "g": 9.81})
    expected = 0.3 * 2.5**2 + 9.81 * np.cos(0.7) + 1.0 / 0.2
    assert dyn.udot(0.0, on_wire(0.7, 2.5), r={"lambda_wire": 1.0})[1] == pytest.approx(expected)


def test_auxiliary_forces_hold_the_force() -> None:
    """An auxiliary speed in a velocity constraint: its equation holds λ, as a multiplier or as an input."""
    theta, z, r, omega, w, v, away = me.dynamicsymbols("theta z r omega w v away")
    states = {"q_ind": [theta, z, r], "q_dependent": [], "u_ind": [omega, w], "u_dependent": [v]}
    states |= {"u_auxiliary": [away], "kd_eqs": [theta.diff() - omega, z.diff() - w, r.diff() - v]}
    rows = {"slip": v - sm.Symbol("R") * away}
    model = wire(**states, configuration_constraints=None, velocity_constraints=rows)
    dyn, free = kc.compile(model, parameters=WIRE), kc.compile(model.free("slip"), parameters=WIRE)
    x = [0.7, 0.0, 0.3, 2.5, 0.0, 0.0]
    multipliers = dyn.multipliers(0.0, x)
    assert_allclose(free.udot(0.0, x, r=multipliers), dyn.udot(0.0, x), atol=1e-12)
    assert abs(dyn.auxiliary_forces(0.0, x)[0]) > 0.5
    assert_allclose(free.auxiliary_forces(0.0, x, r=multipliers), dyn.auxiliary_forces(0.0, x), rtol=1e-12)


@pytest.mark.parametrize("name", ["wire", "the wire", "a:b", "{x} \"y\" \\n 'z'", "λ", "x1:3", "", "for", "a, b"])
def test_any_name(name: str) -> None:
    rows, x = list(particle()["configuration_constraints"].values()), on_wire(0.7, 2.5)
    free = wire(configuration_constraints=dict(zip([name, "plane"], rows, strict=True))).free(name)
    [symbol] = free.inputs
    assert symbol.func.__name__ == f"lambda_{name}"
    dyn = kc.compile(free, parameters=WIRE)
    assert dyn.input_names == (f"lambda_{name}",)
    assert_allclose(dyn.udot(0.0, x, r={symbol: 1.0}), dyn.udot(0.0, x, r=[1.0]))


# ---------------------------------------------------------------------- errors
NO_ROW = r"is no row of G of 'wire', which has 2: name one .* 'wire', 'plane'"
NO_NAME = "'wire' has no constraint '{}' to be freed: name one .* 'wire', 'plane'"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        *(([key], NO_NAME.format(key)) for key in ("wier", "Wire", "lambda_wire", "velocity constraint 0")),
        *(([number], NO_ROW) for number in (2, -1, True, 1.5, None, me.dynamicsymbols("wire"))),
        ([], r"free\(\) has no constraint to free: name one"),
        (["wire", 0], r"free\(\) names 'wire' twice"),
    ],
)
def test_what_is_no_constraint(names: list[Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        wire().free(*names)


@pytest.mark.parametrize("kind", ["parameter", "input", "noncontributing", "law"])
def test_a_name_that_is_taken(kind: str) -> None:
    arguments, taken = particle(), me.dynamicsymbols("lambda_wire")
    P, y = arguments["bodies"][0].masscenter, arguments["frame"].y
    loads = {"parameter": [(P, sm.Symbol("lambda_wire") * y)], "noncontributing": [(P, taken * y), (P, -taken * y)]}
    arguments["forcelist"] += loads.get(kind, [(P, taken * y)])
    law = {"feedback": {taken: -arguments["u_ind"][0]}} if kind == "law" else {}
    message = "the force of the constraint would be named 'lambda_wire', and the model has"
    with pytest.raises(kc.ModelError, match=message):
        kc.Model(**arguments, **law).free("wire")


def test_an_attachment_that_does_not_act_as_its_row() -> None:
    arguments = particle("wire", "plane")
    *points, axis = arguments["attach"][0]
    arguments["attach"][0] = (*points, 2 * axis)
    with pytest.raises(kc.ModelError, match=r"attach=\{0: ...\} does not act as wire"):
        kc.Model(**arguments).free("wire")
    assert kc.Model(**arguments).free("plane").n_constraints == 1
