# SPDX-License-Identifier: BSD-3-Clause
"""u̇ of a mechanism at the same states for all: our own compiled models, and what the peers start from."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import models
import numpy as np
import shared
from recursions import FREE
from sides import Arrays, Side, in_c

import kanecore as kc

ROWS = 4096


@dataclass(frozen=True, eq=False)
class Task:
    """A mechanism with its numbers in the code (``numbers``), or with parameters at run time.

    ``compiled`` holds our models by compiler, the same one from several places in memory; its inputs are zero where it
    is not ``driven``.
    """

    mechanism: models.Mechanism
    numbers: bool
    compiled: Mapping[str, Sequence[kc.CompiledModel]]
    driven: bool = True

    @property
    def name(self) -> str:
        return self.mechanism.name + (" numbers" if self.numbers else "")

    @property
    def dyn(self) -> kc.CompiledModel:
        return next(iter(self.compiled.values()))[0]

    @cached_property
    def x(self) -> np.ndarray:
        """States, (64, n_x)."""
        return models.feasible(self.mechanism, self.dyn)

    @cached_property
    def r(self) -> np.ndarray:
        """Inputs, (n_r,)."""
        return models.inputs(self.dyn.n_r) * self.driven

    @cached_property
    def parameters(self) -> np.ndarray:
        """Values of what peers take at run time: none where the numbers are in the code."""
        names = [] if self.numbers else self.mechanism.symbols()
        return np.array([self.mechanism.parameters[name] for name in names])

    @cached_property
    def udot(self) -> np.ndarray:
        """Ours, (64, n_u)."""
        return self.dyn.udot(0.0, self.x, r=self.r)

    @cached_property
    def rows(self) -> np.ndarray:
        """The states of a batch, (4096, n_x): these ones over and over."""
        return np.tile(self.x, (ROWS // len(self.x), 1))

    @cached_property
    def joint_rows(self) -> np.ndarray:
        """Those in coordinates and rates of the robot's joints."""
        return np.tile(self.joint_x, (ROWS // len(self.x), 1))

    @cached_property
    def joint_x(self) -> np.ndarray:
        """The states in coordinates and rates of the robot's joints."""
        if self.mechanism.to_joints is None:
            return self.x
        return np.hstack([part @ m.T for part, m in zip(self.split(self.x), self.mechanism.to_joints, strict=True)])

    def split(self, x: np.ndarray) -> list[np.ndarray]:
        """Coordinates and speeds of states, each contiguous."""
        return [np.ascontiguousarray(part) for part in np.split(x, [self.dyn.n_q], axis=-1)]

    def from_joints(self, udot: np.ndarray) -> np.ndarray:
        """u̇ of the joints as that of our speeds."""
        if self.mechanism.to_joints is None:
            return udot
        return np.linalg.solve(self.mechanism.to_joints[1], np.asarray(udot).T).T

    def efforts(self, r: Sequence[Any]) -> list[Any]:
        """Forces and torques on a free base and of all joints, from the inputs: those without an input have none."""
        robot = self.mechanism.robot(lambda _, number: number)
        return [*[0.0] * (FREE if robot.base else 0), *r, *[0.0] * (len(robot.bodies) - len(r))]


def compiled(mechanism: models.Mechanism, numbers: bool, compilers: Sequence[str], count: int = shared.COPIES) -> Task:
    """Compiled anew with each compiler, and loaded from several files."""
    sources = {name: _places(mechanism, numbers, shared.compilers()[name], count) for name in compilers}
    return _driven(Task(mechanism, numbers, sources))


def compiled_once(mechanism: models.Mechanism, compiler: str, driven: bool = True) -> Task:
    """With its numbers in the code, through the cache folder of the moment."""
    words = list(shared.compilers()[compiler])
    dyn = kc.compile(mechanism.build(), parameters=mechanism.parameters, bake=True, cc=words)
    return _driven(Task(mechanism, True, {compiler: [dyn]}, driven))


def prebuilt(mechanism: models.Mechanism) -> Task:
    """The gallery's own library, with parameters at run time."""
    return _driven(Task(mechanism, False, {"prebuilt": [kc.load(mechanism.name)]}))


def _driven(task: Task) -> Task:
    """With its inputs as the models' current ones, so that a call need not name them."""
    for dyns in task.compiled.values():
        for dyn in dyns:
            dyn.inputs.update(zip(dyn.input_names, task.r, strict=True))
    return task


def _places(mechanism: models.Mechanism, numbers: bool, compiler: Sequence[str], count: int) -> list[kc.CompiledModel]:
    model = mechanism.build()
    with empty_cache() as first:
        loaded = [kc.compile(model, parameters=mechanism.parameters, bake=numbers, cc=list(compiler))]
        for _ in range(count - 1):
            with empty_cache() as folder:
                shutil.copytree(first, folder, dirs_exist_ok=True)
                loaded.append(kc.compile(model, parameters=mechanism.parameters, bake=numbers, cc=list(compiler)))
    return loaded


@contextmanager
def empty_cache() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, KANECORE_CACHE_DIR=folder):
        yield Path(folder)


def ours_in_c(task: Task, kernel: str = "udot") -> list[Side]:
    """Our kernel by compiler."""
    offered = []
    for compiler, dyns in task.compiled.items():
        dyn = dyns[0]
        arrays = Arrays(task.x, task.r, dyn.prepared, (dyn.n_u if kernel == "udot" else dyn.n_x,), dyn.n_work)
        facts = {"compiler": compiler, "operations": dyn.info["operations"].get(kernel, "")}
        offered.append(in_c("kanecore", [d.address(kernel) for d in dyns], arrays, **facts))
    return offered
