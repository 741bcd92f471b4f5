# SPDX-License-Identifier: BSD-3-Clause
"""SymPy descriptions of the cases in ../cases: a function for each, of the case's name."""

from typing import Any

from . import iftomm, kane85, loops, nonholonomic, particles, robots

__all__ = ["truth_system"]


def truth_system(name: str, *arguments: Any) -> dict[str, Any]:
    """``frame, q, u, kdes, bodies, loads, parameters`` (and ``inputs``) of a case, newly built.

    Of a case with constraints it is the system without them; they are its ``constraints``, each equal to zero, and
    ``attach`` says where they act in those that have published joint forces.
    """
    for module in (particles, kane85, iftomm, robots, loops, nonholonomic):
        if hasattr(module, name):
            return getattr(module, name)(*arguments)
    raise KeyError(name)
