"""Commands that take the place of mkcls and clustercat: their options, their outputs, exact classes."""

import codecs
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classgram.cli.app import message, run
from classgram.cli.dropins.options import (
    CLUSTERCAT_USAGE,
    MKCLS_USAGE,
    ClustercatOptions,
    MkclsOptions,
    parse_clustercat,
    parse_mkcls,
)
from classgram.errors import InputError
from classgram.options import (
    ClusterOptions,
    CountOptions,
    ReadOptions,
    RunOptions,
    SearchOptions,
    VocabularyOptions,
)

if TYPE_CHECKING:
    from classgram.classes.class_list import ClassList
    from classgram.clustering.result import Result
    from classgram.counts.ngram_counts import NgramCounts
    from classgram.text.reading import Text

_READ = ReadOptions(skip_symbols=True)
"""The original programs treat <s> in a text as a word; here it is skipped."""

SWEEPS_A_RUN = 50
"""Annealing sweeps for each run of mkcls: one long run gives a higher F than the best of several."""

_TEMPERATURES = (1.0, 3.0)
_WARMTH = 0.55
"""The initial temperature is this times the logarithm of the mean count of a word, within _TEMPERATURES.

It gave the highest F for 50 and 100 classes of the Treebank, and of its first lines.
"""

_INPUT_ERROR = 2
"""The exit code of the command line for errors that the user can correct."""

FIRST_CLASS, RARE_CLASS = 2, 1
"""mkcls's numbers: of the first class, and of the class of words that are too rare."""


