"""Reports for people who use a screen reader, a keyboard or large print: the files of a real release are read."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from random import Random

import pytest
from pypdf import PdfReader

from vbas_desktop.cli.main import main


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The folder of a release with a sensitive column and suppressed records, and so with three maps."""
    folder = tmp_path_factory.mktemp("accessible")
    draw = Random(0)
    rows = [
        f"{draw.randrange(12)},{draw.randrange(7)},{draw.choice('fm')},{draw.choice('abc')}"
        for _ in range(600)
    ]
    (folder / "records.csv").write_text("\n".join(["tract,age,sex,illness", *rows]) + "\n")
    regions = [f"{number},{number % 4},{number // 4}" for number in range(12)]
    (folder / "regions.csv").write_text("\n".join(["tract,x,y", *regions]) + "\n")
    arguments = [
        str(folder / "records.csv"),
        str(folder / "regions.csv"),
        *(
            "--region-column",
            "tract",
            "--quasi-identifiers",
            "age,sex",
            "--sensitive",
            "illness",
            "-k",
            "7",
        ),
        *(
            "--site-number",
            "fixed",
            "--set",
            "fixed.sites=8",
            "--allow-column",
            "illness",
            "--exceed-loss",
        ),
        *("--out", str(folder / "out"), "--quiet"),
    ]
    assert main(["run", *arguments]) == 0
    return folder / "out"


class Page(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(params=["internal", "release"])
def part(request):
    return request.param


@pytest.fixture
def page(release, part):
    return Page((release / part / "report.html").read_text(encoding="utf-8"))


def test_a_page_names_its_language(page):
    assert [element["lang"] for element in page.all("html")] == ["en"]


def test_each_heading_of_a_table_says_that_it_is_that_of_a_column(page):
    headings = page.all("th")
    assert headings
    assert {heading.get("scope") for heading in headings} == {"col"}


def test_pictures_have_labels_that_tell_them_apart(page, part):
    pictures = page.all("svg")
    labels = [picture["aria-label"] for picture in pictures]
    assert all(picture["role"] == "img" for picture in pictures)
    assert all(labels)
    assert len(set(labels)) == len(labels)
    assert "Map of the aggregated regions" in labels
    if part == "internal":
        assert len([label for label in labels if label.startswith("Map of ")]) == 3


def test_tables_that_scroll_are_reached_by_the_keyboard_and_have_a_label(page):
    boxes = [element for element in page.all("div") if element.get("class") == "scroll"]
    assert len(boxes) == len(page.all("table")) > 0
    for box in boxes:
        assert box["tabindex"] == "0"
        assert box["role"] == "group"
        assert box["aria-label"]


def test_each_section_is_labelled_by_its_heading(page):
    headings = {heading["id"] for heading in page.all("h2")}
    assert [section["aria-labelledby"] for section in page.all("section")] == sorted(
        headings, key=lambda name: int(name[1:])
    )


def test_marks_of_checks_are_said_in_words(release):
    page = Page((release / "internal" / "report.html").read_text(encoding="utf-8"))
    marks = page.all("i")
    assert marks
    assert {(mark["role"], mark["aria-label"]) for mark in marks} == {("img", "Passed")}


def test_a_pdf_has_language_title_and_outline_and_names_its_accessible_version(release, part):
    reader = PdfReader(release / part / "report.pdf")
    html = (release / part / "report.html").read_text(encoding="utf-8")
    root = reader.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    title = re.search(r"<h1>(.*?)</h1>", html)[1]
    assert reader.metadata.title == title
    first, sections = reader.outline
    assert first.title == title
    assert [entry.title for entry in sections] == re.findall(r"<h2[^>]*>(.*?)</h2>", html)
    pages = [reader.get_destination_page_number(entry) for entry in sections]
    assert pages == sorted(pages)
    assert "The accessible version is report.html" in reader.pages[0].extract_text()
