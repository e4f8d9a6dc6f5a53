"""How long a run will take is said before it begins, if it is long."""

from dataclasses import replace

from vbas_desktop.comparison.costs import seconds_of_one
from vbas_desktop.session.estimate import estimate


def test_a_long_run_says_so_beforehand_and_a_short_one_does_not(aggregated_window):
    session, tab = aggregated_window.session, aggregated_window.input
    found = estimate(session.order_run())
    (run,) = dict.fromkeys(entry.run for entry in session.entries)
    assert found.approaches == dict(session.choices.approaches)
    stored = found.problem.counts.rows[2].size
    location = session.order_run().job.request(found.problem).site_location
    assert found.seconds([]) == found.guessed_seconds == 5 * seconds_of_one(location, stored)
    assert found.time_in_words([]) == ""
    assert replace(found, guessed_seconds=200.0).time_in_words([]) == "Will take about 3 minutes."

    slow = replace(run, result=replace(run.result, seconds=40.0))
    assert found.seconds([slow]) == 40.0, "as long as the same run took before"
    fewer = replace(found, site_numbers=found.site_numbers[:2])
    assert fewer.seconds([slow]) == 16.0
    assert fewer.time_in_words([slow]) == "Will take about 16 seconds."
    other = replace(slow, approaches={**slow.approaches, "site_location": "random"})
    assert found.seconds([other]) == found.guessed_seconds

    session.restore_results([replace(entry, run=slow) for entry in session.entries])
    tab._on_estimated(found)
    assert tab.more.text().startswith("Will take about 40 seconds. Will try ")
    assert tab.more.isVisibleTo(tab)
