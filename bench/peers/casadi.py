# SPDX-License-Identifier: BSD-3-Clause
"""CasADi: the recursive algorithms in its scalars, emitted as C."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import shared
import sides
from recursions import FREE, Functions, Robot, articulated, composite, rates
from sides import Arrays, Side
from slopes import Work
from tasks import Task

FORMS = {"composite": composite, "articulated": articulated}
LANES = 8
LARGEST = 50_000  # operations of a text: beyond, compilers take minutes
LIBRARIES = ("-lmvec",) if platform.libc_ver()[0] == "glibc" else ()

# A kernel of our signature around the function that CasADi wrote.
KERNEL = """
void kernel(double t, const casadi_real *x, const casadi_real *r, const casadi_real *c, double *work, casadi_real *out)
{
    const casadi_real *arg[5] = {x, x + JOINTS, r, c, x + STATES};
    casadi_real *res[1] = {out};
    casadi_f0(arg, res, 0, 0, 0);
}
"""

# Eight states in each variable; sines and cosines by the C library's own vectors where it has them.
LANES_HEAD = """
#include <math.h>
typedef double lanes __attribute__((vector_size(64)));
#if defined(__AVX512F__) && defined(__GLIBC__)
lanes _ZGVeN8v_sin(lanes), _ZGVeN8v_cos(lanes);
#define lanes_sin _ZGVeN8v_sin
#define lanes_cos _ZGVeN8v_cos
#elif defined(__AVX2__) && defined(__GLIBC__)
typedef double half __attribute__((vector_size(32)));
half _ZGVdN4v_sin(half), _ZGVdN4v_cos(half);
#define HALVES(name, f) static inline lanes name(lanes x) { half h[2]; __builtin_memcpy(h, &x, 64); \\
    h[0] = f(h[0]); h[1] = f(h[1]); __builtin_memcpy(&x, h, 64); return x; }
