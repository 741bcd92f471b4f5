# SPDX-License-Identifier: BSD-3-Clause
"""Model: the user's description of a mechanism, as a façade over `describe` and `derive`, which derives on request."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from types import MappingProxyType
from typing import Any, NoReturn

from kanecore.derive.base_parameters import BaseParameters, base_parameters
from kanecore.derive.changed_readings import canonical_reading, freed_reading, routhian_reading
from kanecore.derive.derivation import Derivation
from kanecore.derive.forces.contributing_loads import contributing, contributing_as_written, unknown_reactions
from kanecore.derive.reading_checks import checked_reading
from kanecore.derive.reports import explanation, model_picture, printed_equations, report, symbolic_expressions
from kanecore.derive.reports.kernel_expressions import Expressions
from kanecore.describe.description import Description, duplicate
from kanecore.describe.from_mjcf.mujoco_assembly import MujocoOptions, described_mujoco
from kanecore.describe.from_sdf.sdf_file import read_sdf
from kanecore.describe.from_sympy import vector_internals
from kanecore.describe.from_sympy.arguments import Arguments, no_such_argument
from kanecore.describe.from_sympy.reader import Reader
from kanecore.describe.from_sympy.robot_parts import Additions
from kanecore.describe.from_sympy.symbols import (
    SymbolsByName,
    function_name,
)
from kanecore.describe.from_sympy.sympy_methods import of_kanes_method, of_lagrangian, of_system
from kanecore.describe.from_transforms.homogeneous_transforms import Link
from kanecore.describe.from_transforms.link_chain import of_transforms
from kanecore.describe.from_transforms.link_loads import LinkLoad
from kanecore.describe.from_urdf.urdf_file import read_urdf
from kanecore.describe.reading import Keyframe, Reading
from kanecore.describe.robots.robot_assembly import described_robot
from kanecore.describe.robots.robot_options import RobotOptions
from kanecore.functions.c_functions import CFunction
from kanecore.functions.splines import Spline
from kanecore.kernels import JointColumns
from kanecore.program.garbage_collection import no_collection
from kanecore.shapes import Shape
from kanecore.speed_matrices import SpeedMatrices

__all__ = ["Model"]

# Names for other files of the package, and those that few users need.
_HIDDEN = {
    *("as_written", "contradictions", "derivation", "of_arguments", "of_reading", "reading", "time", "whole"),
    *("partial_accelerations", "partial_angular_accelerations"),
}


class Model(Expressions):
    """A mechanism described with ``sympy.physics.mechanics``, checked, and ready to be compiled.

    Parameters
    ----------
    frame : ReferenceFrame
        The inertial frame.
    q_ind, u_ind : sequence of dynamicsymbols
        Coordinates and generalized speeds: the independent ones, where others depend on them by constraints.
    kd_eqs : sequence of expressions
        n_q kinematical differential equations, each equal to zero, linear in q̇ and u (Kane & Levinson 1985,
        section 2.12).
    q_dependent, u_dependent : sequences of dynamicsymbols, optional
        Coordinates and speeds that depend on the others; the state is x = [q_ind, q_dependent, u_ind, u_dependent]. All
        may be listed in ``q_ind`` and ``u_ind`` instead: then the choice is made at run time, at every state.
    configuration_constraints : sequence of expressions, optional
        φ(q, t), each equal to zero.
    velocity_constraints : sequence of expressions, optional
        c(q, u, t), each equal to zero; linear in u and q̇, or not (then it is a complex nonholonomic constraint).
        Derivatives of configuration constraints may be listed here, and are not counted twice.
    acceleration_constraints : sequence of expressions, optional
        Expressions linear in u̇, each equal to zero; derivatives of the other constraints may be listed here.
        Constraints of any kind may have names, as {name: expression}, which messages and ``dyn.constraint_names`` then
        use.
    u_auxiliary : sequence of dynamicsymbols, optional
        Auxiliary generalized speeds, which bring reactions in evidence and are zero themselves.
    reactions : sequence of dynamicsymbols, optional
        Unknown forces or torques of ``forcelist`` that the auxiliary equations determine, one for each of
        ``u_auxiliary``, where the motion depends on them, as by friction μ|N| (Kane & Levinson 1985, section 4.10).
        Loads and outputs may hold them. Their signs are not checked.
    states : dict of dynamicsymbol to expression, or sequence of these and of objects, optional
        First-order states z with their rates ż, after q and u in x = [q, u, z]: currents, integrals of controllers,
        activations of muscles.  A rate is any function of t, q, u, z, inputs and parameters; it may hold ``u.diff()``,
        `kanecore.multiplier` and `kanecore.reaction`.  States stand in loads, masses, potentials, outputs, feedback and
        velocity constraints, not in positions.  An object with ``x``, ``r`` and ``rhs()``, such as a muscle of
        ``sympy.physics.biomechanics``, brings its states itself, from here or from ``forcelist``.
    bodies : sequence of Particle or RigidBody
        ``[]``: forces and kinematics alone, as generalized active forces and partial velocities, without M and u̇.
    forcelist : sequence of (Point, force), (ReferenceFrame, torque), actuators, contacts or JointFriction, optional
        Actuators of ``sympy.physics.mechanics``, such as ``LinearSpring``, need not be turned into loads.  Of
        (ReferenceFrame, `ForceSystem`) the forces act at their points, and the torques on the frame.  A `Contact` acts
        on both bodies and brings outputs.
    parameters : sequence of Symbol, optional
        Constants, in order; default: all that occur, sorted by name.
    inputs : sequence of dynamicsymbols, optional
        Forces and prescribed motions r(t); default: all functions of time that occur and are neither coordinates nor
        speeds, sorted by name.  Where a prescribed motion ``theta`` needs its rates they follow it as ``theta_d`` and
        ``theta_dd``.
    outputs : dict of name to expression, optional
        Results of the kernel ``outputs``; they may hold ``u.diff()`` and `kanecore.multiplier` (row).  A Vector ``v``
        has components ``v_x``, ``v_y``, ``v_z`` in the axes of the inertial frame, as (Vector, ReferenceFrame) in those
        of the frame; a Point, alone or with a frame, is its position from the origin.  Entries of a Matrix ``A`` are
        ``A_0_1``, those of a row or column ``A_0``.
    functions : dict of SymPy function to Spline or CFunction, optional
        Functions of coordinates, time, inputs or parameters that are data, such as a street or a cam, or machine code:
        ``{street: kc.Spline(x, y)}`` with ``street = sympy.Function("street")``, and ``street(x(t) + l)`` anywhere in
        the description.  All kernels hold their exact derivatives.
    potentials : sequence of expressions, optional
        Potential energies, in place of their forces.
    feedback : dict of input to expression, optional
        Laws in t, q, u, parameters and other inputs, put in place of inputs that occur in loads and outputs.
    points, frames : sequences, optional
        More points and frames for the kernels of positions, velocities and accelerations, and of partial velocities, in
        addition to mass centres, frames of bodies, and those of loads.
    joints : dict of name to (parent, child, point), optional
        Parent (a body or the inertial frame), child and joint point, for the kernel ``reactions``.
        Default: the parent is the nearest body on the path of points from the mass centre to the origin, the joint
        point the first there that belongs to it, the name that of the child.
    attach : dict of row to (child, child_point, parent, parent_point, vector), optional
        How a row of the constraint Jacobian, given by its number or name, acts: the force λ·vector on the child, its
        opposite on the parent, which ``reactions`` of constrained models need; two frames in place of the points for a
        torque; a list of several.
    guess : dict of coordinate or speed, or name of one, to number, optional
        Where a state that satisfies the constraints is looked for, when ``dyn.check`` is given none.
    shapes : dict of body, or name of one, to shape, optional
        How bodies look in pictures: ``{"wheel": kc.shapes.Disc(r)}``, a `kanecore.shapes.Box`, `Capsule`,
        `Cylinder`, `Disc`, `Ellipsoid`, `Rod` or `Sphere` about the mass centre, in the axes of the body.
    unit : sequence of (e0, e1, e2, e3), optional
        Coordinates that are a unit quaternion, normalised while integrating; default: those in a standard rotation
        matrix, as ``orient_quaternion`` writes it.
    origin : Point, optional
        The point at rest that positions are measured from.  Default: the one that most bodies are located from, which
        ``report()`` names.  A point to which no positions lead from it is measured from the root of its own points.
    holonomic_constraints, nonholonomic_constraints : optional
        SymPy's newer names of ``configuration_constraints`` and ``velocity_constraints``; TypeError for both.
    name : str, optional

    Raises
    ------
    ModelError
        A description that is wrong or incomplete; the message names the fault and what to write.

    Notes
    -----
    A model is immutable, and it never changes the SymPy objects nor calls ``vel``, ``acc`` or ``dcm`` on them.
    Unknown reactions in ``forcelist`` on which no generalized active force depends are noncontributing forces: they
    are listed in ``noncontributing`` and are neither parameters nor inputs.
    ``model.forcing`` and its like, the name of a kernel, are short for ``model.symbolic("forcing")``.

    Made from other descriptions::

        from_kane         Model of SymPy's KanesMethod.
        from_system       Model of SymPy's System.
        from_lagrangian   Model of a Lagrangian and forces.
        from_transforms   Model of homogeneous transforms or Denavit-Hartenberg parameters.
        from_urdf         Model of a robot's URDF file.
        from_sdf          Model of an SDFormat file.
        from_mjcf         Model of a MuJoCo model, its smooth dynamics.

    Changed into another model::

        canonical         Model in the generalized momenta, by Hamilton's equations.
        routhian          Model without its cyclic coordinates, by Routh's reduction.
        free              Model without some constraints, their forces brought in evidence.

    Read::

        name, description, coordinates, speeds, states, parameters, values, keyframes, inputs, functions,
        noncontributing, left_out, n_q, n_u, n_z, n_x, n_p, n_r, n_constraints

    Asked for expressions::

        symbolic          SymPy expressions of a kernel.
        equations         The equations of motion as SymPy equations.
        latex             LaTeX of these, or of a kernel.
        speed_matrices    Matrices A, Ψ and Υ of redundant speeds.
        base_parameters   Combinations of inertial parameters that can be identified.

    Shown::

        report            What was understood, in words.
        explain           Which load gives which generalized force.
        draw              A picture at a state.
    """

    def __init__(
        self,
        frame: Any,
        q_ind: Sequence[Any],
        u_ind: Sequence[Any],
        kd_eqs: Sequence[Any] | None = None,
        q_dependent: Sequence[Any] | None = None,
        configuration_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        u_dependent: Sequence[Any] | None = None,
        velocity_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        acceleration_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        u_auxiliary: Sequence[Any] | None = None,
        bodies: Sequence[Any] | None = None,
        forcelist: Sequence[Any] | None = None,
        *,
        reactions: Sequence[Any] | None = None,
        states: Mapping[Any, Any] | Sequence[Any] | None = None,
        parameters: Sequence[Any] | None = None,
        inputs: Sequence[Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        feedback: Mapping[Any, Any] | None = None,
        potentials: Sequence[Any] | None = None,
        points: Sequence[Any] | None = None,
        frames: Sequence[Any] | None = None,
        joints: Mapping[str, Any] | None = None,
        attach: Mapping[int, Any] | None = None,
        unit: Sequence[Any] | None = None,
        guess: Mapping[Any, float] | None = None,
        origin: Any = None,
        functions: Mapping[Any, Spline | CFunction] | None = None,
        shapes: Mapping[Any, Shape] | None = None,
        holonomic_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        nonholonomic_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        name: str | None = None,
        **others: NoReturn,
    ) -> None:
        if others:
            raise no_such_argument(next(iter(others)))
        arguments = Arguments(
            frame=frame,
            q_ind=q_ind,
            u_ind=u_ind,
            kd_eqs=kd_eqs,
            q_dependent=q_dependent,
            configuration_constraints=configuration_constraints,
            u_dependent=u_dependent,
            velocity_constraints=velocity_constraints,
            acceleration_constraints=acceleration_constraints,
            u_auxiliary=u_auxiliary,
            bodies=bodies,
            forcelist=forcelist,
            reactions=reactions,
            states=states,
            parameters=parameters,
            inputs=inputs,
            outputs=outputs,
            feedback=feedback,
            potentials=potentials,
            points=points,
            frames=frames,
            joints=joints,
            attach=attach,
            unit=unit,
            guess=guess,
            origin=origin,
            functions=functions,
            shapes=shapes,
            holonomic_constraints=holonomic_constraints,
            nonholonomic_constraints=nonholonomic_constraints,
            name=name,
        )
        self._begin(contributing(Reader(arguments).read()))

    @classmethod
    def of_arguments(cls, arguments: Arguments) -> Model:
        """The model of arguments that are in one object."""
        return cls.of_reading(Reader(arguments).read())

    @classmethod
    def of_reading(cls, reading: Reading) -> Model:
        """The model of what a reader gives, or of a description that was made without SymPy."""
        model = cls.__new__(cls)
        model._begin(contributing(reading))
        return model

    @classmethod
    def as_written(cls, arguments: Arguments) -> tuple[Model, tuple[Any, ...]]:
        """The model in which reactions of auxiliary speeds stay inputs, as SymPy writes equations; and these."""
        reading = contributing_as_written(Reader(arguments).read())
        model = cls.__new__(cls)
        model._begin(reading)
        return model, tuple(symbol for symbol, *_ in unknown_reactions(reading))

    def _begin(self, reading: Reading) -> None:
        """Become the model of a reading with its contributing forces, checked."""
        self._hold(replace(reading, undeclared=frozenset(), set_accelerations=(), actuators=(), read_again=None))
        self.contradictions = checked_reading(
            reading, lambda: self.derivation.kinematics, lambda: symbolic_expressions.symbols_by_key(self)
        )

    def _hold(self, reading: Reading) -> None:
        """Hold a reading, in place of any other: results are derived anew."""
        self.reading: Reading = reading
        self._derived: Derivation | None = None
        self._symbols = SymbolsByName(reading.symbols)

    def _with(self, reading: Reading) -> Model:
        """Copy of the model that holds another reading."""
        model = copy.copy(self)
        model._hold(reading)
        return model

    @classmethod
    def from_kane(cls, kanes_method: Any, bodies: Any = None, forcelist: Any = None, **options: Any) -> Model:
        """The model of a ``sympy.physics.mechanics.KanesMethod``, before or after ``kanes_equations()``.

        Parameters
        ----------
        kanes_method : KanesMethod
        bodies, forcelist : sequences, optional
            Default: those of the KanesMethod.
        **options
            Further arguments of :class:`Model`.
        """
        return cls.of_arguments(of_kanes_method(kanes_method, bodies, forcelist).with_options(options, "from_kane"))

    @classmethod
    def from_system(cls, system: Any, **options: Any) -> Model:
        """The model of a ``sympy.physics.mechanics.System``, before or after ``form_eoms()``.

        Its actuators give their loads, its joints their names; the body that is its inertial frame is left out.  The
        child of a joint is the body that is farther from the ground, whichever the System calls so.

        Parameters
        ----------
        system : System
        **options
            Further arguments of :class:`Model`; ``joints`` replaces the System's joints of the same children, and
            ``forcelist`` adds contacts and frictions of joints, which a System cannot hold.
        """
        return cls.of_arguments(of_system(system, options))

    @classmethod
    def from_lagrangian(
        cls,
        L: Any,
        q: Sequence[Any] | None = None,
        *,
        forcelist: Sequence[Any] | None = None,
        dissipation: Any = None,
        frame: Any = None,
        nonholonomic_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        holonomic_constraints: Sequence[Any] | Mapping[str, Any] | None = None,
        parameters: Sequence[Any] | None = None,
        inputs: Sequence[Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        feedback: Mapping[Any, Any] | None = None,
        points: Sequence[Any] | None = None,
        frames: Sequence[Any] | None = None,
        guess: Mapping[Any, float] | None = None,
        functions: Mapping[Any, Spline | CFunction] | None = None,
        unit: Sequence[Any] | None = None,
        origin: Any = None,
        states: Mapping[Any, Any] | Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Model:
        """The model of a Lagrangian: d/dt ∂L/∂q̇ − ∂L/∂q = Q − ∂R/∂q̇ + Gᵀλ (Goldstein, Poole & Safko 2002, chapter 2).

        The speeds are q̇, named ``theta_d`` for a coordinate ``theta``.  L may be any function of the rates.

        Parameters
        ----------
        L : expression, or LagrangesMethod
            In q, ``q.diff()``, t, parameters and inputs.  A ``sympy.physics.mechanics.LagrangesMethod``, before or
            after ``form_lagranges_equations()``, gives ``q``, ``forcelist``, ``frame`` and the constraints as well.
            Its multipliers have the opposite sign.
        q : sequence of dynamicsymbols
            The coordinates.
        forcelist : sequence of (Point, force), (ReferenceFrame, torque) or actuators, optional
            Forces and torques in addition to L.
        dissipation : expression, optional
            A function R(q, q̇, t) of the generalized forces Q_k = −∂R/∂q̇_k in addition to L: Rayleigh's is quadratic in
            q̇, as c q̇²/2 of a damper with the force −c q̇, and then 2 R is the power that is lost; F₀ √(q̇² + ε²) is
            nearly dry friction (Goldstein, Poole & Safko 2002, section 1.5; Kane & Levinson 1985, section 5.3).  It may
            hold parameters and inputs.
        frame : ReferenceFrame
            The inertial frame, where there are forces, points or frames.
        nonholonomic_constraints : sequence of expressions, optional
            c(q, q̇, t), each equal to zero, of ∂c/∂q̇ᵀ μ among the generalized forces.
        holonomic_constraints : sequence of expressions, optional
            φ(q, t), each equal to zero, of ∂φ/∂qᵀ λ.
        parameters, inputs, outputs, feedback, points, frames, guess, functions, unit, origin, states, name : optional
            As for :class:`Model`; an input whose rate the equations need is followed by it.

        Returns
        -------
        Model
            With T = q̇·∂L/∂q̇ − L − U and U = −L at q̇ = 0, whose sum is Jacobi's energy function.

        Raises
        ------
        ModelError
            L, or R, is no scalar, holds second derivatives or no derivatives; or as :class:`Model`.
        TypeError
            An argument that a LagrangesMethod holds is given as well.
        """
        arguments = Arguments(
            q_ind=(),
            u_ind=(),
            frame=frame,
            forcelist=forcelist,
            dissipation=dissipation,
            nonholonomic_constraints=nonholonomic_constraints,
            holonomic_constraints=holonomic_constraints,
            parameters=parameters,
            inputs=inputs,
            outputs=outputs,
            feedback=feedback,
            points=points,
            frames=frames,
            guess=guess,
            functions=functions,
            unit=unit,
            origin=origin,
            states=states,
            name=name,
        )
        return cls.of_arguments(of_lagrangian(L, q, arguments))

    @classmethod
    def from_transforms(
        cls,
        links: Sequence[Link],
        *,
        gravity: Sequence[Any] = (0, 0, 0),
        q: Sequence[Any] | None = None,
        speeds: str = "rates",
        u: str | Sequence[Any] | None = None,
        efforts: Sequence[Any] | Mapping[Any, Any] | None = None,
        forcelist: Sequence[LinkLoad] | None = None,
        places: str | Sequence[Any] | None = None,
        **options: Any,
    ) -> Model:
        """The model of a serial chain or a tree of links, each placed on the one before by a homogeneous transform.

        Parameters
        ----------
        links : sequence of Link
        gravity : (x, y, z)
            Acceleration of a falling body, in inertial axes, m/s².
        q : sequence of functions of time, optional
            The coordinates, in order; other functions in the transforms are prescribed.  Default: all that occur along
            the chain and are not in ``inputs``.
        speeds : {"rates", "bodies"}
            ``"rates"``: u = q̇, named ``theta_d``.  ``"bodies"``: the redundant speeds p, all components of the angular
            velocity (wx1, wy1, wz1, ...) and of the mass centre's velocity (vx1, ...) of each link that has mass, in
            its own axes, the number being that of the link.  M is block-diagonal.  p# = Ψ q̇# are the kinematical
            equations, Λ = p° − Υ Ψ⁻¹ p# = 0 velocity constraints (`speed_matrices` gives Ψ and Υ).
        u : str or sequence of names, optional
            For rates: their names.  For ``"bodies"``: the order of p, of which the first that determine q̇ are p#; names
            that are left out follow, all w, then all v.
        efforts : sequence of coordinates, or dict of coordinate to expression, optional
            Efforts of actuators, between a link and the one before it, of the power effort · q̇.  Those of a sequence
            are inputs ``tau_<q>``.
        forcelist : sequence of LinkLoad, optional
        places : "centres", or sequence of (link, (x, y, z)[, point]), optional
            Redundant coordinates: inertial coordinates of a point in the axes of a link (default: its mass centre),
            None for one left out.  They bring constraints φ = 0.  ``"centres"``: x1, y1, z1, ... of all mass centres.
        **options
            Further arguments of :class:`Model`: ``configuration_constraints`` that close loops, ``outputs``, ...
            ``points`` and ``frames`` are names of links, without mass as well: the origin of link ``"tool"`` is the
            point ``"tool origin"``.
            ``q_dependent`` names all dependent coordinates, by default those of ``places``.  With constraints beyond
            φ and Λ the independent p are the first of ``u``, as many as independent coordinates; ``u_dependent`` names
            the dependent ones where they are others, as with constraints on velocities.

        Raises
        ------
        ModelError
            A matrix is no transform, a parent is missing, ...: the message names the link and the entry.

        Examples
        --------
        A pendulum::

            q, (m, l, g) = me.dynamicsymbols("q"), sm.symbols("m l g")
            rod = kc.transforms.Link("rod", kc.transforms.dh(l, 0, 0, q), mass=m)
            model = kc.Model.from_transforms([rod], gravity=(0, -g, 0), efforts=[q])
        """
        loads = {"efforts": efforts, "forcelist": forcelist, "places": places}
        return cls.of_arguments(of_transforms(links, gravity, q, speeds, u, loads, options))

    @classmethod
    def from_urdf(
        cls,
        source: str | PathLike[str],
        *,
        floating_base: bool = False,
        free_velocity: str = "link",
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        parameters: bool = False,
        mimic: bool = True,
        damping: bool = False,
        friction: float | None = None,
        armature: Mapping[str, float] = MappingProxyType({}),
        loops: Sequence[tuple[Any, ...]] = (),
        contacts: Mapping[str, Mapping[str, float]] | str | None = None,
        forces: Sequence[str] | Mapping[str, Any] = (),
        torques: Sequence[str] | Mapping[str, Any] = (),
        velocity_constraints: Sequence[Any] | Mapping[str, Any] = (),
        forcelist: Any = None,
        states: Any = None,
        outputs: Any = None,
        feedback: Any = None,
        functions: Any = None,
    ) -> Model:
        """The model of a robot that a URDF file describes.

        A joint J of type revolute, continuous or prismatic has the coordinate ``q_J``, the speed ``u_J`` and the effort
        ``tau_J``, an input.  A floating one has the position ``q_J_x``, ``q_J_y``, ``q_J_z`` in the axes of the joint,
        the unit quaternion ``q_J_e0`` ... ``q_J_e3``, the velocity ``u_J_x`` ... of the link's origin and its angular
        velocity ``u_J_rx`` ..., both in the axes of the link, or see ``free_velocity``.  A spherical one has the
        quaternion and the angular velocity.  A planar one has ``q_J_x``, ``q_J_y`` in the plane normal to its axis,
        along x and y of the joint, turned the shortest way that brings z to the axis, about x for the axis −z; the
        angle ``q_J_r``; and ``u_J_x``, ``u_J_y``, ``u_J_r``, the former along these directions as they turn with the
        link.  Efforts of all these have the names of their speeds, with tau.  All links are points and frames, also
        those without mass; links on fixed joints are merged.

        Parameters
        ----------
        source : path or str
            A file, or a text that begins with ``<``.
        floating_base : bool
            The root may move: a floating joint named ``base`` without efforts, whose numbers come first.
        free_velocity : {"link", "world"}
            Axes of the velocity ``u_J_x``, ``u_J_y``, ``u_J_z`` of links that float, and of their forces: those of the
            link, as in Pinocchio, or those of the position, the world's for a floating base, as in MuJoCo and Drake;
            then it is the derivative of ``q_J_x``, ``q_J_y``, ``q_J_z``.  The angular velocity is in the link's axes.
        gravity : (x, y, z)
            Acceleration of a falling body, in the axes of the root, or of the ground, m/s².
        parameters : bool
            Masses, mass centres and central inertias of all links that move are parameters, in the axes of each link:
            ``m_LINK``, ``cx_LINK``, ..., ``Ixx_LINK``, ``Ixy_LINK``, ...; `compile` gives them the values of the file.
            Else they are numbers, and take no operations of their own.
        mimic : bool
            A mimic joint shares its leader's coordinate: q = multiplier q_other + offset.  With False it has its own
            and moves independently.
        damping : bool
            Joints lose damping · u.  Springs of joints, stiffness · (rest − q), act without it.
        friction : float, optional
            Joints lose friction · tanh(u / this), dry friction that turns over so many rad/s or m/s.  Default: none.
        armature : dict of joint to float, optional
            Inertia of each rotor times the square of its gear ratio, kg m², of a prismatic joint kg: it stands on the
            diagonal of M.  What a rotor that spins does to the links beyond that is left out.  Default: that of the
            file, whose elements ``transmission`` may hold the inertia of a rotor, and its gear ratio.  With
            ``parameters`` a parameter ``armature_J``.
        loops : list of (link, link, kind), (link, link, kind, axis), or (link, (x, y, z), "point")
            Closes loops, which a URDF has not, beside those that the file closes by elements of its own: the origins
            of two links coincide, ``"point"``, and their axes as well, ``"weld"``.  Of ``"hinge"``, ``"slider"`` and
            ``"cylinder"`` the second link turns about an axis of the first through its origin, moves along it, or both;
            ``axis``, (x, y, z), has the same components in both links, or two are given, one for each.  The
            multipliers are the components of the force, and of the torque, on the second link, in the axes of the
            first, turned the shortest way that brings z to the axis.  With three numbers the origin of a link stays
            at this place in the world, as a foot does: the multipliers are the components of the force on it, in the
            axes of the world.  ``dyn.reactions`` counts these forces in.
        contacts : mapping of link to mapping of str to float, or "collision", optional
            Links whose origins touch the ground, the plane z = 0 of the world, as a `Contact` with the numbers
            ``radius``, ``stiffness``, ``exponent``, ``dissipation``, ``mu``, ``transition_velocity``, ``smooth``.
            Default: 0, 1 mm deep under the weight of the robot, 1.5, 1 s/m, 0.8, 0.01 m/s, none.  With
            ``bristle_stiffness``, ``bristle_damping`` friction holds, and has states.  ``"collision"`` in
            place of a link, or of all: the elements ``collision`` of all other links that move, spheres, capsules,
            boxes by their corners, cylinders by 8 points of each rim; a mesh is left out, with a KanecoreWarning.
        forces : list of links, or mapping of name to link or (link, (x, y, z)) or (link, (x, y, z), axes), optional
            Forces on points of links, given in the axes of the link; default: its origin.  Inputs ``f_NAME_x``,
            ``f_NAME_y``, ``f_NAME_z`` in the axes of the world, or with ``"link"`` of the link.  The name of an item of
            a list is the link.
        torques : list of links, or mapping of name to link or (link, axes), optional
            Torques on links: inputs ``t_NAME_x``, ``t_NAME_y``, ``t_NAME_z``.
        velocity_constraints : sequence or mapping of name to expression, optional
            Expressions of SymPy in the model's coordinates, speeds and inputs, by their names, each equal to zero, as
            for `Model`: the rows of rolling wheels.
        forcelist, states, outputs, feedback, functions : optional
            As for `Model`, in the names of the robot, such as ``dynamicsymbols("u_elbow")``; or each a function that
            gets the robot and returns that.  The robot has SymPy's objects by name: ``robot.points["hand"]``,
            ``robot.frames["hand"]``, ``robot.coordinates``, ``robot.speeds``, ``robot.states``, ``robot.inputs``,
            ``robot.parameters``.  Points may be located from its points, and frames oriented from its frames; between
            these SymPy knows neither positions nor orientations.  ``feedback`` of an input ``tau_J`` replaces it.

        Raises
        ------
        ModelError
            The file is no URDF of one tree of links: the message says in which line.
        OSError
            The file cannot be read.

        Warns
        -----
        KanecoreWarning
            An element of the file, beyond URDF, is not read and may act on the motion, such as the inertia of a rotor:
            one warning each, with its line and what to write instead.  Pictures, sensors and plugins do not act.

        Examples
        --------
        ``dyn = kc.compile(kc.Model.from_urdf("panda.urdf"))``
        """
        with no_collection():
            options = RobotOptions(
                floating_base=floating_base,
                free_velocity=free_velocity,
                gravity=gravity,
                parameters=parameters,
                damping=damping,
                friction=friction,
                armature=armature,
                loops=loops,
                contacts=contacts,
                forces=forces,
                torques=torques,
                velocity_constraints=velocity_constraints,
            )
            robot = read_urdf(source, mimic, collisions=contacts is not None)
            addition = Additions(forcelist, states, outputs, feedback, functions).add_to
            return cls.of_reading(described_robot(robot, options, addition))

    @classmethod
    def from_sdf(
        cls,
        source: str | PathLike[str],
        *,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        free_velocity: str = "link",
        parameters: bool = False,
        damping: bool = False,
        friction: float | None = None,
        armature: Mapping[str, float] = MappingProxyType({}),
        loops: Sequence[tuple[Any, ...]] = (),
        contacts: Mapping[str, Mapping[str, float]] | str | None = None,
        forces: Sequence[str] | Mapping[str, Any] = (),
        torques: Sequence[str] | Mapping[str, Any] = (),
        velocity_constraints: Sequence[Any] | Mapping[str, Any] = (),
        forcelist: Any = None,
        states: Any = None,
        outputs: Any = None,
        feedback: Any = None,
        functions: Any = None,
    ) -> Model:
        """The model of an SDFormat file with one ``<model>``, as of Gazebo and Drake, with its closed loops.

        Coordinates, speeds and efforts are named as by `from_urdf`.  A universal joint J has ``q_J_1`` and ``q_J_2``,
        about its first axis and then about the second one, a screw ``q_J``, its angle.  A link L that no joint moves
        floats, with ``q_L_x``, ... without efforts.  All coordinates are 0, and quaternions 1, where the file places
        the links.  A joint whose child moves by another joint, or carries its parent, closes a loop: the joints that
        come first are those of the tree.

        Parameters
        ----------
        source : path or str
            A file, or a text that begins with ``<``.
        all others : optional
            As for `from_urdf`.

        Raises
        ------
        ModelError
            The file is not SDFormat of one model, or contains an unsupported part, such as nested models: the
            message names the line.
        OSError
            The file cannot be read.

        Notes
        -----
        Read are links with their inertias, by default 1 kg and 1 kg m²; links without gravity; poses and frames,
        ``relative_to``, ``attached_to`` and ``expressed_in``, by version; joints fixed, revolute, continuous,
        prismatic, ball, universal, screw, with damping, friction, springs and mimic, Drake's rotors.

        Source: http://sdformat.org/spec.

        Examples
        --------
        ``dyn = kc.compile(kc.Model.from_sdf("gripper.sdf"))``
        """
        with no_collection():
            options = RobotOptions(
                gravity=gravity,
                free_velocity=free_velocity,
                parameters=parameters,
                damping=damping,
                friction=friction,
                armature=armature,
                loops=loops,
                contacts=contacts,
                forces=forces,
                torques=torques,
                velocity_constraints=velocity_constraints,
            )
            addition = Additions(forcelist, states, outputs, feedback, functions).add_to
            return cls.of_reading(described_robot(read_sdf(source, contacts is not None), options, addition))

    @classmethod
    def from_mjcf(
        cls,
        source: Any,
        *,
        parameters: bool = False,
        actuators: bool = True,
        equality: str = "exact",
        friction: float | None = None,
        limits: str = "ignore",
        contacts: Mapping[str, Mapping[str, float]] | str | None = None,
        forcelist: Any = None,
        states: Any = None,
        outputs: Any = None,
        feedback: Any = None,
        functions: Any = None,
    ) -> Model:
        """The smooth dynamics of a MuJoCo model: M q̈ + bias = passive + actuator forces, without contacts and limits.

        The state is MuJoCo's, x = [qpos, qvel, act]: quaternions with the cosine first, the velocity of a free body in
        the world and its angular velocity in the body.  Joint J has the coordinate ``q_J`` and the speed ``u_J``; a
        ball joint ``q_J_e0`` ... ``q_J_e3`` and ``u_J_rx``, ``u_J_ry``, ``u_J_rz``; a free one ``q_J_x``, ... and
        ``u_J_x``, ... before these.  Actuators are inputs by their names, their activations the states ``act_NAME``.
        Outputs are ``"NAME force"`` of each actuator, ``"NAME length"`` of each tendon, and sensors by their names,
        vectors as ``"NAME_x"``, ...; ``"NAME sensor"`` where a name is taken.  Bodies are points and frames, sites
        points.  A part without a name is called by its kind and number, as ``joint3``.  The states that the file names
        are ``model.keyframes``: ``dyn.simulate((0, 1), model.keyframes["home"].x)``.

        Parameters
        ----------
        source : mujoco.MjModel, path, or str
            A compiled model of MuJoCo 4.0 or newer, an MJCF file, or its text, which begins with ``<``.  The latter two
            are compiled by MuJoCo, or, where it is not installed, by this package, which reads most files.
        parameters : bool
            Whether each body has parameters ``m_BODY``, ``cx_BODY``, ..., ``Ixx_BODY``, ..., in its own axes, and each
            number of these that is not 0 is one: ``armature_J``, ``damping_J``, ``frictionloss_J`` of a joint, of a
            ball or free one with the axis of the speed, ``damping_J_rx``; ``stiffness_J``; ``kp_A``, ``kv_A`` of a
            servo, ``gain_A`` of another actuator A without muscles.
        actuators : bool
            False: in place of actuators each speed ``u_NAME`` has an input ``tau_NAME``.
        equality : {"exact", "ignore"}
            Equality constraints of joints, tendons, connect and weld as rows that hold exactly, where MuJoCo has stiff
            springs, or none; a warning names them.  Those with a mocap body are left out.
        friction : float, optional
            The speed over which the ``frictionloss`` of joints turns, rad/s or m/s; None: there is none.
        limits : {"ignore", "spring"}
            Whether springs and dampers act on joints and tendons beyond their limits: max(0, k d + b ḋ) at a depth d >
            0.  By ``solref`` (T, ζ) and the largest impedance D of ``solimp``, k = m/(D T² ζ²) and b = 2 m/(D T), where
            m is the inertia that resists in the pose ``qpos0``: the reference acceleration of MuJoCo.
        contacts : mapping of geom to mapping of str to float, or "collision", optional
            Geoms that touch the ground, as a `Contact` with the numbers that `from_urdf` takes but ``radius``: spheres,
            capsules by their ends, boxes by their corners, cylinders by 8 points of each rim.  The default of ``mu`` is
            the friction of the file.  ``"collision"`` in place of a geom, or of all: those others that the file lets
            touch the ground; a KanecoreWarning names meshes among them, which do not.  The ground is the first plane in
            the file that does not move, or z = 0.
        forcelist, states, outputs, feedback, functions : optional
            As for `from_urdf`: parts added to the robot, by its points, frames, coordinates, inputs.

        Returns
        -------
        Model

        Raises
        ------
        ModelError
            A part of the smooth dynamics that is not read, by name and with the way out; MuJoCo refuses the file.
            Without MuJoCo: a part of a file that this package does not compile, by line.
        TypeError
            Another source.

        Notes
        -----
        Read are joints of all four types with ``ref``, ``springref``, armature, stiffness and damping with their
        polynomials, several on a body; ``gravcomp``; fluid forces on boxes of inertia; fixed tendons and those through
        sites and pulleys, with springs, dampers, dead bands, fixed ones with armature; actuators on joints, tendons and
        sites with gears, gains, biases, muscles, filters, ranges, armature and damping; flags that switch these off.
        Not read, and refused: flex, plugins, wrapping geoms, slider-cranks, adhesion, delays, ``actearly``.

        Source: the documentation of MuJoCo 4.0, "Computation", mujoco.readthedocs.io.

        Examples
        --------
        ``dyn = kc.compile(kc.Model.from_mjcf("arm.xml"))``
        """
        with no_collection():
            options = MujocoOptions(parameters, actuators, equality, friction, limits, contacts)
            addition = Additions(forcelist, states, outputs, feedback, functions).add_to
            return cls.of_reading(described_mujoco(source, options, addition))

    def canonical(self) -> Model:
        """The model in Hamilton's variables q and p = ∂L/∂q̇: q̇ = ∂H/∂p, ṗ = −∂H/∂q + Q.

        Its speeds are the momenta, named ``p_theta`` for a coordinate ``theta``, and its mass matrix is 1.  It has q̇,
        ṗ, the energies with their power, the linearization, and those outputs that hold no ``u.diff()``; it has no
        bodies.  Goldstein, Poole & Safko, *Classical Mechanics*, 3rd ed. 2002, chapter 8.

        Returns
        -------
        Model

        Raises
        ------
        ModelError
            The coordinates are not independent, their derivatives do not give the speeds, a velocity was set that is
            no derivative of a position, a load holds ``u.diff()``, or p is not linear in q̇.
        """
        model = self._with(canonical_reading(self.reading))
        model.contradictions = []
        return model

    def routhian(self, *cyclic: Any) -> Model:
        """The model without cyclic coordinates φ, by Routh's reduction: d/dt ∂𝓡/∂q̇ − ∂𝓡/∂q = Q, 𝓡 = L − Σ p_φ φ̇.

        φ is cyclic where ∂L/∂φ = 0 at constant q̇ and no other force acts along it, so that p_φ = ∂L/∂φ̇ is constant.
        The reduced model has the other coordinates and their rates, ``theta_d`` of ``theta``, and is made of 𝓡: an
        equilibrium of it is a steady motion, and its U the effective potential energy.  The momenta are parameters,
        ``p_phi`` of ``phi``: ``dyn.generalized_momenta(t, x)`` of the whole model gives their values.  The rates φ̇ are
        outputs, ``phi_d``.  Goldstein, Poole & Safko, *Classical Mechanics*, 3rd ed. 2002, section 8.3, whose Routhian
        is −𝓡.

        Parameters
        ----------
        *cyclic : dynamicsymbol or str
            Coordinates; default: all that are cyclic.

        Returns
        -------
        Model
            With the energies, outputs that hold neither φ nor ``u.diff()``, and no bodies.

        Raises
        ------
        ModelError
            A coordinate is not cyclic, with the reason; none is, or all are; their momenta are not linear in their
            rates; or there is no L(q, q̇, t), as for `canonical`.
        KeyError
            There is no such coordinate.

        Examples
        --------
        ``spherical_pendulum.build().routhian()``
        """
        names = [each if isinstance(each, str) else function_name(each) for each in cyclic]
        model = self._with(routhian_reading(self.reading, names))
        model.contradictions = []
        return model

    # ------------------------------------------------------------------ facts
    @property
    def name(self) -> str:
        return self.description.name

    @property
    def description(self) -> Description:
        """The model on the expression graph, from which all is derived."""
        return self.reading.description

    @property
    def whole(self) -> tuple[Description, dict[Any, Any]]:
        """The description with its noncontributing forces, and the symbols of its parameters and inputs by key."""
        d = self.reading.whole or self.description
        nodes, names = (*d.parameters, *d.inputs), (*d.parameter_names, *d.input_names)
        return d, {d.graph.nodes[i][1]: self._symbols[name] for i, name in zip(nodes, names, strict=True)}

    @property
    def time(self) -> Any:
        """Symbol of t."""
        return vector_internals.time() if self.reading.time is None else self.reading.time

    @property
    def coordinates(self) -> tuple[Any, ...]:
        """Symbols of q."""
        return self._named(self.description.coordinate_names)

    @property
    def speeds(self) -> tuple[Any, ...]:
        """Symbols of u."""
        return self._named(self.description.speed_names)

    @property
    def states(self) -> tuple[Any, ...]:
        """Symbols of z, the first-order states."""
        return self._named(self.description.state_names)

    @property
    def parameters(self) -> tuple[Any, ...]:
        """Symbols of p."""
        return self._named(self.description.parameter_names)

    @property
    def values(self) -> Mapping[str, float]:
        """Values of parameters in the description, by name, such as those of a URDF file."""
        return MappingProxyType(self.reading.values)

    @property
    def keyframes(self) -> Mapping[str, Keyframe]:
        """States that a MuJoCo model names, each with its ``x`` and its inputs ``r``, and its pose ``"qpos0"``."""
        return MappingProxyType(self.reading.keyframes)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Symbols of r, rates of prescribed motions included."""
        return self._named(self.description.input_names)

    @property
    def functions(self) -> Mapping[Any, Spline | CFunction]:
        """The functions that are given by data or in C, by their symbols."""
        return MappingProxyType(self.reading.functions)

    @property
    def noncontributing(self) -> tuple[Any, ...]:
        """Symbols of the loads on which no generalized active force depends."""
        return self.reading.noncontributing

    @property
    def left_out(self) -> tuple[Any, ...]:
        """Symbols that occur only in parts without effect, such as the ground: they may be set by name."""
        return self.reading.left_out

    def _named(self, names: Sequence[str]) -> tuple[Any, ...]:
        return tuple(self._symbols[name] for name in names)

    @property
    def n_q(self) -> int:
        return len(self.description.coordinates)

    @property
    def n_u(self) -> int:
        return len(self.description.speeds)

    @property
    def n_x(self) -> int:
        return self.description.n_x

    @property
    def n_z(self) -> int:
        return len(self.description.states)

    @property
    def n_p(self) -> int:
        return len(self.description.parameters)

    @property
    def n_r(self) -> int:
        return len(self.description.inputs)

    @property
    def n_constraints(self) -> int:
        """Number of rows of the constraint Jacobian; derivatives that were given as well are not counted twice."""
        return len(self.derivation.constraints.rows) if self.description.constraints else 0

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - _HIDDEN)

    def __repr__(self) -> str:
        n_z = f"n_z={self.n_z}, " if self.n_z else ""
        return f"<Model {self.name!r}: n_q={self.n_q}, n_u={self.n_u}, {n_z}n_p={self.n_p}, n_r={self.n_r}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: sizes and names, and the equations of motion, folded."""
        from kanecore.show.notebook_pages import model_page

        return model_page(self, symbolic_expressions.shown_equations(self))

    def _repr_latex_(self) -> str | None:
        """The equations of motion where a notebook is printed; None if they are long, or names are no plain ones."""
        shown = [each._repr_latex_() for each in symbolic_expressions.shown_equations(self) or ()]
        return "\n".join(filter(None, shown)) or None

    # ------------------------------------------------------------- liberation
    def free(self, *constraints: str | int) -> Model:
        """The model with some constraints dropped, and their forces as inputs: the principle of liberation.

        A constraint ``wire`` becomes the input ``lambda_wire``, with

            F_r += λ ∂φ̇/∂u_r,   λ ∂c/∂u_r,   λ ∂c/∂u̇_r

        if it was one on coordinates, on speeds, on accelerations.  Where its row of G was attached (``attach``), the
        force is λ·vector on the child and its opposite on the parent, and reactions hold it.  With the λ of the kernel
        ``multipliers`` of this model, at a state that satisfies the constraint, the freed model moves as this one.

        Parameters
        ----------
        *constraints : str or int
            The name of each, or the number of its row of G.

        Returns
        -------
        Model
            Its state is ordered as before.  The last coordinates and speeds remain dependent, one for each independent
            constraint that is left, if these determine them; if not, none is named dependent, and the choice is made at
            every state.

        Raises
        ------
        ModelError
            There is no such constraint, another symbol has the name of the input, or an attachment does not act as its
            row.

        Warns
        -----
        KanecoreWarning
            A constraint follows from others that remain, such as its derivative, so that no motion is set free.

        Examples
        --------
        ``kc.Model(..., configuration_constraints={"wire": r - R}).free("wire").inputs``
        """
        reserved = {str(self.time), *map(function_name, self.reading.laws)}
        return self._with(freed_reading(self.reading, constraints, reserved))

    # ---------------------------------------------------------------- results
    @property
    def derivation(self) -> Derivation:
        """Derivation of a copy of the description: its results are expressions on the graph of the copy."""
        if self._derived is None:
            self._derived = Derivation(duplicate(self.description))
        return self._derived

    def symbolic(
        self,
        kernel: str,
        *,
        nested: bool = False,
        nonholonomic: bool = False,
        at: Mapping[Any, Any] | None = None,
        frame: Any = None,
        vectors: bool = False,
    ) -> Any:
        """The SymPy expressions of a kernel.

        Parameters
        ----------
        kernel : str
            ``"mass_matrix"``, ``"forcing"``, ``"generalized_active_forces"``, ... : a kernel of the compiled model,
            ``"partial_accelerations"`` or ``"partial_angular_accelerations"``.
        nested : bool
            Write intermediate variables out, in the shortest of several equal forms: sums of angles and common factors
            are found, sin² + cos² is 1, and so is the norm of a unit quaternion where that takes half the operations.
            Expressions of more than some hundred terms stay as they are computed; those of more than a million
            operations keep their intermediate variables, and a KanecoreWarning says so.
        nonholonomic : bool
            Put the dependent speeds in terms of the independent ones, as the compiled model does.
        at : mapping, optional
            Values or expressions of coordinates, speeds, inputs and parameters, by symbol or name, put in place of
            these once all derivatives are formed: ``at={q: 0, u: 0}`` of ``"linearize"`` gives A and B there.
        frame : ReferenceFrame or name, optional
            The frame in whose axes vectors of points and frames are written; default: the inertial one.
        vectors : bool
            Give a list of SymPy vectors, of partial velocities a list for each point or frame.  Without ``frame`` each
            is written in the axes, of its own frame or of one that this is oriented from, in which it is shortest.

        Returns
        -------
        (intermediates, expressions) or expressions
            ``intermediates`` is a list of (symbol, expression), after Autolev's Z list, in the order of reading; each
            is used twice at least, and in its short form.  It is left out where ``nested``.  Expressions are a Matrix,
            for partial velocities a list (points or frames) of 3 × n_u matrices, for orientations one of 3 × 3 matrices
            R, for positions, velocities and other vectors a 3 × n matrix, all in inertial axes unless ``frame`` says
            otherwise, and a single expression for energies.  u̇, the multipliers and ``"linearize"``, which is
            [A, B] = ∂ẋ/∂(x, r), are solved in closed form for three speeds at most, if that is not long.  Reactions,
            auxiliary forces and outputs of a model whose constraints are solved at run time are written with
            ``u.diff()`` and `kanecore.multiplier` (row).
        """
        return symbolic_expressions.symbolic(self, kernel, nested, nonholonomic, at, frame, vectors)

    @property
    def partial_accelerations(self) -> Any:
        """The partial accelerations ∂a/∂u̇_r of all points, u̇_r independent, inertial axes."""
        return self.symbolic("partial_accelerations")

    @property
    def partial_angular_accelerations(self) -> Any:
        """The partial angular accelerations ∂α/∂u̇_r of all frames, u̇_r independent, inertial axes."""
        return self.symbolic("partial_angular_accelerations")

    def speed_matrices(self) -> SpeedMatrices:
        """A, Ψ and Υ of redundant speeds as SymPy matrices: p# = Ψ q̇#, p° = Υ q̇#, Λ = A p = 0.

        q# and p# are the independent coordinates and speeds, p° the dependent speeds.  ``dyn.speed_matrices(t, x)`` of
        the compiled model gives their numbers, also for other choices.

        Raises
        ------
        ModelError
            Constraints on coordinates close loops, which are solved at run time; there are constraints on
            accelerations; or the independent coordinates are not as many as the independent speeds.

        Examples
        --------
        ``Model.from_transforms(links, speeds="bodies").speed_matrices().Upsilon``
        """
        return symbolic_expressions.speed_matrices(self)

    def base_parameters(
        self, parameters: Mapping[Any, float] | None = None, *, joints: JointColumns = ()
    ) -> BaseParameters:
        """Base parameters: the combinations of the inertial parameters of all bodies that can be identified.

        They follow from the rank and a QR factorization of the regressor over random states.  With constraints the
        states satisfy them, and the rows are projected on the motions that they allow (Khalil & Dombre, *Modeling,
        Identification and Control of Robots*, 2002, section 9.4).

        Parameters
        ----------
        parameters : mapping of names or symbols to numbers, optional
            Values of the parameters in the regressor, such as lengths; default: random ones, and coefficients are
            written in terms of them if they are products of two at most, or sums of two products.
        joints : names, or mapping of names to coordinates, optional
            ``"viscous"``, ``"dry"`` and ``"rotor"``: friction and rotors of joints, columns behind those of the bodies,
            as for ``dyn.identify``: which rotors can be told from the inertia of bodies.

        Returns
        -------
        BaseParameters
            ``names`` as text, ``matrix`` with base parameters ``matrix @ dyn.inertial_parameters(t, x).ravel()``, if
            ``joints`` are left out.

        Raises
        ------
        ModelError
            The model has no `regressor`, or no states were found on the constraints.
        KeyError, TypeError, ValueError
            A name is no parameter; a value is no finite number, or is missing.
        """
        return base_parameters(self.derivation, parameters, joints)

    def latex(self, kernel: str | None = None, *, nested: bool = False, nonholonomic: bool = False) -> str:
        r"""LaTeX of the result of :meth:`symbolic`: an ``aligned`` block, intermediates first.

        A notebook typesets it; ``print`` shows the text.  Partial velocities are vectors, each in the axes in which it
        is shortest; those of large models are matrices in inertial axes.

        Parameters
        ----------
        kernel : str, optional
            Default: the equations of motion, all of them: q̇ where it is not u, M u̇ = f + Gᵀλ, and G u̇ = −γ of
            constraints.
        nested, nonholonomic : bool
            As of :meth:`symbolic`.
        """
        if kernel is None:
            if nonholonomic:
                raise ValueError("nonholonomic=True asks for a kernel, such as latex('generalized_active_forces', ...)")
            return printed_equations.whole(self, nested)
        return symbolic_expressions.latex(self, kernel, nested, nonholonomic)

    def equations(self, form: str = "kane") -> list[Any]:
        """The equations of motion as SymPy equations, in their short forms.

        Parameters
        ----------
        form : {"kane", "mass_matrix"}
            ``"kane"``: F_r + F*_r + (Gᵀλ)_r = 0, one for each speed.  ``"mass_matrix"``: M u̇ = f + Gᵀλ, one equation
            of matrices.

        Returns
        -------
        list of Eq
            First q̇ = Y u + z, if some q̇ is no speed; then the equations of ``form``; last G u̇ + γ = 0 and ż = w.
            The symbols of λ are `kanecore.multiplier` (row).

        Raises
        ------
        ModelError
            The model has no bodies, and so no masses.

        Examples
        --------
        ``model.equations()[0]``
        """
        return printed_equations.equations(self, form)

    def explain(self, full: bool = False) -> str:
        """Explain which load gives which generalized active force, and which body which generalized inertia force.

        Loads, laws of feedback and outputs have the numbers that they have in :meth:`report`.

        Parameters
        ----------
        full : bool
            Write out every expression; else long ones are counted in operations.
        """
        return explanation.explain(self, full)

    def report(self) -> str:
        """Report on the model: its tree, the source of each velocity, the solver, operation counts."""
        return report.report(self)

    def draw(
        self,
        x: Any = None,
        parameters: Mapping[Any, float] | None = None,
        *,
        t: float = 0.0,
        r: Any = None,
        ax: Any = None,
        labels: bool = True,
        loads: bool = True,
        view: str | Sequence[Any] | None = None,
    ) -> Any:
        """A picture of the mechanism at a state; `CompiledModel.draw` gives the same, and compiles the model first.

        Parameters
        ----------
        x : array_like (n_x,) or mapping, optional
            The state [q, u], or some of it by name or symbol.  What is not named is the ``guess``, or zero; where there
            is no guess a quaternion turns nothing.
        parameters : mapping, optional
            Values by name or symbol.  Those not given are 1, so that a model is seen before its numbers are known.
        t : float
        r : array_like (n_r,) or mapping, optional
            Inputs; those not given are zero.
        ax, labels, loads, view : optional
            As for `CompiledModel.draw`.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        ModelError
            The model has no points, or something is not defined at the state, such as a division by zero.
        KeyError
            There is no such coordinate, speed, parameter or input; the message holds the nearest.
        ImportError
            matplotlib is not installed.
        ValueError
            As for `CompiledModel.draw`.
        """
        return model_picture.draw(self, x, parameters, t, r, ax=ax, labels=labels, loads=loads, view=view)
