"""Synthetic data: exact sizes, the distributions asked for, the same bytes every time, and nothing half done."""

from __future__ import annotations

import csv
import hashlib
import json
from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.io.paths import documentation_folder
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.io.synthetic.generate import generate
from vbas_desktop.io.synthetic.geography import apportion, distribute_records
from vbas_desktop.io.synthetic.marginals import (
    ATTRIBUTE_MODELS,
    load_spec_with_attributes,
    make_independent_attributes,
    read_marginals,
)
from vbas_desktop.io.synthetic.model import Distribution, cumulate_weights
from vbas_desktop.io.synthetic.spec import BUILT_IN, RegionPlan, load_spec
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Cancelled

SMALL = """
seed = 7
records = 6000
[regions]
count = 12
records_per_region = [400, 700]
[[identifiers]]
name = "card"
pattern = "A-####-#"
[[attributes]]
name = "age"
role = "quasi-identifier"
labels = ["young", "middle, aged", "old"]
groups = ["under 65", "under 65", "65 and over"]
weights = [2, 1, 1]
[[attributes]]
name = "sex"
labels = ["f", "m"]
[[attributes]]
name = "illness"
role = "sensitive"
labels = ["none", "cold", "gout"]
weights = [8, 1, 1]
[[attributes.rules]]
when = { age = ["young"] }
multiply = { gout = 0 }
[[attributes.rules]]
when = { age = ["old"], sex = ["m"] }
weights = [0, 0, 1]
"""


def spec_of(tmp_path, text=SMALL, name="spec.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_spec(path)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def hashes(folder):
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())
    }


def test_records_regions_codebook_and_groups_are_written(tmp_path):
    made = generate(spec_of(tmp_path), tmp_path / "out")
    assert made.files == ("codebook.csv", "generalise.csv", "records.csv", "regions.csv")
    assert (made.records, made.regions) == (6000, 12)
    records = rows_of(tmp_path / "out" / "records.csv")
    assert len(records) == 6000
    assert list(records[0]) == ["card", "age", "sex", "illness", "region"]
    assert len({record["card"] for record in records}) == 6000
    assert all(len(record["card"]) == 8 and record["card"].startswith("A-") for record in records)


def test_the_codebook_counts_the_records(tmp_path):
    generate(spec_of(tmp_path), tmp_path / "out")
    records = rows_of(tmp_path / "out" / "records.csv")
    entries = rows_of(tmp_path / "out" / "codebook.csv")
    assert entries
    for entry in entries:
        present = sum(record[entry["column"]] == entry["value"] for record in records)
        assert present == int(entry["records"])


def test_region_sizes_are_those_of_the_records_and_within_the_range(tmp_path):
    generate(spec_of(tmp_path), tmp_path / "out")
    records = rows_of(tmp_path / "out" / "records.csv")
    regions = rows_of(tmp_path / "out" / "regions.csv")
    assert regions
    for region in regions:
        present = sum(record["region"] == region["id"] for record in records)
        assert present == int(region["records"])
        assert 400 <= present <= 700


def test_rules_hold_for_every_record(tmp_path):
    generate(spec_of(tmp_path), tmp_path / "out")
    records = rows_of(tmp_path / "out" / "records.csv")
    assert not any(record["age"] == "young" and record["illness"] == "gout" for record in records)
    old_men = [record for record in records if (record["age"], record["sex"]) == ("old", "m")]
    assert old_men
    assert {record["illness"] for record in old_men} == {"gout"}


def test_shares_follow_the_weights(tmp_path):
    generate(spec_of(tmp_path), tmp_path / "out")
    ages = [record["age"] for record in rows_of(tmp_path / "out" / "records.csv")]
    assert ages.count("young") / 6000 == pytest.approx(0.5, abs=0.03)
    assert ages.count("middle, aged") / 6000 == pytest.approx(0.25, abs=0.03)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    spec = spec_of(tmp_path)
    for name, seed in (("a", None), ("b", 7), ("c", 8)):
        generate(spec, tmp_path / name, seed=seed)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    assert hashes(tmp_path / "a")["records.csv"] != hashes(tmp_path / "c")["records.csv"]


