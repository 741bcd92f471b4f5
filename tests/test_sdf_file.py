# SPDX-License-Identifier: BSD-3-Clause
"""Model.from_sdf: trees beside Drake's results, loops beside the same robot in URDF, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_urdf_file import compiled, four_bar

import kanecore as kc

INERTIAL = """<inertial><pose>0.1 0.05 -0.02 0.3 0.2 0.1</pose><mass>1.5</mass><inertia><ixx>0.2</ixx><iyy>0.3</iyy>
<izz>0.25</izz><ixy>0.01</ixy><ixz>0.02</ixz><iyz>-0.01</iyz></inertia></inertial>"""
SEAT = "<pose>0.1 -0.2 0.3 0.4 0.5 0.6</pose>"
A, B = "<pose>0.1 0.2 0.3 0.1 0.2 0.3</pose>", "<pose>0.5 0.1 0.2 -0.3 0.2 0.5</pose>"


def link(name: str, pose: str = "", inertial: str = INERTIAL) -> str:
    return f'<link name="{name}">{pose}{inertial}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", parts: str = "", **axes: str) -> str:
    directions = "".join(
        f"<{tag}><xyz{axes.get('by', '')}>{axis}</xyz></{tag}>" for tag, axis in axes.items() if tag != "by"
    )
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}">{ends}{parts}{directions}</joint>\n'


def model(body: str, version: str = "1.9", pose: str = "") -> str:
    return f'<sdf version="{version}"><model name="m">{pose}\n{body}</model></sdf>'


FIRST = link("a", A) + joint("j", "world", "a", axis="0 0.6 0.8")
OBLIQUE = FIRST + link("b", B)
CASES = {
    "axes": model(OBLIQUE + joint("k", "a", "b", axis="1 2 3")),
    "poses": model(
        FIRST.replace("</child>", f"</child>{SEAT}")
        + link("b", B)
        + joint("k", "a", "b", "prismatic", '<pose relative_to="a">0.3 0.1 0 0.2 0 0.1</pose>', axis="1 2 3"),
        pose="<pose>1 2 3 0.1 0.2 0.3</pose>",
    ),
    "frames": model(
        FIRST
        + '<frame name="f" attached_to="a"><pose>0.2 0.1 0 0.5 0 0</pose></frame>'
        + link("b", B.replace("<pose", '<pose relative_to="f"'))
        + joint("k", "f", "b", axis="1 2 3", by=' expressed_in="__model__"')
        + link("c", '<pose relative_to="k">0 0 0.4 0 0 0</pose>')
        + joint("l", "b", "c", "continuous", axis="0 1 0", by=' expressed_in="f"')
    ),
    "universal": model(OBLIQUE + joint("k", "a", "b", "universal", SEAT, axis="0 0.6 0.8", axis2="0 -0.8 0.6")),
    "screw": model(OBLIQUE + joint("k", "a", "b", "screw", f"{SEAT}<thread_pitch>3</thread_pitch>", axis="1 2 3")),
    "old": model(OBLIQUE + joint("k", "a", "b", axis="1 2 3"), version="1.4"),
    "orientations": model(
        FIRST.replace("<pose>0.1 0.2 0.3 0.1 0.2 0.3", '<pose degrees="true">0.1 0.2 0.3 10 20 30')
        + link("b", '<pose rotation_format="quat_xyzw">1 2 3 0.1 0.2 0.3 0.9</pose>', "")
        + joint("k", "a", "b", axis="1 2 3")
    ),
}
RECORDED = Path(__file__).parent / "sdf_models" / "drake.json"


def states(name: str) -> list[dict[str, Any]]:
    return list(json.loads(RECORDED.read_text(encoding="utf-8"))[name])


@pytest.mark.parametrize("name", CASES)
def test_trees_of_drake(name: str) -> None:
    """Places and accelerations of the links, recorded from Drake 1.51."""
    dyn = compiled(kc.Model.from_sdf(CASES[name]))
    for state in states(name):
        x = state["x"]
        places, turns = (getattr(dyn, kernel)(0.0, x, named=True) for kernel in ("positions", "orientations"))
        udot = dyn.udot(0.0, x)
        kernels = (dyn.accelerations, dyn.angular_accelerations)
        accelerations, spins = (kernel(0.0, x, udot, named=True) for kernel in kernels)
        for link, (place, turn, acceleration, spin) in state["links"].items():
            assert_allclose(places[link], place, rtol=0, atol=1e-13)
            assert_allclose(turns[link], turn, rtol=0, atol=1e-13)
            size = 1.0 + np.max(np.abs(udot))
            assert_allclose(accelerations[link], acceleration, rtol=0, atol=1e-12 * size)
            assert_allclose(spins[link], spin, rtol=0, atol=1e-12 * size)


def test_links_that_nothing_holds_float() -> None:
    """At q = 0 where the file has them; they fall, and without gravity stay."""
    text = model(link("a", A) + link("b", B).replace("<inertial>", "<gravity>false</gravity><inertial>"))
    dyn = compiled(kc.Model.from_sdf(text.replace('name="m">', 'name="m"><pose>1 2 3 0 0 0</pose>')))
    assert dyn.n_r == 0
    x = dyn.state({"q_a_e0": 1.0, "q_b_e0": 1.0})
    places = dyn.positions(0.0, x, named=True)
    assert_allclose([places["a"], places["b"]], [[1.1, 2.2, 3.3], [1.5, 2.1, 3.2]], atol=1e-15)
    udot = dyn.udot(0.0, x)
    falls = dyn.accelerations(0.0, x, udot, named=True)
    assert_allclose([falls["a"], falls["b"]], [[0, 0, -9.81], [0, 0, 0]], atol=1e-12)
    assert_allclose(
        dyn.orientations(0.0, x, named=True)["a"][2],
        [-np.sin(0.2), *(np.cos(0.2) * np.array([np.sin(0.1), np.cos(0.1)]))],
    )


def test_gravity_on_some_links_of_a_body() -> None:
    """A link that is fixed on another one, with gravity off, is as one that is held by its weight."""
    body = FIRST + link("b", B) + joint("f", "a", "b", "fixed")
    off = compiled(kc.Model.from_sdf(model(body.replace('<link name="b">', '<link name="b"><gravity>0</gravity>'))))
    held = compiled(kc.Model.from_sdf(model(body), forces={"up": ("b", (0.1, 0.05, -0.02))}))
    x = [0.4, 0.7]
    assert_allclose(off.udot(0.0, x), held.udot(0.0, x, r=[0, 0, 0, 1.5 * 9.81]), rtol=1e-12)
    named = compiled(kc.Model.from_sdf(model(body.replace('="b">', '="b"><gravity>0</gravity>', 1)), parameters=True))
    assert_allclose(off.udot(0.0, x), named.udot(0.0, x), rtol=1e-12)


def test_balls_losses_springs_and_mimics() -> None:
    """The same in URDF, whose joints stand where their children do."""
    heavy = "<inertial><mass>2</mass></inertial>"
    urdf = '<robot name="r"><link name="world"/>'
    urdf += "".join(
        f"""<link name="{name}"><inertial><mass value="2"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        for name in "abc"
    )
    rows = [("j", "world", "a", "revolute"), ("k", "a", "b", "revolute"), ("l", "b", "c", "spherical")]
    mimic = '<mimic joint="j" multiplier="2" offset="{}"/>'
    losses = '<dynamics damping="0.3" friction="0.2" spring_stiffness="4" spring_reference="0.6"/>'
    parts = {"j": losses, "k": mimic.format(0.1 - 2 * 0.3), "l": ""}
    for name, parent, child, kind in rows:
        urdf += f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{parts[name]}'
        urdf += '<origin xyz="0.5 0 0"/><axis xyz="0 1 0"/></joint>'
    theirs = "<dynamics><damping>0.3</damping><friction>0.2</friction><spring_stiffness>4</spring_stiffness>"
    theirs += "<spring_reference>0.6</spring_reference></dynamics>"
    follows = '<mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic>'
    sdf = "".join(link(n, f"<pose>{x} 0 0 0 0 0</pose>", heavy) for n, x in (("a", 0.5), ("b", 1.0), ("c", 1.5)))
    sdf += joint("j", "world", "a", axis="0 1 0").replace("</axis>", f"{theirs}</axis>")
    sdf += joint("k", "a", "b", axis="0 1 0").replace("</axis>", f"{follows}</axis>")
    sdf += joint("l", "b", "c", "ball")
    one, other = (
        compiled(make(text, damping=True, friction=0.01))
        for make, text in ((kc.Model.from_urdf, urdf + "</robot>"), (kc.Model.from_sdf, model(sdf)))
    )
    assert one.coordinate_names == other.coordinate_names
    assert one.input_names == other.input_names
    x = np.array([0.3, 0.5, 0.5, 0.5, 0.5, 0.4, 0.1, 0.2, 0.3])
    r = np.arange(1.0, one.n_r + 1)
    assert_allclose(other.udot(0.0, x, r=r), one.udot(0.0, x, r=r), rtol=1e-12)


