# SPDX-License-Identifier: BSD-3-Clause
"""The front page of the documentation: a double pendulum in twenty-odd lines."""

# %% code
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
m, a, g = sm.symbols("m a g")
N, pin = me.ReferenceFrame("N"), me.Point("pin")
A = N.orientnew("A", "Axis", [q1, N.z])
B = N.orientnew("B", "Axis", [q2, N.z])
P = pin.locatenew("P", a * A.x)
R = P.locatenew("R", a * B.x)
pin.set_vel(N, 0)

upper, lower = me.Particle("upper", P, m), me.Particle("lower", R, m)
weights = [(P, m * g * N.x), (R, m * g * N.x)]
rates = [q1.diff() - u1, q2.diff() - u2]
bobs = [upper, lower]
model = kc.Model(N, [q1, q2], [u1, u2], rates, bodies=bobs, forcelist=weights)
dyn = kc.compile(model, parameters={m: 1, a: 0.5, g: 9.81})
sol = dyn.simulate((0, 5), {"q1": 2.0, "q2": 1.0})
film = sol.animate(trace=["lower"], labels=False)
