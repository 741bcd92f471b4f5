# SPDX-License-Identifier: BSD-3-Clause
"""How many rows of G count.

Their rank at states on the constraints is a fact of the parameters, and found when these are prepared (``kc_count`` in
``emit/runtime/closure.h``).  At a state where rows are lost, neighbours on the constraints tell a dead point from a
part of the manifold on which fewer rows are independent; what they say holds for that call, and is not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kanecore.errors import ModelError, warn
from kanecore.run.constraint_state import ConstraintState

if TYPE_CHECKING:
    from kanecore._native import Kernels

__all__ = ["count_near", "refuse_flat_rows", "warn_of_count"]

_warned_counts: WeakKeyDictionary[Kernels, set[int]] = WeakKeyDictionary()  # of each model, those it was warned of


def count_near(state: ConstraintState) -> int:
    """How many rows count at a state: as with these parameters in general, unless fewer are independent all around.

    ModelError where that is since a row says nothing.
    """
    typical = state.typical_rank
    if typical is None or typical >= state.count:
        return state.count
    refuse_flat_rows(state)
    return typical


def refuse_flat_rows(state: ConstraintState) -> None:
    """Refuse rows that are lost wherever they hold, and yet do not follow from the others.

    Raises
    ------
    ModelError
        With the row's name.
    """
    if state.dyn.n_constraints and state.flat_row is not None:
        raise ModelError(
            f"{state.flat_row!r} of {state.dyn.name!r} says nothing of motions wherever it holds (its coefficients "
            "vanish there, or are those of other rows), and yet does not follow from the others: a square, such as "
            "x**2 + y**2 for x = y = 0, or two surfaces that touch; write a row of first powers for each component"
        )


def warn_of_count(state: ConstraintState) -> None:
    """Warn, once a model, where the description calls more or fewer speeds dependent than rows of G count."""
    dyn, count = state.dyn, state.count
    dependent, warned = dyn.n_u_dependent, _warned_counts.setdefault(dyn, set())
    if not dependent or count == dependent or count in warned:
        return
    warned.add(count)
    speeds, rows = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((dependent, "speed"), (count, "row")))
    if count < dependent:
        why = f"of the others nothing follows: name {count} in u_dependent"
    else:
        why = (
            "configuration constraints that do not follow from the velocity constraints filed beside them count as "
            "well. All of them are satisfied here; SymPy's KanesMethod would satisfy the latter alone. Name "
            f"{count} speeds in u_dependent, or leave out what is too much"
        )
    independent = "is independent" if count == 1 else "are independent"
    warn(f"u_dependent of {dyn.name!r} names {speeds}, and {rows} of its constraints {independent}: {why}")
