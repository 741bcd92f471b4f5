#!/bin/sh
# One would guess: stats()["success"] of CasADi's nlpsol is False where the solver found no solution, as with IPOPT.
# It is: the interface to SLEQP says success for every end: "deadpoint" of constraints that nothing satisfies, and
# "iteration limit" after two iterations.  Read return_status, and evaluate the constraints.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check casadi==3.8.2 numpy==2.3.5 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import casadi as ca

x = ca.MX.sym("x", 2)
impossible = {"x": x, "f": ca.sumsqr(x), "g": x[0] ** 2 + 1}, {"lbg": -1, "ubg": 0}
valley = {"x": x, "f": 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, "g": x[0] + x[1]}, {"lbg": -10, "ubg": 10}
print("casadi", ca.__version__)
said = []
for what, (problem, bounds), options in (
    ("x0² + 1 <= 0", impossible, {}),
    ("two iterations in Rosenbrock's valley", valley, {"max_iter": 2}),
):
    solver = ca.nlpsol("solver", "sleqp", problem, {"print_time": False, **options})
    solver(x0=[-1.2, 1], **bounds)
    stats = solver.stats()
    said.append((stats["return_status"], stats["success"]))
    print(f"sleqp, {what}: return_status {said[-1][0]!r}, success {said[-1][1]}")
solver = ca.nlpsol("solver", "ipopt", impossible[0], {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
solver(x0=[-1.2, 1], **impossible[1])
print(f"ipopt, x0² + 1 <= 0: return_status {solver.stats()['return_status']!r}, success {solver.stats()['success']}")
assert said == [("deadpoint", True), ("iteration limit", True)]
assert not solver.stats()["success"]
PYTHON
