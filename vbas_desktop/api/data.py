"""Records and regions in memory: what every run begins with; data frames as the files that the program reads (records
never reach a disk where the system allows it), and keyword arguments as settings.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.io.generalise import check_hierarchies
from vbas_desktop.jobs.data import Data as Loaded
from vbas_desktop.jobs.data import LoadJob, read_groups
from vbas_desktop.jobs.text_progress import shown
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.words import counted
from vbas_desktop.settings.approaches import named_parameters
from vbas_desktop.settings.declaration import Setting, Settings, settings_of
from vbas_desktop.settings.forms import Names, Percent, Texts, Whole
from vbas_desktop.settings.reading import Reading
from vbas_desktop.settings.run import COMPONENTS, Columns

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
        loaded = LoadJob(*files, how, named=tuple(options["identifiers"]), region_column=region_column).execute(told)
    for name in (region_column, *options["quasi_identifiers"], *options["sensitive"]):
        loaded.table.check_name(name)
    if isinstance(groups, str | Path):
        check_hierarchies([str(groups)], loaded.table, options["quasi_identifiers"])
        groups = read_groups([str(groups)])
    plain = {column: {str(value): group for value, group in of.items()} for column, of in (groups or {}).items()}
    return Data(loaded, {**options, "groupings": plain}, place)


class Place:
    """A private folder for what came as data frames; it goes away with whoever holds it.

    Records lie in memory under a name in the folder (on Linux); elsewhere in a file that only the user can read, which
    is removed with the folder.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="vbas-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def file(self, given: Any, name: str) -> Path:
        """The path of what was given: itself, or the file that stands for a data frame."""
        if isinstance(given, str | os.PathLike):
            return Path(given)
        if hasattr(given, "__geo_interface__"):
            return self._put(f"{name}.geojson", _geojson(given))
        if hasattr(given, "to_csv"):
            return self._put(f"{name}.csv", str(given.to_csv(index=False)).encode())
        raise TypeError(f"{name} is neither a path nor a data frame, but a {type(given).__name__}")

    def _put(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
            number = os.memfd_create(name)
            weakref.finalize(self, os.close, number)
            with os.fdopen(os.dup(number), "wb") as stream:
                stream.write(content)
            path.symlink_to(f"/proc/{os.getpid()}/fd/{number}")
        else:
            path.write_bytes(content)
            path.chmod(0o600)
        return path


def _geojson(given: Any) -> bytes:
    """A GeoDataFrame, or anything with a geo interface, in longitude and latitude where its system is known."""
    if getattr(given, "crs", None) is not None:
        given = given.to_crs(4326)
    found = dict(given.__geo_interface__)
    if found.get("type") != "FeatureCollection":
        raise TypeError("regions must be a collection of features with a geometry each")
    found.pop("bbox", None)
    return json.dumps(found).encode()


def options_of(given: Mapping[str, Any], *kinds: type[Settings], approaches: bool = False) -> dict[str, Any]:
    """Keyword arguments by the names of declared settings as options; with ``approaches`` a combination's too."""
    declared = {each.name: each for kind in kinds for each in settings_of(kind)}
    others = {*COMPONENTS, *named_parameters(), "parameters"} if approaches else ()
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name in declared:
            options[declared[name].key] = declared[name].form.plain(checked(declared[name], value))
        elif name in others and name != "parameters":
            options[name] = value
        elif name not in others:
            likely = difflib.get_close_matches(name, [*declared, *others], 1)
            hint = f"; did you mean {likely[0]}?" if likely else ""
            raise TypeError(f"there is no setting “{name}”{hint}")
    if given.get("parameters"):
        options["set"] = [
            f"{approach}.{name}={value}"
            for approach, values in given["parameters"].items()
            for name, value in values.items()
        ]
    return options


def checked(declared: Setting, value: Any) -> Any:
    """The value as the setting wants it; names may be given as one text with commas."""
    try:
        if isinstance(declared.form, Names) and value is not None:
            return tuple(declared.form.parse(value) if isinstance(value, str) else value)
        if isinstance(declared.form, Texts):
            return declared.form.value([value] if isinstance(value, str) else value)
        if isinstance(declared.form, Whole | Percent):
            return declared.form.parse(str(value))
    except ValueError as error:
        raise InputError(Finding("setting", f"“{declared.name}”: {error}.")) from None
    if declared.choices and value is not None and value not in declared.choices:
        known = ", ".join(declared.choices)
        raise InputError(Finding("setting", f"“{declared.name}” cannot be “{value}”.", f"Choose one of {known}."))
    return value
