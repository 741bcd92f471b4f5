# SPDX-License-Identifier: BSD-3-Clause
"""Checks that links and joints are one tree with one root, which joints mimic others, and that names differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kanecore.errors import ModelError, unknown_name

from .robot import NUMBERS, SINGLE, Joint, Link, Robot

__all__ = ["check_names", "checked_tree"]


def checked_tree(where: str, links: Mapping[str, Link], joints: Iterable[Joint]) -> tuple[str, tuple[Joint, ...]]:
    """The root of a tree, and its joints, each after the one that carries its parent.

    Parameters
    ----------
    where : str
        The file, as messages name it.
    links : mapping of str to Link
        All links, one at least.
    joints : iterable of Joint
        In the order of the file, which joints of one parent keep.

    Raises
    ------
    ModelError
        A link is the child of two joints, there are several roots or none, or a joint mimics one that it cannot mimic;
        the message names joint, link and place.
    """
    joints = list(joints)
    root = _root(where, links, joints)
    _check_mimics(where, joints)
    return root, tuple(_from_root(root, joints))


def _root(where: str, links: Mapping[str, Link], joints: list[Joint]) -> str:
    parents: dict[str, Joint] = {}
    for joint in joints:
        if joint.child in parents:
            raise ModelError(
                f"{where}, {joint.place}: link {joint.child!r} is the child of joint {joint.name!r} and of "
                f"{parents[joint.child].name!r}: links are a tree; close loops with loops=[...]"
            )
        parents[joint.child] = joint
    roots = [name for name in links if name not in parents]
    if len(roots) > 1:
        names = ", ".join(f"{name!r} ({links[name].place})" for name in roots[:5])
        raise ModelError(
            f"{where}: {len(roots)} links are no child of a joint: {names}{', ...' * (len(roots) > 5)}; a robot has "
            "one root"
        )
    reached = {joint.child for joint in _from_root(roots[0], joints)} if roots else set()
    lost = [joint for joint in joints if joint.child not in reached]
    if lost:
        raise ModelError(
            f"{where}, {lost[0].place}: joint {lost[0].name!r} is part of a ring of joints, each the child of the "
            "next; a robot has one root"
        )
    return roots[0]


def _check_mimics(where: str, joints: list[Joint]) -> None:
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        seen, leader = {joint.name}, joint
        while leader.mimic is not None:
            name = leader.mimic.joint
            if name not in by_name:
                raise ModelError(f"{where}, {leader.place}: {unknown_name('joint is called', name, by_name).args[0]}")
            if name in seen:
                raise ModelError(f"{where}, {joint.place}: joint {joint.name!r} mimics itself")
            seen.add(name)
            leader = by_name[name]
        if joint.mimic is not None and not {joint.kind, leader.kind} <= set(SINGLE):
            raise ModelError(
                f"{where}, {joint.place}: joint {joint.name!r} ({joint.kind}) mimics {leader.name!r} "
                f"({leader.kind}); only {', '.join(SINGLE)} joints mimic each other"
            )


def check_names(robot: Robot, base: str | None) -> None:
    """Raise ModelError for two joints, or the floating base and a joint, whose numbers would have the same names."""
    kinds = {joint.name: joint.kind for joint in robot.joints} | ({base: "floating"} if base else {})
    several = {f"{name}_{end}": name for name, kind in kinds.items() for end in NUMBERS.get(kind, ())}
    for joint in robot.joints:
        if joint.kind in SINGLE and joint.name in several:
            other = several[joint.name]
            owner = f"the floating base, joint {other!r}," if other == base else f"joint {other!r} ({kinds[other]})"
            raise ModelError(
                f"{robot.where}, {joint.place}: the numbers of joint {joint.name!r} would be called as one of {owner} "
                f"is, q_{joint.name} or u_{joint.name}: rename one of the joints"
            )


def _from_root(root: str, joints: Iterable[Joint]) -> list[Joint]:
    """The joints that are reached from the root, each after the one that carries its parent."""
    of_parent: dict[str, list[Joint]] = {}
    for joint in joints:
        of_parent.setdefault(joint.parent, []).append(joint)
    ordered, waiting = [], of_parent.get(root, [])[::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += of_parent.get(joint.child, [])[::-1]
    return ordered
