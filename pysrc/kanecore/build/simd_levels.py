# SPDX-License-Identifier: BSD-3-Clause
"""Instruction levels: the processors for which code is compiled, this very one or all with AVX2 or AVX-512."""

from __future__ import annotations

import platform
from collections.abc import Mapping

__all__ = ["lane_levels", "level_flags", "levels", "native_flag"]

# Flag of gcc, clang and zig for this very processor; on other machines they disagree, and no flag is used.
_NATIVE = {
    "x86_64": "-march=native",
    "amd64": "-march=native",
    "i386": "-march=native",
    "i686": "-march=native",
    "s390x": "-march=native",
    "arm64": "-mcpu=native",
    "aarch64": "-mcpu=native",
    "ppc64le": "-mcpu=native",
}

# Instruction levels of prebuilt models, by machine; on others the compiler's own default. -march=native is never used,
# since a wheel runs on other machines than its builder.  Nearly all processors have this level; on the others a model
# is compiled when it is loaded (docs/developers/design.md).
_V3 = {"x86-64-v3": ("-mavx2", "-mfma", "-mbmi2")}
_V4 = {"x86-64-v4": (*_V3["x86-64-v3"], *(f"-mavx512{part}" for part in ("f", "bw", "cd", "dq", "vl")))}
_LEVELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"x86_64": _V3, "amd64": _V3}
_LANE_LEVELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"x86_64": _V3 | _V4, "amd64": _V3 | _V4}
_ANY: Mapping[str, tuple[str, ...]] = {"baseline": ()}


def levels(machine: str) -> tuple[str, ...]:
    """Names of the instruction levels of prebuilt models, the lowest first; `machine` is, for example, ``x86_64``."""
    return tuple(_LEVELS.get(machine.lower(), _ANY))


def level_flags(machine: str, level: str) -> tuple[str, ...]:
    """Flags for one of `levels` or of `lane_levels`, or for "baseline": every processor of the architecture."""
    return {**_ANY, **_LANE_LEVELS.get(machine.lower(), {})}[level]


def lane_levels(machine: str) -> tuple[str, ...]:
    """Names of the levels for libraries that evaluate several states at once; wider registers take more states."""
    return tuple(_LANE_LEVELS.get(machine.lower(), _ANY))


def native_flag() -> str | None:
    """Flag for code for this very processor; None if compilers disagree."""
    return _NATIVE.get(platform.machine().lower())
