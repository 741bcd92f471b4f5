# SPDX-License-Identifier: BSD-3-Clause
"""``linear_system`` and ``state_error``: against differences along the constraints, closed forms, published values."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import loaded, some_state
from mechanisms import ground, mass_point, moving_point
from sweep import part

import kanecore as kc
from kanecore.gallery import MODELS

Array = npt.NDArray[np.float64]
WEIGHTS = (5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260)  # of central differences of order 10, Fornberg 1988
BENCHMARK = json.loads((Path(__file__).parent / "truth" / "cases" / "whipple_linear_benchmark.json").read_text())
t = me.dynamicsymbols._t

CONSTRAINED = ["four_bar", "rolling_disc", "whipple_bicycle", "five_bar", "car", "appell_hamel"]
FREE = ["cart_pole", "free_body", "quadrotor", "spherical_pendulum", "rotating_tube"]


def some_inputs(dyn: kc.CompiledModel) -> Array:
    return np.linspace(1.0, -0.6, dyn.n_r)


def product(a: Array, b: Array) -> Array:
    """Of two quaternions, cosine first (Hamilton)."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def turned(q: Array, angles: Array) -> Array:
    """The quaternion q ⊗ (1, δθ/2), normalised."""
    result = product(q, np.array([1.0, *angles / 2]))
    return result / np.linalg.norm(result)


class Motion:
    """Errors and their rates beside one state of a model, as the definition has them."""

    def __init__(self, dyn: kc.CompiledModel, x: Array, r: Array, names: tuple[str, ...]) -> None:
        self.dyn, self.x, self.r = dyn, x, r
        places = [*dyn.coordinate_names, *dyn.speed_names]
        self.kept = [places.index(name) if name in places else -1 for name in names]
        self.quaternions = [list(places) for places in dyn.unit]

    def at(self, z: Array) -> Array:
        """The state with these errors; dependent ones follow."""
        x = self.x.copy()
        angles = [i for i, place in enumerate(self.kept) if place < 0]
        for i, place in enumerate(self.kept):
            if place >= 0:
                x[place] += z[i]
        for k, places in enumerate(self.quaternions):
            x[places] = turned(self.x[places], z[angles[3 * k : 3 * k + 3]])
        return self.dyn.consistent(0.3, x, r=self.r) if self.dyn.n_constraints else x

    def rates(self, x: Array, r: Array) -> Array:
        """Of the errors of the state x, beside the reference that moves on."""
        here, mean = self.dyn.rhs(0.3, x, r=r), self.dyn.rhs(0.3, self.x, r=self.r)
        conjugate = np.array([1.0, -1.0, -1.0, -1.0])
        turning = [
            2 * (product(conjugate * mean[q], x[q]) + product(conjugate * self.x[q], here[q]))[1:]
            for q in self.quaternions
        ]
        angles = iter(np.concatenate([[], *turning]))
        return np.array([(here - mean)[place] if place >= 0 else next(angles) for place in self.kept])


def slopes(f: Callable[[Array], Array], n: int, h: float) -> Array:
    columns = []
    for e in h * np.eye(n):
        columns.append(sum(w * (f(k * e) - f(-k * e)) for k, w in enumerate(WEIGHTS, 1)) / h)
    return np.array(columns).T if n else np.zeros((len(f(np.zeros(0))), 0))


@pytest.mark.parametrize("name", part([*CONSTRAINED, *FREE], ["four_bar", "free_body", "rotating_tube"]))
def test_against_differences(name: str) -> None:
    """A, B, C, D of models in motion, whose references turn and go on."""
    dyn, r = loaded(name), some_inputs(loaded(name))
    x = some_state(name, r)
    system = dyn.linear_system(0.3, x, r)
    n = len(system.state_names)
    rank = np.linalg.matrix_rank(dyn.constraint_jacobian(0.3, x, r=r)) if dyn.n_constraints else 0
    assert n == dyn.n_x - len(dyn.unit) - rank - dyn.n_configuration
    motion = Motion(dyn, x, r, system.state_names)
    for found, along, m in (
        (system.A, lambda z: motion.rates(motion.at(z), r), n),
        (system.B, lambda d: motion.rates(x, r + d), dyn.n_r),
        (system.C, lambda z: dyn.outputs(0.3, motion.at(z), r=r), n),
        (system.D, lambda d: dyn.outputs(0.3, x, r=r + d), dyn.n_r),
    ):
        fine, coarse = (slopes(along, m, h) for h in (1e-3, 3e-3))
        assert found.shape == fine.shape
        size = np.maximum(1.0, np.max(np.abs(fine), axis=1, initial=0.0))[:, np.newaxis]
        assert np.max(np.abs(fine - coarse) / size, initial=0.0) < 1e-7, "the differences are not good enough"
        assert np.max(np.abs(found - fine) / size, initial=0.0) < 1e-7


