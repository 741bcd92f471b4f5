# SPDX-License-Identifier: BSD-3-Clause
"""Wrong models and wrong calls of compile: each error names the culprit and says what to write."""

import pickle
import subprocess
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep
import sympy as sm
import sympy.physics.mechanics as me
from mechanisms import Pieces, ground, particle, rates
from sweep import every

import kanecore as kc
from kanecore.build import include_dir
from kanecore.build.c_compiler import find_compiler
from kanecore.emit.kernel_groups import emit_group, emit_library
from kanecore.errors import is_close

t = me.dynamicsymbols._t
f = sm.Function("f")
FAR, NOWHERE = me.ReferenceFrame("Z"), me.Point("Z")


@pytest.fixture
def d() -> Pieces:
    return Pieces()


def load(vector: Callable[[Pieces], Any]) -> Callable[[Pieces], dict[str, Any]]:
    """A force along N.y."""
    return lambda d: {"forcelist": [(d.P, vector(d) * d.N.y)]}


def body(**changes: Any) -> Callable[[Pieces], dict[str, Any]]:
    """Something like a body, as a user's own class may be."""

    def make(d: Pieces) -> dict[str, Any]:
        given = {k: v(d) if isinstance(v, types.FunctionType) else v for k, v in changes.items()}
        return {
            "bodies": [
                types.SimpleNamespace(**{"name": "b", "masscenter": d.P, "mass": d.m, "potential_energy": 0} | given)
            ]
        }

    return make


def rigid(inertia: Callable[[Pieces], Any]) -> Callable[[Pieces], dict[str, Any]]:
    return body(frame=lambda d: d.A, inertia=inertia)


def after(*steps: Callable[[Pieces], Any]) -> Callable[[Pieces], dict[str, Any]]:
    """A change of the SymPy objects before the model is made."""

    def change(d: Pieces) -> dict[str, Any]:
        for step in steps:
            step(d)
        return {}

    return change


