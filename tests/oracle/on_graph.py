# SPDX-License-Identifier: BSD-3-Clause
"""A model whose kernels are evaluated on its expression graph, in Python's doubles: no C, no compiler."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.graph.evaluation import evaluate

__all__ = ["OnGraph"]

Array = npt.NDArray[np.float64]


class OnGraph:
    """Kernels ``kernel(t, x, r=...)``, those of u̇ ``kernel(t, x, udot, r=...)``, as a compiled model has them.

    What constraints are solved for at run time, u̇ and λ, is no expression and not here.
    """

    def __init__(self, model: kc.Model, parameters: Mapping[str, float]) -> None:
        self._derivation = Derivation(duplicate(model.description))
        d = self._derivation.description
        self.n_q, self.n_u, self.input_names = len(d.coordinates), len(d.speeds), d.input_names
        self.n_constraints = len(self._derivation.constraints.rows) if d.constraints else 0
        self._parameters = [parameters[name] for name in d.parameter_names]
        self._roots = cache(lambda kernel: self._derivation.kernel(kernel).roots)

    def __getattr__(self, kernel: str) -> Any:
        def call(t: float, x: npt.ArrayLike, udot: npt.ArrayLike = (), *, r: Mapping[str, float]) -> Array:
            d, g = self._derivation.description, self._derivation.graph
            symbols = [d.time, *d.coordinates, *d.speeds, *d.accelerations, *d.inputs, *d.parameters]
            given = [t, *np.asarray(x), *(udot if len(udot) else [np.nan] * self.n_u)]
            given += [*(r[name] for name in self.input_names), *self._parameters]
            values = {g.nodes[i][1]: value for i, value in zip(symbols, given, strict=True)}
            flat = np.array(evaluate(g, self._roots(kernel), values), float)
            return flat.reshape(-1, self.n_u) if kernel in ("mass_matrix", "constraint_jacobian") else flat

        return call
