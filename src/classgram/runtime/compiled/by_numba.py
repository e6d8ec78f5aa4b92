"""Kernels compiled by Numba when they are first called, where no library is."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config

from classgram.runtime.compiled.sources import digest_of_sources

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""Kernels run without the GIL, and no divisor is checked, so that loops become vectors."""


def compiled(function: Callable[..., Any], folder: Path | None, inline: bool = False) -> Any:
    """Have Numba compile a function when it is called, and keep it in a folder if there is one."""
    options = {**OPTIONS, "inline": "always"} if inline else OPTIONS
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(folder or "")  # type: ignore[attr-defined]
    try:
        return numba.njit(cache=folder is not None, **options)(function)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def cache_folder() -> Path | None:
    """Give a folder for these sources that nobody else can write to, or None where there is none.

    Numba does not notice when a part in another file is edited, so every state of the sources has its own.
    """
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        base = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home, "classgram"))
        folder = base / f"kernels-{digest_of_sources()}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(folder) else None
    except (OSError, RuntimeError):
        # A disk that cannot be written to, or nobody's home.
        return None


def is_private(folder: Path) -> bool:
    """Say whether only this user can write to a folder: Numba runs what it finds there."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(folder, os.W_OK)
