"""The region map: which regions the ids of the records stand for, and who gets which."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_making import without_codes

from vbas_desktop.audit.coded_file import ReadOptions, read_arrays
from vbas_desktop.audit.region_map import (
    RegionShare,
    assign_regions,
    read_region_shares,
    regions_in_turn,
)
from vbas_desktop.audit.text_hashes import TextHasher
from vbas_desktop.cli.main import main
from vbas_desktop.engine.region_map import apportion, map_regions, spread
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.io.regions.region_map import load_region_map
from vbas_desktop.model.findings import InputError
from vbas_desktop.releases import database_records

IDS = ("p1", "p2", "p3", "p4")


def written(tmp_path, text, name="map.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def shares_strategy():
    return st.lists(st.integers(1, 9), min_size=1, max_size=6).map(
        lambda parts: [Fraction(part, sum(parts)) for part in parts]
    )


@given(st.integers(0, 200), shares_strategy())
def test_records_are_divided_by_largest_remainders(number, shares):
    parts = apportion(number, shares)
    assert sum(parts) == number
    quotas = [number * share for share in shares]
    assert all(abs(part - quota) < 1 for part, quota in zip(parts, quotas, strict=True))
    rounded_up = [quota % 1 for part, quota in zip(parts, quotas, strict=True) if part > quota]
    rounded_down = [quota % 1 for part, quota in zip(parts, quotas, strict=True) if part <= quota]
    assert not rounded_up or min(rounded_up) >= max(rounded_down, default=0)


def test_equal_parts_take_turns_and_unequal_ones_are_spaced_evenly():
    assert spread([2, 2, 2]).tolist() == [0, 1, 2, 0, 1, 2]
    assert spread([3, 2, 2]).tolist() == [0, 1, 2, 0, 1, 2, 0]
    # At 1/8, 3/8, 5/8, 7/8 and at 1/2.
    assert spread([4, 1]).tolist() == [0, 0, 1, 0, 0]
    assert spread([0, 3]).tolist() == [1, 1, 1]
    assert spread([0, 0]).tolist() == []


@given(st.integers(0, 120), shares_strategy())
def test_the_auditor_comes_to_the_same_assignment(number, shares):
    lines = [RegionShare(f"p{place}", share) for place, share in enumerate(shares)]
    assert regions_in_turn(number, lines) == spread(apportion(number, shares)).tolist()


def test_a_map_is_read_with_even_and_with_given_shares(tmp_path):
    even = load_region_map(str(written(tmp_path, "from,to\nd1,p1\nd1,p2\nd2,p2\n")), IDS)
    assert even.targets == {
        "d1": (("p1", Fraction(1, 2)), ("p2", Fraction(1, 2))),
        "d2": (("p2", Fraction(1)),),
    }
    given_shares = written(tmp_path, "From,To,Share\nd1,p1,0.75\nd1,p2,0.25\nd1,p3,0\nd2,p4,1\n\n")
    assert load_region_map(str(given_shares), IDS).targets == {
        "d1": (("p1", Fraction(3, 4)), ("p2", Fraction(1, 4))),
        "d2": (("p4", Fraction(1)),),
    }
    thirds = load_region_map(
        str(written(tmp_path, "from,to,share\nd,p1,0.333\nd,p2,0.333\nd,p3,0.333\n")), IDS
    )
    assert thirds.targets["d"] == tuple((region, Fraction(1, 3)) for region in ("p1", "p2", "p3"))
    assert load_region_map(None, IDS) is None


@pytest.mark.parametrize(
    ("text", "said", "row"),
    [
        ("", "its columns are not from,to or from,to,share", 1),
        ("a,b\nd,p1\n", "its columns are not from,to or from,to,share", 1),
        ("from,to\n", "has no lines below the names", None),
        ("from,to\nd,nowhere\n", "“nowhere” in the column “to” is not in the region file", 2),
        ("from,to\nd,p1\nd,p2\nd,p1\n", "The pair of ids is listed twice", 4),
        ("from,to\nd\n", "does not name an id and a region", 2),
        ("from,to\n,p1\n", "does not name an id and a region", 2),
        ("from,to,share\nd,p1,half\n", "The share is not a number from 0 to 1", 2),
        ("from,to,share\nd,p1,1.5\n", "The share is not a number from 0 to 1", 2),
        ("from,to,share\ne,p1,1\nd,p1,0.5\nd,p2,0.4\n", "add up to 0.9, not to 1", 3),
    ],
)
def test_what_is_wrong_with_a_map_is_said_with_its_row(tmp_path, text, said, row):
    with pytest.raises(InputError, match=said) as caught:
        load_region_map(str(written(tmp_path, text)), IDS)
    assert caught.value.findings[0].row == row


def test_several_mistakes_are_told_together(tmp_path):
    with pytest.raises(InputError) as caught:
        load_region_map(str(written(tmp_path, "from,to\nd,x1\nd,x2\nd,p1\nd,p1\n")), IDS)
    assert [finding.row for finding in caught.value.findings] == [2, 3, 5]


def records_of(tmp_path, ids):
    path = written(tmp_path, "area,sex\n" + "".join(f"{each},f\n" for each in ids), "records.csv")
    return load_records(path)


def naive_regions(ids, targets):
    """Row by row: the records of an id by their number among those of this id."""
    totals = Counter(ids)
    turns = {}
    for each in totals:
        lines = targets.get(each, ((each, Fraction(1)),))
        parts = apportion(totals[each], [share for _, share in lines])
        places = sorted(
            ((2 * i + 1) / (2 * part), at) for at, part in enumerate(parts) for i in range(part)
        )
        turns[each] = iter([lines[at][0] for _, at in places])
    return [next(turns[each]) for each in ids]


def test_every_record_gets_its_region_and_other_ids_do_not_matter(tmp_path):
    draw = random.Random(5)
    mapping = load_region_map(
        str(
            written(
                tmp_path, "from,to,share\nd1,p1,0.5\nd1,p2,0.3\nd1,p3,0.2\nd2,p3,1\nd3,p4,.5\nd3,p1,.5\n"
            )
        ),
        IDS,
    )
    ids = draw.choices(["d1", "d2", "d3", "p2", "strange"], k=400)
    table = map_regions(records_of(tmp_path, ids), "area", mapping)
    facts = table.facts("area")
    found = [facts.categories.values[code] for code in table.codes("area")]
    assert found == naive_regions(ids, mapping.targets)
    assert facts.frequencies.tolist() == [found.count(value) for value in facts.categories.values]
    assert table.codes_at("area", np.array([3, 10])).tolist() == table.codes("area")[[3, 10]].tolist()
    assert map_regions(table, "area", mapping) is table
    assert table.rows_hash == records_of(tmp_path, ids).rows_hash
    lines = read_region_shares(tmp_path / "map.csv")
    file = read_arrays([[pa.array(ids[:5])], [pa.array(ids[5:])]], ReadOptions([0], TextHasher()))
    column = assign_regions(file, file.columns[0], lines)
    assert [column.known_texts[code] for code in column.all_codes()] == found


def test_a_region_that_gets_no_record_is_no_value_of_the_column(tmp_path):
    mapping = load_region_map(str(written(tmp_path, "from,to\nd1,p1\nd1,p2\nd2,p3\nd2,p4\n")), IDS)
    table = map_regions(records_of(tmp_path, ["d1", "d2", "d2"]), "area", mapping)
    assert table.facts("area").categories.values == ("p1", "p3", "p4")
    assert table.codes("area").tolist() == [0, 1, 2]


@pytest.fixture
def case(tmp_path):
    """Dissemination areas of the records against postal codes of the region file, many to many."""
    draw = random.Random(1)
    codes = [f"c{x}{y}" for x in range(4) for y in range(4)]
    regions = "id,x,y\n" + "".join(f"{code},{code[1]},{code[2]}\n" for code in codes)
    written(tmp_path, regions, "regions.csv")
    areas = {f"a{number}": sorted(draw.sample(codes, 1 + number % 4)) for number in range(9)}
    lines = [f"{area},{code}" for area, targets in areas.items() for code in targets]
    written(tmp_path, "from,to\n" + "\n".join(lines) + "\n")
    rows = [
        f"{draw.choice(list(areas))},{draw.choice('mf')},{draw.randint(1, 3)},{number}"
        for number in range(900)
    ]
    written(tmp_path, "area,sex,age,person\n" + "\n".join(rows) + "\n", "records.csv")
    return tmp_path


def options_of(case, *more):
    data = [str(case / "records.csv"), str(case / "regions.csv"), "--region-map", str(case / "map.csv")]
    columns = ["--region-column", "area", "--quasi-identifiers", "sex,age", "--identifiers", "person"]
    return [*data, *columns, "-k", "3", "--sites", "4", "--range-reach", "0", "--quiet", *more]


def released(folder):
    with (folder / "release" / "anonymized.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("more", [(), ("--no-shuffle",), ("--format", "parquet")])
def test_a_release_is_that_of_records_that_name_the_regions_themselves(case, capsys, more):
    """The same file with the regions written into it beforehand must come to the same records."""
    with (case / "records.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    mapping = load_region_map(str(case / "map.csv"), [f"c{x}{y}" for x in range(4) for y in range(4)])
    regions = naive_regions([row["area"] for row in rows], mapping.targets)
    text = "".join(
        f"{region},{row['sex']},{row['age']},{row['person']}\n"
        for region, row in zip(regions, rows, strict=True)
    )
    written(case, "area,sex,age,person\n" + text, "plain.csv")
    secret = ("--shuffle-seed", "0" * 64) if more != ("--no-shuffle",) else ()
    assert main(["run", *options_of(case, *more, *secret), "--out", str(case / "mapped")]) == 0
    plain = [
        each
        for each in options_of(case, *more, *secret)
        if each not in ("--region-map", str(case / "map.csv"))
    ]
    plain[0] = str(case / "plain.csv")
    assert main(["run", *plain, "--out", str(case / "named")]) == 0
    capsys.readouterr()
    for name in ("crosswalk.csv", "aggregated_regions.csv"):
        assert (case / "mapped" / "release" / name).read_bytes() == (
            case / "named" / "release" / name
        ).read_bytes()
    if "parquet" not in more:
        assert sorted(map(str, released(case / "mapped"))) == sorted(map(str, released(case / "named")))


def test_run_json_has_the_map_with_its_hash_and_export_wants_the_same_map(case, capsys):
    import hashlib

    assert main(["run", *options_of(case), "--out", str(case / "out")]) == 0
    document = json.loads((case / "out" / "run.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256((case / "map.csv").read_bytes()).hexdigest()
    assert document["inputs"]["region_map"]["sha256"] == digest
    assert document["options"]["region_map"] == str(case / "map.csv")
    again = ["export", str(case / "out"), "--solution", "1", "--quiet"]
    assert main([*again, "--out", str(case / "again")]) == 0
    assert sorted(map(str, released(case / "again"))) == sorted(map(str, released(case / "out")))
    with (case / "map.csv").open("a", encoding="utf-8") as file:
        file.write("a99,c00\n")
    assert main([*again, "--out", str(case / "third")]) == 1
    assert "This is not the file of the run" in capsys.readouterr().err
    assert not (case / "third").exists()


def test_a_column_that_must_be_read_again_stays_with_its_records(case, monkeypatch):
    """A column with too many values to be coded is read once more from the file while the release is written."""
    secret = ("--shuffle-seed", "1" * 64)
    assert main(["run", *options_of(case, *secret), "--out", str(case / "coded")]) == 0
    found = database_records.find_released_records

    def without_some_codes(plan, table, progress):
        used = (plan.problem.region_column, *plan.problem.quasi_identifiers)
        others = [name for name in table.file_format.header if name not in used]
        return found(plan, without_codes(table, *others), progress)

    monkeypatch.setattr(database_records, "find_released_records", without_some_codes)
    assert main(["run", *options_of(case, *secret), "--out", str(case / "again")]) == 0
    files = [case / name / "release" / "anonymized.csv" for name in ("coded", "again")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_auditor_refuses_a_release_whose_writer_split_otherwise(case, monkeypatch, capsys):
    from vbas_desktop.engine import region_map

    def all_to_the_first(codes, split):
        totals = np.bincount(codes)
        return {code: np.zeros(totals[code], np.int32) for code in split}

    monkeypatch.setattr(region_map, "split_rows", all_to_the_first)
    assert main(["run", *options_of(case), "--out", str(case / "out")]) == 3
    assert "did not pass its verification" in capsys.readouterr().err
    assert not (case / "out").exists()


def test_compare_uses_the_map(case, capsys):
    arguments = [each for each in options_of(case) if each not in ("--sites", "4")]
    assert (
        main(
            [
                "compare",
                *arguments,
                "--site-number",
                "fixed",
                "--sites",
                "3",
                "--out",
                str(case / "table"),
            ]
        )
        == 0
    )
    with (case / "table" / "comparison.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["records"] for row in rows} == {"900"}


def test_ids_that_neither_file_knows_are_unknown_regions(case, capsys):
    with (case / "records.csv").open("a", encoding="utf-8") as file:
        file.write("elsewhere,f,1,9001\n")
    assert main(["run", *options_of(case)]) == 1
    assert "1 record names a region that the region file lacks" in capsys.readouterr().err
    assert main(["run", *options_of(case, "--unknown-regions", "suppress")]) == 0


def test_a_map_for_records_behind_an_address_is_refused(case, capsys):
    folder = case / "parts"
    folder.mkdir()
    (case / "records.csv").rename(folder / "records.csv")
    arguments = options_of(case)
    arguments[0] = str(folder)
    assert main(["run", *arguments]) == 1
    assert "A region map needs a record file" in capsys.readouterr().err


def test_python_reads_a_map_too(tmp_path):
    import vbas_desktop

    records = written(tmp_path, "area,sex\n" + "d1,f\n" * 10 + "d2,m\n" * 9, "records.csv")
    regions = written(tmp_path, "id,x,y\np1,0,0\np2,1,0\np3,5,0\n", "regions.csv")
    path = written(tmp_path, "from,to\nd1,p1\nd1,p2\nd2,p3\n")
    data = vbas_desktop.read(
        records, regions, region_column="area", quasi_identifiers=["sex"], region_map=path
    )
    result = vbas_desktop.run(data, k=2, site_number="fixed", sites=3, range_reach=0)
    assert result.solutions[0].measures["discernibility"] == 5**2 + 5**2 + 9**2


@pytest.mark.parametrize("more", [(), ("--format", "parquet")])
def test_records_that_a_filter_leaves_out_do_not_count_among_those_of_an_id(case, more):
    """A file without these records, and the same with a filter, are split in the same way."""
    kept = (case / "records.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    written(case, "sex,age\nm,2\n", "drop.csv")
    written(case, "".join(line for line in kept if ",m,2," not in line), "fewer.csv")
    arguments = options_of(case, *more)
    assert (
        main(["run", *arguments, "--drop-records", str(case / "drop.csv"), "--out", str(case / "one")])
        == 0
    )
    arguments[0] = str(case / "fewer.csv")
    assert main(["run", *arguments, "--out", str(case / "two")]) == 0
    tables = [
        (case / name / "release" / "aggregated_regions.csv").read_bytes() for name in ("one", "two")
    ]
    assert tables[0] == tables[1]
    if not more:
        rows = [sorted(map(str, released(case / name))) for name in ("one", "two")]
        assert rows[0] == rows[1]
