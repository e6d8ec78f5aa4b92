"""All class-file formats: the module ``formats/NAME.py`` for every name of ``options.ClassFormat``."""

from importlib import import_module
from pathlib import Path
from typing import get_args

from classgram.class_files.file_format import FileFormat
from classgram.files.compressed import COMPRESSED
from classgram.options import ClassFormat

DEFAULT_FORMAT: ClassFormat = "tsv"
"""What is written where no name says otherwise, and what a table is read as that fits no stricter format."""

FORMATS: dict[ClassFormat, FileFormat] = {
    name: import_module(f"classgram.class_files.formats.{name}").FORMAT
    for name in get_args(ClassFormat)
    if name != "folder"
}


def format_of_name(path: str | Path) -> ClassFormat | None:
    """Return the format that a file's name implies, compressed or not; None if it implies none."""
    name = Path(path).name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    known = ((ending, form.name) for form in FORMATS.values() for ending in form.endings)
    fitting = [(len(ending), form) for ending, form in known if name.endswith(ending)]
    return max(fitting)[1] if fitting else None
