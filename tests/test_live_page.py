# SPDX-License-Identifier: BSD-3-Clause
"""Live pages: their numbers are those of the model, in Node; they are drawn, moved by hand and shared, in Chromium."""

import ctypes
import html
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from browser import CHROMIUM, Browser
from exported_c import METHODS, Run, pointer
from gallery_states import loaded, some_state
from sweep import part
from test_elimination_fronts import CARRIAGE, mechanism, near
from test_elimination_fronts import PARAMETERS as OF_LOOPS
from test_loads_of_reactions import mu
from test_loads_of_reactions import pendulum as journal_pendulum

import kanecore as kc
from kanecore.cli.commands import main
from kanecore.gallery._motions import MOTIONS, Motion
from kanecore.live import live_page
from kanecore.live.live_page import LivePage

Array = npt.NDArray[np.float64]

NODE = shutil.which("node")
FOLDER = Path(live_page.__file__).parent
HOSTILE = "</script><script>document.title='owned'</script>&amp;\"'\u2028{{code}}"
RED = (0xC4, 0x4E, 0x52)

in_node = pytest.mark.skipif(NODE is None, reason="no node on the PATH: apt install nodejs")

q, u, torque = me.dynamicsymbols("q u T")
m, half, g = sm.symbols("m l g")


def pendulum(**options: Any) -> kc.CompiledModel:
    """A rod about the origin in the x-y plane, T about z on it."""
    N = me.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    C = origin.locatenew("C", -half * A.y)
    rod = me.RigidBody(options.pop("body", "rod"), C, A, m, (me.inertia(A, 0, 0, m * half**2 / 3), C))
    loads = [(C, -m * g * N.y), (A, torque * N.z)]
    options = {"shapes": {rod.name: kc.shapes.Rod(half, "y")}, **options}
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[rod], forcelist=loads, **options)
    return kc.compile(model, parameters={"m": 1.0, "l": 0.5, "g": 9.81})


@pytest.fixture(scope="module")
def node() -> Iterator[subprocess.Popen[str]]:
    """One process for all pages, each with a machine of its own."""
    command = [str(NODE), str(Path(__file__).with_name("live_page_in_node.js")), str(FOLDER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as started:
        yield started


def evaluated(page: LivePage, node: subprocess.Popen[str], script: str) -> Any:
    """The value that JavaScript returns, with the page's machine, motion and model."""
    assert node.stdin is not None
    assert node.stdout is not None
    node.stdin.write(json.dumps({"page": page.html(), "script": script}) + "\n")
    node.stdin.flush()
    answer = json.loads(node.stdout.readline())
    assert "error" not in answer, answer["error"]
    return answer["value"]


SLOPES = "machine.pose(); return Array.from(machine.view('slopes'));"


def each_of(states: Any, view: str) -> str:
    """A script: what a view of the machine holds at each of some states."""
    return f"""return {json.dumps(states)}.map(x => {{
        machine.view("state").set(x);
        machine.pose();
        return Array.from(machine.view("{view}"));
    }});"""


@in_node
@pytest.mark.parametrize("name", part(kc.models(), ["four_bar"]))
def test_the_right_hand_side_is_that_of_the_model(name: str, node: subprocess.Popen[str]) -> None:
    dyn, x = loaded(name), some_state(name)
    r = np.linspace(0.5, 1.0, dyn.n_r)
    page = dyn.play(x, inputs=r)
    start = np.array(page.data["start"]["state"])
    assert np.allclose(start, x, atol=1e-7)
    expected = dyn.rhs(0.0, start, r=r)
    found = evaluated(page, node, SLOPES)
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-11 * np.max(np.abs(expected)))


@in_node
@pytest.mark.long
def test_thirty_two_loops_run_in_a_page(node: subprocess.Popen[str]) -> None:
    """By the player's fronts, as by those of the extension; a second later energy and loops are as before."""
    dyn = kc.compile(mechanism([CARRIAGE] * 32), parameters=OF_LOOPS)
    page = dyn.play(dyn.consistent(0.0, near(32, 1)))
    start = np.array(page.data["start"]["state"])
    expected = dyn.rhs(0.0, start)
    found = evaluated(page, node, SLOPES)
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-11 * np.max(np.abs(expected)))
    script = "machine.advance(1, model.run); return Array.from(machine.view('state'));"
    end = np.array(evaluated(page, node, script))
    assert np.max(np.abs(dyn.configuration_residual(0.0, end))) < 1e-8
    before, after = (dyn.kinetic_energy(0.0, x) + dyn.potential_energy(0.0, x) for x in (start, end))
    assert abs(after - before) < 1e-4 * dyn.kinetic_energy(0.0, end)


EXACT = ["double_pendulum"]  # whose sines and cosines are the same in both libraries


@in_node
@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("gcc") is None, reason="compiles exported C with gcc")
@pytest.mark.parametrize("name", part([name for name in kc.models() if name != "rod_gravity"], EXACT))  # in a planet
def test_steps_have_the_bits_of_exported_c_without_fma(name: str, tmp_path: Path, node: subprocess.Popen[str]) -> None:
    """A hundred steps of the classical Runge-Kutta method; functions of a C library may differ in their last digit."""
    dyn, x = loaded(name), some_state(name)
    r, folder = np.linspace(0.1, 0.2, dyn.n_r), tmp_path / "c"
    r[[i for i in dyn.input_rates if i >= 0]] = 0.0  # pages go on with prescribed motions, which C holds
    script = "machine.advance(0.1, {...model.run, step: 1e-3, atol: 1}); return Array.from(machine.view('state'));"
    page = dyn.play(x, inputs=r, method="rk4")
    found = evaluated(page, node, script)
    kernels = ["rhs", "qdot", "project"] if dyn.n_constraints else ["rhs", "qdot"]
    dyn.export_c(folder, kernels=kernels, prefix="x", integrators=True)
    flags = ["-O0", "-shared", "-fPIC", "-ffp-contract=off", "-w"]
    subprocess.run(["gcc", *flags, "-o", "x.so", "x.c", "-lm"], cwd=folder, check=True)
    library, text = ctypes.CDLL(str(folder / "x.so")), (folder / "x.h").read_text(encoding="utf-8")

    def size(which: str) -> int:
        [value] = re.findall(rf"x_n_{which} = (\d+)", text)
        return int(value)

    constants, work = np.empty(size("prepared")), np.empty(size("work"))
    state = np.array(page.data["start"]["state"])
    library.x_prepare(pointer(np.array(list(dyn.parameters.values()))), pointer(constants))
    run = Run(METHODS.index("rk4"), 0.0, 0.1, 1e-3)
    assert library.x_integrate(ctypes.byref(run), pointer(r), pointer(constants), pointer(work), pointer(state)) == 0
    if name in EXACT:
        assert found == state.tolist()
    np.testing.assert_allclose(found, state, rtol=1e-9, atol=1e-9)


