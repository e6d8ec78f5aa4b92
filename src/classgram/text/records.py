"""Text line by line as it stands in its files, for commands that give back what they read."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classgram.files.compressed import PACKED, display_name, open_unpacked
from classgram.options import ReadOptions
from classgram.text.reading import BYTE_ORDER_MARK, find_files, json_field, parquet_strings, valid


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a file: its text, and the whole JSON record where it is one."""

    text: str
    fields: dict[str, Any] | None = None


def read_records(paths: Iterable[str | Path], read: ReadOptions) -> Iterator[Record]:
    """Every line of the files in order, blank ones too; of .jsonl and .parquet files a field."""
    for path in find_files(tuple(paths)):
        kind = path.suffix.lower()
        if kind == ".parquet":
            yield from (Record(text, {read.field: text}) for text in parquet_strings(path, read.field))
            continue
        stem = path.stem.lower() if kind in PACKED else path.name.lower()
        yield from file_records(path, stem.endswith((".jsonl", ".ndjson")), read)


def file_records(path: Path, is_json: bool, read: ReadOptions) -> Iterator[Record]:
    """One file's lines."""
    name = display_name(path)
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
