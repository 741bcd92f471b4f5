# SPDX-License-Identifier: BSD-3-Clause
"""Robots from URDF files, beside Pinocchio, and what is wrong with files."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy.physics.mechanics as me
from numpy.testing import assert_allclose
from oracle.compare import read_reference, relative_error
from sweep import part

import kanecore as kc

Array = npt.NDArray[np.float64]

ROBOTS = Path(__file__).parent / "robots"
REFERENCE: dict[str, dict[str, Any]] = read_reference("pinocchio/robots")
TOLERANCE = 1e-12
SHOWN = ["rover", "walker, floating"]


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
END = "</robot>"
ORIGIN = '<origin xyz="0.1 0.2 -0.1"/>'
PAIR = f'<robot name="r">\n<link name="a"/>\n<link name="b">{INERTIAL}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>\n'


@pytest.fixture(scope="module", params=part(REFERENCE, SHOWN))
def case(request: pytest.FixtureRequest) -> tuple[kc.CompiledModel, list[dict[str, Any]]]:
    """A compiled robot, and Pinocchio's states of it, of independent joints."""
    name, _, base = request.param.partition(", ")
    model = kc.Model.from_urdf(ROBOTS / f"{name}.urdf", floating_base=bool(base), mimic=False)
    return kc.compile(model), REFERENCE[request.param]["states"]


def compiled(model: kc.Model) -> kc.CompiledModel:
    """Without a compiler: these tests are of the description."""
    return kc.compile(model, cc="none")


def state(dyn: kc.CompiledModel, reference: dict[str, Any]) -> tuple[Array, Array, list[int]]:
    """x and r, and which speed each of Pinocchio's velocities is."""
    names = [f"u_{name}" for name in reference["joints"]]
    values = reference["q"] | dict(zip(names, reference["v"], strict=True))
    efforts = {f"tau_{name}": tau for name, tau in zip(reference["joints"], reference["tau"], strict=True)}
    r = np.array([efforts[name] for name in dyn.input_names])
    return np.asarray(dyn.state(values)), r, [dyn.speed_names.index(name) for name in names]


def test_equations_of_motion(case: tuple[kc.CompiledModel, list[dict[str, Any]]]) -> None:
    dyn, references = case
    for reference in references:
        x, r, order = state(dyn, reference)
        mass = np.asarray(dyn.mass_matrix(0.0, x))[np.ix_(order, order)]
        assert relative_error(mass, reference["M"]) < TOLERANCE
        forcing = np.asarray(dyn.forcing(0.0, x, r=np.zeros(dyn.n_r)))[order]
        assert relative_error(-forcing, reference["nle"]) < TOLERANCE
        udot = np.asarray(dyn.udot(0.0, x, r=r))[order]
        assert relative_error(udot, reference["vdot"]) < 1e-11


def test_frames(case: tuple[kc.CompiledModel, list[dict[str, Any]]]) -> None:
    """Positions, orientations, Jacobians and classical accelerations of all links, with those that have no mass."""
    dyn, references = case
    for reference in references:
        x, r, order = state(dyn, reference)
        udot = np.asarray(dyn.udot(0.0, x, r=r))
        positions, orientations = (kernel(0.0, x, named=True) for kernel in (dyn.positions, dyn.orientations))
        accelerations, turns = (
            kernel(0.0, x, udot, named=True) for kernel in (dyn.accelerations, dyn.angular_accelerations)
        )
        for name, frame in reference["frames"].items():
            if name == "universe":
                continue
            assert_allclose(positions[name], frame["position"], rtol=0, atol=1e-13)
            assert_allclose(orientations[name], frame["orientation"], rtol=0, atol=1e-13)
            jacobian = np.asarray(dyn.jacobian(name, 0.0, x, attached=name))[:, order]
            assert_allclose(jacobian, frame["jacobian"], rtol=0, atol=1e-13)
            size = 1.0 + np.max(np.abs(udot))
            assert_allclose(accelerations[name], frame["acceleration"], rtol=0, atol=1e-11 * size)
            assert_allclose(turns[name], frame["angular acceleration"], rtol=0, atol=1e-11 * size)


@pytest.mark.parametrize("name", part(REFERENCE, SHOWN))
def test_states_in_the_order_of_pinocchio(name: str) -> None:
    """By its own indices; joints have another order there, and quaternions and unlimited joints other numbers."""
    file, _, base = name.partition(", ")
    dyn = compiled(kc.Model.from_urdf(ROBOTS / f"{file}.urdf", floating_base=bool(base), mimic=False))
    layout = REFERENCE[name]["layout"]
    joints = [SimpleNamespace(idx_q=q, nq=nq, idx_v=v, nv=nv) for _, q, nq, v, nv in layout]
    model = SimpleNamespace(
        names=["universe", *(joint[0] for joint in layout)],
        joints=[None, *joints],
        njoints=len(joints) + 1,
        jointPlacements=[SimpleNamespace(rotation=np.eye(3))] * (len(joints) + 1),
        parents=[0] * (len(joints) + 1),
        nq=sum(joint.nq for joint in joints),
        nv=sum(joint.nv for joint in joints),
    )
    references = REFERENCE[name]["states"]
    x = np.array([state(dyn, reference)[0] for reference in references])
    q, v = kc.robots.to_pinocchio(dyn, x, model)
    assert_allclose(q, [reference["raw q"] for reference in references], rtol=0, atol=1e-15)
    assert_allclose(v, [reference["v"] for reference in references], rtol=0, atol=0)
    assert_allclose(kc.robots.from_pinocchio(dyn, q, v, model), x, rtol=0, atol=1e-15)
    other = compiled(kc.Model.from_urdf(four_bar(1.0, 1.0)))
    with pytest.raises(KeyError, match="is called"):
        kc.robots.to_pinocchio(other, np.zeros(other.n_x), model)


def test_velocities_in_the_world() -> None:
    """The same motion, with the derivative of the position as speeds; states of Pinocchio are those of the link."""
    path = ROBOTS / "walker.urdf"
    link, world = (
        compiled(kc.Model.from_urdf(path, floating_base=True, free_velocity=axes)) for axes in ("link", "world")
    )
    x = np.random.default_rng(3).uniform(-1, 1, link.n_x)
    x[3:7] /= np.linalg.norm(x[3:7])
    turn = link.orientations(0.0, x, named=True)["trunk"]
    n, y = link.n_q, x.copy()
    y[n : n + 3] = turn @ x[n : n + 3]
    assert_allclose(world.qdot(0.0, y)[:3], y[n : n + 3], rtol=0, atol=0)
    r = np.arange(1.0, link.n_r + 1)
    a, b = link.udot(0.0, x, r=r), world.udot(0.0, y, r=r)
    rate = turn @ (a[:3] + np.cross(x[n + 3 : n + 6], x[n : n + 3]))
    assert_allclose(b, [*rate, *a[3:]], rtol=1e-10, atol=1e-11)
    layout = REFERENCE["walker, floating"]["layout"]
    joints = [SimpleNamespace(idx_q=q, nq=nq, idx_v=v, nv=nv) for _, q, nq, v, nv in layout]
    model = SimpleNamespace(names=["universe", *(each[0] for each in layout)], joints=[None, *joints])
    model.njoints, model.nq, model.nv = len(joints) + 1, sum(j.nq for j in joints), sum(j.nv for j in joints)
    q, v = kc.robots.to_pinocchio(link, x, model)
    for found, expected in zip(kc.robots.to_pinocchio(world, [y, y], model), (q, v), strict=True):
        assert_allclose(found, [expected, expected], rtol=0, atol=1e-14)
    assert_allclose(kc.robots.from_pinocchio(world, q, [v, v], model), [y, y], rtol=0, atol=1e-14)


def test_ball_joints_in_the_order_of_pinocchio() -> None:
    dyn = compiled(kc.Model.from_urdf(PAIR + joint("ball", "a", "b", "spherical") + END))
    fields = {"njoints": 2, "nq": 4, "nv": 3, "joints": [None, SimpleNamespace(idx_q=0, nq=4, idx_v=0, nv=3)]}
    model = SimpleNamespace(names=["universe", "ball"], **fields)
    x = np.array([0.8, 0.0, 0.6, 0.0, 1.0, 2.0, 3.0])
    q, v = kc.robots.to_pinocchio(dyn, x, model)
    assert_allclose(q, [0.0, 0.6, 0.0, 0.8])
    assert_allclose(v, [1.0, 2.0, 3.0])
    assert_allclose(kc.robots.from_pinocchio(dyn, q, v, model), x)


