"""The session: one object that knows everything the window shows. Changed by one thread only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vbas_desktop.approaches.registry import USUAL, preset
from vbas_desktop.assessment.policy import ExportChoices
from vbas_desktop.engine.advice import KeptTrials
from vbas_desktop.jobs.data import Data
from vbas_desktop.jobs.release import ReleaseJob
from vbas_desktop.jobs.run import AlternativesJob, Ran, RunJob
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Role
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.source import Source
from vbas_desktop.settings.writing import HandingOver

from .choices import Choices, in_words
from .events import Event
from .history import Step
from .map_look import MapLook
from .opening import OpenedProject
from .orders import Loaded, LoadOrder, RunOrder
from .papers import Papers
from .project import ProjectState
from .releasing import loss_limit_of, result_of
from .results import Entry, ProblemKey, Run, key_of, why_not

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable
    from vbas_desktop.release import ReleaseOptions

_NAMED_FILES = ("obstacles", "codebook", "keep_records", "drop_records", "coarsen_from", "region_map")
"""Settings that name files besides the records and the regions."""


class Session(Papers):
    """Data, choices, runs, and selection, with an event for every change.

    Reading: `table`, `regions`, `problem`, `choices`, `entries`, `selected`, `chosen_region`, `pareto_measures`.
    Every method that changes something tells its subscribers afterwards.
    """

    def __init__(self) -> None:
        super().__init__()
        self.records_path: Path | None = None
        self.regions_path: Path | None = None
        self.unread: LoadOrder | None = None
        """The files that could not be read, with reading options of their own: choices belong to the loaded files."""
        self.table: RecordTable | None = None
        self.regions: Regions | None = None
        self._refusal: tuple[Choices, str] | None = None
        self.project_path: Path | None = None
        self._document: Mapping[str, Any] = {}
        self._trials = KeptTrials()
        self.region_ids_sha256 = ""
        self._pace = 1.0

    # Data

    @property
    def has_data(self) -> bool:
        """Whether both files are loaded."""
        return self.table is not None and self.regions is not None

    def accept_data(self, loaded: Loaded, fresh: bool = True) -> None:
        """Take over loaded files. ``fresh`` files begin with guessed roles and an empty list of results; else (the same
        files read again with other options, or a project's files) roles and results stay.
        """
        if fresh or not self._same_regions(loaded):
            self.regions = loaded.regions
        self.table = loaded.table
        self.records_path, self.regions_path = loaded.order.records, loaded.order.regions
        self.region_ids_sha256, self._pace = loaded.region_ids_sha256, loaded.pace
        self._problem = self._refusal = self.unread = None
        self._trials = KeptTrials()
        self._open_runs.clear()
        roles = dict(loaded.guessed_roles)
        if not fresh:
            kept = {name: role for name, role in loaded.order.choices.roles.items() if name in roles}
            guessed = next((name for name, role in roles.items() if role is Role.REGION), None)
            if guessed is not None and Role.REGION not in kept.values():
                # A region map that was just named tells which column has the regions.
                kept.pop(guessed, None)
            roles |= kept
        # Groups belong to the categories of one file; those of other files would be without effect, or a trap.
        chosen = replace(loaded.order.choices, roles=roles)
        self._history.restart(replace(chosen, groupings={}, benign={}, criteria=()) if fresh else chosen)
        if fresh:
            self.project_path, self._document = None, {}
            self.restore_results(())
            self.forget_papers()
            self.look = MapLook()
        else:
            self.mark_outdated(loaded.table.source.identity, loaded.region_ids_sha256)
        self.modified = not fresh
        self.look = self.look.fitting(loaded.regions.columns)
        self._tell(Event.DATA_LOADED, Event.CHOICES_CHANGED, Event.LOOK_CHANGED)

    def _same_regions(self, loaded: Loaded) -> bool:
        """Whether the region file was read again unchanged: then what was made of it stays valid."""
        before, now = self.regions, loaded.regions
        return (
            before is not None
            and before.source == now.source
            and before.system == now.system
            and before.ids == now.ids
            and _sources(before) == _sources(now)
            and np.array_equal(before.points, now.points)
        )

    # Reading

    def order_load(self, records: Path, regions: Path, fresh: bool = False) -> LoadOrder:
        """What a thread needs to know to load these two files.

        The files that are loaded are read with the choices in force, unless they shall begin ``fresh``; others begin
        with the usual ones: what was chosen for one data set says nothing about the next.
        """
        same = (records, regions) == (self.records_path, self.regions_path)
        return LoadOrder(records, regions, self.choices if same and not fresh else Choices())

    def order_reading_again(self) -> LoadOrder | None:
        """Read the files that could not be read, or else those that are loaded, with their own reading options."""
        if self.unread is not None:
            return self.unread
        if self.records_path is None or self.regions_path is None:
            return None
        return self.order_load(self.records_path, self.regions_path)

    def refuse_data(self, order: LoadOrder) -> None:
        """These files could not be read: what is said about their reading from now on is about them."""
        self.unread = order
        self._tell(Event.CHOICES_CHANGED)

    def forget_unread(self) -> None:
        """The user went on with something else: reading options are those of the loaded files again."""
        self._put("unread", None, Event.CHOICES_CHANGED)

    @property
    def read_with(self) -> Choices:
        """The choices whose reading options are shown: those of the files that could not be read, if there are any."""
        return self.choices if self.unread is None else self.unread.choices

    def change_reading(self, **values: Any) -> None:
        """Say how the files are read: those that could not be read so far, or else those that are loaded."""
        if self.unread is None:
            self.change_fields(**values)
            return
        self.unread = replace(self.unread, choices=replace(self.unread.choices, **values))
        self._tell(Event.CHOICES_CHANGED)

    # Choices

    def change(self, choices: Choices, merge: str | None = None) -> None:
        """Put other choices in force; consecutive changes with the same ``merge`` name are one step of undo."""
        if self._history.change(choices, merge):
            self.modified = True
            self._tell(Event.CHOICES_CHANGED)

    def change_fields(self, merge: str | None = None, **values: Any) -> None:
        """Put other values of some choices in force."""
        self.change(replace(self.choices, **values), merge)

    def begin_with(self, choices: Choices) -> None:
        """Put choices in force with which freshly loaded files begin: there is nothing before them to go back to."""
        self._history.restart(choices)
        self._tell(Event.CHOICES_CHANGED)

    def undo(self) -> Step | None:
        """Take the last step back, be it a choice or something done to the list of solutions; tells which it was."""
        return self._walk(self._history.undo)

    def redo(self) -> Step | None:
        """Make the step again that was taken back last; tells which it was."""
        return self._walk(self._history.redo)

    def _walk(self, walk: Callable[[], Step | None]) -> Step | None:
        before, step = self.choices, walk()
        if self.choices != before:
            self.modified = True
            self._tell(Event.CHOICES_CHANGED)
        return step

    @property
    def last_step(self) -> Step | None:
        """What undo would take back."""
        return self._history.last

    @property
    def next_step(self) -> Step | None:
        """What redo would make again."""
        return self._history.next

    @property
    def combination(self) -> str:
        """The chosen combination in words."""
        return in_words(self.choices.approaches)

    @property
    def pareto_measures(self) -> tuple[str, ...]:
        """The measures that take part in dominance."""
        chosen = self.choices.pareto_measures
        return preset(USUAL) if chosen is None else chosen

    # The problem that the choices describe

    def why_not_run(self) -> str | None:
        """Why a run cannot start now, in words that say what to do; None if it can."""
        refused = self._refusal[1] if self._refusal is not None and self._refusal[0] == self.choices else None
        return why_not(self.table, self.regions, self.choices) or refused

    def refuse_problem(self, choices: Choices, reason: str) -> None:
        """Counting with these choices found something that is in the way of a run."""
        self._refusal = (choices, reason)
        self._tell(Event.PROBLEM_COUNTED)

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
            if run.problem is not None and self._of_these_files(run.problem):
                yield run.key, run.problem

    def _of_these_files(self, problem: Problem) -> bool:
        if self.table is None or problem.regions is not self.regions or problem.records_source is None:
            return False
        return problem.records_source == self.table.source

    def accept_problem(self, key: ProblemKey, problem: Problem) -> None:
        """Keep the counts of a problem, unless other data were loaded while it was counted."""
        if self._of_these_files(problem):
            self._problem = (key, problem)
            self._tell(Event.PROBLEM_COUNTED)

    # Runs

    def order_run(self) -> RunOrder:
        """Freeze the choices into a run and give it a number. Call `why_not_run` first."""
        key = self.problem_key
        assert key is not None
        run_id, self._next_run = self._next_run, self._next_run + 1
        order = self._frozen_choices(run_id, key)
        self._runs[run_id] = order.as_run(self.combination)
        self._open_runs.add(run_id)
        self._tell(Event.RUN_STARTED)
        return order

    def order_estimate(self) -> RunOrder | None:
        """The choices frozen for a look ahead; None while they make no complete run."""
        key = self.problem_key
        return None if key is None or self.why_not_run() is not None else self._frozen_choices(0, key)

    def order_alternatives(self, run: Run) -> AlternativesJob:
        """Freeze what a thread needs to try the other aim and tiers with the settings of a counted run."""
        assert run.problem is not None
        return AlternativesJob(run.settings, run.problem, self._trials)

    def _frozen_choices(self, run_id: int, key: ProblemKey) -> RunOrder:
        assert self.table is not None
        assert self.regions is not None
        job = RunJob(self.choices.settings(), Data(self.table, self.regions), self.counted(key), kept=self._trials)
        return RunOrder(run_id, job, self.choices, key, self.region_ids_sha256, self._pace)

    def begin_counted(self, run_id: int, problem: Problem) -> None:
        """The run's problem is counted: from now on its solutions can be drawn."""
        if run_id in self._open_runs:
            self._replace_run(replace(self._runs[run_id], problem=problem))
            self.accept_problem(self._runs[run_id].key, problem)

    # Releasing

    def order_release(
        self, entry: Entry, options: ReleaseOptions, target: Path, handing: HandingOver | None = None
    ) -> ReleaseJob:
        """Freeze what a thread needs to write the release of a solution. Call `why_not_release` first."""
        assert self.table is not None
        assert entry.problem is not None
        export = ExportChoices(
            options.shuffle, len(options.renames), options.record_key is not None, len(options.aggregate)
        )
        self.note_policy(self.policy.exporting(export).judging(policy=options.policy or ""))
        ran = Ran(entry.run.settings, self.table, entry.problem, result_of(entry.run, self.entries))
        policy = None
        if self.policy.notes or self.policy.choices or self.policy.signed_by:
            policy = self.policy_document(entry, export)
        requirement = self.requirement if self.has_requirement else None
        handing = handing or HandingOver()
        job = ReleaseJob(ran, entry.solution.id, options, target, requirement, policy, handing=handing)
        # A person is asked before an earlier release is replaced.
        return replace(job, loss_limit_percent=loss_limit_of(entry.run, self.choices), replaces=False)

    # Files

    def named_inputs(self) -> dict[str, Any]:
        """List what is read, by the names of the options; nothing may be saved over it."""
        files = {"records": self.records_path, "regions": self.regions_path, "file": self.project_path}
        chosen = self.choices
        reading = {name: getattr(chosen, name) for name in _NAMED_FILES}
        return {**files, **reading, "policy": self.policy.policy, "population": self.policy.population}

    # Projects

    def snapshot(self) -> ProjectState | None:
        """What a project file would hold now; None without data."""
        if self.table is None or self.regions is None:
            return None
        regions = self.regions.source or Source(str(self.regions_path), 0, "")
        entries = tuple(self._entries)
        return ProjectState(
            self.table.source,
            regions,
            self.choices,
            entries,
            self._selected,
            self.chosen_region,
            self._document,
            self.requirement.as_dict() if self.has_requirement or self.requirement.title else {},
            self.policy.as_json(),
            self.look,
        )

    def accept_project(self, opened: OpenedProject) -> None:
        """Take over a project whose files are loaded."""
        assert opened.loaded is not None
        self.accept_data(opened.loaded, fresh=False)
        self.restore_results(opened.entries)
        self._document = opened.state.document
        self.papers_of(opened.state)
        self.change_look(opened.state.look.fitting(opened.loaded.regions.columns))
        self.project_path, self.modified = opened.path, bool(opened.changed)
        if opened.state.selected is not None and self.entry(opened.state.selected) is not None:
            self.select(opened.state.selected)
            self.choose_region(opened.state.chosen_region)
        self._tell(Event.SAVED)

    def saved_as(self, path: Path, everything: bool = True) -> None:
        """The project file is written; if it holds ``everything``, nothing would be lost now."""
        self.project_path, self.modified = path, not everything
        self._tell(Event.SAVED)


def _sources(regions: Regions) -> tuple[Source, ...]:
    earlier = () if regions.earlier is None else (regions.earlier.source,)
    mapping = () if regions.mapping is None else (regions.mapping.source,)
    obstacles = () if regions.obstacles is None else regions.obstacles.sources
    return (*obstacles, *earlier, *mapping)
