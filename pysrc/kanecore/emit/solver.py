# SPDX-License-Identifier: BSD-3-Clause
"""C text of what is not one straight line: u̇ with constraints, multipliers, the way back to the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanecore.derive.derivation import Derivation, Kernel

from .function import Function

__all__ = ["Solver"]

_HEAD = "static int {name}(double t, const double *x, const double *r, const double *c, double *w, double *out)\n"


class Solver:
    """Functions of one model, each with how many doubles of ``w`` it uses.

    Parameters
    ----------
    leaves : mapping
        Node to C expression, as for :class:`Function`.
    rank : str
        C expression of the number of rows of G that count.
    """

    def __init__(self, derivation: Derivation, leaves: Mapping[int, str], rank: str) -> None:
        self.derivation, self.leaves, self.rank = derivation, leaves, rank
        self.d, self.g = derivation.description, derivation.graph
        self.n = len(self.d.speeds)
        self.needed = bool(self.d.constraints)
        self.fails = True
        self.mass_matrix_width: int | None = None  # of w, where the text has body_mass_matrix
        self._udot_width = 0
        self._written = False  # whether body_multipliers is
        self._given: dict[str, tuple[int, int]] = {}  # kernels after u̇: how much they need, how much they give

    def _function(self, name: str, roots: Sequence[int], leaves: Mapping[int, str], first: int) -> tuple[str, int]:
        return Function(self.g, Kernel(tuple(roots)), leaves, self.n).text(name, first)

    # -------------------------------------------------------------------- udot
    def udot(self) -> tuple[str, int]:
        """``body_udot``."""
        solving = self.derivation.solving
        if solving is None:
            function = Function(self.g, self.derivation.kernel("udot"), self.leaves, self.n)
            self.fails = function.fails
            text, self._udot_width = function.text("body_udot")
            return text, self._udot_width
        n, m = len(solving.speeds), len(solving.rows)
        start = len(solving.system)
        held = {node: f"w[{start + i}]" for i, node in enumerate(solving.known)}
        unknown = start + len(solving.known)
        system, a = self._function("system_udot", (*solving.system, *solving.known), self.leaves, unknown)
        leaves = {**self.leaves, **held, **{v: f"w[{unknown + i}]" for i, v in enumerate(solving.unknowns)}}
        result, b = self._function("result_udot", solving.result, leaves, unknown + n)
        eliminated = self.n - n
        space = unknown + n
        f, jacobian, bias = n * n, n * n + n, n * n + n + m * n
        body = f"""\
{_HEAD.format(name="body_udot")}{{
    enum {{ n = {n}, m = {m} }};
    static const int speeds[n] = {_list(solving.speeds)}, rows[m] = {_list(solving.rows)};
    int column[n], order[m];
    system_udot(t, x, r, c, w, w);
    const double noise = kc_noise({self.n}, x + {len(self.d.coordinates)});
    kc_cancel(n, m, w + {jacobian}, w + {bias}, w + {bias + m});
    const int row = kc_constrained(n, m, 1, (int){self.rank} - {eliminated}, 1, noise, w, w + {f}, w + {jacobian},
                                   w + {bias}, w + {space}, column, order, w + {unknown});
    if (KC_UNLIKELY(row >= 0)) return row < n ? speeds[row] : {self.n} + rows[row - n];
    return result_udot(t, x, r, c, w, out);
}}

"""
        self._udot_width = max(a, b, space + 2 * n * n)
        return system + result + body, self._udot_width

    def after_udot(self, name: str, kernel: Kernel) -> tuple[str, int, int]:
        """A kernel in which the accelerations, and the multipliers, are those of the model; and its length."""
        if name == "multipliers":
            return self.multipliers()
        n = self.n
        text, used, m = self.multipliers() if kernel.with_multipliers else ("", 0, 0)
        found = [*self.d.accelerations, *(self.derivation.multiplier_symbols if m else ())]
        leaves = {**self.leaves, **{node: f"w[{i}]" for i, node in enumerate(found)}}
        part, width = self._function(f"part_{name}", kernel.roots, leaves, n + m)
        more = f"\n    if (row < 0) row = body_multipliers(t, x, r, c, w + {n + m}, w + {n});" if m else ""
        body = f"""\
{_HEAD.format(name=f"body_{name}")}{{
    int row = body_udot(t, x, r, c, w + {n + m}, w);{more}
    return row >= 0 ? row : part_{name}(t, x, r, c, w, out);
}}

