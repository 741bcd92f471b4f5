# SPDX-License-Identifier: BSD-3-Clause
"""Names of the parts of a compiled MuJoCo model, and what is refused in it.

Defaults, classes, frames, includes, angles, and masses of geoms and meshes are resolved by then.  Its numbers are read
by their names in `mujoco.MjModel`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kanecore.describe.mjcf_compiler.mujoco_enumerations import ACTIVATIONS, FLAGS, FREE, TRANSMISSIONS
from kanecore.errors import ModelError

__all__ = ["Names", "refuse_unread"]

_KINDS = {kind: kind for kind in ("body", "geom", "site", "tendon", "actuator", "sensor")}
_KINDS |= {"jnt": "joint", "eq": "equality", "key": "keyframe"}


class Names:
    """Names of the parts of a compiled model; a part without a name has its kind and number."""

    def __init__(self, m: Any) -> None:
        self._m, self._text = m, bytes(m.names)

    def __call__(self, kind: str, number: int) -> str:
        """The name of a part; ``kind`` as in ``name_bodyadr``, ``name_jntadr``, ... ."""
        start = int(getattr(self._m, f"name_{kind}adr")[number])
        found = self._text[start : self._text.index(b"\0", start)].decode()
        return found or f"{_KINDS[kind]}{number}"

    @property
    def model(self) -> str:
        """The name of the model, which stands first."""
        return self._text[: self._text.index(b"\0")].decode()


def refuse_unread(m: Any, names: Names) -> None:
    """ModelError for parts of a compiled model that take part in its smooth dynamics and are not read."""
    for what, way_on in _unread(m, names):
        raise ModelError(f"{what} of {names.model!r} is not read: {way_on}")


def _unread(m: Any, names: Names) -> Iterator[tuple[str, str]]:
    """Parts, and what to do."""
    for count, what in (("nflex", "a flex"), ("nplugin", "a plugin")):
        if getattr(m, count, 0):
            yield what, "leave it out"
    idle = not m.nu or int(m.opt.disableflags) >> FLAGS.index("actuation") & 1
    for j in range(m.njnt):
        if m.jnt_actgravcomp[j] and idle and np.any(m.body_gravcomp):
            yield f"actuatorgravcomp of joint {names('jnt', j)!r}, where no actuator acts,", "leave it out"
        if m.jnt_actgravcomp[j] and m.jnt_actfrclimited[j]:
            yield (
                f"actuatorgravcomp within the actuatorfrcrange of joint {names('jnt', j)!r}",
                "leave out one of the two",
            )
        if m.jnt_type[j] == FREE and m.body_parentid[m.jnt_bodyid[j]] != 0:
            yield f"the free joint {names('jnt', j)!r} below another body", "move its body to the world"
    if m.opt.disableactuator:
        yield "the option actuatorgroupdisable", "leave it out"
    for k in np.flatnonzero(np.asarray(m.geom_fluid).reshape(-1, 12)[:, 0]):
        body = names("body", int(m.geom_bodyid[k]))
        yield f"the ellipsoid fluid of a geom of body {body!r}", 'leave out fluidshape="ellipsoid"'
    for t in range(m.ntendon):
        a, n = int(m.tendon_adr[t]), int(m.tendon_num[t])
        kinds = {int(kind) for kind in m.wrap_type[a : a + n]}
        if not kinds <= {1, 2, 3}:
            yield f"tendon {names('tendon', t)!r}, which wraps around a geom,", "let it pass through sites"
        if m.tendon_springyield[t]:
            yield f"springyield of tendon {names('tendon', t)!r}", "leave it out"
        if m.tendon_actfrclimited[t]:
            yield (
                f"actuatorfrcrange of tendon {names('tendon', t)!r}",
                "leave it out, or give the actuator a forcerange",
            )
        if 1 not in kinds and m.tendon_armature[t]:
            yield f"the armature of tendon {names('tendon', t)!r} through sites", "leave it out"
    for i in range(m.nu):
        yield from _unread_actuator(m, i, names)


def _limited_by_others(m: Any, i: int) -> Iterator[int]:
    """Joints with a limit of the sum of their actuators, which an actuator on sites may move."""
    places = list[int]()
    if int(m.actuator_trntype[i]) == 4:
        places = [int(s) for s in m.actuator_trnid[i] if s >= 0]
    elif int(m.actuator_trntype[i]) == 3:
        t = int(m.actuator_trnid[i, 0])
        wraps = range(int(m.tendon_adr[t]), int(m.tendon_adr[t]) + int(m.tendon_num[t]))
        places = [int(m.wrap_objid[k]) for k in wraps if m.wrap_type[k] == 3]
    bodies = set[int]()
    for body in (int(m.site_bodyid[s]) for s in places):
        while body:
            bodies.add(body)
            body = int(m.body_parentid[body])
    yield from (j for j in range(m.njnt) if m.jnt_actfrclimited[j] and int(m.jnt_bodyid[j]) in bodies)


def _unread_actuator(m: Any, i: int, names: Names) -> Iterator[tuple[str, str]]:
    what = f"actuator {names('actuator', i)!r}"
    if int(m.actuator_trntype[i]) not in TRANSMISSIONS:
        yield f"the transmission of {what}", f"its own may be {', '.join(TRANSMISSIONS.values())}"
    if int(m.actuator_dyntype[i]) not in ACTIVATIONS:
        yield f"the activation of {what}", f"its dyntype may be {', '.join(ACTIVATIONS.values())}"
    if int(m.actuator_gaintype[i]) > 2 or int(m.actuator_biastype[i]) > 2:
        yield f"the force of {what}", "its gain and bias may be fixed, affine or those of a muscle"
    if int(m.actuator_gaintype[i]) == 2 and int(m.actuator_biastype[i]) not in (0, 2):
        yield f"the force of {what}", "a muscle has the bias of a muscle"
    if m.actuator_actearly[i] and m.actuator_dyntype[i]:
        yield f'actearly="true" of {what}', "leave it out: it makes forces depend on the time step"
    if m.actuator_delay[i]:
        yield f"the delay of {what}", "leave it out"
    for j in _limited_by_others(m, i):
        yield (
            f"actuatorfrcrange of joint {names('jnt', j)!r}, which {what} moves through a site,",
            "leave it out, or give the actuators a forcerange",
        )
    if int(m.actuator_trntype[i]) == 3 and m.actuator_armature[i]:
        t = int(m.actuator_trnid[i, 0])
        if m.wrap_type[m.tendon_adr[t]] != 1:
            yield f"the armature of {what} on a tendon through sites", "leave it out"
    if int(m.actuator_trntype[i]) == 4 and m.actuator_armature[i]:
        yield f"the armature of {what} on a site", "leave it out"
