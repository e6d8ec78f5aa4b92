"""Class bigrams as transducers in OpenFst's text format: exact, and as small as the classes allow.

A state for each context class; from it an epsilon arc with -ln p(g2 | g1) to a node for each word
class; from there an arc with -ln p(w | g2) for each word, to the state of the word's own context
class. That makes |G1| |G2| + V arcs where one arc for each word after each class would be |G1| V.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from classgram.errors import InputError
from classgram.files.atomic import atomic_file
from classgram.models.class_based.class_model import ClassModel
from classgram.models.class_based.class_ngrams import ClassNgramModel
from classgram.models.language_model import LanguageModel
from classgram.runtime.compiled.arrays import Float64Array, Float64Matrix, Int64Array
from classgram.text.vocabulary import BOS, EOS, Vocabulary

_EPSILON, _DISAMBIGUATION = "<eps>", "#0"


class _ClassTables(NamedTuple):
    """A class bigram as tables: which classes words have, and the probabilities."""

    context_of: Int64Array
    """The context class of each word, numbered without gaps."""
    class_of: Int64Array
    """The class of each word as a predicted one, numbered without gaps."""
    rows: Float64Matrix
    """p(g2 | g1), a row for each context class."""
    members: Float64Array
    """p(w | g2) of each word."""


def _class_tables(model: LanguageModel) -> _ClassTables:
    """Return the tables of a class bigram, tied or joint; raise InputError for any other model."""
    if not isinstance(model, ClassModel | ClassNgramModel) or model.order != 2:
        raise InputError(
            "only class models of order 2 can be written as exact transducers; write an ARPA file "
            "instead, or train with --recipe class --order 2"
        )
    if isinstance(model, ClassModel):
        contexts, classes = model.maps.contexts[0][: len(model.vocabulary)], model.maps.predicted
    else:
        contexts, classes = model.class_of, model.class_of
    first_words, context_of = np.unique(contexts, return_index=True, return_inverse=True)[1:]
    first_members, class_of = np.unique(classes, return_index=True, return_inverse=True)[1:]
    members = np.exp(model.log_members.astype(np.float64))
    members[BOS] = 0.0
    # A word's probability divided by its share of the class is the class's.
    heads = _best_members(class_of, members, first_members.size)
    rows = np.empty((first_words.size, first_members.size))
    for number, word in enumerate(first_words):
        state = model.start() if word == BOS else model.advance(model.start(bos=False), int(word))
        rows[number] = model.distribution(state)[heads] / np.maximum(members[heads], 1e-300)
    return _ClassTables(context_of, class_of, rows, members)


def _best_members(class_of: Int64Array, members: Float64Array, size: int) -> Int64Array:
    """Return the likeliest word of each class."""
    order = np.lexsort((members, class_of))
    last = np.searchsorted(class_of[order], np.arange(size), side="right") - 1
    return order[last]


def write_fst(
    model: LanguageModel,
    path: str | Path,
    symbols: str | Path,
    disambiguate: bool = False,
    numbers: bool = False,
) -> None:
    """Write a class bigram as OpenFst text, and the table of its symbols.

    ``disambiguate`` puts #0 on the input side of epsilon arcs, as Kaldi and k2 need it to compose
    and determinise. ``numbers`` writes the ids of symbols instead of the symbols.
    """
    tables = _class_tables(model)
    with atomic_file(Path(symbols)) as file:
        file.write(_symbol_table(model.vocabulary, disambiguate))
    names = _symbol_names(model.vocabulary, numbers)
    with atomic_file(Path(path)) as file:
        for line in _fst_lines(tables, names, disambiguate):
            file.write(line.encode())


def _symbol_table(vocabulary: Vocabulary, disambiguate: bool) -> bytes:
    """Return symbols and their ids: epsilon is 0, words follow in their order, #0 is the last."""
    names = [_EPSILON, *vocabulary.words, *([_DISAMBIGUATION] if disambiguate else [])]
    for name in (_EPSILON, _DISAMBIGUATION):
        if name in vocabulary:
            raise InputError(f"the vocabulary contains {name!r}, which transducers use themselves; rename it")
    return "".join(f"{name} {number}\n" for number, name in enumerate(names)).encode()


def _symbol_names(vocabulary: Vocabulary, numbers: bool) -> list[str]:
    """Return what is written for each word, then for epsilon and for #0."""
    if not numbers:
        return [*vocabulary.words, _EPSILON, _DISAMBIGUATION]
    size = len(vocabulary)
    return [*(str(number + 1) for number in range(size)), "0", str(size + 1)]


def _fst_lines(tables: _ClassTables, names: list[str], disambiguate: bool) -> Iterator[str]:
    """Return the arcs, those of the start state first, and the final states."""
    states, nodes = tables.rows.shape
    epsilon, mark = names[-2], names[-1] if disambiguate else names[-2]
    start = int(tables.context_of[BOS])
    end_class = int(tables.class_of[EOS])
    with np.errstate(divide="ignore"):
        costs, shares = -np.log(tables.rows), -np.log(tables.members)
    used = np.zeros(nodes, bool)
    words = np.flatnonzero(tables.members > 0)
    words = words[words != EOS]
    used[tables.class_of[words]] = True
    reached = np.zeros(states, bool)
    reached[tables.context_of[words]] = True
    reached[start] = True
    order = [start, *(state for state in np.flatnonzero(reached).tolist() if state != start)]
    for state in order:
        for node in np.flatnonzero(used & np.isfinite(costs[state])).tolist():
            yield f"{state}\t{states + node}\t{mark}\t{epsilon}\t{costs[state, node]:.7g}\n"
    for word in words.tolist():
        ends = (states + int(tables.class_of[word]), int(tables.context_of[word]))
        yield f"{ends[0]}\t{ends[1]}\t{names[word]}\t{names[word]}\t{shares[word]:.7g}\n"
    for state in order:
        final = costs[state, end_class] + shares[EOS]
        if np.isfinite(final):
            yield f"{state}\t{final:.7g}\n"
