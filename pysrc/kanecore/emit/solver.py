# SPDX-License-Identifier: BSD-3-Clause
"""C text of what is not one straight line: u̇, multipliers, linearization, the way back to the constraints.

u̇ has two ways.  The short one is straight-line code, or with constraints a small system; it holds where its pivots are
large.  Elsewhere ``general_udot`` solves M, f, G and γ as they are, with pivots chosen by numbers: where a mass matrix
is not positive definite, where a pivot that was chosen on the graph is small beside its row.  It is rarely called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kanecore.derive.derivation import Derivation, Solving
from kanecore.derive.registry import Derived
from kanecore.kernels import KERNEL_GROUPS
from kanecore.program import parts as parts_of
from kanecore.program.instructions import Entry, Operand
from kanecore.program.parts import cut
from kanecore.program.straight import straight_line

from .c import C

__all__ = ["Solver"]

_ARGUMENTS = "double t, const double *x, const double *r, const double *c, double *w"
_HEAD = f"static int {{name}}({_ARGUMENTS}, double *out)\n"


class Solver:
    """The functions of one C text, ``parts`` in their order; each is written once, when it is first needed.

    Parameters
    ----------
    leaves : mapping
        Where symbols and prepared constants are found, as of `straight_line`.
    rank : str
        C expression of the number of rows of G that count.

    Attributes
    ----------
    widths : dict
        How many doubles of ``w`` each function uses.
    needed : bool
        Whether the text calls functions of ``eliminate.h``, or with constraints of ``solve.h``.
    """

    def __init__(self, derivation: Derivation, leaves: Mapping[int, Operand], rank: str) -> None:
        self.derivation, self.leaves, self.rank = derivation, leaves, rank
        self.target = C()
        self.d, self.g = derivation.description, derivation.graph
        self.n, self.n_q = len(self.d.speeds), len(self.d.coordinates)
        self.m = len(derivation.constraints.rows) if self.d.constraints else 0
        self.needed = False
        self.parts: list[str] = []
        self.widths: dict[str, int] = {}
        self._fails: dict[str, bool] = {}

    @property
    def width(self) -> int:
        return max(self.widths.values(), default=0)

    def kernel(self, name: str, kernel: Derived) -> tuple[int, bool]:
        """``body_NAME``; the length of its result, and whether it may fail."""
        n_x = self.n_q + self.n
        if name == "udot":
            return self.n, self.udot()
        if name == "project":
            self.project()
            return n_x, True
        if name == "stabilization":
            self.stabilization()
            return 2 * self.n, True
        if name == "linearize":
            self.linearize()
            return n_x * (n_x + len(self.d.inputs)), True
        if name == "multipliers":
            self.multipliers()
            return self.m, True
        if kernel.after_udot:
            self.after_udot(name, kernel)
            return len(kernel.roots), True
        self._straight(f"body_{name}", kernel)
        return len(kernel.roots), self._fails[f"body_{name}"]

    def _straight(self, name: str, kernel: Derived, leaves: Mapping[int, Operand] | None = None, first: int = 0) -> int:
        """A function of straight-line code, whose ``w`` is free from ``first`` on; how much of it it uses."""
        if name not in self.widths:
            program = straight_line(self.g, kernel, self.leaves if leaves is None else leaves, self.n)
            in_core = KERNEL_GROUPS.get(name.partition("_")[2]) == "core"  # body_udot, system_udot, ...
            parts = cut(program, first, parts_of.CHUNK if in_core else min(parts_of.CHUNK, parts_of.CHUNK_BESIDE))
            self.widths[name], self._fails[name] = parts.width, program.fails
            self.parts.append(self.target.function(name, parts))
        return self.widths[name]

    def _body(self, name: str) -> int:
        """``body_NAME`` of a kernel without u̇."""
        return self._straight(f"body_{name}", self.derivation.kernel(name))

    def _add(self, name: str, text: str, width: int) -> None:
        self.parts.append(text)
        self.widths[name], self._fails[name], self.needed = width, True, True

    # -------------------------------------------------------------------- udot
    def udot(self) -> bool:
        """``body_udot``; whether it may fail."""
        if "body_udot" in self.widths:
            return self._fails["body_udot"]
        derivation, solving = self.derivation, self.derivation.solving
        if not derivation.symmetric:
            self._general()
            call = "return general_udot(t, x, r, c, w, out);"
            self._add(
                "body_udot", f"{_HEAD.format(name='body_udot')}{{\n    {call}\n}}\n\n", self.widths["general_udot"]
            )
            return True
        if solving is not None:
            self._general()
            n = len(solving.speeds)
            start = len(solving.system)
            unknown = start + len(solving.known)
            self._straight(
                "system_udot", Derived((*solving.system, *solving.known), limits=solving.limits), first=unknown
            )
            leaves = {**self.leaves, **_scratch(solving.known, start), **_scratch(solving.unknowns, unknown)}
            self._straight("result_udot", Derived(solving.result), leaves, unknown + n)
            self._solving("body_udot", solving, [], unknown, "return result_udot(t, x, r, c, w, out);")
            return True
        kernel = derivation.kernel("udot")
        if not straight_line(self.g, kernel, self.leaves, self.n).fails:
            self._straight("body_udot", kernel)
            return False
        self._general()
        self._straight("short_udot", kernel)
        body = f"""\
{_HEAD.format(name="body_udot")}{{
    const int row = short_udot(t, x, r, c, w, out);
    if (KC_UNLIKELY(row >= 0)) {{
        const int other = general_udot(t, x, r, c, w, out);
        return other >= {self.n} ? other : other >= 0 ? row : -1;
    }}
    return -1;
}}