def _is_utf8(path: Path) -> bool:
    """Return whether all of a file is UTF-8."""
    from classgram.files.compressed import open_decompressed

    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_decompressed(path) as file:
            while block := file.read(1 << 20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _corpus_text(path: Path) -> tuple["Text", str]:
    """Return a corpus in any encoding that contains ASCII, as mkcls reads it, and that encoding.

    One that is not UTF-8 is read as Latin-1, which gives every byte back as it was.
    """
    from classgram.files.compressed import open_decompressed
    from classgram.text.reading import read_text, text_from_strings

    if not path.is_file() and not path.is_fifo() and not path.is_char_device():
        raise InputError(f"{path}: no such file; name the corpus with -p")
    if not path.is_file() or _is_utf8(path):
        return read_text(path, read=_READ), "utf-8"

    def lines() -> Iterator[str]:
        with open_decompressed(path) as file:
            yield from (line.decode("latin-1") for line in file)

    return text_from_strings(lines(), read=_READ), "latin-1"


def _count_corpus(text: "Text", min_count: int) -> tuple["NgramCounts", list[str]]:
    """The counts of a text with rarer words as <unk>, and these words."""
    from classgram.counts.counting import count_ngrams, count_sentences, read_sentences
    from classgram.text.sentences import Sentences
    from classgram.text.vocabulary import UNK, Vocabulary

    if min_count <= 1:
        return count_ngrams(text, CountOptions(2), read=_READ), []
    import numpy as np

    vocabulary, sentences = read_sentences(text, read=_READ)
    counts = np.bincount(sentences.ids, minlength=len(vocabulary))
    # Ids follow falling frequency, so that the rare words are the last ones; <unk> joins them.
    kept = 3 + int((counts[3:] >= min_count).sum())
    known = Vocabulary.from_words(vocabulary.words[:kept])
    ids = np.where(sentences.ids < kept, sentences.ids, UNK).astype(np.int32)
    made = count_sentences(known, Sentences(ids, sentences.offsets), CountOptions(2))
    literal = ["<unk>"] if counts[UNK] else []
    return made, [*literal, *vocabulary.words[kept:]]


def _found_classes(
    counts: "NgramCounts",
    classes: int,
    search: SearchOptions,
    running: RunOptions,
    pins: tuple[str, ...] = ("<s>", "</s>"),
) -> "Result":
    """Cluster a text into so many classes, or as many as there are words if these are fewer."""
    from classgram.pipelines.clustering import cluster
    from classgram.pipelines.keywords import as_keywords

    pinned = [counts.vocabulary.id(word) for word in pins]
    words = int((counts.levels[0].counts > 0).sum() - (counts.levels[0].counts[pinned] > 0).sum())
    if words == 0:
        raise InputError("the corpus contains no word that could be clustered; give more text")
    wanted = ClusterOptions(classes=min(classes, words), pins=pins)
    return cluster(counts, **as_keywords(wanted, search, running))


def _mkcls_search(options: MkclsOptions, counts: "NgramCounts") -> SearchOptions:
    """Return the search options that stand in for mkcls's runs; each run adds annealing sweeps."""
    coldest, hottest = _TEMPERATURES
    temperature = _WARMTH * math.log(counts.tokens / len(counts.vocabulary))
    return SearchOptions(
        seed=options.seed,
        annealing=SWEEPS_A_RUN * max(options.runs, 1),
        temperature=min(max(temperature, coldest), hottest),
    )


def _make_classes(options: MkclsOptions) -> None:
    """Cluster and write as mkcls does."""
    from classgram.classes.class_list import SENTENCE_ENDS, ClassList, Member, partition_list
    from classgram.files.atomic import check_parent

    if options.output is not None:
        check_parent(options.output)
    text, encoding = _corpus_text(options.corpus)
    counts, rare = _count_corpus(text, options.min_count)
    pins = (*SENTENCE_ENDS, "<unk>") if rare else SENTENCE_ENDS
    running = RunOptions(time_limit=options.seconds)
    result = _found_classes(counts, options.classes, _mkcls_search(options, counts), running, pins)
    members = [
        member._replace(name=str(int(member.name) + FIRST_CLASS))
        for member in partition_list(result.partition).members
        if member.word not in pins and (member.seen or member.word != "<unk>")
    ]
    members += [Member(word, str(RARE_CLASS)) for word in rare]
    _write_mkcls(ClassList(str(options.corpus), "mkcls", tuple(members)), options.output, encoding)
    print(f";KategProblem:cats: {options.classes}   words: {len(members) + 1}")
    print(f"exact exchange: F = {result.F:,.1f}, {result.ended}")


def _write_mkcls(listed: "ClassList", output: Path | None, encoding: str) -> None:
    """Write the classes, and beside them the .cats file for people."""
    from classgram.class_files.writing import format_lines, write_bytes

    if output is None:
        return
    write_bytes(output, format_lines(listed, "mkcls").decode().encode(encoding))
    if output.is_file():
        cats = output.with_name(output.name + ".cats")
        write_bytes(cats, format_lines(listed, "cats").decode().encode(encoding))


def _cluster_text(options: ClustercatOptions) -> None:
    """Cluster and write as clustercat does."""
    from classgram.class_files.converting import Source, with_vectors
    from classgram.class_files.writing import format_lines, write_bytes
    from classgram.counts.counting import count_ngrams
    from classgram.text.reading import read_text

    vocabulary = VocabularyOptions(min_count=max(options.min_count, 1))
    text = read_text(options.source, read=_READ)
    counts = count_ngrams(
        text, CountOptions(2), vocabulary, read=_READ, quiet=options.quiet, threads=options.threads or 1
    )
    wanted = options.classes or int(1.2 * len(counts.vocabulary) ** 0.5)
    start = "frequency" if options.class_file is None else str(options.class_file)
    search = SearchOptions(start, sweeps=options.cycles)
    # The number of classes includes those of <s> and </s>.
    result = _found_classes(counts, max(wanted - 2, 1), search, RunOptions(options.threads))
    listed = _clustercat_list(result, wanted, options.offset)
    if options.vectors:
        listed = with_vectors(Source(listed, result.partition, counts), wanted)
        data = format_lines(listed, "word2vec")
    else:
        data = format_lines(listed, "tsv" if options.frequencies else "clustercat")
    write_bytes(options.output, data)
    message(f"clustercat: {wanted} classes, F = {result.F:,.1f}, {result.ended}", options.quiet)


def _clustercat_list(result: "Result", classes: int, offset: int) -> "ClassList":
    """Return the classes numbered as clustercat does, with the count of </s> for <s>."""
    from classgram.classes.class_list import partition_list
    from classgram.text.vocabulary import EOS

    listed = partition_list(result.partition, "clustercat")
    sentences = int(result.partition.counts[0][EOS])
    members = (
        member._replace(
            name=str(min(int(member.name), classes - 1) + offset),
            seen=sentences if member.word == "<s>" else member.seen,
        )
        for member in listed.members
    )
    return replace(listed, members=tuple(members))


def _run_dropin(usage: str, work: Callable[[list[str]], None], failure: int) -> None:
    """Run a command with the arguments of the command line, and exit with the original's exit code."""
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(usage)
        sys.exit(0)
    code = run(lambda: work(words))
    # Errors in the input have another exit code in some of the original programs.
    sys.exit(failure if code == _INPUT_ERROR else code)


def mkcls() -> None:
    """Run the command classgram-mkcls."""
    _run_dropin(MKCLS_USAGE, lambda words: _make_classes(parse_mkcls(words)), failure=1)


def clustercat() -> None:
    """Run the command classgram-clustercat."""
    _run_dropin(CLUSTERCAT_USAGE, lambda words: _cluster_text(parse_clustercat(words)), failure=2)
