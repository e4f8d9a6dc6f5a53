"""`vbas outliers` with a column of keys and with columns that have one value per class."""

import csv
import gzip
import io
import re
import stat
from collections import Counter
from fractions import Fraction

import pytest
from outliers_command import C7, DATA, handle, rows_of
from pyarrow import parquet

from vbas_desktop.cli.main import main


def test_c7_comes_out_of_c2_with_means_in_classes_below_ten(tmp_path):
    target = handle(tmp_path, "generalise", *C7)
    assert sorted(map(str, rows_of(target))) == sorted(map(str, rows_of(DATA / "C7.csv")))
    counts = rows_of(tmp_path / "generalise.class_counts.csv")
    assert [(row["Hh"], row["Job"], int(row["records"])) for row in counts] == [
        ("1-5", "Employee", 11),
        ("1-5", "House", 14),
        ("1-5", "Retired", 6),
        ("1-5", "Self", 6),
        ("6-10", "***", 3),
    ]
    means = {(row["Hh"], row["Job"]): row["Value"] for row in rows_of(target)}
    assert [means[key] for key in (("1-5", "Retired"), ("1-5", "Self"), ("6-10", "***"))] == [
        "40.16",
        "39",
        "44",
    ]


def test_all_classes_have_the_means_of_table_6_10(tmp_path):
    target = handle(tmp_path, "generalise", *C7[:-1], "Value,Illness", "--aggregate-classes", "all")
    assert {(row["Hh"], row["Job"], row["Value"], row["Illness"]) for row in rows_of(target)} == {
        ("1-5", "Employee", "40.18", "Yes"),
        ("1-5", "House", "38.78", "Yes"),
        ("1-5", "Retired", "40.16", "Yes"),
        ("1-5", "Self", "39", "Yes"),
        ("6-10", "***", "44", "Yes"),
    }


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("how", ["delete", "merge", "fabricate"])
def test_every_key_leads_back_to_its_record(tmp_path, how, ending):
    unwanted = tmp_path / "unwanted.csv"
    unwanted.write_text("Hh,Job\n5,House\n3,Retired\n")
    target = tmp_path / f"keyed.{ending}"
    command = [
        "outliers",
        str(DATA / "C2.csv"),
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--handle",
        how,
    ]
    more = ["--record-key", "pseudonym", "--drop-records", str(unwanted), "--key", "Key", "--quiet"]
    assert main([*command, *more, "--out", str(target)]) == 0
    rows = parquet.read_table(target).to_pylist() if ending == "parquet" else rows_of(target)
    index = tmp_path / "keyed.index.csv"
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    listed = {row["record_key"]: row for row in rows_of(index)}
    assert list(listed) == sorted(row["pseudonym"] for row in rows)
    assert all(re.fullmatch("[A-Z2-7]{16}", key) for key in listed)
    source = rows_of(DATA / "C2.csv")
    made_up = []
    for row in rows:
        entry = listed[row["pseudonym"]]
        if entry["record"]:
            original = source[int(entry["record"]) - 1]
            assert int(entry["row"]) == int(entry["record"]) + 1
            assert [row[name] for name in ("Key", "PSA", "Illness", "Value")] == [
                original[name] for name in ("Key", "PSA", "Illness", "Value")
            ]
        else:
            assert entry["row"] == ""
            made_up.append(row["Key"])
    # Not even the key of a record that the filter leaves out.
    assert not {row["Key"] for row in source}.intersection(made_up)
    assert bool(made_up) == (how == "fabricate")


@pytest.mark.parametrize("form", ["utf-16", "latin-1", "gzip"])
def test_keys_and_aggregated_values_of_files_in_other_forms_are_verified(tmp_path, form):
    """Quotes, line breaks, blanks, commas and accents in values, as the auditor reads them again."""
    stream = io.StringIO(newline="")
    rows = [
        (f'"{n}"\nline', "é" if n == 59 else "ab"[n % 2], f"{n % 5},5", f" x{n % 3} ") for n in range(60)
    ]
    csv.writer(stream, delimiter=";", lineterminator="\r\n").writerows([("name", "q", "v", "w"), *rows])
    text = stream.getvalue()
    source = tmp_path / ("records.csv.gz" if form == "gzip" else "records.csv")
    source.write_bytes(gzip.compress(text.encode()) if form == "gzip" else text.encode(form))
    command = [
        "outliers",
        str(source),
        "--quasi-identifiers",
        "q",
        "-k",
        "5",
        "--handle",
        "fabricate",
        "--key",
        "name",
    ]
    more = ["--aggregate", "v,w", "--aggregate-classes", "below:6", "--record-key", "--quiet"]
    encoding = [] if form == "gzip" else ["--encoding", form]
    assert main([*command, *more, *encoding, "--out", str(tmp_path / "out.csv")]) == 0
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as written:
        found = list(csv.DictReader(written, delimiter=";"))
    with (tmp_path / "out.index.csv").open(newline="") as index:
        lines = {row["record_key"]: row["row"] for row in csv.DictReader(index)}
    assert len(found) == 64
    assert len({(row["v"], row["w"]) for row in found if row["q"] == "é"}) == 1
    # A record of two lines begins on every second line, after the names.
    assert {row["name"]: lines[row["record_key"]] for row in found if lines[row["record_key"]]} == {
        name: str(2 * n + 2) for n, (name, *_) in enumerate(rows)
    }


