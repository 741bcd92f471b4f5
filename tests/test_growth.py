# SPDX-License-Identifier: BSD-3-Clause
"""Reading and deriving large mechanisms takes steps in proportion to their size: calls of Python are counted."""

import cProfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mechanisms import carriage

import kanecore as kc
from kanecore.emit.kernel_groups import emit_group


def calls(function: Callable[..., Any], *arguments: Any) -> int:
    """The number of calls of functions of Python and C."""
    with cProfile.Profile() as profile:
        function(*arguments)
    return sum(entry.callcount for entry in profile.getstats())


def urdf(folder: Path, n: int, chain: bool) -> Path:
    """A robot with n hinges: each carries the next, or all stand on the base."""
    inertial = (
        '<inertial><mass value="1"/><origin xyz="0.1 0 0"/>'
        '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    parts = ['<robot name="r"><link name="base"/>']
    for i in range(n):
        parent, axis = f"l{i - 1}" if chain and i else "base", "0 0 1" if i % 2 else "0 1 0"
        parts += [
            f'<link name="l{i}">{inertial}</link><joint name="j{i}" type="revolute"><parent link="{parent}"/>',
            f'<child link="l{i}"/><origin xyz="{0.2 + 0.01 * i} 0 0.1"/><axis xyz="{axis}"/>',
            '<limit lower="-3" upper="3" effort="10" velocity="10"/></joint>',
        ]
    path = folder / f"{n}{chain}.urdf"
    path.write_text("".join([*parts, "</robot>"]))
    return path


@pytest.mark.parametrize("chain", [True, False])
def test_reading_a_robot(tmp_path: Path, chain: bool) -> None:
    kc.Model.from_urdf(urdf(tmp_path, 3, chain))
    small, large = (calls(kc.Model.from_urdf, urdf(tmp_path, n, chain)) for n in (20, 80))
    assert large < 5 * small


@pytest.mark.long
@pytest.mark.parametrize("group", ["core", "linearize", "hessian"])
def test_closed_loops(group: str) -> None:
    emit_group(carriage(1).description, group)
    (read, derived), (reads, derives) = (
        (calls(carriage, n), calls(emit_group, carriage(n).description, group)) for n in (6, 24)
    )
    assert reads < 6 * read
    assert derives < 7 * derived
