# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of the documentation as a browser draws them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM

EXTENSIONS = Path(__file__).parents[1] / "docs/_ext"


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
@pytest.mark.parametrize("formula", [r"\dot q", r"\dot u", r"\dot\theta"])
def test_the_dot_of_a_derivative_stands_clear_of_its_letter(
    formula: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("latex2mathml")
    image = pytest.importorskip("matplotlib.image")
    monkeypatch.setattr(sys, "path", [str(EXTENSIONS), *sys.path])
    from formulas import mathml

    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(f"<body style='font: 16px sans-serif'>{mathml(formula, 'inline')}", encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=200,100", f"--screenshot={picture}"]
    subprocess.run([str(CHROMIUM), *options, page.as_uri()], check=True, capture_output=True, timeout=60)
    ink = image.imread(picture)[..., :3].mean(axis=(1, 2)) < 1.0
    inked = np.flatnonzero(np.diff(np.concatenate([[0], ink.astype(int), [0]])))
    assert len(inked) == 4, "no clear row between the dot and the letter"
