"""The page Representability: what a solution, or any anonymised file, is worth; two versions side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QWidget

from vbas_desktop.analysis.outliers.added_columns import get_key_index_path
from vbas_desktop.app.outliers import OutlierRequest, OutlierResult, treat_outliers
from vbas_desktop.app.representability import RepresentabilityRequest
from vbas_desktop.io.databases.address import parse_address
from vbas_desktop.io.databases.loading import read_column_names
from vbas_desktop.model.findings import InputError
from vbas_desktop.model.progress import Progress
from vbas_desktop.settings.reading import RecordReading

from ...core.context import UiContext
from ...core.theme import GRID
from ...map.decorations import LegendStrip
from ...map.linked_maps import LinkedViews, colours_only
from ...map.map_cache import map_cache_of
from ...presentation.region_measures import RegionMeasure, find_measure, on_one_scale
from ...presentation.scene import MapScene
from ...state.representing import (
    FOR_RESEARCH,
    Description,
    compare_files,
    describe_solution,
    with_regions,
    without_research,
)
from ...state.scenario import ResultRow
from ...widgets.column_picker import make_narrow
from ...widgets.fields import ContentOrPlaceholder, ignore_wheel_unless_focused
from ...widgets.layouts import button, hbox, set_items, splitter, vbox, with_properties
from ...widgets.notice_bar import NoticeAction, NoticeBar
from ...widgets.plain_text import Label
from ...widgets.visible_refresh import VisibleRefresh
from ..ways_on import list_ways_to_solution
from .file_form import FilePairForm
from .report_view import PLACE_MEASURES, RepresentabilityView

FILES = 1
_NONE = "nothing"
_FIGURES = (
    "records",
    "jaccard",
    "fowlkes_mallows",
    "davies_bouldin",
    "place_distance",
    "initial_regions",
)
_NO_SOLUTION = "There is no solution to show yet. Run a combination and choose one in Results, or compare two files."
_ABOUT = "What a solution keeps of its original: as measures, on a map and for each aggregated region."
_NO_FILES = (
    "Choose the original and the anonymised file at the left, name the key (the column that tells which records belong "
    "together) and the quasi-identifiers, and press Compare."
)


class RepresentabilityPage(QWidget):
    """Follows the chosen solution; for two files, a panel at the left says which."""

    def __init__(self, context: UiContext) -> None:
        super().__init__()
        self._context = context
        self._map_cache = map_cache_of(context)
        self._pairs: list[Description] = []
        self.source = QComboBox()
        self.beside = QComboBox()
        self.source.addItems(["Solution", "Two files"])
        self.coloured_by = QComboBox()
        self._fill_measures()
        large = "Show it on the large map in these colours; two versions side by side"
        self.large = button("Lar&ge map", self._on_large, large)
        self.legend = LegendStrip(context.theme.colours)
        self._known: dict[int, tuple[ResultRow, MapScene | None, Description]] = {}
        self._scaled: tuple[object, tuple[RegionMeasure | None, RegionMeasure | None]] = (
            None,
            (None, None),
        )
        self.panel = FilePairForm(context.theme)
        self.nothing = NoticeBar(margin=2 * GRID)
        self.main = RepresentabilityView(context.theme)
        self.second = RepresentabilityView(context.theme)
        self._build()
        self._connect()
        self._refresh()

    def _fill_measures(self) -> None:
        """Offer the measures for the map; the indices for research only if these are shown."""
        offered = ((name, texts) for name, texts in PLACE_MEASURES.items() if self._shows(name))
        set_items(self.coloured_by, ((words, name, tip) for name, (words, tip) in offered))

    def _shows(self, name: str) -> bool:
        return self._context.state.shows_research or name not in FOR_RESEARCH

    @Slot()
    def _on_research_shown(self) -> None:
        self._known = {}
        self._fill_measures()
        self._refresh()

    def _build(self) -> None:
        bar = hbox(margins=(2 * GRID, GRID, 2 * GRID, 0), spacing=GRID)
        self._map_label = Label("&Map by")
        for label, combo, tip in (
            (Label("Show"), self.source, "The solution that is chosen in Results, or any two files"),
            (
                Label("Against"),
                self.beside,
                "Another solution, or an earlier comparison of two files, beside it",
            ),
            (self._map_label, self.coloured_by, "By what the aggregated regions are coloured"),
        ):
            label.setBuddy(combo)
            with_properties(label, look="muted")
            with_properties(combo, toolTip=tip, accessibleName=label.text().replace("&", ""))
            ignore_wheel_unless_focused(combo)
            bar.addWidget(label)
            bar.addWidget(combo, 0 if combo is self.source else 1)
        self.source.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        # Titles of solutions are long: the list shows them in full, the closed field need not.
        make_narrow(self.beside)
        make_narrow(self.coloured_by)
        bar.addWidget(self.large)
        self._shown = splitter(self.main, self.second)
        middle = QWidget()
        self.layers = ContentOrPlaceholder(_ABOUT, self._shown, within=middle)
        body = splitter(self.panel, middle, sizes=(340, 700), growing=1)
        strip = hbox(self.legend, margins=(GRID, 0, GRID, 0))
        vbox(bar, self.nothing, strip, (body, 1), within=self, margins=0, spacing=GRID)

    def _connect(self) -> None:
        model = self._context.model
        refresh = VisibleRefresh(self, self._refresh)
        for signal in (
            model.selection_changed,
            model.solutions_changed,
            model.solution_added,
            model.data_loaded,
            model.choices_changed,
        ):
            signal.connect(refresh.request)
        model.research_shown.connect(VisibleRefresh(self, self._on_research_shown).request)
        self._map_cache.changed.connect(refresh.request)
        self.coloured_by.currentIndexChanged.connect(self._refresh)
        self.main.map.canvas.legend_changed.connect(self._on_legend_changed)
        LinkedViews(
            {view.map.canvas: view.map.show_hover_card for view in (self.main, self.second)}, self
        )
        self.source.currentIndexChanged.connect(self._refresh)
        self.beside.activated.connect(self._refresh)
        self.panel.compare_requested.connect(self.compare)
        self.panel.original.chosen.connect(self._on_original)
        self.panel.reading.changed.connect(self._on_original)
        self.panel.handling_requested.connect(self.treat)

    # What is shown

    @Slot()
    def _refresh(self) -> None:
        files = self.source.currentIndex() == FILES
        self.panel.setVisible(files)
        for widget in (self._map_label, self.coloured_by, self.large):
            widget.setVisible(not files)
        self.large.setEnabled(self._map_cache.shown is not None)
        main = (
            self._pair(-1)
            if files
            else self._describe(self._context.state.selected, self._map_cache.shown)
        )
        self._offer(files)
        self._map_cache.prepare_extra(None if files else self.beside.currentData())
        second = self._chosen_beside(files)
        self.main.show_description(main)
        self.second.show_description(second)
        if self.second.isHidden() is not (second is None):
            self.second.setVisible(second is not None)
            self._shown.setSizes([self._shown.width() // 2] * 2)
        self._show_maps(files)
        self.layers.empty.label.setText(_NO_FILES if files else _ABOUT)
        self.layers.show_content(main is not None)
        self._show_ways_on(is_needed=main is None and not files)

    def _show_ways_on(self, is_needed: bool) -> None:
        compare = NoticeAction(
            "Compare two &files", partial(self.source.setCurrentIndex, FILES), "Any two record files"
        )
        actions = [*list_ways_to_solution(self._context), compare] if is_needed else ()
        self.nothing.show_notice(_NO_SOLUTION if is_needed else "", actions)

    def _show_maps(self, files: bool) -> None:
        scene, other = (None, None) if files else (self._map_cache.shown, self._map_cache.extra)
        key = (scene, other, self.coloured_by.currentData())
        if key != self._scaled[0]:
            first, second = (
                find_measure(s.figures, key[2]) if s is not None else None for s in (scene, other)
            )
            self._scaled = (key, on_one_scale(first, second))
        self.main.show_map(scene, self._scaled[1][0])
        self.second.show_map(other, self._scaled[1][1])
        self.legend.setVisible(scene is not None)

    @Slot()
    def _on_legend_changed(self) -> None:
        self.legend.show_legend(colours_only(self.main.map.canvas.legend), self._context.theme.colours)

    def _pair(self, index: int) -> Description | None:
        return self._pairs[index] if self._pairs else None

    def _describe(self, entry: ResultRow | None, scene: MapScene | None) -> Description | None:
        """Describe a solution, with its regions as soon as these are prepared; kept, as every change asks for it."""
        if entry is None:
            return None
        cached = self._known.get(entry.number)
        if cached is not None and cached[0] is entry and cached[1] is scene:
            return cached[2]
        described = describe_solution(entry)
        if not self._context.state.shows_research:
            described = without_research(described)
        if scene is not None and not entry.run.outdated:
            figures = [find_measure(scene.figures, name) for name in _FIGURES if self._shows(name)]
            columns = [
                (figure.title, figure.values.tolist()) for figure in figures if figure is not None
            ]
            described = with_regions(described, scene.geometry.codes, columns)
        self._known = {
            number: cached_ for number, cached_ in self._known.items() if number in self._list_shown()
        }
        self._known[entry.number] = (entry, scene, described)
        return described

    def _list_shown(self) -> set[int | None]:
        """List the numbers of the selected solution and of the one beside it."""
        selected = self._context.state.selected
        return {self.beside.currentData(), selected.number if selected is not None else None}

    def _offer(self, files: bool) -> None:
        """List what may stand beside: other solutions, or comparisons made before."""
        chosen = self.beside.currentData()
        state = self._context.state
        selected = self._context.state.selected
        others: list[tuple[str, object]] = [(_NONE, None)]
        if files:
            others += [(pair.title, number) for number, pair in enumerate(self._pairs[:-1])]
        else:
            others += [(entry.title, entry.number) for entry in state.entries if entry is not selected]
        set_items(self.beside, others)
        data = [item for _, item in others]
        self.beside.setCurrentIndex(data.index(chosen) if chosen in data else 0)
        self.beside.setEnabled(len(others) > 1)

    def _chosen_beside(self, files: bool) -> Description | None:
        chosen = self.beside.currentData()
        if chosen is None:
            return None
        if files:
            return self._pairs[chosen]
        entry: ResultRow | None = self._context.state.entry(chosen)
        return self._describe(entry, self._map_cache.extra)

    # What the user wants

    @Slot()
    def _on_original(self) -> None:
        """Offer its columns once they are known; what is wrong with it is said when it is compared."""
        path = self.panel.original.path
        how = self.panel.reading.values()
        self.panel.offer(())
        if path is not None:
            work = partial(_columns_of, path, how)
            self._context.background.start_latest(
                self, "Looking at the original", work, self.panel.offer
            )

    @Slot(object)
    def compare(self, request: RepresentabilityRequest) -> None:
        """Compare two files in the background."""
        title = f"Comparing {parse_address(request.anonymised).name}"
        self._context.worker.start(title, partial(compare_files, request), self._on_compared)

    @Slot(object)
    def treat(self, request: OutlierRequest) -> None:
        """Write a file without small classes in the background; it can be compared at once."""
        title = f"Handling small classes of {request.file.name}"
        self._context.worker.start(
            title, partial(treat_outliers, request), partial(self._on_treated, request)
        )

    def _on_treated(self, request: OutlierRequest, result: OutlierResult) -> None:
        if request.target is not None and result.report is not None:
            self.panel.anonymised.show_file(request.target)
            remarks = "".join(
                f" {finding.message} {finding.remedy}" for finding in result.report.findings
            )
            if request.columns.record_key is not None:
                remarks += f" {get_key_index_path(request.target).name} leads from keys to records; do not hand it on."
            self._context.show_message(f"Written {request.target}: {result.report.in_words()}.{remarks}")

    def _on_compared(self, description: Description) -> None:
        self._pairs.append(description)
        self._context.show_message(f"Compared {description.title} with its original.")
        self.source.setCurrentIndex(FILES)
        self._refresh()

    @Slot()
    def _on_large(self) -> None:
        state = self._context.state
        state.colour_by(self.coloured_by.currentData())
        state.compare_with(self.beside.currentData())
        self._context.show_map()


def _columns_of(path: Path, how: RecordReading, progress: Progress) -> tuple[str, ...]:
    """Runs in the thread; no column is kept, only their names."""
    try:
        return read_column_names(path, how, progress)
    except InputError:
        return ()
