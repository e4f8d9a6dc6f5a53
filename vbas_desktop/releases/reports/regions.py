"""The sections on the aggregated regions, their tiers and the map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.text import format_count
from vbas_desktop.model.tiers import FIRST_TIER, NAME

from ..plan import ReleasedPartition
from ..recipient_facts import FallbackExample, RecipientFacts
from ..tables import code_order
from .blocks import LONGEST, Block, Paragraph, Table, rows_left_out


def region_table(
    partition: ReleasedPartition,
    order: Sequence[int],
    columns: Mapping[str, Callable[[int], str]],
    caption: str = "",
) -> Table:
    """List the aggregated regions in this order: code, name if they have any, and what each column says of a number."""
    names = partition.names
    name_columns: dict[str, Callable[[int], str]] = {"aggregated region": partition.codes.__getitem__}
    if names is not None:
        name_columns[NAME] = names.__getitem__
    all_columns = {**name_columns, **columns}
    rows = [[text(number) for text in all_columns.values()] for number in order[:LONGEST]]
    return Table(tuple(all_columns), rows, len(name_columns), caption=caption)


def format_counts(numbers: NDArray[np.integer]) -> Callable[[int], str]:
    """Make a column of `region_table` with the number of each region."""
    return lambda region: f"{numbers[region]:,}"


def region_blocks(
    partition: ReleasedPartition, columns: Mapping[str, Callable[[int], str]]
) -> Iterator[Block]:
    """Yield all aggregated regions with initial regions and released records; ``columns`` tell more of each."""
    own = {
        "initial regions": format_counts(partition.members_by_region),
        "records released": format_counts(partition.released_by_region),
    }
    order = code_order(partition)
    yield region_table(partition, order, {**own, **columns})
    yield from rows_left_out(len(order), "aggregated_regions.csv")


def map_caption(partition: ReleasedPartition) -> str:
    """Describe what the map shows."""
    polygons = partition.regions.polygons is not None
    shapes = "the polygons of the region file" if polygons else "cells around the points"
    if partition.cell_sites is not None:
        shapes = "the Voronoi cells of their sites, clipped to the study area"
    return f"The {len(partition.codes):,} aggregated regions, drawn from {shapes}. Colours only distinguish neighbours."


_MORE = " There may also be more, with sensitive values that must not be released."


def tier_blocks(facts: RecipientFacts) -> Iterator[Block]:
    """Yield the tiers in words, in a table and in an example; nothing without tiers."""
    if not facts.coarser:
        return
    yield Paragraph(
        "Every record has the code of one place: the smallest in which its combination of values may be released. A "
        f"combination that fewer than {facts.k:,} records of an aggregated region have is released in a larger area "
        "that the region lies in, where records of several regions come together. crosswalk.csv has a column for each "
        "tier, and aggregated_regions.csv the larger area (parent) of each code."
    )
    yield _tier_table(facts)
    yield Paragraph(
        "To count by larger areas, replace each code by the one that its place lies in (a code that is large enough "
        "already stays), and add up. For a place and a combination the sum is exact if the release lists the "
        "combination under that place’s own code, or if every aggregated region inside it lists it or lies in a "
        "smaller place that does. Otherwise it is a lower bound: what is missing was none, or could not be told there "
        "and is under a code of a higher tier, or suppressed."
    )
    yield Paragraph(
        "That a combination is missing under a code proves nothing: in each aggregated region that does not list it "
        f"there may be none, or any number below {facts.k:,}, whatever is listed under larger areas."
        f"{_MORE if any(column.criteria for column in facts.sensitive) else ''}",
        quiet=True,
    )
    if facts.example is not None:
        yield Paragraph(f"Example. {_describe_example(facts.example)}")


def _tier_table(facts: RecipientFacts) -> Table:
    titles = (FIRST_TIER, *(tier.title for tier in facts.coarser))
    rows = [
        (
            f"{number}",
            title,
            tier.codes[0] if len(tier.codes) == 1 else f"{min(tier.codes)} … {max(tier.codes)}",
            f"{len(tier.codes):,}",
            f"{int(tier.released_by_region.sum()):,}",
            f"{100 * tier.released_by_region.sum() / max(1, facts.records):.1f} %",
        )
        for number, (title, tier) in enumerate(zip(titles, facts.tiers, strict=True))
    ]
    return Table(
        ("tier", "what its places are", "codes", "places", "records", "share of the release"), rows, 3
    )


def _describe_example(example: FallbackExample) -> str:
    values = ", ".join(f"{name} {value}" for name, value in example.values.items())
    text = (
        f"{format_count(example.records, 'record')} with {values} have the code {example.code}: they live "
        "somewhere in its "
        f"{format_count(example.regions, 'aggregated region')}"
    )
    if not example.inside:
        return f"{text}. None of these regions lists the combination itself, so these are all that {example.code} has."
    records_inside = list(example.inside.items())
    listed = ", ".join(f"{code} {records:,}" for code, records in records_inside[:5])
    more = f" and {len(records_inside) - 5:,} more" if len(records_inside) > 5 else ""
    total = example.records + sum(example.inside.values())
    return (
        f"{text}, but in none of those that list the combination themselves ({listed}{more}). In all, {example.code} "
        f"has {total:,} of it: {example.records:,} under its own code and {sum(example.inside.values()):,} under codes "
        "inside it."
    )
