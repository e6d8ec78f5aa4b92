"""Hatchling's hook: compiled kernels go into wheels and editable installs, where they can be built.

``CLASSGRAM_BUILD=release`` asks for all levels of processors, linked by zig, which suits old systems, too;
else just for the level of this machine. ``CLASSGRAM_BUILD=none`` asks for a wheel without them.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "classgram", "runtime", "compiled", "libraries")
NUMBA = "numba>=0.61"
"""What a package without compiled kernels depends on."""


class KernelHook(BuildHookInterface):  # type: ignore[misc]
    """Builds the libraries before a wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the libraries, or say why there are none."""
        if self.target_name != "wheel":
            return
        wanted = os.environ.get("CLASSGRAM_BUILD", "here")
        if wanted == "none" or not self._built(wanted):
            self.app.display_warning(
                "classgram: no compiled kernels; Numba compiles them when they are first used"
            )
            build_data["dependencies"] = [NUMBA]
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(wanted)}"
        build_data["artifacts"].append(f"/{FOLDER.as_posix()}/*")

    def _built(self, wanted: str) -> bool:
        """Have the builder run in a process of its own: Numba reads its settings when it is imported."""
        words = [sys.executable, "-m", "kernel_build"]
        words += ["--all-levels", "--linker", "zig"] if wanted == "release" else ["--if-stale"]
        # The working directory finds the builder, which finds the sources itself.
        done = subprocess.run(words, cwd=self.root, check=False)
        if done.returncode and wanted == "release":
            raise RuntimeError("the kernels could not be built")
        return done.returncode == 0


def platform_tag(wanted: str) -> str:
    """Give the systems that a wheel suits: linked by zig old ones, too, else those like this one."""
    from packaging.tags import platform_tags

    here = [tag for tag in platform_tags() if not tag.startswith("any")]
    if wanted == "release":
        return next(tag for tag in here if tag.startswith("manylinux_2_17"))
    return here[0]
