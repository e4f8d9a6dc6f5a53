"""Every way of handling k-outliers against its plain definition, and what each of them promises."""

import csv
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.class_distance_definition import between_classes
from vbas_desktop.analysis.outliers.first_step import FirstStep, TreatmentSteps
from vbas_desktop.analysis.outliers.treatments import (
    DeleteOutliers,
    FabricateRecords,
    GeneraliseOutliers,
    MergeOutliers,
    TreatmentContext,
)
from vbas_desktop.analysis.representability.distances import (
    ClassDistance,
    DistanceTable,
    make_rank_distances,
)
from vbas_desktop.analysis.representability.hierarchy import (
    SUPPRESSED,
    Hierarchy,
    make_flat_hierarchy,
    normalise_levels,
)
from vbas_desktop.analysis.representability.record_classes import RecordClasses
from vbas_desktop.model.findings import InputError

COLUMNS = ("age", "job", "town")
AGES = [str(age) for age in range(12)]
JOBS = ["nurse", "doctor", "smith", "mason", "none"]
TOWNS = ["N1", "N2", "S1", "S2"]
TALL = {
    "age": Hierarchy(
        "age", {age: (f"{int(age) // 3}t", f"{int(age) // 6}s", SUPPRESSED) for age in AGES}
    ),
    # “none” keeps its name on the first level, as values of coded tables often do.
    "job": Hierarchy(
        "job",
        {
            "nurse": ("health", SUPPRESSED),
            "doctor": ("health", SUPPRESSED),
            "smith": ("craft", SUPPRESSED),
            "mason": ("none", SUPPRESSED),
            "none": ("none", SUPPRESSED),
        },
    ),
    "town": make_flat_hierarchy("town"),
}
WEIGHTED = {
    **TALL,
    "age": Hierarchy("age", TALL["age"].ancestors, (0.0, 0.25, 0.75)),
    "job": Hierarchy("job", TALL["job"].ancestors, (0.5, 0.5)),
}
# A value of the lowest level that is also the name of another value's group.
CROSSED = {**TALL, "job": Hierarchy("job", {**TALL["job"].ancestors, "smith": ("nurse", SUPPRESSED)})}
# On this scale, level 2 costs less than level 1.
NORMALISED = {name: replace(hierarchy, bounds=(2, 3)) for name, hierarchy in TALL.items()}
HIERARCHIES = {"tall": TALL, "weighted": WEIGHTED, "crossed": CROSSED, "normalised": NORMALISED}

ROWS = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(JOBS), st.sampled_from(TOWNS)),
    min_size=4,
    max_size=60,
)


def table_of_jobs():
    apart = np.array([[abs(a - b) ** 0.5 for b in range(len(JOBS))] for a in range(len(JOBS))])
    return DistanceTable("job", tuple(JOBS), apart / apart.max())


def distances(classes, with_table):
    return ClassDistance.of_classes(
        classes, (0.5, 0.3, 0.2), {"job": table_of_jobs()} if with_table else {}
    )


def totals(labels, sizes):
    found = Counter()
    for label, size in zip(labels, sizes, strict=True):
        found[label] += size
    return found


def common_level(hierarchy, values):
    return next(
        level
        for level in range(hierarchy.height + 1)
        if len({hierarchy.on_level(value, level) for value in values}) == 1
    )


def on_levels(label, levels, hierarchies):
    return tuple(h.on_level(v, n) for h, v, n in zip(hierarchies, label, levels, strict=True))


# The definitions, class by class


def merge_plainly(classes, k, distance):
    labels = list(classes.labels)
    sizes = classes.sizes.tolist()
    while True:
        total = totals(labels, sizes)
        small = [(size, classes.labels.index(label), label) for label, size in total.items() if size < k]
        if not small:
            return tuple(labels)
        smallest = min(small)[2]
        others = [label for label in total if label != smallest]
        nearest = min(
            others, key=lambda label: (between_classes(distance, smallest, label), -total[label], label)
        )
        labels = [nearest if label == smallest else label for label in labels]


def generalise_everywhere_plainly(classes, k, hierarchies):
    choices = product(*(range(hierarchy.height + 1) for hierarchy in hierarchies))

    def cost(choice):
        return sum(
            hierarchy.share(level) for hierarchy, level in zip(hierarchies, choice, strict=True)
        ), choice

    for choice in sorted(choices, key=cost):
        labels = [on_levels(label, choice, hierarchies) for label in classes.labels]
        if min(totals(labels, classes.sizes.tolist()).values()) >= k:
            return tuple(labels)
    raise AssertionError


