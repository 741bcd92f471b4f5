# SPDX-License-Identifier: BSD-3-Clause
"""The package works however it is installed, and wherever Python is started.

Each mode is installed into a fresh environment that borrows only third-party packages from this one.
It takes minutes: ``pytest -m packaging``, with the extra ``dev`` installed.
"""

import os
import platform
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import kanecore as kc
from kanecore import prebuilt
from kanecore.build.simd_levels import lane_levels, levels

pytestmark = [pytest.mark.packaging, pytest.mark.compiler]

# What builds here prebuild; releases take all.
PREBUILT = ("free_body", "rrp")

NATIVE_FILES = ("__init__.pxd", "include/kanecore.h", "src/kc_cpu.h", "src/kc_cpu.c")

USE = """
import sys
from pathlib import Path
import kanecore as kc

assert Path(kc.__file__).is_relative_to(sys.argv[1]), kc.__file__
assert kc.__version__ == sys.argv[2], kc.__version__
assert kc.ABI_VERSION >= 1
assert Path(kc.get_include(), "kanecore.h").is_file()
assert kc.models()
sys.modules["sympy"] = None  # prebuilt models do without
prebuilt = [name for name in kc.models() if kc.gallery.is_prebuilt(name)]
assert prebuilt == ["free_body", "rrp"], prebuilt
for name in prebuilt:
    dyn = kc.load(name)
    assert dyn.info["version"] == kc.__version__, dyn.info
    x = [0.1 * (i + 1) for i in range(dyn.n_x)]
    assert dyn.mass_matrix(0.0, x, r=[0.0] * dyn.n_r).shape == (dyn.n_u, dyn.n_u)
"""

SECOND_PACKAGE = """
from kanecore cimport KC_ABI_VERSION, kc_model

def abi_version():
    cdef kc_model table
    table.abi_version = KC_ABI_VERSION
    return table.abi_version
"""

SECOND_SETUP = """
import kanecore
from Cython.Build import cythonize
from setuptools import Extension, setup

extension = Extension("second", ["second.pyx"], include_dirs=[kanecore.get_include()])
setup(name="second", ext_modules=cythonize([extension], language_level=3))
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A fresh virtual environment."""

    folder: Path

    @property
    def scripts(self) -> Path:
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin")

    @property
    def python(self) -> Path:
        return self.scripts / "python"

    def install(self, *arguments: str | Path) -> None:
        """Without network: what the package and its build need is there already."""
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install"]
        run(*pip, "--no-deps", "--no-build-isolation", "--no-index", *arguments, cwd=self.folder)


@pytest.fixture(scope="module", autouse=True)
def models_to_prebuild() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KANECORE_PREBUILD", ",".join(PREBUILT))
        yield


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    folder = tmp_path / "venv"
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("Lib/site-packages" if sys.platform == "win32" else "lib/python*/site-packages")
    # Python searches a folder named in a .pth file, but reads no .pth file in it, such as an editable one's
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Environment(folder)


@pytest.fixture(scope="module")
def sdist(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-c", f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})", cwd=root)
    (archive,) = folder.glob("kanecore-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def source(root: Path, sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sdist, which must hold all that the other modes need."""
    folder = tmp_path_factory.mktemp("source")
    run("tar", "-xf", sdist, "-C", folder, cwd=folder)  # tarfile's filter, which later Pythons ask for, early ones lack
    (unpacked,) = folder.iterdir()
    return unpacked


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source, cwd=folder)
    (archive,) = folder.glob("kanecore-*.whl")
    return archive


def gallery_files() -> set[str]:
    """Names of the C texts and libraries that are prebuilt."""
    machine = platform.machine()
    names = {f"{name}.c" for name in PREBUILT}
    names |= {f"{name}.{level}{prebuilt.SUFFIX}" for name in PREBUILT for level in levels(machine)}
    return names | {f"{name}.lanes.{level}{prebuilt.SUFFIX}" for name in PREBUILT for level in lane_levels(machine)}


