"""Nothing that leaves the organisation tells of fewer than k records."""

import csv
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.releases.recipient_facts import (
    PERCENTS,
    PercentRange,
    coarsen_jaccard,
    coarsen_suppressed_share,
)
from vbas_desktop.settings.release import ReleaseOptions

K = 50
LOST = 37, 43, 29
"""Sizes of the classes that are suppressed: numbers that nothing else in the files happens to be."""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Four corners of the grid with 400 ordinary records each; three of them have one rare class each."""
    folder = tmp_path_factory.mktemp("disclosure")
    rows = []
    for corner in ("r0", "r3", "r12", "r15"):
        rows += [["p", "young", sex, corner, "n"] for sex in "fm" for _ in range(200)]
    for corner, sex, age, size in zip(
        ("r0", "r3", "r12"), "fmf", ("old", "old", "oldest"), LOST, strict=True
    ):
        rows += [["p", age, sex, corner, "n"] for _ in range(size)]
    case = load(write_records(folder, rows), write_regions(folder), k=K, sites=4)
    assert case.solution.suppressed_global + case.solution.suppressed_local == sum(LOST)
    options = ReleaseOptions(
        class_size="class_size", policy="class-11", renames={"age": "stage", "region": "area"}
    )
    return case.release(folder / "out", options)


def numbers(text):
    return {int(found.replace(",", "")) for found in re.findall(r"(?<![\w.#])\d[\d,]*(?![\w.%])", text)}


def texts_of(folder):
    """The text of every file for people, without drawings, checksums and styles."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<code>.*?</code>", " ", page, flags=re.S)
    yield re.sub(r"<[^>]+>", " ", page)
    pages = PdfReader(folder / "report.pdf").pages
    yield re.sub(r"[0-9a-f]{20,}", " ", " ".join(page.extract_text() for page in pages))


def run_json(release):
    return json.loads((release.target / "run.json").read_text())


def test_the_recipients_report_has_no_number_of_suppressed_records_while_that_for_the_file_has_them_all(
    release,
):
    sums = {37 + 43, 37 + 29, sum(LOST), 1600 + sum(LOST)}
    for text in texts_of(release.target / "internal"):
        assert set(LOST) | sums <= numbers(text)
    for text in texts_of(release.folder):
        assert not (set(LOST) | sums) & numbers(text)


def test_a_value_that_only_suppressed_records_have_is_not_even_named_to_the_recipient(release):
    assert all("oldest" in text for text in texts_of(release.target / "internal"))
    for path in release.folder.iterdir():
        assert b"oldest" not in path.read_bytes()
    for text in texts_of(release.folder):
        assert "oldest" not in text
        assert "Quasi-identifier “stage” 1 categor" in " ".join(text.split()), "only “young” is released"


def test_the_recipient_gets_no_measure_of_sites_or_of_records_that_are_not_released(release):
    hidden = (
        "non-uniform",
        "place information",
        "sites were tried",
        "solutions that were considered",
        "seed",
    )
    for text in texts_of(release.target / "internal"):
        assert [words for words in hidden[:-1] if words not in " ".join(text.lower().split())] == []
        assert re.search(r"Average distance\s+(?!to )", text)
    for text in texts_of(release.folder):
        assert [words for words in hidden if words in " ".join(text.lower().split())] == []
        assert not re.search(r"Average distance\s+(?!to )", text)


def test_the_recipient_learns_neither_names_of_the_source_files_nor_old_names_of_columns(release):
    inputs = run_json(release)["inputs"]
    assert inputs
    for text in texts_of(release.target / "internal"):
        assert "records.csv" in text
        assert "regions.csv" in text.replace("aggregated_regions.csv", "")
    for path in release.folder.iterdir():
        data = path.read_bytes()
        for source in inputs.values():
            assert source["sha256"].encode() not in data
    for text in (*texts_of(release.folder), (release.folder / "representability.json").read_text()):
        assert "records.csv" not in text
        assert "regions.csv" not in text.replace("aggregated_regions.csv", "")
        assert "“age”" not in text
        assert '"age"' not in text
        assert '"region"' not in text
        assert "“region”" not in text


