# SPDX-License-Identifier: BSD-3-Clause
"""What all tests need: a built package, and the paths of the project."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

import kanecore

if kanecore.__file__ is None:  # the folder ./kanecore holds no Python: it was found as an empty namespace
    pytest.exit("kanecore is not installed; in this folder: pip install -e .", returncode=4)

# The same examples in every run: a test that passes here passes everywhere.
hypothesis.settings.register_profile("kanecore", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("kanecore")


# Models compiled here are of no use to anybody else.
CACHE = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[CACHE] = tempfile.TemporaryDirectory(prefix="kanecore-tests-")
    os.environ["KANECORE_CACHE_DIR"] = config.stash[CACHE].name


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[CACHE].cleanup()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew; read their diff")


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
