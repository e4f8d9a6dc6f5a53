"""Whatever is done to the written file, the verification notices."""

import os
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from release_making import random_rows, small_case, write_records

from vbas_desktop.audit import coded_file, csv_stream
from vbas_desktop.audit.claim import ReleaseClaim
from vbas_desktop.audit.last_look import look_at_release
from vbas_desktop.audit.verification import Verification, verify_release
from vbas_desktop.model.findings import VerificationFailed
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled
from vbas_desktop.releases import audited_records
from vbas_desktop.settings.release import ReleaseOptions


@pytest.fixture
def case(tmp_path):
    return small_case(tmp_path)


def checked(case, tmp_path, tamper, options=None, crosswalk=None):
    """Release, tamper with the lines of the file and of the crosswalk, verify again."""
    options = options or ReleaseOptions(shuffle=False, class_size="size", pdf=False, geometry=())
    folder = tmp_path / "out" / "release"
    report = case.release(tmp_path / "out", options)
    lines = (folder / "anonymized.csv").read_text().splitlines()
    (folder / "anonymized.csv").write_text("\n".join(tamper(lines)) + "\n")
    if crosswalk is not None:
        lines = (folder / "crosswalk.csv").read_text().splitlines()
        (folder / "crosswalk.csv").write_text("\n".join(crosswalk(lines)) + "\n")
    claim = ReleaseClaim(
        folder / "anonymized.csv",
        folder / "crosswalk.csv",
        options.released_columns(case.table.file_format.header),
        options.class_size,
        ",",
        False,
        report.records,
        report.records_released,
    )
    return verify_release(case.problem, case.table.file_format, claim, NO_PROGRESS)


def test_an_honest_file_passes(case, tmp_path):
    assert len(checked(case, tmp_path, lambda lines: lines)) == 7


def test_the_order_of_the_rows_does_not_matter(case, tmp_path):
    assert checked(case, tmp_path, lambda lines: [lines[0], *lines[:0:-1]])


