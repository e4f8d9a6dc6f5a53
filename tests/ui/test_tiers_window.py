"""Tiers in the window: offered whenever they save records, applied with one click, and told where records went."""

import pytest
from PySide6.QtCore import Qt

from vbas_desktop.engine.region_table import build_region_table, explain_suppression
from vbas_desktop.model.text import format_share
from vbas_desktop.releases.plan import build_plan
from vbas_desktop.ui.dialogs.export import ExportDialog
from vbas_desktop.ui.map.map_cache import map_cache_of
from vbas_desktop.ui.panels.notices import run_in_tiers
from vbas_desktop.ui.panels.regions_panel import RegionsPanel
from vbas_desktop.ui.panels.results_panel import ResultsPanel

LONG = 60_000


@pytest.fixture
def losing(loaded_window, qtbot):
    """A window with a solution of 60 regions that loses many records."""
    state = loaded_window.state
    chosen = state.choices.with_approach("site_number", "fixed").with_parameter(
        "site_number", "fixed", "sites", 60
    )
    state.change(chosen.replaced(range_reach=0))
    run(loaded_window, qtbot)
    return loaded_window


def run(window, qtbot):
    with qtbot.waitSignal(window.worker.job_ended, timeout=LONG):
        window.run_commands.run()
    wait_for_shown(window, qtbot)


def wait_for_shown(window, qtbot):
    def ready():
        shown = map_cache_of(window.context).shown
        return (
            shown is not None
            and shown.table is not None
            and shown.number == window.state.selected.number
        )

    qtbot.waitUntil(ready, timeout=LONG)


def test_results_say_what_the_fallback_would_save_and_one_click_runs_it(losing, qtbot):
    results = losing.tab("Results")
    assert isinstance(results, ResultsPanel)
    before = losing.state.selected.solution
    saved = map_cache_of(losing.context).shown.lost_in_tiers
    assert saved < before.suppressed_records
    assert results.loss.isVisibleTo(results)
    assert results.loss.label.text() == results.loss.advice.text
    use, button = results.loss.buttons
    assert use.text() == f"Use {results.loss.advice.sites} sites"
    assert button.text() == f"Fall back to larger areas: {format_share(saved, 3000)}"
    with qtbot.waitSignal(losing.worker.job_ended, timeout=LONG):
        button.click()
    wait_for_shown(losing, qtbot)
    assert losing.state.choices.approaches["tiers"] == "auto"
    after = losing.state.selected.solution
    assert after.suppressed_records == saved
    assert after.owner.tolist() == before.owner.tolist()
    assert "Fall back" not in "".join(each.text() for each in results.loss.buttons)
    names = [column.name for column in results.table_model.columns]
    assert "tier_0" in names
    losing.menus.actions["undo"].trigger()
    assert losing.state.choices.approaches["tiers"] == "none"


def test_the_fallback_is_not_run_for_a_solution_of_another_k(losing, qtbot):
    loss, state = losing.tab("Results").loss, losing.state
    assert loss.button("Fall back").isEnabled()
    state.change_fields(k=20)
    assert not loss.button("Fall back").isEnabled()
    assert (
        loss.button("Fall back")
        .toolTip()
        .startswith("The shown solution has another k, other quasi-identifiers,")
    )
    before = state.choices
    run_in_tiers(losing.context)
    assert state.choices == before
    assert not losing.worker.busy
    state.undo()
    assert loss.button("Fall back").isEnabled()


def test_export_offers_tiers_instead_of_the_loss(losing, qtbot):
    losing.menus.actions["export"].trigger()
    dialog = losing.findChild(ExportDialog)
    saved = format_share(map_cache_of(losing.context).shown.lost_in_tiers, 3000)
    (button,) = dialog.tiers.buttons
    assert button.text() == f"Fall back to larger areas: {saved}"
    with qtbot.waitSignal(losing.worker.job_ended, timeout=LONG):
        button.click()
    wait_for_shown(losing, qtbot)
    assert losing.state.selected.solution.tiers is not None
    losing.menus.actions["export"].trigger()
    again = losing.findChildren(ExportDialog)[-1]
    assert "and larger areas (" in again.summary.records.text()
    assert not again.tiers.isVisibleTo(again)
    again.reject()


def test_regions_tell_which_classes_went_up_and_where_to(losing, qtbot):
    losing.state.change(losing.state.choices.with_approach("tiers", "auto"))
    run(losing, qtbot)
    shown = map_cache_of(losing.context).shown
    table = build_region_table(shown.problem, shown.solution)
    assert (table.records == table.released + table.raised + table.suppressed).all()
    assert table.raised.sum() == sum(shown.solution.released_by_tier[1:]) > 0
    assert [figure.name for figure in shown.figures][:3] == ["records", "raised", "suppressed"]
    region = int(table.raised.argmax())
    classes = explain_suppression(shown.problem, shown.solution, region)
    assert sum(each.size for each in classes if each.tier is not None) == table.raised[region]
    losing.open_tab("Regions")
    tab = losing.tab("Regions")
    assert isinstance(tab, RegionsPanel)
    losing.state.choose_region(region)
    qtbot.waitUntil(lambda: tab.why.classes.model().rowCount() > 0, timeout=LONG)
    classes = tab.why.classes.model()
    titles = [classes.headerData(i, Qt.Orientation.Horizontal) for i in range(classes.columnCount())]
    assert titles[-2:] == ["Released in", "Records"]
    places = {classes.index(row, len(titles) - 2).data()[0] for row in range(classes.rowCount())}
    assert places <= {"B", "C", "–"}
    assert places & {"B", "C"}
    assert "released in larger areas" in tab.why.headline.text()


def test_the_map_has_a_layer_for_each_tier(losing, qtbot):
    losing.state.change(
        losing.state.choices.with_approach("tiers", "auto").with_parameter("tiers", "auto", "factor", 4)
    )
    run(losing, qtbot)
    view, shown = losing.area.map, map_cache_of(losing.context).shown
    tiers = shown.solution.tiers
    assert [tier.name for tier in shown.tier_maps] == [
        f"tier_{number}" for number in range(1, len(tiers) - 1)
    ]
    assert view.bar.colouring.itemText(1) == f"Tier 1: larger area, tier 1 ({tiers.n_areas[1]})"
    losing.state.colour_by("tier_1")
    drawn = view.canvas.geometry_shown
    assert drawn is shown.tier_maps[0].geometry
    for place in range(tiers.n_areas[1]):
        assert len(set(drawn.colours[tiers.parents[0] == place].tolist())) == 1
    # One wide border around each larger area: as many shapes as places, and their area is that of the parts.
    assert len(drawn.outline.starts) - 1 == tiers.n_areas[1]
    assert shown.geometry.outline is None
    for one, other in shown.geometry.pairs.tolist():
        if tiers.parents[0][one] != tiers.parents[0][other]:
            assert drawn.colours[one] != drawn.colours[other]
    losing.state.colour_by(None)
    assert view.canvas.geometry_shown is shown.geometry


def test_the_card_says_how_many_records_are_released_where(losing, qtbot):
    losing.state.change(
        losing.state.choices.with_approach("tiers", "auto").with_parameter("tiers", "auto", "factor", 4)
    )
    run(losing, qtbot)
    shown = map_cache_of(losing.context).shown
    tiers, table = shown.solution.tiers, shown.table
    plan = build_plan(shown.problem, shown.solution)
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
    losing.state.colour_by("tier_1")
    x, y = shown.geometry.base.points[shown.solution.membership == region][0]
    view.canvas.region_hovered.emit(region, None, float(x), float(y))
    assert all(line in view.canvas.hover_card.text() for line in lines)
