"""Signals put off: an interruption that would do harm comes a little later."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_INTERRUPTIONS = (signal.SIGTERM, signal.SIGINT)
"""The signals that end a run; Ctrl-C is the second."""


@contextmanager
def signals_put_off() -> Iterator[None]:
    """Put off Ctrl-C and SIGTERM until the block ends; only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in _INTERRUPTIONS
        # A handler that was not set by Python could not be set again.
        if signal.getsignal(number) is not None
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)
