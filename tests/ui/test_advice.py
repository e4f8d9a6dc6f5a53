"""Advice in the window: shown after a run that lost nothing or too much, followed with one click, undone."""

from dataclasses import replace


def run(window, qtbot):
    with qtbot.waitSignal(window.runner.job_ended, timeout=60_000):
        window.controller.run()


def test_one_click_uses_the_finest_number_and_undo_takes_it_back(loaded_window, qtbot):
    session, tab = loaded_window.session, loaded_window.tab("Results")
    session.change(
        session.choices.with_approach("site_number", "fixed").with_parameter("site_number", "fixed", "sites", 1)
    )
    run(loaded_window, qtbot)
    before, advice = session.choices, tab.advice.advice
    assert advice.text.startswith("Nothing is lost: ")
    assert tab.advice.text.text() == advice.text
    assert tab.advice.use.text() == f"Use {advice.sites} sites"
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=60_000):
        tab.advice.use.click()
    assert session.choices.approaches["site_number"] == "limit"
    assert session.selected.solution.site_count == advice.sites
    assert session.selected.solution.measures["suppressed_records"] == advice.suppressed
    assert tab.advice.advice is None
    assert tab.advice.isHidden()
    session.undo()
    assert session.choices == before


def test_the_run_takes_over_what_the_line_above_it_tried(loaded_window, qtbot, monkeypatch):
    from vbas_desktop.approaches.construction.voronoi import VoronoiConstruction

    asked, construct = [], VoronoiConstruction.construct

    def counting(self, situation, sites, progress):
        asked.append(len(sites))
        return construct(self, situation, sites, progress)

    monkeypatch.setattr(VoronoiConstruction, "construct", counting)
    session, line = loaded_window.session, loaded_window.input.live
    session.change(session.choices.with_allowed_loss(7.0))
    qtbot.waitUntil(lambda: "allowed 7 %" in line.text() and line.isEnabled(), timeout=60_000)
    ahead = set(asked)
    assert len(ahead) > 1
    asked.clear()
    run(loaded_window, qtbot)
    numbers = [entry.solution.site_count for entry in session.entries]
    chosen = session.entries[0].solution.approximated_sites
    assert f"{chosen} sites lose " in line.text()
    assert {chosen, chosen + 1} <= ahead
    # Only numbers of the range around the chosen one, which the look ahead had no need to try.
    assert sorted(asked) == [number for number in numbers if number not in ahead]


def test_there_is_no_advice_on_the_allowed_loss_itself(loaded_window, qtbot):
    run(loaded_window, qtbot)
    assert loaded_window.session.entries
    assert loaded_window.tab("Results").advice.isHidden()


def test_other_aims_are_tried_on_request_and_followed_with_one_click(loaded_window, qtbot):
    session, tab = loaded_window.session, loaded_window.tab("Results")
    run(loaded_window, qtbot)
    before = session.choices
    assert tab.alternatives.isHidden()
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=60_000):
        tab.limit.alternatives.click()
    assert [label.text().partition(":")[0] for label, _ in tab.alternatives.rows] == [
        "Aim least-loss, without tiers",
        "Aim finest, tiers auto",
        "Aim least-loss, tiers auto",
    ]
    assert not tab.alternatives.isHidden()
    told, use = tab.alternatives.rows[2]
    with qtbot.waitSignal(loaded_window.runner.job_ended, timeout=60_000):
        use.click()
    made = session.selected.solution
    assert (made.approaches["tiers"], made.parameters["site_number"]["aim"]) == ("auto", "least-loss")
    assert f" {made.approximated_sites:,} site" in told.text()
    # The new solution is shown now, and nothing was tried for its run yet.
    assert tab.alternatives.isHidden()
    assert tab.alternatives.rows == []
    session.undo()
    assert session.choices == before


def test_other_aims_of_a_run_with_another_k_are_not_tried(loaded_window, qtbot):
    session, tab = loaded_window.session, loaded_window.tab("Results")
    run(loaded_window, qtbot)
    session.change(replace(session.choices, k=session.choices.k + 1))
    tab.limit.alternatives.click()
    assert not loaded_window.runner.busy
    assert tab.alternatives.isHidden()
