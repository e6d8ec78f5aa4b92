"""The paper's experiments: every table filled, failures in their place, and runs that are killed."""

import csv
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from classgram.__main__ import load_commands
from classgram.cli.app import run
from classgram.counts.counting import count_sentences
from classgram.evaluation.perplexity import evaluate_sentences
from classgram.models.training import train_model
from classgram.options import CountOptions, ModelOptions, SearchOptions
from classgram.reproduction import plots
from classgram.reproduction.cells import (
    Cell,
    Clustering,
    Mixture,
    WordModel,
    cell_key,
    chosen_settings,
    load_result,
)
from classgram.reproduction.experiments import EXPERIMENTS
from classgram.reproduction.plan import SMALL, Plan, TrainingSet, leaving_one_out
from classgram.reproduction.samples import Facts, Sample, load_prepared
from tests.helpers.command import environment, in_process, program
from tests.helpers.texts import synthetic_text


def write_sample(path: Path, lines: int = 400) -> Path:
    """Write a text of few words, with marks, in which enough words are frequent."""
    made, _ = synthetic_text(6, 8, lines)
    path.write_text("".join(f"{line.capitalize()}, {line}.\n" for line in made))
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to its end."""
    folder = tmp_path_factory.mktemp("reproduction")
    text = write_sample(folder / "text.txt")
    app = load_commands()
    words = ["reproduce", "--train", str(text), "-o", str(folder / "made"), "--quiet"]
    assert run(lambda: app(words)) == 0
    return folder


def tables_of(folder: Path, name: str) -> list[dict[str, object]]:
    tables = folder / "made" / "tables"
    return [
        json.loads(path.read_text()) for path in (tables / f"{name}.json", *tables.glob(f"{name}-*.json"))
    ]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_table_and_figure_is_filled(finished: Path, name: str) -> None:
    for table in tables_of(finished, name):
        rows = table["rows"]
        assert isinstance(rows, list)
        assert rows
        with (finished / "made" / "tables" / f"{table['name']}.csv").open() as file:
            read = list(csv.DictReader(file))
        assert [set(row) for row in read] == [set(row) for row in rows]
        text = json.dumps(rows)
        assert "failed" not in text
        assert "not run" not in text
        missing = [row for row in rows if "not available yet" in row.values()]
        assert len(missing) == (2 if name == "section-3" else 0)
        for row in rows:
            if row not in missing and "perplexity" in row:
                assert row["perplexity"] > 1
                assert row["parameters"] > 0
                assert row["bytes"] >= 4 * row["parameters"]
                assert row["perplexity_including_unknown"] > 1
    page = (finished / "made" / "report.md").read_text()
    assert f"figures/{name}.png" in page
    assert (finished / "made" / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (finished / "made" / "figures" / f"{name}.svg").read_text()


def test_classes_that_are_too_many_are_lowered_and_the_table_says_so(finished: Path) -> None:
    table = tables_of(finished, "table-7")[0]
    assert "classes instead of (2000, 2000)" in json.dumps(table["notes"])
    rows = table["rows"]
    assert isinstance(rows, list)
    assert rows[0]["classes"] not in ("(2000, 2000)", None)
    assert rows[0]["improvement"] == pytest.approx(
        100 * (rows[0]["reference"] - rows[0]["clustered"]) / rows[0]["reference"]
    )


def test_a_second_run_has_nothing_to_do(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def files() -> dict[str, int]:
        found = [*(finished / "made" / "cells").iterdir(), *(finished / "made" / "figures").glob("*.png")]
        return {path.name: path.stat().st_mtime_ns for path in found}

    before = files()
    command = in_process(capsys)
    begun = time.process_time()
    result = command("reproduce", "--train", finished / "text.txt", "-o", finished / "made", "--json")
    assert result.code == 0, result.err
    assert time.process_time() - begun < 10
    assert files() == before
    printed = json.loads(result.out)
    assert set(printed["tables"]) == set(EXPERIMENTS)
    assert printed["complete"] is True
    assert printed["facts"]["train_words"] > 1000


def test_a_word_model_cell_is_what_the_library_gives(finished: Path) -> None:
    work = next((finished / "made" / "work").iterdir())
    prepared = load_prepared(work, "strip")
    options = ModelOptions("backoff", 2, cutoff=(10,))
    counts = count_sentences(prepared.vocabulary, prepared.train, CountOptions(2))
    evaluation = evaluate_sentences(train_model(counts, options), prepared.test)[0]
    path = (
        finished / "made" / "cells" / f"{cell_key(WordModel(Sample('strip', None), options), work.name)}.json"
    )
    found = load_result(path)
    assert found is not None
    assert found["perplexity"] == pytest.approx(evaluation.perplexity_excluding_unknown)
    assert found["perplexity_including_unknown"] == pytest.approx(evaluation.perplexity_including_unknown)


def test_a_failing_cell_stands_in_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # No word is seen five times, so nothing can be clustered; back-off models do not mind.
    (tmp_path / "text.txt").write_text("a b c d e\nf g h i j\nk l m n o\np q r s t\n")
    command = in_process(capsys)
    result = command(
        "reproduce", "--train", tmp_path / "text.txt", "-o", tmp_path / "made", "--only", "table-7"
    )
    assert result.code == 0
    assert "no word was seen 5 times" in result.err
    row = json.loads((tmp_path / "made" / "tables" / "table-7.json").read_text())["rows"][0]
    assert row["clustered"].startswith("failed: no word was seen 5 times")
    assert row["reference"] > 1
    assert row["improvement"] is None
    assert "failed: no word" in (tmp_path / "made" / "report.md").read_text()
    # Figures of other experiments are not there, and the page says that they were not run.
    assert "not run" in (tmp_path / "made" / "report.md").read_text()


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    call = program("reproduce", "--train", folder / "text.txt", "-o", folder / "made", "--quiet", *words)
    return subprocess.Popen(call, env=environment(), text=True, stderr=subprocess.PIPE)


def wait_for_cells(folder: Path, number: int) -> set[Path]:
    until = time.monotonic() + 200
    while True:
        found = {path for path in (folder / "made" / "cells").glob("*.json") if "text" not in path.name}
        if len(found) >= number:
            return found
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    write_sample(tmp_path / "text.txt")
    process = start(tmp_path, "--workers", "1")
    found = wait_for_cells(tmp_path, 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = {path: path.stat().st_mtime_ns for path in found}
    again = start(tmp_path, "--only", "table-5", "table-6")
    _, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    assert all(path.stat().st_mtime_ns == changed for path, changed in before.items())
    rows = json.loads((tmp_path / "made" / "tables" / "table-6.json").read_text())["rows"]
    assert all(isinstance(value, int | float) for value in list(rows[0].values())[1:])


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    write_sample(tmp_path / "text.txt")
    process = start(tmp_path, "--workers", "1")
    found = wait_for_cells(tmp_path, 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert err == "classgram: stopped\n"
    assert (tmp_path / "made" / "report.md").exists()
    assert all(path.exists() for path in found)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--train", "missing.txt", "-o", "made"], "missing.txt: no such file"),
        (["--train", "empty.txt", "-o", "made"], "empty.txt: the text is empty"),
        (["--train", "marks.txt", "-o", "made"], "marks.txt: the text is empty"),
        (["--train", "text.txt", "--test", "empty.txt", "-o", "made"], "empty.txt: the text is empty"),
        (["--train", "one.txt", "-o", "made"], "give --test"),
        (["--train", "/dev/null", "-o", "made"], "write it to a file first"),
        (["--test", "text.txt", "-o", "made"], "--test needs --train"),
        (["--train", "text.txt", "-o", "text.txt"], "exists and is a file"),
        (["--train", "text.txt", "-o", "nowhere/made"], "there is no folder"),
        (["--train", "text.txt", "-o", "foreign"], "is no result of classgram"),
        (["--train", "text.txt", "-o", "counts"], "contains another result"),
        (["--train", "text.txt", "-o", "made", "--only", "table-10"], "table-9, section-2"),
        (["--train", "text.txt", "-o", "made", "--scale", "huge"], "huge"),
        (["--train", "text.txt", "-o", "made", "--workers", "0"], "--workers must be 1"),
        (["--train", "text.txt", "-o", "made", "--test-share", "1"], "between 0 and 1"),
        (["--train", "text.txt", "-o", "made", "--seed", "-1"], "--seed must be 0"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_sample(tmp_path / "text.txt", 20)
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "marks.txt").write_text("--\n...\n")
    (tmp_path / "one.txt").write_text("one sentence alone\n")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file").write_text("mine")
    command = in_process(capsys)
    assert command("count", "text.txt", "-o", "counts", "--quiet").code == 0
    result = command("reproduce", *words, "--quiet")
    assert result.code == 2
    assert reason in result.err
    assert result.err.count("\n") == 1


def test_without_matplotlib_there_are_tables_and_a_note(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(plots, "available", lambda: False)
    shutil.copytree(finished / "made", tmp_path / "made")
    shutil.rmtree(tmp_path / "made" / "figures")
    command = in_process(capsys)
    result = command("reproduce", "--train", finished / "text.txt", "-o", tmp_path / "made")
    assert result.code == 0
    assert "pip install 'classgram[plot]'" in result.err
    assert not (tmp_path / "made" / "figures").exists()
    assert ".png" not in (tmp_path / "made" / "report.md").read_text()


def test_a_damaged_cell_is_run_again(
    finished: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shutil.copytree(finished / "made", tmp_path / "made")
    damaged = sorted(path for path in (tmp_path / "made" / "cells").iterdir() if "text" not in path.name)[0]
    whole = json.loads(damaged.read_text())
    damaged.write_text("{")
    shutil.rmtree(tmp_path / "made" / "work")
    command = in_process(capsys)
    result = command("reproduce", "--train", finished / "text.txt", "-o", tmp_path / "made", "--quiet")
    assert result.code == 0, result.err
    again = json.loads(damaged.read_text())
    for record in (whole, again):
        record["result"].pop("cpu_seconds", None)
    assert again == whole


def test_sets_that_a_text_is_too_small_for() -> None:
    plan = Plan(SMALL, Facts(30_000, 100, 10, 1))
    assert plan.sets(SMALL.training_sets) == [
        TrainingSet("T1", 2_000),
        TrainingSet("T2", 12_000),
        TrainingSet("T3", None),
    ]
    assert "T4" in plan.missing(SMALL.training_sets)[0]
    assert plan.search_sample.words is None
    assert Plan(SMALL, Facts(10**9, 1, 1, 1)).missing(SMALL.training_sets) == ()


def test_a_cells_key_depends_on_all_of_its_settings() -> None:
    sample = Sample("verbalise", 100)
    plan = Plan(SMALL, Facts(30_000, 100, 10, 1))
    cells: list[Cell] = [
        WordModel(sample, ModelOptions("backoff", 2, cutoff=(2,))),
        WordModel(sample, ModelOptions("backoff", 2, cutoff=(10,))),
        WordModel(Sample("strip", 100), ModelOptions("backoff", 2, cutoff=(2,))),
        Clustering(sample, leaving_one_out("joint", 5, 5), plan.exact),
        Clustering(sample, leaving_one_out("joint", 5, 5), plan.chosen_heuristic),
        Clustering(sample, leaving_one_out("joint", 5, 6), plan.exact),
        Mixture(sample, 5, 0, "low"),
        Mixture(sample, 5, 1, "low"),
    ]
    keys = [cell_key(cell, text) for cell in cells for text in ("one", "two")]
    assert len(set(keys)) == len(keys)
    assert cell_key(cells[0], "one") == keys[0]


def test_options_at_their_defaults_are_no_part_of_a_key() -> None:
    cell = Clustering(Sample("strip", None), leaving_one_out("joint", 5, 6), SearchOptions(seed=3))
    assert chosen_settings(cell) == {
        "sample": ("strip", None),
        "classes": {
            "classes": 5, "context_classes": 6, "criterion": "loo-paper", "shape": "joint",
            "move_min_count": 5,
        },
        "search": {"seed": 3},
    }  # fmt: skip
