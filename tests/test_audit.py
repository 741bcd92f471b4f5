# SPDX-License-Identifier: BSD-3-Clause
"""The audit passes on what is right, and names what is wrong: faults are put into derived kernels and into models."""

import dataclasses
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
import sympy.physics.units as units
from mechanisms import ground, links, mass_point, moving_point

import kanecore as kc
from kanecore.audit import principle_audit
from kanecore.audit.audit import Audit
from kanecore.audit.unit_audit import exponents
from kanecore.audit.verdicts import judged
from kanecore.cli.commands import main
from kanecore.derive import constraint_rows, kinematics
from kanecore.derive.forces import generalized_forces
from kanecore.derive.kernel_registry import DERIVATIONS as OF_KERNELS
from kanecore.derive.kernel_registry import Derived
from kanecore.kernels import KERNEL_GROUPS, KERNELS
from kanecore.run.numerical_derivatives import derivative

t = me.dynamicsymbols._t
VALUES = {"m1": 1.3, "m2": 0.8, "l": 0.7, "c": 0.3, "k": 4.0, "g": 9.81}


def failing(audit: Audit) -> str:
    assert not audit.passed
    assert not audit
    return "; ".join(f"{row.name}: {row.worst} {row.reason}" for row in audit.failures)


def two_links(**options: Any) -> kc.Model:
    return links(sm.symbols("m1:3"), **options)


def wheel(**options: Any) -> kc.Model:
    """A blade on a plane, off its mass centre, with a spring."""
    x, y, a = me.dynamicsymbols("x y a")
    u = me.dynamicsymbols("u1:4")
    m, l, k = sm.symbols("m1 l k")  # noqa: E741
    N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    A.orient_axis(N, a, N.z)
    A.set_ang_vel(N, u[2] * N.z)
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x + y * N.y)
    C.set_vel(N, u[0] * N.x + u[1] * N.y)
    P = C.locatenew("P", -l * A.x)
    P.v2pt_theory(C, N, A)
    body = me.RigidBody("blade", C, A, m, (me.inertia(A, 0, 0, m * l**2), C))
    options = {"velocity_constraints": [P.vel(N).dot(A.y)], **options}
    return kc.Model(
        N, [x, y, a], u, [b.diff() - v for b, v in zip((x, y, a), u, strict=True)], bodies=[body],
        forcelist=[(C, -k * x * N.x), (A, -k * a * N.z)], name="wheel", **options,
    )  # fmt: skip


def lagrangian(**options: Any) -> kc.Model:
    """Two coordinates, a term of first degree in the rates, and one that holds the time."""
    a, b = me.dynamicsymbols("a b")
    m, l, g, k = sm.symbols("m1 l g k")  # noqa: E741
    kinetic = m * l**2 * (a.diff() ** 2 + b.diff() ** 2 * (1 + sm.cos(a) ** 2) + a.diff() * b.diff() * sm.sin(b)) / 2
    energy = kinetic + sm.Symbol("c") * b.diff() * sm.cos(a) + m * g * l * sm.cos(a) - k * a * (b + sm.cos(3 * t))
    return kc.Model.from_lagrangian(energy, [a, b], **{"name": "abstract", **options})


def pushed_lagrangian() -> kc.Model:
    """With a force and a weight beside L."""
    a = me.dynamicsymbols("a")
    N, O = ground()  # noqa: E741
    P = O.locatenew("P", sm.Symbol("l") * (sm.cos(a) * N.x + sm.sin(a) * N.y))
    P.set_vel(N, P.pos_from(O).dt(N))
    loads = [(P, -sm.Symbol("m1") * sm.Symbol("g") * N.y), (P, -sm.Symbol("c") * P.vel(N))]
    return kc.Model.from_lagrangian(sm.Symbol("m1") * a.diff() ** 2, [a], frame=N, forcelist=loads, name="pushed")


def on_a_circle() -> kc.Model:
    a, b = me.dynamicsymbols("a b")
    return lagrangian(holonomic_constraints=[a**2 + b**2 - sm.Symbol("l") ** 2])


