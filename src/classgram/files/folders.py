"""Results on disk as folders of arrays and texts: read, and checked while they are read."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from classgram._version import __version__
from classgram.errors import InputError
from classgram.runtime.compiled.arrays import AnyArray

VERSION = 1
"""The version of the folder format; a reader refuses newer ones."""

CONFIG = "config.json"
"""The file of a folder that lists the others."""


@dataclass(frozen=True)
class Folder:
    """A folder whose config.json was read and whose files were found as it lists them."""

    path: Path
    kind: str
    config: dict[str, Any]

    def array(self, name: str, dtype: npt.DTypeLike, ndim: int = 1) -> AnyArray:
        """Return an array of the folder, memory-mapped, after a check of its type and shape."""
        entry = self.config["arrays"].get(name)
        path = self.path / f"{name}.npy"
        if entry is None:
            raise InputError(f"{self.path / CONFIG}: lists no array {name!r}; recreate the folder")
        array = _map_array(path)
        described = (array.dtype.str, list(array.shape)) == (entry["dtype"], entry["shape"])
        if not described or array.dtype != np.dtype(dtype) or array.ndim != ndim:
            raise InputError(f"{path}: is not the array that {CONFIG} describes; recreate the folder")
        return array

    def text(self, name: str) -> bytes:
        """Return a text of the folder."""
        return _read_bytes(self.path / name)

    def require(self, key: str) -> Any:
        """Return a value of config.json that must be there."""
        if key not in self.config:
            raise InputError(f"{self.path / CONFIG}: no {key!r}; recreate the folder")
        return self.config[key]

    def whole_number(self, key: str) -> int:
        """Return a value of config.json that must be a whole number."""
        value = self.require(key)
        if not isinstance(value, int):
            raise InputError(f"{self.path / CONFIG}: {key!r} is not a whole number; recreate the folder")
        return value

    def verify(self) -> None:
        """Compare every file's checksum with the one in config.json."""
        for name, entry in self.config["arrays"].items():
            array = self.array(name, entry["dtype"], len(entry["shape"]))
            if checksum(np.ascontiguousarray(array).data) != entry["checksum"]:
                raise InputError(
                    f"{self.path / name}.npy: was altered after it was written; recreate the folder"
                )
        for name, entry in self.config["texts"].items():
            if checksum(self.text(name)) != entry["checksum"]:
                raise InputError(f"{self.path / name}: was altered after it was written; recreate the folder")


def read_folder(path: Path, kind: str | None = None) -> Folder:
    """Open a result and check everything that config.json says but the checksums."""
    if not path.exists():
        raise InputError(f"{path}: no such folder")
    if not path.is_dir():
        raise InputError(f"{path}: is a file, not a result of classgram")
    config = _read_config(path)
    held = str(config["format"]).removeprefix("classgram-")
    if kind is not None and held != kind:
        raise InputError(f"{path}: contains {held}, not {kind}")
    for name in config["arrays"]:
        _check_listed(path, f"{name}.npy", None)
    for name, entry in config["texts"].items():
        _check_listed(path, name, entry["bytes"])
    return Folder(path, held, config)


def folder_kind(path: Path) -> str | None:
    """Return what a folder holds ("counts", "partition", ...), or None if classgram did not write it."""
    try:
        config = json.loads((path / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    folder_format = config.get("format") if isinstance(config, dict) else None
    if not isinstance(folder_format, str) or not folder_format.startswith("classgram-"):
        return None
    return folder_format.removeprefix("classgram-")


def _map_array(path: Path) -> AnyArray:
    """Return the array of a file, memory-mapped; the file must hold that and nothing more."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
        whole = path.stat().st_size == array.offset + array.nbytes
    except Exception as error:
        # NumPy parses a header as Python: what a damaged one raises may be almost anything.
        reason = " ".join(str(error).splitlines()[:1]) or type(error).__name__
        raise InputError(f"{path}: missing or damaged ({reason}); recreate the folder") from None
    if not whole:
        raise InputError(f"{path}: contains more than its array; recreate the folder")
    return cast(AnyArray, array.view(np.ndarray))


def _read_bytes(path: Path) -> bytes:
    """Return a file's bytes, or raise an InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _read_config(path: Path) -> dict[str, Any]:
    """Return a folder's config.json, after a check of its format and version."""
    if not (path / CONFIG).is_file():
        raise InputError(f"{path}: is not a result of classgram: it contains no {CONFIG}")
    try:
        config = json.loads(_read_bytes(path / CONFIG))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path / CONFIG}: damaged ({error}); recreate the folder") from None
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
        raise InputError(f"{path / CONFIG}: its list of files is damaged; recreate the folder") from None
    return config


def _check_listed(folder: Path, name: str, size: int | None) -> None:
    """Check that a listed file lies inside the folder, is there, and has its size."""
    path = folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise InputError(f"{folder / CONFIG}: names a file outside the folder: {name}")
    if not path.is_file():
        raise InputError(f"{path}: missing; recreate the folder")
    if size is not None and path.stat().st_size != size:
        raise InputError(f"{path}: has {path.stat().st_size} bytes instead of {size}; recreate the folder")


def checksum(data: Any) -> str:
    """Return a short digest of bytes or of an array's memory."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def fingerprint(arrays: Mapping[str, AnyArray], extra: object = None) -> str:
    """Return a digest of named arrays and plain values, equal for equal content."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    digest.update(json.dumps(extra, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def check_range(folder: Folder, name: str, array: AnyArray, low: int, high: int) -> None:
    """Raise InputError for values outside low <= value < high, before a kernel sees them."""
    if array.size and (int(array.min()) < low or int(array.max()) >= high):
        raise InputError(f"{folder.path / name}.npy: contains values out of range; recreate the folder")


def check_finite(folder: Folder, name: str, array: AnyArray) -> None:
    """Raise InputError for NaN or infinite values, which show in the minimum or the maximum."""
    if array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        raise InputError(f"{folder.path / name}.npy: contains NaN or infinite values; recreate the folder")


def check_starts(folder: Folder, name: str, starts: AnyArray, rows: int, size: int) -> None:
    """Raise InputError unless the row starts increase from 0 to the number of entries."""
    whole = starts.size == rows + 1 and starts[0] == 0 and starts[-1] == size
    if not whole or (starts.size > 1 and int(np.diff(starts).min()) < 0):
        raise InputError(f"{folder.path / name}.npy: is not sorted; recreate the folder")