@in_node
@pytest.mark.parametrize("name", part(["spherical_pendulum", "four_bar", "free_body"], ["spherical_pendulum"]))
def test_a_motion_is_that_of_simulate(name: str, node: subprocess.Popen[str]) -> None:
    """Five seconds, in pictures of a sixtieth of one, of a motion that is not chaotic."""
    dyn, x = loaded(name), some_state(name)
    page = dyn.play(x, rtol=1e-12)
    script = "for (let i = 0; i < 300; i++) motion.go((i + 1) / 60 - machine.time);"
    script += "return [machine.time, Array.from(machine.view('state')), motion.drift, motion.residual];"
    t, found, drift, residual = evaluated(page, node, script)
    expected = dyn.simulate((0.0, t), page.data["start"]["state"], rtol=1e-12, atol=1e-12).x[-1]
    assert t == 5.0
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert drift < 1e-8
    assert residual < 1e-12


@in_node
def test_the_work_of_friction_is_as_exact_as_that_of_a_run(node: subprocess.Popen[str]) -> None:
    """Within long steps the power of bristles changes much: with three nodes a step it was 200 times less exact."""
    law = {"pin_radius": 0.03, "bristle_stiffness": 2e4, "bristle_damping": 2500}
    dyn = journal_pendulum(lambda A, N, u: kc.JointFriction("hinge", mu=mu, **law))
    page = dyn.play([0.5, 0.0, 0.0])
    script = "for (let i = 0; i < 300; i++) motion.go((i + 1) / 60 - machine.time); return motion.drift;"
    run = dyn.simulate((0.0, 5.0), page.data["start"]["state"], rtol=1e-8, atol=1e-8)
    assert evaluated(page, node, script) < 10 * run.energy_drift


@in_node
def test_first_order_states_run_in_a_page(node: subprocess.Popen[str]) -> None:
    """A motor with a current, pulled by hand as well; rates that hold u̇ would not know of the hand."""
    current, lag = me.dynamicsymbols("i a")
    states = {current: (3 - current - u / 2) / sm.Symbol("tau"), lag: u**2 - lag}
    dyn = pendulum(feedback={torque: current}, states=states)
    dyn.parameters["tau"] = 0.2
    x = [0.4, -0.3, 0.9, 0.1]
    script = "const slopes = () => { machine.pose(); return Array.from(machine.view('slopes')); }, free = slopes();"
    script += "machine.grab(0, 0, [0, 0, 0], [9, 0, 0], 1.0, 0.5);"
    script += "const pulled = slopes(); machine.letGo();"
    script += "for (let i = 0; i < 60; i++) motion.go((i + 1) / 60 - machine.time);"
    script += "return [free, pulled, machine.time, Array.from(machine.view('state')), motion.drift];"
    free, pulled, t, found, drift = evaluated(dyn.play(x, rtol=1e-12), node, script)
    assert np.allclose(free, dyn.rhs(0.0, x), rtol=1e-13, atol=1e-14)
    assert np.allclose(found, dyn.simulate((0.0, t), x, rtol=1e-12, atol=1e-12).x[-1], rtol=1e-9, atol=1e-9)
    assert drift < 1e-8
    assert pulled[1] != dyn.udot(0.0, x)[0]
    assert np.allclose(pulled[2:], dyn.zdot(0.0, x), rtol=1e-13)
    with pytest.raises(kc.ModelError, match=r"cannot run in a page: rates of its states \(a\) depend on derivatives"):
        pendulum(states={lag: u.diff() - lag}).play()


@in_node
def test_functions_travel(node: subprocess.Popen[str]) -> None:
    """Splines are data, erf and its like are known to the page, and laws of the model run as they are."""
    f, k = sm.Function("f"), sm.Symbol("k")
    table = kc.Spline(np.linspace(-2.0, 2.0, 9), np.sin(np.linspace(-2.0, 2.0, 9)))
    moment = f(q) + sm.erf(q) - sm.erf(5 * q) + sm.atan2(q, 2) + sm.tanh(u) + sm.Mod(q, 3) ** sm.Rational(3, 2)
    dyn = pendulum(functions={f: table}, feedback={torque: moment - k * u})
    dyn.parameters["k"] = 0.3
    states = [[0.7, -1.0], [-1.2, 0.4], [0.0, 2.0]]
    found = evaluated(dyn.play(states[0]), node, each_of(states, "slopes"))
    for slopes, x in zip(found, states, strict=True):
        assert np.allclose(slopes, dyn.rhs(0.0, x), rtol=1e-13, atol=1e-14)


@in_node
def test_signals_travel_and_are_held_beyond_their_table(node: subprocess.Popen[str]) -> None:
    dyn, signal = pendulum(), kc.Signal([0.0, 1.0, 2.0], [0.0, 3.0, -1.0], kind="cubic")
    script = "const out = []; for (const t of [0.4, 1.5, 2.0, 3.0]) {"
    script += "motion.go(t - machine.time); out.push(Array.from(machine.view('applied'))); }"
    script += "return [out, Array.from(machine.view('state'))];"
    applied, state = evaluated(dyn.play([1.0, 0.0], inputs={"T": signal}, rtol=1e-11), node, script)
    assert np.allclose(np.ravel(applied), [*signal([0.4, 1.5, 2.0])[:, 0], -1.0], atol=1e-9)
    sol = dyn.simulate((0.0, 2.0), [1.0, 0.0], inputs=signal, rtol=1e-12)
    rest = dyn.simulate((2.0, 3.0), sol.x[-1], inputs=[-1.0], rtol=1e-12)
    assert np.allclose(state, rest.x[-1], atol=1e-8)


