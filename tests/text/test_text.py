"""Text is the same whatever its files are like, and is made as a naive twin makes it."""

import bz2
import contextlib
import gzip
import json
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from classgram.counts.counting import count_ngrams
from classgram.errors import InputError
from classgram.files.compressed import COMPRESSED, ByteCount
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions
from classgram.text import cleaning, reading
from classgram.text.reading import Text, read_text, text_from_strings
from classgram.text.records import read_records
from classgram.text.vocabulary import Vocabulary
from tests.helpers import naive_counts as reference
from tests.helpers.strategies import messy_texts

SAMPLE = "the cat sat\n\non the “mat”, Über\u00a0alles\r\nlast line, no end"

every_option = st.builds(TextOptions, st.booleans(), st.sampled_from(["keep", "verbalise", "strip"]))


def whole(text: Text) -> bytes:
    return b"".join(chunk.data for chunk in text.chunks())


def frames(data: bytes) -> bytes:
    """Two .zst frames with one to be skipped between them, as parallel packers write."""
    packer = zstandard.ZstdCompressor(write_checksum=True)
    skipped = (0x184D2A50).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"abc"
    return packer.compress(data[:7]) + skipped + packer.compress(data[7:])


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".txt": bytes,
    "": bytes,
    ".gz": gzip.compress,
    ".GZ": lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
    ".bz2": lambda data: bz2.compress(data[:9]) + bz2.compress(data[9:]),
    ".xz": lambda data: lzma.compress(data[:9]) + lzma.compress(data[9:]),
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
    ".frames.zst": frames,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_every_kind_of_file_reads_the_same(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"text{kind}"
    path.write_bytes(PACKERS[kind](SAMPLE.encode()))
    assert whole(read_text(path)).decode() == SAMPLE + "\n"


@pytest.mark.parametrize("kind", [".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".JSONL.XZ"])
def test_json_lines_read_the_same(tmp_path: Path, kind: str) -> None:
    records = [{"n": 1, "body": SAMPLE}, {"body": "more\n"}, {"body": ""}]
    data = "\n".join([*map(json.dumps, records), ""]).encode()
    path = tmp_path / f"text{kind}"
    path.write_bytes(PACKERS[path.suffix.lower() if path.suffix.lower() in COMPRESSED else ""](data))
    text = read_text(path, read=ReadOptions(field="body"))
    assert whole(text).decode() == SAMPLE + "\nmore\n\n"


def write_parquet(path: Path, **columns: list[object]) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), path, row_group_size=2)
    return path


def test_a_column_of_parquet_is_read(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "text.PARQUET", n=[1, 2, 3, 4], text=["a b", None, "c\nÜ", ""])
    assert whole(read_text(path)).decode() == "a b\n\nc\nÜ\n\n"
    assert [record.text for record in read_records([path], ReadOptions())] == ["a b", "", "c\nÜ", ""]
    body = write_parquet(tmp_path / "body.parquet", body=["x y"])
    assert whole(read_text(body, read=ReadOptions(field="body"))) == b"x y\n"


def test_a_missing_or_wrong_column_of_parquet_is_named(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", n=[1, 2], raw=[b"x", b"y"], text=["a", "b <s>"])
    for field, message in (
        ("body", r"a.parquet: no column 'body'; name another with --field \(it has: n, raw, text\)"),
        ("n", r"a.parquet: column 'n' contains int64, not text; name another with --field"),
        ("raw", r"a.parquet: column 'raw' contains binary, not text; name another with --field"),
    ):
        with pytest.raises(InputError, match=message):
            whole(read_text(path, read=ReadOptions(field=field)))
        with pytest.raises(InputError, match=message):
            list(read_records([path], ReadOptions(field=field)))
    with pytest.raises(InputError, match=r"a.parquet, line 2: the text contains a literal <s>"):
        count_ngrams(path)


def test_damaged_parquet_is_refused_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", text=[f"line {n} of the text" for n in range(300)])
    data = path.read_bytes()
    rng = np.random.default_rng(4)
    for size in (0, 4, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(
            InputError, match=r"a.parquet: broken Parquet file \(.*\); fetch or write it again"
        ):
            whole(read_text(path))
    for place in rng.integers(0, len(data), 60).tolist():
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        # A changed letter of the text need not show; anything else is one error that names the file.
        with contextlib.suppress(InputError):
            whole(read_text(path))


def test_parquet_without_pyarrow_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "text.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'classgram\[arrow\]'"):
        whole(read_text(tmp_path / "text.parquet"))


def test_counts_are_equal_whatever_the_kind_of_file(tmp_path: Path) -> None:
    lines = [f"w{n % 7} w{n % 5} end{n % 3}" for n in range(200)]
    plain = count_ngrams(text_from_strings(lines), CountOptions(3))
    for kind, pack in PACKERS.items():
        path = tmp_path / f"text{kind}"
        path.write_bytes(pack("\n".join(lines).encode()))
        counts = count_ngrams(path, CountOptions(3))
        assert counts.vocabulary == plain.vocabulary
        assert all(dict(counts.items(n)) == dict(plain.items(n)) for n in (1, 2, 3))


def test_folders_and_globs_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b/one.txt", "a.txt", "b/.hidden", ".git/config", "c.txt.gz"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(b"c.txt.gz") if path.suffix == ".gz" else name.encode())
    (tmp_path / "config.json").write_text("mine")
    assert whole(read_text(tmp_path)).split() == [b"a.txt", b"b/one.txt", b"c.txt.gz", b"mine"]
    assert whole(read_text(str(tmp_path / "**" / "*.txt"))).split() == [b"a.txt", b"b/one.txt"]
    assert whole(read_text(tmp_path / "b", tmp_path / "a.txt")).split() == [b"b/one.txt", b"a.txt"]
    odd = tmp_path / "odd[1].txt"
    odd.write_text("odd")
    assert whole(read_text(odd)) == b"odd\n"


def test_standard_input_is_read(tmp_path: Path) -> None:
    program = "from classgram import read_text; print(b''.join(c.data for c in read_text('-').chunks()))"
    run = subprocess.run([sys.executable, "-c", program], input=b"\xef\xbb\xbfa b\nc", capture_output=True)
    assert run.stdout.strip() == rb"b'a b\nc\n'"
    closed = subprocess.run(
        f"exec <&-; '{sys.executable}' -c \"{program}\"", shell=True, capture_output=True, text=True
    )
    assert "InputError: standard input: is closed; name a file" in closed.stderr


def test_a_pipe_with_a_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", f"echo a b > '{path}'"]):
        text = read_text(path)
        assert text.size is None
        assert whole(text) == b"a b\n"


@given(messy_texts, every_option)
def test_cleaning_equals_the_naive_twin(text: str, options: TextOptions) -> None:
    made = whole(text_from_strings([text], options)).decode()
    assert made == reference.cleaned(text, options)


@given(st.text(max_size=40).filter(lambda text: "\0" not in text), every_option)
def test_cleaning_of_any_characters_equals_the_naive_twin(text: str, options: TextOptions) -> None:
    made = whole(text_from_strings([text + "\n"], options)).decode()
    assert made == reference.cleaned(text + "\n", options)


@given(messy_texts, every_option, st.integers(1, 9), st.sampled_from(["", ".gz", ".zst", ".jsonl"]))
def test_borders_of_chunks_leave_no_trace(
    tmp_path: Path, text: str, options: TextOptions, size: int, kind: str
) -> None:
    data = (json.dumps({"text": text}) if kind == ".jsonl" else "\ufeff" + text).encode()
    path = tmp_path / f"text{kind}"
    path.write_bytes(PACKERS.get(kind, bytes)(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK_BYTES", size)
        chunks = list(read_text(path, text=options).chunks())
        strings = whole(text_from_strings(text.splitlines(keepends=True), options))
    assert b"".join(chunk.data for chunk in chunks).decode() == reference.cleaned(text, options)
    if kind != ".jsonl":
        before = 0
        for chunk in chunks:
            assert chunk.line == before + 1
            before += chunk.data.count(b"\n")
    if not {"\x0b", "\r"} & set(text):
        assert strings.decode() == reference.cleaned(text, options)


def test_byte_order_mark_line_ends_and_a_missing_last_one(tmp_path: Path) -> None:
    plain = Vocabulary.from_words(["a", "b"]).encode(text_from_strings(["a b\nb\n"])).ids
    for data in (b"a b\r\nb\r\n", b"\xef\xbb\xbfa b\nb", b"a b\r\nb", b"\n a\tb\x0b\n\n\nb \n\n"):
        path = tmp_path / "text.txt"
        path.write_bytes(data)
        found = Vocabulary.from_words(["a", "b"]).encode(read_text(path)).ids
        assert np.array_equal(found, plain)


def cut(data: bytes) -> bytes:
    return data[:-9]


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1 :]


@pytest.mark.parametrize("kind", [".gz", ".GZ", ".bz2", ".xz", ".zst", ".frames.zst"])
@pytest.mark.parametrize(
    "damage", [cut, flip, lambda data: data[:5], lambda data: b"really plain text\n" * 9]
)
def test_damaged_compressed_files_are_refused(
    tmp_path: Path, kind: str, damage: Callable[[bytes], bytes]
) -> None:
    letters = np.random.default_rng(3).integers(97, 123, 300_000).astype(np.uint8)
    letters[::6] = 32
    path = tmp_path / f"text{kind}"
    # The single .zst frame has no checksum, so that a flipped bit need not show.
    if kind == ".zst" and damage is flip:
        kind = ".frames.zst"
    path.write_bytes(damage(PACKERS[kind](letters.tobytes())))
    with pytest.raises(InputError, match=r"text\S*: broken or cut short \w+ file \(.+\); fetch"):
        whole(read_text(path))


def test_a_cut_zst_file_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    packed = frames(b"some words " * 50)
    path = tmp_path / "text.zst"
    refused = []
    for size in range(1, len(packed)):
        path.write_bytes(packed[:size])
        try:
            whole(read_text(path))
        except InputError:
            refused.append(size)
    # Between two frames a file is whole.
    assert len(packed) - 1 - len(refused) == 2


@given(st.binary(max_size=200))
def test_random_bytes_are_text_or_refused(tmp_path: Path, data: bytes) -> None:
    for kind in ("", ".gz", ".bz2", ".xz", ".zst", ".jsonl"):
        path = tmp_path / f"noise{kind}"
        path.write_bytes(data)
        try:
            whole(read_text(path)).decode()
        except InputError as error:
            message = str(error)
        else:
            message = "noise: fine"
        assert "noise" in message
        assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"one\ntwo \xff\n", r"a.txt, line 2: invalid UTF-8 at byte 8;.*--encoding-errors replace"),
        ("a.txt", b"\xef\xbb\xbfone\ntwo \xe2\x82", r"a.txt, line 2: invalid UTF-8 at byte 11"),
        ("a.txt", b"one\n\ntwo\0", r"a.txt, line 3: NUL byte at byte 8; is it a text file\?"),
        ("a.txt", b"\0" * 9_000_000, r"a.txt, line 1: NUL byte at byte 0"),
        ("a.txt", "one".encode("utf-16"), r"a.txt, line 1: (NUL|invalid)"),
        ("a.jsonl", b'{"text": "a"}\n{"body": "b", "n": 1}', r"line 2: no text in field 'text'.*: body\)"),
        ("a.jsonl", b'{"text": 1}', r"a.jsonl, line 1: no text in field 'text'.*none"),
        ("a.jsonl", b"\n[1]", r"a.jsonl, line 2: not a JSON record with fields"),
        ("a.jsonl", b'{"text": "a"', r"a.jsonl, line 1: not a JSON record \(.*; repair or remove"),
        ("a.jsonl", b"[" * 99999, r"a.jsonl, line 1: not a JSON record"),
        ("a.jsonl", b'{"text": "a\\u0000b"}', r"a.jsonl, line 1: NUL character at position 1; remove it"),
        ("a.jsonl", b'{"text": "x\\n\\n\\ud800"}', r"line 1: lone surrogate at character 3;.*replace"),
        ("a.jsonl", b'\n{"text": "\xff"}', r"a.jsonl, line 2: invalid UTF-8 at byte 11"),
    ],
)  # fmt: skip
def test_bad_text_is_refused_with_its_place(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        whole(read_text(tmp_path / name))


def test_invalid_text_is_replaced_where_asked(tmp_path: Path) -> None:
    replace = ReadOptions(encoding_errors="replace")
    (tmp_path / "a.txt").write_bytes(b"a\xff b\n")
    assert whole(read_text(tmp_path / "a.txt", read=replace)).decode() == "a\ufffd b\n"
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a\\ud800 \xff"}')
    assert whole(read_text(tmp_path / "a.jsonl", read=replace)).decode() == "a\ufffd \ufffd\n"
    assert Vocabulary.from_words(["a\ufffd"]).encode_lines(["a\udc00"], replace).ids[0] == 3
    with pytest.raises(InputError, match="strings, line 2: lone surrogate"):
        Vocabulary.from_words(["a"]).encode_lines(["a", "a\udc00"])


def test_symbols_are_named_with_their_line_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo <s> three\n")
    with pytest.raises(InputError, match=r"a.txt, line 3: the text contains a literal <s>.*--skip-symbols"):
        count_ngrams(tmp_path / "a.txt")
    (tmp_path / "a.jsonl").write_text('{"text": "a\\nb\\nc"}\n{"text": "d\\n</s>"}\n')
    with pytest.raises(InputError, match=r"a.jsonl, line 2: the text contains a literal </s>"):
        count_ngrams(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no text given"),
        (["missing.txt"], "missing.txt: no such file or folder"),
        (["*.none"], r"\*.none: no such file or folder"),
        ([""], "'': no such file or folder"),
        (["x" * 5000], "x: cannot be read: File name too long"),
        (["folder.txt"], "folder.txt: the folder contains no text"),
        (["nul\0name"], "no such file"),
    ],
)
def test_names_without_text_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, names: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.txt").mkdir()
    with pytest.raises(InputError, match=message):
        read_text(*names)


