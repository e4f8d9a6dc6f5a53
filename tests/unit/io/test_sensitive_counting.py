"""Sensitive columns as they are counted: benign values in any notation, and what is too much to count."""

import numpy as np
import pytest

from vbas_desktop.engine.problem import build_problem
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, Regions
from vbas_desktop.settings.reading import RecordReading

REGIONS = Regions(("r1", "r2"), np.zeros((2, 2)), CoordinateSystem(CoordinateKind.PLANAR))


def count(tmp_path, header, rows, quasi_identifiers, sensitive=()):
    path = tmp_path / "records.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    table = load_records(path, RecordReading(category_counts="no"))
    choices = {"region_column": "region", "quasi_identifiers": quasi_identifiers, "sensitive": sensitive}
    return build_problem(table, REGIONS, k=1, **choices)


@pytest.mark.parametrize("benign", ["1.5", "1.50", "+1.5"])
def test_a_benign_value_may_be_written_in_another_notation(tmp_path, benign):
    rows = [["a", cost, region] for cost in ("1.5", "1.50", "+1.5", "2", "x") for region in ("r1", "r2")]
    chosen = SensitiveColumn("cost", benign=(benign,))
    (counts,) = count(tmp_path, ["age", "cost", "region"], rows, ["age"], [chosen]).sensitive
    assert dict(zip(counts.values, counts.harmful.tolist(), strict=True)) == {
        "1.5": False,
        "2": True,
        "x": True,
    }
    assert dict(zip(counts.values, counts.totals.tolist(), strict=True)) == {"1.5": 6, "2": 2, "x": 2}


def test_a_benign_value_need_not_be_written_as_in_any_record(tmp_path):
    rows = [["a", cost, "r1"] for cost in ("1.50", "+1.5", "2", "x")]
    (counts,) = count(
        tmp_path, ["age", "cost", "region"], rows, ["age"], [SensitiveColumn("cost", benign=("1.5",))]
    ).sensitive
    assert dict(zip(counts.values, counts.harmful.tolist(), strict=True)) == {
        "1.5": False,
        "2": True,
        "x": True,
    }


COLUMNS = [f"c{number}" for number in range(7)]


def wide_rows():
    """Make 512 = 2⁹ records with values of their own in all of seven columns, and one of two values in another."""
    return [[f"v{number}"] * 7 + ["yn"[number % 2], "r1"] for number in range(512)]


def test_as_many_combinations_as_can_be_counted_are_counted(tmp_path):
    header = [*COLUMNS, "ill", "region"]
    problem = count(tmp_path, header, wide_rows(), COLUMNS)
    assert problem.counts.combinations.tolist()[-1] == 2**63 - 1
    assert problem.counts.combination_totals.tolist() == [1] * 512
    (counts,) = count(tmp_path, header, wide_rows(), COLUMNS[:6], [SensitiveColumn("c6")]).sensitive
    assert counts.cells.combinations.tolist()[-1] == 2**63 - 1
    assert counts.totals.tolist() == [1] * 512


def test_more_combinations_than_can_be_counted_are_refused(tmp_path):
    header = [*COLUMNS, "ill", "region"]
    advice = "more than 2^63 cannot be counted. Choose fewer quasi-identifiers or group values."
    with pytest.raises(InputError) as caught:
        count(tmp_path, header, wide_rows(), [*COLUMNS, "ill"])
    (finding,) = [each for each in caught.value.findings if each.code == "too-many-classes"]
    assert (
        str(finding)
        == f"{tmp_path / 'records.csv'}: The quasi-identifiers have 1.8e+19 combinations; {advice}"
    )
    with pytest.raises(InputError) as caught:
        count(tmp_path, header, wide_rows(), COLUMNS, [SensitiveColumn("ill")])
    (finding,) = caught.value.findings
    place = f"{tmp_path / 'records.csv'}, column “ill”"
    assert str(finding) == f"{place}: With this column there are 1.8e+19 combinations; {advice}"
