"""Read policies (TOML): those that come with the program, and those of a custodian."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vbas_desktop.model.findings import Finding, InputError, input_error
from vbas_desktop.model.policies import COMPARISONS, MEASURES, Policy, PolicyCriterion

from ..input_checks import check_readable
from ..paths import resource_path

FORMAT = 1
_TEXTS = ("id", "name", "authority", "citation", "date", "source")
_OPTIONAL = "check"
_CRITERION_KEYS = ("measure", "of", "comparison", "threshold", "question", "answer", "note")
_DATE = re.compile(r"undated|\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_HEADING = re.compile(r"\s*\[\[\s*criteria\s*\]\]")
_MAX_BYTES = 1 << 20


@cache
def load_bundled_policies() -> Mapping[str, Policy]:
    """Load the policies that come with the program, by id."""
    files = sorted(resource_path("policies").glob("*.toml"))
    policies = [_parse_policy(path.read_text(encoding="utf-8"), path, "") for path in files]
    return {policy.id: policy for policy in sorted(policies, key=_sort_key)}


def find_policy(name: str) -> Policy:
    """Find the policy with this id, or the one in this file. Raises `InputError` if there is none or it is wrong."""
    bundled = load_bundled_policies().get(name)
    if bundled is not None:
        return bundled
    path = Path(os.path.expanduser(name))
    if path.suffix != ".toml" and not os.path.exists(path):
        remedy = f"Known: {', '.join(load_bundled_policies())}; or name a file (vbas policies template makes one)."
        raise input_error("policy", f"There is no policy “{name}”.", remedy)
    return read_policy(path)


def read_policy(path: Path) -> Policy:
    """Read the policy in a file. Raises `InputError` with a finding for every problem and its line."""
    return _parse_policy(read_policy_text(path), path, str(path))


def read_policy_text(path: Path) -> str:
    """Read the text of a policy's file."""
    check_readable(path)
    try:
        data = path.read_bytes()
        if len(data) > _MAX_BYTES:
            raise input_error("policy", "This is too large for a policy.", "Choose its file.", file=path)
        return data.decode("utf-8-sig")
    except (UnicodeDecodeError, IsADirectoryError):
        raise input_error(
            "policy", "This is not a text file in UTF-8.", "Save it as UTF-8.", file=path
        ) from None


def load_policy_text(name: str) -> str:
    """Load the text of a policy's file for copying and changing it; without a name, of a template to fill in."""
    if not name:
        text = resource_path("policies/template.txt").read_text(encoding="utf-8")
        return text.format(measures=", ".join(MEASURES), comparisons=", ".join(COMPARISONS))
    policy = find_policy(name)
    return read_policy_text(
        Path(policy.path) if policy.path else resource_path(f"policies/{policy.id}.toml")
    )


def _sort_key(policy: Policy) -> tuple[str, float]:
    kind, _, size = policy.id.partition("-")
    return kind, float(size)


def _parse_policy(text: str, path: Path, stored_path: str) -> Policy:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        message = "The line cannot be read: texts stand in quotes, and every line is NAME = VALUE."
        row = int(line[1]) if line else text.count("\n") + 1
        raise input_error("policy", message, "Mend it.", file=path, row=row) from None
    except RecursionError:
        raise input_error("policy", "Its values are nested too deeply.", "Mend it.", file=path) from None
    problems = list(_PolicyFile(text, str(path), data).problems())
    if problems:
        raise InputError(problems)
    texts = {name: " ".join(str(data.get(name, "")).split()) for name in (*_TEXTS, _OPTIONAL)}
    return Policy(**texts, criteria=tuple(map(_make_criterion, data["criteria"])), path=stored_path)


def _make_criterion(block: Mapping[str, Any]) -> PolicyCriterion:
    values = {name: block[name] for name in _CRITERION_KEYS if name in block}
    if "measure" in values:
        values.setdefault("of", MEASURES[values["measure"]].bases[0])
    return PolicyCriterion(**values)


