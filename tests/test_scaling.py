# SPDX-License-Identifier: BSD-3-Clause
"""Units mean nothing: lengths, masses and times in other ones give the same results in these.

Every tolerance is relative to what its number is made of.  Each gallery model states the dimensions of its symbols;
those of results follow from q, u and the energy: M_ij u_i u_j and f_i u_i t are energies.  A row of G has a dimension
of its own, which is found from how G changes, and must be one.
"""

import re
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from oracle.lines import accelerations, coordinates, lines
from sweep import constrained, part

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t

ENERGY, TIME, LENGTH = np.array([2, 1, -2]), np.array([0, 0, 1]), np.array([1, 0, 0])
FORCE, TORQUE, NUMBER = np.array([1, 1, -2]), np.array([2, 1, -2]), np.zeros(3, int)
#: Largest difference, beside the largest entry of the same dimension.
SAME = 1e-9
#: Entries that are sums which cancel: what is left of them beside these sums is rounding.
ROUNDING = 1e-13
UNITS = [(axis, factor) for axis in range(3) for factor in (1e9, 1e-9)]
NAMES = [f"{what} by {factor:g}" for what in ("length", "mass", "time") for factor in (1e9, 1e-9)]

#: tree30 holds its table as numbers, 30 bodies of which would be 400 parameters: no other units without another model.
#: Neither are there of robots from files.
GALLERY = [name for name in kc.models() if name not in ("tree30", *kc.gallery.robots())]
#: By default these; the others are long.
SHOWN = ["appell_hamel", "four_bar", "free_body", "rolling_disc", "rotating_tube"]
#: Where the redundancy of rows leaves them undetermined: λ is of least norm in rows as written.
UNDETERMINED = ("bricard",)


class Scaled:
    """A gallery model at one state, with a function from its numbers to those in other units and back."""

    def __init__(self, name: str) -> None:
        self.name, self.dyn = name, kc.load(name)
        module, dyn = import_module(f"kanecore.gallery.{name}"), self.dyn
        dimension = {key: np.array(value) for key, value in module.DIMENSIONS.items()}
        self.p, self.q, self.u, self.r = (
            np.array([dimension[key] for key in names], dtype=int).reshape(-1, 3)
            for names in (dyn.parameter_names, dyn.coordinate_names, dyn.speed_names, dyn.input_names)
        )
        self.x = np.concatenate([self.q, self.u])
        self.values = np.array([module.PARAMETERS.get(key, np.nan) for key in dyn.parameter_names])
        rng = np.random.default_rng(len(name))
        # sizes of the model's own: its longest length, a second
        longest = max(np.abs(self.values[(self.p == LENGTH).all(axis=1)]), default=1.0)
        sizes = np.array([longest if d[0] else 1.0 for d in self.x])
        if name == "rod_gravity":
            sizes = np.array([1.0, 7e6, 1.0, 1e-3, 10.0, 1e-3])
        if hasattr(module, "STATE"):
            start = np.array([module.STATE[key] for key in (*dyn.coordinate_names, *dyn.speed_names)])
            self.guess = start + 0.02 * sizes * rng.uniform(-1.0, 1.0, dyn.n_x)
            self.state = dyn.consistent(0.0, self._unit(self.guess), None)
        else:
            self.state = self._unit(sizes * rng.uniform(0.3, 0.9, dyn.n_x))
            self.guess = self.state
        self.inputs = 0.1 * rng.uniform(-1.0, 1.0, dyn.n_r)
        self.udot = sizes[dyn.n_q :] * rng.uniform(-1.0, 1.0, dyn.n_u)

    def _unit(self, x: Array) -> Array:
        for places in self.dyn.unit:
            x[list(places)] /= np.linalg.norm(x[list(places)])
        return x


@cache
def scaled(name: str) -> Scaled:
    return Scaled(name)


def factors(dimensions: Any, unit: tuple[int, float]) -> Array:
    """By what numbers of these dimensions, (..., 3), are multiplied."""
    axis, factor = unit
    return np.asarray(float(factor) ** np.asarray(dimensions)[..., axis])


