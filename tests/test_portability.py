# SPDX-License-Identifier: BSD-3-Clause
"""The C of every gallery model, and the native sources, for other compilers, processors and systems.

What runs here is compared bit for bit between gcc or clang and the clang of the package ziglang; what does not, Windows
on x86-64 and macOS on arm64, is built, and its exported names are read.  `pip install ziglang` (or the extra ``dev``)
for all of it; without, only the compiler of this machine is tried.
"""

import atexit
import importlib.util
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery_states import c_text
from sweep import models, part

import kanecore as kc
from kanecore._library import cpu_level
from kanecore.build import compile_library, include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.build.simd_levels import levels
from kanecore.compiled_model import CompiledModel
from kanecore.gallery import is_prebuilt, library_path
from kanecore.kernels import KERNELS

pytestmark = pytest.mark.compiler

NATIVE = Path(__file__).parents[1] / "kanecore"
PLAIN = Path(__file__).parent / "c" / "plain.h"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
ARITHMETIC = ["-fno-math-errno", "-ffp-contract=off"]
UNOPTIMIZED = ["-O0", "-fno-sanitize=undefined"]  # for zig the one implies the other
ZIG = [sys.executable, "-m", "ziglang", "cc"]
TARGETS = {"Windows on x86-64": "x86_64-windows-gnu", "macOS on arm64": "aarch64-macos"}
X86 = platform.machine().lower() in {"x86_64", "amd64"}
# without and with fused multiply-adds
MARCH = {"baseline": ["-march=x86-64"], "x86-64-v3": ["-march=x86-64-v3"]} if X86 else {"baseline": []}

zig = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="pip install ziglang to cross-compile")
every_model = pytest.mark.parametrize("name", part(kc.models(), ["wire_particle"]))
every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@cache
def c_file(name: str) -> Path:
    path = Path(tempfile.mkdtemp(prefix="kanecore-tests-"), f"{name}.c")
    atexit.register(shutil.rmtree, path.parent, True)
    path.write_text(c_text(name), encoding="utf-8")
    return path


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


# Text ----------------------------------------------------------------------------------------------------
@every_model
def test_iso_c99_without_extensions(name: str, tmp_path: Path) -> None:
    """A compiler that is neither gcc nor clang gets no attribute, builtin or vector type from us."""
    text = c_text(name)
    assert not re.search(r"ext_vector_type|immintrin|arm_neon|__m\d{3}|\basm\b", text)
    command = [*find_compiler(), *STRICT, *ARITHMETIC, f"-I{include_dir()}", "-include", PLAIN]
    run(*command, "-c", c_file(name), "-o", tmp_path / "model.o")
    words = run(*command, "-E", "-dD", c_file(name)).rpartition("#undef __clang__")[2]
    assert not re.search(r"__attribute__|vector_size|__builtin_(?!nan|inf|huge)|__extension__", words), (
        "libm's NAN apart"
    )


# Other systems: built, not run ---------------------------------------------------------------------------
@zig
@every_target
@every_model
def test_models_for_other_systems(name: str, target: str, tmp_path: Path) -> None:
    flags = [*STRICT, *ARITHMETIC, *UNOPTIMIZED, f"-I{include_dir()}"]  # clang warns before it optimizes
    run(*ZIG, "-target", target, *flags, "-c", c_file(name), "-o", tmp_path / "model.o")


@zig
@pytest.mark.parametrize("target", part(TARGETS.values(), ["x86_64-windows-gnu"]))
@pytest.mark.parametrize("source", sorted((NATIVE / "src").rglob("*.c")), ids=lambda path: path.name)
def test_native_sources_for_other_systems(source: Path, target: str, tmp_path: Path) -> None:
    """They need kanecore's headers and libc, not Python's."""
    folders = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}", f"-I{NATIVE.parent / 'pysrc/kanecore/emit/runtime'}"]
    flags = [*STRICT, *ARITHMETIC, *UNOPTIMIZED, *folders]
    run(*ZIG, "-target", target, *flags, "-c", source, "-o", tmp_path / "native.o")


@zig
@pytest.mark.parametrize(
    ("target", "first", "exports"),
    [
        pytest.param("x86_64-windows-gnu", b"MZ", lambda library: pe_exports(library), marks=pytest.mark.long),
        ("aarch64-macos", b"\xcf\xfa\xed\xfe", lambda library: macho_exports(library)),
    ],
)
def test_libraries_for_other_systems(target: str, first: bytes, exports: object, tmp_path: Path) -> None:
    """Linked as `compile` links them; the first library for Windows builds mingw's, which takes a minute."""
    flags = [*STRICT, *ARITHMETIC, "-O2", "-shared", "-fvisibility=hidden", f"-I{include_dir()}"]
    path = tmp_path / "library"
    run(*ZIG, "-target", target, *flags, c_file("rrp"), "-o", path)
    library = path.read_bytes()
    assert library.startswith(first)
    assert [name for name in exports(library) if not name.startswith("_")] == ["kc_get_model"]  # _: the linker's own


