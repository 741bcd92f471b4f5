# SPDX-License-Identifier: BSD-3-Clause
"""Audit of a compiled model, `CompiledModel.audit`: comparison of its results with independent derivations.

An audit that repeats a derivation finds no errors.  This audit takes raw facts of the kernels (positions, orientations,
masses and loads as written) at random states, and does the mechanics again, in NumPy and by differences.  Each file
``*_audit.py`` has rows about one subject.

The rows of this file name settings that are consistent but seldom intended.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanecore.audit import (
    constraint_audit,
    derivative_audit,
    equation_audit,
    force_audit,
    hamiltonian_audit,
    principle_audit,
    velocity_audit,
)
from kanecore.audit.audit_states import random_states, whole_number
from kanecore.audit.force_audit import potential_works
from kanecore.audit.mechanics_as_written import Bodies
from kanecore.audit.unit_audit import units_row
from kanecore.audit.verdicts import SUSPICIOUS, NotApplicable, Row, Verdicts, found
from kanecore.binding.declared_methods import method
from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["Audit", "audit", "suspicions"]

_SAME = 1e-6  # tolerance for loads that double a potential, relative to its virtual work

ASKED = (
    *("core", "forces", "energies", "reactions", "constraints", "linearize", "auxiliary", "bodies", "hamilton"),
    *("derivatives", "forward"),
)
"""Groups of kernels in the rows: all except products of derivatives and the inverse of M."""


def suspicions(b: Bodies) -> list[Row]:
    """Rows about suspicious models: loads given also as potentials, and undeclared dependent speeds."""
    return [*_doubled(b), *_lifted(b)]


def _doubled(b: Bodies) -> list[Row]:
    """Rows for loads with the virtual work of a potential: a single load, all of one kind, or some together."""
    if not b.dyn.n_potentials or not b.loads or b.oblique:
        return []
    n = len(b.loads)
    works = b.virtual_works(b.load_vectors()).reshape(-1, n)
    given = potential_works(b).value.reshape(len(works), -1)
    heavy = [i for i in range(n) if np.max(np.abs(works[:, i])) > 0.0]
    rows = []
    for number in range(given.shape[1]):
        work = given[:, number]
        size = np.linalg.norm(work)
        if size == 0.0 or not heavy:
            continue
        alone = [i for i in heavy if np.linalg.norm(works[:, i] - work) <= _SAME * size]
        factors = np.linalg.lstsq(works[:, heavy], work, rcond=None)[0]
        together = [i for i, factor in zip(heavy, factors, strict=True) if abs(factor - 1.0) < _SAME]
        some = alone[:1] or together
        if some and np.linalg.norm(np.sum(works[:, some], axis=1) - work) <= _SAME * size:
            names = ", ".join(b.load_names[i] for i in some)
            reason = f"potential {number} does the work of {names}: the force is counted twice"
            rows.append(Row("potentials beside loads", SUSPICIOUS, reason=reason, worst=f"potential {number}"))
    return rows


def _lifted(b: Bodies) -> list[Row]:
    dyn, rank = b.dyn, b.states.rank
    if not (dyn.n_constraints and dyn.n_u_dependent):
        return []
    if rank <= dyn.n_u_dependent:
        return []
    reason = (
        f"the constraints determine {rank} speeds, and u_dependent names {dyn.n_u_dependent}: does a derivative of a "
        "constraint that was filed say something else than it?"
    )
    return [Row("rank of G and u_dependent", SUSPICIOUS, reason=reason, worst=", ".join(dyn.constraint_names))]


_PARTS = (
    velocity_audit,
    force_audit,
    hamiltonian_audit,
    equation_audit,
    principle_audit,
    constraint_audit,
    derivative_audit,
)


@dataclass(frozen=True, repr=False)
class Audit(Verdicts):
    """Result of `CompiledModel.audit` for the model ``name``; ``str()`` is a table.

    ``assumed`` are unset parameters that do not affect ẋ; they were taken as 1.
    """

    name: str
    assumed: tuple[str, ...] = ()

    @property
    def _title(self) -> str:
        title = f"audit of {self.name} at {len(self.t)} random states: {'passed' if self.passed else 'FAILED'}"
        names = ", ".join(f"{name} = 1" for name in self.assumed)
        return f"{title}; never set, and without effect on the motion: {names}" if names else title


@method("Identification and audit", doubles=True)
def audit(dyn: Evaluator, n: int = 100, *, x0: Any = None, units: Any = None, seed: int = 0) -> Audit:
    """Compare the equations of motion with independent principles, at n random states on the constraints.

    Kane's F_r and F*_r are compared with d'Alembert's virtual work, Newton-Euler, Lagrange, Gibbs-Appell,
    Boltzmann-Hamel and Voronets; u̇ with Jourdain's virtual power, Gauss's least constraint, Maggi's equations and
    Udwadia and Kalaba's pseudoinverse; velocities with derivatives of positions; p, H and their rates with L; M, f, u̇,
    λ, reactions, power, rank and derivatives with each other.  Inputs are random, and parameters are the current ones.
    An unset parameter that does not affect ẋ, such as the inertia of a body that does not turn, is taken as 1; the
    table and `Audit.assumed` name it.

    Parameters
    ----------
    n : int
        Number of states.
    x0 : array_like, (n_x,), or mapping by name, optional
        A state around which states are drawn, on the constraints or near them; default: the guess of the model, or
        random states.
    units : mapping of name or symbol to unit, optional
        Units of coordinates, speeds, parameters and inputs, as for `export_fmu`: a text such as ``"m/s"`` or
        ``"kg*m**2"``, a unit of SymPy, or exponents of (length, mass, time).  Then the equations are also compared in
        other units.  Missing names are pure numbers, as angles; outputs may be named, but are not compared.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Audit
        A row for each quantity, with the number of digits that agree at the worst state, relative to the terms of the
        quantity: 6 are needed if differences are used or equations solved, otherwise 8.

    Raises
    ------
    ModelError
        No states on the constraints were found.
    ValueError, TypeError, KeyError
        A parameter was never set; n is no whole number from 1 to 100000; wrong units or x0.
    """
    n = whole_number(n)
    dyn.build(*ASKED)
    dyn, assumed = _complete(dyn)
    states = random_states(dyn, n, x0, seed)
    bodies = Bodies(states)
    rows = [
        row
        for part in _PARTS
        for row in found(part.CHECKS, bodies, (NotApplicable, ModelError))  # for missing parts of a model
    ]
    rows += suspicions(bodies)
    if units is not None:
        rows.append(units_row(bodies, units))
    return Audit(tuple(rows), states.t, states.x, states.r, dyn.name, assumed)


def _complete(dyn: Evaluator) -> tuple[Evaluator, tuple[str, ...]]:
    """The model, or a copy with 1 for unset parameters that do not affect ẋ; and their names."""
    values = dict(zip(dyn.parameter_names, dyn.names.resolved("parameter", {}), strict=True))
    missing = tuple(name for name, value in values.items() if np.isnan(value))
    if not missing:
        return dyn, ()
    if dyn.facts.functions:  # a copy cannot have their addresses
        names = ", ".join(map(repr, missing))
        raise ValueError(f"parameters {names} of {dyn.name!r} were never set: an audit with functions in C needs all")
    result = copy(dyn)
    result.parameters.update(dict.fromkeys(missing, 1.0))
    return result, missing
