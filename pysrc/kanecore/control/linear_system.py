# SPDX-License-Identifier: BSD-3-Clause
"""Linear state-space system around a state, with independent states only, for control design.

A system prints as matrices with names, and modes, as text or as tables.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.constraints.consistent_states import feasible_state, normalized
from kanecore.constraints.constraint_state import ConstraintState
from kanecore.control.error_states import ErrorStates
from kanecore.control.minimal_states import Reduction, output_slopes, reduction
from kanecore.control.modes import Mode, balance, eigenvalues, in_units, modes_of, unreached
from kanecore.rank import clear
from kanecore.run.call_arguments import leading, vectors
from kanecore.run.last_digits import nudged
from kanecore.run.printed_results import PrintedResult
from kanecore.tolerances import CONSERVED

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.binding.kernel_methods import Values

__all__ = [
    *("LinearSystem", "Matrix", "cells", "error_rows", "linear_system", "listed", "mode_lines", "state_error", "text")
]

Array = npt.NDArray[np.float64]

_WIDTH = 80  # characters of a line
_COLUMN = 11  # least characters of a number


@dataclass(frozen=True)
class Matrix:
    """Matrix with the names of its rows and columns; entries within rounding are zero."""

    rows: Sequence[str]
    columns: Sequence[str]
    entries: Array


def text(matrix: Matrix) -> Iterator[str]:
    """Lines of the matrix in blocks of columns that fit a line; zeros are points."""
    width = max(map(len, matrix.rows), default=0)
    column = max(_COLUMN, *(len(name) + 2 for name in matrix.columns), 0)
    step = max(1, (_WIDTH - width) // column)
    for first in range(0, len(matrix.columns), step):
        part = slice(first, first + step)
        yield " " * width + "".join(f"{name:>{column}}" for name in matrix.columns[part])
        for name, *numbers in cells(Matrix(matrix.rows, matrix.columns, matrix.entries[:, part])):
            yield f"{name:<{width}}" + "".join(f"{number:>{column}}" for number in numbers)


def cells(matrix: Matrix) -> list[list[str]]:
    """The name and the numbers of each row."""
    return [[name, *map(_number, row)] for name, row in zip(matrix.rows, matrix.entries, strict=True)]


def listed(title: str, names: Sequence[str]) -> list[str]:
    """Lines of names, broken between names; empty without names."""
    text = f"{title}: {', '.join(names)}" if names else ""
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def mode_lines(modes: Sequence[Mode]) -> Iterator[str]:
    """A table of modes, with a line for each."""
    yield f"{'eigenvalue':>24} {'frequency':>11} {'damping':>9}  states"
    for mode in modes:
        damping = f"{mode.damping:.4g}" if mode.frequency else "."  # NaN for a zero eigenvalue
        yield f"{mode.value:>24} {mode.frequency:>11.5g} {damping:>9}  {', '.join(mode.states)}"


def _number(value: float) -> str:
    return f"{value:.4g}" if value else "."


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem(PrintedResult):
    """ż = A z + B δr, δy = C z + D δr around a state and its inputs; ``str()`` is a table.

    Attributes
    ----------
    name : str
        Name of the model.
    t, x, r : float, ndarray (n_x,), ndarray (n_r,)
        The state on the constraints, and the inputs, around which the system is linearized.
    A, B, C, D : ndarray, (n, n), (n, n_r), (n_outputs, n), (n_outputs, n_r)
        Without outputs C and D have no rows.
    state_names, input_names, output_names : tuple of str
        ``theta_x(e0)``, ``theta_y(e0)``, ``theta_z(e0)`` are the angles of the unit quaternion with the cosine e0.
    dependent_names : tuple of str
        Coordinates, angles and speeds that follow from the states.
    """

    name: str
    t: float
    x: Array
    r: Array
    A: Array
    B: Array
    C: Array
    D: Array
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    _reduction: Reduction
    _rounding: Array

    @property
    def state_names(self) -> tuple[str, ...]:
        return self._reduction.names

    @property
    def dependent_names(self) -> tuple[str, ...]:
        return self._reduction.dependent_names

    def error(self, x: npt.ArrayLike) -> Array:
        """The errors z of states x, (..., n) of (..., n_x), in the order of `state_names`.

        They are the differences x − x̄, and for a unit quaternion δθ = ±2 vec(q̄* ⊗ q) with the nearer sign, so that
        ``r - K @ system.error(x)`` is a control law.  ValueError for other shapes.
        """
        return self._reduction.between(vectors("x", x, len(self.x)))

    def without(self, *names: str) -> LinearSystem:
        """The system without some states, if neither the other states nor the outputs depend on them.

        Raises
        ------
        KeyError
            No state has the name.
        ValueError
            A state or an output depends on it.
        """
        for name in names:
            if name not in self.state_names:
                raise KeyError(
                    f"{self.name!r} has no state {name!r} here; its states are {', '.join(self.state_names)}"
                )
        rest = [i for i, name in enumerate(self.state_names) if name not in names]
        left_out = [i for i, name in enumerate(self.state_names) if name in names]
        slopes = np.vstack([clear(self.A, self._scaled)[rest], clear(self.C, self.C * self._units)])
        rows = [*(self.state_names[i] for i in rest), *self.output_names]
        depending = [name for name, row in zip(rows, slopes[:, left_out], strict=True) if row.any()]
        if depending:
            raise ValueError(
                f"{', '.join(depending)} of {self.name!r} depend on {', '.join(names)}: keep these states, or leave "
                "out the dependent ones as well"
            )
        part = self._reduction
        fewer = replace(
            part,
            independent=part.independent[rest],
            tangent=part.tangent[:, rest],
            units=part.units[rest],
            sizes=part.sizes[rest],
        )
        a = np.ascontiguousarray(self.A[np.ix_(rest, rest)])
        b, c = np.ascontiguousarray(self.B[rest]), np.ascontiguousarray(self.C[:, rest])
        return replace(self, A=a, B=b, C=c, _reduction=fewer, _rounding=self._rounding[rest])

    # -------------------------------------------------------------------------------------------------- modes

    @cached_property
    def eigenvalues(self) -> npt.NDArray[np.complex128]:
        """Eigenvalues of A, (n,), the largest real part first."""
        values = eigenvalues(self._scaled)
        return values[np.lexsort((-values.imag, -values.real))]

    def modes(self) -> tuple[Mode, ...]:
        """Modes, with one for a complex pair, the largest real part first."""
        return modes_of(self.A, self._units, self.state_names)

    @cached_property
    def uncontrollable(self) -> tuple[Mode, ...]:
        """Uncontrollable modes: wᵀ A = λ wᵀ, wᵀ B = 0, with the vector w (Popov, Belevitch and Hautus).

        Their states are the states in wᵀ z.  Entries of A or B below 1e-9, relative to the matrix and with states in
        the metric of the masses, count as zero.
        """
        return unreached(self.A, self.B, self._units, self.state_names, self._rounding)

    @cached_property
    def unobservable(self) -> tuple[Mode, ...]:
        """Unobservable modes: A v = λ v, C v = 0, with the vector v; all modes without outputs."""
        return unreached(self.A.T, self.C.T, 1.0 / self._units, self.state_names, np.zeros_like(self.C.T))

    @property
    def _units(self) -> Array:
        n_coordinates = int(np.sum(self._reduction.independent < self._reduction.errors.n_coordinates))
        n_first_order = int(np.sum(self._reduction.independent >= self._reduction.errors.end_of_speeds))
        return balance(self.A, self._reduction.units, n_coordinates, n_first_order)

    @property
    def _scaled(self) -> Array:
        return in_units(self.A, self._units)

    # ---------------------------------------------------------------------------------------- other forms of it

    def to_control(self) -> Any:
        """A ``control.StateSpace`` of python-control in continuous time, with these names.

        ImportError if it is not installed: ``pip install control``.
        """
        try:
            import control
        except ImportError as error:
            raise ImportError("to_control needs python-control: pip install control") from error
        names = {"states": self.state_names, "inputs": self.input_names, "outputs": self.output_names}
        return control.ss(self.A, self.B, self.C, self.D, 0, **{key: list(value) for key, value in names.items()})

    def __str__(self) -> str:
        lines = [self._title, *self._dependent]
        for matrix in self._matrices:
            lines += ["", *text(matrix)]
        return "\n".join([*lines, "", *self._mode_lines])

    def _repr_html_(self) -> str:
        """HTML for notebooks: the printed text, with the matrices as tables."""
        from kanecore.show.notebook_pages import page, preformatted, table

        matrices = [table(("", *matrix.columns), cells(matrix)) for matrix in self._matrices]
        modes = preformatted("\n".join([*self._mode_lines, *self._dependent]))
        return page(self._title, *matrices, modes)

    @property
    def _title(self) -> str:
        counts = ((len(self.A), "state"), (self.B.shape[1], "input"), (len(self.C), "output"))
        sizes = ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)
        return f"{self.name} around a state at t = {self.t:g}: {sizes}"

    @property
    def _dependent(self) -> list[str]:
        return listed("dependent", self.dependent_names)

    @property
    def _matrices(self) -> Iterator[Matrix]:
        """[A B], then [C D]."""
        columns, units = [*self.state_names, *self.input_names], self._units
        b = self.B / units[:, np.newaxis]
        rows = [f"d/dt {name}" for name in self.state_names]
        yield Matrix(rows, columns, np.hstack([clear(self.A, self._scaled), clear(self.B.T, b.T).T]))
        if self.output_names:
            yield Matrix(self.output_names, columns, np.hstack([clear(self.C, self.C * units), clear(self.D, self.D)]))

    @property
    def _mode_lines(self) -> Iterator[str]:
        yield from mode_lines(self.modes())
        if self.input_names:
            yield from (f"uncontrollable: {mode.value} ({', '.join(mode.states)})" for mode in self.uncontrollable)
        if self.output_names:
            yield from (f"unobservable: {mode.value} ({', '.join(mode.states)})" for mode in self.unobservable)


@method("Control and derivatives", doubles=True)
def linear_system(dyn: Evaluator, t: float, x: Values, r: Any = None, p: Any = None) -> LinearSystem:
    """The motion near the motion through a state, ż = A z + B δr and δy = C z + D δr, exact.

    z are the errors relative to the motion x̄(t) with the inputs r̄, for independent states only:

    - of n_q − n_unit − rank ∂φ/∂q coordinates and n_u − rank ∂c/∂u speeds.  The dependent ones follow from the
      linearized constraints, of which G u = 0 couples speeds with coordinates through ∂(G u)/∂q (Peterson, Gede &
      Hubbard, *Multibody System Dynamics* 33, 2015). q_dependent and u_dependent are left out if they follow from the
      others at x.  Otherwise, and for q in a model with quaternions, pivots in the metric of the masses choose the
      dependent ones.  `LinearSystem.dependent_names` lists them.
    - of a unit quaternion three angles about the body's axes, q = q̄ ⊗ (1, δθ/2).  Since q̄ changes, δθ̇ = δω − ω̄ × δθ
      for a body with the angular velocity ω (Markley & Crassidis, *Fundamentals of Spacecraft Attitude Determination
      and Control*, 2014, section 3.7.4).

    Rates of prescribed motions are separate inputs, as for `linearize`.  C and D are exact as well, unless an output
    depends on multipliers: then they come from differences, to some ten digits.

    Parameters
    ----------
    t : float
    x : array_like, (n_x,), or mapping by name
        A state on the constraints, for example from `equilibrium` or ``dyn.consistent(t, x)``.
    r, p : optional
        Inputs and parameters, as for the kernels.

    Returns
    -------
    LinearSystem

    Raises
    ------
    ValueError, TypeError
        x is no state, or off the constraints by more than 1e-6 of their terms, or a quaternion's norm is not 1.
    SingularError
        The equations of motion are singular at the state.
    """
    state = _on(dyn, t, x, r, p, "x")
    part = reduction(state)
    slopes = np.asarray(dyn.kernels.linearize(state.t, state.x, **state.values))
    xdot = np.asarray(dyn.rhs(state.t, state.x, **state.values))
    rates = part.rows @ slopes[:, : dyn.n_x] + part.turning(xdot)
    # directions: a unit of each z, then of each r
    dx = np.hstack([part.tangent, part.input_tangent])
    dr = np.eye(dyn.n_r, dx.shape[1], len(part.units))
    a, b = rates @ part.tangent, _input_slopes(dyn, part, slopes)
    sizes = np.concatenate([part.sizes, _input_sizes(state, part, a, b)])
    dudot = slopes[dyn.names.speeds] @ np.vstack([dx, dr])
    outputs, n = output_slopes(state, dx, dr, dudot, sizes), len(part.units)
    return LinearSystem(
        name=dyn.name,
        t=float(t),
        x=state.x.copy(),
        r=np.array(state.r),
        A=a,
        B=b,
        C=np.ascontiguousarray(outputs[:, :n]),
        D=np.ascontiguousarray(outputs[:, n:]),
        input_names=dyn.input_names,
        output_names=dyn.output_names,
        _reduction=part,
        _rounding=_rounding(state, part),
    )


def error_rows(dyn: Evaluator, x: Values, *, t: float = 0.0, r: Any = None, p: Any = None) -> Array:
    """Derivatives of the errors that `linear_system` has at a state, by the state: (n, n_x)."""
    return reduction(_on(dyn, t, x, r, p, "x")).rows


def _input_slopes(dyn: Evaluator, part: Reduction, slopes: Array) -> Array:
    """B, from [∂ẋ/∂x, ∂ẋ/∂r]: (..., n, n_r)."""
    return np.asarray(part.rows @ (slopes[..., : dyn.n_x] @ part.input_tangent + slopes[..., dyn.n_x :]))


def _input_sizes(state: ConstraintState, part: Reduction, a: Array, b: Array) -> Array:
    """Large changes of inputs: their values, or changes with as much effect on rates as large changes of states."""
    of_states = float(np.max(np.abs(a) @ part.sizes / part.units, initial=0.0))
    of_inputs = np.max(np.abs(b) / part.units[:, np.newaxis], axis=0, initial=0.0)
    acts = (of_inputs > 0.0) & (of_states > 0.0)
    beside = np.where(acts, of_states / np.where(acts, of_inputs, 1.0), 1.0)
    return np.asarray(np.maximum(np.abs(np.asarray(state.r)), beside))


def _rounding(state: ConstraintState, part: Reduction) -> Array:
    """Bound for entries of B that are rounding of zero, as for an input that only pushes against constraints."""
    rng = np.random.default_rng(0)
    t, x, r, p = (nudged(a, rng) for a in (state.t, state.x, state.r, state.p))
    slopes = np.asarray(state.dyn.kernels.linearize(t, x, r=r, p=p))
    columns = _input_slopes(state.dyn, part, slopes)
    return np.asarray(CONSERVED * np.max(np.abs(columns[1:] - columns[:1]), axis=0))


@method("Control and derivatives", doubles=True)
def state_error(dyn: Evaluator, x: Values, x_ref: Values, *, t: float = 0.0, r: Any = None, p: Any = None) -> Array:
    """Errors of states relative to a reference, as ``dyn.linear_system(t, x_ref, r, p)`` keeps them: (..., n).

    They are the differences x − x_ref, and for a unit quaternion δθ = ±2 vec(q̄* ⊗ q) with the nearer sign, so that q =
    q̄ ⊗ (1, δθ/2) to first order.  In a loop use `LinearSystem.error`, which gives the same without evaluating
    constraints.

    Parameters
    ----------
    x : array_like, (..., n_x)
    x_ref : array_like, (n_x,) or (..., n_x)
        With constraints one state that satisfies them; it decides which coordinates and speeds are independent.
    t, r, p : optional
        Time, inputs and parameters of the reference, if constraints depend on them.

    Raises
    ------
    ValueError, TypeError
        Errors of `linear_system`.
    """
    states = vectors("x", dyn.names.as_state(x), dyn.n_x)
    if dyn.n_constraints or dyn.n_configuration:
        return reduction(_on(dyn, t, x_ref, r, p, "x_ref")).between(states)
    references = vectors("x_ref", dyn.names.as_state(x_ref, "x_ref"), dyn.n_x)
    leading(x=states.shape[:-1], x_ref=references.shape[:-1])
    return ErrorStates(dyn).between(states, normalized(dyn, references, "x_ref"))


def _on(dyn: Evaluator, t: float, x: Values, r: Any, p: Any, argument: str) -> ConstraintState:
    """State that must be on the constraints, with its inputs and parameters."""
    inputs = np.asarray(dyn.names.resolved("input", {} if r is None else r))
    parameters = np.asarray(dyn.names.resolved("parameter", {} if p is None else p))
    return feasible_state(dyn, t, x, inputs, parameters, argument)