"""
        self._add("body_udot", body, max(self.widths["short_udot"], self.widths["general_udot"]))
        return True

    def headers(self, elimination: Sequence[Path], solver: Path) -> list[Path]:
        """What the functions call."""
        return [*elimination, *([solver] if self.d.constraints else [])] if self.needed else []

    def _general(self) -> None:
        """``general_udot``: from M, f, G and γ of all speeds and rows."""
        solving, n, m = self.derivation.general, self.n, self.m
        sizes = (("mass_matrix", n * n), ("forcing", n), ("constraint_jacobian", m * n), ("constraint_bias", m))
        place, calls = 0, []
        for name, size in sizes:
            if size:
                self._body(name)
                calls.append((f"body_{name}", place))
            place += size
        if not m:
            self._eliminating(place)
            return
        self._straight("body_constraint_sums", Derived(solving.system[place:]))
        calls.append(("body_constraint_sums", place))
        self._solving("general_udot", solving, calls, len(solving.system), "")

    def _eliminating(self, place: int) -> None:
        """The same without constraints."""
        n, scratch = self.n, place + 2 * self.n
        body = f"""\
KC_COLD int general_udot({_ARGUMENTS}, double *out)
{{
    int place[{n}];
    body_mass_matrix(t, x, r, c, w + {scratch}, w);
    body_forcing(t, x, r, c, w + {scratch}, out);
    return kc_eliminate({n}, 1, w, out, w + {place}, place);
}}

"""
        used = max(self.widths["body_mass_matrix"], self.widths["body_forcing"])
        self._add("general_udot", body, scratch + used)

    def _solving(
        self, name: str, solving: Solving, calls: Sequence[tuple[str, int]], unknown: int, result: str
    ) -> None:
        """A function that fills a system, solves it, and makes u̇ of the solution at ``w[unknown]``."""
        n, m, every = len(solving.speeds), len(solving.rows), len(solving.speeds) == self.n
        f, jacobian, bias, sums = n * n, n * n + n, n * n + n + m * n, n * n + n + m * n + m
        room = unknown + n
        size, scratch = room, room + m + n + n * n + n + n * n
        used = [self.widths[body] for body, _ in calls]
        fill = [f"{body}(t, x, r, c, w + {scratch}, w + {at});" for body, at in calls]
        if not calls:
            fill = ["if (KC_UNLIKELY(system_udot(t, x, r, c, w, w) >= 0)) return general_udot(t, x, r, c, w, out);"]
            used = [self.widths["system_udot"] - scratch, self.widths["general_udot"] - scratch]
            used.append(self.widths["result_udot"] - scratch)
        used += [self._straight(f"doubt_{name}", Derived(solving.doubt)), self._state()]
        names = (
            ""
            if every
            else (f"    static const int speeds[n] = {_list(solving.speeds)}, rows[m] = {_list(solving.rows)};\n")
        )
        known = "0, 0" if every else "speeds, rows"
        finish = result or "for (int i = 0; i < n; i++) out[i] = w[" + str(unknown) + " + i];\n    return -1;"
        kind, solve = ("KC_COLD int", "kc_solve_shared") if calls else ("static int", "kc_solve")
        symmetric = 0 if calls else int(self.derivation.symmetric)  # what is symmetric has failed the short way
        body = f"""\
{kind} {name}({_ARGUMENTS}, double *out)
{{
    enum {{ n = {n}, m = {m} }};
{names}    int column[n], order[m], place[n], row;
    kc_equations e = {{.n = n, .m = m, .k = 1, .symmetric = {symmetric}}};
    e.count = (int){self.rank} - {self.n - n}, e.bears = KC_CONTRADICTORY;
    e.column = column, e.order = order, e.place = place;
    e.M = w, e.f = w + {f}, e.G = w + {jacobian}, e.g = w + {bias};
    e.size = w + {size}, e.d = e.size + m, e.W = e.d + n, e.reduced = e.W + n * n + n;
    for (int doubting = 0;; doubting = 1) {{
        {f"{chr(10)}        ".join(fill)}
        kc_weigh(&e, e.M, n + 1);
        kc_cancel(&e, w + {sums}, KC_RANK);
        if (doubting) {{
            const double off = off_constraints(t, x, r, c, w + {scratch});
            e.bears = kc_max(KC_CONTRADICTORY, off > KC_SOLVED ? KC_EXPLAINED * off : 0.0);
            doubt_{name}(t, x, r, c, w + {scratch}, e.size);
        }} else
            for (int i = 0; i < m; i++) e.size[i] = fabs(e.g[i]);
        row = {solve}(&e, w + {unknown});
        if (row < KC_CONTRADICTS || doubting) break;
    }}
    if (KC_UNLIKELY(row >= 0)) return kc_named({self.n}, row, {known});
    {finish}
}}