def prescribed_quaternion() -> kc.Model:
    """A body that slides along a shaft, and the shaft turned as four inputs tell."""
    q, u = me.dynamicsymbols("q u")
    m, l = sm.symbols("m1 l")  # noqa: E741
    N, B = me.ReferenceFrame("N"), me.ReferenceFrame("B")
    B.orient_quaternion(N, me.dynamicsymbols("e0:4"))
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", q * B.y)
    P.set_vel(B, u * B.y)
    body = me.RigidBody("b", P, B, m, (me.inertia(B, m * l**2, 2 * m * l**2, 2.5 * m * l**2), P))
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[body], name="shaft")


def compiled(model: kc.Model, **options: Any) -> kc.CompiledModel:
    names = {str(symbol) for symbol in model.parameters}
    return kc.compile(model, parameters={name: VALUES[name] for name in names}, **options)


# ------------------------------------------------------------------------------------------------ what is right
@pytest.mark.parametrize("name", sweep.part(kc.models(), ["chaplygin_sleigh"]))
def test_the_gallery_passes(name: str) -> None:
    audit = kc.load(name).audit(100 if sweep.LONG else 20)
    assert audit.passed, str(audit)
    assert audit.x.shape[0] == audit.t.shape[0] == audit.r.shape[0]
    for row in audit.rows:
        assert (row.verdict == "passes") == (not row.digits < row.needed) or np.isnan(row.digits)
        assert row.verdict == "passes" or row.reason, row.name


@pytest.mark.long
@pytest.mark.parametrize("name", sweep.part(kc.models(), ["appell_hamel", "free_body", "slider_crank"]))
def test_the_gallery_is_the_same_in_other_units(name: str) -> None:
    module = import_module(f"kanecore.gallery.{name}")
    [row] = [row for row in kc.load(name).audit(5, units=module.DIMENSIONS).rows if "units" in row.name]
    assert row.verdict == ("fails" if hasattr(module, "NUMBERS_HAVE_UNITS") else "passes"), str(row)


@pytest.mark.long
def test_a_robot_on_a_floating_base_passes() -> None:
    """Off the unit quaternions its u̇ and its linearization are written in different ways, and mean nothing."""
    file = Path(__file__).parent / "robots" / "walker.urdf"
    audit = kc.compile(kc.Model.from_urdf(file, floating_base=True), cc="none").audit(20)
    assert audit.passed, str(audit)


def test_what_the_audit_assumes_is_said() -> None:
    """The inertia of a body that slides along a line."""
    x, v, m, J = *me.dynamicsymbols("x v"), *sm.symbols("m J")
    N, _, P = moving_point({x: v})
    body = me.RigidBody("piston", P, N, m, (me.inertia(N, J, J, J), P))
    dyn = kc.compile(kc.Model(N, [x], [v], [x.diff() - v], bodies=[body], name="piston"), parameters={m: 2.0})
    audit = dyn.audit(5)
    assert audit.assumed == ("J",)
    assert "passed; never set, and without effect on the motion: J = 1\n" in str(audit)
    assert np.isnan(dyn.kernels.values("parameter")).tolist() == [True, False]
    dyn.parameters["J"] = 3.0
    assert dyn.audit(5).assumed == ()


@pytest.mark.parametrize("model", sweep.part([links, two_links, wheel], [links, wheel]))
def test_every_row_that_applies_passes(model: Callable[[], kc.Model]) -> None:
    audit = compiled(model()).audit(20)
    assert audit.passed, str(audit)
    table = str(audit)
    assert all(row.name in table and row.verdict in table for row in audit.rows)
    assert min(row.digits for row in audit.rows if not np.isnan(row.digits)) > 8.5
    assert repr(audit) == table


@pytest.mark.parametrize(
    "model",
    sweep.part(
        [lagrangian, on_a_circle, pushed_lagrangian, lambda: lagrangian().canonical(), lambda: two_links().canonical()],
        [],
    ),
)
def test_models_without_bodies(model: Callable[[], kc.Model]) -> None:
    audit = compiled(model()).audit(20)
    assert audit.passed, str(audit)
    applies = [row.name for row in audit.rows if row.verdict == "passes"]
    for word in ("generalized momenta", "Hamiltonian", "dp/dt", "∂L/∂q", "dH/dt", "residual", "power", "linearization"):
        assert any(word in name for name in applies), word
    [row] = [row for row in audit.rows if row.name.startswith("kinetic energy")]
    assert (row.verdict, row.reason) == ("does not apply", "there are no bodies")


