# SPDX-License-Identifier: BSD-3-Clause
"""Time of derivatives of ẋ and of the places of all bodies in C."""

from __future__ import annotations

import models
import numpy as np
import report
from clock import REPEATS, kernel_nanoseconds, reference

import kanecore as kc

QUESTION = "how long do ∂ẋ/∂(x, r), positions and orientations take in C [ns]?"
KERNELS = ("rhs", "linearize", "positions", "orientations")
STEP = 1e-6


def measure(smallest: bool) -> dict[str, list[report.Row]]:
    """One table, one row a model and kernel; the smallest run takes prebuilt models, the whole one compiles."""
    if smallest:
        return {
            "derivatives in C": [_row(kc.load(name), name, kernel, 5) for name in ("rrp", "arm7") for kernel in KERNELS]
        }
    rows = []
    for mechanism in (models.arm(), models.tree(), models.chain(5), models.chain(20)):
        dyn = kc.compile(mechanism.build(), parameters=mechanism.parameters, cache=False)
        rows += [_row(dyn, mechanism.name, kernel, REPEATS) for kernel in KERNELS]
    return {"derivatives in C": rows}


def _row(dyn: kc.CompiledModel, name: str, kernel: str, repeats: int) -> report.Row:
    x, r = models.states(dyn.n_x), models.inputs(dyn.n_r)
    dyn.inputs.update(zip(dyn.input_names, r, strict=True))
    n_out = dyn.n_x * (dyn.n_x + dyn.n_r) if kernel == "linearize" else int(np.size(getattr(dyn, kernel)(0.0, x[0])))
    dyn.linearize(0.0, x[0])  # compiles its group
    took = kernel_nanoseconds(dyn.address(kernel), x, r, dyn.prepared, dyn.n_work, n_out, repeats)
    row: report.Row = {"case": f"{name}: {kernel}", "ns": took.median, "ns_min": took.least}
    row["ops"] = dyn.info["operations"].get(kernel, "")
    row["chains"] = took.least / reference()["chain_ns"]
    row["error"] = _error(dyn, x[0]) if kernel == "linearize" else ""
    return row


def _error(dyn: kc.CompiledModel, x: np.ndarray) -> float:
    """The difference of ∂ẋ/∂x from central differences, beside its largest entry."""
    slopes, _ = dyn.linearize(0.0, x)
    step = STEP * np.eye(dyn.n_x)
    differences = (dyn.rhs(0.0, x + step) - dyn.rhs(0.0, x - step)).T / (2 * STEP)
    return float(np.abs(slopes - differences).max() / np.abs(slopes).max())


if __name__ == "__main__":
    report.main("derivatives", QUESTION, measure)
