"""Runs the examples of the README, the docs and the docstrings as tests."""

import os
import shutil
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec
from pathlib import Path

from sybil import Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parent


def installed(name: str) -> bool:
    """Whether a package that an example needs is here."""
    return find_spec(name) is not None


def in_scratch(namespace: dict[str, object]) -> None:
    """Let examples write files in a folder of their own."""
    namespace["_home"] = Path.cwd()
    namespace["installed"] = installed
    namespace["_scratch"] = tempfile.mkdtemp(prefix="classgram-docs-")
    os.chdir(str(namespace["_scratch"]))


def back_home(namespace: dict[str, object]) -> None:
    """Return from the examples' folder, which is removed."""
    os.chdir(str(namespace["_home"]))
    shutil.rmtree(str(namespace["_scratch"]), ignore_errors=True)


_markdown = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/recipes/*.md"],
    setup=in_scratch,
    teardown=back_home,
)
_docstrings = Sybil(
    parsers=[DocTestParser(ELLIPSIS | NORMALIZE_WHITESPACE)],
    patterns=["src/classgram/*.py", "src/classgram/**/*.py"],
)
pytest_collect_file = (_markdown + _docstrings).pytest()
