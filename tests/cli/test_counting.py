"""The commands on text and counts, as a fussy user runs them."""

import gzip
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from classgram.counts.ngram_counts import NgramCounts
from classgram.files.atomic import lock
from tests.helpers.command import Command, environment, in_process, in_shell, program

TEXT = "the cat saw the dog .\na dog saw the cat .\n"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to work in, but for a text."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_count_writes_a_folder_and_says_so(here: Path, command: Command) -> None:
    result = command("count", "text.txt", "-o", "counts", "--order", "3")
    assert result.code == 0
    assert result.out == ""
    assert result.err.splitlines()[-1].startswith("counts: 14 words and sentence ends, 9 different words")
    counts = NgramCounts.load("counts")
    assert counts.order == 3
    assert dict(counts.items(1))["the",] == 3
    assert names(here) == ["counts", "text.txt"]


def test_quiet_is_quiet(here: Path, command: Command) -> None:
    assert command("count", "text.txt", "-o", "counts", "--quiet") == (0, "", "")


def test_two_runs_write_identical_bytes(here: Path, command: Command) -> None:
    for name in ("one", "two"):
        command(
            "count", "text.txt", "text.txt", "-o", name, "--order", "4", "--cutoffs", "1", "--cutoffs", "2"
        )
    assert len(contents(here / "one")) == 12
    assert contents(here / "one") == contents(here / "two")
    in_shell("cat text.txt text.txt | $CLASSGRAM count - -o three --order 4 --cutoffs 1 --cutoffs 2")
    assert contents(here / "one") == contents(here / "three")


def test_a_later_run_replaces_the_earlier(here: Path, command: Command) -> None:
    for order in ("3", "2"):
        assert command("count", "text.txt", "-o", "counts", "--order", order).code == 0
        assert NgramCounts.load("counts").order == int(order)


def test_every_option_of_count(here: Path, command: Command) -> None:
    Path("words.txt").write_text("THE\ndog\nzebra\n")
    result = command(
        *("count", "text.txt", "-o", "counts", "--order", "2", "--vocabulary-size", "5", "--min-count", "2"),
        *("--words", "words.txt", "--lowercase", "--punctuation", "strip", "--memory", "100M"),
        *("--encoding-errors", "replace", "--skip-symbols", "--field", "body"),
    )
    assert result.code == 0
    vocabulary = NgramCounts.load("counts").vocabulary
    assert vocabulary.words[3:] == ("the", "dog", "zebra")
    assert vocabulary.text.lowercase
    assert vocabulary.text.punctuation == "strip"


def test_a_vocabulary_larger_than_the_text_takes_all(here: Path, command: Command) -> None:
    assert command("count", "text.txt", "-o", "counts", "--vocabulary-size", "1000").code == 0
    assert len(NgramCounts.load("counts").vocabulary) == 9


def test_help_names_the_symbols(command: Command) -> None:
    code, out, _ = command("count", "--help")
    assert code == 0
    assert "<unk>, <s> and </s>" in " ".join(out.replace("│", " ").split())


def test_info_shows_what_a_folder_holds(here: Path, command: Command) -> None:
    command("count", "text.txt", "-o", "counts", "--lowercase")
    result = command("info", "counts", "--verify", "--json")
    facts = json.loads(result.out)
    assert result.code == 0
    assert result.err == ""
    assert facts["format"] == "classgram-counts"
    assert (facts["order"], facts["tokens"], facts["types"]) == (2, 14, 9)
    assert facts["text"] == {"lowercase": True, "punctuation": "keep"}
    assert facts["verified"] is True
    assert facts["bytes"] == sum(map(len, contents(here / "counts").values()))
    table = command("info", "counts").out
    assert "classgram-counts" in table
    assert "lowercase True, punctuation keep" in table


def test_info_verify_finds_what_was_altered(here: Path, command: Command) -> None:
    command("count", "text.txt", "-o", "counts")
    for name in ("counts-2.npy", "vocabulary.txt"):
        path = here / "counts" / name
        whole = path.read_bytes()
        path.write_bytes(whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:])
        assert command("info", "counts").code == 0
        code, out, err = command("info", "counts", "--verify")
        assert (code, out) == (2, "")
        assert err == f"classgram: counts/{name}: was altered after it was written; recreate the folder\n"
        path.write_bytes(whole)
    assert command("info", "counts", "--verify").code == 0


