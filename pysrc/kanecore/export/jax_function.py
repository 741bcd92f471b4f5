# SPDX-License-Identifier: BSD-3-Clause
"""JAX functions of kernels: JAX calls the kernels in the extension, ``_xla.pxi``, on its own arrays.

A program that JAX compiles holds the name of the model, a hash of its C text, and no address: it may be kept, and serve
another process with the same model.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from kanecore import _motion
from kanecore.binding.declared_methods import method
from kanecore.kernels import KERNEL_GROUPS
from kanecore.run.kernel_facts import kernel_of_state, shape_of

if TYPE_CHECKING:
    from kanecore.binding.evaluator import Evaluator

__all__ = ["jax"]

# C texts, or the code, that define all results of some groups of kernels; None if they do not.
Contents = Callable[[Sequence[str]], "Sequence[Any] | None"]

TARGET = "kanecore"

# Kernels of the derivatives of a kernel: by x and r side by side, by t, by p; "" if there is no such kernel.
DERIVATIVES: dict[str, tuple[str, str, str]] = {
    "rhs": ("linearize", "rhs_time_derivative", "rhs_parameter_jacobian"),
    "outputs": ("output_jacobian", "", ""),
    "linearize": ("rhs_hessian", "", ""),
}
PARTS_OF_RHS = ("qdot", "udot", "zdot")
HESSIAN = "rhs_hessian"  # a method, which calls kernels of these groups
GROUPS_OF_HESSIAN = ("core", "linearize", KERNEL_GROUPS["hessian_products"])


@method("Other programs")
def jax(dyn: Any, kernel: str = "rhs", *, threads: int = 1) -> Callable[..., Any]:
    """A kernel as a function of JAX, on the CPU: ``pip install jax``.

    Parameters
    ----------
    kernel : str
        "rhs", or another kernel of t and x.
    threads : int
        How many share a large batch, as for the kernels.

    Returns
    -------
    callable
        ``f(t, x, r=None, p=None)`` -> jax.Array, (..., n_x) of "rhs".  Arguments are those of the kernel, also by
        name; leading axes broadcast.  Without r and p they are the current values: in ``jax.jit`` those of the
        tracing.  ``jax.vmap`` makes one batch of its calls.
        First derivatives of "rhs", "udot", "qdot" by t, x, r, p, forwards and in reverse, are products with
        ``linearize``, `rhs_time_derivative` and `rhs_parameter_jacobian`; second ones by x and r come from
        `rhs_hessian`.  "outputs" has first derivatives by x and r.

    Raises
    ------
    ImportError
        JAX is not installed.
    KeyError, ModelError
        There is no such kernel of t and x, or the model has none.
    ValueError, TypeError
        ``threads`` is no such number.
    TypeError
        From the callable: float64 is not enabled in JAX; an argument that is not real.
    ValueError, KeyError
        From the callable: a wrong shape or name, a value that was never set.
    NotImplementedError
        From the callable, differentiated: there is no kernel for this derivative.
    jax.errors.JaxRuntimeError
        When the result is awaited: the error of the kernel, with its message, such as that of a singular mass
        matrix.

    Notes
    -----
    Results that depend on a t, x or r that is not finite are NaN.  A model that was made a function once lives as
    long as the process: programs that JAX keeps name it by a hash of its C text.

    Examples
    --------
    ``f = dyn.jax("rhs")``, ``jax.jit(jax.vmap(f, in_axes=(None, 0)))(0.0, states)``,
    ``jax.jacobian(f, argnums=1)(0.0, x)``
    """
    package = _with_kanecore()
    function = _differentiable(_Call.of(dyn, kernel, _motion.xla_threads(threads), dyn.libraries.contents))

    def compiled(t: Any, x: Any, r: Any, p: Any) -> Any:
        lengths = {"x": dyn.n_x, "r": dyn.n_r, "p": dyn.n_p}
        vectors = [_vector(name, given, lengths[name], dyn.dtype) for name, given in zip("xrp", (x, r, p), strict=True)]
        return function(_real("t", t, dyn.dtype), *vectors)

    compiled.__name__ = kernel
    call = package.jit(compiled, inline=True)  # without it a call outside of jit takes 20 times as long

    def f(t: Any, x: Any, r: Any = None, p: Any = None) -> Any:
        _require_digits(dyn)
        return call(
            _array("t", t),
            _array("x", _by_name(dyn, "state", "x", x, kernel)),
            _array("r", _by_name(dyn, "input", "r", r, kernel)),
            _array("p", _by_name(dyn, "parameter", "p", p, kernel)),
        )

    f.__name__ = f.__qualname__ = kernel
    f.__doc__ = f"{kernel} of {dyn.name!r}: f(t, x, r, p), with r and p the current values where they are not given."
    return f


@cache
def _with_kanecore() -> Any:
    """Register the functions of the extension with JAX, one for the CPU, an error elsewhere; return JAX."""
    try:
        import jax
    except ImportError as error:
        raise ImportError("dyn.jax needs JAX: pip install jax") from error
    here, elsewhere = _motion.xla_functions()
    jax.ffi.register_ffi_target(TARGET, here, platform="cpu")
    for platform in ("CUDA", "ROCM"):  # where there is none, JAX keeps it for the time when there is one
        jax.ffi.register_ffi_target(TARGET, elsewhere, platform=platform)
    return jax


@dataclass(frozen=True)
class _Call:
    """A kernel as a foreign function: no derivatives, and all arguments are arrays of the model's type."""

    dyn: Evaluator
    kernel: str
    shape: tuple[int, ...]
    identity: str
    threads: np.int64
    contents: Contents

    @classmethod
    def of(cls, dyn: Evaluator, kernel: str, threads: np.int64, contents: Contents) -> _Call:
        """Call of a kernel: compile its groups now, unless they are, and register it with XLA."""
        groups: Sequence[str] = GROUPS_OF_HESSIAN
        n = dyn.n_x + dyn.n_r
        shape: tuple[int, ...] = (dyn.n_x, n, n)
        if kernel == HESSIAN:
            dyn.address("hessian_products")
        else:
            row = kernel_of_state(kernel)
            dyn.address(kernel)  # or it raises the reason why there is none
            groups, shape = (row.group,), shape_of(dyn, row)
        identity = _motion.share(identity_of(dyn, contents(groups)), dyn, kernel)
        return cls(dyn, kernel, shape, identity, threads, contents)

    def of_kernel(self, kernel: str) -> _Call:
        """Call of another kernel of the same model."""
        return _Call.of(self.dyn, kernel, self.threads, self.contents)

    def __call__(self, t: Any, x: Any, r: Any, p: Any) -> Any:
        """Call with any leading axes, which broadcast; axes that `vmap` adds come first."""
        import jax

        operands = (t, x, r, p)
        leading = [t.shape, *(a.shape[:-1] for a in operands[1:])]
        lead = jax.numpy.broadcast_shapes(*leading)
        aligned = [
            a.reshape((1,) * (len(lead) - len(axes)) + a.shape) for a, axes in zip(operands, leading, strict=True)
        ]
        result = jax.ShapeDtypeStruct(lead + self.shape, self.dyn.dtype)
        call = jax.ffi.ffi_call(TARGET, result, vmap_method="expand_dims")  # axes of length 1 are not copied
        return call(*aligned, model=self.identity, kernel=self.kernel, threads=self.threads)