def pe_exports(library: bytes) -> list[str]:
    """Names in the export table of a 64-bit DLL (Microsoft, *PE Format*)."""
    (header,) = struct.unpack_from("<I", library, 0x3C)
    n_sections, optional_size = struct.unpack_from("<H12xH", library, header + 6)
    sections = [struct.unpack_from("<8xIIII", library, header + 24 + optional_size + 40 * i) for i in range(n_sections)]

    def offset(address: int) -> int:
        return next(raw + address - start for size, start, _, raw in sections if start <= address < start + size)

    (table,) = struct.unpack_from("<I", library, header + 24 + 112)
    n_names, names = struct.unpack_from("<I4xI", library, offset(table) + 24)
    at = struct.unpack_from(f"<{n_names}I", library, offset(names))
    return [library[offset(a) :].split(b"\0", 1)[0].decode() for a in at]


def macho_exports(library: bytes) -> list[str]:
    """External symbols that a 64-bit Mach-O library defines (Apple, *mach-o/loader.h* and *nlist.h*)."""
    (n_commands,) = struct.unpack_from("<16xI", library)
    at, names = 32, []
    for _ in range(n_commands):
        command, size = struct.unpack_from("<II", library, at)
        if command == 2:  # LC_SYMTAB
            symbols, n_symbols, strings = struct.unpack_from("<III", library, at + 8)
            for i in range(n_symbols):
                name, kind = struct.unpack_from("<IB", library, symbols + 16 * i)
                if kind & 0xF1 == 0x01 and kind & 0x0E:  # external, of no debugger, and defined
                    names.append(library[strings + name :].split(b"\0", 1)[0].decode().removeprefix("_"))
        at += size
    return names


# Other compilers: the same bits --------------------------------------------------------------------------
ROWS = {kernel.name: kernel for kernel in KERNELS}
#: Clang's optimizer takes a quarter of a minute for longer texts; they hold no other statements.
LONG = 1_000_000


def states(name: str, dyn: CompiledModel) -> dict[str, np.ndarray]:
    """Ten states at random, or on the constraints near the model's own, with accelerations and inputs."""
    rng = np.random.default_rng(1)
    x, udot, r = (rng.uniform(-2.0, 2.0, (10, n)) for n in (dyn.n_x, dyn.n_u, dyn.n_r))
    if dyn.n_constraints:
        given = import_module(f"kanecore.gallery.{name}").STATE
        own = [given[key] for key in (*dyn.coordinate_names, *dyn.speed_names)]
        x = np.array([dyn.consistent(0.3, own + 0.05 * a, None, r=b) for a, b in zip(x, r, strict=True)])
    return {"x": x, "udot": udot, "r": r}


def results(dyn: CompiledModel, x: np.ndarray, udot: np.ndarray, r: np.ndarray) -> dict[str, np.ndarray]:
    """All kernels of a library."""
    values = {}
    for kernel in dyn.info["operations"]:
        if kernel.endswith("_remainders"):  # they come with the partial velocities
            continue
        call = dyn.kernels.method(kernel)
        state = x + 1e-3 * np.sin(np.arange(dyn.n_x)) if kernel == "project" else x  # off the constraints
        whole = {"remainder": True} if kernel.startswith("partial_") else {}
        beyond = [udot] * ROWS[kernel].reads_udot + [np.ones(dyn.n_constraints)] * ROWS[kernel].reads_multipliers
        if lengths := ROWS[kernel].further({f"n_{size}": n for size, n in dyn.sizes.items()}):
            parts = [*beyond, np.linspace(-1.0, 1.0, sum(lengths))]
            beyond = [np.concatenate([np.broadcast_to(part, (len(x), part.shape[-1])) for part in parts], axis=-1)]
        result = call(0.3, state, *beyond, r=r, **whole)
        values[kernel] = np.concatenate([np.ravel(part) for part in (result if whole else [result])])
    return values


def pairs() -> list[Any]:
    """Models and levels; long texts, which take a minute, with the level that they are prebuilt for."""
    return [
        pytest.param(*name.values, level, marks=name.marks) if hasattr(name, "marks") else (name, level)
        for level in MARCH
        for name in models()
        if level in levels(platform.machine()) or len(c_text(*getattr(name, "values", [name]))) <= LONG
    ]


@zig
@pytest.mark.parametrize(("name", "level"), pairs() if is_prebuilt("rrp") else [])
def test_two_compilers_give_the_same_bits(name: str, level: str) -> None:
    """One of gcc, that of the installation if there is one, and one of zig's clang; without and with multiply-adds."""
    if level == "x86-64-v3" and cpu_level() < 3:
        pytest.skip("this processor has no AVX2")
    text = c_text(name)
    flags = [*STRICT, *(UNOPTIMIZED if len(text) > LONG else ["-O1"]), *MARCH[level]]
    other = compile_library(text, cc=ZIG, cflags=flags, name=name)
    assert other.log == ""
    if level in levels(platform.machine()):
        path = library_path(name, level)
    else:
        path = Path(compile_library(text, cflags=["-O0", *MARCH[level]], name=name).path)
    ours, theirs = (CompiledModel({"all": str(each)}, source={}) for each in (path, other.path))
    at = states(name, ours)
    expected, found = results(ours, **at), results(theirs, **at)
    assert set(expected) == set(found)
    for kernel, values in expected.items():
        assert np.isfinite(values).all(), kernel
        np.testing.assert_array_equal(values.view(np.int64), found[kernel].view(np.int64), err_msg=kernel)
