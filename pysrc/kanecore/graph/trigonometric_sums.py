# SPDX-License-Identifier: BSD-3-Clause
"""Sums of products of symbols and waves, the unique form of most expressions of mechanics.

Most expressions are polynomials, or quotients of polynomials, in parameters, speeds and inputs, and in sines and
cosines of sums of angles. If products of sines and cosines are written as sums, by 2 sin a cos b = sin(a + b) + sin(a −
b), a polynomial becomes

    Σ c · x₁^k₁ x₂^k₂ ... · cos(θ) or sin(θ),    θ = n₁ q₁ + n₂ q₂ + ...

in one way only. So sin² + cos² = 1 and the addition theorems need no search, and zero is the empty sum.
Denominators are factors with negative exponents.  Other functions are atoms; their arguments are sums again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Container, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from heapq import heapify, heappop, heappush
from typing import Any, ClassVar, NamedTuple

from .expression_graph import COORDINATE, PARAMETER, SPEED, TIME, Given, Graph, Op

__all__ = [
    "CONSTANT",
    "COSINE",
    "SINE",
    "Atom",
    "Atoms",
    "Monomial",
    "Phase",
    "Sum",
    "Sums",
    "accumulate_term",
    "content",
    "plus",
    "product",
    "ratio",
    "scaled",
    "wave",
]

Monomial = tuple[tuple[int, int], ...]
"""Indices of atoms with their exponents, sorted by index."""
Phase = tuple[tuple[Monomial, Any], ...]
"""The angle of a wave: products of atoms with their multiples; the first multiple is positive."""
Term = tuple[Monomial, str, Phase]
Sum = dict[Term, Any]
"""Coefficients, whole numbers or fractions, by the term; empty for zero."""

Exponentials = dict[tuple[int, ...], tuple[Any, Any]]
"""Real and imaginary parts of coefficients by the exponents of exponentials and atoms."""
Factor = tuple[Fraction, Fraction]
"""Real and imaginary part of a number."""

COSINE, SINE = "cos", "sin"
MOST = 160  # terms of a sum
HIGHEST = 6  # powers of sums that are multiplied out
FINEST = 64  # largest denominator with which a float is read: 0.5 is 1/2, and 0.1 stays as it is

CONSTANT: Term = ((), COSINE, ())


class Atom(NamedTuple):
    """Factor that is not a sum of products: a symbol, a wave, a function.

    Attributes
    ----------
    kind : {"symbol", "number", "pi", "sin", "cos", "tan", "sum", "call"}
    content : hashable
        A node, a float, a phase, the terms of a sum, or an operation with the terms of its arguments.
    rank : int
        0: a parameter; 1: a coordinate, or time; 2: a speed, an acceleration or an input; 3: a wave; 4: others.
    """

    kind: str
    content: Any
    rank: int


# ---------------------------------------------------------------------------------------------------------- arithmetic


def ratio(a: Any, b: int = 1) -> Any:
    """The quotient a / b, as an int if it is whole: ints are several times as fast as fractions."""
    if isinstance(a, int):
        whole, rest = divmod(a, b)
        return Fraction(a, b) if rest else whole
    found = Fraction(a, b)
    return found.numerator if found.denominator == 1 else found


def accumulate_term(total: dict[Any, Any], term: Any, value: Any) -> None:
    """Add ``value`` to ``total[term]``; zeros are removed."""
    value += total.get(term, 0)
    if value:
        total[term] = value
    else:
        total.pop(term, None)


def plus(a: Mapping[Any, Any], b: Mapping[Any, Any], factor: int = 1) -> dict[Any, Any]:
    """The sum a + factor · b."""
    total = dict(a)
    for term, value in b.items():
        accumulate_term(total, term, factor * value)
    return total


def scaled(a: Mapping[Any, Any], factor: Any) -> dict[Any, Any]:
    return {term: factor * value for term, value in a.items()}


def product(a: Monomial, b: Monomial) -> Monomial:
    if not (a and b):
        return a or b
    exponents = dict(a)
    for atom, n in b:
        exponents[atom] = exponents.get(atom, 0) + n
    return tuple(sorted((atom, n) for atom, n in exponents.items() if n))


def _inverse(a: Monomial) -> Monomial:
    return tuple((atom, -n) for atom, n in a)


def _phase(a: Phase, b: Phase, sign: int) -> Phase:
    total = dict(a)
    for angle, n in b:
        accumulate_term(total, angle, sign * n)
    return tuple(sorted(total.items()))


def wave(kind: str, phase: Phase) -> tuple[str, Phase, int]:
    """The wave with a positive first multiple, and its sign; 0 for sin 0."""
    if not phase:
        return COSINE, (), int(kind == COSINE)
    if phase[0][1] > 0:
        return kind, phase, 1
    return kind, tuple((angle, -n) for angle, n in phase), 1 if kind == COSINE else -1


def _times(a: Sum, b: Sum) -> Sum:
    if len(a) * len(b) > 20 * MOST:
        raise OverflowError("too many terms")
    (a, below_a), (b, below_b) = _whole(a), _whole(b)
    twice: Sum = {}
    for (mono_a, kind_a, phase_a), x in a.items():
        for (mono_b, kind_b, phase_b), y in b.items():
            mono, value = product(mono_a, mono_b), x * y
            if not phase_a:
                accumulate_term(twice, (mono, kind_b, phase_b), 2 * value)
            elif not phase_b:
                accumulate_term(twice, (mono, kind_a, phase_a), 2 * value)
            else:
                for kind, phase, sign in _of_two(kind_a, phase_a, kind_b, phase_b):
                    if sign:
                        accumulate_term(twice, (mono, kind, phase), sign * value)
    below = 2 * below_a * below_b
    return {term: ratio(value, below) for term, value in twice.items()}


def _whole(a: Sum) -> tuple[Sum, int]:
    """A sum in whole numbers, and their common divisor; products of fractions would take ten times as long."""
    below = math.lcm(*(x.denominator for x in a.values()))
    return {term: x.numerator * (below // x.denominator) for term, x in a.items()}, below


@lru_cache(maxsize=10_000)
def _of_two(kind_a: str, a: Phase, kind_b: str, b: Phase) -> tuple[tuple[str, Phase, int], ...]:
    """Twice the product of two waves, which is a sum of two waves."""
    kind = COSINE if kind_a == kind_b else SINE
    low, high = (1, -1) if kind_a == kind_b == SINE else (-1, 1) if kind_a == COSINE != kind_b else (1, 1)
    terms = (wave(kind, _phase(a, b, sign)) for sign in (-1, 1))
    return tuple((found, phase, n * turned) for (found, phase, turned), n in zip(terms, (low, high), strict=True))


def content(a: Sum) -> tuple[Monomial, Any, Sum]:
    """Split a sum into the common atoms and number of all terms, and the rest in coprime whole numbers.

    The number is negative where most terms are.
    """
    common: dict[int, int] | None = None
    for mono, _, _ in a:
        exponents = dict(mono)
        if common is None:
            common = exponents
            continue
        for atom in common.keys() | exponents.keys():
            common[atom] = min(common.get(atom, 0), exponents.get(atom, 0))
    atoms = tuple(sorted((atom, n) for atom, n in (common or {}).items() if n))
    values = a.values()
    divisor = math.gcd(*(x.numerator for x in values))
    denominator = math.lcm(*(x.denominator for x in values))
    negative = sum(x < 0 for x in values)
    if 2 * negative > len(values) or (2 * negative == len(values) and a[min(a)] < 0):
        divisor = -divisor
    by = _inverse(atoms)
    rest: Sum = {
        (product(mono, by), kind, phase): x.numerator * (denominator // x.denominator) // divisor
        for (mono, kind, phase), x in zip(a, values, strict=True)
    }
    return atoms, ratio(divisor, denominator), rest


# ---------------------------------------------------------------------------------------------------------- reading


class Atoms:
    """Numbers of atoms.

    Attributes
    ----------
    all : list of Atom
    """

    def __init__(self) -> None:
        self.all: list[Atom] = []
        self._numbers: dict[tuple[str, Any], int] = {}

    def __getitem__(self, k: int) -> Atom:
        return self.all[k]

    def number(self, kind: str, content: Any, rank: int) -> int:
        """The number of an atom; a new atom is added."""
        found = self._numbers.get((kind, content))
        if found is None:
            found = self._numbers[kind, content] = len(self.all)
            self.all.append(Atom(kind, content, rank))
        return found

    def wave(self, kind: str, phase: Phase) -> int:
        return self.number(kind, phase, 3)

    def known(self, kind: str, content: Any) -> int | None:
        return self._numbers.get((kind, content))


class Sums:
    """The sums of the nodes of a graph.

    Parameters
    ----------
    kept : {"", "lengths", "squares"}
        Sums that are atoms, not multiplied out: sums of three lengths or more, as l2 − l3 + d, or sums that are
        squared, as in m (v + a ω)².
    normal : bool
        Replace the square of the first of the Euler parameters e0, ..., e3 of a unit quaternion by 1 − e1² − e2² − e3².
    named : collection of nodes
        Nodes with names, which are symbols in the sums of other nodes.

    Attributes
    ----------
    keeps : bool
        Whether a sum was kept as an atom.
    """

    def __init__(
        self, graph: Graph, atoms: Atoms, kept: str = "", named: Container[int] = (), *, normal: bool = False
    ) -> None:
        self.graph, self.atoms, self.kept, self._named = graph, atoms, kept, named
        self.keeps = False
        self._squares = _squares_of_first(graph, atoms) if normal else {}
        self._sums: dict[int, Sum | None] = {}

    def __call__(self, root: int) -> Sum | None:
        """The sum of a node; None if the sum, or a part of it, has too many terms or divides by zero."""
        for i in self.graph.below([root], self._sums):
            if i not in self._sums:
                self._sums[i] = self._of_name(i) if i in self._named else self._of_node(i)
        return self._sums[root]

    def definition(self, root: int) -> Sum | None:
        """The sum of a node, written out even if the node has a name."""
        for i in self.graph.operands(root):
            self(i)
        return self._of_node(root)

    def _of_name(self, i: int) -> Sum:
        depends = self.graph.depends[i]
        return self._of("symbol", i, 0 if depends == PARAMETER else 3 if depends < SPEED else 2)

    def _of_node(self, i: int) -> Sum | None:
        if any(self._sums[k] is None for k in self.graph.operands(i)):
            return None
        try:
            found = self._read(i)
        except ArithmeticError:
            return None
        return found if len(found) <= MOST else None

    def _of(self, kind: str, content: Any, rank: int, exponent: int = 1) -> Sum:
        return {(((self.atoms.number(kind, content, rank), exponent),), COSINE, ()): 1}

    def _read(self, i: int) -> Sum:
        op, *operands = self.graph.nodes[i]
        if op is Op.CONST:
            return self._constant(*operands)
        if op is Op.PI:
            return self._of("pi", None, 0)
        if op is Op.SYM:
            depends = self.graph.depends[i]
            return self._of("symbol", i, 0 if depends == PARAMETER else 1 if depends in (TIME, COORDINATE) else 2)
        values = [self._sums[k] or {} for k in operands]
        read = None if isinstance(op, Given) else self._ways.get(op)
        found = read(self, *values) if read else self._power(operands[1], values[0]) if op is Op.POW else None
        if found is None:
            return self._of("call", (op, tuple(tuple(sorted(value.items())) for value in values)), 4)
        return found

    def _constant(self, value: Any) -> Sum:
        exact = Fraction(value)
        if exact.denominator > FINEST and isinstance(value, float):
            return self._of("number", value, 0)
        return {CONSTANT: ratio(exact)} if value else {}

    def _product(self, a: Sum, b: Sum) -> Sum:
        if self.kept == "lengths":
            a, b = self._lengths(a), self._lengths(b)
        elif self.kept == "squares" and len(a) == len(b) > 1 and content(a)[2] == content(b)[2]:
            a, b = self._lump(a), self._lump(b)
        return self._reduced(_times(a, b))

    def _quotient(self, a: Sum, b: Sum) -> Sum:
        return self._reduced(_times(a, self._reciprocal(b)))

    def _power(self, exponent: int, base: Sum) -> Sum | None:
        n: Any = self.graph.value(exponent)
        if n is None or n != int(n) or abs(n) > HIGHEST:
            return None
        return self._reduced(reduce(_times, [base if n > 0 else self._reciprocal(base)] * abs(int(n))))

    def _sine(self, a: Sum) -> Sum | None:
        return self._wave(SINE, a)

    def _cosine(self, a: Sum) -> Sum | None:
        return self._wave(COSINE, a)

    def _tangent(self, a: Sum) -> Sum | None:
        sine, cosine = self._sine(a), self._cosine(a)
        return None if sine is None or not cosine else _times(sine, self._reciprocal(cosine))

    _ways: ClassVar[dict[str, Callable[..., Sum | None]]] = {
        Op.ADD: lambda self, a, b: plus(a, b),
        Op.SUB: lambda self, a, b: plus(a, b, -1),
        Op.NEG: lambda self, a: scaled(a, -1),
        Op.MUL: _product,
        Op.DIV: _quotient,
        Op.SIN: _sine,
        Op.COS: _cosine,
        Op.TAN: _tangent,
    }

    def _lengths(self, a: Sum) -> Sum:
        """A sum of three lengths or more as one atom; masses or inertias are no atoms, as they may cancel."""
        ranks = set()
        for mono, _, phase in a:
            if phase or len(mono) != 1 or mono[0][1] != 1:
                return a
            ranks.add(self.atoms[mono[0][0]].rank)
        return a if len(a) < 3 or max(ranks) != 1 else self._lump(a)

    def _lump(self, a: Sum) -> Sum:
        self.keeps = True
        common, factor, rest = content(a)
        return {
            (product(common, mono), kind, phase): factor * x
            for (mono, kind, phase), x in self._of("sum", tuple(sorted(rest.items())), 1).items()
        }

    def _reciprocal(self, a: Sum) -> Sum:
        if not a:
            raise ZeroDivisionError
        if len(a) == 1:
            [((mono, kind, phase), x)] = a.items()
            if phase:
                mono = product(mono, ((self.atoms.wave(kind, phase), 1),))
            return {(_inverse(mono), COSINE, ()): ratio(1 / Fraction(x))}
        common, factor, rest = content(a)
        mono = product(common, ((self.atoms.number("sum", tuple(sorted(rest.items())), 4), 1),))
        return {(_inverse(mono), COSINE, ()): ratio(1 / Fraction(factor))}

    def _wave(self, kind: str, angle: Sum) -> Sum | None:
        """Sine or cosine of an angle that consists of symbols; quarter turns are taken out of the angle."""
        phase: dict[Monomial, Any] = {}
        quarters = 0
        for (mono, _, of), n in angle.items():
            if of or any(exponent < 0 or self.atoms[k].rank > 2 for k, exponent in mono):
                return None
            if len(mono) == 1 and self.atoms[mono[0][0]].kind == "pi" and mono[0][1] == 1 and 2 * n == int(2 * n):
                quarters += int(2 * n)
            else:
                phase[mono] = ratio(n)
        sign = 1
        for _ in range(quarters % 4):  # sin(θ + π/2) = cos θ, cos(θ + π/2) = −sin θ
            kind, sign = (COSINE, sign) if kind == SINE else (SINE, -sign)
        found, turned, other = wave(kind, tuple(sorted(phase.items())))
        return {((), found, turned): sign * other} if other else {}

    # ------------------------------------------------------------------------------------------- common factors

    def _reduced(self, a: Sum) -> Sum:
        return self._cancelled(_replaced_squares(a, self._squares) if self._squares else a)

    def _cancelled(self, a: Sum) -> Sum:
        """The sum with denominators cancelled if they divide their numerators without remainder."""
        by_denominator: dict[Monomial, Sum] = {}
        for (mono, kind, phase), x in a.items():
            below = tuple((k, n) for k, n in mono if n < 0 and self.atoms[k].kind in (SINE, COSINE, "sum"))
            by_denominator.setdefault(below, {})[product(mono, _inverse(below)), kind, phase] = x
        if not any(by_denominator):
            return a
        total: Sum = {}
        for below, numerator in by_denominator.items():
            left: Monomial = ()
            for k, n in below:
                by = self.value(k)
                while n < 0 and (quotient := _divided(numerator, by)) is not None:
                    numerator, n = quotient, n + 1
                left = product(left, ((k, n),) if n else ())
            for (mono, kind, phase), x in numerator.items():
                accumulate_term(total, (product(mono, left), kind, phase), x)
        return total

    def value(self, k: int) -> Sum:
        """The sum of an atom that is a wave or a sum."""
        kind, of, _ = self.atoms[k]
        return dict(of) if kind == "sum" else {((), kind, of): 1}


def _squares_of_first(graph: Graph, atoms: Atoms) -> dict[int, Sum]:
    """The square of e0 by e1, e2, e3, by the number of the atom e0, of each unit quaternion."""
    found: dict[int, Sum] = {}
    for group in graph.unit:
        first, *others = (atoms.number("symbol", i, 1) for i in group)
        squares: Sum = {(((k, 2),), COSINE, ()): -1 for k in others}
        found[first] = {CONSTANT: 1, **squares}
    return found


def _replaced_squares(a: Sum, squares: Mapping[int, Sum]) -> Sum:
    left, total = list(a.items()), dict[Term, Any]()
    while left:
        (mono, kind, phase), x = left.pop()
        k = next((k for k, n in mono if n > 1 and k in squares), None)
        if k is None:
            accumulate_term(total, (mono, kind, phase), x)
        else:
            rest = product(mono, ((k, -2),))
            left += [((product(rest, one), kind, phase), x * y) for (one, _, _), y in squares[k].items()]
    return total


def _divided(a: Sum, b: Sum) -> Sum | None:
    """The quotient of a by b; None if there is a remainder.

    With cos θ = (e^iθ + e^−iθ) / 2 both are polynomials in atoms and exponentials, also of negative powers.  They are
    divided by their leading terms, in the order of the exponents (D. Cox, J. Little, D. O'Shea, *Ideals, Varieties, and
    Algorithms*, 4th ed., Springer 2015, section 2.3).
    """
    multiples = [n for s in (a, b) for _, _, phase in s for _, n in phase]
    whole = math.lcm(*(n.denominator for n in multiples))  # the factor that makes all of them whole
    angles = sorted({angle for s in (a, b) for _, _, phase in s for angle, _ in phase})
    atoms = sorted({atom for s in (a, b) for mono, _, _ in s for atom, _ in mono})
    above, below = _exponentials(a, angles, atoms, whole), _exponentials(b, angles, atoms, whole)
    if not above:
        return {}
    if not _may_divide(above, below):
        return None
    quotient = _primitive_quotient(_primitive(above), _primitive(below))
    return None if quotient is None else _waves(quotient, angles, atoms, whole)


def _primitive_quotient(above: tuple[Exponentials, Factor], below: tuple[Exponentials, Factor]) -> Exponentials | None:
    """The quotient of two polynomials, each a primitive polynomial and its factor; None if there is a remainder.

    By Gauss's lemma the quotient of primitive polynomials in the Gaussian integers has Gaussian integers as
    coefficients: no fractions are needed, and the first other coefficient shows that there is a remainder.
    """
    (rest, (p, q)), (divisor, (u, v)) = above, below
    rest = dict(rest)
    lead, last = max(divisor), _less(min(rest), min(divisor))
    real, imaginary = divisor[lead]
    size = real * real + imaginary * imaginary
    others = [(exponents, x) for exponents, x in divisor.items() if exponents != lead]
    waiting = [tuple(-n for n in exponents) for exponents in rest]  # terms not yet divided, the largest first
    heapify(waiting)
    quotient: Exponentials = {}
    for _ in range(4 * len(rest) + 8):
        while waiting and (first := tuple(-n for n in waiting[0])) not in rest:
            heappop(waiting)
        if not waiting:
            norm = u * u + v * v
            scale = (p * u + q * v) / norm, (q * u - p * v) / norm
            return {exponents: _complex_product(x, scale) for exponents, x in quotient.items()}
        step = _less(first, lead)
        if step < last:
            return None
        x, y = _complex_product(rest.pop(first), (real, -imaginary))
        if x % size or y % size:
            return None
        quotient[step] = x // size, y // size
        for exponents, each in others:
            key = tuple(m + n for m, n in zip(step, exponents, strict=True))
            m, n = _complex_product(quotient[step], each)
            if key in rest:
                m, n = rest[key][0] - m, rest[key][1] - n
                if m or n:
                    rest[key] = m, n
                else:
                    del rest[key]
            else:
                rest[key] = -m, -n
                heappush(waiting, tuple(-e for e in key))
    return None


def _primitive(a: Exponentials) -> tuple[Exponentials, Factor]:
    """Coefficients in Gaussian integers without a common divisor, and the factor that gives the polynomial."""
    denominator = math.lcm(*(n.denominator for x in a.values() for n in x))
    whole = {key: (int(x * denominator), int(y * denominator)) for key, (x, y) in a.items()}
    common = (0, 0)
    for x in whole.values():
        common = _gaussian_divisor(common, x)
    u, v = common
    size = u * u + v * v
    divided = {key: (m // size, n // size) for key, x in whole.items() for m, n in [_complex_product(x, (u, -v))]}
    return divided, (Fraction(u, denominator), Fraction(v, denominator))


def _gaussian_divisor(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """The greatest common divisor of two Gaussian integers, by Euclid's algorithm; up to a unit."""
    while b != (0, 0):
        size = b[0] * b[0] + b[1] * b[1]
        x, y = _complex_product(a, (b[0], -b[1]))
        nearest = (2 * x + size) // (2 * size), (2 * y + size) // (2 * size)
        m, n = _complex_product(nearest, b)
        a, b = b, (a[0] - m, a[1] - n)
    return a


