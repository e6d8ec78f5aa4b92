"""Files as streams of bytes: compressed ones are decompressed, and a damaged or cut one is an error."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from classgram.errors import InputError

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionObj

_BUFFER_BYTES = 1 << 20
"""Bytes read from a file at a time."""

_BLOCK_BYTES = 4 << 20
"""Bytes that are decompressed ahead while others are worked on."""

_PIECE_BYTES = 1 << 16
"""Decompressed bytes asked for at a time."""

_ZST_INPUT_BYTES = 1 << 14
"""Bytes of a .zst file decompressed at a time: few, since highly repetitive text grows a thousandfold."""

_ZST_WINDOW_BYTES = 1 << 31
"""The farthest a .zst file may look back, as far as ``zstd --long=31`` goes."""


@dataclass
class ByteCount:
    """The bytes read from files so far, for a progress bar."""

    total: int = 0


class _CountingFile(io.RawIOBase):
    """A raw file that counts the bytes read from it."""

    def __init__(self, file: IO[bytes], count: ByteCount) -> None:
        self._file = cast(io.RawIOBase, file)
        self._count = count

    def readable(self) -> bool:
        """Whether the file can be read from: always."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read into a buffer, and count."""
        size = self._file.readinto(buffer) or 0  # type: ignore[arg-type]
        self._count.total += size
        return size


class _ZstFile(io.RawIOBase):
    """The decompressed bytes of a .zst file, all its frames; one that ends within a frame is an error.

    The zstandard package's own reader takes a file that was cut short for a whole one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._file = file
        self._error = zstandard.ZstdError
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZST_WINDOW_BYTES)
        self._frame: ZstdDecompressionObj | None = None
        self._unused = b""
        self._decompressed = memoryview(b"")

    def readable(self) -> bool:
        """Whether the file can be read from: always."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with decompressed bytes, as far as the next ones reach."""
        while not self._decompressed:
            if not self._decompress_more():
                return 0
        count, self._decompressed = _take(self._decompressed, buffer)
        return count

    def _decompress_more(self) -> bool:
        """Decompress the next few bytes of the file; return false at its end."""
        compressed = self._unused or self._file.read(_ZST_INPUT_BYTES)
        if not compressed:
            if self._frame is not None:
                raise EOFError("it ends within a frame")
            return False
        frame = self._frame = self._frame or self._decompressor.decompressobj()
        try:
            self._decompressed = memoryview(frame.decompress(compressed))
        except self._error as error:
            raise OSError(str(error)) from None
        self._unused = frame.unused_data
        if frame.eof:
            self._frame = None
        return True


class _AheadFile(io.RawIOBase):
    """The bytes of a compressed file: while one block is worked on, a thread decompresses the next."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1)
        self._decompressed = memoryview(b"")
        # Two blocks in turn, because new memory would cost time for each.
        self._blocks = cycle([memoryview(bytearray(_BLOCK_BYTES)), memoryview(bytearray(_BLOCK_BYTES))])
        self._coming = self._thread.submit(self._decompress, next(self._blocks))

    def readable(self) -> bool:
        """Whether the file can be read from: always."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with decompressed bytes, as far as the block reaches."""
        if not self._decompressed:
            # What went wrong in the thread is raised here.
            self._decompressed = self._coming.result()
            if self._decompressed:
                self._coming = self._thread.submit(self._decompress, next(self._blocks))
        count, self._decompressed = _take(self._decompressed, buffer)
        return count

    def _decompress(self, block: memoryview) -> memoryview:
        """Fill a block as far as the file reaches."""
        filled = 0
        while filled < len(block) and (piece := self._file.read(min(_PIECE_BYTES, len(block) - filled))):
            block[filled : filled + len(piece)] = piece
            filled += len(piece)
        return block[:filled]

    def close(self) -> None:
        """Let the thread finish its block, and close the file."""
        self._thread.shutdown()
        self._file.close()
        super().close()


def _take(available: memoryview, buffer: object) -> tuple[int, memoryview]:
    """Fill a buffer from available bytes; return how many it took, and the others."""
    target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
    count = min(len(target), len(available))
    target[:count] = available[:count]
    return count, available[count:]


COMPRESSED: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": lambda file: cast(IO[bytes], gzip.GzipFile(fileobj=file)),
    ".bz2": lambda file: cast(IO[bytes], bz2.BZ2File(file)),
    ".xz": lambda file: cast(IO[bytes], lzma.LZMAFile(file)),
    ".zst": lambda file: cast(IO[bytes], io.BufferedReader(_ZstFile(file), _BUFFER_BYTES)),
}
"""How a compressed file is opened, by the ending of its name."""


def display_name(path: Path) -> str:
    """Return what messages call a file."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_decompressed(path: Path, count: ByteCount | None = None) -> Iterator[IO[bytes]]:
    """Open a file, or standard input, to read from, decompressed as the ending of its name says.

    ``count`` is increased by the bytes read from the disk. Whatever goes wrong with the file while the
    block runs is an InputError.
    """
    try:
        with _open_raw(path) as raw:
            counted = cast(
                IO[bytes], io.BufferedReader(_CountingFile(raw, count or ByteCount()), _BUFFER_BYTES)
            )
            with _decompressed(counted, path.suffix.lower()) as file:
                yield file
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise _broken(path, error) from None
    except OSError as error:
        # The decompressors' own complaints are OSErrors without a number.
        if error.errno is None:
            raise _broken(path, error) from None
        raise InputError(f"{display_name(path)}: cannot be read: {error.strerror}") from None


def _decompressed(file: IO[bytes], ending: str) -> AbstractContextManager[IO[bytes]]:
    """Decompress a file in a thread of its own; return one with another ending as it is."""
    if ending not in COMPRESSED:
        return nullcontext(file)
    return cast(IO[bytes], io.BufferedReader(_AheadFile(COMPRESSED[ending](file)), _BUFFER_BYTES))


def _open_raw(path: Path) -> AbstractContextManager[IO[bytes]]:
    """Open a file as it is on disk; standard input stays open after the block."""
    if str(path) != "-":
        return cast(IO[bytes], path.open("rb", buffering=0))
    # Python starts without one if the shell closed it.
    if cast(object, sys.stdin) is None:
        raise InputError("standard input: is closed; name a file instead of -")
    return nullcontext(sys.stdin.buffer)


def _broken(path: Path, error: Exception) -> InputError:
    """Return the error for a compressed file that cannot be decompressed."""
    ending = path.suffix.lower().lstrip(".")
    return InputError(
        f"{display_name(path)}: broken or cut short {ending} file ({str(error).splitlines()[0]}); "
        "fetch or compress it again, or drop the ending from its name if it is not compressed"
    )
