"""Requirements against the vector of a file: classes of which a part fits, and the highest of several levels."""

import pytest

from vbas_desktop.assessment.representability.requirement import Requirement, Verdict, check

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


@pytest.mark.parametrize(("top", "verdict"), [(0, Verdict.NOT_MET), (1, Verdict.NOT_MET), (2, Verdict.OK)])
def test_the_highest_level_of_a_column_decides(top, verdict):
    (criterion,) = check(Requirement(highest_level={"age": top}), LEVELS)
    assert (criterion.name, criterion.required, criterion.actual) == ("Level of age", f"at most {top}", "2")
    assert criterion.verdict == verdict
