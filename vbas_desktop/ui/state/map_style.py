"""What the map shows besides the solution: names, labels, outlines, and layers from the user's files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

CODES = "@codes"
NAMES = "@names"
"""Labels that are no column of the region file: the codes of aggregated regions, and their names."""

CONTEXT_COLOURS = ("blue", "brown", "green", "grey", "violet")
"""What layers can be coloured with; the theme says which shade that is."""


@dataclass(frozen=True)
class ContextLayer:
    """A file of the user's that is drawn for orientation; with ``land`` cells of points end at its areas."""

    path: str
    colour: str = CONTEXT_COLOURS[0]
    visible: bool = True
    land: bool = False

    @property
    def title(self) -> str:
        """Return the title in menus and legend."""
        return Path(self.path).stem


@dataclass(frozen=True)
class MapStyle:
    """Labels, outlines and layers of the map.

    ``names`` is the column of the region file after which aggregated regions are named (None: names or ids), ``labels``
    a column, `CODES`, `NAMES` or None, ``outlines`` the columns whose borders are drawn, ``context`` the layers from
    the lowest to the uppermost.
    """

    names: str | None = None
    labels: str | None = None
    outlines: tuple[str, ...] = ()
    context: tuple[ContextLayer, ...] = ()

    @property
    def coast(self) -> str | None:
        """The file at whose areas the cells of points end; the uppermost of several that are shown."""
        return next(
            (layer.path for layer in reversed(self.context) if layer.land and layer.visible), None
        )

    def with_context(self, path: str) -> MapStyle:
        """Return a copy with one more layer on top, in the first unused colour; a file is not added twice."""
        if any(layer.path == path for layer in self.context):
            return self
        used_colours = {layer.colour for layer in self.context}
        colour = next((name for name in CONTEXT_COLOURS if name not in used_colours), CONTEXT_COLOURS[0])
        return replace(self, context=(*self.context, ContextLayer(path, colour)))

    def without_context(self, number: int) -> MapStyle:
        """Return the style without one of the layers, given by its position."""
        return replace(self, context=(*self.context[:number], *self.context[number + 1 :]))

    def raised(self, number: int, by: int) -> MapStyle:
        """Return a copy with one layer moved up by some steps (down if negative), at most to the end."""
        others = list(self.context)
        layer = others.pop(number)
        others.insert(min(max(number + by, 0), len(others)), layer)
        return replace(self, context=tuple(others))

    def changed_context(self, number: int, **values: Any) -> MapStyle:
        """Return a copy with other values of one context layer."""
        changed = list(self.context)
        changed[number] = replace(changed[number], **values)
        return replace(self, context=tuple(changed))

    def toggled_outline(self, column: str, on: bool) -> MapStyle:
        """Return a copy with or without the borders of a column."""
        others = tuple(name for name in self.outlines if name != column)
        return replace(self, outlines=(*others, column) if on else others)

    def fitting(self, columns: Mapping[str, Any]) -> MapStyle:
        """Return the style without columns that a region file does not have."""
        return replace(
            self,
            names=self.names if self.names in columns else None,
            labels=self.labels if self.labels in (CODES, NAMES) or self.labels in columns else None,
            outlines=tuple(name for name in self.outlines if name in columns),
        )

    def as_json(self, folder: Path) -> dict[str, Any]:
        """Plain data; paths are relative to ``folder`` where they can be."""
        context = [{**asdict(layer), "path": from_folder(folder, layer.path)} for layer in self.context]
        return {**asdict(self), "outlines": list(self.outlines), "context": context}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], folder: Path) -> MapStyle:
        """Return the style of JSON data; what is missing gets its default."""
        context = tuple(
            ContextLayer(
                os.path.normpath(folder / layer["path"]),
                layer.get("colour") if layer.get("colour") in CONTEXT_COLOURS else CONTEXT_COLOURS[0],
                layer.get("visible", True),
                layer.get("land", False),
            )
            for layer in data.get("context", ())
        )
        return cls(data.get("names"), data.get("labels"), tuple(data.get("outlines", ())), context)


def from_folder(folder: Path, path: str) -> str:
    """Return the path of a file as a project in this folder stores it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(path).as_posix()
