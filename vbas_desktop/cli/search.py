"""Find a release: for every combination of attribute levels the finest place within the allowed loss.

Each quasi-identifier has a ladder of levels, given by files or made up from its categories. The table shows which
combinations no other one beats; the groups of each of them go to the folder, ready for `vbas run --generalise`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.model.errors import UsageError
from vbas_desktop.model.progress import Span
from vbas_desktop.settings.run import RunSettings

from . import options as shared
from .approach_options import add_approach_options
from .arguments import add_settings
from .terminal import TerminalProgress, say, say_findings, show

if TYPE_CHECKING:
    from vbas_desktop.search.run import Searched

EXAMPLE = """Example:
  vbas search sample_data/records.csv sample_data/regions.geojson --region-column tract \\
      --quasi-identifiers age,sex,marital_status --ladder sample_data/generalise.csv --pin sex --out found"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_files(parser)
    add_settings(parser, RunSettings, without={"range_step_percent", "range_reach", "pareto_measures"})
    ladders = parser.add_argument_group("ladders")
    ladders.add_argument(
        "--ladder",
        metavar="FILE",
        action="append",
        default=[],
        help="levels of an attribute: COLUMN=FILE for a hierarchy (value;level1;level2…), or a file with "
        "column,value,group for one level more; repeatable (default: made up from the categories)",
    )
    ladders.add_argument(
        "--pin",
        metavar="COLUMN[=LEVEL]",
        action="append",
        default=[],
        help="keep an attribute on one level (default: 0, as it is); repeatable",
    )
    ladders.add_argument(
        "--minimum",
        metavar="COLUMN=N",
        action="append",
        default=[],
        help="the fewest categories that an attribute must keep; repeatable",
    )
    add_approach_options(parser, without="site_number")
    parser.set_defaults(site_number="limit", generalise=[])
    shared.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Load, search, show, and write what was asked for."""
    from vbas_desktop.jobs.inputs import input_paths
    from vbas_desktop.jobs.search import SearchJob, read_ladders
    from vbas_desktop.release.search import check_search_target
    from vbas_desktop.search.table import group_findings

    pins = {name: _number("--pin", name, text or "0") for name, text in _pairs(options.pin)}
    minima = {name: _number("--minimum", name, text) for name, text in _pairs(options.minimum)}
    settings, levels = shared.settings_of(options), read_ladders(options.ladder)
    target = Path(options.out) if options.out else None
    inputs = tuple(input_paths(vars(options)))
    if target is not None:
        check_search_target(target, inputs)
    with TerminalProgress(options.quiet) as progress:
        data = shared.loaded(options, settings, settings.quasi_identifiers, Span(progress, 0.0, 0.2))
        job = SearchJob(settings, data, levels, pins, minima, target, inputs=inputs)
        searched = job.execute(Span(progress, 0.2, 1.0))
    if not options.quiet:
        say_findings(searched.finest.problem.findings)
        if target is not None:
            say_findings(group_findings(searched, str(target / "groups")))
        for name in levels:
            if name not in settings.quasi_identifiers:
                say(f"warning: “{name}” has a ladder but is not a quasi-identifier.")
    show(_text(searched, options))
    return 0


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    return [(name, number) for name, _, number in (text.partition("=") for text in texts)]


def _number(option: str, name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{option} {name}: write it as COLUMN=N, where N is a whole number.")
    return int(text)


def _text(searched: Searched, options: argparse.Namespace) -> str:
    from vbas_desktop.io.runfile import as_text
    from vbas_desktop.search.table import document, front_rows, marks_in_words, summary_lines

    from .table import aligned

    if options.json:
        return as_text(document(searched)).rstrip("\n")
    lines = summary_lines(searched)
    if searched.front:
        lines += ["", aligned(front_rows(searched)), "", marks_in_words(searched)]
    if options.out and searched.recommended is not None:
        number = searched.rows.index(searched.recommended) + 1
        lines.append(f"To release it: vbas run … --generalise {options.out}/groups/{number}.csv")
    return "\n".join(lines)
