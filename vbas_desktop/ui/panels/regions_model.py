"""The aggregated regions as Qt's table model."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject

from ..presentation.region_measures import RegionMeasure, find_measure
from ..presentation.scene import MapScene
from ..presentation.tables import TableColumn
from ..widgets.tables import TableModel

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
    "unmet": "Limits\nnot met",
}
_TIPS = {
    "records": "Records of the file in this aggregated region",
    "raised": "Records whose class is below k here and that are released with the code of a larger area",
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


def make_region_columns(scene: MapScene | None) -> list[TableColumn[int]]:
    """Make the columns for the aggregated regions of a solution: code, name, then its measures. Rows are regions."""
    if scene is None:
        return []
    code_tip = "Code of the aggregated region, as in the release"
    name_tip = "What most of its initial regions are called, and how many others it has"
    return [
        TableColumn("aggregated_region", "Region", scene.geometry.codes.__getitem__, code_tip),
        TableColumn("name", "Name", scene.names.__getitem__, name_tip),
        *map(_make_measure_column, scene.figures),
    ]


def _make_measure_column(measure: RegionMeasure) -> TableColumn[int]:
    return TableColumn(
        measure.name,
        _HEADERS.get(measure.name, measure.title),
        lambda region: float(measure.values[region]),
        _TIPS.get(measure.name, measure.title),
        text_of=lambda region: measure.format(float(measure.values[region]), unit=False),
        side="right",
    )


class RegionsModel(TableModel[int]):
    """One row per aggregated region; may leave out regions that lost nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), parent)
        self.shown: MapScene | None = None
        self._only_losses = False

    def show_solution(self, scene: MapScene | None) -> None:
        """List the aggregated regions of another solution."""
        self.shown = scene
        self._choose_listed()
        self.set_rows(
            range(0 if scene is None else len(scene.geometry.codes)), make_region_columns(scene)
        )

    def show_only_losses(self, on: bool) -> None:
        """Leave out regions without losses, or list all."""
        self._only_losses = on
        self._choose_listed()
        self.show_only(self._is_listed)

    def _choose_listed(self) -> None:
        self._is_listed = None
        suppressed = None if self.shown is None else find_measure(self.shown.figures, "suppressed")
        if self._only_losses and suppressed is not None:
            values = suppressed.values
            self._is_listed = lambda region: bool(values[region] > 0)

    def measure(self, column: int) -> RegionMeasure | None:
        """Return the measure of a column; the first two columns have none."""
        return (
            None if self.shown is None else find_measure(self.shown.figures, self.columns[column].name)
        )

    def title(self, column: int) -> str:
        """Return the full title of a column."""
        measure = self.measure(column)
        return ("Aggregated region", "Name")[column] if measure is None else measure.title


def exact_rows(scene: MapScene) -> list[list[str]]:
    """Header and exact values of all aggregated regions, for saving; empty where there is no value."""
    columns = [
        ["" if np.isnan(float(value)) else str(value) for value in figure.values.tolist()]
        for figure in scene.figures
    ]
    head = ["aggregated_region", "name", *(measure.name for measure in scene.figures)]
    return [head, *(list(row) for row in zip(scene.geometry.codes, scene.names, *columns, strict=True))]
