"""Records and regions in memory: what every run begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.domain.words import counted
from vbas_desktop.jobs.data import Data as Loaded
from vbas_desktop.jobs.data import LoadJob, read_groups
from vbas_desktop.jobs.text_progress import shown
from vbas_desktop.settings.reading import Reading
from vbas_desktop.settings.run import Columns

from .frames import Place
from .settings import options_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Data:
    """Both files, read, and which columns are what. Made by `read`."""

    _loaded: Loaded
    _options: Mapping[str, Any]
    _place: Place

    @property
    def records(self) -> int:
        """How many records there are."""
        return self._loaded.table.rows

    @property
    def regions(self) -> int:
        """How many initial regions there are."""
        return len(self._loaded.regions)

    def to_frame(self) -> pd.DataFrame:
        """The columns of the records: role, distinct values, missing values. No record is in it."""
        import pandas as pd

        roles = dict.fromkeys(self._options.get("quasi_identifiers", ()), "quasi-identifier")
        roles |= dict.fromkeys(self._options.get("identifiers", ()), "identifier")
        roles |= dict.fromkeys(self._options.get("sensitive", ()), "sensitive")
        roles[self._options.get("region_column", "")] = "region"
        columns = self._loaded.table.columns
        return pd.DataFrame(
            {
                "column": [each.name for each in columns],
                "role": [roles.get(each.name, "plain") for each in columns],
                "distinct": [each.distinct for each in columns],
                "missing": [each.missing for each in columns],
            }
        )

    def __repr__(self) -> str:
        return f"<{counted(self.records, 'record')} in {counted(self.regions, 'region')}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.to_frame().to_html(index=False)}"


def read(
    records: Any,
    regions: Any,
    *,
    region_column: str,
    quasi_identifiers: Any,
    identifiers: Any = (),
    sensitive: Any = (),
    groups: Mapping[str, Mapping[str, str]] | str | Path | None = None,
    progress: Any = None,
    **reading: Any,
) -> Data:
    """Read both files.

    Parameters
    ----------
    records, regions
        Paths, or data frames; regions may be a GeoDataFrame or anything else with a ``__geo_interface__``.
    region_column, quasi_identifiers, identifiers, sensitive
        Which columns of the records are what; several names as a list or as text with commas.
    groups
        Categories that are taken together: column → value → group, or a file with column, value and group.
    progress
        None shows a line on a terminal, False nothing; or a function of stage and fraction.
    reading
        Any setting of reading: ``delimiter``, ``encoding``, ``category_counts``, ``coordinates``, ``id_column``, …

    Returns
    -------
    Data
        What `run` and `compare` work on.
    """
    named = {
        "region_column": region_column,
        "quasi_identifiers": quasi_identifiers,
        "identifiers": identifiers,
        "sensitive": sensitive,
    }
    options = options_of({**reading, **named}, Reading, Columns)
    place = Place()
    files = place.file(records, "records"), place.file(regions, "regions")
    how = Reading.from_options(options)
    with shown(progress) as told:
        loaded = LoadJob(*files, how, named=tuple(options["identifiers"])).execute(told)
    for name in (region_column, *options["quasi_identifiers"], *options["sensitive"]):
        loaded.table.check_name(name)
    if isinstance(groups, str | Path):
        groups = read_groups([str(groups)])
    plain = {column: {str(value): group for value, group in of.items()} for column, of in (groups or {}).items()}
    return Data(loaded, {**options, "groupings": plain}, place)
