# SPDX-License-Identifier: BSD-3-Clause
"""Projection to the constraints: the nearest state that satisfies them, its gradient, corrections of velocities."""

from __future__ import annotations

from kanecore.derive.elimination_fronts import front_system, fronts
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.projection_gradients import LEVELS, step_gradient

from .function_parts import Equations, Function, Member
from .function_store import Functions
from .motion_equations import front_members

__all__ = ["projected", "projection_gradient", "quaternions", "stabilization"]


def stabilization(f: Functions) -> Function:
    """Changes of u̇ that lead back to the constraints: of two right-hand sides."""
    n, m, roots = f.n, f.m, f.derivation.kernel("stabilization").roots
    mass, rest = roots[: n * n], roots[n * (n + 2) :]
    jacobian, residuals, sums = rest[: m * n], rest[m * n : m * (n + 2)], rest[m * (n + 2) :]
    system = (*mass, *[0] * n, *jacobian, *[0] * m, *sums)
    members: dict[str, Member] = {"equations": Equations(n, m, 2, correction=True), "rank": f.rank}
    room = 0
    if found := fronts(n, m, system):
        by_fronts, (n_fronts, numbers, widest) = front_members("fronts", found)
        room = numbers + 3 * m + 6 * n + n_fronts + widest
        members |= by_fronts | {"fronts.correction": 1, "front_room": room}
        roots = (*front_system(f.g, n, m, system, found), *residuals)
    members["fill"] = f.once("fill_stabilization", Derived(roots))
    return f.solved("compute_stabilization", "return", members, n, m, room)


def projected(f: Functions) -> Function:
    """The projected state; first-order states do not change."""
    if not f.n_z:
        return _projection(f, "compute_project")
    members: dict[str, Member] = {"n_z": f.n_z, "n_q": f.n_q, "n": f.n, "k": 1}
    members["motion"] = _projection(f, "project_motion").name
    members["slopes"] = f.once("first_order_states", Derived(f.d.states), f.d.accelerations, f.n_z)
    return f.solved("compute_project", "state_rows", members, f.n_z, f.n, 1)


def projection_gradient(f: Functions) -> Function:
    """The gradient of a weighted sum of the projected state, through the steps of the projection."""
    members, sizes = _projecting(f)
    n_x, n_all = f.d.n_x, f.d.n_x + f.n_r + len(f.d.parameters)
    members |= {"n_z": f.n_z, "n_all": n_all, "weights": n_x + f.n + f.m}
    symbols = [*f.d.coordinates, *f.d.speeds, *f.d.accelerations]
    for level in LEVELS:
        found = step_gradient(f.derivation, level)
        arguments = [*symbols, *found.symbols]
        for member, roots in (("sides", found.sides), ("gradient", found.gradient)):
            name = f"{level}_{member}"
            members[name] = f.once(f"{name}_project", Derived(roots), arguments)
    return f.solved("compute_project_gradient", "projection_gradient", members, *sizes, n_x, n_all)


def _projection(f: Functions, name: str) -> Function:
    members, sizes = _projecting(f)
    return f.solved(name, "projection", members, *sizes)


def _projecting(f: Functions) -> tuple[dict[str, Member], tuple[int, ...]]:
    """Members and sizes of the projection."""
    constraints, n, n_q, d = f.derivation.constraints, f.n, f.n_q, f.d
    m_q, m_u, n_max = len(constraints.configuration), len(constraints.values), max(n, n_q)
    m = max(m_q, m_u)
    # y and a: the state to project, in place of x, and its change
    in_scratch = [*d.coordinates, *d.speeds, *d.accelerations]
    members: dict[str, Member] = {
        "equations": Equations(n_max, m, correction=True),
        "rank": f.rank,
        "n_q": n_q,
        "n_u": n,
        "n_max": n_max,
        "m_q": m_q,
        "m_u": m_u,
        **quaternions(f),
    }
    room = 0
    for member, derived in f.derivation.projections.items():
        roots, level = derived.roots, {"position": m_q, "velocity": m_u}.get(member, 0)
        found = fronts(n, level, roots) if level else ()
        if found:
            by_fronts, (n_fronts, numbers, widest) = front_members(f"{member}_fronts", found)
            members |= by_fronts | {f"{member}_fronts.correction": 1}
            roots = (*front_system(f.g, n, level, roots, found), *roots[-level:])
            room = max(room, numbers + level + 2 * n + n_fronts + widest)
        members[member] = f.once(f"{member}_project", Derived(roots), in_scratch, n_max - n)
    if room:
        members["front_room"] = room
    return members, (n_q, n, n_max, m, room)


def quaternions(f: Functions) -> dict[str, Member]:
    return {"n_unit": len(f.d.unit), "unit": tuple(i for quaternion in f.d.unit for i in quaternion)}
