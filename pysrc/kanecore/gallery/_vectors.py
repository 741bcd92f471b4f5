# SPDX-License-Identifier: BSD-3-Clause
"""Vectors of the gallery's models from their components."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy.physics.mechanics as me


def vector(components: Iterable[Any], frame: me.ReferenceFrame) -> me.Vector:
    """The vector with three components along the axes of a frame."""
    import sympy.physics.mechanics as me

    return sum((x * e for x, e in zip(components, frame, strict=True)), me.Vector(0))