@in_node
def test_events_of_expressions_travel(node: subprocess.Popen[str]) -> None:
    """A ball that keeps 0.8 of its speed, and stops where it has bounced three times."""
    z, w = me.dynamicsymbols("z w")
    N, P = me.ReferenceFrame("N"), me.Point("P")
    origin = me.Point("O")
    origin.set_vel(N, 0)
    P.set_pos(origin, z * N.z)
    P.set_vel(N, w * N.z)
    ball = me.Particle("ball", P, m)
    model = kc.Model(N, [z], [w], [z.diff() - w], bodies=[ball], forcelist=[(P, -m * g * N.z)], outputs={"y": z + w})
    dyn = kc.compile(model, parameters={"m": 1.0, "g": 9.81})
    floor = kc.Event(z, direction=-1, reset={w: -0.8 * w})
    script = "const out = []; for (let i = 0; i < 60; i++) { motion.go((i + 1) / 30 - machine.time, Infinity);"
    script += "out.push([machine.time, ...machine.view('state'), machine.view('outputs')[0]]);"
    script += "if (motion.trouble) break; }"
    script += "return [out, motion.trouble, motion.drift];"
    found, trouble, drift = evaluated(dyn.play([1.0, 0.0], events=floor), node, script)
    assert drift < 1e-7
    times = np.array(found)[:, 0]
    sol = dyn.simulate((0.0, 2.0), [1.0, 0.0], events=floor, t_eval=times, rtol=1e-10)
    assert trouble == ""
    assert np.allclose(np.array(found)[:, 1:3], sol.x, atol=1e-7)
    assert np.allclose(np.array(found)[:, 3], sol.x.sum(axis=1), atol=1e-7)
    last = kc.Event(z, direction=-1, terminal=3, reset={w: -0.8 * w})
    found, trouble, _ = evaluated(dyn.play([1.0, 0.0], events=[last]), node, script)
    fall = np.sqrt(2.0 / 9.81)
    assert trouble == "an event ends the motion"
    assert found[-1][0] == pytest.approx(fall * (1.0 + 2.0 * 0.8 + 2.0 * 0.64), rel=1e-9)
    for event in (kc.Event(lambda t, x: x[0]), lambda t, x: x[0], kc.Event(z, reset=lambda t, x: x)):
        with pytest.raises(kc.ModelError, match=r"cannot run in a page with .*event 0.*a page has no Python"):
            dyn.play([1.0, 0.0], events=[event])


@in_node
def test_a_slider_moves_a_prescribed_motion_with_its_rates(node: subprocess.Popen[str]) -> None:
    """theta, its rate and the rate of that stay derivatives of each other, and come to rest."""
    dyn = loaded("rotating_tube")
    page = dyn.play([0.1, 0.15, 0.0, 0.0], inputs={"theta": 0.2, "theta_d": 1.0, "theta_dd": 0.0})
    assert page.data["motions"] == [[0, 1, 2]]
    script = "motion.setInput(0, 1.0, 1); const out = [];"
    script += "for (let i = 0; i <= 600; i++) { out.push(machine.motionNow(0)); machine.time += 0.001; }"
    script += "machine.time = 0.2; motion.setInput(1, 2.0, 1); const rate = [];"
    script += "for (let i = 0; i <= 600; i++) { rate.push(machine.motionNow(0)); machine.time += 0.001; }"
    script += "machine.time = 0.5; machine.pose(); return [out, rate, Array.from(machine.view('applied'))];"
    to_place, to_rate, applied = (np.array(x) for x in evaluated(page, node, script))
    for values in (to_place, to_rate):
        for order in range(2):
            slopes, rates = np.gradient(values[:, order], 0.001)[1:-1], values[1:-1, order + 1]
            assert np.allclose(slopes, rates, atol=0.01 * np.max(np.abs(rates)))
    assert np.allclose(to_place[0], [0.2, 1.0, 0.0])
    assert np.allclose(to_place[-1], [1.0, 0.0, 0.0], atol=1e-12)
    assert np.allclose(to_rate[-1, 1:], [2.0, 0.0], atol=1e-12)
    assert np.allclose(applied, to_rate[300], atol=1e-12)


@in_node
def test_feedback_stands_a_pendulum_up_after_a_pull(node: subprocess.Popen[str]) -> None:
    dyn = loaded("furuta_pendulum")
    page = dyn.play()
    script = """
        machine.pose();
        const [point, frame] = model.scene.bodies[1];
        const place = Array.from(machine.view("places").subarray(3 * point, 3 * point + 3));
        machine.grab(point, frame, [0, 0, 0], place.map(v => v + 0.02), 2 * Math.PI * model.pull, 0.5);
        for (let i = 0; i < 18; i++) motion.go(1 / 60, Infinity);
        const work = machine.view("energies")[2], drift = motion.drift;
        machine.letGo();
        const away = machine.view("state")[1];
        for (let i = 0; i < 20; i++) motion.go(0.5, Infinity);
        return [away, Array.from(machine.view("state")), model.feedback.about, work, drift];"""
    away, state, about, work, drift = evaluated(page, node, script)
    assert abs(work) > 1e-6
    assert drift < 1e-4  # of 1e-5 J, with tolerances of 1e-8
    assert abs(away - np.pi) > 1e-3
    assert np.allclose(state, about, atol=1e-4)


@in_node
def test_a_gain_is_about_a_state_and_takes_columns_of_linear_system(node: subprocess.Popen[str]) -> None:
    """Of a quaternion the columns are angles of its error."""
    dyn = loaded("quadrotor")
    x = dyn.state(e0=1.0)
    balance = dyn.equilibrium(x, inputs=dyn.input_names, sizes=1.0)
    system = dyn.linear_system(0.0, balance.x, balance.r)
    K = np.random.default_rng(0).uniform(-0.1, 0.1, (4, len(system.state_names)))
    nearby = balance.x + np.linspace(0.01, 0.02, dyn.n_x)
    nearby[list(dyn.unit[0])] /= np.linalg.norm(nearby[list(dyn.unit[0])])
    r = balance.r - K @ dyn.state_error(nearby, balance.x)
    other = nearby.copy()
    other[list(dyn.unit[0])] *= -1.0  # which is the same attitude
    page = dyn.play(nearby, inputs=balance.r, feedback=(K, balance.x))
    for applied in evaluated(page, node, each_of([nearby.tolist(), other.tolist()], "applied")):
        assert np.allclose(applied, r, atol=1e-14)


