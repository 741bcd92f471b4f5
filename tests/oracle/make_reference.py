# SPDX-License-Identifier: BSD-3-Clause
"""Compute what SymPy says of the random trees, of the truth models and of the gallery; half an hour on one core.

In the folder tests: ``python -m oracle.make_reference [random_trees] [named_systems]``
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import sympy as sm
from truth.models import truth_system

from .gallery_systems import gallery_system
from .random_trees import KINDS, random_state, random_tree
from .sympy_oracle import DIGITS, KaneOracle, to_doubles

TREES = 300
STATES = 2
TRUTH = Path(__file__).parents[1] / "truth"
HOW = (
    f"tests/oracle/make_reference.py: KanesMethod of SymPy {sm.__version__}, evaluated by mpmath in {DIGITS} digits, "
    "rounded to the nearest double; M is the lower triangle"
)
GALLERY = ("arm7", "cart_pendulum", "double_pendulum", "rotating_tube", "rrp")
SPAN = (0.2, 1.1)  # of every coordinate of a named system: a distance may not vanish, nor a colatitude


def reference(system: dict[str, Any], seed: int) -> dict[str, Any]:
    """What SymPy says of a system at random states."""
    start = time.perf_counter()
    oracle = KaneOracle(system)
    states = [random_state(system, STATES * seed + k) for k in range(STATES)]
    results = [state | to_doubles(oracle(state)) for state in states]
    return {"sympy_seconds": round(time.perf_counter() - start, 2), "states": results}


def random_trees() -> dict[str, Any]:
    """The first 300 trees on which any force acts: without one, relative errors have no meaning."""
    trees: list[dict[str, Any]] = []
    seed = 0
    while len(trees) < TREES:
        tree = random_tree(seed, complete=True)
        found = {"seed": seed, "kinds": dict(tree["kinds"])} | reference(tree, seed)
        if all(max(map(abs, state["f"])) > 1e-6 for state in found["states"]):
            trees.append(found)
        print(f"{seed}: {len(tree['bodies'])} bodies, {found['sympy_seconds']} s", file=sys.stderr, flush=True)
        seed += 1
    counts = {kind: sum(kind in tree["kinds"] for tree in trees) for kind in KINDS}
    return {"what": "tests/oracle/random_trees.py, random_tree(seed)", "trees_with": counts, "trees": trees}


def named_systems() -> dict[str, Any]:
    cases = sorted(path.stem for path in (TRUTH / "cases").glob("*.json"))
    systems = {f"truth/{name}": truth_system(name, *([5] if name == "n_pendulum" else [])) for name in cases}
    systems |= {f"gallery/{name}": gallery_system(name) for name in GALLERY}
    results = {}
    for seed, (name, system) in enumerate(systems.items()):
        with warnings.catch_warnings():  # SymPy finds velocities of points that the gallery leaves to their positions
            warnings.simplefilter("ignore", UserWarning)
            results[name] = reference(system | {"spans": [SPAN] * len(system["q"])}, seed)
        print(f"{name}: {results[name]['sympy_seconds']} s", file=sys.stderr, flush=True)
    return {"what": "the models of tests/truth/models and of the gallery, default parameters", "systems": results}


def main() -> None:
    files = {"random_trees": random_trees, "named_systems": named_systems}
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", choices=[*files, []], help="which to make; default: both")
    for name in arguments.parse_args().files or files:
        text = json.dumps({"how": HOW} | files[name](), separators=(",", ":"))
        path = TRUTH / f"{name}.json.gz"
        path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
        print(f"{path}: {path.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
