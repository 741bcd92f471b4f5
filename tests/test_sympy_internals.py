# SPDX-License-Identifier: BSD-3-Clause
"""Private attributes of SymPy: describe.from_sympy.vector_internals and method_internals find all, and change none."""

import ast
import copy
import inspect
from pathlib import Path
from typing import Any

import pytest
import sympy as sm
import sympy.physics.mechanics as me

from kanecore.describe.from_sympy import method_internals, vector_internals
from kanecore.emit.kernel_groups import emit_group
from kanecore.kernels import GROUPS
from kanecore.model import Model


class Mechanism:
    """A turning arm with a sliding particle, a rigid body, and whatever else the reader looks at."""

    def __init__(self) -> None:
        self.q1, self.q2, self.u1, self.u2, self.force = me.dynamicsymbols("q1 q2 u1 u2 F")
        m, i, g, length = sm.symbols("m I g l")
        self.ground, self.arm, self.tip = (me.ReferenceFrame(name) for name in "NAB")
        self.arm.orient_axis(self.ground, self.ground.z, self.q1)
        self.arm.set_ang_vel(self.ground, self.u1 * self.ground.z)
        self.tip.orient_axis(self.arm, self.arm.x, 0.3)
        self.origin = me.Point("O")
        self.origin.set_vel(self.ground, 0)
        self.centre = self.origin.locatenew("C", length * self.arm.x)
        self.centre.v2pt_theory(self.origin, self.ground, self.arm)
        self.bead = self.centre.locatenew("P", self.q2 * self.tip.y)
        body = me.RigidBody("body", self.centre, self.arm, m, (me.inertia(self.arm, i, i, 2 * i), self.centre))
        particle = me.Particle("bead", self.bead, m)
        height = length * sm.sin(self.q1) + self.q2 * sm.cos(0.3) * sm.cos(self.q1)
        particle.potential_energy = m * g * height
        self.bodies = [body, particle]
        self.loads = [(self.bead, -m * g * self.ground.y), (self.arm, self.force * self.ground.z)]
        self.kd_eqs = [self.q1.diff() - self.u1, self.q2.diff() - self.u2]
        self.q, self.u = [self.q1, self.q2], [self.u1, self.u2]

    def kanes_method(self) -> me.KanesMethod:
        return me.KanesMethod(self.ground, self.q, self.u, self.kd_eqs, bodies=self.bodies, forcelist=self.loads)

    def lagranges_method(self) -> me.LagrangesMethod:
        return me.LagrangesMethod(self.q1.diff() ** 2, [self.q1])

    def model(self) -> Model:
        options = {"outputs": {"a": self.u2.diff()}, "frames": [self.tip]}
        return Model(self.ground, self.q, self.u, self.kd_eqs, bodies=self.bodies, forcelist=self.loads, **options)

    def stored(self) -> list[Any]:
        """All that SymPy keeps in the objects, dictionaries copied."""
        frames, points = (self.ground, self.arm, self.tip), (self.origin, self.centre, self.bead)
        names = ("_dcm_dict", "_dcm_cache", "_ang_vel_dict", "_ang_acc_dict", "_dlist")
        kept = [copy.copy(getattr(f, name)) for f in frames for name in names]
        kept += [copy.copy(getattr(p, name)) for p in points for name in ("_pos_dict", "_vel_dict", "_acc_dict")]
        return [*kept, *(dict(vars(b)) for b in self.bodies)]


@pytest.fixture
def mechanism() -> Mechanism:
    return Mechanism()


def private_attributes(source: str) -> set[str]:
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    }


HOLDERS = {
    **dict.fromkeys(("_dcm", "_dcm_dict", "_ang_vel_dict", "_ang_acc_dict"), lambda m: m.arm),
    "_pos_dict": lambda m: m.bead,
    "_vel_dict": lambda m: m.centre,
    "_acc_dict": lambda m: m.centre,
    **dict.fromkeys(("_inertial", "_f_h", "_f_nh", "_f_dnh", "_k_nh", "_k_dnh"), Mechanism.kanes_method),
    **dict.fromkeys(("_qdep", "_udep", "_uaux"), Mechanism.kanes_method),
    **dict.fromkeys(("_k_kqdot_implicit", "_k_ku_implicit", "_f_k_implicit"), Mechanism.kanes_method),
    **dict.fromkeys(("_L", "_hol_coneqs"), Mechanism.lagranges_method),
    "_t": lambda m: me.dynamicsymbols,
    "_pathway": lambda m: me.LinearSpring(1, me.LinearPathway(m.centre, m.bead)),
}


