"""Files as streams of bytes: packed ones are unpacked, and a damaged or cut one is an error."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import cycle
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from classgram.errors import InputError

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionObj

BUFFER = 1 << 20
"""Bytes read from a file at a time."""

AHEAD = 4 << 20
"""Unpacked bytes that are made ready while others are worked on."""

PIECE = 1 << 16
"""Unpacked bytes asked for at a time."""

ZST_BUFFER = 1 << 14
"""Packed bytes unpacked at a time: few, since highly repetitive text grows a thousandfold."""

ZST_WINDOW = 1 << 31
"""The farthest a .zst file may look back, as far as ``zstd --long=31`` goes."""


class CountingFile(io.RawIOBase):
    """A raw file that tells how many bytes were read from it, for the progress bar."""

    def __init__(self, file: IO[bytes], consumed: list[int]) -> None:
        self._file = cast(io.RawIOBase, file)
        self._consumed = consumed

    def readable(self) -> bool:
        """A file to read from."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read into a buffer, and count."""
        count = self._file.readinto(buffer) or 0  # type: ignore[arg-type]
        self._consumed[0] += count
        return count


class ZstFile(io.RawIOBase):
    """The unpacked bytes of a .zst file, all its frames; one that ends within a frame is an error.

    The zstandard package's own reader takes a file that was cut short for a whole one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._file = file
        self._error = zstandard.ZstdError
        self._unpacker = zstandard.ZstdDecompressor(max_window_size=ZST_WINDOW)
        self._frame: ZstdDecompressionObj | None = None
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """A file to read from."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with unpacked bytes, as far as the next ones reach."""
        while not self._ready:
            if not self._unpack_more():
                return 0
        count, self._ready = take(self._ready, buffer)
        return count

    def _unpack_more(self) -> bool:
        """Unpack the next few bytes of the file; false at its end."""
        packed = self._packed or self._file.read(ZST_BUFFER)
        if not packed:
            if self._frame is not None:
                raise EOFError("it ends within a frame")
            return False
        frame = self._frame = self._frame or self._unpacker.decompressobj()
        try:
            self._ready = memoryview(frame.decompress(packed))
        except self._error as error:
            raise OSError(str(error)) from None
        self._packed = frame.unused_data
        if frame.eof:
            self._frame = None
        return True


class AheadFile(io.RawIOBase):
    """The bytes of a packed file: while one block of them is worked on, a thread unpacks the next."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1)
        self._ready = memoryview(b"")
        # Two blocks in turn, because new memory would cost time for each.
        self._blocks = cycle([memoryview(bytearray(AHEAD)), memoryview(bytearray(AHEAD))])
        self._coming = self._thread.submit(self._unpack, next(self._blocks))

    def readable(self) -> bool:
        """A file to read from."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with unpacked bytes, as far as the block reaches."""
        if not self._ready:
            # What went wrong in the thread is raised here.
            self._ready = self._coming.result()
            if self._ready:
                self._coming = self._thread.submit(self._unpack, next(self._blocks))
        count, self._ready = take(self._ready, buffer)
        return count

    def _unpack(self, block: memoryview) -> memoryview:
        """Fill a block as far as the file reaches."""
        filled = 0
        while filled < len(block) and (piece := self._file.read(min(PIECE, len(block) - filled))):
            block[filled : filled + len(piece)] = piece
            filled += len(piece)
        return block[:filled]

    def close(self) -> None:
        """Let the thread end its block."""
        self._thread.shutdown()
        self._file.close()
        super().close()


def take(ready: memoryview, buffer: object) -> tuple[int, memoryview]:
    """Fill a buffer from bytes that are ready; return how many it took, and the others."""
    target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
    count = min(len(target), len(ready))
    target[:count] = ready[:count]
    return count, ready[count:]


Unpack = Callable[[IO[bytes]], IO[bytes]]

PACKED: dict[str, Unpack] = {
    ".gz": lambda file: cast(IO[bytes], gzip.GzipFile(fileobj=file)),
    ".bz2": lambda file: cast(IO[bytes], bz2.BZ2File(file)),
    ".xz": lambda file: cast(IO[bytes], lzma.LZMAFile(file)),
    ".zst": lambda file: cast(IO[bytes], io.BufferedReader(ZstFile(file), BUFFER)),
}


def display_name(path: Path) -> str:
    """What messages call a file."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_unpacked(path: Path, consumed: list[int]) -> Iterator[IO[bytes]]:
    """A file, or standard input, to read from, unpacked as its name says.

    ``consumed`` is kept at the number of bytes read. Whatever goes wrong with the file while the
    block runs is an InputError.
    """
    kind = path.suffix.lower()
    try:
        with open_raw(path) as raw:
            counted = cast(IO[bytes], io.BufferedReader(CountingFile(raw, consumed), BUFFER))
            with unpacked(counted, kind) as file:
                yield file
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise broken(path, error) from None
    except OSError as error:
        # The unpackers' own complaints are OSErrors without a number.
        if error.errno is None:
            raise broken(path, error) from None
        raise InputError(f"{display_name(path)}: cannot be read: {error.strerror}") from None


def unpacked(file: IO[bytes], kind: str) -> AbstractContextManager[IO[bytes]]:
    """A file unpacked as its kind says, in a thread of its own; one that is not packed as it is."""
    if kind not in PACKED:
        return nullcontext(file)
    return cast(IO[bytes], io.BufferedReader(AheadFile(PACKED[kind](file)), BUFFER))


def open_raw(path: Path) -> AbstractContextManager[IO[bytes]]:
    """A file as it lies on disk; standard input stays open behind the block."""
    if str(path) != "-":
        return cast(IO[bytes], path.open("rb", buffering=0))
    # Python starts without one if the shell closed it.
    if cast(object, sys.stdin) is None:
        raise InputError("standard input: is closed; name a file instead of -")
    return nullcontext(sys.stdin.buffer)


def broken(path: Path, error: Exception) -> InputError:
    """The error for a packed file that cannot be unpacked."""
    kind = path.suffix.lower().lstrip(".")
    return InputError(
        f"{display_name(path)}: broken or cut short {kind} file ({str(error).splitlines()[0]}); "
        "fetch or pack it again, or drop the ending from its name if it is not packed"
    )
