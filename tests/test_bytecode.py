# SPDX-License-Identifier: BSD-3-Clause
"""The machine of the extension, which executes models where no compiler is: its numbers are those of the C."""

import ctypes
import pickle
import sysconfig
import threading
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import c_text, loaded, some_state
from mechanisms import compiled, ground, mass_point, pendulum_in_a_plane
from numpy.testing import assert_array_equal
from sweep import part

import kanecore as kc
from kanecore.build import compile_library
from kanecore.compiled_model import CompiledModel
from kanecore.emit.bytecode import FIRST, code
from kanecore.emit.kernel_groups import Groups, whole
from kanecore.emit.kernel_library import Library
from kanecore.gallery import cart_pole, four_bar
from kanecore.kernels import KERNELS
from kanecore.program.bytecode_format import Code, CodedFunction, CodedPart

pytestmark = pytest.mark.compiler

Array = npt.NDArray[np.float64]


@cache
def code_of(module: ModuleType) -> Code:
    """All kernels of a gallery model, as its prebuilt library has them."""
    return code(whole(module.build().description, module.PARAMETERS, FIRST))


@cache
def executed(name: str) -> CompiledModel:
    """A gallery model on the machine, of the same programs as its prebuilt library."""
    return CompiledModel({"all": code_of(import_module(f"kanecore.gallery.{name}"))}, source={})


