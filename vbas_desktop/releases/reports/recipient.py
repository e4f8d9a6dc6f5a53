"""The report for the recipient. It is made from what disclosure control tells; nothing else comes in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vbas_desktop.analysis.risk import measure_risk
from vbas_desktop.approaches.registry import list_approaches
from vbas_desktop.model.findings import Check
from vbas_desktop.model.text import format_count

from ..folder import ReleasedFile
from ..geometry import warn_of_made_up_extent
from ..recipient_facts import PercentRange, RecipientFacts
from .blocks import FOOT, Block, Checks, Figure, Pairs, Paragraph, Report, Section, Table, Tiles
from .choices import (
    CELLS,
    COMPONENTS,
    MAPPED,
    column_blocks,
    describe_coordinates,
    files_table,
    list_filters_for_recipients,
    protection_blocks,
)
from .drawing import Drawing
from .measures import (
    MEASURE_ROWS,
    geography_blocks_for_recipients,
    journalist_risk_for_recipients,
    measure_rows,
    risk_blocks,
)
from .protection import policy_blocks_for_recipients, sensitive_blocks_for_recipients
from .regions import map_caption, region_blocks, tier_blocks
from .representability import attribute_blocks


@dataclass(frozen=True, eq=False)
class RecipientReportFacts:
    """Input of the report for the recipient: facts, representability vector, and form of the released files.

    ``file`` says in words in which form the records are.
    """

    facts: RecipientFacts
    vector: dict[str, Any]
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    map: Drawing
    file: Sequence[tuple[str, str]]
    policy: Mapping[str, Any] | None = None
    population: Mapping[str, Any] | None = None
    with_formulas: bool = False


def build_recipient_report(content: RecipientReportFacts) -> Report:
    """Build the report for the recipient: what the release is, and why it is safe."""
    return Report(
        title="About this release",
        banner="For the recipient of the released file.",
        internal=False,
        sections=tuple(section for section in _sections(content) if section.blocks),
        foot=FOOT,
    )


def _sections(content: RecipientReportFacts) -> Iterable[Section]:
    facts = content.facts
    names = [column.name for column in facts.columns]
    judged = [column.name for column in facts.sensitive if column.criteria]
    safe = protection_blocks(names, facts.k, facts.anonymity, bool(facts.coarser), judged)
    yield Section("In short", (_make_tiles(facts), *safe))
    yield Section("Columns", tuple(column_blocks(facts.k, facts.counted_columns, facts.other_columns)))
    yield Section("Policy", tuple(policy_blocks_for_recipients(content.policy)))
    yield Section("The files", (files_table(content.files),))
    yield Section("What was chosen", (Pairs(_list_choices(content)),))
    yield Section("Places in tiers", tuple(tier_blocks(facts)))
    yield Section("The map", (Figure(content.map, map_caption(facts)),))
    yield Section("Suppressed records", tuple(_suppression_blocks(facts.suppressed)))
    yield Section("What the aggregation costs", (_measure_table(facts),))
    yield Section("Sensitive values", tuple(sensitive_blocks_for_recipients(facts)))
    yield Section(
        "What remains of the geography",
        tuple(geography_blocks_for_recipients(content.vector["overall"])),
    )
    yield Section("Columns in detail", tuple(attribute_blocks(content.vector)))
    journalist = journalist_risk_for_recipients(content.population, facts.whole)
    risks = risk_blocks([("released file", measure_risk(facts.sizes))], journalist, digits=2)
    yield Section("Risk of re-identification", tuple(risks))
    yield Section(
        "Verification", (Checks([(check.passed, check.name, "") for check in content.checks]),)
    )
    yield Section("Remarks", tuple(_remark_blocks(content)))
    yield Section("The aggregated regions", tuple(region_blocks(facts, {})))


def _make_tiles(facts: RecipientFacts) -> Tiles:
    items = [
        (f"{facts.records:,}", "records released"),
        (f"{len(facts.codes):,}", f"aggregated regions, from {len(facts.regions):,} initial ones"),
        *_tier_tile(facts),
        (
            "–" if facts.anonymity is None else f"{facts.anonymity:,}",
            f"records in the smallest class; k is {facts.k:,}",
        ),
        (str(facts.suppressed), "of the file’s records suppressed"),
    ]
    return Tiles(items)


def _tier_tile(facts: RecipientFacts) -> list[tuple[str, str]]:
    if not facts.coarser:
        return []
    share = facts.released_by_region.sum() / max(1, facts.records)
    return [
        (
            f"{100 * share:.1f} %",
            "of them with the code of an aggregated region, the others with that of a larger area",
        )
    ]


def _list_choices(content: RecipientReportFacts) -> list[tuple[str, str]]:
    facts = content.facts
    items = [
        ("k", f"{facts.k:,}: the fewest records that may share a combination of values in a region")
    ]
    items += [
        (
            f"Quasi-identifier “{column.name}”",
            format_count(column.categories, "category")
            + (", values taken together in groups" if column.grouped else ""),
        )
        for column in facts.columns
    ]
    released_region = (
        "the smallest place in which the record may be released"
        if facts.coarser
        else "the aggregated region"
    )
    items.append((f"Region column “{facts.region_column}”", f"the code of {released_region}"))
    if facts.regions.mapping is not None:
        items.append(("Initial regions of the records", MAPPED))
    for component, name in facts.approaches.items():
        kind = list_approaches(component).get(name)
        items.append(
            (
                COMPONENTS[component],
                name if kind is None else f"{kind.metadata.title}: {kind.metadata.summary}",
            )
        )
    if facts.cell_sites is not None:
        items.append(("Shapes", CELLS))
    items += facts.limits
    items.append(("Coordinates", describe_coordinates(facts.regions.system)))
    items += list_filters_for_recipients(facts.chosen_by, facts.left_out)
    return [*items, *content.file]


def _suppression_blocks(share: PercentRange) -> Iterable[Block]:
    if share == PercentRange():
        yield Paragraph(
            "How many records were suppressed, or whether any were, is not stated: in a file of this size any number "
            "could reveal a few people."
        )
    else:
        yield Paragraph(f"Suppressed records in per cent of the file: {share}.")
    yield Paragraph(
        "Which classes and regions they were in is not stated, and no other figure of this release depends on them. A "
        "combination of values that is missing in a region may have none, or anything below k records.",
        quiet=True,
    )


def _measure_table(facts: RecipientFacts) -> Table:
    rows = measure_rows(facts.measures, facts.regions.system, digits=2)
    return Table(
        MEASURE_ROWS, rows, 1, 2, caption="Lower is better for each measure. Two digits are given."
    )


def _remark_blocks(content: RecipientReportFacts) -> Iterable[Block]:
    yield from (Paragraph(finding.message) for finding in warn_of_made_up_extent(content.facts.regions))
    if content.with_formulas:
        yield Paragraph(
            "Some cells start like a formula (= + - @). Open the file as text, not in a spreadsheet program."
        )
