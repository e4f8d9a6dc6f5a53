"""Policies as files: those that come with the program, and those of a custodian (TOML)."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vbas_desktop.model.errors import Finding, InputError, refusal
from vbas_desktop.model.policies import COMPARISONS, MEASURES, RECORDS, Demand, Policy

from .access import check_readable
from .places import resource

FORMAT = 1
_TEXTS = ("id", "name", "authority", "citation", "date", "source")
_MORE = "check"
_OF_DEMAND = ("measure", "of", "comparison", "threshold", "question", "answer", "note")
_DATE = re.compile(r"undated|\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_HEADING = re.compile(r"\s*\[\[\s*criteria\s*\]\]")
_LONGEST = 1 << 20


@cache
def bundled() -> Mapping[str, Policy]:
    """The policies that come with the program, by id."""
    files = sorted(resource("policies").glob("*.toml"))
    found = [_parsed(path.read_text(encoding="utf-8"), path, "") for path in files]
    return {policy.id: policy for policy in sorted(found, key=_order)}


def find_policy(name: str) -> Policy:
    """The policy of this id, or the one in this file; `InputError` says what is wrong with it."""
    known = bundled().get(name)
    if known is not None:
        return known
    path = Path(os.path.expanduser(name))
    if path.suffix != ".toml" and not os.path.exists(path):
        remedy = f"Known: {', '.join(bundled())}; or name a file (vbas policies template makes one)."
        raise refusal("policy", f"There is no policy “{name}”.", remedy)
    return read_policy(path)


def read_policy(path: Path) -> Policy:
    """The policy in a file; every problem is a finding with its line."""
    return _parsed(policy_text(path), path, str(path))


def policy_text(path: Path) -> str:
    """The text of a policy's file."""
    check_readable(path)
    try:
        data = path.read_bytes()
        if len(data) > _LONGEST:
            raise refusal("policy", "This is too large for a policy.", "Choose its file.", file=path)
        return data.decode("utf-8-sig")
    except (UnicodeDecodeError, IsADirectoryError):
        raise refusal("policy", "This is not a text file in UTF-8.", "Save it as UTF-8.", file=path) from None


def text_of(name: str) -> str:
    """The file of a policy as it stands, for whoever wants to change a copy; without a name, one to fill in."""
    if not name:
        text = resource("policies/template.txt").read_text(encoding="utf-8")
        return text.format(measures=", ".join(MEASURES), comparisons=", ".join(COMPARISONS))
    policy = find_policy(name)
    return policy_text(Path(policy.place) if policy.place else resource(f"policies/{policy.id}.toml"))


def _order(policy: Policy) -> tuple[str, float]:
    kind, _, size = policy.id.partition("-")
    return kind, float(size)


def _parsed(text: str, path: Path, place: str) -> Policy:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        message = "The line cannot be read: texts stand in quotes, and every line is NAME = VALUE."
        row = int(line[1]) if line else text.count("\n") + 1
        raise refusal("policy", message, "Mend it.", file=path, row=row) from None
    except RecursionError:
        raise refusal("policy", "Its values are nested too deeply.", "Mend it.", file=path) from None
    found = _File(text, str(path), data)
    problems = list(found.problems())
    if problems:
        raise InputError(problems)
    texts = {name: " ".join(str(data.get(name, "")).split()) for name in (*_TEXTS, _MORE)}
    return Policy(**texts, criteria=tuple(map(_demand, data["criteria"])), place=place)


def _demand(block: Mapping[str, Any]) -> Demand:
    given = {name: block[name] for name in _OF_DEMAND if name in block}
    if "measure" in given:
        given.setdefault("of", MEASURES[given["measure"]].bases[0])
    return Demand(**given)


