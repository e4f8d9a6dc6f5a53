"""Saying whether any file is k-anonymous, by a reader of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.io.databases.address import Address, record_place
from vbas_desktop.model.criteria import Sensitive
from vbas_desktop.model.errors import Finding, InputError
from vbas_desktop.model.progress import Progress, Silent
from vbas_desktop.settings.reading import RecordOptions

if TYPE_CHECKING:
    from vbas_desktop.assessment.policies import Judgement
    from vbas_desktop.audit.recount import Recount
    from vbas_desktop.model.policies import Policy


@dataclass(frozen=True, eq=False)
class Verified:
    """What was counted, and whether every combination that occurs has at least k records."""

    k: int
    found: Recount
    findings: tuple[Finding, ...] = ()
    policy: Judgement | None = None

    @property
    def violating_records(self) -> int:
        """Records in classes that are too small."""
        return self.found.violating_records(self.k)

    @property
    def ok(self) -> bool:
        """Whether the file is k-anonymous, meets the criteria for sensitive values, and misses none of a policy."""
        return (
            self.violating_records == 0 and self.criteria_met and (self.policy is None or self.policy.met is not False)
        )

    @property
    def criteria_met(self) -> bool:
        """Whether the sensitive values of every class meet their criteria."""
        return all(each.met for each in self.found.sensitive)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain JSON data."""
        found = self.found
        return {
            "k": self.k,
            "anonymity": found.anonymity,
            "records": found.records,
            "violating_records": self.violating_records,
            "ok": self.ok,
            "regions": found.regions,
            "classes": found.classes,
            "violating_classes": found.violating_classes(self.k),
            "anonymity_vector": {str(size): number for size, number in sorted(found.vector.items())},
            **({} if self.policy is None else {"policy": self.policy.as_dict()}),
            **({"sensitive": {each.column: each.as_dict() for each in found.sensitive}} if found.sensitive else {}),
        }


@dataclass(frozen=True)
class VerifyJob:
    """Count the records of every region and combination of quasi-identifier values in a file."""

    file: Path | Address
    quasi_identifiers: tuple[str, ...]
    region_column: str
    k: int = 5
    reading: RecordOptions = field(default_factory=RecordOptions)
    sensitive: tuple[Sensitive, ...] = ()
    policy: str | None = None

    def execute(self, progress: Progress = Silent()) -> Verified:  # noqa: B008 (Silent has no state)
        """Count."""
        from vbas_desktop.audit.recount import recount
        from vbas_desktop.io.policies import find_policy
        from vbas_desktop.io.records.table import line_two

        self._check()
        policy = None if self.policy is None else find_policy(self.policy)
        if isinstance(self.file, Address) or self._is_parquet(self.file):
            place = record_place(f"duckdb:{self.file}") if isinstance(self.file, Path) else self.file
            assert isinstance(place, Address)
            return self._judged(Verified(self.k, self._recounted(place, progress)), policy)
        category_line, said = line_two(self.file, self.reading, progress)
        found = recount(
            self.file,
            list(self.quasi_identifiers),
            self.region_column,
            delimiter=self.reading.delimiter,
            encoding=self.reading.encoding,
            category_line=category_line,
            sensitive=self.sensitive,
            progress=progress,
        )
        return self._judged(Verified(self.k, found, tuple(said)), policy)

    @staticmethod
    def _judged(verified: Verified, policy: Policy | None) -> Verified:
        from vbas_desktop.assessment.policies import judge, record_figures, sensitive_figures, together

        if policy is None:
            return verified
        found = verified.found
        spread = {each.column: each.as_dict() for each in found.sensitive}
        figures = together(record_figures(found.vector, found.smallest_region), sensitive_figures(spread))
        return replace(verified, policy=judge(policy, figures))

    @staticmethod
    def _is_parquet(path: Path) -> bool:
        from vbas_desktop.io.access import check_readable
        from vbas_desktop.io.records.parquet_batches import is_parquet

        check_readable(path)
        return is_parquet(path)

    def _recounted(self, address: Address, progress: Progress) -> Recount:
        from vbas_desktop.audit.recount import recount_records
        from vbas_desktop.io.databases.table import open_engine

        engine = open_engine(address, self.reading, progress)
        try:
            return recount_records(engine, self.quasi_identifiers, self.region_column, progress, self.sensitive)
        finally:
            engine.close()

    def _check(self) -> None:
        if not self.quasi_identifiers:
            message = "No quasi-identifier is named."
            raise InputError(Finding("no-quasi-identifier", message, "Name at least one column."))
        if self.region_column in self.quasi_identifiers:
            message, column = "The region column cannot be a quasi-identifier too.", self.region_column
            raise InputError(Finding("region-as-quasi-identifier", message, "Name it once.", column=column))
        for each in self.sensitive:
            if each.column in (self.region_column, *self.quasi_identifiers):
                message = "The column cannot be sensitive and a quasi-identifier, or the region column, too."
                raise InputError(Finding("sensitive-twice", message, "Name it once.", column=each.column))
