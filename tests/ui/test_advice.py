"""Advice in the window: shown after a run that lost nothing or too much, followed with one click, undone."""


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
