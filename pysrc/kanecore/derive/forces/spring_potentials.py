# SPDX-License-Identifier: BSD-3-Clause
"""Potential energies of springs and fields: of loads whose magnitude depends on one length or angle.

The power of a load, Σ_r F_r u_r, is a sum of components of forces times components of velocities.  Terms with a common
factor f(s), where s is a function of the coordinates, have the power f(s) Σ d_i w_i.  If this is f(s) ṡ, their
potential energy is

    U = −∫ f(s) ds.

Lengths, coordinates and other parts of the factor are tried for s.  Loads with generalized forces in several
coordinates are integrated over one coordinate after the other.  A candidate U counts only if dU/dt is the opposite of
the power at random states.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import Load
from kanecore.graph.antiderivatives import Powers, antiderivative, factors, product, summands
from kanecore.graph.calculus import accumulate
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, SPEED, Graph, Op
from kanecore.graph.random_samples import Sample
from kanecore.graph.zero_tests import deciding, equal, same_sum, vanish

from .generalized_forces import Wrenches, generalized_forces

__all__ = ["Springs", "is_gradient"]

STEADY = PARAMETER | COORDINATE  # a magnitude may depend on these, but not on time, inputs or speeds
POWERS_OF_S = (0, 1, -1, 2, -2)  # Σ d_i w_i may be ṡ times such a power of s
LARGEST_DENOMINATOR = 12  # largest denominator of the factor, apart from powers of two and ten: r·v is ½ d(r²)/dt
CANDIDATES_MAX = 200  # largest number of nodes that are tried for s
FACTORS_MAX = 4  # largest number of factors of a magnitude; each may belong to the direction
SIGNS_MAX = 3  # largest number of different |x| in a comparison, each tried with both signs
SAME = 1e-9  # relative difference of equal ratios at random states


@dataclass(frozen=True)
class _Term:
    """A summand of a component of a load.

    Attributes
    ----------
    place : (int, int, int)
        Indices of the load, of the part of its vector, and of the component.
    number : int
        The load's place in the user's list.
    sign, node : int
    rate : int
        The component of the velocity along the component of the load, minus its value at u = 0.
    """

    place: tuple[int, int, int]
    number: int
    sign: int
    node: int
    rate: int


Ways = dict[int, tuple[set[int], set[int]]]


class Springs:
    """Potential energy of springs and fields among some loads, found on a copy of the graph.

    Attributes
    ----------
    potential : node
    left : dict
        Remainder of each load that the potential covers at least in part, by its place in the description; None if
        nothing remains.
    """

    def __init__(self, k: Kinematics, loads: Iterable[int]) -> None:
        self.potential, self.left = 0, dict[int, Load | None]()
        scratch = k.graph.clone()
        numbers = [i for i in loads if _may_hold(scratch, k.description.loads[i])]
        if not numbers:
            return
        target = k.graph
        self._kinematics = copy.deepcopy(k)
        self._graph = g = self._kinematics.graph
        self._idle: set[tuple[int, int, int]] = set()  # components of loads that do no work
        self._at_rest = dict.fromkeys(k.description.speeds, 0)
        self._sigma = g.symbol(("σ", "spring"), PARAMETER)  # replaces s, so that coordinates vanish
        drawn = [random.Random(seed) for seed in range(3)]
        at = [{u: draw.uniform(-1.0, 1.0) for u in k.description.speeds} for draw in drawn]
        self._speeds = [Sample(g, values=speeds) for speeds in at]  # of one place
        whole = self._found([x for i in numbers for x in self._terms(i, lambda node: [(1, node)])], self._by_scalar)
        places = {term.place for term in whole}
        single = [x for i in numbers for x in self._terms(i, lambda node: summands(g, node)) if x.place not in places]
        part = self._found(single, self._by_scalar)
        part += self._found([x for x in single if x not in part], self._by_coordinates)
        [self.potential] = target.copy(g, [self.potential], {})
        for i in {term.place[0] for term in (*whole, *part)}:
            self.left[i] = self._without(i, places, part, target)
        taken = {k.description.loads[i].number for i in self.left}
        working = {term.place[0] for term in (*whole, *single)}
        for i in numbers:  # the fixed other end of a spring
            if i not in working and k.description.loads[i].number in taken:
                self.left[i] = self._without(i, places, part, target)

    # ------------------------------------------------------------------- terms
    def _terms(self, i: int, split: Callable[[int], list[tuple[int, int]]]) -> Iterator[_Term]:
        """Terms of a load that do work and depend only on coordinates and parameters."""
        k = self._kinematics
        load = k.description.loads[i]
        on_point = load.kind == "force"
        velocity, home = (k.velocity[load.at], k.home[load.at]) if on_point else (k.omega[load.at], load.at)
        for part, (frame, components) in enumerate(load.vector):
            rates = self._moving(k.resolve(velocity, home, frame))
            for axis, (node, rate) in enumerate(zip(components, rates, strict=True)):
                steady = _steady_and_rest(self._graph, node)[0]
                if not rate:
                    self._idle.add((i, part, axis))
                elif steady:
                    for sign, each in split(steady):
                        yield _Term((i, part, axis), load.number, sign, each, rate)

    def _moving(self, nodes: Sequence[int]) -> list[int]:
        """Nodes minus their values at u = 0."""
        g = self._graph
        return [g.sub(x, y) for x, y in zip(nodes, g.substitute(nodes, self._at_rest), strict=True)]

    def _found(self, terms: list[_Term], search: Callable[[list[_Term]], list[_Term]]) -> list[_Term]:
        """Terms with an added potential energy: of one load, of one item in the user's list, or of all loads."""
        found: list[_Term] = []
        for key in (lambda x: x.place[0], lambda x: x.number, lambda x: 0):
            groups = {key(x): [y for y in terms if key(y) == key(x)] for x in terms}
            for group in groups.values():
                found += search([x for x in group if x not in found])
        return found

    # -------------------------------------------------------------- one scalar
    def _by_scalar(self, terms: list[_Term]) -> list[_Term]:
        found: list[_Term] = []
        ways = {term: self._ways(term.node) for term in terms}
        for s in self._candidates(terms, ways):
            by_factor: dict[int, dict[_Term, Powers]] = {}
            of_s = [term for term in terms if term not in found and _is_of(self._graph, ways[term], s)]
            for term in of_s if of_s and self._goes_with(of_s, s) else []:
                if (parts := self._factored(term.node, s)) is not None:
                    by_factor.setdefault(parts[0], {})[term] = parts[1]
            for factor, members in by_factor.items():
                if self._add(self._integrated(factor, members, s), members):
                    found += members
        return found

    def _ways(self, node: int) -> Ways:
        """Nodes below each moving factor, and the subset on all paths from the factor to coordinates."""
        g = self._graph
        moving = [i for i in factors(g, node) if g.depends[i] & COORDINATE]
        return {i: (set(g.below([i])), set(_necks(g, i))) for i in moving}

    def _candidates(self, terms: Iterable[_Term], ways: Mapping[_Term, Ways]) -> list[int]:
        """Candidates for s: lengths in some terms, then nodes with all coordinates of a factor, outer ones first."""
        g = self._graph
        nodes = [i for i in reversed(g.below([term.node for term in terms])) if g.depends[i] & COORDINATE]
        bases = {g.nodes[i][1] for i in nodes if g.nodes[i][0] is Op.POW}
        lengths = [i for i in nodes if g.nodes[i][0] in (Op.SQRT, Op.ABS) or i in bases]
        necks = {s for term in terms for _, each in ways[term].values() for s in each}
        return list(dict.fromkeys([*lengths, *sorted(necks, reverse=True)]))[:CANDIDATES_MAX]

    def _goes_with(self, terms: Iterable[_Term], s: int) -> bool:
        """Test quickly whether the power of some terms is proportional to ṡ, at several speeds of one place."""
        [rate] = self._moving([self._kinematics.rate.of(s)])
        pairs = []
        for state in self._speeds:
            power = sum(term.sign * state(term.node) * state(term.rate) for term in terms)
            pairs.append((power, state(rate)))
        (a, b), *others = pairs
        size = max(abs(x) for pair in pairs for x in pair[1:]) * max(abs(pair[0]) for pair in pairs)
        return not any(abs(a * d - b * c) > SAME * size for c, d in others)  # NaN decides nothing

    def _factored(self, node: int, s: int) -> tuple[int, Powers] | None:
        """Factors of a term with σ in place of s, and factors without σ; None if the term is no such product."""
        g = self._graph
        [image] = g.substitute([node], {s: self._sigma})
        of_s, others = {}, {}
        for i, power in factors(g, image).items():
            if self._sigma not in g.below([i]):
                others[i] = power
            elif g.depends[i] & COORDINATE:
                return None
            else:
                of_s[i] = power
        return (product(g, of_s), others) if of_s else None

    def _integrated(self, factor: int, members: Mapping[_Term, Powers], s: int) -> int | None:
        """U = −∫ f(s) ds of terms with a common factor f(s), if their d_i w_i add up to ṡ times a power of s."""
        g, all_powers = self._graph, list(members.values())
        common = {
            i: power
            for i, power in all_powers[0].items()
            if not g.depends[i] & COORDINATE and all(each.get(i) == power for each in all_powers)
        }
        along = 0
        for term, powers in members.items():
            direction = product(g, {i: power for i, power in powers.items() if i not in common})
            along = g.add(along, g.mul(g.constant(term.sign), g.mul(direction, term.rate)))
        [rate] = self._moving([self._kinematics.rate.of(s)])
        ratio = _ratio(g, along, rate, s, common)
        if ratio is None:
            return None
        number, exponent, lengths = ratio
        remaining = {i: power - lengths.get(i, 0) for i, power in common.items()}
        magnitude = g.mul(g.mul(g.constant(number), factor), product(g, remaining))
        whole = antiderivative(g, g.mul(magnitude, g.power(self._sigma, exponent)), self._sigma)
        return None if whole is None else g.substitute([g.neg(whole)], {self._sigma: s})[0]

    # ------------------------------------------------------- several coordinates
    def _by_coordinates(self, terms: list[_Term]) -> list[_Term]:
        """U with Q_k = −∂U/∂q_k, if q̇ = u: the remaining part of each Q_k is integrated over q_k."""
        d, g = self._kinematics.description, self._graph
        if d.rates != d.speeds or not any(g.depends[term.node] & COORDINATE for term in terms):
            return []
        forces = accumulate(g, [(x.rate, g.mul(g.constant(x.sign), x.node)) for x in terms], d.speeds, SPEED)
        energy = 0
        for coordinate, force in zip(d.coordinates, forces, strict=True):
            slope = accumulate(g, [(energy, g.one)], [coordinate])[0] if energy else 0
            rest = g.add(force, slope)
            if rest and not vanish(g, [rest]):
                whole = antiderivative(g, rest, coordinate)
                if whole is None:
                    return []
                energy = g.sub(energy, whole)
        return terms if self._add(energy or None, terms) else []

    # --------------------------------------------------------------------- accepted
    def _add(self, energy: int | None, terms: Iterable[_Term]) -> bool:
        """Add an energy U if the power of some terms is −dU/dt, both without their values at u = 0."""
        if energy is None:
            return False
        g = self._graph
        powers = [g.mul(g.constant(-term.sign), g.mul(term.node, term.rate)) for term in terms]
        compared = [*self._moving([self._kinematics.rate.of(energy)]), *powers]
        regions = _by_signs(g, compared)
        good = bool(regions) and all(same_sum(g, each[:1], each[1:]) for each in regions)
        if good:
            self.potential = g.add(self.potential, energy)
        return good

    def _without(self, i: int, whole: set[tuple[int, int, int]], part: list[_Term], target: Graph) -> Load | None:
        """Load without the terms that have a potential energy; None if no terms remain."""
        g, load, vector = self._graph, self._kinematics.description.loads[i], []
        taken = {(x.place, x.sign, x.node) for x in part}
        for n, (frame, components) in enumerate(load.vector):
            left = []
            for axis, node in enumerate(components):
                steady, rest = _steady_and_rest(g, node)
                for sign, each in [] if (i, n, axis) in whole else summands(g, steady):
                    if ((i, n, axis), sign, each) not in taken:
                        rest = g.add(rest, each) if sign > 0 else g.sub(rest, each)
                left.append(0 if (i, n, axis) in self._idle else rest)
            x, y, z = target.copy(g, left, {})
            if any((x, y, z)):
                vector.append((frame, (x, y, z)))
        return replace(load, vector=tuple(vector)) if vector else None


