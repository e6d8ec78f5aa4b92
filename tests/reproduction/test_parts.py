"""The parts of the reproduction: samples, workers, tables, claims, and the paper's own arithmetic."""

import os
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.errors import InputError
from classgram.reproduction import paper
from classgram.reproduction.claims import claims_table
from classgram.reproduction.figures import Line, figures_for
from classgram.reproduction.plots import MOST_TICKS, round_ticks
from classgram.reproduction.report import as_csv, markdown
from classgram.reproduction.samples import Prepared, Texts, load_prepared, prepare_texts
from classgram.reproduction.tables import (
    Column,
    Gap,
    Table,
    change,
    exponent,
    improvement,
    rank_correlation,
    ranks,
)
from classgram.reproduction.workers import Failure, Job, Outcome, Pool
from classgram.text.sentences import sentences_from_ids
from classgram.text.vocabulary import EOS, UNK, Vocabulary


def rounded(value: float, like: float) -> bool:
    """Whether a value is what was printed, give or take one in the last digit of two."""
    return abs(value - like) <= max(abs(like) * 0.05, 0.06)


def test_the_papers_percentages_follow_from_its_perplexities_and_times() -> None:
    for row in paper.TABLE_1.values():
        assert rounded(change(row.exact_perplexity, row.heuristic_perplexity) or 0.0, row.perplexity_change)
        times = paper.seconds(row.exact_time), paper.seconds(row.heuristic_time)
        assert rounded(change(*times) or 0.0, row.time_change)
    for table in (paper.TABLE_7, paper.TABLE_8, paper.TABLE_9):
        for against in table.values():
            assert rounded(improvement(against.reference, against.clustered) or 0.0, against.improvement)


def test_the_papers_tables_agree_with_each_other() -> None:
    for backoff, classes in ((paper.TABLE_5, paper.TABLE_7), (paper.TABLE_6, paper.TABLE_8)):
        assert list(backoff) == list(classes) == list(paper.TRAINING_SETS)
        # The reference of tables 7 and 8 is the cut-off 2 of tables 5 and 6.
        assert [row[-1] for row in backoff.values()] == [row.reference for row in classes.values()]
        assert all(len(row) == len(paper.CUTOFFS) for row in backoff.values())
    assert paper.TABLE_6["T7"][-1] == paper.UNKNOWN_INCLUDED[0]
    # t = 10, h = 10 stands in tables 2 and 4, with u = 1000 and u = 10.
    assert abs(paper.TABLE_2[10].perplexity - paper.TABLE_4[10].perplexity) <= 1
    assert paper.seconds("1:02") == 62
    assert paper.seconds("2:51:19") == 10279


LINES = ["The cat, the dog.", "...", "A mouse; a cat!", "", "No-one saw it.", "The end"] * 20


def prepared(tmp_path: Path, **options: Any) -> dict[str, Prepared]:
    (tmp_path / "text.txt").write_text(
        "".join(f"{line} w{i}\n" if line else "\n" for i, line in enumerate(LINES))
    )
    texts = Texts((str(tmp_path / "text.txt"),), **options)
    facts = prepare_texts(texts, tmp_path)
    found = {reading: load_prepared(tmp_path, reading) for reading in ("verbalise", "strip")}
    assert facts.train_sentences == len(found["strip"].train)
    assert facts.train_words == found["strip"].lengths.sum()
    assert facts.test_sentences == len(found["strip"].test)
    return found


def words_of(one: Prepared, words: int | None) -> list[tuple[str, ...]]:
    sentences = one.sentences(words)
    return [tuple(one.vocabulary.word(i) for i in sentences[n][:-1]) for n in range(len(sentences))]


