"""Where the sites are: cases worked by hand, and the literal rules as reference."""

import math
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problem_making import context_for, problems
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.approaches.site_location.balanced_density import cut_ranges
from vbas_desktop.approaches.site_location.density import _sub_cell_centres, grid_shape
from vbas_desktop.engine.outcome import build_context
from vbas_desktop.model.progress import NO_PROGRESS


def locate(name, context, sites, **values):
    return create_approach("site_location", name, values).locate(context, sites, NO_PROGRESS)


# --- anonymity ------------------------------------------------------------------------------------------------------


def test_anonymity_takes_the_smallest_classes_then_the_regions_with_most_of_them():
    # k = 3. Anonymities: 2 (twice), none, 1, 7, 2 (once), 4. Above k (7 and 4) nothing is ordered: file order.
    points = [(x, 0) for x in range(6)]
    matrix = [[2, 2, 0], [0, 0, 0], [9, 1, 9], [7, 0, 0], [2, 5, 5], [4, 4, 4]]
    places = locate("anonymity", context_for(points, matrix, k=3), 6, ties="file")
    assert places[:, 0].tolist() == [2, 0, 4, 3, 5, 1]


def test_anonymity_breaks_ties_by_a_permutation_of_the_seed():
    points = [(x, 0) for x in range(8)]
    places = locate("anonymity", context_for(points, [[1]] * 8, random_seed=5), 8)
    assert places[:, 0].tolist() == np.argsort(np.random.default_rng(5).permutation(8)).tolist()


# --- density --------------------------------------------------------------------------------------------------------


def test_density_worked_by_hand():
    # Box 4 × 2, s = 5: rows = floor(sqrt(5 · 2/4)) = 1, columns = 5, cells 0.8 × 2. Points per cell: 4, 0, 0, 1, 2.
    # floor(points · 5 / 7) = 2, 0, 0, 0, 1; two sites are left: one to cell 0 (4 points), one to cell 4 (2 points).
    # Cell 0 has 3 sites and is taller than wide: columns = floor(sqrt(3 · 0.8/2)) = 1, rows = 3.
    points = [(0, 0), (0.1, 1), (0.2, 2), (0.3, 1), (2.5, 1), (3.9, 1), (4, 2)]
    places = locate("density", context_for(points, [[1]] * 7), 5)
    assert places == pytest.approx(
        np.array([[0.4, 1 / 3], [0.4, 1], [0.4, 5 / 3], [3.6, 0.5], [3.6, 1.5]])
    )


def test_density_gives_the_first_rows_one_cell_more():
    # One square cell with 5 sites: rows = 2, columns = 2; the first row gets the fifth.
    square = [(0, 0), (1, 1)]
    assert grid_shape(5, 1, 1) == (2, 2)
    assert _sub_cell_centres(5, 1.0, 1.0) == pytest.approx(
        np.array([[1 / 6, 0.25], [0.5, 0.25], [5 / 6, 0.25], [0.25, 0.75], [0.75, 0.75]])
    )
    assert locate("density", context_for(square, [[1]] * 2), 1).tolist() == [[0.5, 0.5]]


def test_density_of_points_on_a_line_puts_the_cells_along_it():
    points = [(0, 0), (1, 0), (2, 0), (10, 0)]
    assert locate("density", context_for(points, [[1]] * 4), 2).tolist() == [[1.25, 0], [3.75, 0]]
    upright = [(y, x) for x, y in points]
    assert locate("density", context_for(upright, [[1]] * 4), 2).tolist() == [[0, 1.25], [0, 3.75]]
    assert locate("density", context_for([(3, 4)] * 4, [[1]] * 4), 3).tolist() == [[3, 4]] * 3


