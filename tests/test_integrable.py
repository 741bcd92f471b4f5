# SPDX-License-Identifier: BSD-3-Clause
"""`check().integrable` says what follows from constraints on coordinates.

Rows Y(q, t) u + y(q, t) = 0 are integrable where they are combinations of d/dt of some φ(q, t) = 0.  Time is a
variable, at whatever time it is asked, and inputs are unknown functions of it.
"""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground
from oracle.lines import coordinates, lines
from sweep import part

import kanecore as kc

t = me.dynamicsymbols._t
(x, y, z), (u, v, w) = coordinates(3)
a, b = sm.symbols("a b")
drive, turn = me.dynamicsymbols("drive turn")
drive_d, turn_d = drive.diff(t), turn.diff(t)
TIMES = (0.0, 0.3, -1.7, 40.0)
NUMBERS = {"a": 1.3, "b": 0.4}


def rate(phi: sm.Expr) -> sm.Expr:
    """d/dt of φ(q, t, inputs), in speeds."""
    return sm.expand(phi.diff(t).subs({x.diff(t): u, y.diff(t): v, z.diff(t): w}))


def compiled(rows: list[Any], **arguments: Any) -> kc.CompiledModel:
    model = lines(3, velocity_constraints=rows, **arguments)
    return kc.compile(model, parameters={s: NUMBERS[s.name] for s in model.parameters})


def answers(dyn: kc.CompiledModel) -> list[bool | None]:
    """At all times, with inputs at rest and moving, from random states."""
    found = []
    rng = np.random.default_rng(0)
    for time in TIMES:
        for r in (np.zeros(dyn.n_r), rng.uniform(-1.0, 1.0, dyn.n_r))[: 2 if dyn.n_r else 1]:
            found.append(dyn.check(rng.uniform(-1.0, 1.0, dyn.n_x), time, r=r).integrable)
    return found


NEVER: dict[str, list[Any]] = {
    "u = y t": [u - y * t],
    "u = y sin² t": [u - y * sm.sin(t) ** 2],
    "u = y t⁴": [u - y * t**4],
    "u = y, plus t³": [u - y - t**3],
    "knife edge that turns as t²/2": [u * sm.sin(t**2 / 2) - v * sm.cos(t**2 / 2)],
    "knife edge that turns as t": [u * sm.sin(t) - v * sm.cos(t)],
    "knife edge that turns as t³": [u * sm.sin(a * t**3) - v * sm.cos(a * t**3)],
    "knife edge that turns as prescribed": [u * sm.sin(turn) - v * sm.cos(turn)],
    "blade on a moving table": [(u - drive_d) * sm.sin(z) - v * sm.cos(z)],
    "belt as fast as it likes across": [u - y * drive],
    "rate of a motion, times y": [u - y * drive_d],
    "an input that tilts": [u + drive * v],
    "two rows": [u - y * t, w - 1],
    "two rows, one that helps": [u - y * t, w - y],
    "two rows with a motion": [u - sm.sin(turn) * w, v - sm.cos(turn) * w],
    "dz = y dx": [w - y * u],
    "small": [u - 1e-3 * y * t],
    "slow": [u - y * sm.sin(1e-3 * t)],
}


@pytest.mark.parametrize(
    "name", part(NEVER, ["u = y t⁴", "knife edge that turns as prescribed", "an input that tilts", "two rows"])
)
def test_time_is_a_variable(name: str) -> None:
    assert set(answers(compiled(NEVER[name]))) == {False}


ALWAYS: dict[str, list[Any]] = {
    "u = t": [u - t],
    "u = sin² t": [u - sm.sin(t) ** 2],
    "u = x t": [u - x * t],
    "sphere that grows": [rate(x**2 + y**2 + z**2 - (a + b * t) ** 2)],
    "sphere that grows, scaled": [(2 + sm.sin(x * t)) * rate(x**2 + y**2 + z**2 - (a + b * t) ** 2)],
    "wave": [rate(y - a * sm.sin(x - b * t))],
    "wall that turns": [rate(x * sm.sin(b * t**2) - y * sm.cos(b * t**2))],
    "rail that turns as prescribed": [rate(x * sm.sin(turn) - y * sm.cos(turn))],
    "moved end": [rate((x - drive) ** 2 + y**2 - a**2)],
    "moved end, divided": [rate((x - drive) ** 2 + y**2 - a**2) / (1 + drive**2 + x**2)],
    "two motions": [rate((x - drive) * sm.cos(turn) + (y - b) * sm.sin(turn))],
    "prescribed speed": [u - drive],
    "prescribed speed, by itself": [u - drive_d],
    "two rows, together": [u - y * t, v - 1],
    "dz = y dx, together with dy = 0": [w - y * u, v],
    "two that decide x and y": [u - y * drive, v - x * drive],
    "three that decide all": [u - y * t, v - z * t, w - sm.sin(x * t)],
    "without time": [rate(x * y * z)],
    "one of two follows": [rate(x - sm.sin(turn)), rate(y * (x - sm.sin(turn)) + z)],
}


