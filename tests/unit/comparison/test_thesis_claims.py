"""The thesis' claims and tables, on rows made up so that the answer is known."""

import pytest

from vbas_desktop.comparison.thesis import Cell, read_reference, table_csv, thesis_plan
from vbas_desktop.comparison.thesis_claims import (
    CLAIMS,
    Claim,
    along,
    between,
    between_numbers,
    check_claim,
    numbers_of,
    seeded,
    verdict_line,
)
from vbas_desktop.comparison.thesis_tables import filled, ratio_lines, side_by_side, sites_lines, tables_markdown
from vbas_desktop.domain.errors import InputError
from vbas_desktop.domain.records import Grouping

FACTS = {
    "region": "eastern",
    "quasi_identifiers": "Age, Gender",
    "generalised": "no",
    "records": "100",
    "regions": "10",
    "classes": "44",
}


def cell(location, place, suppressed, number="maxcombs", seeding="", sites=None):
    measures = ("average_distance", "precision_loss", "discernibility", "non_uniform_entropy", "seconds")
    values = {"suppressed_records": suppressed, **dict.fromkeys(measures, 1.5)}
    return Cell(7, number, location, seeding, place, sites or 10 + place, values, FACTS)


ROWS = [
    cell("density", 0, 4),
    cell("density", 1, 8),
    cell("balanced-density", 0, 2),
    cell("balanced-density", 1, 8),
    cell("adc", 0, 1, seeding="density"),
    cell("adc", 1, 9, seeding="density"),
    cell("density", 0, 40, number="entropy", sites=30),
]


def counted(pairs):
    verdict = check_claim(Claim("…", pairs), ROWS)
    return verdict.agree, verdict.equal, verdict.disagree, verdict.ratio_of_sums


def test_pairs_are_those_of_the_same_table_number_and_place():
    assert counted(between("suppressed_records", "balanced-density", "density")) == (1, 1, 0, 10 / 12)
    assert counted(seeded("suppressed_records", rises=False)) == (1, 0, 1, 10 / 12)
    assert counted(seeded("suppressed_records", rises=True)) == (1, 0, 1, 12 / 10)
    assert counted(along("suppressed_records", rises=True)) == (3, 0, 0, 7 / 25)
    assert counted(numbers_of("maxcombs", "entropy")) == (1, 0, 0, 10 / 30)
    assert counted(between_numbers("suppressed_records", "maxcombs", "entropy")) == (1, 0, 0, 4 / 40)


def test_a_claim_is_held_from_nine_tenths_of_the_pairs_that_differ():
    rows = [cell("density", place, 10) for place in range(11)]
    rows += [cell("balanced-density", place, 5) for place in range(9)]
    rows += [cell("balanced-density", 9, 11), cell("balanced-density", 10, 10)]
    verdict = check_claim(Claim("It is lower", between("suppressed_records", "balanced-density", "density")), rows)
    assert verdict.held is True
    assert verdict_line(verdict) == "held: It is lower (90% of 11 pairs, 1 equal, ratio of the sums 0.60)"
    worse = [*rows[:-1], cell("balanced-density", 10, 12)]
    assert check_claim(verdict.claim, worse).held is False
    assert check_claim(verdict.claim, []).held is None
    assert "nothing decides" in verdict_line(check_claim(verdict.claim, []))


def test_every_claim_can_be_checked_on_any_rows():
    assert len(CLAIMS) == 18
    for claim in CLAIMS:
        assert check_claim(claim, ROWS).share is None or 0 <= check_claim(claim, ROWS).share <= 1


def test_tables_can_be_read_as_a_reference(tmp_path):
    path = tmp_path / "tables.csv"
    given_up = '7,eastern,"Age, Gender",no,100,10,44,entropy,adc,density,,,,,,,\n'
    path.write_text(table_csv(ROWS) + given_up, encoding="utf-8")
    assert read_reference(path, "eastern") == ROWS
    assert read_reference(path, "western") == []


def test_what_is_no_reference_is_refused(tmp_path):
    path = tmp_path / "tables.csv"
    path.write_text("table,region\n", encoding="utf-8")
    with pytest.raises(InputError, match="A column is missing"):
        read_reference(path, "eastern")
    path.write_text(table_csv(ROWS[:1]).replace("1.5", "x"), encoding="utf-8")
    with pytest.raises(InputError, match="A number cannot be read"):
        read_reference(path, "eastern")


def test_sides_tell_equal_sites_ratios_and_what_is_filled():
    published = [cell("density", 0, 2), cell("density", 1, 4, sites=99)]
    sides = side_by_side(ROWS, published)
    assert [side.same_sites for side in sides[:3]] == [True, False, None]
    assert sides[0].ratio("suppressed_records") == 2.0
    assert len(filled(sides)) == 5
    assert list(sites_lines(sides)) == [
        "maxcombs: 1 of 2 rows have other numbers of sites (tables 7; first 11 instead of 99)"
    ]
    assert next(ratio_lines(sides)).startswith("density: suppressed records 2.00, average distance 1.00")
    assert "| maxcombs / adc from density + | 10 | 1 |" in tables_markdown(ROWS, published)


def test_the_plan_has_six_scenarios_of_eighteen_combinations():
    plan = thesis_plan("western", (Grouping("age", {"1": "a"}),))
    assert [scenario.generalised for scenario in plan.scenarios] == [False, True] * 3
    assert len(plan.combinations) == 6 * 18
    assert plan.most_aggregations == 540
    assert plan.approaches["site_number"][1].model == "western"
