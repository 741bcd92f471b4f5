# SPDX-License-Identifier: BSD-3-Clause
"""Files that kanecore writes are whole, or what was there before stays."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mechanisms import slider
from sweep import part

import kanecore as kc
from kanecore.whole_files import whole_file, whole_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sizes of files have no limit there")

LIMIT = 500  # bytes, less than any of these files


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """As on a full disk: files end after LIMIT bytes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def dyn() -> kc.CompiledModel:
    return kc.compile(slider(), parameters={"m": 1.0, "g": 9.81}, cc="none", kernels="all")


@pytest.fixture(scope="module")
def sol(dyn: kc.CompiledModel) -> kc.Trajectory:
    return dyn.simulate((0.0, 1.0), dyn.state(), t_eval=[0.01 * i for i in range(100)])


WRITERS: dict[str, Callable[[Any, Any, Path], object]] = {
    "run.csv": lambda dyn, sol, path: sol.to_csv(path),
    "run.npz": lambda dyn, sol, path: sol.save(path),
    "film.html": lambda dyn, sol, path: sol.animate().save(path),
    "film.gif": lambda dyn, sol, path: pytest.importorskip("matplotlib") and sol.animate(fps=5).save(path),
    "page.html": lambda dyn, sol, path: dyn.play().save(path),
    "unit.fmu": lambda dyn, sol, path: dyn.export_fmu(path, cc="none"),
}


@pytest.mark.parametrize("name", part(WRITERS, [name for name in WRITERS if name != "film.gif"]))
def test_a_full_disk_leaves_what_was_there(
    name: str, dyn: kc.CompiledModel, sol: kc.Trajectory, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text("of before")
    with pytest.raises(OSError, match=rf"^\[Errno 27\] File too large: '{path}'$"), no_room():
        WRITERS[name](dyn, sol, path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(name, "of before")]
    WRITERS[name](dyn, sol, path)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert path.stat().st_size > LIMIT


@pytest.mark.parametrize("name", ["new", "new/and/deep", "empty", "."])
def test_no_half_of_a_folder_is_left(
    name: str, dyn: kc.CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders that there were stay, ``.`` too, where a shell may stand."""
    (tmp_path / "empty").mkdir()
    before, inode = sorted(tmp_path.iterdir()), (tmp_path / "empty").stat().st_ino
    monkeypatch.chdir(tmp_path / "empty" if name == "." else tmp_path)
    with pytest.raises(OSError, match=r"^\[Errno 27\] File too large: '[^']*slider\.[ch]'$") as caught, no_room():
        dyn.export_c(name)
    assert Path(caught.value.filename).parent == Path(name)
    assert sorted(tmp_path.iterdir()) == before
    assert not any((tmp_path / "empty").iterdir())
    dyn.export_c(name)
    assert (Path(name) / "test" / "vectors.h").is_file()
    assert not any(path.name.startswith(".") for path in Path(name).iterdir())
    assert (tmp_path / "empty").stat().st_ino == inode


def test_whatever_ends_the_writing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("of before")

    def stopped(place: Path) -> None:
        place.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), whole_file(path) as place:
        stopped(place)
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "a" / "b") as folder:
        stopped(folder / "file")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("file", "of before")]


def test_links_and_modes_stay(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("of before")
    (tmp_path / "kept").chmod(0o640)
    (tmp_path / "link").symlink_to("kept")
    with whole_file(tmp_path / "link") as place:
        place.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept").read_text() == "new"
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o640


def test_pipes_and_devices_are_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with whole_file(path) as place:
            place.write_text("words")
    assert os.read(reader, 100) == b"words"
    os.close(reader)


def test_names_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250 + ".html")
    with whole_file(path) as place:
        place.write_text("words")
    assert path.read_text() == "words"


def test_errors_name_what_was_asked_for(tmp_path: Path) -> None:
    for path, kind in ((tmp_path, IsADirectoryError), (tmp_path / "none" / "file.csv", FileNotFoundError)):
        with pytest.raises(kind) as caught, whole_file(path) as place:
            place.write_text("words")
        assert caught.value.filename == str(path)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write to any file")
def test_what_must_not_be_written_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("of before")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=str(path)), whole_file(path) as place:
        place.write_text("words")
    assert path.read_text() == "of before"