def test_mimics_are_one_speed() -> None:
    """With S of u = S u_independent: SᵀMS, and Sᵀ(f + τ)."""
    path = ROBOTS / "tools.urdf"
    free = compiled(kc.Model.from_urdf(path, mimic=False))
    one = compiled(kc.Model.from_urdf(path))
    assert "q_grip too" not in one.coordinate_names
    assert one.input_names == free.input_names
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, one.n_x)
    s = np.zeros((free.n_u, one.n_u))
    for name in one.speed_names:
        s[free.speed_names.index(name), one.speed_names.index(name)] = 1.0
    s[free.speed_names.index("u_grip too"), one.speed_names.index("u_grip")] = 0.8
    offset = np.zeros(free.n_q)
    offset[free.coordinate_names.index("q_grip too")] = 0.01
    both = np.concatenate([s @ x[: one.n_q] + offset, s @ x[one.n_q :]])
    r = rng.uniform(-1, 1, one.n_r)
    assert relative_error(one.mass_matrix(0.0, x), s.T @ np.asarray(free.mass_matrix(0.0, both)) @ s) < TOLERANCE
    assert relative_error(one.forcing(0.0, x, r=r), s.T @ np.asarray(free.forcing(0.0, both, r=r))) < TOLERANCE


def test_a_mimic_before_its_leader() -> None:
    """And one that follows a follower: q_c = 2 (3 q_a + 0.1) + 0.2."""
    follows = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
    text = (
        '<robot name="r"><link name="g"/>'
        + "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "abc")
        + joint("c", "g", "c", more=follows.format("b", 2, 0.2))
        + joint("b", "g", "b", more=follows.format("a", 3, 0.1))
        + joint("a", "g", "a")
        + "</robot>"
    )
    dyn = compiled(kc.Model.from_urdf(text))
    assert dyn.coordinate_names == ("q_a",)
    assert dyn.input_names == ("tau_c", "tau_b", "tau_a")
    assert_allclose(dyn.mass_matrix(0.0, [0.3, 0.0]), [[1.0 + 9.0 + 36.0]])
    turned = dyn.orientations(0.0, [0.3, 0.0], named=True)["c"]
    assert np.arctan2(turned[2, 1], turned[1, 1]) == pytest.approx(2 * (3 * 0.3 + 0.1) + 0.2)
    assert_allclose(dyn.forcing(0.0, [0.3, 0.0], r=[1.0, 1.0, 1.0]), [6.0 + 3.0 + 1.0])


@pytest.mark.parametrize("kind", ["planar", "floating", "floating, world", "spherical", "prismatic", "continuous"])
def test_efforts_act_between_links(kind: str) -> None:
    """An effort does work on the speeds of its own joint alone, also where the link that carries the joint moves."""
    text = (
        f'<robot name="r"><link name="g"/><link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>'
        + joint("j", "g", "a", more='<axis xyz="0 0.6 0.8"/>')
        + joint(
            "k", "a", "b", kind.partition(",")[0], '<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/><axis xyz="0.8 0 -0.6"/>'
        )
        + "</robot>"
    )
    dyn = compiled(kc.Model.from_urdf(text, free_velocity="world" if "world" in kind else "link"))
    x = np.random.default_rng(0).uniform(-1, 1, dyn.n_x)
    for quaternion in dyn.unit:
        x[list(quaternion)] /= np.linalg.norm(x[list(quaternion)])
    idle = np.asarray(dyn.forcing(0.0, x, r=np.zeros(dyn.n_r)))
    for i, name in enumerate(dyn.input_names):
        work = np.asarray(dyn.forcing(0.0, x, r=np.eye(dyn.n_r)[i])) - idle
        own = dyn.speed_names.index(name.replace("tau_", "u_"))
        assert_allclose(work, np.eye(dyn.n_u)[own], rtol=0, atol=1e-12)


def test_parameters() -> None:
    """The same robot by parameters, which begin with the values of the file; those of the ground are not there."""
    path = ROBOTS / "tools.urdf"
    numbers, named = (compiled(kc.Model.from_urdf(path, parameters=flag)) for flag in (False, True))
    assert numbers.n_p == 0
    assert named.parameters["m_forearm"] == 1.2
    assert named.parameters["cz_flange"] == 0.02
    assert "m_pedestal" not in named.parameters
    assert len(named.bodies) == 7
    x, r = np.random.default_rng(0).uniform(-1, 1, named.n_x), np.ones(named.n_r)
    assert relative_error(named.mass_matrix(0.0, x), numbers.mass_matrix(0.0, x)) < TOLERANCE
    assert relative_error(named.udot(0.0, x, r=r), numbers.udot(0.0, x, r=r)) < 1e-10
    given = kc.compile(kc.Model.from_urdf(path, parameters=True), parameters={"m_forearm": 2.0}, cc="none")
    assert given.parameters["m_forearm"] == 2.0
    assert given.parameters["m_wrist"] == 0.4


def test_the_regressor_takes_the_ten_of_each_link() -> None:
    dyn = compiled(kc.Model.from_urdf(ROBOTS / "walker.urdf", parameters=True))
    rng = np.random.default_rng(2)
    x, udot = rng.uniform(-1, 1, dyn.n_x), rng.uniform(-1, 1, dyn.n_u)
    ten = np.asarray(dyn.inertial_parameters(0.0, x)).reshape(-1)
    found = np.asarray(dyn.regressor(0.0, x, udot)) @ ten
    assert_allclose(found, dyn.inverse_dynamics(0.0, x, udot, r=np.zeros(dyn.n_r)), rtol=1e-11, atol=1e-12)


def test_losses() -> None:
    """Damping · u, and friction · tanh(u / width), where they are asked for."""
    path = ROBOTS / "tools.urdf"
    plain = compiled(kc.Model.from_urdf(path))
    lossy = compiled(kc.Model.from_urdf(path, damping=True, friction=0.05))
    x = np.random.default_rng(1).uniform(-1, 1, plain.n_x)
    lost = np.asarray(plain.forcing(0.0, x)) - np.asarray(lossy.forcing(0.0, x))
    u = dict(zip(plain.speed_names, x[plain.n_q :], strict=True))
    expected = np.zeros(plain.n_u)
    expected[plain.speed_names.index("u_turn")] = 0.7 * u["u_turn"] + 0.4 * np.tanh(u["u_turn"] / 0.05)
    expected[plain.speed_names.index("u_lift")] = 3.0 * u["u_lift"]
    assert_allclose(lost, expected, rtol=0, atol=1e-12)


def test_gravity() -> None:
    falls = compiled(kc.Model.from_urdf(ROBOTS / "walker.urdf", floating_base=True, gravity=(1.0, 0.0, -2.0)))
    x = np.asarray(falls.state({"q_base_e0": 1.0}))
    udot = dict(zip(falls.speed_names, np.asarray(falls.udot(0.0, x)), strict=True))
    assert_allclose([udot["u_base_x"], udot["u_base_y"], udot["u_base_z"]], [1.0, 0.0, -2.0], atol=1e-12)
    assert_allclose([v for name, v in udot.items() if name not in ("u_base_x", "u_base_z")], 0.0, atol=1e-11)


