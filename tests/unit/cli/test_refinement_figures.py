"""The figures of the refinements in the reference."""

from xml.etree import ElementTree

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.cli.figures import refinement_figures
from vbas_desktop.cli.reference import approaches_page, pages


def test_every_refinement_is_drawn_before_and_after():
    drawn = refinement_figures()
    assert list(drawn) == [name for name in approaches("refinement") if name != "none"]
    page, files = approaches_page(), pages()
    for name, figure in drawn.items():
        assert f"(images/approach-{name}.svg)\n\n*{figure.caption}*" in page
        assert files[f"images/approach-{name}.svg"] == figure.svg
        panels = ElementTree.fromstring(figure.svg).findall("{*}g")
        assert len(panels) == 2
        for panel in panels:
            assert len(panel.findall("{*}g/{*}path")) == 20


def test_boundaries_say_what_they_gain_on_the_example():
    assert "instead of 62 now 15 of 5,439 records are suppressed" in refinement_figures()["boundaries"].caption
