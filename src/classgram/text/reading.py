"""Text in: files of every kind as a stream of clean chunks of bytes, cut between words."""

import glob
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from classgram.errors import InputError
from classgram.files.compressed import PACKED, display_name, open_unpacked
from classgram.files.folders import folder_kind
from classgram.options import ReadOptions, TextOptions
from classgram.text.data_frames import Tabular, iterate_strings

if TYPE_CHECKING:
    from classgram.text._kernels.punctuation import MarkTable

CHUNK = 1 << 19
"""Bytes read at a time: what is in memory of any file is a few of these, which stay in the cache."""

SPACES = b" \t\n\r\x0b\x0c"
"""The bytes that separate words, those of ``bytes.split()``."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


Strings = Iterable[object] | Tabular
"""Anything that yields texts: strings, records, data frames, datasets, Arrow data."""


class Mark(NamedTuple):
    """A punctuation mark, its name, and whether it splits a word that it stands inside of."""

    text: str
    name: str
    inside: bool = False


# Marks at the edge of a word are cut off; dashes and ellipses split words as well. A mark is
# verbalised as itself and its name, as in the Wall Street Journal corpus: ",COMMA".
MARKS = (
    *(Mark(text, "DASH", inside=True) for text in ("----", "---", "--", "—", "–", "―")),
    *(Mark(text, "ELLIPSIS", inside=True) for text in ("...", "…")),
    *(Mark(text, "COMMA") for text in (",", "，", "、", "،")),
    *(Mark(text, "PERIOD") for text in (".", "。", "।", "۔")),
    *(Mark(text, "COLON") for text in (":", "：")),
    *(Mark(text, "SEMI-COLON") for text in (";", "；", "؛")),
    *(Mark(text, "EXCLAMATION-POINT") for text in ("!", "！", "¡")),
    *(Mark(text, "QUESTION-MARK") for text in ("?", "？", "¿", "؟")),
    *(Mark(text, "DOUBLE-QUOTE") for text in ('"', "“", "”", "„", "«", "»")),
    *(Mark(text, "SINGLE-QUOTE") for text in ("'", "‘", "’", "‚", "`")),
    *(Mark(text, "LEFT-PAREN") for text in ("(", "（")),
    *(Mark(text, "RIGHT-PAREN") for text in (")", "）")),
    *(Mark(text, "LEFT-BRACKET") for text in ("[", "「", "『", "【")),
    *(Mark(text, "RIGHT-BRACKET") for text in ("]", "」", "』", "】")),
    *(Mark(text, "LEFT-BRACE") for text in ("{",)),
    *(Mark(text, "RIGHT-BRACE") for text in ("}",)),
    *(Mark(text, "HYPHEN") for text in ("-", "‐")),
    *(Mark(text, "SLASH") for text in ("/",)),
    *(Mark(text, "UNDERSCORE") for text in ("_",)),
    *(Mark(text, "ASTERISK") for text in ("*",)),
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one source, ending between two words.

    ``line`` is the number of its first line. ``records`` is for sources with several lines of text
    in one line of the file: the number of lines of text before the end of each file line.
    """

    data: bytes
    source: str
    line: int
    records: tuple[int, ...] = ()

    def line_at(self, newlines: int) -> int:
        """The line of the file that holds the text after so many line ends in this chunk."""
        if not self.records:
            return self.line + newlines
        return self.line + int(np.searchsorted(self.records, newlines, side="right"))


@dataclass(frozen=True)
class Text:
    """A text to be read, as often as its source allows: clean chunks of bytes, one after another.

    ``size`` is the number of bytes on disk, where known; ``consumed`` tells how many were read.
    """

    make_chunks: Callable[["Text"], Iterator[Chunk]]
    options: TextOptions
    size: int | None = None
    name: str = "the text"
    consumed: list[int] = field(default_factory=lambda: [0])

    def chunks(self) -> Iterator[Chunk]:
        """The text's chunks, cleaned as its options say."""
        self.consumed[0] = 0
        clean = cleaner(self.options)
        for chunk in self.make_chunks(self):
            yield Chunk(clean(chunk.data), chunk.source, chunk.line, chunk.records)


def read_text(*paths: str | Path, text: TextOptions | None = None, read: ReadOptions | None = None) -> Text:
    """Files, folders, globs or ``-`` (standard input) as one text.

    Compressed files (.gz, .bz2, .xz, .zst) are unpacked; of .jsonl and .parquet files a field or
    column is read. Files of a folder come in the order of their paths.
    """
    files = find_files(paths)
    reading = read or ReadOptions()

    def make_chunks(owner: Text) -> Iterator[Chunk]:
        for file in files:
            yield from file_chunks(file, reading, owner.consumed)

    name = ", ".join(display_name(file) for file in files[:3])
    return Text(
        make_chunks, text or TextOptions(), total_size(files), name + ("..." if len(files) > 3 else "")
    )


