"""Small made-up data with a column of every role."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_data(folder: Path, regions: int = 60, records: int = 3000, seed: int = 0) -> tuple[Path, Path]:
    """A record file (person, age, sex, illness, tract) and a region file (id, x, y)."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    region_lines = [
        f"R{i:04d},{x:.1f},{y:.1f}" for i, (x, y) in enumerate(rng.random((regions, 2)) * 1000)
    ]
    region_file = folder / "regions.csv"
    region_file.write_text("id,x,y\n" + "\n".join(region_lines) + "\n")
    age, sex = rng.integers(1, 8, records), rng.integers(1, 3, records)
    illness, where = rng.integers(1, 40, records), rng.integers(0, regions, records)
    rows = [
        f"P{i:06d},{a},{s},{d},R{w:04d}"
        for i, (a, s, d, w) in enumerate(zip(age, sex, illness, where, strict=True))
    ]
    record_file = folder / "records.csv"
    record_file.write_text("person,age,sex,illness,tract\n" + "\n".join(rows) + "\n")
    return record_file, region_file
