"""How a recipient reads a release in tiers: what the codes are, how to sum them, and an example from the release."""

from __future__ import annotations

from collections.abc import Iterator

from vbas_desktop.model.tiers import FIRST_TIER
from vbas_desktop.model.words import counted
from vbas_desktop.release.disclosure import Example, Told

from .blocks import Block, Paragraph, Table

_MORE = " There may also be more, with sensitive values that must not be told."


def tier_blocks(told: Told) -> Iterator[Block]:
    """The tiers in words, in a table and in an example; nothing without tiers."""
    if not told.coarser:
        return
    yield Paragraph(
        "Every record has the code of one place: the smallest in which its combination of values may be told. A "
        f"combination that fewer than {told.k:,} records of an aggregated region have is told in a larger place that "
        "the region lies in, where records of several regions come together. crosswalk.csv has a column for each tier, "
        "and aggregated_regions.csv the larger place (parent) of each code."
    )
    yield _table(told)
    yield Paragraph(
        "To count by larger places, replace each code by the one that its place lies in (a code that is large enough "
        "already stays), and add up. For a place and a combination the sum is exact if the release lists the "
        "combination under that place’s own code, or if every aggregated region inside it lists it or lies in a "
        "smaller place that does. Otherwise it is a lower bound: what is missing was none, or could not be told there "
        "and is under a code of a higher tier, or suppressed."
    )
    yield Paragraph(
        "That a combination is missing under a code proves nothing: in each aggregated region that does not list it "
        f"there may be none, or any number below {told.k:,}, whatever is listed under larger places."
        f"{_MORE if any(each.criteria for each in told.sensitive) else ''}",
        quiet=True,
    )
    if told.example is not None:
        yield Paragraph(f"Example. {_example(told.example)}")


def _table(told: Told) -> Table:
    titles = (FIRST_TIER, *(tier.title for tier in told.coarser))
    rows = [
        (
            f"{number}",
            title,
            tier.codes[0] if len(tier.codes) == 1 else f"{min(tier.codes)} … {max(tier.codes)}",
            f"{len(tier.codes):,}",
            f"{int(tier.released_by_region.sum()):,}",
            f"{100 * tier.released_by_region.sum() / max(1, told.records):.1f} %",
        )
        for number, (title, tier) in enumerate(zip(titles, told.tiers, strict=True))
    ]
    return Table(("tier", "what its places are", "codes", "places", "records", "share of the release"), rows, 3)


def _example(example: Example) -> str:
    values = ", ".join(f"{name} {value}" for name, value in example.values.items())
    text = (
        f"{counted(example.records, 'record')} with {values} have the code {example.code}: they live somewhere in its "
        f"{counted(example.regions, 'aggregated region')}"
    )
    if not example.inside:
        return f"{text}. None of these regions lists the combination itself, so these are all that {example.code} has."
    shown = list(example.inside.items())
    listed = ", ".join(f"{code} {records:,}" for code, records in shown[:5])
    more = f" and {len(shown) - 5:,} more" if len(shown) > 5 else ""
    total = example.records + sum(example.inside.values())
    return (
        f"{text}, but in none of those that list the combination themselves ({listed}{more}). In all, {example.code} "
        f"has {total:,} of it: {example.records:,} under its own code and {sum(example.inside.values()):,} under codes "
        "inside it."
    )
