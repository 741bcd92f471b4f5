# SPDX-License-Identifier: BSD-3-Clause
"""Whether tests notice faults: ``python tests/mutations.py`` puts them into a copy of the package, one at a time.

`faults.tsv` is the table, a fault a line: its name and kind; a file, of ``pysrc/kanecore`` unless it begins with
``kanecore/``; the text there, which stands once in the file, and what replaces it; the test files that should notice,
the fastest first.  A fault changes what a user may notice: a number, an error, a warning, a name.

The copy holds what git tracks and what an editable install has built, but for the gallery's libraries, which were
derived without the fault.  For each fault the test files named with it run there, up to the first failure.  A test that
fails without faults as well catches nothing: it is left out, and its faults are tried again.  The exit status is 1 if a
fault is not caught.

Native faults compile the extension of the copy, which takes Cython and a compiler.  The working tree stays as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib.util
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = Path("pysrc/kanecore")
BUILT = ("*.so", "*.pyd", "*.pxd", "include/*", "src/**/*")  # by an editable install, in the package
LAID = (
    "__init__.pxd",
    "_ode.pxd",
    "_table.pxd",
    "include/*.h",
    "src/**/*.h",
    "src/**/*.c",
)  # what setup.py copies from kanecore/ into the package
PATIENCE, PATIENCE_WITH_ALL = 300.0, 3600.0  # seconds that tests of one fault may take
PYTEST_SETTINGS = re.compile(r"^\[tool\.pytest\.ini_options\]\n(?:(?!\[tool\.).*\n)*", re.MULTILINE)
# A line of pytest's summary: a file or a test, with its parameters in brackets.
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::[^\[\s]+(?:\[.*?\](?= - |$))?)?)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A line of the table."""

    name: str
    kind: str
    file: str
    old: str
    new: str
    catchers: str

    @property
    def path(self) -> Path:
        return Path(self.file) if self.file.startswith("kanecore/") else PACKAGE / self.file

    @property
    def native(self) -> bool:
        """Whether the extension is compiled with it; the machine in it stands on the headers of emitted C, too."""
        return self.path.suffix != ".py"

    @property
    def tests(self) -> list[str]:
        return [f"tests/test_{name}.py" for name in self.catchers.split()]


with (ROOT / "tests/faults.tsv").open(encoding="utf-8", newline="") as table:
    FAULTS = [Fault(**row) for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)]


class Wrong(Exception):
    """What ends the script: its message."""


@dataclass(frozen=True)
class Outcome:
    """What became of a fault.

    Attributes
    ----------
    fault : Fault
    by : str
        The test that noticed it, empty where none did.
    ran : bool
        Whether any test ran: others were skipped, for want of a package, say.
    seconds : float
    """

    fault: Fault
    by: str
    ran: bool
    seconds: float

    @property
    def row(self) -> str:
        verdict = "caught" if self.by else "NOT CAUGHT" if self.ran else "skipped"
        by = self.by.removeprefix("tests/")
        return f"{self.fault.name:32} {self.fault.kind:16} {self.fault.file:36} {verdict:10} {self.seconds:5.0f}  {by}"


HEAD = f"{'fault':32} {'kind':16} {'file':36} {'':10} {'s':>5}  by"


