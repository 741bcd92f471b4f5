# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the ways to solve for u̇, for its derivatives, and for products of these with vectors.

A program is short and has no loops, but divides by pivots that were chosen on the graph.  Where one of them is small
beside its row, or M is not positive definite, the general way stands beside it, and is rarely called: it solves the
original M, f, G and γ, with pivots chosen by numbers.  Rows of constraints that elimination on the graph leaves are
solved at run time in any case, since only numbers say which are independent.  `recursion_choice` of
`kanecore.derive.recursions` chooses by which recursion programs and loops solve.
"""

from __future__ import annotations

from enum import Enum

from kanecore.derive.constraint_elimination import Solving
from kanecore.derive.derivation import Derivation
from kanecore.derive.linearized_equations import Linearization

from .instructions import Program

__all__ = [
    *("BRIEF", "Way", "always_holds", "is_brief", "is_written_once_more", "way_of_accelerations", "way_of_product"),
    *("way_of_second_derivatives", "way_of_slopes"),
]

BRIEF = 4_000  # instructions of a derivative that is one function: a tenth of its time for twice the compiler's
LONG = 4_500  # operations of a system of equations that is not written down once more


class Way(Enum):
    """What finds u̇, its derivatives, or their products."""

    PROGRAM = "one program, and beside it the general way where a pivot may be small"
    RECURSION = "recursions over the joints of trees"
    REDUCED = "the equations of the speeds and rows that elimination on the graph leaves"
    GENERAL = "the equations of all speeds and rows"


def way_of_accelerations(derivation: Derivation) -> Way:
    """Way to u̇."""
    if derivation.solving is not None:
        return Way.REDUCED
    return Way.PROGRAM if derivation.symmetric else Way.GENERAL


def way_of_slopes(slopes: Linearization) -> Way:
    """Way to a derivative of q̇ and u̇: the first for which the derivation found expressions."""
    if slopes.forest is not None:
        return Way.RECURSION
    if slopes.solution is not None:
        return Way.PROGRAM
    return Way.GENERAL if slopes.reduced is None else Way.REDUCED


def way_of_product(derivation: Derivation) -> Way:
    """Way to the product of derivatives of u̇ with a vector."""
    if not derivation.symmetric:
        return Way.GENERAL
    return Way.PROGRAM if derivation.has_expression else Way.REDUCED


def way_of_second_derivatives(derivation: Derivation) -> Way:
    """Way to the second derivatives of ẋ, which a model without an expression of u̇ has by one factorization."""
    return Way.PROGRAM if derivation.has_expression else Way.GENERAL


def always_holds(program: Program, derivation: Derivation) -> bool:
    """Test whether a program needs no other way beside it: no pivot may be small, or solved equations have no other."""
    return not program.fails or bool(derivation.formulation.pivots)


def is_brief(program: Program) -> bool:
    """Test whether a derivative is short enough to be one function, however rarely it is called."""
    return len(program.instructions) <= BRIEF


def is_written_once_more(derivation: Derivation, solving: Solving) -> bool:
    """Test whether the equations to solve get a program of their own, beside those of M, f, G and γ.

    Those of all speeds and rows would be these once more: long ones are filled by the functions of the kernels, so that
    the text of a mechanism with many loops holds M once.
    """
    if solving.system != derivation.general.system:
        return True
    return len(derivation.graph.below((*solving.system, *solving.known))) <= LONG