def groups_of(labels, numbers):
    found = defaultdict(list)
    for number in numbers:
        found[labels[number]].append(number)
    return found


def join_closest_plainly(classes, levels, small, hierarchies, distance):
    """Bring each small class and its closest group to the lowest levels that all of the group have in common."""
    every = range(len(classes.labels))
    sizes = classes.sizes.tolist()
    labels = [on_levels(classes.labels[c], levels[c], hierarchies) for c in every]
    groups = groups_of(labels, [c for c in every if c not in small])
    joining = defaultdict(list)
    for c in sorted(small):

        def nearness(other, c=c):
            cost = 0.0
            for q, hierarchy in enumerate(hierarchies):
                values = (classes.labels[c][q], classes.labels[other][q])
                cost += hierarchy.share(max(levels[other][q], common_level(hierarchy, values)))
            size = sum(sizes[each] for each in groups[labels[other]])
            return (
                cost,
                between_classes(distance, classes.labels[c], classes.labels[other]),
                -size,
                other,
            )

        closest = min((other for other in every if other not in small), key=nearness)
        joining[labels[closest]].append(c)
    for label, joined in joining.items():
        members = groups[label] + joined
        for q, hierarchy in enumerate(hierarchies):
            level = common_level(hierarchy, {classes.labels[c][q] for c in members})
            for c in members:
                labels[c] = (
                    *labels[c][:q],
                    hierarchy.on_level(classes.labels[c][q], level),
                    *labels[c][q + 1 :],
                )
    return tuple(labels)


def generalise_with_closest_plainly(classes, k, hierarchies, distance):
    small = {c for c, size in enumerate(classes.sizes.tolist()) if size < k}
    if len(small) == len(classes.labels):
        return generalise_outliers_plainly(classes, k, hierarchies, distance)
    levels = [[0] * len(hierarchies) for _ in classes.labels]
    return join_closest_plainly(classes, levels, small, hierarchies, distance)


def generalise_outliers_plainly(classes, k, hierarchies, distance):
    every = range(len(classes.labels))
    sizes = classes.sizes.tolist()
    levels = [[0] * len(hierarchies) for _ in every]
    while True:
        labels = [on_levels(classes.labels[c], levels[c], hierarchies) for c in every]
        total = totals(labels, sizes)
        small = {c for c in every if total[labels[c]] < k}
        rising = [
            c for c in small if any(n < h.height for n, h in zip(levels[c], hierarchies, strict=True))
        ]
        if not rising:
            break
        for c in rising:
            possible = [q for q, hierarchy in enumerate(hierarchies) if levels[c][q] < hierarchy.height]
            cheapest = min(possible, key=lambda q: (hierarchies[q].share(levels[c][q] + 1), q))
            levels[c][cheapest] += 1
    for members in groups_of(labels, [c for c in every if c not in small]).values():
        for q, hierarchy in enumerate(hierarchies):
            common = common_level(hierarchy, {classes.labels[c][q] for c in members})
            if common <= min(levels[c][q] for c in members):
                for c in members:
                    levels[c][q] = common
    for c in small:
        levels[c] = [0] * len(hierarchies)
    return join_closest_plainly(classes, levels, small, hierarchies, distance)


PLAINLY = {
    GeneraliseOutliers(): generalise_outliers_plainly,
    GeneraliseOutliers(with_closest=True): generalise_with_closest_plainly,
    GeneraliseOutliers(everywhere=True): lambda classes, k, hierarchies, _: (
        generalise_everywhere_plainly(classes, k, hierarchies)
    ),
    MergeOutliers(): lambda classes, k, _, distance: merge_plainly(classes, k, distance),
}


@pytest.mark.parametrize("kind", PLAINLY, ids=str)
@settings(max_examples=150, deadline=None)
@given(
    rows=ROWS, k=st.integers(2, 6), coding=st.sampled_from(sorted(HIERARCHIES)), with_table=st.booleans()
)
def test_the_result_is_that_of_the_definition(kind, rows, k, coding, with_table):
    classes = RecordClasses.of_labels(COLUMNS, rows)
    k = min(k, len(rows))
    hierarchies = HIERARCHIES[coding]
    distance = distances(classes, with_table)
    found = kind.treat(TreatmentContext(classes, k, hierarchies, distance))
    assert found.labels == PLAINLY[kind](
        classes, k, [hierarchies[column] for column in COLUMNS], distance
    )
    assert found.fabricated == {}
    assert min(totals(found.labels, classes.sizes.tolist()).values()) >= k


