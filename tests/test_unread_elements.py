# SPDX-License-Identifier: BSD-3-Clause
"""What robot files hold beyond URDF: closed loops and springs are read, what else may act on the motion is named."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_urdf_file import INERTIAL, PAIR, compiled, four_bar, joint

import kanecore as kc

PENDULUM = PAIR + joint("j", "a", "b", more='<axis xyz="0 1 0"/>\n{inside}') + "{beside}\n</robot>"
FREE = PAIR + joint("j", "a", "b", "floating", "{inside}") + "{beside}\n</robot>"


def pendulum(inside: str = "", beside: str = "", text: str = PENDULUM) -> kc.Model:
    return kc.Model.from_urdf(text.replace("{inside}", inside).replace("{beside}", beside))


@pytest.mark.parametrize(
    ("inside", "beside", "says"),
    [
        ("", "<force_element><propellor/></force_element>", "line 6: <propellor> of <force_element> is not read"),
        ("", "\n<drake:linear_bushing_rpy/>", r"line 7: <drake:linear_bushing_rpy> of the robot .* forces=\[...\]"),
        (
            "",
            '<loop_joint name="l" type="planar"><axis xyz="1 0 0"/></loop_joint>',
            "6: loop_joint 'l' is not read.*sph",
        ),
        ("", '<loop_joint name="l" type="revolute"/>', "loop_joint 'l' is not read.*with an <axis> revolute"),
        ("", '<gazebo reference="b"><turnGravityOff>true</turnGravityOff></gazebo>', "turnGravityOff> of gazebo 'b'"),
        ("", '<gazebo reference="b"><gravity>0</gravity></gazebo>', "<gravity> of gazebo 'b' .*by its weight"),
        ("", '<gazebo reference="b"><dampingFactor>0.1</dampingFactor></gazebo>', "<dampingFactor> of gazebo 'b'"),
        ("", '<gazebo><joint name="l" type="revolute"/></gazebo>', r"<joint> of <gazebo> .* loops=\[...\]"),
        ("", "<gazebo><static>true</static></gazebo>", "<static> of <gazebo>"),
        ("", '<gazebo reference="b"><springStiffness>3</springStiffness></gazebo>', "is no joint with one coordinate"),
        ("", "<whatever/>", "line 6: <whatever> of the robot is not read, and may act on the motion"),
        ('<dynamics rotor_inertia="1e-4"/>', "", "line 5: rotor_inertia=\"1e-4\" of joint 'j' .*gear ratio"),
        ('<dynamics coulomb_friction="1"/>', "", "line 5: coulomb_friction=\"1\" of joint 'j'"),
        (
            "",
            '<transmission name="t"><actuator name="m">\n<drake:rotor_inertia value="1e-4"/></actuator></transmission>',
            "line 7: <drake:rotor_inertia> of transmission 't' .*mimic",
        ),
        ("", '<transmission name="t"><motorInertia>0.01</motorInertia></transmission>', "<motorInertia> of tr"),
        ("<armature>0.01</armature>", "", "line 5: <armature> of joint 'j' .*mimic"),
        ("<elastic/>", "", "line 5: <elastic> of joint 'j' is not read"),
    ],
)
def test_what_may_act_on_the_motion_is_named(inside: str, beside: str, says: str) -> None:
    with pytest.warns(kc.KanecoreWarning, match=says) as told:
        pendulum(inside, beside)
    assert len(told) == 1
    assert told[0].filename == __file__


def test_what_does_not_act_is_passed_over() -> None:
    beside = """
    <material name="grey"><color rgba="1 1 1 1"/></material> <sensor name="s"><camera/></sensor> <plugin name="p"/>
    <transmission name="t"><type>x</type><joint name="j"/><actuator name="m">
    <mechanicalReduction>50</mechanicalReduction>
    <drake:gear_ratio value="50"/><drake:rotor_inertia value="0"/></actuator></transmission> <ros2_control/>
    <gazebo><plugin filename="x"><anything/></plugin><static>false</static></gazebo>
    <gazebo reference="b"><mu1>1</mu1><turnGravityOff>0</turnGravityOff><gravity>1</gravity><sensor/></gazebo>
    <drake:collision_filter_group name="g"/> <mujoco><compiler balanceinertia="true"/></mujoco>"""
    inside = '<limit lower="-1" upper="1" drake:acceleration="1"/><calibration/><safety_controller/>'
    inside += '<dynamics damping="0" friction="0" rotor_inertia="0.0" spring_reference="1"/>'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = pendulum(inside, beside)
    assert model.n_u == 1


def test_the_remedy_for_rotors() -> None:
    """A rotor on the arm before, geared 50 to 1, adds 50² times its inertia."""
    rotor = INERTIAL.replace('value="1"', 'value="0"').replace('="1"', '="1e-4"')
    text = f'<link name="rotor">{rotor}</link>' + joint("spin", "a", "rotor", more='<axis xyz="0 1 0"/>MIMIC')
    text = text.replace("MIMIC", '<mimic joint="j" multiplier="50"/>')
    dyn = compiled(pendulum(beside=text))
    assert_allclose(dyn.mass_matrix(0.0, np.zeros(2)), [[1.0 + 50.0**2 * 1e-4]], rtol=1e-14)


@pytest.mark.parametrize(
    ("inside", "beside"),
    [
        ('<dynamics spring_stiffness="7" spring_reference="0.3"/>', ""),
        ('<dynamics stiffness="7" spring_mount="0.3"/>', ""),
        (
            "",
            """<gazebo reference="j"><springReference> 0.3</springReference>
            <springStiffness>7.0\n</springStiffness></gazebo>""",
        ),
    ],
)
def test_springs_of_joints(inside: str, beside: str) -> None:
    dyn = compiled(pendulum(inside, beside))
    idle = compiled(pendulum())
    x = np.array([0.9, 0.4])
    assert_allclose(dyn.forcing(0.0, x) - idle.forcing(0.0, x), [7 * (0.3 - 0.9)], rtol=1e-14)


def test_springs_that_are_not_clear() -> None:
    gazebo = '<gazebo reference="j"><springStiffness>{}</springStiffness></gazebo>'
    with pytest.raises(kc.ModelError, match=r"line 6: joint 'j' has several springs, in lines 5, 6: leave one"):
        pendulum('<dynamics spring_stiffness="7"/>', gazebo.format(8))
    with pytest.raises(kc.ModelError, match="of <springStiffness> is 'stiff'; it must be one finite number"):
        pendulum("", gazebo.format("stiff"))
    with pytest.warns(kc.KanecoreWarning, match="stiffness=\"7\" of joint 'j' is not read"):
        pendulum('<dynamics stiffness="7"/>', text=FREE)


LINE = """<force_element name="cord"><linear_spring_damper stiffness="8" damping="0.7" rest_length="0.4">
<link1 link="a" xyz="1 2 3"/><link2 link="b" xyz="0.1 0.2 0.3"/></linear_spring_damper></force_element>"""
DRAKE = """<drake:linear_spring_damper><drake:linear_spring_damper_body_A name="a"/>
<drake:linear_spring_damper_p_AP value="1 2 3"/><drake:linear_spring_damper_body_B name="b"/>
<drake:linear_spring_damper_p_BQ value="0.1 0.2 0.3"/><drake:linear_spring_damper_free_length value="0.4"/>
<drake:linear_spring_damper_stiffness value="8"/><drake:linear_spring_damper_damping value="0.7"/>
</drake:linear_spring_damper>"""


@pytest.mark.parametrize("spring", [LINE, DRAKE])
def test_springs_between_points(spring: str) -> None:
    """The power of k (l − l₀) + c l̇ along the line, on a floating body at any speed."""
    dyn = compiled(pendulum(beside=spring, text=FREE))
    idle = compiled(pendulum(text=FREE))
    x = np.random.default_rng(1).normal(size=dyn.n_x)
    x[3:7] /= np.linalg.norm(x[3:7])
    arm = dyn.orientations(0.0, x, named=True)["b"] @ [0.1, 0.2, 0.3]
    line = np.array([1.0, 2.0, 3.0]) - dyn.position("b", 0.0, x) - arm
    length = np.linalg.norm(line)
    turning = np.cross(dyn.angular_velocities(0.0, x, named=True)["b"], arm)
    rate = -(dyn.velocities(0.0, x, named=True)["b"] + turning) @ line / length
    pull = 8 * (length - 0.4) + 0.7 * rate
    power = np.asarray(dyn.forcing(0.0, x) - idle.forcing(0.0, x)) @ x[dyn.n_q :]
    assert power == pytest.approx(-pull * rate, rel=1e-12)


LOOP = '<loop_joint name="pin" type="{}"><link1 link="coupler" xyz="1.2 0 0"/><link2 link="rocker" {}/>{}</loop_joint>'

BALL = """<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>
<drake:ball_constraint_p_AP value="1.2 0 0"/><drake:ball_constraint_body_B name="rocker"/>
<drake:ball_constraint_p_BQ value="1.1 0 0"/></drake:ball_constraint>"""


@pytest.mark.parametrize(
    ("element", "n"),
    [
        (LOOP.format("spherical", 'xyz="1.1 0 0" rpy="0.3 0.2 0.1"', ""), 3),
        (LOOP.format("revolute", 'xyz="1.1 0 0"', '<axis xyz="0 1 0"/>'), 5),
        (LOOP.format("continuous", 'xyz="1.1 0 0"', '<axis xyz="0 -2 0"/>'), 5),
        (BALL, 3),
    ],
)
def test_loops_of_the_file(element: str, n: int) -> None:
    text = four_bar(1.2, 1.1)
    given = compiled(kc.Model.from_urdf(text, loops=[("pin", "end", "point")]))
    model = kc.Model.from_urdf(text.replace("</robot>", element + "</robot>"))
    assert model.n_constraints == n
    read = compiled(model)
    x = given.consistent(0.0, {"q_a": -1.2, "q_b": 1.0, "q_c": -1.0, "u_a": 1.0}, None)
    r = np.array([1.0, -2.0, 0.5])
    assert_allclose(read.udot(0.0, x, r=r), given.udot(0.0, x, r=r), rtol=0, atol=1e-10)
    assert_allclose(read.reactions(0.0, x, r=r), given.reactions(0.0, x, r=r), rtol=0, atol=1e-9)


_AXIS = np.array([np.cos(0.7), 1.0, -np.sin(0.7)]) / np.sqrt(2.0)  # (1, 1, 0), turned by 0.7 about y, in link b


def test_a_hinge_closes_a_loop_in_space() -> None:
    """Of a body that floats a hinge leaves one freedom, about its axis in both links."""
    element = """<loop_joint name="hinge" type="revolute"><link1 link="a" xyz="1 0 2" rpy="0.5 0.4 -0.3"/>
    <link2 link="b" xyz="0.2 0 0" rpy="0 0.7 0"/><axis xyz="1 1 0"/></loop_joint>"""
    dyn = compiled(pendulum(beside=element, text=FREE))
    x = dyn.consistent(0.0, {"q_j_e0": 1.0}, None)
    assert dyn.check(x).rank == 5
    x[dyn.n_q + 3] = 3.0
    x = dyn.consistent(0.0, x, None)
    sol = dyn.simulate((0.0, 1.0), x)
    assert {np.linalg.matrix_rank(dyn.constraint_jacobian(0.0, each)) for each in sol.x} == {5}
    turns = dyn.orientations(sol.t, sol.x, named=True)["b"]
    assert np.linalg.norm(turns[-1] - turns[0]) > 0.5
    axis = turns[0] @ _AXIS  # of the hinge, at rest
    assert_allclose(turns @ _AXIS, np.broadcast_to(axis, (len(sol.t), 3)), rtol=0, atol=1e-8)


def test_elements_that_lack_something() -> None:
    for element, says in [
        (LOOP.format("spherical", "", "").replace('"rocker"', '"c"'), "line .*: no link is called 'c'"),
        ('<loop_joint name="l" type="fixed"><link1 link="a"/></loop_joint>', "line 6: <loop_joint> has no link2"),
        (
            DRAKE.replace("_free_length", "_x"),
            "line 6: <drake:linear_spring_damper> has no <drake:linear_spring_damper_f",
        ),
        (DRAKE.replace("_body_A", "_x"), "has no <drake:linear_spring_damper_body_A>"),
        (
            LOOP.format("spherical", "", "").replace("rocker", "b")
            + LOOP.format("fixed", "", "").replace("rocker", "b"),
            "line 6: a loop_joint named 'pin' stands in line 6",
        ),
        (
            LOOP.format("spherical", "", "").replace("rocker", "a"),
            "pin: both links move with 'a', and a loop joins two",
        ),
        ('<drake:joint name="k" type="universal"/>', "type 'universal'; .* two revolute joints"),
    ]:
        with pytest.raises(kc.ModelError, match=says):
            pendulum(beside=element.replace("coupler", "a"))


def test_mimics_of_drake() -> None:
    text = PENDULUM.replace("{beside}", '<link name="c">' + INERTIAL + "</link>" + joint("k", "a", "c", more="{}"))
    model = pendulum(text=text.replace("{}", '<drake:mimic joint="j" multiplier="-2"/>'))
    assert model.n_u == 1
    assert_allclose(compiled(model).mass_matrix(0.0, np.zeros(2)), [[1.0 + 4.0]])
