# SPDX-License-Identifier: BSD-3-Clause
"""Model(feedback=...): laws compiled into the model."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point

import kanecore as kc

t = me.dynamicsymbols._t
q, u, F, G, H = me.dynamicsymbols("q u F G H")
m, kp, kd, w = sm.symbols("m kp kd w")


def slider(**options: Any) -> kc.Model:
    """A particle pushed along a line by F."""
    return mass_point({q: u}, m, [F], **options)


def test_law_in_place_of_the_input() -> None:
    """A PD law with a set point that is an input and a disturbance known in time."""
    law = kp * (G - q) - kd * u + sm.sin(w * t)
    model = slider(feedback={F: law})
    assert model.inputs == (G,)
    assert model.parameters == (kd, kp, m, w)
    dyn = kc.compile(model, parameters={m: 2.0, kp: 7.0, kd: 0.5, w: 3.0})
    for time, x, r in ((0.0, [0.1, 0.2], [0.3]), (1.7, [-0.4, 1.5], [-2.0])):
        expected = (7.0 * (r[0] - x[0]) - 0.5 * x[1] + np.sin(3.0 * time)) / 2.0
        assert dyn.udot(time, x, r=r) == pytest.approx([expected], rel=1e-14)


def test_laws_may_use_each_other_and_stand_in_outputs() -> None:
    model = slider(feedback={F: G - u, G: H**2 * q}, outputs={"force": F, "twice": 2 * G, "acceleration": u.diff()})
    assert model.inputs == (H,)
    dyn = kc.compile(model, parameters={m: 2.0})
    np.testing.assert_allclose(dyn.outputs(0.0, [0.5, 0.25], r=[3.0]), [4.25, 9.0, 2.125], rtol=1e-15)


def test_work_of_a_law_is_counted() -> None:
    """Energy drift: the law's force has no potential, its work is the change of energy."""
    dyn = kc.compile(slider(feedback={F: -kp * q - kd * u}, inputs=[F]), parameters={m: 2.0, kp: 7.0, kd: 0.5})
    assert dyn.input_names == ()  # though F was listed among them
    assert dyn.simulate((0.0, 5.0), [1.0, 0.0], rtol=1e-10, atol=1e-10).energy_drift < 1e-8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feedback": {F: -F * u}}, ["feedback for F", "depends on itself"]),
        ({"feedback": {F: G, G: 2 * F}}, ["depends on itself"]),
        ({"feedback": {q: u}}, ["feedback for q", "only inputs"]),
        ({"feedback": {G: u}}, ["feedback for G(t)", "occurs in no load"]),
        ({"feedback": {m: u}}, ["feedback holds m", "no function of time"]),
        ({"feedback": {F: sm.gamma(q)}}, ["gamma", "the feedback for F"]),
        ({"feedback": {F: G.diff(t), G: q}}, ["Derivative(G(t), t)", "given by feedback"]),
        ({"feedback": {F: G}, "inputs": [F]}, ["G", "listed in inputs"]),
        ({"feedback": {F: -q}, "potentials": [-F * q]}, ["F(t) in potential 0", "write the force into loads"]),
        ({"feedback": [F, -u]}, ["feedback must be a dict"]),
    ],
)
def test_wrong_laws(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(kc.ModelError) as error:
        slider(**options)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("law", [kp * (G - q) - kd * u, kp * q.diff(t) + G])
def test_an_input_of_a_first_order_state(law: Any) -> None:
    """As if the law were written into the equation; H follows it in loads and outputs too."""
    pressure = me.dynamicsymbols("pressure")

    def piston(input: Any, **options: Any) -> kc.CompiledModel:
        N, origin = ground()
        P = origin.locatenew("P", q * N.x)
        kd_eqs = [q.diff() - u, pressure.diff() + 3 * pressure - input]
        loads = [(P, (pressure + input) * N.x)]
        options["outputs"] = {"valve": input}
        model = kc.Model(N, [q, pressure], [u], kd_eqs, bodies=[me.Particle("p", P, m)], forcelist=loads, **options)
        return kc.compile(model, parameters=dict.fromkeys(model.parameters, 2.0))

    fed, written = piston(H, feedback={H: law}), piston(law)
    state, r = [0.3, -0.2, 0.5], [0.7] * written.n_r
    assert fed.input_names == written.input_names
    for kernel in ("rhs", "outputs"):
        np.testing.assert_allclose(getattr(fed, kernel)(0.0, state, r=r), getattr(written, kernel)(0.0, state, r=r))


def test_motion_cannot_be_fed_back() -> None:
    """A displacement that follows a law is a constraint, not an input of a load."""
    N, origin = ground()
    P = origin.locatenew("P", q * N.x + G * N.y)
    with pytest.raises(kc.ModelError, match=r"G\(t\) in the position of point P is given by feedback"):
        kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("p", P, m)], feedback={G: q**2})
