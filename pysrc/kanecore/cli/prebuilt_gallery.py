# SPDX-License-Identifier: BSD-3-Clause
"""Compile models of the gallery for an installation: ``python -m kanecore.cli.prebuilt_gallery all``, or their names.

An installation from the sources does so if the environment variable KANECORE_PREBUILD is set.  The libraries are in
``gallery/_lib`` of the package, for each instruction level of the target processors.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.errors import unknown_name

if TYPE_CHECKING:
    from kanecore.build.cache_key import Recipe

__all__ = ["LIBRARIES", "Prebuilding", "main", "named_models"]

LIBRARIES = Path("kanecore/gallery/_lib")
"""The folder of the libraries, relative to the package."""

# The models with the longest compilation come first, among these the quickest to derive.
_LARGE = ["g1", "anymal_c", "panda", "whipple_bicycle", "stewart", "chain40", "tree30", "arm7", "bricard", "iiwa14"]
_LARGE += ["puma560", "ur5e"]

_ONE_AT_A_TIME = threading.Lock()  # derivations at a time; their texts are compiled in parallel


def named_models(text: str) -> tuple[str, ...]:
    """Models of a list: ``all``, ``none``, or names between commas or spaces; the large ones first.

    Raises
    ------
    KeyError
        The gallery has no model with a name.
    """
    from kanecore.gallery import MODELS

    names = text.replace(",", " ").split()
    if names in ([], ["none"]):
        return ()
    for name in names if names != ["all"] else ():
        if name not in MODELS:
            raise unknown_name("model of the gallery is called", name, [*MODELS, "all", "none"])
    wanted = MODELS if names == ["all"] else names
    return tuple(sorted(wanted, key=lambda name: (_LARGE.index(name) if name in _LARGE else len(_LARGE), name)))


@dataclass(frozen=True)
class Prebuilding:
    """Models to compile for an installation.

    Attributes
    ----------
    names : tuple of str
        The models, in the order in which their compilation begins.
    machine : str
        Architecture of the processors, such as ``x86_64``.
    """

    names: tuple[str, ...]
    machine: str

    @property
    def sources(self) -> list[str]:
        """The files with the C text, in `LIBRARIES`."""
        return [f"{name}.c" for name in self.names]

    @property
    def files(self) -> list[str]:
        """All files, in `LIBRARIES`."""
        return [*self.sources, *(_file(*each) for name in self.names for each in self._libraries(name))]

    def _libraries(self, name: str) -> Iterator[tuple[str, str]]:
        """Name and level of each library of a model; large robots have none for several states at once."""
        from kanecore.build.simd_levels import lane_levels, levels
        from kanecore.gallery import robots

        yield from ((name, level) for level in levels(self.machine))
        if name not in robots():
            yield from ((f"{name}.lanes", level) for level in lane_levels(self.machine))

    def start(
        self, pool: Executor, folder: Path, *, cc: Sequence[str], include: Path, cache: Path
    ) -> list[Future[None]]:
        """Describe one model after the other; derive and compile in threads of ``pool`` at the same time.

        Parameters
        ----------
        folder : Path
            Folder for the files.
        cc : sequence of str
            The compiler with its arguments.
        include : Path
            Folder of ``kanecore.h``.
        cache : Path
            Cache of compiled libraries.
        """

        def compile_one(file: str, level: str, recipe: Recipe) -> None:
            from kanecore.build.compilation import prebuild
            from kanecore.whole_files import whole_file

            built = prebuild(recipe, level, machine=self.machine, cc=cc, include=include, folder=cache, name=file)
            with whole_file(folder / _file(file, level)) as place:
                shutil.copy2(built.path, place)
            if f"{file}.c" in self.sources:
                (folder / f"{file}.c").write_text(built.source, encoding="utf-8")

        folder.mkdir(parents=True, exist_ok=True)
        started = []
        for name in self.names:
            recipe, in_lanes = _recipes(name)
            for file, level in self._libraries(name):
                started.append(pool.submit(compile_one, file, level, recipe if file == name else in_lanes))
        return started


def _file(name: str, level: str) -> str:
    from kanecore.prebuilt import libraries

    return libraries(Path(), name, level)[level].name


def _recipes(name: str) -> tuple[Recipe, Recipe]:
    """C texts of a gallery model, with their compilation: all kernels, and the core for several states at once.

    All of them take half a minute, so each is derived only if the cache lacks its library.
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
        with _ONE_AT_A_TIME:
            return emitted()[which]

    return Recipe(f"{key} prebuilt", lambda: text(0)), Recipe(f"{key} prebuilt in lanes", lambda: text(1))


def main(arguments: Sequence[str] = ()) -> int:
    """Compile models for this installation; return the exit status."""
    from kanecore.build import cache
    from kanecore.build.c_compiler import find_compiler, include_dir

    try:
        models = Prebuilding(named_models(" ".join(arguments)), platform.machine())
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 1
    folder = Path(__file__).resolve().parents[2] / LIBRARIES
    cc, include = find_compiler(), include_dir()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for compilation in models.start(pool, folder, cc=cc, include=include, cache=cache.folder()):
            compilation.result()
    print(f"{folder}: {len(models.files)} files of {len(models.names)} models")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