WRONG: dict[str, tuple[Callable[[Pieces], dict[str, Any]], list[str]]] = {
    # kinematical equations
    "none": (lambda d: {"kd_eqs": None}, ["kd_eqs is missing", "q1.diff() - u1"]),
    "too few": (lambda d: {"kd_eqs": []}, ["1 coordinates need 1", "has 0"]),
    "too many": (lambda d: {"kd_eqs": [d.q.diff() - d.u] * 2}, ["has 2"]),
    "without q'": (lambda d: {"kd_eqs": [d.u - d.q]}, ["singular", "derivative of q"]),
    "dependent": (
        lambda d: {
            "q_ind": [d.q, me.dynamicsymbols("s")],
            "kd_eqs": [d.q.diff() + me.dynamicsymbols("s").diff() - d.u] * 2,
        },
        ["singular", "derivative of"],
    ),
    "square of q'": (lambda d: {"kd_eqs": [d.q.diff() ** 2 - d.u]}, ["kinematical equation 0", "not linear"]),
    "square of u": (lambda d: {"kd_eqs": [d.q.diff() - d.u**2]}, ["the rate of coordinate q", "not linear"]),
    "q' times u": (lambda d: {"kd_eqs": [d.q.diff() * (1 + d.u)]}, ["kinematical equation 0", "not linear"]),
    "with u'": (lambda d: {"kd_eqs": [d.q.diff() - d.u.diff()]}, ["Derivative(u(t), t)", "kinematical equation 0"]),
    "with q''": (lambda d: {"kd_eqs": [d.q.diff(t, 2) - d.u]}, ["(t, 2)", "u.diff()"]),
    "an Eq": (lambda d: {"kd_eqs": [sm.Eq(d.q.diff(), d.u)]}, ["kd_eqs[0]", "equal to zero", "-u(t)"]),
    # coordinates and speeds
    "q a Symbol": (lambda d: {"q_ind": [sm.Symbol("q")]}, ["q_ind", "dynamicsymbols('q')"]),
    "q of something else": (lambda d: {"q_ind": [f(d.c)]}, ["q_ind", "f(c)", "function of time"]),
    "q twice": (lambda d: {"q_ind": [d.q, d.q]}, ["q is listed twice in q_ind"]),
    "u twice": (lambda d: {"u_ind": [d.u, d.u]}, ["u is listed twice in u_ind"]),
    "q also in u": (lambda d: {"u_ind": [d.q]}, ["q is listed both", "symbol of its own"]),
    "u a derivative": (lambda d: {"u_ind": [d.q.diff()]}, ["u_ind", "Derivative(q(t), t)", "kd_eqs"]),
    "no u": (lambda d: {"u_ind": [], "kd_eqs": [d.q.diff()]}, ["u_ind is empty"]),
    "frame": (lambda d: {"frame": "N"}, ["frame must be the inertial ReferenceFrame", "'N'"]),
    # names
    "two of one name": (load(lambda d: sm.Symbol("m", positive=True)), ["'m'", "assumptions", "rename"]),
    "Dummy beside Symbol": (load(lambda d: d.m * sm.Dummy("x") * sm.Dummy("x")), ["'_x'", "rename"]),
    "a parameter named as a coordinate": (load(lambda d: sm.Symbol("q")), ["'q'", "q(t)", "rename"]),
    "an output named as a state": (lambda d: {"outputs": {"u": d.q}}, ["output", "speed u", "sol['u']", "rename"]),
    "another time": (load(lambda d: sm.sin(sm.Symbol("t", positive=True))), ["'t'", "assumptions"]),
    "a parameter named as a rate": (
        lambda d: {"points": [d.O.locatenew("H", d.F * d.N.x)], "forcelist": [(d.P, sm.Symbol("F_d") * d.N.y)]},
        ["'F_d'", "Derivative(F(t), t)", "rename"],
    ),
    "NUL": (load(lambda d: sm.Symbol("a\0b")), [r"'a\x00b'", "NUL"]),
    "half a surrogate pair": (load(lambda d: sm.Symbol("a\ud800")), [r"'a\ud800'", "surrogate"]),
    # symbols nobody defined
    "parameter not listed": (lambda d: {"parameters": [d.m, d.g]}, ["symbol l", "position of point P", "add it"]),
    "parameter twice": (lambda d: {"parameters": [d.m, d.g, d.l, d.m]}, ["m is listed twice in parameters"]),
    "parameter a string": (lambda d: {"parameters": ["m"]}, ["parameters holds 'm'", "Symbol"]),
    "parameter a list": (lambda d: {"parameters": [[d.m]]}, ["parameters holds [m]", "Symbol"]),
    "parameter of time": (lambda d: {"parameters": [d.F]}, ["parameters holds F(t)", "constant in time"]),
    "time as parameter": (lambda d: {"parameters": [t]}, ["time is not a parameter"]),
    "input not listed": (lambda d: {"inputs": []} | load(lambda d: d.F)(d), ["F(t)", "load 0", "inputs", "add it"]),
    "input twice": (lambda d: {"inputs": [d.F, d.F]}, ["F is listed twice in inputs"]),
    "input a Symbol": (lambda d: {"inputs": [d.c]}, ["inputs holds c", "dynamicsymbols('c')"]),
    "input a coordinate": (lambda d: {"inputs": [d.q]}, ["q is a coordinate or speed"]),
    "input a rate alone": (lambda d: {"inputs": [d.F.diff()]}, ["Derivative(F(t), t)", "without F(t)"]),
    # expressions
    "f(q)": (load(lambda d: f(d.q)), ["unknown function f(q(t))", "load 0 on point P", "dynamicsymbols"]),
    "f(c)": (load(lambda d: f(d.c)), ["unknown function f(c)", "load 0"]),
    "f'(q)": (load(lambda d: f(d.q).diff(t)), ["Derivative(f(q(t)), q(t))", "load 0"]),
    "tendon of no length": (
        lambda d: {"forcelist": [me.LinearSpring(d.m, me.LinearPathway(d.P, d.P.locatenew("P2", 0 * d.N.x)), d.l)]},
        ["load 0", "points P and P2 are the same"],
    ),
    "gamma": (load(lambda d: sm.gamma(d.q)), ["function gamma", "load 0", "use powers"]),
    "derivative by a parameter": (load(lambda d: sm.Derivative(d.F, d.c)), ["Derivative(F(t), c)", "load 0"]),
    "square of u' in a load": (load(lambda d: d.c * d.u.diff() ** 2), ["load 0 on point P", "not affine", "u1.diff()"]),
    "u' in a potential": (
        lambda d: {"potentials": [d.c * d.u.diff()]},
        ["Derivative(u(t), t)", "potential 0", "inertia"],
    ),
    "q'' in a load": (load(lambda d: d.q.diff(t, 2)), ["Derivative(q(t), (t, 2))", "load 0", "u.diff()"]),
    "open Piecewise": (load(lambda d: sm.Piecewise((d.q, d.q > 0))), ["load 0", "(value, True)"]),
    "u'' in an output": (lambda d: {"outputs": {"a": d.u.diff(t, 2)}}, ["output a", "(t, 2)"]),
    "dyadic as output": (lambda d: {"outputs": {"a": d.N.x | d.N.y}}, ["output a", "Dyadic", "scalar", "Matrix"]),
    "outputs a list": (lambda d: {"outputs": [d.q]}, ["outputs must be a dict"]),
    "vector as potential": (lambda d: {"potentials": [d.N.x]}, ["potential 0", "N.x", "scalar"]),
    "u in a potential": (lambda d: {"potentials": [d.c * d.u**2]}, ["potential 0 holds speeds"]),
    # numbers
    "infinite": (load(lambda d: sm.oo * d.c), ["oo", "load 0", "finite"]),
    "not a number": (body(mass=sm.nan), ["nan", "mass of body b", "finite"]),
    "zoo": (body(mass=sm.zoo), ["zoo", "mass of body b", "finite"]),
    "complex": (body(mass=sm.sqrt(-2)), ["I in the mass of body b", "finite real"]),
    "complex in disguise": (body(mass=sm.asin(2)), ["asin(2)", "mass of body b", "finite real"]),
    "too large": (body(mass=sm.exp(1000)), ["exp(1000)", "mass of body b", "finite"]),
    "float nan": (body(mass=float("nan")), ["nan", "mass of body b"]),
    "nan in a position": (after(lambda d: d.P.set_pos(d.O, sm.nan * d.A.x)), ["position of point P", "nan"]),
    "nan in an angle": (after(lambda d: d.A.orient_axis(d.N, d.N.z, sm.nan)), ["frame A", "nan"]),
    # bodies
    "no bodies": (lambda d: {"bodies": None}, ["at least one body", "bodies=["]),
    "body twice": (lambda d: {"bodies": [d.body, d.body]}, ["body bob is listed twice"]),
    "a name for a body": (lambda d: {"bodies": ["bob"]}, ["bodies[0] is 'bob'"]),
    "mass of u": (body(mass=lambda d: d.m * d.u), ["mass of body b holds speeds", "coordinates"]),
    "mass of q'": (body(mass=lambda d: d.m * d.q.diff()), ["mass of body b holds speeds", "coordinates"]),
    "mass of u'": (body(mass=lambda d: d.m * d.u.diff()), ["mass of body b", "derivative of a speed"]),
    "mass None": (body(mass=None), ["mass of body b", "None"]),
    "mass a matrix": (body(mass=sm.Matrix([1])), ["mass of body b", "Matrix([[1]])"]),
    "mass centre a string": (body(masscenter="P"), ["mass centre of body b", "'P'", "Point"]),
    "inertia a number": (rigid(lambda d: (5, d.P)), ["inertia of body b is 5", "not a Dyadic", "inertia"]),
    "inertia None": (rigid(lambda d: None), ["inertia of body b is None", "(Dyadic, Point)"]),
    "inertia of q": (rigid(lambda d: (d.q * me.outer(d.A.x, d.A.x), d.P)), ["inertia of body b must be constant"]),
    "inertia in two frames": (rigid(lambda d: (d.c * me.outer(d.A.x, d.N.x), d.P)), ["inertia of body b", "A and N"]),
    "inertia not symmetric": (rigid(lambda d: (d.c * me.outer(d.A.x, d.A.y), d.P)), ["not symmetric in frame A"]),
    "inertia about a far point": (rigid(lambda d: (me.inertia(d.A, 1, 1, 1), NOWHERE)), ["inertia point Z", "body b"]),
    # frames and points
    "frame of a body": (body(frame=FAR, inertia=lambda d: (me.inertia(d.A, 1, 1, 1), d.P)), ["frame Z", "orient_axis"]),
    "load in a far frame": (lambda d: {"forcelist": [(d.P, FAR.x)]}, ["frame Z", "load 0", "Z.orient_axis"]),
    "torque on a far frame": (lambda d: {"forcelist": [(FAR, d.N.x)]}, ["frame Z", "load 0", "Z.orient_axis"]),
    "force on a far point": (lambda d: {"forcelist": [(NOWHERE, d.N.x)]}, ["point Z", "load 0", "set_vel(N, 0)"]),
    "body at a far point": (body(masscenter=NOWHERE), ["point Z of body b", "locatenew", "set_vel(N, 0)"]),
    "nothing at rest": (after(lambda d: d.O._vel_dict.clear()), ["point P of body bob", "O.set_vel(N, 0)"]),
    "a far point to show": (lambda d: {"points": [NOWHERE]}, ["point Z of points"]),
    "a far frame to show": (lambda d: {"frames": [FAR]}, ["frame Z in frames"]),
    "no point": (lambda d: {"points": ["P"]}, ["points is 'P'", "Point"]),
    "no frame": (lambda d: {"frames": [d.P]}, ["frames is P", "ReferenceFrame"]),
    "no angular velocity": (
        after(lambda d: d.A._ang_vel_dict.clear(), lambda d: d.N._ang_vel_dict.clear()),
        ["frame A", "A.set_ang_vel"],
    ),
    # velocities
    "velocity square in u": (after(lambda d: d.P.set_vel(d.N, d.u**2 * d.A.y)), ["velocity of point P", "linear"]),
    "velocity sine of u": (after(lambda d: d.P.set_vel(d.N, sm.sin(d.u) * d.A.y)), ["velocity of point P", "linear"]),
    "angular velocity of u³": (
        after(lambda d: d.A.set_ang_vel(d.N, d.u**3 * d.N.z)),
        ["angular velocity of frame A", "linear"],
    ),
    "velocity with u'": (after(lambda d: d.P.set_vel(d.N, d.u.diff() * d.A.y)), ["velocity of point P", "(u(t), t)"]),
    "position of u": (after(lambda d: d.P.set_pos(d.O, d.u * d.N.x)), ["position of point P holds speeds"]),
    "angle of u": (
        after(lambda d: d.A.orient_axis(d.N, d.N.z, d.u), lambda d: d.A.set_ang_vel(d.N, d.u * d.N.z)),
        ["orientation of frame A holds speeds"],
    ),
    # loads
    "a scalar": (lambda d: {"forcelist": [(d.P, d.c)]}, ["load 0 on point P is c", "not a Vector", "N.x"]),
    "on a body": (lambda d: {"forcelist": [(d.body, d.N.x)]}, ["forcelist[0]", "bob", "Point", "ReferenceFrame"]),
    "three parts": (lambda d: {"forcelist": [(d.P, d.N.x, 1)]}, ["forcelist[0]", "(Point, force)"]),
    "a bare vector": (lambda d: {"forcelist": d.N.x}, ["forcelist[0]", "(Point, force)"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_model(case: str, d: Pieces) -> None:
    change, words = WRONG[case]
    with pytest.raises(kc.ModelError) as error:
        d.model(**change(d))
    message = str(error.value)
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("loads", "no argument 'loads': write forcelist="),
        ("trace", "write outputs={name: expression}"),
        ("output", "write outputs="),
        ("potental", "write potentials="),
        ("xyzzy", "there are frame, q_ind, .*, name$"),
    ],
)
def test_arguments_that_are_none(d: Pieces, name: str, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        d.model(**{name: []})


def test_every_error_is_ours() -> None:
    assert issubclass(kc.ModelError, kc.KanecoreError)
    assert issubclass(kc.CompileError, kc.KanecoreError)
    assert issubclass(kc.SingularError, kc.KanecoreError)


def test_kanes_method_without_bodies_or_equations(d: Pieces) -> None:
    with pytest.raises(kc.ModelError, match=r"knows no bodies yet: pass bodies="):
        kc.Model.from_kane(me.KanesMethod(d.N, [d.q], [d.u], [d.q.diff() - d.u]))
    with pytest.raises(kc.ModelError, match="need 1 kinematical equations"):
        kc.Model.from_kane(me.KanesMethod(d.N, [d.q], [d.u], bodies=[d.body]))


def test_inertia_that_rounding_made_unsymmetric(d: Pieces) -> None:
    """An inertia tensor that is symmetric but for rounding is taken."""
    inertia = 0.3 * me.outer(d.A.x, d.A.y) + (0.1 + 0.2) * me.outer(d.A.y, d.A.x) + 9 * me.outer(d.A.z, d.A.z)
    d.model(**rigid(lambda d: (inertia, d.P))(d))


# ----------------------------------------------------------------------------------------------------- names
NAMES = [
    *('quote"', "apostrophe'", "back\\slash", "line\nbreak", "end */ of comment", "start /* of comment // line"),
    *("trigraph ??/", "trigraph ??(", "$(touch owned) `touch owned`; touch owned", "%s %n", "θ̇₁ ∂é漢字🙂", "", " "),
    *("tab\tand\rreturn\x07\x1b[31m", "int", "-O3", "../../etc/passwd", "x" * 1000),
]


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., kc.CompiledModel]]:
    """kc.compile with a cache of its own, in an empty folder that stays empty."""
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    yield kc.compile
    assert not list(here.iterdir())


