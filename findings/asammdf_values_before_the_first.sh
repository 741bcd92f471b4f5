#!/bin/sh
# One would guess: a table of channels with different clocks has no value of a channel before its first sample.
# It is: MDF.to_dataframe() repeats the first sample backwards (and the last one forwards), so that rows look measured
# at times when the channel was not recorded.  Cut the table at the latest first time before a fit.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check asammdf==8.8.28 pandas==2.3.3 2>/dev/null || exit 2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from asammdf import MDF, Signal

angle, torque = np.linspace(0.0, 1.0, 6), np.linspace(0.5, 0.9, 5)
drive = MDF()
drive.append([Signal(np.sin(angle), angle, name="angle", unit="rad")])
drive.append([Signal(3.0 + torque, torque, name="torque", unit="Nm")])
table = drive.to_dataframe()
before, behind = table["torque"][table.index < 0.5 - 1e-9], table["torque"][table.index > 0.9 + 1e-9]
print("asammdf", version("asammdf"))
print("torque was recorded from 0.5 s to 0.9 s, 3.5 to 3.9 Nm; the table says")
print(table)
assert len(before) and (before == 3.5).all()
assert len(behind) and (behind == 3.9).all()
PYTHON