def test_a_gain_of_linear_system_where_constraints_choose_the_states() -> None:
    """Of a model whose dependent coordinates are chosen at the state, the columns are those of its linear system."""
    q, s = me.dynamicsymbols("q s")
    u, v, T = me.dynamicsymbols("u v T")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    B = N.orientnew("B", "Axis", [s, N.z])
    B.set_ang_vel(N, v * N.z)
    wheels = [me.RigidBody(F.name, O, F, 1, (me.inertia(F, 0, 0, 1), O)) for F in (A, B)]
    geared = kc.Model(
        *(N, [q, s], [u, v], [q.diff() - u, s.diff() - v]),
        configuration_constraints=[q - 2 * s],
        bodies=wheels,
        forcelist=[(A, T * N.z)],
    )
    dyn = kc.compile(geared, cc="none")
    system = dyn.linear_system(0.0, dyn.state())
    page = dyn.play(dyn.state(), feedback=[[3.0, 4.0]])
    expected = dict.fromkeys(system.dependent_names, 0.0) | dict(zip(system.state_names, (3.0, 4.0), strict=True))
    assert page.data["feedback"]["gain"] == [expected[name] for name in (*dyn.coordinate_names, *dyn.speed_names)]


@in_node
def test_what_cannot_be_is_refused_and_nothing_moves(node: subprocess.Popen[str]) -> None:
    """A length that does not close the loop; a coordinate out of reach; others are closed again."""
    page = loaded("four_bar").play(some_state("four_bar"))
    names = [each["name"] for each in page.data["parameters"]]
    script = f"""
        const state = () => Array.from(machine.view("state")), before = state(), k = {names.index("L1")};
        const long = motion.setParameter(k, 50), why = motion.trouble, after = state();
        const good = motion.setParameter(k, 0.42), residual = motion.residual;
        const near = motion.setState(0, before[0] + 0.1), there = state()[0] - before[0], closed = motion.residual;
        return [long, why, before, after, good, residual, near, there, closed, machine.view("parameters")[k]];"""
    long, why, before, after, good, residual, near, there, closed, length = evaluated(page, node, script)
    assert not long
    assert "constraint" in why
    assert before == after
    assert good
    assert near
    assert max(residual, closed) < 1e-12
    assert there == pytest.approx(0.1, abs=1e-8)
    assert length == 0.42


@in_node
def test_a_link_and_a_line_of_python_hold_the_state(node: subprocess.Popen[str]) -> None:
    page = pendulum().play([1.0, 0.0])
    script = """
        motion.setParameter(model.parameters.findIndex(({name}) => name === "m"), 1.25);
        motion.setInput(0, 0.5, 1);
        motion.go(0.7, Infinity);
        const link = linkTo(motion), line = pythonLine(motion), state = Array.from(machine.view("state"));
        machine.view("state").set([0, 0]);
        const taken = [];
        const take = kind => (i, value) => taken.push([kind, i, value]);
        follow(`${link}&s.nobody=1&p.g=x`, motion, take("p"), take("r"));
        const head = tableOf(motion).split("\\r\\n")[0];
        return [link, line, state, Array.from(machine.view("state")), machine.time, taken, head];"""
    link, line, state, again, t, taken, head = evaluated(page, node, script)
    assert again == state
    assert t == 0.7
    assert taken == [["p", 2, 1.25], ["r", 0, 0.5]]
    assert head == "t,q,u,T,T,U,W"
    found: dict[str, Any] = {}

    class Spy:
        def simulate(self, span: Any, x: Any, **more: Any) -> None:
            found.update(span=span, x=x, **more)

    exec(line, {"dyn": Spy()})
    assert found == {
        "span": (0.7, 5.7),
        "x": dict(zip("qu", state, strict=True)),
        "parameters": {"m": 1.25},
        "inputs": {"T": 0.5},
    }
    assert link.startswith("#t=0.7&s.q=")


def test_all_is_there_by_name() -> None:
    page = pendulum().play(
        [1.0, 0.0], units={"q": "rad", "m": "kg"}, keys={"a": ("T", -2.0)}, plots=["phase", ["q", "T"]]
    )
    assert page.data["units"] == {"q": "rad", "m": "kg"}
    assert page.data["keys"] == {"a": (0, -2.0)}
    assert page.data["plots"] == ["phase", ["q", "T"]]
    assert [each["range"] for each in page.data["parameters"]] == [(2.0, 29.0), (0.1, 1.5), (0.2, 3.0)]
    ranged = pendulum().play([1.0, 0.0], sliders={"m": (1.0, 2.0), "T": None})
    assert [each.get("range") for each in ranged.data["parameters"]] == [None, None, (1.0, 2.0)]
    assert ranged.data["inputs"][0]["range"] == (-5.0, 5.0)


def test_title_text_labels_and_ground_are_in_the_page() -> None:
    page = pendulum().play([1.0, 0.0], title="A rod", text="It swings.", labels={q: "θ", "m": "mass"}, ground=-1)
    assert page.data["labels"] == {"q": "θ", "m": "mass"}
    assert (page.data["title"], page.data["text"], page.data["scene"]["ground"]) == ("A rod", "It swings.", -1.0)
    assert page.data["scene"]["low"][1] == -1.0  # the ground is in sight
    assert "<title>A rod</title>" in page.html()
    assert "<title>model</title>" in pendulum().play([1.0, 0.0]).html()
    hanging = pendulum().play([1.0, 0.0], view=(20, 30, "-y"), ground=2.0)
    assert hanging.data["scene"]["low"][1] == -2.0  # y points down


def test_a_page_of_the_gallery_plots_what_shows_the_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOTIONS, "four_bar", Motion(4.0, plotted=("q1", "u3")))
    dyn = loaded("four_bar")
    assert dyn.play().data["plots"] == [["q1", "u3"], "energies"]
    assert dyn.play(some_state("four_bar")).data["plots"] == ["coordinates", "energies"]