@dataclass
class Copy:
    """A copy of the working tree, and how its tests are run.

    Attributes
    ----------
    folder : Path
    builder : str
        The Python that compiles the extension.
    left_out : set of str
        Tests that fail without faults.
    """

    folder: Path
    builder: str
    left_out: set[str] = field(default_factory=set)
    ran: bool = False  # whether tests did, in the last call of `failures`

    def fill(self, against: str | None) -> None:
        """Copy the tree; with a revision its tests and settings of pytest in place of the present ones."""
        for name in filter(None, _git("ls-files", "-z").decode().split("\0")):
            if (ROOT / name).is_file():
                self._take(Path(name))
        for path in (path for pattern in BUILT for path in (ROOT / PACKAGE).glob(pattern) if path.is_file()):
            self._take(path.relative_to(ROOT))
        if not list((self.folder / PACKAGE).glob("_native.*.so")):
            raise Wrong("the extension is not built: pip install -e .")
        if against:
            shutil.rmtree(self.folder / "tests")
            with tarfile.open(fileobj=io.BytesIO(_git("archive", against, "tests"))) as archive:
                archive.extractall(self.folder, filter="data")
            own, other = self.folder / "pyproject.toml", _git("show", f"{against}:pyproject.toml").decode()
            [settings] = PYTEST_SETTINGS.findall(other)
            text, n = PYTEST_SETTINGS.subn(lambda _: settings, own.read_text(encoding="utf-8"))
            assert n == 1
            own.write_text(text, encoding="utf-8")
        where = self._run([sys.executable, "-c", "import kanecore; print(kanecore.__file__)"], 60.0).strip()
        print(f"the package under test is {where}")
        if Path(where) != self.folder / PACKAGE / "__init__.py":
            raise Wrong("this is not the copy's package")

    def _take(self, path: Path) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target)

    @contextlib.contextmanager
    def with_fault(self, fault: Fault) -> Iterator[None]:
        """The copy with a fault; as before at the end."""
        path = self.folder / fault.path
        text = path.read_text(encoding="utf-8")
        with contextlib.ExitStack() as undo:
            undo.callback(self._write, path, text)
            self._write(path, text.replace(fault.old, fault.new))
            if fault.native:
                undo.enter_context(self._built_anew())
            yield

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".py":  # bytecode of the same second and size would be taken for this text's
            Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _built_anew(self) -> Iterator[None]:
        """The extension, and the native files beside it, of the sources as they are; those of before at the end."""
        package = self.folder / PACKAGE
        native = self.folder / "kanecore"
        laid = [path.relative_to(native) for pattern in LAID for path in native.glob(pattern)]
        targets = [*(package / path for path in laid), *package.glob("*.so"), *package.glob("*.pyd")]
        before = {path: path.read_bytes() for path in targets if path.exists()}
        try:
            for path in laid:
                shutil.copyfile(native / path, package / path)
            self._run([self.builder, "setup.py", "build_ext", "--inplace", "--force"], 1200.0)
            yield
        finally:
            for path, content in before.items():
                path.unlink(missing_ok=True)  # no process has the new file open under the old name
                path.write_bytes(content)

    def _run(self, command: Sequence[str], patience: float) -> str:
        """The output of a command in the copy, which must succeed."""
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=patience
        )
        if done.returncode:
            raise Wrong(f"{' '.join(command[:2])} failed in the copy:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder / "pysrc"), "COLUMNS": "1000"}

    def files(self, fault: Fault) -> list[str]:
        """The test files named with a fault that are there."""
        return [path for path in fault.tests if (self.folder / path).is_file()]

    def failures(self, tests: Iterable[str], patience: float, *options: str) -> list[str]:
        """Names of tests that fail, each run with a cache of its own."""
        cache = self.folder / ".cache"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-o", f"cache_dir={cache}", *options, *tests]
        command += [f"--{'deselect' if '::' in name else 'ignore'}={name}" for name in sorted(self.left_out)]
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=patience,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return [f"no end within {patience:g} s"]
        finally:
            shutil.rmtree(cache, ignore_errors=True)
        found = FAILURE.findall(done.stdout)
        self.ran = bool(found) or " passed" in done.stdout
        if done.returncode in (0, 5):  # passed, or nothing was left to run
            return []
        return found or [f"pytest ended with status {done.returncode}: {done.stdout.strip().splitlines()[-1:]}"]

    def outcome(self, fault: Fault, everything: bool) -> Outcome:
        """Run the tests of a fault, then all where these do not notice it."""
        start = time.perf_counter()
        by, ran = list[str](), False
        with self.with_fault(fault):
            if files := self.files(fault):
                by, ran = self.failures(files, PATIENCE, "-x"), self.ran
            if not by and everything:
                by, ran = self.failures(["tests"], PATIENCE_WITH_ALL, "-x"), True
        return Outcome(fault, by[0] if by else "", ran, time.perf_counter() - start)

    def without_faults(self, names: Iterable[str]) -> set[str]:
        """Those of some tests that fail in the copy as it is, and what else fails in their files."""
        caught, files = sorted({name for name in names if name.startswith("tests/")}), list[str]()
        failing: set[str] = set()
        for tests in (caught, files):
            if tests:
                failing |= set(self.failures(tests, PATIENCE_WITH_ALL, "--continue-on-collection-errors"))
                files += sorted({name.partition("::")[0] for name in failing} - set(files))
        return failing


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True)
    if done.returncode:
        raise Wrong(f"git {' '.join(arguments)}: {done.stderr.decode().strip()}")
    return done.stdout