HALVES(lanes_sin, _ZGVdN4v_sin)
HALVES(lanes_cos, _ZGVdN4v_cos)
#else
static inline lanes lanes_sin(lanes x) { for (int i = 0; i < 8; i++) x[i] = sin(x[i]); return x; }
static inline lanes lanes_cos(lanes x) { for (int i = 0; i < 8; i++) x[i] = cos(x[i]); return x; }
#endif
#define casadi_real lanes
"""


class _Symbols(NamedTuple):
    """A robot with its parameters, its coordinates, speeds, inputs and efforts."""

    robot: Robot
    q: ca.SX
    u: ca.SX
    r: ca.SX
    p: ca.SX
    tau: ca.SX


def _symbols(mechanism: Any, numbers: bool) -> _Symbols:
    names = [] if numbers else mechanism.symbols()
    p = ca.SX.sym("p", len(names))
    symbols = dict(zip(names, ca.vertsplit(p), strict=True)) if names else {}
    robot = mechanism.robot(lambda name, number: symbols.get(name, float(number)))
    n, free = len(robot.bodies), FREE if robot.base else 0
    q, u = ca.SX.sym("q", n + free + bool(free)), ca.SX.sym("u", n + free)
    r = ca.SX.sym("r", mechanism.n_inputs)
    return _Symbols(robot, q, u, r, p, ca.vertcat(ca.SX.zeros(free), r, ca.SX.zeros(n - mechanism.n_inputs)))


def _udot(s: _Symbols, form: str, q: Sequence[Any], tau: ca.SX) -> ca.SX:
    return ca.vertcat(*FORMS[form](s.robot, q, ca.vertsplit(s.u), ca.vertsplit(tau), Functions(ca.sin, ca.cos)))


@cache
def function(mechanism: Any, numbers: bool, form: str) -> ca.Function:
    """u̇ of (q, u, r, p), in coordinates of the robot."""
    s = _symbols(mechanism, numbers)
    udot = _udot(s, form, ca.vertsplit(s.q), s.tau)
    return ca.Function("f", [s.q, s.u, s.r, s.p], [ca.densify(ca.cse(udot))])


@cache
def derivative(mechanism: Any, numbers: bool, kernel: str) -> ca.Function:
    """Function of (q, u, r, p) and a vector for a kernel of `slopes`, by the form that needs fewer operations."""
    forms = [_derivative(mechanism, numbers, kernel, form) for form in FORMS]
    return min(forms, key=lambda f: f.n_instructions())


def _derivative(mechanism: Any, numbers: bool, kernel: str, form: str) -> ca.Function:
    """u̇ where the coordinates have gone on by Y θ, and the efforts by some more, differentiated where both are zero."""
    s = _symbols(mechanism, numbers)
    theta, more = (ca.SX.sym(name, s.u.numel()) for name in ("theta", "more"))
    q = ca.vertsplit(s.q)
    moved = [a + b for a, b in zip(q, rates(s.robot, q, ca.vertsplit(theta)), strict=True)]
    udot, wrt = _udot(s, form, moved, s.tau + more), ca.vertcat(theta, s.u)
    vector = ca.SX.sym("vector", {"rhs_jvp": wrt.numel(), "rhs_vjp": s.u.numel()}.get(kernel, 0))
    found = {
        "linearize": lambda: ca.jacobian(udot, wrt).T,  # of which CasADi stores the columns
        "mass_matrix_inverse": lambda: ca.jacobian(udot, more),
        "rhs_jvp": lambda: ca.jtimes(udot, wrt, vector),
        "rhs_vjp": lambda: ca.jtimes(udot, wrt, vector, True),
    }[kernel]()
    zeros = ca.SX.zeros(2 * s.u.numel())
    there = ca.substitute(found, ca.vertcat(theta, more), zeros)
    return ca.Function("f", [s.q, s.u, s.r, s.p, vector], [ca.vec(ca.densify(ca.cse(there)))])


@cache
def text(f: ca.Function) -> str:
    """The C that CasADi emits, with a kernel of our signature."""
    generator = ca.CodeGenerator("f.c", {"with_header": False})
    generator.add(f)
    return generator.dump() + KERNEL.replace("JOINTS", str(f.size1_in(0))).replace(
        "STATES", str(f.size1_in(0) + f.size1_in(1))
    )


@cache
def lanes_text(f: ca.Function) -> str:
    """The same statements over eight states, as a user would write them by hand."""
    source = text(f)
    head = source[: source.index("/* Configuration this file")]
    source = source[source.index("/* f:(") :]
    statements, kernel = source[: source.index("CASADI_SYMBOL_EXPORT")], source[source.index("void kernel(") :]
    statements = re.sub(r"arg\[(\d)\]\? (arg\[\d\]\[\d+\]) : 0", r"\2", statements)
    statements = re.sub(r"^(  a\d+=)(-?[\d.]\S*);$", r"\1(lanes){} + \2;", statements, flags=re.MULTILINE)
    head = head.replace("casadi_real casadi_sq(", "static casadi_real casadi_sq(")
    return LANES_HEAD + head + re.sub(r"\b(sin|cos)\(", r"lanes_\1(", statements) + kernel


def _has_words(mechanism: Any) -> bool:
    """True for a mechanism that the recursions know."""
    return mechanism.robot is not None


def derive(mechanism: Any) -> list[Side]:
    """From nothing to C text, with parameters at run time."""
    if not _has_words(mechanism):
        return []

    def batch(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            function.cache_clear()
            text.cache_clear()
            text(function(mechanism, False, "composite"))
        return time.perf_counter() - start

    return [
        Side("casadi composite", [batch], None, operations=function(mechanism, False, "composite").n_instructions())
    ]


def first(task: Task) -> list[tuple[str, Callable[[], np.ndarray]]]:
    """From nothing to the first number."""
    if not _has_words(task.mechanism):
        return []

    def number() -> np.ndarray:
        function.cache_clear()
        text.cache_clear()
        f = function(task.mechanism, False, "composite")
        emitted = ca.external("f", str(shared.library(text(f), next(iter(shared.compilers())))))
        q, u = task.split(task.joint_x[0])
        return task.from_joints(np.array(emitted(q, u, task.r, task.parameters)).T)[0]

    return [("casadi composite", number)]


def in_c(task: Task) -> list[Side]:
    """Both forms with both compilers."""
    if not _has_words(task.mechanism):
        return []
    offered = []
    for form in FORMS:
        f = function(task.mechanism, task.numbers, form)
        arrays = Arrays(task.joint_x, task.r, task.parameters, (f.size1_out(0),))
        for compiler in shared.compilers():
            addresses = shared.addresses(shared.library(text(f), compiler), "kernel")
            side = sides.in_c(f"casadi {form}", addresses, arrays, compiler=compiler, operations=f.n_instructions())
            offered.append(replace(side, result=task.from_joints(side.result)))
    return offered


control = in_c


def derivatives_in_c(work: Work) -> list[Side]:
    """Jacobians and products of its own recursions, with both compilers."""
    task = work.task
    f = derivative(task.mechanism, task.numbers, work.kernel)
    if f.n_instructions() > LARGEST:
        return []
    rows = np.hstack([task.x, np.tile(work.vector, (len(task.x), 1))])
    arrays, offered = Arrays(rows, task.r, task.parameters, (f.size1_out(0),)), []
    for compiler in shared.compilers():
        addresses = shared.addresses(shared.library(text(f), compiler), "kernel")
        offered.append(sides.in_c("casadi", addresses, arrays, compiler=compiler, operations=f.n_instructions()))
    return offered


def derivatives(work: Work) -> list[Side]:
    """Jacobians and products by CasADi's buffers, which the states are copied into."""
    task = work.task
    f, compiler = derivative(task.mechanism, task.numbers, work.kernel), next(iter(shared.compilers()))
    if f.n_instructions() > LARGEST:
        return []
    q, u, out = (np.zeros(n) for n in (f.size1_in(0), f.size1_in(1), f.size1_out(0)))
    trigger = _buffered(f, compiler, (q, u, task.r, task.parameters, work.vector, out))
    states, result = list(zip(*task.split(task.x), strict=True)), []
    for state in states:
        q[:], u[:] = state
        trigger()
        result.append(out.copy())
    facts = {"result": np.array(result), "operations": f.n_instructions(), "compiler": compiler}
    names = {"q": q, "u": u, "trigger": trigger}
    return [sides.in_python("casadi buffer", "q[:], u[:] = x; trigger()", states, names, **facts)]


