# SPDX-License-Identifier: BSD-3-Clause
"""Examples of the reference: a cell for each object, which its page runs and shows."""

# %% CompiledModel.rhs
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.rhs(0.0, x, r=[1.0])  # a force of 1 N

# %% CompiledModel.udot
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
print(dyn.udot(0.0, x))
dyn.udot(0.0, [x, 2 * x])  # two states at once

# %% CompiledModel.qdot
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.qdot(0.0, dyn.state(v=0.3))

# %% CompiledModel.zdot
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

(x,), (v,), F = me.dynamicsymbols("x,"), me.dynamicsymbols("v,"), me.dynamicsymbols("F")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", x * N.x)
P.set_vel(N, v * N.x)
model = kc.Model(
    *(N, [x], [v], [x.diff() - v]),
    bodies=[me.Particle("cart", P, 2)],
    forcelist=[(P, F * N.x)],
    states={F: (5 * sm.sin(x) - F) / sm.Symbol("tau")},  # a force that lags
    name="lag",
)
dyn = kc.compile(model, parameters={"tau": 0.2})
dyn.zdot(0.0, dyn.state(x=0.4, F=1.0))

# %% CompiledModel.mass_matrix
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.mass_matrix(0.0, x)

# %% CompiledModel.mass_matrix_inverse
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
identity = dyn.mass_matrix_inverse(0.0, x) @ dyn.mass_matrix(0.0, x)
identity.round(12)

# %% CompiledModel.forcing
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.forcing(0.0, x)

# %% CompiledModel.inverse_dynamics
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.inverse_dynamics(0.0, x, udot=[1.0, 0.0])  # torques, N m

# %% CompiledModel.coriolis_matrix
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.coriolis_matrix(0.0, x)

# %% CompiledModel.gravity_forces
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.gravity_forces(0.0, x)  # torques that hold the arm

# %% CompiledModel.equations_residual
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
udot = dyn.udot(0.0, x)
dyn.equations_residual(0.0, x, udot)

# %% CompiledModel.outputs
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
print(dyn.output_names)
dyn.outputs(0.0, x)

# %% CompiledModel.aba
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
q, u, tau = [0.4, 0.8], [1.0, 0.0], [5.0, 2.0]
dyn.aba(q, u, tau)

# %% CompiledModel.rnea
import kanecore as kc

dyn = kc.load("double_pendulum")
dyn.rnea([0.1, 0.2], [0.0, 1.0], [0.5, 0.0])

# %% CompiledModel.crba
import kanecore as kc

dyn = kc.load("double_pendulum")
dyn.crba([0.1, 0.2])

# %% CompiledModel.workspace
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
ws = dyn.workspace()
ws.x["theta"] = 0.1
ws.rhs()  # no arguments: the same arrays in each call
ws.xdot

# %% CompiledModel.partial_velocities
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
v_r = dyn.partial_velocities(0.0, x)
print(v_r.shape)
v_r[1]  # of the second link's mass centre: a row for each speed

# %% CompiledModel.partial_angular_velocities
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
w_r = dyn.partial_angular_velocities(0.0, x)
print(w_r.shape)
w_r[1]  # of the second link: a row for each speed

# %% CompiledModel.partial_accelerations
import kanecore as kc

dyn = kc.load("rolling_disc")
dyn.partial_accelerations(0.0, dyn.check().x).shape  # points, independent speeds, axes

# %% CompiledModel.partial_angular_accelerations
import kanecore as kc

dyn = kc.load("rolling_disc")
dyn.partial_angular_accelerations(0.0, dyn.check().x).shape

# %% CompiledModel.generalized_active_forces
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
print(dyn.generalized_active_forces(0.0, x, r=[5.0, 2.0]))
dyn.generalized_active_forces(0.0, x, by="load")

# %% CompiledModel.generalized_inertia_forces
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.generalized_inertia_forces(0.0, x, udot=[1.0, 0.0])

# %% CompiledModel.coordinate_forces
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.coordinate_forces(0.0, x, r=[5.0, 2.0])

# %% CompiledModel.auxiliary_forces
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
v = me.dynamicsymbols("v")  # the bob's speed along the rod, which is zero
P.set_vel(N, l * u * A.x - v * A.y)
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    u_auxiliary=[v],
    bodies=[bob],
    forcelist=[weight],
)
dyn = kc.compile(model, parameters={m: 1, l: 0.5, g: 9.81})
dyn.auxiliary_forces(0.0, [0.3, 2.0])  # what the rod holds, N

# %% CompiledModel.constraint_forces
import kanecore as kc

dyn = kc.load("four_bar")
x = dyn.consistent(0.0, dyn.state(q1=1.0, q2=0.5, q3=1.5, u1=1.0))
dyn.constraint_forces(0.0, x)  # a row for each constraint

# %% CompiledModel.multipliers
import kanecore as kc

dyn = kc.load("four_bar")
x = dyn.consistent(0.0, dyn.state(q1=1.0, q2=0.5, q3=1.5, u1=1.0))
print(dyn.constraint_names)
dyn.multipliers(0.0, x)

# %% CompiledModel.reactions
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.reactions(0.0, x, named=True)["link1"]  # force, then torque

# %% CompiledModel.inertia_forces
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.inertia_forces(0.0, x, udot=[1.0, 0.0], named=True)["link2"]

# %% CompiledModel.power
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
udot = dyn.udot(0.0, x, r=[1.0])
dyn.power(0.0, x, udot, r=[1.0])

# %% CompiledModel.load_powers
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.load_powers(0.0, dyn.state(v=0.5), r=[1.0])

# %% CompiledModel.projected_efforts
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.projected_efforts(0.0, x, r=[5.0, 2.0])

# %% CompiledModel.position
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.position("C2", 0.0, x, origin="C1")