@pytest.mark.parametrize("name", part(MODELS, ["ball_turntable"]))
def test_along_motions_that_the_constraints_allow(name: str) -> None:
    """The whole gallery: as a state moves along its constraints, the rates of its errors change as A says."""
    dyn, r = loaded(name), some_inputs(loaded(name))
    x = some_state(name, r)
    system = dyn.linear_system(0.3, x, r)
    rows = dyn.constraint_jacobian(0.3, x, r=r) if dyn.n_constraints else np.zeros((1, dyn.n_u))
    rank = np.linalg.matrix_rank(rows)  # of none of the gallery's constraints on coordinates more rows are lost
    on_coordinates = np.linalg.matrix_rank(dyn.configuration_jacobian(0.3, x, r=r)) if dyn.n_configuration else 0
    assert len(system.state_names) == dyn.n_x - len(dyn.unit) - rank - on_coordinates
    motion, rng = Motion(dyn, x, r, system.state_names), np.random.default_rng(1)
    for _ in range(3):
        nearby = dyn.consistent(0.3, x + 1e-4 * rng.uniform(-1.0, 1.0, dyn.n_x), None, r=r)
        direction = (nearby - x) / 1e-4  # along the constraints, but for their curvature

        def along(step: Array, direction: Array = direction) -> Array:
            state = dyn.consistent(0.3, x + step * direction, None, r=r)
            return np.concatenate([system.error(state), motion.rates(state, r)])

        errors, rates = np.split(slopes(along, 1, 2e-3)[:, 0], 2)
        size = np.max(np.abs(system.A)) * np.max(np.abs(errors))
        np.testing.assert_allclose(system.A @ errors, rates, rtol=0, atol=1e-6 * max(size, np.max(np.abs(rates))))


@pytest.mark.parametrize("name", part(CONSTRAINED, ["four_bar"]))
def test_named_dependent_ones_as_linearize(name: str) -> None:
    dyn, r = loaded(name), some_inputs(loaded(name))
    x = some_state(name, r)
    system = dyn.linear_system(0.3, x, r)
    independent = dyn.coordinate_names[: dyn.n_q - dyn.n_q_dependent] + dyn.speed_names[: dyn.n_u - dyn.n_u_dependent]
    assert system.state_names == independent
    for found, expected in zip((system.A, system.B), dyn.linearize(0.3, x, r=r, minimal=True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1.0, np.max(np.abs(expected), initial=0)))


@pytest.mark.long
def test_bicycle_eigenvalues() -> None:
    """Meijaard et al. 2007, Table 2: weave, capsize and castering at 5 m/s, and zeros of place, heading and speed."""
    dyn = loaded("whipple_bicycle")
    x = dyn.consistent(0.0, [0] * 8 + [0, 0, -5 / 0.3, 5, 0, 0, 0, 0])
    system = dyn.linear_system(0.0, x)
    published = []
    for value in BENCHMARK["eigenvalues"]["5"]:
        published += [complex(*value), complex(value[0], -value[1])] if isinstance(value, list) else [complex(value)]
    for value in published:
        assert np.min(np.abs(system.eigenvalues - value)) < 1e-9
    assert np.sum(np.abs(system.eigenvalues) < 1e-6) == 6
    assert any("uthR" in mode.states for mode in system.uncontrollable), "no torque drives the bicycle"
    assert not any({"phi", "delta", "psi", "y"} & set(mode.states) for mode in system.uncontrollable)


def test_rolling_disc_in_closed_form() -> None:
    """Upright it wobbles with ω² = 12/5 Ω² − 4 g/(5 R), of a thin disc (Kane & Levinson 1985, problem 11.5)."""
    dyn = loaded("rolling_disc")
    g, radius = dyn.parameters["g"], dyn.parameters["R"]
    system = dyn.linear_system(0.0, dyn.consistent(0.0, [0.0] * 7 + [-4.0, 0.0, 0.0]))
    wobble = max(system.modes(), key=lambda mode: mode.frequency)
    assert wobble.frequency == pytest.approx(np.sqrt(12 / 5 * 4.0**2 - 4 * g / (5 * radius)), rel=1e-12)
    assert wobble.damping == pytest.approx(0.0, abs=1e-12)


