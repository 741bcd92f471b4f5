# SPDX-License-Identifier: BSD-3-Clause
"""The function of each kernel, without syntax: the maker of the function, by the kernel's name.

Most kernels are one program.  Others solve equations: u̇, multipliers, the linearization, the projection to the
constraints. :mod:`kanecore.program.way_to_solve` chooses the method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kanecore.derive.linearized_equations import VARIABLES
from kanecore.derive.motion_products import VARIABLES as OF_PRODUCTS
from kanecore.kernels import KERNEL_GROUPS

from .function_parts import Function
from .function_store import Functions
from .linearization_functions import output_jacobian, slopes_of_rhs
from .mass_matrix_functions import mass_matrix, mass_matrix_inverse
from .motion_functions import accelerations, after_motion, forward_dynamics, multipliers
from .product_functions import product_of_derivatives
from .projection_functions import projected, projection_gradient, stabilization
from .second_derivative_functions import second_derivatives_of_rhs

__all__ = ["kernel_function"]

_SOLVERS: dict[str, Callable[[Functions], Function]] = {
    "udot": accelerations,
    "forward_dynamics": forward_dynamics,
    "multipliers": multipliers,
    "stabilization": stabilization,
    "project": projected,
    "project_gradient": projection_gradient,
    "mass_matrix": mass_matrix,
    "mass_matrix_inverse": mass_matrix_inverse,
    "rhs_hessian": second_derivatives_of_rhs,
    **{kernel: partial(slopes_of_rhs, kernel=kernel) for kernel in VARIABLES},
    **{kernel: partial(product_of_derivatives, kernel=kernel) for kernel in OF_PRODUCTS},
}


def kernel_function(f: Functions, kernel: str) -> Function:
    """``compute_KERNEL``, made on first use with all functions that it calls."""
    name = f"compute_{kernel}"
    if name in f.by_name:
        return f.by_name[name]
    if kernel in _SOLVERS:
        return _SOLVERS[kernel](f)
    derived = f.derivation.program(kernel)
    if not derived.after_udot:
        return f.of_kernel(kernel)
    if kernel == "output_jacobian":
        return output_jacobian(f, derived)
    return after_motion(f, kernel, derived, KERNEL_GROUPS[kernel] == "core")
