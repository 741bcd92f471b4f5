# SPDX-License-Identifier: BSD-3-Clause
"""Write the generated source files from `kanecore.kernels`, `.statuses`, `.tolerances` and `.graph.operations`.

Run ``python -m kanecore.build.generated_sources`` in the source folder.  The files are checked in, for readers; a test
compares them with the rows.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kanecore.graph.operations import OPERATIONS, Operation
from kanecore.kernels import KERNELS, TABLES, Kernel, first_sentence
from kanecore.statuses import STATUSES
from kanecore.tolerances import IN_C
from kanecore.whole_files import whole_file

__all__ = ["check", "generated", "main"]

_ORIGIN = "Generated from kernels.py by kanecore.build.generated_sources."
_LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
_HASH = f"# {_ORIGIN}\n# {_LICENCE}\n"
_STAR = f"/* {_ORIGIN} */\n/* {_LICENCE} */\n"
_WIDTH = 112  # width of a docstring's lines, before indentation

AXES = 3  # most axes of a result, besides leading ones: the limit of the binding

_ARGUMENTS = "t: npt.ArrayLike, x: Values"

_PXD = """\
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "kanecore.h" nogil:
    ctypedef enum kc_status:
{statuses}
    ctypedef void kc_kernel(double t, const double *x, const double *r, const double *c, double *work,
                            double *out) noexcept nogil
    ctypedef void kc_prepare(const double *p, double *c) noexcept nogil
    ctypedef void kc_single_kernel(double t, const float *x, const float *r, const float *c, float *work,
                                   float *out) noexcept nogil
    ctypedef void kc_single_prepare(const float *p, float *c) noexcept nogil
    enum:
        KC_MOST_BLOCKS
    ctypedef void kc_lane_kernel(uint32_t n_blocks, const double *t, const double *x, const double *r, const double *c,
                                 double *work, double *out, uint32_t *undone) noexcept nogil

    ctypedef struct kc_lanes:
        uint32_t struct_size, n_lanes, n_prepared, n_work
        void (*gather)(uint32_t n, const double *const *rows, double *to) noexcept nogil
        void (*scatter)(uint32_t n, const double *values, double *const *rows) noexcept nogil
        void (*gather_blocks)(uint32_t n_blocks, uint32_t n, const double *begin, int64_t step, int64_t span,
                              double *to, uint32_t length) noexcept nogil
        void (*scatter_blocks)(uint32_t n_blocks, uint32_t n, const double *values, double *to) noexcept nogil
        kc_prepare *prepare
        kc_lane_kernel *rhs     # and all others, in the order of kc_model

    ctypedef struct kc_model:
        uint32_t abi_version, struct_size
        uint32_t n_q, n_u, n_p, n_r, n_prepared, n_work
        uint32_t n_points, n_frames, n_outputs, n_joints, n_bodies, n_loads, n_potentials, n_info, n_unit, flags
        uint32_t n_constraints, n_configuration, n_velocity
        uint32_t n_auxiliary, n_q_dependent, n_u_dependent, n_z, n_reactions, n_shares
        const char *name
        const char *const *info
        const char *const *q_names
        const char *const *u_names
        const char *const *z_names
        const char *const *p_names
        const char *const *r_names
        const char *const *point_names
        const char *const *frame_names
        const char *const *output_names
        const char *const *joint_names
        const char *const *body_names
        const char *const *constraint_names
        const uint32_t *unit
        const double *p_default
        const double *r_default
        const int32_t *r_rates
        const kc_lanes *lanes
        kc_prepare *prepare
