# SPDX-License-Identifier: BSD-3-Clause
"""Four problems of opty's gallery, by opty and by kanecore.

The problems and their numbers are those of opty 1.5's gallery (opty authors,
BSD-2-Clause), rewritten in short.  The documentation shows the cells side by side;
``bench/opty_examples.py`` runs both sides, and compares optima and times.
"""

# %% imports
import matplotlib.pyplot as plt
import numpy as np
import sympy as sm
import sympy.physics.mechanics as me

import kanecore as kc

# %% pendulum by opty
from opty import Problem, create_objective_function

theta, omega, T = me.dynamicsymbols("theta omega T")
I, m, g, d, t = sm.symbols("I m g d t")
states, inputs, n = (theta, omega), (T,), 501
equations = sm.Matrix(
    [theta.diff() - omega, I * omega.diff() + m * g * d * sm.sin(theta) - T]
)
effort = sm.Integral(T**2, t)
cost, gradient = create_objective_function(
    effort, states, inputs, (), n, 10 / (n - 1), time_symbol=t
)
problem = Problem(
    cost,
    gradient,
    equations,
    states,
    n,
    10 / (n - 1),
    known_parameter_map={I: 1.0, m: 1.0, g: 9.81, d: 1.0},
    instance_constraints=(
        theta.func(0.0),
        omega.func(0.0),
        theta.func(10.0) - np.pi,
        omega.func(10.0),
    ),
    bounds={T: (-2.0, 2.0)},
    time_symbol=t,
    backend="numpy",
)
guess = np.random.default_rng(0).normal(size=problem.num_free)
solution, info = problem.solve(guess)

# %% pendulum by kanecore
theta, omega, T = me.dynamicsymbols("theta omega T")
m, g, d = sm.symbols("m g d")
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
A = N.orientnew("A", "Axis", [theta, N.z])
P = O.locatenew("P", -d * A.y)
pendulum = kc.Model(
    *(N, [theta], [omega], [theta.diff() - omega]),
    bodies=[me.Particle("bob", P, m)],
    forcelist=[(P, -m * g * N.y), (A, T * N.z)],
    name="pendulum",
)
dyn = kc.compile(pendulum, parameters={m: 1, g: 9.81, d: 1})
sol = dyn.optimize(
    10,
    start=dyn.state(),
    end=dyn.state(theta=np.pi),
    cost="T**2",
    bounds={"T": (-2, 2)},
    guess={"theta": [0, 0.5, -0.5, 1, -1, 2, -2, np.pi]},
)
print(sol)

# %% identification by opty
from opty import Problem

y1, y2, clock = me.dynamicsymbols("y1 y2 clock")
mu, p, t = sm.symbols("mu p t")
n = 100
times = np.linspace(0, 1, n)
measured = np.sin(np.pi * times) + np.random.default_rng(0).normal(0, 0.05, n)
load = (mu**2 + p**2) * sm.sin(p * clock)
equations = sm.Matrix([y1.diff() - y2, y2.diff() - mu**2 * y1 + load])


def squares(free):
    return np.sum((free[:n] - measured) ** 2) / (n - 1)


def slopes(free):
    result = np.zeros_like(free)
    result[:n] = 2 * (free[:n] - measured) / (n - 1)
    return result


problem = Problem(
    squares,
    slopes,
    equations,
    (y1, y2),
    n,
    1 / (n - 1),
    known_parameter_map={mu: 60.0},
    known_trajectory_map={clock: times},
    instance_constraints=(y1.func(0.0), y2.func(0.0) - np.pi),
    time_symbol=t,
    integration_method="midpoint",
)
guess = np.random.default_rng(1).normal(size=problem.num_free)
solution, info = problem.solve(guess)
print("p =", solution[-1])

