"""The jitted code: small functions over arrays, importing nothing else of classgram.

Every kernel has a naive twin in ``tests/reference.py`` that it must equal.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt

try:
    from classgram.kernels.caching import cache_on_disk
except ImportError:
    # A Numba whose inner parts have other names: its own way will do.
    def cache_on_disk(compiled: Any) -> None:
        """Let a compiled function be written to disk, where some folder is writable."""
        with suppress(RuntimeError):
            compiled.enable_caching()


P = ParamSpec("P")
R = TypeVar("R")
Number = TypeVar("Number", bound=np.generic)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with Numba, without the GIL, and cache it on disk where that is possible."""
    return _compiled(function)


def lean_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that allocates nothing.

    Without reference counts for every array that is passed on, it runs and compiles twice as fast;
    without checks of divisors, divisions become vector loops.
    """
    return _compiled(function, _nrt=False, error_model="numpy", no_cfunc_wrapper=True)


def kernel_part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of lean kernels that only they call: it gets no way in from Python."""
    options = {"_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}
    return _compiled(function, no_cpython_wrapper=True, **options)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of one lean kernel into it, instead of on its own and then once more."""
    options: dict[str, Any] = {"inline": "always", "_nrt": False, "error_model": "numpy"}
    part: Callable[P, R] = numba.njit(nogil=True, **options)(function)
    return part


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    compiled: Callable[P, R] = numba.njit(nogil=True, **options)(function)
    # With NUMBA_DISABLE_JIT a function stays what it is.
    if compiled is not function:
        cache_on_disk(compiled)
    return compiled


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """A read-only, contiguous view: the one form in which kernels get their inputs.

    A writable array is another type to Numba, and so another compilation of the same kernel.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
