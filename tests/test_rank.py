# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.rank: the first columns that serve, by QR with pivots that are large enough."""

import numpy as np
import pytest

from kanecore.rank import independent_columns


@pytest.mark.parametrize("seed", range(5))
def test_the_first_columns_of_a_rank(seed: int) -> None:
    """Columns of any size; 3, 4 and 7 follow from those before them."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((30, 8))
    columns[:, 3] = columns[:, 0] - 2.0 * columns[:, 1]
    columns[:, 4] = 0.0
    columns[:, 7] = columns[:, :7] @ rng.standard_normal(7)
    columns *= 10.0 ** rng.uniform(-9.0, 9.0, 8)
    assert independent_columns(columns, 1e-9).tolist() == [0, 1, 2, 5, 6]


def test_rounding_beside_a_small_part_is_no_column() -> None:
    """Columns 1 and 2 are 0 but for a millionth along one direction: one of them counts, not both, nor column 4."""
    rng = np.random.default_rng(1)
    a, b, c = np.linalg.qr(rng.standard_normal((50, 3)))[0].T
    columns = np.transpose([a, a + 1e-6 * b, a - 3e-6 * b, b + 0.3 * c, 0.2 * a + b + 0.3 * c, c])
    assert len(independent_columns(columns, 1e-10)) == 3
    assert np.linalg.cond(columns[:, independent_columns(columns, 1e-10)]) < 10.0


def test_columns_of_a_first_group_come_first() -> None:
    columns = np.array([[1.0, 1.0, 0.0], [1e-5, 0.0, 1.0]])
    assert independent_columns(columns, 1e-9).tolist() == [0, 2]
    assert independent_columns(columns, 1e-9, 2).tolist() == [0, 1]
    assert independent_columns(columns, 1e-4, 2).tolist() == [0, 2]
