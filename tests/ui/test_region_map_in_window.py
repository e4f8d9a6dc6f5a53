"""A region map in the window: chosen in Input, used by runs and by the release."""

from __future__ import annotations

import csv
import json
from collections import Counter

from vbas_desktop.app.release import release_solution
from vbas_desktop.settings.release import ReleaseOptions


def finish(window, qtbot, begin):
    with qtbot.waitSignal(window.worker.job_ended, timeout=60_000):
        begin()


def test_a_region_map_is_read_run_and_released(loaded_window, qtbot, tmp_path, monkeypatch):
    window, state = loaded_window, loaded_window.state
    ids = state.regions.ids
    path = tmp_path / "map.csv"
    lines = [f"{one},{two}\n" for place, one in enumerate(ids) for two in {one, ids[place - 1]}]
    path.write_text("from,to\n" + "".join(sorted(lines)), encoding="utf-8")
    before = Counter(state.table.codes(state.choices.region_column).tolist())
    chosen = lambda parent, title, files, folder, then: then(str(path))  # noqa: E731
    monkeypatch.setattr("vbas_desktop.ui.panels.reading_options.ask_to_open", chosen)
    options = window.input.files.options
    options.choose["region_map"].click()
    assert options.again.isEnabled()
    finish(window, qtbot, options.again.click)
    assert state.regions.mapping.source.path == str(path)
    finish(window, qtbot, window.run_commands.run)
    problem = state.entries[0].problem
    assert problem.records == sum(before.values())
    totals = problem.counts.region_totals
    assert sorted(totals.tolist()) != sorted(before.values())
    entry = state.entries[0]
    columns = ReleaseOptions(columns=(state.choices.region_column, *problem.quasi_identifiers))
    report = release_solution(state.request_release(entry, columns, tmp_path / "out"))
    assert all(check.passed for check in report.checks)
    document = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert document["inputs"]["region_map"]["path"] == str(path)
    with (tmp_path / "out" / "release" / "aggregated_regions.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        assert sum(int(row["records"]) for row in csv.DictReader(file)) == report.records_released
    page = (tmp_path / "out" / "release" / "report.html").read_text(encoding="utf-8")
    assert "the initial region of a single record is an assumption" in page
