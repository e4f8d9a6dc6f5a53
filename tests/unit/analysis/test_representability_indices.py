"""The worked examples' numbers: indices, precision, Davies–Bouldin, outliers and what can be done about them."""

import csv
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import fowlkes_mallows_score, rand_score
from sklearn.metrics.cluster import pair_confusion_matrix

from vbas_desktop.algorithms.validity_indices import (
    ContingencyTable,
    DaviesBouldin,
    SizeSums,
    compute_worst_index,
    summarise_ratios,
)
from vbas_desktop.analysis.outliers.treatments import (
    DeleteOutliers,
    FabricateRecords,
    GeneraliseOutliers,
    MergeOutliers,
    TreatmentContext,
    list_treatments,
)
from vbas_desktop.analysis.representability.distances import ClassDistance
from vbas_desktop.analysis.representability.hierarchy import (
    SUPPRESSED,
    Hierarchy,
    make_flat_hierarchy,
    normalise_levels,
    read_hierarchy,
    with_level_weights,
)
from vbas_desktop.analysis.representability.record_classes import RecordClasses, count_outlier_records
from vbas_desktop.engine.geographic_representability import compute_column_precision
from vbas_desktop.model.findings import InputError

DATA = Path(__file__).parents[2] / "data" / "parv"
COLUMNS = ("Hh", "Job")


def table(number, columns=COLUMNS):
    with (DATA / f"C{number}.csv").open(newline="") as stream:
        return {row["Key"]: tuple(row[column] for column in columns) for row in csv.DictReader(stream)}


ORIGINAL = table(2)
CLASSES = RecordClasses.of_labels(COLUMNS, list(ORIGINAL.values()))
HIERARCHIES = {
    "Hh": Hierarchy(
        "Hh", {str(n): ("1-5" if n <= 5 else "6-10", "1-10", "1-20", SUPPRESSED) for n in range(1, 11)}
    ),
    "Job": Hierarchy(
        "Job",
        {
            job: ("Works" if job in ("Self", "Employee") else "Unemployed", SUPPRESSED)
            for job in ("Self", "House", "Employee", "Retired")
        },
    ),
}
CONTEXT = TreatmentContext(CLASSES, 3, HIERARCHIES, ClassDistance.of_labels(CLASSES.labels))


def tabulate(released):
    common = [key for key in ORIGINAL if key in released]
    both = Counter((ORIGINAL[key], released[key]) for key in common)
    before, after = Counter(ORIGINAL[key] for key in common), Counter(released[key] for key in common)
    return ContingencyTable.of_sizes(list(both.values()), list(before.values()), list(after.values()))


@pytest.mark.parametrize(
    ("number", "rand", "jaccard", "fowlkes_mallows"),
    [(3, 0.8423, 0.3128, 0.5593), (4, 0.9692, 0.7000, 0.8367), (6, 0.9744, 0.7368, 0.8584)],
)
def test_external_indices_of_the_worked_examples(number, rand, jaccard, fowlkes_mallows):
    found = tabulate(table(number))
    assert round(found.rand, 4) == rand
    assert round(found.jaccard, 4) == jaccard
    assert round(found.fowlkes_mallows, 4) == fowlkes_mallows


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_the_indices_agree_with_an_independent_implementation(rows):
    one, other = zip(*rows, strict=True)
    found = ContingencyTable.of_sizes(
        list(Counter(rows).values()), list(Counter(one).values()), list(Counter(other).values())
    )
    assert found.rand == pytest.approx(rand_score(one, other))
    (_, only_released), (only_original, together) = pair_confusion_matrix(one, other).tolist()
    either = together + only_original + only_released
    assert found.jaccard == pytest.approx(together / either if either else 1.0)
    if found.original.pairs and found.released.pairs:
        assert found.fowlkes_mallows == pytest.approx(fowlkes_mallows_score(one, other))


