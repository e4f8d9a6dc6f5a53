"""How long a run will take is said before it begins, if it is long: as exactly as it can be known by then."""

from dataclasses import replace

import pytest
from solved import Bench

from vbas_desktop.app.run import build_engine_request
from vbas_desktop.engine import partitions
from vbas_desktop.engine.comparison.plan import estimate_aggregation_seconds, estimate_rating_seconds
from vbas_desktop.model.text import format_duration_range
from vbas_desktop.ui.state import requests
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.estimate import ExpectedDuration, estimate
from vbas_desktop.ui.state.requests import open_files


class Clock:
    """Every look at it, a certain time has passed."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def taking(run, seconds):
    """The run, as if its solutions had taken so long."""
    solutions = tuple(
        replace(each, seconds=number) for each, number in zip(run.result.solutions, seconds, strict=True)
    )
    return replace(run, result=replace(run.result, solutions=solutions, seconds=sum(seconds)))


@pytest.fixture
def state(solved, qapp):
    bench = Bench(solved.state())
    yield bench.state
    bench.close()


def test_a_first_guess_is_a_wide_range_and_says_that_it_is_one(state):
    state.restore_results(())
    order = state.request_estimate()
    found = estimate(order)
    stored = found.problem.counts.table.nnz
    location = build_engine_request(order.request.settings, found.problem).site_location
    assert found.tried_seconds is None, "a fixed number needs no trials"
    assert found.guessed_seconds == len(found.site_numbers) * estimate_aggregation_seconds(
        location, stored
    )
    assert found.expected([]) == ExpectedDuration(
        found.guessed_seconds / 3, 3 * found.guessed_seconds, True
    )
    assert found.expected([]).in_words == ""
    assert replace(found, guessed_seconds=200.0).expected([]).in_words == (
        "Will take roughly 1 to 10 minutes: a first guess, nothing like it was run on these data yet."
    )
    slower = estimate(replace(order, pace=7.0))
    assert slower.guessed_seconds == pytest.approx(7 * found.guessed_seconds)


def test_what_was_tried_for_the_number_of_sites_tells_better(state, monkeypatch):
    state.restore_results(())
    state.change(state.choices.with_approach("site_number", "limit"))
    monkeypatch.setattr(partitions, "perf_counter", Clock(9.0))
    found = estimate(state.request_estimate())
    request = state.request_estimate().request
    engine_request = build_engine_request(request.settings, found.problem)
    cache = request.trials.partitions(engine_request).cache
    assert cache.median_seconds == 9.0
    todo = sum(cache.get_trial(number, lambda: None) is None for number in found.site_numbers)
    assert todo > 0
    rating = len(found.site_numbers) * estimate_rating_seconds(found.problem.counts.table.nnz)
    assert found.tried_seconds == pytest.approx(9.0 * todo + rating)
    assert found.expected([]) == ExpectedDuration(found.tried_seconds / 2, 2 * found.tried_seconds)
    assert found.expected([]).in_words.startswith("Will take about ")


def test_an_earlier_run_with_the_same_approaches_tells_best(state):
    found = estimate(state.request_estimate())
    run = next(
        entry.run for entry in state.entries if entry.run.choices.approaches == state.choices.approaches
    )
    slow = taking(run, [8.0] * 5)
    assert found.expected([slow]) == ExpectedDuration(40.0, 40.0)
    first = taking(run, [100.0, 8.0, 8.0, 8.0, 8.0])
    assert found.expected([first]) == ExpectedDuration(40.0, 40.0), (
        "getting ready is not waited for again"
    )
    at_once = replace(slow, result=replace(slow.result, seconds=25.0))
    assert found.expected([at_once]) == ExpectedDuration(25.0, 25.0), (
        "several were made at the same time"
    )
    fewer = replace(found, site_numbers=found.site_numbers[:2])
    assert fewer.expected([slow]).in_words == "Will take about 16 seconds."
    other = replace(slow, choices=slow.choices.with_approach("site_location", "random"))
    assert found.expected([other]).a_guess


def test_it_is_said_above_run(aggregated_window):
    state, tab = aggregated_window.state, aggregated_window.input
    found = estimate(state.request_run())
    (run,) = dict.fromkeys(entry.run for entry in state.entries)
    slow = taking(run, [8.0] * 5)
    state.restore_results([replace(entry, run=slow) for entry in state.entries])
    tab._on_estimated(found)
    assert tab.more.text().startswith("Will take about 40 seconds. Will try ")
    assert tab.more.isVisibleTo(tab)


def test_the_time_of_loading_tells_how_fast_the_computer_is(data, monkeypatch):
    monkeypatch.setattr(requests, "_SMALLEST_BYTES", 1000)
    size = data[0].stat().st_size
    for seconds, pace in ((size * requests._SECONDS_PER_BYTE * 3, 3.0), (1e9, 20.0), (0.0, 0.25)):
        monkeypatch.setattr(requests, "perf_counter", Clock(seconds))
        loaded = open_files(AppState().request_load(*data))
        assert loaded.pace == pytest.approx(pace)
    state = AppState()
    state.accept_data(replace(loaded, pace=3.0))
    assert state.request_estimate().pace == 3.0
    monkeypatch.undo()
    assert open_files(AppState().request_load(*data)).pace == 1.0, "so small a file tells nothing"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.2, 0.4, "1 second"),
        (20, 60, "20 to 60 seconds"),
        (66, 600, "1 to 10 minutes"),
        (70, 119, "1 to 2 minutes"),
        (1800, 5400, "1 to 2 hours"),
        (3600 * 3, 3600 * 1200, "3 to 1,200 hours"),
    ],
)
def test_ranges_are_no_more_exact_than_they_can_be_known(low, high, words):
    assert format_duration_range(low, high) == words
