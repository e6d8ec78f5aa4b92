"""The entry point of the ``classgram`` command and of ``python -m classgram``."""

import signal
import sys


def main() -> None:
    """Run the command line."""
    from classgram.cli import counting
    from classgram.cli.app import app, run, terminate

    del counting
    signal.signal(signal.SIGTERM, terminate)
    sys.exit(run(app))


if __name__ == "__main__":
    main()
