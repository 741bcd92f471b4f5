# SPDX-License-Identifier: BSD-3-Clause
"""Kernels written on their own, without a table: by a target of another real type, and in no more than their scratch.

A target owns its real type: the same programs and the same runtime headers serve single precision.
"""

import ctypes
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import ground, mass_point
from sweep import part
from test_sanitizers import compile_c, run

import kanecore as kc
from kanecore.build import include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.derive.derivation import Derivation
from kanecore.derive.model_facts import sizes_of
from kanecore.describe.description import duplicate
from kanecore.emit.c_target import C, Single
from kanecore.emit.library_tables import spline_table
from kanecore.emit.solver_calls import HEADERS, function, room
from kanecore.kernels import KERNELS
from kanecore.program.function_store import Functions
from kanecore.program.instructions import Entry, Operand
from kanecore.program.kernel_functions import kernel_function

pytestmark = pytest.mark.compiler


def written(target: C, model: kc.Model, kernels: list[str]) -> tuple[str, dict[str, str]]:
    """The C of some kernels of a model, parameters in c; and how much scratch each takes."""
    d = model.description
    derivation = Derivation(duplicate(d))
    state = [*d.coordinates, *d.speeds, *d.accelerations, *derivation.multiplier_symbols]
    state += derivation.vector_symbols(max(sum(kernel.further(sizes_of(derivation))) for kernel in KERNELS))
    arrays = {"x": state, "r": d.inputs, "c": d.parameters}
    leaves = {node: Operand(Entry(array, i)) for array, nodes in arrays.items() for i, node in enumerate(nodes)}
    made = Functions(derivation, {**leaves, d.time: Operand(Entry("t"))}, len(d.parameters))
    for kernel in kernels:
        kernel_function(made, kernel)
    functions = (function(target, each, made.by_name) for each in made.by_name.values())
    return "".join(functions), {kernel: room([f"compute_{kernel}"], made.by_name) for kernel in kernels}