def test_any_name_is_shown_unharmed(d: Pieces, compiled: Callable[..., kc.CompiledModel]) -> None:
    """Every name at every place at once: model, coordinate, speed, parameters, inputs, outputs, points, frames."""
    q, u = sm.Function("q*/\n q")(t), sm.Function('u" u')(t)
    parameters = [sm.Symbol(f"p{name}") for name in NAMES]
    inputs = [sm.Function(f"r{name}")(t) for name in NAMES]
    points = [d.O.locatenew(name, i * d.N.x) for i, name in enumerate(NAMES)]
    frames = [me.ReferenceFrame(f"f{name}") for name in NAMES]
    for frame in frames:
        frame.orient_axis(d.N, d.N.x, 1)
    bead = d.O.locatenew("bead", q * d.N.x)
    force = sum(a * b for a, b in zip(parameters, inputs, strict=True))
    model = kc.Model(
        *(d.N, [q], [u], [q.diff() - u]),
        bodies=[me.Particle("bead", bead, d.m)],
        forcelist=[(bead, force * d.N.x)],
        outputs={name: i * q for i, name in enumerate(NAMES, 1)},
        parameters=[d.m, *parameters],
        inputs=inputs,
        points=points,
        frames=frames,
        name="\n".join(NAMES),
    )
    values = {d.m: 2.0, **{s: float(i) for i, s in enumerate(parameters)}}
    dyn = compiled(model, parameters=values, kernels="all" if sweep.LONG else None)
    assert dyn.name == "\n".join(NAMES)
    assert dyn.parameter_names == ("m", *(f"p{name}" for name in NAMES))
    assert dyn.input_names == tuple(f"r{name}" for name in NAMES)
    assert dyn.output_names == tuple(NAMES)
    assert dyn.points == ("bead", *NAMES)
    assert dyn.frames == tuple(f"f{name}" for name in NAMES)
    r = np.arange(len(NAMES)) + 1.0
    assert dyn.udot(0.0, [0.0, 0.0], r=r) == [sum(i * (i + 1) for i in range(len(NAMES))) / 2]
    dyn.parameters[parameters[3]] = 0.0
    assert dyn.parameters["pline\nbreak"] == 0.0
    assert dyn.outputs(0.0, [0.5, 0.0], r=r)[1] == 1.0


