# SPDX-License-Identifier: BSD-3-Clause
"""JointFriction: friction of a joint by its own reaction, a load for ``forcelist``."""

from __future__ import annotations

from typing import Any

import sympy as sm

from kanecore.errors import ModelError

from .contacts import scalar

__all__ = ["JointFriction"]


class JointFriction:
    """Coulomb friction of a joint about one axis by its own reaction, for ``forcelist``.

    With the reaction's force across the axis F_r, along it F_a, and its moment across the axis T_b, the torque

        μ (r_p (F_r + T_b/l_b) + r_f |F_a| + T_0/μ) tanh(ω r_p/v_t)

    acts against the turning ω of the child, and its opposite on the parent.  F_r, F_a and T_b depend on u̇, and u̇
    depends on the torque: they are found together, for the motion at each state.

    Parameters
    ----------
    joint : str
        One of ``dyn.joint_names``: a joint that turns about one axis.
    mu : float or expression
        Coefficient μ.
    pin_radius : float or expression
        r_p, in m.
    friction_arm : float or expression
        r_f, in m: lever arm of the friction of F_a; default 0.
    bending_arm : float or expression, optional
        l_b, in m: length over which the pin carries T_b.  Default: T_b causes no friction.
    preload : float or expression
        T_0, in N m: a torque without load; default 0.
    transition_velocity : float or expression
        v_t of the pin's surface, in m/s, over which friction turns.  This friction cannot hold a body at rest.
    bristle_stiffness, bristle_damping : float or expression
        σ₀, 1/m, and σ₁, s/m, of friction that holds, in place of ``transition_velocity``: instead of the tanh stands
        σ₀ z + σ₁ ż, with the deflection z of bristles at the pin's surface, a first-order state ``JOINT_bristle``,

            ż = s − σ₀ |s| z,      s = ω r_p

        The output ``JOINT_utilization`` is σ₀ |z|, of which no motion makes more than 1.
        Friction rises to its full size T over a slip of about 1/σ₀.  A σ₁ of 2 √(σ₀ J/(r_p T)) damps an inertia J that
        it holds critically; with much less, a joint under a load that vibrates creeps (C. Canudas de Wit, H. Olsson,
        K. J. Åström and P. Lischinsky, *A new model for control of systems with friction*, 1995).

    Raises
    ------
    ModelError
        An argument is missing or of the wrong kind; the joint turns about no axis, or about several.

    Examples
    --------
    ``forcelist=[kc.JointFriction("hinge", mu=0.2, pin_radius=0.03, transition_velocity=1e-3)]``; one that holds,
    ``kc.JointFriction("hinge", mu=0.2, pin_radius=0.03, bristle_stiffness=1e4, bristle_damping=1e3)``
    """

    def __init__(
        self,
        joint: str,
        *,
        mu: Any = None,
        pin_radius: Any = None,
        friction_arm: Any = 0,
        bending_arm: Any = None,
        preload: Any = 0,
        transition_velocity: Any = None,
        bristle_stiffness: Any = None,
        bristle_damping: Any = None,
    ) -> None:
        if not isinstance(joint, str) or not joint:
            raise ModelError(f"JointFriction({joint!r}): give the name of a joint, one of dyn.joint_names")
        what = f"of the friction of joint {joint}"
        given = {"mu": (mu, "0.2"), "pin_radius": (pin_radius, "0.03")}
        if bristle_stiffness is None and bristle_damping is None:
            given["transition_velocity"] = (transition_velocity, "1e-3")
        else:
            given |= {"bristle_stiffness": (bristle_stiffness, "1e4"), "bristle_damping": (bristle_damping, "1e3")}
            if transition_velocity is not None:
                raise ModelError(
                    f"transition_velocity and bristle_stiffness {what}: friction turns over the one, or holds by the "
                    "other: leave one out"
                )
        for name, (value, example) in given.items():
            if value is None:
                raise ModelError(f"{name} {what} is missing: write {name}={example}")
        self.joint = joint
        self.mu = scalar(mu, f"mu {what}", "0.2", least=0.0)
        self.pin_radius = scalar(pin_radius, f"pin_radius {what}", "0.03", above=0.0)
        self.friction_arm = scalar(friction_arm, f"friction_arm {what}", "0.02", least=0.0)
        bends = bending_arm is not None
        self.bending_arm = scalar(bending_arm, f"bending_arm {what}", "0.1", above=0.0) if bends else sm.S.Zero
        self.preload = scalar(preload, f"preload {what}", "0.1", least=0.0)
        laws = {"transition_velocity": transition_velocity}
        laws |= {"bristle_stiffness": bristle_stiffness, "bristle_damping": bristle_damping}
        self.transition_velocity, self.bristle_stiffness, self.bristle_damping = (
            sm.S.Zero if value is None else scalar(value, f"{name} {what}", given[name][1], above=0.0)
            for name, value in laws.items()
        )

    def __repr__(self) -> str:
        return f"JointFriction({self.joint!r}, mu={self.mu})"