def test_an_unreadable_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"a.txt: cannot be read: Permission denied"):
        whole(read_text(tmp_path / "a.txt"))


def test_a_word_list_is_read_like_any_text(tmp_path: Path) -> None:
    path = tmp_path / "words.txt.gz"
    path.write_bytes(gzip.compress("\ufeffThe\r\nCat\r\n".encode()))
    counts = count_ngrams(
        text_from_strings(["the Cat sat"], TextOptions(lowercase=True)),
        CountOptions(1),
        VocabularyOptions(words=path),
    )
    assert counts.vocabulary.words[3:] == ("the", "cat")


def test_options_are_checked_before_the_text_is_read(tmp_path: Path) -> None:
    def unread(_: ByteCount) -> object:
        raise AssertionError("the text was read")

    text = Text(unread, TextOptions())  # type: ignore[arg-type]
    (tmp_path / "words.txt").write_text("\n")
    for options, message in (
        (VocabularyOptions(0), "--vocabulary-size"),
        (VocabularyOptions(words=tmp_path / "words.txt"), "words.txt: the word list is empty"),
        (VocabularyOptions(words=tmp_path / "none.txt"), "none.txt: no such file"),
    ):
        with pytest.raises(InputError, match=message):
            count_ngrams(text, vocabulary=options)


