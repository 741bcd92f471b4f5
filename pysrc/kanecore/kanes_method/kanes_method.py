# SPDX-License-Identifier: BSD-3-Clause
"""The replacement of SymPy's KanesMethod: the same equations in the same layout, derived on the graph.

SymPy's class builds on a few private members.  These are made here, each on first use; all other members are inherited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from sympy import Matrix, eye
from sympy.physics.mechanics import KanesMethod as SymPyKanesMethod
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody
from sympy.physics.mechanics.functions import _validate_coordinates
from sympy.physics.vector import Vector
from sympy.utilities.iterables import iterable

from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.describe.from_sympy import vector_internals
from kanecore.describe.from_sympy.arguments import Arguments, ListedArguments
from kanecore.graph.sympy_bridge import to_sympy
from kanecore.kanes_method.dependent_elimination import KanesForm
from kanecore.kanes_method.rate_equations import RateEquations, Rows, Solver
from kanecore.model import Model

__all__ = ["KanesMethod"]

_OF_BODIES = ("_described", "_form", "_fr", "_frstar", "_k_d", "_f_d", "_aux_eq")
"""Results of bodies and loads, deleted when others are given."""


class KanesMethod(SymPyKanesMethod):  # type: ignore[misc]
    """``sympy.physics.mechanics.KanesMethod``, with expressions that kanecore derives.

    All attributes of SymPy's class are here in SymPy's layout: constraints below M, dependent speeds last, auxiliary
    equations after the others.  So it replaces that class in ``System.form_eoms(eom_method=kc.KanesMethod)``,
    ``JointsMethod.form_eoms(kc.KanesMethod)`` and PyDy's generators.

    Parameters
    ----------
    frame, q_ind, u_ind, kd_eqs, q_dependent, configuration_constraints, u_dependent, velocity_constraints
        As in SymPy.
    acceleration_constraints, u_auxiliary, bodies, forcelist, explicit_kinematics
        As in SymPy.
    kd_eqs_solver, constraint_solver : str or callable
        As in SymPy.  With "LU", the default, the equations are solved on the graph, without pivots that may vanish.
    functions : dict of SymPy function to Spline or CFunction, optional
        As for `kanecore.Model`; results are written with the functions and their derivatives.

    Attributes
    ----------
    model : Model
        Model for `kanecore.compile`, with the latest bodies and loads.

    Raises
    ------
    TypeError, ValueError, AttributeError
        Arguments or calls that SymPy refuses, with the same class of error: M and f before ``kanes_equations``, for
        example.
    ModelError
        Bodies, points or loads cannot be read.

    Notes
    -----
    Expressions are equal to SymPy's in value, not in form.  Loads in u̇ add to M.  Auxiliary speeds are zero in M, f,
    F_r and F*_r.
    """

    def __init__(
        self,
        frame: Any,
        q_ind: Sequence[Any],
        u_ind: Sequence[Any],
        kd_eqs: Sequence[Any] | None = None,
        q_dependent: Sequence[Any] | None = None,
        configuration_constraints: Sequence[Any] | None = None,
        u_dependent: Sequence[Any] | None = None,
        velocity_constraints: Sequence[Any] | None = None,
        acceleration_constraints: Sequence[Any] | None = None,
        u_auxiliary: Sequence[Any] | None = None,
        bodies: Sequence[Any] | None = None,
        forcelist: Sequence[Any] | None = None,
        explicit_kinematics: bool = True,
        kd_eqs_solver: str | Solver = "LU",
        constraint_solver: str | Solver = "LU",
        *,
        functions: Mapping[Any, Any] | None = None,
    ) -> None:
        if not isinstance(frame, ReferenceFrame):
            raise TypeError("An inertial ReferenceFrame must be supplied")
        self._inertial, self.explicit_kinematics = frame, explicit_kinematics
        self._bodylist, self._forcelist = bodies, forcelist
        self._constraint_solver = constraint_solver
        self._initialize_vectors(q_ind, q_dependent, u_ind, u_dependent, u_auxiliary)
        _validate_coordinates(self.q, self.u)
        self._arguments = Arguments(
            frame=frame,
            q_ind=q_ind,
            u_ind=u_ind,
            kd_eqs=kd_eqs or None,
            q_dependent=q_dependent,
            configuration_constraints=configuration_constraints,
            u_dependent=u_dependent,
            velocity_constraints=velocity_constraints,
            acceleration_constraints=acceleration_constraints,
            u_auxiliary=u_auxiliary,
            functions=functions,
        )
        arguments = replace(self._arguments, kd_eqs=kd_eqs or []).as_lists()
        self._check_counts(arguments)
        self._f_h = Matrix(list(arguments.constraints["configuration"].values()))
        self._rates = RateEquations(arguments, _solver(kd_eqs_solver), _solver(constraint_solver))
        self._is_formed = False

    def _check_counts(self, arguments: ListedArguments) -> None:
        """Check SymPy's rules on numbers of equations and unknowns."""
        a, constraints = arguments, arguments.constraints
        for equations, unknowns, what in (
            (a.kd_eqs, self.q, "kinematic differential equations and coordinates"),
            (constraints["configuration"], a.q_dependent, "configuration constraints and dependent coordinates"),
            (constraints["velocity"], a.u_dependent, "velocity constraints and dependent speeds"),
            (constraints["acceleration"], a.u_dependent, "acceleration constraints and dependent speeds"),
        ):
            optional = equations is a.kd_eqs or equations is constraints["acceleration"]
            if len(equations) != len(unknowns) and (equations or not optional):
                raise ValueError(
                    f"There must be an equal number of {what}, and there are {len(equations)} and {len(unknowns)}."
                )

    # ---------------------------------------------------------------- kinematics
    def _kinematical(self, rows: Rows) -> Any:
        """A matrix of the kinematical equations without auxiliary speeds; empty without equations."""
        return self._rates.written(self._rates.without_auxiliary(rows)) if self._arguments.kd_eqs else Matrix()

    @cached_property
    def _k_kqdot_implicit(self) -> Any:
        return self._kinematical(self._rates.k_kqdot)

    @cached_property
    def _k_ku_implicit(self) -> Any:
        return self._kinematical(self._rates.k_ku)

    @cached_property
    def _f_k_implicit(self) -> Any:
        return self._kinematical([[x] for x in self._rates.f_k])

    @cached_property
    def _k_kqdot(self) -> Any:
        return eye(len(self.q)) if self._arguments.kd_eqs else Matrix()

    @cached_property
    def _k_ku(self) -> Any:
        return -self._kinematical(self._rates.rate_slopes)

    @cached_property
    def _f_k(self) -> Any:
        return -self._kinematical([[x] for x in self._rates.rate_remainders])

    @cached_property
    def _qdot_u_map(self) -> Any:
        if not self._arguments.kd_eqs:
            return None
        rates = self._rates.written([[x] for x in self._rates.rates])
        return dict(zip(self.q.diff(vector_internals.time()), rates, strict=True))

    # --------------------------------------------------------------- constraints
    @cached_property
    def _k_nh(self) -> Any:
        return self._rates.written([k for k, _ in self._rates.velocity])

    @cached_property
    def _f_nh(self) -> Any:
        return self._rates.written([[f] for _, f in self._rates.velocity])

    @cached_property
    def _k_dnh(self) -> Any:
        return self._rates.written([k for k, _ in self._rates.acceleration])

    @cached_property
    def _f_dnh(self) -> Any:
        return self._rates.written([[f] for _, f in self._rates.acceleration])

    @cached_property
    def _Ars(self) -> Any:
        return self._rates.written([row[: self._rates.n_independent] for row in self._rates.dependence])

    # ------------------------------------------------------------------ dynamics
    def kanes_equations(self, bodies: Any = None, loads: Any = None) -> tuple[Any, Any]:
        """Form Kane's equations F_r + F*_r = 0 of bodies and loads; default: the bodies and loads given before.

        Parameters
        ----------
        bodies : sequence of Particle or RigidBody, optional
        loads : sequence of (Point, force) or (ReferenceFrame, torque), optional

        Returns
        -------
        (F_r, F*_r) : Matrix
            Generalized forces of the independent speeds, then of the auxiliary ones.
        """
        bodies = self._bodylist if bodies is None else bodies
        bodies = list(bodies) if isinstance(bodies, Iterator) else bodies  # an iterator is empty at the second reading
        loads = self._forcelist if loads is None else loads
        loads = None if loads == [] else loads
        self._check_given(bodies, loads)
        described = self._as_written(list(bodies) or [_nothing(self._inertial)], loads)  # otherwise there is no change
        for name in _OF_BODIES:
            self.__dict__.pop(name, None)
        self._bodylist, self._forcelist, self._described, self._is_formed = bodies, loads, described, True
        return self._fr, self._frstar

    def _check_given(self, bodies: Any, loads: Any) -> None:
        """Raise the errors of SymPy's KanesMethod for arguments that it refuses."""
        if not self._arguments.kd_eqs:
            raise AttributeError(
                "Create an instance of KanesMethod with kinematic differential equations to use this method."
            )
        if loads is not None and not (iterable(loads) and len(loads)):
            raise ValueError("Force pairs must be supplied in an non-empty iterable or None.")
        if not iterable(bodies):
            raise TypeError("Bodies must be supplied in an iterable.")
        if not all(isinstance(body, (Particle, RigidBody)) for body in bodies):
            raise TypeError("The body list may only contain either RigidBody or Particle as list elements.")

    @property
    def model(self) -> Model:
        """The model of the known bodies and loads.

        Unknown forces of auxiliary speeds that affect the motion, as N in friction μN, are found with u̇: they are the
        model's ``reactions``.
        """
        if not self._bodylist:
            return Model.of_arguments(replace(self._arguments, forcelist=self._forcelist))
        model, reactions = self._described
        if not reactions:
            return model
        bodies = list(self._bodylist)
        return Model.of_arguments(
            replace(self._arguments, bodies=bodies, forcelist=self._forcelist, reactions=reactions)
        )

    def _as_written(self, bodies: Sequence[Any], loads: Any) -> tuple[Model, tuple[Any, ...]]:
        """Model in which all unknown forces stay symbols, as in SymPy's F_r, and the forces that affect its motion."""
        return Model.as_written(replace(self._arguments, bodies=bodies, forcelist=loads))

    @cached_property
    def _described(self) -> tuple[Model, tuple[Any, ...]]:
        return self._as_written(list(self._bodylist or ()), self._forcelist)

    @cached_property
    def _form(self) -> KanesForm:
        derivation = Derivation(duplicate(self._described[0].whole[0]))
        rates = self._rates
        return KanesForm(derivation, [derivation.graph.copy(rates.graph, row, {}) for row in rates.dependence])

    def _dynamic(self, rows: Rows) -> Any:
        """A matrix from bodies and loads."""
        graph, names = self._form.derivation.graph, self._rates.names | self._described[0].whole[1]
        _, flat = to_sympy(graph, [x for row in rows for x in row], names, nested=True)
        return Matrix(len(rows), len(rows[0]), flat)

    @cached_property
    def _fr(self) -> Any:
        if not self._is_formed:
            return None
        return self._dynamic([[x] for x in (*self._form.active, *self._form.auxiliary_active)])

    @cached_property
    def _frstar(self) -> Any:
        if not self._is_formed:
            return None
        return self._dynamic([[x] for x in (*self._form.inertia, *self._form.auxiliary_inertia)])

    @cached_property
    def _aux_eq(self) -> Any:
        forms = self._form.auxiliary_active, self._form.auxiliary_inertia
        return self._dynamic([[a] for a in forms[0]]) + self._dynamic([[b] for b in forms[1]])

    @cached_property
    def _k_d(self) -> Any:
        return self._dynamic(self._form.mass_matrix)

    @cached_property
    def _f_d(self) -> Any:
        return -self._dynamic([[x] for x in self._form.forcing])

    def _check_formed(self) -> None:
        if not self._is_formed:
            raise ValueError("Need to compute Fr, Fr* first.")

    @property
    def mass_matrix(self) -> Any:
        """M of M u̇ = f, with rows of the independent speeds, then of the constraints."""
        self._check_formed()
        return Matrix([self._k_d, self._k_dnh])

    @property
    def forcing(self) -> Any:
        """The right-hand side f of M u̇ = f."""
        self._check_formed()
        return -Matrix([self._f_d, self._f_dnh])

    # ------------------------------------------------------------------- vectors
    def partial_velocity(self, vectors: Iterable[Any], speeds: Sequence[Any] | None = None) -> list[list[Any]]:
        """Coefficients of the speeds in velocities or angular velocities, each in the axes in which it was written.

        Parameters
        ----------
        vectors : sequence of Vector
            Linear in u; derivatives of coordinates are replaced by the kinematical equations.
        speeds : sequence of dynamicsymbols, optional
            Default: all of u.

        Returns
        -------
        list of list of Vector
            For each vector a list of partial velocities by speed, as in SymPy's ``partial_velocity``.

        Raises
        ------
        TypeError
            An item is no Vector.
        ValueError
            A vector is not linear in the speeds.
        """
        speeds = list(self.u) if speeds is None else list(speeds)
        return [self._partials(vector, speeds) for vector in vectors]

    def _partials(self, vector: Any, speeds: Sequence[Any]) -> list[Any]:
        if not isinstance(vector, Vector):
            raise TypeError(f"partial_velocity takes vectors, not {vector!r}: a velocity is point.vel(frame)")
        by_speed = [Vector(0) for _ in speeds]
        for column, frame in vector_internals.terms(vector):
            for r, slope in enumerate(self._rates.partial(column, speeds)):
                by_speed[r] += Vector([(slope, frame)])
        return by_speed


def _nothing(frame: Any) -> Any:
    """A particle without mass, at rest."""
    point = Point("nothing")
    point.set_vel(frame, 0)
    return Particle("nothing", point, 0)


def _solver(chosen: str | Solver) -> Solver | None:
    """The solver chosen by the user; None for the graph."""
    if chosen == "LU":
        return None
    return chosen if callable(chosen) else partial(Matrix.solve, method=chosen)