def total_size(files: Iterable[Path]) -> int | None:
    """The bytes that files have on disk, None if one is a stream."""
    return sum(file.stat().st_size for file in files) if all(file.is_file() for file in files) else None


def text_from_strings(
    strings: Strings, text: TextOptions | None = None, read: ReadOptions | None = None
) -> Text:
    """Strings as one text; every line of a string is a sentence. An iterator can be read just once.

    Strings may also be a column of a data frame, an Arrow array, or the field ``read.field`` of a
    data frame, an Arrow table, a dataset or any records; missing ones are left out.
    """
    reading = read or ReadOptions()
    if isinstance(strings, str | bytes):
        raise InputError("give a list of strings, not one string")

    def make_chunks(owner: Text) -> Iterator[Chunk]:
        return string_chunks(iterate_strings(strings, reading.field), reading, owner.consumed)

    return Text(make_chunks, text or TextOptions())


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files that paths, folders and globs stand for."""
    files: list[Path] = []
    for given in paths:
        try:
            files.extend(files_at(given))
        except OSError as error:
            raise InputError(f"{given!s:.200}: cannot be read: {error.strerror}") from None
    if not files:
        raise InputError("no text given: name files, folders, or - for standard input")
    return files


def files_at(given: str | Path) -> list[Path]:
    """The files that one path, folder or glob stands for."""
    path = Path(given)
    if str(given) == "-" or path.is_file() or path.is_fifo() or path.is_char_device():
        return [path]
    # The empty name would be the current folder; more likely it is a shell variable without a value.
    if path.is_dir() and str(given):
        return files_in(path)
    found = sorted(Path(name) for name in glob.glob(str(given), recursive=True))
    files = [file for file in found if file.is_file()]
    if not files:
        raise InputError(f"{given or repr('')}: no such file or folder")
    return files


def files_in(folder: Path) -> list[Path]:
    """Every file below a folder that is not hidden, in the order of their paths."""
    if folder_kind(folder) is not None:
        raise InputError(f"{folder}: is a result of classgram, not a folder of text")
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not files:
        raise InputError(f"{folder}: the folder holds no text; name a folder with files, or a file")
    return files


def file_chunks(path: Path, read: ReadOptions, consumed: list[int]) -> Iterator[Chunk]:
    """One file's chunks, unpacked and decoded."""
    name = display_name(path)
    if path.suffix.lower() == ".parquet":
        yield from string_chunks(parquet_strings(path, read.field), read, consumed, name)
        return
    inner = path.stem if path.suffix.lower() in PACKED else path.name
    chunks = json_chunks if inner.lower().endswith((".jsonl", ".ndjson")) else plain_chunks
    with open_unpacked(path, consumed) as file:
        yield from chunks(file, name, read)


