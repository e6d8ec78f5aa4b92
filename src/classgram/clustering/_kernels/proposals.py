"""Propose: the best class of each element against a table that is fixed.

The element stays where it is; its share in its own class's column (and, for tied classes, in its
own class's rows) is taken out of the arithmetic instead of out of the table. Scores rank the candidates, and
every candidate within their error (score_errors.py) is tried exactly.
"""

from typing import NamedTuple

import numpy as np

from classgram.clustering._kernels.class_table import by_form
from classgram.clustering._kernels.criterion import (
    LARGEST_NODE,
    KernelCriterion,
    Terms,
    approximate_difference,
    global_logarithm,
    global_term,
)
from classgram.clustering._kernels.dense_scores import score_dense
from classgram.clustering._kernels.exact_gains import (
    build_profile,
    cells_after,
    class_terms,
    clear_weights,
    counts_of,
    gain_of,
    may_join,
    may_leave,
    pairs_of,
    value_in_own,
    wide,
)
from classgram.clustering._kernels.ranking import BLOCK, count_above, find_tops
from classgram.clustering._kernels.runners_up import Evaluation, remember_evaluation
from classgram.clustering._kernels.score_errors import (
    FIXED_ROUNDINGS,
    Magnitude,
    likely_error,
    rounding_error,
)
from classgram.clustering._kernels.side_arrays import (
    IMPOSSIBLE,
    LARGEST_NOISE,
    N_CLASSES,
    N_ONCE,
    N_SEEN,
    NOISE_VALUES,
    ROUNDING,
    Buffers,
    MoveRule,
    PairCountBuffers,
    Profile,
    ScoreBuffers,
    SideArrays,
    Value,
)
from classgram.clustering._kernels.sparse_scores import score_sparse
from classgram.runtime.compiled import inlined, kernel_part, lean_kernel
from classgram.runtime.compiled.arrays import Float32Array, Float32Matrix, Int32Array, Int64Array, Int64Matrix

CLOSE_AMOUNT = 8
"""Amounts above this are computed where scores must be close."""

LARGE_ERROR = 100.0
MANY_CLASSES = 32
"""Where the error is large and more classes than this may be best, scores are made closer."""

score_rows = by_form(score_dense, score_sparse)
"""Write the scores, return their error: score_rows(table, criterion, buffers, profile, magnitude, most)."""


class Noise(NamedTuple):
    """The noise of an element."""

    offset: int
    """Where its row of noise starts."""
    scale: float
    """What the values are multiplied by; 0: there is none."""


class OwnValue(NamedTuple):
    """What the element at hand is worth where it is."""

    pairs: Value
    """What it adds to its class by pairs."""
    mine: float
    """All that it adds to F, noise included: what scores compare with."""
    empty: int
    """How many classes are empty on some side."""


class Scored(NamedTuple):
    """What the scores of an element have told."""

    top: float
    """The highest."""
    cut: float
    """No class whose score is below this can be best, or better than the present one."""


@kernel_part
def same_numbers(a: Float32Array, b: Float32Array) -> bool:
    """Say whether two rows are equal: classes without pinned words occur as contexts and as words alike."""
    different = np.int32(0)
    for c in range(a.size):
        different = np.int32(different + np.int32(a[c] != b[c]))
    return different == 0  # type: ignore[no-any-return]


@kernel_part
def renew_class_terms(
    totals: Float32Matrix, sizes: Int64Array, shift: float, buffers: ScoreBuffers, candidates: int
) -> None:
    """Write the class term of every candidate for an element of these sizes, unless it is there already."""
    row, current = buffers.class_terms, buffers.class_term_sizes
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
def is_empty(totals: Int64Matrix, number: int) -> bool:
    """Say whether a class has no element that occurs."""
    return totals[0, number] == 0 and totals[totals.shape[0] - 1, number] == 0  # type: ignore[no-any-return]


@kernel_part
def fill_logarithms(terms: Terms, buffers: PairCountBuffers, candidates: int, seen: int, cells: int) -> int:
    """Write the global term's logarithm for n+ and all larger ones that occur; return the largest change."""
    most = 0
    for c in range(candidates):
        most = buffers.seen[c] if buffers.seen[c] > most else most
    for k in range(most + 1):
        buffers.logarithms[k] = global_logarithm(terms, seen + k, cells)
    return most


