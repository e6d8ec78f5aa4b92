"""The experiments on the search: tables 1 to 4 of section 4, criteria of section 2, shapes of section 3."""

from collections.abc import Callable
from dataclasses import replace

from classgram.options import ClusterOptions
from classgram.reproduction import paper
from classgram.reproduction.cells import Clustering
from classgram.reproduction.plan import Plan, Scale, leaving_one_out
from classgram.reproduction.samples import Sample
from classgram.reproduction.tables import (
    Column,
    Entry,
    Experiment,
    Gap,
    Results,
    Table,
    change,
    entry,
    exponent,
    rank_correlation,
    ratio,
)

_TARGETS = 10
"""The t of table 1."""

SIZE_COLUMNS = (Column("parameters", "parameters", "count"), Column("bytes", "bytes", "count"))


def _joint_cell(plan: Plan, classes: int, search: str | tuple[int, int, int]) -> Clustering:
    """Return a clustering into (C, C) classes; ``search`` is exact, or t, h and u of the heuristic."""
    options = leaving_one_out("joint", classes, classes)
    how = plan.exact if isinstance(search, str) else plan.heuristic(*search)
    return Clustering(plan.search_sample, options, how)


def table_1(plan: Plan) -> Experiment:
    """Return the experiment of table 1: the exact search against the heuristic."""
    numbers = plan.scale.class_numbers
    exact = {classes: _joint_cell(plan, classes, "exact") for classes in numbers}
    heuristic = {classes: _joint_cell(plan, classes, (_TARGETS, 10, 1000)) for classes in numbers}

    def fill(results: Results) -> list[Table]:
        rows, details = [], []
        for classes in numbers:
            theirs = paper.TABLE_1[classes]
            one, two = exact[classes], heuristic[classes]
            perplexities = [entry(results, cell, "perplexity") for cell in (one, two)]
            times = [entry(results, cell, "cpu_seconds") for cell in (one, two)]
            their_times = [paper.seconds(theirs.exact_time), paper.seconds(theirs.heuristic_time)]
            rows.append((
                classes, theirs.exact_perplexity, perplexities[0], theirs.heuristic_perplexity,
                perplexities[1], theirs.perplexity_change, change(*perplexities), their_times[0], times[0],
                their_times[1], times[1], their_times[0] / their_times[1], ratio(*times),
                classes / _TARGETS,
            ))  # fmt: skip
            for name, cell in (("exact", one), ("heuristic", two)):
                details.append((classes, name, *_search_details(results, cell)))
        notes = (*_sample_notes(results, one), _TABLE_1_NOTE)
        main = Table("table-1", _TABLE_1_TITLE, _TABLE_1_COLUMNS, tuple(rows), notes)
        columns = (
            Column("classes", "classes", "count"),
            Column("search", "search", "text"),
            *_SEARCH_DETAILS,
        )
        return [
            main,
            _exponents(main),
            Table("table-1-details", "The models of table 1", columns, tuple(details)),
        ]

    cells = tuple(cell for classes in numbers for cell in (exact[classes], heuristic[classes]))
    return Experiment("table-1", _TABLE_1_TITLE, cells, fill)


_TABLE_1_TITLE = "Table 1: the algorithm and its heuristic version (t = 10, h = 10, u = 1000)"

_TABLE_1_NOTE = (
    "C classes of contexts and C of words each time; the paper's times are those of a DEC 3000/600."
)

_TABLE_1_COLUMNS = (
    Column("classes", "classes", "count"),
    Column("paper_exact", "exact: paper"),
    Column("exact", "exact: ours"),
    Column("paper_heuristic", "heuristic: paper"),
    Column("heuristic", "heuristic: ours"),
    Column("paper_change", "change %: paper", "percent"),
    Column("change", "change %: ours", "percent"),
    Column("paper_exact_seconds", "exact s: paper", "seconds"),
    Column("exact_seconds", "exact s: ours", "seconds"),
    Column("paper_heuristic_seconds", "heuristic s: paper", "seconds"),
    Column("heuristic_seconds", "heuristic s: ours", "seconds"),
    Column("paper_speedup", "speed-up: paper", "ratio"),
    Column("speedup", "speed-up: ours", "ratio"),
    Column("classes_per_target", "C / t", "ratio"),
)

_SEARCH_DETAILS = (
    Column("perplexity_including_unknown", "perplexity with unknown words"),
    Column("interpolated_perplexity", "perplexity, interpolated"),
    Column("F", "F", "criterion"),
    Column("sweeps", "sweeps", "count"),
    *SIZE_COLUMNS,
)


def _search_details(results: Results, cell: Clustering) -> tuple[Entry, ...]:
    """Return the entries of ``_SEARCH_DETAILS``."""
    return tuple(entry(results, cell, column.key) for column in _SEARCH_DETAILS)


