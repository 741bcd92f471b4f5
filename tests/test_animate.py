# SPDX-License-Identifier: BSD-3-Clause
"""Moving pictures: where things are in each frame, files of all three kinds, and the page in a real browser."""

import html
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from browser import CHROMIUM, Browser
from gallery_states import loaded

import kanecore as kc
from kanecore.show.movies import drawn, frame_times

pytest.importorskip("matplotlib")

q, u = me.dynamicsymbols("q u")
p, v = me.dynamicsymbols("p v")
m, half, g = sm.symbols("m l g")
VALUES = {"m": 1.0, "l": 0.5, "g": 9.81}
HOSTILE = "</script><script>document.title='owned'</script>&amp;\"'\u2028"
RED, SIZE = (0xC4, 0x4E, 0x52), (640, 480)


def pendulum(name: str = "pendulum", spatial: bool = False) -> kc.CompiledModel:
    """A rod about the origin in the x-y plane; a spatial one turns about the vertical first."""
    N = me.ReferenceFrame("N")
    B = N.orientnew("B", "Axis", [p if spatial else 0, N.y])
    B.set_ang_vel(N, v * N.y if spatial else 0)
    A = B.orientnew("A", "Axis", [q, B.z])
    A.set_ang_vel(B, u * B.z)
    origin = me.Point("O")
    origin.set_vel(N, 0)
    C = origin.locatenew("C", -half * A.y)
    tip = C.locatenew("tip", -half * A.y)
    rod = me.RigidBody(name, C, A, m, (me.inertia(A, *[m * half**2] * 3), C))
    state = ([q, p], [u, v]) if spatial else ([q], [u])
    kinematics = [x.diff() - s for x, s in zip(*state, strict=True)]
    options: dict[str, Any] = {"points": [tip], "shapes": {name: kc.shapes.Rod(2 * VALUES["l"], "y")}, "name": name}
    return kc.compile(
        kc.Model(N, *state, kinematics, bodies=[rod], forcelist=[(C, -m * g * N.y)], **options), parameters=VALUES
    )


@pytest.fixture(scope="module")
def sol() -> kc.Trajectory:
    return pendulum().simulate((0.0, 2.0), [1.0, 0.0])


def data_of(page: str) -> str:
    [data] = re.findall(r'<script type="application/json" id="movie">(.*?)</script>', page, re.S)
    return data


def movie(page: str) -> dict[str, Any]:
    return json.loads(data_of(page))


def test_frames_are_where_the_motion_is(sol: kc.Trajectory) -> None:
    data = movie(sol.animate(fps=20, trace="tip").html())
    times = np.arange(41) / 20
    angles = sol(times)[:, 0]
    places = np.array(data["places"]).reshape(41, -1, 3)
    [tip] = data["traces"]
    path = places[:, tip]
    assert dict(data["labels"])[tip] == "tip"
    unit = 1.0 / np.median(np.linalg.norm(path, axis=1))  # the tip is 1 m from the origin
    expected = np.stack([np.sin(angles), -np.cos(angles), np.zeros(41)], axis=-1)
    assert np.allclose(path * unit, expected, atol=2e-4)
    axes = np.array(data["axes"]).reshape(41, 3, 3) / 1000
    assert np.allclose(axes[:, 0, 0], np.cos(angles), atol=1e-3)
    assert np.allclose(axes[:, 1, 0], np.sin(angles), atol=1e-3)
    assert (data["start"], data["step"], data["fps"]) == (0.0, 0.05, 20)
    assert data["basis"] == [[1, 0, 0], [0, 1, 0]]


def test_times_of_frames() -> None:
    assert np.allclose(frame_times(1.0, 2.0, 10, 1.0), 1.0 + np.arange(11) / 10)
    assert np.allclose(frame_times(1.0, 2.0, 10, 2.0), 1.0 + np.arange(6) / 5)
    assert np.allclose(frame_times(2.0, 1.0, 10, 1.0), 2.0 - np.arange(11) / 10)
    assert frame_times(0.0, 0.3, 10, 1.0).tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert frame_times(3.0, 3.0, 30, 1.0).tolist() == [3.0]
    with pytest.raises(ValueError, match=r"frames, more than 20000: choose speed=1\.7e\+03 or more"):
        frame_times(0.0, 1e6, 30, 1.0)
    assert len(frame_times(0.0, 1e6, 30, 1.7e3)) < 20_000
    assert len(frame_times(0.0, 1.0, np.int64(30), np.float32(0.5))) == 61
    for wrong in (0, -1.0, np.nan, np.inf, True, "30", None):
        with pytest.raises(ValueError, match="fps is"):
            frame_times(0.0, 1.0, wrong, 1.0)
        with pytest.raises(ValueError, match="speed is"):
            frame_times(0.0, 1.0, 30, wrong)