OF_LAGRANGIANS = {
    **dict.fromkeys(("kinetic_energy", "momenta"), "Lagrange"),
    **dict.fromkeys(("generalized_momenta", "hamiltonian", "kinetic_energy_parts", "momentum_rates"), ""),
    "potential_energy": "active forces",
    "generalized_active_forces": "active forces",
    "generalized_inertia_forces": "Lagrange",
    "hamiltonian_rate": "dH/dt",
    "equations_residual": "residual",
    "coordinate_forces": "coordinate forces",
}


def test_components_that_cancel_are_no_faults() -> None:
    """The moment of the centripetal force about the point x, y is zero but for rounding."""
    x, y, a = q = me.dynamicsymbols("x y a")
    u = me.dynamicsymbols("u v w")
    N, O = ground()  # noqa: E741
    A = N.orientnew("A", "Axis", [a, N.z])
    centre = O.locatenew("C", x * N.x + y * N.y + 0.3 * A.x)
    plate = me.RigidBody("plate", centre, A, 2, (me.inertia(A, 1, 2, 3), centre))
    model = kc.Model(N, q, u, [i.diff() - j for i, j in zip(q, u, strict=True)], bodies=[plate])
    audit = kc.compile(model).audit(5)
    assert audit.passed, str(audit)


@pytest.mark.long
def test_a_kernel_of_a_lagrangian_that_is_replaced_is_found() -> None:
    dyn = compiled(on_a_circle())
    dyn.build(*{KERNEL_GROUPS[kernel] for kernel in OF_LAGRANGIANS})
    for kernel, row in OF_LAGRANGIANS.items():
        owner = dyn.kernels if next(k.internal for k in KERNELS if k.name == kernel) else dyn
        true = getattr(owner, kernel)
        setattr(owner, kernel, lambda *a, true=true, **k: 1.001 * np.asarray(true(*a, **k)))
        assert row in failing(dyn.audit(5)), kernel
        delattr(owner, kernel)
    assert dyn.audit(5).passed


def test_canonical_equations_that_are_wrong() -> None:
    dyn = compiled(lagrangian().canonical())
    for kernel in ("qdot", "hamiltonian", "generalized_momenta", "forcing", "inverse_dynamics", "power"):
        true = getattr(dyn, kernel)
        setattr(dyn, kernel, lambda *a, true=true, **k: 1.001 * np.asarray(true(*a, **k)))
        assert failing(dyn.audit(5)), kernel
        delattr(dyn, kernel)


def test_units_of_a_lagrangian() -> None:
    a = me.dynamicsymbols("a")
    m, l, g = sm.symbols("m1 l g")  # noqa: E741
    model = kc.Model.from_lagrangian(m * l**2 * a.diff() ** 2 / 2 + m * g * l * sm.cos(a), [a], name="pendulum")
    units = {"m1": (0, 1, 0), "l": (1, 0, 0), "g": (1, 0, -2), "a_d": (0, 0, -1)}
    assert compiled(model).audit(5, units=units).passed
    canonical = compiled(model.canonical())
    units["p_a"] = (2, 1, -1)
    del units["a_d"]
    assert canonical.audit(5, units=units).passed
    del units["g"]
    assert "the same in other units" in failing(canonical.audit(5, units=units))


def test_a_freed_constraint_of_which_nobody_said_where_it_acts() -> None:
    """Its generalized force is no work of a load: the others are compared without it."""
    dyn = compiled(wheel().free(0))
    audit = dyn.audit(10)
    assert audit.passed, str(audit)
    true = dyn.kernels.load_vectors
    dyn.kernels.load_vectors = lambda *a, **k: true(*a, **k) * np.array([[1.0], [-1.0]])  # type: ignore[method-assign]
    assert "load 1 (torque on frame A) counts -1 times" in failing(dyn.audit(10))


def test_a_prescribed_quaternion_is_no_rotation_at_random_inputs() -> None:
    audit = compiled(prescribed_quaternion()).audit(10)
    assert audit.passed, str(audit)
    [row] = [row for row in audit.rows if row.name.startswith("velocities")]
    assert row.verdict == "does not apply"
    assert row.reason == "the axes of frame B are not orthogonal at random inputs"


