"""Results on disk: folders of arrays and texts, written whole or not at all, and checked when read."""

import ctypes
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from classgram._version import __version__
from classgram.errors import InputError

VERSION = 1
"""The version of the folder format; a reader refuses newer ones."""

CONFIG = "config.json"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Folder:
    """A folder whose config.json was read and whose files were found as it lists them."""

    path: Path
    kind: str
    config: dict[str, Any]

    def array(self, name: str, dtype: npt.DTypeLike, ndim: int = 1) -> Array:
        """An array of the folder, memory-mapped, after a check of its type and shape."""
        entry = self.config["arrays"].get(name)
        path = self.path / f"{name}.npy"
        if entry is None:
            raise InputError(f"{self.path / CONFIG}: lists no array {name!r}; make the folder again")
        array = map_array(path)
        described = (array.dtype.str, list(array.shape)) == (entry["dtype"], entry["shape"])
        if not described or array.dtype != np.dtype(dtype) or array.ndim != ndim:
            raise InputError(f"{path}: is not the array that {CONFIG} describes; make the folder again")
        return array

    def text(self, name: str) -> bytes:
        """A text of the folder."""
        return read_bytes(self.path / name)

    def require(self, key: str) -> Any:
        """A value of config.json that must be there."""
        if key not in self.config:
            raise InputError(f"{self.path / CONFIG}: no {key!r}; make the folder again")
        return self.config[key]

    def whole_number(self, key: str) -> int:
        """A value of config.json that must be a whole number."""
        value = self.require(key)
        if not isinstance(value, int):
            raise InputError(f"{self.path / CONFIG}: {key!r} is no number; make the folder again")
        return value

    def verify(self) -> None:
        """Compare every file's checksum with the one in config.json."""
        for name, entry in self.config["arrays"].items():
            array = self.array(name, entry["dtype"], len(entry["shape"]))
            if checksum(np.ascontiguousarray(array).data) != entry["checksum"]:
                raise InputError(
                    f"{self.path / name}.npy: was altered after it was written; make the folder again"
                )
        for name, entry in self.config["texts"].items():
            if checksum(self.text(name)) != entry["checksum"]:
                raise InputError(
                    f"{self.path / name}: was altered after it was written; make the folder again"
                )


def map_array(path: Path) -> Array:
    """An array of a file, memory-mapped; the file must hold that and nothing more."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
        whole = path.stat().st_size == array.offset + array.nbytes
    except Exception as error:
        # NumPy parses a header as Python: what a damaged one raises may be almost anything.
        reason = " ".join(str(error).splitlines()[:1]) or type(error).__name__
        raise InputError(f"{path}: missing or damaged ({reason}); make the folder again") from None
    if not whole:
        raise InputError(f"{path}: holds more than its array; make the folder again")
    return cast(Array, array.view(np.ndarray))


def read_bytes(path: Path) -> bytes:
    """A file's bytes, with an InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def checksum(data: Any) -> str:
    """A short digest of bytes or of an array's memory."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def fingerprint(arrays: Mapping[str, Array], extra: object = None) -> str:
    """A digest of named arrays and plain values: equal for equal content."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    digest.update(json.dumps(extra, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def write_folder(
    path: Path,
    kind: str,
    config: Mapping[str, Any],
    arrays: Mapping[str, Array],
    texts: Mapping[str, bytes] | None = None,
) -> None:
    """Write a result as a folder that appears whole, replacing an earlier result in one step.

    Array names become ``name.npy``; names may hold slashes. A failure removes what was written and
    leaves an earlier result as it was.
    """
    # A link to a result stays one: what it points to is replaced.
    path = path.resolve()
    check_writable(path)
    texts = texts or {}
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise write_error(path, error) from None
    try:
        full = {
            "format": f"classgram-{kind}",
            "version": VERSION,
            "provenance": {"classgram": __version__},
            **config,
            "arrays": {name: write_array(temporary, name, array) for name, array in arrays.items()},
            "texts": {name: write_bytes(temporary / name, data) for name, data in texts.items()},
        }
        document = json.dumps(full, indent=1, ensure_ascii=False) + "\n"
        write_bytes(temporary / CONFIG, document.encode())
        temporary.chmod(0o777 & ~current_umask())
        put_in_place(temporary, path)
    except OSError as error:
        raise write_error(path, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_error(path: Path, error: OSError) -> InputError:
    """The error for an output that could not be written."""
    remedy = "; free some room and run again" if error.errno == errno.ENOSPC else ""
    return InputError(f"{path}: cannot be written: {error.strerror or error}{remedy}")


def current_umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_array(folder: Path, name: str, array: Array) -> dict[str, Any]:
    """Write one array and return its entry for config.json."""
    array = np.ascontiguousarray(array)
    path = folder / f"{name}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    # np.save would write through C, and hide why a write failed.
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.data)
    return {"dtype": array.dtype.str, "shape": list(array.shape), "checksum": checksum(array.data)}


def write_bytes(path: Path, data: bytes) -> dict[str, Any]:
    """Write one file and return its entry for config.json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return {"bytes": len(data), "checksum": checksum(data)}


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a finished folder to its name; an earlier one is exchanged with it and then removed."""
    if not path.exists():
        temporary.rename(path)
        return
    if not exchange(temporary, path):
        # No atomic exchange on this file system: the earlier result is set aside for a moment.
        aside = temporary.with_name(temporary.name + ".old")
        path.rename(aside)
        temporary.rename(path)
        shutil.rmtree(aside, ignore_errors=True)