_of_this_process: WeakKeyDictionary[Evaluator, str] = WeakKeyDictionary()


def identity_of(dyn: Evaluator, contents: Sequence[Any] | None) -> str:
    """Name under which XLA finds the compiled kernel: the same in each process, or good in this process alone."""
    if contents is None:
        return _of_this_process.setdefault(dyn, f"{dyn.name} {uuid.uuid4().hex}")
    digest = hashlib.sha256(str(dyn.dtype).encode())
    for piece in _pieces(contents):
        digest.update(piece)
    return f"{dyn.name} {digest.hexdigest()[:32]}"


def _pieces(content: Any) -> Iterator[bytes]:
    """Bytes of a text, or of a library's code with its parts."""
    if isinstance(content, np.ndarray):
        yield f"{content.dtype} {content.shape}".encode()
        yield content.tobytes()
    elif isinstance(content, str):
        yield f"{len(content)} ".encode()
        yield content.encode()
    elif isinstance(content, (list, tuple)):
        yield f"{len(content)} ".encode()
        for part in content:
            yield from _pieces(part)
    elif isinstance(content, Mapping):
        yield from _pieces(list(content.items()))
    elif is_dataclass(content):
        yield from _pieces([getattr(content, field.name) for field in fields(content)])
    else:
        yield repr(content).encode()


def _differentiable(call: _Call) -> Callable[..., Any]:
    """The call with its derivatives: products of Jacobian kernels with tangents."""
    import jax
    from jax.custom_derivatives import SymbolicZero

    function = jax.custom_jvp(call)

    def jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
        moving = {
            name: tangent
            for name, tangent in zip("txrp", tangents, strict=True)
            if not isinstance(tangent, SymbolicZero) and tangent.size
        }
        if "t" in moving:
            moving["t"] = moving["t"][..., np.newaxis]
        value = function(*primals)
        return value, sum(_terms(call, primals, moving), jax.numpy.zeros_like(value))

    function.defjvp(jvp, symbolic_zeros=True)
    return function  # type: ignore[no-any-return]


