"""The highest of many scores, beside a plain sort."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from classgram.kernels import lean_kernel
from classgram.kernels.ranking import BLOCK, find_tops, list_highest, replace_score
from tests import reference_clustering as naive

SCORES = st.one_of(
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([0.0, -0.0, 1.0, 2.0, -3e38, 1e-40, -1e-40]),
)


@lean_kernel
def ranked(
    blocks: NDArray[np.float32],
    tops: NDArray[np.float32],
    change: tuple[int, float],
    limit: float,
    columns: NDArray[np.int32],
    room: NDArray[np.float32],
) -> float:
    """Change one score, and list the highest."""
    top = find_tops(blocks, tops)
    replace_score(blocks, tops, change[0], change[1])
    list_highest(blocks, tops, (limit, max(top, change[1])), columns, room)
    return top


@given(st.data(), st.integers(1, 12), st.integers(1, 9))
def test_the_highest_scores_are_listed(data: st.DataObject, blocks: int, most: int) -> None:
    size = blocks * BLOCK
    scores = np.array(data.draw(st.lists(SCORES, min_size=size, max_size=size)), np.float32)
    changed, score = data.draw(st.integers(0, size - 1)), float(data.draw(SCORES))
    limit = float(np.float32(data.draw(st.one_of(SCORES, st.just(-3.4e38)))))
    columns, room = np.zeros(most, np.int32), np.zeros(most, np.float32)
    highest = float(scores.max())
    tops = np.zeros(blocks, np.float32)
    top = ranked(scores.reshape(-1, BLOCK), tops, (changed, score), limit, columns, room)
    assert top == highest
    assert scores[changed] == np.float32(score)
    assert tops.tolist() == scores.reshape(-1, BLOCK).max(axis=1).tolist()
    listed = columns.tolist()
    found = listed[: listed.index(-1)] if -1 in listed else listed
    assert found == naive.highest_columns(scores.tolist(), limit, most)
