# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.emit: the C text is what it was, the same in every process, clean, and cut without changing a bit."""

import ctypes
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from gallery_states import c_text
from hypothesis import given
from hypothesis import strategies as st
from sweep import examples, part

import kanecore as kc
from kanecore.build import compile_library, include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.compiled_model import CompiledModel
from kanecore.derive.kernel_registry import Derived
from kanecore.emit.c_target import C
from kanecore.emit.kernel_groups import emit_group, emit_library, whole
from kanecore.graph.expression_graph import COORDINATE, Graph, Op
from kanecore.kernels import GROUPS, KERNELS
from kanecore.program import function_parts
from kanecore.program.instructions import Entry, Operand
from kanecore.program.straight_line import constant_value, straight_line

pytestmark = pytest.mark.compiler

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Built(dict[str, kc.Model]):
    """Models of the gallery, each described when it is first asked for."""

    def __missing__(self, name: str) -> kc.Model:
        self[name] = import_module(f"kanecore.gallery.{name}").build()
        return self[name]


@pytest.fixture(scope="module")
def built() -> Built:
    return Built()


# ----------------------------------------------------------------------------------------------- golden files
@pytest.mark.parametrize(("name", "real"), [("rrp", "double"), ("rotating_tube", "double"), ("rrp", "float")])
def test_golden(name: str, real: str, built: dict[str, kc.Model], golden: Callable[[str, str], None]) -> None:
    """The emitted C is reviewed as other code is: a change shows as a diff.  The prelude has tests of its own."""
    text = emit_group(built[name].description, "core", real=real).text
    start, rest = text.split("/* SPDX-License-Identifier", 1)
    model = re.split(r"(?=\nstatic int )", rest, maxsplit=1)[1]
    opening = re.sub(r"kanecore \S+: model", "kanecore VERSION: model", start)
    kind = "core" if real == "double" else f"core.{real}"
    golden(f"{name}.{kind}.c", opening + re.sub(r'"version\\":\\"[^\\]+', r'"version\\":\\"VERSION', model))


def test_opening(built: dict[str, kc.Model]) -> None:
    """The file says what it is, its slots and its cost; no date, no path."""
    text = emit_group(built["rotating_tube"].description, "core").text
    head = text[: text.index("*/")]
    for line in (
        f"kanecore {kc.__version__}: model rotating_tube, kernels: core",
        "q[2]: q1 q2",
        "u[2]: u1 u2",
        "r[3]: theta theta_d theta_dd",
        "p[7]: L1 L2 g k1 k2 m1 m2",
        "udot: 21, 1",
    ):
        assert line in head
    assert not re.search(r"20\d\d|/home|/tmp|\.py", head)
    assert max(map(len, text.splitlines())) < 400


# ------------------------------------------------------------------------------------------------ determinism
DIGEST = """
import hashlib, sys
from importlib import import_module
from itertools import accumulate
from kanecore.emit.kernel_groups import emit_group, emit_library
from kanecore.kernels import GROUPS
from kanecore.program import function_parts
from kanecore.program.instructions import Entry, Operand
from kanecore.program.straight_line import constant_value, straight_line
first = sys.argv[1:]
for name in ("rrp", "cart_pendulum", "rotating_tube"):
    model = import_module(f"kanecore.gallery.{name}").build()
    for group in first:
        emit_group(model.description, group)
    if first:
        model.report(), model.mass_matrix
    for group in GROUPS:
        print(name, group, hashlib.sha256(emit_group(model.description, group).text.encode()).hexdigest())
    print(name, hashlib.sha256(emit_library(model.description).text.encode()).hexdigest())
"""


@pytest.mark.long
def test_same_bytes_in_every_process() -> None:
    """Under several hash seeds, and whatever was derived before."""
    found = set()
    for seed, first in (("1", ["energies"]), ("2", ["forces"])):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST, *first], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_equal_models_give_equal_bytes() -> None:
    """Built anew from new SymPy objects: what the cache lives on."""
    module = import_module("kanecore.gallery.rrp")
    texts = [emit_group(module.build().description, "core", {"m1": 2.0}).text for _ in range(2)]
    assert texts[0] == texts[1]


