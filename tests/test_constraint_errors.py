# SPDX-License-Identifier: BSD-3-Clause
"""Bad constraints, each with its message; states where constraints, or the dependent set that was named, are lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from sweep import every

import kanecore as kc

Array = npt.NDArray[np.float64]
t = me.dynamicsymbols._t
(x, y), (u1, u2) = me.dynamicsymbols("x y"), me.dynamicsymbols("u1:3")
m, g, l = sm.symbols("m g l")  # noqa: E741
CIRCLE = x**2 + y**2 - l**2
#: On the circle of radius one, its velocity along it.
STATE = [0.6, -0.8, 0.4, 0.3]
#: Planar models give their bodies no inertia but about the normal.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")


def bead(q: Sequence[Any] = (x, y), u: Sequence[Any] = (u1, u2), load: Any = 0, **arguments: Any) -> kc.Model:
    """A particle in a plane, its weight and a horizontal load."""
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u1 * N.x + u2 * N.y)
    return kc.Model(
        *(N, list(q), list(u)),
        kd_eqs=[x.diff(t) - u1, y.diff(t) - u2],
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, load * N.x - m * g * N.y)],
        name="bead",
        **arguments,
    )


def compiled(**arguments: Any) -> kc.CompiledModel:
    model = bead(**arguments)
    return kc.compile(model, parameters={symbol: {m: 1.0, g: 9.81, l: 1.0}[symbol] for symbol in model.parameters})


@cache
def pendulum() -> kc.CompiledModel:
    return compiled(q=[x], u=[u1], q_dependent=[y], u_dependent=[u2], configuration_constraints=[CIRCLE])


# ------------------------------------------------------------------------------------- refused when described


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        # on parameters, the time or inputs only
        ({"configuration": [l - 1]}, "configuration constraint 0, l - 1, holds no coordinate: nothing that moves"),
        ({"velocity": [u1 - x, l - 1]}, "velocity constraint 1, l - 1, holds no speed: nothing that moves"),
        ({"acceleration": [l - 1]}, "acceleration constraint 0, l - 1, holds no derivative of a speed"),
        ({"configuration": [t - l]}, "configuration constraint 0, -l \\+ t, holds no coordinate"),
        ({"velocity": [sm.Float(3)]}, "velocity constraint 0, 3.0+, holds no speed"),
        ({"velocity": [me.dynamicsymbols("F") - 1]}, "velocity constraint 0, F\\(t\\) - 1, holds no speed"),
        # of another kind
        ({"configuration": [x * u1]}, "configuration constraint 0, .* holds speeds: it is a velocity constraint"),
        (
            {"configuration": [x.diff(t) - y]},
            "configuration constraint 0, .* holds speeds: it is a velocity constraint",
        ),
        ({"velocity": [CIRCLE]}, "velocity constraint 0, .* holds no speed: it is a configuration constraint"),
        ({"velocity": [u1.diff(t) - y]}, "in velocity constraint 0: the derivative of a speed is what is solved for"),
        ({"configuration": [u1.diff(t) - y]}, "in configuration constraint 0: the derivative of a speed"),
        ({"velocity": [x.diff(t, 2) - y]}, "in velocity constraint 0: write second derivatives.*u1.diff\\(\\)"),
        ({"acceleration": [x.diff(t, 2) - y]}, "in acceleration constraint 0: write second derivatives"),
        ({"acceleration": [u1 - y]}, "acceleration constraint 0, .* it is a velocity constraint"),
        ({"acceleration": [u1.diff(t) ** 2 - 1]}, "acceleration constraint 0, .* is not linear in the derivatives"),
        ({"acceleration": [u1.diff(t) * u2.diff(t)]}, "acceleration constraint 0, .* is not linear"),
        # no expressions
        (
            {"configuration": [sm.Eq(x**2 + y**2, l**2)]},
            "is Eq\\(.*write it as an expression that vanishes, .*x\\(t\\)",
        ),
        ({"velocity": [sm.Eq(u1, 2)]}, "velocity constraint 0 is Eq\\(u1\\(t\\), 2\\): .*vanishes, u1\\(t\\) - 2"),
        ({"velocity": [u1 < 2]}, "StrictLessThan .*velocity constraint 0"),
        ({"velocity": [True]}, "velocity constraint 0"),
        ({"velocity": [None]}, "velocity constraint 0 holds None, which is no SymPy expression"),
        ({"velocity": "u1"}, "velocity constraint 0 holds u1, which is no SymPy expression"),
        ({"velocity": [u1 * me.ReferenceFrame("N").x]}, "velocity constraint 0 holds .*, which is no SymPy expression"),
        ({"velocity": [sm.Matrix([u1 - u2])]}, "velocity constraint 0 holds Matrix.*, which is no SymPy expression"),
        ({"velocity": {u1: 2}}, "velocity_constraints is a dict; it must be a list"),
        ({"velocity": [sm.nan]}, "nan in velocity constraint 0 is not a finite real number"),
        ({"velocity": [sm.I * u1]}, "I in velocity constraint 0 is not a finite real number"),
    ],
)
def test_constraints_that_are_none(constraints: dict[str, Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        bead(**{f"{kind}_constraints": rows for kind, rows in constraints.items()})


@pytest.mark.parametrize("rows", [sm.Matrix([u1 - x, u2 - y]), (u1 - x, u2 - y), [u1 - x.diff(t) + u2, u2]])
def test_matrices_tuples_and_rates_are_fine(rows: Any) -> None:
    assert compiled(velocity_constraints=rows).n_constraints == 2


@pytest.mark.parametrize("load", [u1.diff(t) ** 2, x / u1.diff(t) + u2, sm.sin(u2.diff(t)) * m])
def test_a_load_that_is_not_affine_in_accelerations(load: Any) -> None:
    for constraints in ({}, {"configuration_constraints": [CIRCLE]}):
        with pytest.raises(kc.ModelError, match=r"load 0 on point P is not affine in the derivatives of the speeds"):
            bead(load=load, **constraints)
    with pytest.raises(kc.ModelError, match="in load 0 on point P: write second derivatives"):
        bead(load=x.diff(t, 2), configuration_constraints=[CIRCLE])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"u": [u1, u2], "u_dependent": [u2]}, "u2 is listed twice"),
        ({"q": [x, y], "q_dependent": [y], "configuration_constraints": [CIRCLE]}, "y is listed twice"),
        ({"u_dependent": [y]}, "y is listed both as a coordinate and as a speed"),
        (
            {"q_dependent": [u2], "configuration_constraints": [CIRCLE]},
            "u2 is listed both as a coordinate and as a speed",
        ),
        ({"u_dependent": [l]}, "holds l, which is no function of time"),
        ({"u_auxiliary": [u1]}, "u1 is listed in u_auxiliary and among the coordinates or speeds"),
        ({"configuration_constraints": [CIRCLE], "attach": {0: None}}, r"attach=\{0: ...\} is None: give \(child"),
    ],
)
def test_lists_that_contradict_each_other(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kc.ModelError, match=message):
        bead(**({"velocity_constraints": [u1 - u2]} | arguments))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"u": [u1], "u_dependent": [u2]}, "u_dependent"),
        ({"q": [x], "q_dependent": [y]}, "q_dependent"),
        ({"u": [], "u_dependent": [u1, u2], "velocity_constraints": [u1 - x]}, "u_dependent"),
    ],
)
def test_more_dependent_ones_than_constraints(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises(kc.ModelError, match=name):
        bead(**arguments)


# -------------------------------------------------------------------------------- found with numbers: check


TOO_MANY = {"velocity_constraints": [u1 - x, u2 - y, u1 + u2 - 3 * x * y]}
CONTRADICTORY: dict[str, dict[str, Any]] = {
    "two places": {"configuration_constraints": [x - l, x - 2 * l]},
    "two speeds": {"velocity_constraints": [u1 - 1, u1 - 2]},
    "place and speed": {"configuration_constraints": [CIRCLE], "velocity_constraints": [x * u1 + y * u2 - 1]},
    "three places": {"configuration_constraints": [x - l, y - l, x + y - 3 * l]},
    "no real root": {"configuration_constraints": [x**2 + y**2 + l**2]},
    "parameters in disguise": {"configuration_constraints": [sm.sin(x) ** 2 + sm.cos(x) ** 2 - 2 * l]},
}


@pytest.mark.parametrize("name", every(2, CONTRADICTORY))
def test_contradictory_constraints(name: str) -> None:
    """No state satisfies them; every entrance says so, and the numbers that are left, by name."""
    dyn = compiled(**CONTRADICTORY[name])
    calls: list[Callable[[], Any]] = [
        dyn.check,
        lambda: dyn.check(STATE),
        lambda: dyn.consistent(0.0, STATE),
        lambda: dyn.consistent(0.0, STATE, None),
    ]
    for call in calls:
        with pytest.raises(kc.ModelError, match=r"no state of 'bead' near t = 0.*constraint \d' \(.*contradict"):
            call()
    with pytest.raises(
        ValueError, match=r"x0 does not satisfy the constraints of 'bead' at t = 0.0: '.* constraint \d'"
    ):
        dyn.simulate((0.0, 1.0), STATE)


def test_too_many_constraints() -> None:
    """Three on two speeds, which hold together at few places alone."""
    dyn = compiled(**TOO_MANY)
    with pytest.raises(kc.ModelError, match=r"no state .*'velocity constraint 2' \("):
        dyn.check(STATE)
    assert np.isfinite(dyn.udot(0.0, STATE)).all()  # as far off as it is, its residuals explain what the rows leave
    with pytest.raises(ValueError, match=r"'velocity constraint 2' \(2.14\)"):
        dyn.simulate((0.0, 1.0), STATE)


def test_as_many_constraints_as_speeds_are_not_too_many() -> None:
    """u = (x, y): nothing is left to forces."""
    dyn = compiled(velocity_constraints=[u1 - x, u2 - y])
    assert dyn.check([1.0, 2.0, 1.0, 2.0]).dof == 0
    sol = dyn.simulate((0.0, 1.0), [1.0, 2.0, 1.0, 2.0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sol.x[-1], np.e * np.array([1.0, 2.0, 1.0, 2.0]), rtol=1e-9)


def test_more_rows_than_speeds_that_agree() -> None:
    dyn = compiled(configuration_constraints=[x - l, y - l, x + y - 2 * l])
    found = dyn.check([1.0, 1.0, 0.0, 0.0])
    assert (found.n_constraints, found.rank, found.dof) == (3, 2, 0)
    assert found.redundant == ("configuration constraint 2",)
    np.testing.assert_allclose(dyn.udot(0.0, [1.0, 1.0, 0.0, 0.0]), 0.0, atol=1e-15)


def test_contradiction_by_values_of_parameters() -> None:
    """What agrees with some values contradicts with others; a bar that reaches no longer."""
    dyn = compiled(configuration_constraints=[CIRCLE, x - sm.Rational(1, 2)])
    assert dyn.consistent(0.0, [0.6, -0.8, 0.0, 0.0], None)[1] == pytest.approx(-np.sqrt(0.75))
    with pytest.raises(kc.ModelError, match="with these parameters"):
        dyn.consistent(0.0, [0.6, -0.8, 0.0, 0.0], None, p={"l": 0.3})


# ------------------------------------------------------------------------------------------------- states


def test_start_off_the_constraints() -> None:
    """What is off, by how much in the units of x, and what to write."""
    with pytest.raises(ValueError, match=r"'configuration constraint 0' \(0\.09.*dyn.consistent\(0.0, x0\)"):
        pendulum().simulate((0.0, 1.0), [0.6, -0.9, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"'rate of configuration constraint 0' \(0\.75\)"):
        pendulum().simulate((0.0, 1.0), [0.6, -0.8, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"x0 .*not finite"):
        pendulum().simulate((0.0, 1.0), [np.nan, -0.8, 1.0, 0.0])


def test_hopeless_guesses() -> None:
    """At the centre no direction leads to the circle."""
    centre, message = [0.0, 0.0, 1.0, 0.0], r"'configuration constraint 0' \(-1\).*coefficients .* vanish there"
    with pytest.raises(kc.ModelError, match=rf"no state .*x = \[0.0, 0.0, 1.0, 0.0\].*{message}"):
        pendulum().consistent(0, centre, None)
    found = pendulum().consistent(0, centre)  # y = ±1 keeps x = 0
    np.testing.assert_allclose(np.abs(found), [0.0, 1.0, 1.0, 0.0], atol=1e-12)


def test_what_is_kept_does_not_move() -> None:
    """No y lies on the circle of radius one at x = 3."""
    with pytest.raises(kc.ModelError, match=r"no y .* for x = 3: what is left: .*keep=None"):
        pendulum().consistent(0, [3.0, -0.2, 1.0, 0.0])
    assert pendulum().consistent(0, [3.0, -0.2, 1.0, 0.0], None)[0] < 1.0


def test_a_massless_motion_is_no_contradiction() -> None:
    found = pendulum().consistent(0, [0.1, -1.5, 0.0, 0.0], None, p={"m": 0.0})
    assert np.hypot(*found[:2]) == pytest.approx(1.0, rel=1e-12)
    assert pendulum().check([0.1, -1.5, 0.0, 0.0], p={"m": 0.0}).mass_condition == np.inf
    with pytest.raises(kc.SingularError, match="mass matrix"):
        pendulum().udot(0.0, found, p={"m": 0.0})


def test_far_guesses_arrive() -> None:
    found = pendulum().consistent(0, [1e6, 1e6, 1.0, 0.0], None)
    np.testing.assert_allclose(found, [np.sqrt(0.5), np.sqrt(0.5), 0.5, -0.5], atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_states_that_are_not_finite(bad: float) -> None:
    state = [bad, -0.8, 0.4, 0.3]
    calls: list[Callable[[], Any]] = [
        lambda: pendulum().consistent(0.0, state),
        lambda: pendulum().consistent(0.0, state, None),
        lambda: pendulum().check(state),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="not finite"):
            call()


@pytest.mark.parametrize(
    ("state", "error"),
    [([0.6, -0.8], ValueError), ([STATE, STATE], ValueError), (["a", 0, 0, 0], TypeError), ([1j, 0, 0, 0], TypeError)],
)
def test_states_that_are_none(state: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        pendulum().consistent(0.0, state)


def test_options_that_are_none() -> None:
    with pytest.raises(ValueError, match="keep is 'all'"):
        pendulum().consistent(0.0, STATE, "all")
    with pytest.raises(ValueError, match=r"baumgarte is \(1,\)"):
        pendulum().simulate((0.0, 1.0), STATE, baumgarte=(1,))
    with pytest.raises(ValueError, match="finite and not negative"):
        pendulum().simulate((0.0, 1.0), STATE, baumgarte=(1.0, np.nan))


def test_dependent_speeds_that_do_not_fit_the_rank() -> None:
    """Too few: two independent rows, one named.  None: the same.  u̇ needs none of them."""
    for names in ([], [u2]):
        independent = [u for u in (u1, u2) if u not in names]
        dyn = compiled(u=independent, u_dependent=names, velocity_constraints=[u1 - x, u2 - y])
        state = [1.0, 2.0, 1.0, 2.0]
        np.testing.assert_allclose(dyn.udot(0.0, state), [1.0, 2.0], rtol=1e-14)
        with pytest.raises(kc.ModelError, match=rf"2 of the 2 constraint rows.*names {len(names)} in u_dependent"):
            dyn.generalized_active_forces(0.0, state, nonholonomic=True)
    # too many for the rank: the second row is redundant
    dyn = compiled(u=[], u_dependent=[u1, u2], velocity_constraints=[u1 - u2, 2 * u1 - 2 * u2])
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(4)), [-9.81 / 2, -9.81 / 2], rtol=1e-14)
    with pytest.raises(kc.ModelError, match=r"1 of the 2 constraint rows.*names 2 in u_dependent"):
        dyn.partial_velocities(0.0, np.zeros(4), nonholonomic=True)


def test_where_a_constraint_is_not_defined() -> None:
    dyn = compiled(velocity_constraints=[u1 - u2 / x])
    with pytest.raises(kc.NonFiniteError, match=r"t = 0\.0, x = "):
        dyn.udot(0.0, [0.0, 1.0, 1.0, 1.0])
    with pytest.raises(kc.NonFiniteError):
        dyn.check([0.0, 1.0, 1.0, 1.0])


def test_prescribed_motions_in_constraints_must_be_given() -> None:
    dyn = compiled(configuration_constraints=[x - me.dynamicsymbols("drive")])
    assert dyn.input_names == ("drive", "drive_d", "drive_dd")
    for call in (lambda: dyn.udot(0.0, STATE), lambda: dyn.check(STATE), lambda: dyn.simulate((0.0, 1.0), STATE)):
        with pytest.raises(ValueError, match=r"'drive'.*never set"):
            call()
    rough = kc.Signal([0.0, 1.0], [1.0, 2.0], kind="zoh")
    with pytest.raises(ValueError, match="too rough"):
        dyn.simulate((0.0, 1.0), [1.0, 0.0, 0.0, 0.0], inputs=rough)


def test_reactions_of_rows_that_nobody_attached() -> None:
    with pytest.raises(kc.ModelError, match=r"configuration constraint 0 acts.*attach=\{0:"):
        pendulum().reactions(0.0, STATE)


# --------------------------------------------------------------------------- singular states and dead points


def gallery(name: str, q: Sequence[int], u: Sequence[int], dependent: tuple[int, int]) -> kc.CompiledModel:
    """A gallery model with its coordinates and speeds in another order, the last ``dependent`` of them dependent."""
    module = import_module(f"kanecore.gallery.{name}")

    def reordered(frame: Any, q_ind: Any, u_ind: Any, kd_eqs: Any, **more: Any) -> kc.Model:
        all_q = [*q_ind, *more.pop("q_dependent", [])]
        all_u = [*u_ind, *more.pop("u_dependent", [])]
        all_q, all_u = [all_q[i] for i in q], [all_u[i] for i in u]
        n_q, n_u = len(q) - dependent[0], len(u) - dependent[1]
        more = {key: value for key, value in more.items() if key != "guess"}
        return kc.Model(
            *(frame, all_q[:n_q], all_u[:n_u], kd_eqs), q_dependent=all_q[n_q:], u_dependent=all_u[n_u:], **more
        )

    with mock.patch.object(module, "Model", reordered):
        model = module.build()
    return kc.compile(model, parameters=module.PARAMETERS)


@cache
def rhombus() -> kc.CompiledModel:
    """The gallery's four-bar linkage with bars as long as the ground."""
    dyn = gallery("four_bar", (0, 1, 2), (0, 1, 2), (2, 2))
    dyn.parameters.update({"L1": 1.0, "L2": 1.0, "L3": 1.0, "d": 1.0, "g": 0.0})
    return dyn


