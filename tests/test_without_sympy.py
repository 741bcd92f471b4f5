# SPDX-License-Identifier: BSD-3-Clause
"""Where NumPy is, and no SymPy: what is compiled runs, by every command; what must derive says what it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gallery_states import c_text

import kanecore as kc
from kanecore.build import compile_library
from kanecore.prebuilt import libraries

pytestmark = pytest.mark.compiler

NEEDS = "kanecore needs SymPy, and sympy is not installed: pip install sympy"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed packages but SymPy, what SymPy needs, and kanecore, whose version is told."""
    folder = tmp_path_factory.mktemp("packages")
    for path in Path(np.__file__).parents[1].iterdir():
        if not path.name.startswith(("sympy", "mpmath", "__editable__")) and path.name != "kanecore":
            (folder / path.name).symlink_to(path)
    return folder


def output(code: str, *path: Path) -> str:
    """What a Python prints that finds packages in these folders alone."""
    command = [sys.executable, "-S", "-c", code]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "MPLBACKEND": "agg"}
    done = subprocess.run(
        command, env=variables, cwd=path[0].parent, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


RUN = """
import contextlib, io, json, sys
from pathlib import Path
import kanecore.cli.commands, kanecore.gallery, kanecore.cli.run_commands
kanecore.gallery._FOLDER = Path(sys.argv[1] if sys.argv[1:] else {folder!r})
kanecore.cli.run_commands._LONG_ENOUGH, kanecore.cli.run_commands._REPEATS = 0.0, 1
said = []
for command in {commands!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = kanecore.cli.commands.main(command.split())
    said.append((status, out.getvalue(), err.getvalue()))
assert "sympy" not in sys.modules
print(json.dumps(said))
"""

NAME, STATE = "two_rods", "--state q1=0.9"
WORK = {
    f"info {NAME}": "coordinates   q1, q2",
    f"simulate {NAME} --time 0.1 {STATE}": "constraint drift",
    f"bench {NAME}": "linearize",
    f"audit {NAME} --states 2": "the same in other units",
    f"simulate FILE:dyn --time 0.1 {STATE}": "energy drift",
    f"draw {NAME} {STATE} -o FOLDER/rods.png": "saved as",
}
DERIVE = (
    *("info FILE:name", "info FOLDER/arm.urdf", "info kepler", "demo", f"export {NAME} --c FOLDER/c"),
    *(f"export {NAME} --fmu FOLDER/a.fmu", f"export {NAME} --wheel FOLDER"),
)


def test_commands(packages: Path, root: Path, tmp_path: Path) -> None:
    """Of a model that a release's wheel holds compiled; of another, and of other outputs, one sentence."""
    text = c_text(NAME)
    library = [*libraries(tmp_path, NAME).values()][-1]
    library.write_bytes(Path(compile_library(text, name=NAME).path).read_bytes())
    (tmp_path / f"{NAME}.c").write_text(text, encoding="utf-8")
    file = tmp_path / "file.py"
    file.write_text(f"import kanecore as kc\ndyn = kc.load('{NAME}')\nname = dyn.name\nmodel = 0\n", encoding="utf-8")
    (tmp_path / "arm.urdf").write_text("<robot name='arm'><link name='a'/></robot>", encoding="utf-8")
    work = WORK if (packages / "matplotlib").exists() else {k: v for k, v in WORK.items() if not k.startswith("draw")}
    commands = [c.replace("FILE", str(file)).replace("FOLDER", str(tmp_path)) for c in (*work, *DERIVE)]
    said = json.loads(
        output(RUN.format(folder=str(tmp_path), commands=commands), Path(kc.__file__).parents[1], packages)
    )
    for (command, expected), (status, out, err) in zip(work.items(), said, strict=False):
        assert (status, err) == (0, ""), command
        assert expected in out, command
    for command, (status, _, err) in zip(DERIVE, said[len(work) :], strict=True):
        assert status == 1, command
        assert NEEDS in err, command
        assert len(err.splitlines()) == 1, command


def test_a_model_in_the_cache_is_loaded_and_runs_without_an_import_of_sympy() -> None:
    """SymPy is installed here, and its import takes several times as long as all the rest."""
    code = (
        "import sys, kanecore as kc\n"
        f"dyn = kc.load({NAME!r})\n"
        "print(dyn.simulate((0.0, 0.1), [0.9, 0.0, 0.0, 0.0]).energy_drift < 1e-6, 'sympy' in sys.modules)"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout
        for _ in range(2)  # the first one fills the cache
    ]
    assert said[1] == "True False\n"


def test_names_that_take_sympy_and_names_that_do_not(packages: Path) -> None:
    """Every public name, and the numbers of every model of the gallery but those that a file holds."""
    code = (
        "import kanecore as kc, json\nfrom importlib import import_module\nsaid = {}\n"
        "for name in kc.__all__:\n"
        "    if name == '__version__': continue\n"
        "    try: getattr(kc, name)\n"
        "    except ImportError as e: said[name] = str(e)\n"
        "for name in kc.models(): getattr(import_module(f'kanecore.gallery.{name}'), 'STATE', None)\n"
        "kc.Event('q1', terminal=True)\nprint(json.dumps(said))"
    )
    said = json.loads(output(code, Path(kc.__file__).parents[1], packages))
    describing = {"Model", "KanesMethod", "ForceSystem", "VelocityField", "build_wheel"}
    describing |= {"transforms", "equivalent", "multiplier", "reaction"}
    describing |= {"Contact", "JointFriction", "Plane", "HeightField", "Sphere"}
    assert set(said) == describing
    assert all(NEEDS in words for words in said.values())
