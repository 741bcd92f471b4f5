# SPDX-License-Identifier: BSD-3-Clause
"""Compiled models as users meet them: all parts that need not be fast, around `kanecore._native.Model`.

The parameters and inputs are mappings that read and set those of the model.  Models in single precision,
``kanecore.compile(model, real="float")``, have kernels alone: searches, counts of rows and ranks have tolerances for
doubles, and raise ModelError.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from inspect import cleandoc
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from kanecore._native import Model
from kanecore.audit.audit import audit
from kanecore.audit.conserved_quantities import conserved
from kanecore.binding.given_values import broadcast_shapes
from kanecore.binding.kernel_methods import Kernels
from kanecore.constraints.allowed_motions import nonholonomic
from kanecore.constraints.consistent_states import consistent
from kanecore.constraints.constraint_check import check
from kanecore.constraints.constraint_state import ConstraintState, count_near
from kanecore.constraints.constraint_values import Constraints
from kanecore.constraints.load_solutions import fault_of
from kanecore.constraints.redundant_speeds import projected_efforts, speed_matrices
from kanecore.control.derivative_products import (
    jvp,
    rhs_hessian,
    rhs_jvp,
    rhs_vjp,
    vjp,
)
from kanecore.control.equilibrium import equilibrium
from kanecore.control.identification import identify
from kanecore.control.inverse_dynamics import solve_inverse
from kanecore.control.linear_system import linear_system, state_error
from kanecore.control.linearization import linearize as differentiate
from kanecore.control.operational_space import mass_matrix_inverse, momentum_matrix, operational_inertia
from kanecore.errors import CompileError, ModelError, warn
from kanecore.export.jax_function import jax
from kanecore.export.scipy_and_numba import lowlevel_callable, numba
from kanecore.functions.c_functions import CFunction
from kanecore.kernels import GROUPS, KERNEL_GROUPS
from kanecore.motion.derivatives.discretization import discretize
from kanecore.motion.derivatives.rollout_gradients import rollout_vjp
from kanecore.motion.impact import impact
from kanecore.motion.periodic_motion import periodic
from kanecore.motion.rollout import rollout, step
from kanecore.motion.simulation import simulate as integrate
from kanecore.program.bytecode_format import Code
from kanecore.run.kernel_facts import nonzeros
from kanecore.run.load_forces_and_powers import (
    constraint_forces,
    load_powers,
    split_forces,
)
from kanecore.run.momentum import angular_momentum, linear_momentum
from kanecore.run.point_kinematics import (
    acceleration,
    angular_acceleration,
    angular_velocity,
    jacobian,
    orientation,
    position,
    specific_force,
    velocity,
)
from kanecore.run.public_names import OF_EXTENSION, table_text
from kanecore.show.state_pictures import draw

if TYPE_CHECKING:
    from kanecore._native import _Values
    from kanecore.describe.description import Description
    from kanecore.live.live_page import LivePage
    from kanecore.model import Model as DescribedModel

__all__ = ["CompiledModel", "LiveValues", "SingleModel", "class_of"]


class LiveValues(MutableMapping[Any, float]):
    """Current values by name or symbol, of the model itself: reading follows it, setting changes it.

    A value that was never given reads as NaN.  ``update`` sets several values at once, all of them or, where
    a name or value is wrong, none; the model prepares its constants once for it.  Calls that run meanwhile in
    other threads go on with the values they began with.

    Raises
    ------
    KeyError
        A name that the model does not have; the message holds the nearest ones.
    TypeError
        A value that is no real number; numbers of SymPy and others with ``__float__`` are accepted.
    ValueError
        A value that is not finite, or an array.
    """

    def __init__(self, model: Model, what: Literal["parameter", "input"]) -> None:
        self._model = model
        self._what: Literal["parameter", "input"] = what

    @property
    def _names(self) -> tuple[str, ...]:
        return self._model.parameter_names if self._what == "parameter" else self._model.input_names

    def __getitem__(self, key: Any) -> float:
        return self._model._value(self._what, key)

    def __setitem__(self, key: Any, value: float) -> None:
        self._model._set(self._what, {key: value})

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError(f"the {self._what}s of a model can be set, not removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def update(self, *args: Any, **values: float) -> None:
        """Set several values at once, with the arguments of ``dict.update``."""
        self._model._set(self._what, dict(*args, **values))

    def _assign(self, values: Mapping[Any, float]) -> None:
        """Assign a mapping, as in ``dyn.parameters = values``: `update`, with a check of its type."""
        if not isinstance(values, Mapping):
            name = self._names[0] if self._names else "name"
            raise TypeError(f"dyn.{self._what}s takes a mapping, such as {{{name!r}: 1.0}}, not {values!r}")
        self.update(values)

    def __repr__(self) -> str:
        return repr(dict(zip(self._names, self._model._values(self._what).tolist(), strict=True)))


Array = npt.NDArray[np.float64]

_SIZES = (
    *("q", "u", "x", "p", "r", "points", "frames", "bodies", "joints", "loads", "potentials", "outputs", "constraints"),
    *("configuration", "velocity", "q_dependent", "u_dependent", "z", "auxiliary", "reactions", "shares"),
    *("prepared", "work"),
)

_models: WeakSet[CompiledModel] = WeakSet()  # of this process, for those that it forks


def _unlock() -> None:
    """Renew the locks in a forked child: a thread that was building a group stayed with the parent."""
    for model in _models:
        model._building = RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_unlock)


class CompiledModel(Kernels):
    """Kernels of one model in machine code, with its current parameters and inputs.

    Made by `kanecore.compile` and `kanecore.load`.

    Parameters
    ----------
    libraries : dict
        Path of the shared library of each group that is compiled; "core", or "all" for one that holds every kernel.
        For a model without a compiler, the bytecode of each group, for the interpreter in the extension.
    source : dict
        C text of each group that is known.
    builder : callable, optional
        ``builder(group)`` compiles one more group and returns its library, as in `libraries`, and its C text, if any.
    lane_builder : callable, optional
        ``lane_builder(group)`` returns the path of a library with the group's kernels for several states at once, after
        compiling it, or None if there is none.
    info : dict, optional
        Facts in addition to those in the libraries: build times, compiler, flags.
    origin : tuple, optional
        ``(function, arguments)`` that make this model again; for pickling.
    functions : dict of name to CFunction, optional
        The functions in C that the libraries call, in the order in which they know them.
    describe : callable, optional
        ``describe()`` returns the description that the libraries were derived from, for `export_c` and its like.
    described_by : callable, optional
        ``described_by()`` returns the `Model` that it was compiled from.

    Notes
    -----
    Any number of threads may call one model.  It pickles with its current parameters and inputs, by its origin: its
    description and the groups that it has by then, say, with a digest of all that.  Unpickling compiles and runs C:
    unpickle only what you trust.
    """

    def __init__(
        self,
        libraries: Mapping[str, str | Code],
        *,
        source: Mapping[str, str],
        builder: Callable[[str], tuple[str | Code, str | None]] | None = None,
        lane_builder: Callable[[str], str | None] | None = None,
        info: Mapping[str, Any] | None = None,
        origin: tuple[Callable[..., CompiledModel], tuple[Any, ...]] | None = None,
        functions: Mapping[str, CFunction] = MappingProxyType({}),
        describe: Callable[[], Description] | None = None,
        described_by: Callable[[], DescribedModel] | None = None,
    ) -> None:
        first = "all" if "all" in libraries else "core"
        super().__init__(libraries[first], {name: f.addresses for name, f in functions.items()})
        self._functions = dict(functions)  # which live as long as this
        self._codes = {group: library for group, library in libraries.items() if isinstance(library, Code)}
        self._source = dict(source)
        self._builder, self._lane_builder = builder, lane_builder
        self._info = merged(self._table_info, info or {})
        self._origin, self._describe, self._described_by = origin, describe, described_by
        self._built = set(GROUPS) if first == "all" else {first}
        self._built_lanes: set[str] = set()
        self._building = RLock()
        self._casadi_functions: dict[Any, Any] = {}  # by name and variables
        _models.add(self)
        self._parameters = LiveValues(self, "parameter")
        self._inputs = LiveValues(self, "input")
        for group, library in libraries.items():
            if group != first:
                self._add(group, library)

    def __repr__(self) -> str:
        sizes = [
            (self.n_q, "coordinates"),
            (self.n_u, "speeds"),
            *([(self.n_z, "states")] if self.n_z else []),
            (self.n_p, "parameters"),
            (self.n_r, "inputs"),
        ]
        machine = "; on the machine, without a compiler" if self._codes else ""
        return f"<CompiledModel {self.name!r}: {', '.join(f'{n} {what}' for n, what in sizes)}{machine}>"

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - OF_EXTENSION)

    def _repr_html_(self) -> str:
        """HTML for notebooks: sizes and names, and the current values, folded."""
        from kanecore.show.notebook_pages import compiled_page

        return compiled_page(self)

    # Parameters and inputs ------------------------------------------------------------------------------

    @property
    def parameters(self) -> LiveValues:
        """The parameters by name or symbol; setting one changes all later calls."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: Mapping[Any, float]) -> None:
        self._parameters._assign(values)

    @property
    def inputs(self) -> LiveValues:
        """The inputs by name or symbol; they start at zero, prescribed motions must be given."""
        return self._inputs

    @inputs.setter
    def inputs(self, values: Mapping[Any, float]) -> None:
        self._inputs._assign(values)

    @property
    def _baked(self) -> Collection[str]:
        return tuple(self._info.get("baked", ()))

    @property
    def model(self) -> DescribedModel:
        """The `Model` that it was compiled from, for its expressions, its report, and models made of it.

        One that was unpickled gets a model with the same names, made of its description.  It needs SymPy.

        Raises
        ------
        ModelError
            It comes from a wheel, without its description.
        """
        if self._described_by is None:
            if self._describe is None:
                raise ModelError(
                    f"{self.name!r} comes from a wheel, without its description: ask where it was compiled"
                )
            from kanecore.export.exported_library import model_of

            made = model_of(self)
            self._described_by = lambda: made
        return self._described_by()

    # States by name -------------------------------------------------------------------------------------

    def state(self, values: Mapping[Any, npt.ArrayLike] | None = None, /, **named: npt.ArrayLike) -> Array:
        """State with given values of some coordinates, speeds and states, by name or symbol; all others are zero.

        Parameters
        ----------
        values : mapping, optional
            From names or symbols to numbers, or to arrays that broadcast.  A derivative such as ``theta.diff()`` is the
            speed that it equals by the kinematical equations, if it is one.
        **named
            The same by keyword.

        Returns
        -------
        ndarray, (..., n_x)
            What is not named is zero.  A unit quaternion of which nothing is named turns nothing, (1, 0, 0, 0) in the
            order of ``info["unit"]``: four zeros would be no orientation.  Where one of its members is named all others
            are zero.

        Raises
        ------
        KeyError
            A name that the model does not have; the message holds the nearest ones.
        ValueError, TypeError
            A name is given twice; values that do not broadcast, are not finite, or are no real numbers.

        Examples
        --------
        ``dyn.state(theta=0.1, u1=2.0)``, ``dyn.state({theta: np.linspace(0, 1, 50)})``
        """
        if not (values is None or hasattr(values, "keys")):
            raise TypeError(f"state takes a mapping by name, and names: got {values!r}")
        given = [] if values is None else [(key, values[key]) for key in values]
        return self._state_of([*given, *named.items()])

    # Groups of kernels ----------------------------------------------------------------------------------

    @property
    def source(self) -> dict[str, str]:
        """C text of each compiled group; a model without a compiler (``cc="none"``) has none."""
        return dict(self._source)

    @property
    def info(self) -> dict[str, Any]:
        """Groups compiled so far with their operation counts, sizes, build times, compiler, flags.

        For a model without a compiler, ``machine`` is True.  ``unit`` holds the places in x of each unit quaternion,
        four numbers, cosine first; ``input_rates`` of each input the number of its derivative among them, or -1;
        ``qdot_is_u`` tells whether q̇ = u, element by element; ``configuration_names`` are those of the rows of
        `configuration_residual`.
        """
        sizes = {name: getattr(self, name) for name in ("n_q", "n_u", "n_p", "n_r", "n_prepared", "n_work")}
        groups = [group for group in self._groups if group in self._built]
        facts = {name: getattr(self, name) for name in ("unit", "input_rates", "qdot_is_u", "configuration_names")}
        return {**self._info, **facts, "name": self.name, "kernels": groups, "sizes": sizes}

    @property
    def sizes(self) -> Mapping[str, int]:
        """Lengths: "q", "u", "z", "x", "p", "r", "points", "frames", "bodies", "joints", "loads", "outputs" and others.

        "constraints" are the rows of G; "configuration" and "velocity" the constraints on coordinates and on speeds,
        "q_dependent" and "u_dependent" what depends on others, "auxiliary" the auxiliary speeds; "prepared" and "work"
        the numbers that C kernels take as constants and as scratch; "reactions" what loads depend on, and "shares" the
        parts of loads that do.
        """
        return MappingProxyType({name: getattr(self, f"n_{name}") for name in _SIZES})

    @property
    def _groups(self) -> tuple[str, ...]:
        """The groups in which this model has kernels."""
        free = not (self.n_constraints or self.n_configuration)
        absent = {"constraints": free, "project_gradient": free, "auxiliary": not self.n_auxiliary}
        absent["output_tangent"] = not self.n_outputs
        return tuple(group for group in GROUPS if not absent.get(group, False))

    def build(self, *groups: str) -> None:
        """Compile groups of kernels now instead of at the first call.

        Parameters
        ----------
        *groups : str
            "core", "forces", "energies", "reactions", "constraints", "linearize", "auxiliary", "bodies",
            "hamilton", "derivatives", "forward", "tangent", "gradient", "parameter_tangent", "parameter_gradient",
            "inverse", "hessian", "output_tangent", "output_gradient", "project_gradient"; default, and "all":
            every one in which the model has kernels.

        Raises
        ------
        KeyError
            There is no such group.
        CompileError
            The compiler is missing or refused.
        """
        wanted = tuple(GROUPS) if not groups or "all" in groups else groups
        for group in wanted:
            if group not in GROUPS:
                raise KeyError(f"no group {group!r}; there are {', '.join(GROUPS)}, all")
        with self._building:
            for group in wanted:
                if group in self._groups and group not in self._built and self._builder is not None:
                    library, text = self._builder(group)
                    self._add(group, library)
                    if text is not None:
                        self._source[group] = text

    def _find(self, kernel: str) -> None:
        """Compile the group of a kernel that no open library holds."""
        self.build(KERNEL_GROUPS[kernel])

    def _find_lanes(self, kernel: str) -> None:
        """Open the group of a kernel for several states at once, if a compiler makes it or made it before."""
        with self._building:
            group = KERNEL_GROUPS[kernel]
            if self._lane_builder is None or group in self._built_lanes:
                return
            self._built_lanes.add(group)
            try:
                path = self._lane_builder(group)
            except (CompileError, ImportError) as error:  # results are the same without
                warn(f"batches of {self.name!r} are evaluated one state after the other: {error}")
            else:
                if path is not None:
                    self._open(path)

    def _another(
        self,
        libraries: Mapping[str, str | Code],
        builder: Callable[[str], tuple[str | Code, str | None]] | None = None,
    ) -> CompiledModel:
        """Copy of the model in doubles from other libraries, without values of its parameters."""
        return CompiledModel(libraries, source={}, builder=builder, info={"build": {}, "machine": True})

    def _why_not(self, kernel: str) -> str | None:
        """Missing part of the description that a kernel needs, as the library of its group says."""
        if kernel not in self._info.get("missing", {}) and not self._has(kernel):
            self._find(kernel)
        missing: Mapping[str, str] = self._info.get("missing", {})
        return missing.get(kernel)

    def _contents(self, groups: Sequence[str]) -> list[str | Code] | None:
        """C texts, or code, that define all results of some groups; None if addresses do, or it is not known."""
        known: dict[str, str | Code] = {**self._source, **self._codes}
        # a library that holds several groups has the text of the first of them
        found = [known.get(group) or known.get("all") or known.get("core") for group in groups]
        texts = [text for text in found if text is not None]
        return texts if len(texts) == len(groups) and not self._functions else None

    def _add(self, group: str, library: str | Code) -> None:
        self._info = merged(self._info, self._open(library))
        if isinstance(library, Code):
            self._codes[group] = library
        self._built.add(group)

    # Constraints ----------------------------------------------------------------------------------------

    consistent = consistent
    check = check
    constraint_forces = constraint_forces
    conserved = conserved
    speed_matrices = speed_matrices
    projected_efforts = projected_efforts
    solve_inverse = solve_inverse
    impact = impact
    periodic = periodic
    audit = audit

    def _count_near(self, t: float, x: Array, r: Any, p: Any) -> int:
        return count_near(ConstraintState(self, t, x, r, p))

    def _opposed(self, t: float, x: Array, r: Any, p: Any, row: int) -> tuple[str, ...]:
        return ConstraintState(self, t, x, r, p).contradictory_rows(row)

    def _load_fault(self, t: float, x: Array, r: Any, p: Any, unended: bool) -> str:
        return fault_of(self, t, x, r, p, unended)

    def _nonholonomic(
        self,
        kind: str,
        t: npt.ArrayLike,
        x: Any,
        udot: Any,
        remainder: bool,
        out: Any,
        values: dict[str, Any],
    ) -> Array:
        return nonholonomic(Constraints(self, t, x, **values), kind, udot, remainder, out)

    # Points and frames by name --------------------------------------------------------------------------

    position = position
    velocity = velocity
    acceleration = acceleration
    specific_force = specific_force
    orientation = orientation
    angular_velocity = angular_velocity
    angular_acceleration = angular_acceleration
    jacobian = jacobian

    # Bodies and loads -----------------------------------------------------------------------------------

    linear_momentum = linear_momentum
    angular_momentum = angular_momentum
    load_powers = load_powers

    def _split(
        self,
        kernel: str,
        by: str,
        t: npt.ArrayLike,
        x: Any,
        udot: Any,
        nonholonomic: bool,
        out: Any,
        values: dict[str, Any],
    ) -> Any:
        if nonholonomic or out is not None:
            raise TypeError(
                f"{kernel}: by={by!r} returns new arrays, of all speeds: it takes no nonholonomic= nor out="
            )
        return split_forces(self, kernel, by, t, x, udot, values)

    # Pictures -------------------------------------------------------------------------------------------

    draw = draw

    def play(
        self,
        x0: _Values | None = None,
        *,
        t0: float = 0.0,
        sliders: Any = None,
        inputs: Any = None,
        units: Mapping[Any, Any] | None = None,
        speed: float = 1.0,
        trace: Any = (),
        follow: Any = None,
        view: str | Sequence[Any] | None = None,
        plots: Any = None,
        method: str = "dop853",
        rtol: float = 1e-8,
        feedback: Any = None,
        keys: Mapping[str, tuple[Any, float]] | None = None,
        pull: float | None = None,
        events: Any = None,
    ) -> LivePage:
        """A page in which the model itself runs: one HTML file that needs no network and no other file.

        It integrates the equations of motion in the browser, by the code of `simulate` in WebAssembly, and draws them.
        Its reader plays, steps and resets the motion, moves parameters and inputs, drags bodies with the mouse, and
        sees plots, energies, and how exact all is.  Parameters are the current ones.  The equations of the model are in
        the page: who has it can read them.

        Parameters
        ----------
        x0 : array_like (n_x,), or mapping by name, optional
            The state at the start, on the constraints as for `simulate`.  Default: a model of the gallery starts as its
            page shows it, at a suitable speed, and robots are held where they start; others start at rest,
            ``dyn.consistent(t0, dyn.state())``.
        t0 : float
            Time at the start, s.
        sliders : names, or mapping of names to (low, high), optional
            Parameters and inputs that get a slider; None in place of a range: from 0.2 to 3 times the value.  Default:
            all but inertias that would become ones that no solid body has.
        inputs : optional
            Numbers and `kanecore.Signal`, as for `simulate`: what is a number gets a slider, prescribed motions with
            consistent rates.  A signal ends where its table does, and is held from there on.
        units : mapping, optional
            Units by name or symbol, as for `export_fmu`; they are shown.
        speed : float
            Seconds of the motion in one second.
        trace : str or SymPy's object, or a sequence of these
            Points, bodies or joints whose way is drawn.
        follow : str or SymPy's object, optional
            A point, body or joint that stays in the middle.
        view : optional
            As for `draw`.
        plots : sequence, optional
            The plots at first: "coordinates", "speeds", "outputs", "inputs", "energies", "power", "residuals", "phase",
            or lists of names.  Default: coordinates and energies.
        method : {"dop853", "dopri5", "rk4", "euler", "auto", "rosenbrock"}
            As for `simulate`.  Fixed steps are of 1 ms at speed 1; the last two are for stiff models.
        rtol : float
            Relative and absolute tolerance.
        feedback : array_like, or (array_like, state), optional
            K of r = inputs − K (x − x̄), about x0 or about another state: with a column for each state of
            `linear_system`, or for each coordinate and speed.  Laws of the model itself run as they are.
        keys : mapping of str to (input, number), optional
            What a key adds to an input while it is down: ``{"ArrowLeft": ("F", -5.0)}``.  Default: arrows for the
            first two inputs.
        pull : float, optional
            Frequency with which a body swings on the mouse, Hz of the page; 0: none can be pulled.  Default 1.5.
        events : Event, or a list of these, optional
            As for `simulate`, of expressions: zeros that end the motion, or at which ``reset={speed: expression}``
            changes the state, as an impact does.

        Returns
        -------
        LivePage
            With ``save(path)`` and ``html()``; a notebook shows it.

        Raises
        ------
        ModelError
            Something does not run in a page: a function in Python or in C, a model whose description is not known.
        ValueError, KeyError, TypeError
            x0 is off the constraints; a parameter without value; unknown names, ranges, methods, plots, keys; K of
            another shape.

        Examples
        --------
        ``dyn.play().save("arm.html")``; ``dyn.play(x0, feedback=K, sliders={"m": (0.5, 2.0)}, trace="tip")``
        """
        from kanecore.live.live_page import play

        return play(
            self,
            x0,
            t0=t0,
            sliders=sliders,
            inputs=inputs,
            units=units,
            speed=speed,
            trace=trace,
            follow=follow,
            view=view,
            plots=plots,
            method=method,
            rtol=rtol,
            feedback=feedback,
            keys=keys,
            pull=pull,
            events=events,
        )

    # Integration ----------------------------------------------------------------------------------------

    simulate = integrate
    rollout = rollout
    rollout_vjp = rollout_vjp
    step = step
    discretize = discretize

    # Control --------------------------------------------------------------------------------------------

    linearize = differentiate
    linear_system = linear_system
    equilibrium = equilibrium
    state_error = state_error
    jvp = jvp
    vjp = vjp
    rhs_jvp = rhs_jvp
    rhs_vjp = rhs_vjp
    rhs_hessian = rhs_hessian

    # Identification -------------------------------------------------------------------------------------

    identify = identify

    def sparsity(self, kernel: str) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Places of entries that can be nonzero at some state, as pairs of numbers.

        Parameters
        ----------
        kernel : str
            "mass_matrix", "constraint_jacobian", "configuration_jacobian", "coriolis_matrix", "output_jacobian",
            "rhs_time_derivative", "rhs_parameter_jacobian", or "linearize": [A B], of which "rhs" is another name.

        Returns
        -------
        rows, columns : ndarray of int
            Row by row, for ``scipy.sparse.coo_array((values[rows, columns], (rows, columns)))``.  What is solved at run
            time is taken for full in the speeds that the mass matrix or constraints connect.

        Raises
        ------
        KeyError
            There is no pattern of such a kernel.
        ModelError
            The model has no such kernel.
        """
        self.build("derivatives")
        return nonzeros(self, kernel, self._info.get("sparsity", {}))

    # Robotics -------------------------------------------------------------------------------------------

    def _forward_dynamics_of(self, q: _Values, u: _Values, tau: _Values) -> Array:
        """Result of `aba` for arrays with any leading axes."""
        return self._forward_dynamics(0.0, self._state("aba", q, u), self._rows("speed", tau, "tau"))

    def rnea(self, q: _Values, u: _Values, udot: _Values) -> Array:
        """Inverse dynamics M udot - f, at t = 0 and the current inputs, (..., n_u): `inverse_dynamics`.

        All the generalized forces beyond those modelled. With constraints Gᵀλ is part of them: for ``udot = aba(q, u,
        tau)`` this is tau + Gᵀλ. ModelError unless qdot is u.
        """
        return self.inverse_dynamics(0.0, self._state("rnea", q, u), udot)

    def crba(self, q: _Values) -> Array:
        """The mass matrix, at t = 0 and the current inputs, (..., n_u, n_u): `mass_matrix`.

        That of all speeds, also dependent ones: constraints are not applied. ModelError unless qdot is u.
        """
        return self.mass_matrix(0.0, self._state("crba", q, np.zeros(self.n_u)))

    def _state(self, method: str, q: _Values, u: _Values) -> Array:
        if not self.qdot_is_u:
            raise ModelError(
                f"{method} is for models with qdot = u, and the kinematical equations of {self.name!r} say "
                "otherwise: use udot, inverse_dynamics and mass_matrix, which take any"
            )
        coordinates, speeds = self._rows("coordinate", q, "q"), self._rows("speed", u, "u")
        leading = broadcast_shapes(coordinates.shape[:-1], speeds.shape[:-1])
        x = np.zeros((*leading, self.n_x))
        x[..., : self.n_q], x[..., self._speeds] = coordinates, speeds
        return x

    mass_matrix_inverse = mass_matrix_inverse
    operational_inertia = operational_inertia
    momentum_matrix = momentum_matrix

    # Other packages -------------------------------------------------------------------------------------

    def as_pydy(self) -> Callable[..., Array]:
        """The right-hand side with PyDy's arguments, for code written for its ``ODEFunctionGenerator``.

        Returns
        -------
        callable
            ``f(x, t, r, p)`` -> xdot (n_x,), or ``f(x, t, p)`` for a model without inputs, as
            ``scipy.integrate.odeint`` takes it.  x (n_x,) is the state [q, u]; r (n_r,) the inputs, as an array, a
            mapping or a function ``r(x, t)``; p (n_p,) the parameters, as an array in the order of
            `parameter_names` or a mapping.  A mapping overrides some of the current values, None takes them all.

        Raises
        ------
        SingularError, NonFiniteError, ValueError, TypeError, KeyError
            From the callable: the errors of `rhs`.

        Examples
        --------
        ``odeint(dyn.as_pydy(), x0, times, args=(lambda x, t: [np.sin(t)], {"m": 2.0}))``
        """

        def with_inputs(x: npt.ArrayLike, t: float, r: Any, p: Any) -> Array:
            return self.rhs(t, x, r=r(x, t) if callable(r) else r, p=p)

        def without_inputs(x: npt.ArrayLike, t: float, p: Any) -> Array:
            return self.rhs(t, x, p=p)

        return with_inputs if self.n_r else without_inputs

    def export_c(
        self,
        folder: str | os.PathLike[str],
        *,
        kernels: str | Iterable[str] | None = None,
        real: str = "double",
        prefix: str | None = None,
        integrators: bool = False,
    ) -> None:
        """Write the model as C99 that depends on nothing: one file, one header, and what tests and builds them.

        The current parameters and inputs become the defaults.  No function allocates memory or keeps anything, every
        loop is bounded, and no library but libm is needed.  Beside the kernels there are ``PREFIX_step``, one step of
        the classical Runge-Kutta method with inputs held, and ``PREFIX_step_jacobian`` with its derivatives, exact for
        the step that is taken; ``PREFIX_acados.c`` offers both as a discrete model of acados.

        Parameters
        ----------
        folder : path
            One that is empty, or not there yet: it gets PREFIX.c, PREFIX.h, README.md, a Makefile (``make test``
            compares every function with results of this model), CMakeLists.txt, test/ and example/, a loop at 1 kHz.
        kernels : names of kernels or groups, optional
            Default, and "all": all that the model has.
        real : {"double", "float"}
            The type of all numbers, t too.
        prefix : str, optional
            Prefix of all names, so that several models can be in one program: an identifier of C; default: the
            name of the model.
        integrators : bool
            Add ``PREFIX_integrate``: the methods of `simulate` that are C, in doubles; results are bit-identical.

        Raises
        ------
        FileExistsError
            The folder is not empty, or a file.
        ValueError, TypeError, KeyError
            A prefix that C or its library do not take; an unknown type or kernel; integrators without ``rhs`` or in
            floats.
        ModelError
            The model has no such kernel; it calls C functions by address; its description is not known, as it was
            unpickled or comes from a wheel; with floats, a constant of its equations is no float.

        Warns
        -----
        KanecoreWarning
            Floats leave fewer than three digits of the motion; or no state was found for the test to compare at.

        Notes
        -----
        The header says for each function how many operations and how many bytes of stack it takes at most.

        Examples
        --------
        ``dyn.export_c("arm_c", kernels=["rhs", "linearize"], real="float", prefix="arm")``
        """
        from kanecore.export.c_folder import export_c

        export_c(self, folder, kernels, real, prefix, integrators)

    def casadi(self, kernel: str = "rhs", *, name: str | None = None, wrt: Iterable[str] = ("t", "x", "r", "p")) -> Any:
        """A kernel as a function of CasADi, by default that of the equations of motion, f(t, x, r, p) = ẋ.

        ``"rhs"`` is compiled C that CasADi calls by its external interface: the function, its Jacobian by each
        argument, its adjoint, and the derivatives of both, so that solvers such as IPOPT get exact Hessians.  All have
        the sparsity of the equations.  It can stand in any expression of CasADi's MX that is differentiated twice at
        most, in ``map``, also in threads, and in ``integrator``.  Other kernels are CasADi's own expressions, SX, which
        it differentiates any number of times: residuals, M, f, G and outputs of a program that solves for u̇ and λ
        itself.

        Parameters
        ----------
        kernel : str
            ``"rhs"``, or a kernel of t, x, r and p whose result is a number, vector or matrix and is not solved for:
            ``"mass_matrix"``, ``"forcing"``, ``"constraint_jacobian"``, ``"constraint_bias"``,
            ``"configuration_residual"``, ``"velocity_residual"``, ``"qdot"``, ``"outputs"``, ``"kinetic_energy"``,
            ``"positions"``, ...
        name : str, optional
            Name of the function, an identifier of C; default: the model's, ``_`` and the kernel's.
        wrt : sequence of {"t", "x", "r", "p"}
            The arguments by which derivatives are wanted; by the others they are zero.  CasADi's ``map`` computes all
            that there are: ``wrt="xr"`` saves time where parameters and t are numbers.

        Returns
        -------
        casadi.Function
            The same function for the same arguments.  Its inputs are t, x (n_x,), r (n_r,) and p (n_p,), in the orders
            of `coordinate_names` and `speed_names`, `input_names`, `parameter_names`; the output is xdot (n_x,), or the
            result of the kernel, which has its name.

        Raises
        ------
        ImportError
            CasADi is missing: ``pip install 'kanecore[casadi]'``.
        CompileError
            There is no compiler, or it refused; of ``"rhs"``.
        ModelError
            The model calls C functions by address, its description is not known, or it has no derivatives; a kernel is
            solved for, as outputs with u̇ are, or holds a function given by data.
        KeyError
            There is no such kernel.
        ValueError, TypeError
            A name that is no identifier, or that C has; another argument.

        Notes
        -----
        The gradient of weights · ẋ is a pass backwards over the equations, its changes along directions one pass each
        forwards over that (Griewank & Walther 2008, chapter 5); `kanecore.derive.adjoints` has the equations.  At a
        singular state CasADi raises an error, which IPOPT takes as a step that is too long.  A Hessian where rows of
        the constraints are redundant is an error as well; IPOPT ends with ``Invalid_Number_Detected`` there.  CasADi
        calls both "Evaluation failed"; the first of each in a process says why on stderr, with the speed or the row.
        The constants of the parameters are computed anew where p differs from that of the call before.  The function
        refers to a library in the cache, also where CasADi saves it.

        Examples
        --------
        ``f = dyn.casadi(); nlp_rates = f.map(100)(0, X, R, p)``; ``phi = dyn.casadi("configuration_residual")``
        """
        from kanecore.export.casadi_function import casadi_function

        return casadi_function(self, kernel, name, wrt)

    def export_fmu(
        self,
        path: str | os.PathLike[str],
        *,
        version: str = "3.0",
        x0: Any = None,
        units: Mapping[Any, Any] | None = None,
        method: str = "dop853",
        tolerance: float = 1e-8,
        drift: float = 1e-7,
        stop_time: float | None = None,
        step_size: float | None = None,
        cc: str | Sequence[str] | None = None,
    ) -> Path:
        """A Functional Mock-up Unit, for other simulators: model exchange and co-simulation in one file.

        The current parameters and inputs are its start values.  It holds its C sources, which need no other library,
        and the library that a compiler here makes of them, for any processor of this architecture.

        Parameters
        ----------
        path : str or Path
            A file that ends in ``.fmu``; one that is there is replaced, and only once the new one is whole.
        version : {"3.0", "2.0"}
            Version of FMI.
        x0 : array_like (n_x,), or mapping by name, optional
            The state at the start, t = 0, which must satisfy the constraints within 1e-6, as for `simulate`; default
            rest, ``dyn.consistent(0, dyn.state())``.
        units : mapping, optional
            Units of states, inputs, outputs and parameters by name or symbol: ``{"theta": "rad", "I": "kg.m2"}``, or
            units of SymPy, or exponents of (length, mass, time). Those that are made of units of the SI are defined by
            their powers of kg, m, s, A, K, mol, cd, rad.
        method : {"dop853", "dopri5", "auto", "auto_w", "rosenbrock", "rosenbrock_w"}
            Method of co-simulation, as for `simulate`.
        tolerance : float
            Relative and absolute tolerance of co-simulation, unless a simulator gives its own.
        drift : float
            For models with constraints or unit quaternions, the default of their parameter ``drift limit``: see Notes.
        stop_time, step_size : float, optional
            In seconds, what simulators take for the end of the run and for the communication step, or the distance of
            results, unless they are told otherwise: ``DefaultExperiment`` of the description.
        cc : str or sequence of str, optional
            The compiler, as for `kanecore.compile`; ``"none"``: sources alone.

        Returns
        -------
        Path
            Path of the file.

        Raises
        ------
        ModelError
            The model calls functions by address, `kc.CFunction`, or its description is not known; a parameter or a
            prescribed motion never got a value; no state on the constraints was found.
        ValueError, TypeError, KeyError
            A path without ``.fmu``, or in no folder; an option or a unit is wrong; x0 is off the constraints.
        CompileError
            The compiler refused.  Without a compiler the file holds sources alone, and a warning says so.

        Notes
        -----
        **Variables**, all of type Float64: states are outputs, so that others can be connected to them; their
        derivatives are ``der(theta)``; then inputs, with the rates of prescribed motions as inputs of their own, the
        model's outputs, and parameters, which may be tuned in events and between steps.  Where two would have one name,
        that of the state, input or parameter stays, in this order, and the other becomes ``name (output)``, say.
        Characters that XML has not are written as escapes.

        **Derivatives** by direction, and in FMI 3 adjoint ones, are exact: of dx/dt and outputs with respect to states,
        inputs, parameters and time.  Outputs that hold multipliers are differentiated by differences of order 6.

        **Constraints** and unit quaternions: a simulator's steps drift off them.  Where the largest residual, relative
        to the terms that it is summed from, or the distance of a norm from 1, passes ``drift limit``, the completed
        step asks for event mode.  There, and nowhere else, the state changes to the nearest one on the constraints,
        and that is reported.  In co-simulation each step ends on the constraints.

        **Co-simulation** holds inputs over a communication step.  A prescribed motion whose rates are inputs goes on by
        them, as r + ṙ s + r̈ s²/2.  The state of an FMU can be saved, restored and serialized.

        A singular state is reported by name: ``fmiDiscard`` for derivatives, ``fmiError`` for a step, which leaves the
        state as it was.

        Source: Functional Mock-up Interface 2.0.4 and 3.0.1, fmi-standard.org.

        Examples
        --------
        ``kc.load("cart_pole").export_fmu("cart_pole.fmu", units={"theta": "rad", "F": "N"})``
        """
        from kanecore.export.fmu import export_fmu

        return export_fmu(
            self,
            path,
            version=version,
            x0=x0,
            units=units,
            method=method,
            tolerance=tolerance,
            drift=drift,
            stop_time=stop_time,
            step_size=step_size,
            cc=cc,
        )

    jax = jax
    lowlevel_callable = lowlevel_callable
    numba = numba

    def __reduce__(self) -> tuple[Any, ...]:
        if self._functions:
            raise ModelError(
                f"{self.name!r} cannot be pickled: it calls {', '.join(self._functions)} by address, kc.CFunction, and "
                "an address belongs to this process; give the data, kc.Spline, or compile the model there"
            )
        if self._origin is None:
            raise ModelError(f"{self.name!r} cannot be pickled: its origin is not known")
        make, arguments = self._origin
        left_out = self._left_out("parameter"), self._left_out("input")
        content = pickle.dumps((make, arguments, self._values("parameter"), self._values("input"), left_out))
        return unsealed, (self.name, hashlib.sha256(content).hexdigest(), content)


if CompiledModel.__doc__:  # python -OO has none
    CompiledModel.__doc__ = f"{cleandoc(CompiledModel.__doc__)}\n\n{table_text(CompiledModel)}"


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two mappings: mappings under the same key are merged in turn; for other values `new` wins."""
    result = dict(old)
    for key, value in new.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def unsealed(name: str, digest: str, content: bytes) -> CompiledModel:
    """Rebuild a model from a pickle; ModelError where the content is not the one that was pickled."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelError(f"the pickle of {name!r} was altered since it was written: pickle the model again")
    return restored(*pickle.loads(content))


def restored(
    make: Callable[..., CompiledModel],
    arguments: tuple[Any, ...],
    parameters: Array,
    inputs: Array,
    left_out: tuple[dict[str, float], dict[str, float]] = ({}, {}),
) -> CompiledModel:
    """Rebuild an unpickled model with the values that it had; NaN stands for a value that was never given."""
    model = make(*arguments)
    for mapping, values, others in zip((model.parameters, model.inputs), (parameters, inputs), left_out, strict=True):
        by_name = dict(zip(mapping, values, strict=True)) | others
        mapping.update({name: value for name, value in by_name.items() if np.isfinite(value)})
    return model


class SingleModel(CompiledModel):
    """A `CompiledModel` whose kernels take float32: x, r, p, results and prepared constants.

    t is given as a double, and rounded to a float by each kernel.

    Arrays of other types are cast, ``out=`` must be float32.  `address` is that of ``void f(double t, const float *x,
    const float *r, const float *c, float *work, float *out)``.  A float has 24 bits: results agree with those in double
    precision to 6e-8 times the condition of the computation.  A row of constraints that is lost at a state is not
    searched for nearby.
    """

    def linearize(
        self, t: Any, x: Any, *, r: Any = None, p: Any = None, minimal: bool = False, out: Any = None
    ) -> tuple[Any, Any]:
        """A and B in floats; ``minimal=True`` with constraints needs the digits of doubles."""
        if minimal and (self.n_constraints or self.n_configuration):
            raise self._too_coarse("linearize(minimal=True)")
        return super().linearize(t, x, r=r, p=p, minimal=minimal, out=out)

    def _nonholonomic(self, *_: Any, **__: Any) -> NoReturn:
        raise self._too_coarse("nonholonomic=True")

    def _opposed(self, t: float, x: Any, r: Any, p: Any, row: int) -> tuple[str, ...]:
        return ()

    def _too_coarse(self, name: str) -> ModelError:
        return ModelError(
            f"{name} needs the digits of doubles, and {self.name!r} is compiled with real='float': compile it without"
        )


def _refused(name: str) -> Callable[..., NoReturn]:
    def method(self: SingleModel, *_: Any, **__: Any) -> NoReturn:
        raise self._too_coarse(name)

    method.__name__ = name
    method.__doc__ = "Needs double precision: ModelError."
    return method


for _name in (
    *("simulate", "periodic", "impact", "consistent", "check", "constraint_forces", "speed_matrices", "audit"),
    *("conserved", "solve_inverse", "equilibrium", "linear_system", "state_error", "rhs_hessian", "identify"),
    *("operational_inertia", "projected_efforts"),
):
    setattr(SingleModel, _name, _refused(_name))


def class_of(real: str) -> type[CompiledModel]:
    """Class of compiled models whose numbers are "double" or "float"."""
    return SingleModel if real == "float" else CompiledModel