def open_rhombus(angle: float, rate: float) -> Array:
    """Crank and rocker are parallel, the coupler is parallel to the ground."""
    return np.array([angle, 0.0, angle, rate, 0.0, rate])


def test_a_linkage_folded_flat_is_singular() -> None:
    """Two branches meet there: one of two rows is lost, which has no remedy; the error has time and names."""
    dyn, flat = rhombus(), open_rhombus(0.0, 1.0)
    found = dyn.check(flat)
    assert (found.rank, found.typical_rank) == (1, 2)
    assert "singular: the rank is 2 at states nearby" in str(found)
    for kernel in (dyn.udot, dyn.rhs, dyn.multipliers, dyn.linearize):
        with pytest.raises(
            kc.SingularError, match=r"'configuration constraint [01]' of 'four_bar'.*t = 0.25"
        ) as caught:
            kernel(0.25, flat)
        assert caught.value.t == 0.25
        assert caught.value.x.tolist() == flat.tolist()
    batch = np.array([open_rhombus(0.9, 0.5), flat, open_rhombus(-0.7, 0.2)])
    with pytest.raises(kc.SingularError) as caught:
        dyn.udot(0.0, batch)
    assert caught.value.rows.tolist() == [1]
    assert np.isnan(caught.value.out[1]).all()
    assert np.isfinite(caught.value.out[[0, 2]]).all()
    with pytest.raises(kc.SingularError, match="configuration constraint") as caught:
        dyn.simulate((0.25, 1.0), flat)
    assert caught.value.t == 0.25


