# SPDX-License-Identifier: BSD-3-Clause
"""Time of a model without a compiler, to its first number and in a call."""

from __future__ import annotations

import pickle
import subprocess
import sys
import timeit
from importlib import import_module

import numpy as np
import report
from clock import REPEATS, Timing, kernel_nanoseconds, nanoseconds, timing

import kanecore as kc

QUESTION = (
    "how long does a model on the machine take, to its first number [ms] and in a call of udot [ns], beside its C?"
)
MODELS = ("cart_pole", "four_bar", "rolling_disc", "arm7", "whipple_bicycle", "stewart", "tree30", "chain40")

FIRST = """
import time
import numpy as np
import kanecore as kc
import kanecore._compile
from kanecore.gallery import {name} as module
model, x = module.build(), {x}
start = time.perf_counter()
dyn = kc.compile(model, parameters=module.PARAMETERS, cc="none")
dyn.udot(0.0, x, r=np.zeros(dyn.n_r))
print(1e3 * (time.perf_counter() - start))
"""


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a model of the gallery.

    ``first`` is the time from the description to the first u̇ in a process of its own, ``c`` and ``machine`` that of a
    kernel in C, ``python`` that of ``dyn.udot(t, x, out=u)`` on the machine; ``difference`` is the largest from the C,
    beside the largest u̇.
    """
    names, repeats = (("cart_pole", "arm7"), 5) if smallest else (MODELS, REPEATS)
    return {"udot": [_row(name, repeats, 1 if smallest else 5) for name in names]}


def _row(name: str, repeats: int, starts: int) -> report.Row:
    module, reference = import_module(f"kanecore.gallery.{name}"), kc.load(name)
    dyn = kc.compile(module.build(), parameters=module.PARAMETERS, cc="none")
    r, rng = np.zeros(dyn.n_r), np.random.default_rng(0)
    given = getattr(module, "STATE", None)
    x = rng.uniform(-1.0, 1.0, dyn.n_x)
    if given is not None:
        x = 0.1 * x + [given[key] for key in (*dyn.coordinate_names, *dyn.speed_names)]
    x = reference.consistent(0.0, x, None, r=r)
    times = {label: _in_c(model, x, r, repeats) for label, model in (("c", reference), ("machine", dyn))}
    names = {"dyn": dyn, "x": x, "r": r, "out": np.empty(dyn.n_u)}
    times["python"] = nanoseconds(timeit.Timer("dyn.udot(0.0, x, r=r, out=out)", globals=names).timeit, repeats)
    expected = reference.udot(0.0, x, r=r)
    row: report.Row = {"case": name, "first": timing([_first(name, x) for _ in range(starts)]).median}
    row |= {label: took.median for label, took in times.items()}
    row |= {f"{label}_min": took.least for label, took in times.items()}
    row["ratio"] = times["machine"].least / times["c"].least
    row["code_kB"] = len(pickle.dumps(dyn.libraries.codes)) / 1e3
    row["ops_udot"] = dyn.info["operations"]["udot"]
    row["difference"] = float(np.abs(dyn.udot(0.0, x, r=r) - expected).max() / np.abs(expected).max())
    return row


def _in_c(dyn: kc.CompiledModel, x: np.ndarray, r: np.ndarray, repeats: int) -> Timing:
    return kernel_nanoseconds(dyn.address("udot"), x[np.newaxis], r, dyn.prepared, dyn.n_work, dyn.n_u, repeats)


def _first(name: str, x: np.ndarray) -> float:
    """Times of a new process, when all is imported and the model described [ms]."""
    command = [sys.executable, "-W", "ignore", "-c", FIRST.format(name=name, x=x.tolist())]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    report.main("machine", QUESTION, measure)