def test_what_is_no_number_fails() -> None:
    difference = np.array([[0.0, np.nan], [0.0, 0.0]])
    row = judged("anything", difference, np.ones((2, 2)), 6.0, labels=["a", "b"])
    assert (row.verdict, row.digits, row.worst) == ("fails", 0.0, "b")


def test_the_audit_is_the_same_each_time_and_leaves_the_model_alone() -> None:
    dyn = kc.load("rotating_tube")
    before = dict(dyn.parameters)
    first, second = dyn.audit(3), dyn.audit(3)
    assert str(first) == str(second)
    np.testing.assert_array_equal(first.x, second.x)
    assert dict(dyn.parameters) == before
    assert not np.array_equal(dyn.audit(3, seed=1).x, first.x)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("factor", sweep.part([1e9, 1e-9], [1e9]))
@pytest.mark.parametrize("name", sweep.part(["rrp", "four_bar", "rolling_disc", "free_body"], ["rrp"]))
def test_units_change_no_verdict(name: str, factor: float, axis: int) -> None:
    module, dyn = import_module(f"kanecore.gallery.{name}"), kc.load(name)
    for key, value in dict(dyn.parameters).items():
        dyn.parameters[key] = value * factor ** module.DIMENSIONS[key][axis]
    audit = dyn.audit(5)
    assert audit.passed, str(audit)


# ------------------------------------------------------------------------------ faults put into derived kernels

#: Those of which the audit says nothing, and those that the models here do not have.
LEFT_OUT = {
    *("constraint_sizes", "stabilization", "outputs", "gravity_field"),
    *("auxiliary_forces", "auxiliary_partials", "potentials", "inertial_loads"),
    *("rhs_time_derivative", "inverse_dynamics_tangent", "inverse_dynamics_gradient", "hessian_products"),
    *("rhs_tangent", "rhs_gradient", "rhs_parameter_tangent", "rhs_parameter_gradient", "rhs_hessian"),
    *("mass_matrix_inverse", "zdot", "reaction_shares", "share_laws", "jacobian_terms"),
    *("output_tangent", "output_gradient", "project_gradient"),
}
REPLACED = [kernel.name for kernel in KERNELS if not kernel.remainder_of and kernel.name not in LEFT_OUT]


@pytest.mark.parametrize("name", sweep.every(12, REPLACED))
def test_a_kernel_that_is_replaced_on_the_model_is_found(name: str) -> None:
    """Its largest entry off by a thousandth; what no equation of one model holds, that of another does."""
    for model in ("rrp", "four_bar", "rolling_disc", "planar_2r"):
        dyn = kc.load(model)
        dyn.build(KERNEL_GROUPS[name])
        if not dyn.kernels.has(name):
            continue
        x, more = dyn.check().x, {"udot": np.ones(dyn.n_u)}
        row = next(kernel for kernel in KERNELS if kernel.name == name)
        true = dyn.kernels.method(name)
        try:
            value = np.abs(true(0.0, x, *(more.values() if row.reads_udot else ()), r=np.ones(dyn.n_r)))
        except kc.ModelError:
            continue
        if not np.max(value, initial=0.0):
            continue
        place = np.unravel_index(int(np.argmax(value)), value.shape)

        def wrong(*arguments: Any, true: Any = true, place: Any = place, **options: Any) -> Any:
            result = np.array(true(*arguments, **options))
            if not options.get("remainder"):
                result[(..., *place)] *= 1.001
            return result

        setattr(dyn.kernels if row.internal else dyn, name, wrong)
        if not dyn.audit(5).passed:
            return
    raise AssertionError(f"nobody misses {name}")


PRINCIPLES = ("Jourdain", "Gauss", "Udwadia-Kalaba", "Maggi", "Boltzmann-Hamel", "Voronets")


#: The rows that notice a kernel off by a thousandth; what a principle does not need may be wrong.
NOTICES = {
    "udot": ("Jourdain", "Gauss", "Udwadia-Kalaba", "Maggi"),
    "generalized_inertia_forces": ("Boltzmann-Hamel", "Voronets"),
    "forcing": ("Udwadia-Kalaba",),
    "mass_matrix": ("Udwadia-Kalaba",),
    "kinetic_energy": ("Maggi", "Boltzmann-Hamel", "Voronets"),
    **dict.fromkeys(("generalized_active_forces", "multipliers", "inverse_dynamics"), ()),
}


