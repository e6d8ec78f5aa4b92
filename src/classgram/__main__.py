"""The entry point of the ``classgram`` command and of ``python -m classgram``."""

import sys


def main() -> None:
    """Run the command line."""
    from classgram.cli import counting
    from classgram.cli.app import app, run

    del counting
    sys.exit(run(app))


if __name__ == "__main__":
    main()
