"""The figures of the refinements in the reference."""

from xml.etree import ElementTree

from reference_figures import draw_refinements
from reference_pages import write_approaches_page, write_pages

from vbas_desktop.approaches.registry import list_approaches


def test_every_refinement_is_drawn_before_and_after():
    drawn = draw_refinements()
    assert list(drawn) == [name for name in list_approaches("refinement") if name != "none"]
    page, files = write_approaches_page(), write_pages()
    for name, figure in drawn.items():
        assert f"(images/approach-{name}.svg)\n\n*{figure.caption}*" in page
        assert files[f"images/approach-{name}.svg"] == figure.svg
        panels = ElementTree.fromstring(figure.svg).findall("{*}g")
        assert len(panels) == 2
        for panel in panels:
            assert len(panel.findall("{*}g/{*}path")) == 20


def test_boundaries_say_what_they_gain_on_the_example():
    assert (
        "instead of 62 now 15 of 5,439 records are suppressed"
        in draw_refinements()["boundaries"].caption
    )
