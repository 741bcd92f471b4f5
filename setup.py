# SPDX-License-Identifier: BSD-3-Clause
"""Build the native part of kanecore; everything else about the project stands in pyproject.toml.

One command, ``build_ext``, makes what the folder of Python files, pysrc/kanecore, lacks:

1. the extension ``kanecore._native``, from kanecore/_native.pyx and kanecore/src;
2. copies of the headers, C sources and .pxd files beside it, with the same relative paths, so that a model
   compiled at run time, and a user's C or Cython code, meet the very header that the loader was built with;
3. the gallery: each model is derived with SymPy, and its C compiled.

An editable install gets the same files inside pysrc/kanecore (git ignores them).
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

NATIVE = Path("kanecore")
PYTHON = Path("pysrc")
RUNTIME = PYTHON / "kanecore/emit/runtime"  # what emitted C stands on, and the machine that takes its place
GALLERY = Path("kanecore/gallery")
LIBRARIES = GALLERY / "_lib"
GALLERY_CACHE = Path("build/gallery")
LIBRARY_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

# The gallery is compiled as models are at run time, by the same lines: they need no extension.
sys.path.insert(0, str(PYTHON.resolve()))
from kanecore.build.compiler import CODE, Recipe, lane_levels, levels, prebuild  # noqa: E402
from kanecore.gallery import PREBUILT_OF_ROBOTS, robots  # noqa: E402

# The longest to compile first; of these, what is quickest to derive.
LARGE = ["g1", "anymal_c", "panda", "whipple_bicycle", "stewart", "chain40", "tree30", "arm7", "bricard", "iiwa14"]
LARGE += ["puma560", "ur5e"]

ONE_AT_A_TIME = threading.Lock()  # derivations, whose texts are compiled side by side


def laid_files() -> list[Path]:
    """Native files that are installed beside the extension, relative to this folder."""
    patterns = ["*.pxd", "include/*.h", "src/*.h", "src/*.c"]
    return sorted(path for pattern in patterns for path in NATIVE.glob(pattern))


def gallery_models() -> list[str]:
    """Names of the gallery's models, its modules that are not private; the large ones first."""
    names = sorted(path.stem for path in (PYTHON / GALLERY).glob("*.py") if not path.stem.startswith("_"))
    return [name for name in LARGE if name in names] + [name for name in names if name not in LARGE]


def in_lanes() -> list[str]:
    """Those whose core is compiled for several states at once as well: all but robots, which are large."""
    return [name for name in gallery_models() if name not in robots()]


