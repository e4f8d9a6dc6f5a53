"""The policies that releases are judged by.

`list` shows those that come with the program, `show` one of them or one of your own with its criteria and where it
comes from, `check` says what is wrong with a file (exit code 1), `template` makes a file to change. A policy is used
with --policy ID or --policy FILE in `vbas run`, `vbas export` and `vbas verify`. `strategies` shows the strategic
choices of the checklist and what each combination of them leads to.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.checklist import load_checklist
from vbas_desktop.analysis.policy_evaluation import describe_policy
from vbas_desktop.io.documents.policies import (
    find_policy,
    load_bundled_policies,
    load_policy_text,
    read_policy,
)
from vbas_desktop.io.output import write_text
from vbas_desktop.model.text import format_count

from .arguments import OptionParser
from .options import add_replace_option, check_output_file
from .terminal import show

if TYPE_CHECKING:
    from vbas_desktop.model.policies import Policy

EXAMPLE = """Example:
  vbas policies list
  vbas policies template class-11 --out ours.toml
  vbas policies check ours.toml"""


def configure(parser: OptionParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    listing = actions.add_parser("list", help="the policies that come with the program")
    one = actions.add_parser("show", help="one policy with its criteria and its source")
    one.add_argument("policy", metavar="ID|FILE", help="the id of a policy, or its file")
    check = actions.add_parser("check", help="list what is wrong with a policy file")
    check.add_argument("file", metavar="FILE", help="the file")
    template = actions.add_parser("template", help="print or write a file that can be changed")
    template.add_argument(
        "policy", metavar="ID|FILE", nargs="?", default="", help="copy this one (default: an example)"
    )
    template.add_argument("--out", metavar="FILE", help="write it to this file (default: print it)")
    add_replace_option(template)
    strategies = actions.add_parser(
        "strategies", help="the strategic choices and what their combinations lead to"
    )
    for each in (listing, one, strategies):
        each.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Do what was asked for."""
    actions = {
        "list": _list,
        "show": _show,
        "check": _check,
        "template": _template,
        "strategies": _strategies,
    }
    return actions[options.action](options)


def _list(options: argparse.Namespace) -> int:
    policies = list(load_bundled_policies().values())
    if options.json:
        show(json.dumps([_policy_as_dict(policy) for policy in policies], indent=2, ensure_ascii=False))
        return 0
    width = max(len(policy.id) for policy in policies)
    show("\n".join(f"{policy.id.ljust(width)}  {policy.name} ({policy.date})" for policy in policies))
    return 0


def _show(options: argparse.Namespace) -> int:
    policy = find_policy(options.policy)
    if options.json:
        show(json.dumps(_policy_as_dict(policy), indent=2, ensure_ascii=False))
        return 0
    criteria = [
        f"{number}. {demand.text}{' [a person answers]' if demand.question else ''}"
        + (f"\n   {demand.note}" if demand.note else "")
        for number, demand in enumerate(policy.criteria, start=1)
    ]
    look_up = [f"Check before you rely on it: {policy.check}"] if policy.check else []
    show(
        "\n".join(
            [f"{policy.name} ({policy.id})", policy.origin, policy.source, *look_up, "", *criteria]
        )
    )
    return 0


def _check(options: argparse.Namespace) -> int:
    policy = read_policy(Path(options.file))
    show(
        f"{options.file}: “{policy.name}”, {format_count(len(policy.criteria), 'criterion', 'criteria')}; "
        "nothing is wrong."
    )
    return 0


def _template(options: argparse.Namespace) -> int:
    text = load_policy_text(options.policy)
    if options.out:
        check_output_file(options, Path(options.out))
        write_text(Path(options.out), text)
    else:
        show(text.rstrip("\n"))
    return 0


def _strategies(options: argparse.Namespace) -> int:
    found = load_checklist()
    if options.json:
        document = {
            "choices": [asdict(each) for each in found.choices],
            "combinations": [asdict(each) for each in found.combinations],
        }
        show(json.dumps(document, indent=2, ensure_ascii=False))
        return 0
    lines = [f"{each.question} {' or '.join(each.options)}. {each.help}" for each in found.choices]
    for combination in found.combinations:
        chosen = [combination.choices.get(each.id, "either") for each in found.choices]
        lines += ["", " · ".join(chosen), *(f"  - {outcome}" for outcome in combination.outcomes)]
    show("\n".join(lines))
    return 0


def _policy_as_dict(policy: Policy) -> dict[str, Any]:
    return {
        **describe_policy(policy),
        "criteria": [
            {"question": demand.question, "answer": demand.answer}
            if demand.question
            else {
                name: getattr(demand, name)
                for name in ("measure", "of", "comparison", "threshold", "note")
            }
            for demand in policy.criteria
        ],
    }
