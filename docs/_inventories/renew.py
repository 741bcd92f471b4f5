# SPDX-License-Identifier: BSD-3-Clause
"""Compare the inventories with those of the sites, and write them anew: the objects that pages link to, and no others.

``python docs/_inventories/renew.py``, by hand and with network.  For a new link add a line with any address first.
"""

from __future__ import annotations

import sys
import urllib.request
from pathlib import Path

from sphinx.util.inventory import InventoryFile

FOLDER = Path(__file__).parent
SITES = {
    "sympy": "https://docs.sympy.org/latest/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "numpy": "https://numpy.org/doc/stable/",
}


def renewed(text: str, known: dict[str, dict[str, str]]) -> str:
    """The lines of an inventory with the addresses of the site; KeyError for an object that it does not have."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines.append(line)
            continue
        name, kind, _ = line.split()
        lines.append(f"{name} {kind} {known[f'py:{kind}'][name].partition('#')[0]}")
    return "\n".join(lines) + "\n"


def main() -> None:
    for project, site in SITES.items():
        with urllib.request.urlopen(f"{site}objects.inv") as stream:
            inventory = InventoryFile.load(stream, "", lambda _, address: address)
        known = {
            kind: {name: item.uri for name, item in items.items()}
            for kind, items in inventory.items()
        }
        file = FOLDER / f"{project}.txt"
        before = file.read_text(encoding="utf-8")
        file.write_text(renewed(before, known), encoding="utf-8")
        print(
            project,
            "as before" if renewed(before, known) == before else "changed",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