@in_node
def test_phase_planes_are_of_a_coordinate_and_its_own_rate(node: subprocess.Popen[str]) -> None:
    """In the gyroscope no speed is a rate; where the coordinates come in another order, no pair of numbers is one."""
    dyn = loaded("gyroscope")
    x = some_state("gyroscope")
    script = """
        const phases = kindsOfPlots(model, []).filter(kind => kind.phase), [sample] = motion.history;
        return phases.map(({name, acrossName, across, series: [{name: rate, unit, value}]}) =>
            [name, acrossName, across(sample), rate, unit, value(sample)]);"""
    page = dyn.play(x, labels={"theta": "θ"}, units={"theta": "rad"})
    found = evaluated(page, node, script)
    assert found[1][:2] == ["phase: θ, dθ/dt", "θ, rad"]
    assert found[1][3:5] == ["dθ/dt", "rad/s"]
    assert found[0][4] == ""
    assert np.allclose([row[2] for row in found], x[: dyn.n_q], rtol=1e-12)
    assert np.allclose([row[5] for row in found], dyn.qdot(0.0, x), rtol=1e-12)


@in_node
@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (kc.shapes.Box(0.2, 0.3, 0.5), 0.03),
        (kc.shapes.Cylinder(0.2, 0.7, "x"), np.pi * 0.028),
        (kc.shapes.Capsule(0.2, 0.7, "y"), np.pi * (0.028 + 0.032 / 3.0)),
        (kc.shapes.Ellipsoid(0.2, 0.3, 0.5), np.pi * 0.04),
        (kc.shapes.Disc(0.5, "y"), None),
        (kc.shapes.Sphere(0.5), np.pi / 6.0),
    ],
)
def test_solids_are_closed_and_their_faces_look_outside(
    node: subprocess.Popen[str], shape: kc.shapes.Shape, volume: float | None
) -> None:
    """The area vectors sum to zero, the divergence theorem gives the volume; turned and moved, and along an axis."""
    turned = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    for each in (shape, shape.moved(turned, [0.3, -2.0, 1.0])):
        script = f"return meshOf(...{json.dumps([each.kind, each.sizes, each.axis, each.place])});"
        found = evaluated(pendulum().play([1.0, 0.0]), node, script)
        points, area, content = np.array(found["points"]), np.zeros(3), 0.0
        for face in found["faces"]:
            for j, k in itertools.pairwise(face[1:]):
                a, b, c = points[[face[0], j, k]]
                area += np.cross(b - a, c - a) / 2.0
                content += a @ np.cross(b, c) / 6.0
        assert np.allclose(area, 0.0, atol=1e-14)
        assert len(found["faces"]) <= 200
        assert content > 0.0 if volume is None else np.isclose(content, volume, rtol=0.08)
        lines, reach = np.concatenate(each.lines()), np.max(each.sizes)
        for extreme in (np.min, np.max):  # where the lines of films and drawings are
            assert np.allclose(extreme(points, axis=0), extreme(lines, axis=0), atol=0.04 * reach)


@in_node
def test_a_wheel_grows_with_its_radius_and_turns_with_its_body(node: subprocess.Popen[str]) -> None:
    """Corners of faces are at most the radius from the mass centre; marked quarters go round with the angle."""
    page = loaded("rolling_disc").play()
    scene = page.data["scene"]
    assert scene["ground"] == 0.0
    assert [row[:3] for row in scene["solids"]] == [[0, "Disc", ("R",)]]
    script = """
        const value = name => machine.view("parameters")[model.parameters.findIndex(each => each.name === name)];
        const solids = new Solids(model.scene.solids, value), [, frame] = model.scene.bodies[0];
        const axes = () => machine.view("axes").subarray(9 * frame, 9 * frame + 9);
        const state = {place: n => motion.place(n), axes};
        const look = () => {
            const faces = solids.faces(model.scene, state), centre = motion.place(model.scene.centres[0]);
            const away = faces.flatMap(({corners}) => corners.map(v => Math.hypot(...v.map((x, i) => x - centre[i]))));
            const [mark] = faces.filter(({share}) => share < 1);
            return [Math.max(...away), mark.corners[1].map((v, i) => v - centre[i])];
        };
        const before = look();
        motion.go(0.1, Infinity);
        const after = look();
        motion.setParameter(model.parameters.findIndex(({name}) => name === "R"), 0.5);
        return [before, after, look()];"""
    (radius, start), (_, end), (larger, _) = evaluated(page, node, script)
    assert np.allclose([radius, larger], [0.35, 0.5], rtol=2e-3)
    assert np.linalg.norm(np.subtract(end, start)) > 0.1 * 0.35 * 3.0  # about 4 rad/s


@in_node
def test_curves_have_points_between_the_pictures(node: subprocess.Popen[str]) -> None:
    """A fast motion in pictures of a sixtieth of a second: chords are near the curve, and points are on it."""
    dyn = loaded("four_bar")
    x = dyn.consistent(0.0, some_state("four_bar"))
    slow = dyn.play(x)
    fast = x.copy()
    fast[dyn.n_q :] *= 25.0
    script = "for (let i = 0; i < 30; i++) motion.go((i + 1) / 60 - machine.time, Infinity);"
    script += "return motion.shown().map(({t, x, energies, residual}) => [t, ...x, ...energies, residual]);"
    rows = np.array(evaluated(dyn.play(fast, rtol=1e-10), node, script))
    t, states, (T, U, W), residuals = rows[:, 0], rows[:, 1 : 1 + dyn.n_x], rows[:, -4:-1].T, rows[:, -1]
    assert len(t) > 31 * 4
    assert np.all(np.diff(t) > 0.0)
    expected = dyn.simulate((0.0, 0.5), fast, t_eval=t, rtol=1e-11, atol=1e-11).x
    np.testing.assert_allclose(states, expected, atol=1e-6 * np.max(np.abs(expected)))
    assert np.max(residuals) < 1e-10
    assert np.allclose(T + U, W + T[0] + U[0], atol=1e-3 * np.max(T))
    middle = dyn.simulate((0.0, 0.5), fast, t_eval=(t[:-1] + t[1:]) / 2.0, rtol=1e-11, atol=1e-11).x
    later = t[:-1] > 0.1  # what the curves cover is known
    away = np.max(np.abs(middle - (states[:-1] + states[1:]) / 2.0)[later], axis=0)
    assert np.all(away < 1e-2 * np.ptp(states, axis=0))  # with at most 16 points in a picture
    assert len(evaluated(slow, node, script)) < 0.5 * len(t)


