"""A project shows the solutions again as they were shown when it was saved."""

from __future__ import annotations

from vbas_desktop.ui.map.layers import DEFAULT_LAYERS, Layer


def test_a_project_restores_chart_colouring_and_layers(run_window, make_window, tmp_path, qtbot):
    path = tmp_path / "study.vbas"
    charts = run_window.tab("Results").charts
    charts.kind.setCurrentIndex(charts.kind.findData("histogram"))
    charts.kind.activated.emit(charts.kind.currentIndex())
    toolbar = run_window.area.map.bar
    layers = toolbar.layers ^ {Layer.POINTS, Layer.CELLS}
    toolbar.layer_actions[Layer.POINTS].trigger()
    toolbar.layer_actions[Layer.CELLS].trigger()
    assert toolbar.layers == layers != DEFAULT_LAYERS
    qtbot.waitUntil(lambda: toolbar.colouring.findData("records") > 0)
    toolbar.colouring.setCurrentIndex(toolbar.colouring.findData("records"))
    toolbar.colouring.activated.emit(toolbar.colouring.currentIndex())
    with qtbot.waitSignal(run_window.projects.worker.job_ended, timeout=60_000):
        run_window.projects.save_to(path)

    other = make_window()
    with qtbot.waitSignal(other.worker.job_ended, timeout=60_000):
        other.projects.open_project_file(path)
    assert other.tab("Results").charts.kind.currentData() == "histogram"
    assert other.area.map.bar.layers == layers
    assert other.area.map.canvas.layers == layers
    qtbot.waitUntil(lambda: other.area.map.bar.colouring.currentData() == "records")
    assert not other.state.modified


def test_how_results_are_shown_is_nothing_to_save(run_window, tmp_path, qtbot):
    with qtbot.waitSignal(run_window.projects.worker.job_ended, timeout=60_000):
        run_window.projects.save_to(tmp_path / "study.vbas")
    assert not run_window.state.modified
    run_window.state.change_view(chart="parallel")
    assert run_window.tab("Results").charts.kind.currentData() == "parallel"
    assert not run_window.state.modified
