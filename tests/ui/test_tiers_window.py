"""Tiers in the window: offered whenever they save records, applied with one click, and told where records went."""

from dataclasses import replace

import pytest

from vbas_desktop.engine.region_table import region_table, why
from vbas_desktop.model.words import share_in_words
from vbas_desktop.release.plan import make_plan
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.map.preparer import preparer_of
from vbas_desktop.ui.panel.regions_tab import RegionsTab
from vbas_desktop.ui.panel.results_lines import run_in_tiers
from vbas_desktop.ui.panel.results_tab import ResultsTab

LONG = 60_000


@pytest.fixture
def losing(loaded_window, qtbot):
    """A window with a solution of 60 regions that loses many records."""
    session = loaded_window.session
    chosen = session.choices.with_approach("site_number", "fixed").with_parameter("site_number", "fixed", "sites", 60)
    session.change(replace(chosen, range_reach=0))
    run(loaded_window, qtbot)
    return loaded_window


def run(window, qtbot):
    with qtbot.waitSignal(window.runner.job_ended, timeout=LONG):
        window.controller.run()
    wait_for_shown(window, qtbot)


def wait_for_shown(window, qtbot):
    def ready():
        shown = preparer_of(window.context).shown
        return shown is not None and shown.table is not None and shown.number == window.session.selected.number

    qtbot.waitUntil(ready, timeout=LONG)


def test_results_say_what_tiers_would_save_and_one_click_runs_them(losing, qtbot):
    results = losing.tab("Results")
    assert isinstance(results, ResultsTab)
    before = losing.session.selected.solution
    saved = preparer_of(losing.context).shown.lost_in_tiers
    assert saved < before.suppressed_records
    lost, in_tiers = (share_in_words(number, 3000) for number in (before.suppressed_records, saved))
    assert results.tiers.isVisibleTo(results)
    assert results.tiers.words.text() == f"Solution 1: {lost} of the records are lost; in tiers {in_tiers}."
    with qtbot.waitSignal(losing.runner.job_ended, timeout=LONG):
        results.tiers.apply.click()
    wait_for_shown(losing, qtbot)
    assert losing.session.choices.approaches["tiers"] == "auto"
    after = losing.session.selected.solution
    assert after.suppressed_records == saved
    assert after.owner.tolist() == before.owner.tolist()
    assert not results.tiers.isVisibleTo(results)
    names = [column.name for column in results.table_model.columns]
    assert "tier_0" in names
    losing.menus.actions["undo"].trigger()
    assert losing.session.choices.approaches["tiers"] == "none"


def test_tiers_are_not_run_for_a_solution_of_another_k(losing, qtbot):
    tiers, session = losing.tab("Results").tiers, losing.session
    assert tiers.apply.isEnabled()
    session.change_fields(k=20)
    assert not tiers.apply.isEnabled()
    assert tiers.apply.toolTip().startswith("The shown solution has another k, other quasi-identifiers,")
    before = session.choices
    run_in_tiers(losing.context)
    assert session.choices == before
    assert not losing.runner.busy
    session.undo()
    assert tiers.apply.isEnabled()


def test_export_offers_tiers_instead_of_the_loss(losing, qtbot):
    losing.menus.actions["export"].trigger()
    dialog = losing.findChild(ExportDialog)
    assert "; in tiers " in dialog.saving.text()
    with qtbot.waitSignal(losing.runner.job_ended, timeout=LONG):
        dialog.tiers.click()
    wait_for_shown(losing, qtbot)
    assert losing.session.selected.solution.tiers is not None
    losing.menus.actions["export"].trigger()
    again = losing.findChildren(ExportDialog)[-1]
    assert "and larger places (" in again.summary.text()
    assert not again.tiers.isVisibleTo(again)
    again.reject()


