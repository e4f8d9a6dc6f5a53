"""Run the experiments of the thesis (its tables 7 to 22) on generated data and check its claims.

DIR receives the tables (CSV and Markdown; suppressed.md has a column for each approach), the claims (claims.md), and
everything that `vbas compare` writes. The published tables come with the program and are set side by side with the
computed ones: numbers of sites, measures as ratios; --reference names a CSV of others. Of central Canada none are
published. Attributes are drawn independently of each other as in section 5.1.1 of the thesis, by published marginals
that stand in for its microdata, or with --attributes dependent by rules that tie them together. With --also, further
approaches are in the tables. Finished combinations are kept beside DIR, so that a stopped run goes on where it ended.
With --like pei it is the comparison with seeded growth (tables 19 to 22).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from vbas_desktop.app.reproduce import (
    IslandRequest,
    ReproduceRequest,
    reproduce_island,
    reproduce_tables,
)
from vbas_desktop.engine.comparison.summary import describe_estimate
from vbas_desktop.io.synthetic.marginals import ATTRIBUTE_MODELS, INDEPENDENT
from vbas_desktop.io.synthetic.spec import BUILT_IN
from vbas_desktop.model.findings import UsageError
from vbas_desktop.settings.codecs import parse_names

from .arguments import OptionParser, whole
from .options import add_reading_options, build_reading
from .terminal import TerminalProgress, say, show

EXAMPLE = """Examples:
  vbas reproduce-thesis --like eastern --out thesis-east
  vbas reproduce-thesis --like western --attributes dependent --out thesis-west
  vbas reproduce-thesis --like central --share 0.1 --out thesis-central
  vbas reproduce-thesis --like eastern --also refine-sites,boundaries --out thesis-and-more
  vbas reproduce-thesis --like pei --out thesis-pei"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument("--like", choices=BUILT_IN, required=True, help="which of the tables")
    parser.add_argument(
        "--attributes",
        choices=ATTRIBUTE_MODELS,
        default=INDEPENDENT,
        help="how generated records are drawn: each attribute independently by published marginals, or dependent on "
        "each other by invented rules (default: %(default)s)",
    )
    parser.add_argument("--out", metavar="DIR", required=True, type=Path, help="folder for the tables")
    parser.add_argument(
        "--reference",
        metavar="FILE",
        type=Path,
        help="CSV of published tables to compare with, in place of those that come with the program",
    )
    parser.add_argument(
        "--records", metavar="FILE", type=Path, help="records to use in place of generated ones"
    )
    parser.add_argument(
        "--regions", metavar="FILE", type=Path, help="regions to use in place of generated ones"
    )
    parser.add_argument(
        "--generalise",
        metavar="FILE",
        help="groups for --records (default: generalise.csv beside the records)",
    )
    add_reading_options(parser, "--records")
    parser.add_argument(
        "--coordinates",
        choices=("degrees", "geographic", "planar", "auto"),
        default="degrees",
        help="how the regions' coordinates are taken; the thesis computed in raw degrees (default: %(default)s)",
    )
    parser.add_argument(
        "--share",
        metavar="X",
        type=_share,
        default=1.0,
        help="generate this share of the records and regions, for a quick try; numbers of sites then differ",
    )
    parser.add_argument(
        "--also",
        metavar="NAMES",
        type=parse_names,
        default=(),
        help="further approaches for the tables, with commas: locations, and refinements of balanced density "
        "(--also refine-sites,centroidal,density-peaks,boundaries); not with --like pei",
    )
    parser.add_argument(
        "--random-seed", metavar="N", type=whole(0), default=0, help="seed of all random draws"
    )
    parser.add_argument(
        "--workers", metavar="N", type=whole(0), default=0, help="threads; 0 = as many as cores"
    )
    parser.add_argument("--quiet", action="store_true", help="hide progress and remarks")


def run(options: argparse.Namespace) -> int:
    """Generate the data, run what is missing, write the tables, and print which claims hold."""
    if (options.records is None) != (options.regions is None):
        raise UsageError("--records and --regions go together: name both files or none.")
    names = (
        *("like", "attributes", "records", "regions", "generalise", "reference", "coordinates", "share"),
        *("random_seed", "workers"),
    )
    given = {name: getattr(options, name) for name in names}
    given |= {"target": options.out, "reading": build_reading(options)}
    if options.like == "pei" and options.also:
        raise UsageError("--also does not go with --like pei, which has tables of its own.")
    tell = None if options.quiet else lambda prepared: say(describe_estimate(prepared))
    with TerminalProgress(options.quiet) as progress:
        if options.like == "pei":
            lines, written = (
                reproduce_island(IslandRequest(**given), progress),
                "tables.md, side-by-side.csv, claims.md",
            )
        else:
            lines = reproduce_tables(ReproduceRequest(**given, also=options.also), progress, tell).lines
            written = "claims.md, comparison.csv, summary.html, charts"
    show("\n".join([*lines, "", f"Written to {options.out}: tables, {written}"]))
    return 0


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number") from None
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1")
    return share
