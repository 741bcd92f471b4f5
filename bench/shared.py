# SPDX-License-Identifier: BSD-3-Clause
"""C and C++ of the peers, compiled for this very processor, and how their functions are reached."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("build")
FLAGS = ("-O3", "-march=native", "-fPIC", "-shared")  # of a peer; never -ffast-math
COPIES = 3  # a long kernel is up to one half slower at some places in memory: each side may choose among three


@cache
def compilers(language: str = "c") -> dict[str, tuple[str, ...]]:
    """Find gcc and clang where they are; clang may be that of the package ziglang."""
    gcc, clang = ("gcc", "clang") if language == "c" else ("g++", "clang++")
    there = {name: (path,) for name, program in (("gcc", gcc), ("clang", clang)) if (path := shutil.which(program))}
    zig = importlib.util.find_spec("ziglang")
    if "clang" not in there and zig and zig.origin:
        there["clang"] = (str(Path(zig.origin).with_name("zig")), "cc" if language == "c" else "c++")
    return there


def library(
    text: str, compiler: str, flags: Sequence[str] = FLAGS, *, libraries: Sequence[str] = (), language: str = "c"
) -> Path:
    """The shared library of a text, compiled once: its name holds all that it depends on."""
    command = [*compilers(language)[compiler], *flags]
    program = Path(command[0]).stat()
    key = json.dumps([text, command, list(libraries), program.st_size, program.st_mtime_ns])
    path = FOLDER / f"{hashlib.sha256(key.encode()).hexdigest()}.so"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            source, made = Path(scratch, f"text.{language}"), Path(scratch, "text.so")
            source.write_text(text, encoding="utf-8")
            command = [*command, str(source), "-o", str(made), *libraries, "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{command[0]} does not take a peer's text:\n{done.stderr[:4000]}")
            made.replace(path)
    return path


def copies(path: Path, count: int = COPIES) -> list[ctypes.CDLL]:
    """The library loaded from several files, each at its own place in memory."""
    loaded = []
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            loaded.append(ctypes.CDLL(shutil.copy(path, folder)))
    return loaded


def addresses(path: Path, symbol: str, count: int = COPIES) -> list[int]:
    """Address of a function in each copy."""
    functions = [getattr(loaded, symbol) for loaded in copies(path, count)]
    return [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
