# SPDX-License-Identifier: BSD-3-Clause
"""`CompiledModel.audit`: a model beside itself, derived in other ways, at random states.

An audit that repeats a derivation finds nothing.  This one takes raw facts of the kernels (positions, orientations,
masses and loads as written), and does the mechanics anew, in NumPy and by differences: what each file `audit_*.py` has
rows of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.run import audit_equations, audit_forces, audit_hamilton, audit_motion
from kanecore.run.audit_bodies import Bodies
from kanecore.run.audit_rows import FAILS, SUSPICIOUS, NotApplicable, Row, absent, table
from kanecore.run.audit_states import random_states
from kanecore.run.audit_suspicions import suspicions
from kanecore.run.audit_units import units_row

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["Audit", "audit"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Audit:
    """What `CompiledModel.audit` found; ``str()`` is a table, and it is true where nothing fails.

    Attributes
    ----------
    name : str
        Of the model.
    rows : tuple
        One for each quantity: ``name, verdict, digits, needed, reason, worst, state``.
    t, x, r : ndarray, (n,), (n, n_x), (n, n_r)
        The states that were looked at; ``row.state`` is the number of one.
    """

    name: str
    rows: tuple[Row, ...]
    t: Array
    x: Array
    r: Array

    @property
    def passed(self) -> bool:
        """Whether no row fails.  What is suspicious may be meant: it is named, and fails nothing."""
        return not any(row.verdict == FAILS for row in self.rows)

    @property
    def failures(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == FAILS)

    @property
    def suspicious(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == SUSPICIOUS)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        return table(f"audit of {self.name} at {len(self.t)} random states: {verdict}", self.rows)

    __repr__ = __str__


def audit(dyn: Kernels, n: int = 100, *, x0: Any = None, units: Any = None, seed: int = 0) -> Audit:
    """Compare the equations of motion with what other principles give, at n random states on the constraints.

    Kane's F_r and F*_r beside d'Alembert's virtual work, Newton-Euler, Lagrange, and Gibbs-Appell; velocities beside
    derivatives of positions; p, H and their rates beside L; M, f, u̇, λ, reactions, power, rank and derivatives beside
    each other. Inputs are random;
    parameters are the current ones.

    Parameters
    ----------
    n : int
        How many states.
    x0 : array_like, (n_x,), or mapping of name or symbol to number, optional
        A state around which others are taken, on the constraints or near them; default: the guess of the model, else
        random ones.
    units : mapping of name or symbol to unit, optional
        Of coordinates, speeds, parameters and inputs, as a unit of SymPy or as exponents of (length, mass, time): then
        the equations are also compared in other units. What is not named is a pure number, as an angle.
    seed : int
        Of the random numbers.

    Returns
    -------
    Audit
        A row for each quantity, with the number of digits that agree at the worst state, beside the terms that it is
        summed from: 6 must where differences are used or equations solved, 8 elsewhere.

    Raises
    ------
    ModelError
        No states on the constraints were found.
    ValueError, TypeError, KeyError
        A parameter was never set; n is no positive whole number; units or x0 of something else.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"n is {n!r}; it must be a whole number of states")
    if n < 1:
        raise ValueError(f"n is {n}; it must be 1 or more")
    dyn.build()  # type: ignore[attr-defined]
    bodies = Bodies(random_states(dyn, int(n), x0, seed))
    rows = [
        _row(name, check, bodies)
        for part in (audit_motion, audit_forces, audit_hamilton, audit_equations)
        for name, check in part.CHECKS
    ]
    rows += suspicions(bodies)
    if units is not None:
        rows.append(units_row(bodies, units))
    states = bodies.states
    return Audit(dyn.name, tuple(rows), states.t, states.x, states.r)


def _row(name: str, check: Any, bodies: Bodies) -> Row:
    try:
        return check(name, bodies)  # type: ignore[no-any-return]
    except NotApplicable as reason:
        return absent(name, str(reason))
    except ModelError as error:  # what the model does not have
        return absent(name, " ".join(str(error).split()))
