# SPDX-License-Identifier: BSD-3-Clause
"""Time of ``kc.compile``, with an empty cache and from the cache."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from typing import Any
from unittest import mock

import models
import numpy as np
import peers
import recursions
import report
import shared
import sides
import tasks
from clock import timing

import kanecore as kc
from kanecore.build.cache import SUFFIX

QUESTION = "how long does kc.compile take [ms], cold and for an equal, newly built model from the cache?"
STARTS = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}

# From a URDF file to u̇ in a process of its own, when all is imported: milliseconds, and u̇.
FROM_FILE = """
import time
import warnings
import numpy as np
import kanecore as kc
import kanecore._compile
warnings.simplefilter("ignore", kc.KanecoreWarning)
x = np.array({x})
start = time.perf_counter()
dyn = kc.compile(kc.Model.from_urdf({file!r}, floating_base={floating}, mimic=False))
print(1e3 * (time.perf_counter() - start), *dyn.udot(0.0, x, r=np.zeros(dyn.n_r)))
"""

_processes: list[str] = []


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a mechanism; one row a robot of a file; one row a group; one row a mechanism and side.

    ``cold`` is ``kc.compile`` with an empty cache, ``to_c`` and ``cc`` its two parts; ``cached`` is the same call for
    a model that was described anew, ``described_cached`` that and the description; ``processes`` those that the cached
    calls started.
    """
    sys.addaudithook(_watch)
    mechanisms = [models.robot(), models.arm()]
    if not smallest:
        mechanisms += [models.cart(20), models.chain(20), models.cart(40), models.chain(40)]
    rows = [_row(m, *((1, 3) if smallest else (3, 7))) for m in mechanisms]
    known = [models.robot()] if smallest else [models.robot(), models.arm(), models.disc(), models.bicycle()]
    files = [models.panda()] if smallest else [models.panda(), models.quadruped(), models.humanoid()]
    robots = [_from_file(m, *((1, 1) if smallest else (3, 7))) for m in files]
    return {
        "core group": rows,
        "file to machine code": robots,
        "derivatives": _derivatives("rrp", 5) if smallest else _derivatives("g1", 300),
        "first number": [row for m in known for row in _first(m)],
    }


def _row(mechanism: models.Mechanism, colds: int, hits: int) -> report.Row:
    times: dict[str, list[float]] = {k: [] for k in ("cold", "to_c", "cc", "cached", "described_cached")}
    processes = 0
    for _ in range(colds):
        with tasks.empty_cache() as folder:
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
    return row


def _derivatives(name: str, links: int) -> list[report.Row]:
    """Seconds from Python to the kernel of a robot's derivatives, a row a group, then of a chain's equations."""
    with tasks.empty_cache():
        dyn = kc.load(name)
        x = np.zeros(dyn.n_x)
        for unit in dyn.unit:
            x[unit[0]] = 1.0
        dyn.linearize(0.0, x), dyn.rhs_jvp(0.0, x, x), dyn.rhs_vjp(0.0, x, x)
        chain = kc.compile(models.chain(links).build())
    built = {f"{name}: {group}": dyn.info["build"][group] for group in ("linearize", "tangent", "gradient")}
    built[f"chain of {links}: core"] = chain.info["build"]["core"]
    rows = []
    for case, parts in built.items():
        derive, cc = parts["derive_seconds"], parts["compile_seconds"]
        rows.append({"case": case, "s": derive + cc, "derive": derive, "cc": cc})
    return rows


def _from_file(mechanism: models.Mechanism, colds: int, hits: int) -> report.Row:
    """A robot's file to machine code in new processes, with an empty cache and from the cache; imports are aside.

    ``error`` is the difference of u̇ at one state from that by articulated bodies.
    """
    robot = mechanism.robot(lambda _, number: float(number))
    free = recursions.FREE if robot.base else 0
    x = models.states(2 * len(robot.bodies) + 2 * free + bool(free))[0]
    if free:
        x[mechanism.quaternion] /= np.linalg.norm(x[mechanism.quaternion])
    program = FROM_FILE.format(x=x.tolist(), file=str(mechanism.file), floating=bool(free))
    cold, cached = [], []
    for _ in range(colds):
        with tasks.empty_cache():
            cold.append(_in_a_process(program)[0])
            cached += [_in_a_process(program) for _ in range(hits)]
    q, u = np.split(x, [len(robot.bodies) + free + bool(free)])
    efforts = [0.0] * len(u)
    functions = recursions.Functions(math.sin, math.cos)
    theirs = np.array(recursions.articulated(robot, q.tolist(), u.tolist(), efforts, functions))
    times = [took for took, *_ in cached]
    row: report.Row = {"case": mechanism.name, "cold": timing(cold).median, "cached": timing(times).median}
    row |= {"cold_min": min(cold), "cached_min": min(times)}
    return row | {"error": sides.difference(np.array([cached[0][1:]]), theirs[None])}


def _in_a_process(program: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def _first(mechanism: models.Mechanism) -> list[report.Row]:
    """Seconds from nothing to the first u̇, everything derived and compiled anew, once."""
    task = tasks.prebuilt(mechanism)

    def ours() -> np.ndarray:
        dyn, _, _ = _compiled(mechanism)
        return dyn.udot(0.0, task.x[0], r=task.r, p=mechanism.parameters)

    theirs, missing = peers.sides("first", task)
    rows: list[report.Row] = []
    for name, number in [("kanecore", ours), *theirs]:
        with tasks.empty_cache() as folder, mock.patch.object(shared, "FOLDER", folder):
            start = time.perf_counter()
            udot = number()
            seconds = time.perf_counter() - start
        row: report.Row = {"case": f"{mechanism.name}: {name}", "s": seconds}
        row["ours/it"] = rows[0]["s"] / seconds if rows else ""
        rows.append(row | {"error": sides.difference(udot[None], task.udot[:1])})
    return rows + [
        {"case": f"{mechanism.name}: {p}", "s": sides.NOT_COMPARED, "ours/it": "", "error": ""} for p in missing
    ]


def _compiled(mechanism: models.Mechanism) -> tuple[kc.CompiledModel, float, float]:
    """A model described and compiled anew, with the seconds of ``kc.compile`` and of the description."""
    start = time.perf_counter()
    model = mechanism.build()
    described = time.perf_counter()
    dyn = kc.compile(model)
    return dyn, time.perf_counter() - described, described - start


def _watch(event: str, _: tuple[Any, ...]) -> None:
    if event in STARTS:
        _processes.append(event)


if __name__ == "__main__":
    report.main("compile", QUESTION, measure)
