"""How solutions are shown: what a project restores besides labels and layers from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ViewSettings:
    """By what the map is coloured, which of its layers are drawn, and the kind of chart; None: as usual."""

    coloured_by: str | None = None
    layers: tuple[str, ...] | None = None
    chart: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        layers = None if self.layers is None else list(self.layers)
        return {"coloured_by": self.coloured_by, "layers": layers, "chart": self.chart}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ViewSettings:
        """Return the settings in plain data; what is missing is as usual."""
        layers = data.get("layers")
        return cls(data.get("coloured_by"), None if layers is None else tuple(layers), data.get("chart"))
