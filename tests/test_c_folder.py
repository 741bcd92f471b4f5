# SPDX-License-Identifier: BSD-3-Clause
"""Models as C in a folder: it compiles anywhere, its own test passes, and what the header promises holds."""

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import gallery_states
import numpy as np
import numpy.typing as npt
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from exported_c import METHODS, Run, pointer
from mechanisms import stiff
from sweep import part

import kanecore as kc
from kanecore.cli.commands import main
from kanecore.emit.kernel_groups import Groups, whole
from kanecore.emit.work_space import widest
from kanecore.export.c_names import checked_function

Array = npt.NDArray[np.float64]

FIRMWARE = ("-Wconversion", "-Wsign-conversion", "-Wdouble-promotion", "-Wshadow")  # what its builds warn of as well
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *FIRMWARE, "-ffp-contract=off")
SHORT = ("constant_speed_particle",)  # it has a constraint, and is small; others are long
LARGE = ("g1", "anymal_c", "panda")  # their core alone, lest compilers take minutes
NAMES = [pytest.param(name, marks=() if name in SHORT else pytest.mark.long) for name in kc.models()]

pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(
        shutil.which("gcc") is None or shutil.which("make") is None, reason="builds what is exported with make and gcc"
    ),
]


@contextmanager
def on_the_machine() -> Iterator[None]:
    """Load models without a compiler: their results are bit-identical to C's, test_bytecode.py; long ones in C."""
    with pytest.MonkeyPatch.context() as patch:
        if not sweep.LONG:
            patch.setenv("CC", "none")
        yield


def loaded(name: str) -> kc.CompiledModel:
    with on_the_machine():
        return gallery_states.loaded(name)


def some_state(name: str, r: Array | None = None) -> Array:
    with on_the_machine():
        return gallery_states.some_state(name, r)


def exported(tmp_path: Path, name: str, real: str = "double", prefix: str | None = None, **named: object) -> Path:
    folder = tmp_path / f"{name}_{real}_{prefix}"
    kernels = "core" if name in LARGE else None
    loaded(name).export_c(folder, **{"kernels": kernels, "real": real, "prefix": prefix, **named})  # type: ignore[arg-type]
    return folder


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr  # where semihosting prints


def make_test(folder: Path, *flags: str) -> str:
    return run("make", "-s", "test", "CC=gcc", f"CFLAGS={' '.join(flags)}", cwd=folder)


def prefix_of(folder: Path) -> str:
    return next(path.stem for path in folder.glob("*.h"))


