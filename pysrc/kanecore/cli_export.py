# SPDX-License-Identifier: BSD-3-Clause
"""The command that writes a model for other programs: ``kanecore export``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kanecore.errors import ModelError

if TYPE_CHECKING:
    from kanecore.run.model import CompiledModel

__all__ = ["export_wheel"]


def export_wheel(dyn: CompiledModel, folder: Path, name: str | None, version: str) -> None:
    """Write a model wheel; without a name it is that of the model, with "-model" behind it."""
    from kanecore.export.wheel import build_wheel

    plain = re.sub(r"[^A-Za-z0-9]+", "-", dyn.name).strip("-")
    try:
        path = build_wheel(dyn, folder, name=f"{plain}-model".lstrip("-") if name is None else name, version=version)
    except (ValueError, OSError) as error:
        raise ModelError(str(error)) from None
    print(f"saved as {path}")
