# SPDX-License-Identifier: BSD-3-Clause
"""Opening what is no library, no table, or no right one: an ImportError that says what is wrong, and never a crash.

What a byte of code may do when it is another nobody can tell, and as little what the dynamic loader of the system does
with altered instructions of its own (headers, symbols, relocations): these stay as they are.  So do
addresses, and the lengths of what the code of a model writes, which it alone can know.
"""

import ctypes
import json
import random
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sweep
from altered_tables import ARRAYS, LISTS, SIZES, Altered, Table
from sweep import every

import kanecore as kc
from kanecore.build import compile_library, include_dir
from kanecore.compiled_model import CompiledModel
from kanecore.prebuilt import libraries, library

pytestmark = pytest.mark.compiler

OPENS = """
import contextlib, sys, warnings
from pathlib import Path
import numpy as np
from kanecore.compiled_model import CompiledModel
from kanecore.errors import SingularError

warnings.simplefilter("ignore")
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        dyn = CompiledModel({"all": str(path)}, source={})
    except ImportError as error:
        assert path.name in str(error), error
    else:
        values = {"p": np.ones(dyn.n_p), "r": np.ones(dyn.n_r)}
        with contextlib.suppress(SingularError):  # of constants that are others
            dyn.rhs(0.0, np.full(dyn.n_x, 0.5), **values)
        print(path.name)
"""


@pytest.fixture(scope="module")
def any_table(root: Path) -> str:
    text = (root / "tests/c/any_table.c").read_text(encoding="utf-8")
    return compile_library(text, cflags=[f"-I{root / 'tests/c'}"], cache=False, name="any_table").path


@pytest.fixture(scope="module")
def binary(root: Path) -> bytes:
    """The library of a small model."""
    text = (root / "tests/cmodels/cartpole.c").read_text(encoding="utf-8")
    return Path(compile_library(text, cache=False, name="cartpole").path).read_bytes()


