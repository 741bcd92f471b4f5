# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of `kanecore.Model` for a chain of homogeneous transforms, in rates q̇ or in redundant speeds.

The redundant speeds p are all components of the velocities of the mass centres and of the angular velocities of the
links, in their own axes.  With p = P q̇ they are p# = Ψ q̇#, which the kinematical equations solve for q̇#, and
p° = Υ q̇#, which are the constraints Λ = p° − Υ Ψ⁻¹ p# = 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sm
import sympy.physics.mechanics as me

from kanecore.describe.from_sympy import vector_internals
from kanecore.describe.from_sympy.arguments import Arguments, numbered
from kanecore.describe.from_sympy.symbols import function_name
from kanecore.errors import ModelError
from kanecore.graph.zero_tests import first_independent

from .homogeneous_transforms import Plain, Step, Velocity, column, functions_in, in_order
from .link_loads import loads_of
from .link_motion import Motion, motions_of

__all__ = ["of_transforms"]

AXES = "xyz"
OTHER_NAMES = {"configuration": "holonomic_constraints", "velocity": "nonholonomic_constraints"}
OWN = ("frame", "q_ind", "u_ind", "kd_eqs", "bodies", "joints", "attach")
TAKEN = (
    *("q_dependent", "u_dependent", "configuration_constraints", "velocity_constraints", *OTHER_NAMES.values()),
    *("points", "frames", "inputs"),
)
"""Options that become a part of the chain's own arguments."""


def of_transforms(
    links: Any, gravity: Any, q: Any, speeds: str, u: Any, loads: Mapping[str, Any], options: Mapping[str, Any]
) -> Arguments:
    """Arguments of `kanecore.Model`; for the meaning see :meth:`kanecore.Model.from_transforms`.

    ``loads`` has the keys efforts, forcelist, places; ``options`` are the further arguments of `kanecore.Model`.
    """
    own = [name for name in OWN if name in options]
    if own:
        raise TypeError(f"from_transforms makes {', '.join(own)} from the links: leave them out")
    if speeds not in ("rates", "bodies"):
        raise ModelError(f"speeds={speeds!r}: write 'rates' for u = q̇, or 'bodies' for the velocities of all links")
    links = list(links) if isinstance(links, Iterable) else links
    parents_first = [Step.of(link) for link in in_order(links)]
    by_name = {step.link.name: step for step in parents_first}
    steps = {link.name: by_name[link.name] for link in links}
    if not any(step.massive for step in steps.values()):
        raise ModelError(
            "no link has mass: write kc.transforms.Link(name, transform, mass=...), in kg, for one at least"
        )
    placed = _places(steps, loads["places"])
    located = {link: x for link, x, at in placed if at is None and None not in x} if speeds == "bodies" else {}
    motions = motions_of(parents_first, list(steps), located)
    q = _coordinates(q, [x for step in steps.values() for x in step.functions], options.get("inputs"))
    chosen = (BodySpeeds if speeds == "bodies" else Rates)(motions, q, u)
    chosen.set_velocities()
    places = Places(motions, placed, chosen)
    dependent = _listed(options.get("q_dependent")) or places.coordinates
    everything = [*q, *(x for x in places.coordinates if x not in q)]
    forces, inputs = loads_of(motions, q, gravity, loads["efforts"], loads["forcelist"])
    independent = [x for x in everything if x not in dependent]
    given = options.get("u_dependent")
    u_ind, u_dependent = chosen.split(independent) if given is None else _divided(chosen.speeds, given)
    listed = _listed(options.get("inputs"))
    arguments = Arguments(
        frame=next(iter(motions.values())).ground,
        q_ind=independent,
        q_dependent=dependent,
        u_ind=u_ind,
        u_dependent=u_dependent,
        kd_eqs=[*chosen.kinematics(), *places.kinematics],
        configuration_constraints={**places.rows, **_named(options, "configuration")},
        velocity_constraints={**chosen.rows(), **_named(options, "velocity")},
        bodies=[motion.body() for motion in motions.values() if motion.step.massive] or None,
        forcelist=forces,
        points=[motion.point for motion in _chosen(motions, options, "points")],
        frames=[motion.frame for motion in _chosen(motions, options, "frames")],
        inputs=None if options.get("inputs") is None else [*listed, *(x for x in inputs if x not in listed)],
    )
    others = {name: value for name, value in options.items() if name not in TAKEN}
    return arguments.with_options(others, "from_transforms")


def _listed(items: Any) -> list[Any]:
    return list(items) if isinstance(items, Iterable) else [] if items is None else [items]


