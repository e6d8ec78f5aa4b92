"""``python -m kernel_build``: build the libraries of kernels, from the folder of the sources."""

import argparse
import os
import sys
from pathlib import Path

from kernel_build.building import Plan, build, is_current
from kernel_build.linking import linker_for
from kernel_build.targets import SYSTEMS, targets_of, this_system, this_target

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"


def main() -> int:
    """Build what is asked for."""
    options = parsed()
    linker = options.linker or linker_for(options.system)
    if linker is None:
        print("kernel_build: neither cc nor zig is here to link with", file=sys.stderr)
        return 1
    targets = targets_of(options.system) if options.all_levels else [this_target()]
    plan = Plan(targets, linker, options.output, options.processes, tuple(options.only))
    # The processes that compile take over where modules are looked for.
    sys.path.insert(0, str(SOURCES))
    if options.if_stale and is_current(plan):
        return 0
    build(plan, lambda line: print(f"kernels: {line}", file=sys.stderr, flush=True))
    return 0


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m kernel_build", description=__doc__)
    parser.add_argument("--system", choices=SYSTEMS, default=this_system())
    parser.add_argument("--all-levels", action="store_true", help="for all processors, not just for this one")
    parser.add_argument("--linker", choices=["cc", "zig"])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", default=[], metavar="MODULE", help="kernels to try")
    parser.add_argument("--if-stale", action="store_true", help="unless the libraries are up to date")
    folder = SOURCES / "classgram" / "runtime" / "compiled" / "libraries"
    parser.add_argument("--output", type=Path, default=folder)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
