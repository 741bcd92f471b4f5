# SPDX-License-Identifier: BSD-3-Clause
"""1,000 random trees against SymPy on the graph, every tenth compiled as well; by default 21, and 3 compiled.

300 are written out in frames and points, with results of KanesMethod; 700 are of SymPy's joints, actuators,
quaternions and functions, with results from positions alone that KanesMethod repeats where it is quick.
``oracle/random_trees.py`` and ``oracle/random_joints.py`` say what they contain.
"""

import warnings
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracle.compare import input_values, read_reference, relative_error, residual, state_errors, symmetric
from oracle.make_reference import census
from oracle.on_graph import OnGraph
from oracle.position_oracle import PositionOracle
from oracle.random_joints import JOINT_KINDS, random_joint_tree
from oracle.random_trees import KINDS, STYLES, random_state, random_tree
from oracle.sympy_oracle import KaneOracle, to_doubles
from sweep import part

import kanecore as kc

# Drawn inertias need not be those of a solid body; they are computed with all the same.
pytestmark = pytest.mark.filterwarnings("ignore:no solid body can have")

TOLERANCE = 1e-11
BUILD = {"tree": random_tree, "joints": random_joint_tree}
STORED = {"tree": read_reference("random_trees")["trees"], "joints": read_reference("random_joints")["trees"]}
#: What a tree is, and its seed: what SymPy says of it.
REFERENCE = {(what, tree["seed"]): tree for what, trees in STORED.items() for tree in trees}
CENSUS = read_reference("random_census")


def kinds(tree: tuple[str, int]) -> set[Any]:
    """Of joints, bodies and loads."""
    what, seed = tree
    return set(CENSUS[what][str(seed)]["kinds"])


#: Those that run by default: by measured seconds the fewest in which every kind occurs.
DEFAULT = [
    *(("tree", seed) for seed in (21, 71, 186, 242, 261, 273, 295)),
    *(("joints", seed) for seed in (74, 118, 128, 145, 176, 200, 204, 212, 222, 274, 448, 554, 593, 626)),
]
COMPILED = list(REFERENCE)[::10]
#: Trees whose reference is computed anew: some of those that KanesMethod does in two seconds.
QUICK = [name for name, tree in REFERENCE.items() if tree.get("sympy_seconds", np.inf) < 2]
LIVE = QUICK[:: len(QUICK) // 12][:12]
#: In how many of the trees each kind must occur.
LEAST = 5


def named(names: Iterable[Any], default: Collection[Any]) -> list[Any]:
    cases = {name: pytest.param(*name, id=f"{name[0]}-{name[1]}") for name in names}
    return part(cases.values(), [cases[name] for name in default])


@cache
def tree_of(what: str, seed: int) -> dict[str, Any]:
    return BUILD[what](seed)


def described(tree: dict[str, Any]) -> tuple[kc.Model, dict[str, float]]:
    """The model and the values of its parameters."""
    if "system" in tree:
        model = kc.Model.from_system(tree["system"])
    else:
        model = kc.Model(
            tree["frame"], tree["q"], tree["u"], kd_eqs=tree["kdes"], bodies=tree["bodies"], forcelist=tree["loads"]
        )
    return model, {str(symbol): float(tree["parameters"][symbol]) for symbol in model.parameters}


def check(dyn: Any, what: str, seed: int) -> None:
    tree = tree_of(what, seed)
    assert census(tree) == CENSUS[what][str(seed)]
    assert (dyn.n_q, dyn.n_u) == (len(tree["q"]), len(tree["u"]))
    for state in REFERENCE[what, seed]["states"]:
        errors = state_errors(dyn, state, input_values(dyn, tree, state))
        assert max(errors.values()) < TOLERANCE, f"{errors}\n{tree['kinds']}\n{tree['styles']}"


def test_the_references_are_complete() -> None:
    assert {what: len(trees) for what, trees in STORED.items()} == {"tree": 300, "joints": 700}
    assert len(REFERENCE) == 1000


@pytest.mark.parametrize(("what", "seed"), named(REFERENCE, DEFAULT))
def test_agrees_with_sympy(what: str, seed: int) -> None:
    check(OnGraph(*described(tree_of(what, seed))), what, seed)


@pytest.mark.parametrize(("what", "seed"), named(COMPILED, COMPILED[::40]))
def test_agrees_with_sympy_compiled(what: str, seed: int) -> None:
    model, values = described(tree_of(what, seed))
    check(kc.compile(model, parameters=values), what, seed)


@pytest.mark.long
@pytest.mark.parametrize("oracle", [KaneOracle, PositionOracle])
@pytest.mark.parametrize(("what", "seed"), named(LIVE, LIVE[::20]))
def test_the_reference_is_what_sympy_says(what: str, seed: int, oracle: type) -> None:
    tree = BUILD[what](seed, complete=True)
    with warnings.catch_warnings():  # SymPy finds velocities that joints leave to the positions
        warnings.simplefilter("ignore", UserWarning)
        computed = oracle(tree)
    for k, stored in enumerate(REFERENCE[what, seed]["states"]):
        state = random_state(tree, 2 * seed + k)
        assert {name: stored[name] for name in state} == state
        found = to_doubles(computed(state))
        assert relative_error(symmetric(found.pop("M")), symmetric(stored["M"])) < 1e-14
        assert residual(symmetric(stored["M"]), np.array(found.pop("udot")), np.array(stored["f"])) < 1e-14
        for name, column in found.items():
            assert relative_error(column, stored[name]) < 1e-14


def test_every_kind_occurs() -> None:
    """By default as well."""
    for kind in {*KINDS, *STYLES, *JOINT_KINDS}:
        assert sum(kind in kinds(tree) for tree in REFERENCE) >= LEAST, kind
        assert any(kind in kinds(tree) for tree in DEFAULT), kind


def test_sizes_range_from_two_to_ten_bodies() -> None:
    assert set(range(2, 11)) <= {CENSUS[what][str(seed)]["bodies"] for what, seed in REFERENCE}


def test_quaternions_are_longer_than_their_speeds() -> None:
    states = {name: tree["states"][0] for name, tree in REFERENCE.items()}
    longer = [name for name, state in states.items() if len(state["q"]) > len(state["u"])]
    assert len(longer) >= 3 * LEAST
    assert {*longer} & {*DEFAULT}


@pytest.mark.long
def test_both_copies_are_the_same_tree() -> None:
    for what, seed in DEFAULT[::20]:
        one, other = tree_of(what, seed), BUILD[what](seed, complete=True)
        assert one["kinds"] == other["kinds"]
        for key in ("q", "u", "parameters", "inputs", "prescribed"):
            assert one[key] == other[key]


def test_nan_counts_as_wrong() -> None:
    assert relative_error([np.nan, 1.0], [0.0, 1.0]) == np.inf
    assert residual(np.eye(2), np.array([np.nan, 0.0]), np.ones(2)) == np.inf
