# SPDX-License-Identifier: BSD-3-Clause
"""The same bits: kernels in groups, as `kc.compile` makes them, and as a whole, as exports and wheels hold them; and
exported C by other compilers, at other levels of optimization, with fused multiply-adds in hardware or by libm."""

import ctypes
import platform
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from mechanisms import stiff
from sweep import part

import kanecore as kc
from kanecore.compiled_model import CompiledModel
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups, whole
from kanecore.kernels import KERNELS

Array = npt.NDArray[np.float64]

# Of these some derivatives, sums of many terms, are added in the order in which they were derived: rounding differs.
ADJOINT = {"hessian_products", "rhs_gradient", "rhs_parameter_gradient", "rhs_hessian"}
IN_ANOTHER_ORDER = {
    "four_bar": ADJOINT,
    "stewart": {*ADJOINT, "linearize"},
    "panda": {
        *("linearize", "rhs_parameter_jacobian", "inverse_dynamics_gradient", "hessian_products", "momentum_rates"),
        "rhs_hessian",
    },
}


def result(dyn: CompiledModel, kernel: str, x: Array) -> bytes:
    """What a kernel writes at x, behind which stands whatever else it reads."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address(kernel))
    sizes = {name: getattr(dyn, name) for name in dir(type(dyn)) if name.startswith("n_")}
    row = next(row for row in KERNELS if row.name == kernel)
    r, c, work = np.linspace(-1.0, 1.0, dyn.n_r + 1), dyn.prepared, np.zeros(dyn.n_work)
    out = np.zeros(int(np.prod(row.lengths(sizes))) + 1)
    function(0.3, *(a.ctypes.data for a in (x, r, c, work, out)))
    return (out + 0.0).tobytes()  # zeros have no sign


@pytest.mark.parametrize("name", part(["kepler", "rrp", "four_bar", "free_body", "car", "stewart", "panda"], ["rrp"]))
def test_groups_and_a_whole(name: str) -> None:
    module = import_module(f"kanecore.gallery.{name}")
    description, info = module.build().description, {"build": {}}
    groups = Groups(description, first=FIRST)
    core = {"core": code(groups.library("core"))}
    apart = CompiledModel(core, source={}, builder=lambda group: (code(groups.library(group)), None), info=info)
    together = CompiledModel({"all": code(whole(description, first=FIRST))}, source={}, info=info)
    rng, compared = np.random.default_rng(1), 0
    x = rng.uniform(-1.0, 1.0, 5 * (apart.n_x + apart.n_r + apart.n_constraints + 10))
    for dyn in (apart, together):
        dyn.parameters.update(module.PARAMETERS)
    for kernel in (row.name for row in KERNELS if together.kernels.has(row.name)):
        one, other = result(apart, kernel, x), result(together, kernel, x)
        if kernel in IN_ANOTHER_ORDER.get(name, ()):
            numbers = np.frombuffer(one), np.frombuffer(other)
            np.testing.assert_allclose(*numbers, rtol=0, atol=1e-14 * np.abs(numbers[1]).max(), err_msg=kernel)
        else:
            assert one == other, kernel
            compared += 1
    assert compared > 20


FUSED = ("-mfma",) if platform.machine() == "x86_64" else ()
ZIG = (sys.executable, "-m", "ziglang", "cc")
WAYS = [
    *((("gcc", f"-O{level}", *FUSED)) for level in (0, 1, 2, 3)),
    ("gcc", "-O3", "-march=native"),
    ("gcc", "-O2", "-DKC_FUSE"),  # without the instruction: libm's
    *(("clang", f"-O{level}", *FUSED) for level in (0, 3)),
    *((*ZIG, f"-O{level}", *FUSED) for level in (0, 3)),
]


@pytest.mark.compiler
@pytest.mark.long
@pytest.mark.parametrize("name", ["rrp", "four_bar", "stiff"])
def test_exported_c(name: str, tmp_path: Path) -> None:
    """The right-hand side, projection and 100 steps in time, by every compiler that is here."""
    dyn = stiff(10.0, 100.0, 0.1) if name == "stiff" else kc.load(name)  # a first-order state, friction, a wall
    folder, found = tmp_path / "c", {}
    dyn.export_c(folder, kernels=["rhs", "project"] if dyn.n_constraints else ["rhs"], prefix="m")
    x = dyn.consistent(0.0, np.linspace(0.4, 0.9, dyn.n_x))
    x[dyn.n_q + dyn.n_u :] /= 100  # a bristle holds at 10 mm
    (folder / "main.c").write_text(
        PROGRAM.format(
            x=", ".join(map(float.hex, x)), project="m_project(0.0, x, r, c, work, x);" if dyn.n_constraints else ""
        )
    )
    for way in WAYS:
        if shutil.which(way[0]) is None or ("ziglang" in way and find_spec("ziglang") is None):
            continue
        flags = ("-std=gnu99", "-ffp-contract=off", "-fno-math-errno", "m.c", "main.c", "-lm", "-o", "main")
        subprocess.run([*way, *flags], cwd=folder, check=True)
        found[way] = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout
    assert len(found) > 5
    assert len(set(found.values())) == 1, found
    first = np.array([float.fromhex(word) for word in found[WAYS[0]].split()[: dyn.n_x]])
    assert first.tobytes() == dyn.rhs(0.0, x, r=np.zeros(dyn.n_r)).tobytes()


PROGRAM = """\
#include <stdio.h>
#include "m.h"
int main(void)
{{
    static double c[m_n_prepared], work[m_n_work], r[m_n_r + 1], x[] = {{{x}}}, out[m_n_x];
    m_prepare(m_p_default, c);
    m_rhs(0.0, x, r, c, work, out);
    for (int i = 0; i < m_n_x; i++) printf("%a ", out[i]);
    for (int k = 0; k < 100; k++) {{
        m_step(0.0, 0.01, x, r, c, work, x);
        {project}
    }}
    for (int i = 0; i < m_n_x; i++) printf("%a ", x[i]);
    return 0;
}}
"""
