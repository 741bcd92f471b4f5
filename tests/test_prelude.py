# SPDX-License-Identifier: BSD-3-Clause
"""The C text below every emitted model: compiled by each compiler at hand, with and without FMA, and run.

Accuracy is measured twice: ``tests/c/test_sincos.c`` against long double, and here against mpmath, which
needs no wide type of the platform.  Coefficients are checked apart from the code that uses them.
"""

import ctypes
import importlib.util
import math
import platform
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sweep
from sweep import every, part

from kanecore.emit.c_target import C, Single

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ROOT / "pysrc" / "kanecore" / "emit" / "runtime"
INCLUDE = ["-I", str(ROOT / "kanecore" / "include"), "-I", str(RUNTIME)]
PRELUDE = "".join(f'#include "{name}"\n' for name in ("kanecore.h", *C().headers))
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
ARITHMETIC = ["-O2", "-ffp-contract=off", "-fno-math-errno"]
X86 = platform.machine().lower() in {"x86_64", "amd64"}

COMPILERS = {name: [name] for name in ("gcc", "clang") if shutil.which(name)}
if importlib.util.find_spec("ziglang"):
    COMPILERS["zig cc"] = [sys.executable, "-m", "ziglang", "cc"]
if not COMPILERS:
    COMPILERS["cc"] = ["cc"]
TARGETS = {"native": ["-march=native"], "no-fma": ["-mno-fma"]} if X86 else {"native": []}
VARIANTS = [(compiler, target) for compiler in COMPILERS for target in TARGETS]

WRAPPERS = (
    PRELUDE
    + """
#ifdef KC_FUSED
const int fused = 1;
#else
const int fused = 0;
#endif
void sincos_of(int n, const double *x, double *s, double *c)
{
    for (int i = 0; i < n; i++) kc_sincos(x[i], s + i, c + i);
}
/* operands that are sums: the macros must put them in parentheses */
double fma_of(double a, double b, double c) { return KC_FMA(a + 1.0, b - 1.0, c + 0.5); }
double fms_of(double a, double b, double c) { return KC_FMS(a + 1.0, b - 1.0, c + 0.5); }
double fnma_of(double a, double b, double c) { return KC_FNMA(a + 1.0, b - 1.0, c + 0.5); }
double sign_of(double x) { return kc_sign(x); }
double min_of(double a, double b) { return kc_min(a, b); }
double max_of(double a, double b) { return kc_max(a, b); }
void fail(double *work, double *out, int n, int number) { kc_fail(work, out, n, KC_FAULT(KC_LOST, number)); }
"""
)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def compiled(compiler: str, *arguments: str | Path) -> None:
    """Compile without a warning, or fail with the compiler's words."""
    libm = [] if "-c" in arguments else ["-lm"]
    done = run(*COMPILERS[compiler], *STRICT, *ARITHMETIC, *INCLUDE, *arguments, *libm)
    assert done.returncode == 0, f"{compiler} {arguments}:\n{done.stderr}"


