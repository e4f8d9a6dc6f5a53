"""Read specs of synthetic data (TOML): what to generate.

``docs/file-formats.md`` explains every key. The built-in specs in ``resources/like`` are read the same way. Each model
checks one table of the file; `_check_attributes` and `_check_columns` check what several tables say together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from vbas_desktop.model.findings import FindingList, input_error

from ..paths import resource_path

BUILT_IN = ("eastern", "central", "western", "pei")

T = TypeVar("T")
AttributeRole = Literal["quasi-identifier", "sensitive", "plain"]

# The descriptions are what messages say is expected.
Name = Annotated[str, Field(min_length=1, description="a name")]
Text = Annotated[str, Field(description="a text")]
Flag = Annotated[bool, Field(description="true or false")]
Count = Annotated[int, Field(ge=1, description="a whole number of at least 1")]
WholeNumber = Annotated[int, Field(ge=0, description="a whole number of at least 0")]
Number = Annotated[float, Field(allow_inf_nan=False, description="a number")]
Share = Annotated[float, Field(ge=0, allow_inf_nan=False, description="a number of at least 0")]
OptionalText = Annotated[str | None, Field(description="a text")]
OptionalCount = Annotated[
    Annotated[int, Field(ge=1)] | None, Field(description="a whole number of at least 1")
]
# TOML has lists where the models have tuples.
Texts = Annotated[tuple[str, ...], Field(strict=False, description="a list of texts")]
Numbers = Annotated[tuple[Number, ...], Field(strict=False, description="a list of numbers")]
WholeNumbers = Annotated[tuple[int, ...], Field(strict=False, description="a list of whole numbers")]
Tables = Annotated[tuple[T, ...], Field(strict=False, description="an array of tables")]


class SpecTable(BaseModel):
    """A table of a spec. Empty texts and lists count as missing."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value not in ("", [])}


class Rule(SpecTable):
    """Other weights, or weights multiplied by category, for records to which all of ``when`` applies.

    ``when`` maps columns to values. Empty ``weights`` leave those of the attribute.
    """

    when: Annotated[dict[str, Texts], Field(description="a table")] = {}
    weights: Numbers = ()
    multiply: Annotated[dict[str, Share], Field(description="a table")] = {}


class Tilt(SpecTable):
    """Regions with a high value in ``column`` of the region file have more of the categories with a high score."""

    column: Name
    scores: Numbers = ()
    strength: Number = 0.5


class Attribute(SpecTable):
    """One categorical column of the records; ``groups[i]`` is the generalised category of ``labels[i]``."""

    name: Name
    labels: Texts = ()
    count: OptionalCount = None
    weights: Numbers = ()
    groups: Texts = ()
    role: AttributeRole = "plain"
    variation: Share = 0.0
    rules: Tables[Rule] = ()
    tilts: Tables[Tilt] = ()

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Name the categories that are only counted; give them equal weights, groups of one and even scores."""
        if not isinstance(data, dict):
            return data
        count = data.get("count")
        filled = dict(data)
        if not data.get("labels") and isinstance(count, int):
            filled["labels"] = [f"{data.get('name')} {number}" for number in range(1, count + 1)]
        labels = filled.get("labels")
        if isinstance(labels, list | tuple):
            filled.setdefault("weights", [1.0] * len(labels))
            filled.setdefault("groups", labels)
            tilts = data.get("tilts")
            if isinstance(tilts, list):
                scores = _spread_scores(len(labels))
                filled["tilts"] = [
                    {"scores": scores, **tilt} if isinstance(tilt, dict) else tilt for tilt in tilts
                ]
        return filled

    @model_validator(mode="after")
    def _check(self) -> Self:
        size = len(self.labels)
        problems: list[tuple[str, str]] = []
        if not size:
            problems.append(("labels", "neither labels nor count is given"))
        if len(set(self.labels)) < size:
            problems.append(("labels", "a label is there twice"))
        problems += _check_size("groups", self.groups, size)
        problems += _check_weights("weights", self.weights, size)
        for number, rule in enumerate(self.rules, 1):
            if not set(rule.multiply) <= set(self.labels):
                problems.append((f"rules {number}.multiply", "a name is not among the labels"))
            problems += _check_weights(f"rules {number}.weights", rule.weights, size)
        for number, tilt in enumerate(self.tilts, 1):
            problems += _check_size(f"tilts {number}.scores", tilt.scores, size)
        _raise_problems(problems)
        return self

    @property
    def group_labels(self) -> tuple[str, ...]:
        """Return the generalised categories in order of first use."""
        return tuple(dict.fromkeys(self.groups))


class Identifier(SpecTable):
    """A column with another number in every record; each ``#`` of ``pattern`` becomes a digit."""

    name: Name
    pattern: Text = ""


