"""The page that compares: ticks, the size of the work, running, stopping, going on, the thesis' experiments."""

from __future__ import annotations

import re
import threading

import pytest
from PySide6.QtWidgets import QFileDialog

from vbas_desktop.app.reproduce import IslandRequest, ReproduceRequest
from vbas_desktop.engine.comparison import run as comparison_run
from vbas_desktop.engine.run import run
from vbas_desktop.model.records import Role
from vbas_desktop.ui.core.theme import DARK, LIGHT
from vbas_desktop.ui.pages.compare.results import heat_of, summary_html

LONG = 120_000


@pytest.fixture
def page(loaded_window, tmp_path):
    """The page with six fixed sites, two locations and ADC from one of them, for k = 3 and 5."""
    state = loaded_window.state
    chosen = state.choices.with_role("age", Role.QUASI_IDENTIFIER).with_role(
        "sex", Role.QUASI_IDENTIFIER
    )
    chosen = chosen.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 6
    )
    state.change(chosen.with_grouping("age", {"1": "1-2", "2": "1-2"}))
    loaded_window.menus.actions["compare_combinations"].trigger()
    page = loaded_window.area.page
    page.form.components["site_location"].tick(["density", "balanced-density", "adc"])
    page.form.seedings.tick(["density"])
    page.form.ks.setText("3, 5")
    page.target.setText(str(tmp_path / "out"))
    return page


def finish(window, qtbot, start) -> None:
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        start()


def test_the_page_tells_how_much_work_the_ticks_make(page, qtbot):
    assert page.live.text() == "6 combinations in 2 scenarios make at most 30 aggregations."
    expected = "6 combinations in 2 scenarios make 30 aggregations. About a second to go."
    qtbot.waitUntil(lambda: page.live.text() == expected, timeout=LONG)
    page.form.generalised.setCurrentIndex(page.form.generalised.findData("both"))
    page.form.generalised.activated.emit(2)
    assert page.live.text() == "12 combinations in 4 scenarios make at most 60 aggregations."


def test_sets_of_quasi_identifiers_are_ticked(page, qtbot):
    form = page.form
    assert form.choose.isEnabled()
    assert form.sets.toPlainText() == "age, sex"
    form.another.click()
    offered = {action.data(): action for action in form.column_menu.actions()}
    assert "tract" not in offered, "the region is no quasi-identifier"
    assert not any(action.isChecked() for action in offered.values())
    offered["sex"].trigger()
    form.column_menu.close()
    assert form.ticked().quasi_identifier_sets == (("age", "sex"), ("sex",))


def test_what_is_missing_is_said_and_compare_waits(page):
    page.form.components["site_location"].tick([])
    assert page.live.text() == "Tick at least one approach for site location."
    assert not page.start.isEnabled()
    page.form.components["site_location"].tick(["density"])
    page.form.sets.setPlainText("age\nheight")
    assert page.live.text() == "There is no column “height”."


def test_results_land_in_the_table_and_the_folder_once(page, loaded_window, tmp_path, qtbot):
    state = loaded_window.state
    finish(loaded_window, qtbot, page.start.click)
    assert len(state.entries) == 30
    assert {entry.run.key.k for entry in state.entries} == {3, 5}
    assert (tmp_path / "out" / "comparison.csv").is_file()
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == ["out"]
    assert page.summary.toPlainText().startswith("6 combinations in 2 scenarios, 30 solutions")
    finish(loaded_window, qtbot, page.start.click)
    assert len(state.entries) == 30
    state.select(state.entries[0].number)
    assert state.selected.problem is not None


def test_an_estimate_that_comes_late_leaves_the_result_in_its_line(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.compare)
    said = page.live.text()
    assert said.endswith("solutions.")
    page._look_ahead()
    qtbot.waitUntil(lambda: not loaded_window.background.busy, timeout=LONG)
    assert page.live.text() == said


