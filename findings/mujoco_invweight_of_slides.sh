#!/bin/sh
# One would guess: dof_invweight0, the inverse of the inertia that resists a degree of freedom in the pose qpos0, is (M^-1)_ii; and so
# is the stiffness that solref gives the limit of a joint.
# It is: of a body that only slides along its own axes on the world, MuJoCo takes 1/mass and leaves out the armature that is in M.  A
# hinge with the same armature has it.  So the reference acceleration of a slide's limit acts with another mass than M has.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check mujoco==4.0.0 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import mujoco
import numpy as np


def weights(kind):
    """dof_invweight0, and 1 / M, of a body with one joint and the armature 3."""
    m = mujoco.MjModel.from_xml_string(f"""
    <mujoco><worldbody><body><joint type="{kind}" axis="1 0 0" armature="3"/>
    <inertial pos="0 0 0" mass="2" diaginertia="2 2 2"/></body></worldbody></mujoco>""")
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    M = np.zeros((1, 1))
    mujoco.mj_fullM(m, d, M)
    return float(m.dof_invweight0[0]), float(1.0 / M[0, 0])


for kind in ("slide", "hinge"):
    print(f"MuJoCo {mujoco.__version__}, {kind}: dof_invweight0 {weights(kind)[0]:.4f}, 1/M {weights(kind)[1]:.4f}")
slide, hinge = weights("slide"), weights("hinge")
assert abs(slide[0] - 0.5) < 1e-9 and abs(slide[1] - 0.2) < 1e-9
assert abs(hinge[0] - hinge[1]) < 1e-9
PYTHON
