"""The model commands as users run them."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from classgram.__main__ import load_commands
from classgram.cli.app import run
from tests.helpers.texts import random_lines

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command; returns the exit code, standard output and standard error."""
    app = load_commands()

    def call(*tokens: object, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            code = run(lambda: app([str(token) for token in tokens]))
        except SystemExit as exit:
            code = int(exit.code or 0)
        out, err = capfd.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "train.txt").write_text("\n".join(random_lines(1, 300)) + "\n")
    (folder / "test.txt").write_text("\n".join([*random_lines(2, 30), "w1 zzz w2"]) + "\n")
    return folder


def test_from_text_to_every_result(command: Run, texts: Path, tmp_path: Path) -> None:
    kn, bo = tmp_path / "kn", tmp_path / "bo"
    assert command("train", texts / "train.txt", "-o", kn, "--recipe", "kneser-ney", "--quiet") == (0, "", "")
    code, out, err = command(
        "train", texts / "train.txt", "-o", bo, "--recipe", "backoff", "--order", "2", "--cutoff", "3"
    )
    assert (code, out) == (0, "")
    assert "backoff model of order 2" in err
    code, out, _ = command("perplexity", kn, texts / "test.txt", "--json")
    fields = json.loads(out)
    assert {
        "perplexity_including_unknown",
        "perplexity_excluding_unknown",
        "bits_per_word",
        "log10_probability",
        "sentences",
        "words",
        "unknown",
    } <= set(fields)
    assert (fields["sentences"], fields["unknown"]) == (31, 1)
    code, out, _ = command("perplexity", kn, texts / "test.txt")
    assert f"{fields['perplexity_including_unknown']:.2f}" in out
    assert "predicted by 5-grams" in out
    code, out, _ = command("compare", bo, kn, texts / "test.txt", "--json")
    first, second = json.loads(out)["models"]
    assert second["perplexity_including_unknown"] == fields["perplexity_including_unknown"]
    assert second["p_value"] <= 1
    assert "p_value" not in first
    code, out, _ = command("compare", bo, kn, texts / "test.txt")
    assert "change %" in out
    code, _, _ = command("export", kn, tmp_path / "kn.arpa.gz", "--unigrams", tmp_path / "u.txt", "--quiet")
    assert code == 0
    code, out, _ = command("perplexity", tmp_path / "kn.arpa.gz", texts / "test.txt", "--json")
    assert json.loads(out)["log10_probability"] == pytest.approx(fields["log10_probability"], abs=0.01)
    code, out, _ = command("generate", kn, "--sentences", 4, "--seed", 1)
    assert len(out.splitlines()) == 4
    code, out, _ = command("info", kn, "--verify", "--json")
    assert json.loads(out)["recipe"] == "kneser-ney"


