# SPDX-License-Identifier: BSD-3-Clause
"""Compile the player of live pages, with the interpreter and the integrators, to WebAssembly.

Run ``python -m kanecore.build.web_player`` in the source folder, with ziglang (the extra ``compiler``).  The file is
checked in, since users have no such compiler, and is copied into pages.  It contains a hash of its sources and the
version of the compiler, so that a test finds an outdated file.  The same compiler makes the same bytes.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kanecore.whole_files import whole_file

__all__ = ["WASM", "compile_player", "compiler", "fingerprint", "made_of", "main"]

WASM = Path("pysrc/kanecore/live/player.wasm")

_PLAYER, _NATIVE, _RUNTIME = Path("kanecore/player"), Path("kanecore"), Path("pysrc/kanecore/emit/runtime")
_PARTS = ("interpreter/kc_interpreter", *(f"kc_{part}" for part in ("quaternions", "signal", "tableaux", "methods")))
_PARTS += tuple(f"kc_{part}" for part in ("rosenbrock", "chatter", "interpolate", "zeros", "events", "integrate"))
_FLAGS = (
    *("-target", "wasm32-freestanding", "-std=gnu11", "-Os", "-DKC_FAST", "-ffp-contract=off", "-fno-math-errno"),
    *("-Wall", "-Wextra", "-Werror", "-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all"),
    "-Wl,-z,stack-size=8388608",  # that of a process: arrays of large mechanisms are on it
)
_MADE_OF = re.compile(rb"kanecore player of ([0-9a-f]{64}) by ziglang ([0-9.]+)\0")


def compiler() -> str | None:
    """Version of the installed ziglang, if any."""
    try:
        return version("ziglang")
    except PackageNotFoundError:
        return None


def fingerprint(root: Path) -> str:
    """Hash of all C sources of the player in a source folder."""
    digest = hashlib.sha256()
    for folder in (_PLAYER, _NATIVE / "src", _NATIVE / "include", _RUNTIME):
        for path in sorted((root / folder).rglob("*.[ch]")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def made_of(wasm: bytes) -> tuple[str, str]:
    """Hash of the sources and version of ziglang from which a player was made; two empty texts if it has none."""
    found = _MADE_OF.search(wasm)
    return (found[1].decode(), found[2].decode()) if found else ("", "")


def compile_player(root: Path, output: Path) -> None:
    """Compile the sources in a folder."""
    sources = [_PLAYER / "kc_player.c", _PLAYER / "kc_freestanding.c"]
    sources += [_NATIVE / "src" / f"{part}.c" for part in _PARTS]
    folders = [f"-I{folder}" for folder in (_NATIVE / "include", _NATIVE / "src", _RUNTIME)]
    command = [
        *(sys.executable, "-m", "ziglang", "cc", *_FLAGS),
        f'-DKC_SOURCES="{fingerprint(root)} by ziglang {compiler()}"',
        *("-isystem", str(_PLAYER / "freestanding"), *folders, *map(str, sources), "-o", str(output.resolve())),
    ]
    subprocess.run(command, cwd=root, check=True)


def main(arguments: Sequence[str] = ()) -> int:
    """Write the player or, with ``--check``, test whether it is made from these sources; return the exit status."""
    root = Path.cwd()
    if not (root / _PLAYER).is_dir():
        print(f"{root} is no source folder of kanecore: it has no {_PLAYER}", file=sys.stderr)
        return 1
    if "--check" in arguments:
        if made_of((root / WASM).read_bytes())[0] == fingerprint(root):
            return 0
        print(f"{WASM} is older than its sources: python -m kanecore.build.web_player compiles it", file=sys.stderr)
        return 1
    if compiler() is None:
        print("the player is compiled by ziglang: pip install ziglang", file=sys.stderr)
        return 1
    with whole_file(root / WASM) as place:
        compile_player(root, place)
    print(f"{WASM}: {(root / WASM).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