def test_rotors_of_drake() -> None:
    rotor = "<drake:rotor_inertia>2e-3</drake:rotor_inertia><drake:gear_ratio>20</drake:gear_ratio>"
    plain, geared = (
        compiled(kc.Model.from_sdf(model(FIRST.replace("</child>", f"</child>{parts}")))) for parts in ("", rotor)
    )
    change = geared.mass_matrix(0.0, [0.1, 0.2]) - plain.mass_matrix(0.0, [0.1, 0.2])
    assert_allclose(change, [[0.8]], rtol=1e-12)


def test_loops_are_closed() -> None:
    """A four-bar whose last joint, in the file, is that of the coupler on the rocker: Drake refuses it."""
    bar = """<inertial><pose>0.5 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.08</ixx><iyy>0.08</iyy><izz>0.08</izz>
    </inertia></inertial>"""
    places = {"crank": "0", "coupler": "1", "rocker": "1.2"}
    text = "".join(link(name, f"<pose>{x} 0 0 0 0 0</pose>", bar) for name, x in places.items())
    for name, parent, child in (("a", "world", "crank"), ("b", "crank", "coupler"), ("c", "world", "rocker")):
        text += joint(name, parent, child, axis="0 1 0")
    end = '<pose relative_to="rocker">1.1 0 0 0 0 0</pose>'
    text = text.replace("</model>", "") + joint("pin", "coupler", "rocker", "revolute", end, axis="0 1 0")
    dyn = compiled(kc.Model.from_sdf(model(text)))
    assert dyn.coordinate_names == ("q_a", "q_b", "q_c")
    assert dyn.constraint_names[0] == "pin, x"
    # in the file's configuration the end of the rocker stands at x = 2.3, 1.3 along the coupler
    known = compiled(kc.Model.from_urdf(four_bar(1.3, 1.1), loops=[("pin", "end", "point")]))
    x = known.consistent(0.0, {"q_a": -1.2, "q_b": 1.0, "q_c": -1.0, "u_a": 1.0}, None)
    r = [1.0, -2.0, 0.5]
    assert_allclose(dyn.udot(0.0, x, r=r), known.udot(0.0, x, r=r), rtol=1e-10)


