# SPDX-License-Identifier: BSD-3-Clause
"""Other packages, beside us in every table; each has its column whether or not it is installed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

PEERS = {"pydy": "pydy", "casadi": "casadi", "pinocchio": "pinocchio"}


def columns() -> dict[str, str]:
    """The cells of the packages that are not compared yet."""
    return {peer: "not compared" if find_spec(module) else "not installed" for peer, module in PEERS.items()}


class KaneResult(NamedTuple):
    """What SymPy's KanesMethod gave: its time, its operations after cse, M and f at one state."""

    seconds: float
    operations: int
    mass_matrix: np.ndarray
    forcing: np.ndarray


def kanes_method(objects: Mapping[str, Any], values: Mapping[Any, float]) -> KaneResult:
    """M and f by SymPy alone, from the same objects; ``values`` by symbol, for the comparison.

    The time is that of ``kanes_equations``, ``mass_matrix`` and ``forcing``: neither cse nor C text.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a point has several paths, which agree
        start = time.perf_counter()
        method = me.KanesMethod(objects["frame"], objects["q_ind"], objects["u_ind"], objects["kd_eqs"])
        method.kanes_equations(list(objects["bodies"]), list(objects["forcelist"]))
        matrices = [method.mass_matrix, method.forcing]
        took = time.perf_counter() - start

    shared: tuple[Sequence[Any], Sequence[Any]] = sm.cse(matrices)
    count = int(sum(sm.count_ops(e) for _, e in shared[0]) + sum(sm.count_ops(m) for m in shared[1]))
    function = sm.lambdify(list(values), matrices, cse=lambda _: shared, dummify=True)
    mass_matrix, forcing = function(*values.values())
    return KaneResult(took, count, np.asarray(mass_matrix, float), np.asarray(forcing, float).ravel())
