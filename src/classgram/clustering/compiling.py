"""Compiles the kernel that takes longest, and another, in a process of their own: a first run waits less.

Numba compiles one function at a time in a process. What the other process compiles reaches this one
through the disk.
"""

import subprocess
import sys
import threading
from typing import Any

import numpy as np

from classgram.clustering._kernels.class_table import renew_rows
from classgram.clustering._kernels.dense_scores import (
    Corrections,
    add_differences,
    correct_tied_scores,
    count_seen,
)
from classgram.clustering._kernels.moves import apply_proposals
from classgram.clustering._kernels.proposals import propose_classes, renew_class_terms
from classgram.clustering._kernels.runners_up import Evaluation, remember_evaluation
from classgram.clustering._kernels.score_errors import Magnitude
from classgram.clustering._kernels.side_arrays import Buffers, MoveRule, Profile
from classgram.clustering.criteria import MaximumLikelihood
from classgram.clustering.problem import Numbering
from classgram.clustering.search.merge_split import merge_losses
from classgram.clustering.search.state import State, tied_state
from classgram.counts._kernels.sparse_rows import SparseRows
from classgram.counts.events import Events
from classgram.runtime.compiled import frozen
from classgram.runtime.compiled.calling import Kernel
from classgram.runtime.threads import available_threads

_other: list[subprocess.Popen[bytes]] = []
"""The process at work, if there is one."""

_lock = threading.Lock()
"""Several clusterings may start at the same time: one of them compiles, and the others wait for it."""


def compile_ahead() -> None:
    """Begin to compile the proposals' kernel elsewhere, unless it is compiled already."""
    with _lock:
        if _other or is_compiled() or available_threads() < 2:
            return
        command = [sys.executable, "-m", "classgram.clustering.compiling"]
        nothing = subprocess.DEVNULL
        # Whatever goes wrong there, this process then compiles for itself.
        _other.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing))
        # What both need is compiled here, and the other process comes to it later.
        compile_smaller_parts(smallest_state())
        compile_applying()


def await_kernels() -> None:
    """Wait for what is compiled elsewhere, and compile what regrouping needs meanwhile."""
    with _lock:
        if _other:
            merge_losses(smallest_state().sides[0])
            _other.pop().wait()


def is_compiled() -> bool:
    """Say whether the disk holds the proposals' kernel, or there is no compiler."""
    return not isinstance(propose_classes, Kernel) or propose_classes.is_stored


def smallest_state() -> State:
    """Give a state of two words: its arrays have the types that all states have."""
    places, columns, counts = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1, 1], np.int32)
    rows = SparseRows(frozen(places), frozen(columns), frozen(counts))
    return tied_state(
        Events(2, 2, rows, rows), MaximumLikelihood(), np.zeros(2, np.int32), Numbering(1, 0), 1
    )


def compile_proposing() -> None:
    """Compile the kernel that proposes, its parts that no other kernel has first."""
    state, nothing, rule = smallest_state(), np.zeros(0, np.int32), idle_rule()
    side = state.sides[0]
    criterion = state.kernel_criterion
    compile_larger_parts(state)
    compile_smaller_parts(state)
    propose_classes(side.arrays, criterion, side.buffers(), nothing, np.zeros(0, np.int64), rule)


def compile_larger_parts(state: State) -> None:
    """Compile the parts of the proposals' kernel that take longest."""
    arrays, buffers = state.sides[0].arrays, state.sides[0].buffers()
    profile = empty_profile(buffers)
    compile_for(
        add_differences, arrays.table, state.kernel_criterion, profile, buffers, Magnitude(0.0, 0.0), 0
    )
    sizes, candidates = arrays.sizes[0], arrays.candidates
    compile_for(renew_class_terms, arrays.table.single_totals, sizes, 0.0, buffers.scores, candidates)


def compile_smaller_parts(state: State) -> None:
    """Compile other parts of the proposals' kernel."""
    arrays, buffers = state.sides[0].arrays, state.sides[0].buffers()
    table, terms, profile = arrays.table, state.kernel_criterion.terms, empty_profile(buffers)
    pair_counts = buffers.pair_counts
    target = Corrections(terms, buffers.scores.scores, pair_counts.once, pair_counts.seen)
    compile_for(count_seen, table.codes, profile, buffers.rows.rows[0], pair_counts)
    compile_for(correct_tied_scores, table, profile, target)
    compile_for(remember_evaluation, arrays, buffers.scores, 0, 0, Evaluation(0.0, 0.0, 0.0))


def empty_profile(buffers: Buffers) -> Profile:
    """Give the profile of an element that occurs with nothing."""
    keys, amounts, weights = buffers.profile
    return Profile(keys, amounts, weights, 0, 0, 0, 0, 0)


def compile_for(part: Any, *arguments: Any) -> None:
    """Compile a part of kernels, which cannot be called, for arguments of these types."""
    if isinstance(part, Kernel):
        part.compile_for(*arguments)


def compile_applying() -> None:
    """Compile the kernel that applies."""
    state, nothing, rule = smallest_state(), np.zeros(0, np.int32), idle_rule()
    side = state.sides[0]
    terms, profile_buffers = state.kernel_criterion.terms, side.buffers().profile
    apply_proposals(side.arrays, side.mirror, terms, profile_buffers, nothing, np.zeros(0, np.int64), rule)


def idle_rule() -> MoveRule:
    """Give a rule for rounds without elements."""
    return MoveRule(0.0, 0.0, 0.0, 0.0, 0, np.zeros(1, np.float32))


def compile_renewing() -> None:
    """Compile the kernel that renews what a table keeps ready."""
    state = smallest_state()
    table = state.sides[0].arrays.table
    renew_rows(table, state.kernel_criterion, 0, 1)


if __name__ == "__main__":
    compile_proposing()
    compile_renewing()
