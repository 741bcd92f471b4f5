# SPDX-License-Identifier: BSD-3-Clause
"""Code that would read or write what is not there is refused when it is opened; so is a pickle that was altered.

No altered code runs here: all of it must be refused.
"""

import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import mass_point, slider
from sweep import part

import kanecore as kc
from kanecore.binding.code_checks import SOLVERS
from kanecore.compiled_model import CompiledModel
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups, whole
from kanecore.program.bytecode_format import Code, CodedFunction

FAR = 1_000_000
MODELS = ["four_bar", "tree30", "bricard", "rolling_disc", "rrp_redundant", "arm7", "biped"]


@cache
def code_of(name: str, group: str = "core") -> Code:
    """Code of a group of kernels of a gallery model, or of all."""
    module = import_module(f"kanecore.gallery.{name}")
    if group == "all":
        return code(whole(module.build().description, module.PARAMETERS, FIRST))
    return code(Groups(module.build().description, first=FIRST).library(group))


def opened(of: Code, **changes: Any) -> CompiledModel:
    return CompiledModel({"all": replace(of, **changes)}, source={})


def refuses(of: Code, what: str, **changes: Any) -> None:
    with pytest.raises(ImportError, match="the code of a model cannot be right: "):
        pytest.fail(f"it was opened with {what}: {opened(of, **changes)!r}")


def altered(of: Code, number: int, **changes: Any) -> dict[str, Any]:
    function = replace(of.functions[number], **changes)
    return {"functions": (*of.functions[:number], function, *of.functions[number + 1 :])}


def wrong_members(function: CodedFunction) -> Iterator[tuple[str, dict[str, Any]]]:
    """Members of a way with one that is wrong: no function, a list that is shorter or names what is not there."""
    members, solver = function.members, SOLVERS[function.solver]
    for member, value in members.items():
        name = member.rpartition(".")[2]
        if name in solver.functions and solver.functions[name][1] == "True":
            yield f"no {member}", {each: x for each, x in members.items() if each != member}
        if not isinstance(value, np.ndarray) or not value.size:
            continue
        yield f"a shorter {member}", {**members, member: value[1:]}
        if value.dtype == np.int32:
            for wrong in (FAR, -2):
                yield f"{wrong} in {member}", {**members, member: np.array([*value[:-1], wrong], np.int32)}


@pytest.mark.parametrize(
    ("name", "group"), part([("four_bar", "core"), *((name, "all") for name in MODELS)], [("four_bar", "core")])
)
def test_functions_stay_within_what_there_is(name: str, group: str) -> None:
    of = code_of(name, group)
    opened(of)
    for i, function in enumerate(of.functions):
        if not function.solver:
            refuses(of, f"zeros beyond the result of {i}", **altered(of, i, clear=FAR))
            refuses(of, f"scratch of {i} without end", **altered(of, i, width=1 << 25))
            continue
        for what, members in wrong_members(function):
            refuses(of, f"{what} of {i}, {function.solver}", **altered(of, i, members=members))
        for k in range(len(function.sizes)):
            sizes = [*function.sizes[:k], function.sizes[k] - 1, *function.sizes[k + 1 :]]
            refuses(of, f"size {k} of {i}, {function.solver}", **altered(of, i, sizes=tuple(sizes)))
        if function.equations is not None:
            n, *rest = function.equations
            refuses(of, f"equations of {i}, {function.solver}", **altered(of, i, equations=(n - 1, *rest)))
        if function.instead:
            refuses(of, f"another way in place of {i}", **altered(of, i, instead=()))


def test_kernels_stay_within_their_results() -> None:
    of = code_of("four_bar")
    longest = max(
        range(len(of.functions)), key=lambda i: len(of.functions[i].parts and of.functions[i].parts[-1].stores)
    )
    for name, (function, before, offset, length) in of.kernels.items():
        for what, row in (
            ("another function", (longest, before, offset, length)),
            ("another length", (function, before, offset, length + 1)),
            ("a place behind", (function, before, offset + 1, length)),
            ("a place in front", (function, before, -1, length)),
        ):
            if row[0] != function or what != "another function":
                refuses(of, f"{what} of {name}", kernels={**of.kernels, name: row})


def test_what_prepares_constants() -> None:
    """It reads parameters alone, and leaves the address of the code in front of them."""
    of = code_of("four_bar")
    assert of.prepare is not None
    assert of.counting is not None
    straight = next(i for i, function in enumerate(of.functions) if not function.solver and i != of.prepare)
    refuses(of, "another function that prepares", prepare=straight)
    refuses(of, "another function that counts", counting=straight)
    (part,) = of.functions[of.prepare].parts
    stores = part.stores.copy()
    assert stores[2] == 0
    stores[3] = 1
    refuses(of, "another address", **altered(of, of.prepare, parts=(replace(part, stores=stores),)))


def test_splines_have_their_arguments() -> None:
    """One of one argument in place of one of two would look for knots that are not there."""
    s, v = me.dynamicsymbols("s v")
    f, g, knots = sm.Function("f"), sm.Function("g"), np.linspace(0.0, 1.0, 4)
    model = mass_point(
        {s: v},
        1,
        [f(s) + g(s, v)],
        functions={f: kc.Spline(knots, knots), g: kc.Spline(knots, knots, np.outer(knots, knots))},
    )
    of = code(whole(model.description, {}, FIRST))
    opened(of)
    refuses(of, "the splines exchanged", splines=of.splines[::-1])


def test_addresses_are_those_of_functions() -> None:
    """Only a model that names functions of C calls any, and their addresses stand behind the parameters."""
    of = code_of("four_bar")
    number = next(i for i, function in enumerate(of.functions) if function.parts and len(function.parts[0].loads) > 3)
    part, call = of.functions[number].parts[0], of.operations.index("call")
    words = np.array([call, 1, 0, 1, *part.code], dtype=np.uint16)
    refuses(of, "a call", **altered(of, number, parts=(replace(part, code=words), *of.functions[number].parts[1:])))


@pytest.mark.parametrize("cc", ["none", pytest.param(None, marks=pytest.mark.compiler)])
def test_altered_pickles_are_refused(cc: str | None) -> None:
    dyn = kc.compile(slider(), parameters={"m": 1.0, "g": 9.81}, cc=cc)
    pickled = pickle.dumps(dyn)
    for old in (b"slider", np.float64(9.81).tobytes(), b"m"):
        places = [found.start() for found in re.finditer(re.escape(old), pickled)]
        assert places
        content = bytearray(pickled)
        content[places[-1]] ^= 1
        with pytest.raises(kc.ModelError, match=r"the pickle of 'slider' was altered since it was written"):
            pickle.loads(bytes(content))
    assert pickle.loads(pickled).udot(0.0, dyn.state()) == dyn.udot(0.0, dyn.state())
