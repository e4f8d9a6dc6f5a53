"""Undo is told, is seen, and reaches the list of solutions; the same settings are not run twice."""

from persons import run_to_the_end

from vbas_desktop.model.criteria import Sensitive, criterion_of
from vbas_desktop.model.records import Role


def test_what_undo_takes_back_is_named_and_brought_to_the_front(run_window):
    window, session = run_window, run_window.session
    undo, redo = window.menus.actions["undo"], window.menus.actions["redo"]
    session.change_fields(k=9)
    window.show_tab("Results")
    assert undo.text() == "&Undo change of k"
    undo.trigger()
    assert session.choices.k == 5
    assert window.tabs.currentWidget() is window.tab("Input")
    assert window.status.what.text() == "Taken back: change of k."
    assert redo.text() == "&Redo change of k"


def test_undo_names_a_limit_as_its_field_does(loaded_window):
    window, limits = loaded_window, loaded_window.input.limits
    undo = window.menus.actions["undo"]
    limits.numbers["min_records"].setValue(40)
    limits.numbers["min_records"].setValue(50)
    assert undo.text() == "&Undo change of “Records at least”"
    limits.numbers["max_records"].setValue(900)
    assert undo.text() == "&Undo change of “Records at most”"
    undo.trigger()
    assert window.status.what.text() == "Taken back: change of “Records at most”."
    assert (window.session.choices.min_records, window.session.choices.max_records) == (50, 0)
    undo.trigger()
    assert window.session.choices.min_records == 0


def test_undo_names_a_criterion_and_a_parameter(loaded_window):
    session, undo = loaded_window.session, loaded_window.menus.actions["undo"]
    session.change(session.choices.with_role("illness", Role.SENSITIVE))
    session.change(session.choices.with_sensitive(Sensitive("illness", (), (criterion_of("share:50"),))))
    assert undo.text() == "&Undo change of criteria"
    loaded_window.input.approaches.choices["site_number"].form.fields["allowed_loss_percent"].edited.emit(
        "allowed_loss_percent", 2.0
    )
    assert undo.text() == "&Undo change of “Allowed loss”"


def test_removed_solutions_are_brought_back_by_undo_even_with_the_panel_away(run_window):
    window, session = run_window, run_window.session
    numbers = [entry.number for entry in session.entries]
    session.remove(numbers)
    window.menus.panel.setChecked(False)
    window.menus.actions["undo"].trigger()
    assert [entry.number for entry in session.entries] == numbers
    assert window.tabs.isVisible()
    assert window.tabs.currentWidget() is window.tab("Results")
    assert window.status.what.text() == f"Taken back: removal of {len(numbers)} solutions."
    assert not window.menus.actions["undo"].isEnabled()
    assert window.menus.actions["redo"].isEnabled()


def test_running_the_same_settings_again_shows_what_is_there(run_window, qtbot):
    window, session = run_window, run_window.session
    before, best = session.entries, session.selected.number
    session.select(next(entry.number for entry in before if entry.number != best))
    window.show_tab("Input")
    window.menus.actions["run"].trigger()
    assert not window.runner.busy
    assert session.entries == before
    assert session.selected.number == best
    assert window.status.what.text().startswith(f"These settings were run before: solutions 1 to {len(before)}.")
    assert window.tabs.currentWidget() is window.tab("Results")
    session.change_fields(k=6)
    run_to_the_end(window, qtbot)
    assert len(session.entries) > len(before)
