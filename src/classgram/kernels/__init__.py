"""The jitted code: small functions over arrays, importing nothing else of classgram.

Every kernel has a naive twin in ``tests/reference.py`` that it must equal.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba
import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with Numba, without the GIL, and cache it on disk where that is possible."""
    try:
        compiled: Callable[P, R] = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # No cache folder is writable (a read-only installation without a home): compile each time.
        compiled = numba.njit(nogil=True)(function)
    return compiled


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a small helper that is called from other kernels only."""
    compiled: Callable[P, R] = numba.njit(nogil=True, inline="never")(function)
    return compiled


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only view in C order: the one form in which kernels take their inputs."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
