"""The sections on policy, checklist, population, sensitive values and the other released columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vbas_desktop.analysis.policy_evaluation import CriterionStatus, evaluate_policy
from vbas_desktop.io.documents.policies import load_bundled_policies
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.text import format_count

from ..plan import ReleasePlan
from ..policy_figures import compute_policy_figures
from ..recipient_facts import RecipientFacts
from .blocks import Block, Pairs, Paragraph, Table

_HEADINGS = ("criterion", "is", "verdict", "remark")
_CUSTODIAN = "judged by the custodian"


def policy_blocks(plan: ReleasePlan, document: Mapping[str, Any]) -> Iterable[Block]:
    """Judge the release by the chosen policy; without one, by all that come with the program, in a line each."""
    judged = document.get("policy")
    if judged:
        yield from judged_blocks(judged)
        return
    yield Paragraph(
        "No policy was chosen. How the release compares with those that come with the program:"
    )
    figures = compute_policy_figures(plan, document)
    rows = [
        (evaluation.policy.name, evaluation.policy.origin, evaluation.in_words)
        for evaluation in (
            evaluate_policy(policy, figures) for policy in load_bundled_policies().values()
        )
    ]
    yield Table(("policy", "where it comes from", "outcome"), rows, 9)


def judged_blocks(judged: Mapping[str, Any]) -> Iterable[Block]:
    """Yield the outcome, where the policy comes from, and every criterion."""
    yield Paragraph(judged["text"])
    yield Pairs(
        [("Authority", judged["authority"]), ("Source", f"{judged['citation']}, {judged['date']}")]
    )
    yield Paragraph(judged["source"], quiet=True)
    if judged.get("check"):
        yield Paragraph(f"Check before you rely on it: {judged['check']}")
    rows = [
        (
            criterion["criterion"],
            criterion["actual"] or "–",
            criterion["verdict"],
            " ".join(filter(None, (criterion["reason"], criterion["note"]))),
        )
        for criterion in judged["criteria"]
    ]
    missed = frozenset(
        row
        for row, criterion in enumerate(judged["criteria"])
        if criterion["verdict"] == CriterionStatus.MISSED
    )
    yield Table(_HEADINGS, rows, 9, marked=missed)


def policy_blocks_for_recipients(judged: Mapping[str, Any] | None) -> Iterable[Block]:
    """List the criteria, with the outcome of those that the recipient could compute from the release."""
    if not judged:
        return
    yield Paragraph(
        f"The release was judged by the policy “{judged['name']}” ({judged['authority']}: {judged['citation']}, "
        f"{judged['date']})."
    )
    rows = [
        (
            criterion["criterion"],
            (criterion["actual"] or "–", criterion["verdict"])
            if criterion["told"]
            else ("–", _CUSTODIAN),
        )
        for criterion in judged["criteria"]
    ]
    yield Table(_HEADINGS[:3], [(title, *cells) for title, cells in rows], 9)


def checklist_blocks(document: Mapping[str, Any]) -> Iterable[Block]:
    """Yield the choices, every point with evidence and note, and the signature; nothing without a checklist."""
    filled = document.get("policy_checklist")
    if not filled:
        return
    yield Pairs([(entry["question"], entry["answer"] or "not decided") for entry in filled["choices"]])
    if filled.get("outcomes"):
        yield Paragraph(f"These choices lead to: {' '.join(filled['outcomes'])}")
    rows = [
        (
            entry["id"],
            entry["title"],
            entry["state"],
            " ".join(filter(None, (entry["evidence"], entry["note"]))),
        )
        for entry in filled["points"]
    ]
    yield Table(("point", "what", "state", "evidence and notes"), rows, 9)
    left = sum(entry["state"] == "open" for entry in filled["points"])
    if left:
        yield Paragraph(f"{left:,} point{'s are' if left != 1 else ' is'} open.")
    signed = filled["signed_by"]
    yield Paragraph(f"Signed by {signed} on {filled['signed_on']}." if signed else "Not signed.")
    yield from _list_verdicts(document.get("policy"))


def _list_verdicts(judged: Mapping[str, Any] | None) -> Iterable[Block]:
    """Beside the signature: what the program computed, and what nobody did."""
    if not judged:
        yield Paragraph(
            "No policy was chosen, so nothing was judged criterion by criterion.", quiet=True
        )
        return

    def with_verdict(*verdicts: CriterionStatus) -> str:
        chosen = [criterion for criterion in judged["criteria"] if criterion["verdict"] in verdicts]
        return (
            "; ".join(f"{criterion['criterion']} ({criterion['verdict']})" for criterion in chosen)
            or "none"
        )

    yield Pairs(
        [
            (
                f"Computed for “{judged['name']}”",
                with_verdict(CriterionStatus.HELD, CriterionStatus.MISSED),
            ),
            ("Answered by a person", with_verdict(CriterionStatus.ANSWERED)),
            (
                "Computed and answered by nobody",
                with_verdict(CriterionStatus.UNKNOWN, CriterionStatus.ASKED),
            ),
        ]
    )


def population_blocks(document: Mapping[str, Any]) -> Iterable[Block]:
    """Show the risk among all inhabitants; nothing without figures of the population."""
    population = document.get("population")
    if not population:
        return
    yield Pairs(population_rows(population))
    if population["journalist_maximum"] is None:
        yield Paragraph(
            "The inhabitants of a class are estimated by its share of the region’s records. The estimate is no "
            "safeguard: nothing is released because of it, and no policy is held by it.",
            quiet=True,
        )


def population_rows(population: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Inhabitants, sampling fraction, k-map and the journalist's risk, each with its value or why there is none."""
    fraction = population["sampling_fraction"]
    smallest = population["smallest_region"]
    k_map = population["k_map"]
    reason = f"not computed: {population['not_exact_because']}"

    def risk(name: str) -> str:
        exact = population[f"journalist_{name}"]
        estimate = population[f"journalist_{name}_estimated"]
        if exact is not None:
            return f"{exact:.4g}"
        return reason if estimate is None else f"{estimate:.4g} (estimated)"

    return [
        ("Inhabitants known by", population["origin"]),
        ("Inhabitants", f"{population['inhabitants']:,.0f}"),
        ("Sampling fraction", "–" if fraction is None else f"{100 * fraction:.4g} %"),
        ("Fewest inhabitants of a released place", "–" if smallest is None else f"{smallest:,.0f}"),
        ("k-map: fewest inhabitants of a released class", reason if k_map is None else f"{k_map:,}"),
        ("Journalist: highest risk", risk("maximum")),
        ("Journalist: average risk", risk("average")),
    ]


