# SPDX-License-Identifier: BSD-3-Clause
"""The linearly implicit methods: their numbers against the theory, their runs against closed forms and SciPy's."""

import ctypes
import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point
from sweep import part
from test_ode import size_and_density, trees

import kanecore as kc
from kanecore.build.c_compiler import find_compiler
from kanecore.compiled_model import CompiledModel

SOURCE = Path(__file__).parents[1] / "kanecore" / "src" / "kc_tableaux.c"


# The numbers -----------------------------------------------------------------------------------------------
class Tableau:
    """The numbers of a method as published, from those that C holds, to 50 digits.

    They are related by C = 1/γ − Γ⁻¹, a = α Γ⁻¹, m = b Γ⁻¹ (Hairer & Wanner, *Solving Ordinary Differential Equations
    II*, 2nd ed. 1996, section IV.7).
    """

    def __init__(self, library: ctypes.CDLL, name: str, stages: int, n_dense: int) -> None:
        def table(letter: str, *shape: int) -> Any:
            values = (ctypes.c_double * int(np.prod(shape))).in_dll(library, f"kc_{name}_{letter}")
            return mp.matrix(np.array(values).reshape(shape).tolist())

        a, c = table("a", stages, stages), table("c", stages, stages)
        self.times, self.rates = table("alpha", stages), table("gamma", stages)
        self.gamma = (mp.eye(stages) / self.rates[0] - c) ** -1
        self.alpha = a * self.gamma
        self.weights = table("m", stages).T * self.gamma
        self.error = table("e", stages).T * self.gamma
        self.dense = table("d", n_dense, stages) * self.gamma
        self.ones = mp.matrix([1] * stages)

    def interpolant(self, theta: Any) -> Any:
        """The weights of x(t + θ h)."""
        shape = sum((theta**k * self.dense[k, :] for k in range(self.dense.rows)), mp.zeros(1, len(self.ones)))
        return theta * (self.weights + (1 - theta) * shape)

    def stages(self, tree: tuple[Any, ...], exact: bool) -> Iterator[tuple[bool, Any]]:
        """Stages that belong to a tree, and whether the tree is one of the solution.

        A node with several branches carries α.  One with a single branch carries α + Γ where the Jacobian is exact;
        else α, or Γ, which brings in a matrix that the solution does not know.
        """
        for branches in product(*(list(self.stages(branch, exact)) for branch in tree)):
            of_solution = all(known for known, _ in branches)
            below = [stages for _, stages in branches]
            matrix = self.alpha + self.gamma if exact and len(tree) == 1 else self.alpha
            values = self.ones
            for stages in below:
                values = mp.matrix([x * y for x, y in zip(values, matrix * stages, strict=True)])
            yield of_solution, values
            if len(tree) == 1 and not exact:
                yield False, self.gamma * below[0]

    def worst(self, weights: Any, order: int, exact: bool, theta: Any = 1) -> float:
        """The largest error of the conditions of an order."""
        return max(
            abs(float((weights * stages)[0] - (mp.mpf(theta) ** order / size_and_density(tree)[1] if known else 0)))
            for tree in trees(order)
            for known, stages in self.stages(tree, exact)
        )


