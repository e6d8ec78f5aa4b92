"""The drop-ins: the call lines that scripts use, the files that their readers want, the exit codes."""

import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from classgram.class_files.comparison import judge_classes
from classgram.class_files.reading import read_classes
from classgram.cli.dropins import commands as dropins
from classgram.cli.dropins.install import install_dropins
from classgram.cli.dropins.options import (
    ClustercatOptions,
    MkclsOptions,
    parse_clustercat,
    parse_mkcls,
)
from classgram.counts.counting import count_ngrams
from classgram.errors import InputError
from tests.helpers.command import environment
from tests.helpers.texts import synthetic_text

LINES = synthetic_text(6, 12, 300)[0]
RIVALS = Path(__file__).resolve().parents[3] / "rivals" / "bin"


def call(program: str, *words: str | Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a drop-in that is run in this process."""
    monkeypatch.setattr(sys, "argv", [program, *map(str, words)])
    with pytest.raises(SystemExit) as left:
        getattr(dropins, program)()
    return int(left.value.code or 0)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "corpus"
    path.write_text("\n".join(LINES) + "\n$ , # rare\n")
    return path


MKCLS_CALLS = {
    "Moses and mgiza": "-c50 -n2 -pcorpus -Vout opt",
    "mgiza's manual": "-n10 -pcorpus -Vout",
    "GIZA++'s own script": "-m2 -pcorpus -c50 -Vout opt",
    "with spaces": "-c 50 -n 2 -p corpus -V out opt",
    "the program's help": "-c80 -n10 -pcorpus -Vout opt",
}


@pytest.mark.parametrize("caller", MKCLS_CALLS)
def test_mkcls_takes_the_usual_call_lines(
    caller: str, corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dropins, "SWEEPS_A_RUN", 1)
    assert call("mkcls", *MKCLS_CALLS[caller].split(), monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    rows = [line.split("\t") for line in Path("out").read_text().splitlines()]
    words = Counter(corpus.read_text().split())
    # GIZA++ asserts that no word appears twice, and has no class for a word that is not there.
    assert sorted(word for word, _ in rows) == sorted(words)
    numbers = {word: int(number) for word, number in rows}
    asked = parse_mkcls(MKCLS_CALLS[caller].split())
    rare = {word for word in words if words[word] < asked.min_count}
    assert {word for word, number in numbers.items() if number == 1} == rare
    assert min(numbers[word] for word in words if word not in rare) == 2
    assert max(numbers.values()) <= asked.classes + 1
    head, boundary, *classes = Path("out.cats").read_text().splitlines()
    assert head == f";KategProblem:cats: {max(numbers.values()) - 1}   words: {len(words) + 1}"
    assert boundary == "0:$,"
    assert [line.partition(":")[0] for line in classes] == [str(i + 1) for i in range(len(classes))]


def test_mkcls_options() -> None:
    assert parse_mkcls([]) == MkclsOptions(100, 1, Path("train"), None, 1, None, 0)
    parsed = parse_mkcls(
        [
            "-c20",
            "-n3",
            "-pin",
            "-Vout",
            "-m5",
            "-s60",
            "-r7",
            "-aTA",
            "-iran",
            "-v1",
            "-e0.5",
            "3",
            "-kbest",
            "opt",
        ]
    )
    assert parsed == MkclsOptions(20, 3, Path("in"), Path("out"), 5, 60.0, 7)
    for wrong in ("-z1", "-cmany", "-c0", "what", "-c", "-P ngrams"):
        with pytest.raises(InputError):
            parse_mkcls(wrong.split())


def test_clustercat_options() -> None:
    assert parse_clustercat([]) == ClustercatOptions()
    line = "-c 20 --min-count 1 -j 15 --print-freqs --class-offset 2 --in a --out b --tune-cycles 3 -q"
    expected = ClustercatOptions(20, 1, "a", Path("b"), None, 2, True, 3, False, 15, True)
    assert parse_clustercat(line.split()) == expected
    same = "-c20 --min-count=1 --threads=15 --print-freqs --class-offset=2 --in=a --out=b --tune-cycles=3 -q"
    assert parse_clustercat(same.split()) == expected
    ignored = "--forward-lambda 0.5 --refine 0 --rev-alternate 0 --unidirectional --max-array 2 -v"
    assert parse_clustercat(ignored.split()) == ClustercatOptions()
    for wrong in ("--what", "--classes", "--classes x", "--ngram-input", "--word-vectors binary", "file"):
        with pytest.raises(InputError):
            parse_clustercat(wrong.split())


@pytest.mark.parametrize(
    ("program", "words", "code"),
    [
        ("mkcls", ["-pmissing", "-Vout"], 1),
        ("mkcls", ["-pcorpus", "-Vnowhere/out"], 1),
        ("mkcls", ["-z"], 1),
        ("mkcls", ["-pempty", "-Vout"], 1),
        ("mkcls", ["-h"], 0),
        ("clustercat", ["--in", "missing"], 2),
        ("clustercat", ["--in", "empty"], 2),
        ("clustercat", ["--what"], 2),
        ("clustercat", ["--help"], 0),
    ],
)
def test_exit_codes(
    program: str,
    words: list[str],
    code: int,
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("empty").touch()
    assert call(program, *words, monkeypatch=monkeypatch) == code
    assert len(capsys.readouterr().err.splitlines()) <= 2
    assert not Path("out").exists()


def test_mkcls_gives_bytes_back(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.write_bytes(b"caf\xe9 a b <s> c\na caf\xe9 \xa0x\n" * 3)
    assert call("mkcls", "-c2", "-pcorpus", "-Vout", monkeypatch=monkeypatch) == 0
    words = {line.split(b"\t")[0] for line in Path("out").read_bytes().splitlines()}
    assert words == {b"caf\xe9", b"a", b"b", b"c", b"\xa0x"}


def test_more_classes_than_words(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.write_text("a b c\n")
    assert call("mkcls", "-c50", "-pcorpus", "-Vout", monkeypatch=monkeypatch) == 0
    assert sorted(line.split("\t")[1] for line in Path("out").read_text().splitlines()) == ["2", "3", "4"]
    for classes in ("1", "2", "3", "9"):
        words = ("-c", classes, "--min-count", "1", "--in", "corpus", "--out", "cc.tsv")
        assert call("clustercat", *words, monkeypatch=monkeypatch) == 0
        numbers = [int(line.split("\t")[1]) for line in Path("cc.tsv").read_text().splitlines()]
        assert max(numbers) < int(classes)


def test_clustercat_layout(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--classes", "8", "--in", "corpus", "--out", "cc.tsv", "--print-freqs", "-q", "-j", "1")
    assert call("clustercat", *words, monkeypatch=monkeypatch) == 0
    rows = [line.split("\t") for line in Path("cc.tsv").read_text().splitlines()]
    assert rows == sorted(rows, key=lambda row: (int(row[1]), -int(row[2]), row[0]))
    assert {"<s>", "</s>", "<unk>"} <= {row[0] for row in rows}
    assert "rare" not in {row[0] for row in rows}
    assert {int(row[1]) for row in rows} == set(range(8))
    start = ("--class-file", "cc.tsv", "--class-offset", "5", "--tune-cycles", "1")
    assert call("clustercat", *words[:4], *start, "--out", "two.tsv", monkeypatch=monkeypatch) == 0
    assert min(int(line.split("\t")[1]) for line in Path("two.tsv").read_text().splitlines()) == 5
    vectors = ("--word-vectors", "text", "--out", "x.vec")
    assert call("clustercat", *words[:4], *vectors, monkeypatch=monkeypatch) == 0
    assert Path("x.vec").read_text().splitlines()[0].split()[1] == "8"


def test_installed_under_the_original_names(corpus: Path) -> None:
    folder = Path("bin")
    folder.mkdir()
    install_dropins(folder)
    assert install_dropins(folder) == [folder / "mkcls", folder / "clustercat"]
    path = f"{folder.resolve()}:{os.environ['PATH']}"
    line = "mkcls -c5 -n1 -pcorpus -Vout opt && clustercat --classes 5 < corpus > cc.tsv"
    run = subprocess.run(["bash", "-c", line], env=environment(PATH=path), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert read_classes("out").members
    assert read_classes("cc.tsv").members


def test_nothing_is_replaced_by_surprise(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="create it"):
        install_dropins(tmp_path / "nowhere")
    (tmp_path / "clustercat").write_text("#!/bin/sh\n")
    with pytest.raises(InputError, match="no drop-in"):
        install_dropins(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clustercat"]


@pytest.mark.parametrize("program", ["mkcls", "clustercat"])
def test_better_than_the_original(program: str, treebank: Path, corpus: Path) -> None:
    """On a tenth of the Treebank, so that it takes seconds; the whole is in the documentation."""
    original = RIVALS / program
    if not original.exists():
        pytest.skip(f"{original} is not here")
    corpus.write_text("".join(treebank.read_text().splitlines(keepends=True)[:4000]))
    words = {
        "mkcls": "-c50 -n2 -pcorpus -VFILE opt",
        "clustercat": "-c 50 --in corpus --min-count 1 > FILE",
    }[program]
    mine = f"from classgram.cli.dropins.commands import {program}; {program}()"
    for name, start in {"theirs": [str(original)], "ours": [sys.executable, "-c", mine]}.items():
        line = f"{shlex.join(start)} {words.replace('FILE', name)}"
        subprocess.run(["bash", "-c", line], env=environment(), check=True, capture_output=True)
    counts = count_ngrams(corpus)
    assert judge_classes("ours", counts).ml > judge_classes("theirs", counts).ml