@pytest.mark.long
def test_principles_judge_by_their_own_means() -> None:
    dyn = compiled(wheel())
    for kernel, wrong in NOTICES.items():
        true = getattr(dyn, kernel)
        setattr(dyn, kernel, lambda *a, true=true, **k: true(*a, **k) * np.float64(1.001))
        rows = {word: row.verdict for word in PRINCIPLES for row in dyn.audit(1).rows if word in row.name}
        delattr(dyn, kernel)
        assert rows == {word: "fails" if word in wrong else "passes" for word in PRINCIPLES}, kernel


def test_the_terms_of_quasi_coordinates_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without π·(...) T in the speeds gives other inertia forces: those of a blade that slides, for one."""
    monkeypatch.setattr(principle_audit._QuasiCoordinates, "_momentum", lambda self, rate: np.zeros(rate.shape[:-1]))
    text = failing(kc.load("chaplygin_sleigh").audit(5))
    assert "Boltzmann-Hamel" in text
    assert "Voronets" in text


def test_the_sign_of_all_loads() -> None:
    dyn = kc.load("rrp")
    true = dyn.generalized_active_forces
    dyn.generalized_active_forces = lambda *a, **k: -true(*a, **k)  # type: ignore[method-assign, assignment]
    assert "active forces" in failing(dyn.audit(5))


def test_the_sign_of_a_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    true = generalized_forces.Wrenches.add_load

    def wrong(self: generalized_forces.Wrenches, load: Any) -> None:
        g = self.kinematics.graph
        if load.number == 1:
            vector = tuple((f, (g.neg(x), g.neg(y), g.neg(z))) for f, (x, y, z) in load.vector)
            load = dataclasses.replace(load, vector=vector)
        true(self, load)

    monkeypatch.setattr(generalized_forces.Wrenches, "add_load", wrong)
    audit = compiled(links(), cache=False).audit(10)
    assert "load 1 (torque on frame B0) counts -1 times" in failing(audit)


def test_gyroscopic_torques_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(k: Any, accelerations: Any, body: int) -> Any:
        frame = k.description.bodies[body].frame
        return generalized_forces.matvec(
            k.graph, generalized_forces.central_inertia(k, body), accelerations.alpha[frame]
        )

    for module in ("generalized_forces", "energies", "joint_reactions"):
        monkeypatch.setattr(f"kanecore.derive.forces.{module}.inertia_torque", wrong)
    text = failing(compiled(links(), cache=False).audit(10))
    assert "inertia forces F* = Newton-Euler:  it is not the virtual work" in text
    assert "ω × I·ω of body link" in text
    assert "body inertia forces = Newton-Euler: body link" in text
    assert "Lagrange" in text


@pytest.mark.long
@pytest.mark.parametrize("part", sweep.part(["left", "doubled", "shifted"], ["left"]))
def test_an_inertia_about_the_wrong_point(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = generalized_forces.central_inertia

    def wrong(k: Any, body: int) -> Any:
        right, b, g = true(k, body), k.description.bodies[body], k.graph
        if body != 1 or part == "doubled":
            if body != 1:
                return right
            changed = dataclasses.replace(b, about=tuple((f, tuple(g.add(x, x) for x in v)) for f, v in b.about))
        elif part == "left":
            changed = dataclasses.replace(b, about=())
        else:
            return ((g.add(right[0][0], b.mass), *right[0][1:]), *right[1:])
        kept = k.description
        k.description = dataclasses.replace(kept, bodies=(*kept.bodies[:1], changed))
        result = true(k, body)
        k.description = kept
        return result

    for module in ("forces.generalized_forces", "forces.energies", "kernels.force_kernels", "recursions.joint_tree"):
        if hasattr(import_module(f"kanecore.derive.{module}"), "central_inertia"):
            monkeypatch.setattr(f"kanecore.derive.{module}.central_inertia", wrong)
    text = failing(compiled(two_links(), cache=False).audit(10))
    for row in ("kinetic energy", "body momenta = m v, I·ω as written: body link1", "inertia forces F* = Newton-Euler"):
        assert row in text


@pytest.mark.long
def test_accelerations_without_a_term(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(g: Any, w: Any, a: Any) -> Any:
        return ((0, g.neg(a[2]), a[1]), (a[2], 0, g.neg(a[0])), (g.neg(a[1]), a[0], 0))

    monkeypatch.setattr(kinematics, "rate_matrix", wrong)
    text = failing(compiled(two_links(), cache=False).audit(10))
    assert "body inertia forces = Newton-Euler: body link" in text
    assert "inertia forces F* = Newton-Euler" in text


DERIVATIONS = {
    "mass_matrix": "mass matrix M",
    "qdot": "velocities = derivatives of positions: mass centre",
    "kinetic_energy": "kinetic energy",
    "potential_energy": "power",
    "power": "power",
    "reactions": "free bodies with reactions = Newton-Euler: body link",
    "gibbs": "Gibbs-Appell",
    "momenta": "momenta",
    "partial_velocities": "velocities = derivatives",
    "coordinate_forces": "coordinate forces",
    "equations_residual": "residual",
    "generalized_momenta": "generalized momenta",
    "hamiltonian": "Hamiltonian",
    "kinetic_energy_parts": "parts of T",
    "momentum_rates": "dp/dt",
    "hamiltonian_rate": "dH/dt",
}


@pytest.mark.parametrize(("kernel", "row"), sweep.part(DERIVATIONS.items(), [*DERIVATIONS.items()][1:2]))
def test_a_derivation_that_is_wrong(kernel: str, row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of its results has the other sign."""
    derivation = OF_KERNELS[kernel]

    def wrong(d: Any) -> Derived:
        right = derivation.derive(d)
        place = next(i for i, root in enumerate(right.roots) if d.graph.value(root) is None)
        roots = [*right.roots[:place], d.graph.neg(right.roots[place]), *right.roots[place + 1 :]]
        return dataclasses.replace(right, roots=tuple(roots))

    monkeypatch.setitem(OF_KERNELS, kernel, dataclasses.replace(derivation, derive=wrong))
    assert row in failing(compiled(links(), cache=False).audit(10))


