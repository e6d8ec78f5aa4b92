"""A result on disk is whole or absent, and whatever was done to it since is noticed."""

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files import atomic
from classgram.files.atomic import atomic_file, check_writable, lock, write_folder
from classgram.files.folders import check_range, check_starts, folder_kind, read_folder
from classgram.options import CountOptions
from classgram.text.reading import text_from_strings


def write(path: Path, value: int = 1, size: int = 5) -> None:
    arrays = {"a": np.full(size, value), "sub/b": np.zeros((2, 3), np.float32), "none": np.empty(0, np.int32)}
    write_folder(path, "test", {"value": value}, arrays, {"notes.txt": b"hello\n"})


def value(path: Path) -> int:
    folder = read_folder(path, "test")
    folder.verify()
    held = folder.array("a", np.int64)
    assert (held == folder.config["value"]).all()
    return int(held[0])


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "r")
    folder = read_folder(tmp_path / "r", "test")
    assert folder.array("sub/b", np.float32, 2).shape == (2, 3)
    assert folder.array("none", np.int32).size == 0
    assert folder.text("notes.txt") == b"hello\n"
    assert not folder.array("a", np.int64).flags.writeable
    assert folder_kind(tmp_path / "r") == "test"
    mode = stat.S_IMODE((tmp_path / "r").stat().st_mode)
    assert mode == 0o777 & ~atomic._current_umask()


def test_writing_replaces_an_earlier_result_or_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    for number in (1, 2):
        write(tmp_path / "r", number)
        assert value(tmp_path / "r") == number
    (tmp_path / "link").symlink_to("r")
    write(tmp_path / "link", 3)
    assert value(tmp_path / "r") == 3
    assert (tmp_path / "link").is_symlink()
    assert names_in(tmp_path) == ["link", "r"]


def test_writing_without_an_atomic_swap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(atomic, "_swap_names", lambda *_: False)
    for number in (1, 2):
        write(tmp_path / "r", number)
        assert value(tmp_path / "r") == number
    assert names_in(tmp_path) == ["r"]


@pytest.mark.parametrize("failing", ["_write_array", "_write_bytes", "_put_in_place"])
@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (OSError(errno.ENOSPC, "No space"), InputError, "No space; free some disk space"),
        (OSError("odd"), InputError, "cannot be written: odd"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
)  # fmt: skip
def test_a_failure_in_the_middle_leaves_the_earlier_result(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    failing: str,
    error: BaseException,
    raised: type[BaseException],
    message: str | None,
) -> None:
    write(tmp_path / "r", 1)
    original: Callable[..., Any] = getattr(atomic, failing)

    def fail(*given: Any) -> Any:
        if failing != "_write_array" or given[1] == "sub/b":
            raise error
        return original(*given)

    monkeypatch.setattr(atomic, failing, fail)
    for name in ("r", "new"):
        with pytest.raises(raised, match=message):
            write(tmp_path / name, 2)
    assert names_in(tmp_path) == ["r"]
    assert value(tmp_path / "r") == 1


WRITER = """
import sys
from pathlib import Path
from tests.files.test_folders import write
print("ready", flush=True)
number = 1
while True:
    number += 1
    write(Path(sys.argv[1]), number, 100_000)
"""


def test_a_kill_leaves_a_whole_result(tmp_path: Path) -> None:
    path = tmp_path / "r"
    write(path)
    rng = np.random.default_rng(1)
    for _ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(float(rng.uniform(0.01, 0.06)))
            process.send_signal(signal.SIGKILL)
        assert value(path) >= 1
    # What a killed run leaves is hidden, and in nobody's way.
    assert [name for name in names_in(tmp_path) if not name.startswith(".")] == ["r"]
    write(path, 5)
    assert value(path) == 5


def edit_config(path: Path, **changes: object) -> None:
    config = json.loads((path / "config.json").read_text()) | changes
    (path / "config.json").write_text(json.dumps(config))


