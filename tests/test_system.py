# SPDX-License-Identifier: BSD-3-Clause
"""Model.from_system: SymPy's System with joints, actuators and its own gravity."""

from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground

import kanecore as kc

t = me.dynamicsymbols._t


def crane() -> me.System:
    """A trolley on a rail with a hanging boom, a rope as a spring and damper over a pulley point, and a motor."""
    m, g, length, stiffness, damping = sm.symbols("m g l k c")
    tau = me.dynamicsymbols("tau")
    base, trolley, boom = me.RigidBody("ground"), me.RigidBody("trolley"), me.RigidBody("boom", mass=m)
    system = me.System.from_newtonian(base)
    slide = me.PrismaticJoint("rail", base, trolley, joint_axis=base.x)
    pin = me.PinJoint("hinge", trolley, boom, child_point=length * boom.y, joint_axis=trolley.z)
    system.add_joints(slide, pin)
    system.apply_uniform_gravity(-g * base.y)
    eye = base.masscenter.locatenew("eye", 2 * length * base.x)
    pulley = trolley.masscenter.locatenew("pulley", length / 3 * trolley.frame.y)
    rope = me.ObstacleSetPathway(eye, pulley, boom.masscenter)
    system.add_actuators(
        me.LinearSpring(stiffness, rope, length),
        me.LinearDamper(damping, me.LinearPathway(eye, trolley.masscenter)),
        me.TorqueActuator.at_pin_joint(tau, pin),
    )
    system.add_loads(me.Torque(boom.frame, -damping * pin.speeds[0] * base.z))
    return system


def numbers(model: kc.Model) -> dict[Any, float]:
    """Any values that a solid body may have: equal moments of inertia, no products."""
    inertia = {"ixx": 0.3, "iyy": 0.3, "izz": 0.3, "ixy": 0.0, "iyz": 0.0, "izx": 0.0}
    return {p: inertia.get(str(p)[-3:], 0.7 + 0.1 * i) for i, p in enumerate(model.parameters)}


def test_equations_are_those_that_the_system_forms() -> None:
    system = crane()
    before = kc.Model.from_system(system)
    system.form_eoms()
    after = kc.Model.from_system(system)
    values = numbers(before)
    x = [0.3, -0.4, 0.5, 0.6]
    for model in (before, after):
        dyn = kc.compile(model, parameters=values)
        state = dict(zip([*system.q, *system.u], x, strict=True)) | {me.dynamicsymbols("tau"): 1.3}
        rates = {q.diff(t): u for q, u in zip(system.q, system.u, strict=True)}
        for ours, theirs in ((dyn.mass_matrix, system.mass_matrix), (dyn.forcing, system.forcing)):
            right = np.array(me.msubs(me.msubs(theirs, rates), state).xreplace(values).tolist(), dtype=float)
            np.testing.assert_allclose(ours(0.0, x, r=[1.3]), right.reshape(ours(0.0, x).shape), rtol=1e-12, atol=1e-12)


def test_friction_of_a_joint_of_a_system() -> None:
    """A preload is a torque of known size on one body, and its opposite on the other; a System holds no such loads."""
    u, law = me.dynamicsymbols("u_hinge"), {"mu": 0, "pin_radius": 0.02, "transition_velocity": 0.01}
    written, system = crane(), crane()
    boom, trolley = (next(b for b in written.bodies if b.name == name) for name in ("boom", "trolley"))
    torque = -0.7 * sm.tanh(2 * u) * trolley.z
    written.add_loads(me.Torque(boom, torque), me.Torque(trolley, -torque))
    pin = kc.JointFriction("hinge", preload=0.7, **law)
    models = [kc.Model.from_system(written), kc.Model.from_system(system, forcelist=[pin])]
    found = [kc.compile(each, parameters=numbers(each)).rhs(0.0, [0.3, -0.4, 0.5, 0.6], r=[1.3]) for each in models]
    np.testing.assert_allclose(*found, rtol=1e-13)
    with pytest.raises(TypeError, match="takes forcelist from the System, which has loads of its own: add to it"):
        kc.Model.from_system(system, forcelist=[(trolley.masscenter, trolley.x)])


