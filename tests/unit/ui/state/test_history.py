"""Choices and what is done to the list of solutions can be taken back and made again, step by step."""

from __future__ import annotations

import pytest
from made_up_sessions import run
from option_values import other_value

from vbas_desktop.app.run import run_configuration
from vbas_desktop.ui.state.choices import Choices
from vbas_desktop.ui.state.history import History


def test_undo_and_redo_walk_through_the_steps():
    history = History()
    for k in (6, 7):
        history.change(Choices(k=k))
    history.undo()
    assert history.now.k == 6
    history.undo()
    assert history.now.k == 5
    assert history.last is None
    history.redo()
    assert history.now.k == 6
    history.change(Choices(k=9))
    assert history.next is None


def test_changes_of_one_field_in_a_row_are_one_step():
    history = History()
    for k in (1, 12, 123):
        history.change(Choices(k=k), merge="k")
    history.undo()
    assert history.now.k == 5


def test_choosing_what_is_chosen_already_is_no_step():
    history = History()
    assert not history.change(Choices())
    assert history.last is None


@pytest.mark.parametrize("setting", Choices.options(), ids=lambda setting: setting.name)
def test_every_declared_setting_is_named_by_its_own_label(setting):
    history = History()
    history.change(Choices.from_dict({setting.name: other_value(setting)}))
    name = history.last.name.removeprefix("change of ").strip("“”")
    assert name.lower() == setting.title.partition(" (")[0].lower()


def test_several_changes_at_once_are_all_named():
    history = History()
    history.change(Choices(k=9, random_seed=3).with_allowed_loss(4.0))
    assert history.last.name == "change of k and “Random seed” and “Allowed loss”"


def numbers(state):
    return [entry.number for entry in state.entries]


def test_removed_solutions_come_back_where_they_were_with_the_shown_one(state):
    run(state)
    before = numbers(state)
    gone = before[1:3]
    state.select(gone[0])
    state.remove(gone, then=before[3])
    assert numbers(state) == [before[0], *before[3:]]
    assert state.selected.number == before[3]
    assert state.undo().name == "removal of 2 solutions"
    assert numbers(state) == before
    assert state.selected.number == gone[0]
    state.redo()
    assert numbers(state) == [before[0], *before[3:]]


def test_choices_and_solutions_are_taken_back_in_the_order_in_which_they_were_changed(state):
    run(state)
    before = numbers(state)
    state.change_fields(k=9)
    state.remove(before)
    state.pin(before)
    state.change_fields(k=10)
    walked = [state.undo().name for _ in range(3)]
    assert walked == ["change of k", "removal of 5 solutions", "change of k"]
    assert state.undo() is None
    assert (numbers(state), state.choices.k) == (before, 5)


def test_solutions_removed_while_their_run_goes_on_come_back_with_its_result(state):
    task = state.request_run()
    found = []
    outcome = run_configuration(
        task.request,
        on_problem=lambda problem: state.begin_counted(task.run_id, problem),
        on_solution=found.append,
    )
    result = outcome.result
    for solution in found:
        state.add_solutions(task.run_id, [solution])
    state.remove(numbers(state))
    state.finish_run(task.run_id, result)
    state.undo()
    assert [entry.solution for entry in state.entries] == list(result.solutions)
    assert all(entry.run.result is result and entry.problem is not None for entry in state.entries)


def test_pins_are_taken_back(state):
    run(state)
    state.pin([1, 2])
    state.pin([2, 3])
    state.undo()
    assert [entry.number for entry in state.entries if entry.pinned] == [1, 2]


def test_the_same_settings_are_known_as_run_before_until_something_of_them_is_gone(state):
    assert state.listed_before(state.choices) == ()
    run(state)
    mine = state.entries
    state.change_fields(pareto_measures=("compactness",))
    state.change(state.choices.with_parameter("site_number", "fixed", "sites", 3))
    assert state.listed_before(state.choices) == mine
    state.change_fields(k=6)
    assert state.listed_before(state.choices) == ()
    state.undo()
    state.remove([mine[0].number])
    assert state.listed_before(state.choices) == ()
