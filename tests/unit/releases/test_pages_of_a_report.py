"""How a report is set on pages: no heading stands alone at the end of one."""

import io

import pytest
from pypdf import PdfReader

from vbas_desktop.releases.reports.blocks import Checks, Figure, Pairs, Paragraph, Report, Section, Table
from vbas_desktop.releases.reports.drawing import Drawing
from vbas_desktop.releases.reports.pdf import render_pdf

HEADING = "What the heading announces"
BLOCKS = {
    "table": Table(("measure", "value"), [(f"row {n}", f"{n}") for n in range(60)]),
    "pairs": Pairs([(f"name {n}", "what stands for it " * 6) for n in range(30)]),
    "text": Paragraph("A sentence of some length. " * 12),
    "checks": Checks([(True, f"point {n}", "") for n in range(20)]),
    "figure": Figure(Drawing(400, 200), "What is drawn"),
}


def lines_of(report):
    """The lines of each page but for its number."""
    pages = PdfReader(io.BytesIO(render_pdf(report))).pages
    texts = [page.extract_text().splitlines() for page in pages]
    return [
        [line.strip() for line in lines if line.strip() and not line.strip().isdecimal()]
        for lines in texts
    ]


@pytest.mark.parametrize("kind", BLOCKS)
def test_no_heading_is_alone_at_the_end_of_a_page(kind):
    reached = set()
    for lines in range(20, 44):
        filling = [Paragraph(f"line {n}") for n in range(lines)]
        sections = [Section("Before", filling), Section(HEADING, [BLOCKS[kind]])]
        report = Report("A report", "For the test", False, sections, "The end")
        pages = lines_of(report)
        assert HEADING not in [page[-1] for page in pages]
        reached |= {number for number, page in enumerate(pages) if HEADING in page}
    assert reached == {0, 1}, "the heading was moved over the end of a page"
