"""The four planners: valid plans always, the known example, optimal against enumeration."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vbas_desktop.appointments.anonymity_vector import AnonymityVector
from vbas_desktop.appointments.exact_planner import ExactPlanner
from vbas_desktop.appointments.greedy_planner import FILLS
from vbas_desktop.appointments.plan import (
    AppointmentPlan,
    AppointmentTask,
    GroupLimits,
    list_alternatives,
)
from vbas_desktop.appointments.planners import create_planner, list_planners
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled

EXAMPLE = AppointmentTask(np.array([4, 4, 5, 2]), np.array([4, 2, 4, 3, 2]))


def every_plan(task):
    """All plans up to people being exchangeable, as lists of class rows."""

    def rows(people, seats):
        if not seats:
            if people == 0:
                yield ()
            return
        for here in range(min(people, seats[0]) + 1):
            for rest in rows(people - here, seats[1:]):
                yield (here, *rest)

    def plans(classes, seats):
        if not classes:
            yield ()
            return
        for row in rows(classes[0], seats):
            for rest in plans(classes[1:], [s - r for s, r in zip(seats, row, strict=True)]):
                yield (row, *rest)

    return plans(task.people.tolist(), task.seats.tolist())


@st.composite
def tasks(draw, most_people=40):
    people = draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    seats = draw(st.lists(st.integers(0, 8), min_size=1, max_size=8))
    short = sum(people) - sum(seats)
    return AppointmentTask(np.array(people), np.array([*seats, max(short, 0)]))


def test_the_running_example_has_14504_plans_of_which_58_are_2_anonymous_and_the_best_is_known():
    vectors = [AnonymityVector.of_sizes(plan) for plan in every_plan(EXAMPLE)]
    assert len(vectors) == 14_504
    assert sum(vector.k >= 2 for vector in vectors) == 58
    assert min(vectors).counts == (0, 2, 1, 2)


def test_every_planner_but_random_solves_the_running_example():
    assert EXAMPLE.before.counts == (0, 1, 0, 2, 1)
    for name in ("heuristic", "better", "optimal"):
        assert create_planner(name).plan(EXAMPLE, NO_PROGRESS).vector.counts == (0, 2, 1, 2)
    assert create_planner("optimal").plan(EXAMPLE, NO_PROGRESS).proof == "optimal"


def test_largest_first_gives_the_printed_vector_which_has_rank_339():
    plan = create_planner("heuristic", fill="largest").plan(EXAMPLE, NO_PROGRESS)
    assert plan.vector.counts == (2, 3, 1, 1)
    # As printed, but for slots that have equally many free seats at the time.
    groups = [sorted(plan.counts[plan.classes == number].tolist()) for number in range(4)]
    assert groups == [[1, 3], [2, 2], [1, 4], [2]]
    vectors = [AnonymityVector.of_sizes(each) for each in every_plan(EXAMPLE)]
    assert sum(vector <= plan.vector for vector in vectors) == 339
    assert sum(vector < plan.vector for vector in vectors) == 255


@pytest.mark.parametrize(
    ("fill", "cells"),
    [
        # q = 10, q/2 = 5: seats 2, 4, 7, 9 are not enough for all.
        ("closest", {1: 4, 3: 6}),
        ("listing", {1: 4, 3: 6}),
        ("largest", {3: 9, 2: 1}),
    ],
)
def test_a_class_that_fits_into_no_slot_fills_the_one_that_is_chosen(fill, cells):
    task = AppointmentTask(np.array([10]), np.array([2, 4, 7, 9]))
    plan = create_planner("heuristic", fill=fill).plan(task, NO_PROGRESS)
    assert dict(zip(plan.slots.tolist(), plan.counts.tolist(), strict=True)) == cells


@pytest.mark.parametrize(
    ("fill", "cells"), [("closest", {6: 6, 9: 4}), ("listing", {2: 2, 9: 8}), ("largest", {9: 9, 6: 1})]
)
def test_the_closest_slot_may_be_above_half_but_that_of_the_listing_is_not(fill, cells):
    assert seats_taken(10, [2, 6, 9], fill) == cells


def test_the_listing_takes_the_smallest_slot_where_none_has_at_most_half():
    assert seats_taken(10, [7, 6, 9], "listing") == {6: 6, 9: 4}


def seats_taken(people, seats, fill):
    """How many people of one class sit in the slots, by the seats of each."""
    plan = create_planner("heuristic", fill=fill).plan(
        AppointmentTask(np.array([people]), np.array(seats)), NO_PROGRESS
    )
    return {
        seats[slot]: number
        for slot, number in zip(plan.slots.tolist(), plan.counts.tolist(), strict=True)
    }


def test_an_unknown_way_to_split_is_refused():
    with pytest.raises(InputError, match="closest"):
        create_planner("heuristic", fill="smallest")


TABLE_8 = [
    ([[0, 0, 2, 0, 2], [2, 2, 0, 0, 0], [0, 0, 2, 3, 0], [2, 0, 0, 0, 0]], (0, 6, 1)),
    ([[0, 0, 4, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 3, 2], [0, 2, 0, 0, 0]], (0, 2, 1, 2)),
    ([[4, 0, 0, 0, 0], [0, 0, 4, 0, 0], [0, 0, 0, 3, 2], [0, 2, 0, 0, 0]], (0, 2, 1, 2)),
]
"""The plans after the levels 1 and 2 (also 4) and 3, and their printed vectors."""


@pytest.mark.parametrize(("matrix", "vector"), TABLE_8)
def test_the_plans_of_table_8_are_valid_and_have_the_printed_vectors(matrix, vector):
    plan = AppointmentPlan.from_matrix(np.array(matrix), "printed", "heuristic")
    assert plan.violations(EXAMPLE) == []
    assert plan.vector.counts == vector


def test_the_appointments_of_table_9_are_those_of_the_last_plan_of_table_8():
    # Rows 1 … 15: the class of Table 7 and the slot (A9, A13, B9, B13, C13), both from 0.
    classes = np.array([0, 1, 2, 3, 0, 2, 2, 1, 2, 3, 1, 2, 0, 0, 1])
    slots = np.array([2, 0, 3, 1, 2, 3, 3, 0, 4, 1, 0, 4, 2, 2, 0])
    plan = AppointmentPlan.from_cells(classes, slots, np.ones(15, np.int64), "printed", "heuristic")
    assert plan.matrix(EXAMPLE).tolist() == TABLE_8[1][0]


def test_the_random_plan_of_the_example_by_its_data():
    # class by row: 1 male 50–54, 2 male 55–59, 3 female 55–59, 4 female 55–59 elsewhere; slots A9 A13 B9 B13 C13
    classes = np.array([0, 1, 2, 3, 0, 2, 2, 1, 2, 3, 1, 2, 0, 0, 1])
    slots = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 3])
    plan = AppointmentPlan.from_cells(classes, slots, np.ones(15, np.int64), "printed", "heuristic")
    assert plan.vector.counts == (9, 3)


@pytest.mark.parametrize("name", ["heuristic", "better", "random"])
@settings(max_examples=60, deadline=None)
@given(task=tasks())
def test_every_person_is_placed_once_and_no_slot_is_over_capacity(name, task):
    plan = create_planner(name).plan(task, NO_PROGRESS)
    matrix = plan.matrix(task)
    assert (matrix.sum(axis=1) == task.people).all()
    assert (matrix.sum(axis=0) <= task.seats).all()
    assert plan.vector.people == task.people.sum()


@settings(max_examples=40, deadline=None)
@given(task=tasks())
def test_better_is_never_worse_than_the_heuristic(task):
    assert (
        create_planner("better").plan(task, NO_PROGRESS).vector
        <= create_planner("heuristic").plan(task, NO_PROGRESS).vector
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
)
def test_optimal_equals_enumeration_with_both_models(people, seats):
    task = AppointmentTask(np.array(people), np.array([*seats, max(0, sum(people) - sum(seats))]))
    best = min(AnonymityVector.of_sizes(plan) for plan in every_plan(task))
    pieces = ExactPlanner().plan(task, NO_PROGRESS)
    everywhere = np.ones((task.people.size, task.seats.size), bool)
    direct = ExactPlanner().plan(
        AppointmentTask(task.people, task.seats, allowed=everywhere), NO_PROGRESS
    )
    assert pieces.proof == direct.proof == "optimal"
    assert pieces.vector == direct.vector == best


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
@example(352)  # a class of nobody that may use no slot
def test_classes_stay_in_the_slots_they_may_use_or_the_missing_seats_are_named(seed):
    rng = np.random.default_rng(seed)
    people, seats = rng.integers(0, 6, 4), rng.integers(1, 7, 5)
    seats[0] += max(0, people.sum() - seats.sum())
    allowed = rng.random((4, 5)) < 0.7
    task = AppointmentTask(people, seats, allowed=allowed)
    unseated = int(people.sum()) - most_seated(task)
    for name in ("heuristic", "better", "random"):
        if unseated:
            said = "1 person of .* finds" if unseated == 1 else f"{unseated} people of .* find"
            with pytest.raises(InputError, match=f"^{said} no seat in the slots they may use"):
                create_planner(name).plan(task, NO_PROGRESS)
        else:
            assert create_planner(name).plan(task, NO_PROGRESS).violations(task) == []


def most_seated(task):
    """How many people can sit, by seating one at a time and letting others move (augmenting paths)."""
    seated = [[] for _ in task.seats]

    def seat(person, tried):
        for slot in range(task.seats.size):
            if task.allowed[person, slot] and slot not in tried:
                tried.add(slot)
                if len(seated[slot]) < task.seats[slot]:
                    seated[slot].append(person)
                    return True
                for place, other in enumerate(seated[slot]):
                    if seat(other, tried):
                        seated[slot][place] = person
                        return True
        return False

    return sum(seat(number, set()) for number in np.repeat(np.arange(task.people.size), task.people))


def test_too_few_seats_are_counted():
    with pytest.raises(InputError, match=r"12 people .* only 10 seats: 2 seats are missing"):
        AppointmentTask(np.array([12]), np.array([4, 6]))


def test_negative_numbers_are_refused_together():
    with pytest.raises(InputError) as caught:
        AppointmentTask(np.array([-1]), np.array([-4]))
    assert [finding.code for finding in caught.value.findings] == [
        "negative-people",
        "negative-capacity",
    ]


def test_group_limits_are_kept_by_the_optimal_planner_and_refused_by_the_others():
    limits = GroupLimits(np.array([0, 1]), largest_share=0.5)
    task = AppointmentTask(np.array([4, 4]), np.array([4, 4]), limits=limits)
    plan = ExactPlanner().plan(task, NO_PROGRESS)
    assert plan.proof == "optimal"
    assert plan.vector.counts == (0, 4)
    with pytest.raises(InputError, match="cannot keep limits on groups"):
        create_planner("heuristic").plan(task, NO_PROGRESS)


def test_at_least_two_groups_in_every_used_slot():
    limits = GroupLimits(np.array([0, 1]), fewest_groups=2)
    task = AppointmentTask(np.array([4, 4]), np.array([4, 4]), limits=limits)
    assert ExactPlanner().plan(task, NO_PROGRESS).violations(task) == []


def test_an_infeasible_constraint_is_named_with_the_people_it_leaves_out():
    limits = GroupLimits(np.array([0, 1]), largest_share=0.25)
    task = AppointmentTask(np.array([4, 4]), np.array([4, 4]), limits=limits)
    with pytest.raises(InputError, match=r"at most 25 % of a slot for one group, 4 people find no seat"):
        ExactPlanner().plan(task, NO_PROGRESS)


class StopAtOnce:
    """Stops as soon as there is a first plan to keep."""

    def update(self, stage, fraction=None):
        if not stage.startswith(("Preparing", "Seating")):
            raise Cancelled


def test_stopping_keeps_the_incumbent_and_claims_nothing():
    rng = np.random.default_rng(3)
    task = AppointmentTask(rng.integers(40, 90, 15), np.full(120, 9))
    plan = ExactPlanner().plan(task, StopAtOnce())
    assert plan.proof != "optimal"
    assert plan.violations(task) == []


def test_someone_who_cannot_attend_is_offered_free_seats_best_first():
    task = AppointmentTask(np.array([3, 2]), np.array([3, 3, 1]))
    plan = create_planner("heuristic").plan(task, NO_PROGRESS)
    own = int(plan.slots[plan.classes == 0][0])
    options = list_alternatives(task, plan, 0, own)
    assert [vector for _, vector in options] == sorted(vector for _, vector in options)
    assert own not in [slot for slot, _ in options]


def test_planners_are_described_and_travel_between_processes():
    assert list(list_planners()) == ["heuristic", "better", "optimal", "random"]
    for kind in list_planners().values():
        assert kind.metadata.summary.endswith(".")
        assert pickle.loads(pickle.dumps(kind())) == kind()
    with pytest.raises(InputError, match="Time limit"):
        create_planner("optimal", time_limit=-1)


def test_unknown_planner_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="heuristic, better, optimal, random"):
        create_planner("best")


@pytest.mark.parametrize("fill", FILLS)
@settings(max_examples=60, deadline=None)
@given(
    people=st.lists(st.integers(0, 12), min_size=1, max_size=8),
    seats=st.lists(st.integers(0, 12), min_size=1, max_size=8),
)
def test_people_are_seated_by_the_literal_rule(fill, people, seats):
    seats[0] += max(0, sum(people) - sum(seats))
    expected = literal_plan(people, list(seats), fill)
    plan = create_planner("heuristic", fill=fill).plan(
        AppointmentTask(np.array(people), np.array(seats)), NO_PROGRESS
    )
    cells = zip(plan.classes.tolist(), plan.slots.tolist(), plan.counts.tolist(), strict=True)
    assert {(number, slot): count for number, slot, count in cells} == expected


def literal_plan(people, free, fill):
    """The rule, looking at all slots each time; of equal slots the one that has been so for longest goes first."""
    since = list(range(len(free)))
    cells = {}
    for number in sorted(range(len(people)), key=lambda number: -people[number]):
        left = people[number]
        while left:
            usable = [slot for slot in range(len(free)) if free[slot]]
            size = literal_size(left, sorted({free[slot] for slot in usable}), fill)
            slot = min((slot for slot in usable if free[slot] == size), key=since.__getitem__)
            taken = min(size, left)
            cells[number, slot] = cells.get((number, slot), 0) + taken
            free[slot] -= taken
            left -= taken
            since[slot] = max(since) + 1
    return cells


def literal_size(left, sizes, fill):
    if left in sizes:
        return left
    if sizes[-1] > left or fill == "largest":
        return sizes[-1]
    if fill == "listing":
        return max((size for size in sizes if 2 * size <= left), default=sizes[0])
    return min(sizes, key=lambda size: (abs(2 * size - left), -size))


def test_other_slots_have_the_vectors_of_the_plans_they_lead_to():
    plan = create_planner("heuristic").plan(
        AppointmentTask(np.array([4, 4, 5, 2]), np.array([4, 3, 5, 3, 2])), NO_PROGRESS
    )
    task = AppointmentTask(np.array([4, 4, 5, 2]), np.array([4, 3, 5, 3, 2]))
    seen = 0
    for number, slot in zip(plan.classes.tolist(), plan.slots.tolist(), strict=True):
        for other, vector in list_alternatives(task, plan, number, slot):
            moved = plan.matrix(task)
            moved[number, slot] -= 1
            moved[number, other] += 1
            assert vector == AnonymityVector.of_sizes(moved)
            seen += 1
    assert seen > 0
