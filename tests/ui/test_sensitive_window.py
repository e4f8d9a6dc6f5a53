"""Sensitive values in the window: chosen in a dialog, run, listed, drawn, kept in a project."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox

from vbas_desktop.model.criteria import Criterion, SensitiveColumn, parse_criterion
from vbas_desktop.model.records import Categories, ColumnFacts, Role
from vbas_desktop.ui.dialogs.sensitive_values import SensitiveDialog
from vbas_desktop.ui.map.hover_card import card_text
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.presentation.region_measures import find_measure
from vbas_desktop.ui.state.choices import choices_from_json, choices_to_json

LONG = 120_000
COLUMN = "illness"


@pytest.fixture
def choosing(loaded_window):
    """A window with one sensitive column, twelve sites and a k that costs few records."""
    state = loaded_window.state
    choices = state.choices.with_role(COLUMN, Role.SENSITIVE).with_approach("site_number", "fixed")
    state.change(
        choices.with_parameter("site_number", "fixed", "sites", 12).replaced(k=3, range_reach=0)
    )
    return loaded_window


def opened(window) -> SensitiveDialog:
    window.input.privacy.sensitive.click()
    return window.findChildren(SensitiveDialog)[-1]


def confirm(dialog) -> None:
    dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()


def tick(dialog: SensitiveDialog, value: str) -> None:
    indexes = [dialog.model.index(row, 0) for row in range(dialog.model.rowCount())]
    chosen = next(index for index in indexes if index.data() == value)
    assert dialog.model.setData(chosen, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)


def run(window, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.run_commands.run()

    def ready():
        shown = map_cache_of(window.context).shown
        return (
            shown is not None
            and shown.table is not None
            and shown.number == window.state.selected.number
        )

    qtbot.waitUntil(ready, timeout=LONG)
    return map_cache_of(window.context).shown


def test_the_dialog_sets_criterion_and_benign_values_and_undo_takes_them_back(choosing):
    section = choosing.input.privacy
    assert section.sensitive.isVisibleTo(choosing)
    assert section.sensitive_summary.text() == f"Sensitive: {COLUMN} (report only)."
    dialog = opened(choosing)
    assert not dialog.limit_field.isVisibleTo(dialog)
    dialog.kind.setCurrentIndex(dialog.kind.findData("share"))
    dialog.kind.activated.emit(dialog.kind.currentIndex())
    assert dialog.limit_field.isVisibleTo(dialog)
    assert not dialog.factor_field.isVisibleTo(dialog)
    dialog.limit.setValue(40)
    value = dialog.model.index(0, 0).data()
    tick(dialog, value)
    confirm(dialog)
    chosen = choosing.state.choices
    assert chosen.sensitive_columns == (
        SensitiveColumn(COLUMN, (value,), (Criterion("share", 40.0, 0.0, COLUMN),)),
    )
    words = "at most 40 % of the records with the commonest harmful value"
    assert section.sensitive_summary.text() == f"Sensitive: {COLUMN} ({words}; benign: {value})."
    again = opened(choosing)
    assert again.kind.currentData() == "share"
    assert again.limit.value() == 40
    assert again.model.index(0, 0).data(Qt.ItemDataRole.CheckStateRole) is Qt.CheckState.Checked
    again.reject()
    choosing.state.undo()
    assert choosing.state.choices.criteria == ()
    choosing.state.change(choosing.state.choices.with_role(COLUMN, Role.AS_IS))
    assert not section.sensitive.isVisibleTo(choosing)


@pytest.mark.parametrize(
    "text", ["distinct:4", "entropy:2.5", "recursive:1.5,3", "closeness:0.25", "ordered-closeness:0.2"]
)
def test_every_criterion_can_be_set(choosing, text):
    wanted = parse_criterion(text)
    dialog = opened(choosing)
    dialog.kind.setCurrentIndex(dialog.kind.findData(wanted.kind))
    dialog.kind.activated.emit(dialog.kind.currentIndex())
    dialog.limit.setValue(wanted.limit)
    dialog.factor.setValue(wanted.factor or 2.0)
    confirm(dialog)
    assert choosing.state.choices.criteria == (wanted.of(COLUMN),)


def test_several_criteria_of_one_column_are_listed_kept_and_taken_out(choosing):
    def choose(dialog, kind, limit):
        dialog.kind.setCurrentIndex(dialog.kind.findData(kind))
        dialog.kind.activated.emit(dialog.kind.currentIndex())
        dialog.limit.setValue(limit)

    dialog = opened(choosing)
    assert not dialog.criteria.isVisibleTo(dialog)
    assert not dialog.add.isEnabled()
    choose(dialog, "share", 40)
    dialog.add.click()
    choose(dialog, "distinct", 3)
    dialog.add.click()
    choose(dialog, "share", 40)
    dialog.add.click()
    assert [dialog.criteria.item(row).text() for row in range(dialog.criteria.count())] == [
        "and at most 40 % of the records with the commonest harmful value",
        "and at least 3 different values",
    ]
    choose(dialog, "entropy", 1.5)
    confirm(dialog)
    wanted = [parse_criterion(text).of(COLUMN) for text in ("entropy:1.5", "share:40", "distinct:3")]
    assert choosing.state.choices.criteria == tuple(wanted)
    again = opened(choosing)
    assert again.kind.currentData() == "entropy"
    assert again.criteria.count() == 2
    assert not again.remove.isEnabled()
    again.criteria.setCurrentRow(0)
    again.remove.click()
    confirm(again)
    assert choosing.state.choices.criteria == (wanted[0], wanted[2])


def test_only_numbers_can_be_judged_by_their_order(choosing):
    dialog = opened(choosing)
    assert dialog.kind.findData("ordered-closeness") > 0
    dialog.reject()
    words = Categories(COLUMN, ("flu", "none"))
    facts = ColumnFacts(COLUMN, 2, 0, True, words, np.array([3, 4]))
    other = SensitiveDialog([(facts, SensitiveColumn(COLUMN))], choosing)
    assert other.kind.findData("ordered-closeness") == -1
    other.reject()


def test_a_criterion_suppresses_what_fails_and_all_figures_are_shown(choosing, qtbot):
    plain = run(choosing, qtbot)
    told = plain.solution.sensitive[COLUMN]
    assert plain.solution.suppressed_sensitive == 0
    state = choosing.state
    limit = float(round(told["largest_share_percent"] * 0.7))
    rule = Criterion("share", limit, 0.0, COLUMN)
    state.change(state.choices.with_sensitive(SensitiveColumn(COLUMN, (), (rule,))))
    shown = run(choosing, qtbot)
    assert shown.solution.sensitive[COLUMN]["largest_share_percent"] <= limit
    assert (
        0
        < shown.solution.suppressed_sensitive
        == (shown.solution.suppressed_records - plain.solution.suppressed_records)
    )
    figure = find_measure(shown.figures, "largest_share")
    assert np.nanmax(figure.values) == shown.solution.sensitive[COLUMN]["largest_share_percent"] / 100
    assert figure.title == "Share of the commonest harmful value"
    card = card_text(shown.geometry.base, shown.geometry, shown.figures, 0, None)
    assert f"commonest harmful value: {figure.text(0)} of a class" in card
    results = choosing.tab("Results")
    columns = {column.name: column for column in results.table_model.columns}
    entry = state.selected
    assert columns["suppressed_sensitive"].value(entry) == shown.solution.suppressed_sensitive
    share = columns[f"sensitive_{COLUMN}_largest_share_percent"]
    assert share.value(entry) == shown.solution.sensitive[COLUMN]["largest_share_percent"]
    assert not columns["largest_harmful_share"].hidden
    assert entry.run.key.in_words.endswith(f"; {COLUMN} share:{limit:g}")
    assert "Share of the commonest harmful value" in offered(choosing)


def offered(window) -> list[str]:
    from vbas_desktop.ui.map.map_toolbar import MapToolbar

    bar = window.findChild(MapToolbar)
    return [bar.colouring.itemText(index) for index in range(bar.colouring.count())]


def test_choices_are_kept_as_plain_data_and_earlier_ones_have_no_criterion(choosing):
    state = choosing.state
    rule = parse_criterion("recursive:1.5,3").of(COLUMN)
    state.change(state.choices.with_sensitive(SensitiveColumn(COLUMN, ("(missing)",), (rule,))))
    kept = choices_to_json(state.choices)
    assert kept["criteria"] == [f"{COLUMN}=recursive:1.5,3"]
    assert choices_from_json(kept) == state.choices
    earlier = {name: value for name, value in kept.items() if name not in ("criteria", "benign")}
    assert choices_from_json(earlier).sensitive_columns == (SensitiveColumn(COLUMN),)


def test_why_a_region_lost_records_names_the_reason(choosing, qtbot):
    from vbas_desktop.engine.region_table import explain_suppression

    state = choosing.state
    rule = Criterion("distinct", 4.0, 0.0, COLUMN)
    state.change(state.choices.with_sensitive(SensitiveColumn(COLUMN, (), (rule,))))
    shown = run(choosing, qtbot)
    lost = [
        each
        for region in range(len(shown.table))
        for each in explain_suppression(shown.problem, shown.solution, region)
    ]
    assert sum(each.size for each in lost) == shown.solution.suppressed_records
    assert sum(each.size for each in lost if each.harmful) == shown.solution.suppressed_sensitive
    assert all((each.size >= 3) == each.harmful for each in lost)
