"""Threads: shares that cover everything, results in order, and the first error first."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.counts.counting import count_ngrams
from classgram.counts.id_stream import FIRST_IDS, IdStream
from classgram.errors import InputError
from classgram.options import CountOptions
from classgram.runtime.threads import LEAST_TOKENS, Threads
from classgram.text.reading import CHUNK_BYTES, text_from_strings


@given(st.integers(1, 5), st.integers(0, 9), st.integers(0, 6 * LEAST_TOKENS))
def test_shares_cover_a_span(number: int, first: int, length: int) -> None:
    with Threads(number) as threads:
        shares = threads.shares(first, first + length)
    assert 1 <= len(shares) <= number
    assert [shares[0][0], *(last for _, last in shares)] == [*(start for start, _ in shares), first + length]
    assert len(shares) == 1 or min(last - start for start, last in shares) >= LEAST_TOKENS


@pytest.mark.parametrize("number", [1, 3])
def test_results_come_in_order(number: int) -> None:
    with Threads(number) as threads:
        assert threads.map(str, range(9)) == [str(item) for item in range(9)]
        assert list(threads.map_behind(str, iter(range(9)))) == [str(item) for item in range(9)]
        assert list(threads.map_behind(str, iter(()))) == []


def test_items_are_made_where_signals_are_noticed() -> None:
    def items() -> Iterator[int]:
        for _ in range(3):
            yield threading.get_ident()

    with Threads(2) as threads:
        worked = list(threads.map_behind(lambda made: (made, threading.get_ident()), items()))
    assert {made for made, _ in worked} == {threading.get_ident()}
    assert threading.get_ident() not in {used for _, used in worked}


def test_items_are_worked_on_one_at_a_time() -> None:
    at_work = threading.Lock()

    def work(item: int) -> int:
        assert at_work.acquire(blocking=False)
        time.sleep(0.001)
        at_work.release()
        return item

    with Threads(3) as threads:
        assert list(threads.map_behind(work, range(20))) == list(range(20))


@pytest.mark.parametrize("number", [1, 2])
def test_what_is_wrong_first_is_said_first(number: int) -> None:
    def items() -> Iterator[str]:
        yield "1"
        yield "x"
        raise InputError("the text ends too soon")

    with Threads(number) as threads:
        with pytest.raises(ValueError, match="'x'"):
            list(threads.map_behind(int, items()))
        with pytest.raises(InputError, match="too soon"):
            list(threads.map_behind(str, items()))


@pytest.mark.parametrize("number", [1, 2])
def test_a_text_of_several_chunks_is_read_alike(number: int) -> None:
    line = "a bb " * 2000 + "c"
    lines = [line] * (2 * CHUNK_BYTES // len(line) + 1)
    counts = count_ngrams(text_from_strings(lines), CountOptions(2), threads=number)
    assert dict(counts.items(1))["a",] == 2000 * len(lines)
    with pytest.raises(InputError, match=f"line {len(lines) + 1}.*literal <s>"):
        count_ngrams(text_from_strings([*lines, "<s>", *lines, "\0"]), threads=number)


@pytest.mark.parametrize("limit", [1 << 40, 1 << 16])
def test_a_spool_gives_back_what_it_was_given(limit: int) -> None:
    rng = np.random.default_rng(2)
    parts = [rng.integers(0, 9, FIRST_IDS // 3).astype(np.int32) for _ in range(7)]
    every, numbers = np.concatenate(parts), rng.permutation(9).astype(np.int32)
    with IdStream(limit) as spool:
        for part in parts[:4]:
            spool.append(part)
        for part in parts[4:]:
            spool.buffer(2 * part.size)[: part.size] = part
            spool.keep(part.size)
        assert spool.size == every.size
        assert np.array_equal(spool.renumbered(numbers, (5, 99))[:-1], numbers[every[5:99]])
        taken = spool.taken(numbers)
        assert taken.size == every.size + 1
        assert np.array_equal(taken[:-1], numbers[every])