def test_samples_are_nested_and_the_same_sentences_in_both_readings(tmp_path: Path) -> None:
    found = prepared(tmp_path, test_share=0.2)
    sizes = (5, 40, 100, None)
    for one in found.values():
        samples = [words_of(one, size) for size in sizes]
        for small, large in pairwise(samples):
            assert set(small) < set(large)
        spoken = {one.vocabulary.word(int(i)) for i in one.test.ids}
        assert {"<unk>", "</s>"} <= spoken
    for size in sizes:
        numbers = [
            [sentence[-1] for sentence in words_of(found[reading], size)]
            for reading in ("verbalise", "strip")
        ]
        assert numbers[0] == numbers[1]
        if size is not None:
            total = sum(len(sentence) for sentence in words_of(found["strip"], size))
            assert size <= total < size + 10
    assert any(",COMMA" in sentence for sentence in words_of(found["verbalise"], None))
    assert not any(",COMMA" in sentence for sentence in words_of(found["strip"], None))


def test_a_held_out_sentence_is_no_training_sentence(tmp_path: Path) -> None:
    one = prepared(tmp_path, test_share=0.3)["strip"]
    # Every sentence has a number of its own as a word, which is unknown in the test.
    last = one.test.ids[one.test.offsets[1:] - 2]
    assert (last == UNK).all()
    other = prepared(tmp_path, test_share=0.3, seed=1)["strip"]
    assert other.vocabulary.words != one.vocabulary.words
    again = prepared(tmp_path, test_share=0.3)["strip"]
    assert np.array_equal(again.train.ids, one.train.ids)