def exchange(one: Path, two: Path) -> bool:
    """Swap two names in one step, where Linux and the file system can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(two), swap) == 0)


def check_writable(path: Path) -> None:
    """Refuse, before any work is done, an output that could not be written in the end."""
    try:
        check_parent(path)
        if path.resolve() == Path.cwd():
            raise InputError(f"{path}: is the current folder, which cannot be replaced; name one in it")
        if path.is_dir() and any(path.iterdir()) and folder_kind(path) is None:
            raise InputError(f"{path}: exists and is no result of classgram; choose another name")
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: exists and is a file; choose another name")
    except OSError as error:
        raise write_error(path, error) from None


def check_parent(path: Path) -> None:
    """Refuse an output whose folder is not there or not writable."""
    parent = path.resolve().parent
    if not parent.is_dir():
        raise InputError(f"{path}: there is no folder {parent}; create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {parent} is not writable; choose another")


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that appears under its name only once it is whole.

    A device or a pipe, such as /dev/stdout, is written to as it is.
    """
    check_parent(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    with special_file(path) if path.exists() and not path.is_file() else renamed_file(path.resolve()) as file:
        yield file


@contextmanager
def special_file(path: Path) -> Iterator[IO[bytes]]:
    """A device or a pipe to write to."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        raise write_error(path, error) from None


@contextmanager
def renamed_file(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file to write to that gets its name once it is whole."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise write_error(path, error) from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o666 & ~current_umask())
        temporary.replace(path)
    except OSError as error:
        raise write_error(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold an output for this run; another run that wants it is told so at once."""
    from filelock import FileLock, Timeout

    check_writable(path)
    place = path.resolve()
    name = place.with_name(f".{place.name}.lock")
    held = FileLock(name)
    try:
        # Where no file can be made at all, the lock would say that somebody else has it.
        name.touch()
        held.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"{path}: another run is writing it; wait for that, or choose another name"
        ) from None
    except OSError as error:
        raise write_error(path, error) from None
    try:
        yield
    finally:
        # Removed while it is held: no other run can have got it in between.
        name.unlink(missing_ok=True)
        held.release()


def folder_kind(path: Path) -> str | None:
    """What a folder holds ("counts", "partition", ...), or None if classgram did not write it."""
    try:
        config = json.loads((path / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    form = config.get("format") if isinstance(config, dict) else None
    if not isinstance(form, str) or not form.startswith("classgram-"):
        return None
    return form.removeprefix("classgram-")


def read_folder(path: Path, kind: str | None = None) -> Folder:
    """Open a result: everything that config.json says but the checksums is checked."""
    if not path.exists():
        raise InputError(f"{path}: no such folder")
    if not path.is_dir():
        raise InputError(f"{path}: is a file, not a result of classgram")
    config = read_config(path)
    held = str(config["format"]).removeprefix("classgram-")
    if kind is not None and held != kind:
        raise InputError(f"{path}: holds {held}, not {kind}")
    for name in config["arrays"]:
        check_listed(path, f"{name}.npy", None)
    for name, entry in config["texts"].items():
        check_listed(path, name, entry["bytes"])
    return Folder(path, held, config)


def read_config(path: Path) -> dict[str, Any]:
    """A folder's config.json, after a check of its format and version."""
    if not (path / CONFIG).is_file():
        raise InputError(f"{path}: is not a result of classgram: it holds no {CONFIG}")
    try:
        config = json.loads(read_bytes(path / CONFIG))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path / CONFIG}: damaged ({error}); make the folder again") from None
    if not isinstance(config, dict) or not str(config.get("format")).startswith("classgram-"):
        raise InputError(f"{path / CONFIG}: not written by classgram")
    if not isinstance(config.get("version"), int) or config["version"] > VERSION:
        raise InputError(
            f"{path / CONFIG}: has format version {config.get('version')}, and this classgram "
            f"({__version__}) reads up to {VERSION}; install a newer classgram"
        )
    try:
        for entry in config["arrays"].values():
            np.dtype(str(entry["dtype"])), list(entry["shape"]), str(entry["checksum"])
        for entry in config["texts"].values():
            int(entry["bytes"]), str(entry["checksum"])
    except (KeyError, TypeError, ValueError, AttributeError, SyntaxError):
        raise InputError(f"{path / CONFIG}: its list of files is damaged; make the folder again") from None
    return config


def check_listed(folder: Path, name: str, size: int | None) -> None:
    """Check that a listed file lies inside the folder, is there, and has its size."""
    path = folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise InputError(f"{folder / CONFIG}: names a file outside the folder: {name}")
    if not path.is_file():
        raise InputError(f"{path}: missing; make the folder again")
    if size is not None and path.stat().st_size != size:
        raise InputError(f"{path}: has {path.stat().st_size} bytes instead of {size}; make the folder again")


def check_range(folder: Folder, name: str, array: Array, low: int, high: int) -> None:
    """Refuse an array with values outside low <= value < high, before a kernel sees it."""
    if array.size and (int(array.min()) < low or int(array.max()) >= high):
        raise InputError(f"{folder.path / name}.npy: holds values out of range; make the folder again")


def check_finite(folder: Folder, name: str, array: Array) -> None:
    """Refuse an array with values that are no numbers; the least and the largest tell."""
    if array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        raise InputError(f"{folder.path / name}.npy: holds values that are no numbers; make the folder again")


def check_starts(folder: Folder, name: str, starts: Array, rows: int, size: int) -> None:
    """Refuse starts of compressed rows that do not rise from 0 to the number of entries."""
    whole = starts.size == rows + 1 and starts[0] == 0 and starts[-1] == size
    if not whole or (starts.size > 1 and int(np.diff(starts).min()) < 0):
        raise InputError(f"{folder.path / name}.npy: is not in order; make the folder again")
