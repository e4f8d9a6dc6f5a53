"""Choose the number of sites by trials, and advise on it after a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vbas_desktop.algorithms.site_counts import MAX_PASSES, max_scanned, max_suppressed
from vbas_desktop.approaches.registry import DEFAULTS, NOTHING, create_approach
from vbas_desktop.approaches.site_number.limit import LimitSiteNumber
from vbas_desktop.model.findings import Finding, Severity
from vbas_desktop.model.progress import NO_PROGRESS, Progress, SubProgress
from vbas_desktop.model.solution import FINEST, LEAST_LOSS, Advice, Alternative, RunResult, Solution
from vbas_desktop.model.text import format_count

from .loss import DEFAULT_TIERS, count_loss_causes, describe_causes, list_remedies
from .partitions import PartitionBuilder, TrialCache
from .request import Request

_STAGE = "Finding the number of sites"


class _Trials:
    """Answers a site number approach; each trial advances the progress by its share of the largest number of trials."""

    def __init__(self, partitions: PartitionBuilder, progress: Progress) -> None:
        self._partitions = partitions
        # The stages of a trial would flicker.
        self._progress = SubProgress(progress, stage=_STAGE)
        self._most = max_scanned(len(partitions.context.regions))

    @property
    def records(self) -> int:
        return self._partitions.request.problem.records

    @property
    def in_tiers(self) -> bool:
        return self._partitions.in_tiers

    @property
    def is_simplified(self) -> bool:
        return self._partitions.trials is not self._partitions

    @property
    def expected_share(self) -> float:
        request = self._partitions.request
        left_by_refinement = 1.0 if request.refinement is None else request.refinement.remaining_loss
        return float(request.site_location.remaining_loss * left_by_refinement)

    def count_suppressed(self, sites: int) -> int:
        return self._partitions.trials.count_suppressed(sites, self._next_share())

    def compute_penalty(self, sites: int) -> float:
        return self._partitions.trials.compute_penalty(sites, self._next_share())

    def count_refined_suppressed(self, sites: int) -> int:
        return self._partitions.count_suppressed(sites, self._next_share())

    def compute_refined_penalty(self, sites: int) -> float:
        return self._partitions.compute_penalty(sites, self._next_share())

    def _next_share(self) -> Progress:
        """Return the progress of the next trial: a long search counts as much as all trials without one."""
        n_tried = len(self._partitions.tried)
        if not self.is_simplified:
            n_done = n_tried
            most = self._most
        else:
            n_simple = 0 if n_tried else len(self._partitions.trials.tried)
            n_done = self._most * n_tried + n_simple
            most = self._most * (1 + MAX_PASSES)
        n_done = min(n_done, most - 1)
        return SubProgress(self._progress, n_done / most, (n_done + 1) / most)


def choose_site_count(partitions: PartitionBuilder, progress: Progress) -> tuple[int, list[Finding]]:
    """Choose the number of sites, 1 to the number of regions; findings if it is not the requested one."""
    progress.update(_STAGE, 0.0)
    request = partitions.request
    fixed = request.construction.count_regions(partitions.context)
    if fixed is not None:
        if request.site_number.allowed_loss() is not None:
            partitions.count_suppressed(fixed, progress)
        return fixed, []
    n_regions = len(partitions.context.regions)
    number = int(request.site_number.decide(partitions.context, _Trials(partitions, progress)))
    if number > n_regions:
        return n_regions, [_note_too_many(number, n_regions)]
    findings = []
    if number < partitions.least_sites:
        findings = [_note_too_few(number, partitions.least_sites)] if number > 1 else []
        number = partitions.least_sites
    allowed_percent = request.site_number.allowed_loss()
    if allowed_percent is None:
        return number, findings
    suppressed = partitions.count_suppressed(number, progress)
    if suppressed <= max_suppressed(request.problem.records, allowed_percent):
        return number, findings
    return number, [*findings, _note_out_of_reach(partitions, allowed_percent, number, progress)]


def _note_too_many(number: int, n_regions: int) -> Finding:
    return Finding(
        "more-sites-than-regions",
        f"{number:,} sites were asked for, but the file has only {format_count(n_regions, 'initial region')}: "
        f"{format_count(n_regions, 'site is', 'sites are')} used.",
        severity=Severity.WARNING,
    )


def _note_too_few(number: int, least: int) -> Finding:
    return Finding(
        "fewer-sites-than-boundaries",
        f"{format_count(number, 'site')} were asked for, but boundaries that are not crossed and regions that "
        f"stay alone need {least:,}: so many are used.",
        severity=Severity.WARNING,
    )


def _note_out_of_reach(
    partitions: PartitionBuilder, allowed_percent: float, number: int, progress: Progress
) -> Finding:
    problem = partitions.request.problem
    suppressed = partitions.tried[number]
    aggregation = partitions.build(number, progress).aggregate(partitions.context)
    causes = count_loss_causes(
        problem, aggregation, suppressed, bounded=partitions.least_sites > 1, progress=progress
    )
    remedies = list_remedies(causes, suppressed, max_suppressed(problem.records, allowed_percent))
    return Finding(
        "limit-out-of-reach",
        f"Even {format_count(number, 'region')} in all would lose {suppressed:,} of "
        f"{format_count(problem.records, 'record')} ({100 * suppressed / problem.records:.2f} %), more than the "
        f"{allowed_percent:g} % that are allowed: {describe_causes(causes)}.",
        f"{' '.join(remedies)} Or allow a larger loss.",
        severity=Severity.WARNING,
    )


def advise(
    request: Request,
    result: RunResult,
    chosen: Solution,
    progress: Progress = NO_PROGRESS,
    trials: TrialCache | None = None,
) -> Advice | None:
    """Advise if the chosen solution loses more than is allowed, or nothing at all; None if it is well chosen.

    The number of sites within the limit is searched for with the same approaches, beginning with what the run made.
    With `limit` there is nothing to advise: it was searched for already, and the findings say if even one region loses
    too much. Nor is there if the construction fixes the number of regions.
    """
    if request.site_number.allowed_loss() is not None:
        return None
    records = request.problem.records
    percent = result.allowed_loss_percent
    allowed = max_suppressed(records, percent)
    loss = chosen.suppressed_records
    keeps_every_region = chosen.aggregated_regions == len(request.problem.regions)
    if 0 < loss <= allowed or (loss == 0 and keeps_every_region):
        return None
    searching = replace(request, site_number=LimitSiteNumber(allowed_loss_percent=percent))
    partitions = (trials or TrialCache()).partitions(searching, progress)
    if request.construction.count_regions(partitions.context) is not None:
        return None
    sites, findings = choose_site_count(partitions, progress)
    suppressed = partitions.tried[sites]
    if suppressed > allowed:
        text = f"{_share(loss, records)} of the records are lost, and no number of sites keeps within {percent:g} %."
        return Advice(f"{text} {findings[-1].remedy}", None, suppressed)
    if loss == 0 and sites <= chosen.site_count:
        return None
    cost = f"{format_count(sites, 'site')} would cost {_share(suppressed, records)}"
    if loss == 0:
        text = f"Nothing is lost: {cost}, and {percent:g} % are allowed."
    else:
        text = f"{_share(loss, records)} of the records are lost, more than the {percent:g} % that are allowed: {cost}."
    return Advice(text, sites, suppressed)


def find_alternatives(
    request: Request,
    allowed_percent: float,
    progress: Progress = NO_PROGRESS,
    trials: TrialCache | None = None,
) -> tuple[Alternative, ...]:
    """Try what the other aim would give within the allowed loss, and both aims with tiers, or without if it has some.

    What the request itself asks for is left out. One search for a number of sites each; trials are shared.
    """
    own_tiers = DEFAULTS["tiers"] if request.tiers is None else request.tiers.metadata.name
    other_tiers = DEFAULT_TIERS if own_tiers == NOTHING else NOTHING
    own = (getattr(request.site_number, "aim", None), own_tiers)
    choices = [(aim, tiers) for tiers in (own_tiers, other_tiers) for aim in (FINEST, LEAST_LOSS)]
    choices = [choice for choice in choices if choice != own]
    trials_by_tiers = {own_tiers: trials or TrialCache(), other_tiers: TrialCache()}
    alternatives = []
    for number, (aim, tiers) in enumerate(choices):
        searching = replace(
            request,
            site_number=create_approach(
                "site_number", "limit", {"allowed_loss_percent": allowed_percent, "aim": aim}
            ),
            tiers=request.tiers if tiers == own_tiers else create_approach("tiers", tiers),
        )
        span = SubProgress(progress, number / len(choices), (number + 1) / len(choices))
        partitions = trials_by_tiers[tiers].partitions(searching, span)
        sites, _ = choose_site_count(partitions, span)
        suppressed = partitions.count_suppressed(sites, span)
        penalty = partitions.compute_penalty(sites, span)
        alternatives.append(Alternative(aim, tiers, sites, suppressed, penalty))
    return tuple(alternatives)


def describe_alternatives(alternatives: Sequence[Alternative], records: int) -> list[str]:
    """Say in one sentence each what the alternatives would give."""
    sentences = []
    for alternative in alternatives:
        tiers = "without tiers" if alternative.tiers == NOTHING else f"tiers {alternative.tiers}"
        sentences.append(
            f"Aim {alternative.aim}, {tiers}: {format_count(alternative.sites, 'site')}, "
            f"{_share(alternative.suppressed, records)} of the records lost, "
            f"certainty penalty {alternative.certainty_penalty:.4f}."
        )
    return sentences


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f} %"