# %% CompiledModel.positions
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.positions(0.0, x, named=True)["C2"]

# %% CompiledModel.velocity
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.velocity("C2", 0.0, x, frame="B2")  # in the axes of the second link

# %% CompiledModel.velocities
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.velocities(0.0, x)

# %% CompiledModel.acceleration
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
udot = dyn.udot(0.0, x)
dyn.acceleration("C2", 0.0, x, udot)

# %% CompiledModel.accelerations
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.accelerations(0.0, x, udot=[1.0, 0.0])

# %% CompiledModel.specific_force
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
udot = dyn.udot(0.0, x)
dyn.specific_force("C2", 0.0, x, udot, frame="B2")  # an accelerometer

# %% CompiledModel.orientation
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.orientation("B2", 0.0, x, frame="B1")

# %% CompiledModel.orientations
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.orientations(0.0, x)[1]

# %% CompiledModel.angular_velocity
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.angular_velocity("B2", 0.0, x, relative_to="B1")

# %% CompiledModel.angular_velocities
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.angular_velocities(0.0, x)

# %% CompiledModel.angular_acceleration
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.angular_acceleration("B2", 0.0, x, udot=[1.0, 2.0])

# %% CompiledModel.angular_accelerations
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.angular_accelerations(0.0, x, udot=[1.0, 2.0])

# %% CompiledModel.jacobian
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.jacobian("C2", 0.0, x)  # v = J u

# %% CompiledModel.operational_inertia
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.operational_inertia("C2", 0.0, x, along=[[1.0, 0.0, 0.0]])  # kg

# %% CompiledModel.joint_positions
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.joint_positions(0.0, x, named=True)["link2"]

# %% CompiledModel.draw
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.draw(x)

# %% CompiledModel.play
import kanecore as kc

dyn = kc.load("cart_pole")
page = dyn.play(sliders={"m": (0.1, 1.0)}, plots=["coordinates"])
print(page)  # page.save("cart_pole.html") writes it

# %% CompiledModel.kinetic_energy
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.kinetic_energy(0.0, x)

# %% CompiledModel.kinetic_energy_parts
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.kinetic_energy_parts(0.0, x)

# %% CompiledModel.potential_energy
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.potential_energy(0.0, x)

# %% CompiledModel.hamiltonian
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.hamiltonian(0.0, x)

# %% CompiledModel.gibbs
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.gibbs(0.0, x, dyn.udot(0.0, x))

# %% CompiledModel.linear_momentum
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.linear_momentum(0.0, dyn.state(v=0.5))

# %% CompiledModel.angular_momentum
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.angular_momentum(0.0, x, about="P1")

# %% CompiledModel.body_momenta
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.body_momenta(0.0, dyn.state(v=0.5), named=True)["cart"]

# %% CompiledModel.momenta
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.momenta(0.0, x)

# %% CompiledModel.generalized_momenta
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.generalized_momenta(0.0, x)

# %% CompiledModel.momentum_matrix
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.momentum_matrix(0.0, x)[:2]  # rows of the momentum along x and y

# %% CompiledModel.conserved
import kanecore as kc

dyn = kc.load("kepler")
print(dyn.conserved())

# %% CompiledModel.check
import kanecore as kc

dyn = kc.load("four_bar")
x = dyn.consistent(0.0, dyn.state(q1=1.0, q2=0.5, q3=1.5, u1=1.0))
print(dyn.check(x))

# %% CompiledModel.consistent
import kanecore as kc

dyn = kc.load("four_bar")
x = dyn.consistent(0.0, dyn.state(q1=1.0, q2=0.5, q3=1.5, u1=1.0))
print(x)
dyn.configuration_residual(0.0, x)

# %% CompiledModel.configuration_residual
import kanecore as kc

dyn = kc.load("four_bar")
x = dyn.consistent(0.0, dyn.state(q1=1.0, q2=0.5, q3=1.5, u1=1.0))
dyn.configuration_residual(0.0, x)

# %% CompiledModel.configuration_jacobian
import kanecore as kc

dyn = kc.load("four_bar")
x = dyn.consistent(0.0, dyn.state(q1=1.0, q2=0.5, q3=1.5, u1=1.0))
dyn.configuration_jacobian(0.0, x)

# %% CompiledModel.velocity_residual
import kanecore as kc

dyn = kc.load("rolling_disc")
x = dyn.consistent(0.0, dyn.state(q2=0.2, u2=5.0))
dyn.velocity_residual(0.0, x)

# %% CompiledModel.constraint_jacobian
import kanecore as kc

dyn = kc.load("rolling_disc")
x = dyn.consistent(0.0, dyn.state(q2=0.2, u2=5.0))
print(dyn.constraint_names)
dyn.constraint_jacobian(0.0, x)

# %% CompiledModel.constraint_bias
import kanecore as kc

dyn = kc.load("rolling_disc")
x = dyn.consistent(0.0, dyn.state(q2=0.2, u2=5.0))
dyn.constraint_bias(0.0, x)

# %% CompiledModel.speed_matrices
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.speed_matrices(0.0, x)

# %% CompiledModel.state
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
print(dyn.state(theta=0.1, v=2.0))
dyn.state({"theta": [0.1, 0.2]}).shape  # two states

# %% CompiledModel.simulate
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
sol = dyn.simulate((0.0, 5.0), x, inputs={"F": lambda t, x: -5.0 * x[0]}, rtol=1e-9)
print(sol)
sol["theta"][-1]

# %% CompiledModel.rollout
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
starts = np.tile(x, (100, 1))
forces = np.linspace(-1.0, 1.0, 100)[:, None, None] * np.ones((1, 50, 1))
dyn.rollout(starts, forces, dt=0.02).shape  # runs, times, states

