"""Appointments: the instant plan against reading the people file, the optimum at 1,000 people, a whole country."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import numpy as np

PEOPLE, SLOTS = 1_000_000, 100_000


def people_file() -> Path:
    """A million people with an id and three quasi-identifiers, made at first use."""
    home = Path(os.environ.get("VBAS_BENCH_DIR") or Path.home() / ".cache" / "vbas-bench")
    path = home / f"people-{PEOPLE}.csv"
    if not path.exists():
        import pandas

        generator = np.random.default_rng(0)
        columns = {
            "id": [f"P{number:07d}" for number in range(PEOPLE)],
            "postcode": generator.integers(1000, 1900, PEOPLE),
            "sex": generator.choice(["female", "male"], PEOPLE),
            "born": generator.integers(1940, 1985, PEOPLE),
        }
        home.mkdir(parents=True, exist_ok=True)
        pandas.DataFrame(columns).to_csv(path.with_suffix(".part"), index=False)
        path.with_suffix(".part").rename(path)
    return path


def programme():
    """The classes of that file and slots of about ten seats."""
    from vbas_desktop.appointments.plan import AppointmentTask

    generator = np.random.default_rng(0)
    postcode = generator.integers(0, 900, PEOPLE)
    sex, born = generator.integers(0, 2, PEOPLE), generator.integers(0, 45, PEOPLE)
    sizes = np.bincount((postcode * 2 + sex) * 45 + born)
    seats = np.maximum(1, np.round(generator.normal(10.2, 2.0, SLOTS))).astype(np.int64)
    return AppointmentTask(sizes[sizes > 0], seats)


_TASKS: list = []


def plan_instantly() -> int:
    """The instant plan of a million people."""
    from vbas_desktop.appointments.planners import create_planner
    from vbas_desktop.model.progress import NO_PROGRESS

    if not _TASKS:
        _TASKS.append(programme())
    return create_planner("heuristic").plan(_TASKS[0], NO_PROGRESS).vector.people


def read_with_pandas(path: Path) -> int:
    """What everybody has to do before anything else."""
    import pandas

    return len(pandas.read_csv(path))


def test_a_million_people_are_seated_before_their_file_is_read(race):
    measured = race(
        f"Instant plan: {PEOPLE:,} people, {SLOTS:,} slots",
        {"vbas": plan_instantly, "pandas.read_csv": partial(read_with_pandas, people_file())},
        reference="pandas.read_csv",
        reach={"vbas": "CPU < 1"},
    )
    assert measured["vbas"].result == PEOPLE


def test_the_optimum_of_a_thousand_people_is_proved(bench_table):
    from vbas_desktop.appointments.experiments import draw_programme
    from vbas_desktop.appointments.planners import create_planner
    from vbas_desktop.model.progress import NO_PROGRESS

    rows = []
    for seed in range(5):
        cpu, start = time.process_time(), time.perf_counter()
        plan = create_planner("optimal", time_limit=120.0).plan(draw_programme(1000, seed), NO_PROGRESS)
        seconds, used = time.perf_counter() - start, time.process_time() - cpu
        rows.append(
            [f"{seed}", f"{seconds:.1f}", f"{used:.1f}", f"{os.getloadavg()[0]:.1f}", plan.proof]
        )
    bench_table(
        "Optimal plan of 1,000 people (to reach: proved within 30 s on 2 idle cores, 4 of 5)",
        ["seed", "seconds", "CPU s", "load", "proof"],
        rows,
    )


def test_a_country(bench_table):
    from vbas_desktop.appointments.experiments import DATES, run_country_experiment
    from vbas_desktop.model.progress import NO_PROGRESS

    cpu, start = time.process_time(), time.perf_counter()
    rows = run_country_experiment(DATES, 0, NO_PROGRESS)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    programmes, invited = sum(row.programmes for row in rows), sum(row.invitations for row in rows)
    bench_table(
        "A country's invitations with exact improvement (to reach: < 120 s)",
        ["programmes", "invitations", "seconds", "CPU s"],
        [[f"{programmes:,}", f"{invited:,}", f"{seconds:.0f}", f"{used:.0f}"]],
    )
