# SPDX-License-Identifier: BSD-3-Clause
"""Types of `kanecore._native` but for its kernels; its docstrings stand in kanecore/_*.pxi."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

from kanecore.program.bytecode_format import Code

_Array: TypeAlias = npt.NDArray[np.float64]
# Values for one call: an array, or some of them by name or SymPy symbol.
Values: TypeAlias = npt.ArrayLike | Mapping[Any, npt.ArrayLike]
_Kind: TypeAlias = Literal["parameter", "input", "output", "state", "coordinate", "speed", "udot", "multiplier"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

def kernel_method(function: _Function) -> _Function: ...
def forward_dynamics_method(function: _Function) -> _Function: ...

@disjoint_base
class Model:
    n_q: int
    n_u: int
    n_z: int
    n_x: int
    n_p: int
    n_r: int
    n_prepared: int
    n_work: int
    n_points: int
    n_frames: int
    n_outputs: int
    n_joints: int
    n_bodies: int
    n_loads: int
    n_potentials: int
    n_constraints: int
    n_configuration: int
    n_velocity: int
    n_reactions: int
    n_shares: int
    n_auxiliary: int
    n_q_dependent: int
    n_u_dependent: int
    name: str
    coordinate_names: tuple[str, ...]
    speed_names: tuple[str, ...]
    state_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    points: tuple[str, ...]
    frames: tuple[str, ...]
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    constraint_names: tuple[str, ...]
    unit: tuple[tuple[int, int, int, int], ...]
    input_rates: tuple[int, ...]
    qdot_is_u: bool
    single: bool
    dtype: np.dtype[Any]

    def __init__(
        self, library: str | PathLike[str] | Code, addresses: Mapping[str, tuple[int, ...]] | None = None
    ) -> None: ...
    @property
    def prepared(self) -> _Array: ...
    def prepare(self, p: Values) -> _Array: ...
    def address(self, kernel: str) -> int: ...

@disjoint_base
class ModelKernels:
    model: Model

    def __init__(self, model: Model) -> None: ...
    def has(self, kernel: str) -> bool: ...
    def method(self, kernel: str) -> Callable[..., Any]: ...
    def why_not(self, kernel: str) -> str | None: ...
    def open(self, library: str | PathLike[str] | Code) -> dict[str, Any]: ...
    @property
    def table_info(self) -> dict[str, Any]: ...
    @property
    def lanes(self) -> tuple[set[str], int]: ...
    def values(self, kind: str) -> _Array: ...
    def replace(self, kind: str, numbered: dict[int, float]) -> None: ...
    def reads(self, parameter: int, kernel: int) -> bool: ...
    def count(self, p: Any = None) -> int: ...
    def evaluate(
        self, kernel: str, t: Any, x: Any, beyond: Any, r: Any, p: Any, out: Any, threads: int = 1
    ) -> _Array: ...
    def linearize_into(self, t: Any, x: Any, r: Any, p: Any, a: _Array, b: _Array) -> bool: ...
    def inverse_dynamics_tangent_at_once(
        self, t: Any, x: Any, udot: Any, dx: Any, dr: Any, dudot: Any, r: Any, p: Any
    ) -> _Array | None: ...
    def inverse_dynamics_gradient_at_once(
        self, t: Any, x: Any, udot: Any, weights: Any, r: Any, p: Any
    ) -> _Array | None: ...
    def rhs_tangent_at_once(self, t: Any, x: Any, dx: Any, dr: Any, r: Any, p: Any) -> _Array | None: ...
    def rhs_gradient_at_once(self, t: Any, x: Any, weights: Any, full: bool, r: Any, p: Any) -> _Array | None: ...
    def output_tangent_at_once(self, t: Any, x: Any, dx: Any, dr: Any, r: Any, p: Any) -> _Array | None: ...
    def output_gradient_at_once(self, t: Any, x: Any, weights: Any, full: bool, r: Any, p: Any) -> _Array | None: ...
    def rhs_hessian_at_once(self, t: Any, x: Any, weights: Any, r: Any, p: Any) -> _Array | None: ...

class NamedArray(np.ndarray[Any, np.dtype[np.float64]]):
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...

class Buffers:
    t: float
    def __new__(cls, model: Model) -> Self: ...
    def evaluate(self, kernel: str) -> Any: ...
    @property
    def x(self) -> NamedArray: ...
    @x.setter
    def x(self, value: Values) -> None: ...
    @property
    def r(self) -> NamedArray: ...
    @r.setter
    def r(self, value: Values) -> None: ...
    @property
    def p(self) -> NamedArray: ...
    @p.setter
    def p(self, value: Values) -> None: ...
    @property
    def udot(self) -> NamedArray: ...
    @udot.setter
    def udot(self, value: Values) -> None: ...