def arguments(model: Scaled, unit: tuple[int, float]) -> dict[str, Array]:
    return {
        "x": model.state * factors(model.x, unit),
        "guess": model.guess * factors(model.x, unit),
        "udot": model.udot * factors(model.u - TIME, unit),
        "p": model.values * factors(model.p, unit),
        "r": model.inputs * factors(model.r, unit),
    }


@cache
def rows_of(name: str) -> tuple[Array, Array]:
    """Dimensions of c, (n_constraints, 3), and of φ, (n_configuration, 3), from G and ∂φ/∂q; whole numbers."""
    model = scaled(name)
    found = []
    for kernel, columns in (("constraint_jacobian", model.u), ("configuration_jacobian", model.q)):
        if kernel == "configuration_jacobian" and not model.dyn.n_configuration:
            found.append(np.zeros((0, 3), int))
            continue
        exponents = []
        for axis in range(3):
            unit = (axis, 1e3)
            before, after = (
                getattr(model.dyn, kernel)(0.0, given["x"], r=given["r"], p=given["p"])
                for given in (arguments(model, (0, 1.0)), arguments(model, unit))
            )
            rows = []
            for i in range(len(before)):
                j = int(np.argmax(np.abs(before[i])))
                power = np.log(after[i, j] / before[i, j]) / np.log(1e3) + columns[j, axis]
                assert abs(power - round(power)) < 1e-9, f"{kernel}, row {i}: no dimension"
                rows.append(round(power))
            exponents.append(rows)
        found.append(np.array(exponents, int).T.reshape(-1, 3))
    return found[0], found[1]


def dimensions_of(model: Scaled, kernel: str) -> Array:
    """Of a kernel's result, (..., 3)."""
    q, u, x, r = model.q, model.u, model.x, model.r
    c, phi = (
        rows_of(model.name) if model.dyn.n_constraints or model.dyn.n_configuration else (np.zeros((0, 3), int),) * 2
    )
    bound = np.concatenate([x - TIME])
    return np.asarray(
        {
            "rhs": lambda: bound,
            "udot": lambda: u - TIME,
            "qdot": lambda: q - TIME,
            "mass_matrix": lambda: ENERGY - u[:, np.newaxis] - u,
            "forcing": lambda: ENERGY - TIME - u,
            "generalized_active_forces": lambda: ENERGY - TIME - u,
            "generalized_inertia_forces": lambda: ENERGY - TIME - u,
            "inverse_dynamics": lambda: ENERGY - TIME - u,
            "kinetic_energy": lambda: ENERGY,
            "potential_energy": lambda: ENERGY,
            "power": lambda: ENERGY - TIME,
            "momenta": lambda: ENERGY - u,
            "gibbs": lambda: ENERGY - 2 * TIME,
            "body_momenta": lambda: np.tile([FORCE + TIME] * 3 + [TORQUE + TIME] * 3, (len(model.dyn.bodies), 1, 1)),
            "inertia_forces": lambda: np.tile([FORCE] * 3 + [TORQUE] * 3, (len(model.dyn.bodies), 1, 1)),
            "configuration_residual": lambda: phi,
            "configuration_jacobian": lambda: phi[:, np.newaxis] - q,
            "velocity_residual": lambda: c[: model.dyn.n_velocity],
            "constraint_jacobian": lambda: c[:, np.newaxis] - u,
            "constraint_bias": lambda: c - TIME,
            "multipliers": lambda: ENERGY - TIME - c,
            "reactions": lambda: np.tile([FORCE] * 3 + [TORQUE] * 3, (model.dyn.n_joints, 1, 1)),
            "partial_velocities": lambda: np.tile((LENGTH - TIME - u)[:, np.newaxis], (model.dyn.n_points, 1, 3, 1)),
            "partial_angular_velocities": lambda: np.tile((-TIME - u)[:, np.newaxis], (model.dyn.n_frames, 1, 3, 1)),
            "A": lambda: bound[:, np.newaxis] - x,
            "B": lambda: bound[:, np.newaxis] - r,
        }[kernel]()
    )


