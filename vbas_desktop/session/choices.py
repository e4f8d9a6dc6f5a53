"""Everything the user decides before a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from vbas_desktop.approaches.registry import DEFAULTS, NOTHING, approaches, make
from vbas_desktop.domain.records import Role
from vbas_desktop.settings.reading import Reading
from vbas_desktop.settings.run import (
    COMPONENTS,
    Groups,
    Parameters,
    Protection,
    Running,
    RunSettings,
    allowed_loss_percent,
)


@dataclass(frozen=True)
class Choices(Running, Protection, Reading):
    """The user's decisions. ``parameters`` maps component → approach → parameter → value, and lists only what differs
    from the declared defaults; ``pareto_measures`` None means the measures' own defaults; ``groupings`` maps column →
    value → group for the columns whose categories are taken together.
    """

    roles: Mapping[str, Role] = field(default_factory=dict)
    approaches: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    parameters: Parameters = field(default_factory=dict)
    groupings: Groups = field(default_factory=dict)

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns with this role, in the order in which they got it."""
        return tuple(name for name, given in self.roles.items() if given is role)

    @property
    def region_column(self) -> str | None:
        """The column that names the initial region, if one is chosen."""
        return next(iter(self.columns(Role.REGION)), None)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers in file order."""
        return self.columns(Role.QUASI_IDENTIFIER)

    def with_role(self, column: str, role: Role) -> Choices:
        """The same with another role for one column; there is only ever one region column."""
        roles = {
            name: Role.PLAIN if role is Role.REGION and given is Role.REGION else given
            for name, given in self.roles.items()
        }
        return replace(self, roles={**roles, column: role})

    def with_grouping(self, column: str, groups: Mapping[str, str]) -> Choices:
        """The same with other groups for the categories of one column; a value that is its own group needs no entry."""
        kept = {value: group for value, group in groups.items() if value != group}
        others = {name: given for name, given in self.groupings.items() if name != column}
        return replace(self, groupings={**others, column: kept} if kept else others)

    def groupings_of(self, columns: Sequence[str]) -> dict[str, Mapping[str, str]]:
        """The groups of these columns, in their order."""
        return {name: self.groupings[name] for name in columns if self.groupings.get(name)}

    def with_approach(self, component: str, name: str) -> Choices:
        """The same with another approach for one component."""
        return replace(self, approaches={**self.approaches, component: name})

    def with_parameter(self, component: str, name: str, parameter: str, value: Any) -> Choices:
        """The same with another value for a parameter of an approach, chosen at the moment or not."""
        of_component = self.parameters.get(component, {})
        changed = {**of_component, name: {**of_component.get(name, {}), parameter: value}}
        return replace(self, parameters={**self.parameters, component: changed})

    def values_of(self, component: str, name: str) -> Mapping[str, Any]:
        """The parameters given for an approach."""
        return self.parameters.get(component, {}).get(name, {})

    def make(self, component: str) -> Any:
        """An instance of the approach that is chosen for a component; `InputError` if a parameter is out of bounds."""
        name = self.approaches[component]
        return make(component, name, self.values_of(component, name))

    @property
    def allowed_loss_percent(self) -> float:
        """The share of the records that may be suppressed: what the limit searches for, and what is recommended."""
        return allowed_loss_percent(self.parameters)

    def with_allowed_loss(self, percent: float) -> Choices:
        """The same with another share of the records that may be suppressed."""
        return self.with_parameter("site_number", "limit", "allowed_loss_percent", percent)

    def same_run(self, other: Choices) -> bool:
        """Whether both make the same run of the same files: what a measure counts for, and the parameters of approaches
        that are not chosen, make no difference.
        """
        different = set(changed_fields(self, other)) - {"pareto_measures", "parameters"}
        return not different and all(self.make(component) == other.make(component) for component in COMPONENTS)

    @property
    def reading(self) -> Reading:
        """The choices on which loading depends: files are read again when one of them changes."""
        return Reading(**self.part(Reading))

    def with_usual_reading(self) -> Choices:
        """The same with the default reading options."""
        return replace(self, **Reading().part(Reading))

    def settings(self, quasi_identifiers: Sequence[str] | None = None) -> RunSettings:
        """The settings of a run as chosen; of other quasi-identifiers if they are given."""
        chosen = {name: getattr(self, name) for name in ("approaches", "parameters", "groupings")}
        return RunSettings(
            region_column=self.region_column or "",
            quasi_identifiers=tuple(self.quasi_identifiers if quasi_identifiers is None else quasi_identifiers),
            identifiers=self.columns(Role.IDENTIFIER),
            **self.part(Reading),
            **self.part(Protection),
            **self.part(Running),
            **chosen,
        )


def title_of(component: str, name: str) -> str:
    """An approach's title as shown in menus; its name if it is not installed here."""
    known = approaches(component)
    return known[name].card.title if name in known else name


def combination(choices: Choices) -> str:
    """The chosen combination in words, such as "Allowed loss · Balanced density · Voronoi"."""
    return in_words(choices.approaches)


def in_words(chosen: Mapping[str, str]) -> str:
    """A combination by component in words; what does nothing is not told."""
    told = ((component, chosen.get(component, NOTHING)) for component in COMPONENTS)
    kind: Any = approaches("construction").get(chosen.get("construction", ""))
    unused = "site_location" if kind is not None and not kind.needs_sites else None
    return " · ".join(title_of(part, name) for part, name in told if name != NOTHING and part != unused)


def changed_fields(before: Choices, after: Choices) -> tuple[str, ...]:
    """The names of the fields in which two sets of choices differ."""
    return tuple(item.name for item in fields(Choices) if getattr(before, item.name) != getattr(after, item.name))
