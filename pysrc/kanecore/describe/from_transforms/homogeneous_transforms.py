# SPDX-License-Identifier: BSD-3-Clause
"""Chains of links by homogeneous transforms: what a user writes, checked, and how each link moves on the one before.

A transform H (4×4) gives a point by its coordinates in a link's axes those in the axes of the link before,
``[p; 1]_parent = H [p; 1]_link``, H = [R d; 0 0 0 1].  The angular velocity comes from S(ω) = Rᵀ Ṙ, in the link's axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef

from kanecore.describe.from_sympy import vector_internals
from kanecore.describe.from_sympy.symbols import function_name
from kanecore.errors import ModelError
from kanecore.graph.expression_graph import COORDINATE, PARAMETER, TIME, Graph
from kanecore.graph.sympy_bridge import FromSympy
from kanecore.graph.zero_tests import equal, is_rotation, vanish
from kanecore.tolerances import EPSILON

__all__ = [
    "GROUND",
    "Link",
    "Plain",
    "Step",
    "Velocity",
    "angular_velocity_matrix",
    "column",
    "dh",
    "functions_in",
    "in_order",
    "link_pose",
    "skew",
]

GROUND = "ground"


@dataclass(frozen=True)
class Link:
    """Link of `Model.from_transforms`: its place on the link before it, and its mass.

    Parameters
    ----------
    name : str
    transform : 4×4 SymPy matrix
        H = [R d; 0 0 0 1]: ``[p; 1]_parent = H [p; 1]_link``, m; functions of coordinates, prescribed inputs,
        parameters and time.  `dh` makes it from the numbers of Denavit and Hartenberg.
    parent : str, optional
        Name of the link that it is on, or ``"ground"``.  Default: the link before it in the list.
    mass : expression
        kg.
    centre : (x, y, z)
        The mass centre, in the link's axes, m.  It may hold coordinates: a bar that slides in its own frame.
    inertia : (xx, yy, zz[, xy, yz, zx]) or 3×3 matrix
        About the mass centre, in the link's axes, kg m².
    """

    name: str
    transform: Any
    parent: str | None = None
    mass: Any = 0
    centre: Any = (0, 0, 0)
    inertia: Any = (0, 0, 0)


def dh(a: Any, alpha: Any, d: Any, theta: Any, convention: str = "standard") -> sm.Matrix:
    """The transform of one joint by the four numbers of Denavit and Hartenberg.

    Parameters
    ----------
    a, alpha : expressions
        Length (m) and twist (rad) of a link.
    d, theta : expressions
        Offset (m) and angle (rad) of a joint.
    convention : {"standard", "modified"}
        Standard: H = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α), the link's axes at its far joint (Denavit & Hartenberg,
        *Journal of Applied Mechanics* 22, 1955; Spong, Hutchinson & Vidyasagar, *Robot Modeling and Control*, 2006,
        equation 3.10).  Modified: H = Rot_x(α) Trans_x(a) Rot_z(θ) Trans_z(d), the link's axes at its near joint, a and
        α being those of the link before (Craig, *Introduction to Robotics*, 3rd ed., 2005, equation 3.6).

    Returns
    -------
    4×4 Matrix

    Raises
    ------
    ModelError
        There is no such convention.

    Examples
    --------
    ``kc.transforms.Link("upper arm", kc.transforms.dh(a2, 0, 0, q2), mass=m2)``
    """
    along_x = _screw(alpha, a, axis=0)
    along_z = _screw(theta, d, axis=2)
    if convention == "standard":
        return along_z * along_x
    if convention == "modified":
        return along_x * along_z
    raise ModelError(f"convention={convention!r}: write 'standard', or 'modified' for Craig's")


def _screw(angle: Any, distance: Any, axis: int) -> sm.Matrix:
    """A turn about an axis and a displacement along it."""
    cos, sin = (_rounded(f(sm.sympify(angle))) for f in (sm.cos, sm.sin))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    h = sm.eye(4)
    h[j, j], h[j, k], h[k, j], h[k, k], h[axis, 3] = cos, -sin, sin, cos, sm.sympify(distance)
    return h


def _rounded(value: Any) -> Any:
    """Replace rounding errors, as of the cosine of a right angle in floats, by zero."""
    return sm.S.Zero if value.is_Float and abs(value) < EPSILON else value


def angular_velocity_matrix(transform: Any) -> sm.Matrix:
    """S(ω) = Rᵀ Ṙ, of the components of ω in the turned axes: [[0, −ωz, ωy], [ωz, 0, −ωx], [−ωy, ωx, 0]].

    Parameters
    ----------
    transform : 3×3 or 4×4 SymPy matrix
        R, ``v_parent = R v_link``, or H that holds it; a function of time by its coordinates.

    Returns
    -------
    3×3 Matrix
        Linear in the derivatives of the coordinates; terms that do not depend on a coordinate are written without it.

    Raises
    ------
    ModelError
        The matrix is no rotation.
    """
    matrix = _matrix(transform, "the transform")
    if matrix.shape == (3, 3):
        matrix = matrix.row_join(sm.zeros(3, 1)).col_join(sm.Matrix([[0, 0, 0, 1]]))
    step = Step.of(Link("the transform", matrix))
    return skew(step.angular.total(lambda x: x.diff(vector_internals.time())))


def skew(v: Any) -> sm.Matrix:
    """The matrix S(v) of the cross product, S(v) w = v × w."""
    x, y, z = v
    return sm.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@dataclass(frozen=True)
class Velocity:
    """A velocity, linear in the derivatives of functions of time: Σ columns[x] ẋ + rest, each 3×1."""

    columns: dict[Any, sm.Matrix]
    rest: sm.Matrix

    @classmethod
    def zero(cls) -> Velocity:
        return cls({}, sm.zeros(3, 1))

    def through(self, matrix: sm.Matrix) -> Velocity:
        """A matrix times it."""
        return Velocity({x: matrix * column for x, column in self.columns.items()}, matrix * self.rest)

    def __add__(self, other: Velocity) -> Velocity:
        zero = sm.zeros(3, 1)
        both = [*self.columns, *(x for x in other.columns if x not in self.columns)]
        columns = {x: self.columns.get(x, zero) + other.columns.get(x, zero) for x in both}
        return Velocity(columns, self.rest + other.rest)

    def total(self, rate: Callable[[Any], Any]) -> sm.Matrix:
        """The velocity, with ``rate(x)`` for ẋ."""
        return sum((slope * rate(x) for x, slope in self.columns.items()), self.rest)


@dataclass(frozen=True)
class Step:
    """A link, read: its place on the link before it, and its motion there, in its own axes.

    Attributes
    ----------
    rotation, displacement : R (3×3) and d (3×1) of H
    reach : 3×1 Matrix or None
        d in the link's axes, Rᵀ d, where it holds fewer coordinates there: the link turns about the origin of the one
        before, as by the standard convention of Denavit and Hartenberg.
    centre : 3×1 Matrix
    inertia : 3×3 Matrix
    angular, origin, slide : Velocity
        Velocities of the link and of its origin relative to the link before, and of the mass centre relative to the
        link.
    """

    link: Link
    rotation: sm.Matrix
    displacement: sm.Matrix
    reach: sm.Matrix | None
    centre: sm.Matrix
    inertia: sm.Matrix
    angular: Velocity
    origin: Velocity
    slide: Velocity

    @classmethod
    def of(cls, link: Link) -> Step:
        """The link with all its entries checked."""
        h = _homogeneous(link)
        centre = column(link.centre, f"the centre of link {link.name}")
        _check_entries(link, [*h, *centre])
        plain = Plain(functions_in([*h, *centre]), f"the transform of link {link.name}")
        r, d, c = plain.of(h[:3, :3]), plain.of(h[:3, 3]), plain.of(centre)
        _check_rotation(link, plain, r)
        angular = plain.velocity(lambda x: _axial(r.T * r.diff(x)))
        reach = plain.reduced(r.T * d)
        shorter = len(functions_in(reach)) < len(functions_in(h[:3, 3]))
        return cls(
            link,
            h[:3, :3],
            h[:3, 3],
            reach if shorter else None,
            centre,
            _tensor(link),
            angular,
            plain.velocity(lambda x: r.T * d.diff(x)),
            plain.velocity(lambda x: c.diff(x)),
        )

    @property
    def massive(self) -> bool:
        return not all(map(_is_zero, (sm.sympify(self.link.mass), *self.inertia)))

    @cached_property
    def functions(self) -> list[Any]:
        """The functions of time in it, in order of occurrence."""
        return functions_in([*self.rotation, *self.displacement, *self.centre])


def in_order(links: Any) -> list[Link]:
    """The links, each with the name of its parent; every parent comes before what is on it.

    ModelError if names are not unique, a parent is unknown, or links are on each other in a circle.
    """
    if isinstance(links, Link) or not isinstance(links, Iterable):
        raise ModelError(f"links is {links!r}: give a list of kc.transforms.Link(name, transform, ...)")
    listed = [_complete(link, i) for i, link in enumerate(links)]
    if not listed:
        raise ModelError("links is empty: give one link at least")
    names = [link.name for link in listed]
    for name in names:
        if name == GROUND or names.count(name) > 1:
            why = "is what all links are on" if name == GROUND else "stands twice among the links"
            raise ModelError(f"the name {name!r} {why}: give each link a name of its own")
    before = dict(zip(names, [GROUND, *names], strict=False))
    parents = {link.name: before[link.name] if link.parent is None else link.parent for link in listed}
    for name, parent in parents.items():
        if parent not in (GROUND, *names):
            raise ModelError(f"link {name} is on {parent!r}, and no link has that name: they are {', '.join(names)}")
    result: list[Link] = []
    while len(result) < len(listed):
        done = {GROUND, *(link.name for link in result)}
        ready = [link for link in listed if link.name not in done and parents[link.name] in done]
        if not ready:
            circle = [name for name in names if name not in done]
            raise ModelError(f"links {', '.join(circle)} are on each other in a circle: one must be on the ground")
        result += [replace(link, parent=parents[link.name]) for link in ready]
    return result


def link_pose(links: Any, name: str) -> sm.Matrix:
    """The transform of a link from the ground: the product of the transforms of all links that lead to it.

    Parameters
    ----------
    links : sequence of Link
    name : str
        Name of the link.

    Returns
    -------
    4×4 Matrix

    Raises
    ------
    ModelError
        No link has this name, or the links are wrong.

    Examples
    --------
    Where a tool is: ``kc.transforms.link_pose(links, "hand") * Matrix([0, 0, reach, 1])``.
    """
    poses = {GROUND: sm.eye(4)}
    for link in in_order(links):
        poses[link.name] = poses[str(link.parent)] * _homogeneous(link)
    if name not in poses:
        raise ModelError(f"no link is named {name!r}: they are {', '.join(list(poses)[1:])}")
    return poses[name]


# ------------------------------------------------------------------ content of a link
def _complete(link: Any, number: int) -> Link:
    if not isinstance(link, Link):
        raise ModelError(f"links[{number}] is {link!r}: write kc.transforms.Link(name, transform, ...)")
    if not isinstance(link.name, str) or not link.name:
        raise ModelError(f"links[{number}] has the name {link.name!r}: write a str")
    if not isinstance(_sympified(link.mass), sm.Expr):
        raise ModelError(f"the mass of link {link.name} is {link.mass!r}: write a number or an expression, in kg")
    return link


def _sympified(value: Any) -> Any:
    """SymPy's object of a value; None if it has none."""
    try:
        return sm.sympify(value)
    except (sm.SympifyError, TypeError, AttributeError):
        return None


