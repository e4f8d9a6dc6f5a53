"""The report for the organisation: all that is known of a release. It stays there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.analysis.risk import measure_risk
from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS
from vbas_desktop.engine.geographic_representability import GeographicRepresentability
from vbas_desktop.io.documents.run_options import files_to_repeat, repeat_command
from vbas_desktop.model.findings import Check, Finding
from vbas_desktop.model.records import RecordTable, SourceFile
from vbas_desktop.model.solution import RunResult, Solution
from vbas_desktop.model.text import format_count
from vbas_desktop.settings.release import ReleaseOptions

from ..column_coverage import ColumnCoverage, names_in_words
from ..folder import ReleasedFile
from ..plan import ReleasePlan
from ..recipient_facts import RecipientFacts
from ..written_file import WrittenFile
from .blocks import (
    FOOT,
    LONGEST,
    Block,
    Checks,
    Command,
    Figure,
    Pairs,
    Paragraph,
    Report,
    Section,
    Table,
    Tiles,
    rows_left_out,
)
from .choices import column_blocks, describe_choices, files_table, list_filters, protection_blocks
from .maps import Maps, solutions_scatter
from .measures import (
    MEASURE_ROWS,
    geography_blocks,
    journalist_risk,
    measure_rows,
    risk_blocks,
    solution_table,
)
from .protection import (
    checklist_blocks,
    last_look_blocks,
    policy_blocks,
    population_blocks,
    sensitive_blocks,
)
from .regions import format_counts, map_caption, region_blocks, tier_blocks


@dataclass(frozen=True, eq=False)
class InternalFacts:
    """Everything that the report for the file may draw on."""

    plan: ReleasePlan
    table: RecordTable
    result: RunResult
    options: ReleaseOptions
    written: WrittenFile
    checks: tuple[Check, ...]
    files: tuple[ReleasedFile, ...]
    maps: Maps
    pieces: NDArray[np.integer]
    document: Mapping[str, Any]
    geography: GeographicRepresentability
    recipient_facts: RecipientFacts
    warnings: tuple[Finding, ...]
    columns: ColumnCoverage | None = None


def losses_by_value(plan: ReleasePlan) -> Iterator[Table]:
    """Released and suppressed records by value of each quasi-identifier; those of unknown regions are not counted."""
    counts = plan.problem.counts
    for q, categories in enumerate(plan.problem.categories):
        code = counts.decode_column(q)[plan.columns]
        number = len(categories.values)
        before, after = (
            np.bincount(code, records, number).astype(np.int64).tolist()
            for records in (plan.counts, plan.released)
        )
        rows = [
            (categories.label(value), f"{after[value]:,}", f"{before[value] - after[value]:,}")
            for value in range(min(LONGEST, number))
        ]
        yield Table((categories.column, "records released", "records suppressed"), rows)


def check_blocks(rows: Sequence[Mapping[str, str]]) -> Iterable[Block]:
    """Yield the check of a requirement: what is missed, and every criterion."""
    if not rows:
        return
    missed = sum(row["verdict"] == "not met" for row in rows)
    yield Paragraph(
        "All that could be checked is met."
        if not missed
        else f"{missed:,} of {len(rows):,} are not met."
    )
    cells = [(row["criterion"], row["required"], row["actual"], row["verdict"]) for row in rows]
    marked = frozenset(number for number, row in enumerate(rows) if row["verdict"] == "not met")
    yield Table(("criterion", "required", "actual", "verdict"), cells, 9, marked=marked)


def build_internal_report(facts: InternalFacts) -> Report:
    """Build the report that stays inside."""
    return Report(
        title="Anonymisation report",
        banner="Internal: contains counts below k and stays in the organisation.",
        internal=True,
        sections=tuple(section for section in _Writer(facts).sections() if section.blocks),
        foot=FOOT,
    )


class _Writer:
    def __init__(self, facts: InternalFacts) -> None:
        self.facts, self.plan = facts, facts.plan
        self.problem, self.k = facts.plan.problem, facts.plan.problem.k

    def sections(self) -> Iterable[Section]:
        safe = protection_blocks(
            self.problem.quasi_identifiers,
            self.k,
            self.plan.anonymity,
            bool(self.plan.coarser),
            self.problem.judged_columns,
        )
        yield Section("In short", (self._tiles(), *safe))
        yield Section("Columns", tuple(self._columns()))
        yield Section("Policy", tuple(policy_blocks(self.plan, self.facts.document)))
        yield Section("Policy checklist", tuple(checklist_blocks(self.facts.document)))
        yield Section(
            "The requirement", tuple(check_blocks(self.facts.document.get("requirement_check") or ()))
        )
        yield Section("The files", (files_table(self.facts.files),))
        yield Section("Where it came from", tuple(self._inputs()))
        yield Section("What was chosen", (Pairs(describe_choices(self.facts)),))
        yield Section("Limits", tuple(limit_blocks(self.plan.solution, len(self.plan.codes))))
        yield Section("Places in tiers", tuple(tier_blocks(self.facts.recipient_facts)))
        yield Section("The map", tuple(self._maps()))
        yield Section("What the aggregation costs", (self._measures(),))
        yield Section("Sensitive values", (*sensitive_blocks(self.plan), *self._harm_map()))
        yield Section(
            "What remains of the geography", tuple(geography_blocks(self.plan, self.facts.geography))
        )
        yield Section("Solutions that were considered", tuple(self._solutions()))
        yield Section("Suppressed records", tuple(self._suppression()))
        yield Section("Risk of re-identification", tuple(self._risk()))
        yield Section("Population risk", tuple(population_blocks(self.facts.document)))
        yield Section("Earlier releases", tuple(self._ledger()))
        yield Section("Verification", tuple(self._verification()))
        yield Section("Other released columns", tuple(last_look_blocks(self.facts.document, self.k)))
        yield Section("Remarks", tuple(self._remarks()))
        yield Section("How to repeat it", tuple(self._repeat()))
        yield Section("The aggregated regions", tuple(self._regions()))

    def _tiles(self) -> Tiles:
        anonymity = self.plan.anonymity
        share = self.plan.records_suppressed / max(1, self.problem.records)
        items = [
            (f"{self.plan.records_released:,}", "records released"),
            (
                f"{len(self.plan.codes):,}",
                f"aggregated regions, from {len(self.problem.regions):,} initial ones",
            ),
            (
                "–" if anonymity is None else f"{anonymity:,}",
                f"records in the smallest class; k is {self.k:,}",
            ),
            (
                f"{self.plan.records_suppressed:,}",
                f"records suppressed ({100 * share:.2g} % of the file)",
            ),
        ]
        return Tiles(items)

    def _columns(self) -> Iterable[Block]:
        covered = self.facts.columns
        if covered is None:
            return
        yield from column_blocks(covered.k, covered.counted, covered.others)
        if covered.others:
            yield Paragraph(covered.unique_in_words)
        if covered.without_role:
            yield Paragraph(f"No role was given for {names_in_words(covered.without_role)}.")

    def _inputs(self) -> Iterable[Block]:
        sources = [
            ("Record file", self.problem.records_source),
            ("Region file", self.problem.regions_source),
        ]
        items = [(name, _describe_source(source)) for name, source in sources if source is not None]
        items.insert(1, ("Records in it", f"{self.problem.records + self.problem.records_left_out:,}"))
        items[2:2] = list_filters(self.problem)
        items.append(("Initial regions", f"{len(self.problem.regions):,}"))
        yield Pairs(items)

    def _maps(self) -> Iterable[Block]:
        yield Figure(self.facts.maps.regions, map_caption(self.plan))
        if self.facts.maps.suppressed is not None:
            yield Figure(
                self.facts.maps.suppressed, "Share of the records that were suppressed, by region."
            )

    def _harm_map(self) -> Iterable[Block]:
        if self.facts.maps.harm is not None:
            caption = "Share of the commonest harmful value in the worst class released in each region."
            yield Figure(self.facts.maps.harm, caption)

    def _regions(self) -> Iterable[Block]:
        smallest = self.plan.anonymity_by_region
        columns = {
            "records suppressed": format_counts(self.plan.suppressed_by_region),
            "smallest class": lambda number: f"{smallest[number]:,}" if smallest[number] else "–",
            "pieces": format_counts(self.facts.pieces),
        }
        return region_blocks(self.plan, columns)

    def _measures(self) -> Table:
        rows = measure_rows(self.plan.solution.measures, self.problem.regions.system)
        return Table(MEASURE_ROWS, rows, 1, 2, caption="Lower is better for each measure.")

    def _solutions(self) -> Iterable[Block]:
        system = self.problem.regions.system
        yield Paragraph(
            f"{len(self.facts.result.solutions):,} numbers of sites were tried around the approximated one, "
            f"{self.facts.result.approximated_sites:,}. A star marks the Pareto front: solutions that no other one "
            "beats in one measure without being worse in another. The released solution is set in bold."
        )
        yield solution_table(self.facts.result.solutions, self.plan.solution, system)
        if len(self.facts.result.solutions) > 1:
            names = ("suppressed_records", "average_distance")
            titles = ("suppressed records", "average distance")
            yield Figure(
                solutions_scatter(self.facts.result.solutions, self.plan.solution, *names, titles),
                "Two of the measures: down and left is better. Filled: on the Pareto front; ringed: released.",
            )

    def _suppression(self) -> Iterable[Block]:
        if self.plan.records_suppressed == 0:
            yield Paragraph("No record was suppressed.")
            return
        solution = self.plan.solution
        unknown = self.problem.unknown_region_records
        yield Pairs(
            [
                ("In classes too small in the whole file", f"{solution.suppressed_global:,}"),
                (
                    "In classes too small in their aggregated region",
                    f"{solution.suppressed_local - solution.suppressed_sensitive:,}",
                ),
                (
                    "In classes whose sensitive values miss the criteria",
                    f"{solution.suppressed_sensitive:,}",
                ),
                ("Of regions that the region file lacks", f"{unknown:,}"),
                (
                    "Stated to the recipient",
                    f"{self.facts.recipient_facts.suppressed}, in per cent of the file",
                ),
            ]
        )
        yield from losses_by_value(self.plan)

    def _risk(self) -> Iterable[Block]:
        before = measure_risk(self.problem.counts.sizes)
        after = measure_risk(self.plan.sizes)
        columns = [("input, by initial region", before), ("released file", after)]
        yield from risk_blocks(columns, journalist_risk(self.facts.document))

    def _ledger(self) -> Iterable[Block]:
        ledger_check = self.facts.document.get("ledger_check")
        missing = self.facts.document.get("ledger_missing")
        if missing:
            yield Paragraph(f"There was no ledger at {missing} yet; nothing was compared.")
            return
        if not ledger_check:
            yield Paragraph(
                "Nobody who gets this release is known to have an earlier one; nothing was compared."
            )
            return
        verdict = "singles out nobody" if ledger_check["safe"] else "would single people out"
        yield Paragraph(
            f"For {ledger_check['audience'] or 'anybody'}: beside what is in the ledger, this release {verdict}."
        )
        yield Checks(
            [
                (comparison["safe"], f"release {comparison['release']}", comparison["text"])
                for comparison in ledger_check["compared_with"]
            ]
        )
        if ledger_check["together"]:
            yield Paragraph(ledger_check["together"])
        if ledger_check["k_reason"]:
            yield Paragraph(
                f"Groups of {ledger_check['k']:,} people were required instead of the largest k of these releases, "
                f"for this reason: {ledger_check['k_reason']}"
            )
        elif ledger_check["k"]:
            yield Paragraph(
                f"Groups of {ledger_check['k']:,} people were required, the largest k of these releases."
            )
        if ledger_check["override"]:
            yield Paragraph(f"It was released all the same, for this reason: {ledger_check['override']}")

    def _verification(self) -> Iterable[Block]:
        yield Checks([(check.passed, check.name, check.detail) for check in self.facts.checks])

    def _remarks(self) -> Iterable[Block]:
        findings = (*self.problem.findings, *self.facts.result.findings, *self.facts.warnings)
        rows = [
            (str(finding.severity), finding.column or "", finding.message)
            for finding in dict.fromkeys(findings)
        ]
        if rows:
            yield Table(("kind", "column", "found while loading, running and releasing"), rows, 9)
        cells = [(column, f"{count:,}") for column, count in self.facts.written.formulas.items()]
        if cells:
            done = (
                "They were given an apostrophe."
                if self.facts.options.escape_formulas
                else "They were left as they are."
            )
            yield Paragraph(
                f"Cells that a spreadsheet program might run as a formula (= + - @ at the start). {done}"
            )
            yield Table(("column", "cells"), cells)
        if not rows and not cells:
            yield Paragraph("Nothing was found that needs a remark.")

    def _repeat(self) -> Iterable[Block]:
        command = repeat_command(self.facts.document, self.plan.solution.id)
        if command:
            others = ", ".join(files_to_repeat(self.facts.document).values())
            there = f" It also reads what lies beside this report: {others}." if others else ""
            yield Paragraph(
                f"On the same two files this command gives the same release, byte for byte.{there}"
            )
            yield Command(command)


def _describe_source(source: SourceFile) -> str:
    """Describe a file by name, size and hash, records behind an address by address and hash of their counts."""
    if source.elsewhere:
        return f"{source.path}, SHA-256 of its counts {source.sha256}"
    return f"{Path(source.path).name}, {source.size_bytes:,} bytes, SHA-256 {source.sha256}"


def limit_blocks(solution: Solution, regions: int) -> Iterable[Block]:
    """Yield each limit with whether it held, then every unmet size target with its region; nothing without limits."""
    constraints = solution.diagnostics.get(CONSTRAINT_DIAGNOSTICS)
    if constraints is None:
        return
    unmet = sorted(constraints["unmet"], key=lambda region: str(region["region"]))
    concerned = regions - len(constraints["alone"])
    rows: list[tuple[bool, str, str]] = []
    if constraints["within"]:
        columns = ", ".join(f"“{column}”" for column in constraints["within"])
        rows.append(
            (
                True,
                f"No region across boundaries of {columns}",
                f"{constraints['boundaries']:,} boundaries",
            )
        )
    if constraints["alone"]:
        rows.append(
            (True, "Regions that stay alone", format_count(len(constraints["alone"]), "initial region"))
        )
    for constraint in constraints["size_targets"]:
        for key, words in (("at_least", "at least"), ("at_most", "at most")):
            if constraint[key]:
                short = sum(region["what"] == constraint["what"] and key in region for region in unmet)
                apart = " that may be merged" if constraints["alone"] else ""
                outcome = (
                    f"{concerned - short:,} of {format_count(concerned, 'aggregated region')}{apart}"
                )
                rows.append(
                    (
                        not short,
                        f"{constraint['what'].capitalize()} of each region: {words} {constraint[key]:,}",
                        outcome,
                    )
                )
    yield Checks(rows)
    centres = constraints.get("centres")
    if centres is not None:
        unit = centres["unit"] if centres["unit"] == "km" else f"{centres['unit']}s"
        yield Paragraph(
            f"Centres of regions are weighted by “{centres['column']}”; the mean distance to them, weighted alike, is "
            f"{centres['mean_distance']:,.4g} {unit}."
        )
    if unmet:
        yield Paragraph(
            "What is not met; no neighbour was left inside the boundaries, or no region that could be split:"
        )
        cells = [
            (
                region["region"],
                region["what"],
                f"at least {region['at_least']:,}"
                if "at_least" in region
                else f"at most {region['at_most']:,}",
                f"{region['has']:,}",
            )
            for region in unmet[:LONGEST]
        ]
        yield Table(("aggregated region", "what", "wanted", "has"), cells, 3)
    yield from rows_left_out(len(unmet), "run.json")