def compare(
    found: Any, expected: Any, dimensions: Array, unit: tuple[int, float], what: str, cancelled: float = 0.0
) -> None:
    """Entries of one dimension among themselves, in the units of `expected`, which are sums of terms that large."""
    expected = np.asarray(expected, dtype=np.float64)
    found = np.asarray(found) / factors(dimensions, unit)
    kinds = np.asarray(dimensions).reshape(-1, 3)
    everything = np.max(np.abs(expected), initial=cancelled)
    for kind in np.unique(kinds, axis=0):
        here = (kinds == kind).all(axis=1)
        one, other = found.reshape(-1)[here], expected.reshape(-1)[here]
        size = np.max(np.abs(other), initial=0.0)
        worst = np.max(np.abs(one - other), initial=0.0)
        assert worst <= max(SAME * size, ROUNDING * everything), (what, kind.tolist(), worst, size)


KERNELS = (
    *("rhs", "udot", "qdot", "mass_matrix", "forcing", "generalized_active_forces", "generalized_inertia_forces"),
    *("inverse_dynamics", "kinetic_energy", "potential_energy", "power", "partial_velocities"),
    *("partial_angular_velocities", "configuration_residual", "configuration_jacobian", "velocity_residual"),
    *("constraint_jacobian", "constraint_bias", "multipliers", "reactions"),
    *("momenta", "gibbs", "body_momenta", "inertia_forces"),
)
WITH_UDOT = ("generalized_inertia_forces", "inverse_dynamics", "power", "gibbs", "inertia_forces")


def evaluated(model: Scaled, kernel: str, given: dict[str, Array]) -> Any:
    more = (given["udot"],) if kernel in WITH_UDOT else ()
    place = given["guess"] if kernel.endswith("residual") else given["x"]
    return getattr(model.dyn, kernel)(0.0, place, *more, r=given["r"], p=given["p"])


@pytest.mark.parametrize("unit", UNITS, ids=NAMES)
@pytest.mark.parametrize("name", part(GALLERY, SHOWN))
def test_kernels(name: str, unit: tuple[int, float]) -> None:
    model = scaled(name)
    plain, other = arguments(model, (0, 1.0)), arguments(model, unit)
    for kernel in KERNELS:
        if name in UNDETERMINED and kernel in ("multipliers", "reactions"):
            continue
        if not model.dyn.kernels.has(kernel):
            continue
        try:
            expected = evaluated(model, kernel, plain)
        except kc.ModelError:
            continue  # potential energy, reactions: not defined here
        terms = 0.0
        if kernel in ("forcing", "reactions", "multipliers"):  # weights and centrifugal forces, and their arms
            mass, udot, force, energy = (
                np.abs(evaluated(model, name, plain)) for name in ("mass_matrix", "udot", "forcing", "kinetic_energy")
            )
            forces = [*mass @ udot, *force, energy]
            terms = float(np.max(forces))
        if kernel == "reactions":
            terms *= max(1.0, float(np.max(np.abs(model.state))))
        compare(evaluated(model, kernel, other), expected, dimensions_of(model, kernel), unit, kernel, terms)
    if name in UNDETERMINED:  # off the constraints the rows that are redundant on them disagree, and so do derivatives
        return
    found, expected = (model.dyn.linearize(0.0, g["x"], r=g["r"], p=g["p"]) for g in (other, plain))
    for matrix, a, b in zip("AB", found, expected, strict=True):
        compare(a, b, dimensions_of(model, matrix), unit, matrix)


CONSTRAINED = constrained()


@pytest.mark.parametrize("unit", UNITS, ids=NAMES)
@pytest.mark.parametrize("name", part(CONSTRAINED, ["four_bar", "rolling_disc"]))
def test_states_and_checks(name: str, unit: tuple[int, float]) -> None:
    model = scaled(name)
    plain, other = arguments(model, (0, 1.0)), arguments(model, unit)
    for keep in ("independent", None):
        found, expected = (
            model.dyn.consistent(0.0, g["guess"], **({} if keep else {"keep": None}), r=g["r"], p=g["p"])
            for g in (other, plain)
        )
        compare(found, expected, model.x, unit, f"consistent, {keep}")
    found, expected = (model.dyn.check(g["x"], r=g["r"], p=g["p"]) for g in (other, plain))
    for attribute in ("rank", "typical_rank", "dof", "redundant", "contradictory", "integrable", "undetermined"):
        assert getattr(found, attribute) == getattr(expected, attribute), attribute
    compare(found.x, expected.x, model.x, unit, "check")
    compare(
        model.dyn.consistent(0.0, found.x, None, r=other["r"], p=other["p"]),
        found.x / factors(model.x, unit),
        model.x,
        unit,
        "what is on them stays",
    )