def _may_hold(g: Graph, load: Load) -> bool:
    """Test whether a part of a component depends only on coordinates and parameters."""
    return any(_steady_and_rest(g, x)[0] for _, v in load.vector for x in v if g.depends[x] & COORDINATE)


def is_gradient(k: Kinematics, loads: Sequence[Load]) -> bool:
    """Test whether the F_r of loads, in speeds that are q̇, are a gradient: ∂F_i/∂q_j = ∂F_j/∂q_i."""
    d = k.description
    if d.rates != d.speeds or any(k.graph.depends[x] & ~STEADY for load in loads for _, v in load.vector for x in v):
        return False
    own = copy.deepcopy(k)
    g, n = own.graph, len(d.speeds)
    forces = generalized_forces(Wrenches(own, loads))
    slopes = [accumulate(g, [(force, g.one)], d.coordinates) if force else [0] * n for force in forces]
    pairs = [(slopes[i][j], slopes[j][i]) for i in range(n) for j in range(i)]
    return any(forces) and equal(g, pairs, [x for row in slopes for x in row], otherwise=False)


def _steady_and_rest(g: Graph, node: int) -> tuple[int, int]:
    """Summands of a node that depend only on coordinates and parameters, and other summands, multiplied out."""
    parts: dict[int, tuple[int, int]] = {}
    if not g.depends[node] & ~STEADY:
        return node, 0
    for i in g.below([node]):
        op, *args = g.nodes[i]
        if not g.depends[i] & ~STEADY:
            parts[i] = (i, 0)
        elif op is Op.NEG:
            steady, rest = parts[args[0]]
            parts[i] = (g.neg(steady), g.neg(rest))
        elif op is Op.ADD or op is Op.SUB:
            join = g.add if op is Op.ADD else g.sub
            (a, x), (b, y) = parts[args[0]], parts[args[1]]
            parts[i] = (join(a, b), join(x, y))
        elif op in (Op.MUL, Op.DIV) and not g.depends[args[1]] & ~STEADY:
            by = g.mul if op is Op.MUL else g.div
            steady, rest = parts[args[0]]
            parts[i] = (by(steady, args[1]), by(rest, args[1]))
        elif op is Op.MUL and not g.depends[args[0]] & ~STEADY:
            steady, rest = parts[args[1]]
            parts[i] = (g.mul(args[0], steady), g.mul(args[0], rest))
        else:
            parts[i] = (0, i)
    return parts[node]