# %% CompiledModel.rollout_vjp
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
weights = np.zeros((51, dyn.n_x))
weights[-1, 0] = 1.0  # of the cart's place at the end
found = dyn.rollout_vjp(dyn.state(theta=0.1), np.zeros((50, 1)), weights, dt=0.02)
found.inputs[:3, 0]  # by the first three forces

# %% CompiledModel.step
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
for k in range(3):
    x = dyn.step(0.02 * k, x, 0.02, r=[-5.0 * x[0]])
x

# %% CompiledModel.discretize
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
x1, A, B = dyn.discretize(np.tile(dyn.state(theta=0.1), (50, 1)), [2.0], 0.02)
A.shape, B[0]

# %% CompiledModel.periodic
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, w = me.dynamicsymbols("q w")
mu = sm.Symbol("mu")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
Q = O.locatenew("Q", q * N.x)
Q.set_vel(N, w * N.x)
model = kc.Model(
    *(N, [q], [w], [q.diff() - w]),
    bodies=[me.Particle("Q", Q, 1)],
    forcelist=[(Q, (mu * (1 - q**2) * w - q) * N.x)],
    name="Van der Pol's oscillator",
)
dyn = kc.compile(model, parameters={mu: 1.0})
print(dyn.periodic([2.0, 0.5], period=6.0))

# %% CompiledModel.optimize
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
up = {"x": 0, "theta": np.pi, "v": 0, "omega": 0}
sol = dyn.optimize(2.0, start=dyn.state(), end=up, cost="F**2")
print(sol.message, round(sol.cost, 3), "N² s")

# %% CompiledModel.impact
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
blow = {"C": [0.1, 0.0, 0.0]}  # on the cart, N s
dyn.impact(0.0, x, impulses=blow) - x

# %% CompiledModel.linearize
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
A, B = dyn.linearize(0.0, x)
print(A)
B

# %% CompiledModel.linear_system
import kanecore as kc

dyn = kc.load("cart_pole")
system = dyn.linear_system(0.0, dyn.state())
system.eigenvalues

# %% CompiledModel.state_error
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.state_error(dyn.state(theta=0.3), dyn.state(theta=0.1))

# %% CompiledModel.equilibrium
import kanecore as kc

dyn = kc.load("planar_2r")
held = dyn.equilibrium(
    {"q1": 0.5, "q2": 0.3}, fixed=["q1", "q2"], inputs=["tau1", "tau2"]
)
print(held)

# %% CompiledModel.solve_inverse
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
result = dyn.solve_inverse(0.0, x, udot={"v": 1.0}, tau={"omega": 0.0})
print(result)

# %% CompiledModel.jvp
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.jvp("rhs", 0.0, x, [0.0, 1.0, 0.0, 0.0])  # the change along theta

# %% CompiledModel.vjp
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
dyn.vjp("rhs", 0.0, x, [0.0, 0.0, 1.0, 0.0])  # the gradient of the third row

# %% CompiledModel.rhs_jvp
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.rhs_jvp(0.0, dyn.state(theta=0.1), {"theta": 1.0})

# %% CompiledModel.rhs_vjp
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.rhs_vjp(0.0, dyn.state(theta=0.1), {"omega": 1.0})

# %% CompiledModel.rhs_hessian
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.rhs_hessian(0.0, x, [0.0, 0.0, 1.0, 0.0]).shape

# %% CompiledModel.rhs_parameter_jacobian
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
print(dyn.parameter_names)
dyn.rhs_parameter_jacobian(0.0, x)

# %% CompiledModel.rhs_time_derivative
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
dyn.rhs_time_derivative(0.0, x)  # zero: nothing depends on time

# %% CompiledModel.output_jacobian
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.output_jacobian(0.0, x).round(3)

# %% CompiledModel.sparsity
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
rows, columns = dyn.sparsity("mass_matrix")
rows, columns

# %% CompiledModel.identify
import numpy as np

import kanecore as kc

dyn = kc.load("planar_2r")
rng = np.random.default_rng(1)
x, udot = rng.normal(size=(200, 4)), rng.normal(size=(200, 2))
torques = dyn.inverse_dynamics(0.0, x, udot)  # or measured ones
print(dyn.identify(x, udot, torques))

# %% CompiledModel.fit
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
t = np.linspace(0.0, 3.0, 151)
sol = dyn.simulate((0, 3), dyn.state(theta=1.0), t_eval=t)
noise = 0.01 * np.random.default_rng(1).normal(size=t.size)
print(dyn.fit({"t": t, "theta": sol["theta"] + noise, "x": sol["x"]}, {"l": 0.5}))

# %% CompiledModel.regressor
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
Y = dyn.regressor(0.0, x, udot=[1.0, 0.0])
pi = dyn.inertial_parameters(0.0, x)
Y @ pi.ravel()  # as inverse_dynamics

# %% CompiledModel.joint_regressor
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.joint_regressor(0.0, x, udot=[1.0, 0.0]).shape

# %% CompiledModel.inertial_parameters
import kanecore as kc

dyn = kc.load("planar_2r")
x = dyn.state(q1=0.4, q2=0.8, u1=1.0)
dyn.inertial_parameters(0.0, x, named=True)["link1"]

# %% CompiledModel.audit
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
print(dyn.audit(n=10))

# %% CompiledModel.export_c
import tempfile
from pathlib import Path

import kanecore as kc

dyn = kc.load("cart_pole")
folder = Path(tempfile.mkdtemp())
dyn.export_c(folder, integrators=True)
sorted(file.name for file in folder.iterdir())

# %% CompiledModel.export_fmu
import tempfile
from pathlib import Path

import kanecore as kc

dyn = kc.load("cart_pole")
path = dyn.export_fmu(Path(tempfile.mkdtemp(), "cart_pole.fmu"))
print(path.name)

