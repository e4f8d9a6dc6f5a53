"""The session: one object that knows everything the window shows. Changed by one thread only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.problem import Problem
from vbas_desktop.domain.regions import Regions
from vbas_desktop.domain.solution import RunResult, Solution

from .choices import Choices, History, combination, default_pareto_measures
from .events import Event, Listener, Subject
from .guess import guess_roles
from .orders import Loaded, LoadOrder, RunOrder
from .ready import key_of, why_not
from .results import Entry, ProblemKey, Run

if TYPE_CHECKING:
    from vbas_desktop.files.records import RecordTable


class Session:
    """Data, choices, runs, and selection, with an event for every change.

    Reading: `table`, `regions`, `problem`, `choices`, `entries`, `selected`, `chosen_region`, `pareto_measures`.
    Every method that changes something tells its subscribers afterwards.
    """

    def __init__(self) -> None:
        self._subject = Subject()
        self._history = History()
        self.records_path: Path | None = None
        self.regions_path: Path | None = None
        self.table: RecordTable | None = None
        self.regions: Regions | None = None
        self.project_path: Path | None = None
        self.modified = False
        self._problem: tuple[ProblemKey, Problem] | None = None
        self._entries: list[Entry] = []
        self._runs: dict[int, Run] = {}
        self._open_runs: set[int] = set()
        self._next_run = 1
        self._next_number = 1
        self._selected: int | None = None
        self._compared: int | None = None
        self._chosen_region: int | None = None
        self._coloured_by: str | None = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` on every event; the returned function ends that."""
        return self._subject.subscribe(listener)

    # Data

    @property
    def has_data(self) -> bool:
        """Whether both files are loaded."""
        return self.table is not None and self.regions is not None

    def order_load(self, records: Path, regions: Path) -> LoadOrder:
        """What a thread needs to know to load these two files.

        Other files than before are read with the usual reading options: those in force name columns of the old ones.
        """
        same = (records, regions) == (self.records_path, self.regions_path)
        return LoadOrder(records, regions, self.choices if same else self.choices.with_usual_reading())

    def accept_data(self, loaded: Loaded, fresh: bool = True) -> None:
        """Take over loaded files. ``fresh`` files begin with guessed roles and an empty list of results; else (the same
        files read again with other options, or a project's files) roles and results stay.
        """
        self.table, self.regions = loaded.table, loaded.regions
        self.records_path, self.regions_path = loaded.order.records, loaded.order.regions
        self._problem = None
        self._open_runs.clear()
        roles = guess_roles(loaded.table, loaded.regions)
        if not fresh:
            roles |= {name: role for name, role in loaded.order.choices.roles.items() if name in roles}
        self._history.restart(replace(loaded.order.choices, roles=roles))
        if fresh:
            self.project_path = None
            self.restore_results(())
        self.modified = True
        self._tell(Event.DATA_LOADED, Event.CHOICES_CHANGED)

    # Choices

    @property
    def choices(self) -> Choices:
        """The choices in force."""
        return self._history.now

    @property
    def can_undo(self) -> bool:
        """Whether a choice can be taken back."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether a choice that was taken back can be made again."""
        return self._history.can_redo

    def change(self, choices: Choices, merge: str | None = None) -> None:
        """Put other choices in force; consecutive changes with the same ``merge`` name are one step of undo."""
        if self._history.change(choices, merge):
            self.modified = True
            self._tell(Event.CHOICES_CHANGED)

    def change_fields(self, merge: str | None = None, **values: Any) -> None:
        """Put other values of some choices in force."""
        self.change(replace(self.choices, **values), merge)

    def undo(self) -> None:
        """Take the last choice back."""
        self._history.undo()
        self.modified = True
        self._tell(Event.CHOICES_CHANGED)

    def redo(self) -> None:
        """Make the choice again that was taken back last."""
        self._history.redo()
        self.modified = True
        self._tell(Event.CHOICES_CHANGED)

    def restore_choices(self, choices: Choices) -> None:
        """Begin with these choices and an empty history, as a project or a recovered session does."""
        self._history.restart(choices)
        self._tell(Event.CHOICES_CHANGED)

    @property
    def combination(self) -> str:
        """The chosen combination in words."""
        return combination(self.choices)

    @property
    def pareto_measures(self) -> tuple[str, ...]:
        """The measures that take part in dominance."""
        chosen = self.choices.pareto_measures
        return default_pareto_measures() if chosen is None else chosen

    # The problem that the choices describe

    def why_not_run(self) -> str | None:
        """Why a run cannot start now, in words that say what to do; None if it can."""
        return why_not(self.table, self.regions, self.choices)

    @property
    def problem_key(self) -> ProblemKey | None:
        """What the choices in force would count; None while they are incomplete."""
        return key_of(self.choices)

    @property
    def problem(self) -> Problem | None:
        """The counted problem of the choices in force, or None until it is counted (see `order_run`)."""
        key = self.problem_key
        return None if key is None else self.counted(key)

    def counted(self, key: ProblemKey) -> Problem | None:
        """The problem of a key if its counts are at hand; another k needs no new counts."""
        for known, problem in self._known_problems():
            if known == key:
                return problem
            if known.same_counts(key):
                return replace(problem, k=key.k)
        return None

    def _known_problems(self) -> Iterable[tuple[ProblemKey, Problem]]:
        if self._problem is not None:
            yield self._problem
        for run in self._runs.values():
            # An outdated run's counts come from files that are no longer the ones loaded.
            if run.problem is not None and not run.outdated and run.problem.regions is self.regions:
                yield run.key, run.problem

    def accept_problem(self, key: ProblemKey, problem: Problem) -> None:
        """Keep the counts of a problem, unless other data were loaded while it was counted."""
        if problem.regions is self.regions:
            self._problem = (key, problem)
            self._tell(Event.PROBLEM_COUNTED)

    # Runs

    def order_run(self) -> RunOrder:
        """Freeze the choices into a run and give it a number. Call `why_not_run` first."""
        assert self.table is not None
        assert self.regions is not None
        key = self.problem_key
        assert key is not None
        run_id, self._next_run = self._next_run, self._next_run + 1
        order = RunOrder(run_id, self.table, self.regions, self.choices, key, self.counted(key), self.pareto_measures)
        self._runs[run_id] = order.as_run(self.combination)
        self._open_runs.add(run_id)
        self._tell(Event.RUN_STARTED)
        return order

    def begin_counted(self, run_id: int, problem: Problem) -> None:
        """The run's problem is counted: from now on its solutions can be drawn."""
        if run_id in self._open_runs:
            self._replace_run(replace(self._runs[run_id], problem=problem))
            self.accept_problem(self._runs[run_id].key, problem)

    def add_solution(self, run_id: int, solution: Solution) -> Entry | None:
        """Take one finished solution; None (and nothing happens) if its run is stale."""
        if run_id not in self._open_runs:
            return None
        entry = Entry(self._next_number, self._runs[run_id], solution)
        self._next_number += 1
        self._entries.append(entry)
        self.modified = True
        self._tell(Event.SOLUTION_ADDED)
        return entry

    def finish_run(self, run_id: int, result: RunResult) -> None:
        """Close a run with its complete result (which carries the final Pareto marks); selects its chosen solution."""
        if run_id not in self._open_runs:
            return
        self._open_runs.discard(run_id)
        final = {solution.id: solution for solution in result.solutions}
        self._entries = [
            replace(entry, solution=final.get(entry.solution.id, entry.solution)) if entry.run.id == run_id else entry
            for entry in self._entries
        ]
        self._replace_run(replace(self._runs[run_id], result=result))
        self._tell(Event.SOLUTIONS_CHANGED, Event.RUN_FINISHED)
        mine = [entry for entry in self._entries if entry.run.id == run_id]
        chosen = next((entry for entry in mine if entry.solution.id == result.chosen.id), None) if mine else None
        if chosen is not None:
            self.select(chosen.number)

    def close_run(self, run_id: int) -> None:
        """Close a run that was stopped or failed. Its finished solutions stay."""
        self._open_runs.discard(run_id)
        if run_id in self._runs and not any(entry.run.id == run_id for entry in self._entries):
            del self._runs[run_id]
        self._tell(Event.RUN_FINISHED)

    def _replace_run(self, run: Run) -> None:
        self._runs[run.id] = run
        self._entries = [replace(entry, run=run) if entry.run.id == run.id else entry for entry in self._entries]

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs that have or may still get solutions, oldest first."""
        return tuple(self._runs.values())

    # Solutions

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All solutions of all runs, in the order in which they came."""
        return tuple(self._entries)

    def entry(self, number: int) -> Entry | None:
        """The solution with this number, if it is still in the list."""
        return next((entry for entry in self._entries if entry.number == number), None)

    def pin(self, number: int, pinned: bool = True) -> None:
        """Mark a solution so that filters and "remove unpinned" leave it alone."""
        self._entries = [replace(entry, pinned=pinned) if entry.number == number else entry for entry in self._entries]
        self.modified = True
        self._tell(Event.SOLUTIONS_CHANGED)

    def remove(self, numbers: Iterable[int]) -> None:
        """Take solutions out of the list, pinned or not."""
        gone = set(numbers)
        self._entries = [entry for entry in self._entries if entry.number not in gone]
        used = {entry.run.id for entry in self._entries} | self._open_runs
        self._runs = {run_id: run for run_id, run in self._runs.items() if run_id in used}
        self.modified = True
        self._tell(Event.SOLUTIONS_CHANGED)
        if self._selected in gone:
            self.select(None)
        if self._compared in gone:
            self.compare_with(None)

    def restore_results(self, entries: Iterable[Entry]) -> None:
        """Take over the results of a project."""
        self._entries = list(entries)
        self._runs = {entry.run.id: entry.run for entry in self._entries}
        self._next_run = max(self._runs, default=0) + 1
        self._next_number = max((entry.number for entry in self._entries), default=0) + 1
        self._selected = self._compared = self._chosen_region = None
        self._tell(Event.SOLUTIONS_CHANGED, Event.SELECTION_CHANGED, Event.REGION_CHOSEN)

    # Selection: table, charts and map share it

    @property
    def selected(self) -> Entry | None:
        """The solution that is shown."""
        return None if self._selected is None else self.entry(self._selected)

    @property
    def compared(self) -> Entry | None:
        """The second solution of the side-by-side view."""
        return None if self._compared is None else self.entry(self._compared)

    @property
    def chosen_region(self) -> int | None:
        """The aggregated region (its dense number in the shown solution) that is looked at."""
        return self._chosen_region

    def select(self, number: int | None) -> None:
        """Show another solution."""
        if number != self._selected:
            self._selected = number
            self._chosen_region = None
            self._tell(Event.SELECTION_CHANGED, Event.REGION_CHOSEN)

    def compare_with(self, number: int | None) -> None:
        """Put another solution beside the shown one."""
        if number != self._compared:
            self._compared = number
            self._tell(Event.SELECTION_CHANGED)

    def choose_region(self, region: int | None) -> None:
        """Look at another aggregated region of the shown solution."""
        if region != self._chosen_region:
            self._chosen_region = region
            self._tell(Event.REGION_CHOSEN)

    @property
    def coloured_by(self) -> str | None:
        """The figure of aggregated regions that the map is coloured by; None: distinct fills."""
        return self._coloured_by

    def colour_by(self, figure: str | None) -> None:
        """Colour the map by another figure."""
        if figure != self._coloured_by:
            self._coloured_by = figure
            self._tell(Event.COLOURING_CHANGED)

    def saved_as(self, path: Path) -> None:
        """The project file is written: nothing would be lost now."""
        self.project_path, self.modified = path, False
        self._tell(Event.SAVED)

    def _tell(self, *events: Event) -> None:
        for event in events:
            self._subject.tell(event)
