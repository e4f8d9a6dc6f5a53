"""`vbas risky` from file to list, and to a coarsened file that is read back."""

import csv
import json
import stat
from itertools import pairwise

import pytest

from vbas_desktop.analysis.minimal_uniques.recoding_loop import RecodingSession
from vbas_desktop.cli.main import main


@pytest.fixture
def patients(tmp_path):
    rows = (
        [["7", "Peter", "N5Y2N3", "m", "a, b"]]
        + [["8", "x", "N5Y2K1", "m", "“c”"]] * 3
        + [["9", "y", "N6A1B2", "f", ""]] * 4
    )
    with (tmp_path / "patients.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["no", "name", "postcode", "sex", "note"], *rows])
    return tmp_path / "patients.csv"


def risky(*options):
    return main(["risky", *map(str, options), "--quiet"])


def test_the_list_hides_values_unless_asked(patients, capsys):
    assert risky(patients, "--columns", "postcode,sex", "-k", 3, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["combinations"] == [{"columns": ["postcode"], "count": 1, "size": 1}]
    assert (result["records"], result["k"], result["anonymity"], result["complete"]) == (8, 3, 1, True)
    assert risky(patients, "--columns", "postcode,sex", "-k", 3, "--json", "--show-values") == 0
    assert json.loads(capsys.readouterr().out)["combinations"][0]["values"] == ["N5Y2N3"]
    assert risky(patients, "--columns", "postcode,sex", "-k", 3) == 0
    assert "N5Y2N3" not in capsys.readouterr().out


def test_the_list_has_one_line_for_each_set_of_columns(patients, capsys):
    options = (patients, "--columns", "name,postcode,note", "-k", 4)
    assert risky(*options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("  ")] == [
        f"  2 combinations of 4 records: {name}" for name in ("name", "postcode", "note")
    ]
    assert risky(*options, "--most", 1) == 0
    assert (
        "  … and 2 more sets of columns (--most, or --json for all combinations)\n"
        in capsys.readouterr().out
    )
    assert risky(*options, "--show-values", "--most", 1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in lines if line.startswith("  ")] == [
        "1  name=Peter",
        "… and 5 more (--most, or --json for all)",
    ]


def test_a_codebook_tells_what_shown_values_mean(patients, tmp_path, capsys):
    book = tmp_path / "codes.csv"
    book.write_text("column,value,label\npostcode,N5Y2N3,North end\nsex,F,Female\n", encoding="utf-8")
    given = (patients, "--columns", "postcode,sex", "-k", 3, "--codebook", book)
    assert risky(*given, "--show-values") == 0
    assert "postcode=N5Y2N3 (North end)\n" in capsys.readouterr().out
    assert risky(*given, "--show-values", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["combinations"]
    assert (found["values"], found["labelled"]) == (["N5Y2N3"], ["N5Y2N3 (North end)"])
    assert risky(*given) == 2
    assert "--codebook goes with --show-values" in capsys.readouterr().err


def test_scores_tell_in_how_many_combinations_each_record_is(patients, tmp_path, capsys):
    target = tmp_path / "scores.csv"
    assert risky(patients, "--columns", "name,postcode,note", "-k", 4, "--scores", target) == 0
    assert "4 records are in at least one of them, at most in 3" in capsys.readouterr().out
    scores = ["3", "3", "3", "3", "0", "0", "0", "0"]
    expected = [["record", "combinations"], *([str(n), score] for n, score in enumerate(scores, 1))]
    with target.open(newline="") as stream:
        assert list(csv.reader(stream)) == expected
    assert risky(patients, "--columns", "name,postcode,note", "-k", 4, "--json") == 0
    assert json.loads(capsys.readouterr().out)["records_by_score"] == {"0": 4, "3": 4}


def test_the_coarsened_file_keeps_everything_else_and_is_verified(patients, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["--columns", "postcode,sex", "-k", 3, "--apply", "--identifiers", "name", "--out", out]
    assert risky(patients, *options) == 0
    with (out / "anonymized.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["no", "postcode", "sex", "note"]
    assert ["7", "N5Y2", "m", "a, b"] in rows
    assert len(rows) == 9
    log = json.loads((out / "internal" / "log.json").read_text(encoding="utf-8"))
    assert log["verified"] == {"records": 8, "anonymity": 4}
    assert log["steps"][0]["changes"][0]["values_before"] == 3
    said = capsys.readouterr().err
    assert "NOT" not in said
    assert "warning: written without having been searched: no, note." in said
    assert risky(patients, *options[2:], "--columns", "postcode,sex,note,no") == 0
    assert "searched" not in capsys.readouterr().err


@pytest.mark.parametrize("more", ["", "10,z,N6A1B2,f,late\r\n"])
def test_a_file_that_changes_while_it_is_searched_is_not_released(
    patients, tmp_path, capsys, monkeypatch, more
):
    search = RecodingSession.run

    def meanwhile(coarsener, progress):
        search(coarsener, progress)
        patients.write_bytes(patients.read_bytes().replace(b"Peter", b"Piotr") + more.encode())

    monkeypatch.setattr(RecodingSession, "run", meanwhile)
    options = ["--columns", "postcode,sex", "-k", 3, "--apply", "--out", tmp_path / "out"]
    assert risky(patients, *options) == 1
    assert "changed since it was loaded" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_result_with_exempted_combinations_says_that_it_is_not_anonymous(patients, tmp_path, capsys):
    (tmp_path / "domain.csv").write_text("ALL,Candidate,1\nALL,Candidate,2\n")
    assert (
        risky(
            patients, "--columns", "postcode,sex", "--apply", "--domain-rules", tmp_path / "domain.csv"
        )
        == 0
    )
    assert "NOT 3-anonymous" in capsys.readouterr().err


def test_coarsening_without_a_folder_says_that_nothing_was_written(patients, capsys):
    for more in ([], ["--json"]):
        assert risky(patients, "--columns", "postcode,sex", "--apply", *more) == 0
        assert "Nothing was written. Name a folder" in capsys.readouterr().err


def test_a_result_that_is_not_anonymous_is_written_only_if_that_is_said(patients, tmp_path, capsys):
    (tmp_path / "domain.csv").write_text("ALL,Candidate,1\nALL,Candidate,2\n")
    options = [
        "--columns",
        "postcode,sex",
        "--apply",
        "--domain-rules",
        tmp_path / "domain.csv",
        "--out",
        tmp_path / "out",
    ]
    assert risky(patients, *options) == 3
    assert "would not be 3-anonymous" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert risky(patients, *options, "--allow-exempted") == 0
    assert (tmp_path / "out" / "anonymized.csv").exists()


def test_what_is_handed_on_tells_nothing_by_its_order_and_the_log_stays(tmp_path):
    source = tmp_path / "sorted.csv"
    source.write_text("age,place\n" + "".join(f"{n // 4},{'ab'[n % 2]}\n" for n in range(400)))
    options = ["--columns", "place", "-k", 3, "--apply"]
    orders = []
    for name, more in (
        ("one", []),
        ("two", []),
        ("three", ["--shuffle-seed", "s"]),
        ("four", ["--shuffle-seed", "s"]),
    ):
        assert risky(source, *options, "--out", tmp_path / name, *more) == 0
        orders.append((tmp_path / name / "anonymized.csv").read_text().splitlines())
        assert stat.S_IMODE((tmp_path / name / "internal").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / name / "internal" / "log.json").stat().st_mode) == 0o600
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == [
            "anonymized.csv",
            "internal",
        ]
    assert all(sorted(order) == sorted(source.read_text().splitlines()) for order in orders)
    ages = [int(row.split(",")[0]) for row in orders[0][1:]]
    # In the source each age is at least the one before; by chance about half are.
    assert 120 < sum(b >= a for a, b in pairwise(ages)) < 300
    assert orders[0] != orders[1]
    assert orders[2] == orders[3]


def test_what_is_left_is_told_in_values_and_information_not_in_cells(tmp_path, capsys):
    # 16 postcodes of two records each lose their last digit: four are left, of which each stands for four.
    source = tmp_path / "people.csv"
    source.write_text(
        "postcode,sex\n" + "".join(f"{n // 8 + 1}{n // 2 % 4},{'fm'[n % 2]}\n" for n in range(32))
    )
    (tmp_path / "rules.csv").write_text("postcode,-1\n")
    options = [
        "--columns",
        "postcode,sex",
        "-k",
        3,
        "--apply",
        "--suppress",
        0,
        "--filter-rules",
        tmp_path / "rules.csv",
    ]
    assert risky(source, *options) == 0
    said = capsys.readouterr().out
    assert "cells" not in said
    # Of the four bits of a postcode two are lost, of the sex nothing.
    assert "25 % of the information is lost (mean over the columns)" in said
    assert (
        "  postcode 16 → 4 (50 % of the information lost)\n  sex 2 → 2 (0 % of the information lost)"
        in said
    )
    assert risky(source, *options, "--json") == 0
    log = json.loads(capsys.readouterr().out)
    assert log["information_loss"] == pytest.approx(0.25)
    assert log["detail"] == [
        {
            "column": "postcode",
            "values_before": 16,
            "values_after": 4,
            "information_loss": pytest.approx(0.5),
        },
        {"column": "sex", "values_before": 2, "values_after": 2, "information_loss": 0.0},
    ]
    assert "share_kept" not in log


def test_a_public_table_is_taken_into_account(patients, tmp_path, capsys):
    (tmp_path / "public.csv").write_text("sex\nm\nm\nm\nf\n")
    assert risky(patients, "--columns", "sex", "--reference", tmp_path / "public.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["combinations"] == [
        {"columns": ["sex"], "count": 4, "size": 1}
    ]
    (tmp_path / "other.csv").write_text("colour\nred\n")
    assert risky(patients, "--columns", "sex", "--reference", tmp_path / "other.csv") == 1
    assert "shares no column" in capsys.readouterr().err


def test_several_public_tables_are_all_taken_into_account(patients, tmp_path, capsys):
    (tmp_path / "sexes.csv").write_text("sex\nm\nm\nm\nf\n")
    (tmp_path / "notes.csv").write_text("note\n“c”\n“c”\n“c”\n\n")
    both = ["--reference", tmp_path / "sexes.csv", "--reference", tmp_path / "notes.csv"]
    for order in (both, both[2:] + both[:2]):
        assert risky(patients, "--columns", "sex,note", "-k", 3, "--json", "--show-values", *order) == 0
        found = json.loads(capsys.readouterr().out)["combinations"]
        values = sorted(
            (each["columns"][0], each["values"][0], each["count"]) for each in found if each["size"] == 1
        )
        assert values == [("note", "(missing)", 4), ("note", "a, b", 1), ("sex", "f", 4)]


@pytest.mark.parametrize("option", ["--domain-rules", "--filter-rules", "--codebook"])
def test_a_rule_file_is_not_silently_replaced_by_another(patients, option, capsys):
    with pytest.raises(SystemExit) as ended:
        risky(patients, option, "one.csv", option, "other.csv")
    assert ended.value.code == 2
    assert f"{option}: it is given twice" in capsys.readouterr().err


def test_thresholds_count_the_combinations_of_all_sizes(patients, tmp_path, capsys):
    rules = tmp_path / "domain.csv"
    rules.write_text("sex,Threshold Greater,1\n")
    options = ["--columns", "postcode,sex", "-k", 3, "--domain-rules", rules, "--json"]
    assert risky(patients, *options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["appearances"] == {"postcode": 1, "sex": 0}
    assert (found["exempted"], found["thresholds"]) == (0, "")
    rules.write_text("postcode,Threshold Greater,0\n")
    assert risky(patients, *options) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["number"], found["exempted"]) == (0, 1)
    assert risky(patients, *options[:-1], "--max-size", 1) == 0
    assert (
        "thresholds of domain rules count combinations of at most 1 column." in capsys.readouterr().err
    )


def test_numbers_and_the_trim_divisor_are_chosen_and_logged(tmp_path, capsys):
    path = tmp_path / "ages.csv"
    path.write_text("age,code\n" + "".join(f"{20 + n},N5Y{n // 3}{n}X\n" for n in range(6)))
    logs = {}
    for strategy, options in (
        ("paper", []),
        ("paper", ["--numbers", "pairs"]),
        ("cover", []),
        ("paper", ["--trim-divisor", 2]),
    ):
        assert risky(path, "-k", 2, "--apply", "--strategy", strategy, *options, "--json") == 0
        log = json.loads(capsys.readouterr().out)
        first = {change["column"]: change["what"] for change in log["steps"][0]["changes"]}
        logs[strategy, *options] = (log["numbers"], log["trim_divisor"], first)
    assert logs["paper",] == ("null", 3, {"age": "emptied", "code": "last 2 characters cut"})
    assert logs["paper", "--numbers", "pairs"][2]["age"] == "neighbouring values joined"
    assert logs["cover",][0] == "pairs"
    assert logs["paper", "--trim-divisor", 2] == (
        "null",
        2,
        {"age": "emptied", "code": "last 3 characters cut"},
    )


@pytest.mark.parametrize(
    ("options", "said", "code"),
    [
        (["--columns", "postcod"], "There is no column “postcod”", 1),
        (["--suppress", "1"], "--suppress is a share from 0 to below 1", 2),
        (["--out", "x"], "--out goes with --apply", 2),
        (["--scores", "x", "--apply"], "--scores goes without --apply", 2),
        (["--columns", "sex", "--apply", "--identifiers", "sex", "--out", "x"], "cannot be dropped", 1),
    ],
)
def test_bad_requests_are_explained(patients, options, said, code, capsys):
    assert risky(patients, *options) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["-k", "--max-size"])
def test_numbers_below_1_are_wrong_usage(patients, option, capsys):
    with pytest.raises(SystemExit) as ended:
        risky(patients, option, 0)
    assert ended.value.code == 2
    assert f"argument {option}: 0 is too low; the least is 1" in capsys.readouterr().err


def test_formulas_are_escaped_and_the_escaped_text_may_be_there_already(tmp_path):
    records, out = tmp_path / "records.csv", tmp_path / "out"
    records.write_text("=a,b\n" + "=1,@x\n" * 4 + "'=1,-3\n" * 4 + "'=1,@x\n" * 3)
    assert (
        main(
            [
                "risky",
                str(records),
                "-k",
                "3",
                "--apply",
                "--escape-formulas",
                "--out",
                str(out),
                "--quiet",
            ]
        )
        == 0
    )
    header, *rows = (out / "anonymized.csv").read_text().splitlines()
    assert header == "'=a,b"
    assert sorted(rows) == ["'=1,'@x"] * 7 + ["'=1,-3"] * 4
    assert json.loads((out / "internal" / "log.json").read_text())["verified"] == {
        "records": 11,
        "anonymity": 4,
    }
