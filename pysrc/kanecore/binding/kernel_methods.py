# Generated from kernels.py by kanecore.build.generated_sources.
# SPDX-License-Identifier: BSD-3-Clause
"""The kernels as methods; C does the usual calls without these functions, `kernel_method`."""

from kanecore._native import (
    Buffers,
    KernelArray,
    Model,
    ModelKernels,
    internal_kernel_method,
    kernel_method,
    workspace_method,
)
from kanecore.binding.results_by_name import by_name

__all__ = ["InternalKernels", "KernelMethods", "Workspace"]


class KernelMethods(Model):
    """The kernels of a model: all share the arguments and errors of `rhs`."""

    @kernel_method
    def rhs(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The right-hand side xdot = [qdot, udot, zdot] of the equations of motion, (..., n_x).

        Parameters
        ----------
        t : float or array_like, (...)
            Time.
        x : array_like, (..., n_x), or mapping
            State [q, u, z]. A mapping of names or symbols to numbers, or to arrays that broadcast, is converted by
            `CompiledModel.state`: other entries are zero.
        r : array_like, (..., n_r), or mapping, optional
            Inputs; default the current ones. A mapping overrides some of them.
        p : array_like, (..., n_p), or mapping, optional
            Parameters; default the current ones. Prepared once for (n_p,), once a row for (N, n_p).
        out : ndarray, optional
            Array for the result: float64, C-contiguous, of the shape of the result, no memory shared with arguments.
        threads : int
            Number of threads for a large batch; -1: one for each core. Results are the same to the bit.

        Returns
        -------
        ndarray, (..., n_x)
            ``out`` if given, else a new array. Leading axes broadcast.

        Raises
        ------
        SingularError
            The mass matrix is singular at a state. For a batch the error has ``rows``, and ``out`` has the other rows.
        NonFiniteError
            Finite arguments led to a result that is not finite; ``rows`` and ``out`` as above. (Arguments that are not finite
            give NaN.)
        ValueError, TypeError, KeyError
            A wrong shape, dtype or name, a parameter that is not finite or was never set, an ``out`` that
            overlaps an argument.

        Notes
        -----
        All kernels share these arguments and errors. Kernels that depend on udot take it after ``x``, as (..., n_u) or a
        mapping by the names of speeds, and ``multipliers`` after udot, (..., n_constraints) or by the names of constraints.

        """
        return self.kernels.evaluate("rhs", t, x, None, r, p, out, threads)

    @kernel_method
    def udot(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of the speeds, udot = M⁻¹ f, with constraints M⁻¹ (f + Gᵀ lambda), (..., n_u)."""
        return self.kernels.evaluate("udot", t, x, None, r, p, out, threads)

    @kernel_method
    def qdot(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of the coordinates, qdot = Y(q, t) u + z(q, t), (..., n_q)."""
        return self.kernels.evaluate("qdot", t, x, None, r, p, out, threads)

    @kernel_method
    def mass_matrix(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The mass matrix M of M udot = f in all speeds, symmetric, (..., n_u, n_u)."""
        return self.kernels.evaluate("mass_matrix", t, x, None, r, p, out, threads)

    @kernel_method
    def forcing(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The right-hand side f of M udot = f in all speeds, F_r + F*_r at udot = 0, (..., n_u)."""
        return self.kernels.evaluate("forcing", t, x, None, r, p, out, threads)

    @kernel_method
    def outputs(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The outputs that the model was described with, in the order of `output_names`, (..., n_outputs)."""
        return self.kernels.evaluate("outputs", t, x, None, r, p, out, threads)

    @kernel_method
    def partial_velocities(self, t, x, *, remainder=False, r=None, p=None, out=None, threads=1):
        """The partial velocities ∂v/∂u_r of all points, inertial axes, (..., n_points, n_u, 3).

        With ``remainder=True`` instead the parts of the velocities that no speed multiplies, v_t = v - Σ v_r u_r, (...,
        n_points, 3). Points in the order of `points`.
        """
        if remainder:
            return self.kernels.evaluate("velocity_remainders", t, x, None, r, p, out, threads)
        return self.kernels.evaluate("partial_velocities", t, x, None, r, p, out, threads)

    @kernel_method
    def partial_angular_velocities(self, t, x, *, remainder=False, r=None, p=None, out=None, threads=1):
        """The partial angular velocities ∂ω/∂u_r of all frames, inertial axes, (..., n_frames, n_u, 3).

        With ``remainder=True`` instead ω_t = ω - Σ ω_r u_r, (..., n_frames, 3). Frames in the order of `frames`.
        """
        if remainder:
            return self.kernels.evaluate("angular_velocity_remainders", t, x, None, r, p, out, threads)
        return self.kernels.evaluate("partial_angular_velocities", t, x, None, r, p, out, threads)

    @kernel_method
    def generalized_active_forces(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The generalized active forces F_r = Σ v_r · R + ω_r · T, (..., n_u).

        A load that is linear in udot counts as it is at udot = 0.
        """
        return self.kernels.evaluate("generalized_active_forces", t, x, None, r, p, out, threads)

    @kernel_method
    def generalized_inertia_forces(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The generalized inertia forces F*_r = -Σ v_r · m a + ω_r · (I α + ω × I ω) at udot, (..., n_u)."""
        return self.kernels.evaluate("generalized_inertia_forces", t, x, udot, r, p, out, threads)

    @kernel_method
    def inverse_dynamics(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The generalized forces beyond those modelled that produce udot, (..., n_u).

        -(F_r + F*_r) = M udot - f. With constraints Gᵀ lambda is part of it.
        """
        return self.kernels.evaluate("inverse_dynamics", t, x, udot, r, p, out, threads)

    @kernel_method
    def kinetic_energy(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The kinetic energy T of all bodies, relative to the inertial frame: a float, or (...)."""
        return self.kernels.evaluate("kinetic_energy", t, x, None, r, p, out, threads)

    @kernel_method
    def potential_energy(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The potential energy U of the loads that have one: a float, or (...)."""
        return self.kernels.evaluate("potential_energy", t, x, None, r, p, out, threads)

    @kernel_method
    def power(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The rate d(T + U)/dt at udot, the power of the loads without a potential: a float, or (...)."""
        return self.kernels.evaluate("power", t, x, udot, r, p, out, threads)

    @kernel_method
    def reactions(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """Forces of the joints on their children beyond the loads of the model, (..., n_joints, 6).

        The force (3), N, then the torque (3), N m, that act on the child at the joint point, in inertial axes: what the
        Newton-Euler equations of every body lack at udot = M⁻¹ f (Featherstone, *Rigid Body Dynamics Algorithms*, 2008,
        section 5.3). Opposite ones act on the parent. Joints in the order of `joints`. With ``named=True`` a dict of
        views of the result, {name: (..., 6)}.
        """
        result = self.kernels.evaluate("reactions", t, x, None, r, p, out, threads)
        return by_name(self.joints, result, 2) if named else result

    @kernel_method
    def configuration_residual(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The configuration constraints' values phi(q, t), in the order given, (..., n_configuration)."""
        return self.kernels.evaluate("configuration_residual", t, x, None, r, p, out, threads)

    @kernel_method
    def configuration_jacobian(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of the configuration constraints ∂phi/∂q, (..., n_configuration, n_q)."""
        return self.kernels.evaluate("configuration_jacobian", t, x, None, r, p, out, threads)

    @kernel_method
    def velocity_residual(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The values of the constraints on velocities, c(q, u, t): of the first rows of G, (..., n_velocity)."""
        return self.kernels.evaluate("velocity_residual", t, x, None, r, p, out, threads)

    @kernel_method
    def constraint_jacobian(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The matrix G of the constraints G udot + gamma = 0; rows in the order of `constraint_names`, (...,
        n_constraints, n_u).

        Velocity constraints, then derivatives of configuration constraints outside their row space, then acceleration
        constraints; ∂c/∂u where they are not linear in u.
        """
        return self.kernels.evaluate("constraint_jacobian", t, x, None, r, p, out, threads)

    @kernel_method
    def constraint_bias(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The bias gamma of the constraints G udot + gamma = 0, (..., n_constraints)."""
        return self.kernels.evaluate("constraint_bias", t, x, None, r, p, out, threads)

    @kernel_method
    def multipliers(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The multipliers lambda of M udot = f + Gᵀ lambda, of least norm where rows are redundant, (..., n_constraints)."""
        return self.kernels.evaluate("multipliers", t, x, None, r, p, out, threads)

    @kernel_method
    def auxiliary_forces(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The values of the auxiliary equations, F_r + F*_r + (Gᵀλ)_r of the auxiliary speeds, (..., n_auxiliary).

        With the reactions among the inputs they are zero where these are right; with unknown ones left out each is
        minus the reaction along its auxiliary speed (Kane & Levinson 1985, section 4.9).
        """
        return self.kernels.evaluate("auxiliary_forces", t, x, None, r, p, out, threads)

    @kernel_method
    def positions(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The positions of all points from the model's origin, inertial axes, (..., n_points, 3).

        The origin is that of ``Model(origin=...)``, or the point at rest that most bodies are located from. Where no
        positions lead from it to a point, that one is measured from the root of its own points. ``model.report()``
        names both. Points in the order of `points`. With ``named=True`` a dict of views of the result, {name: (...,
        3)}; `position` gives one of them, in any frame.
        """
        result = self.kernels.evaluate("positions", t, x, None, r, p, out, threads)
        return by_name(self.points, result, 2) if named else result

    @kernel_method
    def orientations(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The orientations R of all frames: the columns are their axes, in inertial axes, (..., n_frames, 3, 3).

        v_inertial = R v_frame. Frames in the order of `frames`, with ``named=True`` a dict {name: (..., 3, 3)}. That of
        a frame of which the angular velocity alone was given is the one that it is written in.
        """
        result = self.kernels.evaluate("orientations", t, x, None, r, p, out, threads)
        return by_name(self.frames, result, 3) if named else result

    @kernel_method
    def body_momenta(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The momentum m v* of each body, then its angular momentum I·ω about its mass centre, (..., n_bodies, 6).

        In inertial axes, N s and N m s (Kane & Levinson 1985, section 3.5). Bodies in the order of `bodies`; the
        angular momentum of a particle is zero.
        """
        result = self.kernels.evaluate("body_momenta", t, x, None, r, p, out, threads)
        return by_name(self.bodies, result, 2) if named else result

    @kernel_method
    def inertia_forces(self, t, x, udot, *, named=False, r=None, p=None, out=None, threads=1):
        """The inertia force R* = -m a* of each body, then its inertia torque T* = -(I·α + ω × I·ω), at udot, (...,
        n_bodies, 6).

        In inertial axes, N and N m (Kane & Levinson 1985, section 4.11). Accelerations are those of the motion: gravity
        is no part of them.
        """
        result = self.kernels.evaluate("inertia_forces", t, x, udot, r, p, out, threads)
        return by_name(self.bodies, result, 2) if named else result

    @kernel_method
    def momenta(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of the kinetic energy ∂T/∂u_r = Σ v_r · m v + ω_r · I·ω, (..., n_u).

        Where qdot is u, and every velocity the derivative of its position, these are the generalized momenta.
        """
        return self.kernels.evaluate("momenta", t, x, None, r, p, out, threads)

    @kernel_method
    def gibbs(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The energy of accelerations S = Σ ½ m a·a + ½ (α·I·α + 2 α·(ω × I·ω) + (ω·ω)(ω·I·ω)) at udot: a float, or (...).

        Its derivatives are the generalized inertia forces of the bodies, ∂S/∂u̇_r = -F*_r (Gibbs 1879, Appell 1899), in
        redundant speeds too. Where a mass or a tensor changes, S holds a·ṁ v and α·İ·ω as well, so that this stays
        true. What loads that are linear in udot add to F*_r is no part of S.
        """
        return self.kernels.evaluate("gibbs", t, x, udot, r, p, out, threads)

    @kernel_method
    def coordinate_forces(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The generalized forces of the coordinates, Q_k = Σ R · ∂v/∂qdot_k + T · ∂ω/∂qdot_k, with Yᵀ Q = F, (..., n_q).

        Of all loads and potentials, as `generalized_active_forces`, which they are where qdot = u.
        """
        return self.kernels.evaluate("coordinate_forces", t, x, None, r, p, out, threads)

    @kernel_method
    def equations_residual(self, t, x, udot, multipliers=None, *, r=None, p=None, out=None, threads=1):
        """Residuals of all equations at any udot and lambda, [F + F* + Gᵀ lambda, phi, c], (..., n_u + n_configuration +
        n_velocity).

        The first n_u are f + Gᵀ lambda - M udot, of Lagrange's equations with multipliers those of the coordinates.
        ``multipliers`` (..., n_constraints) may be left out where there are no constraints.
        """
        return self.kernels.evaluate("equations_residual", t, x, self.names.with_multipliers(udot, multipliers), r, p, out, threads)

    @kernel_method
    def generalized_momenta(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The generalized momenta p_k = ∂L/∂q̇_k of the coordinates, L = T - U, (..., n_q).

        ∂L/∂u only where u = q̇. They need as many speeds as coordinates, and velocities that are the derivatives of
        positions; ModelError elsewhere (Goldstein, *Classical Mechanics*, 3rd ed., 2002, section 2.6).
        """
        return self.kernels.evaluate("generalized_momenta", t, x, None, r, p, out, threads)

    @kernel_method
    def hamiltonian(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The Hamiltonian H = Σ p_k q̇_k - L = T₂ - T₀ + U, as a function of q, u, t: a float, or (...).

        It is T + U only where q̇ = 0 means that all is at rest. With quaternions too: where u_z with Y u_z = z exists
        for q̇ = Y u + z, H = ∂L/∂u · (u + u_z) - L; ModelError where none exists or velocities were set (Goldstein,
        section 8.1).
        """
        return self.kernels.evaluate("hamiltonian", t, x, None, r, p, out, threads)

    @kernel_method
    def kinetic_energy_parts(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The parts T₂, T₁, T₀ of the kinetic energy that are of degree 2, 1, 0 in q̇, (..., 3).

        Their sum is T. ModelError where there is no `hamiltonian` (Goldstein, section 2.7).
        """
        return self.kernels.evaluate("kinetic_energy_parts", t, x, None, r, p, out, threads)

    @kernel_method
    def velocities(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The velocities v of all points in the inertial frame, inertial axes, (..., n_points, 3).

        v = Σ v_r u_r + v_t. Points in the order of `points`, with ``named=True`` a dict {name: (..., 3)}.
        """
        result = self.kernels.evaluate("velocities", t, x, None, r, p, out, threads)
        return by_name(self.points, result, 2) if named else result

    @kernel_method
    def angular_velocities(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The angular velocities ω of all frames in the inertial frame, inertial axes, (..., n_frames, 3).

        ω = Σ ω_r u_r + ω_t. Frames in the order of `frames`, with ``named=True`` a dict {name: (..., 3)}.
        """
        result = self.kernels.evaluate("angular_velocities", t, x, None, r, p, out, threads)
        return by_name(self.frames, result, 2) if named else result

    @kernel_method
    def joint_positions(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The positions of the joint points, measured as `positions` are, inertial axes, (..., n_joints, 3).

        Joints in the order of `joints`, with ``named=True`` a dict {name: (..., 3)}.
        """
        result = self.kernels.evaluate("joint_positions", t, x, None, r, p, out, threads)
        return by_name(self.joints, result, 2) if named else result

    @kernel_method
    def rhs_time_derivative(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives ∂xdot/∂t of `rhs` at constant x and r, (..., n_x).

        What t does where it stands in the description itself: a prescribed motion that is an input is held, and its
        rates are inputs of their own.
        """
        return self.kernels.evaluate("rhs_time_derivative", t, x, None, r, p, out, threads)

    @kernel_method
    def rhs_parameter_jacobian(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives ∂xdot/∂p of `rhs`, parameters in the order of `parameter_names`, (..., n_x, n_p).

        Exact, and with constraints too: with R = f + Gᵀλ - M udot and S = G udot + gamma at constant udot and λ, M
        dudot - Gᵀ dλ = ∂R/∂p dp and G dudot = -∂S/∂p dp, as of `linearize`.
        """
        return self.kernels.evaluate("rhs_parameter_jacobian", t, x, None, r, p, out, threads)

    @kernel_method
    def output_jacobian(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of the outputs with respect to x, then r: C and D of dy = C dx + D dr, (..., n_outputs, n_x +
        n_r).

        Where outputs hold udot, it varies with x and r as `udot` does. ModelError where they hold multipliers.
        """
        return self.kernels.evaluate("output_jacobian", t, x, None, r, p, out, threads)

    @kernel_method
    def coriolis_matrix(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The Coriolis matrix C(q, u) of M udot + C u + g = tau + other loads, by Christoffel symbols, (..., n_u, n_u).

        C_ij = ½ Σ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i) u_k, so that dM/dt - 2C is skew (Murray, Li & Sastry, *A
        Mathematical Introduction to Robotic Manipulation*, 1994, section 4.2). ModelError unless qdot is u and T = ½ uᵀ
        M(q) u.
        """
        return self.kernels.evaluate("coriolis_matrix", t, x, None, r, p, out, threads)

    @kernel_method
    def gravity_forces(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The generalized forces g(q) that hold the weights of all bodies: g of M udot + C u + g = tau + other loads,
        (..., n_u).

        Minus the generalized active forces of loads m γ at mass centres, γ one constant field, and of potential
        energies that were given as such, those in a Lagrangian included. Zero where there are none.
        """
        return self.kernels.evaluate("gravity_forces", t, x, None, r, p, out, threads)

    @kernel_method
    def accelerations(self, t, x, udot, *, named=False, r=None, p=None, out=None, threads=1):
        """The accelerations a of all points in the inertial frame at udot, inertial axes, (..., n_points, 3).

        a = Σ v_r u̇_r + Σ v̇_r u_r + v̇_t: those of the motion, of which gravity is no part (Kane & Levinson 1985,
        section 2.8); what an accelerometer feels is `specific_force`. Points in the order of `points`, with
        ``named=True`` a dict {name: (..., 3)}.
        """
        result = self.kernels.evaluate("accelerations", t, x, udot, r, p, out, threads)
        return by_name(self.points, result, 2) if named else result

    @kernel_method
    def angular_accelerations(self, t, x, udot, *, named=False, r=None, p=None, out=None, threads=1):
        """The angular accelerations α of all frames in the inertial frame at udot, inertial axes, (..., n_frames, 3).

        α = Σ ω_r u̇_r + Σ ω̇_r u_r + ω̇_t. Frames in the order of `frames`, with ``named=True`` a dict {name: (...,
        3)}.
        """
        result = self.kernels.evaluate("angular_accelerations", t, x, udot, r, p, out, threads)
        return by_name(self.frames, result, 2) if named else result

    @kernel_method
    def regressor(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The regressor Y(x, udot) of the inertia forces and weights: M udot - f without other loads is Y π, (..., n_u, 10
        * n_bodies).

        π holds `inertial_parameters`, ten of each body, in the order of `bodies`. Exact (Khalil & Dombre, *Modeling,
        Identification and Control of Robots*, 2002, section 9.3). ModelError where masses or inertias are not constant,
        or other loads hold its symbols.
        """
        return self.kernels.evaluate("regressor", t, x, udot, r, p, out, threads)

    @kernel_method
    def inertial_parameters(self, t, x, *, named=False, r=None, p=None, out=None, threads=1):
        """The inertial parameters π of each body: m, m c (3), I about the first point (xx, xy, xz, yy, yz, zz), (...,
        n_bodies, 10).

        In the axes of the body's frame, c the mass centre from the first point: the first on the way from the origin to
        the mass centre that is fixed in the body, where its joint is if it is located from there. Of a particle nine
        are zero.
        """
        result = self.kernels.evaluate("inertial_parameters", t, x, None, r, p, out, threads)
        return by_name(self.bodies, result, 2) if named else result

    @kernel_method
    def joint_regressor(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The columns Y_j(x, udot) of friction and rotors: M udot - f + Y_j θ = tau, θ = (b, c, J) of each coordinate,
        (..., n_u, 3 * n_q).

        With W = ∂qdot/∂u those of coordinate j are W_j qdot_j of viscous friction b, W_j sign(qdot_j) of dry friction
        c, where sign is 0 at 0, and W_j qddot_j of the inertia J of a rotor of energy ½ J qdot_j²: n² J of one that
        turns n times as fast (Khalil & Dombre, *Modeling, Identification and Control of Robots*, 2002, section 9.3 and
        chapter 12). Zero of members of unit quaternions, which no joint moves. ModelError where the equations are of
        first order.
        """
        return self.kernels.evaluate("joint_regressor", t, x, udot, r, p, out, threads)

    @kernel_method
    def zdot(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives zdot of the first-order states, in the order of `state_names`, (..., n_z).

        At the udot and the multipliers of the motion, where rates hold these.
        """
        return self.kernels.evaluate("zdot", t, x, None, r, p, out, threads)

    def workspace(self):
        """Buffers bound once, for calls without arguments: a `Workspace` with the current p and r."""
        return Workspace(self)


class InternalKernels(ModelKernels):
    """Kernels that functions of the package call; all share the arguments and errors of `rhs`."""

    @internal_kernel_method
    def reaction_slopes(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of `reactions` with respect to the multipliers, (..., n_joints, 6, n_constraints)."""
        return self.evaluate("reaction_slopes", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def constraint_sizes(self, t, x, *, r=None, p=None, out=None, threads=1):
        """Magnitudes of the terms of phi, then c, with which residuals are compared, (..., n_configuration + n_velocity)."""
        return self.evaluate("constraint_sizes", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def stabilization(self, t, x, *, r=None, p=None, out=None, threads=1):
        """Derivatives of speeds that lead back to the constraints (Baumgarte 1972), see kanecore.h, (..., 2, n_u)."""
        return self.evaluate("stabilization", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def project(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The state on the constraints that takes the least change, weighted by mass, (..., n_x)."""
        return self.evaluate("project", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def linearize(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of `rhs` with respect to x and r, (..., n_x, n_x + n_r)."""
        return self.evaluate("linearize", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def constraint_slopes(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The derivatives of phi, then c, with respect to x and r, (..., n_configuration + n_velocity, n_x + n_r)."""
        return self.evaluate("constraint_slopes", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def load_vectors(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The forces and torques that act, in inertial axes, at udot = 0, (..., n_loads, 3)."""
        return self.evaluate("load_vectors", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def momentum_rates(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The rates dp/dt at udot, then ∂L/∂q at constant q̇, (..., 2, n_q)."""
        return self.evaluate("momentum_rates", t, x, udot, r, p, out, threads)

    @internal_kernel_method
    def masses(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The mass of each body, its inertia about its inertia point, that from the mass centre, in its axes, (...,
        n_bodies, 13).
        """
        return self.evaluate("masses", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def potentials(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The potential energies that stand for forces, in the order given, (..., n_potentials)."""
        return self.evaluate("potentials", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def inertial_loads(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The part of forces and torques that is linear in udot, in inertial axes, (..., n_loads, 3)."""
        return self.evaluate("inertial_loads", t, x, udot, r, p, out, threads)

    @internal_kernel_method
    def hamiltonian_rate(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The rate dH/dt at udot: a float, or (...)."""
        return self.evaluate("hamiltonian_rate", t, x, udot, r, p, out, threads)

    @internal_kernel_method
    def attached_wrenches(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The force on each body, and its moment about the mass centre, by which a unit of each multiplier acts, (...,
        n_bodies, 6, n_constraints).
        """
        return self.evaluate("attached_wrenches", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def gravity_field(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The uniform field of gravity in which all bodies have their weights, inertial axes, (..., 3)."""
        return self.evaluate("gravity_field", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def inverse_dynamics_tangent(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The change of `inverse_dynamics` along a direction (dx, dr, dudot), (..., n_u)."""
        return self.evaluate("inverse_dynamics_tangent", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def inverse_dynamics_gradient(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The gradient of weights times `inverse_dynamics` with respect to x, r, udot, (..., n_x + n_r + n_u)."""
        return self.evaluate("inverse_dynamics_gradient", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def hessian_products(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The changes of the gradient of w qdot + μ R + ν S along a direction of (x, r, udot, λ), then that of R, (...,
        n_x + n_r + n_u + n_constraints + n_u).
        """
        return self.evaluate("hessian_products", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def forward_dynamics(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """The derivatives of the speeds by generalized forces beyond those modelled, which take the place of udot, (...,
        n_u).
        """
        return self.evaluate("forward_dynamics", t, x, udot, r, p, out, threads)

    @internal_kernel_method
    def output_slopes(self, t, x, udot, *, r=None, p=None, out=None, threads=1):
        """Derivatives of the outputs, by x and r at constant u̇, then by u̇, (..., n_outputs, n_x + n_r + n_u)."""
        return self.evaluate("output_slopes", t, x, udot, r, p, out, threads)

    @internal_kernel_method
    def auxiliary_partials(self, t, x, *, r=None, p=None, out=None, threads=1):
        """Partial velocities of points and of frames by the auxiliary speeds, then the power of unit multipliers, (..., 3
        * n_points + 3 * n_frames + n_constraints, n_auxiliary).
        """
        return self.evaluate("auxiliary_partials", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def rhs_tangent(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The change of `rhs` along a direction (dx, dr), (..., n_x)."""
        return self.evaluate("rhs_tangent", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def rhs_gradient(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The gradient of weights times `rhs` with respect to x, r, (..., n_x + n_r)."""
        return self.evaluate("rhs_gradient", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def rhs_parameter_tangent(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The change of `rhs` along a direction dp, (..., n_x)."""
        return self.evaluate("rhs_parameter_tangent", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def rhs_parameter_gradient(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The gradient of weights times `rhs` with respect to x, r and p, in one pass, (..., n_x + n_r + n_p)."""
        return self.evaluate("rhs_parameter_gradient", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def mass_matrix_inverse(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The inverse of a mass matrix that is positive definite, and in no doubt, (..., n_u, n_u)."""
        return self.evaluate("mass_matrix_inverse", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def rhs_hessian(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The second derivatives of weights times `rhs` with respect to x, r, (..., n_x + n_r, n_x + n_r)."""
        return self.evaluate("rhs_hessian", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def reaction_shares(self, t, x, *, r=None, p=None, out=None, threads=1):
        """The reactions that loads depend on, without what they bring, and by a unit of each part of loads, (...,
        n_reactions, n_shares + 1).
        """
        return self.evaluate("reaction_shares", t, x, None, r, p, out, threads)

    @internal_kernel_method
    def share_laws(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The parts s = h(N) of loads at given reactions N, their derivatives, and the power of a unit of each, (...,
        n_shares, n_reactions + 2).
        """
        return self.evaluate("share_laws", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def output_tangent(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The change of `outputs` along a direction (dx, dr), (..., n_outputs)."""
        return self.evaluate("output_tangent", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def output_gradient(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The gradient of weights times `outputs` with respect to x, r, (..., n_x + n_r)."""
        return self.evaluate("output_gradient", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def project_gradient(self, t, x, beyond, *, r=None, p=None, out=None, threads=1):
        """The gradient of weights times `project` with respect to x, r and p, (..., n_x + n_r + n_p)."""
        return self.evaluate("project_gradient", t, x, beyond, r, p, out, threads)

    @internal_kernel_method
    def jacobian_terms(self, t, x, *, r=None, p=None, out=None, threads=1):
        """Magnitudes of the terms of each entry of G; zeros in rows with an entry that is a number, (..., n_constraints,
        n_u).
        """
        return self.evaluate("jacobian_terms", t, x, None, r, p, out, threads)


class Workspace(Buffers):
    """The buffers of one model, and its kernels as calls without arguments; one per thread."""

    __slots__ = ()

    xdot = KernelArray("rhs", "Result of `rhs`, (n_x,); NaN until its first call.")
    M = KernelArray("mass_matrix", "Result of `mass_matrix`, (n_u, n_u); NaN until its first call.")
    f = KernelArray("forcing", "Result of `forcing`, (n_u,); NaN until its first call.")

    @workspace_method
    def rhs(self):
        """The right-hand side xdot = [qdot, udot, zdot] of the equations of motion, (n_x,), into `xdot`."""
        return self.evaluate("rhs")

    @workspace_method
    def mass_matrix(self):
        """The mass matrix M of M udot = f in all speeds, symmetric, (n_u, n_u), into `M`."""
        return self.evaluate("mass_matrix")

    @workspace_method
    def forcing(self):
        """The right-hand side f of M udot = f in all speeds, F_r + F*_r at udot = 0, (n_u,), into `f`."""
        return self.evaluate("forcing")

    @workspace_method
    def outputs(self):
        """The outputs that the model was described with, in the order of `output_names`, (n_outputs,)."""
        return self.evaluate("outputs")

    @workspace_method
    def partial_velocities(self):
        """The partial velocities ∂v/∂u_r of all points, inertial axes, (n_points, n_u, 3)."""
        return self.evaluate("partial_velocities")

    @workspace_method
    def partial_angular_velocities(self):
        """The partial angular velocities ∂ω/∂u_r of all frames, inertial axes, (n_frames, n_u, 3)."""
        return self.evaluate("partial_angular_velocities")

    @workspace_method
    def generalized_active_forces(self):
        """The generalized active forces F_r = Σ v_r · R + ω_r · T, (n_u,)."""
        return self.evaluate("generalized_active_forces")

    @workspace_method
    def generalized_inertia_forces(self):
        """The generalized inertia forces F*_r = -Σ v_r · m a + ω_r · (I α + ω × I ω) at udot, (n_u,), at the workspace's
        `udot`.
        """
        return self.evaluate("generalized_inertia_forces")

    @workspace_method
    def inverse_dynamics(self):
        """The generalized forces beyond those modelled that produce udot, (n_u,), at the workspace's `udot`."""
        return self.evaluate("inverse_dynamics")

    @workspace_method
    def kinetic_energy(self):
        """The kinetic energy T of all bodies, relative to the inertial frame, a float."""
        return self.evaluate("kinetic_energy")

    @workspace_method
    def potential_energy(self):
        """The potential energy U of the loads that have one, a float."""
        return self.evaluate("potential_energy")

    @workspace_method
    def power(self):
        """The rate d(T + U)/dt at udot, the power of the loads without a potential, a float, at the workspace's `udot`."""
        return self.evaluate("power")

    @workspace_method
    def reactions(self):
        """Forces of the joints on their children beyond the loads of the model, (n_joints, 6)."""
        return self.evaluate("reactions")

    @workspace_method
    def configuration_residual(self):
        """The configuration constraints' values phi(q, t), in the order given, (n_configuration,)."""
        return self.evaluate("configuration_residual")

    @workspace_method
    def configuration_jacobian(self):
        """The derivatives of the configuration constraints ∂phi/∂q, (n_configuration, n_q)."""
        return self.evaluate("configuration_jacobian")

    @workspace_method
    def velocity_residual(self):
        """The values of the constraints on velocities, c(q, u, t): of the first rows of G, (n_velocity,)."""
        return self.evaluate("velocity_residual")

    @workspace_method
    def constraint_jacobian(self):
        """The matrix G of the constraints G udot + gamma = 0, (n_constraints, n_u)."""
        return self.evaluate("constraint_jacobian")

    @workspace_method
    def constraint_bias(self):
        """The bias gamma of the constraints G udot + gamma = 0, (n_constraints,)."""
        return self.evaluate("constraint_bias")

    @workspace_method
    def multipliers(self):
        """The multipliers lambda of M udot = f + Gᵀ lambda, of least norm where rows are redundant, (n_constraints,)."""
        return self.evaluate("multipliers")

    @workspace_method
    def auxiliary_forces(self):
        """The values of the auxiliary equations, F_r + F*_r + (Gᵀλ)_r of the auxiliary speeds, (n_auxiliary,)."""
        return self.evaluate("auxiliary_forces")

    @workspace_method
    def positions(self):
        """The positions of all points from the model's origin, inertial axes, (n_points, 3)."""
        return self.evaluate("positions")

    @workspace_method
    def orientations(self):
        """The orientations R of all frames: the columns are their axes, in inertial axes, (n_frames, 3, 3)."""
        return self.evaluate("orientations")

    @workspace_method
    def body_momenta(self):
        """The momentum m v* of each body, then its angular momentum I·ω about its mass centre, (n_bodies, 6)."""
        return self.evaluate("body_momenta")

    @workspace_method
    def inertia_forces(self):
        """The inertia force R* = -m a* of each body, then its inertia torque T* = -(I·α + ω × I·ω), at udot, (n_bodies,
        6), at the workspace's `udot`.
        """
        return self.evaluate("inertia_forces")

    @workspace_method
    def momenta(self):
        """The derivatives of the kinetic energy ∂T/∂u_r = Σ v_r · m v + ω_r · I·ω, (n_u,)."""
        return self.evaluate("momenta")

    @workspace_method
    def gibbs(self):
        """The energy of accelerations S = Σ ½ m a·a + ½ (α·I·α + 2 α·(ω × I·ω) + (ω·ω)(ω·I·ω)) at udot, a float, at the
        workspace's `udot`.
        """
        return self.evaluate("gibbs")

    @workspace_method
    def coordinate_forces(self):
        """The generalized forces of the coordinates, Q_k = Σ R · ∂v/∂qdot_k + T · ∂ω/∂qdot_k, with Yᵀ Q = F, (n_q,)."""
        return self.evaluate("coordinate_forces")

    @workspace_method
    def equations_residual(self):
        """Residuals of all equations at any udot and lambda, [F + F* + Gᵀ lambda, phi, c], (n_u + n_configuration +
        n_velocity,), at the workspace's `udot` and what `multipliers` wrote.
        """
        return self.evaluate("equations_residual")

    @workspace_method
    def generalized_momenta(self):
        """The generalized momenta p_k = ∂L/∂q̇_k of the coordinates, L = T - U, (n_q,)."""
        return self.evaluate("generalized_momenta")

    @workspace_method
    def hamiltonian(self):
        """The Hamiltonian H = Σ p_k q̇_k - L = T₂ - T₀ + U, as a function of q, u, t, a float."""
        return self.evaluate("hamiltonian")

    @workspace_method
    def kinetic_energy_parts(self):
        """The parts T₂, T₁, T₀ of the kinetic energy that are of degree 2, 1, 0 in q̇, (3,)."""
        return self.evaluate("kinetic_energy_parts")

    @workspace_method
    def velocities(self):
        """The velocities v of all points in the inertial frame, inertial axes, (n_points, 3)."""
        return self.evaluate("velocities")

    @workspace_method
    def angular_velocities(self):
        """The angular velocities ω of all frames in the inertial frame, inertial axes, (n_frames, 3)."""
        return self.evaluate("angular_velocities")

    @workspace_method
    def joint_positions(self):
        """The positions of the joint points, measured as `positions` are, inertial axes, (n_joints, 3)."""
        return self.evaluate("joint_positions")

    @workspace_method
    def rhs_time_derivative(self):
        """The derivatives ∂xdot/∂t of `rhs` at constant x and r, (n_x,)."""
        return self.evaluate("rhs_time_derivative")

    @workspace_method
    def rhs_parameter_jacobian(self):
        """The derivatives ∂xdot/∂p of `rhs`, parameters in the order of `parameter_names`, (n_x, n_p)."""
        return self.evaluate("rhs_parameter_jacobian")

    @workspace_method
    def output_jacobian(self):
        """The derivatives of the outputs with respect to x, then r: C and D of dy = C dx + D dr, (n_outputs, n_x + n_r)."""
        return self.evaluate("output_jacobian")

    @workspace_method
    def coriolis_matrix(self):
        """The Coriolis matrix C(q, u) of M udot + C u + g = tau + other loads, by Christoffel symbols, (n_u, n_u)."""
        return self.evaluate("coriolis_matrix")

    @workspace_method
    def gravity_forces(self):
        """The generalized forces g(q) that hold the weights of all bodies: g of M udot + C u + g = tau + other loads,
        (n_u,).
        """
        return self.evaluate("gravity_forces")

    @workspace_method
    def accelerations(self):
        """The accelerations a of all points in the inertial frame at udot, inertial axes, (n_points, 3), at the
        workspace's `udot`.
        """
        return self.evaluate("accelerations")

    @workspace_method
    def angular_accelerations(self):
        """The angular accelerations α of all frames in the inertial frame at udot, inertial axes, (n_frames, 3), at the
        workspace's `udot`.
        """
        return self.evaluate("angular_accelerations")

    @workspace_method
    def regressor(self):
        """The regressor Y(x, udot) of the inertia forces and weights: M udot - f without other loads is Y π, (n_u, 10 *
        n_bodies), at the workspace's `udot`.
        """
        return self.evaluate("regressor")

    @workspace_method
    def inertial_parameters(self):
        """The inertial parameters π of each body: m, m c (3), I about the first point (xx, xy, xz, yy, yz, zz), (n_bodies,
        10).
        """
        return self.evaluate("inertial_parameters")

    @workspace_method
    def joint_regressor(self):
        """The columns Y_j(x, udot) of friction and rotors: M udot - f + Y_j θ = tau, θ = (b, c, J) of each coordinate,
        (n_u, 3 * n_q), at the workspace's `udot`.
        """
        return self.evaluate("joint_regressor")