def derivatives_in_batch(work: Work) -> list[Side]:
    """CasADi's map over all states."""
    task = work.task
    f = derivative(task.mechanism, task.numbers, work.kernel)
    if f.n_instructions() > LARGEST:
        return []
    (q, u), offered = task.split(work.rows), []
    for compiler in shared.compilers():
        mapped = ca.external("f", str(shared.library(text(f), compiler))).map(len(q))
        others = (np.tile(a, (len(q), 1)) for a in (task.r, task.parameters, work.vector))
        out = np.zeros((len(q), f.size1_out(0)))
        trigger = _bound(*mapped.buffer(), (q, u, *others, out))
        trigger()
        facts = {"result": out, "compiler": compiler, "operations": f.n_instructions()}
        offered.append(sides.rowwise("casadi map", "trigger()", q, {"trigger": trigger}, **facts))
    return offered


def _buffered(f: ca.Function, compiler: str, arrays: Sequence[np.ndarray]) -> Callable[[], None]:
    """A call of the emitted C on arrays, inputs and result, that CasADi is given once."""
    buffer, trigger = ca.external("f", str(shared.library(text(f), compiler))).buffer()
    return _bound(buffer, trigger, arrays)


def _bound(buffer: Any, trigger: Callable[[], None], arrays: Sequence[np.ndarray]) -> Callable[[], None]:
    for i, array in enumerate(arrays[:-1]):
        buffer.set_arg(i, memoryview(array.reshape(-1)))
    buffer.set_res(0, memoryview(arrays[-1].reshape(-1)))
    _BUFFERS.append((buffer, arrays))  # the trigger knows their addresses alone
    return trigger


_BUFFERS: list[Any] = []


