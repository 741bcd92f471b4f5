# SPDX-License-Identifier: BSD-3-Clause
"""Types of `kanecore._native` but for its kernels; its docstrings stand in kanecore/_*.pxi."""

from collections.abc import Collection, Mapping
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

from kanecore.program.bytecode_format import Code

_Array: TypeAlias = npt.NDArray[np.float64]
# _Values for one call: an array, or some of them by name or SymPy symbol.
_Values: TypeAlias = npt.ArrayLike | Mapping[Any, npt.ArrayLike]
_What: TypeAlias = Literal["parameter", "input"]
_Kind: TypeAlias = Literal["parameter", "input", "output", "state", "coordinate", "speed", "udot", "multiplier"]

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
    def _open(self, library: str | PathLike[str] | Code) -> dict[str, Any]: ...
    def _has(self, kernel: str) -> bool: ...
    @property
    def _x_names(self) -> tuple[str, ...]: ...
    @property
    def _speeds(self) -> slice: ...
    @property
    def _states(self) -> slice: ...
    @property
    def _table_info(self) -> dict[str, Any]: ...
    def _values(self, what: _What) -> _Array: ...
    def _index(self, what: _Kind, key: Any) -> int: ...
    def _found(self, kinds: Collection[_Kind], key: Any) -> tuple[_Kind, int]: ...
    def _by_number(self, what: _Kind, given: Mapping[Any, Any], argument: str) -> dict[int, Any]: ...
    def _rows(self, what: _Kind, given: _Values, argument: str) -> _Array: ...
    def _as_state(self, x: Any, argument: str = "x") -> Any: ...
    def _state_of(self, items: Collection[tuple[Any, Any]]) -> _Array: ...
    def _resolved(self, what: _What, given: _Values) -> _Array: ...
    def _value(self, what: _What, key: Any) -> float: ...
    def _left_out(self, what: _What) -> dict[str, float]: ...
    def _set(self, what: _What, values: Mapping[Any, float]) -> None: ...
    @property
    def prepared(self) -> _Array: ...
    def prepare(self, p: _Values) -> _Array: ...
    def address(self, kernel: str) -> int: ...
    def partial_accelerations(
        self,
        t: npt.ArrayLike,
        x: _Values,
        *,
        r: _Values | None = None,
        p: _Values | None = None,
        out: _Array | None = None,
    ) -> _Array: ...
    def partial_angular_accelerations(
        self,
        t: npt.ArrayLike,
        x: _Values,
        *,
        r: _Values | None = None,
        p: _Values | None = None,
        out: _Array | None = None,
    ) -> _Array: ...
    def _count(self, p: Any = None) -> int: ...
    @property
    def configuration_names(self) -> tuple[str, ...]: ...
    def _pivot(self, row: int) -> str: ...
    def _row_name(self, row: int) -> str: ...
    def _inverse_dynamics_tangent_at_once(
        self, t: Any, x: Any, udot: Any, dx: Any, dr: Any, dudot: Any, r: Any, p: Any
    ) -> _Array | None: ...
    def _inverse_dynamics_gradient_at_once(
        self, t: Any, x: Any, udot: Any, weights: Any, r: Any, p: Any
    ) -> _Array | None: ...
    def _rhs_tangent_at_once(self, t: Any, x: Any, dx: Any, dr: Any, r: Any, p: Any) -> _Array | None: ...
    def _rhs_gradient_at_once(self, t: Any, x: Any, weights: Any, full: bool, r: Any, p: Any) -> _Array | None: ...
    def _rhs_hessian_at_once(self, t: Any, x: Any, weights: Any, r: Any, p: Any) -> _Array | None: ...
    def aba(self, q: _Values, u: _Values, tau: _Values) -> _Array: ...
    # `Hooks`, which the extension calls and `CompiledModel` overrides
    def _find(self, kernel: str) -> None: ...
    def _find_lanes(self, kernel: str) -> None: ...
    def _why_not(self, kernel: str) -> str | None: ...
    @property
    def _baked(self) -> Collection[str]: ...
    def _count_near(self, t: float, x: _Array, r: Any, p: Any) -> int: ...
    def _opposed(self, t: float, x: _Array, r: Any, p: Any, row: int) -> tuple[str, ...]: ...
    def _nonholonomic(
        self,
        kind: str,
        t: npt.ArrayLike,
        x: _Values,
        udot: _Values | None,
        remainder: bool,
        out: _Array | None,
        values: dict[str, Any],
    ) -> _Array: ...
    def _forward_dynamics_of(self, q: _Values, u: _Values, tau: _Values) -> _Array: ...
    def _split(
        self,
        kernel: str,
        by: str,
        t: npt.ArrayLike,
        x: _Values,
        udot: _Values | None,
        nonholonomic: bool,
        out: _Array | None,
        values: dict[str, Any],
    ) -> Any: ...

class NamedArray(np.ndarray[Any, np.dtype[np.float64]]):
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...

class Buffers:
    t: float
    def __new__(cls, model: Model) -> Self: ...
    @property
    def x(self) -> NamedArray: ...
    @x.setter
    def x(self, value: _Values) -> None: ...
    @property
    def r(self) -> NamedArray: ...
    @r.setter
    def r(self, value: _Values) -> None: ...
    @property
    def p(self) -> NamedArray: ...
    @p.setter
    def p(self, value: _Values) -> None: ...
    @property
    def udot(self) -> NamedArray: ...
    @udot.setter
    def udot(self, value: _Values) -> None: ...
