"""What to generate: the words of a spec file (TOML), read and checked.

``docs/file-formats.md`` explains every key. The built-in specs in ``resources/like`` are read the same way.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vbas_desktop.domain.errors import Finding, InputError
from vbas_desktop.files.findings import FindingList
from vbas_desktop.files.places import resource

from .words import Words

BUILT_IN = ("eastern", "western", "pei")


@dataclass(frozen=True)
class Rule:
    """Where all of ``when`` (column → values) holds, other weights, or weights multiplied category by category."""

    when: Mapping[str, tuple[str, ...]]
    weights: tuple[float, ...] | None = None
    multiply: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tilt:
    """Regions with a high value in ``column`` of the region file have more of the categories with a high score."""

    column: str
    strength: float
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Attribute:
    """One categorical column of the records; ``groups[i]`` is the generalised category of ``labels[i]``."""

    name: str
    labels: tuple[str, ...]
    weights: tuple[float, ...]
    groups: tuple[str, ...]
    role: str = "plain"
    variation: float = 0.0
    rules: tuple[Rule, ...] = ()
    tilts: tuple[Tilt, ...] = ()

    @property
    def group_labels(self) -> tuple[str, ...]:
        """The generalised categories in order of first use."""
        return tuple(dict.fromkeys(self.groups))


@dataclass(frozen=True)
class Identifier:
    """A column with another number in every record; each ``#`` of ``pattern`` becomes a digit."""

    name: str
    pattern: str


@dataclass(frozen=True)
class Geography:
    """An invented country: ``towns`` of unequal size on land of a random outline."""

    centre: tuple[float, float] = (-96.0, 56.0)
    extent_km: tuple[float, float] = (600.0, 400.0)
    towns: int = 20
    rural: float = 0.25
    first_id: int = 1


@dataclass(frozen=True)
class RegionPlan:
    """Where the regions come from and how the records are spread over them."""

    column: str = "region"
    file: Path | None = None
    id_column: str | None = None
    count: int = 300
    geography: Geography = Geography()
    records_per_region: tuple[int, int] = (400, 700)
    population_column: str | None = None


@dataclass(frozen=True)
class Spec:
    """Everything that decides the generated files, the seed included."""

    attributes: tuple[Attribute, ...]
    regions: RegionPlan
    identifiers: tuple[Identifier, ...] = ()
    records: int | None = None
    seed: int = 0
    labels: str = "text"
    category_counts: bool = False
    columns: tuple[str, ...] = ()

    @property
    def column_names(self) -> list[str]:
        """All columns of the records: identifiers, attributes, region."""
        identifiers = [identifier.name for identifier in self.identifiers]
        return identifiers + [attribute.name for attribute in self.attributes] + [self.regions.column]


def load_spec(like: str | Path) -> Spec:
    """A built-in spec by its name, or one from a file."""
    path = resource(f"like/{like}.toml") if str(like) in BUILT_IN else Path(like)
    findings = FindingList(path.name)
    spec = _spec(Words(_toml(path, findings), "", findings), path, findings)
    findings.stop_on_errors()
    return spec