class Geography(SpecTable):
    """An invented country: ``towns`` of unequal size on land of a random outline."""

    centre: Numbers = (-96.0, 56.0)
    extent_km: Numbers = (600.0, 400.0)
    towns: Count = 20
    rural: Share = 0.25
    first_id: WholeNumber = 1

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = [*_check_size("centre", self.centre, 2), *_check_size("extent_km", self.extent_km, 2)]
        if not (-180 <= self.centre[0] <= 180 and -80 <= self.centre[-1] <= 80):
            problems.append(("centre", "give longitude and latitude, within 80 degrees of the equator"))
        if min(self.extent_km) <= 0 or max(self.extent_km) > 8000:
            problems.append(("extent_km", "give width and height between 0 and 8000 km"))
        _raise_problems(problems)
        return self


class RegionPlan(SpecTable):
    """The origin of the regions, and how the records are spread over them; ``file`` is relative to the spec."""

    column: Text = "region"
    file: Annotated[Path | None, Field(strict=False, description="a text")] = None
    id_column: OptionalText = None
    count: Count = 300
    geography: Geography = Field(default_factory=Geography, description="a table")
    records_per_region: Annotated[
        tuple[int, ...], Field(strict=False, description="a list of whole numbers")
    ] = (
        400,
        700,
    )
    population_column: OptionalText = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        sizes = self.records_per_region
        problems = _check_size("records_per_region", sizes, 2)
        if not 0 <= sizes[0] <= sizes[-1]:
            problems.append(("records_per_region", "give the smallest and the largest number"))
        _raise_problems(problems)
        return self


class Spec(SpecTable):
    """Everything that decides the generated files, the seed included."""

    attributes: Tables[Attribute] = ()
    regions: RegionPlan = Field(default_factory=RegionPlan, description="a table")
    identifiers: Tables[Identifier] = ()
    title: Text = ""
    records: OptionalCount = None
    seed: WholeNumber = 0
    labels: Annotated[Literal["text", "codes"], Field(description="a word")] = "text"
    category_counts: Flag = False
    columns: Texts = ()

    @property
    def column_names(self) -> list[str]:
        """Return all columns of the records: identifiers, attributes, region."""
        identifiers = [identifier.name for identifier in self.identifiers]
        return identifiers + [attribute.name for attribute in self.attributes] + [self.regions.column]


def load_spec(like: str | Path) -> Spec:
    """Load a built-in spec by its name, or one from a file. Raises `InputError` with all mistakes together."""
    path = resource_path(f"like/{like}.toml") if str(like) in BUILT_IN else Path(like)
    data = _read_toml(path)
    findings = FindingList(path.name)
    try:
        spec = Spec.model_validate(data)
    except ValidationError as error:
        _note_errors(error, data, findings)
        findings.stop_on_errors()
        raise
    _check_attributes(spec, findings)
    _check_columns(spec, findings)
    findings.stop_on_errors()
    if not spec.regions.file:
        return spec
    regions = spec.regions.model_copy(update={"file": path.parent / spec.regions.file})
    return spec.model_copy(update={"regions": regions})


