"""The choices that make the regions of an earlier release once more."""

from __future__ import annotations

from dataclasses import replace

from vbas_desktop.domain.records import Role
from vbas_desktop.jobs.ledger import Earlier

from .choices import Choices


def as_then(choices: Choices, earlier: Earlier) -> Choices:
    """The same choices with the quasi-identifiers, groups, k and regions of an earlier release."""
    entry = earlier.entry
    own = set(entry.quasi_identifiers)
    roles = {
        name: Role.QUASI_IDENTIFIER if name in own else (Role.PLAIN if role is Role.QUASI_IDENTIFIER else role)
        for name, role in choices.roles.items()
    }
    chosen = {
        "site_number": "fixed",
        "construction": "coarsen",
        "refinement": "none",
        "tiers": "none",
    }
    made = replace(
        choices,
        roles=roles,
        k=entry.k,
        groupings=earlier.groupings,
        coarsen_from=str(earlier.crosswalk),
        range_reach=0,
        approaches={**choices.approaches, **chosen},
    )
    return made.with_parameter("site_number", "fixed", "sites", entry.aggregated_regions)
