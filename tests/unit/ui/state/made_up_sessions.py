"""Small made-up data, and sessions that use them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vbas_desktop.app.run import run_configuration
from vbas_desktop.ui.state.app_state import AppState
from vbas_desktop.ui.state.requests import open_files


def write_data(folder: Path, regions: int = 40, records: int = 2000, seed: int = 0) -> tuple[Path, Path]:
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    region_lines = [
        f"R{i:03d},{x:.1f},{y:.1f}" for i, (x, y) in enumerate(rng.random((regions, 2)) * 1000)
    ]
    (folder / "regions.csv").write_text("id,x,y\n" + "\n".join(region_lines) + "\n")
    rows = [
        f"P{i:05d},{age},{sex},{illness},R{where:03d}"
        for i, (age, sex, illness, where) in enumerate(
            zip(
                rng.integers(1, 8, records),
                rng.integers(1, 3, records),
                rng.integers(1, 40, records),
                rng.integers(0, regions, records),
                strict=True,
            )
        )
    ]
    (folder / "records.csv").write_text("person,age,sex,illness,tract\n" + "\n".join(rows) + "\n")
    return folder / "records.csv", folder / "regions.csv"


def open_data(records: Path, regions: Path) -> AppState:
    state = AppState()
    state.accept_data(open_files(state.request_load(records, regions)))
    return state


def run(state: AppState) -> int:
    """One complete run; the number of the run."""
    task = state.request_run()
    outcome = run_configuration(
        task.request,
        on_problem=lambda problem: state.begin_counted(task.run_id, problem),
        on_solution=lambda solution: state.add_solutions(task.run_id, [solution]),
    )
    state.finish_run(task.run_id, outcome.result)
    return task.run_id
