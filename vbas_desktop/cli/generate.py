"""Make synthetic records and regions with known counts, for trying things out.

DIR receives records.csv, regions.csv, codebook.csv (how many records have each category) and, if the spec has groups,
generalise.csv (column, value, group). The same spec, options and seed always give the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vbas_desktop.app.inputs import input_paths
from vbas_desktop.io.synthetic.generate import generate
from vbas_desktop.io.synthetic.marginals import ATTRIBUTE_MODELS, DEPENDENT, load_spec_with_attributes
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.text import format_count

from .arguments import OptionParser, whole
from .terminal import TerminalProgress, say

EXAMPLE = """Examples:
  vbas generate --like eastern --out east
  vbas generate --like central --attributes independent --records 500000 --regions 900 --out central
  vbas generate --like pei --regions sample_data/regions.geojson --records 100000 --labels text --out mine
  vbas generate --like sample_data/spec.toml --out sample"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--like",
        required=True,
        metavar="WHAT",
        help="eastern, central, western, pei, or a spec file (docs/file-formats.md)",
    )
    parser.add_argument(
        "--attributes",
        choices=ATTRIBUTE_MODELS,
        default=DEPENDENT,
        help="how the attributes of eastern, central, western and pei are drawn: dependent on each other by invented "
        "rules, or each independently by published marginals (default: %(default)s)",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for the files")
    parser.add_argument("--records", type=whole(1), metavar="N", help="number of records")
    parser.add_argument(
        "--regions", metavar="N|FILE", help="number of invented regions, or a region file to use"
    )
    parser.add_argument(
        "--seed", type=whole(0), metavar="N", help="another seed than the one of the spec"
    )
    parser.add_argument(
        "--generalised", action="store_true", help="write groups in place of the categories"
    )
    parser.add_argument(
        "--labels", choices=("text", "codes"), help="write labels or numbers (default: as the spec says)"
    )
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def run(options: argparse.Namespace) -> int:
    """Generate, and say what was written."""
    with TerminalProgress(options.quiet) as progress:
        made = generate(
            load_spec_with_attributes(options.like, options.attributes),
            options.out,
            records=options.records,
            regions=_regions(options.regions),
            seed=options.seed,
            generalised=options.generalised,
            labels=options.labels,
            inputs=input_paths(vars(options)),
            progress=progress,
        )
    if not options.quiet:
        what = f"{format_count(made.records, 'record')} in {format_count(made.regions, 'region')}"
        say(f"{made.folder}: {what} ({', '.join(made.files)})")
    return 0


def _regions(text: str | None) -> int | Path | None:
    if text is None:
        return None
    if Path(text).exists():
        return Path(text)
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise InputError(
        Finding(
            "missing-file",
            "--regions is neither a positive number nor a file.",
            "Check the path.",
            file=text,
        )
    )
