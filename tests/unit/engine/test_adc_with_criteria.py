"""ADC with criteria for sensitive values: further moves count the classes that miss them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from vbas_desktop.approaches.site_location import adc
from vbas_desktop.cli.main import main

OPTIONS = (
    "--region-column",
    "region",
    "--quasi-identifiers",
    "age",
    "-k",
    "4",
    "--sites",
    "12",
    "--range-reach",
    "0",
)


@pytest.fixture
def files(tmp_path):
    """Forty regions in which one illness is common on one side and another one on the other side."""
    draw = np.random.default_rng(3)
    points = draw.random((40, 2)) * 100
    lines = ["id,x,y", *(f"r{n},{x:.2f},{y:.2f}" for n, (x, y) in enumerate(points))]
    (tmp_path / "regions.csv").write_text("\n".join(lines) + "\n")
    with (tmp_path / "records.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["age", "region", "illness"])
        for _ in range(900):
            place = int(draw.integers(40))
            usual = int(points[place, 0] > 50)
            ill = usual if draw.random() < 0.6 else int(draw.integers(6))
            out.writerow([("old", "young")[draw.integers(2)], f"r{place}", f"ill-{ill}"])
    return tmp_path


def solution(folder, capsys, *options):
    files = [str(folder / "records.csv"), str(folder / "regions.csv")]
    assert main(["run", *files, *OPTIONS, "--site-location", "adc", "--json", "--quiet", *options]) == 0
    return json.loads(capsys.readouterr().out)["solutions"][0]


def without_seconds(found):
    return {
        name: value
        for name, value in found["measures"].items()
        if name not in ("seconds", "largest_harmful_share")
    }


CRITERIA = ("--sensitive", "illness", "--criterion", "share:60")


def test_fewer_records_are_lost_for_their_sensitive_values_than_by_sizes_alone(
    files, capsys, monkeypatch
):
    with_them = solution(files, capsys, *CRITERIA)
    told = with_them["adc"]["further"]
    assert told["suppressed_after"] < told["suppressed_before"]
    assert with_them["measures"]["suppressed_records"] == told["suppressed_after"]
    # Without the further moves the thesis' own end, which looks at sizes only, is judged by the criteria.
    monkeypatch.setattr(adc, "with_criteria", lambda sensitive: ())
    by_sizes = solution(files, capsys, *CRITERIA)
    assert by_sizes["measures"]["suppressed_records"] == told["suppressed_before"]
    # Without criteria the moves are the thesis' and no others, sensitive column or not.
    plain = solution(files, capsys)
    monkeypatch.undo()
    for options in ((), ("--sensitive", "illness")):
        again = solution(files, capsys, *options)
        assert again["adc"] == plain["adc"]
        assert without_seconds(again) == without_seconds(plain)
