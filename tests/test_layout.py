# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the source tree that no other tool checks."""

import importlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kanecore as kc
from kanecore import gallery
from kanecore.build import generated_sources
from kanecore.build.generated_sources import generated
from kanecore.kernels import KERNELS

pytestmark = pytest.mark.compiler

SOURCES = {".py", ".pyi", ".pyx", ".pxi", ".pxd", ".c", ".h"}
TEXTS = SOURCES | {".md", ".rst", ".toml", ".json", ".cff", ".in", ".sh", ".txt", ""}
GENERATED = {"golden"}  # emitted C belongs to the user, and so bears no licence line
VENDORED = {"headers"}  # of FMI, with the text of their licence in each
VAGUE = {"utils", "util", "common", "helpers", "helper", "misc", "manager", "managers"}


@pytest.fixture(scope="module")
def tracked(root: Path) -> list[Path]:
    """The files of the project that git tracks or would, relative to its folder."""
    if not (root / ".git").exists():
        pytest.skip("the tree's rules are those of a clone")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [Path(name) for name in listed if (root / name).is_file()]
    assert Path("setup.py") in files
    return files


def test_no_python_among_the_native_sources(root: Path) -> None:
    """Else `import kanecore` from the project's folder would find the wrong half of the package."""
    assert not list((root / "kanecore").rglob("*.py"))


def test_names_say_what_is_inside(tracked: list[Path]) -> None:
    vague = [path for path in tracked if VAGUE & {part.split(".")[0].strip("_") for part in path.parts}]
    assert not vague


def test_every_source_names_its_licence(root: Path, tracked: list[Path]) -> None:
    without = []
    for path in tracked:
        if path.suffix in SOURCES and not (GENERATED | VENDORED) & set(path.parts):
            head = (root / path).read_text(encoding="utf-8")[:200]
            if head.strip() and "SPDX-License-Identifier: BSD-3-Clause" not in head:
                without.append(path)
    assert not without


def test_no_path_of_a_machine(root: Path, tracked: list[Path]) -> None:
    """Nothing in the project depends on where somebody's copy of it lies."""
    machine = re.compile(r"""(?<![\w.])/(?:home|root|Users|work|mnt)/\w""")
    named = [
        f"{path}: {line.strip()}"
        for path in tracked
        if path.suffix in TEXTS and machine.search(text := (root / path).read_text(encoding="utf-8"))
        for line in text.splitlines()
        if machine.search(line)
    ]
    assert not named


def test_gallery_lists_its_modules(root: Path) -> None:
    modules = {path.stem for path in (root / "pysrc/kanecore/gallery").glob("*.py") if path.stem[0] != "_"}
    assert set(gallery.MODELS) == modules
    assert kc.models() == sorted(modules)


@pytest.mark.parametrize("name", kc.__all__)
def test_public_name(name: str) -> None:
    assert getattr(kc, name) is not None
    assert name in dir(kc)


def test_public_functions_survive_the_import_of_every_module(root: Path) -> None:
    """Importing a submodule binds its name in the package: it must not be a function's."""
    package = root / "pysrc/kanecore"
    public = {name: getattr(kc, name) for name in kc.__all__}
    for path in sorted(package.rglob("*.py")):
        if path.name != "__main__.py":
            parts = path.relative_to(package.parent).with_suffix("").parts
            try:
                importlib.import_module(".".join(parts).removesuffix(".__init__"))
            except ModuleNotFoundError as missing:  # optional, of `optimize`
                if missing.name != "casadi":
                    raise
    assert {name: getattr(kc, name) for name in kc.__all__} == public


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'simulate'"):
        kc.simulate  # noqa: B018


def test_missing_extension_says_how_to_build(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['kanecore._library'] = None\n"
        "import kanecore as kc\n"
        "try:\n    kc.ABI_VERSION\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ.copy(), capture_output=True, text=True, check=True
    )
    assert "pip install -e ." in done.stdout


def test_include_folder_holds_the_contract() -> None:
    include = Path(kc.get_include())
    assert "kc_get_model" in (include / "kanecore.h").read_text()


def test_generated_files_are_current(root: Path) -> None:
    outdated = [path for path, text in generated().items() if (root / path).read_text(encoding="utf-8") != text]
    assert not outdated, "python -m kanecore.build.generated_sources"


def test_the_table_grows_at_its_end(root: Path) -> None:
    """The kernels of the last ABI stand first, in their order: an older library keeps its places."""
    lines = (root / "tests/golden/kernels.txt").read_text(encoding="utf-8").splitlines()
    older = [line for line in lines if not line.startswith("#")]
    assert len(older) >= 30
    assert [kernel.name for kernel in KERNELS][: len(older)] == older
    assert f"({kc.ABI_VERSION})" in lines[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "my kernel"}, "no lower-case identifier"),
        ({"name": "rhs"}, "two rows"),
        ({"name": "aba"}, "another method or attribute of the compiled model"),
        ({"name": "udot", "part_of": ""}, "two rows"),
        ({"name": "qdot_of", "shape": ("n_w",)}, "n_w is no size"),
        ({"name": "wide", "shape": ("n_points", "n_u", "n_q", "3")}, "more than 3 axes"),
        ({"name": "ends", "brief": "M */ int x; /*"}, "end a comment"),
        ({"name": "small", "doc": "f of M udot = f"}, "small letter, or a symbol"),
        ({"name": "again", "field": "udot"}, "has an attribute udot"),
        ({"name": "shown", "table": "Movement"}, "'Movement'; these are Equations of motion, Generalized forces"),
        ({"name": "without", "nonholonomic": True, "shape": ("n_points", "3")}, "no axis belongs to the speeds"),
    ],
)
def test_a_row_that_cannot_be_right(change: dict[str, Any], words: str) -> None:
    row = replace(KERNELS[3], **{"field": "", **change})
    with pytest.raises(ValueError, match=f"row '{row.name}': .*{words}"):
        generated_sources.check([*KERNELS, row])


def test_rows_of_another_folder_are_not_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kanecore.build.generated_sources"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "go to the source folder" in done.stderr
    assert not list(tmp_path.iterdir())