"""
        return text + part + body, max(width, n + m + max(used, self._udot_width)), len(kernel.roots)

    def multipliers(self) -> tuple[str, int, int]:
        """``body_multipliers``, once; how many doubles of ``w`` it uses, and the length of its result."""
        n, m = self.n, len(self.derivation.constraints.rows)
        kernel = self.derivation.kernel("multipliers")
        leaves = {**self.leaves, **{a: f"w[{i}]" for i, a in enumerate(self.d.accelerations)}}
        part, width = self._function("part_multipliers", kernel.roots, leaves, n)
        space = max(width, n + self._udot_width)
        body = f"""\
{_HEAD.format(name="body_multipliers")}{{
    enum {{ n = {n}, m = {m} }};
    int column[n], order[m];
    double *const G = w + {space};
    const int row = body_udot(t, x, r, c, w + n, w);
    if (KC_UNLIKELY(row >= 0)) return row;
    part_multipliers(t, x, r, c, w, G);
    return kc_multipliers(n, m, (int){self.rank}, 1, G, G + m * n, G + m * n + n, column, order, out);
}}

"""
        text, self._written = ("" if self._written else part + body), True
        return text, space + m * n + n + m * m, m

    # ----------------------------------------------------------- stabilization
    def stabilization(self) -> tuple[str, int]:
        """``body_stabilization``: u̇ that leads back to the constraints, of least mass-weighted size, one unknown a row.

        Rows that are redundant are left to themselves: off the constraints they contradict the others.
        """
        kernel = self.derivation.kernel("stabilization")
        n, m = self.n, len(self.derivation.constraints.rows)
        text, width = self._function("system_stabilization", kernel.roots, self.leaves, len(kernel.roots))
        force = len(kernel.roots)
        space = force + 2 * n
        body = f"""\
{_HEAD.format(name="body_stabilization")}{{
    enum {{ n = {n}, m = {m} }};
    int column[n], order[m];
    double *const G = w + n * n, *const f = w + {force}, *const a = w + {space + 2 * n * n};
    system_stabilization(t, x, r, c, w, w);
    for (int i = 0; i < 2 * n; i++) f[i] = 0.0;
    const int row = kc_constrained(n, m, 2, (int){self.rank}, -1, 0.0, w, f, G, G + m * n,
                                   w + {space}, column, order, a);
    if (KC_UNLIKELY(row >= 0)) return row;
    for (int i = 0; i < n; i++) out[i] = a[2 * i], out[n + i] = a[2 * i + 1];
    return -1;
}}

"""
        return text + body, max(width, space + 2 * n * n + 2 * n)

    # --------------------------------------------------------------- linearize
    def linearize(self) -> tuple[str, int]:
        """``body_linearize``: ∂ẋ/∂(q, u, r), row by row."""
        d, n, parts = self.d, self.n, self.derivation.linearization
        m = len(self.derivation.multiplier_symbols)
        n_q = len(d.coordinates)
        columns, height = n_q + n + len(d.inputs), n_q + n + m
        self.needed = True
        found = [*d.accelerations, *self.derivation.multiplier_symbols, *parts.seeds]
        leaves = {**self.leaves, **{node: f"w[{i}]" for i, node in enumerate(found)}}
        start = len(found)  # M, G, then the slopes of q̇, R and S
        slopes = start + n * n + m * n
        balance = slopes + n_q * columns
        levels = balance + n * columns
        end = slopes + height * columns
        if parts.seeds:
            column, width = self._function("column_linearize", parts.slopes, leaves, end + height)
            if self.mass_matrix_width is None:
                system, used = self._function("system_linearize", parts.system, leaves, end)
                calls = [f"system_linearize(t, x, r, c, w, w + {start});"]
            else:
                system, used = self._function("system_linearize", parts.system[n * n :], leaves, end)
                calls = [
                    f"body_mass_matrix(t, x, r, c, w + {end}, w + {start});",
                    f"system_linearize(t, x, r, c, w, w + {start + n * n});",
                ]
                used = max(used, end + self.mass_matrix_width)
            part, width = system + column, max(width, used)
            fill = f"""\
{" ".join(calls)}
    for (int j = 0; j < columns; j++) w[n + m + j] = 0.0;
    for (int j = 0; j < columns; j++) {{
        w[n + m + j] = 1.0;
        column_linearize(t, x, r, c, w, w + {end});
        w[n + m + j] = 0.0;
        for (int i = 0; i < {height}; i++) w[{slopes} + i * columns + j] = w[{end} + i];
    }}"""
        else:
            part, width = self._function("part_linearize", (*parts.system, *parts.slopes), leaves, end)
            fill = f"part_linearize(t, x, r, c, w, w + {start});"
        text, used = "", n + self._udot_width
        solve = f"row = body_udot(t, x, r, c, w + {start}, w);"
        if m:
            text, used, _ = self.multipliers()
            solve += f"\n    if (row < 0) row = body_multipliers(t, x, r, c, w + {start}, w + n);"
        body = f"""\
{_HEAD.format(name="body_linearize")}{{
    enum {{ n_q = {n_q}, n = {n}, m = {m}, columns = {columns} }};
    int column[n], order[{max(m, 1)}], row;
    {solve}
    if (KC_UNLIKELY(row >= 0)) return row;
    {fill}
    for (int i = 0; i < n_q * columns; i++) out[i] = w[{slopes} + i];
    return kc_constrained(n, m, columns, {f"(int){self.rank}" if m else "0"}, 1, INFINITY, w + {start}, w + {balance},
                          w + {start + n * n}, w + {levels}, w + {end}, column, order, out + n_q * columns);
}}

