# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.describe.robots: records of a robot that no file holds are checked and assembled as those of a file."""

from typing import Any

import numpy as np
import pytest

import kanecore as kc
from kanecore.describe.description import fingerprint
from kanecore.describe.robots.rigid_poses import Pose
from kanecore.describe.robots.robot import Inertial, Joint, Link, Mimic, Robot
from kanecore.describe.robots.robot_assembly import described_robot
from kanecore.describe.robots.robot_options import RobotOptions
from kanecore.describe.robots.tree_checks import checked_tree

BODY = Inertial(2.0, np.array([0.0, 0.0, 0.25]), np.diag([0.2, 0.3, 0.1]))
TEXT = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 0.25"/><mass value="2"/>
<inertia ixx="0.2" iyy="0.3" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hip" type="continuous"><parent link="base"/><child link="rod"/>
<origin xyz="0 0 1" rpy="0.1 0 0"/><axis xyz="0 1 0"/></joint></robot>"""


def joint(name: str, parent: str, child: str, **options: Any) -> Joint:
    return Joint(name, f"body {child}", "continuous", parent, child, Pose.same(), np.array([0.0, 1.0, 0.0]), **options)


def test_records_become_what_a_file_does() -> None:
    turned = kc.Model.from_urdf(TEXT)
    c, s = np.cos(0.1), np.sin(0.1)
    seat = Pose(np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]), np.array([0.0, 0.0, 1.0]))
    hip = Joint("hip", "", "continuous", "base", "rod", seat, np.array([0.0, 1.0, 0.0]))
    links = {"base": Link("base", "", None), "rod": Link("rod", "", BODY)}
    reading = described_robot(Robot("arm", "memory", "base", links, (hip,)), RobotOptions())
    assert fingerprint(reading.description) == fingerprint(turned.description)


@pytest.mark.parametrize(
    ("joints", "says"),
    [
        ([joint("j", "a", "b"), joint("k", "a", "b")], "m.xml, body b: link 'b' is the child of joint 'k' and of 'j'"),
        ([joint("j", "a", "b"), joint("k", "c", "d"), joint("l", "d", "c")], "m.xml, body d: joint 'k' .* ring"),
        ([joint("j", "a", "b")], r"m.xml: 3 links are no child of a joint: 'a' \(link a\), 'c' \(link c\), 'd'"),
        (
            [joint("j", "a", "b", mimic=Mimic("J", 1.0, 0.0)), joint("k", "a", "c"), joint("l", "a", "d")],
            "m.xml, body b: no joint is called 'J'; did you mean 'j'",
        ),
    ],
)
def test_faults_of_a_tree_name_place_and_no_format(joints: list[Joint], says: str) -> None:
    links = {name: Link(name, f"link {name}", None) for name in "abcd"}
    with pytest.raises(kc.ModelError, match=says) as told:
        checked_tree("m.xml", links, joints)
    assert "URDF" not in str(told.value)