def test_what_becomes_of_a_system() -> None:
    """The ground and its symbols are no part of the model, joints keep their names, weights are one field."""
    model = kc.Model.from_system(crane())
    names = [str(p) for p in model.parameters]
    assert not [name for name in names if "ground" in name]
    assert names == sorted(names)
    assert model.inputs == (me.dynamicsymbols("tau"),)
    assert [body.name for body in model.description.bodies] == ["trolley", "boom"]
    dyn = kc.compile(model, parameters=numbers(model))
    assert dyn.joints == ("rail", "hinge")
    assert dyn.reactions(0.0, [0.1] * 4, r=[0.0], named=True).keys() == {"rail", "hinge"}
    assert "with uniform gravity on every body" in model.report()


def test_options_go_on_to_the_model() -> None:
    system, tau, gain = crane(), me.dynamicsymbols("tau"), sm.Symbol("gain")
    model = kc.Model.from_system(system, feedback={tau: -gain * system.u[1]}, name="crane", outputs={"x": system.q[0]})
    assert (model.n_r, model.name) == (0, "crane")
    assert gain in model.parameters
    with pytest.raises(TypeError, match="System"):
        kc.Model.from_system(system.bodies)


def test_the_users_objects_stay_as_they_are() -> None:
    system = crane()
    points = [p for body in system.bodies for p in (body.masscenter, *body.masscenter._pos_dict)]
    frames = [body.frame for body in system.bodies]

    def stored() -> list[Any]:
        return [
            [{**d} for d in (*(x for p in points for x in p._pdlist), *(x for f in frames for x in f._dlist))],
            system.eom_method,
        ]

    before = stored()
    model = kc.Model.from_system(system)
    model.report()
    model.explain()
    assert stored() == before


def test_bodies_in_the_inertial_frame() -> None:
    """One at rest is no body that moves; one that moves is no ground."""
    q, u, (N, origin) = *me.dynamicsymbols("q u"), ground()
    at_rest = me.RigidBody("ground", origin, N, 1, (me.inertia(N, 1, 1, 1), origin))
    with pytest.raises(kc.ModelError, match="at least one body that can move"):
        kc.Model(N, [q], [u], [q.diff() - u], bodies=[at_rest])
    centre = origin.locatenew("C", q * N.x)
    block = me.RigidBody("block", centre, N, 2, (me.inertia(N, 1, 1, 1), centre))
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[block], forcelist=[(centre, 4 * N.x)])
    assert kc.compile(model).udot(0.0, [0.0, 0.0]) == pytest.approx([2.0])


def test_tendons_take_the_operations_of_their_points() -> None:
    """A spring and a damper along five joints: SymPy's own loads hold every direction cosine written out."""
    base = me.RigidBody("ground")
    system = me.System.from_newtonian(base)
    last = base
    for i in range(5):
        body = me.RigidBody(f"b{i}", mass=1.0 + i)
        body.inertia = (me.inertia(body.frame, 1, 1, 1), body.masscenter)
        where = 0.2 * last.x if i else None
        axis = (last.x, last.y, last.z)[i % 3]
        system.add_joints(
            me.PinJoint(f"j{i}", last, body, parent_point=where, child_point=-0.3 * body.z, joint_axis=axis)
        )
        last = body
    path = me.LinearPathway(base.masscenter.locatenew("eye", base.x), last.masscenter)
    springs = [me.LinearSpring(30, path, 0.4), me.LinearDamper(2, path)]
    system.add_actuators(*springs)
    bare = kc.Model(system.frame, system.q, system.u, system.kdes, bodies=system.bodies)
    written = [load for spring in springs for load in spring.to_loads()]
    arguments = (system.frame, system.q, system.u, system.kdes)
    models = [bare, kc.Model.from_system(system), kc.Model(*arguments, bodies=system.bodies, forcelist=written)]
    none, ours, theirs = (kc.compile(model) for model in models)
    x = np.random.default_rng(3).uniform(-1, 1, 10)
    expected = theirs.forcing(0.0, x)
    np.testing.assert_allclose(ours.forcing(0.0, x), expected, rtol=0, atol=1e-12 * abs(expected).max())
    assert abs(none.forcing(0.0, x) - expected).max() > 0.1 * abs(expected).max()
    counts = [dyn.info["operations"]["forcing"] for dyn in (none, ours, theirs)]
    assert counts[1] - counts[0] < 280
    assert counts[2] - counts[0] > 1.4 * (counts[1] - counts[0])


