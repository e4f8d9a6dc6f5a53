"""`vbas verify`: one JSON object, and an exit code that scripts can trust."""

import json

import pytest

from vbas_desktop.cli.main import main


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("age,sex,region\n" + "1,F,a\n" * 5 + "1,M,a\n" * 3)
    return path


def verify(path, *options):
    return main(
        ["verify", str(path), "--quasi-identifiers", "age,sex", "--region-column", "region", *options]
    )


def test_an_anonymous_file_passes(release, capsys):
    assert verify(release, "-k", "3") == 0
    output = capsys.readouterr()
    assert json.loads(output.out) == {
        "k": 3,
        "anonymity": 3,
        "records": 8,
        "violating_records": 0,
        "ok": True,
        "regions": 1,
        "classes": 2,
        "violating_classes": 0,
        "anonymity_vector": {"3": 1, "5": 1},
    }
    assert "is 3-anonymous" in output.err


def test_a_file_with_a_small_class_does_not(release, capsys):
    assert verify(release, "-k", "5", "--quiet") == 3
    output = capsys.readouterr()
    answer = json.loads(output.out)
    assert (answer["anonymity"], answer["violating_records"], answer["ok"]) == (3, 3, False)
    assert output.err == ""


def test_a_wrong_column_is_wrong_input(release, capsys):
    assert (
        main(["verify", str(release), "--quasi-identifiers", "income", "--region-column", "region"]) == 1
    )
    assert "There is no column “income”" in capsys.readouterr().err


def test_the_region_column_is_no_quasi_identifier(release, capsys):
    assert (
        main(["verify", str(release), "--quasi-identifiers", "region", "--region-column", "region"]) == 1
    )
    assert "cannot be a quasi-identifier too" in capsys.readouterr().err


def test_no_quasi_identifier_is_wrong_input(release, capsys):
    assert main(["verify", str(release), "--quasi-identifiers", ",", "--region-column", "region"]) == 1
    assert "No quasi-identifier" in capsys.readouterr().err


@pytest.mark.parametrize("k", ["0", "-1", "many"])
def test_k_below_one_is_wrong_usage(release, k):
    with pytest.raises(SystemExit) as stopped:
        verify(release, f"-k={k}")
    assert stopped.value.code == 2


def test_a_tab_can_be_named(tmp_path, capsys):
    path = tmp_path / "release.tsv"
    path.write_text("age\tsex\tregion\n" + "1\tF\ta\n" * 5)
    assert verify(path, "--delimiter", "tab") == 0
    assert json.loads(capsys.readouterr().out)["records"] == 5
