"""Bytes tested and changed eight at a time, in a kernel of the tests' own (see OWN_KERNELS)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classgram.runtime.compiled import kernel
from classgram.text._kernels.eight_bytes import lower_eight, plain_bytes


@kernel
def ask_eight(eight: np.uint64) -> tuple[np.uint64, np.uint64]:
    """What parts of kernels, which have no way in from Python, say of eight bytes."""
    return lower_eight(eight), plain_bytes(eight)


@given(
    st.lists(st.sampled_from(b"aAzZ09 @[`{/:!\n\x00\x7f\x80\xa0\xc1\xe9\xff"), min_size=8, max_size=8).map(
        bytes
    )
)
def test_eight_bytes_at_a_time_equal_the_naive_twins(data: bytes) -> None:
    with np.errstate(over="ignore"):
        lower, plain = ask_eight(np.uint64(int.from_bytes(data, "little")))
    assert int(lower).to_bytes(8, "little") == data.lower()
    expected = [0x80 if bytes([byte]).isalnum() or byte == 32 else 0 for byte in data]
    assert list(int(plain).to_bytes(8, "little")) == expected