@pytest.fixture(scope="module")
def tableaux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Tableau]]:
    path = tmp_path_factory.mktemp("tableau") / "tableau.so"
    subprocess.run([*find_compiler(), "-O1", "-fPIC", "-shared", str(SOURCE), "-o", str(path)], check=True)
    library = ctypes.CDLL(str(path))
    with mp.workdps(50):
        yield {"rodas5p": Tableau(library, "rodas5p", 8, 3), "ros34pw2": Tableau(library, "ros34pw2", 4, 1)}


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("name", "exact", "order", "of_estimate", "of_interpolant", "rounding"),
    [("rodas5p", True, 5, 4, 4, 2e-14), ("ros34pw2", False, 3, 2, 2, 1e-15)],
)
def test_conditions(
    tableaux: dict[str, Tableau],
    name: str,
    exact: bool,
    order: int,
    of_estimate: int,
    of_interpolant: int,
    rounding: float,
) -> None:
    """All up to the order: of the step, of the one it is compared with, of the interpolant; the next is not met."""
    t = tableaux[name]
    embedded = t.weights - t.error
    for p in range(1, order + 1):
        assert t.worst(t.weights, p, exact) < rounding
    assert t.worst(t.weights, order + 1, exact) > 1e-3
    for p in range(1, of_estimate + 1):
        assert t.worst(embedded, p, exact) < rounding
    assert t.worst(embedded, of_estimate + 1, exact) > 1e-3
    for theta in (mp.mpf("0.3"), mp.mpf("0.8")):
        for p in range(1, of_interpolant + 1):
            assert t.worst(t.interpolant(theta), p, exact, theta) < rounding
    rows = [mp.matrix(t.alpha) * t.ones - t.times, mp.matrix(t.gamma) * t.ones - t.rates]
    assert max(abs(float(entry)) for row in rows for entry in row) < rounding
    assert all(t.alpha[i, j] == 0 for i in range(len(t.ones)) for j in range(i, len(t.ones)))


@pytest.mark.parametrize("name", part(["rodas5p", "ros34pw2"], ["ros34pw2"]))
def test_what_decays_at_once_is_gone_after_a_step(tableaux: dict[str, Tableau], name: str) -> None:
    """R(z) = 1 + z b (1 − z (α + Γ))⁻¹ 1 vanishes at infinity, and is below 1 to the left of the imaginary axis."""
    t = tableaux[name]

    def growth(z: Any) -> Any:
        return 1 + z * (t.weights * mp.lu_solve(mp.eye(len(t.ones)) - z * (t.alpha + t.gamma), t.ones))[0]

    assert abs(growth(mp.mpf("-1e9"))) < 1e-7
    for y in np.geomspace(1e-2, 1e6, 200):
        assert abs(growth(mp.mpc(0, y))) < 1 + 1e-14


# Runs ------------------------------------------------------------------------------------------------------
def on_a_line(name: str, force: Any, q: Any, u: Any, parameters: dict[str, float]) -> CompiledModel:
    """A particle of mass 1 and what pulls it along x."""
    model = mass_point({q: u}, 1, [force], name=name)
    return kc.compile(model, parameters=parameters)


@pytest.fixture(scope="module")
def van_der_pol() -> CompiledModel:
    q, u, mu = *me.dynamicsymbols("q u"), sm.Symbol("mu")
    return on_a_line("Van der Pol", mu * (1 - q**2) * u - q, q, u, {"mu": 1e3})


@pytest.fixture(scope="module")
def followed() -> CompiledModel:
    """A particle on a spring whose other end is at F + sin t, with a damper that stiffens with the distance."""
    q, u, target = me.dynamicsymbols("q u F")
    k, d, t = *sm.symbols("k d"), me.dynamicsymbols._t
    return on_a_line("follower", k * (target + sm.sin(t) - q) - d * u * (1 + q**2 / 10), q, u, {"k": 5.0, "d": 0.3})


SMOOTH = kc.Signal(np.linspace(0.0, 6.0, 4), np.array([0.0, 0.5, -0.3, 0.2]), kind="cubic")


@pytest.mark.parametrize(
    ("options", "steps_of", "order"),
    [
        ({"method": "rosenbrock", "inputs": SMOOTH}, "rosenbrock", 5),
        ({"method": "rosenbrock", "inputs": lambda t, x: [np.cos(t) - 0.2 * x[1]]}, "rosenbrock_w", 3),
        ({"method": "rosenbrock_w", "inputs": SMOOTH}, "rosenbrock_w", 3),
    ],
    ids=["signal", "callable", "w"],
)
def test_order_with_inputs_and_explicit_time(
    followed: CompiledModel, options: dict[str, Any], steps_of: str, order: int
) -> None:
    """By steps of one length: without ∂ẋ/∂t or B ṙ Rodas5P were of order 1, and so it is with ∂r/∂x unknown."""
    x0 = [0.3, -0.2]
    span, exact = (0.0, 5.0), {**options, "method": "dop853", "rtol": 1e-13, "atol": 1e-13}
    end = followed.simulate(span, x0, **exact).x[-1]

    def error(h: float) -> float:
        sol = followed.simulate(span, x0, **options, rtol=1e6, max_step=h, first_step=h)
        assert f"steps of {steps_of}," in repr(sol)
        return float(np.abs(sol.x[-1] - end).max())

    errors = [error(5.0 / n) for n in (120, 240, 480)]
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(order, abs=0.3)


