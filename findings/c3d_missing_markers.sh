#!/bin/sh
# One would guess: a marker that was not seen reads as NaN, or is left out, by every reader of C3D files.
# It is: ezc3d gives NaN, and c3d gives the place (0, 0, 0) with the residual -1 in the fourth column.  Who takes the
# first three columns alone fits a body through the origin of the laboratory.  Both give the file's unit, mm here.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check c3d==0.6.0 ezc3d==1.7.2 numpy==2.3.5 2>/dev/null || exit 2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version

import c3d
import ezc3d
import numpy as np

places = np.ones((4, 2, 3))  # x, y, z, 1; markers; frames
places[:3, 0] = [[100.0], [200.0], [300.0]]
places[:3, 1, 1] = np.nan  # the second marker is not seen in the second frame
file = ezc3d.c3d()
file["parameters"]["POINT"]["RATE"]["value"] = [100]
file["parameters"]["POINT"]["LABELS"]["value"] = ("hip", "knee")
file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
file["data"]["points"] = places
file.write("walk.c3d")
by_ezc3d = ezc3d.c3d("walk.c3d")["data"]["points"][:3, 1, 1]
with open("walk.c3d", "rb") as stream:
    by_c3d = [points[1] for _, points, _ in c3d.Reader(stream).read_frames()][1]
print("ezc3d", version("ezc3d"), "reads", by_ezc3d)
print("c3d", version("c3d"), "reads", by_c3d)
assert np.isnan(by_ezc3d).all()
assert (by_c3d[:3] == 0.0).all() and by_c3d[3] == -1.0
PYTHON
