# SPDX-License-Identifier: BSD-3-Clause
"""Expressions for printing: in their short forms, written out or with intermediate variables.

Each expression is compared with its node at random states, in 90 digits, before it is shown. Callers of
:func:`concise`, the forms for programs, compare them themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from kanecore.errors import ModelError, warn

from .expression_graph import Graph, Op
from .operations import OPERATIONS
from .random_samples import PRECISE, Sample
from .short_forms import Writer
from .sympy_bridge import new_symbols, to_sympy
from .trigonometric_sums import COSINE, SINE, Atoms, Sum, Sums, ratio
from .written_forms import Form, Meaning, cost_of, number, power, summed, times

__all__ = ["concise", "printed", "short_forms", "with_intermediates", "written_out"]

EFFORT = 8_000  # terms, in all expressions together, of sums for which all forms are tried; later sums get one form
SHARES = 2  # each expression may take the remaining effort divided by this
MOST = 40  # terms of a sum that is tried in forms that multiply it out
NODES = 1000  # nodes below all expressions; larger expressions are written as they are computed
PART = 16  # terms of a part of a larger expression, if the part is written in its short form
LONG = 2000  # operations of an expression that is written out as a whole
FEW = 400  # nodes below expressions with intermediate variables from their short forms
PLAIN = 50  # operations of expressions with intermediate variables from their short forms only
NAMED = 1000  # nodes below expressions with intermediate variables that are written in short forms
WRITABLE = 1_000_000  # operations of expressions that are written out as they are computed
ROUNDS = 4  # rounds in which intermediate variables that are used once are written out
STATES, SAME = 2, 1e-50  # samples at which a form is compared, and its largest error: rounding in 90 digits

WAVES = (SINE, COSINE, "tan")
TRUTH = tuple(op for op, row in OPERATIONS.items() if row.whole and row.n_operands == 2)


def printed(graph: Graph, roots: Sequence[int], symbols: Mapping[Any, Any]) -> list[Any]:
    """SymPy's expressions of the roots: their short forms, or the forms that are computed if short forms are too long.

    Raises
    ------
    ModelError
        Written out, the expressions would have more than a million operations, as steps of Newton's method do.
    """
    found = short_forms(graph, roots, symbols)
    if all(each is not None for each in found):
        return found
    operations = written_out(graph, roots)
    if operations > WRITABLE:
        raise ModelError(
            f"written out, these expressions would have {operations:.0e} operations: use intermediate variables, as in "
            "model.symbolic('rhs') and model.latex()"
        )
    _, computed = to_sympy(graph, roots, symbols, nested=True)
    return [e if s is None else s for s, e in zip(found, computed, strict=True)]


def short_forms(graph: Graph, roots: Sequence[int], symbols: Mapping[Any, Any]) -> list[Any | None]:
    """SymPy's expressions of the roots in their short forms; None for a root that is too long for it.

    Parameters
    ----------
    symbols : mapping
        As for :func:`~.sympy_bridge.to_sympy`.

    Warns
    -----
    KanecoreWarning
        A short form differs in value from its root, which is an error of this package; None is returned for it.
    """
    if len(graph.below(roots)) > NODES:
        return [None] * len(roots)
    forms = _Forms(graph, EFFORT)
    return [None if form is None else forms.meaning.sympy(form, symbols, {}) for form in map(forms, roots)]


def concise(graph: Graph, roots: Sequence[int], effort: int, most: int) -> list[int] | None:
    """Nodes of the short forms of the roots, not compared yet; None for a form that is too long.

    Parameters
    ----------
    effort : int
        Number of terms of sums for which all forms are tried.
    most : int
        Largest number of terms of all roots together, multiplied out; with more, no short form is written.
    """
    forms = _Forms(graph, effort)
    sums: dict[int, Sum] = {}
    for root in dict.fromkeys(roots):
        terms = forms.multiplied_out(root)
        if terms is None or len(terms) > most:
            return None
        sums[root] = terms
        most -= len(terms)
    nodes = {root: forms.meaning.node(forms.written(each)) for root, each in sums.items()}
    return [nodes[root] for root in roots]


def with_intermediates(
    graph: Graph, roots: Sequence[int], symbols: Mapping[Any, Any]
) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Intermediate variables z1, z2, ..., and SymPy's expressions of these variables and of the roots.

    An intermediate variable is a function, or has at least two operations, and is used at least twice. All expressions
    are in their short forms, but very long ones in the forms that are computed. The variables are numbered in order of
    reading.
    """
    size = len(graph.below(roots))
    listed = _of_short_forms(graph, roots) if size <= FEW else None
    if size <= NAMED and (listed is None or listed.cost > PLAIN):
        listed = min(filter(None, (listed, _of_nodes(graph, roots))), key=lambda each: each.cost, default=None)
    return to_sympy(graph, roots, symbols) if listed is None else listed.sympy(symbols)


