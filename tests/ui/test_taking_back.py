"""Undo is told, is seen, and reaches the list of solutions; the same settings are not run twice."""

from persons import run_to_the_end

from vbas_desktop.model.criteria import SensitiveColumn, parse_criterion
from vbas_desktop.model.records import Role


def test_what_undo_takes_back_is_named_and_brought_to_the_front(run_window):
    window, state = run_window, run_window.state
    undo, redo = window.menus.actions["undo"], window.menus.actions["redo"]
    state.change_fields(k=9)
    window.show_tab("Results")
    assert undo.text() == "&Undo change of k"
    undo.trigger()
    assert state.choices.k == 5
    assert window.tabs.currentWidget() is window.tab("Input")
    assert window.status.what.text() == "Undone: change of k."
    assert redo.text() == "&Redo change of k"


def test_undo_names_a_limit_as_its_field_does(loaded_window):
    window, limits = loaded_window, loaded_window.input.approaches.constraints
    undo = window.menus.actions["undo"]
    limits.form.editors["min_records"].setValue(40)
    limits.form.editors["min_records"].setValue(50)
    assert undo.text() == "&Undo change of “Records at least”"
    limits.form.editors["max_records"].setValue(900)
    assert undo.text() == "&Undo change of “Records at most”"
    undo.trigger()
    assert window.status.what.text() == "Undone: change of “Records at most”."
    assert (window.state.choices.min_records, window.state.choices.max_records) == (50, 0)
    undo.trigger()
    assert window.state.choices.min_records == 0


def test_undo_names_a_criterion_and_a_parameter(loaded_window):
    state, undo = loaded_window.state, loaded_window.menus.actions["undo"]
    state.change(state.choices.with_role("illness", Role.SENSITIVE))
    state.change(
        state.choices.with_sensitive(SensitiveColumn("illness", (), (parse_criterion("share:50"),)))
    )
    assert undo.text() == "&Undo change of criteria"
    loaded_window.input.privacy.loss.edited.emit("allowed_loss_percent", 2.0)
    assert undo.text() == "&Undo change of “Allowed loss”"


def test_removed_solutions_are_brought_back_by_undo_even_with_the_panel_away(run_window):
    window, state = run_window, run_window.state
    numbers = [entry.number for entry in state.entries]
    state.remove(numbers)
    window.menus.panel.setChecked(False)
    window.menus.actions["undo"].trigger()
    assert [entry.number for entry in state.entries] == numbers
    assert window.tabs.isVisible()
    assert window.tabs.currentWidget() is window.tab("Results")
    assert window.status.what.text() == f"Undone: removal of {len(numbers)} solutions."
    assert not window.menus.actions["undo"].isEnabled()
    assert window.menus.actions["redo"].isEnabled()


def test_running_the_same_settings_again_shows_what_is_there(run_window, qtbot):
    window, state = run_window, run_window.state
    before, best = state.entries, state.selected.number
    state.select(next(entry.number for entry in before if entry.number != best))
    window.show_tab("Input")
    window.menus.actions["run"].trigger()
    assert not window.worker.busy
    assert state.entries == before
    assert state.selected.number == best
    assert window.status.what.text().startswith(f"These settings were run before: #1 to #{len(before)}.")
    assert window.tabs.currentWidget() is window.tab("Results")
    state.change_fields(k=6)
    run_to_the_end(window, qtbot)
    assert len(state.entries) > len(before)