def check(faults: Sequence[Fault]) -> None:
    """Wrong unless each fault can be put where it belongs, and its test files are there."""
    wrong = []
    names = [fault.name for fault in faults]
    wrong += [f"two faults are named {name}" for name in sorted(set(names)) if names.count(name) > 1]
    for fault in faults:
        path = ROOT / fault.path
        n = path.read_text(encoding="utf-8").count(fault.old) if path.is_file() else 0
        if n != 1:
            wrong.append(f"{fault.name}: the old text occurs {n} times in {fault.path}: {fault.old!r}")
        wrong += [f"{fault.name}: there is no {test}" for test in fault.tests if not (ROOT / test).is_file()]
    if wrong:
        raise Wrong("\n".join(wrong))


def selected(options: argparse.Namespace) -> list[Fault]:
    """The faults that were asked for, the native ones last."""
    for part in options.parts:
        if not any(part in fault.name or part in fault.file for fault in FAULTS):
            raise Wrong(f"no fault has {part!r} in its name or its file: --list names all")
    parts = options.parts or [""]
    chosen = [fault for fault in FAULTS if any(part in fault.name or part in fault.file for part in parts)]
    return sorted((fault for fault in chosen if not (options.skip_native and fault.native)), key=lambda x: x.native)


def measured(copy: Copy, faults: Sequence[Fault], everything: bool) -> dict[str, Outcome]:
    """The outcome of each fault, by its name; rows are printed as they come."""
    outcomes: dict[str, Outcome] = {}
    remaining = list(faults)
    while remaining:
        for fault in remaining:
            outcomes[fault.name] = copy.outcome(fault, everything)
            print(outcomes[fault.name].row, flush=True)
        failing = copy.without_faults(outcomes[fault.name].by for fault in remaining)
        copy.left_out |= failing
        remaining = [fault for fault in remaining if outcomes[fault.name].by in failing]
        if remaining:
            files = sorted({Path(name.partition("::")[0]).name for name in failing})
            print(f"{len(failing)} tests fail without faults, and are left out, of {', '.join(files)}")
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Put faults into a copy of the package, and see which tests notice.")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help="of names or files of the faults that are wanted (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="name the faults, and run nothing")
    parser.add_argument("--all-tests", action="store_true", help="run all tests where the named files notice nothing")
    parser.add_argument("--against", metavar="REVISION", help="take the tests from this revision of git")
    parser.add_argument(
        "--skip-native", action="store_true", help="leave out what takes Cython: the extension's faults"
    )
    parser.add_argument(
        "--builder",
        default=sys.executable,
        metavar="PYTHON",
        help="has Cython, NumPy, setuptools (default: this)",
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no copy is left behind
    try:
        check(FAULTS)
        faults = selected(options)
        if options.list:
            for fault in faults:
                print(f"{fault.name:32} {fault.kind:16} {fault.file:36} {' '.join(Path(x).name for x in fault.tests)}")
            return 0
        if any(fault.native for fault in faults):
            asked = [options.builder, "-c", "import Cython, numpy, setuptools"]
            if subprocess.run(asked, capture_output=True, cwd=ROOT).returncode:
                raise Wrong("native faults take Cython: pip install cython setuptools, or --skip-native, or --builder")
        with tempfile.TemporaryDirectory(prefix="kanecore-faults-") as folder:
            copy = Copy(Path(folder).resolve(), options.builder)
            copy.fill(options.against)
            print(HEAD, flush=True)
            outcomes = measured(copy, faults, options.all_tests)
    except Wrong as error:
        print(error, file=sys.stderr)
        return 2
    missed = [outcome for outcome in outcomes.values() if outcome.ran and not outcome.by]
    skipped = [outcome for outcome in outcomes.values() if not outcome.ran]
    seconds = sum(outcome.seconds for outcome in outcomes.values())
    caught = len(outcomes) - len(missed) - len(skipped)
    print(f"{caught} of {len(outcomes)} faults were caught, in {seconds:.0f} s")
    if skipped:
        print("all tests were skipped: " + ", ".join(outcome.fault.name for outcome in skipped))
    if missed:
        print("not caught: " + ", ".join(outcome.fault.name for outcome in missed))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
