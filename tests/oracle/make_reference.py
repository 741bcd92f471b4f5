# SPDX-License-Identifier: BSD-3-Clause
"""Compute what SymPy says of the random trees, of the truth models and of the gallery; half an hour on one core.

In the folder tests: ``python -m oracle.make_reference [random_trees] [random_joints] [named_systems] [random_census]``
"""

import argparse
import gzip
import json
import sys
import time
import warnings
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import sympy as sm
from truth.models import truth_system

from .compare import read_reference, relative_error, symmetric
from .gallery_systems import gallery_system
from .position_oracle import PositionOracle
from .random_constrained import random_constrained
from .random_joints import JOINT_KINDS, random_joint_tree
from .random_trees import KINDS, random_state, random_tree
from .sympy_oracle import DIGITS, KaneOracle, to_doubles

TREES, JOINT_TREES, CONSTRAINED = 300, 700, 200
STATES = 2
#: Of every seven joint trees, those of the default test run; KanesMethod derives them as well, up to so many speeds.
IN_CI, MOST_SPEEDS = (0, 3), 8
TRUTH = Path(__file__).parents[1] / "truth"
KANE = f"KanesMethod of SymPy {sm.__version__}, evaluated by mpmath in {DIGITS} digits"
GALLERY = {path.stem for path in (TRUTH.parents[1] / "pysrc/kanecore/gallery").glob("[a-z]*.py")}
#: Gallery models on which KanesMethod takes minutes, or does what it does in ../truth as well.
BY_POSITIONS = {"biped", "chain40", "iiwa14", "puma560", "tree30", "ur5e"}
POSITIONS = "positions alone (tests/oracle/position_oracle.py)"
HOW = {
    "random_trees": KANE,
    "random_joints": f"{POSITIONS}; where sympy_seconds stands, {KANE}, agrees to 1e-14",
    "random_census": "what the random systems contain: to count it takes minutes",
    "named_systems": f"{KANE}; of {', '.join(sorted(BY_POSITIONS))} in the gallery by {POSITIONS}",
}
SPAN = (0.2, 1.1)  # of every coordinate of a named system: a distance may not vanish, nor a colatitude


def reference(system: dict[str, Any], seed: int, oracle: type = KaneOracle) -> dict[str, Any]:
    """What SymPy says of a system at random states."""
    start = time.perf_counter()
    computed = oracle(system)
    states = [random_state(system, STATES * seed + k) for k in range(STATES)]
    results = [state | to_doubles(computed(state)) for state in states]
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


def random_joints() -> dict[str, Any]:
    """The first 700 trees of joints on which any force acts, by positions; some by KanesMethod too, in agreement."""
    trees: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    seed = -1
    while len(trees) < JOINT_TREES:
        seed += 1
        tree = random_joint_tree(seed, complete=True)
        states = [random_state(tree, STATES * seed + k) for k in range(STATES)]
        oracle = PositionOracle(tree)
        found: dict[str, Any] = {"seed": seed, "states": [state | to_doubles(oracle(state)) for state in states]}
        if any(max(map(abs, state["f"])) < 1e-6 for state in found["states"]):
            continue
        if len(trees) % 7 in IN_CI and len(tree["u"]) <= MOST_SPEEDS:
            with warnings.catch_warnings():  # SymPy finds velocities that joints leave to the positions
                warnings.simplefilter("ignore", UserWarning)
                kane = reference(tree, seed)
            for one, other in zip(found["states"], kane["states"], strict=True):
                errors = [relative_error(one[name], other[name]) for name in ("f", "qdot")]
                errors.append(relative_error(symmetric(one["M"]), symmetric(other["M"])))
                if max(errors) > 1e-14:
                    raise ArithmeticError(f"tree {seed}: positions and KanesMethod differ by {errors}")
            found["sympy_seconds"] = kane["sympy_seconds"]
        trees.append(found)
        counts.update(kind for kind in JOINT_KINDS if tree["kinds"][kind])
        print(f"{seed}: {len(tree['u'])} speeds, {found.get('sympy_seconds', '')}", file=sys.stderr, flush=True)
    return {"what": "tests/oracle/random_joints.py, random_joint_tree(seed)", "trees_with": counts, "trees": trees}


def census(system: dict[str, Any], **more: int) -> dict[str, Any]:
    """What a random system contains."""
    kinds = sorted({*system["kinds"], *system.get("styles", ())})
    return {"kinds": kinds, "bodies": len(system["bodies"]), "speeds": len(system["u"])} | more


def constrained_census(system: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return census(system, rows=len(expected["G"]), rank=system["rank"])


def random_census() -> dict[str, Any]:
    """Of the trees whose references are stored, and of the constrained systems."""
    found: dict[str, Any] = {"what": "census of tests/oracle/make_reference.py, by seed"}
    for what, file, build in (("tree", "random_trees", random_tree), ("joints", "random_joints", random_joint_tree)):
        found[what] = {tree["seed"]: census(build(tree["seed"])) for tree in read_reference(file)["trees"]}
    systems = {seed: random_constrained(seed) for seed in range(CONSTRAINED)}
    found["constrained"] = {k: constrained_census(s, s["oracle"](s["state"])) for k, s in systems.items()}
    return found


def named_systems() -> dict[str, Any]:
    cases = sorted(path.stem for path in (TRUTH / "cases").glob("*.json"))
    systems = {f"truth/{name}": truth_system(name, *([5] if name == "n_pendulum" else [])) for name in cases}
    systems |= {f"gallery/{name}": gallery_system(name) for name in sorted(GALLERY)}
    results = {}
    for name, system in systems.items():
        seed = zlib.crc32(name.encode())  # its states stay when others join
        with warnings.catch_warnings():  # SymPy finds velocities of points that the gallery leaves to their positions
            warnings.simplefilter("ignore", UserWarning)
            oracle = PositionOracle if name.partition("/")[2] in BY_POSITIONS else KaneOracle
            results[name] = reference(system | {"spans": [SPAN] * len(system["q"])}, seed, oracle)
        print(f"{name}: {results[name]['sympy_seconds']} s", file=sys.stderr, flush=True)
    return {"what": "the models of tests/truth/models and of the gallery, default parameters", "systems": results}


def main() -> None:
    files = {make.__name__: make for make in (random_trees, random_joints, named_systems, random_census)}
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", choices=[*files, []], help="which to make; default: all")
    for name in arguments.parse_args().files or files:
        how = f"tests/oracle/make_reference.py: {HOW[name]}"
        if name != "random_census":
            how += "; rounded to the nearest double; M is the lower triangle"
        text = json.dumps({"how": how} | files[name](), separators=(",", ":"))
        path = TRUTH / f"{name}.json.gz"
        path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
        print(f"{path}: {path.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
