"""Files as streams of bytes: packed ones are unpacked, and a damaged or cut one is an error."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from classgram.errors import InputError

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionObj

BUFFER = 1 << 20
"""Bytes read from a file at a time."""

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
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
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
            with PACKED.get(kind, nullcontext)(counted) as file:
                yield file
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise broken(path, error) from None
    except OSError as error:
        # The unpackers' own complaints are OSErrors without a number.
        if error.errno is None:
            raise broken(path, error) from None
        raise InputError(f"{display_name(path)}: cannot be read: {error.strerror}") from None


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
