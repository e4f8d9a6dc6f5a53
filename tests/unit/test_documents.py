"""What the documents promise holds: links lead somewhere, and the example of an approach works."""

import re
from pathlib import Path

import pytest

from tests.problem_making import context_for

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sample_data").glob("*.md")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_the_documents_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_approach_of_the_contributing_page_works_as_described():
    examples = re.findall(
        r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    )
    (code,) = [example for example in examples if "(SiteNumber)" in example]
    package = "vbas_desktop.approaches.site_number"
    names = {"__name__": f"{package}.share", "__package__": package}
    exec(compile(code, "share.py", "exec"), names)
    context = context_for([(x, 0) for x in range(25)], [[4]] * 25)
    assert names["ShareSiteNumber"](percent=20.0).approximate(context) == 5
    assert [one.name for one in names["ShareSiteNumber"].options()] == ["percent"]