def test_the_summary_is_a_table_whose_colours_tell_the_distance_from_the_best(
    page, loaded_window, qtbot
):
    finish(loaded_window, qtbot, page.start.click)
    summary = page.summary._summary
    contest = next(each for each in summary.contests if each.measure == "average_distance")
    text = page.summary.toPlainText()
    for standing in contest.standings:
        heat = heat_of(contest, standing.label)
        told = "lowest" if heat == 0 else f"+{100 * heat:,.1f} %"
        assert f"{told} ({standing.best:,} of {contest.comparisons:,})" in text
    heats = [heat_of(contest, standing.label) for standing in contest.standings]
    assert min(heats) == 0 < max(heats)
    html = summary_html(summary, LIGHT)
    assert html.count("<table") == 2
    assert f'bgcolor="{LIGHT.base}"' in html, "the best has no colour"
    assert len(set(re.findall('bgcolor="(#[0-9a-f]{6})"', html))) > 3
    loaded_window.theme.choose("dark")
    assert f'bgcolor="{DARK.base}"' in summary_html(summary, loaded_window.theme.colours)
    assert page.summary.toPlainText() == text


def test_a_finished_comparison_leaves_no_hidden_folder_but_what_others_put_there(
    page, loaded_window, tmp_path, qtbot
):
    kept = tmp_path / ".out.combinations"
    kept.mkdir()
    (kept / f"{0:032x}.json").write_text("{}")
    finish(loaded_window, qtbot, page.start.click)
    assert not kept.exists()
    kept.mkdir()
    (kept / "mine.txt").write_text("a note")
    finish(loaded_window, qtbot, page.start.click)
    assert [path.name for path in kept.iterdir()] == ["mine.txt"]


def test_what_was_run_before_is_not_listed_again(page, loaded_window, qtbot):
    state = loaded_window.state
    state.change(state.choices.with_approach("site_location", "density"))
    finish(loaded_window, qtbot, loaded_window.run_commands.run)
    assert len(state.entries) == 5
    page.form.ks.setText(str(state.choices.k))
    page.form.components["site_location"].tick(["density", "balanced-density"])
    assert page.form.generalised.currentData() == "yes", "groups are made in Input"
    finish(loaded_window, qtbot, page.start.click)
    listed = [entry.run.choices.approaches["site_location"] for entry in state.entries]
    assert listed == ["density"] * 5 + ["balanced-density"] * 5


def test_the_chart_of_the_results_draws_what_competes_with_the_shown_solution(
    page, loaded_window, qtbot
):
    state, tab = loaded_window.state, loaded_window.tab("Results")
    finish(loaded_window, qtbot, page.start.click)
    for k in (3, 5):
        mine = [
            entry.number
            for entry in state.entries
            if entry.run.key.k == k and state.marks[entry.number].same_as is None
        ]
        state.select(mine[0])
        assert [row.number for row in tab.charts.chart.rows] == mine


def test_a_stopped_comparison_goes_on_where_it_was(page, loaded_window, tmp_path, qtbot, monkeypatch):
    kept = tmp_path / ".out.combinations"
    page.form.sets.setPlainText("age\nage, sex\nsex")
    gate = threading.Event()

    def wait_with_the_larger_k(request, progress):
        while request.problem.k == 5 and not gate.wait(0.01):
            progress.update("Waiting", 0.0)
        return run(request, progress)

    def stop_early() -> None:
        page.start.click()
        qtbot.waitUntil(lambda: page.done > 0, timeout=LONG)
        page.stop.click()

    monkeypatch.setattr(comparison_run, "run", wait_with_the_larger_k)
    finish(loaded_window, qtbot, stop_early)
    before = len(list(kept.glob("*.json")))
    assert 0 < before <= 9
    runs = []
    monkeypatch.setattr(comparison_run, "run", lambda *given: runs.append(given) or run(*given))
    finish(loaded_window, qtbot, page.start.click)
    assert len(runs) == 18 - before
    assert not kept.exists(), "nothing is left to go on with"
    assert len(loaded_window.state.entries) == 90