def test_remaining_sites_by_density_worked_by_hand():
    # As above: densities 4·5/7, 0, 0, 5/7 and 10/7 leave 6/7, 0, 0, 5/7 and 3/7, so cells 0 and 3 get one site each.
    points = [(0, 0), (0.1, 1), (0.2, 2), (0.3, 1), (2.5, 1), (3.9, 1), (4, 2)]
    places = locate("density", context_for(points, [[1]] * 7), 5, remainder="density")
    assert places == pytest.approx(np.array([[0.4, 1 / 3], [0.4, 1], [0.4, 5 / 3], [2.8, 1], [3.6, 1]]))


def literal_density(points, sites, remainder="points"):
    """The rules, cell by cell and site by site."""
    low, size = points.min(axis=0), points.max(axis=0) - points.min(axis=0)
    rows, columns = grid_shape(sites, *size)
    inside = [0] * (rows * columns)
    for x, y in points:
        column = min(columns - 1, math.floor((x - low[0]) / size[0] * columns)) if size[0] else 0
        row = min(rows - 1, math.floor((y - low[1]) / size[1] * rows)) if size[1] else 0
        inside[row * columns + column] += 1
    share = [number * len(inside) // len(points) for number in inside]
    left = [
        Fraction(number * len(inside), len(points)) - got
        for number, got in zip(inside, share, strict=True)
    ]
    order = sorted(
        range(len(inside)), key=lambda cell: -(left if remainder == "density" else inside)[cell]
    )
    while sum(share) < sites:
        for cell in order:
            share[cell] += sum(share) < sites
    places = []
    width, height = size[0] / columns, size[1] / rows
    for cell, number in enumerate(share):
        x, y = low[0] + (cell % columns) * width, low[1] + (cell // columns) * height
        if number:
            sub_rows, sub_columns = grid_shape(number, width, height)
            lines, per_line = (sub_columns, sub_rows) if height > width else (sub_rows, sub_columns)
            numbers = [per_line] * lines
            line = 0
            while sum(numbers) < number:
                numbers[line] += 1
                line += 1
            for line, along in enumerate(numbers):
                for place in range(along):
                    a, b = (place + 0.5) / along, (line + 0.5) / lines
                    places.append(
                        (x + b * width, y + a * height)
                        if height > width
                        else (x + a * width, y + b * height)
                    )
    return np.array(places)


@settings(max_examples=80, deadline=None)
@given(problem=problems(most_regions=20), data=st.data())
def test_density_follows_the_rules(problem, data):
    context, _ = build_context(problem)
    sites = data.draw(st.integers(1, len(problem.regions)))
    for remainder in ("points", "density"):
        expected = literal_density(context.points, sites, remainder)
        assert locate("density", context, sites, remainder=remainder) == pytest.approx(
            expected, abs=1e-9
        )


# --- balanced density -----------------------------------------------------------------------------------------------


def walked(population, ideal, most):
    ends = cut_ranges([0, *accumulate(population)], 0, len(population), ideal, most)
    return list(pairwise([0, *ends]))


def test_the_point_that_reaches_the_ideal_stays_if_that_is_no_farther():
    assert walked([4, 2, 4], 7, 3) == [
        (0, 2),
        (2, 3),
    ]  # 10 is 3 above, 6 is 1 below: the third starts anew
    assert walked([4, 2, 2], 7, 3) == [(0, 3)]  # 8 is 1 above, 6 is 1 below: it stays
    assert walked([9, 9, 9], 3, 3) == [(0, 1), (1, 2), (2, 3)]  # a row keeps at least one point
    assert walked([1, 1, 1, 1], 1, 2) == [(0, 1), (1, 4)]  # the last takes all that is left
    assert walked([0, 0, 5, 0], 5, 9) == [
        (0, 3),
        (3, 4),
    ]  # empty points join while the row is below the ideal


def test_balanced_density_worked_by_hand():
    # s = 5: c = 2, 2·3 > 5, so 2 rows; n = 20, ideal 10. By y: 6, 4 | 5, 5 → rows {0, 1}, {2, 3, 4 (empty)}.
    # Cells: round(5 · 10/20) = round(2.5) = 3 in both, but the first row has only two points: 2 + 3 = 5.
    # Row 1 by x: region 1 (x = 0), region 0 (x = 5); 2 cells of 5: 4 + 6 = 10: 10 − 5 > 5 − 4, so 0 starts the second.
    # Row 2 by x: 4 (x = −1, empty), 2 (x = 1), 3 (x = 2); 3 cells of round(10/3) = 3: region 2 reaches it with 5:
    # 5 − 3 = 2 ≤ 3 − 0: {4, 2}, {3}. One is missing: the larger first (both 5): {4, 2} is cut into {4} and {2}.
    points = [(5, 0), (0, 1), (1, 2), (2, 3), (-1, 4)]
    places = locate("balanced-density", context_for(points, [[6], [4], [5], [5], [0]]), 5)
    assert places.tolist() == [[0, 1], [5, 0], [-1, 4], [2, 3], [1, 2]]


def test_a_site_is_the_mean_of_its_cells_points_whatever_their_population():
    places = locate("balanced-density", context_for([(0, 0), (3, 0), (6, 3)], [[100], [1], [1]]), 1)
    assert places.tolist() == [[3, 1]]


def test_the_paper_lets_a_small_rest_join_the_last_row():
    # s = 4: round(sqrt(4)) = 2 rows. 6, 6, 9, 2 with ideal round(23/2) = 12: the rest 9 + 2 never reaches 12, but is
    # not below 6, so it stays a row. 9, 9, 2, 1 with ideal round(21/2) = 11: 9 | 9 + 2 | and the rest, 1, joins.
    points = [(0, 0), (1, 1), (2, 2), (3, 3)]
    two_rows = locate("balanced-density", context_for(points, [[6], [6], [9], [2]]), 4, variant="paper")
    assert two_rows.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert rows_of_the_paper([6, 6, 9, 2], 4) == [0, 2, 4]
    assert rows_of_the_paper([9, 9, 2, 1], 4) == [0, 1, 4]


def rows_of_the_paper(population, sites):
    running = [0, *accumulate(population)]
    return (
        create_approach("site_location", "balanced-density", {"variant": "paper"})
        ._rows(running, sites)
        .tolist()
    )


def literal_walk(population, ideal, most):
    rows, row, inside = [], [], 0
    for point, own in enumerate(population):
        if len(rows) == most - 1 or inside + own < ideal:
            row.append(point)
            inside += own
            continue
        if (inside + own) - ideal <= ideal - inside or not row:
            rows.append([*row, point])
            row, inside = [], 0
            continue
        rows.append(row)
        row, inside = [point], own
        if len(rows) < most - 1 and inside >= ideal:
            rows.append(row)
            row, inside = [], 0
    return rows + ([row] if row else [])


def half_up(number):
    return math.floor(number + Fraction(1, 2))


def literal_rows(population, sites, variant):
    n, c = sum(population), math.isqrt(sites)
    if variant == "thesis":
        number = c + 1 if c * (c + 1) <= sites else c
        return literal_walk(population, half_up(Fraction(n, number)), number)
    ideal = half_up(Fraction(n, round(math.sqrt(sites))))
    rows = literal_walk(population, ideal, sites)
    if len(rows) > 1 and sum(population[i] for i in rows[-1]) < Fraction(ideal, 2):
        rest = rows.pop()
        rows[-1] = rows[-1] + rest
    return rows


def literal_balanced_density(points, population, sites, variant):
    """The rules, point by point."""
    n = sum(population)
    by_y = sorted(range(len(points)), key=lambda i: points[i][1])
    rows = [
        [by_y[at] for at in row] for row in literal_rows([population[i] for i in by_y], sites, variant)
    ]
    exact = [Fraction(sites * sum(population[i] for i in row), n) if n else Fraction(0) for row in rows]
    cells = [min(len(row), max(1, half_up(want))) for row, want in zip(rows, exact, strict=True)]
    while (missing := sites - sum(cells)) != 0:
        sign = 1 if missing > 0 else -1
        able = [i for i, row in enumerate(rows) if (cells[i] < len(row) if sign > 0 else cells[i] > 1)]
        cells[max(able, key=lambda i: (sign * (exact[i] - cells[i]), -i))] += sign
    places = []
    for row, wanted in zip(rows, cells, strict=True):
        row = sorted(row, key=lambda i: (points[i][0], i))
        total = sum(population[i] for i in row)
        walked = literal_walk([population[i] for i in row], half_up(Fraction(total, wanted)), wanted)
        parts = [[row[place] for place in part] for part in walked]
        while len(parts) < wanted:
            sizes = [sum(population[i] for i in part) for part in parts]
            for at in sorted(range(len(parts)), key=lambda cell: -sizes[cell]):
                part = parts[at]
                if len(part) > 1 and len(parts) < wanted:

                    def uneven(cut, part=part):
                        return abs(
                            sum(population[i] for i in part[:cut])
                            - sum(population[i] for i in part[cut:])
                        )

                    cut = min(range(1, len(part)), key=uneven)
                    parts[at] = part[:cut]
                    parts.append(part[cut:])
        places += [np.mean([points[i] for i in part], axis=0) for part in parts]
    return np.array(places)


@settings(max_examples=150, deadline=None)
@given(problem=problems(most_regions=25), data=st.data(), variant=st.sampled_from(["thesis", "paper"]))
def test_balanced_density_follows_the_rules(problem, data, variant):
    context, _ = build_context(problem)
    sites = data.draw(st.integers(1, len(problem.regions)))
    expected = literal_balanced_density(
        context.points.tolist(), context.populations.tolist(), sites, variant
    )
    assert locate("balanced-density", context, sites, variant=variant) == pytest.approx(
        expected, abs=1e-6
    )


# --- random ---------------------------------------------------------------------------------------------------------


def test_random_draws_in_the_bounding_box():
    context = context_for([(0, 10), (4, 30), (2, 20)], [[1]] * 3, random_seed=9)
    expected = [0, 10] + np.random.default_rng(9).random((2, 2)) * [4, 20]
    assert locate("random", context, 2).tolist() == expected.tolist()


# --- centroidal -----------------------------------------------------------------------------------------------------


def test_centroidal_worked_by_hand():
    # Balanced density cuts 0, 1, 10 | 20 into sites 11/3 and 20. Round 1: 10 is nearer to 11/3, its records pull the
    # site to (0 + 1 + 80) / 10 = 8.1. Round 2: 10 stays (1.9 < 10), nothing changes any more.
    context = context_for([(0, 0), (1, 0), (10, 0), (20, 0)], [[1], [1], [8], [10]])
    assert locate("balanced-density", context, 2).tolist() == [[11 / 3, 0], [20, 0]]
    assert locate("centroidal", context, 2, rounds=1) == pytest.approx(np.array([[8.1, 0], [20, 0]]))
    assert locate("centroidal", context, 2, rounds=50) == pytest.approx(np.array([[8.1, 0], [20, 0]]))


def literal_centroidal(points, records, places, rounds):
    places = [tuple(place) for place in places]
    for _ in range(rounds):
        owner = [
            min(range(len(places)), key=lambda j: ((x - places[j][0]) ** 2 + (y - places[j][1]) ** 2, j))
            for x, y in points
        ]
        for site in range(len(places)):
            own = [i for i in range(len(points)) if owner[i] == site]
            weights = [records[i] for i in own] if any(records[i] for i in own) else [1] * len(own)
            if own:
                places[site] = tuple(
                    sum(weight * points[i][axis] for weight, i in zip(weights, own, strict=True))
                    / sum(weights)
                    for axis in (0, 1)
                )
    return places


@settings(max_examples=60, deadline=None)
@given(problem=problems(most_regions=20), data=st.data())
def test_centroidal_follows_the_rules_and_never_lengthens_distances(problem, data):
    context, _ = build_context(problem)
    sites = data.draw(st.integers(1, len(problem.regions)))
    seeds = locate("random", context, sites)
    points, records = context.points, context.populations
    expected = literal_centroidal(points.tolist(), records.tolist(), seeds.tolist(), 1)
    found = locate("centroidal", context, sites, seeding="random", rounds=1)
    assert found == pytest.approx(np.array(expected), abs=1e-6)

    def spread(places):
        return (records * ((points[:, None] - places[None]) ** 2).sum(axis=2).min(axis=1)).sum()

    later = locate("centroidal", context, sites, seeding="random", rounds=6)
    assert spread(later) <= spread(found) * (1 + 1e-9) + 1e-9
    assert spread(found) <= spread(seeds) * (1 + 1e-9) + 1e-9


# --- density peaks --------------------------------------------------------------------------------------------------


def test_density_peaks_worked_by_hand():
    # m = 2. Records of a region and its nearest one by squared distance: 10/1, 10/1, 12/1, 5/4, 5/4, 4/25 (with 4 at
    # distance 5). The densest is region 2 (12); 1 and 0 are near it. Peaks: region 2: 12 · 18² (the farthest);
    # 0 and 1 (10): 1 is 1 from 2: 10, 0 is 1 from 1, as dense and before it, so 0 is the denser: 2 from 2: 40.
    # 3 (5/4) is 8 from 2: 80; 4 as dense, 2 from 3: 5; 5 (0.16·…) is 5 from 4: 0.16 · 25 = 4.
    points = [(0, 0), (1, 0), (2, 0), (10, 0), (12, 0), (17, 0)]
    context = context_for(points, [[5], [5], [7], [2], [3], [1]])
    # Seen from 2 the nearest is 1: 12 records.
    places = locate("density-peaks", context, 6, width=0.01)
    assert places[:, 0].tolist() == [2, 10, 0, 1, 12, 17]
    assert locate("density-peaks", context, 2, width=0.01)[:, 0].tolist() == [2, 10]


def literal_density_peaks(points, records, sites, width):
    regions = len(points)
    near = min(regions, max(2, round(width * regions / sites)))
    away = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    least = 1e-18 * (float(np.ptp(points, axis=0).max()) or 1.0) ** 2
    density = []
    for i in range(regions):
        order = np.lexsort((np.arange(regions), away[i]))[:near]
        density.append(records[order].sum() / max(away[i][order[-1]] ** 2, least))
    peaks = []
    for i in range(regions):
        denser = [j for j in range(regions) if (-density[j], j) < (-density[i], i)]
        separation = min(away[i][j] for j in denser) if denser else away[i].max()
        peaks.append(density[i] * separation**2)
    return sorted(peaks, reverse=True)[:sites], peaks


@settings(max_examples=80, deadline=None)
@given(data=st.data(), regions=st.integers(1, 40), width=st.sampled_from([0.01, 0.25, 1.0, 3.0]))
def test_density_peaks_follow_the_rules(data, regions, width):
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    # Places at random: no two distances are equal, so that there is one right answer.
    points, matrix = generator.random((regions, 2)) * 100, generator.integers(0, 50, (regions, 1))
    context = context_for([tuple(point) for point in points.tolist()], matrix.tolist())
    sites = data.draw(st.integers(1, regions))
    expected, peaks = literal_density_peaks(points, matrix[:, 0], sites, width)
    found = locate("density-peaks", context, sites, width=width)
    index = {tuple(point): i for i, point in enumerate(points.tolist())}
    chosen = [index[tuple(place)] for place in found.tolist()]
    assert len(set(chosen)) == sites
    assert [peaks[i] for i in chosen] == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(problem=problems(most_regions=40), numbers=st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_density_peaks_are_the_same_whatever_was_asked_before(problem, numbers):
    """Nearest regions are kept for other numbers of sites; regions that are equally far are met in the same order."""
    approach = create_approach("site_location", "density-peaks")
    shared, _ = build_context(problem)
    for number in numbers:
        sites = min(number, len(problem.regions))
        alone, _ = build_context(problem)
        anew = approach.locate(alone, sites, NO_PROGRESS)
        assert approach.locate(shared, sites, NO_PROGRESS).tolist() == anew.tolist()
