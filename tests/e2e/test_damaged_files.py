"""Damaged files end in words and with a code of the program's own; a few of those that `damaged_files.py` tries."""

from damaged_files import attempts


def test_damaged_files_end_in_words(tmp_path):
    assert attempts(tmp_path, 40, 0) == []
