# SPDX-License-Identifier: BSD-3-Clause
"""Tables of models that nobody compiled: small random ones, as tests/c/any_table.c hands them to the loader, altered.

``python altered_tables.py LIBRARY SEED N [EXTENSION]`` opens N of them, altered by up to two of ALTERATIONS, and uses
what opens.  It ends by a traceback where anything comes of it but an ImportError or an error that kernels raise.
EXTENSION is a kanecore._library in place of the installed one.  Output is JSON: how often which error, or none, came.

Three things only the author of a table can know, so they stay: addresses, the lengths of arrays of numbers, and their
type.
"""

import collections
import contextlib
import ctypes
import importlib.util
import itertools
import json
import random
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kanecore.kernels import KERNELS

SIZES = (
    *("n_q", "n_u", "n_p", "n_r", "n_prepared", "n_work", "n_points", "n_frames", "n_outputs", "n_joints"),
    *(
        "n_bodies",
        "n_loads",
        "n_potentials",
        "n_info",
        "n_unit",
        "flags",
        "n_constraints",
        "n_configuration",
        "n_velocity",
        "n_auxiliary",
        "n_q_dependent",
        "n_u_dependent",
        "n_z",
        "n_reactions",
        "n_shares",
    ),
)
LISTS = {
    "info": "n_info",
    "q_names": "n_q",
    "u_names": "n_u",
    "z_names": "n_z",
    "p_names": "n_p",
    "r_names": "n_r",
    "point_names": "n_points",
    "frame_names": "n_frames",
    "output_names": "n_outputs",
    "joint_names": "n_joints",
    "body_names": "n_bodies",
    "constraint_names": "n_constraints",
}
ARRAYS = {
    "unit": ctypes.c_uint32,
    "p_default": ctypes.c_double,
    "r_default": ctypes.c_double,
    "r_rates": ctypes.c_int32,
}
N_KERNELS = len(KERNELS)
WRONG_SIZES = (0, 1, 7, 2**16, 2**24, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1)
WRONG_TEXTS = (b"", b"\xff\xfe", b"a\xc3", b"\xed\xa0\x80", b"x" * 300)
WRONG_INFO = (
    *(
        "",
        "{",
        "[]",
        "3",
        "null",
        '"left_out"',
        "{'a': 1}",
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 5000,
        '{"unread": 3}',
    ),
    *('{"left_out": []}', '{"left_out": {"parameter": "abc"}}', '{"left_out": {"input": [1]}}', '{"left_out": null}'),
    *('{"unread": {"udot": "x"}}', '{"unread": {"udot": -1}}', '{"unread": {"udot": 1.5}}', '{"unread": {"udot": []}}'),
    *('{"massless": {"u": 3}}', '{"massless": "u"}'),
    *('{"missing": {"udot": 3}}', '{"missing": "udot"}', '{"guess": {"99": 1.0}}', '{"guess": {"q": 1.0}}'),
    *('{"guess": {"-1": 1.0}}', '{"guess": {"0": "x"}}', '{"guess": {"0": NaN}}', '{"guess": {"0": 1e999}}'),
    *('{"coordinate_rates": 3}', '{"coordinate_rates": [99, 0, 0]}', '{"coordinate_rates": ["u"]}'),
    *('{"guess": [0]}', '{"configuration_names": 3}', '{"configuration_names": ["a", "b", "c", "d", "e", "f", "g"]}'),
    *('{"baked": 4}', '{"baked": [1]}', '{"unread": {"no_kernel": 1}}', '{"unread": {"udot": 999999999999999999999}}'),
)


class Table(ctypes.Structure):
    """kc_model; tests hold its members to the header."""

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("abi_version", "struct_size", *SIZES)),
        *((name, ctypes.c_void_p) for name in ("name", *LISTS, *ARRAYS)),
        ("lanes", ctypes.c_void_p),
        ("prepare", ctypes.c_void_p),
        ("kernels", ctypes.c_void_p * N_KERNELS),
    ]


