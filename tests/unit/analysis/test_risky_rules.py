"""Rule files load as people write them."""

import pytest

from vbas_desktop.analysis.minimal_uniques.rules import (
    DomainRule,
    FilterRule,
    find_unknown_features,
    read_domain_rules,
    read_filter_rules,
)
from vbas_desktop.model.findings import InputError

DOMAIN = """Feature,Rule Type,Rule Option
PostalCode,Candidate,Candidate-1
PostalCode,Candidate,Candidate-3
Gender,Threshold Greater,7
ALL,Candidate,Candidate-4
"""
FILTER = """id, -3
id, -2
id, -1
id, null
age, null
gender, null
region, -1
region, -1
region, -1
region, null
married, null
children, null
first time, null
current, null
long term, null
has health, null
has sin, null
"""


def write(tmp_path, text):
    path = tmp_path / "rules.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_domain_rules_load_as_they_are_printed(tmp_path):
    assert read_domain_rules(write(tmp_path, DOMAIN)) == (
        DomainRule("PostalCode", "candidate", 1),
        DomainRule("PostalCode", "candidate", 3),
        DomainRule("Gender", "greater", 7),
        DomainRule("ALL", "candidate", 4),
    )


def test_filter_rules_load_as_they_are_printed(tmp_path):
    rules = read_filter_rules(write(tmp_path, FILTER))
    assert len(rules) == 17
    assert [rule.cut for rule in rules[:3]] == [3, 2, 1]
    assert rules[3] == FilterRule("id", "null")
    assert rules[12].feature == "first time"


def test_groups_come_from_a_file_beside_the_rules(tmp_path):
    (tmp_path / "ages.csv").write_text("value,group\n1,young\n2,young\n")
    rules = read_filter_rules(write(tmp_path, "age,map:ages.csv\n"))
    assert rules[0].groups == (("1", "young"), ("2", "young"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age,Candidate\n", "A rule has 3 fields, not 2"),
        ("age,Perhaps,3\n", "There is no such rule type"),
        ("age,Candidate,some\n", "The option is not a whole number"),
    ],
)
def test_bad_domain_rules_are_named_by_row(tmp_path, text, said):
    with pytest.raises(InputError, match=f"row 1.*{said}"):
        read_domain_rules(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"), [("age\n", "2 fields, not 1"), ("age,shrink\n", "no such filter rule")]
)
def test_bad_filter_rules_are_named_by_row(tmp_path, text, said):
    with pytest.raises(InputError, match=f"row 1.*{said}"):
        read_filter_rules(write(tmp_path, text))


def test_misspelt_features_are_found_but_spelling_variants_are_not():
    rules = [
        FilterRule("first time", "null"),
        FilterRule("First_Visit", "null"),
        DomainRule("ALL", "candidate", 1),
    ]
    assert find_unknown_features(rules, ["first visit"]) == ["first time"]