def _is_zero(e: Any) -> bool:
    """Test whether an expression is zero as it stands; SymPy's ``==`` tells 0.0 from 0."""
    return bool(e.is_zero)


def _matrix(value: Any, subject: str) -> sm.Matrix:
    try:
        return sm.Matrix(value)
    except (TypeError, ValueError):
        raise ModelError(f"{subject} is {value!r}, which is no matrix of SymPy expressions") from None


def _homogeneous(link: Link) -> sm.Matrix:
    h = _matrix(link.transform, f"the transform of link {link.name}")
    if h.shape != (4, 4):
        raise ModelError(
            f"the transform of link {link.name} is {h.shape[0]}×{h.shape[1]}: write H = [R d; 0 0 0 1], 4×4"
        )
    for column, wanted in enumerate((0, 0, 0, 1)):
        if not _is_zero(h[3, column] - wanted):
            raise ModelError(
                f"the transform of link {link.name} has {h[3, column]} at [3, {column}]: its last row is 0, 0, 0, 1"
            )
    return h


def column(value: Any, subject: str) -> sm.Matrix:
    """Three entries as a 3×1 matrix."""
    return _entries(value, subject, (3,))


def _entries(value: Any, subject: str, sizes: tuple[int, ...]) -> sm.Matrix:
    entries = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if len(entries) not in sizes:
        raise ModelError(f"{subject} has {len(entries)} entries, {value!r}: write {' or '.join(map(str, sizes))}")
    return _matrix(entries, subject)


