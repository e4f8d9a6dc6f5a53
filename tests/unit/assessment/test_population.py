"""Inhabitants of regions: the sampling fraction, and the journalist's risk as an estimate."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os

import numpy as np
import pytest
from release_making import write_regions

from vbas_desktop.assessment.population import population_risk
from vbas_desktop.cli.main import main
from vbas_desktop.domain.errors import InputError
from vbas_desktop.jobs.ledger import RecordJob
from vbas_desktop.release.ledger import alone, read_ledger


def test_a_class_has_its_share_of_the_inhabitants():
    # Region 0: 20 of 200 people are in the file, so 5 records stand for 50; region 1: all 10 of 10.
    found = population_risk(
        "people", np.array([200.0, 10.0]), np.array([20, 10]), np.array([0, 0, 1]), np.array([5, 15, 10])
    )
    assert found.sampling_fraction == pytest.approx(30 / 210)
    assert found.smallest_region == 10
    assert found.journalist_maximum == pytest.approx(1 / 10)
    assert found.journalist_average == pytest.approx((5 / 50 + 15 / 150 + 10 / 10) / 30)


def test_regions_without_a_released_record_do_not_count():
    found = population_risk("people", np.array([200.0, 3.0]), np.array([20, 3]), np.array([0, 1]), np.array([20, 0]))
    assert (found.smallest_region, found.journalist_maximum) == (200, pytest.approx(1 / 200))


def test_more_records_than_inhabitants_give_no_estimate():
    found = population_risk("people", np.array([5.0]), np.array([20]), np.array([0]), np.array([20]))
    assert found.journalist_maximum is None
    assert "more records than inhabitants" in found.as_dict()["not_estimated_because"]
    empty = population_risk("people", np.array([0.0]), np.array([0]), np.zeros(0, int), np.zeros(0, np.int64))
    assert (empty.sampling_fraction, empty.reason) == (None, "nothing is released")


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
    chosen = ["--region-column", "region", "--quasi-identifiers", "age", "--sites", "4", "--range-reach", "0"]
    return main(["run", *files, *chosen, "--quiet", "--no-pdf", "--out", str(folder / out), *options])


def test_the_internal_report_and_run_json_tell_it_and_the_recipient_is_not_told(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "plain") == 0
    assert "population" not in json.loads((tmp_path / "plain" / "run.json").read_text())
    assert run(tmp_path, "out", "--population-column", "people") == 0
    found = json.loads((tmp_path / "out" / "run.json").read_text())["population"]
    assert (found["inhabitants"], found["sampling_fraction"]) == (1600, 0.25)
    assert found["journalist_average_estimated"] > 0
    assert found["k_map"].startswith("not computed")
    page = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "Sampling fraction" in page
    assert "25 %" in page
    assert "Sampling fraction" not in (tmp_path / "out" / "release" / "report.html").read_text()
    assert run(tmp_path, "tiers", "--population-column", "people", "--tiers", "auto", "--sites", "16") == 0
    tiers = json.loads((tmp_path / "tiers" / "run.json").read_text())["population"]
    assert tiers["journalist_maximum_estimated"] is None
    assert tiers["not_estimated_because"] == "records are released in larger places, too"


def _record(folder, audience, ready, ledger):
    ready.wait()
    RecordJob(folder, ledger, audience).execute()


def test_programs_that_record_at_the_same_time_lose_nothing(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "out") == 0
    ledger, kind = tmp_path / "ledger.json", multiprocessing.get_context("fork")
    ready = kind.Event()
    names = ["A", "B", "C", "D"]
    others = [kind.Process(target=_record, args=(tmp_path / "out", name, ready, ledger)) for name in names]
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
        RecordJob(tmp_path / "out", ledger, "A").execute()


def test_the_lock_waits_and_ends_with_its_program(tmp_path):
    path = tmp_path / "ledger.json"
    seen = []

    class Impatient:
        def update(self, stage, fraction=None):
            seen.append(stage)
            raise KeyboardInterrupt

    with alone(path), pytest.raises(KeyboardInterrupt), alone(path, Impatient()):
        pass
    assert seen == ["Waiting for another program to finish with the ledger"]
    child = os.fork()
    if not child:
        alone(path).__enter__()
        os._exit(0)
    os.waitpid(child, 0)
    with alone(path, Impatient()):
        pass
    assert len(seen) == 1


def test_the_internal_report_tells_what_was_compared(tmp_path):
    write_case(tmp_path)
    assert run(tmp_path, "first") == 0
    assert "nothing was compared" in (tmp_path / "first" / "internal" / "report.html").read_text()
    assert main(["ledger", "record", str(tmp_path / "first"), "--audience", "Uni", "--quiet"]) == 0
    assert run(tmp_path, "again", "--audience", "Uni") == 0
    page = (tmp_path / "again" / "internal" / "report.html").read_text()
    assert "this release singles nobody out" in page
    assert "Earlier releases" not in (tmp_path / "again" / "release" / "report.html").read_text()
