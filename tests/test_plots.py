# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of trajectories."""

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point

import kanecore as kc

pytest.importorskip("matplotlib", reason="plots are an extra")

X0 = [0.3, 0.4, 0.5, 1.0, -1.0, 0.2]


@pytest.fixture(scope="module")
def sol():
    return kc.load("rrp").simulate((0, 1), X0)


def test_plot(sol, tmp_path):
    figure = sol.plot()
    assert [len(ax.lines) for ax in figure.axes] == [3, 3, 1]
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == "theta1"
    figure.savefig(tmp_path / "run.png")


def labels(figure):
    """Of each panel: its label, and the names of its curves."""
    return {ax.get_ylabel(): [line.get_label() for line in ax.lines] for ax in figure.axes}


def test_plot_of_some_names(sol, tmp_path):
    figure = sol.plot("theta*", "v3", "tip_[xz]", "tau1", "tau1")
    assert labels(figure) == {
        "coordinates q": ["theta1", "theta2"],
        "speeds u": ["v3"],
        "inputs r": ["tau1"],
        "outputs": ["tip_x", "tip_z"],
    }
    panel = figure.axes[0].lines[1]
    times = panel.get_xdata()
    assert np.array_equal(panel.get_ydata(), sol(times)[:, 1])
    tip = figure.axes[3].lines[0].get_ydata()
    assert np.array_equal(tip, sol._dyn.outputs(times, sol(times))[:, 0])
    figure.savefig(tmp_path / "run.png")
    assert labels(sol.plot(me.dynamicsymbols("theta2"))) == {"coordinates q": ["theta2"]}
    assert labels(sol.plot("tau?")) == {"inputs r": ["tau1", "tau2"]}
    energy = sol.plot("energy").axes[0].lines[0].get_ydata()
    assert np.array_equal(energy, sol.at(times).energy)


def test_quaternions_have_a_panel_of_their_own():
    dyn = kc.load("free_body")
    sol = dyn.simulate((0, 1), {dyn.speed_names[0]: 1.0})
    quaternion = [dyn.coordinate_names[i] for i in dyn.unit[0]]
    others = [name for name in dyn.coordinate_names if name not in quaternion]
    found = labels(sol.plot())
    assert [*found] == ["coordinates q", "unit quaternion", "speeds u", "energy error / max T"]
    assert found["unit quaternion"] == quaternion
    assert found["coordinates q"] == others
    assert labels(sol.plot(quaternion[2])) == {"unit quaternion": quaternion[2:3]}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("thta*", "matches 'thta\\*'; did you mean 'theta2' or"),
        ("", "matches ''; there are 'theta1', .*'tau1', 'tau2', 'f3', ..."),
        ("Theta1", "did you mean 'theta1'"),
        ("theta1 ", "did you mean 'theta1'"),
        (me.dynamicsymbols("zz"), "is called 'zz'"),
        (3, "3 is neither a name nor a symbol"),
    ],
)
def test_patterns_that_select_nothing(sol, pattern, message):
    with pytest.raises(KeyError, match=message):
        sol.plot("theta1", pattern)


def test_names_are_drawn_as_they_are(tmp_path):
    """No name is a formula, a pattern of its own, or hidden."""
    names = ["_hidden", "a$b", "x[0]", "$\\frac{$"]
    q, u = [me.dynamicsymbols(name) for name in ("_hidden", "a$b")], [me.dynamicsymbols(name) for name in names[2:]]
    model = mass_point(dict(zip(q, u, strict=True)), sm.Integer(1), name="$%")
    sol = kc.compile(model).simulate((0, 1), {"x[0]": 1.0})
    figure = sol.plot()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [" _hidden", "a\\$b"]
    figure.savefig(tmp_path / "run.png")
    assert labels(sol.plot("x[0]")) == {"speeds u": ["x[0]"]}
