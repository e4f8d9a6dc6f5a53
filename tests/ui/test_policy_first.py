"""Protection begins with a policy: it asks once, sets k and its minima in one step, and is forecast and judged."""

from __future__ import annotations

import pytest
from persons import LONG, run_to_the_end
from PySide6.QtWidgets import QMessageBox

OWN = """
format = 1
id = "ours"
name = "Our rule"
authority = "us"
citation = "here"
date = "2026"
source = "Nobody."

[[criteria]]
measure = "highest_risk"
comparison = "at most"
threshold = 0.1

[[criteria]]
measure = "smallest_region"
comparison = "at least"
threshold = 200

[[criteria]]
measure = "suppressed_percent"
comparison = "at most"
threshold = 0.5
"""


def choose(window, policy: str) -> None:
    combo = window.input.privacy.policy_list
    combo.setCurrentIndex(combo.findData(policy))
    combo.activated.emit(combo.currentIndex())


def question(window) -> QMessageBox:
    return next(box for box in window.findChildren(QMessageBox) if box.isVisible())


def answer(window, text: str) -> None:
    next(button for button in question(window).buttons() if button.text() == text).click()


def test_a_policy_asks_once_and_sets_k_in_one_step(loaded_window):
    window, state = loaded_window, loaded_window.state
    choose(window, "class-11")
    assert question(window).text() == "Follow the policy “Cells of eleven (Medicare)”?"
    assert "k (minimum group size): 5 → 11" in question(window).informativeText()
    assert (state.choices.k, state.policy.policy) == (5, "")
    answer(window, "&Follow it")
    assert (state.choices.k, state.policy.policy) == (11, "class-11")
    state.undo()
    assert (state.choices.k, state.policy.policy) == (5, "")
    assert window.input.privacy.policy_list.currentData() == ""
    state.redo()
    assert (state.choices.k, state.policy.policy) == (11, "class-11")


def test_numbers_of_the_question_are_grouped(loaded_window):
    choose(loaded_window, "area-5000")
    assert "Records at least: Any → 5,000" in question(loaded_window).informativeText()
    answer(loaded_window, "Cancel")


def test_a_question_that_is_cancelled_changes_nothing(loaded_window):
    window, state = loaded_window, loaded_window.state
    choose(window, "class-20")
    answer(window, "Cancel")
    assert (state.choices.k, state.policy.policy) == (5, "")
    assert window.input.privacy.policy_list.currentData() == ""
    assert state.last_step is None


def test_a_policy_that_is_met_already_asks_nothing_and_no_policy_makes_k_smaller(loaded_window):
    window, state = loaded_window, loaded_window.state
    state.change_fields(k=30)
    choose(window, "class-20")
    assert not [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert (state.choices.k, state.policy.policy) == (30, "class-20")
    choose(window, "")
    assert (state.choices.k, state.policy.policy) == (30, "")


def test_a_k_below_the_policy_is_marked_beside_its_field(loaded_window):
    window, state = loaded_window, loaded_window.state
    field = window.input.privacy.form.fields["k"]
    choose(window, "class-11")
    answer(window, "&Follow it")
    assert field.message.isHidden()
    window.input.privacy.form.editors["k"].setValue(7)
    assert field.message.text() == "Below the policy “Cells of eleven (Medicare)”, which demands 11."
    assert window.input.judgement.text() == "Policy: fail, k is 7, it demands 11."
    assert window.input.run.isEnabled()
    state.undo()
    assert field.message.isHidden()


def test_a_policy_of_a_file_sets_its_minima_and_is_forecast_and_judged(loaded_window, tmp_path, qtbot):
    window, state, panel = loaded_window, loaded_window.state, loaded_window.input
    path = tmp_path / "ours.toml"
    path.write_text(OWN, encoding="utf-8")
    assert panel.judgement.isHidden()
    panel.privacy.open_policy(str(path))
    qtbot.waitUntil(
        lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)), timeout=LONG
    )
    assert question(window).informativeText().splitlines()[1:4] == [
        "k (minimum group size): 5 → 10",
        "Records at least: Any → 200",
        "Allowed loss: 1 % → 0.5 %",
    ]
    answer(window, "&Follow it")
    chosen = state.choices
    assert (chosen.k, chosen.min_records, chosen.allowed_loss_percent) == (10, 200, 0.5)
    forecast = "Policy: unknown, 1 criterion can be judged only after the run."
    qtbot.waitUntil(lambda: panel.judgement.text() == forecast, timeout=LONG)
    run_to_the_end(window, qtbot)
    shown = f"#{state.selected.number}: The release "
    qtbot.waitUntil(lambda: panel.judgement.text().startswith(shown), timeout=LONG)
    state.change_fields(k=12)
    assert panel.judgement.text().startswith("Policy: ")


@pytest.mark.parametrize("k", [4, 5])
def test_the_forecast_follows_k(loaded_window, k):
    state = loaded_window.state
    state.follow_policy("class-5", state.choices)
    state.change_fields(k=k)
    outcome = {4: "Policy: fail, k is 4, it demands 5.", 5: "Policy: unknown, "}[k]
    assert loaded_window.input.judgement.text().startswith(outcome)
