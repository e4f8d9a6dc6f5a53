"""Parses addresses of records: a text names a file, or a place that an engine reads."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from vbas_desktop.model.findings import Finding, InputError, input_error


class EngineKind(StrEnum):
    """The engine that reads an address."""

    DUCKDB = "duckdb"
    POSTGRESQL = "postgresql"
    SPARK = "spark"


DATABASES = (".duckdb", ".ddb")
_PATTERN = re.compile(r"[*?\[]")
REMOTE = re.compile(r"(https?|s3|s3a|gs|gcs|az|azure|abfss?|hf|r2|ftp|hdfs)://", re.IGNORECASE)
_SINGLE = re.compile(r"^(postgresql|postgres|spark):/(?!/)", re.IGNORECASE)
_SSL = {"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"}


@dataclass(frozen=True)
class Address:
    """An address of records. ``text`` is what the user wrote; it never holds a password.

    ``location`` is the path, pattern or Spark master, ``table`` the name behind ``#`` where there is one.
    """

    text: str
    kind: EngineKind
    location: str
    table: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        """Return what to call the records in a line."""
        return self.table or Path(self.location.rstrip("/")).name or self.text


def parse_address(text: str | Path) -> Path | Address:
    """Return the file or address that a text names. A file that is there is always a file."""
    if isinstance(text, Path):
        # A path has one slash where an address has two.
        text = _SINGLE.sub(r"\1://", str(text))
    scheme = text.partition(":")[0].lower() if ":" in text else ""
    if scheme in ("postgresql", "postgres"):
        return _postgresql(text)
    if scheme in ("spark", "spark-local"):
        return _spark(text)
    if scheme == "duckdb":
        return _dataset(text, text.partition(":")[2])
    path = Path(text)
    file = Path(text.partition("#")[0])
    if os.path.isfile(path):
        # A database is no record file: it is the tables in it that hold records.
        return _dataset(text, text) if path.suffix.lower() in DATABASES else path
    if (
        os.path.isdir(path)
        or (_PATTERN.search(text) and not REMOTE.match(text))
        or file.suffix.lower() in DATABASES
    ):
        return _dataset(text, text)
    return path


def containing_folder(text: str | Path) -> Path | None:
    """Return the folder beside records, for documents about them; None if they are on no disk of this machine.

    A folder and a pattern for the files in it have the same one.
    """
    source = parse_address(text)
    if isinstance(source, Path):
        return source.parent
    if source.kind is EngineKind.POSTGRESQL or (source.kind is EngineKind.SPARK and source.table):
        return None
    folder = Path(
        source.location if source.kind is EngineKind.DUCKDB else source.location.partition(" ")[2]
    )
    magic = [number for number, part in enumerate(folder.parts) if _PATTERN.search(part)]
    if magic and not folder.exists():
        return Path(*folder.parts[: magic[0]]).absolute().parent
    return folder.absolute().parent if folder.exists() else None


def server_name(text: str | Path) -> str:
    """Name a file about what one server or catalogue has; no user is in it, who may change."""
    address = parse_address(text)
    assert isinstance(address, Address)
    parts = urlsplit(address.location.partition(" ")[0])
    words = (address.kind, parts.hostname or "local", str(parts.port or ""), parts.path.strip("/"))
    return "-".join(re.sub(r"[^\w.]+", "_", word) for word in words if word)


def is_address(text: str) -> bool:
    """Tell whether a text names something that an engine reads, not a file."""
    return isinstance(parse_address(text), Address)


def _dataset(text: str, location: str) -> Address:
    if REMOTE.match(location):
        message = (
            "This is a place on a network that DuckDB would fetch from; only files and folders are read."
        )
        raise input_error("not-local", message, "Mount it as a folder, or copy it.", file=text)
    path, _, table = location.partition("#")
    if not path:
        raise InputError(_wrong(text, "The address names no folder, pattern or file."))
    return Address(text, EngineKind.DUCKDB, path, unquote(table))


def _postgresql(text: str) -> Address:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise InputError(_wrong("postgresql://…", "The address cannot be understood.")) from None
    if parts.password is not None:
        message = "The address holds a password, which would be kept in histories and logs."
        remedy = "Take it out of the address; put it into the password file (PGPASSFILE) or the variable PGPASSWORD."
        raise input_error("password-in-address", message, remedy)
    unknown = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if name not in _SSL]
    if unknown:
        allowed = ", ".join(sorted(_SSL))
        raise InputError(
            _wrong(text, f"The address has the option “{unknown[0]}”; only {allowed} are allowed.")
        )
    if not parts.hostname or not parts.path.strip("/"):
        raise InputError(_wrong(text, "The address names no host or no database.", _POSTGRESQL))
    return Address(text, EngineKind.POSTGRESQL, text.partition("#")[0], unquote(parts.fragment))


_POSTGRESQL = "Write postgresql://user@host:port/database#schema.table."


def _spark(text: str) -> Address:
    plain, _, table = text.partition("#")
    scheme, _, rest = plain.partition(":")
    if scheme.lower() == "spark-local":
        return _spark_place(text, "local[*]", rest, table)
    parts = urlsplit(plain)
    if not parts.hostname or parts.port is None:
        raise InputError(
            _wrong(text, "The address names no master.", "Write spark://host:port/folder or …#table.")
        )
    return _spark_place(text, f"spark://{parts.netloc}", unquote(parts.path), table)


def _spark_place(text: str, master: str, path: str, table: str) -> Address:
    if bool(path.strip("/")) == bool(table):
        message = "The address must name a folder of Parquet files or, behind #, a table."
        raise InputError(
            _wrong(text, message, "Write spark-local:/folder, spark://host:port/folder or …#table.")
        )
    return Address(text, EngineKind.SPARK, f"{master} {path}".strip(), unquote(table))


def _wrong(
    text: str, message: str, remedy: str = "See docs/sources.md for how addresses are written."
) -> Finding:
    return Finding("bad-address", message, remedy, file=text)