def test_sympy_still_has_them(mechanism: Mechanism) -> None:
    for attribute, holder in HOLDERS.items():
        assert hasattr(holder(mechanism), attribute), (
            f"SymPy {sm.__version__} has renamed {attribute}: find its new name and change {vector_internals.__file__} "
            f"or {method_internals.__file__}"
        )
    of_vectors, of_methods = (
        private_attributes(inspect.getsource(each)) for each in (vector_internals, method_internals)
    )
    assert of_vectors | of_methods == set(HOLDERS)
    assert of_vectors.isdisjoint(of_methods)


@pytest.mark.long
def test_no_other_module_touches_them(root: Path) -> None:
    """And the subclass of KanesMethod has what that class keeps, under the same names, as its own."""
    kept = {name for name, holder in HOLDERS.items() if holder is Mechanism.kanes_method}
    kept |= {"_forcelist", "_bodylist", "_k_kqdot", "_qdot_u_map"}
    known = set(HOLDERS) | {"_dcm_cache", "_dlist"} | kept
    for path in sorted((root / "pysrc/kanecore").rglob("*.py")):
        if path.name not in ("vector_internals.py", "method_internals.py"):
            touched = private_attributes(path.read_text(encoding="utf-8")) & known
            assert not touched - (kept if path.name == "kanes_method.py" else set()), path


def test_what_is_stored_means_what_we_read(mechanism: Mechanism) -> None:
    m = mechanism
    c = vector_internals.neighbours(m.arm)[m.ground]
    assert c == m.arm.dcm(m.ground)
    assert vector_internals.neighbours(m.ground)[m.arm] == c.T
    assert vector_internals.angular_velocities(m.arm)[m.ground] == m.u1 * m.ground.z
    assert vector_internals.angular_velocities(m.ground)[m.arm] == -m.u1 * m.ground.z
    assert vector_internals.positions(m.bead)[m.centre] == m.q2 * m.tip.y
    assert vector_internals.positions(m.centre)[m.bead] == -m.q2 * m.tip.y
    assert m.ground in vector_internals.velocities(m.centre)
    assert vector_internals.terms(2 * m.tip.y) == [(sm.Matrix([0, 2, 0]), m.tip)]
    km = m.kanes_method()
    assert method_internals.inertial_frame(km) is m.ground
    assert list(method_internals.kinematical_equations(km)) == m.kd_eqs
    assert not any(method_internals.constraints(km).values())


def test_constraints_as_given(mechanism: Mechanism) -> None:
    m = mechanism
    coordinates, speeds = m.q2 - 2 * m.q1, m.u2 - m.q1 * m.u1
    of_rates = me.KanesMethod(m.ground, m.q, [m.u1], m.kd_eqs, u_dependent=[m.u2], velocity_constraints=[speeds])
    found = {name: value for name, value in method_internals.constraints(of_rates).items() if value}
    assert found == {"u_dependent": [m.u2], "velocity_constraints": [speeds]}
    assert of_rates._k_dnh  # SymPy's own derivative
    given = {
        "q_dependent": [m.q2],
        "configuration_constraints": [coordinates],
        "u_dependent": [m.u2],
        "velocity_constraints": [m.u2 - 2 * m.u1],
        "acceleration_constraints": [m.u2.diff() - m.q1 * m.u1.diff() - m.u1**2],
    }
    of_all = me.KanesMethod(m.ground, [m.q1], [m.u1], m.kd_eqs, **given)
    assert method_internals.constraints(of_all) == {**given, "u_auxiliary": []}


@pytest.mark.long
def test_a_model_leaves_sympys_objects_alone(mechanism: Mechanism) -> None:
    before = mechanism.stored()
    model = mechanism.model()
    assert mechanism.stored() == before, "Model(...)"
    for group in GROUPS:
        emit_group(model.description, group)
        assert mechanism.stored() == before, group
    model.report()
    model.symbolic("mass_matrix")
    model.symbolic("partial_velocities", nested=True)
    assert mechanism.stored() == before, "report and symbolic results"
    km = mechanism.kanes_method()
    before, inside = mechanism.stored(), dict(vars(km))
    Model.from_kane(km).report()
    assert (mechanism.stored(), vars(km)) == (before, inside)


def test_force_of_an_actuator_in_stand_ins(mechanism: Mechanism) -> None:
    length, rate, k, c = sm.symbols("length rate k c")
    path = me.LinearPathway(mechanism.centre, mechanism.bead)
    spring, damper = me.LinearSpring(k, path, 2), me.LinearDamper(c, path)
    assert vector_internals.force_along(spring, length, rate) == -k * (length - 2)
    assert vector_internals.force_along(damper, length, rate) == -c * rate
    assert spring.pathway is path
