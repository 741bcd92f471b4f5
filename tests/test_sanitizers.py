# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel of every gallery model, and the extension, under the address and undefined-behaviour sanitizers.

tests/c/every_kernel.c calls kernels with buffers of exactly the promised lengths, at states from zero to NaN.  The
extension opens altered tables and uses what opens: tests/altered_tables.py.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery_states import c_text
from sweep import every, part
from test_functions import boulder, hills, street

import kanecore as kc
from kanecore.build import include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.emit.kernel_groups import emit_library
from kanecore.gallery import models as gallery_models
from kanecore.kernels import KERNELS

pytestmark = pytest.mark.compiler

PROGRAM = Path(__file__).parent / "c" / "every_kernel.c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
ARITHMETIC = ["-fno-math-errno", "-ffp-contract=off"]
SANITIZERS = [
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize=null,alignment,pointer-overflow,object-size",  # of every access; what they guard is the former's too
    "-fno-sanitize-recover=all",
    "-g1",
]


def compile_c(*arguments: str | Path, warnings: Sequence[str] = STRICT) -> None:
    command = [*find_compiler(), *warnings, *ARITHMETIC, *SANITIZERS, f"-I{include_dir()}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and re.search(
        "unrecognized.*sanitize|unsupported option.*sanitize|l(ib)?[au]b?san", done.stderr
    ):
        pytest.skip(f"this compiler has no sanitizers: {done.stderr.splitlines()[0]}")
    assert not done.returncode, done.stderr


def run(program: Path) -> tuple[int, str]:
    # no other allocator in between; leaks are not the question, and their search needs rights that some lack
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    environment.pop("LD_PRELOAD", None)
    done = subprocess.run([program], capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stdout + done.stderr


# Libraries of robots hold some groups of kernels alone.  The tree of 30 joints has the arm's programs, and takes 100 s.
WHOLE = [name for name in kc.models() if name not in {*kc.gallery.robots(), "tree30"}]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Object file of the program."""
    path = tmp_path_factory.mktemp("sanitized") / "program.o"
    compile_c("-c", "-O1", PROGRAM, "-o", path)
    return path


@pytest.mark.parametrize("name", part(WHOLE, ["wire_particle"]))
def test_gallery(name: str, program: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.c"
    path.write_text(c_text(name), encoding="utf-8")
    compile_c("-O0", program, path, "-lm", "-o", tmp_path / name)
    n_kernels = len(re.findall(r"^    \.\w+ = kernel_", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert n_kernels >= 12
    assert run(tmp_path / name) == (0, f"{n_kernels} kernels\n")


@pytest.mark.long
@pytest.mark.parametrize("extrapolate", part([True, False, "periodic"], ["periodic"]))
def test_tables_of_splines(extrapolate: Any, program: Path, tmp_path: Path) -> None:
    """Of one and two arguments, inside and outside their knots."""
    data = {
        street: kc.Spline([0.0, 0.5, 1.5], [1.0, 0.0, 2.0], extrapolate=extrapolate),
        hills: kc.Spline([-1.0, 1.0], [0.0, 0.3, 0.5, 2.0], np.eye(2, 4), extrapolate=extrapolate),
    }
    model = boulder(lambda x, y: hills(x, y) * street(x), functions=data)
    (tmp_path / "model.c").write_text(emit_library(model.description).text, encoding="utf-8")
    compile_c("-O0", program, tmp_path / "model.c", "-lm", "-o", tmp_path / "model")
    assert run(tmp_path / "model")[0] == 0


def test_the_program_knows_every_kernel() -> None:
    table = re.findall(
        r"^kc_kernel \*(\w+);", (include_dir() / "kc_kernels.h").read_text(encoding="utf-8"), re.MULTILINE
    )
    rows = PROGRAM.with_name("kernels.inc").read_text(encoding="utf-8")
    assert table == re.findall(r'\{"(\w+)", m->(?:\1),', rows) == [kernel.name for kernel in KERNELS]
    assert '#include "kernels.inc"' in PROGRAM.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    ("good", "bad", "words"),
    every(
        2,
        [
            ("out[0] = x[0];", "out[0] = x[1];", "heap-buffer-overflow"),
            ("out[0] = x[0];", "out[1] = x[0];", "heap-buffer-overflow"),
            ("out[0] = x[0];", "out[0] = work[1];", "depends on what was in work or out"),
            ("out[0] = x[0];", "out[0] = (int)c[0] << 31;", "left shift"),
            ("out[0] = x[0];", "", "depends on what was in work or out"),
            (".n_work = 2", ".n_work = 1", "n_work is at least 2"),
        ],
        first=1,
    ),
)
def test_the_program_finds_mistakes(good: str, bad: str, words: str, tmp_path: Path) -> None:
    """A model of one coordinate and no speed, and what a wrong kernel of it meets."""
    assert good in MODEL
    (tmp_path / "model.c").write_text(MODEL.replace(good, bad))
    compile_c("-O0", PROGRAM, tmp_path / "model.c", "-lm", "-o", tmp_path / "model")
    status, said = run(tmp_path / "model")
    assert status != 0
    assert words in said


def test_the_program_passes_what_is_right(tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(MODEL)
    compile_c("-O0", PROGRAM, tmp_path / "model.c", "-lm", "-o", tmp_path / "model")
    assert run(tmp_path / "model") == (0, "20 kernels\n")


# The extension ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def extension(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kanecore._library with sanitizers."""
    pytest.importorskip("Cython")
    folder = tmp_path_factory.mktemp("extension")
    text, library = folder / "_library.c", folder / "_library.so"
    command = [sys.executable, "-m", "cython", "-3", root / "kanecore/_library.pyx", "-o", text]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    folders = (root / "kanecore/include", root / "kanecore/src", root / "kanecore/binding")
    folders += (root / "pysrc/kanecore/emit/runtime", sysconfig.get_path("include"), np.get_include())
    sources = (text, *sorted((root / "kanecore/src").rglob("*.c")))
    shared = ("-shared", "-fPIC", "-O0", *(f"-I{folder}" for folder in folders))
    compile_c(*shared, *sources, "-lm", "-o", library, warnings=["-w"])  # what Cython writes has some
    return library


def shared_runtime(name: str) -> str:
    """Path of a sanitizer's library, for a program that was linked without."""
    command = [*find_compiler(), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if not Path(path).is_absolute():
        pytest.skip(f"this compiler has no {name}")
    return path


def in_python(more: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Python with the sanitizers' runtimes, ``more`` options of the address sanitizer."""
    runtimes = ":".join([shared_runtime("libasan.so"), shared_runtime("libubsan.so")])
    asan = {"ASAN_OPTIONS": f"detect_leaks=0{more}", "LD_PRELOAD": runtimes, "PYTHONMALLOC": "malloc"}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **asan}, capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_altered_tables(seed: int, extension: Path, root: Path, tmp_path: Path) -> None:
    """No table makes the extension read or write beside anything, whether it opens or not."""
    library = tmp_path / "any_table.so"
    compile_c("-shared", "-fPIC", "-fvisibility=hidden", "-O0", root / "tests/c/any_table.c", "-o", library)
    script = root / "tests/altered_tables.py"
    done = in_python(":allocator_may_return_null=1", "-W", "ignore", script, library, str(seed), "250", extension)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["opened"] > 50


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in gallery_models() if name != "tree30"])
def test_the_machine(name: str, extension: Path, root: Path) -> None:
    """It reads and writes what C would, and the registers, which are part of the scratch."""
    done = in_python("", "-W", "ignore", root / "tests/coded_kernels.py", extension, name)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30


