"""A majority and other groups in the same slots: every planner keeps the limits, the optimum against enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_planners import every_plan

from vbas_desktop.appointments.anonymity_vector import AnonymityVector
from vbas_desktop.appointments.exact_planner import ExactPlanner
from vbas_desktop.appointments.plan import AppointmentTask, GroupLimits, list_alternatives
from vbas_desktop.appointments.planners import create_planner
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS

PLANNERS = ("heuristic", "better", "optimal", "random")


def with_majority(people, groups, seats, share=0.15, fewest=3, allowed=None):
    limits = GroupLimits(np.array(groups), share, fewest, majority=0)
    return AppointmentTask(np.array(people), np.array(seats), allowed=allowed, limits=limits)


def keeps_limits(task, matrix):
    """Say whether every slot has few enough people of other groups than group 0, and enough of these groups."""
    limits = task.limits
    for slot in range(len(task.seats)):
        column = [int(row[slot]) for row in matrix]
        others = [
            (int(group), number)
            for group, number in zip(limits.group, column, strict=True)
            if group and number
        ]
        number = sum(each for _, each in others)
        if Fraction(number) > Fraction(str(limits.largest_share)) * sum(column):
            return False
        if others and len({group for group, _ in others}) < limits.fewest_groups:
            return False
    return True


def best_by_enumeration(task):
    plans = (plan for plan in every_plan(task) if keeps_limits(task, plan))
    if task.allowed is not None:
        plans = (plan for plan in plans if not (np.array(plan)[~task.allowed]).any())
    return min((AnonymityVector.of_sizes(plan) for plan in plans), default=None)


# 17 of the majority and one of each of three other groups: exactly 15 % of 20.
TWENTY = ([17, 1, 1, 1], [0, 1, 2, 3])


@pytest.mark.parametrize("name", PLANNERS)
def test_three_people_of_three_groups_sit_in_the_slot_of_twenty(name):
    task = with_majority(*TWENTY, [10, 20, 5])
    plan = create_planner(name).plan(task, NO_PROGRESS)
    assert plan.matrix(task)[:, 1].tolist() == [17, 1, 1, 1]


@pytest.mark.parametrize("name", PLANNERS)
def test_a_majority_that_fits_into_smaller_slots_is_moved_beside_the_others(name):
    task = with_majority([9, 8, 1, 1, 1], [0, 0, 1, 2, 3], [9, 20, 8])
    matrix = create_planner(name).plan(task, NO_PROGRESS).matrix(task)
    assert keeps_limits(task, matrix)
    assert matrix[:2, 1].sum() == 17


def test_the_share_is_that_of_the_people_in_a_slot_not_of_its_seats():
    task = with_majority([4, 1], [0, 1], [100], share=0.25, fewest=1)
    assert create_planner("heuristic").plan(task, NO_PROGRESS).violations(task) == []
    with pytest.raises(InputError, match="the majority is too small"):
        create_planner("heuristic").plan(
            with_majority([2, 1], [0, 1], [100], share=0.25, fewest=1), NO_PROGRESS
        )


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize(
    ("people", "groups", "seats", "share", "fewest", "said"),
    [
        (
            [17, 2, 1],
            [0, 1, 2],
            [20],
            0.15,
            3,
            "only 2 other groups .* at least 3 must share a slot: 3 people find",
        ),
        (
            [40, 2, 2, 2],
            [0, 1, 2, 3],
            [10] * 5,
            0.15,
            3,
            "at most 15 % of a slot .* together, 1 person finds no seat",
        ),
        (
            [46, 1, 1, 1],
            [0, 1, 2, 3],
            [10] * 5,
            0.15,
            3,
            "and at least 3 of them .* 3 people find no seat: the other",
        ),
        (
            [16, 1, 1, 1],
            [0, 1, 2, 3],
            [40],
            0.15,
            3,
            "1 person finds no seat: the majority is too small",
        ),
        (
            [40, 5, 1, 1],
            [0, 1, 2, 3],
            [20, 20, 20],
            0.2,
            3,
            "7 people of other groups need 2 slots .* too small",
        ),
    ],
)
def test_what_cannot_be_kept_is_named_with_the_people_it_leaves_out(
    name, people, groups, seats, share, fewest, said
):
    with pytest.raises(InputError, match=said):
        create_planner(name).plan(with_majority(people, groups, seats, share, fewest), NO_PROGRESS)


def test_limits_and_slots_that_may_not_be_used_are_told_apart():
    allowed = np.array([[True, False], [True, True], [True, True], [True, True]])
    task = with_majority(*TWENTY, [17, 20], allowed=allowed)
    with pytest.raises(InputError, match=r"at most 15 % of a slot .* together, 3 people find no seat"):
        create_planner("heuristic").plan(task, NO_PROGRESS)
    task = with_majority(*TWENTY, [3, 20], allowed=allowed)
    with pytest.raises(
        InputError, match=r"^With the slots that each class may use, 14 people find no seat"
    ):
        create_planner("heuristic").plan(task, NO_PROGRESS)


@pytest.mark.parametrize("name", ["heuristic", "better", "random"])
def test_regions_with_slots_of_their_own_are_planned_one_by_one(name):
    allowed = np.array([[True, False]] * 4 + [[False, True]] * 4)
    task = with_majority(TWENTY[0] * 2, TWENTY[1] * 2, [25, 30], allowed=allowed)
    matrix = create_planner(name).plan(task, NO_PROGRESS).matrix(task)
    assert matrix.tolist() == [[17, 0], [1, 0], [1, 0], [1, 0], [0, 17], [0, 1], [0, 1], [0, 1]]
    task = with_majority([*TWENTY[0], 16, 1, 1, 1], TWENTY[1] * 2, [25, 30], allowed=allowed)
    with pytest.raises(
        InputError, match=r"In 1 of 2 regions .*1 person finds no seat: the majority is too small"
    ):
        create_planner(name).plan(task, NO_PROGRESS)
    task = with_majority([17, 3, 3, 3], [0, 1, 2, 3], [25, 30], allowed=allowed[[0, 4, 4, 4]])
    with pytest.raises(
        InputError, match=r"In 1 of 2 regions .*9 people find no seat: the majority is too small"
    ):
        create_planner(name).plan(task, NO_PROGRESS)


def test_rounding_does_not_make_a_possible_plan_impossible():
    # 17/3 people of the majority for each other person: 34 are enough for 6 in two slots only if each slot has three.
    task = with_majority([34, 2, 2, 2], [0, 1, 2, 3], [33, 24])
    matrix = create_planner("heuristic").plan(task, NO_PROGRESS).matrix(task)
    assert keeps_limits(task, matrix)


@st.composite
def grouped_tasks(draw, limited):
    """Draw few people of a majority and up to three other groups, some of several classes, and up to three slots."""
    groups = draw(st.integers(1, 3))
    group = [0, *range(1, groups + 1), *draw(st.lists(st.integers(0, groups), max_size=2))]
    people = [draw(st.integers(0, 2 if each else 9)) for each in group]
    assume(sum(people) <= 14)
    seats = draw(st.lists(st.integers(1, 14), min_size=1, max_size=3))
    seats[0] += max(0, sum(people) - sum(seats))
    allowed = None
    if limited:
        size = len(seats) * len(people)
        flags = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        allowed = np.array(flags).reshape(len(people), len(seats))
    share = draw(st.sampled_from([0.15, 0.25, 0.4, 0.5, 0.75]))
    return with_majority(people, group, seats, share, draw(st.integers(1, 3)), allowed)


@pytest.mark.parametrize("limited", [False, True])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_plan_is_found_exactly_where_enumeration_finds_one_and_the_optimum_is_the_best(limited, data):
    task = data.draw(grouped_tasks(limited=limited))
    best = best_by_enumeration(task)
    for name in PLANNERS:
        if best is None:
            with pytest.raises(InputError):
                create_planner(name).plan(task, NO_PROGRESS)
            continue
        plan = create_planner(name).plan(task, NO_PROGRESS)
        assert keeps_limits(task, plan.matrix(task))
        assert plan.violations(task) == []
        assert best <= plan.vector
        if name == "optimal":
            assert plan.proof == "optimal"
            assert plan.vector == best


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_planner_keeps_the_limits_of_larger_programmes(seed):
    rng = np.random.default_rng(seed)
    classes, groups = int(rng.integers(8, 30)), int(rng.integers(4, 9))
    group = rng.choice(groups, classes, p=[0.5, *[0.5 / (groups - 1)] * (groups - 1)])
    people = np.where(group == 0, rng.integers(20, 60, classes), rng.integers(1, 6, classes))
    group[0] = 0
    people[0] += 8 * people[group > 0].sum()
    seats = rng.integers(15, 60, int(people.sum() // 30 + 1))
    seats[0] += max(0, int(people.sum() - seats.sum()))
    task = with_majority(people, group, seats)
    try:
        plan = create_planner("heuristic").plan(task, NO_PROGRESS)
    except InputError:
        assume(False)
    better = create_planner("better", time_limit=1).plan(task, NO_PROGRESS)
    for each in (
        plan,
        better,
        create_planner("random", random_seed=seed % 1000).plan(task, NO_PROGRESS),
    ):
        matrix = each.matrix(task)
        assert keeps_limits(task, matrix)
        assert (matrix.sum(axis=1) == task.people).all()
        assert (matrix.sum(axis=0) <= task.seats).all()
    assert better.vector <= plan.vector


def test_a_broken_limit_is_seen():
    task = with_majority(*TWENTY, [20, 20])
    plan = create_planner("heuristic").plan(AppointmentTask(task.people, np.array([17, 3])), NO_PROGRESS)
    assert plan.violations(task) == ["1 slot with too many people of other groups"]
    two = with_majority([17, 3], [0, 1], [20])
    assert create_planner("heuristic").plan(
        AppointmentTask(two.people, two.seats), NO_PROGRESS
    ).violations(two) == ["1 slot with too few other groups"]


def test_somebody_of_another_group_is_not_sent_where_there_would_be_too_many():
    task = with_majority([40, 2, 1, 1], [0, 1, 2, 3], [30, 30])
    plan = ExactPlanner().plan(task, NO_PROGRESS)
    matrix = plan.matrix(task)
    host = int(np.flatnonzero(matrix[1])[0])
    assert list_alternatives(task, plan, 1, host) == []
    assert [slot for slot, _ in list_alternatives(task, plan, 0, host)] == [1 - host]


def test_the_same_seed_gives_the_same_random_plan():
    task = with_majority([80, 40, 5, 5, 6], [0, 0, 1, 2, 3], [40, 60, 50])
    matrices = [
        create_planner("random", random_seed=seed).plan(task, NO_PROGRESS).matrix(task).tolist()
        for seed in (1, 1, 2)
    ]
    assert matrices[0] == matrices[1] != matrices[2]