def _tensor(link: Link) -> sm.Matrix:
    """The inertia as a matrix: six or three moments, or the matrix itself."""
    what = f"the inertia of link {link.name}"
    given = link.inertia
    if getattr(given, "shape", None) == (3, 3) or (
        isinstance(given, (list, tuple)) and isinstance(given[0], (list, tuple))
    ):
        tensor = _matrix(given, what)
        if tensor.shape != (3, 3) or not all(map(_is_zero, tensor - tensor.T)):
            raise ModelError(f"{what} is {given!r}: write a symmetric 3×3 matrix, or (xx, yy, zz[, xy, yz, zx])")
        return tensor
    xx, yy, zz, *products = _entries(given, what, (3, 6))
    xy, yz, zx = products or (0, 0, 0)
    return sm.Matrix([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def _check_entries(link: Link, entries: Iterable[Any]) -> None:
    """Check that entries depend on functions of time only, and on no derivatives."""
    time = vector_internals.time()
    for e in entries:
        strange = [*e.atoms(sm.Derivative), *(f for f in e.atoms(AppliedUndef) if f.args != (time,))]
        if strange:
            raise ModelError(
                f"{strange[0]} in the transform or the centre of link {link.name}: they hold functions of time "
                "(dynamicsymbols), parameters and time, and no derivatives"
            )


def _check_rotation(link: Link, plain: Plain, r: sm.Matrix) -> None:
    if not is_rotation(plain.graph, [[plain.read(e) for e in r.row(i)] for i in range(3)]):
        raise ModelError(
            f"the transform of link {link.name} holds no rotation: the rows of its first three columns, [0:3, 0:3], "
            "must be unit vectors, perpendicular to each other and right-handed, whatever the coordinates are; a "
            "quaternion that is not of length one gives no rotation: use angles"
        )


# --------------------------------------------------------------------- derivatives
def functions_in(expressions: Iterable[Any]) -> list[Any]:
    """Functions of time, in order of occurrence."""
    found = (x for e in expressions for x in sm.preorder_traversal(e) if isinstance(x, AppliedUndef))
    return list(dict.fromkeys(found))


def _axial(s: sm.Matrix) -> sm.Matrix:
    """V of S(v)."""
    return sm.Matrix([s[2, 1], s[0, 2], s[1, 0]])


class Plain:
    """Expressions with symbols in place of functions of time, to differentiate by each of them and to compare."""

    def __init__(self, functions: Iterable[Any], where: str = "the expression") -> None:
        # numbered by hand: SymPy numbers dummies from a random number, and sorts by it
        self._symbols = {x: sm.Dummy(function_name(x), dummy_index=i, real=True) for i, x in enumerate(functions)}
        self._functions = {symbol: x for x, symbol in self._symbols.items()}
        self.graph = Graph()
        self.read = FromSympy(self.graph, self._leaf, where=where)

    def _leaf(self, e: Any) -> int:
        if e in self._functions:
            return self.graph.symbol(("q", e.name), COORDINATE)
        if e == vector_internals.time():
            return self.graph.symbol(("t",), TIME)
        if isinstance(e, sm.Symbol):
            return self.graph.symbol(("p", e.name), PARAMETER)
        raise ModelError(f"{e} in {self.read.where} is no function of time, no parameter and not time")

    def of(self, matrix: sm.Matrix) -> sm.Matrix:
        return matrix.xreplace(self._symbols)

    def velocity(self, slope: Any) -> Velocity:
        """Velocity whose columns are ``slope(x)`` for each function of time, written as short as possible."""
        columns = {x: self.reduced(slope(symbol)) for x, symbol in self._symbols.items()}
        columns = {x: column for x, column in columns.items() if any(column)}
        return Velocity(columns, self.reduced(slope(vector_internals.time())))

    def reduced(self, matrix: sm.Matrix) -> sm.Matrix:
        """Matrix in symbols, written as short as possible, in functions of time again."""
        return matrix.applyfunc(self._shortest).xreplace(self._functions)

    def node(self, e: Any) -> int:
        return self.read(e.xreplace(self._symbols))

    def shortest(self, e: Any) -> Any:
        """Expression without functions and symbols on which it does not depend: 1 in place of sin²θ + cos²θ."""
        return self._shortest(e.xreplace(self._symbols)).xreplace(self._functions)

    def _shortest(self, e: Any) -> Any:
        if vanish(self.graph, [self.read(e)]):
            return sm.S.Zero
        for s in sorted(e.free_symbols, key=str):
            without = e.xreplace({s: sm.S.Zero})
            if not without.has(sm.nan, sm.zoo, sm.oo) and self._same(e, without):
                e = without
        return next((sign for sign in (sm.S.One, sm.S.NegativeOne) if self._same(e, sign)), e)

    def _same(self, a: Any, b: Any) -> bool:
        return equal(self.graph, [(self.read(a), self.read(b))], otherwise=False)