@pytest.mark.compiler
@pytest.mark.parametrize("name", every(6, NAMES))
def test_names_are_inert_in_c(d: Pieces, name: str, tmp_path: Path) -> None:
    """No text of the user's stands in the C but in escaped string literals and a comment of harmless signs."""
    model = d.model(
        forcelist=[(d.P, sm.Symbol(f"p{name}") * d.N.y)],
        outputs={name: d.q},
        points=[d.O.locatenew(name, d.N.x)],
        name=name,
    )
    for group in ("core", "forces"):
        text = emit_group(model.description, group).text
        assert text.isascii()
        assert all(c.isprintable() or c == "\n" for c in text)
        assert "??" not in text.split('#include "kanecore.h"')[1]
        head = text.split("*/")[0]
        assert "/*" not in head[2:]
    source = tmp_path / "m.c"
    source.write_text(emit_library(model.description).text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{include_dir()}", "-fsyntax-only"]
    done = subprocess.run([*find_compiler(), *flags, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------ wrong calls of compile
def test_wrong_parameters(d: Pieces, compiled: Callable[..., kc.CompiledModel]) -> None:
    for key in ("mass", d.c):
        with pytest.raises(KeyError, match=f"no parameter of .* is called '{key}'; there are 'g', 'l', 'm'"):
            compiled(d.model(), parameters={key: 1.0})
    for value in (np.nan, np.inf, -np.inf):
        for bake in (False, True):
            with pytest.raises(ValueError, match=r"parameter 'm' is .*not finite"):
                compiled(d.model(), parameters={d.m: value}, bake=bake)
    for no_number in ("heavy", None, [1.0, 2.0], d.c):
        with pytest.raises(TypeError, match="real number"):
            compiled(d.model(), parameters={d.m: no_number})
    with pytest.raises(TypeError, match="mapping"):
        compiled(d.model(), parameters=[1.0])


@pytest.mark.parametrize("kernels", ["nonsense", ["rhs", "nonsense"], ["energies", "all", "nonsense"]])
def test_unknown_kernel(d: Pieces, compiled: Callable[..., kc.CompiledModel], kernels: Any) -> None:
    with pytest.raises(KeyError, match="no kernel 'nonsense'; there are rhs, udot"):
        compiled(d.model(), kernels=kernels)


@pytest.mark.compiler
def test_bad_flag(d: Pieces, compiled: Callable[..., kc.CompiledModel], tmp_path: Path) -> None:
    with pytest.raises(kc.CompileError) as error:
        compiled(d.model(), cflags=["--no-such-flag"])
    message = str(error.value)
    assert "--no-such-flag" in message
    logs = list((tmp_path / "cache").rglob("*.log"))
    assert len(logs) == 1
    assert str(logs[0]) in message


def test_no_compiler(d: Pieces, compiled: Callable[..., kc.CompiledModel], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    with pytest.warns(kc.KanecoreWarning, match="no C compiler"):
        dyn = compiled(d.model(), cache=False)
    assert "machine" in repr(dyn)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "identically zero"), (-1.0, "no finite real number|not defined"), (1e-320, "not defined")],
)
def test_baked_value_at_which_the_model_is_not_defined(
    d: Pieces, compiled: Callable[..., kc.CompiledModel], value: float, words: str
) -> None:
    force = {0.0: 1 / d.c, -1.0: sm.sqrt(d.c) + sm.log(d.c), 1e-320: 1 / d.c}[value]
    model = d.model(forcelist=[(d.P, d.g * d.N.y + force * d.A.y)])
    with pytest.raises(kc.ModelError, match=words):
        compiled(model, parameters={"c": value}, bake=True)


# ---------------------------------------------------------------------------- finite in, not finite out: raises
def slider(force: Callable[[Any], Any]) -> kc.Model:
    return particle(1, lambda P, N: [(P, force(me.dynamicsymbols("x")) * N.x)])


@pytest.mark.parametrize(
    ("force", "x"),
    [
        (lambda x: sm.sqrt(x), -1.0),
        (lambda x: sm.log(x), 0.0),
        (lambda x: sm.asin(x), 1.5),
        (lambda x: 1 / x, 0.0),
        (lambda x: x ** sm.Rational(1, 3), -1.0),
        (lambda x: sm.exp(x), 1e3),
        (lambda x: 1 / sm.sqrt(x**2), 0.0),
        (lambda x: (x - 1) / sm.Abs(x - 1), 1.0),
    ],
)
def test_expression_not_defined_at_a_state(compiled: Callable[..., kc.CompiledModel], force: Any, x: float) -> None:
    dyn = compiled(slider(force), parameters={"m": 2.0})
    with pytest.raises(FloatingPointError, match=r"udot of 'model' is not finite at t = 0.5, x = \["):
        dyn.udot(0.5, [x, 0.0])
    with pytest.raises(FloatingPointError, match="forcing"):
        dyn.forcing(0.5, [x, 0.0])
    assert np.isfinite(dyn.udot(0.5, [0.5, 0.0])).all()


def test_the_part_without_a_value_is_named() -> None:
    """The load or output, its expression and arguments; of a Piecewise the branch that counts."""
    (x, y, u, v), (N, origin), f = me.dynamicsymbols("x y u v"), ground(), sm.Function("f")
    P = origin.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    logarithm = sm.Piecewise((sm.log(y), x > 0), (0, True))
    model = kc.Model(
        *(N, [x, y], [u, v], [x.diff(t) - u, y.diff(t) - v]),
        bodies=[me.Particle("bead", P, 1)],
        forcelist=[(P, -x * N.x), (P, (sm.sqrt(x + 2) + f(y)) * N.y), (P, logarithm * N.y)],
        functions={f: kc.Spline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0], extrapolate=False)},
        outputs={"slope": 1 / y},
    )
    dyn = kc.compile(model)
    assert np.isfinite(dyn.rhs(0.0, [-1.0, 0.5, 0.0, 0.0])).all()
    for kernel, state, words in (
        (dyn.rhs, [-3.0, 0.5, 0.0, 0.0], "load 1 at P: sqrt(x + 2) where x + 2 = -1"),
        (dyn.rhs, [1.0, 4.0, 0.0, 0.0], "load 1 at P: f(y) where y = 4, a spline beyond its knots"),
        (dyn.linearize, [-1.0, 4.0, 0.0, 0.0], "load 1 at P: f(y) where y = 4, a spline beyond its knots"),
        (dyn.rhs, [1.0, 0.0, 0.0, 0.0], "load 2 at P: log(y) where y = 0"),
        (dyn.outputs, [-1.0, 0.0, 0.0, 0.0], "output slope: 1/y where y = 0"),
    ):
        with pytest.raises(kc.NonFiniteError) as caught:
            kernel(0.0, state)
        assert str(caught.value).endswith(f"x = {state}: {words}")
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(kc.IntegrationError, match=r"load 1 at P: f\(y\) where y = 3.*, a spline beyond its knots$"):
        dyn.simulate((0.0, 5.0), [-1.0, 2.0, 0.0, 3.0])
    with pytest.raises(kc.IntegrationError, match=r"load 1 at P: f\(y\) where y = 3.*, a spline beyond its knots; "):
        dyn.rollout([-1.0, 2.0, 0.0, 3.0], dt=0.01, steps=100)