"""


def generated() -> dict[str, str]:
    """Texts of the files, by their paths in the source folder; ValueError if a row is wrong."""
    check(KERNELS)
    return {
        "kanecore/include/kc_kernels.h": _c_members(),
        "kanecore/include/kc_status.h": _c_statuses(),
        "kanecore/src/kc_tolerances.h": _c_tolerances(),
        "kanecore/src/interpreter/kc_operations.h": _c_operations(),
        "kanecore/_table.pxd": _cython_declarations(),
        "kanecore/binding/_kernel_numbers.pxi": _cython_numbers(),
        "kanecore/binding/_kernels.pxi": _cython_tables(),
        "pysrc/kanecore/binding/kernel_methods.py": _methods(),
        "pysrc/kanecore/binding/kernel_methods.pyi": _stubs(),
        "pysrc/kanecore/derive/reports/kernel_expressions.pyi": _expressions(),
        "docs/reference/kernels.md": _markdown(),
        "tests/c/kernels.inc": _c_test(),
    }


def main() -> None:
    """Write the files that are out of date, and print their names."""
    own = Path(__file__).resolve().parents[1] / "kernels.py"
    if Path("pysrc/kanecore/kernels.py").resolve() != own:
        sys.exit(
            f"the rows to be written are those of {own}, and this folder has others, or none: go to the source folder "
            "of that file, or put this folder's pysrc first in PYTHONPATH"
        )
    for path, text in generated().items():
        target = Path(path)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            with whole_file(target) as place:
                place.write_text(text, encoding="utf-8")
            print(path)


# ----------------------------------------------------------------------------------------------------------- rows
def check(kernels: Sequence[Kernel]) -> None:
    """Raise a ValueError for a wrong row."""
    of_model, of_kernels = _own_names("Model", "CompiledModel"), _own_names("ModelKernels")
    of_workspace = _own_names("Buffers")
    sizes = {"n_x", *re.findall(r"\bn_[a-z_]+", _PXD)}
    names = [kernel.name for kernel in kernels]
    for kernel in kernels:
        terms = [term for axis in (*kernel.shape, *kernel.vectors) for term in re.split(r" [+*] ", axis)]
        unknown = [term for term in terms if term not in sizes and not term.isdigit()]
        texts = (kernel.brief, kernel.doc, kernel.notes)
        for wrong, why in (
            (not re.fullmatch("[a-z][a-z0-9_]+", kernel.name), "its name is no lower-case identifier of two letters"),
            (names.count(kernel.name) > 1, "its name is that of two rows"),
            (
                kernel.name in (of_kernels if kernel.internal else of_model) and not kernel.nonholonomic,
                "its name is that of another method or attribute of the compiled model",
            ),
            (
                kernel in _in_workspace() and kernel.name in of_workspace,
                "its name is that of an attribute of the workspace",
            ),
            (
                not (kernel.internal or kernel.remainder_of) and kernel.table not in TABLES,
                f"its table of methods is {kernel.table!r}; these are {', '.join(TABLES)}",
            ),
            (bool(unknown), f"{', '.join(unknown)} is no size of a model; these are {', '.join(sorted(sizes))}"),
            (len(kernel.shape) > AXES, f"its result has more than {AXES} axes"),
            (any("*/" in text or '"""' in text for text in texts), "its text would end a comment or a docstring"),
            (kernel.doc[:1] != kernel.doc[:1].upper(), "its documentation begins with a small letter, or a symbol"),
            (kernel.field in of_workspace, f"the workspace has an attribute {kernel.field} already"),
            (
                bool(kernel.vectors) and not (kernel.internal and kernel.reads_udot and kernel.reads_multipliers),
                "vectors follow udot and the multipliers, and are for internal kernels",
            ),
            (kernel.nonholonomic and "n_u" not in kernel.shape[:2], "nonholonomic: no axis belongs to the speeds"),
        ):
            if wrong:
                raise ValueError(f"kernels.py, row {kernel.name!r}: {why}")