def _random_sizes(rng: random.Random) -> dict[str, int]:
    """Small ones, that go with each other."""
    n = {name: rng.randrange(4) for name in SIZES}
    n["n_q"], n["n_u"] = rng.randrange(1, 9), rng.randrange(1, 5)
    n["n_info"] = rng.randrange(1, 4)
    n["n_unit"] = rng.randrange(n["n_q"] // 4 + 1)
    n["flags"] = int(n["n_q"] == n["n_u"])
    n["n_prepared"] = n["n_p"] + 1 + rng.randrange(3)
    n["n_velocity"] = rng.randrange(n["n_constraints"] + 1)
    n["n_q_dependent"], n["n_u_dependent"] = rng.randrange(n["n_q"] + 1), rng.randrange(n["n_u"] + 1)
    return n


class Altered:
    """A table with all that it points to, until it is handed over."""

    def __init__(
        self, rng: random.Random, library: ctypes.CDLL, abi_version: int, sizes: Mapping[str, int] | None = None
    ) -> None:
        self.rng, self.library = rng, library
        n = _random_sizes(rng) if sizes is None else dict(sizes)
        self.numbers = {"abi_version": abi_version, "struct_size": ctypes.sizeof(Table), **n}
        self.name: bytes | None = b"altered"
        self.lists: dict[str, list[bytes | None] | None] = {
            member: [*(f"{member}{i}".encode() for i in range(n[size])), None] for member, size in LISTS.items()
        }
        self.arrays: dict[str, list[Any] | None] = {
            "unit": [rng.randrange(n["n_q"]) for _ in range(n["n_q"])],  # as many as n_unit can ask for
            "p_default": [rng.choice([1.0, float("nan")]) for _ in range(n["n_p"])],
            "r_default": [rng.choice([0.0, float("nan")]) for _ in range(n["n_r"])],
            "r_rates": [rng.randrange(-1, n["n_r"]) for _ in range(n["n_r"])],
        }
        self.inform(b'{"version": "0"}')
        self.prepares = True
        self.absent: set[int] = {i for i in range(N_KERNELS) if rng.random() < 0.1}

    def inform(self, text: bytes) -> None:
        """Put the text into `info`, in pieces."""
        cuts = sorted(self.rng.choices(range(len(text) + 1), k=self.numbers["n_info"] - 1))
        self.lists["info"] = [*(text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])), None]

    def hand_over(self) -> None:
        """Put the table into memory of its own, of the size that it names and not a byte more."""
        whole = Table(**self.numbers)
        whole.name = _text(self.name)
        for member, names in self.lists.items():
            if names is not None:
                setattr(whole, member, _memory((ctypes.c_void_p * len(names))(*map(_text, names))))
        for member, values in self.arrays.items():
            if values is not None:
                setattr(whole, member, _memory((ARRAYS[member] * len(values))(*values)))
        if self.prepares:
            whole.prepare = ctypes.cast(self.library.prepare, ctypes.c_void_p).value
        kernels = self.library.all_kernels()
        for i in set(range(N_KERNELS)) - self.absent:
            whole.kernels[i] = kernels[i]
        size = min(max(self.numbers["struct_size"], 8), ctypes.sizeof(Table))
        self.library.use_table(ctypes.c_void_p(_memory(whole, size)), ctypes.c_size_t(size))


_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p


def _memory(value: Any, size: int | None = None) -> int:
    """A copy that is never freed, as the table of a library is not; the address sanitizer watches beside it."""
    size = ctypes.sizeof(value) if size is None else size
    address: int = _libc.malloc(ctypes.c_size_t(size or 1))
    ctypes.memmove(address, ctypes.byref(value), size)
    return address


def _text(text: bytes | None) -> int | None:
    return None if text is None else _memory(ctypes.create_string_buffer(text))


# Alterations ----------------------------------------------------------------------------------------------
def _version(table: Altered) -> None:
    table.numbers["abi_version"] = table.rng.choice([0, 1, 3, 99, 2**32 - 1])


def _struct_size(table: Altered) -> None:
    table.numbers["struct_size"] = table.rng.choice([table.rng.randrange(ctypes.sizeof(Table)), *WRONG_SIZES])


def _size(table: Altered) -> None:
    name = table.rng.choice(SIZES)
    near = max(table.numbers[name] + table.rng.choice([-1, 1]), 0)
    table.numbers[name] = table.rng.choice([near, *WRONG_SIZES])
    if name == "flags":
        table.numbers[name] &= ~2  # whether functions take floats only their author knows, as their addresses


def _name(table: Altered) -> None:
    table.name = table.rng.choice([None, *WRONG_TEXTS])


def _info(table: Altered) -> None:
    table.inform(table.rng.choice([b"\xff", *(text.encode() for text in WRONG_INFO)]))


