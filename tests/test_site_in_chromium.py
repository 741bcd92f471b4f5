# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the built site in Chromium: scripts run, nothing is asked of a host, nothing is cut, films play.

`KANECORE_SITE` names the folder of a built site, ``docs/_build/html`` by default; without one the tests are skipped.
"""

import importlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser

SITE = Path(os.environ.get("KANECORE_SITE", Path(__file__).parent.parent / "docs/_build/html")).resolve()
LEADING = 3.0  # s, for a page to load and to lead on to another
MOVED = "<title>Moved</title>"  # of pages that lead to their present address at once
PAGES = sorted(
    page.relative_to(SITE).as_posix()
    for page in SITE.rglob("*.html")
    if "_static" not in page.parts and MOVED not in page.read_text(encoding="utf-8")[:300]
)

CUT = """
(width => [...document.querySelectorAll("article :is(pre, img, iframe, p, h1, h2, dt, li)")]
    .filter(e => e.checkVisibility() && !e.closest("table, .table-wrapper, .formula, .columns"))
    .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display == "block"
        && !e.querySelector("table, .formula") || e.getBoundingClientRect().right > width + 1)
    .map(e => `${e.tagName}: ${e.textContent.trim().slice(0, 60)}`))
"""
LAYOUT = "document.documentElement.scrollWidth"  # not `innerWidth`: on a phone that grows with what is too wide
CENTRE = "(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('iframe').getBoundingClientRect())"
SEEN = "document.querySelector('iframe').scrollIntoView({block: 'center', behavior: 'instant'})"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH"),
    pytest.mark.skipif(not PAGES, reason=f"no site in {SITE}: sphinx-build -b html docs docs/_build/html"),
    pytest.mark.long,
]


@pytest.fixture(scope="module", params=[1400, 375])
def width(request: pytest.FixtureRequest) -> int:
    """Pixels of a desktop's window and of a phone."""
    return int(request.param)


@pytest.fixture(scope="module")
def browser(width: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        yield browser


@pytest.mark.parametrize("page", PAGES)
def test_page_runs_alone_and_fits(page: str, width: int, browser: Browser) -> None:
    browser.open(SITE / page)
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "about:", "blob:"))] == []
    assert browser.evaluate(LAYOUT) <= width + 1
    assert browser.evaluate(f"{CUT}({width})") == []


@pytest.mark.parametrize("page", ["gallery/four_bar.html", "howto/pictures.html"])
def test_film_moves(page: str, browser: Browser) -> None:
    """Pictures of the screen differ while a film plays; one that waits is started by a click."""
    browser.open(SITE / page)
    browser.evaluate(SEEN)
    pictures = set()
    for attempt in range(2):
        for _ in range(10):
            browser.evaluate("new Promise(done => setTimeout(done, 100))")
            pictures.add(browser.screenshot().tobytes())
        if len(pictures) > 3:
            break
        x, y = browser.evaluate(CENTRE)
        for kind in ("mousePressed", "mouseReleased"):
            browser.mouse(kind, x, y, button="left", clickCount=1)
        assert attempt == 0, f"the film of {page} stands still"


@pytest.mark.parametrize("page", ["index.html", "gallery/cart_pole.html", "gallery/panda.html"])
def test_model_runs_on_a_click(page: str, browser: Browser) -> None:
    browser.open(SITE / page)
    frames = "document.querySelectorAll('iframe').length"
    count = browser.evaluate(frames)
    browser.evaluate("document.querySelector('button.live').click()")
    browser.wait(lambda: browser.evaluate(frames) == count + 1)
    browser.evaluate("new Promise(done => setTimeout(done, 1000))")
    assert browser.complaints == []


RESULTS = """
(query => [...new Set(Search._performSearch(...Search._parseQuery(query)).reverse().map(result => result[0]))])
"""
HARD = (
    *("stop a simulation at an angle", "convert a sympy mechanics model to numba", "floating base humanoid", "noise"),
    *("pednulum", "linearisation", "closedloop", "simul", "tyre", "constructor", "where is the xyzzy"),
)