def test_without_steps_the_asked_times_are_shown(sol: kc.Trajectory) -> None:
    times = np.linspace(0.0, 2.0, 201)
    run = sol._dyn.simulate((0.0, 2.0), [1.0, 0.0], t_eval=times, dense_output=False)
    with pytest.raises(ValueError, match="did not keep its steps"):
        run(1.0)
    ours, theirs = (np.array(movie(s.animate(fps=10).html())["places"]) for s in (run, sol))
    assert ours.shape == theirs.shape
    assert np.max(np.abs(ours - theirs)) <= 2


def test_forward_and_backward_runs(sol: kc.Trajectory) -> None:
    back = sol._dyn.simulate((2.0, 0.0), sol.x[-1])
    ours, theirs = (np.array(movie(s.animate(fps=10).html())["places"]) for s in (back, sol))
    assert np.max(np.abs(ours - theirs[::-1])) <= 2
    assert movie(back.animate(fps=10).html())["step"] == pytest.approx(-0.1)


def test_prescribed_motion_is_shown() -> None:
    dyn = kc.load("rotating_tube")
    run = dyn.simulate((0.0, 1.0), [0.1, 0.1, 0.0, 0.0], inputs=kc.Signal([0.0, 1.0], [[0.0], [1.0]], kind="cubic"))
    places = np.array(movie(run.animate(fps=4).html())["places"]).reshape(5, -1, 3)
    turned = np.arctan2(places[:, 1, 1], places[:, 1, 0])
    assert np.allclose(np.diff(turned), 0.25, atol=1e-3)


def test_a_plane_that_is_turned_as_prescribed_is_seen_in_space() -> None:
    """At each instant the pendulum swings in a plane; the film shows that this turns."""
    N, origin, turn = me.ReferenceFrame("N"), me.Point("O"), me.dynamicsymbols("turn")
    origin.set_vel(N, 0)
    A = N.orientnew("T", "Axis", [turn, N.z])
    bob = me.Particle("bob", origin.locatenew("P", half * (sm.sin(q) * A.x - sm.cos(q) * A.z)), m)
    dyn = kc.compile(
        kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], inputs=[turn]), parameters={"m": 1.0, "l": 0.5}
    )
    planes = []
    for angle in (0.0, 1.0):
        inputs = kc.Signal([0.0, 1.0], [[0.0], [angle]], kind="cubic")
        planes.append(dyn.simulate((0.0, 1.0), [0.4, 0.5], inputs=inputs).animate(fps=4).view.axes)
    assert planes == [("x", "z"), ()]


def test_axes_of_bodies_leave_a_crowd(sol: kc.Trajectory) -> None:
    assert drawn(sol.animate().scene, sol.animate().view, (), labels=True)["rigid"]
    dyn = loaded("chain40")
    film = dyn.simulate((0.0, 0.1), dyn.state({"q1": 0.1})).animate()
    assert drawn(film.scene, film.view, (), labels=True)["rigid"] == []


def test_what_is_refused(sol: kc.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"no point, body or joint of 'pendulum' is called 'top'; did you mean 'tip'"):
        sol.animate(trace=["top"])
    with pytest.raises(ValueError, match="view is"):
        sol.animate(view="zz")
    with pytest.raises(ValueError, match=r"ends in none of \.html, \.gif, \.mp4"):
        sol.animate().save(tmp_path / "movie.avi")
    none = sol._dyn.simulate((0.0, 1.0), [1.0, 0.0], t_eval=[], dense_output=False)
    with pytest.raises(ValueError, match="the run has no state"):
        none.animate()
    lagrangian = kc.Model.from_lagrangian(m * q.diff() ** 2 / 2, [q])
    run = kc.compile(lagrangian, parameters={"m": 1.0}).simulate((0.0, 1.0), [0.0, 1.0])
    with pytest.raises(kc.ModelError, match="a Lagrangian has no positions"):
        run.animate()


def test_the_page_needs_no_matplotlib(sol: kc.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] in ("matplotlib", "mpl_toolkits")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    animation = sol.animate(fps=5)
    animation.save(tmp_path / "movie.html")
    with pytest.raises(ImportError, match="pip install matplotlib"):
        animation.save(tmp_path / "movie.gif")


