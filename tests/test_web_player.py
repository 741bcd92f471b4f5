# SPDX-License-Identifier: BSD-3-Clause
"""The player of live pages: it is that of the sources, and the same compiler makes the same bytes of them."""

from pathlib import Path

import pytest

from kanecore.build import web_player
from kanecore.emit.bytecode import OPERATIONS
from kanecore.errors import KanecoreError
from kanecore.live import live_code


def test_the_player_is_that_of_the_sources(root: Path) -> None:
    """Whoever changes the machine or the integrators compiles it: python -m kanecore.build.web_player."""
    assert web_player.made_of((root / web_player.WASM).read_bytes())[0] == web_player.fingerprint(root)


def test_the_same_compiler_makes_the_same_bytes(root: Path, tmp_path: Path) -> None:
    wasm = (root / web_player.WASM).read_bytes()
    if web_player.compiler() != web_player.made_of(wasm)[1]:
        pytest.skip(f"it was compiled by ziglang {web_player.made_of(wasm)[1]}: pip install ziglang of that version")
    web_player.compile_player(root, tmp_path / "player.wasm")
    assert (tmp_path / "player.wasm").read_bytes() == wasm


def test_an_old_player_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert live_code.player().startswith(b"\0asm")
    monkeypatch.setattr(live_code, "OPERATIONS", (*OPERATIONS[:-1], "cosine", OPERATIONS[-1]))
    with pytest.raises(KanecoreError, match=r"player\.wasm is older than the bytecode.*web_player compiles it"):
        live_code.player()


def test_the_command_tells_an_old_player(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    assert web_player.main(["--check"]) == 0
    monkeypatch.setattr(web_player, "fingerprint", lambda root: "0" * 64)
    assert web_player.main(["--check"]) == 1
    assert "is older than its sources" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert web_player.main([]) == 1
    assert "is no source folder of kanecore" in capsys.readouterr().err
