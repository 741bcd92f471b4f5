# SPDX-License-Identifier: BSD-3-Clause
"""Public names of models: each works, and stands in one table."""

import contextlib
import copy
import inspect
import pickle
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import kanecore as kc
from kanecore.binding.declared_methods import ATTRIBUTES, method, reference_text, shown
from kanecore.errors import ModelError
from kanecore.gallery import rolling_disc, wire_particle
from kanecore.kernels import KERNELS, TABLES

OF_EXTENSION = {
    *("n_points", "n_frames", "n_outputs", "n_joints", "n_bodies", "n_loads", "n_potentials", "n_configuration"),
    *("n_velocity", "n_reactions", "n_shares", "n_auxiliary", "n_q_dependent", "n_u_dependent", "n_prepared"),
    *("unit", "input_rates", "qdot_is_u", "configuration_names", "single", "rows_for_lanes"),
}
"""Facts that the package reads of the extension; users are shown ``sizes``, ``info`` and ``dtype``."""

_OF_MODEL = """
accelerations angular_accelerations angular_velocities angular_velocity_remainders auxiliary_forces base_parameters
body_momenta canonical configuration_jacobian configuration_residual constraint_bias constraint_jacobian
coordinate_forces coordinates coriolis_matrix description draw equations_residual explain forcing free from_kane
from_lagrangian from_mjcf from_sdf from_system from_transforms from_urdf functions generalized_active_forces
generalized_inertia_forces
generalized_momenta gibbs gravity_forces hamiltonian inertia_forces inertial_parameters inputs inverse_dynamics
joint_positions joint_regressor keyframes kinetic_energy kinetic_energy_parts latex left_out mass_matrix momenta
multipliers
n_constraints n_p n_q n_r n_u n_x n_z name noncontributing orientations output_jacobian outputs parameters
partial_accelerations partial_angular_accelerations partial_angular_velocities partial_velocities positions
potential_energy power qdot reactions regressor report rhs rhs_parameter_jacobian rhs_time_derivative routhian
speed_matrices speeds states symbolic udot values velocities velocity_remainders velocity_residual whole zdot
"""
OF_MODEL = _OF_MODEL.split()
"""Names of a Model, those of its kernels among them."""

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
    assert [name for name in [*dir(cart), *OF_EXTENSION] if not hasattr(cart, name)] == []
    assert public(dir(cart)) & OF_EXTENSION == set()
    assert len(public(dir(cart))) <= 137  # with optimize, fit and mpc


def test_names_of_a_model_work(model: kc.Model) -> None:
    for name in OF_MODEL:
        with contextlib.suppress(ModelError):  # this one has no such result
            getattr(model, name)
    kernels = {kernel.name for kernel in KERNELS}
    hidden = {"partial_accelerations", "partial_angular_accelerations", "whole"}
    assert public(dir(model)) == {*OF_MODEL, "equations"} - kernels - hidden
    assert len(public(dir(model))) <= 41


def test_each_name_stands_in_one_table(cart: kc.CompiledModel) -> None:
    tables = shown(kc.CompiledModel)
    places = Counter(name for names in tables.values() for name in names)
    assert list(tables) == list(TABLES)
    assert set(places) == public(dir(cart))
    assert set(places.values()) == {1}
    listed = re.findall(
        r"^    (\w+) +\S.*\.$", (kc.CompiledModel.__doc__ or "").partition("Equations of motion::")[2], re.M
    )
    assert listed == list(places)


def test_a_function_declares_its_method() -> None:
    """Its table, its row of the reference, and whether models in single precision have it."""

    @method("Motion")
    def rest(dyn: kc.CompiledModel) -> Any:
        """State of rest."""
        return dyn.state()

    class Extended(kc.CompiledModel):
        pass

    Extended.rest = rest  # type: ignore[attr-defined]
    assert shown(Extended)["Motion"] == [*shown(kc.CompiledModel)["Motion"], "rest"]
    assert "   Extended.rest\n" in reference_text(Extended)
    with pytest.raises(ValueError, match="no table 'Movement' of methods; there are Equations of motion"):
        method("Movement")


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


def test_the_reference_is_grouped_alike() -> None:
    parts = SECTION.split(reference_text(kc.CompiledModel))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for title, names in shown(kc.CompiledModel).items():
        listed = re.findall(r"^   CompiledModel\.(\w+)$", sections[title], re.MULTILINE)
        assert listed == [name for name in names if not ATTRIBUTES.get(name, ("", ""))[1]], title


def test_sizes(cart: kc.CompiledModel) -> None:
    facts = {*dir(cart), *OF_EXTENSION}
    assert dict(cart.sizes) == {name[2:]: getattr(cart, name) for name in facts if name.startswith("n_")}
    with pytest.raises(TypeError):
        cart.sizes["q"] = 3  # type: ignore[index]


def test_facts_of_the_extension_in_info(cart: kc.CompiledModel) -> None:
    for name in ("unit", "input_rates", "qdot_is_u", "configuration_names"):
        assert cart.info[name] == getattr(cart, name)


def test_variants_give_the_same(cart: kc.CompiledModel) -> None:
    x, dx = [0.1, 0.4, 0.3, -0.7], [1.0, 2.0, 3.0, 4.0]
    pairs: list[tuple[Any, Any]] = [
        (cart.jvp("rhs", 0.0, x, dx, dr=[2.0]), cart.rhs_jvp(0.0, x, dx, dr=[2.0])),
        (cart.vjp("rhs", 0.0, x, dx), cart.rhs_vjp(0.0, x, dx)),
    ]
    for product, same in pairs:
        np.testing.assert_array_equal(product, same)
    loads = cart.generalized_active_forces(0.0, x, r=[2.0], by="load")
    np.testing.assert_allclose(sum(loads.values()), cart.generalized_active_forces(0.0, x, r=[2.0]), rtol=1e-14)


def test_what_cannot_be_asked_of_parts(cart: kc.CompiledModel) -> None:
    with pytest.raises(KeyError, match="way to split generalized_inertia_forces by 'load'; there are 'body'"):
        cart.generalized_inertia_forces(0.0, cart.state(), [0.0, 0.0], by="load")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="leave out nonholonomic= and out="):
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
