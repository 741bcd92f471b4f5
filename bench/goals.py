# SPDX-License-Identifier: BSD-3-Clause
"""Goals of kanecore's speed, as ratios within one run: a row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from report import Report, Row

Value = Callable[[Row, Sequence[Row]], float | str]
BOTH_CORES = 1.1


def least(row: Row) -> float | str:
    """The least time, in the unit of its table; words where there is none."""
    return row.get("ns_min", row.get("ms_min", ""))


def ratio(ours: Row, theirs: Sequence[Row]) -> float:
    """Ratio of the least times; the best of theirs counts."""
    return least(ours) / min(least(row) for row in theirs)


def drifts(ours: Row, theirs: Sequence[Row]) -> float:
    """Ratio of the drifts of energy; the best of theirs counts."""
    return ours["drift"] / min(row["drift"] for row in theirs)


def at_equal_error(name: str) -> Value:
    """The ratio of steps or of times that a table of stiff integrations holds."""
    return lambda ours, _: ours[name]


def thirds_of_median(ours: Row, _: Sequence[Row]) -> float:
    """p99.9 in units of three medians."""
    return ours["p99.9/p50"] / 3


def missing_share(ours: Row, _: Sequence[Row]) -> float:
    """0.7 of the peak in units of what is reached."""
    return 0.7 / ours["share"]


def in_units(name: str, unit: float) -> Value:
    """A number of ours in a unit of its own."""
    return lambda ours, _: ours[name] / unit


def two_over_one(ours: Row, _: Sequence[Row]) -> float | str:
    """Two threads over one; words where the machine does not give both cores: two loops take longer than one alone."""
    return ours["two/one"] if ours["loops"] < BOTH_CORES else ""


class Goal(NamedTuple):
    """A work of ours and the same of others, by script, table and case; what is measured is at most ``at_most``."""

    work: str
    against: str
    at_most: float
    table: tuple[str, str]
    ours: str
    theirs: tuple[str, ...] = ()
    value: Value = ratio


IN_C, IN_PYTHON, BATCH = ("evaluate", "u̇ in C"), ("evaluate", "u̇ from Python"), ("batch", "u̇ per state")
CONTROL, PEAK = ("control", "calls one by one"), ("peak", "share of the peak")
ROLLOUT, FROM_FILE = ("rollout", "a step of RK4"), ("compile", "file to machine code")
DERIVATIVES = ("derivatives", "derivatives from Python")
PRODUCTS = ("derivatives", "derivatives beside rhs, in C")
BESIDE = ("derivatives", "derivatives beside peers, from Python")
GROUPS = ("compile", "derivatives")
TWO_THREADS = ("batch", "two threads")
INTEGRATION, STIFF = ("integrate", "integration"), ("stiff", "ours over theirs at equal errors")
FRICTION = ("friction", "friction of reactions")
CART = "cart 5 relative numbers"
PYDY = ("pydy + scipy DOP853",)
TAYLOR = ("heyoka taylor 1e-08", *(f"heyoka taylor 1e-08, unrolled {form}" for form in ("composite", "articulated")))
MJ_FORWARD = "mujoco mj_forward"
ARM, TREE, BICYCLE = "arm7 numbers", "tree30 numbers", "whipple_bicycle numbers"
FILES = ("panda", "quadruped", "humanoid")
PINOCCHIO = ("Pinocchio, C++", ("pinocchio aba local, C++", "pinocchio aba world, C++"))
PIN_ABA = ("pin.aba", ("pinocchio aba",))
FORMS = ("casadi composite", "casadi articulated")
BETTER_FORM = ("CasADi, better form", FORMS)
LANES = ("CasADi, lanes by hand", ("casadi lanes",))


def _goal(work: str, at_most: float, table: tuple[str, str], ours: str, others: tuple[str, tuple[str, ...]]) -> Goal:
    return Goal(work, others[0], at_most, table, ours, others[1])


GOALS = (
    _goal("arm, C, numbers", 0.58, IN_C, f"{ARM}: kanecore", ("CasADi CRBA + factorization", FORMS[:1])),
    _goal("arm, C, parameters", 0.54, IN_C, "arm7: kanecore", ("CasADi CRBA + factorization", FORMS[:1])),
    _goal("tree, C", 0.60, IN_C, f"{TREE}: kanecore", BETTER_FORM),
    _goal("tree, a state in a batch", 0.70, BATCH, f"{TREE}: kanecore", LANES),
    *(_goal(f"cart, {n} links, C", 0.68, IN_C, f"cart {n} relative numbers: kanecore", BETTER_FORM) for n in (20, 40)),
    *(
        _goal(f"cart, {n} links, absolute, C", 1.0, IN_C, f"cart {n} absolute numbers: kanecore", BETTER_FORM)
        for n in (20, 40)
    ),
    _goal("arm, Python, out=", 0.085, IN_PYTHON, f"{ARM}: kanecore udot(out=)", PIN_ABA),
    _goal("arm, a state in a batch", 0.048, BATCH, f"{ARM}: kanecore", ("CasADi map", ("casadi map",))),
    _goal("arm, a state in a batch, C", 0.70, BATCH, f"{ARM}: kanecore", LANES),
    _goal(
        "bicycle, a state in a batch",
        0.3,
        BATCH,
        f"{BICYCLE}: kanecore",
        ("its scalar kernel", ("kanecore, scalar kernel",)),
    ),
    _goal(
        "bicycle, rhs from Python",
        0.2,
        IN_PYTHON,
        f"{BICYCLE}: kanecore rhs(out=)",
        ("PyDy, faster solver", ("pydy rhs, numpy", "pydy rhs, sympy")),
    ),
    *(
        Goal(f"arm, {n} states, two threads", "one", most, TWO_THREADS, f"arm7, {n} states", value=two_over_one)
        for n, most in ((4096, 0.62), (65536, 0.53))
    ),
    Goal("rrp, a state in a batch", "8.8 ns", 1.0, BATCH, "rrp numbers: kanecore", value=in_units("ns_min", 8.8)),
    _goal("arm, a step of a rollout", 0.02, ROLLOUT, f"{ARM}: kanecore", ("MuJoCo's rollout", ("mujoco rollout",))),
    *(
        _goal(f"{file}.xml, {work}", most, ("mjcf", table), f"{file}: {side}", ("MuJoCo", (peer,)))
        for file in ("humanoid", "ant", "half_cheetah", "pusher")
        for work, most, table, side, peer in (
            ("Python, out=", 0.25, "u̇ from Python", "kanecore udot(out=)", MJ_FORWARD),
            ("a step of a rollout", 0.1, "a step of RK4", "kanecore", "mujoco rollout"),
        )
    ),
    Goal("humanoid.xml, file to u̇", "3 s", 1.0, ("mjcf", "file to u̇"), "humanoid: compiled", value=in_units("s", 3)),
    *(
        Goal(f"carriage, {work}", "the same", most, ("closed_loops", "growth"), case, value=in_units("ratio", 1))
        for work, most, case in (
            ("32 loops over 2", 18, "32 loops beside 2"),
            ("128 loops over 32", 4.5, "128 loops beside 32"),
            ("32 loops, linearize over u̇", 60, "32 loops: linearize beside u̇"),
        )
    ),
    _goal("carriage, 32 loops", 0.1, ("closed_loops", "u̇ of n loops"), "32 loops: kanecore", ("MuJoCo", (MJ_FORWARD,))),
    _goal("arm, rollout, two threads", 0.59, ROLLOUT, f"{ARM}: kanecore, 2 threads", ("one", ("kanecore",))),
    *(
        _goal(f"{robot}, {work}", at_most, table, f"{robot} numbers: {side}", others)
        for robot in FILES
        for work, at_most, table, side, others in (
            ("C", 0.25, IN_C, "kanecore", PINOCCHIO),
            ("Python, out=", 0.15, IN_PYTHON, "kanecore udot(out=)", PIN_ABA),
            ("a state in a batch", 0.70, BATCH, "kanecore", LANES),
        )
    ),
    *(
        Goal(f"{robot}, file to machine code, {way}", f"{most} ms", 1.0, FROM_FILE, robot, value=in_units(way, most))
        for robot, cold in zip(FILES, (500, 1500, 6000), strict=True)
        for way, most in (("cold", cold), ("cached", 50))
    ),
    *(
        Goal(f"cart, 5 links, 10 s, {work}", against, at_most, INTEGRATION, f"{CART}: kanecore dop853", theirs, value)
        for work, against, at_most, theirs, value in (
            ("time", "PyDy + SciPy's DOP853", 1 / 40, PYDY, ratio),
            ("drift", "PyDy + SciPy's DOP853", 1.0, PYDY, drifts),
            ("time beside Taylor", "heyoka, fastest form", 1 / 8, TAYLOR, ratio),
        )
    ),
    *(
        Goal(f"{problem}, {work}", against, at_most, STIFF, f"{problem}: {peer}", (), at_equal_error(column))
        for problem in ("van der Pol", "damped pendulum")
        for work, against, at_most, peer, column in (
            ("steps", "Radau", 1.5, "radau", "steps"),
            ("time", "Radau", 1 / 50, "radau", "ms"),
            ("time beside CVODE", "CVODE", 0.5, "cvode", "ms"),
        )
    ),
    *(
        Goal(
            f"{case}, a change of mode",
            "an event with a reset",
            3.0,
            ("contacts", "a change of mode beside an event"),
            case,
            value=in_units("ratio", 1),
        )
        for case in ("bounce", "stick and slip")
    ),
    # 4.9: docs/developers/design.md, "Friction of reactions", says why.
    _goal("slider-crank, 4 frictions, C", 2.5, FRICTION, "slider-crank: 4 frictions", ("without", ("0 frictions",))),
    *(
        _goal(f"{model}, {call}", most, DERIVATIVES, f"{model}: {call}", ("rhs", ("rhs",)))
        for model, most in (("arm7", 3.0), ("anymal_c", 3.0), ("four_bar", 4.0))
        for call in ("rhs_jvp", "rhs_vjp")
    ),
    *(
        _goal(f"{model}, {call}, C", most, PRODUCTS, f"{model}: {call}", ("rhs", ("rhs",)))
        for models, most in (
            (("arm7", "panda", "anymal_c", "g1"), 3.0),
            (("four_bar", "five_bar_bodies", "stewart_platform"), 4.0),
        )
        for model in models
        for call in ("rhs_tangent", "rhs_gradient")
    ),
    Goal("panda, rhs, C", "350 ns", 1.0, PRODUCTS, "panda: rhs", value=in_units("ns_min", 350)),
    Goal(
        "four_bar, a column of linearize, C",
        "rhs_tangent",
        1 / 3.5,
        PRODUCTS,
        "four_bar: linearize",
        value=in_units("column", 1),
    ),
    *(
        _goal(f"{model}, linearize(out=)", 1.0, DERIVATIVES, f"{model}: linearize(out=)", ("linearize", ("linearize",)))
        for model in ("arm7", "anymal_c", "four_bar")
    ),
    *(
        _goal(
            f"{model}, rhs_hessian",
            1.0,
            DERIVATIVES,
            f"{model}: rhs_hessian",
            ("through CasADi", ("rhs_hessian through CasADi",)),
        )
        for model in ("arm7", "four_bar")
    ),
    *(
        Goal(f"{case}, compiled", f"{most} s", 1.0, GROUPS, case, value=in_units("s", most))
        for case, most in (("g1: linearize", 2), ("g1: tangent", 5), ("g1: gradient", 5), ("chain of 300: core", 15))
    ),
    *(
        Goal(
            f"{model}, {call}, Python",
            f"{most} µs",
            1.0,
            DERIVATIVES,
            f"{model}: {call}",
            (),
            in_units("ns_min", 1e3 * most),
        )
        for model, call, most in (
            ("arm7", "rhs_jvp", 1),
            ("arm7", "rhs_vjp", 1),
            ("arm7", "inverse_dynamics_jvp", 0.8),
            ("arm7", "inverse_dynamics_vjp", 0.8),
            ("arm7", "rhs_hessian", 15),
            ("four_bar", "rhs_hessian", 4),
            ("anymal_c", "rhs_hessian", 20),
        )
    ),
    *(
        _goal(f"{model}, {call}{rows}", 6.0, DERIVATIVES, f"{model}: {call}{rows}", ("rollout", (f"rollout{rows}",)))
        for model in ("arm7", "anymal_c", "four_bar")
        for call, rows in (
            ("rollout_vjp", ""),
            ("rollout_vjp", ", 512 rows"),
            ("rollout_vjp by parameters", ", 512 rows"),
        )
    ),
    *(
        _goal(
            f"{robot}, {call}, Python",
            most,
            BESIDE,
            f"{robot}, {call}: kanecore",
            (f"pin.{theirs}", (f"pinocchio {theirs}",)),
        )
        for call, theirs, goals_of in (
            ("linearize", "computeABADerivatives", (("panda", 0.45), ("quadruped", 0.55), ("humanoid", 0.55))),
            ("mass_matrix_inverse", "computeMinverse", (("panda", 0.55), ("quadruped", 0.55), ("humanoid", 0.55))),
        )
        for robot, most in goals_of
    ),
    Goal("arm, control loop, p99.9", "3 medians", 1.0, CONTROL, f"{ARM}: kanecore", value=thirds_of_median),
    Goal("0.7 of the peak", "arm in a batch", 1.0, PEAK, "arm7: batch", value=missing_share),
)


def goals(reports: Sequence[Report]) -> list[Row]:
    """Rows of a run for them; figures that it did not measure are empty."""
    tables = {(r.name, title): {row["case"]: row for row in rows} for r in reports for title, rows in r.tables.items()}
    return [_row(goal, tables.get(goal.table, {})) for goal in GOALS]


def _row(goal: Goal, rows: Mapping[str, Row]) -> Row:
    row: Row = {"case": goal.work, "against": goal.against, "at most": goal.at_most, "measured": "", "met": ""}
    model = goal.ours.partition(":")[0]
    theirs = [rows[f"{model}: {name}"] for name in goal.theirs if f"{model}: {name}" in rows]
    ours = rows.get(goal.ours, {})
    timed = [r for r in theirs if isinstance(least(r), float)]
    if ours and len(timed) == len(goal.theirs) and ours.get("share") != "":
        row["measured"] = measured = goal.value(ours, timed)
        row["met"] = "" if measured == "" else "yes" if measured <= goal.at_most else "missed"
    return row
