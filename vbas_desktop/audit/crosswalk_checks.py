"""Check the crosswalk of a release against the region file: ids, tiers, boundaries, regions left alone, names."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import pairwise

from vbas_desktop.model.findings import Check
from vbas_desktop.model.problem import Problem

from .claim import ReleaseClaim
from .release_files import Crosswalk


def check_crosswalk(problem: Problem, claim: ReleaseClaim, crosswalk: Crosswalk) -> Iterator[Check]:
    """Make all checks of the crosswalk."""
    yield from _check_ids(problem, crosswalk)
    yield from _check_boundaries(problem, claim, crosswalk)
    yield from _check_alone(claim, crosswalk)
    yield from _check_names(problem, claim, crosswalk)


def _check_ids(problem: Problem, crosswalk: Crosswalk) -> Iterator[Check]:
    codes = {code for codes in crosswalk.values() for code in codes}
    yield Check(
        "the crosswalk has every initial region once, and no aggregated region has the id of one",
        tuple(crosswalk) == problem.regions.ids and not codes & set(problem.regions.ids),
    )
    tiers = list(zip(*crosswalk.values(), strict=True))
    if len(tiers) > 1:
        nested = all(
            len(set(zip(below, above, strict=True))) == len(set(below))
            for below, above in pairwise(tiers)
        )
        apart = sum(len(set(tier)) for tier in tiers) == len(codes)
        yield Check("every place lies in one place of the next tier", nested and apart)


def _check_boundaries(problem: Problem, claim: ReleaseClaim, crosswalk: Crosswalk) -> Iterator[Check]:
    regions = problem.regions
    for column in claim.within:
        value = dict(zip(regions.ids, regions.labels[column], strict=True))
        values_of_code: dict[str, set[str]] = {}
        for region, codes in crosswalk.items():
            values_of_code.setdefault(codes[0], set()).add(value.get(region, ""))
        across = [code for code, values in values_of_code.items() if len(values) > 1]
        yield Check(
            f"no aggregated region crosses a boundary of “{column}”",
            not across,
            f"across: {', '.join(across[:3])}" if across else f"{len(set(value.values())):,} within",
        )


def _check_alone(claim: ReleaseClaim, crosswalk: Crosswalk) -> Iterator[Check]:
    if not claim.alone:
        return
    members: dict[str, int] = {}
    for codes in crosswalk.values():
        members[codes[0]] = members.get(codes[0], 0) + 1
    merged = [region for region in claim.alone if members.get(crosswalk.get(region, ("",))[0]) != 1]
    yield Check(
        "regions that stay alone are merged with no other",
        not merged,
        f"merged: {', '.join(merged[:3])}" if merged else f"{len(claim.alone):,} alone",
    )


def _check_names(problem: Problem, claim: ReleaseClaim, crosswalk: Crosswalk) -> Iterator[Check]:
    """Check the names of aggregated regions in the file: one for each, after one of its initial regions."""
    if claim.name_column is None:
        return
    with claim.crosswalk.open(encoding="utf-8", newline="") as file:
        names = [row[-1] for row in csv.reader(file)][1:]
    id_and_name = zip(problem.regions.ids, problem.regions.columns[claim.name_column], strict=True)
    name_of_region = {id: " ".join(text.split()) or id for id, text in id_and_name}
    names_of_code: dict[str, set[str]] = {}
    members: dict[str, list[str]] = {}
    for (region, codes), name in zip(crosswalk.items(), names, strict=True):
        names_of_code.setdefault(codes[0], set()).add(name)
        members.setdefault(codes[0], []).append(name_of_region.get(region, ""))
    apostrophe = "'" * claim.escaped
    wrong = 0
    for code, names_found in names_of_code.items():
        more = f" + {len(members[code]) - 1:,}" if len(members[code]) > 1 else ""
        possible = {text.removeprefix(apostrophe) for text in members[code]}
        wrong += (
            len(names_found) != 1
            or min(names_found).removesuffix(more).removeprefix(apostrophe) not in possible
        )
    yield Check(
        "every aggregated region has one name, after one of its initial regions",
        wrong == 0,
        f"{wrong:,} have not",
    )
