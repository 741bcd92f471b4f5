# Generated from kernels.py by kanecore.build.generated_sources.
# SPDX-License-Identifier: BSD-3-Clause
from abc import ABC, abstractmethod
from typing import Any

class Expressions(ABC):
    @abstractmethod
    def symbolic(self, kernel: str, *, nested: bool = False) -> Any: ...
    @property
    def rhs(self) -> Any:
        """The right-hand side xdot = [qdot, udot, zdot] of the equations of motion."""
    @property
    def udot(self) -> Any:
        """The derivatives of the speeds, udot = M⁻¹ f, with constraints M⁻¹ (f + Gᵀ lambda)."""
    @property
    def qdot(self) -> Any:
        """The derivatives of the coordinates, qdot = Y(q, t) u + z(q, t)."""
    @property
    def mass_matrix(self) -> Any:
        """The mass matrix M of M udot = f in all speeds, symmetric."""
    @property
    def forcing(self) -> Any:
        """The right-hand side f of M udot = f in all speeds, F_r + F*_r at udot = 0."""
    @property
    def outputs(self) -> Any:
        """The outputs that the model was described with, in the order of `output_names`."""
    @property
    def partial_velocities(self) -> Any:
        """The partial velocities ∂v/∂u_r of all points, inertial axes."""
    @property
    def velocity_remainders(self) -> Any:
        """."""
    @property
    def partial_angular_velocities(self) -> Any:
        """The partial angular velocities ∂ω/∂u_r of all frames, inertial axes."""
    @property
    def angular_velocity_remainders(self) -> Any:
        """."""
    @property
    def generalized_active_forces(self) -> Any:
        """The generalized active forces F_r = Σ v_r · R + ω_r · T."""
    @property
    def generalized_inertia_forces(self) -> Any:
        """The generalized inertia forces F*_r = -Σ v_r · m a + ω_r · (I α + ω × I ω) at udot."""
    @property
    def inverse_dynamics(self) -> Any:
        """The generalized forces beyond those modelled that produce udot."""
    @property
    def kinetic_energy(self) -> Any:
        """The kinetic energy T of all bodies, relative to the inertial frame."""
    @property
    def potential_energy(self) -> Any:
        """The potential energy U of the loads that have one."""
    @property
    def power(self) -> Any:
        """The rate d(T + U)/dt at udot, the power of the loads without a potential."""
    @property
    def reactions(self) -> Any:
        """Forces of the joints on their children beyond the loads of the model."""
    @property
    def configuration_residual(self) -> Any:
        """The configuration constraints' values phi(q, t), in the order given."""
    @property
    def configuration_jacobian(self) -> Any:
        """The derivatives of the configuration constraints ∂phi/∂q."""
    @property
    def velocity_residual(self) -> Any:
        """The values of the constraints on velocities, c(q, u, t): of the first rows of G."""
    @property
    def constraint_jacobian(self) -> Any:
        """The matrix G of the constraints G udot + gamma = 0."""
    @property
    def constraint_bias(self) -> Any:
        """The bias gamma of the constraints G udot + gamma = 0."""
    @property
    def multipliers(self) -> Any:
        """The multipliers lambda of M udot = f + Gᵀ lambda, of least norm where rows are redundant."""
    @property
    def auxiliary_forces(self) -> Any:
        """The values of the auxiliary equations, F_r + F*_r + (Gᵀλ)_r of the auxiliary speeds."""
    @property
    def positions(self) -> Any:
        """The positions of all points from the model's origin, inertial axes."""
    @property
    def orientations(self) -> Any:
        """The orientations R of all frames: the columns are their axes, in inertial axes."""
    @property
    def body_momenta(self) -> Any:
        """The momentum m v* of each body, then its angular momentum I·ω about its mass centre."""
    @property
    def inertia_forces(self) -> Any:
        """The inertia force R* = -m a* of each body, then its inertia torque T* = -(I·α + ω × I·ω), at udot."""
    @property
    def momenta(self) -> Any:
        """The derivatives of the kinetic energy ∂T/∂u_r = Σ v_r · m v + ω_r · I·ω."""
    @property
    def gibbs(self) -> Any:
        """The energy of accelerations S = Σ ½ m a·a + ½ (α·I·α + 2 α·(ω × I·ω) + (ω·ω)(ω·I·ω)) at udot."""
    @property
    def coordinate_forces(self) -> Any:
        """The generalized forces of the coordinates, Q_k = Σ R · ∂v/∂qdot_k + T · ∂ω/∂qdot_k, with Yᵀ Q = F."""
    @property
    def equations_residual(self) -> Any:
        """Residuals of all equations at any udot and lambda, [F + F* + Gᵀ lambda, phi, c]."""
    @property
    def generalized_momenta(self) -> Any:
        """The generalized momenta p_k = ∂L/∂q̇_k of the coordinates, L = T - U."""
    @property
    def hamiltonian(self) -> Any:
        """The Hamiltonian H = Σ p_k q̇_k - L = T₂ - T₀ + U, as a function of q, u, t."""
    @property
    def kinetic_energy_parts(self) -> Any:
        """The parts T₂, T₁, T₀ of the kinetic energy that are of degree 2, 1, 0 in q̇."""
    @property
    def velocities(self) -> Any:
        """The velocities v of all points in the inertial frame, inertial axes."""
    @property
    def angular_velocities(self) -> Any:
        """The angular velocities ω of all frames in the inertial frame, inertial axes."""
    @property
    def joint_positions(self) -> Any:
        """The positions of the joint points, measured as `positions` are, inertial axes."""
    @property
    def rhs_time_derivative(self) -> Any:
        """The derivatives ∂xdot/∂t of `rhs` at constant x and r."""
    @property
    def rhs_parameter_jacobian(self) -> Any:
        """The derivatives ∂xdot/∂p of `rhs`, parameters in the order of `parameter_names`."""
    @property
    def output_jacobian(self) -> Any:
        """The derivatives of the outputs with respect to x, then r: C and D of dy = C dx + D dr."""
    @property
    def coriolis_matrix(self) -> Any:
        """The Coriolis matrix C(q, u) of M udot + C u + g = tau + other loads, by Christoffel symbols."""
    @property
    def gravity_forces(self) -> Any:
        """The generalized forces g(q) that hold the weights of all bodies: g of M udot + C u + g = tau + other loads."""
    @property
    def accelerations(self) -> Any:
        """The accelerations a of all points in the inertial frame at udot, inertial axes."""
    @property
    def angular_accelerations(self) -> Any:
        """The angular accelerations α of all frames in the inertial frame at udot, inertial axes."""
    @property
    def regressor(self) -> Any:
        """The regressor Y(x, udot) of the inertia forces and weights: M udot - f without other loads is Y π."""
    @property
    def inertial_parameters(self) -> Any:
        """The inertial parameters π of each body: m, m c (3), I about the first point (xx, xy, xz, yy, yz, zz)."""
    @property
    def joint_regressor(self) -> Any:
        """The columns Y_j(x, udot) of friction and rotors: M udot - f + Y_j θ = tau, θ = (b, c, J) of each coordinate."""
    @property
    def zdot(self) -> Any:
        """The derivatives zdot of the first-order states, in the order of `state_names`."""