@pytest.fixture(scope="module")
def model(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from classgram.models.ngram.ngram_model import train_kneser_ney
    from tests.helpers.texts import counts_of

    path = tmp_path_factory.mktemp("cli") / "model"
    train_kneser_ney(counts_of(random_lines(1, 300), 3)).save(path)
    return path


def test_counts_serve_as_text(command: Run, texts: Path, tmp_path: Path) -> None:
    kn = ("--recipe", "kneser-ney")
    command("count", texts / "train.txt", "-o", tmp_path / "counts", "--order", 3, "--quiet")
    code, *_ = command("train", tmp_path / "counts", "-o", tmp_path / "a", *kn, "--order", 3, "--quiet")
    assert code == 0
    command("train", texts / "train.txt", "-o", tmp_path / "b", *kn, "--order", 3, "--quiet")
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()
    code, _, err = command("train", tmp_path / "counts", "-o", tmp_path / "c", *kn, "--min-count", 2)
    assert (code, "count the text again" in err) == (2, True)
    code, _, err = command("train", tmp_path / "counts", "-o", tmp_path / "c", *kn, "--order", 4)
    assert (code, "count again with --order 4" in err) == (2, True)


def test_surprisal_rows(command: Run, model: Path) -> None:
    code, out, _ = command("surprisal", model, model, "-", stdin="w1 zzz\n\nw2\n")
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert lines[0][:6] == ["sentence", "position", "word", "tokens", "unknown", "log10_frequency"]
    assert [line[:5] for line in lines[1:]] == [
        ["1", "1", "w1", "1", "0"],
        ["1", "2", "zzz", "1", "1"],
        ["3", "1", "w2", "1", "0"],
    ]
    assert all(line[6] == line[7] for line in lines[1:])
    code, out, _ = command("surprisal", model, "-", "--json", stdin="w1\n")
    assert json.loads(out)["word"] == "w1"


def test_score_streams_and_filters(command: Run, model: Path, texts: Path, tmp_path: Path) -> None:
    code, out, err = command("score", model, texts / "test.txt")
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[4] for row in rows] == (texts / "test.txt").read_text().splitlines()
    assert "words/s" in err
    limit = sorted(float(row[0]) for row in rows)[10]
    code, out, _ = command("score", model, "--keep-below", limit, stdin=(texts / "test.txt").read_text())
    assert out.splitlines() == [row[4] for row in rows if float(row[0]) < limit]
    records = [{"id": number, "text": row[4]} for number, row in enumerate(rows)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    code, out, _ = command("score", model, path, "--unit", "document")
    passed = [json.loads(line) for line in out.splitlines()]
    assert [{key: one[key] for key in ("id", "text")} for one in passed] == records
    assert [one["perplexity"] for one in passed] == pytest.approx([float(row[0]) for row in rows], abs=0.01)
    code, out, _ = command("score", model, path, "--field", "body")
    assert (code, out) == (2, "")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("perplexity", "MODEL", "TEST", "--lowercase"), "leave these options out"),
        (("perplexity", "MODEL", "nowhere.txt"), "no such file"),
        (("perplexity", "nowhere", "TEST"), "no such folder"),
        (("compare", "MODEL", "TEST"), "two or more models"),
        (("compare", "MODEL", "MODEL", "-"), "name a file instead of -"),
        (("surprisal", "MODEL"), "a model and then a text"),
        (("export", "MODEL", "out.txt"), "must end in .arpa"),
        (("export", "MODEL", "out.arpa", "--order", "7"), "the model has order 3"),
        (("generate", "MODEL", "--temperature", "0"), "--temperature"),
        (("train", "TEST", "-o", "x/y/z"), "there is no folder"),
        (("train", "TEST", "-o", "new", "--order", "1"), "order from 2"),
        (("train", "TEST", "-o", "new", "--classes", "3"), "--recipe mixture chooses"),
        (("train", "TEST", "-o", "new", "--recipe", "class", "--use-classes", "nowhere"), "no such folder"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    command: Run, model: Path, texts: Path, tokens: tuple[str, ...], message: str
) -> None:
    names = {"MODEL": str(model), "TEST": str(texts / "test.txt")}
    code, out, err = command(*(names.get(token, token) for token in tokens), "--quiet")
    assert code == 2
    assert out == ""
    assert message in err
    assert err.startswith("classgram: ")
    assert err.count("\n") == 1


def test_class_models_make_or_use_their_classes(command: Run, texts: Path, tmp_path: Path) -> None:
    from classgram.clustering.exchange import exchange
    from classgram.counts.counting import count_ngrams
    from classgram.options import ClusterOptions

    train, test = texts / "train.txt", texts / "test.txt"
    made = ("--recipe", "class", "--classes", 8, "--threads", 1, "--quiet")
    assert command("train", train, "-o", tmp_path / "tied", *made)[0] == 0
    exchange(count_ngrams(train), ClusterOptions(classes=8)).save(tmp_path / "classes")
    used = ("--recipe", "class", "--use-classes", tmp_path / "classes")
    assert command("train", train, "-o", tmp_path / "used", *used, "--quiet")[0] == 0
    for file in (tmp_path / "tied").iterdir():
        assert file.read_bytes() == (tmp_path / "used" / file.name).read_bytes()
    assert command("train", train, "-o", tmp_path / "pairs", *used, "--smoothing", "paper", "--quiet")[0] == 0
    assert json.loads((tmp_path / "pairs" / "config.json").read_text())["order"] == 2
    for smoothing in ("paper", "interpolated", "kneser-ney"):
        joint = ("--shape", "joint", "--order", 3, "--contexts", 40, "--smoothing", smoothing)
        assert command("train", train, "-o", tmp_path / smoothing, *made, *joint)[0] == 0
        code, out, _ = command("perplexity", tmp_path / smoothing, test, "--json")
        assert 1 < json.loads(out)["perplexity_including_unknown"] < 100
    code, _, err = command("train", train, "-o", tmp_path / "x", *used, "--classes", 9)
    assert (code, "leave out the options" in err) == (2, True)


def test_the_demo_compares_all_recipes(command: Run, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("classgram.demo.demo_text", lambda: texts / "train.txt")
    code, out, _ = command("demo", "--json", "--quiet")
    result = json.loads(out)
    assert code == 0
    assert len(result["models"]) == 7
    assert all(1 < row["perplexity_including_unknown"] < 100 for row in result["models"])
    code, out, _ = command("demo", "--quiet")
    assert "Kneser-Ney, order 5" in out
