# SPDX-License-Identifier: BSD-3-Clause
"""What a trajectory offers beside its numbers."""

import csv
import pickle

import numpy as np
import pytest

import kanecore as kc

X0 = [0.3, 0.4, 0.5, 1.0, -1.0, 0.2]


@pytest.fixture(scope="module")
def sol():
    return kc.load("rrp").simulate((0, 1), X0)


def test_csv_reads_back_exactly(sol, tmp_path):
    path = tmp_path / "run.csv"
    sol.to_csv(path)
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    states = ["theta1", "theta2", "d3", "omega1", "omega2", "v3"]
    assert names == ["t", *states, "tau1", "tau2", "f3", "tip_x", "tip_y", "tip_z"]
    table = np.array(rows, dtype=float)
    assert np.array_equal(table[:, 0], sol.t)
    assert np.array_equal(table[:, 1:7], sol.x)
    assert np.array_equal(table[:, 7:10], sol.r)
    assert np.array_equal(table[:, 10:], sol.outputs)


def test_repr_says_what_ran(sol):
    assert repr(sol).startswith("<Trajectory of 'rrp': t = 0 ... 1, ")


def test_energy_drift_sees_a_wrong_motion():
    """The drift is measured against the loads' power, so a motion that does not obey them shows."""
    dyn = kc.load("rrp")
    sol = dyn.simulate((0, 1), X0)
    wrong = dyn.simulate((0, 1), X0)
    wrong._p = np.where(np.array(dyn.parameter_names) == "m3", 3.0, wrong._p)
    assert sol.energy_drift < 1e-8
    assert wrong.energy_drift > 1e-2


@pytest.mark.parametrize("chunk", [1, 7, 10])
def test_energy_drift_is_found_in_pieces(chunk, monkeypatch):
    def push(t, x):
        return [np.sin(t), -x[3], 0.1]

    whole, pieces = (kc.load("rrp").simulate((0, 1), X0, method="rk4", dt=0.05, inputs=push) for _ in range(2))
    monkeypatch.setattr("kanecore.motion.trajectory._CHUNK", chunk)
    assert len(pieces.t) == 21
    pieces_error, pieces_largest = pieces._drift
    monkeypatch.undo()
    error, largest = whole._drift
    np.testing.assert_allclose(pieces_error, error, rtol=0, atol=1e-13 * largest)
    assert pieces_largest == largest


def test_no_time_at_all():
    sol = kc.load("rrp").simulate((1, 1), X0)
    assert sol.x.tolist() == [X0]
    assert sol.sol(1.0).tolist() == X0
    assert sol.energy_drift == 0.0


@pytest.mark.parametrize("inputs", [None, [0.1, 0.2, 0.3], kc.Signal([0, 1], [[0, 0, 0], [1, 2, 3]], kind="linear")])
def test_pickled_whole(inputs):
    sol = kc.load("rrp").simulate((0, 1), X0, inputs=inputs)
    again = pickle.loads(pickle.dumps(sol))
    for what in ("t", "x", "r", "outputs", "energy"):
        assert np.array_equal(getattr(again, what), getattr(sol, what))
    assert np.array_equal(again([0.1, 0.77]), sol([0.1, 0.77]))
    assert (again.energy_drift, again.nfev, repr(again)) == (sol.energy_drift, sol.nfev, repr(sol))


def test_pickled_without_its_input_function():
    """What it gave goes along, and what needs it anew says why not."""
    sol = kc.load("rrp").simulate((0, 1), X0, inputs=lambda t, x: [np.sin(t), -x[3], 0.1])
    again = pickle.loads(pickle.dumps(sol))
    assert np.array_equal(again.r[:, 0], np.sin(sol.t))
    assert np.array_equal(again.outputs, sol.outputs)
    assert np.array_equal(again([0.1, 0.77]), sol([0.1, 0.77]))
    with pytest.raises(ValueError, match="the inputs of this run were a function that cannot be pickled"):
        _ = again.energy_drift
    assert sol.energy_drift < 1e-8


def test_drifts_of_a_run_that_kept_no_steps() -> None:
    """The message says what keeps them, and not what was done."""
    sol = kc.load("double_pendulum").simulate((0.0, 1.0), [0.1, 0.2, 0.0, 0.0], t_eval=[0.5, 1.0], dense_output=False)
    for drift in ("energy_drift", "constraint_drift"):
        with pytest.raises(ValueError, match=f"{drift}.* need: simulate with dense_output=True"):
            getattr(sol, drift)
