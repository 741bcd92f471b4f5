# SPDX-License-Identifier: BSD-3-Clause
"""Actuators of an MJCF file: every shortcut, such as <position>, as the general actuator that it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanecore.describe.robots.xml_reader import Element

from .mjcf_record import Record
from .mjcf_values import SHORTCUTS, Values, fault, read, unread

__all__ = ["add_actuator", "read_actuator"]

_GAINS, _BIASES = ("fixed", "affine", "muscle"), ("none", "affine", "muscle")
_ACTIVATIONS = ("none", "integrator", "filter", "filterexact", "muscle")
_TARGETS = {"joint": (0, "jnt"), "jointinparent": (1, "jnt"), "tendon": (3, "tendon"), "site": (4, "site")}
_MUSCLE = {"range": (0.75, 1.05), "force": (-1.0,), "scale": (200.0,), "lmin": (0.5,), "lmax": (1.6,), "vmax": (1.5,)}
_MUSCLE |= {"fpmax": (1.3,), "fvmax": (1.2,)}


def read_actuator(element: Element, base: Mapping[str, Any]) -> Values:
    """Values of a general actuator for an element, over those of its class.

    A shortcut takes ranges, gears and the like from any default; its own parameters from the nearest class whose
    default has the same shortcut, or is a general one with its kind of gain.
    """
    own, tag = read(element.tag, element, base), element.tag
    values: dict[str, Any] = {**own.data, "shortcut": tag}
    if tag == "general":
        return Values(element, values)
    source = _source(tag, base)

    def one(name: str, default: float) -> float:
        return own.number(name) if name in own else default

    def positive(name: str, default: float) -> float:
        if one(name, 0.0) < 0:
            raise fault(element, f"{name} of <{tag}> is negative")
        return one(name, default)

    force: tuple[str, Sequence[float], str, Sequence[float]] = "fixed", [1.0], "none", []  # of a motor
    activation: tuple[str, Sequence[float]] = "none", [1.0]
    kv = one("kv", source["gainprm"][0])
    if tag in ("position", "intvelocity"):
        if "kv" in own and "dampratio" in own:
            raise fault(element, f"<{tag}> has kv and dampratio: give one of them")
        kp = one("kp", source["gainprm"][0])
        damping = -positive("kv", 0.0) if "kv" in own else positive("dampratio", source["biasprm"][2])
        force = "fixed", [kp], "affine", [0.0, -kp, damping]
        filtered = source["dyntype"] == "filterexact"
        if "timeconst" in own or filtered:
            constant = positive("timeconst", source["dynprm"][0])
            activation = "filterexact" if constant else "none", [constant]
        values |= _range_or_share(own, source, "ctrlrange" if tag == "position" else "actrange")
    if tag == "intvelocity":
        activation = "integrator", [1.0]
    elif tag == "velocity":
        force = "fixed", [kv], "affine", [0.0, 0.0, -kv]
    elif tag == "damper":
        kv = positive("kv", -source["gainprm"][2])
        if kv < 0 or min(values["ctrlrange"]) < 0:
            raise fault(element, "kv and ctrlrange of <damper> cannot be negative")
        force, values["ctrllimited"] = ("affine", [0.0, 0.0, -kv], "none", []), "true"
    elif tag == "muscle":
        known = list(source["gainprm"])
        prm = [x for name, start in _MUSCLE.items() for x in _not_negative(own, name, [known.pop(0) for _ in start])]
        times = [*_not_negative(own, "timeconst", source["dynprm"][:2]), positive("tausmooth", source["dynprm"][2])]
        force, activation = ("muscle", prm, "muscle", prm), ("muscle", times)
    values |= {"gaintype": force[0], "gainprm": _ten(force[1]), "biastype": force[2], "biasprm": _ten(force[3])}
    values |= {"dyntype": activation[0], "dynprm": _ten(activation[1])}
    targets = (*_TARGETS, "refsite", "shortcut")
    return Values(element, {name: value for name, value in values.items() if name in base or name in targets})


def _ten(numbers: Sequence[float]) -> tuple[float, ...]:
    return (*numbers, *(0.0,) * (10 - len(numbers)))


def _source(shortcut: str, base: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The nearest default from which a shortcut has its parameters, or what it has without one."""
    gain = {"damper": "affine", "muscle": "muscle"}.get(shortcut, "fixed")
    while base is not None:
        if base["shortcut"] == shortcut or (base["shortcut"] == "general" and base["gaintype"] == gain):
            return base
        base = base["parent"]
    start = {"damper": [], "muscle": [x for each in _MUSCLE.values() for x in each]}.get(shortcut, [1.0])
    times = _ten([0.01, 0.04] if shortcut == "muscle" else [1.0])
    nothing = {"biasprm": _ten([]), "dyntype": "none", "inheritrange": (0.0,)}
    return {**nothing, "gainprm": _ten(start), "dynprm": times}


