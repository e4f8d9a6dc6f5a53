"""What is computed is kept: going back and forth starts no job again."""

from collections import Counter

import pytest
from PySide6.QtWidgets import QApplication

from vbas_desktop.ui.core.worker import LruCache
from vbas_desktop.ui.pages import COMPARE, PAGES

LONG = 60_000


@pytest.fixture
def jobs(aggregated_window) -> Counter:
    """Counts every job that the window starts from now on; copies kept in case of a crash are another matter."""
    started: Counter = Counter()
    for worker in (
        aggregated_window.worker,
        aggregated_window.background,
        aggregated_window.input.estimator.worker,
    ):
        worker.job_started.connect(lambda title: started.update([title]))
    return started


def at_rest(window, qtbot) -> None:
    """Wait for jobs, and for those that begin a moment later."""
    timers = [window.input.estimator._timer]
    runners = (window.worker, window.background, window.input.estimator.worker)
    compare = window.area.page_widget(COMPARE)
    if compare is not None:
        timers.append(compare._timer)
    qtbot.waitUntil(
        lambda: (
            not any(worker.busy for worker in runners) and not any(timer.isActive() for timer in timers)
        ),
        timeout=LONG,
    )
    QApplication.processEvents()


def look_at_everything(window, qtbot) -> None:
    """Every solution, some regions, two comparisons, every tab, every page, two colourings."""
    state = window.state
    numbers = [entry.number for entry in state.entries]
    steps = [lambda number=number: state.select(number) for number in (*numbers, *reversed(numbers))]
    steps += [lambda region=region: state.choose_region(region) for region in (0, 3, 0, 5)]
    steps += [lambda: state.compare_with(numbers[-1]), lambda: state.select(numbers[1])]
    steps += [lambda: state.select(numbers[0]), lambda: state.compare_with(None)]
    steps += [lambda tab=tab: window.show_tab(tab) for tab in ("Input", "Results", "Regions", "Log")]
    steps += [lambda page=page: window.area.show_page(page) for page in PAGES]
    steps += [window.area.show_map, lambda: state.colour_by("suppressed"), lambda: state.colour_by(None)]
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


def test_an_approach_that_is_changed_and_changed_back_counts_nothing_again(
    aggregated_window, jobs, qtbot
):
    state = aggregated_window.state
    at_rest(aggregated_window, qtbot)
    counted = state.problem
    jobs.clear()
    for approach in ("density", "balanced-density"):
        state.change(state.choices.with_approach("site_location", approach))
        at_rest(aggregated_window, qtbot)
    assert state.problem is counted
    assert set(jobs) <= {"Looking ahead"}


def test_what_was_asked_for_lately_stays():
    recent: LruCache[str, int] = LruCache(2)
    recent.put("first", 1)
    recent.put("second", 2)
    assert recent.get("first") == 1
    recent.put("third", 3)
    assert [recent.get(name) for name in ("first", "second", "third")] == [1, None, 3]
