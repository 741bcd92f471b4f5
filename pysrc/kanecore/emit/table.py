# SPDX-License-Identifier: BSD-3-Clause
"""The ``kc_model`` table at the end of a C text: sizes, names, defaults, facts, and the kernels."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.reads import unread
from kanecore.derive.registry import Derived
from kanecore.kernels import GROUPS, KERNEL_GROUPS

from .c import C
from .solved import numbers

__all__ = ["Contents", "table"]

WIDTH = 80  # characters of text in a line of C, before they are escaped


@dataclass(frozen=True)
class Contents:
    """What the table of a library tells.

    Attributes
    ----------
    derivation : Derivation
    group, version : str
        Which kernels; the version of the package.
    kernels, operations : dict
        What is derived, and how many operations it takes, by kernel.
    defaults : dict of name to float
        Values of parameters.
    n_prepared : int
    n_work : str
        A constant expression of C.
    entries : sequence of str
        The kernels that the library holds.
    prepares : bool
        Whether it holds ``prepare``.
    """

    derivation: Derivation
    group: str
    version: str
    kernels: Mapping[str, Derived]
    operations: Mapping[str, Mapping[str, int]]
    defaults: Mapping[str, float]
    n_prepared: int
    n_work: str
    entries: Sequence[str]
    prepares: bool


def table(of: Contents, target: C) -> str:
    """The arrays, the table itself, and the only function that is exported."""
    names = _names(of)
    arrays = "".join(_strings(name, values) for name, values in names.items()) + _numbers(of, target)
    members = {
        "abi_version": "KC_ABI_VERSION",
        "struct_size": "sizeof(kc_model)",
        **_sizes(of, names),
        "flags": "KC_QDOT_IS_U" if of.derivation.description.rates == of.derivation.description.speeds else "0",
        "name": _string(of.derivation.description.name),
        "info": _lines(json.dumps(_info(of), separators=(",", ":"))),
        **{name: name for name in (*names, "p_default", "r_default", "r_rates", "unit")},
        **({"prepare": "prepare"} if of.prepares else {}),
        **{name: f"kernel_{name}" for name in of.entries},
    }
    body = "".join(f"    .{member} = {value},\n" for member, value in members.items())
    return (
        f"{arrays}static const kc_model model = {{\n{body}}};\n\n"
        "const kc_model *kc_get_model(void)\n{\n    return &model;\n}\n"
    )


def _names(of: Contents) -> dict[str, Sequence[str]]:
    d = of.derivation.description
    return {
        "q_names": d.coordinate_names,
        "u_names": d.speed_names,
        "p_names": d.parameter_names,
        "r_names": d.input_names,
        "point_names": [d.points[i].name for i in d.shown_points],
        "frame_names": [d.frames[i].name for i in d.shown_frames],
        "output_names": [name for name, _ in d.outputs],
        "joint_names": [joint.name for joint in d.joints],
        "constraint_names": [row.name for row in of.derivation.constraints.rows] if d.constraints else [],
    }


def _sizes(of: Contents, names: Mapping[str, Sequence[str]]) -> dict[str, int | str]:
    d, constraints = (
        of.derivation.description,
        of.derivation.constraints if of.derivation.description.constraints else None,
    )
    return {
        "n_q": len(d.coordinates),
        "n_u": len(d.speeds),
        "n_p": len(d.parameters),
        "n_r": len(d.inputs),
        "n_prepared": of.n_prepared,
        "n_work": of.n_work,
        "n_points": len(d.shown_points),
        "n_frames": len(d.shown_frames),
        "n_outputs": len(d.outputs),
        "n_joints": len(d.joints),
        "n_unit": len(d.unit),
        "n_constraints": len(names["constraint_names"]),
        "n_configuration": len(constraints.configuration) if constraints else 0,
        "n_velocity": len(constraints.values) if constraints else 0,
        "n_auxiliary": len(d.auxiliary),
        "n_q_dependent": d.n_q_dependent,
        "n_u_dependent": d.n_u_dependent,
    }


def _numbers(of: Contents, target: C) -> str:
    """Defaults, NaN where the user must give a value; which inputs are rates; the places of unit quaternions."""
    d = of.derivation.description
    p_default = [of.defaults.get(name, math.nan) for name in d.parameter_names]
    r_default = [math.nan if i in d.prescribed else 0.0 for i in range(len(d.inputs))]
    unit = [str(i) for quaternion in d.unit for i in quaternion]
    return (
        f"static const double p_default[] = {{{numbers(p_default, target) or '0.0'}}};\n"
        f"static const double r_default[] = {{{numbers(r_default, target) or '0.0'}}};\n"
        f"static const int32_t r_rates[] = {{{', '.join(map(str, d.input_rates)) or '-1'}}};\n"
        f"static const uint32_t unit[] = {{{', '.join(unit) or '0'}}};\n"
    )


def _info(of: Contents) -> dict[str, Any]:
    """Facts that no kernel needs, for Python."""
    d, derivation = of.derivation.description, of.derivation
    missing = {name: why for name in GROUPS.get(of.group, KERNEL_GROUPS) if (why := derivation.missing(name))}
    configuration = [constraint.name for constraint in d.constraints if constraint.kind == "configuration"]
    numbered = [f"configuration constraint {i}" for i in range(len(configuration))]
    optional = {
        "missing": missing,
        "unread": unread(derivation, of.kernels),
        "left_out": {"parameter": list(d.left_out_parameters), "input": list(d.left_out_inputs)}
        if d.left_out_parameters or d.left_out_inputs
        else {},
        "configuration_names": configuration if configuration != numbered else [],
        "guess": {str(place): value for place, value in d.guess},
    }
    return {
        "version": of.version,
        "kernels": of.group,
        "operations": {name: n["total"] for name, n in of.operations.items()},
        "sincos": {name: n["sincos"] for name, n in of.operations.items() if n["sincos"]},
        "mass_matrix": derivation.method,
        **{name: value for name, value in optional.items() if value},
    }


def _string(text: str) -> str:
    """A C string literal: every byte but plain letters, digits and harmless signs escaped, so that nothing ends it."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode("utf-8"))
    return f'"{plain}"'


def _lines(text: str) -> str:
    """A C string literal in lines of moderate length."""
    pieces = [text[i : i + WIDTH] for i in range(0, len(text), WIDTH)]
    return "".join(f"\n        {_string(piece)}" for piece in pieces)


def _strings(name: str, values: Sequence[str]) -> str:
    inside = "".join(f"{_string(v)}, " for v in values)
    return f"static const char *const {name}[] = {{{inside}0}};\n"
