# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel of gallery models on the machine, with buffers of the promised lengths, at states from zero to NaN.

``python coded_kernels.py EXTENSION MODEL ...`` takes EXTENSION in place of the installed kanecore._native, one with
sanitizers.  Output is how many kernels were called.
"""

import ctypes
import math
import random
import sys
from importlib import import_module
from typing import Any

from altered_tables import load

from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import whole
from kanecore.kernels import KERNELS

VALUES = (0.0, 0.3, -1.0, 1e300, math.inf, math.nan)


def doubles(n: int, value: float, noise: float = 0.0) -> Any:
    """An array of its own, with nothing before or behind it."""
    draw = random.Random(n)
    return (ctypes.c_double * n)(*(value + noise * draw.uniform(-1.0, 1.0) for _ in range(n)))


def call_all(name: str) -> int:
    from kanecore.compiled_model import CompiledModel

    module = import_module(f"kanecore.gallery.{name}")
    dyn = CompiledModel({"all": code(whole(module.build().description, module.PARAMETERS, FIRST))}, source={})
    sizes = {size: getattr(dyn, size) for size in dir(type(dyn)) if size.startswith("n_")}
    n_called = 0
    for row in KERNELS:
        if not dyn.kernels.has(row.name):
            continue
        function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address(row.name))
        n_beyond = dyn.n_u * row.reads_udot + dyn.n_constraints * row.reads_multipliers + sum(row.further(sizes))
        for value in VALUES:
            x, r = doubles(dyn.n_x + n_beyond, value, 0.1), doubles(dyn.n_r, value)
            c, work = (ctypes.c_double * dyn.n_prepared)(*dyn.prepared), doubles(dyn.n_work, 0.0)
            function(value, x, r, c, work, doubles(math.prod(row.lengths(sizes)), 0.0))
        n_called += 1
    return n_called


if __name__ == "__main__":
    load(sys.argv[1])
    print(sum(map(call_all, sys.argv[2:])))
