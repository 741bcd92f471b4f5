# SPDX-License-Identifier: BSD-3-Clause
"""Closed planar loops, cut open: ``constraints`` are the rows, linear in the speeds, that closed them."""

from typing import Any

import sympy as sm
import sympy.physics.mechanics as me
from sympy import cos, sin

from .particles import System, inertial, published_parameters, system, t, turned


def andrews_squeezer() -> System:
    """Andrews' squeezer mechanism: seven bodies, a motor torque and a spring (Hairer & Wanner II, section VII.7)."""
    values = published_parameters("andrews_squeezer")
    p = {symbol.name: symbol for symbol in values}
    q = be, th, ga, ph, de, om, ep = me.dynamicsymbols("beta theta gamma phi delta Omega epsilon")
    u = me.dynamicsymbols("wbeta wtheta wgamma wphi wdelta wOmega wepsilon")
    speeds = {angle.diff(t): speed for angle, speed in zip(q, u, strict=True)}
    N, origin = inertial()
    bodies = []

    def at(name: str, x: sm.Expr, y: sm.Expr) -> me.Point:
        point = origin.locatenew(name, x * N.x + y * N.y)
        point.set_vel(N, x.diff(t).subs(speeds) * N.x + y.diff(t).subs(speeds) * N.y)
        return point

    def body(k: int, angle: sm.Expr, x: sm.Expr, y: sm.Expr) -> me.ReferenceFrame:
        frame = turned(f"F{k}", N, N.z, angle, angle.diff(t).subs(speeds))
        centre = at(f"G{k}", x, y)
        inertia = me.inertia(frame, 0, 0, p[f"i{k}"])
        bodies.append(me.RigidBody(f"K{k}", centre, frame, p[f"m{k}"], (inertia, centre)))
        return frame

    rod, e4, f6 = be + th, p["e"] - p["ea"], p["zf"] - p["fa"]
    crank = body(1, be, p["ra"] * cos(be), p["ra"] * sin(be))
    body(2, rod, p["rr"] * cos(be) - p["da"] * cos(rod), p["rr"] * sin(be) - p["da"] * sin(rod))
    body(3, ga, p["xb"] + p["sa"] * sin(ga) + p["sb"] * cos(ga), p["yb"] - p["sa"] * cos(ga) + p["sb"] * sin(ga))
    x4, y4 = p["xa"] + p["zt"] * cos(de) + e4 * sin(ph + de), p["ya"] + p["zt"] * sin(de) - e4 * cos(ph + de)
    body(4, ph + de, x4, y4)
    body(5, de, p["xa"] + p["ta"] * cos(de) - p["tb"] * sin(de), p["ya"] + p["ta"] * sin(de) + p["tb"] * cos(de))
    x6, y6 = p["xa"] + p["u"] * sin(ep) + f6 * cos(om + ep), p["ya"] - p["u"] * cos(ep) + f6 * sin(om + ep)
    body(6, om + ep, x6, y6)
    body(7, ep, p["xa"] + p["ua"] * sin(ep) - p["ub"] * cos(ep), p["ya"] - p["ua"] * cos(ep) - p["ub"] * sin(ep))

    xd = p["sd"] * cos(ga) + p["sc"] * sin(ga) + p["xb"]
    yd = p["sd"] * sin(ga) - p["sc"] * cos(ga) + p["yb"]
    length = sm.sqrt((xd - p["xc"]) ** 2 + (yd - p["yc"]) ** 2)
    pull = -p["c0"] * (length - p["l0"]) / length
    loads = [(at("D", xd, yd), pull * ((xd - p["xc"]) * N.x + (yd - p["yc"]) * N.y)), (crank, p["mom"] * N.z)]

    px, py = p["rr"] * cos(be) - p["d"] * cos(rod), p["rr"] * sin(be) - p["d"] * sin(rod)
    closed = [
        px - p["ss"] * sin(ga) - p["xb"],
        py + p["ss"] * cos(ga) - p["yb"],
        px - p["e"] * sin(ph + de) - p["zt"] * cos(de) - p["xa"],
        py + p["e"] * cos(ph + de) - p["zt"] * sin(de) - p["ya"],
        px - p["zf"] * cos(om + ep) - p["u"] * sin(ep) - p["xa"],
        py - p["zf"] * sin(om + ep) + p["u"] * cos(ep) - p["ya"],
    ]
    result = system(N, q, u, bodies, loads, values)
    return result | {"constraints": [gap.diff(t).subs(speeds) for gap in closed]}


