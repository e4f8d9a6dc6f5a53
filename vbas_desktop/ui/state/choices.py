"""Everything the user decides before a run, as first guessed from the columns and as kept in a project."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from vbas_desktop.approaches.registry import DEFAULTS, NOTHING, create_approach, list_approaches
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.records import ColumnFacts, Role
from vbas_desktop.model.regions import Regions
from vbas_desktop.model.value_notation import count_joinable, join_groups
from vbas_desktop.settings.constraints import RegionConstraints
from vbas_desktop.settings.reading import ReadingSettings
from vbas_desktop.settings.run import (
    COMPONENTS,
    Groups,
    Parameters,
    PrivacySettings,
    RunSettings,
    SweepSettings,
    allowed_loss_percent,
)
from vbas_desktop.settings.sensitive import SensitiveSettings, sensitive_columns

if TYPE_CHECKING:
    from vbas_desktop.model.records import RecordTable


class Choices(SweepSettings, SensitiveSettings, RegionConstraints, PrivacySettings, ReadingSettings):
    """The user's decisions. ``parameters`` maps component → approach → parameter → value, and lists only what differs
    from the declared defaults; ``pareto_measures`` None means the measures' own defaults; ``groupings`` maps column →
    value → group for the columns whose categories are taken together; ``decided`` names the columns whose role the user
    chose or confirmed.
    """

    roles: Mapping[str, Role] = Field(default_factory=dict)
    approaches: Mapping[str, str] = Field(default_factory=lambda: dict(DEFAULTS))
    parameters: Parameters = Field(default_factory=dict)
    groupings: Groups = Field(default_factory=dict)
    decided: frozenset[str] = frozenset()

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that nobody decided on: they would be released as they are."""
        return tuple(name for name in self.columns(Role.AS_IS) if name not in self.decided)

    def with_decided(self, names: Iterable[str]) -> Choices:
        """Return a copy in which the roles of these columns are confirmed."""
        return self.replaced(decided=self.decided | frozenset(names))

    def columns(self, role: Role) -> tuple[str, ...]:
        """List the columns with this role, in the order in which they got it."""
        return tuple(name for name, given in self.roles.items() if given is role)

    @property
    def region_column(self) -> str | None:
        """The column that names the initial region, if one is chosen."""
        return next(iter(self.columns(Role.REGION)), None)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers in file order."""
        return self.columns(Role.QUASI_IDENTIFIER)

    @property
    def unreleased(self) -> tuple[str, ...]:
        """The columns that the release does not have: identifiers, and those to leave out."""
        return tuple(name for name, role in self.roles.items() if not role.is_released)

    @property
    def sensitive_settings(self) -> SensitiveSettings:
        """Return the settings of the sensitive columns; those of columns that were sensitive before have no effect."""
        columns = self.columns(Role.SENSITIVE)
        benign = {name: values for name, values in self.benign.items() if name in columns}
        return SensitiveSettings(
            benign=benign,
            criteria=tuple(criterion for criterion in self.criteria if criterion.column in columns),
        )

    @property
    def sensitive_columns(self) -> tuple[SensitiveColumn, ...]:
        """Each sensitive column with its benign values and criteria."""
        return sensitive_columns(self.columns(Role.SENSITIVE), self.sensitive_settings)

    def with_sensitive(self, chosen: SensitiveColumn) -> Choices:
        """Return a copy with other benign values and criteria for one column."""
        benign = {name: values for name, values in self.benign.items() if name != chosen.column}
        others = tuple(criterion for criterion in self.criteria if criterion.column != chosen.column)
        more = {chosen.column: chosen.benign} if chosen.benign else {}
        return self.replaced(benign={**benign, **more}, criteria=(*others, *chosen.criteria))

    def with_role(self, column: str, role: Role) -> Choices:
        """Return a copy with this role for one column, decided; there is only ever one region column.

        Nobody decided what a column is that was the region column before.
        """
        before = {
            name for name, given in self.roles.items() if role is Role.REGION and given is Role.REGION
        }
        roles = {name: Role.AS_IS if name in before else given for name, given in self.roles.items()}
        return self.replaced(roles={**roles, column: role}, decided=(self.decided - before) | {column})

    def with_roles(self, columns: Iterable[str], role: Role) -> Choices:
        """Return a copy with this role for several columns, decided; of several region columns the last one stays."""
        choices = self
        for column in columns:
            choices = choices.with_role(column, role)
        return choices

    def with_quasi_identifiers(self, names: Container[str]) -> Choices:
        """Return a copy with exactly these quasi-identifiers."""
        roles = {
            name: Role.QUASI_IDENTIFIER
            if name in names
            else Role.AS_IS
            if role is Role.QUASI_IDENTIFIER
            else role
            for name, role in self.roles.items()
        }
        dropped = {
            name
            for name, role in roles.items()
            if role is Role.AS_IS and self.roles[name] is not Role.AS_IS
        }
        return self.replaced(roles=roles, decided=self.decided - dropped)

    def with_grouping(self, column: str, groups: Mapping[str, str]) -> Choices:
        """Return a copy with other groups for the categories of one column; a value that is its own group needs no
        entry.
        """
        kept = {value: group for value, group in groups.items() if value != group}
        others = {name: given for name, given in self.groupings.items() if name != column}
        return self.replaced(groupings={**others, column: kept} if kept else others)

    def joinable(self, table: RecordTable) -> dict[str, int]:
        """Count, by quasi-identifier, the categories that differ from others only by blanks around them."""
        found = {}
        for name in self.quasi_identifiers:
            if name in table.padded_categories:
                categories = table.facts(name).categories
                assert categories is not None
                found[name] = count_joinable(categories.values, self.groupings.get(name, {}))
        return {name: number for name, number in found.items() if number}

    def with_joined_blanks(self, table: RecordTable) -> Choices:
        """Return a copy in which categories are grouped that differ only by blanks."""
        choices = self
        for name in self.joinable(table):
            categories = table.facts(name).categories
            assert categories is not None
            choices = choices.with_grouping(
                name, join_groups(categories.values, self.groupings.get(name, {}))
            )
        return choices

    def groupings_of(self, columns: Sequence[str]) -> dict[str, Mapping[str, str]]:
        """Return the groups of these columns, in their order."""
        return {name: self.groupings[name] for name in columns if self.groupings.get(name)}

    def with_approach(self, component: str, name: str) -> Choices:
        """Return a copy with another approach for one component."""
        return self.replaced(approaches={**self.approaches, component: name})

    def with_parameter(self, component: str, name: str, parameter: str, value: Any) -> Choices:
        """Return a copy with another value for a parameter of an approach, selected or not."""
        of_component = self.parameters.get(component, {})
        changed = {**of_component, name: {**of_component.get(name, {}), parameter: value}}
        return self.replaced(parameters={**self.parameters, component: changed})

    def values_of(self, component: str, name: str) -> Mapping[str, Any]:
        """Return the parameters given for an approach."""
        return self.parameters.get(component, {}).get(name, {})

    def create_approach(self, component: str) -> Any:
        """Create the approach that is chosen for a component. Raises `InputError` if a parameter is out of bounds."""
        name = self.approaches[component]
        return create_approach(component, name, self.values_of(component, name))

    @property
    def allowed_loss_percent(self) -> float:
        """The share of the records that may be suppressed: what the limit searches for, and what is recommended."""
        return allowed_loss_percent(self.parameters)

    def with_allowed_loss(self, percent: float) -> Choices:
        """Return a copy with another allowed loss."""
        return self.with_parameter("site_number", "limit", "allowed_loss_percent", percent)

    def same_run(self, other: Choices) -> bool:
        """Say if both make the same run of the same files, whatever measures count and unselected approaches are set
        to.
        """
        different = set(changed_fields(self, other)) - {"pareto_measures", "parameters", "decided"}
        return not different and all(
            self.create_approach(component) == other.create_approach(component)
            for component in COMPONENTS
        )

    def settings(self, quasi_identifiers: Sequence[str] | None = None) -> RunSettings:
        """Return the settings of a run as chosen; of other quasi-identifiers if they are given."""
        return RunSettings(
            **{**self.option_values(), **self.sensitive_settings.option_values()},
            region_column=self.region_column or "",
            quasi_identifiers=tuple(
                self.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
            ),
            identifiers=self.unreleased,
            sensitive=self.columns(Role.SENSITIVE),
            approaches=self.approaches,
            parameters=self.parameters,
            groupings=self.groupings,
        )


def approach_title(component: str, name: str) -> str:
    """Return an approach's title as shown in menus; its name if it is not installed here."""
    known = list_approaches(component)
    return known[name].metadata.title if name in known else name


