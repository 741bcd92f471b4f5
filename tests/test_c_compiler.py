# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.build.c_compiler and compilation: which compiler, which flags, which errors."""

import ctypes
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gallery_states import c_text
from mechanisms import pendulum
from sweep import every

import kanecore as kc
from kanecore import _library, prebuilt
from kanecore.build import (
    Built,
    c_compiler,
    cache,
    cache_key,
    compile_library,
    groups,
    include_dir,
    simd_levels,
)
from kanecore.build.c_compiler import find_compiler
from kanecore.build.compilation import prebuild
from kanecore.build.simd_levels import levels
from kanecore.describe.description import duplicate, fingerprint
from kanecore.emit.kernel_groups import Groups, lanes_of, whole
from kanecore.errors import CompileError
from kanecore.gallery import arm7, rrp

pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake compilers are shell scripts"),
]

EXPORT = '__attribute__((visibility("default")))'
SOURCE = f"""\
#include <math.h>
#include "kanecore.h"
double hidden(double x);
double hidden(double x) {{ return 2.0 * x; }}
{EXPORT} double f(double x);
{EXPORT} double f(double x) {{ return hidden(sqrt(x)) + KC_SINGULAR; }}
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KANECORE_CACHE_SIZE", raising=False)
    monkeypatch.delenv("KANECORE_CFLAGS", raising=False)
    monkeypatch.delenv("CC", raising=False)


def call(built: Built, x: float = 4.0) -> float:
    f = ctypes.CDLL(built.path).f
    f.argtypes, f.restype = [ctypes.c_double], ctypes.c_double
    return float(f(x))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def system_compiler() -> str:
    path = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if path is None:
        pytest.skip("no cc, gcc or clang here")
    return path


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def without_compilers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty PATH, and a Python that was built with a compiler which is not here."""
    (tmp_path / "empty").mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: "/nowhere/cc -pthread")


# The library ---------------------------------------------------------------------------------------------
def test_a_library_works_and_exports_only_what_says_so() -> None:
    built = compile_library(SOURCE, name="two words/and more")
    assert call(built) == 5.0
    assert not hasattr(ctypes.CDLL(built.path), "hidden")
    assert Path(built.path).name == "two_words_and_more" + cache.SUFFIX
    assert Path(built.path).with_suffix(".c").read_text() == SOURCE
    assert len(built.key) == 64
    assert not built.from_cache
    assert built.log == ""
    assert built.seconds > 0


def test_flags() -> None:
    command = compile_library(SOURCE, cflags="-DA=1 '-DB=2 3'").command
    for flag in (
        "-std=c99",
        "-O1",
        "-fno-math-errno",
        "-ffp-contract=off",
        "-fno-tree-slp-vectorize",
        "-fexpensive-optimizations",
        "-Wno-ignored-optimization-argument",
        "-shared",
        "-fvisibility=hidden",
        "-fPIC",
    ):
        assert flag in command
    assert "-ffast-math" not in command
    assert command[-3:] == ("-DA=1", "-DB=2 3", "-lm")  # the user's after ours
    assert simd_levels._NATIVE.get(platform.machine().lower()) in (*command, None)


def test_cflags_as_list_and_as_string_are_one_key() -> None:
    first = compile_library(SOURCE, cflags=["-DA=1", "-O1"])
    again = compile_library(SOURCE, cflags="-DA=1 -O1")
    assert (first.key, first.from_cache, again.from_cache) == (again.key, False, True)
    assert compile_library(SOURCE, cflags="-DA=1 -O2").key != first.key


def test_cflags_with_an_open_quote() -> None:
    with pytest.raises(ValueError, match=r"cflags .* cannot be split into words: No closing quotation"):
        compile_library(SOURCE, cflags="-DA='1")