"""
        return text + part + body, max(width, start + used, end + 2 * n * n)

    # ----------------------------------------------------------------- project
    def project(self) -> tuple[str, int]:
        """``body_project``: the nearest state on the constraints, weighted by mass."""
        position, velocity, direction = self.derivation.projections
        c, n, n_q = self.derivation.constraints, self.n, len(self.d.coordinates)
        m_q, m_u = len(c.configuration), len(c.values)
        m = max(m_q, m_u, 1)
        size = max(n * n + m * n + m, n_q)
        first = n_q + n + n + size + n
        leaves = {
            node: text.replace("x[", "w[") if text.startswith("x[") else text for node, text in self.leaves.items()
        }
        leaves = {**leaves, **{a: f"w[{n_q + n + i}]" for i, a in enumerate(self.d.accelerations)}}
        texts, width = [], first + 2 * n * n
        unit = "".join(
            f"    {{ const double size = sqrt({' + '.join(f'w[{i}] * w[{i}]' for i in places)});\n      "
            + " ".join(f"w[{i}] /= size;" for i in places)
            + " }\n"
            for places in self.d.unit
        )
        for name, kernel in (("position", position), ("velocity", velocity), ("direction", direction)):
            text, used = self._function(f"{name}_project", kernel.roots, leaves, first)
            texts.append(text)
            width = max(width, used)
        body = f"""\
{_HEAD.format(name="body_project")}{{
    enum {{ n_q = {n_q}, n = {n}, m = {m} }};
    int column[n], order[m];
    double *const a = w + n_q + n, *const system = a + n, *const f = system + {size}, *const W = f + n;
    for (int i = 0; i < n_q + n; i++) w[i] = x[i];
{unit}    for (int level = 0; level < 2; level++) {{
        const int rows = level == 0 ? {m_q} : {m_u}, most = rows < (int){self.rank} ? rows : (int){self.rank};
        double before = DBL_MAX;
        while (rows > 0) {{
            double *const G = system + n * n, *const g = G + rows * n;
            level == 0 ? position_project(t, x, r, c, w, system) : velocity_project(t, x, r, c, w, system);
            int worst = 0;
            const double error = kc_residual(n, rows, G, g, &worst);
            if (!(error < 0.5 * before) || error == 0.0) {{
                if (!(error <= KC_FEASIBLE)) return n + worst + (level == 0 ? {len(c.rows)} : 0);
                break;
            }}
            before = error;
            for (int i = 0; i < n; i++) f[i] = 0.0;
            const int row = kc_constrained(n, rows, 1, most, -1, 0.0, system, f, G, g, W, column, order, a);
            if (KC_UNLIKELY(row >= 0)) return row < n || level > 0 ? row : row + {len(c.rows)};
            if (level == 0) {{
                direction_project(t, x, r, c, w, system);
                for (int i = 0; i < n_q; i++) w[i] += system[i];
{unit}            }} else {{
                for (int i = 0; i < n; i++) w[n_q + i] += a[i];
            }}
        }}
    }}
    for (int i = 0; i < n_q + n; i++) out[i] = w[i];
    return -1;
}}

"""
        return "".join(texts) + body, width


def _list(numbers: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"
