"""Numba's cache on disk, for parts of kernels: what one kernel or one process compiles, others take."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache

from classgram.runtime.compiled.storing import stamp


class PartFiles(CompileResultCacheImpl):
    """What is written for a function, as Numba writes it."""

    def rebuild(self, target_context: Any, written: Any) -> Any:
        """Load a function; Numba lets go of its machine code, which a kernel needs once more."""
        done = super().rebuild(target_context, written)
        _, _, (machine_code, _) = written[0]
        done.library._compiled_object = machine_code
        return done

    @property
    def filename_base(self) -> str:
        """Another name than that of Numba's own files: what is written here has no way in from Python."""
        return f"{super().filename_base}.part"


class PartCache(FunctionCache):
    """Numba's cache of one function, out of date as soon as anything has changed that it may call."""

    _impl_class = PartFiles

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = stamp(Path(function.__code__.co_filename))

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Load a function, or give None where it is not on disk, or damaged."""
        try:
            return super().load_overload(signature, target_context)
        except Exception:
            # Whatever stands in a damaged file may be raised: it is written anew.
            with suppress(OSError):
                self.flush()
            return None


def cache_on_disk(dispatcher: Any) -> None:
    """Let compiled functions be written to disk and loaded from there, where some folder is writable."""
    with suppress(OSError, RuntimeError):
        dispatcher._cache = PartCache(dispatcher.py_func)