def test_parameter_at_which_nothing_is_defined(compiled: Callable[..., kc.CompiledModel]) -> None:
    k = sm.Symbol("k")
    dyn = compiled(slider(lambda x: x * sm.sqrt(k)), parameters={k: -1.0, "m": 2.0})
    with pytest.raises(FloatingPointError, match="not finite"):
        dyn.rhs(0.0, [1.0, 0.0])
    dyn.parameters[k] = 4.0
    assert dyn.udot(0.0, [1.0, 0.0]) == [1.0]


def test_gimbal_lock(compiled: Callable[..., kc.CompiledModel]) -> None:
    """Body-fixed angular velocity and Euler angles: q̇ has no value where the middle angle is a right one."""
    q, u, (N, origin), B = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4"), ground(), me.ReferenceFrame("B")
    B.orient_body_fixed(N, q, "ZXZ")
    turning = B.ang_vel_in(N)
    B.set_ang_vel(N, sum((x * e for x, e in zip(u, B, strict=True)), me.Vector(0)))
    top = me.RigidBody("top", origin, B, 1, (me.inertia(B, 1, 2, 3), origin))
    model = kc.Model(N, q, u, [turning.dot(e) - x for e, x in zip(B, u, strict=True)], bodies=[top])
    dyn = compiled(model)
    assert np.isfinite(dyn.rhs(0.0, [0.1, 0.2, 0.3, 1, 2, 3])).all()
    for kernel in (dyn.rhs, dyn.qdot):
        with pytest.raises(FloatingPointError, match="not finite"):
            kernel(0.0, [0.1, 0.0, 0.3, 1, 2, 3])
    assert np.isfinite(dyn.udot(0.0, [0.1, 0.0, 0.3, 1, 2, 3])).all(), "the dynamics does not mind"


