# SPDX-License-Identifier: BSD-3-Clause
"""Whether tests notice faults: ``python tests/mutations.py`` puts faults into a copy of the package, one at a time.

A fault is a change of one expression or token: operands swapped, a sign, a term or a negation lost, a comparison or an
index that is off by one, an error or a warning that is not given.  Faults are found in the syntax tree of Python, in
the tokens of C and Cython; no list of them is kept, so code may be reworded.  A seed draws some, from all files.

First the default tests run once without a fault, and the functions that each test file calls are noted.  For each fault
the test files that call its function run, those first that take least time, up to the first failure.  What no test
notices is printed to be judged by a person: some faults change nothing that a user may see.

The copy holds what git tracks and what an editable install has built.  Faults of C and Cython compile its extension.
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = "pysrc/kanecore/"
BUILT = ("*.so", "*.pyd", "*.pxd", "include/*", "src/**/*")  # by an editable install, in the package
NATIVE_TESTS = "native bytecode ode simulation rosenbrock events rollout single simd_lanes prelude work_space c_folder"
PATIENCE = 300.0  # seconds that the tests of one fault may take
CALLS = "KANECORE_TESTS_CALLS"  # where the functions that tests call are noted


@dataclass(frozen=True)
class Fault:
    """A span of a file, what replaces it, and the line where its function begins (0: no function)."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    new: str
    function: int = 0

    def put(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]

    def told(self, text: str) -> str:
        old = " ".join(text[self.start : self.end].split())
        return f"{self.file}:{self.line}  {self.kind}: {old[:60]} → {' '.join(self.new.split())[:60]}"


# ------------------------------------------------------------------------------------------------- Python
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARED |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Kinds of faults of a node, and what stands in its place."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub):
            yield "sign", ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
            yield "missing term", node.left
        elif isinstance(node.op, ast.Div | ast.FloorDiv | ast.MatMult | ast.Pow):
            yield "swapped operands", ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "dropped negation", node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield "and for or", ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    elif isinstance(node, ast.IfExp):
        yield "swapped branches", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Call) and len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args):
        yield "swapped arguments", ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "opposite", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "off by one", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and "warn" in ast.unparse(node).partition("(")[0]):
        yield "nothing said", ast.Pass()


def unseen(node: ast.AST) -> list[ast.AST | None]:
    """Children of a node that are annotations, or text inside a formatted string."""
    if isinstance(node, ast.AnnAssign | ast.arg):
        return [node.annotation]
    if isinstance(node, ast.FunctionDef):
        return [node.returns, *node.decorator_list]
    return list(ast.iter_child_nodes(node)) if isinstance(node, ast.JoinedStr) else []


def python_faults(file: str, text: str) -> Iterator[Fault]:
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    place = [len(text.encode()[:start].decode()) for start in starts]  # the tree counts bytes
    lines = text.splitlines()

    def position(line: int, column: int) -> int:
        return place[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def below(node: ast.AST, function: int) -> Iterator[Fault]:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            function = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if isinstance(node, ast.expr | ast.stmt) and node.end_lineno is not None and node.end_col_offset is not None:
            start, end = position(node.lineno, node.col_offset), position(node.end_lineno, node.end_col_offset)
            for kind, new in changed(node):
                written = ast.unparse(ast.fix_missing_locations(new))
                written = f"({written})" if isinstance(new, ast.expr) and not isinstance(new, ast.Constant) else written
                yield Fault(file, node.lineno, kind, start, end, written, function)
        left_out = unseen(node)
        for child in ast.iter_child_nodes(node):
            if not any(child is each for each in left_out):
                yield from below(child, function)

    yield from below(ast.parse(text), 0)


# ---------------------------------------------------------------------------------------- C and Cython
TOKENS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "++": "--"}
TOKENS |= {"==": "!=", "!=": "==", "&&": "||", "||": "&&", "and": "or", "or": "and", "!": ""}
NOT_CODE = r"/\*.*?\*/|//[^\n]*|^[ ]*#(?:\\\n|[^\n])*" + r'|"(?:\\.|[^"\\])*"' + r"|'(?:\\.|[^'\\])*'"
OPERATORS = r"|->|[-+]=|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+<>!]"
C_TOKEN = re.compile(NOT_CODE + OPERATORS + r"|\b\d+\b(?![.eE])|[\w.]+", re.DOTALL | re.MULTILINE)