def append(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda r: (r / "config.json").unlink(), r"r: is not a result of classgram: it contains no config.json"),
    (lambda r: truncate(r / "config.json"), r"config.json: damaged"),
    (lambda r: (r / "config.json").write_bytes(b"\xff{"), r"config.json: damaged"),
    (lambda r: (r / "config.json").write_text("[" * 99999), r"config.json: damaged"),
    (lambda r: (r / "config.json").write_text("[]"), r"config.json: not written by classgram"),
    (lambda r: edit_config(r, format="other"), r"config.json: not written by classgram"),
    (lambda r: edit_config(r, version=2), r"config.json: has format version 2, .* install a newer"),
    (lambda r: edit_config(r, version="x"), r"config.json: has format version x"),
    (lambda r: edit_config(r, arrays=None), r"config.json: its list of files is damaged"),
    (lambda r: edit_config(r, arrays={"a": {"dtype": "zz"}}), r"config.json: its list of files is damaged"),
    (lambda r: edit_config(r, texts={"../x": {"bytes": 1, "checksum": ""}}), r"names a file outside"),
    (lambda r: edit_config(r, texts={"/etc/passwd": {"bytes": 1, "checksum": ""}}), r"names a file outside"),
    (lambda r: edit_config(r, format="classgram-model"), r"r: contains model, not counts"),
    (lambda r: edit_config(r, order="x"), r"config.json: 'order' is not a whole number"),
    (lambda r: edit_config(r, order=4), r"config.json: lists no array 'starts-4'"),
    (lambda r: edit_config(r, text={"colour": 1}), r"config.json: unknown text options"),
    (lambda r: edit_config(r, text={"punctuation": "loud"}), r"config.json: unknown text options"),
    (lambda r: (r / "words-2.npy").unlink(), r"words-2.npy: missing"),
    (lambda r: truncate(r / "words-2.npy"), r"words-2.npy: missing or damaged"),
    (lambda r: append(r / "words-2.npy", b"more"), r"words-2.npy: contains more than its array"),
    (lambda r: (r / "words-2.npy").write_bytes(b""), r"words-2.npy: missing or damaged"),
    (lambda r: (r / "words-2.npy").write_bytes(b"PK\x03\x04 foreign"), r"words-2.npy: missing or damaged"),
    (lambda r: np.save(r / "words-2.npy", np.zeros(3)), r"words-2.npy: is not the array"),
    (lambda r: np.save(r / "words-2.npy", np.array([{}]), allow_pickle=True), r"2.npy: missing or damaged"),
    (lambda r: alter(r, "words-2", -1), r"words-2.npy: contains values out of range"),
    (lambda r: alter(r, "words-3", 10**6), r"words-3.npy: contains values out of range"),
    (lambda r: alter(r, "counts-2", -5), r"counts-2.npy: contains values out of range"),
    (lambda r: alter(r, "starts-2", 10**12), r"starts-2.npy: is not sorted"),
    (lambda r: (r / "vocabulary.txt").unlink(), r"vocabulary.txt: missing"),
    (lambda r: truncate(r / "vocabulary.txt"), r"vocabulary.txt: has \d+ bytes instead of \d+"),
    (lambda r: rewrite(r, b"the", b"t\xffe"), r"vocabulary.txt: is not UTF-8"),
    (lambda r: rewrite(r, b"the", b"t e"), r"vocabulary.txt: is not a vocabulary"),
    (lambda r: rewrite(r, b"the", b"t\0e"), r"vocabulary.txt: is not a vocabulary"),
    (lambda r: rewrite(r, b"the", b"cat"), r"vocabulary.txt: is not a vocabulary"),
    (lambda r: rewrite(r, b"<s>", b"<t>"), r"vocabulary.txt: is not a vocabulary"),
]  # fmt: skip


def alter(path: Path, name: str, number: int) -> None:
    array = np.load(path / f"{name}.npy")
    array[1] = number
    np.save(path / f"{name}.npy", array)


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    words = (path / "vocabulary.txt").read_bytes()
    (path / "vocabulary.txt").write_bytes(words.replace(old, new))


