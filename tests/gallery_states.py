# SPDX-License-Identifier: BSD-3-Clause
"""Models of the gallery, their states and their C, for several tests."""

import os
from functools import cache
from importlib import import_module

import numpy as np
import numpy.typing as npt

import kanecore as kc

Array = npt.NDArray[np.float64]

OF_BODIES = [name for name in kc.models() if name != "cheetah"]
"""Models whose inertia is that of their bodies alone: the rotors of the others are loads that hold u̇."""


def loaded(name: str) -> kc.CompiledModel:
    """One for tests that ask for a compiler, and one for those that do not."""
    return _loaded(name, os.environ.get("CC"))


@cache
def _loaded(name: str, compiler: str | None) -> kc.CompiledModel:
    return kc.load(name)


def some_state(name: str, r: Array | None = None) -> Array:
    """On the constraints, in motion, with unit quaternions: (n_x,), always the same."""
    dyn, rng = loaded(name), np.random.default_rng(list(name.encode()))
    given = getattr(import_module(f"kanecore.gallery.{name}"), "STATE", None)
    x = rng.uniform(-1.0, 1.0, dyn.n_x)
    if given is not None:
        x = 0.1 * x + [given[k] for k in (*dyn.coordinate_names, *dyn.speed_names)]
    return dyn.consistent(0.3, x, None, r=r)


@cache
def c_text(name: str) -> str:
    """A model in one C text, as it is prebuilt for wheels: all kernels, of robots some groups."""
    from kanecore.emit.kernel_groups import emit_library, emit_some

    module = import_module(f"kanecore.gallery.{name}")
    description = module.build().description
    if name in kc.gallery.robots():
        return emit_some(description, module.PARAMETERS, kc.gallery.PREBUILT_OF_ROBOTS).text
    return emit_library(description, module.PARAMETERS).text