def opened(folder: Path) -> list[str]:
    """Which of the files of a folder a process opens, and calls, that must not crash."""
    done = subprocess.run([sys.executable, "-c", OPENS, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# Tables ---------------------------------------------------------------------------------------------------
def test_the_members_are_those_of_the_header() -> None:
    header = (include_dir() / "kanecore.h").read_text(encoding="utf-8")
    struct_text = re.sub(r"/\*.*?\*/", "", header[header.index("typedef struct kc_model") :], flags=re.DOTALL)
    members = re.findall(r"(\w+)(?=[,;])", struct_text[: struct_text.index("kc_prepare *")])
    # In the header flags stand beside n_unit, and so they do here.
    assert sorted(members) == sorted(["abi_version", "struct_size", *SIZES, "name", *LISTS, *ARRAYS, "lanes"])
    assert [name for name, *_ in Table._fields_ if name in members] == members


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4 if sweep.LONG else 1))
def test_altered_tables(seed: int, any_table: str, root: Path) -> None:
    """Each opens, and behaves, or is refused; a process that crashes fails the test."""
    n = 500 if sweep.LONG else 50
    command = [sys.executable, "-W", "ignore", root / "tests/altered_tables.py", any_table, str(seed), str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert outcomes.pop("opened") > n / 5
    assert len(outcomes) > n / 10
    assert all("PATH" in message for message in outcomes)


def _sized(name: str, value: int) -> Callable[[Altered], None]:
    return lambda table: table.numbers.update({name: value})


def _listed(member: str, names: list[bytes | None] | None) -> Callable[[Altered], None]:
    return lambda table: table.lists.update({member: names})


def _numbered(member: str, values: list[Any] | None) -> Callable[[Altered], None]:
    return lambda table: table.arrays.update({member: values})


def _named(text: bytes | None) -> Callable[[Altered], None]:
    return lambda table: setattr(table, "name", text)


def _told(text: bytes) -> Callable[[Altered], None]:
    return lambda table: table.inform(text)


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (_sized("abi_version", 99), "version 99, this kanecore reads version"),
        (_sized("struct_size", 200), "a table of 200 bytes"),
        (_sized("n_work", 2**32 - 1), "n_work is 4294967295, more than any model has"),
        (_sized("n_q", 4), r"q_names does not end with NULL after 4 names"),
        (_sized("n_p", 3), r"p_names ends after 2 names of 3"),
        (_sized("n_prepared", 1), "n_p is 2 and n_prepared is 1"),
        (_sized("n_prepared", 2), "n_prepared is 2, which leaves no place for the number of rows that count"),
        (_sized("n_velocity", 2), "n_velocity is 2 and n_constraints is 1"),
        (_sized("n_q_dependent", 6), "n_q_dependent is 6 and n_q is 5"),
        (_sized("n_u_dependent", 6), "n_u_dependent is 6 and n_u is 4"),
        (_sized("n_unit", 2), "n_unit is 2 and n_q is 5, and a quaternion has four"),
        (_sized("flags", 5), "flags is 5, and no model has all of these"),
        (_sized("flags", 1), "flags says qdot = u, and n_q is 5, n_u is 4"),
        (_named(None), "name is NULL"),
        (_named(b"\xff"), "name is not UTF-8"),
        (_told(b"{"), "info is no JSON: Expecting"),
        (_told(b"\xff"), r"info\[[0-9]\] is not UTF-8"),
        (_told(b"[" * 100_000), "info is no JSON: .*(recursion|Stack overflow)"),
        (_told(b"[]"), "info is no object"),
        (_told(b'{"unread": {"udot": "x"}}'), "unread in info is of the wrong kind"),
        (_told(b'{"left_out": []}'), "left_out in info is of the wrong kind"),
        (_told(b'{"missing": {"udot": 3}}'), "missing in info is of the wrong kind"),
        (_told(b'{"baked": "abc"}'), "baked in info is of the wrong kind"),
        (_told(b'{"guess": {"0": NaN}}'), "guess in info is nan at 0"),
        (_told(b'{"guess": {"9": 1}}'), "guess in info names the place '9', and a state has 9"),
        (_told(b'{"configuration_names": ["a"]}'), "configuration_names in info are not 2 names"),
        (_told(b'{"coordinate_rates": [0, 1]}'), "coordinate_rates in info are not 5 rows"),
        (_told(b'{"coordinate_rates": [0, 1, 2, 3, 4]}'), "coordinate_rates in info are not 5 rows"),
        (_told(b'{"coordinate_rates": 3}'), "coordinate_rates in info are not 5 rows"),
        (_told(b'{"joints": [[0]]}'), "joints in info are not 2 rows"),
        (_told(b'{"adrift": [5, 0]}'), "adrift in info are not 2 rows"),
        (_told(b'{"origins": ["O", 3]}'), "origins in info are not 2 names"),
        (_told(b'{"origin": 3}'), "origin in info is no name"),
        (_told(b'{"inertial": ["N"]}'), "inertial in info is no name"),
        (_told(b'{"loads": [[0, 0, 0, 5], [0, 0, 0, 0]]}'), "loads in info are not 2 rows"),
        (_told(b'{"adrift": 3}'), "adrift in info is no list"),
        (_told(b'{"unoriented": [2]}'), "unoriented in info are not 1 rows"),
        (_told(b'{"unlocated": [2]}'), "unlocated in info are not 1 rows"),
        (_listed("u_names", None), "u_names is NULL, and not 4 names"),
        (_listed("r_names", [b"F", None, None]), "r_names ends after 1 names of 2"),
        (_listed("point_names", [b"P", b"\xff", None]), r"point_names\[1\] is not UTF-8"),
        (_listed("frame_names", [b"A", b"B", b"C", None]), "frame_names does not end with NULL after 2 names"),
        (_numbered("p_default", None), "p_default is NULL"),
        (_numbered("r_default", None), "r_default is NULL"),
        (_numbered("unit", None), "unit is NULL"),
        (_numbered("unit", [0, 1, 2, 5]), r"unit\[3\] is 5 and n_q is 5"),
        (_numbered("r_rates", [-2, 0]), r"r_rates\[0\] is -2 and n_r is 2"),
        (_numbered("r_rates", [1, 2]), r"r_rates\[1\] is 2 and n_r is 2"),
    ],
)
def test_the_error_names_the_member(alter: Callable[[Altered], None], message: str, any_table: str) -> None:
    library = ctypes.CDLL(any_table)
    library.all_kernels.restype = ctypes.POINTER(ctypes.c_void_p)
    sizes = dict.fromkeys(SIZES, 2) | {"n_q": 5, "n_u": 4, "n_z": 0, "n_prepared": 4, "n_unit": 1, "flags": 0}
    sizes |= {"n_constraints": 1, "n_velocity": 1}
    table = Altered(random.Random(0), library, kc.ABI_VERSION, sizes)
    table.hand_over()
    assert CompiledModel({"all": any_table}, source={}).n_q == 5
    alter(table)
    table.hand_over()
    with pytest.raises(ImportError, match=rf"any_table.* has .*{message}.*compile the model again") as error:
        CompiledModel({"all": any_table}, source={})
    assert error.value.path is not None