def lmd_four_bar() -> System:
    """Four-bar linkage of massless links in relative angles, particles at two joints (Learn Multibody Dynamics)."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    la, lb, lc, ln, m, g = sm.symbols("la lb lc ln m g")
    N, P1 = inertial()
    A = turned("A", N, N.z, q[0], u[0])
    B = turned("B", A, A.z, q[1], u[1])
    C = turned("C", B, B.z, q[2], u[2])
    points = [P1]
    for name, length, frame in (("P2", la, A), ("P3", lb, B), ("P4", lc, C)):
        points.append(points[-1].locatenew(name, length * frame.x))
        points[-1].v2pt_theory(points[-2], N, frame)
    bodies = [me.Particle(point.name, point, m) for point in points[1:3]]
    loads = [(point, -m * g * N.y) for point in points[1:3]]
    result = system(N, q, u, bodies, loads, {la: 0.8, lb: 2.0, lc: 1.0, ln: 2.0, m: 1.0, g: 9.81})
    return result | {"constraints": [points[-1].vel(N).dot(e) for e in (N.x, N.y)]}


def loop_four_bar() -> System:
    """Four-bar linkage of uniform rods between the pivots (0, 0) and (1.2, 0), cut between coupler and rocker."""
    result, ends = rods([((0.0, 0.0), [(0.4, 1.1), (1.0, 2.3)]), ((1.2, 0.0), [(0.8, 1.7)])], torque=2.5)
    N, gap = result["frame"], ends[0].vel(result["frame"]) - ends[1].vel(result["frame"])
    _, coupler, rocker = result["bodies"]
    attach = {i: (coupler, ends[0], rocker, ends[1], axis) for i, axis in enumerate((N.x, N.y))}
    return result | {"constraints": [gap.dot(N.x), gap.dot(N.y)], "attach": attach}


def loop_slider_crank() -> System:
    """Slider-crank of uniform rods, the slider a particle on the x axis with a force along it; the guide is cut."""
    result, (end,) = rods([((0.0, 0.0), [(0.15, 0.8), (0.5, 1.3)])], torque=6.0)
    N, (ms, F) = result["frame"], sm.symbols("ms F")
    result["bodies"].append(me.Particle("slider", end, ms))
    result["loads"] += [(end, -ms * result["g"] * N.y), (end, F * N.x)]
    result["parameters"] |= {ms: 0.9, F: -40.0}
    guide = end.locatenew("guide", 0)
    guide.set_vel(N, 0)
    attach = {0: (result["bodies"][-1], end, N, guide, N.y)}
    return result | {"constraints": [end.vel(N).dot(N.y)], "attach": attach}


def rods(chains: list[Any], torque: float) -> tuple[System, list[me.Point]]:
    """Chains of uniform slender rods in absolute angles, a torque on the first; (pivot, [(length, mass), ...]) each."""
    n = sum(len(links) for _, links in chains)
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    g, T = sm.symbols("g T")
    values: dict[sm.Symbol, float] = {g: 9.81, T: torque}
    N, origin = inertial()
    bodies, loads, ends, i = [], [], [], 0
    for k, (pivot, links) in enumerate(chains, start=1):
        px, py = sm.symbols(f"px{k} py{k}")
        values |= dict(zip((px, py), pivot, strict=True))
        end = origin.locatenew(f"G{k}", px * N.x + py * N.y)
        end.set_vel(N, 0)
        for length, mass in links:
            L, m = sm.symbols(f"L{i + 1} m{i + 1}")
            values |= {L: length, m: mass}
            A = turned(f"A{i + 1}", N, N.z, q[i], u[i])
            start, centre = end, end.locatenew(f"C{i + 1}", L / 2 * A.x)
            end = start.locatenew(f"E{i + 1}", L * A.x)
            centre.v2pt_theory(start, N, A)
            end.v2pt_theory(start, N, A)
            inertia = me.inertia(A, 0, 0, m * L**2 / 12)
            bodies.append(me.RigidBody(f"rod{i + 1}", centre, A, m, (inertia, centre)))
            loads += [(centre, -m * g * N.y)] + ([(A, T * N.z)] if i == 0 else [])
            i += 1
        ends.append(end)
    return system(N, q, u, bodies, loads, values) | {"g": g}, ends