def share_of_entropy(one, other):
    """H(one | other) / H(one), record by record."""
    n, both, after, before = (
        len(one),
        Counter(zip(one, other, strict=True)),
        Counter(other),
        Counter(one),
    )
    conditional = sum(np.log(after[b] / both[a, b]) for a, b in zip(one, other, strict=True)) / n
    whole = -sum(np.log(before[a] / n) for a in one) / n
    return conditional / whole if whole > 1e-12 else 0.0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_hubert_is_the_correlation_of_pairs_and_entropy_that_of_the_classes(rows):
    one, other = zip(*rows, strict=True)
    sizes = [list(Counter(part).values()) for part in (rows, one, other)]
    found = ContingencyTable.of_sizes(*sizes)
    together = np.array(
        [(one[i] == one[j], other[i] == other[j]) for i, j in combinations(range(len(one)), 2)]
    )
    if together.all(axis=0).any() or not together.any(axis=0).all():
        assert found.hubert is None
    else:
        assert found.hubert == pytest.approx(np.corrcoef(together.T.astype(float))[0, 1])
    assert found.entropy_loss == pytest.approx(share_of_entropy(one, other), abs=1e-9)


def test_hubert_of_many_records_does_not_overflow():
    halves = [4_800_000, 4_800_000]
    assert ContingencyTable.of_sizes(halves, halves, halves).hubert == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("number", "hubert", "entropy_loss"),
    # 56 pairs stay together and none is split; 123 (C3), 24 (C4) and 20 (C6) are joined, of 780 pairs.
    [(3, 0.509607, 0.390741), (4, 0.822676, 0.122533), (6, 0.846456, 0.115567)],
)
def test_hubert_and_entropy_of_the_worked_examples(number, hubert, entropy_loss):
    released = table(number)
    found = tabulate(released)
    assert found.hubert == pytest.approx(hubert, abs=5e-7)
    rows = [(ORIGINAL[key], released[key]) for key in ORIGINAL]
    one, other = zip(*rows, strict=True)
    assert found.entropy_loss == pytest.approx(entropy_loss, abs=5e-7)
    assert found.entropy_loss == pytest.approx(share_of_entropy(one, other))