def test_a_linkage_next_to_flat_is_not() -> None:
    """Parallel cranks turn on uniformly without weight: q̈ = 0 at every angle but 0 and π."""
    dyn = rhombus()
    for angle in (1e-3, 0.3, np.pi / 2, 3.0):
        np.testing.assert_allclose(dyn.udot(0.0, open_rhombus(angle, 2.0)), 0.0, atol=1e-9)
    sol = dyn.simulate((0.0, 1.0), open_rhombus(0.2, 2.5), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(sol.x[-1], open_rhombus(2.7, 2.5), atol=1e-7)


def pivoted_set(G: Array) -> tuple[int, ...]:
    """The columns that elimination with full pivots takes, in rows of equal size."""
    left, found = G / np.max(np.abs(G), axis=1)[:, np.newaxis], []
    while len(left):
        i, j = np.unravel_index(np.argmax(np.abs(left)), left.shape)
        found.append(int(j))
        left = np.delete(left - np.outer(left[:, j] / left[i, j], left[i]), i, axis=0)
    return tuple(sorted(found))


def frozen(dyn: kc.CompiledModel, columns: Sequence[int]) -> Callable[[float, Array], Array]:
    """ẋ in [q, u_ind], as elimination once for all has it: u_dep = A u_ind, (1 Aᵀ) M (1; A) u̇_ind = (1 Aᵀ)(f − M p).

    For constraints that are linear and homogeneous in u; Kane & Levinson 1985, section 2.13.
    """
    n = dyn.n_u
    dependent = list(columns)
    independent = [i for i in range(n) if i not in dependent]

    def rates(time: float, z: Array) -> Array:
        state = np.concatenate([z[: dyn.n_q], np.zeros(n)])
        G = dyn.constraint_jacobian(time, state)
        project = np.zeros((n, len(independent)))
        project[independent] = np.eye(len(independent))
        project[dependent] = -np.linalg.solve(G[:, dependent], G[:, independent])
        state[dyn.n_q :] = project @ z[dyn.n_q :]
        drift = np.zeros(n)
        drift[dependent] = -np.linalg.solve(G[:, dependent], dyn.constraint_bias(time, state))
        M, f = dyn.mass_matrix(time, state), dyn.forcing(time, state)
        udot = np.linalg.solve(project.T @ M @ project, project.T @ (f - M @ drift))
        return np.concatenate([dyn.qdot(time, state), udot])

    return rates


def fails(dyn: kc.CompiledModel, columns: Sequence[int], times: Array, expected: Array) -> bool:
    """Whether a run with a frozen set, RK4 over evenly spaced times, stops or leaves the motion by 1e-3."""
    kept = [*range(dyn.n_q), *(dyn.n_q + i for i in range(dyn.n_u) if i not in columns)]
    f, z, h = frozen(dyn, columns), expected[0][kept], times[1] - times[0]
    for time, q in zip(times, expected[1:, : dyn.n_q], strict=False):
        try:
            k1 = f(time, z)
            k2 = f(time + h / 2, z + h / 2 * k1)
            k3 = f(time + h / 2, z + h / 2 * k2)
            z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(time + h, z + h * k3))
        except (np.linalg.LinAlgError, kc.KanecoreError):
            return True
        if not np.max(np.abs(z[: dyn.n_q] - q)) < 1e-3:
            return True
    return False


