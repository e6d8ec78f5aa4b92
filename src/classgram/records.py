"""Text line by line as it stands in its files, for commands that give back what they read."""

import gzip
import json
import lzma
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classgram.errors import InputError
from classgram.options import ReadOptions
from classgram.text import (
    BYTE_ORDER_MARK,
    PACKED,
    broken,
    find_files,
    json_field,
    open_unpacked,
    parquet_strings,
    valid,
)


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a file: its text, and the whole JSON record where it is one."""

    text: str
    fields: dict[str, Any] | None = None


def read_records(paths: Iterable[str | Path], read: ReadOptions) -> Iterator[Record]:
    """Every line of the files in order, blank ones too; of .jsonl and .parquet files a field."""
    for path in find_files(tuple(paths)):
        name = str(path) if str(path) != "-" else "standard input"
        kind = path.suffix.lower()
        if kind == ".parquet":
            yield from (Record(text, {read.field: text}) for text in parquet_strings(path, read.field))
            continue
        stem = path.stem.lower() if kind in PACKED else path.name.lower()
        try:
            yield from file_records(path, name, stem.endswith((".jsonl", ".ndjson")), read)
        except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            raise broken(name, kind, error) from None
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None


def file_records(path: Path, name: str, is_json: bool, read: ReadOptions) -> Iterator[Record]:
    """One file's lines."""
    offset = 0
    with open_unpacked(path, [0]) as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            checked = valid(line, name, (number, offset), read)
            offset += len(line)
            if not is_json:
                yield Record(checked.decode().removesuffix("\n").removesuffix("\r"))
            elif checked.strip():
                text = json_field(checked, f"{name}, line {number}", read.field)
                yield Record(text, json.loads(checked))
