# SPDX-License-Identifier: BSD-3-Clause
"""Compiled models for functions of the package, ``dyn``: kernels, sizes, names, values and libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanecore.binding.declared_methods import method
from kanecore.binding.facts import Facts
from kanecore.binding.kernel_methods import InternalKernels, KernelMethods
from kanecore.binding.library_groups import LibraryGroups, first_group
from kanecore.binding.live_values import LiveValues
from kanecore.binding.names import Names

if TYPE_CHECKING:
    from kanecore.binding.hooks import Hooks
    from kanecore.binding.library_groups import GroupBuilder
    from kanecore.program.bytecode_format import Code

__all__ = ["Evaluator"]

Array = npt.NDArray[np.float64]

_SIZES = (
    *("q", "u", "x", "p", "r", "points", "frames", "bodies", "joints", "loads", "potentials", "outputs", "constraints"),
    *("configuration", "velocity", "q_dependent", "u_dependent", "z", "auxiliary", "reactions", "shares"),
    *("prepared", "work"),
)


class Evaluator(KernelMethods):
    """A compiled model for functions of the package; its subclass `CompiledModel` has the functions as methods.

    Parameters
    ----------
    libraries : mapping
        The library, or code, of each compiled group.
    make : callable
        Class of models in doubles, for `another`.
    **known
        Further arguments of `LibraryGroups`.

    Attributes
    ----------
    names : Names
        Places of names in the arrays, ``names.x`` and ``names.speeds`` for example, and arrays of values by name.
    kernels : InternalKernels
        Existing kernels, internal kernels, and current values as arrays.
    facts : Facts
        Facts of the model in its core library, other than names and sizes.
    libraries : LibraryGroups
        Source of the kernels: groups, texts, description, origin.
    hooks : Hooks
        Questions of the extension that open libraries cannot answer.
    """

    __slots__ = ("_inputs", "_make", "_parameters", "facts", "hooks", "kernels", "libraries", "names")

    hooks: Hooks

    def __init__(self, libraries: Mapping[str, str | Code], make: Callable[..., Evaluator], **known: Any) -> None:
        addresses = {name: function.addresses for name, function in known.get("functions", {}).items()}
        super().__init__(libraries[first_group(libraries)], addresses)
        self.kernels = InternalKernels(self)
        self.facts = Facts.of_table(self.kernels.table_info)
        self.names = Names(self, self.kernels, self.facts, (known.get("info") or {}).get("baked", ()))
        self.libraries = LibraryGroups(self.kernels, libraries, **known)
        self._make = make
        self._parameters = LiveValues(self.names, "parameter")
        self._inputs = LiveValues(self.names, "input")

    def another(self, libraries: Mapping[str, str | Code], builder: GroupBuilder | None = None) -> Evaluator:
        """The model in doubles from other libraries, without values of its parameters."""
        return self._make(libraries, source={}, builder=builder, info={"build": {}, "machine": True})

    def __repr__(self) -> str:
        sizes = [
            (self.n_q, "coordinates"),
            (self.n_u, "speeds"),
            *([(self.n_z, "states")] if self.n_z else []),
            (self.n_p, "parameters"),
            (self.n_r, "inputs"),
        ]
        machine = "; on the machine, without a compiler" if self.libraries.codes else ""
        return f"<CompiledModel {self.name!r}: {', '.join(f'{n} {called}' for n, called in sizes)}{machine}>"

    @property
    @method("Values and facts")
    def parameters(self) -> LiveValues:
        """The parameters by name or symbol; setting one changes all later calls."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: Mapping[Any, float]) -> None:
        self._parameters.assign(values)

    @property
    @method("Values and facts")
    def inputs(self) -> LiveValues:
        """The inputs by name or symbol; they start at zero, prescribed motions must be given."""
        return self._inputs

    @inputs.setter
    def inputs(self, values: Mapping[Any, float]) -> None:
        self._inputs.assign(values)

    @method("Motion")
    def state(self, values: Mapping[Any, npt.ArrayLike] | None = None, /, **named: npt.ArrayLike) -> Array:
        """State with given values of some coordinates, speeds and states, by name or symbol; other entries are zero.

        Parameters
        ----------
        values : mapping, optional
            Names or symbols with numbers, or with arrays that broadcast.  A derivative such as ``theta.diff()`` means
            the speed that it equals by the kinematical equations.
        **named
            Values by keyword.

        Returns
        -------
        ndarray, (..., n_x)
            Entries without a given value are zero.  A unit quaternion without given values is the identity, (1, 0, 0,
            0) in the order of ``info["unit"]``, since four zeros are no orientation.  If one of its members is given,
            the others are zero.

        Raises
        ------
        KeyError
            The model has no such name; the message shows the nearest names.
        ValueError, TypeError
            A name is given twice; values that do not broadcast, are not finite, or are no real numbers.

        Examples
        --------
        ``dyn.state(theta=0.1, u1=2.0)``, ``dyn.state({theta: np.linspace(0, 1, 50)})``
        """
        if not (values is None or hasattr(values, "keys")):
            raise TypeError(f"state takes a mapping by name, and keywords: got {values!r}")
        given = [] if values is None else [(key, values[key]) for key in values]
        return self.names.state([*given, *named.items()])

    @property
    @method("Other programs")
    def source(self) -> dict[str, str]:
        """C text of each compiled group; a model without a compiler (``cc="none"``) has none."""
        return dict(self.libraries.sources)

    @property
    @method("Values and facts")
    def info(self) -> dict[str, Any]:
        """Groups compiled so far with their operation counts, sizes, build times, compiler, flags.

        For a model without a compiler, ``machine`` is True.  ``unit`` has the places in x of each unit quaternion, four
        numbers, cosine first.  ``input_rates`` has for each input the index of its derivative among the inputs, or -1.
        ``qdot_is_u`` tells whether q̇ = u, element by element.  ``configuration_names`` are the names of the rows of
        `configuration_residual`.
        """
        sizes = {name: getattr(self, name) for name in ("n_q", "n_u", "n_p", "n_r", "n_prepared", "n_work")}
        facts = {name: getattr(self, name) for name in ("unit", "input_rates", "qdot_is_u", "configuration_names")}
        groups = list(self.libraries.built)
        return {**self.libraries.info, **facts, "name": self.name, "kernels": groups, "sizes": sizes}

    @property
    @method("Values and facts")
    def sizes(self) -> Mapping[str, int]:
        """Lengths: "q", "u", "z", "x", "p", "r", "points", "frames", "bodies", "joints", "loads", "outputs" and others.

        "constraints" counts the rows of G; "configuration" and "velocity" the constraints on coordinates and on speeds;
        "q_dependent" and "u_dependent" the dependent coordinates and speeds; "auxiliary" the auxiliary speeds;
        "prepared" and "work" the constants and the scratch entries of C kernels; "reactions" the reactions in loads,
        and "shares" the parts of loads that depend on reactions.
        """
        return MappingProxyType({name: getattr(self, f"n_{name}") for name in _SIZES})

    @property
    def configuration_names(self) -> tuple[str, ...]:
        """Names of the configuration constraints, in the order of `configuration_residual`."""
        return self.names.configuration

    @method("Other programs")
    def build(self, *groups: str) -> None:
        """Compile groups of kernels now instead of at the first call.

        Parameters
        ----------
        *groups : str
            "core", "forces", "energies", "reactions", "constraints", "linearize", "auxiliary", "bodies",
            "hamilton", "derivatives", "forward", "tangent", "gradient", "parameter_tangent", "parameter_gradient",
            "inverse", "hessian", "output_tangent", "output_gradient", "project_gradient"; default, and "all":
            every group in which the model has kernels.

        Raises
        ------
        KeyError
            There is no such group.
        CompileError
            The compiler is missing or failed.
        """
        self.libraries.build(*groups)