"""
        self._add(name, body, scratch + max([0, *used]))

    def _state(self) -> int:
        """``off_constraints``: how far a state is off its constraints, beside their terms."""
        if "off_constraints" not in self.widths:
            c = self.derivation.constraints
            m = len(c.configuration) + len(c.values)
            values = Derived((*c.configuration, *c.values, *c.sizes))
            used = self._straight("state_constraints", values)
            body = f"""\
static double off_constraints({_ARGUMENTS})
{{
    int worst = 0;
    state_constraints(t, x, r, c, w + {2 * m}, w);
    return kc_residual({m}, w, w + {m}, &worst);
}}

"""
            self._add("off_constraints", body, 2 * m + used)
        return self.widths["off_constraints"]

    # -------------------------------------------------------------- after udot
    def after_udot(self, name: str, kernel: Derived) -> None:
        """A kernel in which the accelerations, and the multipliers, are those of the model."""
        self.udot()
        n, m = self.n, self.m if kernel.with_multipliers else 0
        if m:
            self.multipliers()
        found = [*self.d.accelerations, *(self.derivation.multiplier_symbols if m else ())]
        leaves = {**self.leaves, **_scratch(found)}
        width = self._straight(f"part_{name}", Derived(kernel.roots), leaves, n + m)
        more = f"\n    if (row < 0) row = body_multipliers(t, x, r, c, w + {n + m}, w + {n});" if m else ""
        body = f"""\
{_HEAD.format(name=f"body_{name}")}{{
    int row = body_udot(t, x, r, c, w + {n + m}, w);{more}
    return row >= 0 ? row : part_{name}(t, x, r, c, w, out);
}}

"""
        used = max(self.widths["body_multipliers"] if m else 0, self.widths["body_udot"])
        fails = self._fails["body_udot"] or bool(m)
        needed = self.needed
        self._add(f"body_{name}", body, max(width, n + m + used))
        self._fails[f"body_{name}"], self.needed = fails, needed or fails

    def multipliers(self) -> None:
        """``body_multipliers``."""
        if "body_multipliers" in self.widths:
            return
        self.udot()
        n, m = self.n, self.m
        kernel = self.derivation.kernel("multipliers")
        leaves = {**self.leaves, **_scratch(self.d.accelerations)}
        space = max(self._straight("part_multipliers", kernel, leaves, n), n + self.widths["body_udot"])
        balance, weights, sums = m * n, m * n + n, m * n + 2 * n
        room = sums + m * n
        body = f"""\
{_HEAD.format(name="body_multipliers")}{{
    enum {{ n = {n}, m = {m} }};
    int column[n], order[{max(m, 1)}];
    double *const G = w + {space}, *const b = G + {balance};
    kc_equations e = {{.n = n, .m = m, .count = (int){self.rank}}};
    e.G = G, e.g = b, e.d = G + {room}, e.combine = e.d + n, e.column = column, e.order = order;
    const int row = body_udot(t, x, r, c, w + n, w);
    if (KC_UNLIKELY(row >= 0)) return row;
    part_multipliers(t, x, r, c, w, G);
    kc_weigh(&e, G + {weights}, 1);
    kc_cancel(&e, G + {sums}, KC_RANK);
    for (int i = 0; i < n; i++) b[i] *= e.d[i];
    const int lost = kc_multipliers(&e, b, out);
    return lost >= 0 ? kc_named(n, lost, 0, 0) : -1;
}}

