# SPDX-License-Identifier: BSD-3-Clause
"""Drake: trees of joints in discrete time, with loops that are soft."""

from __future__ import annotations

from typing import Any

import numpy as np
import sides
from pydrake.math import RigidTransform
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    PrismaticJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
)
from pydrake.systems.analysis import Simulator


def loops(work: Any) -> list[sides.Side]:
    """Steps of its discrete plant, whose solver of contacts closes loops as well."""
    plant = MultibodyPlant(work.step)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector([0.0, -9.81, 0.0])
    car = plant.AddRigidBody("car", _inertia(10.0, 0.0, 1.0))
    slide = plant.AddJoint(PrismaticJoint("s", plant.world_frame(), car.body_frame(), [1.0, 0.0, 0.0]))
    hinges = []
    for i in range(work.n):
        before, at, last = car, work.length * i, 0.0
        for letter, (size, angle) in work.bars.items():
            length, name = size * work.length, f"{letter}{i}"
            bar = plant.AddRigidBody(name, _inertia(size, length / 2, size * length**2 / 12))
            frame = FixedOffsetFrame(f"of {name}", before.body_frame(), RigidTransform(np.array([at, 0.0, 0.0])))
            hinge = RevoluteJoint(name, plant.AddFrame(frame), bar.body_frame(), [0.0, 0.0, 1.0])
            hinges.append((plant.AddJoint(hinge), angle - last))
            before, at, last = bar, length, angle
        ends = np.array([at, 0.0, 0.0]), np.array([work.length * (i + 2), 0.0, 0.0])
        plant.AddBallConstraint(before, ends[0], car, ends[1])
    plant.Finalize()
    simulator = Simulator(plant, plant.CreateDefaultContext())
    start = simulator.get_mutable_context()
    for hinge, angle in hinges:
        hinge.set_angle(start, angle)
    state = np.array(plant.GetPositionsAndVelocities(start))

    def run() -> float:
        context = simulator.get_mutable_context()
        context.SetTime(0.0)
        plant.SetPositionsAndVelocities(context, state)
        simulator.Initialize()
        simulator.AdvanceTo(work.end)
        return float(slide.get_translation(context))

    return [work.side("drake", run)]


def _inertia(mass: float, centre: float, moment: float) -> SpatialInertia:
    return SpatialInertia.MakeFromCentralInertia(
        mass, np.array([centre, 0.0, 0.0]), RotationalInertia(moment, moment, moment)
    )
