"""Advice after a run whose number of sites did not know the allowed loss: what the finest number would cost."""

from __future__ import annotations

from dataclasses import replace

from vbas_desktop.algorithms.limit import allowed_records
from vbas_desktop.approaches.site_number.limit import LimitSiteNumber
from vbas_desktop.domain.problem import Request
from vbas_desktop.domain.progress import Progress, Silent
from vbas_desktop.domain.solution import Advice, RunResult
from vbas_desktop.domain.words import counted

from .kept import KeptTrials
from .partitions import decide_sites


def advice_on(
    request: Request, result: RunResult, progress: Progress | None = None, kept: KeptTrials | None = None
) -> Advice | None:
    """What to do if the chosen solution loses more than is allowed, or nothing at all; None if it is well chosen.

    The number of sites within the limit is searched for with the same approaches, beginning with what the run made.
    With `limit` there is nothing to advise: it was searched for already, and the findings say if even one region loses
    too much.
    """
    if request.site_number.allowed_loss() is not None:
        return None
    chosen, records = result.chosen, request.problem.records
    allowed = allowed_records(records, result.allowed_loss_percent)
    lost = chosen.suppressed_records
    everything = chosen.aggregated_regions == len(request.problem.regions)
    if 0 < lost <= allowed or (lost == 0 and everything):
        return None
    searching = replace(request, site_number=LimitSiteNumber(allowed_loss_percent=result.allowed_loss_percent))
    progress = progress or Silent()
    partitions = (kept or KeptTrials()).partitions(searching, progress)
    sites, _ = decide_sites(partitions, progress)
    suppressed = partitions.tried[sites]
    if suppressed > allowed:
        return Advice(_out_of_reach(lost, records, result.allowed_loss_percent), None, suppressed)
    if lost == 0 and sites <= chosen.site_count:
        return None
    return Advice(_instead(lost, suppressed, sites, records, result.allowed_loss_percent), sites, suppressed)


def _instead(lost: int, suppressed: int, sites: int, records: int, percent: float) -> str:
    cost = f"{counted(sites, 'site')} would cost {_share(suppressed, records)}"
    if lost == 0:
        return f"Nothing is lost: {cost}, and {percent:g} % are allowed."
    return f"{_share(lost, records)} of the records are lost, more than the {percent:g} % that are allowed: {cost}."


def _out_of_reach(lost: int, records: int, percent: float) -> str:
    return (
        f"{_share(lost, records)} of the records are lost, and no number of sites keeps within {percent:g} %: take "
        "categories together (Find a release, vbas search), use fewer quasi-identifiers or a smaller k."
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f} %"
