"""Turns intents into work: opening, running, stopping. Owns no widgets; asks through dialogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.io.places import sample_data
from vbas_desktop.jobs.ledger import Earlier, ReuseJob
from vbas_desktop.model.errors import Finding
from vbas_desktop.model.problem import Problem
from vbas_desktop.model.progress import Progress
from vbas_desktop.model.records import Role
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.words import counted
from vbas_desktop.release.ledger import Entry as LedgerEntry
from vbas_desktop.session.choices import Choices
from vbas_desktop.session.history import Step
from vbas_desktop.session.orders import Loaded, LoadOrder, RunOrder
from vbas_desktop.session.releasing import as_then
from vbas_desktop.session.results import Entry
from vbas_desktop.session.words import seconds_in_words

from .context import Context
from .dialogs.messages import show_failure, tell
from .dialogs.open_data import OpenDataDialog
from .settings import Settings
from .worker import Failure

Guard = Callable[[Callable[[], object]], None]
"""Does what it is given, after asking if unsaved work would be lost."""


_LOADING = "Loading"


class Controller(QObject):
    """The commands that need data or time. Every method may be called at any moment."""

    findings_changed = Signal()
    step_walked = Signal(str)

    def __init__(self, context: Context, settings: Settings, guarded: Guard, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._settings, self._guarded, self._window = context, settings, guarded, window
        self._session = context.session
        self._run_after_load = False
        self._sample: LoadOrder | None = None
        self.findings: tuple[Finding, ...] = ()
        self.findings_of = ""
        """What the findings belong to if that is not the files that are loaded."""
        self._loaded_findings: tuple[Finding, ...] = ()
        context.model.choices_changed.connect(self._on_choices_changed)
        context.runner.job_started.connect(self._on_job_started)
        context.runner.job_failed.connect(self._on_job_failed)
        context.runner.job_refused.connect(self._on_job_refused)
        context.runner.job_stopped.connect(self._on_job_stopped)

    # Data

    @Slot()
    def open_data(self) -> None:
        """Ask for the two files, beginning with those that could not be read, or those that are loaded."""
        files, unread = (self._session.records_path, self._session.regions_path), self._session.unread
        self._guarded(partial(self._ask_for, *(files if unread is None else (unread.records, unread.regions))))

    @Slot()
    def open_sample(self) -> None:
        """Load the sample data and run them."""
        self._guarded(partial(self.load_sample, run=True))

    def load_sample(self, run: bool = False) -> None:
        """Load the sample data; with ``run`` show what comes of them at once."""
        folder = sample_data()
        records, regions = _sample_files(folder)
        if records is None or regions is None:
            tell(self._window, "The sample data are missing.", f"They should be in {folder}. Reinstall the program.")
            return
        self._run_after_load, self._sample = run, self._session.order_load(records, regions, fresh=True)
        self._start_loading(self._sample)

    @Slot(Path, Path)
    def load(self, records: Path, regions: Path) -> None:
        """Load two files in the background."""
        self._start_loading(self._session.order_load(records, regions))

    def use_earlier(self, entry: LedgerEntry, join: bool) -> None:
        """Make the regions of an earlier release once more; to ``join`` them, open what was handed over."""
        then = self._on_join if join else self._on_reuse
        self._context.runner.start("Reading the earlier release", ReuseJob(entry).execute, then)

    def _on_reuse(self, earlier: Earlier) -> None:
        self._session.change(as_then(self._session.choices, earlier))
        self._run_after_load = True
        self.reload()
        self._context.say(
            f"Making the regions of {earlier.entry.title} once more, with its k ({earlier.entry.k:,}) and its "
            f"quasi-identifiers ({', '.join(earlier.entry.quasi_identifiers)}) in Input. Whatever columns of it are "
            "exported tell nothing new; who came and went in other records is compared again."
        )

    def _on_join(self, earlier: Earlier) -> None:
        title = earlier.entry.title
        if earlier.records is None or not earlier.regions.is_file():
            self._context.say(f"The files of {title} are not there any more.")
            return
        self._guarded(partial(self.load, earlier.records, earlier.regions))
        self._context.say(
            f"{title[:1].upper()}{title[1:]} is the data now: whatever is made from it tells nothing else. Run with "
            "fewer sites to join its regions."
        )

    def _start_loading(self, order: LoadOrder) -> None:
        abort = partial(self._session.refuse_data, order)
        self._context.runner.start(f"{_LOADING} {order.records.name}", order.execute, self._on_loaded, on_abort=abort)

    def open_files(self, paths: list[Path]) -> None:
        """Open dropped files: a project, a pair of files, or one half of a pair."""
        pair = sort_files(paths, self._session.records_path, self._session.regions_path)
        if pair is None:
            self._context.say("Drop a record file and a region file, or a project.")
        elif None in pair:
            self._ask_for(*pair)
        else:
            self.load(*pair)  # type: ignore[arg-type]

    def _ask_for(self, records: Path | None, regions: Path | None) -> None:
        dialog = OpenDataDialog(self._window, records, regions)
        dialog.chosen.connect(self.load)
        dialog.open()

    @Slot()
    def reload(self) -> None:
        """Read the same files again, or those that could not be read so far, with the reading options in force."""
        order = self._session.order_reading_again()
        if order is not None:
            self._start_loading(order)

    def _on_loaded(self, loaded: Loaded) -> None:
        same = (loaded.order.records, loaded.order.regions) == (self._session.records_path, self._session.regions_path)
        sample = loaded.order is self._sample
        self._session.accept_data(loaded, fresh=sample or not same)
        self._settings.remember_data(loaded.order.records, loaded.order.regions)
        self._loaded_findings = (*loaded.table.findings, *loaded.regions.findings)
        self._set_findings(self._loaded_findings)
        rows, places = counted(loaded.table.rows, "record"), counted(len(loaded.regions), "region")
        self._context.say(f"Loaded {rows} and {places}.")
        self._context.show_tab("Input")
        if sample:
            self._session.begin_with(sample_choices(self._session.choices))
        if self._run_after_load:
            self._run_after_load = False
            self.run()

    # Runs

    @Slot()
    def run(self) -> None:
        """Start the chosen combination, or say why it cannot start."""
        self.run_then(None)

    def run_then(self, then: Callable[[], None] | None) -> None:
        """The same; ``then`` is done once the run is complete."""
        reason = self._session.why_not_run()
        if reason is not None:
            self._context.say(reason)
            self._context.show_tab("Input")
            return
        if self._context.runner.busy:
            self._on_job_refused(self._context.runner.title)
            return
        listed = self._session.listed_before(self._session.choices)
        if listed:
            self._show_listed(listed)
            return
        self._start_run(self._session.order_run(), then)

    def _start_run(self, order: RunOrder, then: Callable[[], None] | None) -> None:
        """The run's number goes along from start to end, so that the session drops late news of an older run."""
        session, run = self._session, order.run_id

        def job(progress: Progress) -> RunResult:
            hand_out = progress.hand_out  # type: ignore[attr-defined]
            return order.execute(progress, on_problem=hand_out, on_solution=hand_out)

        def on_item(item: Problem | Solution) -> None:
            if isinstance(item, Problem):
                session.begin_counted(run, item)
            else:
                entry = session.add_solution(run, item)
                if entry is not None and session.selected is None:
                    session.select(entry.number)

        def on_result(result: RunResult) -> None:
            session.finish_run(run, result)
            self._context.say(_finished_in_words(result))
            self._context.show_tab("Results")
            if then is not None:
                # The runner is free again by then.
                QTimer.singleShot(0, self, then)

        title = f"Running {session.combination}"
        self._context.runner.start(title, job, on_result, on_item, partial(session.close_run, run))

    def _show_listed(self, entries: Sequence[Entry]) -> None:
        """The same settings would come to the same solutions once more."""
        self._session.select_best(entries)
        first, last = entries[0].number, entries[-1].number
        which = f"solution {first:,}" if first == last else f"solutions {first:,} to {last:,}"
        self._context.say(f"These settings were run before: {which}. Change a setting, or remove them to run again.")
        self._context.show_tab("Results")

    @Slot()
    def stop(self) -> None:
        """Stop what is going on."""
        if self._context.runner.busy:
            self._context.say("Stopping…")
            self._context.runner.stop()

    @Slot()
    def undo(self) -> None:
        """Take the last step back, where it can be seen."""
        self._walked("Taken back", self._session.undo())

    @Slot()
    def redo(self) -> None:
        """Make the last step again, where it can be seen."""
        self._walked("Made again", self._session.redo())

    def _walked(self, how: str, step: Step | None) -> None:
        if step is not None:
            self._context.say(f"{how}: {step.name}.")
            self.step_walked.emit(step.seen_at)

    def _set_findings(self, findings: tuple[Finding, ...], of: str = "") -> None:
        self.findings, self.findings_of = findings, of
        self.findings_changed.emit()

    def _what_failed(self, title: str) -> str:
        kept = self._session.records_path
        still = ""
        if kept is not None and title.startswith(_LOADING):
            # Of two files with one name the folder tells which is meant.
            name = f"{kept.parent.name}/{kept.name}" if title.endswith(f" {kept.name}") else kept.name
            still = f" {name} is still loaded."
        return f"{title} failed.{still}"

    @Slot()
    def _on_job_started(self) -> None:
        """What an earlier job complained of is history; what is odd about the loaded files stays."""
        self._session.forget_unread()
        self._forget_failure()

    @Slot()
    def _on_choices_changed(self) -> None:
        """What a run complained of may be mended; what a file lacks is not mended by other choices."""
        if self._session.unread is None:
            self._forget_failure()

    def _forget_failure(self) -> None:
        if self.findings_of:
            self._set_findings(self._loaded_findings)

    @Slot(object)
    def _on_job_failed(self, failure: Failure) -> None:
        self._run_after_load = False
        if failure.findings:
            self._set_findings(failure.findings, self._what_failed(failure.title))
        show_failure(self._window, failure)

    @Slot(str)
    def _on_job_stopped(self, title: str) -> None:
        self._run_after_load = False
        self._context.say("Stopped. What was finished is kept.")

    @Slot(str)
    def _on_job_refused(self, title: str) -> None:
        self._context.say(f"Still busy: {title}. Stop it first, or wait.")


