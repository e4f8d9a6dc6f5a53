"""Nothing in a vector tells of fewer than k records, neither by itself nor by subtraction."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.analysis.representability.elements import (
    bound_share,
    mask_figure,
    mask_small_count,
    mask_small_parts,
)
from vbas_desktop.analysis.representability.hierarchy import SUPPRESSED, Hierarchy, make_flat_hierarchy
from vbas_desktop.analysis.representability.report import (
    RepresentabilityOptions,
    build_representability_report,
)
from vbas_desktop.io.records.loading import load_records
from vbas_desktop.model.findings import InputError
from vbas_desktop.settings.reading import RecordReading

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "representability.schema.json").read_text(encoding="utf-8")
)


def test_small_numbers_are_not_shown():
    assert [mask_small_count(n, 3) for n in (0, 1, 2, 3, 9)] == [0, None, None, 3, 9]


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from("abcde"), st.integers(0, 12), min_size=1), st.integers(1, 6))
def test_what_is_missing_to_the_total_is_never_fewer_than_k(parts, k):
    told = mask_small_parts(parts, k)
    rest = sum(parts.values()) - sum(number for number in told.values() if number is not None)
    assert rest == 0 or rest >= k or sum(parts.values()) < k
    assert all(number is None or number == parts[name] for name, number in told.items())


def test_figures_are_exact_rounded_or_withheld():
    assert mask_figure(0.123456, 10, 5, 5) == 0.123456
    assert mask_figure(0.123456, 49, 1, 5) is None
    assert mask_figure(0.123456, 50, 1, 5) == 0.12
    assert mask_figure(0.5, 4, 0, 5) is None


def test_a_share_that_is_certainly_there_does_not_tell_how_many_are_missing():
    assert {bound_share(missing, 1000, 5) for missing in (1, 2, 3, 4, 5)} == {0.99}


def test_records_touched_in_one_column_only_do_not_follow_from_those_touched_in_any(tmp_path):
    # Ten records are raised in one column, ten in the other, three of them in the second only.
    rows = [(n, "a", "b") for n in range(30)]
    after = [(n, "***" if n < 10 else "a", "***" if 3 <= n < 13 else "b") for n in range(30)]
    for name, content in (("one.csv", rows), ("two.csv", after)):
        (tmp_path / name).write_text("id,q,r\n" + "".join(f"{n},{q},{r}\n" for n, q, r in content))
    plain = RecordReading(category_counts="no")
    tables = [load_records(tmp_path / name, plain) for name in ("one.csv", "two.csv")]
    for k, told in ((3, 13), (4, None)):
        vector = build_representability_report(
            *tables,
            RepresentabilityOptions(k, "id", ("q", "r")),
            {"q": make_flat_hierarchy("q"), "r": make_flat_hierarchy("r")},
        )
        assert vector["coding"]["q"]["records_by_level"] == {"level 0": 20, "level 1": 10}
        assert vector["general"]["approaches"] == {"generalise": told}


VALUES = st.sampled_from("aabbbc")


@settings(max_examples=60, deadline=None)
@given(
    before=st.lists(VALUES, min_size=4, max_size=40),
    fate=st.lists(
        st.sampled_from(["keep", "keep", "keep", "***", "b", "gone"]), min_size=40, max_size=40
    ),
    added=st.integers(0, 4),
    k=st.integers(2, 6),
)
def test_no_small_number_can_be_worked_out_from_a_vector(tmp_path_factory, before, fate, added, k):
    folder = tmp_path_factory.mktemp("pair")
    after = [
        (n, old if new == "keep" else new)
        for n, (old, new) in enumerate(zip(before, fate, strict=False))
    ]
    after = [(n, value) for n, value in after if value != "gone"] + [
        (1000 + n, "a") for n in range(added)
    ]
    if not any(n < 1000 for n, _ in after):
        return
    write(folder / "one.csv", enumerate(before))
    write(folder / "two.csv", after)
    plain = RecordReading(category_counts="no")
    tables = [load_records(folder / name, plain) for name in ("one.csv", "two.csv")]
    common = sum(n < 1000 for n, _ in after)
    if common < k:
        with pytest.raises(InputError, match="nothing may be reported on them"):
            build_representability_report(
                *tables,
                RepresentabilityOptions(k, "id", ("q",), ("v",)),
                {"q": make_flat_hierarchy("q")},
            )
        return
    vector = build_representability_report(
        *tables, RepresentabilityOptions(k, "id", ("q",), ("v",)), {"q": make_flat_hierarchy("q")}
    )
    jsonschema.validate(vector, SCHEMA)
    general, overall = vector["general"], vector["overall"]
    assert (
        overall["deleted_records"] is None
        or overall["deleted_records"] == 0
        or overall["deleted_records"] >= k
    )
    assert overall["fabricated_records"] is None or overall["fabricated_records"] in (0, added)
    if overall["deleted_records"] is None:
        # Then no figure depends on how many there are.
        here = {n for n, _ in after}
        write(folder / "common.csv", [(n, value) for n, value in enumerate(before) if n in here])
        shared = build_representability_report(
            load_records(folder / "common.csv", plain),
            tables[1],
            RepresentabilityOptions(k, "id", ("q",), ("v",)),
            {"q": make_flat_hierarchy("q")},
        )["overall"]
        for name in ("precision", "rand", "jaccard", "fowlkes_mallows"):
            assert overall[name] == shared[name]
        assert overall["davies_bouldin_worst"] is None
    deleted, made_up = len(before) - sum(n < 1000 for n, _ in after), added
    totals = (general["original_records"], general["released_records"])
    if None not in totals:
        # Both totals give the difference; with the one the other follows.
        assert fine(deleted, k)
        assert fine(made_up, k)
    assert (general["sample_size_ratio"] is None) == (general["original_records"] is None)
    named = sum(row["records"] for row in vector["excluded_classes"]["classes"])
    if general["approaches"].get("delete") is not None:
        assert fine(deleted - named, k)
    listed = sum(row["records"] for row in vector["per_class"])
    if general["released_records"] is not None:
        assert fine(general["released_records"] - listed, k)
    touched = [general["approaches"].get(name, 0) for name in ("generalise", "merge")]
    if None not in touched:
        assert fine(common - sum(touched), k)
    elif touched.count(None) == 1 and "level 0" not in vector["coding"]["q"]["records_by_level"]:
        assert fine(common - sum(number or 0 for number in touched), k)
    for number in numbers_in(vector["coding"]["q"]["records_by_level"]):
        assert fine(number, k)
    for row in vector["per_class"]:
        mine = [
            old
            for n, (old, _) in enumerate(zip(before, fate, strict=False))
            if (n, row["class"]["q"]) in after
        ]
        parts = [mine.count(value) for value in set(mine)]
        if len(mine) < 10 * k and any(not fine(part, k) for part in parts):
            assert row["jaccard"] is row["original_classes"] is None
        if len(mine) < k:
            assert row["precision"] is None
    for row in vector["sensitive_values"]["v"]:
        assert row["count"] is None or row["count"] >= k or row["count"] == 0


def fine(number, k):
    return number <= 0 or number >= k


def numbers_in(mapping):
    return [number for number in mapping.values() if number is not None]


def write(path, rows):
    path.write_text("id,q,v\n" + "".join(f"{n},{value},{n % 3}\n" for n, value in rows))


def test_a_class_filled_up_with_made_up_records_says_nothing_of_the_few_real_ones(tmp_path):
    write(tmp_path / "one.csv", [(0, "a"), *((n, "b") for n in range(1, 9))])
    write(tmp_path / "two.csv", [(0, "a"), *((n, "b") for n in range(1, 9)), (100, "a"), (101, "a")])
    plain = RecordReading(category_counts="no")
    tables = [load_records(tmp_path / name, plain) for name in ("one.csv", "two.csv")]
    vector = build_representability_report(
        *tables, RepresentabilityOptions(3, "id", ("q",), ("v",)), {"q": make_flat_hierarchy("q")}
    )
    row = next(row for row in vector["per_class"] if row["class"] == {"q": "a"})
    assert (row["records"], row["precision"], row["jaccard"]) == (3, None, None)
    told = next(row for row in vector["sensitive_values"]["v"] if row["class"] == {"q": "a"})
    assert (told["count"], told["mean"], told["sd"]) == (None, None, None)


@pytest.mark.parametrize(("missing", "count"), [(2, None), (3, 7), (0, 10)])
def test_a_few_missing_values_are_not_told_by_the_number_of_the_others(tmp_path, missing, count):
    rows = "".join(f"{n},a,{'' if n < missing else n}\n" for n in range(10))
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("id,q,v\n" + rows)
    plain = RecordReading(category_counts="no")
    tables = [load_records(tmp_path / name, plain) for name in ("one.csv", "two.csv")]
    (row,) = build_representability_report(
        *tables, RepresentabilityOptions(3, "id", ("q",), ("v",)), {"q": make_flat_hierarchy("q")}
    )["sensitive_values"]["v"]
    assert row["count"] == count
    assert row["mean"] == pytest.approx(np.mean(range(missing, 10)))


@pytest.mark.parametrize(
    ("values", "mode", "shares"),
    [
        ("aaaabbbcc", "a", {"a": 4 / 9, "other values": 5 / 9}),  # cc alone would be fewer than three
        ("aaaabbbcd", "a", {"a": 4 / 9, "other values": 5 / 9}),
        ("aaaabbccd", "a", {"a": 4 / 9, "other values": 5 / 9}),
        ("aabbccdd", None, {"other values": 1.0}),
        ("aaabbb", "a", {"a": 0.5, "b": 0.5}),
    ],
)
def test_categories_that_are_not_released_are_named_from_k_records_on(tmp_path, values, mode, shares):
    rows = "".join(f"{n},x,{value}\n" for n, value in enumerate(values))
    (tmp_path / "one.csv").write_text("id,q,v\n" + rows)
    (tmp_path / "two.csv").write_text("id,q,v\n" + "".join(f"{n},x,*\n" for n in range(len(values))))
    plain = RecordReading(category_counts="no")
    tables = [load_records(tmp_path / name, plain) for name in ("one.csv", "two.csv")]
    (row,) = build_representability_report(
        *tables, RepresentabilityOptions(3, "id", ("q",), ("v",)), {"q": make_flat_hierarchy("q")}
    )["sensitive_values"]["v"]
    assert (row["count"], row["mode"]) == (len(values), mode)
    assert row["shares"] == {value: pytest.approx(share) for value, share in shares.items()}


def test_the_level_of_a_class_is_the_highest_to_which_a_value_was_raised(tmp_path):
    """“A” is the name of a value and of the group that it is in."""
    before = [(n, "aAb"[n % 3]) for n in range(12)]
    write(tmp_path / "one.csv", before)
    write(tmp_path / "two.csv", [(n, "A") for n, _ in before])
    plain = RecordReading(category_counts="no")
    tables = [load_records(tmp_path / name, plain) for name in ("one.csv", "two.csv")]
    hierarchy = Hierarchy("q", dict.fromkeys("aAb", ("A", SUPPRESSED)))
    (row,) = build_representability_report(
        *tables, RepresentabilityOptions(3, "id", ("q",), ("v",)), {"q": hierarchy}
    )["per_class"]
    assert row["levels"] == {"q": 1}
