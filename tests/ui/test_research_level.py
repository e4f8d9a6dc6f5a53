"""Options, measures and tools for research are shown only if they are switched on, and stay on in the next session."""

from __future__ import annotations

import pytest

from vbas_desktop.ui.pages import COMPARE


@pytest.fixture
def research(run_window):
    """The action that switches research on, in a window with a run."""
    run_window.input.approach.change.setChecked(True)
    return run_window.menus.actions["show_research"]


def measure_columns(window):
    return {column.title for column in window.tab("Results").table_model.columns}


def test_research_is_off_at_first_and_remembered(research, run_window, make_window):
    assert not research.isChecked()
    research.trigger()
    assert run_window.state.shows_research
    run_window.settings.sync()
    assert make_window().menus.actions["show_research"].isChecked()


def test_seeds_and_variants_are_fields_only_for_research_or_if_they_are_changed(research, run_window):
    seed = run_window.input.approaches.range.fields["random_seed"]
    variant = run_window.input.approaches.choices["site_location"].form.fields["variant"]
    assert seed.isHidden()
    assert variant.isHidden()
    research.trigger()
    assert not seed.isHidden()
    assert not variant.isHidden()
    run_window.state.change_fields(random_seed=7)
    research.trigger()
    assert not seed.isHidden(), "nothing that is in force is hidden"
    assert variant.isHidden()
    run_window.state.change_fields(random_seed=0)
    assert seed.isHidden()


def test_indices_are_columns_only_for_research_or_if_they_rate(research, run_window):
    indices = {"Discernibility", "Kept together", "Fowlkes–Mallows", "Davies–Bouldin"}
    assert indices.isdisjoint(measure_columns(run_window))
    run_window.state.change_fields(pareto_measures=("suppressed_records", "discernibility"))
    assert indices & measure_columns(run_window) == {"Discernibility"}
    research.trigger()
    assert indices <= measure_columns(run_window)


def test_charts_offer_indices_only_for_research(research, run_window, qtbot):
    measures = run_window.tab("Results").charts.first

    def is_offered():
        return measures.findText("Discernibility") >= 0

    assert measures.count() > 1
    assert not is_offered()
    research.trigger()
    qtbot.waitUntil(is_offered)


def test_published_experiments_are_offered_only_for_research(research, run_window):
    page = run_window.area.show_page(COMPARE)
    assert page.thesis.isHidden()
    research.trigger()
    assert not page.thesis.isHidden()
