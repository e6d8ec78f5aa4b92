"""Propose: the best class of each element against a table that stands still.

The element stays where it is; its share in its own class's column (and, for tied classes, in its
own class's rows) is taken out of the arithmetic instead of out of the table. Sixteen-bit
differences rank the candidates, and every candidate within their error bound is tried exactly.
"""

import numpy as np

from classgram.kernels import inlined, kernel_part, lean_kernel
from classgram.kernels.class_table import by_form
from classgram.kernels.criterion import Ready, Terms, approximate_difference, global_term
from classgram.kernels.dense_scores import score_dense
from classgram.kernels.exact_values import (
    build_profile,
    class_pairs,
    clear_weights,
    gain_of,
    may_join,
    may_leave,
    total_terms,
    value_in_own,
    wide,
)
from classgram.kernels.problem import (
    IMPOSSIBLE,
    KINDS,
    NOISE_VALUES,
    ONCE,
    RESTLESS,
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
from classgram.kernels.sparse_scores import score_sparse

score_rows = by_form(score_dense, score_sparse)
"""Fill the scores, give their error: score_rows(table, terms, ready, scratch, profile, bound)."""


@kernel_part
def renew_total_row(totals: SingleArray, sizes: LongArray, shift: float, scratch: Scratch) -> None:
    """Make the class term of every candidate for an element of these sizes."""
    row, current = scratch.total_row, scratch.total_sizes
    stale = False
    for side in range(totals.shape[0]):
        stale = stale or current[side] != sizes[side]
    if not stale:
        return
    for c in range(row.size):
        row[c] = 0.0
    for side in range(totals.shape[0]):
        current[side] = sizes[side]
        if sizes[side] > 0:
            counts = totals[side]
            for c in range(row.size):
                row[c] -= approximate_difference(counts[c], np.float32(sizes[side]), np.float32(shift))


@kernel_part
def add_global_term(problem: Problem, discount: float, scratch: Scratch, element: int, own: Value) -> None:
    """Add leaving-one-out's global term after the move to the score of each candidate."""
    sizes, totals, numbers = problem.sizes[element], problem.table.totals, problem.numbers
    scores, logs = scratch.scores, scratch.logs
    more_once, more_seen = scratch.once, scratch.seen
    once, seen = numbers[ONCE] - own.once, numbers[SEEN] - own.seen
    own_class = wide(problem.classes[element])
    classes = Classes(problem.table.cells, totals, numbers, problem.side)
    pairs = class_pairs(classes, sizes, own_class, -1)
    most = 0
    for c in range(problem.candidates):
        most = more_seen[c] if more_seen[c] > most else most
    for k in range(most + 1):
        logs[k] = np.log(discount * max(seen + k - 1, 1) / max(pairs - seen - k + 1, 1))
    # Scores are small beside the term itself, so its present value is taken off first.
    now = global_term(discount, numbers[ONCE], numbers[SEEN], numbers[KINDS] * numbers[KINDS + 1])
    empty = 0
    for c in range(problem.candidates):
        scores[c] += np.float32((once + more_once[c]) * logs[more_seen[c]] - now)
        if totals[0, c] == 0 or totals[totals.shape[0] - 1, c] == 0:
            empty += 1
    if empty == 0:
        return
    for c in range(problem.candidates):
        if totals[0, c] == 0 or totals[totals.shape[0] - 1, c] == 0:
            exact = global_term(
                discount,
                once + more_once[c],
                seen + more_seen[c],
                class_pairs(classes, sizes, own_class, c),
            )
            scores[c] += np.float32(exact - (once + more_once[c]) * logs[more_seen[c]])


@kernel_part
def highest_score(scores: SingleArray, candidates: int, bound: float) -> float:
    """Give an upper bound of the highest score, close to it, by a maximum over integers.

    A maximum over floats would not become a vector loop, because of what NaN would mean.
    """
    scale = np.float32(2.0**30 / bound)
    best = np.int32(-(2**31) + 1)
    for c in range(candidates):
        scaled = scores[c] * scale
        scaled = scaled if scaled > np.float32(-2e9) else np.float32(-2e9)
        rounded = np.int32(scaled if scaled < np.float32(2e9) else np.float32(2e9))
        best = rounded if rounded > best else best
    return (best + 1.0) / scale


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


@inlined
def best_class(
    problem: Problem, terms: Terms, ready: Ready, scratch: Scratch, rule: Rule, element: int
) -> int:
    """Give the class where F is highest: another one only if it is so by more than the threshold.

    Ties go to the present class, then to the lowest number.
    """
    totals, sizes, scores = problem.table.totals, problem.sizes[element], scratch.scores
    present = wide(problem.classes[element])
    if not may_leave(totals, sizes, present, terms.discount):
        return present
    profile = build_profile(problem.events, scratch.slots, element, present, problem.tied)
    own = value_in_own(problem.table.cells, terms.pair_values, terms.pair_shift, profile)
    mine = own.terms + total_terms(totals, sizes, terms, present, True)
    # A score is at most size (log N + 2).
    bound = 32.0 * (sizes[0] + sizes[sizes.size - 1] + 1) + abs(own.terms)
    renew_total_row(problem.table.single_totals, sizes, terms.total_shift, scratch)
    # The highest score is known to 2^-30 of the bound.
    error = 2e-9 * bound + score_rows(problem.table, terms, ready, scratch, profile, bound)
    if terms.discount > 0.0:
        add_global_term(problem, terms.discount, scratch, element, own)
        if sizes[0] == 1 or sizes[sizes.size - 1] == 1:
            for c in range(problem.candidates):
                if not may_join(totals, sizes, c, terms.discount):
                    scores[c] = IMPOSSIBLE
    scores[present] = IMPOSSIBLE
    offset, scale = 0, 0.0
    if rule.temperature > 0.0:
        offset = noise_offset(rule.seed, element)
        scale = rule.temperature * np.sqrt(float(max(sizes[0], sizes[sizes.size - 1])))
        add_noise(scores[: problem.candidates], rule, offset, scale)
        mine += scale * rule.noise[offset + present]
        bound += 32.0 * scale
        error += 1e-6 * scale
    top = highest_score(scores, problem.candidates, bound)
    slack = mine - top
    # Whether an element is restless must not hang on rounding, nor on the form of the table.
    limit = RESTLESS * np.sqrt(sizes[0] + (sizes[1] if sizes.size > 1 else 0) + 1.0)
    unclear = abs(slack - limit) <= error
    best = present
    if slack <= error - rule.threshold or unclear:
        highest, nearest = rule.threshold, -np.inf
        tie = ROUNDING * (1.0 + abs(own.terms))
        classes = Classes(problem.table.cells, totals, problem.numbers, problem.side)
        # What the element must nearly gain for either question to be answered with yes.
        asked = -limit if unclear else rule.threshold
        cut = max(top - 2 * error, mine + asked - error)
        for c in range(problem.candidates):
            if scores[c] >= cut:
                gain = gain_of(classes, terms, profile, sizes, own, c)
                if scale > 0.0:
                    gain += scale * (rule.noise[offset + c] - rule.noise[offset + present])
                nearest = gain if gain > nearest else nearest
                if gain > highest + tie:
                    best, highest = c, gain
        slack = -nearest if unclear else slack
    clear_weights(profile)
    if scale == 0.0:
        problem.slacks[element] = slack if slack > 0.0 else 0.0
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
    terms, ready = criterion
    for side in range(scratch.total_sizes.size):
        scratch.total_sizes[side] = -1
    for i in range(elements.size):
        proposals[i] = best_class(problem, terms, ready, scratch, rule, elements[i])
