# SPDX-License-Identifier: BSD-3-Clause
"""Types of `kanecore._library`; its docstrings stand in kanecore/_*.pxi."""

from typing import Any, final

import numpy as np
import numpy.typing as npt

ABI_VERSION: int
KERNELS: tuple[str, ...]

def cpu_level() -> int: ...
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]: ...
def real_numbers(name: str, value: Any) -> npt.NDArray[np.float64]: ...
def symbol_name(key: Any) -> str: ...

@final
class Memory: ...

@final
class Block: ...