def _is_of(g: Graph, ways: Ways, s: int) -> bool:
    """Test whether a product consists of functions of s and of factors without s."""
    root = g.nodes[s][1] if g.nodes[s][0] is Op.SQRT else s
    related = [i == root or s in necks for i, (below, necks) in ways.items() if i == root or s in below]
    return bool(related) and all(related)


def _necks(g: Graph, root: int) -> list[int]:
    """Nodes on all paths from a node to the coordinates below; the node is a function of any of them."""
    nodes = [i for i in g.below([root]) if g.depends[i] & COORDINATE]
    down, up = dict[int, int](), dict.fromkeys(nodes, 0)  # numbers of paths to coordinates, and from the root
    for i in nodes:
        down[i] = sum(down[k] for k in g.operands(i) if k in up) or 1
    up[root] = 1
    for i in reversed(nodes):
        for k in g.operands(i):
            if k in up:
                up[k] += up[i]
    return [i for i in nodes if up[i] * down[i] == down[root]]


def _some_of(powers: Powers) -> Iterator[Powers]:
    """Parts of a product, the empty one first; a root is one factor."""
    names = [i for i, power in powers.items() for _ in range(power.numerator)][:FACTORS_MAX]
    for size in range(len(names) + 1):
        for chosen in dict.fromkeys(itertools.combinations(names, size)):
            yield {i: Fraction(chosen.count(i), powers[i].denominator) for i in chosen}


