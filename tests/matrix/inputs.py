"""Write the inputs of the matrix: the sample's records in several formats, and files that go with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
N_WIDE_COLUMNS = 60


def write_inputs(folder: Path, n_records: int = 30_000) -> None:
    """Write all inputs into ``folder``. Equal calls write equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    records = pd.read_csv(SAMPLE / "records.csv", dtype=str, keep_default_na=False)
    records = records.sample(n=n_records, random_state=1).reset_index(drop=True)
    generator = np.random.default_rng(2)
    records["note"] = _draw_notes(generator, n_records)
    records["visits"] = generator.integers(0, 9, n_records).astype(str)
    _write_records(folder, records)
    _write_wide_records(folder, records, generator)
    _write_side_files(folder, records)


def _draw_notes(generator: np.random.Generator, n_records: int) -> np.ndarray:
    """Draw texts that need care in CSV: quotes, delimiters, line breaks, blanks, formulas, non-ASCII letters."""
    texts = [
        "",
        "plain",
        'said "no"',
        "a,b;c",
        "two\nlines",
        " padded ",
        "=1+1",
        "-5",
        "Müller",
        "007",
        "7",
        "NA",
        "true",
    ]
    return np.array(texts, object)[generator.integers(0, len(texts), n_records)]


def _write_records(folder: Path, records: pd.DataFrame) -> None:
    records.to_csv(folder / "records.csv", index=False)
    records.to_csv(folder / "semicolon-latin-1.csv", index=False, sep=";", encoding="latin-1")
    records.to_csv(folder / "utf-16.csv", index=False, encoding="utf-16")
    records.to_csv(folder / "bom-crlf.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
    records.to_parquet(folder / "records.parquet", index=False)
    typed = records.assign(
        visits=records["visits"].astype("int64"), sex=records["sex"].astype("category")
    )
    typed.to_parquet(folder / "typed.parquet", index=False, row_group_size=7_000)
    (folder / "records.csv.gz").write_bytes(
        gzip.compress((folder / "records.csv").read_bytes(), mtime=0)
    )
    lines = (folder / "records.csv").read_text(encoding="utf-8").split("\n", 1)
    counts = ",".join(str(records[name].nunique()) for name in records.columns)
    (folder / "category-counts.csv").write_text(f"{lines[0]}\n{counts}\n{lines[1]}", encoding="utf-8")


def _write_wide_records(folder: Path, records: pd.DataFrame, generator: np.random.Generator) -> None:
    drawn = {
        f"item_{number}": generator.integers(0, 4, len(records)).astype(str)
        for number in range(N_WIDE_COLUMNS)
    }
    unique = {"free_text": [f"text {number:x}" for number in generator.permutation(len(records))]}
    pd.concat([records, pd.DataFrame(drawn | unique)], axis=1).to_csv(folder / "wide.csv", index=False)


def _write_side_files(folder: Path, records: pd.DataFrame) -> None:
    required = records[["sex", "visits"]].drop_duplicates().sort_values(["sex", "visits"])
    required.iloc[:-3].to_csv(folder / "required.csv", index=False)
    pd.DataFrame({"note": ["plain"]}).to_csv(folder / "unwanted.csv", index=False)
    tracts = sorted(records["tract"].unique())
    areas = {tract: f"area {number // 2}" for number, tract in enumerate(tracts)}
    pd.DataFrame({"from": list(areas.values()), "to": list(areas)}).to_csv(
        folder / "region-map.csv", index=False
    )
    records.assign(tract=records["tract"].map(areas)).to_csv(folder / "areas.csv", index=False)