def test_spinning_body_in_closed_form() -> None:
    """δθ̇ = δω − ω̄ × δθ about a steady spin, and Euler's equations of a symmetric body."""
    dyn = loaded("free_body")
    names = [*dyn.coordinate_names, *dyn.speed_names]
    quaternion = list(dyn.unit[0])
    system = dyn.linear_system(0.0, some_state("free_body"))
    angles = [i for i, name in enumerate(system.state_names) if name.startswith("theta_")]
    assert [system.state_names[i] for i in angles] == [f"theta_{a}({names[quaternion[0]]})" for a in "xyz"]
    body_rates = [i for i, name in enumerate(system.state_names) if np.any(system.A[angles, i]) and i not in angles]
    np.testing.assert_allclose(system.A[np.ix_(angles, body_rates)], np.eye(3), rtol=0, atol=1e-14)
    w = system.x[[names.index(system.state_names[i]) for i in body_rates]]
    cross = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    np.testing.assert_allclose(system.A[np.ix_(angles, angles)], -cross, rtol=0, atol=1e-14)


# ------------------------------------------------------------------------------------- dependent ones by pivots
def hanging(dependent: str | None, scale: float = 1.0) -> kc.CompiledModel:
    """A pendulum in x (down) and y, with a force along y; mass, length and time in other units."""
    (x, y), (u, v) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    m, g, length = sm.symbols("m g l")
    force = me.dynamicsymbols("F")
    N, _, P = moving_point({x: u, y: v})
    q, w = ([y, x], [v, u]) if dependent == "x" else ([x, y], [u, v])
    named = {"q_dependent": q[1:], "u_dependent": w[1:]} if dependent else {}
    model = kc.Model(
        *(N, q[:1] if dependent else q, w[:1] if dependent else w),
        kd_eqs=[x.diff(t) - u, y.diff(t) - v],
        **named,
        configuration_constraints=[x**2 + y**2 - length**2],
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, m * g * N.x + force * N.y)],
        name="hanging",
    )
    return kc.compile(model, parameters={m: 2.0 / scale, g: 9.81 * scale, length: 0.5 * scale})


@pytest.mark.parametrize("dependent", ["x", "y", None])
@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_pendulum_with_any_dependent_coordinate(dependent: str | None, scale: float) -> None:
    """Below its pivot x is the dependent one, whatever the description says: δÿ = −g/l δy + F/m."""
    dyn = hanging(dependent, scale)
    down = {"x": 0.5 * scale}
    system = dyn.linear_system(0.0, [down.get(name, 0.0) for name in (*dyn.coordinate_names, *dyn.speed_names)])
    assert system.state_names == ("y", "v")
    assert set(system.dependent_names) == {"x", "u"}
    np.testing.assert_allclose(system.A, [[0, 1], [-9.81 / 0.5, 0]], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(system.B, [[0], [0.5 * scale]], rtol=1e-12)
    (mode,) = system.modes()
    assert mode.frequency == pytest.approx(np.sqrt(9.81 / 0.5), rel=1e-12)
    assert mode.damping == pytest.approx(0.0, abs=1e-12)
    assert set(mode.states) == {"y", "v"}
    np.testing.assert_allclose(system.A @ mode.vector, mode.eigenvalue * mode.vector, rtol=1e-9)
    assert not system.uncontrollable


def test_constraint_in_motion_couples_speeds_and_coordinates() -> None:
    """G u = 0 at u ≠ 0: of the pendulum that swings, ẏ = l φ̇ cos φ, so that A follows from φ̈ = −g/l sin φ."""
    dyn, phi, rate = hanging("x"), 0.4, 1.3
    length, g = 0.5, 9.81
    c, s = np.cos(phi), np.sin(phi)
    x = {"x": length * c, "y": length * s, "u": -length * rate * s, "v": length * rate * c}
    system = dyn.linear_system(0.0, [x[name] for name in (*dyn.coordinate_names, *dyn.speed_names)])
    # (y, v) = h(φ, φ̇): A = (H A_φ + Ḣ) H⁻¹ with H = ∂h/∂(φ, φ̇)
    accelerated = -g / length * s
    H = length * np.array([[c, 0], [-s * rate, c]])
    H_rate = length * np.array([[-s * rate, 0], [-c * rate**2 - s * accelerated, -s * rate]])
    expected = (H @ np.array([[0, 1], [-g / length * c, 0]]) + H_rate) @ np.linalg.inv(H)
    np.testing.assert_allclose(system.A, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))


@pytest.mark.long
def test_redundant_rows() -> None:
    """Bricard's loop: five rows of six count; one coordinate and one speed are left, whose modes are those of any."""
    dyn = loaded("bricard")
    system = dyn.linear_system(0.0, dyn.check().x)
    assert len(system.state_names) == 2
    assert len(system.dependent_names) == dyn.n_x - 2