def _exponents(main: Table) -> Table:
    """Return the exponents of time in the number of classes, fitted to table 1 and to its larger half."""
    classes = main.column("classes")
    half = len(classes) // 2
    rows = []
    for name in ("exact", "heuristic"):
        theirs, ours = main.column(f"paper_{name}_seconds"), main.column(f"{name}_seconds")
        rows.append((
            name, exponent(classes, theirs), exponent(classes, ours),
            exponent(classes[half:], theirs[half:]), exponent(classes[half:], ours[half:]),
        ))  # fmt: skip
    columns = (
        Column("search", "search", "text"),
        Column("paper_all", "all C: paper", "exponent"),
        Column("all", "all C: ours", "exponent"),
        Column("paper_larger", "larger half of C: paper", "exponent"),
        Column("larger", "larger half of C: ours", "exponent"),
    )
    title = "Fitted exponents p of time = a C^p (least squares of the logarithms)"
    return Table("table-1-exponents", title, columns, tuple(rows))


def _sample_notes(results: Results, cell: Clustering) -> tuple[str, ...]:
    """Return a note on the size of the training set."""
    tokens = entry(results, cell, "tokens")
    if not isinstance(tokens, int):
        return ()
    return (
        f"Ours: {tokens:,} words, punctuation and sentence ends of training text; leaving-one-out, "
        f"b = {cell.classes.discount}. Times are processor seconds of the search alone, one thread.",
    )


_Search = Callable[[int], tuple[int, int, int]]


def _parameter_table(
    number: int, letter: str, theirs: dict[int, paper.Searched], search: _Search
) -> Callable[[Plan], Experiment]:
    """Return an experiment with one parameter of the heuristic; ``search`` gives t, h and u for its value."""

    def experiment(plan: Plan) -> Experiment:
        classes = plan.scale.many_classes
        cells: dict[Entry, Clustering] = {
            value: _joint_cell(plan, classes, search(value)) for value in theirs
        }
        # All targets at once is the exact algorithm, which the paper could not run with so many classes.
        if letter == "t":
            cells["exact"] = _joint_cell(plan, classes, "exact")
        name = f"table-{number}"
        title = f"Table {number}: {_PARAMETERS[letter]}, {classes} classes"

        def fill(results: Results) -> list[Table]:
            rows = []
            for value, cell in cells.items():
                printed = theirs[value] if isinstance(value, int) else None
                rows.append((
                    value, printed.criterion if printed else None, entry(results, cell, "F"),
                    printed.perplexity if printed else None, entry(results, cell, "perplexity"),
                    paper.seconds(printed.time) if printed else None,
                    entry(results, cell, "cpu_seconds"),
                    entry(results, cell, "perplexity_including_unknown"),
                    entry(results, cell, "parameters"), entry(results, cell, "bytes"),
                ))  # fmt: skip
            columns = (Column(letter, letter, "count"), *_PARAMETER_COLUMNS)
            made = Table(name, title, columns, tuple(rows))
            notes = (*lowered_notes(results, list(cells.values())), *_together(made))
            return [replace(made, notes=notes)]

        return Experiment(name, title, tuple(cells.values()), fill)

    return experiment


_PARAMETERS = {
    "t": "target classes t (u = 1000, h = 10)",
    "u": "moves u between full updates (t = 10, h = 10)",
    "h": "neighbours h (t = 10, u = 10)",
}

_PARAMETER_COLUMNS = (
    Column("paper_criterion", "F: paper", "criterion"),
    Column("criterion", "F: ours", "criterion"),
    Column("paper_perplexity", "perplexity: paper"),
    Column("perplexity", "perplexity: ours"),
    Column("paper_seconds", "s: paper", "seconds"),
    Column("seconds", "s: ours", "seconds"),
    Column("perplexity_including_unknown", "with unknown words"),
    *SIZE_COLUMNS,
)


def _together(made: Table) -> tuple[str, ...]:
    """Return a note on the rank correlation of criterion and perplexity."""
    found = rank_correlation(made.column("criterion"), made.column("perplexity"))
    if found is None:
        return ()
    return (f"Rank correlation of criterion and perplexity (ours): {found:+.2f}; -1 is moving together.",)


def lowered_notes(results: Results, cells: list[Clustering]) -> tuple[str, ...]:
    """Return notes on class numbers that had to be lowered."""
    found: dict[str, None] = {}
    for cell in cells:
        result = results(cell)
        if not isinstance(result, Gap) and result["lowered"]:
            asked = numbers_text(cell.classes.context_classes, cell.classes.classes)
            got = numbers_text(result["context_classes"], result["classes"])
            size = "all" if cell.sample.words is None else f"{cell.sample.words:,}"
            found[f"{size} words: {got} classes instead of {asked}, as there are no more elements."] = None
    return tuple(found)


