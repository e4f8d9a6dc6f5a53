"""Run the experiments of the thesis (its tables 7 to 18) on generated data and check its claims.

DIR receives the tables (CSV and Markdown), the claims (claims.md), and everything that `vbas compare` writes. With
--reference, a CSV of the published tables, both are set side by side: numbers of sites, measures as ratios. Finished
combinations are kept beside DIR, so that a stopped run goes on where it ended.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.domain.progress import Progress, Span

from .compare import plan_in_words
from .errors import UsageError
from .options import whole
from .terminal import TerminalProgress, say, show

if TYPE_CHECKING:
    from vbas_desktop.domain.regions import Regions
    from vbas_desktop.files.records import RecordTable

HELP = "run the thesis' experiments and check its claims"
EXAMPLE = """Examples:
  vbas reproduce-thesis --like eastern --out east
  vbas reproduce-thesis --like western --reference published.csv --out west"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--like", choices=("eastern", "western"), required=True, help="which half of the tables")
    parser.add_argument("--out", metavar="DIR", required=True, type=Path, help="folder for the tables")
    parser.add_argument("--reference", metavar="FILE", type=Path, help="CSV of the published tables to compare with")
    parser.add_argument("--records", metavar="FILE", help="records to use in place of generated ones")
    parser.add_argument("--regions", metavar="FILE", help="regions to use in place of generated ones")
    parser.add_argument(
        "--generalise", metavar="FILE", help="groups for --records (default: generalise.csv beside the records)"
    )
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
    parser.add_argument("--random-seed", metavar="N", type=whole(0), default=0, help="seed of all random draws")
    parser.add_argument("--workers", metavar="N", type=whole(0), default=0, help="threads; 0 = as many as cores")
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks")


def run(options: argparse.Namespace) -> int:
    """Generate, run what is missing, write, say which claims are held."""
    from vbas_desktop.comparison.run import count_scenarios, prepare, run_prepared
    from vbas_desktop.comparison.store import Store
    from vbas_desktop.comparison.thesis import read_reference, thesis_plan
    from vbas_desktop.files.generalise import read_generalisation
    from vbas_desktop.release.comparison import check_comparison_target, store_beside
    from vbas_desktop.release.thesis import write_reproduction

    check_comparison_target(options.out)
    published = read_reference(options.reference, options.like) if options.reference else []
    progress = TerminalProgress(options.quiet)
    try:
        folder = _data(options, Span(progress, 0.0, 0.1))
        groupings = read_generalisation(options.generalise or str(folder / "generalise.csv"))
        plan = thesis_plan(options.like, groupings, "region", options.workers, options.random_seed)
        _check_groups(plan.scenarios, groupings)
        table, regions = _read(options, folder, Span(progress, 0.1, 0.2))
        problems = count_scenarios(plan, table, regions, Span(progress, 0.2, 0.25))
        keeper = Store(store_beside(options.out))
        prepared = prepare(plan, problems, keeper, progress)
        if not options.quiet:
            say(plan_in_words(prepared))
        comparison = run_prepared(prepared, keeper, Span(progress, 0.25, 1.0))
        lines = write_reproduction(comparison, options.like, published, options.out)
    finally:
        progress.close()
    show("\n".join([*lines, "", f"Written to {options.out}: tables, claims.md, comparison.csv, summary.html, charts"]))
    return 0


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number") from None
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1")
    return share


def _data(options: argparse.Namespace, progress: Progress) -> Path:
    """The folder of the data: generated beside the target unless files are named."""
    from vbas_desktop.files.generate import generate
    from vbas_desktop.files.generate_spec import load_spec

    if (options.records is None) != (options.regions is None):
        raise UsageError("--records and --regions go together: name both files or none.")
    if options.records is not None:
        return Path(options.records).absolute().parent
    spec = load_spec(options.like)
    folder: Path = options.out.absolute().with_name(f"{options.out.name}.data")
    sizes = _sizes(options.like, options.share)
    generate(spec, folder, records=sizes[0], regions=sizes[1], progress=progress)
    return folder


def _sizes(like: str, share: float) -> tuple[int | None, int | None]:
    from vbas_desktop.files.generate_spec import load_spec

    if share == 1.0:
        return None, None
    spec = load_spec(like)
    assert spec.records is not None
    return max(1, round(spec.records * share)), max(1, round((spec.regions.count or 1) * share))


def _read(options: argparse.Namespace, folder: Path, progress: Progress) -> tuple[RecordTable, Regions]:
    from vbas_desktop.files.records import load_records
    from vbas_desktop.files.regions import RegionOptions, load_regions

    where = RegionOptions(coordinates=options.coordinates)
    regions = load_regions(options.regions or folder / "regions.csv", where, Span(progress, 0.0, 0.1))
    table = load_records(options.records or folder / "records.csv", progress=Span(progress, 0.1, 1.0))
    return table, regions


def _check_groups(scenarios: tuple[object, ...], groupings: tuple[object, ...]) -> None:
    if len(scenarios) != 6:
        raise InputError(
            Finding(
                "groups",
                f"{len(groupings):,} columns have groups, but not one of each selection of the thesis.",
                "Give groups for the column age at least.",
            )
        )