def four_bar(coupler: float, rocker: float) -> str:
    """Three bars on the ground, of which the last two have the links ``pin`` and ``end`` at their ends."""
    inertial = INERTIAL.replace("<mass", '<origin xyz="0.5 0 0"/><mass').replace('"1" ', '"0.08" ')
    bars = "".join(f'<link name="{name}">{inertial}</link>' for name in ("crank", "coupler", "rocker"))
    rows = (
        f"a continuous ground crank 0, b continuous crank coupler 1, c continuous ground rocker 1.2, "
        f"d fixed coupler pin {coupler}, e fixed rocker end {rocker}"
    )
    for row in rows.split(", "):
        name, kind, parent, child, x = row.split()
        bars += joint(name, parent, child, kind, f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>')
    return f'<robot name="four bar"><link name="ground"/><link name="pin"/><link name="end"/>{bars}</robot>'


def test_loops() -> None:
    """Two ends stay together, and nothing is lost; if axes agree as well, of the mechanism a truss is left."""
    model = kc.Model.from_urdf(four_bar(1.2, 1.1), loops=[("pin", "end", "point")], gravity=(0, 0, 0))
    assert model.n_constraints == 3  # of which one is idle
    dyn = compiled(model)
    x = np.asarray(dyn.consistent(0.0, {"q_a": -1.2, "q_b": 1.0, "q_c": -1.0, "u_a": 1.0}, None))
    sol = dyn.simulate((0, 0.5), x)
    places = dyn.positions(sol.t, sol.x, named=True)
    assert_allclose(places["pin"], places["end"], atol=1e-9)
    assert sol.energy_drift < 1e-7
    assert np.ptp(sol["q_a"]) > 0.1
    welded = compiled(kc.Model.from_urdf(four_bar(1.5, 1.0), loops=[("pin", "end", "weld")]))
    assert welded.n_constraints == 6
    x = np.asarray(welded.consistent(0.0, {"q_a": -1.2, "q_b": 1.0, "q_c": -1.0}, None))
    for named in (welded.orientations(0.0, x, named=True), welded.positions(0.0, x, named=True)):
        assert_allclose(named["pin"], named["end"], atol=1e-9)
    assert np.linalg.matrix_rank(welded.constraint_jacobian(0.0, x)) == 3


@pytest.mark.parametrize("others", [[{"c": 1}], pytest.param([{}, {"b": -1}], marks=pytest.mark.long)])
def test_mimic_joints_in_a_loop(others: list[dict[str, int]]) -> None:
    """A parallelogram of which joints are mimics moves as the loop alone makes it; rounding is on the constraints."""
    rng, found = np.random.default_rng(0), []
    for mimics in ({"b": -1, "c": 1}, *others):
        text = four_bar(1.2, 1.0)
        for name, factor in mimics.items():
            head = f'<joint name="{name}" type="continuous">'
            assert head in text
            text = text.replace(head, f'{head}<mimic joint="a" multiplier="{factor}"/>')
        dyn = kc.compile(kc.Model.from_urdf(text, loops=[("pin", "end", "point")]), cc="none")
        factors = np.array([{"q_a": 1, "q_b": -1, "q_c": 1}[name] for name in dyn.coordinate_names])
        for angle, speed in rng.uniform(-1.0, 1.0, (40, 2)):
            x = np.concatenate([angle * factors, 3.0 * speed * factors])
            near = x + rng.normal(size=dyn.n_x) * 10.0 ** rng.uniform(-16, -7)
            assert_allclose(dyn.kernels.project(0.0, near), x, atol=2e-6)
        efforts = {"tau_a": 2.0, **{name: 0.3 for name in dyn.input_names if name != "tau_a"}}
        x = dyn.state({name: 0.7 * f for name, f in zip(dyn.coordinate_names, factors, strict=True)})
        found.append((len(dyn.input_names), dyn.udot(0.0, x, r=efforts)[0]))
    assert {n for n, _ in found} == {3}
    assert_allclose([a for _, a in found], found[0][1], rtol=1e-12)


@pytest.mark.long
def test_feet_on_the_ground() -> None:
    """A foot stays where it was put; the multipliers are the forces on the feet in the world's axes."""
    path = ROBOTS / "walker.urdf"
    free = compiled(kc.Model.from_urdf(path, floating_base=True))
    x = free.state({"q_base_e0": 1.0, "q_left hip": 0.3, "q_right hip": -0.2})
    places = {link: free.position(link, 0.0, x) for link in ("left foot", "right foot")}
    loops = [(link, place, "point") for link, place in places.items()]
    model = kc.Model.from_urdf(path, floating_base=True, loops=loops)
    dyn = compiled(model)
    assert [c for c in model.report().splitlines() if "right foot, z" in c]
    r = np.random.default_rng(2).normal(size=dyn.n_r)
    udot, forces = dyn.udot(0.0, x, r=r), dyn.multipliers(0.0, x, r=r)
    pushed = sum(free.jacobian(link, 0.0, x).T @ forces[3 * i : 3 * i + 3] for i, link in enumerate(places))
    assert_allclose(free.inverse_dynamics(0.0, x, udot, r=r), pushed, atol=1e-9)
    sol = dyn.simulate((0, 0.1), x)
    assert_allclose(
        dyn.positions(sol.t, sol.x, named=True)["right foot"], [places["right foot"]] * len(sol.t), atol=1e-8
    )


CARRIED = PAIR + joint("j", "a", "b", more='<origin rpy="0.3 0.2 0.1"/><axis xyz="0 0.6 0.8"/>')
CARRIED += f'<link name="c">{INERTIAL.replace("<mass", ORIGIN + "<mass")}</link>'
SEAT = '<origin xyz="0.5 -0.3 0.2" rpy="0.4 -0.2 0.7"/>'


@pytest.mark.parametrize("parameters", [False, True])
@pytest.mark.parametrize("by_element", [False, True])
def test_reactions_of_welds(parameters: bool, by_element: bool) -> None:
    """A body that floats and is welded loads the joint before as one that is fixed; its multipliers are the weld's."""
    fixed = compiled(kc.Model.from_urdf(CARRIED + joint("k", "b", "c", "fixed", SEAT) + END, parameters=True))
    text, loops = CARRIED + joint("k", "a", "c", "floating"), []
    if by_element:
        end = SEAT.replace("<origin", "").replace("/>", "")
        text += f'<loop_joint name="seat" type="fixed"><link1 link="b" {end}/><link2 link="c"/></loop_joint>'
    else:
        text += '<link name="seat"/>' + joint("l", "b", "seat", "fixed", SEAT)
        loops = [("seat", "c", "weld")]
    dyn = compiled(kc.Model.from_urdf(text + END, loops=loops, parameters=parameters))
    start = {"q_j": 0.6, "u_j": 1.3, "q_k_e0": 1.0}
    x = dyn.consistent(0.0, start | {"q_k_x": -0.3, "q_k_y": 0.5, "q_k_z": 0.3}, None)
    own = [x[0], x[dyn.n_q]]
    effort = dyn.input_names.index("tau_j")
    r = 2.0 * np.eye(dyn.n_r)[effort]
    whole = fixed.reactions(0.0, own, r=[2.0], named=True)
    parts = dyn.reactions(0.0, x, r=r, named=True)
    assert_allclose(parts["j"], whole["j"], rtol=0, atol=1e-8)
    assert_allclose(parts["k"], 0.0, atol=1e-8)
    turned = fixed.orientations(0.0, own, named=True)["c"]
    held = np.asarray(dyn.multipliers(0.0, x, r=r)).reshape(2, 3) @ turned.T
    force, torque = whole["k"][:3], whole["k"][3:]  # at the mass centre
    arm = turned @ [0.1, 0.2, -0.1]
    assert_allclose(np.ravel(held), [*force, *(torque + np.cross(arm, force))], rtol=0, atol=1e-8)


def test_reactions_of_feet() -> None:
    """Those of the robot without loops, pushed by the multipliers."""
    path, feet = ROBOTS / "walker.urdf", ["left foot", "right foot"]
    free = compiled(kc.Model.from_urdf(path, floating_base=True, forces=feet))
    x = free.state({"q_base_e0": 1.0, "q_left hip": 0.3, "q_right hip": -0.2})
    loops = [(link, free.position(link, 0.0, x), "point") for link in feet]
    dyn = compiled(kc.Model.from_urdf(path, floating_base=True, loops=loops))
    efforts = np.random.default_rng(2).normal(size=dyn.n_r)
    forces = dyn.multipliers(0.0, x, r=efforts)
    held = dyn.reactions(0.0, x, r=efforts)
    assert_allclose(held, free.reactions(0.0, x, r=[*efforts, *forces]), rtol=0, atol=1e-8)
    assert np.max(np.abs(held)) > 10.0


def test_forces_and_torques_on_links() -> None:
    """A force at a point of a link is that on a link there without mass; each, and a torque, by its Jacobian matrix."""
    path = ROBOTS / "tools.urdf"
    place = (0.1, -0.2, 0.3)
    text = path.read_text().replace("</robot>", '<link name="tip"/>')
    text += joint("tip mount", "forearm", "tip", "fixed", '<origin xyz="0.1 -0.2 0.3"/>') + "</robot>"
    plain = compiled(kc.Model.from_urdf(text))
    forces: dict[str, Any] = {"push": ("forearm", place), "own": ("forearm", place, "link"), "end": "tip"}
    torques: dict[str, Any] = {"turn": "forearm", "screw": ("forearm", "link")}
    dyn = compiled(kc.Model.from_urdf(text, forces=forces, torques=torques))
    assert dyn.input_names[plain.n_r :] == (
        *(f"f_{name}_{k}" for name in forces for k in "xyz"),
        *(f"t_{name}_{k}" for name in torques for k in "xyz"),
    )
    listed = compiled(kc.Model.from_urdf(text, torques=["tip"]))
    assert listed.input_names[plain.n_r :] == ("t_tip_x", "t_tip_y", "t_tip_z")
    x = np.random.default_rng(5).uniform(-1, 1, dyn.n_x)
    axes = dyn.orientations(0.0, x, named=True)["forearm"]
    jacobian = np.asarray(dyn.jacobian("tip", 0.0, x, attached="forearm"))
    idle = np.asarray(dyn.forcing(0.0, x, r=np.zeros(dyn.n_r)))
    expected = {
        "f_push": jacobian[:3], "f_own": axes.T @ jacobian[:3], "f_end": jacobian[:3],
        "t_turn": jacobian[3:], "t_screw": axes.T @ jacobian[3:],
    }  # fmt: skip
    for name, rows in expected.items():
        for k, row in zip("xyz", rows, strict=True):
            r = np.eye(dyn.n_r)[dyn.input_names.index(f"{name}_{k}")]
            assert_allclose(np.asarray(dyn.forcing(0.0, x, r=r)) - idle, row, rtol=0, atol=1e-12)


def test_ball_joints() -> None:
    """A body on one moves as one that floats and is pinned at its origin; Drake's type is the same."""
    text = PAIR.replace("<mass", ORIGIN + "<mass") + joint("j", "a", "b", "spherical", SEAT) + END
    pinned = [("b", (0.5, -0.3, 0.2), "point")]
    free = compiled(kc.Model.from_urdf(text.replace("spherical", "floating"), loops=pinned))
    rng = np.random.default_rng(4)
    e, w, torque = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)
    e /= np.linalg.norm(e)
    for source in (text, text.replace("joint name", "drake:joint name").replace("</joint", "</drake:joint")):
        kind = "ball" if "drake" in source else "spherical"
        ball = compiled(kc.Model.from_urdf(source.replace('"spherical"', f'"{kind}"')))
        assert ball.speed_names == ("u_j_rx", "u_j_ry", "u_j_rz")
        udot = ball.udot(0.0, [*e, *w], r=torque)
        floating = free.udot(0.0, [0.0, 0.0, 0.0, *e, 0.0, 0.0, 0.0, *w], r=[0.0, 0.0, 0.0, *torque])
        assert_allclose(udot, floating[3:], rtol=1e-10)
    assert ball.simulate((0, 1), [*e, *w]).energy_drift < 1e-7


