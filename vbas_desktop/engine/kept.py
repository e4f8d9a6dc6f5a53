"""Trials of the latest request, kept for whoever asks for the same."""

from __future__ import annotations

from vbas_desktop.domain.problem import Request
from vbas_desktop.domain.progress import Progress

from .outcome import situation_of
from .partitions import Partitions

_DECISIVE = ("site_location", "construction", "refinement", "tiers", "limits", "global_suppression", "random_seed")
"""What a partition depends on, beside the problem and the number of sites."""


class KeptTrials:
    """What was tried of the latest request: for the look ahead, its run, and the advice on it."""

    def __init__(self) -> None:
        self._latest: Partitions | None = None

    def partitions(self, request: Request, progress: Progress | None = None) -> Partitions:
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