@pytest.mark.parametrize(
    ("kernel", "row"),
    [
        ("constraint_bias", "G u̇ + γ = dc/dt"),
        ("constraint_jacobian", "G u̇ + γ = dc/dt"),
        ("velocity_residual", "G u̇ + γ = dc/dt"),
        ("multipliers", "M u̇ = f + Gᵀλ"),
    ],
)
def test_constraints_that_are_wrong(kernel: str, row: str) -> None:
    dyn = compiled(wheel())
    true = getattr(dyn, kernel)
    setattr(dyn, kernel, lambda *a, **k: 1.01 * true(*a, **k))
    assert row in failing(dyn.audit(10))


@pytest.mark.parametrize("part", sweep.part(["jacobian", "bias"], ["bias"]))
def test_a_row_of_constraints_that_is_derived_wrongly(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """G or γ has the other sign everywhere, in u̇ and λ too."""
    true = constraint_rows.Constraints._row

    def wrong(self: Any, *arguments: Any) -> Any:
        row, g = true(self, *arguments), self.kinematics.graph
        if part == "bias":
            return dataclasses.replace(row, bias=g.neg(row.bias))
        return dataclasses.replace(row, jacobian=(g.neg(row.jacobian[0]), *row.jacobian[1:]))

    monkeypatch.setattr(constraint_rows.Constraints, "_row", wrong)
    text = failing(compiled(wheel(), cache=False).audit(10))
    assert "G u̇ + γ = dc/dt: velocity constraint 0" in text


# ----------------------------------------------------------------------------------------- models that are wrong
def slip(**options: Any) -> kc.Model:
    """A pendulum whose point was given twice the velocity of its position."""
    q, u = me.dynamicsymbols("q u")
    m, l, g = sm.symbols("m1 l g")  # noqa: E741
    N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
    A.orient_axis(N, q, N.z)
    A.set_ang_vel(N, u * N.z)
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    P = O.locatenew("P", l * A.x)
    P.set_vel(N, 2 * l * u * A.y)
    bob = me.Particle("bob", P, m)
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], forcelist=[(P, m * g * N.x)], name="slip", **options)


def test_a_velocity_that_is_not_its_positions() -> None:
    with pytest.warns(kc.KanecoreWarning, match="is not the derivative of its"):
        model = slip()
    text = failing(compiled(model).audit(10))
    assert "velocities = derivatives of positions: mass centre P of body bob" in text
    assert "it is not the derivative of the position" in text


