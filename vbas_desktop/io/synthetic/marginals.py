"""Attributes of the built-in specs that are drawn independently, by marginals.

Section 5.1.1 of the thesis draws each attribute of a record independently, by the shares of its province. The shares of
``resources/like/marginals.toml`` stand in for those of the thesis, whose microdata are not public.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from vbas_desktop.model.findings import input_error

from ..paths import resource_path
from .spec import BUILT_IN, Attribute, AttributeRole, Spec, load_spec

DEPENDENT = "dependent"
INDEPENDENT = "independent"
ATTRIBUTE_MODELS = (DEPENDENT, INDEPENDENT)
"""How the attributes of a built-in spec are drawn: by rules that tie them together, or each by its marginal alone."""

SETS_OF: Mapping[str, tuple[str, ...]] = {
    "eastern": ("east",),
    "central": ("east", "west"),
    "western": ("west",),
    "pei": ("east",),
}
"""The sets of marginals of each built-in spec; with several the mean of their shares is taken."""


@dataclass(frozen=True)
class Marginal:
    """The categories of one attribute and their counts in each set, with the source of these and what was assumed."""

    name: str
    role: AttributeRole
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    counts: Mapping[str, tuple[float, ...]]
    source: str
    assumptions: str

    def shares(self, sets: Sequence[str]) -> tuple[float, ...]:
        """Return the share of each category, the mean over the sets."""
        shares = [[count / sum(self.counts[name]) for count in self.counts[name]] for name in sets]
        return tuple(map(fmean, zip(*shares, strict=True)))


def read_marginals() -> tuple[Marginal, ...]:
    """Read the marginals that come with the program."""
    data = tomllib.loads(resource_path("like/marginals.toml").read_text(encoding="utf-8"))
    return tuple(
        Marginal(
            name=entry["name"],
            role=entry.get("role", "plain"),
            labels=tuple(entry["labels"]),
            groups=tuple(entry.get("groups", entry["labels"])),
            counts={name: tuple(entry[name]) for name in ("east", "west")},
            source=entry["source"],
            assumptions=entry["assumptions"],
        )
        for entry in data["attributes"]
    )


def make_independent_attributes(like: str) -> tuple[Attribute, ...]:
    """Make the attributes of a built-in spec that are drawn by their marginals alone."""
    sets = SETS_OF[like]
    return tuple(
        Attribute(
            name=marginal.name,
            labels=marginal.labels,
            weights=marginal.shares(sets),
            groups=marginal.groups,
            role=marginal.role,
        )
        for marginal in read_marginals()
    )


def load_spec_with_attributes(like: str | Path, attributes: str) -> Spec:
    """Load a spec whose attributes are drawn by one of `ATTRIBUTE_MODELS`.

    A spec file of the user says itself how its attributes are drawn; only `DEPENDENT`, which changes nothing, goes
    with it.
    """
    if attributes == DEPENDENT:
        return load_spec(like)
    if str(like) not in BUILT_IN:
        message = (
            "Independent attributes are drawn by published marginals, which a spec file does not have."
        )
        raise input_error(
            "wrong-value", message, f"Leave out --attributes, or use one of {', '.join(BUILT_IN)}."
        )
    return load_spec(like).model_copy(update={"attributes": make_independent_attributes(str(like))})