# %% CompiledModel.mpc
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
mpc = dyn.mpc(0.02, 30, Q={"x": 1, "theta": 10}, R={"F": 0.01}, goal={"theta": np.pi})
sol = dyn.simulate((0, 2), dyn.state(theta=2.9), inputs=mpc, sample_time=0.02)
sol["theta"][-1], mpc(2.0, sol.x[-1])

# %% CompiledModel.casadi
import kanecore as kc

dyn = kc.load("cart_pole")
f = dyn.casadi("rhs")
print(f)

# %% CompiledModel.jax
import jax

import kanecore as kc

jax.config.update("jax_enable_x64", True)
dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
f = dyn.jax("udot")
print(f(0.0, x), jax.jacobian(f, argnums=1)(0.0, x).shape)

# %% CompiledModel.numba
import kanecore as kc

dyn = kc.load("cart_pole")
f = dyn.numba("udot")
print(type(f).__name__)

# %% CompiledModel.lowlevel_callable
import kanecore as kc

dyn = kc.load("cart_pole")
from scipy.integrate import quad

f = dyn.lowlevel_callable("kinetic_energy", over="v", x=dyn.state())
quad(f, 0.0, 1.0)[0]

# %% CompiledModel.as_pydy
import kanecore as kc

dyn = kc.load("cart_pole")
rhs = dyn.as_pydy()
rhs(dyn.state(theta=0.1), 0.0, None, None)

# %% CompiledModel.address
import kanecore as kc

dyn = kc.load("cart_pole")
isinstance(dyn.address("rhs"), int)  # for C, Rust, Cython ...

# %% CompiledModel.prepare
import kanecore as kc

dyn = kc.load("cart_pole")
light = dyn.prepare({**dyn.parameters, "m": 0.1})
light.shape

# %% CompiledModel.prepared
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.prepared.shape

# %% CompiledModel.build
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.build("forces")  # before a loop that must not wait

# %% CompiledModel.source
import kanecore as kc

dyn = kc.load("cart_pole")
sorted(dyn.source)

# %% CompiledModel.model
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.model.symbolic("mass_matrix", nested=True)

# %% CompiledModel.parameters
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.parameters["m"] = 0.3
print(dyn.parameters)

# %% CompiledModel.inputs
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.inputs["F"] = 1.0
print(dyn.inputs)

# %% CompiledModel.info
import kanecore as kc

dyn = kc.load("cart_pole")
sorted(dyn.info)

# %% CompiledModel.sizes
import kanecore as kc

dyn = kc.load("cart_pole")
dyn.sizes

# %% Model.base_parameters
from kanecore.gallery import planar_2r

model = planar_2r.build()
print(model.base_parameters())

# %% Model.canonical
from kanecore.gallery import double_pendulum

model = double_pendulum.build()
model.canonical().speeds

# %% Model.coordinates
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.coordinates

# %% Model.description
from kanecore.gallery import cart_pole

model = cart_pole.build()
type(model.description).__name__

# %% Model.draw
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.draw({"theta": 0.4}, {"l": 0.5})

# %% Model.equations
from kanecore.gallery import cart_pole

model = cart_pole.build()
for equation in model.equations():
    print(equation)

# %% Model.explain
from kanecore.gallery import cart_pole

model = cart_pole.build()
print(model.explain())

# %% Model.free
from kanecore.gallery import four_bar

model = four_bar.build()
freed = model.free(0)  # the loop is cut open in one direction
print(freed.n_constraints, freed.inputs)

# %% Model.from_kane
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
km = me.KanesMethod(N, [q], [u], [q.diff() - u])
P.v2pt_theory(O, N, A)
kc.Model.from_kane(km, [bob], [weight]).equations()

# %% Model.from_lagrangian
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q = me.dynamicsymbols("q")
m, l, g = sm.symbols("m l g")
L = m * l**2 * q.diff() ** 2 / 2 + m * g * l * sm.cos(q)
kc.Model.from_lagrangian(L, [q]).equations()

# %% Model.from_system
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

wall, cart = me.RigidBody("wall"), me.RigidBody("cart")
slide = me.PrismaticJoint("slide", wall, cart)
system = me.System.from_newtonian(wall)
system.add_joints(slide)
kc.Model.from_system(system).symbolic("mass_matrix")

# %% Model.from_transforms
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q1, q2 = me.dynamicsymbols("q1 q2")
a, m, g = sm.symbols("a m g")
links = [
    kc.transforms.Link("upper", kc.transforms.dh(a, 0, 0, q1), mass=m),
    kc.transforms.Link("lower", kc.transforms.dh(a, 0, 0, q2), mass=m),
]
kc.Model.from_transforms(links, gravity=(0, -g, 0), efforts=[q1, q2]).inputs

# %% Model.from_urdf
import kanecore as kc

model = kc.Model.from_urdf(kc.gallery.robot_file("panda"))
print(model.n_q, model.inputs[0])

# %% Model.from_sdf
import kanecore as kc

text = """
<sdf version="1.11"><model name="pendulum">
<link name="rod">
<inertial> <pose>0 0 -0.5 0 0 0</pose> <mass>2</mass>
<inertia> <ixx>0.2</ixx> <iyy>0.2</iyy> <izz>0</izz> </inertia>
</inertial> </link>
<joint name="hinge" type="revolute">
<parent>world</parent> <child>rod</child> <axis> <xyz>0 1 0</xyz> </axis>
</joint>
</model></sdf>"""
model = kc.Model.from_sdf(text)
print(model.coordinates, model.inputs)

# %% Model.from_mjcf
import kanecore as kc

text = """
<mujoco model="pendulum">
  <worldbody>
    <body name="bob">
      <joint name="swing" axis="0 1 0" damping="0.1" armature="0.01"/>
      <inertial pos="0 0 -0.5" mass="1" diaginertia="0.02 0.02 0.01"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="swing" gear="2"/></actuator>
</mujoco>
"""
try:
    model = kc.Model.from_mjcf(text)
    print(model.coordinates, model.inputs)
