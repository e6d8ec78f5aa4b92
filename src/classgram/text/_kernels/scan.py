"""Bytes to word ids: a scan of white-space separated words through an open-addressing hash table."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from classgram.runtime.compiled import inlined, kernel_part, lean_kernel
from classgram.text._kernels.eight_bytes import ONE, TOP_BITS, ZERO, first_marked, load_eight

# What the scan stopped at.
DONE, FULL, SYMBOL = 0, 1, 2

# Fields of the scanner's state, an int64 array that lives from chunk to chunk.
POSITION, WRITTEN, WORDS_IN_LINE, TYPES, BYTES, STATUS = range(6)
STATE_SIZE = 6

# What is done with <s> and </s> in the text.
REFUSE, SKIP, ALLOW = 0, 1, 2

_UNK, _BOS, _EOS = 0, 1, 2

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_LONG = np.uint64(1 << 40)
_ID = np.uint64((1 << 40) - 1)
_TWO = np.uint64(2)
_HALF = np.uint64(32)
_BELOW_33 = np.uint64(0x2121212121212121)


class WordTable(NamedTuple):
    """An open-addressing hash table from words to ids in order of insertion.

    slots: uint64, two for each of a power of two of places: a word's key, and its id + 1 (0 where
    the place is empty). A word of up to eight bytes is its own key, since text holds no NUL byte,
    and needs no comparison; a longer one has a hash for a key, and a bit beside its id says so.
    ends: int64, by id, where a word's bytes end in ``letters``; counts: int64, by id.
    """

    slots: npt.NDArray[np.uint64]
    ends: npt.NDArray[np.int64]
    letters: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]


class Rules(NamedTuple):
    """How the scan treats what it meets, as plain numbers."""

    symbols: int
    insert: int
    blank_lines: int


@kernel_part
def same_bytes(
    table: WordTable, word: np.int64, data: npt.NDArray[np.uint8], first: int, length: int
) -> bool:
    """Whether a stored word of more than eight bytes is the one in the data."""
    start = np.int64(0)
    if word > 0:
        start = table.ends[word - 1]
    if table.ends[word] - start != length:
        return False
    # Eight at a time; the last eight may overlap with those before.
    for k in range(0, length - 8, 8):
        if load_eight(table.letters, np.uint64(start + k)) != load_eight(data, np.uint64(first + k)):
            return False
    k = length - 8
    return load_eight(table.letters, np.uint64(start + k)) == load_eight(data, np.uint64(first + k))  # type: ignore[no-any-return]


@kernel_part
def first_place(key: np.uint64, places: np.uint64) -> np.uint64:
    """Where the search for a key begins."""
    mixed = key * _PRIME
    return (mixed ^ (mixed >> _HALF)) & (places - ONE)


@inlined
def find_place(
    table: WordTable, key: np.uint64, data: npt.NDArray[np.uint8], first: int, length: int
) -> np.uint64:
    """The place that holds a word, or the empty one where it belongs."""
    places = np.uint64(table.slots.size >> 1)
    place = first_place(key, places)
    while True:
        entry = table.slots[_TWO * place + ONE]
        if entry == ZERO:
            return place
        if table.slots[_TWO * place] == key:
            if length <= 8:
                if entry < _LONG:
                    return place
            elif entry >= _LONG and same_bytes(table, np.int64(entry & _ID) - 1, data, first, length):
                return place
        place = (place + ONE) & (places - ONE)


@kernel_part
def insert_word(
    table: WordTable,
    state: npt.NDArray[np.int64],
    where: tuple[np.uint64, np.uint64],
    data: npt.NDArray[np.uint8],
    span: tuple[int, int],
) -> None:
    """Give a new word the next id and store its bytes."""
    place, key = where
    first, length = span
    word = state[TYPES]
    used = state[BYTES]
    for k in range(length):
        table.letters[used + k] = data[first + k]
    table.ends[word] = used + length
    table.slots[_TWO * place] = key
    entry = np.uint64(word + 1)
    if length > 8:
        entry |= _LONG
    table.slots[_TWO * place + ONE] = entry
    state[TYPES] = word + 1
    state[BYTES] = used + length


@kernel_part
def separates(byte: np.uint8) -> bool:
    """Whether a byte separates words."""
    return byte == 32 or (byte >= 9 and byte <= 13)  # type: ignore[return-value]


@kernel_part
def extended(key: np.uint64, eight: np.uint64) -> np.uint64:
    """The key of a word that goes on, up to eight bytes at a time; the first eight are their own key."""
    return ((key ^ (key >> _HALF)) * _PRIME) ^ eight


# As in the search for a place: a word takes 16 ns in all, and a call would be a good part of that.
@inlined
def read_word(data: npt.NDArray[np.uint8], position: int) -> tuple[np.uint64, int]:
    """A word's key and its end; the word begins at the position.

    Eight bytes are looked at together: the lowest byte below 33 is found by a subtraction that
    borrows into its top bit, and is the word's end if it is a separator and no other control byte.
    """
    key = ZERO
    end = position
    found = False
    while end + 8 <= data.size:
        eight = load_eight(data, np.uint64(end))
        low = (eight - _BELOW_33) & ~eight & TOP_BITS
        if low == ZERO:
            key = extended(key, eight)
            end += 8
            continue
        length = first_marked(low)
        found = separates(data[np.uint64(end + length)])
        if found and length > 0:
            key = extended(key, eight & ((ONE << np.uint64(8 * length)) - ONE))
            end += length
        break
    if not found:
        key, end = read_slowly(data, key, end)
    return key, end


@kernel_part
def read_slowly(data: npt.NDArray[np.uint8], key: np.uint64, position: int) -> tuple[np.uint64, int]:
    """The key and the end of a word that goes on at a position, from its bytes one by one."""
    eight = ZERO
    length = 0
    while position < data.size and not separates(data[position]):
        eight |= np.uint64(data[position]) << np.uint64(8 * length)
        length += 1
        position += 1
        if length == 8:
            key = extended(key, eight)
            eight = ZERO
            length = 0
    if length > 0:
        key = extended(key, eight)
    return key, position


@lean_kernel
def scan(
    data: npt.NDArray[np.uint8],
    table: WordTable,
    rules: Rules,
    out: npt.NDArray[np.int32],
    state: npt.NDArray[np.int64],
) -> None:
    """Turn a chunk of bytes into word ids, from state[POSITION] on; </s> closes each line.

    Stops early, with state[STATUS] saying why, where the table must grow or at a symbol; a later
    call goes on from there. ``out`` must hold as many ids as the data has bytes.
    """
    position = state[POSITION]
    written = state[WRITTEN]
    in_line = state[WORDS_IN_LINE]
    size = data.size
    state[STATUS] = DONE
    while position < size:
        byte = data[np.uint64(position)]
        if byte == 10:
            if in_line > 0 or rules.blank_lines == 1:
                out[written] = _EOS
                written += 1
            in_line = 0
            position += 1
            continue
        if separates(byte):
            position += 1
            continue
        key, end = read_word(data, position)
        place = find_place(table, key, data, position, end - position)
        entry = table.slots[_TWO * place + ONE]
        if entry != ZERO:
            word = np.int64(entry & _ID) - 1
        elif rules.insert == 0:
            word = np.int64(_UNK)
        else:
            word = state[TYPES]
            if (
                word * 4 >= table.slots.size
                or word >= table.ends.size
                or state[BYTES] + (end - position) > table.letters.size
            ):
                state[STATUS] = FULL
                break
            insert_word(table, state, (place, key), data, (position, end - position))
        if (word == _BOS or word == _EOS) and rules.symbols != ALLOW:
            if rules.symbols == REFUSE:
                state[STATUS] = SYMBOL
                break
            position = end
            continue
        out[written] = word
        written += 1
        in_line += 1
        position = end
    # In a loop of its own: a count that is changed may be asked for again just behind.
    for k in range(state[WRITTEN], written):
        table.counts[out[k]] += 1
    state[POSITION] = position
    state[WRITTEN] = written
    state[WORDS_IN_LINE] = in_line


@lean_kernel
def rehash(old: npt.NDArray[np.uint64], slots: npt.NDArray[np.uint64]) -> None:
    """Enter the words of one set of slots into another, empty one."""
    places = np.uint64(slots.size >> 1)
    for k in range(old.size >> 1):
        if old[2 * k + 1] != ZERO:
            place = first_place(old[2 * k], places)
            while slots[_TWO * place + ONE] != ZERO:
                place = (place + ONE) & (places - ONE)
            slots[_TWO * place] = old[2 * k]
            slots[_TWO * place + ONE] = old[2 * k + 1]


@lean_kernel
def gather_words(table: WordTable, order: npt.NDArray[np.int64], out: npt.NDArray[np.uint8]) -> int:
    """Write the words with the given ids one after another, each ended by a line end."""
    written = 0
    for word in order:
        start = np.int64(0)
        if word > 0:
            start = table.ends[word - 1]
        for k in range(start, table.ends[word]):
            out[written] = table.letters[k]
            written += 1
        out[written] = 10
        written += 1
    return written
