"""Say how an anonymised file differs from its original: what a researcher can still expect of it.

Compares the two by a key column, recognises what was done (deleted, generalised, merged or made-up records), and
reports the representability vector. Numbers of fewer than k records are never shown.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.model.errors import UsageError
from vbas_desktop.settings.forms import names_in, numbers_in, orders_in, pairs_in

from .arguments import Once, whole
from .options import add_reading_options, check_output_folder, reading_of, verdict_lines
from .terminal import TerminalProgress, say, say_findings, show

if TYPE_CHECKING:
    from vbas_desktop.jobs.any_file import Coding

EXAMPLE = """Examples:
  vbas risky sample_data/records.csv --columns age,sex,marital_status,diagnosis -k 3 --apply --out coarsened
  vbas representability sample_data/records.csv coarsened/anonymized.csv --key health_number \\
      --quasi-identifiers age,sex,marital_status -k 3"""


VECTOR_FILES = ("representability.html", "representability.json")
"""What the folder of ``--out`` holds."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("original", metavar="ORIGINAL", help="the file before anonymisation, or an address")
    parser.add_argument("anonymised", metavar="ANONYMISED", help="the file after it, or an address")
    parser.add_argument("--key", metavar="NAME", required=True, help="column that names a record in both files")
    parser.add_argument(
        "--quasi-identifiers", action=Once, metavar="A,B", required=True, help="columns, separated by commas"
    )
    parser.add_argument(
        "--sensitive",
        action=Once,
        metavar="A,B",
        default="",
        help="sensitive columns to describe per class, separated by commas",
    )
    parser.add_argument("-k", type=whole(1), default=5, help="nothing about fewer than k records is shown (default: 5)")
    add_hierarchy_options(parser)
    parser.add_argument(
        "--weights", metavar="A=W,B=W", default="", help="weights of the quasi-identifiers, such as age=0.7,job=0.3"
    )
    add_distance_option(parser)
    parser.add_argument(
        "--crosswalk",
        metavar="FILE",
        help="crosswalk.csv of the release: its places, of all tiers, are the levels of --region-column",
    )
    parser.add_argument("--region-column", metavar="NAME", help="the quasi-identifier that names the region")
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
    parser.add_argument("--requirement", metavar="F", help="JSON file with what a researcher needs: check it")
    parser.add_argument("--out", metavar="DIR", help="folder for representability.json and representability.html")
    parser.add_argument("--json", action="store_true", help="print representability.json")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(options: argparse.Namespace) -> int:
    """Load both files, compare, check, write."""
    from vbas_desktop.assessment.representability.requirement import read_requirement
    from vbas_desktop.assessment.representability.vector import Choices
    from vbas_desktop.io.databases.address import record_place
    from vbas_desktop.io.output import staged_folder
    from vbas_desktop.jobs.any_file import PairJob
    from vbas_desktop.release.report.pages import as_html
    from vbas_desktop.release.report.representability import vector_report

    check_output_folder(options, VECTOR_FILES)
    requirement = read_requirement(options.requirement) if options.requirement else None
    weights = pairs_in(names_in(options.weights), float, "“{}” is no weight.", "Write column=0.5,other=0.5.", "weights")
    weights = weights or (dict(requirement.weights) if requirement else {})
    reasons = pairs_in(options.reason, str, "“{}” gives no reason.", "Write COLUMN=why it is left out.", "reason")
    columns = names_in(options.quasi_identifiers)
    choices = Choices(
        options.k,
        options.key,
        columns,
        names_in(options.sensitive),
        weights,
        reasons,
        aims=pairs_in(options.aim, str, "“{}” gives no aim.", "Write COLUMN=why it was collected.", "aim"),
        meanings=pairs_in(options.meaning, str, "“{}” gives no meaning.", "Write COLUMN=what it means.", "meaning"),
    )
    job = PairJob(
        Path(options.original),
        Path(options.anonymised),
        choices,
        replace(coding_of(options), places=_places(options)),
        Path(options.worst) if options.worst else None,
        requirement,
        reading_of(options),
        reading_of(options, "anonymised-"),
    )
    with TerminalProgress(options.quiet) as progress:
        found = job.execute(progress)
    vector = found.vector
    say_findings(found.findings)
    for warning in vector["warnings"]:
        place = f"column “{warning['column']}”: " if warning.get("column") else ""
        say(f"{warning['severity']}: {place}{warning['message']} {warning['remedy']}".rstrip())
    text = json.dumps(vector, indent=2, ensure_ascii=False)
    if options.out:
        with staged_folder(Path(options.out), VECTOR_FILES) as folder:
            (folder / "representability.json").write_text(text + "\n", encoding="utf-8")
            names = [record_place(place).name for place in (options.original, options.anonymised)]
            page = as_html(vector_report(vector, *names))
            (folder / "representability.html").write_text(page, encoding="utf-8")
        say(f"Written to {options.out}")
    if options.json:
        show(text)
    else:
        _show(vector)
    return 0


def add_hierarchy_options(parser: argparse.ArgumentParser) -> None:
    """Declare ``--hierarchies``, ``--level-weights`` and ``--normalise-levels``."""
    parser.add_argument("--hierarchies", metavar="DIR", help="folder with COLUMN.csv (value;level1;level2…)")
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


def add_distance_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--distances`` and ``--ordinal``."""
    parser.add_argument(
        "--distances", metavar="DIR", help="folder with COLUMN.csv: a square table of the distances between values"
    )
    parser.add_argument(
        "--ordinal",
        metavar="COLUMN[=A/B/C]",
        action="append",
        default=[],
        help="compare the values of a column by their rank in this order (default: the order of the lines of its "
        "hierarchy, or of numbers); repeatable",
    )


def coding_of(options: argparse.Namespace) -> Coding:
    """How the options say that values are generalised."""
    from vbas_desktop.jobs.any_file import Coding

    message, remedy = "“{}” gives no weights of a quasi-identifier’s levels.", "Write COLUMN=0.5/0.3/0.2."
    weights = pairs_in(options.level_weights, numbers_in, message, remedy, "level-weights")
    hierarchies, distances = (Path(one) if one else None for one in (options.hierarchies, options.distances))
    orders = orders_in(options.ordinal)
    return Coding(hierarchies, weights, distances, ordinal=orders, normalise_levels=options.normalise_levels)


def _places(options: argparse.Namespace) -> tuple[str, Path] | None:
    if bool(options.crosswalk) != bool(options.region_column):
        raise UsageError("--crosswalk and --region-column go together.")
    return (options.region_column, Path(options.crosswalk)) if options.crosswalk else None


def _show(vector: dict[str, Any]) -> None:
    general = vector["general"]
    show(f"{_told(general['original_records'])} records before, {_told(general['released_records'])} after")
    for name, records in general["approaches"].items():
        show(f"  {name}: {_told(records)} records")
    for name, value in vector["overall"].items():
        if isinstance(value, str):
            show(f"{name.replace('_', ' ')}: {value}")
        elif value is not None:
            number = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
            show(f"{name.replace('_', ' '):<36}{number:>10}")
    for line in verdict_lines(vector.get("requirement", [])):
        show(line)


def _told(records: int | None) -> str:
    """A number, unless it is below k or one that is could be worked out from it."""
    return "(not told)" if records is None else f"{records:,}"
