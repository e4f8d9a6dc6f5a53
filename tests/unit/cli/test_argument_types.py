"""Values of options as people type them."""

from __future__ import annotations

import argparse

import pytest

from vbas_desktop.cli.arguments import argument_type, names, numbers, sets_of_names, whole
from vbas_desktop.cli.main import main
from vbas_desktop.settings.reading import RecordReading
from vbas_desktop.settings.run import SweepSettings

percent = argument_type(SweepSettings.option("range_step_percent").parse)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [("tab", "\t"), ("\\t", "\t"), ("Semicolon", ";"), ("pipe", "|"), (",", ","), (None, None)],
)
def test_delimiters_have_names(text, delimiter):
    assert RecordReading(delimiter=text).delimiter == delimiter


def test_names_are_separated_by_commas_and_quoted_if_they_have_one():
    assert names('age, "income, net",sex') == ("age", "income, net", "sex")
    assert sets_of_names("age,sex;age") == [["age", "sex"], ["age"]]


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (names, "a,,b", "a name is missing"),
        (names, "a,b,a", "“a” is there twice"),
        (whole(1), "0", "the least is 1"),
        (whole(1), "1.5", "is not a whole number"),
        (numbers(1), "3,0", "the least is 1"),
        (percent, "0", "must be a number above 0"),
        (percent, "ten", "is not a number"),
    ],
)
def test_other_values_are_refused_in_words(kind, text, words):
    with pytest.raises(argparse.ArgumentTypeError, match=words):
        kind(text)


def test_risky_knows_the_names_of_delimiters_too(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("age\tsex\n" + "1\tF\n" * 5 + "2\tM\n")
    assert main(["risky", str(path), "--delimiter", "tab", "-k", "2", "--json", "--quiet"]) == 0
    assert '"sex"' in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "a", "b", "--policy", "x", "--policy", "y"],
        ["run", "a", "b", "--requirement=x", "--requirement", "x"],
        ["ledger", "check", "x", "--ledger", "a", "--ledger", "b"],
        ["representability", "a", "b", "--key", "id", "--worst", "x", "--worst", "y"],
        ["appointments", "a", "b", "--regions", "x", "--regions", "y"],
    ],
)
def test_an_input_that_is_given_twice_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "it is given twice; give it once" in capsys.readouterr().err
