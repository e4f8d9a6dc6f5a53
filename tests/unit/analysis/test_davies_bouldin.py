"""Davies–Bouldin of a release, against the definition record by record, and between its best and worst case."""

import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.class_distance_definition import between_classes, between_values
from vbas_desktop.analysis.representability import davies_bouldin
from vbas_desktop.analysis.representability.davies_bouldin import (
    compute_davies_bouldin,
    compute_worst_case,
    find_smallest_distance,
)
from vbas_desktop.analysis.representability.distances import ClassDistance, DistanceTable
from vbas_desktop.analysis.representability.hierarchy import SUPPRESSED, Hierarchy, make_flat_hierarchy
from vbas_desktop.analysis.representability.record_matching import match_records
from vbas_desktop.analysis.representability.report import (
    RepresentabilityOptions,
    build_representability_report,
)
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.settings.reading import RecordReading

SIZES = Hierarchy("size", {str(n): ("1-3" if n < 4 else "4-6", SUPPRESSED) for n in range(1, 7)})
HIERARCHIES = {"size": SIZES, "job": make_flat_hierarchy("job")}
COLUMNS = ("size", "job")
TABLE = DistanceTable("job", ("x", "y", "z"), np.array([[0, 0.25, 1], [0.25, 0, 0.5], [1, 0.5, 0]]))


def load(folder, name, rows):
    text = "".join(f"{key},{size},{job},{key % 4}\n" for key, (size, job) in rows)
    (folder / name).write_text("id,size,job,value\n" + text)
    return load_records(folder / name, RecordReading(category_counts="no"))


def literal(before, after, weights, table):
    """Every record by itself: width of each class, distance of the centres, and the width of the whole file."""
    classes = sorted(set(after.values()))
    sizes = {key: int(size) for key, (size, _) in before.items()}
    reach = (max(sizes.values()) - min(sizes.values())) or 1

    def centre(keys, released):
        mean = sum(sizes[key] for key in keys) / len(keys)
        jobs = [before[key][1] for key in keys]
        if table is None:
            return mean, {job: jobs.count(job) / len(jobs) for job in set(jobs)}
        if released in table.values:
            return mean, released
        cost = [
            (sum(between_values(table, job, other) for job in jobs), place)
            for place, other in enumerate(table.values)
        ]
        return mean, table.values[
            min(c for c, other in zip(cost, table.values, strict=True) if other in jobs)[1]
        ]

    def apart(one, other):
        if table is not None:
            jobs = between_values(table, one[1], other[1])
        else:
            jobs = (
                sum(abs(one[1].get(j, 0) - other[1].get(j, 0)) for j in set(one[1]) | set(other[1])) / 2
            )
        return weights[0] * abs(one[0] - other[0]) / reach + weights[1] * jobs

    def distance(key, middle, raised):
        job = before[key][1]
        jobs = 1 - middle[1].get(job, 0) if table is None else between_values(table, job, middle[1])
        return (
            weights[0] * raised[0] * abs(sizes[key] - middle[0]) / reach + weights[1] * raised[1] * jobs
        )

    def renamed_jobs():
        """Whether every job that is released has one new name, which no job had."""
        names = {(before[key][1], after[key][1]) for key in before if after[key][1] != SUPPRESSED}
        records = sum(after[key][1] != SUPPRESSED for key in before)
        old, new = {one for one, _ in names}, {other for _, other in names}
        fresh = {other for one, other in names if one != other}
        is_new = old == new or not fresh & {job for _, job in before.values()}
        return len(names) == len(old) == len(new) and is_new and records >= 2 * len(names)

    def raised(key):
        found = []
        for name, old, new in zip(COLUMNS, before[key], after[key], strict=True):
            level = HIERARCHIES[name].level(old, new)
            if level is None and name == "job" and renamed_jobs():
                level = 0
            found.append(1.0 if level is None else HIERARCHIES[name].share(level))
        return found

    members = {label: [key for key in after if after[key] == label] for label in classes}
    middles = {label: centre(keys, label[1]) for label, keys in members.items()}
    widths = {
        label: math.sqrt(
            sum(distance(key, middles[label], raised(key)) ** 2 for key in keys) / len(keys)
        )
        for label, keys in members.items()
    }
    whole = centre(list(before), None)
    widest = math.sqrt(sum(distance(key, whole, (1, 1)) ** 2 for key in before) / len(before))
    originals = [centre([key], before[key][1]) for key in before]
    steps = [apart(one, other) for one, other in combinations(originals, 2) if apart(one, other) > 0]
    worst = 2 * widest / min(steps) if steps else None
    rows, same = [], 0
    for one in classes:
        far = {other: apart(middles[one], middles[other]) for other in classes if other != one}
        same += sum(d < 1e-9 for other, d in far.items() if other > one)
        far = {other: d for other, d in far.items() if d > 1e-9}
        if far:
            rows.append(max((widths[one] + widths[other]) / d for other, d in far.items()))
    return (sum(rows) / len(rows) if rows else None), worst, same


