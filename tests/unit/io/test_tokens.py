"""The loops that look at many bytes at once, against Python: at every border, whatever lies behind the text."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vbas_desktop.io.records.bits import PADDING
from vbas_desktop.io.records.tokens import SPARE_PLACES, after_last_line_end, first_not_utf8, separators, survey

ODD = st.lists(st.sampled_from(b'ab,\n\r"\0\x80\xff'), max_size=150).map(bytes)
MOSTLY_PLAIN = st.tuples(st.integers(0, 140), ODD, st.integers(0, 70)).map(lambda t: b"a" * t[0] + t[1] + b"b" * t[2])
BEHIND = st.sampled_from([b"\0", b",", b"\n", b'"', b"\r", b"\x80"])
BYTES_OF_UTF_8 = st.sampled_from(b"\x41\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf1\xf4\xf5\xff")


def in_memory(text, behind):
    return np.frombuffer(text + behind * PADDING, np.uint8).copy()


@settings(max_examples=200, deadline=None)
@given(text=MOSTLY_PLAIN, behind=BEHIND)
@example(text=b"a" * 63 + b"\n", behind=b"\n")
@example(text=b"a" * 64, behind=b",")
def test_separators_are_found_up_to_the_last_byte_and_none_behind_it(text, behind):
    places = np.zeros(len(text) + 1 + SPARE_PLACES, np.int32)
    found, lines, odd, beyond = separators(in_memory(text, behind), len(text), ord(","), places)
    assert places[: found + 1].tolist() == [-1] + [i for i, byte in enumerate(text) if byte in b",\n"]
    assert lines == text.count(b"\n")
    assert odd == any(byte in b'\0"\r' for byte in text)
    assert beyond == (not text.isascii())


@settings(max_examples=200, deadline=None)
@given(text=MOSTLY_PLAIN, behind=BEHIND)
def test_odd_bytes_are_noticed_in_the_text_and_not_behind_it(text, behind):
    noticed = survey(in_memory(text, behind), 0, len(text))
    assert noticed == (b"\0" in text, b'"' in text, b"\r" in text, not text.isascii())
    assert after_last_line_end(in_memory(text, behind), len(text)) == text.rfind(b"\n") + 1


@pytest.mark.parametrize("odd", [b"\0", b'"', b"\r", b"\x80"])
def test_one_odd_byte_is_noticed_wherever_it_is(odd):
    for size in (1, 63, 64, 65, 128, 130):
        for place in range(size):
            text = b"a" * place + odd + b"a" * (size - place - 1)
            expected = tuple(odd == other for other in (b"\0", b'"', b"\r", b"\x80"))
            assert survey(in_memory(text, b"a"), 0, size) == expected


@settings(max_examples=400, deadline=None)
@given(
    before=st.integers(0, 9),
    text=st.lists(BYTES_OF_UTF_8, max_size=6).map(bytes),
    after=st.integers(0, 9),
    behind=BEHIND,
)
def test_the_first_bytes_that_are_not_utf_8_are_those_that_python_stumbles_over(before, text, after, behind):
    text = b"a" * before + text + b"a" * after
    try:
        text.decode("utf-8")
        expected = -1
    except UnicodeDecodeError as error:
        expected = error.start
    assert first_not_utf8(in_memory(text, behind), len(text)) == expected
