"""Requirements against the vector of a file: classes of which a part fits, and the highest of several levels."""

import pytest

from vbas_desktop.assessment.representability.requirement import Requirement, Verdict, check, requirement_from

CLASSES = {"per_class": [{"class": {"age": "3", "sex": "m"}}, {"class": {"age": "4", "sex": "f"}}]}
LEVELS = {"coding": {"age": {"records_by_level": {"level 0": 40, "level 2": 7, "level 1": 9}}}}


@pytest.mark.parametrize(
    ("wanted", "actual", "verdict"),
    [
        ({"age": "3", "sex": "m"}, "released", Verdict.OK),
        ({"age": "4"}, "released", Verdict.OK),
        ({"age": "3", "sex": "f"}, "not released", Verdict.NOT_MET),
        ({"age": "5", "sex": "f"}, "not released", Verdict.NOT_MET),
    ],
)
def test_all_columns_of_a_required_class_must_fit_one_released_class(wanted, actual, verdict):
    (criterion,) = check(Requirement(required_classes=(wanted,)), CLASSES)
    assert (criterion.actual, criterion.verdict) == (actual, verdict)


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
    need = requirement_from({"format_version": 1, "unwanted_classes": [unwanted]})
    assert requirement_from(need.as_dict()) == need
    (criterion,) = check(need, vector)
    # Classes below k are not listed: then it is not known whether one of them is unwanted.
    absent = Verdict.OK if k_anonymous else Verdict.NOT_CHECKABLE
    assert criterion.verdict == (Verdict.NOT_MET if is_there else absent)
    assert criterion.required == "not released"
    assert ("--drop-records" in criterion.actual) is is_there


def test_an_unwanted_class_of_other_columns_cannot_be_checked():
    vector = {**CLASSES, "included_quasi_identifiers": ["age", "sex"]}
    (criterion,) = check(Requirement(unwanted_classes=({"height": "1"},)), vector)
    assert (criterion.actual, criterion.verdict) == ("height is no quasi-identifier", Verdict.NOT_CHECKABLE)


@pytest.mark.parametrize(("top", "verdict"), [(0, Verdict.NOT_MET), (1, Verdict.NOT_MET), (2, Verdict.OK)])
def test_the_highest_level_of_a_column_decides(top, verdict):
    (criterion,) = check(Requirement(highest_level={"age": top}), LEVELS)
    assert (criterion.name, criterion.required, criterion.actual) == ("Level of age", f"at most {top}", "2")
    assert criterion.verdict == verdict
