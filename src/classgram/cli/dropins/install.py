"""Puts the drop-in commands into a folder under the names of the programs they replace."""

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from classgram.errors import InputError

_NAMES = ("mkcls", "clustercat")


def install_dropins(folder: Path) -> list[Path]:
    """Link the drop-ins into a folder as mkcls and clustercat; other files there are kept.

    The original programs are replaced only for those who put the folder first in their PATH.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: is not writable; choose another folder")
    for name in _NAMES:
        if os.path.lexists(folder / name) and not _is_dropin(folder / name, name):
            raise InputError(f"{folder / name}: exists and is no drop-in of classgram; choose another folder")
    return [_install(folder / name, name) for name in _NAMES]


def _install(path: Path, name: str) -> Path:
    """Make one link, or a launcher script if the commands are not installed."""
    path.unlink(missing_ok=True)
    script = _installed_script(name)
    if script is not None:
        path.symlink_to(script)
        return path
    source = Path(__file__).resolve().parents[1]
    call = f"from classgram.cli.dropins.commands import {name}; {name}()"
    command = shlex.join([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {call}"])
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
    return path


def _installed_script(name: str) -> Path | None:
    """Return where the command of a drop-in is installed: beside this Python, or on the PATH."""
    script = Path(sysconfig.get_path("scripts")) / f"classgram-{name}"
    found = str(script) if script.is_file() else shutil.which(f"classgram-{name}")
    return Path(found).resolve() if found else None


def _is_dropin(path: Path, name: str) -> bool:
    """Return whether a file is a drop-in that was installed before."""
    if path.is_symlink():
        return path.readlink().name == f"classgram-{name}"
    try:
        return path.is_file() and f"classgram.cli.dropins.commands import {name}" in path.read_text(
            encoding="utf-8"
        )
    except (OSError, UnicodeDecodeError):
        return False