@pytest.mark.filterwarnings("ignore:input .* is the derivative of:kanecore.KanecoreWarning")  # any values are given
@pytest.mark.parametrize("unit", UNITS, ids=NAMES)
@pytest.mark.parametrize("name", part(GALLERY, SHOWN))
def test_runs(name: str, unit: tuple[int, float]) -> None:
    """Both methods, from the state; atol by entry, times, steps and inputs in the same units."""
    model = scaled(name)
    runs: dict[str, list[Array]] = {}
    length = {"andrews_squeezer": 1e-3, "rod_gravity": 10.0}.get(name, 0.02)
    options: list[dict[str, Any]] = [{"method": "rk4", "dt": length / 8}, {"rtol": 1e-10}]
    if model.dyn.n_constraints:
        options.append({"rtol": 1e-10, "project": False})
    for given, now in ((arguments(model, (0, 1.0)), (0, 1.0)), (arguments(model, unit), unit)):
        second = float(factors(TIME, now))
        start = given["x"] if not model.dyn.n_constraints else given["x"].copy()
        for more in options:
            scaled_options = {key: value * second if key == "dt" else value for key, value in more.items()}
            sizes = np.maximum(np.abs(model.state), 1e-3 * np.max(np.abs(model.state)))
            sol = model.dyn.simulate(
                (0.0, length * second),
                start,
                atol=1e-10 * sizes * factors(model.x, now),
                inputs=None if not model.dyn.n_r else given["r"],
                parameters=given["p"],
                t_eval=np.linspace(0.0, length, 3) * second,
                **scaled_options,
            )
            runs.setdefault(str(more), []).append(sol.x)
    for what, (expected, found) in runs.items():
        compare(found, expected, np.tile(model.x, (3, 1, 1)), unit, what)


# ---------------------------------------------------------------------------------------- far away, large and small
@cache
def tether() -> kc.CompiledModel:
    """Two particles in a plane, |r1 − r2|² = L²."""
    x, _ = coordinates(4)
    L = sm.Symbol("L")
    row = (x[0] - x[2]) ** 2 + (x[1] - x[3]) ** 2 - L**2
    return kc.compile(lines(4, configuration_constraints=[row], name="tether"), parameters={L: 100.0})


@pytest.mark.long
@pytest.mark.parametrize("keep", part(["independent", None], ["independent"]))
@pytest.mark.parametrize("off", part([1e-12, 1e-3, 0.1, 2.0], [1e-12, 2.0]))
def test_a_tether_far_from_the_origin(off: float, keep: str | None) -> None:
    """100 m at 4.2e7 m: coordinates are known to 7e-9 m, and 40 of 40 starts succeed."""
    dyn, rng = tether(), np.random.default_rng(0)
    for trial in range(40):
        centre, angle = 4.2e7 * rng.uniform(-1.0, 1.0, 2), rng.uniform(0.0, 2.0 * np.pi)
        end = centre + 100.0 * np.array([np.cos(angle), np.sin(angle)])
        guess = np.concatenate([centre, end, rng.uniform(-10.0, 10.0, 4)])
        guess[:4] += off * rng.uniform(-1.0, 1.0, 4)
        state = dyn.consistent(0.0, guess, **({} if keep else {"keep": None}))
        assert np.hypot(*(state[:2] - state[2:4])) == pytest.approx(100.0, abs=4e-8)
        assert np.max(np.abs(state[:4] - guess[:4])) <= 3.0 * off + 1e-7
        apart, closing = state[:2] - state[2:4], state[4:6] - state[6:]
        assert abs(apart @ closing) <= 1e-9 * 100.0 * 20.0
        assert dyn.check(state).rank == 1
        if trial % 10:
            continue
        sol = dyn.simulate((0.0, 1.0), state, atol=1e-6, max_steps=2000)
        assert np.hypot(*(sol.x[-1, :2] - sol.x[-1, 2:4])) == pytest.approx(100.0, abs=1e-6)


