"""The demo text: the documentation that comes with the running Python, as one sentence a line."""

import ast
import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from classgram.folders import atomic_file


def demo_text() -> Path:
    """The file with the demo text, made at the first call and kept in the user's cache folder."""
    path = (
        cache_folder()
        / f"demo-{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}.txt"
    )
    if not path.exists():
        lines = dict.fromkeys(line for passage in passages() for line in sentences_of(passage))
        with atomic_file(path) as file:
            file.write("\n".join([*lines, ""]).encode())
    return path


def cache_folder() -> Path:
    """The first of the user's cache folder and the temporary folder that can be written."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    for folder in (Path(home) / "classgram", Path(tempfile.gettempdir()) / f"classgram-{os.getuid()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="classgram-"))


def passages() -> Iterator[str]:
    """The language reference's topics and the docstrings of the standard library."""
    # Some Linux distributions leave the topics out: then the docstrings must do.
    topics = (
        getattr(import_module("pydoc_data.topics"), "topics", {}) if find_spec("pydoc_data.topics") else {}
    )
    for name in sorted(topics):
        yield topics[name]
    root = Path(sysconfig.get_paths()["stdlib"])
    for name in sorted(sys.stdlib_module_names):
        files = [root / f"{name}.py", *sorted((root / name).rglob("*.py"))]
        for file in files:
            if file.is_file() and not {"test", "tests", "idlelib", "site-packages"} & set(file.parts):
                yield from docstrings(file)


def docstrings(file: Path) -> Iterator[str]:
    """The docstrings of a source file, read without importing it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, OSError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


_ORNAMENT = re.compile(r"[*`~=|^\\#<>]+|:(?:\w+):|\.\. \w+::|_{2,}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")


def sentences_of(passage: str) -> Iterator[str]:
    """The sentences of a passage, code and mark-up left out."""
    for paragraph in re.split(r"\n\s*\n", passage):
        prose = [line for line in paragraph.split("\n") if not re.match(r"\s*(>>>|\.\.\. |\$ )", line)]
        text = " ".join(_ORNAMENT.sub(" ", line) for line in prose)
        for sentence in _SENTENCE_END.split(text):
            words = sentence.split()
            letters = sum(character.isalpha() or character == " " for character in sentence)
            # A line that is mostly signs is code or a table.
            if len(words) >= 4 and letters > 0.8 * len(sentence):
                yield " ".join(words)
