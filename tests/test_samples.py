# SPDX-License-Identifier: BSD-3-Clause
"""``sol[10:20]``, ``sol.at(t)``, tables and files: the numbers of the trajectory, without its model."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sm
from mechanisms import compiled, slider
from numpy.testing import assert_array_equal
from sympy.physics.mechanics import dynamicsymbols

import kanecore as kc

X0 = [0.3, 0.4, 0.5, 1.0, -1.0, 0.2]


@pytest.fixture(scope="module")
def sol() -> kc.Trajectory:
    def push(t: float, x: object) -> list[float]:
        return [np.sin(t), 0.0, 0.1]

    return kc.load("rrp").simulate((0, 1), X0, inputs=push)


def same(one: kc.Samples, other: kc.Samples) -> None:
    for what in ("t", "x", "r", "outputs", "energy"):
        assert_array_equal(getattr(one, what), getattr(other, what))
    assert one._names == other._names
    assert (one.name, one.facts) == (other.name, other.facts)


@pytest.mark.parametrize("key", [slice(3, 7), slice(None, None, -2), [0, -1], np.array([2, 2])])
def test_fewer_times(sol: kc.Trajectory, key: object) -> None:
    some = sol[key]
    assert len(some) == len(sol.t[key])
    for what in ("t", "x", "q", "u", "r", "outputs", "energy"):
        assert_array_equal(getattr(some, what), getattr(sol, what)[key])
    assert_array_equal(some.y, sol.y[:, key])
    assert_array_equal(some["theta1"], sol["theta1"][key])
    assert_array_equal(some["tau1"], sol["tau1"][key])
    assert_array_equal(some[dynamicsymbols("d3")], sol["d3"][key])
    assert_array_equal(some[sm.Symbol("tip_x")], sol["tip_x"][key])
    same(some[:], some)


def test_masks_and_slices_of_slices(sol: kc.Trajectory) -> None:
    late = sol[sol.t > 0.5]
    assert 0 < len(late) < len(sol.t)
    assert_array_equal(late[1:].x, sol.x[sol.t > 0.5][1:])
    assert_array_equal(late[1:].outputs, sol.outputs[sol.t > 0.5][1:])
    assert repr(late).startswith("<Samples of 'rrp': t = 0.")
    assert repr(late[:0]) == "<Samples of 'rrp': empty, 0 times>"


def test_any_times(sol: kc.Trajectory) -> None:
    times = np.linspace(0, 1, 7)
    some = sol.at(times)
    assert_array_equal(some.x, sol(times))
    assert_array_equal(some.r[:, 0], np.sin(times))
    dyn = kc.load("rrp")
    assert_array_equal(some.outputs, dyn.outputs(times, some.x, r=some.r))
    assert_array_equal(some.energy, dyn.kinetic_energy(times, some.x) + dyn.potential_energy(times, some.x))
    assert len(sol.at(0.5)) == 1
    with pytest.raises(ValueError, match=r"the run goes from 0\.0 to 1\.0"):
        sol.at([0.5, 2.0])
    with pytest.raises(ValueError, match=r"t has shape \(1, 2\); it must be \(N,\)"):
        sol.at([[0.5, 0.6]])


def test_saved_and_loaded(sol: kc.Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "run.data"  # no other name than the one that was given
    sol.save(path)
    loaded = kc.Trajectory.load(path)
    same(loaded, sol.samples)
    same(kc.Samples.load(str(path))[2:5], sol[2:5])
    assert loaded.facts == {
        "method": "dop853",
        "n_steps": sol.n_steps,
        "n_rejected": sol.n_rejected,
        "nfev": sol.nfev,
        "success": True,
        "status": 0,
        "message": sol.message,
        "energy_drift": sol.energy_drift,
        "constraint_drift": 0.0,
    }
    loaded.save(tmp_path / "again")
    same(kc.Samples.load(tmp_path / "again"), loaded)


def test_a_file_needs_no_model_and_no_pickle(sol: kc.Trajectory, tmp_path: Path) -> None:
    sol.at(np.linspace(0, 1, 5)).save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "fUi" for name in archive)
        assert archive["coordinate_names"].tolist() == ["theta1", "theta2", "d3"]
    code = (
        "import sys; sys.modules['sympy'] = None; import kanecore as kc; print(kc.Samples.load(sys.argv[1])['d3'][-1])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) == sol["d3"][-1]


def test_events_are_saved(tmp_path: Path) -> None:
    """Also those of an event that did not happen; without events there are none."""
    events = [kc.Event(sm.Symbol("theta1") - 0.5), kc.Event(lambda t, x: 5.0)]
    run = kc.load("rrp").simulate((0, 2), X0, events=events)
    run.save(tmp_path / "run.npz")
    loaded = kc.Samples.load(tmp_path / "run.npz")
    for saved, there in ((loaded.t_events, run.t_events), (loaded.y_events, run.y_events)):
        assert saved is not None
        assert there is not None
        assert [part.shape for part in saved] == [part.shape for part in there]
        for one, other in zip(saved, there, strict=True):
            assert_array_equal(one, other)
    assert len(run.t_events[0]) > 0  # type: ignore[index]
    run[:2].save(tmp_path / "part.npz")
    assert kc.Samples.load(tmp_path / "part.npz").t_events is not None
    assert kc.load("rrp").simulate((0, 1), X0)[:].t_events is None


def test_pickled(sol: kc.Trajectory) -> None:
    """What was not asked for yet is there afterwards, and the input function is not needed any more."""
    same(pickle.loads(pickle.dumps(sol[2:5])), sol[2:5])


def test_tables(sol: kc.Trajectory, tmp_path: Path) -> None:
    sol[2:4].to_csv(tmp_path / "some.csv")
    sol.to_csv(tmp_path / "all.csv")
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert (tmp_path / "some.csv").read_text().splitlines() == [lines[0], *lines[3:5]]


def test_an_output_may_be_the_state_or_the_input_of_its_name(tmp_path: Path) -> None:
    """So that linear systems and FMUs have its row; tables show it once."""
    x, F = dynamicsymbols("x F")
    dyn = compiled(slider(outputs={"x": x, "twice": 2 * x, "F": F}))
    sol = dyn.simulate((0, 1), [0.3, 0.0], inputs=[0.5])
    sol.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text().splitlines()[0] == "t,x,u,F,twice"
    assert_array_equal(sol.outputs, np.stack([sol["x"], 2 * sol["x"], sol["F"]], axis=1))
    system = dyn.linear_system(0.0, [0.3, 0.0])
    assert system.C.tolist() == [[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]]
    assert system.D.tolist() == [[0.0], [0.0], [1.0]]


def test_dataframe(sol: kc.Trajectory) -> None:
    pytest.importorskip("pandas", reason="pandas is optional")
    table = sol.to_dataframe()
    assert table.index.name == "t"
    assert_array_equal(table.index, sol.t)
    for name in (*sol.samples.coordinate_names, "omega1", "tau1", "tip_y"):
        assert_array_equal(table[name], sol[name])
    assert table.shape == (len(sol.t), 12)
    assert_array_equal(sol[1:3].to_dataframe()["d3"], sol["d3"][1:3])


def test_a_run_without_steps_outputs_and_inputs(tmp_path: Path) -> None:
    sol = kc.load("kepler").simulate(
        (0, 1), kc.load("kepler").check().x, t_eval=np.linspace(0, 1, 5), dense_output=False
    )
    sol.save(tmp_path / "run.npz")
    loaded = kc.Samples.load(tmp_path / "run.npz")
    assert "energy_drift" not in loaded.facts
    assert loaded.outputs.shape == (5, len(loaded.output_names))
    same(loaded, sol[:])


def test_a_run_that_failed(tmp_path: Path) -> None:
    with pytest.raises(kc.IntegrationError) as caught:
        kc.load("rrp").simulate((0, 1), X0, max_steps=2)
    caught.value.trajectory.save(tmp_path / "run.npz")
    facts = kc.Samples.load(tmp_path / "run.npz").facts
    assert not facts["success"]
    assert "max_steps was reached" in facts["message"]


def test_names_that_are_not_there(sol: kc.Trajectory) -> None:
    with pytest.raises(
        KeyError, match="no coordinate, speed, input or output of 'rrp' is called 'thet1'; did you mean"
    ):
        sol[1:]["thet1"]
    with pytest.raises(KeyError, match="3 is neither a name nor a symbol"):
        sol[3]
    with pytest.raises(KeyError, match="is called '3'"):
        sol[1:][3]
    with pytest.raises(IndexError):
        sol[[1000]]


def test_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("t,q\n")
    np.savez(tmp_path / "other.npz", t=np.arange(3))
    np.save(tmp_path / "one.npy", np.arange(3))
    (tmp_path / "empty").write_bytes(b"")
    for name in ("text", "other.npz", "one.npy", "empty"):
        with pytest.raises(ValueError, match=f"{name}' is no file written by Trajectory.save"):
            kc.Samples.load(tmp_path / name)
    np.savez(tmp_path / "newer.npz", kanecore_samples=np.array(99))
    with pytest.raises(ValueError, match=r"newer.npz' was written by a newer kanecore"):
        kc.Samples.load(tmp_path / "newer.npz")
    with pytest.raises(FileNotFoundError):
        kc.Samples.load(tmp_path / "none")