except ImportError as error:
    print(error)

# %% Model.functions
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

s, v = me.dynamicsymbols("s v")
m, g = sm.symbols("m g")
h = sm.Function("h")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", s * N.x + h(s) * N.y)
model = kc.Model(
    *(N, [s], [v], [s.diff() - v]),
    bodies=[me.Particle("bead", P, m)],
    forcelist=[(P, -m * g * N.y)],
    functions={h: kc.Spline([0, 1, 2, 3], [0, 0.2, 0.1, 0])},
)
list(model.functions)

# %% Model.inputs
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.inputs

# %% Model.states
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

(x,), (v,), F = me.dynamicsymbols("x,"), me.dynamicsymbols("v,"), me.dynamicsymbols("F")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", x * N.x)
P.set_vel(N, v * N.x)
model = kc.Model(
    *(N, [x], [v], [x.diff() - v]),
    bodies=[me.Particle("cart", P, 2)],
    forcelist=[(P, F * N.x)],
    states={F: (5 * sm.sin(x) - F) / sm.Symbol("tau")},  # a force that lags
    name="lag",
)
model.states

# %% Model.n_constraints
from kanecore.gallery import four_bar

model = four_bar.build()
model.n_constraints

# %% Model.latex
from kanecore.gallery import cart_pole

model = cart_pole.build()
print(model.latex("mass_matrix", nested=True))

# %% Model.keyframes
import kanecore as kc

text = """
<mujoco model="pendulum">
  <worldbody>
    <body name="bob">
      <joint name="swing" axis="0 1 0"/>
      <inertial pos="0 0 -0.5" mass="1" diaginertia="0.02 0.02 0.01"/>
    </body>
  </worldbody>
  <keyframe><key name="up" qpos="3.14"/></keyframe>
</mujoco>
"""
try:
    model = kc.Model.from_mjcf(text)
    print(model.keyframes["up"].x)
except ImportError as error:
    print(error)

# %% Model.left_out
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.left_out

# %% Model.noncontributing
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.noncontributing

# %% Model.parameters
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.parameters

# %% Model.speeds
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.speeds

# %% Model.partial_accelerations
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.partial_accelerations

# %% Model.partial_angular_accelerations
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.partial_angular_accelerations

# %% Model.report
from kanecore.gallery import cart_pole

model = cart_pole.build()
print(model.report())

# %% Model.routhian
from kanecore.gallery import spherical_pendulum

model = spherical_pendulum.build()
reduced = model.routhian()
reduced.coordinates, reduced.parameters

# %% Model.speed_matrices
from kanecore.gallery import cart_pole

model = cart_pole.build()
model.speed_matrices()

# %% Model.symbolic
from kanecore.gallery import cart_pole

model = cart_pole.build()
print(model.symbolic("mass_matrix", nested=True))
model.symbolic("udot", nested=True)[0]

# %% Model.values
import kanecore as kc

model = kc.Model.from_urdf(kc.gallery.robot_file("panda"), parameters=True)
list(model.values.items())[:2]

# %% Model.whole
from kanecore.gallery import cart_pole

model = cart_pole.build()
description, symbols = model.whole
symbols

# %% Trajectory.animate
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
sol.animate(trace="P2", labels=False)

# %% Trajectory.at
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
sol.at([0.5, 1.0])["q1"]

# %% Trajectory.load
import tempfile
from pathlib import Path

import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
path = Path(tempfile.mkdtemp(), "run.npz")
sol.save(path)
kc.Trajectory.load(path)["q1"][-1]

# %% Trajectory.plot
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
sol.plot("q*", "energy")

# %% Trajectory.samples
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
print(sol.samples)

# %% Trajectory.save
import tempfile
from pathlib import Path

import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
path = Path(tempfile.mkdtemp(), "run.npz")
sol.save(path)
print(kc.Samples.load(path))

# %% Trajectory.sol
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
sol.sol(0.7)  # as in scipy.integrate.solve_ivp; also sol(0.7)

# %% Trajectory.to_csv
import tempfile
from pathlib import Path

import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
path = Path(tempfile.mkdtemp(), "run.csv")
sol.to_csv(path)
print(path.read_text().splitlines()[0])

# %% Trajectory.to_dataframe
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
sol.to_dataframe().tail(3)

# %% Model
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[bob],
    forcelist=[weight, (A, T * N.z)],
)
print(model.parameters, model.inputs)
model.equations()

# %% CompiledModel
import kanecore as kc

dyn = kc.load("cart_pole")
print(dyn)

# %% compile
from kanecore.gallery import cart_pole

import kanecore as kc

dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS)
print(dyn)

# %% load
import kanecore as kc

print(kc.load("panda"))

# %% models
import kanecore as kc

kc.models()[:5]

# %% Trajectory
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
print(sol)
sol["q1"][-1], sol(0.5)

# %% Trajectories
import numpy as np

import kanecore as kc

dyn = kc.load("double_pendulum")
starts = np.zeros((3, 4))
starts[:, 0] = [0.5, 1.0, 1.5]
sol = dyn.simulate((0.0, 1.0), starts, t_eval=[0.0, 0.5, 1.0])
print(sol.x.shape)
sol.row(2)

# %% Samples
import kanecore as kc

dyn = kc.load("double_pendulum")
sol = dyn.simulate((0.0, 2.0), dyn.state(q1=1.0))
table = sol.at([0.0, 0.5, 1.0])
print(table.coordinate_names, table["q1"])

# %% Signal
import kanecore as kc

dyn = kc.load("cart_pole")
force = kc.Signal([0.0, 0.5, 1.0], [1.0, -1.0, 0.0], kind="zoh")
print(force([0.2, 0.7]))
dyn.simulate((0.0, 1.0), dyn.state(), inputs={"F": force})["x"][-1]

