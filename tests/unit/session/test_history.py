"""Choices and what is done to the list of solutions can be taken back and made again, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_up_sessions import run

from vbas_desktop.session.choices import Choices
from vbas_desktop.session.history import History
from vbas_desktop.settings.declaration import Setting, settings_of


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


def other_value(setting: Setting) -> Any:
    """A value that differs from the default; whether it makes sense does not matter for the name of the step."""
    return not setting.default if isinstance(setting.default, bool) else "other"


@pytest.mark.parametrize("setting", settings_of(Choices), ids=lambda setting: setting.name)
def test_every_declared_setting_is_named_by_its_own_label(setting):
    history = History()
    history.change(replace(Choices(), **{setting.name: other_value(setting)}))
    name = history.last.name.removeprefix("change of ").strip("“”")
    assert name.lower() == setting.title.partition(" (")[0].lower()


def test_several_changes_at_once_are_all_named():
    history = History()
    history.change(Choices(k=9, random_seed=3).with_allowed_loss(4.0))
    assert history.last.name == "change of k and “Random seed” and “Allowed loss”"


def numbers(session):
    return [entry.number for entry in session.entries]


def test_removed_solutions_come_back_where_they_were_with_the_shown_one(session):
    run(session)
    before = numbers(session)
    gone = before[1:3]
    session.select(gone[0])
    session.remove(gone, then=before[3])
    assert numbers(session) == [before[0], *before[3:]]
    assert session.selected.number == before[3]
    assert session.undo().name == "removal of 2 solutions"
    assert numbers(session) == before
    assert session.selected.number == gone[0]
    session.redo()
    assert numbers(session) == [before[0], *before[3:]]


def test_choices_and_solutions_are_taken_back_in_the_order_in_which_they_were_changed(session):
    run(session)
    before = numbers(session)
    session.change_fields(k=9)
    session.remove(before)
    session.pin(before)
    session.change_fields(k=10)
    walked = [session.undo().name for _ in range(3)]
    assert walked == ["change of k", "removal of 5 solutions", "change of k"]
    assert session.undo() is None
    assert (numbers(session), session.choices.k) == (before, 5)


def test_solutions_removed_while_their_run_goes_on_come_back_with_its_result(session):
    order = session.order_run()
    found = []
    result = order.execute(on_problem=lambda one: session.begin_counted(order.run_id, one), on_solution=found.append)
    for solution in found:
        session.add_solution(order.run_id, solution)
    session.remove(numbers(session))
    session.finish_run(order.run_id, result)
    session.undo()
    assert [entry.solution for entry in session.entries] == list(result.solutions)
    assert all(entry.run.result is result and entry.problem is not None for entry in session.entries)


def test_pins_are_taken_back(session):
    run(session)
    session.pin([1, 2])
    session.pin([2, 3])
    session.undo()
    assert [entry.number for entry in session.entries if entry.pinned] == [1, 2]


def test_the_same_settings_are_known_as_run_before_until_something_of_them_is_gone(session):
    assert session.listed_before(session.choices) == ()
    run(session)
    mine = session.entries
    session.change_fields(pareto_measures=("compactness",))
    session.change(session.choices.with_parameter("site_number", "fixed", "sites", 3))
    assert session.listed_before(session.choices) == mine
    session.change_fields(k=6)
    assert session.listed_before(session.choices) == ()
    session.undo()
    session.remove([mine[0].number])
    assert session.listed_before(session.choices) == ()
