# SPDX-License-Identifier: BSD-3-Clause
"""Build the native part of kanecore; everything else about the project stands in pyproject.toml.

One command, ``build_ext``, makes what the folder of Python files, pysrc/kanecore, lacks:

1. the extension, three modules from kanecore/*.pyx and kanecore/src, which are compiled side by side;
2. copies of the headers, C sources and .pxd files beside it, with the same relative paths, so that a model
   compiled at run time, and a user's C or Cython code, meet the very header that the loader was built with;
3. models of the gallery, derived with SymPy, and their C compiled, as the environment variable KANECORE_PREBUILD says:
   ``none`` (where it is not set), ``all``, or names between commas.  Others are compiled when they are first loaded.
   Wheels of releases hold all, so that who installs one needs no compiler.

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
from sysconfig import get_platform
from typing import TYPE_CHECKING

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, OptionError, PlatformError
from setuptools.modified import newer_group

if TYPE_CHECKING:
    from kanecore.build.cache_key import Recipe

NATIVE = Path("kanecore")
PYTHON = Path("pysrc")
RUNTIME = PYTHON / "kanecore/emit/runtime"  # what emitted C stands on, and the machine that takes its place
GALLERY = Path("kanecore/gallery")
LIBRARIES = GALLERY / "_lib"
GALLERY_CACHE = Path("build/gallery")
LIBRARY_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

# The gallery is compiled as models are at run time, by the same lines: they need no extension.
sys.path.insert(0, str(PYTHON.resolve()))

# The longest to compile first; of these, what is quickest to derive.
LARGE = ["g1", "anymal_c", "panda", "whipple_bicycle", "stewart", "chain40", "tree30", "arm7", "bricard", "iiwa14"]
LARGE += ["puma560", "ur5e"]

ONE_AT_A_TIME = threading.Lock()  # derivations, whose texts are compiled side by side

# How far the Cython of each module of the extension is optimized, and its C sources.  Optimization takes twice as long,
# and pays where each call of a kernel goes, in `_native`.  C is optimized as models are, but for the machine, which
# takes a third of all time then; on x86-64 the one without fused multiply-adds is for processors from before 2013
# alone.  No level changes a bit of a result: CODE leaves the compiler no choice of rounding.
AS_MODELS = "-O1"
PLAIN_MACHINE = "-O0" if get_platform().endswith(("x86_64", "amd64")) else "-Og"
MODULES = {
    "_native": ("-O1", {"threads": AS_MODELS}),
    "_library": (
        "-O0",
        {"interpreter": PLAIN_MACHINE, "interpreter_fma": "-Og", "loader": AS_MODELS, "cpu": AS_MODELS},
    ),
    "_motion": (
        "-O0",
        dict.fromkeys(
            (
                *(
                    "rollout",
                    "rollout_gradient",
                    "rollout_v3",
                    "rollout_v4",
                    "rosenbrock",
                    "events",
                    "zeros",
                    "methods",
                    "integrate",
                ),
                *("interpolate", "chatter", "signal", "tableaux", "quaternions", "cpu"),
            ),
            AS_MODELS,
        ),
    ),
}
PUBLIC_PXD = ("__init__.pxd", "_table.pxd", "_ode.pxd")  # for users' Cython; the others are the extension's own


def laid_files() -> list[Path]:
    """Native files that are installed beside the extension, relative to this folder."""
    return sorted(
        path for pattern in (*PUBLIC_PXD, "include/*.h", "src/**/*.h", "src/**/*.c") for path in NATIVE.glob(pattern)
    )


def gallery_models() -> list[str]:
    """Names of the gallery's models, its modules that are not private; the large ones first."""
    names = sorted(path.stem for path in (PYTHON / GALLERY).glob("*.py") if not path.stem.startswith("_"))
    return [name for name in LARGE if name in names] + [name for name in names if name not in LARGE]