def test_gif(sol: kc.Trajectory, tmp_path: Path) -> None:
    from PIL import Image

    sol.animate(fps=4, speed=1.0, trace="tip").save(tmp_path / "movie.gif")
    with Image.open(tmp_path / "movie.gif") as picture:
        frames = []
        for i in range(picture.n_frames):  # type: ignore[attr-defined]
            picture.seek(i)
            frames.append(np.asarray(picture.convert("RGB")))
        assert picture.info["duration"] == 250
    assert len(frames) == 9
    for before, after in itertools.pairwise(frames):
        assert 50 < np.count_nonzero((before != after).any(axis=-1)) < 0.2 * before[..., 0].size


def test_a_gif_is_not_too_fast(sol: kc.Trajectory, tmp_path: Path) -> None:
    """Browsers show each frame of a faster one for 0.1 s."""
    sol.animate(fps=50, speed=20).save(tmp_path / "movie.gif")
    for fps in (51, 1e-4):
        with pytest.raises(ValueError, match=r"0\.02 \.\.\. 655 s, and fps is .*: animate with fps=50 or less"):
            sol.animate(fps=fps, speed=20 * fps).save(tmp_path / "fast.gif")
    assert not (tmp_path / "fast.gif").exists()


def test_films_tell_times_apart(sol: kc.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.text import Text

    written = list[str]()
    monkeypatch.setattr(Text, "set_text", lambda self, text: written.append(text))
    sol._dyn.simulate((0.0, 0.003), [1.0, 0.0]).animate(fps=10, speed=0.01).save(tmp_path / "movie.gif")
    assert [text for text in written if text and text.startswith("t = ")] == [f"t = 0.00{i}0 s" for i in range(4)]


def test_traces_may_be_named_in_many_ways(sol: kc.Trajectory) -> None:
    expected = sol.animate(trace="tip").traces
    tip = me.Point("tip")
    for given in (tip, [tip], ("tip",), {"tip"}, iter(["tip"])):
        assert sol.animate(trace=given).traces == expected
    assert sol.animate(trace=["tip", "pendulum"]).traces == (*expected, 1)
    assert sol.animate(trace=[]).traces == ()
    with pytest.raises(KeyError, match="is called 3"):
        sol.animate(trace=3)


def test_mp4(sol: kc.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.animation import FFMpegWriter

    path = tmp_path / "movie.mp4"
    if FFMpegWriter.isAvailable():
        sol.animate(fps=4).save(path)
        assert path.read_bytes()[4:8] == b"ftyp"
        path.unlink()
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(FileNotFoundError, match="needs the program ffmpeg"):
        sol.animate(fps=4).save(path)
    assert not path.exists()


def test_text_of_the_user_is_escaped() -> None:
    page = pendulum(HOSTILE).simulate((0.0, 0.2), [1.0, 0.0]).animate()
    text = page.html()
    assert HOSTILE not in text
    assert not set("<>&").intersection(data_of(text))
    assert text.count("</script>") == 2
    assert HOSTILE in dict(movie(text)["labels"]).values()
    frame = page._repr_html_()
    [inner] = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(inner) == text


# In a browser ---------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH: apt install chromium")
    with Browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


def shown(browser: Browser, animation: Any, folder: Path) -> None:
    animation.save(folder / "movie.html")
    browser.open(folder / "movie.html")


def go_to(browser: Browser, frame: int) -> str:
    """Move the slider, as the mouse does; what the clock says."""
    browser.evaluate(f"slider.value = {frame}; slider.dispatchEvent(new Event('input'))")
    return browser.evaluate("output.value")


def test_the_page_plays(browser: Browser, sol: kc.Trajectory, tmp_path: Path) -> None:
    shown(browser, sol.animate(trace="tip"), tmp_path)
    first = browser.screenshot()
    browser.wait(lambda: browser.evaluate("frame") > 15)
    changed = np.asarray(first) != np.asarray(browser.screenshot())
    assert 100 < np.count_nonzero(changed.any(axis=-1)) < 0.2 * SIZE[0] * SIZE[1]
    browser.evaluate("button.click()")
    assert browser.evaluate("button.textContent") == "Play"
    stopped = browser.evaluate("frame")
    browser.evaluate("new Promise(done => setTimeout(done, 200))")
    assert browser.evaluate("frame") == stopped
    browser.evaluate("button.click()")
    browser.wait(lambda: browser.evaluate("frame") != stopped)
    assert not browser.complaints
    assert browser.requests == [(tmp_path / "movie.html").as_uri()]


def test_the_slider_shows_each_frame(browser: Browser, sol: kc.Trajectory, tmp_path: Path) -> None:
    """The mass centre is red where the motion says, in metres of one length along both axes."""
    shown(browser, sol.animate(fps=10, labels=False), tmp_path)
    centre = movie((tmp_path / "movie.html").read_text(encoding="utf-8"))["centres"][0]
    seen = "picture.seen"
    origin = np.array(browser.evaluate(f"{seen}(place(0, 0))"))
    for frame in (0, 3, 20):
        assert go_to(browser, frame) == f"t = {frame / 10:.2f} s"
        x, y = browser.evaluate(f"{seen}(place({frame}, {centre}))")
        assert browser.screenshot().getpixel((round(x), round(y))) == RED
        angle = float(sol(frame / 10)[0])
        direction = (np.array([x, y]) - origin) / np.hypot(*(np.array([x, y]) - origin))
        assert np.allclose(direction, (np.sin(angle), np.cos(angle)), atol=1e-3)
    assert not browser.complaints


def test_the_mouse_turns_space(browser: Browser, tmp_path: Path) -> None:
    run = pendulum(spatial=True).simulate((0.0, 1.0), [1.0, 0.0, 0.0, 2.0])
    shown(browser, run.animate(view=(20, 30)), tmp_path)
    go_to(browser, 0)
    before = browser.screenshot()
    assert browser.evaluate("[picture.elevation, picture.azimuth]") == [20, 30]
    browser.mouse("mousePressed", 300, 200, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseMoved", 340, 220, button="left", buttons=1)
    browser.mouse("mouseReleased", 340, 220, button="left", clickCount=1)
    browser.wait(lambda: browser.evaluate("picture.azimuth") < 30)
    assert np.count_nonzero(np.asarray(before) != np.asarray(browser.screenshot())) > 100
    assert not browser.complaints


@pytest.mark.parametrize("up", ["x", "-y", "z", "-z"])
def test_the_page_sees_as_the_view_says(browser: Browser, tmp_path: Path, up: str) -> None:
    """The directions to the right and up."""
    run = pendulum(spatial=True).simulate((0.0, 0.1), [1.0, 0.0, 0.0, 2.0])
    animation = run.animate(view=(20, 30, up))
    shown(browser, animation, tmp_path)
    assert np.allclose(browser.evaluate("picture.basis()"), animation.view.basis[:2], atol=1e-14)


def test_no_name_becomes_code(browser: Browser, tmp_path: Path) -> None:
    shown(browser, pendulum(HOSTILE).simulate((0.0, 0.2), [1.0, 0.0]).animate(), tmp_path)
    assert browser.evaluate("document.title").split() == HOSTILE.replace("\u2028", "").split()
    assert browser.evaluate("document.scripts.length") == 2
    assert not browser.complaints


def test_names_in_the_page_do_not_overlap(browser: Browser, tmp_path: Path) -> None:
    biped = kc.load("biped")
    run = biped.simulate((0.0, 0.2), {"z": 1.0, "hip_left": 0.1, "knee_right": 0.05})
    shown(browser, run.animate(fps=10), tmp_path)
    for frame in range(3):
        go_to(browser, frame)
        seen = "picture.seen"
        names = browser.evaluate(f"picture.names(number => {seen}(place(frame, number)), canvas.clientWidth)")
        assert len(names) >= 8
        for a, b in itertools.combinations(names, 2):
            beside = max(a["left"], b["left"]) >= min(a["left"] + a["wide"], b["left"] + b["wide"])
            assert beside or abs(a["top"] - b["top"]) >= 12
        assert all(0 <= name["left"] <= SIZE[0] - name["wide"] for name in names)
    assert not browser.complaints


def test_what_only_turns_is_in_the_page(browser: Browser, tmp_path: Path) -> None:
    """The axes of a body whose mass centre is the origin have a length that is seen."""
    run = kc.load("gyroscope").simulate((0.0, 0.5), {"theta": 0.5, "u3": 6.0})
    shown(browser, run.animate(), tmp_path)
    [ends] = browser.evaluate(
        "[movie.axes.map(matrix => [0, 3, 6].map(i => picture.seen("
        "along(place(0, 0), matrix.map(x => x / 1000), [0, 1, 2].map(k => 3 * k == i ? movie.axis : 0)))))]"
    )
    low, high = np.min(ends, axis=(0, 1)), np.max(ends, axis=(0, 1))
    height = browser.evaluate("canvas.clientHeight")
    assert (low > 0).all()
    assert (high < (SIZE[0], height)).all()
    assert np.max(high - low) > 0.3 * height


def test_a_notebook_shows_it(browser: Browser, sol: kc.Trajectory, tmp_path: Path) -> None:
    """In a frame, which may do no more than draw."""
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'>{sol.animate()._repr_html_()}", encoding="utf-8")
    browser.open(page)
    first = np.asarray(browser.screenshot())
    browser.wait(lambda: bool((first != np.asarray(browser.screenshot())).any()))
    assert not browser.complaints
    assert browser.requests[0] == page.as_uri()
    assert all(url.startswith("about:") for url in browser.requests[1:])
