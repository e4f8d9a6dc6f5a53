"""The thesis' claims and tables, on rows made up so that the answer is known."""

import pytest

from vbas_desktop.engine.reproduction.claims import (
    CLAIMS,
    PAPER_FIGURES,
    Claim,
    check_claim,
    describe_claim,
    describe_paper_figures,
    pair_adc_with_initializer,
    pair_locations,
    pair_number_approaches,
    pair_site_counts,
    pair_successive_sites,
)
from vbas_desktop.engine.reproduction.experiments import (
    ThesisRow,
    build_thesis_plan,
    format_thesis_csv,
)
from vbas_desktop.engine.reproduction.tables import (
    describe_ratios,
    describe_site_numbers,
    format_tables_markdown,
    list_unpublished,
    pair_rows,
)
from vbas_desktop.io.documents.published import read_canada_reference, read_published_canada
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.records import Grouping

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
    return ThesisRow(7, number, location, seeding, place, sites or 10 + place, values, FACTS)


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
    assert counted(pair_locations("suppressed_records", "balanced-density", "density")) == (
        1,
        1,
        0,
        10 / 12,
    )
    assert counted(pair_adc_with_initializer("suppressed_records", rises=False)) == (1, 0, 1, 10 / 12)
    assert counted(pair_adc_with_initializer("suppressed_records", rises=True)) == (1, 0, 1, 12 / 10)
    assert counted(pair_successive_sites("suppressed_records", rises=True)) == (3, 0, 0, 7 / 25)
    assert counted(pair_site_counts("maxcombs", "entropy")) == (1, 0, 0, 10 / 30)
    assert counted(pair_number_approaches("suppressed_records", "maxcombs", "entropy")) == (
        1,
        0,
        0,
        4 / 40,
    )


def test_a_claim_is_held_from_nine_tenths_of_the_pairs_that_differ():
    rows = [cell("density", place, 10) for place in range(11)]
    rows += [cell("balanced-density", place, 5) for place in range(9)]
    rows += [cell("balanced-density", 9, 11), cell("balanced-density", 10, 10)]
    verdict = check_claim(
        Claim("It is lower", pair_locations("suppressed_records", "balanced-density", "density")), rows
    )
    assert verdict.held is True
    assert (
        describe_claim(verdict)
        == "held here: It is lower (90% of 11 pairs, 1 equal, ratio of the sums 0.60)"
    )
    worse = [*rows[:-1], cell("balanced-density", 10, 12)]
    assert check_claim(verdict.claim, worse).held is False
    assert check_claim(verdict.claim, []).held is None
    assert "nothing decides" in describe_claim(check_claim(verdict.claim, []))


def test_a_claim_is_held_only_if_the_published_rows_bear_it_out():
    claim = Claim("It is lower", pair_locations("suppressed_records", "balanced-density", "density"))
    lower = check_claim(claim, [cell("balanced-density", 0, 1), cell("density", 0, 2)])
    higher = check_claim(claim, [cell("balanced-density", 0, 3), cell("density", 0, 2)])
    nothing = check_claim(claim, [])
    words = {
        (lower, lower): "held",
        (lower, higher): "held here, not in the published rows",
        (lower, nothing): "held here",
        (higher, lower): "not held here, but in the published rows",
        (higher, higher): "not held",
        (higher, nothing): "not held here",
        (nothing, lower): "nothing decides",
    }
    for (mine, published), word in words.items():
        assert describe_claim(mine, published).startswith(f"{word}: It is lower (")


def test_published_rows_do_not_bear_out_three_claims_on_suppression():
    named = {claim.sentence: claim for claim in CLAIMS}
    than = "Fewer records are suppressed with balanced density than "
    east = read_published_canada("eastern")
    west = read_published_canada("western")
    shares = [
        check_claim(named[than + "with density"], east),
        check_claim(named[than + "with density"], west),
        check_claim(named[than + "at the regions of lowest anonymity"], west),
    ]
    assert [round(100 * verdict.share) for verdict in shares] == [76, 64, 79]
    assert [verdict.held for verdict in shares] == [False] * 3


def test_percentages_of_the_paper_are_computed_from_the_rows_of_the_thesis():
    rows = [*read_published_canada("eastern"), *read_published_canada("western")]
    assert [figure.percent for figure in PAPER_FIGURES] == [13.2, 48.7, 35.8, 64.2]
    assert [round(figure.mean_percent(rows), 1) for figure in PAPER_FIGURES] == [11.6, 50.5, 37.9, 65.4]


