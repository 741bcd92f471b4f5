# SPDX-License-Identifier: BSD-3-Clause
"""Expressions with the fewest operations that are found: the form that a book prints.

Of the many ways to write a :data:`~.trigonometric_sums.Sum` the shortest is kept.  What all terms share is drawn out.
The rest is grouped by parameters, coordinates, speeds, waves or one factor, and groups that are multiples of each other
become one product of two sums; or its waves are written in powers of sines and cosines, of sums of angles or of each
angle, with the squares of one replaced; and polynomials of a few terms are factored.  The parts are written in the same
way.  Operations are counted as `sympy.count_ops` counts them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sm

from kanecore.errors import warn

from .evaluation import node_value, real
from .expression_graph import Given, Graph
from .random_samples import PRECISE, Sample
from .sympy_bridge import sympy_value, to_sympy
from .trigonometric_sums import (
    COSINE,
    SINE,
    Monomial,
    Phase,
    Sum,
    Sums,
    accumulate_term,
    content,
    plus,
    product,
    scaled,
    wave,
)

__all__ = ["printed", "short_forms"]

Polynomial = dict[Monomial, int]

EFFORT, LEAST = (
    6000,
    500,
)  # terms of sums that are written in all ways, of all expressions and of one; later ones in one way
MOST = 40  # terms of a sum that is tried with all sums multiplied out, where it grows thereby
NODES = 1000  # below all expressions; what is larger is read as it is, with intermediate variables
PARENTHESIS = 1 / 64  # of an operation: what decides between equal numbers of operations
STATES, SAME = 2, 1e-50  # at which a form is compared, and how far it may be off: rounding in 90 digits


class Form:
    """A way to write an expression.

    Attributes
    ----------
    kind : {"number", "atom", "power", "product", "sum"}
    factor : Fraction or int
        The number; of a product, the one before it; the exponent of a power.
    atom : int
    parts : tuple of Form
        Base, factors or terms.
    cost : float
        Operations, and a little for each parenthesis.
    """

    __slots__ = ("atom", "cost", "factor", "kind", "parts")

    def __init__(self, kind: str, cost: float, factor: Any = 1, atom: int = -1, parts: tuple[Form, ...] = ()) -> None:
        self.kind, self.cost, self.factor, self.atom, self.parts = kind, cost, factor, atom, parts

    @property
    def negative(self) -> bool:
        return self.kind in ("number", "product") and self.factor < 0


def number(x: Any) -> Form:
    return Form("number", (x < 0) + (Fraction(x).denominator != 1), x)


def power(base: Form, n: int) -> Form:
    if n == 1:
        return base
    return Form("power", base.cost + (abs(n) != 1) + (n < 0) + _enclosed(base), n, parts=(base,))


def times(x: Any, factors: tuple[Form, ...]) -> Form:
    if not factors:
        return number(x)
    x = Fraction(x)
    if x < 0:  # −(a − b) is b − a
        k = next(
            (k for k, f in enumerate(factors) if f.kind == "sum" and _negatives(f.parts) >= len(f.parts) / 2), None
        )
        if k is not None:
            x, factors = -x, (*factors[:k], summed(map(_opposite, factors[k].parts)), *factors[k + 1 :])
    if len(factors) == 1 and x == 1:
        return factors[0]
    if len(factors) == 1 and x == -1 and factors[0].kind == "sum":
        return summed(map(_opposite, factors[0].parts))
    cost, above, below = 0.0, abs(x.numerator) != 1, x.denominator != 1
    for f in factors:
        cost += f.cost + _enclosed(f)
        if f.kind == "power" and f.factor < 0:
            cost -= 1
            below += 1
        else:
            above += 1
    cost += max(above - 1, 0) + max(below - 1, 0) + (below > 0) + (x < 0)
    return Form("product", cost, x, parts=factors)


def summed(terms: Iterable[Form]) -> Form:
    flat: list[Form] = []
    for term in terms:
        if term.kind == "sum":
            flat += term.parts
        elif not (term.kind == "number" and not term.factor):
            flat.append(term)
    if not flat:
        return number(0)
    if len(flat) == 1:
        return flat[0]
    negative = _negatives(flat)  # a − b is one operation
    cost = sum(term.cost for term in flat) + len(flat) - 1 - negative + (negative == len(flat))
    return Form("sum", cost, parts=tuple(flat))


def _negatives(terms: Iterable[Form]) -> int:
    return sum(term.negative for term in terms)


def _opposite(form: Form) -> Form:
    if form.kind == "number":
        return number(-form.factor)
    return times(-form.factor, form.parts) if form.kind == "product" else times(-1, (form,))


def _enclosed(form: Form) -> float:
    return PARENTHESIS if form.kind == "sum" else 0.0


def _cost(form: Form) -> float:
    return form.cost


class Writer:
    """Short forms of sums."""

    def __init__(self, sums: Sums) -> None:
        self.sums, self.effort = sums, LEAST
        self._of_sums: dict[frozenset[Any], Form] = {}
        self._of_polynomials: dict[frozenset[Any], Form] = {}
        self._atoms: dict[int, Form] = {}

    def __call__(self, a: Sum) -> Form:
        key = frozenset(a.items())
        found = self._of_sums.get(key)
        if found is None:
            found = self._of_sums[key] = self._shortest(a, self._sum)
        return found

    def atom(self, k: int) -> Form:
        found = self._atoms.get(k)
        if found is None:
            kind, of, _ = self.sums.atoms[k]
            cost = 0.0
            if kind in (SINE, COSINE, "tan"):
                cost = 1 + self.angle(of).cost
            elif kind == "sum":
                cost = self(dict(of)).cost + PARENTHESIS
            elif kind == "call":
                cost = 1 + sum(self(dict(argument)).cost for argument in of[1])
            found = self._atoms[k] = Form("atom", cost, atom=k)
        return found

    def angle(self, phase: Phase) -> Form:
        return summed(times(n, tuple(power(self.atom(k), e) for k, e in mono)) for mono, n in phase)

    def product(self, x: Any, mono: Monomial, others: Sequence[Form] = ()) -> Form:
        """X · mono · others, as one product, with tan in place of sin / cos."""
        parts: list[Form] = []
        for other in others:
            if other.kind in ("number", "product"):
                x *= other.factor
            for part in other.parts if other.kind == "product" else () if other.kind == "number" else (other,):
                base = part.parts[0] if part.kind == "power" else part
                if base.kind == "atom":
                    mono = product(mono, ((base.atom, part.factor if part.kind == "power" else 1),))
                else:
                    parts.append(part)
        if any(n < 0 for _, n in mono):
            mono = self._with_tangents(mono)
        return times(x, (*(power(self.atom(k), n) for k, n in mono), *parts))

    def _with_tangents(self, mono: Monomial) -> Monomial:
        exponents = dict(mono)
        for k, n in mono:
            kind, of, _ = self.sums.atoms[k]
            below = self.sums.known(COSINE, of) if kind == SINE and n > 0 else None
            if below is not None and exponents.get(below, 0) < 0:
                n = min(n, -exponents[below])
                exponents[k] -= n
                exponents[below] += n
                exponents[self.sums.wave_atom("tan", of)] = n
        return tuple(sorted((k, n) for k, n in exponents.items() if n))

    # ------------------------------------------------------------------------------------------------- of sums

    def _shortest(self, a: Mapping[Any, Any], write: Callable[[Sum], Form]) -> Form:
        """Whatever all terms share before the rest; a number also within."""
        if not a:
            return number(0)
        mono, factor, rest = content(a)  # type: ignore[arg-type]
        if len(rest) == 1:
            [((one, kind, phase), x)] = rest.items()
            return self.product(factor * x, product(mono, self._with_wave(one, kind, phase)))
        form = self.product(factor, mono, [write(rest)])
        below = tuple((k, n) for k, n in mono if n < 0 and self.sums.atoms[k].kind in (SINE, COSINE))
        if below:  # the numerators may cancel some of it
            inside = {(product(one, below), kind, phase): x for (one, kind, phase), x in rest.items()}
            above = tuple((k, n) for k, n in mono if (k, n) not in below)
            form = min(form, self.product(factor, above, [write(inside)]), key=_cost)
        if factor.denominator != 1:
            sign = 1 if factor > 0 else -1
            form = min(form, self.product(sign, mono, [write(scaled(rest, abs(factor)))]), key=_cost)
        elif factor != 1 and not mono:
            form = min(form, write(scaled(rest, int(factor))), key=_cost)
        return form

    def _with_wave(self, mono: Monomial, kind: str, phase: Phase) -> Monomial:
        return product(mono, ((self.sums.wave_atom(kind, phase), 1),)) if phase else mono

    def _sum(self, a: Sum) -> Form:
        self.effort -= len(a)
        if self.effort < 0:
            return self._factored(next(self._polynomials(a)))
        several = 4 if len(a) <= 16 else 2 if len(a) <= 60 else 0
        forms = [self._factored(polynomial) for polynomial in self._polynomials(a)]
        forms += self._grouped(a, self._choices(a, several), self)
        return min(forms, key=_cost)

    def _choices(self, a: Iterable[tuple[Monomial, str, Phase]], several: int) -> list[Callable[[int], bool]]:
        """Which atoms stand outside: those of one rank, all, or one that is in many terms."""
        atoms = self.sums.atoms
        uses: dict[int, int] = {}
        for mono, *_ in a:
            for k, _ in mono:
                uses[k] = uses.get(k, 0) + 1
        ranks = sorted({atoms[k].rank for k in uses})
        often = sorted((k for k in uses if uses[k] > 1), key=lambda k: (-uses[k], -self.atom(k).cost, k))[:several]
        choices: list[Callable[[int], bool]] = [lambda k, rank=rank: atoms[k].rank == rank for rank in ranks]  # type: ignore[misc]
        if len(ranks) > 1:
            choices.append(lambda k: True)
        choices += [lambda k, one=one: k == one for one in often]  # type: ignore[misc]
        return choices

    def _grouped(
        self, a: Sum, choices: Iterable[Callable[[int], bool]], write: Callable[[Sum], Form]
    ) -> Iterator[Form]:
        """Σ outer · inner for each choice of what is outer."""
        seen = set()
        for outside in choices:
            groups = _groups(a, outside)
            if len(groups) >= len(a) or any(max(len(outer), len(inner)) >= len(a) for outer, inner in groups):
                continue
            key = frozenset((frozenset(outer.items()), frozenset(inner.items())) for outer, inner in groups)
            if key not in seen:
                seen.add(key)
                yield summed(self.product(1, (), [write(outer), write(inner)]) for outer, inner in groups)

    # ---------------------------------------------------------------------------------- powers of sines and cosines

    def _polynomials(self, a: Sum) -> Iterator[Polynomial]:
        seen = set()
        for way in self._ways({phase for _, _, phase in a if phase}):
            polynomial: Polynomial = {}
            for (mono, kind, phase), x in a.items():
                for factor, y in way(kind, phase).items() if phase else (((), 1),):
                    accumulate_term(polynomial, product(mono, factor), x * y)
            kept = [polynomial]
            if way != self._as_it_is:
                kept += [self._replaced(polynomial, SINE, COSINE), self._replaced(polynomial, COSINE, SINE)]
            for each in kept:
                key = frozenset(each.items())
                if key not in seen:
                    seen.add(key)
                    yield each

    def _ways(self, phases: set[Phase]) -> Iterator[Callable[[str, Phase], Polynomial]]:
        yield self._as_it_is
        if any(_divisor(phase) != 1 for phase in phases):
            yield self._of_multiple
        if any(len(phase) > 1 for phase in phases) and len(phases) <= 24:
            yield lambda kind, phase: self._of_angles(kind, [((angle, n),) for angle, n in phase])
            angles = sorted({angle for phase in phases for angle, _ in phase})
            for one in angles if len(angles) > 2 and len(phases) <= 12 else ():
                yield lambda kind, phase, one=one: self._of_angles(  # type: ignore[misc]
                    kind,
                    [
                        tuple((angle, n) for angle, n in phase if angle == one),
                        tuple((angle, n) for angle, n in phase if angle != one),
                    ],
                )

    def _as_it_is(self, kind: str, phase: Phase) -> Polynomial:
        return {((self.sums.wave_atom(kind, phase), 1),): 1}

    def _of_multiple(self, kind: str, phase: Phase) -> Polynomial:
        """(cos φ + i sin φ)ⁿ = cos nφ + i sin nφ."""
        n = _divisor(phase)
        once = tuple((angle, k / n) for angle, k in phase)
        sine, cosine = self.sums.wave_atom(SINE, once), self.sums.wave_atom(COSINE, once)
        return {
            tuple(sorted((k, e) for k, e in ((sine, i), (cosine, n - i)) if e)): (-1) ** (i // 2) * math.comb(n, i)
            for i in range(int(kind == SINE), n + 1, 2)
        }

    def _of_angles(self, kind: str, parts: Iterable[Phase]) -> Polynomial:
        """By the theorems of addition."""
        sine: Polynomial = {}
        cosine: Polynomial = {(): 1}
        for part in filter(None, parts):
            _, positive, sign = wave(SINE, part)
            s, c = scaled(self._of_multiple(SINE, positive), sign), self._of_multiple(COSINE, positive)
            sine, cosine = (
                plus(_multiplied(sine, c), _multiplied(cosine, s)),
                plus(_multiplied(cosine, c), _multiplied(sine, s), -1),
            )
        return sine if kind == SINE else cosine

    def _replaced(self, polynomial: Polynomial, gone: str, kept: str) -> Polynomial:
        """With 1 − kept² in place of the square of what is gone."""
        atoms, left = self.sums.atoms, list(polynomial.items())
        found: Polynomial = {}
        while left:
            mono, x = left.pop()
            k = next((k for k, n in mono if n > 1 and atoms[k].kind == gone), None)
            if k is None:
                accumulate_term(found, mono, x)
            else:
                rest = product(mono, ((k, -2),))
                left += [(rest, x), (product(rest, ((self.sums.wave_atom(kept, atoms[k].of), 2),)), -x)]
        return found

    # ------------------------------------------------------------------------------------- factors of polynomials

    def _factored(self, polynomial: Mapping[Monomial, Any]) -> Form:
        key = frozenset(polynomial.items())
        found = self._of_polynomials.get(key)
        if found is None:
            terms = {(mono, COSINE, ()): x for mono, x in polynomial.items()}
            found = self._of_polynomials[key] = self._shortest(terms, self._polynomial)
        return found

    def _polynomial(self, a: Sum) -> Form:
        forms = [summed(self.product(x, mono) for (mono, _, _), x in a.items())]
        if len(a) > 2:
            self.effort -= len(a)
            choices = self._choices(a, 4 if len(a) <= 12 else 2 if len(a) <= 40 else 1)
            if self.effort < 0:
                choices = choices[-1:]
            forms += self._grouped(
                a, choices, lambda terms: self._factored({mono: x for (mono, _, _), x in terms.items()})
            )
            forms += self._products(a)
        return min(forms, key=_cost)

    def _products(self, a: Sum) -> Iterator[Form]:
        """The factors of a polynomial of a few terms, as SymPy finds them."""
        if len(a) > 14 or any(n < 0 or n > 6 for mono, _, _ in a for _, n in mono):
            return
        atoms = sorted({k for mono, _, _ in a for k, _ in mono})
        if len(atoms) > 6:
            return
        exponents = [tuple(dict(mono).get(k, 0) for k in atoms) for mono, _, _ in a]
        for of_atom in zip(*exponents, strict=True):
            # a + b x has no factors where a or b is one term, as they share none
            if max(of_atom) == 1 and 1 in (of_atom.count(0), of_atom.count(1)):
                return
        terms = {e: sm.Rational(x) for e, x in zip(exponents, map(Fraction, a.values()), strict=True)}
        factor, factors = sm.Poly.from_dict(terms, *sm.symbols(f"x:{len(atoms)}")).factor_list()
        if len(factors) > 1 or factors[0][1] > 1:
            parts = []
            for each, n in factors:
                found = {
                    tuple((atoms[i], e) for i, e in enumerate(powers) if e): Fraction(int(x.p), int(x.q))
                    for powers, x in each.terms()
                }
                parts.append(power(self._factored(found), n))
            yield self.product(Fraction(int(factor.p), int(factor.q)), (), parts)

    # ---------------------------------------------------------------------------------------------- what is written

    def sympy(self, form: Form, symbols: Mapping[Any, Any]) -> Any:
        """As SymPy's expression; a sum stays together where SymPy would multiply it by a number."""
        if form.kind == "number":
            return sm.Rational(form.factor)
        if form.kind == "atom":
            return self._sympy_of_atom(form.atom, symbols)
        parts = [self.sympy(part, symbols) for part in form.parts]
        if form.kind == "power":
            return parts[0] ** form.factor
        if form.kind == "sum":
            return sm.Add(*parts)
        factor = sm.Rational(form.factor)
        return sm.Mul(factor, *parts, evaluate=not (len(parts) == 1 and parts[0].is_Add))

    def _sympy_of_atom(self, k: int, symbols: Mapping[Any, Any]) -> Any:
        kind, of, _ = self.sums.atoms[k]
        if kind == "symbol":
            return symbols[self.sums.graph.nodes[of][1]]
        if kind == "number":
            return sm.Float(of)
        if kind == "pi":
            return sm.pi
        if kind == "sum":
            return self.sympy(self(dict(of)), symbols)
        if kind == "call":
            arguments = {i: self.sympy(self(dict(argument)), symbols) for i, argument in enumerate(of[1])}
            return sympy_value((of[0], *arguments), arguments, symbols)
        return getattr(sm, kind)(self.sympy(self.angle(of), symbols))

    def value(self, form: Form, at: Sample) -> Any:
        """The number at a state."""
        if form.kind == "number":
            return real(PRECISE, Fraction(form.factor))
        if form.kind == "atom":
            return self._value_of_atom(form.atom, at)
        values = [self.value(part, at) for part in form.parts]
        if form.kind == "power":
            return values[0] ** form.factor
        if form.kind == "sum":
            return sum(values)
        return reduce(operator.mul, values, real(PRECISE, form.factor))

    def _value_of_atom(self, k: int, at: Sample) -> Any:
        kind, of, _ = self.sums.atoms[k]
        if kind == "symbol":
            return at(of)
        if kind == "number":
            return real(PRECISE, of)
        if kind == "pi":
            return +PRECISE.pi
        if kind == "sum":
            return self.value(self(dict(of)), at)
        if kind != "call":
            return getattr(PRECISE, kind)(self.value(self.angle(of), at))
        op, arguments = of[0], [self.value(self(dict(argument)), at) for argument in of[1]]
        if isinstance(op, Given):
            return at.stand_in(op, arguments)
        return node_value((op, *range(len(arguments))), dict(enumerate(arguments)), PRECISE)