def _terms(call: _Call, primals: Any, moving: Mapping[str, Any]) -> Iterator[Any]:
    """Terms of the tangent, one for each argument that moves.  JAX makes the products, so it can transpose them."""
    import jax.numpy as jnp

    n_q, n_x, dyn = call.dyn.n_q, call.dyn.n_x, call.dyn
    zeros = {"x": (0, call.dyn.n_r), "r": (n_x, 0), "t": (0, 0), "p": (0, 0)}
    names = DERIVATIVES.get("rhs" if call.kernel in PARTS_OF_RHS else call.kernel, ("", "", ""))
    rows = {"qdot": slice(0, n_q), "udot": dyn.names.speeds, "zdot": dyn.names.states}.get(call.kernel)
    axes = "abc"[: len(call.shape)]
    for name, arguments in zip(names, ("xr", "t", "p"), strict=True):
        found = [argument for argument in arguments if argument in moving]
        if not found:
            continue
        if not name or (name == HESSIAN and call.dyn.single):
            raise NotImplementedError(_unknown(call, found))
        slopes = _differentiable(call.of_kernel(name))(*primals)
        if name == "rhs_time_derivative":
            slopes = slopes[..., np.newaxis]
        if rows is not None:
            slopes = slopes[..., rows, :]
        # x and r that do not move have zeros: to cut the columns would copy the matrices
        whole = sum(_between_zeros(moving[argument], zeros[argument]) for argument in found)
        yield jnp.einsum(f"...{axes}z,...z->...{axes}", slopes, whole)


def _between_zeros(tangent: Any, zeros: tuple[int, int]) -> Any:
    import jax.numpy as jnp

    return jnp.pad(tangent, [(0, 0)] * (tangent.ndim - 1) + [zeros])


def _unknown(call: _Call, moving: Sequence[str]) -> str:
    """The message of a derivative for which there is no kernel."""
    by = " and ".join(moving)
    known = "rhs, udot and qdot have derivatives by t, x, r and p, and second ones by x and r; outputs by x and r"
    single = " in double precision" if call.dyn.single else ""
    return f"kanecore has no derivative of {call.kernel!r} of {call.dyn.name!r} by {by} for JAX: {known}{single}"


def _require_digits(dyn: Evaluator) -> None:
    import jax

    if jax.dtypes.canonicalize_dtype(dyn.dtype) != dyn.dtype:
        raise TypeError(
            f"{dyn.name!r} computes in float64, and JAX is set to float32: write "
            "jax.config.update('jax_enable_x64', True) before anything else, or compile the model with real='float'"
        )


def _array(name: str, value: Any) -> Any:
    """Array for `jit`, to which a list would be a tree."""
    return value if isinstance(value, float) or hasattr(value, "dtype") else _numbers(name, value)


def _numbers(name: str, value: Any) -> Any:
    import jax.numpy as jnp

    try:
        if value is not None:
            return jnp.asarray(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must be real numbers, got {value!r}")


def _real(name: str, value: Any, dtype: Any) -> Any:
    """An array of JAX of the model's type."""
    import jax.numpy as jnp

    array = _numbers(name, value)
    if not (array.dtype == bool or any(jnp.issubdtype(array.dtype, kind) for kind in (jnp.floating, jnp.integer))):
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}")
    return array.astype(dtype)


def _vector(name: str, value: Any, n: int, dtype: Any) -> Any:
    """Array of shape (..., n) from an argument."""
    array = _real(name, value, dtype)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ValueError(f"{name} has shape {array.shape}, expected (..., {n})")
    return array


def _by_name(dyn: Evaluator, kind: Any, name: str, argument: Any, kernel: str) -> Any:
    """Array for a mapping, or for None if the current values serve; other arguments stay as they are."""
    import jax.numpy as jnp

    if argument is None and kind != "state":
        return _motion.operand(dyn, kind, None, kernel)
    if not hasattr(argument, "keys"):
        return argument
    values = dyn.names.by_number(kind, argument, name)
    base = _motion.operand(dyn, kind, dict.fromkeys(argument, 0.0), kernel)  # of those that are not named
    columns = jnp.broadcast_arrays(*[_real(f"{name}[{key}]", value, dyn.dtype) for key, value in values.items()])
    if not columns:
        return base
    array = jnp.broadcast_to(jnp.asarray(base), (*columns[0].shape, len(base)))
    return array.at[..., np.array(list(values))].set(jnp.stack(columns, axis=-1))
