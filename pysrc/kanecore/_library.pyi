# SPDX-License-Identifier: BSD-3-Clause
"""Types of `kanecore._library`; its docstrings stand in kanecore/_*.pxi."""

from typing import Any, final

import numpy as np
import numpy.typing as npt

ABI_VERSION: int
KERNELS: tuple[str, ...]

def cpu_level() -> int: ...
def numbers(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]: ...
def real_array(name: str, value: Any, dtype: np.dtype[Any] = ...) -> npt.NDArray[Any]: ...

@final
class Memory: ...

@final
class Block: ...