WHEELS = (
    """<robot name="cart"><link name="ground"/>
<link name="cart">INERTIAL</link>
<joint name="base" type="planar"><parent link="ground"/><child link="cart"/><axis xyz="0 0 1"/></joint>""".replace(
        "INERTIAL", INERTIAL
    )
    + "".join(
        f'<link name="{name} wheel">{INERTIAL}</link>'
        + joint(name, "cart", f"{name} wheel", "continuous", f'<origin xyz="0 {y} 0"/><axis xyz="0 1 0"/>')
        for name, y in (("left", 0.4), ("right", -0.4))
    )
)


def test_rolling_wheels() -> None:
    """A cart on two wheels of radius 0.25, 0.8 apart, whose wheels roll at steady rates, goes round in a circle."""
    x, y, turn, left, right = me.dynamicsymbols("u_base_x u_base_y u_base_r u_left u_right")
    rows = {"no slip": y, "left": x - 0.4 * turn - 0.25 * left, "right": x + 0.4 * turn - 0.25 * right}
    dyn = compiled(kc.Model.from_urdf(WHEELS + END, velocity_constraints=rows))
    assert dyn.constraint_names == tuple(rows)
    start = dyn.consistent(0.0, {"u_left": 2.0, "u_right": 4.0}, ["u_left", "u_right"])
    sol = dyn.simulate((0.0, 2 * np.pi / 0.625), start)
    assert_allclose(sol["u_base_r"], 0.625, atol=1e-8)
    assert_allclose(sol["u_base_x"], 0.75, atol=1e-8)
    assert np.ptp(sol["q_base_y"]) == pytest.approx(2 * 0.75 / 0.625, rel=1e-2)
    assert_allclose([sol["q_base_x"][-1], sol["q_base_y"][-1]], 0.0, atol=1e-6)
    geared = [me.dynamicsymbols("q_left").diff() - 2 * right]
    assert_allclose(compiled(kc.Model.from_urdf(WHEELS + END, velocity_constraints=geared)).constraint_jacobian(
        0.0, np.zeros(10)), [[0, 0, 0, 1, -2]])  # fmt: skip
    with pytest.raises(kc.ModelError, match=r"velocity_constraints\['slip'\]: no coordinate, .* is called 'v'"):
        kc.Model.from_urdf(WHEELS + END, velocity_constraints={"slip": me.dynamicsymbols("v")})
    with pytest.raises(kc.ModelError, match="velocity_constraints is 'u'; it must be a list of SymPy expressions"):
        kc.Model.from_urdf(WHEELS + END, velocity_constraints="u")


def test_runs_in_simulation() -> None:
    dyn = compiled(kc.Model.from_urdf(ROBOTS / "walker.urdf", floating_base=True))
    sol = dyn.simulate((0, 0.5), {"q_base_e0": 1.0, "u_base_rz": 1.0, "u_left hip": 2.0})
    assert sol.energy_drift < 1e-9
    assert_allclose(np.linalg.norm(sol.x[:, 3:7], axis=1), 1.0, atol=1e-14)
    assert sol["q_base_z"][-1] == pytest.approx(-0.5 * 9.81 * 0.25, rel=0.3)


