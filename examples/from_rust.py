# SPDX-License-Identifier: BSD-3-Clause
"""``python from_rust.py LIBRARY``: ``rustc -O --crate-type cdylib from_rust.rs``."""

import ctypes
import sys

import numpy as np

import kanecore as kc


class Model(ctypes.Structure):
    """The struct of from_rust.rs."""

    _fields_ = [("rhs", ctypes.c_void_p)] + [
        (name, ctypes.c_size_t)
        for name in ("n_q", "n_u", "n_r", "n_prepared", "n_work")
    ]


array = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")
fall = ctypes.CDLL(sys.argv[1]).fall
fall.argtypes = [
    Model,
    array,
    array,
    array,
    ctypes.c_size_t,
    ctypes.c_double,
    ctypes.c_size_t,
]
fall.restype = ctypes.c_size_t

dyn = kc.load("rrp")
model = Model(
    dyn.address("rhs"),
    dyn.n_q,
    dyn.n_u,
    dyn.n_r,
    dyn.sizes["prepared"],
    dyn.sizes["work"],
)
states = np.zeros((10, dyn.n_x))
states[:, 1] = np.linspace(0.0, 0.9, 10)
failed = fall(model, np.zeros(dyn.n_r), dyn.prepared, states, len(states), 1e-3, 100)
print(failed, *states[:, 1])
