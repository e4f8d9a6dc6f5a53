from collections import Counter
from datetime import date

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from release_making import load, random_rows, released_rows, small_case, write_records, write_regions

from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Grouping
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.release import ReleaseOptions

COLUMNS = ("name", "age", "sex", "region", "note")


def parquet_case(folder, **more):
    """The small case as Parquet with numbers, dates and missing values of their own types."""
    rows = random_rows(400)
    table = pa.table(
        {
            "name": [row[0] for row in rows],
            "age": pa.array([None if row[1] == "99" else int(row[1]) for row in rows], pa.int16()),
            "sex": pa.array([row[2] for row in rows]).dictionary_encode(),
            "region": [row[3] for row in rows],
            "born": [date(2000, 1, 1 + number % 28) for number in range(400)],
            "weight": [float("nan") if number % 50 == 0 else number / 3 for number in range(400)],
        }
    )
    pq.write_table(table, folder / "records.parquet")
    return load(folder / "records.parquet", write_regions(folder), **more)


@pytest.mark.parametrize("shuffle", [True, False])
def test_csv_to_parquet_keeps_every_value_as_text(tmp_path, shuffle):
    rows = [[f"00{number}", row[1], row[2], row[3], "NA"] for number, row in enumerate(random_rows(400))]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path))
    plain = ReleaseOptions(pdf=False, shuffle=False, class_size="size")
    case.release(tmp_path / "csv", plain)
    report = case.release(
        tmp_path / "parquet",
        ReleaseOptions(format="parquet", pdf=False, shuffle=shuffle, class_size="size"),
    )
    table = pq.read_table(report.folder / "anonymized.parquet")
    assert set(table.schema.types[:5]) == {pa.string()}
    names, *rows = released_rows(tmp_path / "csv")
    found = [[str(cell) for cell in row.values()] for row in table.to_pylist()]
    assert table.column_names == names
    assert sorted(found) == sorted(rows)
    assert (found == rows) is not shuffle


@pytest.mark.parametrize("note", ["Zoë", "Zoë\n\rin lines", 'Zoë "the\nsecond"'])
def test_latin_1_to_parquet_is_text_like_any_other(tmp_path, note):
    rows = [[*row[:4], note] for row in random_rows(200)]
    path = write_records(tmp_path, rows)
    path.write_bytes(path.read_bytes().decode().encode("latin-1"))
    case = load(
        path, write_regions(tmp_path), options=RecordReading(encoding="latin-1", category_counts="no")
    )
    report = case.release(tmp_path / "out", ReleaseOptions(format="parquet", pdf=False))
    notes = pq.read_table(report.folder / "anonymized.parquet")["note"].to_pylist()
    assert set(notes) == {note}
    assert len(notes) == report.records_released > 0


def test_parquet_to_parquet_keeps_the_types(tmp_path):
    case = parquet_case(tmp_path)
    report = case.release(
        tmp_path / "out", ReleaseOptions(format="parquet", identifiers=("name",), pdf=False)
    )
    out = pq.read_table(report.folder / "anonymized.parquet")
    assert out.schema.types == [pa.int16(), pa.string(), pa.string(), pa.date32(), pa.float64()]
    assert out.num_rows == report.records_released < 400
    classes = Counter(
        zip(*(out.column(name).to_pylist() for name in ("age", "sex", "region")), strict=True)
    )
    assert min(classes.values()) >= 5


def test_parquet_to_csv_writes_text(tmp_path):
    case = parquet_case(tmp_path, groupings=[Grouping("age", {"10": "young", "": "not told"})])
    report = case.release(
        tmp_path / "out", ReleaseOptions(release_delimiter=";", pdf=False, renames={"sex": "gender"})
    )
    names, *rows = released_rows(report.target, delimiter=";")
    assert names == ["name", "age", "gender", "region", "born", "weight"]
    assert {row[1] for row in rows} <= {"young", "not told", "20", "30"}
    assert rows[0][4].startswith("2000-01-")


def test_the_same_parquet_release_twice_has_the_same_bytes(tmp_path):
    case = small_case(tmp_path)
    options = ReleaseOptions(format="parquet", pdf=False, shuffle_seed="1")
    assert case.release(tmp_path / "a", options).files == case.release(tmp_path / "b", options).files


def test_structured_columns_cannot_become_csv(tmp_path):
    table = pa_csv.read_csv(write_records(tmp_path, random_rows(100)))
    table = table.append_column("list", pa.array([[1, 2]] * 100))
    pq.write_table(table, tmp_path / "records.parquet")
    case = load(tmp_path / "records.parquet", write_regions(tmp_path))
    with pytest.raises(InputError, match="structured values"):
        case.release(tmp_path / "out")
    report = case.release(tmp_path / "out", ReleaseOptions(format="parquet", pdf=False))
    assert pq.read_table(report.folder / "anonymized.parquet").column("list")[0].as_py() == [1, 2]


def test_a_changed_parquet_file_is_refused(tmp_path):
    case = parquet_case(tmp_path)
    path = tmp_path / "records.parquet"
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="changed since"):
        case.release(tmp_path / "out")
