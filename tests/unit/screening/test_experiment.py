"""The experiments are repeatable and hold their promises on small sizes."""

from vbas_desktop.cli.main import main
from vbas_desktop.domain.progress import Silent
from vbas_desktop.screening.experiment import REGIONS, country, improvements, random_programme


def test_a_random_programme_has_the_people_asked_for_and_seats_for_all():
    task = random_programme(250, 3)
    assert task.people.sum() == 250
    assert task.people.size == 7
    assert 250 <= task.seats.sum() < 250 + task.seats.max()
    assert (random_programme(250, 3).people == task.people).all()


def test_no_planner_beats_the_optimum():
    (row,) = improvements([40], 3, 40, 20.0, Silent())
    assert row.proved == 3
    assert row.over_random["heuristic"] <= row.over_random["better"] <= row.over_random["optimal"]
    assert row.optimal_over_heuristic >= 0


def test_a_country_has_one_programme_per_region_and_date():
    rows = country(2, 0, Silent())
    assert [row.centres for row in rows] == [centres for _, centres in REGIONS]
    assert all(row.programmes == 2 and row.smallest <= row.mean <= row.largest <= 1 for row in rows)


def test_the_table_is_printed_as_markdown(capsys):
    options = ["--people", "20", "--programmes", "2", "--quiet"]
    assert main(["appointments-experiment", *options]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("| 20 | ")
    assert main(["appointments-experiment", "--people", "many"]) == 1