def changes(dyn: kc.CompiledModel, times: Array, states: Array) -> int:
    """How often the pivoted set changes."""
    sets = [pivoted_set(G) for G in dyn.constraint_jacobian(times, states)]
    return sum(a != b for a, b in pairwise(sets))


def test_four_bar_through_dead_points_of_its_dependent_set() -> None:
    """The coupler turns round, crank and rocker turn back: with one of these independent its speed is lost there.

    Grashof: the coupler is the shortest bar, and 0.6 + 1.2 < 1.0 + 1.1.
    """
    dyn = gallery("four_bar", (2, 0, 1), (2, 0, 1), (2, 2))  # rocker; crank and coupler depend on it
    dyn.parameters.update({"L1": 1.0, "L2": 0.6, "L3": 1.1, "d": 1.2})
    x0 = dyn.consistent(0.0, [2.0, 0.9, 0.3, 4.0, 0.0, 0.0])
    times = np.linspace(0.0, 3.0, 1201)
    sol = dyn.simulate((0.0, 3.0), x0, rtol=1e-11, atol=1e-12, t_eval=times)
    rocker, crank, coupler = sol.x.T[:3]
    assert np.ptp(coupler) > 4 * np.pi, "the coupler must turn round"
    assert np.sum(np.diff(np.sign(sol.x[:, 3])) != 0) >= 2, "the rocker must turn back"
    assert max(np.ptp(rocker), np.ptp(crank)) < np.pi
    assert sol.constraint_drift < 1e-10
    assert sol.energy_drift < 1e-9
    assert changes(dyn, times, sol.x) >= 2

    # the same equations in the coupler's rate run as well: it is the set that fails, not the method
    assert not fails(dyn, (0, 1), times, sol.x)
    assert fails(dyn, (1, 2), times, sol.x)
    assert fails(dyn, (0, 2), times, sol.x)