def test_a_particle_in_a_frame_that_turns_otherwise_than_oriented() -> None:
    """No body has the frame: the velocity of the particle tells, and the row of frames says so."""
    q, u, N = *me.dynamicsymbols("q u"), me.ReferenceFrame("N")
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, 2 * u * N.z)
    bob = me.Particle("bob", O.locatenew("P", 0.7 * A.x), 2)
    with pytest.warns(kc.KanecoreWarning, match="angular velocity of frame A is not"):
        model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], name="turning")
    text = failing(compiled(model).audit(10))
    assert "velocities = derivatives of positions: mass centre P of body bob" in text
    said = {row.name: row.reason for row in compiled(model).audit(10).rows}[
        "angular velocities = turning of orientations"
    ]
    assert "a frame that points are written in is judged by their velocities" in said


@pytest.mark.long
def test_a_potential_beside_its_own_force() -> None:
    q = me.dynamicsymbols("q1:5")
    k = sm.Symbol("k")
    audit = compiled(two_links(potentials=[k * q[3] ** 2 / 2])).audit(10)
    [row] = audit.suspicious
    assert "load 2 (torque on frame B1), load 3 (torque on frame A1)" in row.reason
    assert "counted twice" in row.reason
    assert audit.passed
    assert "suspicious" in str(audit)
    assert not compiled(two_links(potentials=[k * q[2] ** 2 / 2])).audit(10).suspicious


def test_a_filed_derivative_that_lifts_the_rank() -> None:
    """Of x² + y² = l² the derivative is filed with a wrong sign, and one speed is called dependent."""
    x, y, u, v = me.dynamicsymbols("x y u v")
    m, l, g = sm.symbols("m1 l g")  # noqa: E741

    def model(sign: int) -> kc.CompiledModel:
        rows = {"configuration_constraints": [x**2 + y**2 - l**2], "velocity_constraints": [x * u + sign * y * v]}
        return compiled(mass_point({x: u, y: v}, m, [m * g], q_dependent=[y], u_dependent=[v], **rows, name="wire"))

    right = model(1).audit(5)
    assert right.passed, str(right)
    assert not right.suspicious
    [row] = model(-1).audit(5, x0={"x": VALUES["l"], "y": 0.0}).suspicious
    assert "u_dependent" in row.reason
    assert "determine 2 speeds" in row.reason


def test_a_number_with_a_unit() -> None:
    dimensions = {"m1": (0, 1, 0), "l": (1, 0, 0), "g": (1, 0, -2), "u": (0, 0, -1)}

    def pendulum(gravity: Any) -> kc.CompiledModel:
        q, u = me.dynamicsymbols("q u")
        m, l = sm.symbols("m1 l")  # noqa: E741
        N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
        A.orient_axis(N, q, N.z)
        O = me.Point("O")  # noqa: E741
        O.set_vel(N, 0)
        P = O.locatenew("P", l * A.x)
        bob = me.Particle("bob", P, m)
        loads = [(P, m * gravity * N.x)]
        return compiled(kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], forcelist=loads, name="pendulum"))

    assert pendulum(sm.Symbol("g")).audit(5, units=dimensions).passed
    texts = {"m1": "kg", "l": "cm", "g": "m/s**2", "u": "rad/s"}
    assert pendulum(sm.Symbol("g")).audit(5, units=texts).passed
    assert not pendulum(sm.Symbol("g")).audit(5, units=texts | {"g": "m/s"}).passed
    del dimensions["g"]
    audit = pendulum(9.81).audit(5, units=dimensions)
    assert "the same in other units: the active force of u" in failing(audit)


