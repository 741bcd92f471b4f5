# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show of models, trajectories and audits: every text of the user's is text there."""

import copy
import pickle
import sys
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground

import kanecore as kc
from kanecore.gallery import arm7, four_bar, planar_2r, rrp, stewart

#: What a page is made of; anything else came from a name.
TAGS = {"div", "strong", "table", "tr", "th", "td", "details", "summary", "pre", "img"}
HOSTILE = ["<b>", '"&', "<script>alert(1)</script>", "a$b$", "'><img src=x onerror=alert(1)>", "&lt;"]


class Page(HTMLParser):
    """The tags, attributes and texts of a page, which must be well formed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.forbidden = html.startswith('<div class="kanecore tex2jax_ignore mathjax_ignore">')
        self.texts: list[str] = []
        self.typeset: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(html)
        self.close()
        assert not self.open
        assert set(self.tags) <= TAGS

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert {name for name, _ in attributes} <= {"class", "style", "alt", "src"}
        if tag == "img":
            self.images.append(dict(attributes))
        else:
            self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        classes = [str(attributes.get("class")) for _, attributes in self.open if "class" in attributes]
        if "mathjax_process" in classes[-1]:
            self.typeset.append(data)


def hostile() -> kc.Model:
    """Every name is markup of some kind."""
    q, u, force = me.dynamicsymbols("<b>"), me.dynamicsymbols('"&'), me.dynamicsymbols("a$b$")
    mass = sm.Symbol("<script>alert(1)</script>")
    frame, origin = ground()
    point = origin.locatenew("'><img src=x onerror=alert(1)>", q * frame.x)
    return kc.Model(
        *(frame, [q], [u], [q.diff() - u]),
        bodies=[me.Particle("bob", point, mass)],
        forcelist=[(point, force * frame.x)],
        outputs={"&lt;": q},
        name="<i>model</i>",
    )


def png_of(page: Page) -> bytes:
    [image] = page.images
    head, data = str(image["src"]).split(",")
    assert head == "data:image/png;base64"
    return b64decode(data)


def test_model() -> None:
    model = planar_2r.build()
    page = Page(model._repr_html_())
    assert page.texts[0] == "Model planar_2r"
    for text in ("coordinates q", "q1, q2", "tip_x, tip_y", "9", "equations of motion"):
        assert text in page.texts
    assert page.tags.count("details") == 1
    assert [text[2 : text.index("\n")] for text in page.typeset] == ["\\begin{aligned}"] * 2
    assert "M &= " in page.typeset[0]
    assert model._repr_latex_() == "\n".join(page.typeset)


def test_constrained_model_shows_its_constraints() -> None:
    page = Page(four_bar.build()._repr_html_())
    assert [name in text for name, text in zip(["M &=", "f &=", "G &=", "gamma &="], page.typeset, strict=True)] == [
        True
    ] * 4


def test_long_equations_are_not_written() -> None:
    model = arm7.build()
    page = Page(model._repr_html_())
    assert not page.typeset
    assert "they are long: model.latex(kernel), model.symbolic(kernel)" in page.texts
    assert any(text.endswith(", ...") for text in page.texts)
    assert model._repr_latex_() is None


def test_names_are_text() -> None:
    model = hostile()
    dyn = kc.compile(model, parameters=dict.fromkeys(model.parameters, 2.0))
    sol = dyn.simulate((0, 1), [0.0, 1.0])
    system = dyn.linear_system(0.0, [0.0, 0.0])
    shown = [Page(each._repr_html_()) for each in (model, dyn, sol, system)]
    named = (["<b>", '"&', HOSTILE[2], "a$b$", "&lt;"], HOSTILE, ["<b>", '"&'], ["<b>", '"&', "a$b$", "&lt;"])
    for page, names in zip(shown, named, strict=True):
        assert page.forbidden
        for name in [*names, "<i>model</i>"]:
            assert name in page.text
    for page in shown[1:]:
        assert not page.typeset
    audit = Page(dyn.audit(2)._repr_html_())
    assert audit.texts[0] == "audit of <i>model</i> at 2 random states: passed"
    same = Page(kc.equivalent(dyn, dyn, n=2)._repr_html_())
    assert same.texts[0] == "<i>model</i> and <i>model</i> at 2 random states: equivalent"


@pytest.mark.parametrize(
    ("name", "typeset"),
    [
        (r"\theta_1", True),
        ("q_{1,x}'", True),
        (r"\href{javascript:alert(1)}{x}", False),
        (r"\thetahref", False),
        ("\\", False),
        ("a$b", False),
    ],
)
def test_names_that_would_do_more_than_write_are_not_typeset(name: str, typeset: bool) -> None:
    q, u = sm.Function(name)(me.dynamicsymbols._t), me.dynamicsymbols("u")
    frame, origin = ground()
    bob = me.Particle("bob", origin.locatenew("P", sm.sin(q) * frame.x), sm.Integer(1))
    model = kc.Model(frame, [q], [u], [q.diff() - u], bodies=[bob])
    page, kernel = Page(model._repr_html_()), model.latex("forcing")
    assert name in page.text
    for shown in (page, Page(kernel._repr_html_())):
        assert bool(shown.typeset) == typeset
    for printed in (model, kernel):
        assert (printed._repr_latex_() is not None) == typeset


def test_a_kernel_is_typeset() -> None:
    text = planar_2r.build().latex("mass_matrix")
    assert text.startswith("\\begin{aligned}\n")
    assert Page(text._repr_html_()).typeset == [text._repr_latex_()] == [f"$${text}$$"]


def test_copies_of_equations_are_typeset_alike() -> None:
    text, plain = planar_2r.build().latex("forcing"), hostile().latex("forcing")
    for each in (copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))):
        assert each(text) == text
        assert each(text)._repr_latex_() == text._repr_latex_() == f"$${text}$$"
        assert each(plain)._repr_latex_() is plain._repr_latex_() is None


def test_compiled_model() -> None:
    dyn = kc.load("rrp")
    dyn.inputs["tau1"] = 0.25
    page = Page(dyn._repr_html_())
    assert page.texts[0] == "CompiledModel rrp"
    assert page.texts[page.texts.index("tau1") + 1] == "0.25"
    assert page.texts[page.texts.index("m1") + 1] == f"{dyn.parameters['m1']:g}"
    assert {"current parameters", "current inputs", "link1, link2, link3"} <= set(page.texts)


@pytest.mark.long
def test_linear_system() -> None:
    dyn = kc.load("rolling_disc")
    system = dyn.linear_system(0.0, dyn.consistent(0.0, [*[0.0] * 7, -4.0, 0.0, 0.0]))
    page = Page(system._repr_html_())
    assert page.texts[0] == str(system).splitlines()[0]
    assert page.texts[-1].endswith(f"dependent: {', '.join(system.dependent_names)}")
    row = page.texts[page.texts.index(f"d/dt {system.state_names[0]}") + 1 :][: len(system.state_names)]
    assert row == [f"{x:.4g}" if x else "." for x in system.A[0]]
    assert "eigenvalue" in page.texts[-1]
    platform = kc.load("stewart")
    x = platform.consistent(0.0, stewart.STATE)
    lines = str(platform.linear_system(0.0, x)).splitlines()
    assert len(lines[1]) > 60
    assert max(map(len, lines)) <= 80


def test_parameters_that_nobody_gave_are_shown_as_such() -> None:
    page = Page(kc.compile(hostile())._repr_html_())
    assert page.texts[page.texts.index(HOSTILE[2], page.texts.index("current parameters")) + 1] == "nan"


def test_trajectory() -> None:
    sol = kc.load("rrp").simulate((0, 1), {"theta1": 0.5, "omega1": 1.0})
    page = Page(sol._repr_html_())
    assert page.texts[0] == repr(sol)[1:-1]
    values = [f"{value:.5g}" for value in (0.5, sol.q[-1, 0], sol.q[:, 0].min(), sol.q[:, 0].max())]
    assert page.texts[page.texts.index("theta1") + 1 :][:4] == values


def test_figures_are_shown_without_pyplot() -> None:
    """Which a notebook asks for them by this name, also of a copy."""
    pytest.importorskip("matplotlib", reason="plots are an extra")
    sol = kc.load("rrp").simulate((0, 1), {"theta1": 0.5})
    assert png_of(Page(sol._repr_html_())).startswith(b"\x89PNG")
    for figure in (sol.plot(), sol._dyn.draw(sol.x[0]), rrp.build().draw()):
        for each in (figure, pickle.loads(pickle.dumps(figure))):
            assert each._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("lost", ["matplotlib", "steps"])
def test_trajectory_without_a_picture(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"t_eval": [0.0, 1.0], "dense_output": False} if lost == "steps" else {}
    if lost == "matplotlib":
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    sol = kc.load("rrp").simulate((0, 1), {"theta1": 0.5}, **options)
    page = Page(sol._repr_html_())
    assert "table" in page.tags
    assert not page.images


@pytest.mark.long
def test_long_trajectories_show_their_first_rows() -> None:
    dyn = kc.load("chain40")
    page = Page(dyn.simulate((0, 0.01), {}, method="rk4", dt=0.005)._repr_html_())
    assert f"... {dyn.n_x - 12} more" in page.texts
    assert page.tags.count("tr") == 14


def test_audit_is_a_table() -> None:
    audit = kc.load("cart_pole").audit(2)
    page = Page(audit._repr_html_())
    assert page.tags.count("tr") == len(audit.rows) + 1
    for row in audit.rows:
        assert row.name in page.texts
        assert row.verdict in page.texts
    assert str(audit).splitlines()[0] == page.texts[0]