_INTRODUCTION = (
    "Whoever knows that a person is in a released class learns how the sensitive values of that class are spread, even "
    "if no record can be tied to the person. If all of them have the same value, it is revealed."
)
_FIGURES = (
    (
        "largest_share_percent",
        "Largest share of one harmful value",
        "in a released class; at 100 % it is certain",
    ),
    (
        "least_distinct",
        "Fewest different values",
        "in a released class that has a harmful one (distinct l-diversity)",
    ),
    (
        "least_entropy",
        "Least even spread",
        "as a number of equally frequent values (entropy l-diversity)",
    ),
    (
        "largest_closeness",
        "Largest distance from all released records",
        "0 to 1, total variation (t-closeness)",
    ),
    (
        "largest_ordered_closeness",
        "The same along the order of the numbers",
        "0 to 1 (t-closeness, ordered)",
    ),
)


def sensitive_blocks(plan: ReleasePlan) -> Iterable[Block]:
    """Yield every figure and what was suppressed, for the internal report; nothing if no column is sensitive."""
    solution = plan.solution
    if not solution.sensitive:
        return
    yield Paragraph(_INTRODUCTION)
    chosen = {column.column: column.chosen for column in plan.problem.sensitive}
    for name, figures in solution.sensitive.items():
        yield Paragraph(f"“{name}”: {_describe_criteria(chosen[name])}")
        yield Table(("figure", "value", "what it says"), _list_figures(figures), 1, 2)
        yield Paragraph(_describe_disclosed_values(figures))
    if plan.problem.judged_columns:
        yield Paragraph(
            f"{solution.suppressed_sensitive:,} records are in classes of {plan.problem.k:,} or more that were "
            "suppressed because of their sensitive values."
        )


