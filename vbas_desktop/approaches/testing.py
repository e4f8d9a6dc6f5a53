"""Conformance checks for approaches, built in or of a plug-in: ``check_approach(MyApproach())``.

Every check raises `AssertionError` with the name of the approach, the rule and the edge case. The regions of the edge
cases have a column “side”, for approaches that need one.
"""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.aggregation import dense_membership
from vbas_desktop.algorithms.suppression import Aggregation, release_classes
from vbas_desktop.model.counts import ClassCounts
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import NO_PROGRESS, Cancelled, Progress
from vbas_desktop.model.records import SourceFile
from vbas_desktop.model.regions import CoordinateKind, CoordinateSystem, CrosswalkPartition, Regions

from . import interface
from .context import AggregationOutcome, Context
from .registry import COMPONENTS, create_approach

Check = Callable[[interface.Approach], None]


def check_approach(approach: interface.Approach) -> None:
    """Check everything that the program relies on; raise `AssertionError` at the first rule that is broken."""
    for check in list_checks(approach):
        check(approach)


def list_checks(approach: interface.Approach) -> tuple[Check, ...]:
    """List the checks for the component of the approach, so that a test can run each by itself."""
    checks: tuple[Check, ...] = (
        check_metadata,
        check_bounds,
        check_settings_recreate_it,
        check_edge_cases,
        check_is_deterministic,
    )
    if isinstance(approach, interface.SiteLocation | interface.Construction | interface.Refinement):
        return (*checks, check_can_be_cancelled)
    return checks


def check_metadata(approach: interface.Approach) -> None:
    """Check that menus and docs have something to show: name, title, one-sentence summary, labels, help."""
    kind = type(approach)
    metadata = kind.metadata
    _require(kind.component in COMPONENTS, approach, "belongs to a component")
    _require(
        re.fullmatch(r"[a-z][a-z0-9_-]*", metadata.name) is not None, approach, "has a name for scripts"
    )
    has_docstring = bool(kind.__doc__) and not str(kind.__doc__).startswith(f"{kind.__name__}(")
    _require(has_docstring, approach, "has a docstring")
    for text in (metadata.title, metadata.summary, metadata.formula, metadata.complexity, metadata.when):
        _require(
            bool(text) and text.strip() == text,
            approach,
            "has title, summary, formula, complexity and when",
        )
    is_one_sentence = metadata.summary.endswith(".") and ". " not in metadata.summary
    _require(is_one_sentence, approach, "has a summary of one sentence")
    for parameter in kind.options():
        _require(
            bool(parameter.label and parameter.help), approach, "labels and explains its parameters"
        )


def check_bounds(approach: interface.Approach) -> None:
    """Check that numbers have bounds, and that values outside of them and unknown parameters are refused."""
    values = {parameter.name: getattr(approach, parameter.name) for parameter in approach.options()}
    for parameter in approach.options():
        if parameter.value_type in (int, float):
            has_bounds = parameter.low is not None and parameter.high is not None
            _require(has_bounds, approach, "gives numbers a lower and an upper bound", parameter.name)
        for value in _wrong_values(parameter):
            message = _refusal(approach, {**values, parameter.name: value})
            _require(
                parameter.title in message, approach, f"refuses the value {value!r}", parameter.name
            )
    _require(
        "has no option" in _refusal(approach, {**values, "no_such_parameter": 1}),
        approach,
        "knows its names",
    )


def check_settings_recreate_it(approach: interface.Approach) -> None:
    """Check that an equal approach can be created from `Approach.settings`, as run.json and projects do."""
    values = {}
    for name, value in approach.settings().items():
        nested = dict(value) if isinstance(value, Mapping) else {}
        values[name] = (
            create_approach(approach.component, nested.pop("name"), nested) if nested else value
        )
    _require(type(approach).from_texts(values) == approach, approach, "can be created from its settings")


def check_edge_cases(approach: interface.Approach) -> None:
    """Check the results for one region, collinear and equal points, empty regions, and few and many sites."""
    for edge_case, context in edge_cases():
        n_regions = len(context.regions)
        for n_sites in sorted({1, min(2, n_regions), n_regions}):
            run_approach(approach, context, n_sites, NO_PROGRESS, edge_case)