def test_the_size_of_the_chunks_changes_nothing(tmp_path, monkeypatch):
    spec = spec_of(tmp_path)
    generate(spec, tmp_path / "a")
    monkeypatch.setattr("vbas_desktop.io.synthetic.generate.CHUNK_RECORDS", 777)
    generate(spec, tmp_path / "b")
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")


def test_generalised_records_are_the_same_records_in_groups(tmp_path):
    spec = spec_of(tmp_path)
    generate(spec, tmp_path / "full")
    made = generate(spec, tmp_path / "groups", generalised=True)
    assert "generalise.csv" not in made.files
    group = {
        (row["column"], row["value"]): row["group"]
        for row in rows_of(tmp_path / "full" / "generalise.csv")
    }
    full, grouped = (rows_of(tmp_path / name / "records.csv") for name in ("full", "groups"))
    for record in full:
        record["age"] = group["age", record["age"]]
    assert full == grouped


def test_codes_count_from_one_in_the_order_of_the_labels(tmp_path):
    spec = spec_of(tmp_path)
    generate(spec, tmp_path / "text")
    generate(spec, tmp_path / "codes", labels="codes")
    code = {
        (row["column"], row["label"]): row["value"]
        for row in rows_of(tmp_path / "codes" / "codebook.csv")
    }
    assert code["age", "middle, aged"] == "2"
    text, codes = (rows_of(tmp_path / name / "records.csv") for name in ("text", "codes"))
    assert [
        {**record, **{name: code[name, record[name]] for name in ("age", "sex", "illness")}}
        for record in text
    ] == codes
    assert {row["group"] for row in rows_of(tmp_path / "codes" / "generalise.csv")} == {"1", "2"}


def test_columns_can_be_put_in_another_order(tmp_path):
    text = 'columns = ["region", "illness", "age", "sex", "card"]\n' + SMALL
    generate(spec_of(tmp_path, text), tmp_path / "a")
    generate(spec_of(tmp_path), tmp_path / "b")
    moved, usual = (rows_of(tmp_path / name / "records.csv") for name in ("a", "b"))
    assert list(moved[0]) == ["region", "illness", "age", "sex", "card"]
    assert moved == usual


def test_the_category_count_line_is_the_second(tmp_path):
    generate(spec_of(tmp_path, "category_counts = true\n" + SMALL), tmp_path / "out", generalised=True)
    assert (tmp_path / "out" / "records.csv").read_text().splitlines()[1] == "6000,2,2,3,12"


def test_size_and_regions_can_be_changed(tmp_path):
    spec = spec_of(tmp_path)
    assert generate(spec, tmp_path / "a", records=10).records == 10
    made = generate(spec, tmp_path / "b", regions=3)
    assert made.regions == 3
    assert 1200 <= made.records <= 2100
    assert generate(spec, tmp_path / "c", records=100, regions=30).regions == 30


def test_records_go_into_the_regions_of_a_file(tmp_path):
    (tmp_path / "towns.csv").write_text("id,name,lon,lat\n7,Ayr,-63,45\n008,Bute,-63.5,45.5\n")
    made = generate(spec_of(tmp_path), tmp_path / "out", regions=tmp_path / "towns.csv", records=50)
    assert (made.records, made.regions) == (50, 2)
    regions = rows_of(tmp_path / "out" / "regions.csv")
    assert [(region["id"], region["longitude"], region["name"]) for region in regions] == [
        ("7", "-63.000000", "Ayr"),
        ("008", "-63.500000", "Bute"),
    ]