# ---------------------------------------------------------------------------------------------- the folder's own test
@pytest.mark.parametrize("real", ["double", pytest.param("float", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:in floats about")
def test_own_test_passes(tmp_path: Path, name: str, real: str) -> None:
    """As a user runs it, with all warnings as errors; nothing but the prefix leaves the library, and libm enters it."""
    folder = exported(tmp_path, name, real, **({} if sweep.LONG else {"kernels": ["rhs", "qdot"]}))
    said = make_test(folder, "-O1", "-Werror", *FIRMWARE)
    assert re.fullmatch(r"\w+: [1-9]\d* tests, 0 numbers differ\n", said)
    prefix = prefix_of(folder)
    symbols = [line.split()[-2:] for line in run("nm", "-g", f"{prefix}.o", cwd=folder).splitlines()]
    assert all(symbol.startswith(f"{prefix}_") for kind, symbol in symbols if kind != "U")
    assert not {symbol for kind, symbol in symbols if kind == "U"} & {"malloc", "calloc", "free", "sin", "cos"}
    sections = {
        line.split()[0]: line.split()[1] for line in run("size", "-A", f"{prefix}.o", cwd=folder).splitlines() if line
    }
    assert (sections[".data"], sections[".bss"]) == ("0", "0")  # no variables: .data.rel.ro is constants with addresses


def test_every_function_is_called(tmp_path: Path) -> None:
    """Accelerations that only serve others are not written, nor what asks friction for their faults, nor runtime."""
    stiff(10.0, 100.0, 1.0).export_c(tmp_path / "c", kernels="rhs", prefix="m")
    text = re.sub(r"/\*.*?\*/", "", (tmp_path / "c/m.c").read_text(), flags=re.DOTALL)
    text = re.sub(r"(?<!define )\bKC_F\((\w+)\)", r"kc_\1", text)
    names = re.findall(r"^(?:static|KC_\w+) [\w *]+?\b(\w+)\(", text, re.MULTILINE)
    macros = re.findall(r"^#define (?!KC_F\b)(\w+)", text, re.MULTILINE)
    assert {"kc_sincos_far", "prepare"} < set(names)
    assert not [name for name in names + macros if len(re.findall(rf"\b{name}\b", text)) < 2]
    assert "KC_WIDE" not in text


NO_ROOM = ("ok", "nonfinite")
STATUSES_OF = {  # of each choice of kernels: statuses that its functions can return
    "cart_pole mass_matrix": NO_ROOM,
    "cart_pole qdot,positions": NO_ROOM,
    "cart_pole rhs": ("ok", "singular", "nonfinite"),
    "cart_pole rhs,linearize": ("ok", "singular", "nonfinite"),
    "four_bar mass_matrix": NO_ROOM,
    "four_bar udot": ("ok", "singular", "nonfinite", "contradictory", "lost"),
}


@pytest.mark.parametrize("choice", STATUSES_OF)
def test_a_choice_of_kernels(tmp_path: Path, choice: str) -> None:
    """Header, README and build files name what is there, and nothing else; each target of the Makefile works."""
    name, kernels = choice.split()
    folder = exported(tmp_path, name, kernels=kernels.split(","))
    text, makefile, readme = header(folder), (folder / "Makefile").read_text(), (folder / "README.md").read_text()
    declared = set(re.findall(rf"^int ({name}_\w+)\(", text, re.MULTILINE))
    assert set(re.findall(rf"\b({name}_[a-z_]+)\(", text + readme)) <= declared
    assert f"{name}_{kernels.split(',')[0]}(t, x, r, c, work, out)" in readme
    assert re.findall(r"^ \*     (\w+)  ", text, re.MULTILINE)[:6] == ["t", "x", "r", "c", "work", "out"]
    begin = text.index("/* What functions return. */")
    assert re.findall(rf"{name}_(\w+) = ", text[begin : text.index("}", begin)]) == list(STATUSES_OF[choice])
    zeros = re.findall(rf"{name}_(n_\w+) = 0", text)
    assert set(zeros) <= {"n_r", "n_p"}
    targets = re.findall(r"^(\w+):", makefile, re.MULTILINE)
    assert {*re.findall(r"`make (\w+)`", readme + makefile)} | {"clean"} == {*targets} - {"always"}
    assert (
        ("example" in targets)
        == (folder / "example").exists()
        == ("example" in (folder / "CMakeLists.txt").read_text())
    )
    for target in targets if sweep.LONG or choice == "cart_pole mass_matrix" else ():
        run("make", target, "CC=gcc", "CFLAGS=-O0", cwd=folder)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has both")
@pytest.mark.parametrize("real", ["double", pytest.param("float", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:in floats about")
def test_numbers_of_more_bits(tmp_path: Path, name: str, real: str) -> None:
    """In registers of the x87 numbers have 64 bits: they are no factors of vectors."""
    folder = exported(tmp_path, name, real, **({} if sweep.LONG else {"kernels": "udot"}))
    assert ", 0 numbers differ" in make_test(folder, "-O0", "-mfpmath=387", "-Werror")


@pytest.mark.long
@pytest.mark.parametrize("real", ["double", pytest.param("float", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:in floats about")
def test_sanitizers_find_nothing(tmp_path: Path, name: str, real: str) -> None:
    make_test(exported(tmp_path, name, real), "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.mark.long
def test_another_compiler_or_other_flags(tmp_path: Path) -> None:
    """All is compiled again, as objects of another processor do not link; else nothing is."""
    folder = exported(tmp_path, "rrp")
    compiled = set()
    for flags in (("-O1",), ("-O1",), ("-O1", "-fsanitize=address"), ("-O1",)):
        make_test(folder, *flags)
        compiled.add((folder / "rrp.o").stat().st_mtime_ns)
    assert len(compiled) == 3
    run("make", "-s", "clean", cwd=folder)
    assert not [path.name for path in folder.iterdir() if path.suffix in (".o", ".a", ".flags")]


@pytest.mark.long
def test_a_wrong_number_is_found(tmp_path: Path) -> None:
    """Each number is compared: one that differs in the sixth digit fails the test."""
    folder = exported(tmp_path, "rrp")
    vectors = folder / "test/vectors.h"
    text = vectors.read_text()
    start = text.index("expected_0[]")
    number = re.search(r"-?\d\.\d{10,}", text[start:])
    assert number is not None
    vectors.write_text(text[:start] + text[start:].replace(number[0], repr(float(number[0]) * (1 + 1e-6)), 1))
    with pytest.raises(AssertionError, match="1 numbers differ"):
        make_test(folder, "-O1")


@pytest.mark.long
def test_example_and_cmake(tmp_path: Path) -> None:
    folder = exported(tmp_path, "four_bar")
    lines = run("make", "-s", "example", cwd=folder).splitlines()
    assert len(lines) == 10
    assert lines[-1].split()[:2] == ["1.000", "s"]
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    run("cmake", "-S", ".", "-B", "build", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    assert "100% tests passed" in run("ctest", cwd=folder / "build")


@pytest.mark.long
def test_two_models_in_one_program(tmp_path: Path) -> None:
    """Of one description twice, in doubles and in floats, and another; both headers in one file of C and of C++."""
    folders = [
        exported(tmp_path, "rrp", "double", "arm", integrators=True),
        exported(tmp_path, "rrp", "float", "Arm"),
        exported(tmp_path, "four_bar", "double", "arm_", integrators=True),
    ]
    prefixes = ["arm", "Arm", "arm_"]
    calls = "".join(
        f"{{ {p}_real c[{p}_n_prepared], w[{p}_n_work], out[{p}_length_mass_matrix], x[{p}_n_x] = {{0}}; "
        f"{p}_real r[{p}_n_r + 1] = {{0}}; failed += {p}_prepare({p}_p_default, c); "
        f"failed += {p}_mass_matrix(0, x, r, c, w, out); failed += !(out[0] > 0); }}\n"
        for p in prefixes
    )
    includes = "".join(f'#include "{p}.h"\n' for p in prefixes)
    (tmp_path / "main.c").write_text(f"{includes}int main(void) {{ int failed = 0;\n{calls}return failed; }}\n")
    where = [f"-I{folder}" for folder in folders]
    sources = [folder / f"{prefix}.c" for folder, prefix in zip(folders, prefixes, strict=True)]
    run("gcc", *STRICT, "-O1", *where, "main.c", *sources, "-lm", "-o", "both", cwd=tmp_path)
    run(tmp_path / "both", cwd=tmp_path)
    if shutil.which("g++"):
        run("g++", "-Wall", "-Wextra", "-Werror", *where, "-x", "c++", "-fsyntax-only", "main.c", cwd=tmp_path)


@pytest.mark.parametrize(
    "target",
    [
        *("clang", "x86_64-windows-gnu"),
        *(
            pytest.param(target, marks=pytest.mark.long)
            for target in ("arm-linux-musleabihf", "aarch64-macos", "x86_64-macos", "aarch64-linux-gnu")
        ),
    ],
)
def test_other_compilers(tmp_path: Path, target: str) -> None:
    """Built, for systems that are not here."""
    pytest.importorskip("ziglang", reason="zig's compiler stands for those of other systems")
    # Without the checks of undefined behaviour that zig puts in where nothing is optimized, it takes a quarter.
    command: Sequence[str] = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined", "-target", target)
    if target == "clang":
        command = ("clang",)
        if shutil.which("clang") is None:
            pytest.skip("clang is not installed")
    for real in ("double", "float"):
        folder = exported(tmp_path, "four_bar", real, integrators=real == "double")
        run(*command, *STRICT, "-c", "four_bar.c", "-o", "out.o", cwd=folder)
        run(*command, *STRICT, "-I.", "-c", "test/test.c", "-o", "test.o", cwd=folder)


# ------------------------------------------------------------------------------------------------------------ numbers
@cache
def shared(folder: Path) -> ctypes.CDLL:
    """An exported library for this processor's gallery level, opened."""
    prefix = prefix_of(folder)
    level = ("-mavx2", "-mfma", "-mbmi2") if os.uname().machine == "x86_64" else ()
    run("gcc", *STRICT, "-O0", *level, "-shared", "-fPIC", f"{prefix}.c", "-lm", "-o", "model.so", cwd=folder)
    return ctypes.CDLL(str(folder / "model.so"))


def constant(folder: Path, name: str) -> int:
    text = (folder / f"{prefix_of(folder)}.h").read_text()
    found = re.search(rf"\b{prefix_of(folder)}_{name} = (\d+)", text)
    assert found is not None, name
    return int(found[1])


@pytest.mark.parametrize("name", part(["rrp", "arm7", "four_bar", "free_body", "car"], ["rrp"]))
def test_same_bits(tmp_path: Path, name: str) -> None:
    """Of the right-hand side: the text is that of the gallery."""
    dyn, folder = loaded(name), exported(tmp_path, name, kernels=["rhs", "project"] if name == "four_bar" else ["rhs"])
    library, prefix = shared(folder), prefix_of(folder)
    c, work, out = np.empty(constant(folder, "n_prepared")), np.empty(constant(folder, "n_work")), np.empty(dyn.n_x)
    p, r = np.array(list(dyn.parameters.values())), np.linspace(0.1, 0.9, dyn.n_r)
    assert getattr(library, f"{prefix}_prepare")(pointer(p), pointer(c)) == 0
    x = some_state(name, r)
    rhs = getattr(library, f"{prefix}_rhs")
    assert rhs(ctypes.c_double(0.3), pointer(x), pointer(r), pointer(c), pointer(work), pointer(out)) == 0
    assert np.array_equal(out, dyn.rhs(0.3, x, r=r))


def test_status_of_a_singular_state(tmp_path: Path) -> None:
    """The function says so, names the speed, and leaves no numbers."""
    q1, q2 = me.dynamicsymbols("q1 q2")
    N, m = me.ReferenceFrame("N"), sm.Symbol("m")
    origin, P = me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    P.set_pos(origin, q1 * N.x + q2 * N.x)
    P.set_vel(N, (q1.diff() + q2.diff()) * N.x)
    u1, u2 = me.dynamicsymbols("u1 u2")
    model = kc.Model(N, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2], bodies=[me.Particle("P", P, m)])
    folder = tmp_path / "singular"
    dyn = kc.compile(model, parameters={m: 1.0})
    with pytest.warns(kc.KanecoreWarning, match="no state of .* the test of the C compares nothing"):
        dyn.export_c(folder, prefix="s", kernels=["rhs"])
    assert "0 tests, 0 numbers differ" in make_test(folder)
    library = shared(folder)
    c, work, out, x = (
        np.empty(constant(folder, "n_prepared")),
        np.empty(constant(folder, "n_work")),
        np.empty(4),
        np.ones(4),
    )
    library.s_prepare(pointer(np.ones(1)), pointer(c))
    status = library.s_rhs(ctypes.c_double(0.0), pointer(x), None, pointer(c), pointer(work), pointer(out))
    assert status == constant(folder, "singular") == 1
    assert work[1] in (0.0, 1.0)
    assert np.isnan(out).all()
    status = library.s_step(
        *(ctypes.c_double(0.0), ctypes.c_double(0.1), pointer(x), None, pointer(c)),
        *(pointer(np.empty(constant(folder, "n_work"))), pointer(out)),
    )
    assert status == 1


@pytest.mark.parametrize("method", part(METHODS, ["dop853"]))
@pytest.mark.parametrize("name", part(["rrp", "four_bar", "free_body", "wire_particle"], ["wire_particle"]))
def test_integrators_are_those_of_simulate(tmp_path: Path, name: str, method: str) -> None:
    """With their bits."""
    dyn, folder = loaded(name), exported(tmp_path, name, kernels=["rhs", "linearize"], integrators=True)
    library, x = shared(folder), some_state(name)
    fixed = method in ("euler", "rk4")
    sol = dyn.simulate((0.0, 0.5), x, method=method, rtol=1e-9, atol=1e-9, **({"dt": 1e-3} if fixed else {}))  # type: ignore[arg-type]
    number = re.findall(
        r"^    \w+_(euler|rk4|dopri5|dop853|rosenbrock_w|auto_w|rosenbrock|auto)\b", header(folder), re.M
    )
    plan = Run(number.index(method), 0.0, 0.5, 1e-3 if fixed else 0.0, 1e-9, 1e-9)
    p, c = np.array(list(dyn.parameters.values())), np.empty(constant(folder, "n_prepared"))
    getattr(library, f"{name}_prepare")(pointer(p), pointer(c))
    work, state = np.empty(constant(folder, "n_work")), sol.x[0].copy()
    assert (
        getattr(library, f"{name}_integrate")(
            ctypes.byref(plan), pointer(np.zeros(max(dyn.n_r, 1))), pointer(c), pointer(work), pointer(state)
        )
        == 0
    )
    assert np.array_equal(state, sol.x[-1])
    assert plan.accepted == len(sol.t) - 1


@pytest.mark.parametrize("integrators", [False, pytest.param(True, marks=pytest.mark.long)])
def test_n_work_is_enough_for_every_function(tmp_path: Path, integrators: bool) -> None:
    """What the header declares leaves alone what stands behind n_work numbers."""
    name, wanted = "kepler", ["rhs", "linearize", "rhs_time_derivative"]
    dyn, folder = loaded(name), exported(tmp_path, name, kernels=wanted, integrators=integrators)
    library, x, n_work = shared(folder), some_state(name), constant(folder, "n_work")
    assert re.findall(r"\b\w*n_work\w*", header(folder)) == [f"{name}_n_work", "n_work", f"{name}_n_work"]
    c, work, out = np.empty(constant(folder, "n_prepared")), np.full(n_work + 1000, 7.0), np.empty(100)
    library.kepler_prepare(pointer(np.array(list(dyn.parameters.values()))), pointer(c))
    number, r = ctypes.c_double(0.1), pointer(np.zeros(1))
    ends = pointer(c), pointer(work), pointer(out)
    calls = [library[f"{name}_{kernel}"](number, pointer(x), r, *ends) for kernel in wanted]
    calls += [library.kepler_step(number, number, pointer(x), r, *ends)]
    calls += [library.kepler_step_jacobian(number, number, pointer(x), r, *ends, pointer(np.empty(100)))]
    for method in range(8 if integrators else 0):
        plan = Run(method, 0.0, 0.02, 1e-2, 1e-6, 1e-6)
        calls += [library.kepler_integrate(ctypes.byref(plan), r, pointer(c), pointer(work), pointer(x.copy()))]
    assert not any(calls)
    assert (work[n_work:] == 7.0).all()


def header(folder: Path) -> str:
    return (folder / f"{prefix_of(folder)}.h").read_text()


def test_step_is_that_of_rollout(tmp_path: Path) -> None:
    """With its bits, where no constraint brings the state back; unit quaternions are divided by their norms."""
    for name in ("rrp", "free_body") if sweep.LONG else ("free_body",):
        dyn, folder = loaded(name), exported(tmp_path, name, kernels=["rhs"])
        library, x, r = shared(folder), some_state(name), np.zeros(loaded(name).n_r + 1)
        p, c = np.array(list(dyn.parameters.values())), np.empty(constant(folder, "n_prepared"))
        getattr(library, f"{name}_prepare")(pointer(p), pointer(c))
        work, end = np.empty(constant(folder, "n_work")), np.empty(dyn.n_x)
        start = dyn.rollout(x, np.zeros(dyn.n_r), dt=0.01, steps=1)
        arguments = (ctypes.c_double(0.0), ctypes.c_double(0.01), pointer(np.ascontiguousarray(start[0])), pointer(r))
        assert getattr(library, f"{name}_step")(*arguments, pointer(c), pointer(work), pointer(end)) == 0
        assert np.allclose(end, start[1], rtol=0, atol=4e-16 * np.max(np.abs(end)))


ACADOS = """
#ifndef STUB
#define STUB
struct blasfeo_dvec { double *pa; };
struct blasfeo_dmat { double *pa; int m; };
struct blasfeo_dvec_args { struct blasfeo_dvec *x; int xi; };
struct blasfeo_dmat_args { struct blasfeo_dmat *A; int ai, aj; };
static inline void blasfeo_pack_dvec(int m, double *x, int xi, struct blasfeo_dvec *s, int yi)
{ for (int i = 0; i < m; i++) s->pa[yi + i] = x[i * xi]; }
static inline void blasfeo_unpack_dvec(int m, struct blasfeo_dvec *s, int si, double *x, int xi)
{ for (int i = 0; i < m; i++) x[i * xi] = s->pa[si + i]; }
static inline void blasfeo_pack_dmat(int m, int n, double *A, int lda, struct blasfeo_dmat *B, int bi, int bj)
{ for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) B->pa[bi + i + (bj + j) * B->m] = A[i + j * lda]; }
#endif
"""


@pytest.mark.long
def test_discrete_model_of_acados(tmp_path: Path) -> None:
    """Against its declared interface: x and u of one vector, [dx+/du; dx+/dx] transposed; parameters are acados'."""
    dyn, folder = loaded("cart_pole"), exported(tmp_path, "cart_pole")
    for place in ("acados/utils/external_function_generic.h", "blasfeo/include/blasfeo_d_aux.h"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(ACADOS)
    n, m = dyn.n_x, dyn.n_r
    (folder / "main.c").write_text(f"""
#include "acados/utils/external_function_generic.h"
#include <stdio.h>
int cart_pole_acados_fun(void **in, void **out, void *params);
int cart_pole_acados_fun_jac(void **in, void **out, void *params);
int main(void)
{{
    double ux[] = {{0.7, 0.1, 0.4, -0.2, 0.3}}, next[{n}], both[{n}], slopes[{(n + m) * n}], p[] = {{P}};
    struct blasfeo_dvec v = {{ux}}, f = {{next}}, g = {{both}};
    struct blasfeo_dmat a = {{slopes, {n + m}}};
    struct blasfeo_dvec_args x = {{&v, {m}}}, u = {{&v, 0}}, first = {{&f, 0}}, second = {{&g, 0}};
    struct blasfeo_dmat_args jac = {{&a, 0, 0}};
    void *in[] = {{&x, &u}}, *out[] = {{&first}}, *outs[] = {{&second, &jac}};
    if (cart_pole_acados_fun(in, out, p) || cart_pole_acados_fun_jac(in, outs, p)) return 1;
    for (int i = 0; i < {n}; i++) printf("%.17g %.17g\\n", next[i], both[i]);
    for (int i = 0; i < {(n + m) * n}; i++) printf("%.17g\\n", slopes[i]);
    return 0;
}}
""")
    p = np.array(list(dyn.parameters.values())) * 1.1
    flags = [
        "-DCART",
        f"-DP={','.join(map(repr, p.tolist()))}",
        "-Dcart_pole_ACADOS_STEP=0.02",
        "-Dcart_pole_ACADOS_PARAMETERS",
    ]
    sources = ["main.c", "cart_pole_acados.c", "cart_pole.c"]
    run("gcc", *STRICT, "-O1", "-I.", *flags, *sources, "-lm", "-o", "run", cwd=folder)
    values = [list(map(float, line.split())) for line in run(folder / "run", cwd=folder).splitlines()]
    ends, slopes = np.array(values[:n]), np.array([v[0] for v in values[n:]]).reshape(n, n + m)
    x, r = np.array([0.1, 0.4, -0.2, 0.3]), np.array([0.7])

    def step(x: Array, r: Array) -> Array:
        return np.asarray(dyn.rollout(x, r, dt=0.02, steps=1, parameters=p)[..., 1, :])

    assert np.allclose(ends[:, 0], step(x, r), rtol=1e-14)
    assert np.array_equal(ends[:, 0], ends[:, 1])
    h = 1e-6
    for j in range(n):
        change = h * np.eye(n)[j]
        assert np.allclose(slopes[:, m + j], (step(x + change, r) - step(x - change, r)) / (2 * h), atol=1e-8)
    assert np.allclose(slopes[:, 0], (step(x, r + h) - step(x, r - h)) / (2 * h), atol=1e-8)


# ------------------------------------------------------------------------------------------------- what is promised
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_scratch_is_what_the_compiler_computes(name: str) -> None:
    """The number that Python reckons from the functions of each group is the largest of the compiled tables."""
    dyn = loaded(name)
    if name in LARGE:
        pytest.skip("compilers take minutes for all their kernels")
    dyn.build()
    groups, reckoned = Groups(dyn.libraries.describe()), []
    for group in dyn.libraries.built:
        library = groups.library(group)
        library.of_kernel  # noqa: B018 (which makes the functions)
        reckoned.append(2 + widest(library.functions.by_name))
    assert max(reckoned) == dyn.n_work


# ------------------------------------------------------------------------------------------------------------- models
def pendulum(**arguments: object) -> kc.Model:
    theta, omega = me.dynamicsymbols("theta omega")
    m, g, length = sm.symbols("m g l")
    N = me.ReferenceFrame("N")
    B = N.orientnew("B", "Axis", (theta, N.z))
    origin, P = me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    B.set_ang_vel(N, omega * N.z)
    P.set_pos(origin, length * B.x)
    P.v2pt_theory(origin, N, B)
    return kc.Model(
        *(N, [theta], [omega], [theta.diff() - omega]),
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, m * g * N.x)],
        **arguments,  # type: ignore[arg-type]
    )


@pytest.mark.long
def test_own_models(tmp_path: Path) -> None:
    """Current parameters are defaults, baked ones constants; those that nobody gave are NaN, and 1 in the test."""
    dyn = kc.compile(pendulum(), parameters={"m": 2.0, "l": 0.5}, bake=False)
    dyn.export_c(tmp_path / "own", prefix="own")
    text = (tmp_path / "own/own.c").read_text()
    assert re.search(r"own_p_default\[\] = \{\s*KC_NAN, 0\.5, 2\.0", text)
    make_test(tmp_path / "own", "-O1", "-Werror", *FIRMWARE)
    with pytest.raises(AssertionError, match="parameters had no value"):
        run("make", "-s", "example", cwd=tmp_path / "own")
    baked = kc.compile(pendulum(), parameters={"m": 2.0, "l": 0.5, "g": 9.81}, bake=True)
    baked.export_c(tmp_path / "baked", prefix="baked")
    assert "baked_n_p = 0" in (tmp_path / "baked/baked.h").read_text()
    make_test(tmp_path / "baked", "-O1", "-Werror")
    floats = kc.compile(pendulum(), parameters={"m": 2.0, "l": 0.5, "g": 9.81}, real="float")
    for real in ("double", "float"):
        floats.export_c(tmp_path / real, real=real)
        make_test(tmp_path / real, "-O1", "-Werror")


def test_names_of_any_kind(tmp_path: Path) -> None:
    """No text of the user's is code; places have identifiers that differ."""
    a, b = sm.Symbol('m"*/ \\'), sm.Symbol("int")
    outputs = {"a b": a, "a_b": b, "é": a * b, "MODEL": a, "INSERT_NAME": b}
    model = pendulum(name='1 "x" */ return' + 5000 * "x", outputs=outputs)
    dyn = kc.compile(model, parameters={"m": 1, "g": 1, "l": 1, a: 1, b: 2})
    dyn.export_c(tmp_path / "odd", kernels=["rhs", "outputs"])
    prefix = prefix_of(tmp_path / "odd")
    assert prefix == f"model_1_x_return{48 * 'x'}"[:63]
    text = (tmp_path / f"odd/{prefix}.h").read_text()
    for place in ("y_a_b = 0", "y_a_b_2 = 1", "y_x = 2", "y_MODEL = 3", "y_INSERT_NAME = 4", "p_int = "):
        assert f"{prefix}_{place}" in text
    if sweep.LONG:
        make_test(tmp_path / "odd", "-O1", "-Werror")


@pytest.mark.long
def test_same_folder_twice(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        loaded("four_bar").export_c(tmp_path / folder)
    for path in sorted((tmp_path / "first").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "second" / path.relative_to(tmp_path / "first")).read_bytes()


# ---------------------------------------------------------------------------------------------------------- wrong use
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"prefix": "my model"}, ValueError, "no identifier of C.*'my_model' say"),
        ({"prefix": "1a"}, ValueError, "no identifier of C.*'model_1a'"),
        ({"prefix": ""}, ValueError, "no identifier"),
        ({"prefix": "_x"}, ValueError, "begin with _"),
        ({"prefix": "Math"}, ValueError, "math.h is a header of the C library"),
        ({"prefix": "compute"}, ValueError, "functions inside the code"),
        ({"prefix": "naïve"}, ValueError, "no identifier"),
        ({"prefix": 3}, TypeError, "prefix is 3"),
        ({"prefix": "x" * 5000}, ValueError, "which has 5000 letters, more than 63: give another, 'x+' say"),
        ({"real": "half"}, ValueError, "real is 'half'"),
        ({"kernels": ["rsh"]}, KeyError, "rhs"),
        ({"kernels": []}, ValueError, "kernels is empty"),
        ({"kernels": ["multipliers"]}, kc.ModelError, "has no kernel multipliers"),
        ({"integrators": True, "real": "float"}, ValueError, r"the integrators compute in doubles\. rrp_step"),
        ({"integrators": True, "kernels": ["mass_matrix"]}, ValueError, "needs 'rhs' among kernels"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: dict[str, object], error: type[Exception], words: str) -> None:
    """Each has its message, and leaves nothing."""
    with pytest.raises(error, match=words):
        loaded("rrp").export_c(tmp_path / "out", **arguments)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("real", ["double", "float"])
def test_numbers_are_those_of_the_model(tmp_path: Path, real: str) -> None:
    dyn = kc.compile(pendulum(), parameters={"m": 2.0, "l": 0.5, "g": 9.81}, real=real)
    dyn.export_c(tmp_path / "c", kernels="rhs", prefix="own")
    assert f"typedef {real} own_real;" in (tmp_path / "c/own.h").read_text()


def test_wrong_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"'.*full' is not empty, it holds 'mine\.txt'"):
        loaded("rrp").export_c(tmp_path / "full")
    with pytest.raises(FileExistsError, match="is a file"):
        loaded("rrp").export_c(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    loaded("rrp").export_c(tmp_path / "empty", kernels="core")
    assert (tmp_path / "empty/rrp.c").is_file()


def spring() -> kc.Model:
    """Between points that may be far from the origin."""
    q, u = me.dynamicsymbols("q u")
    N, (m, k, near, far) = me.ReferenceFrame("N"), sm.symbols("m k near far")
    origin, P = me.Point("O"), me.Point("P")
    origin.set_vel(N, 0)
    P.set_vel(N, u * N.x)
    return kc.Model(
        *(N, [q], [u], [q.diff() - u]),
        bodies=[me.Particle("P", P, m)],
        forcelist=[(P, -k * (q + far - near) * N.x)],
        name="spring",
    )


@pytest.mark.long
def test_floats_that_cannot_hold(tmp_path: Path) -> None:
    """Of the spring's length few digits are left."""
    dyn = kc.compile(spring(), parameters={"m": 1.0, "k": 1.0, "near": 1e6, "far": 1e6 + 1})
    with pytest.warns(kc.KanecoreWarning, match=r"in floats about \d\.\d of 7 digits of udot"):
        dyn.export_c(tmp_path / "float", real="float")
    dyn.export_c(tmp_path / "double")  # no warning


@pytest.mark.parametrize(
    "values", sweep.every(2, [{"m": 1e-18, "k": 1e20, "near": 1e6}, {"m": 1e-30, "k": 1e7, "near": 1e20}])
)
def test_accelerations_that_floats_do_not_reach(tmp_path: Path, values: dict[str, float]) -> None:
    """Said beforehand; the test of the folder compares what is left."""
    dyn = kc.compile(spring(), parameters={"near": 0.0, "far": 0.0, **values})
    with pytest.warns(kc.KanecoreWarning, match=r"no digit of udot of 'spring' is left: .*udot is \d\.\de\+\d\d"):
        dyn.export_c(tmp_path, real="float")
    make_test(tmp_path)


def test_masses_that_floats_do_not_reach(tmp_path: Path) -> None:
    dyn = kc.compile(pendulum(), parameters={"m": 1e-30, "g": 1.0, "l": 1e-10})
    with pytest.warns(kc.KanecoreWarning, match=r"no digit of udot of 'model' is left: .*M's diagonal holds 1\.0e-50"):
        dyn.export_c(tmp_path, real="float")


@pytest.mark.parametrize("value", [1e60, 1e-60])
def test_parameters_that_are_no_floats(tmp_path: Path, value: float) -> None:
    dyn = kc.compile(pendulum(), parameters={"m": value, "g": 1, "l": 1})
    words = rf"parameter 'm' is {re.escape(repr(value))}, which no float holds: .*real='double'"
    with pytest.raises(kc.ModelError, match=words):
        dyn.export_c(tmp_path / "out", real="float")


@pytest.mark.parametrize("name", ["int", "typeof", "class", "main", "sinf", "ca_ask", "a__b", "jac", "_a", "1a"])
def test_names_that_no_function_can_have(name: str) -> None:
    with pytest.raises(ValueError, match=f"^name is '{name}', .*: give another, "):
        checked_function(name)
    assert checked_function(f"arm_{name.strip('_').replace('__', '')}")


def test_functions_by_address(tmp_path: Path) -> None:
    f, theta = sm.Function("f"), me.dynamicsymbols("theta")
    sines = [ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(g) for g in (np.sin, np.cos, lambda x: -np.sin(x))]
    function = kc.CFunction(*sines)
    model = pendulum(outputs={"y": f(theta)}, functions={f: function})
    dyn = kc.compile(model, parameters={"m": 1, "g": 1, "l": 1})
    with pytest.raises(kc.ModelError, match=r"cannot become a C library: it calls f by address, kc\.CFunction"):
        dyn.export_c(tmp_path / "out")
    assert whole(model.description).d.functions == ("f",)


# ----------------------------------------------------------------------------------------------------------- Cortex-M
@pytest.mark.parametrize(
    ("name", "real", "board", "cpu"),
    [
        ("arm7", "double", "mps2-an500", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16")),
        ("whipple_bicycle", "float", "mps2-an386", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16")),
        pytest.param(
            *("arm7", "float", "mps2-an386", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16")), marks=pytest.mark.long
        ),
        pytest.param(
            *("whipple_bicycle", "double", "mps2-an500", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16")), marks=pytest.mark.long
        ),
    ],
)
def test_on_a_microcontroller(
    tmp_path: Path, root: Path, name: str, real: str, board: str, cpu: tuple[str, ...]
) -> None:
    """QEMU's Cortex-M7 and M4F: results right, stack as the header says, no memory allocated, instructions counted."""
    if shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None:
        pytest.skip("arm-none-eabi-gcc or qemu-system-arm is not installed")
    folder = exported(tmp_path, name, real, kernels=["core", "linearize"])
    flags = ("-O2", "-ffp-contract=off", "-fno-math-errno", *cpu, "-mthumb", "-mfloat-abi=hard")
    bare = (
        "-nostartfiles",
        "--specs=nosys.specs",
        "-T",
        root / "tests/cortex/mps2.ld",
        "-Wl,--gc-sections",
        "-Wl,-Map=map",
    )
    run("arm-none-eabi-gcc", *STRICT, *flags, "-c", f"{name}.c", "-o", "model.o", cwd=folder)
    run(
        "arm-none-eabi-gcc",
        "-std=gnu99",
        *flags,
        *bare,
        "-I.",
        root / "tests/cortex/run.c",
        "model.o",
        "-lm",
        "-o",
        "run.elf",
        cwd=folder,
    )
    assert not re.search(r"\b(malloc|calloc|_sbrk)\b", (folder / "map").read_text())
    assert run("arm-none-eabi-size", "model.o", cwd=folder).splitlines()[1].split()[1:3] == ["0", "0"]
    said = run(
        *(
            "qemu-system-arm",
            "-machine",
            board,
            "-nographic",
            "-semihosting",
            "-icount",
            "shift=0",
            "-kernel",
            "run.elf",
        ),
        cwd=folder,
    ).splitlines()
    assert said[-1] == "right"
    for line in said[:-1]:
        function, _, stack, _, instructions = line.split()
        assert int(instructions) > 0
        assert int(stack) <= constant(folder, f"stack_{function.removeprefix('take_')}"), line


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``kanecore export MODEL --c DIR``, with values of its own; what is wrong is one line."""
    folder = tmp_path / "c"
    arguments = ["export", "cart_pole", "--c", str(folder), "--kernels", "rhs, mass_matrix", "--prefix", "cart"]
    assert main([*arguments, "--parameter", "g=1.62", "--input", "F=0.5"]) == 0
    assert "make -C" in capsys.readouterr().out
    text = (folder / "cart.c").read_text()
    assert re.search(r"cart_p_default\[\] = \{[^}]*1\.62", text)
    assert re.search(r"cart_r_default\[\] = \{\s*0\.5\s*\}", text)
    assert "int cart_linearize(" not in text
    make_test(folder)
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith(f"kanecore: the folder '{folder}' is not empty")
