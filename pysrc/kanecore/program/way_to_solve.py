# SPDX-License-Identifier: BSD-3-Clause
"""Choice of the methods that solve for u̇, for its derivatives, and for products of derivatives with vectors.

A program is short and has no loops, but divides by pivots that were chosen on the graph.  A pivot may be small beside
its row, or M not positive definite.  For such states there is the general method, which is rarely called: it solves the
original M, f, G and γ, with pivots chosen by numbers.  Rows of constraints that remain after elimination on the graph
are always solved at run time, since only numbers decide which are independent.  `recursion_choice` of
`kanecore.derive.recursions` chooses the recursion of programs and loops.
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

BRIEF = 4_000  # most instructions of a derivative in one function: a tenth less time, for twice the compiler's
LONG = 4_500  # operations of a system of equations that is too long to be written twice


class Way(Enum):
    """Method of finding u̇, its derivatives, or products of these with vectors."""

    PROGRAM = "one program, and the general method in addition if a pivot may be small"
    RECURSION = "recursions over the joints of trees"
    REDUCED = "the reduced equations, of speeds and rows that elimination on the graph leaves"
    GENERAL = "the equations of all speeds and rows"


def way_of_accelerations(derivation: Derivation) -> Way:
    """Method for u̇."""
    if derivation.solving is not None:
        return Way.REDUCED
    return Way.PROGRAM if derivation.symmetric else Way.GENERAL


def way_of_slopes(slopes: Linearization) -> Way:
    """Method for a derivative of q̇ and u̇: the first for which the derivation has expressions."""
    if slopes.forest is not None:
        return Way.RECURSION
    if slopes.solution is not None:
        return Way.PROGRAM
    return Way.GENERAL if slopes.reduced is None else Way.REDUCED


def way_of_product(derivation: Derivation) -> Way:
    """Method for the product of derivatives of u̇ with a vector."""
    if not derivation.symmetric:
        return Way.GENERAL
    return Way.PROGRAM if derivation.has_expression else Way.REDUCED


def way_of_second_derivatives(derivation: Derivation) -> Way:
    """Method for the second derivatives of ẋ; without an expression of u̇ it is one factorization."""
    return Way.PROGRAM if derivation.has_expression else Way.GENERAL


def always_holds(program: Program, derivation: Derivation) -> bool:
    """Test whether a program needs no alternative: no pivot may be small, or its equations are solved already."""
    return not program.fails or bool(derivation.formulation.pivots)


def is_brief(program: Program) -> bool:
    """Test whether a derivative is short enough to be one function, even if it is rarely called."""
    return len(program.instructions) <= BRIEF


def is_written_once_more(derivation: Derivation, solving: Solving) -> bool:
    """Test whether the equations to solve get a separate program, in addition to those of M, f, G and γ.

    For all speeds and rows it would repeat these programs.  So the functions of the kernels fill long equations, and
    the text of a mechanism with many loops has M once.
    """
    if solving.system != derivation.general.system:
        return True
    return len(derivation.graph.below((*solving.system, *solving.known))) <= LONG
