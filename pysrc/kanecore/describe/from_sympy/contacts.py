# SPDX-License-Identifier: BSD-3-Clause
"""Contact, and the surfaces Plane, HeightField and Sphere: a load for ``forcelist``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sm
from sympy.physics.vector import Point

from kanecore.describe.from_sympy import vector_internals
from kanecore.describe.from_sympy.arguments import expect
from kanecore.describe.from_sympy.force_systems import as_vector
from kanecore.errors import ModelError
from kanecore.functions.splines import Spline

__all__ = ["Contact", "HeightField", "Plane", "Sphere", "scalar"]


class Plane:
    """A plane through a point, for `Contact`.

    Parameters
    ----------
    point : Point
        A point of the plane.  It moves with the body that it is fixed in.
    normal : Vector
        Out of the material, of any length, in the axes of one frame: that of the body, where that turns.
    velocity : Vector, optional
        Velocity of the material along the plane in addition to that of its body, as of a belt.

    Examples
    --------
    ``kc.Plane(O, N.y)``; a slope: ``kc.Plane(O, sm.cos(a)*N.y - sm.sin(a)*N.x)``
    """

    def __init__(self, point: Any, normal: Any, velocity: Any = None) -> None:
        expect(point, Point, "the point of a Plane", "Point")
        self.point = point
        self.normal = _in_one_frame(as_vector(normal, "normal of a Plane"), "normal of a Plane")
        self.velocity = None if velocity is None else as_vector(velocity, "velocity of a Plane")

    def __repr__(self) -> str:
        return f"Plane({self.point.name}, {self.normal})"


class HeightField:
    """A surface of height h(x) or h(x, y), for `Contact`.

    At the place (x, y) of the point the surface is taken for its tangent plane, n ∝ e_z − h_x e_x − h_y e_y and
    δ = R + (h − z) n·e_z: exact for planes, and to first order in curvature times depth and radius.

    Parameters
    ----------
    height : Spline
        Of one argument or two.
    point : Point, optional
        Where its arguments and the height are zero; default: the origin of the model.
    axes : sequence of Vector, optional
        Directions of the arguments, then the one in which the surface rises: unit vectors of one frame.  Default:
        ``(N.x, N.y)`` for one argument, ``(N.x, N.y, N.z)`` for two, of the inertial frame.
    """

    def __init__(self, height: Spline, point: Any = None, axes: Sequence[Any] | None = None) -> None:
        if not isinstance(height, Spline):
            raise ModelError(f"height of a HeightField is {height!r}: write kc.Spline(x, h) or kc.Spline(x, y, h)")
        if point is not None:
            expect(point, Point, "the point of a HeightField", "Point")
        self.height, self.point = height, point
        self.axes = None if axes is None else tuple(as_vector(axis, "axes of a HeightField") for axis in axes)
        if self.axes is not None and len(self.axes) != height.n_arguments + 1:
            raise ModelError(
                f"axes of a HeightField are {len(self.axes)}: write {height.n_arguments + 1} vectors, those of the "
                "arguments, then the one in which the surface rises"
            )

    def __repr__(self) -> str:
        return "HeightField(...)"


class Sphere:
    """A sphere that another point or sphere touches from outside, for `Contact`.

    Parameters
    ----------
    point : Point
        Its centre.  It moves with the body that it is fixed in.
    radius : float or expression
    """

    def __init__(self, point: Any, radius: Any) -> None:
        expect(point, Point, "the centre of a Sphere", "Point")
        self.point, self.radius = point, scalar(radius, "radius of a Sphere", "0.1", least=0.0)

    def __repr__(self) -> str:
        return f"Sphere({self.point.name}, {self.radius})"


class Contact:
    """A compliant contact of a point or a sphere with a surface, by Hunt and Crossley's force with friction.

    With the depth δ, and the normal n out of the surface,

        F_n = k δⁿ max(1 + d δ̇, 0)  for δ > 0, else 0
        F_t = −μ F_n tanh(|s|/v_t) s/|s|

    s is the relative velocity of the two materials along the surface, at the place of contact.  The force acts on the
    body that ``point`` belongs to, and its opposite at the same place on that of the surface.  K. H. Hunt and
    F. R. E. Crossley, *Coefficient of restitution interpreted as damping in vibroimpact*, 1975.

    Parameters
    ----------
    point : Point
        The point that touches; with a radius the centre of a sphere that is fixed in its body.
    radius : float or expression
        In m; default 0.
    on : Plane, HeightField or Sphere
    stiffness : float or expression
        k, N/mⁿ.
    exponent : float or expression
        n; default 3/2, Hertz's.
    dissipation : float or expression
        d, s/m; default 0.  Hunt and Crossley's and Simbody's c is 2 d/3.
    mu : float or expression
        Coefficient of friction; default 0.
    transition_velocity : float or expression
        v_t, m/s, over which friction turns: it is 0.76 of μ F_n at |s| = v_t.  This friction holds no body at rest:
        a block on a slope creeps.  In its place ``bristle_stiffness`` is friction that holds.
    smooth : float or expression, optional
        Length s, m, over which the force sets in: δ becomes (δ + √(δ² + s²))/2, and the factor of a separating
        contact (1 + d δ̇/2)² while that bracket is positive.  The force then has continuous derivatives, and a small
        value before the bodies touch.  Default: none, where the factor and, for n ≤ 1, the force have a kink.
    bristle_stiffness, bristle_damping : float or expression, optional
        σ₀, 1/m, and σ₁, s/m, of friction by bristles, whose deflections z are first-order states, ``NAME_bristle_1``
        and, in space, ``_2`` and so on:

            ż = s − σ₀ |s|/m(|s|) z,      F_t = −F_n (σ₀ z + σ₁ ż),      m = μ + (μ_s − μ) exp(−s²/v_s²)

        Where the surfaces are apart z decays.  Such friction holds: a block rests on a slope with z = tan α/σ₀.
        A σ₁ of 2 √(σ₀/g) damps what lies by its weight critically.  C. Canudas de Wit, H. Olsson, K. J. Åström and
        P. Lischinsky, *A new model for control of systems with friction*, 1995; in proportion to F_n by C. Canudas de
        Wit and P. Tsiotras, *Dynamic tire friction models for vehicle traction control*, 1999.
    mu_static, stribeck_velocity : float or expression, optional
        μ_s, and v_s, m/s, over which it falls to μ; with bristles alone.  Default: μ_s = μ.
    name : str, optional
        Its outputs are ``NAME_depth``, m, negative where the bodies are apart; ``NAME_normal``, F_n; ``NAME_force_x``,
        ``_y``, ``_z``, the force on the body in inertial axes; with bristles ``NAME_utilization``, σ₀ |z|/μ_s, of
        which no motion makes more than 1.  Default: the name of the point.

    Raises
    ------
    ModelError
        An argument is missing or of the wrong kind.

    Notes
    -----
    All may be numbers or expressions, as of parameters, coordinates or inputs.

    Examples
    --------
    ``forcelist=[kc.Contact(foot, on=kc.Plane(O, N.y), stiffness=k, dissipation=c, mu=0.8, transition_velocity=0.01)]``
    """

    def __init__(
        self,
        point: Any,
        radius: Any = 0,
        *,
        on: Any = None,
        stiffness: Any = None,
        exponent: Any = 1.5,
        dissipation: Any = 0,
        mu: Any = None,
        transition_velocity: Any = None,
        smooth: Any = None,
        bristle_stiffness: Any = None,
        bristle_damping: Any = None,
        mu_static: Any = None,
        stribeck_velocity: Any = None,
        name: str | None = None,
    ) -> None:
        expect(point, Point, "the point of a Contact", "Point")
        self.point, self.name = point, str(point.name if name is None else name)
        what = f"of contact {self.name}"
        if not isinstance(on, (Plane, HeightField, Sphere)):
            raise ModelError(
                f"on {what} is {on!r}: write on=kc.Plane(O, N.y), kc.HeightField(kc.Spline(x, h)) or kc.Sphere(Q, R)"
            )
        if stiffness is None:
            raise ModelError(f"stiffness {what} is missing: write stiffness=1e6, in N/m^{exponent}")
        self.on = on
        self.radius = scalar(radius, f"radius {what}", "0.05", least=0.0)
        if isinstance(on, Sphere) and self.radius == 0 and on.radius == 0:
            raise ModelError(f"radius {what} is 0, and so is that of {on}: points never touch; give one a radius")
        self.stiffness = scalar(stiffness, f"stiffness {what}", "1e6", above=0.0)
        self.exponent = scalar(exponent, f"exponent {what}", "1.5", least=1.0)
        self.dissipation = scalar(dissipation, f"dissipation {what}", "0.1", least=0.0)
        self.mu = sm.S.Zero if mu is None else scalar(mu, f"mu {what}", "0.8", least=0.0)
        bristles = {"bristle_stiffness": bristle_stiffness, "bristle_damping": bristle_damping}
        bristles |= {"mu_static": mu_static, "stribeck_velocity": stribeck_velocity}
        self._take_bristles(bristles, transition_velocity, what)
        if self.mu != 0 and transition_velocity is None and bristle_stiffness is None:
            raise ModelError(
                f"transition_velocity {what} is missing: friction turns over it, transition_velocity=0.01 in m/s; or "
                "write bristle_stiffness=1e4, in 1/m, for friction that holds"
            )
        given = transition_velocity is not None
        if given and mu is None:
            raise ModelError(f"mu {what} is missing: write mu=0.8, or leave transition_velocity out, for no friction")
        self.transition_velocity = (
            scalar(transition_velocity, f"transition_velocity {what}", "0.01", above=0.0) if given else sm.S.One
        )
        self.smooth = sm.S.Zero if smooth is None else scalar(smooth, f"smooth {what}", "1e-4", above=0.0)

    def _take_bristles(self, bristles: dict[str, Any], transition_velocity: Any, owner: str) -> None:
        """Check and keep the numbers of friction by bristles; zeros without."""
        stiffness, damping, static, stribeck = bristles.values()
        self.bristle_stiffness = self.bristle_damping = self.mu_static = self.stribeck_velocity = sm.S.Zero
        if stiffness is None:
            for name, value in bristles.items():
                if value is not None:
                    raise ModelError(f"{name} {owner} is of bristles: write bristle_stiffness=1e4, in 1/m, as well")
            return
        if transition_velocity is not None:
            raise ModelError(
                f"transition_velocity and bristle_stiffness {owner}: friction turns over the one, or holds by the "
                "other: leave one out"
            )
        if self.mu == 0:
            raise ModelError(f"mu {owner} is missing: bristles carry mu=0.8 of the normal force")
        if damping is None:
            raise ModelError(
                f"bristle_damping {owner} is missing: write bristle_damping=2*sqrt(bristle_stiffness/9.81), in s/m, "
                "which damps what lies under its weight"
            )
        if (static is None) != (stribeck is None):
            raise ModelError(
                f"mu_static and stribeck_velocity {owner} go together: write mu_static=1.0, stribeck_velocity=1e-3"
            )
        self.bristle_stiffness = scalar(stiffness, f"bristle_stiffness {owner}", "1e4", above=0.0)
        self.bristle_damping = scalar(damping, f"bristle_damping {owner}", "60", above=0.0)
        if static is not None:
            self.mu_static = scalar(static, f"mu_static {owner}", "1.0", above=0.0)
            self.stribeck_velocity = scalar(stribeck, f"stribeck_velocity {owner}", "1e-3", above=0.0)

    def points(self) -> list[Any]:
        """Its point, and the one that locates the surface."""
        return [point for point in (self.point, self.on.point) if point is not None]

    def __repr__(self) -> str:
        return f"Contact({self.point.name}, {self.radius}, on={self.on!r})"


def _in_one_frame(vector: Any, subject: str) -> Any:
    if len(vector_internals.terms(vector)) != 1:
        raise ModelError(f"{subject} is {vector}: write it in the axes of one frame, such as N.y")
    return vector


def scalar(value: Any, subject: str, example: str, *, least: float | None = None, above: float | None = None) -> Any:
    """A number or an expression; ModelError for others, and for numbers out of range."""
    try:
        number = None if isinstance(value, (bool, str)) or value is None else sm.sympify(value)
    except (sm.SympifyError, TypeError):
        number = None
    if not isinstance(number, sm.Expr):
        raise ModelError(f"{subject} is {value!r}: write a number such as {example}, or an expression")
    if number.is_number:
        size = float(number) if number.is_real else float("nan")
        wrong = not abs(size) < float("inf")
        if wrong or (least is not None and size < least) or (above is not None and size <= above):
            bound = f"at least {least:g}" if least is not None else f"more than {above or 0.0:g}"
            raise ModelError(f"{subject} is {value!r}: it must be a finite number, {bound}, such as {example}")
    return number
