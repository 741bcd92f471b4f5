# SPDX-License-Identifier: BSD-3-Clause
"""What is emitted grows as the recursions do: counts of + − × ÷ √, which no machine changes."""

from importlib import import_module

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.derive.recursions.articulated_bodies import articulated_solve
from kanecore.derive.recursions.joint_tree import with_moved_origins
from kanecore.derive.recursions.mass_matrix import composite_mass_matrix
from kanecore.describe.description import duplicate
from kanecore.emit.kernel_groups import emit_group
from kanecore.graph.evaluation import count
from kanecore.graph.random_samples import samples

SIZES = (5, 10, 15, 20, 30, 40)


def test_forward_dynamics_of_the_arm() -> None:
    """7 joints in space, full inertia tensors, all numbers baked in: 1,413 in the design, 1,117 here."""
    arm7 = import_module("kanecore.gallery.arm7")
    emitted = emit_group(arm7.build().description, "core", arm7.PARAMETERS)
    udot = emitted.operations["udot"]
    assert udot["total"] <= 1_120
    assert udot["sincos"] == 7 - 1, "the first joint is vertical"
    assert udot["div"] <= 7
    assert emitted.operations["mass_matrix"]["total"] <= 285


def test_mimic_joints_are_in_the_tree() -> None:
    """Panda's fingers share a speed, S is rectangular: M as Sᵀ M_w S, which took 3,244 operations column by column."""
    panda = import_module("kanecore.gallery.panda")
    operations = emit_group(panda.build().description, "core").operations
    assert operations["mass_matrix"]["total"] <= 925
    assert operations["udot"]["total"] <= 2_280


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


@pytest.mark.long
@pytest.mark.parametrize("spatial", [False, pytest.param(True, marks=pytest.mark.long)])
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
    derivations = {n: Derivation(duplicate(chain(n, True).description)) for n in (5, 14)}
    assert derivations[5].method == "composite bodies, LᵀDL"
    assert derivations[14].method == "articulated bodies"
    long = derivations[14]
    emitted = emit_group(chain(14, True).description, "core").operations
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


def limbs(n: int, length: int) -> str:
    """A URDF of a trunk with n limbs of so many joints, their axes in turn y, x, z."""
    mass = '<mass value="1.3"/><origin xyz="0.01 0.02 -0.1"/>'
    tensor = '<inertia ixx="0.02" iyy="0.03" izz="0.015" ixy="0.001" iyz="0.002" ixz="0.003"/>'
    inertial = f"<inertial>{mass}{tensor}</inertial>"
    text = f'<robot name="limbs"><link name="trunk">{inertial}</link>'
    for limb in range(n):
        for k in range(length):
            parent = f"L{limb}_{k - 1}" if k else "trunk"
            axis = ("0 1 0", "1 0 0", "0 0 1")[k % 3]
            text += f'<link name="L{limb}_{k}">{inertial}</link><joint name="J{limb}_{k}" type="continuous">'
            text += f'<parent link="{parent}"/><child link="L{limb}_{k}"/><axis xyz="{axis}"/>'
            text += f'<origin xyz="0.0{limb + 1} 0 -0.3"/></joint>'
    return text + "</robot>"


def test_robots_with_a_floating_base() -> None:
    """The base is one link that moves in its own axes; many joints on several limbs: articulated bodies."""
    d = Derivation(duplicate(kc.Model.from_urdf(limbs(4, 3), floating_base=True).description))
    assert d.tree is not None
    assert [len(link.rates) for link in d.tree.links] == [0, 6, *[1] * 12]
    assert all(x == int(i == j) for i, row in enumerate(d.tree.jacobian) for j, x in enumerate(row))
    assert d.method == "composite bodies, LᵀDL"
    assert count(d.graph, [x for row in d.mass_matrix for x in row])["total"] <= 690
    d = Derivation(duplicate(kc.Model.from_urdf(limbs(4, 8), floating_base=True).description))
    assert d.method == "articulated bodies"
    kernel = d.kernel("udot")
    assert count(d.graph, [*kernel.roots, *(i for pivot in kernel.pivots for i in pivot[:2])])["total"] <= 10_250


def test_origins_on_the_axes_of_joints() -> None:
    """Where offsets have fewer components M has fewer operations, and the same values."""
    text = limbs(2, 4).replace("0 -0.3", "0.12 -0.3").replace('<axis xyz="0 1 0"/>', '<axis xyz="0 -0.8 0.6"/>')
    d = Derivation(duplicate(kc.Model.from_urdf(text, floating_base=True).description))
    g, tree = d.graph, d.tree
    assert tree is not None
    moved = with_moved_origins(g, tree)
    before, after = ([sum(map(bool, link.offset)) for link in each.links[2:]] for each in (tree, moved))
    assert before == [3] * 8
    assert sum(after) <= sum(before) - 6
    matrices = [[x for row in composite_mass_matrix(g, each) for x in row] for each in (tree, moved)]
    assert count(g, matrices[1])["total"] < 0.95 * count(g, matrices[0])["total"]
    for sample in samples(g, [*matrices[0], *matrices[1]], 3):
        np.testing.assert_allclose(sample.values(matrices[1]), sample.values(matrices[0]), rtol=0, atol=1e-13)
