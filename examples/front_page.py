# SPDX-License-Identifier: BSD-3-Clause
"""The front page: a double pendulum in twelve lines, compiled, and its live page."""

# %% code
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
m1, m2, a, b, g = sm.symbols("m1 m2 a b g")
N, pin = me.ReferenceFrame("N"), me.Point("pin")
A = N.orientnew("A", "Axis", [q1, N.z])
B = N.orientnew("B", "Axis", [q2, N.z])
P = pin.locatenew("P", a * A.x)
R = P.locatenew("R", b * B.x)
pin.set_vel(N, 0)
bobs = [me.Particle("upper", P, m1), me.Particle("lower", R, m2)]
weights = [(P, m1 * g * N.x), (R, m2 * g * N.x)]
rates = [q1.diff() - u1, q2.diff() - u2]
model = kc.Model(N, [q1, q2], [u1, u2], rates, bodies=bobs, forcelist=weights)

dyn = kc.compile(model, parameters={m1: 1, m2: 1, a: 0.5, b: 0.5, g: 9.81})
page = dyn.play({"q1": 2.0, "q2": 1.0}, trace="lower")