def test_paths_with_spaces_and_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / """it's "odd" $(touch x) ; ü"""
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(odd))
    program = script(tmp_path / "my compilers" / "it's cc", f'exec {system_compiler()} "$@"\n')
    built = compile_library(SOURCE, cc=str(program))
    assert call(built) == 5.0
    assert odd in Path(built.path).parents
    assert built.command[0] == str(program)
    assert compile_library(SOURCE, cc=str(program)).from_cache


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    built = compile_library("#warning beware\n" + SOURCE, verbose=True, name="arm")
    printed = capsys.readouterr().out
    assert shlex.join(built.command) in printed
    assert "beware" in printed
    assert "beware" in built.log
    assert compile_library("#warning beware\n" + SOURCE, verbose=True, name="arm").log == built.log
    assert f"arm: from the cache, {built.path}" in capsys.readouterr().out
    compile_library(SOURCE)
    assert capsys.readouterr().out == ""


def test_warning_free() -> None:
    assert compile_library(SOURCE, cflags="-Wall -Wextra -Wpedantic -Werror").log == ""


def test_include_dir() -> None:
    assert "KC_ABI_VERSION" in (include_dir() / "kanecore.h").read_text()


def test_include_dir_of_a_broken_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(c_compiler, "__file__", str(tmp_path / "a" / "kanecore" / "build" / "c_compiler.py"))
    with pytest.raises(CompileError, match=r"kanecore\.h is neither in .* install it again"):
        include_dir()


# Which compiler ------------------------------------------------------------------------------------------
def test_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = {name: script(tmp_path / "bin" / name, "") for name in ("arg", "env", "cfg", "cc", "gcc", "clang")}
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("CC", "env")
    monkeypatch.setattr(sysconfig, "get_config_var", {"CC": "cfg -pthread"}.get)
    assert find_compiler("arg") == (str(tools["arg"]),)
    assert find_compiler() == (str(tools["env"]),)
    monkeypatch.setenv("CC", " ")
    assert find_compiler() == (str(tools["cfg"]), "-pthread")
    for name in ("cfg", "cc", "gcc"):
        tools[name].unlink()
        successor = {"cfg": "cc", "cc": "gcc", "gcc": "clang"}[name]
        assert find_compiler() == (str(tools[successor]),)


def test_cc_with_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = script(tmp_path / "bin" / "launcher", 'exec "$@"\n')
    monkeypatch.setenv("CC", f"{launcher} {system_compiler()} '-DTWO WORDS'")
    built = compile_library(SOURCE)
    assert built.command[:3] == (str(launcher), system_compiler(), "-DTWO WORDS")
    assert compile_library(SOURCE, cc=list(built.command[:3])).from_cache
    # The key knows the launcher and what it launches.
    assert {str(launcher), str(Path(system_compiler()).resolve())} <= set(
        cache_key.compiler_identity(built.command[:3])
    )


def test_a_compiler_asked_for_and_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileError, match=r"the argument cc is 'nocc -m64', and there is no such program"):
        compile_library(SOURCE, cc="nocc -m64")
    with pytest.raises(CompileError, match=r"the argument cc is \[\]"):
        compile_library(SOURCE, cc=[])
    monkeypatch.setenv("CC", "nocc")
    with pytest.raises(CompileError, match="the environment variable CC is 'nocc'"):
        compile_library(SOURCE)


