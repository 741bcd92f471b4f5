# SPDX-License-Identifier: BSD-3-Clause
"""What is emitted grows as the recursions do: counts of + − × ÷ √, which no machine changes."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.derive.articulated_bodies import articulated_solve
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.emit.groups import emit_group
from kanecore.graph.evaluate import count

SIZES = (5, 10, 15, 20, 30, 40)


def test_forward_dynamics_of_the_arm() -> None:
    """7 joints in space, full inertia tensors, all numbers baked in: 1,413 in the design, 1,333 here."""
    arm7 = import_module("kanecore.gallery.arm7")
    emitted = emit_group(arm7.build().description, "core", arm7.PARAMETERS)
    udot = emitted.operations["udot"]
    assert udot["total"] <= 1450
    assert udot["sincos"] == 7 - 1, "the first joint is vertical"
    assert udot["div"] <= 7
    assert emitted.operations["mass_matrix"]["total"] <= 208 + 193


def chain(n: int, spatial: bool) -> kc.Model:
    """n links, each pinned to the one before; in space axes and inertias are general, else all axes are parallel."""
    q, u = me.dynamicsymbols(f"q0:{n}"), me.dynamicsymbols(f"u0:{n}")
    g, length, mass, *tensor = sm.symbols("g l m I1 I2 I3")
    ground = frame = me.ReferenceFrame("N")
    joint = me.Point("O")
    joint.set_vel(ground, 0)
    bodies, loads = [], []
    for i in range(n):
        axis = (frame.z, frame.x)[i % 2] if spatial else frame.z
        link = me.ReferenceFrame(f"B{i}")
        link.orient_axis(frame, axis, q[i])
        link.set_ang_vel(frame, u[i] * axis)
        centre = joint.locatenew(f"C{i}", length / 2 * link.y)
        bodies.append(me.RigidBody(f"b{i}", centre, link, mass, (me.inertia(link, *tensor), centre)))
        loads.append((centre, -mass * g * ground.y))
        joint, frame = joint.locatenew(f"J{i}", length * link.y), link
    kd_eqs = [a.diff() - b for a, b in zip(q, u, strict=True)]
    return kc.Model(ground, q, u, kd_eqs, bodies=bodies, forcelist=loads, name=f"chain{n}")


def residual(counts: list[int]) -> float:
    """The largest relative deviation from the best straight line over SIZES."""
    line = np.polyval(np.polyfit(SIZES, counts, 1), SIZES)
    return float(np.max(np.abs(counts / line - 1)))


@pytest.mark.parametrize("spatial", [False, True])
def test_chains_grow_linearly(spatial: bool) -> None:
    """Forcing by the recursive Newton–Euler pass, u̇ by articulated bodies: so much a link, within 5 %."""
    forcing, forward = [], []
    for n in SIZES:
        d = Derivation(duplicate(chain(n, spatial).description))
        assert d.tree is not None
        forcing.append(count(d.graph, d.forcing)["total"])
        accelerations, pivots = articulated_solve(d.graph, d.tree, d.forcing)
        forward.append(count(d.graph, [*accelerations, *(i for pair in pivots for i in pair)])["total"])
    assert residual(forcing) < 0.05, forcing
    assert residual(forward) < 0.05, forward
    assert forcing[-1] < 40 * (160 if spatial else 40)


def test_the_cheaper_way_is_emitted() -> None:
    """The composite-body matrix and its factorization for short chains, articulated bodies for long ones."""
    derivations = {n: Derivation(duplicate(chain(n, True).description)) for n in (5, 20)}
    assert derivations[5].method == "composite bodies, LᵀDL"
    assert derivations[20].method == "articulated bodies"
    long = derivations[20]
    emitted = emit_group(chain(20, True).description, "core").operations
    assert emitted["udot"]["total"] == count(long.graph, long.kernel("udot").roots)["total"]


def test_tree_branches_stay_apart() -> None:
    """Two arms on one base: no operation for the zeros of M between them."""
    u, q = me.dynamicsymbols("u1:5"), me.dynamicsymbols("q1:5")
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    bodies = []
    for arm in range(2):
        frame, joint = ground, origin
        for k in range(2):
            i = 2 * arm + k
            link = me.ReferenceFrame(f"B{i}")
            link.orient_axis(frame, frame.z, q[i])
            link.set_ang_vel(frame, u[i] * frame.z)
            joint = joint.locatenew(f"P{i}", sm.Symbol("l") * link.x)
            bodies.append(me.Particle(f"b{i}", joint, sm.Symbol("m")))
            frame = link
    kd_eqs = [a.diff() - b for a, b in zip(q, u, strict=True)]
    both = Derivation(duplicate(kc.Model(ground, q, u, kd_eqs, bodies=bodies).description))
    matrix = both.mass_matrix
    assert all(matrix[i][j] == 0 for i in (0, 1) for j in (2, 3))
    one = Derivation(duplicate(kc.Model(ground, q[:2], u[:2], kd_eqs[:2], bodies=bodies[:2]).description))
    double = 2 * count(one.graph, one.kernel("udot").roots)["total"]
    assert count(both.graph, both.kernel("udot").roots)["total"] <= double
