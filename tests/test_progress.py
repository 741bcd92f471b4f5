# SPDX-License-Identifier: BSD-3-Clause
"""``progress=`` of `simulate`: who is told how far a run is, and what becomes of the run."""

import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sweep import part

import kanecore as kc

X0 = [0.3, 0.4, 0.5, 1.0, -1.0, 0.2]


def slowly(t: float, x: object) -> list[float]:
    """Inputs that take a while."""
    time.sleep(1e-4)
    return [0.0, 0.0, 0.0]


@pytest.mark.parametrize("t1", part([1.0, -1.0], [-1.0]))
def test_a_function_is_called_with_t(t1: float) -> None:
    told, began = list[float](), time.monotonic()
    dyn = kc.load("rrp")
    sol = dyn.simulate((0, t1), X0, method="rk4", dt=1e-3, inputs=slowly, progress=told.append)
    most = (time.monotonic() - began) / 0.1 + 1
    assert 3 < len(told) <= most
    assert told[-1] == t1
    assert np.all(np.diff(np.abs(told)) > 0)
    assert set(told) <= set(sol.t)
    assert_array_equal(sol.x, dyn.simulate((0, t1), X0, method="rk4", dt=1e-3).x)


def test_a_short_run_is_told_of_once() -> None:
    told = list[float]()
    kc.load("rrp").simulate((0, 0.1), X0, progress=told.append)
    assert told == [0.1]


@pytest.mark.parametrize("last", [0.0, 1.0])
def test_what_it_raises_ends_the_run(last: float) -> None:
    """In the middle or at the end; what was reached is kept."""

    def enough(t: float) -> None:
        if t > last * 0.9999:
            raise RuntimeError(f"enough at {t}")

    with pytest.raises(RuntimeError, match="enough at") as caught:
        kc.load("rrp").simulate((0, 1), X0, method="rk4", dt=2e-3, inputs=slowly, progress=enough)
    sol = vars(caught.value)["trajectory"]
    assert f"enough at {sol.t[-1]}" == str(caught.value)
    assert sol.success == (last == 1.0)
    assert len(sol.t) > 10


def test_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm", reason="tqdm is optional")
    kc.load("rrp").simulate((1, 0), X0, progress=True)
    assert "t = 1 of 1 s" in capsys.readouterr().err


def test_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match=r"progress=True draws with tqdm: pip install"):
        kc.load("rrp").simulate((0, 1), X0, progress=True)


def test_neither() -> None:
    with pytest.raises(TypeError, match="progress must be True, False or a function of t, not 3"):
        kc.load("rrp").simulate((0, 1), X0, progress=3)
