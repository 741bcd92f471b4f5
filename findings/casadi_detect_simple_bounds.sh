#!/bin/sh
# One would guess: the result "g" of nlpsol holds the constraints at the result "x", whatever the options are.
# It is: with detect_simple_bounds=True rows that are bounds on one variable come back without or with the wrong
# constant and sign, though x is right: x0 - 3 = 0 is reported as 6, 2 x1 - 1 as 2 x1.  Who checks feasibility by "g"
# rejects a solution; evaluate the constraints at x instead.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check casadi==3.8.2 numpy==2.3.5 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import casadi as ca
import numpy as np

x = ca.MX.sym("x", 2)
constraints = ca.vertcat(x[0] - 3, x[0] * x[1], 2 * x[1] - 1)
problem = {"x": x, "f": (x[0] - 1) ** 2 + x[1] ** 2, "g": constraints}
true = ca.Function("g", [x], [constraints])
print("casadi", ca.__version__)
wrong = {}
for detect in (False, True):
    options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "detect_simple_bounds": detect}
    solver = ca.nlpsol("solver", "ipopt", problem, options)
    found = solver(x0=[1, 1], lbg=[0, -10, -10], ubg=[0, 10, 10])
    reported, actual = np.array(found["g"]).ravel(), np.array(true(found["x"])).ravel()
    print(f"detect_simple_bounds={detect}: x {found['x']}, g reported {reported.round(6)}, g at x {actual.round(6)}")
    wrong[detect] = np.max(np.abs(reported - actual))
assert wrong[False] < 1e-12 and wrong[True] > 0.5
PYTHON