@pytest.mark.parametrize(
    ("tamper", "noticed"),
    [
        (lambda lines: lines[:-1], "together are the records of the input"),
        (lambda lines: [*lines, lines[-1]], "together are the records of the input"),
        (lambda lines: [*lines[:-1], lines[-2]], "only the stated changes"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"x,y"', '"x,z"')], "only the stated changes"),
        (lambda lines: [*lines[:-1], lines[-1].replace("person", "pers on")], "only the stated changes"),
        (lambda lines: [lines[0], swapped(lines[1], lines[2]), swapped(lines[2], lines[1]), *lines[3:]], "changes"),
        (lambda lines: [lines[0].replace("note", "Note"), *lines[1:]], "columns are those"),
        (lambda lines: [*lines[:-1], with_region(lines[-1], "r7")], "in the crosswalk"),
        (lambda lines: [*lines[:-1], lines[-1].replace(",10,", ",11,").replace(",20,", ",11,")], "at least 5 records"),
        (lambda lines: [*lines[:-1], lines[-1] + "0"], "class sizes"),
        (lambda lines: [*lines[:-1], lines[-1] + ",more"], "can be read back"),
        (lambda lines: [*lines, '"'], "can be read back"),
    ],
)  # fmt: skip
def test_every_other_change_is_noticed(case, tmp_path, tamper, noticed):
    with pytest.raises(VerificationFailed, match=noticed):
        checked(case, tmp_path, tamper)


def test_a_crosswalk_whose_codes_are_ids_or_that_lacks_a_region_is_noticed(case, tmp_path):
    def renamed(lines):
        return [line.replace("A001", "r0") for line in lines]

    said = "the crosswalk has every initial region once, and no aggregated region has the id of one"
    assert "A001" in (case.release(tmp_path / "a").folder / "crosswalk.csv").read_text()
    with pytest.raises(VerificationFailed, match=said):
        checked(case, tmp_path, renamed, crosswalk=renamed)
    with pytest.raises(VerificationFailed, match=said):
        checked(
            case,
            tmp_path,
            lambda lines: lines,
            crosswalk=lambda lines: [*lines[:-2], lines[-1], lines[-2]],
        )


def swapped(line, other):
    """The line with the first cell of the other one."""
    return other.split(",")[0] + line[line.index(",") :]


def with_region(line, region):
    cells = line.split(",")
    cells[3] = region
    return ",".join(cells)


def before_the_check(monkeypatch, change):
    """Let something happen to the files of a release between writing and verifying."""

    class Disturbed(Verification):
        def __init__(self, problem, file_format, claim):
            super().__init__(problem, file_format, claim)
            self.claim = claim

        def check(self, progress, sha256=""):
            change(self.claim)
            return super().check(progress, sha256)

    monkeypatch.setattr(audited_records, "Verification", Disturbed)


def test_a_release_that_fails_leaves_nothing(case, tmp_path, monkeypatch):
    def spoil(claim):
        claim.file.write_bytes(claim.file.read_bytes().replace(b"person", b"nobody", 1))

    before_the_check(monkeypatch, spoil)
    with pytest.raises(VerificationFailed):
        case.release(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv", "regions.csv"]


@pytest.mark.parametrize("where", ["file", "column"])
def test_notes_in_a_parquet_file_are_noticed(case, tmp_path, monkeypatch, where):
    """pandas writes there how a table was indexed, also with values of records that are not released."""

    def annotate(claim):
        table = pq.read_table(claim.file)
        notes = {"pandas": "{}"}
        if where == "column":
            schema = table.schema.set(0, table.schema.field(0).with_metadata(notes))
        else:
            schema = table.schema.with_metadata(notes)
        pq.write_table(table.cast(schema), claim.file)

    before_the_check(monkeypatch, annotate)
    with pytest.raises(VerificationFailed, match="there is more than columns in the file"):
        case.release(tmp_path / "out", ReleaseOptions(pdf=False, geometry=(), format="parquet"))


@pytest.mark.parametrize("release_format", ["csv", "parquet"])
def test_a_file_with_another_hash_than_the_listed_one_is_noticed(
    case, tmp_path, monkeypatch, release_format
):
    class WithOtherHash(Verification):
        def check(self, progress, sha256=""):
            assert len(sha256) == 64
            return super().check(progress, "0" * 64)

    monkeypatch.setattr(audited_records, "Verification", WithOtherHash)
    with pytest.raises(VerificationFailed, match="the hash that is listed: no"):
        case.release(tmp_path / "out", ReleaseOptions(pdf=False, geometry=(), format=release_format))


def test_a_record_file_that_changes_between_writing_and_verifying_is_noticed(
    case, tmp_path, monkeypatch
):
    before_the_check(monkeypatch, lambda claim: write_records(tmp_path, random_rows(400, seed=9)))
    with pytest.raises(VerificationFailed):
        case.release(tmp_path / "out")


def test_reading_back_can_be_stopped(case, tmp_path):
    report = case.release(tmp_path / "out")

    class Stop:
        def update(self, stage, fraction=None):
            raise Cancelled

    claim = ReleaseClaim(
        report.folder / "anonymized.csv",
        report.folder / "crosswalk.csv",
        tuple((name, name) for name in case.table.file_format.header),
        None,
        ",",
        False,
        report.records,
        report.records_released,
    )
    with pytest.raises(Cancelled):
        verify_release(case.problem, case.table.file_format, claim, Stop())


def test_a_record_file_that_was_written_again_meanwhile_is_noticed(case, tmp_path, monkeypatch):
    """The same bytes may have been others while they were read."""
    before_the_check(monkeypatch, lambda claim: os.utime(case.table.source.path, ns=(1, 1)))
    with pytest.raises(
        VerificationFailed, match="the record file stayed the same while the release was made: no"
    ):
        case.release(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("escape", [False, True])
@pytest.mark.parametrize("loaded", ["coded", "not coded"])
def test_columns_with_too_many_values_to_code_are_compared_too(
    case, tmp_path, monkeypatch, escape, loaded
):
    options = ReleaseOptions(pdf=False, geometry=(), escape_formulas=escape)
    report = case.release(tmp_path / "out", options)
    monkeypatch.setattr(coded_file, "MOST_VALUES", 20)
    monkeypatch.setattr(csv_stream, "PIECE_BYTES", 300)
    monkeypatch.setattr(csv_stream, "HEAD_BYTES", 300)
    released = options.released_columns(case.table.file_format.header)
    path = report.folder / "anonymized.csv"
    crosswalk = report.folder / "crosswalk.csv"
    claim = ReleaseClaim(
        path, crosswalk, released, None, ",", escape, report.records, report.records_released
    )
    if loaded == "coded":
        # Columns of ids of regions are, however many there are.
        claim = replace(claim, values={"name": case.table.facts("name").categories.values})
    with Verification(case.problem, case.table.file_format, claim) as verification:
        verification.check(NO_PROGRESS)
        found = look_at_release(verification.files, (), False, NO_PROGRESS)
    (name,) = (group for group in found.columns if group.columns == ("name",))
    assert (name.below_k, name.unique, name.smallest) == (
        report.records_released,
        report.records_released,
        1,
    )
    assert ("name",) in [disclosure.columns for disclosure in found.disclosures]
    path.write_bytes(path.read_bytes().replace(b"person 1", b"person 2", 1))
    with pytest.raises(VerificationFailed, match="they are not the same"):
        verify_release(case.problem, case.table.file_format, claim, NO_PROGRESS)