# %% identification by kanecore
y1, y2, t = *me.dynamicsymbols("y1 y2"), me.dynamicsymbols._t
mu, p = sm.symbols("mu p")
times = np.linspace(0, 1, 100)
measured = np.sin(np.pi * times) + np.random.default_rng(0).normal(0, 0.05, 100)
load = (mu**2 + p**2) * sm.sin(p * t)
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
P = O.locatenew("P", y1 * N.x)
P.set_vel(N, y2 * N.x)
driven = kc.Model(
    *(N, [y1], [y2], [y1.diff() - y2]),
    bodies=[me.Particle("P", P, 1)],
    forcelist=[(P, (mu**2 * y1 - load) * N.x)],
    name="driven",
)
dyn = kc.compile(driven, parameters={mu: 60, p: 1})
found = dyn.fit({"t": times, "y1": measured}, {"p": 1.0}, start={"y1": 0, "y2": np.pi})
print(found)

# %% identification by the same rule
sol = dyn.optimize(
    1,
    start={"y1": 0, "y2": np.pi},
    cost="(y1 - seen)**2",
    known={"seen": kc.Signal(times, measured)},
    unknown={"p": (0, 10)},
    method="midpoint",
    intervals=99,
    refinements=0,
)
print("p =", sol.parameters["p"], "interval error", round(sol.interval_error, 4))

# %% crane: the mechanism
x, q, v, u, F = me.dynamicsymbols("x q v u F")
l, m1, m2, g, t = *sm.symbols("l m1 m2 g"), me.dynamicsymbols._t
N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
A.orient_axis(N, q, N.z)
A.set_ang_vel(N, u * N.z)
O = me.Point("O")
O.set_vel(N, 0)
P1 = O.locatenew("P1", x * N.x)
P1.set_vel(N, v * N.x)
P2 = P1.locatenew("P2", -l * A.y)
P2.v2pt_theory(P1, N, A)
bodies = [me.Particle("mover", P1, m1), me.Particle("load", P2, m2)]
loads = [(P1, F * N.x), (P2, -m2 * g * N.y)]
rates = [x.diff() - v, q.diff() - u]
values = {l: 5.0, m1: 1.0, m2: 10.0, g: 9.81}

# %% crane by opty
from opty import Problem

y = me.dynamicsymbols("y")  # the place of the load
kane = me.KanesMethod(N, [x, q], [v, u], rates)
kane.kanes_equations(bodies, loads)
dynamics = kane.mass_matrix * sm.Matrix([v, u]).diff(t) - kane.forcing
place = sm.Matrix([y - x - l * sm.sin(q)])
equations = sm.Matrix(rates).col_join(dynamics).col_join(place)
states, n, h = (x, q, y, v, u), 150, sm.Symbol("h")
T = (n - 1) * h
rest = (q, v, u)
start = [s.func(0.0) for s in (x, *rest)]
end = [x.func(T) - 15, *(s.func(T) for s in rest)]


def slopes(free):
    result = np.zeros_like(free)
    result[-1] = 1.0
    return result


problem = Problem(
    lambda free: free[-1],
    slopes,
    equations,
    states,
    n,
    h,
    known_parameter_map=values,
    instance_constraints=(*start, *end),
    bounds={F: (-20, 20), x: (0, 15), y: (0, 15), h: (0, 1)},
    time_symbol=t,
    backend="numpy",
)
guess = np.zeros(problem.num_free)
guess[:n] = guess[2 * n : 3 * n] = np.linspace(0, 15, n)
guess[-1] = 0.04
solution, info = problem.solve(guess)
print("duration", (n - 1) * solution[-1])

# %% crane by kanecore
crane = kc.Model(
    *(N, [x, q], [v, u], rates),
    bodies=bodies,
    forcelist=loads,
    outputs={"y": x + l * sm.sin(q)},
    name="crane",
)
dyn = kc.compile(crane, parameters=values)
sol = dyn.optimize(
    (1, 20),
    start=dyn.state(),
    end={"x": 15, "q": 0, "v": 0, "u": 0},
    final_cost="t",
    bounds={"F": (-20, 20), "x": (0, 15), "y": (0, 15)},
)
print(sol)

