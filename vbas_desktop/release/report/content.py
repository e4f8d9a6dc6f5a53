"""What a report says. The same facts for two readers: all of it for the file, what may leave for the recipient."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vbas_desktop import __version__

from ..geometry import made_up_extent
from ..policies import POLICIES
from ..tables import code_order
from .blocks import Block, Checks, Command, Figure, Pairs, Paragraph, Report, Section, Table, Tiles
from .checklist import policy_blocks, requirement_blocks
from .disclosure import Disclosure
from .facts import Facts
from .figures import region_map, solutions_scatter
from .place import place_blocks
from .ratings import MEASURE_ROWS, measure_rows, risk_table, solution_table
from .suppression import ValueLoss, losses_by_value
from .wording import choices_in_words, repeat_command, what_files_are

LONGEST_TABLE = 300


def report(facts: Facts, internal: bool) -> Report:
    """The report for the file (``internal``) or for the recipient."""
    writer = _Writer(facts, internal)
    banner = (
        "For the file: contains counts below k and stays in the organisation."
        if internal
        else "For the recipient of the released file."
    )
    return Report(
        title="Anonymisation report" if internal else "About this release",
        banner=banner,
        internal=internal,
        sections=tuple(section for section in writer.sections() if section.blocks),
        foot=f"Made by VBAS Desktop {__version__}.",
    )


class _Writer:
    def __init__(self, facts: Facts, internal: bool) -> None:
        self.facts, self.internal, self.plan = facts, internal, facts.plan
        self.problem, self.k = facts.plan.problem, facts.plan.problem.k
        self.show = Disclosure(self.k, internal)
        self.lost_by_region = self.plan.records_by_region - self.plan.released_by_region
        self.losses = losses_by_value(self.plan)
        self.suppressed = self.show.total(self.plan.records_suppressed)

    def _tells(self, counts: NDArray[np.int64]) -> bool:
        """Whether this table of suppressed records may be shown beside their total."""
        unknown = self.problem.unknown_region_records
        return self.show.table(self.plan.records_suppressed, np.append(counts, unknown) if unknown else counts)

    def sections(self) -> Iterable[Section]:
        yield Section("In short", (self._tiles(), *self._why_safe()))
        yield Section("Policy", tuple(self._policy()))
        yield Section("Policy checklist", tuple(policy_blocks(self.facts.document)) if self.internal else ())
        yield Section("The requirement", tuple(requirement_blocks(self.facts.document)) if self.internal else ())
        yield Section("The files", (self._files(),))
        yield Section("Where it came from", tuple(self._inputs()))
        yield Section("What was chosen", (Pairs(choices_in_words(self.facts, self._category_numbers())),))
        yield Section("The map", tuple(self._maps()))
        yield Section("What the aggregation costs", (self._measures(),))
        yield Section("What remains of the geography", tuple(self._place()))
        yield Section("Solutions that were considered", tuple(self._solutions()))
        yield Section("Suppressed records", tuple(self._suppression()))
        yield Section("Risk of re-identification", tuple(self._risk()))
        yield Section("Verification", tuple(self._verification()))
        yield Section("Remarks", tuple(self._remarks()))
        yield Section("How to repeat it", tuple(self._repeat()) if self.internal else ())
        yield Section("The aggregated regions", tuple(self._regions()))

    def _category_numbers(self) -> list[int]:
        """The categories of each quasi-identifier; the recipient does not learn of those that are not released."""
        return [sum(self.internal or value.released > 0 for value in loss.values) for loss in self.losses]

    def _tiles(self) -> Tiles:
        anonymity = self.plan.anonymity
        items = [
            (f"{self.plan.records_released:,}", "records released"),
            (f"{len(self.plan.codes):,}", f"aggregated regions, from {len(self.problem.regions):,} initial ones"),
            ("–" if anonymity is None else f"{anonymity:,}", f"records in the smallest class; k is {self.k:,}"),
        ]
        if self.suppressed is not None:
            share = self.plan.records_suppressed / max(1, self.problem.records)
            items.append((self.suppressed, f"records suppressed ({100 * share:.2g} % of the file)"))
        return Tiles(items)

    def _why_safe(self) -> list[Block]:
        names = ", ".join(f"“{name}”" for name in self.problem.quasi_identifiers)
        smallest = self.plan.anonymity or self.k
        safe = (
            f"Whoever knows a person’s values of {names} and the place they live in finds at least {self.k:,} records "
            f"in the released file that fit equally well (the fewest are {smallest:,}), so no record can be tied to a "
            f"person by these columns with a chance above 1 in {smallest:,}. To reach this, small regions were merged "
            "with their neighbours, and the few records that still stood out were left out."
        )
        checked = (
            "After writing, the file was read back by code that shares nothing with the one that wrote it, and counted "
            "again; see Verification."
        )
        limits = (
            "This protects against recognising people by the quasi-identifiers and the region. It says nothing about "
            "the other columns: if they can be known to outsiders, or if all records of a class share a sensitive "
            "value, further protection is needed."
        )
        return [Paragraph(safe), Paragraph(checked), Paragraph(limits, quiet=True)]

    def _policy(self) -> Iterable[Block]:
        chosen = POLICIES.get(self.facts.options.policy or "")
        listed = list(POLICIES.values()) if self.internal else [chosen] if chosen else []
        if not listed:
            return
        if chosen is None:
            yield Paragraph("No policy was chosen. The usual ones, for orientation:")
        else:
            verdict = "meets" if self.facts.meets(chosen) else "does not meet"
            yield Paragraph(f"The release {verdict} the policy “{chosen.title}” ({chosen.origin}): {chosen.demand()}.")
        if self.internal:
            yield Checks([(self.facts.meets(policy), policy.title, policy.demand()) for policy in listed])
            yield Paragraph("Areas are judged by the records released in them, not by their inhabitants.", quiet=True)

    def _files(self) -> Table:
        words = what_files_are(self.facts)
        rows = [
            (Path(file.path).name, words.get(Path(file.path).name, ""), f"{file.size_bytes:,}", file.sha256)
            for file in self.facts.files
        ]
        return Table(("file", "what it is", "bytes", "SHA-256"), rows, 2, 3)

    def _inputs(self) -> Iterable[Block]:
        sources = [("Region file", self.problem.regions_source)]
        if self.internal:
            sources.insert(0, ("Record file", self.problem.records_source))
        items = [
            (name, f"{Path(source.path).name}, {source.size_bytes:,} bytes, SHA-256 {source.sha256}")
            for name, source in sources
            if source is not None
        ]
        if self.internal:
            items.insert(1, ("Records in it", f"{self.problem.records:,}"))
        items.append(("Initial regions", f"{len(self.problem.regions):,}"))
        yield Pairs(items)
        if not self.internal:
            yield Paragraph(
                "The record file stays with its custodian, and so does its checksum, which is part of what keeps the "
                "order of the released rows secret.",
                quiet=True,
            )

    def _maps(self) -> Iterable[Block]:
        made = (
            "the polygons of the region file"
            if self.problem.regions.polygons is not None
            else "cells around the points"
        )
        yield Figure(
            self.facts.map,
            f"The {len(self.plan.codes):,} aggregated regions, drawn from {made}. Colours only tell neighbours apart.",
        )
        if self.internal and self.plan.records_suppressed:
            share = self.lost_by_region / np.maximum(1, self.plan.records_by_region)
            yield Figure(
                region_map(self.plan, self.facts.shapes, self.facts.pairs, share),
                "Share of the records that were suppressed, by region.",
            )

    def _regions(self) -> Iterable[Block]:
        order = code_order(self.plan)
        headings = ["aggregated region", "initial regions", "records released"]
        tells = self._tells(self.lost_by_region)
        if tells:
            headings.append("records suppressed")
        if self.internal:
            headings += ["smallest class", "pieces"]
        rows = [self._region_row(number, tells) for number in order[:LONGEST_TABLE]]
        yield Table(headings, rows)
        if len(order) > LONGEST_TABLE:
            left = len(order) - LONGEST_TABLE
            yield Paragraph(f"{left:,} more are in aggregated_regions.csv.", quiet=True)

    def _region_row(self, number: int, tells: bool) -> list[str]:
        row = [
            self.plan.codes[number],
            f"{self.plan.members_by_region[number]:,}",
            f"{self.plan.released_by_region[number]:,}",
        ]
        if tells:
            row.append(self.show.count(int(self.lost_by_region[number])))
        if self.internal:
            smallest = int(self.plan.anonymity_by_region[number])
            row += [f"{smallest:,}" if smallest else "–", f"{self.facts.pieces[number]:,}"]
        return row

    def _measures(self) -> Table:
        rows = measure_rows(self.plan.solution, self.problem.regions.system.unit, self.suppressed, self.show)
        return Table(MEASURE_ROWS, rows, 1, 2, caption="Lower is better for each measure.")

    def _place(self) -> Iterable[Block]:
        yield from place_blocks(self.plan, self.facts.place, None if self.internal else self.facts.recipients)

    def _solutions(self) -> Iterable[Block]:
        unit = self.problem.regions.system.unit
        yield Paragraph(
            f"{len(self.facts.result.solutions):,} numbers of sites were tried around the approximated one, "
            f"{self.facts.result.approximated_sites:,}. A star marks the Pareto front: solutions that no other one "
            "beats in one measure without being worse in another. The released solution is set in bold."
        )
        yield solution_table(self.facts.result.solutions, self.plan.solution, unit, self.show)
        if self.internal and len(self.facts.result.solutions) > 1:
            names, titles = ("suppressed_records", "average_distance"), ("suppressed records", "average distance")
            yield Figure(
                solutions_scatter(self.facts.result.solutions, self.plan.solution, *names, titles),
                "Two of the measures: down and left is better. Filled: on the Pareto front; ringed: released.",
            )

    def _suppression(self) -> Iterable[Block]:
        if self.internal and self.plan.records_suppressed == 0:
            yield Paragraph("No record was suppressed.")
            return
        if self.internal:
            solution, unknown = self.plan.solution, self.problem.unknown_region_records
            yield Pairs(
                [
                    ("In classes too small in the whole file", f"{solution.suppressed_global:,}"),
                    ("In classes too small in their aggregated region", f"{solution.suppressed_local:,}"),
                    ("Of regions that the region file lacks", f"{unknown:,}"),
                ]
            )
        elif self.suppressed is None:
            yield Paragraph(f"Fewer than {self.k:,} records were suppressed, or none.")
            return
        else:
            yield Paragraph(f"{self.suppressed} records were suppressed.")
        tables = [loss for loss in self.losses if self._tells(loss.suppressed)]
        if not self.internal:
            if len(tables) < len(self.losses) or not self._tells(self.lost_by_region):
                yield Paragraph(
                    "Tables from which, with the total, a count of fewer than "
                    f"{self.k:,} records could be worked out are left out.",
                    quiet=True,
                )
            yield Paragraph(f"Counts below {self.k:,}, none included, are not told apart.", quiet=True)
        for loss in tables:
            yield self._loss_table(loss)

    def _loss_table(self, loss: ValueLoss) -> Table:
        # That a value occurs at all tells of a few records, unless it is released or frequent enough.
        known = [value for value in loss.values if self.internal or value.released or value.suppressed >= self.k]
        shown = known[:LONGEST_TABLE]
        rows = [(value.label, f"{value.released:,}", self.show.count(value.suppressed)) for value in shown]
        return Table((loss.column, "records released", "records suppressed"), rows)

    def _risk(self) -> Iterable[Block]:
        yield from risk_table(self.plan, self.internal)

    def _verification(self) -> Iterable[Block]:
        yield Checks([(check.passed, check.name, check.detail if self.internal else "") for check in self.facts.checks])

    def _remarks(self) -> Iterable[Block]:
        if not self.internal:
            yield from (Paragraph(finding.message) for finding in made_up_extent(self.plan))
            if self.facts.written.formulas and not self.facts.options.escape_formulas:
                yield Paragraph(
                    "Some cells start like a formula (= + - @). Open the file as text, not in a spreadsheet program."
                )
            return
        findings = (*self.problem.findings, *self.facts.result.findings, *self.facts.telltales)
        rows = [(str(finding.severity), finding.column or "", finding.message) for finding in dict.fromkeys(findings)]
        if rows:
            yield Table(("kind", "column", "found while loading, running and releasing"), rows, 9)
        cells = [(column, f"{count:,}") for column, count in self.facts.written.formulas.items()]
        if cells:
            done = (
                "They were given an apostrophe."
                if self.facts.options.escape_formulas
                else "They were left as they are."
            )
            yield Paragraph(f"Cells that a spreadsheet program might run as a formula (= + - @ at the start). {done}")
            yield Table(("column", "cells"), cells)
        if not rows and not cells:
            yield Paragraph("Nothing was found that needs a remark.")

    def _repeat(self) -> Iterable[Block]:
        command = repeat_command(self.facts.document, self.plan.solution.id)
        if command:
            yield Paragraph("On the same two files this command gives the same release, byte for byte:")
            yield Command(command)
