# SPDX-License-Identifier: BSD-3-Clause
"""Compiled models in single precision, ``kanecore.compile(model, real="float")``, and the class of either precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from kanecore.binding.declared_methods import needs_digits
from kanecore.compiled_model import CompiledModel
from kanecore.errors import needs_doubles

__all__ = ["SingleModel", "class_of"]


class SingleModel(CompiledModel):
    """A `CompiledModel` whose kernels take float32: x, r, p, results and prepared constants.

    t is given as a double, and rounded to a float by each kernel.

    Arrays of other types are cast, ``out=`` must be float32.  `address` is that of ``void f(double t, const float *x,
    const float *r, const float *c, float *work, float *out)``.  A float has 24 bits: results agree with those in double
    precision to 6e-8 times the condition of the computation.  A row of constraints that is lost at a state is not
    searched for nearby.
    """


def _refused(name: str) -> Callable[..., NoReturn]:
    def refused(self: SingleModel, *_: Any, **__: Any) -> NoReturn:
        raise needs_doubles(self, name)

    refused.__name__ = name
    refused.__doc__ = "Needs double precision: ModelError."
    return refused


for _name in needs_digits(CompiledModel):
    setattr(SingleModel, _name, _refused(_name))


def class_of(real: str) -> type[CompiledModel]:
    """Class of compiled models whose numbers are "double" or "float"."""
    return SingleModel if real == "float" else CompiledModel
