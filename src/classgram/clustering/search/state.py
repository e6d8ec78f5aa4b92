"""The state of a search: the classes, and the class table in both orientations.

Words are predicted, contexts predict. Tied classes are one side with a table of twice as many
rows (a class as predecessor, then as follower); classes that are apart are two sides whose
tables mirror each other. The kernels know only sides.
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from classgram.clustering._kernels import class_table as kernel
from classgram.clustering._kernels.class_table import SHORT_LIMIT, Cells, ClassTable, is_sparse
from classgram.clustering._kernels.criterion import LEVELS, KernelCriterion, Terms
from classgram.clustering._kernels.dense_scores import FEW_ROWS
from classgram.clustering._kernels.ranking import BLOCK
from classgram.clustering._kernels.side_arrays import (
    N_CLASSES,
    N_ONCE,
    N_SEEN,
    PAIR_NUMBERS,
    Buffers,
    Memory,
    PairCountBuffers,
    ProfileBuffers,
    RowBuffers,
    ScoreBuffers,
    SideArrays,
)
from classgram.clustering.criteria import Criterion, PairSums
from classgram.clustering.problem import ClusteringProblem, Numbering
from classgram.clustering.search.class_table import (
    CELL_BYTES,
    class_pairs,
    dense_table,
    empty_table,
    listed_counts,
    padded,
    prefers_sparse,
    row_count,
    sparse_cells,
    sparse_table,
)
from classgram.counts._kernels.sparse_rows import SparseRows, stack_rows
from classgram.counts.events import Events
from classgram.errors import InputError
from classgram.runtime.compiled import frozen

RUNNERS_UP = 8
"""Classes remembered for each element because they came near to being best."""

ClassMap = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One side for the kernels, the table that mirrors its own, and the elements that may move."""

    arrays: SideArrays
    mirror: ClassTable
    movable: npt.NDArray[np.int32]

    @property
    def rows(self) -> int:
        """The rows of the table: opposite classes."""
        return row_count(self.arrays.table)

    @property
    def width(self) -> int:
        """The columns of the table: candidates, pinned classes, and what fills the last vector."""
        return int(self.arrays.table.totals.shape[1])

    def buffers(self) -> Buffers:
        """Give working memory for one thread."""
        rows, width = self.rows, self.width
        sparse = is_sparse(self.arrays.table)
        scores = np.zeros(width, np.float32)
        amounts = self.arrays.events.amounts.dtype
        return Buffers(
            ProfileBuffers(np.zeros(rows, np.int32), np.zeros(rows, amounts), np.zeros(rows, amounts)),
            RowBuffers(
                rows=np.zeros((LEVELS, rows + 8), np.int64),
                shares=np.zeros((LEVELS, rows + 8), np.uint16),
                lengths=np.zeros(LEVELS, np.int64),
                single_rows=np.zeros(LEVELS * FEW_ROWS, np.int64),
                single_weights=np.zeros(LEVELS * FEW_ROWS, np.float32),
                sums_of_ones=np.zeros(width, np.uint16),
                sums_of_pairs=np.zeros(width, np.uint16),
                row_values=np.zeros(SHORT_LIMIT, np.float32),
            ),
            ScoreBuffers(
                scores=scores,
                blocks=scores.reshape(-1, BLOCK),
                tops=np.zeros(width // BLOCK, np.float32),
                sums=np.zeros(width if sparse else 0),
                class_terms=np.zeros(width, np.float32),
                class_term_sizes=np.full(2, -1, np.int64),
                runner_up_scores=np.zeros(RUNNERS_UP, np.float32),
            ),
            PairCountBuffers(
                both=np.zeros(width, np.int16),
                once=np.zeros(width, np.int32),
                seen=np.zeros(width, np.int32),
                logarithms=np.zeros(rows + 4),
            ),
        )


@dataclass
class State:
    """Everything a search changes; ``maps`` are the contexts' and the words', or one for both."""

    criterion: Criterion
    kernel_criterion: KernelCriterion
    sides: tuple[Side, ...]
    maps: tuple[ClassMap, ...]
    numberings: tuple[Numbering, ...]
    table: Cells = field(repr=False)
    """N(g1, g2), context classes by word classes: the cells of the words' table."""
    context_totals: Counts = field(repr=False)
    """The counts of the context classes."""

    def value(self) -> float:
        """Give F, computed anew from the table."""
        pairs = PairSums(*kernel.sum_pairs(listed_counts(self.table), self.kernel_criterion.terms))
        arrays = self.sides[0].arrays
        assert pairs.once == arrays.pair_numbers[N_ONCE], "the running number of pairs seen once is wrong"
        assert pairs.seen == arrays.pair_numbers[N_SEEN], "the running number of pairs seen is wrong"
        return self.criterion.value_from(pairs, arrays.table.totals[0], self.context_totals)

    def seen_twice(self) -> int:
        """Give the number of class pairs seen twice."""
        return int((listed_counts(self.table) == 2).sum())

    def use_criterion(self, criterion: Criterion, total: int) -> None:
        """Go on with another criterion (another discount): all that is precomputed is renewed."""
        self.criterion = criterion
        self.kernel_criterion = criterion.kernel_form(total)
        for side in self.sides:
            if not is_sparse(side.arrays.table):
                kernel.fill_differences(side.arrays.table, self.kernel_criterion)


def kernel_events(rows: SparseRows, classes: ClassMap) -> kernel.Events:
    """Give events as kernels take them."""
    counts = cast(npt.NDArray[np.int32], rows.counts)
    return kernel.Events(frozen(rows.starts), frozen(rows.columns), frozen(counts), classes)


def class_totals(classes: ClassMap, sizes: Counts, width: int) -> Counts:
    """Give the count of every class, from that of the elements."""
    totals = np.zeros(width, np.int64)
    np.add.at(totals, classes, sizes)
    return totals


def falling_order(sizes: Counts, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Give the allowed elements by falling count, ties by number."""
    elements = np.flatnonzero(allowed)
    return elements[np.argsort(-sizes[elements], kind="stable")].astype(np.int32)


def empty_memory(elements: int, classes: int) -> Memory:
    """Give the memory of a side whose elements have not been evaluated."""
    return Memory(
        np.full((elements, RUNNERS_UP), -1, np.int32),
        np.zeros(elements, np.float32),
        np.zeros((elements, RUNNERS_UP), np.float32),
        np.zeros(classes),
        np.zeros(elements),
        np.zeros(1),
    )


def tied_state(
    events: Events, criterion: Criterion, classes: ClassMap, numbering: Numbering, least: int
) -> State:
    """Give the state for one set of classes in both positions; elements seen ``least`` times move."""
    kernel_form = criterion.kernel_form(events.total)
    size = events.columns
    both = np.concatenate([classes, classes + numbering.total]).astype(np.int32)
    own = both[:size]
    stacked = kernel_events(stack(events), both)
    width = padded(numbering.total)
    cells = np.zeros((2 * numbering.total, width), stacked.amounts.dtype)
    kernel.fill_cells(stacked, own, cells)
    sizes = np.stack(events.sizes, axis=1)
    totals = np.stack([class_totals(own, sizes[:, side], width) for side in (0, 1)])
    table = dense_table(cells, totals, kernel_form)
    words_by_contexts = cells[: numbering.total]
    memory = empty_memory(size, width)
    arrays = SideArrays(
        stacked,
        own,
        frozen(sizes),
        table,
        memory,
        running_numbers(words_by_contexts, kernel_form.terms, totals[0], totals[1]),
        numbering.candidates,
        0,
        numbering.total,
        memory.neighbour_changes,
    )
    free = (own < numbering.candidates) & (sizes.max(axis=1) >= least)
    side = Side(arrays, table, falling_order(sizes.max(axis=1), free))
    return State(criterion, kernel_form, (side,), (own,), (numbering,), words_by_contexts, totals[1])


def stack(events: Events) -> SparseRows:
    """Give each word's contexts and then its followers, those numbered from V on, as one row."""
    before, after = events.by_column, events.by_row
    starts = before.starts + after.starts
    stacked = SparseRows(starts, np.empty(starts[-1], np.int32), np.empty(starts[-1], before.counts.dtype))
    stack_rows(before, after, events.columns, stacked)
    return stacked


def running_numbers(
    table: npt.NDArray[np.int32], terms: Terms, word_totals: Counts, context_totals: Counts
) -> Counts:
    """Give n1, n+ and the classes with N > 0 of words and of contexts."""
    numbers = np.zeros(PAIR_NUMBERS, np.int64)
    _, numbers[N_ONCE], numbers[N_SEEN] = kernel.sum_pairs(table, terms)
    numbers[N_CLASSES] = (word_totals > 0).sum()
    numbers[N_CLASSES + 1] = (context_totals > 0).sum()
    return numbers


def separate_tables(
    events: Events,
    maps: tuple[ClassMap, ClassMap],
    numberings: tuple[Numbering, Numbering],
    criterion: KernelCriterion,
    form: tuple[bool, bool],
) -> tuple[ClassTable, ClassTable]:
    """Give the words' table and the contexts', which mirrors it, or is empty where they never move.

    ``form``: whether tables are sparse, and whether contexts move.
    """
    (contexts, words), (sparse, moving) = maps, form
    rows, columns = (numbering.total for numbering in numberings)
    word_totals = class_totals(words, events.sizes[0], padded(columns))[None]
    context_totals = class_totals(contexts, events.sizes[1], padded(rows))[None]
    if sparse:
        amounts = cast(npt.NDArray[np.int32], events.by_row.counts)
        pairs = class_pairs(events, contexts, words)
        cells_of_words = sparse_cells(pairs, amounts, (rows, padded(columns)))
        table = sparse_table(cells_of_words, word_totals)
        if not moving:
            return table, empty_table(table)
        turned = sparse_cells((pairs[1], pairs[0]), amounts, (columns, padded(rows)))
        return table, sparse_table(turned, context_totals)
    cells = np.zeros((rows, padded(columns)), events.by_row.counts.dtype)
    kernel.fill_cells(kernel_events(events.by_column, contexts), words, cells)
    table = dense_table(cells, word_totals, criterion)
    if not moving:
        return table, empty_table(table)
    mirror = np.zeros((columns, padded(rows)), cells.dtype)
    mirror[:, :rows] = cells[:, :columns].T
    return table, dense_table(mirror, context_totals, criterion)


def separate_state(
    events: Events,
    criterion: Criterion,
    maps: tuple[ClassMap, ClassMap],
    numberings: tuple[Numbering, Numbering],
    least: tuple[int, int | None],
    sparse: bool,
) -> State:
    """Give the state for contexts and words with classes of their own.

    ``least`` holds how often words and contexts must have been seen to move; the second is None
    where contexts never move (predictive).
    """
    kernel_form = criterion.kernel_form(events.total)
    contexts, words = (np.array(classes, np.int32) for classes in maps)
    form = (sparse, least[1] is not None)
    table, mirror = separate_tables(events, (contexts, words), numberings, kernel_form, form)
    word_sizes, context_sizes = events.sizes
    context_totals = class_totals(contexts, context_sizes, numberings[0].total)
    memory = empty_memory(words.size, table.totals.shape[1])
    moving = 0 if least[1] is None else contexts.size
    context_memory = empty_memory(moving, mirror.totals.shape[1])
    arrays = SideArrays(
        kernel_events(events.by_column, contexts),
        words,
        frozen(word_sizes[:, None]),
        table,
        memory,
        running_numbers(listed_counts(table.cells), kernel_form.terms, table.totals[0], context_totals),
        numberings[1].candidates,
        0,
        0,
        context_memory.neighbour_changes,
    )
    free = (words < numberings[1].candidates) & (word_sizes >= max(least[0], 1))
    sides = [Side(arrays, mirror, falling_order(word_sizes, free))]
    if least[1] is not None:
        free = (contexts < numberings[0].candidates) & (context_sizes >= max(least[1], 1))
        other = arrays._replace(
            events=kernel_events(events.by_row, words),
            classes=contexts,
            sizes=frozen(context_sizes[:, None]),
            table=mirror,
            memory=context_memory,
            candidates=numberings[0].candidates,
            side=1,
            partner_changes=memory.neighbour_changes,
        )
        sides.append(Side(other, table, falling_order(context_sizes, free)))
    # Where contexts move, their counts are kept with their table.
    kept = mirror.totals[0] if mirror.totals.size else context_totals
    return State(criterion, kernel_form, tuple(sides), (contexts, words), numberings, table.cells, kept)


def check_memory(rows: int, columns: int, limit: int) -> None:
    """Refuse a class table that would not fit, and say what would."""
    needed = rows * columns * CELL_BYTES
    if needed > limit:
        raise InputError(
            f"a table of {rows:,} by {columns:,} classes needs {needed / 1e9:.1f} GB; "
            "ask for fewer classes or contexts"
        )


def state_from_maps(
    problem: ClusteringProblem,
    criterion: Criterion,
    maps: tuple[ClassMap, ...],
    numbers: tuple[Numbering, ...],
) -> State:
    """Return the state of a search that has reached these classes."""
    least = problem.move_min_count
    if problem.tied:
        check_memory(2 * numbers[0].total, numbers[0].total, problem.tuning.largest_table_bytes)
        return tied_state(problem.events, criterion, maps[0], numbers[0], least)
    moving = None if problem.options.shape == "predictive" else least
    pairs, orientations = problem.events.by_row.columns.size, 1 if moving is None else 2
    sparse = prefers_sparse(pairs, numbers[0].total, numbers[1].total, orientations, problem.tuning)
    return separate_state(
        problem.events, criterion, (maps[0], maps[1]), (numbers[0], numbers[1]), (least, moving), sparse
    )
