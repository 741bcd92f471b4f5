# SPDX-License-Identifier: BSD-3-Clause
"""Short forms as programs, where the forms for readers are also shorter to compute.

A program is replaced by its short forms under these conditions: they take fewer operations in a call, no sine or cosine
of a further angle, and no more functions. At random states all results agree to rounding, and the bound of their
rounding errors is at most :data:`WORSE` times that of the program.  The states are of five kinds: parameters of one
size; parameters of sizes that differ by a million; angles that nearly equal each other, zero, or a quarter of a turn.

A program that has more terms, multiplied out, than operations is not tried, since such programs hardly ever become
shorter. Forms that collect terms, by sin² + cos² = 1 or by common factors, lose no digits. A form that multiplies out a
difference may cancel; the states above show this.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence

from kanecore.tolerances import EPSILON, ROUNDING

from .evaluation import count_in_call
from .expression_graph import COORDINATE, PARAMETER, Graph, Op
from .printed_expressions import concise
from .random_samples import Sample
from .zero_tests import BRANCHING

__all__ = ["WORSE", "brought", "rounding_ratio", "shorter"]

WORSE = 2.0  # largest factor by which rounding errors may grow; the gallery's largest is 1.6
NODES = 250  # largest number of nodes of a program; larger ones are recursions, which share more than short forms
EFFORT = 1000  # terms of sums for which all forms are tried, which takes at most 0.1 s
STATES = 3  # states of each kind
DECADES = 3  # decades by which the size of parameters differs from 1, up and down
NEAR = 1e-6  # radians between nearly equal angles

WAVES = (Op.SIN, Op.COS)
COUNTED = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.SQRT, Op.NEG, Op.SYM, *WAVES)


def shorter(g: Graph, roots: Sequence[int], effort: int = EFFORT) -> list[int]:
    """The roots, or their short forms if these are shorter to compute; conditions are in the docstring of the module.

    Parameters
    ----------
    effort : int
        Number of terms of sums for which all forms are tried. With 0, three quarters of the operations are saved in a
        fifth of the time.
    """
    given, below = list(roots), g.below(roots)
    if len(below) > NODES or any(g.nodes[i][0] in BRANCHING for i in below):
        return given
    trial = g.clone()  # on a clone, so that a rejected form leaves no nodes in the graph
    forms = concise(trial, given, effort, most=count_in_call(g, given))
    if forms is None:
        return given
    found = _of_known_angles(trial, forms, _angles(g, given))
    if not _is_shorter(trial, found, given) or rounding_ratio(trial, found, given) > WORSE:
        return given
    return brought(g, trial, found)


def brought(g: Graph, clone: Graph, roots: Sequence[int]) -> list[int]:
    """Nodes of a clone that has grown, copied into the original graph."""
    return g.copy(clone, roots, {i: i for i in clone.below(roots) if i < len(g.nodes)})


def _is_shorter(g: Graph, found: Sequence[int], original: Sequence[int]) -> bool:
    if count_in_call(g, found) >= count_in_call(g, original):
        return False
    return _angles(g, found) <= _angles(g, original) and _functions(g, found) <= _functions(g, original)


def _angles(g: Graph, roots: Sequence[int]) -> set[int]:
    """Angles with sines and cosines that are computed in each call."""
    nodes = (g.nodes[i] for i in g.below(roots) if g.depends[i] & ~PARAMETER)
    return {operands[0] for op, *operands in nodes if op in WAVES}


def _functions(g: Graph, roots: Sequence[int]) -> int:
    """Number of other functions in a call."""
    return sum(g.nodes[i][0] not in COUNTED and bool(g.depends[i] & ~PARAMETER) for i in g.below(roots))


# ----------------------------------------------------------------------------------------------------------- rounding


def rounding_ratio(g: Graph, found: Sequence[int], original: Sequence[int]) -> float:
    """The largest ratio of the bounds of rounding errors of two programs, over all states; 0 if no bound is finite.

    The ratio is infinite if results differ by more than rounding. Bounds are those of running error analysis
    (:meth:`.random_samples.Sample.rounding`), and at least the rounding of the result itself.
    """
    worst, order = 0.0, g.below([*found, *original])
    for state in _states(g, order):
        state.follow(order)
        for a, b in zip(found, original, strict=True):
            new, old = state.rounding(a), max(state.rounding(b), EPSILON / 2 * abs(state(b)))
            if not math.isfinite(state(b)) or math.isnan(old):
                continue
            same = abs(state(a) - state(b)) <= ROUNDING * (new + old)
            worst = max(worst, new / old if old and same else math.inf if new or not same else 0.0)
    return worst


def _states(g: Graph, nodes: Sequence[int]) -> Iterator[Sample]:
    free = [i for i in nodes if g.nodes[i][0] is Op.SYM and not any(i in group for group in g.unit)]
    parameters = [i for i in free if g.depends[i] == PARAMETER]
    angles = [i for i in free if g.depends[i] == COORDINATE]
    for seed in range(STATES):
        plain = Sample(g, seed)
        yield plain
        # a parameter from 0.3 to 1.7 becomes one from 10⁻³ to 10³
        yield Sample(g, seed, {i: 10 ** (DECADES * (plain(i) - 1) / 0.7) for i in parameters})
        for place in (*(plain(i) for i in angles[:1]), 0.0, math.pi / 2):
            yield Sample(g, seed, {i: place + NEAR * plain(i) for i in angles})


# ------------------------------------------------------------------------------------------------------------- angles


def _of_known_angles(g: Graph, roots: Sequence[int], known: Container[int]) -> list[int]:
    """The roots with sines and cosines of sums and doubles of angles by the addition theorems; known waves are kept.

    Each takes three operations, and a pair of sine and cosine thirty.
    """
    image: dict[int, int] = {}
    for i in g.below(roots):
        node = g.nodes[i]
        op, operands = node[0], [image[k] for k in g.operands(i)]
        if op is Op.TAN or op in WAVES:
            sine, cosine = _sine_and_cosine(g, operands[0], known)
            image[i] = sine if op is Op.SIN else cosine if op is Op.COS else g.div(sine, cosine)
        else:
            image[i] = g.rebuild(node, operands) if operands else i
    return [image[i] for i in roots]


def _sine_and_cosine(g: Graph, angle: int, known: Container[int]) -> tuple[int, int]:
    op, *operands = g.nodes[angle]
    if angle in known or not g.depends[angle] & ~PARAMETER:
        return g.sin(angle), g.cos(angle)
    if op is Op.NEG:
        sine, cosine = _sine_and_cosine(g, operands[0], known)
        return g.neg(sine), cosine
    if op in (Op.ADD, Op.SUB):
        (s, c), (t, d) = (_sine_and_cosine(g, k, known) for k in operands)
        t = t if op is Op.ADD else g.neg(t)
        return g.add(g.mul(s, d), g.mul(c, t)), g.sub(g.mul(c, d), g.mul(s, t))
    if op is Op.MUL and 2 in (g.value(k) for k in operands):
        s, c = _sine_and_cosine(g, next(k for k in operands if g.value(k) != 2), known)
        return g.mul(g.constant(2), g.mul(s, c)), g.sub(g.square(c), g.square(s))
    return g.sin(angle), g.cos(angle)
