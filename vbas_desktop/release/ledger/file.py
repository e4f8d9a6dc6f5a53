"""The file of a ledger: read, written as a whole, readable for its owner alone."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vbas_desktop.io.access import check_readable
from vbas_desktop.io.exchange import NO_LINK
from vbas_desktop.io.output import write_text
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Silent

from .entry import Entry

LEDGER_FILE = "vbas-ledger.json"
"""The usual name, in the folder of the record file or the project."""
FORMAT = 3
"""The version of the file format; files of other versions are refused."""

_PATIENCE = 0.05
"""Seconds between two looks whether another program has finished."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """The entries in the order in which they were made, the key of all hashes in them, and the file that it is in."""

    entries: tuple[Entry, ...] = ()
    key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    last_id: int = 0
    place: str = ""

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def with_entry(self, entry: Entry) -> tuple[Ledger, Entry]:
        """With one more entry, which gets a number that no other had."""
        added = replace(entry, id=self.last_id + 1)
        return replace(self, entries=(*self.entries, added), last_id=added.id), added

    def entry(self, id: int) -> Entry:
        """The entry of this number; `InputError` if there is none."""
        for entry in self.entries:
            if entry.id == id:
                return entry
        known = ", ".join(str(entry.id) for entry in self.entries) or "none"
        message = f"The ledger has no release {id}."
        raise InputError(Finding("ledger", message, f"Its releases have the numbers: {known}."))

    def without(self, id: int) -> Ledger:
        """Without one entry; `InputError` if there is none of this number."""
        gone = self.entry(id)
        return replace(self, entries=tuple(entry for entry in self.entries if entry is not gone))

    def shared_with(self, audience: str) -> tuple[Entry, ...]:
        """What this audience has, or may come to have."""
        return tuple(entry for entry in self.entries if entry.shared_with(audience))


def read_ledger(path: Path, must_be: bool = True) -> Ledger:
    """The ledger in a file; a new one if there is no file and none ``must_be``."""
    if not path.exists() and not must_be:
        return Ledger(place=str(path))
    if path.exists():
        check_readable(path)
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        version = data["vbas_ledger"]
    except FileNotFoundError:
        raise _unusable(path, "There is no such ledger.", "Record a release in it first.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _unusable(path, "This is not a ledger of this program.", "Choose another file.") from None
    if version != FORMAT:
        remedy = "Use the version of the program that wrote it, or record the releases again in a new ledger."
        raise _unusable(path, f"It has format {version}, this program reads format {FORMAT}.", remedy)
    try:
        entries = tuple(Entry.from_json(entry) for entry in data["releases"])
        return Ledger(entries, bytes.fromhex(data["key"]), int(data["last_id"]), str(path))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise _unusable(path, "The ledger is damaged.", "Use an earlier copy of it.") from None


@contextmanager
def alone(path: Path, progress: Progress | None = None) -> Iterator[None]:
    """Nobody else changes this ledger meanwhile: others wait until the block ends, or their programs do.

    The lock is on a hidden file beside the ledger, since the ledger itself is replaced when it is written.
    """
    progress = progress or Silent()
    handle = _open_lock(path.with_name(f".{path.name}.lock"))
    try:
        while not _locked(handle):
            progress.update("Waiting for another program to finish with the ledger")
            time.sleep(_PATIENCE)
        yield
    finally:
        os.close(handle)


def _open_lock(path: Path) -> int:
    """Open the file of a lock, which is made if need be; a link is refused, since it may lead to any file."""
    if path.is_symlink():
        message = "The lock of the ledger is a link, which may lead anywhere, so it is not used."
        raise _unusable(path, message, "Remove the link, if you know whose it is.")
    return os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)


def _locked(handle: int) -> bool:
    """Whether the lock was got, or the system has none; closing the file gives it back, however the program ends."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_ledger(path: Path, ledger: Ledger) -> None:
    """Write the file beside its place and put it there; nobody but the owner may read it."""
    data = {
        "vbas_ledger": FORMAT,
        "key": ledger.key.hex(),
        "last_id": ledger.last_id,
        "releases": [entry.as_json() for entry in ledger.entries],
    }
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n", private=True)


def _unusable(path: Path, message: str, remedy: str) -> InputError:
    return InputError(Finding("ledger", message, remedy, file=str(path)))
