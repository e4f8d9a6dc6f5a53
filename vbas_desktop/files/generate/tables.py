"""The small tables that go with generated records: regions, codebook, generalisation."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .geography import Places
from .spec import Attribute, Spec


def shown_labels(attribute: Attribute, generalised: bool) -> tuple[str, ...]:
    """The categories of an attribute in the records."""
    return attribute.group_labels if generalised else attribute.labels


def values_of(labels: Sequence[str], as_text: bool) -> list[str]:
    """What stands in the records for each category: its label or its number from 1."""
    return list(labels) if as_text else [str(number) for number in range(1, len(labels) + 1)]


def region_rows(places: Places) -> Iterator[list[object]]:
    """regions.csv: id, degrees where known, plane coordinates, number of records, name."""
    head: list[object] = ["id", *(["longitude", "latitude"] if places.lon_lat is not None else []), "x", "y", "records"]
    yield head + (["name"] if places.names is not None else [])
    for i, id in enumerate(places.ids):
        degrees = [] if places.lon_lat is None else [f"{value:.6f}" for value in places.lon_lat[i]]
        row: list[object] = [id, *degrees, *(f"{value:.2f}" for value in places.points[i]), int(places.records[i])]
        yield row + ([places.names[i]] if places.names is not None else [])


def codebook_rows(
    spec: Spec, generalised: bool, as_text: bool, counts: list[NDArray[np.int64]]
) -> Iterator[list[object]]:
    """codebook.csv: each category with the number of records that have it."""
    yield ["column", "code", "value", "label", "role", "records"]
    for attribute, count in zip(spec.attributes, counts, strict=True):
        labels = shown_labels(attribute, generalised)
        for code, (value, label) in enumerate(zip(values_of(labels, as_text), labels, strict=True)):
            yield [attribute.name, code + 1, value, label, attribute.role, int(count[code])]


def generalise_rows(spec: Spec, as_text: bool) -> Iterator[list[object]]:
    """generalise.csv: the group of each category, for the attributes that have groups."""
    yield ["column", "value", "group"]
    for attribute in spec.attributes:
        if attribute.groups != attribute.labels:
            shown = dict(zip(attribute.group_labels, values_of(attribute.group_labels, as_text), strict=True))
            for value, group in zip(values_of(attribute.labels, as_text), attribute.groups, strict=True):
                yield [attribute.name, value, shown[group]]


def write_table(path: Path, rows: Iterator[list[object]]) -> None:
    """Write the rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
