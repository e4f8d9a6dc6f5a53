"""What is protected and how a run goes: columns, k, suppression, range of site numbers, seed, approaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vbas_desktop.approaches.registry import DEFAULTS, PRESETS, make, preset
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.solution import USUAL_LOSS_PERCENT

from .declaration import Settings, setting
from .forms import Flag, Names, Percent, Texts, Whole
from .limits import Limiting
from .reading import Reading
from .sensitive import Harm, sensitive_columns

COMPONENTS = tuple(DEFAULTS)
"""The components of which exactly one approach is chosen. Of the other one, rating, any number is ticked."""

Parameters = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Component → approach → parameter → value."""

Groups = Mapping[str, Mapping[str, str]]
"""Column → value → group, for the columns whose categories are taken together."""


GENERALISED = {"no": (False,), "yes": (True,), "both": (False, True)}
"""Whether a comparison uses the groups, does not use them, or does both."""


@dataclass(frozen=True)
class Protection(Settings, group="run"):
    """What must hold."""

    unknown_regions: str = setting(
        "stop",
        label="Records of unkno&wn regions",
        help="What happens to records whose region is not in the region file.",
        group="reading",
        choices=("stop", "suppress"),
        titles={"stop": "Stop and list them", "suppress": "Suppress them"},
    )
    k: int = setting(
        5,
        label="&k (smallest class)",
        help="Every released combination occurs at least k times.",
        in_command="the smallest size of a released class (default: 5)",
        option="-k",
        form=Whole("K", 1),
    )
    global_suppression: bool = setting(
        True,
        label="Suppress combinations rarer than k in all recor&ds first",
        help="They could not be released in any region; without them the rest needs less merging.",
        in_command="keep classes that are below k in the whole file until the regions are made",
        option="--no-global-suppression",
        form=Flag(negated=True),
    )


@dataclass(frozen=True)
class Running(Settings, group="run"):
    """Which numbers of sites are tried, what decides about dominance, and the seed."""

    range_step_percent: float = setting(
        10.0,
        label="Range step",
        help="Distance of the site numbers from each other, in percent of the approximated one.",
        option="--range-step",
        form=Percent(),
        usual="10",
    )
    range_reach: int = setting(
        2,
        label="Range reach",
        help="How many site numbers to each side; 0 = only the approximated one.",
        form=Whole("N"),
    )
    pareto_measures: tuple[str, ...] | None = setting(
        None,
        label="Measures of dominance",
        help="Measures that decide about dominance, or the name of a preset: usual (suppression and place) or thesis.",
        option="--pareto",
        form=Names(),
        usual="usual",
    )
    random_seed: int = setting(
        0,
        label="Random seed",
        help="Seed of all random draws.",
        form=Whole("N"),
    )


@dataclass(frozen=True)
class Workers(Settings, group="run"):
    """How many threads; the result is the same with any number."""

    workers: int = setting(
        0,
        label="Threads",
        help="Threads; 0 = chosen automatically.",
        form=Whole("N"),
        decides=False,
    )


@dataclass(frozen=True)
class Columns(Settings, group="columns"):
    """Which columns of the records are what."""

    region_column: str = setting(
        "",
        label="Region column",
        help="Column of the records that names the region.",
        required=True,
    )
    quasi_identifiers: tuple[str, ...] = setting(
        (),
        label="Quasi-identifiers",
        help="Columns that make up the classes.",
        form=Names(),
        required=True,
    )
    identifiers: tuple[str, ...] = setting(
        (),
        label="Identifiers",
        help="Columns that are left out of the release.",
        form=Names(),
    )
    sensitive: tuple[str, ...] = setting(
        (),
        label="Sensitive columns",
        help="A column that nobody should learn about a person; repeatable.",
        group="sensitive values",
        form=Texts("COLUMN"),
    )


def allowed_loss_percent(parameters: Parameters) -> float:
    """The share of the records that may be suppressed: what the limit searches for, and what is recommended."""
    given = parameters.get("site_number", {}).get("limit", {})
    return float(given.get("allowed_loss_percent", USUAL_LOSS_PERCENT))


def loss_limit_percent(approaches: Mapping[str, str], parameters: Parameters) -> float | None:
    """Return the allowed loss that is in force: that of the site number, or the one that was given; None without."""
    name, given = approaches["site_number"], parameters.get("site_number", {})
    own = make("site_number", name, given.get(name, {})).allowed_loss()
    if own is not None:
        return float(own)
    return allowed_loss_percent(parameters) if "allowed_loss_percent" in given.get("limit", {}) else None


def _measures(names: Iterable[str]) -> tuple[str, ...]:
    """The names of measures; that of a preset stands for those in it."""
    return tuple(dict.fromkeys(one for name in names for one in (preset(name) if name in PRESETS else (name,))))


@dataclass(frozen=True)
class RunSettings(Workers, Running, Harm, Limiting, Protection, Reading, Columns):
    """Everything that decides what a run makes of two files.

    ``approaches`` names one for each component, ``parameters`` holds what is given for them, ``groupings`` the
    categories that are taken together.
    """

    approaches: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    parameters: Parameters = field(default_factory=dict)
    groupings: Groups = field(default_factory=dict)

    @property
    def sensitive_columns(self) -> tuple[Sensitive, ...]:
        """Each sensitive column with its benign values and its criteria."""
        return sensitive_columns(self.sensitive, self)

    @property
    def loss_limit_percent(self) -> float | None:
        """The allowed loss that is in force: nothing beyond it is released without consent; None if there is none."""
        return loss_limit_percent(self.approaches, self.parameters)

    @property
    def of_every_run(self) -> dict[str, Any]:
        """What a run and every run of a comparison share, by the names of `Request` and `Plan`."""
        shared = {**self.part(Running), **self.part(Workers), "global_suppression": self.global_suppression}
        return {
            **shared,
            "pareto_measures": _measures(self.pareto_measures or ()),
            "allowed_loss_percent": allowed_loss_percent(self.parameters),
            "limits": self.limiting,
        }

    def options(self) -> dict[str, Any]:
        """Every setting as plain data; measures that were not chosen are an empty list."""
        return {**super().options(), "pareto": list(self.pareto_measures or ())}
