# SPDX-License-Identifier: BSD-3-Clause
"""What all tests need: a built package, and the paths of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

import kanecore

if kanecore.__file__ is None:  # the folder ./kanecore holds no Python: it was found as an empty namespace
    pytest.exit("kanecore is not installed; in this folder: pip install -e .", returncode=4)


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the project's sources."""
    return Path(__file__).parents[1]
