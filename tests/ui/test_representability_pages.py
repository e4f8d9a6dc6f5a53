"""The page Representability."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from release_making import random_rows, write_records, write_regions

from vbas_desktop.analysis.outliers.treatments import (
    DeleteOutliers,
    FabricateRecords,
    GeneraliseOutliers,
)
from vbas_desktop.analysis.representability.report import RepresentabilityOptions
from vbas_desktop.app.representability import Generalisation, RepresentabilityRequest
from vbas_desktop.cli.main import main
from vbas_desktop.model.progress import NO_PROGRESS
from vbas_desktop.settings.codecs import parse_names
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.state.representing import compare_files
from vbas_desktop.ui.widgets.column_picker import ColumnPicker

DATA = Path(__file__).parents[1] / "data" / "parv"
LEVELS = Path(__file__).parents[2] / "docs" / "examples" / "household" / "levels"


def page(window, title):
    window.state.show_research(True)
    return window.area.show_page(next(page for page in PAGES if page.title == title))


def jaccard(entry):
    return entry.solution.representability["jaccard"]


def test_indices_are_shown_only_for_research(aggregated_window, qtbot):
    shown = aggregated_window.area.show_page(
        next(page for page in PAGES if page.title == "Representability")
    )

    def measures():
        return {gauge.shown.name for gauge in shown.main.gauges}

    def offered():
        return [shown.coloured_by.itemText(row) for row in range(shown.coloured_by.count())]

    assert measures() == {"precision", "jaccard", "mean_distance", "sample_size_ratio"}
    assert offered() == ["Kept together (Jaccard)", "Distance moved"]
    qtbot.waitUntil(lambda: shown.main.model.rowCount() > 0)
    assert not {"Fowlkes–Mallows", "Davies–Bouldin"} & set(shown.main.described.headings)
    aggregated_window.state.show_research(True)
    assert {"rand", "hubert", "fowlkes_mallows", "davies_bouldin", "entropy_loss"} <= measures()
    assert len(offered()) == 4
    assert {"Fowlkes–Mallows", "Davies–Bouldin"} <= set(shown.main.described.headings)


def test_without_a_solution_buttons_lead_to_one(window, data, qtbot):
    shown = page(window, "Representability")
    assert [each.text().replace("&", "") for each in shown.nothing.buttons] == [
        "Open data…",
        "Try the sample data",
        "Compare two files",
    ]
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.data_commands.load(*data)
    page(window, "Representability")
    assert shown.nothing.label.text().startswith("There is no solution to show yet.")
    with qtbot.waitSignal(window.model.run_finished, timeout=60_000):
        shown.nothing.button("Run").click()
    assert window.area.page is None, "a run shows the map"
    window.state.select(None)
    page(window, "Representability")
    shown.nothing.button("Go to Results").click()
    assert window.tab("Results").isVisible()
    page(window, "Representability")
    shown.nothing.button("Compare two files").click()
    assert shown.panel.isVisible()
    assert not shown.nothing.isVisible()


def test_the_button_that_compares_two_files_is_in_sight_in_a_small_window(window, qtbot):
    window.resize(1024, 736)
    shown = page(window, "Representability")
    shown.source.setCurrentText("Two files")
    qtbot.waitUntil(lambda: not shown.panel.compare.visibleRegion().isEmpty())
    shown.panel.compare.click()
    assert shown.panel.message.text() == "Choose two files, the key and the quasi-identifiers."
    assert not shown.panel.message.visibleRegion().isEmpty()


def test_the_page_shows_the_chosen_solution_and_another_one_beside_it(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    state = aggregated_window.state
    entry = state.selected
    gauges = {gauge.shown.name: gauge.shown for gauge in shown.main.gauges}
    assert gauges["precision"].title == "Detail kept", "beside precision loss, which is something else"
    assert gauges["jaccard"].share == jaccard(entry)
    read = f"Of 100 pairs of records that are alike before or after, {100 * jaccard(entry):.0f} are alike both times."
    told = {gauge.shown.name: gauge.reading for gauge in shown.main.gauges}
    assert told["jaccard"].text() == read
    assert all(told[name].isVisibleTo(shown) for name in ("jaccard", "rand", "fowlkes_mallows"))
    assert "close to 1 whatever is merged" in told["rand"].text()
    assert gauges["mean_distance"].text.endswith("unit")
    assert gauges["hubert"].text == f"{entry.solution.representability['hubert']:.4f}"
    assert gauges["entropy_loss"].text == f"{entry.solution.representability['entropy_loss']:.4f}"
    qtbot.waitUntil(lambda: shown.main.model.rowCount() == entry.solution.aggregated_regions)
    headings, rows = shown.main.described.headings, shown.main.described.rows
    parts = [row[headings.index("Davies–Bouldin")] for row in rows]
    known = [part for part in parts if part == part]
    assert sum(known) / len(known) == pytest.approx(entry.solution.representability["davies_bouldin"])
    assert not shown.second.isVisible()
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    other = state.entry(shown.beside.currentData())
    assert shown.second.isVisible()
    assert {gauge.shown.name: gauge.shown.share for gauge in shown.second.gauges}["jaccard"] == jaccard(
        other
    )
    assert state.compared is None


def test_the_map_has_the_height_of_the_page_where_there_is_room(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    version = shown.main
    qtbot.waitUntil(lambda: version.map.isVisible(), timeout=60_000)
    assert version.body.orientation() is Qt.Orientation.Horizontal
    assert version.map.height() == version.body.height()
    assert version.map.width() > 0.4 * version.body.width()
    aggregated_window.resize(1024, 768)
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    qtbot.waitUntil(lambda: version.body.orientation() is Qt.Orientation.Vertical)


@pytest.fixture
def two_versions(aggregated_window, qtbot):
    """The page with the chosen solution and another one beside it, both prepared."""
    shown = page(aggregated_window, "Representability")
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    qtbot.waitUntil(
        lambda: shown.main.map.shown is not None and shown.second.map.shown is not None, timeout=60_000
    )
    return shown


def test_both_versions_have_their_regions_in_a_table_and_on_a_map(
    two_versions, aggregated_window, qtbot
):
    state = aggregated_window.state
    for version, entry in (
        (two_versions.main, state.selected),
        (two_versions.second, state.entry(two_versions.beside.currentData())),
    ):
        assert version.model.rowCount() == entry.solution.aggregated_regions
        assert version.map.isVisible()
        assert version.map.shown.solution.owner is entry.solution.owner
        assert version.map.canvas.figure.name == "jaccard"
    left, right = two_versions.main.map.canvas, two_versions.second.map.canvas
    # One scale: a colour means the same on both maps.
    assert left.figure.scale is right.figure.scale
    assert left.figure.scale.size == left.figure.values.size + right.figure.values.size
    two_versions.coloured_by.setCurrentIndex(2)
    assert left.figure.title == right.figure.title == "Distance moved (unit)"
    left.zoom_in()
    assert right.view_rect.center() == left.view_rect.center()
    # The maps differ by a pixel or two in size.
    assert right.view_rect.height() == pytest.approx(left.view_rect.height(), rel=0.01)


def test_the_legend_has_room_for_all_its_lines(two_versions, aggregated_window, qtbot):
    for size in ((1440, 900), (1024, 700)):
        aggregated_window.resize(*size)
        qtbot.waitUntil(lambda: two_versions.legend.isVisible())
        needed = two_versions.legend.heightForWidth(two_versions.legend.width())
        assert two_versions.legend.height() >= needed > 0


def test_hovering_tells_the_measures_of_the_place_on_both_maps(two_versions):
    versions = (two_versions.main, two_versions.second)
    place = two_versions.main.map.shown.geometry.shapes[0].representative_point()
    two_versions.main.map.canvas.region_hovered.emit(0, None, place.x, place.y)
    for version in versions:
        for words in ("Kept together (Jaccard): ", "Fowlkes–Mallows: ", "Distance moved (unit): "):
            assert words in version.map.canvas.hover_card.text()
    two_versions.second.map.canvas.pointer_left.emit()
    assert not any(version.map.canvas.hover_card.isVisible() for version in versions)


def test_a_row_is_outlined_on_its_map_and_a_click_finds_the_row(two_versions):
    version = two_versions.second
    version.table.selectRow(2)
    row = version.model.number_at(2)
    assert version.map.canvas.chosen == row
    version.map.canvas.region_clicked.emit(1)
    (index,) = version.table.selectionModel().selectedRows()
    assert version.model.number_at(index.row()) == 1
    version.map.canvas.region_clicked.emit(None)
    assert version.map.canvas.chosen is None


def test_the_large_map_shows_both_in_the_chosen_colours(two_versions, aggregated_window, qtbot):
    state, area = aggregated_window.state, aggregated_window.area
    two_versions.coloured_by.setCurrentIndex(1)
    qtbot.mouseClick(two_versions.large, Qt.MouseButton.LeftButton)
    assert state.coloured_by == "fowlkes_mallows"
    assert state.compared.number == two_versions.beside.currentData()
    assert area.map.isVisible()
    assert area.map.comparing
    qtbot.waitUntil(lambda: area.map.comparison.right.figure is not None, timeout=60_000)
    assert area.map.comparison.right.figure.scale is area.map.comparison.left.figure.scale


def test_one_version_alone_goes_to_the_large_map_too(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    qtbot.waitUntil(shown.large.isEnabled)
    shown.coloured_by.setCurrentIndex(2)
    qtbot.mouseClick(shown.large, Qt.MouseButton.LeftButton)
    assert aggregated_window.state.coloured_by == "place_distance"
    assert not aggregated_window.area.map.comparing
    assert aggregated_window.area.map.bar.colouring.currentText() == "Distance moved (unit)"


def fill(panel, anonymised):
    panel.original.show_file(DATA / "C2.csv")
    panel.anonymised.show_file(DATA / anonymised)
    panel.key.setText("Key")
    panel.columns.setText("Hh, Job")
    panel.k.setValue(3)


def test_two_files_are_compared_in_the_background(window, qtbot):
    shown = page(window, "Representability")
    assert shown.layers.empty.isVisible()
    shown.source.setCurrentIndex(1)
    assert shown.layers.empty.label.text().startswith(
        "Choose the original and the anonymised file at the left"
    )
    for name in ("C6.csv", "C5.csv"):
        fill(shown.panel, name)
        with qtbot.waitSignal(window.worker.job_ended):
            qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    texts = {gauge.shown.name: gauge.shown.text for gauge in shown.main.gauges}
    # 56 of 65 pairs: the five deleted records are one class.
    assert texts["jaccard"] == "0.8615"
    assert texts["precision"] == texts["sample_size_ratio"] == "0.8750"
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    assert {gauge.shown.name: gauge.shown.text for gauge in shown.second.gauges}["jaccard"] == "0.7368"


def test_sensitive_values_stand_beside_the_classes_of_two_files(window, qtbot):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C7.csv")
    shown.panel.sensitive.setText("Value, Illness")
    with qtbot.waitSignal(window.worker.job_ended):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    described = shown.main.described
    assert described.headings[-5:] == (
        "Value (mean)",
        "Value (median)",
        "Value (mode)",
        "Value (standard deviation)",
        "Illness (shares)",
    )
    rows = {row[:2]: row[-5:] for row in described.rows}
    assert rows["1-5", "Self"] == (39.0, 39.5, 42.0, pytest.approx(3.0984, abs=1e-4), "Yes 100.0 %")
    assert rows["1-5", "Employee"][-1] == "Yes 90.9 %; No 9.1 %"


def compared(window, qtbot, name, **texts):
    """Compare C2 with another file on the page; texts are those of fields of the panel."""
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, name)
    shown.panel.hierarchies.show_file(LEVELS)
    for field, text in texts.items():
        getattr(shown.panel, field).setText(text)
    with qtbot.waitSignal(window.worker.job_ended):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    return shown.main


def test_the_figures_of_the_worked_examples_are_shown(window, qtbot):
    found = {}
    for name in ("C3.csv", "C4.csv", "C5.csv"):
        view = compared(window, qtbot, name)
        found[name] = {gauge.shown.name: gauge.shown.text for gauge in view.gauges}
    assert {name: texts["precision"] for name, texts in found.items()} == {
        "C3.csv": "0.8375",
        "C4.csv": "0.7219",
        "C5.csv": "0.8750",
    }
    assert (found["C3.csv"]["hubert"], found["C3.csv"]["entropy_loss"]) == ("0.5096", "0.3907")
    # One worst case for all: they come in the order of the index.
    normalised = [float(found[name]["davies_bouldin_normalised"]) for name in ("C3.csv", "C4.csv")]
    assert normalised == sorted(normalised)
    cards = dict(view.described.cards)
    assert cards["What was done"] == ("Deleted: in the original only: 5 records",)


def test_made_up_records_are_shown(window, qtbot, tmp_path):
    filled = tmp_path / "filled.csv"
    usual = ["--quasi-identifiers", "Hh,Job", "-k", "3", "--quiet", "--key", "Key"]
    assert (
        main(["outliers", str(DATA / "C2.csv"), *usual, "--handle", "fabricate", "--out", str(filled)])
        == 0
    )
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.anonymised.show_file(filled)
    with qtbot.waitSignal(window.worker.job_ended):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    texts = {gauge.shown.name: gauge.shown.text for gauge in shown.main.gauges}
    assert texts["sample_size_ratio"] == "1.1750"
    assert dict(shown.main.described.cards)["What was done"] == (
        "Fabricated: in the released file only: 7 records",
    )


def test_aggregated_values_are_described_by_the_original_ones(window, qtbot):
    # Table 6.9 of the source, rounded.
    view = compared(window, qtbot, "C7.csv", sensitive="Value")
    model = view.model
    headings = view.described.headings
    columns = [headings.index(f"Value ({word})") for word in ("mean", "standard deviation")]
    texts = {
        (model.index(row, 0).data(), model.index(row, 1).data()): [
            model.index(row, column).data() for column in columns
        ]
        for row in range(model.rowCount())
    }
    assert texts["1-5", "Retired"] == ["40.17", "5.67"]
    assert texts["1-5", "Self"] == ["39", "3.10"]
    assert texts["6-10", "***"] == ["44", "6.56"]


def test_aims_reasons_own_words_and_orders_are_fields_of_the_panel(window, qtbot):
    view = compared(
        window,
        qtbot,
        "C3.csv",
        aims="Job=state of work",
        reasons="Job=possible confounder",
        meanings='"Hh=people in the household, children too"',
        ordinal="Job=Retired/House/Employee/Self",
    )
    cards = dict(view.described.cards)
    assert cards["Quasi-identifiers"] == (
        "Hh: discrete number, 2 to 5",
        "Job: ordinal category, 4 categories; collected for state of work; because possible confounder",
    )
    hh, job = cards["Meaning of the values"]
    assert hh.endswith("compared by range. people in the household, children too")
    assert job.endswith("compared by rank")
    assert not view.described.vector["weights"]["levels_normalised"]
    panel = page(window, "Representability").panel
    panel.normalise_levels.setChecked(True)
    assert panel.build_request().generalisation.normalise_levels


def test_small_classes_are_handled_and_the_new_file_is_compared(window, qtbot, tmp_path):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.outliers.how.setCurrentIndex(3)
    with qtbot.waitSignal(window.worker.job_ended):
        shown.panel.outliers._on_target(str(tmp_path / "filled.csv"))
    assert shown.panel.anonymised.path == tmp_path / "filled.csv"
    with qtbot.waitSignal(window.worker.job_ended):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    assert dict(shown.main.described.cards)["What was done"] == (
        "Fabricated: in the released file only: 7 records",
    )


def test_the_box_writes_as_the_command_does(window, qtbot, tmp_path):
    """Identifiers, seed, formulas and how the file is read: the same bytes from the window and from `vbas`."""
    records = tmp_path / "records.csv"
    lines = [f"p{i}|=1+{i % 3}|{'MF'[i % 2]}" for i in range(30)] + ["q|@lonely|M"]
    records.write_bytes("\n".join(["name|cell|sex", "31|4|2", *lines, ""]).encode("utf-16"))
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    panel, box = shown.panel, shown.panel.outliers
    panel.original.show_file(records)
    panel.columns.setText("cell, sex")
    box.how.setCurrentIndex(box.how.findData("delete"))
    box.writing.editors["identifiers"].setText("name")
    box.writing.editors["shuffle_seed"].setText("mine")
    box.writing.editors["escape_formulas"].click()
    for name, value in {"delimiter": "|", "encoding": "utf-16", "category_counts": "yes"}.items():
        choose(panel.reading.fields[name], value)
    with qtbot.waitSignal(window.worker.job_ended):
        box._on_target(str(tmp_path / "window.csv"))
    command = (
        "outliers {file} --quasi-identifiers cell,sex -k 5 --identifiers name --shuffle-seed mine --escape-formulas "
        "--delimiter | --encoding utf-16 --category-counts yes --quiet --out {out}"
    )
    words = [word.format(file=records, out=tmp_path / "command.csv") for word in command.split()]
    assert main(words) == 0
    written = (tmp_path / "window.csv").read_text()
    assert written == (tmp_path / "command.csv").read_text()
    header, *rows = written.splitlines()
    assert header == "cell|sex"
    assert len(rows) == 30
    assert {row.split("|")[0] for row in rows} == {"'=1+0", "'=1+1", "'=1+2"}


def test_the_panel_of_two_files_is_not_wider_than_its_room(window, qtbot):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    window.resize(1024, 680)
    qtbot.wait(1)
    assert shown.panel.horizontalScrollBar().maximum() == 0


def test_the_ways_to_handle_small_classes_show_their_parameters(window, qtbot):
    box = page(window, "Representability").panel.outliers
    box.how.setCurrentIndex(box.how.findData("delete"))
    sample = box.fields["smallest_sample"]
    for text in ("30", "many"):
        sample.widget.clear()
        qtbot.keyClicks(sample.widget, text)
    assert sample.message.text().endswith(" stays in force: 30.")
    assert box.handling() == DeleteOutliers(smallest_sample=30)
    box.how.setCurrentIndex(box.how.findData("generalise"))
    box.fields["everywhere"].widget.click()
    assert box.handling() == GeneraliseOutliers(everywhere=True)
    assert box.population.isHidden()
    box.how.setCurrentIndex(box.how.findData("fabricate"))
    assert not box.population.isHidden()
    assert box.population.name.text() == "the whole original"
    assert box.handling() == FabricateRecords()


def test_sensitive_values_of_made_up_records_come_from_the_chosen_population(window, qtbot, tmp_path):
    (tmp_path / "people.csv").write_text("Value\n" + "17\n" * 5)
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.sensitive.setText("Value")
    box = shown.panel.outliers
    box.how.setCurrentIndex(box.how.findData("fabricate"))
    box.population.chosen.emit(tmp_path / "people.csv")
    with qtbot.waitSignal(window.worker.job_ended):
        box._on_target(str(tmp_path / "filled.csv"))
    values = [line.split(",")[-1] for line in (tmp_path / "filled.csv").read_text().splitlines()[1:]]
    assert len(values) == 47
    assert values.count("17") == 7


def choose(field, value):
    """Choose a value of a list as a click does."""
    field.widget.setCurrentIndex(field.widget.findData(value))
    field.widget.activated.emit(field.widget.currentIndex())


def written_by_both(window, qtbot, tmp_path, *options):
    """Write by the box and by the command; the same bytes."""
    box = page(window, "Representability").panel.outliers
    box.writing.editors["shuffle_seed"].setText("mine")
    with qtbot.waitSignal(window.worker.job_ended):
        box._on_target(str(tmp_path / "window.csv"))
    command = [
        "outliers",
        str(DATA / "C2.csv"),
        "--quasi-identifiers",
        "Hh,Job",
        "-k",
        "3",
        "--key",
        "Key",
        "--quiet",
    ]
    more = [
        "--shuffle-seed",
        "mine",
        "--out",
        str(tmp_path / "command.csv"),
        "--replace",
        *map(str, options),
    ]
    assert main([*command, *more]) == 0
    written = (tmp_path / "window.csv").read_text()
    assert written == (tmp_path / "command.csv").read_text()
    return written.splitlines()[1:]


def test_the_first_step_and_the_filling_are_those_of_the_command(window, qtbot, tmp_path):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.sensitive.setText("Value")
    box = shown.panel.outliers
    choose(box.mode, "surjective")
    box.start_levels.setText("Hh=1")
    levels = DATA.parents[2] / "docs" / "examples" / "household" / "levels"
    shown.panel.hierarchies.show_file(levels)
    options = ("--hierarchies", levels, "--start-level", "Hh=1")
    rows = written_by_both(window, qtbot, tmp_path, *options)
    assert {row.split(",")[1] for row in rows} == {"1-5"}
    assert len(rows) == 37
    choose(box.mode, "non-surjective")
    box.start_levels.clear()
    choose(box.method, "median")
    options = ("--first-step", "non-surjective", "--sensitive", "Value", "--fill", "median")
    assert len(written_by_both(window, qtbot, tmp_path, *options)) == 38
    box.values.setText("Value=17")
    options = (
        "--first-step",
        "non-surjective",
        "--sensitive",
        "Value",
        "--fill",
        "median",
        "--fill-value",
        "Value=17",
    )
    assert sum(row.endswith(",17") for row in written_by_both(window, qtbot, tmp_path, *options)) == 1
    choose(box.mode, "partial")
    assert len(written_by_both(window, qtbot, tmp_path, "--first-step", "partial")) == 35


def test_filters_keys_and_aggregation_are_those_of_the_command(window, qtbot, tmp_path):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    keep, drop = tmp_path / "keep.csv", tmp_path / "drop.csv"
    keep.write_text("Job\nSelf\nHouse\nEmployee\n")
    drop.write_text("Hh,Job\n5,House\n")
    box = shown.panel.outliers
    assert box.keep_records.name.text() == "all records"
    box.keep_records.chosen.emit(keep)
    box.drop_records.chosen.emit(drop)
    editors = box.columns.editors
    assert not editors["aggregate_classes"].isEnabled()
    editors["record_key"].box.click()
    editors["record_key"].text.setText("pseudonym")
    editors["aggregate"].setText("Value, Illness")
    assert editors["aggregate_classes"].isEnabled()
    classes = editors["aggregate_classes"]
    classes.setCurrentIndex(classes.findData("all"))
    classes.activated.emit(classes.currentIndex())
    options = ["--keep-records", keep, "--drop-records", drop, "--record-key", "pseudonym"]
    options += ["--aggregate", "Value,Illness", "--aggregate-classes", "all"]
    rows = written_by_both(window, qtbot, tmp_path, *options)
    assert 0 < len(rows) < 35
    assert {row.split(",")[2] for row in rows} == {"Self", "House", "Employee"}
    assert not any(row.split(",")[1:3] == ["5", "House"] for row in rows)
    assert len({row.split(",")[-1] for row in rows}) == len(rows)
    for beside in ("index", "class_counts"):
        assert (tmp_path / f"window.{beside}.csv").read_bytes() == (
            tmp_path / f"command.{beside}.csv"
        ).read_bytes()


def test_a_column_of_keys_without_a_name_is_said_beside_the_form(window, tmp_path):
    panel = page(window, "Representability").panel
    fill(panel, "C6.csv")
    key = panel.outliers.columns.editors["record_key"]
    key.box.click()
    key.text.clear()
    panel.outliers._on_target(str(tmp_path / "out.csv"))
    assert "has no name" in panel.outliers.problem.text()
    assert not window.worker.busy
    assert list(tmp_path.iterdir()) == []


def test_fields_without_effect_are_hidden_and_reasons_shown(window):
    box = page(window, "Representability").panel.outliers
    box.how.setCurrentIndex(box.how.findData("generalise"))
    assert "• There are many small classes." in box.summary.text()
    assert not box.fields["with_closest"].isHidden()
    box.fields["everywhere"].widget.click()
    assert box.fields["with_closest"].isHidden()
    assert box.step_size.isHidden()
    assert box.method.isHidden()
    choose(box.mode, "non-surjective")
    assert box.first_summary.text() == "Classes that lack few records get made-up ones."
    assert not box.step_size.isHidden()
    assert not box.method.isHidden()
    assert not box.population.isHidden()
    choose(box.mode, "bijective")
    assert box.population.isHidden()


@pytest.mark.parametrize(
    ("mode", "levels", "said"),
    [("surjective", "", "no column has a start level"), ("partial", "Hh", "“Hh” is not understood")],
)
def test_a_first_step_that_is_not_complete_is_said_beside_the_form(window, tmp_path, mode, levels, said):
    panel = page(window, "Representability").panel
    fill(panel, "C6.csv")
    choose(panel.outliers.mode, mode)
    panel.outliers.start_levels.setText(levels)
    panel.outliers._on_target(str(tmp_path / "out.csv"))
    assert said in panel.outliers.problem.text()
    assert not window.worker.busy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("columns", "", "Choose two files"),
        ("weights", "Hh=0.5, Job=0.6", "add up to 1.1"),
        ("weights", "Hh", "“Hh” is not understood"),
        ("reasons", "Value", "“Value” is not understood"),
    ],
)
def test_what_is_missing_or_wrong_is_said_beside_the_form(window, qtbot, field, text, said):
    panel = page(window, "Representability").panel
    fill(panel, "C6.csv")
    getattr(panel, field).setText(text)
    panel.compare.click()
    assert said in panel.message.text()
    assert not window.worker.busy


def test_tables_of_distances_a_worst_case_and_reasons_are_used(window, qtbot, tmp_path):
    jobs = ["Self", "Employee", "House", "Retired"]
    lines = [f"{one};" + ";".join("0" if one == other else "1" for other in jobs) for one in jobs]
    (tmp_path / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.original.show_file(DATA / "C1.csv")
    shown.panel.distances.show_file(tmp_path)
    shown.panel.worst.show_file(DATA / "C4.csv")
    shown.panel.reasons.setText("Age=confidential")
    with qtbot.waitSignal(window.worker.job_ended):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    vector = shown.main.described.vector
    assert vector["coding"]["Job"]["distance"] == "given table"
    assert vector["overall"]["davies_bouldin_worst"] > 0
    assert vector["excluded_attributes"]["Age"] == "confidential"
    assert "davies_bouldin_normalised" in {gauge.shown.name for gauge in shown.main.gauges}
    shown.panel.distances.clear.click()
    assert shown.panel.build_request().generalisation.distances is None


def test_the_places_of_a_crosswalk_are_levels_of_the_region_column(window, qtbot, tmp_path, capsys):
    files = [str(write_records(tmp_path, random_rows(400, seed=3))), str(write_regions(tmp_path))]
    chosen = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "-k",
        "5",
        "--tiers",
        "auto",
        "--quiet",
    ]
    made = ["--sites", "16", "--range-reach", "0", "--no-pdf", "--allow-column", "name,note", "--out"]
    assert main(["run", *files, *chosen, *made, str(tmp_path / "out")]) == 0
    release = tmp_path / "out" / "release"
    compared = [
        files[0],
        str(release / "anonymized.csv"),
        "--key",
        "name",
        "--quasi-identifiers",
        "region,age,sex",
    ]
    places = ["--crosswalk", str(release / "crosswalk.csv"), "--region-column", "region"]
    capsys.readouterr()
    assert main(["representability", *compared, *places, "-k", "5", "--quiet", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["overall"]
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    panel = shown.panel
    panel.original.show_file(Path(files[0]))
    panel.anonymised.show_file(release / "anonymized.csv")
    panel.key.setText("name")
    panel.columns.setText("region, age, sex")
    panel.crosswalk.show_file(release / "crosswalk.csv")
    qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    assert "go together" in panel.message.text()
    assert not window.worker.busy
    panel.region.setText("region")
    with qtbot.waitSignal(window.worker.job_ended):
        qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    assert shown.main.described.vector["overall"] == expected


def test_a_name_with_a_comma_is_chosen_in_quotes(qtbot):
    edit = ColumnPicker()
    qtbot.addWidget(edit)
    edit.offer(["County, or city", "Land"])
    for name in ("County, or city", "Land"):
        edit.open_list()
        next(action for action in edit.menu.actions() if action.data() == name).trigger()
    assert edit.text() == '"County, or city", Land'
    assert edit.chosen() == ["County, or city", "Land"]
    assert parse_names(edit.text()) == ("County, or city", "Land")
    edit.open_list()
    edit.menu.actions()[0].trigger()
    assert edit.text() == "Land"
    edit.menu.close()


def test_hierarchies_with_weighted_levels_are_used(tmp_path):
    (tmp_path / "Job.csv").write_text(
        "Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n"
    )
    choices = RepresentabilityOptions(3, "Key", ("Hh", "Job"))
    files = (DATA / "C2.csv", DATA / "C4.csv")
    plain = compare_files(
        RepresentabilityRequest(*files, choices, Generalisation(tmp_path)), NO_PROGRESS
    )
    generalisation = Generalisation(tmp_path, {"Job": (0.1, 0.9)})
    weighted = compare_files(RepresentabilityRequest(*files, choices, generalisation), NO_PROGRESS)
    assert plain.measures[0].name == weighted.measures[0].name == "precision"
    assert plain.measures[0].share != weighted.measures[0].share
