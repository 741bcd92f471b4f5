# SPDX-License-Identifier: BSD-3-Clause
"""A target owns its real type: the same programs and the same runtime headers, written for single precision."""

from __future__ import annotations

import ctypes
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import kanecore as kc
from kanecore.build import include_dir
from kanecore.build.compiler import find_compiler
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import duplicate
from kanecore.emit.c import C
from kanecore.emit.solved import HEADERS, function, room
from kanecore.program.bodies import Bodies
from kanecore.program.instructions import Entry, Operand

# What a real type must say: compare runtime/double.h.
FLOAT = """
typedef float kc_real;
#define KC_REAL(literal)  literal##f
#define KC_MATH(function) function##f
#define KC_EPSILON        FLT_EPSILON
#define KC_LARGEST        FLT_MAX
KC_INLINE float kc_inverse(float x) { int e; (void)frexpf(x, &e); return ldexpf(1.0f, -e); }
KC_INLINE float kc_inverse_root(float x) { int e; (void)frexpf(x, &e); return ldexpf(1.0f, -e / 2); }
KC_INLINE void kc_sincos(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
"""


class Single(C):
    """C99 on floats."""

    real = "float"
    epsilon = 2.0**-23

    def literal(self, value: float) -> str:
        return f"{float(np.float32(value))!r}f"

    def library(self, op: str) -> str:
        return f"{super().library(op)}f"


def written(target: C, model: kc.Model, kernels: list[str]) -> tuple[str, str]:
    """The C of some kernels of a model, parameters in c; and how much scratch they take."""
    d = model.description
    arrays = {"x": [*d.coordinates, *d.speeds, *d.accelerations], "r": d.inputs, "c": d.parameters}
    leaves = {node: Operand(Entry(array, i)) for array, nodes in arrays.items() for i, node in enumerate(nodes)}
    made = Bodies(Derivation(duplicate(d)), {**leaves, d.time: Operand(Entry("t"))}, len(d.parameters))
    for kernel in kernels:
        made.body(kernel)
    functions = (function(target, body, made.bodies) for body in made.bodies.values())
    return "".join(functions), room(made.bodies, made.bodies)


@pytest.mark.parametrize("name", ["rrp", "four_bar", "rolling_disc", "quadrotor"])
def test_single_precision(name: str, tmp_path: Path, root: Path) -> None:
    """No operation is promoted to double, and results agree to the precision of floats."""
    module = import_module(f"kanecore.gallery.{name}")
    model, runtime = module.build(), root / "pysrc/kanecore/emit/runtime"
    text, scratch = written(Single(), model, ["mass_matrix", "forcing", "udot", "linearize"])
    headers = [(runtime / header).read_text() for header in HEADERS]
    parts = [(runtime / "prelude.h").read_text(), FLOAT, (runtime / "arithmetic.h").read_text(), Single().tolerances()]
    source = '#include "kanecore.h"\n' + "".join([*parts, *headers]) + text
    for kernel in ("mass_matrix", "udot"):
        source += (
            f"int call_{kernel}(float t, const float *x, const float *r, const float *c, float *out)\n"
            f"{{ float w[1 + {scratch}]; return body_{kernel}(t, x, r, c, w, out); }}\n"
        )
    (tmp_path / "single.c").write_text(source)
    strict = ["-std=c99", "-Werror=double-promotion", "-Werror=float-conversion", "-O1", "-ffp-contract=off"]
    command = [*find_compiler(), *strict, "-shared", "-fPIC", f"-I{include_dir()}"]
    done = subprocess.run(
        [*command, str(tmp_path / "single.c"), "-o", str(tmp_path / "single.so"), "-lm"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    library, dyn = ctypes.CDLL(str(tmp_path / "single.so")), kc.gallery.load(name)
    rng = np.random.default_rng(3)
    for _ in range(5):
        x, r = rng.uniform(-1, 1, dyn.n_x), rng.uniform(-1, 1, dyn.n_r)
        if dyn.n_constraints:
            x = dyn.consistent(0.3, x, None, r=r)
        c = [*(dyn.parameters[p] for p in dyn.parameter_names), dyn._count()]
        single = [np.array(values, dtype=np.float32) for values in (x, r, c)]
        for kernel, shape in (("mass_matrix", (dyn.n_u, dyn.n_u)), ("udot", (dyn.n_u,))):
            out = np.zeros(shape, dtype=np.float32)
            places = (array.ctypes.data_as(ctypes.c_void_p) for array in (*single, out))
            assert getattr(library, f"call_{kernel}")(ctypes.c_float(0.3), *places) == 0
            true = getattr(dyn, kernel)(0.3, x, r=r)
            assert np.max(np.abs(out - true)) < 2e-4 * np.max(np.abs(true)), kernel
