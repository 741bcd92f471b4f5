# SPDX-License-Identifier: BSD-3-Clause
"""Base parameters: the combinations of inertial parameters on which a mechanism's motion and forces depend.

Rows of the regressor Y of M u̇ − f = Y π at many random states are stacked.  With constraints each state satisfies them,
and its rows are projected on the allowed motions, where the unknown constraint forces vanish.  The
rank of this matrix is the number of base parameters.  A QR factorization takes as pivots the first columns that do not
follow from earlier columns.  It shows which parameters are independent, and how the others combine with them (Gautier,
*Journal of Robotic Systems* 8, 1991; Khalil & Dombre, *Modeling, Identification and Control of Robots*, 2002, section
9.4).
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError, unknown_name
from kanecore.graph.expression_graph import Op
from kanecore.graph.random_samples import Sample
from kanecore.kernels import OF_BODY, JointColumns, chosen_columns, column_name
from kanecore.rank import independent_columns
from kanecore.tolerances import EQUAL

from .constrained_states import states_with
from .derivation import Derivation

__all__ = ["BaseParameters", "base_parameters"]

Array = npt.NDArray[np.float64]

ROWS = 2  # rows, as a multiple of the columns, at least
SEEDS = 40  # seeds seeds tried for each state that is needed
DRAWS = 3  # random values random values of the parameters, to find the terms of a coefficient
FACTORS = {1.0: "", 2.0: "2 ", 0.5: "0.5 "}  # factors factors of one product
LONGEST, MOST = 3, 5000  # products in a sum, and number of sums of each length that are tried
CLEAN = 1e-8  # relative to the largest entry of a column: rounding of a least-squares solution over random states
WIDTH = 79


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Identifiable combinations of the inertial parameters π, ten of each body as in ``dyn.inertial_parameters``.

    Attributes
    ----------
    model : str
    names : tuple of str
        Each base parameter as a combination, such as ``"link1.mcx + l1 link2.m"``.
    matrix : ndarray, (n_base, len(columns))
        The base parameters are ``matrix @ π``.  Without given values it is the matrix at the values in ``parameters``.
    independent : tuple of int
        Numbers of the columns of the regressor that multiply base parameters: Y π = Y[:, independent] @ matrix @ π.
        With constraints the equation is true for the forces along the allowed motions.
    columns : tuple of str
        Names of π: the body, then m, m c, and I about its first point; then those of joints that were asked for.
    unidentifiable : tuple of str
        Entries of π on which neither motion nor forces depend.
    parameters : dict of str to float
        The parameter values for which the numbers are computed.
    """

    model: str
    names: tuple[str, ...]
    matrix: Array
    independent: tuple[int, ...]
    columns: tuple[str, ...]
    unidentifiable: tuple[str, ...]
    parameters: Mapping[str, float]

    @property
    def n_base(self) -> int:
        """Number of base parameters."""
        return len(self.independent)

    def __repr__(self) -> str:
        title = f"{self.model}: {self.n_base} base parameters of {len(self.columns)} inertial parameters"
        lines = [title, *self.names]
        if self.unidentifiable:
            lines.append(f"neither motion nor forces depend on {', '.join(self.unidentifiable)}")
        if self.parameters:
            lines.append("matrix at " + ", ".join(f"{name} = {value:.6g}" for name, value in self.parameters.items()))
        return "\n".join("\n".join(textwrap.wrap(line, WIDTH, subsequent_indent="    ")) for line in lines)


def base_parameters(
    derivation: Derivation, parameters: Mapping[Any, float] | None, joints: JointColumns
) -> BaseParameters:
    """See :meth:`kanecore.Model.base_parameters`."""
    regressors = _Regressors(derivation, joints)
    if parameters is not None:
        draws = [regressors.draw(regressors.values(parameters), 0)]
    else:
        draws = [regressors.draw({}, 1000 * k) for k in range(DRAWS if regressors.symbols else 1)]
    first = draws[0]
    columns = regressors.columns
    independent, matrix = _decomposed(first.rows)
    others = [_decomposed(draw.rows) for draw in draws[1:]]
    same = all(other[0] == independent for other in others)
    tables = np.array([matrix, *(other[1] for other in others)] if same else [matrix])
    known = [draw.parameters for draw in draws] if len(tables) > 1 else []
    writer = _Writer(columns, known)
    nothing = tuple(columns[j] for j in np.flatnonzero(~matrix.any(axis=0)) if regressors.exists[j])
    return BaseParameters(
        model=derivation.description.name,
        names=tuple(writer.combination(tables[:, i], own) for i, own in enumerate(independent)),
        matrix=matrix,
        independent=tuple(independent),
        columns=tuple(columns),
        unidentifiable=nothing,
        parameters=first.parameters,
    )