def check_is_deterministic(approach: interface.Approach) -> None:
    """Check that the same seed gives the same result, also to a pickled copy."""
    copy = pickle.loads(pickle.dumps(approach))
    context = _context(_GRID, _mixed_counts(len(_GRID)), random_seed=7)
    first = run_approach(approach, context, 6, NO_PROGRESS)
    _require(copy == approach, approach, "can be pickled")
    _require(run_approach(approach, context, 6, NO_PROGRESS) == first, approach, "is deterministic")
    copied_context = pickle.loads(pickle.dumps(context))
    _require(
        run_approach(copy, copied_context, 6, NO_PROGRESS) == first,
        approach,
        "is deterministic after pickling",
    )


def check_can_be_cancelled(approach: interface.Approach) -> None:
    """Check that it reports progress, which is where the user can cancel a run."""
    context = _context(_GRID, _mixed_counts(len(_GRID)))
    try:
        run_approach(approach, context, 6, _CancelAtOnce())
    except Cancelled:
        return
    _require(False, approach, "calls progress.update")


_GRID = [(x, y) for y in range(4) for x in range(5)]


def _mixed_counts(number: int) -> list[list[int]]:
    """Make counts with rare classes and every third region empty."""
    return [[0, 0, 0] if i % 3 == 2 else [1 + i % 5, i % 2, 7] for i in range(number)]


def edge_cases() -> Iterator[tuple[str, Context]]:
    """Yield the contexts that an approach has to cope with, each with its name."""
    yield "one region", _context([(3, 4)], [[5, 1]])
    yield "one record", _context([(0, 0), (1, 1), (2, 0)], [[0], [1], [0]])
    yield "collinear points", _context([(x, 2 * x) for x in range(9)], _mixed_counts(9))
    yield "duplicate points", _context([(0, 0), (0, 0), (1, 1), (1, 1), (1, 1)], _mixed_counts(5))
    yield "all points equal", _context([(2, 2)] * 6, _mixed_counts(6))
    yield "empty regions", _context(_GRID, _mixed_counts(20))
    yield "cocircular points", _context(_GRID, [[3, 1, 2]] * 20)
    yield "no records left", _context(_GRID, [[0, 0]] * 20)


def _context(
    points: Sequence[tuple[int, int]], counts: Sequence[Sequence[int]], random_seed: int = 0
) -> Context:
    """Make a context with k = 3, in which the regions lie east or west; a crosswalk merges those of a side."""
    ids = tuple(f"r{number}" for number in range(len(points)))
    sides = tuple("west" if number % 3 else "east" for number in range(len(points)))
    coordinates = np.array(points, float).reshape(-1, 2)
    regions = Regions(ids, coordinates, CoordinateSystem(CoordinateKind.PLANAR), labels={"side": sides})
    matrix = np.array(counts, np.int64)
    occurring = np.flatnonzero(matrix.sum(axis=0)).astype(np.int64)
    table = ClassCounts.from_matrix((matrix.shape[1],), occurring, matrix[:, occurring])
    region = np.unique(sides, return_inverse=True)[1].astype(np.int32)
    given = CrosswalkPartition(region, ("east", "west"), SourceFile("sides.csv", 0, "0"))
    return Context(regions, table, 3, random_seed, given=given)


def run_approach(
    approach: interface.Approach,
    context: Context,
    n_sites: int,
    progress: Progress,
    edge_case: str = "a grid",
) -> Any:
    """Run an approach, check its result, and return that as plain data."""

    def require(condition: bool, rule: str) -> None:
        _require(condition, approach, rule, f"{edge_case}, {n_sites} sites")

    n_regions = len(context.regions)
    sites = context.points[:n_sites].copy()
    owner = (np.arange(n_regions) % n_sites).astype(np.int32)
    if isinstance(approach, interface.SiteNumber):
        return approach.approximate(context), approach.decide(context, _GrowingTrials(context))
    if isinstance(approach, interface.SiteLocation):
        located = approach.locate(context, n_sites, progress)
        require(
            located.shape == (n_sites, 2) or approach.changes_number,
            "returns as many sites as requested",
        )
        require(bool(np.isfinite(located).all()), "returns finite coordinates")
        return located.tolist()
    if isinstance(approach, interface.Construction):
        owner = interface.ConstructionResult.of(approach.build_partition(context, sites, progress)).owner
        most = n_sites if approach.needs_sites else n_regions
        require(owner.shape == (n_regions,), "returns an index for each initial region")
        require(bool(((owner >= 0) & (owner < most)).all()), "returns indices of sites")
        return owner.tolist()
    if isinstance(approach, interface.Refinement):
        return _run_refinement(approach, context, owner, sites, progress, require)
    membership = dense_membership(owner)[0]
    if isinstance(approach, interface.TierApproach):
        tiers = approach.build_tiers(context, membership, progress)
        if tiers is None:
            return None
        _check_nesting(tiers.parents, int(membership.max()) + 1, require)
        return tiers.titles, tiers.names, [parent.tolist() for parent in tiers.parents]
    assert isinstance(approach, interface.Measure)
    return approach.rate(_suppress(context, membership, sites))