def _not_negative(own: Values, name: str, known: Sequence[float]) -> list[float]:
    """Parameters of a muscle: what is given, unless it is negative."""
    return [x if x >= 0 else y for x, y in zip(own.data.get(name, known), known, strict=True)]


def _range_or_share(own: Values, source: Mapping[str, Any], bounds: str) -> dict[str, Any]:
    """A range, or the share of that of the joint, ``inheritrange``: what the element gives holds."""
    says, ranged = (name in own.element.attributes for name in ("inheritrange", bounds))
    share = own.data["inheritrange"] if says else (0.0,) if ranged else source["inheritrange"]
    span = (0.0, 0.0) if says and not ranged and share[0] > 0 else own.data[bounds]
    if share[0] > 0 and any(span):
        raise fault(own.element, f"{bounds} and inheritrange are given: give one of them")
    return {"inheritrange": share, bounds: span}


def add_actuator(record: Record, element: Element, base: Mapping[str, Any], automatic: bool) -> None:
    """Add an actuator to the record; ``automatic``: a range that is given limits."""
    if element.tag not in SHORTCUTS or element.children:
        raise unread(element)
    values = read_actuator(element, base)
    targets = [name for name in _TARGETS if name in values]
    if len(targets) != 1:
        raise unread(element, f"the transmission, {' and '.join(targets) or 'none of ' + ', '.join(_TARGETS)},")
    kind, table = _TARGETS[targets[0]]
    target = [record.find(table, values.data[targets[0]], element), -1]
    if "refsite" in values:
        target[1] = record.find("site", values.data["refsite"], element)
    row = values.row("gear lengthrange gainprm biasprm dynprm armature damping")
    if kind == 4 and (any(values.numbers("damping")) or row["armature"]):
        raise fault(element, "damping and armature are of actuators on joints and tendons")
    gaintype, biastype = values.word("gaintype", _GAINS), values.word("biastype", _BIASES)
    dyntype = values.word("dyntype", _ACTIVATIONS)
    for prm in (row[name] for name, form in (("gainprm", gaintype), ("biasprm", biastype)) if form == 2):
        if prm[0] >= prm[1] or not prm[4] < 1 < prm[5] or min(prm[3], *prm[6:9]) <= 0:
            raise fault(element, "a muscle has range[0] < range[1], lmin < 1 < lmax, and scale, vmax, fpmax, fvmax > 0")
        if row["lengthrange"][0] >= row["lengthrange"][1]:
            raise unread(element, "a muscle without lengthrange")
    share = values.number("inheritrange")
    if share > 0 and (gaintype, biastype) == (0, 1) and row["gainprm"][0] == -row["biasprm"][1]:
        bounds = "actrange" if dyntype == 1 else "ctrlrange"
        values = Values(element, {**values.data, bounds: _shared(record, values, kind, target[0], share)})
    if values.limited("actlimited", "actrange", automatic) and dyntype == 0:
        raise fault(element, "actrange is given, and there is no activation")
    limits = {
        f"{each}limited": values.limited(f"{each}limited", f"{each}range", automatic) for each in ("ctrl", "force")
    }
    row |= {"trntype": kind, "trnid": target, "gaintype": gaintype, "biastype": biastype, "dyntype": dyntype}
    row |= {"actearly": values.true("actearly"), "delay": 0.0, "acc0": 0.0}
    record.add("actuator", element, row | limits | values.row("ctrlrange forcerange"))


def _shared(record: Record, values: Values, kind: int, target: int, share: float) -> tuple[float, float]:
    """A share of the range of the joint or tendon."""
    table, known = {0: "jnt", 3: "tendon"}.get(kind), values.data["dyntype"] in ("none", "filterexact", "integrator")
    if not known or table is None or (kind == 0 and record.columns["jnt_type"][target] < 2):
        raise fault(values.element, "inheritrange is of position actuators on hinges, slides and tendons")
    low, high = record.columns[f"{table}_range"][target]
    if low == high:
        raise fault(values.element, f"inheritrange is given, and the {table} has no range")
    middle, half = 0.5 * (high + low), 0.5 * (high - low) * share
    return middle - half, middle + half
