"""Data frames as the files that the program reads. Records never reach a disk where the system allows it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any


class Place:
    """A private folder for what came as data frames; it goes away with whoever holds it.

    Records lie in memory under a name in the folder (on Linux); elsewhere in a file that only the user can read, which
    is removed with the folder.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="vbas-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def file(self, given: Any, name: str) -> Path:
        """The path of what was given: itself, or the file that stands for a data frame."""
        if isinstance(given, str | os.PathLike):
            return Path(given)
        if hasattr(given, "__geo_interface__"):
            return self._put(f"{name}.geojson", _geojson(given))
        if hasattr(given, "to_csv"):
            return self._put(f"{name}.csv", str(given.to_csv(index=False)).encode())
        raise TypeError(f"{name} is neither a path nor a data frame, but a {type(given).__name__}")

    def _put(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
            number = os.memfd_create(name)
            weakref.finalize(self, os.close, number)
            with os.fdopen(os.dup(number), "wb") as stream:
                stream.write(content)
            path.symlink_to(f"/proc/{os.getpid()}/fd/{number}")
        else:
            path.write_bytes(content)
            path.chmod(0o600)
        return path


def _geojson(given: Any) -> bytes:
    """A GeoDataFrame, or anything with a geo interface, in longitude and latitude where its system is known."""
    if getattr(given, "crs", None) is not None:
        given = given.to_crs(4326)
    found = dict(given.__geo_interface__)
    if found.get("type") != "FeatureCollection":
        raise TypeError("regions must be a collection of features with a geometry each")
    found.pop("bbox", None)
    return json.dumps(found).encode()
