#!/bin/sh
# One would guess: channels that were recorded on one clock stay on one clock when a measurement is exported to CSV.
# It is: MDF.export("csv") writes a file for each channel group, and subtracts the first time of each group from it:
# a group that began 0.25 s later begins at 0 as well.  Torques are then 0.25 s early beside angles.
# time_from_zero=False keeps the clock.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check asammdf==8.8.28 2>/dev/null || exit 2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import glob
from importlib.metadata import version

import numpy as np
from asammdf import MDF, Signal

angle, torque = np.linspace(10.0, 11.0, 6), np.linspace(10.25, 11.25, 6)
drive = MDF()
drive.append([Signal(np.sin(angle), angle, name="angle", unit="rad")])
drive.append([Signal(np.cos(torque), torque, name="torque", unit="Nm")])
print("asammdf", version("asammdf"))
first = {}
for from_zero in (None, False):
    drive.export("csv", f"drive_{from_zero}.csv", **({} if from_zero is None else {"time_from_zero": from_zero}))
    for path in sorted(glob.glob(f"drive_{from_zero}*.csv")):
        header, row = open(path).read().split("\n")[:2]
        name = header.split(",")[1]
        first[from_zero, name] = float(row.split(",")[0])
        print(f"{'default' if from_zero is None else 'time_from_zero=False'}: {name} begins at {row.split(',')[0]}")
assert first[None, "angle"] == first[None, "torque"] == 0.0
assert first[False, "torque"] - first[False, "angle"] == 0.25
PYTHON
