"""The recipes on classes are run: every shell block, and the Python that needs other packages."""

import re
import sys
from pathlib import Path

import pytest

from classgram.class_files.reading import read_classes
from tests.helpers.command import in_shell
from tests.helpers.texts import synthetic_text

RECIPES = Path(__file__).resolve().parents[2] / "docs" / "recipes"

COMMANDS = {
    "classgram": "from classgram.__main__ import main; main()",
    "classgram-clustercat": "from classgram.cli.dropins.commands import clustercat; clustercat()",
}


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in one language."""
    text = (RECIPES / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the texts that recipes speak of, and the commands on the PATH."""
    lines, _ = synthetic_text(8, 20, 500)
    nouns = [f"{d} {n} {v}" for d in ("the", "a") for n in ("cat", "dog", "bird") for v in ("sat", "ran")]
    (tmp_path / "corpus.txt").write_text("\n".join(lines[:400] + nouns * 30) + "\n")
    (tmp_path / "held-out.txt").write_text("\n".join(lines[400:]) + "\n")
    (tmp_path / "corpus.en").write_text("\n".join(nouns * 3) + "\n")
    (tmp_path / "corpus.de").write_text("\n".join(lines[:200]) + "\n")
    (tmp_path / "old.classes").write_text("CLASS-1 0.5 cat\nCLASS-1 0.5 dog\nCLASS-2 1 the\n")
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, code in COMMANDS.items():
        (commands / name).write_text(f"#!{sys.executable}\n{code}\n")
        (commands / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(commands), prepend=":")
    return tmp_path


def fitting(block: str) -> str:
    """A recipe's lines with as many classes as the small text has words for."""
    return re.sub(r"--classes \d\d\d+|-c\d\d|--classes 50", lambda found: few(found[0]), block)


def few(option: str) -> str:
    return "-c5" if option.startswith("-c") else "--classes 7"


def run_page(page: str) -> None:
    """Run the shell blocks of a page in order, in one shell."""
    script = "\n".join(["set -e", *map(fitting, blocks(page, "sh"))])
    result = in_shell(script)
    assert result.code == 0, result.err


MADE = {
    "giza.md": ["en.vcb.classes", "en.vcb.classes.cats", "de.vcb.classes"],
    "from-clustercat.md": ["old.tsv", "new.tsv"],
    "srilm-classes.md": ["corpus.classes", "new.classes"],
}


@pytest.mark.parametrize("page", MADE)
def test_recipes_run(page: str, folder: Path) -> None:
    run_page(page)
    for name in MADE[page]:
        assert read_classes(folder / name).members
    if page == "srilm-classes.md":
        kenlm = pytest.importorskip("kenlm")
        assert kenlm.Model("corpus.class.arpa").order == 3


def test_tagger_learns_from_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_page("crf-features.md")
    names: dict[str, object] = {}
    examples = re.sub(r"^(>>>|\.\.\.) ?", "", blocks("crf-features.md", "python")[0], flags=re.MULTILINE)
    exec(examples, names)
    pytest.importorskip("pycrfsuite")
    exec(blocks("crf-features.md", "py")[0], names)
    assert capsys.readouterr().out.strip() == "['D', 'N', 'V']"
