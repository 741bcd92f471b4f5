# SPDX-License-Identifier: BSD-3-Clause
"""Enumerations of MuJoCo 4.0 by name: kinds of joints, flags, transmissions, activations."""

__all__ = ["ACTIVATIONS", "BALL", "FLAGS", "FREE", "HINGE", "SLIDE", "TRANSMISSIONS"]

FREE, BALL, SLIDE, HINGE = range(4)
"""Types of joints."""

FLAGS = (
    *("constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "gravity", "clampctrl"),
    *("warmstart", "filterparent", "actuation"),
)
"""Names of the bits of ``mjtDisableBit`` of MuJoCo 4.0 that matter, the lowest first."""

TRANSMISSIONS = {0: "joint", 1: "jointinparent", 3: "tendon", 4: "site"}
"""Transmissions of actuators that are read."""

ACTIVATIONS = {0: "none", 1: "integrator", 2: "filter", 3: "filterexact", 4: "muscle"}
"""Dynamics of actuators that are read."""