def describe_choices(chosen: Mapping[str, str]) -> str:
    """Describe a combination in words, such as "Allowed loss · Balanced density · Voronoi".

    Components without effect are left out.
    """
    told = ((component, chosen.get(component, NOTHING)) for component in COMPONENTS)
    kind: Any = list_approaches("construction").get(chosen.get("construction", ""))
    unused = "site_location" if kind is not None and not kind.needs_sites else None
    return " · ".join(
        approach_title(part, name) for part, name in told if name != NOTHING and part != unused
    )


def describe_approaches(chosen: Mapping[str, str]) -> str:
    """Describe a combination in one line, such as "Balanced density, Voronoi"; the usual way to find k is not named."""
    named = dict(chosen)
    if named.get("site_number") == DEFAULTS["site_number"]:
        named["site_number"] = NOTHING
    return describe_choices(named).replace(" · ", ", ")


def changed_fields(before: Choices, after: Choices) -> tuple[str, ...]:
    """List the names of the fields in which two sets of choices differ."""
    return tuple(name for name in Choices.model_fields if getattr(before, name) != getattr(after, name))


def _as_it_is(path: str) -> str:
    return path


def choices_to_json(choices: Choices, path: Callable[[str], str] = _as_it_is) -> dict[str, Any]:
    """Return the choices as plain JSON data; ``path`` says how a file is named in it."""
    choices = _with_paths(choices, path)
    return {
        **choices.as_dict(),
        "roles": [[name, str(role)] for name, role in choices.roles.items()],
        "approaches": dict(choices.approaches),
        "parameters": {
            component: {name: dict(values) for name, values in named.items()}
            for component, named in choices.parameters.items()
        },
        "groupings": {name: dict(groups) for name, groups in choices.groupings.items()},
        "decided": sorted(choices.decided),
    }


