"""Plots of the tables, for the eye and for print: readable in black and white. Needs matplotlib."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classgram.reproduction.tables import Entry, Table, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "x", "P", "*")
COLOURS = ("#000000", "#0060a8", "#b03000", "#5a7d00", "#7a4f9e", "#008b8b", "#8b5a2b", "#c01060")


@dataclass(frozen=True)
class Line:
    """A line of a plot."""

    label: str
    xs: Sequence[Entry]
    ys: Sequence[Entry]

    def points(self) -> list[tuple[float, float]]:
        """The points where both numbers are known."""
        pairs = zip(map(number, self.xs), map(number, self.ys), strict=True)
        return [(x, y) for x, y in pairs if x is not None and y is not None]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_y: bool = True
    zero: bool = False
    """Whether a line marks zero."""
    x_ticks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Figure:
    """Panels side by side, with one legend to their right."""

    name: str
    panels: tuple[Panel, ...]


def available() -> bool:
    """Whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def save_figures(figures: Sequence[Figure], folder: Path) -> None:
    """Draw every figure as SVG and PNG."""
    import matplotlib

    matplotlib.use("agg")
    folder.mkdir(exist_ok=True)
    # A fixed salt and no date: the same results give the same files.
    with matplotlib.rc_context({"svg.hashsalt": "classgram", "font.size": 9, "savefig.dpi": 150}):
        for figure in figures:
            save_figure(figure, folder)


def save_figure(figure: Figure, folder: Path) -> None:
    """Draw one figure."""
    from matplotlib import pyplot

    width = 4.2 * len(figure.panels) + 1.8
    drawn, axes = pyplot.subplots(
        1, len(figure.panels), figsize=(width, 3.8), layout="constrained", squeeze=False
    )
    labels = list(dict.fromkeys(line.label for panel in figure.panels for line in panel.lines))
    handles: dict[str, Any] = {}
    for panel, place in zip(figure.panels, axes[0], strict=True):
        handles |= draw_panel(panel, place, labels)
    drawn.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False)
    drawn.savefig(folder / f"{figure.name}.svg", metadata={"Date": None})
    drawn.savefig(folder / f"{figure.name}.png")
    pyplot.close(drawn)


def draw_panel(panel: Panel, axes: "Axes", labels: list[str]) -> dict[str, Any]:
    """Draw the lines of a panel; give the handle of each for the legend."""
    handles = {}
    for line in panel.lines:
        points = line.points()
        style = labels.index(line.label)
        (handles[line.label],) = axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            linestyle=STYLES[style % len(STYLES)],
            marker=MARKERS[style % len(MARKERS)],
            color=COLOURS[style % len(COLOURS)],
            markersize=5,
            linewidth=1.3,
        )
    axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
        label_decades(axes)
    if panel.zero:
        axes.axhline(0, color="#888888", linewidth=0.8)
    if panel.x_ticks:
        axes.set_xticks(panel.x_ticks, [f"{tick:g}" for tick in panel.x_ticks])
        axes.set_xticks([], minor=True)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.grid(True, which="major", linewidth=0.4, color="#cccccc")
    return handles