class BuildNative(build_ext):
    """The extension, the native files beside it, and the gallery's libraries."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.cython_c_in_temp = True  # no generated C among the sources

    def run(self) -> None:
        super().run()
        for path in laid_files():
            self.place(path, self.built(path))
        outputs = {Path(built): Path(inplace) for built, inplace in self.extra_outputs()}
        if self.inplace:
            for built, inplace in outputs.items():
                self.place(built, inplace)
        present = {*self.built(LIBRARIES).iterdir(), *(PYTHON / LIBRARIES).glob("*")}
        for outdated in present.difference(outputs, outputs.values()):  # of a model or a level that is no more
            outdated.unlink()

    def build_extensions(self) -> None:
        """The extension, while models of the gallery are compiled."""
        if self.compiler.compiler_type == "msvc":
            raise PlatformError(
                "kanecore is C99 for gcc or clang; on Windows build with mingw-w64 (--compiler=mingw32)"
            )
        tell(f"kanecore: compiling the extension and {len(gallery_models())} models, half a minute")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            compilations = self.compile_gallery(pool)
            super().build_extensions()
        for compilation in compilations:
            compilation.result()

    def get_outputs(self) -> list[str]:
        outputs = super().get_outputs()  # of an editable install: the keys of get_output_mapping()
        return sorted({*outputs, *(built for built, _ in self.extra_outputs())})

    def get_output_mapping(self) -> dict[str, str]:
        mapping = super().get_output_mapping()
        if self.inplace:
            mapping.update(self.extra_outputs())
        return dict(sorted(mapping.items()))

    def extra_outputs(self) -> Iterator[tuple[str, str]]:
        """(path in the build folder, path in an editable install) of all but the extension."""
        gallery = [LIBRARIES / f"{name}.c" for name in gallery_models()]
        gallery += [self.library(name, level) for name in gallery_models() for level in levels(self.machine)]
        gallery += [self.library(f"{name}.lanes", level) for name in in_lanes() for level in self.lane_levels]
        for path in [*laid_files(), *gallery]:
            yield str(self.built(path)), str(PYTHON / path)

    def built(self, path: Path) -> Path:
        return Path(self.build_lib) / path

    def place(self, source: Path, target: Path) -> None:
        """Copy under a temporary name and rename, so that a process which uses the old file keeps it."""
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.copy2(source, temporary)
        temporary.replace(target)

    @property
    def machine(self) -> str:
        """Architecture of the processors that this build is for."""
        return str(self.plat_name).rpartition("-")[2]

    @property
    def lane_levels(self) -> tuple[str, ...]:
        return lane_levels(self.machine)

    def library(self, name: str, level: str) -> Path:
        return LIBRARIES / f"{name}.{level}{LIBRARY_SUFFIX}"

    def compile_gallery(self, pool: Executor) -> list[Future[None]]:
        """Describe one model after the other; derive and compile it meanwhile."""
        self.run_command("egg_info")  # the metadata that kanecore reads its version from, for the emitted C
        self.built(LIBRARIES).mkdir(parents=True, exist_ok=True)
        compilations = []
        for name in gallery_models():
            source, lanes = recipes(name)
            compilations += [pool.submit(self.build_library, name, level, source) for level in levels(self.machine)]
            for level in self.lane_levels if name in in_lanes() else ():
                compilations.append(pool.submit(self.build_library, f"{name}.lanes", level, lanes))
        return compilations

    def build_library(self, name: str, level: str, source: Recipe) -> None:
        """Compile one model for one level, unless it was derived and compiled in the same way before."""
        built = prebuild(
            source,
            level,
            machine=self.machine,
            cc=self.compiler_command(),
            include=NATIVE / "include",
            folder=GALLERY_CACHE,
            name=name,
        )
        self.place(Path(built.path), self.built(self.library(name, level)))
        if level == levels(self.machine)[0] and not name.endswith(".lanes"):
            self.built(LIBRARIES / f"{name}.c").write_text(built.source, encoding="utf-8")

    def compiler_command(self) -> list[str]:
        """The extension's own compiler, without its flags but with the target that they choose."""
        words = self.compiler.compiler_so
        first = 3 if words[1:3] == ["-m", "ziglang"] else 1  # `python -m ziglang cc`
        n_program = next((i for i, word in enumerate(words) if i >= first and word.startswith("-")), len(words))
        command, flags = words[:n_program], words[n_program:]
        for flag, value in pairwise(flags):
            if flag in ("-arch", "-isysroot", "-target"):
                command += [flag, value]
        return command


def tell(line: str) -> None:
    """Print a line; since pip hides what a build prints, it goes to the terminal as well, if there is one."""
    print(line, flush=True)
    if not sys.stdout.isatty():
        with contextlib.suppress(OSError), Path("/dev/tty").open("w") as terminal:
            terminal.write(f"\n  {line}\n")


def recipes(name: str) -> tuple[Recipe, Recipe]:
    """C text of a gallery model, with what is compiled of it, and that of the core for several states at once.

    All of them take half a minute, so each is derived only where the cache does not hold its library.
    """
    from kanecore.describe.description import fingerprint
    from kanecore.emit.groups import emit_prebuilt, emit_some
    from kanecore.emit.sources import sources

    module = import_module(f"kanecore.gallery.{name}")
    description = module.build().description
    key = f"{fingerprint(description)} {sorted(module.PARAMETERS.items())} {sources()}"

    @functools.cache
    def emitted() -> tuple[str, str]:
        if name in robots():
            return emit_some(description, module.PARAMETERS, PREBUILT_OF_ROBOTS).text, ""
        library, lanes = emit_prebuilt(description, module.PARAMETERS)
        return library.text, lanes.text

    def text(which: int) -> str:
        with ONE_AT_A_TIME:
            return emitted()[which]

    return Recipe(f"{key} prebuilt", lambda: text(0)), Recipe(f"{key} prebuilt in lanes", lambda: text(1))


setup(
    cmdclass={"build_ext": BuildNative},
    ext_modules=[
        Extension(
            "kanecore._native",
            sources=[f"{NATIVE}/_native.pyx", *(path.as_posix() for path in sorted(NATIVE.glob("src/*.c")))],
            depends=[path.as_posix() for folder in (NATIVE, RUNTIME) for path in sorted(folder.rglob("*.[hp]*"))],
            include_dirs=[f"{NATIVE}/include", f"{NATIVE}/src", RUNTIME.as_posix(), numpy.get_include()],
            libraries=[] if sys.platform == "win32" else ["m"],
            extra_compile_args=[*CODE, "-g0"],  # debug information takes a third of the time
        )
    ],
)
