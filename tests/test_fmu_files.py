# SPDX-License-Identifier: BSD-3-Clause
"""FMUs as files: names, units, dependencies, sources, wrong uses, the command."""

import ctypes
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import sympy as sm
import sympy.physics.mechanics as me
from fmu_instances import VERSIONS, build_platform_binary, fmpy, loaded, opened, pendulum, validate_fmu

import kanecore as kc
from kanecore.build.c_compiler import find_compiler
from kanecore.cli.commands import main
from kanecore.run.units import rate_of, unit_of

pytestmark = pytest.mark.compiler


# ------------------------------------------------------------------------------------------- what is written
@pytest.mark.parametrize("version", VERSIONS)
def test_any_names(version: str, tmp_path: Path) -> None:
    length = sm.Symbol("l")
    outputs = {"l": 2 * length, 'der(\u03b8 <&> "x")': 3 * length, "a\nb": length, "l (output)": 4 * length}
    model, q = pendulum('\u03b8 <&> "x"', "'", "time", outputs=outputs, name="int main(){} \x01 \u00e9")
    dyn = kc.compile(model)
    dyn.parameters = {"time": 1.0, "l": 0.5, "g": 9.8}
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, units={q: "deg", "time": "kg", "g": "smoot/s2"})
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    names = [v.name for v in description.modelVariables]
    assert len(set(names)) == len(names)
    assert {'\u03b8 <&> "x"', "'", "time", "l", "der(')", "a\\u000ab"} <= set(names)
    by_reference = {v.valueReference: v for v in description.modelVariables}
    assert by_reference[0].causality == "independent"
    assert by_reference[0].name == "time (independent variable)"
    found = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=0.1, output=names[5:9])
    assert sorted(found[-1].tolist()[1:]) == [0.5, 1.0, 1.5, 2.0]
    assert description.coSimulation.modelIdentifier.isidentifier()


def test_units(tmp_path: Path) -> None:
    model, _ = pendulum()
    dyn = kc.compile(model)
    dyn.parameters = {"m": 1.0, "l": 0.5, "g": 9.8}
    units = {"theta": "rad", "omega": "rad/s", "l": "cm", "g": "m/s2", "m": "stone"}
    description = fmpy.read_model_description(str(dyn.export_fmu(tmp_path / "it.fmu", units=units)))
    defined = {unit.name: unit.baseUnit for unit in description.unitDefinitions}
    given = {v.name: v.unit for v in description.modelVariables}
    assert given == {**units, "time": "s", "der(theta)": "rad/s", "der(omega)": "rad/s2"}
    assert defined["stone"] is None
    assert (defined["cm"].m, defined["cm"].factor) == (1, 0.01)
    assert (defined["rad/s2"].rad, defined["rad/s2"].s) == (1, -2)


@pytest.mark.parametrize(
    ("name", "factor", "powers"),
    [
        ("kg.m2/s2", 1.0, {"kg": 1, "m": 2, "s": -2}),
        ("N*m", 1.0, {"kg": 1, "m": 2, "s": -2}),
        ("N.m.s/rad", 1.0, {"kg": 1, "m": 2, "s": -1, "rad": -1}),
        ("W/(m2.K)", 1.0, {"kg": 1, "s": -3, "K": -1}),
        ("m^2", 1.0, {"m": 2}),
        ("s-1", 1.0, {"s": -1}),
        ("1/s", 1.0, {"s": -1}),
        ("km/h", 1.0 / 3.6, {"m": 1, "s": -1}),
        ("rpm", np.pi / 30.0, {"rad": 1, "s": -1}),
        ("1", 1.0, {}),
        ("furlong", 1.0, None),
        ("10", 1.0, None),
        ("m/", 1.0, None),
    ],
)
def test_units_are_read(name: str, factor: float, powers: dict[str, int] | None) -> None:
    unit = unit_of(name)
    assert unit.powers == powers
    assert unit.factor == pytest.approx(factor)