def _toml(path: Path, findings: FindingList) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        names = ", ".join(BUILT_IN)
        raise InputError(
            Finding("missing-file", "There is no such spec.", f"Use {names} or a TOML file.", file=path.name)
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        what = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "not UTF-8 text"
        raise InputError(
            Finding("not-toml", f"This is not TOML: {what}.", "Correct the file.", file=path.name)
        ) from None
    if "include" in data:
        included = _toml(path.with_name(str(data.pop("include"))), findings)
        data = {**included, **data}
    return data


def _spec(words: Words, path: Path, findings: FindingList) -> Spec:
    attributes: list[Attribute] = []
    for entry in words.tables("attributes"):
        attributes.append(_attribute(entry, attributes))
    if not attributes:
        findings.add("missing-key", "There is no attribute.", "Add [[attributes]] with name and labels.")
    identifiers = tuple(
        Identifier(entry.text("name"), entry.text("pattern", "########")) for entry in words.tables("identifiers")
    )
    spec = Spec(
        attributes=tuple(attributes),
        regions=_regions(words.table("regions"), path),
        identifiers=identifiers,
        records=words.whole("records", None, low=1),
        seed=words.whole("seed", 0, low=0) or 0,
        labels=words.choice("labels", "text", ("text", "codes")),
        category_counts=words.flag("category_counts"),
        columns=words.texts("columns"),
    )
    words.text("title", "")
    words.no_others()
    _check_names(spec, findings)
    return spec


def _check_names(spec: Spec, findings: FindingList) -> None:
    names = spec.column_names
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        findings.add("duplicate-column", "Two columns have this name.", "Rename one.", column=name)
    if spec.columns and sorted(spec.columns) != sorted(names):
        findings.add("wrong-columns", "“columns” does not list every column once.", f"They are {', '.join(names)}.")
    for identifier in spec.identifiers:
        if not 1 <= identifier.pattern.count("#") <= 18:
            what = "The pattern needs 1 to 18 signs #, one for each digit."
            findings.add("wrong-value", what, 'Example: pattern = "HN-#######".', column=identifier.name)


def _attribute(entry: Words, earlier: list[Attribute]) -> Attribute:
    name = entry.text("name")
    entry.column = name
    labels = entry.texts("labels")
    if not labels:
        count = entry.whole("count", None, low=1)
        labels = tuple(f"{name} {number}" for number in range(1, (count or 0) + 1))
    if not labels and not {"labels", "count"} & set(entry.names()):
        entry.wrong("labels", "neither labels nor count is given")
    if len(set(labels)) < len(labels):
        entry.wrong("labels", "a label is there twice")
    size = len(labels)
    groups = entry.texts("groups", size) or labels
    attribute = Attribute(
        name=name,
        labels=labels,
        weights=entry.weights("weights", size) or (1.0,) * size,
        groups=groups,
        role=entry.choice("role", "plain", ("quasi-identifier", "sensitive", "plain")),
        variation=entry.number("variation", 0.0, low=0.0),
        rules=tuple(_rule(rule, labels, earlier) for rule in entry.tables("rules")),
        tilts=tuple(_tilt(tilt, size) for tilt in entry.tables("tilts")),
    )
    entry.no_others()
    return attribute


def _rule(entry: Words, labels: tuple[str, ...], earlier: list[Attribute]) -> Rule:
    known = {attribute.name: set(attribute.labels) for attribute in earlier}
    when = entry.table("when")
    conditions: dict[str, tuple[str, ...]] = {}
    for name in when.names():
        conditions[name] = when.texts(name)
        if name not in known:
            when.wrong(name, "rules can only ask for attributes that stand before")
        elif not set(conditions[name]) <= known[name]:
            when.wrong(name, "a value is not among the labels of that attribute")
    multiply = entry.table("multiply")
    factors = {name: multiply.number(name, 1.0, low=0.0) for name in multiply.names()}
    if not set(factors) <= set(labels):
        entry.wrong("multiply", "a name is not among the labels")
    rule = Rule(conditions, entry.weights("weights", len(labels)), factors)
    entry.no_others()
    return rule


def _tilt(entry: Words, size: int) -> Tilt:
    even = tuple(-1 + 2 * i / (size - 1) if size > 1 else 0.0 for i in range(size))
    tilt = Tilt(entry.text("column"), entry.number("strength", 0.5), entry.numbers("scores", size) or even)
    entry.no_others()
    return tilt


def _regions(entry: Words, path: Path) -> RegionPlan:
    low_high = entry.numbers("records_per_region", 2) or (400, 700)
    if not 0 <= low_high[0] <= low_high[1]:
        entry.wrong("records_per_region", "give the smallest and the largest number")
    file = entry.text("file", "")
    plan = RegionPlan(
        column=entry.text("column", "region"),
        file=path.parent / file if file else None,
        id_column=entry.text("id_column", "") or None,
        count=entry.whole("count", 300, low=1) or 300,
        geography=_geography(entry.table("geography")),
        records_per_region=(int(low_high[0]), int(low_high[1])),
        population_column=entry.text("population_column", "") or None,
    )
    entry.no_others()
    return plan


def _geography(entry: Words) -> Geography:
    usual = Geography()
    centre = entry.numbers("centre", 2) or usual.centre
    extent = entry.numbers("extent_km", 2) or usual.extent_km
    if not (-180 <= centre[0] <= 180 and -80 <= centre[1] <= 80):
        entry.wrong("centre", "give longitude and latitude, within 80 degrees of the equator")
    if min(extent) <= 0 or max(extent) > 8000:
        entry.wrong("extent_km", "give width and height between 0 and 8000 km")
    geography = Geography(
        centre=(centre[0], centre[1]),
        extent_km=(extent[0], extent[1]),
        towns=entry.whole("towns", usual.towns, low=1) or usual.towns,
        rural=min(1.0, entry.number("rural", usual.rural, low=0.0)),
        first_id=entry.whole("first_id", usual.first_id, low=0) or 0,
    )
    entry.no_others()
    return geography
