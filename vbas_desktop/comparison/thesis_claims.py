"""What the thesis claims about its tables, checked one by one on any rows of the same form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .thesis import LOCATIONS, Cell

HELD_FROM = 0.9
"""A claim about all rows is held if it is true of at least this share of the pairs that differ."""

Pair = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """A sentence, and how to find the pairs (smaller, larger if the claim is right) that decide about it.

    ``ties_agree``: the claim says "not higher", so that equal values speak for it.
    """

    sentence: str
    pairs: Callable[[Sequence[Cell]], Iterable[Pair]]
    ties_agree: bool = False


@dataclass(frozen=True)
class Verdict:
    """What the rows say: how many pairs agree, are equal, disagree; the sum of the first by the sum of the second."""

    claim: Claim
    agree: int
    equal: int
    disagree: int
    ratio_of_sums: float | None

    @property
    def share(self) -> float | None:
        """The share of the pairs that agree; equal ones count only where the claim allows them."""
        agree = self.agree + (self.equal if self.claim.ties_agree else 0)
        decided = agree + self.disagree
        return agree / decided if decided else None

    @property
    def held(self) -> bool | None:
        """Whether the claim is held; None if nothing decides about it."""
        return None if self.share is None else self.share >= HELD_FROM


def check_claim(claim: Claim, cells: Sequence[Cell]) -> Verdict:
    """Check one claim on rows."""
    pairs = list(claim.pairs(cells))
    agree, equal = sum(a < b for a, b in pairs), sum(a == b for a, b in pairs)
    below = sum(b for _, b in pairs)
    ratio = sum(a for a, _ in pairs) / below if below else None
    return Verdict(claim, agree, equal, len(pairs) - agree - equal, ratio)


def between(measure: str, lower: str, higher: str) -> Callable[[Sequence[Cell]], Iterator[Pair]]:
    """Pairs of two location approaches at the same table, number approach and place."""

    def pairs(cells: Sequence[Cell]) -> Iterator[Pair]:
        others = {cell.key: cell for cell in cells if cell.location == higher}
        for cell in cells:
            if cell.location == lower:
                other = others.get((cell.table, cell.site_number, higher, "", cell.place))
                yield from _known(cell, other, measure)

    return pairs


def seeded(measure: str, rises: bool) -> Callable[[Sequence[Cell]], Iterator[Pair]]:
    """Pairs of ADC and the approach that it starts from."""

    def pairs(cells: Sequence[Cell]) -> Iterator[Pair]:
        plain = {cell.key: cell for cell in cells if not cell.adc_seeding}
        for cell in cells:
            if cell.adc_seeding:
                start = plain.get((cell.table, cell.site_number, cell.adc_seeding, "", cell.place))
                for after, before in _known(cell, start, measure):
                    yield (before, after) if rises else (after, before)

    return pairs


def along(measure: str, rises: bool) -> Callable[[Sequence[Cell]], Iterator[Pair]]:
    """Pairs of neighbouring numbers of sites, with all else equal."""

    def pairs(cells: Sequence[Cell]) -> Iterator[Pair]:
        by_key = {cell.key: cell for cell in cells}
        for cell in cells:
            table, number, location, seeding, place = cell.key
            following = by_key.get((table, number, location, seeding, place + 1))
            for fewer, more in _known(cell, following, measure):
                yield (fewer, more) if rises else (more, fewer)

    return pairs


def numbers_of(lower: str, higher: str) -> Callable[[Sequence[Cell]], Iterator[Pair]]:
    """Pairs of the numbers of sites of two number approaches, one for each table and place."""

    def pairs(cells: Sequence[Cell]) -> Iterator[Pair]:
        found = {(c.table, c.site_number, c.place): c.sites for c in cells}
        for (table, number, place), sites in sorted(found.items()):
            other = found.get((table, higher, place))
            if number == lower and other is not None:
                yield sites, other

    return pairs


def between_numbers(measure: str, lower: str, higher: str) -> Callable[[Sequence[Cell]], Iterator[Pair]]:
    """Pairs of two number approaches with the same location approach and place in the range."""

    def pairs(cells: Sequence[Cell]) -> Iterator[Pair]:
        by_key = {cell.key: cell for cell in cells}
        for cell in cells:
            if cell.site_number == lower:
                other = by_key.get((cell.table, higher, cell.site_location, cell.adc_seeding, cell.place))
                yield from _known(cell, other, measure)

    return pairs


def _known(cell: Cell, other: Cell | None, measure: str) -> Iterator[Pair]:
    first = cell.values.get(measure)
    second = None if other is None else other.values.get(measure)
    if first is not None and second is not None:
        yield first, second


_BALANCED = LOCATIONS[2]

CLAIMS = (
    Claim(
        "Discernibility is lower with balanced density than with density",
        between("discernibility", _BALANCED, "density"),
    ),
    Claim(
        "Non-uniform entropy is lower with balanced density than with density",
        between("non_uniform_entropy", _BALANCED, "density"),
    ),
    Claim(
        "Distance is lower with balanced density than with density", between("average_distance", _BALANCED, "density")
    ),
    Claim(
        "Fewer records are suppressed with balanced density than at the regions of lowest anonymity",
        between("suppressed_records", _BALANCED, "anonymity"),
    ),
    Claim(
        "Fewer records are suppressed with balanced density than with density",
        between("suppressed_records", _BALANCED, "density"),
    ),
    Claim(
        "Precision loss is higher with balanced density than with density",
        between("precision_loss", "density", _BALANCED),
    ),
    Claim("ADC does not raise suppression", seeded("suppressed_records", rises=False), ties_agree=True),
    Claim("ADC raises precision loss", seeded("precision_loss", rises=True)),
    Claim("ADC lowers discernibility", seeded("discernibility", rises=False)),
    Claim("ADC lowers non-uniform entropy", seeded("non_uniform_entropy", rises=False)),
    Claim("ADC lowers distance", seeded("average_distance", rises=False)),
    Claim("Suppression rises with the number of sites", along("suppressed_records", rises=True)),
    Claim("Distance falls with the number of sites", along("average_distance", rises=False)),
    Claim("Precision loss falls with the number of sites", along("precision_loss", rises=False)),
    Claim("Discernibility falls with the number of sites", along("discernibility", rises=False)),
    Claim("Non-uniform entropy falls with the number of sites", along("non_uniform_entropy", rises=False)),
    Claim("MaxCombs makes fewer sites than entropy", numbers_of("maxcombs", "entropy")),
    Claim(
        "Fewer records are suppressed with MaxCombs than with entropy",
        between_numbers("suppressed_records", "maxcombs", "entropy"),
    ),
)
"""The claims in the order in which they are printed."""


def verdict_line(verdict: Verdict, published: Verdict | None = None, same_rows: Verdict | None = None) -> str:
    """A claim with its verdict and figures; what the published rows say by the same count, and what ours say of
    the same rows alone, since the thesis could not run everything.
    """
    word = {True: "held", False: "not held", None: "nothing decides"}[verdict.held]
    parts = [figures(verdict)]
    if published is not None:
        parts.append(f"published: {figures(published)}")
    if same_rows is not None and same_rows.share is not None:
        parts.append(f"on the published rows alone {same_rows.share:.0%}")
    return f"{word}: {verdict.claim.sentence} ({'; '.join(parts)})"


def figures(verdict: Verdict) -> str:
    """The figures of a verdict."""
    if verdict.share is None:
        return "no pairs that differ"
    pairs = verdict.agree + verdict.equal + verdict.disagree
    ties = f", {verdict.equal:,} equal" if verdict.equal else ""
    ratio = "" if verdict.ratio_of_sums is None else f", ratio of the sums {verdict.ratio_of_sums:.2f}"
    return f"{verdict.share:.0%} of {pairs:,} pairs{ties}{ratio}"