def test_a_group_takes_its_lowest_common_levels_although_some_of_its_classes_climbed_further():
    """The group of “town” is called the same on two levels, and the lower one decides which group is the closest."""
    towns = {"a": "b", "b": "b", "c": "c", "d": "c", "e": "b"}
    ages = {"a": ("b", "c"), "b": ("b", "c"), "c": ("c", "x"), "d": ("c", "x"), "e": ("x", "c")}
    hierarchies = {
        "town": Hierarchy("town", {town: (group, group, SUPPRESSED) for town, group in towns.items()}),
        "job": make_flat_hierarchy("job"),
        "age": Hierarchy("age", {age: (*groups, SUPPRESSED) for age, groups in ages.items()}),
    }
    sizes = {"cac": 5, "cdc": 4, "dcc": 1, "aad": 1, "bbe": 1, "dba": 1, "ead": 1, "dac": 1, "cda": 1}
    classes = RecordClasses.of_labels(
        tuple(hierarchies), [tuple(label) for label, size in sizes.items() for _ in range(size)]
    )
    distance = distances(classes, with_table=False)
    found = GeneraliseOutliers().treat(TreatmentContext(classes, 3, hierarchies, distance))
    assert found.labels == generalise_outliers_plainly(classes, 3, list(hierarchies.values()), distance)
    assert min(totals(found.labels, classes.sizes.tolist()).values()) >= 3


@pytest.mark.parametrize("coding", sorted(HIERARCHIES))
def test_many_conforming_classes_are_searched_as_defined(coding):
    """So many that most of them are in parts of the tree that a search leaves out."""
    draw = np.random.default_rng(5)
    rows = [(AGES[a], JOBS[j], TOWNS[t]) for a, j, t in draw.integers(0, (12, 5, 4), (600, 3)).tolist()]
    classes = RecordClasses.of_labels(COLUMNS, rows)
    hierarchies = HIERARCHIES[coding]
    distance = distances(classes, True)
    in_order = [hierarchies[column] for column in COLUMNS]
    found = (
        GeneraliseOutliers(with_closest=True)
        .treat(TreatmentContext(classes, 3, hierarchies, distance))
        .labels
    )
    assert found == generalise_with_closest_plainly(classes, 3, in_order, distance)
    assert MergeOutliers().treat(
        TreatmentContext(classes, 6, hierarchies, distance)
    ).labels == merge_plainly(classes, 6, distance)


@pytest.mark.parametrize("kind", [GeneraliseOutliers(), GeneraliseOutliers(with_closest=True)], ids=str)
@settings(max_examples=100, deadline=None)
@given(rows=ROWS, k=st.integers(2, 6))
def test_raised_values_are_on_the_lowest_common_level_and_large_classes_stay(kind, rows, k):
    classes = RecordClasses.of_labels(COLUMNS, rows)
    k = min(k, len(rows))
    # Names that occur on one level only, so that a released value tells its level.
    hierarchies = {**TALL, "job": Hierarchy("job", {job: (f"{job[0]}…", SUPPRESSED) for job in JOBS})}
    labels = kind.treat(TreatmentContext(classes, k, hierarchies, distances(classes, False))).labels
    groups = groups_of(labels, range(len(labels)))
    sizes = classes.sizes.tolist()
    raised_large = 0
    for label, members in groups.items():
        for q, column in enumerate(COLUMNS):
            values = {classes.labels[c][q] for c in members}
            level = common_level(hierarchies[column], values)
            assert label[q] == hierarchies[column].on_level(min(values), level)
        raised_large += sum(sizes[c] >= k and labels[c] != classes.labels[c] for c in members)
    # At most one class is needed for each outlier; none if the outliers have enough of their own.
    small = sum(size for size in sizes if size < k)
    assert raised_large <= (small if kind.with_closest else min(small, k - 1))


def test_conforming_classes_stay_if_outliers_reach_k_among_themselves():
    rows = [("1", "nurse", "N1")] * 3 + [
        ("4", "smith", "S1"),
        ("5", "smith", "S1"),
        ("3", "smith", "S1"),
    ]
    classes = RecordClasses.of_labels(COLUMNS, rows)
    found = (
        GeneraliseOutliers().treat(TreatmentContext(classes, 3, TALL, distances(classes, False))).labels
    )
    assert found == (("1", "nurse", "N1"), *(("1t", "smith", "S1"),) * 3)