@in_node
def test_ticks_are_round_and_within(node: subprocess.Popen[str]) -> None:
    page, ends = pendulum().play([1.0, 0.0]), [(0.0, 1.0), (-2.18, 2.14), (1e6, 1e6 + 3.0), (-3e-7, 2e-9)]
    for (low, high), marks in zip(
        ends, evaluated(page, node, f"return {json.dumps(ends)}.map(([a, b]) => ticks(a, b, 6));"), strict=True
    ):
        assert 3 <= len(marks) <= 8
        assert low <= marks[0] < marks[-1] <= high
        steps = np.diff(marks)
        assert np.allclose(steps, steps[0], rtol=1e-6)
        assert f"{steps[0]:.0e}"[0] in "125"


def test_the_camera_follows_only_what_goes_away() -> None:
    """A pendulum in a furuta's arm turns about a pin; a biped falls."""
    assert loaded("furuta_pendulum").play().data["scene"]["follow"] == -1
    biped = loaded("biped")
    assert biped.play().data["scene"]["follow"] > 0
    assert loaded("furuta_pendulum").play(follow="pendulum").data["scene"]["follow"] > 0


@in_node
def test_what_would_stay_at_rest_starts_with_a_push(node: subprocess.Popen[str]) -> None:
    page = pendulum().play()
    assert page.data["pushed"]
    speed = page.data["start"]["state"][1] * 0.5  # of the mass centre: half of the picture, 0.75 m, in a second
    assert speed == pytest.approx(0.5 * 0.75, rel=1e-3)
    assert not pendulum().play([0.0, 0.0]).data["pushed"]
    assert not pendulum().play(inputs={"T": 1.0}).data["pushed"]
    furuta = loaded("furuta_pendulum").play()
    assert furuta.data["start"]["state"][:2] == [0.6, 2.8]  # the start of the gallery, and the law brings it back
    arm = loaded("planar_2r").play()
    assert arm.data["pushed"]
    for each in (furuta, arm):
        script = "for (let i = 0; i < 20; i++) motion.go(0.5, Infinity); return Array.from(machine.view('state'));"
        assert np.allclose(evaluated(each, node, script), each.data["feedback"]["about"], atol=1e-4)


def test_inertias_that_would_be_impossible_have_no_slider() -> None:
    """Three principal moments of a solid: none exceeds the sum of the others."""
    page = loaded("gyroscope").play()
    offered = {each["name"] for each in page.data["parameters"] if "range" in each}
    assert offered == {"m_inner", "m_outer", "m_rotor"}