def test_population_and_tilts_come_from_columns_of_the_region_file(tmp_path):
    (tmp_path / "towns.csv").write_text(
        "id,x,y,people,share65\na,1000,1,300,0.1\nb,2000,2,100,0.5\nc,3000,3,0,0.3\n"
    )
    text = """
records = 4000
[regions]
file = "towns.csv"
population_column = "people"
[[attributes]]
name = "age"
labels = ["young", "old"]
tilts = [{ column = "share65", strength = 2 }]
"""
    generate(spec_of(tmp_path, text), tmp_path / "out")
    records = rows_of(tmp_path / "out" / "records.csv")
    sizes = [int(region["records"]) for region in rows_of(tmp_path / "out" / "regions.csv")]
    assert sizes == [3000, 1000, 0]
    old = {id: sum(r["age"] == "old" for r in records if r["region"] == id) for id in "ab"}
    # weights e^(±2·1.2247…): the share of the old is 1 / (1 + e^(±4.9))
    assert old["a"] / 3000 == pytest.approx(0.0074, abs=0.006)
    assert old["b"] / 1000 == pytest.approx(0.9926, abs=0.012)


def test_variation_makes_regions_differ(tmp_path):
    text = SMALL.replace("weights = [2, 1, 1]", "weights = [2, 1, 1]\nvariation = 1.0")
    generate(spec_of(tmp_path, text), tmp_path / "out")
    records = rows_of(tmp_path / "out" / "records.csv")
    shares = [
        np.mean([record["age"] == "young" for record in records if record["region"] == region["id"]])
        for region in rows_of(tmp_path / "out" / "regions.csv")
    ]
    assert max(shares) - min(shares) > 0.2


class StopAt:
    def __init__(self, calls):
        self.calls = calls

    def update(self, stage, fraction=None):
        self.calls -= 1
        if self.calls < 0:
            raise Cancelled


def test_a_stopped_run_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("vbas_desktop.io.synthetic.generate.CHUNK_RECORDS", 500)
    spec = spec_of(tmp_path)
    with pytest.raises(Cancelled):
        generate(spec, tmp_path / "out", progress=StopAt(3))
    assert [file.name for file in tmp_path.iterdir()] == ["spec.toml"]


