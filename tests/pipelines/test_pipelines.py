"""The library calls write what the commands write, from every kind of input, and refuse what is wrong."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import classgram
from classgram.classes.partition import Partition
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.options import ClusterOptions, RunOptions
from classgram.pipelines.keywords import as_keywords
from classgram.runtime.threads import available_threads
from tests.helpers.command import Command, in_process
from tests.helpers.texts import synthetic_text

LINES, _ = synthetic_text(6, 8, 300)

SOURCES: dict[str, Callable[[], Any]] = {
    "a name": lambda: "text.txt",
    "a path": lambda: Path("text.txt"),
    "a list of paths": lambda: [Path("text.txt")],
    "strings": lambda: LINES,
    "one string of many lines": lambda: ["\n".join(LINES)],
    "an iterator": lambda: iter(LINES),
    "records": lambda: [{"text": line} for line in LINES],
    "columns": lambda: {"text": LINES},
    "a Text": lambda: classgram.text_from_strings(LINES),
    "a pandas column": lambda: pytest.importorskip("pandas").Series(LINES),
    "a polars frame": lambda: pytest.importorskip("polars").DataFrame({"text": LINES}),
    "an Arrow table": lambda: pytest.importorskip("pyarrow").table({"text": LINES}),
    "counts": lambda: NgramCounts.load("counts"),
    "a folder of counts": lambda: "counts",
}
TEXTS = [name for name in SOURCES if "counts" not in name]

SEARCH: dict[str, Any] = {"classes": 6, "sweeps": 3, "threads": 1}
SEARCH_WORDS = ("--classes", "6", "--sweeps", "3", "--threads", "1", "--quiet")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a text and its counts, which is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("\n".join(LINES) + "\n")
    classgram.count("text.txt", order=3, output="counts")
    return tmp_path


def contents(folder: str, *left_out: str) -> dict[str, bytes]:
    """The files of a folder by name, but for those with times in them."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    return {name: data for name, data in files.items() if name not in left_out}


@pytest.mark.parametrize("name", TEXTS)
def test_count_writes_what_the_command_writes(name: str, here: Path, command: Command) -> None:
    assert command("count", "text.txt", "-o", "theirs", "--order", "3", "--min-count", "2").code == 0
    counts = classgram.count(SOURCES[name](), order=3, min_count=2, output="ours")
    assert contents("ours") == contents("theirs")
    assert counts.order == 3


@pytest.mark.parametrize("name", SOURCES)
def test_cluster_writes_what_the_command_writes(name: str, here: Path, command: Command) -> None:
    assert command("cluster", "text.txt", "-o", "theirs", *SEARCH_WORDS).code == 0
    result = classgram.cluster(SOURCES[name](), output="ours", **SEARCH)
    # history.json and its checksum hold times.
    times = ("history.json", "config.json")
    assert contents("ours", *times) == contents("theirs", *times)
    assert result.partition.classes_tsv() == Path("theirs/classes.tsv").read_bytes()
    assert not Path("ours.checkpoint").exists()


@pytest.mark.parametrize("name", SOURCES)
def test_train_writes_what_the_command_writes(name: str, here: Path, command: Command) -> None:
    options: dict[str, Any] = {"recipe": "kneser-ney", "order": 3, "threads": 2}
    words = ("--recipe", "kneser-ney", "--order", "3", "--threads", "2", "--quiet")
    assert command("train", "text.txt", "-o", "theirs", *words).code == 0
    model = classgram.train(SOURCES[name](), output="ours", **options)
    assert contents("ours") == contents("theirs")
    assert model.order == 3


def test_class_files_by_their_endings(here: Path, command: Command) -> None:
    for name in ("tsv", "paths", "classes", "cls"):
        assert command("cluster", "text.txt", "-o", f"theirs.{name}", *SEARCH_WORDS).code == 0
        classgram.cluster("text.txt", output=f"ours.{name}", **SEARCH)
        assert Path(f"ours.{name}").read_bytes() == Path(f"theirs.{name}").read_bytes()


def test_several_files_are_one_text(here: Path) -> None:
    twice = classgram.count("text.txt", Path("text.txt"))
    assert twice.tokens == 2 * classgram.count("text.txt").tokens


def test_the_mixture_from_text_and_from_counts(here: Path, command: Command) -> None:
    words = ("--effort", "low", "--cache", "--valid", "text.txt", "--order", "3")
    for source in ("text.txt", "counts"):
        told = command("train", source, "-o", "theirs", *words)
        assert told.code == 0
        notes: list[str] = []
        options: dict[str, Any] = {"effort": "low", "cache": True, "order": 3, "output": "ours"}
        classgram.train(source, valid=LINES, note=notes.append, **options)
        assert contents("ours") == contents("theirs")
        assert notes == told.err.splitlines()[-len(notes) - 1 : -1]
        assert any(note.startswith("weight ") for note in notes)


def test_class_models_with_classes_made_or_given(here: Path, command: Command) -> None:
    made = classgram.cluster("counts", output="classes", **SEARCH).partition
    words = ("--recipe", "class", "--use-classes", "classes", "--quiet")
    assert command("train", "text.txt", "-o", "theirs", *words).code == 0
    for classes in (made, "classes", Path("classes")):
        classgram.train("text.txt", recipe="class", use_classes=classes, output="ours")
        assert contents("ours") == contents("theirs")
    own = ("--recipe", "class", "--classes", "5", "--seed", "1", "--effort", "normal", "--quiet")
    assert command("train", "text.txt", "-o", "theirs", *own).code == 0
    classgram.train("text.txt", recipe="class", classes=5, seed=1, effort="normal", output="ours")
    assert contents("ours") == contents("theirs")


