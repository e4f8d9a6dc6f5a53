"""Small made-up data, and sessions that use them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vbas_desktop.session.session import Session


def write_data(folder: Path, regions: int = 40, records: int = 2000, seed: int = 0) -> tuple[Path, Path]:
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    region_lines = [f"R{i:03d},{x:.1f},{y:.1f}" for i, (x, y) in enumerate(rng.random((regions, 2)) * 1000)]
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


def open_data(records: Path, regions: Path) -> Session:
    session = Session()
    session.accept_data(session.order_load(records, regions).execute())
    return session


def run(session: Session) -> int:
    """One complete run; the number of the run."""
    order = session.order_run()
    result = order.execute(
        on_problem=lambda problem: session.begin_counted(order.run_id, problem),
        on_solution=lambda solution: session.add_solution(order.run_id, solution),
    )
    session.finish_run(order.run_id, result)
    return order.run_id
