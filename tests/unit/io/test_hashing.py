"""A record file's hash is that of the bytes that were read, and a file that did not stay what it was is noticed."""

from __future__ import annotations

import gzip
import hashlib
import os

import pyarrow as pa
import pyarrow.parquet
import pytest

from vbas_desktop.io.hashing import require_unchanged
from vbas_desktop.io.records.file_format import USUAL_LIMITS, TextStream
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import SourceFile

ROW = b"1,some text\n"


def write(path, rows):
    path.write_bytes(b"a,b\n" + ROW * rows)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("rows", [1, 1000, 2 * USUAL_LIMITS.block_bytes // len(ROW), 200_000])
def test_the_hash_is_that_of_the_file(tmp_path, rows):
    path = tmp_path / "records.csv"
    sha256 = write(path, rows)
    source = load_records(path).source
    assert (source.path, source.size_bytes, source.sha256) == (str(path), path.stat().st_size, sha256)


def test_a_compressed_file_is_hashed_as_it_lies_there(tmp_path):
    path = tmp_path / "records.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + ROW * 5000))
    assert load_records(path).source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("change", ["longer", "rewritten", "emptied"])
def test_a_file_that_is_changed_while_it_is_read_is_refused(tmp_path, monkeypatch, change):
    path = tmp_path / "records.csv"
    write(path, 10)
    source = TextStream.source

    def meanwhile(self):
        if change == "longer":
            with path.open("ab") as file:
                file.write(ROW)
        elif change == "rewritten":
            write(path, 10)
            # The clock of a file system may be coarser than this test is quick.
            os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        else:
            path.write_bytes(b"")
        return source(self)

    monkeypatch.setattr(TextStream, "source", meanwhile)
    with pytest.raises(InputError) as refused:
        load_records(path)
    assert [finding.code for finding in refused.value.findings] == ["input-changed"]
    assert refused.value.findings[0].file == str(path)


def records_of(path):
    if path.suffix == ".parquet":
        pa.parquet.write_table(pa.table({"a": ["1", "2"], "b": ["x", "y"]}), path)
    else:
        write(path, 10)
    return load_records(path).source


@pytest.mark.parametrize("name", ["records.csv", "records.parquet"])
@pytest.mark.parametrize("change", ["rewritten", "replaced", "deleted"])
def test_a_file_that_was_changed_after_it_was_read_is_noticed(tmp_path, name, change):
    path = tmp_path / name
    source = records_of(path)
    require_unchanged(source)
    if change == "rewritten":
        path.write_bytes(path.read_bytes())
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    elif change == "replaced":
        other = tmp_path / "other"
        other.write_bytes(path.read_bytes())
        os.utime(other, ns=(0, path.stat().st_mtime_ns))
        other.replace(path)
    else:
        path.unlink()
    with pytest.raises(InputError, match="changed while it was read"):
        require_unchanged(source)


def test_what_nobody_watched_is_not_refused(tmp_path):
    require_unchanged(SourceFile(str(tmp_path / "never there"), 0, ""))


def test_the_state_of_a_file_takes_no_part_in_comparisons(tmp_path):
    path = tmp_path / "records.csv"
    source = records_of(path)
    os.utime(path, ns=(0, 0))
    assert load_records(path).source == source
