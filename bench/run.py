# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benchmarks, prints their tables and keeps them as JSON, as Markdown and as a picture.

    python bench/run.py [--smallest] [--results FOLDER] [--name NAME] [SCRIPT ...]

SCRIPT is one of `SCRIPTS`; default: all.  ``--smallest`` takes the smallest sizes and few repeats: it shows that the
scripts work, not how fast kanecore is.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import batch
import closed_loops
import compile as compile_script
import contacts
import control_loop
import derivatives
import derive
import evaluate
import friction
import integrate
import mjcf
import peak
import report
import rollout
import stiff
from goals import goals

SCRIPTS = {
    "derive": derive,
    "compile": compile_script,
    "evaluate": evaluate,
    "derivatives": derivatives,
    "friction": friction,
    "batch": batch,
    "integrate": integrate,
    "rollout": rollout,
    "mjcf": mjcf,
    "closed_loops": closed_loops,
    "contacts": contacts,
    "stiff": stiff,
    "control": control_loop,
    "peak": peak,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the benchmarks, prints their tables and keeps them.")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=f"of {', '.join(SCRIPTS)}; default: all")
    parser.add_argument("--smallest", action="store_true", help="smallest sizes, few repeats")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).with_name("results"), help="folder of the results"
    )
    parser.add_argument("--name", default="run", help="of the files there; default: run, which git ignores")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.scripts if name not in SCRIPTS]:
        parser.error(f"no script {unknown[0]!r}; there are {', '.join(SCRIPTS)}")
    reports = []
    for name in arguments.scripts or SCRIPTS:
        reports.append(report.run(name, SCRIPTS[name].QUESTION, SCRIPTS[name].measure, arguments.smallest))
        print(f"{reports[-1]}{reports[-1].seconds:.0f} s\n", flush=True)
    run = report.Run(reports, goals(reports), arguments.smallest)
    print(f"{report.table(run.goals)}\n\n{run.write(arguments.results, arguments.name)}")


if __name__ == "__main__":
    main()