@pytest.mark.parametrize(
    "name", part(ALWAYS, ["sphere that grows, scaled", "moved end", "dz = y dx, together with dy = 0"])
)
def test_rates_of_places_are_integrable(name: str) -> None:
    """Also multiplied by what does not vanish, and as combinations of each other."""
    assert set(answers(compiled(ALWAYS[name]))) == {True}


def test_configuration_constraints_among_them() -> None:
    """dz − y dx is integrable on a circle, and not where the circle grows."""
    state = np.array([0.8, 0.6, 0.1, 0.2, 0.3, 0.4])
    for radius, expected in ((a, True), (a + b * t, False), (a + t**2, False), (drive, False)):
        circle = [x**2 + y**2 - radius**2]
        dyn = kc.compile(lines(3, velocity_constraints=[w - y * u], configuration_constraints=circle))
        given = {name: NUMBERS[name] for name in dyn.parameter_names}
        r = {"drive": 1.1, "drive_d": 0.3, "drive_dd": 0.0} if dyn.n_r else None
        assert [dyn.check(state, time, p=given, r=r).integrable for time in (0.0, 0.5)] == [expected] * 2
    dyn = kc.compile(lines(3, velocity_constraints=[v - z * u], configuration_constraints=[x - drive]))
    assert dyn.check(state, 0.0, r={"drive": 0.8, "drive_d": 0.0, "drive_dd": 0.0}).integrable is False


def test_speeds_that_are_no_rates_of_coordinates() -> None:
    """Body-fixed speeds of a blade whose heading is prescribed: v_y = 0 along a heading that moves."""
    for heading, expected in ((a, True), (t, False), (t**2 / 2, False), (turn, False)):
        N, origin = ground()
        B = N.orientnew("B", "Axis", [heading, N.z])
        place = origin.locatenew("P", x * N.x + y * N.y)
        place.set_vel(N, u * B.x + v * B.y)
        kd_eqs = [x.diff(t) - place.vel(N).dot(N.x), y.diff(t) - place.vel(N).dot(N.y)]
        bodies = [me.Particle("P", place, sm.Integer(1))]
        model = kc.Model(N, [x, y], [u, v], kd_eqs, velocity_constraints=[v], bodies=bodies)
        dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 0.7))
        for time in (0.0, 1.0):
            assert dyn.check([0.3, 0.2, 0.5, 0.0], time, r=np.zeros(dyn.n_r)).integrable is expected, heading


@pytest.mark.parametrize("k", [1.0, 100.0])
def test_integrability_does_not_depend_on_units(k: float) -> None:
    """The rate of cos(kx) cos(ky)/k + 2x + z is one, u_x = r y u_z with a small r is none."""
    exact = rate(sm.cos(k * x) * sm.cos(k * y) / k + 2 * x + z)
    assert compiled([exact]).check().integrable is True
    assert compiled([u - 1e-4 * y * w / k]).check().integrable is False


#: As they are in the literature; None: not linear in the speeds.
GALLERY = {
    "andrews_squeezer": True,
    "appell_hamel": None,
    "ball_turntable": False,
    "bricard": True,
    "car": False,
    "chaplygin_sleigh": False,
    "constant_speed_particle": None,
    "five_bar": True,
    "four_bar": True,
    "knife_edge": False,
    "rolling_disc": False,
    "slider_crank": True,
    "snakeboard": False,
    "stewart": True,
    "whipple_bicycle": False,
}


@pytest.mark.parametrize("name", part(GALLERY, ["appell_hamel", "car", "four_bar", "rolling_disc"]))
def test_the_gallery(name: str) -> None:
    dyn, start = kc.load(name), list(import_module(f"kanecore.gallery.{name}").STATE.values())
    for time in (0.0, 2.5):
        assert dyn.check(start, time).integrable is GALLERY[name]
    words = {True: "holonomic", False: "nonholonomic", None: ""}[GALLERY[name]]
    assert words in str(dyn.check(start))
