"""The docs say what the code does: the command reference, the list of files, the examples."""

import subprocess
import sys
from pathlib import Path

from tests.helpers.cli_manual import command_names, manual
from tests.helpers.command import environment

ROOT = Path(__file__).resolve().parents[2]


def test_command_reference_is_current() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert text == manual(), "docs/cli.md differs from the help texts: run `make docs`"


def test_every_command_is_documented_outside_the_reference() -> None:
    from classgram.__main__ import load_commands

    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    prose = "\n".join(page.read_text(encoding="utf-8") for page in pages if page.name != "cli.md")
    missing = [name for name in command_names(load_commands()) if f"classgram {name}" not in prose]
    assert not missing, f"no page explains: {', '.join(missing)}"


def test_every_command_is_found_in_its_module() -> None:
    from classgram.__main__ import COMMANDS, load_commands

    listed = sorted(name for names in COMMANDS.values() for name in names)
    assert listed == [name for name in command_names(load_commands()) if " " not in name]
    for module, names in COMMANDS.items():
        loaded = (
            "import sys; from classgram.__main__ import load_commands; app = load_commands(sys.argv[1]); "
            "print(*sorted(name for name in app if not name.startswith('-')))"
        )
        run = subprocess.run(
            [sys.executable, "-c", loaded, names[0]], env=environment(), capture_output=True, text=True
        )
        assert set(names) <= set(run.stdout.split()), module


def test_every_source_file_is_described() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "classgram"
    names = [str(path.relative_to(source)) for path in sorted(source.rglob("*.py"))]
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing, f"docs/architecture.md does not name: {', '.join(missing)}"
