# SPDX-License-Identifier: BSD-3-Clause
"""How long does ``kc.compile`` take, with an empty cache and from the cache?"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import models
import peers
import report
from clock import timing

import kanecore as kc
from kanecore.build.cache import SUFFIX

QUESTION = "how long does kc.compile take [ms], cold and for an equal, newly built model from the cache?"
STARTS = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}

_processes: list[str] = []


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a mechanism.

    ``cold`` is ``kc.compile`` with an empty cache, ``to_c`` and ``cc`` its two parts; ``cached`` is the same call for
    a model that was described anew, ``described_cached`` that and the description; ``processes`` those that the cached
    calls started.
    """
    sys.addaudithook(_watch)
    mechanisms = [models.robot(), models.arm()]
    if not smallest:
        mechanisms += [models.cart(20), models.chain(20), models.cart(40), models.chain(40)]
    return {"core group": [_row(m, *((1, 3) if smallest else (3, 7))) for m in mechanisms]}


def _row(mechanism: models.Mechanism, colds: int, hits: int) -> report.Row:
    times: dict[str, list[float]] = {k: [] for k in ("cold", "to_c", "cc", "cached", "described_cached")}
    processes = 0
    for _ in range(colds):
        with _empty_cache() as folder:
            dyn, cold, _ = _compiled(mechanism)
            parts = dyn.info["build"]["core"]
            times["cold"].append(cold)
            times["to_c"].append(parts["derive_seconds"])
            times["cc"].append(parts["compile_seconds"])
            for _ in range(hits):
                before = len(_processes)
                dyn, cached, described = _compiled(mechanism)
                processes += len(_processes) - before
                times["cached"].append(cached)
                times["described_cached"].append(described + cached)
            size = sum(library.stat().st_size for library in folder.rglob(f"*{SUFFIX}"))

    row: report.Row = {"case": mechanism.name}
    for name, samples in times.items():
        row[name] = 1e3 * timing(samples).median
    row["cold_min"], row["cached_min"] = 1e3 * min(times["cold"]), 1e3 * min(times["cached"])
    row |= {"processes": processes, "text_kB": len(dyn.source["core"]) / 1e3}
    row["library_kB"], row["ops_rhs"] = size / 1e3, dyn.info["operations"]["rhs"]

    dyn.parameters.update(mechanism.parameters)
    x, r = models.states(dyn.n_x), models.inputs(dyn.n_r)
    solved = (dyn.mass_matrix(0.0, x, r=r), dyn.udot(0.0, x, r=r), dyn.forcing(0.0, x, r=r))
    row["residual"] = models.residual(*solved)
    return row | peers.columns()


def _compiled(mechanism: models.Mechanism) -> tuple[kc.CompiledModel, float, float]:
    """A model described and compiled anew, with the seconds of ``kc.compile`` and of the description."""
    start = time.perf_counter()
    model = mechanism.build()
    described = time.perf_counter()
    dyn = kc.compile(model)
    return dyn, time.perf_counter() - described, described - start


@contextmanager
def _empty_cache() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, KANECORE_CACHE_DIR=folder):
        yield Path(folder)


def _watch(event: str, _: tuple[Any, ...]) -> None:
    if event in STARTS:
        _processes.append(event)


if __name__ == "__main__":
    report.main("compile", QUESTION, measure)
