"""Propose: the best class of each element against a table that stands still.

The element stays where it is; its share in its own class's column (and, for tied classes, in its
own class's rows) is taken out of the arithmetic instead of out of the table. Eight-bit
differences rank the candidates, and every candidate within their error bound is tried exactly.
"""

import numpy as np

from classgram.clustering._kernels.class_table import by_form
from classgram.clustering._kernels.criterion import MOST, Ready, Terms, approximate_difference, global_term
from classgram.clustering._kernels.dense_scores import score_dense
from classgram.clustering._kernels.exact_gains import (
    build_profile,
    class_pairs,
    clear_weights,
    gain_of,
    may_join,
    may_leave,
    pairs_of,
    total_terms,
    value_in_own,
    wide,
)
from classgram.clustering._kernels.ranking import BLOCK, count_above, find_tops
from classgram.clustering._kernels.runners_up import Look, remember_look
from classgram.clustering._kernels.side_arrays import (
    IMPOSSIBLE,
    KINDS,
    NOISE_VALUES,
    ONCE,
    ROUNDING,
    SEEN,
    Classes,
    IntArray,
    LongArray,
    Problem,
    Rule,
    Scratch,
    SingleArray,
    Value,
)
from classgram.clustering._kernels.sparse_scores import score_sparse
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel

CLOSELY = 8
"""Amounts above this are computed where scores must be close."""

LARGE_ERROR = 100.0
MANY = 32
"""Where the error is large and more classes than this may be best, scores are made closer."""

score_rows = by_form(score_dense, score_sparse)
"""Fill the scores, give their error: score_rows(table, criterion, scratch,
profile, bound, most)."""


@kernel_part
def same_numbers(a: SingleArray, b: SingleArray) -> bool:
    """Say whether two rows are equal: classes without pinned words occur as contexts and as words alike."""
    different = np.int32(0)
    for c in range(a.size):
        different = np.int32(different + np.int32(a[c] != b[c]))
    return different == 0  # type: ignore[no-any-return]


@kernel_part
def renew_total_row(
    totals: SingleArray, sizes: LongArray, shift: float, scratch: Scratch, candidates: int
) -> None:
    """Make the class term of every candidate for an element of these sizes."""
    row, current = scratch.total_row, scratch.total_sizes
    stale = False
    for side in range(totals.shape[0]):
        stale = stale or current[side] != sizes[side]
    if not stale:
        return
    last = totals.shape[0] - 1
    alike = sizes[0] == sizes[last] and same_numbers(totals[0, :candidates], totals[last, :candidates])
    times = np.float32(totals.shape[0] if alike else 1)
    for c in range(row.size):
        row[c] = 0.0
    for side in range(totals.shape[0]):
        current[side] = sizes[side]
        if sizes[side] > 0 and (side == 0 or not alike):
            counts, size = totals[side], np.float32(sizes[side])
            for c in range(row.size):
                row[c] -= times * approximate_difference(counts[c], size, np.float32(shift))


@kernel_part
def is_empty(totals: LongArray, number: int) -> bool:
    """Say whether a class has no element that occurs."""
    return totals[0, number] == 0 and totals[totals.shape[0] - 1, number] == 0  # type: ignore[no-any-return]


@kernel_part
def add_global_term(
    problem: Problem, discount: float, scratch: Scratch, element: int, own: Value, empty: int
) -> None:
    """Add leaving-one-out's global term after the move to the score of each candidate.

    ``empty`` is the number of classes that are empty on some side.
    """
    sizes, totals, numbers = problem.sizes[element], problem.table.totals, problem.numbers
    scores, logs = scratch.scores, scratch.logs
    more_once, more_seen = scratch.once, scratch.seen
    once, seen = numbers[ONCE] - own.once, numbers[SEEN] - own.seen
    own_class = wide(problem.classes[element])
    classes = Classes(pairs_of(problem.table), totals, numbers, problem.side)
    pairs = class_pairs(classes, sizes, own_class, wide(-1))
    most = 0
    for c in range(problem.candidates):
        most = more_seen[c] if more_seen[c] > most else most
    for k in range(most + 1):
        logs[k] = np.log(discount * max(seen + k - 1, 1) / max(pairs - seen - k + 1, 1))
    # Scores are small beside the term itself, so its present value is taken off first.
    now = global_term(discount, numbers[ONCE], numbers[SEEN], numbers[KINDS] * numbers[KINDS + 1])
    for c in range(problem.candidates):
        scores[c] += np.float32((once + more_once[c]) * logs[more_seen[c]] - now)
    if empty == 0:
        return
    last = totals.shape[0] - 1
    spared = False
    for c in range(problem.candidates):
        if totals[0, c] > 0 and totals[last, c] > 0:
            continue
        # The first of the classes that are quite empty stands for all of them (see leave_one_empty).
        if is_empty(totals, wide(c)):
            if spared:
                continue
            spared = True
        exact = global_term(
            discount,
            once + more_once[c],
            seen + more_seen[c],
            class_pairs(classes, sizes, own_class, wide(c)),
        )
        scores[c] += np.float32(exact - (once + more_once[c]) * logs[more_seen[c]])


