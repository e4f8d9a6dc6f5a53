"""Records that are made up so that no class is below k, and that nobody can tell from the real ones by their looks.

A quasi-identifier has the value of its class; a sensitive column a central value of the whole file or of a larger
population, or that of a record of the population, or a given one; never one of the class, which has fewer than k
records (source 002, § 3.6.4). A key is a new one in the pattern of the others; every other column has a value of some
record of the file, drawn by chance. A column that is different in almost every record cannot be filled like that: it is
refused.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from vbas_desktop.io.records.rows import read_coded_texts
from vbas_desktop.model.findings import Finding, InputError
from vbas_desktop.model.records import CodedRecords, finite_number
from vbas_desktop.settings.option import OptionGroup, option

from ..representability.record_classes import ClassLabel

MEAN = "mean"
MEDIAN = "median"
MODE = "mode"
POPULATION = "population"
METHODS = (MEAN, MEDIAN, MODE, POPULATION)

_PLAIN = re.compile(r"-?[0-9]+(?:\.([0-9]+))?")
_SAMPLE_SIZE = 1000


class SensitiveFilling(OptionGroup):
    """Source of the sensitive values of made-up records.

    ``values`` are fixed ones by column, such as the central value that published evidence has for the population.
    """

    method: Literal["mean", "median", "mode", "population"] = option(
        MEAN,
        label="Sensitive values",
        help="mean or median of numbers (of other columns the most frequent value), mode: the most frequent value, "
        "population: those of a random record of the population.",
    )
    values: Mapping[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class RowLayout:
    """Positions of the quasi-identifiers, of the sensitive columns and of the key in a row.

    ``fillings`` are the values that the sensitive columns of a made-up record may get, one row of which is drawn.
    """

    quasi: Sequence[int]
    sensitive: Sequence[int]
    fillings: Sequence[Sequence[str]]
    key: int | None


class SyntheticRows:
    """Makes up the records that are lacking, from a sample of the real ones."""

    def __init__(
        self, fabricated: Mapping[ClassLabel, int], layout: RowLayout, width: int, draw: random.Random
    ) -> None:
        self._fabricated = fabricated
        self._layout = layout
        self._width = width
        self._draw = draw
        self._sample: list[list[str]] = []
        self._n_offered = 0

    def offer(self, row: Sequence[str]) -> None:
        """Take a record of the file into the sample by chance: each one is as likely to be in it as any other."""
        if not self._fabricated:
            return
        self._n_offered += 1
        if len(self._sample) < _SAMPLE_SIZE:
            self._sample.append(list(row))
            return
        position = self._draw.randrange(self._n_offered)
        if position < _SAMPLE_SIZE:
            self._sample[position] = list(row)

    def fabricate(self, keys: Iterator[str]) -> Iterator[list[str]]:
        """Make up the records; ``keys`` are new ones."""
        layout = self._layout
        for label, number in self._fabricated.items():
            for _ in range(number):
                row = [self._draw.choice(self._sample)[position] for position in range(self._width)]
                for position, value in zip(layout.sensitive, self._draw_filling(), strict=True):
                    row[position] = value
                for position, value in zip(layout.quasi, label, strict=True):
                    row[position] = value
                if layout.key is not None:
                    row[layout.key] = next(keys)
                yield row

    def _draw_filling(self) -> Sequence[str]:
        fillings = self._layout.fillings
        return fillings[0] if len(fillings) == 1 else self._draw.choice(fillings)


def choose_fillings(
    table: CodedRecords,
    columns: Sequence[str],
    k: int,
    filling: SensitiveFilling,
    population: CodedRecords | None,
) -> list[tuple[str, ...]]:
    """List the values that the sensitive columns of made-up records may get, one row for each possibility.

    Raises `InputError` if fewer than k records of the source have a value, or if the records have none of its values.
    """
    _check_filling(columns, filling, population)
    source = table if population is None else population
    own = {name: _count_values(table, name) for name in columns}
    findings = []
    fixed: dict[str, str] = {}
    for name in columns:
        value: str | None
        if name in filling.values:
            value = _format_like(filling.values[name], own[name])
        elif filling.method == POPULATION:
            continue
        else:
            values = _count_values(source, name)
            if values.total() < k:
                findings.append(_find_too_few_values(source, name, k))
                continue
            value = choose_typical_value(values, own[name], filling.method)
        if value is None:
            findings.append(_find_other_values(source, name, name in filling.values))
            continue
        fixed[name] = value
    if findings:
        raise InputError(findings)
    drawn = [name for name in columns if name not in fixed]
    if not drawn:
        return [tuple(fixed[name] for name in columns)]
    return _list_population_fillings(source, columns, own, fixed, k)


def _check_filling(
    columns: Sequence[str], filling: SensitiveFilling, population: CodedRecords | None
) -> None:
    for name in filling.values:
        if name not in columns:
            message = "A value is given for a column that is not among the sensitive ones."
            raise InputError(Finding("fill-value", message, "Name it there, too.", column=name))
    if filling.method == POPULATION and population is None:
        message = "Sensitive values are to be those of a population, but there is none."
        raise InputError(Finding("no-population", message, "Choose the record file of a population."))


def _list_population_fillings(
    source: CodedRecords,
    columns: Sequence[str],
    own: Mapping[str, Counter[str]],
    fixed: Mapping[str, str],
    k: int,
) -> list[tuple[str, ...]]:
    """List the sensitive values of the records of a population, written as the records write them."""
    written = []
    for name in columns:
        if name in fixed:
            written.append(np.full(source.rows, fixed[name], object))
            continue
        codes, distinct = read_coded_texts(source, name)
        texts = [_format_like(str(text), own[name]) if text != "" else None for text in distinct]
        written.append(np.array(texts, object)[codes])
    rows = [row for row in zip(*written, strict=True) if None not in row]
    if len(rows) < k:
        message = (
            f"Fewer than {k:,} records have values in all sensitive columns that occur in the records."
        )
        remedy = "Choose a larger population whose values are written as in the records."
        raise InputError(Finding("few-values", message, remedy, file=source.source.path))
    return rows


def _find_too_few_values(source: CodedRecords, name: str, k: int) -> Finding:
    message = f"Fewer than {k:,} records have a value here, so it may not be used for made-up records."
    remedy = "Take the values from a larger population (--population), or leave the column out."
    return Finding("few-values", message, remedy, file=source.source.path, column=name)


def _find_other_values(source: CodedRecords, name: str, is_given: bool) -> Finding:
    if is_given:
        message = "The given value does not occur in the records: made-up records could be told by it."
        return Finding("other-values", message, "Give a number, or a value that occurs.", column=name)
    message = "None of its values occurs in the records: made-up records could be told by them."
    remedy = "Choose a population whose values are written as in the records."
    return Finding("other-values", message, remedy, file=source.source.path, column=name)


def _count_values(table: CodedRecords, column: str) -> Counter[str]:
    """Count the values of a column; blanks are none."""
    codes, distinct = read_coded_texts(table, column)
    numbers = np.bincount(codes, minlength=len(distinct))
    return Counter(
        {str(text): int(n) for text, n in zip(distinct, numbers, strict=True) if n and text != ""}
    )


def choose_typical_value(source: Counter[str], own: Counter[str], method: str = MEAN) -> str | None:
    """Find the mean or median of numbers, written as the records write them (``own``), or else the most frequent value.

    None if no value of the source occurs in the records.
    """
    numbers = _parse_numbers(source)
    if numbers is not None and own and _parse_numbers(own) is not None:
        return _format_like(repr(_compute_central_number(numbers, source, method)), own)
    shared = [text for text in source if text in own]
    return min(shared, key=lambda text: (-source[text], text), default=None)


def _parse_numbers(values: Counter[str]) -> dict[str, float] | None:
    """Read values as numbers; None if some are not."""
    numbers = {}
    for text in values:
        number = finite_number(text)
        if number is None:
            return None
        numbers[text] = number
    return numbers


def _compute_central_number(numbers: Mapping[str, float], counts: Counter[str], method: str) -> float:
    """Compute the mean, the median or the most frequent of numbers (of several the smallest)."""
    if method == MEAN:
        return sum(number * counts[text] for text, number in numbers.items()) / counts.total()
    by_number: Counter[float] = Counter()
    for text, number in numbers.items():
        by_number[number] += counts[text]
    if method == MODE:
        return min(by_number, key=lambda number: (-by_number[number], number))
    half = counts.total() / 2
    n_smaller = 0
    ordered = sorted(by_number)
    for position, number in enumerate(ordered):
        n_smaller += by_number[number]
        if n_smaller == half:
            return (number + ordered[position + 1]) / 2
        if n_smaller > half:
            return number
    return math.nan


def _format_like(text: str, own: Counter[str]) -> str | None:
    """Write a value as the records do; None if they could be told apart by it.

    A number gets their decimals, or becomes the nearest one of the records if these write numbers in another form.
    """
    number = finite_number(text)
    own_numbers = _parse_numbers(own)
    if number is None or own_numbers is None or not own:
        return text if text in own else None
    forms = [_PLAIN.fullmatch(value) for value in own]
    if all(forms):
        decimals = max(len(form.group(1) or "") for form in forms if form)
        return f"{number:.{decimals}f}"
    return min(own, key=lambda value: (abs(own_numbers[value] - number), value))


def refuse_disclosive_columns(
    table: CodedRecords, filled: Sequence[str], dropped: Sequence[str]
) -> None:
    """Refuse columns with a value of its own for almost every record: they would give away which were made up."""
    for name in table.file_format.header:
        if name in filled or name in dropped:
            continue
        facts = table.facts(name)
        if not facts.categorical or 10 * facts.distinct > 9 * table.rows:
            message = (
                "Almost every record has a value of its own here: made-up records could be told by it."
            )
            remedy = "Name it with --key, or leave the column out with --identifiers."
            raise InputError(
                Finding("revealing-column", message, remedy, file=table.source.path, column=name)
            )