def numbers_text(contexts: Entry, words: Entry) -> str:
    """Return class numbers as the paper writes them: (G1, G2), or one if contexts have no classes."""
    return f"{words}" if contexts is None else f"({contexts}, {words})"


table_2 = _parameter_table(2, "t", paper.TABLE_2, lambda t: (t, 10, 1000))
table_3 = _parameter_table(3, "u", paper.TABLE_3, lambda u: (10, 10, u))
table_4 = _parameter_table(4, "h", paper.TABLE_4, lambda h: (10, h, 10))


def section_2(plan: Plan) -> Experiment:
    """Return the experiment on the criteria of section 2, with b fixed and with b estimated."""
    classes = plan.scale.many_classes
    fixed = leaving_one_out("joint", classes, classes)
    criteria: dict[str, ClusterOptions] = {
        "maximum likelihood": replace(fixed, criterion="ml"),
        "leaving-one-out, b = 0.75": fixed,
        "leaving-one-out, b estimated": replace(fixed, discount="estimate"),
    }
    wanted = {name: plan.scale.training_sets[name] for name in plan.scale.criterion_sets}
    samples = {one.name: one.sample("verbalise") for one in plan.sets(wanted)}
    samples[f"{plan.scale.search_words:,} words"] = plan.search_sample
    cells = {
        (name, label): Clustering(sample, options, plan.exact)
        for name, sample in samples.items()
        for label, options in criteria.items()
    }
    title = f"Section 2: the criteria compared, ({classes}, {classes}) classes, exact search"

    def fill(results: Results) -> list[Table]:
        rows = [
            (name, entry(results, cell, "tokens"), label, *_comparison_entries(results, cell))
            for (name, label), cell in cells.items()
        ]
        columns = (
            Column("set", "training set", "text"),
            Column("tokens", "tokens", "count"),
            Column("criterion", "criterion", "text"),
            *_COMPARISON_COLUMNS,
        )
        notes = (
            *lowered_notes(results, list(cells.values())),
            "F of different criteria cannot be compared. An estimated b is kept only where F rises with it.",
        )
        return [Table("section-2", title, columns, tuple(rows), notes)]

    return Experiment("section-2", title, tuple(cells.values()), fill)


_COMPARISON_COLUMNS = (
    Column("perplexity", "perplexity"),
    Column("perplexity_including_unknown", "with unknown words"),
    Column("interpolated_perplexity", "interpolated"),
    Column("F", "F", "criterion"),
    Column("sweeps", "sweeps", "count"),
    Column("cpu_seconds", "s", "seconds"),
    *SIZE_COLUMNS,
)


def _comparison_entries(results: Results, cell: Clustering) -> tuple[Entry, ...]:
    """Return the entries of ``_COMPARISON_COLUMNS``."""
    return tuple(entry(results, cell, column.key) for column in _COMPARISON_COLUMNS)


_NOT_YET = Gap("not available yet")


def _shapes(scale: Scale) -> dict[str, tuple[str, ClusterOptions | None]]:
    """Return the class numbers and options of every shape; None for those that are not run."""
    classes = scale.many_classes
    contexts, words = scale.trigram_classes
    return {
        "tied, order 2": (f"{classes}", leaving_one_out("tied", classes)),
        "joint, order 2": (f"({classes}, {classes})", leaving_one_out("joint", classes, classes)),
        "predictive, order 2": (f"{classes}", leaving_one_out("predictive", classes)),
        "joint, order 3": (
            f"({contexts}, {words})",
            replace(leaving_one_out("joint", words, contexts), order=3, contexts=scale.contexts),
        ),
        "positional, order 3": ("", None),
        "tied, order 3": ("", None),
    }


def section_3(plan: Plan) -> Experiment:
    """Return the shapes compared."""
    shapes = _shapes(plan.scale)
    sample: Sample = plan.search_sample
    cells = {
        name: Clustering(sample, options, plan.exact)
        for name, (_, options) in shapes.items()
        if options is not None
    }
    title = "Section 3: the shapes of classes compared, exact search"

    def fill(results: Results) -> list[Table]:
        rows: list[tuple[Entry, ...]] = []
        for name, (asked, options) in shapes.items():
            if options is None:
                rows.append((name, asked, _NOT_YET, *(None for _ in _COMPARISON_COLUMNS[1:])))
            else:
                rows.append((name, asked, *_comparison_entries(results, cells[name])))
        columns = (
            Column("shape", "shape", "text"),
            Column("classes", "classes", "text"),
            *_COMPARISON_COLUMNS,
        )
        notes = (
            *_sample_notes(results, cells["tied, order 2"]),
            *lowered_notes(results, list(cells.values())),
            "Joint at order 2 is the paper's G1 apart from G2.",
        )
        return [Table("section-3", title, columns, tuple(rows), notes)]

    return Experiment("section-3", title, tuple(cells.values()), fill)
