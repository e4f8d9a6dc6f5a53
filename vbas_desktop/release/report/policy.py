"""The policy that a release was judged by, criterion by criterion; the checklist; and the inhabitants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vbas_desktop.assessment.policies import Verdict, judge
from vbas_desktop.io.policies import bundled
from vbas_desktop.release.judging import figures_of
from vbas_desktop.release.plan import Plan

from .blocks import Block, Pairs, Paragraph, Table

_HEADINGS = ("criterion", "is", "verdict", "remark")
_CUSTODIAN = "judged by the custodian"


def policy_blocks(plan: Plan, document: Mapping[str, Any]) -> Iterable[Block]:
    """How the release fares by the chosen policy; without one, by all that come with the program, in a line each."""
    judged = document.get("policy")
    if judged:
        yield from judged_blocks(judged)
        return
    yield Paragraph("No policy was chosen. How the release fares by those that come with the program:")
    figures = figures_of(plan, document)
    rows = [
        (each.policy.name, each.policy.origin, each.in_words)
        for each in (judge(one, figures) for one in bundled().values())
    ]
    yield Table(("policy", "where it comes from", "outcome"), rows, 9)


def judged_blocks(judged: Mapping[str, Any]) -> Iterable[Block]:
    """The outcome, where the policy comes from, and every criterion."""
    yield Paragraph(judged["text"])
    yield Pairs([("Authority", judged["authority"]), ("Source", f"{judged['citation']}, {judged['date']}")])
    yield Paragraph(judged["source"], quiet=True)
    if judged.get("check"):
        yield Paragraph(f"Check before you rely on it: {judged['check']}")
    rows = [
        (
            each["criterion"],
            each["actual"] or "–",
            each["verdict"],
            " ".join(filter(None, (each["reason"], each["note"]))),
        )
        for each in judged["criteria"]
    ]
    missed = frozenset(at for at, each in enumerate(judged["criteria"]) if each["verdict"] == Verdict.MISSED)
    yield Table(_HEADINGS, rows, 9, marked=missed)


def recipients_policy(judged: Mapping[str, Any] | None) -> Iterable[Block]:
    """What the recipient is told: the criteria, and the outcome of those that follow from what he has."""
    if not judged:
        return
    yield Paragraph(
        f"The release was judged by the policy “{judged['name']}” ({judged['authority']}: {judged['citation']}, "
        f"{judged['date']})."
    )
    rows = [
        (each["criterion"], (each["actual"] or "–", each["verdict"]) if each["told"] else ("–", _CUSTODIAN))
        for each in judged["criteria"]
    ]
    yield Table(_HEADINGS[:3], [(criterion, *told) for criterion, told in rows], 9)


def checklist_blocks(document: Mapping[str, Any]) -> Iterable[Block]:
    """The choices, every point with evidence and note, and the signature; nothing if no checklist was filled in."""
    filled = document.get("policy_checklist")
    if not filled:
        return
    yield Pairs([(each["question"], each["answer"] or "not decided") for each in filled["choices"]])
    if filled.get("outcomes"):
        yield Paragraph(f"These choices lead to: {' '.join(filled['outcomes'])}")
    rows = [
        (each["id"], each["title"], each["state"], " ".join(filter(None, (each["evidence"], each["note"]))))
        for each in filled["points"]
    ]
    yield Table(("point", "what", "state", "evidence and notes"), rows, 9)
    left = sum(each["state"] == "open" for each in filled["points"])
    if left:
        yield Paragraph(f"{left:,} point{'s are' if left != 1 else ' is'} open.")
    signed = filled["signed_by"]
    yield Paragraph(f"Signed by {signed} on {filled['signed_on']}." if signed else "Not signed.")
    yield from _signed_for(document.get("policy"))


def _signed_for(judged: Mapping[str, Any] | None) -> Iterable[Block]:
    """Beside the signature: what the program computed, and what nobody did."""
    if not judged:
        yield Paragraph("No policy was chosen, so nothing was judged criterion by criterion.", quiet=True)
        return

    def with_verdict(*verdicts: Verdict) -> str:
        chosen = [each for each in judged["criteria"] if each["verdict"] in verdicts]
        return "; ".join(f"{each['criterion']} ({each['verdict']})" for each in chosen) or "none"

    yield Pairs(
        [
            (f"Computed for “{judged['name']}”", with_verdict(Verdict.HELD, Verdict.MISSED)),
            ("Answered by a person", with_verdict(Verdict.ANSWERED)),
            ("Computed and answered by nobody", with_verdict(Verdict.UNKNOWN, Verdict.ASKED)),
        ]
    )


def population_blocks(document: Mapping[str, Any]) -> Iterable[Block]:
    """What the inhabitants say of the release; nothing if none are known."""
    found = document.get("population")
    if not found:
        return
    yield Pairs(population_rows(found))
    if found["journalist_maximum"] is None:
        yield Paragraph(
            "The inhabitants of a class are estimated by its share of the region’s records. The estimate is no "
            "safeguard: nothing is released because of it, and no policy is held by it.",
            quiet=True,
        )


def population_rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Inhabitants, sampling fraction, k-map and the journalist's risk, each with its value or why there is none."""
    fraction, smallest, k_map = found["sampling_fraction"], found["smallest_region"], found["k_map"]
    none = f"not computed: {found['not_exact_because']}"

    def risk(name: str) -> str:
        exact, estimate = found[f"journalist_{name}"], found[f"journalist_{name}_estimated"]
        if exact is not None:
            return f"{exact:.4g}"
        return none if estimate is None else f"{estimate:.4g} (estimated)"

    return [
        ("Inhabitants known by", found["origin"]),
        ("Inhabitants", f"{found['inhabitants']:,.0f}"),
        ("Sampling fraction", "–" if fraction is None else f"{100 * fraction:.4g} %"),
        ("Fewest inhabitants of a released place", "–" if smallest is None else f"{smallest:,.0f}"),
        ("k-map: fewest inhabitants of a released class", none if k_map is None else f"{k_map:,}"),
        ("Journalist: highest risk", risk("maximum")),
        ("Journalist: average risk", risk("average")),
    ]
