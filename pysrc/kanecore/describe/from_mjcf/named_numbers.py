# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a MuJoCo model that users identify: constants, or parameters that have names."""

from __future__ import annotations

from dataclasses import dataclass, field

from kanecore.describe.builder import Builder
from kanecore.describe.robots.number_nodes import number

__all__ = ["NamedNumbers"]


@dataclass
class NamedNumbers:
    """Nodes of numbers; with ``parameters`` each that is not 0 becomes a parameter, of the value in ``values``."""

    builder: Builder
    parameters: bool
    values: dict[str, float] = field(default_factory=dict)

    def __call__(self, name: str, value: float) -> int:
        """The node of a number, the same for the same name."""
        if not self.parameters or not value:
            return number(self.builder, float(value))
        self.values[name] = float(value)
        return self.builder.parameter(name)