"""
        self._add("body_multipliers", body, space + room + n + m * m)

    # ----------------------------------------------------------- stabilization
    def stabilization(self) -> None:
        """``body_stabilization``: u̇ that leads back to the constraints, of least mass-weighted size, one unknown a row.

        Rows that are redundant are left to themselves: off the constraints they contradict the others.
        """
        kernel = self.derivation.kernel("stabilization")
        n, m = self.n, self.m
        force = len(kernel.roots)
        width = self._straight("system_stabilization", kernel, first=force)
        d = force + 2 * n
        body = f"""\
{_HEAD.format(name="body_stabilization")}{{
    enum {{ n = {n}, m = {m} }};
    int column[n], order[{max(m, 1)}], place[n];
    double *const a = w + {d + 2 * n * n + 2 * n};
    kc_equations e = {{.n = n, .m = m, .k = 2, .count = (int){self.rank}, .lenient = 1, .symmetric = 1}};
    e.M = w, e.G = w + n * n, e.g = e.G + m * n, e.f = w + {force}, e.d = w + {d}, e.W = e.d + n;
    e.reduced = e.W + n * n + n, e.column = column, e.order = order, e.place = place;
    system_stabilization(t, x, r, c, w, w);
    for (int i = 0; i < 2 * n; i++) e.f[i] = 0.0;
    kc_weigh(&e, e.M, n + 1);
    kc_cancel(&e, e.g + 2 * m, KC_RANK);
    const int row = kc_solve_shared(&e, a);
    if (KC_UNLIKELY(row >= 0)) return row;
    for (int i = 0; i < n; i++) out[i] = a[2 * i], out[n + i] = a[2 * i + 1];
    return -1;
}}

"""
        self._add("body_stabilization", body, max(width, d + 2 * n * n + 4 * n))

    # --------------------------------------------------------------- linearize
    def linearize(self) -> None:
        """``body_linearize``: ∂ẋ/∂(q, u, r), row by row."""
        d, n, m, parts = self.d, self.n, self.m, self.derivation.linearization
        n_q, every = self.n_q, n * n + m * n
        columns, height = n_q + n + len(d.inputs), n_q + n + m
        if m:
            self.multipliers()
        else:
            self.udot()
        found = [*d.accelerations, *self.derivation.multiplier_symbols, *parts.seeds]
        leaves = {**self.leaves, **_scratch(found)}
        start = len(found)  # M, G, what the entries of G are sums of, then the slopes of q̇, R and S
        slopes = start + every + m * n
        balance = slopes + n_q * columns
        levels = balance + n * columns
        end = slopes + height * columns
        if parts.seeds:
            self._body("mass_matrix")
            width = self._straight("column_linearize", Derived(parts.slopes), leaves, end + height)
            calls = [f"body_mass_matrix(t, x, r, c, w + {end}, w + {start});"]
            used = end + self.widths["body_mass_matrix"]
            if m:
                used = max(used, self._straight("system_linearize", Derived(parts.system[n * n :]), leaves, end))
                calls.append(f"system_linearize(t, x, r, c, w, w + {start + n * n});")
            width = max(width, used)
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
            width = self._straight("part_linearize", Derived((*parts.system, *parts.slopes)), leaves, end)
            fill = f"part_linearize(t, x, r, c, w, w + {start});"
        solve = f"row = body_udot(t, x, r, c, w + {start}, w);"
        if m:
            solve += f"\n    if (row < 0) row = body_multipliers(t, x, r, c, w + {start}, w + n);"
        used = self.widths["body_multipliers" if m else "body_udot"]
        solution = f"""\
    kc_equations e = {{.n = n, .m = m, .k = columns, .count = (int){self.rank}}};
    e.symmetric = {int(self.derivation.symmetric)}, e.column = column, e.order = order, e.place = place;
    e.M = w + {start}, e.G = e.M + n * n, e.f = w + {balance}, e.g = w + {levels};
    e.d = w + {end}, e.W = e.d + n, e.reduced = e.W + n * n + n;
    kc_weigh(&e, e.M, n + 1);
    kc_cancel(&e, w + {start + every}, KC_RANK);
    row = kc_solve_shared(&e, out + n_q * columns);
    return row >= 0 ? kc_named(n, row, 0, 0) : -1;"""
        if not m:
            solution = f"""\
    for (int i = 0; i < n * columns; i++) out[n_q * columns + i] = w[{balance} + i];
    return kc_eliminate(n, columns, w + {start}, out + n_q * columns, w + {end}, place);"""
        integers = f"column[n], order[{m}], place[n], row" if m else "place[n], row"
        body = f"""\
{_HEAD.format(name="body_linearize")}{{
    enum {{ n_q = {n_q}, n = {n}, m = {m}, columns = {columns} }};
    int {integers};
    {solve}
    if (KC_UNLIKELY(row >= 0)) return row;
    {fill}
    for (int i = 0; i < n_q * columns; i++) out[i] = w[{slopes} + i];
{solution}
}}

