"""Puts the drop-in commands into a folder under the names of the programs they stand for."""

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from classgram.errors import InputError

NAMES = ("mkcls", "clustercat")


def install_dropins(folder: Path) -> list[Path]:
    """Link the drop-ins into a folder as mkcls and clustercat; a file that is there stays.

    A folder is all that changes: only who puts it in front of a PATH replaces the originals.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: is not writable; choose another folder")
    for name in NAMES:
        if os.path.lexists(folder / name) and not is_dropin(folder / name, name):
            raise InputError(f"{folder / name}: exists and is no drop-in of classgram; choose another folder")
    return [install(folder / name, name) for name in NAMES]


def install(path: Path, name: str) -> Path:
    """Make one link, or where the commands are not installed, a launcher."""
    path.unlink(missing_ok=True)
    script = installed_script(name)
    if script is not None:
        path.symlink_to(script)
        return path
    source = Path(__file__).resolve().parents[1]
    call = f"from classgram.cli.dropins.commands import {name}; {name}()"
    command = shlex.join([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {call}"])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
    return path


def installed_script(name: str) -> Path | None:
    """Where the command of a drop-in was installed, beside this Python or on the PATH."""
    script = Path(sysconfig.get_path("scripts")) / f"classgram-{name}"
    found = str(script) if script.is_file() else shutil.which(f"classgram-{name}")
    return Path(found).resolve() if found else None


def is_dropin(path: Path, name: str) -> bool:
    """Whether a file is one that was put there before."""
    if path.is_symlink():
        return path.readlink().name == f"classgram-{name}"
    try:
        return path.is_file() and f"classgram.cli.dropins.commands import {name}" in path.read_text(
            encoding="utf-8"
        )
    except (OSError, UnicodeDecodeError):
        return False
