"""Files appear whole or not at all."""

import pytest

from vbas_desktop.io.output import write_text


def test_a_file_is_replaced_in_one_step_and_nothing_stays_beside_it(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")
    write_text(target, "new é")
    assert target.read_text(encoding="utf-8") == "new é"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")
    with pytest.raises(TypeError):
        write_text(target, object())
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
