# SPDX-License-Identifier: BSD-3-Clause
"""Every part of symbrim, a library of bicycles and riders: read, and compared with SymPy's class and our own."""

import os
import time
from typing import Any

import numpy as np
import pytest
import sympy.physics.mechanics as me
from oracle.numbers import numbers
from scipy.linalg import qr
from sweep import part

import kanecore as kc

pytest.importorskip("symbrim", reason="symbrim is not installed: pip install symbrim")
# SymPy warns of its own functions, which symbrim calls; and models without values have masses such as m − m.
pytestmark = pytest.mark.filterwarnings("ignore")

from symbrim.core.registry import Registry  # noqa: E402
from symbrim_models import MODELS, system_of, upper_body  # noqa: E402

SMALL = ("disc", "torus in contact", "leaning rider", "stationary bicycle")
BY_SYMPY = (*SMALL, "torus", "bicycle", "bicycle in contact", "rider", "upper body")
"""What SymPy's class manages within a minute; on tori its elimination divides by zero."""


def parts(model: Any) -> set[type]:
    """The classes of a model, and of all that it is made of."""
    found = set(type(model).__mro__)
    for kind in ("submodels", "connections", "load_groups"):
        for item in getattr(model, kind, None) or ():
            found |= parts(item)
    return found


def test_every_part_stands_in_a_model() -> None:
    registry = Registry()
    used = set().union(*(parts(make()) for make in MODELS.values()))
    assert not (registry.models | registry.connections | registry.load_groups) - used


def consistent(dyn: Any, rng: Any) -> Any:
    """A random state on the constraints, with random parameters and inputs with which there is one."""
    for _ in range(40):
        dyn.parameters.update({name: rng.uniform(0.5, 1.5) for name in dyn.parameter_names})
        dyn.inputs.update({name: rng.uniform(-1, 1) for name in dyn.input_names})
        try:
            return dyn.consistent(0.0, rng.uniform(-0.6, 0.6, dyn.n_q + dyn.n_u), keep=None)
        except kc.KanecoreError:
            continue
    raise AssertionError("no consistent state was found")


def dependent(symbols: Any, slopes: Any) -> list[Any]:
    """As many symbols as there are constraints, which these determine well at this state."""
    if not len(slopes):
        return []
    *_, order = qr(slopes, mode="economic", pivoting=True)
    return [symbols[i] for i in sorted(order[: len(slopes)])]


def arguments(system: Any, dyn: Any, x: Any) -> dict[str, Any]:
    """Those of KanesMethod, with dependent coordinates and speeds that suit a state."""
    q, u = list(system.q), list(system.u)
    holonomic, velocity = list(system.holonomic_constraints), list(system.velocity_constraints)
    q_dependent = dependent(q, dyn.configuration_jacobian(0.0, x) if holonomic else [])
    u_dependent = dependent(u, dyn.constraint_jacobian(0.0, x) if velocity else [])
    loads = [*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())]
    return {
        "frame": system.frame,
        "q_ind": [s for s in q if s not in q_dependent],
        "q_dependent": q_dependent,
        "u_ind": [s for s in u if s not in u_dependent],
        "u_dependent": u_dependent,
        "kd_eqs": list(system.kdes),
        "configuration_constraints": holonomic,
        "velocity_constraints": velocity,
        "u_auxiliary": list(system.u_aux),
        "bodies": system.bodies,
        "forcelist": loads or None,
    }


@pytest.mark.parametrize("name", part(MODELS, SMALL))
def test_udot(name: str) -> None:
    """M u̇ = f and F_r + F*_r = 0 hold with the compiled u̇, by our class, and by SymPy's where it manages."""
    system = system_of(MODELS[name]())
    model = kc.Model.from_system(system)
    dyn = kc.compile(model)
    x = consistent(dyn, np.random.default_rng(1))
    udot = dict(zip(model.speeds, dyn.udot(0.0, x), strict=True))
    given = arguments(system, dyn, x)
    values = dict(zip((*model.coordinates, *model.speeds), x, strict=True))
    values |= {s: dyn.parameters[str(s)] for s in model.parameters}
    values |= {s: dyn.inputs[name] for s, name in zip(model.inputs, dyn.input_names, strict=True)}
    values |= {s.diff(): a for s, a in udot.items()} | dict.fromkeys(system.u_aux, 0.0)
    values |= {s.diff(): 0.0 for s in system.u_aux}
    for kind in (kc.KanesMethod, me.KanesMethod) if name in BY_SYMPY else (kc.KanesMethod,):
        km = kind(**given)
        fr, frstar = km.kanes_equations()
        m, f = (numbers(part, values) for part in (km.mass_matrix, km.forcing))
        expected = np.array([udot[s] for s in km.u])
        size = np.abs(m) @ (1.0 + np.abs(expected)) + np.abs(f.ravel())
        np.testing.assert_array_less(np.abs(m @ expected - f.ravel()), 1e-9 * size.max())
        independent = len(given["u_ind"])
        balance = numbers((fr + frstar)[:independent, :], values)
        assert np.abs(balance).max() <= 1e-9 * size.max()


def test_upper_body_reaches_machine_code_in_four_seconds() -> None:
    """20 bodies and 11 constraints, of processors' time, the compiler's included (without optimization in tests)."""
    system = system_of(upper_body())
    before = time.process_time() + sum(os.times()[2:4])
    dyn = kc.compile(kc.Model.from_system(system), cache=False)
    assert time.process_time() + sum(os.times()[2:4]) - before < 4.0
    assert (len(system.bodies), dyn.n_constraints) == (20, 11)
