"""An allowed loss is a promise: without consent nothing is written that breaks it, and the message says what helps."""

import csv
import json

import pandas
import pytest
from release_making import write_records, write_regions

import vbas_desktop as vbas
from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError

REGIONS = 16
HEADER = ["age", "sex", "region", "illness"]


def even_rows(copies=6):
    """Every combination of age, sex and region equally often, with two illnesses in turn: nothing needs to be lost."""
    return [
        [age, sex, f"r{region}", "ab"[copy % 2]]
        for age in ("young", "old")
        for sex in "fm"
        for region in range(REGIONS)
        for copy in range(copies)
    ]


@pytest.fixture
def files(tmp_path):
    """Write records with the rows of a test; 384 of them are even."""

    def write(*more):
        return [
            str(write_records(tmp_path, [*even_rows(), *more], HEADER)),
            str(write_regions(tmp_path)),
        ]

    return write


def run(files, *options):
    columns = ["--region-column", "region", "--quasi-identifiers", "age,sex", "--sensitive", "illness"]
    return main(["run", *files, *columns, "-k", "5", "--no-pdf", *options])


STRANGERS = [["young", "f", "elsewhere", "a"]] * 20
RARE = [[f"of {number} years", "f", "r0", "a"] for number in range(20)]
ONE_SIDED = [["aged", "f", f"r{number}", "c"] for number in range(REGIONS) for _ in range(3)]


@pytest.mark.parametrize(
    ("more", "options", "cause", "remedy"),
    [
        (
            STRANGERS,
            ["--unknown-regions", "suppress"],
            "20 of unknown regions",
            "Correct the region ids",
        ),
        (RARE, [], "20 too rare in the whole file", "Take categories together"),
        (
            ONE_SIDED,
            ["--criterion", "share:60"],
            "48 in classes that miss the criteria",
            "Choose a weaker criterion than share:60 of “illness”.",
        ),
    ],
)
def test_nothing_is_written_beyond_the_loss_and_the_advice_fits_the_cause(
    files, tmp_path, capsys, more, options, cause, remedy
):
    both = files(*more)
    assert run(both, *options, "--quiet", "--out", str(tmp_path / "out")) == 1
    said = capsys.readouterr().err
    assert "Nothing was written." in said
    assert f"more than the 1 % that are allowed: {cause}." in said
    assert remedy in said
    assert "--exceed-loss" in said
    others = {"Correct the region ids", "Take categories together", "weaker criterion", "fewer sites"}
    assert [each for each in others if each in said] == [each for each in others if each in remedy]
    assert not (tmp_path / "out").exists()
    assert run(both, *options, "--quiet", "--exceed-loss", "--out", str(tmp_path / "out")) == 0
    warned = capsys.readouterr().err
    assert warned.startswith("warning: The release of this solution lacks ")
    assert f"{cause}." in warned
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    assert document["release"]["exceed_loss"] is True
    assert "allowed-loss" in [each["code"] for each in document["warnings"]]
    inside, outside = (
        (tmp_path / "out" / folder / "report.html").read_text(encoding="utf-8")
        for folder in ("internal", "release")
    )
    assert "more than the 1 % that are allowed" in inside
    assert "more than the 1 % that are allowed" not in outside


def test_two_causes_get_two_remedies_if_one_is_not_enough(files, tmp_path, capsys):
    both = files(*STRANGERS, *RARE[:10])
    assert run(both, "--unknown-regions", "suppress", "--quiet", "--out", str(tmp_path / "out")) == 1
    said = capsys.readouterr().err
    assert "20 of unknown regions, 10 too rare in the whole file." in said
    assert said.index("Correct the region ids") < said.index("Take categories together")
    # Without the strangers, 2 rare records are within 1 % of 406.
    both = files(*STRANGERS, *RARE[:2])
    assert run(both, "--unknown-regions", "suppress", "--quiet", "--out", str(tmp_path / "out")) == 1
    said = capsys.readouterr().err
    assert "Correct the region ids" in said
    assert "Take categories together" not in said


def test_a_loss_within_what_is_allowed_is_released_without_a_word(files, tmp_path, capsys):
    both = files(*STRANGERS)
    options = [
        "--unknown-regions",
        "suppress",
        "--allowed-loss",
        "5",
        "--quiet",
        "--out",
        str(tmp_path / "out"),
    ]
    assert run(both, *options) == 0
    assert capsys.readouterr().err == ""


