# SPDX-License-Identifier: BSD-3-Clause
"""What CONTRIBUTING.md says that a new kernel and a new integrator take, done to a copy of the sources.

A kernel is a row, a function and a test; an integrator is a table and a row.  The copy has a gallery of a few models.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.packaging, pytest.mark.compiler]

MODELS = (
    *("appell_hamel", "ball_turntable", "cart_pole", "four_bar", "free_body", "rolling_disc", "rotating_tube", "rrp"),
    "slider_crank",
)

ROW = """
    Kernel(
        *("momenta_of_speeds", "energies", ("n_u",), r"\\partial T/\\partial u", "dT/du"),
        "The derivatives of the kinetic energy with respect to the speeds",
        table="Energy and momentum",
    ),
)

KERNEL_GROUPS"""

FUNCTION = '''

@derives("momenta_of_speeds")
def _momenta_of_speeds(d: Derivation) -> Derived:
    """M u, with the momenta of prescribed motion."""
    return Derived(tuple(accumulate(d.graph, [(d.formulation.kinetic_energy, 1)], d.description.speeds)))
'''

TABLE = """
/* Heun's method of order 2. */
static const double improved_euler_c[3] = {0.0, 1.0, 1.0};
static const double improved_euler_a[3][3] = {{0.0}, {1.0}, {0.5, 0.5}};

static const kc_method improved_euler = {.name = "improved_euler",
                               .order = 2,
                               .stages = 2,
                               .extended = 3,
                               .n_dense = 2,
                               .a = improved_euler_a[0],
                               .c = improved_euler_c,
                               .step = by_tableau,
                               .dense = kc_hermite_dense,
                               .interpolate = kc_hermite_interpolate};

const kc_method *const kc_methods[] = {&improved_euler, """

USE = """
import ctypes
import numpy as np
import kanecore as kc
from kanecore.gallery import cart_pole

dyn = kc.load("cart_pole")
x = np.array([0.1, 0.4, 0.3, -0.7])
momenta = dyn.mass_matrix(0.0, x) @ x[2:]
ws = dyn.workspace()
ws.x = x
found = np.zeros(2)
function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address("momenta_of_speeds"))
c, r, work = dyn.prepared, np.zeros(dyn.n_r), np.zeros(dyn.n_work)
function(0.0, *(a.ctypes.data for a in (x, r, c, work, found)))
assert "momenta_of_speeds" in dir(dyn)
single, batch = dyn.momenta_of_speeds(0.0, x), dyn.momenta_of_speeds([0.0, 1.0], x)[1]
for value in (single, batch, ws.momenta_of_speeds(), found):
    np.testing.assert_allclose(value, momenta, rtol=1e-14)
assert cart_pole.build().momenta_of_speeds[1].shape == (2, 1)
assert kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS).momenta_of_speeds(0.0, x).shape == (2,)

fine = dyn.simulate((0.0, 1.0), x, rtol=1e-12, atol=1e-12).x[-1]
errors = [np.max(np.abs(dyn.simulate((0.0, 1.0), x, method="improved_euler", dt=h).x[-1] - fine)) for h in (1e-2, 5e-3)]
assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2, errors
"""


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_kernel_and_an_integrator(root: Path, tmp_path: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in listed:
        if (root / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, tmp_path / name)
    package = tmp_path / "pysrc/kanecore"
    for path in (package / "gallery").glob("[a-z]*.py"):
        if path.stem not in MODELS:
            path.unlink()
    edit(package / "kernels.py", "\n)\n\nKERNEL_GROUPS", ROW)
    energies = package / "derive/kernels/energy_kernels.py"
    edit(
        energies,
        "\n__all__: list[str] = []",
        "from kanecore.graph.calculus import accumulate\n\n__all__: list[str] = []",
    )
    energies.write_text(energies.read_text(encoding="utf-8") + FUNCTION, encoding="utf-8")
    edit(tmp_path / "kanecore/src/kc_methods.c", "\nconst kc_method *const kc_methods[] = {", TABLE)

    def run(*words: str) -> None:
        folders = {"PYTHONPATH": str(tmp_path / "pysrc"), "KANECORE_CACHE_DIR": str(tmp_path / "cache")}
        flags = {"KANECORE_CFLAGS": "-O0 -frecord-gcc-switches"} if sys.platform == "linux" else {}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env={**os.environ, **folders, **flags},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"

    run("-m", "kanecore.build.generated_sources")
    run("setup.py", "-q", "build_ext", "--inplace")
    if sys.platform == "linux":  # the extension says with which flags it was compiled
        assert all(b"-O0" in path.read_bytes() for path in package.glob("_*.so"))
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    run("use.py")
    # what the package demands of all its kernels and methods; the golden files of the gallery are another matter
    files = [f"tests/test_{name}.py" for name in ("sanitizers", "layout", "native", "symbolic_expressions", "ode")]
    chosen = "four_bar or rrp or knows_every or generated or grows or groups or table or rolling_disc or order"
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *files, "-k", chosen)
