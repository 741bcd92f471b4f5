# SPDX-License-Identifier: BSD-3-Clause
"""Short forms as programs: the forms that people read, where they are also the shorter ones to compute.

A program is replaced where its short forms take fewer operations in a call, no more pairs of sine and cosine and no
more functions, and where at none of some random states the bound of the rounding error of any result is more than
:data:`WORSE` times that of the program.  The states are of three kinds: parameters of one size, parameters of sizes that
differ by a million, and angles that nearly agree.

Forms collect, as sin² + cos² = 1 and common factors do, which loses nothing; the test finds those that multiplied out a
difference, which cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from kanecore.tolerances import EPSILON

from .evaluation import count_in_call
from .expression_graph import COORDINATE, PARAMETER, Graph, Op
from .printed_expressions import concise
from .random_samples import Sample
from .zero_tests import BRANCHING

__all__ = ["WORSE", "rounding_ratio", "shorter"]

WORSE = 2.0  # factor of a rounding error that fewer operations may cost; the largest that was found is 1.5
NODES = 600  # below a program; larger ones are recursions that share more than their written forms do
EFFORT = 1000  # terms of sums that are written in all ways, which take 0.1 s at most
STATES = 3  # of each kind
DECADES = 3  # by which the size of parameters differs from 1, up and down
NEAR = 1e-6  # radians between angles that nearly agree

WAVES = (Op.SIN, Op.COS)


def shorter(g: Graph, roots: Sequence[int]) -> list[int]:
    """The roots, or their short forms where these are shorter to compute; see above."""
    given = list(roots)
    below = g.below(given)
    if len(below) > NODES or any(g.nodes[i][0] in BRANCHING for i in below):
        return given
    forms = concise(g, given, EFFORT)
    if forms is None:
        return given
    found = _of_single_angles(g, forms)
    if not _is_shorter(g, found, given):
        return given
    return found if rounding_ratio(g, found, given) <= WORSE else given


def _is_shorter(g: Graph, found: Sequence[int], given: Sequence[int]) -> bool:
    if count_in_call(g, found) >= count_in_call(g, given):
        return False
    return all(a <= b for a, b in zip(_functions(g, found), _functions(g, given), strict=True))


def _functions(g: Graph, roots: Sequence[int]) -> tuple[int, int]:
    """Angles of sines and cosines, and other functions, in a call."""
    angles, others = set(), 0
    arithmetic = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.SQRT, Op.NEG, Op.SYM)
    for i in g.below(roots):
        op, *operands = g.nodes[i]
        if not g.depends[i] & ~PARAMETER or op in arithmetic:
            continue
        if op in WAVES:
            angles.add(operands[0])
        else:
            others += 1
    return len(angles), others


# ----------------------------------------------------------------------------------------------------------- rounding


def rounding_ratio(g: Graph, found: Sequence[int], given: Sequence[int]) -> float:
    """The largest ratio of the bounds of rounding errors of two programs, at all states; 0 where none is finite.

    Bounds are running ones (:meth:`.random_samples.Sample.rounding`), but at least the rounding of the result itself.
    """
    worst = 0.0
    for state in _states(g, [*found, *given]):
        for a, b in zip(found, given, strict=True):
            value = abs(state(b))
            new, old = state.rounding(a), max(state.rounding(b), EPSILON / 2 * value)
            if math.isfinite(value) and not math.isnan(old):
                worst = max(worst, new / old if old else math.inf if new else 0.0)
    return worst


def _states(g: Graph, roots: Sequence[int]) -> Iterator[Sample]:
    free = [i for i in g.below(roots) if g.nodes[i][0] is Op.SYM and not any(i in group for group in g.unit)]
    parameters = [i for i in free if g.depends[i] == PARAMETER]
    angles = [i for i in free if g.depends[i] == COORDINATE]
    for seed in range(STATES):
        plain = Sample(g, seed)
        yield plain
        # a parameter from 0.3 to 1.7 becomes one from 10⁻³ to 10³
        yield Sample(g, seed, {i: 10 ** (DECADES * (plain(i) - 1) / 0.7) for i in parameters})
        yield Sample(g, seed, _near_each_other(plain, angles))


def _near_each_other(state: Sample, angles: Sequence[int]) -> Mapping[int, float]:
    return {i: state(angles[0]) + NEAR * state(i) for i in angles}


# ------------------------------------------------------------------------------------------------------------- angles


def _of_single_angles(g: Graph, roots: Sequence[int]) -> list[int]:
    """The roots with sines and cosines of sums and multiples of angles by the theorems of addition.

    A sum takes three operations for each, where a pair of sine and cosine takes thirty.
    """
    image: dict[int, int] = {}
    for i in g.below(roots):
        node = g.nodes[i]
        op, operands = node[0], [image[k] for k in g.operands(i)]
        if op is Op.TAN or op in WAVES:
            sine, cosine = _sine_and_cosine(g, operands[0])
            image[i] = sine if op is Op.SIN else cosine if op is Op.COS else g.div(sine, cosine)
        else:
            image[i] = g.rebuild(node, operands) if operands else i
    return [image[i] for i in roots]


def _sine_and_cosine(g: Graph, angle: int) -> tuple[int, int]:
    op, *operands = g.nodes[angle]
    if not g.depends[angle] & ~PARAMETER:
        return g.sin(angle), g.cos(angle)
    if op is Op.NEG:
        sine, cosine = _sine_and_cosine(g, operands[0])
        return g.neg(sine), cosine
    if op in (Op.ADD, Op.SUB):
        (s, c), (t, d) = (_sine_and_cosine(g, k) for k in operands)
        t = t if op is Op.ADD else g.neg(t)
        return g.add(g.mul(s, d), g.mul(c, t)), g.sub(g.mul(c, d), g.mul(s, t))
    if op is Op.MUL and g.value(operands[0]) == 2:
        s, c = _sine_and_cosine(g, operands[1])
        return g.mul(g.constant(2), g.mul(s, c)), g.sub(g.square(c), g.square(s))
    return g.sin(angle), g.cos(angle)
