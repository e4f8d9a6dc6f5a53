"""What is computed is kept: going back and forth starts no job again."""

from collections import Counter

import pytest
from PySide6.QtWidgets import QApplication

from vbas_desktop.ui.pages import PAGES
from vbas_desktop.ui.worker import Recent

LONG = 60_000


@pytest.fixture
def jobs(aggregated_window) -> Counter:
    """Counts every job that the window starts from now on; copies kept in case of a crash are another matter."""
    started: Counter = Counter()
    for runner in (aggregated_window.runner, aggregated_window.quiet_runner, aggregated_window.input.estimator.runner):
        runner.job_started.connect(lambda title: started.update([title]))
    return started


def at_rest(window, qtbot) -> None:
    """Wait for jobs, and for those that begin a moment later."""
    timers = [window.input.estimator._timer]
    runners = (window.runner, window.quiet_runner, window.input.estimator.runner)
    compare = window.area._frames.get("Compare combinations")
    if compare is not None:
        timers.append(compare.widget._timer)
    qtbot.waitUntil(
        lambda: not any(runner.busy for runner in runners) and not any(timer.isActive() for timer in timers),
        timeout=LONG,
    )
    QApplication.processEvents()


def look_at_everything(window, qtbot) -> None:
    """Every solution, some regions, two comparisons, every tab, every page, two colourings."""
    session = window.session
    numbers = [entry.number for entry in session.entries]
    steps = [lambda number=number: session.select(number) for number in (*numbers, *reversed(numbers))]
    steps += [lambda region=region: session.choose_region(region) for region in (0, 3, 0, 5)]
    steps += [lambda: session.compare_with(numbers[-1]), lambda: session.select(numbers[1])]
    steps += [lambda: session.select(numbers[0]), lambda: session.compare_with(None)]
    steps += [lambda tab=tab: window.show_tab(tab) for tab in ("Input", "Results", "Regions", "Log")]
    steps += [lambda page=page: window.area.show_page(page) for page in PAGES]
    steps += [window.area.show_map, lambda: session.colour_by("suppressed"), lambda: session.colour_by(None)]
    for step in steps:
        step()
        at_rest(window, qtbot)


def test_looking_at_everything_again_starts_nothing(aggregated_window, jobs, qtbot):
    look_at_everything(aggregated_window, qtbot)
    assert jobs["Preparing the map"] > 0
    assert jobs["Comparing"] == 2
    assert jobs["Looking for classes below k"] == 3
    jobs.clear()
    look_at_everything(aggregated_window, qtbot)
    # Others may write to the ledger: it is read whenever its page is shown.
    assert jobs == Counter({"Reading the ledger": 1})


def test_an_approach_that_is_changed_and_changed_back_counts_nothing_again(aggregated_window, jobs, qtbot):
    session = aggregated_window.session
    at_rest(aggregated_window, qtbot)
    counted = session.problem
    jobs.clear()
    for approach in ("density", "balanced-density"):
        session.change(session.choices.with_approach("site_location", approach))
        at_rest(aggregated_window, qtbot)
    assert session.problem is counted
    assert set(jobs) <= {"Looking ahead"}


def test_what_was_asked_for_lately_stays():
    recent: Recent[str, int] = Recent(2)
    recent.put("first", 1)
    recent.put("second", 2)
    assert recent.get("first") == 1
    recent.put("third", 3)
    assert [recent.get(name) for name in ("first", "second", "third")] == [1, None, 3]
