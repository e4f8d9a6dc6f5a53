"""Compare names of audiences: which are equal, and which are so alike that one may be a slip for the other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

PUBLIC = "public"
"""The audience that everybody belongs to: what it has is combined with whatever anybody else gets."""

_ARTICLES = {"the", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "het"}
_MIN_SIMILARITY = 0.8
"""From this similarity on (difflib's ratio of letters in common) a name may be a slip for another one."""


def same_audience(one: str, other: str) -> bool:
    """Return True if two names are equal but for capitals and blanks around words."""
    return _normalise(one) == _normalise(other)


def similar_audience(name: str, audiences: Iterable[str]) -> str | None:
    """Find the audience with nearly the same name; None if there is none, or if one has just this name."""
    candidates = [*dict.fromkeys(audience for audience in audiences if audience), PUBLIC]
    if not _normalise(name) or any(same_audience(name, candidate) for candidate in candidates):
        return None
    similarities = [_measure_similarity(name, candidate) for candidate in candidates]
    highest = max(similarities)
    return candidates[similarities.index(highest)] if highest >= _MIN_SIMILARITY else None


def _normalise(name: str) -> str:
    return " ".join(name.split()).casefold()


def _measure_similarity(one: str, other: str) -> float:
    """Return the share of letters in common: 1 if they are equal without accents, punctuation and articles."""
    words = _split_words(one)
    other_words = _split_words(other)
    if "".join(words) == "".join(other_words):
        return 1.0
    if _list_labels(words) != _list_labels(other_words):
        return 0.0
    return SequenceMatcher(None, "".join(words), "".join(other_words)).ratio()


def _split_words(name: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", name)
    without_accents = "".join(
        character for character in decomposed if not unicodedata.combining(character)
    )
    words: list[str] = re.findall(r"[^\W_]+", without_accents.casefold())
    return [word for word in words if word not in _ARTICLES] or words


def _list_labels(words: Iterable[str]) -> list[str]:
    """List numbers and single letters: “Ward 1” and “Ward 2”, or “Team A” and “Team B”, are meant to differ."""
    return sorted(
        word for word in words if len(word) == 1 or any(character.isdigit() for character in word)
    )
