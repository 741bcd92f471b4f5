# SPDX-License-Identifier: BSD-3-Clause
# Calls from the extension to the class of Python above it; included by _library.pyx.

cdef class Hooks:
    """Methods that the extension calls where it needs more than open libraries; `CompiledModel` overrides them.

    Without it libraries are used as they are: nothing is compiled, and no constraint is looked at.
    """

    def _find(self, kernel):
        """Open the library of a kernel that no open library holds, or do nothing; called before an error."""

    def _find_lanes(self, kernel):
        """Open the library that holds a kernel for several states; called once for a kernel, before a large batch."""

    def _why_not(self, kernel):
        """Missing part of the description that a kernel needs, or None; called for the error that it is missing."""
        return self._table_info.get("missing", {}).get(kernel)

    @property
    def _baked(self):
        """Names of parameters that became constants of the C text; asked for the error that a name is unknown."""
        return ()

    def _count_near(self, t, x, r, p):
        """Number of independent rows of G at states on the constraints around x; called where a row is lost."""
        return self._count(p)

    def _opposed(self, t, x, r, p, row):
        """Names of the rows of G that a row contradicts at x; called for the error that constraints contradict."""
        return ()

    def _load_fault(self, t, x, r, p, unended):
        """Reason why loads that depend on reactions have no solution at x; called for the error that they have none."""
        return "its loads depend on reactions, and none are connected with those without friction"

    def _nonholonomic(self, kind, t, x, udot, remainder, out, values):
        """Results of the kernel ``kind`` in the independent speeds; called for nonholonomic=True."""
        raise NotImplementedError

    def _forward_dynamics_of(self, q, u, tau):
        """Result of `aba`; called for all but one state in plain arrays."""
        raise NotImplementedError

    def _split(self, kernel, by, t, x, udot, nonholonomic, out, values):
        """Generalized forces load by load or body by body; called for ``by=``."""
        raise NotImplementedError