def test_percentages_leave_out_other_locations_and_zeros():
    rows = [
        cell("balanced-density", 0, 1),
        cell("balanced-density", 0, 4, number="entropy"),
        cell("adc", 0, 3, seeding="balanced-density"),
        cell("adc", 0, 4, seeding="balanced-density", number="entropy"),
        cell("balanced-density", 1, 0),
        cell("balanced-density", 1, 0, number="entropy"),
        cell("density", 0, 9),
        cell("density", 0, 1, number="entropy"),
    ]
    assert PAPER_FIGURES[0].mean_percent(rows) == pytest.approx(50)
    assert next(describe_paper_figures(rows, [], [])) == (
        "Suppression with MaxCombs, of that with entropy: paper 13.2 %, ours 50.0 %"
    )
    assert PAPER_FIGURES[0].mean_percent(rows[:1]) is None


def test_published_rows_come_with_the_program():
    rows = {like: read_published_canada(like) for like in ("eastern", "central", "western")}
    assert {like: len(cells) for like, cells in rows.items()} == {
        "eastern": 380,
        "central": 0,
        "western": 300,
    }
    assert {cell.table for cell in rows["eastern"]} == set(range(7, 13))
    assert {cell.table for cell in rows["western"]} == set(range(13, 19))


def test_every_claim_can_be_checked_on_any_rows():
    assert len(CLAIMS) == 18
    for claim in CLAIMS:
        assert check_claim(claim, ROWS).share is None or 0 <= check_claim(claim, ROWS).share <= 1


def test_tables_can_be_read_as_a_reference(tmp_path):
    path = tmp_path / "tables.csv"
    given_up = '7,eastern,"Age, Gender",no,100,10,44,entropy,adc,density,,,,,,,\n'
    path.write_text(format_thesis_csv(ROWS) + given_up, encoding="utf-8")
    assert read_canada_reference(path, "eastern") == ROWS
    assert read_canada_reference(path, "western") == []


def test_what_is_no_reference_is_refused(tmp_path):
    path = tmp_path / "tables.csv"
    path.write_text("table,region\n", encoding="utf-8")
    with pytest.raises(InputError, match="A column is missing"):
        read_canada_reference(path, "eastern")
    path.write_text(format_thesis_csv(ROWS[:1]).replace("1.5", "x"), encoding="utf-8")
    with pytest.raises(InputError, match="A number cannot be read"):
        read_canada_reference(path, "eastern")


def test_sides_tell_equal_sites_ratios_and_what_is_filled():
    published = [cell("density", 0, 2), cell("density", 1, 4, sites=99)]
    sides = pair_rows(ROWS, published)
    assert [side.same_sites for side in sides[:3]] == [True, False, None]
    assert sides[0].compute_ratio("suppressed_records") == 2.0
    assert len(list_unpublished(sides)) == 5
    assert list(describe_site_numbers(sides)) == [
        "maxcombs: 1 of 2 rows have other numbers of sites (tables 7; first 11 instead of 99)"
    ]
    assert next(describe_ratios(sides)).startswith(
        "density: suppressed records 2.00, average distance 1.00"
    )
    written = format_tables_markdown(ROWS, published)
    assert "| maxcombs / adc from density + | 10 | 1 |" in written
    assert "| maxcombs / density | 10 / 10 | 4 / 2 (2.00) | 1.5000 / 1.5000 (1.00) |" in written
    assert "| maxcombs / density | 11 / 99 | 8 / 4 (2.00) |" in written
    assert "our figure / the published one" not in format_tables_markdown(ROWS)


def test_the_plan_has_six_scenarios_of_eighteen_combinations():
    plan = build_thesis_plan("western", (Grouping("age", {"1": "a"}),))
    assert [scenario.generalised for scenario in plan.scenarios] == [False, True] * 3
    assert len(plan.combinations) == 6 * 18
    assert plan.most_aggregations == 540
    assert plan.approaches["site_number"][1].model == "western"
    assert (
        build_thesis_plan("central", (Grouping("age", {"1": "a"}),)).approaches["site_number"][2].model
        == "central"
    )
