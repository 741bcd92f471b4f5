# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benchmarks, prints their tables and keeps them as JSON.

    python bench/run.py [--smallest] [--results FOLDER] [SCRIPT ...]

SCRIPT is ``derive``, ``compile``, ``evaluate`` or ``derivatives``; default: all.  ``--smallest`` takes the smallest
sizes and few repeats: it shows that the scripts work, not how fast kanecore is.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import compile as compile_script
import derivatives
import derive
import evaluate
import report

SCRIPTS = {"derive": derive, "compile": compile_script, "evaluate": evaluate, "derivatives": derivatives}


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the benchmarks, prints their tables and keeps them as JSON.")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=f"of {', '.join(SCRIPTS)}; default: all")
    parser.add_argument("--smallest", action="store_true", help="smallest sizes, few repeats")
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results"), help="folder of the JSON")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.scripts if name not in SCRIPTS]:
        parser.error(f"no script {unknown[0]!r}; there are {', '.join(SCRIPTS)}")
    for name in arguments.scripts or SCRIPTS:
        start = time.perf_counter()
        found = report.run(name, SCRIPTS[name].QUESTION, SCRIPTS[name].measure, arguments.smallest)
        path = found.write(arguments.results)
        print(f"{found}\n{path}, {time.perf_counter() - start:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