def _run_refinement(
    approach: interface.Refinement,
    context: Context,
    owner: NDArray[np.int32],
    sites: NDArray[np.float64],
    progress: Progress,
    require: Callable[[bool, str], None],
) -> Any:
    """Refine a partition with its sites and without."""
    refined = approach.refine(context, owner, sites, progress)
    require(set(refined.owner.tolist()) == set(owner.tolist()), "keeps every aggregated region")
    require(
        refined.sites is not None and refined.sites.shape == sites.shape, "keeps the number of sites"
    )
    without_sites = approach.refine(context, owner, None, progress)
    require(without_sites.sites is None, "returns no sites where there are none")
    require(
        set(without_sites.owner.tolist()) == set(owner.tolist()),
        "keeps every aggregated region without sites",
    )
    return refined.owner.tolist(), None if refined.sites is None else refined.sites.tolist()


def _check_nesting(
    parents: Sequence[NDArray[np.int32]], n_regions: int, require: Callable[[bool, str], None]
) -> None:
    """Check that the areas of each tier lie in those of the next one, up to a single area."""
    number = n_regions
    for parent in parents:
        require(parent.shape == (number,), "gives each area one larger area")
        number = int(parent.max()) + 1
        require(
            np.array_equal(np.unique(parent), np.arange(number)), "numbers the areas of a tier from 0"
        )
    require(bool(parents) and number == 1, "ends with a single area")


def _suppress(
    context: Context, membership: NDArray[np.int32], sites: NDArray[np.float64]
) -> AggregationOutcome:
    """Apply local suppression to a partition."""
    n_groups = int(membership.max()) + 1
    return AggregationOutcome(
        context=context,
        records=context.records,
        records_by_region=context.counts.region_totals,
        counts=context.counts,
        membership=membership,
        aggregated_regions=n_groups,
        sites=sites,
        release=release_classes(
            Aggregation(context.counts, context.k, membership, n_groups), NO_PROGRESS
        ),
    )


def _wrong_values(parameter: interface.Option) -> list[Any]:
    """List values that the declaration of a parameter excludes."""
    if parameter.value_type in (int, float) and parameter.low is not None and parameter.high is not None:
        return [parameter.low - 1, parameter.high * 2 + 1, "many", math.nan, math.inf, None]
    return ["no such choice"] if parameter.choices or parameter.value_type is bool else []


def _refusal(approach: interface.Approach, values: Mapping[str, Any]) -> str:
    """Return the message that these parameters are refused with; empty if they are accepted."""
    try:
        type(approach).from_texts(values)
    except InputError as error:
        return str(error)
    return ""


def _require(condition: bool, approach: interface.Approach, rule: str, subject: str = "") -> None:
    if not condition:
        about = f" ({subject})" if subject else ""
        raise AssertionError(
            f"“{approach.metadata.name}” breaks the rule that an approach {rule}{about}."
        )


class _CancelAtOnce:
    """Cancels at the first report."""

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Cancel."""
        raise Cancelled


class _GrowingTrials:
    """Trials in which every further site loses one more record."""

    in_tiers = False
    is_simplified = False
    expected_share = 1.0

    def __init__(self, context: Context) -> None:
        self.records = context.records

    def count_suppressed(self, sites: int) -> int:
        """Return one record for each site."""
        return sites

    def compute_penalty(self, sites: int) -> float:
        """Return a penalty that falls with the number of sites."""
        return 1 / sites

    count_refined_suppressed = count_suppressed
    compute_refined_penalty = compute_penalty
