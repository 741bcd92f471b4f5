# SPDX-License-Identifier: BSD-3-Clause
"""A pendulum with a motor: described, compiled, evaluated, simulated, swung up, drawn.

The page "Quick start" of the documentation shows this script cell by cell.
"""

# %% imports
import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from matplotlib.figure import Figure

import kanecore as kc

# %% describe
# mass, length, gravity, friction of the pin
m, length, g, b = sm.symbols("m l g b")
# angle from the vertical, its rate, torque of the motor
q, u, tau = me.dynamicsymbols("q u tau")

N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
A.orient_axis(N, N.z, q)
pin = me.Point("O")
pin.set_vel(N, 0)
bob = pin.locatenew("P", length * A.x)  # A.x points along the rod, N.x down

model = kc.Model(
    N,
    [q],
    [u],
    kd_eqs=[q.diff() - u],
    bodies=[me.Particle("bob", bob, m)],
    forcelist=[(bob, m * g * N.x), (A, (tau - b * u) * N.z)],
    inputs=[tau],
    outputs={"height": -length * sm.cos(q)},
    name="pendulum",
)

# %% symbols
print(model.symbolic("mass_matrix", nested=True))
print(model.symbolic("forcing", nested=True))

# %% compile
dyn = kc.compile(model, parameters={m: 1.0, length: 0.5, g: 9.81, b: 0.02})

# %% evaluate
x = np.array([0.3, 0.0])  # [q, u]
print(dyn.rhs(0.0, x))  # [qdot, udot]
print(dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x), dyn.outputs(0.0, x))
print(dyn.rhs(0.0, x, r={"tau": 1.0}))  # with a torque, in this call alone
dyn.parameters["l"] = 0.6  # from now on

# %% simulate
sol = dyn.simulate((0.0, 10.0), {"q": 3.0})
print(sol)
print(f"at t = 10 s: {sol.x[-1].round(4)}; energy drift {sol.energy_drift:.0e}")
assert sol.energy_drift < 1e-6

# %% plot
figure = sol.plot()

# %% control
TOP = np.pi
p = dyn.parameters
weight = p["m"] * p["g"] * p["l"]  # the largest torque of gravity, N m


def swing_up(t, x):
    """A third of that torque pumps energy; near the top a spring and a damper hold."""
    angle, rate = (x[0] - TOP + np.pi) % (2 * np.pi) - np.pi, x[1]
    if abs(angle) < 0.3 and abs(rate) < 3.0:
        return [-3.0 * weight * angle - weight * rate]
    energy = dyn.kinetic_energy(t, x) + dyn.potential_energy(t, x)
    return [np.clip((weight - energy) * np.sign(rate or 1.0), -weight / 3, weight / 3)]


sol = dyn.simulate((0.0, 10.0), [0.0, 0.0], inputs=swing_up, rtol=1e-6)
print(
    f"at t = 10 s: {sol.x[-1].round(4)}; {sol.nfev} evaluations, energy drift "
    f"{sol.energy_drift:.0e}"
)
assert abs(sol.q[-1, 0] % (2 * np.pi) - TOP) < 1e-3

# %% control plot
figure = Figure(figsize=(8, 3), layout="constrained")
over_time, plane = figure.subplots(1, 2)
t = np.linspace(0.0, 10.0, 600)
over_time.plot(t, sol(t))
over_time.legend(["q [rad]", "u [rad/s]"], frameon=False)
over_time.set_xlabel("t [s]")
plane.plot(*sol(t).T)
plane.set(xlabel="q [rad]", ylabel="u [rad/s]")

# %% gallery
robot = kc.load("rrp")
print(robot)
print(robot.coordinate_names, robot.input_names)
print(robot.rhs(0.0, [0.0, 0.6, 0.5, 0.0, 0.0, 0.0], r={"tau2": 20.0}))