def _own_names(*classes: str) -> set[str]:
    """Methods and attributes that classes of the extension, and the compiled model, define by hand."""
    package = Path(__file__).resolve().parents[1]
    text = "".join((package / name).read_text(encoding="utf-8") for name in ("_binding.pyi", "compiled_model.py"))
    bodies = re.findall(rf"^class (?:{'|'.join(classes)})\b.*?:\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(bodies) == len(classes)
    return {name for body in bodies for name in re.findall(r"^    (?:def )?(\w+)(?:[(:]| = )", body, re.MULTILINE)}


def _names(kernels: Iterable[Kernel]) -> list[str]:
    return [kernel.name for kernel in kernels]


def _lines(template: str, values: Iterable[str]) -> str:
    return "".join(template.format(value) + "\n" for value in values)


def _sizes(shape: Sequence[str], write: Callable[[str], str]) -> list[str]:
    """The lengths of the axes, with each size of the model written by ``write``."""
    return [re.sub(r"n_[a-z_]+", lambda match: write(match[0]), length) for length in shape]


def _with_methods() -> list[Kernel]:
    return [kernel for kernel in KERNELS if not kernel.remainder_of]


def _remainders() -> dict[str, Kernel]:
    return {kernel.remainder_of: kernel for kernel in KERNELS if kernel.remainder_of}


def _in_workspace() -> list[Kernel]:
    return [kernel for kernel in _with_methods() if not kernel.internal and not kernel.part_of]


def _with_fields() -> list[Kernel]:
    return [kernel for kernel in KERNELS if kernel.field]


def _docstring(kernel: Kernel) -> str:
    """Lines of a method's documentation, not indented."""
    shape = f", (..., {', '.join(kernel.shape)})." if kernel.shape else ": a float, or (...)."
    paragraphs = [kernel.doc + shape, kernel.notes]
    return "\n\n".join(textwrap.fill(p, _WIDTH, break_long_words=False) for p in paragraphs if p)


def _quoted(text: str, prefix: str) -> str:
    """A docstring in three quotes."""
    return textwrap.indent(f'"""{text}\n"""' if "\n" in text else f'"""{text}"""', prefix) + "\n"


# -------------------------------------------------------------------------------------------------------------- C
def _product(kernel: Kernel, write: Callable[[str], str]) -> str:
    lengths = [f"({x})" if "+" in x and len(kernel.shape) > 1 else x for x in _sizes(kernel.shape, write)]
    return " * ".join(lengths) or "1"


def _c_tolerances() -> str:
    lines = "".join(f"#define KC_{name} {float(value)!r}\n" for name, value in IN_C.items())
    return (
        "/* Generated from tolerances.py by kanecore.build.generated_sources. */\n"
        f"/* {_LICENCE} */\n/* clang-format off */\n"
        f"/* What counts as equal, for the machine. */\n{lines}"
    )


def _c_operations() -> str:
    """The operations of the graph in the interpreter, each with its C expression."""
    coded = [row for row in OPERATIONS.values() if row.coded]
    return (
        _STAR.replace("kernels.py", "graph/operations.py")
        + _c_macro("KC_OF_GRAPH(OPERATION)", (f"OPERATION({row.name}, {row.n_operands}, 1)" for row in coded))
        + "\n"
        + _c_macro("KC_COMPUTED(DO)", (f"DO({row.name}, {row.n_operands}, {_c_expression(row)})" for row in coded))
    )


def _c_macro(head: str, lines: Iterable[str]) -> str:
    """A macro of several lines, as clang-format lays it out."""
    *before, last = (f"#define {head}", *(f"    {line}" for line in lines))
    return "".join(f"{line:<109}\\\n" for line in before) + f"{last}\n"


def _c_expression(row: Operation) -> str:
    """The value of the operands A, B and C."""
    if not row.c:
        return "A != 0.0 ? B : C"
    if row.c.isidentifier():
        return f"{row.c}({', '.join('ABC'[: row.n_operands])})"
    return f"A {row.c} B ? 1.0 : 0.0" if row.whole else f"A {row.c} B"


def _c_statuses() -> str:
    commas = [","] * (len(STATUSES) - 1) + [""]
    rows = "".join(
        f"    KC_{status.name} = {status.code}{comma} /* {status.meaning} */\n"
        for status, comma in zip(STATUSES, commas, strict=True)
    )
    return (
        "/* Generated from statuses.py by kanecore.build.generated_sources. */\n"
        f"/* {_LICENCE} */\n/* clang-format off */\ntypedef enum kc_status {{\n{rows}}} kc_status;\n"
    )


def _c_members() -> str:
    lines = [_STAR + "/* clang-format off */"]
    lines.append("/* The kernels of kc_model: NULL where the library does not hold them. */")
    for kernel in KERNELS:
        length = _product(kernel, lambda size: "n_q + n_u + n_z" if size == "n_x" else size)
        names = ["udot"] * kernel.reads_udot + ["lambda"] * kernel.reads_multipliers + list(kernel.vectors)
        beyond = f" [{', '.join(names)}]" if names else ""
        brief = f"{kernel.brief}{beyond}"
        lines.append(f"kc_kernel *{kernel.name}; /* {brief}: {length} */")
    return "\n".join(lines) + "\n"


def _c_test() -> str:
    def size(name: str) -> str:
        return "((size_t)m->n_q + m->n_u + m->n_z)" if name == "n_x" else f"(size_t)m->{name}"

    def beyond(kernel: Kernel) -> str:
        return " + ".join(_sizes(kernel.beyond, size)) or "0"

    rows = [f'{{"{k.name}", m->{k.name}, {_product(k, size)}, {beyond(k)}}},' for k in KERNELS]
    about = "Of each kernel of a model m: name, function, length of the result, and of what x goes on with."
    return f"{_STAR}/* {about} */\n{_lines('{}', rows)}"


# --------------------------------------------------------------------------------------------------------- Cython
def _cython_declarations() -> str:
    statuses = _lines("        KC_{}", [status.name for status in STATUSES])
    return f"{_HASH}{_PXD.format(statuses=statuses)}{_lines('        kc_kernel *{}', _names(KERNELS))}"


def _cython_numbers() -> str:
    numbers = [_number(kernel) for kernel in KERNELS]
    udot = " or ".join(f"k == {_number(kernel)}" for kernel in KERNELS if kernel.reads_udot)
    multipliers = " or ".join(f"k == {_number(kernel)}" for kernel in KERNELS if kernel.reads_multipliers)
    vectors = "".join(
        f"    if k == {_number(k)}:\n        return {' + '.join(_sizes(k.vectors, lambda size: f'm.{size}'))}\n"
        for k in KERNELS
        if k.vectors
    )
    return (
        f"{_HASH}# Numbers of the kernels, in the order of the C table, and facts of each.\n\n"
        f"cdef enum:\n{_lines('    {}', [*numbers, 'N_KERNELS'])}\n"
        "cdef inline kc_kernel **first_kernel(const kc_model *m) noexcept nogil:\n"
        '    """The first of the members of a table that are kernels; they follow each other."""\n'
        f"    return <kc_kernel **>&m.{KERNELS[0].name}\n\n\n"
        "cdef inline kc_lane_kernel **first_lane_kernel(const kc_lanes *lanes) noexcept nogil:\n"
        '    """The same of the kernels for several states side by side."""\n'
        f"    return <kc_lane_kernel **>&lanes.{KERNELS[0].name}\n\n\n"
        f"cdef inline bint reads_udot(int k) noexcept nogil:\n    return {udot}\n\n\n"
        f"cdef inline bint reads_multipliers(int k) noexcept nogil:\n    return {multipliers}\n\n\n"
        "cdef inline Py_ssize_t n_vectors(Libraries m, int k) noexcept nogil:\n"
        f'    """Count of the numbers after udot and lambda in the x of a kernel."""\n{vectors}    return 0\n'
    )


def _cython_tables() -> str:
    shapes = ["".join(f"{x}, " for x in _sizes(kernel.shape, lambda size: f"m.{size}")) for kernel in KERNELS]
    quoted = _lines('    "{}",', _names(KERNELS))
    return (
        f"{_HASH}# Names of the kernels, in the order of the C table, and the shapes of their results.\n\n"
        f"KERNELS = (\n{quoted})\n"
        '"""Names of all kernels, in the order of the C table."""\n\n\n'
        "cdef tuple shapes_of(Libraries m):\n"
        '    """The shape of each kernel\'s result."""\n'
        f"    return (\n{_lines('        ({}),', [x.rstrip() for x in shapes])}    )\n"
    )


def _number(kernel: Kernel) -> str:
    return f"K_{kernel.name.upper()}"


# --------------------------------------------------------------------------------------------------------- Python
_OF_MODEL = '''
    def workspace(self):
        """Buffers bound once, for calls without arguments: a `Workspace` with the current p and r."""
        return Workspace(self)
'''


def _methods() -> str:
    public = "".join(f"\n{_method_of_model(kernel)}" for kernel in _with_methods() if not kernel.internal)
    internal = "".join(f"\n{_method_of_model(kernel)}" for kernel in _with_methods() if kernel.internal)
    workspace = "\n" + "".join(_field(kernel) for kernel in _with_fields())
    workspace += "".join(f"\n{_method_of_workspace(kernel)}" for kernel in _in_workspace())
    return (
        f'{_HASH}"""The kernels as methods; C does the usual calls without these functions, `kernel_method`."""\n\n'
        "from kanecore._native import (\n    Buffers,\n    KernelArray,\n    Model,\n    ModelKernels,\n"
        "    internal_kernel_method,\n    kernel_method,\n    workspace_method,\n)\n"
        "from kanecore.binding.results_by_name import by_name\n\n"
        '__all__ = ["InternalKernels", "KernelMethods", "Workspace"]\n\n\n'
        "class KernelMethods(Model):\n"
        '    """The kernels of a model: all share the arguments and errors of `rhs`."""\n'
        f"{public}{_OF_MODEL}\n\nclass InternalKernels(ModelKernels):\n"
        '    """Kernels that functions of the package call; all share the arguments and errors of `rhs`."""\n'
        f"{internal}\n\nclass Workspace(Buffers):\n"
        '    """The buffers of one model, and its kernels as calls without arguments; one per thread."""\n\n'
        f"    __slots__ = ()\n{workspace}"
    )


def _method_of_model(kernel: Kernel) -> str:
    """A kernel as a method of a model, or an internal one as a method of its `InternalKernels`."""
    remainder = _remainders().get(kernel.name)
    udot = "udot" if kernel.reads_udot else "None"
    udot = "self.names.with_multipliers(udot, multipliers)" if kernel.reads_multipliers else udot
    udot = "beyond" if kernel.vectors else udot
    options = ["remainder=False"] if remainder else []
    options += ["named=False"] if kernel.named else []
    before = ["self", "t", "x", *(["udot"] if kernel.reads_udot else [])]
    before += ["multipliers=None"] if kernel.reads_multipliers else []
    before = ["self", "t", "x", "beyond"] if kernel.vectors else before
    arguments = [*before, "*", *options, "r=None", "p=None", "out=None", "threads=1"]
    mark = "internal_kernel_method" if kernel.internal else "kernel_method"
    text = f"    @{mark}\n    def {kernel.name}({', '.join(arguments)}):\n"
    text += _quoted(_docstring(kernel) + (_SHARED if kernel is KERNELS[0] else ""), " " * 8)
    evaluate = "self.evaluate" if kernel.internal else "self.kernels.evaluate"
    if remainder:
        call = f'{evaluate}("{remainder.name}", t, x, None, r, p, out, threads)'
        text += f"        if remainder:\n            return {call}\n"
    call = f'{evaluate}("{kernel.name}", t, x, {udot}, r, p, out, threads)'
    if not kernel.named:
        return f"{text}        return {call}\n"
    by_name = f"by_name(self.{kernel.named}, result, {len(kernel.shape)})"
    return f"{text}        result = {call}\n        return {by_name} if named else result\n"


def _field(kernel: Kernel) -> str:
    """The array of a workspace that a kernel writes."""
    shape = ", ".join(kernel.shape) + "," * (len(kernel.shape) == 1)
    doc = f"Result of `{kernel.name}`, ({shape}); NaN until its first call."
    return f'    {kernel.field} = KernelArray("{kernel.name}", "{doc}")\n'


def _method_of_workspace(kernel: Kernel) -> str:
    """A kernel as a method of a workspace."""
    into = f", into `{kernel.field}`" if kernel.field else ""
    at = ", at the workspace's `udot`" if kernel.reads_udot else ""
    at += " and what `multipliers` wrote" if kernel.reads_multipliers else ""
    shape = f", ({', '.join(kernel.shape)}{',' if len(kernel.shape) == 1 else ''})" if kernel.shape else ", a float"
    doc = f"{kernel.doc.partition(';')[0]}{shape}{into}{at}."
    return (
        f"    @workspace_method\n    def {kernel.name}(self):\n{_quoted(textwrap.fill(doc, _WIDTH), ' ' * 8)}"
        f'        return self.evaluate("{kernel.name}")\n'
    )


_SHARED = """

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


def _stubs() -> str:
    public = "".join(_stub(kernel) for kernel in _with_methods() if not kernel.internal)
    internal = "".join(_stub(kernel) for kernel in _with_methods() if kernel.internal)
    fields = "".join(f"    @property\n    def {kernel.field}(self) -> _Array: ...\n" for kernel in _with_fields())
    methods = "".join(
        f"    def {kernel.name}(self) -> {'_Array' if kernel.shape else 'float'}: ...\n" for kernel in _in_workspace()
    )
    return (
        f"{_HASH}from typing import Any, Literal, overload\n\n"
        "import numpy.typing as npt\n\nfrom kanecore._binding import Buffers, Model, ModelKernels, _Array\n"
        "from kanecore._binding import Values as Values\n\n"
        f"class KernelMethods(Model):\n{public}    def workspace(self) -> Workspace: ...\n\n"
        f"class InternalKernels(ModelKernels):\n{internal}\nclass Workspace(Buffers):\n{fields}{methods}"
    )


def _stub(kernel: Kernel) -> str:
    """The method of a kernel in a stub; two overloads if its result depends on ``named=``."""
    before = _ARGUMENTS + (", udot: Values" if kernel.reads_udot else "")
    before += ", multipliers: Values | None = None" if kernel.reads_multipliers else ""
    before = f"{_ARGUMENTS}, beyond: npt.ArrayLike" if kernel.vectors else before
    options = ["remainder: bool = False"] if kernel.name in _remainders() else []
    after = "r: Values | None = None, p: Values | None = None, out: _Array | None = None, threads: int = 1"
    variants = [("", "_Array" if kernel.shape else "Any")]
    if kernel.named:
        variants = [("named: Literal[False] = False", "_Array"), ("named: Literal[True]", "dict[str, _Array]")]
    text = ""
    for option, result in variants:
        arguments = ["self", before, "*", *options, *([option] if option else []), after]
        mark = "    @overload\n" if len(variants) > 1 else ""
        text += f"{mark}    def {kernel.name}({', '.join(arguments)}) -> {result}: ...\n"
    return text


def _expressions() -> str:
    """Stub of `Expressions`, which finds its attributes on request."""
    texts = {kernel.name: first_sentence(kernel.doc) for kernel in KERNELS if not kernel.internal}
    lines = "".join(
        f'    @property\n    def {name}(self) -> Any:\n        """{text}"""\n' for name, text in texts.items()
    )
    return (
        f"{_HASH}from abc import ABC, abstractmethod\nfrom typing import Any\n\nclass Expressions(ABC):\n"
        "    @abstractmethod\n    def symbolic(self, kernel: str, *, nested: bool = False) -> Any: ...\n" + lines
    )


# ----------------------------------------------------------------------------------------------------------- docs
def _markdown() -> str:
    remainders = _remainders()
    rows = []

    def row(call: str, kernel: Kernel) -> None:
        comma = "," if len(kernel.shape) == 1 else ""
        rows.append(f"| {call} | ${kernel.latex}$ | ({', '.join(kernel.shape)}{comma}) |")

    for kernel in _with_methods():
        if kernel.internal:
            continue
        beyond = ", udot" * kernel.reads_udot + ", multipliers" * kernel.reads_multipliers
        row(f"`{kernel.name}(t, x{beyond})`", kernel)
        if kernel.name in remainders:
            row("… `remainder=True`", remainders[kernel.name])
    return f"<!-- {_ORIGIN} -->\n| kernel | result | shape |\n|---|---|---|\n" + _lines("{}", rows)


if __name__ == "__main__":
    main()
