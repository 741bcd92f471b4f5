# SPDX-License-Identifier: BSD-3-Clause
"""All MJCF files of packages that ship some: M, forces and accelerations at a random state are MuJoCo's.

Most files kanecore compiles itself, the others MuJoCo.  The packages come from the index that pip knows into a
temporary folder; without a network nothing is tested.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kanecore as kc
from kanecore.describe.mjcf_compiler.mjcf_compiler import compile_mjcf

PACKAGES = {"dm_control": 20, "gymnasium": 10, "gymnasium-robotics": 20, "openarm-mujoco": 3, "playground": 15}
"""Packages, and numbers of distinct files of each that move at least."""
LARGEST = 60  # speeds
ACCURACY = 1e-12
MUJOCO = "reads files: pip install mujoco"


def unpacked(package: str, folder: Path) -> Path:
    """The files of a package; a skip where there is no network."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder)]
    done = subprocess.run([*command, package], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip finds no {package}: {done.stderr[-200:]}")
    [archive] = folder.iterdir()
    target = folder / "files"
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(target)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
    return target


def moving_models(folder: Path) -> Iterator[tuple[Path, Any]]:
    """Distinct files that MuJoCo compiles and that move; others lack meshes, or are parts of files."""
    import mujoco

    known = set[bytes]()
    for path in sorted(folder.rglob("*.xml")):
        text = path.read_bytes()
        key = hashlib.sha256(text).digest()
        if b"<mujoco" not in text or key in known:
            continue
        known.add(key)
        try:
            m = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        if 0 < m.nv <= LARGEST:
            yield path, m


def own_record(path: Path) -> Any:
    """What kanecore makes of a file without MuJoCo; None if it refuses."""
    try:
        return compile_mjcf(path)
    except kc.ModelError:
        return None


def errors(m: Any, record: Any) -> dict[str, float]:
    """Differences from MuJoCo at a random state, relative to the sizes of what is added up."""
    import mujoco

    dyn = kc.compile(kc.Model.from_mjcf(m if record is None else record, equality="ignore"), cc="none")
    rng, d = np.random.default_rng(7), mujoco.MjData(m)
    d.qpos[:] = m.qpos0 + rng.uniform(-0.5, 0.5, m.nq)
    for j in np.flatnonzero(m.jnt_type < 2):
        k = m.jnt_qposadr[j] + 3 * (m.jnt_type[j] == 0)
        d.qpos[k : k + 4] = (e := rng.normal(size=4)) / np.linalg.norm(e)
    d.qvel[:], d.ctrl[:] = rng.uniform(-1, 1, m.nv), rng.uniform(-1, 1, m.nu)
    d.act[:] = rng.uniform(0.1, 0.9, m.na)
    mujoco.mj_forward(m, d)
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, mass)
    x = np.concatenate([d.qpos, d.qvel, d.act])
    parts = [d.qfrc_passive, d.qfrc_actuator, -d.qfrc_bias]
    size = np.max(np.abs(parts), initial=1e-9)
    found = dyn.udot(0.0, x, r=d.ctrl)
    residual = mass @ (found - d.qacc_smooth)
    weight = np.abs(mass) @ (np.abs(found) + np.abs(d.qacc_smooth))
    return {
        "mass matrix": float(np.max(np.abs(dyn.mass_matrix(0.0, x) - mass)) / np.max(np.abs(mass))),
        "forces": float(np.max(np.abs(dyn.forcing(0.0, x, r=d.ctrl) - np.sum(parts, axis=0))) / size),
        "accelerations": float(np.max(np.abs(residual) / np.maximum(weight, size * 1e-3))),
    }


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::kanecore.KanecoreWarning")
@pytest.mark.parametrize("package", PACKAGES)
def test_all_files_of_a_package(package: str) -> None:
    pytest.importorskip("mujoco", minversion="4.0", reason=MUJOCO)
    with tempfile.TemporaryDirectory() as folder:
        models = moving_models(unpacked(package, Path(folder)))
        compiled = [(path, m, own_record(path)) for path, m in models]
        found = {str(path): errors(m, record) for path, m, record in compiled}
    wrong = {name: error for name, error in found.items() if max(error.values()) > ACCURACY}
    assert wrong == {}
    assert len(found) >= PACKAGES[package]
    refused = sum(record is None for _, _, record in compiled)
    assert refused <= 0.1 * len(found) or package == "openarm-mujoco"  # which attaches its arms