# ------------------------------------------------------------------------------------------------------ broken files
BROKEN = [
    ("<robot><link", "line 1: this is no XML"),
    ("<sdf/>", "line 1: the file begins with <sdf>"),
    ('<robot xmlns:xacro="x"><xacro:macro name="m"/></robot>', "run xacro"),
    ('<robot name="r"/>', "there is no link"),
    ("<robot>\n<link/></robot>", "line 2: <link> has no name"),
    (PAIR + '<link name="a"/></robot>', "line 4: a link named 'a' stands in line 2"),
    (PAIR.replace("</link>", "<xacro:leg/></link>") + END, "line 3: <xacro:leg> is xacro: run xacro on the file"),
    (PAIR.replace('value="1"', 'value="${m}"') + END, r"line 3: value of <mass> is '\$\{m\}'; .* run xacro"),
    (PAIR + END, r"2 links are no child of a joint: 'a' \(line 2\), 'b' \(line 3\)"),
    (PAIR + joint("j", "a", "b") + joint("k", "b", "a") + END, "part of a ring of joints"),
    (PAIR + joint("j", "a", "b") + joint("k", "a", "b") + END, "line 5: link 'b' is the child of"),
    (PAIR + joint("j", "a", "B") + END, "line 4: no link is called 'B'; did you mean 'b'"),
    (PAIR + '<joint name="j" type="fixed"><parent link="a"/></joint></robot>', "line 4: joint 'j' has no child"),
    (PAIR + joint("j", "a", "b", "hinge") + END, "of type 'hinge'; it must be one of"),
    (PAIR + joint("j", "a", "b", more='<mimic joint="J"/>') + END, "line 4: no joint is called 'J'; did you mean 'j'"),
    (PAIR + joint("j", "a", "b", more='<mimic joint="j"/>') + END, "line 4: joint 'j' mimics itself"),
    (PAIR + joint("j", "a", "b", more='<axis xyz="0 0 0"/>') + END, "line 4: the axis of joint 'j' has length zero"),
    (PAIR.replace('value="1"', 'value="nan"') + END, "line 3: value of <mass> is 'nan'"),
    (
        PAIR + joint("j", "a", "b", more='<axis xyz="0 1"/>') + END,
        "xyz of <axis> is '0 1'; it must be 3 finite numbers",
    ),
    (PAIR.replace('value="1"', 'value="-1"') + END, "line 3: the mass is -1"),
    (PAIR.replace(' iyz="0"', "") + END, "line 3: <inertia> has no iyz"),
    (
        PAIR.replace("<inertia ", "<x ") + END,
        "line 3: <inertial> of link 'b' has no <inertia>: write .*zeros",
    ),
    (
        PAIR.replace("<mass ", "<x ") + END,
        "line 3: <inertial> of link 'b' has no <mass>: write .*; or take <",
    ),
    (
        PAIR + joint("j", "a", "b", "fixed") + END,
        "line 2: no joint moves a link: floating_base=True lets the root 'a'",
    ),
    (
        PAIR + '<link name="c"/>' + joint("j", "a", "b", "fixed") + joint("k", "b", "c") + END,
        "line 4: joint 'k' moves link 'c', and nothing that moves has mass or inertia: give the link an inertia",
    ),
    (
        PAIR + joint("j1", "a", "b", "floating") + '<link name="c"/>' + joint("j1_x", "b", "c") + END,
        r"line 5: the numbers of joint 'j1_x' would be called as one of joint 'j1' \(floating\) is, q_j1_x or u_j1_x",
    ),
    (
        PAIR + joint("p_r", "a", "b") + '<link name="c"/>' + joint("p", "b", "c", "planar") + END,
        r"line 4: the numbers of joint 'p_r' would be called as one of joint 'p' \(planar\) is",
    ),
    (
        '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n<robot name="&b;"/>',
        "line 1: it declares a document type",
    ),
    (
        '<?xml version="1.0"?>\n<!DOCTYPE r SYSTEM "file:///etc/passwd">\n<robot name="r"/>',
        "line 2: it declares a document type",
    ),
    ("", "source is ''; it must be the path of a URDF file, or a text"),
    (" \n", r"source is ' \\n'; it must be the path"),
    ("a\0b", r"'a\\x00b' names no file"),
    ("\ud800", r"'\\ud800' names no file"),
    ("# exported\n<robot/>", r"'# exported\\n<robot/>' names no file \(No such file or directory\): .*begins with <"),
    ("robot: " + 30 * "0123456789", r"'robot: 0.*\.\.\.' names no file \(File name too long\): give a path, or a text"),
    ('<robot name="r">\n<link name="\ud800"/>' + END, r"the URDF text, line 2: '\\ud800' is half of a character"),
    ('<robot name="r">\n<link name="&#xD800;"/>' + END, "line 2: this is no XML"),
    ('<?xml version="1.0" encoding="nosuch"?>\n<robot/>', "line 1: the file declares the encoding 'nosuch'"),
    (PAIR + joint("j", "a", "b", more='<axis xyz="0 0 1e200"/>') + END, "line 4: xyz of <axis> is .* beyond 1e"),
    (PAIR + joint("j", "a", "b", more='<axis xyz="1e-320 0 0"/>') + END, "line 4: xyz of <axis> .* write 0"),
    (PAIR + joint("j", "a", "b", more='<axis xyz="1e-400 0 0"/>') + END, "line 4: xyz of <axis> .* write 0"),
    (PAIR + joint("j", "a", "b", more='<origin xyz="1e308 0 0"/>') + END, "line 4: xyz of <origin> is .* beyond 1e"),
    (PAIR + joint("j", "a", "b", more='<mimic joint="j" multiplier="1e308"/>') + END, "line 4: multiplier of <mimic>"),
    (PAIR + joint("j", "a", "b", more='<dynamics damping="-1"/>') + END, "line 4: the damping of joint 'j' is -1; it"),
    (
        PAIR + joint("j", "a", "b", more='<dynamics friction="-1"/>') + END,
        "line 4: the friction of joint 'j' is -1; it",
    ),
    (PAIR.replace('value="1"', 'value="1e308"') + END, "line 3: value of <mass> is '1e308'; no number may be beyond"),
    (PAIR.replace('value="1"', 'value="1e-320"') + END, "line 3: value of <mass> is '1e-320'; write 0"),
    (PAIR.replace('ixx="1"', 'ixx="1e308"') + END, "line 3: ixx of <inertia> is '1e308'; no number may be beyond"),
    (
        PAIR.replace('value="1"', 'value="1_000"') + END,
        "line 3: value of <mass> is '1_000'; it must be one finite number",
    ),
    (
        PAIR.replace('value="1"', 'value="\u0661"') + END,
        "line 3: value of <mass> is '\u0661'; it must be one finite number",
    ),
    ("<robot>" + "<a>" * 200 + "</a>" * 200 + END, "<a> stands in 100 others"),
]


@pytest.mark.parametrize(("text", "says"), BROKEN)
def test_broken_files(text: str, says: str) -> None:
    with pytest.raises(kc.ModelError, match=says):
        kc.Model.from_urdf(text)


@pytest.mark.parametrize(
    ("encoding", "says"),
    [
        ("nosuch", "declares the encoding 'nosuch', which is not known"),
        ("hex", "declares an encoding that cannot be read"),
        ("utf-7", "declares an encoding that cannot be read"),
        ("utf-16", "this is no XML"),
    ],
)
def test_encodings_that_are_not_read(encoding: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "it.urdf"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<robot/>')
    with pytest.raises(kc.ModelError, match=rf"it\.urdf, line 1: .*{says}"):
        kc.Model.from_urdf(path)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    """As of a file in latin-1 that does not say so."""
    path = tmp_path / "it.urdf"
    path.write_text(PAIR + joint("jé", "a", "b") + END, encoding="latin-1")
    with pytest.raises(kc.ModelError, match=r"line 4: byte 0xe9 is no character of UTF-8: .*encoding=.latin-1"):
        kc.Model.from_urdf(path)


def test_encodings_that_are_read(tmp_path: Path) -> None:
    """Of a file as it declares; a text has been decoded, whatever it says."""
    text = '<?xml version="1.0" encoding="latin-1"?>\n' + PAIR + joint("jé", "a", "b") + END
    (tmp_path / "it.urdf").write_text(text, encoding="latin-1")
    for source in (text, tmp_path / "it.urdf"):
        assert compiled(kc.Model.from_urdf(source)).coordinate_names == ("q_jé",)


@pytest.mark.parametrize("source", [None, 3, b"<robot/>", ["it.urdf"]])
def test_sources_that_are_none(source: Any) -> None:
    with pytest.raises(kc.ModelError, match=r"source is .*; it must be the path of a URDF file"):
        kc.Model.from_urdf(source)


def test_a_small_axis() -> None:
    """Its direction counts, also where its squares are no numbers."""
    models = [
        compiled(kc.Model.from_urdf(PAIR + joint("j", "a", "b", more=f'<axis xyz="{axis}"/>') + END))
        for axis in ("3 4 0", "3e-200 4e-200 0")
    ]
    x = np.array([0.3, 0.2])
    assert_allclose(*(model.orientations(0.0, x) for model in models), rtol=0, atol=1e-15)


def test_files_and_texts(tmp_path: Path) -> None:
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(kc.ModelError, match=r"large\.urdf has more than 64000000 bytes, which are not read"):
        kc.Model.from_urdf(path)
    with pytest.raises(FileNotFoundError):
        kc.Model.from_urdf(tmp_path / "missing.urdf")
    path = ROBOTS / "walker.urdf"
    for source in (path.read_text(), "\ufeff \n" + path.read_text(), str(path)):
        assert kc.Model.from_urdf(source).speeds == kc.Model.from_urdf(path).speeds


def test_inertias_that_no_body_has_are_warned_of() -> None:
    text = PAIR.replace('ixx="1"', 'ixx="5"') + joint("j", "a", "b") + "</robot>"
    with pytest.warns(kc.KanecoreWarning, match="no solid body can have .* of body b"):
        kc.Model.from_urdf(text)


@pytest.mark.parametrize("parameters", [False, True])
def test_what_rounding_leaves_of_an_inertia_is_not_warned_of(parameters: bool) -> None:
    """A product of inertia, and what a point of mass has about its centre, are zeros."""
    for mass, tiny, origin in (
        (1, "4.8e-35", "0 0 0"),
        (2.84, "0", "-0.11 0.44 -0.54"),
        (2.66, "0", "0.34 -0.39 0.18"),
    ):
        text = PAIR.replace('ixx="1" iyy="1" izz="1" ixy="0"', f'ixx="0" iyy="0" izz="0" ixy="{tiny}"')
        text = text.replace('<mass value="1"', f'<origin xyz="{origin}"/><mass value="{mass}"')
        text += joint("j", "a", "b", more='<axis xyz="0 1 1"/>') + END
        kc.compile(kc.Model.from_urdf(text, parameters=parameters), cc="none")


def test_a_link_that_moves_without_mass() -> None:
    """All but the accelerations is there; the warning names the link, the error its speed and what hangs on it."""
    text = PAIR + '<link name="tip"/><link name="nail"/>' + joint("j", "a", "b") + joint("spin", "b", "tip")
    text += joint("glue", "tip", "nail", "fixed") + "</robot>"
    with pytest.warns(kc.KanecoreWarning, match="'tip' moves by joint 'spin', and nothing there has mass"):
        model = kc.Model.from_urdf(text)
    dyn = compiled(model)
    assert np.asarray(dyn.mass_matrix(0.0, np.zeros(4))).shape == (2, 2)
    nothing = "speed 'u_spin' vanished: nothing that moves with it, 'tip', 'nail', has mass or inertia"
    with pytest.raises(kc.SingularError, match=nothing):
        dyn.udot(0.0, np.zeros(4))
    with pytest.raises(kc.SingularError, match=nothing):
        dyn.simulate((0.0, 1.0), np.zeros(4))
    heavy = compiled(kc.Model.from_urdf(PAIR + joint("j", "a", "b") + "</robot>"))
    assert "massless" not in heavy.info


def _arm(root: str, *joints: str) -> str:
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "bc"[: len(joints)])
    return f'<robot name="r">\n<link name="a">{root}</link>\n{links}{"".join(joints)}{END}'


