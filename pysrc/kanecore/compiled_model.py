# SPDX-License-Identifier: BSD-3-Clause
"""Compiled models as users meet them: an `Evaluator` of kernels, with the functions of `dyn` as methods.

A method is a function in the folder of its subject, with `kanecore.binding.declared_methods.method` beside it, and a
line of the class below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import cleandoc
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kanecore.audit.audit import audit
from kanecore.audit.conserved_quantities import conserved
from kanecore.binding.declared_methods import method, shown, table_text
from kanecore.binding.evaluator import Evaluator
from kanecore.binding.pickled_models import pickled
from kanecore.constraints.consistent_states import consistent
from kanecore.constraints.constraint_check import check
from kanecore.constraints.kernel_failures import HooksOfModel
from kanecore.constraints.partial_velocities_and_forces import (
    generalized_active_forces,
    generalized_inertia_forces,
    partial_accelerations,
    partial_angular_accelerations,
    partial_angular_velocities,
    partial_velocities,
)
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
from kanecore.control.linearization import linearize
from kanecore.control.operational_space import mass_matrix_inverse, momentum_matrix, operational_inertia
from kanecore.export.export_methods import casadi, export_c, export_fmu
from kanecore.export.jax_function import jax
from kanecore.export.scipy_and_numba import lowlevel_callable, numba
from kanecore.live.play_method import play
from kanecore.motion.derivatives.discretization import discretize
from kanecore.motion.derivatives.rollout_gradients import rollout_vjp
from kanecore.motion.impact import impact
from kanecore.motion.periodic_motion import periodic
from kanecore.motion.rollout import rollout, step
from kanecore.motion.simulation import simulate
from kanecore.optimal.fit_and_mpc_methods import fit, mpc
from kanecore.optimal.optimize_method import optimize
from kanecore.run.kernel_facts import sparsity
from kanecore.run.load_forces_and_powers import (
    constraint_forces,
    load_powers,
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
from kanecore.run.pydy_function import as_pydy
from kanecore.run.robot_dynamics import aba, crba, rnea
from kanecore.run.state_pictures import draw

if TYPE_CHECKING:
    from kanecore.binding.library_groups import GroupBuilder
    from kanecore.describe.description import Description
    from kanecore.functions.c_functions import CFunction
    from kanecore.model import Model
    from kanecore.program.bytecode_format import Code

__all__ = ["CompiledModel"]


class CompiledModel(Evaluator):
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
    fingerprint : callable, optional
        ``fingerprint()`` returns a text that only equal descriptions share: of what is derived of them, the key in the
        cache.
    described_by : callable, optional
        ``described_by()`` returns the `Model` that it was compiled from.
    shown : callable, optional
        ``shown()`` returns the motion that `play` shows at first, as of the gallery.

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
        builder: GroupBuilder | None = None,
        lane_builder: Callable[[str], str | None] | None = None,
        info: Mapping[str, Any] | None = None,
        origin: tuple[Callable[..., CompiledModel], tuple[Any, ...]] | None = None,
        functions: Mapping[str, CFunction] = MappingProxyType({}),
        describe: Callable[[], Description] | None = None,
        fingerprint: Callable[[], str] | None = None,
        described_by: Callable[[], Model] | None = None,
        shown: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(
            libraries,
            CompiledModel,
            source=source,
            builder=builder,
            lane_builder=lane_builder,
            info=info,
            origin=origin,
            functions=functions,
            describe=describe,
            fingerprint=fingerprint,
            described_by=described_by,
            shown=shown,
        )
        self.hooks = HooksOfModel(self, self.libraries)

    def __dir__(self) -> list[str]:
        names = {name for table in shown(type(self)).values() for name in table}
        return sorted(names | {name for name in super().__dir__() if name.startswith("_")})

    def _repr_html_(self) -> str:
        """HTML for notebooks: sizes and names, and the current values, folded."""
        from kanecore.show.notebook_pages import compiled_page

        return compiled_page(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(self)

    @property
    @method("Values and facts")
    def model(self) -> Model:
        """The `Model` that it was compiled from, for its expressions, its report, and models made of it.

        One that was unpickled gets a model with the same names, made of its description.  It needs SymPy.

        Raises
        ------
        ModelError
            It comes from a wheel, without its description.
        """
        if self.libraries.described_by is None:
            from kanecore.export.exported_library import model_of

            made = model_of(self)
            self.libraries.described_by = lambda: made
        return self.libraries.described_by()

    # Equations of motion, in other arguments
    aba = aba
    rnea = rnea
    crba = crba
    as_pydy = as_pydy
    mass_matrix_inverse = mass_matrix_inverse

    # Generalized forces, load by load and body by body
    partial_velocities = partial_velocities
    partial_angular_velocities = partial_angular_velocities
    partial_accelerations = partial_accelerations
    partial_angular_accelerations = partial_angular_accelerations
    generalized_active_forces = generalized_active_forces
    generalized_inertia_forces = generalized_inertia_forces
    constraint_forces = constraint_forces
    load_powers = load_powers
    projected_efforts = projected_efforts

    # Points and frames by name, and pictures
    position = position
    velocity = velocity
    acceleration = acceleration
    specific_force = specific_force
    orientation = orientation
    angular_velocity = angular_velocity
    angular_acceleration = angular_acceleration
    jacobian = jacobian
    operational_inertia = operational_inertia
    draw = draw
    play = play

    # Energy and momentum
    linear_momentum = linear_momentum
    angular_momentum = angular_momentum
    momentum_matrix = momentum_matrix
    conserved = conserved

    # Constraints
    check = check
    consistent = consistent
    speed_matrices = speed_matrices

    # Motion
    simulate = simulate
    rollout = rollout
    rollout_vjp = rollout_vjp
    step = step
    discretize = discretize
    periodic = periodic
    optimize = optimize
    impact = impact

    # Control and derivatives
    linearize = linearize
    linear_system = linear_system
    equilibrium = equilibrium
    mpc = mpc
    solve_inverse = solve_inverse
    jvp = jvp
    vjp = vjp
    rhs_hessian = rhs_hessian
    sparsity = sparsity
    state_error = state_error
    rhs_jvp = rhs_jvp
    rhs_vjp = rhs_vjp

    # Identification and audit
    identify = identify
    fit = fit
    audit = audit

    # Other programs
    export_c = export_c
    export_fmu = export_fmu
    casadi = casadi
    jax = jax
    numba = numba
    lowlevel_callable = lowlevel_callable


if CompiledModel.__doc__:  # python -OO has none
    CompiledModel.__doc__ = f"{cleandoc(CompiledModel.__doc__)}\n\n{table_text(CompiledModel)}"