def test_regions_tell_which_classes_went_up_and_where_to(losing, qtbot):
    losing.session.change(losing.session.choices.with_approach("tiers", "auto"))
    run(losing, qtbot)
    shown = preparer_of(losing.context).shown
    table = region_table(shown.problem, shown.solution)
    assert (table.records == table.released + table.raised + table.suppressed).all()
    assert table.raised.sum() == sum(shown.solution.released_by_tier[1:]) > 0
    assert [figure.name for figure in shown.figures][:3] == ["records", "raised", "suppressed"]
    region = int(table.raised.argmax())
    classes = why(shown.problem, shown.solution, region)
    assert sum(each.size for each in classes if each.tier is not None) == table.raised[region]
    losing.open_tab("Regions")
    tab = losing.tab("Regions")
    assert isinstance(tab, RegionsTab)
    losing.session.choose_region(region)
    qtbot.waitUntil(lambda: tab.why.classes.rowCount() > 0, timeout=LONG)
    titles = [tab.why.classes.horizontalHeaderItem(i).text() for i in range(tab.why.classes.columnCount())]
    assert titles[-2:] == ["Released in", "Records"]
    places = {tab.why.classes.item(row, len(titles) - 2).text()[0] for row in range(tab.why.classes.rowCount())}
    assert places <= {"B", "C", "–"}
    assert places & {"B", "C"}
    assert "released in larger places" in tab.why.headline.text()


def test_the_map_has_a_layer_for_each_tier(losing, qtbot):
    losing.session.change(
        losing.session.choices.with_approach("tiers", "auto").with_parameter("tiers", "auto", "factor", 4)
    )
    run(losing, qtbot)
    view, shown = losing.area.map, preparer_of(losing.context).shown
    tiers = shown.solution.tiers
    assert [tier.name for tier in shown.tier_maps] == [f"tier_{number}" for number in range(1, len(tiers) - 1)]
    assert view.bar.colouring.itemText(1) == f"Tier 1: larger place, tier 1 ({tiers.places[1]})"
    losing.session.colour_by("tier_1")
    drawn = view.canvas.geometry_shown
    assert drawn is shown.tier_maps[0].geometry
    for place in range(tiers.places[1]):
        assert len(set(drawn.colours[tiers.parents[0] == place].tolist())) == 1
    # One wide border around each larger place: as many shapes as places, and their area is that of the parts.
    assert len(drawn.outline.starts) - 1 == tiers.places[1]
    assert shown.geometry.outline is None
    for one, other in shown.geometry.pairs.tolist():
        if tiers.parents[0][one] != tiers.parents[0][other]:
            assert drawn.colours[one] != drawn.colours[other]
    losing.session.colour_by(None)
    assert view.canvas.geometry_shown is shown.geometry


def test_the_card_says_how_many_records_are_released_where(losing, qtbot):
    losing.session.change(
        losing.session.choices.with_approach("tiers", "auto").with_parameter("tiers", "auto", "factor", 4)
    )
    run(losing, qtbot)
    shown = preparer_of(losing.context).shown
    tiers, table = shown.solution.tiers, shown.table
    plan = make_plan(shown.problem, shown.solution)
    region = int(table.raised.argmax())
    lines = shown.released_in(region)
    assert lines[0] == f"{plan.released_by_region[region]:,} released with its own code"
    for tier, (line, places) in enumerate(zip(lines[1:], plan.coarser, strict=True), 1):
        place = int(tiers.ancestors[tier][region])
        listed = f"in {places.codes[place]} ({places.title}), which lists {places.released_by_region[place]:,}"
        assert line.endswith(listed)
    told = [int(line.split()[0].replace(",", "")) for line in lines]
    assert sum(told) + table.suppressed[region] == table.records[region]
    view = losing.area.map
    losing.session.colour_by("tier_1")
    x, y = shown.geometry.base.points[shown.solution.membership == region][0]
    view.canvas.region_hovered.emit(region, None, float(x), float(y))
    assert all(line in view.canvas.card.text() for line in lines)
