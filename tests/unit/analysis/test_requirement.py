"""Requirements against the vector of a file: classes of which a part fits, and the highest of several levels."""

import json
import re

import pytest

from vbas_desktop.analysis.representability.requirement import (
    Requirement,
    RequirementStatus,
    check_requirement,
    parse_requirement,
)
from vbas_desktop.model.findings import InputError

CLASSES = {"per_class": [{"class": {"age": "3", "sex": "m"}}, {"class": {"age": "4", "sex": "f"}}]}
LEVELS = {"coding": {"age": {"records_by_level": {"level 0": 40, "level 2": 7, "level 1": 9}}}}


@pytest.mark.parametrize(
    ("wanted", "actual", "verdict"),
    [
        ({"age": "3", "sex": "m"}, "released", RequirementStatus.OK),
        ({"age": "4"}, "released", RequirementStatus.OK),
        ({"age": "3", "sex": "f"}, "not released", RequirementStatus.NOT_MET),
        ({"age": "5", "sex": "f"}, "not released", RequirementStatus.NOT_MET),
    ],
)
def test_all_columns_of_a_required_class_must_fit_one_released_class(wanted, actual, verdict):
    (criterion,) = check_requirement(Requirement(required_classes=(wanted,)), CLASSES)
    assert (criterion.actual, criterion.status) == (actual, verdict)


@pytest.mark.parametrize("k_anonymous", [True, False])
@pytest.mark.parametrize(
    ("unwanted", "is_there"),
    [({"age": "3"}, True), ({"age": "3", "sex": "f"}, False), ({"age": "5"}, False)],
)
def test_an_unwanted_class_is_in_no_released_class(unwanted, is_there, k_anonymous):
    vector = {
        **CLASSES,
        "included_quasi_identifiers": ["age", "sex"],
        "classes_below_k": {"records": 0, "k_anonymous": k_anonymous},
    }
    need = parse_requirement({"format_version": 1, "unwanted_classes": [unwanted]})
    assert parse_requirement(need.as_dict()) == need
    (criterion,) = check_requirement(need, vector)
    # Classes below k are not listed: then it is not known whether one of them is unwanted.
    absent = RequirementStatus.OK if k_anonymous else RequirementStatus.NOT_CHECKABLE
    assert criterion.status == (RequirementStatus.NOT_MET if is_there else absent)
    assert criterion.required == "not released"
    assert ("--drop-records" in criterion.actual) is is_there


def test_an_unwanted_class_of_other_columns_cannot_be_checked():
    vector = {**CLASSES, "included_quasi_identifiers": ["age", "sex"]}
    (criterion,) = check_requirement(Requirement(unwanted_classes=({"height": "1"},)), vector)
    assert (criterion.actual, criterion.status) == (
        "height is no quasi-identifier",
        RequirementStatus.NOT_CHECKABLE,
    )


@pytest.mark.parametrize(
    ("top", "verdict"),
    [(0, RequirementStatus.NOT_MET), (1, RequirementStatus.NOT_MET), (2, RequirementStatus.OK)],
)
def test_the_highest_level_of_a_column_decides(top, verdict):
    (criterion,) = check_requirement(Requirement(highest_level={"age": top}), LEVELS)
    assert (criterion.name, criterion.required, criterion.actual) == (
        "Level of age",
        f"at most {top}",
        "2",
    )
    assert criterion.status == verdict


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"format_version": 2}, "“format_version” is not valid: Input should be 1"),
        ({"title": "x"}, "“format_version” is missing"),
        ([1], "“the whole” is not valid"),
        (
            {"format_version": 1, "overall": {"precisio": {"min": 1}}},
            "overall has no measure “precisio”",
        ),
        (
            {"format_version": 1, "overall": {"jaccard": {"min": "a"}}},
            "“overall/jaccard/min” is not valid",
        ),
        (
            {"format_version": 1, "overall": {"jaccard": {"least": 1}}},
            "“overall/jaccard/least” is not valid",
        ),
        ({"format_version": 1, "k": {}}, "“k” is not valid: it needs min, max or both"),
        ({"format_version": 1, "no_aggregation": 1}, "“no_aggregation” is not valid"),
        ({"format_version": 1, "highest_level": {"a": 1.0}}, "“highest_level/a” is not valid"),
        ({"format_version": 1, "highest_level": {"a": -1}}, "“highest_level/a” is not valid"),
        ({"format_version": 1, "required_classes": [{}]}, "“required_classes/0” is not valid"),
        ({"format_version": 1, "required_sensitive": ["a", 7]}, "“required_sensitive/1” is not valid"),
        ({"format_version": 1, "minimum_sample_ratio": 2}, "“minimum_sample_ratio” is not valid"),
        ({"format_version": 1, "weights": {"a": 0.5}}, "the weights add up to 0.5, not to 1"),
        ({"format_version": 1, "weights": {"a": 0}}, "“weights/a” is not valid"),
        ({"format_version": 1, "k": {"min": float("nan")}}, "“k/min” is not valid"),
    ],
)
def test_a_wrong_requirement_is_refused_with_the_position(data, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse_requirement(data)


def test_a_requirement_is_written_as_it_was_stated():
    data = {
        "format_version": 1,
        "title": "t",
        "overall": {"jaccard": {"min": 0.5}},
        "k": {"min": 3, "max": 9},
        "later": [1],
    }
    assert parse_requirement(data).as_dict() == data
    assert json.dumps(parse_requirement(data).as_dict()) == json.dumps(data)
    assert Requirement().as_dict() == {"format_version": 1}
