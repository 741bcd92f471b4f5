# SPDX-License-Identifier: BSD-3-Clause
"""Exports as methods of a compiled model; each method imports its writer when it is called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanecore.binding.declared_methods import method

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["casadi", "export_c", "export_fmu"]


@method("Other programs")
def export_c(
    dyn: Evaluator,
    folder: str | os.PathLike[str],
    *,
    kernels: str | Iterable[str] | None = None,
    real: str | None = None,
    prefix: str | None = None,
    integrators: bool = False,
) -> None:
    """Write the model as C99 that depends on nothing: one file, one header, a test of both, and files that build them.

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
    real : {"double", "float"}, optional
        The type of all numbers, t too; default: that of this model.
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

    export_c(dyn, folder, kernels, real, prefix, integrators)


@method("Other programs")
def casadi(
    dyn: Evaluator, kernel: str = "rhs", *, name: str | None = None, wrt: Iterable[str] = ("t", "x", "r", "p")
) -> Any:
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
        CasADi is missing: ``pip install casadi``.
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

    return casadi_function(dyn, kernel, name, wrt)


@method("Other programs")
def export_fmu(
    dyn: Evaluator,
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
        dyn,
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
