"""Text line by line as it stands in its files, for commands that give back what they read."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classgram.files.compressed import display_name, open_decompressed
from classgram.options import ReadOptions
from classgram.text.reading import BYTE_ORDER_MARK, find_files, holds_json, json_field, parquet_strings, valid


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a file: its text, and the whole JSON record where it is one."""

    text: str
    fields: dict[str, Any] | None = None


def read_records(paths: Iterable[str | Path], read: ReadOptions) -> Iterator[Record]:
    """Return every line of the files in order, blank ones too; of .jsonl and .parquet files a field."""
    for path in find_files(tuple(paths)):
        if path.suffix.lower() == ".parquet":
            yield from (Record(text, {read.field: text}) for text in parquet_strings(path, read.field))
        else:
            yield from _file_records(path, read)


def _file_records(path: Path, read: ReadOptions) -> Iterator[Record]:
    """Return one file's lines."""
    name, is_json = display_name(path), holds_json(path)
    offset = 0
    with open_decompressed(path) as file:
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