MODEL = """\
#include "kanecore.h"
static void prepare(const double *p, double *c) { c[0] = p[0]; }
static void one(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)x, (void)r, (void)c, (void)work, (void)out;
    out[0] = x[0];
}
static void two(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    (void)t, (void)r, (void)c, (void)work;
    out[0] = *x, out[1] = *x;
}
static const char *const names[] = {"x", 0};
static const double values[] = {3.0};
static const char *const info[] = {
    "{\\"missing\\":{\\"generalized_momenta\\":\\"\\",\\"momentum_rates\\":\\"\\",",
    "\\"kinetic_energy_parts\\":\\"\\",\\"gravity_field\\":\\"\\"}}", 0};
static const kc_model model = {
    .abi_version = KC_ABI_VERSION, .struct_size = sizeof(kc_model), .name = "mistaken",
    .n_q = 1, .n_p = 1, .n_prepared = 1, .n_work = 2,
    .q_names = names, .p_names = names, .p_default = values, .prepare = prepare,
    .rhs = one, .qdot = one, .kinetic_energy = one, .potential_energy = one, .power = one,
    .linearize = one, .gibbs = one, .hamiltonian = one, .hamiltonian_rate = one, .coordinate_forces = one,
    .rhs_time_derivative = one, .rhs_parameter_jacobian = one, .inverse_dynamics_gradient = one,
    .hessian_products = one, .rhs_tangent = one, .rhs_gradient = one,
    .rhs_parameter_tangent = one, .rhs_parameter_gradient = two, .rhs_hessian = one,
    .output_gradient = one,
    .n_info = 2, .info = info,
};
const kc_model *kc_get_model(void) { return &model; }
"""
