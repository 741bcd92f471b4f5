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

# %% understood
print(model.report())

# %% symbols
print(model.symbolic("mass_matrix", nested=True))
print(model.symbolic("forcing", nested=True))

# %% compile
dyn = kc.compile(model, parameters={m: 1.0, length: 0.5, g: 9.81, b: 0.02})

# %% evaluate
x = np.array([0.3, 0.0])  # [q, u]
print(dyn.rhs(0.0, x))  # [qdot, udot]
print(dyn.mass_matrix(0.0, x), dyn.forcing(0.0, x), dyn.outputs(0.0, x))
print(dyn.rhs(0.0, x, r={"tau": 1.0}))  # another torque, in this call alone
dyn.parameters["l"] = 0.6  # from now on

# %% batch
angles = np.array([0.0, 0.5, 1.0, 1.5])
states = np.stack([angles, np.zeros(4)], axis=-1)
print(states.shape, dyn.udot(0.0, states).shape, dyn.mass_matrix(0.0, states).shape)
lengths = np.array([0.3, 0.4, 0.5, 0.6])  # one for each row
print(dyn.udot(0.0, states, p={"l": lengths})[:, 0])

# %% names
print(dyn.state(q=0.5), dyn.udot(0.0, {"q": angles}, r={"tau": 1.0})[:, 0])
print(dyn.simulate((0.0, 1.0), {q: 3.0})["q"][-1])

# %% simulate
sol = dyn.simulate((0.0, 10.0), [3.0, 0.0])
print(sol)
print(f"at t = 10 s: {sol.x[-1].round(4)}; energy drift {sol.energy_drift:.0e}")
assert sol.energy_drift < 1e-6

# %% plot
figure = sol.plot()

# %% rollout
starts = dyn.state(q=np.linspace(-3.0, 3.0, 1000))
rng = np.random.default_rng(0)
torques = rng.uniform(-0.1, 0.1, (1000, 200, 1))  # one for each row and step
X = dyn.rollout(
    starts, torques, dt=0.01, steps=200, parameters={"m": np.linspace(0.3, 0.5, 1000)}
)
print(X.shape, X[500, -1])

# %% diverging rows
lengths = np.array([0.4, 0.5, 0.0, 0.6])  # a pendulum without length has no inertia
X, status = dyn.rollout(
    [3.0, 0.0], dt=0.01, steps=200, parameters={"l": lengths}, return_status=True
)
print(status.codes, status.last_good_step, X[:, -1, 0])

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

# %% loop
ws = dyn.workspace()  # fixed arrays; one workspace a thread
ws.x, dt = [3.0, 0.0], 1e-3
for _ in range(1000):  # one second by the semi-implicit Euler method
    ws.rhs()
    ws.x[1] += dt * ws.udot[0]
    ws.x[0] += dt * ws.x[1]
print(ws.x)

# %% gallery
robot = kc.load("rrp")
print(robot)
print(robot.coordinate_names, robot.input_names)
print(robot.rhs(0.0, [0.0, 0.6, 0.5, 0.0, 0.0, 0.0], r={"tau2": 20.0}))
