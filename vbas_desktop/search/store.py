"""Finished nodes on disk: one small file each, named by what went in, so that a stopped search goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbas_desktop.files.atomic import write_text

from .run import Found, as_plain, from_plain


@dataclass(frozen=True)
class NodeStore:
    """A folder of finished nodes; a file is written beside its place and renamed."""

    folder: Path

    def path(self, settings: Mapping[str, Any]) -> Path:
        """Where a node is or will be."""
        return self.folder / f"{_key(settings)}.json"

    def get(self, settings: Mapping[str, Any]) -> Found | None:
        """The kept node; None if there is none that can be used."""
        try:
            document = json.loads(self.path(settings).read_text(encoding="utf-8"))
            return from_plain(document["found"]) if document["settings"] == settings else None
        except (OSError, ValueError, KeyError, TypeError):
            # Whatever is in the way of reading it, computing it again gives the same.
            return None

    def put(self, settings: Mapping[str, Any], found: Found) -> Found:
        """Keep a node; hands it back as it will be read."""
        text = json.dumps({"settings": settings, "found": as_plain(found)}, ensure_ascii=False, allow_nan=False)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.path(settings), text + "\n")
        return from_plain(json.loads(text)["found"])


class NodeMemory:
    """Keeps nodes for the length of the program only."""

    def __init__(self) -> None:
        self._kept: dict[str, Found] = {}

    def get(self, settings: Mapping[str, Any]) -> Found | None:
        """The kept node, if there is one."""
        return self._kept.get(_key(settings))

    def put(self, settings: Mapping[str, Any], found: Found) -> Found:
        """Keep a node."""
        return self._kept.setdefault(_key(settings), found)


def _key(settings: Mapping[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
