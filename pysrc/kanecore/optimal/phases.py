# SPDX-License-Identifier: BSD-3-Clause
"""Optimal motions of several phases, such as stance and flight, with impacts between them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanecore.optimal.optimize_method import optimize as optimize_one

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator
    from kanecore.optimal.optimal_motion import OptimalMotion

__all__ = ["OptimalPhases", "Phase", "optimize"]

_OF_ALL = ("periodic", "tol", "refinements", "options")  # arguments of `optimize`, for all phases together


class Phase:
    """A phase of a motion, in which the equations of one model hold, for `kanecore.optimize`.

    Parameters
    ----------
    dyn : CompiledModel
    duration : float or (float, float)
        s; time goes from 0 in each phase.
    reset : mapping of states to expressions, optional
        Reset map: states at its start, in states and outputs at the end of the phase before:
        ``{"a": "b", "x": "x - 1"}``.  Others go on under their names; None lets one begin anywhere, as those do whose
        names the phase before does not have.  Where energy is conserved in a periodic motion, let one speed be None.
    **arguments
        Those of `CompiledModel.optimize`, but for ``periodic``, ``tol``, ``refinements`` and ``options``.

    Raises
    ------
    TypeError
        An argument that is not among these.

    Notes
    -----
    Where the model has constraints that speeds at the end of the phase before do not satisfy, they jump: the contacts
    and joints of the new phase close in an impact without restitution,

        M (u⁺ − u⁻) = Gᵀ Λ,    G u⁺ = 0 (or the rates of prescribed motions),    q⁺ = q⁻

    with u⁻ after the reset map, and M and G of the new phase at its start.  Its constraints on coordinates must hold at
    the end of the phase before: this is the condition of touch-down.  ``OptimalMotion.impulses`` are Λ.
    """

    def __init__(self, dyn: Evaluator, duration: Any, *, reset: Mapping[Any, Any] | None = None, **arguments: Any):
        defaults = optimize_one.__kwdefaults__ or {}
        for name in arguments:
            if name not in defaults or name in _OF_ALL:
                where = "kc.optimize has it, for all phases" if name in _OF_ALL else "dyn.optimize has none either"
                raise TypeError(f"a phase has no argument {name!r}: {where}")
        self.dyn, self.reset = dyn, reset
        self.arguments = {"duration": duration, **defaults, **arguments}


@dataclass(frozen=True, eq=False)
class OptimalPhases:
    """Result of `kanecore.optimize`.

    Attributes
    ----------
    phases : tuple of OptimalMotion
        The motion of each phase, with ``impulses`` at its start.
    success : bool
        IPOPT converged, and no interval error exceeds ``tol``.
    message : str
        What it means, phase by phase where they differ.
    cost, duration : float
        Sums over the phases.
    interval_error : float
        The largest of the phases.
    iterations : int
        Of IPOPT.
    seconds : dict of str to float
        "build", "functions", "solver", "check".
    """

    phases: tuple[OptimalMotion, ...]

    @property
    def success(self) -> bool:
        return all(phase.success for phase in self.phases)

    @property
    def message(self) -> str:
        words = [phase.message for phase in self.phases]
        return words[0] if len({*words}) == 1 else "; ".join(f"phase {k}: {each}" for k, each in enumerate(words))

    @property
    def cost(self) -> float:
        return sum(phase.cost for phase in self.phases)

    @property
    def duration(self) -> float:
        return sum(phase.duration for phase in self.phases)

    @property
    def interval_error(self) -> float:
        return max(phase.interval_error for phase in self.phases)

    @property
    def iterations(self) -> int:
        return self.phases[0].iterations

    @property
    def seconds(self) -> dict[str, float]:
        return self.phases[0].seconds | {"check": sum(phase.seconds["check"] for phase in self.phases)}

    def __repr__(self) -> str:
        return f"<OptimalPhases: {self}>"

    def __str__(self) -> str:
        return (
            f"{'success' if self.success else 'no success'}: {self.message}; cost {self.cost:.9g}, "
            f"{len(self.phases)} phases of {', '.join(f'{each.duration:.6g}' for each in self.phases)} s, "
            f"interval error {self.interval_error:.1e}, {self.iterations} iterations, "
            f"{sum(self.seconds.values()):.2f} s"
        )


def optimize(
    phases: Iterable[Phase] | Phase,
    *,
    periodic: bool = False,
    tol: float = 1e-5,
    refinements: int = 6,
    options: Mapping[str, Any] | None = None,
) -> OptimalPhases:
    """Find a motion in phases that costs least: the step of a walker, a hop.

    The sum of the costs of all phases is least, with their conditions, reset maps and impacts.  A parameter that
    several phases seek has one value.

    Parameters
    ----------
    phases : Phase, or list of Phase
        In their order.
    periodic : bool
        The first phase follows the last one, with its reset map.
    tol, refinements, options
        As for `CompiledModel.optimize`.

    Returns
    -------
    OptimalPhases

    Raises
    ------
    ImportError, KeyError, ValueError, TypeError, ModelError
        As for `CompiledModel.optimize`.

    Examples
    --------
    ``legs = {"a": "b", "b": "a", "w_a": "w_b", "w_b": "w_a", "x": "x - 0.4"}``,
    ``kc.optimize(kc.Phase(walker, (0.3, 1.5), cost="tau**2", reset=legs), periodic=True)``
    """
    begin = time.perf_counter()
    try:
        from kanecore.optimal.motion_problem import read
        from kanecore.optimal.optimal_motion import optimal_motions
    except ImportError as error:
        raise ImportError("kc.optimize needs the package casadi: pip install casadi") from error
    listed = [phases] if isinstance(phases, Phase) else [*phases]
    if not listed or not all(isinstance(phase, Phase) for phase in listed):
        raise TypeError(f"phases is {phases!r}; it must be a list of kc.Phase")
    if listed[0].reset is not None and not periodic:
        raise ValueError(
            "phases have a reset of the first phase, which follows none: write periodic=True, or leave it out"
        )
    following = [*listed[1:], listed[0] if periodic else None]
    common = {"tol": tol, "refinements": refinements, "options": options}
    arguments = [phase.arguments | common for phase in listed]
    problems = [
        read(phase.dyn, each, None if after is None else (after.dyn, after.reset))
        for phase, each, after in zip(listed, arguments, following, strict=True)
    ]
    return OptimalPhases(tuple(optimal_motions(problems, arguments, periodic, begin)))
