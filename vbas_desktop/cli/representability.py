"""Say how an anonymised file differs from its original: what a researcher can still expect of it.

Compares the two by a key column, recognises what was done (deleted, generalised, merged or made-up records), and
reports the representability vector. Numbers of fewer than k records are never shown.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.analysis.representability.requirement import read_requirement
from vbas_desktop.app.representability import (
    Generalisation,
    RepresentabilityRequest,
    measure_representability,
)
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.output import staged_folder
from vbas_desktop.model.findings import UsageError
from vbas_desktop.releases.reports.html import render_html
from vbas_desktop.releases.reports.representability import build_vector_report
from vbas_desktop.settings.codecs import parse_names, parse_numbers, parse_orders, parse_pairs

from .arguments import Once, OptionParser, whole
from .options import add_reading_options, build_reading, check_output_folder, format_verdicts
from .terminal import TerminalProgress, print_findings, say, show

EXAMPLE = """Examples:
  vbas risky sample_data/records.csv --columns age,sex,marital_status,diagnosis -k 3 --apply --out coarsened
  vbas representability sample_data/records.csv coarsened/anonymized.csv --key health_number \\
      --quasi-identifiers age,sex,marital_status -k 3"""


VECTOR_FILES = ("representability.html", "representability.json")
"""What the folder of ``--out`` holds."""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "original", metavar="ORIGINAL", help="the file before anonymisation, or an address"
    )
    parser.add_argument("anonymised", metavar="ANONYMISED", help="the file after it, or an address")
    parser.add_argument(
        "--key", metavar="NAME", required=True, help="column that names a record in both files"
    )
    parser.add_argument(
        "--quasi-identifiers",
        action=Once,
        metavar="A,B",
        required=True,
        help="columns, separated by commas",
    )
    parser.add_argument(
        "--sensitive",
        action=Once,
        metavar="A,B",
        default="",
        help="sensitive columns to describe per class, separated by commas",
    )
    parser.add_argument(
        "-k", type=whole(1), default=5, help="nothing about fewer than k records is shown (default: 5)"
    )
    add_hierarchy_options(parser)
    parser.add_argument(
        "--weights",
        metavar="A=W,B=W",
        default="",
        help="weights of the quasi-identifiers, such as age=0.7,job=0.3",
    )
    add_distance_option(parser)
    parser.add_argument(
        "--crosswalk",
        metavar="FILE",
        help="crosswalk.csv of the release: its places, of all tiers, are the levels of --region-column",
    )
    parser.add_argument(
        "--region-column", metavar="NAME", help="the quasi-identifier that names the region"
    )
    add_reading_options(parser, "ORIGINAL (and of --worst)")
    add_reading_options(parser, "ANONYMISED", "anonymised-")
    parser.add_argument(
        "--worst",
        metavar="FILE",
        help="the most distorted version of ORIGINAL, file or address: Davies–Bouldin is normalised by it (default: a "
        "worst case that follows from ORIGINAL alone)",
    )
    parser.add_argument(
        "--reason",
        metavar="COLUMN=TEXT",
        action="append",
        default=[],
        help="why a column is not in ANONYMISED, or why a quasi-identifier is; repeatable",
    )
    parser.add_argument(
        "--aim",
        metavar="COLUMN=TEXT",
        action="append",
        default=[],
        help="why a left out column or a quasi-identifier was collected; repeatable",
    )
    parser.add_argument(
        "--meaning",
        metavar="COLUMN=TEXT",
        action="append",
        default=[],
        help="what the values of a quasi-identifier mean, in your own words; repeatable",
    )
    parser.add_argument(
        "--requirement", metavar="F", help="JSON file with what a researcher needs: check it"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder for representability.json and representability.html"
    )
    parser.add_argument("--json", action="store_true", help="print representability.json")
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def run(options: argparse.Namespace) -> int:
    """Load both files, compare, check, write."""
    check_output_folder(options, VECTOR_FILES)
    requirement = read_requirement(options.requirement) if options.requirement else None
    weights = parse_pairs(
        parse_names(options.weights),
        float,
        "“{}” is not a weight.",
        "Write column=0.5,other=0.5.",
        "weights",
    )
    weights = weights or (dict(requirement.weights) if requirement else {})
    reasons = parse_pairs(
        options.reason, str, "“{}” gives no reason.", "Write COLUMN=why it is left out.", "reason"
    )
    columns = parse_names(options.quasi_identifiers)
    choices = RepresentabilityOptions(
        options.k,
        options.key,
        columns,
        parse_names(options.sensitive),
        weights,
        reasons,
        aims=parse_pairs(
            options.aim, str, "“{}” gives no aim.", "Write COLUMN=why it was collected.", "aim"
        ),
        meanings=parse_pairs(
            options.meaning, str, "“{}” gives no meaning.", "Write COLUMN=what it means.", "meaning"
        ),
    )
    request = RepresentabilityRequest(
        Path(options.original),
        Path(options.anonymised),
        choices,
        replace(build_generalisation(options), crosswalk=_get_crosswalk(options)),
        Path(options.worst) if options.worst else None,
        requirement,
        build_reading(options),
        build_reading(options, "anonymised-"),
    )
    with TerminalProgress(options.quiet) as progress:
        result = measure_representability(request, progress)
    vector = result.vector
    print_findings(result.findings)
    for warning in vector["warnings"]:
        position = f"column “{warning['column']}”: " if warning.get("column") else ""
        say(f"{warning['severity']}: {position}{warning['message']} {warning['remedy']}".rstrip())
    text = json.dumps(vector, indent=2, ensure_ascii=False)
    if options.out:
        with staged_folder(Path(options.out), VECTOR_FILES) as folder:
            (folder / "representability.json").write_text(text + "\n", encoding="utf-8")
            names = [parse_address(file).name for file in (options.original, options.anonymised)]
            page = render_html(build_vector_report(vector, *names))
            (folder / "representability.html").write_text(page, encoding="utf-8")
        say(f"Written to {options.out}")
    if options.json:
        show(text)
    else:
        _show(vector)
    return 0


def add_hierarchy_options(parser: OptionParser) -> None:
    """Declare ``--hierarchies``, ``--level-weights`` and ``--normalise-levels``."""
    parser.add_argument(
        "--hierarchies", metavar="DIR", help="folder with COLUMN.csv (value;level1;level2…)"
    )
    parser.add_argument(
        "--level-weights",
        metavar="COLUMN=A/B/C",
        action="append",
        default=[],
        help="weights of the levels of a hierarchy from the lowest up, adding up to 1; repeatable",
    )
    parser.add_argument(
        "--normalise-levels",
        action="store_true",
        help="compare the levels of all columns on one scale: |h − Gmin| / |Gmax − Gmin|, where Gmin and Gmax are the "
        "smallest and the largest number of levels below suppression",
    )


def add_distance_option(parser: OptionParser) -> None:
    """Declare ``--distances`` and ``--ordinal``."""
    parser.add_argument(
        "--distances",
        metavar="DIR",
        help="folder with COLUMN.csv: a square table of the distances between values",
    )
    parser.add_argument(
        "--ordinal",
        metavar="COLUMN[=A/B/C]",
        action="append",
        default=[],
        help="compare the values of a column by their rank in this order (default: the order of the lines of its "
        "hierarchy, or of numbers); repeatable",
    )


def build_generalisation(options: argparse.Namespace) -> Generalisation:
    """Build from the options how values are generalised and compared."""
    message = "“{}” does not give weights for a quasi-identifier’s levels."
    remedy = "Write COLUMN=0.5/0.3/0.2."
    weights = parse_pairs(options.level_weights, parse_numbers, message, remedy, "level-weights")
    hierarchies = Path(options.hierarchies) if options.hierarchies else None
    distances = Path(options.distances) if options.distances else None
    orders = parse_orders(options.ordinal)
    return Generalisation(
        hierarchies, weights, distances, ordinal=orders, normalise_levels=options.normalise_levels
    )


def _get_crosswalk(options: argparse.Namespace) -> tuple[str, Path] | None:
    """Return the region column and its crosswalk; None without. Raises `UsageError` if only one of them is given."""
    if bool(options.crosswalk) != bool(options.region_column):
        raise UsageError("--crosswalk and --region-column go together.")
    return (options.region_column, Path(options.crosswalk)) if options.crosswalk else None


def _show(vector: dict[str, Any]) -> None:
    general = vector["general"]
    before = _format_count(general["original_records"])
    after = _format_count(general["released_records"])
    show(f"{before} records before, {after} after")
    for name, records in general["approaches"].items():
        show(f"  {name}: {_format_count(records)} records")
    for name, value in vector["overall"].items():
        if isinstance(value, str):
            show(f"{name.replace('_', ' ')}: {value}")
        elif value is not None:
            number = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
            show(f"{name.replace('_', ' '):<36}{number:>10}")
    for line in format_verdicts(vector.get("requirement", [])):
        show(line)


def _format_count(records: int | None) -> str:
    """Format a number of records; None is one below k, or one that such a number follows from."""
    return "(not stated)" if records is None else f"{records:,}"