@functools.cache
def prebuilt() -> tuple[str, ...]:
    """Names of the models that KANECORE_PREBUILD asks for, the large ones first."""
    given = os.environ.get("KANECORE_PREBUILD", "none").strip() or "none"
    if given in ("none", "all"):
        return tuple(gallery_models()) if given == "all" else ()
    names = given.replace(",", " ").split()
    if unknown := [name for name in names if name not in gallery_models()]:
        raise OptionError(
            f"KANECORE_PREBUILD names {', '.join(unknown)}, and the gallery has no such model: say all, none, or names "
            f"between commas, of {', '.join(sorted(gallery_models()))}"
        )
    return tuple(name for name in gallery_models() if name in names)


def in_lanes() -> list[str]:
    """Those whose core is compiled for several states at once as well: all but robots, which are large."""
    from kanecore.gallery import robots

    return [name for name in prebuilt() if name not in robots()]


class BuildNative(build_ext):
    """The extension, the native files beside it, and the gallery's libraries."""

    def run(self) -> None:
        super().run()
        for path in laid_files():
            self.place(path, self.built(path))
        outputs = {Path(built): Path(inplace) for built, inplace in self.extra_outputs()}
        if self.inplace:
            for built, inplace in outputs.items():
                self.place(built, inplace)
        present = {*self.built(LIBRARIES).glob("*"), *(PYTHON / LIBRARIES).glob("*")}
        for outdated in present.difference(outputs, outputs.values()):  # of a model or a level that is no more
            outdated.unlink()

    def build_extensions(self) -> None:
        """The modules of the extension, and models of the gallery, side by side."""
        if self.compiler.compiler_type == "msvc":
            raise PlatformError(
                "kanecore is C99 for gcc or clang; on Windows build with mingw-w64 (--compiler=mingw32)"
            )
        models = f" and {len(prebuilt())} models" if prebuilt() else ""
        tell(f"kanecore: compiling the extension{models}, {'half a minute' if models else 'ten seconds'}")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            of_cython = pool.submit(self.compile_cython, pool)
            of_c = [self.compile_sources(pool, module) for module in self.extensions]
            compilations = self.compile_gallery(pool) if prebuilt() else []
            for module, cython, objects in zip(self.extensions, of_cython.result(), of_c, strict=True):
                self.link_module(module, [one.result() for one in (cython, *objects)])
            for compilation in compilations:
                compilation.result()

    def compile_cython(self, pool: Executor) -> list[Future[str]]:
        """The object files to come of the modules' Cython, which is translated here, one after the other.

        The compiler of Cython is loaded once, which takes as long as half of a module.
        """
        from Cython.Compiler.Main import compile

        objects = []
        for module in self.extensions:
            source = module.sources[0]
            text = Path(self.build_temp, source).with_suffix(".c")  # no generated C among the sources
            if self.force or newer_group([source, *module.depends], str(text)):
                text.parent.mkdir(parents=True, exist_ok=True)
                # the .pxd files are here: pysrc/kanecore, which sys.path leads to, has copies only where it was built
                if compile(source, language_level=3, include_path=["."], output_file=str(text)).num_errors:
                    raise CompileError(f"Cython does not translate {source}")
            objects.append(pool.submit(self.compile_c, module, str(text), module.extra_compile_args))
        return objects

    def compile_sources(self, pool: Executor, module: Extension) -> list[Future[str]]:
        """The object files to come of a module's C sources; what is older than they are is not compiled again."""
        levels = MODULES[module.name.rpartition(".")[2]][1].values()  # in the order of the sources
        return [
            pool.submit(self.compile_c, module, source, code_flags(level))
            for source, level in zip(module.sources[1:], levels, strict=True)
        ]

    def compile_c(self, module: Extension, source: str, flags: list[str]) -> str:
        from kanecore.build.c_compiler import split_words

        (target,) = self.compiler.object_filenames([source], output_dir=self.build_temp)
        if self.force or newer_group([source, *module.depends], target):
            self.compiler.compile(
                [source],
                output_dir=self.build_temp,
                include_dirs=module.include_dirs,
                # without debug information, which takes a third of the time; last the user's flags, as for models
                extra_postargs=[*flags, "-g0", *split_words(os.environ.get("KANECORE_CFLAGS"), "KANECORE_CFLAGS")],
            )
        return str(target)

    def link_module(self, module: Extension, objects: list[str]) -> None:
        self.compiler.link_shared_object(
            objects,
            self.get_ext_fullpath(module.name),
            libraries=self.get_libraries(module),
            library_dirs=module.library_dirs,
            export_symbols=self.get_export_symbols(module),
            extra_postargs=[] if sys.platform == "win32" else ["-pthread"],
            build_temp=self.build_temp,
            target_lang="c",
        )

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
        gallery = [LIBRARIES / f"{name}.c" for name in prebuilt()]
        gallery += [self.library(name, level) for name in prebuilt() for level in self.levels]
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
    def levels(self) -> tuple[str, ...]:
        from kanecore.build.simd_levels import levels

        return levels(self.machine)

    @property
    def lane_levels(self) -> tuple[str, ...]:
        from kanecore.build.simd_levels import lane_levels

        return lane_levels(self.machine)

    def library(self, name: str, level: str) -> Path:
        return LIBRARIES / f"{name}.{level}{LIBRARY_SUFFIX}"

    def compile_gallery(self, pool: Executor) -> list[Future[None]]:
        """Describe one model after the other; derive and compile it meanwhile."""
        self.run_command("egg_info")  # the metadata that kanecore reads its version from, for the emitted C
        self.built(LIBRARIES).mkdir(parents=True, exist_ok=True)
        compilations = []
        for name in prebuilt():
            source, lanes = recipes(name)
            compilations += [pool.submit(self.build_library, name, level, source) for level in self.levels]
            for level in self.lane_levels if name in in_lanes() else ():
                compilations.append(pool.submit(self.build_library, f"{name}.lanes", level, lanes))
        return compilations

    def build_library(self, name: str, level: str, source: Recipe) -> None:
        """Compile one model for one level, unless it was derived and compiled in the same way before."""
        from kanecore.build.compilation import prebuild

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
        if level == self.levels[0] and not name.endswith(".lanes"):
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
    from kanecore.build.cache_key import Recipe
    from kanecore.describe.description import fingerprint
    from kanecore.emit.kernel_groups import emit_prebuilt, emit_some
    from kanecore.emit.sources import sources
    from kanecore.gallery import PREBUILT_OF_ROBOTS, robots

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