def test_the_charts_share_one_legend_which_each_saved_picture_has_too(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.start.click)
    page.tabs.setCurrentWidget(page.charts)
    charts = list(page.charts.charts.values())
    assert len(charts) > 2
    texts = [entry.text for entry in page.charts.legend.entries]
    assert len(texts) > 1
    assert page.charts.legend.isVisible()
    for chart in charts:
        assert chart.legend.isHidden()
        assert [entry.text for entry in chart.legend.entries] == texts
        assert chart.picture_size.height() > chart.height()
    results = loaded_window.tab("Results").charts.chart
    shared = {entry.text: entry for entry in results.legend.entries if entry.symbol}
    for entry in page.charts.legend.entries:
        if entry.text in shared:
            assert (entry.colour, entry.symbol) == (shared[entry.text].colour, shared[entry.text].symbol)


def test_charts_show_each_measure_of_the_chosen_scenario(page, loaded_window, qtbot):
    finish(loaded_window, qtbot, page.start.click)
    page.tabs.setCurrentWidget(page.charts)
    charts = page.charts.charts
    assert "suppressed_records" in charts
    chart = charts["suppressed_records"]
    assert {row.approach for row in chart.rows} == {
        "Density grid",
        "Balanced density",
        "ADC, Density grid",
    }
    assert len(chart.rows) == 15
    page.charts.scenario.setCurrentIndex(1)
    page.charts.scenario.activated.emit(1)
    assert len(chart.rows) == 15


def test_the_experiments_of_the_thesis_run_from_the_page(page, loaded_window, tmp_path, qtbot):
    request = ReproduceRequest("eastern", tmp_path / "thesis", share=0.003)
    finish(loaded_window, qtbot, lambda: page.reproduce(request))
    assert (tmp_path / "thesis" / "claims.md").is_file()
    assert re.fullmatch(
        r"\d+ of 18 claims are held here, \d+ in the published rows too\.", page.live.text()
    )
    assert "Claims" in page.summary.toPlainText()


@pytest.mark.parametrize(("dependent", "model"), [(False, "independent"), (True, "dependent")])
def test_menu_offers_central_canada_and_both_models_of_attributes(
    page, tmp_path, monkeypatch, dependent, model
):
    orders = []
    monkeypatch.setattr(page, "reproduce", orders.append)
    texts = [action.text().replace("&", "") for action in page.thesis.menu().actions()]
    assert [text.partition(" (")[0].partition(",")[0] for text in texts if text.startswith("Like")] == [
        "Like Eastern Canada",
        "Like Central Canada",
        "Like Western Canada",
        "Like Prince Edward Island",
    ]
    page.dependent.setChecked(dependent)
    page.thesis.menu().actions()[1].trigger()
    dialog = page.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path))
    dialog.reject()
    assert orders == [ReproduceRequest("central", tmp_path / "thesis-central", attributes=model)]


def test_growth_on_an_island_runs_from_the_page(page, loaded_window, tmp_path, qtbot):
    request = IslandRequest("pei", tmp_path / "island", share=0.05)
    finish(loaded_window, qtbot, lambda: page.reproduce(request))
    assert (tmp_path / "island" / "tables" / "table-22.csv").is_file()
    assert "Balanced density against growth" in page.summary.toPlainText()


def test_the_folder_is_browsed_for_and_cannot_be_missing(page, tmp_path, qtbot):
    page.target.clear()
    assert page.live.text() == "Choose a folder for the tables."
    assert not page.start.isEnabled()
    page.browse.click()
    dialog = page.findChild(QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(tmp_path / "tables"))
    dialog.reject()
    assert page.target.text() == str(tmp_path / "tables")
    assert page.start.isEnabled()


def test_the_whole_plan_is_in_sight_in_a_usual_window(page, loaded_window, qtbot):
    loaded_window.resize(1440, 868)
    seen = (
        *page.form.components.values(),
        page.form.seedings,
        page.form.sets,
        page.form.ks,
        page.target,
        page.browse,
    )
    qtbot.waitUntil(
        lambda: all(part.visibleRegion().boundingRect() == part.rect() for part in seen), timeout=LONG
    )
