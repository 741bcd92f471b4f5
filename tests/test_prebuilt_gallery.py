# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.cli.prebuilt_gallery: which models and files an installation prebuilds; the files: test_packaging.py."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import kanecore as kc
from kanecore.build.c_compiler import find_compiler, include_dir
from kanecore.cli.prebuilt_gallery import Prebuilding, main, named_models
from kanecore.prebuilt import libraries


def test_named_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert named_models("none") == named_models(" ") == ()
    assert named_models("rrp, g1") == ("g1", "rrp")
    assert sorted(named_models("all")) == kc.models()
    with pytest.raises(KeyError, match="called 'rpp'; did you mean 'rrp'"):
        named_models("rpp")
    assert main(["rpp"]) == 1
    assert "did you mean 'rrp'" in capsys.readouterr().err


def test_files() -> None:
    arm = Prebuilding(("rrp", "g1"), "aarch64")
    assert {Path(name).stem for name in arm.files} == {"rrp", "g1", "rrp.baseline", "rrp.lanes.baseline", "g1.baseline"}
    wide = [name for name in Prebuilding(("rrp",), "x86_64").files if "lanes" in name]
    assert [Path(name).stem for name in wide] == ["rrp.lanes.x86-64-v3", "rrp.lanes.x86-64-v4"]


@pytest.mark.compiler
@pytest.mark.long
def test_libraries(tmp_path: Path) -> None:
    models = Prebuilding(("wire_particle",), "any")
    with ThreadPoolExecutor(1) as pool:
        given = {"cc": find_compiler(), "include": include_dir(), "cache": tmp_path / "cache"}
        for compilation in models.start(pool, tmp_path / "made", **given):
            compilation.result()
    assert {path.name for path in (tmp_path / "made").iterdir()} == set(models.files)
    library = libraries(tmp_path / "made", "wire_particle", "baseline")["baseline"]
    x = [0.3, 0.5]
    ours, given = kc.CompiledModel({"all": str(library)}, source={}), kc.load("wire_particle")
    assert ours.rhs(0.0, x[: ours.n_x]).tolist() == pytest.approx(given.rhs(0.0, x[: ours.n_x]).tolist(), rel=1e-13)
