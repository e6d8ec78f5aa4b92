"""The jitted code: small functions over arrays, importing nothing else of classgram.

Every kernel has a naive twin in ``tests/helpers/naive_counts.py`` that it must equal.
"""

import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from classgram.runtime.compiled.arguments import with_numbers
from classgram.runtime.compiled.calling import Kernel, before_compiling

__all__ = ["LEAN", "Kernel", "before_compiling", "frozen", "inlined", "kernel_part", "lean_kernel", "packed"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Number = TypeVar("Number", bound=np.generic)

LEAN: Any = {"_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
"""What Numba is told of kernels: they allocate nothing, and it need not make a way in from Python.

Without reference counts for every array that is passed on, they run and compile twice as fast; without
checks of divisors, divisions become vector loops.
"""

COMPILES = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
"""Whether kernels are compiled; or else they are plain Python."""


def lean_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel, which allocates nothing."""
    return _compiled(function, LEAN)


def kernel_part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of kernels that only they call."""
    return _compiled(function, LEAN)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of one kernel into it, instead of on its own and then once more."""
    return _compiled(function, {**LEAN, "inline": "always"})


def _compiled(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    return cast(Callable[P, R], Kernel(function, options)) if COMPILES else function


def packed(values: T) -> T:
    """Give an equal (named) tuple that costs less to pass to kernels, for one that is passed many times."""
    return with_numbers(values) if COMPILES else values


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """A read-only, contiguous view: the one form in which kernels get their inputs.

    A writable array is another type to Numba, and so another compilation of the same kernel.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