# -------------------------------------------------------------------------------------------------- clean C
@pytest.mark.long
@pytest.mark.parametrize("name", part(kc.models(), ["four_bar"]))
def test_compiles_without_a_warning(name: str, built: dict[str, kc.Model], tmp_path: Path) -> None:
    description = built[name].description
    texts = {group: emit_group(description, group).text for group in GROUPS}
    texts["all"] = emit_library(description, import_module(f"kanecore.gallery.{name}").PARAMETERS).text
    for group, text in texts.items():
        source = tmp_path / f"{group}.c"
        source.write_text(text)
        command = [*find_compiler(), *STRICT, "-fsyntax-only", f"-I{include_dir()}", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_one_exported_symbol(built: dict[str, kc.Model], tmp_path: Path) -> None:
    text = emit_group(built["rotating_tube"].description, "core").text
    path = compile_library(text, cache=False, name="tube").path
    table = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in table.splitlines()]
    assert [name for name in names if not name.startswith("_")] == ["kc_get_model"]


# --------------------------------------------------------------------------------------------- what is written
def written(build: Callable[[Graph, list[int]], list[int]], names: str = "a b c d") -> tuple[list[str], list[str]]:
    """The statements and the results of a program."""
    g = Graph()
    nodes = [g.symbol(name, COORDINATE) for name in names.split()]
    leaves = {node: Operand(Entry(name)) for node, name in zip(nodes, names.split(), strict=True)}
    program = straight_line(g, Derived(tuple(build(g, nodes))), leaves, 1)
    return C().statements(program.instructions), [C().operand(result) for result in program.results]


def test_multiply_adds_are_placed() -> None:
    """A product that is used once, by a sum, goes into it, with the sign that it has there."""
    statements, _ = written(lambda g, v: [g.add(g.mul(v[0], v[1]), v[2])])
    assert statements == ["const double z1 = KC_FMA(a, b, c);"]
    statements, _ = written(lambda g, v: [g.sub(g.mul(v[0], v[1]), v[2])])
    assert statements == ["const double z1 = KC_FMS(a, b, c);"]
    statements, _ = written(lambda g, v: [g.sub(v[2], g.mul(v[0], v[1]))])
    assert statements == ["const double z1 = KC_FNMA(a, b, c);"]
    statements, _ = written(lambda g, v: [g.add(g.mul(v[0], v[1]), g.mul(v[2], v[3]))])
    assert statements == ["const double z1 = a * b;", "const double z2 = KC_FMA(c, d, z1);"]


def test_multiply_adds_are_made_negative() -> None:
    """gcc fuses the sign of −(c − a b), clang does not, and their zeros differ: no compiler has the choice."""

    def negated(join: Callable[[Graph, int, int], int]) -> Callable[[Graph, list[int]], list[int]]:
        return lambda g, v: [g.neg(join(g, g.mul(v[0], v[1]), v[2]))]

    for join, expected in (
        (lambda g, product, c: g.add(product, c), "KC_FNMS(a, b, c)"),
        (lambda g, product, c: g.sub(product, c), "KC_FNMA(a, b, c)"),
        (lambda g, product, c: g.sub(c, product), "KC_FMS(a, b, c)"),
    ):
        assert written(negated(join)) == ([f"const double z1 = {expected};"], ["z1"])
    both = written(lambda g, v: [node := g.sub(v[2], g.mul(v[0], v[1])), g.neg(node)])
    assert both == (["const double z1 = KC_FNMA(a, b, c);"], ["z1", "-z1"])


def test_what_is_needed_elsewhere_is_not_fused() -> None:
    def shared(g: Graph, v: list[int]) -> list[int]:
        product = g.mul(v[0], v[1])
        return [g.add(product, v[2]), g.sub(product, v[3])]

    assert not any("KC_F" in s for s in written(shared)[0])
    product_out, _ = written(lambda g, v: [g.mul(v[0], v[1]), g.add(g.mul(v[0], v[1]), v[2])])
    assert not any("KC_F" in s for s in product_out)


def test_signs_and_sharing() -> None:
    statements, results = written(lambda g, v: [g.neg(g.mul(v[0], v[1])), g.sub(v[2], g.neg(v[3]))])
    assert statements == ["const double z1 = a * b;", "const double z2 = c + d;"]
    assert results == ["-z1", "z2"]
    statements, _ = written(lambda g, v: [g.sin(v[0]), g.cos(v[0])])
    assert len(statements) == 1
    assert "kc_sincos(a, &s1, &c1)" in statements[0]


def test_the_gallery_has_them(built: dict[str, kc.Model]) -> None:
    text = emit_group(built["arm7"].description, "core").text
    body = text[text.index("static int short_udot") :]
    assert len(re.findall(r"KC_F(?:MA|MS|NMA)\(", body)) > 350


