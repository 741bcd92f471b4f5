#!/bin/sh
# One would guess: nlpsol with a cost that is zero, as of a problem that only asks for a feasible point, solves it; MX(0) and MX(1, 1),
# which print as 0 and 00, are the same number.
# It is: MX(1, 1) is a scalar without an entry, and nlpsol refuses it ("Expected a dense 'f'"); so does a sum over nothing that was
# made by MX(1, 1).  MX(0), or densify, is taken.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check casadi==3.8.2 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import casadi as ca

quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}


def solved(cost):
    """x of the problem: this cost, subject to x = 3; or the words of the refusal."""
    x = ca.MX.sym("x")
    try:
        solver = ca.nlpsol("s", "ipopt", {"x": x, "f": cost, "g": x}, quiet)
    except RuntimeError as error:
        return "dense" in str(error) and "refused: a dense f is expected"
    return float(solver(x0=1.0, lbg=3.0, ubg=3.0)["x"])


found = {"MX(0)": solved(ca.MX(0)), "MX(1, 1)": solved(ca.MX(1, 1)), "densify(MX(1, 1))": solved(ca.densify(ca.MX(1, 1)))}
for name, value in found.items():
    print(f"CasADi {ca.__version__}, f = {name}: {value}")
assert found["MX(1, 1)"] == "refused: a dense f is expected"
assert abs(found["MX(0)"] - 3.0) < 1e-6 and abs(found["densify(MX(1, 1))"] - 3.0) < 1e-6
PYTHON