def _list(table: Altered) -> None:
    member = table.rng.choice(list(LISTS))
    names = table.lists[member]
    if names is None:  # altered before
        return
    place = table.rng.randrange(len(names))
    change = table.rng.choice(["absent", "cut", "longer", "wrong", "twice"])
    if change == "absent":
        table.lists[member] = None
    elif change == "cut":
        names[place] = None
    elif change == "longer":
        names.insert(place, b"one more")
    elif len(names) > 1:
        names[place % (len(names) - 1)] = table.rng.choice(WRONG_TEXTS) if change == "wrong" else names[0]


def _array(table: Altered) -> None:
    member = table.rng.choice(list(ARRAYS))
    values = table.arrays[member]
    if not values or table.rng.random() < 0.3:
        table.arrays[member] = None
    else:
        wrong = (
            (float("inf"), -1.0, 1e308) if "default" in member else (2**31 - 1, *(len(values) + i for i in (0, 1, 7)))
        )
        values[table.rng.randrange(len(values))] = table.rng.choice(wrong)


def _functions(table: Altered) -> None:
    table.absent = {i for i in range(N_KERNELS) if table.rng.random() < 0.7}
    table.prepares = table.rng.random() < 0.7


ALTERATIONS: tuple[Callable[[Altered], None], ...] = (
    *(_version, _struct_size, _size, _size, _name, _info, _info, _list, _list, _array, _functions),
)


# What is done with them -----------------------------------------------------------------------------------
def use(dyn: Any, errors: tuple[type[Exception], ...]) -> None:
    """Whatever a user may do with a model: only `errors` may come of it."""

    def attempt(action: Callable[[], Any]) -> None:
        with contextlib.suppress(*errors):
            action()

    attempt(lambda: (repr(dyn), dyn.info, dyn.configuration_names, dyn.unit, dyn.input_rates, dyn.points))
    attempt(lambda: dyn.prepared)
    for values in (dyn.parameters, dyn.inputs):
        attempt(partial(values.update, dict.fromkeys(values, 0.5)))
    if any(dyn.info["sizes"][name] > 10**6 for name in ("n_prepared", "n_work")) or dyn.n_configuration > 10**4:
        return  # it takes long
    x, udot = np.linspace(-1.0, 1.0, dyn.n_x), np.ones(dyn.n_u)
    for places in dyn.unit:
        x[list(places)] = 0.5
    bound = dyn.workspace() if all(map(dyn.kernels.has, ("rhs", "mass_matrix", "forcing"))) else None
    for kernel in KERNELS:
        arguments = (udot,) if kernel.reads_udot else ()
        arguments += (np.ones(dyn.n_constraints),) if kernel.reads_multipliers else ()
        if kernel.vectors:
            further = kernel.further({f"n_{name}": size for name, size in dyn.sizes.items()})
            arguments = (np.concatenate([*arguments, np.ones(sum(further))]),)
        own = dyn.kernels if kernel.internal else dyn
        for method, states in ((own, [x]), (own, [[x, x, x]]), (bound, [])):
            call = getattr(method, kernel.name, None)
            if callable(call):
                attempt(partial(call, *([0.0, *states, *arguments] if states else [])))
    attempt(lambda: dyn.simulate((0.0, 0.1), x, method="rk4", dt=0.05))
    attempt(dyn.check)


def load(extension: str) -> None:
    """Take this kanecore._library in place of the installed one."""
    spec = importlib.util.spec_from_file_location("kanecore._library", extension)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["kanecore._library"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["kanecore._library"])


def main(path: str, seed: int, n: int) -> None:
    from kanecore import ABI_VERSION, ModelError
    from kanecore.compiled_model import CompiledModel

    library = ctypes.CDLL(path)
    library.all_kernels.restype = ctypes.POINTER(ctypes.c_void_p)
    outcomes: collections.Counter[str] = collections.Counter()
    for case in range(n):
        rng = random.Random(f"{seed} {case}")
        table = Altered(rng, library, ABI_VERSION)
        alterations = rng.sample(ALTERATIONS, rng.randrange(3))
        for alter in alterations:
            alter(table)
        table.hand_over()
        try:
            dyn = CompiledModel({"all": path}, source={})
        except ImportError as error:
            if not alterations:
                raise
            outcomes[str(error).replace(str(Path(path).resolve()), "PATH")] += 1
        else:
            use(dyn, (ModelError, ValueError, KeyError, ArithmeticError, MemoryError))
            outcomes["opened"] += 1
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 4:
        load(sys.argv[4])
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
