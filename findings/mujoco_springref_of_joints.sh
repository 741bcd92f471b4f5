#!/bin/sh
# One would guess: a joint with stiffness and with ref, the angle of the pose that the file draws, rests in that pose, or that
# springref is counted from ref.
# It is: springref is an angle of its own and 0 unless it is given, so that such a joint is pushed in the drawn pose; and the
# quadratic term of "stiffness='k k2'" of MuJoCo 4 pushes to the same side for either sign of the displacement, while that of
# "damping='d d2'" turns with the speed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check mujoco==4.0.0 2>/dev/null || exit 2
"$folder/venv/bin/python" - <<'PYTHON'
import mujoco


def force(joint, q=None, v=0.0):
    """The passive torque of a hinge, at the pose of the file unless an angle is given."""
    m = mujoco.MjModel.from_xml_string(f"""
    <mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body><joint axis="0 1 0" {joint}/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>""")
    d = mujoco.MjData(m)
    d.qpos[0] = m.qpos0[0] if q is None else q
    d.qvel[0] = v
    mujoco.mj_forward(m, d)
    return float(d.qfrc_passive[0])


drawn = force("stiffness='10' ref='0.3'")
given = force("stiffness='10' ref='0.3' springref='0.3'")
both = [force("stiffness='0 5'", q) for q in (0.2, -0.2)]
dampers = [force("damping='0 5'", 0.0, v) for v in (0.2, -0.2)]
print(f"MuJoCo {mujoco.__version__}: torque in the drawn pose {drawn:+.2f} N m without springref, {given:+.2f} with springref = ref")
print(f"stiffness='0 5' at +0.2 and -0.2 rad: {both[0]:+.2f}, {both[1]:+.2f}; damping='0 5' at +-0.2 rad/s: {dampers[0]:+.2f}, {dampers[1]:+.2f}")
assert abs(drawn + 3.0) < 1e-12 and given == 0.0
assert both[0] == both[1] < 0.0 and dampers[0] == -dampers[1] < 0.0
PYTHON
