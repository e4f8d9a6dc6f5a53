"""The page Representability: what a solution, or any anonymised file, is worth; two versions side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QWidget

from vbas_desktop.assessment.representability.handled_columns import index_file
from vbas_desktop.io.databases.address import record_place
from vbas_desktop.io.databases.records import read_column_names
from vbas_desktop.jobs.any_file import OutlierJob, Outliers
from vbas_desktop.model.errors import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.session.representing import Description, PairOrder, described_solution, with_regions
from vbas_desktop.session.results import Entry
from vbas_desktop.settings.reading import RecordOptions
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.figures import Figure, figure_named, on_one_scale
from vbas_desktop.ui.map.furniture import LegendStrip
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.map.region_map import Link, colours_only
from vbas_desktop.ui.map.shown import Shown
from vbas_desktop.ui.theme import GRID
from vbas_desktop.ui.widgets.building import button, dress, in_column, in_row, offer, split
from vbas_desktop.ui.widgets.fields import OrEmpty, without_wheel
from vbas_desktop.ui.widgets.names_edit import make_narrow
from vbas_desktop.ui.widgets.plain_text import Label
from vbas_desktop.ui.widgets.visible_refresh import VisibleRefresh
from vbas_desktop.ui.worker import Latest

from .pair_panel import PairPanel
from .version import PLACE_MEASURES, VersionView

FILES = 1
_NONE = "nothing"
_FIGURES = ("records", "jaccard", "fowlkes_mallows", "davies_bouldin", "place_distance", "initial_regions")
_NO_SOLUTION = "Run a combination and choose a solution in Results, or compare two files."
_NO_FILES = (
    "Choose the original and the anonymised file at the left, name the key (the column that tells which records belong "
    "together) and the quasi-identifiers, and press Compare."
)


class RepresentabilityPage(QWidget):
    """Follows the chosen solution; for two files, a panel at the left says which."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self._pairs: list[Description] = []
        self.source, self.beside = QComboBox(), QComboBox()
        self.source.addItems(["Solution", "Two files"])
        self.coloured_by = QComboBox()
        offer(self.coloured_by, ((words, name, tip) for name, (words, tip) in PLACE_MEASURES.items()))
        large = "Show it on the large map in these colours; two versions side by side"
        self.large = button("Lar&ge map", self._on_large, large)
        self.legend = LegendStrip(context.theme.colours)
        self._known: dict[int, tuple[Entry, Shown | None, Description]] = {}
        self._scaled: tuple[object, tuple[Figure | None, Figure | None]] = (None, (None, None))
        self.panel = PairPanel(context.theme)
        self._columns_wanted = Latest(context.quiet_runner, "Looking at the original", self)
        self.main, self.second = VersionView(context.theme), VersionView(context.theme)
        self._build()
        self._connect()
        self._refresh()

    def _build(self) -> None:
        bar = in_row(margins=(2 * GRID, GRID, 2 * GRID, 0), spacing=GRID)
        self._map_label = Label("&Map by")
        for label, combo, tip in (
            (Label("Show"), self.source, "The solution that is chosen in Results, or any two files"),
            (Label("Against"), self.beside, "Another solution, or an earlier comparison of two files, beside it"),
            (self._map_label, self.coloured_by, "By what the aggregated regions are coloured"),
        ):
            label.setBuddy(combo)
            dress(label, look="muted")
            dress(combo, toolTip=tip, accessibleName=label.text().replace("&", ""))
            without_wheel(combo)
            bar.addWidget(label)
            bar.addWidget(combo, 0 if combo is self.source else 1)
        self.source.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        # Titles of solutions are long: the list shows them in full, the closed field need not.
        make_narrow(self.beside)
        make_narrow(self.coloured_by)
        bar.addWidget(self.large)
        self._shown = split(self.main, self.second)
        middle = QWidget()
        self.layers = OrEmpty(_NO_SOLUTION, self._shown, within=middle)
        body = split(self.panel, middle, sizes=(300, 700), growing=1)
        strip = in_row(self.legend, margins=(GRID, 0, GRID, 0))
        in_column(bar, strip, (body, 1), within=self, margins=0, spacing=GRID)

    def _connect(self) -> None:
        model = self._context.model
        refresh = VisibleRefresh(self, self._refresh)
        for signal in (model.selection_changed, model.solutions_changed, model.solution_added, model.data_loaded):
            signal.connect(refresh.request)
        self._preparer.changed.connect(refresh.request)
        self.coloured_by.currentIndexChanged.connect(self._refresh)
        self.main.map.canvas.legend_changed.connect(self._on_legend_changed)
        Link({each.map.canvas: each.map.tell for each in (self.main, self.second)}, self)
        self.source.currentIndexChanged.connect(self._refresh)
        self.beside.activated.connect(self._refresh)
        self.panel.compare_wanted.connect(self.compare)
        self.panel.original.chosen.connect(self._on_original)
        self.panel.reading.changed.connect(self._on_original)
        self.panel.handling_wanted.connect(self.handle)

    # What is shown

    @Slot()
    def _refresh(self) -> None:
        files = self.source.currentIndex() == FILES
        self.panel.setVisible(files)
        for widget in (self._map_label, self.coloured_by, self.large):
            widget.setVisible(not files)
        self.large.setEnabled(self._preparer.shown is not None)
        main = self._pair(-1) if files else self._described(self._context.session.selected, self._preparer.shown)
        self._offer(files)
        self._preparer.prepare_beside(None if files else self.beside.currentData())
        second = self._chosen_beside(files)
        self.main.show_description(main)
        self.second.show_description(second)
        if self.second.isHidden() is not (second is None):
            self.second.setVisible(second is not None)
            self._shown.setSizes([self._shown.width() // 2] * 2)
        self._show_maps(files)
        self.layers.empty.label.setText(_NO_FILES if files else _NO_SOLUTION)
        self.layers.show_content(main is not None)

    def _show_maps(self, files: bool) -> None:
        one, other = (None, None) if files else (self._preparer.shown, self._preparer.beside)
        wanted = (one, other, self.coloured_by.currentData())
        if wanted != self._scaled[0]:
            first, second = (figure_named(s.figures, wanted[2]) if s is not None else None for s in (one, other))
            self._scaled = (wanted, on_one_scale(first, second))
        self.main.map.show_solution(one, self._scaled[1][0])
        self.second.map.show_solution(other, self._scaled[1][1])
        self.legend.setVisible(one is not None)

    @Slot()
    def _on_legend_changed(self) -> None:
        self.legend.show_legend(colours_only(self.main.map.canvas.legend), self._context.theme.colours)

    def _pair(self, place: int) -> Description | None:
        return self._pairs[place] if self._pairs else None

    def _described(self, entry: Entry | None, shown: Shown | None) -> Description | None:
        """A solution with its regions as soon as these are prepared; made once, as it is asked for at every change."""
        if entry is None:
            return None
        known = self._known.get(entry.number)
        if known is not None and known[0] is entry and known[1] is shown:
            return known[2]
        described = described_solution(entry)
        if shown is not None and not entry.run.outdated:
            figures = [figure_named(shown.figures, name) for name in _FIGURES]
            columns = [(figure.title, figure.values.tolist()) for figure in figures if figure is not None]
            described = with_regions(described, shown.geometry.codes, columns)
        self._known = {number: each for number, each in self._known.items() if number in self._on_show()}
        self._known[entry.number] = (entry, shown, described)
        return described

    def _on_show(self) -> set[int | None]:
        selected = self._context.session.selected
        return {self.beside.currentData(), selected.number if selected is not None else None}

    def _offer(self, files: bool) -> None:
        """List what may stand beside: other solutions, or comparisons made before."""
        chosen = self.beside.currentData()
        session, selected = self._context.session, self._context.session.selected
        others: list[tuple[str, object]] = [(_NONE, None)]
        if files:
            others += [(each.title, number) for number, each in enumerate(self._pairs[:-1])]
        else:
            others += [(entry.title, entry.number) for entry in session.entries if entry is not selected]
        offer(self.beside, others)
        data = [item for _, item in others]
        self.beside.setCurrentIndex(data.index(chosen) if chosen in data else 0)
        self.beside.setEnabled(len(others) > 1)

    def _chosen_beside(self, files: bool) -> Description | None:
        chosen = self.beside.currentData()
        if chosen is None:
            return None
        if files:
            return self._pairs[chosen]
        entry: Entry | None = self._context.session.entry(chosen)
        return self._described(entry, self._preparer.beside)

    # What the user wants

    @Slot()
    def _on_original(self) -> None:
        """Its columns are offered once they are known; what is wrong with it is said when it is compared."""
        path, how = self.panel.original.path, self.panel.reading.value()
        self.panel.offer(())
        if path is not None:
            self._columns_wanted.want(partial(_columns_of, path, how), self.panel.offer)

    @Slot(object)
    def compare(self, order: PairOrder) -> None:
        """Compare two files in the background."""
        self._context.runner.start(
            f"Comparing {record_place(order.job.anonymised).name}", order.execute, self._on_compared
        )

    @Slot(object)
    def handle(self, order: OutlierJob) -> None:
        """Write a file without small classes in the background; it can be compared at once."""
        title = f"Handling small classes of {order.file.name}"
        self._context.runner.start(title, order.execute, partial(self._on_handled, order))

    def _on_handled(self, order: OutlierJob, done: Outliers) -> None:
        if order.target is not None and done.treated is not None:
            self.panel.anonymised.show_file(order.target)
            remarks = "".join(f" {finding.message} {finding.remedy}" for finding in done.treated.findings)
            if order.columns.record_key is not None:
                remarks += f" {index_file(order.target).name} leads from keys to records; do not hand it on."
            self._context.say(f"Written {order.target}: {done.treated.in_words()}.{remarks}")

    def _on_compared(self, description: Description) -> None:
        self._pairs.append(description)
        self._context.say(f"Compared {description.title} with its original.")
        self.source.setCurrentIndex(FILES)
        self._refresh()

    @Slot()
    def _on_large(self) -> None:
        session = self._context.session
        session.colour_by(self.coloured_by.currentData())
        session.compare_with(self.beside.currentData())
        self._context.show_map()


def _columns_of(path: Path, how: RecordOptions, progress: Progress) -> tuple[str, ...]:
    """Runs in the thread; no column is kept, only their names."""
    try:
        return read_column_names(path, how, progress)
    except InputError:
        return ()
