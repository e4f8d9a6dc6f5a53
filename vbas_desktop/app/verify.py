"""Verify whether a file is k-anonymous, with the reader of the auditor."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbas_desktop.analysis.policy_evaluation import (
    PolicyEvaluation,
    collect_record_figures,
    collect_sensitive_figures,
    evaluate_policy,
    merge_figures,
)
from vbas_desktop.audit.engine_recount import recount_records
from vbas_desktop.audit.recount import Recount, recount
from vbas_desktop.audit.text_form import StatedForm
from vbas_desktop.io.databases.address import Address, parse_address
from vbas_desktop.io.databases.opening import open_engine
from vbas_desktop.io.documents.policies import find_policy
from vbas_desktop.io.input_checks import check_readable
from vbas_desktop.io.records.loading import detect_category_line
from vbas_desktop.io.records.parquet_batches import is_parquet
from vbas_desktop.model.criteria import SensitiveColumn
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.progress import NO_PROGRESS, Progress
from vbas_desktop.settings.reading import RecordReading

if TYPE_CHECKING:
    from vbas_desktop.model.policies import Policy


@dataclass(frozen=True)
class VerifyRequest:
    """Ask whether the classes of a file, by region and quasi-identifiers, have at least k records each.

    sensitive: sensitive columns with the criteria that every class must meet.
    policy: name or file of a policy that the file is compared with.
    """

    file: Path | Address
    quasi_identifiers: tuple[str, ...]
    region_column: str
    k: int = 5
    reading: RecordReading = field(default_factory=RecordReading)
    sensitive: tuple[SensitiveColumn, ...] = ()
    policy: str | None = None


@dataclass(frozen=True, eq=False)
class VerifyResult:
    """Counts of a file, and whether it is k-anonymous."""

    k: int
    recount: Recount
    findings: tuple[Finding, ...] = ()
    policy: PolicyEvaluation | None = None

    @property
    def violating_records(self) -> int:
        """Number of records in classes of fewer than k."""
        return self.recount.violating_records(self.k)

    @property
    def ok(self) -> bool:
        """True if the file is k-anonymous, meets the criteria for sensitive values, and misses none of a policy."""
        violates_policy = self.policy is not None and self.policy.met is False
        return self.violating_records == 0 and self.criteria_met and not violates_policy

    @property
    def criteria_met(self) -> bool:
        """True if the sensitive values of every class meet their criteria."""
        return all(column.passed for column in self.recount.sensitive)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON data."""
        recount = self.recount
        document: dict[str, Any] = {
            "k": self.k,
            "anonymity": recount.anonymity,
            "records": recount.records,
            "violating_records": self.violating_records,
            "ok": self.ok,
            "regions": recount.regions,
            "classes": recount.classes,
            "violating_classes": recount.violating_classes(self.k),
            "anonymity_vector": {str(size): number for size, number in sorted(recount.vector.items())},
        }
        if self.policy is not None:
            document["policy"] = self.policy.as_dict()
        if recount.sensitive:
            document["sensitive"] = {column.column: column.as_dict() for column in recount.sensitive}
        return document


def verify_file(request: VerifyRequest, progress: Progress = NO_PROGRESS) -> VerifyResult:
    """Count the classes of a file with the auditor's reader. Raises `InputError` if that is impossible."""
    _check_columns(request)
    policy = None if request.policy is None else find_policy(request.policy)
    address = _find_address(request.file)
    findings: tuple[Finding, ...] = ()
    if address is not None:
        counts = _recount_database(request, address, progress)
    else:
        assert isinstance(request.file, Path)
        category_line, found_in_head = detect_category_line(request.file, request.reading, progress)
        findings = tuple(found_in_head)
        counts = recount(
            request.file,
            list(request.quasi_identifiers),
            request.region_column,
            StatedForm(request.reading.delimiter, request.reading.encoding, category_line),
            sensitive=request.sensitive,
            progress=progress,
        )
    return VerifyResult(
        request.k, counts, findings, None if policy is None else _evaluate_policy(policy, counts)
    )


def _find_address(file: Path | Address) -> Address | None:
    """Return the address under which DuckDB or another engine reads the records; None for a text file."""
    if isinstance(file, Address):
        return file
    check_readable(file)
    if not is_parquet(file):
        return None
    address = parse_address(f"duckdb:{file}")
    assert isinstance(address, Address)
    return address


def _recount_database(request: VerifyRequest, address: Address, progress: Progress) -> Recount:
    engine = open_engine(address, request.reading, progress)
    try:
        return recount_records(
            engine, request.quasi_identifiers, request.region_column, progress, request.sensitive
        )
    finally:
        engine.close()


def _evaluate_policy(policy: Policy, counts: Recount) -> PolicyEvaluation:
    sensitive = {column.column: column.as_dict() for column in counts.sensitive}
    record_figures = collect_record_figures(counts.vector, counts.smallest_region)
    return evaluate_policy(policy, merge_figures(record_figures, collect_sensitive_figures(sensitive)))


def _check_columns(request: VerifyRequest) -> None:
    """Raise `InputError` without a quasi-identifier, and if a column has two roles."""
    if not request.quasi_identifiers:
        message = "No quasi-identifier is named."
        raise InputError(Finding("no-quasi-identifier", message, "Name at least one column."))
    region_column = request.region_column
    if region_column in request.quasi_identifiers:
        message = "The region column cannot be a quasi-identifier too."
        raise InputError(
            Finding("region-as-quasi-identifier", message, "Name it once.", column=region_column)
        )
    for column in request.sensitive:
        if column.column in (region_column, *request.quasi_identifiers):
            message = "The column cannot be sensitive and a quasi-identifier, or the region column, too."
            raise InputError(Finding("sensitive-twice", message, "Name it once.", column=column.column))
