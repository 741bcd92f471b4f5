# SPDX-License-Identifier: BSD-3-Clause
"""Tolerances within which numbers count as equal.

Each tolerance is relative to a magnitude: of the terms of a sum, of the row of a matrix in the metric of the masses, of
the largest of the values compared.  So no result depends on the units in which a model is written.  The tolerances that
the C of models needs as well (`IN_C`) are written into its text.
"""

from __future__ import annotations

import math

__all__ = [
    "CERTAIN",
    "CONSERVED",
    "CONTRADICTORY",
    "EPSILON",
    "EQUAL",
    "EXPLAINED",
    "FEASIBLE",
    "FEASIBLE_IN_FLOATS",
    "INDEPENDENT",
    "IN_C",
    "LAST_STEP",
    "LAST_STEP_IN_FLOATS",
    "NOISE",
    "PIVOT",
    "PIVOT_OF_FLOATS",
    "RANK",
    "REACHED",
    "ROUNDING",
    "SOLVED",
    "STEEPEST",
    "TYPED",
    "of_floats",
]

EPSILON = 2.0**-52

ROUNDING = 1e3
"""Times the bound of its rounding error: a value at a random state that is smaller is zero.

The bound is that of Higham 2002, section 3.3, to first order.  In the gallery and 120 random constrained mechanisms all
that is zero (228 values) stayed below 0.07 times it, and all that is not (1,311) above 2e11 times.
"""

EQUAL = 1e-9
"""Relative to the larger: two expressions that differ less at two random states are one.

For expressions that are formed in different ways, such as a velocity that was set and the derivative of a position:
what agrees does so to 1e-13, what does not differs in the first digits, since random values avoid the zeros of sines.
Parts of unit vectors and singular values beside the largest are compared by it at such states as well.
"""

RANK = 1e-10
"""Relative to the largest entry of a row, in the metric of the masses: no pivot is smaller, and the row is lost.

At states that are on the constraints to rounding, redundant rows leave 1e-17 to 1e-13; a pivot of 1e-10 still leaves
six digits.
"""

CERTAIN = 100
"""Times a bound of a condition, with its own rounding: below 1 / `RANK` that shows that a matrix is not singular."""

INDEPENDENT = 1e-3
"""Relative to the same: a larger one is a pivot though more rows are found than were counted.

States between steps of an integrator are off the constraints by less, which makes redundant rows look independent.
"""

PIVOT = 64
"""Times n ε: a pivot of a mass matrix that is smaller, beside its diagonal entry, is what rounding leaves of zero.

Articulated bodies have no diagonal entry, and take a bound of it: the mass that a link carries, or its ∫ r·r dm.
"""

PIVOT_OF_FLOATS = 4
"""The same where ε is that of floats, which have no digits to give away: of a cart with 40 links pivots are 5e-5 of
their diagonal entries, and 4 n ε is 2e-5.
"""

STEEPEST = 10
"""In the metric of the masses: no front takes a pivot by which a speed follows from later ones with a larger factor."""

SOLVED = 1e-9
"""Relative to the terms of a constraint: the largest residual of a state that is on it."""

REACHED = 1e-12
"""Relative to the same: the residual after a step or two along motions; where it stays larger, q moves directly.

Rounding leaves 1e-17 to 1e-14 of states of the gallery; a drift along a direction that no speed moves stays.
"""

FEASIBLE = 1e-6
"""Relative to the same: the largest residual of a state that may be projected to the constraints unasked."""

FEASIBLE_IN_FLOATS = FEASIBLE ** (23 / 52)
"""The same of a state in floats: the same share of their digits, 2e-3."""

LAST_STEP = 1e-10
"""Largest last step of Newton's method for friction with reactions, relative to the forces that it finds."""

LAST_STEP_IN_FLOATS = LAST_STEP ** (23 / 52)
"""`LAST_STEP` for floats, the same share of their digits: 4e-5."""

NOISE = 1e-14
"""Of what stands beside a number (its row, the largest coordinate or speed in the metric of the masses, the 1 of a unit
vector): what is smaller is the rounding of a zero.
"""

CONSERVED = 1e3
"""Times what changes of 1e-14 of all numbers change a rate by: a smaller one, at all random states, is zero.
"""

CONTRADICTORY = 1e-6
"""Of the terms that cancel: what may be left of an acceleration row that follows from others, where the state is on
the constraints; elsewhere it may be `EXPLAINED` times the residual of the state.
"""

EXPLAINED = 10
"""Times the largest residual of a state, beside its terms: what rows that agree on the constraints may differ by there.

At finite differences of 1e-6 around states of planar loops, circles written twice, and Bricard's mechanism,
redundant rows leave less.
"""

TYPED = 1e-2
"""Of the 1 of unit vectors: what numbers of a rotation, typed with few digits, may miss.

0.71 in place of √½ misses 0.008; a row that was forgotten or scaled misses its own size.
"""

IN_C = {
    "RANK": RANK,
    "CERTAIN": CERTAIN,
    "INDEPENDENT": INDEPENDENT,
    "PIVOT": PIVOT,
    "STEEPEST": STEEPEST,
    "SOLVED": SOLVED,
    "REACHED": REACHED,
    "CONTRADICTORY_REST": CONTRADICTORY,
    "EXPLAINED": EXPLAINED,
}
"""Those that the C of models needs, by their names there."""


def of_floats(epsilon: float) -> dict[str, float]:
    """Tolerances for floats: the same share of the digits, so that 1e-9 becomes 1e-4; multiples stay."""
    share = math.log(epsilon) / math.log(EPSILON)
    scaled = {name: value**share if value < 1.0 else value for name, value in IN_C.items()}
    return scaled | {"PIVOT": PIVOT_OF_FLOATS}
