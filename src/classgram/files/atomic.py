"""Results on disk, written whole or not at all: folders, single files, and the lock of a run's output."""

import ctypes
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from classgram._version import __version__
from classgram.errors import InputError
from classgram.files.folders import CONFIG, VERSION, checksum, folder_kind
from classgram.runtime.compiled.arrays import AnyArray


def write_folder(
    path: Path,
    kind: str,
    config: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
    texts: Mapping[str, bytes] | None = None,
) -> None:
    """Write a result as a folder that appears whole, replacing an earlier result in one step.

    AnyArray names become ``name.npy``; names may hold slashes. A failure removes what was written and
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
            "arrays": {name: _write_array(temporary, name, array) for name, array in arrays.items()},
            "texts": {name: _write_bytes(temporary / name, data) for name, data in texts.items()},
        }
        document = json.dumps(full, indent=1, ensure_ascii=False) + "\n"
        _write_bytes(temporary / CONFIG, document.encode())
        temporary.chmod(0o777 & ~_current_umask())
        _put_in_place(temporary, path)
    except OSError as error:
        raise write_error(path, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _put_in_place(temporary: Path, path: Path) -> None:
    """Rename a finished folder to its name; an earlier one swaps names with it and is then removed."""
    if not path.exists():
        temporary.rename(path)
        return
    if not _swap_names(temporary, path):
        # No atomic swap on this file system: the earlier result is set aside for a moment.
        aside = temporary.with_name(temporary.name + ".old")
        path.rename(aside)
        temporary.rename(path)
        shutil.rmtree(aside, ignore_errors=True)


def _swap_names(one: Path, two: Path) -> bool:
    """Swap two names in one step and return whether Linux and the file system could."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(two), swap) == 0)


def _write_array(folder: Path, name: str, array: AnyArray) -> dict[str, Any]:
    """Write one array and return its entry for config.json."""
    array = np.ascontiguousarray(array)
    path = folder / f"{name}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    # np.save would write through C, and hide why a write failed.
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.data)
    return {"dtype": array.dtype.str, "shape": list(array.shape), "checksum": checksum(array.data)}


def _write_bytes(path: Path, data: bytes) -> dict[str, Any]:
    """Write one file and return its entry for config.json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return {"bytes": len(data), "checksum": checksum(data)}


def _current_umask() -> int:
    """Return the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write to that appears under its name only once it is whole.

    A device or a pipe, such as /dev/stdout, is written to as it is.
    """
    check_parent(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    with (
        _special_file(path) if path.exists() and not path.is_file() else _renamed_file(path.resolve()) as file
    ):
        yield file


@contextmanager
def _special_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a device or a pipe to write to."""
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        raise write_error(path, error) from None


@contextmanager
def _renamed_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file to write to that gets its name once it is whole."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise write_error(path, error) from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o666 & ~_current_umask())
        temporary.replace(path)
    except OSError as error:
        raise write_error(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


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
def lock(path: Path) -> Iterator[None]:
    """Hold an output for this run; another run that wants it fails at once."""
    from filelock import FileLock, Timeout

    check_writable(path)
    output = path.resolve()
    name = output.with_name(f".{output.name}.lock")
    held = FileLock(name)
    try:
        # Where no file can be made at all, the lock would report that another run holds it.
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


def write_error(path: Path, error: OSError) -> InputError:
    """Return the error for an output that could not be written."""
    remedy = "; free some disk space and run again" if error.errno == errno.ENOSPC else ""
    return InputError(f"{path}: cannot be written: {error.strerror or error}{remedy}")