def test_units_of_rates() -> None:
    assert [rate_of(unit_of(name)).name for name in ("m", "m/s", "km/h")] == ["m/s", "m/s2", "km/(h.s)"]
    assert rate_of(unit_of("furlong")) is None


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    one, two = (dyn.export_fmu(tmp_path / f"{i}.fmu", x0=x, cc="none").read_bytes() for i in (1, 2))
    assert one == two
    dyn.parameters["m"] = 0.123
    changed = dyn.export_fmu(tmp_path / "1.fmu", x0=x, cc="none").read_bytes()
    assert changed != one


def test_dependencies_are_those_that_move(tmp_path: Path) -> None:
    """No derivative of a state or output with respect to what it is said not to depend on."""
    dyn, x = loaded("quadrotor")
    path = dyn.export_fmu(tmp_path / "it.fmu", x0=x)
    description = fmpy.read_model_description(str(path))
    with opened(path, dyn) as one:
        one.begin()
        knowns = [*one.states, *(one.vr[key] for key in dyn.input_names)]
        for unknown in [*description.derivatives, *description.outputs]:
            row = one.jacobian([unknown.variable.valueReference], knowns)[0]
            named = {v.valueReference for v in unknown.dependencies}
            assert {known for known, slope in zip(knowns, row, strict=True) if slope} <= named
        assert sum(len(u.dependencies) for u in description.derivatives) < len(description.derivatives) * len(knowns)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_default_experiment(version: str, tmp_path: Path) -> None:
    dyn = kc.load("cart_pole")
    for options, expected in (({}, {}), ({"stop_time": 5, "step_size": 1e-3}, {"stopTime": 5.0, "stepSize": 1e-3})):
        path = dyn.export_fmu(tmp_path / "it.fmu", version=version, cc="none", **options)
        with zipfile.ZipFile(path) as archive:
            found = ET.fromstring(archive.read("modelDescription.xml")).find("DefaultExperiment")
        given = {name: float(value) for name, value in found.attrib.items()}
        assert given == {"startTime": 0.0, "tolerance": 1e-8, **expected}


# ---------------------------------------------------------------------------------------------- wrong use
def test_wrong_use(tmp_path: Path) -> None:
    dyn, path = kc.load("four_bar"), tmp_path / "it.fmu"
    for wrong, words in (
        ({"path": tmp_path / "it.zip"}, "ends in .fmu"),
        ({"path": tmp_path / "missing" / "it.fmu"}, "there is no folder"),
        ({"version": "1.0"}, "'2.0' or '3.0'"),
        ({"method": "rk4"}, "'dop853'"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"drift": -1.0}, "drift is -1.0"),
        ({"stop_time": 0.0}, "stop_time is 0.0; it must be a positive number of seconds"),
        ({"step_size": float("inf")}, "step_size is inf"),
        ({"stop_time": 1, "step_size": 2}, "step_size is 2, longer than the run"),
        ({"x0": [0.1, 0.2, 0.3, 0.0, 0.0, 0.0]}, "does not satisfy the constraints"),
        ({"x0": [0.1, 0.2]}, r"expected \(6,\): one state"),
        ({"units": {"q1": " "}}, "unit of 'q1'"),
        ({"units": {"q1": (0.5, 0, 0)}}, "unit of 'q1' .* whole powers"),
    ):
        with pytest.raises(ValueError, match=words):
            dyn.export_fmu(**{"path": path, **wrong})
    with pytest.raises(KeyError, match=r"'qq1'.*did you mean 'q1'"):
        dyn.export_fmu(path, units={"qq1": "rad"})
    for units in ({"q1": None}, ["rad"]):
        with pytest.raises(TypeError, match="unit"):
            dyn.export_fmu(path, units=units)
    folder = tmp_path / "folder.fmu"
    folder.mkdir()
    with pytest.raises(ValueError, match="a folder"):
        dyn.export_fmu(folder)
    assert [item.name for item in tmp_path.iterdir()] == ["folder.fmu"]


def test_what_has_no_value_is_named(tmp_path: Path) -> None:
    dyn = kc.compile(pendulum()[0])
    dyn.parameters["l"] = 1.0
    with pytest.raises(kc.ModelError, match="the parameters g, m never got a value"):
        dyn.export_fmu(tmp_path / "it.fmu")
    with pytest.raises(kc.ModelError, match="the inputs theta, theta_d, theta_dd never got a value"):
        kc.load("rotating_tube").export_fmu(tmp_path / "it.fmu")
    assert not list(tmp_path.iterdir())


