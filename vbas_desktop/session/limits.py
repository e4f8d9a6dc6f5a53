"""The limits of aggregated regions in words."""

from __future__ import annotations

from collections.abc import Iterator

from vbas_desktop.domain.words import counted
from vbas_desktop.settings.limits import Limiting


def limits_in_words(limits: Limiting) -> str:
    """What is in force, such as “Never across county; at least 500 records”; empty without limits."""
    text = "; ".join(_parts(limits))
    return text[:1].upper() + text[1:]


def _parts(limits: Limiting) -> Iterator[str]:
    if limits.within:
        yield f"never across {', '.join(limits.within)}"
    if limits.alone:
        yield f"{counted(len(limits.alone), 'region stays', 'regions stay')} alone"
    if limits.alone_column:
        yield f"alone by {limits.alone_column}"
    for what, least, most in (
        ("records", limits.min_records, limits.max_records),
        ("inhabitants", limits.min_population, limits.max_population),
    ):
        if least:
            yield f"at least {least:,} {what}"
        if most:
            yield f"at most {most:,} {what}"
    if limits.centre_weights:
        yield f"centres by {limits.centre_weights}"
