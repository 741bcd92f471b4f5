# SPDX-License-Identifier: BSD-3-Clause
"""What a run with rigid contacts hands on: forces, modes and impulses in tables and files, marks in films, bands."""

import csv
import json
import pickle
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import sympy.physics.mechanics as me
from browser import CHROMIUM, Browser
from mechanisms import compiled, mass_point
from numpy.testing import assert_allclose, assert_array_equal

import kanecore as kc
from kanecore.show.contact_marks import mode_colour

G, M, MU, HEIGHT, SPEED = 9.81, 2.0, 0.3, 0.05, 1.5
LANDS = np.sqrt(2 * HEIGHT / G)
RESTS = SPEED / (MU * G)  # the impact takes as much of the slip as the fall would have
TIMES = {"open": 0.5 * LANDS, "slide +": 0.5 * (LANDS + RESTS), "stick": RESTS + 0.1}
FORCES = {"open": [0.0, 0.0], "slide +": [M * G, -MU * M * G], "stick": [M * G, 0.0]}
IMPULSE = M * G * LANDS


@pytest.fixture(scope="module")
def run() -> kc.ModeRun:
    """A point is thrown, lands, slides and rests."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("v w")
    dyn = compiled(mass_point(dict(zip(q, u, strict=True)), M, [0, -M * G]))
    return kc.Modes(dyn, {"puck": {"point": dyn.points[0], "mu": MU}}).simulate((0, 1), [0, HEIGHT, SPEED, 0])


def test_any_times_have_modes_forces_and_impulses(run: kc.ModeRun) -> None:
    assert [mode["puck"] for _, mode in run.modes] == list(TIMES)
    assert_allclose([t for t, _ in run.modes], [0.0, LANDS, RESTS], rtol=1e-8)
    samples = run.at(list(TIMES.values()))
    assert list(samples["puck_mode"]) == list(TIMES)
    forces = np.stack([samples["puck_normal"], samples["puck_along"]], axis=1)
    assert_allclose(forces, list(FORCES.values()), atol=1e-9)
    assert_allclose(samples["puck_impulse_normal"], [0.0, IMPULSE, IMPULSE], rtol=1e-8)
    assert_allclose(samples["puck_impulse_along"], [0.0, -MU * IMPULSE, -MU * IMPULSE], rtol=1e-8)
    assert list(samples[1:]["puck_mode"]) == ["slide +", "stick"]
    with pytest.raises(KeyError, match="puck_normal"):
        samples["puck_norml"]


def test_of_two_equal_times_the_first_is_before_the_change(run: kc.ModeRun) -> None:
    before, after = np.flatnonzero(run.t == run.modes[1][0])
    assert [run["puck_mode"][i] for i in (before, after)] == ["open", "slide +"]
    assert_allclose(run["puck_normal"][[before, after]], [0.0, M * G])
    assert_allclose(run["puck_impulse_normal"][[before, after]], [0.0, IMPULSE], rtol=1e-8)
    assert_array_equal(run["puck_normal"], run.forces["puck"][:, 0])
    assert_allclose(run["x"], run.x[:, 0])


def test_files_hold_contacts(run: kc.ModeRun, tmp_path: Path) -> None:
    run.to_csv(tmp_path / "run.csv")
    rows = list(csv.DictReader((tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()))
    names = "t x y v w puck_mode puck_normal puck_along puck_impulse_normal puck_impulse_along"
    assert list(rows[0]) == names.split()
    assert [row["puck_mode"] for row in rows] == list(run["puck_mode"])
    assert_array_equal([float(row["puck_along"]) for row in rows], run["puck_along"])
    run.save(tmp_path / "run.npz")
    for kept in (kc.Trajectory.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(run.samples))):
        assert list(kept.contacts) == names.split()[5:]
        for name in kept.contacts:
            assert_array_equal(kept[name], run[name])
    assert not kc.load("kepler").simulate((0, 1), [1, 0, 0, 1]).samples.contacts


def test_a_pickled_run_interpolates_forces(run: kc.ModeRun) -> None:
    other = pickle.loads(pickle.dumps(run))
    for name in ("puck_mode", "puck_along"):
        assert_array_equal(other.at(list(TIMES.values()))[name], run.at(list(TIMES.values()))[name])
    assert len(other.animate(fps=20).times) == 21


def test_pandas_reads_modes(run: kc.ModeRun, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    run.to_csv(tmp_path / "run.csv")
    table = pandas.read_csv(tmp_path / "run.csv", index_col="t")
    pandas.testing.assert_frame_equal(table, run.to_dataframe(), check_dtype=False)
    assert_allclose(table[table.puck_mode == "slide +"].puck_along, -MU * M * G)


def test_a_plot_has_forces_and_bands(run: kc.ModeRun) -> None:
    pytest.importorskip("matplotlib")
    figure = run.plot("y", "puck_*")
    assert [ax.get_ylabel() for ax in figure.axes] == ["coordinates q", "contact forces"]
    bands = {patch.get_facecolor() for patch in figure.axes[0].patches}
    assert len(bands) == 3
    assert [text.get_text() for text in figure.legends[0].texts] == [*TIMES, "impact"]
    with pytest.raises(KeyError, match="puck_normal"):
        run.plot("puck_norml")


def test_a_film_tells_modes_forces_and_impacts(run: kc.ModeRun) -> None:
    animation = run.animate(fps=100)
    text = re.search(r'id="movie">(.*?)</script>', animation.html(), re.DOTALL)
    assert text is not None
    shown = json.loads(text[1])["contacts"]
    modes = [shown["words"][row[0]] for row in shown["modes"]]
    assert modes == list(run.at(animation.times)["puck_mode"])
    largest = np.hypot(1.0, MU)
    for word, (normal, along) in FORCES.items():
        expected = 1000.0 * np.array([along, normal, 0.0]) / (M * G * largest)
        assert_allclose(shown["arrows"][modes.index(word)], expected, atol=0.5)
    first = modes.index("slide +")
    assert [row[0] for row in shown["struck"]] == [int(0 <= i - first < 15) for i in range(len(modes))]
    assert_allclose(shown["strikes"], [[LANDS]], rtol=1e-8)
    assert shown["colours"] == [mode_colour(word) for word in TIMES]


def test_forces_turn_with_the_plane_they_act_on() -> None:
    """A block at rest on a slope, which is a frame: the force is upright."""
    q, u = me.dynamicsymbols("x y"), me.dynamicsymbols("v w")
    N, O, A = me.ReferenceFrame("N"), me.Point("O"), me.ReferenceFrame("A")  # noqa: E741
    O.set_vel(N, 0)
    A.orient_axis(N, N.z, 0.4)
    P, foot = O.locatenew("P", q[0] * A.x + q[1] * A.y), O.locatenew("foot", 0 * N.x)
    P.set_vel(N, u[0] * A.x + u[1] * A.y)
    rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
    bodies, loads = [me.Particle("P", P, M)], [(P, -M * G * N.y)]
    dyn = compiled(kc.Model(N, q, u, rates, bodies=bodies, forcelist=loads, points=[foot], frames=[A]))
    run = kc.Modes(dyn, {"P": {"origin": "foot", "frame": "A", "mu": 0.6}}).simulate((0, 0.1), np.zeros(4))
    marks = run.animate(fps=20).contacts
    assert marks is not None
    assert not run["P_impulse_normal"].any()
    assert_allclose(marks.forces[:, 0], np.tile([0.0, M * G, 0.0], (3, 1)), atol=1e-9)


def test_what_has_no_point_has_a_band_alone() -> None:
    """A weld of five rows that switches on, in columns, in a film and in a plot."""
    q, u = me.dynamicsymbols("q1:6"), me.dynamicsymbols("u1:6")
    N, O = me.ReferenceFrame("N"), me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    places = [O.locatenew(f"P{i}", x * N.x) for i, x in enumerate(q)]
    bodies = [me.Particle(P.name, P, M) for P in places]
    rows = {f"weld, {i}": v for i, v in enumerate(u)}
    dyn = compiled(
        kc.Model(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)], bodies=bodies, velocity_constraints=rows)
    )
    speeds = np.arange(1.0, 6.0)
    switches = {"weld": {"on": 0.3, "starts": "off"}}
    run = kc.Modes(dyn, switches=switches).simulate((0, 0.5), [*np.zeros(5), *speeds])
    assert_allclose([run[f"weld_impulse_{i}"][-1] for i in range(1, 6)], -M * speeds, rtol=1e-12)
    marks = pickle.loads(pickle.dumps(run)).animate(fps=20).contacts
    assert (marks.points, list(marks.spans["weld"])) == ([None], ["open", "held"])
    assert not marks.forces.any()
    if find_spec("matplotlib"):
        assert [text.get_text() for text in run.plot("q1").legends[0].texts] == ["open", "held", "impact"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH: apt install chromium")
    with Browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


def test_the_page_marks_contacts(run: kc.ModeRun, browser: Browser, tmp_path: Path) -> None:
    """Dots have the colours of modes; a press on the bands goes to their time."""
    animation = run.animate(fps=50, labels=False)
    animation.save(tmp_path / "film.html")
    browser.open(tmp_path / "film.html")
    for word, time in TIMES.items():
        if word == "open":
            continue  # hollow, where the mass centre is red
        frame = round(50 * time)
        left, top, width = browser.evaluate("(b => [b.left, b.top, b.width])(strip.getBoundingClientRect())")
        x = left + width * frame / (len(animation.times) - 1)
        browser.mouse("mousePressed", round(x), round(top + 8), button="left", buttons=1, clickCount=1)
        browser.mouse("mouseReleased", round(x), round(top + 8), button="left", clickCount=1)
        browser.wait(lambda frame=frame: abs(browser.evaluate("frame") - frame) <= 1)
        x, y = browser.evaluate("picture.seen(place(frame, movie.contacts.places[0]))")
        found = browser.screenshot().getpixel((round(x), round(y) + 2))
        assert "#{:02x}{:02x}{:02x}".format(*found[:3]) == mode_colour(word)
    assert browser.evaluate("document.querySelector('section div').textContent") == "puck"
    assert not browser.complaints
