"""The demo text: the documentation that comes with the running Python, as one sentence a line."""

import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from classgram.files.atomic import atomic_file


def demo_text() -> Path:
    """Return the file with the demo text, made at the first call and kept in the user's cache folder."""
    path = (
        _cache_folder()
        / f"demo-{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}.txt"
    )
    if not path.exists():
        lines = dict.fromkeys(line for passage in _passages() for line in _sentences_of(passage))
        with atomic_file(path) as file:
            file.write("\n".join([*lines, ""]).encode())
    return path


def _cache_folder() -> Path:
    """Return the first of the user's cache folder and the temporary folder that can be written."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    for folder in (Path(home) / "classgram", Path(tempfile.gettempdir()) / f"classgram-{os.getuid()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="classgram-"))


def _passages() -> Iterator[str]:
    """Return the language reference's topics, and the docstrings and comments of the standard library."""
    # Some Linux distributions leave the topics out: then the docstrings must do.
    topics = (
        getattr(import_module("pydoc_data.topics"), "topics", {}) if find_spec("pydoc_data.topics") else {}
    )
    for name in sorted(topics):
        yield topics[name]
    for name in sorted({*sys.builtin_module_names} - {"__main__"}):
        yield from _compiled_docstrings(import_module(name))
    for file in _library_files():
        yield from _source_passages(file)


def _library_files() -> Iterator[Path]:
    """Return the source files of the standard library but for its tests, in order."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for name in sorted(sys.stdlib_module_names):
        for file in (root / f"{name}.py", *sorted((root / name).rglob("*.py"))):
            if file.is_file() and not {"test", "tests", "idlelib", "site-packages"} & set(file.parts):
                yield file


def _compiled_docstrings(owner: object, depth: int = 2) -> Iterator[str]:
    """Return the docstrings of a compiled module, its classes and their methods."""
    text = getattr(owner, "__doc__", None)
    if isinstance(text, str):
        yield text
    if depth > 0 and isinstance(owner, ModuleType | type):
        for name in sorted(vars(owner)):
            yield from _compiled_docstrings(vars(owner)[name], depth - 1)


_TRIPLE_QUOTED = re.compile(r"""(^[ \t]*[rRuU]?)?(\"{3}|'{3})(.*?)(?<!\\)\2""", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"(?:^[ \t]*#(?: .*)?\n){3,}", re.MULTILINE)
_COMMENT_SIGN = re.compile(r"^[ \t]*#", re.MULTILINE)


def _source_passages(file: Path) -> Iterator[str]:
    """Return the docstrings and the longer comments of a source file, found without parsing it."""
    try:
        source = file.read_text("utf-8", "replace")
    except OSError:
        return
    for found in _TRIPLE_QUOTED.finditer(source):
        # A long string is a docstring if it stands alone.
        if found[1] is not None:
            yield found[3]
    for found in _COMMENT.finditer(source):
        yield _COMMENT_SIGN.sub("", found[0])


_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
_NO_PROSE = re.compile(r"\s*(?:>>>|\.\.\. |\$ |[-=~+*^_]{3,}\s*$)|.*::=")
_ORNAMENT = re.compile(r"[*`~=|^\\#<>]+|:(?:\w+):|\.\. \w+::|_{2,}|^\s*[-+•]\s", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[A-Z\"'(])")


def _sentences_of(passage: str) -> Iterator[str]:
    """Return the sentences of a passage, code and mark-up left out."""
    for paragraph in _PARAGRAPH_END.split(passage):
        prose = "\n".join(line for line in paragraph.split("\n") if not _NO_PROSE.match(line))
        for sentence in _SENTENCE_END.split(_ORNAMENT.sub(" ", prose)):
            words = sentence.split()
            signs = "".join(words)
            # What has few letters is code or a table.
            if len(words) >= 3 and sum(map(str.isalpha, signs)) > 0.8 * len(signs):
                yield " ".join(words)
