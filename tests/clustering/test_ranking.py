"""The highest of many scores, beside a plain sort."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from classgram.clustering._kernels.ranking import BLOCK, find_tops, list_highest
from classgram.runtime.compiled import lean_kernel
from tests.clustering import naive_clustering as naive

SCORES = st.one_of(
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([0.0, -0.0, 1.0, 2.0, -3e38, 1e-40, -1e-40]),
)


@lean_kernel
def ranked(
    blocks: NDArray[np.float32],
    tops: NDArray[np.float32],
    limit: float,
    columns: NDArray[np.int32],
    room: NDArray[np.float32],
) -> float:
    """List the highest scores."""
    top = find_tops(blocks, tops)
    list_highest(blocks, tops, limit, top, columns, room)
    return top


@given(st.data(), st.integers(1, 12), st.integers(1, 9))
def test_the_highest_scores_are_listed(data: st.DataObject, blocks: int, most: int) -> None:
    size = blocks * BLOCK
    scores = np.array(data.draw(st.lists(SCORES, min_size=size, max_size=size)), np.float32)
    limit = float(np.float32(data.draw(st.one_of(SCORES, st.just(-3.4e38)))))
    columns, room = np.zeros(most, np.int32), np.zeros(most, np.float32)
    highest = float(scores.max())
    tops = np.zeros(blocks, np.float32)
    top = ranked(scores.reshape(-1, BLOCK), tops, limit, columns, room)
    assert top == highest
    assert tops.tolist() == scores.reshape(-1, BLOCK).max(axis=1).tolist()
    listed = columns.tolist()
    found = listed[: listed.index(-1)] if -1 in listed else listed
    assert found == naive.highest_columns(scores.tolist(), limit, most)