def test_the_closest_class_costs_least_then_is_nearest_then_largest_then_first():
    def joined(rows):
        classes = RecordClasses.of_labels(COLUMNS, [*rows, ("5", "nurse", "N1")])
        found = (
            GeneraliseOutliers()
            .treat(TreatmentContext(classes, 2, TALL, distances(classes, False)))
            .labels
        )
        return [label for label, was in zip(found, classes.labels, strict=True) if label != was]

    raised = ("1t", "nurse", "N1")
    # A town can only be suppressed, which costs 1; the age is raised by one level of three.
    assert joined([("5", "nurse", "S2")] * 2 + [("3", "nurse", "N1")] * 2) == [raised, raised]
    # Both cost as much; 4 is nearer to 5 than 3 is, so that 3 stays.
    assert joined([("3", "nurse", "N1")] * 2 + [("4", "nurse", "N1")] * 2) == [raised, raised]
    assert joined([("2", "nurse", "N1")] * 2 + [("8", "nurse", "N1")] * 2) == [("0s", "nurse", "N1")] * 2


def test_equally_near_classes_are_taken_by_size_and_then_by_order():
    towns = [("5", "nurse", "N2")] * 2 + [("5", "nurse", "S1")] * 3 + [("5", "nurse", "S2")] * 3
    classes = RecordClasses.of_labels(COLUMNS, [*towns, ("5", "nurse", "N1")])
    found = (
        GeneraliseOutliers().treat(TreatmentContext(classes, 2, TALL, distances(classes, False))).labels
    )
    assert found == (
        ("5", "nurse", "N2"),
        ("5", "nurse", "***"),
        ("5", "nurse", "S2"),
        ("5", "nurse", "***"),
    )


def test_many_columns_need_more_keys_than_a_number_has():
    columns = tuple(f"c{q}" for q in range(80))
    rows = [tuple(str((r * (q + 1)) % 5) for q in range(80)) for r in range(40)]
    classes = RecordClasses.of_labels(columns, rows)
    distance = ClassDistance.of_labels(classes.labels)
    hierarchies = {name: make_flat_hierarchy(name) for name in columns}
    for kind in (GeneraliseOutliers(), GeneraliseOutliers(with_closest=True), MergeOutliers()):
        found = kind.treat(TreatmentContext(classes, 12, hierarchies, distance)).labels
        assert min(totals(found, classes.sizes.tolist()).values()) >= 12
    assert MergeOutliers().treat(TreatmentContext(classes, 12, {}, distance)).labels == merge_plainly(
        classes, 12, distance
    )


# C1 of source 002: forty records, six quasi-identifiers, every record an outlier

DATA = Path(__file__).parents[2] / "data" / "parv"
SIX = ("Hh", "Age", "Gender", "Education", "Job", "Smoker")


def first_table():
    with (DATA / "C1.csv").open(newline="") as stream:
        return RecordClasses.of_labels(
            SIX, [tuple(row[name] for name in SIX) for row in csv.DictReader(stream)]
        )


@pytest.mark.parametrize("kind", PLAINLY, ids=str)
def test_the_first_table_of_the_source_is_handled_as_defined(kind):
    classes = first_table()
    flats = {name: make_flat_hierarchy(name) for name in SIX}
    distance = ClassDistance.of_labels(classes.labels)
    found = kind.treat(TreatmentContext(classes, 3, flats, distance)).labels
    assert found == PLAINLY[kind](classes, 3, [flats[name] for name in SIX], distance)
    released = totals(found, classes.sizes.tolist())
    assert min(released.values()) >= 3
    assert sum(released.values()) == 40


def test_nothing_of_the_first_table_is_left_if_outliers_are_deleted():
    classes = first_table()
    distance = ClassDistance.of_labels(classes.labels)
    with pytest.raises(InputError, match="Only 0 records would remain"):
        DeleteOutliers().treat(TreatmentContext(classes, 3, {}, distance))
    added = FabricateRecords().treat(TreatmentContext(classes, 3, {}, distance)).fabricated
    assert sum(added.values()) == 3 * len(classes.labels) - 40


# The first step


def steps(classes, first_step, kind, k=3, hierarchies=TALL, tables=None):
    return TreatmentSteps(kind, hierarchies, tables or {}, first_step).apply(classes, k)