def test_a_floating_root_without_inertia() -> None:
    """One hinge lets it spin alone, two do not; neither a rotor nor a mimic with mass leaves a joint undetermined."""
    hinges = joint("j", "a", "b"), joint("k", "a", "c", more='<axis xyz="0 1 0"/>')
    with pytest.warns(kc.KanecoreWarning, match=r"line 2: link 'a' moves by joint 'base', .* in some directions alone"):
        dyn = compiled(kc.Model.from_urdf(_arm("", hinges[0]), floating_base=True))
    x = dyn.state({"q_base_e0": 1.0})
    assert np.linalg.matrix_rank(dyn.mass_matrix(0.0, x)) == 6
    dyn = compiled(kc.Model.from_urdf(_arm("", *hinges), floating_base=True))
    assert np.linalg.matrix_rank(dyn.mass_matrix(0.0, dyn.state({"q_base_e0": 1.0, "q_j": 0.3}))) == 8
    with pytest.raises(kc.ModelError, match="line 2: joint 'base' moves link 'a', and nothing that moves has mass"):
        kc.Model.from_urdf(_arm(""), floating_base=True)
    with pytest.raises(kc.ModelError, match=r"joint 'base_x' .* of the floating base, joint 'base', is"):
        kc.Model.from_urdf(_arm(INERTIAL, joint("base_x", "a", "b")), floating_base=True)
    empty = _arm("", *hinges).replace(f'<link name="b">{INERTIAL}', '<link name="b">')
    for text, armature in ((empty, {"j": 1.0}), (empty.replace('"0 1 0"/>', '"0 1 0"/><mimic joint="j"/>'), {})):
        dyn = compiled(kc.Model.from_urdf(text, armature=armature))
        assert np.linalg.cond(dyn.mass_matrix(0.0, np.zeros(dyn.n_x))) < 10.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"gravity": (0, -9.81)}, "three finite numbers"),
        ({"gravity": "abc"}, "gravity is 'abc'; it must be three finite numbers"),
        ({"gravity": None}, "gravity is None; it must be three finite numbers"),
        ({"gravity": 9.81}, "gravity is 9.81; it must be three finite numbers"),
        ({"gravity": ("0", "0", "-9")}, "gravity is .*; it must be three finite numbers"),
        ({"gravity": (0, 0, 10**400)}, "gravity is .*; it must be three finite numbers"),
        ({"gravity": (0, 0, 1e308)}, "gravity is .*; it must be three finite numbers"),
        ({"free_velocity": "body"}, "free_velocity is 'body'; it must be 'link' or 'world'"),
        ({"friction": -1.0}, "friction is -1.0"),
        ({"friction": 1e-320}, "friction is 1e-320"),
        ({"friction": "0.1"}, "friction is '0.1'"),
        ({"loops": None}, "loops is None; it must be a list"),
        ({"loops": 3}, "loops is 3; it must be a list"),
        ({"loops": "abc"}, "loops is 'abc'; it must be a list"),
        ({"loops": [("trunk", "left foot", np.zeros(3))]}, r"loops\[0\] is"),
        ({"loops": [("left foot", (0, 0, 1e308), "point")]}, r"loops\[0\] is .*three finite numbers"),
        ({"loops": [("trunk", "left foot")]}, r"loops\[0\] is"),
        ({"loops": [("trunk", "left foot", "ball")]}, r"loops\[0\] is"),
        ({"loops": [("trunk", "leftfoot", "point")]}, "did you mean 'left foot'"),
        ({"loops": [("leftfoot", (0, 0, 0), "point")]}, "did you mean 'left foot'"),
        ({"loops": [("left foot", (0, 0), "point")]}, r"loops\[0\] is .*three finite numbers"),
        ({"loops": [("left foot", (0, 0, np.nan), "point")]}, r"loops\[0\] is .*three finite numbers"),
        ({"loops": [("left foot", (0, 0, 0), "weld")]}, r"loops\[0\] is .*three finite numbers"),
        ({"loops": [("left foot", ("1", "2", "3"), "point")]}, r"loops\[0\] is .*three finite numbers"),
        ({"loops": [("left foot", None, "point")]}, r"loops\[0\] is .*three finite numbers"),
        ({"loops": [(3, "left foot", "point")]}, "no link is called '3'"),
        ({"loops": [("trunk", "trunk", "point")]}, "point of trunk and trunk: both links move with 'trunk'"),
        ({"forces": "left foot"}, "forces is 'left foot'; it must be a list of links"),
        ({"forces": ["leftfoot"]}, "did you mean 'left foot'"),
        ({"forces": {"push": ("left foot", (0, 0))}}, r"forces\['push'\] is .*; it must be \(link, \(x, y, z\)\)"),
        ({"forces": {"push": ("left foot", (0, 0, 0), "base")}}, r"forces\['push'\] is .*; it must be \(link"),
        ({"forces": {"push": 3}}, r"forces\['push'\] is 3; it must be"),
        ({"torques": {"turn": ("left foot", "base")}}, r"torques\['turn'\] is .*; it must be a link, or"),
        ({"torques": 3}, "torques is 3; it must be a list of links"),
    ],
)
def test_options(options: dict[str, Any], says: str) -> None:
    with pytest.raises(kc.ModelError, match=says):
        kc.Model.from_urdf(ROBOTS / "walker.urdf", **options)


@pytest.mark.parametrize("parameters", [False, True])
def test_the_report_states_gravity_and_what_is_ignored(parameters: bool) -> None:
    text = PAIR.replace('"a"/>', '"a"><collision/></link>') + joint("j", "a", "b") + END
    report = kc.Model.from_urdf(text, parameters=parameters, gravity=[0, 1.62, -9.81]).report().splitlines()
    assert "uniform gravity (0, 1.62, -9.81) in world on every body" in report
    assert any(line.startswith("1 collision element of the file is ignored") for line in report)
    more = text.replace("<collision/>", "<collision/>" * 3)
    report = kc.Model.from_urdf(more, parameters=parameters, gravity=(0, 0, 0)).report().splitlines()
    assert "no gravity" in report
    assert any(line.startswith("3 collision elements of the file are ignored") for line in report)
    report = kc.Model.from_urdf(PAIR + joint("j", "a", "b") + END, parameters=parameters).report().splitlines()
    assert "uniform gravity (0, 0, -9.81) in world on every body" in report
    assert not any("collision" in line or "no gravity" in line for line in report)