@pytest.mark.parametrize(
    "name", part(["rrp", "four_bar", "rolling_disc", "quadrotor", "wire_particle"], ["wire_particle"])
)
def test_single_precision(name: str, tmp_path: Path, root: Path) -> None:
    """No operation is promoted to double, and results agree to the precision of floats."""
    module = import_module(f"kanecore.gallery.{name}")
    model, runtime = module.build(), root / "pysrc/kanecore/emit/runtime"
    text, scratch = written(Single(), model, ["mass_matrix", "forcing", "udot", "linearize"])
    headers = [(runtime / header).read_text() for header in HEADERS if header != "directions.h"]  # which are doubles
    parts = [*((runtime / header).read_text() for header in Single().headers), Single().tolerances()]
    source = '#include "kanecore.h"\n' + "".join([*parts, *headers]) + text
    for kernel in ("mass_matrix", "udot"):
        source += (
            f"int call_{kernel}(float t, const float *x, const float *r, const float *c, float *out)\n"
            f"{{ float w[1 + {scratch[kernel]}]; return compute_{kernel}(t, x, r, c, w, out); }}\n"
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
        c = [*(dyn.parameters[p] for p in dyn.parameter_names), dyn.kernels.count()]
        single = [np.array(values, dtype=np.float32) for values in (x, r, c)]
        for kernel, shape in (("mass_matrix", (dyn.n_u, dyn.n_u)), ("udot", (dyn.n_u,))):
            out = np.zeros(shape, dtype=np.float32)
            places = (array.ctypes.data_as(ctypes.c_void_p) for array in (*single, out))
            assert getattr(library, f"call_{kernel}")(ctypes.c_float(0.3), *places) == 0
            true = getattr(dyn, kernel)(0.3, x, r=r)
            assert np.max(np.abs(out - true)) < 2e-4 * np.max(np.abs(true)), kernel


def test_splines_in_single_precision(tmp_path: Path, root: Path) -> None:
    """Their tables and their header take the target's real type."""
    street, x, u = sm.Function("street"), *me.dynamicsymbols("x u")
    hills, (frame, origin) = sm.Function("hills"), ground()
    knots, grid = np.array([0.0, 0.5, 1.5, 2.0]), np.random.default_rng(1).normal(size=(4, 4))
    data = {street: kc.Spline(knots, grid[0], extrapolate="periodic"), hills: kc.Spline(knots, knots, grid)}
    outputs = {"street": street(x), "hills": hills(x, u), "slope": hills(x, u).diff(u), "bend": street(x).diff(x, 2)}
    model = kc.Model(
        *(frame, [x], [u], [x.diff() - u]),
        bodies=[me.Particle("P", origin.locatenew("Q", x * frame.x), 1)],
        functions=data,
        outputs=outputs,
    )
    text, _ = written(Single(), model, ["outputs"])
    runtime = root / "pysrc/kanecore/emit/runtime"
    source = "".join((runtime / header).read_text() for header in (*Single().headers, "spline.h"))
    source += "".join(spline_table(Single(), spline) for spline in data.values()) + text
    source += "int call(const float *x, float *out) { return compute_outputs(0, x, x, x, out, out); }"
    (tmp_path / "single.c").write_text(source)
    strict = ["-std=c99", "-Werror=double-promotion", "-Werror=float-conversion", "-O1", "-ffp-contract=off"]
    command = [*find_compiler(), *strict, "-shared", "-fPIC", str(tmp_path / "single.c")]
    done = subprocess.run([*command, "-o", str(tmp_path / "single.so"), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(tmp_path / "single.so"))
    for state in ([0.3, 0.7], [3.1, -0.4]):
        x32, out = np.array(state, dtype=np.float32), np.zeros(4, dtype=np.float32)
        assert library.call(*(a.ctypes.data_as(ctypes.c_void_p) for a in (x32, out))) == 0
        s, h = data.values()
        expected = [s(state[0]), h(*state), h(*state, nu=(0, 1)), s(state[0], nu=2)]
        np.testing.assert_allclose(out, expected, rtol=1e-4)


# --------------------------------------------------------------------------------------------------- scratch
def circle_twice() -> kc.Model:
    """A particle in a plane on a circle that is written twice: off it the rows contradict each other."""
    x, y, u, v = me.dynamicsymbols("x y u v")
    return mass_point(
        {x: u, y: v},
        sm.Symbol("m"),
        [0, -sm.Symbol("m") * sm.Symbol("g")],
        configuration_constraints=[x**2 + y**2 - 1, (x**2 + y**2) ** 2 - 1],
    )


MAIN = """
#include <stdio.h>
#include <stdlib.h>
static double out[20000];
int main(void)
{
    for (int trial = 0; trial < 40; trial++) {
        double x[64], r[64], c[256];
        for (int i = 0; i < 64; i++) x[i] = sin(1.0 + 7.0 * i + trial), r[i] = cos(i + 3.0 * trial);
        for (int i = 0; i < 256; i++) c[i] = 1.0 + 0.5 * sin(i + trial);
        c[RANK] = trial % (ROWS + 1); /* how many rows of G count */
CALLS    }
    return 0;
}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "name", part(["circle_twice", "four_bar", "bricard", "rolling_disc", "rrp", "car", "two_rods"], ["circle_twice"])
)
def test_a_kernel_needs_no_more_scratch_than_it_says(name: str, tmp_path: Path, root: Path) -> None:
    """Each in a block of just that size, under the address sanitizer, at states off the constraints as well."""
    model = circle_twice() if name == "circle_twice" else import_module(f"kanecore.gallery.{name}").build()
    derivation = Derivation(duplicate(model.description))
    kernels = [kernel.name for kernel in KERNELS if kernel.name != "rhs" and derivation.has(kernel.name)]
    text, scratch = written(C(), model, kernels)
    runtime = root / "pysrc/kanecore/emit/runtime"
    headers = [(runtime / header).read_text() for header in (*C().headers, *HEADERS)]
    calls = [
        f"        {{ double *w = malloc(sizeof(double) * (size_t)({size}) + 1);\n"
        f"          compute_{kernel}(0.3 * trial, x, r, c, w, out), free(w); }}\n"
        for kernel, size in scratch.items()
    ]
    main = MAIN.replace("RANK", str(len(model.parameters))).replace("CALLS", "".join(calls))
    main = main.replace("ROWS", str(model.n_constraints))
    source = '#include "kanecore.h"\n' + headers[0] + "".join(headers[1:3]) + C().tolerances() + "".join(headers[3:])
    (tmp_path / "main.c").write_text(source + text + main)
    compile_c("-O0", "-w", tmp_path / "main.c", "-lm", "-o", tmp_path / "main", warnings=["-std=c99"])
    assert run(tmp_path / "main") == (0, "")
