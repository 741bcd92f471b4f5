# SPDX-License-Identifier: BSD-3-Clause
"""Types of `kanecore._library`; its docstrings stand in kanecore/_*.pxi."""

from typing import Any, final

ABI_VERSION: int
KERNELS: tuple[str, ...]

def cpu_level() -> int: ...
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]: ...
def symbol_name(key: Any) -> str: ...

@final
class Memory: ...

@final
class Block: ...