# -------------------------------------------------------------------------------------------------- literals
@examples(500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_literals_read_back(value: float) -> None:
    text = C().literal(value)
    assert float(text) == value
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?", text)
    assert "." in text or "e" in text, "a C double, not an int"


def test_literals_read_back_in_c(tmp_path: Path) -> None:
    """The C compiler reads the very doubles, subnormals too."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**64, 2000, dtype=np.uint64).view(np.float64)
    values = np.concatenate(
        [values[np.isfinite(values)], [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1]]
    )
    source = "const double table[] = {" + ",\n".join(map(C().literal, values)) + "};\n"
    (tmp_path / "t.c").write_text(source)
    subprocess.run(
        [*find_compiler(), "-shared", "-fPIC", "-o", str(tmp_path / "t.so"), str(tmp_path / "t.c")], check=True
    )
    table = (ctypes.c_double * len(values)).in_dll(ctypes.CDLL(str(tmp_path / "t.so")), "table")
    assert np.array(table).tobytes() == values.tobytes()


def test_exact_constants_are_rounded_once() -> None:
    """1/3 + 1/6, π/3 and √2 are kept exact and written as the nearest double."""
    g = Graph()
    third = g.constant(Fraction(1, 3))
    assert constant_value(g, g.add(third, g.constant(Fraction(1, 6)))) == 0.5
    assert constant_value(g, g.mul(third, g.pi)) == 1.0471975511965979  # the double nearest to π/3
    assert constant_value(g, g.sin(g.div(g.pi, g.constant(6)))) == 0.5
    with pytest.raises(kc.ModelError, match="no finite real number"):
        constant_value(g, g.sqrt(g.constant(-2)))
    with pytest.raises(kc.ModelError, match="no finite real number"):
        constant_value(g, g.call(Op.LOG, g.zero))
    with pytest.raises(kc.ModelError, match="no finite real number"):
        constant_value(g, g.power(g.constant(10), 400))


# ------------------------------------------------------------------------------------------ split over functions
@pytest.mark.parametrize("chunk", part([1, 7, 20], [7]))
def test_cut_programs_give_the_same_bits(
    chunk: int, built: dict[str, kc.Model], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path))
    name = "planar_2r"
    parameters, kernels = import_module(f"kanecore.gallery.{name}").PARAMETERS, ("rhs", "mass_matrix", "kinetic_energy")
    x = np.random.default_rng(1).uniform(-1, 1, (20, built[name].n_x))

    def results() -> tuple[dict[str, bytes], str]:
        text = whole(built[name].description, parameters, kernels=(*kernels, "udot", "qdot")).emitted().text
        dyn = CompiledModel({"all": compile_library(text, name=name).path}, source={"all": text})
        return {kernel: getattr(dyn, kernel)(0.0, x).tobytes() for kernel in kernels}, text

    uncut, text = results()
    assert "KC_PART int" not in text
    monkeypatch.setattr(function_parts, "CHUNK", chunk)
    monkeypatch.setattr(function_parts, "WHOLE", chunk)
    cut, text = results()
    assert text.count("KC_PART int short_udot_") > 1
    assert cut == uncut
    source = tmp_path / "parts.c"
    source.write_text(text)
    command = [*find_compiler(), *STRICT, "-fsyntax-only", f"-I{include_dir()}", str(source)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.long
def test_macros_are_not_nested_deeply() -> None:
    """KC_MOST repeats its arguments: a chain of twenty became 200 MB of text before it was compiled."""
    for line in c_text("rolling_disc").splitlines():
        depths = accumulate({"(": 1, ")": -1}.get(c, 0) for c in line) if "KC_MOST(" in line else [0]
        assert max(depths) <= 8, line


@pytest.mark.long
def test_no_function_is_longer_than_a_compiler_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function_parts, "WHOLE", 1000)
    module = import_module("kanecore.gallery.cart_pendulum")
    text = emit_group(module.build(40).description, "core").text
    lengths = [part.count("\n") for part in re.split(r"\n}\n", text)]
    assert max(lengths) < 1.3 * function_parts.WHOLE
    assert "KC_PART int compute_mass_matrix_" in text


def test_singular_in_a_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pivot test in any of the parts ends the whole."""
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(function_parts, "CHUNK", 5)
    monkeypatch.setattr(function_parts, "WHOLE", 5)
    model = import_module("kanecore.gallery.cart_pendulum").build()
    values = dict.fromkeys(map(str, model.parameters), 1.0)
    dyn = kc.compile(model, parameters={**values, "m3": 0.0})
    with pytest.raises(kc.SingularError, match="'u3'"):
        dyn.udot(0.0, np.zeros(8))
    dyn.parameters["m3"] = 1.0
    assert np.isfinite(dyn.udot(0.0, np.zeros(8))).all()


# ------------------------------------------------------------------------------------- what SymPy is not asked
FORBIDDEN: list[tuple[Any, str]] = [
    (sm, "simplify"),
    (sm, "cse"),
    (sm.Basic, "subs"),
    (sm.Basic, "xreplace"),
    (sm.Basic, "simplify"),
    (sm.Expr, "expand"),
    (sm.Expr, "diff"),
    (sm.MatrixBase, "diff"),
    (sm.MatrixBase, "jacobian"),
    (sm.MatrixBase, "inv"),
    (sm.MatrixBase, "LUsolve"),
    (sm.MatrixBase, "subs"),
    (sm.MatrixBase, "xreplace"),
    (sm.MatrixBase, "simplify"),
    (sm.MatrixBase, "__mul__"),
    (me, "msubs"),
    (me.ReferenceFrame, "dcm"),
    (me.ReferenceFrame, "ang_vel_in"),
    (me.ReferenceFrame, "ang_acc_in"),
    (me.Point, "vel"),
    (me.Point, "acc"),
    (me.Point, "pos_from"),
    (me.Vector, "express"),
    (me.Vector, "dt"),
    (me.Vector, "diff"),
    (me.Vector, "to_matrix"),
    (me.KanesMethod, "kanes_equations"),
]
FORBIDDEN_MODULES = ["sympy.simplify.simplify:simplify", "sympy.simplify.cse_main:cse"]


OWN = [name for name in kc.models() if name not in kc.gallery.robots()]  # not of files


@pytest.mark.parametrize("name", part(OWN, ["wire_particle"]))
def test_sympy_only_describes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the objects to C, SymPy is not asked to compute: it would multiply the model out."""
    kept: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    module = import_module(f"kanecore.gallery.{name}")
    if hasattr(module, "links"):
        pytest.skip("a model of transforms asks SymPy for their products when it is described")
    with monkeypatch.context() as patch:
        patch.setattr("kanecore.model.Model", lambda *args, **options: kept.append((args, options)))
        module.build()
    (args, options) = kept[0]
    digest = hashlib.sha256(emit_library(kc.Model(*args, **options).description).text.encode())

    def refuse(method: str) -> Callable[..., Any]:
        def raises(*_: Any, **__: Any) -> Any:
            raise AssertionError(f"SymPy's {method} was called")

        return raises

    for owner, method in FORBIDDEN:
        monkeypatch.setattr(owner, method, refuse(method))
    for path in FORBIDDEN_MODULES:
        package, method = path.split(":")
        monkeypatch.setattr(sys.modules[package], method, refuse(method))
    with pytest.raises(AssertionError, match="dcm was called"):
        me.ReferenceFrame("A").dcm(None)
    model = kc.Model(*args, **options)
    for group in GROUPS:
        emit_group(model.description, group)
    assert hashlib.sha256(emit_library(model.description).text.encode()).digest() == digest.digest()
    model.report()


# ------------------------------------------------------------------------------------------ what the C costs
def costs(name: str) -> list[str]:
    """Rows of the C of a model: model, kernel, operations, pairs of sine and cosine, bytes of its functions."""
    text = c_text(name).replace(kc.__version__, "VERSION")
    n_bytes = Counter[str]()
    for function in re.finditer(r"^(?:static|KC_PART) \w+ (\w+)\([^;{]*\)\n\{.*?^\}\n", text, re.DOTALL | re.MULTILINE):
        of = [kernel.name for kernel in KERNELS if re.search(rf"_{kernel.name}(_\d+)?$", function[1])]
        n_bytes[max(of, key=len, default="others")] += len(function[0])
    operations = re.findall(r"^ \*   (\w+): (\d+), (\d+)$", text, re.MULTILINE)
    n_bytes["others"] = len(text) - sum(n_bytes[kernel] for kernel, *_ in operations)
    return ["\t".join([name, *row, str(n_bytes[row[0]])]) for row in [*operations, ("others", "", "")]]


@pytest.mark.parametrize("name", part(kc.models(), ["four_bar", "free_body"]))
def test_costs_of_the_gallery(name: str, root: Path, request: pytest.FixtureRequest) -> None:
    """Operations and bytes of each kernel: what changes the C says so in its commit (--update, with all models)."""
    path = root / "tests/golden/gallery_costs.tsv"
    title, *rows = path.read_text(encoding="utf-8").splitlines()
    if request.config.getoption("--update"):
        rows = sorted([*costs(name), *(row for row in rows if not row.startswith(f"{name}\t"))])
        path.write_text("\n".join([title, *rows, ""]), encoding="utf-8")
    assert sorted(costs(name)) == [row for row in rows if row.startswith(f"{name}\t")]
