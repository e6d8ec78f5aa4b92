"""Text in: files of every kind as a stream of clean chunks of bytes, cut between words."""

import glob
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np

from classgram.errors import InputError
from classgram.files.compressed import COMPRESSED, ByteCount, display_name, open_decompressed
from classgram.files.folders import folder_kind
from classgram.options import ReadOptions, TextOptions
from classgram.text.cleaning import PIECE, cleaner
from classgram.text.data_frames import Tabular, iterate_strings

CHUNK_BYTES = 1 << 19
"""Bytes read at a time: what is in memory of any file is a few of these, which stay in the cache."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Strings = Iterable[object] | Tabular
"""Anything that yields texts: strings, records, data frames, datasets, Arrow data."""


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
        """Return the line of the file that holds the text after so many line ends in this chunk."""
        if not self.records:
            return self.line + newlines
        return self.line + int(np.searchsorted(self.records, newlines, side="right"))


@dataclass(frozen=True)
class Text:
    """A text to be read, as often as its source allows: clean chunks of bytes, one after another.

    ``make_chunks`` reads the source and adds what it has read to a count of bytes; ``size`` is what there
    is to read, where known.
    """

    make_chunks: Callable[[ByteCount], Iterator[Chunk]]
    options: TextOptions
    size: int | None = None
    name: str = "the text"

    def chunks(self, count: ByteCount | None = None) -> Iterator[Chunk]:
        """Return the text's chunks, cleaned as its options say; ``count`` grows by the bytes read."""
        clean = cleaner(self.options)
        for chunk in self.make_chunks(count or ByteCount()):
            yield Chunk(clean(chunk.data), chunk.source, chunk.line, chunk.records)


def read_text(*paths: str | Path, text: TextOptions | None = None, read: ReadOptions | None = None) -> Text:
    """Return files, folders, globs or ``-`` (standard input) as one text.

    Compressed files (.gz, .bz2, .xz, .zst) are decompressed; of .jsonl, .ndjson and .parquet files a field
    or column is read. Files of a folder come in the order of their paths.
    """
    files = find_files(paths)
    reading = read or ReadOptions()

    def make_chunks(count: ByteCount) -> Iterator[Chunk]:
        for file in files:
            yield from _file_chunks(file, reading, count)

    name = ", ".join(display_name(file) for file in files[:3])
    return Text(
        make_chunks, text or TextOptions(), _total_size(files), name + ("..." if len(files) > 3 else "")
    )


def _total_size(files: Iterable[Path]) -> int | None:
    """Return the bytes that files have on disk, None if one is a stream."""
    return sum(file.stat().st_size for file in files) if all(file.is_file() for file in files) else None


def text_from_strings(
    strings: Strings, text: TextOptions | None = None, read: ReadOptions | None = None
) -> Text:
    """Return strings as one text; every line of a string is a sentence. An iterator can be read just once.

    Strings may also be a column of a data frame, an Arrow array, or the field ``read.field`` of a
    data frame, an Arrow table, a dataset or any records; missing ones are left out.
    """
    reading = read or ReadOptions()
    if isinstance(strings, str | bytes):
        raise InputError("give a list of strings, not one string")

    def make_chunks(count: ByteCount) -> Iterator[Chunk]:
        return _string_chunks(iterate_strings(strings, reading.field), reading, count)

    return Text(make_chunks, text or TextOptions())


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files that paths, folders and globs stand for."""
    files: list[Path] = []
    for given in paths:
        try:
            files.extend(_files_at(given))
        except OSError as error:
            raise InputError(f"{given!s:.200}: cannot be read: {error.strerror}") from None
    if not files:
        raise InputError("no text given: name files, folders, or - for standard input")
    return files


def _files_at(given: str | Path) -> list[Path]:
    """Return the files that one path, folder or glob stands for."""
    path = Path(given)
    if str(given) == "-" or path.is_file() or path.is_fifo() or path.is_char_device():
        return [path]
    # The empty name would be the current folder; more likely it is a shell variable without a value.
    if path.is_dir() and str(given):
        return _files_in(path)
    found = sorted(Path(name) for name in glob.glob(str(given), recursive=True))
    files = [file for file in found if file.is_file()]
    if not files:
        raise InputError(f"{given or repr('')}: no such file or folder")
    return files


def _files_in(folder: Path) -> list[Path]:
    """Return every file below a folder that is not hidden, in the order of their paths."""
    if folder_kind(folder) is not None:
        raise InputError(f"{folder}: is a result of classgram, not a folder of text")
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not files:
        raise InputError(f"{folder}: the folder contains no text; name a folder with files, or a file")
    return files


def _file_chunks(path: Path, read: ReadOptions, count: ByteCount) -> Iterator[Chunk]:
    """Return one file's chunks, decompressed and decoded."""
    name = display_name(path)
    if path.suffix.lower() == ".parquet":
        yield from _string_chunks(parquet_strings(path, read.field), read, count, name)
        return
    chunks = _json_chunks if holds_json(path) else _plain_chunks
    with open_decompressed(path, count) as file:
        yield from chunks(file, name, read)


def holds_json(path: Path) -> bool:
    """Return whether a file, by its name, holds a JSON record a line, compressed or not."""
    name = path.stem if path.suffix.lower() in COMPRESSED else path.name
    return name.lower().endswith((".jsonl", ".ndjson"))


