# SPDX-License-Identifier: BSD-3-Clause
"""A compiled model in single precision, ``kanecore.compile(model, real="float")``: kernels, and no searches.

What iterates, counts rows or looks for a rank has tolerances of doubles, and refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kanecore.errors import ModelError
from kanecore.run.model import CompiledModel

__all__ = ["SingleModel", "class_of"]


def _refused(name: str) -> Callable[..., Any]:
    def method(self: SingleModel, *_: Any, **__: Any) -> Any:
        raise ModelError(
            f"{name} needs the digits of doubles, and {self.name!r} is compiled with real='float': compile it without"
        )

    method.__name__ = name
    method.__doc__ = "Needs double precision: ModelError."
    return method


class SingleModel(CompiledModel):
    """A `CompiledModel` whose kernels take float32: x, r, p, results and prepared constants.

    t is given as a double, and rounded to a float by each kernel.

    Arrays of other types are cast, ``out=`` must be float32.  `address` is that of ``void f(double t, const float *x,
    const float *r, const float *c, float *work, float *out)``.  A float has 24 bits: results agree with those in double
    precision to 6e-8 times the condition of what is computed, and a row of constraints that is lost at a state is not
    looked for nearby.
    """

    simulate = _refused("simulate")
    consistent = _refused("consistent")
    check = _refused("check")
    audit = _refused("audit")
    conserved = _refused("conserved")
    constraint_forces = _refused("constraint_forces")
    speed_matrices = _refused("speed_matrices")
    projected_efforts = _refused("projected_efforts")
    solve_inverse = _refused("solve_inverse")
    impact = _refused("impact")
    periodic = _refused("periodic")
    equilibrium = _refused("equilibrium")
    linear_system = _refused("linear_system")
    state_error = _refused("state_error")
    rhs_hessian = _refused("rhs_hessian")
    identify = _refused("identify")
    operational_inertia = _refused("operational_inertia")
    _nonholonomic = _refused("nonholonomic=True")

    def linearize(
        self, t: Any, x: Any, *, r: Any = None, p: Any = None, minimal: bool = False, out: Any = None
    ) -> tuple[Any, Any]:
        """A and B in floats; ``minimal=True`` with constraints needs the digits of doubles."""
        if minimal and (self.n_constraints or self.n_configuration):
            _refused("linearize(minimal=True)")(self)
        return super().linearize(t, x, r=r, p=p, minimal=minimal, out=out)

    def _opposed(self, t: float, x: Any, r: Any, p: Any, row: int) -> tuple[str, ...]:
        return ()


def class_of(real: str) -> type[CompiledModel]:
    """That of compiled models whose numbers are "double" or "float"."""
    return SingleModel if real == "float" else CompiledModel