@dataclass(frozen=True)
class _Draw:
    """Rows of the regressor at many states, with the same values of the parameters in it."""

    rows: Array
    parameters: dict[str, float]


class _Regressors:
    def __init__(self, derivation: Derivation, joints: JointColumns) -> None:
        self.derivation, self.k, self.g = derivation, derivation.kinematics, derivation.graph
        d = derivation.description
        chosen = chosen_columns(joints, d.coordinate_names)
        rows = self._of_kernel("regressor")
        if chosen:
            of_joints = self._of_kernel("joint_regressor")
            rows = [[*row, *(more[k] for k in chosen)] for row, more in zip(rows, of_joints, strict=True)]
        self.roots = [i for row in rows for i in row]
        self.jacobian = [x for row in derivation.rows for x in row.jacobian]
        self._names = dict(zip(d.parameters, d.parameter_names, strict=True))
        places = [constraint.node for constraint in d.constraints]
        below = self.g.below([*self.roots, *self.jacobian, *places])
        self.symbols = [i for i in below if self.g.nodes[i][0] is Op.SYM and i in self._names]
        self.columns = [f"{body.name}.{name}" for body in d.bodies for name in OF_BODY]
        self.columns += [column_name(k, d.coordinate_names) for k in chosen]
        self.exists = [body.frame >= 0 or name == "m" for body in d.bodies for name in OF_BODY] + [True] * len(chosen)

    def _of_kernel(self, name: str) -> list[Sequence[int]]:
        """The rows of a kernel with one for each speed."""
        roots, n = self.derivation.kernel(name).roots, len(self.k.description.speeds)
        width = len(roots) // n
        return [roots[i * width : (i + 1) * width] for i in range(n)]

    def values(self, parameters: Mapping[Any, float]) -> dict[int, float]:
        """Values by node; KeyError, TypeError, ValueError for wrong names, and for values not finite or missing."""
        numbers = {getattr(key, "name", str(key)): value for key, value in parameters.items()}
        node = {name: i for i, name in self._names.items()}
        for name, value in numbers.items():
            if name not in node:
                raise unknown_name("parameter", name, node)
            if isinstance(value, str) or not hasattr(value, "__float__"):
                raise TypeError(f"parameters: {name} is {value!r}; give a number")
            if not math.isfinite(value):
                raise ValueError(f"parameters: {name} is {value!r}; give a finite number")
        if missing := [self._names[i] for i in self.symbols if self._names[i] not in numbers]:
            raise ValueError(f"parameters: {', '.join(missing)} occur in the regressor, and have no value")
        return {node[name]: float(value) for name, value in numbers.items()}

    def draw(self, parameters: dict[int, float], first: int) -> _Draw:
        """The rows at random states, all with the same parameters."""
        n_columns = len(self.columns)
        if not parameters and self.symbols:
            sample = next(self._states({}, range(first, first + SEEDS)), None)
            if sample is None:
                raise self._no_states()
            parameters = {i: sample(i) for i in self._names}
        rows: list[Array] = []
        needed, count = ROWS * n_columns, 0
        for sample in self._states(parameters, range(first, first + SEEDS * max(1, n_columns))):
            rows.append(self._rows(sample))
            count += len(rows[-1])
            if count >= needed or not len(rows[-1]):
                break
        if count < needed and not (rows and not len(rows[-1])):
            raise self._no_states()
        return _Draw(np.vstack(rows), {self._names[i]: float(parameters[i]) for i in self.symbols})

    def _no_states(self) -> ModelError:
        return ModelError(
            f"base_parameters of {self.derivation.description.name!r}: too few random states satisfy the constraints: "
            "give parameters= with values at which the mechanism can be put together"
        )

    def _states(self, parameters: Mapping[int, float], seeds: range) -> Iterator[Sample]:
        states = states_with(self.k, parameters, seeds)
        return (s for s in states if all(math.isfinite(s(i)) for i in (*self.roots, *self.jacobian)))

    def _rows(self, state: Sample) -> Array:
        """Y projected on the motions that the constraints allow, with rows of one size; rounding errors become zero."""
        n = len(self.k.description.speeds)
        y = np.array([0.0 if state.vanishes(i) else state(i) for i in self.roots]).reshape(n, len(self.columns))
        if self.jacobian:
            allowed = _allowed(np.array(state.values(self.jacobian)).reshape(-1, n))
            projected = allowed.T @ y
            y = np.where(np.abs(projected) > EQUAL * (np.abs(allowed.T) @ np.abs(y)), projected, 0.0)
        size = np.max(np.abs(y), axis=1, keepdims=True, initial=0.0)
        return np.asarray(y / np.where(size > 0.0, size, 1.0))