"""
        self._add("body_linearize", body, max(width, start + used, end + 2 * n * n + 2 * n))

    # ----------------------------------------------------------------- project
    def project(self) -> None:
        """``body_project``: the nearest state on the constraints, weighted by mass."""
        parts, c, n, n_q = self.derivation.projections, self.derivation.constraints, self.n, self.n_q
        m_q, m_u = len(c.configuration), len(c.values)
        m, most = max(m_q, m_u, 1), max(n, n_q)
        # x and a; M, G, g, the sizes of g and the sums of G; then what the solver needs
        system = n_q + n + most
        size = system + most * most + 2 * m * most + 2 * m
        d = size + m + 2 * most
        first = d + 2 * most * most + 2 * most
        # the state that is brought back, in place of x
        leaves = {**self.leaves, **_scratch([*self.d.coordinates, *self.d.speeds, *self.d.accelerations])}
        width = first
        unit = "".join(
            f"    {{ const double size = sqrt({' + '.join(f'w[{i}] * w[{i}]' for i in places)});\n      "
            + " ".join(f"w[{i}] /= size;" for i in places)
            + " }\n"
            for places in self.d.unit
        )
        for name, kernel in parts.items():
            width = max(width, self._straight(f"{name}_project", kernel, leaves, first))
        body = f"""\
{_HEAD.format(name="body_project")}{{
    enum {{ n_q = {n_q}, n = {n}, m_q = {m_q}, m_u = {m_u}, most = {most} }};
    int column[most], order[{m}], place[most], worst = 0;
    double *const a = w + n_q + n, *const system = w + {system}, *const size = w + {size};
    double *const f = size + {m}, *const scale = f + most;
    for (int i = 0; i < n_q + n; i++) w[i] = x[i];
{unit}    for (int level = 0; level < 2; level++) {{
        const int rows = level == 0 ? m_q : m_u;
        int directly = 0; /* q moves along all of the slopes of phi, where no motion leads back */
        double before = DBL_MAX;
        for (int i = 0; i < rows; i++) size[i] = 0.0;
        while (rows > 0) {{
            kc_equations e = {{.n = n, .m = rows, .k = 1, .lenient = 1, .symmetric = 1}};
            /* a small row or pivot would move much for little: there q moves directly */
            e.count = level == 0 ? directly * rows : rows < (int){self.rank} ? rows : (int){self.rank};
            e.M = system, e.G = e.M + n * n, e.g = e.G + rows * n, e.f = f, e.d = w + {d}, e.W = e.d + most;
            e.reduced = e.W + most * most + most, e.column = column, e.order = order, e.place = place;
            level == 0 ? position_project(t, x, r, c, w, system) : velocity_project(t, x, r, c, w, system);
            /* what a row was summed from at first: on the way its terms may vanish, or grow beyond all bounds */
            for (int i = 0; i < rows; i++)
                if (size[i] == 0.0) size[i] = e.g[rows + i];
            const double error = kc_residual(rows, e.g, size, &worst);
            if (!(error < 0.5 * before) || error == 0.0) {{
                if (error <= (level > 0 || directly ? KC_SOLVED : KC_REACHED)) break;
                if (level > 0 || directly || !(error < DBL_MAX)) return n + worst + (level == 0 ? {len(c.rows)} : 0);
                directly = 1;
            }}
            before = error;
            for (int i = 0; i < most; i++) f[i] = 0.0;
            kc_weigh(&e, e.M, n + 1);
            if (directly) {{
                /* each coordinate in units of the motion that unit weights give it */
                for (int j = 0; j < n_q; j++) scale[j] = 0.0;
                for (int k = 0; k < n; k++) {{
                    for (int j = 0; j < n; j++) a[j] = j == k ? e.d[k] : 0.0;
                    direction_project(t, x, r, c, w, e.W);
                    for (int j = 0; j < n_q; j++) scale[j] += e.W[j] * e.W[j];
                }}
                for (int i = 0; i < rows; i++) e.W[i] = e.g[i];
                e.n = n_q, e.G = system + n_q * n_q, e.g = e.G + rows * n_q;
                for (int i = 0; i < rows; i++) e.g[i] = e.W[i];
                slopes_project(t, x, r, c, w, e.G);
                for (int j = 0; j < n_q; j++) {{
                    scale[j] = sqrt(scale[j]);
                    for (int i = 0; i < rows; i++) e.G[i * n_q + j] *= scale[j];
                    for (int i = 0; i < n_q; i++) e.M[i * n_q + j] = i == j;
                    e.d[j] = 1.0;
                }}
            }} else
                kc_cancel(&e, e.g + 2 * rows, level == 0 ? KC_INDEPENDENT : KC_RANK);
            const int row = kc_solve_shared(&e, a);
            if (KC_UNLIKELY(row >= 0)) {{
                if (level > 0 || directly) return row;
                directly = 1, before = DBL_MAX; /* what phi leaves free moves no mass */
                continue;
            }}
            if (level > 0)
                for (int i = 0; i < n; i++) w[n_q + i] += a[i];
            else if (directly)
                for (int j = 0; j < n_q; j++) w[j] += scale[j] * a[j];
            else {{
                direction_project(t, x, r, c, w, system);
                for (int i = 0; i < n_q; i++) w[i] += system[i];
            }}
{unit}        }}
    }}
    for (int i = 0; i < n_q + n; i++) out[i] = w[i];
    return -1;
}}