def wheel() -> kc.CompiledModel:
    """An upright wheel that rolls and steers; its spin and v2 are called dependent, impossible where cos θ = 0."""
    place, (theta, phi) = me.dynamicsymbols("px py"), me.dynamicsymbols("theta phi")
    v1, v2, turn, spin = me.dynamicsymbols("v1 v2 turn spin")
    mass, radius, thin, thick = sm.symbols("m R I J")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    A, W = me.ReferenceFrame("A"), me.ReferenceFrame("W")
    A.orient_axis(N, N.z, theta)
    A.set_ang_vel(N, turn * N.z)
    W.orient_axis(A, A.y, phi)
    W.set_ang_vel(A, spin * A.y)
    centre = O.locatenew("C", place[0] * N.x + place[1] * N.y + radius * N.z)
    centre.set_vel(N, v1 * N.x + v2 * N.y)
    rim = v1 * N.x + v2 * N.y + W.ang_vel_in(N).cross(-radius * N.z)
    body = me.RigidBody("wheel", centre, W, mass, (me.inertia(A, thin, thick, thin), centre))
    model = kc.Model(
        *(N, [*place, theta, phi], [v1, turn]),
        kd_eqs=[q.diff(t) - u for q, u in zip([*place, theta, phi], [v1, v2, turn, spin], strict=True)],
        u_dependent=[v2, spin],
        velocity_constraints=[rim.dot(A.x), rim.dot(A.y)],
        bodies=[body],
        name="wheel",
    )
    return kc.compile(model, parameters={"m": 2.0, "R": 1.5, "I": 0.9, "J": 1.6})


