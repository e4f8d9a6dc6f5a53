"""The benchmarks are not part of the tests, but they must not rot: each can be imported and found."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_benchmark_file_is_collected():
    collect = [
        "tests/benchmarks",
        "-o",
        "python_files=bench_*.py",
        "-p",
        "no:xdist",
        "--collect-only",
        "-q",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *collect], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert ended.returncode == 0, ended.stdout
    files = sorted(path.name for path in (ROOT / "tests" / "benchmarks").glob("bench_*.py"))
    assert [name for name in files if name not in ended.stdout] == []