@kernel_part
def add_global_term(
    arrays: SideArrays, terms: Terms, buffers: Buffers, profile: Profile, element: int, own: OwnValue
) -> float:
    """Add the global term after the move, less that of now, to the score of each candidate; return the error.

    The logarithm rises with n+, and n1 changes by at most one for each entry of the profile and eight more
    for the corrections of tied classes: the term is largest at the ends of both.
    """
    sizes, numbers = arrays.sizes[element], arrays.pair_numbers
    scores, pair_counts = buffers.scores.scores, buffers.pair_counts
    more_once, more_seen, logs = pair_counts.once, pair_counts.seen, pair_counts.logarithms
    once, seen = numbers[N_ONCE] - own.pairs.once, numbers[N_SEEN] - own.pairs.seen
    classes = counts_of(arrays)
    cells = cells_after(classes, sizes, profile.own, wide(-1))
    most = fill_logarithms(terms, pair_counts, arrays.candidates, seen, cells)
    # Scores are small beside the term itself, so its present value is taken off first.
    now = global_term(terms, numbers[N_ONCE], numbers[N_SEEN], numbers[N_CLASSES] * numbers[N_CLASSES + 1])
    for c in range(arrays.candidates):
        scores[c] += np.float32((once + more_once[c]) * logs[more_seen[c]] - now)
    size, change = 0.0, profile.length + 8
    for k in (0, most):
        size = max(size, abs((once - change) * logs[k] - now), abs((once + change) * logs[k] - now))
    if own.empty > 0:
        size += correct_empty(arrays, terms, buffers, profile, element, own)
    return rounding_error(FIXED_ROUNDINGS, Magnitude(0.0, size))


@kernel_part
def correct_empty(
    arrays: SideArrays, terms: Terms, buffers: Buffers, profile: Profile, element: int, own: OwnValue
) -> float:
    """Correct the global term of classes that are empty on some side; return the largest correction."""
    sizes, totals, numbers = arrays.sizes[element], arrays.table.totals, arrays.pair_numbers
    pair_counts, classes, last = buffers.pair_counts, counts_of(arrays), totals.shape[0] - 1
    once, seen = numbers[N_ONCE] - own.pairs.once, numbers[N_SEEN] - own.pairs.seen
    spared, largest = False, 0.0
    for c in range(arrays.candidates):
        if totals[0, c] > 0 and totals[last, c] > 0:
            continue
        # The first of the classes that are quite empty stands for all of them (see leave_one_empty).
        if is_empty(totals, wide(c)):
            if spared:
                continue
            spared = True
        more_once, more_seen = pair_counts.once[c], pair_counts.seen[c]
        cells = cells_after(classes, sizes, profile.own, wide(c))
        exact = global_term(terms, once + more_once, seen + more_seen, cells)
        correction = exact - (once + more_once) * pair_counts.logarithms[more_seen]
        buffers.scores.scores[c] += np.float32(correction)
        largest = max(largest, abs(correction))
    return largest


@kernel_part
def noise_offset(seed: int, element: int) -> int:
    """Return where an element's row of noise starts, by mixing the bits of both numbers."""
    bits = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(element)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((bits >> np.uint64(40)) & np.uint64(NOISE_VALUES - 1))  # type: ignore[return-value]


@kernel_part
def noise_of(rule: MoveRule, sizes: Int64Array, element: int) -> Noise:
    """Return the noise of an element."""
    if rule.temperature > 0.0:
        scale = rule.temperature * np.sqrt(float(max(sizes[0], sizes[sizes.size - 1])))
        return Noise(noise_offset(rule.seed, element), scale)
    return Noise(wide(0), 0.0)


@kernel_part
def noise_gain(rule: MoveRule, noise: Noise, own: int, candidate: int) -> float:
    """Return what noise adds to a move."""
    if noise.scale == 0.0:
        return 0.0
    return noise.scale * (rule.noise[noise.offset + candidate] - rule.noise[noise.offset + own])  # type: ignore[no-any-return]


@kernel_part
def add_noise(scores: Float32Array, rule: MoveRule, noise: Noise) -> None:
    """Add an element's noise to its scores."""
    scale = np.float32(noise.scale)
    for c in range(scores.size):
        scores[c] += scale * rule.noise[noise.offset + c]


@kernel_part
def count_empty(totals: Int64Matrix, candidates: int) -> int:
    """Count the classes that are empty on some side."""
    empty = 0
    for c in range(candidates):
        empty += 1 if totals[0, c] == 0 or totals[totals.shape[0] - 1, c] == 0 else 0
    return empty


@kernel_part
def leave_one_empty(totals: Int64Matrix, sizes: Int64Array, present: int, scores: Float32Array) -> None:
    """Rule out all empty classes but the first, being alike; the first, too, if the element is alone."""
    last = totals.shape[0] - 1
    spared = totals[0, present] == sizes[0] and totals[last, present] == sizes[last]
    for c in range(scores.size):
        if is_empty(totals, wide(c)):
            if spared:
                scores[c] = IMPOSSIBLE
            spared = True


@kernel_part
def rule_out(
    arrays: SideArrays, terms: Terms, sizes: Int64Array, present: int, empty: int, scores: Float32Array
) -> None:
    """Rule out the classes that an element may not join, and its own, which the scores do not tell apart."""
    totals, candidates = arrays.table.totals, arrays.candidates
    if terms.forbids_single_counts and (sizes[0] == 1 or sizes[sizes.size - 1] == 1):
        for c in range(candidates):
            if not may_join(totals, sizes, wide(c), terms):
                scores[c] = IMPOSSIBLE
    if empty > 0:
        leave_one_empty(totals, sizes, present, scores[:candidates])
    scores[present] = IMPOSSIBLE
    for c in range(candidates, scores.size):
        scores[c] = IMPOSSIBLE


