"""Classes from one format to another, with what a text supplies: counts, a tree, n-grams, vectors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from classgram.arpa.writing import write_arpa
from classgram.class_files.reading import format_of_name, load_partition, read_classes
from classgram.class_files.word_vectors import word_vectors
from classgram.class_files.writing import Note, format_lines, srilm_names, tree_list, write_bytes
from classgram.classes.class_list import (
    SENTENCE_ENDS,
    ClassList,
    Member,
    fitted_partition,
    partition_list,
)
from classgram.classes.partition import Partition
from classgram.clustering.tree import build_tree
from classgram.counts.ngram_counts import NgramCounts, first_level
from classgram.errors import InputError
from classgram.files.atomic import check_parent, check_writable
from classgram.models.class_based.class_ngrams import class_levels
from classgram.models.ngram.ngram_model import NgramModel, train_kneser_ney
from classgram.options import ClassFormat, ConvertOptions
from classgram.text.vocabulary import BOS, EOS, UNK, Vocabulary

CountText = Callable[[Vocabulary, int], NgramCounts]
"""Counts the n-grams of the text that was given, over a vocabulary, up to an order."""

Formats = tuple[ClassFormat | None, ClassFormat | None]


@dataclass(frozen=True)
class Source:
    """What is converted: a list of classes, and the partition of a text where one is known."""

    listed: ClassList
    partition: Partition | None = None
    counts: NgramCounts | None = None

    def require(self, purpose: str) -> tuple[Partition, NgramCounts]:
        """The partition and the counts of a text, or an error that says what they are needed for."""
        if self.partition is None or self.counts is None:
            raise InputError(f"{self.listed.source}: {purpose}; give the text with --text")
        return self.partition, self.counts


def convert_classes(
    source: str | Path,
    target: str | Path,
    options: ConvertOptions | None = None,
    formats: Formats = (None, None),
    count_text: CountText | None = None,
    note: Note = lambda text: None,
) -> ClassFormat:
    """Read classes in any format and write them in another; give the format written.

    ``formats`` are those of source and target, None where they are to be guessed. ``count_text``
    counts the text that supplies what the source lacks. A target without an ending is a folder, as
    ``cluster`` writes them.
    """
    options = options or ConvertOptions()
    source, target = Path(source), Path(target)
    form = formats[1] or target_format(target)
    check_target(target, form)
    if options.arpa is not None and form != "srilm":
        raise InputError(f"{target}: --arpa goes with a classes file of SRILM; name OUT.classes")
    if options.arpa is not None and options.order < 2:
        raise InputError(f"--order {options.order}: models have an order of 2 or more")
    order = options.order if options.arpa is not None else 2
    known = reduced(open_source(source, formats[0], count_text, order), options)
    if options.arpa is not None:
        write_class_arpa(known, options.arpa, options.order)
    if form == "folder":
        folder_partition(known).save(target)
    elif form == "word2vec":
        write_bytes(target, vector_lines(known, options.dimensions, note))
    else:
        listed = path_list(known) if form == "paths" else known.listed
        write_bytes(target, format_lines(listed, form, note))
    return form


def target_format(target: Path) -> ClassFormat:
    """The format that a target's name says; a name without an ending is a folder's."""
    form: ClassFormat | None = "tsv" if str(target) == "-" else format_of_name(target)
    if form is None and target.suffix and not target.is_dir():
        raise InputError(f"{target}: its name says no format; name one with --to, also --to folder")
    return form or "folder"


def check_target(target: Path, form: ClassFormat) -> None:
    """Refuse, before any work is done, an output that could not be written in the end."""
    if form == "folder":
        check_writable(target)
    elif str(target) != "-":
        check_parent(target)
        if target.is_dir():
            raise InputError(f"{target}: is a folder; name a file")


def open_source(path: Path, form: ClassFormat | None, count_text: CountText | None, order: int) -> Source:
    """Read the classes, and count the text over their words if one was given."""
    if path.is_dir():
        partition = load_partition(path)
        listed = partition_list(partition, str(path))
        if count_text is None:
            return Source(listed, partition)
        return Source(listed, partition, count_text(partition.vocabulary, max(order, partition.order)))
    listed = read_classes(path, form)
    if count_text is None:
        return Source(listed)
    counts = count_text(list_vocabulary(listed), order)
    counted = recounted(listed, counts)
    return Source(counted, fitted_partition(counted, counts), counts)


def list_vocabulary(listed: ClassList) -> Vocabulary:
    """The words of a class file as a vocabulary."""
    try:
        return Vocabulary.from_words([member.word for member in listed.members])
    except InputError as error:
        raise InputError(f"{listed.source}: {error}") from None


def recounted(listed: ClassList, counts: NgramCounts) -> ClassList:
    """The list with the counts of a text, and with no probabilities but those that follow."""
    vocabulary, unigrams = counts.vocabulary, counts.levels[0].counts
    lost = next((member.word for member in listed.members if member.word not in vocabulary), None)
    if lost is not None:
        raise InputError(f"{listed.source}: its word {lost} is not in the counts; give the text itself")
    members = (
        Member(member.word, member.name, int(unigrams[vocabulary.id(member.word)]))
        for member in listed.members
    )
    return replace(listed, members=tuple(members))


def reduced(known: Source, options: ConvertOptions) -> Source:
    """The source with fewer classes: merged down to a number, or cut at a depth of its paths."""
    if options.depth is not None and options.classes is not None:
        raise InputError("give --depth or --classes, not both")
    if options.depth is not None and options.depth < 1:
        raise InputError(f"--depth must be 1 or more, not {options.depth}")
    if options.depth is not None and known.listed.format == "paths":
        cut = (member._replace(name=member.name[: options.depth]) for member in known.listed.members)
        return refitted(known, replace(known.listed, members=tuple(cut)))
    if options.depth is None and options.classes is None:
        return known
    partition, counts = known.require("merging its classes needs the counts of word pairs")
    tree = build_tree(counts, partition)
    merged = partition
    if options.depth is not None:
        merged = tree.prefix(options.depth)
    elif options.classes is not None:
        merged = tree.cut(options.classes)
    names = {member.word: member.name for member in partition_list(merged).members}
    members = (member._replace(name=names[member.word]) for member in known.listed.members)
    made = replace(known.listed, format="tsv", members=tuple(members))
    return Source(made, merged, counts)


def refitted(known: Source, listed: ClassList) -> Source:
    """The source with other classes of the same words."""
    if known.counts is None:
        return Source(listed)
    return Source(listed, fitted_partition(listed, known.counts), known.counts)


def path_list(known: Source) -> ClassList:
    """The list with bit strings as classes: its own, or those of a tree."""
    if known.listed.format == "paths" and known.listed.counted:
        return known.listed
    partition, counts = known.require("paths are those of a tree, which needs the counts of word pairs")
    listed = tree_list(build_tree(counts, partition), known.listed.source)
    words = {member.word for member in known.listed.members}
    return replace(listed, members=tuple(member for member in listed.members if member.word in words))


def folder_partition(known: Source) -> Partition:
    """The source as a partition; without a text, its own counts are those of the words, or 0."""
    if known.partition is not None:
        return known.partition
    vocabulary = list_vocabulary(known.listed)
    given = {member.word: member.seen or 0 for member in known.listed.members}
    unigrams = np.array([given.get(word, 0) for word in vocabulary.words], np.int64)
    return fitted_partition(known.listed, NgramCounts(vocabulary, (first_level(unigrams),)))


def vector_lines(known: Source, dimensions: int, note: Note) -> bytes:
    """``V D``, then ``word v1 ... vD`` by falling count."""
    partition, counts = known.require("vectors are made of the neighbours of words")
    vectors = word_vectors(partition, counts, dimensions)
    if vectors.shape[1] < dimensions:
        note(f"{vectors.shape[1]} dimensions instead of {dimensions}: there are no more")
    members = known.listed.without(*SENTENCE_ENDS).members
    members = tuple(sorted(members, key=lambda member: (-(member.seen or 0), member.word)))
    ids = [partition.vocabulary.id(member.word) for member in members]
    rows = (
        f"{member.word} {' '.join(f'{value:.6g}' for value in vectors[number].tolist())}\n"
        for member, number in zip(members, ids, strict=True)
    )
    return f"{len(members)} {vectors.shape[1]}\n{''.join(rows)}".encode()


def write_class_arpa(known: Source, path: Path, order: int) -> None:
    """Write the n-gram model over SRILM's class names that goes with an SRILM classes file."""
    partition, counts = known.require("a model over classes needs their n-grams")
    if not partition.tied:
        raise InputError("SRILM's class models have one set of classes; cluster with --shape tied")
    write_arpa(class_name_model(known.listed, counts, order), path)


def class_name_model(listed: ClassList, counts: NgramCounts, order: int) -> NgramModel:
    """Modified Kneser-Ney over the names of classes; <unk>, <s> and </s> stand for themselves."""
    names = srilm_names(listed.without(*SENTENCE_ENDS))
    vocabulary = Vocabulary.from_words(names.values())
    class_of = np.full(len(counts.vocabulary), UNK, np.int32)
    for member in listed.members:
        if member.name in names:
            class_of[counts.vocabulary.id(member.word)] = vocabulary.id(names[member.name])
    class_of[BOS], class_of[EOS] = BOS, EOS
    levels = class_levels(counts.up_to(order).levels, class_of)
    return train_kneser_ney(NgramCounts(vocabulary, tuple(levels)), order)