"""
        self._add("body_project", body, width)

    # ------------------------------------------------------------------- count
    def count(self, slot: str) -> str:
        """Statements of ``prepare`` that count the rows of G; kept to C text whose stack is modest."""
        derivation, c, n, n_q = self.derivation, self.derivation.constraints, self.n, self.n_q
        m, m_q, m_u, n_r = len(c.rows), len(c.configuration), len(c.values), len(self.d.inputs)
        if not derivation.counted:
            return f"{slot} = {derivation.eliminated}.0;"
        self.needed = True
        names = {"G": "constraint_jacobian", "sizes": "constraint_sizes", "phi": "configuration_residual"}
        names |= {"slopes": "configuration_jacobian", "c": "velocity_residual"}
        used = [self._body(name) for name in names.values() if derivation.kernel(name).roots]
        used.append(self._straight("body_weights", Derived(tuple(derivation.weights))))
        bodies = "".join(f", .{field} = body_{name}" for field, name in names.items() if derivation.kernel(name).roots)
        places = [i for quaternion in self.d.unit for i in quaternion]
        unit = f"static const uint32_t unit[] = {_list(places)};\n    " if places else ""
        guess = dict(self.d.guess)
        near = ", ".join(repr(guess[i]) if i in guess else "NAN" for i in range(n_q + n))
        return f"""\
{unit}static const double guess[] = {{{near}}};
    const kc_closure closure = {{.n_q = {n_q}, .n_u = {n}, .n_r = {n_r}, .m_q = {m_q}, .m_u = {m_u}, .m = {m},
                                .n_unit = {len(self.d.unit)}, .unit = {"unit" if places else 0},
                                .linear = {int(c.linear)}, .weights = body_weights{bodies}}};
    double w[KC_COUNT_ROOM({n_q}, {n}, {n_r}, {m_q}, {m}) + {max(used)}];
    int column[{max(n, n_q)}], order[{max(m, m_q)}];
    {slot} = kc_count(&closure, guess, c, w, column, order);"""


def _scratch(nodes: Sequence[int], first: int = 0) -> dict[int, Operand]:
    """Nodes that stand in ``w``."""
    return {node: Operand(Entry("w", first + i)) for i, node in enumerate(nodes)}


def _list(numbers: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"