def printed(graph: Graph, roots: Sequence[int], symbols: Mapping[Any, Any]) -> list[Any]:
    """SymPy's expressions of the roots: their short forms, or as they are computed where these are too long."""
    _, computed = to_sympy(graph, roots, symbols, nested=True)
    return [e if s is None else s for s, e in zip(short_forms(graph, roots, symbols), computed, strict=True)]


def short_forms(graph: Graph, roots: Sequence[int], symbols: Mapping[Any, Any]) -> list[Any | None]:
    """SymPy's expressions of the roots in their short forms; None for what is too long for that.

    Each is compared with its root at random states, in 90 digits, before it is shown.

    Parameters
    ----------
    symbols : mapping
        As :func:`~.sympy_bridge.to_sympy` takes.

    Warns
    -----
    KanecoreWarning
        A short form that has another value than its root, which is an error of this module; it is None then.
    """
    if len(graph.below(roots)) > NODES:
        return [None] * len(roots)
    writers = [Writer(Sums(graph, whole)) for whole in (True, False)]
    states = [Sample(graph, seed, ctx=PRECISE) for seed in range(STATES)]
    effort = max(LEAST, EFFORT // max(1, len(set(roots))))
    return [_short_form(root, writers, effort, symbols, states) for root in roots]


def _short_form(
    root: int, writers: Sequence[Writer], effort: int, symbols: Mapping[Any, Any], states: Sequence[Sample]
) -> Any | None:
    found: list[tuple[Form, Writer]] = []
    most = MOST
    for writer in writers:
        terms = writer.sums(root)
        if terms is not None and (not found or len(terms) <= most):
            writer.effort = effort
            found.append((writer(terms), writer))
            most = min(most, len(terms) + len(terms) // 2 + 4)
    if not found:
        return None
    form, writer = min(found, key=lambda each: each[0].cost)
    if all(_agree(writer.value(form, at), at(root)) for at in states):
        return writer.sympy(form, symbols)
    warn("a short form of an expression differs from it and is not shown; please report this")
    return None


def _agree(a: Any, b: Any) -> bool:
    return not PRECISE.isfinite(b) or abs(a - b) <= SAME * (1 + abs(b))


def _divisor(phase: Phase) -> int:
    """The greatest whole number that all multiples of angles hold."""
    if any(n.denominator != 1 for _, n in phase):
        return 1
    return math.gcd(*(n.numerator for _, n in phase))


def _multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for m, x in a.items():
        for n, y in b.items():
            accumulate_term(found, product(m, n), x * y)
    return found


def _groups(a: Sum, outside: Callable[[int], bool]) -> list[tuple[Sum, Sum]]:
    """A = Σ outer · inner; where the inner sums of several are multiples of one, the outer is a sum."""
    by_outer: dict[Monomial, Sum] = {}
    for (mono, kind, phase), x in a.items():
        outer = tuple(factor for factor in mono if outside(factor[0]))
        inner = tuple(factor for factor in mono if not outside(factor[0])) if outer else mono
        by_outer.setdefault(outer, {})[inner, kind, phase] = x
    by_inner: dict[frozenset[Any], tuple[Sum, Sum]] = {}
    for mono, terms in by_outer.items():
        values = terms.values()
        divisor = math.gcd(*(x.numerator for x in values)) * (-1 if terms[min(terms)] < 0 else 1)
        denominator = math.lcm(*(x.denominator for x in values))
        terms = {term: x.numerator * (denominator // x.denominator) // divisor for term, x in terms.items()}
        factor = divisor if denominator == 1 else Fraction(divisor, denominator)
        by_inner.setdefault(frozenset(terms.items()), ({}, terms))[0][mono, COSINE, ()] = factor
    return list(by_inner.values())
