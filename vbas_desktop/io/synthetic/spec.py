"""What to generate: the words of a spec file (TOML), read and checked.

``docs/file-formats.md`` explains every key. The built-in specs in ``resources/like`` are read the same way.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vbas_desktop.io.places import resource
from vbas_desktop.model.errors import refusal
from vbas_desktop.model.findings import FindingList

from .words import Place, sound

BUILT_IN = ("eastern", "central", "western", "pei")


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
    scores: tuple[float, ...]
    strength: float = 0.5


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
    spec = _spec(_toml(path), path, Place(findings))
    findings.stop_on_errors()
    return spec


def _toml(path: Path, including: tuple[Path, ...] = ()) -> dict[str, Any]:
    if path.resolve() in including:
        message = "The spec includes itself, directly or by way of another."
        raise refusal("circular-include", message, "Remove one include.", file=path.name)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        names = ", ".join(BUILT_IN)
        raise refusal(
            "missing-file", "There is no such spec.", f"Use {names} or a TOML file.", file=path.name
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        what = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "not UTF-8 text"
        raise refusal("not-toml", f"This is not TOML: {what}.", "Correct the file.", file=path.name) from None
    except RecursionError:
        message = "The values of this file are nested too deeply."
        raise refusal("not-toml", message, "Correct the file.", file=path.name) from None
    if "include" in data:
        included = _toml(_beside(path, data.pop("include")), (*including, path.resolve()))
        data = {**included, **data}
    return data


def _beside(path: Path, name: Any) -> Path:
    """Find the included spec, whose name is relative to the one that includes it."""
    if not isinstance(name, str) or not Path(name).name or "\0" in name:
        raise refusal("wrong-value", "“include” names no file.", 'Write include = "other.toml".', file=path.name)
    return path.parent / name


def _spec(written: dict[str, Any], path: Path, place: Place) -> Spec:
    data = sound(written, place)
    attributes: list[Attribute] = []
    for number, entry in enumerate(data.pop("attributes", None) or (), 1):
        attributes.append(_attribute(entry, attributes, place.entry("attributes", number, entry)))
    if not attributes:
        place.findings.add("missing-key", "There is no attribute.", "Add [[attributes]] with name and labels.")
    data.pop("title", None)
    spec = Spec(
        attributes=tuple(attributes),
        regions=_regions(data.pop("regions", {}), path, place.inside("regions")),
        identifiers=tuple(
            Identifier(**{"name": "", **_tupled(entry)}) for entry in data.pop("identifiers", None) or ()
        ),
        **_tupled(data),
    )
    _check_choice(spec.labels, ("text", "codes"), place.inside("labels"))
    _check_names(spec, place.findings)
    return spec


def _tupled(table: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a table that are there, lists as tuples; empty ones count as missing."""
    there = {key: value for key, value in table.items() if value not in (None, [], "")}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in there.items()}


def _check_choice(word: str, choices: Sequence[str], place: Place) -> None:
    if word not in choices:
        place.wrong(f"use one of {', '.join(choices)}")


def _check_size(values: Sequence[Any] | None, size: int, place: Place) -> None:
    if values and len(values) != size:
        place.wrong(f"has {len(values)} entries instead of {size}")


def _check_weights(weights: Sequence[float] | None, size: int, place: Place) -> None:
    _check_size(weights, size, place)
    if weights and (min(weights) < 0 or sum(weights) <= 0):
        place.wrong("weights must not be negative, nor all zero")


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


def _attribute(entry: dict[str, Any], earlier: Sequence[Attribute], place: Place) -> Attribute:
    if not {"labels", "count"} & entry.keys():
        place.inside("labels").wrong("neither labels nor count is given")
    name, count = entry.get("name") or "", entry.pop("count", None) or 0
    labels = tuple(entry.pop("labels", None) or (f"{name} {number}" for number in range(1, count + 1)))
    size = len(labels)
    rules = tuple(Rule(**{"when": {}, **_tupled(rule)}) for rule in entry.pop("rules", None) or ())
    usual_tilt = {"column": "", "scores": _even(size)}
    tilts = tuple(Tilt(**{**usual_tilt, **_tupled(tilt)}) for tilt in entry.pop("tilts", None) or ())
    usual = {"name": name, "weights": (1.0,) * size, "groups": labels}
    attribute = Attribute(**{**usual, **_tupled(entry), "labels": labels, "rules": rules, "tilts": tilts})
    if len(set(labels)) < size:
        place.inside("labels").wrong("a label is there twice")
    _check_size(attribute.groups, size, place.inside("groups"))
    _check_weights(attribute.weights, size, place.inside("weights"))
    _check_choice(attribute.role, ("quasi-identifier", "sensitive", "plain"), place.inside("role"))
    known = {each.name: set(each.labels) for each in earlier}
    for number, rule in enumerate(rules, 1):
        _check_rule(rule, labels, known, place.inside(f"rules {number}"))
    for number, tilt in enumerate(tilts, 1):
        _check_size(tilt.scores, size, place.inside(f"tilts {number}.scores"))
    return attribute


def _even(size: int) -> tuple[float, ...]:
    """Scores from -1 to 1."""
    return tuple(-1 + 2 * i / (size - 1) if size > 1 else 0.0 for i in range(size))


def _check_rule(rule: Rule, labels: Sequence[str], known: Mapping[str, set[str]], place: Place) -> None:
    for name, values in rule.when.items():
        if name not in known:
            place.inside(f"when.{name}").wrong("rules can only ask for attributes that stand before")
        elif not set(values or ()) <= known[name]:
            place.inside(f"when.{name}").wrong("a value is not among the labels of that attribute")
    if not set(rule.multiply) <= set(labels):
        place.inside("multiply").wrong("a name is not among the labels")
    _check_weights(rule.weights, len(labels), place.inside("weights"))


def _regions(entry: dict[str, Any], path: Path, place: Place) -> RegionPlan:
    plan = RegionPlan(**{**_tupled(entry), "geography": Geography(**_tupled(entry.get("geography", {})))})
    low, high = int(plan.records_per_region[0]), int(plan.records_per_region[-1])
    _check_size(plan.records_per_region, 2, place.inside("records_per_region"))
    if not 0 <= low <= high:
        place.inside("records_per_region").wrong("give the smallest and the largest number")
    centre, extent = plan.geography.centre, plan.geography.extent_km
    for key, pair in (("centre", centre), ("extent_km", extent)):
        _check_size(pair, 2, place.inside(f"geography.{key}"))
    if not (-180 <= centre[0] <= 180 and -80 <= centre[-1] <= 80):
        place.inside("geography.centre").wrong("give longitude and latitude, within 80 degrees of the equator")
    if min(extent) <= 0 or max(extent) > 8000:
        place.inside("geography.extent_km").wrong("give width and height between 0 and 8000 km")
    return replace(plan, file=path.parent / plan.file if plan.file else None, records_per_region=(low, high))
