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


def test_there_is_no_advice_on_the_allowed_loss_itself(loaded_window, qtbot):
    run(loaded_window, qtbot)
    assert loaded_window.session.entries
    assert loaded_window.tab("Results").advice.isHidden()
