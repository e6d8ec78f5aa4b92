"""Rounds of one element are the paper's algorithm, move by move."""

from hypothesis import given, settings

from classgram.clustering._kernels.side_arrays import MoveRule
from classgram.clustering.exchange import climb
from classgram.clustering.search.engine import LocalEngine, LocalRounds
from classgram.clustering.search.schedule import Ending
from classgram.clustering.search.state import State
from classgram.clustering.start import begin_with
from classgram.clustering.watch import Watch
from classgram.options import SearchOptions
from classgram.runtime.compiled.arrays import Int32Array, Int64Array
from tests.clustering.naive_exchange import Move, naive_exchange
from tests.helpers.clustering import Case, cases


class RecordingEngine(LocalEngine):
    """An engine that notes every move of rounds of one element."""

    def __init__(self) -> None:
        super().__init__(1)
        self.moves: list[Move] = []

    def rounds(self, state: State, side: int, rule: MoveRule, runners_up: bool) -> LocalRounds:
        rounds = super().rounds(state, side, rule, runners_up)
        apply = rounds.apply

        def noted(elements: Int32Array, proposals: Int64Array) -> int:
            moved = apply(elements, proposals)
            if moved:
                self.moves.append(Move(side, int(elements[0]), int(proposals[0])))
            return moved

        rounds.apply = noted  # type: ignore[method-assign]
        return rounds


def naive_moves(case: Case) -> list[Move]:
    """The moves of the naive twin from the same start."""
    contexts, words = case.maps()
    maps = [words, words if case.problem.tied else contexts]
    sides = case.state.sides
    orders = [side.movable.tolist() for side in sides]
    candidates = [side.arrays.candidates for side in sides]
    return list(naive_exchange(case.pairs, maps, orders, candidates, case.state.criterion.discount))


@settings(max_examples=80)
@given(cases())
def test_batches_of_one_are_the_naive_exchange_move_by_move(case: Case) -> None:
    expected = naive_moves(case)
    progress = begin_with(case.problem, SearchOptions(batch=1), case.state)
    engine = RecordingEngine()
    assert climb(progress, engine, Watch(progress)) is Ending.CONVERGED
    assert engine.moves == expected