def test_without_a_limit_the_release_is_written_with_a_warning_that_quiet_does_not_hide(
    files, tmp_path, capsys
):
    both = files(*RARE)
    assert run(both, "--sites", "2", "--quiet", "--out", str(tmp_path / "out")) == 0
    said = capsys.readouterr().err
    assert said.startswith("warning: The release of this solution lacks ")
    assert "more than the usual 1 %: 20 too rare in the whole file." in said
    export = ["export", str(tmp_path / "out"), "--no-pdf", "--quiet", "--out", str(tmp_path / "again")]
    assert main(export) == 0
    assert capsys.readouterr().err == said


def test_a_given_loss_is_in_force_with_any_site_number(files, tmp_path, capsys):
    both = files(*RARE)
    given = ["--sites", "2", "--allowed-loss", "1", "--quiet", "--out", str(tmp_path / "out")]
    assert run(both, *given) == 1
    assert "more than the 1 % that are allowed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert run(both, *given, "--exceed-loss") == 0
    # The run file keeps that the loss was given, so that an export asks for consent of its own.
    capsys.readouterr()
    export = ["export", str(tmp_path / "out"), "--no-pdf", "--quiet", "--out", str(tmp_path / "again")]
    assert main(export) == 1
    assert "Nothing was written." in capsys.readouterr().err
    assert not (tmp_path / "again").exists()
    assert main([*export, "--exceed-loss"]) == 0


def test_the_finest_solution_within_the_given_loss_is_released_and_others_need_consent(
    files, tmp_path, capsys
):
    rows = [
        [age, "f", f"r{region}", "a"]
        for age in ("mid", "late")
        for region in range(REGIONS)
        for _ in range(2)
    ]
    both = files(*rows)
    options = ["--site-number", "fixed", "--sites", "8", "--range-reach", "3", "--range-step", "30"]
    options += ["--allowed-loss", "1", "--quiet"]
    assert run(both, *options, "--out", str(tmp_path / "out")) == 0
    assert capsys.readouterr().err == ""
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    losses = {each["id"]: each["suppressed_percent"] for each in document["solutions"]}
    chosen = document["chosen_solution"]
    assert document["recommended_solution"] == chosen
    assert losses[chosen] <= 1
    beyond = max(losses, key=losses.__getitem__)
    assert losses[beyond] > 1
    export = ["export", str(tmp_path / "out"), "--no-pdf", "--quiet", "--out", str(tmp_path / "other")]
    assert main([*export, "--solution", str(beyond)]) == 1
    said = capsys.readouterr().err
    assert f"aggregated regions is within it (--solution {chosen})." in said
    assert "Use fewer sites" in said
    assert "In tiers (--tiers auto) the same regions would lose 0 %." in said
    assert main([*export, "--solution", str(beyond), "--exceed-loss"]) == 0
    with (tmp_path / "other" / "release" / "anonymized.csv").open() as file:
        assert len(list(csv.reader(file))) - 1 == round((1 - losses[beyond] / 100) * (384 + len(rows)))


def test_python_keeps_the_promise_too(tmp_path):
    rows = [*even_rows(), *STRANGERS]
    regions = pandas.DataFrame(
        {"id": [f"r{i}" for i in range(REGIONS)], "x": range(REGIONS), "y": [0, 1] * 8}
    )
    data = vbas.read(
        pandas.DataFrame(rows, columns=HEADER),
        regions,
        region_column="region",
        quasi_identifiers="age,sex",
    )
    with pytest.warns(vbas.FindingWarning, match="20 records name a region that the region file lacks"):
        made = vbas.run(data, k=5, unknown_regions="suppress")
    advice = next(each for each in made.findings if "more than the 1 % that are allowed" in each)
    assert "20 of unknown regions. Correct the region ids" in advice
    assert "smaller k" not in advice
    with pytest.raises(InputError, match="Nothing was written") as refused:
        vbas.release(made, tmp_path / "out", pdf=False)
    assert "exceed_loss=True" in str(refused.value)
    assert not (tmp_path / "out").exists()
    report = vbas.release(made, tmp_path / "out", pdf=False, exceed_loss=True)
    assert report.records_released == 384
    assert len([text for text in report.findings if "allowed" in text]) == 1
    with pytest.raises(InputError, match="Nothing was written"):
        vbas.export(tmp_path / "out", tmp_path / "again", pdf=False)
    larger = vbas.run(data, k=5, unknown_regions="suppress", allowed_loss=5)
    assert vbas.release(larger, tmp_path / "larger", pdf=False).records_released == 384
