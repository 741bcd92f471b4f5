# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of the documentation as a browser draws them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
@pytest.mark.parametrize("formula", [r"\dot q", r"\dot u", r"\dot\theta"])
@pytest.mark.parametrize("styled", [False, True])
def test_the_dot_of_a_derivative_stands_clear_of_its_letter(
    styled: bool, formula: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("latex2mathml")
    image = pytest.importorskip("matplotlib.image")
    monkeypatch.setattr(sys, "path", [str(DOCS / "_ext"), *sys.path])
    from formulas import mathml

    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    style = (DOCS / "_static/kanecore.css").read_text(encoding="utf-8") if styled else ""
    text = f"<style>{style}</style><body style='font: 16px sans-serif'>{mathml(formula, 'inline')}"
    page.write_text(text, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=200,100", f"--screenshot={picture}"]
    subprocess.run([str(CHROMIUM), *options, page.as_uri()], check=True, capture_output=True, timeout=60)
    ink = image.imread(picture)[..., :3].mean(axis=(1, 2)) < 1.0
    inked = np.flatnonzero(np.diff(np.concatenate([[0], ink.astype(int), [0]])))
    assert len(inked) == 4, "no clear row between the dot and the letter"