def assert_works(environment: Environment, home: Path, starts: tuple[Path, ...], tmp_path: Path) -> None:
    """Import, evaluate, command line and C interface, with Python started in each of `starts`."""
    for start in starts:
        run(environment.python, "-c", USE, home, kc.__version__, cwd=start)
        for command in ([environment.scripts / "kanecore"], [environment.python, "-m", "kanecore"]):
            assert set(kc.models()) <= set(run(*command, "models", cwd=start).split())

    second = tmp_path / "second"
    second.mkdir()
    (second / "second.pyx").write_text(SECOND_PACKAGE)
    (second / "setup.py").write_text(SECOND_SETUP)
    run(environment.python, "setup.py", "build_ext", "--inplace", cwd=second)
    call = "import second as s, kanecore as kc; assert s.abi_version() == kc.ABI_VERSION"
    run(environment.python, "-c", call, cwd=second)

    (second / "plain.c").write_text('#include "kanecore.h"\nint main(void) { return kc_get_model() == 0; }\n')
    include = run(environment.python, "-c", "import kanecore; print(kanecore.get_include())", cwd=second).strip()
    cc = sysconfig.get_config_var("CC").split()[0]
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run(cc, *strict, f"-I{include}", "-c", "plain.c", "-o", "plain.o", cwd=second)


def test_sdist_holds_sources_only(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    assert {Path("kanecore", name) for name in NATIVE_FILES} <= names
    assert {
        Path("kanecore/_native.pyx"),
        Path("kanecore/_library.pyx"),
        Path("kanecore/_motion.pyx"),
        Path("setup.py"),
        Path("README.md"),
        Path("tests/conftest.py"),
    } <= names
    assert {Path("pysrc/kanecore/gallery", f"{name}.py") for name in kc.models()} <= names
    package = Path("pysrc/kanecore")
    assert not {path for path in names if path.suffix in (".so", ".dylib", ".dll", ".pyd")}
    laid = {path for path in names if path.is_relative_to(package) and path.suffix in (".c", ".pxd")}
    assert not {path for path in laid if not path.is_relative_to(package / "export")}  # which holds C of its own
    assert Path("pysrc/kanecore/export/c_files/model.h") in names
    assert {Path("kanecore/player/kc_player.c"), package / "live/player.wasm"} <= names
    assert not {path for path in names if path.is_relative_to(package / "include")}


def test_wheel_holds_both_halves(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name) for name in archive.namelist()}
    assert {Path("kanecore", name) for name in NATIVE_FILES} <= names
    assert {Path("kanecore/py.typed"), Path("kanecore/_native.pyi"), Path("kanecore/compiled_model.py")} <= names
    assert {Path("kanecore/export/c_files/Makefile"), Path("kanecore/export/fmi/kc_fmu.c")} <= names
    assert {Path("kanecore/live/player.wasm"), Path("kanecore/live/page.js"), Path("kanecore/show/picture.js")} <= names
    assert {path.name for path in names if path.parent == Path("kanecore/gallery/_lib")} == gallery_files()
    assert {path.parts[0].split("-")[0] for path in names} == {"kanecore"}


def test_wheel(wheel: Path, source: Path, environment: Environment, tmp_path: Path) -> None:
    environment.install(wheel)
    assert_works(environment, environment.folder, (source, tmp_path), tmp_path)


@pytest.mark.parametrize("mode", [pytest.param("lenient", marks=pytest.mark.long), "strict"])
def test_editable(mode: str, source: Path, environment: Environment, tmp_path: Path) -> None:
    """The package in place, found by a path, as the README has it; and linked into a tree of its own."""
    environment.install("--config-settings", f"editable_mode={mode}", "-e", source)
    assert_works(environment, source, (source, tmp_path), tmp_path)


def test_a_missing_compiler_is_named(source: Path, tmp_path: Path) -> None:
    """Before anything is compiled, in a sentence that says what to install."""
    command = [sys.executable, "setup.py", "build_ext", "--build-lib", str(tmp_path / "lib")]
    environment = os.environ | {"CC": "nosuchcompiler -O2"}
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no C compiler nosuchcompiler: install gcc, or ziglang" in done.stderr
    assert not (tmp_path / "lib").exists()


def test_uninstalled_tests_say_what_to_do(source: Path, environment: Environment) -> None:
    """In the sources, not installed, `import kanecore` finds an empty namespace; the tests say so."""
    command = [environment.python, "-m", "pytest", "-q", "tests/test_layers.py"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "pip install -e ." in done.stdout + done.stderr