def code_flags(level: str) -> list[str]:
    """The flags that models are compiled with, at another level of optimization."""
    from kanecore.build.c_compiler import CODE

    assert AS_MODELS in CODE
    return [level if flag == AS_MODELS else flag for flag in CODE]


def c_source(name: str) -> str:
    """Path of the file ``kc_name.c``."""
    return next((NATIVE / "src").rglob(f"kc_{name}.c")).as_posix()


def modules() -> list[Extension]:
    """The modules of the extension, the longest to compile first."""
    depends = ["setup.py"]  # it chooses the flags
    depends += [path.as_posix() for folder in (NATIVE, RUNTIME) for path in sorted(folder.rglob("*.[hp]*"))]
    return [
        Extension(
            f"kanecore.{name}",
            sources=[f"{NATIVE}/{name}.pyx", *(c_source(source) for source in sources)],
            depends=depends,
            include_dirs=[*(f"{NATIVE}/{folder}" for folder in ("binding", "include", "src")), RUNTIME.as_posix()],
            libraries=[] if sys.platform == "win32" else ["m"],
            extra_compile_args=[level],
        )
        for name, (level, sources) in MODULES.items()
    ]


setup(
    cmdclass={"build_ext": BuildNative},
    ext_modules=modules(),
    # what build frontends install beside pyproject's
    setup_requires=["numpy>=1.24", "sympy>=1.13"] if prebuilt() else [],
)