def test_wheel_through_360_degrees() -> None:
    """Without forces it rolls round a circle at constant speed (Bloch, Nonholonomic Mechanics and Control, 1.4)."""
    dyn, speed, turn, radius = wheel(), 1.5, 2.0, 1.5
    times = np.linspace(0.0, 4.5, 451)  # 516 degrees
    theta = turn * times
    expected = np.stack(
        [
            *(speed / turn * np.sin(theta), speed / turn * (1 - np.cos(theta)), theta, speed / radius * times),
            *(
                speed * np.cos(theta),
                np.full_like(theta, turn),
                speed * np.sin(theta),
                np.full_like(theta, speed / radius),
            ),
        ],
        axis=-1,
    )
    for method, options in (("dop853", {"rtol": 1e-11, "atol": 1e-12}), ("rk4", {"dt": 1e-2})):
        sol = dyn.simulate((0.0, times[-1]), expected[0], method=method, t_eval=times, **options)
        np.testing.assert_allclose(sol.x, expected, rtol=0, atol=1e-8)
        assert sol.constraint_drift < 1e-10
        assert sol.energy_drift < 1e-10
    assert changes(dyn, times, expected) >= 2
    assert not fails(dyn, (0, 2), times, expected)  # v1 and v2, from the spin
    assert fails(dyn, (2, 3), times, expected)
    # Kane's quantities in the set that was named are lost a quarter of the way round, and say so
    aside = expected[0].copy()
    aside[[2, 4, 6]] = np.pi / 2, 0.0, speed
    with pytest.raises(kc.SingularError, match=r"dependent speeds v2, spin of 'wheel'.*dead point"):
        dyn.generalized_active_forces(0.0, aside, nonholonomic=True)
    np.testing.assert_allclose(dyn.udot(0.0, aside), [-speed * turn, 0.0, 0.0, 0.0], atol=1e-12)


