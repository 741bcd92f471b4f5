# SPDX-License-Identifier: BSD-3-Clause
"""Modules by the names that they had up to release 0.1."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import kanecore as kc
from kanecore import compiled_model
from kanecore._old_paths import MOVED


def test_every_old_name_is_the_new_module() -> None:
    """In a process of its own: old names stay in sys.modules, and on their packages."""
    code = """
import sys, warnings
from importlib import import_module
from kanecore._old_paths import MOVED
for old, new in MOVED.items():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        module = import_module(f"kanecore.{old}")
    assert module is import_module(f"kanecore.{new}") and module.__name__ == f"kanecore.{new}", old
    assert module.__spec__.name == module.__name__, old
    found = [w.category for w in said if f"kanecore.{old} is kanecore.{new} now" in str(w.message)]
    assert found == [DeprecationWarning], old
import kanecore.run.model, kanecore.compiled_model
from kanecore.run import model
assert model is kanecore.run.model is kanecore.compiled_model
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_old_name_hides_a_module(root: Path) -> None:
    package = root / "pysrc/kanecore"
    for old in MOVED:
        path = package / old.replace(".", "/")
        assert not path.with_suffix(".py").exists(), old
        assert not path.exists(), old


def test_names_that_code_of_users_holds() -> None:
    """What wheels that users built import; what commands of an environment that was not installed anew import."""
    from kanecore.cli import main
    from kanecore.kanes_method import KanesMethod
    from kanecore.prebuilt import load_wheel

    assert callable(load_wheel)
    assert callable(main)
    assert KanesMethod is kc.KanesMethod


def test_old_pickles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model, a trajectory and batches that an earlier release pickled are found by the names of then."""
    dyn = kc.load("rrp")
    x = np.zeros(dyn.n_x)
    given = [dyn, dyn.simulate((0.0, 0.1), x), dyn.simulate((0.0, 0.1), np.zeros((2, dyn.n_x)))]
    old = {f"kanecore.{new}": f"kanecore.{name}" for name, new in MOVED.items() if name.startswith("run.")}
    old["kanecore.compiled_model"] = "kanecore.run.model"
    old["kanecore.program.bytecode_format"] = "kanecore.machine_code"
    for value in given:
        data = pickle.dumps(value, protocol=0)  # names of modules are lines
        for new, name in old.items():
            data = data.replace(f"c{new}\n".encode(), f"c{name}\n".encode())
        assert b"ckanecore.run." in data
        for name in old.values():
            monkeypatch.delitem(sys.modules, name, raising=False)
        with pytest.warns(DeprecationWarning, match="the old name goes with the next release"):
            again = pickle.loads(data)
        assert type(again) is type(value)
        if value is not dyn:
            assert np.array_equal(again.x, value.x)
    for name in old.values():
        sys.modules.pop(name, None)
    assert import_module("kanecore.compiled_model") is compiled_model