def test_threads_do_not_change_what_is_trained(here: Path) -> None:
    for threads in (1, 3):
        classgram.train("text.txt", recipe="kneser-ney", threads=threads, output=f"kn-{threads}")
        options: dict[str, Any] = {"effort": "low", "order": 3, "threads": threads}
        classgram.train("text.txt", output=f"mixture-{threads}", **options)
    assert contents("kn-1") == contents("kn-3")
    assert contents("mixture-1") == contents("mixture-3")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no CPU affinity")
def test_by_default_all_cores_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    from classgram.pipelines import counting

    used = []

    def count_ngrams(*arguments: Any, threads: int, **more: Any) -> NgramCounts:
        used.append(threads)
        return NgramCounts.load("counts")

    monkeypatch.setattr(counting, "count_ngrams", count_ngrams)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5, 7})
    assert available_threads() == 3
    classgram.train("text.txt", recipe="kneser-ney", order=3)
    classgram.train("text.txt", recipe="kneser-ney", order=3, threads=2)
    classgram.count("text.txt")
    assert used == [3, 2, 3]


BAD: dict[str, Callable[[], Any]] = {
    "no such file or folder": lambda: classgram.count("missing.txt"),
    "no text given": lambda: classgram.train(recipe="katz"),
    "a list of strings is a text": lambda: classgram.cluster(["text.txt", "text.txt"]),
    "one text": lambda: classgram.count("text.txt", LINES),
    "counts already": lambda: classgram.count("counts"),
    "contains no texts": lambda: classgram.count(5),  # type: ignore[arg-type]
    "it contains no words": lambda: classgram.count([""]),
    "options are fixed": lambda: classgram.cluster("counts", lowercase=True),
    "and text options are fixed": lambda: classgram.train("counts", min_count=2, recipe="katz"),
    "the counts: contains counts": lambda: classgram.train(NgramCounts.load("counts"), punctuation="strip"),
    "but TextOptions": lambda: classgram.count(classgram.text_from_strings(LINES), lowercase=True),
    "give --valid": lambda: classgram.train("counts"),
    "criterion='best': must be 'ml', 'loo'": lambda: classgram.cluster("text.txt", criterion="best"),
    "classes='many': must be int or 'auto'": lambda: classgram.cluster("text.txt", classes="many"),
    "order=2.5: must be int": lambda: classgram.count("text.txt", order=2.5),
    "order=True: must be int": lambda: classgram.count("text.txt", order=True),
    "cutoffs=('2',): must be a list of int": lambda: classgram.count("text.txt", cutoffs="2"),
    "--threads must be 1 or more": lambda: classgram.count("text.txt", threads=0),
    "--recipe katz has no classes": lambda: classgram.train("text.txt", recipe="katz", classes=3),
    "chooses its classes itself": lambda: classgram.train("text.txt", use_classes="classes"),
    "are for --recipe mixture": lambda: classgram.train("text.txt", recipe="katz", valid="text.txt"),
    "leave out the options": lambda: classgram.train("text.txt", recipe="class", use_classes="c", classes=3),
    "for other recipes": lambda: classgram.train("text.txt", smoothing="paper"),
    "there is no folder": lambda: classgram.count("text.txt", output="missing/counts"),
    "exists and is a file": lambda: classgram.cluster("text.txt", classes=3, output="text.txt"),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_an_input_error(message: str, here: Path) -> None:
    with pytest.raises(InputError) as error:
        BAD[message]()
    assert message in str(error.value)
    assert sorted(path.name for path in here.iterdir()) == ["counts", "text.txt"]


@pytest.mark.parametrize("call", [classgram.count, classgram.cluster, classgram.train])
def test_unknown_options_are_named(call: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="no option 'lower_case'; did you mean 'lowercase'"):
        call(LINES, lower_case=True)
    with pytest.raises(TypeError, match=r"no option 'xyzzy'; it has .*min_count"):
        call(LINES, xyzzy=1)


def test_options_agree_with_what_counts_were_made_with(here: Path) -> None:
    counts = classgram.count([line.upper() for line in LINES], lowercase=True, output="lower")
    assert classgram.train("lower", recipe="katz", lowercase=True, order=2).vocabulary.text.lowercase
    with pytest.raises(InputError, match="options are fixed"):
        classgram.train(counts, recipe="katz", lowercase=True, punctuation="strip")


def test_values_are_taken_in_the_type_of_their_field(here: Path) -> None:
    Path("words.txt").write_text("\n".join(LINES[0].split()))
    counts = classgram.count("text.txt", order=np.int64(2), cutoffs=[2], words="words.txt")
    assert set(counts.vocabulary.words[3:]) == set(LINES[0].split())
    assert min(count for _, count in counts.items(2)) == 2
    assert min(count for _, count in classgram.count("text.txt", cutoffs=2).items(2)) == 2


def test_fields_of_dataclasses_are_keywords(here: Path) -> None:
    options = as_keywords(ClusterOptions(classes=6), RunOptions(threads=1))
    assert np.array_equal(
        classgram.cluster("text.txt", sweeps=3, **options).partition.words,
        classgram.cluster("text.txt", **SEARCH).partition.words,
    )


def test_a_run_without_output_can_start_from_saved_classes(here: Path) -> None:
    first = classgram.cluster("text.txt", output="classes", **SEARCH)
    again = classgram.cluster("text.txt", start="classes", **(SEARCH | {"sweeps": None}))
    assert again.F >= first.F
    assert again.converged
    assert Partition.load("classes").class_count == 8


def test_the_estimator_fits_and_predicts_in_one_call() -> None:
    model = classgram.WordClasses(n_classes=np.int64(4), n_jobs=1)  # type: ignore[arg-type]
    assert np.array_equal(model.fit_predict(LINES), model.predict(model.words_))