@pytest.fixture
def counts_folder(tmp_path: Path) -> Path:
    text = text_from_strings(["the cat saw the dog", "a dog saw the cat"])
    count_ngrams(text, CountOptions(3)).save(tmp_path / "r")
    return tmp_path / "r"


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_damaged_counts_are_refused(
    counts_folder: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(counts_folder)
    with pytest.raises(InputError, match=message) as caught:
        NgramCounts.load(counts_folder)
    assert len(str(caught.value).splitlines()) == 1


def test_no_folder_and_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file: is a file"):
        NgramCounts.load(tmp_path / "file")
    with pytest.raises(InputError, match="none: no such folder"):
        NgramCounts.load(tmp_path / "none")


@given(st.data())
def test_any_changed_byte_is_refused_or_found_by_its_checksum(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "r"
    shutil.rmtree(path, ignore_errors=True)
    count_ngrams(text_from_strings(["the cat saw the dog"]), CountOptions(2)).save(path)
    file = data.draw(st.sampled_from(sorted(path.iterdir())))
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    # In config.json a change need not be noticed, and the padding of an array's header says nothing.
    allowed = file.name == "config.json" or (file.suffix == ".npy" and place < 128)
    try:
        NgramCounts.load(path)
        read_folder(path, "counts").verify()
    except InputError:
        return
    assert allowed


def test_numbers_out_of_range_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "r")
    folder = read_folder(tmp_path / "r")
    check_range(folder, "a", np.array([0, 4]), 0, 5)
    check_starts(folder, "a", np.array([0, 0, 2]), 2, 2)
    for ids in ([-1], [5]):
        with pytest.raises(InputError, match=r"a.npy: contains values out of range"):
            check_range(folder, "a", np.array(ids), 0, 5)
    for starts in ([], [0, 2], [1, 1, 2], [0, 1, 3], [0, 3, 2]):
        with pytest.raises(InputError, match=r"a.npy: is not sorted"):
            check_starts(folder, "a", np.array(starts, np.int64), 2, 2)


def test_outputs_that_cannot_be_written_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    for name, message in (
        ("file", "file: exists and is a file; choose another name"),
        ("mine", "mine: exists and is no result of classgram; choose another name"),
        ("none/r", "none/r: there is no folder .*none; create it first"),
        ("file/r", "file/r: there is no folder .*file; create it first"),
        ("x" * 300, "File name too long"),
    ):
        with pytest.raises(InputError, match=message):
            check_writable(tmp_path / name)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=r"r: the folder .* is not writable; choose another"):
        check_writable(tmp_path / "r")


def test_two_runs_cannot_write_one_output(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with lock(path), pytest.raises(InputError, match="r: another run is writing it; wait"), lock(path):
        pass
    with pytest.raises(ZeroDivisionError), lock(path):
        raise ZeroDivisionError
    with lock(path):
        write(path)
    assert names_in(tmp_path) == ["r"]


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with atomic_file(path) as file:
        file.write(b"one")
        assert not path.exists()
    with pytest.raises(TypeError), atomic_file(path) as file:
        file.writelines([b"two", "no bytes"])  # type: ignore[list-item]
    (tmp_path / "link").symlink_to("f")
    with atomic_file(tmp_path / "link") as file:
        file.write(b"three")
    assert path.read_bytes() == b"three"
    assert names_in(tmp_path) == ["f", "link"]
    for name, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "f", "there is no folder")):
        with pytest.raises(InputError, match=message), atomic_file(name):
            pass


def test_devices_are_written_to_and_not_replaced() -> None:
    with atomic_file(Path("/dev/null")) as file:
        file.write(b"x")
    with pytest.raises(InputError, match="/dev/full: cannot be written: No space left on device"):  # noqa: SIM117
        with atomic_file(Path("/dev/full")) as file:
            file.write(b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
