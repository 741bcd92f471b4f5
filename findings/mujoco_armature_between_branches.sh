#!/bin/sh
# One would guess: armature a of a tendon adds a J'J to the mass matrix, J being the slopes of its length, whatever joints it
# holds; the kinetic energy of a pulley on it is a/2 (J qvel)^2.
# It is: entries of M stand only between a speed and those before it on its chain of bodies (dof_parentid).  What couples two
# branches of the tree is left out without a word: a belt over two arms of one trunk has M[left, right] = 0, and the energy
# qvel'M qvel/2 differs from that of the belt.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check mujoco==4.0.0 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import mujoco
import numpy as np


def masses(armature):
    """M of two arms on a trunk, joined by a belt of length 1.5 left - right."""
    m = mujoco.MjModel.from_xml_string(f"""
    <mujoco><worldbody><body><joint axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body pos="0 1 0"><joint name="left" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      <body pos="0 -1 0"><joint name="right" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </body></worldbody><tendon><fixed armature="{armature}"><joint joint="left" coef="1.5"/><joint joint="right" coef="-1"/>
    </fixed></tendon></mujoco>""")
    d, result = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, result)
    return result


added, slopes = masses(0.4) - masses(0.0), np.array([0.0, 1.5, -1.0])
print(f"MuJoCo {mujoco.__version__}: M gets {added[1, 1]:.2f}, {added[2, 2]:.2f} on the diagonal and {added[1, 2]:.2f} beside it;")
print(f"a J'J has {0.4 * np.outer(slopes, slopes)[1, 2]:.2f} there")
assert np.allclose(np.diag(added), np.diag(0.4 * np.outer(slopes, slopes))) and added[1, 2] == 0.0
PYTHON
