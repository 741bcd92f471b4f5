# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a library, by name: programs and solvers of equations, each made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanecore.derive.derivation import Derivation
from kanecore.derive.kernel_registry import Derived
from kanecore.kernels import KERNEL_GROUPS

from .function_parts import SCRATCH, Function, Member, Solved, Straight, cut
from .instructions import Entry, Operand, Program
from .straight_line import straight_line
from .way_to_solve import is_brief

__all__ = ["Functions"]


class Functions:
    """Functions of a library, each made on first use, after the functions that it calls.

    Parameters
    ----------
    derivation : Derivation
    leaves : mapping
        Places of symbols and prepared constants, as for `straight_line`.
    rank : int
        The place in c of the rank of G.
    in_lanes : bool
        Whether the functions are for several states at once.

    Attributes
    ----------
    by_name : dict
        Functions by name, in the order in which they were made.
    """

    def __init__(
        self, derivation: Derivation, leaves: Mapping[int, Operand], rank: int, in_lanes: bool = False
    ) -> None:
        self.derivation, self.leaves, self.rank, self.in_lanes = derivation, leaves, rank, in_lanes
        self.d, self.g = derivation.description, derivation.graph
        self.n, self.n_q, self.n_r = len(self.d.speeds), len(self.d.coordinates), len(self.d.inputs)
        self.m = len(derivation.constraints.rows) if self.d.constraints else 0
        self.n_z = len(self.d.states)
        self.by_name: dict[str, Function] = {}

    @property
    def solution(self) -> list[int]:
        """Symbols of u̇ and λ."""
        return [*self.d.accelerations, *self.derivation.multiplier_symbols]

    def of_kernel(self, kernel: str, rarely: bool = False) -> Straight:
        """``compute_KERNEL`` of a kernel that is one program; parts are shorter if called ``rarely``."""
        name = f"compute_{kernel}"
        made = self.by_name.get(name)
        if isinstance(made, Straight):
            return made
        in_core = KERNEL_GROUPS[kernel] == "core" and not rarely
        return self.straight(name, self.derivation.program(kernel), in_core=in_core)

    def straight(
        self,
        name: str,
        derived: Derived,
        in_scratch: Sequence[int] = (),
        reserved: int = 0,
        in_core: bool | None = False,
    ) -> Straight:
        """A function of one program.

        Parameters
        ----------
        in_scratch : sequence of int
            Nodes with values that the caller leaves at the beginning of the scratch.
        reserved : int
            Number of scratch entries after these that the program may not write to.
        in_core : bool, optional
            Whether the program serves the core group, in which functions are longer; None: it does if it is brief.
        """
        values = {node: Operand(Entry(SCRATCH, i)) for i, node in enumerate(in_scratch)}
        program = straight_line(self.g, derived, {**self.leaves, **values}, self.n)
        whole = is_brief(program) if in_core is None else in_core
        return self.of_program(name, program, len(in_scratch) + reserved, whole)

    def of_program(self, name: str, program: Program, first: int, in_core: bool) -> Straight:
        """A function of a program that may write to scratch from entry ``first`` on."""
        function = Straight(name, cut(program, first, in_core, self.in_lanes), program.fails)
        self.by_name[name] = function
        return function

    def once(
        self,
        name: str,
        derived: Derived,
        in_scratch: Sequence[int] = (),
        reserved: int = 0,
        in_core: bool | None = False,
    ) -> str:
        """Name of a function of one program, made if it does not exist yet."""
        if name not in self.by_name:
            self.straight(name, derived, in_scratch, reserved, in_core)
        return name

    def solved(self, name: str, solver: str, members: Mapping[str, Member], *sizes: int) -> Solved:
        function = Solved(name, solver, members, sizes)
        self.by_name[name] = function
        return function

    def along(
        self,
        name: str,
        roots: Sequence[int],
        known: Sequence[int],
        seeds: Sequence[int],
        room: int,
        in_core: bool | None,
    ) -> str:
        """Name of the directional derivative; scratch holds [known values, directions, ``room`` for results]."""
        if name not in self.by_name:
            function = self.straight(name, Derived(tuple(roots)), [*known, *seeds], room, in_core)
            self.by_name[name] = replace(function, directions=range(len(known), len(known) + len(seeds)))
        return name
