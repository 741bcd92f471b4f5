# SPDX-License-Identifier: BSD-3-Clause
"""Exudyn: bodies in redundant coordinates, with joints as algebraic equations, and a sparse solver."""

from __future__ import annotations

from typing import Any

import exudyn
import numpy as np
import sides
from exudyn import itemInterface as items


def loops(work: Any) -> list[sides.Side]:
    """Its implicit generalized-α method, with steps of a length."""
    system = exudyn.SystemContainer().AddSystem()
    car, node = _bar(system, [0.0, 0.0], 0.0, 10.0, 1.0)
    for coordinate in (1, 2):
        ground = system.AddNode(items.NodePointGround())
        ends = [items.MarkerNodeCoordinate(nodeNumber=at, coordinate=i) for at, i in ((ground, 0), (node, coordinate))]
        system.AddObject(items.CoordinateConstraint(markerNumbers=[system.AddMarker(each) for each in ends]))
    for i in range(work.n):
        at = np.array([work.length * i, 0.0])
        tip = _marker(system, car, at)
        for size, angle in work.bars.values():
            length, along = size * work.length, np.array([np.cos(angle), np.sin(angle)])
            bar, _ = _bar(system, at + along * length / 2, angle, size, size * length**2 / 12)
            system.AddObject(items.RevoluteJoint2D(markerNumbers=[tip, _marker(system, bar, [-length / 2, 0.0])]))
            system.AddLoad(
                items.LoadForceVector(markerNumber=_marker(system, bar, [0.0, 0.0]), loadVector=[0, -9.81 * size, 0])
            )
            tip, at = _marker(system, bar, [length / 2, 0.0]), at + along * length
        system.AddObject(items.RevoluteJoint2D(markerNumbers=[tip, _marker(system, car, at)]))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(work.end / work.step)
    settings.timeIntegration.endTime = work.end
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse

    def run() -> float:
        system.SolveDynamic(settings)
        return float(system.systemData.GetODE2Coordinates()[0])

    return [work.side("exudyn", run)]


def _bar(system: Any, centre: Any, angle: float, mass: float, inertia: float) -> tuple[Any, Any]:
    node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*centre, angle]))
    return system.AddObject(items.ObjectRigidBody2D(nodeNumber=node, mass=mass, inertia=inertia)), node


def _marker(system: Any, body: Any, place: Any) -> Any:
    return system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[*place, 0.0]))
