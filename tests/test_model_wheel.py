# SPDX-License-Identifier: BSD-3-Clause
"""Model wheels: what is in them, what refuses, and that they run where there is no SymPy and no compiler."""

import importlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import sweep
from mechanisms import slider
from test_packaging import Environment, environment  # noqa: F401
from test_without_sympy import output, packages  # noqa: F401

import kanecore as kc
from kanecore.cli.commands import main
from kanecore.wheels.model_wheel import normal_version, tag_with
from kanecore.wheels.platform_tags import platform_tag

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(shutil.which("gcc") is None, reason="compiles models with gcc")]
X = np.array([0.1, 0.4])


@pytest.fixture(scope="module")
def dyn() -> kc.CompiledModel:
    model = kc.compile(slider(), parameters={"m": 7.125, "g": 9.81})
    model.inputs["F"] = 0.25
    return model


@pytest.fixture(scope="module")
def wheel(dyn: kc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """By default for what all processors run, and of a few groups: each level takes a library for each of them."""
    with pytest.MonkeyPatch.context() as patch:
        if not sweep.LONG:
            patch.setattr("kanecore.wheels.model_wheel.levels", lambda machine: ())
            patch.setattr("kanecore.wheels.model_wheel.GROUPS", ("core", "energies"))
        yield kc.build_wheel(dyn, tmp_path_factory.mktemp("wheel"), name="Some.cart-pole", version="1.0-1")


def unpacked(wheel: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of its module, which can be imported; kanecore is there already."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if "/runtime/" not in name])
    monkeypatch.syspath_prepend(folder)
    module = wheel.name.partition("-")[0]
    monkeypatch.delitem(sys.modules, module, raising=False)
    importlib.invalidate_caches()
    return module


def test_same_bits(dyn: kc.CompiledModel, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = importlib.import_module(unpacked(wheel, tmp_path, monkeypatch)).load()
    assert dict(loaded.parameters) == dict(dyn.parameters)
    assert dict(loaded.inputs) == dict(dyn.inputs)
    for x in (X, np.tile(X, (9, 1))):
        assert loaded.rhs(0.0, x).tobytes() == dyn.rhs(0.0, x).tobytes()
    loaded.parameters["m"] = 1.0
    copy = pickle.loads(pickle.dumps(loaded))
    assert copy.parameters["m"] == 1.0
    assert copy.rhs(0.0, X).tobytes() == loaded.rhs(0.0, X).tobytes()
    with pytest.raises(kc.ModelError, match="comes from a wheel, without its description"):
        _ = loaded.model
    with pytest.raises(kc.ModelError, match="comes from a wheel"):
        kc.build_wheel(loaded, tmp_path, name="again", version="1")


def test_it_brings_its_run_time(wheel: Path, dyn: kc.CompiledModel, packages: Path, tmp_path: Path) -> None:  # noqa: F811
    """In a Python that has neither kanecore nor SymPy."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        names = archive.namelist()
    assert not [name for name in names if "__pycache__" in name or "/_lib/" in name]
    code = (
        "import some_cart_pole, numpy as np\ndyn = some_cart_pole.load()\nimport kanecore as kc\n"
        "dyn.simulate((0.0, 0.1), np.zeros(2)).energy_drift\n"
        "print(kc.__file__, kc.__version__, dyn.rhs(0.0, np.array([0.1, 0.4])).tobytes().hex())"
    )
    file, version, bits = output(code, tmp_path / "site", packages).split()
    assert Path(file).is_relative_to(tmp_path / "site" / "some_cart_pole" / "runtime")
    assert (version, bits) == (kc.__version__, dyn.rhs(0.0, X).tobytes().hex())


def test_contents(wheel: Path, dyn: kc.CompiledModel, tmp_path: Path, root: Path) -> None:
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.startswith(f"some_cart_pole-1.0.post1-{python}-{python}")
    again = kc.build_wheel(dyn, tmp_path / "new", name="Some.cart-pole", version="1.0-1")
    assert again.read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = message_from_bytes(archive.read("some_cart_pole-1.0.post1.dist-info/METADATA"))
    assert "some_cart_pole/py.typed" in names
    assert metadata["Version"] == "1.0.post1"
    asked = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    assert set(asked) == {*metadata.get_all("Requires-Dist"), "sympy>=1.13"}  # all that kanecore asks for, but SymPy
    page = metadata.get_payload(decode=True).decode()
    assert "model slider: n_q = 1" in page
    assert "| parameter | `m` | 7.125 |" in page


@pytest.mark.parametrize("by", [1, -1])
def test_another_abi_is_refused(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: int) -> None:
    module = unpacked(wheel, tmp_path, monkeypatch)
    path = tmp_path / module / "model.json"
    facts = json.loads(path.read_text())
    assert facts["abi"] == kc.ABI_VERSION
    path.write_text(json.dumps({**facts, "abi": facts["abi"] + by}))
    what = "upgrade kanecore" if by > 0 else "a newer version of this wheel"
    words = rf"Some.cart-pole 1.0.post1 .*ABI version {facts['abi'] + by} .*ABI version {kc.ABI_VERSION}: .*{what}"
    with pytest.raises(ImportError, match=words):
        importlib.import_module(module).load()


@pytest.mark.parametrize(
    "name", ["", "a b", "-a", "1arm", "class", "json", "test", "Test", "imp", "kanecore", "ärm", "a/b", "../a"]
)
def test_names_that_are_none(dyn: kc.CompiledModel, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"^name is "):
        kc.build_wheel(dyn, tmp_path, name=name, version="1")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("version", ["", "x", "1.0.x", "1..0", "1.0\nName: b", "1+"])
def test_versions_that_are_none(dyn: kc.CompiledModel, tmp_path: Path, version: str) -> None:
    with pytest.raises(ValueError, match="PEP 440"):
        kc.build_wheel(dyn, tmp_path, name="a", version=version)


def test_versions_are_written_as_packaging_does() -> None:
    packaging = pytest.importorskip("packaging.version")
    for version in ("1", "v1.0", "01.2", "1!2.0", "1.0-alpha.1", "1.0c", "1.0-3", "1.0.rev2", "1.dev", "1.0+Ab_1.02"):
        assert normal_version(version) == str(packaging.Version(version))


def test_wrong_use(dyn: kc.CompiledModel, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"is a file"):
        kc.build_wheel(dyn, tmp_path / "file", name="a", version="1")
    with pytest.raises(TypeError, match=r"kc\.compile"):
        kc.build_wheel("cart_pole", tmp_path, name="a", version="1")  # type: ignore[arg-type]
    with pytest.raises(kc.CompileError, match="needs a compiler"):
        kc.build_wheel(dyn, tmp_path, name="a", version="1", cc="none")
    with pytest.raises(kc.CompileError, match=r"builds for linux_aarch64, and the run time .* runtime=False"):
        tag_with(
            [b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\x00\0libc.musl.so.1\0"],
            [b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00"],
        )


def test_without_the_run_time(dyn: kc.CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = kc.build_wheel(dyn, tmp_path, name="arm", version="1", runtime=False)
    assert wheel.name.startswith("arm-1-py3-none-")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "runtime" in name]
        metadata = message_from_bytes(archive.read("arm-1.dist-info/METADATA"))
    assert metadata["Requires-Dist"].startswith("kanecore>=")
    loaded = importlib.import_module(unpacked(wheel, tmp_path / "x", monkeypatch)).load()
    assert loaded.rhs(0.0, X).tobytes() == dyn.rhs(0.0, X).tobytes()


@pytest.mark.long
def test_parameters_without_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dyn = kc.compile(slider(), parameters={"m": 2.0})
    wheel = kc.build_wheel(dyn, tmp_path, name="arm", version="1")
    loaded = importlib.import_module(unpacked(wheel, tmp_path / "x", monkeypatch)).load()
    assert loaded.parameters["m"] == 2.0
    assert np.isnan(loaded.parameters["g"])
    dyn.parameters["g"] = loaded.parameters["g"] = 9.81
    assert loaded.rhs(0.0, X).tobytes() == dyn.rhs(0.0, X).tobytes()
    for mine, its in zip(loaded.linearize(0.0, X), dyn.linearize(0.0, X), strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(its).tobytes()


@pytest.mark.long
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "cart_pole", "--wheel", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [Path(capsys.readouterr().out.split()[-1]).name]


def test_a_version_that_no_wheel_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "cart_pole", "--wheel", str(tmp_path), "--version", "x"]) == 1
    assert "PEP 440" in capsys.readouterr().err


def test_tag_of_what_glibc_is_needed() -> None:
    head = b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00"
    assert platform_tag([head + b"\0GLIBC_2.2.5\0", head + b"\0GLIBC_2.29\0"]) == "manylinux_2_29_x86_64"
    assert platform_tag([head]) == "manylinux_2_17_x86_64"
    assert platform_tag([head + b"\0libc.musl-x86_64.so.1\0"]) == "linux_x86_64"


# ----------------------------------------------------------------------------------------------- installed by pip
USE = """
import sys
sys.modules["sympy"] = None
import some_cart_pole
import numpy as np
print(some_cart_pole.load().rhs(0.0, np.array([0.1, 0.4])).tobytes().hex())
"""


@pytest.mark.packaging
@pytest.mark.skipif(find_spec("ziglang") is None, reason="compiles for an old glibc with ziglang")
def test_installed(
    dyn: kc.CompiledModel,
    environment: Environment,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not sweep.LONG:
        monkeypatch.setattr("kanecore.wheels.model_wheel.levels", lambda machine: ())  # as in `wheel`
    target = "x86_64-linux-gnu.2.17"
    cc = [sys.executable, "-m", "ziglang", "cc", "-target", target]
    wheel = kc.build_wheel(dyn, tmp_path, name="some-cart-pole", version="1", cc=cc, runtime=False)
    assert wheel.name == "some_cart_pole-1-py3-none-manylinux_2_17_x86_64.whl"
    environment.install(wheel)
    bare = {"PATH": str(tmp_path), "PYTHONPATH": str(Path(kc.__file__).parents[1]), "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run([environment.python, "-c", USE], env=bare, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == dyn.rhs(0.0, X).tobytes().hex(), done.stderr


@pytest.mark.packaging
@pytest.mark.skipif(
    find_spec("ziglang") is None or shutil.which("qemu-aarch64") is None,
    reason="needs ziglang to compile for aarch64 and qemu-aarch64 to run it",
)
@pytest.mark.parametrize("name", ["rrp", "four_bar", "free_body"])
def test_kernels_run_on_aarch64(name: str, tmp_path: Path) -> None:
    """By QEMU's emulation of a user's process, against the test vectors of this processor."""
    kc.load(name).export_c(tmp_path / "c")
    cc = f"CC={sys.executable} -m ziglang cc -target aarch64-linux-musl -static"
    command = ["make", "-s", "test", cc, "RUN=qemu-aarch64"]
    done = subprocess.run(command, cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 numbers differ" in done.stdout
