"""Run the measurements: a table on standard output, and JSON in benchmarks/results."""

import argparse
import json
import platform
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.measure import Settings

RESULTS = Path(__file__).parent / "results"
AREAS = ("counting", "clustering", "models", "mixtures", "report")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("areas", nargs="*", default=AREAS, help=f"which of: {', '.join(AREAS)}")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--repeat", type=int, default=3, help="best of so many")
    parser.add_argument("--kenlm-bin", type=Path, help="the folder with lmplz, to compare with")
    parser.add_argument("--clustercat", type=Path, help="the clustercat binary, to compare with")
    given = parser.parse_args()
    settings = Settings(given.data, given.repeat, given.kenlm_bin, given.clustercat)
    figures = []
    for area in given.areas:
        for figure in import_module(f"benchmarks.{area}").measure(settings):
            figures.append(figure)
            print(figure.line(), flush=True)
    RESULTS.mkdir(exist_ok=True)
    document = {"machine": platform.processor() or platform.machine(), "python": sys.version.split()[0]}
    path = RESULTS / "bench.json"
    path.write_text(json.dumps({**document, "figures": [figure._asdict() for figure in figures]}, indent=1))
    print(f"written to {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