RECORDS = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from("xyz"), st.sampled_from(["keep", "up", "top", "move"])),
    min_size=2,
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.sampled_from([(0.5, 0.5), (0.9, 0.1)]), st.booleans())
def test_the_index_is_that_of_the_records_one_by_one(tmp_path_factory, records, weights, with_table):
    folder = tmp_path_factory.mktemp("pair")
    before, after = {}, {}
    for key, (size, job, fate) in enumerate(records):
        before[key] = (str(size), job)
        raised = {
            "keep": (str(size), job),
            "up": (SIZES.on_level(str(size), 1), job),
            "move": ("2", "x"),
        }
        after[key] = raised.get(fate, (SUPPRESSED, SUPPRESSED))
    paired = match_records(
        load(folder, "a.csv", before.items()),
        load(folder, "b.csv", after.items()),
        "id",
        COLUMNS,
        HIERARCHIES,
    )
    table = TABLE if with_table else None
    distance = ClassDistance.of_classes(paired.original, weights, {"job": table} if table else {})
    found = compute_davies_bouldin(paired, [SIZES, make_flat_hierarchy("job")], distance)
    value, worst, same = literal(before, after, weights, table)
    assert found.coinciding_pairs == same
    assert compute_worst_case(paired.original, distance) == (worst and pytest.approx(worst))
    if value is None:
        assert (found.value, found.normalised) == (None, None)
        assert found.reason in ("there is only one class", "all classes have the same centre")
    else:
        assert found.value == pytest.approx(value)
        normalised = replace(found, worst=worst).normalised
        if value and worst is None:  # All original classes are alike: there is no worst case.
            assert normalised is None
        else:
            assert normalised == pytest.approx(min(1, value / worst) if value else 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from("xyz")), min_size=1, max_size=12
    )
)
def test_the_smallest_distance_is_that_of_all_pairs(rows):
    labels = sorted({(str(one), str(other), job) for one, other, job in rows})
    weights = (0.7, 0.2, 0.1)
    distance = ClassDistance.of_labels(labels, weights)
    steps = [
        far
        for one, other in combinations(labels, 2)
        if (far := between_classes(distance, one, other)) > 0
    ]
    found = find_smallest_distance(labels, distance)
    assert found == (pytest.approx(min(steps)) if steps else None)


def test_the_smallest_distance_of_too_many_classes_is_not_known(monkeypatch):
    monkeypatch.setattr(davies_bouldin, "MAX_COMPARISONS", 10)
    # No two classes differ in one column alone, so that all pairs would have to be compared.
    labels = [("0", "0"), ("1", "4"), ("5", "5")]
    assert find_smallest_distance(labels, ClassDistance.of_labels(labels, (0.5, 0.5))) is None


def vectors(tmp_path, released, **more):
    rows = [(str(size), job) for size, job in product(range(1, 7), "xyz")] * 2
    original = load(tmp_path, "a.csv", enumerate(rows))
    after = load(tmp_path, "b.csv", [(key, released(*row)) for key, row in enumerate(rows)])
    worst = load(
        tmp_path,
        "c.csv",
        [(key, ("1-3" if row[0] < "4" else "4-6", "***")) for key, row in enumerate(rows)],
    )
    return build_representability_report(
        original,
        after,
        RepresentabilityOptions(2, "id", COLUMNS),
        HIERARCHIES,
        worst if more.get("worst") else None,
    )["overall"]


def test_the_original_itself_is_the_best_case(tmp_path):
    found = vectors(tmp_path, lambda size, job: (size, job))
    assert (found["davies_bouldin"], found["davies_bouldin_normalised"]) == (0.0, 0.0)


def test_raising_more_comes_nearer_to_the_worst_case(tmp_path):
    little = vectors(tmp_path, lambda size, job: (SIZES.on_level(size, 1), job))[
        "davies_bouldin_normalised"
    ]
    much = vectors(tmp_path, lambda size, job: (SIZES.on_level(size, 1), "***"))[
        "davies_bouldin_normalised"
    ]
    assert 0 < little < much <= 1


def test_the_worst_case_is_the_same_for_every_release_of_a_file(tmp_path):
    worst = {
        vectors(tmp_path, released)["davies_bouldin_worst"]
        for released in (
            lambda size, job: (size, job),
            lambda size, job: (SIZES.on_level(size, 1), job),
            lambda size, job: (size, "***"),
            lambda size, job: ("***", "***"),
        )
    }
    # Sizes 1 to 6 and three jobs, all equally often. S² is the mean of (|size − 3.5| / 5 + 2 / 3)² / 4, D the step from
    # one size to the next, half of 1/5.
    spread = math.sqrt(sum((abs(size - 3.5) / 5 + 2 / 3) ** 2 / 4 for size in range(1, 7)) / 6)
    assert list(worst) == [pytest.approx(2 * spread / 0.1)]


def test_a_given_worst_file_takes_the_place_of_the_usual_worst_case(tmp_path):
    found = vectors(tmp_path, lambda size, job: (SIZES.on_level(size, 1), job), worst=True)
    worst = vectors(tmp_path, lambda size, job: (SIZES.on_level(size, 1), "***"))
    assert found["davies_bouldin_worst"] == worst["davies_bouldin"]
    assert found["davies_bouldin_normalised"] == pytest.approx(
        found["davies_bouldin"] / worst["davies_bouldin"]
    )


def test_a_release_of_one_class_says_why_there_is_no_index(tmp_path):
    found = vectors(tmp_path, lambda size, job: ("***", "***"))
    assert (found["davies_bouldin"], found["davies_bouldin_normalised"]) == (None, None)
    assert found["davies_bouldin_reason"] == "there is only one class"
    assert found["precision"] == 0.0


def test_the_index_of_too_many_classes_is_not_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(davies_bouldin, "MAX_DIFFERENCES", 10)
    found = vectors(tmp_path, lambda size, job: (size, job))
    assert (found["davies_bouldin"], found["davies_bouldin_reason"]) == (
        None,
        "there are too many classes",
    )


def test_small_blocks_change_nothing(tmp_path, monkeypatch):
    whole = vectors(tmp_path, lambda size, job: (SIZES.on_level(size, 1), job))
    monkeypatch.setattr(davies_bouldin, "_DISTANCES_PER_BLOCK", 1)
    assert vectors(tmp_path, lambda size, job: (SIZES.on_level(size, 1), job)) == whole
