"""Write the two reference pages, commands and approaches with its figures, from the program itself: `make docs`.

`python packaging/reference_pages.py FOLDER` writes them; with ``--check`` it names those out of step and ends with 1.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference_figures import EXAMPLE, Figure, draw_constructions, draw_locations, draw_refinements

from vbas_desktop.approaches.interface import Approach, Construction, Refinement, SiteLocation
from vbas_desktop.approaches.registry import COMPONENTS, list_approaches
from vbas_desktop.cli.approaches import describe_allowed
from vbas_desktop.cli.arguments import OptionParser
from vbas_desktop.cli.main import COMMANDS
from vbas_desktop.cli.terminal import say

_MADE = "<!-- Made by `make docs` from the program; changes here are overwritten. -->"


def write_pages() -> dict[str, str]:
    """Return the reference pages and their figures by file name."""
    figures = {
        _figure_file(name): figure.svg for found in _figures().values() for name, figure in found.items()
    }
    return {"commands.md": write_commands_page(), "approaches.md": write_approaches_page(), **figures}


def write_commands_page() -> str:
    """Describe every command of `vbas` with its options and an example."""
    parts = [
        "# Commands",
        _MADE,
        "`vbas` does everything that the window does. Progress goes to the error output, results to the output or to "
        "`--out`. Exit codes: 0 done, 1 the input is wrong, 2 wrong usage, 3 the result did not pass its verification, "
        "130 stopped.",
    ]
    for name in COMMANDS:
        parts += describe_command(name)
    return _page(parts)


def write_approaches_page() -> str:
    """Describe every approach of all components with its formula and parameters."""
    parts = [
        "# Approaches",
        _MADE,
        "One approach is chosen for each component. The names in `code` are those of the options and of "
        "`--set APPROACH.PARAMETER=VALUE`. [All approaches, measured](measured.md) has what each costs and keeps on "
        "Eastern- and Western-like data (`make bench-tables`); what refined regions reveal to an informed adversary is "
        "in [Refinement](refinement.md).",
    ]
    for component, title in COMPONENTS.items():
        known = list_approaches(component)
        rows = [
            [f"`{name}`", kind.metadata.title, kind.metadata.summary] for name, kind in known.items()
        ]
        parts += [f"## {title}", _table(["name", "in the menu", "what it does"], rows)] if rows else []
        parts += [EXAMPLE] if component == SiteLocation.component else []
        for kind in known.values():
            parts += _approach(kind)
    return _page(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages into a folder, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    stale = []
    for name, text in write_pages().items():
        path = options.folder / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path))
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        say(f"{'Out of step, run `make docs`' if options.check else 'Written'}: {', '.join(stale)}")
    return int(options.check and bool(stale))


class RecordingParser(OptionParser):
    """Remembers its arguments, or the parsers of its actions with a line about each, in the order of declaration."""

    def __init__(self, *args: Any, **others: Any) -> None:
        self.arguments: list[argparse.Action] = []
        self.actions: dict[str, tuple[str, RecordingParser]] = {}
        super().__init__(*args, **others)

    def add_argument(self, *names: str, **others: Any) -> argparse.Action:
        """Add an argument and remember it."""
        argument = super().add_argument(*names, **others)
        self.arguments.append(argument)
        return argument

    def section(self, title: str) -> Any:
        """Return a section whose arguments are remembered, too."""
        return RecordingSection(super().section(title), self.arguments)

    def add_subparsers(self, **others: Any) -> Any:
        """Return what adds the parsers of actions and remembers them."""
        return RecordingActions(super().add_subparsers(**others), self.actions)


@dataclass(frozen=True)
class RecordingSection:
    """A section of options that adds what is declared in it to the arguments of its parser."""

    section: Any
    arguments: list[argparse.Action]

    def add_argument(self, *names: str, **others: Any) -> argparse.Action:
        """Add an argument and remember it."""
        argument = self.section.add_argument(*names, **others)
        self.arguments.append(argument)
        return argument


@dataclass(frozen=True)
class RecordingActions:
    """The actions of a command."""

    subparsers: Any
    actions: dict[str, tuple[str, RecordingParser]]

    def add_parser(self, name: str, help: str, **others: Any) -> RecordingParser:
        """Add the parser of an action and remember it."""
        parser = self.subparsers.add_parser(name, help=help, **others)
        self.actions[name] = help, parser
        return parser


def describe_command(name: str) -> Iterable[str]:
    """Yield the parts of a command's section: what it does, an example, its arguments."""
    module = importlib.import_module(f"vbas_desktop.cli.{name.replace('-', '_')}")
    parser = RecordingParser(prog=f"vbas {name}", add_help=False)
    module.configure(parser)
    yield f"## vbas {name}"
    yield inspect.getdoc(module) or COMMANDS[name]
    example = re.sub(r"\Aexamples?:", "", getattr(module, "EXAMPLE", ""), flags=re.IGNORECASE).strip(
        "\n"
    )
    if example:
        yield f"```\n{textwrap.dedent(example).strip()}\n```"
    yield from describe_arguments(parser)


def describe_arguments(parser: RecordingParser) -> Iterable[str]:
    """Yield the table of arguments; of a command with actions, one for each of these."""
    for name, (help, action_parser) in parser.actions.items():
        yield f"### {parser.prog} {name}"
        yield f"{help[:1].upper()}{help[1:]}."
        yield from describe_arguments(action_parser)
    if not parser.actions:
        rows = [
            [_spelling(argument), _meaning(argument)]
            for argument in parser.arguments
            if argument.help != argparse.SUPPRESS and argument.dest != "help"
        ]
        yield _table(["argument", "meaning"], rows)


def _spelling(action: argparse.Action) -> str:
    value = action.metavar or (
        "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    )
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return f"`{value}`"
    return f"`{', '.join(action.option_strings)}{'' if action.nargs == 0 else ' ' + value}`"


def _meaning(action: argparse.Action) -> str:
    known = {
        "default": action.default,
        "choices": ", ".join(map(str, action.choices or ())),
        "prog": "vbas",
    }
    return (action.help or "") % known


def _approach(kind: type[Approach]) -> Iterable[str]:
    metadata = kind.metadata
    yield f"### {metadata.title} (`{metadata.name}`)"
    # A numpydoc section's underline would make a heading of its title.
    yield re.sub(
        r"^(\w[\w ]*)\n-{3,}\n", r"*\1:*\n", inspect.getdoc(kind) or metadata.summary, flags=re.MULTILINE
    )
    figure = _figures().get(kind.component, {}).get(metadata.name)
    if figure is not None:
        yield f"![{metadata.title}]({_figure_file(metadata.name)})"
        yield f"*{figure.caption}*"
    facts = [
        ("When", metadata.when),
        ("Reveals", metadata.discloses),
        ("Formula", metadata.formula and f"`{metadata.formula}`"),
        ("Cost", metadata.complexity),
    ]
    told = [f"- {word}: {text}" for word, text in facts if text]
    if told:
        yield "\n".join(told)
    rows = [
        [f"`{one.name}`", one.help, describe_allowed(one), f"`{one.default}`"] for one in kind.options()
    ]
    if rows:
        yield _table(["parameter", "meaning", "allowed", "default"], rows)


def _figures() -> dict[str, dict[str, Figure]]:
    return {
        SiteLocation.component: draw_locations(),
        Construction.component: draw_constructions(),
        Refinement.component: draw_refinements(),
    }


def _figure_file(name: str) -> str:
    return f"images/approach-{name}.svg"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in line)} |"
        for line in lines
    )


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