def test_pairs_of_many_records_do_not_overflow():
    assert SizeSums.of([9_650_000]).pairs == 9_650_000 * 9_649_999 // 2
    assert SizeSums.of(np.full(9, 2**31)).pairs == 9 * (2**31 * (2**31 - 1) // 2)


@pytest.mark.parametrize(("number", "expected"), [(3, 0.8375), (4, 0.721875)])
def test_precision_of_the_worked_examples(number, expected):
    released = table(number)
    levels: dict = {column: Counter() for column in COLUMNS}
    for key, old in ORIGINAL.items():
        for column, before, after in zip(COLUMNS, old, released[key], strict=True):
            levels[column][HIERARCHIES[column].level(before, after)] += 1
    heights = {column: HIERARCHIES[column].height for column in COLUMNS}
    assert list(heights.values()) == [4, 2]
    assert np.mean(list(compute_column_precision(levels, heights).values())) == pytest.approx(
        expected, abs=1e-12
    )


def test_levels_of_all_columns_on_one_scale():
    # Hh has three levels below suppression, Job one: |h − 1| / |3 − 1|, 0 where nothing is raised, at most 1.
    found = normalise_levels(HIERARCHIES)
    assert [found["Hh"].generalisation(level) for level in range(5)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert [found["Job"].generalisation(level) for level in range(3)] == [0.0, 0.0, 0.5]
    assert [found["Hh"].share(level) for level in range(5)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert [found["Hh"].loss("", level) for level in range(5)] == [0.0, 0.25, 0.5, 0.75, 1.0]
    alike = {"Job": HIERARCHIES["Job"], "Again": HIERARCHIES["Job"]}
    assert normalise_levels(alike) == alike


def test_weights_of_levels_are_factors_of_distances_and_steps_of_precision():
    # Source 002, § 4.4.4: G = h · w_h / (L + 1). Precision adds the weights up, so that suppression loses everything.
    hierarchy = with_level_weights(HIERARCHIES["Hh"], (0.1, 0.2, 0.3, 0.4))
    assert [hierarchy.generalisation(level) for level in range(5)] == pytest.approx(
        [0, 0.025, 0.1, 0.225, 0.4]
    )
    assert [hierarchy.loss("", level) for level in range(5)] == pytest.approx([0, 0.1, 0.3, 0.6, 1.0])


def of_spreads(spread, between):
    """The index from the width of each class and all distances."""
    apart = between > 0
    coinciding = int((~apart).sum() - len(apart)) // 2
    distance = np.where(apart, between, np.inf)
    ratios = np.where(apart, (spread[:, None] + spread[None, :]) / distance, -np.inf)
    return summarise_ratios(ratios.max(axis=1), coinciding)


def test_davies_bouldin_of_the_worked_example():
    released = table(3)
    before, after = sorted(set(ORIGINAL.values())), sorted(set(released.values()))
    members = np.zeros((len(after), len(before)), np.int64)
    for key, label in ORIGINAL.items():
        members[after.index(released[key]), before.index(label)] += 1
    size = np.array([int(label[0]) for label in before])
    centre = (members * size).sum(axis=1) / members.sum(axis=1)
    suppressed = np.array([label[1] == SUPPRESSED for label in after])
    within = np.hypot(0.25 * abs(size[None, :] - centre[:, None]), 3 * suppressed[:, None])
    apart = np.hypot(
        abs(centre[:, None] - centre[None, :]), 3 * (suppressed[:, None] != suppressed[None, :])
    )
    spread = np.sqrt((members * within**2).sum(axis=1) / members.sum(axis=1))
    assert of_spreads(spread, apart).value == pytest.approx(0.9657, abs=5e-5)


def test_classes_on_top_of_each_other_are_reported_not_hidden():
    apart = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    found = of_spreads(np.zeros(3), apart)
    assert found.coinciding_pairs == 1
    assert found.value == 0.0


def test_the_worst_case_of_points_is_their_spread_over_their_smallest_step():
    # Three records at 0, one at 4 and none at 1: the centre is 1, S² = (3·1 + 9) / 4 = 3, D = 4.
    points = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 0.0]])
    assert compute_worst_index(points, np.array([3, 1, 0])) == pytest.approx(2 * np.sqrt(3) / 4)
    assert compute_worst_index(points, np.array([3, 0, 0])) is None
    assert DaviesBouldin(0.5, 0, worst=2.0).normalised == 0.25
    assert DaviesBouldin(5.0, 0, worst=2.0).normalised == 1.0
    assert DaviesBouldin(0.0, 0, worst=None).normalised == 0.0
    assert DaviesBouldin(0.5, 0, worst=None).normalised is None


def test_outlier_records_of_the_worked_examples():
    first = table(1, ("Hh", "Age", "Gender", "Education", "Job", "Smoker"))
    assert count_outlier_records(RecordClasses.of_labels(["…"] * 6, list(first.values())), 3) == 40
    assert count_outlier_records(CLASSES, 3) == 5


def released_by(handled):
    keys = dict(zip(ORIGINAL, CLASSES.class_of.tolist(), strict=True))
    return {key: handled.labels[c] for key, c in keys.items() if handled.labels[c] is not None}


def test_deleting_and_merging_give_the_worked_examples():
    assert released_by(DeleteOutliers().treat(CONTEXT)) == table(5)
    assert released_by(MergeOutliers().treat(CONTEXT)) == table(6)


