# SPDX-License-Identifier: BSD-3-Clause
"""The command line, in process where the process itself is not the point."""

import io
import itertools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from sweep import part

import kanecore as kc
from kanecore.build import cache
from kanecore.cli.commands import main

PENDULUM = """
import kanecore as kc
import sympy as sm
import sympy.physics.mechanics as me

m, l, g = sm.symbols("m l g")
q, u = me.dynamicsymbols("q u")
N, A = me.ReferenceFrame("N"), me.ReferenceFrame("A")
A.orient_axis(N, q, N.z)
O, P = me.Point("O"), me.Point("P")
O.set_vel(N, 0)
P.set_pos(O, l * A.x)
bob = me.Particle("bob", P, m)
pendulum = kc.Model(N, [q], [u], [u - q.diff()], bodies=[bob], forcelist=[(P, m * g * N.x)], name="pendulum")
number = 3
"""


# A process in the background may ignore Ctrl-C.
HANDLED = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    path = tmp_path / "pendulum.py"
    path.write_text(PENDULUM)
    return path


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(folder))
    return folder


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "kanecore", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_models_lists_the_gallery(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == kc.models()


@pytest.mark.parametrize("name", part(kc.models(), ["four_bar"]))
def test_info_of_a_prebuilt_model(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", name]) == 0
    out = capsys.readouterr().out
    dyn = kc.load(name)
    words = out.replace(",", " ").split()
    assert {*dyn.coordinate_names, *dyn.speed_names, *dyn.parameter_names} <= set(words)
    assert "[" not in out


def test_info_of_a_model_in_a_file(pendulum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", f"{pendulum}:pendulum"]) == 0
    assert "bob" in capsys.readouterr().out


def test_info_of_a_file_with_neighbours(
    pendulum: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    other = pendulum.with_name("other.py")
    other.write_text(f"from {pendulum.stem} import pendulum as model\n", encoding="utf-8")
    assert main(["info", f"{other}:model"]) == 0
    assert "bob" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("nosuch", "there is no gallery model 'nosuch'"),
        ("{folder}/nosuch.py:model", "there is no file"),
        ("{folder}/pendulum.py:double", "defines no 'double'"),
        ("{folder}/pendulum.py:number", "is of type int"),
        ("{folder}/pendulum.py", "pendulum.py:variable"),
    ],
)
def test_error_is_one_line(model: str, words: str, pendulum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", model.format(folder=pendulum.parent)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("kanecore: ")
    assert words in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["info", "rrp", "--floating-base"], "--floating-base is for robots in URDF files, and 'rrp' is none"),
        (["export", "rrp", "--c", "out", "--name", "x"], "--name is an option of --wheel, and has no meaning for --c"),
        (["export", "rrp", "--c", "out", "--state", "q1=1"], "--state is an option of --fmu"),
        (["export", "rrp", "--fmu", "out.fmu", "--real", "float"], "--real is an option of --c"),
        (["export", "rrp", "--wheel", "out", "--fmi-version", "2.0"], "--fmi-version is an option of --fmu"),
        (["export", "rrp", "--wheel", "out", "--integrators"], "--integrators is an option of --c"),
    ],
)
def test_options_that_mean_nothing(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused, before anything is written."""
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.filterwarnings("ignore:the velocity of point P:kanecore.KanecoreWarning")
@pytest.mark.parametrize(("speed", "status"), [("l * u", 0), ("2 * l * u", 1)])
def test_audit(speed: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The status says whether all checks passed: a velocity that is not the rate of the position fails one."""
    path = tmp_path / "pendulum.py"
    path.write_text(PENDULUM.replace("bob =", f"P.set_vel(N, {speed} * A.y)\nbob ="))
    assert main(["audit", f"{path}:pendulum", "--states", "2"]) == status
    assert ("FAILED" in capsys.readouterr().out) == bool(status)


def test_error_inside_the_users_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(PENDULUM.replace("[u - q.diff()]", "[]"))
    assert main(["info", f"{path}:pendulum"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [[], ["nosuch"], ["info"], ["models", "extra"], ["cache", "--nosuch"]])
def test_wrong_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: kanecore" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"kanecore {kc.__version__}\n"


def test_cache(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{own_cache}: 0 compiled libraries, 0.0 MiB\n"


def test_cache_clear(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = cache.folder() / f"pendulum-{'0' * 64}"
    entry.mkdir()
    (entry / "pendulum.so").write_bytes(bytes(2**20))
    assert main(["cache"]) == 0
    assert "1 compiled library, 1.0 MiB" in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert not entry.exists()
    assert capsys.readouterr().out == f"{own_cache}: 1 compiled library deleted\n"


def test_cache_of_everybody_is_an_error(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_cache.mkdir()
    own_cache.chmod(0o777)
    assert main(["cache"]) == 1
    assert "chmod go-w" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        ("x = 1\ny = x / 0\n", "line 2: ZeroDivisionError: division by zero; the file is run", 1),
        ("x = 1\nx = = 2\n", "line 2: SyntaxError: invalid syntax", 1),
        ("import nosuchmodule\n", "line 1: ModuleNotFoundError: No module named 'nosuchmodule'", 1),
        ("import sys\nsys.exit(0)\n", "line 2: SystemExit: 0", 1),
        ("raise RuntimeError('a\\nb')\n", "line 1: RuntimeError: a b", 1),
        ("assert False\n", "line 1: AssertionError; the file", 1),
        ("import kanecore as kc\nkc.load('nosuch')\n", "line 2: ", 1),
        (f"{HANDLED}signal.raise_signal(signal.SIGINT)\n", "kanecore: interrupted", 130),
    ],
)
def test_what_the_users_file_raises(
    text: str, words: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(text)
    assert main(["info", f"{path}:model"]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    for arguments in (["--traceback", "info", f"{path}:model"], ["info", f"{path}:model", "--traceback"]):
        assert main(arguments) == status
        err = capsys.readouterr().err
        assert err.count("Traceback") >= 1
        assert "wrong.py" in err


def test_names_that_the_terminal_cannot_spell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PENDULUM.replace('name="pendulum"', 'name="péndulo"')
    (tmp_path / "it.py").write_text(text, encoding="utf-8")
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(["info", str(tmp_path / "it.py:pendulum")]) == 0
        assert b"model p\\xe9ndulo:" in terminal.buffer.getvalue()
    assert capsys.readouterr().err == ""


def test_an_unknown_encoding_of_a_robot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.urdf"
    path.write_text('<?xml version="1.0" encoding="nosuch"?>\n<robot/>')
    assert main(["info", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "it.urdf, line 1: " in line


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.symlink_to(tmp_path / "nosuch" / "table.csv")
    assert main(["simulate", "double_pendulum", "--time", "0.01", "-o", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"kanecore: {path}: No such file or directory"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    ("arguments", "buffered"),
    part(
        itertools.product([["models"], ["--help"], ["--version"], ["models", "--traceback"]], [True, False]),
        [(["models"], True), (["models", "--traceback"], False)],
    ),
)
def test_full_standard_output(arguments: list[str], buffered: bool) -> None:
    words = [sys.executable, "-m", "kanecore", *arguments]
    with Path("/dev/full").open("w") as full:
        environment = os.environ | {"PYTHONUNBUFFERED": "" if buffered else "1"}
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "standard output cannot be written: No space left on device" in last
    assert ("Traceback" in done.stderr) == ("--traceback" in arguments)
    assert (done.stderr.splitlines() == [last]) == ("--traceback" not in arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_closed_standard_output() -> None:
    """It holds nothing, as with any program of Python; an error is told all the same."""
    for command, status in (("models", 0), ("info nosuch", 1)):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m kanecore {command} >&-"],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert (done.returncode, len(done.stderr.splitlines())) == (status, status)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("buffered", [True, False])
def test_reader_that_closes_the_pipe(buffered: bool) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m kanecore models | true"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": "" if buffered else "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_module_and_script_agree() -> None:
    script = Path(sys.executable).with_name("kanecore")
    done = subprocess.run([script, "models"], capture_output=True, text=True, check=True)
    assert command("models").stdout == done.stdout
    assert command("info", "nosuch").returncode == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["demo", "-o", "x.foo"], "ends in none of .png, .svg, .pdf, which"),
        (["demo", "-o", "x.csv"], "ends in none of .png, .svg, .pdf, which"),
        (["demo", "-o", "nosuch/x.png"], "no folder 'nosuch'"),
        (["draw", "rrp", "-o", "x.csv"], "ends in none of .png, .svg, .pdf, which"),
        (["simulate", "rrp", "-o", "x.html"], "ends in none of .csv, .png, .svg, .pdf, which"),
        (["simulate", "rrp", "-o", "nosuch/x.csv"], "no folder 'nosuch'"),
        (["simulate", "rrp", "-o", "{folder}/folder.csv"], "is a folder: give a file in it"),
        (["simulate", "rrp", "-o", 300 * "x" + ".csv"], "cannot be written: File name too long"),
        (["export", "rrp", "--fmu", "x.zip"], "does not end in .fmu"),
        (["export", "rrp", "--fmu", "nosuch/x.fmu"], "no folder 'nosuch'"),
    ],
)
def test_where_to_save_is_asked_before_it_begins(
    words: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(SystemExit) as stop:
        main([word.format(folder=tmp_path) for word in words])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert why in captured.err.splitlines()[-1]
    assert not captured.out


def test_demo_saves_a_picture(own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "demo.png"
    assert main(["demo", "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in capsys.readouterr().out


def test_a_demo_without_matplotlib_fails_and_says_so(
    own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"] + ["matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["demo", "-o", str(tmp_path / "demo.png")]) == 1
    captured = capsys.readouterr()
    assert "energy drift" in captured.out
    assert captured.err == "kanecore: pictures need matplotlib: pip install matplotlib\n"


@pytest.mark.parametrize("n", [100001, 10**13])
def test_an_audit_has_no_end_of_states(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "four_bar", "--states", str(n)]) == 1
    assert capsys.readouterr().err == f"kanecore: --states is {n}; it must be from 1 to 100000\n"
    with pytest.raises(ValueError, match=f"n is {n}; it must be from 1 to 100000"):
        kc.load("four_bar").audit(n)


# ------------------------------------------------------------------------------------------------- files of robots
ROBOT = Path(__file__).parent / "robots" / "walker.urdf"


def test_info_of_a_robot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(ROBOT), "--floating-base"]) == 0
    out = capsys.readouterr().out
    assert "model walker: n_q = 11, n_u = 10" in out
    assert "left foot: from left shank" in out


@pytest.mark.parametrize("name", ["constant_speed_particle", "four_bar"])
def test_models_of_the_gallery_start_as_on_their_pages(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """At zero these have no state on their constraints, or one far away, which warns; loops stay near it."""
    assert main(["simulate", name, "--time", "0.01"]) == 0
    assert "at 0.01 s" in capsys.readouterr().out
    if name == "four_bar":
        assert main(["simulate", name, "--time", "0.01", "--state", "q1=1.0"]) == 0


def test_a_warning_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the place in the package that gave it; others stay, and so do those after the command."""
    usual, place = warnings.formatwarning, ("file.py", 3)

    def told(_: object) -> None:
        for kind in (kc.KanecoreWarning, UserWarning):
            print(warnings.formatwarning(kind("two\nlines"), kind, *place), end="")

    monkeypatch.setattr("kanecore.cli.commands._models", told)
    assert main(["models"]) == 0
    assert capsys.readouterr().out == "kanecore: two lines\nfile.py:3: UserWarning: two\nlines\n"
    assert warnings.formatwarning is usual


def test_simulate_a_robot(own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "run.csv"
    arguments = ["simulate", str(ROBOT), "--time", "0.2", "--state", "u_left hip=2", "-o", str(table)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "energy drift" in out
    assert "u_left hip" in out
    assert table.read_text().startswith("t,q_left hip,")


@pytest.mark.long
def test_bench_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "spherical_pendulum", "--state", "theta=0.7"]) == 0
    out = capsys.readouterr().out
    assert "one state" in out
    assert all(name in out for name in ("rhs", "mass_matrix", "forcing", "linearize"))


def test_optimize_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("casadi", reason="optimal motions need CasADi, which is an extra")
    arguments = ["optimize", "cart_pole", "--end", "theta=pi", "--end", "omega=-1:1", "--bound", "x=-1:"]
    assert main([*arguments, "--duration", "2", "-o", str(tmp_path / "up.csv")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("success: IPOPT found an optimum; cost ")
    assert "theta             0       3.14159" in out
    assert (tmp_path / "up.csv").read_text().startswith("t,x,theta,v,omega,F")
    assert main([*arguments, "--bound", "F=0:0.1"]) == 1
    assert "no success: IPOPT found no motion" in capsys.readouterr().out
    for wrong, words in (
        (["--end", "theta=up"], "--end up: it must be a number, such as pi/2, or a range LOW:HIGH"),
        (["--end", "thetta=1"], "did you mean 'theta'?"),
        (["--bound", "F=10"], "--bound 10: it must be a range LOW:HIGH, of which either may be missing"),
        (["--duration", "2:1"], "duration has the empty range (2, 1)"),
    ):
        assert main(["optimize", "cart_pole", *wrong]) == 1
        assert words in capsys.readouterr().err


@pytest.mark.long
def test_optimize_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    """It starts in the pose of its page, since a loop does not close at zero."""
    pytest.importorskip("casadi", reason="optimal motions need CasADi, which is an extra")
    ends = [word for end in ("q1=2", "q3=1", "u1=0", "u3=0") for word in ("--end", end)]
    assert main(["optimize", "five_bar", "--duration", "0.5", *ends]) == 0
    start = dict(line.split()[:2] for line in capsys.readouterr().out.splitlines()[2:])
    assert (float(start["q1"]), float(start["q3"]), float(start["u1"])) == (2.2, 0.9, 0.0)


def test_draw_a_robot(own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which is an extra")
    picture = tmp_path / "robot.png"
    assert main(["draw", str(ROBOT), "--state", "q_left hip=0.4", "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "missing.urdf"], "missing.urdf cannot be read: No such file"),
        (["simulate", "double_pendulum", "--state", "q1"], "it must be NAME=VALUE"),
        (["simulate", "double_pendulum", "--state", "nothing=1"], "'nothing'"),
        (["simulate", "double_pendulum", "--time", "-1"], "--time is -1.0"),
        (["simulate", "double_pendulum", "--time", "1e400"], "--time is inf; it must be positive and finite"),
        (["simulate", "double_pendulum", "--state", "q1=nan"], "--state q1=nan: the value must be a finite number"),
        (["draw", "double_pendulum", "--state", "q1=1e400"], "--state q1=1e400: the value must be a finite number"),
        (
            ["export", "rrp", "--c", "out", "--parameter", "m=nan"],
            "--parameter m=nan: the value must be a finite number",
        ),
        (["export", "rrp", "--c", "out", "--input", "F=-1e400"], "--input F=-1e400: the value must be a finite number"),
    ],
)
def test_wrong_values(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
