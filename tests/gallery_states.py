# SPDX-License-Identifier: BSD-3-Clause
"""States of the gallery's models that several tests look at."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import numpy.typing as npt

import kanecore as kc

Array = npt.NDArray[np.float64]


@cache
def loaded(name: str) -> kc.CompiledModel:
    return kc.load(name)


def some_state(name: str, r: Array | None = None) -> Array:
    """On the constraints, in motion, with unit quaternions: (n_x,), always the same."""
    dyn, rng = loaded(name), np.random.default_rng(list(name.encode()))
    given = getattr(import_module(f"kanecore.gallery.{name}"), "STATE", None)
    x = rng.uniform(-1.0, 1.0, dyn.n_x)
    if given is not None:
        x = 0.1 * x + [given[k] for k in (*dyn.coordinate_names, *dyn.speed_names)]
    return dyn.consistent(0.3, x, None, r=r)