def test_a_test_text_of_its_own_and_a_limit_of_words(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("The cat!\n?!\nA zebra\n")
    found = prepared(tmp_path, test=(str(tmp_path / "test.txt"),), most_words=50, vocabulary_size=4)
    one = found["strip"]
    assert len(one.vocabulary) == 7
    assert 50 <= one.lengths.sum() < 60
    assert [len(one.test[i]) for i in range(len(one.test))] == [3, 3]


def test_texts_have_different_fingerprints(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two\nthree\n")
    (tmp_path / "b").write_text("one two\nfour\n")
    names = [str(tmp_path / name) for name in ("a", "b")]
    every = [
        Texts((names[0],)), Texts((names[1],)), Texts((names[0],), (names[1],)), Texts((names[0], names[1])),
        Texts((names[0],), seed=1), Texts((names[0],), test_share=0.5), Texts((names[0],), most_words=7),
    ]  # fmt: skip
    assert len({texts.fingerprint() for texts in every}) == len(every)
    assert Texts((names[0],)).fingerprint() == Texts((names[0],)).fingerprint()


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
    st.integers(1, 200),
)
def test_a_sample_is_the_shortest_beginning_of_the_order_that_is_long_enough(
    lengths: list[int], random: Any, words: int
) -> None:
    order = list(range(len(lengths)))
    random.shuffle(order)
    ids = np.concatenate([[*([3] * length), EOS] for length in lengths]).astype(np.int32)
    sentences = sentences_from_ids(ids, EOS)
    one = Prepared(Vocabulary.from_words(["a"]), sentences, sentences, np.argsort(order), np.array(lengths))
    expected: list[int] = []
    for line in order:
        if sum(lengths[i] for i in expected) >= words:
            break
        expected.append(line)
    found = one.sentences(words)
    assert (np.diff(found.offsets) - 1).tolist() == [lengths[i] for i in sorted(expected)]


def nothing() -> None:
    """Prepare nothing."""


def act(what: str) -> str:
    """Do what a job asks for."""
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "leave":
        os._exit(3)
    if what == "memory":
        raise MemoryError
    if what == "input":
        raise InputError("mend this")
    if what == "other":
        raise ValueError("odd")
    return what.upper()


def test_what_fails_takes_nothing_else_along() -> None:
    told: list[str] = []

    def done(job: Job, outcome: Outcome) -> None:
        told.append(job.name)

    names = ["fine", "die", "memory", "input", "leave", "other", "good"]
    jobs = [Job(name, name) for name in names]
    jobs += [Job("after die", "late", ("fine", "die")), Job("after fine", "late", ("fine",))]
    with Pool(2, nothing, act) as pool:
        outcomes = pool.run(jobs, done)
    assert outcomes["fine"] == "FINE"
    assert outcomes["good"] == "GOOD"
    assert outcomes["after fine"] == "LATE"
    assert isinstance(outcomes["die"], Failure)
    assert "lack of memory" in outcomes["die"].reason
    assert outcomes["after die"] == outcomes["die"]
    assert outcomes["memory"] == Failure("not enough memory")
    assert outcomes["input"] == Failure("mend this")
    assert outcomes["leave"] == Failure("its process ended with exit code 3")
    assert outcomes["other"] == Failure("ValueError: odd")
    assert sorted(told) == sorted(outcomes)
    assert all(not worker.process.is_alive() for worker in pool.workers)


@given(st.floats(-3, 3), st.floats(0.1, 100), st.lists(st.integers(1, 10**6), min_size=2, unique=True))
def test_the_exponent_of_a_power_is_found(power: float, factor: float, xs: list[int]) -> None:
    found = exponent(xs, [factor * x**power for x in xs])
    assert found == pytest.approx(power, abs=1e-6)


def test_gaps_are_no_numbers() -> None:
    assert exponent([1, 2], [Gap("failed"), 3]) is None
    assert improvement(Gap("failed"), 3) is None
    assert change(0, 3) is None
    assert rank_correlation([1, 2, Gap("")], [1, 2, 3]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    assert ranks([5, 1, 5]) == [1.5, 0, 1.5]


def test_tables_as_text() -> None:
    columns = (Column("name", "name", "text"), Column("perplexity", "perplexity"), Column("n", "n", "count"))
    table = Table(
        "t", "A table", columns, (("a|b", 12.345, 1000), ("c", Gap("failed: x"), None)), ("A note.",)
    )
    assert markdown(table).splitlines() == [
        "**A table**", "", "| name | perplexity | n |", "| --- | ---: | ---: |",
        "| a\\|b | 12.3 | 1,000 |", "| c | failed: x | – |", "", "A note.",
    ]  # fmt: skip
    assert as_csv(table) == "name,perplexity,n\na|b,12.345,1000\nc,failed: x,\n"


def improvements(values: tuple[float | Gap, ...]) -> list[Table]:
    columns = (
        Column("tokens", "tokens"),
        Column("reference", "back-off: ours"),
        Column("clustered", "clustered: ours"),
        Column("improvement", "improvement"),
    )
    return [Table("table-7", "", columns, tuple((10 * i + 1, 5.0, 4.0, v) for i, v in enumerate(values)))]


def test_claims_hold_or_not() -> None:
    rows = claims_table({"table-7": improvements((4.0, -1.0))}).rows
    assert [row[2:] for row in rows] == [(22, 4.0, "yes"), (-8.2, -1.0, "yes")]
    rows = claims_table({"table-7": improvements((-4.0, 1.0))}).rows
    assert [row[4] for row in rows] == ["no", "no"]
    rows = claims_table({"table-7": improvements((Gap("failed"), 1.0))}).rows
    assert [row[4] for row in rows] == [None, "no"]


def test_gaps_are_left_out_of_figures() -> None:
    assert Line("", (1, 2, 3), (1.0, Gap("failed"), 3.0)).points() == [(1.0, 1.0), (3.0, 3.0)]
    (figure,) = figures_for({"table-7": improvements((Gap("failed"), 1.0))}).values()
    labels = [line.label for panel in figure.panels for line in panel.lines]
    assert labels[0] == "back-off, ours"
    assert len(set(labels)) == len(labels)


@given(st.floats(0.01, 1e6), st.floats(1.0001, 1e6))
def test_ticks_are_round_and_few(low: float, factor: float) -> None:
    ticks = round_ticks(low, low * factor)
    assert 1 <= len(ticks) <= MOST_TICKS
    assert len(set(ticks)) == len(ticks)