def test_any_actuator_may_stand_among_the_loads() -> None:
    """A muscle-like subclass whose force uses its pathway, and a cable that wraps a cylinder (SymPy's own loads)."""

    class Stiffening(me.ForceActuator):
        def __init__(self, pathway: Any) -> None:
            self.pathway = pathway

        @property
        def force(self) -> Any:
            stretch = self.pathway.length - 1
            return -3 * stretch**3 - self.pathway.extension_velocity

    q, u = me.dynamicsymbols("q u")
    N, A, origin = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.Point("O")
    A.orient_axis(N, N.z, q)
    A.set_ang_vel(N, u * N.z)
    origin.set_vel(N, 0)
    P = origin.locatenew("P", 2 * A.x)
    anchor = origin.locatenew("anchor", 3 * N.y)
    actuator = Stiffening(me.LinearPathway(anchor, P))
    cylinder = me.WrappingCylinder(sm.Rational(1, 2), origin, N.z)
    ends = [origin.locatenew("a", N.x / 2), origin.locatenew("b", (sm.cos(q) * N.x + sm.sin(q) * N.y) / 2)]
    wrapped = me.ForceActuator(sm.Symbol("T"), me.WrappingPathway(*ends, cylinder))
    arguments = (N, [q], [u], [q.diff() - u])
    bob = me.Particle("bob", P, 1)
    with pytest.warns(kc.KanecoreWarning, match="load 1, a ForceActuator on a WrappingPathway: the power .* is minus"):
        model = kc.Model(*arguments, bodies=[bob], forcelist=[actuator, wrapped])
    ours = kc.compile(model, parameters={"T": 5.0})
    loads = [*actuator.to_loads(), *wrapped.to_loads()]
    theirs = kc.compile(kc.Model(*arguments, bodies=[bob], forcelist=loads), parameters={"T": 5.0})
    x = [0.4, 1.3]
    np.testing.assert_allclose(ours.forcing(0.0, x), theirs.forcing(0.0, x), rtol=1e-13)
    length, along = np.hypot(2 * np.cos(0.4), 2 * np.sin(0.4) - 3), 2 * 1.3 * np.array([-np.sin(0.4), np.cos(0.4)])
    direction = np.array([2 * np.cos(0.4), 2 * np.sin(0.4) - 3]) / length
    force = -3 * (length - 1) ** 3 - direction @ along
    alone = kc.compile(kc.Model(*arguments, bodies=[bob], forcelist=[actuator]))
    assert alone.forcing(0.0, x) == pytest.approx([force * (direction @ along) / 1.3], rel=1e-13)


class Pulling(me.WrappingPathway):
    """A force that pushes along the pathway is positive, as in SymPy's other pathways."""

    def to_loads(self, force: Any) -> Any:
        return super().to_loads(-force)


def wound(actuator: Any, pathway: Any, radius: Any) -> kc.Model:
    """A drum with a string around it, from a point of the ground to one of the drum at the angle q."""
    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    a, b = origin.locatenew("a", radius * N.x), origin.locatenew("b", radius * (sm.cos(q) * N.x + sm.sin(q) * N.y))
    drum = me.RigidBody("drum", origin, A, 1, (me.inertia(A, 0, 0, 2), origin))
    load = actuator(pathway(a, b, me.WrappingCylinder(radius, origin, N.z)))
    return kc.Model(N, [q], [u], [q.diff() - u], bodies=[drum], forcelist=[load], name="wound")


@pytest.mark.parametrize("radius", [sm.Rational(1, 2), sm.Symbol("r", positive=True)])
@pytest.mark.parametrize("kind", ["spring", "damper", pytest.param("muscle", marks=pytest.mark.long)])
def test_actuators_that_push_where_they_should_pull(kind: str, radius: Any) -> None:
    """SymPy's wrapping pathway takes the force for a tension: a warning, and none where it is turned round."""

    def make(path: Any) -> Any:
        if kind == "muscle":
            from sympy.physics.biomechanics import FirstOrderActivationDeGroote2016, MusculotendonDeGroote2016

            activation = FirstOrderActivationDeGroote2016.with_defaults("m")
            return MusculotendonDeGroote2016.with_defaults("m", path, activation)
        return me.LinearSpring(3, path, sm.Rational(1, 10)) if kind == "spring" else me.LinearDamper(3, path)

    name = {"spring": "LinearSpring", "damper": "LinearDamper", "muscle": "MusculotendonDeGroote2016"}[kind]
    said = rf"load 0, a {name} on .* returns super\(\).to_loads\(-force\)"
    with pytest.warns(kc.KanecoreWarning, match=said):
        model = wound(make, me.WrappingPathway, radius)
    assert "1 contradiction" in model.report()
    pulls = wound(make, Pulling, radius)
    assert "0 contradictions" in pulls.report()
    if kind == "spring":
        dyn = kc.compile(pulls, parameters={"r": 0.5} if pulls.n_p else {})
        assert dyn.udot(0.0, [0.8, 0.0])[0] == pytest.approx(-3 * (0.5 * 0.8 - 0.1) * 0.5 / 2, rel=1e-14)


