"""Data frames as files that the program reads and from files that it wrote, and errors in the words of Python."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import Finding, InputError, UsageError
from vbas_desktop.settings.reading import ReadingSettings, RecordReading
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.settings.run import RunSettings

_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
_NUMBER = r"\d+(?:,\d{3})*"
_ROWS = re.compile(rf"\brows? {_NUMBER}(?:, {_NUMBER})*")


class FrameFiles:
    """A private folder for data frames, which goes away with this object.

    Where the system allows it (on Linux), a frame lies in memory under a name in the folder; elsewhere in a file that
    only the user can read.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="vbas-"))
        self._paths: dict[str, Path] = {}
        self._file_names: set[str] = set()
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def path_of(self, value: Any, keyword: str) -> Path:
        """Return the path that was given, or that of the file which stands for a data frame.

        Raises `TypeError` for anything else.
        """
        if isinstance(value, str | os.PathLike):
            self._file_names.add(Path(value).name)
            return Path(value)
        if hasattr(value, "__geo_interface__"):
            return self._store(keyword, f"{keyword}.geojson", _encode_geojson(value))
        if hasattr(value, "to_csv"):
            _check_column_names(value, keyword)
            return self._store(keyword, f"{keyword}.csv", str(value.to_csv(index=False)).encode())
        raise TypeError(f"{keyword} is neither a path nor a data frame, but a {type(value).__name__}")

    @contextmanager
    def explaining_errors(self) -> Iterator[None]:
        """Name frames by their keywords and rows, and options by their keywords, in errors that leave the block."""
        try:
            yield
        except InputError as error:
            error.findings = self.describe(error.findings)
            error.args = ("\n".join(map(str, error.findings)),)
            raise
        except UsageError as error:
            error.args = (replace_flags(str(error)),)
            raise

    def describe(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Name frames by their keywords and rows, and options by their keywords.

        The row of a frame is its position from 0, as in ``iloc``.
        """
        return tuple(self._describe(finding) for finding in findings)

    def _describe(self, finding: Finding) -> Finding:
        message = replace_flags(finding.message)
        remedy = replace_flags(finding.remedy)
        for keyword, path in self._paths.items():
            message = message.replace(str(path), keyword)
            remedy = remedy.replace(str(path), keyword)
        keyword = self._find_keyword(finding.file)
        if not keyword:
            return replace(finding, message=message, remedy=remedy)
        path = self._paths[keyword]
        row = None if finding.row is None else _find_frame_row(path, finding.row)
        message = _ROWS.sub(lambda rows: _replace_lines(path, rows[0]), message)
        return replace(finding, message=message, remedy=remedy, file=keyword, row=row)

    def _find_keyword(self, file: str | None) -> str:
        """Find the frame that a file stands for, by its path, or by its name if no other file has it; else nothing."""
        for keyword, path in self._paths.items():
            if file == str(path) or (file == path.name and file not in self._file_names):
                return keyword
        return ""

    def _store(self, keyword: str, name: str, content: bytes) -> Path:
        path = self._folder / name
        self._paths[keyword] = path
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


def _check_column_names(frame: Any, keyword: str) -> None:
    """Raise `InputError` if columns of a data frame have the same name."""
    numbers = Counter(map(str, frame.columns))
    repeated = next((name for name, number in numbers.items() if number > 1), None)
    if repeated is not None:
        message = f"{numbers[repeated]:,} columns have the name “{repeated:.80}”."
        raise InputError(
            Finding("duplicate-name", message, "Give every column a name of its own.", file=keyword)
        )


def replace_flags(text: str) -> str:
    """Write the flags of `vbas` in a message as keywords.

    ``--quasi-identifiers`` becomes ``quasi_identifiers``, and ``--unknown-regions suppress`` becomes
    ``unknown_regions="suppress"``.
    """
    groups = (RunSettings, ReadingSettings, ReleaseOptions)
    options = {option.flag: option for group in groups for option in group.options()}

    def replace_flag(match: re.Match[str]) -> str:
        flag, word = match[1], match[2]
        option = options.get(f"--{flag}")
        keyword = flag.replace("-", "_") if option is None else option.name
        keyword = "parameters" if keyword == "set" else keyword
        if option is not None and word in option.choices:
            return f'{keyword}="{word}"'
        return keyword if word is None else f"{keyword} {word}"

    return _FLAG.sub(replace_flag, text)


def _find_frame_row(path: Path, line: int) -> int | None:
    """Find the row of a frame that is on a line of its file; None for the line with the names."""
    if path.suffix != ".csv":
        return line
    with path.open(encoding="utf-8", newline="") as stream:
        lines = csv.reader(stream)
        for number, _ in enumerate(lines):
            if lines.line_num >= line:
                return number - 1 if number else None
    return None


def _replace_lines(path: Path, rows: str) -> str:
    """Write the lines of a file, such as "rows 2, 1,003", as rows of its frame."""

    def replace_line(match: re.Match[str]) -> str:
        row = _find_frame_row(path, int(match[0].replace(",", "")))
        return match[0] if row is None else f"{row:,}"

    return re.sub(_NUMBER, replace_line, rows)


def _encode_geojson(frame: Any) -> bytes:
    """Write a GeoDataFrame, or anything with a geo interface, in longitude and latitude where its CRS is known."""
    if getattr(frame, "crs", None) is not None:
        frame = frame.to_crs(4326)
    collection: Mapping[str, Any] = frame.__geo_interface__
    if collection.get("type") != "FeatureCollection":
        raise TypeError("regions must be a collection of features with a geometry each")
    return json.dumps({name: value for name, value in collection.items() if name != "bbox"}).encode()


def read_verified(path: Path, sha256: str) -> pd.DataFrame:
    """Read records that were verified when they were written. Raises `InputError` if they are others now."""
    if hash_file(path) != sha256:
        message = "The file is not the one that was verified."
        raise InputError(Finding("release-changed", message, "Write the release again.", file=str(path)))
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    file_format = load_records(
        path, RecordReading(category_counts="no"), columns=frozenset()
    ).file_format
    return pd.read_csv(
        path,
        dtype=str,
        keep_default_na=False,
        sep=file_format.delimiter,
        encoding=file_format.encoding or "utf-8",
    )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_table(table: bytes, text_columns: Sequence[str]) -> pd.DataFrame:
    """Read a table that the program wrote as CSV."""
    types = dict.fromkeys(text_columns, str)
    return pd.read_csv(
        io.BytesIO(table), dtype=types, keep_default_na=False, na_values={"anonymity": [""]}
    )
