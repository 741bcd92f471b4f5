# SPDX-License-Identifier: BSD-3-Clause
"""Time from SymPy objects to C text, and the operations of the text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import models
import numpy as np
import peers
import report
import sides
from clock import timing
from peers.sympy import kanes_method

import kanecore as kc
from kanecore.derive.derivation import Derivation
from kanecore.describe.description import bake, duplicate
from kanecore.emit.kernel_groups import emit_group
from kanecore.graph.evaluation import evaluate
from kanecore.kernels import GROUPS

QUESTION = "how long from SymPy objects to the C text of the core group [ms], and how many operations in it?"
PEER_LINKS = 10  # SymPy's KanesMethod takes minutes beyond


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One row a mechanism; stages in ms, medians, and the first run of all, which imports and fills caches."""
    links = (2, 5) if smallest else (2, 5, 10, 20, 40)
    repeats = 3 if smallest else 7
    rows = [_row(models.arm(), repeats, peer=not smallest)]
    rows.append(_row(models.arm(), repeats, baked=True))
    for n in links:
        rows.append(_row(models.cart(n), repeats, peer=n <= PEER_LINKS))
        rows.append(_row(models.chain(n), repeats))
    return {"core group": rows, "C text": _beside([models.robot()] if smallest else models.all_of_them(), repeats)}


def _beside(mechanisms: Sequence[models.Mechanism], repeats: int) -> list[report.Row]:
    """Describe, read, derive and emit, beside peers that write C from the start; ms."""
    rows = []
    for mechanism in mechanisms:
        theirs, missing = peers.sides("derive", mechanism)
        ours = sides.Side(
            "kanecore", [sides.repeated(lambda m=mechanism: emit_group(m.build().description, "core", {}))]
        )
        rows += sides.rows(mechanism.name, [ours, *theirs], missing, repeats)
    return sides.in_milliseconds(rows)


def _row(mechanism: models.Mechanism, repeats: int, *, baked: bool = False, peer: bool = False) -> report.Row:
    values = dict(mechanism.parameters) if baked else {}
    stages: dict[str, list[float]] = {"describe": [], "read": [], "derive": [], "emit": [], "to_c": []}
    for _ in range(repeats):
        objects, describe = _timed(mechanism.describe)
        model, read = _timed(lambda o=objects: kc.Model(**o))
        emitted, derive_and_emit = _timed(lambda m=model: emit_group(m.description, "core", values))
        derivation, derive = _timed(lambda m=model: _derived(m, values))
        took = (describe, read, derive, derive_and_emit - derive, read + derive_and_emit)
        for samples, value in zip(stages.values(), took, strict=True):
            samples.append(1e3 * value)

    mass_matrix, forcing, udot = _at_a_state(derivation, mechanism.parameters)
    row: report.Row = {"case": mechanism.name + (" baked" if baked else "")}
    row |= {stage: timing(samples).median for stage, samples in stages.items()}
    row |= {"to_c_min": min(stages["to_c"]), "to_c_first": stages["to_c"][0], "text_kB": len(emitted.text) / 1e3}
    row |= {f"ops_{k}": emitted.operations[k]["total"] for k in ("rhs", "mass_matrix", "forcing")}
    row["residual"] = models.residual(mass_matrix, udot, forcing)
    row |= {"sympy_ms": "", "sympy_ops": "", "sympy_difference": ""}
    if peer:
        result = kanes_method(objects, _values(model, mechanism.parameters))
        row["sympy_ms"], row["sympy_ops"] = 1e3 * result.seconds, result.operations
        row["sympy_difference"] = max(
            float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
            for ours, theirs in ((mass_matrix, result.mass_matrix), (forcing, result.forcing))
        )
    return row


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def _derived(model: kc.Model, values: dict[str, float]) -> Derivation:
    """The kernels of the core group on the graph, as ``emit_group`` derives them."""
    derivation = Derivation(bake(model.description, values) if values else duplicate(model.description))
    for kernel in GROUPS["core"]:
        derivation.kernel(kernel)
    return derivation


def _at_a_state(derivation: Derivation, parameters: Any) -> list[np.ndarray]:
    """M, f and u̇ of the graph in float64."""
    d, g = derivation.description, derivation.graph
    x = models.states(len(d.coordinates) + len(d.speeds))[0]
    nodes = [*d.coordinates, *d.speeds, *d.inputs, *d.parameters, d.time]
    numbers = [*x, *models.inputs(len(d.inputs)), *(parameters[name] for name in d.parameter_names), 0.0]
    values = {g.nodes[i][1]: v for i, v in zip(nodes, numbers, strict=True)}
    kernels = ("mass_matrix", "forcing", "udot")
    m, f, u = (np.array(evaluate(g, derivation.kernel(name).roots, values)) for name in kernels)
    return [m.reshape(len(f), len(f)), f, u]


def _values(model: kc.Model, parameters: Any) -> dict[Any, float]:
    """The same state, by SymPy symbol."""
    numbers = [*models.states(model.n_x)[0], *models.inputs(model.n_r), *(parameters[str(p)] for p in model.parameters)]
    symbols = (*model.coordinates, *model.speeds, *model.inputs, *model.parameters)
    return {s: float(v) for s, v in zip(symbols, numbers, strict=True)}


if __name__ == "__main__":
    report.main("derive", QUESTION, measure)
