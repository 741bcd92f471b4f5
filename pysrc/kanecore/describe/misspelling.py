# SPDX-License-Identifier: BSD-3-Clause
"""Whether one name is another misspelt: a coordinate that is misspelt becomes an input, without any error."""

from __future__ import annotations

import re

from kanecore.errors import plain_name

__all__ = ["is_close"]

LETTERS = 5  # of a name in which one edit is a slip; shorter ones differ by one letter on purpose


def is_close(name: str, other: str) -> bool:
    """Whether a name may be another misspelt.

    Equal but for case, underscores and braces; or one letter more, less, another or exchanged with its neighbour, in a
    name of five letters or more whose digits are the same: F1 and F2, theta and theta_d are names of their own.
    """
    if name == other:
        return False
    if plain_name(name) == plain_name(other):
        return True
    if re.findall(r"\d", name) != re.findall(r"\d", other) or sum(letter.isalpha() for letter in other) < LETTERS:
        return False
    return _one_edit(name, other)


def _one_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return len(b) == len(a) + 1 and a[start:] == b[start + 1 :]
    exchanged = a[:start] + a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a[start + 1 :] == b[start + 1 :] or exchanged == b
