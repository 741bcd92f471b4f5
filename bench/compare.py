# SPDX-License-Identifier: BSD-3-Clause
"""Two results as ratios new / old, row by row.

    python bench/compare.py OLD.json NEW.json

The reference loops come first in each script: where their ratio is not 1, the clock or the load differed, and a ratio
of times means something only beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from report import Row, read, table


def ratios(old: dict[str, Any], new: dict[str, Any]) -> dict[str, list[Row]]:
    """Every number that both results hold, new / old, by table; errors and signed overheads as ``old -> new``."""
    tables = {"goals": _rows(old["goals"], new["goals"])}
    scripts = {report["name"]: report for report in old["reports"]}
    for report in new["reports"]:
        name, before = report["name"], scripts.get(report["name"])
        if before:
            tables[f"{name}: reference"] = [_row("reference loops", before["reference"], report["reference"])]
            for title, rows in report["tables"].items():
                tables[f"{name}: {title}"] = _rows(before["tables"].get(title, ()), rows)
    if len(tables) == 1:
        raise SystemExit("the two results have no script in common")
    return tables


def _rows(old: list[Row], new: list[Row]) -> list[Row]:
    before = {row["case"]: row for row in old}
    return [_row(row["case"], before[row["case"]], row) for row in new if row["case"] in before]


def _row(case: str, old: Row, new: Row) -> Row:
    row: Row = {"case": case}
    for name, value in new.items():
        other = old.get(name)
        if not isinstance(value, int | float) or not isinstance(other, int | float) or value == other == 0:
            continue
        if other > 1e-9 and value >= 0:
            row[name] = value / other
        else:  # an error near rounding, or a difference: its ratio says nothing
            row[name] = f"{other:.2g} -> {value:.2g}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description="Two results as ratios new / old, row by row.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    arguments = parser.parse_args()
    old, new = read(arguments.old), read(arguments.new)
    for side, result in (("old", old), ("new", new)):
        print(f"{side}: {result['facts']}")
    for title, rows in ratios(old, new).items():
        print(f"\n{title}, new / old\n{table(rows)}")


if __name__ == "__main__":
    main()