def _blocks(head: bytes, file: IO[bytes]) -> Iterator[bytes]:
    """Return the bytes of a file whose head was read, in blocks, the last one ending in a line end."""
    last = b"\n"
    block = head
    while block:
        last = block[-1:]
        yield block
        block = file.read(CHUNK_BYTES)
    if last != b"\n":
        yield b"\n"


def _cut_between_words(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return the same bytes, cut just after a separator; a word longer than a block grows its piece."""
    held: list[bytes] = []
    for piece in pieces:
        # A NUL byte is refused when it is met in a chunk: /dev/zero must not be held to its end.
        cut = 0
        for end in (b" ", b"\n", b"\t", b"\r", b"\x0b", b"\x0c", b"\0"):
            # Searched only behind what was found: a byte that is not there costs a whole search.
            cut = max(cut, piece.rfind(end, cut) + 1)
        if cut == 0:
            held.append(piece)
            continue
        yield b"".join([*held, memoryview(piece)[:cut]])
        held = [piece[cut:]] if cut < len(piece) else []
    if held:
        yield b"".join(held)


def _plain_chunks(file: IO[bytes], name: str, read: ReadOptions) -> Iterator[Chunk]:
    """Return a plain file's chunks, without its byte-order mark."""
    line = 1
    offset = 0
    head = file.read(len(BYTE_ORDER_MARK))
    if head == BYTE_ORDER_MARK:
        offset = len(head)
        head = file.read(CHUNK_BYTES)
    for data in _cut_between_words(_blocks(head, file)):
        yield Chunk(valid(data, name, (line, offset), read), name, line)
        # Faster than to count in bytes, which searches anew behind each.
        line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
        offset += len(data)


def _json_chunks(file: IO[bytes], name: str, read: ReadOptions) -> Iterator[Chunk]:
    """Return the chunks of a field of a file of JSON records, one a line."""

    def strings() -> Iterator[str]:
        offset = 0
        for number, line in enumerate(file, start=1):
            if line.strip():
                checked = valid(line, name, (number, offset), read)
                yield json_field(checked, f"{name}, line {number}", read.field)
            else:
                yield ""
            offset += len(line)

    yield from _string_chunks(strings(), read, ByteCount(), name)


def json_field(line: bytes, place: str, name: str) -> str:
    """Return the field ``name`` of a JSON line."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not a JSON record ({error}); repair or remove the line") from None
    if not isinstance(record, dict):
        raise InputError(f"{place}: not a JSON record with fields; repair or remove the line")
    if not isinstance(record.get(name), str):
        held = ", ".join(key for key, value in record.items() if isinstance(value, str)) or "none"
        raise InputError(f"{place}: no text in field {name!r}; name another with --field (of text: {held})")
    return cast(str, record[name])


def parquet_strings(path: Path, column: str) -> Iterator[str]:
    """Return a column of a Parquet file, missing values as empty strings."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs: pip install 'classgram[arrow]'") from None
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if column not in names:
                raise InputError(
                    f"{path}: no column {column!r}; name another with --field (it has: {', '.join(names)})"
                )
            for batch in file.iter_batches(columns=[column]):
                for value in batch.column(0).to_pylist():
                    if not isinstance(value, str | None):
                        held = file.schema_arrow.field(column).type
                        raise InputError(
                            f"{path}: column {column!r} contains {held}, not text; name another with --field"
                        )
                    yield value or ""
    except (ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{path}: broken Parquet file ({reason}); fetch or write it again") from None


def _string_chunks(
    strings: Iterable[str], read: ReadOptions, count: ByteCount, name: str = "strings"
) -> Iterator[Chunk]:
    """Return strings gathered into chunks; each ends its last line, and its number serves as line number."""
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
        count.total += len(data)
        if size >= CHUNK_BYTES:
            yield Chunk(b"".join(gathered), name, first, tuple(records))
            first += len(records)
            gathered, records, size, lines = [], [], 0, 0
    if gathered:
        yield Chunk(b"".join(gathered), name, first, tuple(records))


_SURROGATES = re.compile("[\ud800-\udfff]")


def encoded(string: str, place: str, read: ReadOptions) -> bytes:
    """Return a string as UTF-8, with lone surrogates refused or replaced as asked."""
    if not isinstance(string, str):
        raise InputError(f"{place}: not a string but {string!r:.50}")
    if "\0" in string:
        raise InputError(f"{place}: NUL character at position {string.index(chr(0))}; remove it")
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
    """Return the same bytes where they are text, with invalid UTF-8 refused or replaced as asked."""
    line, offset = place
    nul = data.find(b"\0")
    if nul >= 0:
        at = line + data.count(b"\n", 0, nul)
        raise InputError(
            f"{name}, line {at}: NUL byte at byte {offset + nul}; is it a text file? convert it to UTF-8"
        )
    fault = -1 if data.isascii() else _first_fault(data)
    if fault < 0:
        return data
    if read.encoding_errors == "replace":
        return data.decode("utf-8", "replace").encode("utf-8")
    at = line + data.count(b"\n", 0, fault)
    raise InputError(
        f"{name}, line {at}: invalid UTF-8 at byte {offset + fault}; "
        "convert the file, or go on with --encoding-errors replace"
    )


def _first_fault(data: bytes) -> int:
    """Return where bytes are not UTF-8, or -1, a piece at a time: decoding all at once takes new memory."""
    for piece in PIECE.finditer(data):
        try:
            piece.group().decode("utf-8")
        except UnicodeDecodeError as error:
            return piece.start() + error.start
    return -1
