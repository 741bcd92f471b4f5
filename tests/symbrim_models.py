# SPDX-License-Identifier: BSD-3-Clause
"""Models made of all parts that symbrim has, each as a SymPy System with gravity; for ``test_symbrim.py``."""

from collections.abc import Callable
from typing import Any

import symbrim.bicycle as bikes
import symbrim.brim as seats
import symbrim.rider as riders
from symbrim.other import RollingDisc
from symbrim.utilities.testing import create_model_of_connection
from sympy import Symbol


def with_parts(whole: Any, *load_groups: tuple[str, Any], **parts: Any) -> Any:
    """A model with its parts, and load groups on some of them."""
    for name, part in parts.items():
        setattr(whole, name, part)
    for name, group in load_groups:
        getattr(whole, name).add_load_groups(group)
    return whole


def disc(wheel: Any, tire: Any) -> Any:
    return with_parts(RollingDisc("disc"), wheel=wheel("wheel"), ground=bikes.FlatGround("ground"), tire=tire("tire"))


def bicycle(
    front: Any = bikes.RigidFrontFrame,
    wheel: Any = bikes.KnifeEdgeWheel,
    tire: Any = bikes.NonHolonomicTire,
    cranks: bool = False,
) -> Any:
    return with_parts(
        bikes.WhippleBicycle("bike"),
        ground=bikes.FlatGround("ground"),
        rear_frame=bikes.RigidRearFrame("rear"),
        front_frame=front("front"),
        rear_wheel=wheel("rear_wheel"),
        front_wheel=wheel("front_wheel"),
        rear_tire=tire("rear_tire"),
        front_tire=tire("front_tire"),
        **({"cranks": bikes.MasslessCranks("cranks")} if cranks else {}),
    )


def stationary() -> Any:
    return with_parts(
        bikes.StationaryBicycle("bike"),
        rear_frame=bikes.RigidRearFrame("rear"),
        front_frame=bikes.RigidFrontFrame("front"),
        rear_wheel=bikes.KnifeEdgeWheel("rear_wheel"),
        front_wheel=bikes.KnifeEdgeWheel("front_wheel"),
        cranks=bikes.MasslessCranks("cranks"),
    )


def rider(
    arms: bool = True, legs: bool = True, hip: str = "Spherical", shoulder: str = "FlexRot", loads: str = ""
) -> Any:
    """A rider with arms or legs; ``loads``: "Torque" or "SpringDamper" in the joints."""
    parts: dict[str, Any] = {"pelvis": riders.PlanarPelvis("pelvis")}
    if arms:
        parts |= {"torso": riders.PlanarTorso("torso"), "sacrum": riders.FixedSacrum("sacrum")}
    for side in ("Left", "Right"):
        low = side.lower()
        if arms:
            parts[f"{low}_arm"] = getattr(riders, f"PinElbowStick{side}Arm")(f"{low}_arm")
            parts[f"{low}_shoulder"] = getattr(riders, f"{shoulder}{side}Shoulder")(f"{low}_shoulder")
        if legs:
            parts[f"{low}_leg"] = getattr(riders, f"TwoPinStick{side}Leg")(f"{low}_leg")
            parts[f"{low}_hip"] = getattr(riders, f"{hip}{side}Hip")(f"{low}_hip")
    groups = []
    for side in ("left", "right") if loads else ():
        if arms:
            groups.append((f"{side}_arm", getattr(riders, f"PinElbow{loads}")(f"{side}_elbow")))
        if arms and shoulder == "Spherical":
            groups.append((f"{side}_shoulder", getattr(riders, f"SphericalShoulder{loads}")(f"{side}_shoulder_load")))
        if legs:
            groups.append((f"{side}_leg", getattr(riders, f"TwoPinLeg{loads}")(f"{side}_knee")))
        if legs and hip == "Spherical":
            groups.append((f"{side}_hip", getattr(riders, f"SphericalHip{loads}")(f"{side}_hip_load")))
    return with_parts(riders.Rider("rider"), *groups, **parts)


def ridden(bicycle: Any, rider: Any, seat: Any = seats.SideLeanSeat, loads: str = "", **hands_and_feet: Any) -> Any:
    groups = [("seat", getattr(seats, f"SideLeanSeat{loads}")("seat_load"))] if loads else []
    parts = {"bicycle": bicycle, "rider": rider, "seat": seat("seat")}
    return with_parts(
        seats.BicycleRider("both"), *groups, **parts, **{name: part(name) for name, part in hands_and_feet.items()}
    )


def upper_body() -> Any:
    """The bicycle with rider: 20 bodies, 11 constraints."""
    return ridden(bicycle(), rider(legs=False), hand_grips=seats.HolonomicHandGrips)


def whole_body(loads: str = "") -> Any:
    """Arms and legs: 26 bodies, 17 constraints."""
    hands, feet = seats.HolonomicHandGrips, seats.HolonomicPedals
    return ridden(bicycle(cranks=True), rider(loads=loads), loads=loads, hand_grips=hands, pedals=feet)


def leaning() -> Any:
    """A leaning rider on a rear frame: no model of symbrim holds its connection."""
    parts = {"rider": riders.RiderLean("rider"), "rear_frame": bikes.RigidRearFrame("rear")}
    return with_parts(
        create_model_of_connection(riders.RiderLeanConnection)("lean"),
        **parts,
        conn=riders.RiderLeanConnection("connection"),
    )


MODELS: dict[str, Callable[[], Any]] = {
    "disc": lambda: disc(bikes.KnifeEdgeWheel, bikes.NonHolonomicTire),
    "torus": lambda: disc(bikes.ToroidalWheel, bikes.NonHolonomicTire),
    "torus in contact": lambda: disc(bikes.ToroidalWheel, bikes.InContactTire),
    "bicycle": bicycle,
    "bicycle with cranks": lambda: bicycle(cranks=True),
    "bicycle on tori": lambda: bicycle(wheel=bikes.ToroidalWheel),
    "bicycle with suspension": lambda: bicycle(front=bikes.SuspensionRigidFrontFrame),
    "bicycle in contact": lambda: bicycle(tire=bikes.InContactTire),
    "stationary bicycle": stationary,
    "rider": lambda: rider(hip="Pin"),
    "rider with torques": lambda: rider(hip="Spherical", shoulder="Spherical", loads="Torque"),
    "rider with springs": lambda: rider(hip="Spherical", shoulder="Spherical", loads="SpringDamper"),
    "rider with other shoulders": lambda: rider(legs=False, shoulder="FlexAdd", loads="Torque"),
    "leaning rider": leaning,
    "legs on a stationary bicycle": lambda: ridden(
        stationary(), rider(arms=False, loads="Torque"), seats.FixedSeat, pedals=seats.HolonomicPedals
    ),
    "springs in hands and feet": lambda: ridden(
        bicycle(cranks=True), rider(), hand_grips=seats.SpringDamperHandGrips, pedals=seats.SpringDamperPedals
    ),
    "upper body": upper_body,
    "whole body": whole_body,
    "whole body with torques": lambda: whole_body("Torque"),
    "whole body with springs": lambda: whole_body("SpringDamper"),
}


def system_of(model: Any) -> Any:
    """The System of a model, in a uniform field of gravity."""
    model.define_all()
    system = model.to_system()
    system.apply_uniform_gravity(Symbol("g") * system.frame.z)
    return system
