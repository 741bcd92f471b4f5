# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms of textbooks with the form in which the book, or its notation, writes their equations.

Each is built of bodies and forces.  What is typed in is compared with what kanecore prints: in value, and in operations
as `sympy.count_ops` counts them.  Speeds are the derivatives of coordinates: ``u1`` of ``q1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

__all__ = ["MECHANISMS", "Mechanism", "operations"]

Place = Sequence[str]


@dataclass(frozen=True)
class Mechanism:
    """A plane or spatial mechanism by the places of its mass centres.

    Attributes
    ----------
    name, source : str
    n : int
        Number of coordinates q1, q2, ...
    bodies : list of (mass, place) or (mass, place, inertia, angle)
        Place (x, y, z) in inertial axes; the angle is about z.
    forces : list of (number of a body, force)
        Weights and others, in inertial axes.
    torques : list of (number of a body, torque about z)
    forms : dict of kernel to list of expressions
        As the book writes them.
    """

    name: str
    source: str
    n: int
    bodies: Sequence[tuple[Any, ...]]
    forces: Sequence[tuple[int, Place]] = ()
    torques: Sequence[tuple[int, str]] = ()
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def _names(self) -> dict[str, Any]:
        t = me.dynamicsymbols._t
        names: dict[str, Any] = {"t": t}
        for i in range(1, self.n + 1):
            names[f"q{i}"], names[f"u{i}"] = me.dynamicsymbols(f"q{i} u{i}")
        for name in ("S", "I", "N", "C", "E", "Q", "beta", "gamma", "zeta", "lambda"):
            names.setdefault(name, sm.Symbol(name))
        return names

    def read(self, text: str) -> Any:
        return sm.sympify(str(text), self._names())

    def build(self) -> kc.Model:
        N, origin = me.ReferenceFrame("N"), me.Point("O")
        origin.set_vel(N, 0)
        q, u = (me.dynamicsymbols(f"{x}1:{self.n + 1}") for x in "qu")
        bodies, centres, frames = [], [], []
        for i, (mass, place, *turning) in enumerate(self.bodies):
            vector = sum((self.read(x) * e for x, e in zip(place, N, strict=False)), me.Vector(0))
            centres.append(origin.locatenew(f"P{i + 1}", vector))
            if turning:
                inertia, angle = map(self.read, turning)
                axes = N.orientnew(f"A{i + 1}", "Axis", (angle, N.z))
                rate = angle.diff(me.dynamicsymbols._t).subs(dict(zip([x.diff() for x in q], u, strict=True)))
                axes.set_ang_vel(N, rate * N.z)
                about = (me.inertia(axes, 0, 0, inertia), centres[i])
                bodies.append(me.RigidBody(f"B{i + 1}", centres[i], axes, self.read(mass), about))
            else:
                axes = N
                bodies.append(me.Particle(f"B{i + 1}", centres[i], self.read(mass)))
            frames.append(axes)
        loads = [
            (centres[i], sum((self.read(x) * e for x, e in zip(force, N, strict=False)), me.Vector(0)))
            for i, force in self.forces
        ]
        loads += [(frames[i], self.read(torque) * N.z) for i, torque in self.torques]
        kd = [a - b.diff() for a, b in zip(u, q, strict=True)]
        return kc.Model(N, q, u, kd, bodies=bodies, forcelist=loads, name=self.name.replace(" ", "_"))

    def expected(self, kernel: str) -> list[Any]:
        return [self.read(x) for x in self.forms[kernel]]


def operations(expressions: Iterable[Any]) -> int:
    """As count_ops counts them, with coordinates and speeds as plain symbols."""
    flat = list(expressions)
    plain = {f: sm.Symbol(f.func.__name__) for e in flat for f in e.atoms(sm.core.function.AppliedUndef)}
    return int(sum(sm.count_ops(e.xreplace(plain)) for e in flat))


GOLDSTEIN = "Goldstein, Poole & Safko, Classical Mechanics, 3rd ed. 2002, "
LANDAU = "Landau & Lifshitz, Mechanics, 3rd ed. 1976, "
CRAIG = "Craig, Introduction to Robotics, 3rd ed. 2005, "
SPONG = "Spong, Hutchinson & Vidyasagar, Robot Modeling and Control, 2006, "
MLS = "Murray, Li & Sastry, A Mathematical Introduction to Robotic Manipulation, 1994, "
MEIROVITCH = "Meirovitch, Fundamentals of Vibrations, 2001, "
SOMMERFELD = "Sommerfeld, Mechanics, 1952, "
MORIN = "Morin, Introduction to Classical Mechanics, 2008, "
BY_HAND = "derived by hand"

