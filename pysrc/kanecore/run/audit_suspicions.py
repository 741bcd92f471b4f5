# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an audit about what is right in itself and seldom meant."""

from __future__ import annotations

import numpy as np

from kanecore.run.audit_bodies import Bodies
from kanecore.run.audit_forces import potential_works
from kanecore.run.audit_rows import SUSPICIOUS, Row

__all__ = ["suspicions"]

_SAME = 1e-6  # of a potential's virtual work: what loads that it doubles may miss


def suspicions(b: Bodies) -> list[Row]:
    """Potentials that loads are given beside, and constraints that determine more speeds than are called dependent."""
    return [*_doubled(b), *_lifted(b)]


def _doubled(b: Bodies) -> list[Row]:
    """Loads whose virtual work is that of a potential: one by one, all of one kind together, or some that add up."""
    if not b.dyn.n_potentials or not b.loads or b.oblique:
        return []
    n = len(b.loads)
    works = b.virtual_works(b.load_vectors()).reshape(-1, n)
    given = potential_works(b).value.reshape(len(works), -1)
    heavy = [i for i in range(n) if np.max(np.abs(works[:, i])) > 0.0]
    rows = []
    for number in range(given.shape[1]):
        work = given[:, number]
        size = np.linalg.norm(work)
        if size == 0.0 or not heavy:
            continue
        alone = [i for i in heavy if np.linalg.norm(works[:, i] - work) <= _SAME * size]
        factors = np.linalg.lstsq(works[:, heavy], work, rcond=None)[0]
        together = [i for i, factor in zip(heavy, factors, strict=True) if abs(factor - 1.0) < _SAME]
        some = alone[:1] or together
        if some and np.linalg.norm(np.sum(works[:, some], axis=1) - work) <= _SAME * size:
            names = ", ".join(b.load_names[i] for i in some)
            reason = f"potential {number} does the work of {names}: the force is counted twice"
            rows.append(Row("potentials beside loads", SUSPICIOUS, reason=reason, worst=f"potential {number}"))
    return rows


def _lifted(b: Bodies) -> list[Row]:
    dyn, rank = b.dyn, b.states.rank
    if not (dyn.n_constraints and dyn.n_u_dependent):
        return []
    if rank <= dyn.n_u_dependent:
        return []
    reason = (
        f"the constraints determine {rank} speeds, and u_dependent names {dyn.n_u_dependent}: does a derivative of a "
        "constraint that was filed say something else than it?"
    )
    return [Row("rank of G and u_dependent", SUSPICIOUS, reason=reason, worst=", ".join(dyn.constraint_names))]
