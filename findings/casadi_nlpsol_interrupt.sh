#!/bin/sh
# One would guess: Ctrl-C, or an exception that a signal handler raises as a time limit, ends a call of nlpsol as it ends
# any other call of Python.
# It is: nlpsol with IPOPT swallows the exception, prints a warning, and returns as if it were done; only
# stats()["return_status"] says NonIpopt_Exception_Thrown.  A program that solves in a loop (finer meshes, more starts)
# goes on with the next one, and Ctrl-C seems not to work.  Who calls nlpsol must look for that status and raise again.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check casadi==3.8.2 numpy==2.3.5 2>/dev/null || exit 2
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import os
import signal
import threading

import casadi as ca

signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
x = ca.SX.sym("x", 2000)
valley = sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(1999))
options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.hessian_approximation": "limited-memory"}
solver = ca.nlpsol("solver", "ipopt", {"x": x, "f": valley}, options)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    solver(x0=-1.2)
    raised = False
except KeyboardInterrupt:
    raised = True
print("casadi", ca.__version__, "after Ctrl-C: raised" if raised else "after Ctrl-C: returned", solver.stats()["return_status"])
assert not raised
assert solver.stats()["return_status"] == "NonIpopt_Exception_Thrown"
PYTHON
