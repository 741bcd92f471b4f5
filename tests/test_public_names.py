# SPDX-License-Identifier: BSD-3-Clause
"""Public names of models: those of the last release work, and each that is shown stands in one table."""

from __future__ import annotations

import contextlib
import copy
import inspect
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kanecore as kc
from kanecore.errors import ModelError
from kanecore.gallery import rolling_disc, wire_particle
from kanecore.kernels import KERNELS
from kanecore.run.public_names import ALIASES, FACTS, TABLES

_OF_COMPILED = """
aba acceleration accelerations active_forces_by_body active_forces_by_load address angular_acceleration
angular_accelerations angular_momentum angular_velocities angular_velocity as_pydy audit auxiliary_forces bodies
body_momenta build casadi check configuration_jacobian configuration_names configuration_residual conserved
consistent constraint_bias constraint_forces constraint_jacobian constraint_names coordinate_forces coordinate_names
coriolis_matrix crba draw dtype equations_residual equilibrium export_c export_fmu forcing frames
generalized_active_forces generalized_inertia_forces generalized_momenta gibbs gravity_forces hamiltonian identify
impact inertia_forces inertia_forces_by_body inertial_parameters info input_names input_rates inputs
inverse_dynamics inverse_dynamics_jvp inverse_dynamics_vjp jacobian jax joint_positions joint_regressor joints
kinetic_energy kinetic_energy_parts linear_momentum linear_system linearize load_powers lowlevel_callable
mass_matrix mass_matrix_inverse momenta momentum_matrix multipliers n_auxiliary n_bodies n_configuration
n_constraints n_frames n_joints n_loads n_outputs n_p n_points n_potentials n_prepared n_q n_q_dependent n_r
n_reactions n_shares n_u n_u_dependent n_velocity n_work n_x n_z name numba operational_inertia orientation
orientations output_jacobian output_names outputs parameter_names parameters partial_accelerations
partial_angular_accelerations partial_angular_velocities partial_velocities periodic points position positions
potential_energy power prepare prepared projected_efforts qdot qdot_is_u reactions regressor rhs rhs_hessian rhs_jvp
rhs_parameter_jacobian rhs_time_derivative rhs_vjp rnea rollout rollout_vjp rows_for_lanes simulate single
solve_inverse source sparsity specific_force speed_matrices speed_names state state_error state_names step udot unit
velocities velocity velocity_residual workspace zdot
"""
OF_COMPILED = _OF_COMPILED.split()
"""Names of a CompiledModel before some became aliases."""

_OF_MODEL = """
accelerations angular_accelerations angular_velocities angular_velocity_remainders auxiliary_forces base_parameters
body_momenta canonical configuration_jacobian configuration_residual constraint_bias constraint_jacobian
coordinate_forces coordinates coriolis_matrix description draw equations_residual explain forcing free from_kane
from_lagrangian from_system from_transforms from_urdf functions generalized_active_forces generalized_inertia_forces
generalized_momenta gibbs gravity_forces hamiltonian inertia_forces inertial_parameters inputs inverse_dynamics
joint_positions joint_regressor kinetic_energy kinetic_energy_parts latex left_out mass_matrix momenta multipliers
n_constraints n_p n_q n_r n_u n_x n_z name noncontributing orientations output_jacobian outputs parameters
partial_accelerations partial_angular_accelerations partial_angular_velocities partial_velocities positions
potential_energy power qdot reactions regressor report rhs rhs_parameter_jacobian rhs_time_derivative routhian
speed_matrices speeds states symbolic udot values velocities velocity_remainders velocity_residual whole zdot
"""
OF_MODEL = _OF_MODEL.split()
"""Names of a Model before those of kernels were hidden."""