def written_out(graph: Graph, roots: Sequence[int]) -> int:
    """Number of operations of the computed forms of the roots, each written out."""
    size: dict[int, int] = {}
    for i in graph.below(roots):
        operands = graph.operands(i)
        size[i] = bool(operands) + sum(size[k] for k in operands)
    return sum(size[i] for i in roots)


class _Forms:
    """Short forms of the nodes of a graph; None for a form that is too long, or wrong.

    Parameters
    ----------
    effort : int
        Number of terms of sums for which all forms are tried.
    named : collection of nodes
        Nodes that are symbols in others.
    """

    def __init__(self, graph: Graph, effort: int, named: Collection[int] = ()) -> None:
        self.graph, self.atoms, self._effort, self._named = graph, Atoms(), effort, named
        self._left_for_parts = effort // 4
        self.writer, self.meaning = Writer(self.atoms), Meaning(graph, self.atoms)
        self._sums = [Sums(graph, self.atoms, kept, named) for kept in ("", "lengths", "squares")]
        self._normal = [Sums(graph, self.atoms, named=named, normal=True)] if graph.unit else []
        self.states = [Sample(graph, seed, ctx=PRECISE) for seed in range(STATES)]
        self._computed: dict[int, Form | None] = {}

    def __call__(self, root: int) -> Form | None:
        form = self._with_unit_norm(root, min(self._candidates(root), key=cost_of, default=None))
        if form is None or self.agree(form, root):
            return form
        warn("a short form of an expression differs from it and is not shown; please report this")
        return None

    def multiplied_out(self, root: int) -> Sum | None:
        return self._sums[0].definition(root)

    def named_or_written(self, i: int) -> Form | None:
        """The name of a node, or its short form."""
        return self._written(i) if i in self._named else self(i)

    def agree(self, form: Form, root: int, named: Sequence[Mapping[int, Any]] = ({},) * STATES) -> bool:
        """Test whether a form has the value of its node."""
        values = ((self.meaning.value(form, at, each), at(root)) for at, each in zip(self.states, named, strict=True))
        return all(_agree(a, b) for a, b in values)

    def _with_unit_norm(self, root: int, form: Form | None) -> Form | None:
        """The form with 1 for the norm of unit quaternions if it takes half the operations; otherwise the form itself.

        If the norm is not 1, where a quaternion is no attitude, the form has other values and derivatives.
        """
        for sums in self._normal:
            terms = sums.definition(root)
            if terms is not None and len(terms) <= MOST:
                found = self.written(terms)
                if form is None or 2 * found.cost < form.cost:
                    return found
        return form

    def _candidates(self, root: int) -> Iterator[Form]:
        most = MOST
        for sums in self._sums:
            terms = sums.definition(root)
            if terms is None or len(terms) > most or (sums.kept and not sums.keeps):
                continue
            yield self.written(terms)
            most = min(most, len(terms) + len(terms) // 2 + 4)
        if (form := self._as_computed(root)) is not None:
            yield form

    def written(self, terms: Sum) -> Form:
        """The short form of a sum, by a share of the remaining effort."""
        writer = self.writer
        share = writer.effort = max(0, self._effort // SHARES)
        form = writer(terms)
        self._effort -= share - writer.effort
        return form

    def _as_computed(self, root: int) -> Form | None:
        """The form in which the node is computed."""
        graph, found = self.graph, self._computed
        inner = {k for i in graph.operands(root) for k in graph.below([i], dict.fromkeys(self._named))}
        for i in (*sorted(inner - found.keys()), root):
            if i in self._named and i != root:
                found[i] = self._written(i)
                continue
            op, operands = graph.nodes[i][0], [found[k] for k in graph.operands(i)]
            known = [x for x in operands if x is not None and x.cost <= LONG]
            form = None
            if len(known) == len(operands):
                form = self._arithmetic(op, known) or self._written(i)
            if i == root:
                return form
            found[i] = min(filter(None, (form, self._short_part(i))), key=cost_of, default=None)
        return None

    def _short_part(self, i: int) -> Form | None:
        """The short form of a node of few terms."""
        terms = self._sums[0](i)
        if terms is None or len(terms) > PART or self._left_for_parts <= 0:
            return None
        writer = self.writer
        share = writer.effort = self._left_for_parts // SHARES
        form = writer(terms)
        self._left_for_parts -= share - writer.effort + 1
        return form

    def _arithmetic(self, op: Any, operands: Sequence[Form]) -> Form | None:
        product = self.writer.product
        if op is Op.ADD:
            return summed(operands)
        if op is Op.SUB:
            return summed((operands[0], product(-1, (), operands[1:])))
        if op is Op.MUL:
            return product(1, (), operands)
        if op is Op.DIV:
            return product(1, (), (operands[0], _inverse(operands[1])))
        return product(-1, (), operands) if op is Op.NEG else None

    def _written(self, i: int) -> Form | None:
        terms = self._sums[0](i) if i in self._named else self._sums[0].definition(i)
        return None if terms is None else self.writer(terms)


def _inverse(form: Form) -> Form:
    if form.kind == "number":
        return number(ratio(1 / Fraction(form.factor)))
    if form.kind == "product":
        return times(ratio(1 / Fraction(form.factor)), tuple(map(_inverse, form.parts)))
    return power(form.parts[0], -form.factor) if form.kind == "power" else power(form, -1)


def _agree(a: Any, b: Any) -> bool:
    return not PRECISE.isfinite(b) or abs(a - b) <= SAME * (1 + abs(b))


# ------------------------------------------------------------------------------------------- intermediate variables


class _Listed:
    """Expressions with intermediate variables.

    Attributes
    ----------
    definitions : dict of Form
        The form of each variable, by the number of its atom.
    results : list of Form
    """

    def __init__(self, forms: _Forms, definitions: Mapping[int, Form], results: Sequence[Form]) -> None:
        self._forms, self.results = forms, list(results)
        self.definitions = {k: definitions[k] for k in _in_order(definitions, results)}

    @property
    def cost(self) -> float:
        return sum(form.cost for form in (*self.definitions.values(), *self.results))

    def sympy(self, symbols: Mapping[Any, Any], name: str = "z") -> tuple[list[tuple[Any, Any]], list[Any]]:
        names, named, listed = new_symbols(name, symbols.values()), dict[int, Any](), []
        write = self._forms.meaning.sympy
        for k, form in self.definitions.items():
            listed.append((next(names), write(form, symbols, named)))
            named[k] = listed[-1][0]
        return listed, [write(form, symbols, named) for form in self.results]


def _in_order(definitions: Mapping[int, Form], results: Iterable[Form]) -> list[int]:
    """Variables that the results need, in order of reading, each after the variables in its definition."""
    order: dict[int, None] = {}

    def read(form: Form) -> None:
        if form.atom in definitions:
            if form.atom not in order:
                read(definitions[form.atom])
                order[form.atom] = None
            return
        for part in form.parts:
            read(part)

    for form in results:
        read(form)
    return list(order)


def _of_short_forms(graph: Graph, roots: Sequence[int]) -> _Listed | None:
    """Short forms of the roots, and variables for their common parts."""
    forms = _Forms(graph, EFFORT)
    found = [form for form in map(forms, roots) if form is not None]
    if len(found) < len(roots):
        return None
    common = _Common(forms.atoms, found)
    results = [common(form) for form in found]
    listed = _Listed(forms, common.definitions, results)
    return listed if _right(forms, listed, roots) else None


def _right(forms: _Forms, listed: _Listed, roots: Sequence[int]) -> bool:
    named: list[dict[int, Any]] = [{} for _ in range(STATES)]
    for k, form in listed.definitions.items():
        for at, values in zip(forms.states, named, strict=True):
            values[k] = forms.meaning.value(form, at, values)
    return all(forms.agree(form, root, named) for form, root in zip(listed.results, roots, strict=True))


class _Common:
    """Variables for parts that several forms share.

    Attributes
    ----------
    definitions : dict of Form
    """

    def __init__(self, atoms: Atoms, forms: Iterable[Form]) -> None:
        self._atoms, self.definitions = atoms, dict[int, Form]()
        self._numbers: dict[Any, int] = {}
        self._known: dict[int, int] = {}
        self._uses: Counter[int] = Counter()
        self._replaced: dict[int, Form] = {}
        self._kept = list(forms)  # forms are compared by identity
        seen: set[int] = set()
        for form in self._kept:
            self._count(form, seen)

    def _count(self, form: Form, seen: set[int]) -> None:
        n = self._number(form)
        if n in seen:
            return
        seen.add(n)
        for part in self._parts(form):
            self._uses[self._number(part)] += 1
            self._count(part, seen)

    def _parts(self, form: Form) -> tuple[Form, ...]:
        """The parts of a form, without angles; parts of a product have no factor that is a number."""
        if form.kind == "atom" and self._atoms[form.atom].kind in WAVES:
            return ()
        if form.kind == "product" and form.factor != 1 and len(form.parts) > 1:
            return (self._without_number(form),)
        return form.parts

    def _without_number(self, form: Form) -> Form:
        found = times(1, form.parts)
        self._kept.append(found)
        return found

    def _number(self, form: Form) -> int:
        """A number that is the same for forms that differ only in the order of their parts."""
        found = self._known.get(id(form))
        if found is None:
            parts = tuple(sorted(map(self._number, form.parts)))
            key = (form.kind, form.factor, form.atom, () if form.atom >= 0 else parts)
            found = self._known[id(form)] = self._numbers.setdefault(key, len(self._numbers))
        return found

    def __call__(self, form: Form, whole: bool = True) -> Form:
        """The form with variables for its parts, and for itself if it is a part."""
        n = self._number(form)
        if whole or n not in self._replaced:
            found = self._with_variables(form)
            if whole:
                return found
            if self._uses[n] > 1 and _worth_a_name(self._atoms, found, 2):
                k = self._atoms.number("name", len(self.definitions), 2)
                self.definitions[k] = found
                found = Form("atom", 0.0, atom=k)
            self._replaced[n] = found
        return self._replaced[n]

    def _with_variables(self, form: Form) -> Form:
        parts = self._parts(form)
        if not parts:
            return form
        inner = [self(part, whole=False) for part in parts]
        if form.kind == "atom":
            cost = form.cost + sum(new.cost - old.cost for new, old in zip(inner, form.parts, strict=True))
            return Form("atom", cost, atom=form.atom, parts=tuple(inner))
        return _rebuilt(form, inner)


def _rebuilt(form: Form, parts: Sequence[Form]) -> Form:
    if form.kind == "sum":
        return summed(parts)
    if form.kind == "power":
        return power(parts[0], form.factor)
    factor, flat = form.factor, list[Form]()
    for part in parts:
        if part.kind in ("product", "number"):
            factor *= part.factor
        flat += part.parts if part.kind == "product" else () if part.kind == "number" else (part,)
    return times(factor, tuple(flat))


def _worth_a_name(atoms: Atoms, form: Form, operations: int) -> bool:
    """Test whether a form is a function, or takes some operations, and is no constant."""
    if form.kind == "atom":
        return atoms[form.atom].kind in (*WAVES, "call") and _holds_symbols(atoms, form)
    return form.cost >= operations and _holds_symbols(atoms, form)


def _holds_symbols(atoms: Atoms, form: Form) -> bool:
    if form.kind == "atom" and atoms[form.atom].kind in ("symbol", "name"):
        return True
    return any(_holds_symbols(atoms, part) for part in form.parts)


def _of_nodes(graph: Graph, roots: Sequence[int]) -> _Listed | None:
    """Variables, in short forms, for nodes that are used several times."""
    named = _used_often(graph, roots)
    for _ in range(ROUNDS):
        forms = _Forms(graph, EFFORT // 8, named)
        results = [form for form in map(forms.named_or_written, roots) if form is not None]
        definitions = dict[int, Form]()
        left = list(results)
        uses: Counter[int] = Counter()
        while left:
            for k in _atoms_in(left.pop()):
                uses[k] += 1
                kind, node, _ = forms.atoms[k]
                if kind == "symbol" and node in named and k not in definitions:
                    form = forms(node)
                    if form is None:
                        return None
                    definitions[k] = form
                    left.append(form)
        if len(results) < len(roots):
            return None
        dropped = {k for k, form in definitions.items() if uses[k] < 2 or not _worth_a_name(forms.atoms, form, 1)}
        if not dropped:
            return _Listed(forms, definitions, results)
        named = {forms.atoms[k].content for k in definitions.keys() - dropped}
    return None


def _atoms_in(form: Form) -> Iterator[int]:
    if form.kind == "atom" and not form.parts:
        yield form.atom
    for part in form.parts:
        yield from _atoms_in(part)


def _used_often(graph: Graph, roots: Sequence[int]) -> set[int]:
    """Operations that are used more than once, except angles and conditions."""
    users: dict[int, list[str]] = {}
    for i in graph.below(roots):
        for k in graph.operands(i):
            users.setdefault(k, []).append(graph.nodes[i][0])
    leaves = (Op.CONST, Op.SYM, Op.PI, Op.LAST_STEP, Op.NEG, *TRUTH)
    return {
        i
        for i, by in users.items()
        if len(by) > 1 and graph.nodes[i][0] not in leaves and not all(op in (Op.SIN, Op.COS, Op.TAN) for op in by)
    }
