# SPDX-License-Identifier: BSD-3-Clause
"""Short forms: expressions with the fewest operations found, as a book would print them.

A :data:`~.trigonometric_sums.Sum` is written in many forms, and the shortest is kept. Factors of all terms are taken
out.  The remaining terms are grouped by parameters, coordinates, speeds, waves or one factor; groups that are multiples
of each other become one product of two sums. Alternatively, waves are written in powers of sines and cosines, of sums
of angles or of each angle, with the squares of one wave replaced. Polynomials of a few terms are factored. The parts
are treated in the same way.  Operations are counted as `sympy.count_ops` counts them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import combinations
from typing import Any

import sympy as sm

from .trigonometric_sums import (
    CONSTANT,
    COSINE,
    SINE,
    Atoms,
    Monomial,
    Phase,
    Sum,
    accumulate_term,
    content,
    plus,
    product,
    ratio,
    scaled,
    wave,
)
from .written_forms import PARENTHESIS, Form, cost_of, number, power, summed, times

__all__ = ["Writer"]

Polynomial = dict[Monomial, int]

MULTIPLE = 1 / 512  # of an operation, the cost of a multiple angle: cos² θ is preferred to cos 2θ of equal length
HIGHEST = 6  # largest multiple of an angle that is written in powers of its sine and cosine
FEW = 8  # largest number of terms of sums that are also tried with the common divisor in each term
FACTORING = 25  # number of terms that cost as much effort as factoring a polynomial
TRIAL = 10**6  # least number put into polynomials: values share a factor by chance in fewer than 1/1000 of cases


class Writer:
    """Short forms of sums.

    Attributes
    ----------
    effort : int
        Number of terms of sums for which all forms are tried; later sums get one form.
    """

    def __init__(self, atoms: Atoms) -> None:
        self.atoms, self.effort = atoms, 0
        self._of_sums: dict[frozenset[Any], Form] = {}
        self._of_polynomials: dict[frozenset[Any], Form] = {}
        self._atoms: dict[int, Form] = {}

    def __call__(self, a: Sum) -> Form:
        key = frozenset(a.items())
        found = self._of_sums.get(key)
        if found is None:
            found = self._of_sums[key] = self._shortest(dict(sorted(a.items())), self._sum)
        return found

    def atom(self, k: int) -> Form:
        found = self._atoms.get(k)
        if found is None:
            kind, of, _ = self.atoms[k]
            parts, cost = tuple[Form, ...](), 0.0
            if kind in (SINE, COSINE, "tan"):
                parts, cost = (self.angle(of),), 1.0 + (MULTIPLE if any(abs(n) != 1 for _, n in of) else 0)
            elif kind == "sum":
                parts, cost = (self(dict(of)),), PARENTHESIS
            elif kind == "call":
                parts, cost = tuple(self(dict(argument)) for argument in of[1]), 1.0
            found = self._atoms[k] = Form("atom", cost + sum(part.cost for part in parts), atom=k, parts=parts)
        return found

    def angle(self, phase: Phase) -> Form:
        return summed(times(n, tuple(power(self.atom(k), e) for k, e in mono)) for mono, n in phase)

    def product(self, x: Any, mono: Monomial, others: Sequence[Form] = ()) -> Form:
        """The product x · mono · others, with tan in place of sin / cos."""
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
            kind, of, _ = self.atoms[k]
            below = self.atoms.known(COSINE, of) if kind == SINE and n > 0 else None
            if below is not None and exponents.get(below, 0) < 0:
                n = min(n, -exponents[below])
                exponents[k] -= n
                exponents[below] += n
                tangent = self.atoms.wave("tan", of)
                exponents[tangent] = exponents.get(tangent, 0) + n
        return tuple(sorted((k, n) for k, n in exponents.items() if n))

    # ------------------------------------------------------------------------------------------------- of sums

    def _shortest(self, a: Mapping[Any, Any], write: Callable[[Sum], Form]) -> Form:
        """Common factors of all terms times the rest; a number is also tried within the terms."""
        if not a:
            return number(0)
        mono, factor, rest = content(a)  # type: ignore[arg-type]
        if len(rest) == 1:
            [((one, kind, phase), x)] = rest.items()
            return self.product(factor * x, product(mono, self._with_wave(one, kind, phase)))
        form = self.product(factor, mono, [write(rest)])
        few = len(rest) <= FEW
        below = tuple((k, n) for k, n in mono if n < 0 and (few or self.atoms[k].kind in (SINE, COSINE)))
        if below:  # the numerators may cancel some of it
            inside = {(product(one, below), kind, phase): x for (one, kind, phase), x in rest.items()}
            above = tuple((k, n) for k, n in mono if (k, n) not in below)
            form = min(form, self.product(factor, above, [write(inside)]), key=cost_of)
        if factor.denominator != 1:
            sign = 1 if factor > 0 else -1
            form = min(form, self.product(sign, mono, [write(scaled(rest, abs(factor)))]), key=cost_of)
        elif factor != 1 and not mono:
            form = min(form, write(scaled(rest, int(factor))), key=cost_of)
        return form

    def _with_wave(self, mono: Monomial, kind: str, phase: Phase) -> Monomial:
        return product(mono, ((self.atoms.wave(kind, phase), 1),)) if phase else mono

    def _sum(self, a: Sum) -> Form:
        self.effort -= len(a)
        if self.effort < 0:
            return self._factored(next(self._polynomials(a)))
        several = 4 if len(a) <= 16 else 2 if len(a) <= 60 else 0
        forms = [self._factored(polynomial) for polynomial in self._polynomials(a)]
        forms += self._grouped(a, self._choices(a, several), self)
        return min(forms, key=cost_of)

    def _choices(self, a: Iterable[tuple[Monomial, str, Phase]], several: int) -> list[Set[int]]:
        """Choices of atoms to take out: those of one rank, all, or one that is in many terms."""
        uses: dict[int, int] = {}
        for mono, *_ in a:
            for k, _ in mono:
                uses[k] = uses.get(k, 0) + 1
        by_rank: dict[int, set[int]] = {}
        for k in uses:
            by_rank.setdefault(self.atoms[k].rank, set()).add(k)
        often = sorted((k for k in uses if uses[k] > 1), key=lambda k: (-uses[k], -self.atom(k).cost, k))[:several]
        choices: list[Set[int]] = [by_rank[rank] for rank in sorted(by_rank)]
        if len(by_rank) > 1:
            choices.append(uses.keys())
        choices += [{k} for k in often]
        choices += self._apart(a) if several else []
        return choices

    def _apart(self, a: Iterable[tuple[Monomial, str, Phase]]) -> list[set[int]]:
        """Parameters that never share a term, as the masses of several bodies."""
        together: dict[int, set[int]] = {}
        for mono, *_ in a:
            parameters = [k for k, _ in mono if self.atoms[k].rank == 0]
            for k in parameters:
                together.setdefault(k, set()).update(parameters)
        found: list[set[int]] = []
        ordered = sorted(together)
        for start in ordered:
            chosen = {start}
            for k in ordered:
                if chosen.isdisjoint(together[k]):
                    chosen.add(k)
            if 1 < len(chosen) < len(together) and chosen not in found:
                found.append(chosen)
                if len(found) == 2:
                    break
        return found

    def _grouped(self, a: Sum, choices: Iterable[Set[int]], write: Callable[[Sum], Form]) -> Iterator[Form]:
        """Σ outer · inner for each choice of the outer factors."""
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
            self.effort -= len(a)
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
        return {((self.atoms.wave(kind, phase), 1),): 1}

    def _of_multiple(self, kind: str, phase: Phase) -> Polynomial:
        """Waves of nφ in powers of cos φ and sin φ: (cos φ + i sin φ)ⁿ = cos nφ + i sin nφ."""
        n = _divisor(phase)
        once = tuple((angle, ratio(k, n)) for angle, k in phase)
        sine, cosine = self.atoms.wave(SINE, once), self.atoms.wave(COSINE, once)
        return {
            tuple(sorted((k, e) for k, e in ((sine, i), (cosine, n - i)) if e)): (-1) ** (i // 2) * math.comb(n, i)
            for i in range(int(kind == SINE), n + 1, 2)
        }

    def _of_angles(self, kind: str, parts: Iterable[Phase]) -> Polynomial:
        """Waves of sums of angles, by the addition theorems."""
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
        """The polynomial with 1 − kept² in place of gone²."""
        atoms, left = self.atoms, list(polynomial.items())
        found: Polynomial = {}
        while left:
            mono, x = left.pop()
            k = next((k for k, n in mono if n > 1 and atoms[k].kind == gone), None)
            if k is None:
                accumulate_term(found, mono, x)
            else:
                rest = product(mono, ((k, -2),))
                left += [(rest, x), (product(rest, ((self.atoms.wave(kept, atoms[k].content), 2),)), -x)]
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
        if len(a) == 2:
            forms += self._complement(a)
        if len(a) > 2:
            self.effort -= len(a)
            choices = self._choices(a, 4 if len(a) <= 12 else 2 if len(a) <= 40 else 1)
            if self.effort < 0:
                choices = choices[-1:]
            forms += self._grouped(
                a, choices, lambda terms: self._factored({mono: x for (mono, _, _), x in terms.items()})
            )
            if self.effort > 0:
                forms += [*self._products(a), *self._squares(a)]
        return min(forms, key=cost_of)

    def _complement(self, a: Sum) -> Iterator[Form]:
        """The square cos² θ of 1 − sin² θ, or sin² θ of 1 − cos² θ; none of other sums."""
        x = a.get(CONSTANT)
        for (mono, _, _), y in a.items():
            if len(mono) == 1 and mono[0][1] == 2 and x == -y:
                kind, of, _ = self.atoms[mono[0][0]]
                if kind in (SINE, COSINE):
                    yield self.product(x, ((self.atoms.wave(COSINE if kind == SINE else SINE, of), 2),))

    def _squares(self, a: Sum) -> Iterator[Form]:
        """Sums with squares collected: x (b ± c)² for terms x b², x c² and ± 2 x b c."""
        left = {mono: x for (mono, _, _), x in a.items()}
        roots = {tuple((k, n // 2) for k, n in mono): x for mono, x in left.items() if not any(n % 2 for _, n in mono)}
        squares: list[Form] = []
        for (b, x), (c, y) in combinations(roots.items(), 2):
            cross = product(b, c)
            z = left.get(cross)
            if x != y or z not in (2 * x, -2 * x) or left.get(product(b, b)) != x or left.get(product(c, c)) != y:
                continue
            for mono in (product(b, b), product(c, c), cross):
                del left[mono]
            inner = {b: 1, c: 1 if z == 2 * x else -1}
            squares.append(self.product(x, (), [power(self._factored(inner), 2)]))
        if squares:
            yield summed([*squares, self._factored(left)])

    def _products(self, a: Sum) -> Iterator[Form]:
        """The factors of a polynomial of a few terms, as SymPy finds them."""
        if len(a) > 14 or any(n < 0 or n > 6 for mono, _, _ in a for _, n in mono):
            return
        atoms = sorted({k for mono, _, _ in a for k, _ in mono})
        exponents = [tuple(dict(mono).get(k, 0) for k in atoms) for mono, _, _ in a]
        values = list(a.values())
        if len(atoms) > 8 or _irreducible(exponents, values):
            return
        self.effort -= FACTORING * len(a)
        number, factors = _factors(tuple(exponents), tuple(values))
        if len(factors) > 1 or factors[0][1] > 1:
            parts = []
            for terms, n in factors:
                found = {tuple((atoms[i], e) for i, e in enumerate(powers) if e): x for powers, x in terms}
                parts.append(power(self._factored(found), n))
            yield self.product(number, (), parts)


@lru_cache(maxsize=10_000)
def _factors(
    exponents: tuple[tuple[int, ...], ...], values: tuple[Any, ...]
) -> tuple[Any, list[tuple[list[tuple[tuple[int, ...], Any]], int]]]:
    """The number, the terms of each factor, and the powers of factors; kept, since kernels share many polynomials."""
    terms = {e: sm.Rational(x.numerator, x.denominator) for e, x in zip(exponents, values, strict=True)}
    number, factors = sm.Poly.from_dict(terms, *sm.symbols(f"x:{len(exponents[0])}")).factor_list()
    return ratio(int(number.p), int(number.q)), [
        ([(powers, ratio(int(x.p), int(x.q))) for powers, x in each.terms()], n) for each, n in factors
    ]


def _irreducible(exponents: Sequence[tuple[int, ...]], values: Sequence[Any]) -> bool:
    """Test by numbers in place of symbols whether a polynomial without common symbols surely has no factors.

    The factors of a polynomial a + b x are common factors of a and b, so numbers show them. Otherwise factors in x
    alone are looked for.
    """
    draw = random.Random(len(exponents))
    at = [draw.randrange(TRIAL, 10 * TRIAL) for _ in exponents[0]]
    degrees = [max(each) for each in zip(*exponents, strict=True)]
    lowest = min(degrees)
    scale = math.lcm(*(x.denominator for x in values))
    i = degrees.index(lowest)
    by_power = [0] * (lowest + 1)
    for e, x in zip(exponents, values, strict=True):
        rest = math.prod(v**n for j, (v, n) in enumerate(zip(at, e, strict=True)) if j != i)
        by_power[e[i]] += int(x * scale) * rest
    if math.gcd(*by_power) >= TRIAL // 1000:
        return False
    if lowest == 1:
        return True
    _, factors = sm.Poly.from_list(by_power[::-1], sm.Symbol("x")).factor_list()
    return len(factors) == 1 and int(factors[0][1]) == 1


def _divisor(phase: Phase) -> int:
    """The greatest common divisor of all multiples of angles; 1 if it is large, as in sin 100 t."""
    if any(n.denominator != 1 for _, n in phase):
        return 1
    found = math.gcd(*(n.numerator for _, n in phase))
    return found if found <= HIGHEST else 1


def _multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for m, x in a.items():
        for n, y in b.items():
            accumulate_term(found, product(m, n), x * y)
    return found


def _groups(a: Sum, outside: Set[int]) -> list[tuple[Sum, Sum]]:
    """Groups of a = Σ outer · inner; outer factors of proportional inner sums are added."""
    by_outer: dict[Monomial, Sum] = {}
    for (mono, kind, phase), x in a.items():
        outer = tuple([factor for factor in mono if factor[0] in outside])
        inner = tuple([factor for factor in mono if factor[0] not in outside]) if outer else mono
        by_outer.setdefault(outer, {})[inner, kind, phase] = x
    by_inner: dict[frozenset[Any], tuple[Sum, Sum]] = {}
    for mono, terms in by_outer.items():
        factor, terms = _in_coprime_numbers(terms)
        by_inner.setdefault(frozenset(terms.items()), ({}, terms))[0][mono, COSINE, ()] = factor
    return list(by_inner.values())


def _in_coprime_numbers(a: Sum) -> tuple[Any, Sum]:
    """The common number of all terms, and the remaining sum; the sign makes its least term positive."""
    if len(a) == 1:
        [(term, x)] = a.items()
        return x, {term: 1}
    divisor = math.gcd(*(x.numerator for x in a.values())) * (-1 if a[min(a)] < 0 else 1)
    denominator = math.lcm(*(x.denominator for x in a.values()))
    rest = {term: x.numerator * (denominator // x.denominator) // divisor for term, x in a.items()}
    return ratio(divisor, denominator), rest