@cache
def circle(written: str) -> kc.CompiledModel:
    """A particle on a circle of radius L, written in three ways."""
    (x, y), _ = coordinates(2)
    L = sm.Symbol("L", positive=True)
    row = {"squares": x**2 + y**2 - L**2, "root": sm.sqrt(x**2 + y**2) - L, "number": (x / L) ** 2 + (y / L) ** 2 - 1}[
        written
    ]
    return kc.compile(lines(2, configuration_constraints=[row], name="circle"), parameters={L: 1.0})


LENGTHS = (1e12, 1e6, 1.0, 1e-6, 1e-12)


@pytest.mark.long
@pytest.mark.parametrize("written", part(["squares", "root", "number"], ["squares", "number"]))
@pytest.mark.parametrize("length", part(LENGTHS, [1e-12]))
def test_circles_of_any_size(length: float, written: str) -> None:
    """What is 17 % off is refused, also by a part in 1e5; rounding is not, and is projected away."""
    dyn, p, rng = circle(written), {"L": length}, np.random.default_rng(1)
    for _ in range(5):
        angle = rng.uniform(0.0, 2.0 * np.pi)
        unit, along = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        state = length * np.concatenate([unit, 0.7 * along])
        for off in (1.17, 0.83, 1.0 + 1e-5, 1.0 - 1e-4, 1.0 + 4e-6):
            with pytest.raises(ValueError, match="configuration constraint 0"):
                dyn.simulate((0.0, 0.1), state * np.array([off, off, 1.0, 1.0]), parameters=p)
        fast = state + length * np.concatenate([np.zeros(2), 1e-3 * unit])
        with pytest.raises(ValueError, match="configuration constraint 0"):
            dyn.simulate((0.0, 0.1), fast, parameters=p)
        atol = 1e-9 * length
        for off in (1.0, 1.0 + 1e-7, 1.0 - 1e-9):
            sol = dyn.simulate((0.0, 0.1), state * np.array([off, off, 1.0, 1.0]), parameters=p, atol=atol)
            assert np.hypot(*sol.x[0, :2]) == pytest.approx(length, rel=1e-12)
            assert np.hypot(*sol.x[-1, :2]) == pytest.approx(length, rel=1e-12)
            moved = length * (unit * np.cos(0.07) + along * np.sin(0.07))
            np.testing.assert_allclose(sol.x[-1, :2], moved, rtol=0, atol=1e-5 * length)
        for guess in (1.3 * state, 0.7 * state, state + 1e-3 * length * rng.uniform(-1.0, 1.0, 4)):
            found = dyn.consistent(0.0, guess, None, p=p)
            assert np.hypot(*found[:2]) == pytest.approx(length, rel=1e-13)
            assert abs(found[:2] @ found[2:]) <= 1e-12 * length**2
        assert (dyn.check(state, p=p).rank, dyn.check(state, p=p).redundant) == (1, ())


@pytest.mark.parametrize("length", LENGTHS)
def test_speeds_of_any_size(length: float) -> None:
    """c = u0 + u1 − s: relative to the terms of the sum, which are the speeds and s."""
    _, u = coordinates(2)
    s = sm.Symbol("s")
    dyn = kc.compile(lines(2, velocity_constraints=[u[0] + u[1] - s]), parameters={s: 1.0})
    p = {"s": length}
    state = length * np.array([0.0, 0.0, 0.3, 0.7])
    near = state + length * np.array([0, 0, 1e-7, 0])
    dyn.simulate((0.0, 1.0), near, parameters=p, atol=1e-8 * length)
    for off in (0.17, 1e-4, -1e-5, 5e-6):
        with pytest.raises(ValueError, match="velocity constraint 0"):
            dyn.simulate((0.0, 1.0), state + length * np.array([0, 0, off, 0]), parameters=p)
    found = dyn.consistent(0.0, 1.3 * state, None, p=p)
    assert np.sum(found[2:]) == pytest.approx(length, rel=1e-14)