# %% Event
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
crossing = kc.Event(lambda t, x: x[0], direction=-1)
sol = dyn.simulate((0.0, 3.0), x, events=[crossing])
sol.t_events[0]

# %% Modes
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

x, y, u, v = me.dynamicsymbols("x y u v")
m, g = sm.symbols("m g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", x * N.x + y * N.y)
P.set_vel(N, u * N.x + v * N.y)
rates = [x.diff() - u, y.diff() - v]
bodies, weights = [me.Particle("puck", P, m)], [(P, -m * g * N.y)]
model = kc.Model(N, [x, y], [u, v], rates, bodies=bodies, forcelist=weights)
dyn = kc.compile(model, parameters={m: 1, g: 9.81})
run = kc.Modes(dyn, ["P"], mu=0.3).simulate((0.0, 1.0), [0.0, 0.1, 1.0, 0.0])
run.modes

# %% ModeRun
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

x, y, u, v = me.dynamicsymbols("x y u v")
m, g = sm.symbols("m g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", x * N.x + y * N.y)
P.set_vel(N, u * N.x + v * N.y)
rates = [x.diff() - u, y.diff() - v]
bodies, weights = [me.Particle("puck", P, m)], [(P, -m * g * N.y)]
model = kc.Model(N, [x, y], [u, v], rates, bodies=bodies, forcelist=weights)
dyn = kc.compile(model, parameters={m: 1, g: 9.81})
run = kc.Modes(dyn, ["P"], mu=0.3).simulate((0.0, 1.0), [0.0, 0.1, 1.0, 0.0])
run.t[-1], run.x[-1], len(run.impacts)

# %% RolloutStatus
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
states, status = dyn.rollout(np.zeros((2, 4)), dt=0.01, steps=5, return_status=True)
status.codes, status.last_good_step

# %% RolloutGradient
import numpy as np

import kanecore as kc

dyn = kc.load("cart_pole")
found = dyn.rollout_vjp(
    *(dyn.state(theta=0.1), None, lambda states: 2 * states),  # of the sum of squares
    dt=0.02,
    steps=50,
    by_parameters=True,
)
found.x0, found.parameters

# %% Discretization
import kanecore as kc

dyn = kc.load("free_body")
step = dyn.discretize(dyn.state(w1=2.0), None, 0.1)
step.A[3:7, 3:7]  # of the quaternion

# %% PeriodicMotion
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, w = me.dynamicsymbols("q w")
mu = sm.Symbol("mu")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
Q = O.locatenew("Q", q * N.x)
Q.set_vel(N, w * N.x)
model = kc.Model(
    *(N, [q], [w], [q.diff() - w]),
    bodies=[me.Particle("Q", Q, 1)],
    forcelist=[(Q, (mu * (1 - q**2) * w - q) * N.x)],
    name="Van der Pol's oscillator",
)
dyn = kc.compile(model, parameters={mu: 1.0})
cycle = dyn.periodic([2.0, 0.5], period=6.0)
cycle.period, cycle.multipliers.round(6)

# %% optimize
import sympy.physics.mechanics as me

import kanecore as kc

(y, v), N = me.dynamicsymbols("y v"), me.ReferenceFrame("N")
O, P = me.Point("O"), me.Point("P")
O.set_vel(N, 0)
P.set_pos(O, y * N.y)
P.set_vel(N, v * N.y)
flight, stance = (
    kc.compile(
        kc.Model(
            *(N, [y], [v], [y.diff() - v]),
            bodies=[me.Particle("P", P, 1)],
            forcelist=[(P, force * N.y)],
            name="a hop on a spring",
        )
    )
    for force in (-9.81, 400 * (1 - y) - 9.81)
)
phases = [
    kc.Phase(stance, (0.02, 0.4), reset={"v": None}, start={"v": -1.5}, end={"y": 1}),
    kc.Phase(flight, (0.1, 1), end={"y": 1}, guess={"y": [1, 1.1, 1]}),
]  # energy is conserved: v returns of itself, and need not be asked to
print(kc.optimize(phases, periodic=True).duration, "s")

# %% Phase
import sympy.physics.mechanics as me

import kanecore as kc

(y, v), N = me.dynamicsymbols("y v"), me.ReferenceFrame("N")
O, P = me.Point("O"), me.Point("P")
O.set_vel(N, 0)
P.set_pos(O, y * N.y)
P.set_vel(N, v * N.y)
flight, stance = (
    kc.compile(
        kc.Model(
            *(N, [y], [v], [y.diff() - v]),
            bodies=[me.Particle("P", P, 1)],
            forcelist=[(P, force * N.y)],
            name="a hop on a spring",
        )
    )
    for force in (-9.81, 400 * (1 - y) - 9.81)
)
landing = kc.Phase(flight, (0.1, 1), start={"y": 1.2, "v": 0}, end={"y": 1})
stop = kc.Phase(stance, (0.02, 0.4), reset={"v": "0.9*v"}, end={"v": 0})
hop = kc.optimize([landing, stop])
print([phase.duration for phase in hop.phases], "s")

# %% sweep
import kanecore as kc

dyn = kc.load("cart_pole")


def last_angle(start):
    return dyn.simulate((0.0, 1.0), dyn.state(theta=start))["theta"][-1]


kc.sweep(last_angle, [0.1, 0.2, 0.3]).results

# %% Sweep
import kanecore as kc

dyn = kc.load("cart_pole")


def last_angle(start):
    return dyn.simulate((0.0, 1.0), dyn.state(theta=start))["theta"][-1]


result = kc.sweep(last_angle, [0.1, 0.2, 0.3])
result.cases, result.array()

# %% Identification
import numpy as np

import kanecore as kc