def sensitive_blocks_for_recipients(facts: RecipientFacts) -> Iterable[Block]:
    """Yield what was asked for, and what the released file itself shows, for the recipient."""
    if not facts.sensitive:
        return
    yield Paragraph(_INTRODUCTION)
    for column in facts.sensitive:
        demand = (
            f"every released class has {' and '.join(column.criteria)}"
            if column.criteria
            else "nothing was asked for"
        )
        yield Paragraph(
            f"“{column.name}”: {demand}. Values that were declared harmless do not count as harm."
        )
        if column.figures:
            yield Table(("figure", "value", "what it says"), _list_figures(column.figures), 1, 2)


def _describe_criteria(chosen: SensitiveColumn) -> str:
    demands = " and ".join(criterion.in_words for criterion in chosen.criteria)
    text = f"a class is released only if it has {demands}." if demands else "nothing was asked for."
    benign = ", ".join(f"“{value}”" for value in chosen.benign)
    return f"{text} Benign values: {benign}." if benign else text


def _describe_disclosed_values(figures: Mapping[str, Any]) -> str:
    classes = figures["one_value_classes"]
    records = figures["one_value_records"]
    if not classes:
        return "No released class has one harmful value only."
    return (
        f"In {classes:,} of {figures['classes']:,} released classes all records have the same harmful value: of "
        f"{records:,} people it is revealed."
    )


def _list_figures(figures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (title, _format_figure(name, figures[name]), meaning)
        for name, title, meaning in _FIGURES
        if figures.get(name) is not None
    ]


def _format_figure(name: str, value: float) -> str:
    if name.endswith("percent"):
        return f"{value:.3g} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


WORST = 20
"""So many pairs and triples are listed."""


def last_look_blocks(document: Mapping[str, Any], k: int) -> Iterator[Block]:
    """Tell how many records are in groups below k by columns that are released as they are."""
    last_look = document.get("last_look")
    if last_look is None:
        return
    if not last_look["columns"]:
        yield Paragraph(
            "Only the region and quasi-identifiers are released; there is no other column to test."
        )
        return
    records = max(1, last_look["records"])
    yield Paragraph(
        "k holds for the region and the quasi-identifiers. Somebody who also knows a person’s value in another column "
        f"looks at smaller groups. The table gives the records in groups of fewer than {k:,} by place, "
        "quasi-identifiers and that value, counted in the written file; blank counts as a value."
    )
    rows = [
        (
            column["column"],
            _format_share(column["records_below_k"], records),
            f"{column['unique_records']:,}",
            f"{column['smallest_group']:,}",
        )
        for column in last_look["columns"]
    ]
    headings = (
        "column",
        f"records in groups below {k:,}",
        "records alone in their group",
        "smallest group",
    )
    yield Table(headings, rows)
    if not last_look["compared_with_original"]:
        yield Paragraph(
            "The region or a quasi-identifier is not released, so the written file was not compared with the original: "
            "what columns tell of the place was tested before writing only."
        )
    yield from _combination_blocks(last_look, records, k)


def _combination_blocks(last_look: Mapping[str, Any], records: int, k: int) -> Iterator[Block]:
    if not last_look["pair_tests"]:
        yield Paragraph(
            "Pairs and triples of columns were not tested in the written file (--no-pair-tests)."
        )
        return
    tried = last_look["combinations"]
    not_tried = last_look["combinations_not_tried"]
    yield Paragraph(
        f"{format_count(len(tried), 'combination')} of two or three of these columns were tested, the most "
        "selective first; "
        f"{not_tried:,} were not tried."
    )
    worst = sorted(tried, key=lambda combination: -combination["records_below_k"])[:WORST]
    if worst:
        rows = [
            (" + ".join(combination["columns"]), _format_share(combination["records_below_k"], records))
            for combination in worst
        ]
        caption = f"The {WORST} with most such records." if len(tried) > WORST else ""
        yield Table(("columns together", f"records in groups below {k:,}"), rows, caption=caption)


def _format_share(number: int, records: int) -> str:
    return f"{number:,} ({100 * number / records:.3g} %)"