# ------------------------------------------------------------------------------- rows that are lost, or too many


def space(**arguments: Any) -> kc.CompiledModel:
    """A particle of mass one in space, pushed along x and pulled down."""
    (x, y, z), u = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y + z * N.z)
    P.set_vel(N, sum((v * e for v, e in zip(u, N, strict=True)), me.Vector(0)))
    kd_eqs = [q.diff(t) - v for q, v in zip((x, y, z), u, strict=True)]
    bodies, loads = [me.Particle("P", P, sm.Integer(1))], [(P, N.x - sm.Rational(981, 100) * N.z)]
    return kc.compile(kc.Model(N, [x, y, z], u, kd_eqs, bodies=bodies, forcelist=loads, **arguments))


def test_the_count_of_rows_follows_the_parameters() -> None:
    """u1 = u2 and u1 = u2 + e u3: one row at e = 0, two elsewhere, in whatever order they are asked for."""
    (u1, u2, u3), e = me.dynamicsymbols("u1:4"), sm.Symbol("e")
    x = np.zeros(6)
    one, two = [0.5, 0.5, -9.81], [0.5, 0.5, 0.0]
    for order in ((0.0, 1.0, 0.0), (1.0, 0.0, 1.0)):
        dyn = space(velocity_constraints=[u1 - u2, u1 - u2 + e * u3])
        for value in order:
            np.testing.assert_allclose(dyn.udot(0.0, x, p=[value]), two if value else one, atol=1e-14)
            assert dyn.simulate((0.0, 1.0), x, parameters={e: value}).x[-1, 5] == pytest.approx(0 if value else -9.81)
        np.testing.assert_allclose(dyn.udot(0.0, [x, x], p=[[0.0], [1.0]]), [one, two], atol=1e-14)
        dyn.parameters[e] = 0.0
        assert dyn.check(x).rank == 1
        dyn.parameters[e] = 1.0
        np.testing.assert_allclose(dyn.udot(0.0, x), two, atol=1e-14)


@pytest.mark.parametrize("speed", [0.0, 100.0])
def test_accelerations_that_contradict_each_other(speed: float) -> None:
    """At any speed, in check and at the start of a run; kernels bear what stages of an integrator are off."""
    u1 = me.dynamicsymbols("u1")
    filed: list[dict[str, Any]] = [
        {"acceleration_constraints": [u1.diff(t) - 1, u1.diff(t) - sm.Rational(3, 2)]},
        {"velocity_constraints": [u1], "acceleration_constraints": [u1.diff(t) - 1]},
    ]
    for constraints in filed:
        dyn, state = space(**constraints), [0.0, 0.0, 0.0, 0.0, speed, speed]
        found = dyn.check(state)
        assert "acceleration constraint 0" in found.contradictory
        assert "contradictory: no accelerations satisfy" in str(found)
        with pytest.raises(kc.ModelError, match=r"'acceleration constraint 0'.*contradict each other at t = 0.0"):
            dyn.simulate((0.0, 1.0), state)


@pytest.mark.parametrize("row", every(2, [y**2, x**2 + y**2, 1 - sm.cos(y), (x - y) ** 3], first=1))
def test_squares_are_no_constraints(row: Any) -> None:
    """They hold where they say nothing of velocities; a row that is redundant follows from the others."""
    dyn = space(configuration_constraints=[row])
    for call in (dyn.udot, dyn.rhs, dyn.multipliers):
        with pytest.raises((kc.ModelError, kc.SingularError), match="configuration constraint 0"):
            call(0.0, np.zeros(6))
    with pytest.raises(kc.ModelError, match=r"'configuration constraint 0'.*(square|contradict)"):
        dyn.check(np.zeros(6))


def test_the_end_of_what_constraints_allow() -> None:
    """cos x = 0.3 + t: at t = 0.7, x = 0 the row is lost."""
    dyn = space(configuration_constraints=[sm.cos(x) - sm.Rational(3, 10) - t])
    x0 = dyn.consistent(0.0, [1.2, 0.0, 0.0, 0.0, 0.0, 0.0], None)
    for options in ({}, {"project": False}, {"method": "rk4", "dt": 1e-3}):
        with pytest.raises(kc.SingularError, match=r"t = 0.[67]") as caught:
            dyn.simulate((0.0, 2.0), x0, **options)  # type: ignore[arg-type]
        assert "configuration constraint 0" in str(caught.value)
        assert 0.69 < caught.value.t <= 0.7001
        assert caught.value.trajectory.t[-1] == caught.value.t