def two_sliders() -> kc.Model:
    """M = [[m1 + m2, m2], [m2, m2]] with pivots (m1 + m2) − m2²/m2 and m2."""
    (x1, x2, *u), (m1, m2), (N, origin) = me.dynamicsymbols("x1 x2 u1 u2"), sm.symbols("m1 m2"), ground()
    first = origin.locatenew("P1", x1 * N.x)
    second = first.locatenew("P2", x2 * N.x)
    bodies = [me.Particle("b1", first, m1), me.Particle("b2", second, m2)]
    return kc.Model(N, [x1, x2], u, rates([x1, x2], u), bodies=bodies, forcelist=[(second, N.x)])


@pytest.mark.parametrize(("values", "speed", "row"), [((1.0, 0.0), "u2", 1), ((0.0, 1.0), "u1", 0)])
def test_singular_mass_matrix_names_the_speed(
    compiled: Callable[..., kc.CompiledModel], values: tuple[float, float], speed: str, row: int
) -> None:
    dyn = compiled(two_sliders(), parameters=dict(zip(("m1", "m2"), values, strict=True)))
    for kernel in (dyn.rhs, dyn.udot):
        with pytest.raises(kc.SingularError) as error:
            kernel(0.25, [0.5, 1.0, 2.0, 3.0])
        assert f"'{speed}'" in str(error.value)
        assert "t = 0.25" in str(error.value)
        assert "[0.5, 1.0, 2.0, 3.0]" in str(error.value)
        assert error.value.row == row
        assert error.value.t == 0.25
        assert error.value.x.tolist() == [0.5, 1.0, 2.0, 3.0]
    assert np.isfinite(dyn.mass_matrix(0.0, np.zeros(4))).all(), "M itself is no trouble"


