"""Short jobs of which only the newest counts: while one is wanted, older ones are forgotten. And the last few
results, kept so that going back to one costs nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Slot

from vbas_desktop.domain.progress import Progress

from .worker import JobRunner


class Latest(QObject):
    """Runs the newest wanted job as soon as the (shared) runner is free. Results of older ones are dropped."""

    def __init__(self, runner: JobRunner, title: str, parent: QObject) -> None:
        super().__init__(parent)
        self._runner, self._title = runner, title
        self._wanted: tuple[Callable[[Progress], Any], Callable[[Any], None]] | None = None
        self._number = 0
        runner.job_ended.connect(self._on_job_ended)

    @property
    def waiting(self) -> bool:
        """Whether a result is still to come."""
        return self._wanted is not None or self._runner.title == self._title

    def want(self, job: Callable[[Progress], Any], on_result: Callable[[Any], None]) -> None:
        """Have this done instead of anything wanted before."""
        self._number += 1
        self._wanted = (job, on_result)
        self._start()

    def forget(self) -> None:
        """Want nothing any more."""
        self._number += 1
        self._wanted = None

    @Slot(str)
    def _on_job_ended(self, title: str) -> None:
        self._start()

    def _start(self) -> None:
        if self._wanted is None or self._runner.busy:
            return
        (job, on_result), number, self._wanted = self._wanted, self._number, None

        def deliver(result: Any) -> None:
            if number == self._number:
                on_result(result)

        self._runner.start(self._title, job, deliver)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps as many values as it is told; the one that nobody asked for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """A value that is still there; it counts as the newest now."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Keep a value."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