def in_python(task: Task) -> list[Side]:
    """The emitted C, by an ordinary call and by CasADi's buffers, which the states are copied into."""
    if not _has_words(task.mechanism):
        return []
    f, compiler = function(task.mechanism, task.numbers, "composite"), next(iter(shared.compilers()))
    emitted = ca.external("f", str(shared.library(text(f), compiler)))
    states = [task.split(x) for x in task.joint_x]
    q, u, out = (np.zeros(n) for n in (f.size1_in(0), f.size1_in(1), f.size1_out(0)))
    trigger = _buffered(f, compiler, (q, u, task.r, task.parameters, out))

    result = []
    for state in states:
        q[:], u[:] = state
        trigger()
        result.append(out.copy())
    names = {"f": emitted, "r": task.r, "p": task.parameters, "q": q, "u": u, "trigger": trigger}
    facts = {"result": task.from_joints(np.array(result)), "operations": f.n_instructions(), "compiler": compiler}
    return [
        sides.in_python("casadi f(q, u, r, p)", "f(x[0], x[1], r, p)", states, names, **facts),
        sides.in_python("casadi buffer", "q[:], u[:] = x; trigger()", states, names, **facts),
    ]


def batch(task: Any) -> list[Side]:
    """CasADi's map over all states, and lanes in C."""
    if not _has_words(task.mechanism):
        return []
    return [*_mapped(task), *_lanes(task)]


def _mapped(task: Any) -> list[Side]:
    offered = []
    for form in FORMS:
        f = function(task.mechanism, task.numbers, form)
        for compiler in shared.compilers():
            mapped = ca.external("f", str(shared.library(text(f), compiler))).map(len(task.rows))
            q, u = task.split(task.joint_rows)
            r, p = (np.tile(a, (len(q), 1)) for a in (task.r, task.parameters))
            arrays = (q, u, r, p, np.zeros((len(q), f.size1_out(0))))
            trigger = _bound(*mapped.buffer(), arrays)
            trigger()
            facts = {"result": task.from_joints(arrays[-1]), "compiler": compiler, "operations": f.n_instructions()}
            offered.append(sides.rowwise("casadi map", "trigger()", arrays[0], {"trigger": trigger}, **facts))
    return offered


def _lanes(task: Any) -> list[Side]:
    """States lie in lanes from the start: nothing is transposed."""
    blocks = np.ascontiguousarray(task.joint_rows.reshape(-1, LANES, task.joint_rows.shape[1]).transpose(0, 2, 1))
    r, p = (np.repeat(a[:, None], LANES, axis=1) for a in (task.r, task.parameters))
    offered = []
    for form in FORMS:
        f = function(task.mechanism, task.numbers, form)
        arrays = Arrays(blocks, r, p, (f.size1_out(0), LANES))
        for compiler in shared.compilers():
            library = shared.library(lanes_text(f), compiler, (*shared.FLAGS, "-Wno-psabi"), libraries=LIBRARIES)
            side = sides.in_c("casadi lanes", shared.addresses(library, "kernel"), arrays, compiler=compiler)
            result = side.result.transpose(0, 2, 1).reshape(-1, f.size1_out(0))
            facts = {"result": task.from_joints(result), "per": LANES, "operations": f.n_instructions()}
            offered.append(replace(side, **facts))
    return offered


def integrate(problem: Any) -> list[Any]:
    """The emitted C, reached by buffers, in SciPy's integrator."""
    task = problem.task
    if not _has_words(task.mechanism) or task.mechanism.to_joints is not None or task.mechanism.quaternion:
        return []
    f = function(task.mechanism, task.numbers, "composite")
    n = f.size1_out(0)
    q, u, out = (np.zeros(n) for _ in range(3))
    trigger = _buffered(f, next(iter(shared.compilers())), (q, u, task.r, task.parameters, out))

    def rhs(_: float, x: np.ndarray) -> np.ndarray:
        q[:], u[:] = x[:n], x[n:]
        trigger()
        return np.concatenate([u, out])

    return [("casadi buffer + scipy DOP853", lambda: problem.by_scipy(rhs))]
