"""Ctrl-C at a bad moment: it comes, but later."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from classgram.clustering.search.engine import LocalEngine
from classgram.runtime.signals import signals_put_off
from tests.helpers.command import environment


def test_a_signal_comes_after_the_block() -> None:
    handler = signal.getsignal(signal.SIGINT)
    done = []

    def interrupted() -> None:
        with signals_put_off():
            signal.raise_signal(signal.SIGINT)
            done.append("the block")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["the block"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_ignored_signal_stays_ignored() -> None:
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals_put_off():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, handler)


def test_nothing_is_put_off_in_other_threads() -> None:
    handlers = []

    def look() -> None:
        with signals_put_off():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_no_thread_works_on_when_one_is_stopped(error: type[BaseException]) -> None:
    done = []

    def stop() -> None:
        if error is KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
        else:
            raise error

    def work() -> None:
        time.sleep(0.1)
        done.append(1)

    with LocalEngine(3) as engine:
        with pytest.raises(error):
            engine.run([stop, work, work])
        assert done == [1, 1]


def test_streams_may_be_closed() -> None:
    for closed in (">&-", "2>&-"):
        command = f"exec {sys.executable} -m classgram cluster --classes 2 --quiet - {closed}"
        done = subprocess.run(
            ["sh", "-c", command],
            input="a b\nb a\na a b\n",
            text=True,
            env=environment(),
            capture_output=True,
        )
        assert done.returncode == 0
        assert "Traceback" not in done.stderr
