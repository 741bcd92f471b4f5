# SPDX-License-Identifier: BSD-3-Clause
"""Contacts of robots with the ground, and forces on links, against positions and weights."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kanecore as kc
from kanecore.gallery import anymal_c

BODY = """<robot name="body"><link name="trunk"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"
ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link></robot>"""
PLACED = '<collision><origin xyz="0.1 0 -0.2" rpy="0 {pitch} 0"/><geometry>{shape}</geometry></collision>'


def touching(shape: str, pitch: float = 0.0, **law: float) -> kc.CompiledModel:
    text = BODY.format(shapes=PLACED.format(shape=shape, pitch=pitch))
    return kc.compile(kc.Model.from_urdf(text, floating_base=True, contacts={"collision": law}))


def depths(dyn: kc.CompiledModel, height: float) -> list[float]:
    outputs = dyn.outputs(0.0, {"q_base_z": height, "q_base_e0": 1.0})
    return sorted(outputs[::5])


def test_shapes_touch_by_their_spheres_and_corners() -> None:
    assert_allclose(depths(touching('<sphere radius="0.05"/>'), 0.3), [-0.05])
    assert_allclose(depths(touching('<capsule radius="0.05" length="0.1"/>'), 0.3), [-0.1, 0.0], atol=1e-15)
    assert_allclose(depths(touching('<capsule radius="0.05" length="0.1"/>', np.pi / 2), 0.3), [-0.05] * 2)
    assert_allclose(depths(touching('<box size="0.2 0.4 0.06"/>'), 0.3), [-0.13] * 4 + [-0.07] * 4)
    rim = 0.1 * np.cos(np.arange(8) * np.pi / 4)
    found = depths(touching('<cylinder radius="0.1" length="0.3"/>', np.pi / 2), 0.3)
    assert_allclose(found, np.sort(np.r_[rim, rim] - 0.1), atol=1e-15)


def test_ground_carries_the_weight_at_the_default_depth() -> None:
    text = BODY.format(shapes="")
    dyn = kc.compile(
        kc.Model.from_urdf(text, floating_base=True, contacts={"trunk": {"radius": 0.1}}, forces=["trunk"])
    )
    x = {"q_base_z": 0.099, "q_base_e0": 1.0}
    assert_allclose(dyn.udot(0.0, x), 0.0, atol=1e-12)
    assert dyn.input_names == ("f_trunk_x", "f_trunk_y", "f_trunk_z")
    turned = {"q_base_z": 1.0, "q_base_e0": np.cos(0.5), "q_base_e3": np.sin(0.5)}
    a = dyn.udot(0.0, turned, r=[3.0, 4.0, 2.0 * 9.81])
    assert_allclose(a[:2], [1.5 * np.cos(1) + 2 * np.sin(1), -1.5 * np.sin(1) + 2 * np.cos(1)])
    assert_allclose(a[2:], 0.0, atol=1e-12)


def test_a_mesh_is_left_out_with_a_warning() -> None:
    shapes = "".join(
        PLACED.format(shape=shape, pitch=0) for shape in ('<mesh filename="trunk.stl"/>', '<sphere radius="0.1"/>')
    )
    with pytest.warns(kc.KanecoreWarning, match="link 'trunk' collides by a mesh, trunk.stl, which is left out"):
        model = kc.Model.from_urdf(BODY.format(shapes=shapes), floating_base=True, contacts="collision")
    assert kc.compile(model).output_names[0] == "trunk_depth"
    assert "ignored" not in model.report()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contacts": ["trunk"]}, r"contacts is \['trunk'\]; write"),
        ({"contacts": {"trnk": {}}}, "contacts: no link is called 'trnk'.*trunk"),
        ({"contacts": {"trunk": 1e5}}, r"contacts\['trunk'\] is 100000.0; write numbers by name"),
        ({"contacts": {"trunk": {"stifness": 1e5}}}, r"contacts\['trunk'\]: no number is called 'stifness'.*stiffness"),
        ({"contacts": {"trunk": {"stiffness": 0}}}, r"contacts\['trunk'\]\['stiffness'\] is 0; .*positive"),
        ({"contacts": {"trunk": {"mu": -1}}}, r"contacts\['trunk'\]\['mu'\] is -1; .*not negative"),
        ({"contacts": {"trunk": {"exponent": 0.5}}}, r"\['exponent'\] is 0.5; .*at least 1"),
        ({"contacts": {"trunk": {"bristle_stiffness": 1e4}}}, "'bristle_stiffness' without 'bristle_damping': write"),
        ({"forces": "trunk"}, "forces is 'trunk'; it must be a list of links"),
        ({"forces": ["trnk"]}, "no link is called 'trnk'"),
    ],
)
def test_wrong_contacts_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        kc.Model.from_urdf(BODY.format(shapes=""), floating_base=True, **options)


@pytest.mark.long
def test_quadruped_stands() -> None:
    """On four feet under torques of its joints' springs: the ground carries its weight when it has come to rest."""
    feet = [f"{leg}_FOOT" for leg in anymal_c.STANDING]
    law = {"radius": 0.02, "transition_velocity": 0.05}
    path = kc.gallery.robot_file("anymal_c")
    dyn = kc.compile(kc.Model.from_urdf(path, floating_base=True, contacts=dict.fromkeys(feet, law)))
    x = dyn.state(anymal_c.STATE)
    places = [dyn.coordinate_names.index(f"q_{joint}") for joint in anymal_c.JOINTS]
    speeds = [dyn.n_q + dyn.speed_names.index(f"u_{joint}") for joint in anymal_c.JOINTS]
    inputs = [dyn.input_names.index(f"tau_{joint}") for joint in anymal_c.JOINTS]
    start = x[places]

    def torques(t: float, x: Any) -> Any:
        r = np.zeros(dyn.n_r)
        r[inputs] = 300.0 * (start - x[places]) - 6.0 * x[speeds]
        return r

    t = 0.0
    for _ in range(1500):
        x, t = dyn.step(t, x, 5e-4, r=torques(t, x)), t + 5e-4
    loads = dict(zip(dyn.output_names, dyn.outputs(t, x, r=torques(t, x)), strict=True))
    masses = sum(np.linalg.norm(dyn.mass_matrix(0.0, x)[i, i]) for i in range(3)) / 3
    assert_allclose(sum(loads[f"{foot}_normal"] for foot in feet), masses * 9.81, rtol=0.02)


def test_the_ground_is_at_rest_where_the_first_joint_stands_in_the_origin() -> None:
    """A bar on a hinge there, of 1 kg at its middle, falls on the ground beside it and lies on its end."""
    text = """<robot name="r"><link name="g"/><link name="tip"/><link name="bar"><inertial><origin xyz="0.5 0 0"/>
    <mass value="1"/><inertia ixx="0" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="g"/><child link="bar"/><axis xyz="0 1 0"/></joint>
    <joint name="t" type="fixed"><parent link="bar"/><child link="tip"/><origin xyz="1 0 0"/></joint></robot>"""
    law = {"stiffness": 2e4, "exponent": 1.0, "mu": 0.0, "dissipation": 0.0}
    dyn = kc.compile(kc.Model.from_urdf(text, contacts={"tip": law}), cc="none")
    depth = 0.01
    udot = dyn.udot(0.0, [np.arcsin(depth), 0.0])
    expected = (9.81 * 0.5 - 2e4 * depth) * np.cos(np.arcsin(depth)) / (0.1 + 0.25)
    np.testing.assert_allclose(udot, [expected], rtol=1e-12)