def test_keys_differ_on_every_run_unless_a_seed_is_given(tmp_path):
    def keys(*more):
        return {row["key"] for row in rows_of(handle(tmp_path, "merge", "--record-key", "key", *more))}

    drawn = [keys() for _ in range(3)]
    assert len(set.union(*drawn)) == 120
    assert keys("--shuffle-seed", "x") == keys("--shuffle-seed", "x")
    assert not keys("--shuffle-seed", "x") & keys("--shuffle-seed", "y")
    # Files that differ in what they hold cannot be joined by their keys, even with the same seed.
    assert not keys("--shuffle-seed", "x") & keys("--shuffle-seed", "x", "--identifiers", "PSA")


def test_keys_do_not_change_the_order_of_the_rows(tmp_path):
    plain = [row["Key"] for row in rows_of(handle(tmp_path, "merge", "--shuffle-seed", "x"))]
    keyed = [
        row["Key"] for row in rows_of(handle(tmp_path, "merge", "--shuffle-seed", "x", "--record-key"))
    ]
    assert plain == keyed


@pytest.mark.parametrize("below", [None, 4, 6])
@pytest.mark.parametrize("escape", [[], ["--escape-formulas"]])
def test_aggregated_values_of_a_filled_file_are_those_of_all_its_records(tmp_path, below, escape):
    """The same seed gives the same rows, so a file without aggregation tells what must be in the other one."""
    lines = [f"{'abcd'[n % 4]},{n % 3}.{n % 2},{'=x' if n % 3 else '-y'}" for n in range(20)] + [
        "=e,9,z",
        "f,,",
    ]
    (tmp_path / "some.csv").write_text("q,v,w\n" + "\n".join(lines) + "\n")
    command = [
        "outliers",
        str(tmp_path / "some.csv"),
        "--quasi-identifiers",
        "q",
        "-k",
        "3",
        "--handle",
        "fabricate",
    ]
    command += ["--shuffle-seed", "x", "--quiet", *escape]
    classes = "all" if below is None else f"below:{below}"
    assert main([*command, "--out", str(tmp_path / "plain.csv")]) == 0
    more = ["--aggregate", "v,w", "--aggregate-classes", classes, "--record-key", "key"]
    assert main([*command, *more, "--out", str(tmp_path / "one.csv")]) == 0
    plain, one = rows_of(tmp_path / "plain.csv"), rows_of(tmp_path / "one.csv")
    assert len(plain) == len(one) == 26
    for before, after in zip(plain, one, strict=True):
        members = [row for row in plain if row["q"] == before["q"]]
        expected = before["v"], before["w"]
        if below is None or len(members) < below:
            values = [Fraction(row["v"]) for row in members if row["v"]]
            digits = 10 ** (
                2 + max([len(row["v"].partition(".")[2]) for row in members if row["v"]], default=0)
            )
            mean = f"{float(int(sum(values) / len(values) * digits) / digits):.3f}".rstrip("0").rstrip(
                "."
            )
            texts = Counter(row["w"] for row in members if row["w"])
            expected = mean, min(text for text in texts if texts[text] == max(texts.values()))
        assert (after["v"], after["w"]) == expected
    sizes = Counter(row["q"] for row in one)
    assert {row["q"]: int(row["records"]) for row in rows_of(tmp_path / "one.class_counts.csv")} == sizes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--record-key", "PSA"], "column “PSA”: A column of the records has this name"),
        (["--record-key", " "], "The added column with a key of each record has no name"),
        (
            ["--aggregate", "Job"],
            "column “Job”: Quasi-identifiers, keys and identifiers cannot be aggregated",
        ),
        (
            ["--aggregate", "Key", "--key", "Key"],
            "Quasi-identifiers, keys and identifiers cannot be aggregated",
        ),
        (
            ["--aggregate", "PSA", "--identifiers", "PSA"],
            "Quasi-identifiers, keys and identifiers cannot be",
        ),
        (["--aggregate", "Nothing"], "There is no column “Nothing”"),
        (["--aggregate", "Value", "--aggregate-classes", "below:1"], "does not say in which classes"),
    ],
)
def test_columns_that_cannot_be_added_or_aggregated_are_refused(tmp_path, capsys, options, said):
    common = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--out", str(tmp_path / "out.csv"), "--quiet"]
    assert main(["outliers", str(DATA / "C2.csv"), *common, *options]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_files_beside_the_target_are_replaced_only_if_asked_and_outdated_ones_removed(tmp_path, capsys):
    target = tmp_path / "out.csv"
    command = ["outliers", str(DATA / "C2.csv"), "--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet"]
    both = ["--record-key", "key", "--aggregate", "Value"]
    for name in ("out.index.csv", "out.class_counts.csv"):
        (tmp_path / name).write_text("mine\n")
        assert main([*command, *both, "--out", str(target)]) == 1
        assert "There is a file with this name already" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text() == "mine\n"
        (tmp_path / name).unlink()
    assert main([*command, *both, "--out", str(target)]) == 0
    names = {"out.csv", "out.index.csv", "out.class_counts.csv"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert main([*command, "--out", str(target), "--replace"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    (tmp_path / "out.index.csv").write_text("mine\n")
    assert main([*command, "--out", str(target), "--replace"]) == 0
    assert (tmp_path / "out.index.csv").read_text() == "mine\n"
