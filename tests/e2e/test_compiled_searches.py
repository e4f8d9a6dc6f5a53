"""The searches that are compiled work where nothing is cached and nothing can be."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vbas_desktop.cli.main import main

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_data"
RECORDS = str(SAMPLE / "records.csv")
RUN = [
    "run",
    RECORDS,
    str(SAMPLE / "regions.geojson"),
    "--region-column=tract",
    "--quasi-identifiers=age,sex",
]
RUN += ["--site-number=fixed", "--sites=12"]
PEOPLE = [
    str(SAMPLE / "people.csv"),
    str(SAMPLE / "slots.csv"),
    "--id-column=id",
    "--quasi-identifiers=sex,age",
]
VBAS = "import sys; from vbas_desktop.cli.main import main; sys.exit(main(sys.argv[1:]))"
EVERY_COMMAND = """
import contextlib, io, json, sys
from vbas_desktop.cli.main import main
for name, arguments in json.loads(sys.argv[1]).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*arguments, "--json"])
    print(json.dumps([name, code, out.getvalue(), err.getvalue()]), flush=True)
"""
LAKE = [[-76.2, 42.0], [-75.6, 42.5], [-75.5, 42.5], [-76.1, 42.0], [-76.2, 42.0]]

SEARCHES = {
    "adc": [*RUN, "--site-location=adc"],
    "refine-sites": [*RUN, "--site-location=refine-sites"],
    "boundaries": [*RUN, "--refinement=boundaries"],
    "obstacles": [*RUN, "--construction=obstacles", "--obstacles=lake.geojson"],
    "risky": ["risky", RECORDS, "--columns=age,sex,marital_status,housing,plan,diagnosis", "-k10"],
    "better": ["appointments", *PEOPLE, "--planner=better", "--time-limit=60"],
}


def run_vbas(folder, *arguments, **environment):
    """Run a command; return its result without times, and what it said meanwhile."""
    ended = subprocess.run(
        [sys.executable, "-c", VBAS, *arguments, "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert ended.returncode == 0, ended.stderr
    return without_times(json.loads(ended.stdout)), ended.stderr


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if "seconds" not in key}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def without_cache(tmp_path_factory):
    """All searches in one process that can keep no machine code, and the folder that they read from."""
    folder = tmp_path_factory.mktemp("without")
    lake = {"type": "Polygon", "coordinates": [LAKE]}
    (folder / "lake.geojson").write_text(json.dumps(lake), encoding="utf-8")
    # No folder can be made below a file, whoever tries.
    (folder / "home").write_bytes(b"")
    home = str(folder / "home")
    with subprocess.Popen(
        [sys.executable, "-c", EVERY_COMMAND, json.dumps(SEARCHES)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HOME": home,
            "XDG_CACHE_HOME": home,
            "NUMBA_CACHE_DIR": "",
        },
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield folder, {}, process.stdout
        process.kill()


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_works_without_a_folder_for_machine_code(without_cache, search, capsys, monkeypatch):
    folder, results, lines = without_cache
    while search not in results:
        name, *rest = json.loads(next(lines))
        results[name] = rest
    code, result, said = results[search]
    assert (code, "Preparing the search" in said) == (0, True), said
    monkeypatch.chdir(folder)
    assert main([*SEARCHES[search], "--json"]) == 0
    assert without_times(json.loads(result)) == without_times(json.loads(capsys.readouterr().out))


def test_a_search_compiles_once_into_an_empty_folder(tmp_path):
    cache = tmp_path / "cache"
    first, _ = run_vbas(tmp_path, *SEARCHES["better"], XDG_CACHE_HOME=str(cache), NUMBA_CACHE_DIR="")
    made = {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb[ic]")}
    assert made
    second, _ = run_vbas(tmp_path, *SEARCHES["better"], XDG_CACHE_HOME=str(cache), NUMBA_CACHE_DIR="")
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb[ic]")} == made
    assert first == second
