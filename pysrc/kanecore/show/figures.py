# SPDX-License-Identifier: BSD-3-Clause
"""New figures, with matplotlib (the extra ``plot``), which is imported where one is made."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import Any

__all__ = ["new_figure", "png"]


def new_figure(size: tuple[float, float]) -> Any:
    """An empty figure of some inches, which a notebook shows; ImportError where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise ImportError("pictures need matplotlib: pip install kanecore[plot]") from missing

    figure: Any = Figure(figsize=size, layout="constrained")
    figure._repr_png_ = partial(png, figure)  # notebooks know figures by themselves once pyplot is imported
    return figure


def png(figure: Any, dpi: float | str = "figure") -> bytes:
    """The picture as a file."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=dpi)
    return file.getvalue()
