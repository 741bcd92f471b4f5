# SPDX-License-Identifier: BSD-3-Clause
"""Andrews' squeezing mechanism: seven planar bodies in three loops, driven by a motor against a stiff spring.

Source: W. Schiehlen (ed.), *Multibody Systems Handbook*, Springer 1990; E. Hairer & G. Wanner, *Solving Ordinary
Differential Equations II*, Springer 1996, section VII.7, with its symbols, values and order of the six constraints; the
problem "andrews" of the *Test Set for IVP Solvers* (F. Mazzia & C. Magherini).  Its equations are those of the bodies
K1 ... K7 as they are described here.  The motor's torque mom is constant and turns the crank K1 by beta; it is steady
for fractions of a second only.  The multipliers of the source have the opposite sign.  Licence: BSD-3-Clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._dimensions import ANGLE, INERTIA, LENGTH, MASS, RATE, STIFFNESS, TORQUE, of

if TYPE_CHECKING:
    from kanecore.model import Model

PARAMETERS = {
    "m1": 0.04325,
    "m2": 0.00365,
    "m3": 0.02373,
    "m4": 0.00706,
    "m5": 0.07050,
    "m6": 0.00706,
    "m7": 0.05498,
    "i1": 2.194e-6,
    "i2": 4.410e-7,
    "i3": 5.255e-6,
    "i4": 5.667e-7,
    "i5": 1.169e-5,
    "i6": 5.667e-7,
    "i7": 1.912e-5,
    "xa": -0.06934,
    "ya": -0.00227,
    "xb": -0.03635,
    "yb": 0.03273,
    "xc": 0.014,
    "yc": 0.072,
    "d": 0.028,
    "da": 0.0115,
    "e": 0.02,
    "ea": 0.01421,
    "rr": 0.007,
    "ra": 0.00092,
    "ss": 0.035,
    "sa": 0.01874,
    "sb": 0.01043,
    "sc": 0.018,
    "sd": 0.02,
    "ta": 0.02308,
    "tb": 0.00916,
    "u": 0.04,
    "ua": 0.01228,
    "ub": 0.00449,
    "zf": 0.02,
    "zt": 0.04,
    "fa": 0.01421,
    "c0": 4530.0,
    "l0": 0.07785,
    "mom": 0.033,
}

# The start of the source.
STATE = {
    "beta": -0.06171389001427645,
    "theta": 0.0,
    "gamma": 0.45527981916307037,
    "phi": 0.22266839016588588,
    "delta": 0.48736497954384256,
    "Omega": -0.22266839016588588,
    "epsilon": 1.2305474445498212,
    **dict.fromkeys(("wbeta", "wtheta", "wgamma", "wphi", "wdelta", "wOmega", "wepsilon"), 0.0),
}

DIMENSIONS = (
    of("m1 m2 m3 m4 m5 m6 m7", MASS)
    | of("i1 i2 i3 i4 i5 i6 i7", INERTIA)
    | of("xa ya xb yb xc yc d da e ea rr ra ss sa sb sc sd ta tb u ua ub zf zt fa l0", LENGTH)
    | of("c0", STIFFNESS)
    | of("mom", TORQUE)
    | of("beta theta gamma phi delta Omega epsilon", ANGLE)
    | of("wbeta wtheta wgamma wphi wdelta wOmega wepsilon", RATE)
)


def build() -> Model:
    """The mechanism; all angles but that of the crank depend on it."""
    import sympy as sm
    import sympy.physics.mechanics as me

    from kanecore.model import Model

    q = me.dynamicsymbols("beta theta gamma phi delta Omega epsilon")
    u = me.dynamicsymbols("wbeta wtheta wgamma wphi wdelta wOmega wepsilon")
    p = {name: sm.Symbol(name) for name in PARAMETERS}

    ground = me.ReferenceFrame("N")
    frames = []
    for k, turns in enumerate(((0,), (0, 1), (2,), (3, 4), (4,), (5, 6), (6,)), 1):
        frame = me.ReferenceFrame(f"F{k}")
        frame.orient_axis(ground, ground.z, sum(q[i] for i in turns))
        frame.set_ang_vel(ground, sum(u[i] for i in turns) * ground.z)
        frames.append(frame)
    crank, rod, sector, link4, link5, link6, link7 = frames
    origin = me.Point("O")
    origin.set_vel(ground, 0)
    a, b, c = (origin.locatenew(k.upper(), p[f"x{k}"] * ground.x + p[f"y{k}"] * ground.y) for k in "abc")
    pin = origin.locatenew("P", p["rr"] * crank.x)
    meeting = pin.locatenew("M", -p["d"] * rod.x)  # of rod, sector, link 4 and link 6
    left = a.locatenew("E", p["zt"] * link5.x)
    right = a.locatenew("H", -p["u"] * link7.y)
    hook = b.locatenew("D", p["sd"] * sector.x - p["sc"] * sector.y)

    centres = [
        (origin, p["ra"] * crank.x),
        (pin, -p["da"] * rod.x),
        (b, p["sb"] * sector.x - p["sa"] * sector.y),
        (left, (p["ea"] - p["e"]) * link4.y),
        (a, p["ta"] * link5.x + p["tb"] * link5.y),
        (right, (p["zf"] - p["fa"]) * link6.x),
        (a, -p["ub"] * link7.x - p["ua"] * link7.y),
    ]
    bodies = []
    for k, ((start, offset), frame) in enumerate(zip(centres, frames, strict=True), 1):
        centre = start.locatenew(f"G{k}", offset)
        bodies.append(me.RigidBody(f"K{k}", centre, frame, p[f"m{k}"], (me.inertia(frame, 0, 0, p[f"i{k}"]), centre)))
    stretched = hook.pos_from(c)
    length = sm.sqrt(sum(stretched.dot(e) ** 2 for e in (ground.x, ground.y)))
    ends = [
        (bodies[2], b.locatenew("M3", -p["ss"] * sector.y)),
        (bodies[3], left.locatenew("M4", -p["e"] * link4.y)),
        (bodies[5], right.locatenew("M6", p["zf"] * link6.x)),
    ]
    rows = [(bodies[1], meeting, body, end, e) for body, end in ends for e in (ground.x, ground.y)]
    return Model(
        ground,
        q[:1],
        u[:1],
        [q_i.diff() - u_i for q_i, u_i in zip(q, u, strict=True)],
        q_dependent=q[1:],
        configuration_constraints=[meeting.pos_from(end).dot(e) for *_, end, e in rows],
        u_dependent=u[1:],
        bodies=bodies,
        attach=dict(enumerate(rows)),
        forcelist=[(hook, -p["c0"] * (1 - p["l0"] / length) * stretched), (crank, p["mom"] * ground.z)],
        name="andrews_squeezer",
    )
