"""What the internal report says of the look at the written file."""

import pytest

from vbas_desktop.releases.reports.blocks import Paragraph, Table
from vbas_desktop.releases.reports.protection import last_look_blocks


def found(combinations, not_tried=0, **more):
    columns = [{"column": "note", "records_below_k": 30, "unique_records": 1200, "smallest_group": 1}]
    together = [
        {"columns": ["note", str(number)], "records_below_k": number} for number in range(combinations)
    ]
    return {
        "last_look": {
            "records": 1500,
            "compared_with_original": True,
            "pair_tests": True,
            "columns": columns,
            "combinations": together,
            "combinations_not_tried": not_tried,
            **more,
        }
    }


def tables(document, k=5):
    return [block for block in last_look_blocks(document, k) if isinstance(block, Table)]


def texts(document, k=5):
    return [block.text for block in last_look_blocks(document, k) if isinstance(block, Paragraph)]


def test_columns_are_listed_with_their_shares():
    (table,) = tables(found(0))
    assert [tuple(row) for row in table.rows] == [("note", "30 (2 %)", "1,200", "1")]


@pytest.mark.parametrize(
    ("number", "listed", "caption"), [(20, 20, ""), (21, 20, "The 20 with most such records.")]
)
def test_the_worst_combinations_are_listed_and_said_to_be_the_worst_if_there_are_more(
    number, listed, caption
):
    _, table = tables(found(number, 7))
    assert (len(table.rows), table.caption) == (listed, caption)
    assert tuple(table.rows[0]) == (
        f"note + {number - 1}",
        f"{number - 1} ({100 * (number - 1) / 1500:.3g} %)",
    )
    assert any("7 were not tried" in text for text in texts(found(number, 7)))


def test_what_was_not_compared_or_not_tested_is_said():
    assert not any("not compared with the original" in text for text in texts(found(1)))
    assert any(
        "not compared with the original" in text
        for text in texts(found(1, compared_with_original=False))
    )
    assert any(
        "were not tested in the written file" in text for text in texts(found(1, pair_tests=False))
    )
    assert texts({"last_look": None}) == texts({}) == []
    assert len(texts(found(1, columns=[]))) == 1
