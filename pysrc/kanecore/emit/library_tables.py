# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a C text: ``kc_model`` and the splines.

``kc_model``, at the end of the text, holds sizes, names, defaults, facts, and the kernels.  Each spline that some
programs need has a table, after the runtime's header for splines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived
from kanecore.derive.model_facts import places, sizes_of, unread
from kanecore.derive.sparsity_patterns import patterns
from kanecore.describe.description import Description
from kanecore.emit.c_target import C
from kanecore.functions.splines import Spline
from kanecore.kernels import GROUPS, KERNEL_GROUPS
from kanecore.program.instructions import Apply, Instruction

__all__ = ["HEADER", "Contents", "names", "numbers", "sizes", "spline_table", "splines", "string", "table"]

HEADER = "spline.h"

OUTSIDE = {True: "KC_EXTRAPOLATED", False: "KC_NOWHERE", "periodic": "KC_PERIODIC"}
AXES = "xy"
PER_LINE = 4  # numbers


def splines(instructions: Iterable[Instruction]) -> list[Spline]:
    """Splines in use, each once, in order of appearance."""
    applied = (each.data for each in instructions if isinstance(each, Apply))
    return list(dict.fromkeys(data for data in applied if isinstance(data, Spline)))


def spline_table(target: C, spline: Spline) -> str:
    """Table of a spline: the knots along each argument, and the data at each knot."""
    name = target.table(spline)
    arrays = {f"{name}_{axis}": knots for axis, knots in zip(AXES, spline.knots, strict=False)}
    axes = ", ".join(f"{{{array}, {len(knots)}}}" for array, knots in arrays.items())
    arrays[f"{name}_f"] = spline.hermite
    text = "".join(
        f"static const {target.real} {array}[] = {{\n{''.join(_lines(target, numbers.flat))}}};\n"
        for array, numbers in arrays.items()
    )
    outside = OUTSIDE[spline.extrapolate]
    return f"{text}static const kc_spline {name} = {{{{{axes}}}, {name}_f, {outside}}};\n\n"


def _lines(target: C, numbers: Iterable[float]) -> Iterator[str]:
    values = list(numbers)
    for i in range(0, len(values), PER_LINE):
        yield f"    {target.numbers(values[i : i + PER_LINE])},\n"


WIDTH = 80  # characters of text in a line of C, before they are escaped


