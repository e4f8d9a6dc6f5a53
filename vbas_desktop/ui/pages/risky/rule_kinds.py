"""The two kinds of rules: what their fields are, what each rule says in words, and an example of each. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vbas_desktop.assessment.risky.rules import ALL, domain_rules_of, filter_words
from vbas_desktop.domain.errors import InputError

Row = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RuleKind:
    """``fields`` are the names in a file, ``heads`` those on the screen; ``choices`` are offered for each field but the
    first, which is a column of the file (or one of ``also``). ``say`` gives a rule as a sentence, or nothing if it is
    no rule.
    """

    name: str
    fields: Row
    heads: Row
    usual: Row
    choices: tuple[Pairs, ...]
    also: Pairs
    typed: tuple[bool, ...]
    say: Callable[[Row], str]
    words: Callable[[str], str] | None
    none_yet: str
    wrong: str


def _say_domain(row: Row) -> str:
    try:
        # As if it were no first row, which may hold names.
        (rule,) = domain_rules_of([(2, list(row))], "")
        return rule.sentence
    except InputError:
        return ""


def _say_filter(row: Row) -> str:
    words = filter_words(row[1])
    return f"{row[0]}: {words}." if words and row[0] else ""


DOMAIN = RuleKind(
    "Domain rules",
    ("Feature", "Type", "Option"),
    ("Column", "May stay", "Number"),
    (ALL, "Candidate", "1"),
    (
        (
            ("Candidate", "if it has exactly … columns"),
            ("Threshold Greater", "if the column is in more than … combinations"),
            ("Threshold Less", "if the column is in fewer than … combinations"),
        ),
        (),
    ),
    ((ALL, "any column"),),
    (False, True),
    _say_domain,
    None,
    "None: whatever is risky is changed. A rule lets combinations stay that somebody who knows the data accepts; the "
    "file may then not be k-anonymous. Example: any column · if it has exactly … columns · 4.",
    "Choose a column, when it may stay, and a whole number.",
)

FILTER = RuleKind(
    "Filter rules",
    ("Feature", "Rule"),
    ("Column", "How it is coarsened"),
    ("", "-1"),
    (
        (
            ("-1", "cut the last character"),
            ("-2", "cut the last 2 characters"),
            ("-3", "cut the last 3 characters"),
            ("null", "empty it"),
        ),
    ),
    (),
    (True,),
    _say_filter,
    filter_words,
    "None: texts are shortened, numbers joined in pairs, rare values joined. A column’s rules are used in their order. "
    "Examples: postcode · cut the last 2 characters (N5Y2N3 → N5Y2); job · map:jobs.csv, a file of lines value,group.",
    "Choose a column and how it is coarsened: -2 cuts two characters, map:FILE groups, null empties.",
)
