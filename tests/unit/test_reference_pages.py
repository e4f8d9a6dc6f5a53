"""The reference pages come from the program, so they cannot miss a command or an approach."""

from xml.etree import ElementTree

from reference_figures import SITES, build_example, draw_constructions, draw_locations
from reference_pages import main, write_approaches_page, write_commands_page

from vbas_desktop.approaches.registry import COMPONENTS, list_approaches
from vbas_desktop.cli.main import COMMANDS


def test_every_command_has_a_section():
    headings = [line for line in write_commands_page().splitlines() if line.startswith("## ")]
    assert headings == [f"## vbas {name}" for name in COMMANDS]


def test_every_approach_has_a_section_and_every_parameter_a_row():
    for component, title in COMPONENTS.items():
        page = write_approaches_page().split(f"\n## {title}\n")[1].split("\n## ")[0]
        for name, kind in list_approaches(component).items():
            assert f"### {kind.metadata.title} (`{name}`)" in page
            section = page.split(f"### {kind.metadata.title} (`{name}`)")[1].split("\n### ")[0]
            assert [one.name for one in kind.options() if f"| `{one.name}` |" not in section] == []


def test_sections_of_docstrings_do_not_become_headings():
    assert [line for line in write_approaches_page().splitlines() if line.startswith("---")] == []


def test_a_changed_page_is_out_of_step_until_it_is_written_again(tmp_path, capsys):
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path), "--check"]) == 0
    page = tmp_path / "approaches.md"
    page.write_text(page.read_text(encoding="utf-8") + "by hand\n", encoding="utf-8")
    capsys.readouterr()
    assert main([str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().err == f"Out of step, run `make docs`: {page}\n"
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path), "--check"]) == 0


def test_every_way_of_placing_sites_is_drawn_on_the_same_example_and_the_drawings_are_checked_too(
    tmp_path,
):
    drawn = draw_locations()
    assert list(drawn) == list(list_approaches("site_location"))
    page = write_approaches_page()
    for name, figure in drawn.items():
        assert f"(images/approach-{name}.svg)\n\n*{figure.caption}*" in page
        panels = ElementTree.fromstring(figure.svg).findall("{*}g")
        assert len(panels) == (2 if name in ("adc", "centroidal", "refine-sites") else 1)
        for panel in panels:
            regions, *_, sites = (path.get("d") for path in panel.findall("{*}path"))
            assert len(panel.findall("{*}g/{*}polygon")) == sites.count("M") == SITES
            assert regions.count("M") == len(build_example().regions)
    main([str(tmp_path)])
    (tmp_path / "images" / "approach-adc.svg").write_text("<svg/>", encoding="utf-8")
    assert main([str(tmp_path), "--check"]) == 1


def test_every_construction_is_drawn_with_what_it_needs():
    drawn, page = draw_constructions(), write_approaches_page()
    assert list(drawn) == list(list_approaches("construction"))
    for name, figure in drawn.items():
        assert f"(images/approach-{name}.svg)\n\n*{figure.caption}*" in page
        panels = ElementTree.fromstring(figure.svg).findall("{*}g")
        assert len(panels) == (2 if name in ("obstacles", "coarsen", "given") else 1)
        last = panels[-1]
        named = {"growth": 16, "crop": 16}.get(name, SITES)
        assert len(last.findall("{*}g/{*}path")) == named
        dots = [path.get("d") for path in last.findall("{*}path") if path.get("stroke-linecap")]
        assert sum(each.count("M") for each in dots) == len(build_example().regions)
    assert "7 initial regions (red) change hands" in drawn["obstacles"].caption
    assert drawn["given"].caption.startswith(
        "Before (left) and after 3 initial regions (red) were moved by hand: "
    )
    assert drawn["coarsen"].caption.startswith("40 regions of an earlier release (left) joined to 20: ")


def test_the_caption_of_a_figure_tells_what_the_engine_found():
    # Written down once from a run; the drawing above it is the same program's.
    assert draw_locations()["density"].caption == (
        "20 sites on 170 initial regions: 77 of 5,439 records are suppressed (k = 5)."
    )
