"""Where no solution keeps within the allowed loss, Results name ways out, with figures, as buttons."""

from __future__ import annotations

import pytest

from vbas_desktop.model.records import Role
from vbas_desktop.model.text import format_share
from vbas_desktop.ui.dialogs.grouping import GroupingDialog

LONG = 60_000


@pytest.fixture
def stuck(loaded_window, qtbot):
    """A window whose k is so large that even one region of all loses more than is allowed."""
    state = loaded_window.state
    choices = state.choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 12
    )
    state.change(choices.replaced(k=400, range_reach=0).with_allowed_loss(1.0))
    run(loaded_window, qtbot)
    return loaded_window


def run(window, qtbot, start=None):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        (start or window.run_commands.run)()


def loss_notice(window, qtbot):
    notice = window.tab("Results").loss
    qtbot.waitUntil(lambda: notice.is_out_of_reach, timeout=LONG)
    return notice


def lost_in_one_region(window, qtbot):
    """Run with a single site, and return the share that is lost."""
    state = window.state
    choices = state.choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 1
    )
    state.change(choices.replaced(range_reach=0))
    run(window, qtbot)
    return format_share(state.entries[-1].solution.suppressed_records, 3000)


def test_what_one_region_of_all_loses_is_said_with_the_cheapest_way_out(stuck, qtbot):
    notice = loss_notice(stuck, qtbot)
    said = notice.label.text()
    assert [
        button.text().partition(":")[0] for button in notice.buttons if "Fall" not in button.text()
    ] == [
        "Group age",
        "Leave out age",
        "Find a release",
    ]
    share = lost_in_one_region(stuck, qtbot)
    way_out = "Cheapest way out: group “age”."
    assert said == f"Even one region of all would lose {share}; 1 % are allowed. {way_out}"


def test_the_figure_of_a_column_to_leave_out_is_what_a_run_without_it_loses(stuck, qtbot):
    button = loss_notice(stuck, qtbot).button("Leave out age")
    promised = button.text().partition(": ")[2]
    run(stuck, qtbot, button.click)
    assert stuck.state.choices.roles["age"] is Role.LEAVE_OUT
    assert stuck.state.choices.quasi_identifiers == ("sex",)
    assert lost_in_one_region(stuck, qtbot) == promised


def test_the_figure_of_a_column_to_group_is_what_a_run_with_the_proposed_groups_loses(stuck, qtbot):
    button = loss_notice(stuck, qtbot).button("Group age")
    promised = button.text().partition(": ")[2]
    button.click()
    dialog = stuck.findChild(GroupingDialog)
    run(stuck, qtbot, dialog.accept)
    assert stuck.state.choices.groupings["age"]
    assert lost_in_one_region(stuck, qtbot) == promised


def test_find_a_release_opens_its_page(stuck, qtbot):
    loss_notice(stuck, qtbot).button("Find").click()
    assert type(stuck.area.page).__name__ == "SearchPage"


def test_nothing_is_said_where_a_solution_keeps_within_the_limit(stuck, qtbot):
    notice = loss_notice(stuck, qtbot)
    stuck.state.change(stuck.state.choices.with_allowed_loss(100.0))
    assert not notice.is_out_of_reach
    assert "Even one region" not in notice.label.text()
