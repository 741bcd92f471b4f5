# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts, ranks and counts are the same whatever unit each coordinate, speed, row, input and body has of its own.

Every bound is relative to what is added up in the same row or column.  In models of the gallery each coordinate, speed
and input stands times a parameter, and each row of constraints is multiplied by one; a second mechanism that has
nothing to do with the first has masses and forces of any size.  These parameters are powers of two, of which products
are exact.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, rates
from numpy.testing import assert_allclose
from sweep import part

import kanecore as kc

t = me.dynamicsymbols._t

#: Models from tables, transforms and files have no symbols to multiply, the potential of rod_gravity is found by its
#: form, bricard is singular at its state, and rotating_tube and rocking_block have inputs without values.
LEFT_OUT = ("tree30", "chain40", "five_bar_bodies", "rrp_redundant", "stewart_platform", *kc.gallery.robots())
LEFT_OUT += ("rod_gravity", "bricard", "rotating_tube", "rocking_block")
GALLERY = [name for name in kc.models() if name not in LEFT_OUT]
#: By default these; the others are long.
SHOWN = ["cart_pole"]
#: It rolls steadily at any speed, and which one is nearest depends on the units.
ROLLING = ("whipple_bicycle",)
SPAN = 16  # powers of two in either direction


class Units:
    """Factors of the names of a model, each its own power of two; of unit quaternions one."""

    def __init__(self, seed: int | None) -> None:
        self._rng = None if seed is None else np.random.default_rng(seed)
        self.factors: dict[str, float] = {}

    def of(self, name: str) -> float:
        if name not in self.factors:
            free = self._rng is not None and not re.fullmatch(r"e\d", name)
            self.factors[name] = 2.0 ** int(self._rng.integers(-SPAN, SPAN + 1)) if free else 1.0
        return self.factors[name]

    def symbols(self, original: Any) -> Any:
        """In place of `dynamicsymbols`: each name times its factor."""

        def made(*arguments: Any, **options: Any) -> Any:
            found = original(*arguments, **options)
            of = [sm.Rational(self.of(bare(x).func.__name__)) * x for x in np.atleast_1d(found).tolist()]
            return of if isinstance(found, (list, tuple)) else of[0]

        made._t = t  # type: ignore[attr-defined]
        return made

    def rows(self, given: Any, kind: str) -> Any:
        """Rows of constraints, each times its factor."""
        if isinstance(given, dict):
            return {key: sm.Rational(self.of(f"{kind} {i}")) * row for i, (key, row) in enumerate(given.items())}
        return [sm.Rational(self.of(f"{kind} {i}")) * row for i, row in enumerate(given)]


def bare(given: Any) -> Any:
    """Names without their factors."""
    if isinstance(given, (list, tuple)):
        return [bare(x) for x in given]
    if isinstance(given, dict):
        return {bare(key): value for key, value in given.items()}
    return next(iter(given.atoms(sm.core.function.AppliedUndef)))


