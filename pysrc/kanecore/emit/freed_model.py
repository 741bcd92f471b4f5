# SPDX-License-Identifier: BSD-3-Clause
"""Code of a compiled model without some of its constraints, which contacts take over."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kanecore.derive.constraint_rows import Constraints
from kanecore.derive.forces.freed_constraints import without
from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import duplicate, without_auxiliary
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups
from kanecore.errors import ModelError, unknown_name
from kanecore.graph.expression_graph import SPEED
from kanecore.program.bytecode_format import Code

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["constraint_kinds", "freed_model"]


def constraint_kinds(dyn: Evaluator) -> dict[str, str]:
    """The kinds of all constraints by name, ``"configuration"``, ``"velocity"`` or ``"acceleration"``."""
    return {} if dyn.libraries.describe is None else {c.name: c.kind for c in dyn.libraries.describe().constraints}


def freed_model(dyn: Evaluator, names: Collection[str]) -> Evaluator:
    """The model without some constraints, for kanecore's machine; x, r and p are as before.

    Raises
    ------
    ModelError
        Such a constraint is one of accelerations, or not linear in the speeds; an output depends on its force; the
        model calls functions in C.
    KeyError
        There is no such constraint.
    """
    assert dyn.libraries.describe is not None
    d = dyn.libraries.describe()
    if dyn.libraries.functions:
        raise ModelError(f"{dyn.name!r} calls functions in C, and switches need a model without: use kc.Spline")
    rows = Constraints(Kinematics(without_auxiliary(d)))
    for name in names:
        constraint = next((each for each in rows.kinematics.description.constraints if each.name == name), None)
        if constraint is None:
            raise unknown_name(f"constraint of {dyn.name!r} is called", name, [each.name for each in d.constraints])
        jacobian = rows.row_of(constraint).jacobian
        if constraint.kind == "acceleration" or any(d.graph.depends[i] & SPEED for i in jacobian):
            raise ModelError(
                f"constraint {name!r} of {dyn.name!r} is one of accelerations, or not linear in the speeds, and has no "
                "impact: switches are for constraints of coordinates, and those linear in the speeds"
            )
    left = without(d, names)
    groups = Groups(duplicate(left), first=FIRST)

    def build(group: str) -> tuple[Code, None]:
        return code(groups.library(group)), None

    freed = dyn.another({"core": build("core")[0]}, builder=build)
    freed.libraries.describe = lambda: duplicate(left)
    freed.libraries.origin = freed_model, (dyn, tuple(names))
    return freed