def _ratio(g: Graph, along: int, rate: int, s: int, common: Powers) -> tuple[Fraction, int, Powers] | None:
    """(c, n, P) with ``along`` · P = c sⁿ ``rate`` at random states, for a simple c and a part P of a product."""
    regions = []
    for a, b, c in _by_signs(g, [along, rate, s]):
        states = deciding(g, [a, b, c], 3)
        if len(states) < 3 or any(state.vanishes(x) for state in states for x in (b, c)):
            return None
        regions.append([(state, state(a) / state(b), state(c)) for state in states])
    if not regions:
        return None
    for lengths in _some_of(common):  # a parameter may be a length of the direction as well as a factor
        for exponent in POWERS_OF_S:
            ratios = (
                value * _value(state, lengths) / length**exponent
                for state, value, length in itertools.chain.from_iterable(regions)
            )
            first = next(ratios)
            number = _simple(first)
            if number and all(abs(x - number) <= SAME * abs(number) for x in itertools.chain([first], ratios)):
                return number, exponent, lengths
    return None


def _simple(x: float) -> Fraction:
    """The number as a simple fraction times a power of two or ten, as units require; 0 if it is no such number."""
    if not math.isfinite(x) or x == 0.0:
        return Fraction(0)
    for scale in (Fraction(1), Fraction(2) ** math.frexp(x)[1], Fraction(10) ** math.floor(math.log10(abs(x)))):
        number = Fraction(x / scale).limit_denominator(LARGEST_DENOMINATOR) * scale
        if abs(x - number) <= SAME * abs(number):
            return number
    return Fraction(0)


def _value(state: Callable[[int], float], powers: Powers) -> float:
    """Value of a product at a state, with |radicand| under roots."""
    roots = {i: power for i, power in powers.items() if power.denominator > 1}
    whole = math.prod(state(i) ** power.numerator for i, power in powers.items() if i not in roots)
    return whole * math.prod(math.pow(abs(state(i)), power) for i, power in roots.items())


def _by_signs(g: Graph, nodes: Sequence[int]) -> list[list[int]]:
    """Nodes without |x| and sign x, for each choice of signs; none if there are too many."""
    signed = [i for i in g.below(nodes) if g.nodes[i][0] in (Op.ABS, Op.SIGN)]
    inner = list(dict.fromkeys(g.nodes[i][1] for i in signed))
    if len(inner) > SIGNS_MAX:
        return []
    result = []
    for signs in itertools.product((1, -1), repeat=len(inner)):
        sign = dict(zip(inner, signs, strict=True))
        swap = {}
        for i in signed:
            op, x = g.nodes[i]
            one = g.constant(sign[x])
            swap[i] = one if op is Op.SIGN else g.mul(one, x)
        result.append(g.substitute(nodes, swap))
    return result