def test_error_follows_the_tolerance(van_der_pol: CompiledModel) -> None:
    """The slope of log error against log tolerance, and what a step costs; `test_stiff_problems.py` counts steps."""
    tolerances = 10.0 ** -np.arange(5, 9)
    span, x0 = (0.0, 2000.0), [2.0, 0.0]
    end = 1.706167732170483  # Mazzia & Magherini, Test Set for IVP Solvers, release 2.4 (2008), problem VDPOL
    errors = []
    for tolerance in tolerances:
        sol = van_der_pol.simulate(span, x0, method="rosenbrock", rtol=tolerance, atol=tolerance)
        assert sol.njev == sol.n_steps  # a state has one matrix, however many steps are tried from it
        assert sol.nlu == sol.n_steps + sol.n_rejected
        errors.append(abs(sol.x[-1, 0] - end))
    assert np.polyfit(np.log(tolerances), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.15)


def test_dense_output_along_a_stiff_run(van_der_pol: CompiledModel) -> None:
    """Between steps the error is that of the steps, and at their ends the state; t_eval gives the same."""
    span, x0 = (0.0, 600.0), [2.0, 0.0]
    exact = van_der_pol.simulate(span, x0, method="rosenbrock", rtol=1e-11, atol=1e-11)
    times = np.linspace(*span, 2001)
    for method, tolerance in (("rosenbrock", 1e-6), ("rosenbrock_w", 1e-5)):
        sol = van_der_pol.simulate(span, x0, method=method, rtol=tolerance, atol=tolerance)
        between, at_steps = np.abs(sol(times) - exact(times)), np.abs(sol.x - exact(sol.t))
        assert between.max() < 10 * max(at_steps.max(), tolerance)
        np.testing.assert_array_equal(sol(sol.t), sol.x)
        chosen = van_der_pol.simulate(span, x0, method=method, rtol=tolerance, atol=tolerance, t_eval=times)
        np.testing.assert_array_equal(chosen.x, sol(times))


def test_backwards_and_zoh(followed: CompiledModel) -> None:
    held = kc.Signal([0.0, 1.0, 2.5], [0.4, -0.3, 0.1], kind="zoh")
    tight = {"rtol": 1e-10, "atol": 1e-10, "inputs": held}
    for span in ((0.0, 4.0), (4.0, 0.0)):
        one = followed.simulate(span, [0.2, 0.1], method="rosenbrock", **tight)
        other = followed.simulate(span, [0.2, 0.1], **tight)
        np.testing.assert_allclose(one.x[-1], other.x[-1], rtol=1e-7)
        assert {1.0, 2.5} <= set(one.t)