def test_derived_figures_have_two_digits_at_most(release):
    page = (release.folder / "report.html").read_text(encoding="utf-8")
    values = re.findall(r"<tr><td>[^<]*</td><td class=n>([\d.,]+)(?: \w+)?</td><td>", page)
    assert len(values) >= 6
    for value in values:
        assert len(value.replace(",", "").replace(".", "").strip("0")) <= 2, value

    def figures(node):
        for each in node.values() if isinstance(node, dict) else node:
            if isinstance(each, dict | list):
                yield from figures(each)
            elif isinstance(each, float):
                yield each

    vector = json.loads((release.folder / "representability.json").read_text())
    told = [*figures(vector["overall"]), *figures(vector["per_class"])]
    assert len(told) > 8
    assert all(value == float(f"{value:.2g}") for value in told)


@pytest.mark.parametrize("extra", [0, 3, 4])
def test_none_and_a_few_suppressed_records_give_the_same_files(tmp_path, extra):
    made = []
    for name, number in (("none", 0), ("few", extra)):
        folder = tmp_path / name
        folder.mkdir()
        rows = [["p", "young", "f", region, "n"] for region in ("r0", "r15") for _ in range(60)]
        rows += [["p", "rare", "f", "r0", "n"]] * number
        case = load(write_records(folder, rows), write_regions(folder), k=5, sites=1)
        assert case.solution.suppressed_global == number
        release = case.release(folder / "out", ReleaseOptions(shuffle=False)).folder
        made.append({path.name: path.read_bytes() for path in release.iterdir()})
    assert made[0] == made[1]


def test_the_tables_of_the_recipient_count_at_least_k_records_or_none(release):
    with (release.folder / "aggregated_regions.csv").open(newline="") as file:
        counts = [int(row["records"]) for row in csv.DictReader(file)]
    shapes = json.loads((release.folder / "aggregated_regions.geojson").read_text())
    counts += [feature["properties"]["records"] for feature in shapes["features"]]
    with (release.folder / "anonymized.csv").open(newline="") as file:
        counts += [int(row["class_size"]) for row in csv.DictReader(file)]
    assert all(count == 0 or count >= K for count in counts)
    assert len(counts) == 4 + 4 + release.records_released


def test_the_recipient_gets_no_sites(release):
    assert "site" not in (release.folder / "aggregated_regions.csv").read_text()


def test_no_record_is_in_the_reports_or_in_run_json(tmp_path):
    rows = [[f"zebra {number}", "young", "f", "r1", f"note {number}"] for number in range(60)]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5)
    report = case.release(tmp_path / "out", ReleaseOptions(identifiers=("name",)))
    for path in (
        *(report.target / "internal").iterdir(),
        report.folder / "report.html",
        report.target / "run.json",
    ):
        assert b"zebra" not in path.read_bytes()
        assert b"note 1" not in path.read_bytes()


@given(st.integers(0, 400), st.integers(2, 6), st.integers(0, 6), st.integers(0, 6), st.data())
@settings(max_examples=200)
def test_a_share_is_true_and_leaves_every_missing_cell_free(released, k, least, more, data):
    most = least + more
    suppressed = data.draw(st.integers(0, most * (k - 1) + 3))
    share = coarsen_suppressed_share(suppressed, released, k, least, most)
    exact = 100 * suppressed / max(1, suppressed + released)
    assert share == PercentRange() or share.low <= exact < share.high
    # All numbers that would be told alike, and what a cell can be if all possible missing cells are known.
    alike = [
        s
        for s in range(most * (k - 1) + 1)
        if coarsen_suppressed_share(s, released, k, least, most) == share
    ]
    for cells in range(max(1, least), most + 1):
        possible = [s for s in alike if s <= cells * (k - 1)]
        if possible:
            assert min(possible) <= (cells - 1) * (k - 1)
            assert max(possible) >= k - 1


def test_shares_are_told_in_words():
    assert str(PercentRange()) == "not stated"
    assert str(PercentRange(0, 2)) == "below 2 %"
    assert str(PercentRange(5, 10)) == "5 to 10 %"
    assert str(PercentRange(50, 100)) == "50 % or more"
    assert coarsen_suppressed_share(30, 990, 5, 40, 40) == PercentRange(2, 5)
    assert coarsen_suppressed_share(10, 990, 5, 40, 40) == PercentRange(1, 2), "1 % is reached"
    assert coarsen_suppressed_share(9, 990, 5, 40, 40) == PercentRange(0, 1)
    assert sorted(PERCENTS) == list(PERCENTS)