def token_faults(file: str, text: str) -> Iterator[Fault]:
    if file.endswith(".pyx"):
        place = [0]
        for line in text.splitlines(keepends=True):
            place.append(place[-1] + len(line))
        read = tokenize.generate_tokens(io.StringIO(text).readline)
        found = [(t.string, place[t.start[0] - 1] + t.start[1]) for t in read if t.type != tokenize.STRING]
    else:
        found = [(match[0], match.start()) for match in C_TOKEN.finditer(text)]
    for token, start in found:
        new = TOKENS.get(token, str(int(token) + 1) if token.isdecimal() else None)
        if new is not None:
            kind = "off by one" if token.isdecimal() else "operator"
            yield Fault(file, text.count("\n", 0, start) + 1, kind, start, start + len(token), new)


def faults_of(file: str, text: str) -> list[Fault]:
    return list((python_faults if file.endswith(".py") else token_faults)(file, text))


def drawn(n: int, seed: int, parts: Iterable[str], native: bool) -> list[Fault]:
    """As many faults: a file is drawn, then one of its functions' faults."""
    endings = {".py", ".c", ".h", ".pyx"} if native else {".py"}
    paths = (path for folder in (PACKAGE, "kanecore") for path in (ROOT / folder).rglob("*") if path.suffix in endings)
    files = [path.relative_to(ROOT).as_posix() for path in paths]
    copied = (f"{PACKAGE}include/", f"{PACKAGE}src/")  # from kanecore/, by an editable install
    generated = re.compile(r"kanecore/\w+\.c|.*/headers/.*")
    files = [file for file in files if not file.startswith(copied) and not generated.fullmatch(file)]
    files = [file for file in files if any(part in file for part in parts or [""])]
    found = {file: faults_of(file, (ROOT / file).read_text(encoding="utf-8")) for file in files}
    draw, names = random.Random(seed), sorted(file for file in found if found[file])
    # The faults of a file change as it does; a file's own generator leaves those of the others as they are.
    chosen = draw.choices(names, weights=[len(found[name]) ** 0.5 for name in names], k=n)
    return sorted({random.Random(f"{seed} {k} {name}").choice(found[name]) for k, name in enumerate(chosen)}, key=str)