def test_a_row_that_is_lost_but_for_rounding() -> None:
    """A slider-crank with equal arms, the slider over the pivot: cos(π/2) is 6e-17 in floating point."""
    dyn = gallery("slider_crank", (0, 1), (0, 1), (1, 1))
    dyn.parameters.update({"L1": 1.0, "L2": 1.0})
    folded = np.array([np.pi / 2, -np.pi / 2, 0.3, 0.3])
    assert np.max(np.abs(dyn.constraint_jacobian(0.0, folded))) < 1e-15
    for kernel in (dyn.udot, dyn.multipliers, dyn.linearize):
        with pytest.raises(kc.SingularError, match="'configuration constraint 0'"):
            kernel(0.0, folded)
    found = dyn.check(folded)
    assert (found.rank, found.typical_rank, found.dof) == (0, 1, 2)
    nearby = np.array([1.5, -1.5, 0.3, -0.3])
    assert np.isfinite(dyn.udot(0.0, nearby)).all()


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_integrability_does_not_depend_on_units(scale: float) -> None:
    """The rate of cos(kx) cos(ky)/k + 2x + z is one, r is small; u_x = r y u_z never."""
    (x, y, z), (u1, u2, u3) = me.dynamicsymbols("x y z"), me.dynamicsymbols("u1:4")
    k = sm.Float(scale)
    exact = (sm.cos(k * x) * sm.cos(k * y) / k + 2 * x + z).diff(t)
    exact = exact.subs({x.diff(t): u1, y.diff(t): u2, z.diff(t): u3})
    assert space(velocity_constraints=[exact]).check().integrable
    assert space(velocity_constraints=[u1 - 1e-4 * y * u3 / k]).check().integrable is False


def test_structure_that_leads_nowhere() -> None:
    third = me.dynamicsymbols("u1").diff(t, 2)
    away = me.dynamicsymbols("away")
    for arguments, message in (
        ({"acceleration_constraints": [third - 1]}, r"acceleration constraint 0.*once differentiated"),
        (
            {"u_auxiliary": [away], "acceleration_constraints": [u1.diff(t) + away.diff(t)]},
            "an auxiliary speed is zero, and so is its derivative",
        ),
        ({"configuration_constraints": [CIRCLE], "attach": {3: None}}, r"attach=\{3: ...\}.*0 alone"),
        ({"configuration_constraints": [CIRCLE], "attach": {-1: None}}, r"attach=\{-1: ...\}"),
        ({"guess": {x: "here"}}, "guess of x.*is no number"),
        ({"guess": {x: 1, "x": 2}}, "holds x.* twice"),
        ({"velocity_constraints": {u1 - u2}}, "is a set, which has no order"),
        ({"u": [u2], "u_dependent": [u1], "velocity_constraints": [u2 - y]}, "u1 in u_dependent occurs in no"),
        ({"q_dependent": [x], "configuration_constraints": [CIRCLE]}, r"x is listed twice in q_ind \+ q_dependent"),
    ):
        with pytest.raises(kc.ModelError, match=message):
            bead(**arguments)  # type: ignore[arg-type]


def test_repeated_acceleration_rows_are_rows() -> None:
    """As those on speeds are: 2 u̇ − 2 after u̇ − 1 is redundant, and keeps its number."""
    rate = me.dynamicsymbols("u1").diff(t)
    dyn = space(acceleration_constraints=[rate - 1, 2 * rate - 2])
    assert dyn.n_constraints == 2
    np.testing.assert_allclose(dyn.udot(0.0, np.zeros(6)), [1.0, 0.0, -9.81], atol=1e-15)
    assert dyn.check(np.zeros(6)).redundant == ("acceleration constraint 1",)


def test_names_of_constraints() -> None:
    """A dict of constraints names them, in every message and table; SymPy's newer spellings of the arguments."""
    rows = {"no slip": u1 - x, "edge": u2 - u1}
    model = bead(nonholonomic_constraints=rows)
    assert model.n_constraints == 2
    assert [row.name for row in model._derivation.constraints.rows] == list(rows)
    assert "  edge" in model.report().splitlines()
    dyn = compiled(velocity_constraints=rows)
    assert dyn.constraint_names == tuple(rows)
    assert compiled(holonomic_constraints={"wire": x - y}).configuration_names == ("wire",)
    with pytest.raises(kc.ModelError, match=r"edge, u1.*, holds speeds"):
        bead(configuration_constraints={"edge": u1})
    with pytest.raises(kc.ModelError, match="two constraints are named 'wire'"):
        bead(holonomic_constraints={"wire": x - y}, velocity_constraints={"wire": u1 - u2})
    for spellings in (
        {"configuration_constraints": [x - y], "holonomic_constraints": [x - y]},
        {"velocity_constraints": [u1], "nonholonomic_constraints": []},
    ):
        with pytest.raises(TypeError, match="are two names of one argument"):
            bead(**spellings)
