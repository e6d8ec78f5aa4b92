"""Kernels on disk, loaded without what only a compiler needs.

Numba readies its compiler, a quarter of a second's work, before it loads even the first kernel from its
cache. Machine code needs none of that, only the addresses of the functions it calls, whose names are
therefore kept beside it. Where one is not known, or anything else is missing, Numba does it its own way.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys

UNKNOWN = ("a name that nothing has",)
"""Stands for the names where a Numba of another make does not tell them."""


class KernelFiles(CompileResultCacheImpl):
    """What is written for a kernel: what Numba writes, and the names of all it calls."""

    def reduce(self, compiled: Any) -> tuple[tuple[str, ...], Any]:
        """Give what is written to disk."""
        return called_names(compiled.library), super().reduce(compiled)

    def rebuild(self, target_context: Any, written: tuple[tuple[str, ...], Any]) -> Any:
        """Load a kernel; a call of an unknown address would end the process."""
        names, plain = written
        if any(binding.address_of_symbol(name) is None for name in names):
            target_context.refresh()
        return super().rebuild(target_context, plain)

    @property
    def filename_base(self) -> str:
        """Another name than that of Numba's own files, which hold something else."""
        return f"{super().filename_base}.kernel"


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, which loads without readying the compiler."""

    _impl_class = KernelFiles

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Load a kernel, or give None where it is not on disk."""
        with held_signals():
            try:
                # The functions that count references have names, too.
                rtsys.initialize(target_context)
                loaded = self._load_overload(signature, target_context)
            except Exception:
                loaded = None
            return loaded or super().load_overload(signature, target_context)


@contextmanager
def held_signals() -> Iterator[None]:
    """Let Ctrl-C and the signal to end wait: LLVM calls Python back, and swallows what is raised there."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class DeferredCache:
    """The cache of a kernel, made when something is first asked of it: of most kernels nothing is.

    To make it takes a file written and another read.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _made(self) -> Any:
        try:
            return KernelCache(self._function)
        except RuntimeError:
            # No cache folder is writable (a read-only installation without a home): compile each time.
            return NullCache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


def called_names(library: Any) -> tuple[str, ...]:
    """Give the names of what compiled code calls or reads outside of itself."""
    module = getattr(library, "_final_module", None)
    if module is None:
        return UNKNOWN
    outside = [*module.functions, *module.global_variables]
    return tuple(item.name for item in outside if item.is_declaration and not item.name.startswith("llvm."))


def cache_on_disk(compiled: Any) -> None:
    """Let a compiled function be written to disk and loaded from there."""
    compiled._cache = DeferredCache(compiled.py_func)
