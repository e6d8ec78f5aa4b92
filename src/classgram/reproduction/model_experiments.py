"""The experiments on models (section 5): back-off (tables 5, 6), classes (7 to 9), and all by text size."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from classgram.options import ModelOptions, Punctuation
from classgram.reproduction import paper
from classgram.reproduction.cells import Cell, Clustering, WordModel
from classgram.reproduction.plan import Plan, TrainingSet, leaving_one_out
from classgram.reproduction.search_experiments import SIZE_COLUMNS, lowered_notes, numbers_text
from classgram.reproduction.tables import (
    Column,
    Entry,
    Experiment,
    Results,
    Table,
    entry,
    improvement,
    number,
)

_SPOKEN: dict[Punctuation, str] = {
    "verbalise": "verbalised punctuation (VP)",
    "strip": "no punctuation (NVP)",
}

_SET_COLUMNS = (Column("set", "training set", "text"), Column("tokens", "tokens", "count"))

_DETAIL_COLUMNS = (
    Column("perplexity", "perplexity"),
    Column("perplexity_including_unknown", "with unknown words"),
    *SIZE_COLUMNS,
)

_Build = Callable[[Plan], Experiment]


def _set_entries(results: Results, one: TrainingSet, cell: Cell) -> tuple[Entry, ...]:
    """Return the entries of ``_SET_COLUMNS``."""
    return (one.name, entry(results, cell, "tokens"))


def _detail_rows(
    results: Results, models: dict[tuple[TrainingSet, str], Cell]
) -> tuple[tuple[Entry, ...], ...]:
    """Return a row for each model of each set with its perplexities and its size."""
    return tuple(
        (*_set_entries(results, one, cell), name, *(entry(results, cell, c.key) for c in _DETAIL_COLUMNS))
        for (one, name), cell in models.items()
    )


def _details(name: str, results: Results, models: dict[tuple[TrainingSet, str], Cell]) -> Table:
    """Return the table of all models of an experiment with both perplexities and sizes."""
    title = f"The models of {name.replace('-', ' ')}"
    columns = (*_SET_COLUMNS, Column("model", "model", "text"), *_DETAIL_COLUMNS)
    return Table(f"{name}-details", title, columns, _detail_rows(results, models))


def _backoff_table(table: int, punctuation: Punctuation, theirs: Mapping[str, tuple[int, ...]]) -> _Build:
    """Return the experiment with back-off models of every cut-off on every training set."""

    def experiment(plan: Plan) -> Experiment:
        name = f"table-{table}"
        title = f"Table {table}: back-off perplexity, {_SPOKEN[punctuation]}"
        sets = plan.sets(plan.scale.training_sets)
        models: dict[tuple[TrainingSet, str], Cell] = {
            (one, f"C = {cutoff}"): plan.backoff(one, punctuation, cutoff)
            for one in sets
            for cutoff in paper.CUTOFFS
        }

        def fill(results: Results) -> list[Table]:
            rows = []
            for one in sets:
                row = list(_set_entries(results, one, models[one, f"C = {paper.CUTOFFS[0]}"]))
                for cutoff, printed in zip(paper.CUTOFFS, theirs[one.name], strict=True):
                    row += [printed, entry(results, models[one, f"C = {cutoff}"], "perplexity")]
                rows.append(tuple(row))
            columns = [*_SET_COLUMNS]
            for cutoff in paper.CUTOFFS:
                columns.append(Column(f"paper_{cutoff}", f"C = {cutoff}: paper"))
                columns.append(Column(f"cutoff_{cutoff}", f"C = {cutoff}: ours"))
            notes = plan.missing(plan.scale.training_sets)
            main = Table(name, title, tuple(columns), tuple(rows), notes)
            return [main, _details(name, results, models)]

        return Experiment(name, title, tuple(models.values()), fill)

    return experiment


table_5 = _backoff_table(5, "verbalise", paper.TABLE_5)
table_6 = _backoff_table(6, "strip", paper.TABLE_6)


def _improvement_columns(reference: str, other: str) -> tuple[Column, ...]:
    """Return the columns of tables 7 to 9."""
    return (
        *_SET_COLUMNS,
        Column("classes", "classes", "text"),
        Column("paper_reference", f"{reference}: paper"),
        Column("reference", f"{reference}: ours"),
        Column("paper_clustered", f"{other}: paper"),
        Column("clustered", f"{other}: ours"),
        Column("paper_improvement", "improvement %: paper", "percent"),
        Column("improvement", "improvement %: ours", "percent"),
        Column("including", "improvement % with unknown words: ours", "percent"),
        Column("interpolated", f"{other}, interpolated: ours"),
        Column("cpu_seconds", f"{other}: s", "seconds"),
    )


def _improvement_row(
    results: Results, one: TrainingSet, pair: tuple[Cell, Clustering], printed: paper.Against | None
) -> tuple[Entry, ...]:
    """Return a row of tables 7 to 9: a reference model and a clustered one."""
    both = [entry(results, cell, "perplexity") for cell in pair]
    including = [entry(results, cell, "perplexity_including_unknown") for cell in pair]
    found = [entry(results, pair[1], key) for key in ("context_classes", "classes")]
    known = all(isinstance(value, int) for value in found)
    return (
        *_set_entries(results, one, pair[1]),
        numbers_text(*found) if known else None,
        printed.reference if printed else None,
        both[0],
        printed.clustered if printed else None,
        both[1],
        printed.improvement if printed else None,
        improvement(*both),
        improvement(*including),
        entry(results, pair[1], "interpolated_perplexity"),
        entry(results, pair[1], "cpu_seconds"),
    )


def _class_table(table: int, punctuation: Punctuation, theirs: dict[str, paper.Against]) -> _Build:
    """Return the experiment with class bigrams against back-off on every training set."""

    def experiment(plan: Plan) -> Experiment:
        name = f"table-{table}"
        classes = plan.scale.bigram_classes
        title = (
            f"Table {table}: ({classes}, {classes}) class bigrams against back-off, {_SPOKEN[punctuation]}"
        )
        sets = plan.sets(plan.scale.training_sets)
        pairs = {
            one: (plan.backoff(one, punctuation, paper.CUTOFFS[-1]), plan.class_bigram(one, punctuation))
            for one in sets
        }

        def fill(results: Results) -> list[Table]:
            rows = tuple(
                _improvement_row(results, one, pair, theirs[one.name]) for one, pair in pairs.items()
            )
            notes = (
                *lowered_notes(results, [clustered for _, clustered in pairs.values()]),
                *plan.missing(plan.scale.training_sets),
            )
            columns = _improvement_columns("back-off", "clustered")
            models: dict[tuple[TrainingSet, str], Cell] = {}
            for one, (backoff, clustered) in pairs.items():
                models |= {(one, "back-off, C = 2"): backoff, (one, "class bigram"): clustered}
            return [Table(name, title, columns, rows, notes), _details(name, results, models)]

        return Experiment(name, title, tuple(cell for pair in pairs.values() for cell in pair), fill)

    return experiment


table_7 = _class_table(7, "verbalise", paper.TABLE_7)
table_8 = _class_table(8, "strip", paper.TABLE_8)


def table_9(plan: Plan) -> Experiment:
    """Return the experiment of table 9: class bigrams against class trigrams."""
    scale = plan.scale
    contexts, words = scale.trigram_classes
    bigram = leaving_one_out("joint", scale.trigram_reference, scale.trigram_reference)
    trigram = replace(leaving_one_out("joint", words, contexts), order=3, contexts=scale.contexts)
    sets = plan.sets(scale.trigram_sets)
    pairs = {
        one: (
            Clustering(one.sample("verbalise"), bigram, plan.chosen_heuristic),
            Clustering(one.sample("verbalise"), trigram, plan.chosen_heuristic),
        )
        for one in sets
    }
    reference = f"bigram ({scale.trigram_reference}, {scale.trigram_reference})"
    title = f"Table 9: class {reference} against class trigram ({contexts}, {words}), {_SPOKEN['verbalise']}"
    # The paper has two sizes, the smaller and the larger, whatever they are called here.
    printed = dict(zip(scale.trigram_sets, paper.TABLE_9.values(), strict=True))

    def fill(results: Results) -> list[Table]:
        rows = tuple(_improvement_row(results, one, pair, printed[one.name]) for one, pair in pairs.items())
        columns = _improvement_columns("class bigram", "class trigram")
        notes = (
            f"Trigram contexts: the {scale.contexts:,} most frequent pairs of words, and all single words. "
            "The paper's rows are 5.2M and 41M words.",
            *lowered_notes(results, [cell for pair in pairs.values() for cell in pair]),
            *plan.missing(scale.trigram_sets),
        )
        models: dict[tuple[TrainingSet, str], Cell] = {}
        for one, (two, three) in pairs.items():
            models |= {(one, "class bigram"): two, (one, "class trigram"): three}
        return [Table("table-9", title, columns, rows, notes), _details("table-9", results, models)]

    return Experiment("table-9", title, tuple(cell for pair in pairs.values() for cell in pair), fill)


_MIXTURE_ORDER = 5

_WORD_MODELS = {
    "Katz, order 2": ModelOptions("katz", 2),
    "Katz, order 3": ModelOptions("katz", 3),
    "Kneser-Ney, order 2": ModelOptions("kneser-ney", 2),
    "Kneser-Ney, order 5": ModelOptions("kneser-ney", 5),
}


def beyond(plan: Plan) -> Experiment:
    """Return the paper's models beside Katz, Kneser-Ney and the mixture."""
    sets = plan.sets(plan.scale.training_sets)
    models: dict[tuple[TrainingSet, str], Cell] = {}
    for one in sets:
        models[one, "back-off, C = 2"] = plan.backoff(one, "verbalise", paper.CUTOFFS[-1])
        models[one, "class bigram"] = plan.class_bigram(one, "verbalise")
        for name, options in _WORD_MODELS.items():
            models[one, name] = WordModel(one.sample("verbalise"), options)
        models[one, "mixture"] = plan.mixture(one, _MIXTURE_ORDER)
    names = list(dict.fromkeys(name for _, name in models))
    title = f"Beyond the paper: who wins at which size, {_SPOKEN['verbalise']}"

    def fill(results: Results) -> list[Table]:
        rows = []
        for one in sets:
            entries = {name: entry(results, models[one, name], "perplexity") for name in names}
            known = {name: found for name, value in entries.items() if (found := number(value)) is not None}
            best = min(known, key=lambda name: known[name]) if known else None
            first = models[one, names[0]]
            rows.append((*_set_entries(results, one, first), *entries.values(), best))
        columns = (
            *_SET_COLUMNS,
            *(Column(name, name) for name in names),
            Column("best", "best", "text"),
        )
        notes = plan.missing(plan.scale.training_sets)
        return [Table("beyond", title, columns, tuple(rows), notes), _details("beyond", results, models)]

    # The longest first, so that no process is left with a long one at the end.
    return Experiment("beyond", title, tuple(reversed(models.values())), fill)