def _finished_in_words(result: RunResult) -> str:
    """Say how many solutions a run found, and how long it took without and with loading."""
    told = f"{counted(len(result.solutions), 'solution')} in {seconds_in_words(result.seconds)}"
    if result.total_seconds is None:
        return f"{told}."
    return f"{told}; {seconds_in_words(result.total_seconds)} from start to finish, loading included."


def sample_choices(choices: Choices) -> Choices:
    """The choices that show most with the sample data: a sensitive column."""
    return choices.with_role("diagnosis", Role.SENSITIVE) if "diagnosis" in choices.roles else choices


def _sample_files(folder: Path) -> tuple[Path | None, Path | None]:
    """The sample's record and region file, whatever their endings."""
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        found.setdefault(path.name.partition(".")[0], path)
    return found.get("records"), found.get("regions")


_GEOMETRY = {".geojson", ".gpkg", ".shp", ".zip", ".json"}


def sort_files(
    paths: list[Path], records: Path | None = None, regions: Path | None = None
) -> tuple[Path | None, Path | None] | None:
    """Which of the given files are the records and which the regions; None if they make no sense.

    Geometry can only be regions; of two tables the smaller one is. A single table fills what is missing.
    """
    if len(paths) == 1:
        if paths[0].suffix.lower() in _GEOMETRY or (records is not None and regions is None):
            return records, paths[0]
        return paths[0], None
    if len(paths) != 2:
        return None
    first, second = sorted(paths, key=lambda path: (path.suffix.lower() in _GEOMETRY, -path.stat().st_size))
    return first, second
