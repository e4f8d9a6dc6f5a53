"""Kills `vbas run … --out` and `vbas export … --out` at random moments and looks at what is left.

That must be the old release or the new one, complete.

As a script: ``python tests/e2e/killing.py 60`` kills 60 runs and prints what became of them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LAST_STAGE = "Putting the release in place"
EARLIER = "earlier"
INTERNAL = ["aggregated_regions.csv", "report.html", "shuffle-seed.txt"]


def prepare(folder: Path, draw: random.Random) -> None:
    """A small record file and its regions."""
    with (folder / "regions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "x", "y"], *([f"r{n}", n % 6, n // 6] for n in range(36))])
    with (folder / "records.csv").open("w", newline="") as file:
        rows = [[draw.choice("abc"), draw.choice("mf"), f"r{draw.randrange(36)}"] for _ in range(4000)]
        csv.writer(file).writerows([["age", "sex", "region"], *rows])


def start(folder: Path, seed: int, target: str = "out") -> subprocess.Popen[str]:
    """Start a command that writes to a folder; the seed makes its release another one.

    It is a run or, if there is a folder ``earlier`` and the seed is odd, an export from that.
    """
    options = [
        "--region-column",
        "region",
        "--quasi-identifiers",
        "age,sex",
        "--site-number",
        "fixed",
        "--sites",
        "5",
    ]
    options += [
        "--range-reach",
        "0",
        "--no-pdf",
    ]
    words = ["run", str(folder / "records.csv"), str(folder / "regions.csv"), *options]
    if seed % 2 and (folder / EARLIER).exists():
        words = ["export", str(folder / EARLIER)]
    words += ["--shuffle-seed", f"{seed:032x}", "--out", str(folder / target)]
    return subprocess.Popen(
        [sys.executable, "-m", "vbas_desktop.cli", *words],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def seed_of(target: Path) -> int | None:
    """The seed of the release at the target, every file of which is as it was written; None if there is none."""
    if not target.exists():
        return None
    document = json.loads((target / "run.json").read_text())
    for line in (target / "release" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        assert hashlib.sha256((target / "release" / name).read_bytes()).hexdigest() == digest, name
    assert sorted(path.name for path in (target / "internal").iterdir()) == INTERNAL
    return int(document["release"]["shuffle_seed"], 16)


def hidden(folder: Path) -> set[str]:
    """What killed runs have left over."""
    return {path.name for path in folder.iterdir() if path.name.startswith(".")}


@dataclass(frozen=True)
class Outcome:
    """What became of one killed run."""

    signal: int
    code: int
    replaced: bool


def complete(folder: Path, seed: int, target: str = "out") -> None:
    """Run a command that nobody kills."""
    child = start(folder, seed, target)
    said = child.communicate(timeout=240)[1]
    assert child.returncode == 0, said
    assert seed_of(folder / target) == seed


def kill(folder: Path, number: int, seed: int, stage: str = "", seconds: float = 0.0) -> Outcome:
    """Start a run, send the signal so many seconds after it told of a stage (or was started), and look."""
    before, left_before = seed_of(folder / "out"), hidden(folder)
    child = start(folder, seed)
    assert child.stderr is not None
    if stage:
        assert any(line.startswith(stage) for line in child.stderr), "it told of the stage"
    if seconds:
        time.sleep(seconds)
    child.send_signal(number)
    said = child.communicate(timeout=240)[1]
    after = seed_of(folder / "out")
    assert after in (before, seed), "neither the old release nor the new one"
    _judge(number, child.returncode, said, after == seed)
    if number != signal.SIGKILL:
        assert hidden(folder) <= left_before, "only what was killed for good leaves something over"
    return Outcome(number, child.returncode, after == seed)


def _judge(number: int, code: int, said: str, replaced: bool) -> None:
    """Exit code and words say what is the case."""
    if number == signal.SIGKILL:
        assert code in (-number, 0), code
    elif replaced:
        assert code == 0, (code, said)
    elif code == 130:
        assert "Nothing half-written was left behind" in said, said
    else:
        # Python itself was still starting: nothing of the program had begun.
        assert code == -number, (code, said)
        assert "Stopped" not in said, said


def main(kills: int, seed: int = 0) -> None:
    """Kill so many runs and print what became of them."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, draw)
        complete(folder, 2, EARLIER)
        begun = time.monotonic()
        complete(folder, 1)
        usual = time.monotonic() - begun
        outcomes = []
        for turn in range(kills):
            # By pairs, since runs and exports alternate.
            stage = LAST_STAGE if turn // 2 % 2 else ""
            seconds = draw.uniform(0, 0.3) if stage else draw.uniform(0.2, 1.05 * usual)
            outcomes.append(kill(folder, SIGNALS[turn % 3], turn + 2, stage, seconds))
        complete(folder, 1)
        assert sorted(path.name for path in folder.iterdir()) == [
            EARLIER,
            "out",
            "records.csv",
            "regions.csv",
        ]
        for outcome, count in sorted(Counter(outcomes).items(), key=str):
            sys.stdout.write(f"{count} × {outcome}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
