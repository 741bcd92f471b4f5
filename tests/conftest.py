# SPDX-License-Identifier: BSD-3-Clause
"""What all tests need: a built package, and the paths of the project."""

import contextlib
import gc
import os
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import sweep

import kanecore

if kanecore.__file__ is None:  # the folder ./kanecore holds no Python: it was found as an empty namespace
    pytest.exit("kanecore is not installed; in this folder: pip install -e .", returncode=4)

# The same examples in every run: a test that passes here passes everywhere.
hypothesis.settings.register_profile("kanecore", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("kanecore")


# By default models run on kanecore's own machine, at once and with the bits of C, which tests/test_bytecode.py shows.
# Tests of what a compiler makes carry the marker ``compiler``; where long tests run, all are compiled.
COMPILER = "KANECORE_TESTS_CC"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture of a test is made."""
    if COMPILER in os.environ:
        wanted = os.environ[COMPILER] if item.get_closest_marker("compiler") else "none"
        if wanted:
            os.environ["CC"] = wanted
        else:
            os.environ.pop("CC", None)


# One folder of compiled models for all processes of a run.  It lies in the cache of pytest, so the next run compiles
# only what is new: its keys hold all that a library depends on.
TEMPORARY = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all tests are collected: hardly anything that they are read into is garbage
    asked = config.option.markexpr  # by pyproject.toml "not packaging and not long"
    sweep.LONG = "not long" not in asked and asked != "packaging"
    if hasattr(config, "workerinput"):  # a worker of xdist has the environment of who started it
        return
    # Most of the time of the tests goes into the compiler.  The emitted C leaves it no choice of rounding, so without
    # optimization results have the same bits; the gallery is optimized in any case.
    os.environ.setdefault("KANECORE_CFLAGS", "-O0")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices, and the workers of xdist fill the cores
    if not sweep.LONG:
        os.environ[COMPILER] = os.environ.get("CC", "")
        os.environ["CC"] = "none"
    if cache := getattr(config, "cache", None):
        folder = cache.mkdir("kanecore")
        folder.chmod(0o700)  # kanecore runs what lies there, and refuses a folder that others may write to
        os.environ["KANECORE_CACHE_DIR"] = str(folder)
    else:  # -p no:cacheprovider
        config.stash[TEMPORARY] = tempfile.TemporaryDirectory(prefix="kanecore-tests-")
        os.environ["KANECORE_CACHE_DIR"] = config.stash[TEMPORARY].name


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let every second worker import the test files from the last to the first, and SciPy before SymPy.

    In a fresh clone nothing is compiled to bytecode yet, and two that import in one order both compile all of it.
    """
    worker = getattr(session.config, "workerinput", {}).get("workerid", "gw0")
    if int(worker.removeprefix("gw")) % 2:
        files = sorted(Path(__file__).parent.glob("test_*.py"), reverse=True)
        for name in ("scipy.integrate", "scipy.interpolate", *(path.stem for path in files)):
            with contextlib.suppress(ImportError, pytest.skip.Exception):
                import_module(name)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Neighbours run in one process, since tests of a file share what they build: ``--dist worksteal`` by default."""
    if config.option.dist != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_unconfigure(config: pytest.Config) -> None:
    if TEMPORARY in config.stash:
        config.stash[TEMPORARY].cleanup()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew; read their diff")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With -m packaging import no file without such a test."""
    if config.option.markexpr == "packaging" and collection_path.suffix == ".py":
        return True if "mark.packaging" not in collection_path.read_text(encoding="utf-8") else None
    return None


def pytest_collection_finish() -> None:
    """Leave modules and tests, which stay to the end, out of garbage collection."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the project's sources."""
    return Path(__file__).parents[1]


@pytest.fixture
def golden(root: Path, request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)``: the text is that of tests/golden/name; with --update it becomes so."""

    def compare(name: str, text: str) -> None:
        path = root / "tests/golden" / name
        if request.config.getoption("--update"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} has changed; if rightly so: pytest --update"

    return compare