@kernel_part
def score_classes(
    arrays: SideArrays,
    criterion: KernelCriterion,
    buffers: Buffers,
    rule: MoveRule,
    element: int,
    profile: Profile,
    own: OwnValue,
    noise: Noise,
) -> Scored:
    """Write the scores of all candidates, and the highest of each block; twice where more exactness pays."""
    terms, sizes, scores = criterion.terms, arrays.sizes[element], buffers.scores.scores
    events = terms.largest_gain * (sizes[0] + (sizes[1] if sizes.size > 1 else 0))
    magnitude = Magnitude(events, LARGEST_NOISE * noise.scale)
    renew_class_terms(arrays.table.single_totals, sizes, terms.class_shift, buffers.scores, arrays.candidates)
    number = sizes[0] + sizes[sizes.size - 1] + 1 + noise.scale
    top, cut = 0.0, 0.0
    for most in (LARGEST_NODE, CLOSE_AMOUNT):
        found = score_rows(arrays.table, criterion, buffers, profile, magnitude, most)
        error = found.differences + found.rounding
        if terms.counts_pairs:
            error += add_global_term(arrays, terms, buffers, profile, element, own)
        if noise.scale > 0.0:
            add_noise(scores[: arrays.candidates], rule, noise)
        rule_out(arrays, terms, sizes, profile.own, own.empty, scores)
        top = find_tops(buffers.scores.blocks, buffers.scores.tops)
        cut = max(top - 2 * error, own.mine + rule.threshold - error)
        likely = likely_error(found, profile.length, number, abs(own.mine))
        likely_cut = max(top - 2 * likely, own.mine + rule.threshold - likely)
        # Exact values of many classes would take longer than scores that are closer.
        few = likely < LARGE_ERROR or count_above(scores, np.float32(likely_cut)) < MANY_CLASSES
        if top < likely_cut or few:
            break
    return Scored(top, cut)


@kernel_part
def best_of_scored(
    arrays: SideArrays,
    terms: Terms,
    buffers: ScoreBuffers,
    rule: MoveRule,
    element: int,
    profile: Profile,
    own: OwnValue,
    noise: Noise,
    cut: float,
) -> int:
    """Try all classes whose scores reach the cut exactly; return the best, or the present one."""
    sizes, classes, scores, tops = arrays.sizes[element], counts_of(arrays), buffers.scores, buffers.tops
    best, highest = wide(profile.own), rule.threshold
    tie = ROUNDING * (1.0 + abs(own.pairs.terms))
    for b in range(tops.size):
        if tops[b] < cut:
            continue
        for c in range(b * BLOCK, b * BLOCK + BLOCK):
            if scores[c] >= cut:
                gain = gain_of(classes, terms, profile, sizes, own.pairs, wide(c))
                gain += noise_gain(rule, noise, profile.own, wide(c))
                if gain > highest + tie:
                    best, highest = wide(c), gain
    return best


@inlined
def best_class(
    arrays: SideArrays,
    criterion: KernelCriterion,
    buffers: Buffers,
    rule: MoveRule,
    element: int,
    empty: int,
) -> int:
    """Return the class where F is highest: another one only if it is so by more than the threshold.

    Ties go to the present class, then to the lowest number. ``empty`` is the number of classes
    that are empty on some side.
    """
    terms, sizes, totals = criterion.terms, arrays.sizes[element], arrays.table.totals
    present = wide(arrays.classes[element])
    if not may_leave(totals, sizes, present, terms):
        return present
    profile = build_profile(arrays.events, buffers.profile, element, present, arrays.tied)
    pairs = value_in_own(pairs_of(arrays.table), terms, profile)
    mine = pairs.terms + class_terms(totals, sizes, terms, present, True)
    noise = noise_of(rule, sizes, element)
    if noise.scale > 0.0:
        mine += noise.scale * rule.noise[noise.offset + present]
    own = OwnValue(pairs, mine, empty)
    scored = score_classes(arrays, criterion, buffers, rule, element, profile, own, noise)
    best = present
    if scored.top >= scored.cut:
        best = best_of_scored(arrays, terms, buffers.scores, rule, element, profile, own, noise, scored.cut)
    clear_weights(profile)
    if noise.scale == 0.0:
        distance = rule.runner_up_margin * np.sqrt(sizes[0] + sizes[sizes.size - 1] + 1.0)
        remember_evaluation(arrays, buffers.scores, element, best, Evaluation(mine, scored.top, distance))
    return best


@lean_kernel
def propose_classes(
    arrays: SideArrays,
    criterion: KernelCriterion,
    buffers: Buffers,
    elements: Int32Array,
    proposals: Int64Array,
    rule: MoveRule,
) -> None:
    """Write the best class of each element beside it.

    The table is fixed; what is found near is written to the memory, and all else that is written are buffers.
    """
    sizes = buffers.scores.class_term_sizes
    for side in range(sizes.size):
        sizes[side] = -1
    empty = count_empty(arrays.table.totals, arrays.candidates)
    for i in range(elements.size):
        proposals[i] = best_class(arrays, criterion, buffers, rule, elements[i], empty)
