"""Writes the two reference pages, commands and approaches with its figures, from the program itself: `make docs`.

`python -m vbas_desktop.cli.reference FOLDER` writes them; with ``--check`` it names those out of step and ends with 1.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from vbas_desktop.approaches.base import Approach, Construction, Refinement, SiteLocation
from vbas_desktop.approaches.registry import COMPONENTS, approaches

from .approaches import allowed
from .figures import EXAMPLE, Figure, construction_figures, location_figures, refinement_figures
from .main import COMMANDS
from .terminal import say

_MADE = "<!-- Made by `make docs` from the program; changes here are overwritten. -->"


def pages() -> dict[str, str]:
    """The reference pages and their figures by file name."""
    figures = {_figure_file(name): figure.svg for found in _figures().values() for name, figure in found.items()}
    return {"commands.md": commands_page(), "approaches.md": approaches_page(), **figures}


def commands_page() -> str:
    """Every command of `vbas` with its options and an example."""
    parts = [
        "# Commands",
        _MADE,
        "`vbas` does everything that the window does. Progress goes to the error output, results to the output or to "
        "`--out`. Exit codes: 0 done, 1 the input is wrong, 2 wrong usage, 3 the result did not pass its verification, "
        "130 stopped.",
    ]
    for name in COMMANDS:
        parts += _command(name)
    return _page(parts)


def approaches_page() -> str:
    """Every approach of all components with its formula and parameters."""
    parts = [
        "# Approaches",
        _MADE,
        "One approach is chosen for each component. The names in `code` are those of the options and of "
        "`--set APPROACH.PARAMETER=VALUE`. [All approaches, measured](measured.md) has what each costs and keeps on "
        "Eastern- and Western-like data (`make bench-tables`); what refined regions reveal to an informed adversary is "
        "in [Refinement](refinement.md).",
    ]
    for component, title in COMPONENTS.items():
        known = approaches(component)
        rows = [[f"`{name}`", kind.card.title, kind.card.summary] for name, kind in known.items()]
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
    for name, text in pages().items():
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


def _command(name: str) -> Iterable[str]:
    module = importlib.import_module(f".{name.replace('-', '_')}", __package__)
    parser = argparse.ArgumentParser(prog=f"vbas {name}", add_help=False)
    module.configure(parser)
    yield f"## vbas {name}"
    yield inspect.getdoc(module) or COMMANDS[name]
    example = re.sub(r"\Aexamples?:", "", getattr(module, "EXAMPLE", ""), flags=re.IGNORECASE).strip("\n")
    if example:
        yield f"```\n{textwrap.dedent(example).strip()}\n```"
    yield from _arguments(parser)


def _arguments(parser: argparse.ArgumentParser) -> Iterable[str]:
    """The table of arguments; of a command with actions, one for each of these."""
    parts = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for own in parts:
        help_of = {choice.dest: choice.help for choice in own._choices_actions}
        for name, each in own.choices.items():
            yield f"### {parser.prog} {name}"
            yield f"{(help_of[name] or name)[:1].upper()}{(help_of[name] or name)[1:]}."
            yield from _arguments(each)
    if not parts:
        rows = [
            [_spelling(action), _meaning(action)]
            for action in parser._actions
            if action.help != argparse.SUPPRESS and action.dest != "help"
        ]
        yield _table(["argument", "meaning"], rows)


def _spelling(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return f"`{value}`"
    return f"`{', '.join(action.option_strings)}{'' if action.nargs == 0 else ' ' + value}`"


def _meaning(action: argparse.Action) -> str:
    known = {"default": action.default, "choices": ", ".join(map(str, action.choices or ())), "prog": "vbas"}
    return (action.help or "") % known


def _approach(kind: type[Approach]) -> Iterable[str]:
    card = kind.card
    yield f"### {card.title} (`{card.name}`)"
    # A numpydoc section's underline would make a heading of its title.
    yield re.sub(r"^(\w[\w ]*)\n-{3,}\n", r"*\1:*\n", inspect.getdoc(kind) or card.summary, flags=re.MULTILINE)
    figure = _figures().get(kind.component, {}).get(card.name)
    if figure is not None:
        yield f"![{card.title}]({_figure_file(card.name)})"
        yield f"*{figure.caption}*"
    facts = [
        ("When", card.when),
        ("Reveals", card.reveals),
        ("Formula", card.formula and f"`{card.formula}`"),
        ("Cost", card.complexity),
    ]
    told = [f"- {word}: {text}" for word, text in facts if text]
    if told:
        yield "\n".join(told)
    rows = [[f"`{one.name}`", one.help, allowed(one), f"`{one.default}`"] for one in kind.parameters()]
    if rows:
        yield _table(["parameter", "meaning", "allowed", "default"], rows)


def _figures() -> dict[str, dict[str, Figure]]:
    return {
        SiteLocation.component: location_figures(),
        Construction.component: construction_figures(),
        Refinement.component: refinement_figures(),
    }


def _figure_file(name: str) -> str:
    return f"images/approach-{name}.svg"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