def test_a_pathway_of_ones_own_whose_velocity_is_wrong() -> None:
    class Twice(me.LinearPathway):
        extension_velocity = property(lambda self: 2 * self.length.diff(me.dynamicsymbols._t))

    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P = origin.locatenew("P", q * N.x)
    spring = me.LinearDamper(3, Twice(origin, P))
    with pytest.warns(kc.KanecoreWarning, match="load 0, a LinearDamper on a Twice: .* is not its force times"):
        kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("bob", P, 1)], forcelist=[spring])


def test_radius_of_a_wrapping_pathway_that_is_a_float() -> None:
    with pytest.raises(kc.ModelError, match=r"load 0, a LinearSpring: SymPy cannot form .* write Rational\(1, 2\)"):
        wound(lambda path: me.LinearSpring(3, path), Pulling, 0.5)


def test_muscle_of_sympys_biomechanics() -> None:
    """De Groote et al. 2016: where the activation is given, it is an input that was listed; the curves are read."""
    from sympy.physics.biomechanics import FirstOrderActivationDeGroote2016, MusculotendonDeGroote2016

    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P = origin.locatenew("P", q * N.x)
    path = me.LinearPathway(origin, P)
    activation = FirstOrderActivationDeGroote2016.with_defaults("muscle")
    muscle = MusculotendonDeGroote2016.with_defaults("muscle", path, activation)
    bob = me.Particle("bob", P, 1)
    arguments, options = (N, [q], [u], [q.diff() - u]), {"bodies": [bob], "forcelist": [muscle]}
    with_state = [q, *muscle.x], [u], [q.diff() - u, muscle.x[0].diff() - muscle.rhs()[0]]
    assert kc.Model(N, *with_state, **options, inputs=list(muscle.r)).inputs == tuple(muscle.r)
    ours = kc.Model(*arguments, **options, inputs=list(muscle.x))
    values = {str(p): 0.9 + 0.1 * i for i, p in enumerate(ours.parameters)}
    dyn = kc.compile(ours, parameters=values)
    x, r = [1.3, 0.2], [0.4] * dyn.n_r
    force = muscle.force.doit(deep=True).subs({q.diff(): 0.2}).subs({q: 1.3})
    force = force.subs(dict.fromkeys(ours.inputs, 0.4)).subs({p: values[str(p)] for p in ours.parameters})
    assert dyn.forcing(0.0, x, r=r) == pytest.approx([float(force)], rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("state", ["l_M_tilde", "F_T_tilde"])
def test_elastic_tendons_of_sympys_biomechanics(state: str) -> None:
    """The states of muscles are coordinates without a speed: their equations are kinematical ones."""
    from sympy.physics.biomechanics import (
        FirstOrderActivationDeGroote2016,
        MusculotendonDeGroote2016,
        MusculotendonFormulation,
    )

    formulations = {
        "l_M_tilde": MusculotendonFormulation.FIBER_LENGTH_EXPLICIT,
        "F_T_tilde": MusculotendonFormulation.TENDON_FORCE_EXPLICIT,
    }
    q, u = me.dynamicsymbols("q u")
    N, origin = ground()
    P = origin.locatenew("P", q * N.x)
    muscle = MusculotendonDeGroote2016.with_defaults(
        "muscle",
        me.LinearPathway(origin, P),
        FirstOrderActivationDeGroote2016.with_defaults("muscle"),
        musculotendon_dynamics=formulations[state],
    )
    rates = list(muscle.rhs())
    ours = kc.Model(
        *(N, [q, *muscle.x], [u], [q.diff() - u, *(x.diff() - f for x, f in zip(muscle.x, rates, strict=True))]),
        bodies=[me.Particle("bob", P, 1)],
        forcelist=[muscle],
        inputs=list(muscle.r),
    )
    values = {p: 0.15 + 0.01 * i for i, p in enumerate(ours.parameters)}
    dyn = kc.compile(ours, parameters=values)
    numbers = dict(zip([q, *muscle.x, u], [0.3, 0.9, 0.4, 0.02], strict=True))
    r = {name: 0.7 if name == "e_muscle" else 0.0 for name in dyn.input_names}
    at = {**values, muscle.r[0]: 0.7}
    expected = [
        float(e.doit(deep=True).subs({q.diff(): u}).subs(numbers).subs(at).doit()) for e in (*rates, muscle.force)
    ]
    x = list(numbers.values())
    np.testing.assert_allclose(dyn.qdot(0.0, x, r=r)[1:], expected[:2], rtol=1e-11)
    assert dyn.forcing(0.0, x, r=r) == pytest.approx([expected[2]], rel=1e-12)


@pytest.mark.parametrize("name", ["holonomic_constraints", "configuration_constraints"])
def test_constraints_beside_those_of_a_system(name: str) -> None:
    (x, y), (u, v) = me.dynamicsymbols("x y"), me.dynamicsymbols("u v")
    system = me.System.from_newtonian(me.RigidBody("ground"))
    system.q_ind, system.q_dep, system.u_ind, system.u_dep = [x], [y], [u], [v]
    point = system.fixed_point.locatenew("P", x * system.frame.x + y * system.frame.y)
    system.add_bodies(me.Particle("P", point))
    system.add_kdes(x.diff() - u, y.diff() - v)
    system.add_holonomic_constraints(x**2 + y**2 - 1)
    with pytest.raises(TypeError, match=f"takes {name} from the System, which has holonomic constraints of its own"):
        kc.Model.from_system(system, **{name: [x - y]})


def test_errors_call_constraints_of_a_system_what_they_are() -> None:
    x, y, u, v = me.dynamicsymbols("x y u v")
    N, origin = ground()
    system = me.System(N, origin)
    system.q_ind, system.u_ind, system.kdes = [x, y], [u, v], [x.diff() - u, y.diff() - v]
    system.add_bodies(me.Particle("P", origin.locatenew("P", x * N.x + y * N.y), 1))
    system.add_holonomic_constraints(x**2 + y**2 - 1)
    system.add_nonholonomic_constraints(u + v)
    dyn = kc.compile(kc.Model.from_system(system))
    assert dyn.constraint_names == ("rate of holonomic constraint 0", "nonholonomic constraint 0")
    with pytest.raises(ValueError, match=r"'holonomic constraint 0' \(0.75\)"):
        dyn.simulate((0.0, 1.0), [2.0, 0.0, 0.0, 0.0])
    system.add_holonomic_constraints(x * u)
    with pytest.raises(kc.ModelError, match=r"in rate of holonomic constraint 1: the derivative of a speed"):
        kc.Model.from_system(system)


@pytest.mark.filterwarnings("ignore::sympy.utilities.exceptions.SymPyDeprecationWarning")
def test_other_objects_are_told_what_reads_them() -> None:
    base, arm = me.RigidBody("base"), me.RigidBody("arm")
    joints = me.JointsMethod(base, me.PinJoint("hinge", base, arm))
    system = me.System.from_newtonian(base)
    after = r": write kc\.Model\.from_kane\(method\.method\), after method\.form_eoms\(\)$"
    for read, given, words in (
        (kc.Model.from_system, joints, rf"from_system takes .*System, not a JointsMethod{after}"),
        (kc.Model.from_kane, joints, rf"from_kane takes .*KanesMethod, not a JointsMethod{after}"),
        (kc.Model.from_kane, system, r"not a System: write kc\.Model\.from_system\(system\)$"),
        (kc.Model.from_system, 3, r"from_system takes a sympy\.physics\.mechanics\.System, not a int$"),
    ):
        with pytest.raises(TypeError, match=words):
            read(given)
    joints.form_eoms()
    assert kc.Model.from_kane(joints.method).n_u == 1


def test_options_that_a_method_of_sympy_sets_or_that_nothing_has() -> None:
    """Of from_kane and from_system, by their names: what they set themselves, and what no Model takes."""
    q, u = me.dynamicsymbols("q u")
    N, P = me.ReferenceFrame("N"), me.Point("P")
    P.set_vel(N, u * N.x)
    method = me.KanesMethod(N, [q], [u], [q.diff() - u], bodies=[me.Particle("p", P, 1)])
    with pytest.raises(TypeError, match="from_kane sets frame itself: leave it out"):
        kc.Model.from_kane(method, frame=N)
    with pytest.raises(TypeError, match="Model has no argument 'loads': write forcelist="):
        kc.Model.from_kane(method, loads=[])
    assert kc.Model.from_kane(method, outputs={"a": q}, name="slider").name == "slider"