def test_callables_are_refused(tmp_path: Path) -> None:
    t = me.dynamicsymbols._t
    q, f = sm.Function("theta")(t), sm.Function("f")
    functions = {f: kc.CFunction(*(ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value,) * 4)}
    model, _ = pendulum(functions=functions, outputs={"height": f(q)})
    dyn = kc.compile(model)
    dyn.parameters = {"m": 1.0, "l": 0.5, "g": 9.8}
    with pytest.raises(kc.ModelError, match=r"cannot become an FMU: it calls f by address"):
        dyn.export_fmu(tmp_path / "it.fmu")


def test_an_existing_file_is_replaced_by_a_whole_one(tmp_path: Path) -> None:
    dyn, x = loaded("cart_pole")
    path = tmp_path / "it.fmu"
    path.write_text("old")
    with pytest.raises(kc.CompileError):
        dyn.export_fmu(path, x0=x, cc="false")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["it.fmu"]
    assert zipfile.is_zipfile(dyn.export_fmu(path, x0=x, cc="none"))


def test_without_a_compiler_it_holds_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanecore.export.fmu.is_there", lambda: False)
    dyn, _ = loaded("cart_pole")
    with pytest.warns(kc.KanecoreWarning, match="C sources alone"):
        path = dyn.export_fmu(tmp_path / "it.fmu")
    assert not [name for name in zipfile.ZipFile(path).namelist() if name.startswith("binaries")]
    assert validate_fmu(str(path)) == []


@pytest.mark.parametrize("real", ["double", "float"])
def test_models_in_floats_and_without_a_compiler(real: str, tmp_path: Path) -> None:
    """The FMU is in doubles, whatever the numbers of the model are."""
    dyn = kc.compile(pendulum()[0], real=real, cc="none" if real == "double" else None)
    dyn.parameters = {"m": 1.0, "l": 0.5, "g": 9.8}
    path = dyn.export_fmu(tmp_path / "it.fmu", x0={"theta": 0.5})
    found = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=1.0, output=["theta"])
    exact = kc.compile(pendulum()[0], parameters={"m": 1.0, "l": 0.5, "g": 9.8}).simulate((0.0, 1.0), [0.5, 0.0])
    assert found["theta"][-1] == pytest.approx(exact.x[-1, 0], abs=2e-6)


