# SPDX-License-Identifier: BSD-3-Clause
"""Enumerations of MuJoCo 4.0 by name: kinds of joints, flags, transmissions, activations, sensors."""

__all__ = ["ACTIVATIONS", "BALL", "FLAGS", "FREE", "HINGE", "SENSED", "SENSORS", "SLIDE", "TRANSMISSIONS"]

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

SENSORS = (
    *("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder"),
    *("camprojection", "jointpos", "jointvel", "tendonpos", "tendonvel", "actuatorpos", "actuatorvel", "actuatorfrc"),
    *("jointactuatorfrc", "tendonactuatorfrc", "ballquat", "ballangvel", "jointlimitpos", "jointlimitvel"),
    *("jointlimitfrc", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc", "framepos", "framequat", "framexaxis"),
    *("frameyaxis", "framezaxis", "framelinvel", "frameangvel", "framelinacc", "frameangacc", "subtreecom"),
    *("subtreelinvel", "subtreeangmom", "insidesite", "distance", "normal", "fromto", "contact", "e_potential"),
    *("e_kinetic", "clock", "tactile", "plugin", "user"),
)
"""Elements of sensors, by their types."""

SENSED = {"body": ("body", 1), "xbody": ("body", 2), "joint": ("jnt", 3), "geom": ("geom", 5), "site": ("site", 6)}
SENSED |= {"tendon": ("tendon", 18), "actuator": ("actuator", 19)}
"""Objects of sensors that are read: kind of the name, and number in ``sensor_objtype``."""