def test_a_share_is_used_from_the_first_number_on_that_tells_nothing():
    # 1 % of 500 are 5 records.
    assert coarsen_suppressed_share(5, 495, 5, 40, 40) == PercentRange(1, 2)
    assert coarsen_suppressed_share(5, 495, 6, 40, 40) == PercentRange(0, 2)
    # 1 % of 1,000 are 10: two other cells of at most 5 hold them, one does not. 50 % are 990, more than 197 cells hold.
    assert coarsen_suppressed_share(10, 990, 6, 3, 197) == PercentRange(1, 50)
    assert coarsen_suppressed_share(10, 990, 6, 2, 197) == PercentRange(0, 50)
    assert coarsen_suppressed_share(10, 990, 6, 3, 198) == PercentRange(1, 100)


def reachable(size, places):
    """The numbers of pairs that so many records can make in so many places, as bits of an integer."""
    ways = {0: 1}
    for _ in range(places):
        new = {}
        for used, bits in ways.items():
            for n in range(size - used + 1):
                new[used + n] = new.get(used + n, 0) | bits << n * (n - 1) // 2
        ways = new
    return ways[size]


def sums(sets):
    """The sums of one member of each set, sets and sums as bits."""
    found = 1
    for bits in sets:
        found, shift = 0 if bits else found, found
        while bits:
            low = bits & -bits
            found |= shift << low.bit_length() - 1
            bits ^= low
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_jaccard_index_leaves_open_how_many_of_a_class_lived_in_an_initial_region(seed):
    generator = np.random.default_rng(seed)
    k, cells = 2 + seed % 2, 260
    sizes = generator.integers(k, k + 3, cells)
    members = generator.integers(1, 4, cells)
    every = int((sizes * (sizes - 1) // 2).sum())
    all_ways = [reachable(int(n), int(m)) for n, m in zip(sizes, members, strict=True)]
    total = sums(all_ways)
    told = {a: coarsen_jaccard(a / every, sizes, members, k) for a in range(every + 1) if total >> a & 1}
    assert None not in told.values()
    assert all(abs(value - a / every) <= 0.015 for a, value in told.items())
    for kind in {(int(n), int(m)) for n, m in zip(sizes, members, strict=True) if m > 1}:
        others = list(all_ways)
        others.remove(reachable(*kind))
        rest = sums(others)
        for number in range(k):
            fixed = reachable(kind[0] - number, kind[1] - 1) << number * (number - 1) // 2
            possible = sums([rest, fixed])
            assert {told[a] for a in told if possible >> a & 1} == set(told.values()), (kind, number)


@pytest.mark.parametrize("jaccard", [0.0, 0.5, 0.731, 1.0])
def test_whether_the_jaccard_index_is_told_does_not_depend_on_it(jaccard):
    assert coarsen_jaccard(jaccard, np.array([40, 60]), np.array([2, 3]), 5) is None
    assert coarsen_jaccard(jaccard, np.full(2000, 30), np.full(2000, 12), 5) is not None
    assert coarsen_jaccard(None, np.array([40]), np.array([2]), 5) is None


def test_a_release_of_random_records_states_a_share_that_is_true(tmp_path):
    case = load(write_records(tmp_path, random_rows(3000)), write_regions(tmp_path), k=5, sites=6)
    report = case.release(tmp_path / "out", ReleaseOptions(pdf=False))
    overall = json.loads((report.folder / "representability.json").read_text())["overall"]
    exact = report.records_released / report.records
    assert overall["sample_size_ratio"] is None
    assert overall["sample_size_ratio_at_least"] < exact <= overall["sample_size_ratio_at_most"]
    assert (overall["sample_size_ratio_at_least"], overall["sample_size_ratio_at_most"]) != (0, 1)


def test_the_recipient_learns_which_columns_k_was_made_for(release):
    report = (release.folder / "report.html").read_text(encoding="utf-8")
    for column in ("stage", "sex"):
        assert f"Quasi-identifier “{column}”" in report
    assert "Region column “area”" in report
