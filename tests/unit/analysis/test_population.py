"""Inhabitants of regions: the sampling fraction, and the journalist's risk as an estimate."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import re

import numpy as np
import pytest
from release_making import write_regions

from vbas_desktop.analysis.risk import ReleasedTier, compute_population_risk, estimate_population_risk
from vbas_desktop.app.ledger import RecordRequest, record_release
from vbas_desktop.cli.main import main
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.problem import Population
from vbas_desktop.model.records import SourceFile
from vbas_desktop.releases.ledger import lock_ledger, read_ledger


def released(place, sizes, column=None, regions=None):
    """Released classes of one tier: places, sizes, classes; every initial region is a place unless it is said."""
    place, sizes = np.array(place, int), np.array(sizes, np.int64)
    column = np.zeros(place.size, int) if column is None else np.array(column)
    return ReleasedTier(
        np.arange(place.max(initial=0) + 1) if regions is None else np.array(regions),
        place,
        column,
        sizes,
    )


def estimate(people, records, place, sizes):
    people, records = np.array(people, float), np.array(records)
    return estimate_population_risk(
        "people", people, records, (released(place, sizes, regions=range(people.size)),)
    )


def test_a_class_has_its_share_of_the_inhabitants():
    # Region 0: 20 of 200 people are in the file, so 5 records stand for 50; region 1: all 10 of 10.
    found = estimate([200, 10], [20, 10], [0, 0, 1], [5, 15, 10])
    assert found.sampling_fraction == pytest.approx(30 / 210)
    assert found.smallest_region == 10
    assert found.journalist_maximum == pytest.approx(1 / 10)
    assert found.journalist_average == pytest.approx((5 / 50 + 15 / 150 + 10 / 10) / 30)
    told = found.as_dict()
    assert (told["k_map"], told["journalist_maximum"]) == (None, None)
    assert told["journalist_maximum_estimated"] == found.journalist_maximum


def test_regions_without_a_released_record_do_not_count():
    found = estimate([200, 3], [20, 3], [0, 1], [20, 0])
    assert (found.smallest_region, found.journalist_maximum) == (200, pytest.approx(1 / 200))


def test_more_records_than_inhabitants_give_no_estimate():
    found = estimate([5], [20], [0], [20])
    assert found.journalist_maximum is None
    assert "more records than inhabitants" in found.as_dict()["not_estimated_because"]
    empty = estimate([0], [0], [], [])
    assert (empty.sampling_fraction, empty.no_estimate) == (None, "nothing is released")


@pytest.mark.parametrize("seed", range(30))
def test_k_map_and_risk_are_those_of_a_naive_count(seed):
    """Random people by region and class, random places in two tiers: counted one by one."""
    draw = np.random.default_rng(seed)
    regions, classes = int(draw.integers(1, 7)), int(draw.integers(1, 5))
    people = draw.integers(0, 12, (regions, classes))
    # Some people are of classes that the records do not have: they count as inhabitants only.
    others = draw.integers(0, 5, regions)
    where = np.nonzero(people)
    population = Population(
        SourceFile("t.csv", 0, ""), people.sum(axis=1) + others, *where, people[where]
    )
    tiers, expected, totals = [], [], []
    for _ in range(2):
        membership = np.unique(draw.integers(0, 3, regions), return_inverse=True)[1].ravel()
        cells = [(place, column) for place in range(membership.max() + 1) for column in range(classes)]
        chosen = [cell for cell in cells if draw.random() < 0.6]
        rows = []
        for place, column in chosen:
            number = int(sum(people[r, column] for r in range(regions) if membership[r] == place))
            size = int(draw.integers(0, number + 1))
            rows.append((place, column, size))
            if size:
                expected.append((number, size))
                totals.append(
                    int(
                        sum(
                            (people[r].sum() + others[r])
                            for r in range(regions)
                            if membership[r] == place
                        )
                    )
                )
        place, column, size = zip(*rows, strict=True) if rows else ((), (), ())
        tiers.append(released(place, size, np.array(column, int), membership))
    found = compute_population_risk(population, "t.csv", 7, tuple(tiers))
    if not expected:
        assert (found.k_map, found.no_estimate) == (None, "nothing is released")
        return
    records = sum(size for _, size in expected)
    assert found.k_map == min(number for number, _ in expected)
    assert found.journalist_maximum == pytest.approx(1 / found.k_map)
    assert found.journalist_average == pytest.approx(
        sum(size / number for number, size in expected) / records
    )
    assert found.smallest_region == min(totals)
    assert found.sampling_fraction == pytest.approx(7 / (people.sum() + others.sum()))


def test_a_class_with_more_records_than_people_gives_no_risk():
    where = np.array([0]), np.array([0])
    population = Population(SourceFile("t.csv", 0, ""), np.array([9]), *where, np.array([9]))
    assert compute_population_risk(population, "t.csv", 9, (released([0], [9], [0]),)).k_map == 9
    found = compute_population_risk(population, "t.csv", 10, (released([0], [10], [0]),))
    assert found.k_map is None
    assert "more records than people" in found.as_dict()["not_exact_because"]


def write_case(folder):
    """Sixteen regions with 100 inhabitants each, and 400 records."""
    rows = [[f"{10 * (n % 2)}-year", f"r{n % 16}"] for n in range(400)]
    with (folder / "records.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "region"], *rows])
    lines = write_regions(folder).read_text().splitlines()
    text = "\n".join([f"{lines[0]},people", *(f"{line},100" for line in lines[1:])]) + "\n"
    (folder / "regions.csv").write_text(text)


def run(folder, out, *options):
    files = [str(folder / "records.csv"), str(folder / "regions.csv")]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "--sites",
        "4",
        "--range-reach",
        "0",
    ]
    return main(["run", *files, *chosen, "--quiet", "--no-pdf", "--out", str(folder / out), *options])


def test_the_internal_report_and_run_json_tell_it_and_the_recipient_is_told_no_estimate(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "plain") == 0
    assert "population" not in json.loads((tmp_path / "plain" / "run.json").read_text())
    assert run(tmp_path, "out", "--population-column", "people") == 0
    found = json.loads((tmp_path / "out" / "run.json").read_text())["population"]
    assert (found["inhabitants"], found["sampling_fraction"]) == (1600, 0.25)
    assert found["journalist_average_estimated"] > 0
    assert found["k_map"] is None
    assert found["not_exact_because"] == "inhabitants are known by region, not by class"
    page = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "Sampling fraction" in page
    assert "25 %" in page
    assert "Journalist: highest, estimated" in page
    assert "not defined" not in page
    told = (tmp_path / "out" / "release" / "report.html").read_text()
    assert "Sampling fraction" not in told
    assert "not computed: inhabitants are known by region only, not by the values of a record" in told
    for folder, more in (("release", ""), ("internal", " (--population, or the page Policy)")):
        page = (tmp_path / "plain" / folder / "report.html").read_text()
        assert row_of(page, "Journalist: highest") == f"not computed: no population is known{more}"
    assert (
        run(tmp_path, "tiers", "--population-column", "people", "--tiers", "auto", "--sites", "16") == 0
    )
    tiers = json.loads((tmp_path / "tiers" / "run.json").read_text())["population"]
    assert tiers["journalist_maximum_estimated"] is None
    assert tiers["not_estimated_because"] == "records are released in larger areas, too"


def people_table(
    folder, name="pop.csv", ages=("0-year", "10-year"), regions=16, number=20, head="region,age,people"
):
    lines = [f"r{n},{age},{number + n}" for n in range(regions) for age in ages]
    (folder / name).write_text("\n".join([head, *lines]) + "\n")
    return ["--population", str(folder / name)]


def test_a_table_of_the_population_gives_the_exact_figures_everywhere(tmp_path, capsys):
    write_case(tmp_path)
    options = people_table(tmp_path, ages=("0-year", "10-year", "20-year"))
    files = [str(tmp_path / "records.csv"), str(tmp_path / "regions.csv")]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age",
        "--sites",
        "4",
        "--range-reach",
        "0",
    ]
    judged = ["--policy", "risk-0.09", "--no-pdf", "--out", str(tmp_path / "out")]
    assert main(["run", *files, *chosen, *options, *judged]) == 0
    said = capsys.readouterr().err
    found = json.loads((tmp_path / "out" / "run.json").read_text())
    with (tmp_path / "out" / "release" / "crosswalk.csv").open() as file:
        walk = {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}
    with (tmp_path / "out" / "release" / "anonymized.csv").open() as file:
        rows = [(row["region"], row["age"]) for row in csv.DictReader(file)]
    people = {cell: sum(20 + n for n in range(16) if walk[f"r{n}"] == cell[0]) for cell in set(rows)}
    assert found["population"]["k_map"] == min(people.values())
    assert found["population"]["journalist_maximum"] == pytest.approx(1 / min(people.values()))
    assert found["population"]["journalist_average"] == pytest.approx(
        sum(rows.count(cell) / number for cell, number in people.items()) / len(rows)
    )
    total = sum(3 * (20 + n) for n in range(16))
    assert (found["population"]["inhabitants"], found["population"]["sampling_fraction"]) == (
        total,
        400 / total,
    )
    assert found["policy"]["criteria"][0]["actual"] == f"{min(people.values()):,}"
    assert f"k-map: fewest inhabitants of a released class: {min(people.values()):,}" in said
    page = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "not defined" not in page
    assert "table pop.csv" in page
    told = (tmp_path / "out" / "release" / "report.html").read_text()
    assert "judged by the custodian" in told
    # The recipient can work it out from the file and a table of the population, so he is told, with two digits.
    assert row_of(told, "Journalist: highest") == f"{found['population']['journalist_maximum']:.2g}"
    assert row_of(told, "Journalist: average") == f"{found['population']['journalist_average']:.2g}"
    assert "pop.csv" not in told


def row_of(page, name):
    """The last cell of the row that begins like this."""
    row = page[page.index(f">{name}<") :]
    return re.findall(r"<td[^>]*>([^<]*)", row[: row.index("</tr>")])[-1]


def test_the_recipient_is_told_no_risk_among_inhabitants_that_the_file_does_not_show(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "less", *people_table(tmp_path), "--columns", "region") == 0
    told = (tmp_path / "less" / "release" / "report.html").read_text()
    assert "not computed: the file lacks a column that the classes are made of" in told
    assert json.loads((tmp_path / "less" / "run.json").read_text())["population"]["journalist_maximum"]
    # Fewer people in the table than records: they are no sample of it.
    assert run(tmp_path, "few", *people_table(tmp_path, number=0)) == 0
    told = (tmp_path / "few" / "release" / "report.html").read_text()
    assert "not computed: the table of the population does not fit the released records" in told


def test_groups_are_made_of_the_values_of_the_table(tmp_path):
    write_case(tmp_path)
    (tmp_path / "groups.csv").write_text("column,value,group\nage,0-year,all\nage,10-year,all\n")
    grouped = ["--generalise", str(tmp_path / "groups.csv"), *people_table(tmp_path)]
    assert run(tmp_path, "out", *grouped) == 0
    with (tmp_path / "out" / "release" / "crosswalk.csv").open() as file:
        walk = {row["initial_region"]: row["aggregated_region"] for row in csv.DictReader(file)}
    sums = [
        sum(2 * (20 + n) for n in range(16) if walk[f"r{n}"] == place) for place in set(walk.values())
    ]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["population"]["k_map"] == min(sums)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"head": "place,age,people"}, "No column has the regions"),
        ({"head": "region,age,number"}, "No column has the numbers of people"),
        ({"head": "region,years,people"}, "quasi-identifier"),
        ({"regions": 15}, "1 initial region is not in the table"),
        ({"ages": ("0-year", "ten")}, "1 of 2 categories of the records do not occur in the table"),
        (
            {"ages": ("0-year", "10-year", "10-year")},
            "row 4: The row has the region and values of an earlier one",
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_said_and_nothing_is_written(tmp_path, capsys, change, said):
    write_case(tmp_path)
    assert run(tmp_path, "out", *people_table(tmp_path, **change)) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_numbers_of_people_are_whole(tmp_path, capsys):
    write_case(tmp_path)
    options = people_table(tmp_path)
    path = tmp_path / "pop.csv"
    path.write_text(path.read_text().replace("r1,0-year,21", "r1,0-year,-21"))
    assert run(tmp_path, "out", *options) == 1
    said = capsys.readouterr().err
    assert "row 4, column “people”: The number of people is no whole number" in said
    assert run(tmp_path, "out", "--population", str(tmp_path / "none.csv")) == 1
    assert "no such file" in capsys.readouterr().err
    # A table with another column is summed over it.
    lines = [
        f"r{n},{age},{sex},{10 + n}" for n in range(16) for age in ("0-year", "10-year") for sex in "fm"
    ]
    path.write_text("\n".join(["region,age,sex,people", *lines]) + "\n")
    assert run(tmp_path, "out", *options) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["population"]["inhabitants"] == sum(
        4 * (10 + n) for n in range(16)
    )


def _record(folder, audience, ready, ledger):
    ready.wait()
    record_release(RecordRequest(folder, ledger, audience))


def test_programs_that_record_at_the_same_time_lose_nothing(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "out") == 0
    ledger, kind = tmp_path / "ledger.json", multiprocessing.get_context("fork")
    ready = kind.Event()
    names = ["A", "B", "C", "D"]
    others = [
        kind.Process(target=_record, args=(tmp_path / "out", name, ready, ledger)) for name in names
    ]
    for each in others:
        each.start()
    ready.set()
    for each in others:
        each.join(60)
    found = read_ledger(ledger)
    assert sorted(entry.audience for entry in found) == names
    assert sorted(entry.id for entry in found) == [1, 2, 3, 4]
    # One key: the hashes of all entries are the same.
    assert len({entry.regions.tobytes() for entry in found}) == 1
    with pytest.raises(InputError, match="in the ledger already"):
        record_release(RecordRequest(tmp_path / "out", ledger, "A"))


def test_the_lock_waits_and_ends_with_its_program(tmp_path):
    path = tmp_path / "ledger.json"
    seen = []

    class Impatient:
        def update(self, stage, fraction=None):
            seen.append(stage)
            raise KeyboardInterrupt

    with lock_ledger(path), pytest.raises(KeyboardInterrupt), lock_ledger(path, Impatient()):
        pass
    assert seen == ["Waiting for another program to finish with the ledger"]
    child = os.fork()
    if not child:
        lock_ledger(path).__enter__()
        os._exit(0)
    os.waitpid(child, 0)
    with lock_ledger(path, Impatient()):
        pass
    assert len(seen) == 1


def test_the_internal_report_tells_what_was_compared(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "first") == 0
    assert "nothing was compared" in (tmp_path / "first" / "internal" / "report.html").read_text()
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    assert run(tmp_path, "again", "--audience", "Uni") == 0
    page = (tmp_path / "again" / "internal" / "report.html").read_text()
    assert "this release singles out nobody" in page
    assert "Earlier releases" not in (tmp_path / "again" / "release" / "report.html").read_text()
