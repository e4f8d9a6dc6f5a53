"""Nothing that leaves the organisation tells of fewer than k records."""

import csv
import json
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader
from release_making import load, random_rows, write_records, write_regions

from vbas_desktop.release import ReleaseOptions
from vbas_desktop.release.report.disclosure import Disclosure

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
    for corner, sex, age, size in zip(("r0", "r3", "r12"), "fmf", ("old", "old", "oldest"), LOST, strict=True):
        rows += [["p", age, sex, corner, "n"] for _ in range(size)]
    case = load(write_records(folder, rows), write_regions(folder), k=K, sites=4)
    assert case.solution.suppressed_global + case.solution.suppressed_local == sum(LOST)
    return case.release(folder / "out", ReleaseOptions(class_size="class_size", policy="class-11"))


def numbers(text):
    return {int(found.replace(",", "")) for found in re.findall(r"(?<![\w.#])\d[\d,]*(?![\w.%])", text)}


def texts_of(folder):
    """The text of every file for people, without drawings, checksums and styles."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<code>.*?</code>", " ", page, flags=re.S)
    yield re.sub(r"<[^>]+>", " ", page)
    pages = PdfReader(folder / "report.pdf").pages
    yield re.sub(r"[0-9a-f]{20,}", " ", " ".join(page.extract_text() for page in pages))


def tables_of(page):
    """The tables of a page as rows of texts, the headings first."""
    for table in re.findall(r"<table>.*?</table>", page, flags=re.S):
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.S)
        yield [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows]


def run_json(release):
    return json.loads((release.target / "run.json").read_text())


def test_the_recipients_report_has_no_count_below_k_while_that_for_the_file_has_them_all(release):
    for text in texts_of(release.target / "internal"):
        assert set(LOST) <= numbers(text)
    for text in texts_of(release.folder):
        assert not set(LOST) & numbers(text)
        assert sum(LOST) in numbers(text), "a total that reaches k is told"
        assert f"fewer than {K}" in " ".join(text.split())


def test_a_table_from_which_a_hidden_count_follows_by_the_total_is_left_out(release):
    old_by_age, female_by_sex = 37 + 43, 37 + 29
    for text in texts_of(release.target / "internal"):
        assert {old_by_age, female_by_sex} <= numbers(text)
    for text in texts_of(release.folder):
        assert not {old_by_age, female_by_sex} & numbers(text)


def test_a_value_that_only_a_few_suppressed_records_have_is_not_even_named_to_the_recipient(release):
    assert all("oldest" in text for text in texts_of(release.target / "internal"))
    for path in release.folder.iterdir():
        assert b"oldest" not in path.read_bytes()
    for text in texts_of(release.folder):
        assert "oldest" not in text
        assert "Quasi-identifier “age” 1 categor" in " ".join(text.split()), "only “young” is released"


def test_the_recipient_gets_no_measure_that_counts_records_which_are_not_released(release):
    for text in texts_of(release.target / "internal"):
        assert "non-uniform" in text.lower()
    discernibility = {entry["measures"]["discernibility"] for entry in run_json(release)["solutions"]}
    for text in texts_of(release.folder):
        assert "non-uniform" not in text.lower()
        told = discernibility & numbers(text)
        assert told == {8 * 200**2}, "that of the released solution, which the released file gives too"


@pytest.mark.parametrize("seed", range(4))
def test_whoever_adds_up_the_tables_of_the_recipient_learns_nothing_about_counts_below_k(tmp_path, seed):
    k = 5
    rows = random_rows(300 + 40 * seed, seed)
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=k, sites=3 + seed)
    case.release(tmp_path / "out", ReleaseOptions(pdf=False))
    page = (tmp_path / "out" / "release" / "report.html").read_text(encoding="utf-8")
    stated = re.search(r"<p>([\d,]+) records were suppressed", page)
    totals = {int(stated[1].replace(",", ""))} if stated else set()
    tables = [table for table in tables_of(page) if "records suppressed" in table[0]]
    for names, *body in tables:
        cells = [row[names.index("records suppressed")] for row in body]
        shown = [int(cell.replace(",", "")) for cell in cells if cell[0].isdigit()]
        hidden = len(cells) - len(shown)
        assert all(count >= k for count in shown)
        totals |= set() if hidden else {sum(shown)}
        for total in totals:
            rest = total - sum(shown)
            assert not hidden or k - 1 <= rest <= (hidden - 1) * (k - 1)
    assert len(totals) <= 1


def test_none_and_a_few_suppressed_records_look_the_same_to_the_recipient(tmp_path):
    pages = []
    for name, extra in (("none", 0), ("few", 3)):
        folder = tmp_path / name
        folder.mkdir()
        rows = [["p", "young", "f", region, "n"] for region in ("r0", "r15") for _ in range(60)]
        rows += [["p", "rare", "f", "r0", "n"]] * extra
        case = load(write_records(folder, rows), write_regions(folder), k=5, sites=1)
        assert case.solution.suppressed_global == extra
        case.release(folder / "out", ReleaseOptions(pdf=False, shuffle=False))
        pages.append((folder / "out" / "release" / "report.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]


def test_the_tables_of_the_recipient_count_at_least_k_records_or_none(release):
    with (release.folder / "aggregated_regions.csv").open(newline="") as file:
        counts = [int(row["records"]) for row in csv.DictReader(file)]
    shapes = json.loads((release.folder / "aggregated_regions.geojson").read_text())
    counts += [feature["properties"]["records"] for feature in shapes["features"]]
    with (release.folder / "anonymized.csv").open(newline="") as file:
        counts += [int(row["class_size"]) for row in csv.DictReader(file)]
    assert all(count == 0 or count >= K for count in counts)
    assert len(counts) == 4 + 4 + release.records_released


def test_the_recipient_gets_neither_the_hash_of_the_records_nor_the_sites(release):
    secret = run_json(release)["inputs"]["records"]["sha256"]
    for path in release.folder.iterdir():
        assert secret.encode() not in path.read_bytes()
    assert "site" not in (release.folder / "aggregated_regions.csv").read_text()


def test_no_record_is_in_the_reports_or_in_run_json(tmp_path):
    rows = [[f"zebra {number}", "young", "f", "r1", f"note {number}"] for number in range(60)]
    case = load(write_records(tmp_path, rows), write_regions(tmp_path), k=5)
    report = case.release(tmp_path / "out", ReleaseOptions(identifiers=("name",)))
    for path in (*(report.target / "internal").iterdir(), report.folder / "report.html", report.target / "run.json"):
        assert b"zebra" not in path.read_bytes()
        assert b"note 1" not in path.read_bytes()


def test_a_shown_sum_never_narrows_down_a_hidden_count():
    k = 3
    for cells in product(range(k), repeat=3):
        if not Disclosure(k, internal=False).sum_is_safe(np.array(cells)):
            continue
        possible = [other for other in product(range(k), repeat=3) if sum(other) == sum(cells)]
        for place in range(3):
            assert {other[place] for other in possible} == set(range(k))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(1, 12))
@settings(max_examples=80)
def test_counts_below_k_all_look_the_same_to_the_recipient(counts, k):
    outside, inside = Disclosure(k, internal=False), Disclosure(k, internal=True)
    assert {outside.count(count) for count in counts if count < k} <= {f"fewer than {k}"}
    assert [inside.count(count) for count in counts] == [str(count) for count in counts]
    assert outside.total(sum(counts)) == (f"{sum(counts):,}" if sum(counts) >= k else None)
    assert inside.total(sum(counts)) == f"{sum(counts):,}"
