"""What the thesis claims about its tables, checked one by one on any rows of the same form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from .experiments import LOCATIONS, Key, ThesisRow

HELD_FROM = 0.9
"""A claim about all rows is held if it is true of at least this share of the pairs that differ."""

Pair = tuple[float, float]
Pairs = Callable[[Sequence[ThesisRow]], Iterator[Pair]]


@dataclass(frozen=True)
class Claim:
    """A sentence, and how to find the pairs (smaller, larger if the claim is right) that decide about it.

    ``ties_agree``: the claim says "not higher", so that equal values speak for it.
    """

    sentence: str
    pairs: Pairs
    ties_agree: bool = False


@dataclass(frozen=True)
class ClaimResult:
    """Counts of pairs of rows that agree with a claim, are equal, disagree; and the ratio of their sums."""

    claim: Claim
    agree: int
    equal: int
    disagree: int
    ratio_of_sums: float | None

    @property
    def share(self) -> float | None:
        """Compute the share of the pairs that agree; equal ones count only where the claim allows them."""
        agree = self.agree + (self.equal if self.claim.ties_agree else 0)
        decided = agree + self.disagree
        return agree / decided if decided else None

    @property
    def held(self) -> bool | None:
        """Test whether the claim holds; None if no pair decides about it."""
        return None if self.share is None else self.share >= HELD_FROM


def check_claim(claim: Claim, cells: Sequence[ThesisRow]) -> ClaimResult:
    """Check one claim on rows."""
    pairs = list(claim.pairs(cells))
    agree = sum(a < b for a, b in pairs)
    equal = sum(a == b for a, b in pairs)
    below = sum(b for _, b in pairs)
    ratio = sum(a for a, _ in pairs) / below if below else None
    return ClaimResult(claim, agree, equal, len(pairs) - agree - equal, ratio)


def _pair_rows(measure: str, partner: Callable[[ThesisRow], Key | None], turned: bool = False) -> Pairs:
    """Pair each row with the row of the key that ``partner`` returns; ``turned``: the partner first."""

    def pairs(cells: Sequence[ThesisRow]) -> Iterator[Pair]:
        by_key = {cell.key: cell for cell in cells}
        for cell in cells:
            key = partner(cell)
            other = None if key is None else by_key.get(key)
            first = cell.values.get(measure)
            second = None if other is None else other.values.get(measure)
            if first is not None and second is not None:
                yield (second, first) if turned else (first, second)

    return pairs


def pair_locations(measure: str, lower: str, higher: str) -> Pairs:
    """Pair two location approaches at the same table, number approach and place."""
    return _pair_rows(
        measure, lambda c: (c.table, c.site_number, higher, "", c.rank) if c.location == lower else None
    )


def pair_adc_with_initializer(measure: str, rises: bool) -> Pairs:
    """Pair ADC with the approach that it starts from."""

    def start(cell: ThesisRow) -> Key | None:
        return (
            (cell.table, cell.site_number, cell.adc_seeding, "", cell.rank) if cell.adc_seeding else None
        )

    return _pair_rows(measure, start, turned=rises)


def pair_successive_sites(measure: str, rises: bool) -> Pairs:
    """Pair neighbouring numbers of sites, with all else equal."""
    return _pair_rows(measure, lambda cell: (*cell.key[:-1], cell.rank + 1), turned=not rises)


def pair_number_approaches(measure: str, lower: str, higher: str) -> Pairs:
    """Pair two number approaches with the same location approach and place in the range."""
    return _pair_rows(
        measure, lambda c: (c.table, higher, *c.key[2:]) if c.site_number == lower else None
    )


def pair_site_counts(lower: str, higher: str) -> Pairs:
    """Pair the numbers of sites of two number approaches, one for each table and place."""

    def pairs(cells: Sequence[ThesisRow]) -> Iterator[Pair]:
        sites_by_key = {(c.table, c.site_number, c.rank): c.sites for c in cells}
        for (table, number, position), sites in sorted(sites_by_key.items()):
            other = sites_by_key.get((table, higher, position))
            if number == lower and other is not None:
                yield sites, other

    return pairs


_BALANCED = LOCATIONS[2]

CLAIMS = (
    Claim(
        "Discernibility is lower with balanced density than with density",
        pair_locations("discernibility", _BALANCED, "density"),
    ),
    Claim(
        "Non-uniform entropy is lower with balanced density than with density",
        pair_locations("non_uniform_entropy", _BALANCED, "density"),
    ),
    Claim(
        "Distance is lower with balanced density than with density",
        pair_locations("average_distance", _BALANCED, "density"),
    ),
    Claim(
        "Fewer records are suppressed with balanced density than at the regions of lowest anonymity",
        pair_locations("suppressed_records", _BALANCED, "anonymity"),
    ),
    Claim(
        "Fewer records are suppressed with balanced density than with density",
        pair_locations("suppressed_records", _BALANCED, "density"),
    ),
    Claim(
        "Precision loss is higher with balanced density than with density",
        pair_locations("precision_loss", "density", _BALANCED),
    ),
    Claim(
        "ADC does not raise suppression",
        pair_adc_with_initializer("suppressed_records", rises=False),
        ties_agree=True,
    ),
    Claim("ADC raises precision loss", pair_adc_with_initializer("precision_loss", rises=True)),
    Claim("ADC lowers discernibility", pair_adc_with_initializer("discernibility", rises=False)),
    Claim(
        "ADC lowers non-uniform entropy", pair_adc_with_initializer("non_uniform_entropy", rises=False)
    ),
    Claim("ADC lowers distance", pair_adc_with_initializer("average_distance", rises=False)),
    Claim(
        "Suppression rises with the number of sites",
        pair_successive_sites("suppressed_records", rises=True),
    ),
    Claim(
        "Distance falls with the number of sites", pair_successive_sites("average_distance", rises=False)
    ),
    Claim(
        "Precision loss falls with the number of sites",
        pair_successive_sites("precision_loss", rises=False),
    ),
    Claim(
        "Discernibility falls with the number of sites",
        pair_successive_sites("discernibility", rises=False),
    ),
    Claim(
        "Non-uniform entropy falls with the number of sites",
        pair_successive_sites("non_uniform_entropy", rises=False),
    ),
    Claim("MaxCombs makes fewer sites than entropy", pair_site_counts("maxcombs", "entropy")),
    Claim(
        "Fewer records are suppressed with MaxCombs than with entropy",
        pair_number_approaches("suppressed_records", "maxcombs", "entropy"),
    ),
)
"""The claims in the order in which they are printed."""


_WORDS = {
    (True, True): "held",
    (True, False): "held here, not in the published rows",
    (True, None): "held here",
    (False, True): "not held here, but in the published rows",
    (False, False): "not held",
    (False, None): "not held here",
}


def describe_status(verdict: ClaimResult, published: ClaimResult | None = None) -> str:
    """Say whether a claim is held: without further words only if the published rows bear it out by the same rule."""
    if verdict.held is None:
        return "nothing decides"
    return _WORDS[verdict.held, None if published is None else published.held]


def describe_claim(
    verdict: ClaimResult, published: ClaimResult | None = None, same_rows: ClaimResult | None = None
) -> str:
    """Describe a claim with its status and figures.

    published: result of the same claim on the published rows. same_rows: result on those of our rows that were
    published, since the thesis could not run everything.
    """
    word = describe_status(verdict, published)
    parts = [describe_pairs(verdict)]
    if published is not None:
        parts.append(f"published: {describe_pairs(published)}")
    if same_rows is not None and same_rows.share is not None:
        parts.append(f"on the published rows alone {same_rows.share:.0%}")
    return f"{word}: {verdict.claim.sentence} ({'; '.join(parts)})"


def describe_pairs(verdict: ClaimResult) -> str:
    """Describe how many pairs agree."""
    if verdict.share is None:
        return "no pairs that differ"
    pairs = verdict.agree + verdict.equal + verdict.disagree
    ties = f", {verdict.equal:,} equal" if verdict.equal else ""
    ratio = "" if verdict.ratio_of_sums is None else f", ratio of the sums {verdict.ratio_of_sums:.2f}"
    return f"{verdict.share:.0%} of {pairs:,} pairs{ties}{ratio}"


@dataclass(frozen=True)
class PaperFigure:
    """A percentage of section 5 of the paper: a measure with one number approach, of that with another one.

    The paper averages over its measured results, in which sites are placed by balanced density and by ADC from it. Its
    rows are not published; the mean of the ratios of such pairs of rows is the reading used here.
    """

    sentence: str
    percent: float
    measure: str
    number: str
    other_number: str

    def mean_percent(self, cells: Sequence[ThesisRow]) -> float | None:
        """Compute the same percentage of rows; pairs whose second value is zero say nothing."""
        used = [cell for cell in cells if _BALANCED in (cell.location, cell.adc_seeding)]
        pairs = pair_number_approaches(self.measure, self.number, self.other_number)(used)
        ratios = [first / second for first, second in pairs if second]
        return 100 * fmean(ratios) if ratios else None


PAPER_FIGURES = (
    PaperFigure(
        "Suppression with MaxCombs, of that with entropy",
        13.2,
        "suppressed_records",
        "maxcombs",
        "entropy",
    ),
    PaperFigure(
        "Distance with entropy, of that with MaxCombs", 48.7, "average_distance", "entropy", "maxcombs"
    ),
    PaperFigure(
        "Discernibility with entropy, of that with MaxCombs",
        35.8,
        "discernibility",
        "entropy",
        "maxcombs",
    ),
    PaperFigure(
        "Non-uniform entropy with entropy, of that with MaxCombs",
        64.2,
        "non_uniform_entropy",
        "entropy",
        "maxcombs",
    ),
)


def describe_paper_figures(
    cells: Sequence[ThesisRow], published: Sequence[ThesisRow], same: Sequence[ThesisRow]
) -> Iterator[str]:
    """Set the four percentages of the paper beside those of the thesis' rows and of ours.

    ``same`` are our rows that were published too.
    """
    for figure in PAPER_FIGURES:
        parts = [f"paper {figure.percent:.1f} %"]
        named = (
            ("rows of the thesis", published),
            ("ours", cells),
            ("ours on the rows of the thesis alone", same),
        )
        for name, rows in named:
            percent = figure.mean_percent(rows)
            if percent is not None:
                parts.append(f"{name} {percent:.1f} %")
        yield f"{figure.sentence}: {', '.join(parts)}"
