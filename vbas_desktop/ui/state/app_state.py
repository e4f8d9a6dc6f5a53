"""The state of the window: one object with everything that is shown. Changed by one thread only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.checklist import ExportChoices
from vbas_desktop.app.data import LoadedData
from vbas_desktop.app.region_edit import RegionEdit
from vbas_desktop.app.release import ReleaseRequest
from vbas_desktop.app.run import AlternativesRequest, RunOutcome, RunRequest
from vbas_desktop.approaches.registry import NOTHING, USUAL, preset
from vbas_desktop.approaches.selection import approach_options
from vbas_desktop.engine.partitions import TrialCache
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.records import Role, SourceFile
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.text import shorten
from vbas_desktop.settings.writing import RecipientOptions

from .choices import Choices, describe_choices
from .documents import DocumentedResults
from .events import Event
from .history import CHOICES_AT, Step
from .map_style import MapStyle
from .opening import OpenedProject
from .project import ProjectState
from .releasing import build_run_result, choose_loss_limit
from .remedies import Remedy, list_remedies
from .requests import OpenedFiles, OpenFilesRequest, RunTask, is_same_region_file
from .scenario import ResultRow, RunEntry, Scenario, reason_not_to_run, scenario_of
from .view_settings import ViewSettings

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable
    from vbas_desktop.settings.release import ReleaseOptions

_NAMED_FILES = ("obstacles", "codebook", "keep_records", "drop_records", "coarsen_from", "region_map")
"""Settings that name files besides the records and the regions."""


class AppState(DocumentedResults):
    """Data, choices, runs, and selection, with an event for every change.

    Reading: `table`, `regions`, `problem`, `choices`, `entries`, `selected`, `chosen_region`, `pareto_measures`.
    Every method that changes something notifies the subscribers afterwards.
    """

    def __init__(self) -> None:
        super().__init__()
        self.records_path: Path | None = None
        self.regions_path: Path | None = None
        self.failed_load: OpenFilesRequest | None = None
        """The files that could not be read, with reading options of their own: choices belong to the loaded files."""
        self.table: RecordTable | None = None
        self.regions: Regions | None = None
        self._refusal: tuple[Choices, str, tuple[Finding, ...]] | None = None
        self._region_columns: tuple[str, ...] = ()
        self.project_path: Path | None = None
        self._document: Mapping[str, Any] = {}
        self._trials = TrialCache()
        self.region_ids_sha256 = ""
        self._pace = 1.0
        self.edit: RegionEdit | None = None
        """The solution that is being edited by hand; None: none is."""
        self.view = ViewSettings()
        """The layers of the map and the kind of chart that were chosen."""
        self.shows_research = False
        """Options, measures and tools for research are shown."""

    # Data

    @property
    def has_data(self) -> bool:
        """Say if both files are loaded."""
        return self.table is not None and self.regions is not None

    def accept_data(self, loaded: OpenedFiles, fresh: bool = True) -> None:
        """Take over loaded files. ``fresh`` files begin with guessed roles and an empty list of results; else (the same
        files read again with other options, or a project's files) roles and results stay.
        """
        if fresh or not is_same_region_file(self.regions, loaded.regions):
            self.regions = loaded.regions
        self.table = loaded.table
        self.records_path = loaded.request.records
        self.regions_path = loaded.request.regions
        self.region_ids_sha256 = loaded.region_ids_sha256
        self._region_columns = loaded.region_columns
        self._pace = loaded.pace
        self._problem = self._refusal = self.failed_load = None
        self._trials = TrialCache()
        self._open_runs.clear()
        roles = dict(loaded.guessed_roles)
        if not fresh:
            loaded_roles = {
                name: role for name, role in loaded.request.choices.roles.items() if name in roles
            }
            guessed = next((name for name, role in roles.items() if role is Role.REGION), None)
            if guessed is not None and Role.REGION not in loaded_roles.values():
                # A region map that was just named tells which column has the regions.
                loaded_roles.pop(guessed, None)
            roles |= loaded_roles
        # Groups belong to the categories of one file; those of other files would be without effect, or a trap.
        chosen = loaded.request.choices.replaced(roles=roles)
        self._history.restart(chosen.replaced(groupings={}, benign={}, criteria=()) if fresh else chosen)
        if fresh:
            self.project_path = None
            self._document = {}
            self.restore_results(())
            self.clear_documents()
            self.map_style = MapStyle()
        else:
            self.mark_outdated(loaded.table.source.identity, loaded.region_ids_sha256)
        self.modified = not fresh
        self.map_style = self.map_style.fitting(loaded.regions.columns)
        self._notify(Event.DATA_LOADED, Event.CHOICES_CHANGED, Event.MAP_STYLE_CHANGED)

    # Reading

    def request_load(self, records: Path, regions: Path, fresh: bool = False) -> OpenFilesRequest:
        """Return the request to load these two files.

        The files that are loaded are read with the choices in force, unless they shall begin ``fresh``; others begin
        with the usual ones: what was chosen for one data set says nothing about the next.
        """
        same = (records, regions) == (self.records_path, self.regions_path)
        return OpenFilesRequest(records, regions, self.choices if same and not fresh else Choices())

    def request_reload(self) -> OpenFilesRequest | None:
        """Return the request to read the files again: those that could not be read, or else those that are loaded."""
        if self.failed_load is not None:
            return self.failed_load
        if self.records_path is None or self.regions_path is None:
            return None
        return self.request_load(self.records_path, self.regions_path)

    def set_failed_load(self, request: OpenFilesRequest) -> None:
        """Keep the request for files that could not be read; reading options are those of this request from now on."""
        self.failed_load = request
        self._notify(Event.CHOICES_CHANGED)

    def clear_failed_load(self) -> None:
        """Drop the request that failed; reading options are those of the loaded files again."""
        self._set("failed_load", None, Event.CHOICES_CHANGED)

    @property
    def reading_choices(self) -> Choices:
        """The choices whose reading options are shown: those of the files that could not be read, if there are any."""
        return self.choices if self.failed_load is None else self.failed_load.choices

    def change_reading(self, **values: Any) -> None:
        """Change reading options: of the files that could not be read if there are any, else of the loaded ones."""
        if self.failed_load is None:
            self.change_fields(**values)
            return
        self.failed_load = replace(self.failed_load, choices=self.failed_load.choices.replaced(**values))
        self._notify(Event.CHOICES_CHANGED)

    # Choices

    def change(self, choices: Choices, merge: str | None = None) -> None:
        """Put other choices in force; consecutive changes with the same ``merge`` name are one step of undo."""
        if self._history.change(choices, merge):
            self.modified = True
            self._notify(Event.CHOICES_CHANGED)

    def change_fields(self, merge: str | None = None, **values: Any) -> None:
        """Put other values of some choices in force."""
        self.change(self.choices.replaced(**values), merge)

    def follow_policy(self, policy: str, choices: Choices) -> None:
        """Judge by a policy (an id or a file; empty: none) from now on, with choices that fit it: one step of undo."""
        if (policy, choices) == (self.policy.policy, self.choices):
            return
        back = partial(self._restore_policy, self.policy.policy, self.choices)
        again = partial(self._restore_policy, policy, choices)
        self._history.add(Step("choice of policy", CHOICES_AT, back, again))
        again()
        self.modified = True
        self._notify(Event.CHOICES_CHANGED)

    def _restore_policy(self, policy: str, choices: Choices) -> None:
        self._history.set_choices(choices)
        self.set_policy_notes(self.policy.with_policy(policy=policy))

    def begin_with(self, choices: Choices) -> None:
        """Put choices in force with which freshly loaded files begin: there is nothing before them to go back to."""
        self._history.restart(choices)
        self._notify(Event.CHOICES_CHANGED)

    def undo(self) -> Step | None:
        """Undo the last step, be it a choice, something done to the list of solutions, or a change of the solution
        that is being edited by hand; return the step.
        """
        return (
            self._apply_step(self._history.undo)
            if self.edit is None
            else self._apply_edit_step(self.edit.undo)
        )

    def redo(self) -> Step | None:
        """Redo the step that was undone last, and return it; None if there is none."""
        return (
            self._apply_step(self._history.redo)
            if self.edit is None
            else self._apply_edit_step(self.edit.redo)
        )

    def _apply_edit_step(self, move: Callable[[], str | None]) -> Step | None:
        step = _edit_step(move())
        self.notify_edited()
        return step

    def _apply_step(self, move: Callable[[], Step | None]) -> Step | None:
        before = self.choices
        step = move()
        if self.choices != before:
            self.modified = True
            self._notify(Event.CHOICES_CHANGED)
        return step

    @property
    def last_step(self) -> Step | None:
        """Return the step that undo reverts, or None."""
        return self._history.last if self.edit is None else _edit_step(self.edit.undo_name)

    @property
    def next_step(self) -> Step | None:
        """Return the step that redo applies, or None."""
        return self._history.next if self.edit is None else _edit_step(self.edit.redo_name)

    @property
    def combination(self) -> str:
        """The chosen combination in words."""
        return describe_choices(self.choices.approaches)

    @property
    def pareto_measures(self) -> tuple[str, ...]:
        """The measures that take part in dominance."""
        chosen = self.choices.pareto_measures
        return preset(USUAL) if chosen is None else chosen

    # The problem that the choices describe

    def why_not_run(self) -> str | None:
        """Say why a run cannot start and what to do about it; None if it can."""
        if (
            self.regions_path is not None
            and self.choices.region_column is None
            and not self._region_columns
        ):
            return (
                f"No column of the records has ids of {shorten(self.regions_path.name)}. Open the region file that "
                "belongs to these records, or give the column with the ids the role “region”."
            )
        refused = (
            self._refusal[1] if self._refusal is not None and self._refusal[0] == self.choices else None
        )
        return reason_not_to_run(self.table, self.regions, self.choices) or refused

    def list_remedies(self) -> tuple[Remedy, ...]:
        """List the ways out of what is in the way of a run."""
        if not self.has_data:
            return ()
        findings = (
            self._refusal[2] if self._refusal is not None and self._refusal[0] == self.choices else ()
        )
        return list_remedies(self.choices, self.regions, self._region_columns, findings)

    def refuse_problem(self, choices: Choices, reason: str, findings: tuple[Finding, ...] = ()) -> None:
        """Store why these choices cannot be run, as found while counting."""
        self._refusal = (choices, reason, findings)
        self._notify(Event.PROBLEM_COUNTED)

    @property
    def problem_key(self) -> Scenario | None:
        """Return the scenario of the settings in force, or None while they are incomplete."""
        return scenario_of(self.choices)

    @property
    def problem(self) -> Problem | None:
        """The counted problem of the choices in force, or None until it is counted (see `request_run`)."""
        key = self.problem_key
        return None if key is None else self.counted(key)

    def counted(self, key: Scenario) -> Problem | None:
        """Return the problem of a key if its counts are at hand; another k needs no new counts."""
        for scenario, problem in self._known_problems():
            if scenario == key:
                return problem
            if scenario.same_counts(key):
                return replace(problem, k=key.k)
        return None

    def _known_problems(self) -> Iterable[tuple[Scenario, Problem]]:
        if self._problem is not None:
            yield self._problem
        for run in self._runs.values():
            if run.problem is not None and self._has_these_files(run.problem):
                yield run.key, run.problem

    def _has_these_files(self, problem: Problem) -> bool:
        if self.table is None or problem.regions is not self.regions or problem.records_source is None:
            return False
        return problem.records_source == self.table.source

    def accept_problem(self, key: Scenario, problem: Problem) -> None:
        """Keep the counts of a problem, unless other data were loaded while it was counted."""
        if self._has_these_files(problem):
            self._problem = (key, problem)
            self._notify(Event.PROBLEM_COUNTED)

    # Runs

    def request_run(self) -> RunTask:
        """Freeze the choices into a run and give it a number. Call `why_not_run` first."""
        key = self.problem_key
        assert key is not None
        return self._register_run(key, self.choices, self.combination)

    def request_edited_run(self, entry: ResultRow, crosswalk: Path) -> RunTask:
        """Freeze the settings of a solution, with the regions of a crosswalk instead of its own, into a run."""
        choices = entry.run.choices.with_approach("construction", "given").with_approach(
            "refinement", NOTHING
        )
        values = {"file": str(crosswalk.absolute()), "origin": f"edited from #{entry.number}"}
        for name, value in values.items():
            choices = choices.with_parameter("construction", "given", name, value)
        return self._register_run(entry.run.key, choices, f"Edited from #{entry.number:,}")

    def _register_run(self, key: Scenario, choices: Choices, title: str) -> RunTask:
        """Give a run the next number and list it among those whose solutions are accepted."""
        task = self._frozen_choices(self._next_run, key, choices)
        self._next_run += 1
        self._runs[task.run_id] = task.as_run(title)
        self._open_runs.add(task.run_id)
        return task

    # Editing by hand

    def begin_edit(self, edit: RegionEdit | None) -> None:
        """Edit a solution by hand from now on, or (None) no longer: undo and redo are those of the edit."""
        self._set("edit", edit, Event.EDITED)

    def notify_edited(self) -> None:
        """Notify that the edited solution changed."""
        self._notify(Event.EDITED)

    def request_estimate(self) -> RunTask | None:
        """Freeze the choices for an estimate before the run; None while they make no complete run."""
        key = self.problem_key
        return (
            None
            if key is None or self.why_not_run() is not None
            else self._frozen_choices(0, key, self.choices)
        )

    def request_alternatives(self, run: RunEntry) -> AlternativesRequest:
        """Freeze what a thread needs to try the other aim and tiers with the settings of a counted run."""
        assert run.problem is not None
        return AlternativesRequest(run.settings, run.problem, self._trials)

    def _frozen_choices(self, run_id: int, key: Scenario, choices: Choices) -> RunTask:
        assert self.table is not None
        assert self.regions is not None
        data = LoadedData(self.table, self.regions)
        request = RunRequest(choices.settings(), data, self.counted(key), trials=self._trials)
        return RunTask(run_id, request, choices, key, self.region_ids_sha256, self._pace)

    def begin_counted(self, run_id: int, problem: Problem) -> None:
        """Take over the counted problem of a run: from now on its solutions can be drawn."""
        if run_id in self._open_runs:
            self._replace_run(replace(self._runs[run_id], problem=problem))
            self.accept_problem(self._runs[run_id].key, problem)

    def change_view(self, **values: Any) -> None:
        """Show other layers of the map, or another kind of chart; projects restore it, but need not be saved for it."""
        self._set("view", replace(self.view, **values), Event.VIEW_CHANGED)

    def show_research(self, is_shown: bool) -> None:
        """Show or hide options, measures and tools for research."""
        self._set("shows_research", is_shown, Event.RESEARCH_SHOWN)

    # Releasing

    def request_release(
        self,
        entry: ResultRow,
        options: ReleaseOptions,
        target: Path,
        handing: RecipientOptions | None = None,
    ) -> ReleaseRequest:
        """Freeze what a thread needs to write the release of a solution. Call `explain_why_not_releasable` first."""
        assert self.table is not None
        assert entry.problem is not None
        export = ExportChoices(
            options.shuffle, len(options.renames), options.record_key is not None, len(options.aggregate)
        )
        self.set_policy_notes(self.policy.with_export(export).with_policy(policy=options.policy or ""))
        ran = RunOutcome(
            entry.run.settings, self.table, entry.problem, build_run_result(entry.run, self.entries)
        )
        policy = None
        if self.policy.notes or self.policy.choices or self.policy.signed_by:
            policy = self.policy_document(entry, export)
        requirement = self.requirement if self.has_requirement else None
        handing = handing or RecipientOptions()
        job = ReleaseRequest(
            ran, entry.solution.id, options, target, requirement, policy, handing=handing
        )
        # A person is asked before an earlier release is replaced.
        return replace(
            job, loss_limit_percent=choose_loss_limit(entry.run, self.choices), replaces=False
        )

    # Files

    def named_inputs(self) -> dict[str, Any]:
        """List what is read, by the names of the options; nothing may be saved over it."""
        files = {"records": self.records_path, "regions": self.regions_path, "file": self.project_path}
        chosen = self.choices
        reading = {name: getattr(chosen, name) for name in _NAMED_FILES}
        given = {"set": approach_options(chosen.settings())["set"]}
        return {
            **files,
            **reading,
            **given,
            "policy": self.policy.policy,
            "population": self.policy.population,
        }

    # Projects

    def snapshot(self) -> ProjectState | None:
        """Return the content of a project file, or None without data."""
        if self.table is None or self.regions is None:
            return None
        regions = self.regions.source or SourceFile(str(self.regions_path), 0, "")
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
            self.map_style,
            replace(self.view, coloured_by=self.coloured_by),
        )

    def accept_project(self, opened: OpenedProject) -> None:
        """Take over a project whose files are loaded."""
        assert opened.loaded is not None
        self.accept_data(opened.loaded, fresh=False)
        self.restore_results(opened.entries)
        self._document = opened.state.document
        self.restore_documents(opened.state)
        self.change_map_style(opened.state.map_style.fitting(opened.loaded.regions.columns))
        self.change_view(layers=opened.state.view.layers, chart=opened.state.view.chart)
        self.colour_by(opened.state.view.coloured_by)
        self.project_path = opened.path
        self.modified = bool(opened.changed)
        if opened.state.selected is not None and self.entry(opened.state.selected) is not None:
            self.select(opened.state.selected)
            self.choose_region(opened.state.chosen_region)
        self._notify(Event.SAVED)

    def saved_as(self, path: Path, everything: bool = True) -> None:
        """Store where the project was saved; ``everything``: it holds all changes, so that the state is unmodified."""
        self.project_path = path
        self.modified = not everything
        self._notify(Event.SAVED)


def _edit_step(name: str | None) -> Step | None:
    """Describe a step of an edit by hand, which is seen at the regions; the edit itself undoes and redoes it."""
    return None if name is None else Step(name, "Regions", _do_nothing, _do_nothing)


def _do_nothing() -> None:
    """Do nothing."""