@dataclass(frozen=True)
class _File:
    """The content of a policy's file, and where in it everything stands."""

    text: str
    path: str
    data: Mapping[str, Any]

    def problems(self) -> Iterator[Finding]:
        if self.data.get("format") != FORMAT:
            yield self._wrong("format", f"The policy has no format that is known; it is {FORMAT}.", "Write format = 1.")
        for name in _TEXTS:
            value = self.data.get(name)
            if not isinstance(value, str) or not value.strip():
                yield self._wrong(name, f"“{name}” is missing or is no text.", f'Write {name} = "…".')
        date = self.data.get("date")
        if isinstance(date, str) and date.strip() and not _DATE.fullmatch(date.strip()):
            yield self._wrong("date", f"“{date}” is no date.", "Write 2024, 2024-05, 2024-05-31 or undated.")
        if not isinstance(self.data.get(_MORE, ""), str):
            yield self._wrong(_MORE, f"“{_MORE}” is no text.", "Put it in quotes.")
        for name in self.data:
            if name not in ("format", "criteria", *_TEXTS, _MORE):
                remedy = f"Known: {', '.join(('format', *_TEXTS, _MORE))}, criteria."
                yield self._wrong(name, f"Nothing is known of “{name}”.", remedy)
        blocks = self.data.get("criteria")
        if not isinstance(blocks, list) or not blocks or not all(isinstance(each, dict) for each in blocks):
            yield self._wrong("criteria", "There is no criterion.", "Write a block that begins with [[criteria]].")
            return
        for number, block in enumerate(blocks):
            yield from self._of_block(number, block)

    def _of_block(self, number: int, block: Mapping[str, Any]) -> Iterator[Finding]:
        def wrong(field: str, message: str, remedy: str) -> Finding:
            return self._wrong(field, f"Criterion {number + 1}: {message}", remedy, number)

        for name in block:
            if name not in _OF_DEMAND:
                yield wrong(name, f"nothing is known of “{name}”.", f"Known: {', '.join(_OF_DEMAND)}.")
        for name in ("question", "answer", "note"):
            if name in block and not isinstance(block[name], str):
                yield wrong(name, f"“{name}” is no text.", "Put it in quotes.")
        question, measure = block.get("question"), block.get("measure")
        if (question is None) == (measure is None):
            yield wrong("measure", "it needs a measure or a question, and not both.", "Write one of them.")
        elif question is not None:
            if isinstance(question, str) and not question.strip():
                yield wrong("question", "the question is empty.", "Write what a person has to answer.")
            for name in ("of", "comparison", "threshold"):
                if name in block:
                    yield wrong(name, f"a question has no “{name}”.", "Take it out.")
        elif not isinstance(measure, str) or measure not in MEASURES:
            yield wrong("measure", f"there is no measure “{measure}”.", f"Known: {', '.join(MEASURES)}.")
        else:
            yield from self._of_figure(measure, block, wrong)

    @staticmethod
    def _of_figure(measure: str, block: Mapping[str, Any], wrong: Any) -> Iterator[Finding]:
        bases = MEASURES[measure].bases
        of = block.get("of", bases[0])
        if of not in bases:
            yield wrong("of", f"{measure} is not computed of “{of}”.", f"Write of = “{'” or “'.join(bases)}”.")
        if block.get("comparison") not in COMPARISONS:
            remedy = f"Write one of: {', '.join(COMPARISONS)}."
            yield wrong("comparison", "how the figure is compared is missing or not known.", remedy)
        threshold = block.get("threshold")
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold < float("inf"):  # type: ignore[operator]
            yield wrong("threshold", "the threshold is missing or is no number from 0 on.", "Write threshold = 11.")
        if "answer" in block:
            yield wrong("answer", "a figure has no answer.", "Take it out.")

    def _wrong(self, field: str, message: str, remedy: str, block: int | None = None) -> Finding:
        return Finding("policy", message, remedy, file=self.path, row=self._line(field, block))

    def _line(self, field: str, block: int | None) -> int | None:
        """The line of a field: among those of its block, or before the first; else where the block begins.

        What is missing of the policy itself stands on no line.
        """
        lines = self.text.splitlines()
        heads = [number for number, line in enumerate(lines) if _HEADING.match(line)]
        start = 0 if block is None or block >= len(heads) else heads[block]
        end = next((head for head in heads if head > start), len(lines)) if heads else len(lines)
        own = re.compile(rf"\s*\"?{re.escape(field)}\"?\s*=")
        found = next((number for number in range(start, end) if own.match(lines[number])), None)
        if found is None:
            return None if block is None else start + 1
        return found + 1


__all__ = ["FORMAT", "RECORDS", "bundled", "find_policy", "policy_text", "read_policy", "text_of"]
