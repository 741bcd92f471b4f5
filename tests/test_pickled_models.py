# SPDX-License-Identifier: BSD-3-Clause
"""Pickles of compiled models: the description, and the groups of kernels that there are by then."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery_states import some_state
from mechanisms import slider
from numpy.testing import assert_array_equal

import kanecore as kc
from kanecore.emit import sources
from kanecore.gallery import arm7, cart_pole

STATE = some_state("cart_pole")


def model(**options: Any) -> kc.CompiledModel:
    return kc.compile(cart_pole.build(), parameters=cart_pole.PARAMETERS, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"cc": None}, marks=pytest.mark.compiler),
        pytest.param({"real": "float"}, marks=[pytest.mark.compiler, pytest.mark.long]),
        {"bake": True},
    ],
)
def test_results_are_those_of_the_model(options: dict[str, Any]) -> None:
    """Groups that there were, others, and batches."""
    dyn = model(**options)
    dyn.build("forces")
    dyn.inputs["F"] = 0.5
    again = pickle.loads(pickle.dumps(dyn))
    assert again.inputs["F"] == 0.5
    assert dict(again.parameters) == dict(dyn.parameters)
    assert repr(again) == repr(dyn)
    for x in (STATE, np.tile(STATE, (20, 1))):
        for name in ("rhs", "generalized_active_forces", "kinetic_energy"):
            assert_array_equal(getattr(again, name)(0.0, x), getattr(dyn, name)(0.0, x))


@pytest.mark.parametrize("options", [{}, pytest.param({"cc": None}, marks=[pytest.mark.compiler, pytest.mark.long])])
def test_groups_are_those_that_there_were(options: dict[str, Any]) -> None:
    """Nothing is derived or compiled to pickle a model."""
    dyn = kc.compile(arm7.build(), parameters=arm7.PARAMETERS, **options)
    pickled = pickle.dumps(dyn)
    assert dyn.info["kernels"] == ["core"]
    assert len(pickled) < 150_000
    again = pickle.loads(pickled)
    assert again.info["kernels"] == ["core"]
    assert again.source == dyn.source
    again.build("energies")
    assert pickle.loads(pickle.dumps(again)).info["kernels"] == ["core"]  # opened when it is called


def test_models_lead_back_to_their_description() -> None:
    """To the model that was compiled, that of the gallery; of a pickle to one with the same names and expressions."""
    described = cart_pole.build()
    dyn = kc.compile(described, parameters=cart_pole.PARAMETERS)
    assert dyn.model is described
    loaded = kc.load("cart_pole").model
    again = pickle.loads(pickle.dumps(dyn)).model
    for model in (loaded, again):
        assert model.coordinates == described.coordinates
        assert model.symbolic("mass_matrix", nested=True) == described.symbolic("mass_matrix", nested=True)
    assert kc.compile(again, parameters=cart_pole.PARAMETERS).speed_names == dyn.speed_names


@pytest.mark.compiler
def test_unpickled_models_are_exported(tmp_path: Path) -> None:
    dyn = kc.compile(slider(), parameters={"m": 1.0, "g": 9.81})
    for folder, each in (("first", dyn), ("second", pickle.loads(pickle.dumps(dyn)))):
        each.export_c(tmp_path / folder, kernels=["rhs"])
    written = [sorted(path for path in (tmp_path / name).rglob("*.[ch]")) for name in ("first", "second")]
    assert [path.name for path in written[0]] == [path.name for path in written[1]]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(*written, strict=True))


WITHOUT_SYMPY = """
import pickle, sys, warnings
sys.modules["sympy"] = None
import numpy as np
import kanecore as kc
warnings.simplefilter("ignore", kc.KanecoreWarning)  # a batch is evaluated row by row
dyn = pickle.load(open(sys.argv[1], "rb"))
print(dyn.rhs(0.0, np.tile(dyn.state(theta=0.5), (3, 1)))[2].tobytes().hex(), dyn.kinetic_energy(0.0, dyn.state(v=1.0)))
try:
    dyn.linearize(0.0, dyn.state())
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "options", [pytest.param({}, marks=pytest.mark.long), pytest.param({"cc": None}, marks=pytest.mark.compiler)]
)
def test_without_sympy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    dyn = model(**options)
    dyn.build("energies")
    (tmp_path / "model").write_bytes(pickle.dumps(dyn))
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    command = [sys.executable, "-c", WITHOUT_SYMPY, tmp_path / "model"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rates, energy, *words = done.stdout.split(maxsplit=2)
    assert rates == dyn.rhs(0.0, dyn.state(theta=0.5)).tobytes().hex(), done.stderr
    assert float(energy) == dyn.kinetic_energy(0.0, dyn.state(v=1.0))
    assert "sympy" in words[0]


@pytest.mark.compiler
def test_where_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    dyn = model()
    pickled = pickle.dumps(dyn)
    monkeypatch.setenv("CC", "none")
    again = pickle.loads(pickled)
    assert again.info["machine"]
    assert_array_equal(again.rhs(0.0, STATE), dyn.rhs(0.0, STATE))


def test_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(model())
    monkeypatch.setattr("kanecore._compile.version", lambda: "9.9.9")
    assert sources.version() != "9.9.9"
    with pytest.raises(kc.ModelError, match=rf"pickled by kanecore {sources.version()}, and this is 9\.9\.9"):
        pickle.loads(pickled)
