"""Export: which solution, which columns, in which form, where to; and what came of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QLineEdit, QWidget

from vbas_desktop.engine.loss import in_tiers_in_words
from vbas_desktop.io.databases.address import Address, folder_beside, is_address, record_place
from vbas_desktop.io.policies import bundled
from vbas_desktop.jobs.handover import RECORDED, usual_ledger
from vbas_desktop.jobs.release import CoverageJob, ReleaseJob, Stopped, TargetJob
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.names import escape_controls
from vbas_desktop.model.records import Role
from vbas_desktop.release import CLASS_SIZE, ReleaseOptions
from vbas_desktop.release.ledger import DIFFERENCING, LEDGER_FILE
from vbas_desktop.release.ledger import Entry as LedgerEntry
from vbas_desktop.session.releasing import release_in_words, why_not_release
from vbas_desktop.session.results import Entry
from vbas_desktop.session.session import Session
from vbas_desktop.settings.declaration import settings_of
from vbas_desktop.settings.writing import HandingOver
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_grid, in_row, offer, scrolled
from vbas_desktop.ui.widgets.dialog import CANCEL, Dialog
from vbas_desktop.ui.widgets.fields import Field, muted, setting_field, title, told
from vbas_desktop.ui.widgets.file_dialogs import ask_for_folder, beside, documents, is_sample, typed_path
from vbas_desktop.ui.widgets.plain_text import Label, set_tool_tip
from vbas_desktop.ui.worker import JobRunner, in_window_words

from .column_words import ColumnWords
from .coverage import CoverageLine, undecided_in_words
from .handing_over import dated, extract_job
from .release_columns import ReleaseColumns, unprotected_in_words
from .release_fields import ReleaseFields

_STOPPED = (
    "Nothing was written: columns would tell more than the release does. Leave them out (or make them identifiers), "
    "make them quasi-identifiers, group their values or make them coarser, or tick “Allowed” to release them knowingly "
    "(of a pair or triple, A+B or A+B+C, all of them)."
)
_EXPOSING = (
    "Nothing was written: beside what this audience has, the release would single people out. Use the regions and "
    "quasi-identifiers that were handed over before, with whatever columns or fewer of them; or join the regions of "
    "what was handed over. Or say below why it is released all the same; the reason is kept."
)
_RECORDED = "Nothing was written. Choose another folder:"
_HANDING = {declared.name: declared for declared in settings_of(HandingOver)}
_SETTINGS = {declared.name: declared for declared in settings_of(ReleaseOptions)}


class ExportDialog(Dialog):
    """`order_made(ReleaseJob)` when the user confirms; `earlier_wanted` to use or join an earlier release instead,
    `extract_wanted(ExportJob)` to hand over some columns of it.
    """

    order_made = Signal(object)
    tiers_wanted = Signal()
    earlier_wanted = Signal(object, bool)
    extract_wanted = Signal(object)

    def __init__(
        self,
        session: Session,
        parent: QWidget,
        lost_in_tiers: int | None = None,
        runner: JobRunner | None = None,
    ) -> None:
        super().__init__(parent, "Export a release", CANCEL, (640, 0))
        assert session.table is not None
        self._session = session
        self._shown, self._lost_in_tiers = session.selected, lost_in_tiers
        self._earlier: LedgerEntry | None = None
        self.saving, self.tiers = Label(), button("Run in &tiers instead", self._on_tiers)
        self.solution, self.summary, self.problem = QComboBox(), told(look="live"), told(look="error")
        self.columns = ReleaseColumns(
            tuple(facts.name for facts in session.table.columns),
            session.choices,
            session.selected.run.key.region_column if session.selected else session.choices.region_column or "",
        )
        self.coverage = CoverageLine(runner, self)
        plain = "Release these columns as they are: nobody knows them of a person"
        self.confirm = button("Confirm as plain", self._on_confirm, plain)
        self.format, self.delimiter, self.policy, self.shapes, self.naming = (QComboBox() for _ in range(5))
        self._combos = {"format": self.format, "delimiter": self.delimiter, "policy": self.policy}
        self.shuffle, self.formulas, self.class_size, self.geopackage, self.pdf = (
            QCheckBox(_SETTINGS[name].label) for name in ("shuffle", "escape_formulas", "class_size", "geometry", "pdf")
        )
        self.fields = ReleaseFields(session.choices.columns(Role.SENSITIVE))
        self.words = ColumnWords([facts.name for facts in session.table.columns])
        self.pdf.setChecked(_SETTINGS["pdf"].default)
        self.pair_tests = QCheckBox(_SETTINGS["pair_tests"].label)
        set_tool_tip(self.pair_tests, _SETTINGS["pair_tests"].help)
        self.pair_tests.setChecked(_SETTINGS["pair_tests"].default)
        self.seed = dress(QLineEdit(), placeholderText="drawn anew")
        self.target = QLineEdit(str(_suggested(session)))
        self.audience, self.reason, self.also = dress(QLineEdit(), placeholderText="anybody"), QLineEdit(), QLineEdit()
        self._reason = setting_field(_HANDING["despite"], self.reason)
        self._reason.hide()
        self.compared_k, self.k_reason = (dress(QLineEdit(), placeholderText=text) for text in ("the largest", ""))
        self._compared_k = setting_field(_HANDING["compared_k"], self.compared_k)
        self._k_reason = setting_field(_HANDING["k_reason"], self.k_reason)
        self._compared_k.hide()
        self._k_reason.hide()
        self._also = setting_field(_HANDING["also"], self.also)
        self._also.setVisible(session.records_path is not None and is_address(str(session.records_path)))
        self.telltales = told(look="error", alignment=Qt.AlignmentFlag.AlignTop)
        self.telltales.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.unprotected = told(look="warning")
        self.export = self.confirmed_by("&Export")
        self._fill()
        self._build()
        self._connect()
        self._on_changed()

    def _fill(self) -> None:
        offer(self.solution, ((entry.title, entry.number) for entry in self._session.entries))
        shown = self._session.selected or self._session.entries[-1]
        self.solution.setCurrentIndex(self.solution.findData(shown.number))
        for name, combo in self._combos.items():
            offer(combo, ((text, value) for value, text in _SETTINGS[name].titles.items()))
        offer(self.shapes, ((text, value) for value, text in _SETTINGS["shapes"].titles.items()))
        self._fill_policies(self._session.policy.policy)
        self.shuffle.setChecked(self._session.policy.export.shuffle)
        columns = self._session.regions.columns if self._session.regions is not None else ()
        offer(self.naming, [("No names", None), *((column, column) for column in columns)])
        self.naming.setCurrentIndex(max(0, self.naming.findData(self._session.look.names)))

    def _fill_policies(self, chosen: str) -> None:
        offer(self.policy, [("None", None), *((each.name, each.id, each.origin) for each in bundled().values())])
        if chosen and self.policy.findData(chosen) < 0:
            self.policy.addItem(escape_controls(Path(chosen).name), chosen)
        self.policy.setCurrentIndex(max(0, self.policy.findData(chosen or None)))
        # Names of policies are long; the list shows them whole.
        self.policy.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.policy.setMinimumContentsLength(24)

    def _build(self) -> None:
        self._told = scrolled(self.telltales, minimumHeight=12 * GRID, maximumHeight=18 * GRID)
        self._told.hide()
        bottom = Qt.AlignmentFlag.AlignBottom
        naming = setting_field(_SETTINGS["name_column"], self.naming)
        shapes = setting_field(_SETTINGS["shapes"], self.shapes)
        audience = setting_field(_HANDING["audience"], self.audience)
        # Whether the rows are shuffled and, for whoever wants the same order again, by which secret.
        order = in_row((self.shuffle, 1), setting_field(_SETTINGS["shuffle_seed"], self.seed).on_one_line())
        self._body = QWidget()
        in_column(
            Field("&Solution", self.solution, "One of the solutions in Results"),
            self.summary,
            in_row(self.saving, self.tiers, 1),
            title("Columns"),
            (self.columns, 1),
            self.coverage.label,
            self.unprotected,
            in_row(1, self.confirm),
            self._told,
            in_grid([setting_field(_SETTINGS[name], combo) for name, combo in self._combos.items()], across=2 * GRID),
            order,
            self.formulas,
            self.class_size,
            self.fields,
            self.words,
            self.pair_tests,
            in_row(self.geopackage, self.pdf),
            in_row(shapes, naming, (audience, 1), (self._reason, 1)),
            in_row(self._compared_k, (self._k_reason, 1)),
            self._also,
            within=self._body,
            margins=(0, 0, GRID, 0),
            spacing=GRID,
        )
        self._scroll = scrolled(self._body, focusPolicy=Qt.FocusPolicy.NoFocus)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        target = Field("Target f&older", self.target, "A new folder; an earlier release is replaced after a question")
        foot = in_column(
            in_row((target, 1), (button("&Browse…", self._on_browse), 0, bottom)),
            muted("The files appear in the folder only after they were read back and verified."),
            self.problem,
            self.buttons,
            margins=(0, 0, GRID, 0),
            spacing=GRID,
        )
        # The bar that scrolls what is above has the outer half of the margin.
        in_column((self._scroll, 1), foot, within=self, margins=(2 * GRID, 2 * GRID, GRID, 2 * GRID), spacing=GRID)
        self._offer_instead()

    def _offer_instead(self) -> None:
        """What can be done about a release that would single people out: beside Export, where there is room."""
        again = (
            "Run again with the regions and quasi-identifiers that were handed over; any of the columns can be exported"
        )
        opened = "Open what was handed over as data, so that its regions can be joined further"
        ticked = "Write what was handed over once more, with those of its columns that are ticked above"
        self.reuse = self.offering("Use the earlier re&gions", lambda: self._on_earlier(join=False), again)
        self.join = self.offering("&Join the earlier regions", lambda: self._on_earlier(join=True), opened)
        self.extract = self.offering("Only columns of &it", self._on_extract, ticked)
        for each in (self.reuse, self.join, self.extract):
            each.hide()

    @Slot()
    def _on_extract(self) -> None:
        assert self._earlier is not None
        order = extract_job(self._earlier, self.target.text(), self.columns.kept, self.handing())
        self.extract_wanted.emit(order)
        self.reject()

    def _on_earlier(self, join: bool) -> None:
        self.earlier_wanted.emit(self._earlier, join)
        self.reject()

    @Slot()
    def _on_confirm(self) -> None:
        choices = self._session.choices
        self._session.change(choices.with_decided(self.columns.undecided))
        self.columns.show_decided(self._session.choices)
        self._on_changed()

    def _connect(self) -> None:
        self.columns.changed.connect(self._on_changed)
        self.coverage.changed.connect(self._grow)
        self.finished.connect(self.coverage.forget)
        for edit in (self.seed, self.target, self.also, self.compared_k, self.k_reason):
            edit.textChanged.connect(self._on_changed)
        for combo in (self.solution, self.shapes, *self._combos.values()):
            combo.currentIndexChanged.connect(self._on_changed)
        for box in (self.shuffle, self.formulas, self.class_size):
            box.toggled.connect(self._on_changed)
        self.fields.changed.connect(self._on_changed)
        self.words.changed.connect(self._on_changed)

    @Slot()
    def _on_tiers(self) -> None:
        self.tiers_wanted.emit()
        self.reject()

    def _offer_tiers(self, entry: Entry | None) -> None:
        """Say what tiers would save of the solution that is shown, with the button that runs them."""
        offered = self._lost_in_tiers is not None and entry is not None and entry == self._shown
        for widget in (self.saving, self.tiers):
            widget.setVisible(offered)
        if entry is not None and entry.problem is not None and self._lost_in_tiers is not None and offered:
            lost, records = entry.solution.suppressed_records, entry.problem.records
            self.saving.setText(in_tiers_in_words(lost, self._lost_in_tiers, records))

    @property
    def entry(self) -> Entry | None:
        """The solution that is chosen."""
        return self._session.entry(self.solution.currentData())

    def options(self) -> ReleaseOptions:
        """The options as chosen; `InputError` says what does not go together."""
        assert self._session.table is not None
        values: dict[str, Any] = {
            "columns": self.columns.kept,
            "identifiers": self._session.choices.columns(Role.IDENTIFIER),
            "renames": self.columns.renames,
            "allow_columns": self.columns.allowed,
            "shuffle": self.shuffle.isChecked(),
            "shuffle_seed": (self.seed.text().strip() or None) if self.shuffle.isChecked() else None,
            "class_size": CLASS_SIZE if self.class_size.isChecked() else None,
            "delimiter": self.delimiter.currentData() if self.format.currentData() == "csv" else None,
            "escape_formulas": self.formulas.isChecked(),
            "format": self.format.currentData(),
            "policy": self.policy.currentData(),
            "population": self._session.policy.population or None,
            "geometry": ("geojson", "gpkg") if self.geopackage.isChecked() else ("geojson",),
            "pdf": self.pdf.isChecked(),
            "pair_tests": self.pair_tests.isChecked(),
            "name_column": self.naming.currentData(),
            "shapes": self.shapes.currentData(),
            **self.fields.values(),
            **self.words.values(),
        }
        options = ReleaseOptions(**values)
        options.released_columns(self._session.table.dialect.header)
        return options

    def take_up(self, order: ReleaseJob, stopped: Stopped) -> None:
        """Go on from an order that was stopped because it tells too much: its choices, and what was found."""
        options, telltales = order.options, stopped.findings
        self._earlier = stopped.earlier
        self.reuse.setVisible(stopped.earlier is not None)
        self.join.setVisible(stopped.earlier is not None and not stopped.earlier.parents)
        self.extract.setVisible(stopped.earlier is not None and bool(stopped.earlier.folder))
        solution = order.ran.result.solution(order.solution)
        number = next((each.number for each in self._session.entries if each.solution is solution), None)
        self.solution.setCurrentIndex(self.solution.findData(number))
        self.columns.take_up(options.columns or (), options.renames, options.allow_columns)
        for combo, value in (
            (self.format, options.format),
            (self.policy, options.policy),
            (self.naming, options.name_column),
            (self.shapes, options.shapes),
        ):
            combo.setCurrentIndex(max(0, combo.findData(value)))
        self.fields.take_up(options)
        self.words.take_up(options)
        self.delimiter.setCurrentIndex(list(_SETTINGS["delimiter"].titles).index(options.delimiter))
        for box, on in (
            (self.shuffle, options.shuffle),
            (self.formulas, options.escape_formulas),
            (self.class_size, options.class_size is not None),
            (self.geopackage, "gpkg" in options.geometry),
            (self.pdf, options.pdf),
            (self.pair_tests, options.pair_tests),
        ):
            box.setChecked(on)
        handing = order.handing
        for edit, text in (
            (self.seed, options.shuffle_seed),
            (self.target, str(order.target)),
            (self.audience, handing.audience),
            (self.reason, handing.despite),
            (self.also, handing.also),
            (self.compared_k, None if handing.compared_k is None else str(handing.compared_k)),
            (self.k_reason, handing.k_reason),
        ):
            edit.setText(text or "")
        exposing = any(one.code == DIFFERENCING for one in telltales)
        self._reason.setVisible(exposing or bool(handing.despite))
        for field in (self._compared_k, self._k_reason):
            field.setVisible(exposing or handing.compared_k is not None)
        told = (f"“{one.column}”: {one.message}" if one.column else one.message for one in telltales)
        recorded = any(one.code == RECORDED for one in telltales)
        head = _RECORDED if recorded else _EXPOSING if exposing else _STOPPED
        self.telltales.setText("\n".join([head, *told]))
        self._told.setVisible(bool(telltales))
        self._grow()

    def handing(self) -> HandingOver:
        """Who gets the release, and the ledger that knows what they have."""
        audience, reason, also = (each.text().strip() or None for each in (self.audience, self.reason, self.also))
        k, k_reason = (each.text().strip() or None for each in (self.compared_k, self.k_reason))
        if k is None or self._what_is_wrong_with_k():
            return HandingOver(str(ledger_of(self._session)), audience, reason, also)
        compared_k = _HANDING["compared_k"].form.parse(k)
        return HandingOver(str(ledger_of(self._session)), audience, reason, also, compared_k, k_reason)

    def _what_is_wrong(self) -> str:
        entry = self.entry
        reason = why_not_release(entry)
        if reason is not None:
            return reason
        assert entry is not None
        if entry.run.key.region_column not in self.columns.kept:
            return f"“{entry.run.key.region_column}” holds the aggregated regions: it has to be released."
        if self.columns.undecided:
            return undecided_in_words(self.columns.undecided)
        if not self.target.text().strip():
            return "Choose a target folder."
        wrong = self._what_is_wrong_with_k()
        if wrong:
            return wrong
        also = self.also.text().strip()
        try:
            options = self.options()
            _ = TargetJob(also, options.format).target if also else None
        except InputError as error:
            return in_window_words(error.findings[0])
        return ""

    def _what_is_wrong_with_k(self) -> str:
        k, reason = self.compared_k.text().strip(), self.k_reason.text().strip()
        try:
            _ = _HANDING["compared_k"].form.parse(k) if k else None
        except ValueError as error:
            return f"k beside earlier releases: {error}."
        return "Give another k beside earlier releases together with its reason." if bool(k) != bool(reason) else ""

    @Slot()
    def _on_changed(self) -> None:
        wrong = self._what_is_wrong()
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong))
        self.export.setEnabled(not wrong)
        entry = self.entry
        known = entry is not None and entry.problem is not None
        self.summary.setText(release_in_words(entry) if known and entry is not None else "")
        self._offer_tiers(entry if known else None)
        self.coverage.show_for(self._coverage_job(entry))
        self.confirm.setVisible(bool(self.columns.undecided))
        self.unprotected.setText(unprotected_in_words(self.columns.unprotected))
        self.unprotected.setVisible(bool(self.columns.unprotected))
        self.seed.setEnabled(self.shuffle.isChecked())
        self.delimiter.setEnabled(self.format.currentData() == "csv")
        self._grow()

    def _coverage_job(self, entry: Entry | None) -> CoverageJob | None:
        """Count for what is chosen; None if that cannot be released."""
        table = self._session.table
        if entry is None or entry.problem is None or table is None or why_not_release(entry) is not None:
            return None
        identifiers = self._session.choices.columns(Role.IDENTIFIER)
        options = ReleaseOptions(columns=self.columns.kept, identifiers=identifiers)
        return CoverageJob(entry.problem, table, entry.solution, options) if self.columns.kept else None

    def showEvent(self, event: QShowEvent) -> None:
        """Only now it is known how wide the texts are."""
        super().showEvent(event)
        self._grow()

    def _grow(self) -> None:
        """As high as all of it needs at this width, as far as the screen has room: the rest is scrolled to."""
        outer, inner = self.layout(), self._body.layout()
        if outer is None or inner is None or not self.isVisible():
            return
        inner.activate()
        outer.activate()
        foot = outer.totalMinimumHeightForWidth(self.width()) - self._scroll.minimumSizeHint().height()
        needed = foot + self._body.heightForWidth(self._scroll.width())
        self.resize(self.width(), min(max(self.height(), needed), self.highest()))
        # It grows downwards, and its buttons are at the bottom.
        screen = self.screen().availableGeometry()
        lowest = screen.top() + self.highest() - self.height()
        if self.y() > lowest:
            self.move(self.x(), lowest)

    def highest(self) -> int:
        """What the screen has room for, with the frame that window managers put around it."""
        return self.screen().availableGeometry().height() - 5 * GRID

    @Slot()
    def _on_browse(self) -> None:
        start = Path(self.target.text()).parent
        ask_for_folder(self, "Choose the folder that gets the release", start, self.target.setText)

    def _on_accepted(self) -> None:
        entry = self.entry
        assert entry is not None
        target = typed_path(self.target.text())
        self.order_made.emit(self._session.order_release(entry, self.options(), target, self.handing()))


def ledger_of(session: Session) -> Path:
    """The ledger beside the records; that of the sample data, which are shipped files, is where its releases are."""
    records = session.records_path or Path("records.csv")
    return beside(records, LEDGER_FILE) if is_sample(records) else usual_ledger(records)


def _suggested(session: Session) -> Path:
    source = session.project_path or session.records_path or Path("records.csv")
    name = "sample" if is_sample(source) else source.name.partition(".")[0]
    place = record_place(source)
    if isinstance(place, Address):
        # Of an address the folder is known that its records are in, or none.
        name = re.sub(r"[^\w.-]+", "_", place.name)
        return (folder_beside(source) or documents()) / dated(f"{name}-release")
    return beside(source, dated(f"{name}-release"))
