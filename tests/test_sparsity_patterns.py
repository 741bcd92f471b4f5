# SPDX-License-Identifier: BSD-3-Clause
"""The tree of rows along which factors of M keep its zeros, against an elimination by numbers."""

import numpy as np
import pytest

from kanecore.derive.sparsity_patterns import elimination_tree


@pytest.mark.parametrize("share", [0.0, 0.03, 0.1, 0.3, 1.0])
def test_elimination_tree(share: float) -> None:
    """What is not zero in a row of the factors stands at its ancestors, the last of it at its parent."""
    n = 20
    for seed in range(10):
        rng = np.random.default_rng(seed)
        lower = np.tril(rng.uniform(0.5, 1.0, (n, n)) * (rng.uniform(size=(n, n)) < share), -1)
        M = lower + lower.T + 2.0 * n * np.eye(n)
        parents = elimination_tree([sum(1 << j for j in range(n) if row[j]) for row in M])
        for d in reversed(range(n)):
            connected = np.flatnonzero(M[d, :d])
            assert parents[d] == max(connected, default=-1)
            ancestors, i = set(), parents[d]
            while i >= 0:
                ancestors.add(i)
                i = parents[i]
            assert ancestors.issuperset(connected)
            M[:d, :d] -= np.outer(M[d, :d], M[d, :d]) / M[d, d]