def _allowed(rows: Array) -> Array:
    """A basis, in columns, of the motions that rows of G allow."""
    size = np.max(np.abs(rows), axis=1, keepdims=True)
    _, s, axes = np.linalg.svd(rows / np.where(size > 0.0, size, 1.0))
    rank = int(np.sum(s > EQUAL * np.max(s, initial=0.0)))
    return np.asarray(axes[rank:].T)


def _decomposed(rows: Array) -> tuple[tuple[int, ...], Array]:
    """Independent columns, as early as possible, and all columns as combinations of the independent ones."""
    size = np.max(np.abs(rows), axis=0, initial=0.0)
    scaled = rows / np.where(size > 0.0, size, 1.0)
    independent = independent_columns(scaled, EQUAL)
    weights = np.linalg.lstsq(scaled[:, independent], scaled, rcond=None)[0]
    weights[np.abs(weights) <= CLEAN * np.max(np.abs(weights), axis=0, initial=1.0, keepdims=True)] = 0.0
    matrix = weights * size / np.where(size > 0.0, size, 1.0)[independent][:, np.newaxis]
    simple = np.round(2.0 * matrix) / 2.0
    matrix = np.where(np.abs(matrix - simple) <= CLEAN * np.abs(simple), simple, matrix)
    matrix[:, independent] = np.eye(len(independent))
    return tuple(map(int, independent)), np.asarray(matrix)


class _Writer:
    """Combinations of inertial parameters as text.

    A coefficient that changes with the model's parameters is searched for among products of two parameters and short
    sums of such products.  If none fits, its number is written.
    """

    def __init__(self, columns: Sequence[str], draws: Sequence[Mapping[str, float]]) -> None:
        self.columns = columns
        names = list(draws[0]) if draws else []
        products = [(name,) for name in names] + list(itertools.combinations_with_replacement(names, 2))
        texts = [f"{p[0]}**2" if len(p) > len(set(p)) else " ".join(p) for p in products]
        values = np.array([[math.prod(draw[name] for name in p) for p in products] for draw in draws])
        self._texts: list[str] = []
        totals: list[Array] = []
        for factor, before in (*FACTORS.items(), *((-f, f"-{text}") for f, text in FACTORS.items())):
            self._texts += [before + text for text in texts]
            totals += [*(factor * values).T]
        for length in range(2, LONGEST + 1):
            if math.comb(len(products), length) > MOST:
                break
            for chosen in itertools.combinations(range(len(products)), length):
                for signs in itertools.product((1.0, -1.0), repeat=length):
                    parts = sorted(zip(signs, chosen, strict=True), reverse=True)  # positive terms come first
                    written = "".join(f" {'+' if sign > 0.0 else '-'} {texts[k]}" for sign, k in parts)
                    self._texts.append(f"({written.removeprefix(' + ').strip()})")
                    totals.append(values[:, list(chosen)] @ np.array(signs))
        self._totals = np.array(totals)

    def combination(self, rows: Array, own: int) -> str:
        """Text of a row of the matrix, for one or several values of the parameters; independent parameter first."""
        text = self.columns[own]
        for j in map(int, np.flatnonzero(np.abs(rows).max(axis=0))):
            if j != own:
                sign, size = self._coefficient(rows[:, j])
                text += f" {sign} {size}{' ' if size else ''}{self.columns[j]}"
        return text

    def _coefficient(self, values: Array) -> tuple[str, str]:
        """Sign of a coefficient, and the text of its size, empty for 1."""
        sign, size = ("-", -values) if values[0] < 0.0 else ("+", values)
        if len(values) > 1 and np.ptp(size) > CLEAN * size[0]:
            same = np.flatnonzero((np.abs(self._totals - size) <= CLEAN * np.abs(size)).all(axis=1))
            if len(same):
                return sign, self._texts[int(same[0])]
        return sign, "" if size[0] == 1.0 else f"{size[0]:.6g}"
