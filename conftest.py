"""Runs the examples of the README, the docs and the docstrings as tests, and lists what may be skipped."""

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

MAY_SKIP = {
    "test_treebank_reaches_known_optima": "the Penn Treebank",
    "test_many_classes_merged_beat_few_classes_found": "the Penn Treebank",
    "test_treebank_figures": "the Penn Treebank",
    "test_treebank_exports_scored_by_kenlm": "the Penn Treebank",
    "test_better_than_the_original": "the Penn Treebank, mkcls and ClusterCat",
    "test_kenlms_trie_takes_every_export": "KenLM's build_binary",
    "test_files_by_lmplz_pass": "KenLM's lmplz",
    "test_browser.py": "Chromium, which Debian and others have as a package",
    "test_no_space_left_keeps_the_earlier_result": "a system where users may mount a disk",
}
"""Tests that a fresh machine cannot run, and what they need: data or programs that no registry has."""

if sys.version_info >= (3, 13):
    MAY_SKIP |= {
        "test_flashlight_decodes_with_our_models": "flashlight-text, which has no wheel for this Python",
        "ctc-decoding.md": "flashlight-text, which has no wheel for this Python",
    }


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run refuse tests that skip and are not listed."""
    parser.addoption("--listed-skips", action="store_true", help="fail where a test skips that may not")


def refuse_unlisted(
    node: pytest.Item | pytest.Collector, report: pytest.TestReport | pytest.CollectReport
) -> None:
    """Make a failure of a skip that is not listed."""
    names = {getattr(node, "originalname", None), node.path.name}
    if not report.skipped or hasattr(report, "wasxfail") or names & MAY_SKIP.keys():
        return
    if node.config.getoption("listed_skips"):
        report.outcome = "failed"
        report.longrepr = (
            f"{node.nodeid} may not skip: it is not in MAY_SKIP of conftest.py\n{report.longrepr}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look at how a test ended."""
    report = yield
    refuse_unlisted(item, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look at how the reading of a file of tests ended."""
    report = yield
    refuse_unlisted(collector, report)
    return report


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