def test_search_ranks_as_the_build_checks_it(root: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root / "docs/_ext"))
    index = importlib.import_module("searched").SearchIndex(SITE / "searchindex.js")
    browser.open(SITE / "search.html")
    browser.wait(lambda: browser.evaluate("Search.hasIndex()"))
    lines = (root / "docs/search_queries.tsv").read_text(encoding="utf-8").splitlines()
    for query in (*HARD, *(line.partition("\t")[0] for line in lines[::4])):
        assert browser.evaluate(f"{RESULTS}({json.dumps(query)})")[:3] == index.pages(query)[:3], query


def test_results_have_excerpts(browser: Browser) -> None:
    """Also where the site is opened from disk: no page requests another."""
    browser.open(SITE / "search.html")
    browser.wait(lambda: browser.evaluate("Search.hasIndex()"))
    browser.evaluate("Search.performSearch('closed loops')")
    excerpts = "[...document.querySelectorAll('#search-results li p.context')].map(p => p.textContent)"
    browser.wait(lambda: len(browser.evaluate(excerpts)) > 3)
    assert all(len(text) > 100 for text in browser.evaluate(excerpts)[:3])


def test_search_page_has_its_own_box(browser: Browser) -> None:
    browser.open(SITE / "search.html")
    box = "document.querySelector('article input[name=q], .content input[name=q]')"
    assert browser.evaluate(f"{box}.getBoundingClientRect().width") > 100
    assert browser.evaluate(f"{box}.form.action").split("?")[0].endswith("/search.html")


ANCHORS = "(query => Search._performSearch(...Search._parseQuery(query)).map(result => [result[0], result[2]]))"


@pytest.mark.parametrize(
    ("query", "section"),
    [
        ("margins of the loop in a bode plot", ["howto/lqr", "#bode-plot-and-margins"]),
        ("bearing friction torque", ["howto/friction", "#bearing-friction-of-a-pin-joint"]),
        ("simulate a mechanism", ["howto/simulate", ""]),
        ("pole placement", ["howto/lqr", "#pole-placement"]),  # found by a keyword as well
    ],
)
def test_results_lead_to_sections(query: str, section: list[str], browser: Browser) -> None:
    browser.open(SITE / "search.html")
    browser.wait(lambda: browser.evaluate("Search.hasIndex()"))
    results = browser.evaluate(f"{ANCHORS}({json.dumps(query)})")
    assert section in results
    assert [section[0], "#keywords"] not in results


@pytest.mark.parametrize(
    ("place", "page"),
    [
        ("reference/compiled.html#kanecore.CompiledModel.rhs", "reference/api/kanecore.CompiledModel.rhs.html"),
        ("reference/simulate.html#kanecore.Trajectory", "reference/api/kanecore.Trajectory.html"),
        ("howto/motion.html#a-rimless-wheel", "howto/impacts.html"),
        ("background/theory.html#reactions", "background/theory_constraints.html"),
        ("howto/describe.html#quaternions", "howto/joints.html"),
        ("howto/constraints.html#attach", "howto/reactions.html"),
        ("start/quickstart.html#many-motions-at-once", "howto/batches.html"),
        ("howto/contact.html#friction-that-holds", "howto/smooth_contact.html"),
        ("howto/stick_slip.html#two-models-and-their-events", "howto/rigid_contact.html"),
        ("howto/stick_slip.html#regularised-friction-sign-and-tanh", "howto/smooth_contact.html"),
        ("howto/impacts.html#constraints-that-switch-by-name", "howto/switches.html"),
    ],
)
def test_earlier_places_lead_on(place: str, page: str, browser: Browser) -> None:
    """Objects and sections that were part of a page, and have one of their own."""
    browser.open(SITE / "404.html")
    browser.call("Page.navigate", url=f"{SITE.as_uri()}/{place}")
    time.sleep(LEADING)  # what is evaluated meanwhile would be lost with the page
    fragment = place.partition("#")[2]
    assert browser.evaluate("location.href").endswith(f"/{page}#{fragment}")
