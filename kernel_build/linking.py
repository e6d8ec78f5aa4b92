"""From object files to a library: the system's compiler links, or zig, which needs nothing of the system."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from kernel_build.targets import Target, this_system

SOURCE = Path(__file__).with_name("processor.c")

ZIG_SYSTEMS = {
    "x86_64-unknown-linux-gnu": "x86_64-linux-gnu.2.17",
    "aarch64-unknown-linux-gnu": "aarch64-linux-gnu.2.17",
}
"""What zig calls systems, and the oldest C library that is asked for."""


class LinkError(Exception):
    """Nothing here can link, or what was linked needs more than the C library."""


def linker_for(system: str) -> str | None:
    """Give the linker for a system: the system's own compiler where it is this one, else zig, or None."""
    if system == this_system() and shutil.which("cc"):
        return "cc"
    return "zig" if find_spec("ziglang") else None


def command_of(linker: str, target: Target) -> list[str]:
    """Give the words that a link begins with."""
    if linker == "zig":
        return [sys.executable, "-m", "ziglang", "cc", "-target", ZIG_SYSTEMS[target.triple]]
    return ["cc"]


def link(linker: str, target: Target, objects: list[Path], library: Path) -> None:
    """Link object files, and the function that tells a processor's level, into a library.

    What would need anything beyond the C library is refused.
    """
    options = ["-shared", "-fPIC", "-O2", "-s", "-fvisibility=hidden", "-Wl,--no-undefined"]
    words = [
        *command_of(linker, target),
        *options,
        "-o",
        str(library),
        str(SOURCE),
        *map(str, objects),
        "-lm",
    ]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LinkError(f"{linker} cannot be run: {error}") from None
    if done.returncode:
        raise LinkError(f"{linker} does not link {library.name}:\n{done.stderr}")
