"""Find a release: for every combination of attribute levels the finest place within the allowed loss.

Each quasi-identifier has a hierarchy of levels, given by files or made up from its categories. The table shows which
combinations no other one beats; the groups of each of them go to the folder, ready for `vbas run --generalise`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.app.inputs import input_paths
from vbas_desktop.app.search import SearchRequest, read_hierarchy_choices, search_release
from vbas_desktop.engine.lattice.table import (
    build_search_document,
    describe_marks,
    describe_search,
    format_front_rows,
)
from vbas_desktop.io.documents.run_file import format_document
from vbas_desktop.model.findings import UsageError
from vbas_desktop.model.progress import SubProgress
from vbas_desktop.releases.search import check_search_target, find_group_formulas
from vbas_desktop.settings.run import RunSettings

from . import options as shared
from .approach_options import add_approach_options
from .arguments import OptionParser, add_options
from .table import align_columns
from .terminal import TerminalProgress, print_findings, say, show

if TYPE_CHECKING:
    from vbas_desktop.engine.lattice.search import LatticeSearchResult

EXAMPLE = """Example:
  vbas search sample_data/records.csv sample_data/regions.geojson --region-column tract \\
      --quasi-identifiers age,sex,marital_status --ladder sample_data/generalise.csv --pin sex --out found"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    shared.add_files(parser)
    add_options(parser, RunSettings, without={"range_step_percent", "range_reach", "pareto_measures"})
    hierarchies = parser.section("hierarchies")
    hierarchies.add_argument(
        "--ladder",
        metavar="FILE",
        action="append",
        default=[],
        help="levels of an attribute: COLUMN=FILE for a hierarchy (value;level1;level2…), or a file with "
        "column,value,group for one level more; repeatable (default: made up from the categories)",
    )
    hierarchies.add_argument(
        "--pin",
        metavar="COLUMN[=LEVEL]",
        action="append",
        default=[],
        help="keep an attribute on one level (default: 0, as it is); repeatable",
    )
    hierarchies.add_argument(
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
    pins = {name: _number("--pin", name, text or "0") for name, text in _pairs(options.pin)}
    minima = {name: _number("--minimum", name, text) for name, text in _pairs(options.minimum)}
    settings, levels = shared.build_settings(options), read_hierarchy_choices(options.ladder)
    target = Path(options.out) if options.out else None
    inputs = tuple(input_paths(vars(options)))
    if target is not None:
        check_search_target(target, inputs)
    with TerminalProgress(options.quiet) as progress:
        data = shared.load_inputs(
            options, settings, settings.quasi_identifiers, SubProgress(progress, 0.0, 0.2)
        )
        request = SearchRequest(settings, data, levels, pins, minima, target, inputs=inputs)
        searched = search_release(request, SubProgress(progress, 0.2, 1.0))
    if not options.quiet:
        print_findings(searched.finest.problem.findings)
        if target is not None:
            print_findings(find_group_formulas(searched, str(target / "groups")))
        for name in levels:
            if name not in settings.quasi_identifiers:
                say(f"warning: “{name}” has a hierarchy but is not a quasi-identifier.")
    show(_format_result(searched, options))
    return 0


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    return [(name, number) for name, _, number in (text.partition("=") for text in texts)]


def _number(option: str, name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{option} {name}: write it as COLUMN=N, where N is a whole number.")
    return int(text)


def _format_result(searched: LatticeSearchResult, options: argparse.Namespace) -> str:
    if options.json:
        return format_document(build_search_document(searched)).rstrip("\n")
    lines = describe_search(searched)
    if searched.front:
        lines += ["", align_columns(format_front_rows(searched)), "", describe_marks(searched)]
    if options.out and searched.recommended is not None:
        number = searched.rows.index(searched.recommended) + 1
        lines.append(f"To release it: vbas run … --generalise {options.out}/groups/{number}.csv")
    return "\n".join(lines)
