# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes: the numbers that callers in C know, and words for each."""

import re
from pathlib import Path

import pytest

from kanecore.statuses import BY_NUMBER, NUMBER_OF, STATUSES, Status


def test_numbers_are_those_of_the_docs(root: Path) -> None:
    """Programs in C have them, so that they never change; and rows stand in their order."""
    said = (root / "docs/howto/other_languages.md").read_text(encoding="utf-8").replace("\n", " ")
    for pattern, name in (
        (r"(\d+) for a singular mass\s+matrix", "singular"),
        (r"(\d+) for a row of \$G\$ that is lost", "lost"),
        (r"(\d+) for one that contradicts others", "contradictory"),
        (r"(\d+) where \{ref\}`loads that depend on reactions", "jammed"),
        (r"(\d+) where Newton's steps for them", "unconverged"),
    ):
        assert re.findall(pattern, said) == [str(NUMBER_OF[name])], name
    assert [status.code for status in STATUSES] == list(range(len(STATUSES)))


@pytest.mark.parametrize("status", STATUSES, ids=lambda status: status.word)
def test_what_is_said_of_one(status: Status) -> None:
    """A kernel's failure names its speed or its row; texts neither end comments of C nor sentences."""
    named = status.code in {NUMBER_OF["chatter"]} or (status.of_kernels and "work[1]" in status.meaning)
    assert ("{subject}" in status.reason) == named
    assert "'q'" in status.reason.format(subject="'q'") or not named
    assert "*/" not in status.meaning
    assert not (status.reason + status.advice).endswith((".", ";", " "))
    assert BY_NUMBER[status.code] is status
