# SPDX-License-Identifier: BSD-3-Clause
"""The order of bodies, loads and points does not matter."""

import random
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import every, part
from truth.models import truth_system

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.gallery import MODELS, robots
from kanecore.graph.random_samples import samples

pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")
LONG = {"chain40", "tree30"}
OF_LINKS = {"five_bar_bodies", "rrp_redundant", "stewart_platform"}  # from_transforms: links have an order
TRUTH = [
    "kane85_8_8",
    "kane85_9_11",
    "iftomm_a05_flyball",
    "robot_2R",
    "kane85_rolling_disk",
    "unicycle",
    "lmd_snakeboard",
]


def numbers(model: kc.Model) -> dict[str, float]:
    """M, f and q̇ at a random state that depends on names alone."""
    derivation = Derivation(duplicate(model.description))
    roots = [i for kernel in ("mass_matrix", "forcing", "qdot") for i in derivation.kernel(kernel).roots]
    [state] = samples(derivation.graph, roots, 1)
    return {str(i): state(node) for i, node in enumerate(roots)}


def arguments(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[Any, ...], dict[str, Any]]:
    kept: list[Any] = []
    module = import_module(f"kanecore.gallery.{name}")
    with monkeypatch.context() as patch:
        patch.setattr("kanecore.model.Model", lambda *args, **options: kept.append((args, options)))
        module.build()
    result: tuple[tuple[Any, ...], dict[str, Any]] = kept[0]
    return result


def check(args: tuple[Any, ...], options: dict[str, Any], tries: int = 2) -> None:
    model = kc.Model(*args, **options)
    expected = numbers(model)
    draw = random.Random(3)
    for _ in range(tries):
        shuffled = dict(options)
        for key in ("bodies", "forcelist", "points", "frames"):
            if options.get(key):
                shuffled[key] = draw.sample(list(options[key]), len(options[key]))
        other = kc.Model(*args, **shuffled)
        assert other.parameters == model.parameters
        found = numbers(other)
        scale = max(map(abs, expected.values()), default=1.0)
        np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-10, atol=1e-12 * scale)


@pytest.mark.parametrize("name", part(sorted(set(MODELS) - LONG - OF_LINKS - set(robots())), ["four_bar", "gyroscope"]))
def test_gallery(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(*arguments(name, monkeypatch), tries=1)


@pytest.mark.parametrize("name", every(3, TRUTH))
def test_truth(name: str) -> None:
    s = truth_system(name)
    options = {"kd_eqs": s["kdes"], "bodies": s["bodies"], "forcelist": s["loads"], "inputs": s.get("inputs")}
    check((s["frame"], s["q"], s["u"]), options)


def wheel_on_the_ground(contact_at_rest: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """As symbrim has it: the ground a rigid body whose inertia stands about a point that is nowhere."""
    q, u, x, v, m, r = *me.dynamicsymbols("q u x v"), *sm.symbols("m r")
    ground, wheel = me.RigidBody("ground"), me.RigidBody("wheel", mass=m)
    ground.masscenter = origin = me.Point("origin")
    N, W = ground.frame, wheel.frame
    origin.set_vel(N, 0)
    W.orient_axis(N, N.z, q)
    W.set_ang_vel(N, u * N.z)
    contact = origin.locatenew("contact", x * N.x)
    wheel.masscenter.set_pos(contact, r * N.y)
    if contact_at_rest:
        contact.set_vel(N, 0)
        wheel.masscenter.set_vel(N, me.cross(u * N.z, r * N.y))
        speeds, extra = [u], {}
    else:
        speeds, extra = [u, v], {"velocity_constraints": [v + r * u]}
    kdes = [q.diff() - u, x.diff() - (-r * u if contact_at_rest else v)]
    gravity = sm.Symbol("g")
    loads = [(body.masscenter, -body.mass * gravity * N.y) for body in (ground, wheel)]
    return (N, [q, x], speeds, kdes), {"bodies": [ground, wheel], "forcelist": loads, **extra}


@pytest.mark.parametrize("contact_at_rest", [False, True])
def test_the_ground_is_left_out_wherever_it_stands(contact_at_rest: bool) -> None:
    args, options = wheel_on_the_ground(contact_at_rest)
    check(args, options, tries=4)
    model = kc.Model(*args, **{**options, "bodies": options["bodies"][::-1]})
    assert not any("ground" in str(s) for s in model.parameters)
    assert "ground_mass" in map(str, model.left_out)
    assert [b.name for b in model.description.bodies] == ["wheel"]
    assert kc.compile(model, parameters={"ground_mass": 5.0}).parameters["ground_mass"] == 5.0
