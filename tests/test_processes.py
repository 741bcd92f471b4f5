# SPDX-License-Identifier: BSD-3-Clause
"""One model in several processes: forked after it was loaded, at any moment; compiled by two at once."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import kanecore as kc
from kanecore.gallery import cart_pole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

BEGIN = """\
import os, sys, threading, time
import numpy as np
import kanecore as kc

def everything(dyn):
    x, udot = np.linspace(0.1, 0.6, dyn.n_x), np.ones(dyn.n_u)
    results = [dyn.rhs(0.0, x), dyn.mass_matrix(0.0, np.tile(x, (3, 1))), dyn.inverse_dynamics(0.0, x, udot)]
    results += [dyn.udot(0.0, np.tile(x, (1024, 1)), threads=2)]  # by threads that a forked child has not
    results += [np.atleast_1d(dyn.kinetic_energy(0.0, x)), dyn.simulate((0.0, 0.5), x, rtol=1e-8).x]
    ws = dyn.workspace()
    ws.x = x
    return b"".join(np.ascontiguousarray(r).tobytes() for r in [*results, ws.rhs()])

def child(function):
    # the exit status of a forked child that runs a function: 0 if that returned true, -14 after 20 s
    pid = os.fork()
    if pid == 0:
        import signal
        signal.alarm(20)
        status = 1
        try:
            status = 0 if function() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""
MODEL = """
from kanecore.gallery import rrp
model = rrp.build()
parameters = rrp.PARAMETERS
"""


def run(code: str, **environment: str) -> str:
    """A process of its own: a fork of pytest's would share more than the model."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore:.*fork:DeprecationWarning", "-c", BEGIN + code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_fork_after_load() -> None:
    """The child evaluates, builds groups, simulates and sets parameters; the parent goes on as if nothing were."""
    run(
        MODEL
        + """
reference = everything(kc.compile(model, parameters=parameters))
dyn = kc.compile(model, parameters=parameters)
dyn.rhs(0.0, np.zeros(6))

def changed():
    dyn.parameters["m2"] = 2.0
    return everything(dyn) != reference

assert child(lambda: everything(dyn) == reference) == 0
assert child(changed) == 0
assert child(lambda: everything(kc.compile(model, parameters=parameters)) == reference) == 0
assert child(lambda: child(lambda: everything(dyn) == reference) == 0) == 0  # and a child of the child
assert everything(dyn) == reference
"""
    )


@pytest.mark.long
def test_prebuilt_model_in_forked_workers() -> None:
    run("""
import multiprocessing
dyn = kc.load("rrp")
reference = everything(dyn)

def work(i):
    return everything(dyn) == reference

with multiprocessing.get_context("fork").Pool(3) as pool:
    assert pool.map(work, range(12)) == [True] * 12
""")


def test_fork_while_another_thread_evaluates_and_simulates(tmp_path: Path) -> None:
    """No lock that this thread holds at the moment of the fork is missed in the child, which has not the thread."""
    dyn = kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS)
    dyn.build("forces", "energies")
    (tmp_path / "model").write_bytes(pickle.dumps(dyn))  # nothing is derived in that process
    code = """
import pickle
dyn = pickle.loads(open(os.environ["MODEL"], "rb").read())
reference, end = everything(dyn), threading.Event()

def busy():
    while not end.is_set():
        everything(dyn)

threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()
statuses = [child(lambda: everything(dyn) == reference) for _ in range(3)]
end.set()
for thread in threads:
    thread.join()
assert statuses == [0] * 3, statuses
"""
    run(code, MODEL=str(tmp_path / "model"))


@pytest.mark.long
def test_fork_while_another_thread_compiles(tmp_path: Path) -> None:
    """The child builds the very group itself."""
    compiler = tmp_path / "slowcc"
    compiler.write_text(
        f'#!/bin/sh\ntouch {tmp_path}/began\nwhile [ ! -e {tmp_path}/on ]; do sleep 0.01; done\nexec cc "$@"\n'
    )
    compiler.chmod(0o755)
    code = (
        MODEL
        + """
from pathlib import Path
folder = Path(os.environ["FOLDER"])
(folder / "on").touch()
dyn = kc.compile(model, parameters=parameters, cc=str(folder / "slowcc"))
(folder / "on").unlink()
(folder / "began").unlink()
thread = threading.Thread(target=dyn.build, args=("energies",))
thread.start()
while not (folder / "began").exists():
    time.sleep(0.01)

def build():
    (folder / "on").touch()
    dyn.build("energies")
    return dyn.kinetic_energy(0.0, np.ones(6)) > 0.0

status = child(build)
thread.join()
assert status == 0, f"the child ended with {status}: -14 is a deadlock"
assert dyn.kinetic_energy(0.0, np.ones(6)) > 0.0
"""
    )
    run(code, FOLDER=str(tmp_path), KANECORE_CACHE_DIR=str(tmp_path / "cache"))


@pytest.mark.long
def test_a_child_does_not_wait_for_its_parent(tmp_path: Path) -> None:
    """Which may be waiting for the child, as for the end of a pipe that both hold: here the compiler waits for it."""
    compiler = tmp_path / "slowcc"
    compiler.write_text(
        f"#!/bin/sh\nif mkdir {tmp_path}/began; then while [ ! -e {tmp_path}/on ]; do sleep 0.01; done; fi\n"
        'exec cc "$@"\n'
    )
    compiler.chmod(0o755)
    code = """
from pathlib import Path
from kanecore.build import compile_library
folder = Path(os.environ["FOLDER"])
text, cc = "int f(void) { return 7; }", str(folder / "slowcc")
thread = threading.Thread(target=compile_library, args=(text,), kwargs={"cc": cc})
thread.start()
while not (folder / "began").exists():
    time.sleep(0.01)
status = child(lambda: compile_library(text, cc=cc).path)
(folder / "on").touch()
thread.join()
assert status == 0, f"the child ended with {status}: -14 is a deadlock"
"""
    run(code, FOLDER=str(tmp_path), KANECORE_CACHE_DIR=str(tmp_path / "cache"))


@pytest.mark.long
@pytest.mark.compiler
def test_two_processes_compile_one_model_at_once(tmp_path: Path) -> None:
    """Four, from Python objects to results, with an empty cache: the same bits, and one entry for each group."""
    code = """
from pathlib import Path
folder = Path(os.environ["FOLDER"])
(folder / f"{os.getpid()}.ready").touch()
while len(list(folder.glob("*.ready"))) < 4:
    time.sleep(0.001)
print(everything(kc.compile(model, parameters=parameters, kernels=["forces"])).hex())
"""
    environment = {**os.environ, "FOLDER": str(tmp_path), "KANECORE_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", BEGIN + MODEL + code]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(4)
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    assert len({printed for printed, _ in outputs}) == 1
    entries = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert len(entries) == 4  # core, its lanes, forces, energies
    assert all(name.startswith("rrp-") for name in entries)
