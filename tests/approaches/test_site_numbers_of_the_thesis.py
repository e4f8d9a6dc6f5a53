"""The numbers of sites of the thesis' tables 7 to 18, from the records, regions and category numbers alone (k = 5)."""

import math

import numpy as np
import pytest

from tests.problem_making import regions_of
from vbas_desktop.algorithms.site_counts import list_site_counts
from vbas_desktop.approaches.interface import Context
from vbas_desktop.approaches.registry import create_approach
from vbas_desktop.io.documents.published import read_published_canada
from vbas_desktop.model.counts import ClassCounts

EAST, WEST = ("eastern", 2_433_221, 4_426), ("western", 9_647_422, 17_613)

# table: (data, category numbers, anonymity's five numbers, maxcombs' five numbers). The category numbers are those of
# age (22, generalised 11), gender (2), marital status (6) and income (21, generalised 7).
TABLES = {
    7: (EAST, (22, 2), [707, 796, 885, 974, 1063], [280, 315, 350, 385, 420]),
    8: (EAST, (11, 2), [707, 796, 885, 974, 1063], [344, 388, 432, 476, 520]),
    9: (EAST, (22, 6), [352, 397, 442, 487, 532], [200, 225, 250, 275, 300]),
    10: (EAST, (11, 6), [707, 796, 885, 974, 1063], [247, 278, 309, 340, 371]),
    11: (EAST, (22, 2, 21), [78, 88, 98, 108, 118], [110, 124, 138, 152, 166]),
    12: (EAST, (11, 2, 7), [352, 397, 442, 487, 532], [191, 215, 239, 263, 287]),
    13: (WEST, (22, 2), [2816, 3169, 3522, 3875, 4228], [891, 1003, 1115, 1227, 1339]),
    14: (WEST, (11, 2), [2816, 3169, 3522, 3875, 4228], [1192, 1342, 1492, 1642, 1792]),
    15: (WEST, (22, 6), [1407, 1584, 1761, 1938, 2115], [560, 631, 702, 773, 844]),
    16: (WEST, (11, 6), [2816, 3169, 3522, 3875, 4228], [752, 846, 940, 1034, 1128]),
    17: (WEST, (22, 2, 21), [311, 351, 391, 431, 471], [248, 279, 310, 341, 372]),
    18: (WEST, (11, 2, 7), [1407, 1584, 1761, 1938, 2115], [526, 592, 658, 724, 790]),
}


def context_of_size(records, regions, category_numbers):
    """All records in one class of one region: these formulas ask for nothing but the totals."""
    matrix = np.zeros((regions, 1), np.int64)
    matrix[0, 0] = records
    counts = ClassCounts.from_matrix(category_numbers, np.zeros(1, np.int64), matrix)
    return Context(regions_of(np.zeros((regions, 2))), counts, k=5)


@pytest.mark.parametrize("table", TABLES)
def test_numbers_and_ranges_are_those_printed(table):
    (model, records, regions), category_numbers, by_anonymity, by_maxcombs = TABLES[table]
    context = context_of_size(records, regions, category_numbers)
    anonymity = create_approach("site_number", "anonymity").approximate(context)
    maxcombs = create_approach("site_number", "maxcombs", {"model": model}).approximate(context)
    assert (anonymity, maxcombs) == (by_anonymity[2], by_maxcombs[2])
    assert list_site_counts(anonymity, 10, 2, regions) == by_anonymity
    assert list_site_counts(maxcombs, 10, 2, regions) == by_maxcombs


@pytest.mark.parametrize(("like", "rows"), [("eastern", 260), ("western", 200)])
def test_every_published_row_has_the_number_of_sites_of_the_program(like, rows):
    published = [cell for cell in read_published_canada(like) if cell.site_number != "entropy"]
    assert len(published) == rows
    assert {cell.site_number for cell in published} == {"anonymity", "maxcombs"}
    for cell in published:
        (model, records, regions), category_numbers, _, _ = TABLES[cell.table]
        facts = (cell.facts["region"], int(cell.facts["records"]), int(cell.facts["regions"]))
        assert facts == (model, records, regions)
        assert int(cell.facts["classes"]) == math.prod(category_numbers)
        given = {} if cell.site_number == "anonymity" else {"model": model}
        context = context_of_size(records, regions, category_numbers)
        approximated = create_approach("site_number", cell.site_number, given).approximate(context)
        assert list_site_counts(approximated, 10, 2, regions)[cell.rank] == cell.sites
