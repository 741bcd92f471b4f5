# SPDX-License-Identifier: BSD-3-Clause
"""Modules by the names that they had up to release 0.1."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import kanecore as kc
from kanecore import compiled_model
from kanecore._old_paths import MOVED


def forget_old_names() -> None:
    """They stay in sys.modules, and on their packages."""
    for old in MOVED:
        package, _, name = f"kanecore.{old}".rpartition(".")
        if sys.modules.pop(f"{package}.{name}", None):
            vars(sys.modules[package]).pop(name, None)


@pytest.fixture
def forgotten() -> Iterator[None]:
    """No old name was imported before the test, and none is after it."""
    forget_old_names()
    yield
    forget_old_names()


def test_every_old_name_is_the_new_module(forgotten: None) -> None:
    for old, new in MOVED.items():
        with pytest.warns(DeprecationWarning, match=rf"kanecore\.{old} is kanecore\.{new} now"):
            module = import_module(f"kanecore.{old}")
        assert module is import_module(f"kanecore.{new}"), old
        assert module.__name__ == module.__spec__.name == f"kanecore.{new}", old
    assert import_module("kanecore.run").model is compiled_model


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