def make_bad_inputs() -> None:
    """Files of every bad kind, in the current folder."""
    Path("empty.txt").touch()
    Path("blank.txt").write_text(" \n\n\t\n")
    Path("folder").mkdir()
    Path("cut.gz").write_bytes(gzip.compress(TEXT.encode())[:-5])
    Path("plain.zst").write_text(TEXT)
    Path("latin.txt").write_bytes(b"one\ncaf\xe9\n")
    Path("nul.txt").write_bytes(b"one\ntw\0o\n")
    Path("symbol.txt").write_text("one\ntwo </s>\n")
    Path("field.jsonl").write_text('{"text": "a"}\n{"body": "b"}\n')
    Path("mine").mkdir()
    Path("mine/file").touch()


BAD: list[tuple[list[str], str]] = [
    (["empty.txt"], "empty.txt: the text is empty: it contains no words; name another"),
    (["blank.txt"], "blank.txt: the text is empty: it contains no words; name another"),
    (["missing.txt"], "missing.txt: no such file or folder"),
    (["folder"], "folder: the folder contains no text; name a folder with files, or a file"),
    ([], "no text given: name files, folders, or - for standard input"),
    (["cut.gz"], "cut.gz: broken or cut short gz file (Compressed file ended before the end-of-stream"),
    (["plain.zst"], "plain.zst: broken or cut short zst file ("),
    (["latin.txt"], "latin.txt, line 2: invalid UTF-8 at byte 7; convert the file, or go on with --enc"),
    (["nul.txt"], "nul.txt, line 2: NUL byte at byte 6; is it a text file? convert it to UTF-8"),
    (
        ["symbol.txt"],
        "symbol.txt, line 2: the text contains a literal </s>, which marks sentences; remove it",
    ),
    (["field.jsonl"], "field.jsonl, line 2: no text in field 'text'; name another with --field"),
    (["text.txt", "--order", "0"], "--order must be 1 or more"),
    (
        ["text.txt", "--order", "two"],
        'Invalid value for --order: unable to convert "two" into int; see classgram --help',
    ),
    (["text.txt", "--vocabulary-size", "0"], "--vocabulary-size must be 1 or more"),
    (["text.txt", "--min-count", "-1"], "--min-count must be 1 or more"),
    (["text.txt", "--cutoffs", "0"], "--cutoffs must be 1 or more"),
    (["text.txt", "--memory", "much"], "--memory much: not a size; write for example 500M or 2G"),
    (["text.txt", "--memory", "inf"], "--memory inf: not a size; write for example 500M or 2G"),
    (["text.txt", "--words", "empty.txt"], "empty.txt: the word list is empty; write one word a line"),
    (["text.txt", "--words", "missing.txt"], "missing.txt: no such file or folder"),
    (["text.txt", "--punctuation", "loud"], 'Invalid value "loud" for --punctuation'),
    (["text.txt", "--colour"], "unknown option --colour; see classgram --help"),
    (["text.txt", "-o", "mine"], "mine: exists and is no result of classgram; choose another name"),
    (["text.txt", "-o", "text.txt"], "text.txt: exists and is a file; choose another name"),
    (["text.txt", "-o", "missing/counts"], "missing/counts: there is no folder"),
    (["text.txt", "-o", "."], ".: is the current folder, which cannot be replaced; name one in it"),
    (["/dev/zero"], "/dev/zero, line 1: NUL byte at byte 0; is it a text file?"),
    (["text.txt", "-o", "/dev/full"], "/dev/full: exists and is a file; choose another name"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_bad_input_is_one_line_and_nothing_written(
    here: Path, command: Command, words: list[str], message: str
) -> None:
    make_bad_inputs()
    before = contents(here)
    output = [] if "-o" in words else ["-o", "counts"]
    code, out, err = command("count", *words, *output, "--quiet")
    assert (code, out) == (2, "")
    assert err.startswith(f"classgram: {message}")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert contents(here) == before
    assert not Path("counts").exists()


@pytest.mark.parametrize("words", [["count", "text.txt"], ["recount"], ["info"], ["info", "a", "b"]])
def test_usage_errors_are_one_line(here: Path, command: Command, words: list[str]) -> None:
    code, out, err = command(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("classgram: ")
    assert err.endswith("see classgram --help\n")


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_info_names_the_damaged_file(here: Path, command: Command, damage: Callable[[Path], object]) -> None:
    command("count", "text.txt", "-o", "counts")
    for name in ("vocabulary.txt", "words-2.npy", "config.json"):
        shutil.copytree("counts", "copy")
        damage(Path("copy") / name)
        code, out, err = command("info", "copy", "--verify")
        shutil.rmtree("copy")
        if (name, damage) == ("config.json", Path.unlink):
            name = "copy: is not a result of classgram: it contains no config.json"
        # A config.json that lacks only its last line end is whole.
        assert (code, out, err.count("\n")) == (2, "", 1) or name == "config.json"
        assert name in err or code == 0


def test_a_locked_output_is_named(here: Path, command: Command) -> None:
    with lock(Path("counts")):
        code, _, err = command("count", "text.txt", "-o", "counts")
    assert code == 2
    assert err == ("classgram: counts: another run is writing it; wait for that, or choose another name\n")


def test_standard_output_that_fails_is_no_traceback(here: Path, command: Command) -> None:
    command("count", "text.txt", "-o", "counts")
    full = in_shell("$CLASSGRAM info counts --json > /dev/full")
    assert full == (2, "", "classgram: output cannot be written: No space left on device\n")
    gone = in_shell("set -o pipefail; $CLASSGRAM info counts --json | true")
    assert gone == (0, "", "")
    assert in_shell("$CLASSGRAM --version | grep -c .").out == "1\n"


def big_text(path: Path) -> None:
    """A text whose counts need more than a megabyte."""
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 5000, (9000, 20))
    path.write_text("\n".join(" ".join(f"w{n}" for n in row) for row in numbers))


SMALL_DISK = (
    "unshare --map-root-user --mount "
    "bash -c 'mkdir disk; mount -t tmpfs -o size=1m tmpfs disk || exit 77; {}'"
)


def test_no_space_left_keeps_the_earlier_result(here: Path) -> None:
    big_text(here / "big.txt")
    line = (
        "$CLASSGRAM count text.txt -o disk/c --quiet || exit 78; "
        "$CLASSGRAM count big.txt -o disk/c --order 3 --quiet; echo code $?; ls -A disk; "
        "$CLASSGRAM info disk/c --verify --json | grep tokens; "
        "TMPDIR=disk $CLASSGRAM count big.txt -o c --memory 1M --quiet; echo code $?; ls -A disk"
    )
    code, out, err = in_shell(SMALL_DISK.format(line))
    if code == 77 or "unshare" in err:
        pytest.skip("a small disk cannot be mounted here")
    assert out.splitlines() == ["code 2", "c", ' "tokens": 14,', "code 2", "c"]
    first, second = err.splitlines()
    assert first.endswith(
        "disk/c: cannot be written: No space left on device; free some disk space and run again"
    )
    assert second.endswith(
        "disk: cannot be written: No space left on device; free some disk space and run again"
    )
    assert not Path("c").exists()


def start_reading(output: str) -> "subprocess.Popen[bytes]":
    """A run that waits for more text on its standard input, its lock held."""
    process = subprocess.Popen(
        program("count", "-", "-o", output, "--quiet"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    end = time.monotonic() + 30
    while not Path(f".{output}.lock").exists() and time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.02)
    # By then it has the lock, and waits for text.
    time.sleep(0.3)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_so_and_leaves_nothing(here: Path, number: signal.Signals) -> None:
    process = start_reading("counts")
    process.send_signal(number)
    _, err = process.communicate()
    assert err == b"classgram: stopped\n"
    assert process.returncode == 128 + number
    assert names(here) == ["text.txt"]


def test_a_killed_run_does_not_block_the_next(here: Path, command: Command) -> None:
    process = start_reading("counts")
    process.kill()
    process.communicate()
    assert command("count", "text.txt", "-o", "counts").code == 0
    assert names(here) == ["counts", "text.txt"]


def test_the_demo_counts_the_documentation_of_python(
    monkeypatch: pytest.MonkeyPatch, here: Path, command: Command
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(here))
    code, out, _ = command("demo", "--json", "--quiet")
    assert code == 0
    assert json.loads(out)["tokens"] > 300_000
