"""The half of the state that knows runs, solutions and what is selected."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from vbas_desktop.model.problem import Problem
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count

from .choices import Choices
from .events import Event, Listener
from .history import SOLUTIONS_AT, History, Step
from .map_style import MapStyle
from .scenario import ResultRow, RowRanks, RunEntry, Scenario, rank_rows, scenario_of


class Results:
    """All runs of the state, their solutions, and one selection that table, charts and map share."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._history = History()
        self.modified = False
        self._problem: tuple[Scenario, Problem] | None = None
        self._entries: list[ResultRow] = []
        self._runs: dict[int, RunEntry] = {}
        self._open_runs: set[int] = set()
        self._next_run = 1
        self._next_number = 1
        self._selected: int | None = None
        self._compared: int | None = None
        self._chosen_pair: tuple[int, int] | None = None
        self.chosen_region: int | None = None
        """The aggregated region (its dense number in the shown solution) that is looked at."""
        self.coloured_by: str | None = None
        """The figure of aggregated regions that the map is coloured by; None: distinct fills."""
        self.map_style = MapStyle()
        """What the map shows besides the solution."""
        self._marks: tuple[tuple[Any, ...], dict[int, RowRanks]] | None = None

    @property
    def choices(self) -> Choices:
        """The choices in force."""
        return self._history.now

    @property
    def pareto_measures(self) -> tuple[str, ...]:
        """The measures that take part in dominance."""
        raise NotImplementedError

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` on every event from now on; the returned function ends that."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def _notify(self, *events: Event) -> None:
        """Call every listener with these events."""
        for event in events:
            for listener in tuple(self._listeners):
                listener(event)

    def _set(self, name: str, value: Any, *events: Event, modifies: bool = False) -> None:
        """Set an attribute and notify of the events if its value is another one."""
        if value != getattr(self, name):
            setattr(self, name, value)
            self.modified |= modifies
            self._notify(*events)

    # Runs

    def add_solutions(self, run_id: int, solutions: Sequence[Solution]) -> list[ResultRow]:
        """List finished solutions and return their rows; none if their run is stale."""
        if run_id not in self._open_runs or not solutions:
            return []
        run = self._runs[run_id]
        added = [
            ResultRow(number, run, solution)
            for number, solution in enumerate(solutions, self._next_number)
        ]
        self._next_number += len(added)
        self._entries += added
        self.modified = True
        self._notify(Event.SOLUTION_ADDED)
        return added

    def finish_run(self, run_id: int, result: RunResult) -> None:
        """Close a run with its complete result (which carries the final marks); selects the one it recommends."""
        if run_id not in self._open_runs:
            return
        self._open_runs.discard(run_id)
        final = {solution.id: solution for solution in result.solutions}
        self._entries = [
            replace(entry, solution=final.get(entry.solution.id, entry.solution))
            if entry.run.id == run_id
            else entry
            for entry in self._entries
        ]
        self._replace_run(replace(self._runs[run_id], result=result))
        self._notify(Event.SOLUTIONS_CHANGED, Event.RUN_FINISHED)
        self.select_best([entry for entry in self._entries if entry.run.id == run_id])

    def select_best(self, entries: Sequence[ResultRow]) -> None:
        """Show what a finished run recommends; what another run found before is listed there."""
        result = entries[0].run.result if entries else None
        chosen = None if result is None else result.recommended or result.chosen
        best = next(
            (entry for entry in entries if chosen is not None and entry.solution.id == chosen.id), None
        )
        if best is not None:
            self.select(self.marks[best.number].same_as or best.number)

    def close_run(self, run_id: int) -> None:
        """Close a run that was stopped or failed. Its finished solutions stay."""
        self._open_runs.discard(run_id)
        if run_id in self._runs and not any(entry.run.id == run_id for entry in self._entries):
            del self._runs[run_id]
        self._notify(Event.RUN_FINISHED)

    def add_complete(self, computed: Iterable[tuple[RunEntry, RunResult]]) -> int:
        """List runs that were computed elsewhere as a whole; those that are listed already are left out."""
        added = 0
        for run, result in computed:
            if any(self._same(listed, run, result) for listed in self._runs.values()):
                continue
            run = replace(run, id=self._next_run, result=result)
            self._next_run += 1
            self._runs[run.id] = run
            self._entries += [
                ResultRow(self._next_number + index, run, solution)
                for index, solution in enumerate(result.solutions)
            ]
            self._next_number += len(result.solutions)
            added += 1
        if added:
            self.modified = True
            self._notify(Event.SOLUTIONS_CHANGED)
        return added

    @staticmethod
    def _same(listed: RunEntry, run: RunEntry, result: RunResult) -> bool:
        """Say if two runs did the same work; one may name parameters that the other left at their defaults."""
        if listed.result is None or listed.outdated or listed.key != run.key:
            return False
        chosen, expected = (entry.choices.replaced(parameters={}) for entry in (listed, run))
        return chosen == expected and _list_keys(listed.result) == _list_keys(result)

    def _replace_run(self, run: RunEntry) -> None:
        self._runs[run.id] = run
        self._entries = [
            replace(entry, run=run) if entry.run.id == run.id else entry for entry in self._entries
        ]

    @property
    def runs(self) -> tuple[RunEntry, ...]:
        """All runs that have or may still get solutions, oldest first."""
        return tuple(self._runs.values())

    # Solutions

    @property
    def entries(self) -> tuple[ResultRow, ...]:
        """All solutions of all runs, in the order in which they came."""
        return tuple(self._entries)

    @property
    def marks(self) -> Mapping[int, RowRanks]:
        """Rank each solution within its scenario, by number."""
        key = (tuple(self._entries), self.pareto_measures, self.choices.allowed_loss_percent)
        if self._marks is None or self._marks[0] != key:
            self._marks = (key, rank_rows(*key))
        return self._marks[1]

    def entry(self, number: int) -> ResultRow | None:
        """Return the solution with this number, if it is still in the list."""
        return next((entry for entry in self._entries if entry.number == number), None)

    def pin(self, numbers: Iterable[int], pinned: bool = True) -> None:
        """Mark solutions so that filters leave them alone."""
        changed = [
            entry.number
            for entry in self._entries
            if entry.number in set(numbers) and entry.pinned != pinned
        ]
        if not changed:
            return
        name = f"{'pinning' if pinned else 'unpinning'} of {format_count(len(changed), 'solution')}"
        back = partial(self._set_pinned, changed, not pinned)
        again = partial(self._set_pinned, changed, pinned)
        self._history.add(Step(name, SOLUTIONS_AT, back, again))
        again()

    def _set_pinned(self, numbers: Sequence[int], pinned: bool) -> None:
        self._entries = [
            replace(entry, pinned=pinned) if entry.number in numbers else entry
            for entry in self._entries
        ]
        self.modified = True
        self._notify(Event.SOLUTIONS_CHANGED)

    def remove(self, numbers: Iterable[int], then: int | None = None) -> None:
        """Take solutions out of the list, pinned or not, and show ``then`` if the shown one is among them."""
        gone = set(numbers)
        removed = tuple(entry for entry in self._entries if entry.number in gone)
        selected = self._selected
        if not removed:
            return
        name = f"removal of {format_count(len(removed), 'solution')}"
        back = partial(self._put_back, removed, selected)
        again = partial(self._take_out, gone, then)
        self._history.add(Step(name, SOLUTIONS_AT, back, again))
        again()

    def _take_out(self, gone: Container[int], then: int | None) -> None:
        self._entries = [entry for entry in self._entries if entry.number not in gone]
        used = {entry.run.id for entry in self._entries} | self._open_runs
        self._runs = {run_id: run for run_id, run in self._runs.items() if run_id in used}
        self.modified = True
        self._notify(Event.SOLUTIONS_CHANGED)
        if self._selected in gone:
            self.select(then)
        if self._compared in gone:
            self.compare_with(None)

    def _put_back(self, removed: Sequence[ResultRow], selected: int | None) -> None:
        """List removed solutions again where they were; a run that ended meanwhile has the final word on its own."""
        for entry in removed:
            run = self._runs.setdefault(entry.run.id, entry.run)
            final = (
                {solution.id: solution for solution in run.result.solutions}
                if run.result is not None
                else {}
            )
            self._entries.append(
                replace(entry, run=run, solution=final.get(entry.solution.id, entry.solution))
            )
        self._entries.sort(key=lambda entry: entry.number)
        self._notify(Event.SOLUTIONS_CHANGED)
        self.select(selected)

    def listed_before(self, choices: Choices) -> tuple[ResultRow, ...]:
        """Return the solutions of an earlier run with the same settings, if all of them are still listed."""
        key = scenario_of(choices)
        for run in self._runs.values():
            if run.key != key or run.outdated or run.result is None or not choices.same_run(run.choices):
                continue
            mine = tuple(entry for entry in self._entries if entry.run.id == run.id)
            if len(mine) == len(run.result.solutions):
                return mine
        return ()

    def restore_results(self, entries: Iterable[ResultRow]) -> None:
        """Take over the results of a project."""
        self._entries = list(entries)
        self._runs = {entry.run.id: entry.run for entry in self._entries}
        self._next_run = max(self._runs, default=0) + 1
        self._next_number = max((entry.number for entry in self._entries), default=0) + 1
        self._selected = self._compared = self.chosen_region = None
        self._notify(Event.SOLUTIONS_CHANGED, Event.SELECTION_CHANGED, Event.REGION_CHOSEN)

    def mark_outdated(self, records_sha256: str, region_ids_sha256: str) -> None:
        """Files were read again: results of other records or regions can be looked at but not released."""
        for run in tuple(self._runs.values()):
            same = (run.records_sha256, run.region_ids_sha256) == (records_sha256, region_ids_sha256)
            if run.outdated is same:
                self._replace_run(replace(run, outdated=not same))
        self._notify(Event.SOLUTIONS_CHANGED)

    # Selection: table, charts and map share it

    @property
    def selected(self) -> ResultRow | None:
        """The solution that is shown."""
        return None if self._selected is None else self.entry(self._selected)

    @property
    def compared(self) -> ResultRow | None:
        """The second solution of the side-by-side view."""
        return None if self._compared is None else self.entry(self._compared)

    def select(self, number: int | None) -> None:
        """Select a solution (None: none), of which no region is chosen yet."""
        if number != self._selected:
            self._selected = number
            self.chosen_region = None
            self._notify(Event.SELECTION_CHANGED, Event.REGION_CHOSEN)

    def compare_with(self, number: int | None) -> None:
        """Put another solution beside the shown one."""
        self._set("_compared", number, Event.SELECTION_CHANGED)

    @property
    def chosen_pair(self) -> tuple[int, int] | None:
        """The numbers of the two solutions that are selected in the list, if exactly two are: the shown one first."""
        pair = self._chosen_pair
        return (
            pair if pair is not None and all(self.entry(number) is not None for number in pair) else None
        )

    def choose_pair(self, numbers: tuple[int, ...] | None) -> None:
        """Remember which two solutions a comparison is to show; None: it chooses by itself."""
        self._chosen_pair = None if numbers is None else (numbers[0], numbers[1])

    def choose_region(self, region: int | None) -> None:
        """Look at another aggregated region of the shown solution."""
        self._set("chosen_region", region, Event.REGION_CHOSEN)

    def change_map_style(self, style: MapStyle) -> None:
        """Draw the map in another style."""
        self._set("map_style", style, Event.MAP_STYLE_CHANGED, modifies=True)

    def colour_by(self, figure: str | None) -> None:
        """Colour the map by another figure."""
        self._set("coloured_by", figure, Event.COLOURING_CHANGED)


def _list_keys(result: RunResult) -> list[tuple[Any, ...]]:
    """Return what tells the solutions of one scenario apart."""
    return [
        (solution.approaches, solution.parameters, solution.site_count) for solution in result.solutions
    ]