def _chosen(motions: Mapping[str, Motion], options: Mapping[str, Any], argument: str) -> list[Motion]:
    """The links that an argument names."""
    names = options.get(argument)
    names = [names] if isinstance(names, str) else _listed(names)
    for name in names:
        if name not in motions:
            raise ModelError(f"{argument} holds {name!r}: the links are {', '.join(motions)}")
    return [motions[name] for name in names]


def _named(options: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The user's own constraints of a kind, by name."""
    argument, other = f"{kind}_constraints", OTHER_NAMES[kind]
    if options.get(argument) is not None and options.get(other) is not None:
        raise TypeError(f"{argument} and {other} are two names of one argument: give one of them")
    if options.get(argument) is None:
        argument = other
    items = options.get(argument)
    return dict(items) if isinstance(items, Mapping) else numbered(argument, _listed(items))


def _coordinates(q: Any, found: Sequence[Any], inputs: Any) -> list[Any]:
    """Coordinates in the order given, or of occurrence along the chain; all other motion is prescribed."""
    prescribed = _listed(inputs)
    if q is None:
        q = [x for x in dict.fromkeys(found) if x not in prescribed]
    else:
        q = _listed(q)
        strange = [x for x in q if x not in found]
        if strange:
            raise ModelError(f"q holds {strange[0]}, which no transform and no mass centre depends on")
    if not q:
        raise ModelError("nothing moves: no transform holds a function of time that is a coordinate")
    return list(q)


def _names(u: Any) -> list[str]:
    items = u.split() if isinstance(u, str) else _listed(u)
    return [x if isinstance(x, str) else function_name(x) for x in items]


def _divided(speeds: Sequence[Any], dependent: Any) -> tuple[list[Any], list[Any]]:
    """Independent and dependent speeds, if the user names the latter."""
    by_name = {function_name(u): u for u in speeds}
    names = _names(dependent)
    for name in names:
        if name not in by_name:
            raise ModelError(f"u_dependent holds {name}, and the speeds are {', '.join(by_name)}")
    return [u for name, u in by_name.items() if name not in names], [by_name[name] for name in names]


class Rates:
    """Speeds that are the rates of the coordinates, u = q̇, named ``theta_d``."""

    def __init__(self, motions: Mapping[str, Motion], q: Sequence[Any], u: Any) -> None:
        self._motions, self._q = motions, q
        names = [f"{function_name(x)}_d" for x in q] if u is None else _names(u)
        if len(names) != len(q):
            raise ModelError(
                f"u names {len(names)} speeds, and there are {len(q)} coordinates: give a name for each rate"
            )
        self._speeds = dict(zip(q, me.dynamicsymbols(names), strict=True))

    @property
    def speeds(self) -> list[Any]:
        return list(self._speeds.values())

    def rate(self, x: Any) -> Any:
        return self._speeds.get(x, x.diff(vector_internals.time()))

    def set_velocities(self) -> None:
        for motion in self._motions.values():
            motion.turn(self.rate)

    def central(self, motion: Motion) -> tuple[sm.Matrix, sm.Matrix]:
        """v_G and ω in the link's axes."""
        return motion.central.total(self.rate), motion.angular.total(self.rate)

    def kinematics(self) -> list[Any]:
        return [x.diff(vector_internals.time()) - u for x, u in self._speeds.items()]

    def rows(self) -> dict[str, Any]:
        return {}

    def split(self, independent: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Independent and dependent speeds, for independent coordinates."""
        return (
            [u for x, u in self._speeds.items() if x in independent],
            [u for x, u in self._speeds.items() if x not in independent],
        )


class BodySpeeds:
    """The redundant speeds p of all links that have mass: wx1 ... and vx1 ..., the number being that of the link."""

    def __init__(self, motions: Mapping[str, Motion], q: Sequence[Any], u: Any) -> None:
        self._motions, self._q = motions, q
        self._components = self._listed_components()
        first = [] if u is None else _names(u)
        for name in first:
            if name not in self._components or first.count(name) > 1:
                why = "twice" if name in self._components else f"and the speeds are {', '.join(self._components)}"
                raise ModelError(f"u holds {name}, {why}")
        self._order = [*first, *(name for name in self._components if name not in first)]
        self._speeds = dict(zip(self._order, me.dynamicsymbols(self._order), strict=True))
        self._determining = self._first_determining()

    @property
    def speeds(self) -> list[Any]:
        return list(self._speeds.values())

    def _listed_components(self) -> dict[str, tuple[Velocity, int]]:
        """Each speed by name, with the velocity that it is a component of: all ω, then all v."""
        massive = [motion for motion in self._motions.values() if motion.step.massive]
        kinds = [("w", motion, motion.angular) for motion in massive] + [("v", m, m.central) for m in massive]
        return {f"{kind}{a}{m.number}": (velocity, i) for kind, m, velocity in kinds for i, a in enumerate(AXES)}

    def _slopes(self, name: str) -> list[Any]:
        velocity, i = self._components[name]
        return [velocity.columns[x][i] if x in velocity.columns else sm.S.Zero for x in self._q]

    def _first_determining(self) -> list[str]:
        """The first speeds that determine q̇: p# of the chain, with Ψ regular."""
        slopes = {name: self._slopes(name) for name in self._order}
        plain = Plain(functions_in(e for row in slopes.values() for e in row))
        rows = [[plain.node(e) for e in row] for row in slopes.values()]
        found = [self._order[i] for i in first_independent(plain.graph, rows)]
        if len(found) < len(self._q):
            raise ModelError(
                f"the velocities of the links determine {len(found)} of the rates of the {len(self._q)} coordinates "
                f"{', '.join(map(function_name, self._q))}: leave out coordinates that move no mass, or that do what "
                "others do (a quaternion has four coordinates and three speeds: use angles)"
            )
        return found

    def rate(self, x: Any) -> Any:
        return x.diff(vector_internals.time())

    def set_velocities(self) -> None:
        for motion in self._motions.values():
            if motion.step.massive:
                motion.set_velocities(*self.central(motion))
            else:
                motion.turn(self.rate)

    def central(self, motion: Motion) -> tuple[sm.Matrix, sm.Matrix]:
        """v_G and ω in the link's axes."""
        if not motion.step.massive:
            return motion.central.total(self.rate), motion.angular.total(self.rate)
        v, w = (sm.Matrix([self._speeds[f"{kind}{a}{motion.number}"] for a in AXES]) for kind in "vw")
        return v, w

    def _equation(self, name: str) -> Any:
        """P − P q̇, of one speed."""
        velocity, i = self._components[name]
        return self._speeds[name] - velocity.total(self.rate)[i]

    def kinematics(self) -> list[Any]:
        """p# − Ψ q̇# = 0."""
        return [self._equation(name) for name in self._determining]

    def rows(self) -> dict[str, Any]:
        """Λ = p° − Υ q̇#, in which the kinematical equations put Ψ⁻¹ p# for q̇#."""
        return {f"Lambda_{name}": self._equation(name) for name in self._order if name not in self._determining}

    def split(self, independent: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Independent speeds, as many as independent coordinates, and the others."""
        chosen = self._determining[: len(independent)]
        return [self._speeds[n] for n in chosen], [self._speeds[n] for n in self._order if n not in chosen]


def _places(steps: Mapping[str, Step], places: Any) -> list[tuple[str, list[Any], Any]]:
    """(link, its three coordinates, point in its axes or None for the mass centre) of each place."""
    if places == "centres":
        massive = [(str(number), step.link.name) for number, step in enumerate(steps.values(), 1) if step.massive]
        return [(name, me.dynamicsymbols([f"{a}{number}" for a in AXES]), None) for number, name in massive]
    result = []
    for item in _listed(places):
        form = "write (link, (x, y, z)) or (link, (x, y, z), point), None for a coordinate that is not wanted"
        if not isinstance(item, (list, tuple)) or len(item) not in (2, 3) or item[0] not in steps:
            raise ModelError(f"places holds {item!r}: {form}; the links are {', '.join(steps)}")
        coordinates = _listed(item[1])
        if len(coordinates) != 3:
            raise ModelError(f"places gives link {item[0]} {len(coordinates)} coordinates: {form}")
        result.append(
            (item[0], coordinates, column(item[2], f"the place on link {item[0]}") if len(item) == 3 else None)
        )
    return result


class Places:
    """Redundant coordinates of points: the rows φ, and the kinematical equations ẋ = v."""

    def __init__(
        self,
        motions: Mapping[str, Motion],
        places: Sequence[tuple[str, list[Any], Any]],
        speeds: Rates | BodySpeeds,
    ) -> None:
        self.coordinates: list[Any] = []
        self.rows: dict[str, Any] = {}
        self.kinematics: list[Any] = []
        for link, coordinates, at in places:
            motion = motions[link]
            point = motion.step.centre if at is None else at
            position = motion.place + motion.rotation * point
            velocity = motion.rotation * motion.velocity_at(point, *speeds.central(motion))
            for x, p, v in zip(coordinates, position, velocity, strict=True):
                if x is not None:
                    self.coordinates.append(x)
                    self.rows[f"phi_{function_name(x)}"] = x - p
                    self.kinematics.append(x.diff(vector_internals.time()) - v)