M, F, A, T = "mass_matrix", "forcing", "generalized_active_forces", "kinetic_energy"

MECHANISMS: tuple[Mechanism, ...] = (
    Mechanism(
        *("simple pendulum", LANDAU + "§5", 1, [("m", ("l*sin(q1)", "-l*cos(q1)"))], [(0, ("0", "-m*g"))]),
        forms={M: ["m*l**2"], F: ["-m*g*l*sin(q1)"], T: ["m*l**2*u1**2/2"]},
    ),
    Mechanism(
        *("double pendulum", LANDAU + "§5, problem 1", 2),
        [("m1", ("l1*sin(q1)", "-l1*cos(q1)")), ("m2", ("l1*sin(q1) + l2*sin(q2)", "-l1*cos(q1) - l2*cos(q2)"))],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: ["(m1 + m2)*l1**2", "m2*l1*l2*cos(q1 - q2)", "m2*l1*l2*cos(q1 - q2)", "m2*l2**2"],
            A: ["-(m1 + m2)*g*l1*sin(q1)", "-m2*g*l2*sin(q2)"],
            T: ["(m1 + m2)*l1**2*u1**2/2 + m2*l2**2*u2**2/2 + m2*l1*l2*u1*u2*cos(q1 - q2)"],
        },
    ),
    Mechanism(
        *("pendulum on a sliding support", LANDAU + "§5, problem 2", 2),
        [("m1", ("q1", "0")), ("m2", ("q1 + l*sin(q2)", "-l*cos(q2)"))],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: ["m1 + m2", "m2*l*cos(q2)", "m2*l*cos(q2)", "m2*l**2"],
            F: ["m2*l*u2**2*sin(q2)", "-m2*g*l*sin(q2)"],
            T: ["(m1 + m2)*u1**2/2 + m2*(l**2*u2**2 + 2*l*u1*u2*cos(q2))/2"],
        },
    ),
    Mechanism(
        *("pendulum whose support moves on a circle", LANDAU + "§5, problem 3 (a)", 1),
        [("m", ("a*cos(gamma*t) + l*sin(q1)", "a*sin(gamma*t) - l*cos(q1)"))],
        [(0, ("0", "-m*g"))],
        forms={M: ["m*l**2"], F: ["m*l*(a*gamma**2*cos(q1 - gamma*t) - g*sin(q1))"]},
    ),
    Mechanism(
        *("pendulum whose support moves up and down", LANDAU + "§5, problem 3 (c)", 1),
        [("m", ("l*sin(q1)", "a*cos(gamma*t) - l*cos(q1)"))],
        [(0, ("0", "-m*g"))],
        forms={M: ["m*l**2"], F: ["m*l*(a*gamma**2*cos(gamma*t) - g)*sin(q1)"]},
    ),
    Mechanism(
        *("pendulum whose support moves sideways", LANDAU + "§5, problem 3 (b)", 1),
        [("m", ("a*cos(gamma*t) + l*sin(q1)", "-l*cos(q1)"))],
        [(0, ("0", "-m*g"))],
        forms={M: ["m*l**2"], F: ["m*l*(a*gamma**2*cos(gamma*t)*cos(q1) - g*sin(q1))"]},
    ),
    Mechanism(
        *("governor of two balls and a sleeve", LANDAU + "§5, problem 4", 1),
        [
            ("m1", ("a*sin(q1)*cos(Omega*t)", "a*sin(q1)*sin(Omega*t)", "-a*cos(q1)")),
            ("m1", ("-a*sin(q1)*cos(Omega*t)", "-a*sin(q1)*sin(Omega*t)", "-a*cos(q1)")),
            ("m2", ("0", "0", "-2*a*cos(q1)")),
        ],
        [(0, ("0", "0", "-m1*g")), (1, ("0", "0", "-m1*g")), (2, ("0", "0", "-m2*g"))],
        forms={
            T: ["m1*a**2*(u1**2 + Omega**2*sin(q1)**2) + 2*m2*a**2*u1**2*sin(q1)**2"],
            A: ["-2*g*a*(m1 + m2)*sin(q1)"],
        },
    ),
    Mechanism(
        *("spherical pendulum", LANDAU + "§14, problem 1", 2),
        [("m", ("l*sin(q1)*cos(q2)", "l*sin(q1)*sin(q2)", "-l*cos(q1)"))],
        [(0, ("0", "0", "-m*g"))],
        forms={
            M: ["m*l**2", "0", "0", "m*l**2*sin(q1)**2"],
            T: ["m*l**2*(u1**2 + u2**2*sin(q1)**2)/2"],
            A: ["-m*g*l*sin(q1)", "0"],
            F: ["m*l*(l*u2**2*cos(q1) - g)*sin(q1)", "-2*m*l**2*u1*u2*sin(q1)*cos(q1)"],
        },
    ),
    Mechanism(
        *("particle in plane polar coordinates", GOLDSTEIN + "section 1.6, example 1", 2),
        [("m", ("q1*cos(q2)", "q1*sin(q2)"))],
        [(0, ("F_r*cos(q2) - F_t*sin(q2)", "F_r*sin(q2) + F_t*cos(q2)"))],
        forms={
            M: ["m", "0", "0", "m*q1**2"],
            F: ["F_r + m*q1*u2**2", "q1*(F_t - 2*m*u1*u2)"],
            A: ["F_r", "q1*F_t"],
            T: ["m*(u1**2 + q1**2*u2**2)/2"],
        },
    ),
    Mechanism(
        *("Atwood's machine", GOLDSTEIN + "section 1.6, example 2", 1),
        [("M1", ("0", "-q1")), ("M2", ("0", "q1 - l"))],
        [(0, ("0", "-M1*g")), (1, ("0", "-M2*g"))],
        forms={M: ["M1 + M2"], F: ["g*(M1 - M2)"], T: ["(M1 + M2)*u1**2/2"]},
    ),
    Mechanism(
        *("bead on a rotating wire", GOLDSTEIN + "section 1.6, example 3", 1),
        [("m", ("q1*cos(omega*t)", "q1*sin(omega*t)"))],
        forms={M: ["m"], F: ["m*omega**2*q1"], T: ["m*(u1**2 + omega**2*q1**2)/2"]},
    ),
    Mechanism(
        *("hoop on an inclined plane", GOLDSTEIN + "section 2.4", 1),
        [("M", ("q1*cos(phi)", "-q1*sin(phi)"), "M*r**2", "-q1/r")],
        [(0, ("0", "-M*g"))],
        forms={M: ["2*M"], F: ["M*g*sin(phi)"], T: ["M*u1**2"]},
    ),
    Mechanism(
        *("particle in a central field in space", GOLDSTEIN + "section 3.2, spherical coordinates", 3),
        [("m", ("q1*sin(q2)*cos(q3)", "q1*sin(q2)*sin(q3)", "q1*cos(q2)"))],
        forms={
            M: ["m", "0", "0", "0", "m*q1**2", "0", "0", "0", "m*q1**2*sin(q2)**2"],
            T: ["m*(u1**2 + q1**2*u2**2 + q1**2*u3**2*sin(q2)**2)/2"],
        },
    ),
    Mechanism(
        *("particle in cylindrical coordinates", GOLDSTEIN + "chapter 1", 3),
        [("m", ("q1*cos(q2)", "q1*sin(q2)", "q3"))],
        [(0, ("0", "0", "-m*g"))],
        forms={
            M: ["m", "0", "0", "0", "m*q1**2", "0", "0", "0", "m"],
            F: ["m*q1*u2**2", "-2*m*q1*u1*u2", "-m*g"],
            T: ["m*(u1**2 + q1**2*u2**2 + u3**2)/2"],
        },
    ),
    Mechanism(
        *("particle in a cone", LANDAU + "§14, problem 2", 2),
        [("m", ("q1*sin(alpha)*cos(q2)", "q1*sin(alpha)*sin(q2)", "q1*cos(alpha)"))],
        [(0, ("0", "0", "-m*g"))],
        forms={
            M: ["m", "0", "0", "m*q1**2*sin(alpha)**2"],
            T: ["m*(u1**2 + q1**2*u2**2*sin(alpha)**2)/2"],
            A: ["-m*g*cos(alpha)", "0"],
        },
    ),
    Mechanism(
        *("bead on a rotating hoop", GOLDSTEIN + "chapter 2, problems", 1),
        [("m", ("R*sin(q1)*cos(omega*t)", "R*sin(q1)*sin(omega*t)", "-R*cos(q1)"))],
        [(0, ("0", "0", "-m*g"))],
        forms={
            M: ["m*R**2"],
            F: ["m*R*(R*omega**2*cos(q1) - g)*sin(q1)"],
            T: ["m*R**2*(u1**2 + omega**2*sin(q1)**2)/2"],
        },
    ),
    Mechanism(
        *("elastic pendulum", GOLDSTEIN + "chapter 1, problems", 2),
        [("m", ("q1*sin(q2)", "-q1*cos(q2)"))],
        [(0, ("-k*(q1 - l)*sin(q2)", "k*(q1 - l)*cos(q2) - m*g"))],
        forms={
            M: ["m", "0", "0", "m*q1**2"],
            A: ["m*g*cos(q2) - k*(q1 - l)", "-m*g*q1*sin(q2)"],
            F: ["m*(g*cos(q2) + q1*u2**2) - k*(q1 - l)", "-m*q1*(g*sin(q2) + 2*u1*u2)"],
        },
    ),
    Mechanism(
        *("two masses and three springs", MEIROVITCH + "chapter 5", 2),
        [("m1", ("q1", "0")), ("m2", ("q2", "0"))],
        [(0, ("-k1*q1 - k2*(q1 - q2)", "0")), (1, ("-k2*(q2 - q1) - k3*q2", "0"))],
        forms={
            M: ["m1", "0", "0", "m2"],
            F: ["-(k1 + k2)*q1 + k2*q2", "k2*q1 - (k2 + k3)*q2"],
            T: ["(m1*u1**2 + m2*u2**2)/2"],
        },
    ),
    Mechanism(
        *("three masses in a row with springs and dampers", MEIROVITCH + "chapter 7", 3),
        [("m1", ("q1", "0")), ("m2", ("q2", "0")), ("m3", ("q3", "0"))],
        [
            (0, ("-k1*q1 - k2*(q1 - q2) - c1*u1 - c2*(u1 - u2)", "0")),
            (1, ("-k2*(q2 - q1) - k3*(q2 - q3) - c2*(u2 - u1) - c3*(u2 - u3)", "0")),
            (2, ("-k3*(q3 - q2) - c3*(u3 - u2)", "0")),
        ],
        forms={
            M: ["m1", "0", "0", "0", "m2", "0", "0", "0", "m3"],
            F: [
                "-c1*u1 - c2*(u1 - u2) - k1*q1 - k2*(q1 - q2)",
                "c2*(u1 - u2) - c3*(u2 - u3) + k2*(q1 - q2) - k3*(q2 - q3)",
                "c3*(u2 - u3) + k3*(q2 - q3)",
            ],
        },
    ),
    Mechanism(
        *("two links with masses at their ends", CRAIG + "section 6.7", 2),
        [
            ("m1", ("l1*cos(q1)", "l1*sin(q1)")),
            ("m2", ("l1*cos(q1) + l2*cos(q1 + q2)", "l1*sin(q1) + l2*sin(q1 + q2)")),
        ],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: [
                "l2**2*m2 + 2*l1*l2*m2*cos(q2) + l1**2*(m1 + m2)",
                *["l2**2*m2 + l1*l2*m2*cos(q2)"] * 2,
                "l2**2*m2",
            ],
            A: ["-m2*l2*g*cos(q1 + q2) - (m1 + m2)*l1*g*cos(q1)", "-m2*l2*g*cos(q1 + q2)"],
            F: [
                "m2*l1*l2*sin(q2)*u2**2 + 2*m2*l1*l2*sin(q2)*u1*u2 - m2*l2*g*cos(q1 + q2) - (m1 + m2)*l1*g*cos(q1)",
                "-m2*l1*l2*sin(q2)*u1**2 - m2*l2*g*cos(q1 + q2)",
            ],
        },
    ),
    Mechanism(
        *("two links with inertia", SPONG + "section 7.4", 2),
        [
            ("m1", ("c1*cos(q1)", "c1*sin(q1)"), "I1", "q1"),
            ("m2", ("l1*cos(q1) + c2*cos(q1 + q2)", "l1*sin(q1) + c2*sin(q1 + q2)"), "I2", "q1 + q2"),
        ],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: [
                "m1*c1**2 + m2*(l1**2 + c2**2 + 2*l1*c2*cos(q2)) + I1 + I2",
                *["m2*(c2**2 + l1*c2*cos(q2)) + I2"] * 2,
                "m2*c2**2 + I2",
            ],
            A: ["-(m1*c1 + m2*l1)*g*cos(q1) - m2*c2*g*cos(q1 + q2)", "-m2*c2*g*cos(q1 + q2)"],
        },
    ),
    Mechanism(
        *("two links, absolute angles (driven remotely)", SPONG + "section 7.4", 2),
        [
            ("m1", ("c1*cos(q1)", "c1*sin(q1)"), "I1", "q1"),
            ("m2", ("l1*cos(q1) + c2*cos(q2)", "l1*sin(q1) + c2*sin(q2)"), "I2", "q2"),
        ],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: ["m1*c1**2 + m2*l1**2 + I1", *["m2*l1*c2*cos(q2 - q1)"] * 2, "m2*c2**2 + I2"],
            A: ["-(m1*c1 + m2*l1)*g*cos(q1)", "-m2*c2*g*cos(q2)"],
            F: [
                "m2*l1*c2*sin(q2 - q1)*u2**2 - (m1*c1 + m2*l1)*g*cos(q1)",
                "-m2*l1*c2*sin(q2 - q1)*u1**2 - m2*c2*g*cos(q2)",
            ],
        },
    ),
    Mechanism(
        *("two-link Cartesian manipulator", SPONG + "section 7.4", 2),
        [("m1", ("0", "q1")), ("m2", ("q2", "q1"))],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={M: ["m1 + m2", "0", "0", "m2"], A: ["-g*(m1 + m2)", "0"], T: ["((m1 + m2)*u1**2 + m2*u2**2)/2"]},
    ),
    Mechanism(
        *("arm with a turning and a sliding joint", CRAIG + "section 6.9", 2),
        [("m1", ("l1*cos(q1)", "l1*sin(q1)"), "I1", "q1"), ("m2", ("q2*cos(q1)", "q2*sin(q1)"), "I2", "q1")],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: ["m1*l1**2 + I1 + I2 + m2*q2**2", "0", "0", "m2"],
            F: ["-2*m2*q2*u1*u2 - (m1*l1 + m2*q2)*g*cos(q1)", "m2*q2*u1**2 - m2*g*sin(q1)"],
            A: ["-(m1*l1 + m2*q2)*g*cos(q1)", "-m2*g*sin(q1)"],
        },
    ),
    Mechanism(
        *("inertia wheel pendulum", BY_HAND, 2),
        [("m1", ("c1*cos(q1)", "c1*sin(q1)"), "I1", "q1"), ("m2", ("l1*cos(q1)", "l1*sin(q1)"), "I2", "q1 + q2")],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: ["m1*c1**2 + m2*l1**2 + I1 + I2", "I2", "I2", "I2"],
            F: ["-(m1*c1 + m2*l1)*g*cos(q1)", "0"],
        },
    ),
    Mechanism(
        *("two links without gravity", MLS + "section 4.2.3", 2),
        [
            ("m1", ("r1*cos(q1)", "r1*sin(q1)"), "I1", "q1"),
            ("m2", ("l1*cos(q1) + r2*cos(q1 + q2)", "l1*sin(q1) + r2*sin(q1 + q2)"), "I2", "q1 + q2"),
        ],
        forms={
            F: ["m2*l1*r2*sin(q2)*u2*(2*u1 + u2)", "-m2*l1*r2*sin(q2)*u1**2"],
            T: ["(I1 + m1*r1**2 + m2*l1**2)*u1**2/2 + (I2 + m2*r2**2)*(u1 + u2)**2/2 + m2*l1*r2*cos(q2)*u1*(u1 + u2)"],
        },
    ),
    Mechanism(
        *("three links with masses at their ends: weights", BY_HAND, 3),
        [
            ("m1", ("l1*cos(q1)", "l1*sin(q1)")),
            ("m2", ("l1*cos(q1) + l2*cos(q1 + q2)", "l1*sin(q1) + l2*sin(q1 + q2)")),
            (
                "m3",
                (
                    "l1*cos(q1) + l2*cos(q1 + q2) + l3*cos(q1 + q2 + q3)",
                    "l1*sin(q1) + l2*sin(q1 + q2) + l3*sin(q1 + q2 + q3)",
                ),
            ),
        ],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g")), (2, ("0", "-m3*g"))],
        forms={
            A: [
                "-g*((m1 + m2 + m3)*l1*cos(q1) + (m2 + m3)*l2*cos(q1 + q2) + m3*l3*cos(q1 + q2 + q3))",
                "-g*((m2 + m3)*l2*cos(q1 + q2) + m3*l3*cos(q1 + q2 + q3))",
                "-m3*g*l3*cos(q1 + q2 + q3)",
            ],
        },
    ),
    Mechanism(
        *("cart and pole", BY_HAND, 2),
        [("m0", ("q1", "0")), ("m", ("q1 + l*sin(q2)", "l*cos(q2)"), "I", "-q2")],
        [(0, ("F - c*u1", "-m0*g")), (1, ("0", "-m*g"))],
        forms={
            M: ["m0 + m", *["m*l*cos(q2)"] * 2, "I + m*l**2"],
            F: ["F - c*u1 + m*l*u2**2*sin(q2)", "m*g*l*sin(q2)"],
            A: ["F - c*u1", "m*g*l*sin(q2)"],
        },
    ),
    Mechanism(
        *("block on a sliding wedge", MORIN + "problem 6.1", 2),
        [("m0", ("q1", "0")), ("m", ("q1 + q2*cos(alpha)", "-q2*sin(alpha)"))],
        [(0, ("0", "-m0*g")), (1, ("0", "-m*g"))],
        forms={
            M: ["m0 + m", *["m*cos(alpha)"] * 2, "m"],
            F: ["0", "m*g*sin(alpha)"],
            T: ["m0*u1**2/2 + m*(u1**2 + u2**2 + 2*u1*u2*cos(alpha))/2"],
        },
    ),
    Mechanism(
        *("sliding ladder", BY_HAND, 1),
        [("m", ("l*cos(q1)/2", "l*sin(q1)/2"), "m*l**2/12", "-q1")],
        [(0, ("0", "-m*g"))],
        forms={M: ["m*l**2/3"], F: ["-m*g*l*cos(q1)/2"], T: ["m*l**2*u1**2/6"]},
    ),
    Mechanism(
        *("physical pendulum", SOMMERFELD + "§16", 1),
        [("m", ("l*sin(q1)", "-l*cos(q1)"), "m*k**2", "q1")],
        [(0, ("0", "-m*g"))],
        [(0, "-c*u1")],
        forms={M: ["m*(k**2 + l**2)"], F: ["-c*u1 - m*g*l*sin(q1)"], T: ["m*(k**2 + l**2)*u1**2/2"]},
    ),
    Mechanism(
        *("cylinder that rolls in a cylinder", BY_HAND, 1),
        [("m", ("(R - r)*sin(q1)", "-(R - r)*cos(q1)"), "m*r**2/2", "-(R - r)*q1/r")],
        [(0, ("0", "-m*g"))],
        forms={M: ["3*m*(R - r)**2/2"], F: ["-m*g*(R - r)*sin(q1)"], T: ["3*m*(R - r)**2*u1**2/4"]},
    ),
    Mechanism(
        *("bar on a spring-loaded slider", BY_HAND, 2),
        [("m1", ("0", "q1")), ("m2", ("l*sin(q2)/2", "q1 - l*cos(q2)/2"), "m2*l**2/12", "q2")],
        [(0, ("0", "-k*q1 - m1*g")), (1, ("0", "-m2*g"))],
        forms={
            M: ["m1 + m2", *["m2*l*sin(q2)/2"] * 2, "m2*l**2/3"],
            F: ["-k*q1 - (m1 + m2)*g - m2*l*u2**2*cos(q2)/2", "-m2*g*l*sin(q2)/2"],
            A: ["-k*q1 - (m1 + m2)*g", "-m2*g*l*sin(q2)/2"],
        },
    ),
    Mechanism(
        *("two particles in a turning tube", BY_HAND, 2),
        [("m1", ("q1*cos(Omega*t)", "q1*sin(Omega*t)")), ("m2", ("q2*cos(Omega*t)", "q2*sin(Omega*t)"))],
        forms={
            M: ["m1", "0", "0", "m2"],
            F: ["m1*Omega**2*q1", "m2*Omega**2*q2"],
            T: ["(m1*(u1**2 + Omega**2*q1**2) + m2*(u2**2 + Omega**2*q2**2))/2"],
        },
    ),
    Mechanism(
        *("double Atwood machine", BY_HAND, 2),
        [("m1", ("0", "-q1")), ("m2", ("0", "q1 - q2")), ("m3", ("0", "q1 + q2"))],
        [(0, ("0", "-m1*g")), (1, ("0", "-m2*g")), (2, ("0", "-m3*g"))],
        forms={
            M: ["m1 + m2 + m3", *["m3 - m2"] * 2, "m2 + m3"],
            F: ["(m1 - m2 - m3)*g", "(m2 - m3)*g"],
        },
    ),
    Mechanism(
        *("two pendulums with a spring", SOMMERFELD + "§20", 2),
        [("m", ("l*sin(q1)", "-l*cos(q1)"), "0", "q1"), ("m", ("d + l*sin(q2)", "-l*cos(q2)"), "0", "q2")],
        [(0, ("0", "-m*g")), (1, ("0", "-m*g"))],
        [(0, "-K*(q1 - q2)"), (1, "-K*(q2 - q1)")],
        forms={
            M: ["m*l**2", "0", "0", "m*l**2"],
            F: ["-K*(q1 - q2) - m*g*l*sin(q1)", "K*(q1 - q2) - m*g*l*sin(q2)"],
        },
    ),
    Mechanism(
        *("rotor with two springs in rotating axes", BY_HAND, 2),
        [("m", ("q1*cos(Omega*t) - q2*sin(Omega*t)", "q1*sin(Omega*t) + q2*cos(Omega*t)"))],
        [
            (
                0,
                (
                    "-k1*q1*cos(Omega*t) + k2*q2*sin(Omega*t)",
                    "-k1*q1*sin(Omega*t) - k2*q2*cos(Omega*t)",
                ),
            )
        ],
        forms={
            M: ["m", "0", "0", "m"],
            F: ["m*Omega*(2*u2 + Omega*q1) - k1*q1", "m*Omega*(Omega*q2 - 2*u1) - k2*q2"],
            A: ["-k1*q1", "-k2*q2"],
            T: ["m*((u1 - Omega*q2)**2 + (u2 + Omega*q1)**2)/2"],
        },
    ),
    Mechanism(
        *("particle in a rotating paraboloid", BY_HAND, 2),
        [("m", ("q1*cos(q2)", "q1*sin(q2)", "k*q1**2/2"))],
        [(0, ("0", "0", "-m*g"))],
        forms={
            M: ["m*(1 + k**2*q1**2)", "0", "0", "m*q1**2"],
            F: ["m*q1*(u2**2 - k**2*u1**2 - g*k)", "-2*m*q1*u1*u2"],
            T: ["m*((1 + k**2*q1**2)*u1**2 + q1**2*u2**2)/2"],
        },
    ),
    Mechanism(
        *("bead on a cycloid", SOMMERFELD + "§17", 1),
        [("m", ("a*(q1 + sin(q1))", "-a*cos(q1)"))],
        [(0, ("0", "-m*g"))],
        forms={
            M: ["2*m*a**2*(1 + cos(q1))"],
            F: ["m*a*(a*u1**2 - g)*sin(q1)"],
            T: ["m*a**2*(1 + cos(q1))*u1**2"],
        },
    ),
    Mechanism(
        *("pendulum on a turning disc", BY_HAND, 1),
        [("m", ("R*cos(Omega*t) + l*cos(Omega*t + q1)", "R*sin(Omega*t) + l*sin(Omega*t + q1)"))],
        forms={
            M: ["m*l**2"],
            F: ["-m*R*l*Omega**2*sin(q1)"],
            T: ["m*(R**2*Omega**2 + l**2*(Omega + u1)**2 + 2*R*l*Omega*(Omega + u1)*cos(q1))/2"],
        },
    ),
)
