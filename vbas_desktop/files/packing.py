"""Arrays as plain JSON data and back."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.domain.records import frozen

_TYPES: dict[str, np.dtype[Any]] = {"int32": np.dtype("<i4"), "float64": np.dtype("<f8")}

LARGEST_BYTES = 1 << 26
"""No array of numbers for each region is larger: that would be eight million regions."""


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array as its shape, type, and compressed bytes in base64."""
    name = "int32" if array.dtype.kind in "iu" else "float64"
    data = np.ascontiguousarray(array, _TYPES[name]).tobytes()
    return {"type": name, "shape": list(array.shape), "data": base64.b64encode(zlib.compress(data, 6)).decode("ascii")}


def unpack(packed: Mapping[str, Any]) -> NDArray[Any]:
    """The array again, read-only; ValueError if the text is damaged."""
    kind = _TYPES[packed["type"]]
    wanted = math.prod(packed["shape"]) * kind.itemsize
    if wanted > LARGEST_BYTES:
        raise ValueError("oversized array")
    try:
        # A damaged or malicious file must not unpack into more memory than its shape says.
        data = zlib.decompressobj().decompress(base64.b64decode(packed["data"], validate=True), wanted + 1)
    except zlib.error as error:
        raise ValueError("damaged array") from error
    if len(data) != wanted:
        raise ValueError("damaged array")
    array = np.frombuffer(data, kind).reshape(packed["shape"])
    return frozen(array.astype(kind.newbyteorder("=")))
