"""What a spreadsheet might run is told alike by those who write it and by those who read it back."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas_desktop.audit.readback import escaped
from vbas_desktop.release.records.arrow_writer import _formulas
from vbas_desktop.release.records.rows import is_formula

RUN = [
    "=1",
    "@A1",
    "\tx",
    "\rx",
    " =1",
    '"=1',
    "\n=1",
    "+A1",
    "-A1",
    " -cmd|x",
    "-1+2",
    "+",
    "-5-3",
    "＝1",
    " ＠x",
    "－A",
]
NOT_RUN = [
    "",
    "-5",
    "+3.2",
    "-1,234.5",
    " -5",
    "- 5",
    "x=1",
    "'=1",
    "5-3",
    "＃=1",
    "é",
    "\n5",
    "－5",
    "a\t=",
    '""',
    " ",
]


def told(value):
    """What each of the three says."""
    raw = value.encode()
    doubled = b'"' + raw.replace(b'"', b'""') + b'"'
    found = {is_formula(np.frombuffer(doubled, np.uint8), 0, len(doubled))}
    if not value.startswith('"') and "\n" not in value:
        found.add(is_formula(np.frombuffer(raw, np.uint8), 0, len(raw)))
    found.add(escaped(pa.array([raw], pa.binary()))[0].as_py() == b"'" + raw)
    found.add(_formulas(pa.array([value], pa.string()))[0].as_py())
    return found


@pytest.mark.parametrize("value", RUN)
def test_what_might_be_run_is_told(value):
    assert told(value) == {True}


@pytest.mark.parametrize("value", NOT_RUN)
def test_plain_numbers_and_texts_are_left_alone(value):
    assert told(value) == {False}


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("=+-@ \t\r\n\"'.,05ax＝＋－＠＃é"), max_size=6))
def test_all_who_tell_tell_the_same(value):
    assert len(told(value)) == 1