def test_shapes_touch_the_ground() -> None:
    shape = """<collision name="c"><pose>0 0 -0.2 0 0 0</pose>
    <geometry><sphere><radius>0.1</radius></sphere></geometry></collision>"""
    text = model(link("a", "<pose>0 0 0.25 0 0 0</pose>", INERTIAL + shape + shape.replace("collision", "visual")))
    dyn = compiled(kc.Model.from_sdf(text, contacts="collision"))
    found = dict(zip(dyn.output_names, dyn.outputs(0.0, dyn.state({"q_a_e0": 1.0})), strict=True))
    assert found["a_depth"] == pytest.approx(0.05)
    assert [shape.kind for _, shape in dyn.model.description.shapes] == ["Sphere"]


BROKEN = [
    ("<robot/>", "line 1: the file begins with <robot>; SDFormat begins with <sdf>"),
    ('<sdf version="new"><model name="m"/></sdf>', "version is 'new'; it must be a version"),
    ('<sdf version="1.9"><world name="w"/></sdf>', "<sdf> holds <world> in line 1; one <model> is read"),
    (model(FIRST).replace("</sdf>", '<model name="n"/></sdf>'), "<sdf> holds <model> in line 1, <model> in line"),
    (model(""), "model 'm' has no link"),
    (model(FIRST + "<include/>"), "line 5: <include> of model 'm' is not read, and may act on the motion"),
    (model(FIRST + '<model name="n"/>'), "<model> of model 'm' is not read"),
    (model(FIRST).replace('name="m"', 'name="m" placement_frame="a"'), "placement_frame of model 'm' is not read"),
    (model(FIRST + "<static>true</static>"), "line 1: model 'm' is static: nothing moves"),
    (model(FIRST + link("a")), "line 5: link 'a' has the name of what stands in line 2"),
    (model(link("world")), "a link cannot be called 'world'"),
    (model(FIRST + link("b") + joint("k", "a", "b", "gearbox")), "joint 'k' is of type 'gearbox'; it must be one of"),
    (model(FIRST + link("b") + joint("k", "a", "b", "revolute2")), "write two joints of type revolute"),
    (model(FIRST + link("b") + joint("k", "a", "c", axis="0 0 1")), "no link, joint or frame is called 'c'"),
    (model(FIRST + link("b") + joint("k", "a", "b")), "line 7: joint 'k' has no <axis>: write"),
    (model(FIRST + link("b") + joint("k", "a", "b", axis="0 0 0")), "the axis of joint 'k' has length zero"),
    (model(FIRST + link("b") + joint("k", "a", "world", axis="0 0 1")), "joint 'k' joins 'a' and 'world': its child"),
    (model(FIRST.replace("<mass>", "<density>1</density><mass>")), "<density> of link 'a' is not read"),
    (model(FIRST.replace("<inertial>", '<inertial auto="true">')), "the inertia of link 'a' is that of its shapes"),
    (model(FIRST.replace("<mass>1.5", "<mass>-1")), "the mass of link 'a' is -1"),
    (model(FIRST.replace("<mass>1.5", "<mass>much")), "text of <mass> is 'much'; it must be one finite number"),
    (model(FIRST.replace(A, "<pose>0 0 1</pose>")), "text of <pose> is '0 0 1'; it must be 6 finite numbers"),
    (
        model(link("a", '<pose relative_to="b"/>') + link("b", '<pose relative_to="a"/>')),
        "the pose of 'a' is relative to itself",
    ),
    (model('<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>' + FIRST), "is .* to itself"),
    (
        model(
            FIRST
            + link("b")
            + joint("k", "a", "b", axis="0 0 1").replace("</axis>", "<dynamics><damping>-1</damping></dynamics></axis>")
        ),
        "the damping of joint 'k' is -1",
    ),
    (
        model(FIRST + joint("k", "world", "a", "universal", axis="0 0 1", axis2="0 1 0")),
        "joint 'k' closes a loop by type universal, which is not read",
    ),
    (
        model(
            FIRST
            + joint("k", "world", "a", axis="0 0 1").replace(
                "</axis>", "<dynamics><spring_stiffness>1</spring_stiffness></dynamics></axis>"
            )
        ),
        "joint 'k' closes a loop, and has stiffness: write it before",
    ),
    (model(FIRST.replace("</child>", "</child><drake:damper/>")), "<drake:damper> of joint 'j' is not read"),
    (
        model(FIRST.replace("<inertial>", "<velocity_decay><linear>1</linear></velocity_decay><inertial>")),
        "velocity_decay",
    ),
]


@pytest.mark.parametrize(("text", "says"), BROKEN)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(kc.ModelError, match=says):
        kc.Model.from_sdf(text)


def test_losses_of_a_joint_that_closes_a_loop_are_left_out() -> None:
    text = model(
        FIRST
        + joint("k", "world", "a", axis="0 0.6 0.8").replace(
            "</axis>", "<dynamics><damping>1</damping></dynamics></axis>"
        )
    )
    with pytest.warns(kc.KanecoreWarning, match="line 5: joint 'k' closes a loop, and has damping, which is left out"):
        assert kc.Model.from_sdf(text).n_constraints == 5


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "arm.sdf"
    path.write_text(CASES["axes"])
    assert kc.Model.from_sdf(path).coordinates == kc.Model.from_sdf(CASES["axes"]).coordinates
    with pytest.raises(kc.ModelError, match="source is 3; it must be the path of an SDF file"):
        kc.Model.from_sdf(3)  # type: ignore[arg-type]
