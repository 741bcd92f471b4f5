# SPDX-License-Identifier: BSD-3-Clause
"""Types of `kanecore._motion`; its docstrings stand in kanecore/_*.pxi."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from kanecore._binding import Model, Values, _Array, _Kind

FIXED_STEP_METHODS: tuple[str, ...]
METHODS: dict[str, bool]

def checked_inputs(model: Model, returned: Any, t: float) -> _Array: ...
def smallest_step(t0: float, t1: float) -> float: ...

@final
class Inputs:
    def __init__(
        self,
        model: Model,
        knots: _Array,
        coefficients: _Array,
        function: Any = None,
        address: int | None = None,
        period: float = 0.0,
        held: _Array | None = None,
    ) -> None: ...

@final
class Tableau:
    stages: int
    extended: int
    a: _Array | None
    c: _Array | None
    implicit: tuple[_Array, _Array, _Array, _Array, _Array] | None
    adaptive: bool
    def __init__(self, method: str, stiff: bool = False) -> None: ...
    def interpolant(self, theta: _Array) -> _Array: ...

class Outputs:
    def __init__(self, model: Model, p: Any, rank: int = -1) -> None: ...

class Watch:
    error: BaseException | None
    ended: bool
    @property
    def crowded(self) -> float: ...
    def __init__(
        self,
        model: Model,
        sources: Sequence[tuple[str, Any]],
        directions: Sequence[int],
        stops: Sequence[bool],
        found: Callable[[int, float, _Array], Any],
        outputs: Outputs | None = None,
        expressions: Outputs | None = None,
        contacts: Contacts | None = None,
    ) -> None: ...

class Contacts:
    mode: npt.NDArray[np.int32]
    directions: _Array
    noise: _Array
    least: _Array
    gaps: _Array
    gap_terms: _Array
    speeds: _Array
    speed_terms: _Array
    matrix: _Array
    delassus: _Array
    start: _Array
    terms: _Array
    reference: _Array
    force: _Array
    after: _Array
    sizes: _Array
    udot: _Array
    free: _Array
    since: float
    slow: float
    @property
    def spread(self) -> float: ...
    @property
    def dependent(self) -> int: ...
    def __init__(
        self,
        model: Model,
        rows: Model,
        lengths: Sequence[int],
        placed: Sequence[int],
        mu: Sequence[float],
        mu_kin: Sequence[float],
        p: Any,
        rank: int = -1,
    ) -> None: ...
    def at(self, t: float, x: _Array, r: _Array) -> None: ...
    def solve(self, start: _Array) -> None: ...
    def relax(self, start: _Array, part: float, most: int) -> int: ...
    def held(self, start: _Array) -> None: ...
    def laws(self) -> _Array: ...
    def pushed(self) -> _Array: ...
    def rhs(self, t: float, x: _Array, r: _Array) -> _Array: ...
    def projected(self, t: float, x: _Array, r: _Array) -> _Array: ...

def integrate(
    model: Model,
    method: str,
    t0: float,
    t1: float,
    x0: _Array,
    inputs: Inputs,
    *,
    rtol: float,
    atol: _Array,
    step: float,
    max_step: float,
    max_steps: int,
    p: Any = None,
    rank: int = -1,
    project: bool = True,
    baumgarte: tuple[float, float] | None = None,
    watch: Watch | None = None,
    contacts: Contacts | None = None,
    times: _Array | None = None,
    interpolants: bool = True,
    room: int,
    drop: bool,
    report: Callable[[float], object] | None = None,
) -> Run: ...
def interpolate(
    model: Model,
    method: str,
    t: _Array,
    x: _Array,
    dense: _Array,
    steps: np.ndarray[Any, np.dtype[np.int64]],
    times: _Array,
    inputs: Inputs,
    *,
    p: Any = None,
    rank: int = -1,
    project: bool = True,
) -> _Array: ...

class RowsRun:
    codes: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.int32]
    ends: _Array
    counts: npt.NDArray[np.uint64]

def integrate_rows(
    model: Model,
    method: str,
    t0: _Array,
    t1: _Array,
    x: _Array,
    inputs: Inputs,
    *,
    rtol: float,
    atol: _Array,
    step: float,
    max_step: float,
    max_steps: int,
    constants: _Array,
    times: _Array,
    out: _Array,
    project: bool,
    baumgarte: tuple[float, float] | None,
    threads: int,
) -> RowsRun: ...
def one_step(model: Model, semi_implicit: bool, t: Any, x: Any, dt: float, r: Any, p: Any) -> _Array | None: ...
def roll_out(
    model: Model,
    method: str,
    t0: float,
    dt: float,
    steps: int,
    shape: tuple[int, ...],
    x0: np.ndarray[Any, Any],
    r: np.ndarray[Any, Any],
    c: np.ndarray[Any, Any],
    out: np.ndarray[Any, Any],
    threads: int | None = None,
) -> Rollout: ...
def roll_back(
    model: Model,
    method: str,
    t0: float,
    dt: float,
    steps: int,
    shape: tuple[int, ...],
    states: _Array,
    weights: _Array,
    r: _Array,
    c: _Array,
    parameters: bool,
    threads: int | None = None,
) -> RolloutGradient: ...
def parameters_of_rows(model: Model, parameters: Values) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]: ...
def result_for(
    model: Model, out: Any, shape: tuple[int, ...], operands: Mapping[str, np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]: ...

@final
class Run:
    status: str
    error: BaseException | None
    t: float
    x: _Array
    steps: _Array | None
    states: _Array | None
    dense: _Array | None
    times: _Array
    sampled: _Array
    samples: tuple[_Array, _Array] | None
    evaluations: int
    jacobians: int
    factorizations: int
    switches: int
    switched: tuple[float, ...]
    accepted: int
    rejected: int
    row: int

@final
class Rollout:
    codes: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.int32]
    last: npt.NDArray[np.int64]

@final
class RolloutGradient:
    by_start: _Array
    by_inputs: _Array
    by_parameters: _Array | None

@final
class FixedKernel:
    address: int
    held: int
    def __init__(
        self,
        model: Model,
        kernel: str,
        t: float,
        x: _Array,
        r: _Array,
        p: _Array,
        over: Sequence[tuple[str, int]] | None,
        component: int,
    ) -> None: ...

def share(identity: str, model: Model, kernel: str) -> str: ...
def xla_functions() -> tuple[Any, Any]: ...
def xla_threads(threads: int) -> np.int64: ...
def operand(model: Model, kind: _Kind, settings: Mapping[Any, Any] | None, kernel: str) -> np.ndarray[Any, Any]: ...
