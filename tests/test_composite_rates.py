# SPDX-License-Identifier: BSD-3-Clause
"""Mass matrices of long trees by loops over composite bodies, against sums over bodies at 50 digits and in NumPy."""

from importlib import import_module
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import LONG, part

import kanecore as kc
from kanecore.derive.recursions import recursion_choice

AGREE = 1e-13
AXES = np.eye(3)
Array = npt.NDArray[Any]


class RandomTree:
    """Joints that turn or slide about axes of their links, each on one of the last links before it."""

    def __init__(self, n: int, seed: int, reach: int = 3) -> None:
        rng = np.random.default_rng(seed)
        self.n = n
        self.parent = [int(rng.integers(max(-1, i - reach), i)) for i in range(n)]
        self.turns = rng.uniform(size=n) < 0.8
        self.axis = [int(k) for k in rng.integers(0, 3, n)]
        self.place, self.angles, self.centre = rng.uniform(-0.4, 0.4, (3, n, 3))
        self.mass, self.moments = rng.uniform(0.5, 2, n), rng.uniform(0.02, 0.03, (n, 3))

    def model(self) -> kc.Model:
        """The model, from a URDF file's text."""
        text = '<link name="base"/>'
        for i in range(self.n):
            xx, yy, zz = self.moments[i]
            text += (
                f'<link name="l{i}"><inertial><origin xyz="{_words(self.centre[i])}"/><mass value="{self.mass[i]}"/>'
                f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" iyz="0" ixz="0"/></inertial></link>'
                f'<joint name="j{i}" type="{"continuous" if self.turns[i] else "prismatic"}"><axis '
                f'xyz="{_words(AXES[self.axis[i]])}"/><limit lower="-9" upper="9" effort="9" velocity="9"/><parent '
                f'link="{"base" if self.parent[i] < 0 else f"l{self.parent[i]}"}"/><child link="l{i}"/><origin '
                f'xyz="{_words(self.place[i])}" rpy="{_words(self.angles[i])}"/></joint>'
            )
        return kc.Model.from_urdf(f'<robot name="tree">{text}</robot>')

    def mass_matrix(self, q: Array, number: Any = float, functions: Any = np) -> Array:
        """M = Σ m Jᵀ J + Jᵀ I J over all bodies, with velocities of their centres and axes in inertial axes."""
        real = np.vectorize(number, otypes=[float if number is float else object])
        turn = [np.array(AXES)] * self.n
        origin, axes, moving = [AXES[0]] * self.n, [AXES[0]] * self.n, [()] * self.n
        total = real(np.zeros((self.n, self.n)))
        for i in range(self.n):
            p, q_i = self.parent[i], number(q[i])
            frame, start = (real(AXES), real(np.zeros(3))) if p < 0 else (turn[p], origin[p])
            origin[i] = start + frame @ real(self.place[i])
            for k in (2, 1, 0):  # rpy: about z, then y, then x
                frame = frame @ _about(k, number(self.angles[i][k]), functions)
            axes[i] = frame[:, self.axis[i]]
            if self.turns[i]:
                frame = frame @ _about(self.axis[i], q_i, functions)
            else:
                origin[i] = origin[i] + axes[i] * q_i
            turn[i], moving[i] = frame, (*(() if p < 0 else moving[p]), i)
            centre, inertia = origin[i] + frame @ real(self.centre[i]), frame @ real(np.diag(self.moments[i])) @ frame.T
            own = list(moving[i])
            rates = [(axes[j], np.cross(axes[j], centre - origin[j])) for j in own if self.turns[j]]
            w, v = real(np.zeros((len(own), 3))), real(np.zeros((len(own), 3)))
            for row, j in enumerate(own):
                w[row], v[row] = rates.pop(0) if self.turns[j] else (0 * axes[j], axes[j])
            total[np.ix_(own, own)] += number(self.mass[i]) * (v @ v.T) + w @ inertia @ w.T
        return total


def _words(vector: Array) -> str:
    return " ".join(map(repr, map(float, vector)))