@pytest.mark.parametrize("cc", ["cl", "cl.exe", "CL.EXE /O2", "clang-cl", "sccache cl.exe", ["cl", "/nologo"]])
def test_msvc_is_refused(cc: str | list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cl", "cl.exe", "CL.EXE", "clang-cl", "sccache"):
        script(tmp_path / "bin" / name, f"touch {tmp_path}/ran\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    with pytest.raises(CompileError, match=r'MSVC.* not supported\. Install clang or "pip install ziglang"'):
        compile_library(SOURCE, cc=cc)
    monkeypatch.setenv("CC", shlex.join(cc) if isinstance(cc, list) else cc)
    with pytest.raises(CompileError, match=r"environment variable CC is .* leave CC unset or set it to clang"):
        compile_library(SOURCE)
    assert not (tmp_path / "ran").exists()


def test_msvc_is_refused_by_any_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with spaces, as it is installed; and on Windows' own spelling, there or not."""
    program = script(tmp_path / "Microsoft Visual Studio" / "bin" / "cl.exe", "")
    paths = [str(program), [str(program)], [r"C:\Program Files\Microsoft Visual Studio\VC\bin\Hostx64\x64\cl.exe"]]
    for cc in paths:
        with pytest.raises(CompileError, match="MSVC"):
            compile_library(SOURCE, cc=cc)
    monkeypatch.setenv("CC", str(program))
    with pytest.raises(CompileError, match="MSVC"):
        compile_library(SOURCE)


def test_a_python_made_by_msvc_finds_another_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MSVC that nobody asked for is passed over; clang that is no MSVC in disguise is not."""
    for name in ("cl.exe", "clang"):
        script(tmp_path / "bin" / name, "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: "cl.exe")
    assert find_compiler() == (str(tmp_path / "bin" / "clang"),)


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_compilers(monkeypatch, tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CompileError) as caught:
        compile_library(SOURCE)
    for hint in ("apt install gcc", "xcode-select", "on any system:  pip install ziglang", "CC"):
        assert hint in str(caught.value)


def test_macos_without_developer_tools_passes_its_shims_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(shutil, "which", lambda program: f"/usr/bin/{program}" if program != "clang" else "/opt/clang")
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: "cc")
    monkeypatch.setattr(c_compiler, "_DEVELOPER_TOOLS", ("/nowhere",))
    monkeypatch.delenv("DEVELOPER_DIR", raising=False)
    assert find_compiler() == ("/opt/clang",)
    monkeypatch.setattr(c_compiler, "_DEVELOPER_TOOLS", ("/nowhere", "/"))
    assert find_compiler() == ("/usr/bin/cc",)


def test_not_an_executable(tmp_path: Path) -> None:
    program = tmp_path / "cc"
    program.write_text("\x7fELF, not really")
    program.chmod(0o755)
    with pytest.raises(CompileError, match=r"cc cannot be started: "):
        compile_library(SOURCE, cc=str(program))


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")
def test_ziglang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_compilers(monkeypatch, tmp_path)
    built = compile_library(SOURCE)
    assert built.command[1] == "cc"
    assert call(built) == 5.0
    assert compile_library(SOURCE).from_cache
    # zig compiles for this machine unless told otherwise, and has names of its own for processors.
    for flags, word in (((), "-mcpu=baseline"), (("-march=x86-64-v3",), "-march=x86_64_v3")):
        assert word in c_compiler.Target(built.command[:2], None, flags, Path()).command("", "")


def test_a_compiler_that_does_not_know_native(tmp_path: Path) -> None:
    cc = script(
        tmp_path / "bin" / "oldcc",
        'for word; do case "$word" in -m*=native) echo "bad value (native)" >&2; exit 1;; esac; done\n'
        f'exec {system_compiler()} "$@"\n',
    )
    built = compile_library(SOURCE, cc=str(cc))
    assert call(built) == 5.0
    assert not any("native" in word for word in built.command)
    assert compile_library(SOURCE, cc=str(cc)).from_cache


# Errors of the compiler ----------------------------------------------------------------------------------
def test_bad_flag(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        compile_library(SOURCE, cflags="--no-such-flag", name="arm")
    message = str(caught.value)
    assert "no-such-flag" in message.split("Flags beyond kanecore's own: --no-such-flag")[0]  # its own words
    log = Path(message.rpartition(": ")[2])
    assert log.parent == tmp_path / "cache"
    assert list((tmp_path / "cache").iterdir()) == [log]  # nothing else is left
    assert "no-such-flag" in log.read_text()
    assert SOURCE in log.read_text()


def test_bad_text() -> None:
    with pytest.raises(CompileError, match=r"ended with status \d+ on the C text of 'arm'") as caught:
        compile_library("int f(void) { return nonsense; }\n", name="arm")
    assert "nonsense" in str(caught.value)
    assert "Flags" not in str(caught.value)


def test_long_words_are_cut_in_the_error_only() -> None:
    with pytest.raises(CompileError) as caught:
        compile_library("#error " + "x" * 9000 + "tail\n")
    message = str(caught.value)
    assert len(message) < 6000
    assert "xtail" in Path(message.rpartition(": ")[2]).read_text()


def test_flags_that_make_something_else() -> None:
    with pytest.raises(CompileError, match="leave out of cflags what changes its output"):
        compile_library(SOURCE, cflags="-fsyntax-only")


def test_killed_compiler(tmp_path: Path) -> None:
    cc = script(tmp_path / "bin" / "cc", "kill -9 $$\n")
    with pytest.raises(CompileError, match="was killed by signal 9"):
        compile_library(SOURCE, cc=str(cc))


def test_the_log_outlives_a_process_without_cache() -> None:
    with pytest.raises(CompileError) as caught:
        compile_library("#error no\n", cache=False)
    log = Path(str(caught.value).rpartition(": ")[2])
    assert cache.private_folder() not in log.parents
    assert "no" in log.read_text()
    log.unlink()


# The key -------------------------------------------------------------------------------------------------
def key(monkeypatch: pytest.MonkeyPatch, *, source: str = SOURCE, cc: str | None = None) -> str:
    cache_key.processor.cache_clear()
    monkeypatch.setattr(subprocess, "run", None)
    return cache_key.library_key(
        source, c_compiler.Target(find_compiler(cc), "-march=native", (), c_compiler.include_dir())
    )


def test_the_key_depends_on_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cc = script(tmp_path / "bin" / "cc", "exit 0\n")
    keys = [key(monkeypatch, cc=str(cc)), key(monkeypatch, cc=str(cc), source=SOURCE + "\n")]
    keys.append(key(monkeypatch, cc=f"{cc} -m64"))
    os.utime(cc, ns=(0, 0))  # an update
    keys.append(key(monkeypatch, cc=str(cc)))
    cc.write_text("#!/bin/sh\nexit 1  # size\n")
    os.utime(cc, ns=(0, 0))
    keys.append(key(monkeypatch, cc=str(cc)))
    cc.rename(tmp_path / "bin" / "real")  # the same program by another real path
    cc.symlink_to("real")
    keys.append(key(monkeypatch, cc=str(cc)))
    for name in ("kanecore.h", "kc_kernels.h"):
        shutil.copytree(include_dir(), tmp_path / name)
        with (tmp_path / name / name).open("a") as header:
            header.write("/* changed */\n")
        with monkeypatch.context() as patch:
            patch.setattr(c_compiler, "include_dir", lambda folder=tmp_path / name: folder)
            keys.append(key(patch, cc=str(cc)))
    with monkeypatch.context() as patch:
        patch.setattr(cache_key, "_linux_features", lambda: ["flags: sse2"])
        patch.setattr(cache_key, "_darwin_features", lambda: ["machdep.cpu.brand_string: Apple"])
        keys.append(key(patch, cc=str(cc)))
    assert len(set(keys)) == len(keys)
    cache_key.processor.cache_clear()
    assert keys[5] == key(monkeypatch, cc=str(cc))


def test_the_key_knows_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = key(monkeypatch)
    shutil.copytree(include_dir(), tmp_path / "include")
    monkeypatch.setattr(c_compiler, "include_dir", lambda: tmp_path / "include")
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert key(monkeypatch) == first


def test_an_unreadable_processor_is_known_by_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    cache_key.processor.cache_clear()
    monkeypatch.setattr(cache_key, "_linux_features", list)
    monkeypatch.setattr(cache_key, "_darwin_features", list)
    assert cache_key.processor() == (sys.platform, platform.machine(), platform.node())
    cache_key.processor.cache_clear()


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="/proc/cpuinfo is Linux's")
def test_processor_features_are_those_of_proc_cpuinfo() -> None:
    text = " ".join(cache_key.processor())
    block = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    lines = dict(tuple(map(str.strip, line.split(":", 1))) for line in block.splitlines() if ":" in line)
    flags = lines.get("flags", lines.get("Features", lines.get("isa", "")))
    assert " ".join(sorted(flags.split())) in text
    assert "MHz" not in text  # what changes from one moment to the next


def test_flags_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """After kanecore's own, before the user's; they are part of the key."""
    built = {}
    for flags in ("", "-O0 -DA=1"):
        monkeypatch.setenv("KANECORE_CFLAGS", flags)
        built[flags] = compile_library(SOURCE, cflags=["-DA=2"])
        assert call(built[flags]) == 5.0
    assert built["-O0 -DA=1"].command[-4:] == ("-O0", "-DA=1", "-DA=2", "-lm")
    assert built["-O0 -DA=1"].key != built[""].key


# Prebuilt models -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("level", levels(platform.machine()))
def test_prebuilt_models_are_compiled_in_the_same_way(level: str, tmp_path: Path) -> None:
    """The same flags and cache, so the same bits; but for any processor of the level."""

    def build(source: str) -> Built:
        return prebuild(
            source,
            level,
            machine=platform.machine(),
            cc=[system_compiler()],
            include=include_dir(),
            folder=tmp_path / "new" / "folder",
            name="arm",
        )

    built = build(SOURCE)
    assert call(built) == 5.0
    assert tmp_path in Path(built.path).parents
    assert set(c_compiler._BASE) <= set(built.command)
    assert not any("native" in word for word in built.command)
    assert (build(SOURCE).from_cache, build(SOURCE + "\n").from_cache) == (True, False)


def test_levels() -> None:
    assert levels("AMD64") == levels("x86_64") == ("x86-64-v3",)
    assert levels("aarch64") == ("baseline",)


@pytest.mark.long
def test_an_older_processor_compiles_when_it_loads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine, text = platform.machine(), c_text("rrp")
    level = levels(machine)[0]
    options = {"machine": machine, "cc": find_compiler(), "include": include_dir(), "folder": tmp_path / "cache"}
    laid = tmp_path / f"rrp.{level}{prebuilt.SUFFIX}"
    laid.write_bytes(Path(prebuild(text, level, name="rrp", **options).path).read_bytes())
    (tmp_path / "rrp.c").write_text(text, encoding="utf-8")
    monkeypatch.setattr(_library, "cpu_level", lambda: 0)
    found = prebuilt.library(tmp_path, "rrp")
    assert found.parent != tmp_path
    x = np.linspace(0.1, 0.6, 6)
    one, other = (kc.CompiledModel({"all": str(path)}, source={}).rhs(0.0, x) for path in (laid, found))
    np.testing.assert_allclose(one, other, rtol=1e-14)


def test_setup_compiles_with_the_flags_and_the_cache_of_the_package(root: Path) -> None:
    text = (root / "setup.py").read_text(encoding="utf-8")
    assert "kanecore.build.c_compiler" in text
    assert not re.search(r"-f[a-z]|-m[a-z]|-std|sha256", text)


# Models ----------------------------------------------------------------------------------------------------
@pytest.mark.long
def test_an_equal_model_is_not_derived_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another object with the same description; other numbers that are baked in, or other sources, are another text."""
    first = kc.compile(rrp.build(), parameters=rrp.PARAMETERS)
    derived: list[str] = []
    emit = Groups.emit
    monkeypatch.setattr(Groups, "emit", lambda self, group: derived.append(group) or emit(self, group))
    again = kc.compile(rrp.build(), parameters=rrp.PARAMETERS)
    assert again.info["build"]["core"]["from_cache"]
    assert again.source == first.source
    assert not derived
    again.kinetic_energy(0.0, np.ones(again.n_x))
    kc.compile(rrp.build(), parameters=rrp.PARAMETERS).kinetic_energy(0.0, np.ones(again.n_x))
    assert derived == ["energies"]
    kc.compile(rrp.build(), parameters=rrp.PARAMETERS, bake=True)
    monkeypatch.setattr(groups, "sources", lambda: "others")
    kc.compile(rrp.build(), parameters=rrp.PARAMETERS)
    assert derived == ["energies", "core", "core"]


def test_c_that_was_altered_in_the_cache_is_written_anew() -> None:
    first = kc.compile(pendulum())
    [text] = cache.folder().rglob("pendulum.c")
    text.write_text(text.read_text() + "\n/* altered */\n")
    again = kc.compile(pendulum())
    assert not again.info["build"]["core"]["from_cache"]
    assert again.source == first.source
    assert text.read_text() == first.source["core"]


def test_every_part_of_a_description_is_in_its_fingerprint() -> None:
    d = rrp.build().description
    assert fingerprint(duplicate(d)) == fingerprint(d)
    changed = [replace(d, name="another"), replace(d, n_u_dependent=1), replace(d, prescribed=frozenset({0}))]
    for field in ("frames", "points", "bodies", "loads", "joints", "outputs", "guess"):
        changed.append(replace(d, **{field: (*getattr(d, field), "more")}))
    other = duplicate(d)
    other.graph.constant(1.5)
    assert len({fingerprint(each) for each in (d, other, *changed)}) == len(changed) + 2


_WIDE_REGISTERS = """
/* Bits of XINUSE: the upper halves of the first 16 registers of 256, and of 512 bits. */
static unsigned full(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return low & 0x44;
}
EXPORT unsigned cleared(void);
EXPORT unsigned cleared(void) { __asm__ volatile("vzeroupper"); return full(); }
EXPORT unsigned filled(void);
EXPORT unsigned filled(void)
{
    __asm__ volatile("vcmppd $15, %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
    const unsigned found = full();
    __asm__ volatile("vzeroupper");
    return found;
}
EXPORT unsigned behind_a_kernel(double *c, double *x);
EXPORT unsigned behind_a_kernel(double *c, double *x)
{
    static double work[10000], out[8000] __attribute__((aligned(64)));
    cleared();
    CALL
    return full();
}
""".replace("EXPORT", EXPORT)


@pytest.mark.long
@pytest.mark.parametrize(
    ("lanes", "call"),
    every(
        2,
        [
            (False, "kernel_rhs(0.0, x, x, c, work, out);"),
            (True, "uint32_t undone; lanes_rhs(1, x, x, x, c, work, out, &undone);"),
        ],
        first=1,
    ),
)
def test_kernels_clear_the_wide_registers(lanes: bool, call: str) -> None:
    """What code for the baseline of x86-64 does next is 3 to 5 times slower where they are full."""
    known = Path("/proc/cpuinfo")
    if not (known.is_file() and {"xgetbv1", "avx"} <= set(known.read_text().split())):
        pytest.skip("this processor does not tell which registers are full")
    library = whole(arm7.build().description, kernels=["rhs", "udot", "qdot"])
    text = (lanes_of(library) if lanes else library).emitted().text
    built = ctypes.CDLL(compile_library(text + _WIDE_REGISTERS.replace("CALL", call)).path)
    assert built.filled()
    assert not built.cleared()
    constants, state = np.ones((10_000, 8)), np.full((1_000, 8), 0.5)
    begin = [array.ctypes.data + -array.ctypes.data % 64 for array in (constants, state)]
    assert built.behind_a_kernel(*map(ctypes.c_void_p, begin)) == 0
