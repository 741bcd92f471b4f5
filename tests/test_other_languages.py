# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the page "Other languages", compiled and run where there is a compiler, beside the same in Python."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from gallery_states import c_text

import kanecore as kc
from kanecore.build.c_compiler import find_compiler

pytestmark = pytest.mark.compiler

Array = npt.NDArray[np.float64]

SETUP = """
import kanecore
from Cython.Build import cythonize
from setuptools import Extension, setup

extension = Extension("from_cython", ["from_cython.pyx"], include_dirs=[kanecore.get_include()])
setup(name="fall", ext_modules=cythonize([extension]))
"""

CALL = """
import sys
import from_cython
import numpy as np
import kanecore as kc

x = np.array([float(word) for word in sys.argv[1:]])
print(from_cython.fall(kc.load("rrp"), x, 1e-3, 100), *x)
"""


def run(*command: object, cwd: Path, **environment: str) -> list[str]:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


def fallen(starts: Array) -> Array:
    """The steps that all examples take, in Python."""
    dyn = kc.load("rrp")
    x = starts.copy()
    for step in range(100):
        x[:, dyn.n_q :] += 1e-3 * dyn.udot(1e-3 * step, x)
        x[:, : dyn.n_q] += 1e-3 * x[:, dyn.n_q :]
    return x


def starts(angles: Array) -> Array:
    x = np.zeros((len(angles), 6))
    x[:, 1] = angles
    return x


def compiler(name: str) -> str:
    path = shutil.which(name)
    if path is None or subprocess.run([path, "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no {name}, or it has no toolchain")
    return path


@pytest.mark.long
def test_cpp(root: Path, tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(c_text("rrp"), encoding="utf-8")
    include = f"-I{kc.get_include()}"
    run(*find_compiler(), "-std=c99", "-O1", "-ffp-contract=off", include, "-c", "model.c", cwd=tmp_path)
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", include, root / "examples/from_cpp.cpp"]
    run(compiler("g++"), *strict, "model.o", "-pthread", "-o", "from_cpp", "-lm", cwd=tmp_path)
    printed = np.array(run(tmp_path / "from_cpp", cwd=tmp_path), dtype=float).reshape(4, 3)
    np.testing.assert_allclose(printed, fallen(starts(0.1 * np.arange(4)))[:, :3], rtol=1e-12)


@pytest.mark.long
def test_rust(root: Path, tmp_path: Path) -> None:
    source = root / "examples/from_rust.rs"
    run(compiler("rustc"), "-O", "--edition", "2021", "--crate-type", "cdylib", source, "-o", "fall.so", cwd=tmp_path)
    failed, *angles = run(sys.executable, root / "examples/from_rust.py", tmp_path / "fall.so", cwd=tmp_path)
    assert failed == "0"
    expected = fallen(starts(np.linspace(0.0, 0.9, 10)))[:, 1]
    np.testing.assert_allclose(np.array(angles, dtype=float), expected, rtol=1e-12)


def test_cython(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    shutil.copy(root / "examples/from_cython.pyx", tmp_path)
    (tmp_path / "setup.py").write_text(SETUP)
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path, CFLAGS="-O0")
    start = [0.0, 0.1, 0.2, 0.0, 0.3, 0.0]
    status, *end = run(sys.executable, "-c", CALL, *start, cwd=tmp_path)
    assert status == "0"
    np.testing.assert_allclose(np.array(end, dtype=float), fallen(np.array([start]))[0], rtol=1e-12)


def test_cffi(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cffi")
    runpy.run_path(str(root / "examples/from_cffi.py"))
    assert capsys.readouterr().out.endswith("True\n")
