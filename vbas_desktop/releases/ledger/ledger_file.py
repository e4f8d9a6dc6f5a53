"""The file of a ledger: read, written as a whole, readable for its owner alone."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, TypeAdapter
from pydantic.dataclasses import dataclass

from vbas_desktop.io.input_checks import check_readable
from vbas_desktop.io.locks import exclusive_lock
from vbas_desktop.io.output import write_text
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress

from .entry import STORED, LedgerEntry

LEDGER_FILE = "vbas-ledger.json"
"""The default name, in the folder of the record file or the project."""
FORMAT = 1
"""The version of the file format; files of other versions are refused."""


def _read_key(value: Any) -> bytes:
    return value if isinstance(value, bytes) else bytes.fromhex(value)


_Key = Annotated[bytes, PlainValidator(_read_key), PlainSerializer(bytes.hex)]


@dataclass(frozen=True, eq=False, config=STORED)
class Ledger:
    """The recorded releases in the order in which they were recorded, and the key of all hashes in them.

    vbas_ledger: version of the file format.
    last_id: the largest id that an entry ever had, so that no id is used twice.
    path: the file that it was read from; not written.
    """

    vbas_ledger: int = FORMAT
    releases: tuple[LedgerEntry, ...] = ()
    key: _Key = field(default_factory=lambda: secrets.token_bytes(16))
    last_id: int = 0
    path: str = Field(default="", exclude=True)

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def add(self, entry: LedgerEntry) -> tuple[Ledger, LedgerEntry]:
        """Return the ledger with one more entry, and this entry with its new id."""
        added = replace(entry, id=self.last_id + 1)
        return replace(self, releases=(*self.releases, added), last_id=added.id), added

    def entry(self, id: int) -> LedgerEntry:
        """Return the entry with this id. Raises `InputError` if there is none."""
        for entry in self.releases:
            if entry.id == id:
                return entry
        ids = ", ".join(str(entry.id) for entry in self.releases) or "none"
        message = f"The ledger has no release {id}."
        raise InputError(Finding("ledger", message, f"Its releases have the numbers: {ids}."))

    def remove(self, id: int) -> Ledger:
        """Return the ledger without the entry with this id. Raises `InputError` if there is none."""
        removed = self.entry(id)
        return replace(self, releases=tuple(entry for entry in self.releases if entry is not removed))

    def list_available_to(self, audience: str) -> tuple[LedgerEntry, ...]:
        """List the releases that this audience has, or may come to have."""
        return tuple(entry for entry in self.releases if entry.is_available_to(audience))


_LEDGER = TypeAdapter(Ledger)


def read_ledger(path: Path, *, must_exist: bool = True) -> Ledger:
    """Read a ledger. A missing file is an empty ledger with a new key, unless it ``must_exist``.

    Raises `InputError` if it is missing, unreadable, damaged or of another version.
    """
    if not path.exists() and not must_exist:
        return Ledger(path=str(path))
    if path.exists():
        check_readable(path)
    try:
        text = path.read_text(encoding="utf-8")
        version = json.loads(text)["vbas_ledger"]
    except FileNotFoundError:
        raise _unusable(path, "There is no such ledger.", "Record a release in it first.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _unusable(path, "This is not a ledger of this program.", "Choose another file.") from None
    if version != FORMAT:
        remedy = (
            "Use the version of the program that wrote it, or record the releases again in a new ledger."
        )
        raise _unusable(path, f"It has format {version}, this program reads format {FORMAT}.", remedy)
    try:
        return replace(_LEDGER.validate_json(text), path=str(path))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise _unusable(path, "The ledger is damaged.", "Use an earlier copy of it.") from None


def lock_ledger(path: Path, progress: Progress = NO_PROGRESS) -> AbstractContextManager[None]:
    """Keep other programs from changing this ledger: they wait until the block, or this program, ends.

    Raises `InputError` if the file of the lock is a link.
    """
    return exclusive_lock(path, progress, stage="Waiting for another program to finish with the ledger")


def write_ledger(path: Path, ledger: Ledger) -> None:
    """Write the file beside its place and put it there; nobody but the owner may read it."""
    content = _LEDGER.dump_python(ledger, mode="json")
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n", private=True)


def _unusable(path: Path, message: str, remedy: str) -> InputError:
    return InputError(Finding("ledger", message, remedy, file=str(path)))
