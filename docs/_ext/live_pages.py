# SPDX-License-Identifier: BSD-3-Clause
"""The player of the site's live pages, once for all of them: ``_static/player.js``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from kanecore.live.live_code import player
from kanecore.live.live_page import _packed as packed


def write_player(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        script = f"window.kanecorePlayer = {json.dumps(packed(player()))};\n"
        Path(app.outdir, "_static/player.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write_player)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
