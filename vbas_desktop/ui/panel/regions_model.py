"""The aggregated regions as Qt's table model."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt

from vbas_desktop.ui.map.figures import Figure, figure_named
from vbas_desktop.ui.map.shown import Shown
from vbas_desktop.ui.widgets.tables import Heading, TableModel

REGION_ROLE = int(Qt.ItemDataRole.UserRole)

_HEADERS = {
    "records": "Records",
    "raised": "In larger\nplaces",
    "suppressed": "Suppressed\nrecords",
    "share_suppressed": "Share\nsuppressed",
    "share_of_loss": "Share of\nthe loss",
    "anonymity_before": "Anonymity\nbefore",
    "anonymity": "Anonymity\nafter",
    "largest_share": "Commonest\nharmful value",
    "gained": "Regions\ngained",
    "given": "Regions\ngiven away",
    "suppressed_unrefined": "Suppressed\nunrefined",
    "jaccard": "Kept\ntogether",
    "place_distance": "Distance\nmoved",
    "initial_regions": "Initial\nregions",
    "compactness": "Compactness",
    "pieces": "Pieces",
    "detoured": "Changed by\nobstacles",
    "unmet": "Wishes\nnot met",
}
_TIPS = {
    "records": "Records of the file in this aggregated region",
    "raised": "Records whose class is below k here and that are released with the code of a larger place",
    "suppressed": "Records lost here, because their class was below k in the whole file or in this region",
    "share_of_loss": "Its share in all suppressed records",
    "anonymity_before": "Size of the smallest class before suppression",
    "anonymity": "Size of the smallest class that is released",
    "largest_share": "The largest share that one harmful sensitive value has in a class released here: how surely "
    "somebody of that class has it",
    "gained": "Initial regions that the refinement took from neighbours",
    "given": "Initial regions that the refinement gave to neighbours",
    "suppressed_unrefined": "Records that would be lost in the region of this site without the refinement: why initial "
    "regions were handed over",
    "jaccard": "Jaccard index: of the pairs of released records that share class and aggregated region, the share "
    "that shared the initial region too",
    "davies_bouldin": "Davies–Bouldin: the largest (width of both regions) / (distance of their centres); lower is "
    "better",
    "place_distance": "Mean distance of the released records from their initial region to the records’ centre",
    "compactness": "4π · area / perimeter²: 1 for a disc, towards 0 for ragged shapes",
    "pieces": "Into how many pieces it falls",
    "detoured": "Its initial regions that have another site than the nearest because of an obstacle",
    "population": "Sum of the column of the region file that is limited",
    "unmet": "How many minima and maxima of Input ▸ Limits the region does not keep",
}


_CODE = Heading("Region", "Code of the aggregated region, as in the release")
_NAME = Heading("Name", "What most of its initial regions are called, and how many others it has")
_BEFORE = (_CODE, _NAME)
"""The columns before the figures."""


def _heading(figure: Figure) -> Heading:
    return Heading(_HEADERS.get(figure.name, figure.title), _TIPS.get(figure.name, figure.title), "right")


class RegionsModel(TableModel):
    """One row per aggregated region: code, name, then its figures. May leave out regions that lost nothing. Sorts
    itself: Qt would ask for each comparison.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown: Shown | None = None
        self._sorted_by = (0, Qt.SortOrder.AscendingOrder)
        self._only_losses = False
        self._row_of = np.empty(0, np.int64)

    def show_solution(self, shown: Shown | None) -> None:
        """List the aggregated regions of another solution."""
        with self.anew():
            self.shown = shown
            self.heads = () if shown is None else (*_BEFORE, *map(_heading, shown.figures))
            self._put_in_order()

    def show_only_losses(self, on: bool) -> None:
        """Leave out regions without losses, or list all."""
        with self.anew():
            self._only_losses = on
            self._put_in_order()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Smaller values first, or larger ones; unknown ones last in either direction."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        regions = [self.region(index.row()) for index in before]
        self._sorted_by = (column, order)
        self._put_in_order()
        after = [self.index(self.row_of(region), index.column()) for region, index in zip(regions, before, strict=True)]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _put_in_order(self) -> None:
        column, order = self._sorted_by
        figure = self.figure(column)
        texts = self._names if column == 1 else self._codes
        by_text = np.unique(np.array(texts, str), return_inverse=True)[1].astype(np.float64)
        values = by_text if figure is None else np.asarray(figure.values, np.float64)
        keys = values if order == Qt.SortOrder.AscendingOrder else -values
        self.rows = np.argsort(keys, kind="stable")
        lost = figure_named(self.shown.figures, "suppressed") if self._only_losses and self.shown is not None else None
        if lost is not None:
            self.rows = self.rows[lost.values[self.rows] > 0]
        self._row_of = np.full(len(keys), -1)
        self._row_of[self.rows] = np.arange(len(self.rows))

    @property
    def _codes(self) -> tuple[str, ...]:
        return () if self.shown is None else self.shown.geometry.codes

    @property
    def _names(self) -> tuple[str, ...]:
        return () if self.shown is None else self.shown.names

    def region(self, row: int) -> int:
        """The aggregated region in a row."""
        return int(self.rows[row])

    def row_of(self, region: int) -> int:
        """The row of an aggregated region, −1 if it is not listed."""
        return int(self._row_of[region]) if region < len(self._row_of) else -1

    def figure(self, column: int) -> Figure | None:
        """The figure of a column; the first two columns have none."""
        figures = self.shown.figures if self.shown is not None else ()
        place = column - len(_BEFORE)
        return figures[place] if 0 <= place < len(figures) else None

    def title(self, column: int) -> str:
        """The full title of a column."""
        figure = self.figure(column)
        return ("Aggregated region", "Name")[column] if figure is None else figure.title

    def text(self, row: int, column: int) -> str:
        """What a cell shows."""
        figure, region = self.figure(column), self.region(row)
        if figure is None:
            return (self._names if column == 1 else self._codes)[region]
        return figure.format(float(figure.values[region]), unit=False)

    def more(self, row: int, column: int, role: int) -> Any:
        """The region of the row."""
        return self.region(row) if role == REGION_ROLE else None


def exact_rows(shown: Shown) -> list[list[str]]:
    """Header and exact values of all aggregated regions, for saving; empty where there is no value."""
    columns = [
        ["" if np.isnan(float(value)) else str(value) for value in each.values.tolist()] for each in shown.figures
    ]
    head = ["aggregated_region", "name", *(each.name for each in shown.figures)]
    return [head, *(list(row) for row in zip(shown.geometry.codes, shown.names, *columns, strict=True))]