def blocks(head: bytes, file: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a file whose head was read, in blocks, the last one ending in a line end."""
    last = b"\n"
    block = head
    while block:
        last = block[-1:]
        yield block
        block = file.read(CHUNK)
    if last != b"\n":
        yield b"\n"


def cut_between_words(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, cut just after a separator; a word longer than a block grows its piece."""
    held: list[bytes] = []
    for piece in pieces:
        # A NUL byte is refused when it is met in a chunk: /dev/zero must not be held to its end.
        cut = 0
        for end in (b" ", b"\n", b"\t", b"\r", b"\x0b", b"\x0c", b"\0"):
            # Looked for only behind what was found: a byte that is not there costs a search.
            cut = max(cut, piece.rfind(end, cut) + 1)
        if cut == 0:
            held.append(piece)
            continue
        yield b"".join([*held, memoryview(piece)[:cut]])
        held = [piece[cut:]] if cut < len(piece) else []
    if held:
        yield b"".join(held)


def plain_chunks(file: IO[bytes], name: str, read: ReadOptions) -> Iterator[Chunk]:
    """A plain file's chunks, without its byte-order mark."""
    line = 1
    offset = 0
    head = file.read(len(BYTE_ORDER_MARK))
    if head == BYTE_ORDER_MARK:
        offset = len(head)
        head = file.read(CHUNK)
    for data in cut_between_words(blocks(head, file)):
        yield Chunk(valid(data, name, (line, offset), read), name, line)
        # Faster than to count in bytes, which searches anew behind each.
        line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
        offset += len(data)


def json_chunks(file: IO[bytes], name: str, read: ReadOptions) -> Iterator[Chunk]:
    """The chunks of a field of a file of JSON records, one a line."""

    def strings() -> Iterator[str]:
        offset = 0
        for number, line in enumerate(file, start=1):
            if line.strip():
                checked = valid(line, name, (number, offset), read)
                yield json_field(checked, f"{name}, line {number}", read.field)
            else:
                yield ""
            offset += len(line)

    yield from string_chunks(strings(), read, None, name)


def json_field(line: bytes, place: str, name: str) -> str:
    """One record's field."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not a JSON record ({error}); mend or remove the line") from None
    if not isinstance(record, dict):
        raise InputError(f"{place}: not a JSON record with fields; mend or remove the line")
    if not isinstance(record.get(name), str):
        held = ", ".join(key for key, value in record.items() if isinstance(value, str)) or "none"
        raise InputError(f"{place}: no text in field {name!r}; name another with --field (of text: {held})")
    return cast(str, record[name])


def parquet_strings(path: Path, column: str) -> Iterator[str]:
    """A column of a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs: pip install 'classgram[arrow]'") from None
    try:
        file = parquet.ParquetFile(path)
        if column not in file.schema_arrow.names:
            held = ", ".join(file.schema_arrow.names)
            raise InputError(f"{path}: no column {column!r}; name another with --field (it has: {held})")
        for batch in file.iter_batches(columns=[column]):
            for value in batch.column(0).to_pylist():
                yield "" if value is None else value
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{path}: broken Parquet file ({reason}); fetch or write it again") from None


def string_chunks(
    strings: Iterable[str], read: ReadOptions, consumed: list[int] | None, name: str = "strings"
) -> Iterator[Chunk]:
    """Strings gathered into chunks; each ends its last line, and its number serves as line number."""
    gathered: list[bytes] = []
    records: list[int] = []
    size = 0
    lines = 0
    first = 1
    for string in strings:
        data = encoded(string, f"{name}, line {first + len(records)}", read)
        if not data.endswith(b"\n"):
            data += b"\n"
        gathered.append(data)
        lines += data.count(b"\n")
        records.append(lines)
        size += len(data)
        if consumed is not None:
            consumed[0] += len(data)
        if size >= CHUNK:
            yield Chunk(b"".join(gathered), name, first, tuple(records))
            first += len(records)
            gathered, records, size, lines = [], [], 0, 0
    if gathered:
        yield Chunk(b"".join(gathered), name, first, tuple(records))


_SURROGATES = re.compile("[\ud800-\udfff]")


def encoded(string: str, place: str, read: ReadOptions) -> bytes:
    """A string as UTF-8 where it is text, with lone surrogates refused or replaced as asked."""
    if not isinstance(string, str):
        raise InputError(f"{place}: not a string but {string!r:.50}")
    if "\0" in string:
        raise InputError(f"{place}: NUL character at {string.index(chr(0))}; remove it")
    if read.encoding_errors == "replace":
        string = _SURROGATES.sub("\ufffd", string)
    try:
        return string.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{place}: lone surrogate at character {error.start}; "
            "remove it, or go on with --encoding-errors replace"
        ) from None


def valid(data: bytes, name: str, place: tuple[int, int], read: ReadOptions) -> bytes:
    """The same bytes where they are text, with invalid UTF-8 refused or replaced as asked."""
    line, offset = place
    nul = data.find(b"\0")
    if nul >= 0:
        at = line + data.count(b"\n", 0, nul)
        raise InputError(
            f"{name}, line {at}: NUL byte at byte {offset + nul}; is it a text file? convert it to UTF-8"
        )
    fault = -1 if data.isascii() else first_fault(data)
    if fault < 0:
        return data
    if read.encoding_errors == "replace":
        return data.decode("utf-8", "replace").encode("utf-8")
    at = line + data.count(b"\n", 0, fault)
    raise InputError(
        f"{name}, line {at}: invalid UTF-8 at byte {offset + fault}; "
        "convert the file, or go on with --encoding-errors replace"
    )


_PIECE = re.compile(b".{1,65536}[^ \t\n\r\x0b\x0c]*", re.DOTALL)
"""A piece of text that ends between two words."""


def first_fault(data: bytes) -> int:
    """Where bytes are no UTF-8, or -1; a piece at a time, because a string of them all takes new memory."""
    for piece in _PIECE.finditer(data):
        try:
            piece.group().decode("utf-8")
        except UnicodeDecodeError as error:
            return piece.start() + error.start
    return -1


