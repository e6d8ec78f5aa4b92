"""Kernels as Python calls them: by the types of their arguments, from the disk or from the compiler.

Machine code needs no compiler. Numba, whose import alone takes a quarter of a second, is imported only
where there is no machine code for the types at hand.
"""

import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from classgram.runtime.compiled.arguments import described, unpacked
from classgram.runtime.compiled.machine_code import Call, linked
from classgram.runtime.compiled.storing import Store
from classgram.runtime.signals import signals_put_off

Kinds = tuple[str, ...]
"""The kinds of all arguments of a call."""

_lock = threading.RLock()
"""Threads that need the same kernel wait for one of them to load it."""

_awaited: list[Callable[[], None]] = []
"""What is to be done before anything is compiled."""


def before_compiling(action: Callable[[], None]) -> None:
    """Have something done before anything is compiled, if that ever happens: it may import Numba."""
    _awaited.append(action)


class Kernel:
    """A function that runs as machine code, without the GIL."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.name = function.__name__
        self.py_func = function
        self.targetoptions = options
        """Under this name Numba looks for what it should do with a function."""
        self._store = Store(function)
        self._calls: dict[Kinds, Call | None] = {}
        """What runs the machine code for arguments of each kind; None where Numba must."""

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code for arguments of these types."""
        kinds, numbers = zip(*map(described, arguments), strict=True)
        call = self._calls.get(kinds) or self._prepared(kinds, arguments)
        return call(b"".join(numbers)) if call else self._plain(*map(unpacked, arguments))

    def compile_for(self, *arguments: Any) -> Any:
        """Have Numba compile the function for arguments of these types.

        LLVM calls Python back, and would swallow what is raised there.
        """
        with signals_put_off():
            from classgram.runtime.compiled.numba_compiler import compiled

            return compiled(self.dispatcher, arguments)

    @property
    def dispatcher(self) -> Any:
        """What Numba has to do with the function: it compiles it for one type after the other."""
        while _awaited:
            _awaited.pop()()
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for where the function is a part of another."""
        return self.dispatcher._numba_type_

    @property
    def is_stored(self) -> bool:
        """Whether the disk holds machine code, for arguments of any types, or can hold none."""
        return self._store.holds_some or not self._store.is_writable

    def _prepared(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Call | None:
        with _lock:
            if kinds not in self._calls:
                self._calls[kinds] = self._loaded(kinds) or self._compiled(kinds, arguments)
            return self._calls[kinds]

    def _loaded(self, kinds: Kinds) -> Call | None:
        code = self._store.load(kinds)
        try:
            return linked(code, self.name) if code else None
        except RuntimeError:
            return None

    def _compiled(self, kinds: Kinds, arguments: tuple[Any, ...]) -> Call | None:
        from classgram.runtime.compiled.numba_compiler import machine_code

        done = self.compile_for(*arguments)
        try:
            code = machine_code(done)
            call = linked(code, self.name)
        except (AttributeError, RuntimeError, TypeError):
            # A Numba of another make, or code that calls something that is only known to Numba.
            return None
        self._store.save(kinds, code)
        return call

    @cached_property
    def _dispatcher(self) -> Any:
        from classgram.runtime.compiled.numba_compiler import dispatcher_of

        return dispatcher_of(self.py_func, self.targetoptions)

    @cached_property
    def _plain(self) -> Any:
        from classgram.runtime.compiled.numba_compiler import plain_dispatcher

        return plain_dispatcher(self.py_func, self.targetoptions)