def _complex_product(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


PRIME, ROOT_OF_MINUS_ONE = 998244353, 86583718  # 119 · 2²³ + 1


def _may_divide(above: Exponentials, below: Exponentials) -> bool:
    """Test whether ``below`` may divide ``above``: modulo a prime, with numbers for all variables except one."""
    draw = random.Random(len(above))
    places = range(len(next(iter(above))))
    spread = [_spread(below, i) for i in places]
    kept = max(places, key=lambda i: spread[i], default=-1)
    if kept < 0 or not spread[kept]:
        return True
    at = [draw.randrange(2, PRIME) for _ in places]
    divided, by = (_modular(x, at, kept) for x in (above, below))
    if not by or not by[-1] or not by[0]:
        return True  # by chance
    inverse = pow(by[-1], -1, PRIME)
    for start in range(len(divided) - len(by), -1, -1):
        factor = divided[start + len(by) - 1] * inverse % PRIME
        if factor:
            for i, x in enumerate(by):
                divided[start + i] = (divided[start + i] - factor * x) % PRIME
    return not any(divided)


def _spread(a: Exponentials, i: int) -> int:
    exponents = [key[i] for key in a]
    return max(exponents) - min(exponents)


def _modular(a: Exponentials, at: list[int], kept: int) -> list[int]:
    """Coefficients by the powers of the kept atom, the lowest first."""
    lowest = min(key[kept] for key in a)
    found = [0] * (_spread(a, kept) + 1)
    for key, (real, imaginary) in a.items():
        value = _residue(real) + ROOT_OF_MINUS_ONE * _residue(imaginary)
        for i, n in enumerate(key):
            if i != kept and n:
                value = value * pow(at[i], n, PRIME) % PRIME
        found[key[kept] - lowest] = (found[key[kept] - lowest] + value) % PRIME
    return found


def _residue(x: Any) -> int:
    fraction = Fraction(x)
    return fraction.numerator * pow(fraction.denominator, -1, PRIME) % PRIME


def _less(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(m - n for m, n in zip(a, b, strict=True))


def _exponentials(a: Sum, angles: list[Monomial], atoms: list[int], whole: int) -> Exponentials:
    """Real and imaginary parts by the exponents of exponentials, then of atoms."""
    found: Exponentials = {}
    for (mono, kind, phase), x in a.items():
        of_angles, of_atoms = dict(phase), dict(mono)
        powers = tuple(of_atoms.get(k, 0) for k in atoms)
        for sign in (1, -1) if phase else (1,):
            key = tuple(int(sign * whole * of_angles.get(angle, 0)) for angle in angles) + powers
            real, imaginary = found.get(key, (0, 0))
            part = Fraction(x) / (2 if phase else 1)
            found[key] = (real + part, imaginary) if kind == COSINE else (real, imaginary - sign * part)
    return {key: value for key, value in found.items() if any(value)}


def _waves(a: Exponentials, angles: list[Monomial], atoms: list[int], whole: int) -> Sum:
    total: Sum = {}
    for key, (real, imaginary) in a.items():
        phase = tuple((angle, ratio(n, whole)) for angle, n in zip(angles, key, strict=False) if n)
        mono = tuple((k, int(n)) for k, n in zip(atoms, key[len(angles) :], strict=True) if n)
        if not phase:
            accumulate_term(total, (mono, COSINE, ()), ratio(real))
        elif phase[0][1] > 0:
            accumulate_term(total, (mono, COSINE, phase), ratio(2 * real))
            accumulate_term(total, (mono, SINE, phase), ratio(-2 * imaginary))
    return total
