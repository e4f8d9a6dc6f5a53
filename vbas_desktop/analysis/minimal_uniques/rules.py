"""Domain rules (combinations that may stay) and filter rules (recodings of a column), as people write them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vbas_desktop.io.text_files import read_text_file
from vbas_desktop.model.findings import FindingList
from vbas_desktop.model.text import format_count

ALL = "ALL"
_TYPES = {"candidate": "candidate", "threshold greater": "greater", "threshold less": "less"}


@dataclass(frozen=True)
class DomainRule:
    """Exempts risky combinations.

    ``candidate``: those of exactly ``number`` columns that contain the feature; ``greater``/``less``: those of a
    feature that occurs in more/fewer than ``number`` of the minimal combinations of all sizes. ``feature`` may be ALL.
    Source 003, section IV-3 and Table 1.
    """

    feature: str
    type: str
    number: int

    @property
    def has_threshold(self) -> bool:
        """True if the rule compares how often a feature occurs."""
        return self.type != "candidate"

    def concerns(self, column: str) -> bool:
        """Say whether the rule is about this column."""
        return self.feature == ALL or is_same_column(self.feature, column)

    def is_exceeded_by(self, appearances: int) -> bool:
        """Say whether a feature in ``appearances`` combinations is beyond the threshold, so that they may stay."""
        return appearances > self.number if self.type == "greater" else appearances < self.number

    def __str__(self) -> str:
        words = {
            "candidate": f"combinations of {format_count(self.number, 'column')}",
            "greater": f"when it occurs in more than {format_count(self.number, 'combination')} of any size",
            "less": f"when it occurs in fewer than {format_count(self.number, 'combination')} of any size",
        }
        return f"{self.feature}: {words[self.type]}"

    @property
    def sentence(self) -> str:
        """Effect of the rule as a sentence, for those who write it."""
        if self.type == "candidate":
            among = "" if self.feature == ALL else f", {self.feature} among them,"
            return (
                f"Risky combinations of exactly {format_count(self.number, 'column')}{among} may stay."
            )
        often = (
            f"{'more' if self.type == 'greater' else 'fewer'} than "
            f"{format_count(self.number, 'combination')} of any size"
        )
        if self.feature == ALL:
            return f"A risky combination may stay if one of its columns is in {often}."
        return f"Risky combinations with {self.feature} may stay if it is in {often}."


@dataclass(frozen=True)
class FilterRule:
    """One recoding of a feature: cut characters (``cut``), ``groups`` of values, or ``null``."""

    feature: str
    type: str
    cut: int = 0
    groups: tuple[tuple[str, str], ...] = ()
    source: str = ""


def describe_filter_rule(rule: str) -> str:
    """Describe what a filter rule does to a column; empty if it is not a valid rule."""
    if rule.lower() == "null":
        return "all values are emptied"
    if cut := _CUT.fullmatch(rule):
        characters = int(cut.group(1))
        example = "ABC123"
        left = f", such as {example} → {example[:-characters]}" if characters < len(example) else ""
        return f"{'the last character is' if characters == 1 else f'the last {characters} characters are'} cut{left}"
    if rule.lower().startswith("map:") and rule[4:].strip():
        return f"values are grouped as {rule[4:].strip()} says (value,group on each line)"
    return ""


_CUT = re.compile(r"-([1-9]\d{0,8})")


def is_same_column(first: str, second: str) -> bool:
    """Say whether two column names are equal; case, blanks, hyphens and underscores do not count."""
    return _normalise_name(first) == _normalise_name(second)


def _normalise_name(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name).casefold()


Lines = Sequence[tuple[int, list[str]]]
"""Numbered lines of fields, as a rule file or a grid holds them."""


def read_domain_rules(path: str | Path) -> tuple[DomainRule, ...]:
    """Read the rules of a CSV ``feature,type,option``; a header may come first."""
    return parse_domain_rules(read_rule_lines(path), str(path))


def parse_domain_rules(lines: Lines, source: str) -> tuple[DomainRule, ...]:
    """Parse domain rules; ``source`` is the name of their origin in messages. Raises `InputError` with all mistakes."""
    findings = FindingList(source)
    rules = []
    if lines and lines[0][0] == 1 and len(lines[0][1]) > 1 and lines[0][1][0].lower() == "feature":
        lines = lines[1:]
    for row, fields in _iterate_complete_lines(lines, "rule", "feature,type,option", findings):
        kind = _TYPES.get(fields[1].lower())
        option = re.fullmatch(r"(?:candidate[\s\-]*)?(\d{1,9})", fields[2], re.IGNORECASE)
        if kind is None:
            remedy = "Use Candidate, Threshold Greater or Threshold Less."
            findings.add("rule-type", "There is no such rule type.", remedy, row=row, column="type")
        elif option is None:
            message = "The option is not a whole number of up to nine digits."
            findings.add("rule-option", message, "Write 3 or Candidate-3.", row=row)
        else:
            rules.append(DomainRule(fields[0], kind, int(option.group(1))))
    findings.stop_on_errors()
    return tuple(rules)


def read_filter_rules(path: str | Path) -> tuple[FilterRule, ...]:
    """Read the rules of a CSV ``feature,rule``, one recoding a line: ``-n``, ``map:FILE`` or ``null``."""
    return parse_filter_rules(read_rule_lines(path), str(path), Path(path).parent)


def parse_filter_rules(lines: Lines, source: str, folder: Path) -> tuple[FilterRule, ...]:
    """Parse filter rules; files of groups are looked for in ``folder``. Raises `InputError` with all mistakes."""
    findings = FindingList(source)
    rules = []
    for row, (feature, rule) in _iterate_complete_lines(lines, "rule", "feature,rule", findings):
        if row == 1 and (feature.lower(), rule.lower()) == ("feature", "rule"):
            continue
        if rule.lower() == "null":
            rules.append(FilterRule(feature, "null"))
        elif _CUT.fullmatch(rule):
            rules.append(FilterRule(feature, "cut", cut=int(rule[1:])))
        elif rule.lower().startswith("map:"):
            file = folder / rule[4:].strip()
            rules.append(FilterRule(feature, "groups", groups=_read_groups(file), source=file.name))
        else:
            remedy = "Use -1, -2, … (cut characters), map:FILE or null."
            findings.add("rule", "There is no such filter rule.", remedy, row=row, column="rule")
    findings.stop_on_errors()
    return tuple(rules)


def _read_groups(path: Path) -> tuple[tuple[str, str], ...]:
    findings = FindingList(str(path))
    lines = list(_iterate_complete_lines(read_rule_lines(path), "group", "value,group", findings))
    findings.stop_on_errors()
    return tuple(
        (value, group) for row, (value, group) in lines if (row, value, group) != (1, "value", "group")
    )


def _iterate_complete_lines(
    lines: Lines, code: str, form: str, findings: FindingList
) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines with the expected number of fields; the others become findings."""
    number = form.count(",") + 1
    what = "rule" if code == "rule" else "line"
    for row, fields in lines:
        if len(fields) == number:
            yield row, fields
        else:
            findings.add(
                code, f"A {what} has {number} fields, not {len(fields)}.", f"Write {form}.", row=row
            )


def read_rule_lines(path: str | Path) -> list[tuple[int, list[str]]]:
    """Read the lines of a rule file that are not empty, with their numbers."""
    rows = csv.reader(io.StringIO(read_text_file(Path(path)), newline=""), skipinitialspace=True)
    return [
        (number, [field.strip() for field in fields])
        for number, fields in enumerate(rows, 1)
        if any(fields)
    ]


def find_unknown_features(rules: Sequence[DomainRule | FilterRule], columns: Sequence[str]) -> list[str]:
    """Find features of the rules that no column has: a misspelt rule has no effect."""
    features = dict.fromkeys(rule.feature for rule in rules)
    return [
        name
        for name in features
        if name != ALL and not any(is_same_column(name, column) for column in columns)
    ]
