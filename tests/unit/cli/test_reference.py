"""The reference pages come from the program, so they cannot miss a command or an approach."""

from vbas_desktop.approaches.registry import COMPONENTS, approaches
from vbas_desktop.cli.main import COMMANDS
from vbas_desktop.cli.reference import approaches_page, commands_page, main


def test_every_command_has_a_section():
    headings = [line for line in commands_page().splitlines() if line.startswith("## ")]
    assert headings == [f"## vbas {name}" for name in COMMANDS]


def test_every_approach_has_a_section_and_every_parameter_a_row():
    for component, title in COMPONENTS.items():
        page = approaches_page().split(f"\n## {title}\n")[1].split("\n## ")[0]
        for name, kind in approaches(component).items():
            assert f"### {kind.card.title} (`{name}`)" in page
            section = page.split(f"### {kind.card.title} (`{name}`)")[1].split("\n### ")[0]
            assert [one.name for one in kind.parameters() if f"| `{one.name}` |" not in section] == []


def test_sections_of_docstrings_do_not_become_headings():
    assert [line for line in approaches_page().splitlines() if line.startswith("---")] == []


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
