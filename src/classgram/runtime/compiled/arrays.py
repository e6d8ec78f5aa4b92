"""Array types by element type and number of dimensions: the one place where they are named.

``Array`` has one dimension, ``Matrix`` two. Kernels are compiled from these annotations.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = np.ndarray[tuple[int], np.dtype[np.bool_]]
ByteArray = np.ndarray[tuple[int], np.dtype[np.uint8]]
Int16Array = np.ndarray[tuple[int], np.dtype[np.int16]]
Int32Array = np.ndarray[tuple[int], np.dtype[np.int32]]
Int64Array = np.ndarray[tuple[int], np.dtype[np.int64]]
UInt64Array = np.ndarray[tuple[int], np.dtype[np.uint64]]
Float32Array = np.ndarray[tuple[int], np.dtype[np.float32]]
Float64Array = np.ndarray[tuple[int], np.dtype[np.float64]]

BoolMatrix = np.ndarray[tuple[int, int], np.dtype[np.bool_]]
ByteMatrix = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
Int32Matrix = np.ndarray[tuple[int, int], np.dtype[np.int32]]
Int64Matrix = np.ndarray[tuple[int, int], np.dtype[np.int64]]
Float32Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Float64Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]

AnyArray = npt.NDArray[Any]
"""An array whose element type only its reader knows."""