@pytest.fixture(scope="module", params=VARIANTS, ids=" ".join)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The wrappers above, compiled in one of the variants."""
    compiler, target = request.param
    folder = tmp_path_factory.mktemp("prelude")
    source, binary = folder / "wrappers.c", folder / "wrappers.so"
    source.write_text(WRAPPERS)
    compiled(compiler, *TARGETS[target], "-shared", "-fPIC", source, "-o", binary)
    loaded = ctypes.CDLL(str(binary))
    for arity, names in [(1, ["sign_of"]), (2, ["min_of", "max_of"]), (3, ["fma_of", "fms_of", "fnma_of"])]:
        for name in names:
            function = getattr(loaded, name)
            function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * arity
    if target == "no-fma":
        assert not is_fused(loaded)
    return loaded


def is_fused(library: ctypes.CDLL) -> bool:
    return bool(ctypes.c_int.in_dll(library, "fused").value)


def sincos(library: ctypes.CDLL, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s, c = np.empty_like(x), np.empty_like(x)
    pointer = ctypes.POINTER(ctypes.c_double)
    library.sincos_of(ctypes.c_int(x.size), *(array.ctypes.data_as(pointer) for array in (x, s, c)))
    return s, c


# ----------------------------------------------------------------------------------------- text and compilers
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("optimization", ["-O0", "-O2", "-O3"])
def test_pasted_unused_without_a_warning(tmp_path: Path, compiler: str, optimization: str) -> None:
    source = tmp_path / "model.c"
    text = "".join((RUNTIME / name).read_text() for name in C().headers)
    source.write_text(f'#include "kanecore.h"\n{text}\nint nothing_else;\n')
    compiled(compiler, optimization, "-Wshadow", "-Wconversion", "-c", source, "-o", tmp_path / "model.o")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_fast_math_is_refused(tmp_path: Path, compiler: str) -> None:
    source = tmp_path / "model.c"
    source.write_text(PRELUDE)
    done = run(*COMPILERS[compiler], *INCLUDE, "-O2", "-ffast-math", "-c", source, "-o", tmp_path / "model.o")
    assert done.returncode != 0
    assert "compile without -ffast-math" in done.stderr


@pytest.mark.skipif(not X86, reason="counts the jumps of x86-64")
@pytest.mark.parametrize(("compiler", "target"), VARIANTS)
def test_only_large_angles_branch(tmp_path: Path, compiler: str, target: str) -> None:
    source, assembly = tmp_path / "one.c", tmp_path / "one.s"
    source.write_text(
        f"{PRELUDE}void one(double x, double *s, double *c);\n"
        "void one(double x, double *s, double *c)\n{\n    kc_sincos(x, s, c);\n}\n"
    )
    zig_adds_one = "-Wno-unused-command-line-argument"
    compiled(compiler, *TARGETS[target], zig_adds_one, "-S", source, "-o", assembly)
    text = assembly.read_text(errors="replace")
    own = text[text.index("\none:") :].split(".size")[0]  # large_angles.h stands out of line
    jumps = re.findall(r"^\s+(j(?!mp)[a-z]+)\b", own, re.MULTILINE)
    assert len(jumps) == 1, jumps


# -------------------------------------------------------------------------------------------- sine and cosine
def constant(name: str) -> float:
    """A constant of kc_sincos, as it stands in the text."""
    found = re.findall(rf"\b{name} = KC_EACH\((-?0x[0-9a-f.]+p[+-]\d+)\)", (RUNTIME / "sincos.h").read_text())
    assert len(found) == 1, (name, found)
    return float.fromhex(found[0])


def trailing_zeros(x: float) -> int:
    numerator = abs(Fraction(x)).numerator << 60
    return (numerator & -numerator).bit_length() - 1 - (numerator.bit_length() - 53)


def test_reduction_constants() -> None:
    with mpmath.workprec(300):
        parts = [constant(f"P{i}") for i in (1, 2, 3)]
        assert constant("TWO_OVER_PI") == float(2 / mpmath.pi)
        assert abs(mpmath.fsum(parts) - mpmath.pi / 2) < mpmath.mpf(2) ** -130
        # 16 bits of k fit into the zeros at the end of P1 and P2, so their products are exact
        assert 1e5 / (math.pi / 2) + 0.5 < 2**16
        assert all(trailing_zeros(part) >= 16 for part in parts[:2])


def test_polynomials_are_accurate_on_their_interval() -> None:
    with mpmath.workprec(200):
        sine, cosine = ([constant(f"{letter}{i}") for i in range(6)] for letter in "SC")
        error_s = error_c = mpmath.mpf(0)
        for i in range(1, 401):
            r = (mpmath.pi / 4 + mpmath.mpf(2) ** -30) * i / 400
            z = r * r
            s = r + r * z * mpmath.polyval(sine[::-1], z)
            error_s = max(error_s, abs(s / mpmath.sin(r) - 1))
            c = 1 - z / 2 + z * z * mpmath.polyval(cosine[::-1], z)
            error_c = max(error_c, abs(c / mpmath.cos(r) - 1))
        assert error_s < mpmath.mpf(2) ** -57.8
        assert error_c < mpmath.mpf(2) ** -63.9


@pytest.mark.parametrize(("compiler", "target"), VARIANTS)
def test_sines_of_floats(tmp_path: Path, compiler: str, target: str) -> None:
    """Within an ulp of doubles, also at the floats nearest to multiples of pi/2; packs have the same bits."""
    source, path = tmp_path / "single.c", tmp_path / "single.so"
    headers = (*Single().headers[:5], "pack.h", "sincos.h")
    source.write_text(
        "".join(f'#include "{name}"\n' for name in ("kanecore.h", *headers))
        + """
