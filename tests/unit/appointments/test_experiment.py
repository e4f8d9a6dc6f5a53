"""The experiments are repeatable and hold their promises on small sizes."""

import pytest

from vbas_desktop.appointments.experiments import (
    TABLE_10,
    TABLE_11,
    draw_programme,
    find_published_gain,
    parse_expression,
    run_country_experiment,
    run_improvement_experiment,
)
from vbas_desktop.cli.main import main
from vbas_desktop.model.progress import NO_PROGRESS


def test_a_random_programme_has_the_people_asked_for_and_seats_for_all():
    task = draw_programme(250, 3)
    assert task.people.sum() == 250
    assert task.people.size == 7
    assert 250 <= task.seats.sum() < 250 + task.seats.max()
    assert (draw_programme(250, 3).people == task.people).all()


def test_no_planner_beats_the_optimum():
    (row,) = run_improvement_experiment([40], 3, 40, 20.0, NO_PROGRESS)
    assert row.proved == 3
    assert row.over_random["heuristic"] <= row.over_random["better"] <= row.over_random["optimal"]
    assert row.optimal_over_heuristic >= 0


def test_a_country_has_one_programme_per_region_and_date():
    rows = run_country_experiment(2, 0, NO_PROGRESS)
    assert [row.published for row in rows] == list(TABLE_11)
    assert all(row.programmes == 2 and row.smallest <= row.mean <= row.largest <= 1 for row in rows)


def test_the_table_is_printed_as_markdown(capsys):
    options = ["--people", "20", "--programmes", "2", "--quiet"]
    assert main(["appointments-experiment", *options]) == 0
    line = capsys.readouterr().out.splitlines()[2].split(" | ")
    assert (line[0], line[2], line[6]) == ("| 20", "24%", "1%")
    assert main(["appointments-experiment", "--people", "many"]) == 1


def test_the_country_is_printed_beside_table_11(capsys):
    assert main(["appointments-experiment", "--country", "--dates", "1", "--quiet"]) == 0
    printed = capsys.readouterr()
    rows = [line.strip("| ").split(" | ") for line in printed.out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "9"]
    assert [row[9] for row in rows] == ["82.6%", "34.4%", "58.8%", "53.7%", "3.6%"]
    assert "not reproduced" in printed.err


def test_birth_years_say_how_many_classes_there_are(capsys):
    usual = run_country_experiment(1, 0, NO_PROGRESS)
    assert usual == run_country_experiment(1, 0, NO_PROGRESS, birth_years=(1904, 1996))
    assert usual != run_country_experiment(1, 0, NO_PROGRESS, birth_years=(1904, 1948))
    with pytest.raises(SystemExit):
        main(["appointments-experiment", "--country", "--birth-years", "1996-1904"])
    assert "the last year is not before the first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N/10+5", 105),
        ("N/100 + 5", 15),
        ("2*(N-990)", 20),
        ("n×0.1", 100),
        ("N/3", 333),
        ("−5+N÷100", 5),
        ("7", 7),
    ],
)
def test_an_expression_in_n_is_computed_exactly_and_rounded_down(text, value):
    assert parse_expression(text).value(1000) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N**9",
        "N//2",
        "M+1",
        "N(1)",
        "__import__('os')",
        "N if N else 1",
        "1e99",
        "N+",
        "True",
        "'a'",
        "9" * 200,
    ],
)
def test_anything_else_than_an_expression_in_n_is_refused(text):
    with pytest.raises(ValueError, match="expression in N"):
        parse_expression(text)


@pytest.mark.parametrize("option", ["--classes", "--slots"])
def test_the_number_of_classes_is_an_expression(option, capsys):
    assert draw_programme(1000, 0, parse_expression("N/10+5")).people.size == 105
    options = ["appointments-experiment", "--people", "1000", "--programmes", "1", "--quiet"]
    assert main([*options, option, "N/10+5"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split(" | ")[2] == "35%"
    assert main([*options, option, "N+1"]) == 1
    assert "N+1 is 1,001 for 1,000 people" in capsys.readouterr().err
    assert main([*options, option, "N/(N-1000)"]) == 1
    assert "divides by zero" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*options, option, "N**2"])


def test_the_heuristic_of_the_experiment_splits_classes_as_it_is_told(capsys):
    tables = []
    for fill in ("closest", "largest"):
        options = ["--people", "50", "--programmes", "5", "--largest-optimal", "10", "--quiet"]
        assert main(["appointments-experiment", *options, "--set", f"heuristic.fill={fill}"]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] != tables[1]
    assert main(["appointments-experiment", "--set", "random.random_seed=1"]) == 2


def test_published_figures_belong_to_their_number_of_classes():
    assert find_published_gain("n/100 + 5", 45) == TABLE_10[45]
    assert find_published_gain("N/10+5", 1000).heuristic_over_random == 0.35
    assert find_published_gain("N/10+5", 45) is None
    assert find_published_gain("N/7", 1000) is None
