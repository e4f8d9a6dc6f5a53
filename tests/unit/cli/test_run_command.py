"""`vbas run` and `vbas approaches`: what they print, write and refuse."""

import hashlib
import json
from pathlib import Path

import pytest

from vbas_desktop import __version__
from vbas_desktop.app import data
from vbas_desktop.approaches.registry import COMPONENTS, list_approaches
from vbas_desktop.approaches.selection import settings_from_options
from vbas_desktop.cli.main import main
from vbas_desktop.io import output
from vbas_desktop.io.records.loading import load_records

MEASURES = [name for name, kind in list_approaches("rating").items() if not kind.requires_sensitive]


@pytest.fixture
def files(tmp_path):
    """Two clusters of two regions; classes red and blue; region d has one blue record that is lost with k = 2."""
    regions = tmp_path / "regions.csv"
    regions.write_text("id,x,y\na,0,0\nb,1,0\nc,10,0\nd,11,0\n", encoding="utf-8")
    records = tmp_path / "records.csv"
    rows = ["a,red"] * 3 + ["b,red"] * 2 + ["c,red"] * 4 + ["d,red"] * 3 + ["d,blue"] + ["a,blue"]
    records.write_text("region,colour\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return [str(records), str(regions)]


def vbas(files, *more):
    quasi = [] if "--quasi-identifiers" in more else ["--quasi-identifiers", "colour"]
    return main(["run", *files, "--region-column", "region", *quasi, "-k", "2", "--quiet", *more])


def printed(capsys, files, *more):
    assert vbas(files, "--json", *more) == 0
    return json.loads(capsys.readouterr().out)


def test_the_running_time_from_start_to_finish_includes_loading(capsys, files, monkeypatch):
    clock = iter(range(0, 1_000_000, 10))
    monkeypatch.setattr("vbas_desktop.app.data.perf_counter", lambda: next(clock))
    document = printed(capsys, files, "--sites", "2", "--range-reach", "0")
    assert document["total_seconds"] > 10 + document["seconds"]
    assert vbas(files, "--sites", "2", "--range-reach", "0") == 0
    shown = capsys.readouterr().out
    assert " s without loading, 10." in shown
    assert " s from start to finish" in shown


def test_json_tells_how_adc_moved_the_sites(capsys, files):
    document = printed(capsys, files, "--sites", "2", "--range-reach", "0", "--site-location", "adc")
    (solution,) = document["solutions"]
    # Two regions with one blue record each: α = 1 twice. Each blue record is at a point of its own cell, which is the
    # whole neighbourhood of two sites; moving there takes no region from the other, so both tries are refused.
    assert solution["adc"] == {
        "moves": 0,
        "tries": 2,
        "computed_tries": 2,
        "passes": 1,
        "anonymity_before": 1,
        "anonymity_after": 1,
    }


def test_json_holds_the_problem_the_options_the_hashes_and_the_solutions(capsys, files):
    document = printed(capsys, files, "--sites", "2", "--range-reach", "0")
    assert document["format_version"] == 1
    assert document["program_version"] == __version__
    for name, path in zip(("records", "regions"), files, strict=True):
        content = Path(path).read_bytes()
        assert document["inputs"][name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert document["inputs"][name]["size_bytes"] == len(content)
    problem = document["problem"]
    assert problem["records"] == 14
    assert problem["regions"] == 4
    assert problem["equivalence_classes"] == problem["classes_present"] == 2
    assert problem["k"] == 2
    assert problem["quasi_identifiers"] == ["colour"]
    assert problem["globally_suppressed_records"] == 0
    (solution,) = document["solutions"]
    assert (solution["id"], solution["sites"], solution["aggregated_regions"]) == (1, 2, 2)
    assert solution["site_number"] == "fixed"
    assert solution["site_location"] == "balanced-density"
    assert solution["adc_seeding"] is None
    assert solution["construction"] == "voronoi"
    assert solution["refinement"] == "none"
    assert solution["approximated_sites"] == 2
    assert solution["pareto"] is True
    assert list(solution["measures"]) == [*MEASURES, "seconds"]
    # {a, b} has five red and one blue, {c, d} seven red and one blue: both blue ones are lost.
    assert solution["measures"]["suppressed_records"] == 2
    assert solution["measures"]["discernibility"] == 25 + 49
    assert solution["seconds"] == solution["measures"]["seconds"] > 0


def test_every_option_in_force_is_kept_and_runs_again(capsys, files):
    document = printed(
        capsys, files, "--sites", "2", "--set", "balanced-density.variant=paper", "--random-seed", "4"
    )
    options = document["options"]
    assert options["site_number"] == "fixed"
    assert options["site_location"] == "balanced-density"
    assert options["k"] == 2
    assert options["random_seed"] == 4
    assert options["range_step_percent"] == 10
    assert options["range_reach"] == 2
    assert options["coordinates"] == "auto"
    assert options["set"] == ["balanced-density.variant=paper"]
    assert document["solutions"][0]["parameters"]["site_location"] == {"variant": "paper"}
    again, _ = settings_from_options(options)
    assert again.quasi_identifiers == ("colour",)
    assert again.parameters["site_location"] == {"balanced-density": {"variant": "paper"}}


def test_without_json_people_get_a_table(capsys, files):
    assert vbas(files, "--sites", "2") == 0
    text = capsys.readouterr().out
    assert "14 records · 4 regions · 2 classes (2 present) · k = 2" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["sites", "1", "2", "3", "4"] in lines
    assert any(line[:2] == ["suppressed", "records"] and line[3] == "2" for line in lines)
    assert ">" in text


def test_progress_and_warnings_go_to_the_error_output_unless_quiet(capsys, files):
    arguments = [
        "run",
        *files,
        "--region-column",
        "region",
        "--quasi-identifiers",
        "colour",
        "-k",
        "13",
        "--sites",
        "1",
    ]
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert [finding["code"] for finding in json.loads(out)["warnings"]][-1] == "nothing-released"
    assert "warning: Solution 1 (1 site) releases no record" in err
    assert "Rating the solutions" in err.splitlines()
    assert main([*arguments, "--json", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_out_writes_run_json_whole_and_replaces_an_earlier_run(capsys, files, tmp_path):
    target = tmp_path / "new" / "result"
    assert vbas(files, "--sites", "1", "--out", str(target)) == 0
    capsys.readouterr()
    document = printed(capsys, files, "--sites", "2", "--solution", "1", "--out", str(target))
    assert json.loads((target / "run.json").read_text(encoding="utf-8")) == document
    assert document["chosen_solution"] == 1
    assert [path.name for path in target.parent.iterdir()] == ["result"]


def test_a_folder_that_holds_other_things_is_left_alone(capsys, files, tmp_path):
    target = tmp_path / "mine"
    target.mkdir()
    (target / "letter.txt").write_text("dear", encoding="utf-8")
    assert vbas(files, "--sites", "1", "--out", str(target)) == 1
    assert "it is left alone" in capsys.readouterr().err
    assert [path.name for path in target.iterdir()] == ["letter.txt"]
    assert vbas(files, "--sites", "1", "--out", files[0]) == 1


def test_a_failure_while_writing_leaves_the_earlier_run_and_nothing_else(
    capsys, files, tmp_path, monkeypatch
):
    target = tmp_path / "result"
    assert vbas(files, "--sites", "1", "--out", str(target)) == 0
    before = (target / "run.json").read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device", "run.json")

    monkeypatch.setattr(output.os, "replace", fail)
    assert vbas(files, "--sites", "2", "--out", str(target)) == 1
    assert "The disk is full" in capsys.readouterr().err
    assert (target / "run.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.csv", "regions.csv", "result"]


def test_the_same_options_give_the_same_document_but_for_the_time(capsys, files):
    def timeless(document):
        text = json.dumps(document)
        for solution in document["solutions"]:
            text = text.replace(str(solution["seconds"]), "t")
        return text.replace(str(document["total_seconds"]), "t").replace(str(document["seconds"]), "t")

    arguments = ("--sites", "2", "--site-location", "random", "--random-seed", "8")
    assert timeless(printed(capsys, files, *arguments)) == timeless(printed(capsys, files, *arguments))


def test_only_a_release_reads_columns_that_are_not_counted(capsys, files, tmp_path, monkeypatch):
    records = Path(files[0])
    rows = records.read_text(encoding="utf-8").splitlines()
    wider = [
        f"{row},{'illness' if i == 0 else i % 3},{'person' if i == 0 else i}"
        for i, row in enumerate(rows)
    ]
    records.write_text("\n".join(wider) + "\n", encoding="utf-8")
    loaded = []

    def spy(*arguments, **keywords):
        loaded.append(load_records(*arguments, **keywords))
        return loaded[-1]

    monkeypatch.setattr(data, "load_records", spy)
    more = ("--sites", "1", "--range-reach", "0", "--identifiers", "person")
    alone = printed(capsys, files, *more)
    released = printed(capsys, files, *more, "--out", str(tmp_path / "out"))
    assert [[facts.name for facts in table.columns] for table in loaded] == [
        ["region", "colour"],
        ["region", "colour", "illness", "person"],
    ]
    for name in ("problem", "inputs", "warnings"):
        assert alone[name] == released[name]
    for one, other in zip(alone["solutions"], released["solutions"], strict=True):
        one["measures"]["seconds"] = other["measures"]["seconds"]
        assert one == other | {"seconds": one["seconds"]}
    assert vbas(files, "--sites", "2", "--identifiers", "name") == 1
    assert "There is no column “name”" in capsys.readouterr().err


def test_options_choose_models_and_parameters(capsys, files):
    own = [
        "--gaps-model",
        "own",
        "--set",
        "maxcombs.factor=3",
        "--set",
        "maxcombs.exponent=0",
        "--range-reach",
        "0",
    ]
    # cutoff 3, n = 14: floor(0.9 · floor(14 / 3)) = floor(3.6) = 3.
    assert printed(capsys, files, *own)["approximated_sites"] == 3
    assert printed(capsys, files, *own, "--set", "maxcombs.share=1.0")["approximated_sites"] == 4
    assert (
        printed(capsys, files, "--no-global-suppression", "--sites", "1")["options"][
            "global_suppression"
        ]
        is False
    )


def test_a_seeding_chooses_adc_and_takes_parameters_of_its_own(capsys, files):
    document = printed(
        capsys,
        files,
        "--sites",
        "2",
        "--adc-seeding",
        "balanced-density",
        "--set",
        "balanced-density.variant=paper",
    )
    assert document["options"]["site_location"] == "adc"
    for solution in document["solutions"]:
        assert (solution["site_location"], solution["adc_seeding"]) == ("adc", "balanced-density")
        seeding = {"name": "balanced-density", "variant": "paper"}
        assert solution["parameters"]["site_location"] == {
            "seeding": seeding,
            "objective": "thesis",
            "uneven_percent": 0.0,
            "change_percent": 0.0,
            "allowed_loss_percent": 1.0,
        }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--adc-seeding", "adc", "--sites", "1"], "invalid choice: 'adc'"),
        (
            ["--set", "adc.seeding=adc", "--site-location", "adc", "--sites", "1"],
            "“adc” cannot be combined with itself",
        ),
        (
            ["--set", "adc.seeding=magic", "--site-location", "adc", "--sites", "1"],
            "no site location “magic”",
        ),
        (["-k", "0"], "the least is 1"),
        (["-k", "five"], "is not a whole number"),
        (["--site-number", "magic"], "invalid choice: 'magic'"),
        (["--site-location", "magic"], "invalid choice: 'magic'"),
        (["--site-number", "fixed"], "“fixed” needs --sites"),
        (["--sites", "0"], "--sites: “Number of sites” must be a whole number at least 1"),
        (["--sites", "2.5"], "--sites: “Number of sites” must be a whole number at least 1"),
        (["--allowed-loss", "200"], "--allowed-loss: “Allowed loss (percent)” must be a number"),
        (["--gaps-model", "southern"], "invalid choice: 'southern'"),
        (["--range-step", "0"], "must be a number above 0"),
        (["--range-step", "nan"], "must be a number above 0"),
        (["--range-reach", "-1"], "the least is 0"),
        (["--random-seed", "-1"], "the least is 0"),
        (["--set", "maxcombs.share"], "write it as APPROACH.PARAMETER=VALUE"),
        (
            ["--site-number", "maxcombs", "--set", "maxcombs.share=2"],
            "--set maxcombs.share: “Share” must be a number at least 0.001 and at most 1",
        ),
        (["--set", "density.colour=red"], "no approach of this run has such a parameter"),
        (["--set", "anonymity.ties=file"], "no approach of this run has such a parameter"),
        (["--identifiers", "colour"], "“colour” is both a quasi-identifier and an identifier"),
        (["--identifiers", "region"], "“region” is the region column"),
        (["--quasi-identifiers", "region"], "“region” is the region column"),
        (["--quasi-identifiers", "colour,colour"], "“colour” is there twice"),
        (["--quasi-identifiers", ""], "a name is missing"),
        (
            ["--quasi-identifiers", "colour", "--quasi-identifiers", "shade"],
            "it is given twice; put all names into one",
        ),
        (
            ["--identifiers", "shade", "--identifiers", "hue"],
            "it is given twice; put all names into one list",
        ),
        (["--sites", "1", "--solution", "9"], "this run has the solutions 1 to 3"),
        (["--coordinates", "round"], "invalid choice: 'round'"),
        (["--no-such-option"], "`vbas run --help` explains"),
        (["--quitt"], "“--quitt” is not an option; did you mean --quiet?"),
        (["--sites=5", "third.csv"], "“third.csv” is not expected here"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_reason(capsys, files, more, message):
    try:
        code = vbas(files, *more)
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--quasi-identifiers", "weight"], "no column “weight”"),
        (["--identifiers", "name"], "no column “name”"),
        (["--region-column", "town"], "no column “town”"),
    ],
)
def test_wrong_input_ends_with_1_and_a_reason(capsys, files, more, message):
    assert vbas(files, "--sites", "1", *more) == 1
    assert message in capsys.readouterr().err


def test_a_missing_file_ends_with_1(capsys, files, tmp_path):
    for pair in ([files[0], str(tmp_path / "none.csv")], [str(tmp_path / "none.csv"), files[1]]):
        assert vbas(pair, "--sites", "1") == 1
        assert "none.csv" in capsys.readouterr().err


def test_an_option_that_nothing_reads_is_remarked(capsys, files):
    arguments = ["run", *files, "--region-column", "region", "--quasi-identifiers", "colour"]
    assert main([*arguments, "--site-number", "anonymity", "--gaps-model", "eastern"]) == 0
    assert "warning: --gaps-model has no effect on the chosen approaches." in capsys.readouterr().err


def test_a_name_with_a_comma_is_put_in_quotes(capsys, files):
    records = Path(files[0])
    text = records.read_text(encoding="utf-8").replace("region,colour", 'region,"colour, main"')
    records.write_text(text, encoding="utf-8")
    arguments = ["--quasi-identifiers", '"colour, main"', "--sites", "1"]
    assert printed(capsys, files, *arguments)["problem"]["quasi_identifiers"] == ["colour, main"]


def test_the_list_of_approaches_is_the_registry(capsys):
    assert main(["approaches", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {name: [each["name"] for each in all] for name, all in listed.items()} == {
        component: list(list_approaches(component)) for component in COMPONENTS
    }
    (fixed,) = [each for each in listed["site_number"] if each["name"] == "fixed"]
    assert fixed["parameters"][0]["option"] == "--sites"
    assert main(["approaches"]) == 0
    text = capsys.readouterr().out
    assert "fixed.sites (--sites) = 100: Number of sites, a whole number at least 1" in text


@pytest.mark.parametrize(
    "names",
    [["region", "colour"], ["region", "red"], ["a", "colour"], ["a", "red", "--identifiers", "note"]],
)
def test_a_file_without_names_is_told_from_a_wrong_name_and_its_first_record_not_shown(
    capsys, files, names
):
    records = Path(files[0])
    records.write_text("a,red,first\n" + "a,red,x\n" * 5 + "b,blue,first\n")
    region, colour, *more = names
    command = [
        "run",
        *files,
        "--region-column",
        region,
        "--quasi-identifiers",
        colour,
        "-k",
        "2",
        "--quiet",
        *more,
    ]
    assert main(command) == 1
    said = capsys.readouterr().err.replace(str(records.parent), "")
    assert "Line 1 looks like a record" in said
    assert "first" not in said


def test_the_recommended_solution_is_the_finest_within_the_allowed_loss(capsys, files):
    """Four regions lose the blue records of d and a, 2 of 14; two regions lose the same, one region nothing."""
    document = printed(capsys, files, "--allowed-loss", "15")
    assert document["allowed_loss_percent"] == 15.0
    assert document["approximated_sites"] == 4
    chosen = next(
        each for each in document["solutions"] if each["id"] == document["recommended_solution"]
    )
    assert (chosen["sites"], chosen["recommended"], chosen["pareto"]) == (4, True, True)
    assert chosen["suppressed_percent"] == pytest.approx(100 * 2 / 14)
    assert chosen["measures"]["place_information_loss"] < 0.15
    strict = printed(capsys, files, "--allowed-loss", "0", "--site-number", "fixed", "--sites", "4")
    assert strict["recommended_solution"] is None


SAMPLE = Path(__file__).parents[3] / "sample_data"


def on_the_sample(capsys, *more):
    files = [str(SAMPLE / "records.csv"), str(SAMPLE / "regions.geojson"), "--region-column", "tract"]
    columns = ["--quasi-identifiers", "age,sex,marital_status"]
    assert main(["run", *files, *columns, "-k", "5", "--quiet", "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_aim_decides_what_is_best_within_the_allowed_loss(capsys):
    finest = on_the_sample(capsys)
    least = on_the_sample(capsys, "--set", "limit.aim=least-loss")
    assert (finest["approximated_sites"], least["approximated_sites"]) == (48, 29)
    chosen = [
        next(each for each in document["solutions"] if each["id"] == document["chosen_solution"])
        for document in (finest, least)
    ]
    assert [each["recommended"] for each in chosen] == [True, True]
    assert chosen[0]["measures"]["certainty_penalty"] == pytest.approx(0.01490, abs=5e-6)
    assert chosen[1]["measures"]["certainty_penalty"] == pytest.approx(0.01229, abs=5e-6)
    penalties = [each["measures"]["certainty_penalty"] for each in least["solutions"]]
    assert chosen[1]["measures"]["certainty_penalty"] == min(penalties)


def test_alternatives_tell_what_the_other_aim_and_tiers_would_give(capsys, files):
    document = on_the_sample(capsys, "--alternatives", "--range-reach", "0")
    told = {(each["aim"], each["tiers"]): each for each in document["alternatives"]}
    assert list(told) == [("least-loss", "none"), ("finest", "auto"), ("least-loss", "auto")]
    for each in told.values():
        again = on_the_sample(capsys, "--range-reach", "0", *each["options"].split())
        assert again["approximated_sites"] == each["sites"]
        measures = again["solutions"][0]["measures"]
        assert measures["suppressed_records"] == each["suppressed"]
        assert measures["certainty_penalty"] == pytest.approx(each["certainty_penalty"], abs=1e-12)
    assert "alternatives" not in on_the_sample(capsys, "--range-reach", "0")
    # Four regions lose 2 of 14 records, and so do two; one region has all at the price of every place.
    assert vbas(files, "--sites", "2", "--allowed-loss", "15", "--alternatives") == 0
    assert (
        "Aim least-loss, without tiers: 4 sites, 14.29 % of the records lost, certainty penalty 0.1429. "
        "Use --site-number limit --set limit.aim=least-loss --tiers none."
    ) in capsys.readouterr().out


def test_another_aim_is_refused_with_what_is_allowed(capsys, files):
    assert vbas(files, "--set", "limit.aim=cheapest") == 2
    assert "must be one of finest, least-loss" in capsys.readouterr().err


def test_presets_name_the_measures_of_dominance(capsys, files):
    usual = printed(capsys, files, "--sites", "2")
    thesis = printed(capsys, files, "--sites", "2", "--pareto", "thesis")
    named = printed(
        capsys, files, "--sites", "2", "--pareto", "suppressed_records,place_information_loss"
    )
    stars = [[each["pareto"] for each in document["solutions"]] for document in (usual, named, thesis)]
    assert stars[0] == stars[1]
    assert vbas(files, "--pareto", "no_such_measure") == 1
    assert "There is no measure “no_such_measure”" in capsys.readouterr().err


def test_advice_tells_what_the_finest_number_would_cost(capsys, files):
    few = printed(capsys, files, "--sites", "1", "--allowed-loss", "15", "--range-reach", "0")
    assert few["advice"] == {
        "text": "Nothing is lost: 4 sites would cost 14.29 %, and 15 % are allowed.",
        "sites": 4,
        "suppressed": 2,
    }
    many = printed(capsys, files, "--sites", "4", "--range-reach", "0")
    assert many["advice"]["text"] == (
        "14.29 % of the records are lost, more than the 1 % that are allowed: 1 site would cost 0.00 %."
    )
    assert printed(capsys, files, "--allowed-loss", "15")["advice"] is None
    assert (
        printed(capsys, files, "--sites", "4", "--allowed-loss", "15", "--range-reach", "0")["advice"]
        is None
    )
    assert vbas(files, "--sites", "1", "--allowed-loss", "15", "--range-reach", "0") == 0
    assert "Advice: Nothing is lost: 4 sites would cost 14.29 %" in capsys.readouterr().out


def test_advice_without_a_number_says_what_else_can_be_done(capsys, tmp_path):
    regions, records = tmp_path / "regions.csv", tmp_path / "records.csv"
    regions.write_text("id,x,y\na,0,0\nb,1,0\n", encoding="utf-8")
    records.write_text("region,colour\n" + "a,red\n" * 5 + "b,blue\n", encoding="utf-8")
    advice = printed(capsys, [str(records), str(regions)], "--sites", "2", "--range-reach", "0")[
        "advice"
    ]
    assert advice["sites"] is None
    assert "no number of sites keeps within 1 %. Take categories together" in advice["text"]