@kernel_part
def noise_offset(seed: int, element: int) -> int:
    """Give the place where an element's row of noise starts, by mixing the bits of both numbers."""
    bits = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(element)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((bits >> np.uint64(40)) & np.uint64(NOISE_VALUES - 1))  # type: ignore[return-value]


@kernel_part
def add_noise(scores: SingleArray, rule: Rule, offset: int, scale: float) -> None:
    """Add an element's noise to its scores."""
    single_scale = np.float32(scale)
    for c in range(scores.size):
        scores[c] += single_scale * rule.noise[offset + c]


@kernel_part
def count_empty(totals: LongArray, candidates: int) -> int:
    """Count the classes that are empty on some side."""
    empty = 0
    for c in range(candidates):
        empty += 1 if totals[0, c] == 0 or totals[totals.shape[0] - 1, c] == 0 else 0
    return empty


@kernel_part
def leave_one_empty(totals: LongArray, sizes: LongArray, present: int, scores: SingleArray) -> None:
    """Rule out all empty classes but the first, being alike; the first, too, if the element is alone."""
    last = totals.shape[0] - 1
    spared = totals[0, present] == sizes[0] and totals[last, present] == sizes[last]
    for c in range(scores.size):
        if is_empty(totals, wide(c)):
            if spared:
                scores[c] = IMPOSSIBLE
            spared = True


@inlined
def best_class(
    problem: Problem,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    rule: Rule,
    element: int,
    empty: int,
) -> int:
    """Give the class where F is highest: another one only if it is so by more than the threshold.

    Ties go to the present class, then to the lowest number. ``empty`` is the number of classes
    that are empty on some side.
    """
    terms = criterion[0]
    table, sizes, scores = problem.table, problem.sizes[element], scratch.scores
    totals, candidates = table.totals, problem.candidates
    present = wide(problem.classes[element])
    if not may_leave(totals, sizes, present, terms.discount):
        return present
    profile = build_profile(problem.events, scratch.slots, element, present, problem.tied)
    own = value_in_own(pairs_of(table), terms, profile)
    mine = own.terms + total_terms(totals, sizes, terms, present, True)
    # A score is at most size (log N + 2).
    bound = 32.0 * (sizes[0] + sizes[sizes.size - 1] + 1) + abs(mine)
    renew_total_row(table.single_totals, sizes, terms.total_shift, scratch, candidates)
    offset, scale = 0, 0.0
    if rule.temperature > 0.0:
        offset = noise_offset(rule.seed, element)
        scale = rule.temperature * np.sqrt(float(max(sizes[0], sizes[sizes.size - 1])))
        mine += scale * rule.noise[offset + present]
        bound += 32.0 * scale
    error, top, cut = 0.0, 0.0, 0.0
    for most in (MOST, CLOSELY):
        error = score_rows(table, criterion, scratch, profile, bound, most) + 1e-6 * scale
        if terms.discount > 0.0:
            add_global_term(problem, terms.discount, scratch, element, own, empty)
            if sizes[0] == 1 or sizes[sizes.size - 1] == 1:
                for c in range(candidates):
                    if not may_join(totals, sizes, wide(c), terms.discount):
                        scores[c] = IMPOSSIBLE
        if empty > 0:
            leave_one_empty(totals, sizes, present, scores[:candidates])
        if scale > 0.0:
            add_noise(scores[:candidates], rule, offset, scale)
        scores[present] = IMPOSSIBLE
        for c in range(candidates, scores.size):
            scores[c] = IMPOSSIBLE
        top = find_tops(scratch.score_blocks, scratch.tops)
        cut = max(top - 2 * error, mine + rule.threshold - error)
        # Exact values of many classes would take longer than scores that are closer.
        if top < cut or error < LARGE_ERROR or count_above(scores, np.float32(cut)) < MANY:
            break
    best, highest = present, rule.threshold
    tie = ROUNDING * (1.0 + abs(own.terms))
    if top >= cut:
        classes = Classes(pairs_of(table), totals, problem.numbers, problem.side)
        for b in range(scratch.tops.size):
            if scratch.tops[b] < cut:
                continue
            for c in range(b * BLOCK, b * BLOCK + BLOCK):
                if scores[c] >= cut:
                    gain = gain_of(classes, terms, profile, sizes, own, wide(c))
                    if scale > 0.0:
                        gain += scale * (rule.noise[offset + c] - rule.noise[offset + present])
                    if gain > highest + tie:
                        best, highest = wide(c), gain
    clear_weights(profile)
    if scale == 0.0:
        distance = rule.margin * np.sqrt(sizes[0] + sizes[sizes.size - 1] + 1.0)
        remember_look(problem, scratch, element, best, Look(mine, top, distance))
    return best


@lean_kernel
def propose_classes(
    problem: Problem,
    criterion: tuple[Terms, Ready],
    scratch: Scratch,
    elements: IntArray,
    proposals: LongArray,
    rule: Rule,
) -> None:
    """Write the best class of each element beside it; the table stands still."""
    for side in range(scratch.total_sizes.size):
        scratch.total_sizes[side] = -1
    empty = count_empty(problem.table.totals, problem.candidates)
    for i in range(elements.size):
        proposals[i] = best_class(problem, criterion, scratch, rule, elements[i], empty)