@pytest.mark.parametrize(
    "kind",
    [
        GeneraliseOutliers(),
        GeneraliseOutliers(with_closest=True),
        MergeOutliers(),
        DeleteOutliers(smallest_sample=0),
        FabricateRecords(),
    ],
    ids=str,
)
@settings(max_examples=60, deadline=None)
@given(
    rows=ROWS,
    k=st.integers(2, 5),
    mode=st.sampled_from(["bijective", "surjective", "partial", "non-surjective"]),
)
def test_every_first_step_ends_without_outliers_and_loses_only_what_it_leaves_out(kind, rows, k, mode):
    classes = RecordClasses.of_labels(COLUMNS, rows)
    levels = {} if mode == "bijective" else {"age": 1}
    first_step = FirstStep(mode=mode, start_levels=levels)
    grouped = first_step.group(classes, TALL).classes
    try:
        handled = steps(classes, first_step, kind, k)
    except InputError:
        left = (
            sum(size for size in grouped.sizes.tolist() if size >= 2) if mode == "partial" else len(rows)
        )
        assert left < k
        return
    sizes = classes.sizes.tolist()
    pairs = [
        (label, size) for label, size in zip(handled.labels, sizes, strict=True) if label is not None
    ]
    released = totals(*zip(*pairs, strict=True)) if pairs else Counter()
    released.update(handled.fabricated)
    assert min(released.values(), default=k) >= k
    lost = sum(size for label, size in zip(handled.labels, sizes, strict=True) if label is None)
    single = sum(size for size in grouped.sizes.tolist() if size < 2)
    if kind.metadata.name != "delete":
        assert lost == (single if mode == "partial" else 0)
    if mode != "bijective":
        ages = {label[0] for label, _ in pairs}
        assert not ages & set(AGES)


def test_levels_above_the_start_level_are_put_on_a_new_scale():
    normalised = normalise_levels(TALL)
    assert {name: hierarchy.bounds for name, hierarchy in normalised.items()} == dict.fromkeys(
        COLUMNS, (0, 2)
    )
    classes = RecordClasses.of_labels(COLUMNS, [("1", "nurse", "N1")])
    start = FirstStep(mode="surjective", start_levels={"age": 1})
    assert start.group(classes, normalised).hierarchies["age"].bounds == (0, 1)
    assert start.group(classes, TALL).hierarchies["age"].bounds is None
    start = FirstStep(mode="surjective", start_levels={"age": 2, "job": 1})
    assert start.group(classes, normalised).hierarchies["age"].bounds is None


def test_weights_above_the_start_level_add_up_to_one():
    classes = RecordClasses.of_labels(COLUMNS, [("1", "nurse", "N1")])
    weighted = {**TALL, "age": Hierarchy("age", TALL["age"].ancestors, (0.5, 0.3, 0.2))}
    found = (
        FirstStep(mode="surjective", start_levels={"age": 1}).group(classes, weighted).hierarchies["age"]
    )
    assert found.weights == pytest.approx((0.6, 0.4))
    assert found.ancestors["0t"] == ("0s", SUPPRESSED)


def test_ordered_values_keep_their_order_on_the_start_level():
    rows = [("0", "nurse", "N1")] * 3 + [("4", "nurse", "N1")] * 2 + [("8", "nurse", "N1")] * 4
    classes = RecordClasses.of_labels(COLUMNS, [*rows, *[("11", "nurse", "N1")] * 3])
    tables = {"age": make_rank_distances("age", AGES)}
    handled = steps(
        classes, FirstStep(mode="surjective", start_levels={"age": 1}), MergeOutliers(), 3, TALL, tables
    )
    # Thirds 0, 1, 2 and 3: the second is as near to the first as to the third, which is larger.
    assert [label[0] for label in handled.labels] == ["0t", "2t", "2t", "3t"]
    given = {"age": DistanceTable("age", tuple(AGES), np.zeros((12, 12)))}
    with pytest.raises(InputError, match="4 values of the records are not in the table of distances"):
        steps(
            classes,
            FirstStep(mode="surjective", start_levels={"age": 1}),
            MergeOutliers(),
            3,
            TALL,
            given,
        )
    suppressed = steps(
        classes, FirstStep(mode="surjective", start_levels={"age": 3}), MergeOutliers(), 3, TALL, tables
    )
    assert {label[0] for label in suppressed.labels} == {SUPPRESSED}
