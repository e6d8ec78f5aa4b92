"""Classes converted from one format to another; a text supplies counts, a tree, n-grams and vectors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from classgram.arpa.writing import write_arpa
from classgram.class_files.formats.srilm import srilm_names
from classgram.class_files.reading import load_partition, read_classes
from classgram.class_files.registry import DEFAULT_FORMAT, FORMATS, format_of_name
from classgram.class_files.word_vectors import word_vectors
from classgram.class_files.writing import Note, format_lines, write_bytes
from classgram.classes.class_list import (
    SENTENCE_ENDS,
    ClassList,
    Member,
    fitted_partition,
    partition_list,
    path_list,
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

_Formats = tuple[ClassFormat | None, ClassFormat | None]


@dataclass(frozen=True)
class Source:
    """What is converted: a list of classes, and the partition of a text where one is known."""

    listed: ClassList
    partition: Partition | None = None
    counts: NgramCounts | None = None

    def require(self, purpose: str) -> tuple[Partition, NgramCounts]:
        """Return the partition and the counts of a text, or raise an error that names the purpose."""
        if self.partition is None or self.counts is None:
            raise InputError(f"{self.listed.source}: {purpose}; give the text with --text")
        return self.partition, self.counts


def convert_classes(
    source: str | Path,
    target: str | Path,
    options: ConvertOptions | None = None,
    formats: _Formats = (None, None),
    count_text: CountText | None = None,
    note: Note = lambda text: None,
) -> ClassFormat:
    """Read classes in any format, write them in another, and return the format written.

    ``formats`` are those of source and target, None where they are to be guessed. ``count_text``
    counts the text that supplies what the source does not hold. A target without an ending is a
    folder, as ``cluster`` writes it.
    """
    options = options or ConvertOptions()
    source, target = Path(source), Path(target)
    form = formats[1] or _target_format(target)
    _check_target(target, form)
    if options.arpa is not None and form != "srilm":
        raise InputError(f"{target}: --arpa goes with a classes file of SRILM; name OUT.classes")
    if options.arpa is not None and options.order < 2:
        raise InputError(f"--order {options.order}: models have an order of 2 or more")
    order = options.order if options.arpa is not None else 2
    known = _reduced(_open_source(source, formats[0], count_text, order), options)
    if options.arpa is not None:
        _write_class_arpa(known, options.arpa, options.order)
    if form == "folder":
        _folder_partition(known).save(target)
        return form
    listed = known.listed
    if FORMATS[form].needs == "tree":
        listed = _with_paths(known)
    elif FORMATS[form].needs == "vectors":
        listed = with_vectors(known, options.dimensions, note)
    write_bytes(target, format_lines(listed, form, note))
    return form


def _target_format(target: Path) -> ClassFormat:
    """Return the format that a target's name implies; a name without an ending is a folder's."""
    form = DEFAULT_FORMAT if str(target) == "-" else format_of_name(target)
    if form is None and target.suffix and not target.is_dir():
        raise InputError(f"{target}: its name implies no format; name one with --to, also --to folder")
    return form or "folder"


def _check_target(target: Path, form: ClassFormat) -> None:
    """Refuse, before any work is done, an output that could not be written in the end."""
    if form == "folder":
        check_writable(target)
    elif str(target) != "-":
        check_parent(target)
        if target.is_dir():
            raise InputError(f"{target}: is a folder; name a file")


def _open_source(path: Path, form: ClassFormat | None, count_text: CountText | None, order: int) -> Source:
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
    counts = count_text(_list_vocabulary(listed), order)
    counted = _recounted(listed, counts)
    return Source(counted, fitted_partition(counted, counts), counts)


def _list_vocabulary(listed: ClassList) -> Vocabulary:
    """Return the words of a class file as a vocabulary."""
    try:
        return Vocabulary.from_words([member.word for member in listed.members])
    except InputError as error:
        raise InputError(f"{listed.source}: {error}") from None


def _recounted(listed: ClassList, counts: NgramCounts) -> ClassList:
    """Return the list with the counts of a text instead of its own counts and probabilities."""
    vocabulary, unigrams = counts.vocabulary, counts.levels[0].counts
    absent = next((member.word for member in listed.members if member.word not in vocabulary), None)
    if absent is not None:
        raise InputError(f"{listed.source}: its word {absent} is not in the counts; give the text itself")
    members = (
        Member(member.word, member.name, int(unigrams[vocabulary.id(member.word)]))
        for member in listed.members
    )
    return replace(listed, members=tuple(members))


def _reduced(known: Source, options: ConvertOptions) -> Source:
    """Return the source with fewer classes: merged down to a number, or paths cut to a number of bits."""
    if options.depth is not None and options.classes is not None:
        raise InputError("give --depth or --classes, not both")
    if options.depth is not None and options.depth < 1:
        raise InputError(f"--depth must be 1 or more, not {options.depth}")
    if options.depth is not None and known.listed.format == "paths":
        cut = (member._replace(name=member.name[: options.depth]) for member in known.listed.members)
        return _refitted(known, replace(known.listed, members=tuple(cut)))
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


def _refitted(known: Source, listed: ClassList) -> Source:
    """Return the source with other classes of the same words."""
    if known.counts is None:
        return Source(listed)
    return Source(listed, fitted_partition(listed, known.counts), known.counts)


def _with_paths(known: Source) -> ClassList:
    """Return the list with bit strings as classes: its own, or those of a tree."""
    if known.listed.format == "paths" and known.listed.counted:
        return known.listed
    partition, counts = known.require("paths are those of a tree, which needs the counts of word pairs")
    listed = path_list(partition_list(partition, known.listed.source), build_tree(counts, partition).paths)
    words = {member.word for member in known.listed.members}
    return replace(listed, members=tuple(member for member in listed.members if member.word in words))


def _folder_partition(known: Source) -> Partition:
    """Return the source as a partition; without a text its counts are those of the file, or 0."""
    if known.partition is not None:
        return known.partition
    vocabulary = _list_vocabulary(known.listed)
    given = {member.word: member.seen or 0 for member in known.listed.members}
    unigrams = np.array([given.get(word, 0) for word in vocabulary.words], np.int64)
    return fitted_partition(known.listed, NgramCounts(vocabulary, (first_level(unigrams),)))


def with_vectors(known: Source, dimensions: int, note: Note = lambda text: None) -> ClassList:
    """Return the list with word vectors."""
    partition, counts = known.require("vectors are made of the neighbours of words")
    vectors = word_vectors(partition, counts, dimensions)
    if vectors.shape[1] < dimensions:
        note(f"{vectors.shape[1]} dimensions instead of {dimensions}: there are no more")
    members = (
        member._replace(vector=vectors[partition.vocabulary.id(member.word)])
        for member in known.listed.members
    )
    return replace(known.listed, members=tuple(members))


def _write_class_arpa(known: Source, path: Path, order: int) -> None:
    """Write the n-gram model over SRILM's class names that goes with an SRILM classes file."""
    partition, counts = known.require("a model over classes needs their n-grams")
    if not partition.tied:
        raise InputError("SRILM's class models have one set of classes; cluster with --shape tied")
    write_arpa(_class_name_model(known.listed, counts, order), path)


def _class_name_model(listed: ClassList, counts: NgramCounts, order: int) -> NgramModel:
    """Train modified Kneser-Ney over the names of classes; <unk>, <s> and </s> stand for themselves."""
    names = srilm_names(listed.without(*SENTENCE_ENDS))
    vocabulary = Vocabulary.from_words(names.values())
    class_of = np.full(len(counts.vocabulary), UNK, np.int32)
    for member in listed.members:
        if member.name in names:
            class_of[counts.vocabulary.id(member.word)] = vocabulary.id(names[member.name])
    class_of[BOS], class_of[EOS] = BOS, EOS
    levels = class_levels(counts.up_to(order).levels, class_of)
    return train_kneser_ney(NgramCounts(vocabulary, tuple(levels)), order)