def choices_from_json(data: Mapping[str, Any], path: Callable[[str], str] = _as_it_is) -> Choices:
    """Read the choices again; fields that this version does not know are left out, missing ones get their defaults.

    ``path`` says where a file is that is named in the data.
    """
    known = {name: data[name] for name in ("approaches", "parameters", "groupings") if name in data}
    if "approaches" in known:
        known["approaches"] = {**DEFAULTS, **known["approaches"]}
    if "roles" in data:
        known["roles"] = {name: Role(role) for name, role in data["roles"]}
    if "decided" in data:
        known["decided"] = frozenset(data["decided"])
    return _with_paths(Choices.from_dict(data).replaced(**known), path)


def _with_paths(choices: Choices, path: Callable[[str], str]) -> Choices:
    """Return a copy with other paths of the files read beside records and regions."""

    def moved(file: str | None) -> str | None:
        return None if file is None else path(file)

    return choices.replaced(
        obstacles=tuple(path(obstacle) for obstacle in choices.obstacles),
        codebook=moved(choices.codebook),
        region_map=moved(choices.region_map),
        keep_records=moved(choices.keep_records),
        drop_records=moved(choices.drop_records),
    )


_REGION_SHARE = 0.5
_MOST_CATEGORIES = 130
_FEW_CATEGORIES = 12
_FIRST_COLUMNS = 2
_KNOWN_OF_PEOPLE = ("age", "sex", "gender", "birth", "born", "marital", "race", "ethnic")
"""Parts of names of columns that neighbours, colleagues or voter lists know of a person."""

_OF_HEALTH = (
    "diagnos", "disease", "illness", "condition", "icd", "cause", "symptom", "drug", "medication", "medicine", "dose",
    "treatment", "therapy", "procedure", "hiv", "cancer", "tumor", "tumour", "infect", "disab", "mental", "pregnan",
    "outcome", "comorbid", "allerg", "vaccin", "blood",
)  # fmt: skip
"""Beginnings of words in names of columns that say something about a person's health."""


def guess_roles(table: RecordTable, regions: Regions) -> dict[str, Role]:
    """Guess a role for every column, in file order.

    Region: the column most of whose values are ids of the region file. Identifier: a different value in (nearly) every
    record. Sensitive: columns named like what physicians write down. Quasi-identifier: columns named like what others
    know of a person; if there are none, the first two with a handful of categories. The user decides which others
    count.
    """
    region = next(iter(find_region_columns(table, regions)), None)
    roles = {facts.name: Role.AS_IS for facts in table.columns}
    open_columns = []
    for facts in table.columns:
        if facts.name == region:
            roles[facts.name] = Role.REGION
        elif _looks_like_identifier(facts, table.rows):
            roles[facts.name] = Role.IDENTIFIER
        elif _begins(facts.name, _OF_HEALTH):
            roles[facts.name] = Role.SENSITIVE
        elif facts.categorical and 1 < facts.distinct <= _MOST_CATEGORIES:
            open_columns.append(facts)
    known = [facts.name for facts in open_columns if _begins(facts.name, _KNOWN_OF_PEOPLE)]
    few = [facts.name for facts in open_columns if facts.distinct <= _FEW_CATEGORIES]
    for name in known or few[:_FIRST_COLUMNS]:
        roles[name] = Role.QUASI_IDENTIFIER
    return roles


def _begins(name: str, parts: tuple[str, ...]) -> bool:
    """Say if a word of a column's name begins with one of these."""
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return any(word.startswith(part) for word in words for part in parts)


def find_region_columns(table: RecordTable, regions: Regions) -> tuple[str, ...]:
    """Find the columns of the records most of whose values are ids of the region file, the most matches first."""
    ids = set(regions.ids) if regions.mapping is None else {*regions.ids, *regions.mapping.targets}
    found: dict[str, int] = {}
    for facts in table.columns:
        if facts.categories is None:
            continue
        present = [value for value in facts.categories.values if value]
        matches = sum(value in ids for value in present)
        if matches and matches >= _REGION_SHARE * len(present):
            found[facts.name] = matches
    return tuple(sorted(found, key=lambda name: -found[name]))


def _looks_like_identifier(facts: ColumnFacts, rows: int) -> bool:
    if rows < 20:
        return False
    return not facts.categorical or facts.distinct >= 0.9 * rows