# --------------------------------------------------------------------------------------------------- sources
def compiled(folder: Path, *words: str) -> None:
    """Runs the compiler on C99 with all warnings as errors."""
    command = [*find_compiler(), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and "sanitize" in done.stderr:
        pytest.skip(f"this compiler has no sanitizers: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "version"), [("four_bar", "2.0"), ("quadrotor", "3.0")])
def test_sources_under_sanitizers(name: str, version: str, root: Path, tmp_path: Path) -> None:
    """The listed sources, without warnings; memory is taken for instances and copies of states, and given back."""
    dyn, x = loaded(name)
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x, cc="none")
    folder = tmp_path / "it"
    zipfile.ZipFile(path).extractall(folder)
    description = fmpy.read_model_description(str(folder))
    sources = description.buildConfigurations[0].sourceFileSets[0].sourceFiles
    assert {item.name for item in (folder / "sources").glob("*.c")} == set(sources)
    here, sanitizers = folder / "sources", ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    counted = [f"-D{name}=counted_{name}" for name in ("malloc", "calloc", "free")]
    compiled(here, "-c", "-include", "stdlib.h", *counted, *sanitizers, *sources)
    objects = [str(Path(source).with_suffix(".o")) for source in sources]
    face = ["-DFMI2"] if version == "2.0" else []
    compiled(here, *face, "-I.", *sanitizers, str(root / "tests/c/fmu_run.c"), *objects, "-o", "run", "-lm")
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([str(here / "run")], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


# FMPy leaves its folder to the collector of garbage, which warns.
@pytest.mark.packaging
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("version", VERSIONS)
def test_fmpy_builds_the_sources(version: str, tmp_path: Path) -> None:
    dyn, x = loaded("four_bar")
    path = dyn.export_fmu(tmp_path / "it.fmu", version=version, x0=x, cc="none")
    folder = tmp_path / "it"
    zipfile.ZipFile(path).extractall(folder)
    if shutil.which("cmake") is None:
        pytest.skip("FMPy builds with CMake")
    build_platform_binary(folder, generator="Unix Makefiles")
    found = fmpy.simulate_fmu(str(folder), fmi_type="CoSimulation", stop_time=0.5, output=["q1"])
    assert found["q1"][-1] == pytest.approx(dyn.simulate((0.0, 0.5), x).x[-1, 0], abs=1e-6)


def test_the_library_exports_fmi_alone(tmp_path: Path) -> None:
    path = loaded("cart_pole")[0].export_fmu(tmp_path / "it.fmu")
    (name,) = [name for name in zipfile.ZipFile(path).namelist() if name.startswith("binaries")]
    library = ctypes.CDLL(zipfile.ZipFile(path).extract(name, tmp_path))
    assert library.fmi3GetVersion
    for hidden in ("kc_get_model", "kc_integrate", "kc_fmu_new"):
        with pytest.raises(AttributeError):
            getattr(library, hidden)


# ----------------------------------------------------------------------------------------------- command line
def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.fmu"
    words = ["--fmi-version", "2.0", "--parameter", "m=0.25", "--input", "F=0.5", "--state", "theta=0.3"]
    assert main(["export", "cart_pole", "--fmu", str(path), *words, "--unit", "theta=rad"]) == 0
    assert str(path) in capsys.readouterr().out
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    variables = {v.name: v for v in description.modelVariables}
    assert description.fmiVersion == "2.0"
    assert [float(variables[name].start) for name in ("m", "F", "theta", "x")] == [0.25, 0.5, 0.3, 0.0]
    assert variables["theta"].unit == "rad"
    assert {name: variables[name].unit for name in ("I", "b", "g", "F", "v")} == {
        "I": "kg.m2",
        "b": "kg/s",
        "g": "m/s2",
        "F": "kg.m/s2",
        "v": "m/s",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rotating_tube"], "never got a value"),
        (["cart_pole", "--parameter", "zz=1"], "'zz'"),
        (["cart_pole", "--parameter", "m"], "it must be NAME=VALUE"),
        (["cart_pole", "--parameter", "m=heavy"], "must be a finite number"),
        (["cart_pole", "--input", "zz=1"], "'zz'"),
        (["cart_pole", "--unit", "zz=m"], "'zz'"),
        (["cart_pole", "--state", "zz=1"], "'zz'"),
    ],
)
def test_command_line_refuses(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *words, "--fmu", str(tmp_path / "it.fmu")]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_wants_a_place_for_it(tmp_path: Path) -> None:
    for name in (tmp_path / "it.zip", tmp_path / "missing" / "it.fmu"):
        with pytest.raises(SystemExit, match="2"):
            main(["export", "cart_pole", "--fmu", str(name)])


def test_parameters_that_are_baked_in_are_none(tmp_path: Path) -> None:
    dyn = kc.compile(pendulum()[0], parameters={"m": 1.0, "l": 0.5, "g": 9.8}, bake=True)
    path = dyn.export_fmu(tmp_path / "it.fmu", x0={"theta": 0.3})
    description = fmpy.read_model_description(str(path))
    assert not [v for v in description.modelVariables if v.causality == "parameter"]
    found = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=0.5, output=["theta"])
    assert found["theta"][-1] == pytest.approx(dyn.simulate((0.0, 0.5), {"theta": 0.3}).x[-1, 0], abs=1e-6)


def test_the_licence_goes_along(root: Path, tmp_path: Path) -> None:
    path = loaded("cart_pole")[0].export_fmu(tmp_path / "it.fmu", cc="none")
    text = zipfile.ZipFile(path).read("documentation/licenses/LICENSE.kanecore.txt").decode()
    assert text == (root / "LICENSE").read_text(encoding="utf-8")