@pytest.mark.parametrize("parameters", [False, True])
def test_reactions_have_the_names_of_joints(parameters: bool) -> None:
    """That of a body is the joint which moves its link, also below a link without mass."""
    text = PAIR + '<link name="gimbal"/><link name="c">' + INERTIAL + "</link>" + joint("shoulder", "a", "b")
    text += joint("roll", "b", "gimbal") + joint("pitch", "gimbal", "c", more='<axis xyz="0 1 0"/>') + END
    dyn = compiled(kc.Model.from_urdf(text, parameters=parameters))
    assert dyn.joints == ("shoulder", "pitch")
    assert list(dyn.reactions(0.0, np.zeros(dyn.n_x), named=True)) == ["shoulder", "pitch"]
    walker = compiled(kc.Model.from_urdf(ROBOTS / "walker.urdf", floating_base=True))
    assert walker.joints == ("base", "left hip", "left knee", "right hip", "right knee")


def test_symbols() -> None:
    """Functions of time with the names in the compiled model; a model that is made of it has those of its own."""
    text = PAIR + joint("j", "a", "b") + "</robot>"
    model = kc.Model.from_urdf(text)
    other = model.canonical()
    names = [x.func.__name__ for x in (*model.coordinates, *model.speeds, *model.inputs)]
    assert names == ["q_j", "u_j", "tau_j"]
    assert other.coordinates == model.coordinates
    assert other.inputs == model.inputs
    assert [x.func.__name__ for x in other.speeds] == ["p_q_j"]
    assert [str(x) for x in kc.Model.from_urdf(text, parameters=True).parameters][:2] == ["m_b", "cx_b"]


def test_visuals_are_shapes() -> None:
    """Boxes, cylinders and spheres, about the mass centres of what moves with them; meshes and empty ones are none."""
    for parameters in (False, True):
        d = kc.Model.from_urdf(ROBOTS / "tools.urdf", parameters=parameters).description
        shapes = {(d.bodies[body].name, shape.kind): shape for body, shape in d.shapes}
        assert set(shapes) == {("column", "Cylinder"), ("slide", "Box"), ("wrist", "Sphere")}
        assert shapes["column", "Cylinder"].sizes == (0.05, 0.6)
        assert_allclose(shapes["column", "Cylinder"].place, [*np.eye(3).ravel(), -0.01, -0.02, 0.0], atol=1e-15)
    turned = kc.shapes.Cylinder(1.0, 4.0).moved([[0, 0, 1], [1, 0, 0], [0, 1, 0]], [5.0, 6.0, 7.0])
    ends = np.concatenate(turned.lines())
    assert_allclose([ends.min(axis=0), ends.max(axis=0)], [[3, 5, 6], [7, 7, 8]], atol=1e-12)
    nothing = ('<sphere radius="0"/>', '<mesh scale="2 2 2"/>')
    empty = "".join(f"<visual><geometry>{shape}</geometry></visual>" for shape in nothing)
    text = PAIR.replace("</link>", f"{empty}</link>") + joint("j", "a", "b") + "</robot>"
    assert not kc.Model.from_urdf(text).description.shapes


@pytest.mark.parametrize(("size", "n_lines"), [(0.4, 6), (50.0, 0)])
def test_the_ground_is_drawn_but_for_floors(size: float, n_lines: int) -> None:
    """A box of the root, at its own place; one much larger than what moves would leave no room for that."""
    box = f'<visual><origin xyz="1 2 3"/><geometry><box size="{size} {size} {size}"/></geometry></visual>'
    text = (
        PAIR.replace('<link name="a"/>', f'<link name="a">{box}</link>')
        + joint("j", "a", "b", more='<origin xyz="0 0 1"/>')
        + "</robot>"
    )
    model = kc.Model.from_urdf(text)
    film = compiled(model).simulate((0.0, 0.1), [0.3, 0.0]).animate()._movie()
    assert [body for body, *_ in film["shapes"]] == [-1] * n_lines
    pytest.importorskip("matplotlib")
    for each in (model, compiled(model)):
        figure = each.draw([0.3, 0.0], labels=False, loads=False, view=(20, 30))
        lines = [np.array(x.get_data_3d()) for x in figure.axes[0].get_lines() if x.get_color() == "#8aa4cf"]
        assert len(lines) == n_lines
        for line in lines:
            assert_allclose(np.abs(line - [[1.0], [2.0], [3.0]]), 0.2, atol=1e-12)


@pytest.mark.parametrize("parameters", [False, True])
def test_reactions_where_rows_of_a_loop_vanish(parameters: bool) -> None:
    """Of a plane loop on a floating base, whose row across the plane says nothing, beside rows on speeds."""
    text = four_bar(1.2, 1.1).replace('<link name="ground"/>', f'<link name="ground">{INERTIAL}</link>')
    steady = {"steady": me.dynamicsymbols("u_base_y")}
    options: dict[str, Any] = {"floating_base": True, "parameters": parameters, "velocity_constraints": steady}
    model = kc.Model.from_urdf(text, loops=[("pin", "end", "point")], gravity=(0, 0, 0), **options)
    dyn = compiled(model)
    x = dyn.consistent(0.0, {"q_base_e0": 1.0, "q_a": -1.2, "q_b": 1.0, "q_c": -1.0, "u_a": 1.0}, None)
    forces = dict(zip(dyn.constraint_names, dyn.multipliers(0.0, x), strict=True))
    assert dyn.kernels.why_not("reactions") is not None  # of "steady", which nobody attached
    assert "steady" in dyn.kernels.why_not("reactions")
    del options["velocity_constraints"]
    dyn = compiled(kc.Model.from_urdf(text, loops=[("pin", "end", "point")], gravity=(0, 0, 0), **options))
    forces = dict(zip(dyn.constraint_names, dyn.multipliers(0.0, x), strict=True))
    free = compiled(kc.Model.from_urdf(text, gravity=(0, 0, 0), forces=["pin", "end"], **options))
    axes = dyn.orientations(0.0, x, named=True)["pin"]
    force = axes @ [forces.get(f"point of pin and end, {k}", 0.0) for k in "xyz"]
    held = dyn.reactions(0.0, x)
    pushed = free.reactions(0.0, x, r=[0.0, 0.0, 0.0, *-force, *force])
    assert np.max(np.abs(held)) > 0.1
    assert_allclose(held, pushed, rtol=0, atol=1e-9)


# ------------------------------------------------------------------------------------- orientations and planar axes
def test_quaternions_of_origins() -> None:
    """URDF 1.2: <origin quat_xyzw="x y z w">, of any norm, is the rotation that roll, pitch and yaw say."""
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0 0 1"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 2 3" {turned}/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    half = 0.35
    by_quaternion, by_angle = (
        kc.compile(kc.Model.from_urdf(text.format(turned=turned)), cc="none")
        for turned in (f'quat_xyzw="{2 * np.sin(half)} 0 0 {2 * np.cos(half)}"', f'rpy="{2 * half} 0 0"')
    )
    x = [0.4, 0.3]
    assert_allclose(by_quaternion.positions(0.0, x), by_angle.positions(0.0, x), atol=1e-15)
    with pytest.raises(kc.ModelError, match="rpy and quat_xyzw: give one of the two"):
        kc.Model.from_urdf(text.format(turned='rpy="0 0 1" quat_xyzw="0 0 0 1"'))
    with pytest.raises(kc.ModelError, match="quat_xyzw of <origin> is 0 0 0 0"):
        kc.Model.from_urdf(text.format(turned='quat_xyzw="0 0 0 0"'))


