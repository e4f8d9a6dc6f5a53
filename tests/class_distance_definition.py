"""Distances of values and of classes by their definition, one pair at a time."""

from vbas_desktop.model.records import finite_number


def between_values(table, first, second):
    """Look up two values in a table of distances; 1 where it does not list them."""
    if first == second:
        return 0.0
    if first not in table.values or second not in table.values:
        return 1.0
    return float(table.distances[table.values.index(first), table.values.index(second)])


def between_columns(distance, q, first, second):
    """Compare two values of column q: 0 … 1."""
    if q in distance.tables:
        return between_values(distance.tables[q], first, second)
    width = distance.ranges[q]
    if width is None:
        return float(first != second)
    return abs(finite_number(first) - finite_number(second)) / width if width else 0.0


def between_classes(distance, first, second):
    """Sum the weighted distances of all columns."""
    return sum(
        weight * between_columns(distance, q, first[q], second[q])
        for q, weight in enumerate(distance.weights)
    )
