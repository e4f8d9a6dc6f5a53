"""The report for the recipient. It is made from what disclosure control tells; nothing else comes in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vbas_desktop.approaches.registry import approaches
from vbas_desktop.assessment.risk import risk_of
from vbas_desktop.model.errors import Check
from vbas_desktop.model.words import counted
from vbas_desktop.release.disclosure import Share, Told
from vbas_desktop.release.folder import ReleasedFile
from vbas_desktop.release.geometry import made_up_extent
from vbas_desktop.release.selection import selection_for_recipients

from .attributes import attribute_blocks
from .blocks import FOOT, Block, Checks, Figure, Pairs, Paragraph, Report, Section, Table, Tiles
from .drawing import Drawing
from .place import recipients_place
from .policy import recipients_policy
from .ratings import MEASURE_ROWS, journalist_told, measure_rows, risk_blocks
from .sensitive import recipients_sensitive
from .shared import column_blocks, files_table, map_caption, region_blocks, why_safe
from .tiers import tier_blocks
from .wording import CELLS, COMPONENTS, MAPPED, coordinates


@dataclass(frozen=True, eq=False)
class Papers:
    """What the report is made of: what is told, the vector made from it, and what the released files are like.

    ``file`` says in words in which form the records are.
    """

    told: Told
    vector: dict[str, Any]
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    map: Drawing
    file: Sequence[tuple[str, str]]
    policy: Mapping[str, Any] | None = None
    population: Mapping[str, Any] | None = None
    with_formulas: bool = False


def recipients_report(papers: Papers) -> Report:
    """What this release is and why it is safe."""
    return Report(
        title="About this release",
        banner="For the recipient of the released file.",
        internal=False,
        sections=tuple(section for section in _sections(papers) if section.blocks),
        foot=FOOT,
    )


def _sections(papers: Papers) -> Iterable[Section]:
    told = papers.told
    names = [column.name for column in told.columns]
    judged = [each.name for each in told.sensitive if each.criteria]
    safe = why_safe(names, told.k, told.anonymity, bool(told.coarser), judged)
    yield Section("In short", (_tiles(told), *safe))
    yield Section("Columns", tuple(column_blocks(told.k, told.counted_columns, told.other_columns)))
    yield Section("Policy", tuple(recipients_policy(papers.policy)))
    yield Section("The files", (files_table(papers.files),))
    yield Section("What was chosen", (Pairs(_choices(papers)),))
    yield Section("Places in tiers", tuple(tier_blocks(told)))
    yield Section("The map", (Figure(papers.map, map_caption(told)),))
    yield Section("Suppressed records", tuple(_suppressed(told.suppressed)))
    yield Section("What the aggregation costs", (_measures(told),))
    yield Section("Sensitive values", tuple(recipients_sensitive(told)))
    yield Section("What remains of the geography", tuple(recipients_place(papers.vector["overall"])))
    yield Section("Columns in detail", tuple(attribute_blocks(papers.vector)))
    journalist = journalist_told(papers.population, told.whole)
    risks = risk_blocks([("released file", risk_of(told.sizes))], journalist, digits=2)
    yield Section("Risk of re-identification", tuple(risks))
    yield Section("Verification", (Checks([(check.passed, check.name, "") for check in papers.checks]),))
    yield Section("Remarks", tuple(_remarks(papers)))
    yield Section("The aggregated regions", tuple(region_blocks(told, {})))


def _tiles(told: Told) -> Tiles:
    items = [
        (f"{told.records:,}", "records released"),
        (f"{len(told.codes):,}", f"aggregated regions, from {len(told.regions):,} initial ones"),
        *_tier_tile(told),
        ("–" if told.anonymity is None else f"{told.anonymity:,}", f"records in the smallest class; k is {told.k:,}"),
        (str(told.suppressed), "of the file’s records suppressed"),
    ]
    return Tiles(items)


def _tier_tile(told: Told) -> list[tuple[str, str]]:
    if not told.coarser:
        return []
    share = told.released_by_region.sum() / max(1, told.records)
    return [
        (
            f"{100 * share:.1f} %",
            "of them with the code of an aggregated region, the others with that of a larger place",
        )
    ]


def _choices(papers: Papers) -> list[tuple[str, str]]:
    told = papers.told
    items = [("k", f"{told.k:,}: the fewest records that may share a combination of values in a region")]
    items += [
        (
            f"Quasi-identifier “{column.name}”",
            counted(column.categories, "category") + (", values taken together in groups" if column.grouped else ""),
        )
        for column in told.columns
    ]
    place = "the smallest place in which the record may be told" if told.coarser else "the aggregated region"
    items.append((f"Region column “{told.region_column}”", f"the code of {place}"))
    if told.regions.mapping is not None:
        items.append(("Initial regions of the records", MAPPED))
    for component, name in told.approaches.items():
        kind = approaches(component).get(name)
        items.append((COMPONENTS[component], name if kind is None else f"{kind.card.title}: {kind.card.summary}"))
    if told.cell_sites is not None:
        items.append(("Shapes", CELLS))
    items += told.limits
    items.append(("Coordinates", coordinates(told.regions.system)))
    items += selection_for_recipients(told.chosen_by, told.left_out)
    return [*items, *papers.file]


def _suppressed(share: Share) -> Iterable[Block]:
    if share == Share():
        yield Paragraph(
            "How many records were suppressed, or whether any were, is not stated: in a file of this size any number "
            "could tell of a few people."
        )
    else:
        yield Paragraph(f"Suppressed records in per cent of the file: {share}.")
    yield Paragraph(
        "Which classes and regions they were in is not told, and no other figure of this release depends on them. A "
        "combination of values that is missing in a region may have none, or anything below k records.",
        quiet=True,
    )


def _measures(told: Told) -> Table:
    rows = measure_rows(told.measures, told.regions.system.unit, digits=2)
    return Table(MEASURE_ROWS, rows, 1, 2, caption="Lower is better for each measure. Two digits are given.")


def _remarks(papers: Papers) -> Iterable[Block]:
    yield from (Paragraph(finding.message) for finding in made_up_extent(papers.told.regions))
    if papers.with_formulas:
        yield Paragraph(
            "Some cells start like a formula (= + - @). Open the file as text, not in a spreadsheet program."
        )
