"""Limits in the window: chosen in Input, kept in the project, told of the regions that do not meet them."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from vbas_desktop.engine.limits import TOLD
from vbas_desktop.ui.panel.regions_tab import RegionsTab

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
    window.controller.load(*files)
    qtbot.waitUntil(lambda: window.session.has_data and not window.runner.busy)
    window.show_tab("Input")
    window.input.limits.unfold.click()
    return window


def test_the_columns_of_the_region_file_are_offered(window):
    section = window.input.limits
    assert [action.data() for action in section.within.menu().actions()] == ["county"]
    assert [section.columns["population_column"].itemData(i) for i in range(2)] == [None, "people"]
    assert not section.numbers["min_population"].isEnabled()
    assert not section.words.isVisibleTo(section)


def test_both_ways_to_stay_alone_stand_in_one_row(window):
    limits = window.input.limits
    limits.unfold.setChecked(True)
    QApplication.processEvents()
    assert limits.fields["alone"].y() == limits.fields["alone_column"].y()
    assert limits.fields["min_population"].y() == limits.fields["max_population"].y()


def test_limits_are_chosen_run_and_told_of_the_region(window, qtbot):
    section = window.input.limits
    section.within.menu().actions()[0].trigger()
    combo = section.columns["population_column"]
    combo.setCurrentIndex(combo.findData("people"))
    combo.activated.emit(combo.currentIndex())
    section.numbers["min_population"].setValue(290)
    section.alone.setText("r2")
    section.alone.editingFinished.emit()
    assert section.words.text() == "Never across county; 1 region stays alone; at least 290 inhabitants"
    chosen = window.session.choices
    assert (chosen.within, chosen.alone, chosen.min_population) == (("county",), ("r2",), 290)
    window.controller.run()
    qtbot.waitUntil(lambda: bool(window.session.entries) and not window.runner.busy)
    window.show_tab("Regions")
    view = window.findChild(RegionsTab)
    qtbot.waitUntil(lambda: view.table_model.shown is not None)
    (unmet,) = view.table_model.shown.solution.told[TOLD]["unmet"]
    assert (unmet["at_least"], unmet["has"]) == (290, 70)
    names = [figure.name for figure in view.table_model.shown.figures]
    assert {"population", "unmet"} <= set(names)
    region = view.table_model.shown.geometry.codes.index(unmet["region"])
    view.why.show_region(view.table_model.shown, region)
    assert view.why.unmet.text() == f"{unmet['region']} has 70 inhabitants instead of at least 290."
    view.why.show_region(view.table_model.shown, (region + 1) % len(view.table_model.shown.geometry.codes))
    assert not view.why.unmet.isVisibleTo(view.why)


def test_limits_are_taken_back_and_kept_in_a_project(window, tmp_path, qtbot):
    window.input.limits.within.menu().actions()[0].trigger()
    window.input.limits.numbers["min_records"].setValue(50)
    window.session.undo()
    assert (window.session.choices.within, window.session.choices.min_records) == (("county",), 0)
    window.projects.save_to(tmp_path / "mine.vbas")
    qtbot.waitUntil(lambda: (tmp_path / "mine.vbas").exists() and not window.runner.busy)
    kept = json.loads((tmp_path / "mine.vbas").read_text(encoding="utf-8"))
    assert kept["choices"]["within"] == ["county"]


@pytest.mark.parametrize("text", ["@nowhere.txt", "r1,,r2"])
def test_ids_that_cannot_be_read_are_told_at_the_field(window, text, qtbot):
    section = window.input.limits
    section.alone.setFocus()
    section.alone.setText(text)
    qtbot.keyClick(section.alone, Qt.Key.Key_Return)
    assert section.fields["alone"].message.text().endswith(" The last valid entry stays in force: none.")
    assert window.session.choices.alone == ()


def test_what_the_region_file_lacks_is_told_and_stops_the_run(window):
    window.session.change_fields(within=("shire",))
    assert "no column “shire”" in window.input.limits.words.text()
    assert "no column “shire”" in window.input.reason.text()
    assert not window.input.run.isEnabled()
    window.input.limits.within.menu().actions()[-1].trigger()
    assert window.session.choices.within == ()
    assert window.input.run.isEnabled()


def test_places_of_tiers_are_ticked_in_a_list_of_the_region_file(window):
    session = window.session
    session.change(session.choices.with_approach("tiers", "columns"))
    field = window.input.approaches.choices["tiers"].form.fields["columns"].widget
    assert field.isReadOnly()
    assert field.offered == ("county",)
    field.open_list()
    field.menu.actions()[0].trigger()
    field.menu.close()
    assert session.choices.values_of("tiers", "columns")["columns"] == "county"