void one(int n, const float *x, float *s, float *c) { for (int i = 0; i < n; i++) kc_sincos(x[i], s + i, c + i); }
void together(int n, const float *x, float *s, float *c)
{
    for (int i = 0; i < n; i += KC_PACK)
        kc_sincos_pack(*(const kc_loose_pack *)(x + i), (kc_pack *)(s + i), (kc_pack *)(c + i));
}
"""
    )
    done = run(
        *COMPILERS[compiler],
        *INCLUDE,
        "-std=gnu99",
        *ARITHMETIC,
        *TARGETS[target],
        "-w",
        "-shared",
        "-fPIC",
        source,
        "-o",
        path,
        "-lm",
    )
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(path))
    quarters = (np.arange(1, 1910) * (np.pi / 2)).astype(np.float32)
    around = [np.nextafter(quarters, np.float32(side), dtype=np.float32) for side in (0, 1e9)]
    spread = np.random.default_rng(0).uniform(-3000, 3000, 100_000)
    tiny = np.float32(10.0) ** np.linspace(-44, 0, 20_000, dtype=np.float32)
    x = np.concatenate([quarters, *around, spread.astype(np.float32), tiny, -tiny, np.float32([0.0, -0.0, 1e5, -3e38])])
    x = x[: len(x) // 16 * 16]
    results = {}
    for name in ("one", "together"):
        s, c = aligned(len(x)), aligned(len(x))
        places = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, s, c)]
        getattr(library, name)(ctypes.c_int(len(x)), *places)
        results[name] = (s, c)
    assert results["one"][0].tobytes() == results["together"][0].tobytes()
    assert results["one"][1].tobytes() == results["together"][1].tobytes()
    for found, true in zip(results["one"], (np.sin(x.astype(float)), np.cos(x.astype(float))), strict=True):
        assert np.max(np.abs(found - true) / np.spacing(np.abs(true).astype(np.float32))) < 1.0


def aligned(n: int) -> npt.NDArray[np.float32]:
    """As packs of 64 bytes need it."""
    room = np.empty(n + 16, dtype=np.float32)
    return room[-(room.ctypes.data // 4) % 16 :][:n]


@pytest.mark.parametrize(("compiler", "target"), part(VARIANTS, VARIANTS[:1]))
def test_sincos_in_c(tmp_path: Path, compiler: str, target: str) -> None:
    """10⁶ random arguments, or a tenth, and all k π/2 against long double; symmetries and libm's range bit for bit."""
    program = tmp_path / "test_sincos"
    compiled(compiler, *TARGETS[target], ROOT / "tests" / "c" / "test_sincos.c", "-o", program)
    done = run(program, "1" if sweep.LONG else "10")
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture(scope="module", params=every(2, [10, 1]), ids="every {}th".format)
def truth(request: pytest.FixtureRequest) -> tuple[np.ndarray, ...]:
    """x, and sin x, cos x to 106 bits as pairs (head, tail): around every k π/2, or each tenth, and 20,000 random."""
    generator = random.Random(2)
    xs = [generator.uniform(-1e5, 1e5) for _ in range(10_000 // request.param)]
    xs += [math.exp(generator.uniform(math.log(1e-8), math.log(1e5))) for _ in range(10_000 // request.param)]
    rows = []
    with mpmath.workprec(160):
        half_pi = mpmath.pi / 2
        for k in range(1, 63662, request.param):
            nearest = float(k * half_pi)
            xs += [math.nextafter(nearest, 0.0), nearest, math.nextafter(nearest, math.inf)]
        for x in xs:
            row = [x]
            for value in (mpmath.sin(x), mpmath.cos(x)):
                head = float(value)
                row += [head, float(value - head)]
            rows.append(row)
    return tuple(np.array(rows).T.copy())


@pytest.mark.long
def test_sincos_within_an_ulp_of_mpmath(library: ctypes.CDLL, truth: tuple[np.ndarray, ...]) -> None:
    x, sin_head, sin_tail, cos_head, cos_tail = truth
    s, c = sincos(library, x)
    for name, got, head, tail in [("sin", s, sin_head, sin_tail), ("cos", c, cos_head, cos_tail)]:
        ulps = np.abs((got - head) - tail) / np.spacing(np.abs(head))
        worst = int(np.argmax(ulps))
        print(f"{name}: {ulps[worst]:.4f} ulp at {float(x[worst]).hex()}, fused: {is_fused(library)}")
        assert ulps[worst] <= 1.0


# --------------------------------------------------------------------------------------------- the small ones
def test_multiply_add_rounds_once_where_fused(library: ctypes.CDLL) -> None:
    """Against exact rationals; a third of the sums cancel all but the rounding of the product."""
    generator = random.Random(3)
    fused = is_fused(library)
    differ = 0
    functions: list[tuple[Callable[..., float], int, int]] = [
        (library.fma_of, 1, 1),
        (library.fms_of, 1, -1),
        (library.fnma_of, -1, 1),
    ]
    for trial in range(600):
        a, b, c = (generator.uniform(-2, 2) for _ in range(3))
        for function, sign_product, sign_sum in functions:
            if trial % 3 == 0:
                c = -sign_product * sign_sum * ((a + 1.0) * (b - 1.0)) - 0.5
            exact = sign_product * Fraction(a + 1.0) * Fraction(b - 1.0) + sign_sum * Fraction(c + 0.5)
            twice = sign_product * ((a + 1.0) * (b - 1.0)) + sign_sum * (c + 0.5)
            assert function(a, b, c) == (float(exact) if fused else twice)
            differ += float(exact) != twice
    assert differ > 600


def test_sign(library: ctypes.CDLL) -> None:
    for x in (5e-324, 2.0, math.inf):
        assert (library.sign_of(x), library.sign_of(-x)) == (1.0, -1.0)
    assert library.sign_of(0.0) == library.sign_of(-0.0) == 0.0
    assert math.isnan(library.sign_of(math.nan))


def test_min_and_max_let_nan_through(library: ctypes.CDLL) -> None:
    values = [-math.inf, -1.5, 0.0, 2.0, math.inf]
    for a in values:
        for b in values:
            assert (library.min_of(a, b), library.max_of(a, b)) == (min(a, b), max(a, b))
        for pair in ((a, math.nan), (math.nan, a)):
            assert math.isnan(library.min_of(*pair))
            assert math.isnan(library.max_of(*pair))


def test_fail_fills_status_row_and_nan(library: ctypes.CDLL) -> None:
    work, out = (ctypes.c_double * 3)(7, 8, 9), (ctypes.c_double * 4)(1, 2, 3, 4)
    library.fail(work, out, 3, 5)
    assert list(work) == [7.0, 5.0, 9.0]  # KC_LOST
    assert all(math.isnan(value) for value in out[:3])
    assert out[3] == 4.0
