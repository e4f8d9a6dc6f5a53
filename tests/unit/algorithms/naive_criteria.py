"""The criteria for sensitive values straight from their definitions, for one class at a time."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from vbas_desktop.model.criteria import Criterion

SLACK = 1e-9


def meets(values: Counter, criterion: Criterion, benign: set, everybody: Counter) -> bool:
    """Whether a class with these values meets a criterion; ``everybody`` are the values of all released records."""
    size = sum(values.values())
    harmful = {value: number for value, number in values.items() if number and value not in benign}
    if not harmful:
        return True
    top = max(harmful.values())
    if criterion.kind == "share":
        return Fraction(top, size) * 100 <= Fraction(str(criterion.limit))
    if criterion.kind == "distinct":
        return sum(number > 0 for number in values.values()) >= criterion.limit
    if criterion.kind == "entropy":
        entropy = -sum(number / size * math.log(number / size) for number in values.values() if number)
        return entropy >= math.log(criterion.limit) - SLACK
    if criterion.kind == "recursive":
        return _recursive(values, benign, top, criterion)
    total = sum(everybody.values())
    if criterion.kind == "closeness":
        more = sum(
            max(Fraction(0), Fraction(n, size) - Fraction(everybody[v], total))
            for v, n in harmful.items()
        )
        return more <= Fraction(str(criterion.limit))
    occurring = sorted((value for value in everybody if everybody[value]), key=float)
    if len(occurring) < 2:
        return True
    running, moved = Fraction(0), Fraction(0)
    for value in occurring:
        running += Fraction(values[value], size) - Fraction(everybody[value], total)
        moved += abs(running)
    return moved / (len(occurring) - 1) <= Fraction(str(criterion.limit))


def _recursive(values: Counter, benign: set, top: int, criterion: Criterion) -> bool:
    """Positive-disclosure recursive (c,l)-diversity, by its two cases."""
    least, factor = int(criterion.limit), Fraction(str(criterion.factor))
    ordered = sorted(
        ((n, v not in benign) for v, n in values.items() if n), key=lambda pair: (-pair[0], not pair[1])
    )
    y = next(place for place, (_, harmful) in enumerate(ordered, 1) if harmful)
    numbers = [number for number, _ in ordered]
    early = sum(numbers[least - 1 :])
    late = sum(numbers[least - 2 : y - 1]) + sum(numbers[y:])
    return top < factor * (early if y <= least - 1 else late)
