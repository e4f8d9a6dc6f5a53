"""Advice in the window: shown after a run that lost nothing or too much, followed with one click, undone."""


def run(window, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        window.run_commands.run()


def test_one_click_uses_the_finest_number_and_undo_takes_it_back(loaded_window, qtbot):
    state, tab = loaded_window.state, loaded_window.tab("Results")
    state.change(
        state.choices.with_approach("site_number", "fixed").with_parameter(
            "site_number", "fixed", "sites", 1
        )
    )
    run(loaded_window, qtbot)
    before, advice = state.choices, tab.loss.advice
    assert advice.text.startswith("Nothing is lost: ")
    assert tab.loss.label.text() == advice.text
    use = tab.loss.button("Use")
    assert use.text() == f"Use {advice.sites} sites"
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        use.click()
    assert state.choices.approaches["site_number"] == "limit"
    assert state.selected.solution.site_count == advice.sites
    assert state.selected.solution.measures["suppressed_records"] == advice.suppressed
    assert tab.loss.advice is None
    assert tab.loss.isHidden()
    state.undo()
    assert state.choices == before


def test_advice_on_another_allowed_loss_is_not_given(loaded_window, qtbot):
    state, loss = loaded_window.state, loaded_window.tab("Results").loss
    choices = state.choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 50
    )
    state.change(choices)
    run(loaded_window, qtbot)
    advice = loss.advice
    assert advice is not None
    assert loss.label.text() == advice.text
    state.change(state.choices.with_allowed_loss(choices.allowed_loss_percent + 1))
    assert loss.advice is None
    assert loss.label.text() != advice.text
    state.undo()
    assert loss.label.text() == advice.text


def test_the_run_takes_over_what_the_line_above_it_tried(loaded_window, qtbot, monkeypatch):
    from vbas_desktop.approaches.construction.voronoi import VoronoiConstruction

    asked, construct = [], VoronoiConstruction.build_partition

    def counting(self, context, sites, progress):
        asked.append(len(sites))
        return construct(self, context, sites, progress)

    monkeypatch.setattr(VoronoiConstruction, "build_partition", counting)
    state, line = loaded_window.state, loaded_window.input.live
    state.change(state.choices.with_allowed_loss(7.0))
    qtbot.waitUntil(lambda: "allowed 7 %" in line.text() and line.isEnabled(), timeout=60_000)
    ahead = set(asked)
    assert len(ahead) > 1
    asked.clear()
    run(loaded_window, qtbot)
    numbers = [entry.solution.site_count for entry in state.entries]
    chosen = state.entries[0].solution.approximated_sites
    assert f"{chosen} sites lose " in line.text()
    assert {chosen, chosen + 1} <= ahead
    # Only numbers of the range around the chosen one, which the look ahead had no need to try.
    assert sorted(asked) == [number for number in numbers if number not in ahead]


def test_there_is_no_advice_on_the_allowed_loss_itself(loaded_window, qtbot):
    run(loaded_window, qtbot)
    assert loaded_window.state.entries
    assert loaded_window.tab("Results").loss.advice is None


def test_other_aims_are_tried_on_request_and_followed_with_one_click(loaded_window, qtbot):
    state, tab = loaded_window.state, loaded_window.tab("Results")
    run(loaded_window, qtbot)
    before = state.choices
    assert tab.alternatives.isHidden()
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        tab.limit.alternatives.click()
    assert [label.text().partition(":")[0] for label, _ in tab.alternatives.rows] == [
        "Aim least-loss, without tiers",
        "Aim finest, tiers auto",
        "Aim least-loss, tiers auto",
    ]
    assert not tab.alternatives.isHidden()
    label, use = tab.alternatives.rows[2]
    forecast = label.text()
    with qtbot.waitSignal(loaded_window.worker.job_ended, timeout=60_000):
        use.click()
    made = state.selected.solution
    assert (made.approaches["tiers"], made.parameters["site_number"]["aim"]) == ("auto", "least-loss")
    assert f" {made.approximated_sites:,} site" in forecast
    # The new solution is shown now, and nothing was tried for its run yet.
    assert tab.alternatives.isHidden()
    assert tab.alternatives.rows == []
    state.undo()
    assert state.choices == before


def test_other_aims_of_a_run_with_another_k_are_not_tried(loaded_window, qtbot):
    state, tab = loaded_window.state, loaded_window.tab("Results")
    run(loaded_window, qtbot)
    state.change(state.choices.replaced(k=state.choices.k + 1))
    tab.limit.alternatives.click()
    assert not loaded_window.worker.busy
    assert tab.alternatives.isHidden()
