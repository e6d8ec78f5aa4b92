"""Draws figures as SVG and PNG, readable in black and white. The one file that needs matplotlib."""

import json
import math
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classgram.files.atomic import atomic_file
from classgram.files.folders import checksum
from classgram.reproduction.figures import Figure, Panel
from classgram.runtime.progress import human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 1, 2)))
_MARKERS = ("o", "s", "^", "D", "v", "x", "P", "*")
_COLOURS = ("#000000", "#0060a8", "#b03000", "#5a7d00", "#7a4f9e", "#008b8b", "#8b5a2b", "#c01060")

_DRAWN = "drawn.json"
"""Says which figures were drawn from which numbers, so that no figure is drawn twice."""

_FINE = (1, 1.2, 1.4, 1.6, 1.8, 2, 2.3, 2.6, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)
_STEPS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8), _FINE)
"""Where an axis of a logarithmic scale is labelled in each decade, the fewest first."""

MOST_TICKS = 8


def available() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def save_figures(figures: Iterable[Figure], folder: Path) -> None:
    """Draw every figure that was not drawn from the same numbers before."""
    folder.mkdir(exist_ok=True)
    before = _read_drawn(folder)
    now = {figure.name: checksum(repr(figure).encode()) for figure in figures}
    for figure in figures:
        files = [folder / f"{figure.name}.{kind}" for kind in ("svg", "png")]
        if before.get(figure.name) != now[figure.name] or not all(file.is_file() for file in files):
            _save_figure(figure, files)
    with atomic_file(folder / _DRAWN) as file:
        file.write(json.dumps(before | now, indent=1).encode())


def _read_drawn(folder: Path) -> dict[str, str]:
    """Return the digests of the figures that were drawn."""
    try:
        found = json.loads((folder / _DRAWN).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _save_figure(figure: Figure, files: list[Path]) -> None:
    """Draw one figure into some files."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    # A fixed salt and no date: the same numbers give the same files.
    with matplotlib.rc_context({"svg.hashsalt": "classgram", "font.size": 9, "savefig.dpi": 150}):
        number = len(figure.panels)
        # One panel alone is wider, so that the title fits above it.
        width = 9.5 if number == 1 else 4.3 * number + 2
        drawn, axes = pyplot.subplots(1, number, figsize=(width, 4), layout="constrained", squeeze=False)
        labels = list(dict.fromkeys(line.label for panel in figure.panels for line in panel.lines))
        handles: dict[str, Any] = {}
        for panel, place in zip(figure.panels, axes[0], strict=True):
            handles |= _draw_panel(panel, place, labels)
        drawn.suptitle(figure.title, fontsize=10)
        drawn.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False)
        for file in files:
            drawn.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
        pyplot.close(drawn)


def _draw_panel(panel: Panel, axes: "Axes", labels: list[str]) -> dict[str, Any]:
    """Draw the lines of a panel; give the handle of each for the legend."""
    handles = {}
    for line in panel.lines:
        points = line.points()
        style = labels.index(line.label)
        (handles[line.label],) = axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            linestyle=_STYLES[style % len(_STYLES)] if len(points) > 1 else "none",
            marker=_MARKERS[style % len(_MARKERS)],
            color=_COLOURS[style % len(_COLOURS)],
            markersize=5,
            linewidth=1.3,
        )
    everything = [point for line in panel.lines for point in line.points()]
    if everything:
        axes.set_xscale("log")
        axes.set_xlim(*_label_axis(axes.xaxis, [x for x, _ in everything], panel.x_ticks))
        if panel.log_y:
            axes.set_yscale("log")
            axes.set_ylim(*_label_axis(axes.yaxis, [y for _, y in everything]))
    if panel.zero:
        axes.axhline(0, color="#888888", linewidth=0.8)
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.grid(True, which="major", linewidth=0.4, color="#cccccc")
    return handles


def _label_axis(axis: "Axis", values: list[float], given: tuple[float, ...] = ()) -> tuple[float, float]:
    """Label a logarithmic axis with plain numbers; give its ends, with room around the values."""
    low, high = min(values), max(values)
    margin = max((high / low) ** 0.06, 1.1)
    ticks = given or round_ticks(low / margin, high * margin)
    axis.set_ticks(ticks, [human(tick) for tick in ticks])
    axis.set_ticks([], minor=True)
    return low / margin, high * margin


def round_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return round numbers in a range: as many as do not crowd an axis.

    >>> round_ticks(150, 800)
    (150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 600.0, 800.0)
    """
    best: tuple[float, ...] = ()
    decades = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    for steps in _STEPS:
        ticks = tuple(step * 10.0**decade for decade in decades for step in steps)
        inside = tuple(tick for tick in ticks if low <= tick <= high)
        if len(inside) <= MOST_TICKS:
            best = inside
    # A narrow range holds no round number of these: its ends must do.
    return best if len(best) >= 2 else tuple(dict.fromkeys((*best, *_spread(low, high))))


def _spread(low: float, high: float) -> list[float]:
    """Return a few numbers of two or three digits across a narrow range."""
    digits = 1 - math.floor(math.log10(high - low)) if high > low else 0
    return [round(low + (high - low) * share, digits) for share in (0.1, 0.5, 0.9)]