SECTION = re.compile(r"^## (.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def cart() -> kc.CompiledModel:
    return kc.load("cart_pole")


@pytest.fixture(scope="module")
def model() -> kc.Model:
    return wire_particle.build()


def public(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_names_of_a_compiled_model_work(cart: kc.CompiledModel) -> None:
    assert [name for name in OF_COMPILED if not hasattr(cart, name)] == []
    assert public(dir(cart)) == {
        *OF_COMPILED,
        "sizes",
        "jvp",
        "model",
        "vjp",
        "discretize",
        "inertia_wrenches",
        "play",
        "speed_momenta",
    } - set(ALIASES)
    assert len(public(dir(cart))) <= 125


def test_names_of_a_model_work(model: kc.Model) -> None:
    for name in OF_MODEL:
        with contextlib.suppress(ModelError):  # this one has no such result
            getattr(model, name)
    kernels = {kernel.name for kernel in KERNELS}
    hidden = {"partial_accelerations", "partial_angular_accelerations", "whole"}
    assert public(dir(model)) == {*OF_MODEL, "equations"} - kernels - hidden
    assert len(public(dir(model))) <= 40


def test_each_name_stands_in_one_table(cart: kc.CompiledModel) -> None:
    places = Counter(name for names in TABLES.values() for name in names.split())
    assert set(places) == public(dir(cart))
    assert set(places.values()) == {1}
    shown = re.findall(
        r"^    (\w+) +\S.*\.$", (kc.CompiledModel.__doc__ or "").partition("Equations of motion::")[2], re.M
    )
    assert shown == list(places)


def test_each_name_of_a_model_stands_in_one_table(model: kc.Model) -> None:
    tables = re.split(r"::\n\n", inspect.getdoc(kc.Model).partition("Made from")[2])[1:]
    names = [name for table in tables for line in table.splitlines() for name in of_row(line)]
    assert len(tables) == 5
    assert sorted(names) == sorted(public(dir(model)))


def of_row(line: str) -> list[str]:
    """Names of a row of a table: one with a description, or several."""
    if not line.startswith("    "):
        return []
    return re.findall(r"\w+", line) if re.fullmatch(r"[\w, ]+", line) and "," in line else [line.split()[0]]


def test_the_reference_is_grouped_alike(root: Path) -> None:
    parts = SECTION.split((root / "docs/reference/compiled.md").read_text(encoding="utf-8"))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(sections) == [*TABLES, "Results"]
    for title, names in TABLES.items():
        listed = re.findall(r"^   CompiledModel\.(\w+)$", sections[title], re.MULTILINE)
        assert listed == [name for name in names.split() if name not in FACTS], title


def test_the_reference_has_no_alias(root: Path) -> None:
    text = (root / "docs/reference/kernels.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)\(", text, re.MULTILINE)) & ALIASES.keys() == set()


def test_changelog_names_each_alias(root: Path) -> None:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    changed = text.partition("### Changed")[2]
    assert [name for name, instead in ALIASES.items() if instead and f"`{name}`" not in changed] == []


def test_sizes(cart: kc.CompiledModel) -> None:
    sizes = {name.removeprefix("n_"): getattr(cart, name) for name in OF_COMPILED if name.startswith("n_")}
    assert dict(cart.sizes) == sizes
    with pytest.raises(TypeError):
        cart.sizes["q"] = 3  # type: ignore[index]


def test_facts_of_the_extension_in_info(cart: kc.CompiledModel) -> None:
    for name in ("unit", "input_rates", "qdot_is_u", "configuration_names"):
        assert cart.info[name] == getattr(cart, name)


def test_aliases_give_the_same(cart: kc.CompiledModel) -> None:
    x, dx, udot = [0.1, 0.4, 0.3, -0.7], [1.0, 2.0, 3.0, 4.0], [0.5, -0.2]
    pairs: list[tuple[Any, Any]] = [
        (cart.jvp("rhs", 0.0, x, dx), cart.rhs_jvp(0.0, x, dx)),
        (cart.jvp("rhs", 0.0, x, dx, dr=[2.0]), cart.rhs_jvp(0.0, x, dx, dr=[2.0])),
        (cart.vjp("rhs", 0.0, x, dx), cart.rhs_vjp(0.0, x, dx)),
        (cart.jvp("inverse_dynamics", 0.0, x, udot, dx), cart.inverse_dynamics_jvp(0.0, x, udot, dx)),
        (cart.vjp("inverse_dynamics", 0.0, x, udot, udot), cart.inverse_dynamics_vjp(0.0, x, udot, udot)),
        (cart.inertia_wrenches(0.0, x, udot), cart.inertia_forces(0.0, x, udot)),
        (cart.speed_momenta(0.0, x), cart.momenta(0.0, x)),
        (cart.generalized_active_forces(0.0, x, by="body"), cart.active_forces_by_body(0.0, x)),
        (cart.generalized_inertia_forces(0.0, x, udot, by="body"), cart.inertia_forces_by_body(0.0, x, udot)),
    ]
    for new, old in pairs:
        np.testing.assert_array_equal(new, old)
    loads = cart.generalized_active_forces(0.0, x, r=[2.0], by="load")
    assert list(loads) == list(cart.active_forces_by_load(0.0, x))
    np.testing.assert_allclose(sum(loads.values()), cart.generalized_active_forces(0.0, x, r=[2.0]), rtol=1e-14)


def test_what_cannot_be_asked_of_parts(cart: kc.CompiledModel) -> None:
    with pytest.raises(KeyError, match="way to split generalized_inertia_forces by 'load'; there are 'body'"):
        cart.generalized_inertia_forces(0.0, cart.state(), [0.0, 0.0], by="load")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="takes no nonholonomic= nor out="):
        cart.generalized_active_forces(0.0, cart.state(), nonholonomic=True, by="load")
    with pytest.raises(KeyError, match="no products with derivatives of 'udot'"):
        cart.jvp("udot", 0.0, cart.state(), cart.state())


def test_partial_accelerations() -> None:
    disc = kc.load("rolling_disc")
    x = disc.check().x
    np.testing.assert_array_equal(
        disc.partial_accelerations(0.0, x), disc.partial_velocities(0.0, x, nonholonomic=True)
    )
    assert rolling_disc.build().partial_accelerations is not None


def test_kernels_of_a_model_by_name(model: kc.Model) -> None:
    for kernel in ("forcing", "mass_matrix", "kinetic_energy", "velocity_remainders"):
        assert getattr(model, kernel) == model.symbolic(kernel)
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'forcin'"):
        model.forcin  # noqa: B018
    assert not hasattr(model, "_linearize")
    assert not hasattr(model, "linearize")


@pytest.mark.parametrize("make", [copy.copy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copy", "pickle"])
def test_copies_of_a_model(model: kc.Model, make: Any) -> None:
    assert make(model).forcing == model.forcing
    assert kc.Model.__new__(kc.Model).__class__ is kc.Model  # nothing is looked for before __init__
    with pytest.raises(AttributeError):
        kc.Model.__new__(kc.Model).nothing  # type: ignore[attr-defined]  # noqa: B018
