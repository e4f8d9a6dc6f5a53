"""The page Representability: what a solution, or any anonymised file, is worth; two versions side by side."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from vbas_desktop.assessment.representability.outlier_file import Treated
from vbas_desktop.domain.words import counted
from vbas_desktop.session.representing import Description, OutlierOrder, PairOrder, described_solution, with_regions
from vbas_desktop.session.results import Entry
from vbas_desktop.ui.context import Context
from vbas_desktop.ui.map.figures import figure_named
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.panel.empty import EmptyState
from vbas_desktop.ui.panel.fields import without_wheel
from vbas_desktop.ui.theme import GRID

from .pair_panel import PairPanel
from .version import VersionView

SOLUTION, FILES = 0, 1
_NONE = "nothing"
_FIGURES = ("records", "jaccard", "place_distance", "initial_regions")


class RepresentabilityPage(QWidget):
    """Follows the chosen solution; for two files, a panel at the left says which."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._preparer = preparer_of(context)
        self._pairs: list[Description] = []
        self.source, self.beside = QComboBox(), QComboBox()
        self.source.addItems(["The chosen solution", "Two files"])
        self.by_jaccard = QPushButton("Map by &Jaccard")
        self.by_distance = QPushButton("Map by &distance")
        self.panel = PairPanel(context.theme)
        self.main, self.second = VersionView(context.theme), VersionView(context.theme)
        self._build()
        self._connect()
        self._refresh()

    def _build(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        bar.setSpacing(GRID)
        for text, combo in (("S&how", self.source), ("B&eside it", self.beside)):
            label = QLabel(text)
            label.setBuddy(combo)
            label.setProperty("look", "muted")
            combo.setAccessibleName(text.replace("&", ""))
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            without_wheel(combo)
            bar.addWidget(label)
            bar.addWidget(combo)
        # Titles of solutions are long: the list shows them in full, the closed field need not.
        self.beside.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.beside.setMinimumContentsLength(10)
        bar.setStretchFactor(self.beside, 1)
        for button, tip in (
            (self.by_jaccard, "Colour the map by the share of pairs kept together in each aggregated region"),
            (self.by_distance, "Colour the map by how far the records of each aggregated region moved"),
        ):
            button.setToolTip(tip)
            bar.addWidget(button)
        self.empty = EmptyState("Run a combination and choose a solution in Results, or compare two files.")
        shown = QSplitter(Qt.Orientation.Horizontal)
        shown.addWidget(self.main)
        shown.addWidget(self.second)
        shown.setChildrenCollapsible(False)
        middle = QWidget()
        self._layers = QStackedLayout(middle)
        self._layers.addWidget(self.empty)
        self._layers.addWidget(shown)
        self._shown = shown
        body = QSplitter(Qt.Orientation.Horizontal)
        body.addWidget(self.panel)
        body.addWidget(middle)
        body.setStretchFactor(1, 1)
        body.setSizes([300, 700])
        body.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(bar)
        layout.addWidget(body, 1)

    def _connect(self) -> None:
        model = self._context.model
        for signal in (model.selection_changed, model.solutions_changed, model.solution_added, model.data_loaded):
            signal.connect(self._refresh)
        self._preparer.changed.connect(self._refresh)
        self.source.currentIndexChanged.connect(self._refresh)
        self.beside.activated.connect(self._refresh)
        self.panel.compare_wanted.connect(self.compare)
        self.panel.handling_wanted.connect(self.handle)
        self.by_jaccard.clicked.connect(self._on_by_jaccard)
        self.by_distance.clicked.connect(self._on_by_distance)

    # What is shown

    @Slot()
    def _refresh(self) -> None:
        files = self.source.currentIndex() == FILES
        self.panel.setVisible(files)
        for button in (self.by_jaccard, self.by_distance):
            button.setVisible(not files)
            button.setEnabled(self._preparer.shown is not None)
        main = self._pair(-1) if files else self._selected()
        self._offer(files)
        second = self._chosen_beside(files)
        columns = 2 if second is None else 1
        self.main.show_description(main, columns)
        self.second.show_description(second, columns)
        if second is not None and not self.second.isVisible():
            self._shown.setSizes([1, 1])
        self.second.setVisible(second is not None)
        self._layers.setCurrentWidget(self.empty if main is None else self._shown)

    def _pair(self, place: int) -> Description | None:
        return self._pairs[place] if self._pairs else None

    def _selected(self) -> Description | None:
        entry = self._context.session.selected
        if entry is None:
            return None
        shown = self._preparer.shown
        known = getattr(self, "_known", None)
        if known is not None and known[0] is entry and known[1] is shown:
            return known[2]
        described = described_solution(entry)
        if shown is not None:
            figures = [figure_named(shown.figures, name) for name in _FIGURES]
            columns = [(figure.title, figure.values.tolist()) for figure in figures if figure is not None]
            described = with_regions(described, columns)
        self._known = (entry, shown, described)
        return described

    def _offer(self, files: bool) -> None:
        """List what may stand beside: other solutions, or comparisons made before."""
        chosen = self.beside.currentData()
        session = self._context.session
        others: list[tuple[str, object]] = [(_NONE, None)]
        if files:
            others += [(each.title, number) for number, each in enumerate(self._pairs[:-1])]
        else:
            others += [(entry.title, entry.number) for entry in session.entries if entry is not session.selected]
        offered = [(self.beside.itemText(i), self.beside.itemData(i)) for i in range(self.beside.count())]
        if others != offered:
            self.beside.clear()
            for text, data in others:
                self.beside.addItem(text, data)
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
        return None if entry is None else described_solution(entry)

    # What the user wants

    @Slot(object)
    def compare(self, order: PairOrder) -> None:
        """Compare two files in the background."""
        self._context.runner.start(f"Comparing {order.anonymised.name}", order.execute, self._on_compared)

    @Slot(object)
    def handle(self, order: OutlierOrder) -> None:
        """Write a file without small classes in the background; it can be compared at once."""
        self._context.runner.start(
            f"Handling small classes of {order.original.name}", order.execute, partial(self._on_handled, order)
        )

    def _on_handled(self, order: OutlierOrder, done: Treated) -> None:
        self.panel.anonymised.show_file(order.target)
        self._context.say(f"Written {order.target}: {counted(done.written, 'record')}, {done.added:,} of them made up.")

    def _on_compared(self, description: Description) -> None:
        self._pairs.append(description)
        self._context.say(f"Compared {description.title} with its original.")
        self.source.setCurrentIndex(FILES)
        self._refresh()

    @Slot()
    def _on_by_jaccard(self) -> None:
        self._colour_by("jaccard")

    @Slot()
    def _on_by_distance(self) -> None:
        self._colour_by("place_distance")

    def _colour_by(self, figure: str) -> None:
        self._context.session.colour_by(figure)
        self._context.show_map()