def label_decades(axes: "Axes") -> None:
    """Write plain numbers at 1, 2 and 5 of each decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def figures_for(tables: dict[str, list[Table]]) -> dict[str, list[Figure]]:
    """The figures of every experiment that has tables."""
    drawn = {}
    for name, parts in tables.items():
        main = parts[0]
        if name == "table-1":
            drawn[name] = [Figure(name, search_panels(main))]
        elif name in ("table-2", "table-3", "table-4"):
            drawn[name] = [Figure(name, parameter_panels(main))]
        elif name in ("table-5", "table-6"):
            drawn[name] = [Figure(name, backoff_panels(main))]
        elif name in ("table-7", "table-8", "table-9"):
            drawn[name] = [Figure(name, improvement_panels(main))]
        elif name == "section-2":
            drawn[name] = [Figure(name, criterion_panels(main))]
        elif name == "beyond":
            drawn[name] = [Figure(name, contest_panels(main))]
    return drawn


PERPLEXITY = "perplexity (unknown words left out)"
TOKENS = "training text (words, marks and sentence ends)"


def search_panels(table: Table) -> tuple[Panel, ...]:
    """Perplexity and time against the number of classes."""
    classes = table.column("classes")
    ticks = tuple(float(value) for value in classes if isinstance(value, int))

    def lines(suffix: str) -> tuple[Line, ...]:
        return tuple(
            Line(label, classes, table.column(f"{key}{suffix}"))
            for label, key in (
                ("exact, ours", "exact"),
                ("heuristic, ours", "heuristic"),
                ("exact, paper", "paper_exact"),
                ("heuristic, paper", "paper_heuristic"),
            )
        )

    return (
        Panel("Perplexity", "classes", PERPLEXITY, lines(""), x_ticks=ticks),
        Panel("Time", "classes", "processor time (seconds)", lines("_seconds"), x_ticks=ticks),
    )


def parameter_panels(table: Table) -> tuple[Panel, ...]:
    """Perplexity and time against a parameter of the heuristic, in percent of the first row."""
    letter = table.columns[0].key
    values = table.column(letter)
    ticks = tuple(float(value) for value in values if isinstance(value, int))
    panels = []
    for title, key in (("Perplexity", "perplexity"), ("Time", "seconds")):
        lines = tuple(
            Line(label, values, in_percent(table.column(prefix + key)))
            for label, prefix in (("ours", ""), ("paper", "paper_"))
        )
        axis = f"{title.lower()} (% of that at {letter} = {values[0]})"
        panels.append(Panel(title, letter, axis, lines, log_y=False, x_ticks=ticks))
    return tuple(panels)


def in_percent(values: Sequence[Entry]) -> list[Entry]:
    """Numbers in percent of the first one."""
    first = number(values[0])
    numbers = [number(value) for value in values]
    return [100 * value / first if value is not None and first else None for value in numbers]


def backoff_panels(table: Table) -> tuple[Panel, ...]:
    """Perplexity against the size of the training text, a line for each cut-off."""
    tokens = table.column("tokens")
    keys = [column.key for column in table.columns if column.key.startswith("cutoff_")]
    ours = tuple(Line(f"C = {key[7:]}", tokens, table.column(key)) for key in keys)
    theirs = tuple(Line(f"C = {key[7:]}", tokens, table.column(f"paper_{key[7:]}")) for key in keys)
    return (
        Panel("Ours", TOKENS, PERPLEXITY, ours),
        Panel("Paper, at the sizes of ours", TOKENS, PERPLEXITY, theirs),
    )


def improvement_panels(table: Table) -> tuple[Panel, ...]:
    """Perplexities of two models, and the improvement, against the size of the training text."""
    tokens = table.column("tokens")
    names = {column.key: column.heading.split(":")[0] for column in table.columns}
    perplexities = tuple(
        Line(f"{names[key]}, {whose}", tokens, table.column(prefix + key))
        for whose, prefix in (("ours", ""), ("paper", "paper_"))
        for key in ("reference", "clustered")
    )
    improvements = tuple(
        Line(f"improvement, {whose}", tokens, table.column(prefix + "improvement"))
        for whose, prefix in (("ours", ""), ("paper", "paper_"))
    )
    axis = f"improvement by {names['clustered']} (%)"
    return (
        Panel("Perplexity", TOKENS, PERPLEXITY, perplexities),
        Panel("Improvement", TOKENS, axis, improvements, log_y=False, zero=True),
    )


def criterion_panels(table: Table) -> tuple[Panel, ...]:
    """Perplexity against the size of the training text, a line for each criterion."""
    rows = list(
        zip(table.column("criterion"), table.column("tokens"), table.column("perplexity"), strict=True)
    )
    names = list(dict.fromkeys(str(name) for name, _, _ in rows))
    lines = tuple(
        Line(name, [x for n, x, _ in rows if n == name], [y for n, _, y in rows if n == name])
        for name in names
    )
    return (Panel("Criteria", TOKENS, PERPLEXITY, lines),)


def contest_panels(table: Table) -> tuple[Panel, ...]:
    """Perplexity against the size of the training text, a line for each model."""
    tokens = table.column("tokens")
    models = [column.key for column in table.columns[2:-1]]
    lines = tuple(Line(model, tokens, table.column(model)) for model in models)
    return (Panel("Who wins at which size", TOKENS, PERPLEXITY, lines),)
