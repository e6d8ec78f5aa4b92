"""The jitted code: small functions over arrays, importing nothing else of classgram.

Every kernel has a naive twin in ``tests/reference.py`` that it must equal.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt

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
    try:
        compiled: Callable[P, R] = numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:
        # No cache folder is writable (a read-only installation without a home): compile each time.
        compiled = numba.njit(nogil=True, **options)(function)
    return compiled


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """A read-only, contiguous view: the one form in which kernels get their inputs.

    A writable array is another type to Numba, and so another compilation of the same kernel.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
