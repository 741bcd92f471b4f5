# SPDX-License-Identifier: BSD-3-Clause
"""300 random trees against SymPy's KanesMethod; tests/oracle/random_trees.py says what they contain."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracle.compare import input_values, read_reference, relative_error, residual, state_errors, symmetric
from oracle.random_trees import KINDS, STYLES, random_state, random_tree
from oracle.sympy_oracle import KaneOracle, to_doubles

import kanecore as kc

TOLERANCE = 1e-11
REFERENCE = {tree["seed"]: tree for tree in read_reference("random_trees")["trees"]}
#: Trees whose reference is computed anew: every 25th of those that SymPy does in two seconds.
QUICK = [seed for seed, tree in REFERENCE.items() if tree["sympy_seconds"] < 2]
LIVE = QUICK[:: len(QUICK) // 12][:12]
#: In how many of the 300 trees each kind must occur.
LEAST = 15


@cache
def tree_of(seed: int) -> dict[str, Any]:
    return random_tree(seed)


def compiled(tree: dict[str, Any], cflags: list[str] | None) -> kc.CompiledModel:
    model = kc.Model(
        tree["frame"], tree["q"], tree["u"], kd_eqs=tree["kdes"], bodies=tree["bodies"], forcelist=tree["loads"]
    )
    values = {symbol: float(tree["parameters"][symbol]) for symbol in model.parameters}
    return kc.compile(model, parameters=values, cflags=cflags)


def test_the_reference_is_complete() -> None:
    assert len(REFERENCE) == 300


@pytest.mark.parametrize("seed", REFERENCE)
def test_agrees_with_kanes_method(seed: int) -> None:
    tree = tree_of(seed)
    dyn = compiled(tree, ["-O0"] if seed % 10 else None)  # most of the time is the compiler's
    assert (dyn.n_q, dyn.n_u) == (len(tree["q"]), len(tree["u"]))
    for state in REFERENCE[seed]["states"]:
        errors = state_errors(dyn, state, input_values(dyn, tree, state))
        assert max(errors.values()) < TOLERANCE, f"{errors}\n{tree['kinds']}\n{tree['styles']}"


@pytest.mark.parametrize("seed", LIVE)
def test_the_reference_is_what_sympy_says(seed: int) -> None:
    tree = random_tree(seed, complete=True)
    oracle = KaneOracle(tree)
    for k, stored in enumerate(REFERENCE[seed]["states"]):
        state = random_state(tree, 2 * seed + k)
        assert {name: stored[name] for name in state} == state
        found = to_doubles(oracle(state))
        assert relative_error(symmetric(found.pop("M")), symmetric(stored["M"])) < 1e-14
        for name, column in found.items():
            assert relative_error(column, stored[name]) < 1e-14


@pytest.fixture(scope="module")
def occurrences() -> Counter[str]:
    """In how many trees each kind and each style occurs."""
    trees = [tree_of(seed) for seed in REFERENCE]
    return Counter(name for tree in trees for name in (*tree["kinds"], *tree["styles"]))


@pytest.mark.parametrize("kind", [*KINDS, *STYLES])
def test_every_kind_occurs(kind: str, occurrences: Counter[str]) -> None:
    assert occurrences[kind] >= LEAST


def test_sizes_range_from_two_to_ten_bodies() -> None:
    sizes = Counter(len(tree_of(seed)["bodies"]) for seed in REFERENCE)
    assert set(sizes) == set(range(2, 11))


def test_both_copies_are_the_same_tree() -> None:
    for seed in list(REFERENCE)[::20]:
        one, other = tree_of(seed), random_tree(seed, complete=True)
        assert one["kinds"] == other["kinds"]
        for key in ("q", "u", "parameters", "inputs", "prescribed"):
            assert one[key] == other[key]


def test_nan_counts_as_wrong() -> None:
    assert relative_error([np.nan, 1.0], [0.0, 1.0]) == np.inf
    assert residual(np.eye(2), np.array([np.nan, 0.0]), np.ones(2)) == np.inf
