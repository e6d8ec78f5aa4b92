"""The jitted code: small functions over arrays, importing nothing else of classgram.

Every kernel has a naive twin in ``tests/reference.py`` that it must equal.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt

P = ParamSpec("P")
R = TypeVar("R")
Number = TypeVar("Number", bound=np.generic)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with Numba, without the GIL, and cache it on disk where that is possible."""
    try:
        compiled: Callable[P, R] = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # No cache folder is writable (a read-only installation without a home): compile each time.
        compiled = numba.njit(nogil=True)(function)
    return compiled


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """A read-only, contiguous view: the one form in which kernels get their inputs.

    A writable array is another type to Numba, and so another compilation of the same kernel.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