dyn = kc.load("planar_2r")
rng = np.random.default_rng(1)
x, udot = rng.normal(size=(200, 4)), rng.normal(size=(200, 2))
found = dyn.identify(x, udot, dyn.inverse_dynamics(0.0, x, udot))
found.rank, found.residual < 1e-10

# %% equivalent
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u = me.dynamicsymbols("q u")
x, y, v, w = me.dynamicsymbols("x y v w")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)


def bob(place, q, u, **constraints):
    point = O.locatenew("P", place)
    rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
    body, weight = me.Particle("bob", point, m), (point, m * g * N.x)
    return kc.Model(N, q, u, rates, bodies=[body], forcelist=[weight], **constraints)


along_x, along_y = l * sm.cos(q), l * sm.sin(q)
a = bob(along_x * N.x + along_y * N.y, [q], [u])
circle = [x**2 + y**2 - l**2]
b = bob(x * N.x + y * N.y, [x, y], [v, w], configuration_constraints=circle)
print(kc.equivalent(a, b, {x: along_x, y: along_y}))

# %% build_wheel
import kanecore as kc


def ship(folder):
    """Write a wheel of the cart and pole, which pip installs without SymPy."""
    dyn = kc.load("cart_pole")
    return kc.build_wheel(dyn, folder, name="cart-pole-model", version="1.0")


# %% get_include
from pathlib import Path

import kanecore as kc

Path(kc.get_include(), "kanecore.h").is_file()

# %% transforms.Link
import sympy.physics.mechanics as me

import kanecore as kc

q = me.dynamicsymbols("q")
link = kc.transforms.Link(
    "arm", kc.transforms.dh(0.5, 0, 0, q), mass=2, centre=(-0.25, 0, 0)
)
link.transform

# %% transforms.LinkLoad
import sympy.physics.mechanics as me

import kanecore as kc

q, f = me.dynamicsymbols("q f")
link = kc.transforms.Link("arm", kc.transforms.dh(0.5, 0, 0, q), mass=2)
push = kc.transforms.LinkLoad("arm", force=(0, f, 0))
model = kc.Model.from_transforms([link], forcelist=[push])
model.symbolic("generalized_active_forces", nested=True)

# %% transforms.dh
import sympy as sm

import kanecore as kc

kc.transforms.dh(sm.Symbol("a"), sm.pi / 2, 0, sm.Symbol("theta"))

# %% transforms.link_pose
import sympy.physics.mechanics as me

import kanecore as kc

q1, q2 = me.dynamicsymbols("q1 q2")
links = [
    kc.transforms.Link("upper", kc.transforms.dh(1, 0, 0, q1)),
    kc.transforms.Link("lower", kc.transforms.dh(1, 0, 0, q2)),
]
kc.transforms.link_pose(links, "lower")[:2, 3]

# %% transforms.angular_velocity_matrix
import sympy.physics.mechanics as me

import kanecore as kc

q = me.dynamicsymbols("q")
kc.transforms.angular_velocity_matrix(kc.transforms.dh(1, 0, 0, q))

# %% Spline
import kanecore as kc

street = kc.Spline([0, 1, 2, 3], [0, 0.2, 0.1, 0])
street(1.5), street(1.5, nu=1)  # value and slope

# %% CFunction
import ctypes
import math

import kanecore as kc

real = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
sine = kc.CFunction(
    real(math.sin),
    real(math.cos),
    real(lambda x: -math.sin(x)),
)
len(sine.addresses)

# %% ForceSystem
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

F, a = sm.symbols("F a")
N, O = me.ReferenceFrame("N"), me.Point("O")
P = O.locatenew("P", a * N.x)
system = kc.ForceSystem([(P, F * N.y)])
system.resultant, system.moment(O)

# %% VelocityField
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
field = kc.VelocityField(A, O, N)
field.velocity(P)

# %% Contact
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

z, w = me.dynamicsymbols("z w")
m, g = sm.symbols("m g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", z * N.z)
P.set_vel(N, w * N.z)
ball, weight = me.Particle("ball", P, m), (P, -m * g * N.z)
ground = kc.Plane(O, N.z)
touch = kc.Contact(P, 0.1, on=ground, stiffness=1e4, dissipation=0.5)
model = kc.Model(
    *(N, [z], [w], [z.diff() - w]), bodies=[ball], forcelist=[weight, touch]
)
dyn = kc.compile(model, parameters={m: 1, g: 9.81})
sol = dyn.simulate((0.0, 1.0), [0.3, 0.0])
dyn.output_names, sol["P_depth"].max()

# %% Plane
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

z, w = me.dynamicsymbols("z w")
m, g = sm.symbols("m g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", z * N.z)
P.set_vel(N, w * N.z)
ball, weight = me.Particle("ball", P, m), (P, -m * g * N.z)
ramp = kc.Plane(O, sm.sin(0.1) * N.x + sm.cos(0.1) * N.z)
kc.Contact(P, 0.1, on=ramp, stiffness=1e4)

# %% HeightField
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

z, w = me.dynamicsymbols("z w")
m, g = sm.symbols("m g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", z * N.z)
P.set_vel(N, w * N.z)
ball, weight = me.Particle("ball", P, m), (P, -m * g * N.z)
hills = kc.HeightField(kc.Spline([-1, 0, 1, 2], [0, 0.1, 0, 0.1]))
kc.Contact(P, on=hills, stiffness=1e4)

# %% Sphere
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

z, w = me.dynamicsymbols("z w")
m, g = sm.symbols("m g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", z * N.z)
P.set_vel(N, w * N.z)
ball, weight = me.Particle("ball", P, m), (P, -m * g * N.z)
stone = kc.Sphere(O, 0.2)
kc.Contact(P, 0.1, on=stone, stiffness=1e4)