def test_only_what_was_generated_is_replaced(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    for name in ("records.csv", "regions.csv", "codebook.csv"):
        (target / name).write_text("real data")
    with pytest.raises(InputError, match="not an earlier result"):
        generate(spec_of(tmp_path), target)
    assert {path.read_text() for path in target.iterdir()} == {"real data"}
    for seed in (1, 2):
        generate(spec_of(tmp_path), tmp_path / "new", seed=seed)
    assert json.loads((tmp_path / "new" / "generated.json").read_text())["seed"] == 2
    assert len(rows_of(tmp_path / "new" / "records.csv")) == 6000


@pytest.mark.parametrize(
    ("name", "records", "regions", "least", "most"),
    [
        ("eastern", 2_433_221, 4426, 400, 700),
        ("central", 18_472_300, 33586, 400, 700),
        ("western", 9_647_422, 17613, 400, 700),
        ("pei", 161_500, 3000, 10, 98),
    ],
)
@pytest.mark.parametrize("attributes", ATTRIBUTE_MODELS)
def test_built_in_specs_have_the_numbers_of_the_thesis(name, records, regions, least, most, attributes):
    spec = load_spec_with_attributes(name, attributes)
    assert name in BUILT_IN
    assert (spec.records, spec.regions.count) == (records, regions)
    assert [len(attribute.labels) for attribute in spec.attributes] == [22, 2, 6, 15, 53, 16, 21]
    assert [len(attribute.group_labels) for attribute in spec.attributes] == [11, 2, 6, 8, 53, 16, 7]
    sizes = distribute_records(spec.regions, None, regions, records, np.random.default_rng(0))
    assert sizes.sum() == records
    assert sizes.min() >= least
    assert sizes.max() <= most


def test_pei_is_an_island_in_known_coordinates(tmp_path):
    made = generate(load_spec("pei"), tmp_path / "pei", records=2000)
    regions = load_regions(tmp_path / "pei" / "regions.csv")
    assert len(regions) == made.regions == 3000
    assert regions.system.definition == "EPSG:3347"
    assert regions.findings == ()
    planar = np.array(
        [[float(row["x"]), float(row["y"])] for row in rows_of(tmp_path / "pei" / "regions.csv")]
    )
    assert regions.points == pytest.approx(planar, abs=0.01)
    head = (tmp_path / "pei" / "records.csv").read_text().splitlines()[:2]
    assert head == [
        "age,gender,marital,education,ethnicity,religion,income,region",
        "22,2,6,15,53,16,21,3000",
    ]


def test_independent_attributes_have_the_marginals_and_nothing_else():
    assert [len(marginal.labels) for marginal in read_marginals()] == [22, 2, 6, 15, 53, 16, 21]
    assert all(marginal.source and marginal.assumptions for marginal in read_marginals())
    for name in BUILT_IN:
        for attribute in make_independent_attributes(name):
            assert (attribute.rules, attribute.tilts, attribute.variation) == ((), (), 0.0)
            assert sum(attribute.weights) == pytest.approx(1)
    age = {name: make_independent_attributes(name)[0].weights for name in BUILT_IN}
    assert age["eastern"][0] == pytest.approx(43_965 / 910_605)
    assert age["western"][0] == pytest.approx(219_440 / 4_395_180)
    assert age["pei"] == age["eastern"]
    assert age["central"] == pytest.approx(
        [(e + w) / 2 for e, w in zip(age["eastern"], age["western"], strict=True)]
    )


def test_independent_records_follow_the_product_of_the_marginals(tmp_path):
    made = generate(
        load_spec_with_attributes("eastern", "independent"),
        tmp_path / "east",
        records=200_000,
        regions=400,
    )
    rows = rows_of(tmp_path / "east" / "records.csv")[1:]
    assert len(rows) == made.records
    attributes = {attribute.name: attribute for attribute in make_independent_attributes("eastern")}
    for first, second in (("age", "marital"), ("age", "income"), ("gender", "religion")):
        shares = np.outer(attributes[first].weights, attributes[second].weights)
        counts = np.zeros(shares.shape)
        np.add.at(
            counts, ([int(row[first]) - 1 for row in rows], [int(row[second]) - 1 for row in rows]), 1
        )
        expected = made.records * shares
        usual = expected >= 5
        chi_square = (((counts - expected) ** 2 / expected)[usual]).sum()
        # Five standard deviations of chi-square; with the dependent rules it is tens of thousands.
        assert chi_square < usual.sum() + 5 * np.sqrt(2 * usual.sum())


def test_spec_file_has_no_marginals_to_be_drawn_by(tmp_path):
    (tmp_path / "own.toml").write_text(SMALL, encoding="utf-8")
    assert load_spec_with_attributes(tmp_path / "own.toml", "dependent") == load_spec(
        tmp_path / "own.toml"
    )
    with pytest.raises(InputError, match="published marginals"):
        load_spec_with_attributes(tmp_path / "own.toml", "independent")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any), st.integers(0, 100_000))
def test_records_by_weight_add_up_and_stay_within_one_of_the_ideal(weights, total):
    sizes = apportion(np.array(weights, float), total)
    assert sizes.sum() == total
    assert np.abs(sizes - np.array(weights) / sum(weights) * total).max() < 1 + 1e-6


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40), st.integers(0, 20), st.integers(0, 20), st.integers(0, 900), st.integers(0, 9)
)
def test_spread_is_exact_whatever_the_total(regions, low, more, total, seed):
    plan = RegionPlan(records_per_region=(low, low + more))
    sizes = distribute_records(plan, None, regions, total, np.random.default_rng(seed))
    assert sizes.sum() == total
    if regions * low <= total <= regions * (low + more):
        assert sizes.min() >= low
        assert sizes.max() <= low + more


def test_impossible_and_certain_categories_stay_so():
    assert cumulate_weights(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])).tolist() == [
        [0, 2**31],
        [2**31, 2**31],
    ]


