"""Named minimum requirements that custodians use, and whether a release meets them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """A preset: every class, and every area with records, must have at least this many records (None: no demand)."""

    name: str
    title: str
    minimum_class: int | None = None
    minimum_area: int | None = None
    origin: str = ""

    def demand(self) -> str:
        """The requirement in words."""
        if self.minimum_class is not None:
            return f"at least {self.minimum_class:,} records with every combination of values that occurs"
        return f"at least {self.minimum_area:,} records in every aggregated region that has any"

    def met(self, anonymity: int | None, smallest_area: int | None) -> bool:
        """Whether a release with these smallest counts passes (None: nothing was released, so nothing is exposed)."""
        class_ok = self.minimum_class is None or anonymity is None or anonymity >= self.minimum_class
        area_ok = self.minimum_area is None or smallest_area is None or smallest_area >= self.minimum_area
        return class_ok and area_ok


POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy("class-5", "Minimum class 5", 5, origin="a usual threshold for data shared under an agreement"),
        Policy("class-11", "Minimum class 11", 11, origin="the cell size rule of the US Medicare agency"),
        Policy("class-20", "Minimum class 20", 20, origin="a usual threshold for files that anyone may download"),
        Policy("area-5000", "Minimum area 5,000", None, 5_000, "a usual smallest area in Canadian health data"),
        Policy("area-20000", "Minimum area 20,000", None, 20_000, "the smallest area of the US Safe Harbor rule"),
    )
}
"""The presets by name. Areas are judged by the records released in them, since a region file knows no population."""