@cache
def described(name: str, seed: int | None) -> tuple[kc.CompiledModel, Units]:
    """A gallery model in such units; in its own with None."""
    module, model = import_module(f"kanecore.gallery.{name}"), import_module("kanecore.model")
    original, units = model.Model, Units(seed)

    def scaled(frame: Any, q: Any, u: Any, *rest: Any, **options: Any) -> Any:
        for key in ("q_dependent", "u_dependent", "inputs"):
            if key in options:
                options[key] = bare(options[key])
        for key in ("configuration_constraints", "velocity_constraints"):
            if options.get(key) is not None:
                options[key] = units.rows(options[key], key)
        return original(frame, bare(q), bare(u), *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(me, "dynamicsymbols", units.symbols(me.dynamicsymbols))
        patch.setattr(model, "Model", scaled)
        made = module.build()
    values = {symbol: module.PARAMETERS[symbol.name] for symbol in made.parameters if symbol.name in module.PARAMETERS}
    return kc.compile(made, parameters=values, cc="none"), units


def verdicts(name: str, seed: int | None) -> dict[str, Any]:
    """What functions of a model say at one state, in the model's own units."""
    dyn, units = described(name, seed)
    of_x, of_u, of_r = (
        np.array([units.of(k) for k in names])
        for names in ([*dyn.coordinate_names, *dyn.speed_names], dyn.speed_names, dyn.input_names)
    )
    module, rng = import_module(f"kanecore.gallery.{name}"), np.random.default_rng(1)
    start = np.array([getattr(module, "STATE", {}).get(k, 0.3 + 0.01 * i) for i, k in enumerate(dyn.names.x)])
    for places in dyn.unit:
        start[list(places)] /= np.linalg.norm(start[list(places)])
    r, found = 0.1 * rng.uniform(-1.0, 1.0, dyn.n_r), dict[str, Any]()
    x = dyn.consistent(0.0, start / of_x, None, r=r / of_r)
    found["consistent"] = x * of_x

    def take(what: str, call: Callable[[], Any]) -> None:
        try:
            found[what] = call()
        except (kc.ModelError, kc.SingularError) as error:
            found[what] = type(error).__name__

    if dyn.n_constraints:
        check = dyn.check(x, r=r / of_r)
        for key in ("rank", "typical_rank", "dof", "redundant", "contradictory", "integrable", "undetermined"):
            found[key] = getattr(check, key)
    take("conserved", lambda: str(dyn.conserved(r=r / of_r)))
    if name not in ROLLING:
        take("balanced", lambda: dyn.equilibrium(x).x * of_x)
    system = dyn.linear_system(0.0, x, r=r / of_r)
    found["states"] = system.state_names, system.dependent_names
    found["eigenvalues"] = np.abs(system.eigenvalues)
    found["modes"] = len(system.modes()), len(system.uncontrollable), len(system.unobservable)
    udot = dyn.udot(0.0, x, r=r / of_r)
    found["udot"] = udot * of_u
    take("free multipliers", lambda: dyn.solve_inverse(0.0, x, udot=udot, r=r / of_r).undetermined)
    if dyn.kernels.has("regressor") and not dyn.n_constraints:
        some, rates = rng.uniform(-1.0, 1.0, (40, dyn.n_x)), rng.uniform(-1.0, 1.0, (40, dyn.n_u))
        fit = dyn.identify(some / of_x, rates / of_u, np.tile(r / of_r, (40, 1)))
        found["base parameters"] = fit.rank, fit.independent
    return found


def same(found: Any, expected: Any) -> bool:
    """Equal, and numbers to six digits of the largest: repeated eigenvalues have no more."""
    if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray):
        return bool(np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.max(np.abs(expected), initial=1e-6)))
    return bool(found == expected)


@pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning")
@pytest.mark.parametrize("seed", part([1, 2, 3], [1]))
@pytest.mark.parametrize("name", part(GALLERY, SHOWN))
def test_units_of_each_name(name: str, seed: int) -> None:
    plain, scaled = verdicts(name, None), verdicts(name, seed)
    assert {key for key in plain if not same(scaled[key], plain[key])} == set()


# ------------------------------------------------------------------------------- beside another mechanism of any size
@cache
def two_mechanisms() -> kc.CompiledModel:
    """A bead at q1 under the force f + a F, and one of mass h at q2 on a spring h k (q2 − L), pushed by H."""
    (q1, q2, u1, u2, F, H), (f, a, h, k, L) = me.dynamicsymbols("q1 q2 u1 u2 F H"), sm.symbols("f a h k L")
    N, O = ground()  # noqa: E741
    A, B = O.locatenew("A", q1 * N.x), O.locatenew("B", q2 * N.y)
    loads = [(A, (f + a * F) * N.x), (B, (H - h * k * (q2 - L)) * N.y)]
    bodies = [me.Particle("A", A, 1), me.Particle("B", B, h)]
    model = kc.Model(N, [q1, q2], [u1, u2], rates([q1, q2], [u1, u2]), bodies=bodies, forcelist=loads)
    return kc.compile(model, parameters={f: 0.0, a: 1.0, h: 1.0, k: 1.0, L: 0.7}, cc="none")


