#!/bin/sh
# One would guess: all pathways of SymPy's mechanics take a force of the same sign, so that an actuator may be moved from a
# straight line to one that wraps around a cylinder.  The docstring of WrappingPathway.to_loads says expansile, as for
# LinearPathway.
# It is: LinearPathway.to_loads(F) pushes its ends apart for F > 0, WrappingPathway.to_loads(F) pulls them together: the power
# of its loads is -F times the extension velocity.  A stretched spring on it accelerates away.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check sympy==1.14.0 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import sympy as sm
import sympy.physics.mechanics as me

q, u, F = me.dynamicsymbols("q"), me.dynamicsymbols("u"), sm.Symbol("F")
r = sm.Rational(1, 2)
N = me.ReferenceFrame("N")
O = me.Point("O")
O.set_vel(N, 0)


def ratio(pathway):
    """Power of the loads of F, divided by F times the extension velocity, at q = 0.7 and u = 1.3."""
    velocity = pathway.extension_velocity
    power = sum(load.vector.dot(load.location.vel(N)) for load in pathway.to_loads(F) if isinstance(load, me.Force))
    power += sum(load.vector.dot(load.location.ang_vel_in(N)) for load in pathway.to_loads(F) if isinstance(load, me.Torque))
    values = {q.diff(me.dynamicsymbols._t): u, q: sm.Rational(7, 10), u: sm.Rational(13, 10), F: 1}
    return float((power / (F * velocity)).subs(values).subs(values).doit().evalf())


A = O.locatenew("A", (1 + q) * N.x)
A.set_vel(N, u * N.x)
straight = me.LinearPathway(O, A)
first = O.locatenew("P", r * N.x)
last = O.locatenew("Q", r * sm.cos(q) * N.x + r * sm.sin(q) * N.y)
first.set_vel(N, 0)
last.set_vel(N, u * (-r * sm.sin(q) * N.x + r * sm.cos(q) * N.y))
wrapped = me.WrappingPathway(first, last, me.WrappingCylinder(r, O, N.z))
values = ratio(straight), ratio(wrapped)
print(f"SymPy {sm.__version__}: power / (F * extension velocity): LinearPathway {values[0]:+.3f}, WrappingPathway {values[1]:+.3f}")
assert abs(values[0] - 1) < 1e-9 and abs(values[1] + 1) < 1e-9
PYTHON
