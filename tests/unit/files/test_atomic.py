"""Files and folders appear whole or not at all."""

import pytest

from vbas_desktop.domain.errors import InputError
from vbas_desktop.files.atomic import new_folder, write_text


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


def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path):
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(InputError, match="already holds something else"), new_folder(tmp_path):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_folder_takes_its_place_only_when_complete(tmp_path):
    target = tmp_path / "out"
    with new_folder(target, known_by="one") as folder:
        (folder / "one").write_text("1")
        assert not target.exists()
    with pytest.raises(ZeroDivisionError), new_folder(target, known_by="one") as folder:
        (folder / "two").write_text(str(1 // 0))
    assert [path.name for path in target.iterdir()] == ["one"]
    with new_folder(target, known_by="one") as folder:
        (folder / "three").write_text("3")
    assert [path.name for path in target.iterdir()] == ["three"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