@pytest.mark.parametrize("length", [1e-12, 1e-9, 1.0, 1e9, 1e12])
def test_rows_are_counted_in_any_unit_of_length(length: float) -> None:
    """A circle, and a plane that is written with it: two rows, found from numbers of size one."""
    q, _ = coordinates(3)
    L, k = sm.symbols("L k")
    circle = q[0] ** 2 + q[1] ** 2 - L**2
    forces = [0.3 * L, 0, -L]
    dyn = kc.compile(lines(3, forces=forces, configuration_constraints=[circle, k * q[2] + circle / L], name="ring"))
    p = {"L": length, "k": 5e-4}
    assert dyn.kernels.count(p) == 2
    found = dyn.udot(0.0, length * np.array([0.6, 0.8, 0.0, 0.8, -0.6, 0.0]), p=p) / length
    np.testing.assert_allclose(found, [0.3 * 0.64 - 0.6, -0.3 * 0.48 - 0.8, 0.0], atol=1e-11)


# ------------------------------------------------------------------------------------------- rows that nearly agree
@pytest.mark.parametrize("kind", ["acceleration", "velocity", "configuration"])
@pytest.mark.parametrize("scale", part([1.0, 1e9, 1e-9], [1e9]))
@pytest.mark.parametrize("apart", part([1e-3, 1e-6, 1e-9], [1e-3, 1e-9]))
def test_rows_that_differ_by_little_are_two(kind: str, scale: float, apart: float) -> None:
    """u0 + u1 and u0 + (1 + ε) u1, for ε down to 1e-9: both vanish.  With ε = 0 they are one."""
    x, u = coordinates(3)
    e = sm.Symbol("e")
    symbols = {"acceleration": [v.diff(t) for v in u], "velocity": u, "configuration": x}[kind]
    first, second = symbols[0] + symbols[1], scale * (symbols[0] + (1 + e) * symbols[1])
    model = lines(3, forces=[1.0, 3.0, -2.0], **{f"{kind}_constraints": [first, second]})
    dyn = kc.compile(model, parameters={e: apart})
    found = dyn.check(np.zeros(6))
    assert (found.rank, found.redundant, found.contradictory) == (2, (), ())
    # the difference of two rows is known to rounding beside ε
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(6)), [0.0, 0.0, -2.0], rtol=0, atol=1e-14 / apart)
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(6), p={"e": 0.0}), [-1.0, 1.0, -2.0], rtol=0, atol=1e-12)
    assert dyn.check(np.zeros(6), p={"e": 0.0}).rank == 1
    assert dyn.simulate((0.0, 0.1), np.zeros(6)).success


@pytest.mark.parametrize("apart", [1e-6, 1e-9])
def test_rows_that_differ_in_another_speed(apart: float) -> None:
    """u0 − u1 and u0 − u1 + ε u2, with a state in the place of ε as well."""
    x, u = coordinates(3)
    for small, place in ((sm.Float(apart), 0.0), (x[2], apart)):
        model = lines(3, forces=[1.0, 3.0, -2.0], velocity_constraints=[u[0] - u[1], u[0] - u[1] + small * u[2]])
        dyn = kc.compile(model)
        state = np.array([0.0, 0.0, place, 0.5, 0.5, 0.0])
        G, gamma = dyn.constraint_jacobian(0.0, state), dyn.constraint_bias(0.0, state)
        expected = accelerations(dyn.mass_matrix(0.0, state), dyn.forcing(0.0, state), G, gamma)
        np.testing.assert_allclose(expected, [2.0, 2.0, 0.0], atol=1e-9)
        np.testing.assert_allclose(dyn.udot(0.0, state), expected, rtol=0, atol=1e-14 / apart)