# ---------------------------------------------------------------------------------- modes that nothing moves
def two_carts() -> kc.CompiledModel:
    """Two carts side by side; the force acts on the first; the second is held by a spring; a third coasts."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    force, k, m = me.dynamicsymbols("F"), *sm.symbols("k m")
    N, O = ground()  # noqa: E741
    points = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    for P, v in zip(points, u, strict=True):
        P.set_vel(N, v * N.x)
    model = kc.Model(
        *(N, q, u),
        kd_eqs=[x.diff(t) - v for x, v in zip(q, u, strict=True)],
        bodies=[me.Particle(f"cart{i}", P, m) for i, P in enumerate(points)],
        forcelist=[(points[0], force * N.x), (points[1], -k * q[1] * N.x)],
        outputs={"place": q[0], "speed of the second": u[1]},
        name="two_carts",
    )
    return kc.compile(model, parameters={k: 50.0, m: 2.0})


def test_modes_that_no_input_moves_and_no_output_shows() -> None:
    system = two_carts().linear_system(0.0, np.zeros(6))
    values = sorted((mode.eigenvalue.imag, mode.states) for mode in system.uncontrollable)
    assert [value for value, _ in values] == pytest.approx([0.0, 0.0, 5.0], abs=1e-7)
    assert set(values[-1][1]) == {"q2", "u2"}
    assert sorted(names for _, names in values[:-1]) == [("q3",), ("u3",)]
    for mode in system.uncontrollable:
        np.testing.assert_allclose(mode.vector @ system.B, 0.0, atol=1e-12)
    assert sorted(mode.states for mode in system.unobservable) == [("q3",), ("u3",)]
    np.testing.assert_allclose(system.C, [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]], rtol=0, atol=1e-11)
    assert "uncontrollable: 0 ± 5i (" in str(system)
    assert "unobservable: 0 (q3)" in str(system)


def test_modes_of_a_chain_of_integrators_are_named_one_by_one() -> None:
    """Hovering, all twelve eigenvalues are zero: a basis of (A − λ)^k v = 0, a state each."""
    dyn = loaded("quadrotor")
    hover = dyn.equilibrium(inputs=dyn.input_names)
    system = dyn.linear_system(0.0, hover.x, hover.r)
    assert sorted(mode.states for mode in system.modes()) == sorted((name,) for name in system.state_names)
    assert system.uncontrollable == ()
    assert {name for mode in system.unobservable for name in mode.states}.isdisjoint({"w1", "w2", "w3"})


def test_states_left_out() -> None:
    system = two_carts().linear_system(0.0, np.zeros(6))
    rest = system.without("q3", "u3")
    assert rest.state_names == ("q1", "q2", "u1", "u2")
    assert rest.A.shape == (4, 4)
    assert rest.error(np.arange(6.0)).tolist() == [0, 1, 3, 4]
    assert len(rest.modes()) == 3
    with pytest.raises(ValueError, match="q2, speed of the second of 'two_carts' depend on u2: keep these states"):
        system.without("u2")
    with pytest.raises(ValueError, match="place of 'two_carts' depend on q1"):
        system.without("q1")
    with pytest.raises(KeyError, match="has no state 'q9'"):
        system.without("q9")


def test_without_outputs_or_inputs() -> None:
    system = loaded("free_body").linear_system(0.0, some_state("free_body"))
    assert system.C.shape == (0, 12)
    assert system.D.shape == (0, system.B.shape[1])
    assert "uncontrollable" not in str(system) or system.input_names


# -------------------------------------------------------------------------------------------- state errors
def test_error_is_the_map_of_the_angles() -> None:
    dyn, rng = loaded("quadrotor"), np.random.default_rng(5)
    x_ref = some_state("quadrotor")
    q = list(dyn.unit[0])
    for sign in (1.0, -1.0):
        angles = rng.uniform(-0.3, 0.3, 3)
        x = x_ref + 0.1
        x[q] = sign * product(x_ref[q], np.array([1.0, *angles / 2]))
        error = dyn.state_error(x, x_ref)
        np.testing.assert_allclose(error[3:6], angles, rtol=1e-12)
        np.testing.assert_allclose(np.delete(error, [3, 4, 5]), 0.1, rtol=1e-12)
        np.testing.assert_allclose(dyn.linear_system(0.0, x_ref).error(x), error, rtol=0, atol=1e-15)


def test_error_of_many_states() -> None:
    dyn = loaded("quadrotor")
    x = np.stack([some_state("quadrotor")] * 6).reshape(2, 3, -1)
    assert dyn.state_error(x, x[0, 0]).shape == (2, 3, 12)
    np.testing.assert_allclose(dyn.state_error(x, x), 0.0, atol=1e-15)
    disc, state = loaded("rolling_disc"), some_state("rolling_disc")
    assert disc.state_error(np.stack([state, state]), state).shape == (2, 8)


def test_feedback_of_the_error_returns() -> None:
    """Poles that K places are those of the closed loop, through the same errors."""
    dyn = loaded("cart_pole")
    up = np.array([0.0, np.pi, 0.0, 0.0])
    system = dyn.linear_system(0.0, up)
    reached = np.array([np.linalg.matrix_power(system.A, k) @ system.B[:, 0] for k in range(4)]).T
    K = np.linalg.inv(reached)[-1:] @ np.linalg.matrix_power(system.A + 3 * np.eye(4), 4)  # Ackermann: all poles at −3
    start = up + np.array([0.2, 0.1, 0, 0])
    sol = dyn.simulate((0.0, 8.0), start, inputs=lambda _, x: system.r - K @ system.error(x))
    assert np.max(np.abs(sol.x[-1] - up)) < 1e-5


# ------------------------------------------------------------------------------------------ forms and errors
def test_html_is_escaped() -> None:
    a, v, k = sm.Function("<b>&")(t), me.dynamicsymbols("v"), sm.Symbol("k")
    dyn = kc.compile(mass_point({a: v}, 1, [-k * a]), parameters={k: 4.0})
    system = dyn.linear_system(0.0, [0.0, 0.0])
    html = system._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html
    assert max(map(len, str(system).splitlines())) <= 80


def test_python_control(monkeypatch: pytest.MonkeyPatch) -> None:
    system = two_carts().linear_system(0.0, np.zeros(6))
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "control", None)
        with pytest.raises(ImportError, match="pip install control"):
            system.to_control()
    control = pytest.importorskip("control")
    same = system.to_control()
    assert isinstance(same, control.StateSpace)
    np.testing.assert_array_equal(same.A, system.A)
    assert same.state_labels == list(system.state_names)
    monkeypatch.setitem(control.config.defaults, "control.default_dt", 0.1)
    assert system.to_control().dt == 0


def test_times_that_are_none() -> None:
    for t0, error in (([0.0, 1.0], TypeError), (np.nan, ValueError)):
        with pytest.raises(error, match=r"t must be (one|real) number|t is nan"):
            loaded("cart_pole").linear_system(t0, np.zeros(4))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ([0.6, 0.6, 0.0, 0.0], ValueError, "x does not satisfy the constraints of 'hanging'"),
        ([0.5, 0.0, 0.1, 0.0], ValueError, "x does not satisfy the constraints of 'hanging'"),
        ([0.5, 0.0], ValueError, r"x has shape \(2,\), expected \(4,\)"),
        (["a"] * 4, TypeError, "x must be real numbers"),
        ([np.nan, 0.0, 0.0, 0.0], ValueError, "which is not finite"),
    ],
)
def test_states_that_are_none(x: Any, error: type[Exception], message: str) -> None:
    dyn = hanging(None)
    with pytest.raises(error, match=message):
        dyn.linear_system(0.0, x)
    if error is ValueError and len(x) == 4 and np.isfinite(x).all():
        with pytest.raises(ValueError, match="x_ref does not satisfy"):
            dyn.state_error(np.zeros(4), x)


def test_errors_of_shapes_and_quaternions() -> None:
    dyn, x = loaded("quadrotor"), some_state("quadrotor")
    with pytest.raises(ValueError, match=r"x has shape \(3,\), expected \(\.\.\., 13\)"):
        dyn.state_error(np.zeros(3), x)
    with pytest.raises(TypeError, match="x_ref must be real numbers"):
        dyn.state_error(x, ["a"] * 13)
    with pytest.raises(ValueError, match=r"norm 2\.0 in x_ref; it must be 1"):
        dyn.state_error(x, [x, np.where(np.arange(13) == 3, 2.0, 0.0)])
    with pytest.raises(ValueError, match=r"leading axes do not broadcast: x \(2,\), x_ref \(3,\)"):
        dyn.state_error([x, x], [x, x, x])
    with pytest.raises(ValueError, match=r"norm 2\.0 in x; it must be 1"):
        dyn.linear_system(0.0, np.where(np.arange(13) == 3, 2.0, 0.0))
    with pytest.raises(ValueError, match="inputs has shape"):
        dyn.linear_system(0.0, x, np.zeros((2, 4)))