def test_pivot_at_the_tolerance(compiled: Callable[..., kc.CompiledModel]) -> None:
    """Pass needs pivot > 64 n ε M_ii, here 2⁻⁴⁵: equal is not enough, and a pivot twice as large is."""
    dyn = compiled(two_sliders())
    edge = 2.0**-45
    dyn.parameters = {"m1": edge, "m2": 1.0 - edge}  # their sum is 1, exactly
    with pytest.raises(kc.SingularError, match="'u1'"):
        dyn.udot(0.0, np.zeros(4))
    dyn.parameters = {"m1": 2 * edge, "m2": 1.0 - 2 * edge}
    assert np.isfinite(dyn.udot(0.0, np.zeros(4))).all()


def test_massless_from_the_start(d: Pieces, compiled: Callable[..., kc.CompiledModel]) -> None:
    """M = 0 by structure compiles; what needs its inverse says so, the rest works."""
    model = d.model(bodies=[me.Particle("b", d.P, 0)], forcelist=[])
    dyn = compiled(model, kernels="all", parameters={"l": 1.0})
    with pytest.raises(kc.SingularError, match="'u'"):
        dyn.rhs(0.0, [0.0, 0.0])
    assert dyn.qdot(0.0, [0.0, 2.0]) == [2.0]
    assert dyn.mass_matrix(0.0, [0.0, 0.0]) == [[0.0]]


def test_bad_bodies_are_computed_all_the_same(compiled: Callable[..., kc.CompiledModel]) -> None:
    """With the warning, as given: M need not be positive definite."""
    with pytest.warns(kc.KanecoreWarning, match="mass -2 of body b1"):
        dyn = compiled(two_sliders(), parameters={"m1": -2.0, "m2": 1.0})
    x = np.array([0.3, -0.2, 0.5, 0.7])
    expected = np.linalg.solve(dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x))
    np.testing.assert_allclose(dyn.udot(0.0, x), expected, rtol=1e-14, atol=1e-14)


def test_two_inertial_frames_of_one_name(d: Pieces) -> None:
    body = me.Particle("b", d.O.locatenew("P", d.q * me.ReferenceFrame("N").x), 1)
    with pytest.raises(kc.ModelError, match="another frame that is named N"):
        d.model(bodies=[body])


def test_containers(d: Pieces) -> None:
    with pytest.raises(kc.ModelError, match=r"kd_eqs is a dict; .*q1\.diff\(\) - u1"):
        d.model(kd_eqs={d.q.diff(): d.u})
    with pytest.raises(kc.ModelError, match=r"parameters is a dict; .*compile\(model, parameters="):
        d.model(parameters={d.m: 1.0})
    matrices = {"q_ind": sm.Matrix([d.q]), "u_ind": sm.Matrix([d.u]), "kd_eqs": sm.Matrix([d.q.diff() - d.u])}
    model = d.model(**matrices)
    assert (model.coordinates, model.speeds) == ((d.q,), (d.u,))
    with pytest.raises(TypeError, match=r"KanesMethod: .*Model\.from_kane"):
        kc.compile(me.KanesMethod(d.N, [d.q], [d.u], [d.q.diff() - d.u]))
    with pytest.raises(TypeError, match="not a int"):
        kc.Model.from_kane(3)


# ------------------------------------------------------------------------------------------ names that were meant
@pytest.mark.parametrize(
    "pair",
    [
        *("u_1 u1", "U1 u1", "q_{1} q1", "thteta theta", "tehta1 theta1", "omgea omega", "omeg omega", "omegaa omega"),
        *("not theta1 theta2", "not theta theta1", "not F1 F2", "not F E", "not tau1 tau", "not theta_d theta"),
        *("not v_d v", "not speed speed", "not alpha omega"),
    ],
)
def test_close_names(pair: str) -> None:
    *different, name, other = pair.split()
    assert is_close(name, other) is not bool(different)


