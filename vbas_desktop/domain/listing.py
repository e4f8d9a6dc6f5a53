"""Names in one line of text: one with a mark in it stands in double quotes, as in a CSV file."""

from __future__ import annotations


def quoted(name: str, marks: str = ",") -> str:
    """The name, in double quotes if it has one of the marks, a quote, or blanks around it."""
    special = any(mark in name for mark in f'{marks}"\r\n') or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if special else name


def unquoted(part: str) -> str:
    """The name again."""
    return part[1:-1].replace('""', '"') if len(part) > 1 and part[0] == part[-1] == '"' else part


def parts_of(text: str, mark: str) -> list[str]:
    """The text cut at a mark, but not within double quotes; a quote counts where a name begins."""
    parts, inside, begins, place = [""], False, True, 0
    while place < len(text):
        letter = text[place]
        if letter == '"' and inside and text[place + 1 : place + 2] == '"':
            letter, place = '""', place + 1
        elif letter == '"' and (inside or begins):
            inside = not inside
        if letter == mark and not inside:
            parts.append("")
        else:
            parts[-1] += letter
        begins = not inside and (letter in (mark, ",") or (begins and letter.isspace()))
        place += 1
    return parts


def listed(text: str) -> list[str]:
    """The names between commas; where nothing stands there is an empty one."""
    return [unquoted(part.strip()) for part in parts_of(text, ",")]