def test_constraints_and_unit_quaternions() -> None:
    """Every step and interpolant is brought back to them, and the order stays."""
    dyn = kc.load("four_bar")
    x0 = dyn.consistent(0.0, [0.8, 1.0, 1.2, 0.3, 0.0, 0.0])
    exact = dyn.simulate((0.0, 1.0), x0, rtol=1e-13, atol=1e-13)
    for method, name in (("rosenbrock", "rosenbrock"), ("rosenbrock_w", "rosenbrock_w")):
        sol = dyn.simulate((0.0, 1.0), x0, method=method, rtol=1e-8, atol=1e-8)
        assert f"steps of {name}," in repr(sol)
        assert sol.constraint_drift < 1e-12
        assert np.max(np.abs(dyn.configuration_residual(0.5, sol(0.5)))) < 1e-12
        np.testing.assert_allclose(sol.x[-1], exact.x[-1], atol=1e-6)
    free = kc.load("free_body")
    x0 = np.zeros(free.n_x)
    x0[list(free.unit[0])] = [0.6, 0.0, 0.8, 0.0]
    x0[free.n_q :] = np.linspace(-1.0, 2.0, free.n_u)
    sol = free.simulate((0.0, 3.0), x0, method="rosenbrock", rtol=1e-9, atol=1e-9)
    times = np.linspace(0.0, 3.0, 50)
    assert np.abs(np.linalg.norm(sol(times)[:, list(free.unit[0])], axis=1) - 1.0).max() < 1e-14
    exact = free.simulate((0.0, 3.0), x0, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(sol.x[-1], exact.x[-1], atol=1e-6)


def test_baumgarte_takes_the_method_for_unknown_derivatives() -> None:
    """What stabilizes is not in the Jacobian; without constraints there is nothing to stabilize."""
    dyn = kc.load("four_bar")
    x0 = dyn.consistent(0.0, [0.8, 1.0, 1.2, 0.3, 0.0, 0.0])
    options: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-7, "project": False, "baumgarte": (5.0, 5.0)}
    one, other = (dyn.simulate((0.0, 1.0), x0, method=method, **options) for method in ("rosenbrock", "dop853"))
    assert "steps of rosenbrock_w," in repr(one)
    np.testing.assert_allclose(one.x[-1], other.x[-1], atol=1e-5)
    free = kc.load("rrp").simulate((0.0, 0.1), np.full(6, 0.3), method="rosenbrock", baumgarte=(5.0, 5.0))
    assert "steps of rosenbrock," in repr(free)


def test_units_do_not_matter(van_der_pol: CompiledModel) -> None:
    """A run in microseconds takes the steps of one in seconds."""
    q, u, mu, omega = *me.dynamicsymbols("q u"), *sm.symbols("mu omega")
    fast = on_a_line("fast", mu * omega * (1 - q**2) * u - omega**2 * q, q, u, {"mu": 1e3, "omega": 1e6})
    options = {"method": "rosenbrock", "rtol": 1e-6}
    slow = van_der_pol.simulate((0.0, 2000.0), [2.0, 0.0], atol=[1e-6, 1e-6], **options)
    run = fast.simulate((0.0, 2e-3), [2.0, 0.0], atol=[1e-6, 1.0], **options)
    assert (run.n_steps, run.n_rejected) == (slow.n_steps, slow.n_rejected)
    np.testing.assert_allclose(run.t * 1e6, slow.t, rtol=1e-6)


def test_a_model_without_derivatives_says_what_to_do() -> None:
    address = ctypes.CDLL(None).sin
    address.restype, address.argtypes = ctypes.c_double, [ctypes.c_double]
    pulled = sm.Function("street")
    q, u = me.dynamicsymbols("q u")
    frame, origin = ground()
    point = origin.locatenew("P", q * frame.x + pulled(q) * frame.y)
    model = kc.Model(
        *(frame, [q], [u], [q.diff() - u]),
        bodies=[me.Particle("P", point, 1)],
        functions={pulled: kc.CFunction(address, address, address)},
    )
    dyn = kc.compile(model)
    with pytest.raises(kc.ModelError, match=r"'rosenbrock' needs derivatives.*order 3 of street.*'dop853'"):
        dyn.simulate((0.0, 1.0), [0.1, 0.2], method="rosenbrock")


def test_a_run_that_cannot_go_on(followed: CompiledModel) -> None:
    def throws(t: float, x: Any) -> list[float]:
        if t > 1.0:
            raise RuntimeError("no more")
        return [0.0]

    with pytest.raises(RuntimeError, match="no more") as caught:
        followed.simulate((0.0, 2.0), [0.1, 0.0], method="rosenbrock", inputs=throws)
    assert 0.5 < caught.value.trajectory.t[-1] <= 1.0  # type: ignore[attr-defined]
    q, u = me.dynamicsymbols("q u")
    escape = on_a_line("escape", u**2 + q, q, u, {})
    with pytest.raises(kc.IntegrationError, match="smaller than rounding") as error:
        escape.simulate((0.0, 100.0), [1.0, 1.0], method="rosenbrock")
    assert error.value.trajectory.t[-1] < 10.0
    with pytest.raises(kc.IntegrationError, match="max_steps"):
        followed.simulate((0.0, 100.0), [1.0, 1.0], method="rosenbrock", max_steps=5)