# %% JointFriction
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
friction = kc.JointFriction("pin", mu=0.2, pin_radius=0.02, transition_velocity=1e-3)
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight, friction],
    joints={"pin": (N, rod, O)},
)
dyn = kc.compile(model, parameters={m: 1, l: 0.5, g: 9.81})
dyn.udot(0.0, [0.3, 1.0])

# %% reaction
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    joints={"pin": (N, rod, O)},
    outputs={"pin_force": kc.reaction("pin").force.magnitude()},
)
dyn = kc.compile(model, parameters={m: 1, l: 0.5, g: 9.81})
dyn.outputs(0.0, [0.3, 1.0])

# %% multiplier
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

x, y, u, v = me.dynamicsymbols("x y u v")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", x * N.x + y * N.y)
P.set_vel(N, u * N.x + v * N.y)
model = kc.Model(
    *(N, [x, y], [u, v], [x.diff() - u, y.diff() - v]),
    configuration_constraints={"rod": x**2 + y**2 - l**2},
    bodies=[me.Particle("bob", P, m)],
    forcelist=[(P, -m * g * N.y)],
    outputs={"tension": 2 * l * kc.multiplier("rod")},
)
dyn = kc.compile(model, parameters={m: 1, l: 1, g: 9.81})
dyn.outputs(0.0, [0.6, -0.8, 0.0, 0.0])

# %% KanesMethod
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
km = kc.KanesMethod(N, [q], [u], [q.diff() - u])
fr, frstar = km.kanes_equations([bob], [weight])
km.mass_matrix, km.forcing

# %% KanecoreError
import kanecore as kc

[error.__name__ for error in kc.KanecoreError.__subclasses__()]

# %% ModelError
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u = me.dynamicsymbols("q u")
m = sm.Symbol("m")
N, O = me.ReferenceFrame("N"), me.Point("O")
bob = me.Particle("bob", O, m)
try:
    kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob])
except kc.ModelError as error:
    print(error)

# %% CompileError
import kanecore as kc
from kanecore.gallery import cart_pole

try:
    kc.compile(cart_pole.build(), cc="no-such-compiler")
except kc.CompileError as error:
    print(error)

# %% SingularError
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u = me.dynamicsymbols("q u")
m = sm.Symbol("m")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", q**2 * N.x)
P.set_vel(N, 2 * q * u * N.x)
model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[me.Particle("bead", P, m)])
dyn = kc.compile(model, parameters={m: 1.0})
try:
    dyn.udot(0.0, [0.0, 1.0])  # at q = 0 the speed moves nothing
except kc.SingularError as error:
    print(error)

# %% IntegrationError
import kanecore as kc

dyn = kc.load("double_pendulum")
x = dyn.state(q1=0.5, u2=1.0)
try:
    dyn.simulate((0.0, 100.0), x, max_steps=50)
except kc.IntegrationError as error:
    print(error)
    print("it came to", error.trajectory.t[-1])

# %% NonFiniteError
import kanecore as kc

dyn = kc.load("cart_pole")
x = dyn.state(theta=0.1)
try:
    dyn.udot(0.0, x, r=[1e308], p={**dyn.parameters, "m": 1e-200})
except kc.NonFiniteError as error:
    print(error)

# %% WorkerError
import kanecore as kc


def case(number):
    return 1 / number


result = kc.sweep(case, [1, 0])  # an error of a case is no WorkerError: it is kept
result.results[0], result.errors

# %% KanecoreWarning
import warnings

import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.set_vel(N, 2 * l * u * A.x)  # a factor too many
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    model = kc.Model(N, [q], [u], [q.diff() - u], bodies=[bob], forcelist=[weight])
print(told[0].category.__name__, told[0].message)

# %% shapes.Box
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Box(0.2, 0.6, 0.1)},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% shapes.Capsule
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Capsule(0.1, 0.6, "y")},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% shapes.Cylinder
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Cylinder(0.1, 0.6, "y")},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% shapes.Disc
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Disc(0.3)},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% shapes.Ellipsoid
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Ellipsoid(0.1, 0.3, 0.2)},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% shapes.Rod
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Rod(0.6, "y")},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% shapes.Sphere
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

q, u, T = me.dynamicsymbols("q u T")
m, l, g = sm.symbols("m l g")
N, O = me.ReferenceFrame("N"), me.Point("O")
A = N.orientnew("A", "Axis", [q, N.z])
A.set_ang_vel(N, u * N.z)
O.set_vel(N, 0)
P = O.locatenew("P", -l * A.y)
bob = me.Particle("bob", P, m)
weight = (P, -m * g * N.y)
P.v2pt_theory(O, N, A)
rod = me.RigidBody("rod", P, A, m, (me.inertia(A, 0, 0, m * l**2 / 3), P))
model = kc.Model(
    *(N, [q], [u], [q.diff() - u]),
    bodies=[rod],
    forcelist=[weight],
    shapes={"rod": kc.shapes.Sphere(0.2)},
)
model.draw({"q": 0.4}, {"m": 1.0, "l": 0.5, "g": 9.81})

# %% robots.to_pinocchio
from kanecore import robots


def nonlinear_effects(dyn, x, model):
    """Torques that hold gravity and centrifugal forces, by Pinocchio."""
    import pinocchio

    q, v = robots.to_pinocchio(dyn, x, model)
    return pinocchio.nonLinearEffects(model, model.createData(), q, v)


# %% robots.from_pinocchio
from kanecore import robots


def at_rest(dyn, model):
    """The state of Pinocchio's neutral configuration."""
    import numpy as np
    import pinocchio

    q = pinocchio.neutral(model)
    return robots.from_pinocchio(dyn, q, np.zeros(model.nv), model)


# %% gallery.robot_file
import kanecore as kc

kc.gallery.robot_file("panda").name

# %% gallery.robots
import kanecore as kc

kc.gallery.robots()