def test_no_table_at_all(any_table: str) -> None:
    library = ctypes.CDLL(any_table)
    library.use_table(None, ctypes.c_size_t(0))
    with pytest.raises(ImportError, match=r"cannot open the compiled model .*kc_get_model\(\) returns no table"):
        CompiledModel({"all": any_table}, source={})


# Files ----------------------------------------------------------------------------------------------------
def test_files_that_are_no_libraries(tmp_path: Path, binary: bytes) -> None:
    """Nor those that were cut off: the system maps what is not there, and who reads it gets SIGBUS: so did dlopen()."""
    rng = random.Random(0)
    contents = [b"", b"\n", b"not a library", b"\x7fELF", b"\x7fELF" + bytes(200), b"#!/bin/sh\nexit 1\n"]
    contents += [binary[:4] + rng.randbytes(n) for n in (1, 60, 1000)]
    for i, content in enumerate(contents):
        (tmp_path / f"{i}.so").write_bytes(content)
    (tmp_path / "folder.so").mkdir()
    if sys.platform != "linux":  # its libraries are no ELF files
        assert opened(tmp_path) == []
        return
    end = max(offset + size for _, offset, size in _segments(binary))
    for length in {*range(0, end, 97), *range(0, end, 4096), end - 1}:
        (tmp_path / f"{length}.so").write_bytes(binary[:length])
    (tmp_path / "whole.so").write_bytes(binary[:end])  # of what lies behind it only debuggers know
    assert opened(tmp_path) == ["whole.so"]
    (tmp_path / "half.so").write_bytes(binary[: end // 2])
    with pytest.raises(ImportError, match=r"cannot open the compiled model .*half.so: the file is cut off"):
        CompiledModel({"all": str(tmp_path / "half.so")}, source={})


@pytest.mark.skipif(sys.platform != "linux", reason="its libraries are no ELF files")
@pytest.mark.parametrize("seed", every(4, range(4)))
def test_altered_bytes_of_data(seed: int, tmp_path: Path, binary: bytes) -> None:
    """Names, defaults and sizes that are others: each library opens, and may be called, or is refused."""
    rng = random.Random(seed)
    data = [(at, size) for name, at, size in _sections(binary) if name in (b".rodata", b".comment")]
    table = binary.index(struct.pack("<II", kc.ABI_VERSION, ctypes.sizeof(Table)))
    data.append((table, Table.name.offset))  # behind its sizes stand addresses
    lengths = slice(table + Table.n_prepared.offset, table + Table.n_work.offset + Table.n_work.size)
    for case in range(150):
        altered = bytearray(binary)
        at, size = rng.choice(data)
        for _ in range(rng.choice([1, 1, 1, 8, 64])):
            altered[at + rng.randrange(size)] = rng.randrange(256)
        altered[lengths] = binary[lengths]
        (tmp_path / f"{case}.so").write_bytes(altered)
    assert 0 < len(opened(tmp_path)) < 150


def _segments(binary: bytes) -> list[tuple[int, int, int]]:
    """(type, offset, size in the file) of what the system maps, of an ELF file of 64 bits."""
    start, size, n = struct.unpack_from("<Q", binary, 32)[0], *struct.unpack_from("<HH", binary, 54)
    heads = [struct.unpack_from("<IIQQQQ", binary, start + i * size) for i in range(n)]
    return [(kind, offset, length) for kind, _, offset, _, _, length in heads if kind == 1]


def _sections(binary: bytes) -> list[tuple[bytes, int, int]]:
    """(name, offset, size) of the sections of an ELF file of 64 bits."""
    start, (size, n, names) = struct.unpack_from("<Q", binary, 40)[0], struct.unpack_from("<HHH", binary, 58)
    heads = [struct.unpack_from("<IIQQQQ", binary, start + i * size) for i in range(n)]
    texts = heads[names][4]
    return [(binary[texts + head[0] :].split(b"\0", 1)[0], head[4], head[5]) for head in heads]


@pytest.mark.parametrize(("level", "best"), [(4, "x86-64-v4"), (3, "x86-64-v3"), (2, "baseline")])
def test_the_best_library_that_the_processor_runs(
    level: int, best: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanecore._library.cpu_level", lambda: level)
    files = libraries(tmp_path, "arm")
    for path in files.values():
        path.touch()
    assert library(tmp_path, "arm") == files[best]
