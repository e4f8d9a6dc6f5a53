"""Plan a screening so that its data base is anonymous by construction.

People with equal quasi-identifiers are given the same centre and time as far as seats allow, so that the appointment
does not single anyone out later. Writes plan.json, plan.csv and appointments.csv into the folder given with --out.
"""

from __future__ import annotations

import argparse
import json

from vbas_desktop.app.appointments import PlanRequest, plan_appointments
from vbas_desktop.appointments import inputs, outputs
from vbas_desktop.appointments.planners import create_planner, select_parameters
from vbas_desktop.approaches.selection import parse_assignment
from vbas_desktop.io.regions.reader import load_regions
from vbas_desktop.model.findings import Finding, InputError, UsageError
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.codecs import parse_names

from .arguments import Once, OptionParser
from .options import add_reading_options, build_reading, check_output_folder
from .terminal import TerminalProgress, say, show

EXAMPLE = """Example:
  vbas appointments sample_data/people.csv sample_data/slots.csv --quasi-identifiers postcode,sex,age \\
      --id-column id --planner better --out plan"""


def configure(parser: OptionParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "people",
        metavar="PEOPLE",
        help="CSV or address: one row per person (or per class, --count-column)",
    )
    parser.add_argument(
        "slots", metavar="SLOTS", help="CSV with centre, time, capacity, optionally region, x, y"
    )
    parser.add_argument(
        "--quasi-identifiers",
        action=Once,
        metavar="A,B",
        required=True,
        help="columns of the people file, separated by commas",
    )
    parser.add_argument(
        "--id-column",
        metavar="NAME",
        help="column that names the person in appointments.csv (default: row number, which an address does not have)",
    )
    parser.add_argument(
        "--count-column",
        metavar="NAME",
        help="the people file lists classes; this column says how many people each has",
    )
    parser.add_argument(
        "--planner",
        default="heuristic",
        help="heuristic, better, optimal or random (default: heuristic)",
    )
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for better and optimal")
    parser.add_argument(
        "--set",
        metavar="PLANNER.PARAMETER=VALUE",
        action="append",
        default=[],
        help="a parameter of a planner, such as heuristic.fill=closest, listing or largest: how classes that fit into "
        "no slot are split; repeatable",
    )
    parser.add_argument(
        "--random-seed", metavar="N", type=int, default=0, help="seed of the random plan (default: 0)"
    )
    limits = parser.section("side constraints")
    limits.add_argument(
        "--region-column",
        metavar="NAME",
        help="column of the people file with their region; part of the class then",
    )
    limits.add_argument("--same-region", action="store_true", help="only slots of one's own region")
    limits.add_argument("--regions", metavar="FILE", help="region file with the points of the regions")
    limits.add_argument(
        "--within-km", type=float, metavar="D", help="only slots within this distance of one's region"
    )
    limits.add_argument(
        "--group-column",
        metavar="NAME",
        help="quasi-identifier whose values are groups for the next three options",
    )
    limits.add_argument(
        "--majority",
        metavar="VALUE",
        help="group that is not limited: the next two options are about all other groups together (all planners)",
    )
    limits.add_argument(
        "--max-share",
        type=float,
        metavar="X",
        help="largest share of the people in a slot for all groups but the majority together (default: 0.15); without "
        "a majority, largest share of the seats for one group (default: 1; planner optimal)",
    )
    limits.add_argument(
        "--min-groups",
        type=int,
        metavar="G",
        help="fewest different groups beside the majority wherever there are any (default: 3); without a majority, "
        "fewest groups in a slot that is used (default: 1; planner optimal)",
    )
    parser.add_argument(
        "--cannot-attend", metavar="ID", help="list other slots for this person, best first"
    )
    parser.add_argument(
        "--plan", metavar="DIR", help="with --cannot-attend: folder of the plan in force"
    )
    add_reading_options(parser, "PEOPLE")
    parser.add_argument("--out", metavar="DIR", help="folder to write the plan to")
    parser.add_argument("--json", action="store_true", help="print plan.json")
    parser.add_argument("--quiet", action="store_true", help="hide progress")


def run(options: argparse.Namespace) -> int:
    """Load, plan, rate, write."""
    if options.majority is not None and options.group_column is None:
        raise UsageError("--majority goes with --group-column")
    if options.max_share is None:
        options.max_share = 1.0 if options.majority is None else inputs.DEFAULT_OTHERS_SHARE
    if options.min_groups is None:
        options.min_groups = 1 if options.majority is None else inputs.DEFAULT_OTHER_GROUPS
    if not 0.0 < options.max_share <= 1.0 or options.min_groups < 1:
        raise InputError(
            Finding(
                "limits", "A share is above 0 and at most 1; groups are at least 1.", "Correct them."
            )
        )
    check_output_folder(options, outputs.PLAN_FILES)
    progress = TerminalProgress(options.quiet)
    how = {"time_limit": options.time_limit, "random_seed": options.random_seed}
    create_planner(options.planner, **how)  # A wrong name is told before anything is read.
    parameters, unused = select_parameters(dict(map(parse_assignment, options.set)), options.planner)
    if unused:
        raise UsageError(f"--set {unused[0]}: the planner {options.planner} does not use it")
    names = parse_names(options.quasi_identifiers)
    columns = inputs.PeopleColumns(names, options.id_column, options.region_column, options.count_column)
    slots = inputs.load_slots(options.slots)
    people = inputs.load_people(options.people, columns, build_reading(options), progress)
    if options.out or options.cannot_attend is not None:
        outputs.require_ids(people)
    regions = load_regions(options.regions, progress=progress) if options.regions else None
    constraints = inputs.SideConstraints(
        options.same_region,
        options.within_km,
        options.group_column,
        options.max_share,
        options.min_groups,
        options.majority,
    )
    request = PlanRequest(
        people, slots, constraints, regions, options.planner, **how, parameters=parameters
    )
    if options.cannot_attend is not None:
        task = request.build_task()
        plan = (
            outputs.read_plan(options.plan, task, people)
            if options.plan
            else request.make_plan(task, progress)
        )
        progress.close()
        for slot, vector in outputs.find_alternatives(task, people, plan, options.cannot_attend):
            show(f"{' '.join(task.slot_labels[slot])}  anonymity vector {vector}")
        return 0
    assessment = plan_appointments(request, progress)
    if options.out:
        outputs.write_plan(assessment, people, options.out, progress)
    progress.close()
    if options.json:
        show(json.dumps(assessment.as_dict(), indent=2))
        return 0
    _show(assessment)
    if options.out:
        say(f"Written to {options.out}")
    return 0


def _show(assessment: outputs.PlanAssessment) -> None:
    facts = assessment.as_dict()
    show(f"{format_count(facts['people'], 'person')} of {format_count(facts['classes'], 'class')}")
    show(f"{format_count(facts['seats'], 'seat')} in {format_count(facts['slots'], 'slot')}")
    show(f"before appointments  {assessment.task.before}")
    show(f"{facts['planner']:<19}  {assessment.plan.vector}  k = {facts['k']}  ({facts['proof']})")
    show(f"random               {assessment.random.vector}  k = {assessment.random.vector.k}")
    if facts["largest_other_share"] is not None:
        where = format_count(facts["slots_with_other_groups"], "slot")
        show(
            f"other groups than the majority are in {where}, at most {facts['largest_other_share']:.1%} of one"
        )
    exactness = "exactly" if facts["improvement_exact"] else f"± {facts['improvement_error']:.1g}"
    show(f"improvement over random  {facts['improvement']:.2%} ({exactness})")
