# SPDX-License-Identifier: BSD-3-Clause
"""A 7-joint arm and a tree of five 6-joint arms against Pinocchio, which shares no code or method with SymPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle.compare import read_reference, relative_error
from oracle.serial_models import arm
from sweep import part

import kanecore as kc

TOLERANCE = 1e-9


@pytest.fixture(scope="module", params=part("BC", "B"))
def case(request: pytest.FixtureRequest) -> tuple[kc.CompiledModel, list[dict[str, Any]]]:
    """The compiled model with joint torques as inputs, and Pinocchio's states."""
    reference = read_reference(f"pinocchio/{request.param}")
    system = arm(reference["model"])
    model = kc.Model(
        system["frame"],
        system["q"],
        system["u"],
        kd_eqs=system["kdes"],
        bodies=system["bodies"],
        forcelist=system["loads"],
        inputs=system["inputs"],
    )
    return kc.compile(model, parameters=system["parameters"]), reference["states"]


def test_mass_matrix(case: tuple[kc.CompiledModel, list[dict[str, Any]]]) -> None:
    dyn, states = case
    for state in states:
        assert relative_error(dyn.mass_matrix(0.0, state["q"] + state["v"]), state["M"]) < TOLERANCE


def test_bias(case: tuple[kc.CompiledModel, list[dict[str, Any]]]) -> None:
    """Without torques, M u̇ = f = −(Coriolis, centrifugal and gravity terms)."""
    dyn, states = case
    for state in states:
        f = dyn.forcing(0.0, state["q"] + state["v"], r=np.zeros(dyn.n_r))
        assert relative_error(-f, state["nle"]) < TOLERANCE


def test_gravity_torque(case: tuple[kc.CompiledModel, list[dict[str, Any]]]) -> None:
    dyn, states = case
    for state in states:
        f = dyn.forcing(0.0, state["q"] + [0.0] * dyn.n_u, r=np.zeros(dyn.n_r))
        assert relative_error(-f, state["gravity_torque"]) < TOLERANCE


def test_forward_dynamics(case: tuple[kc.CompiledModel, list[dict[str, Any]]]) -> None:
    dyn, states = case
    for state in states:
        udot = dyn.udot(0.0, state["q"] + state["v"], r=np.array(state["tau"]))
        assert relative_error(udot, state["qdd"]) < TOLERANCE
