"""Limits in the window: chosen in Input, kept in the project, told of the regions that do not meet them."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from vbas_desktop.engine.constraints import CONSTRAINT_DIAGNOSTICS
from vbas_desktop.ui.panels.regions_panel import RegionsPanel

COUNTY = "AABBBBCC"
PEOPLE = (100, 200, 300, 400, 500, 600, 30, 40)


@pytest.fixture
def files(tmp_path):
    lines = [f"r{i},{i},{i % 2},{county},{PEOPLE[i]}" for i, county in enumerate(COUNTY)]
    (tmp_path / "regions.csv").write_text("\n".join(["id,x,y,county,people", *lines]) + "\n")
    rows = [f"{age},r{i}" for i in range(8) for age in "12" for _ in range(12)]
    (tmp_path / "records.csv").write_text("\n".join(["age,region", *rows]) + "\n")
    return tmp_path / "records.csv", tmp_path / "regions.csv"


@pytest.fixture
def window(make_window, files, qtbot):
    window = make_window()
    window.data_commands.load(*files)
    qtbot.waitUntil(lambda: window.state.has_data and not window.worker.busy)
    window.show_tab("Input")
    window.input.approach.change.click()
    window.input.approaches.constraints.unfold.click()
    return window


def tick(field):
    """Tick or untick the last name in the list of a field."""
    field.open_list()
    field.menu.actions()[-1].trigger()
    field.menu.close()


def test_the_columns_of_the_region_file_are_offered(window):
    section = window.input.approaches.constraints
    assert section.form.editors["within"].offered == ("county",)
    assert [section.form.editors["population_column"].itemData(i) for i in range(2)] == [None, "people"]
    assert not section.form.editors["min_population"].isEnabled()
    assert not section.words.isVisibleTo(section)


def test_both_ways_to_stay_alone_stand_in_one_row(window):
    limits = window.input.approaches.constraints
    limits.unfold.setChecked(True)
    QApplication.processEvents()
    assert limits.form.fields["alone"].y() == limits.form.fields["alone_column"].y()
    assert limits.form.fields["min_population"].y() == limits.form.fields["max_population"].y()


def test_limits_are_chosen_run_and_told_of_the_region(window, qtbot):
    section = window.input.approaches.constraints
    tick(section.form.editors["within"])
    combo = section.form.editors["population_column"]
    combo.setCurrentIndex(combo.findData("people"))
    combo.activated.emit(combo.currentIndex())
    section.form.editors["min_population"].setValue(290)
    section.form.editors["alone"].setText("r2")
    section.form.editors["alone"].editingFinished.emit()
    assert (
        section.words.text()
        == "Never across: county; Stay alone: r2; Population column: people; Population at least: 290"
    )
    chosen = window.state.choices
    assert (chosen.within, chosen.alone, chosen.min_population) == (("county",), ("r2",), 290)
    window.run_commands.run()
    qtbot.waitUntil(lambda: bool(window.state.entries) and not window.worker.busy)
    window.show_tab("Regions")
    view = window.findChild(RegionsPanel)
    qtbot.waitUntil(lambda: view.table_model.shown is not None)
    (unmet,) = view.table_model.shown.solution.diagnostics[CONSTRAINT_DIAGNOSTICS]["unmet"]
    assert (unmet["at_least"], unmet["has"]) == (290, 70)
    names = [figure.name for figure in view.table_model.shown.figures]
    assert {"population", "unmet"} <= set(names)
    region = view.table_model.shown.geometry.codes.index(unmet["region"])
    view.why.show_region(view.table_model.shown, region)
    assert view.why.unmet.text() == f"{unmet['region']} has 70 inhabitants instead of at least 290."
    view.why.show_region(
        view.table_model.shown, (region + 1) % len(view.table_model.shown.geometry.codes)
    )
    assert not view.why.unmet.isVisibleTo(view.why)


def test_limits_are_taken_back_and_kept_in_a_project(window, tmp_path, qtbot):
    tick(window.input.approaches.constraints.form.editors["within"])
    window.input.approaches.constraints.form.editors["min_records"].setValue(50)
    window.state.undo()
    assert (window.state.choices.within, window.state.choices.min_records) == (("county",), 0)
    window.projects.save_to(tmp_path / "mine.vbas")
    qtbot.waitUntil(lambda: (tmp_path / "mine.vbas").exists() and not window.worker.busy)
    kept = json.loads((tmp_path / "mine.vbas").read_text(encoding="utf-8"))
    assert kept["choices"]["within"] == ["county"]


@pytest.mark.parametrize("text", ["@nowhere.txt", "r1,,r2"])
def test_ids_that_cannot_be_read_are_told_at_the_field(window, text, qtbot):
    section = window.input.approaches.constraints
    section.form.editors["alone"].setFocus()
    section.form.editors["alone"].setText(text)
    qtbot.keyClick(section.form.editors["alone"], Qt.Key.Key_Return)
    assert (
        section.form.fields["alone"]
        .message.text()
        .endswith(" The last valid entry stays in force: none.")
    )
    assert window.state.choices.alone == ()


def test_what_the_region_file_lacks_is_told_and_stops_the_run(window):
    window.state.change_fields(within=("shire",))
    assert "no column “shire”" in window.input.approaches.constraints.words.text()
    assert "no column “shire”" in window.input.reason.text()
    assert not window.input.run.isEnabled()
    tick(window.input.approaches.constraints.form.editors["within"])
    assert window.state.choices.within == ()
    assert window.input.run.isEnabled()


def test_places_of_tiers_are_ticked_in_a_list_of_the_region_file(window):
    state = window.state
    state.change(state.choices.with_approach("tiers", "columns"))
    field = window.input.approaches.choices["tiers"].form.fields["columns"].widget
    assert field.isReadOnly()
    assert field.offered == ("county",)
    field.open_list()
    field.menu.actions()[0].trigger()
    field.menu.close()
    assert state.choices.values_of("tiers", "columns")["columns"] == "county"