def _read_toml(path: Path, including: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Read a file with the one that it includes; keys of the file itself count."""
    if path.resolve() in including:
        message = "The spec includes itself, directly or by way of another."
        raise input_error("circular-include", message, "Remove one include.", file=path.name)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        remedy = f"Use {', '.join(BUILT_IN)} or a TOML file."
        raise input_error("missing-file", "There is no such spec.", remedy, file=path.name) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        what = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "not UTF-8 text"
        raise input_error(
            "not-toml", f"This is not TOML: {what}.", "Correct the file.", file=path.name
        ) from None
    except RecursionError:
        message = "The values of this file are nested too deeply."
        raise input_error("not-toml", message, "Correct the file.", file=path.name) from None
    if "include" in data:
        name = data.pop("include")
        if not isinstance(name, str) or not Path(name).name or "\0" in name:
            message = "“include” names no file."
            raise input_error("wrong-value", message, 'Write include = "other.toml".', file=path.name)
        included = _read_toml(path.parent / name, (*including, path.resolve()))
        data = {**included, **data}
    return data


def _spread_scores(size: int) -> list[float]:
    """Return scores from −1 to 1 at equal distances."""
    return [-1 + 2 * i / (size - 1) if size > 1 else 0.0 for i in range(size)]


def _check_size(key: str, values: Sequence[Any], size: int) -> list[tuple[str, str]]:
    if values and len(values) != size:
        return [(key, f"has {len(values)} entries instead of {size}")]
    return []


def _check_weights(key: str, weights: Sequence[float], size: int) -> list[tuple[str, str]]:
    problems = _check_size(key, weights, size)
    if weights and (min(weights) < 0 or sum(weights) <= 0):
        problems.append((key, "weights must not be negative, nor all zero"))
    return problems


def _raise_problems(problems: Sequence[tuple[str, str]]) -> None:
    """Raise the problems of a table, each with the key that it is about."""
    if problems:
        raise PydanticCustomError("problems", "The table has problems.", {"problems": list(problems)})


def _note_errors(error: ValidationError, data: dict[str, Any], findings: FindingList) -> None:
    """Note each error under the keys that lead to it, as “attributes 2.weights”, and one for each list."""
    noted: set[tuple[str, str]] = set()
    for details in error.errors():
        path, column, expected = _locate(details["loc"], data)
        problems = [(path, f"{expected} is expected")]
        if details["type"] == "missing":
            problems = [(path, "is missing")]
        elif details["type"] == "extra_forbidden":
            problems = [(path, "this key is not known")]
        elif details["type"] == "literal_error":
            problems = [(path, f"use one of {details['ctx']['expected']}")]
        elif details["type"] == "problems":
            problems = [
                (f"{path}.{key}".lstrip("."), reason) for key, reason in details["ctx"]["problems"]
            ]
        for key, reason in problems:
            if (key, reason) not in noted:
                noted.add((key, reason))
                findings.add("wrong-value", f"{key}: {reason}.", "Correct the spec.", column=column)


def _locate(location: Sequence[str | int], data: dict[str, Any]) -> tuple[str, str | None, str]:
    """Return the path of a value, the name of the column that it is about, and what is expected there.

    A path ends with the key of a list of numbers or texts, whichever of them is wrong.
    """
    path = ""
    column = None
    expected = "a table"
    table: Any = Spec
    value: Any = data
    for part in location:
        if table is None and isinstance(part, int):
            break
        path = f"{path} {part + 1}" if isinstance(part, int) else f"{path}.{part}".lstrip(".")
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
        if isinstance(part, int):
            expected = "a table"
            if isinstance(value, dict) and isinstance(value.get("name"), str):
                column = value["name"]
            continue
        field = None if table is None else table.model_fields.get(part)
        if field is None:
            expected = "a list of texts" if "when" in path else "a number of at least 0"
            continue
        expected = field.description or "a value"
        table = _TABLES.get(part)
    return path, column, expected


_TABLES: dict[str, type[SpecTable]] = {
    "attributes": Attribute,
    "rules": Rule,
    "tilts": Tilt,
    "identifiers": Identifier,
    "regions": RegionPlan,
    "geography": Geography,
}
"""The models of the keys that hold tables."""


def _check_attributes(spec: Spec, findings: FindingList) -> None:
    """Note rules that ask for attributes or values that are not declared before them."""
    if not spec.attributes:
        findings.add("missing-key", "There is no attribute.", "Add [[attributes]] with name and labels.")
    labels_of: dict[str, set[str]] = {}
    for number, attribute in enumerate(spec.attributes, 1):
        for position, rule in enumerate(attribute.rules, 1):
            for name, values in rule.when.items():
                reason = ""
                if name not in labels_of:
                    reason = "rules can only ask for attributes that stand before"
                elif not set(values) <= labels_of[name]:
                    reason = "a value is not among the labels of that attribute"
                if reason:
                    path = f"attributes {number}.rules {position}.when.{name}"
                    findings.add(
                        "wrong-value", f"{path}: {reason}.", "Correct the spec.", column=attribute.name
                    )
        labels_of[attribute.name] = set(attribute.labels)


def _check_columns(spec: Spec, findings: FindingList) -> None:
    """Note columns of the same name, a wrong list of columns, and patterns without digits."""
    names = spec.column_names
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        findings.add("duplicate-column", "Two columns have this name.", "Rename one.", column=name)
    if spec.columns and sorted(spec.columns) != sorted(names):
        findings.add(
            "wrong-columns",
            "“columns” does not list every column once.",
            f"They are {', '.join(names)}.",
        )
    for identifier in spec.identifiers:
        if not 1 <= identifier.pattern.count("#") <= 18:
            message = "The pattern needs 1 to 18 signs #, one for each digit."
            findings.add(
                "wrong-value", message, 'Example: pattern = "HN-#######".', column=identifier.name
            )
