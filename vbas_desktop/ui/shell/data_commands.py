"""The actions on data: open files, read them again, say what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from vbas_desktop.app.ledger import RecordedRelease, find_recorded_release
from vbas_desktop.io.paths import sample_data_folder
from vbas_desktop.model.findings import Finding
from vbas_desktop.model.records import Role
from vbas_desktop.model.text import format_count
from vbas_desktop.releases.ledger import LedgerEntry as LedgerEntry

from ..core.context import UiContext
from ..dialogs.messages import show_failure, show_information
from ..dialogs.open_data import OpenDataDialog
from ..presentation.messages import TaskFailure
from ..state.choices import Choices
from ..state.releasing import reuse_settings
from ..state.requests import OpenedFiles, OpenFilesRequest, open_files
from .preferences import Preferences

Guard = Callable[[Callable[[], object]], None]
"""Calls what it is given, after asking if unsaved work would be lost."""


_LOADING = "Loading"


class DataCommands(QObject):
    """Opens data in the background, asking through dialogs. `findings_changed()`: see ``findings``."""

    findings_changed = Signal()

    def __init__(
        self, context: UiContext, settings: Preferences, confirm_unsaved_then: Guard, window: QWidget
    ) -> None:
        super().__init__(window)
        self._context = context
        self._settings = settings
        self._confirm_unsaved_then = confirm_unsaved_then
        self._window = window
        self._state = context.state
        self._run_after_load = False
        self._sample: OpenFilesRequest | None = None
        self.findings: tuple[Finding, ...] = ()
        self.findings_of = ""
        """What the findings belong to if that is not the files that are loaded."""
        self._loaded_findings: tuple[Finding, ...] = ()
        context.model.choices_changed.connect(self._on_choices_changed)
        context.worker.job_started.connect(self._on_job_started)
        context.worker.job_failed.connect(self._on_job_failed)
        context.worker.job_stopped.connect(self._on_job_stopped)

    # Data

    @Slot()
    def open_data(self) -> None:
        """Ask for the two files, beginning with those that could not be read, or those that are loaded."""
        files = (self._state.records_path, self._state.regions_path)
        failed_load = self._state.failed_load
        self._confirm_unsaved_then(
            partial(
                self._ask_for,
                *(files if failed_load is None else (failed_load.records, failed_load.regions)),
            )
        )

    @Slot()
    def open_sample(self) -> None:
        """Load the sample data and run them."""
        self._confirm_unsaved_then(partial(self.load_sample, run=True))

    def load_sample(self, run: bool = False) -> None:
        """Load the sample data; with ``run`` show what comes of them at once."""
        folder = sample_data_folder()
        records, regions = _sample_files(folder)
        if records is None or regions is None:
            show_information(
                self._window,
                "The sample data are missing.",
                f"They should be in {folder}. Reinstall the program.",
            )
            return
        self._run_after_load = run
        self._sample = self._state.request_load(records, regions, fresh=True)
        self._start_loading(self._sample)

    @Slot(Path, Path)
    def load(self, records: Path, regions: Path) -> None:
        """Load two files in the background."""
        self._start_loading(self._state.request_load(records, regions))

    def use_earlier(self, entry: LedgerEntry, join: bool) -> None:
        """Make the regions of an earlier release once more; to ``join`` them, open what was handed over."""
        then = self._on_join if join else self._on_reuse
        self._context.worker.start(
            "Reading the earlier release", partial(find_recorded_release, entry), then
        )

    def _on_reuse(self, earlier: RecordedRelease) -> None:
        self._state.change(reuse_settings(self._state.choices, earlier))
        self._run_after_load = True
        self.reload()
        self._context.show_message(
            f"Making the regions of {earlier.entry.title} again, with its k ({earlier.entry.k:,}) and its "
            f"quasi-identifiers ({', '.join(earlier.entry.quasi_identifiers)}) in Input. Whatever columns of it are "
            "exported reveal nothing new; if the records changed, who came and went is compared again."
        )

    def _on_join(self, earlier: RecordedRelease) -> None:
        title = earlier.entry.title
        if earlier.records is None or not earlier.regions.is_file():
            self._context.show_message(f"The files of {title} no longer exist.")
            return
        self._confirm_unsaved_then(partial(self.load, earlier.records, earlier.regions))
        self._context.show_message(
            f"{title[:1].upper()}{title[1:]} is loaded now; what is made from it reveals nothing else. Run with "
            "fewer sites to join its regions."
        )

    def _start_loading(self, request: OpenFilesRequest) -> None:
        abort = partial(self._state.set_failed_load, request)
        title = f"{_LOADING} {request.records.name}"
        self._context.worker.start(title, partial(open_files, request), self._on_loaded, on_abort=abort)

    def open_files(self, paths: list[Path]) -> None:
        """Open dropped files: a project, a pair of files, or one half of a pair."""
        pair = sort_files(paths, self._state.records_path, self._state.regions_path)
        if pair is None:
            self._context.show_message("Drop a record file and a region file, or a project.")
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
        order = self._state.request_reload()
        if order is not None:
            self._start_loading(order)

    def _on_loaded(self, loaded: OpenedFiles) -> None:
        same = (loaded.request.records, loaded.request.regions) == (
            self._state.records_path,
            self._state.regions_path,
        )
        sample = loaded.request is self._sample
        self._state.accept_data(loaded, fresh=sample or not same)
        self._settings.remember_data(loaded.request.records, loaded.request.regions)
        self._loaded_findings = (*loaded.table.findings, *loaded.regions.findings)
        self._set_findings(self._loaded_findings)
        rows = format_count(loaded.table.rows, "record")
        regions = format_count(len(loaded.regions), "region")
        self._context.show_message(f"Loaded {rows} and {regions}.")
        self._context.show_tab("Input")
        if sample:
            self._state.begin_with(sample_choices(self._state.choices))
        if self._run_after_load:
            self._run_after_load = False
            self._context.run(None)

    # Findings

    def _set_findings(self, findings: tuple[Finding, ...], of: str = "") -> None:
        self.findings = findings
        self.findings_of = of
        self.findings_changed.emit()

    def _what_failed(self, title: str) -> str:
        path = self._state.records_path
        still = ""
        if path is not None and title.startswith(_LOADING):
            # Of two files with one name the folder tells which is meant.
            name = f"{path.parent.name}/{path.name}" if title.endswith(f" {path.name}") else path.name
            still = f" {name} is still loaded."
        return f"{title} failed.{still}"

    @Slot()
    def _on_job_started(self) -> None:
        """Drop the findings of an earlier job; those about the loaded files stay."""
        self._state.clear_failed_load()
        self._forget_failure()

    @Slot()
    def _on_choices_changed(self) -> None:
        """Drop the findings of a run, which other settings may mend; those about a file stay."""
        if self._state.failed_load is None:
            self._forget_failure()

    def _forget_failure(self) -> None:
        if self.findings_of:
            self._set_findings(self._loaded_findings)

    @Slot(object)
    def _on_job_failed(self, failure: TaskFailure) -> None:
        self._run_after_load = False
        if failure.findings:
            self._set_findings(failure.findings, self._what_failed(failure.title))
        show_failure(self._window, failure)

    @Slot()
    def _on_job_stopped(self) -> None:
        self._run_after_load = False


def sample_choices(choices: Choices) -> Choices:
    """Return the settings that show most with the sample data: a sensitive column."""
    return choices.with_role("diagnosis", Role.SENSITIVE) if "diagnosis" in choices.roles else choices


def _sample_files(folder: Path) -> tuple[Path | None, Path | None]:
    """Return the sample's record and region file, whatever their suffixes."""
    paths: dict[str, Path] = {}
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        paths.setdefault(path.name.partition(".")[0], path)
    return paths.get("records"), paths.get("regions")


_GEOMETRY = {".geojson", ".gpkg", ".shp", ".zip", ".json"}


def sort_files(
    paths: list[Path], records: Path | None = None, regions: Path | None = None
) -> tuple[Path | None, Path | None] | None:
    """Tell records from regions among the given files; None if they make no sense.

    Geometry can only be regions; of two tables the smaller one is. A single table fills what is missing.
    """
    if len(paths) == 1:
        if paths[0].suffix.lower() in _GEOMETRY or (records is not None and regions is None):
            return records, paths[0]
        return paths[0], None
    if len(paths) != 2:
        return None
    first, second = sorted(
        paths, key=lambda path: (path.suffix.lower() in _GEOMETRY, -path.stat().st_size)
    )
    return first, second