# ------------------------------------------------------------------------------------------------- parts and errors
@pytest.mark.long
def test_units_of_sympy() -> None:
    for unit, expected in (
        (units.newton * units.meter, (2, 1, -2)),
        (units.kilogram * units.meter**2, (2, 1, 0)),
        (units.meter / units.second**2, (1, 0, -2)),
        (units.radian, (0, 0, 0)),
        (units.joule, (2, 1, -2)),
        (units.millimeter, (1, 0, 0)),
        (3 * units.hertz, (0, 0, -1)),
        (1, (0, 0, 0)),
        (sm.Integer(1), (0, 0, 0)),
        ((1, 0, -2), (1, 0, -2)),
        ("kg*m**2", (2, 1, 0)),
        ("N.m", (2, 1, -2)),
        ("rad/s", (0, 0, -1)),
        (units.meter ** sm.Rational(1, 2), (0.5, 0, 0)),
    ):
        np.testing.assert_array_equal(exponents(unit), expected)
    with pytest.raises(ValueError, match="no mechanical one"):
        exponents(units.kelvin)
    for unit in ("furlong", "N/m*s"):
        with pytest.raises(ValueError, match=r"the unit of 'l' is .*, which is not made of SI units: write kg, m"):
            exponents(unit, "'l'")
    with pytest.raises(TypeError, match="a text such as 'rad/s'"):
        exponents(None)
    with pytest.raises(ValueError, match="three exponents"):
        exponents((1, 2))
    given = {"l": units.meter, "m1": units.gram, "c": units.meter, "g": units.meter / units.second**2}
    dyn = compiled(links())
    speeds = {f"u{i}": 1 / units.second for i in (1, 2)}
    force = {"k": units.newton * units.meter}
    # k is a stiffness of a torsion spring and a friction: no unit serves both
    assert not dyn.audit(3, units={**given, **speeds, **force})


def test_derivatives_by_differences() -> None:
    at, size = np.linspace(0.1, 3.0, 20), np.ones(20)
    for function, slope in ((np.sin, np.cos), (np.exp, np.exp), (lambda x: 1e6 * x**3, lambda x: 3e6 * x**2)):
        for scale in (1.0, 1e-3, 30.0):
            found = derivative(lambda tau, f=function: f(at + tau), scale * size)
            np.testing.assert_allclose(found.value, slope(at), rtol=1e-9)
            assert (found.uncertainty <= 1e-8 * np.abs(slope(at))).all()
    rough = derivative(lambda tau: np.abs(tau - 0.003) + 0.0 * at, size)
    assert rough.uncertainty.shape == (20,)
    assert np.isinf(derivative(lambda tau: np.nan * tau, size).uncertainty).all()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n": 0}, ValueError, "n is 0"),
        ({"n": 2.5}, TypeError, "n is 2.5"),
        ({"n": True}, TypeError, "n is True"),
        ({"x0": [1.0]}, ValueError, r"x0 has shape \(1,\), expected \(6,\)"),
        ({"x0": {"nosuch": 1.0}}, KeyError, "no coordinate or speed of .* is called 'nosuch'"),
        ({"units": {"nosuch": (1, 0, 0)}}, KeyError, "no parameter, coordinate, speed, input or output of"),
        ({"units": [(1, 0, 0)]}, TypeError, "units is"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kc.load("rrp").audit(**{"n": 2, **arguments})


def test_a_parameter_without_a_value() -> None:
    with pytest.raises(ValueError, match="m1"):
        kc.compile(links()).audit(2)


# --------------------------------------------------------------------------------------------- the command line
FILE = """
import kanecore as kc
import sympy as sm
import sympy.physics.mechanics as me

m, l, g = sm.symbols("m l g")  # noqa: E741
q, u = me.dynamicsymbols("q u")
N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
A.orient_axis(N, q, N.z)
O = me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", l * A.x)
P.set_vel(N, {velocity})
bob = me.Particle("bob", P, m)
pendulum = kc.Model(N, [q], [u], [u - q.diff()], bodies=[bob], forcelist=[(P, m * g * N.x)], name="pendulum")
number = 3
"""


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "rotating_tube", "--states", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("audit of rotating_tube at 3 random states: passed")
    assert "the same in other units" in out


@pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning")
def test_command_on_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.py"
    path.write_text(FILE.format(velocity="l * u * A.y"), encoding="utf-8")
    assert main(["audit", f"{path}:pendulum", "--states", "3"]) == 0
    assert "no values were given for g, l, m" in capsys.readouterr().out
    assert main(["audit", f"{path}:number"]) == 1
    assert "is of type int" in capsys.readouterr().err
    assert main(["audit", "nosuch"]) == 1
    assert "no gallery model" in capsys.readouterr().err
    assert main(["audit", "rrp", "--states", "0"]) == 1
    path.write_text(FILE.format(velocity="3 * l * u * A.y"), encoding="utf-8")
    assert main(["audit", f"{path}:pendulum", "--states", "3"]) == 1
    assert "mass centre P of body bob" in capsys.readouterr().out