@pytest.mark.parametrize("word", ["", "a b", "a\n", "a\0", "a\ud800"])
def test_what_is_no_word_cannot_enter_a_vocabulary(word: str) -> None:
    with pytest.raises(InputError):
        Vocabulary.from_words([word])


LONG_LINE = """
import resource, sys
from classgram import count_ngrams, text_from_strings, TextOptions
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
count_ngrams(text_from_strings(["a, b"], TextOptions(True, "strip")))
before = peak()
counts = count_ngrams(sys.argv[1], text=TextOptions(True, "strip"))
print(peak() - before, counts.tokens)
"""


def test_a_line_of_any_length_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.txt.zst"
    # One line of a hundred megabytes: the ids of its words need a quarter of that, and no more is allowed.
    line = ("wonderful-words, " * 5).encode() * 1_200_000
    path.write_bytes(zstandard.ZstdCompressor().compress(line))
    run = subprocess.run([sys.executable, "-c", LONG_LINE, str(path)], capture_output=True, text=True)
    megabytes, tokens = map(int, run.stdout.split())
    assert tokens == 6_000_001
    assert megabytes < 400


pieces_of_utf8 = st.sampled_from(
    [b"a", b"longer than eight", b"\n", b"\xc3\xa9", b"\xe2\x80\x94", b"\xf0\x9f\x98\x80", b"\xed\x9f\xbf"]
)
faults_of_utf8 = st.sampled_from(
    [
        *(b"\x80", b"\xc0\x80", b"\xc3", b"\xe0\x9f\xbf", b"\xe2\x80", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf"),
        *(b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xe2\x80A", b"\xf1\x80\x80", b"\xf1\x80A\x80"),
    ]
)


@given(st.lists(st.one_of(pieces_of_utf8, pieces_of_utf8, faults_of_utf8)).map(b"".join) | st.binary())
def test_the_first_fault_of_utf8_equals_the_naive_twin(data: bytes) -> None:
    assert reading._first_fault(data) == reference.first_fault(data)
    # Also behind the border of two pieces.
    assert reading._first_fault(b"x" * 65_530 + data) == reference.first_fault(b"x" * 65_530 + data)


def test_the_table_of_lower_case_equals_the_naive_twin() -> None:
    table = cleaning._lower_table()
    for code in range(0x110000):
        lower = chr(code).lower()
        if code == ord("Σ") or len(lower) > 1:
            assert table[code] == -1
        else:
            assert (table[code] if code < table.size else code) == ord(lower)


def test_lower_case_of_irregular_letters_far_into_a_text() -> None:
    text = "Word ÉTÉ " * 9000 + "ΟΔΟΣ ΣΑΣ' İx " + "x" * 70_000 + "Σ ΣΑ.\n" + "Ⱥ K " * 9000
    assert whole(text_from_strings([text], TextOptions(lowercase=True))).decode() == text.lower() + "\n"


def test_a_compressed_text_left_in_the_middle_leaves_no_thread(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"some words\n" * 1_000_000, 1))
    before = threading.active_count()
    chunks = read_text(path).chunks()
    assert next(chunks).data.startswith(b"some words\n")
    assert threading.active_count() == before + 1
    chunks.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