@pytest.mark.parametrize(
    ("axis", "x", "y"),
    [
        ("0 0 1", [1, 0, 0], [0, 1, 0]),
        ("0 0 -1", [1, 0, 0], [0, -1, 0]),
        ("0 1 0", [1, 0, 0], [0, 0, -1]),
        ("1 0 0", [0, 0, -1], [0, 1, 0]),
        ("0.001 0 -1", [-1, 0, -0.001], [0, 1, 0]),
        ("3 -5 -7", [0.531907, 0.780154, -0.329293], [0.780154, -0.300257, 0.548821]),
    ],
)
def test_directions_of_planar_joints(axis: str, x: list[float], y: list[float]) -> None:
    """Those of MuJoCo 4.0 and Drake 1.51, whose numbers these are: x and y by the shortest turn of z to the axis."""
    dyn = compiled(kc.Model.from_urdf(PAIR + joint("j", "a", "b", "planar", f'<axis xyz="{axis}"/>') + END))
    for k, direction in zip("xyr", (x, y, [0, 0, 0]), strict=True):
        assert_allclose(dyn.position("b", 0.0, dyn.state({f"q_j_{k}": 1.0})), direction, atol=1e-6)
    rates = np.asarray(dyn.qdot(0.0, dyn.state({"q_j_r": np.pi / 2, "u_j_x": 1.0, "u_j_r": 2.0})))
    assert_allclose(rates, [0.0, 1.0, 2.0], atol=1e-15)
    turned = np.asarray(dyn.angular_velocities(0.0, dyn.state({"u_j_r": 1.0}), named=True)["b"])
    assert_allclose(turned, np.cross(x, y), atol=1e-6)


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "0 1 0"])
def test_planar_axes_that_pinocchio_ignores(axis: str) -> None:
    text = f"""<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="slide" type="planar"><parent link="a"/><child link="b"/><axis xyz="{axis}"/></joint></robot>"""
    dyn = kc.compile(kc.Model.from_urdf(text), cc="none")
    model = SimpleNamespace(
        names=["universe", "slide"],
        joints=[None, SimpleNamespace(idx_q=0, nq=4, idx_v=0, nv=3)],
        jointPlacements=[None, SimpleNamespace(rotation=np.eye(3))],
        parents=[0, 0],
        njoints=2,
        nq=4,
        nv=3,
    )
    if axis == "0 0 1":
        q, v = kc.robots.to_pinocchio(dyn, [1.0, 2.0, 0.5, 0.1, 0.2, 0.3], model)
        assert_allclose(q, [1.0, 2.0, np.cos(0.5), np.sin(0.5)])
        assert_allclose(kc.robots.from_pinocchio(dyn, q, v, model), [1.0, 2.0, 0.5, 0.1, 0.2, 0.3])
        return
    with pytest.raises(
        kc.ModelError, match=r"planar joint 'slide' turns about .* in Pinocchio, which ignores the axis"
    ):
        kc.robots.to_pinocchio(dyn, np.zeros(6), model)
    with pytest.raises(kc.ModelError, match="another mechanism"):
        kc.robots.from_pinocchio(dyn, [0.0, 0.0, 1.0, 0.0], np.zeros(3), model)


@pytest.mark.parametrize("mimic", [False, True])
def test_armature(mimic: bool) -> None:
    """M gets the rotors' inertias on its diagonal; of a joint that follows another times the square of its ratio."""
    follows = '<mimic joint="a" multiplier="-3"/>' if mimic else ""
    link = """<link name="{0}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    text = f"""<robot name="r"><link name="g"/>{link.format("l")}{link.format("m")}{link.format("n")}
    <joint name="a" type="continuous"><parent link="g"/><child link="l"/><axis xyz="0 1 0"/></joint>
    <joint name="b" type="continuous"><parent link="l"/><child link="m"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
    {follows}</joint><joint name="c" type="prismatic"><parent link="m"/><child link="n"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    plain, heavy = (
        kc.compile(kc.Model.from_urdf(text, armature=armature), cc="none") for armature in ({}, {"b": 0.5, "c": 2.0})
    )
    rng = np.random.default_rng(0)
    x, udot = rng.normal(size=plain.n_x), rng.normal(size=plain.n_u)
    added = np.diag([4.5, 2.0] if mimic else [0.0, 0.5, 2.0])
    assert_allclose(heavy.mass_matrix(0.0, x) - plain.mass_matrix(0.0, x), added, atol=1e-14)
    assert_allclose(heavy.forcing(0.0, x), plain.forcing(0.0, x), atol=1e-13)
    effort = plain.inverse_dynamics(0.0, x, udot)
    assert_allclose(heavy.inverse_dynamics(0.0, x, udot), effort + added @ udot, atol=1e-13)
    given = kc.Model.from_urdf(text, armature={"b": 0.5, "c": 2.0}, parameters=True)
    assert {name: given.values[name] for name in ("armature_b", "armature_c")} == {"armature_b": 0.5, "armature_c": 2.0}
    named = kc.compile(given, parameters={"armature_b": 0.25, "armature_c": 1.0}, cc="none")
    assert_allclose(named.mass_matrix(0.0, x) - plain.mass_matrix(0.0, x), 0.5 * added, atol=1e-14)
    with pytest.raises(kc.ModelError, match="joint with one coordinate is called 'd'"):
        kc.Model.from_urdf(text, armature={"d": 1.0})
    with pytest.raises(kc.ModelError, match=r"armature\['b'\] is -1"):
        kc.Model.from_urdf(text, armature={"b": -1})


@pytest.mark.parametrize("mimics", [{}, {"b": -1}, {"b": -1, "c": 1}])
def test_armature_in_a_loop(mimics: dict[str, int]) -> None:
    """A parallelogram by hand: (2 (I + m/4) + m + ΣJ) q̈ = τ_a − τ_b + τ_c + 2 m g cos q, for bars of 1 m and 1 kg."""
    text = four_bar(1.2, 1.0)
    for name, factor in mimics.items():
        head = f'<joint name="{name}" type="continuous">'
        text = text.replace(head, f'{head}<mimic joint="a" multiplier="{factor}"/>')
    rotors = {"a": 0.3, "b": 0.5, "c": 0.7}
    dyn = compiled(kc.Model.from_urdf(text, loops=[("pin", "end", "point")], armature=rotors))
    factors = np.array([{"q_a": 1, "q_b": -1, "q_c": 1}[name] for name in dyn.coordinate_names])
    x = np.concatenate([0.7 * factors, 2.0 * factors])
    udot = dyn.udot(0.0, x, r={"tau_a": 2.0, "tau_b": 0.4, "tau_c": 0.9})
    expected = (2.0 - 0.4 + 0.9 + 2 * 9.81 * np.cos(0.7)) / (2 * (0.08 + 0.25) + 1.0 + sum(rotors.values()))
    assert_allclose(udot, expected * factors, rtol=1e-10)


TRANSMISSION = """<transmission name="t"><type>SimpleTransmission</type><joint name="j">{joint}</joint>
<actuator name="m">{actuator}</actuator></transmission>"""


@pytest.mark.parametrize(
    ("joint_part", "actuator"),
    [
        ("", "<mechanicalReduction>50</mechanicalReduction>\n<motorInertia>2e-4</motorInertia>"),
        ("<mechanical_reduction> -50.0 </mechanical_reduction>", "<motor_inertia>2e-4</motor_inertia>"),
        ("", '<drake:rotor_inertia value="2e-4"/><drake:gear_ratio value="50"/>'),
        ("", "<rotorInertia>0.5</rotorInertia>"),
    ],
)
def test_rotors_of_transmissions(joint_part: str, actuator: str) -> None:
    """M gets the inertia of the rotor times the square of its gear ratio; an armature of the user's replaces it."""
    text = PAIR + joint("j", "a", "b") + TRANSMISSION.format(joint=joint_part, actuator=actuator) + END
    for options, inertia in (({}, 0.5), ({"armature": {"j": 0.25}}, 0.25), ({"armature": {"j": 0}}, 0.0)):
        dyn = compiled(kc.Model.from_urdf(text, **options))  # type: ignore[arg-type]
        assert_allclose(dyn.mass_matrix(0.0, [0.1, 0.2]), [[1.0 + inertia]], rtol=1e-14)


@pytest.mark.parametrize("change", [('="j"></joint>', '="j"></joint><joint name="k"/>'), ('name="j">', 'name="k">')])
def test_transmissions_whose_rotors_are_not_read(change: tuple[str, str]) -> None:
    """Of several joints, and of none that is known."""
    transmission = TRANSMISSION.format(joint="", actuator="<motorInertia>2e-4</motorInertia>").replace(*change)
    with pytest.warns(kc.KanecoreWarning, match="line 6: <motorInertia> of transmission 't' is not read"):
        model = kc.Model.from_urdf(PAIR + joint("j", "a", "b") + transmission + END)
    assert_allclose(compiled(model).mass_matrix(0.0, [0.1, 0.2]), [[1.0]])


def test_faults_of_rotors() -> None:
    for inertia, says in (
        ("-1", "line 6: the rotor of joint 'j' has the inertia -1"),
        ("much", "6: .* is 'much'; it m"),
    ):
        text = TRANSMISSION.format(joint="", actuator=f"<motorInertia>{inertia}</motorInertia>")
        with pytest.raises(kc.ModelError, match=says):
            kc.Model.from_urdf(PAIR + joint("j", "a", "b") + text + END)
