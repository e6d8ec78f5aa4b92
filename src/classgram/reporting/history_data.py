"""How searches went, for the page: F and moved words of every sweep, and the curve of ``auto``."""

from itertools import accumulate
from typing import Any


def history_data(name: str, history: dict[str, Any]) -> dict[str, Any]:
    """Return the record of one search; times are those at which sweeps ended."""
    sweeps = history["sweeps"]
    ends = accumulate(float(sweep["seconds"]) for sweep in sweeps)
    kept = ("criterion", "F", "classes", "context_classes", "converged", "ended", "tokens", "types")
    return {
        "name": name,
        **{key: history[key] for key in kept if key in history},
        "sweeps": [
            {"sweep": s["sweep"], "kind": s.get("kind", ""), "moved": s["moved"], "F": s["F"], "seconds": end}
            for s, end in zip(sweeps, ends, strict=True)
        ],
        "curve": history.get("curve", []),
    }
