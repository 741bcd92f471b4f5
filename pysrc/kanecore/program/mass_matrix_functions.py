# SPDX-License-Identifier: BSD-3-Clause
"""M and its inverse: by programs or, for a long tree, by loops over its joints."""

from __future__ import annotations

from kanecore.derive.kernel_registry import Derived
from kanecore.derive.sparsity_patterns import elimination_tree, mass_matrix_pattern

from .function_parts import Function, Member
from .function_store import Functions

__all__ = ["mass_matrix", "mass_matrix_inverse"]


def mass_matrix(f: Functions, rarely: bool = False) -> Function:
    """M: for a long tree by loops over its joints, otherwise by a program; ``rarely`` as in `Functions.of_kernel`."""
    rates = f.derivation.composite_rates
    if rates is None:
        return f.of_kernel("mass_matrix", rarely)
    if "compute_mass_matrix" in f.by_name:
        return f.by_name["compute_mass_matrix"]
    members: dict[str, Member] = {
        "n": f.n,
        "before": rates.before,
        "speed": rates.speed,
        "rates": f.once("fill_composites", Derived(rates.numbers)),
    }
    return f.solved("compute_mass_matrix", "composites", members, f.n)


def mass_matrix_inverse(f: Functions) -> Function:
    """The inverse of M: by a program if this is short and its pivots are not small, otherwise by the factors of M."""
    derivation = f.derivation
    derived = derivation.at_run_time("mass_matrix_inverse") or derivation.kernel("mass_matrix_inverse")
    members: dict[str, Member] = {
        "n": f.n,
        "parent": elimination_tree(mass_matrix_pattern(derivation)) if derivation.symmetric else (),
        "mass_matrix": mass_matrix(f).name,
    }
    if not derived.limits:
        return f.solved("compute_mass_matrix_inverse", "inverse", members, f.n)
    otherwise = f.solved("general_mass_matrix_inverse", "inverse", members, f.n).name
    shortly = f.straight("short_mass_matrix_inverse", derived, in_core=True).name
    return f.solved("compute_mass_matrix_inverse", "short_way", {"otherwise": otherwise, "shortly": shortly})
