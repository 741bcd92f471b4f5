# SPDX-License-Identifier: BSD-3-Clause
"""Two results of one script as ratios new / old, row by row.

    python bench/compare.py OLD.json NEW.json

The reference loops come first: where their ratio is not 1, the clock or the load differed, and a ratio of times means
something only beside it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from report import Row, table


def ratios(old: dict[str, Any], new: dict[str, Any]) -> dict[str, list[Row]]:
    """Every number that both results hold, new / old, by table; errors and signed overheads as ``old -> new``."""
    if old["name"] != new["name"]:
        raise SystemExit(f"results of two scripts: {old['name']} and {new['name']}")
    tables = {"reference": [_row("reference loops", old["reference"], new["reference"])]}
    for title, rows in new["tables"].items():
        before = {row["case"]: row for row in old["tables"].get(title, ())}
        tables[title] = [_row(row["case"], before[row["case"]], row) for row in rows if row["case"] in before]
    return tables


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
    parser = argparse.ArgumentParser(description="Two results of one script as ratios new / old, row by row.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    arguments = parser.parse_args()
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (arguments.old, arguments.new))
    for side, result in (("old", old), ("new", new)):
        print(f"{side}: {result['facts']}")
    for title, rows in ratios(old, new).items():
        print(f"\n{title}, new / old\n{table(rows)}")


if __name__ == "__main__":
    main()
