# Generated from kernels.py by kanecore.build.generated_sources.
# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of a description as SymPy expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Expressions"]


class Expressions(ABC):
    """(intermediates, expression) of each kernel; see :meth:`kanecore.Model.symbolic`."""

    @abstractmethod
    def symbolic(self, kernel: str, *, nested: bool = False) -> Any:
        """The SymPy expressions of a kernel."""

    @property
    def rhs(self) -> Any:
        """The right-hand side xdot = [qdot, udot] of the equations of motion."""
        return self.symbolic("rhs")

    @property
    def udot(self) -> Any:
        """The derivatives of the speeds, udot = M⁻¹ f, with constraints M⁻¹ (f + Gᵀ lambda)."""
        return self.symbolic("udot")

    @property
    def qdot(self) -> Any:
        """The derivatives of the coordinates, qdot = Y(q, t) u + z(q, t)."""
        return self.symbolic("qdot")

    @property
    def mass_matrix(self) -> Any:
        """The mass matrix M of M udot = f in all speeds, symmetric."""
        return self.symbolic("mass_matrix")

    @property
    def forcing(self) -> Any:
        """The right-hand side f of M udot = f in all speeds, F_r + F*_r at udot = 0."""
        return self.symbolic("forcing")

    @property
    def outputs(self) -> Any:
        """The outputs that the model was described with, in the order of `output_names`."""
        return self.symbolic("outputs")

    @property
    def partial_velocities(self) -> Any:
        """The partial velocities ∂v/∂u_r of all points, inertial axes."""
        return self.symbolic("partial_velocities")

    @property
    def velocity_remainders(self) -> Any:
        """The velocities' parts that no speed multiplies: v_t, inertial axes."""
        return self.symbolic("velocity_remainders")

    @property
    def partial_angular_velocities(self) -> Any:
        """The partial angular velocities ∂ω/∂u_r of all frames, inertial axes."""
        return self.symbolic("partial_angular_velocities")

    @property
    def angular_velocity_remainders(self) -> Any:
        """The velocities' parts that no speed multiplies: omega_t, inertial axes."""
        return self.symbolic("angular_velocity_remainders")

    @property
    def generalized_active_forces(self) -> Any:
        """The generalized active forces F_r = Σ v_r · R + ω_r · T."""
        return self.symbolic("generalized_active_forces")

    @property
    def generalized_inertia_forces(self) -> Any:
        """The generalized inertia forces F*_r = -Σ v_r · m a + ω_r · (I α + ω × I ω) at udot."""
        return self.symbolic("generalized_inertia_forces")

    @property
    def inverse_dynamics(self) -> Any:
        """The generalized forces beyond those modelled that produce udot."""
        return self.symbolic("inverse_dynamics")

    @property
    def kinetic_energy(self) -> Any:
        """The kinetic energy T of all bodies, relative to the inertial frame."""
        return self.symbolic("kinetic_energy")

    @property
    def potential_energy(self) -> Any:
        """The potential energy U of the loads that have one."""
        return self.symbolic("potential_energy")

    @property
    def power(self) -> Any:
        """The rate d(T + U)/dt at udot, the power of the loads without a potential."""
        return self.symbolic("power")

    @property
    def reactions(self) -> Any:
        """What each joint does to its child beyond the loads of the model."""
        return self.symbolic("reactions")

    @property
    def configuration_residual(self) -> Any:
        """The configuration constraints' values phi(q, t), in the order given."""
        return self.symbolic("configuration_residual")

    @property
    def configuration_jacobian(self) -> Any:
        """The derivatives of the configuration constraints ∂phi/∂q."""
        return self.symbolic("configuration_jacobian")

    @property
    def velocity_residual(self) -> Any:
        """The values of the constraints on velocities, c(q, u, t): of the first rows of G."""
        return self.symbolic("velocity_residual")

    @property
    def constraint_jacobian(self) -> Any:
        """The matrix G of the constraints G udot + gamma = 0; rows in the order of `constraint_names`."""
        return self.symbolic("constraint_jacobian")

    @property
    def constraint_bias(self) -> Any:
        """The bias gamma of the constraints G udot + gamma = 0."""
        return self.symbolic("constraint_bias")

    @property
    def multipliers(self) -> Any:
        """The multipliers lambda of M udot = f + Gᵀ lambda, of least norm where rows are redundant."""
        return self.symbolic("multipliers")

    @property
    def auxiliary_forces(self) -> Any:
        """The values of the auxiliary equations, F_r + F*_r + (Gᵀλ)_r of the auxiliary speeds."""
        return self.symbolic("auxiliary_forces")

    @property
    def positions(self) -> Any:
        """The positions of all points from the model's origin, inertial axes."""
        return self.symbolic("positions")

    @property
    def orientations(self) -> Any:
        """The orientations R of all frames: the columns are their axes, in inertial axes."""
        return self.symbolic("orientations")

    @property
    def body_momenta(self) -> Any:
        """The momentum m v* of each body, then its angular momentum I·ω about its mass centre."""
        return self.symbolic("body_momenta")

    @property
    def inertia_forces(self) -> Any:
        """The inertia force R* = -m a* of each body, then its inertia torque T* = -(I·α + ω × I·ω), at udot."""
        return self.symbolic("inertia_forces")

    @property
    def momenta(self) -> Any:
        """The derivatives of the kinetic energy ∂T/∂u_r = Σ v_r · m v + ω_r · I·ω."""
        return self.symbolic("momenta")

    @property
    def gibbs(self) -> Any:
        """The energy of accelerations S = Σ ½ m a·a + ½ (α·I·α + 2 α·(ω × I·ω) + (ω·ω)(ω·I·ω)) at udot."""
        return self.symbolic("gibbs")

    @property
    def coordinate_forces(self) -> Any:
        """The generalized forces of the coordinates, Q_k = Σ R · ∂v/∂qdot_k + T · ∂ω/∂qdot_k, with Yᵀ Q = F."""
        return self.symbolic("coordinate_forces")

    @property
    def equations_residual(self) -> Any:
        """What is left of all equations at any udot and lambda, [F + F* + Gᵀ lambda, phi, c]."""
        return self.symbolic("equations_residual")

    @property
    def generalized_momenta(self) -> Any:
        """The generalized momenta p_k = ∂L/∂q̇_k of the coordinates, L = T - U."""
        return self.symbolic("generalized_momenta")

    @property
    def hamiltonian(self) -> Any:
        """The Hamiltonian H = Σ p_k q̇_k - L = T₂ - T₀ + U, as a function of q, u, t."""
        return self.symbolic("hamiltonian")

    @property
    def kinetic_energy_parts(self) -> Any:
        """The parts T₂, T₁, T₀ of the kinetic energy that are of degree 2, 1, 0 in q̇."""
        return self.symbolic("kinetic_energy_parts")

    @property
    def velocities(self) -> Any:
        """The velocities v of all points in the inertial frame, inertial axes."""
        return self.symbolic("velocities")

    @property
    def angular_velocities(self) -> Any:
        """The angular velocities ω of all frames in the inertial frame, inertial axes."""
        return self.symbolic("angular_velocities")

    @property
    def joint_positions(self) -> Any:
        """The positions of the joint points, measured as `positions` are, inertial axes."""
        return self.symbolic("joint_positions")

    @property
    def rhs_time_derivative(self) -> Any:
        """The derivatives ∂xdot/∂t of `rhs` at constant x and r."""
        return self.symbolic("rhs_time_derivative")

    @property
    def rhs_parameter_jacobian(self) -> Any:
        """The derivatives ∂xdot/∂p of `rhs`, parameters in the order of `parameter_names`."""
        return self.symbolic("rhs_parameter_jacobian")

    @property
    def output_jacobian(self) -> Any:
        """The derivatives of the outputs with respect to x, then r: C and D of dy = C dx + D dr."""
        return self.symbolic("output_jacobian")

    @property
    def coriolis_matrix(self) -> Any:
        """The Coriolis matrix C(q, u) of M udot + C u + g = tau + other loads, by Christoffel symbols."""
        return self.symbolic("coriolis_matrix")

    @property
    def gravity_forces(self) -> Any:
        """The generalized forces g(q) that hold the weights of all bodies: g of M udot + C u + g = tau + other
        loads.
        """
        return self.symbolic("gravity_forces")

    @property
    def accelerations(self) -> Any:
        """The accelerations a of all points in the inertial frame at udot, inertial axes."""
        return self.symbolic("accelerations")

    @property
    def angular_accelerations(self) -> Any:
        """The angular accelerations α of all frames in the inertial frame at udot, inertial axes."""
        return self.symbolic("angular_accelerations")

    @property
    def regressor(self) -> Any:
        """The regressor Y(x, udot) of the inertia forces and weights: M udot - f without other loads is Y π."""
        return self.symbolic("regressor")

    @property
    def inertial_parameters(self) -> Any:
        """The inertial parameters π of each body: m, m c (3), I about the first point (xx, xy, xz, yy, yz,
        zz).
        """
        return self.symbolic("inertial_parameters")

    @property
    def joint_regressor(self) -> Any:
        """The columns Y_j(x, udot) of friction and rotors: M udot - f + Y_j θ = tau, θ = (b, c, J) of each
        coordinate.
        """
        return self.symbolic("joint_regressor")
