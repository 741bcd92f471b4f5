# SPDX-License-Identifier: BSD-3-Clause
"""Build the native part of kanecore; everything else about the project stands in pyproject.toml.

One command, ``build_ext``, makes what the folder of Python files, pysrc/kanecore, lacks:

1. the extension, three modules from kanecore/*.pyx and kanecore/src, which are compiled side by side;
2. copies of the headers, C sources and .pxd files beside it, with the same relative paths, so that a model
   compiled at run time, and a user's C or Cython code, meet the very header that the loader was built with;
3. models of the gallery (kanecore.cli.prebuilt_gallery), as the environment variable KANECORE_PREBUILD says: ``none``,
   the default, ``all``, or names between commas.  Wheels of releases hold all, and their users need no compiler.

An editable install gets the same files inside pysrc/kanecore (git ignores them).
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from sysconfig import get_platform

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, OptionError, PlatformError
from setuptools.modified import newer_group

NATIVE = Path("kanecore")
PYTHON = Path("pysrc")
RUNTIME = PYTHON / "kanecore/emit/runtime"  # what emitted C stands on, and the machine that takes its place

# C is compiled as models are at run time, and so is the gallery, by the same lines: they need no extension.
sys.path.insert(0, str(PYTHON.resolve()))
from kanecore.build.c_compiler import CODE, split_words  # noqa: E402
from kanecore.cli.prebuilt_gallery import LIBRARIES, Prebuilding, named_models  # noqa: E402
from kanecore.whole_files import whole_file  # noqa: E402

# How far the Cython of each module of the extension is optimized, and its C sources.  Optimization takes twice as long,
# and pays where each call of a kernel goes, in `_native`.  C is optimized as models are, but for the machine, which
# takes a third of all time then; on x86-64 the one without fused multiply-adds is for processors from before 2013
# alone.  No level changes a bit of a result: CODE leaves the compiler no choice of rounding.
AS_MODELS = "-O1"
PLAIN_MACHINE = "-O0" if get_platform().endswith(("x86_64", "amd64")) else "-Og"
INTEGRATORS = (
    *("rollout", "rollout_gradient", "rollout_v3", "rollout_v4", "rosenbrock", "events", "zeros", "methods"),
    *("integrate", "interpolate", "chatter", "signal", "tableaux", "quaternions", "cpu", "contacts"),
)
MODULES = {
    "_native": ("-O1", {"threads": AS_MODELS}),
    "_library": (
        "-O0",
        {"interpreter": PLAIN_MACHINE, "interpreter_fma": "-Og", "loader": AS_MODELS, "cpu": AS_MODELS},
    ),
    "_motion": ("-O0", {**dict.fromkeys(INTEGRATORS, AS_MODELS), "contacts": "-O2"}),  # matrices: 1.4 times as fast
}
PUBLIC_PXD = ("__init__.pxd", "_table.pxd", "_ode.pxd")  # for users' Cython; the others are the extension's own


def laid_files() -> list[Path]:
    """Native files that are installed beside the extension, relative to this folder."""
    return sorted(
        path for pattern in (*PUBLIC_PXD, "include/*.h", "src/**/*.h", "src/**/*.c") for path in NATIVE.glob(pattern)
    )


@functools.cache
def prebuilt() -> tuple[str, ...]:
    """Names of the models that KANECORE_PREBUILD asks for."""
    try:
        return named_models(os.environ.get("KANECORE_PREBUILD", "none"))
    except KeyError as error:
        raise OptionError(f"KANECORE_PREBUILD: {error.args[0]}") from None


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
            raise PlatformError("kanecore is C99 for gcc or clang; on Windows build by mingw-w64 (--compiler=mingw32)")
        if shutil.which(program := self.compiler.compiler_so[0]) is None:
            raise PlatformError(f"no C compiler {program}: install gcc, or ziglang with CC='python -m ziglang cc'")
        takes = f" and {len(prebuilt())} models, half a minute" if prebuilt() else ", ten seconds"
        tell(f"kanecore: compiling the extension{takes}")
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
        # super()'s, of an editable install: the keys of get_output_mapping()
        return sorted({*super().get_outputs(), *(built for built, _ in self.extra_outputs())})

    def get_output_mapping(self) -> dict[str, str]:
        mapping = super().get_output_mapping()
        if self.inplace:
            mapping.update(self.extra_outputs())
        return dict(sorted(mapping.items()))

    def extra_outputs(self) -> Iterator[tuple[str, str]]:
        """(path in the build folder, path in an editable install) of all but the extension."""
        for path in [*laid_files(), *(LIBRARIES / file for file in self.gallery.files)]:
            yield str(self.built(path)), str(PYTHON / path)

    def built(self, path: Path) -> Path:
        return Path(self.build_lib) / path

    def place(self, source: Path, target: Path) -> None:
        """Copy a file; a process which uses the old one keeps it."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as temporary:
            shutil.copy2(source, temporary)

    @property
    def gallery(self) -> Prebuilding:
        """The models to compile for the processors that this build is for."""
        return Prebuilding(prebuilt(), str(self.plat_name).rpartition("-")[2])

    def compile_gallery(self, pool: Executor) -> list[Future[None]]:
        self.run_command("egg_info")  # the metadata that kanecore reads its version from, for the emitted C
        given = {"cc": self.compiler_command(), "include": NATIVE / "include", "cache": Path("build/gallery")}
        return self.gallery.start(pool, self.built(LIBRARIES), **given)

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


def code_flags(level: str) -> list[str]:
    """The flags that models are compiled with, at another level of optimization."""
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