@dataclass(frozen=True)
class Contents:
    """Content of the table of a library.

    Attributes
    ----------
    derivation : Derivation
    group, version : str
        The group of kernels, or "all"; the version of the package.
    kernels, operations : dict
        Expressions, and numbers of operations, by kernel.
    defaults : dict of name to float
        Values of parameters.
    n_prepared : int
        Number of prepared constants.
    n_work : str
        Size of the kernels' scratch, a constant expression of C.
    entries : sequence of str
        The kernels of the library.
    prepares : bool
        Whether the library has ``prepare``, as the first library of a model.
    lanes : bool
        Whether the library has ``lanes``, a ``kc_lanes``.
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
    lanes: bool = False

    @property
    def qdot_is_u(self) -> bool:
        """Test whether q̇ = u, element by element."""
        return self.derivation.description.rates == self.derivation.description.speeds


def table(contents: Contents, target: C) -> str:
    """Arrays, the table itself, and the only exported function."""
    lists = names(contents)
    arrays = "".join(_strings(name, values) for name, values in lists.items()) + _arrays(contents)
    flags = [*target.flags, *(["KC_QDOT_IS_U"] if contents.qdot_is_u else [])]
    members = {
        "abi_version": "KC_ABI_VERSION",
        "struct_size": "sizeof(kc_model)",
        **sizes(contents),
        "n_info": len(lists["info"]),
        "flags": " | ".join(flags) or "0",
        "name": string(contents.derivation.description.name),
        **{name: name for name in (*lists, *numbers(contents))},
        **({"lanes": "&lanes"} if contents.lanes else {}),
        **({"prepare": target.stored("kc_prepare", "prepare")} if contents.prepares else {}),
        **{name: target.stored("kc_kernel", f"kernel_{name}") for name in contents.entries},
    }
    body = "".join(f"    .{member} = {value},\n" for member, value in members.items())
    return (
        f"{arrays}static const kc_model model = {{\n{body}}};\n\n"
        "const kc_model *kc_get_model(void)\n{\n    return &model;\n}\n"
    )


def names(contents: Contents) -> dict[str, Sequence[str]]:
    """Lists of texts, by member of the table."""
    d = contents.derivation.description
    return {
        "q_names": d.coordinate_names,
        "u_names": d.speed_names,
        **({"z_names": d.state_names} if d.states else {}),
        "p_names": d.parameter_names,
        "r_names": d.input_names,
        "point_names": [d.points[i].name for i in d.shown_points],
        "frame_names": [d.frames[i].name for i in d.shown_frames],
        "output_names": [name for name, _ in d.outputs],
        "joint_names": [joint.name for joint in d.joints],
        "body_names": [body.name for body in d.bodies],
        "constraint_names": [row.name for row in contents.derivation.constraints.rows] if d.constraints else [],
        "info": _pieces(json.dumps(_info(contents), separators=(",", ":"))),
    }


def sizes(contents: Contents) -> dict[str, int | str]:
    """Sizes, by member of the table."""
    of_all = sizes_of(contents.derivation)
    first = {name: of_all.pop(name) for name in ("n_q", "n_u", "n_p", "n_r")}
    del of_all["n_x"]
    for rare in ("n_z", "n_reactions", "n_shares"):
        if not of_all[rare]:
            del of_all[rare]
    return {**first, "n_prepared": contents.n_prepared, "n_work": contents.n_work, **of_all}


def numbers(contents: Contents) -> dict[str, Sequence[float]]:
    """Defaults, NaN if the user must give a value; rates of inputs; places of unit quaternions."""
    d = contents.derivation.description
    return {
        "p_default": [contents.defaults.get(name, math.nan) for name in d.parameter_names],
        "r_default": [math.nan if i in d.prescribed else 0.0 for i in range(len(d.inputs))],
        "r_rates": d.input_rates,
        "unit": [i for quaternion in d.unit for i in quaternion],
    }


def _arrays(contents: Contents) -> str:
    of, doubles = numbers(contents), C()
    return (
        f"static const double p_default[] = {{{doubles.numbers(of['p_default']) or '0.0'}}};\n"
        f"static const double r_default[] = {{{doubles.numbers(of['r_default']) or '0.0'}}};\n"
        f"static const int32_t r_rates[] = {{{', '.join(map(str, of['r_rates'])) or '-1'}}};\n"
        f"static const uint32_t unit[] = {{{', '.join(map(str, of['unit'])) or '0'}}};\n"
    )


def _info(contents: Contents) -> dict[str, Any]:
    """Facts for Python that no kernel needs; facts of the model are only in its first table."""
    d, derivation = contents.derivation.description, contents.derivation
    # an empty kernel is never looked up in its own group: the core group's table has the reason
    of_all = contents.group not in GROUPS or (contents.group == "core" and not d.bodies)
    names = KERNEL_GROUPS if of_all else GROUPS[contents.group]
    optional = {
        "missing": {name: why for name in names if (why := derivation.missing(name))},
        "unread": unread(derivation, dict.fromkeys((*contents.kernels, *contents.entries))),  # in some tables only
        "sparsity": patterns(derivation) if contents.group in ("derivatives", "all") else {},
        **(_of_model(derivation) if contents.prepares else {}),
    }
    return {
        "version": contents.version,
        "kernels": contents.group,
        "operations": {name: n["total"] for name, n in contents.operations.items()},
        "sincos": {name: n["sincos"] for name, n in contents.operations.items() if n["sincos"]},
        **{name: value for name, value in optional.items() if value},
    }


def _of_model(derivation: Derivation) -> dict[str, Any]:
    """Facts of the model as a whole, by name; empty facts are left out of the table."""
    d = derivation.description
    configuration = [constraint.name for constraint in d.constraints if constraint.kind == "configuration"]
    numbered = [f"configuration constraint {i}" for i in range(len(configuration))]
    left_out = {"parameter": list(d.left_out_parameters), "input": list(d.left_out_inputs)}
    return {
        "mass_matrix": derivation.method,
        "left_out": left_out if any(left_out.values()) else {},
        "configuration_names": configuration if configuration != numbered else [],
        "coordinate_rates": _coordinate_rates(d),
        "functions": list(d.functions),
        "loads_of_reactions": [str(number) for number in d.loads_of_reactions],
        "reaction_names": list(d.reaction_terms.names) if d.reaction_terms else [],
        "ranges": [[each.name, each.low, each.high, each.why] for each in d.ranges],
        "guess": {str(place): value for place, value in d.guess},
        **places(derivation),
    }


def _coordinate_rates(d: Description) -> list[int]:
    """For each coordinate the index of the speed that is its derivative, or −1; empty if q̇ = u, or if all are −1."""
    places = {node: i for i, node in enumerate(d.speeds)}
    rates = [places.get(node, -1) for node in d.rates]
    return [] if d.rates == d.speeds or set(rates) == {-1} else rates


def string(text: str) -> str:
    """C string literal; bytes other than plain letters, digits and harmless signs are escaped."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode("utf-8"))
    return f'"{plain}"'


def _pieces(text: str) -> list[str]:
    """A text in parts of moderate length, as C99 guarantees only 4,095 characters of a string literal."""
    return [text[i : i + WIDTH] for i in range(0, len(text), WIDTH)]


def _strings(name: str, values: Sequence[str]) -> str:
    """An array of texts; a long one has a line for each text."""
    items = [*map(string, values), "0"]
    apart = ",\n    " if sum(map(len, items)) > WIDTH else ", "
    return f"static const char *const {name}[] = {{{apart.join(items)}}};\n"