@pytest.mark.parametrize("length", [0.7, 1e6])
@pytest.mark.parametrize("stiffness", [1e-12, 1e3, 1e12, 1e18])
@pytest.mark.parametrize("mass", [1e-12, 1e12])
def test_what_accelerates_is_no_equilibrium(mass: float, stiffness: float, length: float) -> None:
    dyn, p = two_mechanisms(), {"h": mass, "k": stiffness, "L": length}
    for force in (1e-10, 1e-3, 0.5):
        with pytest.raises(kc.ModelError, match=rf"not balanced: d/dt u1 = {force:.4g}, "):
            dyn.equilibrium([0.0, 0.1, 0.0, 0.0], p=p | {"f": force})
        found = dyn.equilibrium([0.0, 0.1, 0.0, 0.0], inputs=["F"], p=p | {"f": force})
        assert found.inputs["F"] == pytest.approx(-force, rel=1e-12)
        assert found.state["q2"] == pytest.approx(length, rel=1e-12)


@pytest.mark.parametrize("share", [1e-14, 1e-30, 1e20])
def test_an_input_of_any_size_has_an_effect(share: float) -> None:
    dyn = two_mechanisms()
    for p in ({"a": share}, {"a": share, "k": 1e12, "h": 1e-12}):
        assert dyn.linear_system(0.0, [0.0, 0.7, 0.0, 0.0], p=p).uncontrollable == ()
    assert len(dyn.linear_system(0.0, [0.0, 0.7, 0.0, 0.0], p={"a": 0.0}).uncontrollable) == 2


def test_slow_modes_beside_fast_ones() -> None:
    """And those of a free body are zero twice, not the roots of rounding."""
    system = two_mechanisms().linear_system(0.0, [0.0, 0.7, 0.0, 0.0], p={"k": 1e-20})
    assert_allclose(np.sort(np.abs(system.eigenvalues)), [0.0, 0.0, 1e-10, 1e-10], rtol=1e-12)
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    N, O = ground()  # noqa: E741
    points = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    loads = []
    for i, stiffness in enumerate((3.3, 4.7)):
        pull = (stiffness * (q[i + 1] - q[i]) + 0.3 * (u[i + 1] - u[i])) * N.x
        loads += [(points[i], pull), (points[i + 1], -pull)]
    bodies = [me.Particle(f"b{i}", P, m) for i, (P, m) in enumerate(zip(points, (0.1, 0.3, 0.7), strict=True))]
    train = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads), cc="none")
    system = train.linear_system(0.0, np.zeros(6))
    assert [mode.eigenvalue for mode in system.modes()][:2] == [0.0, 0.0]
    assert max(system.eigenvalues.real) == 0.0


@pytest.mark.parametrize("size", [2.0**50, 2.0**-60])
def test_inverse_dynamics_beside_another_mechanism(size: float) -> None:
    """A double pendulum keeps all its digits beside two beads, coupled by their masses, of any size."""
    q, u, h = me.dynamicsymbols("q1:5"), me.dynamicsymbols("u1:5"), sm.Symbol("h")
    N, O = ground()  # noqa: E741
    frames, points = [N], [O]
    for i, length in enumerate((0.7, 1.3)):
        frames.append(me.ReferenceFrame(f"A{i}"))
        frames[-1].orient_axis(frames[-2], N.z, q[i])
        points.append(points[-1].locatenew(f"P{i}", length * frames[-1].x))
    beads = [O.locatenew("R", (q[2] + q[3] / 3) * N.x + q[3] * N.y), O.locatenew("S", q[2] * N.x)]
    bodies = [
        me.Particle(f"b{i}", P, m) for i, (P, m) in enumerate(zip(points[1:] + beads, (1.1, 0.7, h, h), strict=True))
    ]
    loads = [(points[1], 10.8 * N.x), (points[2], 6.9 * N.x), (beads[0], 9.8 * h * N.y)]
    dyn = kc.compile(kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads), cc="none", parameters={h: 1.0})
    plain, other = (
        dyn.solve_inverse(
            0.0,
            [0.3, 0.5, 1.1, 2.2, 0.1, 0.7, 0.4, 0.9],
            udot={"u1": 1 / 3, "u3": 0.7},
            tau={"u2": 0.1, "u4": 0.0},
            p=p,
        )
        for p in ({"h": 1.0}, {"h": size})
    )
    assert_allclose([*other.udot[:2], *other.tau[:2]], [*plain.udot[:2], *plain.tau[:2]], rtol=1e-15)


