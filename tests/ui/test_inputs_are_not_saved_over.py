"""Whatever is saved in the window, a file that is read is never the target, though the dialog agreed to replace it."""

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from vbas_desktop.ui.map.save_dialog import SaveMapDialog
from vbas_desktop.ui.pages import PAGES


def page(window, title):
    return window.area.show_page(next(page for page in PAGES if page.title == title))


def save_project(window, target):
    window.projects.save_to(target)
    return window.projects.worker


def save_table(window, target):
    tab = window.tab("Results")
    tab.actions_by_name["save"].trigger()
    return choose(tab, target, window)


def save_picture(window, target):
    view = window.area.map
    view.save()
    view.findChild(SaveMapDialog).go.click()
    return choose(view, target, window)


def copy_policy(window, target):
    page(window, "Policy").judged.copy_to(str(target))
    return window.worker


def save_requirement(window, target):
    page(window, "Requirements").save_file(target)
    return window.worker


def choose(parent, target, window):
    dialog = parent.findChild(QFileDialog)
    assert not dialog.testOption(QFileDialog.Option.DontConfirmOverwrite)
    dialog.fileSelected.emit(str(target))
    dialog.close()
    return window.worker


@pytest.mark.parametrize("save", [save_project, save_table, save_picture, save_requirement, copy_policy])
@pytest.mark.parametrize("which", [0, 1], ids=["records", "regions"])
def test_a_file_that_is_open_stays_as_it_is(run_window, data, qtbot, tmp_path, save, which):
    source = data[which]
    before = source.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(source)
    for target in (source, link):
        worker = save(run_window, target)
        with qtbot.waitSignal(worker.job_failed, timeout=60_000) as failed:
            pass
        assert "is an input" in failed.args[0].message
        qtbot.waitUntil(lambda: run_window.findChild(QMessageBox) is not None)
        run_window.findChild(QMessageBox).close()
        qtbot.waitUntil(lambda: run_window.findChild(QMessageBox) is None)
    assert source.read_bytes() == before


def test_the_searched_file_stays_as_it_is(loaded_window, data, qtbot):
    shown = page(loaded_window, "Risky combinations")
    before = data[0].read_bytes()
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        shown.search.click()
    with qtbot.waitSignal(loaded_window.worker.job_failed, timeout=60_000) as failed:
        shown.save_scores(str(data[0]))
    assert "is an input" in failed.args[0].message
    loaded_window.findChild(QMessageBox).close()
    assert data[0].read_bytes() == before
