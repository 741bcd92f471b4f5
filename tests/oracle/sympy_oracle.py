# SPDX-License-Identifier: BSD-3-Clause
"""What SymPy's KanesMethod says of a system, in numbers of 30 digits.

The equations are SymPy's own, as derived; the numbers are mpmath's.  Nothing of the package under test is used.
"""

from typing import Any

import mpmath
import sympy as sm
import sympy.physics.mechanics as me

#: Working precision: the results are good to 30 digits as long as fewer than 20 cancel.
DIGITS = 50

t = me.dynamicsymbols._t


class KaneOracle:
    """M, f, u̇ and q̇ of an unconstrained system by SymPy's KanesMethod.

    ``system`` has ``frame, q, u, kdes, bodies, loads`` (all velocities set) and ``parameters`` {symbol: number};
    ``inputs`` and ``prescribed`` list the dynamicsymbols that are given from outside.
    """

    def __init__(self, system: dict[str, Any]) -> None:
        self.system = system
        kane = me.KanesMethod(system["frame"], system["q"], system["u"], kd_eqs=system["kdes"])
        kane.kanes_equations(system["bodies"], system["loads"] or None)
        rates = kane.kindiffdict()
        qdot = sm.Matrix([rates[q.diff(t)] for q in system["q"]])
        self.expressions = [kane.mass_matrix, kane.forcing, qdot]
        self._arguments = self._names()
        self._evaluate = sm.lambdify(list(self._arguments), self._replaced(), modules="mpmath", cse=True)

    def _names(self) -> dict[sm.Symbol, sm.Expr]:
        """A plain symbol for every quantity that varies: {symbol: what it stands for}."""
        given = [d for theta in self.system.get("prescribed", ()) for d in (theta.diff(t, 2), theta.diff(t), theta)]
        varying = [*given, *self.system.get("inputs", ()), *self.system["q"], *self.system["u"]]
        # derivatives come first, so that theta'' is replaced before the theta inside it
        names = {sm.Dummy(f"v{k}"): value for k, value in enumerate(varying)}
        return names | {sm.Dummy("t"): t} | {sm.Dummy("p"): s for s in self.system["parameters"]}

    def _replaced(self) -> list[sm.Matrix]:
        table = {value: name for name, value in self._arguments.items()}
        return [me.msubs(e.applyfunc(evaluable), table) for e in self.expressions]

    def __call__(self, state: dict[str, Any]) -> dict[str, mpmath.matrix]:
        """M, f, qdot and, if M is regular, udot at a state.

        A state is t, q, u, inputs, and (value, rate, second rate) of what is prescribed.
        """
        with mpmath.workdps(DIGITS):
            given = [x for theta in state.get("prescribed", ()) for x in reversed(theta)]
            numbers = [*given, *state.get("inputs", ()), *state["q"], *state["u"], state["t"]]
            numbers += [float(value) for value in self.system["parameters"].values()]  # as double arithmetic has them
            M, f, qdot = self._evaluate(*(mpmath.mpf(x) for x in numbers))
            return solved({"M": M, "f": f, "qdot": qdot})


def solved(found: dict[str, mpmath.matrix]) -> dict[str, mpmath.matrix]:
    """The same with u̇, if M is regular: with the constraints taken off, a speed may move no mass."""
    try:
        return found | {"udot": mpmath.lu_solve(found["M"], found["f"])}
    except ZeroDivisionError:
        return found


def evaluable(expression: sm.Expr) -> sm.Expr:
    """The expression without functions that SymPy cannot print for mpmath."""

    def step(x: sm.Expr, at_zero: sm.Expr = sm.S.Half) -> sm.Expr:
        return sm.Piecewise((0, x < 0), (at_zero, sm.Eq(x, 0)), (1, True))

    return expression.replace(sm.Heaviside, step)


def to_doubles(result: dict[str, mpmath.matrix]) -> dict[str, list[Any]]:
    """The nearest doubles: columns as lists, M as the rows of its lower triangle (it is symmetric)."""
    M = result["M"]
    with mpmath.workdps(DIGITS):
        if mpmath.mnorm(M - M.T, mpmath.inf) > mpmath.mpf(10) ** -30 * mpmath.mnorm(M, mpmath.inf):
            raise ArithmeticError("SymPy's mass matrix is not symmetric")
    columns = {name: [float(x) for x in column] for name, column in result.items() if name != "M"}
    return {"M": [[float(M[i, k]) for k in range(i + 1)] for i in range(M.rows)]} | columns