def split_mix(key, number):
    """The published generator in Python's own whole numbers."""
    word = (key + (number + 1) * 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


@settings(deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**40),
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any), min_size=6, max_size=6),
    st.integers(1, 5),
)
def test_categories_are_drawn_by_looking_each_record_up(key, start, weights, n_categories):
    """Three regions, and two categories of the attribute that was drawn before."""
    limits = cumulate_weights(np.array(weights, float)[:, :n_categories] + 0.001)
    before, region = np.array([0, 1, 1, 0, 1, 1], np.int32), np.array([0, 0, 1, 1, 2, 2], np.int32)
    drawn = Distribution(limits, True, 2, ((0, 1),), np.uint64(key)).draw(start, region, [before])
    expected = [
        bisect_right(limits[2 * place + code].tolist(), split_mix(key, start + record) >> 33)
        for record, (place, code) in enumerate(zip(region.tolist(), before.tolist(), strict=True))
    ]
    assert drawn.tolist() == expected


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seed = 7", "seed = ", "not TOML"),
        ("seed = 7", "seed = -1", "whole number of at least 0"),
        ("seed = 7", "sed = 7", "sed: this key is not known"),
        ("records = 6000", "records = 0", "whole number of at least 1"),
        ("weights = [2, 1, 1]", "weights = [2, 1]", "2 entries instead of 3"),
        ("weights = [2, 1, 1]", "weights = [2, -1, 1]", "must not be negative"),
        ("weights = [2, 1, 1]", 'weights = ["a"]', "a list of numbers is expected"),
        ('labels = ["f", "m"]', 'labels = ["f", "f"]', "twice"),
        ('labels = ["f", "m"]', "", "neither labels nor count"),
        ('name = "sex"', 'name = "age"', "Two columns have this name"),
        ('name = "sex"', "", "is missing"),
        ('role = "sensitive"', 'role = "secret"', "use one of"),
        ('age = ["young"]', 'age = ["ancient"]', "not among the labels"),
        ('age = ["young"]', 'income = ["low"]', "stand before"),
        ("gout = 0", "scurvy = 0", "not among the labels"),
        ("gout = 0", "gout = -1", "at least 0"),
        ("weights = [0, 0, 1]", "multiply = { none = 0, cold = 0, gout = 0 }", "no category possible"),
        ("A-####-#", "A", "1 to 18 signs #"),
        ("A-####-#", "A-##", "numbers for 100 records only"),
        ("[400, 700]", "[700, 400]", "smallest and the largest"),
        ("count = 12", 'file = "nowhere.csv"', "There is no such file"),
        ("count = 12", 'population_column = "people"', "the regions are invented"),
        ("count = 12", "geography = { centre = [0, 90] }", "longitude and latitude"),
        ("count = 12", "geography = 3", "a table is expected"),
    ],
)
def test_each_mistake_in_a_spec_is_named(tmp_path, old, new, words):
    assert old in SMALL
    with pytest.raises(InputError, match=words.replace("[", r"\[")):
        generate(spec_of(tmp_path, SMALL.replace(old, new)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_all_mistakes_of_a_spec_come_at_once(tmp_path):
    text = SMALL.replace("seed = 7", "seed = -1").replace("[2, 1, 1]", "[2]").replace('["f", "m"]', "3")
    text = text.replace("gout = 0", "gout = -1")
    with pytest.raises(InputError) as error:
        spec_of(tmp_path, text)
    assert len(error.value.findings) == 4
    assert {finding.column for finding in error.value.findings} == {None, "age", "sex", "illness"}


def test_a_spec_that_is_not_there_is_named():
    with pytest.raises(InputError, match="eastern, central, western, pei"):
        load_spec("southern")


def test_the_spec_in_the_documentation_is_right(tmp_path):
    text = (documentation_folder() / "file-formats.md").read_text(encoding="utf-8")
    block = text.split("```toml\n")[1].split("```")[0]
    (tmp_path / "tracts.csv").write_text(
        "GEOID,x,y,population,share_65\na,1000,1,300,0.1\nb,2000,2,100,0.5\n"
    )
    made = generate(spec_of(tmp_path, block.replace(".gpkg", ".csv")), tmp_path / "out")
    assert (made.records, made.regions) == (20_000, 2)


def test_a_table_that_would_be_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("vbas_desktop.io.synthetic.model.TABLE_LIMIT", 5)
    with pytest.raises(InputError, match="18 ways"):
        generate(spec_of(tmp_path), tmp_path / "out")
