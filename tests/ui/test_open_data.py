"""The dialog that asks for the two files: it says what is missing or mixed up before anything is read."""

from pathlib import Path

import pytest
from persons import LONG, box
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog

from vbas_desktop.ui.dialogs.open_data import OpenDataDialog


@pytest.fixture
def asked(window):
    """The dialog as it comes up without data."""
    window.menus.actions["open_data"].trigger()
    dialog = window.findChild(OpenDataDialog)
    yield dialog
    dialog.close()


def may_open(dialog) -> bool:
    return dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Open).isEnabled()


@pytest.mark.parametrize(
    ("records", "regions", "reason"),
    [
        ("", "", "Choose the file with the records, one line per person or event."),
        ("r.csv", " ", "Choose the file that says where the regions of these records are."),
        ("r.csv", "'r.csv'", "Both fields name the same file: records and regions come in a file each."),
        (
            "a.GEOJSON",
            "r.csv",
            "a.GEOJSON holds shapes of regions: it belongs in the field “Region file”.",
        ),
        ("r.csv", "places.csv", ""),
        ("r.csv", "a.gpkg", ""),
    ],
)
def test_what_is_missing_or_mixed_up_is_said(asked, records, regions, reason):
    asked.records.edit.setText(records)
    asked.regions.edit.setText(regions)
    assert asked.reason.text() == reason
    assert may_open(asked) == (not reason)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('"/data/my records.csv"', Path("/data/my records.csv")),
        ("file:///data/my%20records.csv", Path("/data/my records.csv")),
        ("~/records.csv", Path.home() / "records.csv"),
        ("  ", None),
    ],
)
def test_paths_are_taken_the_way_other_programs_copy_them(asked, text, path):
    asked.records.edit.setText(text)
    assert asked.records.path == path


def test_browsing_begins_beside_the_other_file_and_long_paths_show_in_a_tip(asked, tmp_path):
    asked.records.edit.setText(str(tmp_path / "records.csv"))
    assert asked.records.edit.toolTip() == str(tmp_path / "records.csv")
    asked.regions._on_browse()
    browsing = asked.findChild(QFileDialog)
    assert Path(browsing.directory().absolutePath()) == tmp_path
    browsing.fileSelected.emit(str(tmp_path / "regions.csv"))
    browsing.reject()
    assert asked.regions.path == tmp_path / "regions.csv"
    assert may_open(asked)


def test_cancelling_leaves_everything_as_it_is(loaded_window, data):
    loaded_window.menus.actions["open_data"].trigger()
    dialog = loaded_window.findChild(OpenDataDialog)
    assert (dialog.records.path, dialog.regions.path) == data
    dialog.records.edit.setText("elsewhere.csv")
    dialog.reject()
    assert not loaded_window.worker.busy
    assert loaded_window.state.records_path == data[0]


def test_files_that_could_not_be_read_come_up_again_until_others_are_loaded(
    window, data, tmp_path, qtbot
):
    mistyped = tmp_path / "recrods.csv"
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.data_commands.load(mistyped, data[1])
    assert "There is no such file. Check the path." in box(window).informativeText()
    box(window).close()
    window.menus.actions["open_data"].trigger()
    dialog = window.findChild(OpenDataDialog)
    assert (dialog.records.path, dialog.regions.path) == (mistyped, data[1])
    dialog.records.edit.setText(str(data[0]))
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        dialog.accept()
    assert window.state.has_data
    window.data_commands.open_data()
    again = next(child for child in window.findChildren(OpenDataDialog) if child.isVisible())
    assert (again.records.path, again.regions.path) == data
    again.close()


def test_a_database_offers_its_tables_and_a_wrong_address_says_why(asked):
    asked.regions.edit.setText("places.csv")
    asked.records.edit.setText("postgresql://ann@db/health")
    assert asked.records.tables.isEnabled()
    assert may_open(asked)
    assert asked.records.path == Path("postgresql://ann@db/health")
    asked.records.edit.setText("postgresql://ann:secret@db/health")
    assert not asked.records.tables.isEnabled()
    assert asked.reason.text().startswith("The address holds a password")
    asked.records.edit.setText("records.csv")
    assert not asked.records.tables.isEnabled()
    asked.records.set_path(Path("postgresql://ann@db/health#a.b"))
    assert asked.records.edit.text() == "postgresql://ann@db/health#a.b"


def test_a_folder_can_be_chosen_for_the_records(asked, tmp_path):
    asked.records._on_folder()
    dialog = asked.records.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path))
    dialog.close()
    assert asked.records.path == tmp_path
