#!/bin/sh
# One would guess: `solver.step(t, method="normal")` returns the state at t, or raises.
# It is: CVODE interpolates back within its last step only.  For an earlier t the result has success False, and yet
# its t is the one that was asked for, beside the state of another time.  Who reads `.y` alone gets a wrong state.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check scikit-sundae==1.2.0 numpy==2.3.5 || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from sksundae.cvode import CVODE


def oscillator(t, y, slope):
    slope[:] = y[1], -100.0 * y[0]


solver = CVODE(oscillator, rtol=1e-8, atol=1e-10)
solver.init_step(0.0, np.array([1.0, 0.0]))
for _ in range(60):
    reached = solver.step(2.0, method="onestep", tstop=2.0)
asked = 0.25 * reached.t
back = solver.step(asked, method="normal")
print("scikit-sundae", version("scikit-sundae"))
print(f"after steps to t = {reached.t:.6f}: step({asked:.6f}, method='normal') has success {back.success},")
print(f"t {back.t:.6f} and y[0] {back.y[0]:.6f}; the solution has {np.cos(10 * asked):.6f} there,")
print(f"and {np.cos(10 * reached.t):.6f} at {reached.t:.6f}")
assert not back.success and back.t == asked
assert abs(back.y[0] - np.cos(10 * reached.t)) < 1e-4 < abs(back.y[0] - np.cos(10 * asked))
PYTHON