def _about(axis: int, angle: Any, functions: Any) -> Array:
    """The rotation about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.array(np.eye(3), dtype=type(angle) if isinstance(angle, float) else object)
    matrix[i, i] = matrix[j, j] = functions.cos(angle)
    matrix[j, i] = functions.sin(angle)
    matrix[i, j] = -matrix[j, i]
    return matrix


@pytest.mark.parametrize("seed", part([1, 2], [1]))
def test_random_trees_at_50_digits(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(recursion_choice, "WRITTEN_OUT", 0)
    n = 30 if LONG else 20
    tree = RandomTree(n, seed)
    dyn = kc.compile(tree.model(), cache=False)
    x = np.random.default_rng(seed).uniform(-1, 1, dyn.n_x)
    order = [int(name.removeprefix("q_j")) for name in dyn.coordinate_names]
    q = np.zeros(n)
    q[order] = x[:n]
    with mpmath.workdps(50):
        exact = tree.mass_matrix(q, mpmath.mpf, mpmath)[np.ix_(order, order)]
        expected = exact.astype(float)
        inverse = np.array((mpmath.matrix(exact.tolist()) ** -1).tolist(), dtype=float).reshape(n, n)
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert np.abs((dyn.mass_matrix(0.0, x) - expected) / size).max() < AGREE
    assert dyn.info["operations"]["mass_matrix"] < 220 * n - 400  # as many as there are joints, not pairs
    scaled = size * (dyn.mass_matrix_inverse(0.0, x) - inverse)
    assert np.abs(scaled).max() < AGREE * np.linalg.cond(expected / size) * np.abs(size * inverse).max()


@pytest.mark.parametrize("n", part([12, 20, 70, 300], [12]))
def test_long_chains(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """M, u̇, M⁻¹ of chains, the longer by themselves; states side by side have the bits that they have alone."""
    if n < 63:
        monkeypatch.setattr(recursion_choice, "WRITTEN_OUT", 0)
    tree = RandomTree(n, 3, reach=1)
    dyn = kc.compile(tree.model(), cache=False)
    x = np.random.default_rng(4).uniform(-1, 1, (3, dyn.n_x))
    expected = tree.mass_matrix(x[0, :n])
    M = dyn.mass_matrix(0.0, x[0])
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert np.abs((M - expected) / size).max() < AGREE
    assert np.array_equal(M, M.T)
    assert np.array_equal(dyn.mass_matrix(0.0, x), [dyn.mass_matrix(0.0, each) for each in x])
    inverses = dyn.mass_matrix_inverse(0.0, x)
    assert np.abs(inverses[0] @ M - np.eye(n)).max() < AGREE * np.linalg.cond(M)
    assert np.array_equal(inverses, np.swapaxes(inverses, 1, 2))
    assert np.array_equal(inverses, [dyn.mass_matrix_inverse(0.0, each) for each in x])
    f = dyn.forcing(0.0, x[0])
    assert np.abs(M @ dyn.udot(0.0, x[0]) - f).max() < 1e-9 * np.abs(f).max()
    assert dyn.info["operations"]["mass_matrix"] < 220 * n - 400  # written out are 3541 for n = 12


@pytest.mark.parametrize(
    "name",
    part(
        ["rrp", "anymal_c", "snakeboard", "andrews_squeezer", "rotating_tube"], ["rrp", "snakeboard", "rotating_tube"]
    ),
)
def test_gallery(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Slides, a free root, speeds in another order, constraints, a link that is moved: as M is written out."""
    module, found = import_module(f"kanecore.gallery.{name}"), []
    for most in (0, 10**9):
        monkeypatch.setattr(recursion_choice, "WRITTEN_OUT", most)
        dyn = kc.compile(module.build(), parameters=getattr(module, "PARAMETERS", None), cache=False)
        x = np.random.default_rng(5).uniform(-1, 1, dyn.n_x)
        for quaternion in dyn.unit:
            x[list(quaternion)] /= np.linalg.norm(x[list(quaternion)])
        r = np.random.default_rng(6).uniform(-1, 1, dyn.n_r)
        found.append(dyn.mass_matrix(0.0, x, r=r))
        assert np.abs(dyn.mass_matrix_inverse(0.0, x, r=r) @ found[-1] - np.eye(dyn.n_u)).max() < 1e-10
    size = np.sqrt(np.outer(found[1].diagonal(), found[1].diagonal()))
    assert np.abs((found[0] - found[1]) / size).max() < AGREE


def test_a_link_that_is_moved_between_two_joints(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no rate of its own: its place counts for the joint behind it.  As M is written out, and by hand."""
    (q1, q2), (u1, u2), t = me.dynamicsymbols("q1 q2"), me.dynamicsymbols("u1 u2"), me.dynamicsymbols._t
    N, A, B, C = (me.ReferenceFrame(name) for name in "NABC")
    A.orient_axis(N, N.z, q1)
    B.orient_axis(A, A.z, sm.sin(t))
    C.orient_axis(B, B.z, q2)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    joint = origin.locatenew("P", 2 * A.x).locatenew("Q", 3 * B.x)
    bodies = [me.Particle("bob", joint.locatenew("R", 5 * C.x), 7)]
    found = []
    for most in (0, 10**9):
        monkeypatch.setattr(recursion_choice, "WRITTEN_OUT", most)
        model = kc.Model(N, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2], bodies=bodies)
        assert (model.derivation.composite_rates is None) == (most > 0)
        found.append(kc.compile(model, cache=False).mass_matrix(0.4, [0.5, 0.6, 0, 0]))
    second = 0.5 + np.sin(0.4)
    ends = 2 * np.exp(0.5j) + 3 * np.exp(1j * second) + 5 * np.exp(1j * (second + 0.6)), 5 * np.exp(1j * (second + 0.6))
    expected = [[7 * (a * b.conjugate()).real for a in ends] for b in ends]
    assert np.abs(found[0] - expected).max() < 1e-12
    assert np.abs(found[1] - expected).max() < 1e-12


def test_what_is_written_out_at_most() -> None:
    """Chains of up to 62 joints have an M that is written out, all longer ones loops: the rule counts pairs."""
    written = [RandomTree(n, 7, reach=1).model().derivation.composite_rates is None for n in (62, 63)]
    assert written == [True, False]