# Which method is the right one -------------------------------------------------------------------------------
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10])
def test_auto_notices_stiffness_and_its_end(van_der_pol: CompiledModel, tolerance: float) -> None:
    """Slow arcs are stiff, the two jumps between them are not; the message says so, the interpolants fit together."""
    options: dict[str, Any] = {"method": "auto", "rtol": tolerance, "atol": tolerance}
    sol = van_der_pol.simulate((0.0, 2000.0), [2.0, 0.0], **options)
    words = re.fullmatch(r".*\(by dop853((?:, then \w+ from t = [-+.e0-9]+)+)\)", sol.message)
    assert words, sol.message
    changes = [(name, float(t)) for name, t in re.findall(r"then (\w+) from t = ([-+.e0-9]+)", words[1])]
    assert [name for name, _ in changes] == ["rosenbrock", "dop853"] * 2 + ["rosenbrock"]
    np.testing.assert_allclose([t for _, t in changes], [0, 807, 807, 1614, 1614], atol=3.0)
    assert sol.n_steps < 2500
    assert sol.njev < sol.n_steps
    exact = van_der_pol.simulate((0.0, 2000.0), [2.0, 0.0], method="rosenbrock", rtol=1e-12, atol=1e-12)
    assert abs(sol.x[-1, 0] - exact.x[-1, 0]) < 10 * tolerance
    times = np.linspace(0.0, 600.0, 1001)
    before = sol.t <= 600.0
    at_steps = np.abs(sol.x[before] - exact(sol.t[before]))[:, 0].max()
    assert np.abs(sol(times) - exact(times))[:, 0].max() < 10 * max(at_steps, tolerance)
    np.testing.assert_array_equal(sol(sol.t), sol.x)
    np.testing.assert_array_equal(van_der_pol.simulate((0.0, 600.0), [2.0, 0.0], t_eval=times, **options).t, times)


@pytest.mark.parametrize("span", [(0.0, 5.0), (5.0, 0.0)])
@pytest.mark.parametrize("inputs", [SMOOTH, lambda t, x: [np.cos(t)]], ids=["signal", "callable"])
def test_auto_costs_nothing_where_nothing_is_stiff(
    followed: CompiledModel, span: tuple[float, float], inputs: Any
) -> None:
    one, other = (followed.simulate(span, [0.3, 0.0], method=name, inputs=inputs) for name in ("auto", "dop853"))
    np.testing.assert_array_equal(one.x, other.x)
    assert (one.nfev, one.njev, one.nlu) == (other.nfev, 0, 0)
    assert one.message.endswith("(by dop853, which found nothing stiff)")


def test_auto_where_derivatives_are_unknown(followed: CompiledModel) -> None:
    sol = followed.simulate(
        (0.0, 100.0),
        [1.0, 0.0],
        method="auto",
        inputs=lambda t, x: [np.sin(0.1 * t)],
        parameters={"k": 1e6, "d": 1e5},
        rtol=1e-5,
        atol=1e-5,
    )
    assert "steps of auto_w," in repr(sol)
    assert "(by dop853, then rosenbrock_w from t = 0.0" in sol.message
    assert sol.n_steps < 40_000  # explicit steps: a million
    assert sol.x[-1, 0] == pytest.approx(np.sin(10.0) + np.sin(100.0), abs=0.2)


def test_auto_counts_changes_that_it_does_not_list(van_der_pol: CompiledModel) -> None:
    sol = van_der_pol.simulate((0.0, 2000.0), [2.0, 0.0], method="auto", rtol=1e-6, parameters={"mu": 50.0})
    assert re.search(r"(then \w+ from t = [-+.e0-9]+, ?){7}.*, and \d+ changes more\)$", sol.message)
