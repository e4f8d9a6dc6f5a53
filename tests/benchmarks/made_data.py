"""Data sets of the benchmarks, made once outside the repository, and their tables in Markdown."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class BenchData:
    """One generated data set: a record file and its region file."""

    records: Path
    regions: Path


def made(like: str, *options: str) -> BenchData:
    """The data set of ``vbas generate --like … options``, made at first use, or the one whose folder is named."""
    given = os.environ.get(f"VBAS_BENCH_{like.upper()}")
    if given and not options:
        return BenchData(_only(Path(given), "records"), _only(Path(given), "regions"))
    generator = sorted((ROOT / "vbas_desktop" / "io" / "synthetic").glob("*.py"))
    source = b"".join(path.read_bytes() for path in generator)
    key = hashlib.sha256(source + "\0".join((like, *options)).encode()).hexdigest()[:10]
    home = Path(os.environ.get("VBAS_BENCH_DIR") or Path.home() / ".cache" / "vbas-bench")
    folder = home / f"{Path(like).stem}-{key}"
    if not folder.exists():
        home.mkdir(parents=True, exist_ok=True)
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [
            sys.executable,
            "-m",
            "vbas_desktop.cli",
            "generate",
            "--like",
            like,
            *options,
            "--quiet",
        ]
        subprocess.run([*command, "--out", str(unfinished)], cwd=ROOT, check=True)
        unfinished.rename(folder)
    return BenchData(_only(folder, "records"), _only(folder, "regions"))


def _only(folder: Path, stem: str) -> Path:
    found = sorted(folder.glob(f"{stem}.*"))
    if not found:
        pytest.fail(f"{folder} holds no {stem} file")
    return found[0]


def markdown(title: str, header: list[str], rows: list[list[str]]) -> str:
    """A table with its title above it."""
    lines = [header, *rows]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(header))]

    def line(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0])] + [
            c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True)
        ]
        return f"| {' | '.join(padded)} |"

    rule = line(["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]])
    return "\n".join([f"**{title}**", "", line(header), rule, *(line(row) for row in rows)])
