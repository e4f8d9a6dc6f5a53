"""The window on records behind addresses: opened, counted, run, released."""

from __future__ import annotations

import gc
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from making import REGIONS, regions_file
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication
from servers import PASSWORD

from vbas_desktop.app.release import release_solution
from vbas_desktop.model.records import Role
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.open_data import OpenDataDialog, TablesDialog
from vbas_desktop.ui.dialogs.records_row import AddressDialog
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.shell.main_window import MainWindow
from vbas_desktop.ui.widgets.dialog import OPEN

pytestmark = pytest.mark.xdist_group("postgresql")


def settle() -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()


@pytest.fixture
def window(qtbot):
    made = MainWindow()
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.worker.shut_down()
    made.state.modified = False
    made.close()
    made.deleteLater()
    settle()
    gc.collect()


def records(number: int = 1200) -> pa.Table:
    return pa.table(
        {
            "place": [REGIONS[i % 6] for i in range(number)],
            "age": [i % 3 for i in range(number)],
            "sex": ["fm"[i // 7 % 2] for i in range(number)],
            "score": [i % 11 for i in range(number)],
        }
    )


def idle(window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.worker.busy, timeout=60_000)


def run_and_release(window, qtbot, target) -> None:
    """Give the columns their roles, run, and release what was chosen, as the export dialog orders it."""
    session = window.state
    roles = {
        "place": Role.REGION,
        "age": Role.QUASI_IDENTIFIER,
        "sex": Role.QUASI_IDENTIFIER,
        "score": Role.AS_IS,
    }
    session.change_fields(roles=roles)
    window.run_commands.run()
    qtbot.waitUntil(lambda: not window.worker.busy and bool(session.entries), timeout=60_000)
    options = ReleaseOptions(pdf=False, allow_columns=("score",))
    report = release_solution(session.request_release(session.entries[0], options, target))
    assert report.records == 1200
    assert (target / "release" / "anonymized.csv").exists()


def test_a_folder_is_opened_run_and_released(window, qtbot, tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(records(), folder / "a.parquet")
    window.data_commands.load(folder, regions_file(tmp_path))
    idle(window, qtbot)
    assert window.state.table.rows == 1200
    assert [facts.distinct for facts in window.state.table.columns] == [6, 3, 2, 11]
    run_and_release(window, qtbot, tmp_path / "out")
    window.state.table.close()


def test_the_export_dialog_puts_the_release_into_another_place_too(window, qtbot, tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(records(), folder / "a.parquet")
    window.data_commands.load(folder, regions_file(tmp_path))
    idle(window, qtbot)
    run_and_release(window, qtbot, tmp_path / "out")
    dialog = ExportDialog(window.state, window)
    qtbot.addWidget(dialog)
    dialog.show()
    also = dialog.recipient.editors["also"]
    assert also.isVisible()
    assert dialog.target.edit.text().startswith(str(tmp_path / "visits release "))
    target = Path(dialog.target.edit.text())
    assert dialog.problem.text() == "Decide first what becomes of “score”."
    dialog.decisions.button("Release").click()
    dialog.columns.allow(("score",))
    dialog.form.editors["pdf"].click()
    also.setText(f"{tmp_path}/house.duckdb#main.given")
    assert "takes no CSV file" in dialog.problem.text()
    assert not dialog.export.isEnabled()
    file_format = dialog.form.editors["format"]
    file_format.setCurrentIndex(file_format.findData("parquet"))
    file_format.activated.emit(file_format.currentIndex())
    assert dialog.export.isEnabled()
    with qtbot.waitSignal(dialog.order_made) as made:
        dialog.export.click()
    release_solution(made.args[0])
    with duckdb.connect(str(tmp_path / "house.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM given").fetchone() == (1200,)
    assert (target / "release" / "anonymized.parquet").exists()
    window.state.table.close()


def test_a_table_of_a_server_is_chosen_from_a_list(window, qtbot, tmp_path, server, monkeypatch):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")
    server.run(
        "DROP TABLE IF EXISTS listed", "CREATE TABLE listed (place text, age int, sex text, score int)"
    )
    with server.connect() as connection, connection.cursor().copy("COPY listed FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in records().columns), strict=True):
            copy.write_row(row)
    window.data_commands._ask_for(None, None)
    asked = window.findChild(OpenDataDialog)
    asked.records.edit.setText(server.address())
    asked.regions.edit.setText(str(regions_file(tmp_path)))
    qtbot.mouseClick(asked.records.tables, Qt.MouseButton.LeftButton)
    dialog = asked.records.findChild(TablesDialog)
    qtbot.waitUntil(lambda: dialog.connect_button.isEnabled(), timeout=30_000)
    assert "The server does not accept the user or the password." in dialog.state.text()
    dialog.password.setText(PASSWORD)
    qtbot.mouseClick(dialog.connect_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.tables.count() > 0, timeout=30_000)
    listed = [dialog.tables.item(row).text() for row in range(dialog.tables.count())]
    dialog.tables.setCurrentRow(listed.index("public.listed"))
    dialog.accept()
    assert asked.records.edit.text() == server.address("public.listed")
    asked.accept()
    idle(window, qtbot)
    assert window.state.table.rows == 1200
    assert window.state.table.source.path == server.address("public.listed")
    window.state.table.close()


def people(number: int = 300) -> pa.Table:
    """Records with a key, in the order of their keys."""
    return pa.table(
        {
            "person": [f"p{i:04d}" for i in range(number)],
            "age": [str(i % 7) for i in range(number)],
            "job": ["abcde"[i // 11 % 5] for i in range(number)],
        }
    )


def in_dataset(table: pa.Table, folder: Path) -> Path:
    folder.mkdir()
    pq.write_table(table, folder / "a.parquet")
    return folder


def shown_page(window, title):
    return window.area.show_page(next(page for page in PAGES if page.title == title))


def enter_address(row, address, window, qtbot) -> None:
    """Press the row's button, type the address, and confirm."""
    qtbot.mouseClick(row.address, Qt.MouseButton.LeftButton)
    dialog = row.findChild(AddressDialog)
    assert not dialog.buttons.button(OPEN).isEnabled()
    dialog.records.edit.setText("duckdb:s3://elsewhere/x.parquet")
    assert "on a network" in dialog.reason.text()
    assert not dialog.buttons.button(OPEN).isEnabled()
    dialog.records.edit.setText(str(address))
    qtbot.mouseClick(dialog.buttons.button(OPEN), Qt.MouseButton.LeftButton)
    idle(window, qtbot)


def test_risky_combinations_are_searched_behind_an_address(window, qtbot, tmp_path):
    page = shown_page(window, "Risky combinations")
    enter_address(page.settings.file, in_dataset(people(), tmp_path / "visits"), window, qtbot)
    assert page.settings.file.name.text() == "visits"
    page.settings.form.editors["k"].setValue(9)
    page.search.click()
    idle(window, qtbot)
    assert len(page.page_state.listing) > 0
    page.timeline.buttons["run"].click()
    idle(window, qtbot)
    page.export(str(tmp_path / "coarsened"))
    idle(window, qtbot)
    assert (tmp_path / "coarsened" / "anonymized.csv").exists()


def test_risky_combinations_of_the_loaded_address_are_searched(window, qtbot, tmp_path):
    window.data_commands.load(in_dataset(records(), tmp_path / "visits"), regions_file(tmp_path))
    idle(window, qtbot)
    page = shown_page(window, "Risky combinations")
    page.settings.form.editors["k"].setValue(200)
    page.search.click()
    idle(window, qtbot)
    assert len(page.page_state.listing) > 0
    assert page.page_state.state.table.records == 1200
    window.state.table.close()


def test_two_addresses_are_compared(window, qtbot, tmp_path):
    page = shown_page(window, "Representability")
    page.source.setCurrentText("Two files")
    enter_address(page.panel.original, in_dataset(people(), tmp_path / "before"), window, qtbot)
    enter_address(
        page.panel.anonymised, in_dataset(people().slice(0, 250), tmp_path / "after"), window, qtbot
    )
    page.panel.key.setText("person")
    page.panel.columns.setText("age, job")
    page.panel.compare.click()
    idle(window, qtbot)
    assert page._pairs[-1].title == "after"


def test_people_behind_an_address_get_appointments(window, qtbot, tmp_path):
    (tmp_path / "slots.csv").write_text(
        "centre,time,capacity\n" + "".join(f"c,{i},40\n" for i in range(9))
    )
    page = shown_page(window, "Appointments")
    enter_address(page.settings.people_file, in_dataset(people(), tmp_path / "people"), window, qtbot)
    page.open_slots(tmp_path / "slots.csv")
    idle(window, qtbot)
    page.plan.click()
    idle(window, qtbot)
    assert page.planned.assessment.as_dict()["people"] == 300