# %% parking: the mechanism
x, y, theta, delta = me.dynamicsymbols("x y theta delta")
v_x, v_y, omega, beta, F, T = me.dynamicsymbols("v_x v_y omega beta F T")
m, I, a, b, t = *sm.symbols("m I a b"), me.dynamicsymbols._t
N, O = me.ReferenceFrame("N"), me.Point("O")
O.set_vel(N, 0)
A = N.orientnew("A", "Axis", [theta, N.z])
A.set_ang_vel(N, omega * N.z)
B = A.orientnew("B", "Axis", [delta, A.z])
B.set_ang_vel(A, beta * A.z)
centre = O.locatenew("centre", x * N.x + y * N.y)
centre.set_vel(N, v_x * A.x + v_y * A.y)
rear, front = centre.locatenew("rear", -b * A.x), centre.locatenew("front", a * A.x)
no_slip = [
    rear.v2pt_theory(centre, N, A).dot(A.y),
    front.v2pt_theory(centre, N, A).dot(B.y),
]
velocity = x.diff() * N.x + y.diff() * N.y - centre.vel(N)
rates = [
    *(velocity.dot(A.x), velocity.dot(A.y)),
    *(theta.diff() - omega, delta.diff() - beta),
]
bodies = [
    me.RigidBody("car", centre, A, m, (me.inertia(A, 0, 0, I), centre)),
    me.RigidBody("wheel", front, B, m / 6, (me.inertia(B, 0, 0, I / 32), front)),
]
loads = [(rear, F * A.x), (A, -T * A.z), (B, T * A.z)]
values = {m: 1200.0, I: 1300.0, a: 1.5, b: 1.5}

# %% parking by opty
from opty import Problem, create_objective_function

kane = me.KanesMethod(
    *(N, [x, y, theta, delta], [v_x, beta], rates),
    u_dependent=[v_y, omega],
    velocity_constraints=no_slip,
)
equations = sum(kane.kanes_equations(bodies, loads), sm.zeros(2, 1))
equations = equations.col_join(sm.Matrix([*no_slip, *rates]))
states, inputs, n = (x, y, theta, delta, v_x, v_y, omega, beta), (F, T), 501
cost, gradient = create_objective_function(
    sm.Integral(F**2 + T**2, t), states, inputs, (), n, 30 / (n - 1), time_symbol=t
)
start = [s.func(0.0) for s in states]
end = [s.func(30.0) - 2 * (s == y) for s in states]
problem = Problem(
    cost,
    gradient,
    equations,
    states,
    n,
    30 / (n - 1),
    known_parameter_map=values,
    instance_constraints=(*start, *end),
    bounds={delta: (-np.pi / 4, np.pi / 4), T: (-50, 50), F: (-300, 300)},
    time_symbol=t,
)
problem.add_option("nlp_scaling_method", "gradient-based")
guess = np.ones(problem.num_free)
guess[:n] = np.interp(np.arange(n), [0, n / 2, n], [0, 3, 0])
guess[n : 2 * n] = np.linspace(0, 2, n)
solution, info = problem.solve(guess)

# %% parking by kanecore
car = kc.Model(
    *(N, [x, y, theta, delta], [v_x, beta], rates),
    u_dependent=[v_y, omega],
    velocity_constraints=no_slip,
    bodies=bodies,
    forcelist=loads,
    name="parked_car",
)
dyn = kc.compile(car, parameters=values)
sol = dyn.optimize(
    30,
    start=dyn.state(),
    end=dyn.state(y=2),
    cost="F**2 + T**2",
    bounds={"delta": (-np.pi / 4, np.pi / 4), "T": (-50, 50), "F": (-300, 300)},
    guess={"x": [0, 3, 0], "y": [0, 2]},
)
print(sol)
