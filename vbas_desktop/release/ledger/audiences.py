"""Names of audiences: which ones are the same, and which are so alike that one may be a slip for the other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

PUBLIC = "public"
"""The audience that everybody belongs to: what it has is combined with whatever anybody else gets."""

_ARTICLES = {"the", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "het"}
_ALIKE = 0.8
"""How alike two names are (difflib's ratio of letters in common) from which one may be a slip for the other."""


def same_audience(one: str, other: str) -> bool:
    """Whether two names are the same but for capitals and blanks around words."""
    return _plain(one) == _plain(other)


def similar_audience(name: str, known: Iterable[str]) -> str | None:
    """The known name that a name is nearly equal to; None if there is none, or if it is known itself."""
    names = [*dict.fromkeys(each for each in known if each), PUBLIC]
    if not _plain(name) or any(same_audience(name, each) for each in names):
        return None
    alike = [(_likeness(name, each), each) for each in names]
    best, found = max(alike, key=lambda pair: pair[0])
    return found if best >= _ALIKE else None


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _likeness(one: str, other: str) -> float:
    """How alike two names are: 1 if their letters are the same without accents, marks and articles."""
    words, others = _words(one), _words(other)
    if "".join(words) == "".join(others):
        return 1.0
    if _labels(words) != _labels(others):
        return 0.0
    return SequenceMatcher(None, "".join(words), "".join(others)).ratio()


def _words(name: str) -> list[str]:
    bare = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
    words: list[str] = re.findall(r"[^\W_]+", bare.casefold())
    return [word for word in words if word not in _ARTICLES] or words


def _labels(words: Iterable[str]) -> list[str]:
    """Numbers and single letters: “Ward 1” and “Ward 2”, or “Team A” and “Team B”, are meant to differ."""
    return sorted(word for word in words if len(word) == 1 or any(each.isdigit() for each in word))
