"""What would be finer, or lose less, than a run did: as many sites as the allowed loss permits, another aim, or tiers.
And the trials of the latest request, kept for whoever asks for the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vbas_desktop.algorithms.site_numbers import allowed_records
from vbas_desktop.approaches.registry import DEFAULTS, NOTHING, make
from vbas_desktop.approaches.site_number.limit import LimitSiteNumber
from vbas_desktop.model.problem import Request
from vbas_desktop.model.progress import SILENT, Progress, Span
from vbas_desktop.model.solution import FINEST, LEAST_LOSS, Advice, Alternative, RunResult, Solution
from vbas_desktop.model.words import counted

from .loss import USUAL_TIERS
from .outcome import situation_of
from .partitions import Partitions, decide_sites

_DECISIVE = ("site_location", "construction", "refinement", "tiers", "limits", "global_suppression", "random_seed")
"""What a partition depends on, beside the problem and the number of sites."""


class KeptTrials:
    """What was tried of the latest request: for the look ahead, its run, and the advice on it."""

    def __init__(self) -> None:
        self._latest: Partitions | None = None

    def partitions(self, request: Request, progress: Progress = SILENT) -> Partitions:
        """The request's partitions, with what is known of them already."""
        latest = self._latest
        if latest is None or not _alike(latest.request, request):
            situation, _ = situation_of(request.problem, request.global_suppression, request.random_seed, progress)
            latest = Partitions(request, situation)
            self._latest = latest
        return Partitions(request, latest.situation, latest.known)


def _alike(one: Request, other: Request) -> bool:
    """Whether the same number of sites gives the same partition and the same loss."""
    mine, theirs = one.problem, other.problem
    same = mine.counts is theirs.counts and mine.regions is theirs.regions and mine.records == theirs.records
    same = same and [id(each) for each in mine.sensitive] == [id(each) for each in theirs.sensitive]
    return same and mine.k == theirs.k and all(getattr(one, name) == getattr(other, name) for name in _DECISIVE)


def advice_on(
    request: Request,
    result: RunResult,
    chosen: Solution,
    progress: Progress = SILENT,
    kept: KeptTrials | None = None,
) -> Advice | None:
    """What to do if the chosen solution loses more than is allowed, or nothing at all; None if it is well chosen.

    The number of sites within the limit is searched for with the same approaches, beginning with what the run made.
    With `limit` there is nothing to advise: it was searched for already, and the findings say if even one region loses
    too much.
    """
    if request.site_number.allowed_loss() is not None:
        return None
    records = request.problem.records
    allowed = allowed_records(records, result.allowed_loss_percent)
    lost = chosen.suppressed_records
    everything = chosen.aggregated_regions == len(request.problem.regions)
    if 0 < lost <= allowed or (lost == 0 and everything):
        return None
    searching = replace(request, site_number=LimitSiteNumber(allowed_loss_percent=result.allowed_loss_percent))
    partitions = (kept or KeptTrials()).partitions(searching, progress)
    sites, findings = decide_sites(partitions, progress)
    suppressed = partitions.tried[sites]
    if suppressed > allowed:
        text = _out_of_reach(lost, records, result.allowed_loss_percent)
        return Advice(f"{text} {findings[-1].remedy}", None, suppressed)
    if lost == 0 and sites <= chosen.site_count:
        return None
    return Advice(_instead(lost, suppressed, sites, records, result.allowed_loss_percent), sites, suppressed)


def alternatives_to(
    request: Request, allowed_percent: float, progress: Progress = SILENT, kept: KeptTrials | None = None
) -> tuple[Alternative, ...]:
    """Try what the other aim would give within the allowed loss, and both aims with tiers, or without if it has some.

    What the request itself asks for is left out. One search for a number of sites each; trials are shared.
    """
    own = DEFAULTS["tiers"] if request.tiers is None else request.tiers.card.name
    other = USUAL_TIERS if own == NOTHING else NOTHING
    aim = getattr(request.site_number, "aim", None)
    asked = [(each, tiers) for tiers in (own, other) for each in (FINEST, LEAST_LOSS) if (each, tiers) != (aim, own)]
    kept_for = {own: kept or KeptTrials(), other: KeptTrials()}
    found = []
    for number, (each, tiers) in enumerate(asked):
        searching = replace(
            request,
            site_number=LimitSiteNumber(allowed_loss_percent=allowed_percent, aim=each),
            tiers=request.tiers if tiers == own else make("tiers", tiers),
        )
        span = Span(progress, number / len(asked), (number + 1) / len(asked))
        partitions = kept_for[tiers].partitions(searching, span)
        sites, _ = decide_sites(partitions, span)
        lost, penalty = partitions.suppressed(sites, span), partitions.penalty(sites, span)
        found.append(Alternative(each, tiers, sites, lost, penalty))
    return tuple(found)


def alternatives_in_words(alternatives: Sequence[Alternative], records: int) -> list[str]:
    """Say in one sentence each what the alternatives would give."""
    return [
        f"Aim {each.aim}, {'without tiers' if each.tiers == NOTHING else f'tiers {each.tiers}'}: "
        f"{counted(each.sites, 'site')}, {_share(each.suppressed, records)} of the records lost, certainty penalty "
        f"{each.certainty_penalty:.4f}."
        for each in alternatives
    ]


def _instead(lost: int, suppressed: int, sites: int, records: int, percent: float) -> str:
    cost = f"{counted(sites, 'site')} would cost {_share(suppressed, records)}"
    if lost == 0:
        return f"Nothing is lost: {cost}, and {percent:g} % are allowed."
    return f"{_share(lost, records)} of the records are lost, more than the {percent:g} % that are allowed: {cost}."


def _out_of_reach(lost: int, records: int, percent: float) -> str:
    return f"{_share(lost, records)} of the records are lost, and no number of sites keeps within {percent:g} %."


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f} %"