def on_a_line(force: Any, **options: Any) -> kc.Model:
    x, v = me.dynamicsymbols("theta_1 u1")
    N, origin = ground()
    P = origin.locatenew("P", x * N.x)
    options = {"kd_eqs": [x.diff() - v], **options}
    return kc.Model(N, [x], [v], bodies=[me.Particle("P", P, 1)], forcelist=[(P, force * N.x)], **options)


def test_a_misspelt_speed_is_told() -> None:
    slip, c, F = me.dynamicsymbols("u_1"), sm.Symbol("c"), me.dynamicsymbols("F")
    with pytest.warns(kc.KanecoreWarning, match=r"u_1\(t\) in load 0 .*: is the speed u1\(t\) meant\?"):
        on_a_line(-c * slip)
    with pytest.warns(kc.KanecoreWarning, match=r"u_1\(t\) in the feedback for F"):
        on_a_line(F, feedback={F: -c * slip})
    with pytest.warns(kc.KanecoreWarning, match=r"theta1\(t\) in output y"):
        on_a_line(0, outputs={"y": me.dynamicsymbols("theta1")})
    assert on_a_line(-c * slip, inputs=[slip]).n_r == 1
    assert on_a_line(F + me.dynamicsymbols("F1") + me.dynamicsymbols("u1_d")).n_r == 3


@pytest.mark.parametrize("place", ["load", "output", "law", "potential", "kinematics", "velocity constraint", "rate"])
def test_inputs_given_exclude_others(place: str) -> None:
    F, slip, x, v = me.dynamicsymbols("F u_1 theta_1 u1")
    options: dict[str, dict[str, Any]] = {
        "load": {"force": F + slip},
        "output": {"outputs": {"y": slip}},
        "law": {"feedback": {F: slip}},
        "potential": {"potentials": [slip * x]},
        "kinematics": {"kd_eqs": [x.diff() - v - slip]},
        "velocity constraint": {"velocity_constraints": [v - slip]},
        "rate": {"force": F + slip.diff()},
    }
    with pytest.raises(kc.ModelError, match=r"u_1\(t\) in .* nor listed in inputs: is the speed u1\(t\) meant\?"):
        on_a_line(**{"force": F, "inputs": [F], **options[place]})


# ----------------------------------------------------------------------------------------- kinematical equations
def three(kd_eqs: Callable[[Any, Any], list[Any]], swap: bool = False) -> kc.Model:
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    N, origin = ground()
    P = origin.locatenew("P", q[0] * N.x + q[1] * N.y + q[2] * N.z)
    return kc.Model(N, *((u, q) if swap else (q, u)), kd_eqs(q, u), bodies=[me.Particle("P", P, 1)])


@pytest.mark.parametrize(
    ("kd_eqs", "named"),
    [
        (lambda q, u: [q[0].diff() - u[0], q[2].diff() - u[2]], "3 coordinates need 3 .* derivative of q2: add 1"),
        (lambda q, u: [q[1].diff() - u[0]], "derivative of q1 and q3: add 2"),
        (lambda q, u: [], "derivative of q1 and q2 and q3: add 3"),
        (lambda q, u: [q[2].diff() - u[2], q[2].diff() - u[0], q[0].diff() - u[1]], "singular.* derivative of q2$"),
        (lambda q, u: [a.diff() - b for a, b in zip([*q, q[0]], [*u, u[0]], strict=True)], "kd_eqs has 4"),
    ],
)
def test_the_coordinate_without_an_equation_is_named(kd_eqs: Callable[[Any, Any], list[Any]], named: str) -> None:
    with pytest.raises(kc.ModelError, match=named):
        three(kd_eqs)


def test_exchanged_coordinates_and_speeds() -> None:
    with pytest.raises(kc.ModelError, match=r"q and u are exchanged.*q1, q2, q3, listed among the speeds"):
        three(lambda q, u: [a.diff() - b for a, b in zip(q, u, strict=True)], swap=True)


@pytest.mark.parametrize("value", [sm.Array([1, 2]), np.array([1.0]), (1, 2), [1, 2]])
def test_outputs_are_scalars_vectors_points_or_matrices(value: Any) -> None:
    with pytest.raises(kc.ModelError, match=r"output y is a .*: write a scalar, a Vector or a Point"):
        on_a_line(0, outputs={"y": value})


def test_report_and_explanation_have_the_same_numbers() -> None:
    F, G = me.dynamicsymbols("F G")
    model = on_a_line(
        F * sm.Add(*(sm.sin(i * G) for i in range(1, 30))), feedback={G: sm.Symbol("k")}, outputs={"y": G}
    )
    for text in (model.report(), model.explain()):
        assert all(line in text for line in ("  load 0, force on", "  law 0, ", "  output 0, y"))
    assert "operations" in model.explain()
    assert "operations" not in model.explain(full=True)
