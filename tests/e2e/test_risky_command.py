"""`vbas risky` from file to list, and to a coarsened file that is read back."""

import csv
import json

import pytest

from vbas_desktop.assessment.risky.loop import Coarsener
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
    assert rows[1] == ["7", "N5Y2", "m", "a, b"]
    assert len(rows) == 9
    log = json.loads((out / "log.json").read_text(encoding="utf-8"))
    assert log["verified"] == {"records": 8, "anonymity": 4}
    assert log["steps"][0]["changes"][0]["values_before"] == 3
    assert "NOT" not in capsys.readouterr().err


@pytest.mark.parametrize("more", ["", "10,z,N6A1B2,f,late\r\n"])
def test_a_file_that_changes_while_it_is_searched_is_not_released(patients, tmp_path, capsys, monkeypatch, more):
    search = Coarsener.run

    def meanwhile(coarsener, progress):
        search(coarsener, progress)
        patients.write_bytes(patients.read_bytes().replace(b"Peter", b"Piotr") + more.encode())

    monkeypatch.setattr(Coarsener, "run", meanwhile)
    options = ["--columns", "postcode,sex", "-k", 3, "--apply", "--out", tmp_path / "out"]
    assert risky(patients, *options) == 1
    assert "changed since it was loaded" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_result_with_exempted_combinations_says_that_it_is_not_anonymous(patients, tmp_path, capsys):
    (tmp_path / "domain.csv").write_text("ALL,Candidate,1\nALL,Candidate,2\n")
    assert risky(patients, "--columns", "postcode,sex", "--apply", "--domain-rules", tmp_path / "domain.csv") == 0
    assert "NOT 3-anonymous" in capsys.readouterr().err


def test_a_public_table_is_taken_into_account(patients, tmp_path, capsys):
    (tmp_path / "public.csv").write_text("sex\nm\nm\nm\nf\n")
    assert risky(patients, "--columns", "sex", "--reference", tmp_path / "public.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["combinations"] == [{"columns": ["sex"], "count": 4, "size": 1}]
    (tmp_path / "other.csv").write_text("colour\nred\n")
    assert risky(patients, "--columns", "sex", "--reference", tmp_path / "other.csv") == 1
    assert "shares no column" in capsys.readouterr().err


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
