"""The pages Representability, Requirements and Policy, and what they do to the results."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from release_making import random_rows, write_records, write_regions

from vbas_desktop.assessment.representability.handling import Delete, Fabricate, Generalise
from vbas_desktop.assessment.representability.requirement import Requirement, read_requirement
from vbas_desktop.assessment.representability.vector import Choices
from vbas_desktop.cli.main import main
from vbas_desktop.jobs.any_file import Coding, PairJob
from vbas_desktop.release import ReleaseOptions
from vbas_desktop.release.plan import make_plan
from vbas_desktop.session.representing import PairOrder
from vbas_desktop.session.requirement_form import names_of
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.widgets.names_edit import NamesEdit

DATA = Path(__file__).parents[1] / "data" / "parv"


def page(window, title):
    return window.area.show_page(next(page for page in PAGES if page.title == title))


def jaccard(entry):
    return entry.solution.representability["jaccard"]


def test_the_page_shows_the_chosen_solution_and_another_one_beside_it(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    session = aggregated_window.session
    entry = session.selected
    gauges = {gauge.shown.name: gauge.shown for gauge in shown.main.gauges}
    assert gauges["precision"].title == "Detail kept", "beside precision loss, which is something else"
    assert gauges["jaccard"].share == jaccard(entry)
    read = f"Of 100 pairs of records that are alike before or after, {100 * jaccard(entry):.0f} are alike both times."
    told = {gauge.shown.name: gauge.reading for gauge in shown.main.gauges}
    assert told["jaccard"].text() == read
    assert all(told[name].isVisibleTo(shown) for name in ("jaccard", "rand", "fowlkes_mallows"))
    assert "close to 1 whatever is merged" in told["rand"].text()
    assert gauges["mean_distance"].text.endswith("unit")
    qtbot.waitUntil(lambda: shown.main.model.rowCount() == entry.solution.aggregated_regions)
    assert not shown.second.isVisible()
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    other = session.entry(shown.beside.currentData())
    assert shown.second.isVisible()
    assert {gauge.shown.name: gauge.shown.share for gauge in shown.second.gauges}["jaccard"] == jaccard(other)
    assert session.compared is None


def test_the_map_has_the_height_of_the_page_where_there_is_room(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    version = shown.main
    qtbot.waitUntil(lambda: version.map.isVisible(), timeout=60_000)
    assert version.body.orientation() is Qt.Orientation.Horizontal
    assert version.map.height() == version.body.height()
    assert version.map.width() > 0.4 * version.body.width()
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    qtbot.waitUntil(lambda: version.body.orientation() is Qt.Orientation.Vertical)


@pytest.fixture
def two_versions(aggregated_window, qtbot):
    """The page with the chosen solution and another one beside it, both prepared."""
    shown = page(aggregated_window, "Representability")
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    qtbot.waitUntil(lambda: shown.main.map.shown is not None and shown.second.map.shown is not None, timeout=60_000)
    return shown


def test_both_versions_have_their_regions_in_a_table_and_on_a_map(two_versions, aggregated_window, qtbot):
    session = aggregated_window.session
    for version, entry in (
        (two_versions.main, session.selected),
        (two_versions.second, session.entry(two_versions.beside.currentData())),
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
    two_versions.main.map.hovered.emit(place.x, place.y)
    for version in versions:
        for words in ("Kept together (Jaccard): ", "Fowlkes–Mallows: ", "Distance moved (unit): "):
            assert words in version.map.card.text()
    two_versions.second.map.left.emit()
    assert not any(version.map.card.isVisible() for version in versions)


def test_a_row_is_outlined_on_its_map_and_a_click_finds_the_row(two_versions):
    version = two_versions.second
    version.table.selectRow(2)
    row = version.sorted.mapToSource(version.sorted.index(2, 0)).row()
    assert version.map.canvas.chosen == row
    version.map.canvas.region_clicked.emit(1)
    (index,) = version.table.selectionModel().selectedRows()
    assert version.sorted.mapToSource(index).row() == 1
    version.map.canvas.region_clicked.emit(None)
    assert version.map.canvas.chosen is None


def test_the_large_map_shows_both_in_the_chosen_colours(two_versions, aggregated_window, qtbot):
    session, area = aggregated_window.session, aggregated_window.area
    two_versions.coloured_by.setCurrentIndex(1)
    qtbot.mouseClick(two_versions.large, Qt.MouseButton.LeftButton)
    assert session.coloured_by == "fowlkes_mallows"
    assert session.compared.number == two_versions.beside.currentData()
    assert area.stack.currentWidget() is area.map
    assert area.map.comparing
    qtbot.waitUntil(lambda: area.map.comparison.right.figure is not None, timeout=60_000)
    assert area.map.comparison.right.figure.scale is area.map.comparison.left.figure.scale


def test_one_version_alone_goes_to_the_large_map_too(aggregated_window, qtbot):
    shown = page(aggregated_window, "Representability")
    qtbot.waitUntil(shown.large.isEnabled)
    shown.coloured_by.setCurrentIndex(2)
    qtbot.mouseClick(shown.large, Qt.MouseButton.LeftButton)
    assert aggregated_window.session.coloured_by == "place_distance"
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
    assert shown.empty.isVisible()
    shown.source.setCurrentIndex(1)
    assert shown.empty.label.text().startswith("Choose the original and the anonymised file at the left")
    for name in ("C6.csv", "C5.csv"):
        fill(shown.panel, name)
        with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
            qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    texts = {gauge.shown.name: gauge.shown.text for gauge in shown.main.gauges}
    assert texts["jaccard"] == "1.0000"
    assert texts["sample_size_ratio"] == "0.8750"
    shown.beside.setCurrentIndex(1)
    shown.beside.activated.emit(1)
    assert {gauge.shown.name: gauge.shown.text for gauge in shown.second.gauges}["jaccard"] == "0.7368"


def test_small_classes_are_handled_and_the_new_file_is_compared(window, qtbot, tmp_path):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.outliers.how.setCurrentIndex(3)
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        shown.panel.outliers._on_target(str(tmp_path / "filled.csv"))
    assert shown.panel.anonymised.path == tmp_path / "filled.csv"
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    assert dict(shown.main.described.cards)["What was done"] == ("Fabricated: in the released file only: 7 records",)


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
    box.writing.identifiers.setText("name")
    box.writing.seed.setText("mine")
    box.writing.formulas.setChecked(True)
    for name, value in {"delimiter": "|", "encoding": "utf-16", "category_counts": "yes"}.items():
        combo = panel.reading.combos[name]
        combo.setCurrentIndex(combo.findData(value))
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
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
    box.fields["smallest_sample"].widget.setText("many")
    assert box.handling() is None
    assert "Smallest sample" in box.problem.text()
    box.fields["smallest_sample"].widget.setText("30")
    assert box.handling() == Delete(30)
    box.how.setCurrentIndex(box.how.findData("generalise"))
    box.fields["everywhere"].widget.setChecked(True)
    assert box.handling() == Generalise(everywhere=True)
    box.how.setCurrentIndex(box.how.findData("fabricate"))
    box.fields["average_of"].widget.setCurrentIndex(1)
    assert box.handling() == Fabricate("file")


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
    assert not window.runner.busy


def test_tables_of_distances_a_worst_case_and_reasons_are_used(window, qtbot, tmp_path):
    jobs = ["Self", "Employee", "House", "Retired"]
    lines = [f"{one};" + ";".join("0" if one == other else "1" for other in jobs) for one in jobs]
    (tmp_path / "Job.csv").write_text("\n".join([";" + ";".join(jobs), *lines]) + "\n")
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    fill(shown.panel, "C6.csv")
    shown.panel.original.show_file(DATA / "C1.csv")
    shown.panel.distances.use(tmp_path)
    shown.panel.worst.show_file(DATA / "C4.csv")
    shown.panel.reasons.setText("Age=confidential")
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        qtbot.mouseClick(shown.panel.compare, Qt.MouseButton.LeftButton)
    vector = shown.main.described.vector
    assert vector["coding"]["Job"]["distance"] == "given table"
    assert vector["overall"]["davies_bouldin_worst"] > 0
    assert vector["excluded_attributes"]["Age"] == "confidential"
    assert "davies_bouldin_normalised" in {gauge.shown.name for gauge in shown.main.gauges}
    shown.panel.distances.clear.click()
    assert shown.panel.order().job.coding.distances is None


def test_the_places_of_a_crosswalk_are_levels_of_the_region_column(window, qtbot, tmp_path, capsys):
    files = [str(write_records(tmp_path, random_rows(400, seed=3))), str(write_regions(tmp_path))]
    chosen = ["--region-column", "region", "--quasi-identifiers", "age,sex", "-k", "5", "--tiers", "auto", "--quiet"]
    made = ["--sites", "16", "--range-reach", "0", "--no-pdf", "--allow-column", "name,note", "--out"]
    assert main(["run", *files, *chosen, *made, str(tmp_path / "out")]) == 0
    release = tmp_path / "out" / "release"
    compared = [files[0], str(release / "anonymized.csv"), "--key", "name", "--quasi-identifiers", "region,age,sex"]
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
    assert not window.runner.busy
    panel.region.setText("region")
    with qtbot.waitSignal(window.runner.job_ended, timeout=20_000):
        qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    assert shown.main.described.vector["overall"] == expected


def test_a_name_with_a_comma_is_chosen_in_quotes(qtbot):
    edit = NamesEdit()
    qtbot.addWidget(edit)
    edit.offer(["County, or city", "Land"])
    for name in ("County, or city", "Land"):
        edit.open_list()
        next(action for action in edit.menu.actions() if action.data() == name).trigger()
    assert edit.text() == '"County, or city", Land'
    assert edit.chosen() == ["County, or city", "Land"]
    assert names_of(edit.text()) == ("County, or city", "Land")
    edit.open_list()
    edit.menu.actions()[0].trigger()
    assert edit.text() == "Land"
    edit.menu.close()


def test_hierarchies_with_weighted_levels_are_used(tmp_path):
    (tmp_path / "Job.csv").write_text("Self;Works;*\nEmployee;Works;*\nHouse;Unemployed;*\nRetired;Unemployed;*\n")
    choices = Choices(3, "Key", ("Hh", "Job"))
    plain = PairOrder(PairJob(DATA / "C2.csv", DATA / "C4.csv", choices, Coding(tmp_path))).execute()
    coding = Coding(tmp_path, {"Job": (0.1, 0.9)})
    weighted = PairOrder(PairJob(DATA / "C2.csv", DATA / "C4.csv", choices, coding)).execute()
    assert plain.measures[0].name == weighted.measures[0].name == "precision"
    assert plain.measures[0].share != weighted.measures[0].share


def test_a_requirement_is_edited_checked_and_filters_the_results(aggregated_window, qtbot):
    session, shown = aggregated_window.session, page(aggregated_window, "Requirements")
    results = aggregated_window.tab("Results")
    assert "Nothing is required yet" in shown.verdict.text()
    assert not results.only_meeting.isVisibleTo(results)
    best = max(jaccard(entry) for entry in session.entries)
    low, _ = shown.bounds["jaccard"]
    low.setFocus()
    qtbot.keyClicks(low, f"{best:.12f}"[:-1])
    assert "jaccard" in session.requirement.overall
    meeting = [entry.number for entry in session.entries if session.meets_requirement(entry)]
    assert 0 < len(meeting) < len(session.entries)
    do = "does" if len(meeting) == 1 else "do"
    assert f"{len(meeting)} of {len(session.entries)} solutions {do}." in shown.verdict.text()
    assert shown.model.rows[0][1] == "Jaccard index"
    results.only_meeting.setChecked(True)
    assert [entry.number for entry in results.filter.shown_entries()] == meeting
    shown.clear.click()
    assert low.text() == ""
    assert len(results.filter.shown_entries()) == len(session.entries)


def test_measures_in_which_all_solutions_are_alike_are_not_offered(aggregated_window):
    shown, entries = page(aggregated_window, "Requirements"), aggregated_window.session.entries
    values = {name: [entry.solution.representability.get(name) for entry in entries] for name in shown.bounds}
    for name, (low, high) in shown.bounds.items():
        known = [value for value in values[name] if value is not None]
        varies = bool(known) and max(known) - min(known) > 0.002 * max(1, max(known))
        assert low.isVisibleTo(shown) == high.isVisibleTo(shown) == varies
        assert (shown._labels[name].text() in shown.alike.text()) != varies
    assert not shown.bounds["rand"][0].isVisibleTo(shown), "it is close to 1 whatever is merged"
    assert shown.bounds["jaccard"][0].isVisibleTo(shown)
    aggregated_window.session.require(Requirement(overall={"rand": {"min": 0.9}}))
    assert shown.bounds["rand"][0].isVisibleTo(shown), "what is stated can be seen"


def tick(edit, name):
    """Choose a name from the list of a field."""
    edit.open_list()
    next(action for action in edit.menu.actions() if action.data() == name).trigger()
    edit.menu.close()


def test_columns_and_values_of_a_requirement_are_chosen_from_lists(loaded_window):
    shown, session = page(loaded_window, "Requirements"), loaded_window.session
    names = shown.names
    assert names["quasi_identifiers"].isReadOnly(), "they are not typed"
    tick(names["quasi_identifiers"], "age")
    tick(names["quasi_identifiers"], "sex")
    assert session.requirement.required_quasi_identifiers == ("age", "sex")
    tick(names["quasi_identifiers"], "age")
    assert session.requirement.required_quasi_identifiers == ("sex",)
    tick(names["levels"], "age")
    assert names["levels"].text() == "age=", "the number is typed"
    names["levels"].setText("age=1")
    names["levels"].textEdited.emit("age=1")
    assert session.requirement.highest_level == {"age": 1}
    menus = {action.menu().title(): action.menu() for action in shown.class_values.actions()}
    assert list(menus) == list(session.choices.quasi_identifiers)
    for column in ("age", "sex", "age"):
        menus[column].actions()[0].trigger()
    age, sex = (session.table.facts(name).categories.values[0] for name in ("age", "sex"))
    assert session.requirement.required_classes == ({"age": age, "sex": sex}, {"age": age})


def test_the_columns_of_the_original_are_offered(window, qtbot):
    shown = page(window, "Representability")
    shown.source.setCurrentIndex(1)
    assert not shown.panel.key.isReadOnly(), "typed while no file is known"
    shown.panel.original.chosen.emit(DATA / "C2.csv")
    qtbot.waitUntil(lambda: bool(shown.panel.key.offered), timeout=20_000)
    assert {"Key", "Hh", "Job"} <= set(shown.panel.key.offered)
    for name in ("Hh", "Key"):
        tick(shown.panel.key, name)
    assert shown.panel.key.text() == "Key", "one only"
    tick(shown.panel.columns, "Hh")
    tick(shown.panel.columns, "Job")
    assert shown.panel.columns.text() == "Hh, Job"
    assert shown.panel.outliers.writing.identifiers.offered == shown.panel.key.offered
    shown.panel.reading.combos["delimiter"].setCurrentIndex(shown.panel.reading.combos["delimiter"].findText("Pipe |"))
    shown.panel.reading.changed.emit()
    qtbot.waitUntil(lambda: len(shown.panel.key.offered) == 1, timeout=20_000)


def test_what_cannot_be_understood_leaves_the_requirement_in_force(window, qtbot):
    shown = page(window, "Requirements")
    window.session.require(Requirement(title="Cohort", k={"min": 5}, extra={"later": 1}))
    assert shown.fields["k_min"].text() == "5"
    edit = shown.fields["ratio"]
    edit.setFocus()
    qtbot.keyClicks(edit, "x")
    assert "no number" in shown.message.text()
    assert window.session.requirement.k == {"min": 5}
    qtbot.keyClick(edit, Qt.Key.Key_Backspace)
    qtbot.keyClicks(edit, "0.5")
    assert shown.message.text() == ""
    assert window.session.requirement.minimum_sample_ratio == 0.5
    assert window.session.requirement.extra == {"later": 1}


def test_a_requirement_is_saved_and_loaded(window, qtbot, tmp_path):
    shown = page(window, "Requirements")
    needed = Requirement(title="Cohort", required_classes=({"age": "3", "sex": "1"},), weights={"age": 0.5, "sex": 0.5})
    window.session.require(needed)
    with qtbot.waitSignal(window.runner.job_ended):
        shown.save_file(tmp_path / "need.json")
    assert read_requirement(tmp_path / "need.json") == needed
    shown.clear.click()
    with qtbot.waitSignal(window.runner.job_ended):
        shown.load_file(tmp_path / "need.json")
    assert window.session.requirement == needed
    assert shown.classes.toPlainText() == "age=3, sex=1"


def test_the_checklist_knows_takes_notes_and_is_signed(aggregated_window, qtbot):
    session, shown = aggregated_window.session, page(aggregated_window, "Policy")
    assert "k is 14." in shown.rows["prm-1"].evidence.text()
    assert shown.rows["dpm-5"].mark.text() == "○"
    settled = int(shown.summary.text().split()[0])
    note = shown.rows["dpm-5"].note
    note.setFocus()
    qtbot.keyClicks(note, "kept by the registry")
    qtbot.keyClick(note, Qt.Key.Key_Return)
    assert session.policy.notes == {"dpm-5": "kept by the registry"}
    assert shown.rows["dpm-5"].mark.text() == "✓"
    assert int(shown.summary.text().split()[0]) == settled + 1
    combo = shown.choices["obj-3"]
    combo.setCurrentIndex(2)
    combo.activated.emit(2)
    assert session.policy.choices == {"obj-3": "reported to the recipient"}
    assert not shown.sign.isEnabled()
    qtbot.keyClicks(shown.name, "A. Custodian")
    shown.sign.click()
    assert session.policy.signed_by == "A. Custodian"
    assert "Signed by A. Custodian on 20" in shown.signature.text()


def test_the_checklist_follows_what_export_is_set_to(aggregated_window, qtbot, tmp_path):
    session, shown = aggregated_window.session, page(aggregated_window, "Policy")
    assert "random order" in shown.rows["exm-2"].evidence.text()
    session.note_policy(session.policy.signed("A. Custodian", "2024-05-01"))
    entry = session.selected
    session.order_release(entry, ReleaseOptions(shuffle=False, renames={"age": "years"}), tmp_path / "out")
    assert shown.rows["exm-2"].evidence.text() == ""
    assert shown.rows["exm-2"].mark.text() == "○"
    assert shown.rows["exm-1"].evidence.text() == "1 column has another name in the release."
    # What was signed is not what is released.
    assert session.policy.signed_by == ""
    dialog = ExportDialog(session, aggregated_window)
    assert not dialog.shuffle.isChecked()
    dialog.close()


def judged(window, qtbot):
    """The part of the page Policy that judges, once it has."""
    shown = page(window, "Policy")
    qtbot.waitUntil(lambda: not shown.judged._latest.waiting)
    return shown.judged


def test_the_shown_solution_is_judged_by_a_policy_and_questions_are_answered(aggregated_window, qtbot):
    session = aggregated_window.session
    box = judged(aggregated_window, qtbot)
    assert not box.lines
    with qtbot.waitSignal(box.judged):
        box.policy.setCurrentIndex(box.policy.findData("class-11"))
        box.policy.activated.emit(box.policy.currentIndex())
    assert session.policy.policy == "class-11"
    smallest = make_plan(session.selected.problem, session.selected.solution).anonymity
    assert [line[1].text() for line in box.lines[:2]] == [
        f"held: {smallest}",
        "not computed (no earlier release of this audience is in a ledger)",
    ]
    assert "CMS Cell Size Suppression Policy" in box.source.text()
    session.note_policy(session.policy.signed("A. Custodian", "2024-05-01"))
    qtbot.waitUntil(lambda: not box._latest.waiting)
    answer = box.answers["class-11/3"]
    answer.setText("no, checked")
    with qtbot.waitSignal(box.judged):
        answer.editingFinished.emit()
    assert session.policy.answers == {"class-11/3": "no, checked"}
    # What was signed is not what is answered now.
    assert session.policy.signed_by == ""
    assert "1 a person answered" in box.outcome.text()
    dialog = ExportDialog(session, aggregated_window)
    assert dialog.policy.currentData() == "class-11"
    assert dialog.options().policy == "class-11"
    dialog.close()


def test_a_policy_of_ones_own_is_copied_changed_and_its_mistakes_are_told(
    aggregated_window, qtbot, tmp_path, monkeypatch
):
    opened = []
    monkeypatch.setattr("vbas_desktop.ui.pages.represent.judged_box.QDesktopServices.openUrl", opened.append)
    box = judged(aggregated_window, qtbot)
    box.judge_by("class-20")
    path = tmp_path / "ours.toml"
    box.copy_to(str(path))
    qtbot.waitUntil(lambda: bool(opened) and not box._latest.waiting)
    assert [url.toLocalFile() for url in opened] == [str(path)]
    assert aggregated_window.session.policy.policy == str(path)
    assert box.policy.currentText() == "ours.toml"
    assert box.lines[0][0].text().endswith("at least 20")
    path.write_text(path.read_text().replace("threshold = 20", "threshold = 14"))
    with qtbot.waitSignal(box.judged):
        box.again.click()
    assert box.lines[0][0].text().endswith("at least 14")
    path.write_text(path.read_text().replace("threshold = 14", "threshold = many"))
    with qtbot.waitSignal(box.judged):
        box.again.click()
    assert "ours.toml" in box.problems.text()
    assert box.problems.isVisible()
    assert not box.lines


def test_a_table_of_the_population_gives_k_map_and_risk(aggregated_window, qtbot, tmp_path):
    session = aggregated_window.session
    problem, solution = session.selected.problem, session.selected.solution
    box = judged(aggregated_window, qtbot)
    assert not box.risks
    names = problem.quasi_identifiers
    lines = [",".join(["region", *names, "people"])]
    for place, region in enumerate(problem.regions.ids):
        combinations = product(*(each.values for each in problem.categories))
        lines += [",".join([region, *values, str(1000 + place)]) for values in combinations]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with qtbot.waitSignal(box.judged):
        box.population.chosen.emit(tmp_path / "people.csv")
    assert session.policy.population == str(tmp_path / "people.csv")
    people = np.bincount(solution.membership, 1000 + np.arange(len(problem.regions)))
    k_map = int(box.risks["k-map: fewest inhabitants of a released class"].text().replace(",", ""))
    assert k_map in people.tolist()
    assert float(box.risks["Journalist: highest risk"].text()) == pytest.approx(1 / k_map, rel=1e-3)
    dialog = ExportDialog(session, aggregated_window)
    assert dialog.options().population == str(tmp_path / "people.csv")
    dialog.close()
    (tmp_path / "people.csv").write_text(lines[0] + "\n" + lines[1] + "\n")
    with qtbot.waitSignal(box.judged):
        box.again.click()
    assert "not in the table" in box.problems.text()
    with qtbot.waitSignal(box.judged):
        box.population.clear.click()
    assert (session.policy.population, box.problems.isVisible(), box.risks) == ("", False, {})
