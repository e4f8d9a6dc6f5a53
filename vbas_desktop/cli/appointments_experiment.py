"""Measure what planned appointments are worth: random programmes of growing size, or a whole country.

Prints, as a Markdown table, the mean improvement of each planner over random seats, beside the published figures. With
--country, 2.4 million invitations of five regions are planned as 1,410 programmes, with exact improvement.
"""

from __future__ import annotations

import argparse
import time

from vbas_desktop.appointments.experiments import (
    BIRTH_YEARS,
    DEFAULT_CLASS_EXPRESSION,
    SOURCE,
    CountryRow,
    ImprovementRow,
    find_published_gain,
    parse_expression,
    run_country_experiment,
    run_improvement_experiment,
)
from vbas_desktop.appointments.greedy_planner import CLOSEST
from vbas_desktop.appointments.planners import select_parameters
from vbas_desktop.approaches.selection import parse_assignment
from vbas_desktop.model.findings import Finding, InputError, UsageError

from .arguments import OptionParser, argument_type
from .terminal import TerminalProgress, say, show

EXAMPLE = """Examples:
  vbas appointments-experiment --people 20,50,100,250 --programmes 50
  vbas appointments-experiment --people 1000 --classes N/10+5 --programmes 20
  vbas appointments-experiment --country"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--people",
        metavar="N,N",
        default="20,25,30,35,40,45,50,100,250,500,1000",
        help="sizes, separated by commas",
    )
    parser.add_argument(
        "--classes",
        "--slots",
        dest="classes",
        type=argument_type(parse_expression),
        default=DEFAULT_CLASS_EXPRESSION,
        metavar="EXPRESSION",
        help="number of classes (Q in the source) for N people: an expression in N with + − × /, such as N/10+5 "
        f"(default: {DEFAULT_CLASS_EXPRESSION}); --slots is the same",
    )
    parser.add_argument(
        "--programmes", type=int, default=20, metavar="N", help="programmes per size (default: 20)"
    )
    parser.add_argument(
        "--largest-optimal", type=int, default=250, metavar="N", help="largest size for the optimum"
    )
    parser.add_argument(
        "--time-limit", type=float, default=30.0, metavar="S", help="seconds for each optimum"
    )
    parser.add_argument("--country", action="store_true", help="plan a country's invitations instead")
    parser.add_argument(
        "--dates", type=int, default=282, metavar="N", help="dates per region with --country"
    )
    parser.add_argument(
        "--birth-years",
        type=argument_type(_parse_years),
        default=f"{BIRTH_YEARS[0]}-{BIRTH_YEARS[1]}",
        metavar="FIRST-LAST",
        help="birth years of the people with --country (default: 1904-1996, as in the source)",
    )
    parser.add_argument(
        "--set",
        metavar="PLANNER.PARAMETER=VALUE",
        action="append",
        default=[],
        help="heuristic.fill=closest, listing or largest: how the heuristic splits classes; repeatable",
    )
    parser.add_argument(
        "--random-seed",
        metavar="N",
        type=int,
        default=0,
        help="seed of the random programmes (default: 0)",
    )
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def run(options: argparse.Namespace) -> int:
    """Run the experiment and print its table."""
    fill = _fill(options.set)
    progress = TerminalProgress(options.quiet)
    started = time.process_time()
    if options.country:
        rows = run_country_experiment(
            options.dates, options.random_seed, progress, options.birth_years, fill
        )
        progress.close()
        _show_country(rows)
    else:
        sizes = _sizes(options.people)
        effort = (options.programmes, options.largest_optimal, options.time_limit)
        table = run_improvement_experiment(sizes, *effort, progress, options.classes, fill)
        progress.close()
        _show_improvements(table, options.classes.text)
    say(f"{time.process_time() - started:.1f} s of processor time")
    return 0


def _show_improvements(table: list[ImprovementRow], classes: str) -> None:
    """Print the gain of each planner over random plans, beside the published Table 10."""
    columns = (
        "people",
        "heuristic",
        "published",
        "better",
        "optimal",
        "optimal over heuristic",
        "published",
        "proved",
    )
    show(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for line in table:
        known = find_published_gain(classes, line.people)
        ours = [_percent(line.over_random.get(name)) for name in ("heuristic", "better", "optimal")]
        cells = [
            f"{line.people:,}",
            ours[0],
            _percent(known.heuristic_over_random if known is not None else None, digits=0),
            *ours[1:],
            _percent(line.optimal_over_heuristic),
            _percent(known.optimal_over_heuristic if known is not None else None, digits=0),
            f"{line.proved} of {line.programmes}" if line.optimal_over_heuristic is not None else "—",
        ]
        show(f"| {' | '.join(cells)} |")
    if any(find_published_gain(classes, line.people) is not None for line in table):
        say(
            f"Published: {SOURCE}, section 8.1 and Table 10. They are not reproduced: see docs/appointments.md."
        )


def _show_country(rows: list[CountryRow]) -> None:
    """Print Table 11: ours and the published figures beside each other."""
    gains = ("smallest", "published", "largest", "published", "mean", "published")
    columns = ("region", "invitations", "centres", "programmes", *gains)
    show(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for row in rows:
        known = row.published
        pairs = ((row.smallest, known.smallest), (row.largest, known.largest), (row.mean, known.mean))
        cells = [f"{value:.1%}" for pair in pairs for value in pair]
        facts = f"{known.region} | {row.invitations:,} | {known.centres} | {row.programmes}"
        show(f"| {facts} | {' | '.join(cells)} |")
    say(f"Published: {SOURCE}, Table 11. It is not reproduced: see docs/appointments.md.")


def _fill(assignments: list[str]) -> str:
    """Return how the heuristic splits classes."""
    used, unused = select_parameters(dict(map(parse_assignment, assignments)), "heuristic")
    if unused:
        raise UsageError(f"--set {unused[0]}: only heuristic.fill can be set here")
    return used.get("fill", CLOSEST)


def _parse_years(text: str) -> tuple[int, int]:
    """Parse FIRST-LAST."""
    first, _, last = text.replace("–", "-").partition("-")
    if not (
        first.strip().isascii()
        and first.strip().isdigit()
        and last.strip().isascii()
        and last.strip().isdigit()
    ):
        raise ValueError("write two years, such as 1904-1996")
    years = int(first), int(last)
    if not 0 <= years[1] - years[0] < 1000:
        raise ValueError("the last year is not before the first, and there are at most 1,000")
    return years


def _percent(value: float | None, digits: int = 1) -> str:
    return "—" if value is None else f"{value:.{digits}%}"


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 10:
        raise InputError(
            Finding("people", "--people takes whole numbers of at least 10.", "Write 20,50,100.")
        )
    return sizes
