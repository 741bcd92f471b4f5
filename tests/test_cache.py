# SPDX-License-Identifier: BSD-3-Clause
"""kanecore.build.cache: hits, two processes at once, killed compiles, folders not to be trusted, eviction."""

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import sweep
from hypothesis import given
from hypothesis import strategies as st

from kanecore.build import Built, cache, compile_library
from kanecore.errors import CompileError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake compilers are shell scripts")

SOURCE = '__attribute__((visibility("default"))) int f(void) { return 42; }\n'

IN_A_PROCESS = """\
import ctypes, os, sys
from kanecore.build import compile_library
built = compile_library(sys.argv[1], cc=sys.argv[2])
assert ctypes.CDLL(built.path).f() == 42
print(built.path, built.from_cache)
"""


#: The file that is written, and the text that is read, of a compiler's arguments.
READ = 'for word; do [ "$last" = -o ] && library=$word; case $word in *.c) text=$word;; esac; last=$word; done\n'


@pytest.fixture(scope="module")
def quick_compiler(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The system's, which has compiled `SOURCE` before: where libraries lie is asked here, not how they are made."""
    place, compiler = tmp_path_factory.mktemp("quick"), system_compiler()
    (place / "f.c").write_text(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "f.c", "-o", "f.so"], cwd=place, check=True)
    known = f'[ "$library" ] && grep -q "return 42" "$text" && exec cp {place}/f.so "$library"'
    (place / "cc").write_text(f'#!/bin/sh\n{READ}{known}\nexec {compiler} "$@"\n')
    (place / "cc").chmod(0o755)
    return str(place / "cc")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_compiler: str) -> Path:
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KANECORE_CACHE_SIZE", raising=False)
    monkeypatch.setenv("CC", quick_compiler)
    return tmp_path / "cache"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def works(built: Built) -> bool:
    return bool(ctypes.CDLL(built.path).f() == 42)


def distinct(i: int) -> str:
    return f"/* {i} */\n{SOURCE}"


def fake_compiler(tmp_path: Path, before: str) -> str:
    """A compiler that runs the shell commands `before`, then the quick one; $library is what it writes."""
    path = tmp_path / "bin" / "fakecc"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\n{READ}{before}\nexec {os.environ["CC"]} "$@"\n')
    path.chmod(0o755)
    return str(path)


def system_compiler() -> str:
    path = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if path is None:
        pytest.skip("no cc, gcc or clang here")
    return path


def start(source: str, cc: str, **environment: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", IN_A_PROCESS, source, cc]
    environment = {**os.environ, **environment}
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment)


