"""`vbas run --requirement`: solutions are marked by what a researcher needs."""

import json

import pytest

from vbas_desktop.cli.main import main


@pytest.fixture
def files(tmp_path):
    """Four regions in two clusters; merging all of them moves records farther than merging the clusters."""
    (tmp_path / "regions.csv").write_text(
        "id,x,y\na,0,0\nb,1000,0\nc,10000,0\nd,11000,0\n", encoding="utf-8"
    )
    rows = [f"{region},red" for region in "abcd" for _ in range(5)]
    (tmp_path / "records.csv").write_text("region,colour\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def vbas(folder, need, *more):
    (folder / "need.json").write_text(json.dumps({"format_version": 1, **need}))
    files = [str(folder / "records.csv"), str(folder / "regions.csv")]
    columns = ["--region-column", "region", "--quasi-identifiers", "colour", "-k", "2"]
    sites = ["--sites", "2", "--range-step", "50", "--range-reach", "1"]
    return main(["run", *files, *columns, *sites, "--requirement", str(folder / "need.json"), *more])


def test_solutions_say_their_vector_and_whether_they_meet_the_requirement(capsys, files):
    assert vbas(files, {"overall": {"mean_distance": {"max": 1000}}}, "--json", "--quiet") == 0
    document = json.loads(capsys.readouterr().out)
    found = {each["sites"]: each for each in document["solutions"]}
    assert found[1]["representability"]["mean_distance"] == pytest.approx(5000)
    assert found[2]["representability"]["mean_distance"] == pytest.approx(500)
    # two regions of five records each merged: 10 + 10 of C(10, 2) = 45 pairs were together before
    assert found[2]["representability"]["jaccard"] == pytest.approx(20 / 45)
    assert [found[sites]["meets_requirement"] for sites in (1, 2)] == [False, True]
    assert "requirement" not in document["options"]


def test_the_more_regions_are_merged_the_less_detail_of_the_place_is_kept(capsys, files):
    need = {"overall": {"precision": {"min": 0.7}}}
    assert (
        vbas(
            files, need, "--sites", "4", "--range-step", "25", "--range-reach", "3", "--json", "--quiet"
        )
        == 0
    )
    found = {
        each["aggregated_regions"]: (
            each["representability"]["precision_by_column"]["region"],
            each["representability"]["precision"],
            each["meets_requirement"],
        )
        for each in json.loads(capsys.readouterr().out)["solutions"]
    }
    # Of three regions one holds two of the four initial ones: half of the records lose log₂ 2 / log₂ 4.
    assert found == {
        1: (0.0, 0.5, False),
        2: (0.5, 0.75, True),
        3: (0.75, 0.875, True),
        4: (1.0, 1.0, True),
    }


def test_the_table_says_yes_or_no_and_the_chosen_solution_is_warned_of(capsys, files):
    assert vbas(files, {"overall": {"jaccard": {"min": 0.99}}}) == 0
    said = capsys.readouterr()
    assert "meets the requirement" in said.out
    assert "does not meet the requirement" in said.err


def test_the_solution_to_release_is_chosen_among_those_that_meet_it(capsys, files):
    assert vbas(files, {"overall": {"jaccard": {"max": 0.3}}}, "--json", "--quiet") == 0
    document = json.loads(capsys.readouterr().out)
    chosen = next(each for each in document["solutions"] if each["id"] == document["chosen_solution"])
    # At the approximated two sites Jaccard is 20/45; one site merges everything: 40/190.
    assert (document["approximated_sites"], chosen["sites"], chosen["meets_requirement"]) == (2, 1, True)


@pytest.mark.parametrize(
    ("need", "said"),
    [
        ({"overall": {"jacard": {"min": 1}}}, "jacard"),
        ({"weights": {"colour": 0.4, "shape": 0.4}}, "add up to 0.8"),
        ({"minimum_sample_ratio": 2}, "minimum_sample_ratio"),
    ],
)
def test_a_wrong_requirement_is_refused_with_the_place(capsys, files, need, said):
    assert vbas(files, need, "--quiet") == 1
    assert said in capsys.readouterr().err


def test_every_criterion_is_answered_for_every_solution(capsys, files):
    need = {
        "overall": {"precision": {"min": 0.8}, "davies_bouldin": {"max": 1}},
        "required_classes": [{"colour": "red"}],
        "weights": {"colour": 0.5, "region": 0.5},
    }
    assert vbas(files, need, "--json", "--quiet") == 0
    found = {each["sites"]: each for each in json.loads(capsys.readouterr().out)["solutions"]}
    criteria = {row["criterion"]: (row["actual"], row["verdict"]) for row in found[2]["requirement"]}
    assert criteria["Detail kept"] == ("0.75", "not met")
    # Two pairs, 500 around their centres, 10,000 apart.
    assert criteria["Davies–Bouldin index"] == ("0.1", "ok")
    assert criteria["Class colour = red"] == ("released", "ok")
    assert criteria["Weights"] == ("colour 0.5, region 0.5", "ok")
    assert "released_classes" not in found[2]


def test_only_the_solutions_that_meet_it_are_shown(capsys, files):
    need = {"overall": {"mean_distance": {"max": 1000}}}
    assert vbas(files, need, "--suitable-only", "--json", "--quiet") == 0
    document = json.loads(capsys.readouterr().out)
    assert {each["sites"] for each in document["solutions"]} == {2, 3}
    assert "suitable_only" not in document["options"]
    assert vbas(files, need, "--suitable-only", "--quiet") == 0
    said = capsys.readouterr().out
    assert "no" not in next(line for line in said.splitlines() if line.startswith("meets")).split()
    assert "Distance moved (km or map units)" in said


def test_nothing_is_written_if_no_solution_is_suitable(capsys, files):
    need = {"overall": {"jaccard": {"min": 0.99}}, "minimum_sample_ratio": 1}
    assert vbas(files, need, "--suitable-only", "--quiet", "--out", str(files / "out")) == 1
    assert "None of the 3 solutions meets the requirement" in capsys.readouterr().err
    assert not (files / "out").exists()


def test_suitable_only_asks_what_for(capsys, files):
    data = [str(files / "records.csv"), str(files / "regions.csv"), "--region-column", "region"]
    for command in ("run", "compare"):
        assert main([command, *data, "--quasi-identifiers", "colour", "--suitable-only", "--quiet"]) == 2
        assert "suitable for what?" in capsys.readouterr().err


def test_columns_that_the_release_leaves_out_are_missing(capsys, files):
    need = {"required_sensitive": ["colour", "region"]}
    for more, verdicts in (((), ["ok", "ok"]), (("--columns", "region"), ["not met", "ok"])):
        assert vbas(files, need, *more, "--json", "--quiet") == 0
        solution = json.loads(capsys.readouterr().out)["solutions"][0]
        assert [row["verdict"] for row in solution["requirement"]] == verdicts
