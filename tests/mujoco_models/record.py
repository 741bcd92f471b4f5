# SPDX-License-Identifier: BSD-3-Clause
"""Writes what MuJoCo makes of the models beside this file: the numbers that kanecore reads, and results at five states.

Of the files in ``rules``, which are for rules of the compiler, it writes the numbers alone.

``python tests/mujoco_models/record.py`` with mujoco==4.0.0; tests read the JSON files, without MuJoCo.
"""

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kanecore as kc
from kanecore.describe.mjcf_compiler.mjcf_compiler import compile_mjcf

FOLDER = Path(__file__).parent
RESULTS = (
    *("qfrc_bias", "qfrc_passive", "qfrc_actuator", "qacc_smooth", "act_dot", "actuator_force", "ten_length"),
    "sensordata",
)


class Recorder:
    """A compiled model, or its options, that remembers which members are read."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.read = inner, dict[str, Any]()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        if name == "opt":
            self.read.setdefault("opt", Recorder(value))
            return self.read["opt"]
        self.read[name] = value
        return value


def plain(value: Any) -> Any:
    if isinstance(value, Recorder):
        return {name: plain(each) for name, each in sorted(value.read.items())}
    return value.decode() if isinstance(value, bytes) else np.asarray(value).tolist()


def main() -> None:
    for path in [*sorted(FOLDER.glob("*.xml")), kc.gallery.robot_file("cheetah")]:
        m = mujoco.MjModel.from_xml_path(str(path))
        recorder = Recorder(m)
        kc.Model.from_mjcf(recorder)
        kc.Model.from_mjcf(recorder, friction=0.01, limits="spring", contacts="collision")
        rng, states = np.random.default_rng(5), []
        for _ in range(5):
            d = mujoco.MjData(m)
            d.qpos[:] = m.qpos0 + rng.uniform(-0.7, 0.7, m.nq)
            for j in np.flatnonzero(m.jnt_type < 2):
                k = m.jnt_qposadr[j] + 3 * (m.jnt_type[j] == 0)
                d.qpos[k : k + 4] = (e := rng.normal(size=4)) / np.linalg.norm(e)
            d.qvel[:], d.ctrl[:] = rng.uniform(-2, 2, m.nv), rng.uniform(-1.5, 1.5, m.nu)
            d.act[:] = rng.uniform(0.05, 0.95, m.na)
            mujoco.mj_forward(m, d)
            mass = np.zeros((m.nv, m.nv))
            mujoco.mj_fullM(m, d, mass)
            state = {"x": [*d.qpos, *d.qvel, *d.act], "ctrl": d.ctrl.tolist(), "M": mass.tolist()}
            states.append(state | {name: getattr(d, name).tolist() for name in RESULTS})
        text = json.dumps({"mujoco": mujoco.__version__, "model": plain(recorder), "states": states})
        (FOLDER / f"{path.stem}.json").write_text(text + "\n", encoding="utf-8")
    for path in sorted((FOLDER / "rules").glob("*.xml")):
        m, record = mujoco.MjModel.from_xml_path(str(path)), compile_mjcf(path)
        numbers = {
            name: plain(getattr(m, name)) for name in vars(record) if name != "opt" and not name.startswith("name")
        }
        numbers["opt"] = {name: plain(getattr(m.opt, name)) for name in vars(record.opt)}
        path.with_suffix(".json").write_text(json.dumps(numbers) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
