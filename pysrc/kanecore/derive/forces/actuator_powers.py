# SPDX-License-Identifier: BSD-3-Clause
"""Powers of actuators: Σ F·v of their loads should be force × extension velocity of their pathway.

Loads are used as an actuator gives them, so a sign that contradicts the pathway must be reported.  Numbers at random
states decide.  Their coordinates are positive, since lengths of pathways around cylinders are correct for positive
angles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanecore.derive.kinematics import Kinematics
from kanecore.describe.description import duplicate, without_auxiliary
from kanecore.describe.reading import Reading
from kanecore.errors import ModelError
from kanecore.graph.random_samples import Sample
from kanecore.tolerances import EQUAL

from .generalized_forces import Wrenches

__all__ = ["WrongPower", "wrong_powers"]

STATES = 4


@dataclass(frozen=True)
class WrongPower:
    """Actuator whose power contradicts its pathway; ``opposite``: it has the opposite sign."""

    at: int
    pathway: str
    opposite: bool
    kind: str = "load"

    def message(self, name: str) -> str:
        """Message about the actuator with this name."""
        if not self.opposite:
            return (
                f"{name} on a {self.pathway}: the power of its loads is not its force times the extension velocity of "
                "the pathway; the loads are used as they are. Correct to_loads() or extension_velocity of the pathway"
            )
        return (
            f"{name} on a {self.pathway}: the power of its loads is minus its force times the extension velocity of "
            "the pathway, so that a stretched spring pushes; the loads are used as they are. Such a pathway counts "
            f"tension as positive, others count compression: write a subclass of {self.pathway} whose "
            "to_loads(force) returns super().to_loads(-force)"
        )


def wrong_powers(reading: Reading) -> Iterator[WrongPower]:
    """Actuators of a reading whose powers contradict their pathways."""
    if not reading.actuators or reading.read_again is None:
        return
    d = without_auxiliary(duplicate(reading.whole or reading.description))
    g, k = d.graph, Kinematics(d)
    read = reading.read_again(g, d.rates)
    states = []
    for seed in range(STATES):
        drawn = Sample(g, seed)
        unit = {i for group in g.unit for i in group}
        states.append(Sample(g, seed, {q: abs(drawn(q)) for q in d.coordinates if q not in unit}))
    for actuator in reading.actuators:
        try:
            work = g.mul(read(actuator.force), read(actuator.velocity))
        except (KeyError, ModelError):  # for symbols that were left out, since no generalized force depends on them
            continue
        loads = [load for load in d.loads if load.number == actuator.number]
        found = list(_signs(states, [g.mul(v, w) for v, w in Wrenches(k, loads).weights()], work))
        if not all(same for same, _ in found):
            opposite = all(same or opposite for same, opposite in found)
            yield WrongPower(actuator.number, actuator.pathway, opposite)


def _signs(states: list[Sample], terms: list[int], work: int) -> Iterator[tuple[bool, bool]]:
    """For each state: do the terms add up to the work, and do they add up to its opposite?"""
    for s in states:
        values, other = s.values(terms), s(work)
        size = sum(map(abs, values)) + abs(other)
        if size < float("inf"):
            yield abs(sum(values) - other) <= EQUAL * size, abs(sum(values) + other) <= EQUAL * size
