# SPDX-License-Identifier: BSD-3-Clause
"""Time of u̇ and of a step of RK4 of MuJoCo's own files, beside MuJoCo; and from a file to the first u̇."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import report
import sides
import tasks
from models import N_STATES
from rollout import DT

import kanecore as kc

QUESTION = "how long does u̇ of a MuJoCo file take [ns], a step of RK4 of 256 motions, and from the file to u̇ [s]?"
FILES = (
    *("ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "inverted_pendulum"),
    *("pusher", "reacher", "swimmer", "walker2d"),
)
"""Files of the package gymnasium."""
FIRST = "humanoid"
MOTIONS, STEPS = 256, 100
REPEATS = 15

# From a file to u̇ in a process of its own, when all is imported.
FROM_FILE = """
import time
import mujoco
import numpy as np
import kanecore as kc
import kanecore._compile
import kanecore.model
start = time.perf_counter()
dyn = kc.compile(kc.Model.from_mjcf({file!r}), cc={cc!r})
dyn.udot(0.0, dyn.state(), r=np.zeros(dyn.n_r))
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class File:
    """A file without contacts, limits, equality, dry friction and sensors, as MuJoCo and as we have it."""

    path: Path

    @cached_property
    def mujoco(self) -> Any:
        """MuJoCo's model."""
        import mujoco

        m = mujoco.MjModel.from_xml_path(str(self.path))
        bits = mujoco.mjtDisableBit
        m.opt.disableflags |= int(bits.mjDSBL_CONSTRAINT | bits.mjDSBL_CONTACT | bits.mjDSBL_SENSOR)
        m.opt.enableflags, m.opt.integrator = 0, mujoco.mjtIntegrator.mjINT_RK4
        return m

    @cached_property
    def dyn(self) -> kc.CompiledModel:
        dyn = kc.compile(kc.Model.from_mjcf(self.mujoco))
        dyn.inputs.update(zip(dyn.input_names, self.r, strict=True))
        return dyn

    @cached_property
    def r(self) -> np.ndarray:
        return np.random.default_rng(1).uniform(-1.0, 1.0, self.mujoco.nu)

    @cached_property
    def x(self) -> np.ndarray:
        """States, (64, n_x)."""
        m, rng = self.mujoco, np.random.default_rng(2)
        x = rng.uniform(-0.5, 0.5, (N_STATES, m.nq + m.nv))
        x[:, : m.nq] += m.qpos0
        for e in map(list, self.dyn.unit):
            x[:, e] /= np.linalg.norm(x[:, e], axis=1, keepdims=True)
        return x

    def forward(self) -> list[sides.Side]:
        """Both accelerations, from Python."""
        import mujoco

        m, out = self.mujoco, np.empty(self.dyn.n_u)
        d = mujoco.MjData(m)
        d.ctrl[:] = self.r
        result = []
        for x in self.x:
            d.qpos[:], d.qvel[:] = np.split(x, [m.nq])
            mujoco.mj_forward(m, d)
            result.append(d.qacc.copy())
        theirs = {"forward": mujoco.mj_forward, "m": m, "d": d, "q": d.qpos, "v": d.qvel}
        pairs = [tuple(np.split(x, [m.nq])) for x in self.x]
        ours = {"udot": self.dyn.udot, "out": out}
        facts = {"operations": self.dyn.info["operations"]["udot"], "result": self.dyn.udot(0.0, self.x)}
        return [
            sides.in_python("kanecore udot(out=)", "udot(0.0, x, out=out)", list(self.x), ours, **facts),
            sides.in_python(
                "mujoco mj_forward", "q[:], v[:] = x; forward(m, d)", pairs, theirs, result=np.array(result)
            ),
        ]

    def rollout(self) -> list[sides.Side]:
        """Both rollouts, on one thread; MuJoCo turns quaternions on the sphere."""
        import mujoco.rollout

        m, x0 = self.mujoco, np.resize(self.x, (MOTIONS, self.dyn.n_x))
        full = mujoco.mjtState.mjSTATE_FULLPHYSICS
        start = np.zeros((MOTIONS, mujoco.mj_stateSize(m, full)))
        start[:, 1 : 1 + x0.shape[1]] = x0  # behind the time
        m.opt.timestep = DT
        given = {"nstep": STEPS, "control": np.tile(self.r, (MOTIONS, 1, 1))}
        given["state"] = np.empty((MOTIONS, STEPS, start.shape[1]))
        out, data = np.empty((MOTIONS, STEPS + 1, x0.shape[1])), mujoco.MjData(m)

        def ours() -> np.ndarray:
            return self.dyn.rollout(x0, dt=DT, steps=STEPS, threads=1, out=out)

        def theirs() -> np.ndarray:
            return np.asarray(mujoco.rollout.rollout(m, data, start, **given)[0])

        ends = ours()[:, -1].copy(), theirs()[:, -1, 1 : 1 + x0.shape[1]]
        runs = (("kanecore", ours), ("mujoco rollout", theirs))
        return [
            sides.Side(name, [sides.repeated(run)], None, per=MOTIONS * STEPS, error=sides.difference(end, ends[0]))
            for (name, run), end in zip(runs, ends, strict=True)
        ]


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a file and side; the first of a file is ours."""
    titles = ("u̇ from Python", "a step of RK4", "file to u̇")
    package = find_spec("gymnasium")
    missing = [name for name in ("gymnasium", "mujoco") if not find_spec(name)]
    if missing or package is None or package.origin is None:
        untimed = sides.rows_of_missing("files", missing)
        return dict(zip(titles, (untimed, untimed, [{"case": "files: mujoco", "s": sides.NOT_COMPARED}]), strict=True))
    folder = Path(package.origin).parent / "envs" / "mujoco" / "assets"
    files = [File(folder / f"{name}.xml") for name in (("inverted_pendulum",) if smallest else FILES)]
    repeats, tables = (3 if smallest else REPEATS), list[list[report.Row]]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kc.KanecoreWarning)
        for offered in (File.forward, File.rollout):
            tables.append([row for file in files for row in sides.rows(file.path.stem, offered(file), [], repeats)])
    first = FIRST if not smallest else files[0].path.stem
    tables.append([_from_file(folder / f"{first}.xml", cc, 1 if smallest else 3) for cc in (None, "none")])
    return dict(zip(titles, tables, strict=True))


def _from_file(path: Path, cc: str | None, times: int) -> report.Row:
    """Seconds from a file to u̇, with an empty cache."""
    command = [sys.executable, "-W", "ignore", "-c", FROM_FILE.format(file=str(path), cc=cc)]
    seconds = []
    for _ in range(times):
        with tasks.empty_cache():
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout))
    return {"case": f"{path.stem}: {'compiled' if cc is None else 'without a compiler'}", "s": min(seconds)}


if __name__ == "__main__":
    report.main("mjcf", QUESTION, measure)
