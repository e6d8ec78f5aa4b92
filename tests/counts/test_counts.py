"""Counts equal a naive Counter, whatever the text, order, vocabulary, cut-off and memory."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.clustering.search.state import stack
from classgram.counts import block_counting, counting
from classgram.counts._kernels.counting import Level
from classgram.counts._kernels.sparse_rows import SparseRows
from classgram.counts.counting import count_ngrams
from classgram.counts.events import element_sizes, joint_events, word_events
from classgram.counts.merging import merge_levels
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions
from classgram.runtime import threads
from classgram.text.reading import Chunk, text_from_strings
from classgram.text.scanner import FIRST_TYPES, SYMBOLS, WordScanner
from classgram.text.vocabulary import EOS, Vocabulary
from tests.helpers import naive_counts as reference
from tests.helpers.strategies import texts


def naive(text: str, order: int) -> tuple[list[str], dict[int, Counter[reference.Gram]]]:
    sentences = reference.sentences(text)
    words = reference.vocabulary(sentences)
    return words, reference.ngrams(sentences, order, words)


@given(texts, st.integers(1, 5), st.lists(st.integers(1, 3), max_size=3))
def test_counts_equal_a_counter(text: str, order: int, cutoffs: list[int]) -> None:
    counts = count_ngrams(text_from_strings([text]), CountOptions(order, tuple(cutoffs)))
    words, expected = naive(text, order)
    assert list(counts.vocabulary.words) == words
    kept = reference.cut(expected, cutoffs)
    for n in range(1, order + 1):
        assert dict(counts.items(n)) == dict(kept[n])


@given(
    st.lists(st.text("ab\x01é", min_size=1, max_size=26), min_size=1, max_size=20),
    st.lists(st.sampled_from([" ", "\t", "\x0b", " \r"]), min_size=20, max_size=20),
    st.integers(0, 20),
)
def test_a_scanner_tells_words_of_any_length_apart(words: list[str], between: list[str], cut: int) -> None:
    numbers = {word: len(SYMBOLS) + place for place, word in enumerate(dict.fromkeys(words))}
    pieces = [f"{word}{space}".encode() for word, space in zip(words, between, strict=False)]
    scanner = WordScanner()
    chunks = (Chunk(b"".join(part), "words", 1) for part in (pieces[:cut], pieces[cut:]))
    assert [number for chunk in chunks for number in scanner.feed(chunk)] == [numbers[word] for word in words]
    assert scanner.words(np.array([*numbers.values()])).decode().split("\n")[:-1] == list(numbers)


@given(texts, st.integers(1, 4), st.integers(1, 9))
def test_blocks_of_any_size_give_the_same_levels(text: str, order: int, block: int) -> None:
    whole = count_ngrams(text_from_strings([text]), CountOptions(order))
    ids = whole.vocabulary.encode(text_from_strings([text])).ids
    size = len(whole.vocabulary)
    parts = [
        block_counting.count_block(
            np.append(ids[max(0, start - order + 1) : start + block], ids[:1]),
            min(start, order - 1),
            order,
            size,
        )
        for start in range(0, ids.size, block)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merge_levels(merged, part, 1 << 30)
    assert_same_levels(merged, whole.levels)


@given(texts, st.integers(1, 4), st.integers(2, 4))
def test_threads_give_the_same_levels_as_a_counter(text: str, order: int, number: int) -> None:
    whole = count_ngrams(text_from_strings([text]), CountOptions(order))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "LEAST_TOKENS", 1)
        patch.setattr(block_counting, "_TOKENS_PER_TABLE_ENTRY", 0)
        shared = count_ngrams(text_from_strings([text]), CountOptions(order), threads=number)
    assert shared.vocabulary == whole.vocabulary
    assert_same_levels(shared.levels, whole.levels)


@given(texts, st.one_of(st.none(), st.integers(1, 5)), st.integers(1, 3))
def test_vocabulary_is_by_frequency_then_appearance(text: str, size: int | None, least: int) -> None:
    options = VocabularyOptions(size, least)
    counts = count_ngrams(text_from_strings([text]), CountOptions(2), options)
    sentences = reference.sentences(text)
    words = reference.vocabulary(sentences, size, least)
    assert list(counts.vocabulary.words) == words
    assert dict(counts.items(2)) == dict(reference.ngrams(sentences, 2, words)[2])


@given(texts, st.lists(st.sampled_from(["a", "b", "zz", "ninebytes", "<unk>"]), min_size=1))
def test_word_list_vocabulary(tmp_path: Path, text: str, listed: list[str]) -> None:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(listed))
    counts = count_ngrams(text_from_strings([text]), CountOptions(1), VocabularyOptions(words=path))
    sentences = reference.sentences(text)
    words = reference.vocabulary(sentences, words=listed)
    assert list(counts.vocabulary.words) == words
    assert dict(counts.items(1)) == dict(reference.ngrams(sentences, 1, words)[1])


@given(texts, st.integers(2, 5), st.one_of(st.none(), st.integers(0, 6)))
def test_joint_events_equal_the_naive_ones(text: str, order: int, wanted: int | None) -> None:
    counts = count_ngrams(text_from_strings([text]), CountOptions(order))
    words, expected = naive(text, order)
    ids = {word: number for number, word in enumerate(words)}
    contexts, events = joint_events(counts, wanted)
    longer = reference.joint_elements(expected, wanted, ids)
    described = [
        tuple(words[word] for word in contexts.describe(k)) for k in range(len(words), len(contexts))
    ]
    assert described == longer
    names = [(word,) for word in words] + longer
    found = {
        (names[row], words[column]): int(count)
        for row in range(events.rows)
        for column, count in row_of(events.by_row, row)
    }
    assert found == dict(reference.joint_events(expected, wanted, ids))
    transposed = {
        (names[row], words[column]): int(count)
        for column in range(events.columns)
        for row, count in row_of(events.by_column, column)
    }
    assert transposed == found


def row_of(rows: SparseRows, row: int) -> list[tuple[int, int]]:
    span = slice(rows.starts[row], rows.starts[row + 1])
    return list(zip(rows.columns[span].tolist(), rows.counts[span].tolist(), strict=True))


def assert_same_levels(ones: Sequence[Level], twos: Sequence[Level]) -> None:
    for one, two in zip(ones, twos, strict=True):
        for name in Level._fields:
            a, b = getattr(one, name), getattr(two, name)
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)


@given(texts, st.integers(2, 4), st.integers(0, 5), texts)
def test_contexts_are_found_in_text(text: str, order: int, wanted: int, other: str) -> None:
    counts = count_ngrams(text_from_strings([text]), CountOptions(order))
    words, expected = naive(text, order)
    ids = {word: number for number, word in enumerate(words)}
    contexts, _ = joint_events(counts, wanted)
    longer = reference.joint_elements(expected, wanted, ids)
    names = [(word,) for word in words] + longer
    sentences = counts.vocabulary.encode(text_from_strings([other]))
    found = contexts.lookup(sentences)
    position = 0
    for sentence in range(len(sentences)):
        before = ("<s>",) * (order - 1)
        for number in sentences[sentence]:
            context = before[-(order - 1) :]
            assert names[found[position]] == reference.element(context, set(longer))
            known = np.array([[ids[word] for word in context]], np.int32)
            assert contexts.elements_of(known)[0] == found[position]
            assert contexts.element_of(known[0].tolist()) == found[position]
            before = (*before, words[number])
            position += 1


@given(texts)
def test_word_events_are_the_bigrams(text: str) -> None:
    counts = count_ngrams(text_from_strings([text]), CountOptions(3))
    events = word_events(counts)
    words, expected = naive(text, 2)
    found = {
        (words[row], words[column]): count
        for row in range(events.rows)
        for column, count in row_of(events.by_row, row)
    }
    assert found == dict(expected[2])
    assert events.total == counts.tokens


@given(texts)
def test_stacked_events_equal_their_naive_twin(text: str) -> None:
    events = word_events(count_ngrams(text_from_strings([text]), CountOptions(2)))
    stacked = stack(events)
    for word in range(events.columns):
        before, after = row_of(events.by_column, word), row_of(events.by_row, word)
        assert row_of(stacked, word) == reference.stacked(before, after, events.columns)
        assert element_sizes(stacked)[word] == sum(count for _, count in before + after)


@given(texts, st.integers(1, 4))
def test_saved_counts_read_back_the_same(tmp_path: Path, text: str, order: int) -> None:
    counts = count_ngrams(text_from_strings([text]), CountOptions(order))
    counts.save(tmp_path / "counts")
    again = NgramCounts.load(tmp_path / "counts")
    assert again.vocabulary == counts.vocabulary
    assert_same_levels(again.levels, counts.levels)


def test_spilled_to_disk_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    rng = np.random.default_rng(1)
    path.write_text("\n".join(" ".join(f"w{n}" for n in rng.integers(0, 900, 20)) for _ in range(9000)))
    whole = count_ngrams(path, CountOptions(3))
    monkeypatch.setattr(counting, "_BYTES_PER_TOKEN", 80)
    small = count_ngrams(path, CountOptions(3, memory="1M"))
    assert_same_levels(small.levels, whole.levels)


@pytest.mark.parametrize("number", [1, 2])
def test_a_table_of_words_grows_with_the_text(number: int) -> None:
    words = [f"{n:x}" if n % 3 else f"a-longer-word-{n}" for n in range(3 * FIRST_TYPES)]
    strings = [" ".join(words[n : n + 50]) for n in range(0, len(words), 25)]
    counts = count_ngrams(text_from_strings(strings), CountOptions(1), threads=number)
    expected, known = naive("\n".join(strings), 1)[1][1], reference.vocabulary([s.split() for s in strings])
    assert list(counts.vocabulary.words) == known
    assert dict(counts.items(1)) == dict(expected)


def test_a_given_vocabulary_is_kept() -> None:
    vocabulary = Vocabulary.from_words(["b", "a"])
    counts = count_ngrams(text_from_strings(["a c b"]), vocabulary=vocabulary)
    assert counts.vocabulary is vocabulary
    assert dict(counts.items(1)) == {("<unk>",): 1, ("</s>",): 1, ("b",): 1, ("a",): 1}
    with pytest.raises(InputError, match="lowercase"):
        count_ngrams(text_from_strings(["a"]), vocabulary=vocabulary, text=TextOptions(lowercase=True))


def test_blank_lines_are_sentences_only_where_each_line_must_count() -> None:
    vocabulary = Vocabulary.from_words(["a"])
    assert vocabulary.encode_lines(["", "a", " "]).ids.tolist() == [EOS, 3, EOS, EOS]
    assert vocabulary.encode(text_from_strings(["\n a\n\n"])).ids.tolist() == [3, EOS]


@pytest.mark.parametrize(
    ("options", "vocabulary", "message"),
    [
        (CountOptions(0), None, "--order"),
        (CountOptions(2, (0,)), None, "--cutoffs"),
        (CountOptions(memory="x"), None, "--memory"),
        (CountOptions(memory="1K"), None, "at least 1M"),
        (CountOptions(), VocabularyOptions(0), "--vocabulary-size"),
        (CountOptions(), VocabularyOptions(min_count=0), "--min-count"),
    ],
)
def test_senseless_numbers_are_refused(
    options: CountOptions, vocabulary: VocabularyOptions | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        count_ngrams(text_from_strings(["a b"]), options, vocabulary)


def test_empty_text_is_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        count_ngrams(text_from_strings(["", "\n \n"]))


def test_symbols_in_the_text_are_refused_or_skipped() -> None:
    with pytest.raises(InputError, match=r"item|line 2.*literal </s>"):
        count_ngrams(text_from_strings(["a", "b </s> c"]))
    counts = count_ngrams(
        text_from_strings(["a", "b </s> c"], read=None), read=ReadOptions(skip_symbols=True)
    )
    assert dict(counts.items(1)) == {("a",): 1, ("b",): 1, ("c",): 1, ("</s>",): 2}
