# SPDX-License-Identifier: BSD-3-Clause
"""The commands that run a model: ``kanecore simulate``, ``optimize``, ``bench`` and ``draw``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.errors import ModelError
from kanecore.whole_files import whole_file

if TYPE_CHECKING:
    from kanecore.compiled_model import CompiledModel
    from kanecore.motion.trajectory import Trajectory

__all__ = ["bench", "draw", "named_state", "numbers", "optimize", "pairs", "play", "simulate"]

Array = npt.NDArray[np.float64]

_STATES = 4096  # of a batch
_REPEATS = 7
_LONG_ENOUGH = 0.02  # least duration of a measurement, s


def simulate(dyn: CompiledModel, end: float, assignments: Sequence[str], output: Path | None) -> None:
    """Simulate a model from a state for some seconds, and print the outcome."""
    x0 = named_state(dyn, assignments)
    begin = time.perf_counter()
    sol = dyn.simulate((0.0, end), x0)
    took = time.perf_counter() - begin
    print(f"{sol!r} in {took * 1e3:.1f} ms")
    print(f"energy drift {sol.energy_drift:.1e}, constraint drift {sol.constraint_drift:.1e}")
    _print_ends(dyn, sol)
    _save(sol, output)


def optimize(
    dyn: CompiledModel,
    duration: str,
    ends: tuple[Sequence[str], Sequence[str]],
    bounds: Sequence[str],
    cost: str | None,
    output: Path | None,
) -> int:
    """Find the motion of least cost between two states, and print it; 1 if there is none."""
    start, end, limits = (
        {name: _range(dyn, text, option) for name, text in pairs(items, option, "theta=pi").items()}
        for items, option in ((ends[0], "--start"), (ends[1], "--end"), (bounds, "--bound"))
    )
    effort = " + ".join(f"{name}**2" for name in dyn.input_names)
    try:
        sol = dyn.optimize(
            _range(dyn, duration, "--duration"),
            start=start or _at_rest(dyn),
            end=end,
            bounds=limits,
            cost=effort if cost is None else cost,
        )
    except (KeyError, ValueError) as error:
        raise ModelError(error.args[0]) from None
    print(sol)
    _print_ends(dyn, sol)
    _save(sol, output)
    return 0 if sol.success else 1


def _at_rest(dyn: CompiledModel) -> Array:
    """All zero; of a mechanism with loops the pose in which it is shown."""
    x = named_state(dyn, []) if dyn.n_configuration else np.array(dyn.state())
    x[dyn.names.speeds] = 0.0
    return np.asarray(dyn.consistent(0.0, x))


def _range(dyn: CompiledModel, text: str, option: str) -> float | tuple[float | None, float | None]:
    """A number such as ``pi/2``, or a range LOW:HIGH, of which either may be missing."""
    from kanecore.optimal.expressions_by_name import expression

    try:
        sides = [float(expression(dyn, part, option, ())) if part else None for part in text.split(":")]
    except (KeyError, ValueError):
        sides = []
    if not 1 <= len(sides) <= 2 or sides == [None]:
        raise ModelError(f"{option} {text}: it must be a number, such as pi/2, or a range LOW:HIGH")
    if option == "--bound" and len(sides) == 1:
        raise ModelError(f"{option} {text}: it must be a range LOW:HIGH, of which either may be missing")
    return (sides[0], sides[1]) if len(sides) == 2 else sides[0]  # type: ignore[return-value]


def _print_ends(dyn: CompiledModel, sol: Trajectory) -> None:
    """The states at the start and at the end."""
    width = max(map(len, dyn.names.x))
    print(f"{'':{width}}  {'at 0 s':>12}  {f'at {sol.t[-1]:g} s':>12}")
    for name, first, last in zip(dyn.names.x, sol.x[0], sol.x[-1], strict=True):
        print(f"{name:{width}}  {first:12.6g}  {last:12.6g}")


def _save(sol: Trajectory, output: Path | None) -> None:
    """Save a motion as a table or a picture."""
    if output is None:
        return
    if output.suffix.lower() == ".csv":
        sol.to_csv(output)
    else:
        figure = sol.plot()
        with whole_file(output) as place:
            figure.savefig(place)
    print(f"saved as {output}")


def bench(dyn: CompiledModel, assignments: Sequence[str]) -> None:
    """Time calls of a model from Python: at one state, and at a batch of states on one thread."""
    x = named_state(dyn, assignments)
    states = np.tile(x, (_STATES, 1))
    print(f"{dyn.name}: {dyn.n_q} coordinates, {dyn.n_u} speeds, {dyn.n_constraints} constraints")
    print(f"{'':14}  {'one state':>12}  {f'of {_STATES}, each':>14}")
    for name in ("rhs", "mass_matrix", "forcing"):
        kernel: Callable[..., Array] = getattr(dyn, name)
        one, many = np.empty_like(kernel(0.0, x)), np.empty_like(kernel(0.0, states))
        alone = _seconds(partial(kernel, 0.0, x, out=one))
        together = _seconds(partial(kernel, 0.0, states, out=many)) / _STATES
        print(f"{name:14}  {alone * 1e9:9.0f} ns  {together * 1e9:11.0f} ns")
    try:
        alone = _seconds(lambda: dyn.linearize(0.0, x))
    except ImportError as error:  # for robots it is compiled now, which needs SymPy
        print(f"{'linearize':14}  is not compiled: {error}")
    else:
        print(f"{'linearize':14}  {alone * 1e9:9.0f} ns")


def draw(dyn: CompiledModel, assignments: Sequence[str], output: Path) -> None:
    """Draw a model in a state."""
    figure = dyn.draw(named_state(dyn, assignments))
    with whole_file(output) as place:
        figure.savefig(place)
    print(f"saved as {output}")


def play(dyn: CompiledModel, assignments: Sequence[str], output: Path, **options: Any) -> None:
    """Write the page in which a model runs, from a given or default state."""
    dyn.play(named_state(dyn, assignments) if assignments else None, **options).save(output)
    print(f"saved as {output}, {output.stat().st_size / 1000:.0f} kB")


def named_state(dyn: CompiledModel, assignments: Sequence[str]) -> Array:
    """State on the constraints with numbers given as NAME=VALUE.

    Unit quaternions are the identity by default, and the rest is zero.  A model of the gallery starts as on its page
    if nothing is named; so does the rest of one with loops, which do not close at zero.
    """
    values = numbers(assignments, "--state", f"{dyn.coordinate_names[0]}=0.5")
    motion = None if values and not dyn.n_configuration else dyn.libraries.shown_motion()
    try:
        x = np.array(dyn.state({**(motion.start if motion else {}), **values}))
    except KeyError as error:
        raise ModelError(error.args[0]) from None
    for quaternion in dyn.unit:
        if not x[list(quaternion)].any():
            x[quaternion[0]] = 1.0
    return np.asarray(dyn.consistent(0.0, x))


def pairs(items: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Names with the text after the last ``=``."""
    result = {}
    for item in items:
        name, equals, text = item.rpartition("=")
        if not equals:
            raise ModelError(f"{option} {item}: it must be NAME=VALUE, such as {example}")
        result[name] = text
    return result


def numbers(items: Sequence[str], option: str, example: str) -> dict[str, float]:
    """Names and finite numbers, from items NAME=VALUE."""
    result = {}
    for name, text in pairs(items, option, example).items():
        try:
            result[name] = float(text)
        except ValueError:
            result[name] = math.nan
        if not math.isfinite(result[name]):
            raise ModelError(f"{option} {name}={text}: the value must be a finite number, as in {example}")
    return result


def _seconds(call: Callable[[], object]) -> float:
    """The shortest time of a call, of several measurements."""
    call()
    count, best = 1, np.inf
    for _ in range(_REPEATS):
        while True:
            begin = time.perf_counter()
            for _ in range(count):
                call()
            took = time.perf_counter() - begin
            if took >= _LONG_ENOUGH:
                break
            count *= 2
        best = min(best, took / count)
    return best