@pytest.mark.parametrize("sizes", [(1e5, 1e-8), (1e-12, 1e12)])
def test_no_body_is_lost_beside_another(sizes: tuple[float, float]) -> None:
    q, u, T = (me.dynamicsymbols(f"{name}1:3") for name in "quT")
    N, O = ground()  # noqa: E741
    moments, bodies, loads = sm.symbols("I1 I2"), [], []
    for i in range(2):
        frame = me.ReferenceFrame(f"A{i}")
        frame.orient_axis(N, N.z, q[i])
        bodies.append(me.RigidBody(f"b{i}", O, frame, 1, (me.inertia(frame, 0, 0, moments[i]), O)))
        loads.append((frame, T[i] * N.z))
    model = kc.Model(N, q, u, rates(q, u), bodies=bodies, forcelist=loads)
    dyn = kc.compile(model, parameters=dict(zip(moments, sizes, strict=True)), cc="none")
    udot = np.random.default_rng(0).normal(size=(50, 2))
    fit = dyn.identify(np.zeros((50, 4)), udot, udot * 1.3 * sizes)
    assert_allclose(fit.base, 1.3 * np.array(sizes), rtol=1e-12)
    assert_allclose([fit.parameters["I1"], fit.parameters["I2"]], 1.3 * np.array(sizes), rtol=1e-9)


# ---------------------------------------------------------------------------------------- units of all of a model
@pytest.mark.parametrize(("length", "time"), [(2.0**24, 1.0), (2.0**-24, 1.0), (1.0, 2.0**20), (1.0, 2.0**-20)])
def test_directions_of_constant_momentum(length: float, time: float) -> None:
    """A free body under a constant force keeps its momentum across that, in all units of length and time."""
    dyn = kc.load("free_body")
    of = {"g": length * time**-2, "F_x": length * time**-2, "F_y": length * time**-2}
    of |= dict.fromkeys([name for name in dyn.parameters if name[0] == "I"], length**2)
    p = {name: value * of.get(name, 1.0) for name, value in dict(dyn.parameters).items()}
    r = np.array([1.0 * of["F_x"], 0.5 * of["F_y"], 0.0, 0.0, 0.0, 0.0])
    found = dyn.conserved(r=r, p=p).linear_momentum
    assert len(found) == 2
    assert_allclose(np.array(found) @ [1.0, 0.5, -6.0 * 9.81], 0.0, atol=1e-9)


@pytest.mark.parametrize(("mass", "length", "time"), [(2.0**-10, 2.0**-10, 2.0**10), (2.0**60, 2.0**-40, 2.0**30)])
@pytest.mark.parametrize("law", ["transition", "bristles"])
def test_joint_friction(law: str, mass: float, length: float, time: float) -> None:
    """The angular acceleration of a pendulum on a pin, turning and with bent bristles, in the same digits."""
    found = []
    for kg, m, s in ((1.0, 1.0, 1.0), (mass, length, time)):
        q, u = me.dynamicsymbols("q u")
        N, O = ground()  # noqa: E741
        A, options = me.ReferenceFrame("A"), {"mu": 0.25, "pin_radius": 0.03125 * m}
        A.orient_axis(N, N.z, q)
        C = O.locatenew("C", 0.375 * m * A.x)
        body = me.RigidBody("rod", C, A, 2.0 * kg, (me.inertia(A, 0, 0, 0.125 * kg * m**2), C))
        if law == "transition":
            options["transition_velocity"] = 0.0625 * m / s
        else:
            options |= {"bristle_stiffness": 1024.0 / m, "bristle_damping": 64.0 * s / m}
        loads = [(C, 19.75 * kg * m / s**2 * N.x), kc.JointFriction("hinge", **options)]
        joints = {"hinge": (N, body, O)}
        model = kc.Model(N, [q], [u], rates([q], [u]), bodies=[body], forcelist=loads, joints=joints)
        state = [0.75, 1.25 / s] + ([1e-4 * m] if law == "bristles" else [])
        found.append(kc.compile(model, cc="none").rhs(0.0, state)[1:] * np.array([s**2, *[s / m] * (len(state) - 2)]))
    assert_allclose(found[1], found[0], rtol=1e-15)