@dataclass(frozen=True)
class _PolicyFile:
    """The content of a policy's file with its text, in which problems are located."""

    text: str
    path: str
    data: Mapping[str, Any]

    def problems(self) -> Iterator[Finding]:
        if self.data.get("format") != FORMAT:
            yield self._locate_problem(
                "format", f"The policy has no format that is known; it is {FORMAT}.", "Write format = 1."
            )
        for name in _TEXTS:
            value = self.data.get(name)
            if not isinstance(value, str) or not value.strip():
                yield self._locate_problem(
                    name, f"“{name}” is missing or is no text.", f'Write {name} = "…".'
                )
        date = self.data.get("date")
        if isinstance(date, str) and date.strip() and not _DATE.fullmatch(date.strip()):
            yield self._locate_problem(
                "date", f"“{date}” is no date.", "Write 2024, 2024-05, 2024-05-31 or undated."
            )
        if not isinstance(self.data.get(_OPTIONAL, ""), str):
            yield self._locate_problem(_OPTIONAL, f"“{_OPTIONAL}” is no text.", "Put it in quotes.")
        for name in self.data:
            if name not in ("format", "criteria", *_TEXTS, _OPTIONAL):
                remedy = f"Known: {', '.join(('format', *_TEXTS, _OPTIONAL))}, criteria."
                yield self._locate_problem(name, f"Nothing is known of “{name}”.", remedy)
        blocks = self.data.get("criteria")
        if (
            not isinstance(blocks, list)
            or not blocks
            or not all(isinstance(block, dict) for block in blocks)
        ):
            yield self._locate_problem(
                "criteria", "There is no criterion.", "Write a block that begins with [[criteria]]."
            )
            return
        for number, block in enumerate(blocks):
            yield from self._check_block(number, block)

    def _check_block(self, number: int, block: Mapping[str, Any]) -> Iterator[Finding]:
        def wrong(field: str, message: str, remedy: str) -> Finding:
            return self._locate_problem(field, f"Criterion {number + 1}: {message}", remedy, number)

        for name in block:
            if name not in _CRITERION_KEYS:
                yield wrong(
                    name, f"nothing is known of “{name}”.", f"Known: {', '.join(_CRITERION_KEYS)}."
                )
        for name in ("question", "answer", "note"):
            if name in block and not isinstance(block[name], str):
                yield wrong(name, f"“{name}” is no text.", "Put it in quotes.")
        question = block.get("question")
        measure = block.get("measure")
        if (question is None) == (measure is None):
            yield wrong(
                "measure", "it needs a measure or a question, and not both.", "Write one of them."
            )
        elif question is not None:
            if isinstance(question, str) and not question.strip():
                yield wrong("question", "the question is empty.", "Write what a person has to answer.")
            for name in ("of", "comparison", "threshold"):
                if name in block:
                    yield wrong(name, f"a question has no “{name}”.", "Take it out.")
        elif not isinstance(measure, str) or measure not in MEASURES:
            yield wrong("measure", f"there is no measure “{measure}”.", f"Known: {', '.join(MEASURES)}.")
        else:
            yield from self._check_figure(measure, block, wrong)

    @staticmethod
    def _check_figure(measure: str, block: Mapping[str, Any], wrong: Any) -> Iterator[Finding]:
        bases = MEASURES[measure].bases
        of = block.get("of", bases[0])
        if of not in bases:
            yield wrong(
                "of", f"{measure} is not computed of “{of}”.", f"Write of = “{'” or “'.join(bases)}”."
            )
        if block.get("comparison") not in COMPARISONS:
            remedy = f"Write one of: {', '.join(COMPARISONS)}."
            yield wrong("comparison", "how the figure is compared is missing or not known.", remedy)
        threshold = block.get("threshold")
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not is_number or not 0 <= threshold < float("inf"):  # type: ignore[operator]
            yield wrong(
                "threshold",
                "the threshold is missing or is no number from 0 on.",
                "Write threshold = 11.",
            )
        if "answer" in block:
            yield wrong("answer", "a figure has no answer.", "Take it out.")

    def _locate_problem(
        self, field: str, message: str, remedy: str, block: int | None = None
    ) -> Finding:
        return Finding("policy", message, remedy, file=self.path, row=self._find_line(field, block))

    def _find_line(self, field: str, block: int | None) -> int | None:
        """Find the line of a field: in its block, or before the first; else the line where the block begins.

        A field that the policy itself lacks has no line.
        """
        lines = self.text.splitlines()
        heads = [number for number, line in enumerate(lines) if _HEADING.match(line)]
        start = 0 if block is None or block >= len(heads) else heads[block]
        end = next((head for head in heads if head > start), len(lines)) if heads else len(lines)
        assignment = re.compile(rf"\s*\"?{re.escape(field)}\"?\s*=")
        for number in range(start, end):
            if assignment.match(lines[number]):
                return number + 1
        return None if block is None else start + 1
