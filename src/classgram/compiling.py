"""Compiles the kernel that takes longest in a process of its own, so that a first run waits less.

Numba compiles one function at a time in a process. What the other process compiles reaches this one
through Numba's cache on disk.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from classgram.criteria import MaximumLikelihood
from classgram.engine import available_threads
from classgram.events import Events, SparseRows
from classgram.kernels.exchange import apply_proposals
from classgram.kernels.problem import Rule
from classgram.kernels.proposals import propose_classes
from classgram.state import Numbering, State, tied_state

_other: list[subprocess.Popen[bytes]] = []
"""The process at work, if there is one."""


def compile_ahead() -> None:
    """Begin to compile the proposals' kernel elsewhere, unless it is compiled already."""
    if _other or is_compiled() or available_threads() < 2:
        return
    command = [sys.executable, "-m", "classgram.compiling"]
    nothing = subprocess.DEVNULL
    # Whatever goes wrong there, this process then compiles for itself.
    _other.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing))


def await_kernels() -> None:
    """Wait for what is compiled elsewhere, and compile the rest meanwhile."""
    if _other:
        compile_applying()
        _other.pop().wait()


def is_compiled() -> bool:
    """Say whether the cache holds the proposals' kernel, or there is no cache or no compiler."""
    path = getattr(getattr(propose_classes, "stats", None), "cache_path", None)
    return path is None or any(Path(path).glob("proposals.propose_classes-*.nbi"))


def smallest_state() -> State:
    """Give a state of two words: its arrays have the types that all states have."""
    rows = SparseRows(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1, 1], np.int32))
    return tied_state(
        Events(2, 2, rows, rows), MaximumLikelihood(), np.zeros(2, np.int32), Numbering(1, 0), 1
    )


def compile_proposing() -> None:
    """Compile the kernel that proposes."""
    state, nothing, rule = smallest_state(), np.zeros(0, np.int32), idle_rule()
    side = state.sides[0]
    criterion = (state.terms, state.ready)
    propose_classes(side.problem, criterion, side.scratch(), nothing, np.zeros(0, np.int64), rule)


def compile_applying() -> None:
    """Compile the kernel that applies."""
    state, nothing, rule = smallest_state(), np.zeros(0, np.int32), idle_rule()
    side = state.sides[0]
    criterion, slots = (state.terms, state.ready), side.scratch().slots
    apply_proposals(side.problem, side.mirror, criterion, slots, nothing, np.zeros(0, np.int64), rule)


def idle_rule() -> Rule:
    """Give a rule for rounds without elements."""
    return Rule(0.0, 0.0, 0, np.zeros(1, np.float32))


if __name__ == "__main__":
    compile_proposing()
