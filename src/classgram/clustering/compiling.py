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
from classgram.clustering._kernels.proposals import propose_classes, renew_total_row
from classgram.clustering._kernels.runners_up import Look, remember_look
from classgram.clustering._kernels.side_arrays import Profile, Rule, Scratch
from classgram.clustering.criteria import MaximumLikelihood
from classgram.clustering.search.merge_split import merge_losses
from classgram.clustering.search.state import Numbering, State, tied_state
from classgram.counts.events import Events, SparseRows
from classgram.runtime.compiled import Kernel, frozen
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
    criterion = (state.terms, state.ready)
    compile_larger_parts(state)
    compile_smaller_parts(state)
    propose_classes(side.problem, criterion, side.scratch(), nothing, np.zeros(0, np.int64), rule)


def compile_larger_parts(state: State) -> None:
    """Compile the parts of the proposals' kernel that take longest."""
    problem, scratch = state.sides[0].problem, state.sides[0].scratch()
    profile = empty_profile(scratch)
    compile_for(add_differences, problem.table, (state.terms, state.ready), profile, scratch, 0)
    sizes, candidates = problem.sizes[0], problem.candidates
    compile_for(renew_total_row, problem.table.single_totals, sizes, 0.0, scratch, candidates)


def compile_smaller_parts(state: State) -> None:
    """Compile other parts of the proposals' kernel."""
    problem, scratch = state.sides[0].problem, state.sides[0].scratch()
    table, values, profile = problem.table, state.terms.pair_values, empty_profile(scratch)
    target = Corrections(values, scratch.scores, scratch.once, scratch.seen, 0.0, True)
    compile_for(count_seen, table.codes, profile, scratch)
    compile_for(correct_tied_scores, table, profile, target)
    compile_for(remember_look, problem, scratch, 0, 0, Look(0.0, 0.0, 0.0))


def empty_profile(scratch: Scratch) -> Profile:
    """Give the profile of an element that occurs with nothing."""
    keys, amounts, weights = scratch.slots
    return Profile(keys, amounts, weights, 0, 0, 0, 0, 0)


def compile_for(part: Any, *arguments: Any) -> None:
    """Compile a part of kernels, which cannot be called, for arguments of these types."""
    if isinstance(part, Kernel):
        part.compile_for(*arguments)


def compile_applying() -> None:
    """Compile the kernel that applies."""
    state, nothing, rule = smallest_state(), np.zeros(0, np.int32), idle_rule()
    side = state.sides[0]
    criterion, slots = (state.terms, state.ready), side.scratch().slots
    apply_proposals(side.problem, side.mirror, criterion, slots, nothing, np.zeros(0, np.int64), rule)


def idle_rule() -> Rule:
    """Give a rule for rounds without elements."""
    return Rule(0.0, 0.0, 0.0, 0.0, 0, np.zeros(1, np.float32))


def compile_renewing() -> None:
    """Compile the kernel that renews what a table keeps ready."""
    state = smallest_state()
    table = state.sides[0].problem.table
    renew_rows(table, (state.terms, state.ready), 0, 1)


if __name__ == "__main__":
    compile_proposing()
    compile_renewing()
