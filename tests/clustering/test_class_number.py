"""The choice of the number of classes, with a criterion that is known."""

import numpy as np
import pytest

from classgram.clustering.class_number import choose_class_number
from classgram.clustering.problem import ClusteringProblem, make_problem
from classgram.clustering.search.state import State
from classgram.options import ClusterOptions
from classgram.runtime.progress import silent
from tests.helpers.texts import counts_of, synthetic_text


class Known:
    """A state that only knows its number of classes and what these are worth."""

    def __init__(self, state: State, worth: float) -> None:
        self.numberings, self.maps, self.criterion = state.numberings, state.maps, state.criterion
        self.worth = worth

    def value(self) -> float:
        return self.worth


@pytest.mark.parametrize("best", [3, 24, 100])
@pytest.mark.parametrize("slope", [0.0, 0.01])
def test_the_smallest_number_that_is_as_good_as_the_best_tried(best: int, slope: float) -> None:
    problem = make_problem(counts_of(synthetic_text(20, 12, 900)[0]), ClusterOptions())

    def bits(number: int) -> float:
        """F a word: it rises up to ``best`` classes and then falls slowly, or stays."""
        return min(number, best) * 0.05 - max(number - best, 0) * slope

    def climb(judged: ClusteringProblem, state: State) -> State:
        worth = bits(state.numberings[-1].candidates) * judged.events.total * float(np.log(2))
        return Known(state, worth)  # type: ignore[return-value]

    number, curve = choose_class_number(problem, climb, silent)
    tried = [classes for classes, _ in curve]
    # What is looked for is as good as the best of the numbers by doubling; between them are more.
    highest = max(bits(n) for n in tried if n & (n - 1) == 0 or n == max(tried))
    good = next(n for n in range(1, max(tried) + 1) if highest - bits(n) < 0.005)
    assert good <= number <= max(1.02 * good, good + 1)
    assert number in tried


def test_a_number_that_was_asked_for_is_taken() -> None:
    problem = make_problem(counts_of(["a b c a b"] * 3), ClusterOptions(classes=2))

    def climb(judged: ClusteringProblem, state: State) -> State:
        raise AssertionError("nothing is to be tried")

    assert choose_class_number(problem, climb, silent) == (2, ())