def wait_for(found: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


# Hits ----------------------------------------------------------------------------------------------------
def test_a_hit_runs_nothing_and_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_library(SOURCE + "/*" + "x" * 100_000 + "*/")

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a process was started")

    for module, name in [(subprocess, "Popen"), (subprocess, "run"), (os, "system"), (os, "posix_spawn"), (os, "fork")]:
        monkeypatch.setattr(module, name, refuse)
    hits = [compile_library(SOURCE + "/*" + "x" * 100_000 + "*/") for _ in range(20)]
    assert all(hit.from_cache and hit.path == first.path and hit.command == first.command for hit in hits)
    assert works(hits[0])
    assert min(hit.seconds for hit in hits) < 3e-3


def test_a_hit_in_a_new_process(tmp_path: Path) -> None:
    cc = fake_compiler(tmp_path, "")
    built = compile_library(SOURCE, cc=cc)
    output, _ = start(SOURCE, cc).communicate(timeout=20)
    assert output.split() == [built.path, "True"]


def test_without_cache(folder: Path) -> None:
    first, second = (compile_library(SOURCE, cache=False) for _ in range(2))
    assert works(first)
    assert works(second)
    assert not first.from_cache
    assert not second.from_cache
    assert first.path != second.path
    assert not folder.exists()
    assert cache.private_folder() in Path(first.path).parents


# Whole or not at all -------------------------------------------------------------------------------------
def test_two_at_once(folder: Path, tmp_path: Path) -> None:
    # Each waits for the other inside the compiler, so that both publish: threads hold one lock together.
    before = f"mkdir -p {tmp_path}/here; touch {tmp_path}/here/$$\n"
    before += f"while [ $(ls {tmp_path}/here | wc -l) -lt 2 ]; do sleep 0.01; done"
    cc = fake_compiler(tmp_path, before)
    with ThreadPoolExecutor(2) as pool:
        built = list(pool.map(lambda _: compile_library(SOURCE, cc=cc), range(2)))
    entry = cache.entries()[0]
    library = str(cache.library_path(entry.path))
    assert [(one.path, one.from_cache) for one in built] == [(library, False)] * 2
    assert names(folder) == [entry.path.name]


def test_only_who_compiles_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not who reads the cache, and not who waits for another process."""
    told, alone = [], cache.alone

    @contextlib.contextmanager
    def telling() -> Iterator[None]:
        told.append("begins")
        yield
        told.append("ends")

    @contextlib.contextmanager
    def after_another(*_: object) -> Iterator[None]:
        monkeypatch.setattr(cache, "alone", alone)
        compile_library(distinct(1))
        yield

    assert [compile_library(SOURCE, telling=telling).from_cache for _ in range(2)] == [False, True]
    assert told == ["begins", "ends"]
    monkeypatch.setattr(cache, "alone", after_another)
    assert compile_library(distinct(1), telling=telling).from_cache
    assert told == ["begins", "ends"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="no record locks")
def test_processes_compile_once(folder: Path, tmp_path: Path) -> None:
    """One compiles, and the others wait for its library."""
    cc = fake_compiler(tmp_path, f"echo run >>{tmp_path}/runs; sleep 0.5")
    processes = [start(SOURCE, cc) for _ in range(4)]
    outputs = [process.communicate(timeout=20)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert len({path for path, _ in outputs}) == 1
    assert sorted(from_cache for _, from_cache in outputs) == ["False", "True", "True", "True"]
    assert len((tmp_path / "runs").read_text().split()) == 1
    assert names(folder) == [cache.entries()[0].path.name]


def test_a_lock_is_not_waited_for_without_end(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stands still in its compiler keeps nobody from compiling the same."""
    cc = fake_compiler(
        tmp_path, f"if mkdir {tmp_path}/first; then while [ ! -e {tmp_path}/on ]; do sleep 0.01; done; fi"
    )
    process = start(SOURCE, cc)
    wait_for((tmp_path / "first").exists)
    monkeypatch.setattr(cache, "PATIENCE", 0.1)
    assert not compile_library(SOURCE, cc=cc).from_cache
    (tmp_path / "on").touch()
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_threads_at_once(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(compile_library, [SOURCE] * 4))
    assert len({one.path for one in built}) == len(names(folder)) == 1
    assert works(built[0])


def test_killed_compile(folder: Path, tmp_path: Path) -> None:
    cc = fake_compiler(tmp_path, f'if [ ! -e {tmp_path}/calm ]; then echo half >"$library"; sleep 60; fi')
    process = start(SOURCE, cc)
    wait_for(lambda: list(folder.glob(".kanecore-*/*.so")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (left,) = (path for path in folder.iterdir() if path.is_dir())  # a temporary folder, and no entry
    assert cache.entries() == []

    (tmp_path / "calm").touch()
    assert works(compile_library(SOURCE, cc=cc))
    assert not left.exists()  # its name says that its process is no more
    assert works(compile_library(distinct(1), cc=cc))
    assert len(names(folder)) == 2


@pytest.mark.long
def test_killed_at_any_moment(folder: Path) -> None:
    """However far it came, the next process has a library that works, and nothing lies outside the folder."""
    temporary = folder.parent / "tmp"
    temporary.mkdir()
    assert cache.folder() == folder
    more = "".join(f"int f{i}(int x) {{ return x * {i} + f(); }}\n" for i in range(500))
    cc = system_compiler()
    for n in range(0, 8, 1 if sweep.LONG else 3):
        before = len(names(folder))
        process = start(distinct(n) + more, cc, TMPDIR=str(temporary))
        wait_for(lambda before=before: len(names(folder)) > before)
        time.sleep(0.03 * n)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert all(name.startswith(".kanecore-") or name in entry_names() for name in names(folder))
        assert list(temporary.iterdir()) == []  # of gcc's own files none outlives it there
        assert works(compile_library(distinct(n) + more, cc=cc))
    for left in folder.glob(".kanecore-*"):
        os.utime(left, (time.time() - cache.STALE - 60,) * 2)
    compile_library(SOURCE)
    assert names(folder) == sorted(entry_names())


def entry_names() -> list[str]:
    return [entry.path.name for entry in cache.entries()]


def test_killed_python_leaves_its_compiler_alone(folder: Path, tmp_path: Path) -> None:
    """The orphan goes on, and finds its folder gone."""
    cc = fake_compiler(tmp_path, f"touch {tmp_path}/began; while [ ! -e {tmp_path}/on ]; do sleep 0.01; done")
    process = start(SOURCE, cc)
    wait_for((tmp_path / "began").exists)
    process.kill()
    process.communicate()
    (tmp_path / "on").touch()
    assert works(compile_library(SOURCE, cc=cc))
    assert not list(folder.glob(".kanecore-*/*"))
    assert len(cache.entries()) == 1
    assert compile_library(SOURCE, cc=cc).from_cache


def test_private_folder_of_a_killed_process(tmp_path: Path) -> None:
    """It goes when another process makes its own; on another machine after a day."""
    code = """\
import os, signal
from kanecore.build import cache
print(cache.private_folder(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

    def killed() -> Path:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
        )
        return Path(done.stdout.strip())

    first, other = killed(), tmp_path / "kanecore-thesis"
    old, new = (tmp_path / f"kanecore-private-another-{i}-x" for i in (1, 2))
    assert first.parent == tmp_path
    for path in (other, old, new):
        path.mkdir()
    for path in (other, old):
        os.utime(path, (time.time() - cache.STALE - 60,) * 2)
    second = killed()
    assert names(tmp_path) == sorted(path.name for path in (second, new, other))


def test_interrupted_compile_leaves_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file, and no process that the compiler started."""
    started = tmp_path / "started"
    cc = fake_compiler(tmp_path, f"sleep 60 & echo $! >{started}; wait")

    def interrupt(*args: object) -> None:
        wait_for(lambda: started.exists() and started.read_text())
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compile_library(SOURCE, cc=cc)
    monkeypatch.undo()
    assert names(folder) == []
    ps = ["ps", "-o", "stat=", "-p", started.read_text().strip()]
    wait_for(lambda: subprocess.run(ps, capture_output=True, text=True, check=False).stdout[:1] in ("", "Z"))


DAMAGES = ["truncated", "empty", "altered", "missing", "no record", "half a record", "other record", "a file"]


@pytest.mark.parametrize("damage", sweep.part(DAMAGES, ["truncated", "altered", "no record", "other record"]))
def test_damaged_entry_is_built_again(damage: str, folder: Path) -> None:
    built = compile_library(SOURCE)
    library = Path(built.path)
    record = library.with_name("record.json")
    data = library.read_bytes()
    if damage == "truncated":
        library.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        library.write_bytes(b"")
    elif damage == "altered":
        library.write_bytes(data[:-100] + bytes([data[-100] ^ 1]) + data[-99:])
    elif damage == "missing":
        library.unlink()
    elif damage == "no record":
        record.unlink()
    elif damage == "half a record":
        record.write_text(record.read_text()[:40])
    elif damage == "other record":
        record.write_text(record.read_text().replace('"command"', '"commands"'))
    else:
        shutil.rmtree(library.parent)
        library.parent.write_bytes(data)
    again = compile_library(SOURCE)
    assert (again.path, again.from_cache) == (built.path, False)
    assert works(again)
    assert compile_library(SOURCE).from_cache
    assert len(names(folder)) == 1


def test_a_loaded_library_outlives_its_entry(folder: Path) -> None:
    built = compile_library(SOURCE)
    loaded = ctypes.CDLL(built.path)
    Path(built.path).with_name("record.json").unlink()
    assert not compile_library(SOURCE).from_cache  # the folder was replaced as a whole
    assert loaded.f() == 42


def test_an_entry_under_another_name_is_built_again(folder: Path) -> None:
    """Whole in itself, but another model's: it would be run for this one."""
    built = compile_library(SOURCE)
    other = compile_library(SOURCE.replace("42", "43"))
    shutil.rmtree(Path(built.path).parent)
    shutil.copytree(Path(other.path).parent, Path(built.path).parent)
    again = compile_library(SOURCE)
    assert not again.from_cache
    assert works(again)


def test_altered_c_text_in_the_cache_is_not_used(folder: Path) -> None:
    """Nor is the library beside it: an entry is whole, or built again."""
    built = compile_library(SOURCE)
    text = Path(built.path).with_suffix(".c")
    text.write_text("int f(void) { return 43; }\n")
    again = compile_library(SOURCE)
    assert (again.from_cache, again.source, text.read_text()) == (False, SOURCE, SOURCE)
    assert works(again)


@sweep.examples(500)
@given(st.integers(0, 2000), st.binary(max_size=3), st.integers(0, 3))
def test_any_damage_of_a_record_is_seen_or_harmless(at: int, new: bytes, removed: int) -> None:
    """Its words may change; the library is this one, or none."""
    built = compile_library(SOURCE)
    library = Path(built.path)
    record = library.with_name("record.json")
    data = record.read_bytes()
    at %= len(data)
    record.write_bytes(data[:at] + new + data[at + removed :])
    try:
        found = cache.load(library.parent)
        if found is not None:
            path, facts = found
            assert path == library
            assert all(isinstance(word, str) for word in [*facts["command"], facts["log"]])
    finally:
        record.write_bytes(data)


@pytest.mark.parametrize(
    "text", sweep.every(4, ["", "null", "7", '"x"', "[]", "{}", "\xff\xfe{", '{"entry": 1e999}', "[" * 100_000])
)
def test_a_record_of_another_kind(text: str, folder: Path) -> None:
    built = compile_library(SOURCE)
    Path(built.path).with_name("record.json").write_text(text, encoding="latin-1")
    assert not compile_library(SOURCE).from_cache
    assert compile_library(SOURCE).from_cache


def test_failed_compile_leaves_only_its_log(folder: Path) -> None:
    with pytest.raises(CompileError, match=r"The whole log, with the C text: .*/arm-[0-9a-f]{64}\.log"):
        compile_library("#error no\n", name="arm")
    (log,) = folder.iterdir()
    assert log.suffix == ".log"
    assert cache.entries() == []
    assert cache.size() == log.stat().st_size


# Where ---------------------------------------------------------------------------------------------------
def test_the_folder_is_private(folder: Path) -> None:
    umask = os.umask(0)
    try:
        assert cache.folder() == folder
    finally:
        os.umask(umask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_platforms_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANECORE_CACHE_DIR", "")  # empty is as good as unset
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.configured() == tmp_path / "xdg" / "kanecore"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.configured() == tmp_path / ".cache" / "kanecore"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.configured() == tmp_path / ".cache" / "kanecore"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.configured() == tmp_path / "Library" / "Caches" / "kanecore"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache.configured() == tmp_path / "local" / "kanecore" / "Cache"
    monkeypatch.setenv("KANECORE_CACHE_DIR", "~/here")
    assert cache.configured() == tmp_path / "here"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_folder_of_another_user(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1)
    with pytest.raises(CompileError, match=r"another user \(uid 12345; .* Set KANECORE_CACHE_DIR to a folder of"):
        compile_library(SOURCE)
    assert names(folder) == []
    with pytest.raises(CompileError, match="another user"):
        cache.clear()
    assert works(compile_library(SOURCE, cache=False))


def test_folder_of_another_user_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    uid = cache.folder().stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    with pytest.raises(CompileError, match=rf"uid {uid}; this process runs as uid {uid + 1}"):
        compile_library(SOURCE)


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o707, 0o1777])
def test_folder_that_others_may_write(mode: int, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(CompileError, match=rf"mode {mode:04o}\)[^`]*chmod go-w \"{folder}\""):
        compile_library(SOURCE)
    folder.chmod(mode & ~0o022)  # what the message says
    assert works(compile_library(SOURCE))


def mounted_noexec(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """As if these folders were on such a file system."""
    real = os.statvfs

    def statvfs(path: str | Path) -> object:
        flags = os.ST_NOEXEC * any(folder == Path(path) or folder in Path(path).parents for folder in folders)
        return SimpleNamespace(f_flag=real(path).f_flag | flags)

    monkeypatch.setattr(os, "statvfs", statvfs)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a library is loaded all the same")
def test_folder_from_which_nothing_may_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like one that cannot be written; and where temporary files lie so too, the error says what to set."""
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    mounted_noexec(monkeypatch, tmp_path / "cache")
    assert cache.folder() == cache.private_folder()
    cache._private_folder.cache_clear()
    mounted_noexec(monkeypatch, tmp_path / "cache", Path(tempfile.gettempdir()))
    with pytest.raises(CompileError, match=r"mounted noexec, .* set TMPDIR, or KANECORE_CACHE_DIR"):
        cache.folder()


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_clear_removes_what_killed_compilations_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once; not what a process that lives is at, and not what another machine left: that after a day."""
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = cache.folder()
    code = (
        "import os, sys, tempfile\nfrom pathlib import Path\nfrom kanecore.build import cache\n"
        "tempfile.tempdir = sys.argv[1]\ncache.private_folder()\n"
        "one = cache.scratch(Path(sys.argv[2]))\none.__enter__()\nos.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path, folder], check=False)
    assert len([*folder.glob(".kanecore-*"), *tmp_path.glob("kanecore-private-*")]) == 2
    another = folder / ".kanecore-another-1-abc"
    another.mkdir()
    with cache.scratch(folder) as mine:
        cache.clear()
        assert {*folder.iterdir()} == {mine, another}
    assert not [*tmp_path.glob("kanecore-private-*")]


def test_unwritable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KANECORE_CACHE_DIR", str(tmp_path / "file" / "cache"))  # not even root can write there
    built = compile_library(SOURCE)
    assert works(built)
    assert cache.folder() == cache.private_folder()
    assert cache.private_folder() in Path(built.path).parents
    assert compile_library(SOURCE).from_cache  # within this process


def test_folder_without_the_right_to_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o500)
    if os.geteuid() == 0:  # whom no mode stops
        access = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: path != folder and access(path, mode))
    assert works(compile_library(SOURCE))
    assert names(folder) == []


def test_full_disk(folder: Path, tmp_path: Path) -> None:
    full = f'case "$library" in {folder}/*) echo "ld: final link failed: No space left on device"; exit 1;; esac'
    built = compile_library(SOURCE, cc=fake_compiler(tmp_path, full))
    assert works(built)
    assert cache.private_folder() in Path(built.path).parents
    assert names(folder) == []


IN_A_FULL_DISK = """\
import ctypes, os, sys
from pathlib import Path
from kanecore.build import cache, compile_library
built = compile_library(sys.argv[1], cc=sys.argv[2:])
assert ctypes.CDLL(built.path).f() == 42
assert cache.private_folder() in Path(built.path).parents, built.path
assert os.listdir(os.environ["KANECORE_CACHE_DIR"]) == []
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a file system of one's own, as no root, is Linux's")
@pytest.mark.parametrize(
    ("compiler", "size"),
    [
        *(("cc", "16k"), ("cc", "100k"), ("cc", "300k")),
        *(pytest.param("ziglang", size, marks=pytest.mark.long) for size in ("16k", "220k")),
    ],
)
def test_disk_that_runs_full(compiler: str, size: str, tmp_path: Path) -> None:
    """While the C text is written, or the compiler's own files, or the library."""
    if compiler == "ziglang":
        pytest.importorskip("ziglang", reason="ziglang is not installed")
    words = [sys.executable, "-m", "ziglang", "cc"] if compiler == "ziglang" else [system_compiler()]
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f'mount -t tmpfs -o size={size},mode=700 tmpfs "$0" && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk)]
    tried = subprocess.run([*alone, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no file system of one's own here: {tried.stderr.strip()}")
    text = f'{SOURCE}/*{"x" * 30_000}*/ __attribute__((visibility("default"))) char data[200000] = {{1}};\n'
    environment = {**os.environ, "KANECORE_CACHE_DIR": str(disk / "cache")}
    command = [*alone, sys.executable, "-c", IN_A_FULL_DISK, text, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a file system of one's own, as no root, is Linux's")
def test_read_only_disk(tmp_path: Path) -> None:
    """Not even root may write there: what it holds is not looked at either, a hit marks its entry as used."""
    disk = tmp_path / "disk"
    (disk / "cache").mkdir(parents=True, mode=0o700)
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk)]
    tried = subprocess.run([*alone, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no file system of one's own here: {tried.stderr.strip()}")
    environment = {**os.environ, "KANECORE_CACHE_DIR": str(disk / "cache")}
    command = [*alone, sys.executable, "-c", IN_A_FULL_DISK, SOURCE, system_compiler()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_files_of_limited_size(tmp_path: Path) -> None:
    """A process that may write no file of more than 100 bytes, as `ulimit -f` makes it, says what to do."""
    code = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
from kanecore.build import compile_library
from kanecore.errors import CompileError
try:
    compile_library(sys.argv[1])
except CompileError as error:
    print(error)
"""
    command = [sys.executable, "-B", "-c", code, SOURCE + "/*" + "x" * 200 + "*/"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "no folder in which to compile 'model'" in done.stdout
    assert os.strerror(errno.EFBIG) in done.stdout
    assert "Set KANECORE_CACHE_DIR" in done.stdout


def test_full_everywhere(tmp_path: Path) -> None:
    cc = fake_compiler(tmp_path, 'echo "ld: final link failed: No space left on device"; exit 1')
    with pytest.raises(CompileError, match=r"no folder in which to compile 'model'.* Set KANECORE_CACHE_DIR to a"):
        compile_library(SOURCE, cc=cc)


def test_the_private_folder_goes_at_exit() -> None:
    code = """\
import os
from kanecore.build import cache
path = cache.private_folder()
if os.fork() == 0:
    raise SystemExit  # a forked child runs the same handlers
os.wait()
assert path.is_dir() and path == cache.private_folder() and path.stat().st_mode & 0o777 == 0o700
print(path)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    assert path.name.startswith("kanecore-")
    assert not path.exists()


def test_the_private_folder_is_made_anew_if_it_was_cleaned() -> None:
    first = cache.private_folder()
    shutil.rmtree(first)
    assert cache.private_folder().is_dir()
    assert works(compile_library(SOURCE, cache=False))


# Size ----------------------------------------------------------------------------------------------------
def test_the_least_recently_used_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = [compile_library(distinct(i), name=f"m{i}") for i in range(4)]
    for age, one in zip((40, 30, 20, 10), built, strict=True):
        os.utime(Path(one.path).parent, (time.time() - age,) * 2)
    assert [entry.name for entry in cache.entries()] == ["m3", "m2", "m1", "m0"]
    assert compile_library(distinct(0), name="m0").from_cache  # a hit makes it the newest
    assert [entry.name for entry in cache.entries()] == ["m0", "m3", "m2", "m1"]

    each = cache.entries()[0].size
    monkeypatch.setenv("KANECORE_CACHE_SIZE", str(int(3.5 * each)))
    compile_library(distinct(4), name="m4")
    assert [entry.name for entry in cache.entries()] == ["m4", "m0", "m3"]
    assert cache.size() <= 3.5 * each
    assert len(names(folder)) == 3
    assert not compile_library(distinct(1), name="m1").from_cache


def test_what_was_just_built_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANECORE_CACHE_SIZE", "1")
    assert works(compile_library(SOURCE))
    assert works(compile_library(distinct(1)))
    assert len(cache.entries()) == 1


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("", 1 << 30), ("12", 12), ("500M", 500 << 20), ("2 GiB", 2 << 30), ("3kb", 3 << 10)]
)
def test_size_limit(text: str, n_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANECORE_CACHE_SIZE", text)
    assert cache.limit() == n_bytes


def test_size_limit_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANECORE_CACHE_SIZE", "lots")
    with pytest.raises(CompileError, match="KANECORE_CACHE_SIZE is 'lots'; write a number of bytes"):
        compile_library(SOURCE)


def test_clear_removes_ours_only(folder: Path) -> None:
    built = compile_library(SOURCE, name="arm")
    loaded = ctypes.CDLL(built.path)
    with pytest.raises(CompileError):
        compile_library("#error no\n")
    (folder / "thesis.tex").touch()
    (folder / "thesis").mkdir()
    (entry,) = cache.entries()
    assert (entry.name, entry.key) == ("arm", built.key)
    assert entry.size == sum(path.stat().st_size for path in entry.path.iterdir())
    assert cache.size() > entry.size  # the log
    assert cache.clear() == 1
    assert names(folder) == ["thesis", "thesis.tex"]
    assert (cache.entries(), cache.size(), cache.clear()) == ([], 0, 0)
    assert loaded.f() == 42
    assert works(compile_library(SOURCE, name="arm"))
