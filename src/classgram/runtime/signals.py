"""Signals that wait: where an interruption would do harm, it comes a little later."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTING = (signal.SIGTERM, signal.SIGINT)
"""Ctrl-C, and the signal to end."""


@contextmanager
def signals_put_off() -> Iterator[None]:
    """Let Ctrl-C and the signal to end come after the block; only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in INTERRUPTING
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