Bytes = npt.NDArray[np.uint8]
Step = Callable[[Bytes], Bytes]
Cleaner = Callable[[bytes], bytes]

# Their lower case depends on their neighbours (final sigma) or is two characters (dotted I).
_IRREGULAR = [ord("Σ"), ord("İ")]


class Room:
    """Memory that is used again for every chunk: new memory costs more than what is done in it."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def of(self, size: int) -> Bytes:
        """So many bytes, or more."""
        if self._bytes.size < size:
            self._bytes = np.empty(size, np.uint8)
        return self._bytes


def lowering() -> Step:
    """A step that makes text lower case, as ``str.lower``."""
    from classgram.runtime.compiled import frozen
    from classgram.text._kernels.letters import lower_letters

    room, table = Room(), frozen(lower_table())

    def lower(data: Bytes) -> Bytes:
        out = room.of(data.size * 3 // 2 + 16)
        written = 0
        for piece in _PIECE.finditer(data.data):
            made = lower_letters(data[piece.start() : piece.end()], table, out[written:])
            if made < 0:
                lowered = data[piece.start() : piece.end()].tobytes().decode().lower().encode()
                made = len(lowered)
                out[written : written + made] = np.frombuffer(lowered, np.uint8)
            written += made
        return frozen(out[:written])

    return lower


@lru_cache
def lower_table() -> npt.NDArray[np.int32]:
    """The lower case of every code point up to the last that has one; -1 where it is irregular."""
    table = np.arange(0x20000, dtype=np.int32)
    # Surrogates are no characters.
    codes = np.delete(table, [*range(0xD800, 0xE000), *_IRREGULAR])
    table[codes] = np.frombuffer(codes.tobytes().decode("utf-32").lower().encode("utf-32-le"), np.int32)
    table = table[: np.flatnonzero(table != np.arange(table.size))[-1] + 1]
    table[_IRREGULAR] = -1
    return table


def cleaner(options: TextOptions) -> Cleaner:
    """The function that makes a chunk's bytes what the options say."""
    steps: list[Step] = []
    if options.lowercase:
        steps.append(lowering())
    if options.punctuation != "keep":
        steps.append(rewriting(options.punctuation == "verbalise"))
    if not steps:
        return lambda data: data

    def clean(data: bytes) -> bytes:
        array = np.frombuffer(data, np.uint8)
        for step in steps:
            array = step(array)
        return array.tobytes()

    return clean


def rewriting(spoken: bool) -> Step:
    """A step that verbalises or strips marks."""
    from classgram.runtime.compiled import frozen
    from classgram.text._kernels.punctuation import rewrite_marks

    room, table = Room(), mark_table(spoken)
    growth = most_growth(table)

    def rewrite(data: Bytes) -> Bytes:
        # Room that stays unused takes no memory.
        out = room.of(data.size * growth + 16)
        return frozen(out[: rewrite_marks(data, table, out)])

    return rewrite


def most_growth(table: "MarkTable") -> int:
    """How many times as long a text of marks may become."""
    return int(np.ceil(np.max(np.diff(table.new_starts) / np.diff(table.starts))))


@lru_cache
def mark_table(spoken: bool) -> "MarkTable":
    """The table of marks for the kernel."""
    from classgram.runtime.compiled import frozen
    from classgram.text._kernels import punctuation as marks

    ordered = sorted(MARKS, key=lambda mark: (mark.text.encode()[0], -len(mark.text.encode())))
    texts = [mark.text.encode() for mark in ordered]
    # Spaces around it make a mark a word; a stripped one leaves a space.
    new = [f" {mark.text}{mark.name} ".encode() if spoken else b" " for mark in ordered]
    roles = np.full(256, marks.PLAIN, np.uint8)
    roles[[text[0] for text in texts]] = marks.MARK
    roles[list(SPACES)] = marks.SPACE
    return marks.MarkTable(
        frozen(np.frombuffer(b"".join(texts), np.uint8)),
        frozen(np.cumsum([0, *map(len, texts)], dtype=np.int64)),
        frozen(np.frombuffer(b"".join(new), np.uint8)),
        frozen(np.cumsum([0, *map(len, new)], dtype=np.int64)),
        frozen(np.searchsorted([text[0] for text in texts], np.arange(257)).astype(np.int64)),
        frozen(np.array([mark.inside for mark in ordered], np.uint8)),
        frozen(roles),
    )