def in_c(dyn: CompiledModel, kernel: str, x: Array, r: Array) -> tuple[Array, Array]:
    """The result of a kernel that is called by its address, and the first two numbers of its scratch."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 5)(dyn.address(kernel))
    sizes = {name: getattr(dyn, name) for name in dir(type(dyn)) if name.startswith("n_")}
    row = next(row for row in KERNELS if row.name == kernel)
    c, work, out = dyn.prepared, np.zeros(dyn.n_work), np.full(int(np.prod(row.lengths(sizes))) + 1, 7.0)
    function(0.3, *(a.ctypes.data for a in (x, r, c, work, out)))
    assert out[-1] == 7.0
    return out[:-1], work[:2] * (work[0] != 0)


def states(dyn: CompiledModel, name: str) -> list[Array]:
    """On the constraints, off them, at rest at zero, and one that is no number, with room for all that follows x."""
    rng = np.random.default_rng(3)
    beyond = 3 * (dyn.n_x + dyn.n_r + dyn.n_u + dyn.n_constraints)
    places = [some_state(name), rng.uniform(-1.0, 1.0, dyn.n_x), np.zeros(dyn.n_x), np.full(dyn.n_x, np.nan)]
    return [np.concatenate([x, rng.normal(size=beyond)]) for x in places]


OWN = [name for name in kc.models() if name not in kc.gallery.robots()]  # not of files


@pytest.mark.parametrize("cc", [None, "none"])
def test_comparisons_where_both_are_equal(cc: str | None) -> None:
    q, u = me.dynamicsymbols("q u")
    frame, point = ground()
    body = me.Particle("P", point.locatenew("P", q * frame.x), 1)
    relations = {"lt": q < 1, "le": q <= 1, "gt": q > 1, "ge": q >= 1, "eq": sm.Eq(q, 1), "ne": sm.Ne(q, 1)}
    outputs = {name: sm.Piecewise((1, relation), (0, True)) for name, relation in relations.items()}
    dyn = kc.compile(kc.Model(frame, [q], [u], [q.diff() - u], bodies=[body], outputs=outputs), cc=cc)
    found = dyn.outputs(0.0, [[0.5, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert_array_equal(found, [[1, 1, 0, 0, 0, 1], [0, 1, 0, 1, 1, 0], [0, 0, 1, 1, 0, 1]])


@pytest.mark.parametrize("name", part(OWN, ["wire_particle"]))
def test_the_bits_are_those_of_the_c(name: str) -> None:
    """But for the sign of a zero, which gcc loses where it makes -(a b - c) of c - a b."""
    text = c_text(name)
    dyn, reference = executed(name), CompiledModel({"all": compile_library(text, name=name).path}, source={"all": text})
    assert_array_equal(dyn.prepared[FIRST:], reference.prepared)
    r = np.random.default_rng(4).normal(size=dyn.n_r + 1)
    n_compared = 0
    for row in KERNELS:
        if not reference.kernels.has(row.name):
            assert not dyn.kernels.has(row.name)
            continue
        for x in states(dyn, name):
            for found, expected in zip(in_c(dyn, row.name, x, r), in_c(reference, row.name, x, r), strict=True):
                assert_array_equal(found, expected, err_msg=row.name)
        n_compared += 1
    assert n_compared > 30


# -------------------------------------------------------------------------------------------------------- use
@pytest.fixture(scope="module")
def cart() -> CompiledModel:
    return kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")


def test_what_a_model_on_the_machine_says(cart: CompiledModel) -> None:
    assert repr(cart).endswith("; on the machine, without a compiler>")
    assert cart.source == {}
    assert cart.info["machine"]
    assert cart.info["build"]["core"]["command"] == []
    assert "machine" not in loaded("cart_pole").info


def test_groups_follow_when_they_are_called() -> None:
    dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, cc="none")
    assert not dyn.kernels.has("linearize")
    x = some_state("cart_pole")
    np.testing.assert_allclose(
        dyn.linearize(0.0, x)[0], loaded("cart_pole").linearize(0.0, x)[0], rtol=1e-13, atol=1e-13
    )
    assert "linearize" in dyn.info["kernels"]
    assert "forces" not in dyn.info["kernels"]


def test_a_group_without_kernels() -> None:
    """Of a Lagrangian, which has no bodies, there are no reactions."""
    m, g, (s,) = *sm.symbols("m g"), me.dynamicsymbols("s:1")
    model = kc.Model.from_lagrangian(m * s.diff() ** 2 / 2 - m * g * s, [s])
    dyn = kc.compile(model, parameters={m: 1.0, g: 9.81}, kernels="all", cc="none")
    assert_array_equal(dyn.udot(0.0, [0.0, 1.0]), [-9.81])
    with pytest.raises(kc.ModelError, match="has no reactions"):
        dyn.reactions(0.0, [0.0, 1.0])


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, kernels="all", cc="none")
    assert not (tmp_path / "cache").exists()


def test_batches_and_other_parameters(cart: CompiledModel) -> None:
    rng = np.random.default_rng(5)
    x, p = rng.normal(size=(40, cart.n_x)), cart.kernels.values("parameter") * rng.uniform(0.5, 2.0, (40, cart.n_p))
    rates = cart.rhs(0.0, x, p=p)
    for i in range(40):
        assert_array_equal(rates[i], cart.rhs(0.0, x[i], p=p[i]))
    dyn = kc.compile(cart_pole.build(), parameters=dict(zip(cart.parameter_names, p[3], strict=True)), cc="none")
    assert_array_equal(rates[3], dyn.rhs(0.0, x[3]))
    assert_array_equal(cart.prepare(p)[:, FIRST : FIRST + cart.n_p], p)


def test_workspaces_follow_their_parameters(cart: CompiledModel) -> None:
    ws, x = cart.workspace(), some_state("cart_pole")
    ws.x[:] = x
    for factor in (1.0, 2.0):
        ws._p[:] = factor * cart.kernels.values("parameter")
        assert_array_equal(ws.rhs(), cart.rhs(0.0, x, p=factor * cart.kernels.values("parameter")))


@pytest.mark.parametrize("name", part(["cart_pole", "four_bar", "wire_particle"], ["wire_particle"]))
def test_motions_are_those_of_the_c(name: str) -> None:
    dyn, x = executed(name), some_state(name)
    motion, expected = (model.simulate((0.0, 1.0), x) for model in (dyn, loaded(name)))
    assert_array_equal(motion.x, expected.x)


def test_errors_are_those_of_the_c() -> None:
    """A mass matrix without a pivot, and a row that is lost: the same words."""
    model, words = pendulum_in_a_plane(), []
    for cc in ("none", None):
        dyn = compiled(model, cc=cc)
        massless = dict(dyn.parameters) | {"m": 0.0}
        for x, p in (([0.3, 0.4, 0.0, 0.0], massless), (np.zeros(4), None)):
            with pytest.raises(kc.SingularError) as caught:
                dyn.udot(0.0, x, p=p)
            words.append(str(caught.value))
    assert words[:2] == words[2:]
    assert "mass matrix" in words[0]
    assert "'configuration constraint 0'" in words[1]


def test_threads_share_a_model(cart: CompiledModel) -> None:
    """Each with parameters of its own, while another sets those of the model."""
    x, results = np.tile(some_state("cart_pole"), (2000, 1)), {}
    sets = [cart.kernels.values("parameter") * factor for factor in (1.0, 1.5, 2.0)]

    def run(number: int) -> None:
        results[number] = [cart.rhs(0.0, x, p=sets[number]) for _ in range(5)]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(sets))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, p in enumerate(sets):
        for rates in results[number]:
            assert_array_equal(rates, np.tile(cart.rhs(0.0, x[0], p=p), (2000, 1)))


# ------------------------------------------------------------------------------------------------- functions
def sliding(**functions: Any) -> kc.Model:
    """A particle on a line under a force f(s), g(s, v) or both."""
    s, v = me.dynamicsymbols("s v")
    m = sm.Symbol("m")
    arguments = {"f": (s,), "g": (s, v)}
    force = sum((sm.Function(name)(*arguments[name]) for name in functions), sm.Abs(v) ** sm.Rational(3, 2))
    return mass_point({s: v}, m, [force], functions={sm.Function(name): data for name, data in functions.items()})


@pytest.mark.parametrize("extrapolate", part([True, False, "periodic"], ["periodic"]))
def test_splines(extrapolate: Any) -> None:
    knots = np.linspace(0.0, 3.0, 7)
    values = np.sin(2 * np.pi * knots / 3.0)
    values[-1] = values[0]
    line = kc.Spline(knots, values, extrapolate=extrapolate)
    surface = kc.Spline(knots, knots[:4], np.outer(np.cos(knots), np.exp(knots[:4])))
    model = sliding(f=line, g=surface)
    dyn, reference = (kc.compile(model, parameters={"m": 2.0}, cc=cc) for cc in ("none", None))
    for x in ([0.1, 0.2], [1.5, 0.7], [2.99, -0.1], [3.5, 2.0], [-7.0, 0.4], [np.inf, 0.0]):
        for kernel in ("rhs", "linearize"):
            found, expected = (in_c(model, kernel, np.array(x), np.zeros(1))[0] for model in (dyn, reference))
            assert_array_equal(found, expected)


def test_c_functions() -> None:
    callbacks = [ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(f) for f in (np.sin, np.cos, lambda x: -np.sin(x))]
    model = sliding(f=kc.CFunction(*callbacks))
    dyn, reference = (kc.compile(model, parameters={"m": 2.0}, cc=cc) for cc in ("none", None))
    assert_array_equal(dyn.rhs(0.0, [0.3, 0.1]), reference.rhs(0.0, [0.3, 0.1]))
    assert_array_equal(dyn.linearize(0.0, [0.3, 0.1])[0], reference.linearize(0.0, [0.3, 0.1])[0])
    assert_array_equal(dyn.prepared[FIRST:], reference.prepared)
    with pytest.raises(kc.ModelError, match="calls f by address"):
        pickle.dumps(dyn)


# ------------------------------------------------------------------------------------------------ a compiler
def without_compilers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty PATH, no ziglang, and a Python that was built with a compiler which is not here."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: "/nowhere/cc -pthread")
    monkeypatch.setattr("kanecore.build.c_compiler._ziglang", lambda: None)


def test_without_a_compiler_it_warns_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_compilers(monkeypatch, tmp_path)
    with pytest.warns(kc.KanecoreWarning, match=r"no C compiler found.*'cart_pole' runs on a machine") as caught:
        dyn = kc.compile(cart_pole.build(), kernels="all")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert "pip install ziglang" in str(caught[0].message)
    assert dyn.info["machine"]


def test_a_compiler_that_was_asked_for_is_missed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_compilers(monkeypatch, tmp_path)
    with pytest.raises(kc.CompileError, match="argument cc is 'gcc'"):
        kc.compile(cart_pole.build(), cc="gcc")
    monkeypatch.setenv("CC", "gcc")
    with pytest.raises(kc.CompileError, match="variable CC is 'gcc'"):
        kc.compile(cart_pole.build())


def test_none_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "none")
    assert kc.compile(cart_pole.build()).info["machine"]


def test_flags_need_a_compiler() -> None:
    with pytest.raises(ValueError, match="cflags is '-O3', and there is no compiler"):
        kc.compile(cart_pole.build(), cc="none", cflags="-O3")


# ---------------------------------------------------------------------------------------------- altered code
def altered(part: CodedPart, list_name: str, place: int, value: int) -> CodedPart:
    words = getattr(part, list_name).copy()
    words[place] = value
    return replace(part, **{list_name: words})


def opened(of: Code, number: int, function: CodedFunction) -> CompiledModel:
    functions = (*of.functions[:number], function, *of.functions[number + 1 :])
    return CompiledModel({"all": replace(of, functions=functions)}, source={})


@pytest.mark.parametrize(
    ("list_name", "place", "value", "words"),
    [
        ("code", 0, 999, "a program is no code"),
        ("code", 1, 9999, "a program is no code"),
        ("code", 2, 65535, "a program is no code"),
        ("loads", 0, 5, "reads what is not there"),
        ("loads", 1, 9999, "reads what is not there"),
        ("stores", 0, 3, "3"),
        ("stores", 1, 9999, "writes what is not there"),
        ("stores", 3, 65535, "writes what is not there"),
    ],
)
def test_altered_programs_are_refused(list_name: str, place: int, value: int, words: str) -> None:
    of = code_of(cart_pole)
    number = next(i for i, function in enumerate(of.functions) if function.parts and len(function.parts[0].code) > 20)
    function = of.functions[number]
    parts = (altered(function.parts[0], list_name, place, value), *function.parts[1:])
    with pytest.raises(ImportError, match=f"the code of a model cannot be right: .*{words}"):
        opened(of, number, replace(function, parts=parts))


def test_altered_ways_are_refused() -> None:
    of = code_of(four_bar)
    number = next(i for i, function in enumerate(of.functions) if function.solver == "motion")
    function = of.functions[number]
    for changes, words in (
        ({"solver": "guessing"}, "no machine solves by 'guessing'"),
        ({"members": {**function.members, "pace": 1}}, "motion has no member 'pace'"),
        ({"members": {**function.members, "fill": number}}, f"function {number} is called before it is there"),
        ({"equations": None}, "motion has no equations"),
        ({"sizes": (1,)}, "motion has 1 sizes"),
    ):
        with pytest.raises(ImportError, match=words):
            opened(of, number, replace(function, **changes))
    numbers = {**of.numbers, "p_default": of.numbers["p_default"][1:]}
    with pytest.raises(ImportError, match=f"p_default has {len(numbers['p_default'])} numbers"):
        CompiledModel({"all": replace(of, numbers=numbers)}, source={})
    with pytest.raises(ImportError, match="another version of kanecore"):
        CompiledModel({"all": replace(of, operations=of.operations[1:])}, source={})


def test_code_of_another_model_does_not_fit(cart: CompiledModel) -> None:
    x = some_state("cart_pole")
    before = cart.rhs(0.0, x)
    with pytest.raises(ImportError, match="holds another model"):
        cart.kernels.open(code_of(four_bar))
    assert_array_equal(cart.rhs(0.0, x), before)
    assert_array_equal(cart.rhs(0.0, x, p=cart.kernels.values("parameter")), before)


def test_an_equal_model_is_derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytecode stays in the process, as libraries stay in the cache: but for ``cache=False``, and other constants."""
    derived = []
    library = Groups.library

    def counted(self: Groups, group: str, **options: bool) -> Library:
        derived.append(group)
        return library(self, group, **options)

    monkeypatch.setattr(Groups, "library", counted)
    x, line = [0.3, 0.1], kc.Spline([0.0, 1.0, 2.0], [0.125, 1.5, 1.0])
    first = kc.compile(sliding(f=line), parameters={"m": 2.0}, cc="none", cache=False)
    assert derived == ["core"]
    kc.compile(sliding(f=line), cc="none")
    again = kc.compile(sliding(f=line), parameters={"m": 2.0}, cc="none")
    assert derived == ["core", "core"]
    assert again.rhs(0.0, x).tobytes() == first.rhs(0.0, x).tobytes()
    heavier = kc.compile(sliding(f=line), parameters={"m": 4.0}, bake=True, cc="none")
    assert derived == ["core", "core", "core"]
    assert heavier.rhs(0.0, x)[1] != again.rhs(0.0, x)[1]
