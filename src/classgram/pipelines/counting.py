"""From a text to n-gram counts, in one call; and counts from whatever holds or names them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from classgram.counts.counting import count_ngrams
from classgram.counts.ngram_counts import NgramCounts
from classgram.errors import InputError
from classgram.files.atomic import lock
from classgram.files.folders import folder_kind
from classgram.options import CountOptions, ReadOptions, TextOptions, VocabularyOptions
from classgram.pipelines.keywords import from_keywords
from classgram.runtime.threads import available_threads
from classgram.text.reading import Strings, Text, read_text, text_from_strings
from classgram.text.vocabulary import Vocabulary

Source = str | Path | Text | NgramCounts | Strings
"""A file or folder by its name, a text in memory, or counts; see ``count``."""


class Reading(NamedTuple):
    """How a text is read, and which of its words are kept; saved counts have both fixed."""

    vocabulary: VocabularyOptions | Vocabulary = VocabularyOptions()
    text: TextOptions | None = None
    read: ReadOptions = ReadOptions()


def count(
    *text: Source,
    output: str | Path | None = None,
    threads: int | None = None,
    progress: bool = False,
    **options: Any,
) -> NgramCounts:
    """Count the n-grams of a text, as the command ``count`` does, and save them if ``output`` is given.

    A string or Path names a file, a folder, a glob or standard input (``-``); there may be several.
    The text itself is a list of strings whose lines are sentences, a column of a data frame, a table
    or dataset whose column is ``field``, or a ``Text``. Options are the fields of ``CountOptions``,
    ``VocabularyOptions``, ``TextOptions`` and ``ReadOptions``.

    >>> count(["the cat sat", "the dog sat"], order=3, lowercase=True).tokens
    8
    """
    kinds = (CountOptions, VocabularyOptions, TextOptions, ReadOptions)
    counting, *reading = from_keywords("count", options, *kinds)
    with held(output):
        opened = counts_or_text(text, Reading(*reading))
        if isinstance(opened, NgramCounts):
            raise InputError("these are counts already; give a text")
        counts = _counted(opened, counting, Reading(*reading), progress, threads)
        if output is not None:
            counts.save(output)
    return counts


def load_or_count(
    source: tuple[Source, ...],
    counting: CountOptions,
    reading: Reading,
    progress: bool = False,
    threads: int | None = None,
) -> NgramCounts:
    """Return the counts that are given or saved in a folder, as they are, or else those of the text."""
    opened = counts_or_text(source, reading)
    if isinstance(opened, NgramCounts):
        return opened
    return _counted(opened, counting, reading, progress, threads)


def _counted(
    text: Text, counting: CountOptions, reading: Reading, progress: bool, threads: int | None
) -> NgramCounts:
    """Count a text with so many threads, by default with all cores that this process may use."""
    shared = thread_number(threads)
    return count_ngrams(text, counting, reading.vocabulary, None, reading.read, not progress, threads=shared)


def counts_or_text(source: tuple[Source, ...], reading: Reading) -> NgramCounts | Text:
    """Open what is given: counts, whose vocabulary and text options are then fixed, or else a text."""
    first = source[0] if len(source) == 1 else None
    if isinstance(first, str | Path) and folder_kind(Path(first)) == "counts":
        return _agreeing(NgramCounts.load(first), reading, str(first))
    if isinstance(first, NgramCounts):
        return _agreeing(first, reading, "the counts")
    vocabulary = reading.vocabulary
    return open_text(
        source, vocabulary.text if isinstance(vocabulary, Vocabulary) else reading.text, reading.read
    )


def _agreeing(counts: NgramCounts, reading: Reading, name: str) -> NgramCounts:
    """Return counts unless the options asked for contradict how they were made."""
    asked = not isinstance(reading.vocabulary, Vocabulary) and reading.vocabulary != VocabularyOptions()
    if asked or reading.text not in (None, TextOptions(), counts.vocabulary.text):
        raise InputError(
            f"{name}: contains counts, whose vocabulary and text options are fixed; "
            "count the text again to change them"
        )
    return counts


def open_text(source: tuple[Source, ...], text: TextOptions | None, read: ReadOptions) -> Text:
    """Open files by their names, or a text in memory."""
    if len(source) == 1 and isinstance(source[0], list | tuple) and source[0]:
        listed = source[0]
        if all(isinstance(one, Path) for one in listed):
            source = tuple(listed)
        elif all(isinstance(one, str) and _is_file(one) for one in listed):
            raise InputError(
                f"{listed[0]}: is a file, but a list of strings is a text; "
                "name files as arguments of their own, or as Paths"
            )
    names = [one for one in source if isinstance(one, str | Path)]
    if len(names) == len(source):
        return read_text(*names, text=text, read=read)
    if len(source) > 1:
        raise InputError("give the names of files, or one text, or counts alone")
    if not isinstance(source[0], Text):
        return text_from_strings(source[0], text, read)  # type: ignore[arg-type]
    if text not in (None, TextOptions(), source[0].options):
        raise InputError(f"the text is read with {source[0].options}, but {text} is asked for")
    return source[0]


def _is_file(name: str) -> bool:
    """Return whether a string names a file."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def thread_number(threads: int | None) -> int:
    """Return the number of threads asked for, or of all cores that this process may use."""
    if threads is not None and threads < 1:
        raise InputError(f"--threads must be 1 or more, not {threads}")
    return available_threads() if threads is None else threads


@contextmanager
def held(output: str | Path | None) -> Iterator[None]:
    """Hold the folder of a result, so that what cannot be written is noticed before any work is done."""
    if output is None:
        yield
        return
    with lock(Path(output)):
        yield
