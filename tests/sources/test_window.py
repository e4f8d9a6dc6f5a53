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

from vbas_desktop.model.records import Role
from vbas_desktop.settings.release import ReleaseOptions
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.dialogs.open_data import OpenDataDialog, TablesDialog
from vbas_desktop.ui.main_window import MainWindow

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
    made.runner.shut_down()
    made.session.modified = False
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
    qtbot.waitUntil(lambda: not window.runner.busy, timeout=60_000)


def run_and_release(window, qtbot, target) -> None:
    """Give the columns their roles, run, and release what was chosen, as the export dialog orders it."""
    session = window.session
    roles = {"place": Role.REGION, "age": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER, "score": Role.PLAIN}
    session.change_fields(roles=roles)
    window.controller.run()
    qtbot.waitUntil(lambda: not window.runner.busy and bool(session.entries), timeout=60_000)
    options = ReleaseOptions(pdf=False, allow_columns=("score",))
    report = session.order_release(session.entries[0], options, target).execute()
    assert report.records == 1200
    assert (target / "release" / "anonymized.csv").exists()


def test_a_folder_is_opened_run_and_released(window, qtbot, tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(records(), folder / "a.parquet")
    window.controller.load(folder, regions_file(tmp_path))
    idle(window, qtbot)
    assert window.session.table.rows == 1200
    assert [facts.distinct for facts in window.session.table.columns] == [6, 3, 2, 11]
    run_and_release(window, qtbot, tmp_path / "out")
    window.session.table.close()


def test_the_export_dialog_puts_the_release_into_another_place_too(window, qtbot, tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    pq.write_table(records(), folder / "a.parquet")
    window.controller.load(folder, regions_file(tmp_path))
    idle(window, qtbot)
    run_and_release(window, qtbot, tmp_path / "out")
    dialog = ExportDialog(window.session, window)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.also.isVisible()
    assert dialog.target.text().startswith(str(tmp_path / "visits-release-"))
    target = Path(dialog.target.text())
    assert dialog.problem.text().startswith("Undecided: “score”.")
    dialog.confirm.click()
    dialog.columns.take_up(("place", "age", "sex", "score"), {}, ("score",))
    dialog.pdf.setChecked(False)
    dialog.also.setText(f"{tmp_path}/house.duckdb#main.given")
    assert "takes no CSV file" in dialog.problem.text()
    assert not dialog.export.isEnabled()
    dialog.format.setCurrentIndex(dialog.format.findData("parquet"))
    assert dialog.export.isEnabled()
    with qtbot.waitSignal(dialog.order_made) as made:
        dialog.export.click()
    made.args[0].execute()
    with duckdb.connect(str(tmp_path / "house.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM given").fetchone() == (1200,)
    assert (target / "release" / "anonymized.parquet").exists()
    window.session.table.close()


def test_a_table_of_a_server_is_chosen_from_a_list(window, qtbot, tmp_path, server, monkeypatch):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")
    server.run("DROP TABLE IF EXISTS listed", "CREATE TABLE listed (place text, age int, sex text, score int)")
    with server.connect() as connection, connection.cursor().copy("COPY listed FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in records().columns), strict=True):
            copy.write_row(row)
    window.controller._ask_for(None, None)
    asked = window.findChild(OpenDataDialog)
    asked.records.edit.setText(server.address())
    asked.regions.edit.setText(str(regions_file(tmp_path)))
    qtbot.mouseClick(asked.records.tables, Qt.MouseButton.LeftButton)
    dialog = asked.records.findChild(TablesDialog)
    qtbot.waitUntil(lambda: dialog.connect_button.isEnabled(), timeout=30_000)
    assert dialog.state.text().startswith("The server does not accept the user or the password.")
    dialog.password.setText(PASSWORD)
    qtbot.mouseClick(dialog.connect_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.tables.count() > 0, timeout=30_000)
    listed = [dialog.tables.item(row).text() for row in range(dialog.tables.count())]
    dialog.tables.setCurrentRow(listed.index("public.listed"))
    dialog.accept()
    assert asked.records.edit.text() == server.address("public.listed")
    asked.accept()
    idle(window, qtbot)
    assert window.session.table.rows == 1200
    assert window.session.table.source.path == server.address("public.listed")
    window.session.table.close()
