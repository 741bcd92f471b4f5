# SPDX-License-Identifier: BSD-3-Clause
"""Compare the inventories with those of the sites, and write them anew: the objects that pages link to, and no others.

``python docs/_inventories/renew.py``, by hand and with network.  For a new link add a line with any address first.
"""

from __future__ import annotations

import sys
import urllib.error
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
    """The lines of an inventory with the addresses of the site; LookupError for an object that it does not have."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines.append(line)
            continue
        name, kind, _ = line.split()
        address = known.get(f"py:{kind}", {}).get(name)
        if address is None:
            raise LookupError(
                f"the site has no {kind} {name}: correct its line here, and the links to it"
            )
        lines.append(f"{name} {kind} {address.partition('#')[0]}")
    return "\n".join(lines) + "\n"


def objects(site: str) -> dict[str, dict[str, str]]:
    """The addresses of a site's objects, by kind and name."""
    try:
        with urllib.request.urlopen(f"{site}objects.inv") as stream:
            inventory = InventoryFile.load(stream, "", lambda _, address: address)
    except urllib.error.URLError as error:
        raise SystemExit(
            f"{site}objects.inv cannot be read, {error.reason}; nothing is changed"
        ) from None
    return {
        kind: {name: item.uri for name, item in items.items()}
        for kind, items in inventory.items()
    }


def main() -> None:
    texts = {}
    for project, site in SITES.items():
        file = FOLDER / f"{project}.txt"
        before = file.read_text(encoding="utf-8")
        texts[file] = renewed(before, objects(site))
        unchanged = texts[file] == before
        print(project, "as before" if unchanged else "changed", file=sys.stderr)
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