REFUSED = [
    ({"inputs": lambda t, x: [0.0]}, kc.ModelError, "a page has no Python.*feedback=K"),
    ({"inputs": {"T": lambda t: 0.0}}, kc.ModelError, "gives T: a page has no Python"),
    ({"method": "radau"}, ValueError, "method is 'radau'; a page has 'euler'"),
    ({"rtol": 0.0}, ValueError, "rtol is 0.0; it must be a positive number"),
    ({"speed": float("nan")}, ValueError, "speed is nan"),
    ({"pull": -1.0}, ValueError, "pull is -1.0"),
    ({"sliders": ["mass"]}, KeyError, "no parameter or input is called 'mass'"),
    ({"sliders": {"m": (2.0, 1.0)}}, ValueError, r"sliders gives 'm' the range \(2.0, 1.0\)"),
    ({"keys": {"a": "T"}}, ValueError, r"keys\['a'\] is 'T'; it must be an input and a number"),
    ({"keys": {"a": ("F", 1.0)}}, KeyError, "no input is called 'F'"),
    ({"plots": ["angles"]}, KeyError, "no plot, coordinate, speed, output or input is called 'angles'"),
    ({"feedback": [[1.0]]}, ValueError, r"feedback has shape \(1, 1\); K must be \(1, 2\)"),
    ({"feedback": ([[1.0, 2.0]], [0.0])}, ValueError, r"feedback"),
    ({"units": {"p": "m"}}, KeyError, "is called 'p'"),
    ({"follow": "nose"}, KeyError, "no point, body or joint of 'model'? ?.*'nose'"),
    ({"view": "xx"}, ValueError, "view is 'xx'"),
    ({"title": 3}, TypeError, "title is 3; it must be a text"),
    ({"text": ["a"]}, TypeError, r"text is \['a'\]; it must be a text"),
    ({"labels": {"lam": "λ"}}, KeyError, "no state, input, output or parameter is called 'lam'"),
    ({"labels": {"q": 1}}, TypeError, "labels gives 'q' the label 1; it must be a text"),
    ({"ground": "low"}, ValueError, "ground is 'low'; it must be a height"),
    ({"ground": float("inf")}, ValueError, "ground is inf"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pendulum().play([1.0, 0.0], **options)


def test_what_cannot_travel(tmp_path: Path) -> None:
    f = sm.Function("f")
    libm = ctypes.CDLL(None)
    dyn = pendulum(functions={f: kc.CFunction(libm.sin, libm.cos, libm.sinh)}, feedback={torque: f(q)})
    with pytest.raises(kc.ModelError, match=r"cannot become a live page: it calls f by address.*kc\.Spline"):
        dyn.play([1.0, 0.0])
    with pytest.raises(ValueError, match=r"'page\.pdf' does not end in \.html"):
        pendulum().play([1.0, 0.0]).save("page.pdf")
    with pytest.raises(ValueError, match="x0 does not satisfy the constraints"):
        loaded("four_bar").play(np.zeros(6))


def test_a_parameter_without_value_is_named() -> None:
    N, P, origin = me.ReferenceFrame("N"), me.Point("P"), me.Point("O")
    origin.set_vel(N, 0)
    P.set_pos(origin, q * N.x)
    P.set_vel(N, u * N.x)
    mass = me.Particle("mass", P, m)
    dyn = kc.compile(kc.Model(N, [q], [u], [q.diff() - u], bodies=[mass], forcelist=[(P, -g * q * N.x)]))
    dyn.parameters["m"] = 1.0
    with pytest.raises(ValueError, match=r"parameter g of 'model' never got a value: set dyn.parameters\['g'\]"):
        dyn.play()


@in_node
def test_what_cannot_be_had_in_time_does_not_hold_the_page(node: subprocess.Popen[str]) -> None:
    script = "const began = performance.now(), gone = motion.go(1e6, began + 20), took = performance.now() - began;"
    script += "return [gone, took, motion.trouble, machine.time];"
    gone, took, trouble, t = evaluated(loaded("double_pendulum").play([1.5, -0.3, 0.0, 0.0]), node, script)
    assert 0.0 < gone == t < 1e5
    assert took < 1000.0
    assert trouble == ""


def test_names_stay_text() -> None:
    """No text of the model is a part of the page's HTML, and what looks like a place to fill in is none."""
    page = pendulum(name=HOSTILE, body=HOSTILE).play([1.0, 0.0])
    text = page.html()
    assert text.count("</script>") == 4
    [data] = re.findall(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
    assert json.loads(data)["name"] == HOSTILE
    assert re.findall("<title>(.*)</title>", text) == [html.escape(HOSTILE)]
    assert "<iframe srcdoc=" in page._repr_html_()
    assert page.html() == text


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.html"
    assert main(["play", "double_pendulum", "--state", "q1=0.5", "-o", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"saved as {path}, 1")
    assert '"state":[0.5,0.0,0.0,0.0]' in path.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("name", kc.models())
def test_every_model_of_the_gallery_plays(name: str, node: subprocess.Popen[str]) -> None:
    """A second as a page shows it, without trouble; what moves has the energy that the loads account for."""
    page = loaded(name).play()
    assert len(page.html()) < 450_000
    script = "const out = []; for (let i = 0; i < 60; i++) motion.go(model.speed / 60, Infinity);"
    script += "return [motion.trouble, motion.drift, motion.residual, machine.time];"
    trouble, drift, residual, t = evaluated(page, node, script)
    assert trouble == ""
    assert t == pytest.approx(page.data["speed"], rel=1e-9)
    assert drift < 1e-6 or page.data["feedback"] is not None
    assert residual < 1e-9 * max(1.0, np.max(np.abs(page.data["start"]["state"])))


# In a browser ---------------------------------------------------------------------------------------------

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt install chromium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started


def shown(browser: Browser, page: LivePage, folder: Path, fragment: str = "") -> None:
    page.save(folder / "page.html")
    browser.open(folder / "page.html", fragment)
    browser.evaluate("began")


def at(browser: Browser, place: str) -> tuple[float, float]:
    """Pixels of a place in the picture."""
    x, y = browser.evaluate(f"picture.seen({place})")
    return x, y


@in_browser
def test_the_page_runs_and_draws_the_model(browser: Browser, tmp_path: Path) -> None:
    """The mass centre is red where `positions` says; one request; T + U stays."""
    dyn = pendulum()
    shown(browser, dyn.play([1.0, 0.0]), tmp_path)
    browser.wait(lambda: browser.evaluate("machine.time") > 0.3)
    assert browser.evaluate("motion.drift") < 1e-6
    browser.evaluate("run(false)")
    state, origin = browser.evaluate("Array.from(machine.view('state'))"), at(browser, "[0, 0, 0]")
    [place] = dyn.positions(0.0, state)
    x, y = at(browser, str(place.tolist()))
    assert browser.screenshot().getpixel((round(x), round(y))) == RED
    direction = np.array([x - origin[0], origin[1] - y])
    assert np.allclose(direction / np.hypot(*direction), place[:2] / np.hypot(*place[:2]), atol=1e-6)
    assert browser.requests == [(tmp_path / "page.html").as_uri()]
    assert not browser.complaints


@in_browser
def test_quarters_of_a_wheel_are_drawn_light_and_dark(browser: Browser, tmp_path: Path) -> None:
    shown(browser, loaded("rolling_disc").play(), tmp_path)
    browser.evaluate("run(false)")
    picture = browser.screenshot()
    places = "picture.state.place(model.scene.centres[0]), picture.state.axes(0), [0.17 * {0}, 0.17 * {1}, 0]"
    corners = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    pixels = [picture.getpixel(tuple(map(round, at(browser, f"along({places.format(*c)})")))) for c in corners]
    assert pixels[0] == pixels[2]
    assert pixels[1] == pixels[3]
    assert np.allclose(np.divide(pixels[0], pixels[1]), 0.6, atol=0.02)
    assert browser.evaluate("document.querySelector('h1').textContent") == "Rolling disc"
    low, high, centre = browser.evaluate(
        "[model.scene.low, model.scene.high, picture.state.place(model.scene.centres[0])]"
    )
    assert np.allclose(np.add(low, high) / 2.0, centre, atol=1e-12)  # it stays in the middle
    assert not browser.complaints


@in_browser
def test_a_body_is_dragged_and_pulled(browser: Browser, tmp_path: Path) -> None:
    """In pause it goes where the hand leads it, within the constraints; while it runs it swings there."""
    shown(browser, loaded("four_bar").play(some_state("four_bar")), tmp_path)
    browser.evaluate("run(false)")
    before = browser.evaluate("Array.from(machine.view('state'))")
    x, y = at(browser, "picture.state.place(model.scene.centres[0])")
    browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    for i in range(1, 6):
        browser.mouse("mouseMoved", x + 4 * i, y + 2 * i, button="left", buttons=1)
    assert browser.evaluate("motion.residual") < 1e-12
    assert browser.evaluate("Array.from(machine.view('state'))") != before
    browser.mouse("mouseReleased", x + 20, y + 10, button="left", clickCount=1)
    browser.evaluate("run(true)")
    x, y = at(browser, "picture.state.place(model.scene.centres[2])")
    browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseMoved", x + 60, y, button="left", buttons=1)
    browser.evaluate("new Promise(done => setTimeout(done, 300))")
    assert browser.evaluate("hands.held.body") in (1, 2)
    assert browser.evaluate("motion.residual") < 1e-12
    browser.mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
    assert browser.evaluate("hands.held") is None
    assert browser.evaluate("motion.trouble") == ""
    assert not browser.complaints


@in_browser
def test_sliders_boxes_keys_and_links(browser: Browser, tmp_path: Path) -> None:
    shown(browser, loaded("four_bar").play(some_state("four_bar")), tmp_path)
    browser.evaluate("run(false)")
    row = "[...document.querySelectorAll('.row')].find(each => each.textContent === 'L1')"
    change = f"(() => {{ const box = {row}.querySelector('[type=number]'); box.value = %s;"
    change += "box.dispatchEvent(new Event('change')); return [box.value, $('message').textContent]; })()"
    value, message = browser.evaluate(change % 50)
    assert value == "0.4"
    assert message.startswith("L1 cannot be 50 here: a constraint on coordinates cannot be satisfied")
    assert browser.evaluate(change % 0.42) == ["0.42", ""]
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
    assert browser.evaluate("machine.view('inputs')[0]") > 0
    browser.call("Input.dispatchKeyEvent", type="keyUp", key="ArrowRight")
    assert browser.evaluate("machine.view('inputs')[0]") == 0
    browser.evaluate("step()")
    link, state = browser.evaluate("linkTo(motion)"), browser.evaluate("Array.from(machine.view('state'))")
    shown(browser, loaded("four_bar").play(some_state("four_bar")), tmp_path, link)
    assert np.allclose(browser.evaluate("Array.from(machine.view('state'))"), state, atol=1e-13)
    assert browser.evaluate("machine.view('parameters')[0]") == 0.42
    assert not browser.complaints


@in_browser
def test_the_page_says_what_it_is_and_what_can_be_done(browser: Browser, tmp_path: Path) -> None:
    page = pendulum().play(title=HOSTILE, text=HOSTILE, labels={"q": "θ", "m": HOSTILE}, keys={"a": ("T", 1.0)})
    shown(browser, page, tmp_path)
    words = ["#about h1", "#about p", "#hint"]
    title, text, hint = browser.evaluate(f"{json.dumps(words)}.map(each => document.querySelector(each).textContent)")
    assert title == text == HOSTILE
    assert hint.split("\n") == [
        "Drag a body to pull it; pause first to place it.",
        "Key a: change T.",
        "The start is an equilibrium with a small push.",
    ]
    assert browser.evaluate("document.scripts.length") == 4
    rows = browser.evaluate("[...document.querySelectorAll('.row span')].map(each => each.textContent)")
    assert rows[:6] == ["T", "g", "l", HOSTILE, "θ", "u"]
    assert not browser.complaints
    shown(browser, loaded("arm7").play(), tmp_path)
    assert browser.evaluate("$('hint').textContent").split("\n")[1:3] == [
        "Arrow keys left/right: change tau1.",
        "Arrow keys down/up: change tau2.",
    ]
    seen = "[...document.querySelectorAll('.row [type=range]')].filter(each => each.checkVisibility()).length"
    assert browser.evaluate(seen) == 6
    browser.evaluate("document.querySelectorAll('#side details').forEach(each => { each.open = true; })")
    offered = sum("range" in row for kind in ("inputs", "parameters") for row in loaded("arm7").play().data[kind])
    assert browser.evaluate(seen) == offered > 6


@in_browser
def test_the_ground_is_drawn(browser: Browser, tmp_path: Path) -> None:
    """A line with a shade below in a plane; in space a grid that stays where the mechanism is watched from."""
    shown(browser, pendulum().play([1.0, 0.0], ground=-0.8, pull=0.0), tmp_path)
    browser.evaluate("run(false)")
    x, y = at(browser, "[0, -0.8, 0]")
    picture = browser.screenshot()
    colours = [picture.getpixel((round(x) + 120, round(y) + dy)) for dy in (-6, 0, 6)]
    assert colours[0] == (255, 255, 255)
    assert len(set(colours)) == 3
    plain = pendulum().play([1.0, 0.0], view=(20, 30, "y"), pull=0.0)
    grid = pendulum().play([1.0, 0.0], view=(20, 30, "y"), pull=0.0, ground=-0.8)
    count = "(() => { const {data} = picture.pen.getImageData(0, 0, picture.canvas.width, picture.canvas.height);"
    count += "let n = 0; for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n; })()"
    shaded = []
    for page in (plain, grid):
        shown(browser, page, tmp_path)
        browser.evaluate("run(false)")
        shaded.append(browser.evaluate(count))
    assert shaded[1] > 2 * shaded[0]
    assert not browser.complaints


@in_browser
def test_names_stay_text_in_the_page(browser: Browser, tmp_path: Path) -> None:
    shown(browser, pendulum(name=HOSTILE, body=HOSTILE).play([1.0, 0.0]), tmp_path)
    assert "".join(browser.evaluate("document.title").split()) == "".join(HOSTILE.split())
    assert browser.evaluate("document.scripts.length") == 4
    assert browser.evaluate("document.querySelector('h1').textContent") == HOSTILE
    assert not browser.complaints


@in_browser
def test_a_notebook_shows_it_in_a_frame_of_its_own(browser: Browser, tmp_path: Path) -> None:
    """Sandboxed; where the page around it forbids WebAssembly, it says so."""
    frame = pendulum().play([1.0, 0.0])._repr_html_()
    told = "<script>addEventListener('message', e => { window.told = e.data; })</script>"
    for policy, expected in (("", ""), ("script-src 'unsafe-inline'", "forbids WebAssembly")):
        head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
        tell = (
            "<script>began.then(() => parent.postMessage(document.getElementById('message').textContent, '*'))</script>"
        )
        inside = frame.replace(html.escape("</body>"), html.escape(tell + "</body>"))
        inside = re.sub(html.escape("script-src 'sha256-") + "[^ ]*", html.escape("script-src 'unsafe-inline'"), inside)
        (tmp_path / "notebook.html").write_text(f"<!doctype html>{head}{told}<body>{inside}", encoding="utf-8")
        browser.open(tmp_path / "notebook.html")
        browser.wait(lambda: browser.evaluate("typeof told") == "string")
        assert expected in browser.evaluate("told")
        assert bool(expected) == bool(browser.evaluate("told"))


@in_browser
def test_it_is_small_enough_for_a_telephone(browser: Browser, tmp_path: Path) -> None:
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.call("Emulation.setDeviceMetricsOverride", **metrics)
    shown(browser, loaded("four_bar").play(), tmp_path)
    assert browser.evaluate("document.documentElement.scrollWidth") == 390
    assert browser.evaluate("$('run').getBoundingClientRect().height") >= 40
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    shown(browser, loaded("four_bar").play(), tmp_path)
    assert browser.evaluate("running") is False
    browser.call("Emulation.setEmulatedMedia", features=[])
    names = browser.evaluate(
        "[...document.querySelectorAll('input, select, textarea, output, canvas')]"
        ".filter(each => !each.labels?.length && !each.getAttribute('aria-label')).length"
    )
    assert names == 0
    assert not browser.complaints