def test_generalising_goes_to_the_closest_class_and_the_lowest_common_levels():
    """6/Employee is too few even at the top: 4/Employee costs two of four levels of Hh and none of Job."""
    own = {
        key: label for key, label in ORIGINAL.items() if CLASSES.sizes[CLASSES.labels.index(label)] >= 3
    }
    among_themselves = {("6", "House"), ("7", "House"), ("4", "Retired")}
    expected = dict(own)
    expected |= {
        key: ("1-10", "Unemployed") for key, label in ORIGINAL.items() if label in among_themselves
    }
    employees = {("6", "Employee"), ("4", "Employee")}
    expected |= {key: ("1-10", "Employee") for key, label in ORIGINAL.items() if label in employees}
    assert released_by(GeneraliseOutliers().treat(CONTEXT)) == expected


def test_each_outlier_can_be_generalised_with_its_closest_class():
    raised = {
        ("1-10", "House"): {("5", "House"), ("6", "House"), ("7", "House")},
        ("1-10", "Employee"): {("4", "Employee"), ("6", "Employee")},
        ("1-5", "Retired"): {("3", "Retired"), ("4", "Retired")},
    }
    new = {label: group for group, labels in raised.items() for label in labels}
    expected = {key: new.get(label, label) for key, label in ORIGINAL.items()}
    assert released_by(GeneraliseOutliers(with_closest=True).treat(CONTEXT)) == expected


def test_deleting_too_much_is_refused():
    with pytest.raises(InputError, match="Only 35 records would remain, fewer than 36"):
        DeleteOutliers(smallest_sample=36).treat(CONTEXT)


def test_fabricated_records_fill_each_small_class_to_k():
    handled = FabricateRecords().treat(CONTEXT)
    assert handled.fabricated == {
        ("6", "House"): 2,
        ("7", "House"): 2,
        ("6", "Employee"): 2,
        ("4", "Retired"): 1,
    }


@pytest.mark.parametrize(
    "kind",
    [
        DeleteOutliers(),
        GeneraliseOutliers(),
        GeneraliseOutliers(everywhere=True),
        GeneraliseOutliers(with_closest=True),
        MergeOutliers(),
        FabricateRecords(),
    ],
)
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("123456"), st.sampled_from(["Self", "House"])), min_size=1, max_size=30
    )
)
def test_no_outlier_is_left_and_no_record_invented_unflagged(kind, rows):
    classes = RecordClasses.of_labels(COLUMNS, rows)
    distance = ClassDistance.of_labels(classes.labels)
    k = 3
    try:
        handled = kind.treat(TreatmentContext(classes, k, HIERARCHIES, distance))
    except InputError:
        assert len(rows) < k or kind.metadata.name == "delete"
        return
    released = [handled.labels[number] for number in classes.class_of]
    sizes = Counter(handled.fabricated) + Counter(label for label in released if label is not None)
    assert min(sizes.values(), default=k) >= k
    assert sum(sizes.values()) - sum(handled.fabricated.values()) <= len(rows)


def test_the_ways_are_described():
    assert list(list_treatments()) == ["delete", "generalise", "merge", "fabricate"]


def test_hierarchies_load_as_arx_writes_them(tmp_path):
    path = tmp_path / "Job.csv"
    path.write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\n")
    hierarchy = read_hierarchy(path)
    assert (hierarchy.column, hierarchy.height) == ("Job", 2)
    assert [hierarchy.level("Self", value) for value in ("Self", "Works", "*", "***", "House")] == [
        0,
        1,
        2,
        2,
        None,
    ]
    assert hierarchy.on_level("House", 1) == "Unemployed"
    assert make_flat_hierarchy("x").height == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;b\nc\n", "row 2: The row has 1 fields instead of 2"),
        ("a;b\na;c\n", "row 2: This value was listed before"),
        ("column,value,group\nage,1,low\nage,2,low\n", r"This is no hierarchy.*Name the file alone"),
        ("a;g;x\nb;g;y\n", "row 2: A group of level 1 belongs to two different groups of level 2"),
        ("", "The hierarchy is empty"),
    ],
)
def test_broken_hierarchies_are_named_by_row(tmp_path, text, said):
    path = tmp_path / "h.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_hierarchy(path)