# ------------------------------------------------------------------------------------------ the copy
class Copy:
    """A copy of the working tree, in which tests run."""

    def __init__(self, folder: Path, against: str | None) -> None:
        self.folder = folder
        for name in filter(None, _git("ls-files", "-z").decode().split("\0")):
            self._take(Path(name))
        for path in (path for pattern in BUILT for path in (ROOT / PACKAGE).glob(pattern)):
            self._take(path.relative_to(ROOT))
        if against:
            shutil.rmtree(folder / "tests")
            with tarfile.open(fileobj=io.BytesIO(_git("archive", against, "tests", "pyproject.toml"))) as archive:
                archive.extractall(folder, filter="data")
            shutil.copy2(__file__, folder / "tests/mutations.py")

    def _take(self, path: Path) -> None:
        if (ROOT / path).is_file():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, self.folder / path)

    def run(self, *command: str, patience: float = 3600.0, **variables: str) -> subprocess.CompletedProcess[str]:
        paths = f"{self.folder / 'pysrc'}{os.pathsep}{self.folder / 'tests'}"
        environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "1000", **variables}
        options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": patience}
        return subprocess.run(command, cwd=self.folder, env=environment, **options)

    def pytest(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        cache = self.folder / ".cache"
        shutil.rmtree(cache, ignore_errors=True)  # libraries there were derived without the fault
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-o", f"cache_dir={cache}", *arguments]
        return self.run(*command, **options)

    def calls(self) -> dict[str, dict[str, Any]]:
        """For each test file that passes its seconds, and the functions that it calls: [file, line]."""
        notes = self.folder / ".calls"
        notes.mkdir()
        said = self.pytest("-n", "2", "-p", "mutations", **{CALLS: str(notes)}).stdout
        print(said.splitlines()[-1], flush=True)
        merged: dict[str, dict[str, Any]] = defaultdict(lambda: {"seconds": 0.0, "called": set()})
        for path in notes.iterdir():
            for name, note in json.loads(path.read_text()).items():
                merged[name]["seconds"] += note["seconds"]
                merged[name]["called"] |= set(map(tuple, note["called"]))
        for failing in set(re.findall(r"^(?:FAILED|ERROR) (\S+?\.py)", said, re.M)):
            merged.pop(failing, None)
        return merged

    @contextlib.contextmanager
    def with_fault(self, fault: Fault) -> Iterator[bool]:
        """The copy with a fault, and whether it compiles; as before at the end."""
        path = self.folder / fault.file
        text = path.read_text(encoding="utf-8")
        try:
            yield self._written(path, fault.put(text))
        finally:
            self._written(path, text)

    def _written(self, path: Path, text: str) -> bool:
        """Whether the package with this text of a file compiles."""
        path.write_text(text, encoding="utf-8")
        # bytecode of the same second and size would be taken for this text's
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        return path.suffix == ".py" or not self.run(sys.executable, "setup.py", "build_ext", "--inplace").returncode

    def noticed(self, fault: Fault, calls: dict[str, dict[str, Any]]) -> str:
        """The test that fails, "nothing", or why none can."""
        site = (fault.file, fault.function)
        if fault.file.endswith(".py"):
            files = [name for name, note in calls.items() if site in note["called"]]
            if not fault.function:  # what runs at import
                files = [name for name, note in calls.items() if any(file == fault.file for file, _ in note["called"])]
            files.sort(key=lambda name: calls[name]["seconds"])
        else:
            files = [name for word in NATIVE_TESTS.split() if (name := f"tests/test_{word}.py") in calls]
        end = time.monotonic() + PATIENCE
        with self.with_fault(fault) as compiles:
            if not compiles:
                return "does not compile"
            for k in range(0, len(files), 4):
                try:
                    done = self.pytest("-x", *files[k : k + 4], patience=max(1.0, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    return "NOTHING in time"
                if done.returncode not in (0, 5):
                    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
                    return failed[0].removeprefix("tests/") if failed else "an end of pytest"
        return "NOTHING" if files else "NOTHING: no test calls the function"


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


# ------------------------------------------------------------- the plugin that notes calls, in the copy
def pytest_configure(config: Any) -> None:
    if CALLS in os.environ and hasattr(config, "workerinput"):
        config.pluginmanager.register(Notes())


class Notes:
    """Plugin of pytest: which functions of the package each test file calls."""

    def __init__(self) -> None:
        self.notes: dict[str, dict[str, Any]] = defaultdict(lambda: {"seconds": 0.0, "called": set()})
        self.package = str(Path(PACKAGE).resolve())

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.notes[report.nodeid.partition("::")[0]]["seconds"] += report.duration

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        called = self.notes[nodeid.partition("::")[0]]["called"]

        def note(frame: Any, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(self.package):
                called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

        sys.setprofile(note)

    def pytest_sessionfinish(self) -> None:
        sys.setprofile(None)
        root = len(self.package) - len(PACKAGE) + 1
        for note in self.notes.values():
            note["called"] = [(file[root:], line) for file, line in note["called"]]
        (Path(os.environ[CALLS]) / f"{os.getpid()}.json").write_text(json.dumps(self.notes))


def main() -> None:
    parser = argparse.ArgumentParser(description="Put faults into a copy of the package, and see which tests notice.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="of the names of files (default: all files)")
    parser.add_argument("-n", type=int, default=60, help="number of faults (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw: another seed gives other faults (0)")
    parser.add_argument("--list", action="store_true", help="name the faults, and run nothing")
    parser.add_argument("--native", action="store_true", help="also C and Cython, which takes a compiler")
    parser.add_argument("--against", metavar="REVISION", help="take the tests from this revision of git")
    options = parser.parse_args()
    faults = drawn(options.n, options.seed, options.parts, options.native)
    if options.list:
        print(*(fault.told((ROOT / fault.file).read_text(encoding="utf-8")) for fault in faults), sep="\n")
        return
    with tempfile.TemporaryDirectory(prefix="kanecore-faults-") as folder:
        copy = Copy(Path(folder).resolve(), options.against)
        calls, missed = copy.calls(), 0
        for fault in faults:
            by = copy.noticed(fault, calls)
            missed += by.startswith("NOTHING")
            print(f"{fault.told((ROOT / fault.file).read_text(encoding='utf-8'))}  by {by}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults were noticed")


if __name__ == "__main__":
    main()