# --------------------------------------------------------------------------------------------- what is undetermined
def door(hinges: int = 2, shared: bool = True) -> kc.Model:
    """A door on hinges along n_z, in six coordinates; each hinge holds its point, along n_z too where `shared`."""
    ground, body, origin = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")
    origin.set_vel(ground, 0)
    q, u = me.dynamicsymbols("x y z phi theta psi"), me.dynamicsymbols("u1:7")
    width, height = sm.symbols("w h")
    body.orient_body_fixed(ground, q[3:], "zxy")
    centre = origin.locatenew("C", q[0] * ground.x + q[1] * ground.y + q[2] * ground.z)
    inertia = me.inertia(body, height**2 / 12, (height**2 + width**2) / 12, width**2 / 12)
    leaf = me.RigidBody("door", centre, body, sm.Integer(1), (inertia, centre))
    rows = []
    for i in range(hinges):
        along = height * (sm.Rational(i, max(hinges - 1, 1)) - sm.Rational(1, 2))
        hinge = centre.locatenew(f"H{i}", -width / 2 * body.x + along * body.z)
        seat = origin.locatenew(f"S{i}", along * ground.z)
        axes = list(ground) if shared or i == 0 else [ground.x, ground.y]
        rows += [hinge.pos_from(seat).dot(axis) for axis in axes]
    return kc.Model(
        *(ground, list(q), list(u), [a.diff(t) - b for a, b in zip(q, u, strict=True)]),
        configuration_constraints=rows,
        bodies=[leaf],
        forcelist=[(centre, -9 * ground.z)],
        name="door",
    )


def shut(angle: float = 0.4, rate: float = 0.7, width: float = 0.8) -> Array:
    state = np.zeros(12)
    state[:2] = width / 2 * np.cos(angle), width / 2 * np.sin(angle)
    state[3] = angle
    state[6:8] = width / 2 * rate * np.array([-np.sin(angle), np.cos(angle)])
    state[9] = rate
    return state


@pytest.mark.long
def test_a_door_on_two_hinges() -> None:
    """Its weight is shared along the axis as nobody knows; the forces across it are determined."""
    dyn = kc.compile(door(), parameters={"w": 0.8, "h": 2.0})
    found = dyn.check(shut())
    assert (found.rank, found.dof) == (5, 1)
    assert found.undetermined == ("configuration constraint 2", "configuration constraint 5")
    assert "undetermined" in str(found)
    assert all(name in str(found) for name in found.undetermined)
    # those that are determined do not depend on how the rows are written
    force = dyn.multipliers(0.0, shut())
    assert force[2] + force[5] == pytest.approx(9.0)
    for p in ({"w": 0.8e3, "h": 2.0e3}, {"w": 0.8e-6, "h": 2.0e-6}):
        scale = p["w"] / 0.8
        state = shut() * np.array([scale] * 3 + [1.0] * 3 + [scale] * 3 + [1.0] * 3)
        assert dyn.check(state, p=p).undetermined == found.undetermined
    single = kc.compile(door(shared=False), parameters={"w": 0.8, "h": 2.0}).check(shut())
    assert (single.rank, single.undetermined) == (5, ())
    three = kc.compile(door(3), parameters={"w": 0.8, "h": 2.0}).check(shut())
    assert (three.rank, len(three.undetermined)) == (5, 9)


def test_what_is_undetermined_among_other_rows() -> None:
    """Twice the same row: both; a third that is independent is determined.  None are where all are independent."""
    _, u = coordinates(3)
    for rows, names in (
        ([u[0], u[1], 2 * u[0]], (0, 2)),
        ([u[0] - u[1], u[1] - u[2], u[0] - u[2], u[0]], (0, 1, 2)),
        ([u[0], u[1] + u[0]], ()),
        ([u[0], 1e6 * u[0], u[2]], (0, 1)),
    ):
        found = kc.compile(lines(3, velocity_constraints=rows)).check(np.zeros(6))
        assert found.undetermined == tuple(f"velocity constraint {i}" for i in names)


@pytest.mark.long
def test_the_gallery_tells_what_is_undetermined() -> None:
    for name in ("bricard", "four_bar", "rolling_disc"):
        model = scaled(name)
        found = model.dyn.check(model.state, r=model.inputs)
        assert bool(found.undetermined) == bool(found.redundant) == (name in UNDETERMINED), name


def test_the_report_says_what_numbers_are_needed_for() -> None:
    """Where rows repeat each other by their form, `report()` names them."""
    _, u = coordinates(3)
    text = re.sub(r"\n {6,}", " ", lines(3, velocity_constraints=[u[0], u[1], 2 * u[0]]).report())
    lines_ = [line for line in text.splitlines() if "determined" in line]
    assert any("velocity constraint 0" in line and "velocity constraint 2" in line for line in lines_)
    assert not any("velocity constraint 1" in line for line in lines_)
